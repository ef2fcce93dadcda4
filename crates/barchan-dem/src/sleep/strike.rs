//! Strikes: an impact is over before anybody looks at forces, so it is foreseen.
//!
//! An awake grain of mass m and speed v that will hit a sleeping one before the next look brings the momentum m v: as a mean force over
//! the time between two looks, m v/Δt. Through a packing a force spreads over an area that grows with the square of the distance; grains
//! that would feel more than the share of what they bear wake before the impact, as deep as that is.

use super::Sleep;
use super::ledger::Slots;
use crate::kernel::Kernels;
use crate::state::vec3;
use crate::step::Solver;
use glam::{DVec3, IVec3};
use std::collections::HashMap;

/// Times between two looks for which a path is looked along: nobody may strike between one look and the next unforeseen.
const AHEAD: f64 = 1.5;
/// Gap at which a path counts as a hit, over the striking grain's radius.
const HIT: f64 = 0.2;
/// Farthest that a strike is felt, in diameters of the striking grain.
const FARTHEST: f64 = 30.0;

/// Sleeping grains by cells.
struct Cells {
    width: f64,
    of: HashMap<IVec3, Vec<u32>>,
}

impl Cells {
    fn cell(&self, x: DVec3) -> IVec3 {
        (x / self.width).floor().as_ivec3()
    }

    /// Slots in the cells that a box touches.
    fn within(&self, low: DVec3, high: DVec3) -> impl Iterator<Item = usize> + '_ {
        let (low, high) = (self.cell(low), self.cell(high));
        let along = move |y: i32, z: i32| (low.x..=high.x).map(move |x| IVec3::new(x, y, z));
        let cells = (low.z..=high.z).flat_map(move |z| (low.y..=high.y).flat_map(move |y| along(y, z)));
        cells.filter_map(|c| self.of.get(&c)).flatten().map(|&g| g as usize)
    }
}

impl<R: Kernels> Solver<R> {
    /// By slot, whether a sleeping grain will feel a strike within `look` [s]; `bears` is by id what each bears [N].
    pub(super) fn struck(&self, terms: &Sleep, look: f64, bears: &[(u32, f64)], slots: &Slots) -> Vec<bool> {
        let mut struck = vec![false; self.grains.len()];
        let least = bears.iter().map(|b| b.1).fold(f64::INFINITY, f64::min);
        let reach = |g: usize| self.settings.shapes[self.grains.shape[g] as usize].bounding_radius();
        let ball = |g: usize| {
            let place = self.grains.place(g, &self.spheres.record);
            (vec3(place), place[3] * reach(g))
        };
        let force = |g: usize| vec3(&self.grains.velocity[g]).length() / (self.grains.velocity[g][3] * look);
        let strikers: Vec<usize> =
            (0..self.grains.len()).filter(|&g| !self.pinned.has(g) && force(g) > terms.wake * least).collect();
        if strikers.is_empty() || bears.is_empty() {
            return struck;
        }
        let mut borne = vec![0.0; self.grains.len()];
        let widest = (0..self.grains.len()).map(|g| ball(g).1).fold(0.0, f64::max);
        let mut cells = Cells { width: 2.0 * widest, of: HashMap::new() };
        for &(id, bears) in bears {
            if let Some(g) = slots.get(id) {
                borne[g] = bears;
                cells.of.entry(cells.cell(ball(g).0)).or_default().push(g as u32);
            }
        }
        for g in strikers {
            let (x, r) = ball(g);
            let way = AHEAD * look * vec3(&self.grains.velocity[g]);
            let margin = DVec3::splat((1.0 + HIT) * r + widest);
            // Where along its way it first comes near a sleeping grain.
            let hits = |&h: &usize| {
                let (y, s) = ball(h);
                let share = ((y - x).dot(way) / way.length_squared()).clamp(0.0, 1.0);
                (x + share * way).distance(y) < (1.0 + HIT) * r + s
            };
            let nearest = |&h: &usize| (ball(h).0 - x).length();
            let found = cells.within(x.min(x + way) - margin, x.max(x + way) + margin).filter(hits);
            let Some(near) = found.map(|h| nearest(&h)).reduce(f64::min) else { continue };
            let at = x + way.normalize_or_zero() * (near - r).clamp(0.0, way.length());
            // No farther than the least of all that anybody bears would be felt.
            let far = ((force(g) / (terms.wake * least)).sqrt().min(FARTHEST) + 1.0) * 2.0 * r + widest;
            for h in cells.within(at - far, at + far) {
                let (y, s) = ball(h);
                let gap = (at.distance(y) - r - s).max(0.0) / (2.0 * r);
                struck[h] |= force(g) > terms.wake * borne[h] * (1.0 + gap).powi(2);
            }
        }
        struck
    }
}
