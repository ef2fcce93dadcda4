//! One step of the grain solver, pass by pass.
//!
//! | pass | reads | writes |
//! |---|---|---|
//! | `sleep` (where grains may sleep, now and then) | contacts, walls | who is pinned |
//! | `integrate` | loads | grains, records, budgets |
//! | `walls` | loads on walls, time | poses of walls |
//! | `rebuild` (when a budget is spent) | records | order of all columns, lists, budgets; or, for a few, their budgets and pairs |
//! | `contacts` | records, lists, walls | loads, contact memory, loads on walls |
//! | `bonds` (where there are some) | grains, bonds | loads, bonds, loads on walls |
//!
//! The names are those of the timers and of the benchmark's columns.

use crate::DemError;
use crate::bodies::{Carrier, Carriers, Held};
use crate::bonds::Bonds;
use crate::bridges::Bridges;
use crate::cell::Cell;
use crate::integrate::{Block, Clock, is_spent};
use crate::kernel::{self, BlockKernel, Integrate, Kernels, Met, Pass, Report};
use crate::lists::{self, Asleep, BlockLists, Grids, Reaching, Rebuild, Scratch};
use crate::order;
use crate::pinned::Pinned;
use crate::settings::Settings;
use crate::sleep::Sleeping;
use crate::state::{Grains, Record, Spheres, vec3};
use barchan_core::boundary::{Boundary, Fixtures};
use barchan_core::clock::Interval;
use barchan_core::contact::PairTable;
use barchan_core::parallel::{self, Watch};
use barchan_core::shapes::Shape;
use barchan_core::simd::Isa;
use barchan_core::stages::Timers;
use barchan_core::walls::WallState;
use glam::DVec3;
use rayon::prelude::*;
use std::mem::take;
use std::sync::Arc;
use std::time::Instant;

barchan_core::stages! {
    /// The stages of a step of the grains.
    pub enum Stage {
        /// Who falls asleep, and who wakes.
        Sleep = "sleep",
        /// Kick, drift, turn.
        Integrate = "integrate",
        /// Walls are taken to where they stand at the end of the step.
        Walls = "walls",
        /// Contact lists are built anew, when a budget is spent.
        Rebuild = "rebuild",
        /// Forces of all contacts.
        Contacts = "contacts",
        /// Forces of all bonds and liquid bridges.
        Bonds = "bonds",
    }
}

/// The grain solver in one precision.
pub struct Solver<R: Kernels> {
    pub settings: Settings,
    pub grains: Grains,
    pub spheres: Spheres<R>,
    /// Walls and surfaces of bodies, as the boundary had them last.
    pub fixtures: Arc<Fixtures>,
    /// How the walls stood when contacts were last computed, and what grains did to them.
    pub walls: Vec<WallState>,
    pub steps: u64,
    pub born: u32,
    pub table: PairTable<R>,
    pub rolling: bool,
    pub kernel: BlockKernel<R>,
    pub integrator: Integrate<R>,
    pub blocks: Vec<BlockLists<R>>,
    pub asleep: Asleep<R>,
    /// Grains in a block.
    pub block: usize,
    /// Lists do not fit the grains any more.
    pub stale: bool,
    /// Lists built since the last re-sorting of memory.
    pub builds_since_sort: u32,
    /// Grains that spent their budgets and joined the lists since these were built.
    pub relisted: usize,
    /// How far walls may still come nearer before lists must be rebuilt [m].
    pub wall_budget: Vec<f64>,
    pub carriers: Carriers,
    /// Loads from outside, in the order of ids.
    pub held: Vec<Held>,
    pub pinned: Pinned,
    pub sleep: Option<Sleeping>,
    pub bonds: Bonds,
    pub bridges: Bridges,
    /// Of a strained periodic cell; as it began where it stays as it is.
    pub cell: Cell,
    /// Grains that crossed a side of it in this step, and the velocity they lost [m/s].
    pub crossed: Vec<(u32, DVec3)>,
    pub outside: Vec<u32>,
    pub grids: Grids,
    pub scratch: Scratch<R>,
    pub watch: Watch,
    pub timers: Timers<Stage>,
}

/// Least skin of a grain, as a share of its radius.
const SKIN_LEAST: f64 = 0.01;
/// Skin of a grain of mean speed, as a share of its radius: where more near pairs cost what fewer rebuilds save.
const SKIN_MEAN: f64 = 0.15;
/// Where others are pinned: speed that a slow grain may come to before the lists are spent, as a share of the mean. What is free is a flow
/// then, in which there is always one that lay still and is struck.
const SKIN_STRUCK: f64 = 0.6;
/// Largest skin of a grain, as a share of its radius. Only a few are so much faster than the mean; without it one falling
/// grain would have the lists of a whole settled bed rebuilt every ten steps.
const SKIN_MOST: f64 = 1.0;
/// Most steps the lists are meant to last.
const MOST_STEPS: f64 = 200.0;
/// Margin for grains that speed up.
const MARGIN: f64 = 1.3;
/// Where others are pinned: grains that spend their budgets long before all others do and join the lists, between two builds.
const MOST_RELISTED: usize = 64;
/// Builds of the lists between two sorts of memory.
const BUILDS_PER_SORT: u32 = 32;
/// Spheres that are not worth a second thread: handing work over takes some 20 µs, and what it reads is in the other's cache.
const NOT_WORTH: usize = 1536;
/// Grains whose sums are taken together.
const CHUNK: usize = 4096;

impl<R: Kernels> Solver<R> {
    pub fn new(settings: Settings, boundary: &Boundary) -> Self {
        let rolling = settings.materials.resist_rolling();
        Solver {
            table: PairTable::new(&settings.law, &settings.materials),
            walls: boundary.states().to_vec(),
            wall_budget: vec![0.0; boundary.walls().len()],
            fixtures: boundary.fixtures().clone(),
            carriers: Carriers::default(),
            held: Vec::new(),
            sleep: settings.sleep.map(|terms| Sleeping::new(terms, settings.dt)),
            settings,
            grains: Grains::default(),
            spheres: Spheres::default(),
            steps: 0,
            born: 0,
            rolling,
            kernel: R::select(Isa::detect()),
            integrator: R::integrator(Isa::detect()),
            blocks: Vec::new(),
            asleep: Asleep::default(),
            block: 1,
            stale: true,
            builds_since_sort: BUILDS_PER_SORT,
            relisted: 0,
            pinned: Pinned::default(),
            bonds: Bonds::default(),
            bridges: Bridges::default(),
            cell: Cell::default(),
            crossed: Vec::new(),
            outside: Vec::new(),
            grids: Grids::default(),
            scratch: Scratch::default(),
            watch: Watch::default(),
            timers: Timers::default(),
        }
    }

    /// Simulated time [s].
    pub fn time(&self) -> f64 {
        self.steps as f64 * self.settings.dt
    }

    /// One world step, in as many steps as it takes.
    pub fn step(&mut self, interval: &Interval, boundary: &mut Boundary) -> Result<(), DemError> {
        self.take_fixtures(boundary);
        let steps = (interval.dt / self.settings.dt).round().max(1.0) as u64;
        let mut loads = vec![(DVec3::ZERO, DVec3::ZERO); self.walls.len()];
        for k in 1..=steps {
            let time = if k == steps { interval.end() } else { interval.start() + k as f64 * self.settings.dt };
            if self.blocks.len() <= self.blocks_worth_a_thread() {
                self.passes(boundary, interval, time)?;
            } else {
                self.watch.clone().during(|| self.passes(boundary, interval, time))?;
            }
            for (load, wall) in loads.iter_mut().zip(&self.walls) {
                load.0 += wall.force;
                load.1 += wall.torque;
            }
        }
        // What walls feel is the mean over the world step.
        let share = 1.0 / steps as f64;
        for (w, (force, torque)) in loads.into_iter().enumerate() {
            boundary.add_load(w, force * share, torque * share);
        }
        self.place_bodies(boundary);
        Ok(())
    }

    fn passes(&mut self, boundary: &Boundary, interval: &Interval, time: f64) -> Result<(), DemError> {
        self.take_impulses(boundary, interval.dt);
        let steps = self.steps;
        if self.sleep.as_mut().is_some_and(|s| s.due(steps)) && !self.stale {
            self.timed(Stage::Sleep, Self::look_for_sleep);
        }
        let spent = self.timed(Stage::Integrate, Self::integrate);
        let reached = self.timed(Stage::Walls, |s| s.take_walls(boundary, time));
        self.steps += 1;
        let strained = self.strain_cell();
        if self.stale || reached || strained || (spent && !self.relist()) {
            self.timed(Stage::Rebuild, Self::rebuild)?;
        }
        self.timed(Stage::Contacts, Self::contacts)?;
        if !self.bonds.is_empty() || self.settings.bridges.is_some() {
            self.timed(Stage::Bonds, Self::add_bonds_and_bridges);
        }
        self.weigh_cell(true);
        Ok(())
    }

    /// Adds the forces of what holds grains besides their contacts.
    pub fn add_bonds_and_bridges(&mut self) {
        self.pull_bonds();
        self.pull_bridges();
    }

    fn timed<T>(&mut self, stage: Stage, run: impl FnOnce(&mut Self) -> T) -> T {
        let begun = Instant::now();
        let out = run(self);
        self.timers.ran(stage, begun);
        out
    }

    /// Takes up what has changed of the walls: the heights of a ground.
    pub fn take_fixtures(&mut self, boundary: &Boundary) {
        let new = boundary.fixtures();
        if Arc::ptr_eq(new, &self.fixtures) {
            return;
        }
        let mut changed = false;
        for (w, (old, new)) in self.fixtures.walls.iter().zip(&new.walls).enumerate() {
            if let (Some(old), Some(new)) = (old.bed(), new.bed())
                && !Arc::ptr_eq(old.relief(), new.relief())
            {
                // A nearest point moves by no more than its height does: so much nearer has the wall come to any grain.
                let heights = old.relief().height.iter().zip(&new.relief().height);
                self.wall_budget[w] -= heights.map(|(old, new)| new - old).fold(0.0, f64::max);
                changed = true;
            }
        }
        self.fixtures = new.clone();
        if changed && self.sleep.is_some() {
            self.wake_all();
        }
    }

    /// Length of each periodic direction [m], 0 for the others.
    pub fn period(&self) -> DVec3 {
        self.settings.domain.period()
    }

    /// How many blocks are worth a thread of their own.
    fn blocks_worth_a_thread(&self) -> usize {
        let blocks = self.grains.len().div_ceil(self.block).max(1);
        (NOT_WORTH * blocks / self.spheres.len().max(1)).max(1)
    }

    /// Kick, drift, turn. Whether some grain has spent its budget.
    fn integrate(&mut self) -> bool {
        let clock = Clock {
            dt: self.settings.dt,
            gravity: self.settings.gravity,
            integrator: self.settings.integrator,
            shapes: &self.settings.shapes,
        };
        let (kernel, worth) = (self.integrator, self.blocks_worth_a_thread());
        let pieces = self.pinned.moving(&self.grains, self.block);
        let tasks = Block::cut(&mut self.grains, &mut self.spheres, pieces);
        let spent = parallel::run(tasks, worth, |b| kernel::advance(kernel, &clock, b)).contains(&true);
        self.pinned.woken();
        spent
    }

    /// Takes the walls as they stand at a time, and puts the surfaces of bodies where these are. Whether some wall has come nearer than
    /// its lists allow.
    fn take_walls(&mut self, boundary: &Boundary, time: f64) -> bool {
        let dt = self.settings.dt;
        boundary.states_at(time, &mut self.walls);
        self.carry_walls();
        let mut reached = false;
        for w in (0..self.walls.len()).filter(|&w| self.carriers.of(w) != Carrier::Gone) {
            let budget = self.wall_budget[w] - self.sweep_speed(w) * dt;
            self.wall_budget[w] = budget;
            reached |= budget < 0.0 || budget.is_nan();
        }
        reached
    }

    /// Bound of the speed with which a wall comes nearer to any grain [m/s].
    fn sweep_speed(&self, w: usize) -> f64 {
        let (wall, state, domain) = (&self.fixtures.walls[w], &self.walls[w], &self.settings.domain);
        let pivot = wall.pivot(state);
        let extent = (domain.max - pivot).abs().max((domain.min - pivot).abs()).length();
        wall.sweep_speed(state, extent)
    }

    /// Forces of all contacts.
    pub fn contacts(&mut self) -> Result<(), DemError> {
        let pass = Pass {
            records: &self.spheres.record,
            law: self.settings.law,
            rolling: self.rolling,
            table: &self.table,
            walls: &self.fixtures.walls,
            wall_states: &self.walls,
            period: self.period(),
            lattice: self.lattice(),
            dt: self.settings.dt,
            max_overlap: self.settings.max_overlap,
        };
        let (kernel, worth) = (self.kernel, self.blocks_worth_a_thread());
        let mut rest = &mut self.spheres.load[..];
        let (grains, size) = (&self.grains, self.block);
        let tasks: Vec<_> = self
            .blocks
            .iter_mut()
            .enumerate()
            .map(|(b, lists)| {
                let own = grains.spheres_of(b * size..((b + 1) * size).min(grains.len()));
                let (loads, later) = std::mem::take(&mut rest).split_at_mut(own.len());
                rest = later;
                (lists, loads, own.start as u32)
            })
            .filter(|(lists, ..)| !lists.idle)
            .collect();
        let run = |(lists, loads, first): (&mut BlockLists<R>, _, _)| {
            lists.idle = lists.is_empty();
            kernel::contacts(kernel, &pass, lists, loads, first)
        };
        let reports: Vec<Report> = parallel::run(tasks, worth, run);
        // In block order, whoever computed them.
        for (w, state) in self.walls.iter_mut().enumerate() {
            state.force = reports.iter().map(|r| r.walls[w].0).sum();
            state.torque = reports.iter().map(|r| r.walls[w].1).sum();
        }
        if let Some(sleeping) = &self.sleep {
            for (state, (force, torque)) in self.walls.iter_mut().zip(sleeping.ledger.on_walls()) {
                state.force += *force;
                state.torque += *torque;
            }
        }
        self.hand_over();
        let deepest = reports.iter().filter_map(|r| r.deep).reduce(|a, b| if b.0 > a.0 { b } else { a });
        match deepest {
            None => Ok(()),
            Some((share, i, partner)) => Err(DemError::Overlap {
                a: format!("grain {}", self.id_of(i)),
                b: match partner {
                    Met::Sphere(j) => format!("grain {}", self.id_of(j)),
                    Met::Wall(w) => format!("wall \"{}\"", self.fixtures.walls[w as usize].name),
                },
                share: 100.0 * share,
                time: self.time(),
            }),
        }
    }

    /// Id of the grain that sphere `s` belongs to.
    pub fn id_of(&self, s: u32) -> u32 {
        self.grains.id[self.slot_of(s)]
    }

    /// Slot of the grain that sphere `s` belongs to.
    pub fn slot_of(&self, s: u32) -> usize {
        (if self.grains.all_spheres() { s } else { self.spheres.grain[s as usize] }) as usize
    }

    /// Wraps, sorts, and builds the lists anew; looks for grains that left or broke.
    pub fn rebuild(&mut self) -> Result<(), DemError> {
        self.wrap()?;
        self.builds_since_sort += 1;
        if self.builds_since_sort >= BUILDS_PER_SORT {
            let order = order::hilbert(&self.grains, &self.spheres.record, &self.settings.domain, &self.pinned);
            self.spheres.arrange(&order, &self.grains);
            self.grains.arrange(&order);
            self.builds_since_sort = 0;
            self.find_carriers();
        }
        let steps = self.give_budgets();
        let least = self.spheres.record.par_iter().map(|r| r.place[3]).reduce(|| f64::INFINITY, f64::min);
        for w in 0..self.walls.len() {
            let swept = MARGIN * self.sweep_speed(w) * steps * self.settings.dt;
            self.wall_budget[w] = (SKIN_MEAN * least).max(swept.min(SKIN_MOST * least));
        }
        self.block = lists::block_size(self.grains.len(), self.spheres.len());
        self.pinned.forget_pieces();
        self.give_cell_room(least);
        let mut scratch = take(&mut self.scratch);
        let (mut grids, mut blocks, mut asleep) =
            (take(&mut self.grids), take(&mut self.blocks), take(&mut self.asleep));
        lists::build(&self.sources(), &mut scratch, &mut grids, &self.spheres, &mut blocks, &mut asleep);
        scratch.make_room();
        (self.scratch, self.grids, self.blocks, self.asleep) = (scratch, grids, blocks, asleep);
        self.pinned.listed();
        self.spheres.listed.par_iter_mut().enumerate().for_each(|(s, l)| *l = s as u32);
        (self.stale, self.relisted) = (false, 0);
        Ok(())
    }

    /// What lists are built from.
    fn sources(&self) -> Rebuild<'_> {
        Rebuild {
            grains: &self.grains,
            walls: &self.fixtures.walls,
            wall_states: &self.walls,
            wall_skin: &self.wall_budget,
            carriers: &self.carriers,
            borne: &self.settings.borne,
            pinned: &self.pinned,
            bonds: &self.bonds,
            min: self.settings.domain.min,
            period: self.period(),
            skew: self.skew(),
            rolling: self.rolling,
            block: self.block,
        }
    }

    /// Enters grains from a slot on, just born, into the lists as they are, where that can be done.
    pub fn join(&mut self, first: usize) -> bool {
        if self.stale || self.fixtures.carried.iter().any(|c| c.body >= self.grains.id[first]) {
            return false;
        }
        // As far as their lists are meant to last at most: they are few.
        let (dt, shapes) = (self.settings.dt, &self.settings.shapes);
        for g in first..self.grains.len() {
            let (v, r) = speed(&self.grains, &self.spheres.record, shapes, g);
            self.grains.budget[g] = skin(v, r, MOST_STEPS * dt);
        }
        let born = self.grains.spheres_of(first..self.grains.len());
        let balls = Reaching { spheres: &self.spheres, budget: &self.grains.budget, skew: None };
        let (mut blocks, mut grids) = (take(&mut self.blocks), take(&mut self.grids));
        let joining: Vec<usize> = born.clone().collect();
        let joined = lists::join(&self.sources(), &balls, &mut grids, &mut blocks, &joining);
        (self.blocks, self.grids) = (blocks, grids);
        if joined {
            self.pinned.forget_pieces();
            born.for_each(|s| self.spheres.listed[s] = s as u32);
        }
        joined
    }

    /// Gives those that have spent their budgets new ones, and enters what they may meet by then into the lists as they are. False where these
    /// must be built anew: where nobody is pinned, where they are many, or where one of them cannot join.
    fn relist(&mut self) -> bool {
        if self.pinned.count() == 0 {
            return false;
        }
        let begun = Instant::now();
        let (budgets, steps, domain) = (&self.grains.budget, MOST_STEPS * self.settings.dt, &self.settings.domain);
        // Pinned ones have not moved. One that is broken has a budget that is no number: a rebuild must see it, and one that leaves.
        let spent: Vec<usize> = (0..budgets.len()).filter(|&g| is_spent(budgets[g])).collect();
        let stays = |&g: &usize| {
            let x = vec3(self.grains.place(g, &self.spheres.record));
            budgets[g] < 0.0 && x.cmpge(domain.min).all() && x.cmplt(domain.max).all()
        };
        if self.relisted + spent.len() > MOST_RELISTED || !spent.iter().all(stays) {
            return false;
        }
        for &g in &spent {
            let (v, r) = speed(&self.grains, &self.spheres.record, &self.settings.shapes, g);
            self.grains.budget[g] = skin(v, r, steps);
        }
        let joining: Vec<usize> = spent.iter().flat_map(|&g| self.grains.spheres_of(g..g + 1)).collect();
        let balls = Reaching { spheres: &self.spheres, budget: &self.grains.budget, skew: None };
        let (mut blocks, mut grids) = (take(&mut self.blocks), take(&mut self.grids));
        let joined = lists::join(&self.sources(), &balls, &mut grids, &mut blocks, &joining);
        (self.blocks, self.grids) = (blocks, grids);
        self.relisted += spent.len();
        self.timers.spent(Stage::Rebuild, begun);
        joined
    }

    /// Brings grains back across periodic sides; notes those that left through the others.
    fn wrap(&mut self) -> Result<(), DemError> {
        let (domain, period, time) = (self.settings.domain, self.period(), self.time());
        let (grains, records, pinned) = (&self.grains, &self.spheres.record, &self.pinned);
        // Nearly all grains are where they should be; the rest is handled one by one, in order.
        let astray: Vec<u32> = (0..grains.len() as u32)
            .into_par_iter()
            .filter(|&g| {
                let g = g as usize;
                if pinned.has(g) {
                    return false;
                }
                let x = vec3(grains.place(g, records));
                // Of a sheared cell every box of its sides is one: x counts from the offset of the row.
                let inside = x.cmpge(domain.min).all() && x.cmplt(domain.max).all();
                !inside || !vec3(&grains.velocity[g]).is_finite() || !vec3(&grains.momentum[g]).is_finite()
            })
            .collect();
        for g in astray.into_iter().map(|g| g as usize) {
            let x = vec3(self.grains.place(g, &self.spheres.record));
            let finite = |v: &[f64; 4]| vec3(v).is_finite();
            if !(x.is_finite() && finite(&self.grains.velocity[g]) && finite(&self.grains.momentum[g])) {
                return Err(DemError::NotFinite { id: self.grains.id[g], time });
            }
            if self.settings.cell.is_some() {
                self.wrap_into_cell(g);
                continue;
            }
            let mut shift = DVec3::ZERO;
            let mut left = false;
            for k in 0..3 {
                if period[k] > 0.0 {
                    shift[k] = -period[k] * ((x[k] - domain.min[k]) / period[k]).floor();
                } else {
                    left |= x[k] < domain.min[k] || x[k] > domain.max[k];
                }
            }
            if left {
                self.outside.push(self.grains.id[g]);
            }
            if shift != DVec3::ZERO {
                if let Some(centre) = self.grains.centre.get_mut(g) {
                    for k in 0..3 {
                        centre[k] += shift[k];
                    }
                }
                for s in self.grains.spheres_of(g..g + 1) {
                    for k in 0..3 {
                        self.spheres.record[s].place[k] += shift[k];
                    }
                }
            }
        }
        Ok(())
    }

    /// Gives every grain the distance it may move, from its speed; returns the steps that the lists should last.
    fn give_budgets(&mut self) -> f64 {
        let dt = self.settings.dt;
        let (grains, records, shapes) = (&self.grains, &self.spheres.record, &self.settings.shapes);
        let speed = |g: usize| speed(grains, records, shapes, g);
        // How many steps a free grain of mean speed and mean radius takes to cross the skin meant for it. Sums of fixed chunks.
        let n = grains.len();
        let free_to_move = |g: &usize| !self.pinned.has(*g);
        let sum = |c: usize| {
            let chunk = (c * CHUNK..((c + 1) * CHUNK).min(n)).filter(free_to_move).map(speed);
            chunk.fold([0.0; 3], |[v, r, n], b| [v + b.0, r + b.1, n + 1.0])
        };
        let sums: Vec<[f64; 3]> = (0..n.div_ceil(CHUNK)).into_par_iter().map(sum).collect();
        let [v, r, free] = sums.iter().fold([0.0; 3], |a, b| std::array::from_fn(|k| a[k] + b[k]));
        let steps = if v > 0.0 { (SKIN_MEAN * r / (MARGIN * v * dt)).min(MOST_STEPS) } else { MOST_STEPS };
        let struck = if self.pinned.count() > 0 { SKIN_STRUCK * v / free.max(1.0) } else { 0.0 };
        let (pinned, before) = (&self.pinned, &self.grains.budget);
        let skin = |g: usize| match (pinned.has(g), pinned.still()) {
            (true, true) => before[g],
            (true, false) => skin(0.0, speed(g).1, steps * dt),
            (false, _) => {
                let (v, r) = speed(g);
                skin(v.max(struck), r, steps * dt)
            }
        };
        self.grains.budget = (0..n).into_par_iter().map(skin).collect();
        steps
    }

    /// Marks lists as out of step with the grains.
    pub fn spoil(&mut self, sort: bool) {
        self.stale = true;
        if sort {
            self.builds_since_sort = BUILDS_PER_SORT;
        }
    }
}

/// Bound of the speed [m/s] with which any point of grain `g` moves, and its radius [m].
fn speed<R>(grains: &Grains, records: &[Record<R>], shapes: &[Shape], g: usize) -> (f64, f64) {
    let radius = grains.place(g, records)[3];
    let v = vec3(&grains.velocity[g]).length();
    let shape = &shapes[grains.shape[g] as usize];
    if shape.is_sphere() {
        return (v, radius);
    }
    let w = grains.spin(g, vec3(&grains.momentum[g]), grains.turn(g), shapes).length();
    (v + w * shape.bounding_radius() * radius, radius)
}

/// How far a grain of that speed and radius may move [m] in lists meant for a time [s].
fn skin(speed: f64, radius: f64, time: f64) -> f32 {
    (SKIN_LEAST * radius + MARGIN * speed * time).min(SKIN_MOST * radius) as f32
}
