//! The choice of contact law and integrator.

use super::names;
use crate::schema as q;
use schemars::JsonSchema;
use serde::Serialize;

/// The contact law of the whole scene.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Contact {
    /// Normal force.
    #[serde(default)]
    pub normal: NormalLaw,
    /// Tangential force; left out: mindlin, or cundall-strack for the laws without a Young's modulus (linear, lee-herrmann).
    #[schemars(default)]
    pub tangential: TangentialLaw,
    /// Linear law: stiffness [N/m]; either this or `contact_time`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "q::stiffness")]
    pub stiffness: Option<f64>,
    /// Linear law: duration of a binary contact [s]; either this or `stiffness`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "q::time")]
    pub contact_time: Option<f64>,
    /// Kuwabara–Kono law: dissipative time constant A [s].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "q::time")]
    pub dissipation: Option<f64>,
    /// Lee–Herrmann law: its two constants.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lee_herrmann: Option<LeeHerrmann>,
    /// Cundall–Strack law: ratio of tangential to normal stiffness; left out: 2/7.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "q::number")]
    pub tangential_stiffness: Option<f64>,
    /// Viscous law: damping γ_s [N s/m].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "q::damping")]
    pub tangential_damping: Option<f64>,
}

impl Default for Contact {
    fn default() -> Self {
        Self {
            normal: NormalLaw::Hertz,
            tangential: TangentialLaw::Mindlin,
            stiffness: None,
            contact_time: None,
            dissipation: None,
            lee_herrmann: None,
            tangential_stiffness: None,
            tangential_damping: None,
        }
    }
}

impl Contact {
    /// Ratio of tangential to normal stiffness of the Cundall–Strack law where the scene gives none (Silbert et al. 2001).
    pub const TANGENTIAL_STIFFNESS: f64 = 2.0 / 7.0;

    /// Whether the chosen laws use the materials' Young's modulus and Poisson's ratio.
    pub fn uses_young(&self) -> bool {
        matches!(self.normal, NormalLaw::Hertz | NormalLaw::KuwabaraKono)
            || matches!(self.tangential, TangentialLaw::Mindlin | TangentialLaw::MindlinDisplacement)
    }

    /// Whether the normal law realises the materials' restitution; the others have a dissipation of their own.
    pub fn uses_restitution(&self) -> bool {
        matches!(self.normal, NormalLaw::Hertz | NormalLaw::Linear)
    }
}

/// Normal force laws.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum NormalLaw {
    /// Hertz elasticity, damped to the asked-for restitution at any speed.
    #[default]
    Hertz,
    /// Spring and dashpot.
    Linear,
    /// Viscoelastic Hertz: 1 − e ∝ v^(1/5).
    KuwabaraKono,
    /// k ξ^(3/2) + γ m_eff ξ̇.
    LeeHerrmann,
}
names!(NormalLaw { Hertz = "hertz", Linear = "linear", KuwabaraKono = "kuwabara-kono", LeeHerrmann = "lee-herrmann" });

/// Tangential force laws.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TangentialLaw {
    /// Spring with memory whose stiffness follows the contact's size.
    #[default]
    Mindlin,
    /// The same without care for energy: stiffness times displacement, as many programs have it.
    MindlinDisplacement,
    /// Spring with memory of constant stiffness.
    CundallStrack,
    /// Viscous, capped by friction, without memory.
    Viscous,
}
names!(TangentialLaw {
    Mindlin = "mindlin",
    MindlinDisplacement = "mindlin-displacement",
    CundallStrack = "cundall-strack",
    Viscous = "viscous"
});

/// Constants of the Lee–Herrmann law.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LeeHerrmann {
    /// Stiffness k [N/m^1.5].
    #[schemars(schema_with = "q::hertz_stiffness")]
    pub stiffness: f64,
    /// Damping rate γ [1/s].
    #[schemars(schema_with = "q::frequency")]
    pub damping: f64,
}

/// How time is advanced.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Integrator {
    /// Scheme.
    #[serde(default)]
    pub method: Method,
    /// Time step [s]; left out: derived from the stiffest contact.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "q::time")]
    pub dt: Option<f64>,
    /// Share of the velocity that position Verlet takes away per step.
    #[serde(default, skip_serializing_if = "is_zero")]
    #[schemars(schema_with = "q::number")]
    pub dissipation: f64,
    /// Precision of the contact kernels.
    #[serde(default)]
    pub precision: Precision,
    /// The run stops when two spheres overlap by more than this share of the smaller radius.
    #[serde(default = "max_overlap")]
    #[schemars(schema_with = "q::number")]
    pub max_overlap: f64,
}

/// Whether a number may be left out of a saved scene.
pub(crate) fn is_zero(x: &f64) -> bool {
    *x == 0.0
}

fn max_overlap() -> f64 {
    Integrator::MAX_OVERLAP
}

impl Integrator {
    /// Largest overlap where the scene gives none, as a share of the smaller radius. Hertz theory is for small overlaps;
    /// softened moduli use up to some percent, a tenth is out of any law's meaning.
    pub const MAX_OVERLAP: f64 = 0.1;
}

impl Default for Integrator {
    fn default() -> Self {
        Self {
            method: Method::VelocityVerlet,
            dt: None,
            dissipation: 0.0,
            precision: Precision::Mixed,
            max_overlap: Self::MAX_OVERLAP,
        }
    }
}

/// Integration schemes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// Second order, symplectic.
    #[default]
    VelocityVerlet,
    /// First order, symplectic.
    SemiImplicitEuler,
    /// Second order in positions, with optional dissipation.
    PositionVerlet,
    /// First order; gains energy, for comparison only.
    ForwardEuler,
}
names!(Method {
    VelocityVerlet = "velocity-verlet",
    SemiImplicitEuler = "semi-implicit-euler",
    PositionVerlet = "position-verlet",
    ForwardEuler = "forward-euler",
});

/// Precision of the contact kernels; the state itself is always in double precision.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Precision {
    /// Single precision on differences of positions.
    #[default]
    Mixed,
    /// Double precision throughout.
    Double,
}
names!(Precision { Mixed = "mixed", Double = "double" });
