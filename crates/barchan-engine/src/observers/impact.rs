//! Impact of a flow on a wall: force, pressure, impulse, and the greatest of them.

use super::{Asked, Observer, View};
use barchan_core::columns::Column;
use barchan_core::solver::Partner;
use barchan_io::csv;
use barchan_scene::check::Check;
use barchan_scene::measure::Measured;
use barchan_scene::read::{listing, nearest};
use barchan_scene::{Scene, keys};
use glam::DVec3;
use std::collections::BTreeSet;

keys! {
    /// Force, impulse, wetted area and pressure on a wall: a house, a mast, a dam.
    pub struct ImpactKeys = "write `impact = { wall = \"house\" }`" {
        /// Name of the wall.
        wall: String [; help("add `wall`: the name of one of the `[[walls]]`")],
        /// Width of the patches that the wetted area is counted in [m]; left out: two mean diameters of the grains.
        patch: Option<f64> [LENGTH; grows, positive("the width of a patch")],
    }
}

impl Measured for ImpactKeys {
    const KEY: &'static str = "impact";
    const ABOUT: &'static str = "Force, impulse, wetted area and pressure on a wall: a house, a mast, a dam.";

    fn check_all(&self, c: &mut Check, path: &str) {
        let names = || c.scene.walls.iter().map(|w| w.name.as_str());
        if self.wall.is_empty() || names().any(|n| n == self.wall) {
            return; // an empty name could not be read and has been reported
        }
        let help = match nearest(&self.wall, names()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("use {}", listing(names())),
        };
        c.error(format!("{path}.wall"), format!("there is no wall `{}`", self.wall), help);
    }
}

impl Asked for ImpactKeys {
    fn observer(&self, scene: &Scene) -> Box<dyn Observer> {
        let wall = scene.walls.iter().position(|w| w.name == self.wall).unwrap_or_default();
        Box::new(Impact::new(wall as u16, self.patch))
    }
}

/// Impact on a wall. A row has the mean force since the last row [N], its impulse since the start [N s], the wetted area [m²] (patches that were touched
/// since the last row), the mean pressure over it [Pa], and the greatest force and pressure of all looks so far.
///
/// The impulse is a sum over looks, some twenty of which a contact lasts. A look costs a pass over all contacts.
#[derive(Clone, Debug)]
pub struct Impact {
    wall: u16,
    patch: Option<f64>,
    time: f64,
    began: f64,
    force: DVec3,
    impulse: DVec3,
    touched: BTreeSet<[i64; 3]>,
    peaks: [f64; 2],
}

impl Impact {
    /// On the wall of that index, with patches of that width [m].
    pub fn new(wall: u16, patch: Option<f64>) -> Impact {
        let (zero, touched) = (DVec3::ZERO, BTreeSet::new());
        Impact { wall, patch, time: 0.0, began: 0.0, force: zero, impulse: zero, touched, peaks: [0.0; 2] }
    }

    fn look(&mut self, view: &View<'_>) {
        let population = view.grains();
        let mean = population.radius.iter().sum::<f64>() / population.len().max(1) as f64;
        let patch = *self.patch.get_or_insert(4.0 * mean);
        let mut now = BTreeSet::new();
        for c in view.contacts().iter().filter(|c| c.partner == Partner::Wall(self.wall)) {
            now.insert((c.point / patch).floor().to_array().map(|k| k as i64));
        }
        let force = view.frame.walls.get(usize::from(self.wall)).map_or(DVec3::ZERO, |w| w.force);
        let time = view.frame.time;
        let given = force * (time - self.time);
        self.impulse += given;
        self.force += given;
        self.time = time;
        let area = now.len() as f64 * patch * patch;
        self.peaks[0] = self.peaks[0].max(force.length());
        if area > 0.0 {
            self.peaks[1] = self.peaks[1].max(force.length() / area);
        }
        self.touched.append(&mut now);
    }
}

impl Observer for Impact {
    fn columns(&self) -> Vec<csv::Column> {
        [
            ("force x", "N"),
            ("force y", "N"),
            ("force z", "N"),
            ("impulse x", "N s"),
            ("impulse y", "N s"),
            ("impulse z", "N s"),
            ("wetted area", "m2"),
            ("pressure", "Pa"),
            ("peak force", "N"),
            ("peak pressure", "Pa"),
        ]
        .map(|(name, unit)| csv::Column::new(name, unit))
        .to_vec()
    }

    fn watches(&self) -> bool {
        true
    }

    fn watch(&mut self, view: &View<'_>) {
        self.look(view);
    }

    fn measure(&mut self, view: &View<'_>) -> Vec<f64> {
        self.look(view);
        let span = self.time - self.began;
        let force = if span > 0.0 { self.force / span } else { DVec3::ZERO };
        let patch = self.patch.unwrap_or(0.0);
        let area = self.touched.len() as f64 * patch * patch;
        let pressure = if area > 0.0 { force.length() / area } else { 0.0 };
        (self.began, self.force) = (self.time, DVec3::ZERO);
        self.touched.clear();
        let vectors = [force, self.impulse].into_iter().flat_map(|v| v.to_array());
        vectors.chain([area, pressure]).chain(self.peaks).collect()
    }

    fn save(&self) -> Vec<(&'static str, Column)> {
        let vectors = [self.force, self.impulse].into_iter().flat_map(|v| v.to_array());
        let numbers = vectors.chain(self.peaks).chain([self.time, self.began, self.patch.unwrap_or(-1.0)]);
        let touched = self.touched.iter().flatten().map(|k| *k as u64);
        vec![("gathered", Column::F64(numbers.collect())), ("touched", Column::U64(touched.collect()))]
    }

    fn load(&mut self, columns: &dyn Fn(&str) -> Option<Column>) -> Result<(), String> {
        match (columns("gathered"), columns("touched")) {
            (Some(Column::F64(n)), Some(Column::U64(touched))) if n.len() == 11 && touched.len() % 3 == 0 => {
                (self.force, self.impulse) = (DVec3::from_slice(&n[0..3]), DVec3::from_slice(&n[3..6]));
                self.peaks = [n[6], n[7]];
                (self.time, self.began) = (n[8], n[9]);
                self.patch = (n[10] > 0.0).then_some(n[10]);
                self.touched = touched.chunks_exact(3).map(|k| [k[0] as i64, k[1] as i64, k[2] as i64]).collect();
                Ok(())
            }
            _ => Err("the impact gathered is missing".into()),
        }
    }
}
