//! Bodies: what sand and bodies give each other.

use super::scene::*;
use crate::{Alone, Settings};
use barchan_core::boundary::{Body, Boundary, Carried, Fixtures, Load, Pose};
use barchan_core::walls::{Geometry, Side, Wall};
use glam::{DQuat, DVec3};

/// A bed with a ball in it.
#[derive(Clone, Copy)]
struct Scene {
    /// Density of the ball over that of packed sand.
    heavy: f64,
    /// Its radius [cells].
    radius: f64,
    /// Side and depth of the bed [cells].
    bed: [i32; 2],
    /// Height of the ball's centre [cells].
    height: f64,
    /// Angle of repose [deg].
    angle: f64,
    velocity: DVec3,
    spin: DVec3,
    /// Whether the bed lies in a box, instead of going on for ever.
    boxed: bool,
}

/// A ball of four cells' radius that has sunk by two into a bed of eight.
const SUNK: Scene = Scene {
    heavy: 3.0,
    radius: 4.0,
    bed: [32, 8],
    height: 10.0,
    angle: 30.0,
    velocity: DVec3::ZERO,
    spin: DVec3::ZERO,
    boxed: false,
};

impl Scene {
    fn build(self) -> Alone {
        let Scene { heavy, radius, bed: [side, depth], height, .. } = self;
        let (width, most) = (f64::from(side), f64::from(depth) + 24.0);
        let free = !self.boxed;
        let s =
            Settings { friction_angle: self.angle.to_radians(), ..settings([width, width, most], [free, free, false]) };
        let mass = heavy * s.bulk() * self.volume();
        let sphere = Geometry::Sphere { centre: DVec3::ZERO, radius, side: Side::Outside };
        let hold = match self.boxed {
            true => {
                let (min, max) = (DVec3::ZERO, DVec3::new(width, width, most));
                Wall::new("box", Geometry::Box { min, max, side: Side::Inside, open: [false; 6] }, 1)
            }
            false => plane(DVec3::ZERO, DVec3::Z, 1),
        };
        let fixtures =
            Fixtures { walls: vec![hold, Wall::new("ball", sphere, 1)], carried: vec![Carried { wall: 1, body: 0 }] };
        let inertia = 0.4 * mass * radius * radius;
        let bodies = vec![Body::new(Some(1), DVec3::splat(1.0 / inertia), None)];
        let mut boundary = Boundary::new(fixtures, bodies, s.gravity);
        let centre = DVec3::new(0.5 * width + 0.3, 0.5 * width - 0.2, height);
        let Scene { velocity, spin, .. } = self;
        let pose = Pose { centre, rotation: DQuat::IDENTITY, velocity, spin, inverse_mass: 1.0 / mass };
        boundary.place_body(0, Some(pose), Load::default());
        let mut a = Alone::within(s, boundary).unwrap();
        a.fill([[0, 0, 0], [side, side, depth]], |x| x.distance(centre) > radius + 0.1, |_| DVec3::ZERO).unwrap();
        a
    }

    fn volume(self) -> f64 {
        4.0 / 3.0 * std::f64::consts::PI * self.radius.powi(3)
    }
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

/// Runs for so many world steps; returns the heights of the ball's centre and its speeds.
fn run(a: &mut Alone, steps: usize) -> Vec<[f64; 2]> {
    let mut out = Vec::new();
    for _ in 0..steps {
        step(a);
        let pose = a.boundary.bodies[0].pose;
        out.push([pose.centre.z, (pose.velocity.length_squared() + pose.spin.length_squared()).sqrt()]);
    }
    out
}

/// Angular momentum about the origin over the mass of a full cell of parcels at these places by id, as the grid has it from them: that of their motion, and
/// that of the gradients they carry, C_ak ⟨d_k²⟩ e_k × e_a with the spread ⟨d_k²⟩ = t (1 − t) of the samples of component a about them.
fn angular_momentum(a: &Alone, places: &[(u32, DVec3)]) -> DVec3 {
    let p = &a.liquid.parcels;
    let of = |i: usize| {
        let x = places[places.binary_search_by_key(&p.id[i], |p| p.0).unwrap()].1;
        let mut sum = x.cross(p.velocity[i]);
        for component in 0..3 {
            for k in 0..3 {
                let t = (x[k] - if k == component { 0.0 } else { 0.5 }).rem_euclid(1.0);
                let turn = DVec3::AXES[k].cross(DVec3::AXES[component]);
                sum += turn * (f64::from(p.affine[i][3 * component + k]) * t * (1.0 - t));
            }
        }
        sum * f64::from(p.quanta[i]) * a.liquid.settings.fill()
    };
    (0..a.len()).map(of).sum()
}

fn places(a: &Alone) -> Vec<(u32, DVec3)> {
    let mut out: Vec<(u32, DVec3)> = (0..a.len()).map(|i| (a.id(i), a.position(i))).collect();
    out.sort_unstable_by_key(|p| p.0);
    out
}

#[test]
fn what_sand_loses_a_body_and_the_walls_gain() {
    for heavy in [3.0, 0.1] {
        let scene = Scene { heavy, ..SUNK };
        let mut a = scene.build();
        let weight = a.len() as f64 / 8.0 + heavy * scene.volume();
        for n in 0..4 {
            let before = momentum(&a);
            let gained = step(&mut a) + momentum(&a) - before;
            let floor = a.boundary.states()[0].force / a.settings().bulk();
            let given = (a.settings().gravity * weight - floor) * a.dt;
            assert!((gained - given).length() < 1e-10 * weight, "{heavy}, step {n}: gained {gained}, given {given}");
        }
    }
}

#[test]
fn sand_a_body_and_walls_keep_their_angular_momentum() {
    let scene = Scene {
        heavy: 0.5,
        radius: 3.0,
        bed: [16, 8],
        height: 9.0,
        velocity: DVec3::new(0.6, -0.3, -0.8),
        spin: DVec3::new(0.2, 0.3, -0.4),
        boxed: true,
        ..SUNK
    };
    let mut a = scene.build();
    // Short enough for the turning ball's surface.
    a.dt = 0.03;
    let bulk = a.settings().bulk();
    for n in 0..8 {
        let (at, before) = (places(&a), momentum(&a));
        let turning = angular_momentum(&a, &at);
        let centre = a.boundary.bodies[0].pose.centre;
        let weights: DVec3 = { a.liquid.parcels.id.iter().zip(&a.liquid.parcels.quanta) }
            .map(|(id, q)| {
                at[at.binary_search_by_key(id, |p| p.0).unwrap()].1 * (f64::from(*q) * a.liquid.settings.fill())
            })
            .sum();
        let gravity = weights.cross(a.settings().gravity) * a.dt;
        step(&mut a);
        assert_eq!(a.report().substeps, 1, "places are those of the step");
        let pushed = a.boundary.bodies[0].pushed();
        let body = (centre.cross(pushed.force) + pushed.torque) / bulk;
        let state = &a.boundary.states()[0];
        let pivot = a.boundary.walls()[0].pivot(state);
        let walls = (pivot.cross(state.force) + state.torque) * a.dt / bulk;
        let gained = angular_momentum(&a, &at) - turning + body + walls;
        let size = 16.0 * a.len() as f64 / 8.0 * a.dt;
        assert!((gained - gravity).length() < 1e-10 * size, "step {n}: gained {gained}, given {gravity}");
        let linear = momentum(&a) - before + pushed.force / bulk + state.force * a.dt / bulk;
        let fall = a.settings().gravity * (a.len() as f64 / 8.0 * a.dt);
        assert!((linear - fall).length() < 1e-10 * size, "step {n}: gained {linear}, given {fall}");
    }
}

#[test]
fn sand_brings_a_heavy_ball_to_rest() {
    let mut a = Scene { heavy: 2.0, ..SUNK }.build();
    let start = a.boundary.bodies[0].pose.centre;
    run(&mut a, 75);
    let pose = a.boundary.bodies[0].pose;
    let sunk = start.z - pose.centre.z;
    assert!(pose.velocity.length() < 0.2, "it moves at {} after falling for 15 √(h/g)", pose.velocity);
    assert!((-0.5..4.0).contains(&sunk), "it sank by {sunk} cells");
}

#[test]
fn a_light_ball_lies_still_in_a_bed_at_rest() {
    // Half of it in the sand: its weight is a fifth of that of the sand it stands for.
    let mut a = Scene { heavy: 0.1, radius: 3.0, bed: [24, 8], height: 8.0, ..SUNK }.build();
    let seen = run(&mut a, 100);
    let rest = &seen[50..];
    let (low, high) = rest.iter().fold((f64::INFINITY, 0.0f64), |m, s| (m.0.min(s[0]), m.1.max(s[0])));
    let speed = (rest.iter().map(|s| s[1] * s[1]).sum::<f64>() / rest.len() as f64).sqrt();
    assert!((7.5..8.5).contains(&low) && high < 8.5, "from 8 it went to between {low} and {high}");
    assert!(speed < 0.05, "it shakes at {speed} √(gh)");
}

#[test]
fn a_ball_of_half_the_density_floats_half_sunk_without_friction() {
    let mut a = Scene { heavy: 0.5, radius: 4.0, bed: [24, 12], height: 12.0, angle: 0.0, ..SUNK }.build();
    let seen = run(&mut a, 150);
    let rest = &seen[50..];
    let mean = rest.iter().map(|s| s[0]).sum::<f64>() / rest.len() as f64;
    assert!((mean - 12.0).abs() < 0.6, "its centre is at {mean} about a surface at 12");
}

#[test]
fn a_ball_goes_the_deeper_the_higher_it_fell_from() {
    let depth = |drop: f64| {
        let velocity = DVec3::Z * -(2.0 * drop).sqrt();
        let mut a = Scene { heavy: 2.0, radius: 3.0, bed: [24, 12], height: 15.1, velocity, ..SUNK }.build();
        15.0 - run(&mut a, 60).last().unwrap()[0]
    };
    let depths = [0.0, 6.0, 24.0].map(depth);
    assert!(depths[0] > 0.0 && depths[1] > depths[0] + 0.2 && depths[2] > depths[1] + 0.4, "depths {depths:?}");
}
