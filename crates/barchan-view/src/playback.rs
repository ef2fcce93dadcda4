//! A finished run, played back: frames are read in the background, ahead of where the bar stands.

use barchan_core::frame::Frame;
use barchan_core::shapes::Shape;
use barchan_engine::{load, shapes};
use barchan_io::frames::{Stored, stored};
use barchan_scene::Parsed;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// Frames kept in memory around the one that is shown.
const AHEAD: usize = 24;
const BEHIND: usize = 8;

/// What the reader has found so far.
#[derive(Default)]
struct Found {
    scene: Option<Arc<Parsed>>,
    frames: Arc<Vec<Stored>>,
    ready: BTreeMap<usize, Arc<Frame>>,
    /// Rows of frames that cannot be read.
    broken: Vec<usize>,
    /// What is missing or damaged, in words.
    notes: Vec<String>,
    failed: Option<String>,
    at: usize,
}

#[derive(Default)]
struct Shared {
    found: Mutex<Found>,
    moved: Condvar,
    over: AtomicBool,
}

impl Shared {
    fn found(&self) -> MutexGuard<'_, Found> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A run that is played back.
pub struct Playback {
    shared: Arc<Shared>,
    /// Whether it goes on by itself.
    pub playing: bool,
    /// Time that is shown [s].
    time: f64,
    /// Simulated seconds a second.
    pub speed: f64,
}

impl Playback {
    /// Opens the folder of a run; its files are read by another thread, which calls `wake` whenever it has read one.
    pub fn open(folder: &Path, wake: impl Fn() + Send + 'static) -> Playback {
        let shared = Arc::new(Shared::default());
        let (to, folder) = (shared.clone(), folder.to_owned());
        let work = move || read(&folder, &to, &wake);
        if let Err(e) = std::thread::Builder::new().name("playback".into()).spawn(work) {
            shared.found().failed = Some(format!("the thread that reads frames could not be started: {e}"));
        }
        Playback { shared, playing: true, time: f64::NEG_INFINITY, speed: 0.25 }
    }

    /// The scene of the run, once it is read.
    pub fn scene(&self) -> Option<Arc<Parsed>> {
        self.shared.found().scene.clone()
    }

    /// Why nothing can be shown.
    pub fn failed(&self) -> Option<String> {
        self.shared.found().failed.clone()
    }

    /// Frames that are missing or damaged, in words.
    pub fn notes(&self) -> Vec<String> {
        self.shared.found().notes.clone()
    }

    /// Times of the first and the last frame [s]; none before they are known.
    pub fn span(&self) -> Option<[f64; 2]> {
        let frames = self.shared.found().frames.clone();
        Some([frames.first()?.time, frames.last()?.time])
    }

    /// Row of the frame that is due, and how many there are.
    pub fn place(&self) -> (usize, usize) {
        let found = self.shared.found();
        (found.at, found.frames.len())
    }

    /// Time that is shown [s].
    pub fn time(&self) -> f64 {
        let span = self.span().unwrap_or([0.0, 0.0]);
        self.time.clamp(span[0], span[1])
    }

    /// Goes on by so much wall-clock time [s]; stands still at the end.
    pub fn advance(&mut self, seconds: f64) {
        let Some([from, to]) = self.span() else { return };
        if !self.playing {
            return;
        }
        self.seek(self.time.max(from) + seconds * self.speed);
        self.playing = self.time < to;
    }

    /// Shows another time [s].
    pub fn seek(&mut self, time: f64) {
        let Some([from, to]) = self.span() else { return };
        self.time = time.clamp(from, to);
        let mut found = self.shared.found();
        let at = found.frames.partition_point(|f| f.time <= self.time).saturating_sub(1);
        if at != found.at {
            found.at = at;
            self.shared.moved.notify_one();
        }
    }

    /// Goes some frames on, or back, and stands still.
    pub fn step(&mut self, by: isize) {
        self.playing = false;
        let time = {
            let found = self.shared.found();
            let row = found.at.saturating_add_signed(by).min(found.frames.len().saturating_sub(1));
            found.frames.get(row).map(|f| f.time)
        };
        if let Some(time) = time {
            self.seek(time);
        }
    }

    /// The frame that is due or, where that is damaged or not read yet, the nearest before it that is.
    pub fn frame(&self) -> Option<Arc<Frame>> {
        let found = self.shared.found();
        let before = found.ready.range(..=found.at).next_back();
        before.or_else(|| found.ready.iter().next()).map(|(_, f)| f.clone())
    }

    /// Sets a speed with which the whole run lasts some ten seconds, in steps of a factor of two.
    pub fn suit_speed(&mut self) {
        if let Some([from, to]) = self.span() {
            self.speed = ((to - from) / 10.0).log2().round().exp2().clamp(1.0 / 1024.0, 8.0);
        }
    }
}

impl Drop for Playback {
    fn drop(&mut self) {
        self.shared.over.store(true, Ordering::Relaxed);
        self.shared.moved.notify_one();
    }
}

/// Whether a folder is that of a run.
pub fn is_run(path: &Path) -> bool {
    path.is_dir() && path.join("run.toml").is_file()
}

fn read(folder: &Path, shared: &Shared, wake: &dyn Fn()) {
    let begun = scene(folder).and_then(|scene| {
        let listed = stored(folder).map_err(|e| e.to_string())?;
        Ok((scene, listed))
    });
    let ((scene, shapes), (frames, damaged)) = match begun {
        Ok(found) => found,
        Err(message) => {
            shared.found().failed = Some(message);
            wake();
            return;
        }
    };
    {
        let mut found = shared.found();
        found.notes = damaged.iter().map(ToString::to_string).collect();
        found.notes.extend(missing(&frames, damaged.len()));
        if frames.is_empty() {
            found.failed = Some(format!(
                "{} has no frames to show: let the scene write them (output.formats = [\"vtk\"]) and run it again",
                folder.display()
            ));
        }
        (found.scene, found.frames) = (Some(scene), Arc::new(frames));
    }
    wake();
    let mut found = shared.found();
    while !shared.over.load(Ordering::Relaxed) {
        let window = found.at.saturating_sub(BEHIND)..(found.at + AHEAD).min(found.frames.len());
        found.ready.retain(|row, _| window.contains(row));
        let (ready, broken) = (&found.ready, &found.broken);
        let next = (found.at..window.end)
            .chain(window.start..found.at)
            .find(|row| !ready.contains_key(row) && !broken.contains(row));
        let Some(row) = next else {
            found = shared.moved.wait(found).unwrap_or_else(PoisonError::into_inner);
            continue;
        };
        let frames = found.frames.clone();
        drop(found);
        let frame = frames[row].read(&shapes);
        found = shared.found();
        match frame {
            Ok(frame) => {
                found.ready.insert(row, Arc::new(frame));
            }
            Err(e) => {
                found.broken.push(row);
                found.notes.push(e.to_string());
            }
        }
        drop(found);
        wake();
        found = shared.found();
    }
}

/// The scene of a run, and the shapes of its grains.
fn scene(folder: &Path) -> Result<(Arc<Parsed>, Arc<[Shape]>), String> {
    let path: PathBuf = folder.join("scene.toml");
    let text = std::fs::read_to_string(&path).map_err(|e| format!("{} cannot be read: {e}", path.display()))?;
    let parsed = load(&text, &path.to_string_lossy(), folder);
    let parsed = parsed.map_err(|problems| problems.listing())?;
    let shapes = shapes(&parsed);
    Ok((Arc::new(parsed), shapes))
}

/// Numbers left out between the first and the last frame, beyond those known to be damaged.
fn missing(frames: &[Stored], damaged: usize) -> Option<String> {
    let (first, last) = (frames.iter().map(|f| f.number).min()?, frames.iter().map(|f| f.number).max()?);
    let there: std::collections::BTreeSet<u64> = frames.iter().map(|f| f.number).collect();
    let gaps: Vec<u64> = (first..=last).filter(|n| !there.contains(n)).collect();
    let many = gaps.len().saturating_sub(damaged);
    (many > 0).then(|| {
        let some: Vec<String> = gaps.iter().take(5).map(u64::to_string).collect();
        let more = if gaps.len() > 5 { ", …" } else { "" };
        format!("{many} frames are missing (numbers {}{more}): they are passed over", some.join(", "))
    })
}
