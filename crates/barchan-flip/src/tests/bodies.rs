//! Bodies: what sand and bodies give each other.

use super::scene::*;
use crate::Alone;
use barchan_core::boundary::{Body, Boundary, Carried, Fixtures, Load, Pose};
use barchan_core::walls::{Geometry, Side, Wall};
use glam::{DQuat, DVec3};

const RADIUS: f64 = 4.0;

/// A bed of 8 cells with a ball on it, sunk by two cells; `heavy` is its density over that of packed sand.
fn ball(heavy: f64) -> Alone {
    let s = settings([32.0, 32.0, 32.0], [true, true, false]);
    let mass = heavy * s.bulk() * 4.0 / 3.0 * std::f64::consts::PI * RADIUS.powi(3);
    let sphere = Geometry::Sphere { centre: DVec3::ZERO, radius: RADIUS, side: Side::Outside };
    let fixtures = Fixtures {
        walls: vec![plane(DVec3::ZERO, DVec3::Z, 1), Wall::new("ball", sphere, 1)],
        carried: vec![Carried { wall: 1, body: 0 }],
    };
    let inertia = 0.4 * mass * RADIUS * RADIUS;
    let bodies = vec![Body::new(Some(1), DVec3::splat(1.0 / inertia), None)];
    let mut boundary = Boundary::new(fixtures, bodies, s.gravity);
    let centre = DVec3::new(16.3, 15.8, 6.0 + RADIUS);
    let pose =
        Pose { centre, rotation: DQuat::IDENTITY, velocity: DVec3::ZERO, spin: DVec3::ZERO, inverse_mass: 1.0 / mass };
    boundary.place_body(0, Some(pose), Load::default());
    let mut a = Alone::within(s, boundary).unwrap();
    a.fill([[0, 0, 0], [32, 32, 8]], |x| x.distance(centre) > RADIUS + 0.1, |_| DVec3::ZERO).unwrap();
    a
}

/// A world step, and the body's own integration after it. Returns the momentum the body gained over ρ_max.
fn step(a: &mut Alone) -> DVec3 {
    a.step().unwrap();
    let body = &a.boundary.bodies[0];
    let before = body.pose.velocity;
    let (velocity, spin) = body.predicted(a.dt, a.settings().gravity);
    let mut pose = body.pose;
    (pose.velocity, pose.spin) = (velocity, spin);
    pose.centre += velocity * a.dt;
    let gained = (velocity - before) / pose.inverse_mass / a.settings().bulk();
    a.boundary.place_body(0, Some(pose), Load::default());
    gained
}

#[test]
fn what_sand_loses_a_body_and_the_walls_gain() {
    let mut a = ball(3.0);
    let weight = a.len() as f64 / 8.0 + 3.0 * 4.0 / 3.0 * std::f64::consts::PI * RADIUS.powi(3);
    for n in 0..4 {
        let before = momentum(&a);
        let gained = step(&mut a) + momentum(&a) - before;
        let floor = a.boundary.states()[0].force / a.settings().bulk();
        let given = (a.settings().gravity * weight - floor) * a.dt;
        assert!((gained - given).length() < 1e-10 * weight, "step {n}: gained {gained}, given {given}");
    }
}

#[test]
fn sand_brings_a_heavy_ball_to_rest() {
    let mut a = ball(2.0);
    let start = a.boundary.bodies[0].pose.centre;
    (0..75).for_each(|_| {
        step(&mut a);
    });
    let pose = a.boundary.bodies[0].pose;
    let sunk = start.z - pose.centre.z;
    assert!(pose.velocity.length() < 0.2, "it moves at {} after falling for 15 √(h/g)", pose.velocity);
    assert!((-0.5..4.0).contains(&sunk), "it sank by {sunk} cells");
}
