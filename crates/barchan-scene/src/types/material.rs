//! Materials and what holds between two of them.

use crate::presets::Preset;
use crate::schema as q;
use schemars::JsonSchema;
use serde::Serialize;

/// A material, complete: what the scene left out comes from the preset.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(transform = q::nothing_required)]
pub struct Material {
    /// The preset the material started from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preset: Option<Preset>,
    /// Density of the solid [kg/m³]; required without a preset.
    #[schemars(schema_with = "q::density")]
    pub density: f64,
    /// Young's modulus [Pa]; required without a preset where the law uses it.
    #[schemars(schema_with = "q::pressure")]
    pub young: f64,
    /// Poisson's ratio; 0.3 without a preset.
    #[schemars(schema_with = "q::number")]
    pub poisson: f64,
    /// Coefficient of restitution; required without a preset where the law uses it.
    #[schemars(schema_with = "q::number")]
    pub restitution: f64,
    /// Coefficient of friction; required without a preset.
    #[schemars(schema_with = "q::number")]
    pub friction: f64,
    /// Coefficient c of rolling resistance: torque ≤ c R_eff F_n; 0 without a preset.
    #[schemars(schema_with = "q::number")]
    pub rolling: f64,
    /// Coefficient of twisting resistance, as `rolling` about the normal; 0 without a preset.
    #[schemars(schema_with = "q::number")]
    pub twisting: f64,
    /// Surface energy γ [J/m²]; pull-off force 4 π γ R_eff (DMT); 0 without a preset.
    #[schemars(schema_with = "q::surface_energy")]
    pub cohesion: f64,
}

/// What differs from the mixing rule where two materials meet.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Pair {
    /// The two materials, in any order; the same name twice for grains among themselves.
    pub between: [String; 2],
    /// Coefficient of restitution.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "q::number")]
    pub restitution: Option<f64>,
    /// Coefficient of friction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "q::number")]
    pub friction: Option<f64>,
    /// Coefficient of rolling resistance.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "q::number")]
    pub rolling: Option<f64>,
    /// Coefficient of twisting resistance.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "q::number")]
    pub twisting: Option<f64>,
    /// Surface energy [J/m²].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "q::surface_energy")]
    pub cohesion: Option<f64>,
}
