//! Solid: sand that lies still and deep is taken off the grid, cell by cell, until something moves it.
//!
//! A frozen cell keeps its whole quanta and nothing else. Two kinds of frozen cells are told apart. Those with a neighbour that is not frozen
//! are the *test layer*: they stay in the pressure and friction problems as full cells, and thaw when a velocity there says that the force
//! upon them would move them; then the problems are solved again. All others are *locked*: their faces are closed, at rest, and hold with the
//! friction of the sand itself. Bricks that have locked cells alone are not alive and cost nothing.
//!
//! This file has the state and its masses on the grid, `change.rs` freezes and thaws, `borne.rs` hands the weight on to walls.

mod borne;
mod change;

pub use borne::Touch;
pub use change::AGAIN;

use borne::Borne;

use crate::flow::Single;
use crate::fractions::{Fractions, NO_WALL};
use crate::grid::{Grid, ROWS, Row, carry};
use crate::parcels::{brick_of, place_of};
use crate::transfer::Carried;
use barchan_core::parallel;
use glam::DVec3;
use std::collections::{BTreeMap, BTreeSet};

/// The wall of faces that are closed by locked cells.
pub const FROZEN: u16 = NO_WALL - 1;
/// Stands in a cell that is inside a wall at rest beside frozen ones.
const BACK: u32 = u32::MAX;

/// The frozen cells of a brick.
#[derive(Clone, Debug)]
struct Block {
    /// Quanta of each cell, 0 where it is not frozen, or [`BACK`].
    quanta: Box<[u32; 512]>,
    /// Locked cells and test layer, a bit for each cell of a row.
    locked: [u8; ROWS],
    test: [u8; ROWS],
}

/// All frozen sand.
#[derive(Clone, Debug, Default)]
pub struct Solid {
    blocks: BTreeMap<[i32; 3], Block>,
    /// Quanta that are frozen now.
    pub quanta: u64,
    /// Cells that are frozen now.
    pub cells: usize,
    /// Quanta that have frozen and thawed since the start.
    pub frozen: u64,
    pub thawed: u64,
    /// Gravity under which it froze [m/s²].
    pub gravity: DVec3,
    /// For how long each cell of the grid has been fit to freeze [s].
    pub rest: Vec<Single>,
    /// Cells that were filled to be solid: they freeze as soon as they are fit to, for as long as it takes others to wait.
    pub claims: BTreeSet<[i32; 3]>,
    /// For how long they have been claimed [s].
    pub claimed: f64,
    /// Steps and time [s] since the last look.
    pub steps: u32,
    pub since: f64,
    /// Bricks that must be alive for the test layer.
    border: Vec<[i32; 3]>,
    /// Bricks whose fractions are no longer right.
    stale: BTreeSet<[i32; 3]>,
    /// Masses at cell centres and faces of the grid, in full cells; and whether they are up to date.
    mass: Vec<Row>,
    face: [Vec<Row>; 3],
    fresh: bool,
    /// What walls were given in the last step.
    pub touches: Vec<Touch>,
    /// What it does to walls.
    pub borne: Borne,
}

fn unit(axis: usize, by: i32) -> [i32; 3] {
    std::array::from_fn(|k| if k == axis { by } else { 0 })
}

fn add(a: [i32; 3], b: [i32; 3]) -> [i32; 3] {
    std::array::from_fn(|k| a[k] + b[k])
}

/// Places of the parcels of a full cell within it [cells].
fn lattice(k: u32) -> DVec3 {
    let at = |bit: u32| if k >> bit & 1 == 1 { 0.75 } else { 0.25 };
    DVec3::new(at(0), at(1), at(2))
}

/// The bricks about one, itself included.
fn about(grid: &Grid, brick: [i32; 3]) -> impl Iterator<Item = [i32; 3]> + '_ {
    (0..27).map(move |k| grid.wrap(add(brick, [k % 3 - 1, k / 3 % 3 - 1, k / 9 - 1])))
}

impl Solid {
    /// What stands in a cell: 0 where nothing is frozen.
    fn at(&self, grid: &Grid, cell: [i32; 3]) -> u32 {
        self.blocks.get(&grid.wrap(brick_of(cell))).map_or(0, |b| b.quanta[place_of(cell) as usize])
    }

    /// Whether a cell is frozen.
    pub fn has(&self, grid: &Grid, cell: [i32; 3]) -> bool {
        !matches!(self.at(grid, cell), 0 | BACK)
    }

    /// Whether a frozen cell lies against a wall: what it holds may be seen through it.
    pub fn is_bare(&self, grid: &Grid, cell: [i32; 3]) -> bool {
        (0..6).any(|k| self.at(grid, add(cell, unit(k >> 1, if k & 1 == 0 { -1 } else { 1 }))) == BACK)
    }

    /// Frozen cells with their quanta, in the order of bricks.
    pub fn list(&self) -> impl Iterator<Item = ([i32; 3], u32)> + '_ {
        self.blocks.iter().flat_map(|(brick, block)| {
            let cell = |p: usize| add(brick.map(|b| 8 * b), [p as i32 & 7, p as i32 >> 3 & 7, p as i32 >> 6]);
            (0..512).filter(|&p| !matches!(block.quanta[p], 0 | BACK)).map(move |p| (cell(p), block.quanta[p]))
        })
    }

    /// Cells inside walls at rest, beside frozen ones.
    pub fn backs(&self) -> impl Iterator<Item = [i32; 3]> + '_ {
        self.blocks.iter().flat_map(|(brick, block)| {
            let cell = |p: usize| add(brick.map(|b| 8 * b), [p as i32 & 7, p as i32 >> 3 & 7, p as i32 >> 6]);
            (0..512).filter(|&p| block.quanta[p] == BACK).map(cell)
        })
    }

    /// Bricks that must be alive beside those of the parcels.
    pub fn bricks(&self) -> &[[i32; 3]] {
        &self.border
    }

    /// Bytes held.
    pub fn memory(&self) -> usize {
        self.blocks.len() * (512 * 4 + 2 * ROWS) + self.mass.len() * 5 * std::mem::size_of::<Row>()
    }

    /// Lets cells freeze without the wait.
    pub fn claim(&mut self, cells: Vec<[i32; 3]>) {
        self.claims.extend(cells);
        self.claimed = 0.0;
    }

    /// Freezes cells with their quanta, and notes the cells inside walls beside them.
    pub fn put(&mut self, grid: &Grid, cells: &[([i32; 3], u32)], backs: &[[i32; 3]]) {
        let changed: Vec<[i32; 3]> = cells.iter().map(|c| c.0).chain(backs.iter().copied()).collect();
        for (cell, quanta) in cells.iter().copied().chain(backs.iter().map(|&c| (c, BACK))) {
            let empty = || Block { quanta: Box::new([0; 512]), locked: [0; ROWS], test: [0; ROWS] };
            let block = self.blocks.entry(grid.wrap(brick_of(cell))).or_insert_with(empty);
            let place = &mut block.quanta[place_of(cell) as usize];
            if quanta != BACK {
                (self.quanta, self.cells) = (self.quanta + u64::from(quanta), self.cells + 1);
                *place = quanta;
            } else if *place == 0 {
                *place = BACK;
            }
        }
        self.sort_out(grid, &changed);
    }

    /// Takes cells out; returns those that were frozen, with their quanta, in order.
    fn take(&mut self, grid: &Grid, mut cells: Vec<[i32; 3]>) -> Vec<([i32; 3], u32)> {
        cells.sort_unstable();
        cells.dedup();
        let mut out = Vec::new();
        for &cell in &cells {
            let Some(block) = self.blocks.get_mut(&grid.wrap(brick_of(cell))) else { continue };
            let quanta = std::mem::take(&mut block.quanta[place_of(cell) as usize]);
            if quanta != 0 && quanta != BACK {
                (self.quanta, self.cells) = (self.quanta - u64::from(quanta), self.cells - 1);
                out.push((cell, quanta));
            }
        }
        self.sort_out(grid, &cells);
        out
    }

    /// Tells test layer and locked cells apart anew about cells that have changed.
    fn sort_out(&mut self, grid: &Grid, changed: &[[i32; 3]]) {
        if changed.is_empty() {
            return;
        }
        let touched: BTreeSet<[i32; 3]> = changed.iter().map(|&c| brick_of(c)).collect();
        let bricks: BTreeSet<[i32; 3]> = touched.iter().flat_map(|&b| about(grid, b)).collect();
        self.blocks.retain(|_, block| block.quanta.iter().any(|q| *q != 0));
        for &brick in &bricks {
            let Some(block) = self.blocks.get(&brick) else { continue };
            let (mut locked, mut test) = ([0u8; ROWS], [0u8; ROWS]);
            let first = brick.map(|b| 8 * b);
            for p in (0..512usize).filter(|&p| !matches!(block.quanta[p], 0 | BACK)) {
                let cell = add(first, [p as i32 & 7, p as i32 >> 3 & 7, p as i32 >> 6]);
                let closed = |k: usize| self.at(grid, add(cell, unit(k >> 1, if k & 1 == 0 { -1 } else { 1 }))) != 0;
                let which = if (0..6).all(closed) { &mut locked } else { &mut test };
                which[p >> 3] |= 1 << (p & 7);
            }
            if let Some(block) = self.blocks.get_mut(&brick) {
                (block.locked, block.test) = (locked, test);
            }
        }
        self.border.clear();
        for (&brick, block) in &self.blocks {
            if block.test.iter().any(|t| *t != 0) {
                self.border.extend(about(grid, brick));
            }
        }
        self.border.sort_unstable();
        self.border.dedup();
        self.stale.extend(bricks);
        self.fresh = false;
        self.forget(grid);
        self.part_up(grid);
    }

    /// Whether a cell is locked, and whether it is of the test layer.
    fn kind(&self, grid: &Grid, cell: [i32; 3]) -> (bool, bool) {
        let place = place_of(cell) as usize;
        let bit = |rows: &[u8; ROWS]| rows[place >> 3] >> (place & 7) & 1 == 1;
        self.blocks.get(&grid.wrap(brick_of(cell))).map_or((false, false), |b| (bit(&b.locked), bit(&b.test)))
    }

    /// Lets fields follow the bricks.
    pub fn follow(&mut self, before: &[u32]) {
        carry(&mut self.rest, before);
        self.fresh = false;
    }

    /// Bricks whose fractions have to be computed anew.
    pub fn stale(&mut self) -> BTreeSet<[i32; 3]> {
        std::mem::take(&mut self.stale)
    }

    /// Closes the faces of locked cells, and brings the masses up to date; `fill` is the volume of a quantum as a share of a cell.
    pub fn close(&mut self, grid: &Grid, fractions: &mut Fractions, fill: f64) {
        for s in 1..grid.len() {
            let brick = grid.bricks[s];
            let locked = |b: [i32; 3]| self.blocks.get(&grid.wrap(b)).map(|b| &b.locked);
            let own = locked(brick);
            for a in 0..3 {
                let below = locked(add(brick, unit(a, -1)));
                if own.is_none() && below.is_none() {
                    continue;
                }
                for p in 0..512usize {
                    let at = [p as i32 & 7, p as i32 >> 3 & 7, p as i32 >> 6];
                    let low = add(at, unit(a, -1));
                    let bit = |l: Option<&[u8; ROWS]>, c: [i32; 3]| {
                        l.is_some_and(|l| l[((c[2] & 7) * 8 + (c[1] & 7)) as usize] >> (c[0] & 7) & 1 == 1)
                    };
                    if bit(own, at) || bit(if at[a] == 0 { below } else { own }, low) {
                        let (r, x) = (s * ROWS + p / 8, p % 8);
                        (fractions.open[a][r][x], fractions.solid[a][r][x]) = (0.0, 0.0);
                        fractions.wall[a][r][x] = FROZEN;
                        fractions.walled[s] = true;
                    }
                }
            }
        }
        if !self.fresh || self.mass.len() != grid.rows() {
            self.weigh(grid, fill);
            self.fresh = true;
        }
    }

    /// Masses on the grid: quanta spread over the seeding lattice of their cell, with the weights that parcels have.
    fn weigh(&mut self, grid: &Grid, fill: f64) {
        let [fx, fy, fz] = &mut self.face;
        for field in [&mut self.mass, &mut *fx, &mut *fy, &mut *fz] {
            field.clear();
            field.resize(grid.rows(), [0.0; 8]);
        }
        let blocks = &self.blocks;
        let rows =
            self.mass.chunks_mut(ROWS).zip(fx.chunks_mut(ROWS)).zip(fy.chunks_mut(ROWS)).zip(fz.chunks_mut(ROWS));
        parallel::run(rows.enumerate().skip(1).collect(), 2, |(s, (((mass, fx), fy), fz))| {
            if !about(grid, grid.bricks[s]).any(|b| blocks.contains_key(&b)) {
                return;
            }
            let mut own = vec![0.0; 1000];
            let first = grid.bricks[s].map(|b| 8 * b);
            for (p, n) in own.iter_mut().enumerate() {
                let cell = add(first, [p as i32 % 10 - 1, p as i32 / 10 % 10 - 1, p as i32 / 100 - 1]);
                let found = blocks.get(&grid.wrap(brick_of(cell))).map_or(0, |b| b.quanta[place_of(cell) as usize]);
                *n = if found == BACK { 0.0 } else { f64::from(found) * fill };
            }
            // At quarter points a centred sample has ¾ of its own cell and ⅛ of each neighbour, a face half of both cells.
            let spread = |nodal: usize, at: [i32; 3]| {
                let mut sum = 0.0;
                for k in 0..27 {
                    let d = [k % 3 - 1, k / 3 % 3 - 1, k / 9 - 1];
                    let weight = |a: usize| match (a == nodal, d[a]) {
                        (true, 1) => 0.0,
                        (true, _) => 0.5,
                        (false, 0) => 0.75,
                        (false, _) => 0.125,
                    };
                    let c = add(at, d);
                    let w = weight(0) * weight(1) * weight(2);
                    sum += w * own[((c[2] + 1) * 100 + (c[1] + 1) * 10 + c[0] + 1) as usize];
                }
                sum
            };
            for p in 0..512usize {
                let at = [p as i32 & 7, p as i32 >> 3 & 7, p as i32 >> 6];
                mass[p / 8][p % 8] = spread(3, at);
                fx[p / 8][p % 8] = spread(0, at);
                fy[p / 8][p % 8] = spread(1, at);
                fz[p / 8][p % 8] = spread(2, at);
            }
        });
        self.sum_up(grid, fill);
    }

    /// Adds the frozen mass at cell centres.
    pub fn add_mass(&self, mass: &mut [Row]) {
        if self.cells > 0 && self.mass.len() == mass.len() {
            mass.iter_mut().zip(&self.mass).for_each(|(m, s)| (0..8).for_each(|x| m[x] += s[x]));
        }
    }

    /// Adds the frozen mass, at rest, to what parcels carry.
    pub fn add_to(&self, carried: &mut Carried) {
        if self.cells == 0 {
            return;
        }
        self.add_mass(&mut carried.mass);
        for a in 0..3 {
            let rows = carried.face[a].iter_mut().zip(&mut carried.velocity[a]).zip(&self.face[a]);
            for ((face, velocity), own) in rows {
                for x in (0..8).filter(|&x| own[x] > 0.0) {
                    velocity[x] *= face[x] / (face[x] + own[x]);
                    face[x] += own[x];
                }
            }
        }
    }
}
