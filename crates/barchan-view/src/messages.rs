//! What the window and the simulation's thread say to each other.

use barchan_core::frame::Frame;
use barchan_core::solver::{Energies, Gauge, Knob};
use barchan_engine::{Dropped, WallMap};
use barchan_scene::Parsed;
use glam::{DVec2, DVec3};
use std::path::PathBuf;
use std::sync::Arc;

/// What the window may ask for.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// Go on.
    Play,
    /// Stand still.
    Pause,
    /// One step, then stand still.
    Step,
    /// Back to the scene's beginning, standing still or not.
    Reset {
        /// Whether it then plays.
        play: bool,
        /// With what it begins.
        fresh: Fresh,
    },
    /// Stand still when this simulated time [s] is reached; none to go on to the end.
    PauseAt(Option<f64>),
    /// A number of a solver, by its index in [`Values::knobs`].
    Knob {
        /// Index.
        index: usize,
        /// Its value from now on, SI.
        value: f64,
    },
    /// Simulated seconds a second at most; none for as fast as it goes.
    Speed(Option<f64>),
    /// Gravity [m/s²].
    Gravity(DVec3),
    /// Friction and restitution of a material, by index.
    Material {
        /// Index.
        index: usize,
        /// Coefficient of friction.
        friction: f64,
        /// Coefficient of restitution.
        restitution: f64,
    },
    /// Rate of the emitters over the scene's.
    Flow(f64),
    /// Pace of the walls over the scene's.
    Walls(f64),
    /// Adds a velocity [m/s] to the grains in a ball [m].
    Push {
        /// Centre of the ball [m].
        centre: DVec3,
        /// Its radius [m].
        radius: f64,
        /// Velocity to add [m/s].
        velocity: DVec3,
    },
    /// Brings grains of the first population into a ball [m].
    Pour {
        /// Centre of the ball [m].
        centre: DVec3,
        /// Its radius [m].
        radius: f64,
        /// How many at most.
        count: usize,
    },
    /// Drops a ball.
    Drop {
        /// Centre [m].
        centre: DVec3,
        /// Radius [m].
        radius: f64,
    },
    /// Removes the grains in a ball [m].
    Dig {
        /// Centre of the ball [m].
        centre: DVec3,
        /// Its radius [m].
        radius: f64,
    },
    /// Breaks bonds along a line from above [m].
    Cut {
        /// One end.
        from: DVec2,
        /// The other end.
        to: DVec2,
        /// Width of the strip along it in which bonds to the ground break [m].
        under: f64,
    },
    /// Blows the grains in a ball [m] apart.
    Charge {
        /// Centre of the ball [m].
        centre: DVec3,
        /// Its radius [m].
        radius: f64,
        /// Energy [J].
        energy: f64,
    },
    /// Keeps the world as it stands in a new folder.
    Save(PathBuf),
}

/// What a scene begins with, where it is not its own.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fresh {
    /// Times the scene's grains, its geometry grown to hold them.
    pub scale: f64,
    /// Spacing of the particles of a continuum [m].
    pub spacing: Option<f64>,
    /// Density of the grains of a continuum [kg/m³].
    pub density: Option<f64>,
}

impl Default for Fresh {
    /// All as the scene has it.
    fn default() -> Fresh {
        Fresh { scale: 1.0, spacing: None, density: None }
    }
}

/// How a simulation stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum State {
    /// The scene is being read and its grains placed.
    #[default]
    Loading,
    /// Standing still.
    Paused,
    /// Going on.
    Playing,
    /// The scene's duration is over; it may be played on.
    Finished,
    /// The scene or the run failed; the message says why.
    Failed,
}

impl State {
    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            State::Loading => "loading",
            State::Paused => "paused",
            State::Playing => "playing",
            State::Finished => "finished",
            State::Failed => "failed",
        }
    }
}

/// What a command did, where that is worth a word.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// Momentum given [kg m/s].
    Pushed(DVec3),
    /// Grains that found room.
    Poured(usize),
    /// What became of the ball.
    Dropped(Dropped),
    /// Grains removed.
    Dug(usize),
    /// Bonds broken.
    Broken(usize),
    /// Where the world was kept.
    Saved(PathBuf),
    /// Why it was not done.
    Refused(String),
}

/// Numbers of a running world.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Stats {
    /// Simulated time [s].
    pub time: f64,
    /// Time the scene is to reach [s].
    pub duration: f64,
    /// Steps taken.
    pub step: u64,
    /// Time step [s].
    pub dt: f64,
    /// Grains.
    pub grains: usize,
    /// Spheres of all grains.
    pub spheres: usize,
    /// Mass of all matter [kg].
    pub mass: f64,
    /// Energies [J].
    pub energies: Energies,
    /// What solvers and couplings watch.
    pub gauges: Vec<Gauge>,
    /// What a step costs, pass by pass, lately.
    pub passes: Vec<Pass>,
    /// Simulated seconds a second, lately.
    pub real_time: f64,
    /// Hash of the state; only while it stands still.
    pub hash: Option<u64>,
    /// Bytes held by the solver.
    pub memory: usize,
}

/// What a pass costs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pass {
    /// Its name.
    pub name: &'static str,
    /// Wall-clock milliseconds a step.
    pub ms: f64,
    /// How often it runs in a step: that of an iteration once for each.
    pub runs: f64,
}

/// What may be changed live, as it is.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Values {
    /// Gravity [m/s²].
    pub gravity: DVec3,
    /// Name, friction, restitution of each material.
    pub materials: Vec<(String, f64, f64)>,
    /// Rate of the emitters over the scene's, if there are any.
    pub flow: Option<f64>,
    /// Pace of the walls over the scene's, if any moves by itself.
    pub walls: Option<f64>,
    /// Radius of grains poured by hand [m].
    pub grain: Option<f64>,
    /// What else solvers let one change.
    pub knobs: Vec<Knob>,
    /// Whether there are grains, or bodies, that bounce: a continuum has no restitution.
    pub bounces: bool,
    /// When it is to stand still [s].
    pub pause_at: Option<f64>,
}

/// What the thread has shown last.
#[derive(Clone, Debug, Default)]
pub struct Published {
    /// Rises with every publication.
    pub serial: u64,
    /// How it stands.
    pub state: State,
    /// The scene, once it is read.
    pub scene: Option<Arc<Parsed>>,
    /// What there is to see.
    pub frame: Option<Arc<Frame>>,
    /// Numbers.
    pub stats: Stats,
    /// What may be changed.
    pub values: Values,
    /// Why it failed.
    pub message: Option<String>,
    /// What the last commands did, with their number.
    pub answer: Option<(u64, Answer)>,
    /// Rises with every reset, so that a window can tell a new beginning.
    pub epoch: u64,
    /// Walls and bodies that have a volume map.
    pub maps: Vec<WallMap>,
}
