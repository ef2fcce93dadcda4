//! Walls: geometry, surface, motion.

use super::{Belt, Standing, names};
use crate::{keys, one_of};
use glam::DVec3;
use schemars::JsonSchema;
use serde::Serialize;

keys! {
    /// A wall. Its motions add up.
    pub struct Wall = "write each wall under its own `[[walls]]`" {
        /// Name; left out: `wall 1`, …
        name: String = String::new(),
        /// Name of the material.
        material: String [; help("add `material`: the name of one of the `[materials.…]`")],
        /// Exactly one geometry.
        @flat geometry: Geometry,
        /// Covers the wall with spheres.
        rough: Option<Rough>,
        /// Constant velocity [m/s].
        velocity: DVec3 [VELOCITY; grows] = DVec3::ZERO,
        /// Steady rotation.
        rotate: Option<Rotate>,
        /// Harmonic motion.
        oscillate: Option<Oscillate>,
        /// A path through given poses, smooth between them.
        keyframes: Vec<Keyframe> [; help("write a list such as [{ time = 0, at = [0, 0, 0] }, { time = \"1 s\", at = [0, 0, \"2 cm\"] }]")]
            = Vec::new(),
        /// A plunger: free to move along an axis under a load.
        drive: Option<Drive>,
        /// A servo that holds a stress.
        servo: Option<Servo>,
        /// Motion of the surface along itself, while the wall stands: a conveyor belt.
        belt: Option<Belt>,
        /// When the motion starts [s]; left out: at once.
        from: Option<f64> [TIME; grows],
        /// When the motion ends [s]; left out: never.
        until: Option<f64> [TIME; grows],
    }
}

impl Wall {
    /// Whether the wall ever moves.
    pub fn moves(&self) -> bool {
        self.velocity != DVec3::ZERO
            || self.rotate.is_some()
            || self.oscillate.is_some()
            || !self.keyframes.is_empty()
            || self.drive.is_some()
            || self.servo.is_some()
    }
}

one_of! {
    /// The surface of a wall.
    pub enum Geometry = "a wall has exactly one geometry, such as `plane = { point = [0, 0, 0], normal = [0, 0, 1] }`" {
        /// An unbounded plane; grains live on the side its normal points to.
        Plane = "plane" / "{ point = [0, 0, 0], normal = [0, 0, 1] }" {
            /// A point of the plane [m].
            point: DVec3 [LENGTH; grows],
            /// Direction towards the grains, of any length.
            normal: DVec3 [NUMBER; direction("the normal")],
        },
        /// A box along the axes: a vessel (inside) or a solid block (outside).
        Box = "box" / "{ min = [0, 0, 0], max = [0.1, 0.1, 0.1], open = [\"top\"] }" {
            /// Lower corner [m].
            min: DVec3 [LENGTH; grows],
            /// Upper corner [m].
            max: DVec3 [LENGTH; grows],
            /// Where grains live.
            side: Side = Side::Inside,
            /// Faces that are missing.
            open: Vec<Face> = Vec::new(),
        },
        /// A cylinder without caps.
        Cylinder = "cylinder" / "{ base = [0, 0, 0], axis = [0, 0, 1], radius = 0.05, height = 0.1 }" {
            /// Centre of the base [m].
            base: DVec3 [LENGTH; grows],
            /// Direction from the base to the top, of any length.
            axis: DVec3 [NUMBER; direction("the axis")] = DVec3::Z,
            /// Radius [m].
            radius: f64 [LENGTH; grows, positive("the radius")],
            /// Height [m]; left out: unbounded both ways.
            height: Option<f64> [LENGTH; grows, positive("the height")],
            /// Where grains live.
            side: Side = Side::Inside,
        },
        /// A (truncated) cone without caps: a funnel.
        Cone = "cone" / "{ base = [0, 0, 0], axis = [0, 0, 1], radius_base = 0.01, radius_top = 0.05, height = 0.05 }" {
            /// Centre of the base [m].
            base: DVec3 [LENGTH; grows],
            /// Direction from the base to the top, of any length.
            axis: DVec3 [NUMBER; direction("the axis")] = DVec3::Z,
            /// Radius at the base [m].
            radius_base: f64 [LENGTH; grows, not_negative("a radius")],
            /// Radius at the top [m].
            radius_top: f64 [LENGTH; grows, not_negative("a radius")],
            /// Height [m].
            height: f64 [LENGTH; grows, positive("the height")],
            /// Where grains live.
            side: Side = Side::Inside,
        },
        /// A sphere.
        Sphere = "sphere" / "{ centre = [0, 0, 0], radius = 0.05 }" {
            /// Centre [m].
            centre: DVec3 [LENGTH; grows],
            /// Radius [m].
            radius: f64 [LENGTH; grows, positive("the radius")],
            /// Where grains live.
            side: Side = Side::Inside,
        },
        /// A two-sided plate, with or without a hole.
        Disc = "disc" / "{ centre = [0, 0, 0], normal = [0, 0, 1], radius = 0.05 }" {
            /// Centre [m].
            centre: DVec3 [LENGTH; grows],
            /// Direction across the plate, of any length.
            normal: DVec3 [NUMBER; direction("the normal")],
            /// Radius [m].
            radius: f64 [LENGTH; grows, positive("the radius")],
            /// Radius of the hole [m].
            hole: f64 [LENGTH; grows, not_negative("the radius of the hole")] = 0.0,
        },
        /// Triangles from a file (STL, OBJ, PLY, glTF): a solid where they close, a shell touched from both sides where not.
        Mesh = "mesh" (mesh: MeshFile),
        /// A house, a mast, a boulder or a dam that stands on the ground.
        Standing = "standing" (standing: Standing),
    }
}

keys! {
    /// A mesh from a file, and how it stands in the scene: made larger, then turned, then moved.
    pub struct MeshFile(file) = "write `\"hopper.stl\"`, or `{ file = \"hopper.stl\", scale = 0.001 }`" {
        /// Path of the file, from the folder of the scene; or a shape that needs none, of about unit size: `box`, `sphere`,
        /// `cylinder`, `torus`, `trefoil`, `screw`, `mixer`.
        file: String [; help("add `file`: the path of an STL, OBJ, PLY or glTF file")],
        /// Metres of a unit of the file: 0.001 for one in millimetres.
        scale: f64 [NUMBER; grows_as(0, 1, 0), positive("the scale")] = 1.0,
        /// Turn about the file's origin: axis times angle.
        turn: DVec3 [ANGLE] = DVec3::ZERO,
        /// Where the grains are, of a closed mesh: around it, or within.
        side: Side = Side::Outside,
        /// Where the file's origin comes to stand [m].
        at: DVec3 [LENGTH; grows] = DVec3::ZERO,
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

keys! {
    /// Spheres that cover a wall, computed where they are met (Longmore 2009, figure 4.16).
    pub struct Rough = "write `{ radius = \"1 mm\", spacing = \"2 mm\" }`" {
        /// Radius of the spheres [m].
        radius: f64 [LENGTH; positive("the radius of the bumps")],
        /// Distance between their centres [m].
        spacing: f64 [LENGTH; positive("the spacing of the bumps")],
    }
}

keys! {
    /// Steady rotation about a fixed axis.
    pub struct Rotate = "write `{ point = [0, 0, 0], axis = [0, 1, 0], rate = \"12 rpm\" }`" {
        /// A point of the axis [m].
        point: DVec3 [LENGTH; grows],
        /// Direction of the axis, of any length.
        axis: DVec3 [NUMBER; direction("the axis")],
        /// Angular rate [rad/s], by the right hand.
        rate: f64 [ANGULAR_RATE; grows],
    }
}

keys! {
    /// Harmonic motion: displacement A (sin(2π f t + φ) − sin φ), so that the wall starts from where the scene draws it.
    pub struct Oscillate = "write `{ direction = [0, 0, 1], amplitude = \"2 mm\", frequency = \"10 Hz\" }`" {
        /// Direction, of any length.
        direction: DVec3 [NUMBER; direction("the oscillation")],
        /// Amplitude [m].
        amplitude: f64 [LENGTH; grows, not_negative("an amplitude")],
        /// Frequency [1/s].
        frequency: f64 [FREQUENCY; grows, positive("a frequency")],
        /// Phase φ at the start of the motion [rad]; 0 starts with the greatest speed, 90° from rest.
        phase: f64 [ANGLE] = 0.0,
    }
}

keys! {
    /// A pose at a time.
    pub struct Keyframe = "write a list such as [{ time = 0, at = [0, 0, 0] }, { time = \"1 s\", at = [0, 0, \"2 cm\"] }]" {
        /// Time [s].
        time: f64 [TIME; grows],
        /// Displacement from where the scene draws the wall [m].
        at: DVec3 [LENGTH; grows],
        /// Rotation vector about the wall's origin [rad].
        turn: DVec3 [ANGLE] = DVec3::ZERO,
    }
}

keys! {
    /// A plunger: moves along an axis under its load, its own weight, the grains' push and a damper.
    ///   m a = load + (F + m g)·axis − damping v
    /// When the scene grows its stress stays, and so does its thickness.
    pub struct Drive = "write `{ axis = [0, 0, -1], mass = \"0.1 kg\", load = \"5 N\" }`" {
        /// Direction of the load, of any length.
        axis: DVec3 [NUMBER; direction("the axis")],
        /// Mass [kg].
        mass: f64 [MASS; grows_as(0, 2, 0), positive("a mass")],
        /// Force along the axis [N], added to the part of the plunger's own weight that acts along it, m g·axis.
        load: f64 [FORCE; grows_as(0, 2, 0)],
        /// Viscous damping [N s/m].
        damping: f64 [DAMPING; grows_as(0, 2, -1), not_negative("a damping")] = 0.0,
    }
}

keys! {
    /// A servo: moves along an axis so that the grains' push over an area holds a stress. The axis is the direction in which the wall
    /// pushes the grains; a stress is positive in compression.
    pub struct Servo = "write `{ axis = [0, 0, -1], stress = \"10 kPa\", area = \"4 cm2\", max_speed = \"0.1 m/s\" }`" {
        /// Direction in which the wall presses, of any length.
        axis: DVec3 [NUMBER; direction("the axis")],
        /// Stress to hold [Pa].
        stress: f64 [PRESSURE; positive("a stress")],
        /// Area the force acts on [m²]; left out: that between the walls of `between`.
        area: Option<f64> [AREA; grows, positive("an area")],
        /// Pairs of plane walls that bound the area, which follows them as they move: two pairs, or one in a domain that is periodic along the other direction.
        between: Vec<[String; 2]> [; help("write pairs of names of walls, such as [[\"left\", \"right\"], [\"front\", \"back\"]]")]
            = Vec::new(),
        /// Largest speed of the wall [m/s].
        max_speed: f64 [VELOCITY; grows, positive("a speed")],
    }
}
