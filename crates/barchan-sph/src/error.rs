//! Why the continuum had to stop.

use barchan_core::columns::Unfit;
use barchan_core::solver::SolverError;
use glam::DVec3;

/// Why the continuum had to stop. The message names the particle, the time and the remedy.
#[derive(Debug, thiserror::Error, Clone, PartialEq)]
pub enum SphError {
    /// A position or velocity is not a number.
    #[error(
        "particle {id} is not finite at t = {time:.6} s: a wall moves too fast, or the step is too long; lower largest_step"
    )]
    NotFinite {
        /// Particle.
        id: u32,
        /// Time [s].
        time: f64,
    },
    /// More neighbours than a list takes.
    #[error(
        "particle {id} has {neighbours} neighbours at t = {time:.6} s, of which 32 are usual: matter was added where there is matter, or pressed \
         into nothing; pour more slowly or lower the tolerance"
    )]
    Crowded {
        /// Particle.
        id: u32,
        /// Neighbours.
        neighbours: usize,
        /// Time [s].
        time: f64,
    },
    /// The iterations do not converge.
    #[error(
        "pressure does not converge at t = {time:.6} s: after {iterations} iterations the mean density error is {residual:.1e}, the worst at \
         particle {id} at {place}; lower largest_step, or look for matter squeezed between walls there"
    )]
    NoConvergence {
        /// Time [s].
        time: f64,
        /// Iterations made.
        iterations: u32,
        /// Mean error of density that is left.
        residual: f64,
        /// The particle that is worst off.
        id: u32,
        /// Where it is [m].
        place: DVec3,
    },
    /// Matter inside a wall.
    #[error(
        "{count} particles would be born inside a wall, the first at {place}, {depth:.1e} m behind \"{wall}\"; fill half a spacing off walls"
    )]
    InsideWall {
        /// How many.
        count: usize,
        /// Where the first is [m].
        place: DVec3,
        /// How deep [m].
        depth: f64,
        /// The wall.
        wall: String,
    },
    /// Settings that cannot be.
    #[error("{0}")]
    Settings(String),
    /// More particles than ids.
    #[error("no more than 4294967294 particles can be born in one run; start a new run from the last frame")]
    OutOfIds,
    /// A checkpoint does not fit this solver.
    #[error("the checkpoint does not fit: {0}")]
    Checkpoint(String),
}

impl From<Unfit> for SphError {
    fn from(e: Unfit) -> SphError {
        SphError::Checkpoint(e.0)
    }
}

impl From<SphError> for SolverError {
    fn from(e: SphError) -> SolverError {
        SolverError::new(e)
    }
}
