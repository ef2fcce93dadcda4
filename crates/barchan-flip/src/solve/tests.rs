use super::*;
use crate::solve::{LowRank, Scaled};
use barchan_core::rng::Random;

/// Solves min ½ xᵀA x + bᵀx, x ≥ 0 by pivoting on the active set (Murty's least-index rule, which ends for every P-matrix) and Gaussian
/// elimination.
fn dense(a: &[Vec<f64>], b: &[f64]) -> Vec<f64> {
    let n = b.len();
    let mut free = vec![false; n];
    for _ in 0..100_000 {
        let f: Vec<usize> = (0..n).filter(|&i| free[i]).collect();
        let m: Vec<Vec<f64>> = f.iter().map(|&i| f.iter().map(|&j| a[i][j]).collect()).collect();
        let y = eliminate(m, f.iter().map(|&i| -b[i]).collect());
        let mut x = vec![0.0; n];
        f.iter().zip(&y).for_each(|(&i, &v)| x[i] = v);
        let g = |i: usize| b[i] + (0..n).map(|j| a[i][j] * x[j]).sum::<f64>();
        let scale = 1e-12 * (1.0 + b.iter().fold(0.0, |m: f64, v| m.max(v.abs())));
        let wrong = (0..n).find(|&i| if free[i] { x[i] < 0.0 } else { g(i) < -scale });
        match wrong {
            Some(i) => free[i] = !free[i],
            None => return x,
        }
    }
    panic!("no end");
}

fn eliminate(mut m: Vec<Vec<f64>>, mut y: Vec<f64>) -> Vec<f64> {
    let n = y.len();
    for k in 0..n {
        let pivot = (k..n).max_by(|&i, &j| m[i][k].abs().total_cmp(&m[j][k].abs())).unwrap();
        m.swap(k, pivot);
        y.swap(k, pivot);
        for i in k + 1..n {
            let r = m[i][k] / m[k][k];
            for j in k..n {
                m[i][j] -= r * m[k][j];
            }
            y[i] -= r * y[k];
        }
    }
    for k in (0..n).rev() {
        y[k] = (y[k] - (k + 1..n).map(|j| m[k][j] * y[j]).sum::<f64>()) / m[k][k];
    }
    y
}

/// A random graph Laplacian, plus something on the diagonal where `grounded`.
fn laplacian(rng: &mut Random, n: usize, grounded: bool) -> Vec<Vec<f64>> {
    let mut a = vec![vec![0.0; n]; n];
    let join = |a: &mut Vec<Vec<f64>>, i: usize, j: usize, w: f64| {
        a[i][j] -= w;
        a[j][i] -= w;
        a[i][i] += w;
        a[j][j] += w;
    };
    for i in 1..n {
        join(&mut a, i, rng.index(i), rng.range(0.1, 3.0));
        if i > 1 {
            let j = rng.index(i);
            if j != i {
                join(&mut a, i, j, rng.range(0.1, 3.0));
            }
        }
    }
    if grounded {
        (0..n).for_each(|i| a[i][i] += if rng.uniform() < 0.3 { rng.range(0.0, 2.0) } else { 1e-3 });
    }
    a
}

fn scaled(a: &[Vec<f64>]) -> Scaled {
    let diagonal: Vec<f64> = (0..a.len()).map(|i| a[i][i]).collect();
    Scaled::new(&diagonal, a.len(), |i, push| {
        (0..a.len()).filter(|&j| j != i && a[i][j] != 0.0).for_each(|j| push(j as u32, a[i][j]));
    })
}

fn objective(a: &[Vec<f64>], b: &[f64], x: &[f64]) -> f64 {
    (0..b.len()).map(|i| x[i] * (b[i] + 0.5 * (0..b.len()).map(|j| a[i][j] * x[j]).sum::<f64>())).sum()
}

const EXACT: Limits = Limits { tolerance: 1e-13, error: f64::INFINITY, iterations: 20_000 };

/// Against the pivoting solver: largest difference over the largest value, and the violation left.
fn differs(a: &[Vec<f64>], operator: &impl Operator, root: &[f64], b: &[f64]) -> (f64, f64) {
    let exact = dense(a, b);
    let scaled_b: Vec<f64> = b.iter().zip(root).map(|(b, r)| b / r).collect();
    let mut x = vec![0.0; b.len()];
    let outcome = solve(operator, &scaled_b, root, EXACT, &mut x, &mut Workspace::default());
    let most = exact.iter().fold(0.0, |m: f64, v| m.max(v.abs()));
    let off = x.iter().zip(root).zip(&exact).fold(0.0, |m: f64, ((x, r), e)| m.max((x / r - e).abs()));
    (off / most.max(1e-300), outcome.residual)
}

#[test]
fn mprgp_finds_what_pivoting_on_the_active_set_finds() {
    for case in 0..200 {
        let mut rng = Random::new(11, case);
        let n = 2 + rng.index(59);
        let a = laplacian(&mut rng, n, case % 2 == 0);
        let mut b: Vec<f64> = (0..n).map(|_| rng.normal()).collect();
        if case % 2 == 1 {
            // A closed patch has a solution only where there is room in all: Σb ≥ 0.
            let short = b.iter().sum::<f64>().min(0.0) - 0.1;
            b.iter_mut().for_each(|b| *b -= short / n as f64);
        }
        let m = scaled(&a);
        let (off, residual) = differs(&a, &m, &m.root, &b);
        assert!(off < 1e-8 && residual <= 1e-10, "case {case}, n = {n}: {off:e}, {residual:e}");
    }
}

#[test]
fn mprgp_solves_with_terms_of_low_rank() {
    for case in 0..50 {
        let mut rng = Random::new(12, case);
        let n = 10 + rng.index(40);
        let a = laplacian(&mut rng, n, true);
        let base = scaled(&a);
        let terms: Vec<Vec<(u32, f64)>> = (0..6)
            .map(|_| {
                (0..n as u32).filter(|i| i % 3 == 0).map(|i| (i, 2.0 * rng.normal() / base.root[i as usize])).collect()
            })
            .collect();
        let mut whole = a.clone();
        for term in &terms {
            for &(i, u) in term {
                for &(j, v) in term {
                    whole[i as usize][j as usize] += u * v * base.root[i as usize] * base.root[j as usize];
                }
            }
        }
        let b: Vec<f64> = (0..n).map(|_| rng.normal()).collect();
        let root = base.root.clone();
        let (off, residual) = differs(&whole, &LowRank { base, terms }, &root, &b);
        assert!(off < 1e-8 && residual <= 1e-10, "case {case}, n = {n}: {off:e}, {residual:e}");
    }
}

#[test]
fn the_objective_never_rises() {
    for case in 0..20 {
        let mut rng = Random::new(13, case);
        let a = laplacian(&mut rng, 50, true);
        let m = scaled(&a);
        let b: Vec<f64> = (0..50).map(|_| rng.normal()).collect();
        let scaled_b: Vec<f64> = b.iter().zip(&m.root).map(|(b, r)| b / r).collect();
        let mut last: f64 = 0.0;
        for iterations in 1..60 {
            let mut x = vec![0.0; 50];
            solve(
                &m,
                &scaled_b,
                &m.root,
                Limits { tolerance: 0.0, error: f64::INFINITY, iterations },
                &mut x,
                &mut Workspace::default(),
            );
            let unscaled: Vec<f64> = x.iter().zip(&m.root).map(|(x, r)| x / r).collect();
            let value = objective(&a, &b, &unscaled);
            assert!(value <= last + 1e-12 * last.abs(), "case {case}, iteration {iterations}: {last} -> {value}");
            last = value;
        }
    }
}
