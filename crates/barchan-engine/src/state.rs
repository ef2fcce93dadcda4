//! A world into a checkpoint and back.

use crate::checkpoint::{Checkpoint, CheckpointError, CheckpointWriter, fingerprint};
use crate::sinks::Tally;
use crate::world::World;
use barchan_core::columns::{Column, Columns, Saved};
use barchan_core::solver::SolverError;

/// Sections of the boundary.
const BOUNDARY: &str = "boundary";

impl World {
    /// Puts the whole state into a checkpoint.
    pub fn save(&self, to: &mut CheckpointWriter) {
        to.put("world/dt", &Column::F64(vec![self.plan.dt]));
        to.put("world/steps", &Column::U64(vec![self.steps]));
        to.put("world/scene", &Column::U64(vec![fingerprint(&self.plan.scene)]));
        if self.last_birth > 0 {
            to.put("world/last birth", &Column::U64(vec![self.last_birth]));
        }
        let tallies = || {
            let sinks = self.sinks.iter().map(|s| s.tally());
            self.emitters.iter().map(|e| e.tally()).chain(sinks).chain([self.left])
        };
        to.put("world/grains", &Column::U64(tallies().map(|t| t.grains).collect()));
        to.put("world/mass", &Column::F64(tallies().map(|t| t.mass).collect()));
        for (i, m) in self.measurements.iter().enumerate() {
            for (name, column) in m.observer.save() {
                to.put(&format!("measure/{i}/{name}"), &column);
            }
        }
        self.save_live(to);
        let mut put = |owner: &str, columns: Columns| {
            columns.iter().for_each(|(name, column)| to.put(&format!("{owner}/{name}"), column));
        };
        put(BOUNDARY, self.boundary.save());
        self.couplings.iter().for_each(|c| put(c.name(), c.save()));
        self.solvers.iter().for_each(|s| put(s.name(), s.save()));
    }

    /// Begins with the state of grains and walls alone ([`barchan_dem::Alone::save`]), after so many steps.
    pub(crate) fn begin_from(&mut self, saved: Saved<'_>, steps: u64) -> Result<(), SolverError> {
        self.steps = steps;
        self.boundary.load(Saved(&|name| saved.find(&format!("{BOUNDARY}/{name}"))))?;
        self.solvers.get_mut(0).load(saved, &self.boundary)
    }

    /// Takes back what [`World::save`] put there, into a world made from the same scene; what measurements have gathered only where they are the
    /// same.
    pub(crate) fn load(&mut self, from: &Checkpoint, measured: bool) -> Result<(), CheckpointError> {
        self.steps = from.u64s("world/steps", 1)?[0];
        let many = self.emitters.len() + self.sinks.len() + 1;
        let (grains, mass) = (from.u64s("world/grains", many)?, from.f64s("world/mass", many)?);
        let mut tallies = grains.into_iter().zip(mass).map(|(grains, mass)| Tally { grains, mass });
        for (emitter, tally) in self.emitters.iter_mut().zip(&mut tallies) {
            emitter.tally = tally;
        }
        for (sink, tally) in self.sinks.iter_mut().zip(&mut tallies) {
            sink.set_tally(tally);
        }
        self.left = tallies.next().unwrap_or_default();
        if from.column("world/last birth").is_some() {
            self.last_birth = from.u64s("world/last birth", 1)?[0];
        }
        self.load_live(from)?;
        let column = |owner: &str, name: &str| from.column(&format!("{owner}/{name}"));
        self.boundary.load(Saved(&|name| column(BOUNDARY, name))).map_err(|e| from.unfit(e.0))?;
        for coupling in &mut self.couplings {
            let owner = coupling.name();
            let loaded = coupling.load(Saved(&|name| column(owner, name)), &mut self.boundary);
            loaded.map_err(|e| from.unfit(format!("{owner}: {e}")))?;
        }
        for solver in self.solvers.iter_mut() {
            let owner = solver.name();
            let loaded = solver.load(Saved(&|name| column(owner, name)), &self.boundary);
            loaded.map_err(|e| from.unfit(format!("{owner}: {e}")))?;
        }
        if let Some(domain) = self.solvers.iter().find_map(|s| s.domain()) {
            self.domain = domain;
        }
        for (i, m) in self.measurements.iter_mut().enumerate().filter(|_| measured) {
            let column = |name: &str| from.column(&format!("measure/{i}/{name}"));
            m.observer.load(&column).map_err(|what| from.unfit(format!("measurement {}: {what}", m.name)))?;
        }
        Ok(())
    }
}
