//! Sand in three phases: solid where it lies still and deep, liquid where it flows, gas where it flies.
//!
//! The liquid is a hybrid of parcels and grid, with a pressure that only pushes and a friction cone [Narain, Golas & Lin 2010]. [`Flip`] is
//! the solver behind the seam, `step.rs` shows one step.

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
mod solid;
pub mod solve;
mod solver;
mod step;
mod surface;
#[cfg(test)]
mod tests;
mod transfer;

pub use alone::Alone;
pub use settings::{
    GasSettings, Limit, Rate, Settings, SettingsError, Shown, SolidSettings, SurfaceSettings, Transfer, Yield,
};
pub use solver::{BYTES_PER_PARCEL, Flip, GAS, LIQUID, PhaseAccount, SOLID};
pub use step::{Report, Stage};

/// Why a run had to stop.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum FlipError {
    /// A parcel is nowhere.
    #[error("parcel {id} has no finite velocity at {time:.6} s; check the speeds of walls and emitters")]
    NotFinite {
        /// Its id.
        id: u32,
        /// When [s].
        time: f64,
    },
    /// The pressure was not found.
    #[error(
        "the pressure has not converged in {steps} steps in a row at {time:.6} s (residual {residual:.1e} of a cell); \
         raise `tolerance` or use larger cells"
    )]
    NotConverged {
        /// When [s].
        time: f64,
        /// Steps without convergence.
        steps: u32,
        /// Violation left, as a share of a cell.
        residual: f64,
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
