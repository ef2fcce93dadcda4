//! Nonlinear least squares.

use super::Value;

/// A fitted function.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Curve<const N: usize> {
    /// Its parameters, in the order they were given.
    pub parameters: [Value; N],
    /// Share of the (weighted) variance of y that it explains.
    pub r2: f64,
    /// χ² over the degrees of freedom: about 1 where the function is right and the errors are known. Where no errors are
    /// given, the variance of the points about the curve [unit of y, squared].
    pub chi2: f64,
}

impl<const N: usize> Curve<N> {
    /// The parameters without their errors.
    pub fn values(&self) -> [f64; N] {
        self.parameters.map(|p| p.value)
    }
}

/// Fits `f(x, parameters)` to points [x, y] from a first guess, by Levenberg and Marquardt with numerical derivatives.
///
/// `errors` are the standard errors of y, one a point, or empty for equal weights. The parameters' standard errors come
/// from the curvature at the minimum; they are widened by √χ² where no errors are given or the points scatter more than
/// theirs say. Points where y or the error is not finite, or the error not positive, are left out. `None` where fewer
/// than N + 1 points remain or the points do not determine a parameter.
pub fn curve<const N: usize>(
    points: &[[f64; 2]],
    errors: &[f64],
    guess: [f64; N],
    f: impl Fn(f64, &[f64; N]) -> f64,
) -> Option<Curve<N>> {
    let weighted = !errors.is_empty();
    let given = points.iter().enumerate().map(|(k, p)| (p[0], p[1], if weighted { errors[k].powi(-2) } else { 1.0 }));
    let data: Vec<(f64, f64, f64)> = given.filter(|d| d.1.is_finite() && d.2.is_finite() && d.2 > 0.0).collect();
    if data.len() <= N {
        return None;
    }
    let misfit = |p: &[f64; N]| data.iter().map(|&(x, y, w)| w * (y - f(x, p)).powi(2)).sum::<f64>();
    let (mut best, mut chi2, mut damping) = (guess, misfit(&guess), 1e-3);
    if !chi2.is_finite() {
        return None;
    }
    // Quadratic convergence needs some ten rounds from a fair guess; valleys may take a hundred.
    for _ in 0..500 {
        let (curvature, slope) = normal_equations(&data, &best, &f);
        let mut damped = curvature;
        (0..N).for_each(|k| damped[k][k] *= 1.0 + damping);
        let step = inverse(&damped).map(|inv| inv.map(|row| row.iter().zip(&slope).map(|(a, b)| a * b).sum::<f64>()));
        let next = step.map(|s| std::array::from_fn::<f64, N, _>(|k| best[k] + s[k]));
        match next.map(|p| (p, misfit(&p))).filter(|(_, c)| *c <= chi2) {
            Some((p, c)) => {
                let done = chi2 - c <= 1e-12 * chi2;
                (best, chi2, damping) = (p, c, (damping * 0.3).max(1e-12));
                if done {
                    break;
                }
            }
            None if damping > 1e12 => break,
            None => damping *= 4.0,
        }
    }
    let freedom = (data.len() - N) as f64;
    let scale = if weighted { (chi2 / freedom).max(1.0) } else { chi2 / freedom };
    let covariance = inverse(&normal_equations(&data, &best, &f).0)?;
    let weights: f64 = data.iter().map(|d| d.2).sum();
    let mean = data.iter().map(|d| d.1 * d.2).sum::<f64>() / weights;
    let total: f64 = data.iter().map(|d| d.2 * (d.1 - mean).powi(2)).sum();
    let parameters = std::array::from_fn(|k| Value { value: best[k], error: (covariance[k][k] * scale).sqrt() });
    let r2 = if total > 0.0 { 1.0 - chi2 / total } else { 1.0 };
    parameters.iter().all(|p| p.value.is_finite() && p.error.is_finite()).then_some(Curve {
        parameters,
        r2,
        chi2: chi2 / freedom,
    })
}

/// JᵀWJ and JᵀW(y − f), J by central differences.
fn normal_equations<const N: usize>(
    data: &[(f64, f64, f64)],
    p: &[f64; N],
    f: &impl Fn(f64, &[f64; N]) -> f64,
) -> ([[f64; N]; N], [f64; N]) {
    let (mut curvature, mut slope) = ([[0.0; N]; N], [0.0; N]);
    for &(x, y, w) in data {
        let jacobian: [f64; N] = std::array::from_fn(|k| {
            // The cube root of the machine's precision balances truncation and rounding.
            let h = 6e-6 * p[k].abs().max(1e-3);
            let at = |s: f64| f(x, &std::array::from_fn(|j| if j == k { p[j] + s } else { p[j] }));
            (at(h) - at(-h)) / (2.0 * h)
        });
        let rest = w * (y - f(x, p));
        for (i, row) in curvature.iter_mut().enumerate() {
            slope[i] += jacobian[i] * rest;
            row.iter_mut().zip(&jacobian).for_each(|(c, j)| *c += w * jacobian[i] * j);
        }
    }
    (curvature, slope)
}

/// Inverse by elimination with the largest pivot, in units in which the diagonal is 1; none where rows depend on each other.
fn inverse<const N: usize>(m: &[[f64; N]; N]) -> Option<[[f64; N]; N]> {
    let unit: [f64; N] = std::array::from_fn(|k| m[k][k].sqrt());
    if unit.iter().any(|u| !(u.is_finite() && *u > 0.0)) {
        return None;
    }
    let mut left: [[f64; N]; N] = std::array::from_fn(|i| std::array::from_fn(|j| m[i][j] / (unit[i] * unit[j])));
    let mut right: [[f64; N]; N] = std::array::from_fn(|i| std::array::from_fn(|j| f64::from(i == j)));
    for column in 0..N {
        let pivot = (column..N).max_by(|&a, &b| left[a][column].abs().total_cmp(&left[b][column].abs()))?;
        left.swap(column, pivot);
        right.swap(column, pivot);
        let head = left[column][column];
        // Rounding leaves about 1e-16 of a dependent row.
        if head.is_nan() || head.abs() <= 1e-14 {
            return None;
        }
        left[column].iter_mut().chain(&mut right[column]).for_each(|x| *x /= head);
        let (row, image) = (left[column], right[column]);
        for other in (0..N).filter(|&i| i != column) {
            let share = left[other][column];
            (0..N).for_each(|j| left[other][j] -= share * row[j]);
            (0..N).for_each(|j| right[other][j] -= share * image[j]);
        }
    }
    Some(std::array::from_fn(|i| std::array::from_fn(|j| right[i][j] / (unit[i] * unit[j]))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fit::line;
    use barchan_core::rng::Random;

    #[test]
    fn a_straight_line_agrees_with_the_closed_form() {
        let points = [[0.0, 1.0], [1.0, 3.0], [2.0, 2.0], [3.0, 4.0], [5.0, 4.5]];
        let (exact, fit) = (line(&points).unwrap(), curve(&points, &[], [0.0, 0.0], |x, p| p[0] * x + p[1]).unwrap());
        for (a, b) in [(exact.slope, fit.parameters[0]), (exact.intercept, fit.parameters[1])] {
            assert!((a.value - b.value).abs() < 1e-7 && (a.error - b.error).abs() < 1e-6, "{a} {b}");
        }
        assert!((exact.r2 - fit.r2).abs() < 1e-9);
    }

    #[test]
    fn four_parameters_are_found_within_their_errors() {
        let truth = [2.5, 0.6, 1.3, 0.2];
        let f = |x: f64, p: &[f64; 4]| p[0] * (1.0 - p[1] * (-x * x).exp()) * (-p[2] * x).exp() + p[3];
        let mut random = Random::new(7, 0);
        let noisy: Vec<[f64; 2]> =
            (0..80).map(|k| 0.05 * k as f64).map(|x| [x, f(x, &truth) + 0.01 * random.normal()]).collect();
        let fit = curve(&noisy, &[0.01; 80], [1.0, 0.1, 1.0, 0.0], f).unwrap();
        for (p, t) in fit.parameters.iter().zip(truth) {
            assert!((p.value - t).abs() < 3.5 * p.error && p.error < 0.1, "{p} for {t}");
        }
        assert!((0.6..1.5).contains(&fit.chi2) && fit.r2 > 0.99, "χ² {}, R² {}", fit.chi2, fit.r2);
    }

    #[test]
    fn parameters_that_nothing_tells_apart_have_no_fit() {
        let points: Vec<[f64; 2]> = (0..10).map(|k| [k as f64, 3.0 * k as f64]).collect();
        assert_eq!(curve(&points, &[], [1.0, 1.0], |x, p| (p[0] + p[1]) * x), None);
        assert_eq!(curve(&points[..2], &[], [1.0, 1.0], |x, p| p[0] * x + p[1]), None, "too few points");
    }
}
