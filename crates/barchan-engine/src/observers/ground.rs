//! What grains and ground weigh together.

use super::{Asked, Observer, View};
use barchan_io::csv::Column;
use barchan_scene::check::Check;
use barchan_scene::measure::Measured;
use barchan_scene::{Scene, keys};

keys! {
    /// Mass of grains and ground, and what has passed between them.
    pub struct GroundKeys = "write `ground = {}`" {
    }
}

impl Measured for GroundKeys {
    const KEY: &'static str = "ground";
    const ABOUT: &'static str = "Mass of grains and ground, and what has passed between them.";

    fn check_all(&self, c: &mut Check, path: &str) {
        if c.scene.ground.is_none() {
            c.error(path, "there is no ground to measure", "add a `[ground]`, or leave this out");
        }
    }
}

impl Asked for GroundKeys {
    fn observer(&self, _: &Scene) -> Box<dyn Observer> {
        Box::new(GroundAccount)
    }
}

/// Mass [kg] of grains, of columns, of what is owed to them, of what bodies have compressed in them, and of all; volume of the columns [m³]; grains that became ground,
/// and ground that became grains.
#[derive(Clone, Copy, Debug)]
pub struct GroundAccount;

impl Observer for GroundAccount {
    fn columns(&self) -> Vec<Column> {
        let masses = ["grains", "columns", "owed", "compressed", "total"].map(|name| Column::new(name, "kg"));
        let others = [Column::new("volume", "m3"), Column::new("frozen", ""), Column::new("thawed", "")];
        masses.into_iter().chain(others).collect()
    }

    fn measure(&mut self, view: &View<'_>) -> Vec<f64> {
        let Some(ground) = view.ground() else { return vec![0.0; 8] };
        let a = ground.account(view.grains());
        let masses = [a.grains, a.ground, a.owed, a.compressed, a.total()].map(|motes| a.mass(motes));
        masses.into_iter().chain([ground.columns().volume(), a.frozen as f64, a.thawed as f64]).collect()
    }
}
