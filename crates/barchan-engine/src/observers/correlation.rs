//! How far one force knows of another.

use super::forces::up;
use super::{Chosen, Observer, View};
use barchan_core::frame::SphereView;
use barchan_core::neighbours::{Ball, Hits, Neighbours};
use barchan_dem::Partner;
use barchan_io::csv::Column;
use glam::DVec3;
use std::collections::HashMap;

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

/// A sphere that bears a force.
struct Loaded {
    grain: usize,
    centre: DVec3,
    radius: f64,
    force: f64,
}

impl ForceCorrelation {
    /// In `bins` bins of equal width up to `reach` mean diameters.
    pub fn new(bins: usize, reach: f64, chosen: Chosen) -> ForceCorrelation {
        ForceCorrelation { bins, reach, chosen }
    }

    /// F in each bin. `period` is 0 in open directions [m].
    fn correlate(&self, spheres: &[Loaded], diameter: f64, min: DVec3, period: DVec3) -> Vec<f64> {
        // Two balls meet where their centres are within twice their reach of each other.
        let half = 0.5 * self.reach * diameter;
        let balls: Vec<Ball> = spheres.iter().map(|s| [s.centre.x, s.centre.y, s.centre.z, half]).collect();
        let mut grid = Neighbours::default();
        grid.build(&balls[..], min, period);
        let (mut products, mut pairs) = (vec![0.0; self.bins], vec![0u64; self.bins]);
        let mut hits = Hits::default();
        for (i, s) in spheres.iter().enumerate() {
            grid.pairs_of(i as u32, &balls[..], &mut hits);
            for &(j, square) in hits.pairs() {
                let other = &spheres[j as usize];
                let bin = (square.sqrt() / (2.0 * half) * self.bins as f64) as usize;
                if other.grain != s.grain && bin < self.bins {
                    products[bin] += s.force * other.force;
                    pairs[bin] += 1;
                }
            }
        }
        products.iter().zip(&pairs).map(|(p, n)| p / (*n).max(1) as f64).collect()
    }
}

/// The spheres of a frame on which some contact presses, with the sum of the normal forces on each [N].
fn loaded(view: &View<'_>) -> Vec<Loaded> {
    let row: HashMap<u32, usize> = view.frame.id.iter().enumerate().map(|(row, id)| (*id, row)).collect();
    let mut forces: HashMap<(usize, usize), f64> = HashMap::new();
    let mut press = |id: u32, point: DVec3, force: f64| {
        // The sphere that touches is the one whose surface is at the point.
        let off = |s: &SphereView| (s.centre.distance(point) - s.radius).abs();
        let Some(&grain) = row.get(&id) else { return };
        let nearest = view.frame.spheres_of(grain).enumerate().min_by(|a, b| off(&a.1).total_cmp(&off(&b.1)));
        if let Some((sphere, _)) = nearest {
            *forces.entry((grain, sphere)).or_default() += force;
        }
    };
    let domain = view.dem.settings().domain;
    for c in view.dem.contacts() {
        let force = c.normal_force.max(0.0);
        press(c.grain, c.point, force);
        if let Partner::Grain(other) = c.partner {
            // Across a periodic side the point is beside the first grain: the partner's image is sought there.
            let home = row.get(&other).map_or(c.point, |&r| view.frame.position[r]);
            let image = DVec3::from_array(std::array::from_fn(|k| {
                let side = (domain.max - domain.min)[k];
                if domain.periodic[k] { side * ((home - c.point)[k] / side).round() } else { 0.0 }
            }));
            press(other, c.point + image, force);
        }
    }
    let mut keys: Vec<(usize, usize)> = forces.keys().copied().collect();
    keys.sort_unstable();
    let place = |(grain, sphere): (usize, usize)| {
        let s = view.frame.spheres_of(grain).nth(sphere)?;
        Some(Loaded { grain, centre: s.centre, radius: s.radius, force: forces[&(grain, sphere)] })
    };
    keys.into_iter().filter_map(place).collect()
}

impl Observer for ForceCorrelation {
    fn columns(&self) -> Vec<Column> {
        let width = self.reach / self.bins as f64;
        let bins = (0..self.bins).map(|b| Column::new(format!("F(r={:.4})", (b as f64 + 0.5) * width), ""));
        [Column::new("spheres", ""), Column::new("mean diameter", "m")].into_iter().chain(bins).collect()
    }

    fn measure(&mut self, view: &View<'_>) -> Vec<f64> {
        let mut spheres = loaded(view);
        spheres.retain(|s| self.chosen.holds(s.centre));
        let settings = view.dem.settings();
        let up = up(settings.gravity);
        let heights: Vec<f64> = spheres.iter().map(|s| s.centre.dot(up)).collect();
        let mut forces: Vec<f64> = spheres.iter().map(|s| s.force).collect();
        self.chosen.over_means(&mut forces, &heights);
        spheres.iter_mut().zip(forces).for_each(|(s, f)| s.force = f);
        let diameter = 2.0 * spheres.iter().map(|s| s.radius).sum::<f64>() / spheres.len().max(1) as f64;
        let side = settings.domain.max - settings.domain.min;
        let closed = settings.domain.periodic;
        let period = DVec3::from_array(std::array::from_fn(|k| if closed[k] { side[k] } else { 0.0 }));
        let f = if spheres.is_empty() {
            vec![0.0; self.bins]
        } else {
            self.correlate(&spheres, diameter, settings.domain.min, period)
        };
        [vec![spheres.len() as f64, diameter], f].concat()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chain_of_alternating_forces_is_anticorrelated_with_its_neighbours() {
        let force = |k: usize| if k % 2 == 0 { 1.5 } else { 0.5 };
        let at = |k: usize| DVec3::new(0.1 * k as f64, 0.0, 0.0);
        let chain: Vec<Loaded> =
            (0..60).map(|k| Loaded { grain: k, centre: at(k), radius: 0.05, force: force(k) }).collect();
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
        let sphere = |grain: usize, x: f64| Loaded { grain, centre: DVec3::X * x, radius: 0.5, force: 1.0 };
        let spheres = [sphere(0, 0.0), sphere(0, 0.6), sphere(1, 1.6)];
        let f =
            ForceCorrelation::new(4, 2.0, Chosen::default()).correlate(&spheres, 1.0, DVec3::splat(-1.0), DVec3::ZERO);
        assert_eq!(f, [0.0, 0.0, 1.0, 1.0], "0.6 is within a grain; 1.0 and 1.6 are not");
    }
}
