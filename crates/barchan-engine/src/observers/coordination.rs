//! Number of contacts a grain has.

use super::{Observer, View};
use barchan_io::csv::Column;

/// Mean number of touching contacts a grain, and the largest overlap over the smaller radius.
#[derive(Clone, Copy, Debug, Default)]
pub struct Coordination;

impl Observer for Coordination {
    fn columns(&self) -> Vec<Column> {
        ["coordination", "largest overlap over radius", "grains"].map(|name| Column::new(name, "")).to_vec()
    }

    fn measure(&mut self, view: &View<'_>) -> Vec<f64> {
        vec![view.dem.coordination(), view.dem.largest_overlap(), view.dem.len() as f64]
    }
}
