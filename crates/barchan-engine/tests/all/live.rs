//! A world that is touched while it runs.

use crate::common;
use barchan_engine::{Run, RunOptions, World, keep, run};
use common::*;
use glam::DVec3;

const BED: &str = r#"
[[grains]]
material = "beads"
radius = { uniform = ["1 mm", "1.5 mm"] }
fill = { box = { min = [0, 0, 0], max = [0.04, 0.04, 0.012] }, count = 200 }
"#;

fn steps(world: &mut World, n: u64) {
    for _ in 0..n {
        world.step().unwrap();
    }
}

/// Deepest overlap of two grains, or of a grain and a wall, over the smaller radius, by comparing all with all.
fn overlap(world: &World) -> f64 {
    let f = world.frame().grains().clone();
    let (walls, states) = (world.boundary().walls(), world.boundary().states());
    let mut deepest = 0.0f64;
    for a in 0..f.len() {
        for b in 0..a {
            let gap = f.position[a].distance(f.position[b]) - f.radius[a] - f.radius[b];
            deepest = deepest.max(-gap / f.radius[a].min(f.radius[b]));
        }
        for (wall, state) in walls.iter().zip(states) {
            deepest = deepest.max(1.0 - wall.clearance(state, f.position[a]) / f.radius[a]);
        }
    }
    deepest
}

#[test]
fn poured_grains_overlap_nothing() {
    let mut world = world(&[BOX, BED]);
    steps(&mut world, 300);
    let (before, deepest) = (world.pieces(), overlap(&world));
    let there = DVec3::new(0.02, 0.02, 0.014);
    let came = world.pour(there, 0.008, 60).unwrap();
    assert!(came >= 10, "{came} found room");
    assert_eq!(world.pieces(), before + came);
    assert!(overlap(&world) <= deepest, "nobody new overlaps");
    let f = world.frame().grains().clone();
    let new = (0..f.len()).filter(|&g| f.id[g] as usize >= before);
    new.for_each(|g| assert!(f.position[g].distance(there) < 0.008 && (1e-3..=1.5e-3).contains(&f.radius[g])));
    // In a corner of the vessel, walls are respected too.
    world.pour(DVec3::new(0.001, 0.001, 0.02), 0.006, 60).unwrap();
    assert!(overlap(&world) <= deepest);
    steps(&mut world, 300);
}

#[test]
fn a_ball_finds_room_or_stays_away() {
    let mut world = world(&[BOX, BED]);
    assert!(!world.drop_ball(DVec3::new(0.02, 0.02, 0.0055), 0.005).unwrap(), "in the bed");
    assert!(!world.drop_ball(DVec3::new(0.02, 0.02, 0.108), 0.005).unwrap(), "across the domain's lid");
    assert!(world.drop_ball(DVec3::new(0.02, 0.02, 0.03), 0.005).unwrap());
    let f = world.frame().grains().clone();
    let ball = (0..f.len()).max_by(|a, b| f.radius[*a].total_cmp(&f.radius[*b])).unwrap();
    let mass = 4.0 / 3.0 * std::f64::consts::PI * 0.005f64.powi(3) * 2500.0;
    assert!((f.mass[ball] / mass - 1.0).abs() < 1e-12);
}

#[test]
fn what_is_dug_out_is_counted() {
    let mut world = world(&[BOX, BED]);
    let centre = DVec3::new(0.02, 0.02, 0.006);
    let inside = world.frame().grains().position.iter().filter(|x| x.distance(centre) <= 0.01).count();
    let before = world.pieces();
    assert_eq!(world.dig(centre, 0.01), inside);
    assert!(inside > 5 && world.pieces() == before - inside);
    let left: u64 = world.tallies().iter().map(|t| t.1.grains).sum();
    assert_eq!(left, inside as u64);
    steps(&mut world, 100);
}

const TAP: &str = r#"
[[emitters]]
material = "beads"
radius = "1 mm"
disc = { centre = [0.02, 0.02, 0.09], normal = [0, 0, -1], radius = "10 mm" }
rate = 2000
velocity = [0, 0, -0.5]
"#;

#[test]
fn the_tap_can_be_closed_and_opened() {
    let mut world = world(&[BOX, TAP]);
    let until = |world: &mut World, time: f64| {
        while world.time() < time {
            world.step().unwrap();
        }
        world.pieces() as f64
    };
    let a = until(&mut world, 0.01);
    world.set_flow(0.0);
    let b = until(&mut world, 0.02);
    world.set_flow(2.0);
    let c = until(&mut world, 0.03);
    assert!((a - 20.0).abs() <= 6.0, "{a}");
    assert!(b - a <= 6.0, "closed, only what was owed comes: {a} {b}");
    assert!((c - b - 40.0).abs() <= 12.0, "twice the rate, and nothing to catch up on: {b} {c}");
}

#[test]
fn a_world_kept_as_it_stands_goes_on_to_the_bit() {
    let text = [BOX, BED, TAP].concat();
    let mut world = world(&[&text]);
    steps(&mut world, 100);
    world.set_gravity(DVec3::new(1.0, 0.0, -5.0));
    world.set_material(0, 0.1, 0.8).unwrap();
    world.set_flow(0.5);
    world.push(DVec3::new(0.02, 0.02, 0.006), 0.01, DVec3::Z * 0.3);
    world.pour(DVec3::new(0.02, 0.02, 0.04), 0.008, 10).unwrap();
    steps(&mut world, 100);
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("kept");
    keep(&world, &parse(&[&text]).scene, &out).unwrap();
    assert!(keep(&world, &parse(&[&text]).scene, &out).is_err(), "a run is never overwritten");

    let report = Run::resume(&out, None).unwrap().go(RunOptions::default()).unwrap();
    let left = report.step - world.steps();
    steps(&mut world, left);
    assert_eq!(report.hash, world.hash());

    let changed = std::fs::read_to_string(out.join(barchan_engine::run::CHANGED)).unwrap();
    let again = parse(&[&changed]).scene;
    assert_eq!(again.gravity, DVec3::new(1.0, 0.0, -5.0));
    assert_eq!((again.materials[0].friction, again.materials[0].restitution), (0.1, 0.8));
    assert_eq!(again.emitters[0].flow, barchan_scene::EmitterFlow::Rate(1000.0));
}

#[test]
fn what_cannot_change_is_refused_and_an_untouched_world_saves_as_ever() {
    let mut world = world(&[BOX, BED]);
    assert!(world.set_material(0, -1.0, 0.5).is_err() && world.set_material(0, 0.5, 0.0).is_err());
    assert!(!world.is_touched());
    let folder = tempfile::tempdir().unwrap();
    run(world, folder.path().join("a"), RunOptions::default()).unwrap();
    let kept = barchan_engine::checkpoint::Checkpoint::newest(&folder.path().join("a")).unwrap();
    assert!(kept.column("live/gravity").is_none() && kept.column("dem/wall.clock").is_none());
}
