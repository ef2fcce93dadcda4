//! Snow on rock: flows erode it, what they leave becomes it, and can be eroded again.
//!
//! The cover is a mass a cell of the rock. Under a flow of stress τ and mean speed ū it loses q = (τ − τ_c)₊ ū/e of mass a time and area of slope
//! [as AvaFrame has it; e is the energy it takes to erode a kilogram], which is *owed*: as soon as it makes up a grain, one is born at rest under
//! the flow where there is room, else on it, and gets its momentum by contacts. Grains at rest are taken out, column by column, and are
//! *held* until the surface can rise without coming nearer to a grain than it is; then they are cover.
//!
//! **The account.** Cover, held, owed and grains together keep their mass: masses only change hands.

use crate::flow::Flow;
use crate::rock::{Drag, Layer};
use barchan_core::boundary::Boundary;
use barchan_core::clock::Interval;
use barchan_core::columns::{Column, Columns, Saved, mix, of_length};
use barchan_core::frame::Frame;
use barchan_core::recipe::Recipe;
use barchan_core::relief::Relief;
use barchan_core::schedule::Schedule;
use barchan_core::solver::{Coupling, Gauge, NewMatter, SolverError, Solvers};
use barchan_core::stages::{StageTime, Timers};
use barchan_dem::Dem;
use glam::{DVec2, DVec3};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Instant;

barchan_core::stages! {
    /// The stages of a step of the cover.
    pub enum Stage {
        /// Flows erode it.
        Erode = "erode",
        /// What is owed is born.
        Born = "born",
        /// Grains at rest become cover.
        Deposit = "deposit",
        /// The new surface is handed to the boundary.
        Relief = "relief",
    }
}

/// Simulated time between two steps of the cover [s]: at 30 m/s a flow goes a metre and a half.
const EVERY: f64 = 0.05;
/// Looks in the time for which a grain must lie still.
const LOOKS: u32 = 4;
/// Share of its radius that a grain at rest moves at most from one look to the next.
const REST: f64 = 0.05;
/// Tries to find room for a grain under a flow.
const TRIES: u32 = 12;
/// Overlap at which a newborn grain has room, over the sum of radii.
const SLACK: f64 = 0.02;
/// Purpose of the random numbers of births, besides those of recipes.
const PLACES: u64 = 7;

/// What a cover is made of.
#[derive(Clone, Debug)]
pub struct Terms {
    /// Bulk density [kg/m³].
    pub density: f64,
    /// Shear stress that it bears [Pa].
    pub strength: f64,
    /// Energy of erosion [J/kg].
    pub energy: f64,
    /// Time for which a grain must lie still to become cover [s]; none where grains stay grains.
    pub after: Option<f64>,
    /// The grains that it gives.
    pub recipe: Recipe,
    /// Ids below are bodies.
    pub first: u32,
    /// How flows pull at it; its friction is μ.
    pub drag: Drag,
    /// Coefficient of dry friction μ.
    pub friction: f64,
}

/// A grain at a look.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Watched {
    id: u32,
    looks: u32,
    place: DVec3,
}

/// Snow on rock.
pub struct Cover {
    terms: Terms,
    rock: Arc<Relief>,
    wall: usize,
    flow: Flow,
    /// Of each cell [kg].
    mass: Vec<f64>,
    held: Vec<f64>,
    owed: Vec<f64>,
    watched: Vec<Watched>,
    born: u64,
    eroded: f64,
    deposited: f64,
    schedule: Schedule,
    looks: Schedule,
    every: f64,
    changed: bool,
    timers: Timers<Stage>,
}

impl Cover {
    /// A cover of that thickness [m], normal to the slope, of each cell of the rock that is the wall of that index.
    pub fn new(rock: Arc<Relief>, wall: usize, thickness: &dyn Fn(DVec2, f64) -> f64, terms: Terms) -> Cover {
        let n = rock.height.len();
        let area = rock.cell * rock.cell;
        let flow = Flow::over(&rock, rock.cell);
        let mass = (0..n)
            .map(|cell| {
                let upright = upright(&rock, cell);
                terms.density * area * thickness(rock.point(cell).truncate(), upright) / upright
            })
            .collect();
        Cover {
            terms,
            rock,
            wall,
            flow,
            mass,
            held: vec![0.0; n],
            owed: vec![0.0; n],
            watched: Vec::new(),
            born: 0,
            eroded: 0.0,
            deposited: 0.0,
            schedule: Schedule::every(1),
            looks: Schedule::every(1),
            every: EVERY,
            changed: true,
            timers: Timers::default(),
        }
    }

    /// Lays its rhythm onto the steps of a run [s].
    pub fn set_dt(&mut self, dt: f64) {
        self.schedule = Schedule::new(EVERY, dt);
        self.every = self.schedule.step(1).max(1) as f64 * dt;
        self.looks = Schedule::new((self.terms.after.unwrap_or(1.0) / f64::from(LOOKS)).max(EVERY), dt);
    }

    /// Rock with its cover.
    pub fn relief(&self) -> Relief {
        let volume = self.terms.density * self.rock.cell * self.rock.cell;
        let height = self.rock.height.iter().zip(&self.mass).map(|(rock, mass)| rock + mass / volume).collect();
        Relief { height, ..(*self.rock).clone() }
    }

    /// Masses [kg]: cover, held, owed, and what was eroded and deposited so far.
    pub fn books(&self) -> [f64; 5] {
        let sum = |all: &[f64]| all.iter().sum();
        [sum(&self.mass), sum(&self.held), sum(&self.owed), self.eroded, self.deposited]
    }

    fn erode(&mut self, dem: &Dem) {
        self.flow.sum(dem);
        let area = self.rock.cell * self.rock.cell;
        let Terms { strength, energy, friction, drag, .. } = &self.terms;
        for &cell in &self.flow.busy {
            let there = self.mass[cell] + self.held[cell];
            let sum = &self.flow.sums[cell];
            let speed = sum.speed();
            if there <= 0.0 || speed <= 0.0 {
                continue;
            }
            let upright = upright(&self.rock, cell);
            let thickness = sum.mass / drag.density * upright / area;
            let layer =
                Layer { thickness, speed, density: drag.density, press: drag.gravity * upright, gravity: drag.gravity };
            let (dry, square) = drag.law.deceleration(&layer, drag.yield_stress);
            let stress = drag.density * thickness * (friction * layer.press + dry + square * speed * speed);
            let gone = rate(stress, *strength, speed, *energy) * area / upright * self.every;
            let gone = gone.min(there);
            if gone > 0.0 {
                let of_held = gone.min(self.held[cell]);
                self.held[cell] -= of_held;
                self.mass[cell] -= gone - of_held;
                self.owed[cell] += gone;
                self.eroded += gone;
                self.changed = true;
            }
        }
    }

    /// Grains of what is owed, at rest.
    fn newborn(&mut self, dem: &Dem, boundary: &Boundary) -> Vec<NewMatter> {
        let mut next = self.terms.recipe.grain(self.born);
        let mass = |g: &NewMatter, recipe: &Recipe| g.mass.unwrap_or_else(|| recipe.mass(g.radius));
        if !self.owed.iter().any(|owed| *owed >= mass(&next, &self.terms.recipe)) {
            return Vec::new();
        }
        let Some(bed) = boundary.walls()[self.wall].bed() else { return Vec::new() };
        let population = dem.population();
        let largest = population.radius.iter().copied().fold(self.terms.recipe.sizes.max(), f64::max);
        let mut near = Near::new(2.0 * largest);
        population.spheres().for_each(|s| near.enter(s.centre, s.radius));
        let mut all = Vec::new();
        for cell in 0..self.owed.len() {
            while self.owed[cell] >= mass(&next, &self.terms.recipe) {
                let own = mass(&next, &self.terms.recipe);
                let mut rng = self.terms.recipe.stream(self.born, PLACES);
                let mut place = None;
                for _ in 0..TRIES {
                    let at = self.flow.corner(cell) + DVec2::new(rng.uniform(), rng.uniform()) * self.flow.cell;
                    let Some(over) = bed.over(at.x, at.y) else { continue };
                    let low = at.extend(over.z + next.radius / over.normal().z);
                    if near.is_free(low, next.radius) {
                        place = Some(low);
                        break;
                    }
                    // The last place that was tried, on whatever is there.
                    place = Some(near.on_top(low, next.radius));
                }
                let Some(position) = place else { break };
                self.owed[cell] -= own;
                near.enter(position, next.radius);
                all.push(NewMatter { position, velocity: DVec3::ZERO, spin: DVec3::ZERO, mass: Some(own), ..next });
                self.born += 1;
                next = self.terms.recipe.grain(self.born);
            }
        }
        all
    }

    /// Ids of grains whose whole column lies still, with everything around it, and their masses go to their cells.
    fn settle(&mut self, dem: &mut Dem) {
        let population = dem.population();
        let recipe = &self.terms.recipe;
        let mut seen = Vec::with_capacity(population.len());
        for row in 0..population.len() {
            let (id, place) = (population.id[row], population.position[row]);
            let before = self.watched.binary_search_by_key(&id, |w| w.id).ok().map(|k| self.watched[k]);
            let little = REST * population.radius[row];
            let looks = before.filter(|w| w.place.distance(place) < little).map_or(0, |w| w.looks + 1);
            seen.push(Watched { id, looks, place });
        }
        let cells: Vec<Option<usize>> = seen.iter().map(|w| self.flow.cell_of(w.place)).collect();
        let mut lively = HashSet::new();
        for (row, cell) in cells.iter().enumerate() {
            let own = population.material[row] == recipe.material
                && population.shape.get(row).copied().unwrap_or(0) == recipe.shape
                && population.id[row] >= self.terms.first;
            if let (Some(cell), true) = (cell, !own || seen[row].looks < LOOKS) {
                lively.insert(*cell);
            }
        }
        let [nx, ny] = self.flow.size;
        let still = |cell: usize| {
            let (x, y) = (cell % nx, cell / nx);
            let xs = x.saturating_sub(1)..(x + 2).min(nx);
            (y.saturating_sub(1)..(y + 2).min(ny)).all(|y| xs.clone().all(|x| !lively.contains(&(x + y * nx))))
        };
        let mut gone = HashSet::new();
        for (row, cell) in cells.iter().enumerate() {
            if let Some(cell) = cell.filter(|c| still(*c)) {
                self.held[cell] += population.mass[row];
                self.deposited += population.mass[row];
                gone.insert(population.id[row]);
            }
        }
        if !gone.is_empty() {
            dem.remove_where(&|id, _| gone.contains(&id));
        }
        seen.retain(|w| !gone.contains(&w.id));
        seen.sort_unstable_by_key(|w| w.id);
        self.watched = seen;
    }

    /// Lets the surface rise by what is held, as far as no grain has it nearer than it is.
    fn rise(&mut self, dem: &Dem, boundary: &Boundary) {
        if self.held.iter().all(|h| *h <= 0.0) {
            return;
        }
        let Some(bed) = boundary.walls()[self.wall].bed() else { return };
        let [nx, ny] = self.flow.size;
        let mut room = vec![f64::INFINITY; self.held.len()];
        for s in dem.population().spheres() {
            let (Some(cell), Some(over)) = (self.flow.cell_of(s.centre), bed.over(s.centre.x, s.centre.y)) else {
                continue;
            };
            let gap = (s.centre.z - over.z - s.radius / over.normal().z).max(0.0);
            let reach = 2 + (s.radius / self.flow.cell).ceil() as usize;
            let (x, y) = (cell % nx, cell / nx);
            for y in y.saturating_sub(reach)..(y + reach + 1).min(ny) {
                for x in x.saturating_sub(reach)..(x + reach + 1).min(nx) {
                    let room = &mut room[x + y * nx];
                    *room = room.min(gap);
                }
            }
        }
        let volume = self.terms.density * self.rock.cell * self.rock.cell;
        for cell in 0..self.held.len() {
            let risen = self.held[cell].min(room[cell] * volume);
            if risen > 0.0 {
                self.held[cell] -= risen;
                self.mass[cell] += risen;
                self.changed = true;
            }
        }
    }
}

/// Mass that a flow erodes a time and area [kg/(s m²)]: q = (τ − τ_c)₊ ū/e.
pub fn rate(stress: f64, strength: f64, speed: f64, energy: f64) -> f64 {
    (stress - strength).max(0.0) * speed / energy
}

/// Cosine of the slope at a cell.
fn upright(relief: &Relief, cell: usize) -> f64 {
    let at = relief.point(cell);
    relief.over(at.x, at.y).map_or(1.0, |over| over.normal().z)
}

/// Spheres by cell.
struct Near {
    width: f64,
    cells: HashMap<[i64; 3], Vec<(DVec3, f64)>>,
    columns: HashMap<[i64; 2], Vec<(DVec3, f64)>>,
}

impl Near {
    fn new(width: f64) -> Near {
        Near { width, cells: HashMap::new(), columns: HashMap::new() }
    }

    fn cell(&self, x: DVec3) -> [i64; 3] {
        (x / self.width).floor().to_array().map(|c| c as i64)
    }

    fn enter(&mut self, x: DVec3, r: f64) {
        let cell = self.cell(x);
        self.cells.entry(cell).or_default().push((x, r));
        self.columns.entry([cell[0], cell[1]]).or_default().push((x, r));
    }

    fn is_free(&self, x: DVec3, r: f64) -> bool {
        let [a, b, c] = self.cell(x);
        let near = (0..27).map(|k| [a + k % 3 - 1, b + k / 3 % 3 - 1, c + k / 9 - 1]);
        near.filter_map(|k| self.cells.get(&k)).flatten().all(|(y, s)| x.distance(*y) >= (r + s) * (1.0 - SLACK))
    }

    /// The lowest place over a place, not below it, that is clear of everything under and beside it.
    fn on_top(&self, x: DVec3, r: f64) -> DVec3 {
        let [a, b, _] = self.cell(x);
        let near = (0..9).map(|k| [a + k % 3 - 1, b + k / 3 - 1]);
        let over = |(y, s): &(DVec3, f64)| {
            let square = (r + s) * (r + s) - (y.truncate() - x.truncate()).length_squared();
            (square > 0.0).then(|| y.z + square.sqrt())
        };
        let top = near.filter_map(|k| self.columns.get(&k)).flatten().filter_map(over).fold(x.z, f64::max);
        x.with_z(top)
    }
}

impl Coupling for Cover {
    fn name(&self) -> &'static str {
        "cover"
    }

    fn step(&mut self, interval: &Interval, boundary: &mut Boundary, solvers: &mut Solvers) -> Result<(), SolverError> {
        let steps = interval.step + 1;
        if !(self.schedule.due(steps) || steps == 1) {
            return Ok(());
        }
        if let Some(dem) = solvers.find_mut::<Dem>() {
            let begun = Instant::now();
            self.erode(dem);
            self.timers.ran(Stage::Erode, begun);
            let begun = Instant::now();
            let newborn = self.newborn(dem, boundary);
            if !newborn.is_empty() {
                dem.add(&newborn, boundary).map_err(SolverError::new)?;
            }
            self.timers.ran(Stage::Born, begun);
            if self.terms.after.is_some() {
                let begun = Instant::now();
                if self.looks.due(steps) {
                    self.settle(dem);
                }
                self.rise(dem, boundary);
                self.timers.ran(Stage::Deposit, begun);
            }
        }
        if std::mem::take(&mut self.changed) {
            let begun = Instant::now();
            boundary.set_relief(self.wall, Arc::new(self.relief())).map_err(SolverError::new)?;
            self.timers.ran(Stage::Relief, begun);
        }
        Ok(())
    }

    fn publish(&self, frame: &mut Frame) {
        frame.ground = Some(Arc::new(self.relief()));
    }

    fn gauges(&self, _solvers: &Solvers) -> Vec<Gauge> {
        let [cover, held, owed, eroded, deposited] = self.books();
        let gauge = |name, value| Gauge { name, unit: "kg", value };
        vec![gauge("cover", cover + held + owed), gauge("eroded", eroded), gauge("deposited", deposited)]
    }

    fn mass(&self) -> f64 {
        let [cover, held, owed, ..] = self.books();
        cover + held + owed
    }

    fn stages(&self) -> Vec<StageTime> {
        self.timers.times().to_vec()
    }

    fn memory(&self) -> usize {
        // Heights, masses, sums of the flow.
        self.mass.len() * 80 + self.watched.len() * 40
    }

    fn save(&self) -> Columns {
        let f64s = |name: &str, all: &[f64]| (name.to_string(), Column::F64(all.to_vec()));
        vec![
            f64s("mass", &self.mass),
            f64s("held", &self.held),
            f64s("owed", &self.owed),
            f64s("books", &[self.eroded, self.deposited]),
            ("born".into(), Column::U64(vec![self.born])),
            ("watched".into(), Column::U32(self.watched.iter().flat_map(|w| [w.id, w.looks]).collect())),
            ("places".into(), Column::F64(self.watched.iter().flat_map(|w| w.place.to_array()).collect())),
        ]
    }

    fn load(&mut self, saved: Saved<'_>, boundary: &mut Boundary) -> Result<(), SolverError> {
        let n = self.mass.len();
        self.mass = saved.f64s_of("mass", n)?;
        self.held = saved.f64s_of("held", n)?;
        self.owed = saved.f64s_of("owed", n)?;
        let books = saved.f64s_of("books", 2)?;
        (self.eroded, self.deposited) = (books[0], books[1]);
        let born = saved.u64s("born")?;
        of_length("born", born.len(), 1)?;
        self.born = born[0];
        let watched = saved.u32s("watched")?;
        of_length("watched", watched.len() % 2, 0)?;
        let places = saved.f64s_of("places", watched.len() / 2 * 3)?;
        let of = |(w, p): (&[u32], &[f64])| Watched { id: w[0], looks: w[1], place: DVec3::from_slice(p) };
        self.watched = watched.chunks_exact(2).zip(places.chunks_exact(3)).map(of).collect();
        boundary.set_relief(self.wall, Arc::new(self.relief())).map_err(SolverError::new)
    }

    fn hash(&self, start: u64) -> u64 {
        [&self.mass, &self.held, &self.owed].into_iter().flatten().fold(start, |h, x| mix(h, x.to_bits()))
    }
}
