//! Energies of all grains.

use super::{Observer, View};
use barchan_io::csv::Column;

/// Kinetic (translation, rotation), potential and elastic energy [J], and their sum.
#[derive(Clone, Copy, Debug, Default)]
pub struct Energy;

impl Observer for Energy {
    fn columns(&self) -> Vec<Column> {
        ["translation", "rotation", "gravity", "elastic", "total"].map(|name| Column::new(name, "J")).to_vec()
    }

    fn measure(&mut self, view: &View<'_>) -> Vec<f64> {
        let e = view.dem.energies();
        vec![e.translation, e.rotation, e.gravity, e.elastic, e.translation + e.rotation + e.gravity + e.elastic]
    }
}
