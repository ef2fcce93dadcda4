//! The settled bed of tetrahedral grains: four spheres of 1 mm on an edge of 1.2 mm, material and box as `settled`.

use super::settled::{RADIUS, settings};
use super::{Built, Case};
use barchan_core::rng::Random;
use barchan_core::shapes::Shape;
use barchan_core::solver::NewMatter;
use glam::DVec3;

pub(super) const CASE: Case =
    Case { name: "clumps", about: "a bed of tetrahedral four-sphere grains at rest in a box", grains: 16_000, build };

/// Edge over radius.
const EDGE: f64 = 1.2;
/// Distance of the lattice's sites, in diameters: the balls round two clumps just clear each other.
const SPACING: f64 = 1.74;
/// Standard deviation of each component of the first velocity [m/s], and its mean downwards.
const SPREAD: f64 = 0.15;
const DOWNWARDS: f64 = 0.3;

fn base(grains: usize) -> f64 {
    match grains {
        4_000 => 20.0,
        n => (40.0 * (n as f64 / 16_000.0).sqrt()).round().max(8.0),
    }
}

fn build(grains: usize) -> Built {
    let diameter = 2.0 * RADIUS;
    let side = base(grains) * diameter;
    let along = (side / (SPACING * diameter)).floor().max(1.0);
    let pitch = side / along;
    let along = along as usize;
    let grain = |i: usize| {
        let site = [i % along, i / along % along, i / (along * along)].map(|c| c as f64);
        let mut rng = Random::new(7, i as u64);
        let orientation = rng.unit_quaternion();
        let velocity = SPREAD * DVec3::new(rng.normal(), rng.normal(), rng.normal()) - DVec3::Z * DOWNWARDS;
        let position = DVec3::new(site[0] + 0.5, site[1] + 0.5, site[2] + 0.55) * pitch;
        NewMatter {
            position,
            velocity,
            spin: DVec3::ZERO,
            orientation,
            radius: RADIUS,
            mass: None,
            material: 0,
            shape: 0,
        }
    };
    let layers = grains.div_ceil(along * along) as f64;
    // An edge that is a constant of ours makes a shape; should it not, the sphere stands in.
    let shape = Shape::tetrahedron(EDGE).unwrap_or_else(|_| Shape::sphere());
    let settings = settings(shape, side, layers * pitch * 1.15 + 8.0 * diameter);
    Built { settings, grains: (0..grains).map(grain).collect(), settle: 13_000, rest: f64::INFINITY }
}
