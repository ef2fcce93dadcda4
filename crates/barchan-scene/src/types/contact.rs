//! The choice of contact law and integrator.

use super::names;
use crate::keys;
use crate::keys::Interval;
use schemars::JsonSchema;
use serde::Serialize;

keys! {
    /// The contact law of the whole scene.
    pub struct Contact = "write `normal = \"hertz\"` under `[contact]`" {
        /// Normal force.
        normal: NormalLaw = NormalLaw::Hertz,
        /// Tangential force; left out: mindlin, or cundall-strack for the laws without a Young's modulus (linear, lee-herrmann).
        tangential: TangentialLaw => |_cx, _keys| Some(normal.tangential()),
        /// Where friction is at its limit: spring and dashpot give way in proportion (`shared`), or the spring alone (`spring`), as LAMMPS has it.
        cap: FrictionCap = FrictionCap::Shared,
        /// What rolling resistance acts against: the relative rotation of two grains (`relative`), or each grain's own spin (`own`).
        rolling: RollingLaw = RollingLaw::Relative,
        /// Linear law with a stiffness: dashpot [N s/m], in place of the materials' restitution.
        normal_damping: Option<f64> [DAMPING; positive("a damping")],
        /// Linear law: stiffness [N/m]; either this or `contact_time`.
        stiffness: Option<f64> [STIFFNESS; positive("a stiffness")],
        /// Linear law: duration of a binary contact [s]; either this or `stiffness`.
        contact_time: Option<f64> [TIME; positive("a contact time")],
        /// Kuwabara–Kono law: dissipative time constant A [s].
        dissipation: Option<f64> [TIME; not_negative("a dissipative time")],
        /// Lee–Herrmann law: its two constants.
        lee_herrmann: Option<LeeHerrmann>,
        /// Cundall–Strack law: ratio of tangential to normal stiffness; left out: 2/7.
        tangential_stiffness: Option<f64> [NUMBER; positive("a ratio of stiffnesses")],
        /// Viscous law: damping γ_s [N s/m]; Cundall–Strack law: dashpot [N s/m], in place of the one made from the restitution.
        tangential_damping: Option<f64> [DAMPING; positive("a damping")],
    }
}

impl Default for Contact {
    fn default() -> Self {
        Self {
            normal: NormalLaw::Hertz,
            tangential: TangentialLaw::Mindlin,
            cap: FrictionCap::Shared,
            rolling: RollingLaw::Relative,
            normal_damping: None,
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
        matches!(self.normal, NormalLaw::Hertz | NormalLaw::Linear) && self.normal_damping.is_none()
    }
}

impl NormalLaw {
    /// The tangential law that goes with it: laws without an elastic modulus have the spring of constant stiffness.
    pub fn tangential(self) -> TangentialLaw {
        match self {
            NormalLaw::Hertz | NormalLaw::KuwabaraKono => TangentialLaw::Mindlin,
            NormalLaw::Linear | NormalLaw::LeeHerrmann => TangentialLaw::CundallStrack,
        }
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

/// What rolling resistance acts against.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RollingLaw {
    /// The relative rotation of the two, by a spring with memory.
    #[default]
    Relative,
    /// Each grain's own spin, without memory (Zhou and others 1999).
    Own,
}
names!(RollingLaw { Relative = "relative", Own = "own" });

/// What gives way where friction is at its limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FrictionCap {
    /// Spring and dashpot in proportion.
    #[default]
    Shared,
    /// The spring alone.
    Spring,
}
names!(FrictionCap { Shared = "shared", Spring = "spring" });

keys! {
    /// Constants of the Lee–Herrmann law.
    pub struct LeeHerrmann = "write `{ stiffness = \"1e8 N/m^1.5\", damping = \"100 /s\" }`" {
        /// Stiffness k [N/m^1.5].
        stiffness: f64 [HERTZ_STIFFNESS; positive("a stiffness")],
        /// Damping rate γ [1/s].
        damping: f64 [FREQUENCY; not_negative("a damping")],
    }
}

/// Shares of a velocity that a step may take away.
const DISSIPATION: Interval = Interval {
    from: 0.0,
    with_from: true,
    to: 1.0,
    with_to: false,
    message: "a dissipation of {} per step is impossible",
    help: "give a share of at least 0 and below 1",
};

/// Overlaps that may be tolerated, over the smaller radius.
const OVERLAP: Interval = Interval {
    from: 0.0,
    with_from: false,
    to: 1.0,
    with_to: true,
    message: "`max_overlap` must lie above 0 and at most at 1, not at {}",
    help: "give a share of the smaller radius, such as 0.1",
};

keys! {
    /// How time is advanced.
    pub struct Integrator = "write `dt = \"1e-5 s\"` under `[integrator]`" {
        /// Scheme.
        method: Method = Method::VelocityVerlet,
        /// Time step [s]; left out: derived from the stiffest contact.
        dt: Option<f64> [TIME; positive("the time step")],
        /// Share of the velocity that position Verlet takes away per step.
        dissipation: f64 [NUMBER; interval(DISSIPATION)] = 0.0,
        /// Precision of the contact kernels.
        precision: Precision = Precision::Mixed,
        /// The run stops when two spheres overlap by more than this share of the smaller radius.
        max_overlap: f64 [NUMBER; interval(OVERLAP)] = Integrator::MAX_OVERLAP,
    }
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
