//! Sand in three phases: solid where it lies still and deep, liquid where it flows, gas where it flies.
//!
//! The liquid is a hybrid of parcels and grid, with a pressure that only pushes and a friction cone [Narain, Golas & Lin 2010]. [`Flip`] is
//! the solver behind the seam, `step.rs` shows one step.

// What enters the state of a run comes from `barchan_core::math`; clippy.toml has the list and the reason.
#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

mod alone;
mod checkpoint;
pub mod clumps;
mod exchange;
mod extend;
mod flow;
mod fractions;
mod gas;
mod grid;
mod grip;
mod loads;
mod pack;
mod parcels;
mod press;
mod rate;
mod resample;
mod rigid;
mod settings;
mod shown;
mod skin;
mod solid;
pub mod solve;
mod solver;
mod step;
mod surface;
#[cfg(test)]
mod tests;
mod transfer;

pub use alone::Alone;
pub use fractions::signed_distance;
pub use settings::{
    GasSettings, Limit, Rate, Settings, SettingsError, Shown, SolidSettings, SurfaceSettings, Transfer, Yield,
};
pub use solver::{
    BOUNCE, BYTES_PER_PARCEL, COVER, Filled, Flip, GAS, LAYERS, LIQUID, PASSES, PER_FACE, Phase, PhaseAccount, SOLID,
};
pub use step::{MOST_STEPS, Report, Stage};

use glam::DVec3;

/// Why a run had to stop.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum FlipError {
    /// A parcel or a grain of gas is nowhere.
    #[error("{what} {id} has no finite place and velocity at {time:.6} s; check the speeds of walls and emitters")]
    NotFinite {
        /// What it is: a parcel, or a grain of gas.
        what: &'static str,
        /// Its id.
        id: u32,
        /// When [s].
        time: f64,
    },
    /// The pressure was not found.
    #[error(
        "the pressure has not converged in {steps} steps in a row at {time:.6} s (residual {residual:.1e} of a cell, \
         largest near {place:.4} m); raise `tolerance` or use larger cells"
    )]
    NotConverged {
        /// When [s].
        time: f64,
        /// Steps without convergence.
        steps: u32,
        /// Violation left, as a share of a cell.
        residual: f64,
        /// Middle of the cell where it is largest [m].
        place: DVec3,
    },
    /// Something moves so fast that a step would take for ever.
    #[error(
        "{what} moves at {speed:.3e} m/s at {time:.6} s: {steps:.0} steps would be needed where {most} are too many already; \
         slow it down, or use larger cells"
    )]
    TooFast {
        /// The wall by its name, or a parcel by its id.
        what: String,
        /// How fast [m/s].
        speed: f64,
        /// When [s].
        time: f64,
        /// Steps in a world step that it asks for.
        steps: f64,
        /// Most that are taken.
        most: f64,
    },
    /// More parcels than there is room for.
    #[error(
        "{parcels} parcels and {grains} grains of gas are more than the capacity of {capacity}; raise `capacity` or use larger cells"
    )]
    Full {
        /// Parcels asked for, with those that frozen cells thaw into.
        parcels: usize,
        /// Grains of gas.
        grains: usize,
        /// Room.
        capacity: usize,
    },
    /// Settings that cannot be run.
    #[error(transparent)]
    Settings(#[from] SettingsError),
}
