//! Energies of all matter.

use super::{Asked, Observer, View};
use barchan_io::csv::Column;
use barchan_scene::measure::Measured;
use barchan_scene::{Scene, keys};

keys! {
    /// Kinetic, rotational, potential and elastic energy [J].
    pub struct EnergyKeys = "write `energy = {}`" {
    }
}

impl Measured for EnergyKeys {
    const KEY: &'static str = "energy";
    const ABOUT: &'static str = "Kinetic, rotational, potential and elastic energy [J].";
}

impl Asked for EnergyKeys {
    fn observer(&self, _: &Scene) -> Box<dyn Observer> {
        Box::new(Energy)
    }
}

/// Kinetic (translation, rotation), potential and elastic energy [J], and their sum.
#[derive(Clone, Copy, Debug, Default)]
pub struct Energy;

impl Observer for Energy {
    fn columns(&self) -> Vec<Column> {
        ["translation", "rotation", "gravity", "elastic", "total"].map(|name| Column::new(name, "J")).to_vec()
    }

    fn measure(&mut self, view: &View<'_>) -> Vec<f64> {
        let e = view.energies();
        vec![e.translation, e.rotation, e.gravity, e.elastic, e.translation + e.rotation + e.gravity + e.elastic]
    }
}
