//! Triangles before a ray.

use super::grains::Met;
use super::tree::{Bounds, Ray, Tree};
use crate::{Finish, Mesh};
use glam::Vec3;

struct Triangle {
    corner: Vec3,
    edges: [Vec3; 2],
    normals: [Vec3; 3],
    colours: [Vec3; 3],
}

/// The triangles of the meshes of one finish.
pub(super) struct Surfaces {
    tree: Tree,
    triangles: Vec<Triangle>,
}

impl Surfaces {
    /// Those of a finish; `dim` is what the reflectance of the last mesh is multiplied by.
    pub(super) fn new(meshes: &[Mesh], finish: Finish, dim: f32) -> Surfaces {
        let mut triangles = Vec::new();
        for (number, mesh) in meshes.iter().enumerate().filter(|(_, m)| m.finish == finish) {
            let share = if number + 1 == meshes.len() { dim } else { 1.0 };
            for t in &mesh.triangles {
                let [a, b, c] = t.map(|i| mesh.vertices[i as usize]);
                if !(a.is_finite() && b.is_finite() && c.is_finite()) {
                    continue;
                }
                let colours = mesh.corner_colours(t).unwrap_or([mesh.colour; 3]).map(|c| share * c);
                let normals = t.map(|i| mesh.normals[i as usize]);
                triangles.push(Triangle { corner: a, edges: [b - a, c - a], normals, colours });
            }
        }
        let bounds = |t: &Triangle| -> Bounds {
            let [b, c] = t.edges.map(|e| t.corner + e);
            (t.corner.min(b).min(c), t.corner.max(b).max(c))
        };
        let boxes: Vec<Bounds> = triangles.iter().map(bounds).collect();
        let (tree, order) = Tree::build(&boxes);
        let mut slots: Vec<Option<Triangle>> = triangles.into_iter().map(Some).collect();
        let triangles = order.iter().filter_map(|i| slots[*i as usize].take()).collect();
        Surfaces { tree, triangles }
    }

    /// The nearest triangle between `least` and `reach` along a ray, from either side; its normal faces where the ray comes from.
    pub(super) fn nearest(&self, ray: &Ray, least: f32, reach: f32) -> Option<Met> {
        let mut found = None;
        self.tree.walk(ray, reach, |group, mut reach| {
            for row in 4 * group..(4 * group + 4).min(self.triangles.len()) {
                if let Some((t, at)) = self.triangles[row].meets(ray).filter(|(t, _)| *t > least && *t < reach) {
                    reach = t;
                    found = Some((row, t, at));
                }
            }
            reach
        });
        let (row, distance, [u, v]) = found?;
        let t = &self.triangles[row];
        let mix = |of: &[Vec3; 3]| (1.0 - u - v) * of[0] + u * of[1] + v * of[2];
        let flat = t.edges[0].cross(t.edges[1]).normalize_or(-ray.along);
        let flat = if flat.dot(ray.along) > 0.0 { -flat } else { flat };
        let smooth = mix(&t.normals).normalize_or(flat);
        let smooth = if smooth.dot(flat) < 0.0 { -smooth } else { smooth };
        Some(Met { distance, normal: smooth, colour: mix(&t.colours) })
    }

    /// Whether a triangle stands on a ray beyond `least`.
    pub(super) fn hides(&self, ray: &Ray, least: f32) -> bool {
        let mut hidden = false;
        self.tree.walk(ray, f32::INFINITY, |group, reach| {
            let mut rows = 4 * group..(4 * group + 4).min(self.triangles.len());
            hidden |= rows.any(|row| self.triangles[row].meets(ray).is_some_and(|(t, _)| t > least));
            if hidden { -1.0 } else { reach }
        });
        hidden
    }
}

impl Triangle {
    /// Where a ray meets it: distance, and shares of the second and third corner [Möller and Trumbore 1997].
    #[inline]
    fn meets(&self, ray: &Ray) -> Option<(f32, [f32; 2])> {
        let [e, f] = self.edges;
        let p = ray.along.cross(f);
        let det = e.dot(p);
        if det == 0.0 {
            return None;
        }
        let to = ray.origin - self.corner;
        let q = to.cross(e);
        let (u, v) = (to.dot(p) / det, ray.along.dot(q) / det);
        (u >= 0.0 && v >= 0.0 && u + v <= 1.0).then(|| (f.dot(q) / det, [u, v]))
    }
}
