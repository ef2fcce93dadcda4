//! How contact forces are distributed.

use super::{Asked, Observer, View};
use barchan_core::solver::Partner;
use barchan_io::csv::Column;
use barchan_scene::measure::Measured;
use barchan_scene::{Scene, keys};

keys! {
    /// Histogram of the normal contact forces over their mean.
    pub struct ForceHistogramKeys = "write `force_histogram = {}`" {
        /// Number of bins.
        bins: u64 [; within(1.0, 1e5, "a histogram of {} bins is useless", "give a number of bins such as 60")] = 60,
        /// Largest force over the mean.
        max: f64 [NUMBER; positive("the upper end of a histogram")] = 6.0,
    }
}

impl Measured for ForceHistogramKeys {
    const KEY: &'static str = "force_histogram";
    const ABOUT: &'static str = "Histogram of the normal contact forces over their mean.";
}

impl Asked for ForceHistogramKeys {
    fn observer(&self, _: &Scene) -> Box<dyn Observer> {
        Box::new(ForceHistogram::new(self.bins as usize, self.max))
    }
}

/// Densities P(f) of normal and tangential forces between grains, each force over its mean, so that the curves of beds
/// of any size fall together [Radjai et al. 1996; Silbert et al. 2002].
///
/// A row holds the number of contacts, the two means, then the density in each bin; a density sums to one over the bins
/// and what lies beyond the last.
#[derive(Clone, Debug)]
pub struct ForceHistogram {
    bins: usize,
    largest: f64,
}

impl ForceHistogram {
    /// `bins` bins of equal width from 0 to `largest` times the mean force.
    pub fn new(bins: usize, largest: f64) -> ForceHistogram {
        ForceHistogram { bins, largest }
    }

    /// Mean of the forces [N] and their density over force/mean.
    fn density(&self, forces: &[f64]) -> (f64, Vec<f64>) {
        let mean = forces.iter().sum::<f64>() / forces.len().max(1) as f64;
        let width = self.largest / self.bins as f64;
        let mut density = vec![0.0; self.bins];
        if mean > 0.0 {
            let weight = 1.0 / (forces.len() as f64 * width);
            for f in forces {
                if let Some(bin) = density.get_mut((f / mean / width) as usize) {
                    *bin += weight;
                }
            }
        }
        (mean, density)
    }
}

impl Observer for ForceHistogram {
    fn columns(&self) -> Vec<Column> {
        let width = self.largest / self.bins as f64;
        let bins = |of: &str| -> Vec<Column> {
            (0..self.bins).map(|b| Column::new(format!("P({of}={:.4})", (b as f64 + 0.5) * width), "")).collect()
        };
        let head =
            vec![Column::new("contacts", ""), Column::new("mean normal", "N"), Column::new("mean tangential", "N")];
        [head, bins("fn"), bins("ft")].concat()
    }

    fn measure(&mut self, view: &View<'_>) -> Vec<f64> {
        // An attraction that outweighs the spring counts as no pressure.
        let (normal, tangential): (Vec<f64>, Vec<f64>) = (view.contacts().iter())
            .filter(|c| matches!(c.partner, Partner::Grain(_)))
            .map(|c| (c.normal_force.max(0.0), c.tangential_force.length()))
            .unzip();
        let ((mean_n, p_n), (mean_t, p_t)) = (self.density(&normal), self.density(&tangential));
        [vec![normal.len() as f64, mean_n, mean_t], p_n, p_t].concat()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn densities_are_scaled_by_the_mean_and_sum_to_one() {
        let forces: Vec<f64> = (1..=1000).map(|i| i as f64 * 3.0).collect();
        let (mean, density) = ForceHistogram::new(40, 4.0).density(&forces);
        assert!((mean - 1501.5).abs() < 1e-9);
        assert!((density.iter().sum::<f64>() * 0.1 - 1.0).abs() < 1e-12, "∫P df = 1");
        // Uniform forces: the density over f/mean is 1/2 up to 2 and nothing beyond.
        assert!(density[..19].iter().all(|p| (p - 0.5).abs() < 0.02) && density[21..].iter().all(|&p| p == 0.0));
    }

    #[test]
    fn no_contacts_give_zeros() {
        assert_eq!(ForceHistogram::new(3, 4.0).density(&[]), (0.0, vec![0.0; 3]));
    }
}
