//! A world into a checkpoint and back.

use crate::checkpoint::{Checkpoint, CheckpointError, CheckpointWriter, fingerprint};
use crate::sinks::Tally;
use crate::world::World;
use barchan_dem::Column;

impl World {
    /// Puts the whole state into a checkpoint.
    pub fn save(&self, to: &mut CheckpointWriter) {
        to.put("world/dt", &Column::F64(vec![self.plan.dt]));
        to.put("world/scene", &Column::U64(vec![fingerprint(&self.plan.scene)]));
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
        if let Some(ground) = &self.ground {
            ground.save(to);
        }
        self.pressers.save(to, self.ground.as_ref());
        for (name, column) in self.dem.save() {
            to.put(&format!("dem/{name}"), &column);
        }
    }

    /// Takes back what [`World::save`] put there, apart from the solver's own columns.
    pub(crate) fn load(&mut self, from: &Checkpoint) -> Result<(), CheckpointError> {
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
        self.load_live(from)?;
        self.pressers.load(from, self.ground.as_mut())?;
        for (i, m) in self.measurements.iter_mut().enumerate() {
            let column = |name: &str| from.column(&format!("measure/{i}/{name}"));
            m.observer.load(&column).map_err(|what| from.unfit(format!("measurement {}: {what}", m.name)))?;
        }
        Ok(())
    }
}
