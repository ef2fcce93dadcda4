//! A running world: the solver, what brings grains in and takes them out, and what watches.

use crate::assemble::{Meeting, Released};
use crate::changes::Changes;
use crate::emit::Emitter;
use crate::live::Live;
use crate::observers::{Observer, View};
use crate::sinks::{Sink, Tally};
use barchan_core::boundary::Boundary;
use barchan_core::clock::Interval;
use barchan_core::columns::HASH_START;
use barchan_core::frame::{Frame, GRAINS};
use barchan_core::materials::Materials;
use barchan_core::schedule::{Schedule, steps_of};
use barchan_core::solver::{Coupling, Departed, Domain, Energies, Gauge, SolverError, Solvers, Totals};
use barchan_core::stages::{Stage as _, StageTime, Timers};
use barchan_core::walls::Wall;
use barchan_hybrid::ground::{Account, Ground};
use barchan_scene::words::seconds;
use barchan_scene::{Format, Outside, Problem, Stop};
use barchan_sph::maps::VolumeMap;
use barchan_sph::{Sph, WallShape};
use glam::DVec3;
use std::any::Any;
use std::cell::RefCell;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

/// Sinks and watching observers look at the grains every so many steps: a grain moves a small share of its radius in
/// one, and a look costs about as much as a pass over the positions.
pub(crate) const LOOK_EVERY: u64 = 16;

/// Why a world cannot go on. The message names the grain, the time and the remedy.
#[derive(Debug, thiserror::Error, Clone, PartialEq)]
pub enum WorldError {
    /// A solver or a coupling stopped.
    #[error(transparent)]
    Solver(#[from] SolverError),
    /// Matter left a domain that is to hold all.
    #[error(
        "{} {id} left the domain at t = {}, at ({:.4}, {:.4}, {:.4}) m: close the walls, enlarge the domain, or set domain.outside = \"remove\"",
        singular(what), seconds(*time), position.x, position.y, position.z
    )]
    Outside {
        /// What left, in the plural.
        what: &'static str,
        /// Its id.
        id: u32,
        /// Time [s].
        time: f64,
        /// Where it is [m].
        position: DVec3,
    },
}

/// `grains` as `grain`.
fn singular(name: &str) -> &str {
    name.strip_suffix('s').unwrap_or(name)
}

barchan_core::stages! {
    /// The stages of a world step.
    pub enum Stage {
        /// Values that change in time, and events, take effect.
        Change = "change",
        /// Emitters bring matter.
        Emit = "emit",
        /// Walls move.
        Advance = "advance",
        /// Solvers step.
        Solve = "solve",
        /// Couplings act.
        Couple = "couple",
        /// Loads on walls and bodies are gathered and handed to solvers.
        Gather = "gather",
        /// Sinks and open sides take matter out.
        Remove = "remove",
        /// Measurements look.
        Observe = "observe",
        /// A frame is made for readers.
        Publish = "publish",
    }
}

/// A row that an observer gave.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Index into [`World::measurements`].
    pub measurement: usize,
    /// Time [s], then a value a column.
    pub values: Vec<f64>,
}

/// A measurement of the scene: an observer and its rhythm.
pub struct Measurement {
    /// Name, and stem of its file.
    pub name: String,
    /// When rows are due.
    pub schedule: Schedule,
    /// What measures.
    pub observer: Box<dyn Observer>,
}

/// A wall or a body with its volume map.
#[derive(Clone)]
pub struct WallMap {
    /// Its name.
    pub name: String,
    shape: Arc<dyn WallShape>,
}

impl WallMap {
    /// The map, in the frame of the mesh.
    pub fn map(&self) -> Option<&VolumeMap> {
        self.shape.map()
    }
}

impl fmt::Debug for WallMap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WallMap").field("name", &self.name).finish_non_exhaustive()
    }
}

/// What a run of this world is to do.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// Name of the scene.
    pub name: String,
    /// The scene as text, from which the same world can be assembled again.
    pub scene: String,
    /// Meshes it reads: the path in the text, and the file.
    pub meshes: Vec<(String, PathBuf)>,
    /// Simulated time to reach [s].
    pub duration: f64,
    /// Time step [s].
    pub dt: f64,
    /// Where the time step comes from.
    pub dt_reason: String,
    /// Largest safe time step [s].
    pub dt_limit: f64,
    /// Simulated time between frames [s].
    pub frames_every: f64,
    /// Kinds of frame files.
    pub formats: Vec<Format>,
    /// Simulated time between checkpoints [s].
    pub checkpoint_every: Option<f64>,
    /// Whether frames hold the contacts.
    pub contacts: bool,
    /// What ends the run before its duration.
    pub stop: Option<Stop>,
}

impl Plan {
    /// Steps to the end.
    pub fn steps(&self) -> u64 {
        steps_of(self.duration, self.dt)
    }

    /// Whether a frame is to be written at this step. The last state is always written: what a run ends with is what it was for.
    /// A frame that rounding has put one step before the end is the last.
    pub fn frame_due(&self, step: u64) -> bool {
        let frames = self.frames();
        frames.due(step) || (step == self.steps() && !frames.due(step.saturating_sub(1)))
    }

    /// Frames of the whole run.
    pub fn frame_count(&self) -> u64 {
        let (steps, frames) = (self.steps(), self.frames());
        frames.count(steps) + u64::from(self.frame_due(steps) && !frames.due(steps))
    }

    /// When frames are due.
    pub fn frames(&self) -> Schedule {
        Schedule::new(self.frames_every, self.dt)
    }
}

/// Matter of one solver, now and at the end of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Amount {
    /// Name of the solver.
    pub solver: &'static str,
    /// What its pieces are called, in the plural.
    pub name: &'static str,
    /// Pieces now.
    pub pieces: usize,
    /// Pieces at the end, with all that emitters will have poured.
    pub pieces_at_end: u64,
    /// What a step works on, in the plural.
    pub work_name: &'static str,
    /// How many of those now.
    pub work: usize,
    /// How many of those at the end.
    pub work_at_end: u64,
}

impl Amount {
    /// Work of a step on average: emitters pour evenly.
    fn mean_work(&self) -> f64 {
        0.5 * (self.work as f64 + self.work_at_end as f64)
    }
}

/// Bytes of a frame file without spheres: names, walls, the description of its columns.
const FRAME_HEAD: f64 = 4e3;
/// Bytes of a number in a table, with its comma: shortest decimals that read back to the last bit.
const BYTES_PER_NUMBER: f64 = 18.0;
/// Bytes of a number of a field's image.
const BYTES_PER_CELL_VALUE: f64 = 8.0;
/// Checkpoints in a folder: the newest and the one before it.
const CHECKPOINTS: f64 = 2.0;
/// Bytes of a sphere in a checkpoint, with its contacts.
const SAVED_PER_SPHERE: f64 = 300.0;
/// Bytes of a column of the ground in a checkpoint.
const SAVED_PER_CELL: f64 = 16.0;

/// What a run will take, known before its first step.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    /// Matter, solver by solver.
    pub matter: Vec<Amount>,
    /// Time step [s].
    pub dt: f64,
    /// Where the time step comes from.
    pub dt_reason: String,
    /// Largest safe time step [s].
    pub dt_limit: f64,
    /// Steps to the end.
    pub steps: u64,
    /// Frames to be written.
    pub frames: u64,
    /// Memory the run will take [bytes].
    pub memory: usize,
    /// What the run will write [bytes], at most: a ground that stays as it is is written once.
    pub disk: f64,
    /// Whether there is a ground, whose share of the time nobody can tell before: it depends on what moves it.
    pub ground: bool,
}

impl Summary {
    /// Work of the whole run: spheres or particles times steps.
    pub fn work_steps(&self) -> f64 {
        self.matter.iter().map(Amount::mean_work).sum::<f64>() * self.steps as f64
    }

    /// Pieces of all solvers now.
    pub fn pieces(&self) -> usize {
        self.matter.iter().map(|a| a.pieces).sum()
    }

    /// Pieces of all solvers at the end.
    pub fn pieces_at_end(&self) -> u64 {
        self.matter.iter().map(|a| a.pieces_at_end).sum()
    }

    /// Spheres or particles of all solvers now.
    pub fn work(&self) -> usize {
        self.matter.iter().map(|a| a.work).sum()
    }

    /// Spheres or particles of all solvers at the end.
    pub fn work_at_end(&self) -> u64 {
        self.matter.iter().map(|a| a.work_at_end).sum()
    }
}

/// A world that runs.
///
/// It owns the clock, the boundary, the solvers and what joins them, emitters, sinks and measurements. It does not know which
/// solvers it has.
pub struct World {
    pub(crate) steps: u64,
    /// Solvers may put steps off until somebody looks.
    pub(crate) ahead: bool,
    pub(crate) domain: Domain,
    pub(crate) gravity: DVec3,
    pub(crate) materials: Materials,
    pub(crate) boundary: Boundary,
    pub(crate) solvers: Solvers,
    pub(crate) couplings: Vec<Box<dyn Coupling>>,
    pub(crate) emitters: Vec<Emitter>,
    pub(crate) sinks: Vec<Sink>,
    pub(crate) outside: Outside,
    pub(crate) left: Tally,
    pub(crate) measurements: Vec<Measurement>,
    pub(crate) rows: Vec<Row>,
    pub(crate) plan: Plan,
    pub(crate) changes: Changes,
    /// Step of the last birth.
    pub(crate) last_birth: u64,
    pub(crate) meetings: Vec<Meeting>,
    pub(crate) released: Vec<Released>,
    pub(crate) warnings: Vec<Problem>,
    pub(crate) live: Live,
    /// Publishing changes nothing but its timer.
    pub(crate) timers: RefCell<Timers<Stage>>,
    /// What is done to matter at given times.
    pub(crate) events: Vec<barchan_scene::Event>,
}

impl World {
    /// One world step: matter is born, walls move, solvers and couplings act, matter leaves, observers look.
    pub fn step(&mut self) -> Result<(), WorldError> {
        let interval = Interval { step: self.steps, dt: self.plan.dt };
        self.timed(Stage::Change, Self::change)?;
        self.timed(Stage::Emit, Self::emit)?;
        self.timed(Stage::Change, Self::act);
        self.timed(Stage::Advance, |w| w.boundary.advance(interval.end(), interval.dt));
        self.timed(Stage::Solve, |w| w.solvers.iter_mut().try_for_each(|s| s.step(&interval, &mut w.boundary)))?;
        if let Some(domain) = self.solvers.iter().find_map(|s| s.domain()) {
            self.domain = domain;
        }
        self.steps += 1;
        if !self.ahead || self.is_looked_at() {
            self.settle()?;
        }
        self.timed(Stage::Couple, |w| w.couple(&interval))?;
        self.timed(Stage::Gather, |w| w.gather(&interval));
        self.timed(Stage::Remove, Self::remove)?;
        self.timed(Stage::Observe, Self::observe);
        Ok(())
    }

    /// Lets solvers put steps off until somebody looks: a graphics adapter does many at a time. Whoever lets them calls [`World::settle`]
    /// before asking for what walls bear at a step at which no row and no frame is due.
    pub fn run_ahead(&mut self) {
        self.ahead = true;
    }

    /// Lets solvers do what they have put off. They time it themselves, as they do their steps.
    pub fn settle(&mut self) -> Result<(), WorldError> {
        if self.steps == 0 {
            return Ok(());
        }
        let interval = Interval { step: self.steps - 1, dt: self.plan.dt };
        self.solvers.iter_mut().try_for_each(|s| s.settle(&interval, &mut self.boundary))?;
        Ok(())
    }

    /// Whether somebody looks at what this step led to: a frame, a row, a watching observer, a sink, a coupling.
    fn is_looked_at(&self) -> bool {
        let (step, look) = (self.steps, self.steps.is_multiple_of(LOOK_EVERY));
        let watched = |m: &Measurement| m.schedule.due(step) || (look && m.observer.watches());
        self.plan.frame_due(step)
            || step >= self.plan.steps()
            || !self.couplings.is_empty()
            || (look && !self.sinks.is_empty())
            || self.measurements.iter().any(watched)
    }

    fn timed<T>(&mut self, stage: Stage, run: impl FnOnce(&mut Self) -> T) -> T {
        let begun = Instant::now();
        let out = run(self);
        self.timers.get_mut().ran(stage, begun);
        out
    }

    fn emit(&mut self) -> Result<(), WorldError> {
        let (step, time) = (self.steps, self.live.flow.at(self.time()));
        let born = |emitters: &[Emitter]| emitters.iter().map(|e| e.tally().grains).sum::<u64>();
        let before = born(&self.emitters);
        for emitter in &mut self.emitters {
            emitter.emit(&mut self.solvers, &self.boundary, &self.domain, step, time)?;
        }
        if born(&self.emitters) > before {
            self.last_birth = step;
        }
        Ok(())
    }

    fn couple(&mut self, interval: &Interval) -> Result<(), SolverError> {
        for coupling in &mut self.couplings {
            coupling.step(interval, &mut self.boundary, &mut self.solvers)?;
        }
        Ok(())
    }

    fn gather(&mut self, interval: &Interval) {
        self.boundary.gather(interval.end());
        self.solvers.iter_mut().for_each(|s| s.take_loads(&mut self.boundary));
    }

    fn remove(&mut self) -> Result<(), WorldError> {
        let (time, look) = (self.time(), self.steps.is_multiple_of(LOOK_EVERY));
        for s in 0..self.solvers.len() {
            let solver = self.solvers.get_mut(s);
            let name = solver.name();
            let outside = solver.take_outside();
            if let (Outside::Stop, Some(&(id, position))) = (self.outside, outside.first()) {
                return Err(WorldError::Outside { what: solver.counts().name, id, time, position });
            }
            if !outside.is_empty() {
                let gone = solver.remove_where(&|id, _| outside.iter().any(|o| o.0 == id));
                self.left.add(&gone);
                self.tell(name, &gone);
            }
            for k in 0..if look { self.sinks.len() } else { 0 } {
                let gone = self.sinks[k].remove(self.solvers.get_mut(s));
                self.tell(name, &gone);
            }
        }
        Ok(())
    }

    /// Tells observers what has left a solver.
    pub(crate) fn tell(&mut self, solver: &str, gone: &[Departed]) {
        if !gone.is_empty() {
            self.measurements.iter_mut().for_each(|m| m.observer.departed(solver, gone));
        }
    }

    /// Lets watching observers look, and takes the rows that are due at this step.
    pub(crate) fn observe(&mut self) {
        let step = self.steps;
        self.rows.clear();
        let look = |m: &Measurement| m.observer.watches() && step.is_multiple_of(LOOK_EVERY);
        if !self.measurements.iter().any(|m| m.schedule.due(step) || look(m)) {
            return;
        }
        let frame = self.published();
        let (mut measurements, mut rows) = (std::mem::take(&mut self.measurements), std::mem::take(&mut self.rows));
        let view = self.view(&frame);
        for (index, m) in measurements.iter_mut().enumerate() {
            if m.schedule.due(step) {
                // Adding 0 turns −0 into 0 and changes nothing else: no table says "-0".
                let values = std::iter::once(frame.time).chain(m.observer.measure(&view)).map(|v| v + 0.0).collect();
                rows.push(Row { measurement: index, values });
            } else if look(m) {
                m.observer.watch(&view);
            }
        }
        (self.measurements, self.rows) = (measurements, rows);
    }

    /// What an observer may look at, with what solvers have published.
    pub fn view<'a>(&'a self, frame: &'a Frame) -> View<'a> {
        View {
            frame,
            solvers: &self.solvers,
            couplings: &self.couplings,
            boundary: &self.boundary,
            domain: &self.domain,
            gravity: self.gravity,
            dt: self.plan.dt,
        }
    }

    /// Rows measured in the last step (at the start: those of the start).
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// The scene's measurements.
    pub fn measurements(&self) -> &[Measurement] {
        &self.measurements
    }

    /// The solvers.
    pub fn solvers(&self) -> &Solvers {
        &self.solvers
    }

    /// What joins the solvers.
    pub fn couplings(&self) -> &[Box<dyn Coupling>] {
        &self.couplings
    }

    /// The solver of a type.
    pub fn solver<S: barchan_core::solver::Solver>(&self) -> Option<&S> {
        self.solvers.find()
    }

    /// The solver of a type, to be changed by hand.
    pub fn solver_mut<S: barchan_core::solver::Solver>(&mut self) -> Option<&mut S> {
        self.live.touched = true;
        self.solvers.find_mut()
    }

    /// Contacts of all solvers that touch now.
    pub fn contacts(&self) -> Vec<barchan_core::solver::Contact> {
        self.solvers.iter().flat_map(|s| s.contacts()).collect()
    }

    /// Walls, bodies and the ground's relief.
    pub fn boundary(&self) -> &Boundary {
        &self.boundary
    }

    /// Where matter lives.
    pub fn domain(&self) -> &Domain {
        &self.domain
    }

    /// Acceleration of gravity [m/s²].
    pub fn gravity(&self) -> DVec3 {
        self.gravity
    }

    /// Materials, by index.
    pub fn materials(&self) -> &Materials {
        &self.materials
    }

    /// What the scene's releases came to.
    pub fn released(&self) -> &[Released] {
        &self.released
    }

    /// Which materials can meet, and what their hardest impact is like.
    pub fn meetings(&self) -> &[Meeting] {
        &self.meetings
    }

    /// What is questionable but can run, as found in assembling; the scene's own are in
    /// [`Parsed::warnings`](barchan_scene::Parsed::warnings).
    pub fn warnings(&self) -> &[Problem] {
        &self.warnings
    }

    /// What a run is to do.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Changes the simulated time to reach [s].
    pub fn set_duration(&mut self, duration: f64) {
        self.plan.duration = duration;
    }

    /// State as readers see it.
    pub fn frame(&self) -> Frame {
        let begun = Instant::now();
        let mut frame = self.published();
        self.couplings.iter().for_each(|c| c.publish(&mut frame));
        if self.plan.contacts {
            frame.pairs.push(crate::contacts::pairs(&self.contacts(), &frame, &self.domain));
        }
        self.timers.borrow_mut().ran(Stage::Publish, begun);
        frame
    }

    /// What solvers publish, without what couplings add: large grounds are not copied for measurements.
    fn published(&self) -> Frame {
        let names: Arc<[String]> = self.materials.list.iter().map(|m| m.name.clone()).collect();
        let mut frame = Frame {
            time: self.time(),
            step: self.steps,
            walls: self.boundary.frames(),
            materials: names,
            ..Frame::default()
        };
        self.solvers.iter().for_each(|s| s.publish(&mut frame));
        // Readers find bodies, which are grains, in the first population.
        frame.populations.sort_by_key(|p| p.name != GRAINS);
        frame
    }

    /// The ground, where there is one.
    pub fn ground(&self) -> Option<&Ground> {
        self.couplings.iter().find_map(|c| (c.as_ref() as &dyn Any).downcast_ref())
    }

    /// Volume of the ground that bodies have compressed away so far [quanta of column height].
    pub fn compressed(&self) -> i128 {
        self.ground().map_or(0, |g| g.compressed())
    }

    /// Simulated time [s].
    pub fn time(&self) -> f64 {
        self.steps as f64 * self.plan.dt
    }

    /// World steps taken.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// Hash of the state: equal bits, equal hash.
    pub fn hash(&self) -> u64 {
        let solvers = self.solvers.iter().fold(HASH_START, |h, s| s.hash(h));
        self.couplings.iter().fold(self.boundary.hash(solvers), |h, c| c.hash(h))
    }

    /// What sinks have taken, by name, and what left through open sides (`outside`).
    pub fn tallies(&self) -> Vec<(&str, Tally)> {
        let sinks = self.sinks.iter().map(|s| (s.name(), s.tally()));
        sinks.chain((self.left.grains > 0).then_some(("outside", self.left))).collect()
    }

    /// What emitters and rain have brought so far, by name, and whether they are done.
    pub fn born(&self) -> Vec<(&str, Tally)> {
        self.emitters.iter().map(|e| (e.name(), e.tally())).collect()
    }

    /// The account of grains and ground, where there is one.
    pub fn account(&self) -> Option<Account> {
        self.ground().map(|g| g.account(self.published().grains()))
    }

    /// Mass of grains and ground [kg], less what emitters have brought, and with what has left: it stays, to rounding.
    pub fn balance(&self) -> Option<f64> {
        let sum = |all: Vec<(&str, Tally)>| all.iter().map(|(_, t)| t.mass).sum::<f64>();
        self.account().map(|a| a.mass(a.total()) - sum(self.born()) + sum(self.tallies()))
    }

    /// Walls and bodies that have a volume map.
    pub fn volume_maps(&self) -> Vec<WallMap> {
        let shapes = self.solvers.find::<Sph>().map_or(&[][..], |s| &s.settings().shapes);
        let named = self.boundary.walls().iter().zip(shapes);
        let of = |(wall, shape): (&Wall, &Option<Arc<dyn WallShape>>)| {
            let shape = shape.clone().filter(|s| s.map().is_some())?;
            Some(WallMap { name: wall.name.clone(), shape })
        };
        named.filter_map(of).collect()
    }

    /// Sums over all solvers, and the gauges of solvers and couplings.
    pub fn totals(&self) -> Totals {
        let mut sum = Totals::default();
        for totals in self.solvers.iter().map(|s| s.totals()) {
            sum.mass += totals.mass;
            sum.momentum += totals.momentum;
            sum.energies += totals.energies;
            sum.gauges.extend(totals.gauges);
        }
        sum.gauges.extend(self.couplings.iter().flat_map(|c| c.gauges(&self.solvers)));
        sum
    }

    /// Energies of all solvers [J].
    pub fn energies(&self) -> Energies {
        self.totals().energies
    }

    /// The gauge of a name, of a solver or a coupling.
    pub fn gauge(&self, name: &str) -> Option<f64> {
        self.totals().gauges.into_iter().find(|g: &Gauge| g.name == name).map(|g| g.value)
    }

    /// Pieces of all solvers.
    pub fn pieces(&self) -> usize {
        self.solvers.iter().map(|s| s.counts().pieces).sum()
    }

    /// Spheres or particles of all solvers.
    pub fn work(&self) -> usize {
        self.solvers.iter().map(|s| s.counts().work).sum()
    }

    /// Time spent in every stage since the start: the world's own, then each solver's and each coupling's, under their names.
    pub fn stages(&self) -> Vec<(&'static str, StageTime)> {
        let own = self.timers.borrow().times().to_vec();
        // Solvers and couplings say themselves where their time goes.
        let split = [Stage::Solve.name(), Stage::Couple.name()];
        let own = own.into_iter().filter(|t| !split.contains(&t.name)).map(|t| ("world", t));
        let solvers = self.solvers.iter().flat_map(|s| s.stages().into_iter().map(move |t| (s.name(), t)));
        let couplings = self.couplings.iter().flat_map(|c| c.stages().into_iter().map(move |t| (c.name(), t)));
        own.chain(solvers).chain(couplings).collect()
    }

    /// Bytes held now.
    pub fn memory(&self) -> usize {
        let solvers = self.solvers.iter().map(|s| s.memory());
        solvers.chain(self.couplings.iter().map(|c| c.memory())).sum()
    }

    /// What the run will take.
    pub fn summary(&self) -> Summary {
        let mut memory = self.couplings.iter().map(|c| c.memory() as f64).sum::<f64>();
        let mut matter = Vec::new();
        for (index, solver) in self.solvers.iter().enumerate() {
            let counts = solver.counts();
            let (mut pieces_at_end, mut work_at_end) = (counts.pieces as u64, counts.work as u64);
            for e in self.emitters.iter().filter(|e| e.solver == index) {
                let to_come = e.to_come(self.time(), self.plan.duration);
                pieces_at_end += to_come;
                work_at_end += to_come * e.spheres_per_grain() as u64;
            }
            // Columns and lists grow with the work; a fixed share remains for an empty world.
            let grown = solver.memory() as f64 * (work_at_end as f64 / counts.work.max(1) as f64).max(1.0);
            memory += grown.max(work_at_end as f64 * solver.bytes_per_piece());
            matter.push(Amount {
                solver: solver.name(),
                name: counts.name,
                pieces: counts.pieces,
                pieces_at_end,
                work_name: counts.work_name,
                work: counts.work,
                work_at_end,
            });
        }
        let mean = matter.iter().map(Amount::mean_work).sum();
        let most = matter.iter().map(|a| a.work_at_end.max(a.work as u64) as f64).sum();
        Summary {
            matter,
            dt: self.plan.dt,
            dt_reason: self.plan.dt_reason.clone(),
            dt_limit: self.plan.dt_limit,
            steps: self.plan.steps(),
            frames: self.plan.frame_count(),
            memory: memory as usize,
            disk: self.disk(mean, most),
            ground: self.ground_cells() > 0,
        }
    }

    /// What a run writes [bytes]: frames of so many spheres or particles on average, the ground, checkpoints and tables.
    fn disk(&self, mean: f64, most: f64) -> f64 {
        let formats = self.plan.formats.iter().filter_map(|f| barchan_io::writer::Format::named(f.name()));
        let frames = formats.map(|f| FRAME_HEAD + mean * f.bytes_per_sphere()).sum::<f64>();
        let ground = self.ground_cells() as f64 * barchan_io::vts::BYTES_PER_CELL;
        let rows = self.measurements.iter().map(|m| {
            let numbers = m.observer.columns().len() + 1;
            let row = match m.observer.grid() {
                Some(_) => FRAME_HEAD + BYTES_PER_CELL_VALUE * numbers as f64,
                None => BYTES_PER_NUMBER * numbers as f64,
            };
            m.schedule.count(self.plan.steps()) as f64 * row
        });
        let saved = CHECKPOINTS * (most * SAVED_PER_SPHERE + self.ground_cells() as f64 * SAVED_PER_CELL);
        self.plan.frame_count() as f64 * (frames + ground) + rows.sum::<f64>() + saved
    }

    /// Columns of the ground.
    fn ground_cells(&self) -> usize {
        self.boundary.fixtures().walls.iter().filter_map(|w| w.bed()).map(|b| b.relief().height.len()).sum()
    }
}
