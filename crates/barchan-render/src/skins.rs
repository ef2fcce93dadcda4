//! Surfaces of triangles made ready to be drawn: smooth where the mesh means a curve, split along its sharp edges.

use barchan_core::mesh::Mesh;
use barchan_core::shapes::Shape;
use glam::DVec3;
use std::sync::{Arc, Mutex, PoisonError};

/// Cosine of the angle between triangles at a vertex up to which they are parts of one curve: 35°.
pub(crate) const SMOOTH: f64 = 0.82;

/// A surface with normals. A vertex of the mesh stands here once for each normal it has.
#[derive(Clone, Debug, PartialEq)]
pub struct Skin {
    /// Vertices, in the mesh's unit.
    pub vertices: Vec<DVec3>,
    /// Unit normals, one a vertex.
    pub normals: Vec<DVec3>,
    /// Vertices of each triangle.
    pub triangles: Vec<[u32; 3]>,
    /// Distance of the farthest vertex from the origin.
    pub reach: f64,
}

/// Distance of the farthest vertex from the origin, in the mesh's unit.
pub(crate) fn reach(mesh: &Mesh) -> f64 {
    mesh.vertices.iter().map(|v| v.length()).fold(0.0, f64::max)
}

impl Skin {
    /// The normal of a triangle at a vertex is the mean of those around it that go on smoothly, each by its angle there
    /// [Thürmer & Wüthrich 1998, *Computing vertex normals from polygonal facets*].
    pub fn of(mesh: &Mesh) -> Skin {
        let mut around: Vec<Vec<Corner>> = vec![Vec::new(); mesh.vertices.len()];
        for (t, triangle) in mesh.triangles.iter().enumerate() {
            let corners = mesh.corners(t);
            let plane = (corners[1] - corners[0]).cross(corners[2] - corners[0]).normalize_or_zero();
            for k in 0..3 {
                let [a, b, c] = [0, 1, 2].map(|i| corners[(k + i) % 3]);
                around[triangle[k] as usize].push(Corner {
                    triangle: t,
                    k,
                    plane,
                    angle: (b - a).angle_between(c - a),
                });
            }
        }
        let triangles = vec![[0; 3]; mesh.triangles.len()];
        let mut skin = Skin { vertices: Vec::new(), normals: Vec::new(), triangles, reach: reach(mesh) };
        for (v, corners) in around.iter().enumerate() {
            let first = skin.normals.len();
            for corner in corners {
                let smooth = corners.iter().filter(|c| c.plane.dot(corner.plane) > SMOOTH);
                let normal = smooth.map(|c| c.plane * c.angle).sum::<DVec3>().normalize_or(corner.plane);
                let known = skin.normals[first..].iter().position(|n| n.abs_diff_eq(normal, SAME));
                let at = known.map_or(skin.normals.len(), |k| first + k);
                if known.is_none() {
                    skin.vertices.push(mesh.vertices[v]);
                    skin.normals.push(normal);
                }
                skin.triangles[corner.triangle][corner.k] = at as u32;
            }
        }
        skin
    }
}

/// Unit normals of the vertices of a surface that is smooth everywhere, by the same mean as in [`Skin::of`] over all triangles at a vertex.
pub fn vertex_normals(vertices: &[DVec3], triangles: &[[u32; 3]]) -> Vec<DVec3> {
    let mut normals = vec![DVec3::ZERO; vertices.len()];
    for triangle in triangles {
        let corners = triangle.map(|v| vertices[v as usize]);
        let plane = (corners[1] - corners[0]).cross(corners[2] - corners[0]).normalize_or_zero();
        for k in 0..3 {
            let [a, b, c] = [0, 1, 2].map(|i| corners[(k + i) % 3]);
            let angle = (b - a).angle_between(c - a);
            normals[triangle[k] as usize] += plane * if angle.is_finite() { angle } else { 0.0 };
        }
    }
    normals.iter_mut().for_each(|n| *n = n.normalize_or(DVec3::Z));
    normals
}

/// Normals that differ by less are one: far below what a picture shows, above the rounding of their sums.
const SAME: f64 = 1e-6;

/// A triangle at one of its vertices.
#[derive(Clone, Copy)]
struct Corner {
    triangle: usize,
    /// Which corner of the triangle it is.
    k: usize,
    /// Unit normal of the triangle.
    plane: DVec3,
    /// Angle of the triangle there [rad].
    angle: f64,
}

/// The skins of solids, each made when it is first met: thousands of grains share a shape, and a film its shapes.
#[derive(Clone, Debug, Default)]
pub struct Skins(Arc<Mutex<Vec<Known>>>);

/// A mesh and its skin.
type Known = (Arc<Mesh>, Arc<Skin>);

impl Skins {
    /// The skins of these shapes by index, none for those that are no solids. Skins of other shapes are forgotten.
    pub fn of<'s>(&self, shapes: impl IntoIterator<Item = &'s Shape>) -> Vec<Option<Arc<Skin>>> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let find = |mesh: &Arc<Mesh>| {
            let found = known.iter().find(|k| Arc::ptr_eq(&k.0, mesh));
            found.cloned().unwrap_or_else(|| (mesh.clone(), Arc::new(Skin::of(mesh))))
        };
        let found: Vec<Option<Known>> = shapes.into_iter().map(|s| s.skin().map(find)).collect();
        *known = found.iter().flatten().cloned().collect();
        found.into_iter().map(|f| f.map(|(_, skin)| skin)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sphere_is_smooth() {
        let mesh = Mesh::sphere(2.0, 3);
        let skin = Skin::of(&mesh);
        assert_eq!(skin.vertices.len(), mesh.vertices.len(), "no vertex is split");
        for (v, n) in skin.vertices.iter().zip(&skin.normals) {
            assert!(v.angle_between(*n) < 1f64.to_radians(), "{v} {n}");
        }
        for (t, triangle) in skin.triangles.iter().enumerate() {
            assert_eq!(triangle.map(|v| skin.vertices[v as usize]), mesh.corners(t));
        }
    }

    #[test]
    fn normals_of_a_smooth_surface_are_those_of_its_skin() {
        let mesh = Mesh::sphere(2.0, 3);
        for (v, n) in mesh.vertices.iter().zip(vertex_normals(&mesh.vertices, &mesh.triangles)) {
            assert!(v.angle_between(n) < 1f64.to_radians(), "{v} {n}");
        }
        // A triangle without area, and a vertex without triangles.
        let flat = vertex_normals(&[DVec3::ZERO, DVec3::X, DVec3::X, DVec3::Y], &[[0, 1, 2]]);
        assert!(flat.iter().all(|n| n.is_normalized()), "{flat:?}");
    }

    #[test]
    fn a_box_is_not() {
        let mesh = Mesh::box_of(DVec3::new(1.0, 2.0, 3.0));
        let skin = Skin::of(&mesh);
        assert_eq!((skin.vertices.len(), skin.triangles.len()), (24, 12));
        for (t, triangle) in skin.triangles.iter().enumerate() {
            let [a, b, c] = mesh.corners(t);
            let plane = (b - a).cross(c - a).normalize();
            for v in triangle {
                assert!(skin.normals[*v as usize].distance(plane) < 1e-12, "{} {plane}", skin.normals[*v as usize]);
            }
        }
    }

    #[test]
    fn the_mantle_of_a_cylinder_is_smooth_and_its_rims_are_sharp() {
        let skin = Skin::of(&Mesh::cylinder(1.0, 2.0, 24));
        for (v, n) in skin.vertices.iter().zip(&skin.normals) {
            let radial = v.with_z(0.0).normalize_or_zero();
            assert!(n.z.abs() > 1.0 - 1e-12 || n.angle_between(radial) < 1f64.to_radians(), "{v} {n}");
        }
        let rim = skin.vertices.iter().filter(|v| v.truncate().length() > 0.5).count();
        assert_eq!(rim, 4 * 24, "each vertex of the two rims once for the mantle and once for the end");
    }

    #[test]
    fn a_skin_is_made_once_and_forgotten_with_its_shape() {
        let solid = |size: f64| {
            let mesh = Mesh::sphere(size, 1);
            Shape::solid("s", &[(DVec3::ZERO, size)], &mesh.mass_properties().unwrap(), &mesh).unwrap().0
        };
        let (skins, shapes) = (Skins::default(), [Shape::sphere(), solid(1.0), solid(2.0)]);
        let first = skins.of(&shapes);
        assert!(first[0].is_none());
        // A frame read from a file has the shapes cloned, and the same meshes.
        let again = skins.of(&shapes.clone());
        for k in [1, 2] {
            assert!(Arc::ptr_eq(first[k].as_ref().unwrap(), again[k].as_ref().unwrap()));
        }
        skins.of(&shapes[..2]);
        assert_eq!(skins.0.lock().unwrap().len(), 1);
    }
}
