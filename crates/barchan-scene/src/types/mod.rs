//! The scene's types: plain data in SI units, every reference by name.
//!
//! Each table is stated once, by [`keys!`](crate::keys) or [`one_of!`](crate::one_of): reader, ranges, schema, writer and scaling follow. What is
//! read from files is not here but in [`Assets`](crate::Assets).

mod bench;
mod bodies;
mod contact;
mod continuum;
mod grains;
mod ground;
mod material;
mod output;
mod phases;
mod picture;
mod place;
mod release;
mod sleep;
mod snow;
mod walls;

pub use bench::*;
pub use bodies::*;
pub use contact::*;
pub use continuum::*;
pub use grains::*;
pub use ground::*;
pub use material::*;
pub use output::*;
pub use phases::*;
pub use picture::*;
pub use place::*;
pub use release::*;
pub use sleep::Sleep;
pub(crate) use sleep::sleeps_twice;
pub use snow::*;
pub use walls::*;

use crate::keys;
use glam::DVec3;
use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::Serialize;

/// Gravity where none is given [m/s²].
pub const STANDARD_GRAVITY: DVec3 = DVec3::new(0.0, 0.0, -9.81);

keys! {
    /// A whole scene.
    pub struct Scene = "a scene is a table" {
        /// Title, for people.
        title: String = String::new(),
        /// One line: what to look at.
        about: String = String::new(),
        /// Simulated time [s].
        duration: f64 [TIME; grows, positive("the duration")],
        /// Gravity [m/s²].
        gravity: DVec3 [ACCELERATION] = STANDARD_GRAVITY,
        /// Seed of all random numbers.
        seed: u64 = 1,
        /// What computes it: the processor, a graphics adapter, or whichever can. `--device` overrides it.
        device: Device = Device::Cpu,
        /// The space the grains live in.
        domain: Domain [; help("add a `[domain]` with `min` and `max`, the corners of the space that is simulated")],
        /// Materials by name, in the order of the file.
        materials: IndexMap<String, Material> = IndexMap::new(),
        /// Properties of pairs of materials that differ from the mixing rule.
        pairs: Vec<Pair> [; help("write each one under its own `[[pairs]]`")] = Vec::new(),
        /// The contact law.
        contact: Contact = Contact::default(),
        /// How time is advanced.
        integrator: Integrator = Integrator::default(),
        /// When grains fall asleep; left out: never.
        sleep: Option<Sleep>,
        /// Shapes of grains by name; `sphere` and `tetrahedron` are built in.
        shapes: IndexMap<String, ShapeSpec> [; stays] = IndexMap::new(),
        /// Populations of grains.
        grains: Vec<Grains> [; help("write each one under its own `[[grains]]`")] = Vec::new(),
        /// Populations of matter that are computed as a continuum.
        continuum: Vec<Continuum> [; help("write each one under its own `[[continuum]]`")] = Vec::new(),
        /// How a continuum with `method = "phases"` is computed; left out: as usual.
        phases: Option<Phases>,
        /// The air; left out: there is none.
        air: Option<Air>,
        /// Rigid bodies.
        bodies: Vec<Body> [; help("write each one under its own `[[bodies]]`")] = Vec::new(),
        /// Discs that pour grains during the run.
        emitters: Vec<Emitter> [; help("write each one under its own `[[emitters]]`")] = Vec::new(),
        /// Regions that remove and count grains.
        sinks: Vec<Sink> [; help("write each one under its own `[[sinks]]`")] = Vec::new(),
        /// Walls.
        walls: Vec<Wall> [; help("write each one under its own `[[walls]]`")] = Vec::new(),
        /// The ground.
        ground: Option<Ground>,
        /// Plates on the ground, cut into bonded pieces.
        slabs: Vec<Slab> [; help("write each one under its own `[[slabs]]`")] = Vec::new(),
        /// A cloud of powder over fast flows; left out: none.
        cloud: Option<Cloud>,
        /// What is done to matter at given times.
        events: Vec<Event> [; help("write each one under its own `[[events]]`")] = Vec::new(),
        /// Liquid between the grains; left out: they are dry.
        liquid: Option<Liquid>,
        /// How the periodic cell is strained; left out: it stays as it is.
        cell: Option<Cell>,
        /// Values that change in time.
        changes: Vec<Change> [; help("write each one under its own `[[changes]]`")] = Vec::new(),
        /// When the run ends before its duration; left out: never.
        stop: Option<Stop>,
        /// Frames and checkpoints.
        output: Output => |_cx, _keys| Some(Output::for_duration(f64::NAN)),
        /// Camera, colours and films.
        picture: Picture = Picture::default(),
        /// Measurements, one CSV file each.
        measure: Vec<Measure> [; help("write each one under its own `[[measure]]`")] = Vec::new(),
    }
}

keys! {
    /// The box that holds the scene.
    pub struct Domain = "write `min` and `max` under `[domain]`" {
        /// Lower corner [m].
        min: DVec3 [LENGTH; grows],
        /// Upper corner [m].
        max: DVec3 [LENGTH; grows],
        /// Directions in which what leaves on one side enters on the other.
        periodic: Vec<Axis> = Vec::new(),
        /// What happens when a grain leaves.
        outside: Outside = Outside::Stop,
    }
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

        impl $crate::keys::Stated for $t {
            fn read(cx: &mut $crate::read::Reader, value: &$crate::read::Value, key: &$crate::keys::Key) -> Self {
                Self::try_read(cx, value, key).unwrap_or_else(Self::unknown)
            }

            fn try_read(
                cx: &mut $crate::read::Reader,
                value: &$crate::read::Value,
                _: &$crate::keys::Key,
            ) -> Option<Self> {
                value.choice(cx, Self::NAMES)
            }

            fn unknown() -> Self {
                Self::NAMES[0].1
            }

            fn write(&self) -> Option<toml::Value> {
                Some(self.name().into())
            }

            fn schema(generator: &mut $crate::keys::SchemaGenerator, key: &$crate::keys::Key) -> $crate::keys::Schema {
                $crate::keys::described(generator.subschema_for::<Self>(), key)
            }

            fn kind(_: &$crate::keys::Key) -> String {
                Self::NAMES.iter().map(|n| format!("`{}`", n.0)).collect::<Vec<_>>().join(", ")
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

/// What computes the matter of a scene.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Device {
    /// The processor.
    #[default]
    Cpu,
    /// The best graphics adapter.
    Gpu,
    /// A graphics card where there is one that can compute the scene, else the processor.
    Auto,
    /// The adapter of that number, as `barchan devices` lists them.
    #[serde(rename = "gpu:0")]
    Gpu0,
    /// The same.
    #[serde(rename = "gpu:1")]
    Gpu1,
    /// The same.
    #[serde(rename = "gpu:2")]
    Gpu2,
    /// The same.
    #[serde(rename = "gpu:3")]
    Gpu3,
}
names!(Device {
    Cpu = "cpu",
    Gpu = "gpu",
    Auto = "auto",
    Gpu0 = "gpu:0",
    Gpu1 = "gpu:1",
    Gpu2 = "gpu:2",
    Gpu3 = "gpu:3",
});

impl Device {
    /// The number of the adapter that is asked for, where one is.
    pub fn number(self) -> Option<usize> {
        [Device::Gpu0, Device::Gpu1, Device::Gpu2, Device::Gpu3].iter().position(|d| *d == self)
    }
}
