//! Which way contacts point.

use super::forces::up;
use super::{Asked, Chosen, Observer, View};
use barchan_core::math;
use barchan_core::neighbours::nearest_image;
use barchan_core::solver::Partner;
use barchan_io::csv::Column;
use barchan_scene::check::{Check, corners};
use barchan_scene::measure::Measured;
use barchan_scene::{Region, Scene, keys};
use glam::DVec3;
use std::collections::HashMap;

keys! {
    /// Distribution of the angle between contacts and an axis.
    pub struct ContactAnglesKeys = "write `contact_angles = {}`" {
        /// Number of bins from 0° to 90°.
        bins: u64 [; within(1.0, 1e5, "a histogram of {} bins is useless", "give a number of bins such as 60")] = 18,
        /// Axis from which angles are counted, of any length; left out: that of gravity.
        axis: Option<DVec3> [NUMBER; direction("the axis")],
        /// Only contacts in this region; left out: all.
        within: Option<Region> [; help("say where: `{ box = { min, max } }`, `{ cylinder = … }` or `{ sphere = … }`")],
        /// Thickness of the layers whose mean forces are the measure of their own [m]; left out: one mean for all.
        layer: Option<f64> [LENGTH; positive("the thickness of a layer")],
    }
}

impl Measured for ContactAnglesKeys {
    const KEY: &'static str = "contact_angles";
    const ABOUT: &'static str = "Distribution of the angle between contacts and an axis.";

    fn check_all(&self, c: &mut Check, path: &str) {
        self.within.iter().for_each(|region| corners(c, &format!("{path}.within"), region));
    }
}

impl Asked for ContactAnglesKeys {
    fn observer(&self, _: &Scene) -> Box<dyn Observer> {
        Box::new(ContactAngles::new(self.bins as usize, self.axis, Chosen::new(&self.within, self.layer)))
    }
}

/// From how many times the mean a force counts as strong [Longmore 2009, figure 7.10].
const STRONG: f64 = 2.0;

/// Densities P(θ) [1/deg] of the angle between an axis and contacts of grains, a contact and its opposite being one:
/// by the normals of the contacts, by the lines between the centres of the touching grains (the same for spheres), and by
/// the normals of contacts of more than twice the mean force [Silbert et al. 2002; Longmore 2009, figure 7.10].
///
/// Directions without preference give π/180 sin θ.
#[derive(Clone, Debug)]
pub struct ContactAngles {
    bins: usize,
    axis: Option<DVec3>,
    chosen: Chosen,
}

impl ContactAngles {
    /// In `bins` bins of equal width from 0° to 90° from an axis of any length; none: that of gravity, or z.
    pub fn new(bins: usize, axis: Option<DVec3>, chosen: Chosen) -> ContactAngles {
        ContactAngles { bins, axis: axis.and_then(|a| a.try_normalize()), chosen }
    }

    fn density(&self, axis: DVec3, directions: impl Iterator<Item = DVec3>) -> Vec<f64> {
        let width = 90.0 / self.bins as f64;
        let mut counts = vec![0.0; self.bins];
        let mut total: f64 = 0.0;
        for d in directions {
            let angle = math::atan2(d.cross(axis).length(), d.dot(axis).abs()).to_degrees();
            counts[((angle / width) as usize).min(self.bins - 1)] += 1.0;
            total += 1.0;
        }
        counts.iter().map(|c| c / (total.max(1.0) * width)).collect()
    }
}

impl Observer for ContactAngles {
    fn columns(&self) -> Vec<Column> {
        let width = 90.0 / self.bins as f64;
        let bins = |of: &str| -> Vec<Column> {
            (0..self.bins).map(|b| Column::new(format!("{of} P({:.4})", (b as f64 + 0.5) * width), "1/deg")).collect()
        };
        let head = vec![Column::new("contacts", ""), Column::new("strong contacts", "")];
        [head, bins("contacts"), bins("grains"), bins("strong")].concat()
    }

    fn measure(&mut self, view: &View<'_>) -> Vec<f64> {
        let axis = self.axis.unwrap_or(up(view.gravity));
        let forces = self.chosen.forces(view.contacts(), view.gravity);
        let row: HashMap<u32, usize> = view.grains().id.iter().enumerate().map(|(row, id)| (*id, row)).collect();
        let period = view.domain.period();
        let line = |a: u32, b: u32| {
            let d = view.grains().position[*row.get(&b)?] - view.grains().position[*row.get(&a)?];
            Some(DVec3::from_array(std::array::from_fn(|k| nearest_image(d[k], period[k]))))
        };
        let lines = forces.iter().filter_map(|f| match f.contact.partner {
            Partner::Grain(other) => line(f.contact.grain, other),
            Partner::Wall(_) => None,
        });
        let strong: Vec<DVec3> = forces.iter().filter(|f| f.normal > STRONG).map(|f| f.contact.normal).collect();
        let normals = forces.iter().map(|f| f.contact.normal);
        [
            vec![forces.len() as f64, strong.len() as f64],
            self.density(axis, normals),
            self.density(axis, lines),
            self.density(axis, strong.iter().copied()),
        ]
        .concat()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directions_without_preference_give_a_sine() {
        // A spiral of points that covers the sphere evenly.
        let n = 200_000;
        let directions = (0..n).map(|k| {
            let z = 1.0 - (2 * k + 1) as f64 / n as f64;
            let (s, c) = (k as f64 * 2.399_963).sin_cos();
            DVec3::new(c * (1.0 - z * z).sqrt(), s * (1.0 - z * z).sqrt(), z)
        });
        let density = ContactAngles::new(9, None, Chosen::default()).density(DVec3::X, directions);
        for (b, p) in density.iter().enumerate() {
            let (low, high) = ((10.0 * b as f64).to_radians(), (10.0 * (b + 1) as f64).to_radians());
            assert!((p * 10.0 - (low.cos() - high.cos())).abs() < 1e-3, "{b}: {p}");
        }
    }

    #[test]
    fn a_contact_and_its_opposite_are_one() {
        let angles = ContactAngles::new(3, Some(2.0 * DVec3::Z), Chosen::default());
        let at = |degrees: f64| DVec3::new(degrees.to_radians().sin(), 0.0, degrees.to_radians().cos());
        let density = angles.density(DVec3::Z, [at(10.0), -at(10.0), at(170.0), at(90.0)].into_iter());
        assert_eq!(density, [0.75 / 30.0, 0.0, 0.25 / 30.0]);
    }
}
