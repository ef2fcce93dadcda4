//! Granular matter as a continuum, by smoothed particles (SPH).
//!
//! [`Sph`] is the solver; `step.rs` shows one step as the sequence of its stages. A particle stands for d³ of matter at rest density. Pressure keeps
//! what is full from being compressed; a deviatoric stress within a Drucker–Prager cone resists shear, at rest as in flow. Both are unknowns of one
//! convex problem a step, solved by projected iterations that start from the last step's stress: a heap stands still, at steps set by
//! gravity and speed, not by a sound's.
//!
//! Matter has one density at rest: it neither dilates in shear nor compacts.

// What enters the state of a run comes from `barchan_core::math`; clippy.toml has the list and the reason.
#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

mod checkpoint;
mod drag;
mod error;
mod fill;
mod flow;
mod grains;
mod integrate;
mod knobs;
mod lists;
pub mod maps;
mod mirror;
mod observe;
mod passes;
mod prepare;
mod rheology;
mod settings;
mod shown;
mod smoothing;
mod solve;
mod state;
mod step;
#[cfg(test)]
mod tests;
mod walls;

pub use error::SphError;
pub use fill::{Filled, Filling, MOST_JITTER};
pub use flow::Report;
pub use grains::{GrainSettings, Rule, Summation};
pub use observe::{SPH, State};
pub use settings::*;
pub use smoothing::{Kernel, LatticeSums, SUPPORT, particle_mass};
pub use step::Stage;

use barchan_core::boundary::Boundary;
use barchan_core::solver::NewMatter;
use flow::Flow;

/// The continuum.
pub struct Sph(Inner);

// A step is long against one jump through this enum; inside, the precision is known at compile time.
#[allow(clippy::large_enum_variant)]
enum Inner {
    Mixed(Flow<f32>),
    Double(Flow<f64>),
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
mod solver;
pub use solver::BYTES_PER_PARTICLE;

impl Sph {
    /// A continuum without particles.
    pub fn new(settings: Settings) -> Result<Sph, SphError> {
        let found = settings.check();
        if !found.is_empty() {
            return Err(SphError::Settings(found.join("; ")));
        }
        Ok(Sph(match settings.precision {
            Precision::Mixed => Inner::Mixed(Flow::new(settings)),
            Precision::Double => Inner::Double(Flow::new(settings)),
        }))
    }

    /// Settings in force.
    pub fn settings(&self) -> &Settings {
        on!(&self.0, s => &s.settings)
    }

    /// Mass of a particle [kg], such that the rest lattice has the rest density.
    pub fn particle_mass(&self) -> f64 {
        on!(&self.0, s => s.mass)
    }

    /// Number of particles.
    pub fn len(&self) -> usize {
        on!(&self.0, s => s.particles.len())
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What the last step was like.
    pub fn report(&self) -> Report {
        on!(&self.0, s => s.report)
    }

    /// Steps that the solver has taken, several a world step where speeds ask for it.
    pub fn steps(&self) -> u64 {
        on!(&self.0, s => s.steps)
    }

    /// Births with the pressures they begin with [Pa] (0 where there is none); returns the id of the first, the others follow.
    pub fn add_filled(&mut self, matter: &[NewMatter], pressure: &[f64], boundary: &Boundary) -> Result<u32, SphError> {
        on!(&mut self.0, s => s.add(matter, pressure, boundary))
    }

    /// Changes settings while matter moves. Spacing, densities, kernel, domain and precision stay as they were.
    fn change(&mut self, change: impl FnOnce(&mut Settings)) -> Result<(), SphError> {
        let mut settings = self.settings().clone();
        change(&mut settings);
        let found = settings.check();
        if !found.is_empty() {
            return Err(SphError::Settings(found.join("; ")));
        }
        on!(&mut self.0, s => {
            s.settings = settings;
            s.take_settings();
        });
        Ok(())
    }
}
