//! Bonds of the grains that are there at the start, and the step that they ask for.

use barchan_core::boundary::Boundary;
use barchan_core::contact::TimeStep;
use barchan_core::contact::bond::{Beam, BondLaw};
use barchan_core::math;
use barchan_core::recipe::Recipe;
use barchan_core::rng::Random;
use barchan_core::shapes::Shape;
use barchan_core::solver::NewMatter;
use barchan_dem::{Dem, NewBond, To};
use barchan_scene::{Bonds, Scene};
use glam::{DQuat, DVec3, IVec3};
use std::collections::HashMap;

/// Most bonds of a grain: as many as equal spheres can touch one of them.
const MOST: f64 = 12.0;
/// Steps of the fastest vibration, over the fewest that are stable (π): some twenty.
pub(super) const STEPS: f64 = 6.0;
/// The same for steps that are let through.
pub(super) const FEWEST_STEPS: f64 = 1.5;

pub(super) fn law(bonds: &Bonds, tensile: f64, shear: f64) -> BondLaw {
    BondLaw {
        young: bonds.young,
        ratio: bonds.ratio,
        radius: bonds.radius,
        tensile,
        shear,
        friction: {
            let (sine, cosine) = math::sin_cos(bonds.friction);
            sine / cosine
        },
        damping: bonds.damping,
    }
}

/// The step that the bonds of a scene ask for, if it has some: that of the smallest grain of each population with as many bonds as fit.
pub(super) fn step(scene: &Scene, recipes: &[Recipe], shapes: &[Shape]) -> Option<TimeStep> {
    let of = |(grains, recipe): (&barchan_scene::Grains, &Recipe)| {
        let bonds = grains.bonds.as_ref()?;
        let radius = recipe.sizes.min();
        let shape = &shapes[recipe.shape as usize];
        let mass = recipe.mass(radius);
        let inertia = mass / shape.volume() * shape.inertia().min_element() * radius * radius;
        let beam = Beam::new(DVec3::X * 2.0 * radius, [DQuat::IDENTITY; 2], bonds.radius * radius);
        let square = MOST * beam.frequency_squared(&law(bonds, bonds.tensile, bonds.shear), mass, inertia);
        let stable = 2.0 / square.sqrt();
        let reason = format!("bonds of `{}`: {STEPS} times shorter than the longest stable step", grains.name);
        Some(TimeStep { dt: stable / STEPS, limit: stable / FEWEST_STEPS, reason })
    };
    scene.grains.iter().zip(recipes).filter_map(of).reduce(|a, b| if b.dt < a.dt { b } else { a })
}

/// Bonds the grains of a population, whose first has this id; strengths that scatter are drawn by the scene's seed.
pub(super) fn tie(bonds: &Bonds, seed: u64, grains: &[NewMatter], first: u32, boundary: &Boundary, dem: &mut Dem) {
    // Strengths of a population are drawn one after another: (−ln u)^(1/m) of the given ones [Weibull 1951].
    let draws = std::cell::RefCell::new(Random::new(seed, u64::from(first) << 1 | 1));
    let strength = || bonds.weibull.map_or(1.0, |m| math::powf(-math::ln(1.0 - draws.borrow_mut().uniform()), 1.0 / m));
    let new = |grain: u32, to: To| NewBond { grain: first + grain, to, strength: strength() };
    let between: Vec<NewBond> =
        near(bonds.gap, grains).into_iter().map(|[a, b]| new(a, To::Grain(first + b))).collect();
    dem.bond(law(bonds, bonds.tensile, bonds.shear), &between);
    let Some(base) = &bonds.base else { return };
    let stands = |w: u16| {
        let wall = &boundary.walls()[w as usize];
        boundary.carried(w as usize).is_none() && wall.control.is_none() && wall.motion.is_still()
    };
    let mut to_walls = Vec::new();
    for (k, g) in grains.iter().enumerate() {
        boundary.near(boundary.states(), g.position, g.radius * (1.0 + bonds.gap), &mut |near| {
            if stands(near.wall) {
                to_walls.push(new(k as u32, To::Wall(near.wall, g.position - near.normal * near.distance)));
            }
        });
    }
    dem.bond(law(bonds, base.tensile, base.shear), &to_walls);
}

/// Pairs of grains, the first before the second, whose gap is less than a share of the smaller radius.
fn near(gap: f64, grains: &[NewMatter]) -> Vec<[u32; 2]> {
    let widest = grains.iter().map(|g| g.radius).fold(0.0, f64::max) * (2.0 + gap);
    let cell = |x: DVec3| (x / widest).floor().as_ivec3();
    let mut cells: HashMap<IVec3, Vec<u32>> = HashMap::new();
    for (k, g) in grains.iter().enumerate() {
        cells.entry(cell(g.position)).or_default().push(k as u32);
    }
    let mut pairs = Vec::new();
    for (a, g) in grains.iter().enumerate() {
        let around = (0..27).map(|k| cell(g.position) + IVec3::new(k % 3 - 1, k / 3 % 3 - 1, k / 9 - 1));
        for &b in around.filter_map(|c| cells.get(&c)).flatten().filter(|b| **b as usize > a) {
            let other = &grains[b as usize];
            let reach = g.radius + other.radius + gap * g.radius.min(other.radius);
            if g.position.distance(other.position) < reach {
                pairs.push([a as u32, b]);
            }
        }
    }
    pairs.sort_unstable();
    pairs
}
