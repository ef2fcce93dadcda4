//! Why the continuum had to stop.

use barchan_core::columns::Unfit;
use barchan_core::solver::SolverError;
use glam::DVec3;

/// Why the continuum had to stop. The message names the particle, the time and the remedy.
#[derive(Debug, thiserror::Error, Clone, PartialEq)]
pub enum SphError {
    /// A position or velocity is not a number.
    #[error(
        "particle {id} is not finite at t = {time:.6} s, last seen at {}: a wall moves too fast, or the step is too long; lower largest_step",
        at(*.place)
    )]
    NotFinite {
        /// Particle.
        id: u32,
        /// Where it was last [m].
        place: DVec3,
        /// Time [s].
        time: f64,
    },
    /// More neighbours than a list takes.
    #[error(
        "particle {id} at {} has {neighbours} neighbours at t = {time:.6} s, of which 32 are usual: matter was added where there is matter, or \
         pressed into nothing; pour more slowly or lower the tolerance",
        at(*.place)
    )]
    Crowded {
        /// Particle.
        id: u32,
        /// Where it is [m].
        place: DVec3,
        /// Neighbours.
        neighbours: usize,
        /// Time [s].
        time: f64,
    },
    /// The wind has no finite speed.
    #[error(
        "the wind has no finite speed at {}, t = {time:.6} s: change the formula under air.velocity so that it divides by nothing that can be 0",
        at(*.place)
    )]
    Wind {
        /// Where [m].
        place: DVec3,
        /// Time [s].
        time: f64,
    },
    /// A particle is where only a wall can be.
    #[error(
        "particle {id} got through \"{wall}\" at t = {time:.6} s: at {} it is {depth:.1e} m behind it; lower largest_step, let walls move more slowly, \
         or look for matter squeezed between walls there",
        at(*.place)
    )]
    ThroughWall {
        /// Particle.
        id: u32,
        /// Where it is [m].
        place: DVec3,
        /// How far behind [m].
        depth: f64,
        /// The wall.
        wall: String,
        /// Time [s].
        time: f64,
    },
    /// The iterations do not converge.
    #[error(
        "the stress does not converge at t = {time:.6} s: after {iterations} iterations the mean density error is {residual:.1e} and the mean strain \
         that friction should have held {strain:.1e}, the worst at particle {id} at {}; lower largest_step, or look for matter squeezed between \
         walls there",
        at(*.place)
    )]
    NoConvergence {
        /// Time [s].
        time: f64,
        /// Iterations made.
        iterations: u32,
        /// Mean error of density that is left.
        residual: f64,
        /// Mean strain that friction should have held.
        strain: f64,
        /// The particle that is worst off.
        id: u32,
        /// Where it is [m].
        place: DVec3,
    },
    /// Matter inside a wall.
    #[error(
        "{count} particles would be born inside a wall, the first at {}, {depth:.1e} m behind \"{wall}\"; fill half a spacing off walls",
        at(*.place)
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

/// A place in a message.
fn at(x: DVec3) -> String {
    format!("({:.4}, {:.4}, {:.4}) m", x.x, x.y, x.z)
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
