//! What may go wrong with grains on a device.

use crate::device::GpuError;
use barchan_core::solver::SolverError;

/// Why grains cannot be computed on a device, or could not go on.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum GpuDemError {
    /// What the scene has that kernels do not know.
    #[error("grains cannot be computed on a graphics adapter: {}; run with `--device cpu`", .0.join("; "))]
    Refused(Vec<String>),
    /// The device.
    #[error(transparent)]
    Device(#[from] GpuError),
    /// A velocity is not a number.
    #[error(
        "grain {id} is not finite at t = {time:.6} s: the time step is too large or a wall moves too fast; use a smaller dt"
    )]
    NotFinite {
        /// Grain.
        id: u32,
        /// Time [s].
        time: f64,
    },
    /// A grain moved farther in one step than lists allow.
    #[error("grain {id} moved farther than lists allow in one step, at t = {time:.6} s; use a smaller dt")]
    TooFast {
        /// Grain.
        id: u32,
        /// Time [s].
        time: f64,
    },
    /// Overlap beyond the range of the law.
    #[error(
        "grain {id} and others overlap by up to {share:.1} % of the smaller radius at t = {time:.6} s, beyond what the contact law means; \
         stiffen the material, lower the speeds, or raise integrator.max_overlap"
    )]
    Overlap {
        /// The first of them.
        id: u32,
        /// Overlap in per cent of the smaller radius.
        share: f64,
        /// Time [s].
        time: f64,
    },
    /// A grain with more neighbours than a list has room for.
    #[error(
        "some grain has more than 2047 neighbours, or 1023 faces and bumps of walls, near it; run with `--device cpu`"
    )]
    Crowded,
    /// A state that does not fit.
    #[error("the checkpoint cannot be taken up: {0}")]
    Checkpoint(String),
    /// A grain that the device cannot hold.
    #[error("a new grain has {0}; run with `--device cpu`")]
    NoSuch(&'static str),
}

impl From<GpuDemError> for SolverError {
    fn from(e: GpuDemError) -> SolverError {
        SolverError::new(e)
    }
}

impl From<GpuError> for SolverError {
    fn from(e: GpuError) -> SolverError {
        SolverError::new(e)
    }
}
