//! A running world: the solver, what brings grains in and takes them out, and what watches.

use crate::assemble::Meeting;
use crate::emit::Emitter;
use crate::ground::{Account, Ground, Pressers};
use crate::live::Live;
use crate::observers::{Observer, View};
use crate::schedule::{Schedule, steps_of};
use crate::sinks::{Sink, Tally};
use barchan_core::frame::Frame;
use barchan_dem::{Dem, DemError, Departed};
use barchan_scene::words::seconds;
use barchan_scene::{Format, Outside, Problem};
use glam::DVec3;
use std::path::PathBuf;

/// Sinks and watching observers look at the grains every so many steps: a grain moves a small share of its radius in
/// one, and a look costs about as much as a pass over the positions.
pub(crate) const LOOK_EVERY: u64 = 16;

/// Why a world cannot go on. The message names the grain, the time and the remedy.
#[derive(Debug, thiserror::Error, Clone, PartialEq)]
pub enum WorldError {
    /// The solver stopped.
    #[error(transparent)]
    Dem(#[from] DemError),
    /// A grain left a domain that is to hold all.
    #[error(
        "grain {id} left the domain at t = {}, at ({:.4}, {:.4}, {:.4}) m: close the walls, enlarge the domain, or set domain.outside = \"remove\"",
        seconds(*time), position.x, position.y, position.z
    )]
    Outside {
        /// The grain.
        id: u32,
        /// Time [s].
        time: f64,
        /// Where it is [m].
        position: DVec3,
    },
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
}

impl Plan {
    /// Steps to the end.
    pub fn steps(&self) -> u64 {
        steps_of(self.duration, self.dt)
    }

    /// When frames are due.
    pub fn frames(&self) -> Schedule {
        Schedule::new(self.frames_every, self.dt)
    }
}

/// What a run will take, known before its first step.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    /// Grains now.
    pub grains: usize,
    /// Spheres now.
    pub spheres: usize,
    /// Grains at the end, with all that emitters will have poured.
    pub grains_at_end: u64,
    /// Spheres at the end.
    pub spheres_at_end: u64,
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
}

impl Summary {
    /// Work of the whole run: spheres times steps.
    pub fn sphere_steps(&self) -> f64 {
        0.5 * (self.spheres as f64 + self.spheres_at_end as f64) * self.steps as f64
    }
}

/// A world that runs.
pub struct World {
    pub(crate) dem: Dem,
    pub(crate) ground: Option<Ground>,
    pub(crate) pressers: Pressers,
    pub(crate) emitters: Vec<Emitter>,
    pub(crate) sinks: Vec<Sink>,
    pub(crate) outside: Outside,
    pub(crate) left: Tally,
    pub(crate) measurements: Vec<Measurement>,
    pub(crate) rows: Vec<Row>,
    pub(crate) plan: Plan,
    pub(crate) meetings: Vec<Meeting>,
    pub(crate) warnings: Vec<Problem>,
    pub(crate) live: Live,
}

impl World {
    /// One time step: grains are born, everything moves, bodies press the ground, it gives way, grains leave, observers look.
    pub fn step(&mut self) -> Result<(), WorldError> {
        self.emit()?;
        self.dem.step()?; // walls move in here
        self.pressers.step(self.ground.as_mut(), &mut self.dem);
        if let Some(ground) = &mut self.ground {
            ground.step(&mut self.dem)?;
        }
        self.remove()?;
        self.observe();
        Ok(())
    }

    fn emit(&mut self) -> Result<(), WorldError> {
        for emitter in &mut self.emitters {
            emitter.emit(&mut self.dem, &self.live.flow)?;
        }
        Ok(())
    }

    fn remove(&mut self) -> Result<(), WorldError> {
        let outside = self.dem.take_outside();
        if !outside.is_empty() {
            if self.outside == Outside::Stop {
                let (id, time) = (outside[0], self.dem.time());
                let frame = self.dem.frame();
                let position = frame.id.iter().position(|&i| i == id).map_or(DVec3::NAN, |row| frame.position[row]);
                return Err(WorldError::Outside { id, time, position });
            }
            let gone = self.dem.remove_where(&|id, _| outside.contains(&id));
            self.left.add(&gone);
            self.tell(&gone);
        }
        if self.dem.steps().is_multiple_of(LOOK_EVERY) {
            for s in 0..self.sinks.len() {
                let gone = self.sinks[s].remove(&mut self.dem);
                self.tell(&gone);
            }
        }
        Ok(())
    }

    pub(crate) fn tell(&mut self, gone: &[Departed]) {
        if !gone.is_empty() {
            self.measurements.iter_mut().for_each(|m| m.observer.departed(gone));
        }
    }

    /// Lets watching observers look, and takes the rows that are due at this step.
    pub(crate) fn observe(&mut self) {
        let step = self.dem.steps();
        self.rows.clear();
        let look = |m: &Measurement| m.observer.watches() && step.is_multiple_of(LOOK_EVERY);
        if !self.measurements.iter().any(|m| m.schedule.due(step) || look(m)) {
            return;
        }
        let frame = self.dem.frame();
        let view = View { dem: &self.dem, frame: &frame, ground: self.ground.as_ref() };
        for (index, m) in self.measurements.iter_mut().enumerate() {
            if m.schedule.due(step) {
                // Adding 0 turns −0 into 0 and changes nothing else: no table says "-0".
                let values = std::iter::once(frame.time).chain(m.observer.measure(&view)).map(|v| v + 0.0).collect();
                self.rows.push(Row { measurement: index, values });
            } else if look(m) {
                m.observer.watch(&view);
            }
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

    /// The solver.
    pub fn dem(&self) -> &Dem {
        &self.dem
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
    pub fn frame(&self) -> Frame<'_> {
        Frame { ground: self.ground.as_ref().map(|g| g.relief()), ..self.dem.frame() }
    }

    /// Volume of the ground that bodies have compressed away so far [quanta of column height].
    pub fn compressed(&self) -> i128 {
        self.ground.as_ref().map_or(0, |g| g.compressed)
    }

    /// The ground, where there is one.
    pub fn ground(&self) -> Option<&Ground> {
        self.ground.as_ref()
    }

    /// Simulated time [s].
    pub fn time(&self) -> f64 {
        self.dem.time()
    }

    /// Steps taken.
    pub fn steps(&self) -> u64 {
        self.dem.steps()
    }

    /// Hash of the state: equal bits, equal hash.
    pub fn hash(&self) -> u64 {
        let grains = self.dem.hash();
        self.ground.as_ref().map_or(grains, |g| g.hash(grains))
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
        self.ground.as_ref().map(|g| g.account(&self.dem.frame()))
    }

    /// Mass of grains and ground [kg], less what emitters have brought, and with what has left: it stays, to rounding.
    pub fn balance(&self) -> Option<f64> {
        let sum = |all: Vec<(&str, Tally)>| all.iter().map(|(_, t)| t.mass).sum::<f64>();
        self.account().map(|a| a.mass(a.total()) - sum(self.born()) + sum(self.tallies()))
    }

    /// Bytes held now.
    pub fn memory(&self) -> usize {
        self.dem.memory_bytes()
    }

    /// What the run will take.
    pub fn summary(&self) -> Summary {
        let (grains, spheres) = (self.dem.len(), self.dem.sphere_count());
        let (mut grains_at_end, mut spheres_at_end) = (grains as u64, spheres as u64);
        for e in &self.emitters {
            let to_come = e.to_come(self.time(), self.plan.duration);
            grains_at_end += to_come;
            spheres_at_end += to_come * e.spheres_per_grain() as u64;
        }
        // Columns and lists grow with the spheres; a fixed share remains for an empty world.
        let memory = self.memory() as f64 * (spheres_at_end as f64 / spheres.max(1) as f64).max(1.0);
        let by_count = spheres_at_end as f64 * BYTES_PER_SPHERE;
        Summary {
            grains,
            spheres,
            grains_at_end,
            spheres_at_end,
            dt: self.plan.dt,
            dt_reason: self.plan.dt_reason.clone(),
            dt_limit: self.plan.dt_limit,
            steps: self.plan.steps(),
            frames: self.plan.frames().count(self.plan.steps()),
            memory: memory.max(by_count) as usize,
        }
    }
}

/// Memory of a sphere with its lists when packed [bytes]: the estimate where no list has been built yet.
pub(crate) const BYTES_PER_SPHERE: f64 = 600.0;
