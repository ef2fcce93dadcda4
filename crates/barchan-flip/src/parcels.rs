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

fn pick<T: Copy + Send + Sync>(column: &mut Vec<T>, rows: &[u32]) {
    const BLOCK: usize = 8192;
    let old: &[T] = column;
    let parts =
        parallel::run(rows.chunks(BLOCK).collect(), 2, |r| r.iter().map(|&i| old[i as usize]).collect::<Vec<T>>());
    *column = parts.concat();
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

/// The bricks that parcels and their halo touch.
pub fn bricks(parcels: &Parcels, grid: &Grid) -> Vec<[i32; 3]> {
    let mut out: Vec<[i32; 3]> = Vec::new();
    let mut last = ([i32::MIN; 3], 0u32);
    let mut flush = |(brick, beside): ([i32; 3], u32)| {
        for k in (0..27).filter(|k| beside >> k & 1 == 1) {
            out.push(grid.wrap([brick[0] + k % 3 - 1, brick[1] + k / 3 % 3 - 1, brick[2] + k / 9 - 1]));
        }
    };
    for &cell in &parcels.cell {
        let brick = brick_of(cell);
        if brick != last.0 {
            flush(last);
            last = (brick, 0);
        }
        let mut axes = [[false; 3]; 3];
        for k in 0..3 {
            let local = cell[k] & 7;
            axes[k] = [local < MARGIN, true, local >= SIDE - MARGIN];
        }
        for k in 0..27 {
            if axes[0][k % 3] && axes[1][k / 3 % 3] && axes[2][k / 9] {
                last.1 |= 1 << k;
            }
        }
    }
    flush(last);
    out
}

/// Sorts the parcels by (brick, cell, id).
pub fn sort(parcels: &mut Parcels, grid: &Grid, order: &mut Order) {
    let n = parcels.len();
    order.key.clear();
    order.first.clear();
    order.first.resize(grid.len() + 1, 0);
    let mut last = ([i32::MIN; 3], 0);
    for &cell in &parcels.cell {
        let brick = brick_of(cell);
        if brick != last.0 {
            last = (brick, grid.slot(brick));
        }
        order.first[last.1 as usize + 1] += 1;
        order.key.push(last.1 << 9 | place_of(cell));
    }
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
    let mut rest = &mut order.index[..];
    let mut tasks = Vec::new();
    for s in 0..grid.len() {
        let (own, others) = rest.split_at_mut((order.first[s + 1] - order.first[s]) as usize);
        tasks.push(own);
        rest = others;
    }
    let (key, id) = (&order.key, &parcels.id);
    parallel::run(tasks, 2, |own| {
        own.sort_unstable_by_key(|&i| u64::from(key[i as usize]) << 32 | u64::from(id[i as usize]))
    });
    if !order.index.is_sorted() {
        let index = std::mem::take(&mut order.index);
        parcels.pick(&index);
        order.index = index;
    }
}
