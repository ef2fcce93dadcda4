//! Grains in a region.

use super::{Observer, View};
use barchan_core::regions::Region;
use barchan_io::csv::Column;

/// Number and mass of the grains whose centre is in a region.
#[derive(Clone, Debug)]
pub struct CountInRegion {
    region: Region,
}

impl CountInRegion {
    /// In this region.
    pub fn new(region: Region) -> CountInRegion {
        CountInRegion { region }
    }
}

impl Observer for CountInRegion {
    fn columns(&self) -> Vec<Column> {
        vec![Column::new("grains", ""), Column::new("mass", "kg")]
    }

    fn measure(&mut self, view: &View<'_>) -> Vec<f64> {
        let inside = (0..view.frame.len()).filter(|&i| self.region.contains(view.frame.position[i]));
        let (grains, mass) = inside.fold((0.0, 0.0), |(n, m), i| (n + 1.0, m + view.frame.mass[i]));
        vec![grains, mass]
    }
}
