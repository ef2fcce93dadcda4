//! The account of sand in three phases.

use super::{Asked, Observer, View};
use barchan_core::columns::Column as Saved;
use barchan_flip::{Flip, PhaseAccount};
use barchan_io::csv::Column;
use barchan_scene::check::Check;
use barchan_scene::measure::Measured;
use barchan_scene::{ContinuumMethod, Scene, keys};

keys! {
    /// Masses of the phases of sand, conversions a second, the solvers' work, dissipated energy, and forces on walls and bodies.
    pub struct PhasesKeys = "write `phases = {}`" {
    }
}

impl Measured for PhasesKeys {
    const KEY: &'static str = "phases";
    const ABOUT: &'static str = "Masses of the phases of sand, conversions a second, the solvers' work, dissipated energy, and forces on walls and bodies.";

    fn check_all(&self, c: &mut Check, path: &str) {
        if c.scene.continuum_method() != Some(ContinuumMethod::Phases) {
            let help = "write `method = \"phases\"` under `[[continuum]]`, or leave this out";
            c.error(path, "no matter of the scene is computed in phases", help);
        }
    }
}

impl Asked for PhasesKeys {
    fn observer(&self, scene: &Scene) -> Box<dyn Observer> {
        Box::new(Phases {
            walls: scene.walls.iter().map(|w| w.name.clone()).collect(),
            grounds: usize::from(scene.ground.is_some()),
            before: (0.0, [0; 4]),
        })
    }
}

/// Mass [kg] of solid, liquid, gas and all; quanta that froze, thawed, evaporated and condensed since the last row [1/s]; largest filling of a cell;
/// iterations and residual of the pressure and iterations of the friction in the last step; energy dissipated since the start [J]; force on every wall and on all
/// bodies together [N].
#[derive(Clone, Debug)]
struct Phases {
    walls: Vec<String>,
    /// Walls of grounds, between those of the scene and those of bodies.
    grounds: usize,
    /// Time of the last row [s] and what had been converted by then.
    before: (f64, [u64; 4]),
}

fn converted(a: &PhaseAccount) -> [u64; 4] {
    [a.frozen, a.thawed, a.evaporated, a.condensed]
}

/// Names of the numbers that are kept over a stop.
const KEPT: &str = "phases before";

impl Observer for Phases {
    fn columns(&self) -> Vec<Column> {
        let masses = ["solid", "liquid", "gas", "total"].map(|n| Column::new(format!("{n} mass"), "kg"));
        let rates = ["frozen", "thawed", "evaporated", "condensed"].map(|n| Column::new(n, "1/s"));
        let work = ["largest filling", "pressure iterations", "pressure residual", "friction iterations"];
        let force = |w: &str| ["x", "y", "z"].map(|a| Column::new(format!("{w} force {a}"), "N"));
        let forces = self.walls.iter().map(String::as_str).chain(["bodies"]).flat_map(force);
        let own = work.map(|n| Column::new(n, "")).into_iter().chain([Column::new("dissipated", "J")]);
        masses.into_iter().chain(rates).chain(own).chain(forces).collect()
    }

    fn measure(&mut self, view: &View<'_>) -> Vec<f64> {
        let Some(flip) = view.solvers.find::<Flip>() else { return vec![0.0; self.columns().len()] };
        let (a, report, quantum) = (flip.account(), flip.report(), flip.settings().quantum());
        let masses = a.quanta.map(|q| q as f64 * quantum);
        let (span, now) = (view.frame.time - self.before.0, converted(&a));
        let was = std::mem::replace(&mut self.before, (view.frame.time, now)).1;
        let rate = |k: usize| if span > 0.0 { (now[k] - was[k]) as f64 / span } else { 0.0 };
        let mut row = vec![masses[0], masses[1], masses[2], masses.iter().sum()];
        row.extend((0..4).map(rate));
        row.extend([report.fullest, report.press_iterations as f64, report.press.residual]);
        row.extend([report.grip.iterations as f64, a.dissipated]);
        let walls = &view.frame.walls;
        row.extend(walls.iter().take(self.walls.len()).flat_map(|w| w.force.to_array()));
        let bodies = walls.iter().skip(self.walls.len() + self.grounds).map(|w| w.force);
        row.extend(bodies.sum::<glam::DVec3>().to_array());
        row
    }

    fn save(&self) -> Vec<(&'static str, Saved)> {
        let (time, counts) = self.before;
        vec![(KEPT, Saved::U64(counts.into_iter().chain([time.to_bits()]).collect()))]
    }

    fn load(&mut self, columns: &dyn Fn(&str) -> Option<Saved>) -> Result<(), String> {
        match columns(KEPT) {
            Some(Saved::U64(v)) if v.len() == 5 => {
                self.before = (f64::from_bits(v[4]), std::array::from_fn(|k| v[k]));
                Ok(())
            }
            _ => Err(format!("the column `{KEPT}` is missing or of another kind")),
        }
    }
}
