//! A film of what is seen: pictures and views go to a thread with a renderer of its own, which draws and writes them.
//! The window never waits for it; a thread that lags repeats pictures, so that the film keeps the clock's time.

use barchan_io::film::Film;
use barchan_render::legend::Bar;
use barchan_render::{CpuRenderer, GpuRenderer, Legend, Light, Picture, Quality, Renderer, View};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Pictures a second of the film.
const RATE: f64 = 30.0;
/// Pictures that may wait to be drawn.
const WAITING: usize = 3;

/// What one picture of the film shows.
pub struct Shot {
    /// The picture.
    pub picture: Picture,
    /// From where; its size is replaced by the film's.
    pub view: View,
    /// In which light.
    pub light: Light,
    /// What the colours mean.
    pub bar: Option<Bar>,
    /// Simulated time [s].
    pub time: f64,
}

/// A film under way.
pub struct Recording {
    shots: SyncSender<(Shot, u64)>,
    thread: JoinHandle<Result<(), String>>,
    path: PathBuf,
    begun: Instant,
    /// Pictures of the film sent so far.
    sent: u64,
}

impl Recording {
    /// Begins a film of that size, rounded to even numbers.
    pub fn begin(path: &Path, size: [u32; 2]) -> Result<Recording, String> {
        let size = size.map(|n| (n & !1).clamp(64, 3840));
        if let Some(parent) = path.parent() {
            barchan_io::atomic::create_folder(parent).map_err(|e| e.to_string())?;
        }
        let film = Film::create(path, size[0], size[1], RATE).map_err(|e| e.to_string())?;
        let (shots, inbox) = sync_channel(WAITING);
        let thread = std::thread::Builder::new().name("record".into()).spawn(move || write(film, size, &inbox));
        let thread = thread.map_err(|e| format!("the recording's thread could not be started: {e}"))?;
        Ok(Recording { shots, thread, path: path.into(), begun: Instant::now(), sent: 0 })
    }

    /// Whether a picture is due.
    pub fn is_due(&self) -> bool {
        (self.begun.elapsed().as_secs_f64() * RATE) as u64 >= self.sent
    }

    /// Adds what is seen now, for as long as it has been due.
    pub fn add(&mut self, shot: Shot) {
        let due = (self.begun.elapsed().as_secs_f64() * RATE) as u64 + 1;
        let times = due.saturating_sub(self.sent);
        if times == 0 {
            return;
        }
        match self.shots.try_send((shot, times)) {
            Ok(()) => self.sent = due,
            // The thread is behind: the next picture stands for this one too. Or it failed, and will say so at the end.
            Err(TrySendError::Full(_) | TrySendError::Disconnected(_)) => {}
        }
    }

    /// How long it has run.
    pub fn length(&self) -> Duration {
        self.begun.elapsed()
    }

    /// Whether the thread has ended by itself, which it does if it fails.
    pub fn has_ended(&self) -> bool {
        self.thread.is_finished()
    }

    /// Ends the film; what it says comes when the last pictures are written, through the given door.
    pub fn finish(self, tell: impl FnOnce(Result<PathBuf, String>) + Send + 'static) {
        let Recording { shots, thread, path, .. } = self;
        drop(shots);
        let wait = move || {
            let done = thread.join().unwrap_or_else(|_| Err("the recording broke off".into()));
            tell(done.map(|()| path));
        };
        // Without another thread the film is still finished by the one that writes it; only the word is lost.
        let _ = std::thread::Builder::new().name("record end".into()).spawn(wait);
    }
}

fn write(mut film: Film, size: [u32; 2], inbox: &Receiver<(Shot, u64)>) -> Result<(), String> {
    let mut renderer: Box<dyn Renderer> = match GpuRenderer::new() {
        Ok(gpu) => Box::new(gpu),
        Err(_) => Box::new(CpuRenderer::default()),
    };
    while let Ok((shot, times)) = inbox.recv() {
        let view = View { size, ..shot.view };
        let drawn = renderer.draw(&shot.picture, &view, &shot.light, &Quality::default());
        let mut image = drawn.map_err(|e| e.to_string())?;
        Legend { bar: shot.bar, time: Some(shot.time), speed: None }.draw(&mut image);
        for _ in 0..times {
            film.push(&image.rgba).map_err(|e| e.to_string())?;
        }
    }
    film.finish().map_err(|e| e.to_string())
}
