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
//! it, so a tile is visited if something moved in it or along its rim in the last sweep. That changes no result. A sliding
//! column costs some 40 ns a sweep, one at rest in a visited tile some 15 ns, and any other nothing.

use crate::columns::{COVERED, Columns, HELD, LOOSE, PRESSED};
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
    /// What columns gain [quanta], and their new marks; only the part on the grid counts.
    gain: [[i64; TILE]; TILE],
    mark: [[u8; TILE]; TILE],
    /// Something slid here, or had slid in the sweep before.
    changed: bool,
    /// Tiles to look at next, bit (dx + 1) + 3 (dy + 1).
    wakes: u16,
    moved: i64,
}

impl TileMove {
    const EMPTY: TileMove =
        TileMove { gain: [[0; TILE]; TILE], mark: [[0; TILE]; TILE], changed: false, wakes: 0, moved: 0 };

    pub(crate) fn count(grid: &Grid) -> usize {
        grid.size[0].div_ceil(TILE) * grid.size[1].div_ceil(TILE)
    }
}

/// A tile with its rim as it is before the sweep, and the flows found so far.
pub(crate) struct Tile {
    /// Heights [quanta]: whole numbers, small enough that sums of four are exact.
    height: [[f64; WIDE]; WIDE],
    mark: [[u8; WIDE]; WIDE],
    gain: [[i64; WIDE]; WIDE],
    slid: [[u8; WIDE]; WIDE],
    moved: i64,
    /// Columns of the tile, and from where to where (inclusive) the tile with its rim lies on the grid.
    size: [usize; 2],
    low: [usize; 2],
    high: [usize; 2],
}

/// A link from one column to another that is steep enough to look at.
struct Link {
    from: [usize; 2],
    to: [usize; 2],
    /// Columns beside the link.
    near: [[usize; 2]; 4],
    /// Height of the first above the second [quanta].
    drop: f64,
    /// One over the squared length of the link [1/cell²].
    inverse: f64,
    /// Square of the gradient at the link's middle [quanta² a cell²].
    squared: f64,
    /// Share of the drop that would move without friction.
    share: f64,
}

impl Tile {
    /// Beyond the grid's edge heights go on at the slope they have, for differences across a link.
    pub(crate) fn read(grid: &Grid, heights: &[i64], marks: &[u8], tile: usize) -> Tile {
        let [nx, ny] = grid.size;
        let start = [tile % nx.div_ceil(TILE) * TILE, tile / nx.div_ceil(TILE) * TILE];
        let size = [TILE.min(nx - start[0]), TILE.min(ny - start[1])];
        let low = start.map(|s| usize::from(s == 0));
        let high = [0, 1].map(|k| size[k] + usize::from(start[k] + size[k] < grid.size[k]));
        let mut out = Tile {
            height: [[0.0; WIDE]; WIDE],
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
            for (to, from) in out.height[y][to.clone()].iter_mut().zip(&heights[first..first + n]) {
                *to = *from as f64;
            }
            out.mark[y][to].copy_from_slice(&marks[first..first + n]);
        }
        let beyond = |edge: f64, next: f64| 2.0 * edge - next;
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

    /// Lets sand slide along all links.
    pub(crate) fn links(&mut self, limits: &Limits) {
        self.links_in_x(limits);
        self.links_in_y(limits);
        self.links_across(limits);
    }

    /// Whether something slid from or to a column of the tile, counted from its corner.
    pub(crate) fn slid(&self, x: usize, y: usize) -> bool {
        x < self.size[0] && y < self.size[1] && self.slid[y + 1][x + 1] != 0
    }

    /// Links to the neighbour in x.
    fn links_in_x(&mut self, limits: &Limits) {
        for y in 1..=self.size[1] {
            let [below, here, above] = [self.height[y - 1], self.height[y], self.height[y + 1]];
            let squared: [f64; WIDE - 1] = std::array::from_fn(|x| {
                gradient(here[x] - here[x + 1], 0.25 * ((above[x] + above[x + 1]) - (below[x] + below[x + 1])))
            });
            if highest(&squared) <= limits.stop_squared {
                continue;
            }
            for x in self.low[0]..self.high[0] {
                let near = [[x, y - 1], [x + 1, y - 1], [x, y + 1], [x + 1, y + 1]];
                let (drop, squared, share, inverse) = (here[x] - here[x + 1], squared[x], limits.straight, 1.0);
                self.slide(&Link { from: [x, y], to: [x + 1, y], near, drop, inverse, squared, share }, limits);
            }
        }
    }

    /// Links to the neighbour in y.
    fn links_in_y(&mut self, limits: &Limits) {
        for y in self.low[1]..self.high[1] {
            let [here, above] = [self.height[y], self.height[y + 1]];
            let squared: [f64; TILE] = std::array::from_fn(|k| {
                let x = k + 1;
                gradient(here[x] - above[x], 0.25 * ((here[x + 1] + above[x + 1]) - (here[x - 1] + above[x - 1])))
            });
            if highest(&squared) <= limits.stop_squared {
                continue;
            }
            for x in 1..=self.size[0] {
                let near = [[x - 1, y], [x - 1, y + 1], [x + 1, y], [x + 1, y + 1]];
                let (drop, squared, share, inverse) = (here[x] - above[x], squared[x - 1], limits.straight, 1.0);
                self.slide(&Link { from: [x, y], to: [x, y + 1], near, drop, inverse, squared, share }, limits);
            }
        }
    }

    /// Links across corners: the two that cross in a square of four columns are each other's difference across.
    fn links_across(&mut self, limits: &Limits) {
        for y in self.low[1]..self.high[1] {
            let [here, above] = [self.height[y], self.height[y + 1]];
            let squared: [f64; WIDE - 1] =
                std::array::from_fn(|x| 0.5 * gradient(here[x] - above[x + 1], here[x + 1] - above[x]));
            if highest(&squared) <= limits.stop_squared {
                continue;
            }
            for x in self.low[0]..self.high[0] {
                let ([a, b], [c, d]) = ([[x, y], [x + 1, y + 1]], [[x + 1, y], [x, y + 1]]);
                let (squared, share, inverse) = (squared[x], limits.diagonal, 0.5);
                let drop = here[x] - above[x + 1];
                self.slide(&Link { from: a, to: b, near: [c, c, d, d], drop, inverse, squared, share }, limits);
                let drop = here[x + 1] - above[x];
                self.slide(&Link { from: c, to: d, near: [a, a, b, b], drop, inverse, squared, share }, limits);
            }
        }
    }

    /// Lets sand slide along one link, if it is steeper than what holds there.
    #[inline(always)]
    fn slide(&mut self, link: &Link, limits: &Limits) {
        if link.squared <= limits.stop_squared {
            return;
        }
        let ([xa, ya], [xb, yb]) = (link.from, link.to);
        let ends = self.mark[ya][xa] | self.mark[yb][xb];
        // Sand cannot slide to where a body is; nor can what carries it slide away.
        if ends & (HELD | COVERED) != 0 {
            return;
        }
        let near = link.near.iter().fold(0, |m, &[x, y]| m | self.mark[y][x]);
        let (start, target) = match (ends & PRESSED != 0, (ends | near) & LOOSE != 0) {
            (true, _) => (limits.inside_squared, limits.inside_target),
            (false, true) => (limits.stop_squared, limits.stop_target),
            (false, false) => (limits.outside_squared, limits.stop_target),
        };
        // Beside a print the difference across is the print's wall, which holds: it must not drive sand along the rim.
        let beside = ends & PRESSED == 0 && near & PRESSED != 0;
        let squared = if beside { link.drop * link.drop * link.inverse } else { link.squared };
        if squared <= start {
            return;
        }
        // Rounded towards zero: a mirrored link has the mirrored flow.
        let flow = (link.share * link.drop * (1.0 - target / squared.sqrt())) as i64;
        self.gain[ya][xa] -= flow;
        self.gain[yb][xb] += flow;
        let slid = if flow != 0 { LOOSE } else { 0 };
        self.slid[ya][xa] |= slid;
        self.slid[yb][xb] |= slid;
        // Counted where the link begins; the rim's columns belong to other tiles.
        if (1..=self.size[0]).contains(&xa) && (1..=self.size[1]).contains(&ya) {
            self.moved += flow.abs();
        }
    }

    fn write(&self, out: &mut TileMove) {
        let [w, h] = self.size;
        let (mut slid, mut had_slid) = (0, 0);
        out.wakes = 0;
        for y in 1..=h {
            let row = &self.slid[y];
            let any = row[1..=TILE].iter().fold(0, |a, b| a | b);
            if any != 0 {
                let across = 0b010 | u16::from(row[1] != 0) | u16::from(row[w] != 0) << 2;
                out.wakes |= across << 3 | if y == 1 { across } else { 0 } | if y == h { across << 6 } else { 0 };
            }
            slid |= any;
            had_slid |= self.mark[y][1..=TILE].iter().fold(0, |a, b| a | b) & LOOSE;
        }
        (out.moved, out.changed) = (self.moved, slid | had_slid != 0);
        if out.changed {
            for y in 0..h {
                out.gain[y].copy_from_slice(&self.gain[y + 1][1..=TILE]);
                out.mark[y] = std::array::from_fn(|x| self.mark[y + 1][x + 1] & !LOOSE | self.slid[y + 1][x + 1]);
            }
        }
    }
}

fn gradient(along: f64, across: f64) -> f64 {
    along * along + across * across
}

fn highest(values: &[f64]) -> f64 {
    values.iter().fold(0.0, |most, &v| if v > most { v } else { most })
}

impl Columns {
    /// Lets slide what is too steep, until all is at rest or `sweeps` are done.
    ///
    /// Sand at rest starts to slide above the slope `outside`; it and what it touches come to rest at `stop`. At columns
    /// that a body has pressed `inside` takes the place of both; at columns that are covered nothing moves. At rest no slope to any of the eight neighbours is above the limit.
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
            let mut tile = Tile::read(&self.grid, &self.height, &self.mark, tile as usize);
            tile.links(&limits);
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
                for (height, gain) in self.height[first..first + w].iter_mut().zip(&slot.gain[y]) {
                    *height += gain;
                }
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
