//! Grains that sleep: nothing changes for whoever measures, and whatever matters wakes them.

use crate::common;
use barchan_core::solver::{Contact, Partner};
use barchan_core::walls::{Geometry, Motion, Side, Wall};
use barchan_dem::{Alone, Precision, Sleep};
use common::*;
use glam::DVec3;

const RADIUS: f64 = 1e-3;
const GRAVITY: f64 = 9.81;

fn tray(s: &mut Setup, size: DVec3) {
    let inside = Geometry::Box { min: DVec3::ZERO, max: size, side: Side::Inside, open: [false; 6] };
    s.walls = vec![Wall::new("tray", inside, 0)];
}

fn set_up() -> Setup {
    let mut material = glass();
    material.rolling = 0.1;
    let mut s = settings(material, HERTZ);
    s.precision = Precision::Double;
    s.gravity = DVec3::NEG_Z * GRAVITY;
    s.dt = automatic_dt(&s, RADIUS, 1.0);
    s.sleep = Some(Sleep { after: 0.05, rest: 0.05, wake: 0.1 });
    s
}

/// So many grains at rest, some long time after they were poured into a tray.
fn bed(s: Setup, count: usize) -> Alone {
    let mut dem = alone(s);
    let at = |k: usize| DVec3::new((k % 7) as f64, (k / 7 % 5) as f64, (k / 35) as f64) * 2.6 * RADIUS;
    let place = |k: usize| at(k) + DVec3::new(2.0 + 0.3 * (k % 3) as f64, 2.0, 1.5) * RADIUS;
    dem.add(&(0..count).map(|k| grain(place(k), DVec3::ZERO, RADIUS)).collect::<Vec<_>>()).unwrap();
    while dem.time() < 0.6 {
        dem.step().unwrap();
    }
    dem
}

fn copy(s: &Setup, dem: &Alone) -> Alone {
    let columns = dem.save();
    resumed(s.clone(), &|name| columns.iter().find(|c| c.0 == name).map(|c| c.1.clone())).unwrap()
}

fn weight(dem: &Alone) -> f64 {
    dem.population().mass.iter().sum::<f64>() * GRAVITY
}

#[test]
fn a_bed_at_rest_sleeps_and_shows_all_that_it_showed_awake() {
    let mut s = set_up();
    tray(&mut s, DVec3::new(0.021, 0.016, 0.1));
    let mut awake = s.clone();
    awake.sleep = None;
    let (dem, awake) = (bed(s, 300), bed(awake, 300));
    assert_eq!(dem.pinned().len(), 300, "all sleep");
    assert!(
        rel(-dem.walls()[0].force.z, weight(&dem)) < 0.01, // forces that change by less than a tenth are not followed
        "the tray bears {} N",
        dem.walls()[0].force.z
    );
    assert!(
        (dem.coordination() - awake.coordination()).abs() < 0.2,
        "{} and {}",
        dem.coordination(),
        awake.coordination()
    );
    assert!(rel(dem.energies().elastic, awake.energies().elastic) < 0.1);
    assert!(rel(dem.energies().gravity, awake.energies().gravity) < 0.01);
    // Each contact is there once.
    let sides = |c: &Contact| if matches!(c.partner, Partner::Grain(_)) { 2.0 } else { 1.0 };
    let counted: f64 = dem.contacts().iter().map(sides).sum();
    assert!(rel(counted, dem.coordination() * 300.0) < 1e-9);
}

#[test]
fn a_ball_that_falls_onto_a_sleeping_bed_wakes_the_grains_it_strikes_and_no_more_than_those_who_feel_it() {
    let mut s = set_up();
    tray(&mut s, DVec3::new(0.021, 0.016, 0.1));
    let mut dem = bed(s, 300);
    let top = dem.population().position.iter().map(|x| x.z).fold(0.0, f64::max);
    dem.add(&[grain(DVec3::new(0.01, 0.008, top + 6.0 * RADIUS), DVec3::NEG_Z * 0.3, RADIUS)]).unwrap();
    let mut fewest = 300;
    while dem.time() < 0.65 {
        dem.step().unwrap();
        fewest = fewest.min(dem.pinned().len());
    }
    assert!((30..298).contains(&fewest), "of 300 {fewest} slept on");
    // The blow brings down the lattice that the bed was stacked in; where nobody sleeps it does the same.
    while dem.time() < 1.1 {
        dem.step().unwrap();
    }
    assert_eq!(dem.pinned().len(), 301, "all sleep again");
    assert!(rel(-dem.walls()[0].force.z, weight(&dem)) < 0.02, "{}", dem.walls()[0].force.z);
}

#[test]
fn a_grain_whose_support_is_taken_away_falls() {
    let mut s = set_up();
    // A tower of five in a tube no wider than they are.
    tray(&mut s, DVec3::new(2.02 * RADIUS, 2.02 * RADIUS, 0.1));
    let mut dem = alone(s);
    let at = |k: usize| grain(DVec3::new(1.01, 1.01, 1.0 + 2.01 * k as f64) * RADIUS, DVec3::ZERO, RADIUS);
    dem.add(&(0..5).map(at).collect::<Vec<_>>()).unwrap();
    while dem.time() < 0.4 {
        dem.step().unwrap();
    }
    assert_eq!(dem.pinned().len(), 5);
    dem.remove_where(&|id, _| id == 1);
    while dem.time() < 0.8 {
        dem.step().unwrap();
    }
    let top = state(&dem, 4).0.z;
    assert!((top / RADIUS - 7.0).abs() < 0.05, "the highest of four stands at {top}");
    assert_eq!(dem.pinned(), [0, 2, 3, 4]);
}

#[test]
fn a_bed_whose_gate_is_drawn_away_in_one_step_flows() {
    let mut s = set_up();
    tray(&mut s, DVec3::new(0.1, 0.016, 0.1));
    let mut gate = Wall::new("gate", Geometry::Plane { point: DVec3::X * 0.021, normal: DVec3::NEG_X }, 0);
    let from = 0.6 / s.dt;
    gate.motion =
        Motion { velocity: DVec3::X * 0.08 / s.dt, from: (from - 1.0) * s.dt, until: from * s.dt, ..Motion::default() };
    s.walls.push(gate);
    let mut dem = bed(s.clone(), 300);
    let mut alert = s;
    alert.sleep = None;
    let mut awake = bed(alert, 300);
    assert!(dem.pinned().len() >= 299, "{} sleep", dem.pinned().len());
    let mean = |dem: &Alone| dem.population().position.iter().map(|x| x.x).sum::<f64>() / 300.0;
    let begun = mean(&dem);
    while dem.time() < 0.9 {
        dem.step().unwrap();
        awake.step().unwrap();
    }
    let (slept, free) = (mean(&dem) - begun, mean(&awake) - begun);
    assert!(free > 3.0 * RADIUS && rel(slept, free) < 0.1, "the bed went {slept}, and {free} where nobody sleeps");
}

#[test]
fn with_sleep_a_run_resumes_bit_for_bit_and_threads_change_nothing() {
    let mut s = set_up();
    tray(&mut s, DVec3::new(0.021, 0.016, 0.1));
    let mut dem = bed(s.clone(), 300);
    let drop = |k: usize| grain(DVec3::new(0.004 + 0.003 * k as f64, 0.008, 0.04), DVec3::NEG_Z * 0.5, RADIUS);
    dem.add(&(0..4).map(drop).collect::<Vec<_>>()).unwrap();
    run(&mut dem, 700);
    assert!(dem.pinned().len() > 100);
    let on = |mut dem: Alone| {
        run(&mut dem, 3000);
        (dem.hash(), dem.pinned().to_vec())
    };
    let (again, two) = (copy(&s, &dem), copy(&s, &dem));
    let expected = on(dem);
    assert_eq!(on(again), expected);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
    assert_eq!(pool.install(|| on(two)), expected);
}

#[test]
fn gravity_that_turns_wakes_all() {
    let mut s = set_up();
    tray(&mut s, DVec3::new(0.021, 0.016, 0.1));
    let mut dem = bed(s, 100);
    dem.set_gravity(DVec3::X * GRAVITY);
    barchan_core::solver::Solver::wake(&mut *dem);
    let begun = dem.population().position.iter().map(|x| x.z).sum::<f64>();
    run(&mut dem, 20_000);
    let moved = dem.population().position.iter().map(|x| x.x).fold(0.0, f64::max);
    assert!(moved > 0.018 && dem.population().position.iter().map(|x| x.z).sum::<f64>() != begun);
}
