//! The settled deep bed: equal spheres of 1 mm in an open box, Hertz with friction memory.
//!
//! Material, box, time step and the loose jittered lattice it is poured from are those the peers were measured with:
//! square base of 40 diameters for 64,000 grains, five walls of the same material, dt 1.3e-5 s.

use super::{Built, Case, Setup};
use barchan_core::boundary::Fixtures;
use barchan_core::contact::ContactLaw;
use barchan_core::materials::{Material, Materials};
use barchan_core::rng::Random;
use barchan_core::shapes::Shape;
use barchan_core::solver::{Domain, NewMatter};
use barchan_core::walls::{Geometry, Wall};
use barchan_dem::{Integrator, Precision, Settings};
use glam::{DQuat, DVec3};

pub(super) const CASE: Case =
    Case { name: "settled", about: "a deep bed of equal spheres at rest in a box", grains: 64_000, build };

/// Radius [m].
pub(super) const RADIUS: f64 = 1e-3;
pub(super) const DIAMETER: f64 = 2.0 * RADIUS;
/// Distance of the lattice's sites, in diameters.
const SPACING: f64 = 1.17;
/// Jitter each way, in diameters.
const JITTER: f64 = 0.07;
/// Standard deviation of each component of the first velocity [m/s].
const SPREAD: f64 = 0.2;

/// Kinetic energy a grain of a bed at rest [J]: 1e-6 for 64,000, as the peers' beds. Wide ones, of which walls carry less, take longer.
const AT_REST: f64 = 1e-6 / 64_000.0;

/// Side of the base in diameters; the depth stays that of 64,000 on 40.
fn base(grains: usize) -> f64 {
    match grains {
        1_000 => 10.0,
        4_000 | 16_000 => 20.0,
        n => (40.0 * (n as f64 / 64_000.0).sqrt()).round().max(8.0),
    }
}

fn build(grains: usize) -> Built {
    let side = base(grains) * DIAMETER;
    let (grains, top) = loose(grains, [side, side], DIAMETER);
    let settings = settings(Shape::sphere(), side, (top + 4.0 * DIAMETER).max(80.0 * DIAMETER));
    Built { settings, grains, settle: 22_000, rest: AT_REST }
}

/// The loose lattice over a base of two sides [m], for grains up to a diameter [m], shaken and stirred; and its height
/// [m].
pub(super) fn loose(grains: usize, base: [f64; 2], diameter: f64) -> (Vec<NewMatter>, f64) {
    let along = base.map(|side| ((side - 0.02 * diameter) / (SPACING * diameter)).floor().max(1.0));
    let pitch = [base[0] / along[0], base[1] / along[1]];
    let rise = pitch[0].max(pitch[1]);
    let (along, jitter) = (along.map(|n| n as usize), JITTER * diameter);
    let grain = |i: usize| {
        let site = [i % along[0], i / along[0] % along[1], i / (along[0] * along[1])].map(|c| c as f64);
        let mut rng = Random::new(12345, i as u64);
        let mut shake = || rng.range(-jitter, jitter);
        let position = DVec3::new(
            (site[0] + 0.5) * pitch[0] + shake(),
            (site[1] + 0.5) * pitch[1] + shake(),
            (site[2] + 0.55) * rise + shake(),
        );
        let velocity = SPREAD * DVec3::new(rng.normal(), rng.normal(), rng.normal());
        let (spin, orientation) = (DVec3::ZERO, DQuat::IDENTITY);
        NewMatter { position, velocity, spin, orientation, radius: RADIUS, mass: None, material: 0, shape: 0 }
    };
    let layers = grains.div_ceil(along[0] * along[1]) as f64;
    ((0..grains).map(grain).collect(), layers * rise)
}

/// What all cases are made of.
pub(super) fn glass() -> Material {
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

/// The box and the material of the reference bed.
pub(super) fn settings(shape: Shape, side: f64, height: f64) -> Setup {
    let far = DVec3::new(side, side, 0.0);
    let planes =
        [("left", DVec3::X), ("right", -DVec3::X), ("front", DVec3::Y), ("back", -DVec3::Y), ("floor", DVec3::Z)];
    let wall = |(name, normal): (&str, DVec3)| {
        let point = if normal.min_element() < 0.0 { far } else { DVec3::ZERO };
        Wall::new(name, Geometry::Plane { point, normal }, 0)
    };
    let low = DVec3::splat(-0.5 * DIAMETER);
    let high = DVec3::new(side + 0.5 * DIAMETER, side + 0.5 * DIAMETER, height);
    let settings = Settings {
        gravity: DVec3::new(0.0, 0.0, -9.81),
        domain: Domain { min: low, max: high, periodic: [false; 3] },
        law: ContactLaw::HERTZ_MINDLIN,
        materials: Materials { list: vec![glass()], overrides: vec![] },
        shapes: vec![shape].into(),
        dt: 1.3e-5,
        dt_reason: "that of the peers".into(),
        integrator: Integrator::VelocityVerlet,
        precision: Precision::Mixed,
        // The lattice falls through its own height before it rests.
        max_overlap: 0.5,
        sleep: None,
        borne: vec![],
        bridges: None,
        cell: None,
    };
    Setup { settings, fixtures: Fixtures { walls: planes.map(wall).to_vec(), carried: vec![] } }
}
