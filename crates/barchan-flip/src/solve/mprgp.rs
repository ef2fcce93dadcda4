//! Modified proportioning with reduced gradient projections (MPRGP): min ½ xᵀA x + bᵀx with x ≥ 0.
//!
//! Dostál & Schöberl 2005, "Minimizing quadratic functions subject to bound constraints with the rate of convergence and finite
//! termination". A conjugate gradient method in the face of the free unknowns (x > 0), which leaves the face by a step along the projected
//! gradient where an unknown meets its bound, and enters another by a step along the chopped gradient β where the pull off the bounds
//! outweighs the free gradient φ.
//!
//! The matrix has unit diagonal ([`super::Scaled`]), which is the Jacobi preconditioner in the face; a better one may be given
//! ([`Precondition`]). Reads the matrix and b, writes x. Costs one product with the matrix an iteration, two for an expansion.

use super::scaled::{BLOCK, Operator};
use barchan_core::parallel;

/// When to stop.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// Largest violation of the optimality conditions, in units of b (a share of a cell's volume).
    pub tolerance: f64,
    /// Largest error of x, unscaled, as a preconditioner estimates it; infinite where none is given or none is asked for.
    pub error: f64,
    /// Most iterations.
    pub iterations: usize,
}

/// How a solve ended.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Outcome {
    /// Iterations taken.
    pub iterations: usize,
    /// Violation of the optimality conditions that is left.
    pub residual: f64,
}

/// Vectors that a solve needs, kept from one to the next.
#[derive(Clone, Debug, Default)]
pub struct Workspace {
    gradient: Vec<f64>,
    direction: Vec<f64>,
    product: Vec<f64>,
    improved: Vec<f64>,
}

/// What turns a gradient into a direction, in the face of the free unknowns: any symmetric positive matrix.
pub trait Precondition {
    /// z = B g where x > 0, else 0. Returns the largest z, unscaled: an estimate of the error of x.
    fn improve(&mut self, x: &[f64], g: &[f64], z: &mut [f64]) -> f64;
}

/// The identity.
struct Plain;

impl Precondition for Plain {
    fn improve(&mut self, x: &[f64], g: &[f64], z: &mut [f64]) -> f64 {
        zip(z, |i, z| *z = if x[i] > 0.0 { g[i] } else { 0.0 });
        0.0
    }
}

/// What the state of an iteration decides on.
#[derive(Clone, Copy, Default)]
struct Norms {
    /// φ̃·φ, the free gradient as far as the bounds let it go.
    free: f64,
    /// β·β, the pull off the bounds.
    chopped: f64,
    /// Largest violation.
    residual: f64,
}

/// Solves from the start value in `x` (scaled, ≥ 0); `b` is scaled; `root` are the square roots of the diagonal before scaling, by which
/// the violation is measured.
pub fn solve(
    a: &impl Operator,
    b: &[f64],
    root: &[f64],
    limits: Limits,
    x: &mut [f64],
    work: &mut Workspace,
) -> Outcome {
    solve_with(a, (b, root), limits, x, work, &mut Plain)
}

/// The same with a preconditioner.
pub fn solve_with(
    a: &impl Operator,
    (b, root): (&[f64], &[f64]),
    limits: Limits,
    x: &mut [f64],
    work: &mut Workspace,
    better: &mut impl Precondition,
) -> Outcome {
    let n = a.len();
    let Workspace { gradient: g, direction: p, product: ap, improved: z } = work;
    for v in [&mut *g, p, ap, z] {
        v.clear();
        v.resize(n, 0.0);
    }
    let step = a.step();
    a.apply(x, g);
    zip(g, |i, g| *g += b[i]);
    let mut error = better.improve(x, g, z);
    p.copy_from_slice(z);
    let mut iterations = 0;
    loop {
        let norms = norms(x, g, root, step);
        let good = norms.residual <= limits.tolerance && error <= limits.error;
        if good || iterations >= limits.iterations {
            return Outcome { iterations, residual: norms.residual };
        }
        iterations += 1;
        if norms.chopped <= norms.free {
            let curvature = a.apply(p, ap);
            let along = sum(n, |i| g[i] * p[i]);
            let cg = if curvature > 0.0 { along / curvature } else { f64::INFINITY };
            let feasible = least(n, |i| if p[i] > 0.0 { x[i] / p[i] } else { f64::INFINITY });
            if cg <= feasible {
                zip(x, |i, x| *x = (*x - cg * p[i]).max(0.0));
                zip(g, |i, g| *g -= cg * ap[i]);
                error = better.improve(x, g, z);
                let turn = sum(n, |i| z[i] * ap[i]) / curvature;
                zip(p, |i, p| *p = if x[i] > 0.0 { z[i] - turn * *p } else { 0.0 });
                continue;
            }
            // To the first bound on the way, then one step along the free gradient, projected.
            zip(g, |i, g| *g -= feasible * ap[i]);
            zip(x, |i, x| {
                let met = (*x - feasible * p[i]).max(0.0);
                *x = if met > 0.0 { (met - step * g[i]).max(0.0) } else { 0.0 };
            });
            a.apply(x, g);
            zip(g, |i, g| *g += b[i]);
        } else {
            zip(p, |i, p| *p = if x[i] > 0.0 { 0.0 } else { g[i].min(0.0) });
            let curvature = a.apply(p, ap);
            let along = sum(n, |i| g[i] * p[i]);
            let length = if curvature > 0.0 { along / curvature } else { step };
            zip(x, |i, x| *x -= length * p[i]);
            zip(g, |i, g| *g -= length * ap[i]);
        }
        error = better.improve(x, g, z);
        p.copy_from_slice(z);
    }
}

fn norms(x: &[f64], g: &[f64], root: &[f64], step: f64) -> Norms {
    let tasks: Vec<usize> = (0..x.len().div_ceil(BLOCK)).collect();
    let parts = parallel::run(tasks, 2, |block| {
        let mut out = Norms::default();
        for i in block * BLOCK..((block + 1) * BLOCK).min(x.len()) {
            let violation = if x[i] > 0.0 {
                out.free += g[i] * g[i].min(x[i] / step);
                g[i]
            } else {
                let pull = g[i].min(0.0);
                out.chopped += pull * pull;
                pull
            };
            out.residual = out.residual.max(violation.abs() * root[i]);
        }
        out
    });
    parts.into_iter().fold(Norms::default(), |a, b| Norms {
        free: a.free + b.free,
        chopped: a.chopped + b.chopped,
        residual: a.residual.max(b.residual),
    })
}

/// Writes every element of a vector, given its index.
fn zip(v: &mut [f64], write: impl Fn(usize, &mut f64) + Sync) {
    let tasks: Vec<(usize, &mut [f64])> = v.chunks_mut(BLOCK).enumerate().collect();
    parallel::run(tasks, 4, |(b, part)| {
        for (k, out) in part.iter_mut().enumerate() {
            write(b * BLOCK + k, out);
        }
    });
}

/// A sum over 0..n, block by block.
fn sum(n: usize, term: impl Fn(usize) -> f64 + Sync) -> f64 {
    let part = |b: usize| (b * BLOCK..((b + 1) * BLOCK).min(n)).map(&term).sum::<f64>();
    parallel::run((0..n.div_ceil(BLOCK)).collect(), 4, part).iter().sum()
}

/// The least of 0..n.
fn least(n: usize, term: impl Fn(usize) -> f64 + Sync) -> f64 {
    let part = |b: usize| (b * BLOCK..((b + 1) * BLOCK).min(n)).map(&term).fold(f64::INFINITY, f64::min);
    parallel::run((0..n.div_ceil(BLOCK)).collect(), 4, part).into_iter().fold(f64::INFINITY, f64::min)
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
