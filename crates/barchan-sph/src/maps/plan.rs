//! What a map is made of, and how much memory it will take: known before any of it is taken.

use super::{BRICK, MapError, NUMBERS, SIDE};
use barchan_core::math;
use barchan_core::mesh::near::Surface;
use glam::DVec3;
use rayon::prelude::*;

/// Particle spacings in the kernel's support.
const SUPPORT: f64 = 2.0;

/// What a map is made for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MapSettings {
    /// Particle spacing d at rest [m].
    pub spacing: f64,
    /// Support R of the kernel [m]. The map depends on the kernel by its support alone: γ* is the cubic spline whatever the kernel.
    pub support: f64,
    /// Distance of two nodes [m], at most the spacing.
    pub cell: f64,
    /// Bytes that may be held while the map is built.
    pub memory_limit: u64,
}

impl MapSettings {
    /// Nodes half a spacing [m] apart, a support of two spacings, 4 GiB at most.
    pub fn new(spacing: f64) -> MapSettings {
        MapSettings { spacing, support: SUPPORT * spacing, cell: 0.5 * spacing, memory_limit: 1 << 32 }
    }

    /// Distance up to which the map is known [m]: 2R.
    pub(super) fn band(&self) -> f64 {
        2.0 * self.support
    }

    /// Whether a map can be made for it.
    pub fn check(&self) -> Result<(), MapError> {
        for (what, value) in [("particle spacing", self.spacing), ("kernel support", self.support), ("cell", self.cell)]
        {
            if !(value.is_finite() && value > 0.0) {
                return Err(MapError::Length { what, value });
            }
        }
        if self.cell > self.spacing {
            let (cell, spacing) = (self.cell, self.spacing);
            return Err(MapError::Coarse { cell, spacing, remedy: 0.5 * spacing });
        }
        Ok(())
    }
}

/// How large a map will be: an upper bound, up to the few bricks by which another origin of the grid changes it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// Bricks of 8³ cells.
    pub bricks: u64,
    /// Bytes of the map.
    pub bytes: u64,
    /// Bytes while it is built: the map and the distances it is made from.
    pub building: u64,
}

/// How large the map of a surface will be, by counting the bricks its band reaches. Cubes of bricks are halved, so that the cost follows the
/// surface and not the box.
pub fn estimate(surface: &Surface, settings: &MapSettings) -> Result<Estimate, MapError> {
    settings.check()?;
    let (band, cell) = (settings.band(), settings.cell);
    let reach = band + 3f64.sqrt() * cell;
    let (low, high) = surface.tree().bounds().unwrap_or_default();
    let origin = low - reach;
    let counts = ((high - low + 2.0 * reach) / (cell * SIDE as f64)).ceil().max(DVec3::ONE);
    // A brick of distances alone, and one of the map: counted apart, for the fields reach farther than the map.
    let field_brick = (BRICK * size_of::<f32>()) as f64;
    let map_brick = (BRICK * NUMBERS * size_of::<f32>()) as f64;
    let size = |fields: f64, maps: f64| fields * field_brick + maps * map_brick + 8.0 * counts.element_product();
    let refuse = |needed: f64| {
        // Nodes in the band grow as cell⁻³, but whole bricks of a coarse grid only as the surface, cell⁻².
        let remedy = 1.1 * cell * (needed / settings.memory_limit as f64).sqrt();
        Err(MapError::Memory { needed: needed as u64, limit: settings.memory_limit, remedy })
    };
    let index = size(0.0, 0.0);
    if index > settings.memory_limit as f64 {
        return refuse(index);
    }
    let mut level = math::log2(counts.max_element()).ceil().max(0.0) as u32;
    let mut cubes = vec![[0u32; 3]];
    loop {
        let side = (SIDE << level) as f64 * cell;
        let touched = |c: &[u32; 3]| {
            let middle = origin + side * (DVec3::from(c.map(f64::from)) + 0.5);
            surface.tree().nearest(middle, reach + 0.5 * 3f64.sqrt() * side).is_some()
        };
        cubes = cubes.into_par_iter().filter(touched).collect();
        let needed = size(cubes.len() as f64, 0.0);
        if needed > settings.memory_limit as f64 {
            return refuse(needed);
        }
        if level == 0 {
            break;
        }
        level -= 1;
        let halves = |c: [u32; 3]| (0..8u32).map(move |k| [0, 1, 2].map(|axis| 2 * c[axis] + (k >> axis & 1)));
        let here = |c: &[u32; 3]| (0..3).all(|k| f64::from(c[k] << level) < counts[k]);
        cubes = cubes.into_iter().flat_map(halves).filter(here).collect();
    }
    let (lowest, highest) = padded(low, high, settings);
    let brick = cell * SIDE as f64;
    let kept = |c: &&[u32; 3]| {
        let corner = origin + brick * DVec3::from(c.map(f64::from));
        (corner + brick).cmpge(lowest).all() && corner.cmple(highest).all()
    };
    let bricks = cubes.iter().filter(kept).count();
    let building = size(cubes.len() as f64, bricks as f64);
    if building > settings.memory_limit as f64 {
        return refuse(building);
    }
    let bytes = size(0.0, bricks as f64) - 0.5 * index;
    Ok(Estimate { bricks: bricks as u64, bytes: bytes as u64, building: building as u64 })
}

/// The box [m] that a map covers: that of the surface, padded by the support.
pub(super) fn padded(low: DVec3, high: DVec3, settings: &MapSettings) -> (DVec3, DVec3) {
    (low - settings.support, high + settings.support)
}
