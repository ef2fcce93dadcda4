//! Thin sheets and bodies.

use crate::common::*;
use barchan_core::boundary::{Body, Boundary, Carried, Fixtures, Load, Pose};
use barchan_core::solver::{Domain, Solver};
use barchan_core::walls::{Geometry, Side, Wall};
use barchan_sph::{Filling, Settings};
use glam::{DQuat, DVec3};

#[test]
fn sand_on_one_side_of_a_thin_sheet_does_not_feel_the_other() {
    let domain = Domain { min: DVec3::splat(-0.4), max: DVec3::splat(0.4), periodic: [false; 3] };
    let mut settings = Settings::sand(D, domain);
    settings.gravity = DVec3::ZERO;
    settings.largest_step = 2e-3;
    let sheet = Geometry::Disc { centre: DVec3::ZERO, normal: DVec3::X, radius: 0.35, hole: 0.0 };
    let mut scene = Scene::new(settings, walls(vec![Wall::new("sheet", sheet, 0)]));
    for (low, velocity) in [(-6.0, DVec3::X), (0.0, DVec3::ZERO)] {
        let corners = [DVec3::new(low, -4.0, -4.0) * D, DVec3::new(low + 6.0, 4.0, 4.0) * D];
        let filling = Filling { corners, spacing: D, jitter: 0.0, velocity, kind: 0, seed: 1 };
        let filled = filling.fill(&|_| true, &scene.boundary, DVec3::ZERO, 1550.0);
        scene.sph.add(&filled.matter, &scene.boundary).unwrap();
    }
    let before = scene.sph.totals().momentum.x;
    let mut given = 0.0;
    for _ in 0..40 {
        scene.advance();
        given += scene.force_on(0).x * scene.dt;
    }
    let p = scene.particles();
    let right: f64 = p.position.iter().zip(&*p.velocity).filter(|(x, _)| x.x > 0.0).map(|(_, v)| v.length()).sum();
    assert!(right < 1e-3 * before / scene.sph.particle_mass(), "the right side moves: {right}");
    assert!(p.position.iter().filter(|x| x.x < 0.0).count() * 2 == p.len(), "nobody has got through");
    let left = scene.sph.totals().momentum.x;
    assert!((given - (before - left)).abs() < 1e-5 * before, "the sheet took {given} of {before} − {left}");
    assert!(given > 0.5 * before);
}

/// A cube of sand-like fluid with a box of that density, as a share of the fluid's, in it; returns its height, that of the surface, and the largest speed it
/// has had in the last third of the time.
fn floating(share: f64) -> (f64, f64, f64) {
    let (half, mass) = (3.0 * D, share * 1550.0 * (6.0 * D) * (6.0 * D) * (4.0 * D));
    let width = 9.0 * D;
    let domain = slice(width, 1.0, false);
    let mut settings = Settings::sand(D, domain);
    settings.kinds[0].friction_angle = 0.0;
    // As deep as the domain is thick, so that the scene is planar; the body may only rise and sink.
    let shape = Geometry::Box {
        min: DVec3::new(-half, -10.0 * D, -half),
        max: DVec3::new(half, 14.0 * D, half),
        side: Side::Outside,
        open: [false; 6],
    };
    let sides = [plane("left", DVec3::X * -width, DVec3::X), plane("right", DVec3::X * width, DVec3::NEG_X)];
    let fixtures = Fixtures {
        walls: vec![floor(), sides[0].clone(), sides[1].clone(), Wall::new("body", shape, 0)],
        carried: vec![Carried { wall: 3, body: 0 }],
    };
    let body = Body::new(Some(3), DVec3::ZERO, None);
    let mut boundary = Boundary::new(fixtures, vec![body], DVec3::new(0.0, 0.0, -G));
    let mut pose = Pose {
        centre: DVec3::new(0.0, 0.0, 8.0 * D),
        rotation: DQuat::IDENTITY,
        inverse_mass: 1.0 / mass,
        ..Pose::default()
    };
    boundary.place_body(0, Some(pose), Load::default());
    let mut scene = Scene::new(settings, boundary);
    scene.fill([DVec3::new(-width, 0.0, 0.0), DVec3::new(width, 4.0 * D, 10.0 * D)], 0.02, |_| true);
    let (mut fastest, steps) = (0f64, (3.0 / scene.dt) as usize);
    for step in 0..steps {
        scene.advance();
        // The body's integrator: gravity and the continuum's impulse, along z alone.
        pose.velocity.z += -G * scene.dt + scene.boundary.bodies[0].pushed().force.z / mass;
        pose.centre.z += pose.velocity.z * scene.dt;
        scene.boundary.place_body(0, Some(pose), Load::default());
        if step > 2 * steps / 3 {
            fastest = fastest.max(pose.velocity.z.abs());
        }
    }
    // The surface beside the body, by volume: all matter and the part of the body below it.
    let volume = scene.sph.totals().mass / 1550.0 / (4.0 * D);
    let mut surface = volume / (2.0 * width);
    for _ in 0..50 {
        let wet = (surface - (pose.centre.z - half)).clamp(0.0, 2.0 * half) * 2.0 * half;
        surface = (volume + wet) / (2.0 * width);
    }
    (pose.centre.z, surface, fastest)
}

#[test]
fn a_body_of_half_the_density_floats_at_half_its_volume_and_light_and_heavy_ones_are_calm() {
    for share in [0.5, 0.1] {
        let (centre, surface, fastest) = floating(share);
        let wet = (surface - (centre - 3.0 * D)) / (6.0 * D);
        assert!((wet - share).abs() < 0.07, "density {share}: {wet} of it is wet");
        assert!(fastest < 0.2 * (G * D).sqrt(), "density {share}: it shakes at {fastest} m/s");
    }
}
