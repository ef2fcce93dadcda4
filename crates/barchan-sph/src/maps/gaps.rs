//! Where a surface faces itself too closely: gaps that particles cannot enter as sand would, sheets that the cells do not see.
//!
//! From points all over the surface, probes go out along the normal. A probe of length h that finds another surface nearer than h, facing
//! the first, stands in a gap of width h + Φ. Lengths are doubled from an eighth of the limit on, so that the first probe to find
//! something has not passed through it.

use super::{MapError, MapSettings};
use barchan_core::mesh::Mesh;
use barchan_core::mesh::near::Surface;
use glam::DVec3;
use rayon::prelude::*;
use std::collections::BTreeMap;

/// Cells that a gap must have across, or interpolated distances in it mean little.
const CELLS: f64 = 3.0;
/// Particle spacings that a gap must have across for particles to pass.
const SPACINGS: f64 = 2.0;
/// Cosine from which on two surfaces face each other: normals less than 60° from opposite. In corners of 90° they do not.
const FACING: f64 = 0.5;
/// Places nearer to each other than so many limits are named once.
const CLUSTER: f64 = 8.0;

/// What is narrow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum NarrowKind {
    /// Free space between two surfaces.
    Gap,
    /// Solid between two surfaces.
    Sheet,
}

/// A narrow place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Narrow {
    /// What is narrow.
    pub kind: NarrowKind,
    /// Middle of the narrowest place nearby, in the frame of the mesh [m].
    pub place: DVec3,
    /// Its width [m].
    pub width: f64,
    /// The least width that would do [m].
    pub needed: f64,
}

impl std::fmt::Display for Narrow {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let what = match self.kind {
            NarrowKind::Gap => "gap",
            NarrowKind::Sheet => "sheet",
        };
        let [x, y, z] = self.place.to_array();
        let Narrow { width, needed, .. } = self;
        write!(f, "a {what} of {width:.3e} m at ({x:.4}, {y:.4}, {z:.4}) m is narrower than {needed:.3e} m")
    }
}

/// Points over a triangle, no farther than `step` [m] from each other.
fn points([a, b, c]: [DVec3; 3], step: f64) -> impl Iterator<Item = DVec3> {
    let longest = a.distance(b).max(b.distance(c)).max(c.distance(a));
    let n = (longest / step).ceil().clamp(1.0, 4096.0) as u32;
    let weight = move |i: u32| (f64::from(i) + 1.0 / 3.0) / f64::from(n);
    (0..n).flat_map(move |i| (0..n - i).map(move |j| a + (b - a) * weight(i) + (c - a) * weight(j)))
}

/// Middle and width of the gap or sheet before a surface point in the direction `out`, if it is narrower than `limit` [m].
fn probe(surface: &Surface, kind: NarrowKind, point: DVec3, out: DVec3, limit: f64) -> Option<(DVec3, f64)> {
    for h in [0.0625, 0.125, 0.25, 0.5].map(|share| share * limit) {
        let tip = point + h * out;
        // The surface it started from is at h itself.
        let Some(nearest) = surface.tree().nearest(tip, h * (1.0 - 1e-3)) else { continue };
        let facing = surface.pseudonormal(&nearest).normalize_or_zero().dot(out);
        // Across a gap the other surface looks at the probe, through a solid away from it; an open surface may look either way.
        let opposite = match (surface.is_closed(), kind) {
            (false, _) => facing.abs() > FACING,
            (true, NarrowKind::Gap) => facing < -FACING,
            (true, NarrowKind::Sheet) => facing > FACING,
        };
        if opposite {
            let width = point.distance(nearest.point);
            return (width < limit).then(|| (0.5 * (point + nearest.point), width));
        }
    }
    None
}

/// Places where a surface faces itself at less than three cells or two particle spacings, the narrowest of each neighbourhood, narrowest
/// first. Free space and solid are looked at alike. The mesh is the one the surface is of.
pub fn narrow_places(mesh: &Mesh, surface: &Surface, settings: &MapSettings) -> Result<Vec<Narrow>, MapError> {
    settings.check()?;
    let needed = (CELLS * settings.cell).max(SPACINGS * settings.spacing);
    let of = |t: usize| {
        let normal = surface.normals()[t];
        let mut found = Vec::new();
        if normal == DVec3::ZERO {
            return found;
        }
        for point in points(mesh.corners(t), 0.5 * needed) {
            for (kind, out) in [(NarrowKind::Gap, normal), (NarrowKind::Sheet, -normal)] {
                let kind = if surface.is_closed() { kind } else { NarrowKind::Gap };
                if let Some((place, width)) = probe(surface, kind, point, out, needed) {
                    found.push(Narrow { kind, place, width, needed });
                }
            }
        }
        found
    };
    let all: Vec<Vec<Narrow>> = (0..mesh.triangles.len()).into_par_iter().map(of).collect();
    let mut nearby = BTreeMap::new();
    for found in all.into_iter().flatten() {
        let cell = (found.place / (CLUSTER * needed)).floor().as_i64vec3().to_array();
        let best = nearby.entry((found.kind, cell)).or_insert(found);
        if found.width < best.width {
            *best = found;
        }
    }
    let mut out: Vec<Narrow> = nearby.into_values().collect();
    out.sort_by(|a, b| a.width.total_cmp(&b.width));
    Ok(out)
}
