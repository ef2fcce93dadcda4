//! Whether cases would notice: with something wrong on purpose, some that are green turn red.

use barchan_validation::report::Entry;
use barchan_validation::{Bench, Fault, Size, case};

/// Green cases of a second or less, which between them look at friction, damping and spin.
const CASES: [&str; 4] = ["slip-to-roll", "restitution", "rolling-decay", "elastic-impact"];

fn green(name: &str, fault: Option<Fault>) -> bool {
    let case = case(name).unwrap_or_else(|| panic!("there is no case {name}"));
    let entry = Entry::run(case, &Bench { size: Size::Quick, fault, device: Default::default() });
    entry.verdicts().iter().all(|v| v.passed())
}

#[test]
fn without_a_fault_they_are_green() {
    for name in CASES {
        assert!(green(name, None), "{name}");
    }
}

#[test]
fn every_fault_turns_a_case_red() {
    for fault in Fault::OF_GRAINS {
        let red: Vec<&str> = CASES.into_iter().filter(|name| !green(name, Some(fault))).collect();
        assert!(!red.is_empty(), "nothing notices {fault:?}");
    }
}

#[test]
fn faults_are_noticed_by_those_that_look_there_and_not_by_others() {
    assert!(!green("slip-to-roll", Some(Fault::NoFriction)) && green("restitution", Some(Fault::NoFriction)));
    assert!(!green("restitution", Some(Fault::Damping)) && green("elastic-impact", Some(Fault::Damping)));
    assert!(!green("slip-to-roll", Some(Fault::Spin)) && green("elastic-impact", Some(Fault::Spin)));
}

/// Green cases of a continuum, of seconds, by the fault that must turn one of them red.
const OF_CONTINUUM: [(Fault, &str); 5] = [
    (Fault::SineCone, "sph-slope"),
    (Fault::OneShot, "sph-rest"),
    (Fault::HalfTrace, "sph-cut"),
    (Fault::FullWalls, "sph-bed"),
    (Fault::LightMass, "sph-bed"),
];

#[test]
fn every_fault_of_the_continuum_turns_a_case_red() {
    assert_eq!(OF_CONTINUUM.map(|(fault, _)| fault), Fault::OF_CONTINUUM);
    for (fault, name) in OF_CONTINUUM {
        assert!(!green(name, Some(fault)), "{name} does not notice {fault:?}");
    }
}
