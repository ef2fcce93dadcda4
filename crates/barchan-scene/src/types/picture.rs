//! How a scene is shown: camera, colour, light, film.

use super::grains::up;
use super::names;
use crate::schema as q;
use glam::DVec3;
use schemars::JsonSchema;
use serde::Serialize;

/// How pictures and films of a scene are made.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Picture {
    /// What the colour of grains says: `material`, `size`, `speed`, `force`, `coordination`, `id`, or a column of the frames.
    pub colour: String,
    /// Colours for numbers.
    pub map: ColourMap,
    /// Numbers at the ends of the colour map, in SI units; left out: those that suit the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "q::number2")]
    pub range: Option<[f64; 2]>,
    /// Direction towards the sun, of any length; left out: from the left, behind the eye.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "q::direction")]
    pub sun: Option<DVec3>,
    /// What is behind everything.
    pub background: Background,
    /// Pixels in a row, and rows.
    pub size: [u64; 2],
    /// Pictures a second of a film [1/s].
    #[schemars(schema_with = "q::frequency")]
    pub rate: f64,
    /// Simulated time over the film's time: 0.25 is slow motion; left out: every frame is shown once.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "q::number")]
    pub speed: Option<f64>,
    /// Where it is seen from.
    pub camera: Camera,
}

impl Default for Picture {
    fn default() -> Self {
        Self {
            colour: "material".into(),
            map: ColourMap::Viridis,
            range: None,
            sun: None,
            background: Background::Day,
            size: [1920, 1080],
            rate: 25.0,
            speed: None,
            camera: Camera::default(),
        }
    }
}

/// Colour maps for numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ColourMap {
    /// Blue, green, yellow.
    #[default]
    Viridis,
    /// Black, red, yellow.
    Inferno,
    /// Blue, grey, yellow.
    Cividis,
    /// Blue, green, ochre, rose.
    Batlow,
}
names!(ColourMap { Viridis = "viridis", Inferno = "inferno", Cividis = "cividis", Batlow = "batlow" });

/// What is behind everything.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Background {
    /// A clear sky.
    #[default]
    Day,
    /// Pale paper.
    Paper,
    /// Dark slate, for colours that glow.
    Dark,
}
names!(Background { Day = "day", Paper = "paper", Dark = "dark" });

/// Where a scene is seen from.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Camera {
    /// Shows all grains and the vessels that hold them, over the whole run.
    Auto {
        /// Angle about z [rad]: 0 from the front (−y), positive from the right; left out: one that suits the scene.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(schema_with = "q::angle")]
        azimuth: Option<f64>,
        /// Angle above the horizon [rad]; left out: one that suits the scene.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(schema_with = "q::angle")]
        elevation: Option<f64>,
        /// Direction that is up in the picture, of any length; left out: z.
        #[serde(default = "up")]
        #[schemars(schema_with = "q::direction")]
        up: DVec3,
    },
    /// Goes round the scene.
    Orbit {
        /// Turns in a film, anticlockwise from above.
        #[serde(default = "one_turn")]
        #[schemars(schema_with = "q::number")]
        turns: f64,
        /// Angle above the horizon [rad]; left out: one that suits the scene.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(schema_with = "q::angle")]
        elevation: Option<f64>,
    },
    /// Stays where it is put.
    Fixed {
        /// Where the eye is [m].
        #[schemars(schema_with = "q::length3")]
        eye: DVec3,
        /// What it looks at [m].
        #[schemars(schema_with = "q::length3")]
        target: DVec3,
        /// Direction that is up in the picture, of any length; left out: z.
        #[serde(default = "up")]
        #[schemars(schema_with = "q::direction")]
        up: DVec3,
        /// Vertical angle of view [rad].
        #[serde(default = "field")]
        #[schemars(schema_with = "q::angle")]
        field: f64,
    },
    /// Passes through places at given times, smooth between them.
    Fly(Vec<CameraKey>),
    /// Keeps its distance from a grain, or from the centre of mass.
    Follow {
        /// Id of the grain; left out: the centre of mass.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        grain: Option<u64>,
        /// Distance [m]; left out: 40 radii of the grain, or as far as shows the whole scene at first.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(schema_with = "q::length")]
        distance: Option<f64>,
    },
}

impl Default for Camera {
    fn default() -> Self {
        Self::Auto { azimuth: None, elevation: None, up: DVec3::Z }
    }
}

impl Camera {
    /// Vertical angle of view where none is given [rad].
    pub const FIELD: f64 = 28.0 * std::f64::consts::PI / 180.0;

    /// Key in a scene.
    pub fn key(&self) -> &'static str {
        match self {
            Self::Auto { .. } => "auto",
            Self::Orbit { .. } => "orbit",
            Self::Fixed { .. } => "fixed",
            Self::Fly(_) => "fly",
            Self::Follow { .. } => "follow",
        }
    }
}

/// A camera at a time.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CameraKey {
    /// Simulated time [s].
    #[schemars(schema_with = "q::time")]
    pub time: f64,
    /// Where the eye is [m].
    #[schemars(schema_with = "q::length3")]
    pub eye: DVec3,
    /// What it looks at [m].
    #[schemars(schema_with = "q::length3")]
    pub target: DVec3,
    /// Vertical angle of view [rad].
    #[serde(default = "field")]
    #[schemars(schema_with = "q::angle")]
    pub field: f64,
}

fn one_turn() -> f64 {
    1.0
}

fn field() -> f64 {
    Camera::FIELD
}
