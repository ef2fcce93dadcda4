//! How unevenly contacts share the load.

use super::{Asked, Chosen, Observer, View};
use barchan_io::csv::Column;
use barchan_scene::check::{Check, corners};
use barchan_scene::measure::Measured;
use barchan_scene::{Region, Scene, keys};

keys! {
    /// How unevenly the contacts between grains share the load.
    pub struct ForceNetworkKeys = "write `force_network = {}`" {
        /// Only contacts in this region; left out: all.
        within: Option<Region> [; help("say where: `{ box = { min, max } }`, `{ cylinder = … }` or `{ sphere = … }`")],
        /// Thickness of the layers whose mean forces are the measure of their own [m]; left out: one mean for all.
        layer: Option<f64> [LENGTH; positive("the thickness of a layer")],
    }
}

impl Measured for ForceNetworkKeys {
    const KEY: &'static str = "force_network";
    const ABOUT: &'static str = "How unevenly the contacts between grains share the load.";

    fn check_all(&self, c: &mut Check, path: &str) {
        self.within.iter().for_each(|region| corners(c, &format!("{path}.within"), region));
    }
}

impl Asked for ForceNetworkKeys {
    fn observer(&self, _: &Scene) -> Box<dyn Observer> {
        Box::new(ForceNetwork::new(Chosen::new(&self.within, self.layer)))
    }
}

/// Strong and weak part of the network of contacts between grains [Radjai et al. 1998; Longmore 2009, 7.2.2].
///
/// A row: contacts, mean and largest normal force [N], the share of contacts above the mean and the share of the sum of all
/// normal forces they carry, and the share that the stronger half of the contacts carries. With layers, forces are held
/// against the mean of their layer, and shares are of those relative forces.
#[derive(Clone, Debug)]
pub struct ForceNetwork {
    chosen: Chosen,
}

impl ForceNetwork {
    /// Of these contacts.
    pub fn new(chosen: Chosen) -> ForceNetwork {
        ForceNetwork { chosen }
    }
}

/// Share of the values above 1, share of the sum they make up, and that of the larger half; a middle value counts half.
fn shares(values: &mut [f64]) -> [f64; 3] {
    let sum: f64 = values.iter().sum();
    if sum <= 0.0 {
        return [0.0; 3];
    }
    values.sort_by(|a, b| b.total_cmp(a));
    let strong = values.partition_point(|v| *v > 1.0);
    let half = values.len() / 2;
    let middle = if values.len() % 2 == 1 { 0.5 * values[half] } else { 0.0 };
    let carried = |n: usize| values[..n].iter().sum::<f64>();
    [strong as f64 / values.len() as f64, carried(strong) / sum, (carried(half) + middle) / sum]
}

impl Observer for ForceNetwork {
    fn columns(&self) -> Vec<Column> {
        let head = [("contacts", ""), ("mean normal", "N"), ("largest normal", "N")];
        let shares = [("share above the mean", ""), ("force above the mean", ""), ("force of the stronger half", "")];
        head.into_iter().chain(shares).map(|(name, unit)| Column::new(name, unit)).collect()
    }

    fn measure(&mut self, view: &View<'_>) -> Vec<f64> {
        let forces = self.chosen.forces(view.contacts(), view.gravity);
        let press = || forces.iter().map(|f| f.contact.normal_force.max(0.0));
        let mean = press().sum::<f64>() / forces.len().max(1) as f64;
        let mut relative: Vec<f64> = forces.iter().map(|f| f.normal).collect();
        [vec![forces.len() as f64, mean, press().fold(0.0, f64::max)], shares(&mut relative).to_vec()].concat()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_of_hand_made_forces() {
        // Mean 1: the 3 and the 1.5 are strong and carry 4.5 of 6; the stronger three of six carry 5.
        assert_eq!(shares(&mut [3.0, 0.5, 0.25, 1.5, 0.5, 0.25]), [2.0 / 6.0, 4.5 / 6.0, 5.0 / 6.0]);
        assert_eq!(shares(&mut [2.0, 1.0, 0.0])[2], 2.5 / 3.0, "the middle one belongs to both halves");
        assert_eq!(shares(&mut []), [0.0; 3]);
    }

    #[test]
    fn an_exponential_distribution_has_its_closed_form() {
        // Quantiles of e^(−f): the stronger half carries (1 + ln 2)/2, those above the mean 2/e.
        let n = 100_000;
        let mut f: Vec<f64> = (0..n).map(|k| -((k as f64 + 0.5) / n as f64).ln()).collect();
        let [above, carried, half] = shares(&mut f);
        let e = std::f64::consts::E;
        assert!((above - 1.0 / e).abs() < 1e-4 && (carried - 2.0 / e).abs() < 1e-4);
        assert!((half - 0.5 * (1.0 + 2f64.ln())).abs() < 1e-4);
    }
}
