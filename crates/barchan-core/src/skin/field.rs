//! The field on the nodes: ψ = Σ V_j W(x − x_j; H_j) / φ, and the carried columns weighed alike.
//!
//! Reads the blocks' lists, writes 512 values a block (and as many for each carried column). The kernel is poly6 [Müller, Charypar & Gross
//! 2003]: W = 315 / (64 π H³) · (1 − q²)³ within q = r/H < 1, which needs no square root. A block is filled by one task, piece by piece in
//! their order: the same bits on any threads. The cost is the kernels' nodes: 34 a piece where H is two voxels, 270 where it is four.

use super::blocks::{Blocks, NODES, Piece, SIDE};
use super::ghosts::Planes;
use rayon::prelude::*;

/// Values on the nodes of all blocks; x runs fastest within a block, then y.
pub(super) struct Field {
    /// ψ, ended by the planes of the sides.
    pub(super) psi: Vec<f32>,
    /// For each block `lanes` arrays of nodes: ψ as it is, then Σ V_j W a_j / φ for each carried column; empty where nothing is carried.
    pub(super) carried: Vec<f32>,
    /// Arrays of nodes a block in `carried`.
    pub(super) lanes: usize,
}

/// Factor of the kernel: 315 / 64 π.
pub(super) const POLY6: f64 = 315.0 / (64.0 * std::f64::consts::PI);

impl Field {
    /// Sums the kernels. `columns` has a value for each row of the cloud and column.
    pub(super) fn new(blocks: &Blocks, pieces: &[Piece], columns: &[&[f32]], planes: &Planes, iso: f64) -> Field {
        let mut psi = vec![0.0; blocks.len() * NODES];
        let lanes = if columns.is_empty() { 0 } else { columns.len() + 1 };
        let mut carried = vec![0.0; blocks.len() * NODES * lanes];
        let end = |block: usize, nodes: &mut [f32]| {
            if !planes.is_empty() {
                cap(blocks.base(blocks.keys[block]), nodes, planes, iso);
            }
        };
        if lanes == 0 {
            psi.par_chunks_mut(NODES).enumerate().for_each(|(block, nodes)| {
                fill(blocks, block, pieces, nodes, |_, _, _| {});
                end(block, nodes);
            });
            return Field { psi, carried, lanes };
        }
        psi.par_chunks_mut(NODES).zip(carried.par_chunks_mut(NODES * lanes)).enumerate().for_each(
            |(block, (nodes, carried))| {
                let (plain, sums) = carried.split_at_mut(NODES);
                fill(blocks, block, pieces, nodes, |row, at, kernel| {
                    for (column, sums) in columns.iter().zip(sums.chunks_exact_mut(NODES)) {
                        let value = column[row];
                        sums[at..at + SIDE].iter_mut().zip(kernel).for_each(|(sum, w)| *sum += value * w);
                    }
                });
                plain.copy_from_slice(nodes);
                end(block, nodes);
            },
        );
        Field { psi, carried, lanes }
    }
}

/// Adds the kernels of a block's pieces to its nodes, row by row. `also` is given each piece's row in the cloud, the first node of the row
/// of nodes, and what was added to its nodes.
#[inline]
fn fill(
    blocks: &Blocks,
    block: usize,
    pieces: &[Piece],
    nodes: &mut [f32],
    mut also: impl FnMut(usize, usize, &[f32; SIDE]),
) {
    let base = blocks.base(blocks.keys[block]);
    for piece in blocks.pieces(block) {
        let piece = &pieces[piece];
        let centre = [0, 1, 2].map(|k| (piece.centre[k] - base[k] as f64) as f32);
        let [cx, cy, cz] = centre;
        let inverse = 1.0 / piece.reach;
        let along: [f32; SIDE] = std::array::from_fn(|i| square((i as f32 - cx) * inverse));
        let rows = |c: f32| {
            let (low, high) = ((c - piece.reach).max(0.0), (c + piece.reach).max(0.0));
            let first = low as usize + usize::from(low as usize as f32 != low);
            first..SIDE.min(high as usize + 1)
        };
        for z in rows(cz) {
            let far = square((z as f32 - cz) * inverse);
            for y in rows(cy) {
                let left = 1.0 - far - square((y as f32 - cy) * inverse);
                if left <= 0.0 {
                    continue;
                }
                let kernel: [f32; SIDE] = std::array::from_fn(|i| {
                    let q = (left - along[i]).max(0.0);
                    piece.weight * (q * q * q)
                });
                let at = (z * SIDE + y) * SIDE;
                nodes[at..at + SIDE].iter_mut().zip(kernel).for_each(|(node, w)| *node += w);
                also(piece.row as usize, at, &kernel);
            }
        }
    }
}

fn square(x: f32) -> f32 {
    x * x
}

/// Ends the field in the planes of the sides.
fn cap(base: [i64; 3], nodes: &mut [f32], planes: &Planes, iso: f64) {
    for (n, node) in nodes.iter_mut().enumerate() {
        let at = [n % SIDE, n / SIDE % SIDE, n / SIDE / SIDE];
        let cap = planes.cap([0, 1, 2].map(|k| base[k] as f64 + at[k] as f64), iso);
        *node = node.min(cap as f32);
    }
}
