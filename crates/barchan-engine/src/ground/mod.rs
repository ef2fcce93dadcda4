//! The ground in a world: columns of sand that grains touch as a wall.
//!
//! The grain solver knows a relief, the ground's solver knows columns, and the two meet here. Every thousandth of a second
//! or so (`Ground::step`) grains become ground (`exchange.rs`), ground
//! that is about to be struck becomes grains (`thaw.rs`), what is far too steep falls as grains (`banks.rs`), what is too steep slides, and the new surface is handed to the
//! grains. A ground where nothing moves costs nothing.

mod banks;
mod bodies;
mod exchange;
mod look;
mod make;
mod pack;
mod room;
mod state;
mod thaw;
mod wake;

pub(crate) use bodies::Pressers;
pub(crate) use make::{make, material};

use exchange::{Exchange, MOTES, mote};

use crate::emit::Recipe;
use crate::schedule::Schedule;
use crate::world::WorldError;
use barchan_core::frame::Frame;
use barchan_core::relief::Relief;
use barchan_core::walls::{Bed, Geometry, Wall};
use barchan_dem::Dem;
use barchan_ground::{Columns, metres};
use std::sync::Arc;

/// Simulated time between two steps of the ground [s].
pub(crate) const EVERY: f64 = 1e-3;
/// Sweeps of erosion in a step of the ground. Sand slides by a column a sweep at most, so that on columns of a centimetre it keeps below
/// 20 m/s, and a slope comes to rest in some tenths of a second.
const SWEEPS: usize = 2;

/// A ground under grains.
pub struct Ground {
    pub(crate) columns: Columns,
    /// Index of the wall that grains touch.
    pub(crate) wall: usize,
    /// Density of the grains it is made of [kg/m³].
    density: f64,
    /// Share of its volume that is grains.
    packing: f64,
    schedule: Schedule,
    exchange: Option<Exchange>,
    /// The grains it is made of where none have frozen.
    recipe: Option<Recipe>,
    relief: Arc<Relief>,
    /// Whether the columns have changed since the relief was made.
    pub(crate) changed: bool,
    /// What bodies have compressed away so far [quanta of column height].
    pub(crate) compressed: i128,
}

impl Ground {
    fn new(columns: Columns, wall: usize, density: f64, packing: f64) -> Ground {
        let relief = Arc::new(relief_of(&columns));
        Ground {
            columns,
            wall,
            density,
            packing,
            schedule: Schedule::every(1),
            exchange: None,
            recipe: None,
            relief,
            changed: false,
            compressed: 0,
        }
    }

    /// Lays the rhythm of the ground onto the steps of a run [s].
    pub(crate) fn set_dt(&mut self, dt: f64) {
        self.schedule = Schedule::new(EVERY, dt);
        if let Some(e) = &mut self.exchange {
            (e.schedule, e.strikes) = (Schedule::new(e.look(), dt), Schedule::new(e.ahead(), dt));
        }
    }

    /// The columns.
    pub fn columns(&self) -> &Columns {
        &self.columns
    }

    /// The surface, as readers see it; grains see it from the ground's next step on.
    pub fn relief(&self) -> Arc<Relief> {
        if self.changed { Arc::new(relief_of(&self.columns)) } else { self.relief.clone() }
    }

    /// Mass of the ground [kg], without what is owed to it.
    pub fn mass(&self) -> f64 {
        self.columns.volume() * self.packing * self.density
    }

    /// What grains and ground weigh together, in whole numbers.
    pub fn account(&self, frame: &Frame<'_>) -> Account {
        let mote = mote(self.columns.grid(), self.density, self.packing);
        let motes = |mass: f64| (mass / mote).round() as i128;
        let owed = self.exchange.as_ref().map_or(0, |e| e.owed());
        Account {
            grains: frame.mass.iter().map(|&m| motes(m)).sum(),
            ground: self.columns.total() << MOTES,
            owed,
            compressed: self.compressed << MOTES,
            mote,
            frozen: self.exchange.as_ref().map_or(0, |e| e.frozen),
            thawed: self.exchange.as_ref().map_or(0, |e| e.thawed),
        }
    }

    /// The wall that grains touch.
    pub(crate) fn wall(&self, material: u16) -> Wall {
        Wall::new("ground", Geometry::Relief(Arc::new(Bed::new(self.relief.clone()))), material)
    }

    /// One step of the ground, where one is due after a step of the grains.
    pub(crate) fn step(&mut self, dem: &mut Dem) -> Result<(), WorldError> {
        let due = self.schedule.due(dem.steps());
        // What strikes the ground soon after the start must be seen at the start.
        let at = |schedule: Schedule| schedule.due(dem.steps()) || dem.steps() == 1;
        let (looks, strikes) = self.exchange.as_ref().map_or((false, false), |e| (at(e.schedule), at(e.strikes)));
        if let (true, Some(exchange)) = (looks || strikes, &mut self.exchange) {
            if looks {
                self.changed |= exchange.step(&mut self.columns, &self.relief, dem);
            }
            // A relief that changed a moment ago is not yet that of the columns.
            if self.changed {
                self.relief = Arc::new(relief_of(&self.columns));
            }
            if let (true, Some(recipe)) = (strikes, &self.recipe) {
                if exchange.thaw(&mut self.columns, &self.relief, dem, recipe)? {
                    (self.relief, self.changed) = (Arc::new(relief_of(&self.columns)), true);
                }
                self.changed |= exchange.banks(&mut self.columns, &self.relief, dem, recipe)?;
            }
        }
        if due {
            if let (false, Some(exchange)) = (self.columns.is_quiet(), &self.exchange) {
                // Nothing may slide under what has come there since the last look.
                let held = exchange.held(self.columns.grid(), &self.relief, &dem.frame());
                self.columns.cover(held);
            }
            self.changed |= self.columns.erode(SWEEPS).moved != 0;
        }
        if !(due || looks || strikes) {
            return Ok(());
        }
        self.hand_over(dem)
    }

    /// Hands the surface to the grains, if it has changed.
    fn hand_over(&mut self, dem: &mut Dem) -> Result<(), WorldError> {
        // Bodies do not touch it: without grains nobody needs it but readers.
        let grains = dem.len() > dem.settings().carried.len();
        if grains && std::mem::take(&mut self.changed) {
            self.relief = Arc::new(relief_of(&self.columns));
            dem.set_relief(self.wall, self.relief.clone())?;
        }
        Ok(())
    }
}

/// Mass in whole numbers of motes: what one loses another gains, exactly.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Account {
    /// Of all grains.
    pub grains: i128,
    /// Of the columns.
    pub ground: i128,
    /// Owed to columns that had no room for it.
    pub owed: i128,
    /// Of what bodies have compressed away: the ground is denser there, and its height less.
    pub compressed: i128,
    /// Mass of a mote [kg].
    pub mote: f64,
    /// Grains that became ground.
    pub frozen: u64,
    /// Grains that the ground gave back.
    pub thawed: u64,
}

impl Account {
    /// Grains, columns, what is owed to them and what is compressed in them, together.
    pub fn total(&self) -> i128 {
        self.grains + self.ground + self.owed + self.compressed
    }

    /// A mass of so many motes [kg].
    pub fn mass(&self, motes: i128) -> f64 {
        motes as f64 * self.mote
    }
}

fn relief_of(columns: &Columns) -> Relief {
    let grid = columns.grid();
    let height = columns.heights().iter().map(|&h| metres(h)).collect();
    Relief { origin: grid.origin, cell: grid.cell, size: grid.size, height }
}
