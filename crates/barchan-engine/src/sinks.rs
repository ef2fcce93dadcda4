//! Sinks: regions that take grains out and count them.

use barchan_core::regions::Region;
use barchan_core::solver::{Departed, Solver};
use glam::DVec3;

/// Grains counted, and their mass.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Tally {
    /// Grains.
    pub grains: u64,
    /// Mass [kg].
    pub mass: f64,
}

impl Tally {
    /// Counts grains that left.
    pub fn add(&mut self, gone: &[Departed]) {
        self.grains += gone.len() as u64;
        self.mass += gone.iter().map(|g| g.mass).sum::<f64>();
    }
}

/// Where a sink takes grains.
#[derive(Clone, Debug)]
pub enum Mouth {
    /// Behind a plane: at a point [m], the normal pointing to the side that stays.
    Below(DVec3, DVec3),
    /// In a region.
    Region(Region),
}

impl Mouth {
    fn takes(&self, position: DVec3) -> bool {
        match self {
            Mouth::Below(point, normal) => (position - *point).dot(*normal) < 0.0,
            Mouth::Region(region) => region.contains(position),
        }
    }
}

/// A region that takes grains out.
pub struct Sink {
    name: String,
    mouth: Mouth,
    tally: Tally,
}

impl Sink {
    /// A sink that has taken nothing.
    pub fn new(name: String, mouth: Mouth) -> Sink {
        Sink { name, mouth, tally: Tally::default() }
    }

    /// Takes the grains whose centre is inside, and returns them as they were.
    pub(crate) fn remove(&mut self, solver: &mut dyn Solver) -> Vec<Departed> {
        let gone = solver.remove_where(&|_, position| self.mouth.takes(position));
        self.tally.add(&gone);
        gone
    }

    /// Name from the scene.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What it has taken.
    pub fn tally(&self) -> Tally {
        self.tally
    }

    pub(crate) fn set_tally(&mut self, tally: Tally) {
        self.tally = tally;
    }
}
