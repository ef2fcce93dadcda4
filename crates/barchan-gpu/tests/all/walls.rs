//! Walls of every shape on a device, beside the processor's solver.

use crate::grains::{HERTZ, R, World, glass, grain, settings};
use barchan_core::boundary::Fixtures;
use barchan_core::materials::Material;
use barchan_core::rng::Random;
use barchan_core::solver::{Domain, NewMatter, Solver};
use barchan_core::walls::{Geometry, Rotate, Roughness, Side, Wall};
use barchan_dem::{Alone, Settings};
use glam::DVec3;

/// Grains on a lattice where a wall leaves room for them, thrown about.
fn thrown(wall: &Wall, about: DVec3, side: f64) -> Vec<NewMatter> {
    let mut rng = Random::new(3, 0);
    let state = wall.state_at(0.0);
    let mut out = Vec::new();
    let many = (side / (2.3 * R)) as i32;
    for k in 0..many.pow(3) {
        let place = DVec3::new(f64::from(k % many), f64::from(k / many % many), f64::from(k / many / many));
        let x = about + (place + 0.5 - 0.5 * f64::from(many)) * 2.3 * R + 0.02 * R * rng.in_ball();
        let clear = wall.clearance(&state, x);
        // Those near the wall alone: others have nothing to do with it.
        if (1.002 * R..2.5 * R).contains(&clear) && out.len() < 150 {
            let mut g = grain(x, 1.5 * rng.in_ball(), R * rng.range(0.8, 1.0));
            g.spin = 100.0 * rng.in_ball();
            out.push(g);
        }
    }
    out
}

/// Places and loads after some hundred steps, in units of what may be apart.
fn is_the_processors(name: &str, s: &Settings, wall: Wall, grains: &[NewMatter], steps: u64) {
    let Some(mut world) = World::new(s, std::slice::from_ref(&wall), grains) else { return };
    let mut cpu = Alone::new(s.clone(), Fixtures { walls: vec![wall], carried: vec![] });
    cpu.add(grains).unwrap();
    let (mut touched, mut met) = (0f64, 0);
    for _ in 0..steps {
        world.step().unwrap();
        cpu.step().unwrap();
        let pushed = cpu.boundary.states()[0].force.length();
        touched = touched.max(pushed);
        met += usize::from(pushed > 0.0);
    }
    world.settle().unwrap();
    let (ours, theirs) = (world.seen(), cpu.population());
    let (mut apart, mut faster) = (0f64, 0f64);
    for (g, id) in ours.id.iter().enumerate() {
        let h = theirs.id.iter().position(|i| i == id).unwrap();
        apart = apart.max(ours.position[g].distance(theirs.position[h]));
        faster = faster.max(ours.velocity[g].distance(theirs.velocity[h]));
    }
    let (a, b) = (world.boundary.states()[0], cpu.boundary.states()[0]);
    println!("{name}: {} grains, {met} steps of contact, {apart:.1e} m, {faster:.1e} m/s apart", grains.len());
    assert!(met > 50, "{name}: they have met the wall in {met} steps only");
    assert!(apart < 1e-6 * R && faster < 1e-5, "{name}: {apart} m, {faster} m/s");
    assert!(a.force.distance(b.force) < 1e-4 * touched, "{name}: {} N and {} N", a.force, b.force);
    let lever = touched * 30.0 * R;
    assert!(a.torque.distance(b.torque) < 1e-4 * lever, "{name}: {} N m and {} N m", a.torque, b.torque);
}

#[test]
fn walls_of_every_shape_are_the_processors() {
    let s = settings(Material { rolling: 0.05, ..glass() }, HERTZ);
    // None along the axes, and not at the origin.
    let axis = DVec3::new(0.36, -0.48, 0.8);
    let base = DVec3::new(1.0, 2.0, -3.0);
    let (radius, height) = (12.0 * R, Some(9.0 * R));
    let both = [Side::Inside, Side::Outside];
    let mut shapes = Vec::new();
    for side in both {
        shapes.push(("cylinder", Geometry::Cylinder { base, axis, radius, height: None, side }, base));
        shapes.push(("sphere", Geometry::Sphere { centre: base, radius, side }, base));
    }
    let side = Side::Inside;
    shapes.push(("tube", Geometry::Cylinder { base, axis, radius, height, side }, base + axis * 5.0 * R));
    let cone = Geometry::Cone { base, axis, radius_base: 4.0 * R, radius_top: radius, height: 9.0 * R, side };
    shapes.push(("cone", cone, base + axis * 5.0 * R));
    shapes.push(("disc", Geometry::Disc { centre: base, normal: axis, radius: 8.0 * R, hole: 3.0 * R }, base));
    shapes.push(("plate", Geometry::Disc { centre: base, normal: axis, radius: 8.0 * R, hole: 0.0 }, base));
    for (name, shape, about) in shapes {
        let wall = Wall::new(name, shape, 0);
        let grains = thrown(&wall, about, 30.0 * R);
        is_the_processors(name, &s, wall, &grains, 400);
    }
}

#[test]
fn rough_walls_are_the_processors_even_where_they_turn() {
    let s = settings(glass(), HERTZ);
    let sides = [DVec3::splat(-20.0), DVec3::splat(20.0)];
    let rough = |wall: Wall| wall.roughened(Roughness { radius: R, spacing: 3.0 * R }, sides, [false; 3]);
    let normal = DVec3::new(0.36, -0.48, 0.8);
    let floor = rough(Wall::new("floor", Geometry::Plane { point: DVec3::ONE, normal }, 0));
    let grains = thrown(&floor, DVec3::ONE, 20.0 * R);
    is_the_processors("rough plane", &s, floor, &grains, 400);
    let drum =
        Geometry::Cylinder { base: DVec3::ONE, axis: normal, radius: 12.0 * R, height: None, side: Side::Inside };
    let mut drum = rough(Wall::new("drum", drum, 0));
    drum.motion.rotate = Some(Rotate { point: DVec3::ONE, axis: normal, rate: 20.0 });
    let grains = thrown(&drum, DVec3::ONE, 26.0 * R);
    is_the_processors("rough drum", &s, drum, &grains, 400);
}

/// Grains that go through periodic sides, and meet others there.
#[test]
fn periodic_sides_are_the_processors() {
    let side = 12.0 * R;
    let domain =
        Domain { min: DVec3::new(1.0, -2.0, 0.0), max: DVec3::new(1.0 + side, -2.0 + side, side), periodic: [true; 3] };
    let mut rng = Random::new(8, 0);
    let mut grains = Vec::new();
    for k in 0..125 {
        let place = DVec3::new(f64::from(k % 5), f64::from(k / 5 % 5), f64::from(k / 25));
        let mut g = grain(domain.min + (place + 0.5) * 2.4 * R, 3.0 * rng.in_ball(), R);
        g.spin = 100.0 * rng.in_ball();
        grains.push(g);
    }
    let s = Settings { domain, ..settings(Material { restitution: 0.9, ..glass() }, HERTZ) };
    let Some(mut world) = World::new(&s, &[], &grains) else { return };
    let mut cpu = Alone::new(s.clone(), Fixtures::default());
    cpu.add(&grains).unwrap();
    let momentum = world.dem.totals().momentum;
    for _ in 0..500 {
        world.step().unwrap();
        cpu.step().unwrap();
    }
    let (ours, theirs) = (world.seen(), cpu.population());
    let mut crossed = 0;
    for (g, id) in ours.id.iter().enumerate() {
        let h = theirs.id.iter().position(|i| i == id).unwrap();
        let off = (ours.position[g] - theirs.position[h]) / side;
        let apart = ((off - off.round()) * side).length();
        assert!(apart < 1e-5 * R, "{apart} m");
        assert!(ours.velocity[g].distance(theirs.velocity[h]) < 1e-4);
        let gone = grains[*id as usize].position.distance(ours.position[g]);
        crossed += usize::from(gone > 0.5 * side);
    }
    assert!(crossed > 5, "{crossed} have gone through a side");
    let scale: f64 = ours.mass.iter().zip(ours.velocity.iter()).map(|(m, v)| m * v.length()).sum();
    assert!(world.dem.totals().momentum.distance(momentum) < 1e-6 * scale);
}
