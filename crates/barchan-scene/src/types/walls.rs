//! Walls: geometry, surface, motion.

use super::grains::{is_origin, up};
use super::names;
use crate::schema as q;
use barchan_core::walls::Facets;
use glam::DVec3;
use schemars::JsonSchema;
use serde::Serialize;
use std::path::PathBuf;
use std::sync::Arc;

/// A wall. Its motions add up.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Wall {
    /// Name; left out: `wall 1`, …
    #[schemars(default)]
    pub name: String,
    /// Name of the material.
    pub material: String,
    /// Exactly one geometry.
    #[serde(flatten)]
    pub geometry: Geometry,
    /// Covers the wall with spheres.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rough: Option<Rough>,
    /// Constant velocity [m/s].
    #[serde(default, skip_serializing_if = "is_origin")]
    #[schemars(schema_with = "q::velocity3")]
    pub velocity: DVec3,
    /// Steady rotation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rotate: Option<Rotate>,
    /// Harmonic motion.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub oscillate: Option<Oscillate>,
    /// A path through given poses, smooth between them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub keyframes: Vec<Keyframe>,
    /// A plunger: free to move along an axis under a load.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drive: Option<Drive>,
    /// A servo that holds a stress.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub servo: Option<Servo>,
    /// When the motion starts [s]; left out: at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "q::time")]
    pub from: Option<f64>,
    /// When the motion ends [s]; left out: never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "q::time")]
    pub until: Option<f64>,
}

impl Wall {
    /// Whether the wall ever moves.
    pub fn moves(&self) -> bool {
        !is_origin(&self.velocity)
            || self.rotate.is_some()
            || self.oscillate.is_some()
            || !self.keyframes.is_empty()
            || self.drive.is_some()
            || self.servo.is_some()
    }
}

/// The surface of a wall.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Geometry {
    /// An unbounded plane; grains live on the side its normal points to.
    Plane {
        /// A point of the plane [m].
        #[schemars(schema_with = "q::length3")]
        point: DVec3,
        /// Direction towards the grains, of any length.
        #[schemars(schema_with = "q::direction")]
        normal: DVec3,
    },
    /// A box along the axes: a vessel (inside) or a solid block (outside).
    Box {
        /// Lower corner [m].
        #[schemars(schema_with = "q::length3")]
        min: DVec3,
        /// Upper corner [m].
        #[schemars(schema_with = "q::length3")]
        max: DVec3,
        /// Where grains live.
        #[serde(default)]
        side: Side,
        /// Faces that are missing.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        open: Vec<Face>,
    },
    /// A cylinder without caps.
    Cylinder {
        /// Centre of the base [m].
        #[schemars(schema_with = "q::length3")]
        base: DVec3,
        /// Direction from the base to the top, of any length; left out: z.
        #[serde(default = "up")]
        #[schemars(schema_with = "q::direction")]
        axis: DVec3,
        /// Radius [m].
        #[schemars(schema_with = "q::length")]
        radius: f64,
        /// Height [m]; left out: unbounded both ways.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(schema_with = "q::length")]
        height: Option<f64>,
        /// Where grains live.
        #[serde(default)]
        side: Side,
    },
    /// A (truncated) cone without caps: a funnel.
    Cone {
        /// Centre of the base [m].
        #[schemars(schema_with = "q::length3")]
        base: DVec3,
        /// Direction from the base to the top, of any length; left out: z.
        #[serde(default = "up")]
        #[schemars(schema_with = "q::direction")]
        axis: DVec3,
        /// Radius at the base [m].
        #[schemars(schema_with = "q::length")]
        radius_base: f64,
        /// Radius at the top [m].
        #[schemars(schema_with = "q::length")]
        radius_top: f64,
        /// Height [m].
        #[schemars(schema_with = "q::length")]
        height: f64,
        /// Where grains live.
        #[serde(default)]
        side: Side,
    },
    /// A sphere.
    Sphere {
        /// Centre [m].
        #[schemars(schema_with = "q::length3")]
        centre: DVec3,
        /// Radius [m].
        #[schemars(schema_with = "q::length")]
        radius: f64,
        /// Where grains live.
        #[serde(default)]
        side: Side,
    },
    /// A two-sided plate, with or without a hole.
    Disc {
        /// Centre [m].
        #[schemars(schema_with = "q::length3")]
        centre: DVec3,
        /// Direction across the plate, of any length.
        #[schemars(schema_with = "q::direction")]
        normal: DVec3,
        /// Radius [m].
        #[schemars(schema_with = "q::length")]
        radius: f64,
        /// Radius of the hole [m].
        #[serde(default, skip_serializing_if = "super::contact::is_zero")]
        #[schemars(schema_with = "q::length")]
        hole: f64,
    },
    /// Triangles from a file (STL, OBJ, PLY, glTF): a solid where they close, a shell touched from both sides where not.
    Mesh(MeshFile),
}

/// A mesh from a file, and how it stands in the scene: made larger, then turned, then moved.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(transform = q::or_text)]
pub struct MeshFile {
    /// Path of the file, from the folder of the scene; or a shape that needs none, of about unit size: `box`, `sphere`,
    /// `cylinder`, `torus`, `trefoil`, `screw`, `mixer`.
    pub file: String,
    /// Metres of a unit of the file: 0.001 for one in millimetres.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub scale: f64,
    /// Turn about the file's origin: axis times angle.
    #[serde(default, skip_serializing_if = "is_origin")]
    #[schemars(schema_with = "q::angle3")]
    pub turn: DVec3,
    /// Where the grains are, of a closed mesh: around it, or within.
    #[serde(default = "outside", skip_serializing_if = "is_outside")]
    pub side: Side,
    /// Where the file's origin comes to stand [m].
    #[serde(default, skip_serializing_if = "is_origin")]
    #[schemars(schema_with = "q::length3")]
    pub at: DVec3,
    /// The triangles, once they have been fetched.
    #[serde(skip)]
    #[schemars(skip)]
    pub surface: Fetched,
}

pub(super) fn is_one(x: &f64) -> bool {
    *x == 1.0
}

fn is_outside(side: &Side) -> bool {
    *side == Side::Outside
}

fn outside() -> Side {
    Side::Outside
}

pub(super) fn one() -> f64 {
    1.0
}

/// Triangles that were fetched, or not yet. They say nothing that the file's name does not: all are equal.
#[derive(Clone, Default)]
pub struct Fetched {
    /// The triangles as they stand in the scene.
    pub facets: Option<Arc<Facets>>,
    /// The file they came from; none for a shape that needs none.
    pub path: Option<PathBuf>,
}

impl PartialEq for Fetched {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl std::fmt::Debug for Fetched {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} triangles", self.facets.as_ref().map_or(0, |s| s.mesh().triangles.len()))
    }
}

impl Geometry {
    /// Key in a scene.
    pub fn key(&self) -> &'static str {
        match self {
            Self::Plane { .. } => "plane",
            Self::Box { .. } => "box",
            Self::Cylinder { .. } => "cylinder",
            Self::Cone { .. } => "cone",
            Self::Sphere { .. } => "sphere",
            Self::Disc { .. } => "disc",
            Self::Mesh(_) => "mesh",
        }
    }

    /// The wall's origin [m], about which keyframes turn it: the plane's point, the box's, sphere's or disc's centre, the
    /// base of a cylinder or cone, the middle of the box around a mesh.
    pub fn origin(&self) -> DVec3 {
        match self {
            Self::Plane { point, .. } => *point,
            Self::Box { min, max, .. } => 0.5 * (*min + *max),
            Self::Cylinder { base, .. } | Self::Cone { base, .. } => *base,
            Self::Sphere { centre, .. } | Self::Disc { centre, .. } => *centre,
            Self::Mesh(mesh) => mesh.surface.facets.as_ref().map_or(mesh.at, |s| s.pivot()),
        }
    }
}

/// The side of a closed wall on which grains live.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Side {
    /// A vessel.
    #[default]
    Inside,
    /// A solid body.
    Outside,
}
names!(Side { Inside = "inside", Outside = "outside" });

/// A face of a box.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Face {
    /// −x.
    Left,
    /// +x.
    Right,
    /// −y.
    Front,
    /// +y.
    Back,
    /// −z.
    Bottom,
    /// +z.
    Top,
}
names!(Face { Left = "left", Right = "right", Front = "front", Back = "back", Bottom = "bottom", Top = "top" });

impl Face {
    /// Direction (0, 1, 2 for x, y, z) and whether it is the upper face.
    pub fn axis(self) -> (usize, bool) {
        match self {
            Self::Left => (0, false),
            Self::Right => (0, true),
            Self::Front => (1, false),
            Self::Back => (1, true),
            Self::Bottom => (2, false),
            Self::Top => (2, true),
        }
    }
}

/// Spheres that cover a wall, computed where they are met (Longmore 2009, figure 4.16).
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Rough {
    /// Radius of the spheres [m].
    #[schemars(schema_with = "q::length")]
    pub radius: f64,
    /// Distance between their centres [m].
    #[schemars(schema_with = "q::length")]
    pub spacing: f64,
}

/// Steady rotation about a fixed axis.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Rotate {
    /// A point of the axis [m].
    #[schemars(schema_with = "q::length3")]
    pub point: DVec3,
    /// Direction of the axis, of any length.
    #[schemars(schema_with = "q::direction")]
    pub axis: DVec3,
    /// Angular rate [rad/s], by the right hand.
    #[schemars(schema_with = "q::angular_rate")]
    pub rate: f64,
}

/// Harmonic motion: displacement A (sin(2π f t + φ) − sin φ), so that the wall starts from where the scene draws it.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Oscillate {
    /// Direction, of any length.
    #[schemars(schema_with = "q::direction")]
    pub direction: DVec3,
    /// Amplitude [m].
    #[schemars(schema_with = "q::length")]
    pub amplitude: f64,
    /// Frequency [1/s].
    #[schemars(schema_with = "q::frequency")]
    pub frequency: f64,
    /// Phase φ at the start of the motion [rad]; 0 starts with the greatest speed, 90° from rest.
    #[serde(default, skip_serializing_if = "super::contact::is_zero")]
    #[schemars(schema_with = "q::angle")]
    pub phase: f64,
}

/// A pose at a time.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Keyframe {
    /// Time [s].
    #[schemars(schema_with = "q::time")]
    pub time: f64,
    /// Displacement from where the scene draws the wall [m].
    #[schemars(schema_with = "q::length3")]
    pub at: DVec3,
    /// Rotation vector about the wall's origin [rad].
    #[serde(default, skip_serializing_if = "is_origin")]
    #[schemars(schema_with = "q::angle3")]
    pub turn: DVec3,
}

/// A plunger: moves along an axis under its load, its own weight, the grains' push and a damper.
///   m a = load + (F + m g)·axis − damping v
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Drive {
    /// Direction of the load, of any length.
    #[schemars(schema_with = "q::direction")]
    pub axis: DVec3,
    /// Mass [kg].
    #[schemars(schema_with = "q::mass")]
    pub mass: f64,
    /// Force along the axis [N], added to the part of the plunger's own weight that acts along it, m g·axis.
    #[schemars(schema_with = "q::force")]
    pub load: f64,
    /// Viscous damping [N s/m].
    #[serde(default, skip_serializing_if = "super::contact::is_zero")]
    #[schemars(schema_with = "q::damping")]
    pub damping: f64,
}

/// A servo: moves along an axis so that the grains' push over an area holds a stress.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Servo {
    /// Direction in which the wall presses, of any length.
    #[schemars(schema_with = "q::direction")]
    pub axis: DVec3,
    /// Stress to hold [Pa].
    #[schemars(schema_with = "q::pressure")]
    pub stress: f64,
    /// Area the force acts on [m²].
    #[schemars(schema_with = "q::area")]
    pub area: f64,
    /// Largest speed of the wall [m/s].
    #[schemars(schema_with = "q::velocity")]
    pub max_speed: f64,
}
