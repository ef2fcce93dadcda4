//! The settled bed of mixed grains: three materials, radii 1 : 1.5 : 2 in equal numbers, rolling resistance on;
//! otherwise as `settled`.

use super::settled::{DIAMETER, RADIUS, glass, loose, settings};
use super::{Built, Case};
use barchan_core::materials::Material;
use barchan_core::math;
use barchan_core::shapes::Shape;

pub(super) const CASE: Case = Case {
    name: "mixed",
    about: "a bed of three materials and three sizes with rolling resistance, at rest in a box",
    grains: 64_000,
    build,
};

/// Radii over the smallest.
const SIZES: [f64; 3] = [1.0, 1.5, 2.0];
const ROLLING: f64 = 0.05;

fn build(grains: usize) -> Built {
    // The base grows with the mean volume of a grain, so that the bed is as deep in grains as `settled`.
    let volume = SIZES.map(|s| s.powi(3)).iter().sum::<f64>() / 3.0;
    let side = (40.0 * (grains as f64 / 64_000.0).sqrt() * math::cbrt(volume)).round().max(12.0) * DIAMETER;
    let (mut all, top) = loose(grains, [side, side], SIZES[2] * DIAMETER);
    for (i, grain) in all.iter_mut().enumerate() {
        grain.radius = SIZES[i % 3] * RADIUS;
        grain.material = (i / 3 % 3) as u16; // every size of every material
    }
    let mut settings = settings(Shape::sphere(), side, top + 8.0 * DIAMETER);
    let material = |name: &str, density, restitution, friction| Material {
        name: name.into(),
        density,
        restitution,
        friction,
        rolling: ROLLING,
        ..glass()
    };
    settings.settings.materials.list = vec![
        material("glass", 2500.0, 0.6, 0.5),
        material("quartz", 2650.0, 0.5, 0.6),
        material("light", 1800.0, 0.4, 0.4),
    ];
    // The lattice is spaced for the largest: the bed sinks to a third of its height, twice as far as `settled`.
    Built { settings, grains: all, settle: 40_000, rest: f64::INFINITY }
}
