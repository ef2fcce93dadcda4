//! The ground in a world: columns of sand that grains touch as a wall.
//!
//! The grain solver knows a relief, the ground's solver knows columns, and the two meet here. Every thousandth of a second
//! or so (`Ground::step`) grains become ground (`exchange.rs`), ground
//! that is about to be struck becomes grains (`thaw.rs`), what is far too steep falls as grains (`banks.rs`), what is too steep slides, and the new surface is handed to the
//! grains. A ground where nothing moves costs nothing.

mod banks;
mod exchange;
mod look;
mod pack;
mod press;
mod room;
mod state;
#[cfg(test)]
mod testing;
mod thaw;
mod wake;

pub use press::Pressers;

use barchan_core::boundary::Boundary;
use barchan_core::clock::Interval;
use barchan_core::columns::{Columns as Named, Saved};
use barchan_core::frame::{Frame, Population};
use barchan_core::math;
use barchan_core::recipe::Recipe;
use barchan_core::relief::Relief;
use barchan_core::schedule::Schedule;
use barchan_core::solver::{Coupling, Gauge, SolverError, Solvers};
use barchan_core::stages::{StageTime, Timers};
use barchan_core::walls::{Bed, Geometry, Wall};
use barchan_dem::Dem;
use barchan_ground::{Columns, metres};
use exchange::{Exchange, MOTES, mote};
use std::sync::Arc;
use std::time::Instant;
use wake::SHAKEN;

barchan_core::stages! {
    /// The stages of a step of the ground.
    pub enum Stage {
        /// Bodies and moving walls press the columns.
        Press = "press",
        /// Grains at rest become columns.
        Freeze = "freeze",
        /// Columns that are about to be struck become grains.
        Thaw = "thaw",
        /// Banks that are far too steep fall as grains.
        Banks = "banks",
        /// What is too steep slides.
        Erode = "erode",
        /// The new surface is handed to the boundary.
        Relief = "relief",
    }
}

/// Simulated time between two steps of the ground [s].
pub const EVERY: f64 = 1e-3;
/// Sweeps of erosion in a step of the ground. Sand slides by a column a sweep at most, so that on columns of a centimetre it keeps below
/// 20 m/s, and a slope comes to rest in some tenths of a second.
const SWEEPS: usize = 2;

/// A ground under grains.
pub struct Ground {
    columns: Columns,
    /// Index of the wall that grains touch.
    wall: usize,
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
    changed: bool,
    /// What bodies have compressed away so far [quanta of column height].
    compressed: i128,
    pressers: Pressers,
    timers: Timers<Stage>,
}

/// How grains and ground are exchanged.
#[derive(Clone, Debug)]
pub struct Terms {
    /// Thickness of the visible layer, in mean diameters.
    pub layer: f64,
    /// Share of the radius that a grain at rest moves at most while it counts as still.
    pub rest: f64,
    /// Time for which a grain must be still [s].
    pub after: f64,
    /// Depth to which a blow must go to thaw the ground, in mean diameters.
    pub thaw: f64,
    /// Magnitude of gravity [m/s²].
    pub gravity: f64,
    /// Ids below are bodies.
    pub first: u32,
    /// The grains the ground is made of.
    pub recipe: Recipe,
}

impl Ground {
    /// Columns of a material of that density [kg/m³], packed to that share of the volume, which matter touches as the wall of that
    /// index.
    pub fn new(columns: Columns, wall: usize, density: f64, packing: f64) -> Ground {
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
            pressers: Pressers::default(),
            timers: Timers::default(),
        }
    }

    /// Lets these press the ground.
    pub fn set_pressers(&mut self, pressers: Pressers) {
        self.pressers = pressers;
    }

    /// Lets grains become ground and back.
    pub fn set_exchange(&mut self, terms: Terms) {
        let Terms { layer, rest, after, thaw, gravity, first, recipe } = terms;
        let diameter = 2.0 * math::cbrt(recipe.sizes.mean_cube());
        let grid = *self.columns.grid();
        self.exchange = Some(Exchange {
            layer: layer * diameter,
            shaken: layer.max(SHAKEN) * diameter,
            diameter,
            rest,
            after,
            material: recipe.material,
            first,
            density: self.density,
            thaw: thaw * diameter,
            mote: mote(&grid, self.density, self.packing),
            gravity,
            schedule: Schedule::every(1),
            strikes: Schedule::every(1),
            watched: Vec::new(),
            owed: vec![0; grid.len()],
            pool: Vec::new(),
            frozen: 0,
            thawed: 0,
        });
        self.recipe = Some(recipe);
    }

    /// Lays the rhythm of the ground onto the steps of a run [s].
    pub fn set_dt(&mut self, dt: f64) {
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
    pub fn account(&self, grains: &Population) -> Account {
        let mote = mote(self.columns.grid(), self.density, self.packing);
        let motes = |mass: f64| (mass / mote).round() as i128;
        let owed = self.exchange.as_ref().map_or(0, |e| e.owed());
        Account {
            grains: grains.mass.iter().map(|&m| motes(m)).sum(),
            ground: self.columns.total() << MOTES,
            owed,
            compressed: self.compressed << MOTES,
            mote,
            frozen: self.exchange.as_ref().map_or(0, |e| e.frozen),
            thawed: self.exchange.as_ref().map_or(0, |e| e.thawed),
        }
    }

    /// Volume of the ground that bodies have compressed away so far [quanta of column height].
    pub fn compressed(&self) -> i128 {
        self.compressed
    }

    /// The wall that matter touches.
    pub fn wall(&self, material: u16) -> Wall {
        Wall::new("ground", Geometry::Relief(Arc::new(Bed::new(self.relief.clone()))), material)
    }

    /// What of one step of the ground is due after so many world steps.
    fn settle(&mut self, boundary: &mut Boundary, solvers: &mut Solvers, steps: u64) -> Result<(), SolverError> {
        let due = self.schedule.due(steps);
        // What strikes the ground soon after the start must be seen at the start.
        let at = |schedule: Schedule| schedule.due(steps) || steps == 1;
        let (looks, strikes) = self.exchange.as_ref().map_or((false, false), |e| (at(e.schedule), at(e.strikes)));
        if let (true, Some(exchange), Some(dem)) = (looks || strikes, &mut self.exchange, solvers.find_mut::<Dem>()) {
            if looks {
                let begun = Instant::now();
                self.changed |= exchange.step(&mut self.columns, &self.relief, dem, boundary, steps);
                self.timers.ran(Stage::Freeze, begun);
            }
            // A relief that changed a moment ago is not yet that of the columns.
            if self.changed {
                self.relief = Arc::new(relief_of(&self.columns));
            }
            if let (true, Some(recipe)) = (strikes, &self.recipe) {
                let begun = Instant::now();
                if exchange.thaw(&mut self.columns, &self.relief, dem, boundary, recipe)? {
                    (self.relief, self.changed) = (Arc::new(relief_of(&self.columns)), true);
                }
                self.timers.ran(Stage::Thaw, begun);
                let begun = Instant::now();
                self.changed |= exchange.banks(&mut self.columns, &self.relief, dem, boundary, recipe)?;
                self.timers.ran(Stage::Banks, begun);
            }
        }
        if due {
            let begun = Instant::now();
            if let (false, Some(exchange), Some(dem)) = (self.columns.is_quiet(), &self.exchange, solvers.find::<Dem>())
            {
                // Nothing may slide under what has come there since the last look.
                let held = exchange.held(self.columns.grid(), &self.relief, &dem.population());
                self.columns.cover(held);
            }
            self.changed |= self.columns.erode(SWEEPS).moved != 0;
            self.timers.ran(Stage::Erode, begun);
        }
        if !(due || looks || strikes) {
            return Ok(());
        }
        let begun = Instant::now();
        // Bodies do not touch it: without other matter nobody needs it but readers.
        let matter: usize = solvers.iter().map(|s| s.counts().pieces).sum();
        if matter > boundary.fixtures().carried.len() && std::mem::take(&mut self.changed) {
            self.relief = Arc::new(relief_of(&self.columns));
            boundary.set_relief(self.wall, self.relief.clone()).map_err(SolverError::new)?;
        }
        self.timers.ran(Stage::Relief, begun);
        Ok(())
    }
}

impl Coupling for Ground {
    fn name(&self) -> &'static str {
        "ground"
    }

    fn step(&mut self, interval: &Interval, boundary: &mut Boundary, solvers: &mut Solvers) -> Result<(), SolverError> {
        let begun = Instant::now();
        self.press(boundary, interval.dt);
        boundary.gather(interval.end());
        // The exchange sees bodies as they move under the new loads.
        solvers.iter_mut().for_each(|s| s.take_loads(boundary));
        self.timers.ran(Stage::Press, begun);
        self.settle(boundary, solvers, interval.step + 1)
    }

    fn publish(&self, frame: &mut Frame) {
        frame.ground = Some(self.relief());
    }

    fn gauges(&self, _solvers: &Solvers) -> Vec<Gauge> {
        let count = |name, value: u64| Gauge { name, unit: "", value: value as f64 };
        let exchanged = self.exchange.iter().flat_map(|e| [count("frozen", e.frozen), count("thawed", e.thawed)]);
        std::iter::once(Gauge { name: "ground", unit: "kg", value: self.mass() }).chain(exchanged).collect()
    }

    fn mass(&self) -> f64 {
        let mote = mote(self.columns.grid(), self.density, self.packing);
        let owed = self.exchange.as_ref().map_or(0, |e| e.owed());
        ((self.columns.total() << MOTES) + owed + (self.compressed << MOTES)) as f64 * mote
    }

    fn stages(&self) -> Vec<StageTime> {
        self.timers.times().to_vec()
    }

    fn memory(&self) -> usize {
        // Heights as quanta and as a relief, marks and flows.
        self.columns.grid().len() * BYTES_PER_COLUMN
    }

    fn save(&self) -> Named {
        self.columns_to_save()
    }

    fn load(&mut self, saved: Saved<'_>, boundary: &mut Boundary) -> Result<(), SolverError> {
        self.take(saved)?;
        boundary.set_relief(self.wall, self.relief.clone()).map_err(SolverError::new)
    }

    fn hash(&self, start: u64) -> u64 {
        self.mixed(start)
    }
}

/// Memory of a column [bytes]: its height as quanta and as a number, twice, its flows and marks.
const BYTES_PER_COLUMN: usize = 40;

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
