//! What assembling promises, and what grains coming and going must keep.

use crate::common;

use barchan_engine::{WorldError, load};
use common::{BOX, BUSY, ONE, complaints, world};
use std::path::Path;

fn hash_on(threads: usize) -> u64 {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    pool.install(|| {
        let mut world = world(&[BOX, BUSY]);
        for _ in 0..800 {
            world.step().unwrap();
        }
        world.hash()
    })
}

#[test]
fn thread_counts_agree_bit_for_bit() {
    let one = hash_on(1);
    assert_eq!([hash_on(2), hash_on(3)], [one; 2]);
}

#[test]
fn the_seed_decides_and_nothing_else() {
    let position = |w: &barchan_engine::World| w.frame().grains().position[0];
    let (a, b) = (world(&[BOX, BUSY]), world(&[BOX, BUSY]));
    assert_eq!(a.hash(), b.hash());
    assert_ne!(position(&world(&["seed = 2\n", BOX, BUSY])), position(&a));
}

#[test]
fn an_emitter_pours_at_its_rate_and_its_grains_do_not_overlap() {
    let pour = r#"
[[emitters]]
name = "pour"
material = "beads"
radius = "1 mm"
disc = { centre = [0.02, 0.02, 0.09], normal = [0, 0, -1], radius = "15 mm" }
rate = 5000
velocity = [0, 0, -1]
from = "5 ms"
until = "35 ms"
"#;
    let mut world = world(&[BOX, pour]);
    assert_eq!(world.summary().pieces_at_end(), 150);
    while world.time() < 0.049 {
        world.step().unwrap();
        if world.time() < 0.03 {
            assert!(world.gauge("largest overlap").unwrap() < 1e-9, "in free fall nothing touches");
        }
        let due = 5000.0 * (world.time().clamp(0.005, 0.035) - 0.005);
        assert!(
            (world.pieces() as f64 - due).abs() <= 15.0,
            "{} grains, {due} due at {}",
            world.pieces(),
            world.time()
        );
    }
    assert_eq!(world.born()[0].1.grains, 150);
}

#[test]
fn a_rate_by_mass_gives_that_mass() {
    let pour = r#"
[[emitters]]
material = "beads"
radius = { uniform = ["0.8 mm", "1.2 mm"] }
disc = { centre = [0.02, 0.02, 0.09], normal = [0, 0, -1], radius = "15 mm" }
mass_rate = 0.05
velocity = [0, 0, -1]
"#;
    let mut world = world(&[BOX, pour]);
    while world.time() < 0.03 {
        world.step().unwrap();
    }
    let mass: f64 = world.frame().grains().mass.iter().sum();
    assert!((mass / (0.05 * 0.03) - 1.0).abs() < 0.1, "{mass} kg");
    assert!((mass - world.born()[0].1.mass).abs() < 1e-12, "the tally is the grains' mass");
}

#[test]
fn sinks_and_open_sides_count_what_they_take() {
    let falling = r#"
[[grains]]
material = "beads"
radius = "1 mm"
velocity = [0, 0, -1]
at = [[0.01, 0.02, 0.02], [0.03, 0.02, 0.02], [0.03, 0.02, 0.03]]
"#;
    let open = BOX.replace("open = [\"top\"]", "open = [\"top\", \"bottom\"]");
    let removing = open.replace("[domain]", "[domain]\noutside = \"remove\"");
    let sink = "[[sinks]]\nname = \"half\"\nbox = { min = [0.02, 0, -0.005], max = [0.05, 0.05, 0.01] }\n";
    let mut w = world(&[&removing, falling, sink]);
    while w.time() < 0.045 {
        w.step().unwrap();
    }
    let tallies: Vec<_> = w.tallies().iter().map(|(name, t)| (name.to_string(), t.grains)).collect();
    assert_eq!(tallies, [("half".into(), 2), ("outside".into(), 1)]);
    assert!(w.pieces() == 0);

    let mut closed = world(&[&open, falling]);
    let error = (0..100_000).find_map(|_| closed.step().err()).unwrap();
    assert!(matches!(&error, WorldError::Outside { position, .. } if position.z < -0.009), "{error}");
    assert!(error.to_string().contains("domain.outside"), "the remedy is named");
}

#[test]
fn an_unsafe_time_step_is_an_error_at_its_line_with_the_safe_value() {
    let fine = world(&[BOX, ONE]);
    let (derived, limit) = (fine.plan().dt, fine.plan().dt_limit);
    assert!(derived < limit && fine.plan().dt_reason.contains("beads"));
    let with = |dt: f64| complaints(&[BOX, ONE, &format!("[integrator]\ndt = {dt:e}\n")]);
    assert_eq!(with(0.9 * limit), "");
    let message = with(3.0 * limit);
    assert!(
        message.contains("3.00×") && message.contains("beads") && message.contains(&format!("{limit:.3e}")),
        "{message}"
    );
    let line = [BOX, ONE].concat().lines().count() + 2;
    assert!(message.starts_with(&format!("{line}:")), "{message}");
}

#[test]
fn a_fill_that_does_not_fit_says_how_many_do() {
    // The scene's own estimate lets 300 through; random insertion jams before.
    let fill = |n: u64| {
        format!(
            "[[grains]]\nmaterial = \"beads\"\nradius = \"2 mm\"\nfill = {{ box = {{ min = [0.001, 0.001, 0.001], \
             max = [0.039, 0.039, 0.02] }}, method = \"random\", count = {n} }}\n"
        )
    };
    let message = complaints(&[BOX, &fill(300)]);
    let fits = message.split("only ").nth(1).and_then(|m| m.split(' ').next()).and_then(|n| n.parse::<u64>().ok());
    let fits = fits.unwrap_or_else(|| panic!("{message}"));
    assert!(fits > 150 && fits < 300 && message.contains(&format!("at most {fits}")), "{message}");
    assert_eq!(complaints(&[BOX, &fill(fits * 8 / 10)]), "", "and somewhat fewer do");
}

#[test]
fn grains_in_walls_and_in_each_other_are_reported_together() {
    let grains = "[[grains]]\nmaterial = \"beads\"\nradius = 0.002\nat = [[0.02, 0.02, 0.001], [0.02, 0.02, 0.02], [0.021, 0.02, 0.02]]\n";
    let message = match load(&[BOX, grains].concat(), "test", Path::new("")) {
        Ok(parsed) => barchan_engine::assemble(&parsed).err().map(|e| e.listing()).unwrap_or_default(),
        Err(e) => e.listing(),
    };
    assert!(message.lines().count() >= 2, "{message}");
}

#[test]
fn energy_falls_and_weight_arrives_at_the_walls() {
    let bed = r#"
[[grains]]
material = "beads"
radius = "1.5 mm"
fill = { box = { min = [0, 0, 0], max = [0.04, 0.04, 0.02] }, count = 400 }
[[measure]]
energy = {}
every = "1 ms"
[[measure]]
wall_forces = {}
every = "1 ms"
"#;
    let mut w = world(&[BOX, bed]);
    let mut rows = vec![Vec::new(); 2];
    while w.time() < 0.4 {
        w.rows().iter().for_each(|r| rows[r.measurement].push(r.values.clone()));
        w.step().unwrap();
    }
    let total = |row: &Vec<f64>| row[5];
    let first = total(&rows[0][0]);
    assert!(rows[0].windows(2).all(|r| total(&r[1]) <= total(&r[0]) + 1e-6 * first), "friction and damping only take");
    let weight: f64 = w.frame().grains().mass.iter().sum::<f64>() * 9.81;
    let carried = rows[1].last().unwrap()[3];
    assert!((carried / -weight - 1.0).abs() < 0.02, "the floor carries {carried} N of {weight} N");
}

#[test]
fn the_slope_of_a_stack_is_counted_out() {
    // Rows of 8, 7, … 1 grains along x, each a row shorter than the one below: one diameter down for each one along.
    let mut at = Vec::new();
    for (layer, y) in (0..8).flat_map(|layer| (0..4).map(move |y| (layer, y))) {
        at.extend((0..8 - layer).map(|x| format!("[{}, {}, {}]", 1 + 2 * x, 1 + 2 * y, 1 + 2 * layer)));
    }
    let at = at.join(", ").replace(['[', ']'], " ").split(',').map(|n| format!("{}e-3", n.trim())).collect::<Vec<_>>();
    let at = at.chunks(3).map(|p| format!("[{}]", p.join(", "))).collect::<Vec<_>>().join(", ");
    let stack = format!(
        "[[grains]]\nmaterial = \"beads\"\nradius = \"1 mm\"\nat = [{at}]\n\
         [[measure]]\nrepose = {{ point = [0, 0, 0], along = [1, 0, 0] }}\n"
    );
    let w = world(&[BOX, &stack]);
    let row = &w.rows()[0].values;
    assert!((row[1] - 45.0).abs() < 1e-6 && (row[3] - 16e-3).abs() < 1e-9 && (row[4] - 16e-3).abs() < 1e-9, "{row:?}");
}

#[test]
fn a_plunger_is_moved_by_its_load_and_its_own_weight() {
    // m a = load + m g·axis: 20 g under 0.3 N downwards, far above the grain.
    let plunger = r#"
[[walls]]
name = "plunger"
material = "beads"
disc = { centre = [0.02, 0.02, 0.09], normal = [0, 0, 1], radius = 0.01 }
drive = { axis = [0, 0, -1], mass = "20 g", load = "0.3 N" }
"#;
    let mut w = world(&[BOX, ONE, plunger]);
    while w.time() < 0.03 {
        w.step().unwrap();
    }
    let fallen = -w.boundary().states()[1].position.z;
    let exact = 0.5 * (0.3 / 0.02 + 9.81) * w.time().powi(2);
    assert!((fallen / exact - 1.0).abs() < 1e-2, "{fallen} against {exact}");
}

#[test]
fn more_grains_than_memory_are_refused_before_they_are_placed() {
    let fill = "[[grains]]\nmaterial = \"beads\"\nradius = \"1 mm\"\nfill = { box = { min = [0.001, 0.001, 0.001], \
                max = [0.039, 0.039, 0.05] } }\n";
    let rain = "[[grains]]\nmaterial = \"beads\"\nradius = \"1 mm\"\nfill = { box = { min = [0.001, 0.001, 0.001], \
                max = [0.039, 0.039, 0.05] }, method = \"rain\", count = 1000, batch = 100, every = \"1 ms\" }\n";
    for grains in [fill, rain] {
        let scaled = common::parse(&[BOX, grains]).scaled(1e12).unwrap();
        let told = barchan_engine::assemble(&scaled).err().map(|e| e.listing()).unwrap_or_default();
        assert!(told.contains("grains would need about") && told.contains("this machine has"), "{told}");
    }
}

#[test]
fn an_impact_too_hard_for_the_law_is_foretold() {
    let drop = |height: f64, young: &str| {
        let tall = BOX.replace("0.11]", "2.1]").replace("0.1]", "2.05]").replace("5 MPa", young);
        let grain = format!("[[grains]]\nmaterial = \"beads\"\nradius = 0.001\nat = [[0.02, 0.02, {height}]]\n");
        world(&[&tall, &grain]).warnings().iter().map(|w| format!("{} {}", w.message, w.help)).collect::<String>()
    };
    assert_eq!(drop(0.02, "5 MPa"), "", "the height of the domain alone is no reason");
    // Undamped Hertz impact: ξ/R = (5πρv²/4E*)^0.4, v² = 2g (2 m − R), E* = E/2(1 − ν²).
    let v2: f64 = 2.0 * 9.81 * 1.999;
    let share = (5.0 * std::f64::consts::PI * 2500.0 * v2 / (4.0 * 5e6 / (2.0 * 0.91))).powf(0.4);
    let told = drop(2.0, "5 MPa");
    let expected = [format!("{:.2} m/s", v2.sqrt()), format!("by {:.0} %", 100.0 * share), "young".into()];
    assert!(expected.iter().all(|e| told.contains(e)), "{expected:?} in {told}");
    assert_eq!(drop(2.0, "1 GPa"), "", "stiffer grains may fall so far");
}

#[test]
fn no_row_says_minus_zero() {
    let mut w = world(&[
        "gravity = [0, 0, 0]\n",
        BOX,
        ONE,
        "[[measure]]\nenergy = {}\nevery = \"1 ms\"\n[[measure]]\nwall_forces = {}\nevery = \"1 ms\"\n",
    ]);
    let mut rows = w.rows().to_vec();
    while w.time() < 0.005 {
        w.step().unwrap();
        rows.extend_from_slice(w.rows());
    }
    assert!(rows.len() >= 12 && rows.iter().flat_map(|r| &r.values).all(|v| v.to_bits() != (-0.0f64).to_bits()));
}

#[test]
fn the_stress_under_a_resting_grain_is_its_weight_times_its_arm() {
    let profile = r#"
[[grains]]
material = "beads"
radius = 0.001
at = [[0.02, 0.02, 0.001]]
[[measure]]
profile = { box = { min = [0, 0, -0.001], max = [0.04, 0.04, 0.004] }, bins = 5 }
every = "10 ms"
[[measure]]
packing = { box = { min = [0.019, 0.019, 0], max = [0.021, 0.021, 0.001] } }
every = "10 ms"
"#;
    let mut w = world(&[BOX, profile]);
    let mut rows = vec![Vec::new(); 2];
    while w.time() < 0.045 {
        w.step().unwrap();
        w.rows().iter().for_each(|r| rows[r.measurement] = r.values.clone());
    }
    let (mass, bin) = (w.frame().grains().mass[0], 0.04 * 0.04 * 0.001);
    // −f⊗l of the one contact: the weight, over the radius from the centre to the floor, all within the second bin.
    let stress = &rows[0][1 + 6 * 5..1 + 7 * 5];
    assert!((stress[1] * bin / (mass * 9.81 * 0.001) - 1.0).abs() < 0.01, "{stress:?}");
    // The contact point lies half an overlap below the floor.
    assert!([0, 2, 3, 4].iter().all(|&k: &usize| stress[k].abs() < 1e-3 * stress[1]), "{stress:?}");
    let fraction = &rows[0][1..6];
    assert!((fraction.iter().sum::<f64>() * bin * 2500.0 / mass - 1.0).abs() < 1e-9, "all of it is in some bin");
    assert!((rows[1][1] - std::f64::consts::PI / 6.0).abs() < 1e-3, "half a ball in half a cube");
    assert_eq!(rows[1][2..], [1.0, 1.0, 0.0, 1.0], "one grain with one contact, a rattler");
}

/// Rims of 0.5 m/s counted as 30 m/s, for their speed was taken at the domain's diagonal.
#[test]
fn a_turning_wall_is_as_fast_as_its_own_farthest_point() {
    // Without gravity nothing but the wall is fast.
    let scene = |geometry: &str, rate: f64| {
        format!(
            r#"
            duration = 0.01
            gravity = [0, 0, 0]
            [domain]
            min = [-3, -3, -3]
            max = [3, 3, 3]
            [materials.soft]
            density = 2500
            young = "1 MPa"
            poisson = 0.3
            restitution = 0.5
            friction = 0.5
            [[walls]]
            material = "soft"
            {geometry}
            rotate = {{ point = [0, 0, 0], axis = [0, 0, 1], rate = {rate} }}
            [[grains]]
            material = "soft"
            radius = 0.01
            at = [[2, 2, 2]]
            "#
        )
    };
    let speed = |geometry: &str, rate: f64| world(&[&scene(geometry, rate)]).meetings()[0].speed;
    let roller = "cylinder = { base = [0, 0, -1], axis = [0, 0, 1], radius = 0.1, height = 2, side = \"outside\" }";
    assert!((speed(roller, 200.0) / 20.0 - 1.0).abs() < 1e-12, "{}", speed(roller, 200.0));
    let arm = "sphere = { centre = [0.5, 0, 0], radius = 0.1, side = \"outside\" }";
    assert!((speed(arm, 100.0) / 60.0 - 1.0).abs() < 1e-12);
    // A plane has no end: the domain's diagonal counts.
    assert!(speed("plane = { point = [0, 0, -2.9], normal = [0, 0, 1] }", 10.0) > 60.0);
    // A wall that is carried off as well may come to any distance of the axis.
    let driven = format!("{arm}\nvelocity = [1, 0, 0]");
    assert!(speed(&driven, 10.0) > 60.0);
}

/// A step longer than the run overshot its end.
#[test]
fn a_step_longer_than_the_duration_is_an_error_and_never_derived() {
    let short = BOX.replace("duration = 0.05", "duration = 1e-6");
    let errors = complaints(&[&short, ONE, "[integrator]\ndt = 2e-6\n"]);
    assert!(errors.contains("longer than the whole duration") && errors.contains("use at most 1.000e-6 s"), "{errors}");
    let mut world = world(&[&short, ONE]);
    world.step().unwrap();
    assert!((world.time() - 1e-6).abs() < 1e-18, "{}", world.time());
}
