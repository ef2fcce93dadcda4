//! Forces between grains, over the mean force where they act: what the measurements of force networks start from.

use super::View;
use barchan_core::frame::SphereView;
use barchan_core::regions::Region;
use barchan_core::solver::{Contact, Domain, Partner};
use glam::DVec3;
use std::collections::HashMap;

/// A layer of fewer contacts has no mean worth dividing by (its error would be some 15 %): those of its neighbours serve.
const LEAST: usize = 30;

/// Which contacts are looked at, and what their forces are measured by.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Chosen {
    /// Only those whose point lies in here.
    pub within: Option<Region>,
    /// Thickness [m] of the layers, across gravity, whose mean forces are the measure; none: one mean for all.
    ///
    /// Under gravity the mean force grows with depth, and a distribution over one mean would mix the depth in.
    pub layer: Option<f64>,
}

/// A contact of two grains.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Force {
    /// The contact, with its forces [N].
    pub contact: Contact,
    /// Normal force over its mean; an attraction that outweighs the spring counts as 0.
    pub normal: f64,
    /// Tangential force over its mean.
    pub tangential: f64,
}

/// A sphere on which some contact presses.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OnSphere {
    /// Row of its grain in the frame.
    pub grain: usize,
    /// Centre [m].
    pub centre: DVec3,
    /// Radius [m].
    pub radius: f64,
    /// Sum of the normal forces of its contacts, walls included, over the mean of that sum.
    pub normal: f64,
    /// The same of the tangential forces.
    pub tangential: f64,
}

impl Chosen {
    /// As a scene asks for it.
    pub(super) fn new(within: &Option<barchan_scene::Region>, layer: Option<f64>) -> Chosen {
        Chosen { within: within.as_ref().map(|r| r.to_core()), layer }
    }

    /// The chosen ones of all contacts, between grains, under a gravity [m/s²]. Both forces have a mean of exactly 1 (or 0, where there are none).
    pub fn forces(&self, contacts: Vec<Contact>, gravity: DVec3) -> Vec<Force> {
        let contacts = contacts.into_iter().filter(|c| matches!(c.partner, Partner::Grain(_)));
        let contacts: Vec<Contact> = contacts.filter(|c| self.holds(c.point)).collect();
        let up = up(gravity);
        let heights: Vec<f64> = contacts.iter().map(|c| c.point.dot(up)).collect();
        let (mut normal, mut tangential): (Vec<f64>, Vec<f64>) =
            contacts.iter().map(|c| (c.normal_force.max(0.0), c.tangential_force.length())).unzip();
        self.over_means(&mut normal, &heights);
        self.over_means(&mut tangential, &heights);
        let each = contacts.into_iter().zip(normal).zip(tangential);
        each.map(|((contact, normal), tangential)| Force { contact, normal, tangential }).collect()
    }

    /// The chosen spheres at this instant, by their centres: those that bear a force. Both sums have a mean of exactly 1.
    pub fn spheres(&self, view: &View<'_>) -> Vec<OnSphere> {
        let mut spheres = loaded(view);
        spheres.retain(|s| self.holds(s.centre));
        let up = up(view.gravity);
        let heights: Vec<f64> = spheres.iter().map(|s| s.centre.dot(up)).collect();
        let (mut normal, mut tangential): (Vec<f64>, Vec<f64>) =
            spheres.iter().map(|s| (s.normal, s.tangential)).unzip();
        self.over_means(&mut normal, &heights);
        self.over_means(&mut tangential, &heights);
        for ((s, normal), tangential) in spheres.iter_mut().zip(normal).zip(tangential) {
            (s.normal, s.tangential) = (normal, tangential);
        }
        spheres
    }

    /// Whether a point is where one looks.
    fn holds(&self, point: DVec3) -> bool {
        self.within.is_none_or(|r| r.contains(point))
    }

    /// Divides values at heights [m] by their mean there: that of the layers, linear between their middles. What remains
    /// is scaled to a mean of 1.
    fn over_means(&self, values: &mut [f64], heights: &[f64]) {
        if let Some(layer) = self.layer {
            let knots = layer_means(values, heights, layer);
            if knots.len() > 1 {
                values.iter_mut().zip(heights).for_each(|(v, &h)| *v /= between(&knots, h));
            }
        }
        let mean = values.iter().sum::<f64>() / values.len().max(1) as f64;
        if mean > 0.0 {
            values.iter_mut().for_each(|v| *v /= mean);
        }
    }
}

/// All spheres on which a contact presses, with their forces in N, in the order of the frame.
fn loaded(view: &View<'_>) -> Vec<OnSphere> {
    let row: HashMap<u32, usize> = view.grains().id.iter().enumerate().map(|(row, id)| (*id, row)).collect();
    let domain = *view.domain;
    let mut forces: HashMap<(usize, usize), (f64, f64)> = HashMap::new();
    let mut press = |id: u32, point: DVec3, c: &Contact| {
        let Some(&grain) = row.get(&id) else { return };
        // Across a periodic side the point lies beside the other partner.
        let point = point + image(&domain, view.grains().position[grain] - point);
        // The sphere that touches is the one whose surface is at the point.
        let off = |s: &SphereView| (s.centre.distance(point) - s.radius).abs();
        let nearest = view.grains().spheres_of(grain).enumerate().min_by(|a, b| off(&a.1).total_cmp(&off(&b.1)));
        if let Some((sphere, _)) = nearest {
            let (normal, tangential) = forces.entry((grain, sphere)).or_default();
            *normal += c.normal_force.max(0.0);
            *tangential += c.tangential_force.length();
        }
    };
    for c in view.contacts() {
        press(c.grain, c.point, &c);
        if let Partner::Grain(other) = c.partner {
            press(other, c.point, &c);
        }
    }
    let mut sums: Vec<_> = forces.into_iter().collect();
    sums.sort_unstable_by_key(|s| s.0);
    let place = |((grain, sphere), (normal, tangential)): ((usize, usize), (f64, f64))| {
        let s = view.grains().spheres_of(grain).nth(sphere)?;
        Some(OnSphere { grain, centre: s.centre, radius: s.radius, normal, tangential })
    };
    sums.into_iter().filter_map(place).collect()
}

/// What brings a point nearest to another that is `apart` from it [m], over the periodic sides.
fn image(domain: &Domain, apart: DVec3) -> DVec3 {
    let side = domain.max - domain.min;
    let whole = |k: usize| if domain.periodic[k] { side[k] * (apart[k] / side[k]).round() } else { 0.0 };
    DVec3::from_array(std::array::from_fn(whole))
}

/// Middle height [m] and mean of every layer that has enough values, from the lowest; none where some mean is 0.
fn layer_means(values: &[f64], heights: &[f64], layer: f64) -> Vec<(f64, f64)> {
    let lowest = heights.iter().copied().fold(f64::INFINITY, f64::min);
    let highest = heights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let count = ((highest - lowest) / layer) as usize + 1;
    let mut layers = vec![(0usize, 0.0, 0.0); if values.is_empty() { 0 } else { count }];
    for (v, h) in values.iter().zip(heights) {
        let (n, sum, at) = &mut layers[((h - lowest) / layer) as usize];
        (*n, *sum, *at) = (*n + 1, *sum + v, *at + h);
    }
    let full = layers.into_iter().filter(|l| l.0 >= LEAST);
    let knots: Vec<(f64, f64)> = full.map(|(n, sum, at)| (at / n as f64, sum / n as f64)).collect();
    if knots.iter().all(|k| k.1 > 0.0) { knots } else { vec![] }
}

/// Linear between knots, constant beyond the ends.
fn between(knots: &[(f64, f64)], at: f64) -> f64 {
    let upper = knots.partition_point(|k| k.0 < at);
    if upper == 0 || upper == knots.len() {
        return knots[upper.min(knots.len() - 1)].1;
    }
    let ((a, x), (b, y)) = (knots[upper - 1], knots[upper]);
    x + (y - x) * (at - a) / (b - a)
}

/// The direction against gravity; z where there is none.
pub(super) fn up(gravity: DVec3) -> DVec3 {
    gravity.try_normalize().map_or(DVec3::Z, |g| -g)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mean_that_grows_with_depth_is_taken_out() {
        // Two forces at each depth, 0.5 and 1.5 times a mean that grows linearly from 0.
        let depth = |k: usize| 0.01 * (k / 2 + 1) as f64;
        let heights: Vec<f64> = (0..2000).map(|k| -depth(k)).collect();
        let share = |k: usize| if k.is_multiple_of(2) { 0.5 } else { 1.5 };
        let raw: Vec<f64> = (0..2000).map(|k| 7.0 * depth(k) * share(k)).collect();
        let spread = |v: &[f64]| (v.iter().map(|x| (x - 1.0).powi(2)).sum::<f64>() / v.len() as f64).sqrt();
        let (mut layered, mut plain) = (raw.clone(), raw);
        Chosen { within: None, layer: Some(0.5) }.over_means(&mut layered, &heights);
        Chosen::default().over_means(&mut plain, &heights);
        assert!((layered.iter().sum::<f64>() / 2000.0 - 1.0).abs() < 1e-12);
        assert!((spread(&layered) - 0.5).abs() < 0.01, "{}", spread(&layered));
        // Of one mean: E[d²] E[s²] / E[d]² − 1 = 4/3 · 5/4 − 1 = 2/3.
        assert!((spread(&plain) - (2f64 / 3.0).sqrt()).abs() < 0.01, "{}", spread(&plain));
    }

    #[test]
    fn sparse_layers_and_no_values_do_no_harm() {
        let mut few = vec![1.0, 3.0];
        Chosen { within: None, layer: Some(0.1) }.over_means(&mut few, &[0.0, 5.0]);
        assert_eq!(few, [0.5, 1.5]);
        Chosen { within: None, layer: Some(0.1) }.over_means(&mut [], &[]);
    }
}
