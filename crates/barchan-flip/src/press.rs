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
use crate::parcels::split;
use crate::rigid::Rigids;
use crate::solve::{Limits, LowRank, Operator, Outcome, Workspace, solve};
use barchan_core::parallel;

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

    /// Solves with b = slack + `flux`, from the start value in `field`, into `field`. Cells without slack may go down to −`tension`.
    pub fn solve(
        &mut self,
        grid: &Grid,
        limits: Limits,
        flux: Option<&[Row]>,
        tension: f64,
        field: &mut Vec<Row>,
    ) -> Outcome {
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
        let outcome = solve(&self.matrix, &self.b, &self.matrix.base.root, limits, &mut self.x, &mut self.work);
        let (x, root, slack) = (&self.x, &self.matrix.base.root, &self.slack);
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
