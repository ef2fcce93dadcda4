//! From a mesh to a field: which bricks the band reaches, the distances in them, the side of all others.
//!
//! Every pass is a map over bricks, so that the result does not depend on threads.

use super::winding::Winding;
use super::{BRICK, Field, INSIDE, MOST_BRICKS, MOST_NODES, NODES, OUTSIDE, SIDE, SdfError};
use crate::math;
use crate::mesh::Mesh;
use crate::mesh::near::{Nearest, Surface};
use glam::DVec3;
use rayon::prelude::*;

/// Refuses what is too much; the number in question grows as cell^−`power`.
pub(super) fn limit(cell: f64, what: &'static str, needed: f64, limit: u64, power: i32) -> Result<(), SdfError> {
    if needed <= limit as f64 {
        return Ok(());
    }
    let remedy = 1.05 * cell * math::powf(needed / limit as f64, 1.0 / f64::from(power));
    Err(SdfError::TooMany { cell, what, needed, limit, remedy })
}

/// The grid, before there is anything in it.
struct Grid<'a> {
    surface: &'a Surface,
    /// Where sides are taken from, if not from pseudonormals. Across a hole they change without a surface there, so that
    /// no side may be taken from a neighbour.
    winding: Option<Winding<'a>>,
    origin: DVec3,
    cell: f64,
    /// Distances up to here are looked for: a point within the band has all corners of its cell closer than this.
    reach: f64,
    bricks: [u32; 3],
}

impl Grid<'_> {
    fn number(&self, b: [u32; 3]) -> usize {
        (b[2] as usize * self.bricks[1] as usize + b[1] as usize) * self.bricks[0] as usize + b[0] as usize
    }

    fn node(&self, b: [u32; 3], l: [usize; 3]) -> DVec3 {
        let at = [0, 1, 2].map(|k| (b[k] as usize * SIDE + l[k]) as f64);
        self.origin + self.cell * DVec3::from(at)
    }

    /// Distance of a point whose nearest point on the surface is known, with its sign.
    fn signed(&self, p: DVec3, nearest: &Nearest) -> f64 {
        match &self.winding {
            Some(winding) => p.distance(nearest.point).copysign(winding.side(p)),
            None => self.surface.signed(p, nearest),
        }
    }

    /// A number with the sign of the side a point is on.
    fn side(&self, p: DVec3) -> f64 {
        self.winding.as_ref().map_or_else(|| self.surface.distance(p), |winding| winding.side(p))
    }

    /// Bricks the band may reach into, by halving cubes of them: the cost follows the surface, not the box.
    fn near(&self) -> Result<Vec<[u32; 3]>, SdfError> {
        let longest = self.bricks.into_iter().max().unwrap_or(1);
        let mut level = longest.next_power_of_two().trailing_zeros();
        let mut cubes = vec![[0u32; 3]];
        loop {
            let side = (SIDE << level) as f64 * self.cell;
            let touched = |c: &[u32; 3]| {
                let middle = self.origin + side * (DVec3::from(c.map(f64::from)) + 0.5);
                self.surface.tree().nearest(middle, self.reach + 0.5 * 3f64.sqrt() * side * (1.0 + 1e-9)).is_some()
            };
            cubes = cubes.into_par_iter().filter(touched).collect();
            limit(self.cell, "nodes in the band", cubes.len() as f64 * BRICK as f64, MOST_NODES, 2)?;
            if level == 0 {
                cubes.sort_unstable_by_key(|&b| self.number(b));
                return Ok(cubes);
            }
            level -= 1;
            let halves = |c: [u32; 3]| (0..8u32).map(move |k| [0, 1, 2].map(|axis| 2 * c[axis] + (k >> axis & 1)));
            let here = |c: &[u32; 3]| (0..3).all(|k| (c[k] as usize) << level < self.bricks[k] as usize);
            cubes = cubes.into_iter().flat_map(halves).filter(here).collect();
        }
    }

    /// Writes the distances at a brick's nodes; says whether the band reaches any.
    ///
    /// Nodes come in blocks of 3³, and a block whose middle is too far away is done with one query. The side of a node out
    /// of reach is that of its block's middle, and the side of a middle out of reach that of the middle before, which is
    /// beside it: in both cases the surface is farther away than the step between the two.
    fn fill(&self, b: [u32; 3], values: &mut [f32]) -> bool {
        let tree = self.surface.tree();
        let half_block = 3f64.sqrt() * self.cell * (1.0 + 1e-9);
        let mut guess = None;
        let mut reached = false;
        let mut side = None;
        for block in 0..27 {
            // To and fro, so that each is beside the one before.
            let (z, row, step) = (block / 9, block / 3 % 3, block % 3);
            let y = if z % 2 == 0 { row } else { 2 - row };
            let x = if (z + row) % 2 == 0 { step } else { 2 - step };
            let first = [3 * x, 3 * y, 3 * z];
            let middle = self.node(b, first.map(|f| f + 1));
            let near = tree.nearest_from(middle, self.reach + half_block, &mut guess);
            let beside = match (&near, side) {
                (Some(nearest), _) => self.signed(middle, nearest),
                (None, Some(side)) => side,
                (None, None) => self.side(middle),
            };
            side = Some(beside);
            for node in 0..27 {
                let l = [first[0] + node % 3, first[1] + node / 3 % 3, first[2] + node / 9];
                let p = self.node(b, l);
                let found = near.and_then(|_| tree.nearest_from(p, self.reach, &mut guess));
                reached |= found.is_some();
                let distance = match (found, &self.winding) {
                    (Some(nearest), _) => self.signed(p, &nearest),
                    (None, Some(winding)) => self.reach.copysign(winding.side(p)),
                    (None, None) => self.reach.copysign(beside),
                };
                values[(l[2] * NODES + l[1]) * NODES + l[0]] = distance as f32;
            }
        }
        reached
    }

    /// Side of the bricks that are not stored: that of the first of each run of them along x, which holds for the others as
    /// no surface is between.
    fn sides(&self, index: &mut [u32]) {
        let row = self.bricks[0] as usize;
        index.par_chunks_mut(row).enumerate().for_each(|(number, bricks)| {
            let (y, z) = (number as u32 % self.bricks[1], number as u32 / self.bricks[1]);
            for x in 0..row {
                if bricks[x] != OUTSIDE {
                    continue;
                }
                let known = self.winding.is_none() && x > 0 && matches!(bricks[x - 1], INSIDE | OUTSIDE);
                bricks[x] = if known {
                    bricks[x - 1]
                } else if self.side(self.node([x as u32, y, z], [SIDE / 2; 3])) < 0.0 {
                    INSIDE
                } else {
                    OUTSIDE
                };
            }
        });
    }
}

impl Field {
    /// The field of a mesh, with nodes `cell` [m] apart and distances known up to `band` [m].
    ///
    /// A mesh that is not closed has the side of its nearest feature; beyond the band, where only a side is kept, it is
    /// that of some point nearby.
    pub fn build(mesh: &Mesh, cell: f64, band: f64) -> Result<Field, SdfError> {
        Field::of(&Surface::build(mesh)?, cell, band)
    }

    /// As [`Field::build`], of a surface that is there already.
    pub fn of(surface: &Surface, cell: f64, band: f64) -> Result<Field, SdfError> {
        Field::with(surface, None, cell, band)
    }

    /// As [`Field::build`], inside being where the winding number is above ½: for meshes that are nearly closed.
    ///
    /// Across a hole the side changes at a surface that the mesh does not have: the distance is still that of the mesh, and
    /// jumps there from one sign to the other.
    pub fn build_by_winding(mesh: &Mesh, cell: f64, band: f64) -> Result<Field, SdfError> {
        Field::with(&Surface::build(mesh)?, Some(Winding::new(mesh)), cell, band)
    }

    fn with(surface: &Surface, winding: Option<Winding<'_>>, cell: f64, band: f64) -> Result<Field, SdfError> {
        let length = |x: f64| x.is_finite() && x > 0.0;
        if !length(cell) {
            return Err(SdfError::Cell(cell));
        }
        if !length(band) {
            return Err(SdfError::Band(band));
        }
        let reach = band + 3f64.sqrt() * cell * (1.0 + 1e-9);
        let (low, high) = surface.tree().bounds().unwrap_or_default();
        let size = high - low + 2.0 * reach;
        let counts = (size / cell).ceil().max(DVec3::ONE);
        let bricks = (counts / SIDE as f64).ceil();
        limit(cell, "bricks in the box of the band", bricks.element_product(), MOST_BRICKS, 3)?;
        let origin = low - reach - 0.5 * (counts * cell - size);
        let cells = counts.to_array().map(|c| c as u32);
        let bricks = cells.map(|c| c.div_ceil(SIDE as u32));
        let grid = Grid { surface, winding, origin, cell, reach, bricks };

        let near = grid.near()?;
        let mut values = vec![0.0; near.len() * BRICK];
        let reached: Vec<bool> =
            values.par_chunks_mut(BRICK).zip(&near).map(|(values, &b)| grid.fill(b, values)).collect();
        let mut index = vec![OUTSIDE; bricks.iter().map(|&b| b as usize).product()];
        let mut kept = 0;
        for k in (0..near.len()).filter(|&k| reached[k]) {
            values.copy_within(k * BRICK..(k + 1) * BRICK, kept * BRICK);
            index[grid.number(near[k])] = kept as u32;
            kept += 1;
        }
        values.truncate(kept * BRICK);
        values.shrink_to_fit();
        grid.sides(&mut index);
        let beyond = band.copysign(grid.side(origin));
        Ok(Field { origin, cell, band, cells, bricks, index, values, beyond })
    }
}
