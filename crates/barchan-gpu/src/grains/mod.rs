//! The grain solver on a graphics adapter: spheres between walls, by any contact law.
//!
//! State stays on the device and comes back to be published or saved. Steps are asked for one at a time and done many at a time: they are
//! queued until somebody looks, and go to the device as one submission of at most [`MOST_STEPS`]. In it a step is two launches, `flow` (forces
//! where grains are, and on to where they are next) and `close` (loads on walls are summed, the next step is let run or not). Once a grain has spent
//! what its list allows, the steps left become empty, lists are built anew, and the next submission takes them up. Nothing is read
//! back within a submission.
//!
//! One thread has a grain, its whole list and its own side of each contact, so no sum depends on who comes first. What a pair remembers stands
//! once; the side with the lower slot writes it.
//!
//! **Precision.** Cards have no f64. Places and velocities are fixed-point numbers of 80 and 48 bits: free flight is exact, and
//! differences of places are exact in a domain of any size. Overlaps come from squares in whole numbers. The law works in f32, as it
//! does on the processor in mixed precision.
//!
//! **Order.** Slots are in the order of ids.

mod batch;
mod contacts;
mod cost;
mod error;
mod exchange;
mod features;
mod machine;
mod near;
mod rows;
mod solver;

pub use batch::MOST_STEPS;
pub use cost::Cost;
pub use error::GpuDemError;
pub use features::{MOST_WALLS, refusal};
pub use machine::refusals;

use crate::device::Gpu;
use crate::law;
use barchan_core::boundary::Boundary;
use barchan_dem::Settings;
use machine::Machine;
use std::cell::RefCell;

const COMMON: &str = include_str!("common.wgsl");
const WALLS: &str = include_str!("walls.wgsl");
const INTEGRATE: &str = include_str!("integrate.wgsl");
const CONTACTS: &str = include_str!("contacts.wgsl");
const CLOSE: &str = include_str!("close.wgsl");
const NEAR: &str = include_str!("near.wgsl");

/// The shader of a step, by a law: `begin`, `flow`, `rest`.
pub fn step_shader(law: &barchan_core::contact::ContactLaw, resists: bool) -> String {
    [&law::wgsl(law, resists), COMMON, WALLS, INTEGRATE, CONTACTS].concat()
}

/// The shader of a step's end: `close`, `finish`, `gate`.
pub fn close_shader() -> String {
    [COMMON, CLOSE].concat()
}

/// The shader of the lists.
pub fn near_shader() -> String {
    [COMMON, WALLS, NEAR].concat()
}

barchan_core::stages! {
    /// The stages of a step of the grains on a device. Times are the host's: what a launch takes shows where it is waited for.
    pub enum Stage {
        /// Contact lists are built anew, when an allowance is spent.
        Rebuild = "rebuild",
        /// Submissions of steps.
        Step = "step",
    }
}

/// The grain solver on a device.
///
/// Readers ask for what queued steps lead to, so even they make the device work: that is why its state is in a cell.
pub struct GpuDem(RefCell<Machine>);

impl GpuDem {
    /// A solver without grains, between these walls.
    pub fn new(gpu: Gpu, settings: Settings, boundary: &Boundary) -> Result<GpuDem, GpuDemError> {
        Ok(GpuDem(RefCell::new(Machine::new(gpu, settings, boundary)?)))
    }

    /// Steps of a submission, at most [`MOST_STEPS`]: fewer for tests.
    pub fn set_batch(&mut self, steps: usize) {
        self.0.get_mut().batch = steps.clamp(1, MOST_STEPS);
    }

    /// What a step and a grain cost, counted from what the lists are like now.
    pub fn cost(&self) -> Result<Cost, GpuDemError> {
        let mut machine = self.0.borrow_mut();
        machine.flush()?;
        Ok(machine.cost()?)
    }

    /// Makes the device unusable, as a driver does that is reset: for tests of what follows.
    pub fn lose_device(&self) {
        self.0.borrow().gpu.destroy();
    }
}
