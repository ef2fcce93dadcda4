//! Small worlds for the physics tests.
#![allow(dead_code)]

use barchan_core::boundary::{Carried, Fixtures};
use barchan_core::columns::{Column, Saved};
use barchan_core::contact::{ContactLaw, time_step};
use barchan_core::materials::{Material, Materials};
use barchan_core::shapes::Shape;
use barchan_core::solver::{Domain, NewMatter};
use barchan_core::walls::{Geometry, Wall};
use barchan_dem::{Alone, DemError, Integrator, Precision, Settings};
use glam::{DQuat, DVec3};
use std::f64::consts::PI;
use std::ops::{Deref, DerefMut};

pub const HERTZ: ContactLaw = ContactLaw::HERTZ_MINDLIN;

/// Glass beads, softened as usual.
pub fn glass() -> Material {
    Material {
        name: "glass".into(),
        density: 2500.0,
        young: 1e7,
        poisson: 0.3,
        restitution: 0.6,
        friction: 0.5,
        rolling: 0.0,
        twisting: 0.0,
        cohesion: 0.0,
    }
}

/// Settings of the grains, and the walls they are between.
#[derive(Clone, Debug)]
pub struct Setup {
    settings: Settings,
    pub walls: Vec<Wall>,
    pub carried: Vec<Carried>,
}

impl Deref for Setup {
    type Target = Settings;

    fn deref(&self) -> &Settings {
        &self.settings
    }
}

impl DerefMut for Setup {
    fn deref_mut(&mut self) -> &mut Settings {
        &mut self.settings
    }
}

/// Grains and walls as they are set up.
pub fn alone(setup: Setup) -> Alone {
    Alone::new(setup.settings, Fixtures { walls: setup.walls, carried: setup.carried })
}

/// The same with a saved state.
pub fn resumed(setup: Setup, columns: &dyn Fn(&str) -> Option<Column>) -> Result<Alone, DemError> {
    Alone::load(setup.settings, Fixtures { walls: setup.walls, carried: setup.carried }, Saved(columns))
}

/// How a solver was set up.
pub fn setup_of(dem: &Alone) -> Setup {
    let Fixtures { walls, carried } = dem.boundary.fixtures().as_ref().clone();
    Setup { settings: dem.settings().clone(), walls, carried }
}

/// Spheres of one material in a wide empty domain without gravity.
pub fn settings(material: Material, law: ContactLaw) -> Setup {
    let settings = Settings {
        gravity: DVec3::ZERO,
        domain: Domain { min: DVec3::splat(-1.0), max: DVec3::splat(1.0), periodic: [false; 3] },
        law,
        materials: Materials { list: vec![material], overrides: vec![] },
        shapes: vec![Shape::sphere(), Shape::tetrahedron(1.2).unwrap()].into(),
        borne: vec![],
        bridges: None,
        cell: None,
        dt: 1e-6,
        dt_reason: String::new(),
        integrator: Integrator::VelocityVerlet,
        precision: Precision::Mixed,
        max_overlap: 0.5,
        sleep: None,
    };
    Setup { settings, walls: vec![], carried: vec![] }
}

pub fn sphere_mass(radius: f64, density: f64) -> f64 {
    4.0 / 3.0 * PI * radius.powi(3) * density
}

/// The step the engine would choose for equal spheres and walls of one material.
pub fn automatic_dt(s: &Setup, radius: f64, top_speed: f64) -> f64 {
    let m = sphere_mass(radius, s.materials.list[0].density);
    time_step(&s.law, &s.materials, &[(0, radius, m)], &[0], top_speed).dt
}

pub fn grain(position: DVec3, velocity: DVec3, radius: f64) -> NewMatter {
    NewMatter {
        position,
        velocity,
        spin: DVec3::ZERO,
        orientation: DQuat::IDENTITY,
        radius,
        mass: None,
        material: 0,
        shape: 0,
    }
}

pub fn floor(normal: DVec3) -> Wall {
    Wall::new("floor", Geometry::Plane { point: DVec3::ZERO, normal }, 0)
}

pub fn run(dem: &mut Alone, steps: u64) {
    for _ in 0..steps {
        dem.step().unwrap();
    }
}

/// Steps until nothing touches after something did; the state is then that after the impact.
pub fn through_impact(dem: &mut Alone) {
    let mut touched = false;
    for _ in 0..10_000_000u64 {
        dem.step().unwrap();
        let now = !dem.contacts().is_empty();
        if touched && !now {
            return;
        }
        touched |= now;
    }
    panic!("no impact");
}

/// Position, velocity and spin of grain `id`.
pub fn state(dem: &Alone, id: u32) -> (DVec3, DVec3, DVec3) {
    let f = dem.population();
    let k = f.id.iter().position(|&i| i == id).unwrap();
    (f.position[k], f.velocity[k], f.spin[k])
}

pub fn rel(found: f64, exact: f64) -> f64 {
    (found / exact - 1.0).abs()
}
