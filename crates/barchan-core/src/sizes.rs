//! Distributions of grain size: radii of a grain's largest sphere, sampled by number.

use crate::math;
use crate::rng::Random;

/// How the radii of a population are distributed, **by number** (a sieve table is by mass, and is converted).
#[derive(Clone, Debug, PartialEq)]
pub enum SizeDistribution {
    /// All of one radius [m].
    Fixed(f64),
    /// Uniform between two radii [m].
    Uniform {
        /// Least radius [m].
        min: f64,
        /// Greatest radius [m].
        max: f64,
    },
    /// Normal, cut off on both sides.
    Normal {
        /// Mean before the cut [m].
        mean: f64,
        /// Standard deviation before the cut [m].
        sd: f64,
        /// Least radius [m].
        min: f64,
        /// Greatest radius [m].
        max: f64,
    },
    /// Log-normal, cut off on both sides.
    LogNormal {
        /// Median before the cut [m].
        median: f64,
        /// Standard deviation of ln r before the cut.
        sigma: f64,
        /// Least radius [m].
        min: f64,
        /// Greatest radius [m].
        max: f64,
    },
    /// Grading curve: **diameters** [m] in ascending order and the share of the mass that passes each, from 0 at the
    /// first to the whole at the last (1, or 100). Between two sieves the mass is spread evenly over ln d, which is the
    /// straight line one draws between the points on the usual logarithmic chart.
    Sieve(Vec<(f64, f64)>),
}

/// A distribution that cannot be sampled.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SizeError {
    /// A radius or diameter that is no length.
    #[error("size {0} m is not a length: give a positive, finite one")]
    Length(f64),
    /// Limits in the wrong order.
    #[error("the least radius, {min} m, exceeds the greatest, {max} m: swap them")]
    Limits {
        /// Least radius [m].
        min: f64,
        /// Greatest radius [m].
        max: f64,
    },
    /// A spread that is negative or not a number.
    #[error("a spread of {0} is impossible: give zero or a positive number")]
    Spread(f64),
    /// A sieve table that is no cumulative curve.
    #[error("sieve {row} (counted from 1) breaks the grading curve: {remedy}")]
    Sieve {
        /// Row of the table, from 1.
        row: usize,
        /// What to do about it.
        remedy: &'static str,
    },
}

/// Number of grains of a sieve class per unit of its mass (times 6/πρ): ∫ d⁻³ dm with dm even over ln d.
fn number_per_mass(a: f64, b: f64) -> f64 {
    let log = math::ln(b / a);
    // The quotient loses its digits as the class narrows to one size.
    if log < 1e-6 { a.powi(-3) } else { (a.powi(-3) - b.powi(-3)) / (3.0 * log) }
}

/// A normal deviate of that mean and spread, cut to [min, max].
fn cut_normal(rng: &mut Random, mean: f64, sd: f64, min: f64, max: f64) -> f64 {
    // NaN falls through to the clamp as well.
    if sd > 0.0 && max > min {
        // Draw where at least a third is kept: from the normal if its bulk lies within, else evenly over the window.
        let bulk = (min..=max).contains(&mean) && max - min > 2.0 * sd;
        let peak = mean.clamp(min, max);
        for _ in 0..10_000 {
            let x = if bulk { mean + sd * rng.normal() } else { rng.range(min, max) };
            let height = |x: f64| -0.5 * ((x - mean) / sd).powi(2);
            if (min..=max).contains(&x) && (bulk || rng.uniform() < math::exp(height(x) - height(peak))) {
                return x;
            }
        }
    }
    mean.max(min).min(max)
}

/// E[f(x)] of a cut normal, by Simpson's rule over its bulk.
fn cut_normal_mean(mean: f64, sd: f64, min: f64, max: f64, f: impl Fn(f64) -> f64) -> f64 {
    let peak = mean.max(min).min(max);
    let (a, b) = (min.max(peak - 12.0 * sd), max.min(peak + 12.0 * sd));
    if !(sd > 0.0 && b > a) {
        return f(peak);
    }
    let height = |x: f64| math::exp(0.5 * ((peak - mean).powi(2) - (x - mean).powi(2)) / (sd * sd));
    let n = 4000;
    let (mut sum, mut weight) = (0.0, 0.0);
    for i in 0..=n {
        let x = a + (b - a) * i as f64 / n as f64;
        let w = height(x) * if i == 0 || i == n { 1.0 } else { 2.0 + 2.0 * (i % 2) as f64 };
        sum += w * f(x);
        weight += w;
    }
    sum / weight
}

impl SizeDistribution {
    /// A radius [m].
    pub fn sample(&self, rng: &mut Random) -> f64 {
        match self {
            &SizeDistribution::Fixed(radius) => radius,
            &SizeDistribution::Uniform { min, max } => rng.range(min, max),
            &SizeDistribution::Normal { mean, sd, min, max } => cut_normal(rng, mean, sd, min, max),
            &SizeDistribution::LogNormal { median, sigma, min, max } => {
                math::exp(cut_normal(rng, math::ln(median), sigma, math::ln(min), math::ln(max))).max(min).min(max)
            }
            SizeDistribution::Sieve(table) => {
                let mut left = rng.uniform() * sieve_classes(table).map(|(_, _, number)| number).sum::<f64>();
                let share = rng.uniform();
                let mut diameter = table.last().map_or(0.0, |last| last.0);
                for (a, b, number) in sieve_classes(table) {
                    // Within a class the number goes as d⁻⁴ dd: d⁻³ is evenly spread.
                    diameter = math::powf(a.powi(-3) + (b.powi(-3) - a.powi(-3)) * share, -1.0 / 3.0).clamp(a, b);
                    left -= number;
                    if left < 0.0 {
                        break;
                    }
                }
                0.5 * diameter
            }
        }
    }

    /// Mean of the cubed radius, by number [m³]: the mean volume of the grains over that of a grain of radius 1 m.
    pub fn mean_cube(&self) -> f64 {
        match self {
            &SizeDistribution::Fixed(radius) => radius.powi(3),
            &SizeDistribution::Uniform { min, max } => 0.25 * (min + max) * (min * min + max * max),
            &SizeDistribution::Normal { mean, sd, min, max } => cut_normal_mean(mean, sd, min, max, |r| r.powi(3)),
            &SizeDistribution::LogNormal { median, sigma, min, max } => {
                // The cubes' bulk lies 3σ² above the number's: shift the weight there (an exact identity), or a wide
                // distribution's largest grains fall out of the quadrature.
                let (mean, low, high) = (math::ln(median), math::ln(min), math::ln(max));
                let up = cut_normal_weight(mean + 3.0 * sigma * sigma, sigma, low, high);
                let down = cut_normal_weight(mean, sigma, low, high);
                match sigma > 0.0 && high > low && up > 0.0 && down > 0.0 {
                    true => math::exp(3.0 * mean + 4.5 * sigma * sigma) * up / down,
                    false => cut_normal_mean(mean, sigma, low, high, |x| math::exp(3.0 * x)),
                }
            }
            SizeDistribution::Sieve(table) => {
                let mass = table.last().map_or(0.0, |l| l.1) - table.first().map_or(0.0, |f| f.1);
                mass / sieve_classes(table).map(|(_, _, number)| number).sum::<f64>() / 8.0
            }
        }
    }

    /// Mean volume of spheres of these radii [m³].
    pub fn mean_volume(&self) -> f64 {
        4.0 / 3.0 * std::f64::consts::PI * self.mean_cube()
    }

    /// Least radius that can occur [m].
    pub fn min(&self) -> f64 {
        match self {
            SizeDistribution::Fixed(radius) => *radius,
            SizeDistribution::Uniform { min, .. }
            | SizeDistribution::Normal { min, .. }
            | SizeDistribution::LogNormal { min, .. } => *min,
            SizeDistribution::Sieve(table) => 0.5 * sieve_classes(table).next().map_or(0.0, |c| c.0),
        }
    }

    /// Greatest radius that can occur [m].
    pub fn max(&self) -> f64 {
        match self {
            SizeDistribution::Fixed(radius) => *radius,
            SizeDistribution::Uniform { max, .. }
            | SizeDistribution::Normal { max, .. }
            | SizeDistribution::LogNormal { max, .. } => *max,
            SizeDistribution::Sieve(table) => 0.5 * sieve_classes(table).last().map_or(0.0, |c| c.1),
        }
    }

    /// Whether it can be sampled.
    pub fn check(&self) -> Result<(), SizeError> {
        let length = |x: f64| if x.is_finite() && x > 0.0 { Ok(()) } else { Err(SizeError::Length(x)) };
        let limits = |min: f64, max: f64| {
            length(min)?;
            length(max)?;
            if min <= max { Ok(()) } else { Err(SizeError::Limits { min, max }) }
        };
        let spread = |s: f64| if s.is_finite() && s >= 0.0 { Ok(()) } else { Err(SizeError::Spread(s)) };
        match self {
            &SizeDistribution::Fixed(radius) => length(radius),
            &SizeDistribution::Uniform { min, max } => limits(min, max),
            &SizeDistribution::Normal { mean: middle, sd: s, min, max }
            | &SizeDistribution::LogNormal { median: middle, sigma: s, min, max } => {
                length(middle)?;
                spread(s)?;
                limits(min, max)
            }
            SizeDistribution::Sieve(table) => check_sieve(table),
        }
    }
}

/// Probability mass of a normal within [min, max], by Simpson's rule, in units of the whole.
fn cut_normal_weight(mean: f64, sd: f64, min: f64, max: f64) -> f64 {
    let (a, b) = (((min - mean) / sd).max(-12.0), ((max - mean) / sd).min(12.0));
    if a.partial_cmp(&b) != Some(std::cmp::Ordering::Less) {
        return 0.0;
    }
    let n = 4000;
    let h = (b - a) / n as f64;
    let term = |i: usize| {
        let x = a + h * i as f64;
        math::exp(-0.5 * x * x) * if i == 0 || i == n { 1.0 } else { 2.0 + 2.0 * (i % 2) as f64 }
    };
    (0..=n).map(term).sum::<f64>() * h / 3.0 / std::f64::consts::TAU.sqrt()
}

/// Classes of a sieve table that hold mass: least and greatest diameter, relative number.
fn sieve_classes(table: &[(f64, f64)]) -> impl DoubleEndedIterator<Item = (f64, f64, f64)> + '_ {
    table.windows(2).filter(|w| w[1].1 > w[0].1).map(|w| {
        let (a, b) = (w[0].0, w[1].0);
        (a, b, (w[1].1 - w[0].1) * number_per_mass(a, b))
    })
}

fn check_sieve(table: &[(f64, f64)]) -> Result<(), SizeError> {
    let wrong = |row, remedy| Err(SizeError::Sieve { row, remedy });
    for (i, &(diameter, passing)) in table.iter().enumerate() {
        if !(diameter.is_finite() && diameter > 0.0) {
            return Err(SizeError::Length(diameter));
        }
        if !passing.is_finite() || i > 0 && (passing < table[i - 1].1 || diameter < table[i - 1].0) {
            return wrong(i + 1, "list diameters in ascending order with the share of mass passing, which never falls");
        }
    }
    match (table.first(), table.last()) {
        (Some(first), Some(last)) if last.1 > first.1 => match first.1 == 0.0 {
            true => Ok(()),
            false => wrong(1, "begin with the diameter that no mass passes (share 0)"),
        },
        _ => wrong(table.len().max(1), "give at least two sieves, between which some mass is kept"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(d: &SizeDistribution, n: usize) -> Vec<f64> {
        d.check().unwrap();
        let mut rng = Random::new(11, 0);
        (0..n).map(|_| d.sample(&mut rng)).collect()
    }

    #[test]
    fn samples_keep_their_limits_and_their_mean_cube() {
        let all = [
            SizeDistribution::Fixed(0.5),
            SizeDistribution::Uniform { min: 0.5, max: 1.5 },
            SizeDistribution::Normal { mean: 1.0, sd: 0.2, min: 0.7, max: 1.6 },
            SizeDistribution::Normal { mean: 1.0, sd: 0.2, min: 0.95, max: 1.05 },
            SizeDistribution::Normal { mean: 1.0, sd: 0.2, min: 1.8, max: 2.8 },
            SizeDistribution::LogNormal { median: 1.0, sigma: 0.3, min: 0.4, max: 2.5 },
            SizeDistribution::LogNormal { median: 1.0, sigma: 0.0, min: 0.4, max: 2.5 },
            SizeDistribution::Sieve(vec![(1.0, 0.0), (2.0, 0.3), (2.0, 0.5), (4.0, 1.0)]),
        ];
        for d in all {
            let radii = sample(&d, 200_000);
            assert!(radii.iter().all(|r| (d.min()..=d.max()).contains(r)), "{d:?}");
            let mean = radii.iter().map(|r| r.powi(3)).sum::<f64>() / radii.len() as f64;
            assert!((mean / d.mean_cube() - 1.0).abs() < 0.01, "{d:?}: {mean} {}", d.mean_cube());
        }
    }

    #[test]
    fn a_wide_log_normal_has_the_closed_form_mean_cube() {
        let d = SizeDistribution::LogNormal { median: 2.0, sigma: 1.5, min: 1e-30, max: 1e30 };
        let exact = 8.0 * (4.5f64 * 1.5 * 1.5).exp();
        assert!((d.mean_cube() / exact - 1.0).abs() < 1e-9);
    }

    #[test]
    fn the_mass_curve_of_a_sieved_sample_is_the_table() {
        let table = vec![(1e-3, 0.0), (2e-3, 20.0), (3e-3, 20.0), (4e-3, 65.0), (4e-3, 75.0), (8e-3, 100.0)];
        let d = SizeDistribution::Sieve(table.clone());
        let radii = sample(&d, 1_000_000);
        let total: f64 = radii.iter().map(|r| r.powi(3)).sum();
        let passing = |x: f64| 100.0 * radii.iter().filter(|&&r| 2.0 * r <= x).map(|r| r.powi(3)).sum::<f64>() / total;
        for (diameter, share) in
            [(1e-3, 0.0), (2e-3, 20.0), (3e-3, 20.0), (3.999_999e-3, 65.0), (4.000_001e-3, 75.0), (8e-3, 100.0)]
        {
            assert!((passing(diameter) - share).abs() < 0.6, "{diameter}: {} {share}", passing(diameter));
        }
        // Half of a class's mass passes the geometric mean of its sieves.
        assert!((passing((1e-3f64 * 2e-3).sqrt()) - 10.0).abs() < 0.3);
        assert!((passing((4e-3f64 * 8e-3).sqrt()) - 87.5).abs() < 0.6);
        assert!(table.iter().all(|t| t.0 >= 2.0 * d.min() && t.0 <= 2.0 * d.max()));
    }

    #[test]
    fn impossible_distributions_are_named() {
        assert_eq!(SizeDistribution::Fixed(0.0).check(), Err(SizeError::Length(0.0)));
        assert_eq!(
            SizeDistribution::Uniform { min: 2.0, max: 1.0 }.check(),
            Err(SizeError::Limits { min: 2.0, max: 1.0 })
        );
        let normal = SizeDistribution::Normal { mean: 1.0, sd: -1.0, min: 1.0, max: 2.0 };
        assert_eq!(normal.check(), Err(SizeError::Spread(-1.0)));
        for table in [
            vec![],
            vec![(1.0, 0.0)],
            vec![(1.0, 0.1), (2.0, 1.0)],
            vec![(2.0, 0.0), (1.0, 1.0)],
            vec![(1.0, 0.0), (2.0, 0.0)],
        ] {
            assert!(SizeDistribution::Sieve(table.clone()).check().is_err(), "{table:?}");
        }
        // Even unchecked, sampling ends.
        assert_eq!(
            SizeDistribution::Normal { mean: f64::NAN, sd: 1.0, min: 1.0, max: 2.0 }.sample(&mut Random::new(0, 0)),
            1.0
        );
    }
}
