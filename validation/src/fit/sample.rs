//! Distributions of samples.

use super::quantile;

/// Bin width 2 IQR n^(−1/3), in the unit of the sample [Freedman & Diaconis 1981]; 0 for fewer than two values or where
/// half of them are equal.
pub fn freedman_diaconis(sample: &[f64]) -> f64 {
    if sample.len() < 2 {
        return 0.0;
    }
    let mut sorted = sample.to_vec();
    sorted.sort_by(f64::total_cmp);
    2.0 * (quantile(&sorted, 0.75) - quantile(&sorted, 0.25)) / (sample.len() as f64).cbrt()
}

/// A bin of a histogram.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bin {
    /// Its middle [unit of the sample].
    pub centre: f64,
    /// Density there [1 / unit of the sample]; over all bins it integrates to 1.
    pub density: f64,
    /// Standard error of the density: √count values more or less; an empty bin has that of one value.
    pub error: f64,
    /// Values in the bin.
    pub count: usize,
}

/// Density of values of 0 and above in bins of a width from 0 to beyond the largest; lower values are left out.
///
/// It is the finite difference of one minus the survival function ([`kaplan_meier`] of values all seen), which is how
/// Longmore 2009, 7.2.1 gets his. No width, no bins.
pub fn histogram(sample: &[f64], width: f64) -> Vec<Bin> {
    let counted = || sample.iter().filter(|x| **x >= 0.0 && x.is_finite());
    let largest = counted().fold(0.0, |a: f64, b| a.max(*b));
    if width <= 0.0 || !width.is_finite() || counted().next().is_none() {
        return vec![];
    }
    let mut counts = vec![0usize; (largest / width) as usize + 1];
    counted().for_each(|x| counts[(x / width) as usize] += 1);
    let weight = 1.0 / (counted().count() as f64 * width);
    let bin = |(k, &count): (usize, &usize)| Bin {
        centre: (k as f64 + 0.5) * width,
        density: count as f64 * weight,
        error: (count.max(1) as f64).sqrt() * weight,
        count,
    };
    counts.iter().enumerate().map(bin).collect()
}

/// A step of a survival function.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Survival {
    /// Where it steps down [unit of the sample].
    pub at: f64,
    /// Share of the values that lie above.
    pub above: f64,
    /// Standard error of that share, by Greenwood's formula.
    pub error: f64,
}

/// Survival function S = ∏ (1 − dᵢ/nᵢ) of values [Kaplan & Meier 1958], with a flag each: true, the value was seen;
/// false, it is only known to be larger (a force beyond the range of an instrument, a grain that left before).
pub fn kaplan_meier(sample: &[(f64, bool)]) -> Vec<Survival> {
    let mut sorted = sample.to_vec();
    sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (mut above, mut greenwood) = (1.0, 0.0);
    let mut steps = Vec::new();
    let mut first = 0;
    while first < sorted.len() {
        let at = sorted[first].0;
        let group = sorted[first..].iter().take_while(|s| s.0 == at);
        let (seen, all) = group.fold((0.0, 0), |(d, n), s| (d + f64::from(u8::from(s.1)), n + 1));
        let at_risk = (sorted.len() - first) as f64;
        if seen > 0.0 {
            above *= 1.0 - seen / at_risk;
            if at_risk > seen {
                greenwood += seen / (at_risk * (at_risk - seen));
            }
            steps.push(Survival { at, above, error: above * f64::sqrt(greenwood) });
        }
        first += all;
    }
    steps
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_survival_of_a_worked_example() {
        // Five values, the second only known from below: 1 − 1/5, then × (1 − 1/3), × (1 − 1/2), × 0.
        let steps = kaplan_meier(&[(3.0, true), (1.0, true), (2.0, false), (5.0, true), (4.0, true)]);
        let expected = [(1.0, 0.8), (3.0, 0.8 * 2.0 / 3.0), (4.0, 0.8 / 3.0), (5.0, 0.0)];
        for (s, (at, above)) in steps.iter().zip(expected) {
            assert!(s.at == at && (s.above - above).abs() < 1e-12, "{s:?}");
        }
        assert!((steps[0].error - (0.8f64 * 0.2 / 5.0).sqrt()).abs() < 1e-12, "binomial before the first censoring");
        assert_eq!(steps.len(), 4);
    }

    #[test]
    fn a_histogram_is_the_difference_of_the_survival_function() {
        let sample: Vec<f64> = (0..500).map(|k| (k as f64 * 0.618_034).fract().powi(2) * 3.0).collect();
        let steps = kaplan_meier(&sample.iter().map(|x| (*x, true)).collect::<Vec<_>>());
        let above = |x: f64| steps.iter().rev().find(|s| s.at < x).map_or(1.0, |s| s.above);
        let bins = histogram(&sample, 0.25);
        for b in &bins {
            let slope = (above(b.centre - 0.125) - above(b.centre + 0.125)) / 0.25;
            assert!((slope - b.density).abs() < 1e-9, "{b:?} {slope}");
        }
        assert!((bins.iter().map(|b| b.density).sum::<f64>() * 0.25 - 1.0).abs() < 1e-12, "∫P = 1");
        assert!((bins[0].error / bins[0].density - 1.0 / (bins[0].count as f64).sqrt()).abs() < 1e-12);
    }

    #[test]
    fn freedman_diaconis_of_a_uniform_sample() {
        let sample: Vec<f64> = (0..=1000).map(|k| k as f64 / 1000.0).collect();
        assert!((freedman_diaconis(&sample) - 2.0 * 0.5 / 1001f64.cbrt()).abs() < 1e-12);
        assert_eq!(freedman_diaconis(&[1.0]), 0.0);
    }
}
