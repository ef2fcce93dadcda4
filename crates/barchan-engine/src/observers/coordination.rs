//! Number of contacts a grain has.

use super::{Asked, Observer, View};
use barchan_core::solver::Gauge;
use barchan_io::csv::Column;
use barchan_scene::measure::Measured;
use barchan_scene::{Scene, keys};

keys! {
    /// Contacts per grain.
    pub struct CoordinationKeys = "write `coordination = {}`" {
    }
}

impl Measured for CoordinationKeys {
    const KEY: &'static str = "coordination";
    const ABOUT: &'static str = "Contacts per grain.";
}

impl Asked for CoordinationKeys {
    fn observer(&self, _: &Scene) -> Box<dyn Observer> {
        Box::new(Coordination)
    }
}

/// Mean number of touching contacts a grain, and the largest overlap over the smaller radius.
#[derive(Clone, Copy, Debug, Default)]
pub struct Coordination;

impl Observer for Coordination {
    fn columns(&self) -> Vec<Column> {
        ["coordination", "largest overlap over radius", "grains"].map(|name| Column::new(name, "")).to_vec()
    }

    fn measure(&mut self, view: &View<'_>) -> Vec<f64> {
        let gauges: Vec<Gauge> = view.solvers.iter().flat_map(|s| s.totals().gauges).collect();
        let gauge = |name: &str| gauges.iter().find(|g| g.name == name).map_or(0.0, |g| g.value);
        vec![gauge("coordination"), gauge("largest overlap"), view.grains().len() as f64]
    }
}
