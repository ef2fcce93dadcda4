//! Filling a region with particles on the rest lattice.

use crate::walls::{inside, surfaces};
use barchan_core::boundary::Boundary;
use barchan_core::rng::Random;
use barchan_core::solver::NewMatter;
use glam::{DQuat, DVec3, IVec3};
use std::collections::BTreeMap;

/// Largest jitter of a filling, as a share of the spacing.
pub const MOST_JITTER: f64 = 0.1;
/// How much nearer than half a spacing to a wall a site may be, as a share of the spacing, before jitter.
const NEARER: f64 = 0.01;

/// A lattice of particles in a region.
#[derive(Clone, Copy, Debug)]
pub struct Filling {
    /// Corners of the box that holds the region [m]. Sites are half a spacing off the lower one.
    pub corners: [DVec3; 2],
    /// Spacing [m].
    pub spacing: f64,
    /// Largest displacement from a site along each axis, as a share of the spacing, at most [`MOST_JITTER`].
    pub jitter: f64,
    /// Velocity of all [m/s].
    pub velocity: DVec3,
    /// Index of the kind of matter.
    pub kind: u16,
    /// Seed of the jitter.
    pub seed: u64,
}

/// What a filling gives.
#[derive(Clone, Debug, Default)]
pub struct Filled {
    /// The particles.
    pub matter: Vec<NewMatter>,
    /// Pressure of the weight above each [Pa].
    pub pressure: Vec<f64>,
    /// Sites of the region that are inside a wall or a body, which stay empty: for each by index, how many.
    pub inside: BTreeMap<usize, usize>,
}

impl Filling {
    /// Particles at the sites for which `is_inside(site)` is true and no wall is nearer than half a spacing, with the pressure of the weight of those
    /// above them under gravity [m/s²] at that bulk density [kg/m³].
    pub fn fill(
        &self,
        is_inside: &dyn Fn(DVec3) -> bool,
        boundary: &Boundary,
        gravity: DVec3,
        bulk_density: f64,
    ) -> Filled {
        let d = self.spacing;
        let jitter = self.jitter.clamp(0.0, MOST_JITTER) * d;
        let size = (self.corners[1] - self.corners[0]) / d;
        // A box of whole spacings, but for rounding, holds as many layers.
        let count = (size + DVec3::splat(1e-6)).floor().max(DVec3::ZERO).as_ivec3();
        let mut random = Random::new(self.seed, 0);
        let (mut matter, mut sites, mut within) = (Vec::new(), Vec::new(), BTreeMap::new());
        for z in 0..count.z {
            for y in 0..count.y {
                for x in 0..count.x {
                    let at = IVec3::new(x, y, z);
                    let site = self.corners[0] + (at.as_dvec3() + DVec3::splat(0.5)) * d;
                    let shake = DVec3::new(random.range(-1.0, 1.0), random.range(-1.0, 1.0), random.range(-1.0, 1.0));
                    if !is_inside(site) {
                        continue;
                    }
                    if let Some((wall, _)) = inside(boundary, boundary.states(), site) {
                        *within.entry(wall).or_default() += 1;
                        continue;
                    }
                    if !is_clear(boundary, site, (0.5 - NEARER) * d) {
                        continue;
                    }
                    sites.push(at);
                    matter.push(NewMatter {
                        position: site + jitter * shake,
                        velocity: self.velocity,
                        spin: DVec3::ZERO,
                        orientation: DQuat::IDENTITY,
                        radius: 0.5 * d,
                        mass: None,
                        material: 0,
                        shape: self.kind,
                    });
                }
            }
        }
        let pressure = weight_above(&sites, gravity, bulk_density * d);
        Filled { matter, pressure, inside: within }
    }
}

fn is_clear(boundary: &Boundary, x: DVec3, distance: f64) -> bool {
    let mut clear = true;
    surfaces(boundary, boundary.states(), x, distance, &mut |_, near| clear &= near.distance >= distance);
    clear
}

/// Pressure at sites of the lattice from the sites above them, along the axis that gravity [m/s²] is nearest to; a layer weighs `layer` g [kg/m²].
fn weight_above(sites: &[IVec3], gravity: DVec3, layer: f64) -> Vec<f64> {
    let axis = gravity.abs().max_position();
    let up = if gravity[axis] > 0.0 { -1 } else { 1 };
    let column = |s: &IVec3| [s[(axis + 1) % 3], s[(axis + 2) % 3]];
    let mut columns: BTreeMap<[i32; 2], Vec<i32>> = BTreeMap::new();
    for s in sites {
        columns.entry(column(s)).or_default().push(up * s[axis]);
    }
    columns.values_mut().for_each(|heights| heights.sort_unstable());
    let above = |s: &IVec3| {
        let heights = &columns[&column(s)];
        heights.len() - heights.partition_point(|h| *h <= up * s[axis])
    };
    sites.iter().map(|s| layer * gravity[axis].abs() * (above(s) as f64 + 0.5)).collect()
}
