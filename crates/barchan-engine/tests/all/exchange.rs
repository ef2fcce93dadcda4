//! Grains that become ground, and ground that becomes grains.

use crate::common;
use barchan_dem::Dem;
use barchan_engine::checkpoint::{Checkpoint, CheckpointWriter};
use barchan_engine::{World, assemble};
use common::{parse_of as parse, run, world_of as world};
use glam::DVec3;

/// A tall heap in a narrow pen.
const PEN: &str = r#"
duration = 1
[domain]
min = [-0.02, -0.02, -0.002]
max = [0.02, 0.02, 0.2]
[materials.sand]
preset = "dry sand"
young = "0.3 MPa"
[integrator]
max_overlap = 0.4
[[walls]]
name = "pen"
material = "sand"
box = { min = [-0.012, -0.012, -0.002], max = [0.012, 0.012, 0.2], open = ["top"] }
[ground]
cell = "3 mm"
floor = 0
[ground.exchange]
layer = 2
after = "10 ms"
[[grains]]
material = "sand"
radius = { uniform = ["1.3 mm", "1.7 mm"] }
fill = { box = { min = [-0.012, -0.012, 0.0], max = [0.012, 0.012, 0.075] } }
"#;

/// A ball about to strike level ground.
const BLOW: &str = r#"
duration = 1
[domain]
min = [-0.04, -0.04, -0.002]
max = [0.04, 0.04, 0.1]
[materials.sand]
preset = "dry sand"
young = "10 MPa"
[materials.steel]
preset = "steel balls"
young = "10 MPa"
[integrator]
max_overlap = 0.4
[ground]
cell = "3 mm"
floor = 0
height = "20 mm"
[ground.exchange]
[[grains]]
material = "sand"
radius = "1.5 mm"
at = [[0.03, 0.03, 0.0215]]
[[grains]]
material = "steel"
radius = "5 mm"
at = [[0, 0, 0.03]]
velocity = [0, 0, -1]
"#;

fn threads<T: Send>(n: usize, run: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(n).build().unwrap().install(run)
}

#[test]
fn deep_grains_become_ground_and_no_mass_is_lost_or_height() {
    let mut w = world(PEN);
    let mut alone = world(&PEN.replace("[ground.exchange]\nlayer = 2\nafter = \"10 ms\"\n", ""));
    let top = |w: &World| w.frame().grains().position.iter().map(|x| x.z).fold(0.0, f64::max);
    let account = |w: &World| w.ground().unwrap().account(w.frame().grains());
    let total = account(&w).total();
    for k in 1..=25 {
        run(&mut w, 0.01 * f64::from(k));
        assert_eq!(account(&w).total(), total, "to the last mote");
    }
    let a = account(&w);
    assert!(a.frozen > 20 && a.ground > 0, "{a:?}");
    assert!(!w.solver::<Dem>().unwrap().pinned().is_empty());
    run(&mut alone, 0.25);
    assert_eq!(account(&alone).frozen, 0);
    let (high, reference) = (top(&w), top(&alone));
    assert!((high / reference - 1.0).abs() < 0.03, "as high as grains alone: {high} of {reference}");
    let mass = a.mass(a.total());
    let all: f64 = w.frame().grains().mass.iter().sum::<f64>() + w.ground().unwrap().mass() + a.mass(a.owed);
    assert!((mass / all - 1.0).abs() < 1e-12);
}

#[test]
fn a_run_with_exchange_resumes_bit_for_bit_and_is_the_same_on_any_number_of_threads() {
    let parsed = parse(PEN);
    let mut w = world(PEN);
    run(&mut w, 0.2);
    let folder = tempfile::tempdir().unwrap();
    let mut writer = CheckpointWriter::default();
    w.save(&mut writer);
    writer.write(folder.path()).unwrap();
    let checkpoint = Checkpoint::newest(folder.path()).unwrap();
    let again = || barchan_engine::assemble::restore(&parsed, &checkpoint).unwrap().unwrap();
    run(&mut w, 0.24);
    assert!(w.ground().unwrap().account(w.frame().grains()).frozen > 0);
    for n in 1..=3 {
        let hash = threads(n, || {
            let mut again = again();
            run(&mut again, 0.24);
            again.hash()
        });
        assert_eq!(hash, w.hash(), "{n} threads");
    }
}

#[test]
fn ground_about_to_be_struck_becomes_grains_at_rest() {
    let mut w = world(BLOW);
    let account = |w: &World| w.ground().unwrap().account(w.frame().grains());
    let total = account(&w).total();
    let mut before = 0;
    while before == 0 && w.time() < 0.02 {
        let momentum: DVec3 =
            w.frame().grains().mass.iter().zip(w.frame().grains().velocity.iter()).map(|(m, v)| *m * *v).sum();
        w.step().unwrap();
        before = account(&w).thawed;
        if before > 0 {
            let frame = w.frame().grains().clone();
            let after: DVec3 = frame.mass.iter().zip(frame.velocity.iter()).map(|(m, v)| *m * *v).sum();
            let ball = frame.mass.iter().copied().fold(0.0, f64::max);
            // Gravity alone has acted in this step.
            let pull = DVec3::NEG_Z * 9.81 * w.plan().dt * frame.mass.iter().sum::<f64>();
            assert!((after - momentum - pull).length() < 1e-3 * ball, "thawing gives no momentum");
            assert!(w.gauge("largest overlap").unwrap() < 1e-3, "nor overlap");
        }
    }
    assert!(before > 20, "{before} grains");
    assert_eq!(account(&w).total(), total);
    run(&mut w, 0.03);
    assert_eq!(account(&w).total(), total);
    let frame = w.frame().grains().clone();
    let ball = (0..frame.len()).find(|&i| frame.radius[i] > 4e-3).unwrap();
    let depth = 0.025 - frame.position[ball].z;
    assert!(depth > 1e-3 && frame.velocity[ball].length() < 0.5, "it has gone in by {depth} m, and slowed");
}

#[test]
fn the_scenes_with_ground_assemble_and_run() {
    for text in [
        include_str!("../../../../scenes/gallery/hybrid-pile.toml"),
        include_str!("../../../../scenes/gallery/hybrid-sphere.toml"),
        include_str!("../../../../scenes/gallery/crater.toml"),
        include_str!("../../../../scenes/gallery/hourglass-ground.toml"),
        include_str!("../../../../scenes/gallery/bucket.toml"),
    ] {
        let parsed = parse(text);
        assert!(parsed.warnings.is_empty(), "{:?}", parsed.warnings);
        let mut w = assemble(&parsed).unwrap_or_else(|e| panic!("{}", e.listing()));
        for _ in 0..40 {
            w.step().unwrap();
        }
    }
}

/// Sand that lies still on ground, and in a tray above it that begins to move.
const TRAY: &str = r#"
duration = 1
[domain]
min = [-0.04, -0.04, -0.002]
max = [0.04, 0.04, 0.1]
[materials.sand]
preset = "dry sand"
young = "0.3 MPa"
[integrator]
max_overlap = 0.4
[ground]
cell = "3 mm"
floor = 0
[ground.exchange]
layer = 2
after = "10 ms"
[[walls]]
name = "tray"
material = "sand"
box = { min = [-0.012, -0.012, 0.04], max = [0.012, 0.012, 0.09], open = ["top"] }
velocity = [0.1, 0, 0]
from = "0.25 s"
[[walls]]
name = "blade"
material = "sand"
disc = { centre = [-0.03, 0, 0.008], normal = [1, 0, 0], radius = "8 mm" }
velocity = [0.1, 0, 0]
from = "0.25 s"
[[grains]]
material = "sand"
radius = "1.5 mm"
fill = { box = { min = [-0.012, -0.012, 0.041], max = [0.012, 0.012, 0.05] } }
[[grains]]
material = "sand"
radius = "1.5 mm"
fill = { box = { min = [-0.012, -0.012, 0.0], max = [0.012, 0.012, 0.012] } }
"#;

#[test]
fn sand_in_a_vessel_goes_with_it_and_what_sleeps_gives_way_to_a_blade() {
    let mut w = world(TRAY);
    run(&mut w, 0.24);
    let high = |w: &World| {
        let frame = w.frame().grains().clone();
        let inside = (0..frame.len()).filter(|&i| frame.position[i].z > 0.035).map(|i| frame.position[i].x);
        let inside: Vec<f64> = inside.collect();
        (inside.len(), inside.iter().sum::<f64>() / inside.len() as f64)
    };
    let (count, middle) = high(&w);
    let asleep = w.solver::<Dem>().unwrap().pinned().len();
    let lowest: Vec<DVec3> = w.frame().grains().position.iter().copied().filter(|x| x.z < 0.03).collect();
    assert!(count > 50 && asleep > 50 && asleep <= lowest.len(), "{asleep} asleep, of {} on the ground", lowest.len());
    run(&mut w, 0.45);
    let (later, moved) = high(&w);
    assert!(
        later > count * 9 / 10 && moved - middle > 0.015,
        "{later} of {count} in the tray, moved by {}",
        moved - middle
    );
    // The blade has gone from -0.03 to -0.01 m, and nothing is left in its way.
    let behind =
        w.frame().grains().position.iter().filter(|x| x.z < 0.012 && x.x < -0.0117 && x.y.abs() < 4e-3).count();
    assert_eq!(behind, 0, "grains that the blade went through");
}

/// A step of ground twelve grains high, which slides, and grains that fall along it.
const BANK: &str = r#"
duration = 1
[domain]
min = [-0.06, -0.015, -0.01]
max = [0.06, 0.015, 0.08]
outside = "remove"
[materials.sand]
preset = "dry sand"
young = "3 MPa"
[ground]
cell = "3 mm"
floor = 0
formula = "max(0, min(0.036, -100 * x))"
[ground.exchange]
[[grains]]
material = "sand"
radius = { uniform = ["1.3 mm", "1.7 mm"] }
fill = { box = { min = [0.0, -0.014, 0.01], max = [0.012, 0.014, 0.06] }, count = 200 }
"#;

#[test]
fn ground_that_slides_does_not_rise_into_grains_that_lean_on_it_or_have_just_come() {
    // It did, by a third of a radius, since only columns right under grains, as of the last look, were held.
    let mut world = world(BANK);
    while world.time() < 0.3 {
        world.step().unwrap_or_else(|e| panic!("at {} s: {e}", world.time()));
    }
}

#[test]
fn what_sleeps_gives_way_to_a_hand_and_to_gravity_that_turns() {
    // Pushes and a turned gravity left grains that were held where they were.
    let mut w = world(PEN);
    run(&mut w, 0.24);
    let asleep = w.solver::<Dem>().unwrap().pinned().len();
    assert!(asleep > 20, "{asleep}");
    let top = w.frame().grains().position.iter().copied().fold(DVec3::ZERO, |a, b| if b.z > a.z { b } else { a });
    let given = w.push(top, 8e-3, DVec3::Z * 0.5);
    let until = w.time() + 0.004;
    run(&mut w, until);
    let frame = w.frame().grains().clone();
    let (count, mass) = (frame.velocity.iter().filter(|v| v.z > 0.3).count(), frame.mass[0]);
    assert!(given.z > 0.0 && count as f64 > 0.5 * given.z / (0.5 * mass), "{count} rise of {}", given.z / (0.5 * mass));
    drop(frame);
    run(&mut w, 0.5);
    assert!(w.solver::<Dem>().unwrap().pinned().len() > 20, "and they sleep again");
    w.set_gravity(DVec3::new(9.81, 0.0, 0.0));
    let until = w.time() + 0.004;
    run(&mut w, until);
    let count = w.frame().grains().velocity.iter().filter(|v| v.x > 0.01).count();
    assert!(count > 100, "{count} fall sideways");
}

/// A bed at rest, and a grain that is thrown over it, nearly level.
const PASSING: &str = r#"
duration = 1
[domain]
min = [-0.036, -0.012, -0.002]
max = [0.036, 0.012, 0.05]
outside = "remove"
[materials.sand]
preset = "dry sand"
young = "0.3 MPa"
[integrator]
max_overlap = 0.4
[[walls]]
name = "trough"
material = "sand"
box = { min = [-0.036, -0.012, -0.002], max = [0.036, 0.012, 0.05], open = ["top", "left", "right"] }
[ground]
cell = "3 mm"
floor = 0
formula = "0.006"
[ground.exchange]
layer = 2
after = "10 ms"
[[grains]]
material = "sand"
radius = "1.5 mm"
fill = { box = { min = [-0.03, -0.012, 0.006], max = [0.03, 0.012, 0.0092] } }
[[emitters]]
material = "sand"
radius = "1.5 mm"
disc = { centre = [-0.02, 0, 0.0125], normal = [1, 0, 0], radius = "1.6 mm" }
rate = 50
count = 1
from = "0.3 s"
velocity = [0.25, 0, 0]
"#;

#[test]
fn a_grain_that_rolls_past_wakes_those_right_under_it_and_one_that_stops_those_it_lies_on() {
    let mut w = world(PASSING);
    run(&mut w, 0.3);
    let bed = w.pieces();
    assert_eq!(w.solver::<Dem>().unwrap().pinned().len(), bed, "all sleep");
    let (mut passing, mut awake, mut stopped) = (0, 0, 0);
    while w.time() < 0.7 {
        let until = w.time() + 2e-3;
        run(&mut w, until);
        let Some(row) = w.frame().grains().id.iter().position(|&id| id as usize == bed) else { break };
        let free = w.pieces() - w.solver::<Dem>().unwrap().pinned().len();
        if w.frame().grains().velocity[row].length() > 0.05 {
            (passing, awake) = (passing + 1, awake + free - 1);
        } else {
            stopped = stopped.max(free);
        }
    }
    // All within a diameter of its way would be eight or more throughout.
    let mean = f64::from(awake as u32) / f64::from(passing);
    assert!(passing > 10 && (0.5..3.0).contains(&mean), "{mean} others awake in {passing} looks");
    assert!(stopped >= 3, "the grain and those it has come to lie on: {stopped}");
    assert_eq!(w.solver::<Dem>().unwrap().pinned().len(), w.pieces(), "in the end all sleep again");
}
