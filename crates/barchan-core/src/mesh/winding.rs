//! How often a surface goes round a point: the generalised winding number of Jacobson, Kavan and Sorkine-Hornung, "Robust
//! inside-outside segmentation using generalized winding numbers" (2013). It is the solid angle under which the surface
//! is seen, over 4π: 1 inside and 0 outside a closed outward mesh, and smooth across holes, so that above ½ is a fair
//! answer to "inside?" for a mesh that is nearly closed. Cost: one arctangent a triangle and point.

use super::Mesh;
use crate::math;
use glam::DVec3;
use std::f64::consts::TAU;

impl Mesh {
    /// Winding number of the surface about a point [m].
    pub fn winding(&self, point: DVec3) -> f64 {
        self.winding_of(0..self.triangles.len(), point)
    }

    /// Winding number of some of the triangles about a point [m].
    pub(crate) fn winding_of(&self, triangles: impl Iterator<Item = usize>, point: DVec3) -> f64 {
        triangles.map(|i| half_angle(self.corners(i).map(|v| v - point))).sum::<f64>() / TAU
    }
}

/// Half the solid angle of a triangle seen from the origin [van Oosterom and Strackee 1983, eq. 8].
fn half_angle([a, b, c]: [DVec3; 3]) -> f64 {
    let [la, lb, lc] = [a.length(), b.length(), c.length()];
    math::atan2(a.dot(b.cross(c)), la * lb * lc + a.dot(b) * lc + b.dot(c) * la + c.dot(a) * lb)
}
