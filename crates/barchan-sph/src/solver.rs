//! The continuum behind the solver seam.

use crate::{Inner, Sph, knobs};
use barchan_core::boundary::Boundary;
use barchan_core::clock::{Interval, StepWish};
use barchan_core::columns::{Columns, Saved};
use barchan_core::frame::Frame;
use barchan_core::materials::Materials;
use barchan_core::solver::{Counts, Departed, Knob, NewMatter, Solver, SolverError, Totals};
use barchan_core::stages::StageTime;
use glam::DVec3;

/// Memory of a particle with its list when packed [bytes].
pub const BYTES_PER_PARTICLE: f64 = 560.0;

impl Solver for Sph {
    fn name(&self) -> &'static str {
        crate::SPH
    }

    fn wish(&self) -> StepWish {
        self.settings().wish()
    }

    fn step(&mut self, interval: &Interval, boundary: &mut Boundary) -> Result<(), SolverError> {
        Ok(on!(&mut self.0, s => s.step(interval, boundary))?)
    }

    fn add(&mut self, matter: &[NewMatter], boundary: &Boundary) -> Result<u32, SolverError> {
        Ok(self.add_filled(matter, &[], boundary)?)
    }

    fn remove_where(&mut self, leaves: &dyn Fn(u32, DVec3) -> bool) -> Vec<Departed> {
        on!(&mut self.0, s => s.remove_where(leaves))
    }

    fn take_outside(&mut self) -> Vec<(u32, DVec3)> {
        on!(&self.0, s => s.outside())
    }

    fn balls(&self, visit: &mut dyn FnMut(DVec3, f64)) {
        let radius = 0.5 * self.settings().spacing;
        on!(&self.0, s => (0..s.particles.len()).for_each(|i| visit(s.particles.position(i), radius)));
    }

    fn publish(&self, frame: &mut Frame) {
        frame.populations.push(on!(&self.0, s => s.population()));
        on!(&self.0, s => frame.populations.extend(s.grains.as_ref().map(|g| g.publish())));
    }

    fn counts(&self) -> Counts {
        Counts { name: "particles", pieces: self.len(), work_name: "particles", work: self.len() }
    }

    fn totals(&self) -> Totals {
        on!(&self.0, s => s.totals())
    }

    fn stages(&self) -> Vec<StageTime> {
        on!(&self.0, s => s.timers.times().to_vec())
    }

    fn memory(&self) -> usize {
        on!(&self.0, s => s.memory())
    }

    fn bytes_per_piece(&self) -> f64 {
        BYTES_PER_PARTICLE
    }

    fn set_gravity(&mut self, gravity: DVec3) {
        on!(&mut self.0, s => s.settings.gravity = gravity);
    }

    fn set_materials(&mut self, materials: &Materials) -> Result<(), SolverError> {
        on!(&mut self.0, s => s.settings.materials = materials.clone());
        Ok(())
    }

    fn knobs(&self) -> Vec<Knob> {
        knobs::all(self.settings())
    }

    fn set_knob(&mut self, index: usize, value: f64) -> Result<(), SolverError> {
        Ok(self.change(|s| knobs::set(s, index, value))?)
    }

    fn each_in(&mut self, centre: DVec3, radius: f64, visit: &mut dyn FnMut(DVec3, f64)) {
        on!(&mut self.0, s => s.each_in(centre, radius, visit))
    }

    fn kick_in(&mut self, centre: DVec3, radius: f64, change: &dyn Fn(DVec3) -> DVec3) -> DVec3 {
        on!(&mut self.0, s => s.kick_in(centre, radius, change))
    }

    fn save(&self) -> Columns {
        on!(&self.0, s => s.save())
    }

    fn load(&mut self, saved: Saved<'_>, boundary: &Boundary) -> Result<(), SolverError> {
        Ok(on!(&mut self.0, s => s.load(saved, boundary))?)
    }

    fn hash(&self, start: u64) -> u64 {
        on!(&self.0, s => s.hash(start))
    }
}
