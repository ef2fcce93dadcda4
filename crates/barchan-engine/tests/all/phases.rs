//! Sand in three phases, from a scene: mass is kept, runs resume bit for bit, threads do not matter, and what cannot be computed is refused.

use crate::common::{parse_of, run, world_of};
use barchan_engine::checkpoint::{Checkpoint, CheckpointWriter};
use barchan_engine::{assemble, load};
use std::path::Path;

/// A block falls into a bed, sand is poured beside it, and some of it leaves through a sink.
const SPLASH: &str = r#"
duration = 0.3
[domain]
min = [0, 0, -0.02]
max = [0.32, 0.16, 0.3]
[materials.sand]
preset = "dry sand"
[[continuum]]
name = "bed"
method = "phases"
material = "sand"
spacing = "1 cm"
fill = { box = { min = [0, 0, 0], max = [0.32, 0.16, 0.06] } }
[[continuum]]
name = "block"
method = "phases"
material = "sand"
spacing = "1 cm"
fill = { box = { min = [0.04, 0.04, 0.1], max = [0.12, 0.12, 0.16] } }
velocity = [1, 0, -2]
[phases]
grain = "1 mm"
[air]
velocity = [2, 0, 0]
[[emitters]]
name = "pour"
continuum = "bed"
disc = { centre = [0.24, 0.08, 0.2], normal = [0, 0, -1], radius = "4 cm" }
mass_rate = 4
velocity = [0, 0, -1]
[[sinks]]
name = "mouth"
box = { min = [0.26, 0, -0.02], max = [0.32, 0.16, 0.05] }
[[walls]]
name = "box"
material = "sand"
box = { min = [0, 0, 0], max = [0.32, 0.16, 0.29] }
"#;

/// A deep bed that freezes, into which a heap falls, and from whose brim sand runs off.
const DEEP: &str = r#"
duration = 0.6
[domain]
min = [0, 0, -0.04]
max = [0.32, 0.16, 0.48]
[materials.sand]
preset = "dry sand"
[[continuum]]
name = "bed"
method = "phases"
material = "sand"
spacing = "1 cm"
fill = { box = { min = [0, 0, 0], max = [0.32, 0.16, 0.24] } }
[[continuum]]
name = "heap"
method = "phases"
material = "sand"
spacing = "1 cm"
fill = { box = { min = [0.1, 0.04, 0.36], max = [0.2, 0.12, 0.44] } }
velocity = [0, 0, 1.4]
[phases.solid]
cover = 3
[[sinks]]
name = "drain"
box = { min = [0.28, 0, 0.2], max = [0.32, 0.16, 0.3] }
[[walls]]
name = "box"
material = "sand"
box = { min = [0, 0, 0], max = [0.32, 0.16, 0.47] }
"#;

/// A gauge of the sand.
fn gauge(w: &barchan_engine::World, name: &str) -> f64 {
    let gauges = w.totals().gauges;
    gauges.iter().find(|g| g.name == name).unwrap().value
}

#[test]
fn frozen_sand_keeps_its_mass_and_its_bits_when_a_run_is_resumed_on_other_threads() {
    let mut w = world_of(DEEP);
    let (start, weight) = (w.totals().mass, w.totals().mass * 9.81);
    run(&mut w, 0.39);
    assert!(gauge(&w, "solid quanta") > 0.2 * gauge(&w, "quanta"), "{} of them", gauge(&w, "solid quanta"));
    let borne = -w.boundary().states()[0].force.z;
    assert!((borne - weight).abs() < 0.3 * weight, "walls bear {borne} N of {weight} N");
    let folder = tempfile::tempdir().unwrap();
    let mut writer = CheckpointWriter::default();
    w.save(&mut writer);
    writer.write(folder.path()).unwrap();
    let checkpoint = Checkpoint::newest(folder.path()).unwrap();
    let dug = glam::DVec3::new(0.08, 0.08, 0.1);
    w.dig(dug, 0.05);
    run(&mut w, 0.5);
    assert!(gauge(&w, "thawed quanta") > 0.0, "digging thaws it");
    let (now, gone) = (w.totals().mass, w.tallies().iter().map(|t| t.1.mass).sum::<f64>());
    assert!(gone > 0.1 && (now + gone - start).abs() < 1e-9 * start, "{start} kg, {now} kg, {gone} kg left");
    let mass: f64 = w.frame().populations.iter().flat_map(|p| p.mass.to_vec()).sum();
    assert!((mass - now).abs() < 1e-9 * now, "frames hold all of it");
    let parsed = parse_of(DEEP);
    for n in [1, 3] {
        let hash = on_threads(n, || {
            let mut again = barchan_engine::assemble::restore(&parsed, &checkpoint).unwrap().unwrap();
            again.dig(dug, 0.05);
            run(&mut again, 0.5);
            again.hash()
        });
        assert_eq!(hash, w.hash(), "{n} threads");
    }
}

fn on_threads<T: Send>(n: usize, task: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(n).build().unwrap().install(task)
}

#[test]
fn sand_in_phases_keeps_its_mass_while_it_is_poured_and_drained() {
    let mut w = world_of(SPLASH);
    let start = w.totals().mass;
    run(&mut w, 0.2);
    let (born, gone) = (w.born()[0].1, w.tallies()[0].1);
    assert!(born.mass > 0.1 && gone.mass > 0.1, "{} kg came, {} kg went", born.mass, gone.mass);
    let now = w.totals().mass;
    assert!((now + gone.mass - born.mass - start).abs() < 1e-9 * start, "{start} kg, {now} kg");
    let mass: f64 = w.frame().populations.iter().flat_map(|p| p.mass.to_vec()).sum();
    assert!((mass - now).abs() < 1e-9 * now, "frames hold all of it");
}

#[test]
fn a_run_in_phases_resumes_bit_for_bit_on_any_number_of_threads() {
    let mut w = world_of(SPLASH);
    run(&mut w, 0.1);
    let folder = tempfile::tempdir().unwrap();
    let mut writer = CheckpointWriter::default();
    w.save(&mut writer);
    writer.write(folder.path()).unwrap();
    let checkpoint = Checkpoint::newest(folder.path()).unwrap();
    run(&mut w, 0.15);
    let parsed = parse_of(SPLASH);
    for n in 1..=3 {
        let hash = on_threads(n, || {
            let mut again = barchan_engine::assemble::restore(&parsed, &checkpoint).unwrap().unwrap();
            run(&mut again, 0.15);
            again.hash()
        });
        assert_eq!(hash, w.hash(), "{n} threads");
    }
}

/// Why a scene is refused, by its check or by the assembling.
fn refusal(text: &str) -> String {
    let parsed = match load(text, "test", Path::new("")) {
        Ok(parsed) => parsed,
        Err(e) => return e.listing(),
    };
    assemble(&parsed).err().map(|e| e.listing()).unwrap_or_default()
}

#[test]
fn what_cannot_be_computed_in_phases_is_refused_with_a_remedy() {
    for (from, to, message) in [
        ("name = \"bed\"\nmethod", "name = \"bed\"\nfriction_angle = \"50 deg\"\nmethod", "too steep"),
        ("name = \"bed\"\nmethod", "name = \"bed\"\npacking = 0.3\nmethod", "too loose"),
        ("grain = \"1 mm\"", "grain = \"3 cm\"", "smaller than two grains"),
        ("grain = \"1 mm\"", "flip_share = 0.5", "is for `transfer = \"flip\"`"),
        ("grain = \"1 mm\"", "solid = { cover = 1 }", "a cover of 1 cells"),
        ("grain = \"1 mm\"", "solid = { enabled = false, cover = 5 }", "there is none"),
        ("velocity = [2, 0, 0]", "velocity = [\"2*t\", 0, 0]", "one velocity"),
        (
            "method = \"phases\"\nmaterial = \"sand\"\nspacing = \"1 cm\"\nfill = { box = { min = [0.04",
            "material = \"sand\"\nspacing = \"1 cm\"\nfill = { box = { min = [0.04",
            "another method",
        ),
        (
            "[[sinks]]",
            "[[walls]]\nname = \"hole\"\nmaterial = \"sand\"\ndisc = { centre = [0.1, 0.08, 0.2], normal = [0, 0, 1], radius = 0.06, hole = 0.02 }\n[[sinks]]",
            "cells of the grid across",
        ),
    ] {
        assert!(SPLASH.contains(from), "{from}");
        let listing = refusal(&SPLASH.replacen(from, to, 1));
        assert!(listing.contains(message), "{message}: {listing}");
    }
}

/// A cube of matter on a lattice of 2 cm, without gravity and walls.
fn cube(matter: &str, event: &str) -> String {
    let place = if matter.contains("grains") {
        let at = |n: usize| 0.17 + 0.02 * n as f64;
        let places = (0..4096).map(|n| format!("[{}, {}, {}]", at(n % 16), at(n / 16 % 16), at(n / 256)));
        format!("at = [{}]", places.collect::<Vec<_>>().join(", "))
    } else {
        "fill = { box = { min = [0.16, 0.16, 0.16], max = [0.48, 0.48, 0.48] } }".into()
    };
    format!(
        r#"
duration = 0.1
gravity = [0, 0, 0]
[domain]
min = [0, 0, 0]
max = [0.64, 0.64, 0.64]
[materials.sand]
density = 2500
young = "5 MPa"
poisson = 0.3
restitution = 0.5
friction = 0.5
[materials.balls]
density = 2864.788975654116
young = "5 MPa"
poisson = 0.3
restitution = 0.5
friction = 0.5
{matter}
{place}
[[events]]
time = 0
{event}
"#
    )
}

#[test]
fn charges_and_loads_give_sand_in_phases_the_momentum_that_they_give_to_grains() {
    let grains = "[[grains]]\nmaterial = \"balls\"\nradius = \"1 cm\"";
    let of = |method: &str| {
        let sand = "material = \"sand\"\nspacing = \"2 cm\"\npacking = 0.6\nfriction_angle = \"32 deg\"";
        format!("[[continuum]]\n{sand}\nmethod = \"{method}\"")
    };
    let charge = "charge = { at = [0.31, 0.32, 0.47], radius = 0.12, energy = \"20 J\" }";
    let load = "load = { at = [0.2, 0.2, 0.3], radius = 0.06, force = [300, 0, -200], lasts = 1e-6 }";
    let given = |matter: &str| {
        let mut pressed = world_of(&cube(matter, load));
        let impulse = glam::DVec3::new(300.0, 0.0, -200.0) * pressed.plan().dt;
        pressed.step().unwrap();
        let off = (pressed.totals().momentum - impulse).length();
        // A step has gone by in which the matter about it answers, on faces of the grid that are thinly filled.
        assert!(off < 0.01 * impulse.length(), "{off} N s off {impulse}");
        let mut w = world_of(&cube(matter, charge));
        let (centre, radius, mass) = (glam::DVec3::new(0.33, 0.3, 0.17), 0.1, w.totals().mass);
        let by_hand = w.charge(centre, radius, 30.0);
        let gained = w.totals().momentum;
        w.step().unwrap();
        (mass, by_hand, gained, w.totals().momentum - gained)
    };
    let (mass, hand, gained, event) = given(grains);
    assert!(hand.length() > 1.0 && (gained - hand).length() < 1e-9 * hand.length(), "{hand} {gained}");
    // Parcels lie where the grains lie; smoothed particles a little beside them, on their own lattice, with 1.00003 of their mass.
    for (method, alike) in [("phases", 1e-9), ("sph", 0.02)] {
        let (m, h, g, e) = given(&of(method));
        assert!((m - mass).abs() < alike * mass, "{method}: {m} kg, grains {mass} kg");
        assert!((h - hand).length() < alike * hand.length(), "{method}: {h}, grains {hand}");
        assert!((g - h).length() < 1e-9 * h.length(), "{method}: {g} of {h}");
        // By the event in the step, in which the matter about the charge has answered too.
        assert!(e.dot(event) > 0.8 * event.length_squared(), "{method}: {e}, grains {event}");
    }
}

#[test]
fn a_bed_that_is_filled_solid_freezes_at_once_and_goes_on_to_the_bit() {
    let solid = DEEP.replacen("name = \"bed\"", "name = \"bed\"\nphase = \"solid\"", 1);
    let frozen_after = |text: &str, steps: usize| {
        let mut w = world_of(text);
        let mass = w.totals().mass;
        (0..steps).for_each(|_| w.step().unwrap());
        assert!((w.totals().mass - mass).abs() < 1e-12 * mass);
        gauge(&w, "solid quanta") / gauge(&w, "quanta")
    };
    assert_eq!(frozen_after(DEEP, 8), 0.0);
    // Nine of twelve layers of the bed are covered, and the heap above is a tenth of all.
    let share = frozen_after(&solid, 8);
    assert!((0.5..0.75).contains(&share), "{share} of it is frozen");
    // A claim that is still open is part of the state.
    let mut w = world_of(&solid);
    (0..3).for_each(|_| w.step().unwrap());
    let folder = tempfile::tempdir().unwrap();
    let mut writer = CheckpointWriter::default();
    w.save(&mut writer);
    writer.write(folder.path()).unwrap();
    let checkpoint = Checkpoint::newest(folder.path()).unwrap();
    let mut again = barchan_engine::assemble::restore(&parse_of(&solid), &checkpoint).unwrap().unwrap();
    (0..9).for_each(|_| w.step().unwrap());
    (0..9).for_each(|_| again.step().unwrap());
    assert_eq!(again.hash(), w.hash());
}

#[test]
fn gas_can_be_filled_and_poured_and_is_single_grains() {
    let text = SPLASH
        .replacen("name = \"block\"", "name = \"block\"\nphase = \"gas\"", 1)
        .replacen("name = \"pour\"", "name = \"pour\"\nphase = \"gas\"", 1)
        .replacen("mass_rate = 4", "mass_rate = 0.4", 1);
    let mut w = world_of(&text);
    // Eight by eight by six parcels of eight quanta.
    assert_eq!([gauge(&w, "gas quanta"), gauge(&w, "evaporated quanta")], [8.0 * 8.0 * 6.0 * 8.0, 0.0]);
    let all = gauge(&w, "quanta");
    (0..2).for_each(|_| w.step().unwrap());
    let poured = gauge(&w, "quanta") - all;
    let quantum = w.totals().mass / gauge(&w, "quanta");
    let owed = (0.4 * w.plan().dt / quantum).ceil();
    assert!(poured >= 1.0 && poured <= owed + 1.0, "{poured} grains poured, {owed} owed");
    assert_eq!(w.born()[0].1.grains as f64, poured);
}

#[test]
fn a_mesh_is_filled_as_far_as_it_lies_in_the_region() {
    let ball = |more: &str| {
        format!(
            r#"
duration = 0.1
[domain]
min = [0, 0, 0]
max = [0.4, 0.4, 0.4]
[materials.sand]
preset = "dry sand"
[[continuum]]
method = "phases"
material = "sand"
spacing = "5 mm"
fill = {{ box = {{ min = [0, 0, 0], max = [0.4, 0.4, 0.2] }}, within = {{ file = "sphere", scale = 0.1, at = [0.2, 0.2, 0.2] }} }}
[[walls]]
name = "floor"
material = "sand"
plane = {{ point = [0, 0, 0], normal = [0, 0, 1] }}
{more}
"#
        )
    };
    let w = world_of(&ball(""));
    let volume = w.totals().mass / (2650.0 * 0.6);
    let half = 2.0 / 3.0 * std::f64::consts::PI * 0.1f64.powi(3);
    assert!((volume / half - 1.0).abs() < 0.03, "{volume} m³ of {half} m³");
    let sph = ball("").replacen("method = \"phases\"", "method = \"sph\"", 1);
    assert!(refusal(&sph).contains("`within` is for"), "{}", refusal(&sph));
}

#[test]
fn phases_that_matter_cannot_begin_in_are_refused() {
    let bed = |phase: &str| format!("name = \"bed\"\nphase = \"{phase}\"");
    let pour = |phase: &str| format!("name = \"pour\"\nphase = \"{phase}\"");
    let phases = |more: &str| format!("[phases]\n{more}\n");
    for (text, message) in [
        (SPLASH.replacen("name = \"pour\"", &pour("solid"), 1), "what is poured is not solid"),
        (SPLASH.replacen("name = \"bed\"", &bed("vapour"), 1), "vapour"),
        (
            SPLASH.replacen("name = \"bed\"", &bed("solid"), 1).replacen(
                "[phases]\n",
                &phases("solid = { enabled = false }"),
                1,
            ),
            "no sand freezes",
        ),
        (
            SPLASH.replacen("name = \"bed\"", &bed("gas"), 1).replacen("[phases]\n", &phases("gas = false"), 1),
            "there is none",
        ),
    ] {
        assert!(refusal(&text).contains(message), "{message}: {}", refusal(&text));
    }
}

/// A vessel of cells of 1 cm, with more walls.
fn vessel(more: &str) -> String {
    format!(
        r#"
duration = 0.1
[domain]
min = [-0.2, -0.16, -0.02]
max = [0.2, 0.16, 0.34]
[materials.sand]
preset = "dry sand"
[[continuum]]
name = "bed"
method = "phases"
material = "sand"
spacing = "5 mm"
fill = {{ box = {{ min = [-0.18, -0.14, 0], max = [-0.06, 0.14, 0.1] }} }}
[[walls]]
name = "box"
material = "sand"
box = {{ min = [-0.18, -0.14, 0], max = [0.18, 0.14, 0.32] }}
{more}
"#
    )
}

/// What is said of a scene that can be run.
fn doubts(text: &str) -> Vec<String> {
    world_of(text).warnings().iter().map(|w| format!("{}: {} {}", w.path, w.message, w.help)).collect()
}

#[test]
fn gaps_between_walls_are_named_with_what_they_do_to_the_flow() {
    // Two blocks that part the vessel but for a slot.
    let slot = |width: f64| {
        let block = |name: &str, from: f64, to: f64| {
            format!(
                "[[walls]]\nname = \"{name}\"\nmaterial = \"sand\"\n\
                 box = {{ min = [-0.03, {from}, -0.02], max = [0.03, {to}, 0.34], side = \"outside\" }}\n"
            )
        };
        vessel(&(block("left", -0.16, -0.5 * width) + &block("right", 0.5 * width, 0.16)))
    };
    let said = refusal(&slot(0.03));
    assert!(said.contains("gap between") && said.contains("`left`") && said.contains("`right`"), "{said}");
    assert!(said.contains("does not find through") && said.contains("spacing of at most"), "{said}");
    let said = doubts(&slot(0.08));
    assert!(
        said.iter().any(|w| w.starts_with("walls[") && w.contains("gap between") && w.contains("too slow")),
        "{said:?}"
    );
    assert_eq!(doubts(&slot(0.14)), Vec::<String>::new());
    // A ball on the floor and a corner are no gaps.
    let ball = "[[walls]]\nname = \"ball\"\nmaterial = \"sand\"\n\
                sphere = { centre = [0.1, 0, 0.05], radius = 0.05, side = \"outside\" }\n";
    assert_eq!(doubts(&vessel(ball)), Vec::<String>::new());
    // A vessel that is itself a slot.
    let narrow = vessel("").replace("0.14", "0.0141").replace("0.16", "0.02");
    assert!(refusal(&narrow).contains("the space in which `bed` lies is"), "{}", refusal(&narrow));
}

#[test]
fn sheets_and_thin_plates_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let sheet = folder.path().join("sheet.obj");
    std::fs::write(&sheet, "v 0 -0.1 0.1\nv 0.1 -0.1 0.1\nv 0.1 0.1 0.1\nv 0 0.1 0.1\nf 1 2 3 4\n").unwrap();
    let sheet =
        format!("[[walls]]\nname = \"leaf\"\nmaterial = \"sand\"\nmesh = {{ file = \"{}\" }}\n", sheet.display());
    let said = refusal(&vessel(&sheet));
    assert!(said.contains("the mesh of `leaf` is open") && said.contains("thickness of two cells"), "{said}");
    let plate = |thick: f64| {
        format!(
            "[[walls]]\nname = \"plate\"\nmaterial = \"sand\"\n\
             box = {{ min = [0.02, -0.06, 0.1], max = [0.14, 0.06, {}], side = \"outside\" }}\n",
            0.1 + thick
        )
    };
    let said = doubts(&vessel(&plate(0.012)));
    assert!(
        said.iter().any(|w| w.contains("`plate` is 1.2 cells") && w.contains("spacing of at most 0.003 m")),
        "{said:?}"
    );
    assert_eq!(doubts(&vessel(&plate(0.03))), Vec::<String>::new());
    let bucket = "[[walls]]\nname = \"tin\"\nmaterial = \"sand\"\nmesh = { file = \"bucket\", scale = 0.3, at = [0.02, 0, 0.06] }\n";
    let said = doubts(&vessel(bucket));
    assert!(said.iter().any(|w| w.contains("`tin` is") && w.contains("leaks")), "{said:?}");
}

#[test]
fn what_a_filling_leaves_out_is_named_with_its_number() {
    let deep = vessel("").replace("min = [-0.18, -0.14, 0], max = [-0.06", "min = [-0.18, -0.14, -0.01], max = [-0.06");
    let said = doubts(&deep);
    // Twelve by 28 columns of cells, each a cell deep in the floor: four parcels a layer and cell, two layers.
    assert!(said.iter().any(|w| w.contains("2,688 of") && w.contains("lie in a wall")), "{said:?}");
    let twice = vessel(
        "[[continuum]]\nname = \"more\"\nmethod = \"phases\"\nmaterial = \"sand\"\nspacing = \"5 mm\"\n\
         fill = { box = { min = [-0.1, -0.1, 0.08], max = [0, 0.1, 0.12] } }\n",
    );
    let said = doubts(&twice);
    // Four by twenty by two cells are filled by both.
    assert!(said.iter().any(|w| w.contains("`more`: 1,280 of") && w.contains("filled already")), "{said:?}");
}

#[test]
fn more_gas_than_there_is_room_for_and_walls_that_are_too_fast_are_named_at_the_start() {
    let said = doubts(&vessel("[phases]\ncapacity = 100000\n"));
    assert!(said.iter().any(|w| w.starts_with("phases.capacity") && w.contains("grains of gas")), "{said:?}");
    let fast = "[[walls]]\nname = \"piston\"\nmaterial = \"sand\"\nvelocity = [0, 0, 900]\n\
                plane = { point = [0, 0, -0.01], normal = [0, 0, 1] }\n";
    let said = refusal(&vessel(fast));
    assert!(said.contains("`piston` moves at up to 9") && said.contains("at most"), "{said}");
}
