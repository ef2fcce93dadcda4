//! Solid: sand that lies still and deep is taken off the grid, cell by cell, until something moves it.
//!
//! A frozen cell keeps its whole quanta and nothing else. Two kinds of frozen cells are told apart. Those with a neighbour that is not frozen
//! are the *test layer*: they stay in the pressure and friction problems as full cells, and thaw when a velocity there says that the force
//! upon them would move them; then the problems are solved again. All others are *locked*: their faces are closed, at rest, and hold with the
//! friction of the sand itself. Bricks that have locked cells alone are not alive and cost nothing.
//!
//! A cell freezes when it has been covered, filled, loaded, at rest and off its yield surface for [`FREEZE`] √(h/g), and is joined by frozen cells
//! to a wall at rest. It thaws when it loses its cover, when a body or a moving wall comes near, when gravity changes, and by the test layer.
//!
//! Reads the flow of a step, walls and bodies; writes parcels, the account, and the fractions of faces.

use crate::flow::Single;
use crate::flow::component::{XX, YZ};
use crate::fractions::{Fractions, Frame, NO_WALL, SOLID, signed_distance};
use crate::grid::{Grid, ROWS, Row, carry};
use crate::parcels::{brick_of, place_of};
use crate::step::{Liquid, PER_CELL};
use crate::transfer::Carried;
use barchan_core::boundary::Boundary;
use barchan_core::parallel;
use barchan_core::walls::WallState;
use glam::DVec3;
use std::collections::{BTreeMap, BTreeSet};

/// Time at rest after which a cell freezes, in √(h/g): some 25 steps, several times what a shock takes through a cell.
const FREEZE: f64 = 5.0;
/// Speed of a face at rest, in √(gh): a bed at rest has 0.003 to 0.006.
const STILL: f64 = 0.02;
/// Speed at which a cell of the test layer thaws, in √(gh): above [`STILL`], so that what froze does not thaw by the same noise.
const MOVES: f64 = 0.05;
/// Share of the yield stress up to which sand is at rest and not about to flow.
const SAFE: f64 = 0.95;
/// Cells of cover that may be lost before a frozen cell thaws: keeps a surface that breathes by a cell from freezing and thawing.
const LOST: u32 = 2;
/// Distance from a body or moving wall within which nothing is frozen [cells].
const CLEAR: f64 = 2.0;
/// Turn of gravity [rad] and share of its change above which all thaws: frozen stress knows the old one alone.
const TURN: f64 = 2.0 * std::f64::consts::PI / 180.0;
const CHANGE: f64 = 0.05;
/// Steps between two looks at what may freeze: a fifth of [`FREEZE`].
const LOOK: u32 = 5;
/// How often a step is solved again with a deeper test layer.
pub const AGAIN: usize = 4;
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

/// Walls beside which nothing is frozen: those of bodies, and those that move.
fn restless(boundary: &Boundary, states: &[WallState]) -> Vec<usize> {
    let moves = |w: &usize| {
        let s = &states[*w];
        boundary.is_there(*w) && (boundary.carried(*w).is_some() || s.velocity != DVec3::ZERO || s.spin != DVec3::ZERO)
    };
    (0..boundary.walls().len()).filter(moves).collect()
}

/// Whether such a wall is near a cell, or will be within two steps of `dt` [s].
fn is_near(walls: &[usize], boundary: &Boundary, states: &[WallState], frame: Frame, cell: [i32; 3], dt: f64) -> bool {
    let x = frame.point(cell, DVec3::splat(0.5));
    walls.iter().any(|&w| {
        let speed = boundary.walls()[w].surface_velocity(&states[w], x).length();
        let reach = CLEAR * frame.cell + 2.0 * speed * dt;
        signed_distance(&boundary.walls()[w], &states[w], x, reach, 1.5 * frame.cell) < reach
    })
}

impl Liquid {
    /// Frozen cells become parcels at rest, in whole quanta, eight a cell. Returns whether any did. Room for them was kept.
    pub fn thaw(&mut self, cells: Vec<[i32; 3]>) -> bool {
        let found = self.solid.take(&self.grid, cells);
        for &(cell, quanta) in &found {
            const SHARES: u32 = PER_CELL as u32;
            for k in 0..SHARES {
                let share = quanta / SHARES + u32::from(k < quanta % SHARES);
                if share > 0 {
                    self.bear(cell, lattice(k), DVec3::ZERO, share);
                }
            }
            self.solid.thawed += u64::from(quanta);
        }
        !found.is_empty()
    }

    /// Thaws the frozen cells of which a test picks any of the places [m] at which their parcels will be.
    pub fn thaw_where(&mut self, picks: impl Fn(DVec3) -> bool) -> bool {
        let frame = self.frame;
        let picked = |c: &[i32; 3]| (0..PER_CELL as u32).any(|k| picks(frame.point(*c, lattice(k))));
        let cells = self.solid.list().map(|c| c.0).filter(picked).collect();
        self.thaw(cells)
    }

    /// Thaws what bodies, moving walls and a new gravity reach in a step of `dt` [s].
    pub fn thaw_ahead(&mut self, dt: f64, boundary: &Boundary) -> bool {
        if self.solid.cells == 0 {
            return false;
        }
        let (now, then) = (self.settings.gravity, self.solid.gravity);
        let turned = now.angle_between(then) > TURN || (now - then).length() > CHANGE * then.length();
        if turned || now == DVec3::ZERO {
            return self.thaw_where(|_| true);
        }
        let walls = restless(boundary, &self.states);
        if walls.is_empty() {
            return false;
        }
        let frame = self.frame;
        let near = |c: &[i32; 3]| is_near(&walls, boundary, &self.states, frame, *c, dt);
        let cells = self.solid.list().map(|c| c.0).chain(self.solid.backs()).filter(near).collect();
        self.thaw(cells)
    }

    /// Thaws the cells of the test layer that the flow would move. Returns whether any did.
    pub fn thaw_moved(&mut self) -> bool {
        if self.solid.cells == 0 {
            return false;
        }
        let fastest = MOVES * (self.settings.gravity.length() * self.settings.cell).sqrt();
        let Liquid { grid, flow, solid, fractions, .. } = &*self;
        let found = parallel::run((1..grid.len()).collect(), 4, |s| {
            let mut out = Vec::new();
            let Some(block) = solid.blocks.get(&grid.bricks[s]) else { return out };
            for p in (0..512usize).filter(|p| block.test[p >> 3] >> (p & 7) & 1 == 1) {
                let at = [p as i32 & 7, p as i32 >> 3 & 7, p as i32 >> 6];
                let quick = |k: usize| {
                    let (a, c) = (k >> 1, add(at, unit(k >> 1, k as i32 & 1)));
                    let value = |f: &[Row]| grid.around[s].value(f, c[0], c[1], c[2]);
                    value(&fractions.open[a]) > 0.0 && value(&flow.velocity[a]).abs() > fastest
                };
                if (0..6).any(quick) {
                    out.push(add(grid.bricks[s].map(|b| 8 * b), at));
                }
            }
            out
        });
        self.thaw(found.concat())
    }

    /// Now and then: thaws what has lost its cover and freezes what has been at rest, after the parcels of a step of `dt` [s] have moved.
    pub fn freeze(&mut self, cover: u32, dt: f64, boundary: &Boundary) -> bool {
        self.solid.steps += 1;
        self.solid.since += dt;
        if self.solid.steps < LOOK {
            return false;
        }
        let since = std::mem::take(&mut self.solid.since);
        self.solid.steps = 0;
        let near_surface = self.near_surface(cover);
        let bare = self.solid.list().map(|c| c.0).filter(|c| {
            let (slot, p) = (self.grid.slot(brick_of(*c)) as usize, place_of(*c) as usize);
            slot > 0 && near_surface.thaws[slot * ROWS + p / 8] >> (p % 8) & 1 == 1
        });
        let bare: Vec<[i32; 3]> = bare.collect();
        let thawed = self.thaw(bare);
        self.wait(since, &near_surface.covered);
        let frozen = self.freeze_rested(dt, boundary);
        thawed || frozen
    }

    /// How far cells are from the surface, by their neighbours in 26 directions. The surface are cells that are not full.
    fn near_surface(&self, cover: u32) -> Depth {
        let (grid, fractions, mass) = (&self.grid, &self.fractions, &self.flow.carried.mass);
        let full = 1.0 - self.settings.compact;
        let bits = |test: &dyn Fn(usize) -> bool| (0..8).filter(|&x| test(x)).fold(0u8, |b, x| b | 1 << x);
        let rows = ROWS..grid.rows();
        let wall = |r: usize| bits(&|x| fractions.capacity[r][x] < SOLID || self.is_walled(r, x));
        let walls: Vec<u8> = std::iter::repeat_n(0xff, ROWS).chain(rows.clone().map(wall)).collect();
        let loose = |r: usize| bits(&|x| mass[r][x] < full * fractions.capacity[r][x]) & !walls[r];
        let mut near: Vec<u8> = std::iter::repeat_n(0, ROWS).chain(rows.map(loose)).collect();
        let mut thaws = vec![0; grid.rows()];
        for level in 1..=cover {
            let before = near.clone();
            let tasks: Vec<_> = near.chunks_mut(ROWS).enumerate().skip(1).collect();
            parallel::run(tasks, 4, |(s, rows)| {
                let around = &grid.around[s];
                for (k, row) in rows.iter_mut().enumerate() {
                    for d in 0..9 {
                        let at = crate::grid::at(k as i32 % 8 + d % 3 - 1, k as i32 / 8 + d / 3 - 1);
                        let [low, mid, high] =
                            [around.low[at], around.mid[at], around.high[at]].map(|r| before[r as usize]);
                        *row |= mid | mid << 1 | mid >> 1 | low >> 7 | high << 7;
                    }
                    *row &= !walls[s * ROWS + k];
                }
            });
            if level + LOST == cover + 1 {
                thaws.copy_from_slice(&near);
            }
        }
        let covered = near.iter().zip(&walls).map(|(near, wall)| !(near | wall)).collect();
        Depth { thaws, covered }
    }

    /// Whether a cell of a row lies inside a wall: all of its lower faces, which are its own, are closed by walls, and its middle is not open.
    fn is_walled(&self, r: usize, x: usize) -> bool {
        let f = &self.fractions;
        f.capacity[r][x] < 0.5 && (0..3).all(|a| f.open[a][r][x] == 0.0 && f.wall[a][r][x] != FROZEN)
    }

    /// Counts the time for which cells have been fit to freeze.
    fn wait(&mut self, since: f64, covered: &[u8]) {
        let Liquid { grid, flow, solid, fractions, settings, rated, .. } = self;
        solid.rest.resize(grid.rows(), [0.0; 8]);
        let (still, full) = (STILL * (settings.gravity.length() * settings.cell).sqrt(), 1.0 - settings.compact);
        let (grid, flow, fractions, settings, rated) = (&*grid, &*flow, &*fractions, &*settings, &*rated);
        parallel::run(solid.rest.chunks_mut(ROWS).enumerate().skip(1).collect(), 2, |(s, rest)| {
            let around = &grid.around[s];
            for (k, row) in rest.iter_mut().enumerate() {
                let r = s * ROWS + k;
                for x in 0..8 {
                    let at = [x as i32, k as i32 % 8, k as i32 / 8];
                    let value = |f: &[Row], c: [i32; 3]| around.value(f, c[0], c[1], c[2]);
                    let (p, c) = (flow.pressure[r][x], fractions.capacity[r][x]);
                    let fit = covered.get(r).is_some_and(|b| b >> x & 1 == 1)
                        && p > 0.0
                        && flow.carried.mass[r][x] >= full * c
                        && (0..6).all(|k| {
                            let (a, c) = (k >> 1, add(at, unit(k >> 1, k as i32 & 1)));
                            let open = value(&fractions.open[a], c);
                            value(&flow.velocity[a], c).abs() <= still && (open == 0.0 || open == 1.0)
                        })
                        && {
                            let mu = if settings.rate.is_some() { rated[r][x] } else { settings.friction() };
                            let bound = std::f64::consts::SQRT_2 * (mu * p + settings.cohesion / settings.bulk());
                            shear(&flow.stress, around, at, r) <= SAFE * bound
                        };
                    row[x] = if fit { row[x] + since as f32 } else { 0.0 };
                }
            }
        });
    }

    /// Freezes the cells that have waited long enough and are joined to a wall at rest. Returns whether any did.
    fn freeze_rested(&mut self, dt: f64, boundary: &Boundary) -> bool {
        let g = self.settings.gravity.length();
        if g == 0.0 {
            return false;
        }
        let long = (FREEZE * (self.settings.cell / g).sqrt()) as f32;
        let walls = restless(boundary, &self.states);
        let half = 4 * self.settings.split;
        let mut rested: BTreeMap<[i32; 3], u32> = BTreeMap::new();
        for i in 0..self.parcels.len() {
            let cell = self.parcels.cell[i];
            let (slot, p) = (self.grid.slot(brick_of(cell)) as usize, place_of(cell) as usize);
            if slot > 0 && self.solid.rest[slot * ROWS + p / 8][p % 8] >= long {
                *rested.entry(cell).or_default() += self.parcels.quanta[i];
            }
        }
        let fits = |cell: &[i32; 3], quanta: u32| {
            quanta >= half
                && self.solid.at(&self.grid, *cell) == 0
                && !is_near(&walls, boundary, &self.states, self.frame, *cell, dt)
        };
        rested.retain(|cell, quanta| fits(cell, *quanta));
        // From those that a wall or frozen cells hold, on through their neighbours.
        let mut front: Vec<[i32; 3]> = rested.keys().copied().filter(|c| self.is_held(*c, &walls)).collect();
        let mut joined: BTreeSet<[i32; 3]> = front.iter().copied().collect();
        while let Some(cell) = front.pop() {
            for k in 0..6 {
                let mut next = add(cell, unit(k >> 1, if k & 1 == 0 { -1 } else { 1 }));
                crate::parcels::settle(&mut next, &mut DVec3::splat(0.5), &self.grid);
                if rested.contains_key(&next) && joined.insert(next) {
                    front.push(next);
                }
            }
        }
        if joined.is_empty() {
            return false;
        }
        let cells: Vec<([i32; 3], u32)> = joined.iter().map(|c| (*c, rested[c])).collect();
        let backs: Vec<[i32; 3]> = joined.iter().flat_map(|c| self.backs_of(*c, &walls)).collect();
        if self.solid.cells == 0 {
            self.solid.gravity = self.settings.gravity;
        }
        let p = &self.parcels;
        let stays: Vec<bool> = p.cell.iter().map(|c| !joined.contains(c)).collect();
        let energy = |i: usize| 0.5 * f64::from(p.quanta[i]) * p.velocity[i].length_squared();
        let lost: f64 = (0..stays.len()).filter(|&i| !stays[i]).map(energy).sum();
        self.account.dissipated += lost * self.settings.quantum();
        self.solid.frozen += cells.iter().map(|c| u64::from(c.1)).sum::<u64>();
        self.parcels.retain(|i| stays[i]);
        self.solid.put(&self.grid, &cells, &backs);
        true
    }

    /// The neighbours of a cell that lie inside walls at rest.
    fn backs_of(&self, cell: [i32; 3], restless: &[usize]) -> Vec<[i32; 3]> {
        let s = self.grid.slot(brick_of(cell)) as usize;
        let at = cell.map(|c| c & 7);
        let back = |k: usize| {
            let (a, up) = (k >> 1, k as i32 & 1);
            let c = add(at, unit(a, up));
            let around = &self.grid.around[s];
            let wall = around.value(&self.fractions.wall[a], c[0], c[1], c[2]);
            let closed = around.value(&self.fractions.open[a], c[0], c[1], c[2]) == 0.0;
            let held = closed && wall != FROZEN && wall != NO_WALL && !restless.contains(&(wall as usize));
            held.then(|| add(cell, unit(a, 2 * up - 1)))
        };
        (0..6).filter_map(back).collect()
    }

    /// Whether a cell has a frozen neighbour, or one that touches a wall at rest.
    fn is_held(&self, cell: [i32; 3], restless: &[usize]) -> bool {
        let s = self.grid.slot(brick_of(cell)) as usize;
        let (around, at) = (&self.grid.around[s], cell.map(|c| c & 7));
        (0..6).any(|k| {
            let d = unit(k >> 1, if k & 1 == 0 { -1 } else { 1 });
            let touches = |a: usize| {
                let c = add(at, d);
                let wall = around.value(&self.fractions.wall[a], c[0], c[1], c[2]);
                wall != NO_WALL && wall != FROZEN && !restless.contains(&(wall as usize))
            };
            self.solid.has(&self.grid, add(cell, d)) || (0..3).any(touches)
        }) || !self.backs_of(cell, restless).is_empty()
    }
}

/// Cells near the surface: those from which frozen sand thaws, and those that are covered enough to freeze.
struct Depth {
    thaws: Vec<u8>,
    covered: Vec<u8>,
}

/// Norm of the deviatoric stress in the middle of a cell [m²/s²]: the shear at its edges as their means.
fn shear(stress: &crate::flow::Tensors, around: &crate::grid::Around, at: [i32; 3], r: usize) -> f64 {
    let mut sum = 0.0;
    for c in 0..3 {
        let s = f64::from(stress[XX + c][r][at[0] as usize]);
        sum += s * s;
    }
    for e in 0..3 {
        let (i, j) = [(1, 2), (0, 2), (0, 1)][e];
        let value = |d: [i32; 3]| {
            let c = add(at, d);
            f64::from(around.value(&stress[YZ + e], c[0], c[1], c[2]))
        };
        let mean = 0.25 * (value([0; 3]) + value(unit(i, 1)) + value(unit(j, 1)) + value(add(unit(i, 1), unit(j, 1))));
        sum += 2.0 * mean * mean;
    }
    sum.sqrt()
}
