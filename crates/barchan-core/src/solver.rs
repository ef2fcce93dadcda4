//! The solver seam: what a solver says of itself, and what the world asks of it.
//!
//! A solver is one implementation of [`Solver`]. The world owns the clock, the boundary, emitters, sinks and measurements; it does
//! not know which solvers it has. Two solvers meet in a [`Coupling`], which knows both by their types
//! ([`Solvers::find`]).

use crate::boundary::Boundary;
use crate::clock::{Interval, StepWish};
use crate::columns::{Columns, Saved, Unfit};
use crate::frame::Frame;
use crate::materials::Materials;
use crate::stages::StageTime;
use glam::{DQuat, DVec3};
use std::any::Any;
use std::fmt;
use std::sync::Arc;

/// The box that matter lives in.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Domain {
    /// Lower corner [m].
    pub min: DVec3,
    /// Upper corner [m].
    pub max: DVec3,
    /// Directions in which what leaves on one side comes back on the other.
    pub periodic: [bool; 3],
}

impl Domain {
    /// Length of each periodic direction [m], 0 for the others.
    pub fn period(&self) -> DVec3 {
        let size = self.max - self.min;
        DVec3::from_array(std::array::from_fn(|k| if self.periodic[k] { size[k] } else { 0.0 }))
    }
}

/// A piece of matter about to be born: a grain, or a particle of a continuum.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NewMatter {
    /// Centre of mass [m].
    pub position: DVec3,
    /// Velocity [m/s].
    pub velocity: DVec3,
    /// Angular velocity in the world's frame [rad/s].
    pub spin: DVec3,
    /// Orientation; of no consequence for a sphere.
    pub orientation: DQuat,
    /// Radius of the shape's largest sphere [m].
    pub radius: f64,
    /// Mass [kg], if it is not that of its volume of the material.
    pub mass: Option<f64>,
    /// Index of the material.
    pub material: u16,
    /// Index of the shape.
    pub shape: u16,
}

/// A piece of matter that left, as it was.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Departed {
    /// Its id.
    pub id: u32,
    /// Mass [kg].
    pub mass: f64,
    /// Centre of mass [m].
    pub position: DVec3,
    /// Velocity [m/s].
    pub velocity: DVec3,
}

/// What a piece of matter touches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Partner {
    /// Another grain, by id.
    Grain(u32),
    /// A wall, by index.
    Wall(u16),
}

/// One touching contact, as an observer sees it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contact {
    /// Id of the grain.
    pub grain: u32,
    /// What it touches.
    pub partner: Partner,
    /// Contact point [m].
    pub point: DVec3,
    /// Unit normal from the grain to its partner.
    pub normal: DVec3,
    /// Overlap [m].
    pub overlap: f64,
    /// Normal force [N], positive when pressing, attraction included.
    pub normal_force: f64,
    /// Tangential force on the grain [N].
    pub tangential_force: DVec3,
    /// Stretch of the tangential spring, seen from the grain [m]; zero for a law without memory.
    pub slide: DVec3,
    /// Energy stored in the contact's springs [J].
    pub elastic_energy: f64,
}

/// Energies of all matter of a solver [J].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Energies {
    /// Translation of centres of mass.
    pub translation: f64,
    /// Rotation.
    pub rotation: f64,
    /// Potential energy in gravity, from the domain's lower corner (periodic images not counted).
    pub gravity: f64,
    /// Stored in contacts, bonds or a continuum's strain.
    pub elastic: f64,
}

impl Energies {
    /// Translation and rotation [J].
    pub fn kinetic(&self) -> f64 {
        self.translation + self.rotation
    }
}

impl std::ops::AddAssign for Energies {
    fn add_assign(&mut self, other: Energies) {
        self.translation += other.translation;
        self.rotation += other.rotation;
        self.gravity += other.gravity;
        self.elastic += other.elastic;
    }
}

/// How much there is of a solver's matter; cheap enough to be asked for in every step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counts {
    /// What its pieces are called, in the plural: `grains`, `particles`.
    pub name: &'static str,
    /// Pieces.
    pub pieces: usize,
    /// What a step works on, in the plural: `spheres`, `particles`.
    pub work_name: &'static str,
    /// How many of those.
    pub work: usize,
}

/// A number that a solver or a coupling watches, for progress lines, reports and the window.
#[derive(Clone, Debug, PartialEq)]
pub struct Gauge {
    /// Name, for example `contacts a grain`.
    pub name: &'static str,
    /// Unit, empty for a pure number.
    pub unit: &'static str,
    /// Value.
    pub value: f64,
}

/// A number of a solver that may be changed while it runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Knob {
    /// Name, for example `friction angle`.
    pub name: &'static str,
    /// Unit of its value, SI; empty for a pure number.
    pub unit: &'static str,
    /// What it means, in a sentence for its user.
    pub about: &'static str,
    /// Index of the material that it belongs to; none for what concerns all matter.
    pub material: Option<u16>,
    /// Ends of a scale to choose from. Other values may be possible: the solver says so when it is set.
    pub range: [f64; 2],
    /// What it is now.
    pub value: f64,
}

/// Sums over all matter of a solver.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Totals {
    /// Mass [kg].
    pub mass: f64,
    /// Momentum [kg m/s].
    pub momentum: DVec3,
    /// Energies [J].
    pub energies: Energies,
    /// What else the solver watches.
    pub gauges: Vec<Gauge>,
}

/// Why a solver or a coupling had to stop. The message names what, when, and the remedy.
#[derive(Clone, Debug)]
pub struct SolverError(Arc<dyn std::error::Error + Send + Sync>);

impl SolverError {
    /// From a solver's own error.
    pub fn new(error: impl std::error::Error + Send + Sync + 'static) -> SolverError {
        SolverError(Arc::new(error))
    }

    /// The solver's own error, if it is one of that type.
    pub fn find<E: std::error::Error + 'static>(&self) -> Option<&E> {
        self.0.downcast_ref()
    }
}

impl fmt::Display for SolverError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for SolverError {}

impl PartialEq for SolverError {
    fn eq(&self, other: &SolverError) -> bool {
        self.to_string() == other.to_string()
    }
}

impl From<Unfit> for SolverError {
    fn from(e: Unfit) -> SolverError {
        SolverError::new(e)
    }
}

/// Memory of a particle of a solver that does not say [bytes]: a dozen columns of doubles.
const BYTES_PER_PIECE: f64 = 100.0;

/// A way to compute matter.
pub trait Solver: Any + Send {
    /// Its name, as in `--as` and in the sections of a checkpoint. The population of its matter has the same.
    fn name(&self) -> &'static str;

    /// The step it wants, and why.
    fn wish(&self) -> StepWish;

    /// Goes from the beginning of a world step to its end, in as many steps of its own as it needs.
    ///
    /// Walls stand where they are at the end of the interval; [`Boundary::states_at`] has them at any time within it. The solver adds
    /// what it does to walls and bodies to the boundary.
    fn step(&mut self, interval: &Interval, boundary: &mut Boundary) -> Result<(), SolverError>;

    /// Somebody is about to look at what the last world step led to: a solver that puts steps off does them now, and adds what they have
    /// done to walls. Called any number of times after a step, or not at all.
    fn settle(&mut self, _interval: &Interval, _boundary: &mut Boundary) -> Result<(), SolverError> {
        Ok(())
    }

    /// Takes up the loads on bodies that couplings have changed, where this solver integrates bodies.
    fn take_loads(&mut self, _boundary: &mut Boundary) {}

    /// Births; returns the id of the first, the others follow. Nothing is checked for overlap.
    fn add(&mut self, matter: &[NewMatter], boundary: &Boundary) -> Result<u32, SolverError>;

    /// Removes the pieces for which `leaves(id, position)` is true, and returns them as they were.
    fn remove_where(&mut self, leaves: &dyn Fn(u32, DVec3) -> bool) -> Vec<Departed>;

    /// Pieces found outside the domain's sides that are not periodic, since the last call, with where they are [m].
    fn take_outside(&mut self) -> Vec<(u32, DVec3)> {
        Vec::new()
    }

    /// The domain as it is now, where the solver strains it.
    fn domain(&self) -> Option<Domain> {
        None
    }

    /// Visits the balls of all matter, as centre and radius [m]: what newborn matter must keep clear of. What has a surface among the walls
    /// is left out.
    fn balls(&self, _visit: &mut dyn FnMut(DVec3, f64)) {}

    /// Adds what readers may see to a frame.
    fn publish(&self, frame: &mut Frame);

    /// How much there is.
    fn counts(&self) -> Counts;

    /// Sums and gauges.
    fn totals(&self) -> Totals;

    /// Contacts that touch now, in a fixed order, where matter is grains.
    fn contacts(&self) -> Vec<Contact> {
        Vec::new()
    }

    /// Time spent in each stage since the start.
    fn stages(&self) -> Vec<StageTime> {
        Vec::new()
    }

    /// Bytes held.
    fn memory(&self) -> usize;

    /// Memory a piece of work takes when it is packed [bytes]: the estimate for matter to come.
    fn bytes_per_piece(&self) -> f64 {
        BYTES_PER_PIECE
    }

    /// Gravity from now on [m/s²].
    fn set_gravity(&mut self, gravity: DVec3);

    /// Friction and restitution from now on. An error names what cannot change while matter moves.
    fn set_materials(&mut self, _materials: &Materials) -> Result<(), SolverError> {
        Ok(())
    }

    /// What else may be changed while it runs, always the same in the same order.
    fn knobs(&self) -> Vec<Knob> {
        Vec::new()
    }

    /// The knob of an index has this value from now on, to the bit. An error says why it cannot.
    fn set_knob(&mut self, _index: usize, _value: f64) -> Result<(), SolverError> {
        Ok(())
    }

    /// Visits what is within a ball [m] with its place [m] and mass [kg]. What was frozen there thaws, so that it can be kicked.
    fn each_in(&mut self, _centre: DVec3, _radius: f64, _visit: &mut dyn FnMut(DVec3, f64)) {}

    /// Adds a velocity [m/s], which a function of its place [m] gives, to what is within a ball [m]; returns the momentum given [kg m/s].
    fn kick_in(&mut self, _centre: DVec3, _radius: f64, _change: &dyn Fn(DVec3) -> DVec3) -> DVec3 {
        DVec3::ZERO
    }

    /// Adds a velocity [m/s] to what is within a ball [m]; returns the momentum given [kg m/s].
    fn push(&mut self, centre: DVec3, radius: f64, velocity: DVec3) -> DVec3 {
        self.kick_in(centre, radius, &|_| velocity)
    }

    /// Wakes all that sleeps: the world is no longer the one it came to rest in.
    fn wake(&mut self) {}

    /// The complete state.
    fn save(&self) -> Columns;

    /// Takes back what [`Solver::save`] gave, into a solver made from the same scene. The run then goes on bit for bit.
    fn load(&mut self, saved: Saved<'_>, boundary: &Boundary) -> Result<(), SolverError>;

    /// Mixes the state into a hash ([`crate::columns::mix`]): equal bits, equal hash.
    fn hash(&self, start: u64) -> u64;
}

/// What joins two solvers, or a solver and the ground.
pub trait Coupling: Any + Send {
    /// Its name, as in the sections of a checkpoint.
    fn name(&self) -> &'static str;

    /// Acts after the solvers' step.
    fn step(&mut self, interval: &Interval, boundary: &mut Boundary, solvers: &mut Solvers) -> Result<(), SolverError>;

    /// Adds what readers may see to a frame.
    fn publish(&self, _frame: &mut Frame) {}

    /// What it watches.
    fn gauges(&self, _solvers: &Solvers) -> Vec<Gauge> {
        Vec::new()
    }

    /// Mass it holds itself [kg].
    fn mass(&self) -> f64 {
        0.0
    }

    /// Time spent in each stage since the start.
    fn stages(&self) -> Vec<StageTime>;

    /// Bytes held.
    fn memory(&self) -> usize {
        0
    }

    /// The complete state.
    fn save(&self) -> Columns;

    /// Takes back what [`Coupling::save`] gave, before the solvers do.
    fn load(&mut self, saved: Saved<'_>, boundary: &mut Boundary) -> Result<(), SolverError>;

    /// Mixes the state into a hash.
    fn hash(&self, start: u64) -> u64;
}

/// The solvers of a world, in the order in which they step.
#[derive(Default)]
pub struct Solvers(Vec<Box<dyn Solver>>);

impl Solvers {
    /// Of these.
    pub fn new(solvers: Vec<Box<dyn Solver>>) -> Solvers {
        Solvers(solvers)
    }

    /// The solver of a type.
    pub fn find<S: Solver>(&self) -> Option<&S> {
        self.0.iter().find_map(|s| (s.as_ref() as &dyn Any).downcast_ref())
    }

    /// The same, to be changed.
    pub fn find_mut<S: Solver>(&mut self) -> Option<&mut S> {
        self.0.iter_mut().find_map(|s| (s.as_mut() as &mut dyn Any).downcast_mut())
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &dyn Solver> {
        self.0.iter().map(|s| s.as_ref())
    }

    /// All of them, to be changed.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut (dyn Solver + 'static)> {
        self.0.iter_mut().map(|s| s.as_mut())
    }

    /// One of them.
    pub fn get(&self, index: usize) -> &dyn Solver {
        self.0[index].as_ref()
    }

    /// One of them, to be changed.
    pub fn get_mut(&mut self, index: usize) -> &mut dyn Solver {
        self.0[index].as_mut()
    }

    /// How many.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
