//! The folder of a run: what lies where, who may write, and the note that lets a run go on without its command line.
//!
//! | file | what |
//! |---|---|
//! | `run.toml` | this note: scene, duration, how far the run is |
//! | `scene.toml` | the scene as it was run |
//! | `frames/`, `frames.pvd` | frames |
//! | `NAME.csv` | a measurement each; one of fields on a grid has `NAME/` and `NAME.pvd` |
//! | `meshes/` | copies of the files that the scene names |
//! | `checkpoint.barchan`, `checkpoint-previous.barchan` | the newest state, and the one before it |
//! | `run.lock` | held while a run writes |

use super::RunError;
use crate::copies;
use crate::world::{Measurement, World};
use barchan_io::atomic::{self, FileError};
use fs4::FileExt;
use std::fs::File;
use std::path::{Path, PathBuf};

const NOTE: &str = "run.toml";
const SCENE: &str = "scene.toml";
const LOCK: &str = "run.lock";

/// How a run stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// Under way, or ended without a word.
    Running,
    /// Asked to stop.
    Stopped,
    /// At its end.
    Finished,
}

/// What `run.toml` says.
#[derive(Clone, Debug, PartialEq)]
pub struct Note {
    /// Name of the scene.
    pub name: String,
    /// Simulated time to reach [s].
    pub duration: f64,
    /// Names of the measurements.
    pub measurements: Vec<String>,
}

impl Note {
    fn read(folder: &Path) -> Result<Option<Note>, RunError> {
        let path = folder.join(NOTE);
        let Some(text) = read_if_there(&path)? else { return Ok(None) };
        let damaged = || RunError::Note { path: path.clone() };
        let table: toml::Table = text.parse().map_err(|_| damaged())?;
        let names = table.get("measurements").and_then(|m| m.as_array()).map(Vec::as_slice).unwrap_or_default();
        Ok(Some(Note {
            name: table.get("name").and_then(|n| n.as_str()).ok_or_else(damaged)?.into(),
            duration: table.get("duration").and_then(|d| d.as_float()).ok_or_else(damaged)?,
            measurements: names.iter().filter_map(|n| n.as_str()).map(String::from).collect(),
        }))
    }
}

fn read_if_there(path: &Path) -> Result<Option<String>, FileError> {
    match std::fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(e) => Err(FileError::new("read", path, e)),
    }
}

/// A run's folder, locked for as long as this lives.
#[derive(Debug)]
pub(super) struct Folder {
    path: PathBuf,
    _lock: File,
}

impl Folder {
    fn lock(path: &Path) -> Result<Folder, RunError> {
        let file = path.join(LOCK);
        let lock = File::options().create(true).truncate(false).write(true).open(&file);
        let lock = lock.map_err(|e| FileError::new("write", &file, e))?;
        match FileExt::try_lock(&lock) {
            Ok(()) => Ok(Folder { path: path.into(), _lock: lock }),
            Err(fs4::TryLockError::WouldBlock) => Err(RunError::Locked { folder: path.into() }),
            // Some network drives know no locks; a run there is better than none.
            Err(fs4::TryLockError::Error(_)) => Ok(Folder { path: path.into(), _lock: lock }),
        }
    }

    /// A folder for a new run of a world. What an earlier run left there, and what the new one would write over, is removed if `force`
    /// says so; other files never.
    pub fn create(path: &Path, force: bool, world: &World) -> Result<Folder, RunError> {
        atomic::create_folder(path)?;
        let locked_before = path.join(LOCK).exists();
        let folder = Folder::lock(path)?;
        let earlier = match Note::read(path) {
            // A note that cannot be read is still a sign of a run.
            Err(RunError::Note { .. }) => Some(Note { name: String::new(), duration: 0.0, measurements: vec![] }),
            other => other?,
        };
        if let Some(note) = earlier {
            if !force {
                return Err(RunError::Exists { folder: path.into() });
            }
            folder.clear(&note)?;
        }
        let files = folder.in_the_way(world)?;
        if !files.is_empty() {
            if !force {
                if !locked_before {
                    // A folder that is left alone is left as it was. Who waits for the lock meanwhile gets a file without a name.
                    let _ = std::fs::remove_file(path.join(LOCK));
                }
                return Err(RunError::InTheWay { folder: path.into(), files });
            }
            let measurements = world.measurements().iter().map(|m| m.name.clone()).collect();
            folder.clear(&Note { name: String::new(), duration: 0.0, measurements })?;
        }
        Ok(folder)
    }

    /// Files that a run of the world would write over.
    fn in_the_way(&self, world: &World) -> Result<Vec<PathBuf>, RunError> {
        let table = |m: &Measurement| {
            let table = self.table(&m.name);
            if m.observer.grid().is_some() { super::rows::images(&table) } else { vec![table] }
        };
        let own = [SCENE].iter().chain(&crate::checkpoint::FILES).map(|f| self.path.join(f));
        let files = own.chain([copies::index(&self.path)]).chain(world.measurements().iter().flat_map(table));
        let mut files: Vec<PathBuf> = files.filter(|f| f.symlink_metadata().is_ok()).collect();
        files.extend(barchan_io::writer::present(&self.path)?);
        Ok(files)
    }

    fn clear(&self, note: &Note) -> Result<(), RunError> {
        barchan_io::writer::clear(&self.path)?;
        for measurement in &note.measurements {
            super::rows::clear(&self.table(measurement))?;
        }
        let tables = note.measurements.iter().map(|m| self.table(m));
        let states = crate::checkpoint::FILES.iter().chain(&[SCENE, NOTE]).map(|f| self.path.join(f));
        // The note goes last: a folder half cleared still says that it holds a run.
        for file in tables.chain(states) {
            match std::fs::remove_file(&file) {
                Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
                    return Err(FileError::new("remove", &file, e).into());
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// The folder of a run that is to go on: its note and its scene.
    pub fn open(path: &Path) -> Result<(Folder, Note, String), RunError> {
        if path.is_file() {
            let folder = path.parent().filter(|p| p.join(NOTE).is_file()).map(PathBuf::from);
            return Err(RunError::NotAFolder { path: path.into(), folder });
        }
        let none = || RunError::NotARun { folder: path.into() };
        let note = Note::read(path)?.ok_or_else(none)?;
        let folder = Folder::lock(path)?;
        let scene = read_if_there(&path.join(SCENE))?.ok_or_else(none)?;
        Ok((folder, note, scene))
    }

    /// Path of the folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The scene's copy.
    pub fn scene(&self) -> PathBuf {
        self.path.join(SCENE)
    }

    /// File of a measurement.
    pub fn table(&self, measurement: &str) -> PathBuf {
        // A name is the user's; a slash in it must not lead out of the folder.
        let stem = measurement.replace(|c: char| !(c.is_alphanumeric() || "-_. ".contains(c)), "_");
        self.path.join(format!("{}.csv", stem.trim_start_matches('.')))
    }

    /// Writes the scene's copy.
    pub fn write_scene(&self, scene: &str) -> Result<(), FileError> {
        atomic::write(&self.path.join(SCENE), scene.as_bytes())
    }

    /// Writes the note.
    pub fn write_note(&self, world: &World, status: Status) -> Result<(), FileError> {
        let plan = world.plan();
        let status = match status {
            Status::Running => "running",
            Status::Stopped => "stopped",
            Status::Finished => "finished",
        };
        let names = world.measurements().iter().map(|m| m.name.clone().into()).collect();
        let mut table = toml::Table::new();
        table.insert("barchan".into(), env!("CARGO_PKG_VERSION").into());
        table.insert("name".into(), plan.name.clone().into());
        table.insert("duration".into(), plan.duration.into());
        table.insert("dt".into(), plan.dt.into());
        table.insert("status".into(), status.into());
        table.insert("step".into(), (world.steps() as i64).into());
        table.insert("time".into(), world.time().into());
        table.insert("grains".into(), (world.pieces() as i64).into());
        table.insert("measurements".into(), toml::Value::Array(names));
        let text = format!("# A run of barchan. Go on with: barchan run --resume FOLDER\n{table}");
        atomic::write(&self.path.join(NOTE), text.as_bytes())
    }
}
