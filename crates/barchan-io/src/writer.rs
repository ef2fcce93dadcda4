//! Frames written on a thread of their own, so that a run does not wait for the disk.
//!
//! A run folder holds `frames/000123.vtp` (and `.ply`) by number, and `frames.pvd`, which gives ParaView their times. The ground,
//! where there is one, lies beside them as `.vts`, under the number of the frame in which it changed: a frame without a ground of its
//! own has that of the last one before it. Further populations, pairs, grids and surfaces have files of their own beside those of the
//! grains, `frames/sand_000123.vtp` (see `parts`). At
//! most two frames wait; a run that is faster than its disk then waits too, and memory stays bounded. An error is told
//! at the next call.

use crate::atomic::{self, FileError};
use crate::columns::FrameError;
use crate::parts::{self, GRID, Index};
use crate::vtk::{Packing, TimeSeries};
use crate::{frames, not_after, ply, sheet, vtk, vts, xyz};
use barchan_core::frame::Frame;
use barchan_core::relief::Relief;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{Builder, JoinHandle};

/// Frames that may wait for the disk.
const WAITING: usize = 2;
/// Folder of the frames within a run's folder.
pub(crate) const FRAMES: &str = "frames";
/// Time series of the `.vtp` frames within a run's folder.
const SERIES: &str = "frames.pvd";
/// Ending of the ground's files.
pub(crate) const GROUND: &str = "vts";

/// A kind of frame file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// `.vtp` for ParaView, with a `.pvd` beside the folder.
    Vtk(Packing),
    /// `.ply` points for effects tools.
    Ply,
    /// `.xyz` points for OVITO; barchan does not read them back.
    Xyz,
    /// `.csv` tables; barchan reads them back as packings alone.
    Csv,
}

impl Format {
    /// The name that scenes have for it, and the ending of its files.
    const ALL: [(&str, &str, Format); 4] = [
        ("vtk", "vtp", Format::Vtk(Packing::Raw)),
        ("ply", "ply", Format::Ply),
        ("xyz", xyz::EXTENSION, Format::Xyz),
        ("csv", sheet::EXTENSION, Format::Csv),
    ];

    /// The format of that name in a scene.
    pub fn named(name: &str) -> Option<Format> {
        Self::ALL.iter().find(|(known, ..)| *known == name).map(|(_, _, format)| *format)
    }

    /// Ending of the file's name.
    pub fn extension(self) -> &'static str {
        let same = |f: &Format| std::mem::discriminant(f) == std::mem::discriminant(&self);
        Self::ALL.iter().find(|(_, _, format)| same(format)).map_or("vtp", |(_, extension, _)| extension)
    }

    /// Bytes of a sphere or particle in a file, about: compressed columns and shortest decimals differ.
    pub fn bytes_per_sphere(self) -> f64 {
        match self {
            Format::Vtk(Packing::Raw) => 82.0,
            Format::Vtk(Packing::Zlib) => 60.0,
            Format::Ply => 34.0,
            Format::Xyz => 140.0,
            Format::Csv => 190.0,
        }
    }

    /// Writes a frame; grids only with `.vtp` where a run has both.
    fn write(self, path: &Path, frame: &Frame, beside_vtk: bool) -> Result<(), FrameError> {
        match self {
            Format::Vtk(packing) => vtk::write(path, frame, packing),
            Format::Ply if beside_vtk => ply::write_but_grids(path, frame),
            Format::Ply => ply::write(path, frame),
            Format::Xyz => xyz::write(path, frame),
            Format::Csv => sheet::write(path, frame),
        }
    }
}

/// Writes frames in the background.
#[derive(Debug)]
pub struct FrameWriter {
    /// Gone once the writer has failed or finished.
    running: Option<Running>,
    next: u64,
    last_time: Option<f64>,
}

#[derive(Debug)]
struct Running {
    jobs: SyncSender<Job>,
    thread: JoinHandle<Result<u64, FrameError>>,
}

#[derive(Debug)]
enum Job {
    Write(Box<Frame>),
    /// Answers once everything before it is on disk.
    Flush(SyncSender<()>),
}

impl FrameWriter {
    /// Starts writing into `folder/frames` in each of `formats`.
    ///
    /// A new run (`resume_time` is `None`) asks for a folder without frames; [`clear`] makes one. A resumed run continues
    /// the numbering, and frames later than `resume_time` [s], which it will write again, are removed.
    pub fn new(folder: impl AsRef<Path>, formats: &[Format], resume_time: Option<f64>) -> Result<Self, FrameError> {
        let folder = folder.as_ref();
        let frames = folder.join(FRAMES);
        atomic::create_folder(&frames)?;
        let found = list(&frames)?;
        let (mut kept, mut stale) = (Vec::new(), Vec::new());
        match resume_time {
            None if !found.is_empty() => {
                let count = found.iter().filter(|file| !file.part).count().max(1);
                return Err(FrameError::FramesExist { folder: frames, count });
            }
            None => {}
            Some(resume) => {
                for file in found {
                    let time = frames::read_time(&file.path)?;
                    if not_after(time, resume) { kept.push((time, file)) } else { stale.push(file) }
                }
            }
        }
        // The index first: whoever looks meanwhile, or after a crash, finds no name without a file.
        let with_series = formats.iter().any(|f| matches!(f, Format::Vtk(_))) || folder.join(SERIES).exists();
        let series = if with_series {
            let vtp = kept.iter().filter(|(_, file)| file.extension == "vtp" && !file.part);
            let grounds = || kept.iter().map(|(_, file)| file).filter(|file| file.extension == GROUND);
            let beside = |number: u64| kept.iter().map(|(_, file)| file).filter(move |f| f.part && f.number == number);
            let parts = |(time, file): &(f64, Found)| {
                let ground = ground_of(grounds(), file.number).map(|g| name(g.number, GROUND));
                let others = beside(file.number)
                    .filter(|f| matches!(f.extension, "vtp" | GRID))
                    .map(|f| listed(&f.path))
                    .collect();
                parts_of(name(file.number, "vtp"), ground, others).map(|part| (*time, part)).collect::<Vec<_>>()
            };
            Some(TimeSeries::create(folder.join(SERIES), vtp.flat_map(parts).collect())?)
        } else {
            None
        };
        for file in stale {
            fs::remove_file(&file.path).map_err(|e| FileError::new("remove", &file.path, e))?;
        }
        let next = kept.last().map_or(0, |(_, file)| file.number + 1);
        let last_time = kept.last().map(|(time, _)| *time);
        let worker = Worker { folder: folder.to_owned(), formats: formats.to_vec(), series, next, ground: None };
        let (jobs, receiver) = sync_channel(WAITING);
        let thread = Builder::new().name("frame writer".to_owned()).spawn(move || worker.run(receiver));
        let thread = thread.map_err(|e| FileError::new("start the thread that writes", &frames, e))?;
        Ok(FrameWriter { running: Some(Running { jobs, thread }), next, last_time })
    }

    /// Hands a frame over and returns its number; waits while two others are in line.
    ///
    /// An error is that of this or an earlier frame; after it the writer has stopped.
    pub fn write(&mut self, frame: Frame) -> Result<u64, FrameError> {
        let (number, time) = (self.next, frame.time);
        self.send(Job::Write(Box::new(frame)))?;
        self.next += 1;
        self.last_time = Some(time);
        Ok(number)
    }

    /// Waits until every frame handed over is on disk. Call it before a checkpoint is written: a run resumed from there
    /// then finds every frame up to its time.
    pub fn flush(&mut self) -> Result<(), FrameError> {
        let (done, wait) = sync_channel(1);
        self.send(Job::Flush(done))?;
        wait.recv().map_err(|_| self.stop().err().unwrap_or(FrameError::Stopped))
    }

    /// Waits until every frame is on disk and ends the thread. Returns the number of frames this writer has written.
    pub fn finish(mut self) -> Result<u64, FrameError> {
        self.stop()
    }

    /// Number the next frame will have.
    pub fn next_number(&self) -> u64 {
        self.next
    }

    /// Time of the last frame handed over, or found on resuming [s].
    pub fn last_time(&self) -> Option<f64> {
        self.last_time
    }

    fn send(&mut self, job: Job) -> Result<(), FrameError> {
        let Some(running) = &self.running else { return Err(FrameError::Stopped) };
        // The thread drops its end only when it has failed.
        running.jobs.send(job).map_err(|_| self.stop().err().unwrap_or(FrameError::Stopped))
    }

    fn stop(&mut self) -> Result<u64, FrameError> {
        let Some(Running { jobs, thread }) = self.running.take() else { return Err(FrameError::Stopped) };
        drop(jobs); // the thread ends when nothing can follow
        thread.join().unwrap_or(Err(FrameError::Stopped))
    }
}

impl Drop for FrameWriter {
    /// Frames in line are still written; for errors, call [`FrameWriter::finish`].
    fn drop(&mut self) {
        let _ = self.stop();
    }
}

/// The frames and the time series that lie in a folder.
pub fn present(folder: impl AsRef<Path>) -> Result<Vec<PathBuf>, FileError> {
    let folder = folder.as_ref();
    let series = Some(folder.join(SERIES)).filter(|path| path.exists());
    Ok(series.into_iter().chain(list(&folder.join(FRAMES))?.into_iter().map(|file| file.path)).collect())
}

/// Removes the frames and the time series of an earlier run from its folder; other files stay.
pub fn clear(folder: impl AsRef<Path>) -> Result<(), FileError> {
    for path in present(folder)? {
        match fs::remove_file(&path) {
            Err(e) if e.kind() != ErrorKind::NotFound => return Err(FileError::new("remove", path, e)),
            _ => {}
        }
    }
    Ok(())
}

/// The side of the thread.
struct Worker {
    folder: PathBuf,
    formats: Vec<Format>,
    series: Option<TimeSeries>,
    next: u64,
    /// The ground written last, and its name.
    ground: Option<(Arc<Relief>, String)>,
}

impl Worker {
    fn run(mut self, jobs: Receiver<Job>) -> Result<u64, FrameError> {
        let first = self.next;
        for job in jobs {
            match job {
                Job::Write(frame) => self.write(&frame)?,
                // Who asked may have gone.
                Job::Flush(done) => drop(done.send(())),
            }
        }
        Ok(self.next - first)
    }

    fn write(&mut self, frame: &Frame) -> Result<(), FrameError> {
        self.write_ground(frame)?;
        let with_vtk = self.formats.iter().any(|f| matches!(f, Format::Vtk(_)));
        for format in &self.formats {
            let name = name(self.next, format.extension());
            let path = self.folder.join(&name);
            format.write(&path, frame, with_vtk)?;
            if let (Format::Vtk(_), Some(series)) = (format, &mut self.series) {
                let ground = self.ground.as_ref().map(|(_, name)| name.clone());
                let index = Index::of(frame);
                let others = index.files().map(|(kind, part)| listed(&parts::path(&path, kind, part, "vtp"))).collect();
                series.extend(parts_of(name, ground, others).map(|part| (frame.time, part)))?;
            }
        }
        self.next += 1;
        Ok(())
    }

    /// Writes the ground, unless it is the one written last.
    fn write_ground(&mut self, frame: &Frame) -> Result<(), FrameError> {
        let Some(relief) = frame.ground.as_ref().filter(|relief| !relief.height.is_empty()) else { return Ok(()) };
        if self.ground.as_ref().is_some_and(|(last, _)| Arc::ptr_eq(last, relief) || last == relief) {
            return Ok(());
        }
        let name = name(self.next, GROUND);
        vts::write(&self.folder.join(&name), relief, frame.time)?;
        self.ground = Some((relief.clone(), name));
        Ok(())
    }
}

/// Name of a frame relative to the run's folder; with `/` on every system, as ParaView wants it.
fn name(number: u64, extension: &str) -> String {
    format!("{FRAMES}/{number:06}.{extension}")
}

/// Name of a file in the folder of frames relative to the run's folder.
fn listed(path: &Path) -> String {
    format!("{FRAMES}/{}", path.file_name().unwrap_or_default().to_string_lossy())
}

/// What the time series shows at one time: the frame's own file, the ground, and its other parts in the order of their files' names,
/// which a resumed run finds again.
fn parts_of(main: String, ground: Option<String>, mut others: Vec<String>) -> impl Iterator<Item = String> {
    others.sort();
    [main].into_iter().chain(ground).chain(others)
}

/// A file of a frame on disk.
pub(crate) struct Found {
    pub(crate) number: u64,
    pub(crate) extension: &'static str,
    pub(crate) path: PathBuf,
    /// Whether it holds a part of the frame that is neither grains nor ground.
    pub(crate) part: bool,
}

/// The ground of a frame of this number, of files in order of their numbers.
pub(crate) fn ground_of<'f>(grounds: impl IntoIterator<Item = &'f Found>, number: u64) -> Option<&'f Found> {
    grounds.into_iter().take_while(|ground| ground.number <= number).last()
}

/// The frames in a folder by number, with their grounds and parts; other files are not ours to count or remove.
pub(crate) fn list(folder: &Path) -> Result<Vec<Found>, FileError> {
    let failed = |e| FileError::new("read the folder", folder, e);
    let entries = match fs::read_dir(folder) {
        Err(e) if e.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(failed)?,
    };
    let mut found = Vec::new();
    for entry in entries {
        let path = entry.map_err(failed)?.path();
        let name = path.file_name().and_then(|n| n.to_str()).unwrap_or_default();
        let Some((stem, extension)) = name.rsplit_once('.') else { continue };
        let ours = Format::ALL.iter().map(|(_, extension, _)| *extension).chain([GROUND, GRID]);
        let Some(extension) = ours.into_iter().find(|e| *e == extension) else { continue };
        let own = stem.len() >= 6 && stem.bytes().all(|b| b.is_ascii_digit()) && extension != GRID;
        let part = !own && extension != GROUND;
        let number =
            if own { stem.parse().ok() } else { parts::number(stem).filter(|_| part && parts::is_ours(&path)) };
        if let Some(number) = number {
            found.push(Found { number, extension, path, part });
        }
    }
    found.sort_by(|a, b| (a.number, a.part, a.extension, &a.path).cmp(&(b.number, b.part, b.extension, &b.path)));
    Ok(found)
}
