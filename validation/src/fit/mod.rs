//! Fits and estimates that cases share. All take plain slices and give plain numbers; none knows of a world.
//!
//! | function | gives |
//! |---|---|
//! | [`line`] | straight line by least squares, with standard errors |
//! | [`robust_line`] | straight line by medians of slopes (Theil–Sen), for points of which some are wrong |
//! | [`curve`] | parameters of any function (up to four) by Levenberg–Marquardt, with standard errors and R² |
//! | [`block_mean`] | mean of a correlated series with its standard error |
//! | [`histogram`], [`freedman_diaconis`] | density of a sample with Poisson errors |
//! | [`kaplan_meier`] | survival function of a sample, part of which may be censored |
//!
//! `None` means that the points do not determine the answer.

mod curve;
mod sample;

pub use curve::{Curve, curve};
pub use sample::{Bin, Survival, freedman_diaconis, histogram, kaplan_meier};

/// A number with its standard error, in the same unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Value {
    /// The number.
    pub value: f64,
    /// Its standard error.
    pub error: f64,
}

impl std::fmt::Display for Value {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Two digits of the error, as many of the number.
        let digits = if self.error > 0.0 { (1.0 - self.error.log10().floor()).clamp(0.0, 9.0) as usize } else { 4 };
        write!(out, "{:.digits$} ± {:.digits$}", self.value, self.error)
    }
}

/// A straight line y = slope x + intercept.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Line {
    /// Slope [unit of y over unit of x].
    pub slope: Value,
    /// Value at x = 0 [unit of y].
    pub intercept: Value,
    /// Share of the variance that the line explains.
    pub r2: f64,
}

/// Straight line through points [x, y] by least squares; errors are those of the scatter about it.
///
/// Needs three points of two or more different x.
pub fn line(points: &[[f64; 2]]) -> Option<Line> {
    let n = points.len() as f64;
    let [mx, my] = [0, 1].map(|k| points.iter().map(|p| p[k]).sum::<f64>() / n);
    let sum = |f: &dyn Fn(&[f64; 2]) -> f64| points.iter().map(f).sum::<f64>();
    let sxx = sum(&|p| (p[0] - mx).powi(2));
    if points.len() < 3 || sxx <= 0.0 {
        return None;
    }
    let slope = sum(&|p| (p[0] - mx) * (p[1] - my)) / sxx;
    let intercept = my - slope * mx;
    let (rest, total) = (sum(&|p| (p[1] - intercept - slope * p[0]).powi(2)), sum(&|p| (p[1] - my).powi(2)));
    let variance = rest / (n - 2.0);
    Some(Line {
        slope: Value { value: slope, error: (variance / sxx).sqrt() },
        intercept: Value { value: intercept, error: (variance * (1.0 / n + mx * mx / sxx)).sqrt() },
        r2: if total > 0.0 { 1.0 - rest / total } else { 1.0 },
    })
}

/// Straight line through points [x, y] by the median of the slopes of all pairs [Theil 1950; Sen 1968]: up to 29 % of the
/// points may be anything.
///
/// The slope's error is half the width of Sen's interval of 68 % confidence; that of the intercept is the spread of the
/// residuals (1.4826 times their median deviation) over √n. Time and memory grow as n².
pub fn robust_line(points: &[[f64; 2]]) -> Option<Line> {
    let n = points.len();
    let pairs = points.iter().enumerate().flat_map(|(k, a)| points[k + 1..].iter().map(move |b| (a, b)));
    let mut slopes: Vec<f64> =
        pairs.filter(|(a, b)| a[0] != b[0]).map(|(a, b)| (b[1] - a[1]) / (b[0] - a[0])).collect();
    if n < 3 || slopes.is_empty() {
        return None;
    }
    slopes.sort_by(f64::total_cmp);
    let slope = quantile(&slopes, 0.5);
    // Kendall's statistic has the variance n (n − 1)(2n + 5)/18; one deviation either way bounds the slope.
    let spread = (n as f64 * (n as f64 - 1.0) * (2.0 * n as f64 + 5.0) / 18.0).sqrt() / slopes.len() as f64;
    let ends = [0.5 - 0.5 * spread, 0.5 + 0.5 * spread].map(|q| quantile(&slopes, q.clamp(0.0, 1.0)));
    let mut rest: Vec<f64> = points.iter().map(|p| p[1] - slope * p[0]).collect();
    rest.sort_by(f64::total_cmp);
    let intercept = quantile(&rest, 0.5);
    let mut off: Vec<f64> = rest.iter().map(|r| (r - intercept).abs()).collect();
    off.sort_by(f64::total_cmp);
    let mean = points.iter().map(|p| p[1]).sum::<f64>() / n as f64;
    let total: f64 = points.iter().map(|p| (p[1] - mean).powi(2)).sum();
    let left: f64 = rest.iter().map(|r| (r - intercept).powi(2)).sum();
    Some(Line {
        slope: Value { value: slope, error: 0.5 * (ends[1] - ends[0]) },
        intercept: Value { value: intercept, error: 1.4826 * quantile(&off, 0.5) / (n as f64).sqrt() },
        r2: if total > 0.0 { 1.0 - left / total } else { 1.0 },
    })
}

/// The q-th quantile of sorted numbers, linear between them.
fn quantile(sorted: &[f64], q: f64) -> f64 {
    let at = q * (sorted.len() - 1) as f64;
    let (low, share) = (at.floor() as usize, at.fract());
    sorted[low] + share * (sorted[(low + 1).min(sorted.len() - 1)] - sorted[low])
}

/// Mean of a series of equally spaced readings, with a standard error that holds though neighbours are correlated
/// [Flyvbjerg & Petersen 1989].
///
/// Neighbours are averaged in pairs again and again while eight blocks remain, and the largest error estimate of all
/// levels is given: a cautious one for short series. Needs two readings.
pub fn block_mean(series: &[f64]) -> Option<Value> {
    if series.len() < 2 {
        return None;
    }
    let mean = |v: &[f64]| v.iter().sum::<f64>() / v.len() as f64;
    let error = |v: &[f64]| {
        let (m, n) = (mean(v), v.len() as f64);
        (v.iter().map(|x| (x - m).powi(2)).sum::<f64>() / (n * (n - 1.0))).sqrt()
    };
    let (mut blocks, mut largest) = (series.to_vec(), error(series));
    while blocks.len() >= 16 {
        blocks = blocks.chunks_exact(2).map(|p| 0.5 * (p[0] + p[1])).collect();
        largest = largest.max(error(&blocks));
    }
    Some(Value { value: mean(series), error: largest })
}

#[cfg(test)]
mod tests {
    use super::*;
    use barchan_core::rng::Random;

    #[test]
    fn a_line_has_the_textbook_errors() {
        // Worked by hand: slope 0.8, rest 2.4 of 8 about it over two degrees of freedom, Σ(x − x̄)² = 5.
        let fit = line(&[[0.0, 1.0], [1.0, 3.0], [2.0, 2.0], [3.0, 4.0]]).unwrap();
        assert!((fit.slope.value - 0.8).abs() < 1e-12 && (fit.intercept.value - 1.3).abs() < 1e-12);
        assert!((fit.slope.error - (0.9f64 / 5.0).sqrt()).abs() < 1e-12);
        assert!((fit.intercept.error - (0.9f64 * (0.25 + 2.25 / 5.0)).sqrt()).abs() < 1e-12);
        assert!((fit.r2 - 0.64).abs() < 1e-12);
        assert_eq!(line(&[[1.0, 2.0], [1.0, 3.0], [1.0, 4.0]]), None, "all at one x");
    }

    #[test]
    fn the_robust_line_ignores_a_fifth_of_wild_points() {
        let mut random = Random::new(3, 0);
        let mut points: Vec<[f64; 2]> =
            (0..50).map(|k| [k as f64, 2.0 - 0.5 * k as f64 + 0.1 * random.normal()]).collect();
        points.iter_mut().step_by(5).for_each(|p| p[1] += 40.0);
        let fit = robust_line(&points).unwrap();
        assert!((fit.slope.value + 0.5).abs() < 4.0 * fit.slope.error && fit.slope.error < 0.01, "{:?}", fit.slope);
        assert!((fit.intercept.value - 2.0).abs() < 0.3, "{:?}", fit.intercept);
        assert!((line(&points).unwrap().intercept.value - 2.0).abs() > 3.0, "least squares do not");
    }

    #[test]
    fn the_error_of_a_mean_counts_correlated_readings_once() {
        // Each reading ten times: the error is that of a tenth of the readings.
        let mut random = Random::new(5, 0);
        let values: Vec<f64> = (0..400).map(|_| 3.0 + random.normal()).collect();
        let slow: Vec<f64> = values.iter().flat_map(|v| [*v; 10]).collect();
        let fit = block_mean(&slow).unwrap();
        assert!((fit.value - 3.0).abs() < 0.2 && (0.04..0.09).contains(&fit.error), "{fit}");
        let plain = block_mean(&values).unwrap();
        assert!((0.04..0.09).contains(&plain.error), "{plain}");
    }

    #[test]
    fn numbers_are_written_with_two_digits_of_their_error() {
        assert_eq!(Value { value: 1.23456, error: 0.0321 }.to_string(), "1.235 ± 0.032");
        assert_eq!(Value { value: 81.0, error: 12.0 }.to_string(), "81 ± 12");
    }
}
