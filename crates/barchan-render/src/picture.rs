//! What is to be drawn, as plain data.

use barchan_core::relief::Relief;
use glam::{DVec3, Vec3};
use std::sync::Arc;

/// Everything in a picture, in metres relative to `origin`; colours are linear RGB reflectances from 0 to 1.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Picture {
    /// Where (0, 0, 0) of all that follows lies in the world [m].
    pub origin: DVec3,
    /// Grains, sphere by sphere, but for those that are solids.
    pub spheres: Vec<Sphere>,
    /// A ball about each grain that is a solid; its surface has the same place in `meshes`.
    pub solids: Vec<Sphere>,
    /// Surfaces: those of `solids`, those of the frame, then walls.
    pub meshes: Vec<Mesh>,
    /// Edges of walls and marks.
    pub lines: Vec<Line>,
    /// Spray and cloud.
    pub puffs: Vec<Puff>,
    /// Height of an endless floor [m], and its colour.
    pub floor: Option<(f32, Vec3)>,
    /// The ground.
    pub ground: Option<Ground>,
}

/// A ground made of grains too many to be drawn: a surface, and what its grains look like.
#[derive(Clone, Debug, PartialEq)]
pub struct Ground {
    /// The surface, in the world (not from `origin`).
    pub relief: Arc<Relief>,
    /// Mean reflectance of its grains, linear RGB.
    pub colour: Vec3,
    /// How much its grains differ: 1 as sand does, 0 not at all.
    pub variation: f32,
    /// Mean radius of its grains [m].
    pub radius: f32,
    /// A smooth surface instead of grains: the reflectance of every cell, linear RGB; none for grains of `colour`.
    pub cover: Option<Arc<Vec<[f32; 3]>>>,
}

impl Ground {
    /// Height of its foot [m]: a grain below its floor, for the surface lies below the grains that are drawn on it, and where there is no
    /// sand yet it would be under what the ground stands on.
    pub fn foot(&self) -> f64 {
        self.relief.origin.z - 2.0 * f64::from(self.radius)
    }
}

/// One sphere: 32 bytes, as it goes to the GPU.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
pub struct Sphere {
    /// Centre [m].
    pub centre: [f32; 3],
    /// Radius [m].
    pub radius: f32,
    /// Reflectance, linear RGB.
    pub colour: [f32; 3],
    /// Row of the grain it belongs to, counted through all populations, for picking.
    pub grain: u32,
}

/// How a surface takes light.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Finish {
    /// Opaque, lit like a grain, casts and takes shadow.
    #[default]
    Solid,
    /// A thin pane: drawn over what is behind it, brighter where seen at a slant; casts no shadow.
    Glass,
}

/// Triangles. Normals are the vertices'; a mesh that means to be faceted repeats vertices.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mesh {
    /// Corners [m].
    pub vertices: Vec<Vec3>,
    /// Unit normals, one a vertex.
    pub normals: Vec<Vec3>,
    /// Three indices a triangle; seen from both sides.
    pub triangles: Vec<[u32; 3]>,
    /// Reflectance (solid) or tint (glass).
    pub colour: Vec3,
    /// Reflectances of the vertices of what is solid, in place of `colour`; empty where it has but one.
    pub colours: Vec<Vec3>,
    /// Solid or glass.
    pub finish: Finish,
    /// What each triangle is fixed to, if it moves: a place in its material's frame is the place less this [m]; and how much of its bumps is
    /// seen, 0 to 1. Empty where all stands still.
    pub anchors: Vec<[f32; 4]>,
}

impl Mesh {
    /// Reflectances of the corners of a triangle, where they differ.
    pub fn corner_colours(&self, triangle: &[u32; 3]) -> Option<[Vec3; 3]> {
        let [a, b, c] = triangle.map(|i| self.colours.get(i as usize).copied());
        Some([a?, b?, c?])
    }
}

/// A ball of spray: 20 bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Puff {
    /// Centre [m].
    pub centre: Vec3,
    /// Radius [m].
    pub radius: f32,
    /// Optical depth through its middle.
    pub depth: f32,
}

/// A thin line, hidden by what is in front of it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Line {
    /// Ends [m].
    pub ends: [Vec3; 2],
    /// Linear RGB.
    pub colour: Vec3,
    /// Width [pixels at 1080 rows].
    pub width: f32,
    /// 0 unseen to 1 opaque.
    pub opacity: f32,
}
