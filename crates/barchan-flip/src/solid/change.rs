//! Freezing and thawing.
//!
//! A cell freezes when it has been covered, filled, loaded, at rest and off its yield surface for [`FREEZE`] √(h/g), and is joined by frozen cells
//! to a wall at rest. It thaws when it loses its cover, when a body or a moving wall comes near, when gravity changes, and where the flow would move
//! the test layer.
//!
//! Reads the flow of a step, walls and bodies; writes parcels and the account.

use super::{FROZEN, add, lattice, unit};
use crate::flow::component::{XX, YZ};
use crate::fractions::{Frame, NO_WALL, ON_SURFACE, SOLID, signed_distance};
use crate::grid::{ROWS, Row};
use crate::loads;
use crate::parcels::{brick_of, place_of};
use crate::step::{Liquid, PER_CELL};
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
    pub fn freeze(&mut self, cover: u32, dt: f64, world_dt: f64, boundary: &mut Boundary) -> bool {
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
        self.honour(since);
        let frozen = self.freeze_rested(dt, world_dt, boundary);
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
                            let c = add(at, unit(k >> 1, k as i32 & 1));
                            value(&flow.velocity[k >> 1], c).abs() <= still
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

    /// Cells that were filled to be solid and are fit to freeze have waited long enough. Claims lapse after as long as others wait.
    fn honour(&mut self, since: f64) {
        let g = self.settings.gravity.length();
        if self.solid.claims.is_empty() || g == 0.0 {
            return;
        }
        let long = FREEZE * (self.settings.cell / g).sqrt();
        let Liquid { grid, solid, .. } = self;
        for cell in &solid.claims {
            let (slot, p) = (grid.slot(brick_of(*cell)) as usize, place_of(*cell) as usize);
            if slot > 0 && solid.rest[slot * ROWS + p / 8][p % 8] > 0.0 {
                solid.rest[slot * ROWS + p / 8][p % 8] = 2.0 * long as f32;
            }
        }
        solid.claimed += since;
        if solid.claimed > long {
            solid.claims.clear();
        }
    }

    /// Freezes the cells that have waited long enough and are joined to a wall at rest. Returns whether any did.
    fn freeze_rested(&mut self, dt: f64, world_dt: f64, boundary: &mut Boundary) -> bool {
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
                && self.is_clear(*cell, boundary)
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
        let stopped: Vec<([i32; 3], DVec3)> = (0..stays.len())
            .filter(|&i| !stays[i])
            .map(|i| (brick_of(p.cell[i]), p.velocity[i] * (f64::from(p.quanta[i]) * self.settings.fill())))
            .collect();
        self.parcels.retain(|i| stays[i]);
        self.solid.put(&self.grid, &cells, &backs);
        let touches = std::mem::take(&mut self.solid.touches);
        self.solid.remember(&self.grid, &touches, dt);
        // Walls take what the parcels had left of motion.
        let mut given: BTreeMap<u32, DVec3> = BTreeMap::new();
        for (brick, momentum) in stopped {
            if let Some(part) = self.solid.part(brick) {
                *given.entry(part).or_default() += momentum * self.frame.cell.powi(3);
            }
        }
        let shares = self.solid.shares(&given, &touches, dt);
        loads::deliver_all(self, shares.iter(), world_dt, boundary);
        true
    }

    /// Whether no wall is at the places into which a cell would thaw.
    fn is_clear(&self, cell: [i32; 3], boundary: &Boundary) -> bool {
        let (h, r) = (self.settings.cell, self.grid.slot(brick_of(cell)) as usize * ROWS);
        let (k, x) = ((place_of(cell) / 8) as usize, (place_of(cell) % 8) as usize);
        if self.fractions.capacity[r + k][x] >= 1.0 {
            return true;
        }
        { boundary.walls().iter().zip(&self.states).enumerate() }.all(|(w, (wall, state))| {
            let clear = |i: u32| {
                signed_distance(wall, state, self.frame.point(cell, lattice(i)), 0.5 * h, 1.5 * h) > ON_SURFACE * h
            };
            !boundary.is_there(w) || (0..PER_CELL as u32).all(clear)
        })
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
