//! The distinct-element solver: rigid grains of one or several spheres, meeting through soft contacts.
//!
//! [`Dem`] is the solver; `step.rs` shows one step as the sequence of its passes. State is kept in `state.rs`, lists and
//! contact memory in `lists.rs`, the contact kernel in `kernel`, time stepping in `integrate.rs`.

mod births;
mod bodies;
mod checkpoint;
mod integrate;
mod kernel;
mod lists;
mod observe;
mod order;
mod pinned;
mod settings;
mod state;
mod step;

pub use settings::*;
pub use step::PASSES;

use barchan_core::frame::Frame;
use barchan_core::simd::Isa;
use barchan_core::walls::{Wall, WallState};
use glam::DVec3;
use step::Solver;

/// Why the solver had to stop. The message names the grain, the time and the remedy.
#[derive(Debug, thiserror::Error, Clone, PartialEq)]
pub enum DemError {
    /// A position or velocity is not a number.
    #[error(
        "grain {id} is not finite at t = {time:.6} s: the time step is too large or a wall moves too fast; use a smaller dt"
    )]
    NotFinite {
        /// Grain.
        id: u32,
        /// Time [s].
        time: f64,
    },
    /// Overlap beyond the range of the law.
    #[error(
        "{a} and {b} overlap by {share:.1} % of the smaller radius at t = {time:.6} s, beyond what the contact law means; \
         stiffen the material, lower the speeds, or raise integrator.max_overlap"
    )]
    Overlap {
        /// One partner.
        a: String,
        /// The other.
        b: String,
        /// Overlap in per cent of the smaller radius.
        share: f64,
        /// Time [s].
        time: f64,
    },
    /// More grains than ids.
    #[error("no more than 4294967294 grains can be born in one run; start a new run from the last frame")]
    OutOfIds,
    /// More spheres than slots.
    #[error("{0} spheres are more than the 2147483647 that fit; use fewer grains, or fewer spheres a grain")]
    TooMany(usize),
    /// A grain of a material or shape that the settings don't have, or without a size.
    #[error("a new grain has {0}; name one that the settings have")]
    NoSuch(&'static str),
    /// A change that cannot be made while grains move.
    #[error("{0} cannot be changed while grains move; change the scene and start it anew")]
    Live(&'static str),
    /// A checkpoint does not fit this solver.
    #[error("the checkpoint does not fit: {0}")]
    Checkpoint(String),
}

/// The grain solver.
pub struct Dem(Inner);

// The step of a solver is long against one jump through this enum; inside, the precision is known at compile time.
#[allow(clippy::large_enum_variant)]
enum Inner {
    Mixed(Solver<f32>),
    Double(Solver<f64>),
}

macro_rules! on {
    ($self:expr, $s:ident => $body:expr) => {
        match $self {
            Inner::Mixed($s) => $body,
            Inner::Double($s) => $body,
        }
    };
}

// Below the macro, which it uses.
mod live;
pub use live::Warp;

impl Dem {
    /// A world without grains.
    pub fn new(settings: Settings) -> Dem {
        Dem(match settings.precision {
            Precision::Mixed => Inner::Mixed(Solver::new(settings)),
            Precision::Double => Inner::Double(Solver::new(settings)),
        })
    }

    /// Settings in force.
    pub fn settings(&self) -> &Settings {
        on!(&self.0, s => &s.settings)
    }

    /// Runs the kernel's build for another instruction set than the best one; `false` if this processor lacks it.
    pub fn use_isa(&mut self, isa: Isa) -> bool {
        if !Isa::available().contains(&isa) {
            return false;
        }
        on!(&mut self.0, s => s.use_isa(isa));
        true
    }

    /// Births; returns the id of the first, the others follow. Nothing is checked for overlap.
    pub fn add(&mut self, grains: &[NewGrain]) -> Result<u32, DemError> {
        on!(&mut self.0, s => s.add(grains))
    }

    /// Removes the grains for which `leaves(id, position)` is true, and returns them as they were.
    pub fn remove_where(&mut self, leaves: &dyn Fn(u32, DVec3) -> bool) -> Vec<Departed> {
        on!(&mut self.0, s => s.remove_where(leaves))
    }

    /// One time step.
    ///
    /// Its passes run on rayon's threads. A loop that is itself run there (`rayon::scope`) saves waking them every step,
    /// which small worlds feel.
    pub fn step(&mut self) -> Result<(), DemError> {
        on!(&mut self.0, s => rayon::scope(|_| s.step()))
    }

    /// Grains found outside the domain's non-periodic sides (looked for at each list rebuild) since the last call.
    pub fn take_outside(&mut self) -> Vec<u32> {
        on!(&mut self.0, s => std::mem::take(&mut s.outside))
    }

    /// Number of grains.
    pub fn len(&self) -> usize {
        on!(&self.0, s => s.grains.len())
    }

    /// Number of spheres of all grains.
    pub fn sphere_count(&self) -> usize {
        on!(&self.0, s => s.spheres.len())
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Simulated time [s].
    pub fn time(&self) -> f64 {
        on!(&self.0, s => s.time())
    }

    /// Steps taken.
    pub fn steps(&self) -> u64 {
        on!(&self.0, s => s.steps)
    }

    /// State at the present time; velocities at the full step.
    pub fn frame(&self) -> Frame<'_> {
        on!(&self.0, s => s.frame())
    }

    /// Force [N] and torque about the centre of mass [N m] of all contacts on a grain, and of its load from outside; none if it is not there (any more).
    pub fn load_on(&self, id: u32) -> Option<(DVec3, DVec3)> {
        on!(&self.0, s => s.load_on(id))
    }

    /// All touching contacts (grain–grain once, grain–wall), in a fixed order.
    pub fn contacts(&self) -> Vec<Contact> {
        on!(&self.0, s => s.contacts_now())
    }

    /// Rows in [`Dem::frame`] of the grains of each contact between two, and the force of the second on the first [N]; in a fixed order.
    pub fn pushes(&self) -> Vec<([usize; 2], DVec3)> {
        on!(&self.0, s => s.pushes())
    }

    /// Number of touching contacts per grain on average: a contact of two grains counts for both, one with a wall once.
    pub fn coordination(&self) -> f64 {
        on!(&self.0, s => s.coordination())
    }

    /// Energies of all grains.
    pub fn energies(&self) -> Energies {
        on!(&self.0, s => s.energies())
    }

    /// Largest overlap over the smaller radius, now.
    pub fn largest_overlap(&self) -> f64 {
        on!(&self.0, s => s.largest_overlap())
    }

    /// Walls with their state.
    pub fn walls(&self) -> (&[Wall], &[WallState]) {
        on!(&self.0, s => (&s.settings.walls, &s.walls))
    }

    /// Walls that are not surfaces of bodies.
    pub fn own_walls(&self) -> &[Wall] {
        on!(&self.0, s => &s.settings.walls[..s.settings.walls.len() - s.settings.carried.len()])
    }

    /// Whether wall `w` can be touched: false for the surface of a body that has left.
    pub fn is_there(&self, w: usize) -> bool {
        on!(&self.0, s => s.carriers.of(w) != bodies::Carrier::Gone)
    }

    /// Time spent per pass.
    pub fn timers(&self) -> Vec<PassTime> {
        on!(&self.0, s => s.timers.to_vec())
    }

    /// Bytes held by all columns and lists.
    pub fn memory_bytes(&self) -> usize {
        on!(&self.0, s => s.memory_bytes())
    }

    /// What one step must at least move and compute.
    pub fn work(&self) -> Work {
        on!(&self.0, s => s.work())
    }

    /// Hash of the whole state: equal bits, equal hash.
    pub fn hash(&self) -> u64 {
        on!(&self.0, s => s.hash())
    }

    /// The complete state (contact memory, lists, walls included) as named columns of numbers, for a checkpoint.
    pub fn save(&self) -> Vec<(String, Column)> {
        on!(&self.0, s => s.save())
    }

    /// Restores what [`Dem::save`] gave, into a solver made with equal settings. The run then goes on bit for bit.
    pub fn load(settings: Settings, columns: &dyn Fn(&str) -> Option<Column>) -> Result<Dem, DemError> {
        Ok(Dem(match settings.precision {
            Precision::Mixed => Inner::Mixed(Solver::load(settings, columns)?),
            Precision::Double => Inner::Double(Solver::load(settings, columns)?),
        }))
    }
}
