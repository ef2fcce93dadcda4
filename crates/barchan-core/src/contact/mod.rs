//! Contact laws: how two bodies that overlap push, drag and turn each other.
//!
//! A law is composed of a normal part ([`normal`]), a tangential part ([`tangential`]), and resistance to rolling and
//! twisting ([`rolling`]). The parts are small pure functions over [`crate::simd::Lanes`]; [`law::react`] puts them
//! together for eight contacts at once. What a pair of materials contributes is a row of eight numbers ([`PairRow`]),
//! computed once from the [`crate::materials::Materials`].
//!
//! Grain against grain, wall and (later) mesh use this one convention: the normal points from grain *i* to its partner
//! *j*; the contact point lies half an overlap inside both; velocities are those of *i* relative to *j* there.

pub mod bond;
pub mod bridge;
pub mod law;
pub mod normal;
pub mod restitution;
pub mod rolling;
mod rows;
pub mod tangential;
mod timestep;

pub use law::{Encounter, Memory, Reaction, react};
pub use rows::{PairRow, PairTable, slot};
pub use timestep::{TimeStep, time_step};

/// Normal part of the law.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum NormalLaw {
    /// Linear spring and dashpot with a given stiffness [N/m].
    Linear {
        /// Stiffness [N/m].
        stiffness: f64,
    },
    /// Linear spring and dashpot, both given: F = k ξ + c ξ̇, whatever restitution follows.
    Dashpot {
        /// Stiffness k [N/m].
        stiffness: f64,
        /// Damping c [N s/m].
        damping: f64,
    },
    /// Linear spring and dashpot with a given duration of an impact [s], whatever the masses.
    LinearTime {
        /// Duration of a contact [s].
        contact_time: f64,
    },
    /// Hertz, damped so that the restitution is the one asked for at any speed.
    Hertz,
    /// Hertz, with viscoelastic damping [Kuwabara and Kono 1987; Brilliantov 1996].
    KuwabaraKono {
        /// Dissipative time constant A [s].
        dissipation: f64,
    },
    /// k ξ^{3/2} + γ m* ξ̇ [Lee and Herrmann 1993].
    LeeHerrmann {
        /// k [N/m^{3/2}].
        stiffness: f64,
        /// γ [1/s].
        damping: f64,
    },
}

/// Tangential part of the law.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TangentialLaw {
    /// Mindlin's spring with memory: what loading adds to the contact carries nothing at first.
    Mindlin,
    /// The same stiffness times all the displacement there was, as many programs have it; loading can create energy.
    MindlinDisplacement,
    /// Linear spring with memory [Cundall and Strack 1979].
    CundallStrack {
        /// Tangential over normal stiffness.
        ratio: f64,
    },
    /// As Cundall and Strack, with a dashpot that is given.
    Dashpot {
        /// Tangential over normal stiffness.
        ratio: f64,
        /// Damping [N s/m].
        damping: f64,
    },
    /// min(μ Fₙ, γ |v|): no memory [Longmore 2009, eq. 3.28].
    Viscous {
        /// γ [N s/m].
        damping: f64,
    },
}

/// What is kept of the tangential spring where friction is at its limit μ Fₙ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cap {
    /// Spring and dashpot give way in the same proportion.
    Shared,
    /// The spring gives way alone, to what the limit leaves beside the dashpot, as LAMMPS has it.
    Spring,
}

/// What resistance to rolling and twisting acts against.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rolling {
    /// The relative rotation of the two, by a spring with memory.
    Relative,
    /// Each grain's own spin, without memory [Zhou, Wright, Yang, Xu and Yu 1999].
    Own,
}

/// A contact law, composed of its parts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContactLaw {
    /// Along the normal.
    pub normal: NormalLaw,
    /// In the contact plane.
    pub tangential: TangentialLaw,
    /// How the tangential spring gives way.
    pub cap: Cap,
    /// What rolling resistance acts against.
    pub rolling: Rolling,
}

impl ContactLaw {
    /// The law that scenes have if they do not choose.
    pub const HERTZ_MINDLIN: ContactLaw = ContactLaw {
        normal: NormalLaw::Hertz,
        tangential: TangentialLaw::Mindlin,
        cap: Cap::Shared,
        rolling: Rolling::Relative,
    };
}
