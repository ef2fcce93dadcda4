//! Signed distance fields: how far is the surface of a mesh, and which way.
//!
//! Distances stand at the nodes of a regular grid, exact within a band on both sides of the surface, with the sign of
//! angle-weighted pseudonormals ([`crate::mesh::near::Surface`]) and trilinear between nodes. The grid is cut into bricks of
//! 8³ cells, and only those the band reaches into are stored: memory grows as surface/cell². A brick holds the 9³ nodes of
//! its cells, those on its sides as well, so that a look-up reads one brick; that costs 42 % more memory than sharing them.
//! Meshes with small holes can take the sign from the generalised winding number instead ([`Field::build_by_winding`]).
//! Bricks beyond the band are known by their side alone. Walls, bodies, the ground, SPH and pictures read the same field.

mod build;
#[cfg(test)]
mod tests;
mod winding;

use crate::mesh::near::SurfaceError;
use glam::{DVec3, IVec3};

/// Cells along the side of a brick.
const SIDE: usize = 8;
/// Nodes along the side of a brick.
const NODES: usize = SIDE + 1;
/// Nodes of a brick.
const BRICK: usize = NODES * NODES * NODES;
/// In place of a brick's number: all of it is outside, beyond the band.
const OUTSIDE: u32 = u32::MAX;
/// In place of a brick's number: all of it is inside, beyond the band.
const INSIDE: u32 = u32::MAX - 1;

/// Nodes a field may hold, in the band or exported: 4 GiB of them.
pub const MOST_NODES: u64 = 1 << 30;
/// Bricks of 8³ cells the box around the band may have: four bytes each, even if nothing is in them.
pub const MOST_BRICKS: u64 = 1 << 26;

/// A field that cannot be built.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SdfError {
    /// The mesh has no surface.
    #[error(transparent)]
    Surface(#[from] SurfaceError),
    /// A cell that is no length.
    #[error("a cell of {0} m is impossible: give a positive, finite length")]
    Cell(f64),
    /// A band that is no length.
    #[error("a band of {0} m is impossible: give a positive, finite length")]
    Band(f64),
    /// More than can be held.
    #[error(
        "cells of {cell:.3e} m make {needed:.1e} {what}, and at most {limit:.1e} are allowed: use cells of {remedy:.3e} m or more"
    )]
    TooMany {
        /// The cell asked for [m].
        cell: f64,
        /// What there are too many of.
        what: &'static str,
        /// How many there would be.
        needed: f64,
        /// How many there may be.
        limit: u64,
        /// A cell that would do [m].
        remedy: f64,
    },
}

/// Signed distance to a mesh, negative inside.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    origin: DVec3,
    cell: f64,
    band: f64,
    /// Cells of the box.
    cells: [u32; 3],
    /// Bricks of the box.
    bricks: [u32; 3],
    /// Number of each brick, x fastest; or [`OUTSIDE`], [`INSIDE`].
    index: Vec<u32>,
    /// Distances [m], brick by brick.
    values: Vec<f32>,
    /// Distance given where there is no brick at all: the band, with the sign there.
    beyond: f64,
}

/// A field written out: the value at every node of a box.
#[derive(Clone, Debug, PartialEq)]
pub struct Dense {
    /// The first node [m].
    pub origin: DVec3,
    /// Distance of two nodes [m].
    pub cell: f64,
    /// Nodes along x, y, z.
    pub counts: [usize; 3],
    /// Signed distances [m], clamped to the band, x fastest.
    pub values: Vec<f32>,
}

impl Field {
    /// The number of a brick, if the point is in the box, and the point in units of cells from the origin.
    #[inline]
    fn brick(&self, point: DVec3) -> Option<(u32, DVec3)> {
        let q = (point - self.origin) / self.cell;
        let all = DVec3::new(f64::from(self.cells[0]), f64::from(self.cells[1]), f64::from(self.cells[2]));
        // Written such that a point that is not a number is not in the box.
        if !(q.cmpge(DVec3::ZERO).all() && q.cmplt(all).all()) {
            return None;
        }
        let b = q.as_uvec3() / SIDE as u32;
        Some((self.index[((b.z * self.bricks[1] + b.y) * self.bricks[0] + b.x) as usize], q))
    }

    /// Values at the corners of the cell a point is in, and where in the cell it is; or the constant beyond the band.
    #[inline]
    fn corners(&self, point: DVec3) -> Result<([f64; 8], DVec3), f64> {
        let Some((brick, q)) = self.brick(point) else { return Err(self.beyond) };
        match brick {
            OUTSIDE => return Err(self.band),
            INSIDE => return Err(-self.band),
            _ => {}
        }
        let c: IVec3 = q.as_ivec3();
        let l = c % SIDE as i32;
        let first = brick as usize * BRICK + (l.z as usize * NODES + l.y as usize) * NODES + l.x as usize;
        let near = &self.values[first..first + NODES * NODES + NODES + 2];
        let steps = [0, 1, NODES, NODES + 1];
        let mut corner = [0.0; 8];
        for k in 0..8 {
            corner[k] = f64::from(near[steps[k % 4] + k / 4 * NODES * NODES]);
        }
        Ok((corner, q - c.as_dvec3()))
    }

    /// Signed distance [m] to the surface, negative inside: trilinear between exact values where it is no larger than the
    /// band, and the band with the sign of the side beyond it.
    #[inline]
    pub fn distance(&self, point: DVec3) -> f64 {
        match self.corners(point) {
            Ok((c, t)) => {
                let x = |k: usize| c[k] + t.x * (c[k + 1] - c[k]);
                let y = |k: usize| x(k) + t.y * (x(k + 2) - x(k));
                (y(0) + t.z * (y(4) - y(0))).clamp(-self.band, self.band)
            }
            Err(constant) => constant,
        }
    }

    /// Gradient of [`Field::distance`]: of unit length up to the error of interpolation, outwards; zero beyond the band,
    /// where the distance is constant.
    #[inline]
    pub fn gradient(&self, point: DVec3) -> DVec3 {
        self.distance_and_gradient(point).1
    }

    /// Both at the price of one.
    #[inline]
    pub fn distance_and_gradient(&self, point: DVec3) -> (f64, DVec3) {
        let (c, t) = match self.corners(point) {
            Ok(found) => found,
            Err(constant) => return (constant, DVec3::ZERO),
        };
        let dx = [c[1] - c[0], c[3] - c[2], c[5] - c[4], c[7] - c[6]];
        let x = [0, 1, 2, 3].map(|k| c[2 * k] + t.x * dx[k]);
        let dy = [x[1] - x[0], x[3] - x[2]];
        let y = [x[0] + t.y * dy[0], x[2] + t.y * dy[1]];
        let dz = y[1] - y[0];
        let distance = y[0] + t.z * dz;
        if distance.abs() >= self.band {
            return (self.band.copysign(distance), DVec3::ZERO);
        }
        let low = dx[0] + t.y * (dx[1] - dx[0]);
        let high = dx[2] + t.y * (dx[3] - dx[2]);
        let slope = DVec3::new(low + t.z * (high - low), dy[0] + t.z * (dy[1] - dy[0]), dz);
        (distance, slope / self.cell)
    }

    /// Lowest and highest corner of the box of the band [m].
    pub fn bounds(&self) -> (DVec3, DVec3) {
        let counts = DVec3::from(self.cells.map(f64::from));
        (self.origin, self.origin + self.cell * counts)
    }

    /// Distance of two nodes [m].
    pub fn cell(&self) -> f64 {
        self.cell
    }

    /// Largest distance that is known [m].
    pub fn band(&self) -> f64 {
        self.band
    }

    /// Bricks of 8³ cells that are stored: those the band reaches.
    pub fn brick_count(&self) -> usize {
        self.values.len() / BRICK
    }

    /// Nodes of the whole box along x, y and z.
    pub fn node_counts(&self) -> [usize; 3] {
        self.cells.map(|c| c as usize + 1)
    }

    /// Bytes held.
    pub fn memory_bytes(&self) -> usize {
        4 * (self.index.capacity() + self.values.capacity())
    }

    /// The whole box, node by node, as an image file wants it.
    pub fn dense(&self) -> Result<Dense, SdfError> {
        let counts = self.node_counts();
        let needed = counts.iter().map(|&c| c as f64).product::<f64>();
        build::limit(self.cell, "nodes in the image", needed, MOST_NODES, 3)?;
        let mut values = Vec::with_capacity(counts.iter().product());
        for z in 0..counts[2] {
            for y in 0..counts[1] {
                values.extend((0..counts[0]).map(|x| self.node([x, y, z])));
            }
        }
        Ok(Dense { origin: self.origin, cell: self.cell, counts, values })
    }

    /// Value at a node of the box.
    fn node(&self, at: [usize; 3]) -> f32 {
        let band = self.band as f32;
        // The last node of the box may be the far side of the last brick.
        let b = [0, 1, 2].map(|k| (at[k] / SIDE).min(self.bricks[k] as usize - 1));
        let l = [0, 1, 2].map(|k| at[k] - b[k] * SIDE);
        match self.index[(b[2] * self.bricks[1] as usize + b[1]) * self.bricks[0] as usize + b[0]] {
            OUTSIDE => band,
            INSIDE => -band,
            brick => self.values[brick as usize * BRICK + (l[2] * NODES + l[1]) * NODES + l[0]].clamp(-band, band),
        }
    }
}
