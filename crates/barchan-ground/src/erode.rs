//! Erosion: what is too steep slides until it is not.
//!
//! The limit is on the magnitude of the gradient, as in the sandpile equation [Prigozhin 1996]
//!   ∂h/∂t = ∇·(m ∇h),   |∇h| ≤ tan θ,   m > 0 only where it slides,
//! with m = D (1 − tan θ / |∇h|): a column gives to its eight neighbours in proportion to the height difference and to the
//! excess of the slope. On each link the gradient is taken at its middle: the difference along the link, and the mean
//! difference across it. Limits on the eight slopes alone would let the gradient grow to tan θ / cos 22.5° between them.
//!
//! A sweep computes all flows from the old heights (Jacobi), in whole quanta. It is multiplication by a symmetric, doubly
//! stochastic matrix with a positive diagonal: no column leaves the range of its neighbourhood, and Σ h² falls by at least one in every
//! sweep in which something moves, so erosion ends.
//!
//! Only tiles of 16 × 16 columns in which something may move are visited. A link's flow depends on columns that are next to
//! it, so a tile is visited if something moved in it or along its rim in the last sweep. That changes no result.

use crate::columns::{Columns, LOOSE, PRESSED};
use crate::grid::Grid;
use crate::soil::Limits;
use rayon::prelude::*;

/// Columns along the side of a tile.
pub(crate) const TILE: usize = 16;
/// A tile with a rim one column wide.
const WIDE: usize = TILE + 2;

/// What a call of [`Columns::erode`] did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Erosion {
    /// Sweeps made.
    pub sweeps: usize,
    /// Sand that slid from a column to its neighbour, over all sweeps [quanta of column height].
    pub moved: i128,
    /// Columns looked at, over all sweeps.
    pub visited: u64,
    /// Whether all came to rest.
    pub settled: bool,
}

/// One tile after a sweep, before it is put in place of the old one.
#[derive(Clone, Debug)]
pub(crate) struct TileMove {
    /// New heights and marks; only the part on the grid counts.
    height: [[i64; TILE]; TILE],
    mark: [[u8; TILE]; TILE],
    /// Something slid here, or had slid in the sweep before.
    changed: bool,
    /// Tiles to look at next, bit (dx + 1) + 3 (dy + 1).
    wakes: u16,
    moved: i64,
}

impl TileMove {
    const EMPTY: TileMove =
        TileMove { height: [[0; TILE]; TILE], mark: [[0; TILE]; TILE], changed: false, wakes: 0, moved: 0 };

    pub(crate) fn count(grid: &Grid) -> usize {
        grid.size[0].div_ceil(TILE) * grid.size[1].div_ceil(TILE)
    }
}

/// A tile with its rim as it is before the sweep, and the flows found so far.
struct Tile {
    height: [[i64; WIDE]; WIDE],
    mark: [[u8; WIDE]; WIDE],
    gain: [[i64; WIDE]; WIDE],
    slid: [[u8; WIDE]; WIDE],
    moved: i64,
    /// Columns of the tile, and from where to where (inclusive) the tile with its rim lies on the grid.
    size: [usize; 2],
    low: [usize; 2],
    high: [usize; 2],
}

impl Tile {
    /// Beyond the grid's edge heights go on at the slope they have, for differences across a link.
    fn read(columns: &Columns, tile: usize) -> Tile {
        let [nx, ny] = columns.grid.size;
        let start = [tile % nx.div_ceil(TILE) * TILE, tile / nx.div_ceil(TILE) * TILE];
        let size = [TILE.min(nx - start[0]), TILE.min(ny - start[1])];
        let low = start.map(|s| usize::from(s == 0));
        let high = [0, 1].map(|k| size[k] + usize::from(start[k] + size[k] < columns.grid.size[k]));
        let mut out = Tile {
            height: [[0; WIDE]; WIDE],
            mark: [[0; WIDE]; WIDE],
            gain: [[0; WIDE]; WIDE],
            slid: [[0; WIDE]; WIDE],
            moved: 0,
            size,
            low,
            high,
        };
        for y in low[1]..=high[1] {
            let first = start[0] + low[0] - 1 + (start[1] + y - 1) * nx;
            let (n, to) = (high[0] + 1 - low[0], low[0]..=high[0]);
            out.height[y][to.clone()].copy_from_slice(&columns.height[first..first + n]);
            out.mark[y][to].copy_from_slice(&columns.mark[first..first + n]);
        }
        let beyond = |edge: i64, next: i64| 2 * edge - next;
        for y in low[1]..=high[1] {
            let row = &mut out.height[y];
            let next = |x: usize| x.clamp(low[0], high[0]);
            if low[0] == 1 {
                row[0] = beyond(row[1], row[next(2)]);
            }
            if high[0] == size[0] {
                row[size[0] + 1] = beyond(row[size[0]], row[next(size[0] - 1)]);
            }
        }
        for x in low[0]..=high[0] {
            let next = |y: usize| y.clamp(low[1], high[1]);
            if low[1] == 1 {
                out.height[0][x] = beyond(out.height[1][x], out.height[next(2)][x]);
            }
            if high[1] == size[1] {
                out.height[size[1] + 1][x] = beyond(out.height[size[1]][x], out.height[next(size[1] - 1)][x]);
            }
        }
        out
    }

    /// Links to the neighbours in x and y.
    fn straight_links(&mut self, limits: &Limits) {
        let [w, h] = self.size;
        for y in 1..=h {
            for x in self.low[0]..self.high[0] {
                let z = &self.height;
                let drop = z[y][x] - z[y][x + 1];
                let across = z[y + 1][x] + z[y + 1][x + 1] - z[y - 1][x] - z[y - 1][x + 1];
                if let Some(squared) = steep(drop, across, limits) {
                    let near = [[x, y - 1], [x + 1, y - 1], [x, y + 1], [x + 1, y + 1]];
                    self.slide([x, y], [x + 1, y], near, drop, squared, limits.straight, limits);
                }
            }
        }
        for y in self.low[1]..self.high[1] {
            for x in 1..=w {
                let z = &self.height;
                let drop = z[y][x] - z[y + 1][x];
                let across = z[y][x + 1] + z[y + 1][x + 1] - z[y][x - 1] - z[y + 1][x - 1];
                if let Some(squared) = steep(drop, across, limits) {
                    let near = [[x - 1, y], [x - 1, y + 1], [x + 1, y], [x + 1, y + 1]];
                    self.slide([x, y], [x, y + 1], near, drop, squared, limits.straight, limits);
                }
            }
        }
    }

    /// Links across corners: the two that cross in a square of four columns are each other's difference across.
    fn diagonal_links(&mut self, limits: &Limits) {
        for y in self.low[1]..self.high[1] {
            for x in self.low[0]..self.high[0] {
                let z = &self.height;
                let (one, two) = (z[y][x] - z[y + 1][x + 1], z[y][x + 1] - z[y + 1][x]);
                let squared = 0.5 * (one as f64 * one as f64 + two as f64 * two as f64);
                if squared > limits.stop_squared {
                    let ([a, b], [c, d]) = ([[x, y], [x + 1, y + 1]], [[x + 1, y], [x, y + 1]]);
                    self.slide(a, b, [c, c, d, d], one, squared, limits.diagonal, limits);
                    self.slide(c, d, [a, a, b, b], two, squared, limits.diagonal, limits);
                }
            }
        }
    }

    /// Lets sand slide along one link, if it is steeper than what holds there. `near` are the columns beside the link.
    #[allow(clippy::too_many_arguments)] // one link, spelt out; a struct would be made here and taken apart here
    #[inline]
    fn slide(
        &mut self,
        [xa, ya]: [usize; 2],
        [xb, yb]: [usize; 2],
        near: [[usize; 2]; 4],
        drop: i64,
        squared: f64,
        share: f64,
        limits: &Limits,
    ) {
        let ends = self.mark[ya][xa] | self.mark[yb][xb];
        let loose = near.iter().fold(ends, |m, &[x, y]| m | self.mark[y][x]) & LOOSE != 0;
        let (start, target) = match (ends & PRESSED != 0, loose) {
            (true, _) => (limits.inside_squared, limits.inside_target),
            (false, true) => (limits.stop_squared, limits.stop_target),
            (false, false) => (limits.outside_squared, limits.stop_target),
        };
        if squared <= start {
            return;
        }
        // The size alone is rounded, so that a mirrored link has the mirrored flow.
        let size = (share * drop.abs() as f64 * (1.0 - target / squared.sqrt())) as i64;
        if size == 0 {
            return;
        }
        let flow = size * drop.signum();
        self.gain[ya][xa] -= flow;
        self.gain[yb][xb] += flow;
        self.slid[ya][xa] = LOOSE;
        self.slid[yb][xb] = LOOSE;
        // Counted where the link begins; the rim's columns belong to other tiles.
        if (1..=self.size[0]).contains(&xa) && (1..=self.size[1]).contains(&ya) {
            self.moved += size;
        }
    }

    fn write(&self, out: &mut TileMove) {
        let [w, h] = self.size;
        (out.wakes, out.moved, out.changed) = (0, self.moved, false);
        let mut had_slid = 0;
        for y in 1..=h {
            for x in 1..=w {
                out.height[y - 1][x - 1] = self.height[y][x] + self.gain[y][x];
                out.mark[y - 1][x - 1] = self.mark[y][x] & !LOOSE | self.slid[y][x];
                had_slid |= self.mark[y][x] & LOOSE;
                if self.slid[y][x] != 0 {
                    out.changed = true;
                    let across = 0b010 | u16::from(x == 1) | u16::from(x == w) << 2;
                    out.wakes |= across << 3 | if y == 1 { across } else { 0 } | if y == h { across << 6 } else { 0 };
                }
            }
        }
        out.changed |= had_slid != 0;
    }
}

/// The squared gradient of a straight link, if it is above the least that can slide at all.
#[inline]
fn steep(drop: i64, across: i64, limits: &Limits) -> Option<f64> {
    let (along, across) = (drop as f64, 0.25 * across as f64);
    let squared = along * along + across * across;
    (squared > limits.stop_squared).then_some(squared)
}

impl Columns {
    /// Lets slide what is too steep, until all is at rest or `sweeps` are done.
    ///
    /// Sand at rest starts to slide above the slope `outside`; it and what it touches come to rest at `stop`. At columns
    /// that a body has pressed `inside` takes the place of both. At rest no slope to any of the eight neighbours is above the limit.
    pub fn erode(&mut self, sweeps: usize) -> Erosion {
        let mut out = Erosion::default();
        while out.sweeps < sweeps && !self.awake.is_empty() {
            self.sweep(&mut out);
        }
        out.settled = self.awake.is_empty();
        out
    }

    fn sweep(&mut self, out: &mut Erosion) {
        let tiles = std::mem::take(&mut self.awake);
        let mut moves = std::mem::take(&mut self.moves);
        moves.resize(moves.len().max(tiles.len()), TileMove::EMPTY);
        let limits = self.limits;
        let one = |(&tile, slot): (&u32, &mut TileMove)| {
            let mut tile = Tile::read(self, tile as usize);
            tile.straight_links(&limits);
            tile.diagonal_links(&limits);
            tile.write(slot);
        };
        tiles.par_iter().zip(&mut moves).with_min_len(4).for_each(one);
        tiles.iter().for_each(|&tile| self.is_awake[tile as usize] = false);
        out.sweeps += 1;
        for (&tile, slot) in tiles.iter().zip(&moves) {
            self.put(tile as usize, slot, out);
        }
        self.moves = moves;
    }

    fn put(&mut self, tile: usize, slot: &TileMove, out: &mut Erosion) {
        let [nx, ny] = self.grid.size;
        let [tx, ty] = [tile % nx.div_ceil(TILE), tile / nx.div_ceil(TILE)];
        let (w, h) = (TILE.min(nx - tx * TILE), TILE.min(ny - ty * TILE));
        out.visited += (w * h) as u64;
        out.moved += i128::from(slot.moved);
        if slot.changed {
            for y in 0..h {
                let first = tx * TILE + (ty * TILE + y) * nx;
                self.height[first..first + w].copy_from_slice(&slot.height[y][..w]);
                self.mark[first..first + w].copy_from_slice(&slot.mark[y][..w]);
            }
        }
        for (bit, (dx, dy)) in (-1..=1).flat_map(|dy| (-1..=1).map(move |dx| (dx, dy))).enumerate() {
            if slot.wakes >> bit & 1 != 0 {
                self.wake_tile(tx.wrapping_add_signed(dx), ty.wrapping_add_signed(dy));
            }
        }
    }

    fn wake_tile(&mut self, tx: usize, ty: usize) {
        let [nx, ny] = self.grid.size.map(|n| n.div_ceil(TILE));
        if tx < nx && ty < ny && !std::mem::replace(&mut self.is_awake[tx + ty * nx], true) {
            self.awake.push((tx + ty * nx) as u32);
        }
    }

    /// Has erosion look at a column that has changed, and at its neighbours.
    pub(crate) fn wake(&mut self, column: usize) {
        let nx = self.grid.size[0];
        let (x, y) = (column % nx, column / nx);
        for ty in y.saturating_sub(1) / TILE..=(y + 1) / TILE {
            for tx in x.saturating_sub(1) / TILE..=(x + 1) / TILE {
                self.wake_tile(tx, ty);
            }
        }
    }
}
