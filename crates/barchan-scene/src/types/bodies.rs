//! Bodies: solids from meshes that move freely among the grains.

use super::grains::{Solid, is_origin};
use super::names;
use crate::schema as q;
use glam::DVec3;
use schemars::JsonSchema;
use serde::Serialize;

/// Free rigid bodies of one closed mesh. One that stands fast or is driven is a wall of that mesh.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Body {
    /// Name; left out: `body 1`, …
    #[schemars(default)]
    pub name: String,
    /// Path of a closed STL, OBJ, PLY or glTF mesh, from the folder of the scene; or a shape that needs none, of about unit
    /// size: `box`, `sphere`, `cylinder`, `torus`, `trefoil`, `pawn`, `rook`, `bishop`, `wheels`.
    pub mesh: String,
    /// Metres of a unit of the file, one number or one a direction: 0.001 for a file in millimetres.
    #[serde(default = "ones", skip_serializing_if = "are_ones")]
    #[schemars(schema_with = "q::scale3")]
    pub scale: DVec3,
    /// Name of the material; left out: the first of the scene.
    #[schemars(default)]
    pub material: String,
    /// Density [kg/m³]; left out: the material's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "q::density")]
    pub density: Option<f64>,
    /// Mass [kg], instead of a density.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "q::mass")]
    pub mass: Option<f64>,
    /// Centre of mass in the frame of the file, scaled [m]; left out: that of the solid.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "q::length3")]
    pub centre: Option<DVec3>,
    /// Moments of inertia about axes through the centre of mass along those of the file [kg m²]; left out: those of the solid.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "q::inertia3")]
    pub inertia: Option<DVec3>,
    /// Where the file's origin comes to stand [m]; a list makes as many bodies.
    #[schemars(schema_with = "q::place_or_places")]
    pub at: Vec<DVec3>,
    /// Turn about the file's origin: axis times angle.
    #[serde(default, skip_serializing_if = "is_origin")]
    #[schemars(schema_with = "q::angle3")]
    pub turn: DVec3,
    /// Velocity at the start [m/s].
    #[serde(default, skip_serializing_if = "is_origin")]
    #[schemars(schema_with = "q::velocity3")]
    pub velocity: DVec3,
    /// Angular velocity at the start [rad/s].
    #[serde(default, skip_serializing_if = "is_origin")]
    #[schemars(schema_with = "q::angular_rate3")]
    pub spin: DVec3,
    /// Turns it, as an engine turns a wheel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drive: Option<BodyDrive>,
    /// What grains touch.
    #[serde(default)]
    pub contact: BodyContact,
    /// Radius of the spheres that line it [m]; left out: a twelfth of its size, less where it is thin.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "q::length")]
    pub radius: Option<f64>,
    /// The solid, once it has been fetched.
    #[serde(skip)]
    #[schemars(skip)]
    pub solid: Solid,
}

/// A torque from outside about an axis of the body.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BodyDrive {
    /// Direction of the axis in the frame of the file, of any length.
    #[schemars(schema_with = "q::direction")]
    pub axis: DVec3,
    /// Torque about it [N m].
    #[schemars(schema_with = "q::torque")]
    pub torque: f64,
    /// Rate of turning at which the torque has faded, from nine tenths of it on [rad/s]; left out: it does not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "q::angular_rate")]
    pub max_spin: Option<f64>,
    /// When it begins [s]; left out: at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "q::time")]
    pub from: Option<f64>,
    /// When it ends [s]; left out: never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "q::time")]
    pub until: Option<f64>,
}

fn ones() -> DVec3 {
    DVec3::ONE
}

fn are_ones(v: &DVec3) -> bool {
    *v == DVec3::ONE
}

/// What grains touch of a body. Walls and other bodies are touched by the spheres that line it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum BodyContact {
    /// Its triangles: exact, edges and corners sharp.
    #[default]
    Mesh,
    /// Its distance field: one lookup however fine the mesh, edges rounded by a cell.
    Field,
    /// The spheres that line it.
    Spheres,
}
names!(BodyContact { Mesh = "mesh", Field = "field", Spheres = "spheres" });
