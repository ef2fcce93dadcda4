//! A preconditioner for problems over cells: one symmetric cycle through ever coarser grids.
//!
//! A bed a hundred cells deep passes its weight down in a hundred steps of a diagonally scaled solver, and its residual says little: one of 10⁻³ of a
//! cell's volume, of one sign all the way, is a pressure wrong by the whole weight. Coarser grids carry it at once, and what the cycle makes of a
//! residual is an estimate of the error itself.
//!
//! An unknown of a coarser grid stands for the 2³ of the finer one in its cube, as far as they are free (x > 0); those off the face count as p = 0. Its
//! coupling with a neighbour is that of the cells on the side between them, over twice the way; links to p = 0 are kept. One damped Jacobi sweep goes
//! before and one after the coarser grid. So B is symmetric and positive on the face, as MPRGP asks [Dostál & Schöberl 2005], and the same
//! for any number of threads. Terms of low rank are left out of B: conjugate gradients find them in as many iterations.
//!
//! Costs two products with the matrix and a half; the couplings are summed up anew where the face has changed.

use super::scaled::Scaled;
use barchan_core::parallel;

/// Damping of a Jacobi sweep, below 1 since eigenvalues of the scaled matrix reach 2. Measured on a heap: 0.7 takes a fifth more iterations.
const DAMPING: f64 = 0.9;
/// Sweeps on the coarsest grid.
const COARSEST: usize = 8;
/// Couplings of coarser grids over the sums of the finer ones': their cells are twice as far apart. Measured: 0.65 is as good, 0.4 and 1 take a fifth more.
const APART: f64 = 0.5;
/// Share of the unknowns that may have entered or left the face before the coarser grids are made anew.
const STALE: f64 = 0.02;
/// Neighbours of a cell.
const WIDTH: usize = 6;
/// Unknowns that a task works on.
const CHUNK: usize = 1024;

/// A coarser grid.
#[derive(Clone, Debug, Default)]
struct Level {
    /// Unknowns of the finer grid's unknowns.
    parent: Vec<u32>,
    /// Neighbours, itself where there is none.
    column: Vec<u32>,
    coupling: Vec<f64>,
    /// One over the diagonal, 0 where nothing is free.
    inverse: Vec<f64>,
    diagonal: Vec<f64>,
    x: Vec<f64>,
    b: Vec<f64>,
    r: Vec<f64>,
}

/// The coarser grids of a problem.
#[derive(Clone, Debug, Default)]
pub struct Cycle {
    levels: Vec<Level>,
    /// The face for which they were made.
    free: Vec<bool>,
    residual: Vec<f64>,
    change: Vec<f64>,
}

impl Cycle {
    /// Whether there are no coarser grids.
    pub fn is_empty(&self) -> bool {
        self.levels.is_empty()
    }

    /// Makes coarser grids for a matrix: `parents` are, from grid to grid, the unknowns of the coarser one, and how many it has.
    pub fn shape(&mut self, matrix: &Scaled, parents: Vec<(Vec<u32>, usize)>) {
        self.levels.resize_with(parents.len(), Level::default);
        self.free.clear();
        for (l, (parent, n)) in parents.into_iter().enumerate() {
            let (finer, rest) = self.levels.split_at_mut(l);
            let column: &[u32] = finer.last().map_or(&matrix.column, |f| &f.column);
            let level = &mut rest[0];
            level.column.clear();
            level.column.extend((0..n as u32).flat_map(|i| [i; WIDTH]));
            for (i, &own) in parent.iter().enumerate() {
                for f in 0..WIDTH {
                    let other = parent[column[i * WIDTH + f] as usize];
                    if other != own {
                        level.column[own as usize * WIDTH + f] = other;
                    }
                }
            }
            level.parent = parent;
            for v in [&mut level.inverse, &mut level.diagonal, &mut level.x, &mut level.b, &mut level.r] {
                v.clear();
                v.resize(n, 0.0);
            }
        }
    }

    /// Brings the coarser grids up to date with the face x > 0.
    pub fn follow(&mut self, matrix: &Scaled, x: &[f64]) {
        let n = x.len();
        let changed = self.free.iter().zip(x).filter(|(f, x)| **f != (**x > 0.0)).count();
        if self.free.len() == n && changed as f64 <= STALE * n as f64 {
            return;
        }
        self.free.clear();
        self.free.extend(x.iter().map(|x| *x > 0.0));
        for l in 0..self.levels.len() {
            let (finer, rest) = self.levels.split_at_mut(l);
            rest[0].gather(finer.last(), matrix, &self.free);
        }
    }

    /// z = B r on the face x > 0 and 0 off it, for scaled vectors. Returns the largest z without the scaling.
    pub fn apply(&mut self, matrix: &Scaled, x: &[f64], r: &[f64], z: &mut [f64]) -> f64 {
        let Cycle { levels, residual, change, .. } = self;
        let Some((first, coarser)) = levels.split_first_mut() else { return 0.0 };
        residual.resize(r.len(), 0.0);
        change.resize(r.len(), 0.0);
        each(z, |i, z| *z = if x[i] > 0.0 { DAMPING * r[i] } else { 0.0 });
        each(residual, |i, out| *out = if x[i] > 0.0 { (r[i] - matrix.row(i, z)) * matrix.root[i] } else { 0.0 });
        first.take(residual);
        first.cycle(coarser);
        let (parent, found): (&[u32], &[f64]) = (&first.parent, &first.x);
        each(z, |i, z| *z += if x[i] > 0.0 { matrix.root[i] * found[parent[i] as usize] } else { 0.0 });
        each(change, |i, out| *out = if x[i] > 0.0 { DAMPING * (r[i] - matrix.row(i, z)) } else { 0.0 });
        let change: &[f64] = change;
        each(z, |i, z| *z += change[i]);
        let largest = |part: &[usize]| part.iter().fold(0.0, |m: f64, &i| m.max(z[i].abs() / matrix.root[i]));
        let rows: Vec<usize> = (0..z.len()).collect();
        parallel::run(rows.chunks(CHUNK).collect(), 4, largest).into_iter().fold(0.0, f64::max)
    }
}

/// Writes every element of a vector, given its index.
fn each(v: &mut [f64], write: impl Fn(usize, &mut f64) + Sync) {
    let tasks: Vec<(usize, &mut [f64])> = v.chunks_mut(CHUNK).enumerate().collect();
    parallel::run(tasks, 2, |(b, part)| part.iter_mut().enumerate().for_each(|(k, out)| write(b * CHUNK + k, out)));
}

impl Level {
    /// Sums up the couplings of the finer grid: that of the matrix, as far as unknowns are free, or a level.
    fn gather(&mut self, finer: Option<&Level>, matrix: &Scaled, free: &[bool]) {
        self.coupling.clear();
        self.coupling.resize(self.column.len(), 0.0);
        // What holds an unknown to p = 0, first of all: the diagonal less the couplings.
        self.diagonal.fill(0.0);
        for (i, &own) in self.parent.iter().enumerate() {
            let (held, couplings): (f64, [f64; WIDTH]) = match finer {
                Some(f) => {
                    let c = std::array::from_fn(|k| f.coupling[i * WIDTH + k]);
                    (f.diagonal[i] - c.iter().sum::<f64>(), c)
                }
                None if free[i] => {
                    let c = std::array::from_fn(|k| {
                        let at = i * WIDTH + k;
                        let j = matrix.column[at] as usize;
                        if free[j] { -matrix.value[at] * matrix.root[i] * matrix.root[j] } else { 0.0 }
                    });
                    (matrix.root[i] * matrix.root[i] - c.iter().sum::<f64>(), c)
                }
                None => continue,
            };
            self.diagonal[own as usize] += held.max(0.0);
            let column: &[u32] = finer.map_or(&matrix.column, |f| &f.column);
            for k in 0..WIDTH {
                if self.parent[column[i * WIDTH + k] as usize] != own {
                    self.coupling[own as usize * WIDTH + k] += APART * couplings[k];
                }
            }
        }
        for i in 0..self.diagonal.len() {
            self.diagonal[i] += self.coupling[i * WIDTH..(i + 1) * WIDTH].iter().sum::<f64>();
            self.inverse[i] = if self.diagonal[i] > 0.0 { 1.0 / self.diagonal[i] } else { 0.0 };
        }
    }

    /// Takes over the finer grid's residual.
    fn take(&mut self, residual: &[f64]) {
        self.b.fill(0.0);
        for (r, &p) in residual.iter().zip(&self.parent) {
            self.b[p as usize] += r;
        }
    }

    /// Solves for x roughly, with the help of coarser grids.
    fn cycle(&mut self, coarser: &mut [Level]) {
        let Level { column, coupling, inverse, diagonal, x, b, r, .. } = self;
        let left = |i: usize, x: &[f64]| {
            let at = i * WIDTH..(i + 1) * WIDTH;
            let beside: f64 = column[at.clone()].iter().zip(&coupling[at]).map(|(j, c)| c * x[*j as usize]).sum();
            b[i] - diagonal[i] * x[i] + beside
        };
        each(x, |i, x| *x = DAMPING * inverse[i] * b[i]);
        let Some((next, coarser)) = coarser.split_first_mut() else {
            for _ in 1..COARSEST {
                let before: &[f64] = x;
                each(r, |i, r| *r = DAMPING * inverse[i] * left(i, before));
                x.iter_mut().zip(&*r).for_each(|(x, r)| *x += r);
            }
            return;
        };
        let before: &[f64] = x;
        each(r, |i, r| *r = left(i, before));
        next.take(r);
        next.cycle(coarser);
        x.iter_mut().zip(&next.parent).for_each(|(x, p)| *x += next.x[*p as usize]);
        let before: &[f64] = x;
        each(r, |i, r| *r = DAMPING * inverse[i] * left(i, before));
        x.iter_mut().zip(&*r).for_each(|(x, r)| *x += r);
    }
}
