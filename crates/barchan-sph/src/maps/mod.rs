//! Volume maps: how much of a kernel's ball a wall of triangles fills, on a sparse grid around its surface.
//!
//! | file | role |
//! |---|---|
//! | `extension` | γ*, the exact value at a plane, the quadrature |
//! | `plan` | what a map is made of, how much memory it takes, before it is made |
//! | `build` | from a surface to a map |
//! | `gaps` | where a gap or a sheet is too narrow for the particles or the cells |
//! | `store` | a map as bytes, and the key under which it is kept |
//! | `slice` | values on a plane, for files and pictures |
//!
//! At a point near the wall a map gives the signed distance Φ (negative inside), the unit normal **n** = ∇Φ (outwards on both sides), the
//! volume V_B [Bender et al. 2019, "Volume maps: an implicit boundary representation for SPH"] and c = V_B/V_plane(Φ): 1 on a plane, less
//! at convex edges and on sheets, more in grooves. Everything is in the frame of the mesh, so that a wall that moves keeps its map.
//! The vector to the nearest point is nowhere stored: it turns round at the surface, and between nodes on both sides it would pull
//! particles through.
//!
//! The grid is cut into bricks of 8³ cells with the 9³ nodes of each, as [`barchan_core::sdf::Field`] has them. A look-up reads one brick.
//! In place of V_B a node holds its ratio to the value at a plane: V_B bends with Φ, and between nodes half a spacing apart the
//! interpolated volume of a plane would be off by a per cent; the ratio is 1 at all of them.
//!
//! A surface that is not closed has no inside: it is a sheet, with distances positive and normals away from it on both sides.

mod build;
mod extension;
mod gaps;
mod plan;
mod shape;
mod slice;
mod store;
#[cfg(test)]
mod tests;

pub use extension::{ball, extension, plane_volume};
pub use gaps::{Narrow, NarrowKind, narrow_places};
pub use plan::{Estimate, MapSettings, estimate};
pub use slice::{Picture, Shown, Slice};
pub use store::MapKey;

use barchan_core::mesh::near::SurfaceError;
use barchan_core::sdf::SdfError;
use glam::{DVec3, IVec3, Vec3};

/// Cells along the side of a brick.
const SIDE: usize = 8;
/// Nodes along the side of a brick.
const NODES: usize = SIDE + 1;
/// Nodes of a brick.
const BRICK: usize = NODES * NODES * NODES;
/// In place of a brick's number: all of it is outside and far away.
const OUTSIDE: u32 = u32::MAX;
/// In place of a brick's number: all of it is inside and far from the surface.
const INSIDE: u32 = u32::MAX - 1;
/// Numbers of a node: distance [m], normal, ratio of volumes.
const NUMBERS: usize = 5;
/// Limits of c: beyond them the shape is not resolved by the particles, and the wall would push far too little or far too much.
const SHAPE_LIMITS: [f64; 2] = [0.5, 2.0];
/// Share of the ball that is added to both volumes of the ratio. Far from the wall both vanish, and their bare quotient is noise; at
/// distances where the wall acts on particles (Φ ≤ d, more than a tenth of the ball) it changes c − 1 by less than a hundredth of itself.
const RATIO_FLOOR: f64 = 1e-3;

/// Why there is no map.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum MapError {
    /// The mesh has no surface.
    #[error(transparent)]
    Surface(#[from] SurfaceError),
    /// The distances cannot be had.
    #[error(transparent)]
    Distance(#[from] SdfError),
    /// A length that is none.
    #[error("a {what} of {value} m is impossible: give a positive, finite length")]
    Length {
        /// What it is the length of.
        what: &'static str,
        /// The number given [m].
        value: f64,
    },
    /// A cell that does not resolve the particles.
    #[error(
        "cells of {cell:.3e} m are larger than the particle spacing {spacing:.3e} m: use cells of {remedy:.3e} m, half of it"
    )]
    Coarse {
        /// The cell asked for [m].
        cell: f64,
        /// Particle spacing [m].
        spacing: f64,
        /// A cell that would do [m].
        remedy: f64,
    },
    /// More memory than allowed.
    #[error(
        "the volume map needs {needed} bytes while it is built and {limit} are allowed: use cells of {remedy:.3e} m or more, or allow more memory"
    )]
    Memory {
        /// Bytes needed.
        needed: u64,
        /// Bytes allowed.
        limit: u64,
        /// A cell that would do [m].
        remedy: f64,
    },
    /// Bytes that are no map of this version.
    #[error("the stored volume map cannot be read: {0}; delete it, and it is made anew")]
    Stored(&'static str),
}

/// Which sides of a surface are outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sides {
    /// A closed surface bounds a solid.
    Solid,
    /// Both sides of an open surface are outside.
    Sheet,
}

/// What a map says of a point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// Signed distance Φ to the surface [m]; negative inside.
    pub distance: f64,
    /// Unit normal ∇Φ, in the frame of the mesh.
    pub normal: DVec3,
    /// Volume V_B of the wall in the ball of the kernel [m³].
    pub volume: f64,
    /// V_B over its value at a plane at the same distance.
    pub ratio: f64,
    /// The same between 0.5 and 2.
    pub c: f64,
}

/// The volume map of one surface.
#[derive(Clone, Debug, PartialEq)]
pub struct VolumeMap {
    key: MapKey,
    sides: Sides,
    origin: DVec3,
    cell: f64,
    support: f64,
    /// Bricks of the box.
    bricks: [u32; 3],
    /// Number of each brick, x fastest; or [`OUTSIDE`], [`INSIDE`].
    index: Vec<u32>,
    /// Numbers of the nodes, brick by brick.
    values: Vec<[f32; NUMBERS]>,
}

/// Signed distance of a sheet at a cell that its rim passes: the sign jumps without a surface in between, where the values of two
/// corners are too far from zero for a crossing on their connecting line.
fn rim(corner: &[[f32; NUMBERS]; 8], cell: f64) -> bool {
    let largest = |sign: f32| corner.iter().map(|c| sign * c[0]).fold(0f32, f32::max);
    f64::from(largest(1.0)) + f64::from(largest(-1.0)) > 3f64.sqrt() * cell && largest(1.0) * largest(-1.0) > 0.0
}

impl VolumeMap {
    /// The number of a brick, if the point is in the box, and the point in units of cells from the origin.
    #[inline]
    fn brick(&self, point: DVec3) -> Option<(u32, DVec3)> {
        let q = (point - self.origin) / self.cell;
        let all = DVec3::from(self.bricks.map(|b| f64::from(b) * SIDE as f64));
        // Written such that a point that is not a number is not in the box.
        if !(q.cmpge(DVec3::ZERO).all() && q.cmplt(all).all()) {
            return None;
        }
        let b = q.as_uvec3() / SIDE as u32;
        Some((self.index[((b.z * self.bricks[1] + b.y) * self.bricks[0] + b.x) as usize], q))
    }

    /// What the map says of a point [m] in the frame of the mesh; None where the surface is farther away than the map reaches, outside
    /// or inside ([`VolumeMap::is_inside`]).
    #[inline]
    pub fn at(&self, point: DVec3) -> Option<Sample> {
        let (brick, q) = self.brick(point)?;
        if brick >= INSIDE {
            return None;
        }
        let c: IVec3 = q.as_ivec3();
        let l = c % SIDE as i32;
        let t = (q - c.as_dvec3()).as_vec3();
        let first = brick as usize * BRICK + (l.z as usize * NODES + l.y as usize) * NODES + l.x as usize;
        let near = &self.values[first..first + NODES * NODES + NODES + 2];
        let steps = [0, 1, NODES, NODES + 1];
        let mut corner: [[f32; NUMBERS]; 8] = std::array::from_fn(|k| near[steps[k % 4] + k / 4 * NODES * NODES]);
        if self.sides == Sides::Sheet && rim(&corner, self.cell) {
            for c in &mut corner {
                let sign = 1f32.copysign(c[0]);
                (0..4).for_each(|k| c[k] *= sign);
            }
        }
        let mix = |a: [f32; NUMBERS], b: [f32; NUMBERS], t: f32| -> [f32; NUMBERS] {
            std::array::from_fn(|k| a[k] + t * (b[k] - a[k]))
        };
        let x: [_; 4] = std::array::from_fn(|k| mix(corner[2 * k], corner[2 * k + 1], t.x));
        let y = [mix(x[0], x[1], t.y), mix(x[2], x[3], t.y)];
        let [distance, nx, ny, nz, ratio] = mix(y[0], y[1], t.z);
        let mut normal = Vec3::new(nx, ny, nz).as_dvec3().normalize_or_zero();
        let mut distance = f64::from(distance);
        if self.sides == Sides::Sheet && distance < 0.0 {
            (distance, normal) = (-distance, -normal);
        }
        let ratio = f64::from(ratio);
        let floor = RATIO_FLOOR * ball(self.support);
        let volume = (ratio * (plane_volume(distance, self.support) + floor) - floor).clamp(0.0, ball(self.support));
        Some(Sample { distance, normal, volume, ratio, c: ratio.clamp(SHAPE_LIMITS[0], SHAPE_LIMITS[1]) })
    }

    /// Whether a point [m] in the frame of the mesh is inside the solid, at any depth; never for a sheet.
    pub fn is_inside(&self, point: DVec3) -> bool {
        self.sides == Sides::Solid
            && match self.brick(point) {
                None | Some((OUTSIDE, _)) => false,
                Some((INSIDE, _)) => true,
                Some(_) => self.at(point).is_some_and(|s| s.distance < 0.0),
            }
    }

    /// Whether the surface bounds a solid or is a sheet.
    pub fn sides(&self) -> Sides {
        self.sides
    }

    /// Lowest and highest corner of the box of the map [m].
    pub fn bounds(&self) -> (DVec3, DVec3) {
        let size = self.cell * SIDE as f64;
        (self.origin, self.origin + size * DVec3::from(self.bricks.map(f64::from)))
    }

    /// Distance of two nodes [m].
    pub fn cell(&self) -> f64 {
        self.cell
    }

    /// Support R of the kernel [m].
    pub fn support(&self) -> f64 {
        self.support
    }

    /// Number of bricks that are stored.
    pub fn brick_count(&self) -> usize {
        self.values.len() / BRICK
    }

    /// Bytes held.
    pub fn memory_bytes(&self) -> usize {
        self.index.capacity() * size_of::<u32>() + self.values.capacity() * size_of::<[f32; NUMBERS]>()
    }

    /// The key under which the map is kept.
    pub fn key(&self) -> MapKey {
        self.key
    }
}
