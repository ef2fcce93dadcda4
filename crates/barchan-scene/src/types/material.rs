//! Materials and what holds between two of them.

use crate::keys;
use crate::keys::Interval;
use crate::presets::Preset;
use crate::read::{Keys, Reader};

/// Restitutions that the contact law can give: the damping that would give 0 exactly is infinite.
const RESTITUTION: Interval = Interval {
    from: 0.01,
    with_from: true,
    to: 1.0,
    with_to: true,
    message: "a restitution of {} is impossible",
    help: "the contact law can give 0.01 to 1; most grains have 0.3 to 0.95",
};

/// Poisson's ratios of solids.
const POISSON: Interval = Interval {
    from: -1.0,
    with_from: false,
    to: 0.5,
    with_to: false,
    message: "a Poisson's ratio of {} is impossible",
    help: "solids have -1 < poisson < 0.5; most grains 0.2 to 0.35",
};

keys! {
    /// A material, complete: what the scene left out comes from the preset.
    pub struct Material = "write `density`, `young`, … or a `preset` under `[materials.name]`" {
        /// The preset the material starts from.
        preset: Option<Preset>,
        /// Density of the solid [kg/m³]; required without a preset.
        density: f64 [DENSITY; positive("a density"), instead("or a `preset`")]
            => |_cx, keys| known(keys, preset, |m| m.density, None),
        /// Young's modulus [Pa]; required without a preset where the law uses it.
        young: f64 [PRESSURE; positive("Young's modulus"), instead("or a `preset`")]
            => |cx, keys| known(keys, preset, |m| m.young, (!cx.law.uses_young()).then_some(1e7)),
        /// Poisson's ratio; 0.3 without a preset.
        poisson: f64 [NUMBER; interval(POISSON)] => |_cx, keys| known(keys, preset, |m| m.poisson, Some(0.3)),
        /// Coefficient of restitution; required without a preset where the law uses it.
        restitution: f64 [NUMBER; interval(RESTITUTION), instead("or a `preset`")]
            => |cx, keys| known(keys, preset, |m| m.restitution, unused_restitution(cx)),
        /// Coefficient of friction; required without a preset.
        friction: f64 [NUMBER; not_negative("the coefficient `friction`"), instead("or a `preset`")]
            => |_cx, keys| known(keys, preset, |m| m.friction, None),
        /// Coefficient c of rolling resistance: torque ≤ c R_eff F_n; 0 without a preset.
        rolling: f64 [NUMBER; not_negative("the coefficient `rolling`")]
            => |_cx, keys| known(keys, preset, |m| m.rolling, Some(0.0)),
        /// Coefficient of twisting resistance, as `rolling` about the normal; 0 without a preset.
        twisting: f64 [NUMBER; not_negative("the coefficient `twisting`")]
            => |_cx, keys| known(keys, preset, |m| m.twisting, Some(0.0)),
        /// Surface energy γ [J/m²]; pull-off force 4 π γ R_eff (DMT); 0 without a preset.
        cohesion: f64 [SURFACE_ENERGY; not_negative("a surface energy")]
            => |_cx, keys| known(keys, preset, |m| m.cohesion, Some(0.0)),
        /// Tensile strength of the bulk [Pa], whatever the size of the grains: the surface energy then follows from their diameter d as
        /// strength · d/3.6 (Rumpf). Left out: `cohesion` holds.
        strength: Option<f64> [PRESSURE; not_negative("the strength of the bulk")],
    }
}

/// A property that is left out: the preset's, or what holds without a preset; none where it must be given. Of a preset that could not be
/// read, which has been reported, it is unknown rather than missing.
fn known(keys: &Keys, preset: Option<Preset>, of: fn(&Material) -> f64, without: Option<f64>) -> Option<f64> {
    match preset {
        Some(preset) => Some(of(&preset.material())),
        None if keys.given("preset") => Some(f64::NAN),
        None => without,
    }
}

/// What the law does not use need not be given; it gets the presets' customary value.
fn unused_restitution(cx: &Reader) -> Option<f64> {
    (!cx.law.uses_restitution()).then_some(0.5)
}

keys! {
    /// What differs from the mixing rule where two materials meet.
    pub struct Pair = "write `between` and what differs under `[[pairs]]`" {
        /// The two materials, in any order; the same name twice for grains among themselves.
        between: [String; 2] [; help("write the names of two materials, such as [\"glass\", \"steel\"]")],
        /// Coefficient of restitution.
        restitution: Option<f64> [NUMBER; interval(RESTITUTION)],
        /// Coefficient of friction.
        friction: Option<f64> [NUMBER; not_negative("the coefficient `friction`")],
        /// Coefficient of rolling resistance.
        rolling: Option<f64> [NUMBER; not_negative("the coefficient `rolling`")],
        /// Coefficient of twisting resistance.
        twisting: Option<f64> [NUMBER; not_negative("the coefficient `twisting`")],
        /// Surface energy [J/m²].
        cohesion: Option<f64> [SURFACE_ENERGY; not_negative("a surface energy")],
    }
}
