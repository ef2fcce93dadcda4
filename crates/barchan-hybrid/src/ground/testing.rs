//! Small worlds of grains and ground for unit tests.

use super::{Ground, Terms};
use barchan_core::boundary::{Boundary, Fixtures};
use barchan_core::contact::ContactLaw;
use barchan_core::materials::{Material, Materials};
use barchan_core::recipe::Recipe;
use barchan_core::shapes::Shape;
use barchan_core::sizes::SizeDistribution;
use barchan_core::solver::{Domain, NewMatter};
use barchan_core::walls::Wall;
use barchan_dem::{Dem, Integrator, Precision, Settings};
use barchan_ground::{Columns, Grid, Soil};
use glam::{DQuat, DVec3};
use std::f64::consts::PI;

fn material(name: &str, density: f64) -> Material {
    Material {
        name: name.into(),
        density,
        young: 5e6,
        poisson: 0.3,
        restitution: 0.3,
        friction: 0.6,
        rolling: 0.1,
        twisting: 0.0,
        cohesion: 0.0,
    }
}

/// Grains of 1.3 to 1.7 mm over columns of that height [m] in a square of 3 mm cells between `low` and `high` [m], with
/// these walls; the exchange is on.
pub fn world(
    heights: impl Fn(glam::DVec2) -> f64,
    [low, high]: [DVec3; 2],
    mut walls: Vec<Wall>,
) -> (Dem, Boundary, Ground) {
    let cell = 3e-3;
    let size = ((high - low) / cell).round();
    let grid = Grid { origin: low.with_z(0.0), cell, size: [size.x as usize, size.y as usize] };
    let columns: Vec<f64> = (0..grid.len()).map(|c| heights(grid.centre(c))).collect();
    let columns = Columns::new(grid, Soil::SAND, &columns).unwrap();
    let sizes = SizeDistribution::Uniform { min: 1.3e-3, max: 1.7e-3 };
    let recipe = Recipe {
        seed: 1,
        population: 1,
        material: 0,
        shape: 0,
        sizes,
        reach: 1.0,
        spheres: 1,
        unit_mass: 2650.0 * 4.0 / 3.0 * PI,
        velocity: DVec3::ZERO,
        velocity_spread: 0.0,
        spin: DVec3::ZERO,
        turn: None,
    };
    let mut ground = Ground::new(columns, walls.len(), 2650.0, 0.6);
    ground.set_exchange(Terms { layer: 2.0, rest: 0.05, after: 0.06, thaw: 1.0, gravity: 9.81, first: 0, recipe });
    ground.set_dt(1e-5);
    walls.push(ground.wall(0));
    let gravity = DVec3::new(0.0, 0.0, -9.81);
    let boundary = Boundary::new(Fixtures { walls, carried: vec![] }, vec![], gravity);
    let settings = Settings {
        gravity,
        domain: Domain { min: low, max: high, periodic: [false; 3] },
        law: ContactLaw::HERTZ_MINDLIN,
        materials: Materials { list: vec![material("sand", 2650.0), material("steel", 7850.0)], overrides: vec![] },
        shapes: vec![Shape::sphere()].into(),
        borne: vec![],
        bridges: None,
        cell: None,
        dt: 1e-5,
        dt_reason: String::new(),
        integrator: Integrator::VelocityVerlet,
        precision: Precision::Mixed,
        max_overlap: 1.0,
        sleep: None,
    };
    (Dem::new(settings, &boundary), boundary, ground)
}

/// A ball at a place [m] with a velocity [m/s].
pub fn ball(material: u16, radius: f64, position: DVec3, velocity: DVec3) -> NewMatter {
    let (spin, orientation) = (DVec3::ZERO, DQuat::IDENTITY);
    NewMatter { position, velocity, spin, orientation, radius, mass: None, material, shape: 0 }
}
