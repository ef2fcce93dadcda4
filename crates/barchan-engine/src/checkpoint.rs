//! The checkpoint: all that a run needs to go on bit for bit, as named columns in one checksummed file.
//!
//! Two files are kept, the newest and the one before it. A new one is written whole before it takes the name of the
//! newest, so at any instant, power cut included, one of the two is good.

use barchan_core::columns::{Column, HASH_START};
use barchan_io::atomic::FileError;
use barchan_io::container::{Container, ContainerError, ContainerWriter};
use std::path::{Path, PathBuf};

/// Meaning of the sections; raised when they change.
pub(crate) const VERSION: u32 = 6;
const NEWEST: &str = "checkpoint.barchan";
const PREVIOUS: &str = "checkpoint-previous.barchan";
const NEXT: &str = "checkpoint-next.barchan";
/// Every file a checkpoint may take in its folder.
pub(crate) const FILES: [&str; 3] = [NEXT, NEWEST, PREVIOUS];

/// Why there is no checkpoint to go on from, or none could be written.
#[derive(Debug, thiserror::Error)]
pub enum CheckpointError {
    /// The file could not be written, or is damaged.
    #[error(transparent)]
    File(#[from] ContainerError),
    /// A folder without checkpoint.
    #[error("{folder} holds no checkpoint: start the run anew with `barchan run … -o {folder}`")]
    None {
        /// The folder.
        folder: String,
    },
    /// Written by another version.
    #[error(
        "{path} was written in version {found} of the checkpoint, this program reads {VERSION}: resume with the program that wrote it, or start the run anew with `barchan run`"
    )]
    Version {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: u32,
    },
    /// The state in the file is not that of this scene.
    #[error("{path} does not fit its scene: {what}; the scene of a run must not be changed")]
    Unfit {
        /// The file.
        path: PathBuf,
        /// What is missing or different.
        what: String,
    },
}

/// Hash (FNV-1a) of a text or a description: what tells a changed scene from the one a checkpoint was written for. It
/// must mean the same in every build, which the standard library's hasher does not promise.
pub(crate) fn fingerprint(text: &str) -> u64 {
    fingerprint_of(text.as_bytes())
}

/// [`fingerprint`] of any bytes.
pub(crate) fn fingerprint_of(bytes: &[u8]) -> u64 {
    bytes.iter().fold(HASH_START, |h, b| (h ^ u64::from(*b)).wrapping_mul(0x0100_0000_01b3))
}

/// Sections being collected.
pub struct CheckpointWriter(ContainerWriter);

impl Default for CheckpointWriter {
    fn default() -> Self {
        CheckpointWriter(ContainerWriter::new(VERSION))
    }
}

impl CheckpointWriter {
    /// Adds a column under a name of its own.
    pub fn put(&mut self, name: &str, column: &Column) {
        match column {
            Column::F64(v) => self.0.put_f64s(name, v),
            Column::F32(v) => self.0.put_f32s(name, v),
            Column::U32(v) => self.0.put_u32s(name, v),
            Column::U64(v) => self.0.put_u64s(name, v),
        };
    }

    /// Writes to one file, whole or not at all.
    pub fn write_to(&mut self, path: &Path) -> Result<(), CheckpointError> {
        Ok(self.0.write(path)?)
    }

    /// Writes the newest checkpoint of a folder and keeps the one before it.
    pub fn write(&mut self, folder: &Path) -> Result<PathBuf, CheckpointError> {
        let (newest, next) = (folder.join(NEWEST), folder.join(NEXT));
        let rename =
            |from: &Path, to: &Path| std::fs::rename(from, to).map_err(|e| FileError::new("rename", to, e).into());
        self.0.write(&next)?;
        if newest.exists() {
            rename(&newest, &folder.join(PREVIOUS)).map_err(CheckpointError::File)?;
        }
        rename(&next, &newest).map_err(CheckpointError::File)?;
        Ok(newest)
    }
}

/// A checkpoint that has been read and found whole.
pub struct Checkpoint {
    container: Container,
    /// The newer file that was passed over because it is damaged, and why.
    pub passed_over: Option<ContainerError>,
}

impl Checkpoint {
    /// Reads one file.
    pub fn read(path: &Path) -> Result<Checkpoint, CheckpointError> {
        let container = Container::read(path)?;
        match container.version() {
            VERSION => Ok(Checkpoint { container, passed_over: None }),
            found => Err(CheckpointError::Version { path: path.into(), found }),
        }
    }

    /// The newest good checkpoint of a folder.
    pub fn newest(folder: &Path) -> Result<Checkpoint, CheckpointError> {
        let there: Vec<PathBuf> =
            [NEXT, NEWEST, PREVIOUS].iter().map(|f| folder.join(f)).filter(|p| p.exists()).collect();
        let mut first = None;
        for path in there {
            match Checkpoint::read(&path) {
                Ok(c) => return Ok(Checkpoint { passed_over: first, ..c }),
                Err(CheckpointError::File(e)) => first = first.or(Some(e)),
                Err(e) => return Err(e),
            }
        }
        Err(match first {
            Some(e) => e.into(),
            None => CheckpointError::None { folder: folder.display().to_string() },
        })
    }

    /// The newest checkpoint file of a folder, if there is one.
    pub fn path_in(folder: &Path) -> Option<PathBuf> {
        [NEWEST, PREVIOUS].iter().map(|f| folder.join(f)).find(|p| p.exists())
    }

    /// The file.
    pub fn path(&self) -> &Path {
        self.container.path()
    }

    /// A column by name, whatever its type.
    pub fn column(&self, name: &str) -> Option<Column> {
        let c = &self.container;
        let float = || c.f64s(name).map(Column::F64).or_else(|_| c.f32s(name).map(Column::F32));
        let whole = || c.u32s(name).map(Column::U32).or_else(|_| c.u64s(name).map(Column::U64));
        c.has(name).then(|| float().or_else(|_| whole()).ok()).flatten()
    }

    /// A column of doubles of this length.
    pub fn f64s(&self, name: &str, length: usize) -> Result<Vec<f64>, CheckpointError> {
        self.container.f64s(name).ok().filter(|v| v.len() == length).ok_or_else(|| self.unfit(format!("no {name}")))
    }

    /// A column of whole numbers of this length.
    pub fn u64s(&self, name: &str, length: usize) -> Result<Vec<u64>, CheckpointError> {
        self.container.u64s(name).ok().filter(|v| v.len() == length).ok_or_else(|| self.unfit(format!("no {name}")))
    }

    /// The error for a state that does not fit.
    pub fn unfit(&self, what: impl Into<String>) -> CheckpointError {
        CheckpointError::Unfit { path: self.path().into(), what: what.into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(folder: &Path, value: f64) -> PathBuf {
        let mut w = CheckpointWriter::default();
        w.put("a", &Column::F64(vec![value]));
        w.put("b", &Column::U32(vec![1, 2]));
        w.write(folder).unwrap()
    }

    #[test]
    fn another_version_is_refused_with_what_to_do() {
        let folder = tempfile::tempdir().unwrap();
        // An older good one beside it does not stand in: whoever resumes must know.
        write(folder.path(), 1.0);
        write(folder.path(), 2.0);
        for other in [VERSION - 1, VERSION + 1] {
            ContainerWriter::new(other).write(folder.path().join(NEWEST)).unwrap();
            let Err(error) = Checkpoint::newest(folder.path()) else { panic!("version {other} was read") };
            assert!(matches!(error, CheckpointError::Version { found, .. } if found == other), "{error}");
            let said = error.to_string();
            let remedy = "resume with the program that wrote it, or start the run anew with `barchan run`";
            assert!(said.contains(&format!("version {other}")) && said.contains(remedy), "{said}");
        }
    }

    #[test]
    fn the_newest_good_one_is_found() {
        let folder = tempfile::tempdir().unwrap();
        assert!(matches!(Checkpoint::newest(folder.path()), Err(CheckpointError::None { .. })));
        write(folder.path(), 1.0);
        let newest = write(folder.path(), 2.0);
        let c = Checkpoint::newest(folder.path()).unwrap();
        assert_eq!((c.f64s("a", 1).unwrap(), c.column("b")), (vec![2.0], Some(Column::U32(vec![1, 2]))));
        assert!(c.f64s("a", 2).is_err() && c.column("c").is_none());

        let bytes = std::fs::read(&newest).unwrap();
        std::fs::write(&newest, &bytes[..bytes.len() - 1]).unwrap();
        let c = Checkpoint::newest(folder.path()).unwrap();
        assert_eq!(c.f64s("a", 1).unwrap(), [1.0], "a damaged checkpoint is passed over for the one before");
        assert!(c.passed_over.is_some());
    }
}
