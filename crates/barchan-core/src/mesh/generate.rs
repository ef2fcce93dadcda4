//! Meshes of known shape, closed and outward, for scenes and for tests.
//!
//! Vertices lie on the surface meant, so the solid is a little smaller where that is convex: the volume is short by a
//! fraction of the square of the edge length.

use super::Mesh;
use crate::math;
use glam::{DVec2, DVec3};
use std::collections::HashMap;
use std::f64::consts::TAU;

/// Subdivisions of the sphere that still make sense: twenty million triangles.
const MOST_SUBDIVISIONS: u32 = 10;

impl Mesh {
    /// A box of the given edge lengths [m] round the origin.
    pub fn box_of(size: DVec3) -> Mesh {
        let corner =
            |i: u32| 0.5 * size * DVec3::from([0, 1, 2].map(|axis| if i >> axis & 1 == 1 { 1.0 } else { -1.0 }));
        let faces: [[u32; 4]; 6] = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
        Mesh {
            vertices: (0..8).map(corner).collect(),
            triangles: faces.iter().flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]]).collect(),
        }
    }

    /// A sphere [m] round the origin: an icosahedron whose triangles are quartered `subdivisions` times, 20·4ⁿ of them;
    /// more than ten times count as ten.
    pub fn sphere(radius: f64, subdivisions: u32) -> Mesh {
        let golden = 0.5 * (1.0 + 5f64.sqrt());
        let mut mesh = Mesh::default();
        for (x, y) in [(-1.0, golden), (1.0, golden), (-1.0, -golden), (1.0, -golden)] {
            mesh.vertices.extend([DVec3::new(x, y, 0.0), DVec3::new(0.0, x, y), DVec3::new(y, 0.0, x)]);
        }
        // Neighbours are 2 apart, all others further: each three neighbours make a face.
        let near = |a: usize, b: usize| mesh.vertices[a].distance_squared(mesh.vertices[b]) < 4.5;
        for a in 0..12 {
            for b in a + 1..12 {
                for c in b + 1..12 {
                    if near(a, b) && near(b, c) && near(c, a) {
                        let [p, q, r] = [a, b, c].map(|v| mesh.vertices[v]);
                        let (a, b, c) = (a as u32, b as u32, c as u32);
                        mesh.triangles.push(if p.dot(q.cross(r)) > 0.0 { [a, b, c] } else { [a, c, b] });
                    }
                }
            }
        }
        for v in &mut mesh.vertices {
            *v = radius * v.normalize();
        }
        for _ in 0..subdivisions.min(MOST_SUBDIVISIONS) {
            let mut middles = HashMap::with_capacity(mesh.triangles.len() * 3 / 2);
            let vertices = &mut mesh.vertices;
            let mut middle = |a: u32, b: u32| {
                *middles.entry((a.min(b), a.max(b))).or_insert_with(|| {
                    vertices.push(radius * (vertices[a as usize] + vertices[b as usize]).normalize());
                    (vertices.len() - 1) as u32
                })
            };
            let quartered = mesh.triangles.iter().flat_map(|&[a, b, c]| {
                let [ab, bc, ca] = [middle(a, b), middle(b, c), middle(c, a)];
                [[a, ab, ca], [b, bc, ab], [c, ca, bc], [ab, bc, ca]]
            });
            mesh.triangles = quartered.collect();
        }
        mesh
    }

    /// A cylinder of radius and height [m] round the z axis, its middle at the origin; `n` sides, at least three.
    pub fn cylinder(radius: f64, height: f64, n: u32) -> Mesh {
        let n = n.max(3);
        let rim = |z: f64| {
            (0..n).map(move |i| {
                let (sin, cos) = math::sin_cos(TAU * f64::from(i) / f64::from(n));
                DVec3::new(radius * cos, radius * sin, z)
            })
        };
        let h = 0.5 * height;
        let mut mesh = Mesh { vertices: rim(-h).chain(rim(h)).collect(), triangles: Vec::new() };
        mesh.vertices.extend([DVec3::new(0.0, 0.0, -h), DVec3::new(0.0, 0.0, h)]);
        for i in 0..n {
            let j = (i + 1) % n;
            mesh.triangles.extend([[i, j, n + j], [i, n + j, n + i], [2 * n, j, i], [2 * n + 1, n + i, n + j]]);
        }
        mesh
    }

    /// A solid of revolution about the z axis: the profile is distance from the axis and height [m], from the lowest point on
    /// the axis to the highest one, in `n` steps round (at least three).
    pub fn lathe(profile: &[DVec2], n: u32) -> Mesh {
        let mut mesh = Mesh::default();
        // One vertex where the profile is on the axis, a ring of them elsewhere.
        let rings: Vec<Vec<u32>> = profile
            .iter()
            .map(|p| {
                let first = mesh.vertices.len() as u32;
                if p.x <= 0.0 {
                    mesh.vertices.push(DVec3::new(0.0, 0.0, p.y));
                    return vec![first; n as usize];
                }
                let at = |k: u32| DVec2::from_angle(TAU * f64::from(k) / f64::from(n)) * p.x;
                mesh.vertices.extend((0..n).map(|k| at(k).extend(p.y)));
                (first..first + n).collect()
            })
            .collect();
        for (low, high) in rings.iter().zip(rings.iter().skip(1)) {
            for k in 0..n as usize {
                let j = (k + 1) % n as usize;
                let around = [[low[k], low[j], high[j]], [low[k], high[j], high[k]]];
                let thin = |t: &[u32; 3]| t[0] == t[1] || t[1] == t[2] || t[2] == t[0];
                mesh.triangles.extend(around.into_iter().filter(|t| !thin(t)));
            }
        }
        mesh
    }

    /// A torus round the z axis with the radii of its circle and its tube [m]; `n` steps along, `m` round the tube, each
    /// at least three.
    pub fn torus(major: f64, minor: f64, n: u32, m: u32) -> Mesh {
        tube(n, m, minor, |t| {
            let out = DVec3::new(math::cos(t), math::sin(t), 0.0);
            (major * out, out, DVec3::Z)
        })
    }

    /// A trefoil knot of tube radius `tube` [m] along (sin t + 2 sin 2t, cos t − 2 cos 2t, −sin 3t) times `scale` [m];
    /// `n` steps along, `m` round the tube, each at least three. Its strands are 1.21 `scale` apart: with
    /// a tube of more than 0.6 `scale` it cuts through itself.
    pub fn trefoil(scale: f64, tube: f64, n: u32, m: u32) -> Mesh {
        self::tube(n, m, tube, |t| {
            let [(s1, c1), (s2, c2), (s3, c3)] = [t, 2.0 * t, 3.0 * t].map(math::sin_cos);
            let place = DVec3::new(s1 + 2.0 * s2, c1 - 2.0 * c2, -s3);
            let first = DVec3::new(c1 + 4.0 * c2, -s1 + 4.0 * s2, -3.0 * c3);
            let second = DVec3::new(-s1 - 8.0 * s2, -c1 + 8.0 * c2, 9.0 * s3);
            // Frenet's frame: the knot's curvature is nowhere zero, so it turns smoothly and closes.
            let binormal = first.cross(second).normalize();
            let normal = binormal.cross(first.normalize());
            (scale * place, normal, -binormal)
        })
    }
}

/// A closed tube along a closed curve: `frame` gives, for a parameter from 0 to 2π, the centre and two directions across,
/// of which the first, the second and the direction of travel are left-handed: travel = second × first.
fn tube(n: u32, m: u32, radius: f64, frame: impl Fn(f64) -> (DVec3, DVec3, DVec3)) -> Mesh {
    let (n, m) = (n.max(3), m.max(3));
    let mut mesh = Mesh::default();
    for i in 0..n {
        let (centre, u, v) = frame(TAU * f64::from(i) / f64::from(n));
        for k in 0..m {
            let (sin, cos) = math::sin_cos(TAU * f64::from(k) / f64::from(m));
            mesh.vertices.push(centre + radius * (cos * u + sin * v));
            let at = |i: u32, k: u32| i % n * m + k % m;
            let [a, b, c, d] = [at(i, k), at(i + 1, k), at(i + 1, k + 1), at(i, k + 1)];
            mesh.triangles.extend([[a, b, c], [a, c, d]]);
        }
    }
    mesh
}
