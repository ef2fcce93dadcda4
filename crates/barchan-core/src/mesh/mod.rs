//! Triangle meshes: what walls, bodies and distance fields are made from.

pub mod near;

use glam::DVec3;

/// Triangles over shared vertices, counter-clockwise seen from outside.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mesh {
    /// Vertices [m].
    pub vertices: Vec<DVec3>,
    /// Vertices of each triangle.
    pub triangles: Vec<[u32; 3]>,
}

impl Mesh {
    /// Corners of a triangle [m].
    #[inline]
    pub fn corners(&self, triangle: usize) -> [DVec3; 3] {
        self.triangles[triangle].map(|v| self.vertices[v as usize])
    }
}
