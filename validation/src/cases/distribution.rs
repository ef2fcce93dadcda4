//! Distributions of contact forces, and the functions they are fitted by.

use crate::fit::{self, Bin, Curve};
use barchan_io::plot::{Mark, Series};

/// Fewest values in a bin that counts in a fit: with fewer, errors taken from the counts themselves favour low bins.
const LEAST: usize = 10;

/// Fit of Mueth et al. 1998 with the values of Silbert, Grest & Landry 2002 as quoted by the seed, table 7.2.
pub const SILBERT: [f64; 3] = [2.55, 0.65, 1.35];

/// P(f) = a (1 − b e^(−f²)) e^(−βf) [Mueth et al. 1998], by a, b, β.
pub fn mueth(f: f64, [a, b, beta]: &[f64; 3]) -> f64 {
    a * (1.0 - b * (-f * f).exp()) * (-beta * f).exp()
}

/// Gamma density by shape a and scale b [Longmore 2009, equation 7.3].
pub fn gamma(f: f64, [a, b]: &[f64; 2]) -> f64 {
    ((a - 1.0) * f.ln() - f / b - ln_gamma(*a) - a * b.ln()).exp()
}

/// A e^(−c f^α), by A, c, α.
pub fn stretched(f: f64, [a, c, alpha]: &[f64; 3]) -> f64 {
    a * (-c * f.powf(*alpha)).exp()
}

/// ln Γ(x) for x > 0, by Stirling's series after shifting x beyond 8: exact to 1e-10.
fn ln_gamma(x: f64) -> f64 {
    let (mut x, mut shift) = (x, 0.0);
    while x < 8.0 {
        shift -= x.ln();
        x += 1.0;
    }
    let series = 1.0 / (12.0 * x) - 1.0 / (360.0 * x.powi(3)) + 1.0 / (1260.0 * x.powi(5));
    shift + (x - 0.5) * x.ln() - x + 0.5 * (2.0 * std::f64::consts::PI).ln() + series
}

/// A sample's density in bins by Freedman and Diaconis.
pub struct Distribution {
    /// Forces over their mean.
    pub sample: Vec<f64>,
    /// From 0 up.
    pub bins: Vec<Bin>,
}

impl Distribution {
    pub fn new(sample: Vec<f64>) -> Distribution {
        let bins = fit::histogram(&sample, fit::freedman_diaconis(&sample));
        Distribution { sample, bins }
    }

    /// Fits a function to the bins from a force on, up to the first that holds too few values.
    pub fn fit<const N: usize>(
        &self,
        from: f64,
        guess: [f64; N],
        f: impl Fn(f64, &[f64; N]) -> f64,
    ) -> Option<Curve<N>> {
        let used = self.bins.iter().filter(|b| b.centre >= from).take_while(|b| b.count >= LEAST);
        let (points, errors): (Vec<[f64; 2]>, Vec<f64>) = used.map(|b| ([b.centre, b.density], b.error)).unzip();
        fit::curve(&points, &errors, guess, f)
    }

    /// Mean density between two forces.
    pub fn between(&self, low: f64, high: f64) -> f64 {
        let inside = self.sample.iter().filter(|f| (low..high).contains(*f)).count();
        inside as f64 / (self.sample.len() as f64 * (high - low))
    }

    /// Where the density is greatest, in a window of ±0.2 (cut off at 0).
    pub fn peak(&self) -> f64 {
        let at = |k: i32| 0.02 * f64::from(k);
        let density = |f: f64| self.between((f - 0.2).max(0.0), f + 0.2);
        (0..150).map(at).max_by(|a, b| density(*a).total_cmp(&density(*b))).unwrap_or(f64::NAN)
    }

    /// Standard deviation.
    pub fn spread(&self) -> f64 {
        let n = self.sample.len() as f64;
        let mean = self.sample.iter().sum::<f64>() / n;
        (self.sample.iter().map(|f| (f - mean).powi(2)).sum::<f64>() / n).sqrt()
    }

    /// The bins that hold something, as dots with their errors.
    pub fn dots(&self, name: &str) -> Series {
        let full = || self.bins.iter().filter(|b| b.count > 0);
        let (points, errors) = (full().map(|b| [b.centre, b.density]).collect(), full().map(|b| b.error).collect());
        Series { name: name.into(), points, errors, mark: Mark::Dots }
    }
}

/// A function as points from 0 to 6.
pub fn drawn(from: f64, f: impl Fn(f64) -> f64) -> Vec<[f64; 2]> {
    (1..=240).map(|k| 0.025 * f64::from(k)).filter(|x| *x >= from).map(|x| [x, f(x)]).filter(|p| p[1] > 1e-5).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use barchan_core::rng::Random;

    #[test]
    fn gamma_has_the_values_of_factorials_and_integrates_to_one() {
        for (x, exact) in [(1.0, 0.0), (5.0, 24f64.ln()), (0.5, 0.5 * std::f64::consts::PI.ln())] {
            assert!((ln_gamma(x) - exact).abs() < 1e-9, "{x}");
        }
        let sum: f64 = (0..40_000).map(|k| gamma((f64::from(k) + 0.5) * 1e-3, &[3.36, 0.3]) * 1e-3).sum();
        assert!((sum - 1.0).abs() < 1e-6);
    }

    #[test]
    fn an_exponential_sample_is_recognised() {
        let mut random = Random::new(11, 0);
        let d = Distribution::new((0..20_000).map(|_| -(1.0 - random.uniform()).ln()).collect());
        let tail = d.fit(1.0, [1.0, 1.0, 1.0], stretched).unwrap();
        assert!((tail.parameters[2].value - 1.0).abs() < 3.0 * tail.parameters[2].error, "{}", tail.parameters[2]);
        let whole = d.fit(0.0, [1.0, 0.0, 1.0], mueth).unwrap();
        assert!(whole.parameters[1].value.abs() < 0.1 && (whole.parameters[2].value - 1.0).abs() < 0.05);
        assert!((d.spread() - 1.0).abs() < 0.05 && d.peak() < 0.2);
    }
}
