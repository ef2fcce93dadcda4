//! How the time of a step grows with the grains: the settled bed at sizes that differ by factors of four.

use super::Timing;
use barchan_core::math;

/// Sizes from 1,000 to at most `most` grains, each four times the one before.
pub fn sizes(most: usize) -> Vec<usize> {
    std::iter::successors(Some(1_000), |n: &usize| n.checked_mul(4)).take_while(|&n| n <= most.max(1_000)).collect()
}

/// Timings of one case at several sizes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scaling {
    /// Grains and seconds a step, in order.
    pub points: Vec<(usize, f64)>,
}

impl Scaling {
    /// Adds a size.
    pub fn add(&mut self, timing: &Timing) {
        self.points.push((timing.grains, timing.seconds / timing.steps as f64));
    }

    /// The line through the logarithms by least squares: seconds a step = factor · grains^exponent. An exponent of 1 is
    /// a cost that grows with the grains and no faster. None with fewer than two sizes.
    pub fn fit(&self) -> Option<(f64, f64)> {
        let n = self.points.len() as f64;
        let logs: Vec<(f64, f64)> = self.points.iter().map(|&(g, s)| (math::ln(g as f64), math::ln(s))).collect();
        let mean = |f: &dyn Fn(&(f64, f64)) -> f64| logs.iter().map(f).sum::<f64>() / n;
        let (x, y) = (mean(&|p| p.0), mean(&|p| p.1));
        let spread = mean(&|p| (p.0 - x).powi(2));
        if self.points.len() < 2 || spread == 0.0 {
            return None;
        }
        let exponent = mean(&|p| (p.0 - x) * (p.1 - y)) / spread;
        Some((math::exp(y - exponent * x), exponent))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_go_up_by_four_and_stop_at_the_most() {
        assert_eq!(sizes(256_000), [1_000, 4_000, 16_000, 64_000, 256_000]);
        assert_eq!(sizes(63_999), [1_000, 4_000, 16_000]);
        assert_eq!(sizes(1), [1_000]);
    }

    #[test]
    fn a_power_law_is_found_again() {
        let points = sizes(64_000).into_iter().map(|n| (n, 3e-8 * (n as f64).powf(1.07))).collect();
        let (factor, exponent) = Scaling { points }.fit().unwrap();
        assert!((exponent - 1.07).abs() < 1e-12 && (factor / 3e-8 - 1.0).abs() < 1e-9);
        assert_eq!(Scaling { points: vec![(1000, 1.0)] }.fit(), None);
    }
}
