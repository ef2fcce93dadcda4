//! Which side of a mesh a point is on: a tree of triangles with angle-weighted pseudonormals.
//!
//! The sign of the distance is that of (point − nearest point) · normal, which is right for every point of space if the
//! normal of a vertex is the sum of its faces' normals weighted by their angles there, and that of an edge the sum of
//! its two faces' [Bærentzen and Aanæs 2005, "Signed distance computation using the angle weighted pseudonormal"].

use super::{Feature, Nearest, Tree};
use crate::math;
use crate::mesh::Mesh;
use glam::DVec3;
use rayon::prelude::*;

/// A mesh that has no surface to be near to.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SurfaceError {
    /// No triangle has an area.
    #[error("the mesh has no triangle with an area: check that the file holds a surface and the scale is not zero")]
    Empty,
    /// A vertex that is nowhere.
    #[error("vertex {vertex} of the mesh is not finite: remove it or repair the mesh")]
    NotFinite {
        /// Its number.
        vertex: usize,
    },
    /// A triangle of vertices that are not there.
    #[error("triangle {triangle} names vertex {vertex}, but the mesh has {vertices}: repair the mesh")]
    Index {
        /// Its number.
        triangle: usize,
        /// The vertex it names.
        vertex: u32,
        /// Number of vertices there are.
        vertices: usize,
    },
}

/// A mesh one can ask for signed distances: negative inside. Vertices at the same place count as one.
#[derive(Clone, Debug)]
pub struct Surface {
    tree: Tree,
    /// Unit normals of the triangles.
    faces: Vec<DVec3>,
    /// Pseudonormals of each triangle's three edges; not of unit length.
    edges: Vec<[DVec3; 3]>,
    /// Pseudonormals of each triangle's three corners; not of unit length.
    corners: Vec<[DVec3; 3]>,
    closed: bool,
}

/// For each vertex the first at the same place.
fn welded(vertices: &[DVec3]) -> Vec<u32> {
    // Adding 0 turns −0 into 0.
    let place = |v: u32| (vertices[v as usize] + DVec3::ZERO).to_array();
    let by_place = |a: &u32, b: &u32| {
        let (p, q) = (place(*a), place(*b));
        p[0].total_cmp(&q[0]).then(p[1].total_cmp(&q[1])).then(p[2].total_cmp(&q[2]))
    };
    let mut order: Vec<u32> = (0..vertices.len() as u32).collect();
    order.par_sort_unstable_by(|a, b| by_place(a, b).then(a.cmp(b)));
    let mut first = vec![0; vertices.len()];
    for k in 0..order.len() {
        let same = k > 0 && place(order[k]) == place(order[k - 1]);
        first[order[k] as usize] = if same { first[order[k - 1] as usize] } else { order[k] };
    }
    first
}

fn check(mesh: &Mesh) -> Result<(), SurfaceError> {
    let vertices = mesh.vertices.len();
    if let Some(vertex) = mesh.vertices.iter().position(|v| !v.is_finite()) {
        return Err(SurfaceError::NotFinite { vertex });
    }
    for (triangle, corners) in mesh.triangles.iter().enumerate() {
        if let Some(&vertex) = corners.iter().find(|&&v| v as usize >= vertices) {
            return Err(SurfaceError::Index { triangle, vertex, vertices });
        }
    }
    Ok(())
}

impl Surface {
    /// Checks the mesh, and builds the tree and the pseudonormals; the mesh may be open.
    pub fn build(mesh: &Mesh) -> Result<Surface, SurfaceError> {
        check(mesh)?;
        let tree = Tree::build(mesh);
        if tree.is_empty() {
            return Err(SurfaceError::Empty);
        }
        let faces: Vec<DVec3> = (0..mesh.triangles.len())
            .into_par_iter()
            .map(|t| {
                let [a, b, c] = mesh.corners(t);
                (b - a).cross(c - a).normalize_or_zero()
            })
            .collect();
        let first = welded(&mesh.vertices);
        let mut vertices = vec![DVec3::ZERO; mesh.vertices.len()];
        for (t, corners) in mesh.triangles.iter().enumerate() {
            let p = mesh.corners(t);
            for k in 0..3 {
                let (a, b) = (p[(k + 1) % 3] - p[k], p[(k + 2) % 3] - p[k]);
                let angle = math::atan2(a.cross(b).length(), a.dot(b));
                vertices[first[corners[k] as usize] as usize] += angle * faces[t];
            }
        }
        // Both ends, then triangle and number of the edge: sorted, those of one edge stand together in a fixed order.
        let mut sides: Vec<(u32, u32, u32, u8)> = Vec::with_capacity(3 * mesh.triangles.len());
        for (t, corners) in mesh.triangles.iter().enumerate().filter(|(t, _)| faces[*t] != DVec3::ZERO) {
            for k in 0..3 {
                let (a, b) = (first[corners[k] as usize], first[corners[(k + 1) % 3] as usize]);
                sides.push((a.min(b), a.max(b), t as u32, k as u8));
            }
        }
        sides.par_sort_unstable();
        let mut edges = vec![[DVec3::ZERO; 3]; mesh.triangles.len()];
        let mut closed = true;
        for same in sides.chunk_by(|x, y| (x.0, x.1) == (y.0, y.1)) {
            let normal: DVec3 = same.iter().map(|s| faces[s.2 as usize]).sum();
            let rising = |s: &&(u32, u32, u32, u8)| first[mesh.triangles[s.2 as usize][s.3 as usize] as usize] == s.0;
            closed &= 2 * same.iter().filter(rising).count() == same.len();
            for s in same {
                edges[s.2 as usize][s.3 as usize] = normal;
            }
        }
        let corners = mesh.triangles.par_iter().map(|t| t.map(|v| vertices[first[v as usize] as usize])).collect();
        Ok(Surface { tree, faces, edges, corners, closed })
    }

    /// The tree of triangles.
    pub fn tree(&self) -> &Tree {
        &self.tree
    }

    /// Unit normals of the triangles; zero of those without area.
    pub fn normals(&self) -> &[DVec3] {
        &self.faces
    }

    /// Whether every edge is passed as often in one direction as in the other: only then there is an inside.
    pub fn is_closed(&self) -> bool {
        self.closed
    }

    /// Pseudonormal where a nearest point lies, outwards; not of unit length.
    #[inline]
    pub fn pseudonormal(&self, nearest: &Nearest) -> DVec3 {
        let t = nearest.triangle as usize;
        match nearest.feature {
            Feature::Face => self.faces[t],
            Feature::Edge(k) => self.edges[t][k as usize],
            Feature::Vertex(k) => self.corners[t][k as usize],
        }
    }

    /// Signed distance [m] of a point from the nearest one found for it.
    #[inline]
    pub fn signed(&self, point: DVec3, nearest: &Nearest) -> f64 {
        let outwards = (point - nearest.point).dot(self.pseudonormal(nearest));
        if outwards < 0.0 { -nearest.distance } else { nearest.distance }
    }

    /// Signed distance [m] of a point, negative inside; not finite if the point is not.
    pub fn distance(&self, point: DVec3) -> f64 {
        self.tree.nearest(point, f64::INFINITY).map_or(f64::NAN, |n| self.signed(point, &n))
    }

    /// Bytes held.
    pub fn memory_bytes(&self) -> usize {
        self.tree.memory_bytes()
            + self.faces.capacity() * size_of::<DVec3>()
            + (self.edges.capacity() + self.corners.capacity()) * size_of::<[DVec3; 3]>()
    }
}
