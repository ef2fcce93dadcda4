//! A mesh that is hard to be near to, and a slow, plain way to know the distance.

use crate::mesh::Mesh;
use glam::DVec3;
use std::f64::consts::TAU;

/// A box by half its edges.
pub fn cuboid(half: DVec3) -> Mesh {
    Mesh::box_of(2.0 * half)
}

/// A pyramid of that height over a small triangle: a spike as sharp as one likes.
pub fn spike(height: f64, width: f64) -> Mesh {
    let base = |t: f64| DVec3::new(width * (TAU * t).cos(), width * (TAU * t).sin(), 0.0);
    Mesh {
        vertices: vec![base(0.0), base(1.0 / 3.0), base(2.0 / 3.0), DVec3::new(0.3 * height, 0.0, height)],
        triangles: vec![[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]],
    }
}

/// Distance to a mesh, triangle by triangle, by a way of its own: the plane if its foot is inside, else the edges.
pub fn brute_distance(mesh: &Mesh, p: DVec3) -> f64 {
    let segment = |a: DVec3, b: DVec3| {
        let t = ((p - a).dot(b - a) / (b - a).length_squared()).clamp(0.0, 1.0);
        p.distance(a + t * (b - a))
    };
    let one = |t: usize| {
        let [a, b, c] = mesh.corners(t);
        let n = (b - a).cross(c - a).normalize();
        let inside = [(a, b), (b, c), (c, a)].iter().all(|&(u, v)| n.dot((v - u).cross(p - u)) >= 0.0);
        let edges = segment(a, b).min(segment(b, c)).min(segment(c, a));
        if inside { edges.min(n.dot(p - a).abs()) } else { edges }
    };
    (0..mesh.triangles.len()).map(one).fold(f64::INFINITY, f64::min)
}
