//! Matter in a region.

use super::{Asked, Observer, View};
use barchan_core::regions;
use barchan_io::csv::Column;
use barchan_scene::check::{Check, corners};
use barchan_scene::measure::Measured;
use barchan_scene::{Region, Scene, keys};

keys! {
    /// Grains and mass in a region.
    pub struct CountKeys = "write `{ box = { min, max } }`, `{ cylinder = … }` or `{ sphere = … }`" {
        /// Where.
        @flat region: Region [; help("say where to count: a `box`, `cylinder` or `sphere`")],
    }
}

impl Measured for CountKeys {
    const KEY: &'static str = "count";
    const ABOUT: &'static str = "Grains and mass in a region.";

    fn check_all(&self, c: &mut Check, path: &str) {
        corners(c, path, &self.region);
    }
}

impl Asked for CountKeys {
    fn observer(&self, _: &Scene) -> Box<dyn Observer> {
        Box::new(CountInRegion::new(self.region.to_core()))
    }
}

/// Number and mass of the grains and particles whose centre is in a region.
#[derive(Clone, Debug)]
pub struct CountInRegion {
    region: regions::Region,
}

impl CountInRegion {
    /// In this region.
    pub fn new(region: regions::Region) -> CountInRegion {
        CountInRegion { region }
    }
}

impl Observer for CountInRegion {
    fn columns(&self) -> Vec<Column> {
        vec![Column::new("grains", ""), Column::new("mass", "kg")]
    }

    fn measure(&mut self, view: &View<'_>) -> Vec<f64> {
        let all = view.frame.matter().flat_map(|p| p.position.iter().zip(p.mass.iter()));
        let inside = all.filter(|(x, _)| self.region.contains(**x));
        let (pieces, mass) = inside.fold((0.0, 0.0), |(n, m), (_, mass)| (n + 1.0, m + mass));
        vec![pieces, mass]
    }
}
