//! The grains on a device behind the seam of solvers.

use super::GpuDem;
use super::error::GpuDemError;
use super::machine::Machine;
use super::rows::{FINE, RECORD, Rows};
use barchan_core::boundary::Boundary;
use barchan_core::clock::{Interval, StepWish};
use barchan_core::columns::{Columns, Saved, mix};
use barchan_core::frame::{Extra, Frame, GRAINS, Population, Shared};
use barchan_core::materials::Materials;
use barchan_core::solver::{Contact, Counts, Departed, Energies, Gauge, NewMatter, Solver, SolverError, Totals};
use barchan_core::stages::StageTime;
use glam::DVec3;

/// Bytes a grain takes on the device at a coordination of a packing, lists and memory among them.
const BYTES_PER_GRAIN: f64 = 480.0;
/// Who has left the domain is looked for every so many steps, however many steps a submission has.
const LOOK_EVERY: u64 = 64;

impl Machine {
    /// What readers see, with all queued steps done. What fails is told at the next step.
    fn looked_at(&mut self) -> Option<Rows> {
        self.flush().ok()?;
        match self.seen() {
            Ok(rows) => Some(rows),
            Err(e) => {
                self.failed.get_or_insert(e.into());
                None
            }
        }
    }

    /// The same with lists and memory.
    pub(super) fn all(&mut self) -> Result<Rows, GpuDemError> {
        self.flush()?;
        Ok(self.rows()?)
    }

    fn hand_over(&mut self, world: u64, boundary: &mut Boundary) {
        for (w, [force, torque]) in self.queue.hand_over(world).into_iter().enumerate() {
            boundary.add_load(w, force, torque);
        }
    }
}

impl Solver for GpuDem {
    fn name(&self) -> &'static str {
        GRAINS
    }

    fn wish(&self) -> StepWish {
        let settings = &self.0.borrow().settings;
        StepWish { dt: settings.dt, fixed: true, reason: settings.dt_reason.clone() }
    }

    fn step(&mut self, interval: &Interval, boundary: &mut Boundary) -> Result<(), SolverError> {
        let m = self.0.get_mut();
        if let Some(e) = &m.failed {
            return Err(e.clone().into());
        }
        let dt = m.settings.dt;
        let steps = (interval.dt / dt).round().max(1.0) as u64;
        for k in 1..=steps {
            let time = if k == steps { interval.end() } else { interval.start() + k as f64 * dt };
            let mut walls = Vec::new();
            boundary.states_at(time, &mut walls);
            m.queue.push(walls, interval.step);
            m.steps += 1;
            if m.queue.len() >= m.batch {
                m.flush()?;
            }
        }
        // Walls that answer to forces answer to those of this step.
        if m.fixtures.walls.iter().any(|w| w.control.is_some()) {
            self.settle(interval, boundary)?;
        }
        Ok(())
    }

    fn settle(&mut self, interval: &Interval, boundary: &mut Boundary) -> Result<(), SolverError> {
        let m = self.0.get_mut();
        m.flush()?;
        m.hand_over(interval.step, boundary);
        Ok(())
    }

    fn add(&mut self, matter: &[NewMatter], _: &Boundary) -> Result<u32, SolverError> {
        Ok(self.0.get_mut().born(matter)?)
    }

    fn remove_where(&mut self, leaves: &dyn Fn(u32, DVec3) -> bool) -> Vec<Departed> {
        let m = self.0.get_mut();
        let Some(seen) = m.looked_at() else { return Vec::new() };
        let at = |g: usize| seen.position(g, m.quanta);
        let stays: Vec<bool> = m.ids.iter().enumerate().map(|(g, &id)| !leaves(id, at(g))).collect();
        if !stays.contains(&false) {
            return Vec::new();
        }
        let departed = |g: usize| Departed {
            id: m.ids[g],
            mass: 1.0 / seen.inverse_mass(g),
            position: at(g),
            velocity: m.motion_of(&seen, g).0,
        };
        let gone: Vec<Departed> = (0..stays.len()).filter(|&g| !stays[g]).map(departed).collect();
        // A device that fails here fails at the next step too, which says so; until then nobody has left.
        let Ok(mut rows) = m.rows() else { return Vec::new() };
        rows.retain(&stays, m.memory);
        let ids = m.ids.iter().zip(&stays).filter(|(_, stays)| **stays).map(|(id, _)| *id).collect();
        let old = std::mem::replace(&mut m.ids, ids);
        if m.put(&rows).is_err() {
            m.ids = old;
            return Vec::new();
        }
        m.stale = true;
        gone
    }

    fn take_outside(&mut self) -> Vec<(u32, DVec3)> {
        let m = self.0.get_mut();
        // Looked for when lists are built, as on the processor, and told at fixed steps.
        if !m.steps.is_multiple_of(LOOK_EVERY) || m.flush().is_err() || !std::mem::take(&mut m.outside) {
            return Vec::new();
        }
        let Some(rows) = m.looked_at() else { return Vec::new() };
        let (domain, ids) = (&m.settings.domain, &m.ids);
        let places = (0..rows.len()).map(|g| (ids[g], rows.position(g, m.quanta)));
        let out = |x: DVec3| (0..3).any(|k| !domain.periodic[k] && (x[k] < domain.min[k] || x[k] > domain.max[k]));
        places.filter(|(_, x)| out(*x)).collect()
    }

    fn balls(&self, visit: &mut dyn FnMut(DVec3, f64)) {
        let mut m = self.0.borrow_mut();
        let Some(rows) = m.looked_at() else { return };
        (0..rows.len()).for_each(|g| visit(rows.position(g, m.quanta), m.radius_of(&rows, g)));
    }

    fn publish(&self, frame: &mut Frame) {
        let mut m = self.0.borrow_mut();
        // A device that does not answer leaves a frame without grains; the next step returns the error.
        let Some(rows) = m.looked_at() else { return };
        let n = rows.len();
        let motion: Vec<(DVec3, DVec3)> = (0..n).map(|g| m.motion_of(&rows, g)).collect();
        let column = |row, slot: usize| (0..n).map(|g| rows.load(g, row)[slot] as f32).collect::<Shared<f32>>();
        frame.populations.push(Population {
            name: GRAINS.into(),
            position: (0..n).map(|g| rows.position(g, m.quanta)).collect(),
            velocity: motion.iter().map(|m| m.0).collect(),
            spin: motion.iter().map(|m| m.1).collect(),
            orientation: Shared::default(),
            radius: (0..n).map(|g| m.radius_of(&rows, g)).collect(),
            mass: (0..n).map(|g| 1.0 / rows.inverse_mass(g)).collect(),
            id: m.ids[..].into(),
            material: (0..n).map(|g| rows.material(g) as u16).collect(),
            shape: vec![0; n].into(),
            shapes: m.settings.shapes.clone(),
            extras: vec![Extra::real("coordination", "", column(0, 3)), Extra::real("normal_force", "N", column(1, 3))],
        });
    }

    fn counts(&self) -> Counts {
        let pieces = self.0.borrow().ids.len();
        Counts { name: "grains", pieces, work_name: "spheres", work: pieces }
    }

    fn totals(&self) -> Totals {
        let mut m = self.0.borrow_mut();
        let Some(rows) = m.looked_at() else { return Totals::default() };
        let mut out = Totals::default();
        let (mut contacts, mut deepest) = (0.0, 0f64);
        for g in 0..rows.len() {
            let (v, w) = m.motion_of(&rows, g);
            let (mass, radius) = (1.0 / rows.inverse_mass(g), m.radius_of(&rows, g));
            out.mass += mass;
            out.momentum += mass * v;
            out.energies += Energies {
                translation: 0.5 * mass * v.length_squared(),
                rotation: 0.2 * mass * radius * radius * w.length_squared(),
                gravity: -mass * m.settings.gravity.dot(rows.position(g, m.quanta) - m.settings.domain.min),
                elastic: rows.load(g, 2)[0],
            };
            contacts += rows.load(g, 0)[3];
            deepest = deepest.max(rows.load(g, 2)[1]);
        }
        let gauge = |name, value| Gauge { name, unit: "", value };
        out.gauges =
            vec![gauge("coordination", contacts / rows.len().max(1) as f64), gauge("largest overlap", deepest)];
        out
    }

    fn contacts(&self) -> Vec<Contact> {
        let mut m = self.0.borrow_mut();
        m.all().map_or_else(|_| Vec::new(), |rows| m.contacts_of(&rows))
    }

    fn stages(&self) -> Vec<StageTime> {
        self.0.borrow().timers.times().to_vec()
    }

    fn memory(&self) -> usize {
        self.0.borrow().bytes() as usize
    }

    fn bytes_per_piece(&self) -> f64 {
        BYTES_PER_GRAIN
    }

    fn set_gravity(&mut self, gravity: DVec3) {
        let m = self.0.get_mut();
        // What was asked for before is done under the gravity of then; an error is told at the next step.
        let _ = m.flush();
        m.settings.gravity = gravity;
        m.tell_constants();
    }

    fn set_materials(&mut self, _: &Materials) -> Result<(), SolverError> {
        Err(GpuDemError::Refused(vec!["materials cannot be changed while grains move there".into()]).into())
    }

    fn save(&self) -> Columns {
        let mut m = self.0.borrow_mut();
        // A device that does not answer gives a checkpoint that lacks its columns, which no run will take up.
        m.all().map_or_else(|_| Columns::new(), |rows| m.to_columns(&rows))
    }

    fn load(&mut self, saved: Saved<'_>, boundary: &Boundary) -> Result<(), SolverError> {
        self.0.get_mut().take_columns(saved, boundary)
    }

    fn hash(&self, start: u64) -> u64 {
        let mut m = self.0.borrow_mut();
        let Some(rows) = m.looked_at() else { return start };
        (0..rows.len()).fold(start, |h, g| {
            let low = rows.record[RECORD * g][..3].iter();
            let fine = rows.fine[FINE * g..FINE * (g + 1)].iter().flatten();
            low.chain(fine).fold(mix(h, m.ids[g].into()), |h, &x| mix(h, x.into()))
        })
    }
}
