//! The scene's types: plain data in SI units, every reference by name.
//!
//! They serialise to the very format that [`Scene::from_toml`](crate::Scene::from_toml) reads, and describe themselves as JSON
//! schema. They are *not* deserialised by serde: the reader in `read/` reports all problems at once, serde stops at the first.

mod bodies;
mod contact;
mod grains;
mod ground;
mod material;
mod output;
mod picture;
mod walls;

pub use bodies::*;
pub use contact::*;
pub use grains::*;
pub use ground::*;
pub use material::*;
pub use output::*;
pub use picture::*;
pub use walls::*;

use crate::schema as q;
use glam::DVec3;
use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::Serialize;

/// Gravity where none is given [m/s²].
pub const STANDARD_GRAVITY: DVec3 = DVec3::new(0.0, 0.0, -9.81);

/// A whole scene.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Scene {
    /// Title, for people.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub title: String,
    /// One line: what to look at.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub about: String,
    /// Simulated time [s].
    #[schemars(schema_with = "q::time")]
    pub duration: f64,
    /// Gravity [m/s²].
    #[serde(default = "standard_gravity")]
    #[schemars(schema_with = "q::acceleration3")]
    pub gravity: DVec3,
    /// Seed of all random numbers.
    #[serde(default = "one")]
    pub seed: u64,
    /// The space the grains live in.
    pub domain: Domain,
    /// Materials by name, in the order of the file.
    #[serde(default)]
    pub materials: IndexMap<String, Material>,
    /// Properties of pairs of materials that differ from the mixing rule.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pairs: Vec<Pair>,
    /// The contact law.
    #[serde(default)]
    pub contact: Contact,
    /// How time is advanced.
    #[serde(default)]
    pub integrator: Integrator,
    /// Clumps of spheres by name; `sphere` and `tetrahedron` are built in.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub shapes: IndexMap<String, ShapeSpec>,
    /// Populations of grains.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub grains: Vec<Grains>,
    /// Rigid bodies.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bodies: Vec<Body>,
    /// Discs that pour grains during the run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub emitters: Vec<Emitter>,
    /// Regions that remove and count grains.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sinks: Vec<Sink>,
    /// Walls.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub walls: Vec<Wall>,
    /// The ground.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ground: Option<Ground>,
    /// Frames and checkpoints.
    #[schemars(default)]
    pub output: Output,
    /// Camera, colours and films.
    #[serde(default)]
    pub picture: Picture,
    /// Measurements, one CSV file each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub measure: Vec<Measure>,
}

fn standard_gravity() -> DVec3 {
    STANDARD_GRAVITY
}

fn one() -> u64 {
    1
}

/// The box that holds the scene.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Domain {
    /// Lower corner [m].
    #[schemars(schema_with = "q::length3")]
    pub min: DVec3,
    /// Upper corner [m].
    #[schemars(schema_with = "q::length3")]
    pub max: DVec3,
    /// Directions in which what leaves on one side enters on the other.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub periodic: Vec<Axis>,
    /// What happens when a grain leaves.
    #[serde(default)]
    pub outside: Outside,
}

impl Domain {
    /// Whether x, y, z are periodic.
    pub fn is_periodic(&self) -> [bool; 3] {
        [Axis::X, Axis::Y, Axis::Z].map(|a| self.periodic.contains(&a))
    }
}

/// Implements reading and writing of an enumeration by its names in the format.
macro_rules! names {
    ($t:ident { $($variant:ident = $name:literal),* $(,)? }) => {
        impl $t {
            /// Every choice, by the name it has in a scene.
            pub const NAMES: &'static [(&'static str, Self)] = &[$(($name, Self::$variant)),*];

            /// Name in a scene.
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name),* }
            }
        }
    };
}
pub(crate) use names;

/// A direction of space.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Axis {
    /// First.
    X,
    /// Second.
    Y,
    /// Third.
    Z,
}
names!(Axis { X = "x", Y = "y", Z = "z" });

/// What happens to a grain that leaves the domain.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Outside {
    /// The run stops and says which grain left where.
    #[default]
    Stop,
    /// The grain is removed and counted.
    Remove,
}
names!(Outside { Stop = "stop", Remove = "remove" });
