//! Emitters: grains that come during the run, poured through a disc or raining into a region.
//!
//! How many grains are owed follows from the time alone, the n-th grain from (seed, population, n), and its place from
//! those and the step; so an emitter's only state is what it has brought, and a resumed run agrees bit for bit. Grains
//! appear clear of walls and of every grain that is there; what does not fit waits.

mod space;

use crate::sinks::Tally;
use barchan_core::boundary::Boundary;
use barchan_core::recipe::Recipe;
use barchan_core::regions::Region;
use barchan_core::rng::Random;
use barchan_core::schedule::Schedule;
use barchan_core::solver::{Domain, SolverError, Solvers};
pub(crate) use space::Space;

/// Places tried for a grain before the rest of a batch waits.
const TRIES: usize = 60;

/// How fast grains come.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Pace {
    /// Grains per second [1/s].
    Rate(f64),
    /// Mass per second [kg/s].
    MassRate(f64),
    /// A number of grains at once, again and again.
    Batches {
        /// Time between batches [s].
        every: f64,
        /// Grains of a batch; without a number, as many as fit.
        batch: Option<u64>,
    },
}

/// A source of grains.
pub struct Emitter {
    /// Name from the scene.
    pub(crate) name: String,
    /// What comes.
    pub(crate) recipe: Recipe,
    /// Where: whole grains appear inside.
    pub(crate) region: Region,
    /// How fast.
    pub(crate) pace: Pace,
    /// From when [s].
    pub(crate) from: f64,
    /// Until when [s].
    pub(crate) until: f64,
    /// How many at most.
    pub(crate) limit: u64,
    /// When to look whether there is room.
    pub(crate) schedule: Schedule,
    /// Index of the solver it pours into.
    pub(crate) solver: usize,
    /// What has come.
    pub(crate) tally: Tally,
}

impl Emitter {
    /// Name from the scene.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What has come so far.
    pub fn tally(&self) -> Tally {
        self.tally
    }

    /// Spheres of one of its grains.
    pub fn spheres_per_grain(&self) -> usize {
        self.recipe.spheres
    }

    /// Grains that will still come between `time` and `end` [s], if there is room.
    pub fn to_come(&self, time: f64, end: f64) -> u64 {
        let span = (end.min(self.until) - self.from).max(0.0);
        let all = match self.pace {
            Pace::Rate(rate) => (rate * span).ceil() as u64,
            Pace::MassRate(rate) => (rate * span / self.recipe.mean_mass()).ceil() as u64,
            Pace::Batches { every, batch: Some(batch) } => batch.saturating_mul((span / every) as u64 + 1),
            Pace::Batches { batch: None, .. } => self.limit,
        };
        let over = time >= self.until || end <= time;
        if over { 0 } else { all.min(self.limit).saturating_sub(self.tally.grains) }
    }

    /// Whether another grain is owed at this time [s].
    fn owes(&self, time: f64) -> bool {
        let elapsed = time.min(self.until) - self.from;
        let tally = self.tally;
        elapsed >= 0.0
            && tally.grains < self.limit
            && match self.pace {
                Pace::Rate(rate) => (tally.grains as f64) < rate * elapsed,
                Pace::MassRate(rate) => tally.mass < rate * elapsed,
                Pace::Batches { every, batch: Some(batch) } => {
                    (tally.grains as f64) < batch as f64 * ((elapsed / every * (1.0 + 1e-12)).floor() + 1.0)
                }
                Pace::Batches { batch: None, .. } => time < self.until,
            }
    }

    /// Brings what is owed at a time [s] of its clock, after so many world steps, and finds room.
    pub(crate) fn emit(
        &mut self,
        solvers: &mut Solvers,
        boundary: &Boundary,
        domain: &Domain,
        step: u64,
        time: f64,
    ) -> Result<(), SolverError> {
        if !self.schedule.due(step) || !self.owes(time) {
            return Ok(());
        }
        let largest = self.recipe.reach * self.recipe.sizes.max();
        let mut space = Space::around(solvers, boundary, domain, &self.region, largest);
        let mut newborn = Vec::new();
        while self.owes(time) {
            let mut grain = self.recipe.grain(self.tally.grains);
            let reach = self.recipe.reach * grain.radius;
            // The step is in the stream, or a grain without room would try the same places for ever.
            let mut rng = self.recipe.stream(self.tally.grains, step + 1);
            let Some(place) = find_room(&self.region, reach, &mut rng, &space) else { break };
            grain.position = place;
            space.insert(place, reach);
            newborn.push(grain);
            self.tally.grains += 1;
            self.tally.mass += self.recipe.mass(grain.radius);
        }
        if !newborn.is_empty() {
            solvers.get_mut(self.solver).add(&newborn, boundary)?;
        }
        Ok(())
    }
}

pub(crate) fn find_room(region: &Region, reach: f64, rng: &mut Random, space: &Space<'_>) -> Option<glam::DVec3> {
    (0..TRIES).filter_map(|_| region.sample(reach, rng)).find(|&x| space.is_free(x, reach))
}
