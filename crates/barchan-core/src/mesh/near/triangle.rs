//! The point of one triangle that is nearest to a given point, and what of the triangle it lies on.

use glam::DVec3;

/// What of a triangle is nearest to a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Feature {
    /// The inside of the triangle.
    Face,
    /// The edge from that corner (0, 1, 2) to the next.
    Edge(u8),
    /// That corner (0, 1, 2).
    Vertex(u8),
}

/// Nearest point of a triangle of positive area, by the Voronoi regions of its features [Ericson 2005, "Real-Time
/// Collision Detection", §5.1.5].
#[inline]
pub fn closest([a, b, c]: &[DVec3; 3], p: DVec3) -> (DVec3, Feature) {
    let (ab, ac, ap) = (*b - *a, *c - *a, p - *a);
    let (d1, d2) = (ab.dot(ap), ac.dot(ap));
    if d1 <= 0.0 && d2 <= 0.0 {
        return (*a, Feature::Vertex(0));
    }
    let bp = p - *b;
    let (d3, d4) = (ab.dot(bp), ac.dot(bp));
    if d3 >= 0.0 && d4 <= d3 {
        return (*b, Feature::Vertex(1));
    }
    let vc = d1 * d4 - d3 * d2;
    if vc <= 0.0 && d1 >= 0.0 && d3 <= 0.0 {
        return (*a + ab * (d1 / (d1 - d3)), Feature::Edge(0));
    }
    let cp = p - *c;
    let (d5, d6) = (ab.dot(cp), ac.dot(cp));
    if d6 >= 0.0 && d5 <= d6 {
        return (*c, Feature::Vertex(2));
    }
    let vb = d5 * d2 - d1 * d6;
    if vb <= 0.0 && d2 >= 0.0 && d6 <= 0.0 {
        return (*a + ac * (d2 / (d2 - d6)), Feature::Edge(2));
    }
    let va = d3 * d6 - d5 * d4;
    if va <= 0.0 && d4 >= d3 && d5 >= d6 {
        return (*b + (*c - *b) * ((d4 - d3) / ((d4 - d3) + (d5 - d6))), Feature::Edge(1));
    }
    let scale = 1.0 / (va + vb + vc);
    (*a + ab * (vb * scale) + ac * (vc * scale), Feature::Face)
}
