//! Chosen grains over time.

use super::{Asked, Observer, View};
use barchan_core::solver::Partner;
use barchan_dem::Dem;
use barchan_io::csv::Column;
use barchan_scene::check::Check;
use barchan_scene::measure::Measured;
use barchan_scene::{Scene, keys};
use glam::DVec3;

/// Grains that a table has room for: thirteen columns each.
const MOST: usize = 1000;

keys! {
    /// Place, velocity, spin, force and number of contacts of chosen grains.
    pub struct GrainsKeys = "write `grains = { ids = [0, 17] }`" {
        /// Ids of the grains: those of bodies first, then in the order of birth.
        ids: Vec<u64> [; help("write a list of ids, such as [0, 17]")],
    }
}

impl Measured for GrainsKeys {
    const KEY: &'static str = "grains";
    const ABOUT: &'static str = "Place, velocity, spin, force and number of contacts of chosen grains.";

    fn check_all(&self, c: &mut Check, path: &str) {
        let path = format!("{path}.ids");
        if self.ids.is_empty() && c.given(&path) {
            c.error(&path, "no grain is chosen", "list ids, such as [0, 17]");
        }
        if self.ids.len() > MOST {
            let message = format!("{} grains are too many for a table", self.ids.len());
            c.error(&path, message, format!("choose at most {MOST}; frames have all"));
        }
        if let Some(id) = self.ids.iter().find(|id| **id >= u64::from(u32::MAX)) {
            c.error(path, format!("no grain has the id {id}"), "ids are counted from 0 in the order of birth");
        }
    }
}

impl Asked for GrainsKeys {
    fn observer(&self, _: &Scene) -> Box<dyn Observer> {
        Box::new(GrainPaths { ids: self.ids.iter().map(|id| *id as u32).collect() })
    }
}

/// Place [m], velocity [m/s], spin [rad/s], force of all contacts [N], and number of contacts of each grain. One that is not there has NaN.
pub struct GrainPaths {
    ids: Vec<u32>,
}

impl Observer for GrainPaths {
    fn columns(&self) -> Vec<Column> {
        let of = |id: &u32| {
            let three = |what: &str, unit: &str| {
                ["x", "y", "z"].map(|a| Column::new(format!("{id} {what} {a}"), unit)).to_vec()
            };
            let vectors =
                [three("position", "m"), three("velocity", "m/s"), three("spin", "rad/s"), three("force", "N")];
            [vectors.concat(), vec![Column::new(format!("{id} contacts"), "")]].concat()
        };
        self.ids.iter().flat_map(of).collect()
    }

    fn measure(&mut self, view: &View<'_>) -> Vec<f64> {
        let f = view.grains();
        let dem = view.solvers.find::<Dem>();
        let contacts = view.contacts();
        let of = |id: &u32| {
            let Some(g) = f.id.iter().position(|i| i == id) else { return vec![f64::NAN; 13] };
            let force = dem.and_then(|d| d.load_on(*id)).map_or(DVec3::NAN, |load| load.0);
            let touches = contacts.iter().filter(|c| c.grain == *id || c.partner == Partner::Grain(*id)).count();
            let three = [f.position[g], f.velocity[g], f.spin_of(g), force].map(|v| v.to_array()).concat();
            [&three[..], &[touches as f64]].concat()
        };
        self.ids.iter().flat_map(of).collect()
    }
}
