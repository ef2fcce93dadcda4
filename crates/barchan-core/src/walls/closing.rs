//! How the spheres of a rough wall close across the periodic sides of a domain.
//!
//! A lattice of a given spacing fits into a period only by chance. Where it does not, a grain that crosses the side would see
//! the spheres jump. So along a periodic direction the lattice is stretched to the nearest whole number of spheres, or of pairs of
//! rows, since every other row is shifted. A lattice that closes by itself is left as it is, to the bit. Walls that span the
//! period (a trough, a tube) go on beyond it, so that spheres just across the side are there.

use super::rough::ROW;
use super::{Geometry, Roughness, Side};
use glam::DVec3;

/// A seam below this share of the spacing is none: periods are written with some five digits.
const CLOSED: f64 = 1e-4;
/// Most by which a spacing may be stretched, and the inverse of most by which it may be pressed together.
const MOST: f64 = 4.0 / 3.0;
/// Sine of the angle by which a direction may miss an axis and still be along it.
const ALONG: f64 = 1e-6;

/// The factors by which a lattice is stretched, and where it goes on across periodic sides.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Closing {
    /// Along x, y, z: whether the wall goes on across a periodic side.
    endless: [bool; 3],
    /// Factors on the spacing in rows, by the direction of the row.
    columns: DVec3,
    /// Factors on the distance of rows or rings, by the direction in which they follow each other.
    rows: DVec3,
    /// Directions along and across the rows of a plane, where its own do not go with the period.
    frame: Option<(DVec3, DVec3)>,
}

/// A period into which a lattice does not fit without being stretched too far.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Strained {
    /// 0, 1, 2 for x, y, z.
    pub axis: usize,
    /// The nearest periods that close with the spacing as it is [m]; the shorter one may be none.
    pub nearest: [f64; 2],
}

impl Default for Closing {
    /// A lattice that is not stretched.
    fn default() -> Closing {
        Closing { endless: [false; 3], columns: DVec3::ONE, rows: DVec3::ONE, frame: None }
    }
}

impl Closing {
    /// How the spheres of a wall close in a domain between two corners [m].
    pub(super) fn of(geometry: &Geometry, rough: &Roughness, sides: [DVec3; 2], periodic: [bool; 3]) -> Closing {
        let period = sides[1] - sides[0];
        let fits = |x: f64| x.is_finite() && x > 0.0;
        let mut closing = Closing::default();
        for i in (0..3).filter(|&i| periodic[i] && fits(period[i]) && fits(rough.spacing)) {
            if spans(geometry, i, sides) {
                closing.endless[i] = true;
                closing.columns[i] = factor(period[i], rough.spacing);
                closing.rows[i] = factor(period[i], 2.0 * ROW * rough.spacing);
            }
        }
        if let (Geometry::Plane { normal, .. }, Some(i)) = (geometry, closing.endless.iter().position(|e| *e)) {
            let (u, v) = normal.any_orthonormal_pair();
            if !along(u, i) && !along(v, i) {
                let u = DVec3::AXES[i].reject_from_normalized(*normal).normalize();
                closing.frame = Some((u, normal.cross(u)));
            }
        }
        let unbounded = matches!(geometry, Geometry::Plane { .. } | Geometry::Cylinder { height: None, .. });
        let stretched = |(i, rows): (usize, bool)| (if rows { closing.rows[i] } else { closing.columns[i] }) != 1.0;
        if unbounded && closing.frame.is_none() && !closing.used(geometry).into_iter().any(stretched) {
            return Closing::default();
        }
        closing
    }

    /// Whether the lattice goes on across some periodic side.
    #[inline]
    pub(super) fn is_any(&self) -> bool {
        self.endless != [false; 3]
    }

    /// Whether it does so along the direction `u`.
    #[inline]
    pub(super) fn goes_on(&self, u: DVec3) -> bool {
        self.is_any() && (0..3).any(|i| self.endless[i] && along(u, i))
    }

    /// The spacing in rows along `u` [m].
    #[inline]
    pub(super) fn columns(&self, spacing: f64, u: DVec3) -> f64 {
        if self.is_any() { spacing * self.columns.dot(u * u) } else { spacing }
    }

    /// The distance of rows that follow each other along `v`, over [`ROW`] [m].
    #[inline]
    pub(super) fn rows(&self, spacing: f64, v: DVec3) -> f64 {
        if self.is_any() { spacing * self.rows.dot(v * v) } else { spacing }
    }

    /// Directions along and across the rows of a plane, where they are not the plane's own.
    #[inline]
    pub(super) fn frame(&self) -> Option<(DVec3, DVec3)> {
        self.frame
    }

    /// Periods for which the lattice of the wall would have to be stretched too far.
    pub fn strained(&self, geometry: &Geometry, rough: &Roughness, sides: [DVec3; 2]) -> Vec<Strained> {
        let strained = |(axis, rows): (usize, bool)| {
            let (f, unit) =
                if rows { (self.rows[axis], 2.0 * ROW * rough.spacing) } else { (self.columns[axis], rough.spacing) };
            let fewer = ((sides[1] - sides[0])[axis] / unit).floor();
            let nearest = [fewer * unit, (fewer + 1.0) * unit];
            (!(1.0 / MOST..=MOST).contains(&f)).then_some(Strained { axis, nearest })
        };
        self.used(geometry).into_iter().filter_map(strained).collect()
    }

    /// The endless directions, and whether rows follow each other along them (or run along them). A box has both kinds.
    fn used(&self, geometry: &Geometry) -> Vec<(usize, bool)> {
        let endless = (0..3).filter(|&i| self.endless[i]);
        match *geometry {
            Geometry::Plane { normal, .. } => {
                let (u, _) = self.frame.unwrap_or_else(|| normal.any_orthonormal_pair());
                endless.map(|i| (i, !along(u, i))).collect()
            }
            Geometry::Box { side, open, .. } => {
                let there = |axis: usize| side == Side::Outside || !(open[2 * axis] && open[2 * axis + 1]);
                // On the faces across an axis, rows run along the next one and follow each other along the one after it.
                let kinds = |i: usize| [(i, false, (i + 2) % 3), (i, true, (i + 1) % 3)];
                endless.flat_map(kinds).filter(|k| there(k.2)).map(|k| (k.0, k.1)).collect()
            }
            _ => endless.map(|i| (i, true)).collect(),
        }
    }
}

/// Whether a unit vector is along axis `i`, either way.
fn along(u: DVec3, i: usize) -> bool {
    u.cross(DVec3::AXES[i]).length_squared() < ALONG * ALONG * 4.0
}

/// What a length is multiplied with, so that a whole number of it makes the period.
fn factor(period: f64, length: f64) -> f64 {
    let many = (period / length).round().max(1.0);
    if (period - many * length).abs() <= CLOSED * length { 1.0 } else { period / (many * length) }
}

/// Whether a wall is the same all along axis `i`, or reaches from side to side.
fn spans(geometry: &Geometry, i: usize, [low, high]: [DVec3; 2]) -> bool {
    let slack = ALONG * (high - low)[i];
    let reaches = |a: f64, b: f64| a.min(b) <= low[i] + slack && a.max(b) >= high[i] - slack;
    match *geometry {
        Geometry::Plane { normal, .. } => normal[i].abs() < ALONG,
        Geometry::Box { min, max, .. } => reaches(min[i], max[i]),
        Geometry::Cylinder { base, axis, height, .. } => {
            along(axis, i) && height.is_none_or(|h| reaches(base[i], base[i] + axis[i] * h))
        }
        Geometry::Cone { .. }
        | Geometry::Sphere { .. }
        | Geometry::Disc { .. }
        | Geometry::Mesh(_)
        | Geometry::Field(_)
        | Geometry::Relief(_) => false,
    }
}
