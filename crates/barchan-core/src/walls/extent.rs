//! Where a wall is, for those who place matter beside it: whether it closes a direction, and points of it where it is thin.

use super::{Geometry, Side};
use crate::math;
use glam::DVec3;
use std::f64::consts::TAU;

/// Rings, or rows of points, of a thin wall.
const RINGS: usize = 24;
/// Points of a ring.
const AROUND: usize = 48;

impl Geometry {
    /// Whether the wall ends the space along direction `axis` (0, 1, 2): an unbounded wall that is not the same all along it (it misses it by more
    /// than an angle of sine `slack`), or a vessel's closed face. Bounded obstacles do not.
    pub fn closes(&self, axis: usize, slack: f64) -> bool {
        match *self {
            Geometry::Plane { normal, .. } => normal.normalize_or_zero()[axis].abs() > slack,
            Geometry::Box { side: Side::Inside, open, .. } => !(open[2 * axis] && open[2 * axis + 1]),
            Geometry::Cylinder { axis: along, height: None, .. } => {
                let along = along.normalize_or_zero();
                (along - DVec3::AXES[axis] * along[axis]).length() > slack
            }
            Geometry::Sphere { side: Side::Inside, .. } => true,
            Geometry::Box { side: Side::Outside, .. }
            | Geometry::Cylinder { height: Some(_), .. }
            | Geometry::Cone { .. }
            | Geometry::Sphere { side: Side::Outside, .. }
            | Geometry::Disc { .. }
            | Geometry::Mesh(_)
            | Geometry::Field(_)
            | Geometry::Relief(_) => false,
        }
    }

    /// Bound of the distance [m] of the wall's points from the line through `point` along `axis`; none for a wall without end.
    pub fn reach_about(&self, point: DVec3, axis: DVec3) -> Option<f64> {
        let axis = axis.normalize_or(DVec3::Z);
        let off = |x: DVec3| (x - point).reject_from_normalized(axis).length();
        let corners = |low: DVec3, high: DVec3| {
            let corner =
                |k: usize| DVec3::from_array(std::array::from_fn(|a| if k >> a & 1 == 0 { low[a] } else { high[a] }));
            (0..8).map(|k| off(corner(k))).fold(0.0, f64::max)
        };
        Some(match self {
            Geometry::Box { min, max, .. } => corners(*min, *max),
            Geometry::Cylinder { base, axis: along, radius, height: Some(h), .. } => {
                off(*base).max(off(*base + along.normalize_or(DVec3::Z) * *h)) + radius
            }
            // Endless along the line itself: all of it is as near as its base.
            Geometry::Cylinder { base, axis: along, radius, height: None, .. }
                if along.normalize_or(DVec3::Z).cross(axis).length() < 1e-9 =>
            {
                off(*base) + radius
            }
            Geometry::Cone { base, axis: along, radius_base, radius_top, height, .. } => {
                let top = *base + along.normalize_or(DVec3::Z) * *height;
                (off(*base) + radius_base).max(off(top) + radius_top)
            }
            Geometry::Sphere { centre, radius, .. } | Geometry::Disc { centre, radius, .. } => off(*centre) + radius,
            Geometry::Mesh(facets) => facets.mesh().vertices.iter().map(|&v| off(v)).fold(0.0, f64::max),
            Geometry::Plane { .. } | Geometry::Cylinder { .. } | Geometry::Field(_) | Geometry::Relief(_) => {
                return None;
            }
        })
    }

    /// Points of a wall that is thin enough to pass between the samples of a region [m]. Solid and one-sided walls cannot hide between
    /// samples of a region that lies on both sides of them, and have none.
    pub fn thin_points(&self) -> Vec<DVec3> {
        let mut out = Vec::new();
        let mut ring = |centre: DVec3, axis: DVec3, radius: f64| {
            let (u, v) = axis.any_orthonormal_pair();
            out.extend((0..AROUND).map(|t| {
                let (sin, cos) = math::sin_cos(TAU * t as f64 / AROUND as f64);
                centre + (u * cos + v * sin) * radius
            }));
        };
        let steps = (0..=RINGS).map(|i| i as f64 / RINGS as f64);
        match *self {
            Geometry::Disc { centre, normal, radius, hole } => {
                steps.for_each(|s| ring(centre, normal.normalize_or(DVec3::Z), hole + (radius - hole) * s));
            }
            Geometry::Cylinder { base, axis, radius, height: Some(h), .. } => {
                let axis = axis.normalize_or(DVec3::Z);
                steps.for_each(|s| ring(base + axis * h * s, axis, radius));
            }
            Geometry::Cone { base, axis, radius_base, radius_top, height, .. } => {
                let axis = axis.normalize_or(DVec3::Z);
                steps.for_each(|s| ring(base + axis * height * s, axis, radius_base + (radius_top - radius_base) * s));
            }
            Geometry::Box { min, max, side: Side::Inside, open } if open.contains(&true) => {
                for face in (0..6).filter(|f| !open[*f]) {
                    let axis = face / 2;
                    for a in steps.clone() {
                        for b in steps.clone() {
                            let mut x = DVec3::ZERO;
                            x[axis] = (face % 2) as f64;
                            x[(axis + 1) % 3] = a;
                            x[(axis + 2) % 3] = b;
                            out.push(min + (max - min) * x);
                        }
                    }
                }
            }
            Geometry::Plane { .. }
            | Geometry::Box { .. }
            | Geometry::Cylinder { .. }
            | Geometry::Sphere { .. }
            | Geometry::Mesh(_)
            | Geometry::Field(_)
            | Geometry::Relief(_) => {}
        }
        out
    }
}
