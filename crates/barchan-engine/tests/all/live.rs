//! A world that is touched while it runs.

use crate::common;
use barchan_engine::{Dropped, Run, RunOptions, World, keep, run};
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
    let mut drop = |z| world.drop_ball(DVec3::new(0.02, 0.02, z), 0.005).unwrap();
    assert_eq!(drop(0.0055), Dropped::NoRoom, "in the bed");
    assert_eq!(drop(0.108), Dropped::NoRoom, "across the domain's lid");
    assert_eq!(drop(0.03), Dropped::Grain);
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

/// A column of sand as a continuum that has no material of its own.
const SAND: &str = r#"
duration = 0.2
[domain]
min = [-0.4, -0.4, -0.1]
max = [0.6, 0.6, 0.5]
[materials.wood]
density = 600
young = "5 MPa"
restitution = 0.5
friction = 0.4
[[walls]]
material = "wood"
plane = { point = [0, 0, 0], normal = [0, 0, 1] }
[[continuum]]
name = "sand"
spacing = "2 cm"
density = 2650
packing = 0.6
friction_angle = "33 deg"
fill = { box = { min = [0, 0, 0], max = [0.12, 0.12, 0.16] } }
grains = { per_particle = 4, radius = "2 mm" }
"#;

/// The same column in three phases.
fn sand_in_phases() -> String {
    SAND.replace("spacing", "method = \"phases\"\nspacing").replace("grains = {", "# grains = {")
}

/// A ball among particles was one particle, whatever its radius.
#[test]
fn a_ball_dropped_into_a_continuum_is_a_ball_of_its_matter() {
    for (text, wide) in [(SAND.to_owned(), 0.02), (sand_in_phases(), 0.02)] {
        let mut world = world(&[&text]);
        let (before, was) = (world.pieces(), world.totals().mass);
        let (centre, radius) = (DVec3::new(0.06, 0.06, 0.32), 0.08);
        let Dropped::Matter { pieces } = world.drop_ball(centre, radius).unwrap() else { panic!("no ball") };
        assert_eq!(world.pieces(), before + pieces);
        let mass = 4.0 / 3.0 * std::f64::consts::PI * radius.powi(3) * 2650.0 * 0.6;
        let error = (world.totals().mass - was) / mass - 1.0;
        assert!(error.abs() < 0.01, "mass off by {error}");
        let frame = world.frame();
        let new = &frame.populations[0].position[before..];
        assert!(new.len() == pieces && new.iter().all(|x| x.distance(centre) < radius + 0.5 * wide));
        let middle = new.iter().sum::<DVec3>() / new.len() as f64;
        assert!(middle.distance(centre) < 0.05 * wide, "{middle}");
        let nearest = |a: usize| {
            let others = (0..new.len()).filter(|b| *b != a);
            others.map(|b| new[a].distance(new[b])).fold(f64::INFINITY, f64::min)
        };
        assert!((0..new.len()).all(|a| (nearest(a) / wide - 1.0).abs() < 1e-9), "at rest spacing");
        assert_eq!(world.drop_ball(centre, radius).unwrap(), Dropped::NoRoom, "there is one already");
        assert_eq!(world.drop_ball(DVec3::new(0.3, 0.3, 0.02), 0.08).unwrap(), Dropped::NoRoom, "through the floor");
        // It falls as a whole.
        let height = |world: &World| {
            let f = world.frame().populations[0].clone();
            let of_ball = |i: &usize| f.id[*i] as usize >= before;
            (0..f.len()).filter(of_ball).map(|i| f.position[i].z).sum::<f64>() / pieces as f64
        };
        let (top, start) = (height(&world), world.time());
        while world.time() - start < 0.08 {
            world.step().unwrap();
        }
        let fallen = top - height(&world);
        // A step that takes the new velocity is ahead of the parabola by half a step's fall.
        let (t, dt) = (world.time() - start, world.plan().dt);
        let free = [0.99 * 0.5 * 9.81 * t * t, 1.01 * 0.5 * 9.81 * t * (t + dt)];
        assert!((free[0]..free[1]).contains(&fallen), "{fallen} m, not within {free:?}");
        assert!((world.totals().mass - was - mass).abs() < 0.01 * mass);
    }
}

fn knob(world: &World, name: &str) -> usize {
    world.knobs().iter().position(|k| k.name == name).unwrap_or_else(|| panic!("no {name}"))
}

fn turn(world: &mut World, name: &str, value: f64) {
    let index = knob(world, name);
    world.set_knob(index, value).unwrap();
}

/// Turns every knob of a world to another value, steps, keeps it, and compares the resumed run with one that was not interrupted.
fn knobs_are_kept(text: &str, turns: &[(&str, f64)]) -> barchan_scene::Scene {
    let mut world = world(&[text]);
    steps(&mut world, 5);
    for (name, value) in turns {
        turn(&mut world, name, *value);
    }
    steps(&mut world, 5);
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("kept");
    keep(&world, &parse(&[text]).scene, &out).unwrap();
    let report = Run::resume(&out, None).unwrap().go(RunOptions::default()).unwrap();
    let left = report.step - world.steps();
    assert!(left > 5);
    steps(&mut world, left);
    assert_eq!(report.hash, world.hash());
    let changed = std::fs::read_to_string(out.join(barchan_engine::run::CHANGED)).unwrap();
    parse(&[&changed]).scene
}

#[test]
fn a_knob_that_was_turned_holds_after_a_resume_to_the_bit() {
    let plain = {
        let mut world = world(&[SAND]);
        let left = world.plan().steps();
        steps(&mut world, left);
        world.hash()
    };
    let angle = 21f64.to_radians();
    let turns = [("friction angle", angle), ("cohesion", 40.0), ("wind x", 9.0), ("air density", 3.0)];
    let turns = [&turns[..], &[("tolerance", 1e-3), ("largest step", 1e-3)]].concat();
    for (name, value) in &turns {
        let mut world = world(&[SAND]);
        turn(&mut world, name, *value);
        let left = world.plan().steps();
        steps(&mut world, left);
        // Still air of any density matters only to what flies.
        assert!(world.hash() != plain, "{name} changes nothing");
    }
    let scene = knobs_are_kept(SAND, &turns);
    let sand = &scene.continuum[0];
    assert_eq!((sand.friction_angle, sand.cohesion), (angle, 40.0));
    assert_eq!((sand.solve.tolerance, sand.solve.largest_step), (1e-3, Some(1e-3)));
    let air = scene.air.unwrap();
    assert_eq!((air.velocity.steady(), air.density), (Some(DVec3::X * 9.0), 3.0));
    assert!(sand.material.is_none(), "walls still hold it with its own friction");
}

#[test]
fn knobs_of_phases_and_of_a_wind_by_formula_hold_too() {
    let phases = format!("{}[air]\nvelocity = [1, 0, 0]\n", sand_in_phases());
    let scene = knobs_are_kept(&phases, &[("friction angle", 0.4), ("cohesion", 10.0), ("wind y", 2.0)]);
    assert_eq!((scene.continuum[0].friction_angle, scene.continuum[0].cohesion), (0.4, 10.0));
    assert_eq!(scene.air.unwrap().velocity.steady(), Some(DVec3::new(1.0, 2.0, 0.0)));
    let windy = format!("{SAND}[air]\nvelocity = [\"8*exp(-z)\", 2, 0]\ndrag = \"blob\"\n");
    let scene = knobs_are_kept(&windy, &[("wind", 0.5), ("drag coefficient", 1.1)]);
    let air = scene.air.unwrap();
    assert_eq!(air.coefficient, 1.1);
    assert_eq!(air.velocity.0[1], barchan_scene::Component::Number(1.0));
}

#[test]
fn walls_follow_the_friction_angle_until_they_are_given_their_own() {
    let mut world = world(&[SAND]);
    let friction = |world: &World| world.materials().list[1].friction;
    assert_eq!(friction(&world), 33f64.to_radians().tan());
    turn(&mut world, "friction angle", 0.5);
    assert_eq!(friction(&world), 0.5f64.tan());
    world.set_material(1, 0.2, 0.5).unwrap();
    turn(&mut world, "friction angle", 0.3);
    assert_eq!(friction(&world), 0.2, "a hand has given another");
    // The scene for a new start has it: as the friction of a material that the continuum then names.
    let scene = world.changed_scene(&parse(&[SAND]).scene);
    let again = parse(&[&scene.to_toml().unwrap()]).scene;
    let name = again.continuum[0].material.as_deref().unwrap();
    assert_eq!((name, again.materials[name].friction, again.continuum[0].friction_angle), ("sand", 0.2, 0.3));
    assert_eq!(again.continuum[0].density, 2650.0);
}

#[test]
fn air_without_density_is_a_vacuum() {
    let run = |air: &str| {
        let mut world = world(&[SAND, air]);
        steps(&mut world, 20);
        world.frame().populations[0].position.clone()
    };
    assert_eq!(run("[air]\nvelocity = [5, 0, 0]\ndensity = 0\n"), run(""));
}

#[test]
fn what_freezes_and_how_gas_rides_can_be_changed_while_it_runs() {
    let text = r#"
duration = 1
[domain]
min = [0, 0, -0.02]
max = [0.16, 0.16, 0.3]
[materials.sand]
preset = "dry sand"
[[continuum]]
method = "phases"
material = "sand"
spacing = "5 mm"
fill = { box = { min = [0, 0, 0], max = [0.16, 0.16, 0.16] } }
[[walls]]
material = "sand"
box = { min = [0, 0, 0], max = [0.16, 0.16, 0.29] }
"#;
    let mut w = world(&[text]);
    let run = |w: &mut World, time: f64| {
        let left = ((time - w.time()) / w.plan().dt).round() as u64;
        steps(w, left);
    };
    let solid = |w: &World| w.totals().gauges.iter().find(|g| g.name == "solid mass").unwrap().value;
    run(&mut w, 0.3);
    let with_four = solid(&w);
    assert!(with_four > 0.3 * w.totals().mass);
    turn(&mut w, "cover", 0.0);
    run(&mut w, 0.6);
    assert_eq!(solid(&w), 0.0, "nothing freezes any more");
    turn(&mut w, "cover", 8.0);
    run(&mut w, 0.9);
    assert!(solid(&w) > 0.0 && solid(&w) < 0.8 * with_four, "{} kg, with half the cover {with_four} kg", solid(&w));
    let turns = [("cover", 6.0), ("restitution of gas", 0.7), ("layers", 2.5), ("passes", 4.0), ("tolerance", 2e-3)];
    let text = &text.replace("duration = 1", "duration = 0.15");
    let phases = knobs_are_kept(text, &turns).phases.unwrap();
    assert_eq!((phases.solid.enabled, phases.solid.cover, phases.restitution), (true, 6, 0.7));
    assert_eq!((phases.surface.layers, phases.surface.passes), (2.5, 4));
    assert!(!knobs_are_kept(text, &[("cover", 0.0)]).phases.unwrap().solid.enabled);
}
