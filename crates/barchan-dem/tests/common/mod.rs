//! Small worlds for the physics tests.
#![allow(dead_code)]

use barchan_core::contact::{ContactLaw, NormalLaw, TangentialLaw, time_step};
use barchan_core::materials::{Material, Materials};
use barchan_core::shapes::Shape;
use barchan_core::walls::{Geometry, Wall};
use barchan_dem::{Dem, Domain, Integrator, NewGrain, Precision, Settings};
use glam::{DQuat, DVec3};
use std::f64::consts::PI;

pub const HERTZ: ContactLaw = ContactLaw { normal: NormalLaw::Hertz, tangential: TangentialLaw::Mindlin };

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

/// Spheres of one material in a wide empty domain without gravity.
pub fn settings(material: Material, law: ContactLaw) -> Settings {
    Settings {
        gravity: DVec3::ZERO,
        domain: Domain { min: DVec3::splat(-1.0), max: DVec3::splat(1.0), periodic: [false; 3] },
        law,
        materials: Materials { list: vec![material], overrides: vec![] },
        shapes: vec![Shape::sphere(), Shape::tetrahedron(1.2).unwrap()].into(),
        walls: vec![],
        carried: vec![],
        borne: vec![],
        dt: 1e-6,
        integrator: Integrator::VelocityVerlet,
        precision: Precision::Mixed,
        max_overlap: 0.5,
    }
}

pub fn sphere_mass(radius: f64, density: f64) -> f64 {
    4.0 / 3.0 * PI * radius.powi(3) * density
}

/// The step the engine would choose for equal spheres and walls of one material.
pub fn automatic_dt(s: &Settings, radius: f64, top_speed: f64) -> f64 {
    let m = sphere_mass(radius, s.materials.list[0].density);
    time_step(&s.law, &s.materials, &[(0, radius, m)], &[0], top_speed).dt
}

pub fn grain(position: DVec3, velocity: DVec3, radius: f64) -> NewGrain {
    NewGrain {
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

pub fn run(dem: &mut Dem, steps: u64) {
    for _ in 0..steps {
        dem.step().unwrap();
    }
}

/// Steps until nothing touches after something did; the state is then that after the impact.
pub fn through_impact(dem: &mut Dem) {
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
pub fn state(dem: &Dem, id: u32) -> (DVec3, DVec3, DVec3) {
    let f = dem.frame();
    let k = f.id.iter().position(|&i| i == id).unwrap();
    (f.position[k], f.velocity[k], f.spin[k])
}

pub fn rel(found: f64, exact: f64) -> f64 {
    (found / exact - 1.0).abs()
}
