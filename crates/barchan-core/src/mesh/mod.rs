//! Triangle meshes: what walls, bodies and distance fields are made from.
//!
//! | file | role |
//! |---|---|
//! | `weld` | a soup of triangles becomes a surface: shared vertices, no empty and no double triangles |
//! | `orient` | triangles turned to agree with their neighbours, closed parts outwards |
//! | `health` | what a surface lacks to bound a solid, and where: holes, forks, crossings |
//! | `mass` | size, area, volume, centre and inertia |
//! | `winding` | how often the surface goes round a point |
//! | `generate` | box, sphere, cylinder, torus, knot |
//!
//! A mesh from a file becomes a solid in three calls, each with its report:
//! ```
//! # use barchan_core::mesh::Mesh;
//! # let mut mesh = Mesh::sphere(0.01, 2);
//! let welded = mesh.weld(mesh.rounding());
//! let oriented = mesh.orient();
//! let health = mesh.health();
//! assert!(health.is_closed(), "{health}");
//! ```
//! Every function here takes it that triangles name vertices that are there; readers of files see to that.

mod crossing;
mod edges;
mod generate;
mod health;
mod mass;
mod orient;
#[cfg(test)]
mod tests;
mod weld;
mod winding;

pub use health::{Health, Hole, MOST_CROSSINGS, Places};
pub use mass::MassProperties;
pub use orient::Oriented;
pub use weld::Welded;

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
