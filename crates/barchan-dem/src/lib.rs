//! The distinct-element solver: rigid grains of one or several spheres, meeting through soft contacts.
//!
//! [`Dem`] is the solver; `step.rs` shows one step as the sequence of its passes. State is kept in `state.rs`, lists and
//! contact memory in `lists/mod.rs`, the contact kernel in `kernel`, time stepping in `integrate.rs`, sleep in
//! `sleep/mod.rs`.

// What enters the state of a run comes from `barchan_core::math`; clippy.toml has the list and the reason.
#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

mod alone;
mod births;
mod bodies;
mod bonds;
mod bridges;
mod cell;
mod checkpoint;
mod integrate;
mod kernel;
mod lists;
mod observe;
mod order;
mod pinned;
mod settings;
mod sleep;
mod state;
mod step;
mod translate;

pub use alone::Alone;
pub use bonds::{Broken, NewBond, To};
pub use cell::{Cell, CellLaw, Straining};
pub use settings::*;
pub use sleep::Sleep;
pub use step::Stage;
pub use translate::Translation;

use barchan_core::boundary::Boundary;
use barchan_core::clock::Interval;
use barchan_core::columns::{Columns, Saved, Unfit};
use barchan_core::contact::bond::BondLaw;
use barchan_core::frame::{Pairs, Population};
use barchan_core::simd::Isa;
use barchan_core::solver::{Contact, Departed, Energies, NewMatter};
use barchan_core::stages::StageTime;
use barchan_core::walls::WallState;
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

impl From<Unfit> for DemError {
    fn from(e: Unfit) -> DemError {
        DemError::Checkpoint(e.0)
    }
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
mod solver;
pub use solver::BYTES_PER_SPHERE;

impl Dem {
    /// A solver without grains, between these walls.
    pub fn new(settings: Settings, boundary: &Boundary) -> Dem {
        Dem(match settings.precision {
            Precision::Mixed => Inner::Mixed(Solver::new(settings, boundary)),
            Precision::Double => Inner::Double(Solver::new(settings, boundary)),
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
    pub fn add(&mut self, grains: &[NewMatter], boundary: &Boundary) -> Result<u32, DemError> {
        on!(&mut self.0, s => s.add(grains, boundary))
    }

    /// Removes the grains for which `leaves(id, position)` is true, and returns them as they were.
    pub fn remove_where(&mut self, leaves: &dyn Fn(u32, DVec3) -> bool) -> Vec<Departed> {
        on!(&mut self.0, s => s.remove_where(leaves))
    }

    /// One world step: as many steps as it takes.
    ///
    /// Its passes run on rayon's threads. A loop that is itself run there (`rayon::scope`) saves waking them every step,
    /// which small worlds feel.
    pub fn step(&mut self, interval: &Interval, boundary: &mut Boundary) -> Result<(), DemError> {
        on!(&mut self.0, s => rayon::scope(|_| s.step(interval, boundary)))
    }

    /// Grains found outside the domain's non-periodic sides (looked for at each list rebuild) since the last call.
    pub fn take_outside(&mut self) -> Vec<u32> {
        on!(&mut self.0, s => std::mem::take(&mut s.outside))
    }

    /// Where a grain is [m]; none if it is not there.
    pub fn place_of(&self, id: u32) -> Option<DVec3> {
        on!(&self.0, s => {
            let row = s.grains.id.iter().position(|i| *i == id)?;
            Some(state::vec3(s.grains.place(row, &s.spheres.record)))
        })
    }

    /// Tells the boundary where the bodies are, and what acts on them.
    pub fn place_bodies(&self, boundary: &mut Boundary) {
        on!(&self.0, s => s.place_bodies(boundary));
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

    /// Bonds grains as they stand, free of stress; grains that are not there are passed over.
    pub fn bond(&mut self, law: BondLaw, new: &[NewBond]) {
        on!(&mut self.0, s => s.bond(law, new));
    }

    /// Number of bonds.
    pub fn bonds(&self) -> usize {
        on!(&self.0, s => s.bonds.len())
    }

    /// Bonds that broke since the start.
    pub fn broken(&self) -> Broken {
        on!(&self.0, s => s.broken())
    }

    /// All bonds.
    pub fn bond_pairs(&self) -> Pairs {
        on!(&self.0, s => s.bond_pairs())
    }

    /// State of a strained periodic cell, and what was measured in it in the last step; none where the cell stays as it is.
    pub fn cell(&self) -> Option<Cell> {
        on!(&self.0, s => s.settings.cell.map(|_| s.cell))
    }

    /// Number of liquid bridges.
    pub fn bridges(&self) -> usize {
        on!(&self.0, s => s.bridges.len())
    }

    /// Computes the forces of the state as it is, so that the first step goes on from them: for a state that was not at its start before, such as
    /// a packing from a file. Velocities at the present time stay.
    pub fn begin(&mut self, boundary: &Boundary) -> Result<(), DemError> {
        on!(&mut self.0, s => s.begin(boundary))
    }

    /// Gives the grains born last these ids, in their order; later ones follow the largest. False, and nothing is done, where an id is taken or comes
    /// twice.
    pub fn name_newborn(&mut self, ids: &[u32]) -> bool {
        on!(&mut self.0, s => s.name_newborn(ids))
    }

    /// The grains at the present time; velocities at the full step.
    pub fn population(&self) -> Population {
        on!(&self.0, s => s.population())
    }

    /// Whether the grain in a row of [`Dem::population`] touches anything.
    pub fn touches(&self, row: usize) -> bool {
        on!(&self.0, s => s.touches(row))
    }

    /// Force [N] and torque about the centre of mass [N m] of all contacts on a grain, and of its load from outside; none if it is not there (any more).
    pub fn load_on(&self, id: u32) -> Option<(DVec3, DVec3)> {
        on!(&self.0, s => s.load_on(id))
    }

    /// All touching contacts (grain–grain once, grain–wall), in a fixed order.
    pub fn contacts(&self) -> Vec<Contact> {
        on!(&self.0, s => s.contacts_now())
    }

    /// Rows in [`Dem::population`] of the grains of each contact between two, and the force of the second on the first [N]; in a fixed order.
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

    /// How the walls stood when contacts were last computed, and what grains did to them.
    pub fn walls(&self) -> &[WallState] {
        on!(&self.0, s => &s.walls)
    }

    /// Time spent per stage.
    pub fn timers(&self) -> &[StageTime] {
        on!(&self.0, s => s.timers.times())
    }

    /// Bytes held by all columns and lists.
    pub fn memory_bytes(&self) -> usize {
        on!(&self.0, s => s.memory_bytes())
    }

    /// What one step must at least move and compute.
    pub fn work(&self) -> Work {
        on!(&self.0, s => s.work())
    }

    /// Mixes the state into a hash ([`barchan_core::columns::mix`]): equal bits, equal hash.
    pub fn hash(&self, start: u64) -> u64 {
        on!(&self.0, s => s.hash(start))
    }

    /// The complete state (contact memory and lists included) as named columns of numbers, for a checkpoint.
    pub fn save(&self) -> Columns {
        on!(&self.0, s => s.save())
    }

    /// Restores what [`Dem::save`] gave, into a solver made with equal settings and an equal boundary. The run then goes on bit
    /// for bit.
    pub fn load(settings: Settings, saved: Saved<'_>, boundary: &Boundary) -> Result<Dem, DemError> {
        Ok(Dem(match settings.precision {
            Precision::Mixed => Inner::Mixed(Solver::load(settings, saved, boundary)?),
            Precision::Double => Inner::Double(Solver::load(settings, saved, boundary)?),
        }))
    }
}
