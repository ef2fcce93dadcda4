//! Parcels of liquid sand, as columns in the order (brick, cell, id), and their sorting.
//!
//! A position is a cell and an offset within it, so that its precision does not depend on where in the world the parcel is.

use crate::grid::{Grid, SIDE};
use barchan_core::parallel;
use glam::DVec3;

/// Columns of all parcels.
#[derive(Clone, Debug, Default)]
pub struct Parcels {
    /// Cell.
    pub cell: Vec<[i32; 3]>,
    /// Place within the cell, in cells: 0 ≤ offset < 1.
    pub offset: Vec<DVec3>,
    /// Velocity [m/s].
    pub velocity: Vec<DVec3>,
    /// Gradient of the velocity [1/s], row by row: ∂v_x/∂x, ∂v_x/∂y, …
    pub affine: Vec<[f32; 9]>,
    /// Mass in quanta.
    pub quanta: Vec<u32>,
    /// Permanent id.
    pub id: Vec<u32>,
    /// Steps for which the parcel has been too thin for a liquid.
    pub thin: Vec<u8>,
}

/// Which parcels are in which brick.
#[derive(Clone, Debug, Default)]
pub struct Order {
    /// Of each slot, its first parcel; the end comes last.
    pub first: Vec<u32>,
    key: Vec<u32>,
    index: Vec<u32>,
}

impl Order {
    /// Parcels of each slot, nowhere included.
    pub fn lengths(&self) -> Vec<usize> {
        self.first.windows(2).map(|w| (w[1] - w[0]) as usize).collect()
    }
}

/// Parcels that a task goes through.
const CHUNK: usize = 8192;

/// Cells beside a parcel's own that must be alive: one for the weights, and one that it may move into within a step.
const MARGIN: i32 = 2;

impl Parcels {
    /// How many.
    pub fn len(&self) -> usize {
        self.id.len()
    }

    /// Adds a parcel at rest in its own frame.
    pub fn push(&mut self, cell: [i32; 3], offset: DVec3, velocity: DVec3, quanta: u32, id: u32) {
        self.cell.push(cell);
        self.offset.push(offset);
        self.velocity.push(velocity);
        self.affine.push([0.0; 9]);
        self.quanta.push(quanta);
        self.id.push(id);
        self.thin.push(0);
    }

    /// Keeps the parcels for which `keep(index)` is true.
    pub fn retain(&mut self, keep: impl Fn(usize) -> bool) {
        let rows: Vec<u32> = (0..self.len() as u32).filter(|&i| keep(i as usize)).collect();
        self.pick(&rows);
    }

    /// Puts the columns into the order of these rows.
    fn pick(&mut self, rows: &[u32]) {
        pick(&mut self.cell, rows);
        pick(&mut self.offset, rows);
        pick(&mut self.velocity, rows);
        pick(&mut self.affine, rows);
        pick(&mut self.quanta, rows);
        pick(&mut self.id, rows);
        pick(&mut self.thin, rows);
    }

    /// Moves a parcel by a way [cells].
    pub fn shift(&mut self, i: usize, way: DVec3, grid: &Grid) {
        self.offset[i] += way;
        settle(&mut self.cell[i], &mut self.offset[i], grid);
    }

    /// Bytes held.
    pub fn memory(&self) -> usize {
        self.id.capacity() * (12 + 24 + 24 + 36 + 4 + 4 + 1)
    }
}

fn pick<T: Copy + Send + Sync + Default>(column: &mut Vec<T>, rows: &[u32]) {
    let mut new = vec![T::default(); rows.len()];
    let old: &[T] = column;
    parallel::run(new.chunks_mut(CHUNK).zip(rows.chunks(CHUNK)).collect(), 2, |(new, rows)| {
        new.iter_mut().zip(rows).for_each(|(to, &i)| *to = old[i as usize]);
    });
    *column = new;
}

/// Brings an offset into its cell, and the cell into the period of the grid.
pub fn settle(cell: &mut [i32; 3], offset: &mut DVec3, grid: &Grid) {
    for k in 0..3 {
        if !(0.0..1.0).contains(&offset[k]) {
            let whole = offset[k].floor();
            offset[k] -= whole;
            cell[k] += whole as i32;
            // An offset of −1e-20 is rounded to 1, which is the next cell's 0.
            if offset[k] >= 1.0 {
                offset[k] = 0.0;
                cell[k] += 1;
            }
        }
        let period = SIDE * grid.period[k];
        if period > 0 {
            cell[k] = cell[k].rem_euclid(period);
        }
    }
}

/// Cuts a column into parts of so many items each.
pub fn split<'a, T>(mut column: &'a mut [T], lengths: &[usize], width: usize) -> Vec<&'a mut [T]> {
    let mut out = Vec::with_capacity(lengths.len());
    for n in lengths {
        let (own, rest) = column.split_at_mut(n * width);
        out.push(own);
        column = rest;
    }
    out
}

/// The brick of a cell.
#[inline]
pub fn brick_of(cell: [i32; 3]) -> [i32; 3] {
    cell.map(|c| c >> 3)
}

/// Place of a cell within its brick: x fastest.
#[inline]
pub fn place_of(cell: [i32; 3]) -> u32 {
    ((cell[2] & 7) * 64 + (cell[1] & 7) * 8 + (cell[0] & 7)) as u32
}

/// Of the 27 bricks about one, x fastest, those that a parcel touches whose cell is at the lower end of an axis (0), in the middle (1), or
/// at the upper end (2).
const fn touched(ends: [usize; 3]) -> u32 {
    let (mut bits, mut k) = (0, 0);
    while k < 27 {
        let step = [k % 3, k / 3 % 3, k / 9];
        let mut touches = true;
        let mut axis = 0;
        while axis < 3 {
            // The brick itself is the middle one of three; one beside it is touched from its own end.
            touches = touches && (step[axis] == 1 || step[axis] == ends[axis]);
            axis += 1;
        }
        if touches {
            bits |= 1 << k;
        }
        k += 1;
    }
    bits
}

/// [`touched`] for all combinations of ends, x fastest.
const TOUCHED: [u32; 27] = {
    let (mut table, mut k) = ([0; 27], 0);
    while k < 27 {
        table[k] = touched([k % 3, k / 3 % 3, k / 9]);
        k += 1;
    }
    table
};

/// At which end of its brick a cell is along an axis: 0, 1 (in the middle) or 2.
#[inline(always)]
fn end(cell: i32) -> usize {
    let local = cell & 7;
    usize::from(local >= MARGIN) + usize::from(local >= SIDE - MARGIN)
}

/// The bricks that parcels and their halo touch, in any order, some of them repeated.
pub fn bricks(parcels: &Parcels, grid: &Grid) -> Vec<[i32; 3]> {
    let parts = parallel::run(parcels.cell.chunks(CHUNK).collect(), 2, |cells| {
        let mut out: Vec<[i32; 3]> = Vec::new();
        let mut last = ([i32::MIN; 3], 0u32);
        let mut flush = |(brick, beside): ([i32; 3], u32)| {
            for k in (0..27).filter(|k| beside >> k & 1 == 1) {
                out.push(grid.wrap([brick[0] + k % 3 - 1, brick[1] + k / 3 % 3 - 1, brick[2] + k / 9 - 1]));
            }
        };
        for &cell in cells {
            let brick = brick_of(cell);
            if brick != last.0 {
                flush(last);
                last = (brick, 0);
            }
            last.1 |= TOUCHED[end(cell[0]) + 3 * end(cell[1]) + 9 * end(cell[2])];
        }
        flush(last);
        out
    });
    parts.concat()
}

/// Sorts the parcels by (brick, cell, id).
pub fn sort(parcels: &mut Parcels, grid: &Grid, order: &mut Order) {
    let n = parcels.len();
    order.key.resize(n, 0);
    parallel::run(order.key.chunks_mut(CHUNK).zip(parcels.cell.chunks(CHUNK)).collect(), 2, |(keys, cells)| {
        let mut last = ([i32::MIN; 3], 0);
        for (key, &cell) in keys.iter_mut().zip(cells) {
            let brick = brick_of(cell);
            if brick != last.0 {
                last = (brick, grid.slot(brick));
            }
            *key = last.1 << 9 | place_of(cell);
        }
    });
    order.first.clear();
    order.first.resize(grid.len() + 1, 0);
    order.key.iter().for_each(|key| order.first[(key >> 9) as usize + 1] += 1);
    for s in 0..grid.len() {
        order.first[s + 1] += order.first[s];
    }
    let mut next = order.first.clone();
    order.index.resize(n, 0);
    for (i, key) in order.key.iter().enumerate() {
        let at = &mut next[(key >> 9) as usize];
        order.index[*at as usize] = i as u32;
        *at += 1;
    }
    let lengths = order.lengths();
    let (key, id) = (&order.key, &parcels.id);
    parallel::run(split(&mut order.index, &lengths, 1), 2, |own| sort_brick(own, key, id));
    if !order.index.is_sorted() {
        let index = std::mem::take(&mut order.index);
        parcels.pick(&index);
        order.index = index;
    }
}

/// Sorts the rows of a brick by (cell, id): counted by cell, then by id within each, which are few.
fn sort_brick(own: &mut [u32], key: &[u32], id: &[u32]) {
    const CELLS: usize = 512;
    let place = |i: u32| (key[i as usize] & (CELLS as u32 - 1)) as usize;
    let mut first = [0u32; CELLS + 1];
    own.iter().for_each(|&i| first[place(i) + 1] += 1);
    for c in 0..CELLS {
        first[c + 1] += first[c];
    }
    let (rows, mut next) = (own.to_vec(), first);
    for i in rows {
        let at = &mut next[place(i)];
        own[*at as usize] = i;
        *at += 1;
    }
    for c in first.windows(2) {
        own[c[0] as usize..c[1] as usize].sort_unstable_by_key(|&i| id[i as usize]);
    }
}
