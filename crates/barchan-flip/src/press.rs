//! Problems with one bounded unknown a cell: pressure (velocities keep the volume) and lift (positions do).
//!
//! With the volume share c of a cell that is open, ν its filling, D the divergence with open shares w and velocities of solids,
//!
//!   0 ≤ p ⊥ A p + b ≥ 0,  A_ii = dt² Σ_f w_f/(ρ̂_f h²),  A_ij = −dt² w_f/(ρ̂_f h²),
//!   b_i = c_i max(0, 1 − ε − ν_i) + dt (D û)_i:
//!
//! A p + b is the room left in a cell after the step [Narain, Golas & Lin 2010]. Two departures from their ρ ≤ ρ_max: cells bear load from
//! 1 − ε on (sand bears from loose to close packing, and the top cell of a flat bed is filled to 7/8); and what exceeds a cell's capacity is
//! not turned into velocity, which would make clumps explode, but into displacement: the same matrix with dt²/ρ̂ = 1 and
//! b_i = max(c_i(1 − ν_i), −½) [after Kugelstadt et al. 2019].

use crate::flow::{Flow, Vectors};
use crate::fractions::{Fractions, SOLID};
use crate::grid::{Grid, ROWS, Row};
use crate::parcels::{brick_of, place_of, split};
use crate::rigid::Rigids;
use crate::solve::{Cycle, Limits, LowRank, Operator, Outcome, Precondition, Scaled, Workspace, solve, solve_with};
use barchan_core::parallel;
use glam::DVec3;
use std::collections::HashMap;

/// No unknown.
const NONE: u32 = u32::MAX;

/// A bound-constrained problem over cells.
#[derive(Clone, Debug, Default)]
pub struct Problem {
    /// Number of the unknown of each cell.
    index: Vec<[u32; 8]>,
    /// First unknown of each slot, the end last.
    start: Vec<u32>,
    matrix: LowRank,
    /// Right-hand side, unscaled: what does not depend on velocities.
    slack: Vec<f64>,
    b: Vec<f64>,
    x: Vec<f64>,
    work: Workspace,
    /// Coarser grids, made where an error is asked for.
    cycle: Cycle,
    shaped: bool,
}

/// The cycle through coarser grids as a preconditioner.
struct Deep<'a> {
    cycle: &'a mut Cycle,
    matrix: &'a Scaled,
}

impl Precondition for Deep<'_> {
    fn improve(&mut self, x: &[f64], g: &[f64], z: &mut [f64]) -> f64 {
        self.cycle.follow(self.matrix, x);
        self.cycle.apply(self.matrix, x, g, z)
    }
}

/// What loads the cells, beside their slack.
#[derive(Clone, Copy)]
pub struct Load<'a> {
    /// dt times the divergence of the velocities.
    pub flux: &'a [Row],
    /// Cells without slack may go down to minus this [m²/s²].
    pub tension: f64,
    /// Masses and capacities of the cells, what they weigh by [m/s²], and the side of a cell [m], for a start from nothing.
    pub filling: [&'a [Row]; 2],
    pub gravity: DVec3,
    pub cell: f64,
}

/// What is open of the grid.
#[derive(Clone, Copy)]
pub struct Room<'a> {
    pub fractions: &'a Fractions,
    /// Shares w of the faces' fluxes that are the sand's.
    pub open: &'a Vectors,
}

/// Entries off the diagonal: a cell's six neighbours.
const WIDTH: usize = 6;

/// The coefficients of the six faces of the cells of a row, lower and upper along each axis: factor · w · mobility.
#[inline(always)]
fn coefficients(
    grid: &Grid,
    s: usize,
    y: i32,
    z: i32,
    open: &Vectors,
    mobility: Option<&Vectors>,
    factor: f64,
) -> [Row; 6] {
    let around = &grid.around[s];
    let mut out = [[factor; 8]; 6];
    for (a, (dx, dy, dz)) in [(1, 0, 0), (0, 1, 0), (0, 0, 1)].into_iter().enumerate() {
        for f in [open].into_iter().chain(mobility) {
            let (low, high) = (around.here(&f[a], y, z), around.shifted(&f[a], dx, y + dy, z + dz));
            for x in 0..8 {
                out[2 * a][x] *= low[x];
                out[2 * a + 1][x] *= high[x];
            }
        }
    }
    out
}

impl Problem {
    /// Sets the matrix up for cells with mass; `mobility` is 1 where none is given. Coefficients are factor · w · mobility with the open shares w.
    pub fn assemble(
        &mut self,
        grid: &Grid,
        room: Room<'_>,
        mass: &[Row],
        mobility: Option<&Vectors>,
        factor: f64,
        slack: impl Fn(f64, f64) -> f64 + Sync,
    ) {
        let Room { fractions, open } = room;
        self.index.clear();
        self.index.resize(grid.rows(), [NONE; 8]);
        let tasks: Vec<_> = self.index.chunks_mut(ROWS).enumerate().skip(1).collect();
        let counts = parallel::run(tasks, 4, |(s, index)| {
            let mut count = 0;
            for k in 0..ROWS {
                let r = s * ROWS + k;
                if mass[r].iter().all(|m| *m == 0.0) {
                    continue;
                }
                let c = coefficients(grid, s, k as i32 % 8, k as i32 / 8, open, mobility, factor);
                for x in 0..8 {
                    if mass[r][x] > 0.0 && fractions.capacity[r][x] >= SOLID && c.iter().any(|c| c[x] > 0.0) {
                        index[k][x] = count;
                        count += 1;
                    }
                }
            }
            count
        });
        self.start.clear();
        self.start.extend([0, 0]);
        for count in counts {
            self.start.push(self.start[self.start.len() - 1] + count);
        }
        let start = &self.start;
        parallel::run(self.index.chunks_mut(ROWS).enumerate().skip(1).collect(), 8, |(s, index)| {
            index.iter_mut().flatten().filter(|i| **i != NONE).for_each(|i| *i += start[s]);
        });
        self.fill(grid, room, mass, mobility, factor, slack);
        self.matrix.terms.clear();
        self.shaped = false;
    }

    /// Of each unknown, the unknown of a grid of cells twice as large; and so on until there is one. The first three are within bricks.
    fn coarsen(&self, grid: &Grid) -> Vec<(Vec<u32>, usize)> {
        const DEPTH: u32 = 3;
        let mut levels: Vec<(Vec<u32>, usize)> = Vec::new();
        // Place of each unknown of the level at hand within its brick, and its brick.
        let mut at: Vec<(u32, [u32; 3])> = Vec::with_capacity(self.slack.len());
        for s in 1..grid.len() {
            let cells = self.index[s * ROWS..(s + 1) * ROWS].iter().flatten().enumerate();
            let place = |p: usize| [p as u32 & 7, p as u32 >> 3 & 7, p as u32 >> 6];
            at.extend(cells.filter(|(_, i)| **i != NONE).map(|(p, _)| (s as u32, place(p))));
        }
        for depth in 1..=DEPTH {
            let side = 8 >> depth;
            let (mut parent, mut next) = (Vec::with_capacity(at.len()), Vec::new());
            let mut known = ([NONE; 64], 0);
            for (s, place) in &at {
                if *s != known.1 {
                    known = ([NONE; 64], *s);
                }
                let half = place.map(|p| p >> 1);
                let entry = &mut known.0[((half[2] * side + half[1]) * side + half[0]) as usize];
                if *entry == NONE {
                    *entry = next.len() as u32;
                    next.push((*s, half));
                }
                parent.push(*entry);
            }
            levels.push((parent, next.len()));
            at = next;
        }
        let mut bricks: Vec<[i32; 3]> = at.iter().map(|(s, _)| grid.bricks[*s as usize]).collect();
        while bricks.len() > 1 {
            let mut known: HashMap<[i32; 3], u32> = HashMap::new();
            let mut next: Vec<[i32; 3]> = Vec::new();
            let mut parent = Vec::with_capacity(bricks.len());
            for b in &bricks {
                let half = b.map(|b| b >> 1);
                let entry = *known.entry(half).or_insert_with(|| {
                    next.push(half);
                    next.len() as u32 - 1
                });
                parent.push(entry);
            }
            // Bricks at −1 and 0 have no common half.
            if next.len() == bricks.len() {
                break;
            }
            levels.push((parent, next.len()));
            bricks = next;
        }
        levels
    }

    /// Adds what bodies let the pressure move to the matrix: dt² h J M⁻¹ Jᵀ.
    pub fn couple(&mut self, grid: &Grid, bodies: &Rigids, cell: f64, dt: f64) {
        let mut terms = bodies.terms(grid, &self.index, NONE, dt * cell.sqrt());
        for (i, v) in terms.iter_mut().flatten() {
            *v /= self.matrix.base.root[*i as usize];
        }
        self.matrix.terms = terms;
    }

    fn fill(
        &mut self,
        grid: &Grid,
        room: Room<'_>,
        mass: &[Row],
        mobility: Option<&Vectors>,
        factor: f64,
        slack: impl Fn(f64, f64) -> f64 + Sync,
    ) {
        let Room { fractions, open } = room;
        let n = self.start[self.start.len() - 1] as usize;
        let m = &mut self.matrix.base;
        m.width = WIDTH;
        m.column.resize(n * WIDTH, 0);
        m.value.resize(n * WIDTH, 0.0);
        m.root.resize(n, 0.0);
        self.slack.resize(n, 0.0);
        let lengths: Vec<usize> = (1..grid.len()).map(|s| (self.start[s + 1] - self.start[s]) as usize).collect();
        let tasks = split(&mut m.column, &lengths, WIDTH).into_iter().zip(split(&mut m.value, &lengths, WIDTH));
        let tasks = tasks.zip(split(&mut m.root, &lengths, 1)).zip(split(&mut self.slack, &lengths, 1));
        let index = &self.index;
        parallel::run(tasks.enumerate().collect(), 4, |(b, (((column, value), root), out))| {
            let s = b + 1;
            let around = &grid.around[s];
            let mut n = 0;
            for k in 0..ROWS {
                let r = s * ROWS + k;
                if index[r].iter().all(|i| *i == NONE) {
                    continue;
                }
                let (y, z) = (k as i32 % 8, k as i32 / 8);
                let c = coefficients(grid, s, y, z, open, mobility, factor);
                let beside = [
                    around.below(index, y, z),
                    around.above(index, y, z),
                    around.here(index, y - 1, z),
                    around.here(index, y + 1, z),
                    around.here(index, y, z - 1),
                    around.here(index, y, z + 1),
                ];
                for x in (0..8).filter(|&x| index[r][x] != NONE) {
                    for f in 0..WIDTH {
                        let at = WIDTH * n + f;
                        (column[at], value[at]) = match beside[f][x] {
                            NONE => (index[r][x], 0.0),
                            other => (other, -c[f][x]),
                        };
                    }
                    root[n] = (0..WIDTH).map(|f| c[f][x]).sum::<f64>().sqrt();
                    out[n] = slack(fractions.capacity[r][x], mass[r][x]);
                    n += 1;
                }
            }
        });
        let (root, column) = (&m.root, &m.column);
        const CHUNK: usize = 1024;
        parallel::run(m.value.chunks_mut(CHUNK * WIDTH).enumerate().collect(), 4, |(b, value)| {
            for (k, v) in value.iter_mut().enumerate() {
                let at = b * CHUNK * WIDTH + k;
                *v /= root[at / WIDTH] * root[column[at] as usize];
            }
        });
    }

    /// What the weight of columns makes of the pressure [m²/s²] in cells without slack, for a gravity [m/s²] whose largest part is `down` along an axis.
    fn columns(&self, grid: &Grid, [mass, capacity]: [&[Row]; 2], (axis, down): (usize, f64), cell: f64) -> Vec<f64> {
        let mut out = vec![0.0; self.slack.len()];
        let place = |c: [i32; 3]| {
            let slot = grid.slot(brick_of(c)) as usize;
            let p = place_of(c) as usize;
            let i = self.index[slot * ROWS + p / 8][p % 8];
            let (m, c) = (mass[slot * ROWS + p / 8][p % 8], capacity[slot * ROWS + p / 8][p % 8]);
            (i != NONE && self.slack[i as usize] == 0.0).then_some((i as usize, m / c))
        };
        for s in 1..grid.len() {
            for p in (0..512).filter(|p| self.index[s * ROWS + p / 8][p % 8] != NONE) {
                let mut c: [i32; 3] = [p as i32 & 7, p as i32 >> 3 & 7, p as i32 >> 6];
                (0..3).for_each(|k| c[k] += 8 * grid.bricks[s][k]);
                let by = down.signum() as i32;
                let mut above = c;
                above[axis] -= by;
                // Cells that hang together are summed up from the highest; in a period that is full none is.
                if place(above).is_some() {
                    continue;
                }
                let mut weight = 0.0;
                while let Some((i, m)) = place(c).filter(|(i, _)| out[*i] == 0.0) {
                    weight += m * down.abs() * cell;
                    out[i] = weight;
                    c[axis] += by;
                }
            }
        }
        out
    }

    /// Starts from the weight of columns where nothing was pressed on before, if that is better than nothing: a diagonally scaled start from 0
    /// frees one layer of cells an iteration.
    fn start(&mut self, grid: &Grid, filling: [&[Row]; 2], gravity: DVec3, cell: f64) {
        let axis = (0..3).max_by(|&a, &b| gravity[a].abs().total_cmp(&gravity[b].abs())).unwrap_or(2);
        if gravity[axis] == 0.0 || self.x.iter().any(|x| *x != 0.0) {
            return;
        }
        let mut x = self.columns(grid, filling, (axis, gravity[axis]), cell);
        x.iter_mut().zip(&self.matrix.base.root).for_each(|(x, r)| *x *= r);
        let mut product = vec![0.0; x.len()];
        let quadratic = self.matrix.apply(&x, &mut product);
        let linear: f64 = x.iter().zip(&self.b).map(|(x, b)| x * b).sum();
        if 0.5 * quadratic + linear < 0.0 {
            self.x = x;
        }
    }

    /// Solves with b = slack + flux, from the start value in `field`, into `field`.
    pub fn solve(&mut self, grid: &Grid, limits: Limits, load: Option<Load<'_>>, field: &mut Vec<Row>) -> Outcome {
        let (flux, tension) = (load.map(|l| l.flux), load.map_or(0.0, |l| l.tension));
        let n = self.slack.len();
        self.b.resize(n, 0.0);
        self.x.resize(n, 0.0);
        field.resize(grid.rows(), [0.0; 8]);
        let lengths: Vec<usize> = (1..grid.len()).map(|s| (self.start[s + 1] - self.start[s]) as usize).collect();
        let tasks = split(&mut self.b, &lengths, 1).into_iter().zip(split(&mut self.x, &lengths, 1));
        let (index, start, slack, root) = (&self.index, &self.start, &self.slack, &self.matrix.base.root);
        let from: &[Row] = field;
        parallel::run(tasks.enumerate().collect(), 4, |(b, (rhs, x0))| {
            let s = b + 1;
            for r in s * ROWS..(s + 1) * ROWS {
                for x in (0..8).filter(|&x| index[r][x] != NONE) {
                    let i = index[r][x] as usize;
                    let k = i - start[s] as usize;
                    rhs[k] = (slack[i] + flux.map_or(0.0, |f| f[r][x])) / root[i];
                    x0[k] = (from[r][x] + least(slack[i], tension)).max(0.0) * root[i];
                }
            }
        });
        if tension > 0.0 {
            // With x = p + t the bound is 0 again, and b becomes b − A t.
            let shift: Vec<f64> = slack.iter().zip(root).map(|(s, r)| least(*s, tension) * r).collect();
            let mut product = vec![0.0; n];
            self.matrix.apply(&shift, &mut product);
            self.b.iter_mut().zip(&product).for_each(|(b, p)| *b -= p);
        }
        if let Some(l) = load.filter(|l| l.tension == 0.0) {
            self.start(grid, l.filling, l.gravity, l.cell);
        }
        let problem = (&self.b[..], &self.matrix.base.root[..]);
        let outcome = if limits.error.is_finite() {
            if !self.shaped {
                let parents = self.coarsen(grid);
                self.cycle.shape(&self.matrix.base, parents);
                self.shaped = true;
            }
            let mut deep = Deep { cycle: &mut self.cycle, matrix: &self.matrix.base };
            solve_with(&self.matrix, problem, limits, &mut self.x, &mut self.work, &mut deep)
        } else {
            solve(&self.matrix, problem.0, problem.1, limits, &mut self.x, &mut self.work)
        };
        let (x, root, slack, index) = (&self.x, &self.matrix.base.root, &self.slack, &self.index);
        parallel::run(field.chunks_mut(ROWS).enumerate().skip(1).collect(), 4, |(s, rows)| {
            for (k, row) in rows.iter_mut().enumerate() {
                for (v, &i) in row.iter_mut().zip(&index[s * ROWS + k]) {
                    let i = i as usize;
                    *v = if i == NONE as usize { 0.0 } else { x[i] / root[i] - least(slack[i], tension) };
                }
            }
        });
        outcome
    }
}

/// By how much the unknown of a cell may be negative.
fn least(slack: f64, tension: f64) -> f64 {
    if slack <= 0.0 { tension } else { 0.0 }
}

/// dt times the divergence of the velocities of the flow in each cell, with open shares and velocities of solids. On the side where
/// a face has no mass the flux is that of the cell's other side.
pub fn flux(grid: &Grid, flow: &Flow, Room { fractions, open }: Room<'_>, dt: f64, cell: f64, out: &mut Vec<Row>) {
    out.resize(grid.rows(), [0.0; 8]);
    let tasks: Vec<_> = out.chunks_mut(ROWS).enumerate().skip(1).collect();
    parallel::run(tasks, 2, |(s, rows)| {
        let around = &grid.around[s];
        for (k, row) in rows.iter_mut().enumerate() {
            let (y, z) = (k as i32 % 8, k as i32 / 8);
            *row = [0.0; 8];
            if flow.carried.mass[s * ROWS + k].iter().all(|m| *m == 0.0) {
                continue;
            }
            for (a, (dx, dy, dz)) in [(1, 0, 0), (0, 1, 0), (0, 0, 1)].into_iter().enumerate() {
                let pair = |f: &Vectors| (around.here(&f[a], y, z), around.shifted(&f[a], dx, y + dy, z + dz));
                let (u, w, v) = (pair(&flow.velocity), pair(open), pair(&fractions.solid));
                let m = pair(&flow.carried.face);
                for x in 0..8 {
                    let low = w.0[x] * u.0[x] + (1.0 - w.0[x]) * v.0[x];
                    let high = w.1[x] * u.1[x] + (1.0 - w.1[x]) * v.1[x];
                    let known = |m: f64, w: f64| m > 0.0 || w == 0.0;
                    if known(m.0[x], w.0[x]) && known(m.1[x], w.1[x]) {
                        row[x] += dt * (high - low) / cell;
                    }
                }
            }
        }
    });
}
