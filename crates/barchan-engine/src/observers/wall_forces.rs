//! Load of the grains on the walls.

use super::{Asked, Observer, View};
use barchan_core::frame::WallFrame;
use barchan_io::csv::Column;
use barchan_scene::measure::Measured;
use barchan_scene::{Scene, keys};

keys! {
    /// Force [N] and torque [N m] on every wall.
    pub struct WallForcesKeys = "write `wall_forces = {}`" {
    }
}

impl Measured for WallForcesKeys {
    const KEY: &'static str = "wall_forces";
    const ABOUT: &'static str = "Force [N] and torque [N m] on every wall.";
}

impl Asked for WallForcesKeys {
    fn observer(&self, scene: &Scene) -> Box<dyn Observer> {
        let walls = scene.walls.iter().map(|w| w.name.clone());
        Box::new(WallForces::new(walls.chain(scene.ground.iter().map(|_| "ground".into())).collect()))
    }
}

/// Force [N] and torque [N m] of all grains on each wall, and where the wall's origin stands [m].
#[derive(Clone, Debug)]
pub struct WallForces {
    names: Vec<String>,
}

impl WallForces {
    /// Of all walls, whose names head the columns.
    pub fn new(names: Vec<String>) -> WallForces {
        WallForces { names }
    }
}

impl Observer for WallForces {
    fn columns(&self) -> Vec<Column> {
        let of = |w: &str| {
            let axes = ["x", "y", "z"];
            let column = |what: &str, unit: &str| axes.map(|a| Column::new(format!("{w} {what} {a}"), unit)).to_vec();
            [column("force", "N"), column("torque", "N m"), column("position", "m")].concat()
        };
        self.names.iter().flat_map(|name| of(name)).collect()
    }

    fn measure(&mut self, view: &View<'_>) -> Vec<f64> {
        let numbers = |w: &WallFrame| [w.force, w.torque, w.position].map(|v| v.to_array()).concat();
        // Surfaces of bodies come after the walls of the scene and the ground.
        view.frame.walls.iter().take(self.names.len()).flat_map(numbers).collect()
    }
}
