//! Films: MP4 with H.264, written as the pictures come, by this program alone.
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
//!
//! | file | role |
//! |---|---|
//! | `colour` | RGBA to Y′CbCr (BT.709) |
//! | `encoder` | pictures to NAL units: parameter sets, slices in parallel |
//! | `slice` | how each macroblock is predicted, and its code |
//! | `intra`, `inter` | prediction within a picture, and from the one before |
//! | `transform`, `residual`, `cavlc`, `bits` | what prediction leaves, down to bits |
//! | `deblock` | the filter that hides block edges |
//! | `mp4` | the file around it |
//!
//! The stream is of the Constrained Baseline profile, which every player decodes. The same pictures give the same file
//! on any number of threads. The standard is ITU-T H.264 (2021-08 and before: numbers of clauses and tables are stable).

mod bits;
mod cavlc;
mod colour;
mod deblock;
mod encoder;
mod inter;
mod intra;
mod mp4;
mod residual;
mod slice;
mod transform;

#[cfg(test)]
mod tests;

use std::io;
use std::path::{Path, PathBuf};

use crate::atomic::{FileError, Part};
use colour::Picture;
use encoder::{Encoder, Rate};
use mp4::Table;

/// Why a film could not be made, and what to do.
#[derive(Debug, thiserror::Error)]
pub enum FilmError {
    /// No such picture can be coded.
    #[error(
        "a film cannot be {width} × {height} pixels: choose 2 to {MOST} each way, and no more than 8192 × 4352 in all"
    )]
    Size {
        /// Width that was asked for [pixel].
        width: u32,
        /// Height that was asked for [pixel].
        height: u32,
    },
    /// No such rate can be written.
    #[error("a film cannot show {fps} frames a second: choose {SLOWEST} to {FASTEST}")]
    Rate {
        /// Rate that was asked for [1/s].
        fps: f64,
    },
    /// No such quality.
    #[error("a film cannot have quality {quality}: choose {BEST} (large files) to {WORST} (small files)")]
    Quality {
        /// Quality that was asked for.
        quality: u8,
    },
    /// A picture of another size.
    #[error(
        "a picture of {given} bytes does not fit the film: give {expected} bytes, four for each of {width} × {height} pixels"
    )]
    Picture {
        /// Bytes that were given.
        given: usize,
        /// Bytes that were expected.
        expected: usize,
        /// Width of the film [pixel].
        width: u32,
        /// Height of the film [pixel].
        height: u32,
    },
    /// Not one picture.
    #[error("the film {} has no pictures and was not written: give it at least one before it is finished", path.display())]
    Empty {
        /// The film.
        path: PathBuf,
    },
    /// The file could not be written.
    #[error(transparent)]
    File(#[from] FileError),
}

/// Largest width and height [pixel].
const MOST: u32 = 8192;
/// Most macroblocks of 16 × 16 pixels: MaxFS of the highest level (H.264, Table A-1).
const MOST_BLOCKS: u32 = 139_264;
/// Rates that are accepted [1/s].
const SLOWEST: f64 = 0.1;
const FASTEST: f64 = 1000.0;
/// Qualities that are accepted.
const BEST: u8 = 14;
const WORST: u8 = 40;
/// Quality of [`Film::create`]: sand at 720p without visible loss.
pub const QUALITY: u8 = 22;

/// A film under way. It has its name once it is finished; dropped before, it leaves nothing.
pub struct Film {
    part: Part,
    path: PathBuf,
    width: u32,
    height: u32,
    rate: Rate,
    encoder: Encoder,
    picture: Picture,
    table: Table,
}

impl Film {
    /// Begins a film of `width` × `height` [pixel] at `fps` [1/s] in the usual quality. An odd width or height is
    /// rounded up, the last column or row repeated.
    pub fn create(path: &Path, width: u32, height: u32, fps: f64) -> Result<Film, FilmError> {
        Self::with_quality(path, width, height, fps, QUALITY)
    }

    /// The same in another quality: 14, near to the source, to 40, small and rough (H.264's quantisation parameter; six
    /// more double the error and come near to halving the size).
    pub fn with_quality(path: &Path, width: u32, height: u32, fps: f64, quality: u8) -> Result<Film, FilmError> {
        let blocks = width.div_ceil(16).saturating_mul(height.div_ceil(16));
        if !(2..=MOST).contains(&width) || !(2..=MOST).contains(&height) || blocks > MOST_BLOCKS {
            return Err(FilmError::Size { width, height });
        }
        if !(SLOWEST..=FASTEST).contains(&fps) {
            return Err(FilmError::Rate { fps });
        }
        if !(BEST..=WORST).contains(&quality) {
            return Err(FilmError::Quality { quality });
        }
        let failed = |e| FilmError::File(FileError::new("write", path, e));
        let mut part = Part::create(path).map_err(failed)?;
        let table = Table::begin(&mut part.out).map_err(failed)?;
        let rate = rate(fps);
        let even = [width, height].map(|n| n.next_multiple_of(2) as usize);
        let encoder = Encoder::new(even[0], even[1], rate, quality);
        let picture = Picture::new(even[0], even[1]);
        Ok(Film { part, path: path.into(), width, height, rate, encoder, picture, table })
    }

    /// Adds a picture: rows from the top, four bytes a pixel (sRGB red, green, blue, and alpha, which is not used).
    pub fn push(&mut self, rgba: &[u8]) -> Result<(), FilmError> {
        let (width, height) = (self.width, self.height);
        let expected = width as usize * height as usize * 4;
        if rgba.len() != expected {
            return Err(FilmError::Picture { given: rgba.len(), expected, width, height });
        }
        self.picture.fill(rgba, width as usize, height as usize);
        let coded = self.encoder.encode(&self.picture);
        self.table.add(&mut self.part.out, &coded).map_err(|e| self.failed(e))
    }

    /// Pictures so far.
    pub fn frames(&self) -> usize {
        self.table.len()
    }

    /// Completes the file and gives it its name.
    pub fn finish(mut self) -> Result<(), FilmError> {
        if self.table.len() == 0 {
            return Err(FilmError::Empty { path: self.path });
        }
        let failed = |e| FilmError::File(FileError::new("write", &self.path, e));
        let shown = [self.width, self.height].map(|n| n.next_multiple_of(2) as u16);
        self.table.finish(&mut self.part.out, &self.encoder, shown, self.rate).map_err(failed)?;
        self.part.finish().map_err(failed)
    }

    fn failed(&self, source: io::Error) -> FilmError {
        FileError::new("write", &self.path, source).into()
    }
}

/// `fps` as a fraction: thousandths, or the 1001sts of broadcast rates such as 29.97.
fn rate(fps: f64) -> Rate {
    let broadcast = (fps * 1.001).round();
    if fps.fract() != 0.0 && (fps - broadcast / 1.001).abs() < 0.005 {
        Rate { scale: 1000 * broadcast as u32, time: 1001 }
    } else {
        Rate { scale: (1000.0 * fps).round() as u32, time: 1000 }
    }
}
