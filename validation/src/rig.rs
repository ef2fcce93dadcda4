//! A scene under test.

use crate::{Bench, CaseError};
use barchan_dem::Dem;
use barchan_engine::{Device, World, assemble, load};
use barchan_scene::{ConeName, FrictionSolve, PublishedChoice};
use std::path::Path;

/// What can be wrong on purpose, to see that a case would notice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// All friction is 0.
    NoFriction,
    /// Restitution is the square of what was asked for, as if all damping were doubled.
    Damping,
    /// Grains forget their spin in every step, as Longmore's equation 3.37 has it.
    Spin,
    /// The cone of the continuum is √2 sin φ wide.
    SineCone,
    /// Friction of the continuum is found once a step and forgotten.
    OneShot,
    /// Half of the trace is taken off the rate of strain.
    HalfTrace,
    /// Walls of the continuum are filled by uncalibrated volume maps.
    FullWalls,
    /// Particles have 0.8 of their mass.
    LightMass,
}

impl Fault {
    /// Every fault by its name on the command line.
    pub const NAMES: [(&'static str, Fault); 8] = [
        ("no-friction", Fault::NoFriction),
        ("damping", Fault::Damping),
        ("spin", Fault::Spin),
        ("sine-cone", Fault::SineCone),
        ("one-shot", Fault::OneShot),
        ("half-trace", Fault::HalfTrace),
        ("full-walls", Fault::FullWalls),
        ("light-mass", Fault::LightMass),
    ];
    /// All that grains can have.
    pub const OF_GRAINS: [Fault; 3] = [Fault::NoFriction, Fault::Damping, Fault::Spin];
    /// All that a continuum can have.
    pub const OF_CONTINUUM: [Fault; 5] =
        [Fault::SineCone, Fault::OneShot, Fault::HalfTrace, Fault::FullWalls, Fault::LightMass];
}

/// A world made from a scene's text, with all that its measurements gave.
pub struct Rig {
    /// The world.
    pub world: World,
    fault: Option<Fault>,
    /// By measurement: rows, time first.
    rows: Vec<Vec<Vec<f64>>>,
}

impl Rig {
    /// Assembles a scene given as text.
    pub fn new(text: &str, bench: &Bench) -> Result<Rig, CaseError> {
        let mut parsed = load(text, "validation", Path::new(""))?;
        for m in parsed.scene.materials.values_mut() {
            match bench.fault {
                Some(Fault::NoFriction) => m.friction = 0.0,
                Some(Fault::Damping) => m.restitution *= m.restitution,
                _ => {}
            }
        }
        for p in &mut parsed.scene.pairs {
            match bench.fault {
                Some(Fault::NoFriction) => p.friction = p.friction.map(|_| 0.0),
                Some(Fault::Damping) => p.restitution = p.restitution.map(|e| e * e),
                _ => {}
            }
        }
        for m in &mut parsed.scene.continuum {
            match bench.fault {
                Some(Fault::SineCone) => m.solve.cone = ConeName::PlaneStrain,
                Some(Fault::OneShot) => m.solve.friction = FrictionSolve::OneShot,
                Some(Fault::HalfTrace) => m.solve.published.push(PublishedChoice::Trace),
                Some(Fault::FullWalls) => m.solve.published.push(PublishedChoice::Walls),
                Some(Fault::LightMass) => m.solve.published.push(PublishedChoice::Mass),
                _ => {}
            }
        }
        let grains = !parsed.scene.grains.is_empty() || !parsed.scene.emitters.is_empty();
        if bench.device != Device::Cpu && grains {
            parsed.scene.device = bench.device;
        }
        let world = assemble(&parsed).map_err(|e| {
            let told = e.errors().map(|p| p.message.clone()).find(|m| m.contains("on a graphics adapter"));
            told.filter(|_| bench.device != Device::Cpu).map_or(CaseError::Scene(e), CaseError::NotThere)
        })?;
        let mut rig = Rig { rows: vec![vec![]; world.measurements().len()], world, fault: bench.fault };
        rig.take_rows();
        Ok(rig)
    }

    fn take_rows(&mut self) {
        for row in self.world.rows() {
            self.rows[row.measurement].push(row.values.clone());
        }
    }

    /// One time step.
    pub fn step(&mut self) -> Result<(), CaseError> {
        if self.fault == Some(Fault::Spin) {
            self.world.solver_mut::<Dem>().into_iter().for_each(Dem::stop_spins);
        }
        self.world.step()?;
        self.take_rows();
        Ok(())
    }

    /// Steps up to a time [s].
    pub fn run_to(&mut self, time: f64) -> Result<(), CaseError> {
        while self.world.time() < time {
            self.step()?;
        }
        Ok(())
    }

    /// Rows of the measurement of that name so far: time [s], then a value a column.
    pub fn rows(&self, name: &str) -> &[Vec<f64>] {
        self.world.measurements().iter().position(|m| m.name == name).map_or(&[], |m| &self.rows[m])
    }
}
