//! Small meshes with known distances, and slow, plain ways to know distance and side.

use crate::mesh::Mesh;
use glam::DVec3;
use std::collections::BTreeMap;
use std::f64::consts::TAU;

pub fn cuboid(half: DVec3) -> Mesh {
    let vertices =
        (0..8).map(|k| half * DVec3::from([1, 2, 4].map(|bit| if k & bit == 0 { -1.0 } else { 1.0 }))).collect();
    let quads = [[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]];
    let triangles = quads.iter().flat_map(|q| [[q[0], q[1], q[2]], [q[0], q[2], q[3]]]).collect();
    Mesh { vertices, triangles }
}

/// Every triangle cut into four, `times` over; new vertices are passed through `place`.
pub fn refined(mut mesh: Mesh, times: usize, place: impl Fn(DVec3) -> DVec3) -> Mesh {
    mesh.vertices.iter_mut().for_each(|v| *v = place(*v));
    for _ in 0..times {
        let mut middles = BTreeMap::new();
        let mut triangles = Vec::new();
        for t in &mesh.triangles {
            let m = [0, 1, 2].map(|k| {
                let (a, b) = (t[k], t[(k + 1) % 3]);
                *middles.entry((a.min(b), a.max(b))).or_insert_with(|| {
                    let middle = 0.5 * (mesh.vertices[a as usize] + mesh.vertices[b as usize]);
                    mesh.vertices.push(place(middle));
                    mesh.vertices.len() as u32 - 1
                })
            });
            triangles.extend([[t[0], m[0], m[2]], [t[1], m[1], m[0]], [t[2], m[2], m[1]], m]);
        }
        mesh.triangles = triangles;
    }
    mesh
}

/// 20·4ᵗⁱᵐᵉˢ triangles with vertices on a sphere.
pub fn icosphere(radius: f64, times: usize) -> Mesh {
    let g = (1.0 + 5f64.sqrt()) / 2.0;
    let mut vertices = Vec::new();
    for (a, b) in [(1.0, g), (-1.0, g), (1.0, -g), (-1.0, -g)] {
        vertices.extend([DVec3::new(0.0, a, b), DVec3::new(a, b, 0.0), DVec3::new(b, 0.0, a)]);
    }
    // Faces are the triples at the edge length 2 from each other, turned outwards.
    let near = |a: usize, b: usize| (vertices[a].distance(vertices[b]) - 2.0).abs() < 1e-9;
    let mut triangles = Vec::new();
    for a in 0..12 {
        for b in a + 1..12 {
            for c in b + 1..12 {
                if near(a, b) && near(b, c) && near(c, a) {
                    let out = (vertices[b] - vertices[a]).cross(vertices[c] - vertices[a]).dot(vertices[a]) > 0.0;
                    triangles.push(if out { [a as u32, b as u32, c as u32] } else { [a as u32, c as u32, b as u32] });
                }
            }
        }
    }
    refined(Mesh { vertices, triangles }, times, |v| radius * v.normalize())
}

/// A closed tube of n × m quads around a closed curve; `curve` gives place, and two unit vectors across.
pub fn tube(curve: impl Fn(f64) -> (DVec3, DVec3, DVec3), radius: f64, n: u32, m: u32) -> Mesh {
    let mut mesh = Mesh::default();
    for i in 0..n {
        let (centre, u, v) = curve(TAU * f64::from(i) / f64::from(n));
        for j in 0..m {
            let (sin, cos) = (TAU * f64::from(j) / f64::from(m)).sin_cos();
            mesh.vertices.push(centre + radius * (cos * u + sin * v));
            let at = |i: u32, j: u32| (i % n) * m + j % m;
            let q = [at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)];
            mesh.triangles.extend([[q[0], q[1], q[2]], [q[0], q[2], q[3]]]);
        }
    }
    mesh
}

/// Around the z axis.
pub fn torus(large: f64, small: f64, n: u32, m: u32) -> Mesh {
    let curve = |t: f64| {
        let out = DVec3::new(t.cos(), t.sin(), 0.0);
        (large * out, out, DVec3::Z)
    };
    tube(curve, small, n, m)
}

pub fn trefoil(scale: f64, radius: f64, n: u32, m: u32) -> Mesh {
    let place =
        |t: f64| scale * DVec3::new(t.sin() + 2.0 * (2.0 * t).sin(), t.cos() - 2.0 * (2.0 * t).cos(), -(3.0 * t).sin());
    let curve = |t: f64| {
        let along = (place(t + 1e-4) - place(t - 1e-4)).normalize();
        let u = (DVec3::Z - along * along.z).normalize();
        (place(t), u, u.cross(along))
    };
    tube(curve, radius, n, m)
}

/// A pyramid of that height over a small triangle: a spike as sharp as one likes.
pub fn spike(height: f64, width: f64) -> Mesh {
    let base = |t: f64| DVec3::new(width * (TAU * t).cos(), width * (TAU * t).sin(), 0.0);
    Mesh {
        vertices: vec![base(0.0), base(1.0 / 3.0), base(2.0 / 3.0), DVec3::new(0.3 * height, 0.0, height)],
        triangles: vec![[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]],
    }
}

/// How often the mesh winds around a point: the sum of the triangles' solid angles [van Oosterom and Strackee 1983].
pub fn winding(mesh: &Mesh, p: DVec3) -> f64 {
    let solid = |t: usize| {
        let [a, b, c] = mesh.corners(t).map(|v| v - p);
        let (x, y, z) = (a.length(), b.length(), c.length());
        2.0 * a.dot(b.cross(c)).atan2(x * y * z + a.dot(b) * z + b.dot(c) * x + c.dot(a) * y)
    };
    (0..mesh.triangles.len()).map(solid).sum::<f64>() / (2.0 * TAU)
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
