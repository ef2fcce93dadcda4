//! What a grain solver is told at its start, and the words it answers in.

use barchan_core::contact::ContactLaw;
use barchan_core::materials::Materials;
use barchan_core::shapes::Shape;
use barchan_core::walls::Wall;
use glam::{DQuat, DVec3};
use std::sync::Arc;

/// The box the grains live in.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Domain {
    /// Lower corner [m].
    pub min: DVec3,
    /// Upper corner [m].
    pub max: DVec3,
    /// Directions in which what leaves on one side comes back on the other.
    pub periodic: [bool; 3],
}

/// How a step advances positions and velocities.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Integrator {
    /// Second order, symplectic: half a kick, a drift, half a kick.
    VelocityVerlet,
    /// First order, symplectic: kick, then drift.
    SemiImplicitEuler,
    /// Størmer's form with a share of the velocity taken away each step.
    PositionVerlet {
        /// Share of the velocity lost each step, 0 for none.
        dissipation: f64,
    },
    /// Drift, then kick: pumps energy in; for comparison only.
    ForwardEuler,
}

/// Precision of the contact kernel. Positions, overlaps and everything that integrates are f64 in both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Precision {
    /// Forces and contact memory in f32.
    Mixed,
    /// All in f64.
    Double,
}

/// All a solver needs to begin, apart from its grains.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Acceleration of gravity [m/s²].
    pub gravity: DVec3,
    /// Where the grains live.
    pub domain: Domain,
    /// Contact law.
    pub law: ContactLaw,
    /// Materials and their pairs.
    pub materials: Materials,
    /// Shapes that grains may have.
    pub shapes: Arc<[Shape]>,
    /// Walls.
    pub walls: Vec<Wall>,
    /// Which of them are surfaces of bodies: the last ones.
    pub carried: Vec<Carried>,
    /// Shapes that do not touch a ground: it bears them by loads from outside.
    pub borne: Vec<u16>,
    /// Time step [s].
    pub dt: f64,
    /// Time stepping scheme.
    pub integrator: Integrator,
    /// Precision of the kernel.
    pub precision: Precision,
    /// Largest overlap tolerated, as a share of the smaller radius; beyond it the run stops.
    pub max_overlap: f64,
}

/// A wall that goes along with a grain, as its surface: the two are one body.
///
/// The grain is integrated; others touch the wall instead of the grain's spheres, and what they do to it they do to the
/// grain. The spheres are for walls and for the surfaces of other bodies. The geometry is that of the body in its own frame:
/// principal axes, centre of mass at the origin (and at the pivot).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Carried {
    /// Index of the wall.
    pub wall: u16,
    /// Id of the grain; its shape is that of no grain without a wall.
    pub grain: u32,
}

/// Where a grain is, and how it moves.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Pose {
    /// Centre of mass [m].
    pub centre: DVec3,
    /// Orientation of its principal axes.
    pub rotation: DQuat,
    /// Velocity of the centre [m/s].
    pub velocity: DVec3,
    /// Angular velocity [rad/s].
    pub spin: DVec3,
    /// Inverse mass [1/kg].
    pub inverse_mass: f64,
}

/// A grain about to be born.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NewGrain {
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

/// What a grain touches.
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
    /// Energy stored in the contact's springs [J].
    pub elastic_energy: f64,
}

/// Energies of all grains [J].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Energies {
    /// Translation of centres of mass.
    pub translation: f64,
    /// Rotation.
    pub rotation: f64,
    /// Potential energy in gravity, from the domain's lower corner (periodic images not counted).
    pub gravity: f64,
    /// Springs in the contacts.
    pub elastic: f64,
}

/// A grain that left, as it was.
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

/// Time spent in one pass since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PassTime {
    /// Name of the pass, as everywhere.
    pub name: &'static str,
    /// Wall-clock seconds.
    pub seconds: f64,
    /// How often it ran.
    pub runs: u64,
}

/// A column of a checkpoint.
#[derive(Clone, Debug, PartialEq)]
pub enum Column {
    /// Doubles.
    F64(Vec<f64>),
    /// Singles.
    F32(Vec<f32>),
    /// Unsigned 32-bit integers.
    U32(Vec<u32>),
    /// Unsigned 64-bit integers.
    U64(Vec<u64>),
}

/// What one step of the solver must at least move and compute, contacts and integration: what its time is held against.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// Bytes read and written, each column once a pass.
    pub bytes: usize,
    /// Floating-point operations on pairs of spheres.
    pub operations: usize,
}
