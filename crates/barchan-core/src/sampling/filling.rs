//! Spheres for what a lining leaves hollow, so that the union of all has the mass of the solid.
//!
//! Of the points of a grid the deepest that no sphere holds yet gets the largest sphere that fits there, and so on until all are
//! held. The spheres end below the lining's roughness: what touches the body touches the lining.

use super::{Placement, Sampling, Settings};
use crate::math;
use crate::sampling::buckets::Buckets;
use glam::DVec3;
use rayon::prelude::*;

/// Distance of points of the grid over the radius of the lining.
const FINENESS: f64 = 0.5;
/// Points of the grid at most.
const MOST: f64 = 300_000.0;

impl Sampling {
    /// Spheres (centre, radius [m]) that fill what those of the sampling leave hollow; none unless they lie inside.
    pub fn filling(&self) -> Vec<(DVec3, f64)> {
        let Settings { radius, placement, .. } = self.settings;
        let Some((low, high)) = self.surface.tree().bounds().filter(|_| placement == Placement::Inside) else {
            return Vec::new();
        };
        let size = high - low;
        let step = (FINENESS * radius).max(math::cbrt(size.element_product() / MOST));
        let counts = (size / step).ceil().as_usizevec3();
        let lining = Buckets::of(radius, self.spheres.iter().map(|s| s.0));
        let slack = self.settings.slack();
        let mut hollow: Vec<(f64, DVec3)> = (0..counts.element_product())
            .into_par_iter()
            .filter_map(|k| {
                let at = [k % counts.x, k / counts.x % counts.y, k / counts.x / counts.y].map(|i| i as f64 + 0.5);
                let p = low + step * DVec3::from(at);
                let fits = -self.surface.distance(p) - slack;
                // Nearer to the surface than a radius the lining has filled all it could.
                let mut held = fits < radius;
                if !held {
                    lining.visit(p, radius, |j, c| held |= c.distance(p) < self.spheres[j].1);
                }
                (!held).then_some((fits, p))
            })
            .collect();
        // The order of the grid decides between equals: the sort is stable.
        hollow.par_sort_by(|a, b| b.0.total_cmp(&a.0));
        let mut spheres: Vec<(DVec3, f64)> = Vec::new();
        for (fits, p) in hollow {
            if spheres.iter().all(|(c, r)| c.distance_squared(p) > r * r) {
                spheres.push((p, fits));
            }
        }
        spheres
    }
}
