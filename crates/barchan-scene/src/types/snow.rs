//! What an avalanche meets and what sets it off: events, slabs, snow cover, forest, cloud, things that stand on the ground.

use super::{Bonds, names};
use crate::{keys, one_of};
use glam::{DVec2, DVec3};
use schemars::JsonSchema;
use serde::Serialize;

keys! {
    /// Something that is done to matter at a time.
    pub struct Event = "write `time` and `cut`, `load` or `charge` under `[[events]]`" {
        /// When [s].
        time: f64 [TIME; grows, not_negative("the time of an event")],
        /// What is done.
        @flat what: Action,
    }
}

one_of! {
    /// What an event does.
    pub enum Action = "an event is exactly one of `cut = { from, to }`, `load = { at, force }` and `charge = { at, radius, energy }`" {
        /// Breaks the bonds that pass through an upright plane between two points, as a saw does, and those to the ground beside it.
        Cut = "cut" / "{ from = [0, 0], to = [0, \"5 m\"] }" {
            /// One end, x and y [m].
            from: DVec2 [LENGTH; grows],
            /// The other end, x and y [m].
            to: DVec2 [LENGTH; grows],
            /// Width of the strip along it in which bonds to the ground break [m]: a saw in the weak layer.
            under: f64 [LENGTH; grows, not_negative("the width of a cut")] = 0.0,
        },
        /// Presses on the grains in a ball: a skier, who may move.
        Load = "load" / "{ at = [0, 0, 1], force = [0, 0, \"-800 N\"] }" {
            /// Middle of the ball when it begins [m].
            at: DVec3 [LENGTH; grows],
            /// Force on all grains in the ball together [N].
            force: DVec3 [FORCE; grows],
            /// Radius of the ball [m].
            radius: f64 [LENGTH; grows, positive("the radius of a load")] = 1.0,
            /// Velocity of the ball [m/s].
            velocity: DVec3 [VELOCITY; grows] = DVec3::ZERO,
            /// How long it presses [s].
            lasts: f64 [TIME; grows, positive("the time that a load lasts")] = 1.0,
        },
        /// Blows the grains in a ball apart.
        Charge = "charge" / "{ at = [0, 0, 1], radius = \"2 m\", energy = \"1 MJ\" }" {
            /// Middle of the ball [m].
            at: DVec3 [LENGTH; grows],
            /// Radius of the ball [m].
            radius: f64 [LENGTH; grows, positive("the radius of a charge")],
            /// Energy of motion that the grains get [J], the more the nearer they are.
            energy: f64 [ENERGY; grows, positive("the energy of a charge")],
        },
    }
}

keys! {
    /// A plate on the ground that is cut beforehand into rigid pieces, bonded over their common faces.
    pub struct Slab = "write each one under its own `[[slabs]]`" {
        /// Name; left out: `slab 1`, …
        name: String = String::new(),
        /// Name of the material.
        material: String [; help("add `material`: the name of one of the `[materials.…]`")],
        /// Lower corner of the plate from above, x and y [m].
        min: DVec2 [LENGTH; grows],
        /// Upper corner of the plate from above, x and y [m].
        max: DVec2 [LENGTH; grows],
        /// Thickness, normal to the slope [m].
        thickness: f64 [LENGTH; grows, positive("the thickness of a slab")],
        /// Number of pieces.
        pieces: u64 [; within(1.0, 20000.0, "a slab of {} pieces cannot be cut", "give 1 to 20000")] = Slab::PIECES,
        /// Height of its lower side above the ground [m]: what may lie under it.
        above: f64 [LENGTH; grows, not_negative("the height of a slab")] = 0.0,
        /// Bonds between the pieces; left out: none.
        bonds: Option<Bonds>,
    }
}

impl Slab {
    /// Pieces where none are given, as the plate of Güçer (2010) had.
    pub const PIECES: u64 = 232;
}

keys! {
    /// Snow on rock, which flows erode and feed.
    pub struct SnowCover = "write `[ground.cover]` with `thickness`" {
        /// Thickness, normal to the slope [m].
        thickness: f64 [LENGTH; grows, not_negative("the thickness of the cover")] = 0.0,
        /// Lower corner of where it lies, x and y [m]; left out: the ground's.
        min: Option<DVec2> [LENGTH; grows, help("write two lengths, x and y")],
        /// Upper corner of where it lies, x and y [m]; left out: the ground's.
        max: Option<DVec2> [LENGTH; grows, help("write two lengths, x and y")],
        /// Only where the slope is below this; left out: everywhere.
        steepest: f64 [ANGLE; within(0.0, 1.5, "a slope of {} cannot be", "give 0 to 85 deg")] = SnowCover::STEEPEST,
        /// Bulk density [kg/m³].
        density: f64 [DENSITY; positive("the density of the cover")] = SnowCover::DENSITY,
        /// Shear stress that it bears [Pa]: flows that pull less do not erode it.
        strength: f64 [PRESSURE; not_negative("the strength of the cover")] = 0.0,
        /// Energy that it takes to erode a kilogram [J/kg].
        energy: f64 [NUMBER; positive("the energy of erosion")] = SnowCover::ENERGY,
        /// Whether grains at rest become cover, which can be eroded again.
        deposit: bool = true,
        /// Time for which a grain must lie still to become cover [s].
        after: f64 [TIME; positive("the time of rest")] = SnowCover::AFTER,
    }
}

impl SnowCover {
    /// Bulk density where none is given [kg/m³].
    pub const DENSITY: f64 = 200.0;
    /// Energy of erosion where none is given [J/kg], as AvaFrame has it.
    pub const ENERGY: f64 = 5000.0;
    /// Steepest slope with snow on it where none is given [rad]: 55°.
    pub const STEEPEST: f64 = 0.96;
    /// Time of rest where none is given [s].
    pub const AFTER: f64 = 1.0;
}

keys! {
    /// An area of trees that are finer than grains: it brakes flows, and keeps some of their snow.
    pub struct Forest = "write each one under its own `[[ground.forest]]`" {
        /// Its outline, x and y [m].
        polygon: Vec<DVec2> [LENGTH; grows, help("write three corners or more, such as [[0, 0], [100, 0], [100, 80]]")],
        /// Coefficient c of the drag, c ρ ū² a bed area.
        drag: f64 [NUMBER; not_negative("the drag of a forest")] = Forest::DRAG,
        /// Detrainment K [Pa]: slow flows leave K/ū of mass a time and bed area behind.
        detrainment: f64 [PRESSURE; not_negative("the detrainment of a forest")] = 0.0,
        /// Speed below which snow is left behind [m/s].
        slow: f64 [VELOCITY; not_negative("the speed of detrainment")] = Forest::SLOW,
    }
}

impl Forest {
    /// Drag where none is given, as AvaFrame has it.
    pub const DRAG: f64 = 0.01;
    /// Speed of detrainment where none is given [m/s], as AvaFrame has it.
    pub const SLOW: f64 = 6.0;
}

keys! {
    /// A cloud of powder that fast flows raise: light points for the eye, which the wind carries and which push nothing.
    pub struct Cloud = "write `[cloud]`, which may be empty" {
        /// Most points at a time.
        most: u64 [; within(1.0, 4e6, "a cloud of {} points cannot be", "give 1 to 4000000")] = Cloud::MOST,
        /// Coefficient of suspension: mass a time and area is this times the density times the speed beyond `speed`.
        rate: f64 [NUMBER; not_negative("the rate of suspension")] = Cloud::RATE,
        /// Speed of a flow from which it raises a cloud [m/s].
        speed: f64 [VELOCITY; not_negative("the speed of suspension")] = Cloud::SPEED,
        /// Diameter of a point [m], which says how fast it settles.
        diameter: f64 [LENGTH; positive("the diameter of a point")] = Cloud::DIAMETER,
        /// Growth of the cloud's height a length of way.
        growth: f64 [NUMBER; not_negative("the growth of the cloud")] = Cloud::GROWTH,
        /// Points of a kilogram.
        points: f64 [NUMBER; positive("the number of points")] = Cloud::POINTS,
    }
}

impl Cloud {
    /// Points where none are given.
    pub const MOST: u64 = 100_000;
    /// Rate of suspension where none is given.
    pub const RATE: f64 = 1e-3;
    /// Speed of suspension where none is given [m/s] (Hopfinger 1983).
    pub const SPEED: f64 = 10.0;
    /// Diameter of a point where none is given [m].
    pub const DIAMETER: f64 = 2e-4;
    /// Growth where none is given.
    pub const GROWTH: f64 = 0.1;
    /// Points of a kilogram where none are given.
    pub const POINTS: f64 = 0.02;
}

keys! {
    /// Something that stands on the ground.
    pub struct Standing = "write `{ shape = \"house\", at = [0, 0], size = [10, 8, 7] }`, or `{ shape = \"dam\", line = [[0, 0], [50, 20]] }`" {
        /// What it is.
        shape: StandingShape [; help("add `shape`: `house`, `mast`, `rock` or `dam`")],
        /// Where it stands, x and y [m]; a dam has a `line`.
        at: DVec2 [LENGTH; grows] = DVec2::ZERO,
        /// Length, width and height above the ground [m]; a mast has its diameter twice.
        size: DVec3 [LENGTH; grows, positive("the size")] = DVec3::new(10.0, 8.0, 7.0),
        /// Turn about the vertical.
        turn: f64 [ANGLE] = 0.0,
        /// Line of a dam's crest, x and y [m].
        line: Vec<DVec2> [LENGTH; grows, help("write two points or more, such as [[0, 0], [50, 20]]")] = Vec::new(),
        /// Height of a dam's crest above the ground [m].
        height: f64 [LENGTH; grows, positive("the height of the crest")] = Standing::HEIGHT,
        /// Width of a dam's crest [m].
        crest: f64 [LENGTH; grows, positive("the width of the crest")] = Standing::CREST,
        /// Slope of a dam's sides.
        slope: f64 [ANGLE; within(0.1, 1.55, "a side of {} cannot be built", "give 6 to 88 deg")] = Standing::SLOPE,
    }
}

impl Standing {
    /// Height of a crest where none is given [m].
    pub const HEIGHT: f64 = 5.0;
    /// Width of a crest where none is given [m].
    pub const CREST: f64 = 2.0;
    /// Slope of a dam's sides where none is given [rad].
    pub const SLOPE: f64 = 1.1;
}

/// Things that stand on the ground.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum StandingShape {
    /// Four walls and a gabled roof.
    #[default]
    House,
    /// A round pole.
    Mast,
    /// A boulder.
    Rock,
    /// A wall of earth along a line.
    Dam,
}
names!(StandingShape { House = "house", Mast = "mast", Rock = "rock", Dam = "dam" });
