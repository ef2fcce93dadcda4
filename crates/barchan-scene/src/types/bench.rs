//! What the bench needs beside matter and walls: when to stop, liquid between grains, a cell that is strained, values that change in time.

use crate::formula::Formula;
use crate::{keys, one_of};
use glam::DVec3;

keys! {
    /// When a run ends before its duration: as soon as one of these holds.
    pub struct Stop = "write `kinetic = \"1e-6 J\"` under `[stop]`" {
        /// Kinetic energy, rotation included, falls below this [J].
        kinetic: Option<f64> [ENERGY; positive("the energy")],
        /// Grains, or particles, are fewer than this.
        fewer: Option<u64>,
        /// Grains, or particles, are more than this.
        more: Option<u64>,
        /// Nothing was born for this time [s].
        unborn: Option<f64> [TIME; grows, positive("the time without births")],
        /// Stress on a wall passes a limit.
        stress: Option<StopStress>,
        /// Not before this time [s].
        after: f64 [TIME; grows, not_negative("the time")] = 0.0,
    }
}

keys! {
    /// A stress on a wall at which a run ends.
    pub struct StopStress = "write `stress = { wall = \"lid\", area = \"4 cm2\", above = \"10 kPa\" }`" {
        /// Name of the wall.
        wall: String [; help("add `wall`: the name of one of the `[[walls]]`")],
        /// Area that the force acts on [m²].
        area: f64 [AREA; grows, positive("an area")],
        /// Stress [Pa] that ends the run when it is passed upwards.
        above: Option<f64> [PRESSURE; positive("a stress")],
        /// Stress [Pa] that ends the run when it is passed downwards.
        below: Option<f64> [PRESSURE; positive("a stress")],
    }
}

keys! {
    /// Liquid that hangs in bridges between grains that have touched, and between grains and walls.
    pub struct Liquid = "write `tension = \"0.072 N/m\", volume = 0.01` under `[liquid]`" {
        /// Surface tension of the liquid [N/m].
        tension: f64 [STIFFNESS; positive("the surface tension")],
        /// Contact angle of the liquid on the grains.
        angle: f64 [ANGLE; within(0.0, 1.57, "a contact angle of {} rad cannot hold a bridge", "use 0 to 89 degrees")] = 0.0,
        /// Volume of a bridge over R³, R = 2 r₁ r₂/(r₁ + r₂).
        volume: f64 [NUMBER; within(1e-9, 0.1, "a bridge of {} R³ is none that the law holds for", "use 1e-9 to 0.1")],
        /// Viscosity of the liquid [Pa s].
        viscosity: f64 [VISCOSITY; not_negative("the viscosity")] = 0.0,
    }
}

keys! {
    /// A periodic cell that is strained: all three directions are periodic, and there are no walls.
    pub struct Cell = "write `shear = \"1 /s\"` under `[cell]`" {
        /// What the cell does along x; left out: it keeps its length.
        x: CellSide = CellSide::Rate(0.0),
        /// Along y.
        y: CellSide = CellSide::Rate(0.0),
        /// Along z.
        z: CellSide = CellSide::Rate(0.0),
        /// Rate of simple shear, ∂u_x/∂z [1/s]: sides above and below move along x (Lees and Edwards).
        shear: f64 [FREQUENCY; grows] = 0.0,
        /// Largest strain rate of a direction that holds a stress [1/s].
        max_rate: f64 [FREQUENCY; grows, positive("the largest rate")] = Cell::MAX_RATE,
    }
}

impl Cell {
    /// Largest strain rate of a direction that holds a stress, where none is given [1/s].
    pub const MAX_RATE: f64 = 1.0;
}

one_of! {
    /// What a direction of a cell does.
    pub enum CellSide = "write `{ rate = \"-0.1 /s\" }` or `{ stress = \"10 kPa\" }`" {
        /// Its strain rate [1/s], negative where it becomes shorter.
        Rate = "rate" (rate: f64 [FREQUENCY; grows]),
        /// The normal stress that it holds [Pa], positive in compression.
        Stress = "stress" (stress: f64 [PRESSURE; positive("a stress")]),
    }
}

one_of! {
    /// A surface that moves along itself while its wall stands: a conveyor belt.
    pub enum Belt = "write `belt = { velocity = [\"1 m/s\", 0, 0] }` or `belt = { around = { axis = [0, 1, 0], speed = \"1 m/s\" } }`" {
        /// Velocity of the surface [m/s]; its part along the surface counts.
        Velocity = "velocity" (velocity: DVec3 [VELOCITY; grows]),
        /// A speed around an axis, wherever the surface is: a closed belt runs round its rolls.
        Around = "around" / "{ axis = [0, 1, 0], speed = \"1 m/s\" }" {
            /// Direction of the axis, of any length.
            axis: DVec3 [NUMBER; direction("the axis")],
            /// Speed of the surface [m/s], along axis × normal.
            speed: f64 [VELOCITY; grows],
        },
    }
}

keys! {
    /// A value that changes in time, by keyframes or by a formula.
    pub struct Change = "write `gravity = {}` or `friction = \"sand\"`, and `keyframes` or `formula`, under `[[changes]]`" {
        /// What changes.
        @flat what: Changed,
        /// Times [s] and values in SI units, straight lines between them: `[[0, 0.2], [\"1 s\", 0.6]]`.
        keyframes: Vec<[f64; 2]> [TIME; then_number, grows, help("write rows of time and value, such as [[0, 0.2], [\"1 s\", 0.6]]")]
            = Vec::new(),
        /// The value in SI units as a formula of the time t [s].
        formula: Option<Formula> [; variables(&["t"]), help("write a formula of the time t in seconds")],
        /// Simulated time between changes [s]; left out: a thousandth of the duration.
        every: Option<f64> [TIME; grows, positive("the time between changes")],
    }
}

one_of! {
    /// What changes in time.
    pub enum Changed = "say what changes: `gravity`, `friction`, `restitution`, `walls` or `emitters`" {
        /// Strength of gravity [m/s²], in the direction that is given.
        Gravity = "gravity" (direction: DVec3 [NUMBER; direction("the direction of gravity")]),
        /// Friction of the material of that name.
        Friction = "friction" (material: String),
        /// Restitution of the material of that name.
        Restitution = "restitution" (material: String),
        /// Pace of the prescribed motions of all walls, over that of the scene.
        Walls = "walls" / "{}" {
        },
        /// Rate of all emitters, over that of the scene.
        Emitters = "emitters" / "{}" {
        },
    }
}
