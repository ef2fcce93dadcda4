//! Running a world: steps, frames, measurements, checkpoints, in a folder that is enough to go on from.

mod folder;
mod keep;
mod rows;

pub use folder::Status;
pub use keep::{CHANGED, keep};

use crate::assemble::{self, Method, SceneErrors};
use crate::cache;
use crate::checkpoint::{Checkpoint, CheckpointError, CheckpointWriter, fingerprint};
use crate::copies;
use crate::kept;
use crate::meshes;
use crate::sinks::Tally;
use crate::world::{LOOK_EVERY, World, WorldError};
use barchan_core::schedule::Schedule;
use barchan_core::shapes::Shape;
use barchan_core::solver::Gauge;
use barchan_core::stages::{StageTime, Timers};
use barchan_hybrid::ground::Account;
use barchan_io::FrameError;
use barchan_io::atomic::{self, FileError};
use barchan_io::csv::{Column, TableError};
use barchan_io::writer::{Format, FrameWriter};
use barchan_scene::words::seconds;
use barchan_scene::{Device, Parsed, Stop};
use folder::Folder;
use rows::Rows;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Wall-clock time between looks at the clock for progress.
const PROGRESS_EVERY: Duration = Duration::from_millis(200);
/// Wall-clock time after which a checkpoint is written even if the scene asks for none: what a crash may cost. The
/// first comes early, since most runs that fail do so soon.
const FIRST_CHECKPOINT_AFTER: Duration = Duration::from_secs(30);
const CHECKPOINT_AFTER: Duration = Duration::from_secs(180);

/// Why a run could not start or had to end.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The world cannot go on.
    #[error("{source}{}", last_good(.checkpoint, Some(*time)))]
    World {
        /// What happened.
        source: WorldError,
        /// When [s].
        time: f64,
        /// The last good checkpoint and its time [s]. The state just before the failing step is not kept.
        checkpoint: Option<(PathBuf, f64)>,
    },
    /// A file of a run under way could not be written.
    #[error("{source}{}", last_good(.checkpoint, None))]
    Output {
        /// What happened.
        source: Box<OutputError>,
        /// The last good checkpoint and its time [s].
        checkpoint: Option<(PathBuf, f64)>,
    },
    /// A folder that could not be made, or a file in it not be read.
    #[error(transparent)]
    File(#[from] FileError),
    /// A folder that holds a run.
    #[error("{} already holds a run: choose another folder with -o, go on with --resume, or replace it with --force", folder.display())]
    Exists {
        /// The folder.
        folder: PathBuf,
    },
    /// A folder that another run writes into.
    #[error("another run is writing into {}: wait for it or choose another folder with -o", folder.display())]
    Locked {
        /// The folder.
        folder: PathBuf,
    },
    /// A folder with files of others where the run's would be.
    #[error(
        "{} holds no run, but files that one would write over: {}; choose another folder with -o, move the files, or replace them \
         with --force", folder.display(), listed(.files, .folder)
    )]
    InTheWay {
        /// The folder.
        folder: PathBuf,
        /// The files.
        files: Vec<PathBuf>,
    },
    /// A folder that holds no run.
    #[error("{} holds no run to resume (no run.toml): give the folder that `barchan run … -o FOLDER` wrote", folder.display())]
    NotARun {
        /// The folder.
        folder: PathBuf,
    },
    /// A file where the folder of a run is wanted.
    #[error("{} is a file, not the folder of a run: give {}", path.display(), suggested(.folder))]
    NotAFolder {
        /// The file.
        path: PathBuf,
        /// The run's folder that it lies in, if it does.
        folder: Option<PathBuf>,
    },
    /// A run that has reached the time it was to reach.
    #[error(
        "the run in {} is at its end: it has reached t = {} of {}; to go on, give a longer time with --duration",
        folder.display(), seconds(*time), seconds(*duration)
    )]
    AtEnd {
        /// The folder.
        folder: PathBuf,
        /// Time reached [s].
        time: f64,
        /// Time that was to be reached [s].
        duration: f64,
    },
    /// The scene's copy is no longer the one that was run.
    #[error(
        "{} was changed since the run's checkpoint was written, so the run cannot go on with it: restore it, or start a \
         new run with `barchan run {} -o FOLDER`; to run longer, use --duration", scene.display(), scene.display()
    )]
    SceneChanged {
        /// The scene's copy in the folder.
        scene: PathBuf,
    },
    /// A note that cannot be read.
    #[error("{} is damaged: restore it, or start the run anew", path.display())]
    Note {
        /// The file.
        path: PathBuf,
    },
    /// No checkpoint to go on from.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    /// The scene's copy no longer assembles.
    #[error("the scene of the run no longer loads: {0}")]
    Scene(SceneErrors),
    /// A duration that is no time.
    #[error("a duration of {0} s cannot be run: give a positive number of seconds")]
    Duration(f64),
}

/// What a run under way writes, and how that failed.
#[derive(Debug, thiserror::Error)]
pub enum OutputError {
    /// A frame.
    #[error(transparent)]
    Frame(#[from] FrameError),
    /// A measurement.
    #[error(transparent)]
    Table(#[from] TableError),
    /// A checkpoint.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    /// The note or the scene.
    #[error(transparent)]
    File(#[from] FileError),
}

/// Which checkpoint there is to go back to, and how far back that is from `now` [s].
fn last_good(checkpoint: &Option<(PathBuf, f64)>, now: Option<f64>) -> String {
    let Some((path, time)) = checkpoint else { return "; no checkpoint has been written yet".into() };
    let before = now.map_or(String::new(), |now| format!(", {} before this", seconds(now - time)));
    format!("; the last good checkpoint is {}, of t = {}{before}", path.display(), seconds(*time))
}

/// Some of the files, by their names within the folder.
fn listed(files: &[PathBuf], folder: &Path) -> String {
    const MOST: usize = 6;
    let name = |f: &PathBuf| f.strip_prefix(folder).unwrap_or(f).display().to_string();
    let names: Vec<String> = files.iter().take(MOST).map(name).collect();
    let more = files.len().saturating_sub(MOST);
    names.join(", ") + &if more > 0 { format!(" and {more} more") } else { String::new() }
}

fn suggested(folder: &Option<PathBuf>) -> String {
    folder.as_ref().map_or("the folder that `barchan run … -o FOLDER` wrote".into(), |f| f.display().to_string())
}

/// How a run stands, a few times a second.
#[derive(Clone, Debug, PartialEq)]
pub struct Progress {
    /// Steps taken since the scene began.
    pub step: u64,
    /// Steps at the end.
    pub steps: u64,
    /// Simulated time [s].
    pub time: f64,
    /// Grains or particles of all solvers.
    pub pieces: usize,
    /// Frames written so far.
    pub frames: u64,
    /// Wall-clock time of this run [s].
    pub seconds: f64,
    /// Grains or particles times steps per second, lately.
    pub piece_steps_per_second: f64,
    /// Simulated seconds per second, lately.
    pub real_time: f64,
    /// Wall-clock time to the end at this rate [s].
    pub seconds_left: f64,
    /// Kinetic energy [J].
    pub kinetic: f64,
    /// What solvers and couplings watch.
    pub gauges: Vec<Gauge>,
}

/// How to run.
#[derive(Default)]
pub struct RunOptions<'a> {
    /// Called a few times a second.
    pub on_progress: Option<&'a mut (dyn FnMut(&Progress) + Send)>,
    /// Ends the run after the step under way, with a checkpoint, once it is true.
    pub stop: Option<&'a AtomicBool>,
    /// What ends the run before its duration, besides what the scene says.
    pub until: Option<Stop>,
}

/// What a run did.
#[derive(Clone, Debug, PartialEq)]
pub struct RunReport {
    /// Finished, or stopped on request.
    pub status: Status,
    /// What ended the run before its duration.
    pub ended: Option<String>,
    /// Steps since the scene began.
    pub step: u64,
    /// Simulated time [s].
    pub time: f64,
    /// Grains or particles at the end.
    pub pieces: usize,
    /// Frames in the folder.
    pub frames: u64,
    /// Wall-clock time of this run [s].
    pub seconds: f64,
    /// Spheres or particles times steps done by this run.
    pub work_steps: f64,
    /// Hash of the last state.
    pub hash: u64,
    /// The checkpoint to go on from.
    pub checkpoint: PathBuf,
    /// Time spent in every stage by this run: who, and what it did.
    pub stages: Vec<(&'static str, StageTime)>,
    /// What sinks took and what left, by name.
    pub tallies: Vec<(String, Tally)>,
    /// The account of grains and ground, where there is one, and by how much its balance has changed in this run [kg].
    pub ground: Option<(Account, f64)>,
    /// What solvers and couplings watch, at the end.
    pub gauges: Vec<Gauge>,
}

/// A world with a folder to write into.
pub struct Run {
    world: World,
    folder: Folder,
    frames: FrameWriter,
    rows: Vec<Rows>,
    last_checkpoint: Option<(PathBuf, f64)>,
    /// Why the newest checkpoint was passed over for the one before it.
    passed_over: Option<String>,
    /// Measurements whose earlier rows are gone.
    lost: Vec<PathBuf>,
    fresh: bool,
    timers: Timers<Stage>,
}

/// Builds the world of a scene with the state of a checkpoint.
type Restore<'a> = dyn Fn(&Parsed, &Checkpoint) -> Result<Result<World, SceneErrors>, CheckpointError> + 'a;

barchan_core::stages! {
    /// What a run does besides stepping.
    enum Stage {
        /// Rows and frames are handed to the disk.
        Write = "write",
        /// A checkpoint is written.
        Checkpoint = "checkpoint",
    }
}

impl Run {
    /// A new run into `out`. A folder that holds a run, or files that the run would write over, is refused, unless `force`, which removes
    /// these.
    pub fn start(world: World, out: &Path, force: bool) -> Result<Run, RunError> {
        let folder = Folder::create(out, force, &world)?;
        let written = |e: OutputError| RunError::Output { source: Box::new(e), checkpoint: None };
        folder.write_scene(&world.plan().scene).map_err(|e| written(e.into()))?;
        copies::keep(&world.plan().meshes, out).map_err(|e| written(e.into()))?;
        let frames = FrameWriter::new(out, &formats(&world), None).map_err(|e| written(e.into()))?;
        let rows = |m: &crate::world::Measurement| Rows::new(m, &folder.table(&m.name), &world, false);
        let rows = world.measurements().iter().map(rows).collect::<Result<_, _>>().map_err(written)?;
        if let Some(cache) = cache::folder() {
            kept::write(&world, &kept::folder(cache));
        }
        Ok(Run {
            world,
            folder,
            frames,
            rows,
            last_checkpoint: None,
            passed_over: None,
            lost: Vec::new(),
            fresh: true,
            timers: Timers::default(),
        })
    }

    /// Goes on with the run in `folder`, from its last good checkpoint, to its duration or another one [s].
    pub fn resume(folder: &Path, duration: Option<f64>) -> Result<Run, RunError> {
        Run::resume_with(folder, duration, &|parsed, checkpoint| assemble::restore(parsed, checkpoint))
    }

    /// The same on another device than that of the run so far.
    pub fn resume_on(folder: &Path, duration: Option<f64>, device: Device) -> Result<Run, RunError> {
        Run::resume_with(folder, duration, &|parsed, checkpoint| assemble::restore_on(parsed, checkpoint, device))
    }

    /// The same for a run whose matter is computed by these methods.
    pub fn resume_as(folder: &Path, duration: Option<f64>, methods: &[&Method]) -> Result<Run, RunError> {
        Run::resume_with(folder, duration, &|parsed, checkpoint| {
            assemble::restore_as(parsed, checkpoint, methods, true)
        })
    }

    fn resume_with(folder: &Path, duration: Option<f64>, restore: &Restore<'_>) -> Result<Run, RunError> {
        let (folder, note, scene) = Folder::open(folder)?;
        let checkpoint = Checkpoint::newest(folder.path())?;
        if checkpoint.u64s("world/scene", 1)? != [fingerprint(&scene)] {
            return Err(RunError::SceneChanged { scene: folder.scene() });
        }
        let parsed = meshes::load(&scene, &note.name, folder.path()).map_err(RunError::Scene)?;
        let mut world = restore(&parsed, &checkpoint)?.map_err(RunError::Scene)?;
        world.set_duration(valid(duration.unwrap_or(note.duration))?);
        if world.steps() >= world.plan().steps() {
            let (folder, time) = (folder.path().to_owned(), world.time());
            return Err(RunError::AtEnd { folder, time, duration: world.plan().duration });
        }
        let last_checkpoint = Some((checkpoint.path().to_owned(), world.time()));
        let written = |e: OutputError| RunError::Output { source: Box::new(e), checkpoint: last_checkpoint.clone() };
        let time = world.time();
        // The frame that ended a shorter run is none of the longer one.
        let rhythm = world.plan().frames().due(world.steps());
        let kept = if rhythm { time } else { time - 0.5 * world.plan().dt };
        let frames = FrameWriter::new(folder.path(), &formats(&world), Some(kept)).map_err(|e| written(e.into()))?;
        let rows = |m: &crate::world::Measurement| Rows::new(m, &folder.table(&m.name), &world, true);
        let rows = world.measurements().iter().map(rows).collect::<Result<Vec<Rows>, _>>().map_err(written)?;
        let bereft = world.measurements().iter().zip(&rows).filter(|(m, rows)| rows.lost(m, &world));
        let lost = bereft.map(|(m, _)| folder.table(&m.name)).collect();
        let passed_over = checkpoint.passed_over.map(|e| e.to_string());
        let timers = Timers::default();
        Ok(Run { world, folder, frames, rows, last_checkpoint, passed_over, lost, fresh: false, timers })
    }

    /// The world.
    pub fn world(&self) -> &World {
        &self.world
    }

    /// Why the newest checkpoint could not be used and the one before it was.
    pub fn passed_over(&self) -> Option<&str> {
        self.passed_over.as_deref()
    }

    /// Tables of a resumed run whose rows from before are gone, and which begin anew; images in place of a table are told by the name it
    /// would have.
    pub fn lost(&self) -> &[PathBuf] {
        &self.lost
    }

    /// Runs to the end of the duration, or until asked to stop. The checkpoint at the end lets [`Run::resume`] go on.
    pub fn go(self, options: RunOptions<'_>) -> Result<RunReport, RunError> {
        // On one of the threads that share the steps: woken once, not at every pass.
        rayon::scope(|_| self.run(options))
    }

    fn run(mut self, mut options: RunOptions<'_>) -> Result<RunReport, RunError> {
        let (steps, begun) = (self.world.plan().steps(), Instant::now());
        self.world.run_ahead();
        let asked = |options: &RunOptions<'_>| options.stop.is_some_and(|s| s.load(Ordering::Relaxed));
        let checkpoints = self.world.plan().checkpoint_every.map(|every| Schedule::new(every, self.world.plan().dt));
        let mut meter = Meter::new(&self.world);
        let balance = self.world.balance();
        let (mut saved, mut patience) = (Instant::now(), FIRST_CHECKPOINT_AFTER);
        if self.fresh {
            if self.world.steps() > 0 && !self.due() && !self.world.plan().formats.is_empty() {
                // It began with the state of another run.
                self.frames.write(self.world.frame()).map_err(|e| self.failed(e.into()))?;
            }
            self.record().map_err(|e| self.failed(e))?;
            self.save(Status::Running).map_err(|e| self.failed(e))?;
        }
        let stops: Vec<Stop> = self.world.plan().stop.iter().chain(&options.until).cloned().collect();
        let mut ended = None;
        while self.world.steps() < steps && !asked(&options) && ended.is_none() {
            if let Err(source) = self.world.step() {
                let (time, checkpoint) = (self.world.time(), self.last_checkpoint);
                return Err(RunError::World { source, time, checkpoint });
            }
            meter.count(&self.world);
            if self.world.steps().is_multiple_of(LOOK_EVERY) {
                ended = stops.iter().find_map(|stop| self.world.meets(stop));
            }
            self.record().map_err(|e| self.failed(e))?;
            let due = checkpoints.is_some_and(|c| c.due(self.world.steps())) || saved.elapsed() > patience;
            if due && self.world.steps() < steps {
                // What was put off and fails must not become a checkpoint.
                if let Err(source) = self.world.settle() {
                    let (time, checkpoint) = (self.world.time(), self.last_checkpoint);
                    return Err(RunError::World { source, time, checkpoint });
                }
                self.save(Status::Running).map_err(|e| self.failed(e))?;
                (saved, patience) = (Instant::now(), CHECKPOINT_AFTER);
            }
            if let Some(tell) = options.on_progress.as_mut().filter(|_| meter.is_due()) {
                tell(&meter.progress(&self.world, steps, self.frames.next_number(), begun));
            }
        }
        if let Err(source) = self.world.settle() {
            let (time, checkpoint) = (self.world.time(), self.last_checkpoint);
            return Err(RunError::World { source, time, checkpoint });
        }
        if ended.is_some() && !self.due() && !self.world.plan().formats.is_empty() {
            // What a run ends with is what it was for.
            self.frames.write(self.world.frame()).map_err(|e| self.failed(e.into()))?;
        }
        let done = self.world.steps() >= steps || ended.is_some();
        let status = if done { Status::Finished } else { Status::Stopped };
        self.save(status).map_err(|e| self.failed(e))?;
        let stages = self.stages();
        let drift = balance.zip(self.world.balance()).map(|(before, after)| after - before);
        Ok(RunReport {
            status,
            ended,
            step: self.world.steps(),
            time: self.world.time(),
            pieces: self.world.pieces(),
            frames: self.frames.next_number(),
            seconds: begun.elapsed().as_secs_f64(),
            work_steps: meter.work_steps,
            hash: self.world.hash(),
            checkpoint: self.last_checkpoint.map(|(path, _)| path).unwrap_or_default(),
            stages,
            tallies: self.world.tallies().into_iter().map(|(name, t)| (name.to_owned(), t)).collect(),
            ground: self.world.account().zip(drift),
            gauges: self.world.totals().gauges,
        })
    }

    /// Time spent in every stage so far: the world's, and this run's own.
    fn stages(&self) -> Vec<(&'static str, StageTime)> {
        let own = self.timers.times().iter().map(|&t| ("run", t));
        self.world.stages().into_iter().chain(own).collect()
    }

    fn failed(&self, source: OutputError) -> RunError {
        RunError::Output { source: Box::new(source), checkpoint: self.last_checkpoint.clone() }
    }

    /// Writes the rows and the frame of this step.
    fn record(&mut self) -> Result<(), OutputError> {
        let frame = self.due();
        if self.world.rows().is_empty() && !frame {
            return Ok(());
        }
        let begun = Instant::now();
        for row in self.world.rows() {
            self.rows[row.measurement].append(&row.values)?;
        }
        if frame {
            self.frames.write(self.world.frame())?;
        }
        self.timers.ran(Stage::Write, begun);
        Ok(())
    }

    /// Whether a frame is due at this step.
    fn due(&self) -> bool {
        let plan = self.world.plan();
        !plan.formats.is_empty() && plan.frame_due(self.world.steps())
    }

    /// Writes the rasters and texts that measurements have gathered, each into the folder of its measurement.
    fn write_maps(&mut self) -> Result<(), OutputError> {
        let name = Path::new(&self.world.plan().name).file_stem().unwrap_or_default().to_string_lossy().into_owned();
        for m in self.world.measurements() {
            let (rasters, texts) = (m.observer.rasters(&name), m.observer.texts(&name));
            let folder = self.folder.path().join(&m.name);
            if !rasters.is_empty() || !texts.is_empty() {
                atomic::create_folder(&folder)?;
            }
            for (file, raster) in rasters {
                raster.write(&folder.join(file))?;
            }
            for (file, text) in texts {
                atomic::write(&folder.join(file), text.as_bytes())?;
            }
        }
        Ok(())
    }

    /// Brings everything to the disk, the checkpoint last: what it names is then there.
    fn save(&mut self, status: Status) -> Result<(), OutputError> {
        let begun = Instant::now();
        for rows in &mut self.rows {
            rows.sync()?;
        }
        self.frames.flush()?;
        self.write_maps()?;
        let mut checkpoint = CheckpointWriter::default();
        self.world.save(&mut checkpoint);
        let path = checkpoint.write(self.folder.path())?;
        self.last_checkpoint = Some((path, self.world.time()));
        self.folder.write_note(&self.world, status)?;
        self.timers.ran(Stage::Checkpoint, begun);
        Ok(())
    }
}

/// Runs a world into a new folder: [`Run::start`] and [`Run::go`] in one.
pub fn run(world: World, out: impl AsRef<Path>, options: RunOptions<'_>) -> Result<RunReport, RunError> {
    Run::start(world, out.as_ref(), false)?.go(options)
}

/// The shapes of a scene, by the index that its frames have them under.
pub fn shapes(parsed: &Parsed) -> Arc<[Shape]> {
    // A shape that cannot be made has kept the scene from running.
    assemble::shapes(parsed, &mut Vec::new()).0.into()
}

fn valid(duration: f64) -> Result<f64, RunError> {
    if duration.is_finite() && duration > 0.0 { Ok(duration) } else { Err(RunError::Duration(duration)) }
}

fn formats(world: &World) -> Vec<Format> {
    // A test holds the scene's names against those of the writer.
    world.plan().formats.iter().filter_map(|f| Format::named(f.name())).collect()
}

fn columns(m: &crate::world::Measurement) -> Vec<Column> {
    [vec![Column::new("time", "s")], m.observer.columns()].concat()
}

/// Measures the pace of a run.
struct Meter {
    work_steps: f64,
    piece_steps: f64,
    /// At the last report: instant, piece-steps, step.
    last: (Instant, f64, u64),
}

impl Meter {
    fn new(world: &World) -> Meter {
        Meter { work_steps: 0.0, piece_steps: 0.0, last: (Instant::now(), 0.0, world.steps()) }
    }

    fn count(&mut self, world: &World) {
        self.work_steps += world.work() as f64;
        self.piece_steps += world.pieces() as f64;
    }

    fn is_due(&self) -> bool {
        self.last.0.elapsed() >= PROGRESS_EVERY
    }

    fn progress(&mut self, world: &World, steps: u64, frames: u64, begun: Instant) -> Progress {
        let (step, totals) = (world.steps(), world.totals());
        let span = self.last.0.elapsed().as_secs_f64();
        let steps_per_second = (step - self.last.2) as f64 / span;
        let piece_steps_per_second = (self.piece_steps - self.last.1) / span;
        self.last = (Instant::now(), self.piece_steps, step);
        Progress {
            step,
            steps,
            time: world.time(),
            pieces: world.pieces(),
            frames,
            seconds: begun.elapsed().as_secs_f64(),
            piece_steps_per_second,
            real_time: steps_per_second * world.plan().dt,
            seconds_left: (steps - step) as f64 / steps_per_second,
            kinetic: totals.energies.kinetic(),
            gauges: totals.gauges,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_format_a_scene_can_name_has_a_writer() {
        for (name, format) in barchan_scene::Format::NAMES {
            assert!(Format::named(format.name()).is_some(), "nobody writes `{name}`");
        }
    }
}
