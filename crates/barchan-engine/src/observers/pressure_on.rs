//! Pressure on a patch of a wall.

use super::{Asked, Observer, View};
use barchan_core::columns::Column;
use barchan_core::solver::Partner;
use barchan_io::csv;
use barchan_scene::check::Check;
use barchan_scene::measure::Measured;
use barchan_scene::read::{listing, nearest};
use barchan_scene::{Scene, keys};
use glam::DVec3;
use std::f64::consts::PI;

keys! {
    /// Mean and peak pressure over a round patch of a wall.
    pub struct PressureOnKeys = "write `pressure_on = { wall = \"floor\", centre = [0, 0, 0], radius = \"5 cm\" }`" {
        /// Name of the wall.
        wall: String [; help("add `wall`: the name of one of the `[[walls]]`")],
        /// Centre of the patch [m], on the wall; it stays where it is when the wall moves.
        centre: DVec3 [LENGTH; grows],
        /// Radius of the patch [m].
        radius: f64 [LENGTH; grows, positive("the radius of the patch")],
    }
}

impl Measured for PressureOnKeys {
    const KEY: &'static str = "pressure_on";
    const ABOUT: &'static str = "Mean and peak pressure over a round patch of a wall.";

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

impl Asked for PressureOnKeys {
    fn observer(&self, scene: &Scene) -> Box<dyn Observer> {
        let wall = scene.walls.iter().position(|w| w.name == self.wall).unwrap_or_default();
        Box::new(PressureOn::new(wall as u16, self.centre, self.radius))
    }
}

/// Pressure [Pa] of all grains on a patch: the sum of the normal forces of contacts within a distance of its centre, over the area of a
/// disc of that radius. A row has the mean and the largest of the looks since the last row, and the contacts at the row's instant.
///
/// An attraction counts as negative. A look costs a pass over all contacts.
#[derive(Clone, Debug)]
pub struct PressureOn {
    wall: u16,
    centre: DVec3,
    radius: f64,
    looks: u64,
    sum: f64,
    peak: f64,
}

impl PressureOn {
    /// On the wall of that index, within `radius` of `centre` [m].
    pub fn new(wall: u16, centre: DVec3, radius: f64) -> PressureOn {
        PressureOn { wall, centre, radius, looks: 0, sum: 0.0, peak: f64::NEG_INFINITY }
    }

    /// Pressure at this instant [Pa], and the number of contacts.
    fn now(&self, view: &View<'_>) -> (f64, usize) {
        let mut forces = Vec::new();
        for c in view.contacts() {
            if c.partner == Partner::Wall(self.wall) && c.point.distance(self.centre) <= self.radius {
                forces.push(c.normal_force);
            }
        }
        (forces.iter().sum::<f64>() / (PI * self.radius * self.radius), forces.len())
    }

    fn note(&mut self, pressure: f64) {
        self.looks += 1;
        self.sum += pressure;
        self.peak = self.peak.max(pressure);
    }
}

impl Observer for PressureOn {
    fn columns(&self) -> Vec<csv::Column> {
        [("mean pressure", "Pa"), ("peak pressure", "Pa"), ("contacts", "")]
            .map(|(name, unit)| csv::Column::new(name, unit))
            .to_vec()
    }

    fn watches(&self) -> bool {
        true
    }

    fn watch(&mut self, view: &View<'_>) {
        let (pressure, _) = self.now(view);
        self.note(pressure);
    }

    fn measure(&mut self, view: &View<'_>) -> Vec<f64> {
        let (pressure, contacts) = self.now(view);
        self.note(pressure);
        let row = vec![self.sum / self.looks as f64, self.peak, contacts as f64];
        (self.looks, self.sum, self.peak) = (0, 0.0, f64::NEG_INFINITY);
        row
    }

    fn save(&self) -> Vec<(&'static str, Column)> {
        vec![("looks", Column::U64(vec![self.looks])), ("gathered", Column::F64(vec![self.sum, self.peak]))]
    }

    fn load(&mut self, columns: &dyn Fn(&str) -> Option<Column>) -> Result<(), String> {
        match (columns("looks"), columns("gathered")) {
            (Some(Column::U64(looks)), Some(Column::F64(gathered))) if looks.len() == 1 && gathered.len() == 2 => {
                (self.looks, self.sum, self.peak) = (looks[0], gathered[0], gathered[1]);
                Ok(())
            }
            _ => Err("the pressures gathered are missing".into()),
        }
    }
}
