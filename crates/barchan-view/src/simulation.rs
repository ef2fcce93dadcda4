//! The simulation in a thread of its own.
//!
//! The window sends [`Command`]s and looks at what was [`Published`] last; neither side waits for the other. The thread
//! reads and assembles the scene, steps the world, and publishes a frame of its own at most sixty times a second, fewer if they
//! are not looked at. What
//! goes wrong, in the scene or in the run, is published as words.

pub use crate::messages::{Answer, Command, Fresh, Pass, Published, State, Stats, Values};

use barchan_core::frame::GRAINS;
use barchan_core::stages::StageTime;
use barchan_engine::{World, assemble, keep, load};
use barchan_scene::{Parsed, Scene, SceneErrors};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, TryRecvError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Wall-clock time between two frames at least.
const PUBLISH_EVERY: Duration = Duration::from_micros(16_600);
/// The same where nobody has looked at the last one: a picture may take longer to draw, and a frame of a large ground is many megabytes.
const UNSEEN_EVERY: Duration = Duration::from_millis(100);
/// Wall-clock time between two looks at energies and timers, which cost a pass over the contacts.
const MEASURE_EVERY: Duration = Duration::from_millis(100);
/// Wall-clock time the simulation may catch up on at once when it has a speed to keep: what it lost before is let go.
const PATIENCE: f64 = 0.1;

/// The text of a scene and the name it goes by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// Name for messages.
    pub name: String,
    /// The TOML.
    pub text: String,
}

/// A simulation under way. Dropped, its thread ends after the step it is at.
pub struct Simulation {
    commands: Sender<Command>,
    shared: Arc<Mutex<Published>>,
    flags: Arc<Flags>,
}

/// What the two threads let each other know.
#[derive(Default)]
struct Flags {
    /// The window is gone.
    over: AtomicBool,
    /// The window has looked at what was published last.
    seen: AtomicBool,
}

impl Simulation {
    /// Starts a scene in a thread; `wake` is called after every publication.
    pub fn start(source: Source, play: bool, wake: impl Fn() + Send + 'static) -> Simulation {
        let (commands, inbox) = channel();
        let shared = Arc::new(Mutex::new(Published::default()));
        let flags = Arc::new(Flags::default());
        let (to, of) = (shared.clone(), flags.clone());
        let work = move || {
            let mut worker = Worker::new(inbox, to, of, Box::new(wake));
            let folder = Path::new(&source.name).parent().unwrap_or(Path::new(""));
            match load(&source.text, &source.name, folder) {
                Ok(parsed) => worker.run(&parsed, play),
                Err(problems) => worker.fail(problems.listing()),
            }
        };
        let started = std::thread::Builder::new().name("simulation".into()).spawn(work);
        if let Err(e) = started {
            let mut published = shared.lock().unwrap_or_else(PoisonError::into_inner);
            published.state = State::Failed;
            published.message = Some(format!("the simulation's thread could not be started: {e}"));
        }
        Simulation { commands, shared, flags }
    }

    /// Asks for something; it is done when the thread comes to it.
    pub fn send(&self, command: Command) {
        // A thread that ended has published why.
        let _ = self.commands.send(command);
    }

    /// What was published last.
    pub fn published(&self) -> Published {
        let published = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        self.flags.seen.store(true, Ordering::Relaxed);
        published.clone()
    }
}

impl Drop for Simulation {
    fn drop(&mut self) {
        self.flags.over.store(true, Ordering::Relaxed);
    }
}

/// The thread's side.
struct Worker {
    inbox: Receiver<Command>,
    shared: Arc<Mutex<Published>>,
    flags: Arc<Flags>,
    wake: Box<dyn Fn()>,
    state: State,
    speed: Option<f64>,
    /// Where the speed is reckoned from: wall clock and simulated time [s].
    mark: (Instant, f64),
    published: Instant,
    meter: Meter,
    answers: u64,
    /// Simulated time at which it is to stand still [s].
    pause_at: Option<f64>,
}

impl Worker {
    fn new(inbox: Receiver<Command>, shared: Arc<Mutex<Published>>, flags: Arc<Flags>, wake: Box<dyn Fn()>) -> Worker {
        let now = Instant::now();
        let meter = Meter::default();
        let (state, speed, mark) = (State::Loading, Some(1.0), (now, 0.0));
        Worker { inbox, shared, flags, wake, state, speed, mark, published: now, meter, answers: 0, pause_at: None }
    }

    fn tell(&self, change: impl FnOnce(&mut Published)) {
        let mut published = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        change(&mut published);
        published.serial += 1;
        self.flags.seen.store(false, Ordering::Relaxed);
        drop(published);
        (self.wake)();
    }

    fn fail(&mut self, message: String) {
        self.state = State::Failed;
        self.tell(|p| (p.state, p.message) = (State::Failed, Some(message)));
    }

    /// Until the window is gone.
    fn run(&mut self, first: &Parsed, play: bool) {
        let mut parsed = first.clone();
        let mut world = self.begin(&parsed, play);
        while !self.flags.over.load(Ordering::Relaxed) {
            let stand_by = self.wait(world.as_ref());
            let command = match (self.state, stand_by) {
                (State::Playing, None) => match self.inbox.try_recv() {
                    Ok(command) => Some(command),
                    Err(TryRecvError::Empty) => None,
                    Err(TryRecvError::Disconnected) => return,
                },
                (_, wait) => match self.inbox.recv_timeout(wait.unwrap_or(MEASURE_EVERY)) {
                    Ok(command) => Some(command),
                    Err(RecvTimeoutError::Timeout) => None,
                    Err(RecvTimeoutError::Disconnected) => return,
                },
            };
            match (command, &mut world) {
                (Some(Command::Reset { play, fresh }), _) => {
                    // Two worlds at once might not fit.
                    drop(world.take());
                    match afresh(first, fresh) {
                        Ok(new) => (parsed, world) = (new.clone(), self.begin(&new, play)),
                        Err(problems) => self.fail(problems.listing()),
                    }
                }
                (Some(command), Some(w)) => self.obey(w, &parsed.scene, command),
                (None, Some(w)) if self.state == State::Playing && stand_by.is_none() => self.step(w),
                _ => {}
            }
        }
    }

    fn begin(&mut self, parsed: &Parsed, play: bool) -> Option<World> {
        self.state = State::Loading;
        let scene = Arc::new(parsed.clone());
        self.tell(|p| (p.state, p.message, p.scene) = (State::Loading, None, Some(scene)));
        match assemble(parsed) {
            Ok(world) => {
                self.meter = Meter::default();
                self.state = if play { State::Playing } else { State::Paused };
                self.mark = (Instant::now(), world.time());
                let maps = world.volume_maps();
                self.tell(|p| (p.epoch, p.maps) = (p.epoch + 1, maps));
                self.publish(&world);
                Some(world)
            }
            Err(problems) => {
                self.fail(problems.listing());
                None
            }
        }
    }

    /// How long to stand by until the next step is due; none for now.
    fn wait(&mut self, world: Option<&World>) -> Option<Duration> {
        let (Some(speed), Some(world), State::Playing) = (self.speed, world, self.state) else { return None };
        let due = (world.time() - self.mark.1) / speed;
        let late = self.mark.0.elapsed().as_secs_f64() - due;
        if late > PATIENCE {
            self.mark = (Instant::now(), world.time());
        }
        (late < -1e-3).then(|| Duration::from_secs_f64((-late).min(0.05)))
    }

    fn step(&mut self, world: &mut World) {
        let before = world.time();
        if let Err(e) = world.step() {
            self.publish(world);
            self.fail(format!("{e}\n\nReset (R) starts the scene anew."));
            return;
        }
        let end = world.plan().duration;
        if before < end && world.time() >= end {
            self.state = State::Finished;
        }
        if self.pause_at.is_some_and(|at| before < at && world.time() >= at) {
            self.state = State::Paused;
        }
        let every = if self.flags.seen.load(Ordering::Relaxed) { PUBLISH_EVERY } else { UNSEEN_EVERY };
        if self.state != State::Playing || self.published.elapsed() >= every {
            self.publish(world);
        }
    }

    fn obey(&mut self, world: &mut World, scene: &Scene, command: Command) {
        let failed = self.state == State::Failed;
        let refused = |e: &dyn std::fmt::Display| Some(Answer::Refused(e.to_string()));
        let answer = match command {
            Command::Play if !failed => {
                self.state = State::Playing;
                self.mark = (Instant::now(), world.time());
                None
            }
            Command::Pause if !failed => {
                self.state = State::Paused;
                None
            }
            Command::Step if !failed => {
                self.state = State::Paused;
                self.step(world);
                return;
            }
            Command::Play | Command::Pause | Command::Step | Command::Reset { .. } => None,
            Command::Speed(speed) => {
                self.speed = speed;
                self.mark = (Instant::now(), world.time());
                None
            }
            Command::Gravity(gravity) => {
                world.set_gravity(gravity);
                None
            }
            Command::Material { index, friction, restitution } => {
                world.set_material(index, friction, restitution).err().and_then(|e| refused(&e))
            }
            Command::Knob { index, value } => world.set_knob(index, value).err().and_then(|e| refused(&e)),
            Command::PauseAt(at) => {
                self.pause_at = at;
                None
            }
            Command::Flow(factor) => {
                world.set_flow(factor);
                None
            }
            Command::Walls(factor) => {
                world.set_wall_pace(factor);
                None
            }
            Command::Push { centre, radius, velocity } => Some(Answer::Pushed(world.push(centre, radius, velocity))),
            Command::Pour { centre, radius, count } => match world.pour(centre, radius, count) {
                Ok(came) => Some(Answer::Poured(came)),
                Err(e) => refused(&e),
            },
            Command::Drop { centre, radius } => match world.drop_ball(centre, radius) {
                Ok(dropped) => Some(Answer::Dropped(dropped)),
                Err(e) => refused(&e),
            },
            Command::Dig { centre, radius } => Some(Answer::Dug(world.dig(centre, radius))),
            Command::Cut { from, to, under } => Some(Answer::Broken(world.cut(from, to, under))),
            Command::Charge { centre, radius, energy } => Some(Answer::Pushed(world.charge(centre, radius, energy))),
            Command::Save(folder) => match keep(world, scene, &folder) {
                Ok(_) => Some(Answer::Saved(folder)),
                Err(e) => refused(&e),
            },
        };
        if self.state != State::Playing {
            self.publish(world);
        }
        // After the frame: whoever reads the answer sees what was done.
        if let Some(answer) = answer {
            self.answers += 1;
            let number = self.answers;
            self.tell(|p| p.answer = Some((number, answer)));
        }
    }

    fn publish(&mut self, world: &World) {
        self.published = Instant::now();
        let still = self.state != State::Playing;
        if still || self.meter.due() {
            self.meter.look(world);
        }
        let frame = Arc::new(world.frame());
        let stats = Stats {
            time: world.time(),
            step: world.steps(),
            grains: world.pieces(),
            spheres: world.work(),
            hash: still.then(|| world.hash()),
            ..self.meter.stats.clone()
        };
        let (values, state) = (Values { pause_at: self.pause_at, ..values(world) }, self.state);
        self.tell(|p| (p.frame, p.stats, p.values, p.state) = (Some(frame), stats, values, state));
    }
}

fn values(world: &World) -> Values {
    let [flow, walls] = world.paces();
    let [flows, moves] = world.has_paces();
    Values {
        gravity: world.gravity(),
        materials: world.materials().list.iter().map(|m| (m.name.clone(), m.friction, m.restitution)).collect(),
        flow: flows.then_some(flow),
        walls: moves.then_some(walls),
        grain: world.grain_reach(),
        knobs: world.knobs(),
        bounces: world.solvers().iter().any(|s| s.name() == GRAINS),
        pause_at: None,
    }
}

/// A scene with what a reset changes of it.
fn afresh(first: &Parsed, fresh: Fresh) -> Result<Parsed, SceneErrors> {
    let scaled = if fresh.scale == 1.0 { first.clone() } else { first.scaled(fresh.scale)? };
    let mut scene = scaled.scene.clone();
    for m in &mut scene.continuum {
        m.spacing = fresh.spacing.unwrap_or(m.spacing);
        m.density = fresh.density.unwrap_or(m.density);
    }
    if scene == scaled.scene { Ok(scaled) } else { scaled.with(scene) }
}

/// Measures what costs too much to measure at every frame.
#[derive(Default)]
struct Meter {
    last: Option<(Instant, f64, u64, Vec<StageTime>)>,
    stats: Stats,
}

impl Meter {
    fn due(&self) -> bool {
        self.last.as_ref().is_none_or(|l| l.0.elapsed() >= MEASURE_EVERY)
    }

    fn look(&mut self, world: &World) {
        let totals = world.totals();
        let timers: Vec<StageTime> = world.stages().into_iter().map(|(_, stage)| stage).collect();
        let mut stats = Stats {
            duration: world.plan().duration,
            dt: world.plan().dt,
            mass: totals.mass,
            energies: totals.energies,
            gauges: totals.gauges,
            memory: world.memory(),
            ..Stats::default()
        };
        if let Some((at, time, step, before)) = &self.last {
            let steps = (world.steps() - step).max(1) as f64;
            let spent = |(now, then): (&StageTime, &StageTime)| Pass {
                name: now.name,
                ms: 1e3 * (now.seconds - then.seconds) / steps,
                runs: (now.runs - then.runs) as f64 / steps,
            };
            stats.passes = timers.iter().zip(before).map(spent).filter(|p| p.ms > 0.0).collect();
            stats.real_time = (world.time() - time) / at.elapsed().as_secs_f64().max(1e-9);
        }
        if world.steps() == self.last.as_ref().map_or(0, |l| l.2) {
            // Nothing was computed since: what the last steps cost still holds.
            stats.passes.clone_from(&self.stats.passes);
        }
        self.stats = stats;
        self.last = Some((Instant::now(), world.time(), world.steps(), timers));
    }
}
