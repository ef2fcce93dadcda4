//! What a grain solver is told at its start.

use crate::cell::CellLaw;
use crate::sleep::Sleep;
use barchan_core::contact::ContactLaw;
use barchan_core::contact::bridge::BridgeLaw;
use barchan_core::materials::Materials;
use barchan_core::shapes::Shape;
use barchan_core::solver::Domain;
use glam::DVec3;
use std::sync::Arc;

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
    /// Shapes that do not touch a ground: it bears them by loads from outside.
    pub borne: Vec<u16>,
    /// Liquid that hangs between grains that have touched; none: they are dry.
    pub bridges: Option<BridgeLaw>,
    /// How the periodic cell is strained; none: it stays as it is.
    pub cell: Option<CellLaw>,
    /// Time step [s].
    pub dt: f64,
    /// What asked for that time step, for people to read.
    pub dt_reason: String,
    /// Time stepping scheme.
    pub integrator: Integrator,
    /// Precision of the kernel.
    pub precision: Precision,
    /// Largest overlap tolerated, as a share of the smaller radius; beyond it the run stops.
    pub max_overlap: f64,
    /// When grains fall asleep; never, if none.
    pub sleep: Option<Sleep>,
}

/// What one step of the solver must at least move and compute, contacts and integration: what its time is held against.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// Bytes read and written, each column once a pass.
    pub bytes: usize,
    /// Floating-point operations on pairs of spheres.
    pub operations: usize,
}
