//! Observers: what a run measures, one file each, one row at a time.
//!
//! An observer reads the solver and a [`Frame`] and gives a row of numbers; it never changes the world. To add one, write
//! a file here that implements [`Observer`] and one line in [`from_scene`].

mod angles;
mod bodies;
mod coordination;
mod correlation;
mod count;
mod energy;
mod flow;
mod forces;
mod histogram;
mod network;
mod wall_forces;

pub use angles::ContactAngles;
pub use bodies::BodyPaths;
pub use coordination::Coordination;
pub use correlation::ForceCorrelation;
pub use count::CountInRegion;
pub use energy::Energy;
pub use flow::Flow;
pub use forces::{Chosen, Force, OnSphere};
pub use histogram::ForceHistogram;
pub use network::ForceNetwork;
pub use wall_forces::WallForces;

use barchan_core::frame::Frame;
use barchan_dem::{Column, Dem, Departed};
use barchan_io::csv;
use barchan_scene::{Scene, What};

/// What an observer may look at.
pub struct View<'a> {
    /// The solver.
    pub dem: &'a Dem,
    /// Its state, as readers see it.
    pub frame: &'a Frame<'a>,
}

/// A measurement that gives one row of numbers whenever it is due.
pub trait Observer: Send {
    /// Headings of the row. The time comes before them and is not listed.
    fn columns(&self) -> Vec<csv::Column>;

    /// The row at this instant, one number a heading.
    fn measure(&mut self, view: &View<'_>) -> Vec<f64>;

    /// Whether [`Observer::watch`] wants to be called between the rows.
    fn watches(&self) -> bool {
        false
    }

    /// Looks at the grains, every few steps.
    fn watch(&mut self, _frame: &Frame<'_>) {}

    /// Grains that a sink or an open side took, as they were when they left.
    fn departed(&mut self, _gone: &[Departed]) {}

    /// What must survive a checkpoint, as named columns.
    fn save(&self) -> Vec<(&'static str, Column)> {
        Vec::new()
    }

    /// Takes back what [`Observer::save`] gave; the sentence says what does not fit.
    fn load(&mut self, _columns: &dyn Fn(&str) -> Option<Column>) -> Result<(), String> {
        Ok(())
    }
}

/// The observer that a scene asks for.
pub fn from_scene(scene: &Scene, what: &What) -> Box<dyn Observer> {
    let chosen = |within: &Option<barchan_scene::Region>, layer: &Option<f64>| Chosen {
        within: within.as_ref().map(|r| r.to_core()),
        layer: *layer,
    };
    match what {
        What::Energy {} => Box::new(Energy),
        What::Coordination {} => Box::new(Coordination),
        What::Flow { point, normal } => {
            let (side, periodic) = (scene.domain.max - scene.domain.min, scene.domain.is_periodic());
            let shortest = (0..3).filter(|&a| periodic[a]).map(|a| side[a]).fold(f64::INFINITY, f64::min);
            Box::new(Flow::new(*point, *normal, 0.5 * shortest))
        }
        What::Count(region) => Box::new(CountInRegion::new(region.to_core())),
        What::WallForces {} => Box::new(WallForces::new(scene.walls.iter().map(|w| w.name.clone()).collect())),
        What::Bodies {} => Box::new(BodyPaths::new(crate::bodies::named(scene))),
        What::ForceHistogram { bins, max } => Box::new(ForceHistogram::new(*bins as usize, *max)),
        What::ForceNetwork { within, layer } => Box::new(ForceNetwork::new(chosen(within, layer))),
        What::ForceCorrelation { bins, reach, within, layer } => {
            Box::new(ForceCorrelation::new(*bins as usize, *reach, chosen(within, layer)))
        }
        What::ContactAngles { bins, axis, within, layer } => {
            Box::new(ContactAngles::new(*bins as usize, *axis, chosen(within, layer)))
        }
    }
}
