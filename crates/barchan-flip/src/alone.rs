//! Sand with a boundary and a clock of its own: what benchmarks and tests of this solver alone run.

use crate::settings::Settings;
use crate::{Flip, FlipError};
use barchan_core::boundary::{Boundary, Fixtures};
use barchan_core::clock::Interval;
use barchan_core::columns::HASH_START;
use barchan_core::solver::Solver;
use glam::DVec3;
use std::ops::{Deref, DerefMut};

/// Sand between walls, and nothing else.
pub struct Alone {
    flip: Flip,
    /// The walls.
    pub boundary: Boundary,
    /// World steps taken.
    pub steps: u64,
    /// Length of a world step [s].
    pub dt: f64,
}

impl Alone {
    /// Without sand yet; the world step is the one that the sand at rest wants.
    pub fn new(settings: Settings, fixtures: Fixtures) -> Result<Alone, FlipError> {
        let boundary = Boundary::new(fixtures, Vec::new(), settings.gravity);
        Alone::within(settings, boundary)
    }

    /// The same within a boundary, with its bodies. Whoever made them integrates them.
    pub fn within(settings: Settings, boundary: Boundary) -> Result<Alone, FlipError> {
        let flip = Flip::new(settings)?;
        Ok(Alone { dt: flip.wish().dt, flip, boundary, steps: 0 })
    }

    /// Fills a block of cells with eight parcels each, where `region` has the parcel's place [m], at the given velocity [m/s].
    pub fn fill(
        &mut self,
        cells: [[i32; 3]; 2],
        region: impl Fn(DVec3) -> bool,
        velocity: impl Fn(DVec3) -> DVec3,
    ) -> Result<(), FlipError> {
        let liquid = &mut self.flip.liquid;
        for z in cells[0][2]..cells[1][2] {
            for y in cells[0][1]..cells[1][1] {
                for x in cells[0][0]..cells[1][0] {
                    for k in 0..8 {
                        let at = |bit: u32| if k >> bit & 1 == 1 { 0.75 } else { 0.25 };
                        let offset = DVec3::new(at(0), at(1), at(2));
                        let place = liquid.frame.point([x, y, z], offset);
                        if region(place) {
                            let split = liquid.settings.split;
                            liquid.give_birth([x, y, z], offset, velocity(place), split)?;
                            let row = liquid.parcels.len() - 1;
                            liquid.parcels.affine[row] = gradient(&velocity, place, liquid.settings.cell);
                        }
                    }
                }
            }
        }
        Ok(())
    }

    /// One world step.
    pub fn step(&mut self) -> Result<(), FlipError> {
        let interval = Interval { step: self.steps, dt: self.dt };
        self.steps += 1;
        self.boundary.advance(interval.end(), interval.dt);
        self.flip.liquid.step(&interval, &mut self.boundary)
    }

    /// Hash of the whole state.
    pub fn hash(&self) -> u64 {
        self.boundary.hash(self.flip.hash(HASH_START))
    }
}

/// Gradient of a velocity field [1/s] by differences over half a cell.
fn gradient(velocity: &impl Fn(DVec3) -> DVec3, at: DVec3, cell: f64) -> [f32; 9] {
    let slope =
        DVec3::AXES.map(|e| (velocity(at + e * (0.25 * cell)) - velocity(at - e * (0.25 * cell))) / (0.5 * cell));
    std::array::from_fn(|k| slope[k % 3][k / 3] as f32)
}

impl Deref for Alone {
    type Target = Flip;

    fn deref(&self) -> &Flip {
        &self.flip
    }
}

impl DerefMut for Alone {
    fn deref_mut(&mut self) -> &mut Flip {
        &mut self.flip
    }
}
