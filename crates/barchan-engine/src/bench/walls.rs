//! A rotating drum, half full, ten diameters long: a fifth of the grains touch a wall that moves. Material and time step as
//! `settled`.

use super::settled::{DIAMETER, RADIUS, settings};
use super::{Built, Case};
use barchan_core::packing::Lattice;
use barchan_core::regions::Region;
use barchan_core::rng::Random;
use barchan_core::shapes::Shape;
use barchan_core::sizes::SizeDistribution;
use barchan_core::solver::NewMatter;
use barchan_core::walls::{Geometry, Rotate, Side, Wall};
use glam::{DQuat, DVec3};
use std::f64::consts::PI;

pub(super) const CASE: Case =
    Case { name: "walls", about: "a short rotating drum, half full: many contacts with walls", grains: 16_000, build };

/// Length of the drum [m].
const LENGTH: f64 = 10.0 * DIAMETER;
/// Share of the drum that the bed takes, and share of space in the bed.
const FILLED: f64 = 0.5;
const DENSITY: f64 = 0.6;
/// ω² R / g: a steady flowing surface.
const FROUDE: f64 = 0.1;

fn build(grains: usize) -> Built {
    let volume = grains as f64 * PI / 6.0 * DIAMETER.powi(3) / (FILLED * DENSITY);
    let radius = (volume / (PI * LENGTH)).sqrt();
    let centre = DVec3::new(radius, 0.5 * LENGTH, radius);
    // Filled from below on a lattice a little looser than the bed will be.
    let region = Region::Cylinder { base: centre - DVec3::Y * 0.5 * LENGTH, axis: DVec3::Y, radius, height: LENGTH };
    let lattice = Lattice { count: Some(grains), jitter: 0.05, spread: false };
    let sizes = SizeDistribution::Fixed(RADIUS);
    let filled = lattice.fill(&region, &sizes, &mut Random::new(12345, 0), &|_, _| false);
    let grain = |&(position, radius): &(DVec3, f64)| {
        let (velocity, spin, orientation) = (DVec3::ZERO, DVec3::ZERO, DQuat::IDENTITY);
        NewMatter { position, velocity, spin, orientation, radius, mass: None, material: 0, shape: 0 }
    };
    let grains = filled.spheres.iter().map(grain).collect();

    let mut settings = settings(Shape::sphere(), 2.0 * radius, 2.0 * radius);
    settings.settings.domain.max = DVec3::new(2.0 * radius, LENGTH, 2.0 * radius) + 0.5 * DIAMETER;
    let rate = (FROUDE * settings.gravity.length() / radius).sqrt();
    let end = |name: &str, y: f64, normal: DVec3| {
        Wall::new(name, Geometry::Plane { point: DVec3::new(centre.x, y, centre.z), normal }, 0)
    };
    let mantle = Geometry::Cylinder { base: centre, axis: DVec3::Y, radius, height: None, side: Side::Inside };
    settings.fixtures.walls =
        vec![Wall::new("mantle", mantle, 0), end("front", 0.0, DVec3::Y), end("back", LENGTH, -DVec3::Y)];
    for wall in &mut settings.fixtures.walls {
        wall.motion.rotate = Some(Rotate { point: centre, axis: DVec3::Y, rate });
    }
    // A third of a turn at 64,000 grains and more at fewer: past the angle of repose, so that the surface flows.
    Built { settings, grains, settle: 30_000, rest: f64::INFINITY }
}
