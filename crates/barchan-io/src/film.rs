//! Films as files: there whole, or not at all. The coding is that of `barchan-film`.
//!
//! ```no_run
//! # fn main() -> Result<(), barchan_io::film::FilmError> {
//! let mut film = barchan_io::film::Film::create("heap.mp4".as_ref(), 1280, 720, 30.0)?;
//! for _ in 0..90 {
//!     film.push(&vec![255; 1280 * 720 * 4])?;
//! }
//! film.finish()
//! # }
//! ```

use crate::atomic::{FileError, Part};
use barchan_film::{Movie, MovieError};
use std::io;
use std::path::{Path, PathBuf};

pub use barchan_film::{QUALITY, Unfit};

/// Why a film could not be made, and what to do.
#[derive(Debug, thiserror::Error)]
pub enum FilmError {
    /// No such film can be made.
    #[error(transparent)]
    Unfit(#[from] Unfit),
    /// Not one picture.
    #[error("the film {} has no pictures and was not written: give it at least one before it is finished", path.display())]
    Empty {
        /// The film.
        path: PathBuf,
    },
    /// A picture could not be written before, and what there was of the film has been removed.
    #[error("the film {} was given up when a picture could not be written: see to the disk and film again", path.display())]
    GivenUp {
        /// The film.
        path: PathBuf,
    },
    /// The file could not be written.
    #[error(transparent)]
    File(#[from] FileError),
}

/// A film under way. It has its name once it is finished; dropped before, it leaves nothing.
pub struct Film {
    /// None once a picture could not be written: a gap in the file would shift all that follow.
    part: Option<Part>,
    path: PathBuf,
    movie: Movie,
}

impl Film {
    /// Begins a film of `width` × `height` [pixel] at `fps` [1/s] in the usual quality. An odd width or height is
    /// rounded up, the last column or row repeated.
    pub fn create(path: &Path, width: u32, height: u32, fps: f64) -> Result<Film, FilmError> {
        Self::with_quality(path, width, height, fps, QUALITY)
    }

    /// The same in another quality, as [`Movie::begin`] has it.
    pub fn with_quality(path: &Path, width: u32, height: u32, fps: f64, quality: u8) -> Result<Film, FilmError> {
        Movie::check(width, height, fps, quality)?;
        let mut part = Part::create(path).map_err(|e| failed(path, e))?;
        let movie = Movie::begin(&mut part.out, width, height, fps, quality).map_err(|e| told(path, e))?;
        Ok(Film { part: Some(part), path: path.into(), movie })
    }

    /// Adds a picture: rows from the top, four bytes a pixel (sRGB red, green, blue, and alpha, which is not used).
    pub fn push(&mut self, rgba: &[u8]) -> Result<(), FilmError> {
        let Some(part) = &mut self.part else {
            return Err(FilmError::GivenUp { path: self.path.clone() });
        };
        self.movie.push(&mut part.out, rgba).map_err(|e| {
            if let MovieError::Io(_) = e {
                self.part = None;
            }
            told(&self.path, e)
        })
    }

    /// Pictures so far.
    pub fn frames(&self) -> usize {
        self.movie.frames()
    }

    /// Completes the file and gives it its name.
    pub fn finish(self) -> Result<(), FilmError> {
        let Some(mut part) = self.part else {
            return Err(FilmError::GivenUp { path: self.path });
        };
        if self.movie.frames() == 0 {
            return Err(FilmError::Empty { path: self.path });
        }
        self.movie.finish(&mut part.out).map_err(|e| failed(&self.path, e))?;
        part.finish().map_err(|e| failed(&self.path, e))
    }
}

fn failed(path: &Path, e: io::Error) -> FilmError {
    FilmError::File(FileError::new("write", path, e))
}

fn told(path: &Path, e: MovieError) -> FilmError {
    match e {
        MovieError::Unfit(unfit) => FilmError::Unfit(unfit),
        MovieError::Io(e) => failed(path, e),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    /// A picture that takes room in a file.
    fn noise() -> Vec<u8> {
        (0..320 * 240 * 4_u32).map(|k| (k.wrapping_mul(0x9e37_79b9) >> 13) as u8).collect()
    }

    #[test]
    fn what_cannot_be_filmed_is_refused_with_a_remedy() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("film.mp4");
        for (width, height) in [(0, 100), (100, 0), (1, 100), (8193, 16), (16, u32::MAX), (8192, 8192)] {
            let refused = Film::create(&path, width, height, 30.0).err().unwrap();
            assert!(
                matches!(refused, FilmError::Unfit(Unfit::Size { .. })) && refused.to_string().contains("choose"),
                "{refused}"
            );
        }
        for fps in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e9] {
            let refused = Film::create(&path, 64, 64, fps).err().unwrap();
            assert!(
                matches!(refused, FilmError::Unfit(Unfit::Rate { .. })) && refused.to_string().contains("choose"),
                "{refused}"
            );
        }
        for quality in [0, 13, 41, 255] {
            let refused = Film::with_quality(&path, 64, 64, 30.0, quality).err().unwrap();
            assert!(matches!(refused, FilmError::Unfit(Unfit::Quality { .. })), "{refused}");
        }
        let mut film = Film::create(&path, 33, 20, 30.0).unwrap();
        let refused = film.push(&[0; 33 * 20 * 3]).unwrap_err();
        assert!(matches!(refused, FilmError::Unfit(Unfit::Picture { given: 1980, expected: 2640, .. })), "{refused}");
        assert!(refused.to_string().contains("2640"), "{refused}");
        let refused = film.finish().unwrap_err();
        assert!(matches!(refused, FilmError::Empty { .. }), "{refused}");
        let missing = Film::create(&folder.path().join("no/where.mp4"), 64, 64, 30.0).err().unwrap();
        assert!(matches!(missing, FilmError::File(FileError::Missing { .. })), "{missing}");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn an_unfinished_film_leaves_the_old_one_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("film.mp4");
        fs::write(&path, b"old").unwrap();
        let mut film = Film::create(&path, 64, 64, 30.0).unwrap();
        film.push(&[200; 64 * 64 * 4]).unwrap();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
        drop(film);
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_full_disk_is_said_while_filming() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("film.mp4");
        let mut film = Film::create(&path, 320, 240, 30.0).unwrap();
        // The device that is always full, in place of the hidden file.
        let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        film.part.as_mut().unwrap().out = std::io::BufWriter::with_capacity(1 << 10, full);
        let refused = film.push(&noise()).unwrap_err();
        assert!(matches!(refused, FilmError::File(FileError::DiskFull { .. })), "{refused}");
        assert!(
            refused.to_string().contains("free some space") && refused.to_string().contains("film.mp4"),
            "{refused}"
        );
        // What follows would be shifted by what is missing: the film is gone, and stays so.
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        assert!(matches!(film.push(&[200; 320 * 240 * 4]), Err(FilmError::GivenUp { .. })));
        assert!(matches!(film.finish(), Err(FilmError::GivenUp { .. })));
        // The same where the last bytes do not fit.
        let mut film = Film::create(&path, 64, 64, 30.0).unwrap();
        film.push(&[200; 64 * 64 * 4]).unwrap();
        let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        film.part.as_mut().unwrap().out = std::io::BufWriter::new(full);
        assert!(matches!(film.finish(), Err(FilmError::File(FileError::DiskFull { .. }))));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
