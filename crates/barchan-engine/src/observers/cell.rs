//! A periodic cell that is strained: its sides, its strain, stress and fabric, and the work done on it.

use super::{Asked, Observer, View};
use barchan_dem::Dem;
use barchan_io::csv::Column;
use barchan_scene::check::Check;
use barchan_scene::measure::Measured;
use barchan_scene::{Scene, keys};
use glam::DMat3;
use std::f64::consts::PI;

keys! {
    /// Sides, strain, stress, fabric, coordination and work of a strained periodic cell.
    pub struct CellKeys = "write `cell = {}`" {
    }
}

impl Measured for CellKeys {
    const KEY: &'static str = "cell";
    const ABOUT: &'static str = "Sides, strain, stress, fabric, coordination and work of a strained periodic cell.";

    fn check_all(&self, c: &mut Check, path: &str) {
        if c.scene.cell.is_none() {
            c.error(path, "there is no cell that is strained", "add a `[cell]`");
        }
    }
}

impl Asked for CellKeys {
    fn observer(&self, _: &Scene) -> Box<dyn Observer> {
        Box::new(CellState)
    }
}

/// Columns: sides [m], logarithmic strain, shear strain, stress xx yy zz xz yz xy [Pa] (compression positive), fabric xx yy zz xz, mean stress [Pa],
/// contacts a grain, share of the volume that is solid, work done so far [J].
#[derive(Clone, Copy, Debug, Default)]
pub struct CellState;

/// Rows and columns of a tensor that are written, with their names.
const PLACES: [(usize, usize, &str); 6] =
    [(0, 0, "xx"), (1, 1, "yy"), (2, 2, "zz"), (0, 2, "xz"), (1, 2, "yz"), (0, 1, "xy")];

fn symmetric(m: &DMat3, (i, j, _): (usize, usize, &str)) -> f64 {
    0.5 * (m.col(j)[i] + m.col(i)[j])
}

impl Observer for CellState {
    fn columns(&self) -> Vec<Column> {
        let axes = ["x", "y", "z"];
        let named = |what: &str, unit: &str, many: usize| {
            PLACES[..many].iter().map(|p| Column::new(format!("{what} {}", p.2), unit)).collect::<Vec<_>>()
        };
        let rest = [("mean stress", "Pa"), ("coordination", ""), ("solid fraction", ""), ("work", "J")];
        [
            axes.map(|a| Column::new(format!("side {a}"), "m")).to_vec(),
            axes.map(|a| Column::new(format!("strain {a}"), "")).to_vec(),
            vec![Column::new("shear strain", "")],
            named("stress", "Pa", 6),
            named("fabric", "", 4),
            rest.map(|(name, unit)| Column::new(name, unit)).to_vec(),
        ]
        .concat()
    }

    fn measure(&mut self, view: &View<'_>) -> Vec<f64> {
        let dem = view.solvers.find::<Dem>();
        let Some((dem, cell)) = dem.and_then(|d| Some((d, d.cell()?))) else { return vec![f64::NAN; 21] };
        let side = dem.settings().domain.max - dem.settings().domain.min;
        let solid: f64 = view.grains().spheres().map(|s| 4.0 / 3.0 * PI * s.radius.powi(3)).sum();
        let mean = (cell.stress.col(0).x + cell.stress.col(1).y + cell.stress.col(2).z) / 3.0;
        let vectors = [side.to_array(), cell.strain.to_array()].concat();
        let stress = PLACES.map(|p| symmetric(&cell.stress, p));
        let fabric: Vec<f64> = PLACES[..4].iter().map(|p| symmetric(&cell.fabric, *p)).collect();
        let rest = [mean, dem.coordination(), solid / side.element_product(), cell.work];
        [&vectors[..], &[cell.shear], &stress, &fabric, &rest].concat()
    }
}
