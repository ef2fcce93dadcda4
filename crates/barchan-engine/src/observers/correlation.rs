//! How far one force knows of another.

use super::{Asked, Chosen, Observer, OnSphere, View};
use barchan_core::neighbours::{Ball, Hits, Neighbours};
use barchan_io::csv::Column;
use barchan_scene::check::{Check, corners};
use barchan_scene::measure::Measured;
use barchan_scene::{Region, Scene, keys};
use glam::DVec3;

keys! {
    /// Correlation of the forces on two spheres a distance apart.
    pub struct ForceCorrelationKeys = "write `force_correlation = {}`" {
        /// Number of bins.
        bins: u64 [; within(1.0, 1e5, "a histogram of {} bins is useless", "give a number of bins such as 60")] = 50,
        /// Largest distance, in mean diameters.
        reach: f64 [NUMBER; positive("the reach of a correlation")] = 5.0,
        /// Only spheres in this region; left out: all.
        within: Option<Region> [; help("say where: `{ box = { min, max } }`, `{ cylinder = … }` or `{ sphere = … }`")],
        /// Thickness of the layers whose mean forces are the measure of their own [m]; left out: one mean for all.
        layer: Option<f64> [LENGTH; positive("the thickness of a layer")],
    }
}

impl Measured for ForceCorrelationKeys {
    const KEY: &'static str = "force_correlation";
    const ABOUT: &'static str = "Correlation of the forces on two spheres a distance apart.";

    fn check_all(&self, c: &mut Check, path: &str) {
        self.within.iter().for_each(|region| corners(c, &format!("{path}.within"), region));
    }
}

impl Asked for ForceCorrelationKeys {
    fn observer(&self, _: &Scene) -> Box<dyn Observer> {
        Box::new(ForceCorrelation::new(self.bins as usize, self.reach, Chosen::new(&self.within, self.layer)))
    }
}

/// Correlation F(r) = ⟨fᵢ fⱼ⟩ of the normal forces on two spheres of different grains whose centres are r apart
/// [Longmore 2009, equation 7.4; Silbert et al. 2002]: 1 where they know nothing of each other.
///
/// The force on a sphere is the sum of the normal forces of its contacts, walls included, over the mean of all spheres that
/// have any. A row: such spheres, their mean diameter [m], then F in each bin; 0 where no pair is so far apart.
#[derive(Clone, Debug)]
pub struct ForceCorrelation {
    bins: usize,
    reach: f64,
    chosen: Chosen,
}

impl ForceCorrelation {
    /// In `bins` bins of equal width up to `reach` mean diameters.
    pub fn new(bins: usize, reach: f64, chosen: Chosen) -> ForceCorrelation {
        ForceCorrelation { bins, reach, chosen }
    }

    /// F in each bin. `period` is 0 in open directions [m].
    fn correlate(&self, spheres: &[OnSphere], diameter: f64, min: DVec3, period: DVec3) -> Vec<f64> {
        // Two balls meet where their centres are within twice their reach of each other.
        let half = 0.5 * self.reach * diameter;
        let balls: Vec<Ball> = spheres.iter().map(|s| [s.centre.x, s.centre.y, s.centre.z, half]).collect();
        let mut grid = Neighbours::default();
        let all: Vec<u32> = (0..balls.len() as u32).collect();
        grid.build(&all, &balls[..], min, period);
        let (mut products, mut pairs) = (vec![0.0; self.bins], vec![0u64; self.bins]);
        let mut hits = Hits::default();
        for (i, s) in spheres.iter().enumerate() {
            grid.pairs_of(i as u32, &balls[..], &mut hits);
            for &(j, square) in hits.pairs() {
                let other = &spheres[j as usize];
                let bin = (square.sqrt() / (2.0 * half) * self.bins as f64) as usize;
                if other.grain != s.grain && bin < self.bins {
                    products[bin] += s.normal * other.normal;
                    pairs[bin] += 1;
                }
            }
        }
        products.iter().zip(&pairs).map(|(p, n)| p / (*n).max(1) as f64).collect()
    }
}

impl Observer for ForceCorrelation {
    fn columns(&self) -> Vec<Column> {
        let width = self.reach / self.bins as f64;
        let bins = (0..self.bins).map(|b| Column::new(format!("F(r={:.4})", (b as f64 + 0.5) * width), ""));
        [Column::new("spheres", ""), Column::new("mean diameter", "m")].into_iter().chain(bins).collect()
    }

    fn measure(&mut self, view: &View<'_>) -> Vec<f64> {
        let spheres = self.chosen.spheres(view);
        let diameter = 2.0 * spheres.iter().map(|s| s.radius).sum::<f64>() / spheres.len().max(1) as f64;
        let period = view.domain.period();
        let f = if spheres.is_empty() {
            vec![0.0; self.bins]
        } else {
            self.correlate(&spheres, diameter, view.domain.min, period)
        };
        [vec![spheres.len() as f64, diameter], f].concat()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chain_of_alternating_forces_is_anticorrelated_with_its_neighbours() {
        let force = |k: usize| if k.is_multiple_of(2) { 1.5 } else { 0.5 };
        let at = |k: usize| DVec3::new(0.1 * k as f64, 0.0, 0.0);
        let sphere = |k: usize| OnSphere { grain: k, centre: at(k), radius: 0.05, normal: force(k), tangential: 0.0 };
        let chain: Vec<OnSphere> = (0..60).map(sphere).collect();
        let all = ForceCorrelation::new(4, 3.6, Chosen::default());
        // Bins of 0.9 diameters: neighbours at 1, 2, 3 lie in the second, third and fourth.
        let f = all.correlate(&chain, 0.1, DVec3::splat(-1.0), DVec3::ZERO);
        for (got, expected) in f.iter().zip([0.0, 0.75, 1.25, 0.75]) {
            assert!((got - expected).abs() < 0.02, "{f:?}");
        }
        // Closed to a ring it has no ends, and nothing is left to chance.
        let ring = all.correlate(&chain, 0.1, DVec3::ZERO, DVec3::new(6.0, 0.0, 0.0));
        assert!(ring.iter().zip([0.0, 0.75, 1.25, 0.75]).all(|(a, b)| (a - b).abs() < 1e-12), "{ring:?}");
    }

    #[test]
    fn spheres_of_one_grain_are_no_pair() {
        let at =
            |grain: usize, x: f64| OnSphere { grain, centre: DVec3::X * x, radius: 0.5, normal: 1.0, tangential: 0.0 };
        let spheres = [at(0, 0.0), at(0, 0.6), at(1, 1.6)];
        let f =
            ForceCorrelation::new(4, 2.0, Chosen::default()).correlate(&spheres, 1.0, DVec3::splat(-1.0), DVec3::ZERO);
        assert_eq!(f, [0.0, 0.0, 1.0, 1.0], "0.6 is within a grain; 1.0 and 1.6 are not");
    }
}
