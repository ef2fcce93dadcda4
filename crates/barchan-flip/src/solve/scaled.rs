//! Sparse symmetric matrices brought to unit diagonal, x̃ = D^{1/2} x, Ã = D^{−1/2} A D^{−1/2}.
//!
//! Bounds stay bounds under this scaling, and for a weakly diagonally dominant M-matrix ‖Ã‖ ≤ 2: the absolute values of the off-diagonal
//! part are the adjacency of a weighted graph normalised by its degrees. So a gradient step of length 1 never raises the objective.

use barchan_core::parallel;

/// Rows that one task works on; sums are taken per such block and added in the order of blocks, whatever the number of threads.
pub const BLOCK: usize = 2048;

/// What the bound-constrained solver asks of a matrix.
pub trait Operator: Sync {
    /// Unknowns.
    fn len(&self) -> usize;

    /// Whether there is none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// y = Ã x. Returns x·y, block by block.
    fn apply(&self, x: &[f64], y: &mut [f64]) -> f64;

    /// A step length along the gradient that never raises the objective: at most 2/‖Ã‖.
    fn step(&self) -> f64;
}

/// A matrix of unit diagonal in rows of equal width.
#[derive(Clone, Debug, Default)]
pub struct Scaled {
    /// Entries off the diagonal in each row; rows with fewer are padded by zeros on their own column.
    pub width: usize,
    /// Columns of the entries.
    pub column: Vec<u32>,
    /// Values of the entries.
    pub value: Vec<f64>,
    /// Square roots of the diagonal before scaling.
    pub root: Vec<f64>,
}

impl Scaled {
    /// From the diagonal and the entries off it, in the order of rows; each row's entries are given by `row(i, push)`.
    pub fn new(diagonal: &[f64], width: usize, mut row: impl FnMut(usize, &mut dyn FnMut(u32, f64))) -> Scaled {
        let root: Vec<f64> = diagonal.iter().map(|d| d.sqrt()).collect();
        let (mut column, mut value) = (Vec::new(), Vec::new());
        for i in 0..diagonal.len() {
            let mut count = 0;
            row(i, &mut |j, a| {
                column.push(j);
                value.push(a / (root[i] * root[j as usize]));
                count += 1;
            });
            assert!(count <= width, "row {i} has {count} entries, room is for {width}");
            column.resize((i + 1) * width, i as u32);
            value.resize((i + 1) * width, 0.0);
        }
        Scaled { width, column, value, root }
    }

    /// One row of Ã x.
    #[inline]
    pub(super) fn row(&self, i: usize, x: &[f64]) -> f64 {
        let entries = i * self.width..(i + 1) * self.width;
        let mut sum = x[i];
        for (&j, &a) in self.column[entries.clone()].iter().zip(&self.value[entries]) {
            sum += a * x[j as usize];
        }
        sum
    }
}

impl Operator for Scaled {
    fn len(&self) -> usize {
        self.root.len()
    }

    fn apply(&self, x: &[f64], y: &mut [f64]) -> f64 {
        let tasks: Vec<(usize, &mut [f64])> = y.chunks_mut(BLOCK).enumerate().collect();
        let dots = parallel::run(tasks, 2, |(b, rows)| {
            let mut dot = 0.0;
            for (k, out) in rows.iter_mut().enumerate() {
                let i = b * BLOCK + k;
                *out = self.row(i, x);
                dot += x[i] * *out;
            }
            dot
        });
        dots.iter().sum()
    }

    fn step(&self) -> f64 {
        1.0
    }
}

/// A sparse matrix and a few symmetric terms of rank one: Ã + Σ_k v_k v_kᵀ, which are never assembled. They are what free bodies add to
/// the pressure problem: six for each.
#[derive(Clone, Debug, Default)]
pub struct LowRank {
    /// The sparse part.
    pub base: Scaled,
    /// The vectors, scaled as the matrix is: v̂ = D^{−1/2} v, each as (row, value) in the order of rows.
    pub terms: Vec<Vec<(u32, f64)>>,
}

impl Operator for LowRank {
    fn len(&self) -> usize {
        self.base.len()
    }

    fn apply(&self, x: &[f64], y: &mut [f64]) -> f64 {
        let mut dot = self.base.apply(x, y);
        for term in &self.terms {
            let along: f64 = term.iter().map(|&(i, v)| v * x[i as usize]).sum();
            for &(i, v) in term {
                y[i as usize] += v * along;
            }
            dot += along * along;
        }
        dot
    }

    fn step(&self) -> f64 {
        // ‖Ã + V Vᵀ‖ ≤ 2 + trace of V Vᵀ.
        let trace: f64 = self.terms.iter().flatten().map(|&(_, v)| v * v).sum();
        2.0 / (2.0 + trace)
    }
}
