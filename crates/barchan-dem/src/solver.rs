//! Grains behind the solver seam.

use crate::{Dem, DemError, Inner};
use barchan_core::boundary::Boundary;
use barchan_core::clock::{Interval, StepWish};
use barchan_core::columns::{Columns, Saved};
use barchan_core::frame::{Frame, GRAINS};
use barchan_core::materials::Materials;
use barchan_core::solver::{Contact, Counts, Departed, Domain, Gauge, NewMatter, Solver, SolverError, Totals};
use barchan_core::stages::StageTime;
use glam::DVec3;

/// Memory of a sphere with its lists when packed [bytes]: the estimate where no list has been built yet.
pub const BYTES_PER_SPHERE: f64 = 600.0;

impl From<DemError> for SolverError {
    fn from(e: DemError) -> SolverError {
        SolverError::new(e)
    }
}

impl Solver for Dem {
    fn name(&self) -> &'static str {
        GRAINS
    }

    fn wish(&self) -> StepWish {
        StepWish { dt: self.settings().dt, fixed: true, reason: self.settings().dt_reason.clone() }
    }

    fn step(&mut self, interval: &Interval, boundary: &mut Boundary) -> Result<(), SolverError> {
        Ok(Dem::step(self, interval, boundary)?)
    }

    fn take_loads(&mut self, boundary: &mut Boundary) {
        on!(&mut self.0, s => s.take_loads(boundary));
    }

    fn add(&mut self, matter: &[NewMatter], boundary: &Boundary) -> Result<u32, SolverError> {
        Ok(Dem::add(self, matter, boundary)?)
    }

    fn remove_where(&mut self, leaves: &dyn Fn(u32, DVec3) -> bool) -> Vec<Departed> {
        Dem::remove_where(self, leaves)
    }

    fn take_outside(&mut self) -> Vec<(u32, DVec3)> {
        let ids = Dem::take_outside(self);
        ids.into_iter().map(|id| (id, self.place_of(id).unwrap_or(DVec3::NAN))).collect()
    }

    fn domain(&self) -> Option<Domain> {
        self.settings().cell.map(|_| self.settings().domain)
    }

    fn balls(&self, visit: &mut dyn FnMut(DVec3, f64)) {
        on!(&self.0, s => s.balls(visit));
    }

    fn publish(&self, frame: &mut Frame) {
        frame.populations.push(self.population());
        if self.bonds() > 0 {
            frame.pairs.push(self.bond_pairs());
        }
    }

    fn counts(&self) -> Counts {
        Counts { name: "grains", pieces: self.len(), work_name: "spheres", work: self.sphere_count() }
    }

    fn totals(&self) -> Totals {
        let (mass, momentum) = on!(&self.0, s => s.momentum());
        let gauge = |name, value| Gauge { name, unit: "", value };
        let mut gauges =
            vec![gauge("coordination", self.coordination()), gauge("largest overlap", self.largest_overlap())];
        if self.settings().bridges.is_some() {
            gauges.push(gauge("liquid bridges", self.bridges() as f64));
        }
        Totals { mass, momentum, energies: self.energies(), gauges }
    }

    fn contacts(&self) -> Vec<Contact> {
        Dem::contacts(self)
    }

    fn stages(&self) -> Vec<StageTime> {
        self.timers().to_vec()
    }

    fn memory(&self) -> usize {
        self.memory_bytes()
    }

    fn bytes_per_piece(&self) -> f64 {
        BYTES_PER_SPHERE
    }

    fn set_gravity(&mut self, gravity: DVec3) {
        Dem::set_gravity(self, gravity);
    }

    fn set_materials(&mut self, materials: &Materials) -> Result<(), SolverError> {
        Ok(Dem::set_materials(self, materials.clone())?)
    }

    fn each_in(&mut self, centre: DVec3, radius: f64, visit: &mut dyn FnMut(DVec3, f64)) {
        self.each(&mut |x, _, mass| {
            if x.distance(centre) <= radius {
                visit(x, mass);
            }
        });
    }

    fn kick_in(&mut self, centre: DVec3, radius: f64, change: &dyn Fn(DVec3) -> DVec3) -> DVec3 {
        self.kick(&|x| (x.distance(centre) <= radius).then(|| change(x)))
    }

    fn push(&mut self, centre: DVec3, radius: f64, velocity: DVec3) -> DVec3 {
        Dem::push(self, centre, radius, velocity)
    }

    fn wake(&mut self) {
        on!(&mut self.0, s => s.wake_all());
    }

    fn save(&self) -> Columns {
        Dem::save(self)
    }

    fn load(&mut self, saved: Saved<'_>, boundary: &Boundary) -> Result<(), SolverError> {
        *self = Dem::load(self.settings().clone(), saved, boundary)?;
        Ok(())
    }

    fn hash(&self, start: u64) -> u64 {
        Dem::hash(self, start)
    }
}
