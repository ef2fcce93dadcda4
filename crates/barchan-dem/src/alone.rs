//! A grain solver with a boundary and a clock of its own: what benchmarks and tests of the grains alone run.

use crate::{Dem, DemError, Settings};
use barchan_core::boundary::{Body, Boundary, Fixtures};
use barchan_core::clock::Interval;
use barchan_core::columns::{Columns, HASH_START, Saved};
use barchan_core::solver::NewMatter;
use glam::DVec3;
use std::ops::{Deref, DerefMut};

/// Grains between walls, and nothing else.
pub struct Alone {
    dem: Dem,
    /// The walls.
    pub boundary: Boundary,
}

impl Alone {
    /// Without grains yet. Bodies are the grains with the first ids.
    pub fn new(settings: Settings, fixtures: Fixtures) -> Alone {
        let boundary = boundary(&settings, fixtures);
        Alone { dem: Dem::new(settings, &boundary), boundary }
    }

    /// Births; returns the id of the first, the others follow.
    pub fn add(&mut self, grains: &[NewMatter]) -> Result<u32, DemError> {
        let first = self.dem.add(grains, &self.boundary)?;
        self.dem.place_bodies(&mut self.boundary);
        Ok(first)
    }

    /// One step.
    pub fn step(&mut self) -> Result<(), DemError> {
        let interval = Interval { step: self.dem.steps(), dt: self.dem.settings().dt };
        self.boundary.advance(interval.end(), interval.dt);
        self.dem.step(&interval, &mut self.boundary)
    }

    /// Lets the prescribed motion of all walls go on at `factor` times its pace.
    pub fn set_pace(&mut self, factor: f64) {
        self.boundary.set_pace(factor, self.dem.time());
    }

    /// Changes gravity [m/s²] from now on.
    pub fn set_gravity(&mut self, gravity: DVec3) {
        self.boundary.gravity = gravity;
        self.dem.set_gravity(gravity);
    }

    /// Hash of the whole state.
    pub fn hash(&self) -> u64 {
        self.boundary.hash(self.dem.hash(HASH_START))
    }

    /// The complete state.
    pub fn save(&self) -> Columns {
        let walls = self.boundary.save().into_iter().map(|(name, column)| (format!("boundary/{name}"), column));
        self.dem.save().into_iter().chain(walls).collect()
    }

    /// What [`Alone::save`] gave, for equal settings and walls.
    pub fn load(settings: Settings, fixtures: Fixtures, saved: Saved<'_>) -> Result<Alone, DemError> {
        let mut boundary = boundary(&settings, fixtures);
        boundary.load(Saved(&|name| saved.find(&format!("boundary/{name}"))))?;
        Ok(Alone { dem: Dem::load(settings, saved, &boundary)?, boundary })
    }
}

fn boundary(settings: &Settings, fixtures: Fixtures) -> Boundary {
    let count = fixtures.carried.iter().map(|c| c.body as usize + 1).max().unwrap_or(0);
    let wall = |body: usize| fixtures.carried.iter().find(|c| c.body as usize == body).map(|c| c.wall);
    let bodies = (0..count).map(|b| Body::new(wall(b), DVec3::ZERO, None)).collect();
    Boundary::new(fixtures, bodies, settings.gravity)
}

impl Deref for Alone {
    type Target = Dem;

    fn deref(&self) -> &Dem {
        &self.dem
    }
}

impl DerefMut for Alone {
    fn deref_mut(&mut self) -> &mut Dem {
        &mut self.dem
    }
}
