//! How a scene is shown: camera, colour, light, film.

use super::names;
use crate::keys::Interval;
use crate::{keys, one_of};
use glam::DVec3;
use schemars::JsonSchema;
use serde::Serialize;
use std::f64::consts::{FRAC_PI_2, PI};

/// Pixels a side that can be drawn.
const SIDE: Interval = Interval {
    from: 16.0,
    with_from: true,
    to: 8192.0,
    with_to: true,
    message: "a picture of {} pixels a side cannot be drawn",
    help: "give 16 to 8192 pixels a side, such as [1920, 1080]",
};

/// Pictures a second that players show.
const RATE: Interval = Interval {
    from: 1.0,
    with_from: true,
    to: 240.0,
    with_to: true,
    message: "a film of {} pictures a second cannot be shown",
    help: "give 1 to 240, such as 25",
};

/// Angles above the horizon.
const ELEVATION: Interval = Interval {
    from: -FRAC_PI_2,
    with_from: true,
    to: FRAC_PI_2,
    with_to: true,
    message: "an elevation lies between -90° and 90°, and is not {}",
    help: "give an angle above the horizon, such as \"20 deg\"",
};

/// Angles of view.
const VIEW: Interval = Interval {
    from: PI / 180.0,
    with_from: true,
    to: 150.0 * PI / 180.0,
    with_to: true,
    message: "an angle of view of {} is too far from what eyes and lenses have",
    help: "give 1 to 150 degrees, such as \"30 deg\"",
};

/// Ids that grains can have.
const IDS: Interval = Interval {
    from: 0.0,
    with_from: true,
    to: u32::MAX as f64,
    with_to: true,
    message: "no grain has the id {}",
    help: "ids are counted from 0 in the order of birth",
};

keys! {
    /// How pictures and films of a scene are made.
    pub struct Picture = "write `colour = \"speed\"` under `[picture]`" {
        /// What the colour of grains says: `material`, `size`, `speed`, `force`, `coordination`, `id`, `population`, or a column of the frames.
        colour: String = "material".to_owned(),
        /// Colours for numbers.
        map: ColourMap = ColourMap::Viridis,
        /// Numbers at the ends of the colour map, in SI units; left out: those that suit the run.
        range: Option<[f64; 2]> [; help("write the lower and the upper end in SI units, such as [0, 1.5]")],
        /// Direction towards the sun, of any length; left out: from the left, behind the eye.
        sun: Option<DVec3> [NUMBER; direction("the way to the sun")],
        /// What is behind everything.
        background: Background = Background::Day,
        /// Pixels in a row, and rows.
        size: [u64; 2] [; interval(SIDE), help("write pixels in a row and rows, such as [1920, 1080]")] = [1920, 1080],
        /// Pictures a second of a film [1/s].
        rate: f64 [FREQUENCY; interval(RATE)] = 25.0,
        /// Simulated time over the film's time: 0.25 is slow motion; left out: every frame is shown once.
        speed: Option<f64> [NUMBER; positive("the speed of a film")],
        /// Whether grains are drawn as one surface, a skin, where they lie together.
        skin: bool = false,
        /// Shows white things as snow: bumps, glints, spray, and snow on rock; left out: no snow.
        snow: Option<SnowLook>,
        /// Fog; left out: there is none.
        fog: Option<FogLook>,
        /// Where it is seen from.
        camera: Camera = Camera::default(),
        /// A plane that cuts it open; left out: all matter is shown.
        cut: Option<CutPlane>,
    }
}

keys! {
    /// A plane before which matter is left out of pictures.
    pub struct CutPlane = "write `cut = { point = [0, 0, 0], normal = [0, -1, 0] }`" {
        /// A point of the plane [m].
        point: DVec3 [LENGTH; grows],
        /// The side that is left out, of any length.
        normal: DVec3 [NUMBER; direction("the normal")],
    }
}

keys! {
    /// How snow looks.
    pub struct SnowLook = "write `[picture.snow]`, which may be empty" {
        /// Strength of its bumps: 1 as fresh snow has.
        bump: f64 [NUMBER; within(0.0, 4.0, "bumps of {} times those of snow cannot be drawn", "give 0 to 4")] = 1.0,
        /// Share of its highlight that comes from single facets.
        glitter: f64 [NUMBER; within(0.0, 1.0, "a share of {} cannot be", "give 0 to 1")] = SnowLook::GLITTER,
        /// Width of what bumps are made of [m]; left out: a grain's.
        grain: Option<f64> [LENGTH; grows, positive("the width of a grain")],
    }
}

impl SnowLook {
    /// Glitter where none is given.
    pub const GLITTER: f64 = 0.5;
}

keys! {
    /// Fog: of a surface's light, e^(−(x/reach)²) is left at a distance x.
    pub struct FogLook(reach) = "write a length, such as \"800 m\", or `{ reach, fall }`" {
        /// Distance at which 1/e is left [m].
        reach: f64 [LENGTH; grows, positive("the reach of the fog"), help("give a length, such as \"800 m\"")],
        /// Height above the eye in which it thins to 1/e [m]; left out: it does not.
        fall: Option<f64> [LENGTH; grows, positive("the height of the fog")],
    }
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
            skin: false,
            snow: None,
            fog: None,
            camera: Camera::default(),
            cut: None,
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

one_of! {
    /// Where a scene is seen from.
    pub enum Camera = "a camera is exactly one of `auto = {}`, `orbit = {}`, `fixed = { eye, target }`, `fly = [{ time, eye, target }, …]`, `follow = {}`, `front = {}` and `valley = {}`" {
        /// Shows all grains and the vessels that hold them, over the whole run.
        Auto = "auto" / "{}" {
            /// Angle about z [rad]: 0 from the front (−y), positive from the right; left out: one that suits the scene.
            azimuth: Option<f64> [ANGLE],
            /// Angle above the horizon [rad]; left out: one that suits the scene.
            elevation: Option<f64> [ANGLE; interval(ELEVATION)],
            /// Direction that is up in the picture, of any length.
            up: DVec3 [NUMBER; direction("up")] = DVec3::Z,
        },
        /// Goes round the scene.
        Orbit = "orbit" / "{}" {
            /// Turns in a film, anticlockwise from above.
            turns: f64 = 1.0,
            /// Angle above the horizon [rad]; left out: one that suits the scene.
            elevation: Option<f64> [ANGLE; interval(ELEVATION)],
        },
        /// Stays where it is put.
        Fixed = "fixed" / "{ eye = [0, -1, 0.5], target = [0, 0, 0] }" {
            /// Where the eye is [m].
            eye: DVec3 [LENGTH; grows],
            /// What it looks at [m].
            target: DVec3 [LENGTH; grows],
            /// Direction that is up in the picture, of any length.
            up: DVec3 [NUMBER; direction("up")] = DVec3::Z,
            /// Vertical angle of view [rad].
            field: f64 [ANGLE; interval(VIEW)] = Camera::FIELD,
        },
        /// Passes through places at given times, smooth between them.
        Fly = "fly" (keyframes: Vec<CameraKey> [; help("write a list such as [{ time = 0, eye = [0, -1, 0.5], target = [0, 0, 0] }, { time = \"1 s\", … }]")]),
        /// Keeps its distance from a grain, or from the centre of mass.
        Follow = "follow" / "{}" {
            /// Id of the grain; left out: the centre of mass.
            grain: Option<u64> [; interval(IDS)],
            /// Distance [m]; left out: 40 radii of the grain, or as far as shows the whole scene at first.
            distance: Option<f64> [LENGTH; grows, positive("a distance")],
        },
        /// Goes before the front of what flows downhill, and looks back at it.
        Front = "front" / "{}" {
            /// Distance [m]; left out: a third of the way that is flowed over.
            distance: Option<f64> [LENGTH; grows, positive("a distance")],
            /// Angle above the horizon [rad].
            elevation: f64 [ANGLE; interval(ELEVATION)] = Camera::FRONT,
            /// Angle between the way that the front takes and that to the eye, from above [rad].
            aside: f64 [ANGLE] = Camera::ASIDE,
        },
        /// Stays in the valley and shows the whole way.
        Valley = "valley" / "{}" {
            /// Angle above the horizon [rad].
            elevation: f64 [ANGLE; interval(ELEVATION)] = Camera::VALLEY,
            /// Angle between the way that the front takes and that to the eye, from above [rad].
            aside: f64 [ANGLE] = Camera::ASIDE,
        },
    }
}

impl Default for Camera {
    fn default() -> Self {
        Self::Auto { azimuth: None, elevation: None, up: DVec3::Z }
    }
}

impl Camera {
    /// Vertical angle of view where none is given [rad].
    pub const FIELD: f64 = 28.0 * PI / 180.0;
    /// Elevation of a camera before a front where none is given [rad].
    pub const FRONT: f64 = 24.0 * PI / 180.0;
    /// Elevation of a camera in the valley where none is given [rad].
    pub const VALLEY: f64 = 16.0 * PI / 180.0;
    /// Angle beside the way of a front where none is given [rad].
    pub const ASIDE: f64 = 35.0 * PI / 180.0;
}

keys! {
    /// A camera at a time.
    pub struct CameraKey = "write a list such as [{ time = 0, eye = [0, -1, 0.5], target = [0, 0, 0] }, { time = \"1 s\", … }]" {
        /// Simulated time [s].
        time: f64 [TIME; grows],
        /// Where the eye is [m].
        eye: DVec3 [LENGTH; grows],
        /// What it looks at [m].
        target: DVec3 [LENGTH; grows],
        /// Vertical angle of view [rad].
        field: f64 [ANGLE; interval(VIEW)] = Camera::FIELD,
    }
}
