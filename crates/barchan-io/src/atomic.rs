//! A file is written whole or not at all.
//!
//! The bytes go to a hidden name in the same folder, are flushed to the disk, and then take the file's name in one
//! step. A crash or a full disk leaves the old file as it was. Cost: one `fsync` a file and one a folder.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// Why a file could not be written or read, and what to do.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// No space left on the device, or the user's quota is used up.
    #[error("the disk that holds {} is full: free some space there, or write to another disk", path.display())]
    DiskFull {
        /// File that was being written.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The system does not let this user write there.
    #[error("no permission to {doing} {}: choose a folder you may write to, or change its permissions", path.display())]
    Forbidden {
        /// What was tried, for example `write`.
        doing: &'static str,
        /// File or folder concerned.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The file, or the folder it should go to, is not there.
    #[error("cannot {doing} {}: the file or its folder does not exist; check the name or create the folder", path.display())]
    Missing {
        /// What was tried.
        doing: &'static str,
        /// File or folder concerned.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Something on the way to the file is a file where a folder should be, or the reverse.
    #[error("cannot {doing} {}: {source}; move what is in the way, or choose another name", path.display())]
    InTheWay {
        /// What was tried.
        doing: &'static str,
        /// File or folder concerned.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Any other failure of the system.
    #[error("cannot {doing} {}: {source}; check that the disk is in order and try again", path.display())]
    Other {
        /// What was tried.
        doing: &'static str,
        /// File or folder concerned.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

impl FileError {
    /// Sorts what the system said while `doing` something to `path` into a message with a remedy.
    pub fn new(doing: &'static str, path: impl Into<PathBuf>, source: io::Error) -> Self {
        use io::ErrorKind as K;
        let path = path.into();
        match source.kind() {
            K::StorageFull | K::QuotaExceeded => FileError::DiskFull { path, source },
            K::PermissionDenied | K::ReadOnlyFilesystem => FileError::Forbidden { doing, path, source },
            K::NotFound => FileError::Missing { doing, path, source },
            K::NotADirectory | K::IsADirectory | K::AlreadyExists => FileError::InTheWay { doing, path, source },
            _ => FileError::Other { doing, path, source },
        }
    }

    /// File or folder concerned.
    pub fn path(&self) -> &Path {
        match self {
            FileError::DiskFull { path, .. }
            | FileError::Forbidden { path, .. }
            | FileError::Missing { path, .. }
            | FileError::InTheWay { path, .. }
            | FileError::Other { path, .. } => path,
        }
    }
}

/// Writes `bytes` to `path`, whole or not at all; an older file of that name is replaced.
pub fn write(path: &Path, bytes: &[u8]) -> Result<(), FileError> {
    write_with(path, |out| out.write_all(bytes))
}

/// Writes what `fill` produces to `path`, whole or not at all; an older file of that name is replaced.
pub fn write_with(path: &Path, fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), FileError> {
    let failed = |source| FileError::new("write", path, source);
    let mut part = Part::create(path).map_err(failed)?;
    fill(&mut part.out).map_err(failed)?;
    part.finish().map_err(failed)
}

/// A file on its way: under its hidden name until [`Part::finish`]; dropped before, it is removed.
pub(crate) struct Part {
    /// Where its bytes go.
    pub(crate) out: BufWriter<File>,
    hidden: PathBuf,
    path: PathBuf,
    finished: bool,
}

impl Part {
    /// Begins the file that will be `path`.
    pub(crate) fn create(path: &Path) -> io::Result<Self> {
        let Some(name) = path.file_name() else {
            return Err(io::Error::new(io::ErrorKind::IsADirectory, "this names a folder, not a file"));
        };
        if path.is_dir() {
            // Said before the work, not by the rename after it.
            return Err(io::Error::new(io::ErrorKind::IsADirectory, "a folder has this name"));
        }
        // One fixed name: what a killed run leaves behind is replaced by the next, so leftovers do not pile up.
        // `create_new` keeps two writers from filling one file, and from following somebody's link.
        let mut hidden = OsString::from(".");
        hidden.push(name);
        hidden.push(".part");
        let hidden = path.with_file_name(hidden);
        match fs::remove_file(&hidden) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(e),
            _ => {}
        }
        let file = OpenOptions::new().write(true).create_new(true).open(&hidden)?;
        Ok(Self { out: BufWriter::with_capacity(1 << 18, file), hidden, path: path.into(), finished: false })
    }

    /// Gives the file its name; an older one of that name is replaced.
    pub(crate) fn finish(mut self) -> io::Result<()> {
        self.out.flush()?;
        self.out.get_ref().sync_all()?;
        fs::rename(&self.hidden, &self.path)?;
        self.finished = true;
        sync_folder(&self.path);
        Ok(())
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        if !self.finished {
            let _ = fs::remove_file(&self.hidden); // the first error is the one to tell
        }
    }
}

/// Makes the new name itself survive a power cut. Some systems cannot open a folder; the file is complete there too,
/// only its name may be lost with the power, so this does not fail the write.
fn sync_folder(path: &Path) {
    if let Some(folder) = path.parent() {
        let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        let _ = File::open(folder).and_then(|f| f.sync_all());
    }
}

/// Creates a folder and those above it.
pub fn create_folder(path: &Path) -> Result<(), FileError> {
    fs::create_dir_all(path).map_err(|e| FileError::new("create the folder", path, e))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<String> =
            fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_failed_write_leaves_the_old_file_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state");
        write(&path, b"old").unwrap();
        let failed = write_with(&path, |out| {
            out.write_all(&[7; 1 << 20])?;
            Err(io::Error::from(io::ErrorKind::StorageFull))
        });
        assert!(matches!(failed, Err(FileError::DiskFull { .. })));
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(names(folder.path()), ["state"]);
        write(&path, b"new").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert_eq!(names(folder.path()), ["state"]);
    }

    #[test]
    fn a_leftover_of_a_killed_run_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(".state.part"), b"torn").unwrap();
        write(&folder.path().join("state"), b"whole").unwrap();
        assert_eq!(names(folder.path()), ["state"]);
    }

    #[cfg(unix)]
    #[test]
    fn the_system_codes_for_a_full_disk_and_a_forbidden_folder_are_said_plainly() {
        // ENOSPC, EDQUOT, EACCES, EROFS as Linux numbers them.
        let say = |code| FileError::new("write", "out/frames", io::Error::from_raw_os_error(code)).to_string();
        assert!(say(28).contains("out/frames") && say(28).contains("full"), "{}", say(28));
        if cfg!(target_os = "linux") {
            assert!(say(122).contains("full"), "{}", say(122));
        }
        assert!(say(13).contains("permission"), "{}", say(13));
        assert!(say(30).contains("permission"), "{}", say(30));
    }

    #[test]
    fn a_missing_folder_and_a_file_in_the_way_are_told_apart() {
        let folder = tempfile::tempdir().unwrap();
        let missing = write(&folder.path().join("no/where"), b"x").unwrap_err();
        assert!(matches!(missing, FileError::Missing { .. }), "{missing}");
        write(&folder.path().join("file"), b"x").unwrap();
        let way = write(&folder.path().join("file/x"), b"x").unwrap_err();
        assert!(matches!(way, FileError::InTheWay { .. }), "{way}");
        let is_folder = write(folder.path(), b"x").unwrap_err();
        assert!(matches!(is_folder, FileError::InTheWay { .. }), "{is_folder}");
        assert_eq!(is_folder.path(), folder.path());
        assert!(create_folder(&folder.path().join("file/x")).is_err());
    }
}
