//! Films: MP4 with H.264, written as the pictures come. Knows pixels and bytes, and nothing else of barchan.
//!
//! ```
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let mut file = std::io::Cursor::new(Vec::new());
//! let mut movie = barchan_film::Movie::begin(&mut file, 64, 48, 30.0, barchan_film::QUALITY)?;
//! for _ in 0..10 {
//!     movie.push(&mut file, &vec![255; 64 * 48 * 4])?;
//! }
//! movie.finish(&mut file)?;
//! # Ok(())
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
//! | `open` | Cisco's encoder in place of ours, with the feature `openh264` |
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
#[cfg(feature = "openh264")]
mod open;
mod residual;
mod slice;
mod transform;

#[cfg(test)]
mod tests;

use colour::Picture;
use encoder::Rate;
use mp4::Table;
use std::io::{self, Seek, Write};

#[cfg(not(feature = "openh264"))]
use encoder::Encoder;
#[cfg(feature = "openh264")]
use open::Encoder;

/// What cannot be filmed, and what to do.
#[derive(Debug, thiserror::Error)]
pub enum Unfit {
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
}

/// Why a picture did not get into the film.
#[derive(Debug, thiserror::Error)]
pub enum MovieError {
    /// It does not fit.
    #[error(transparent)]
    Unfit(#[from] Unfit),
    /// It could not be coded or written.
    #[error(transparent)]
    Io(#[from] io::Error),
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
/// Sand at 720p without visible loss.
pub const QUALITY: u8 = 22;

/// A film under way. Whoever makes it has the file.
pub struct Movie {
    width: u32,
    height: u32,
    rate: Rate,
    encoder: Encoder,
    picture: Picture,
    table: Table,
}

impl Movie {
    /// Begins a film of `width` × `height` [pixel] at `fps` [1/s] at the start of a file. An odd width or height is rounded up, the last column
    /// or row repeated. Quality goes from 14, near to the source, to 40, small and rough (H.264's quantisation parameter; six more double the
    /// error and come near to halving the size).
    pub fn begin(out: &mut impl Write, width: u32, height: u32, fps: f64, quality: u8) -> Result<Movie, MovieError> {
        Movie::check(width, height, fps, quality)?;
        let rate = rate(fps);
        let even = [width, height].map(|n| n.next_multiple_of(2) as usize);
        let encoder = Encoder::new(even[0], even[1], rate, quality);
        let picture = Picture::new(even[0], even[1]);
        Ok(Movie { width, height, rate, encoder, picture, table: Table::begin(out)? })
    }

    /// Whether there can be such a film.
    pub fn check(width: u32, height: u32, fps: f64, quality: u8) -> Result<(), Unfit> {
        let blocks = width.div_ceil(16).saturating_mul(height.div_ceil(16));
        if !(2..=MOST).contains(&width) || !(2..=MOST).contains(&height) || blocks > MOST_BLOCKS {
            return Err(Unfit::Size { width, height });
        }
        if !(SLOWEST..=FASTEST).contains(&fps) {
            return Err(Unfit::Rate { fps });
        }
        if !(BEST..=WORST).contains(&quality) {
            return Err(Unfit::Quality { quality });
        }
        Ok(())
    }

    /// Adds a picture: rows from the top, four bytes a pixel (sRGB red, green, blue, and alpha, which is not used).
    pub fn push(&mut self, out: &mut impl Write, rgba: &[u8]) -> Result<(), MovieError> {
        let (width, height) = (self.width, self.height);
        let expected = width as usize * height as usize * 4;
        if rgba.len() != expected {
            return Err(Unfit::Picture { given: rgba.len(), expected, width, height }.into());
        }
        self.picture.fill(rgba, width as usize, height as usize);
        let coded = self.encoder.encode(&self.picture)?;
        Ok(self.table.add(out, &coded)?)
    }

    /// Pictures so far.
    pub fn frames(&self) -> usize {
        self.table.len()
    }

    /// Completes the file.
    pub fn finish(self, out: &mut (impl Write + Seek)) -> io::Result<()> {
        let shown = [self.width, self.height].map(|n| n.next_multiple_of(2) as u16);
        self.table.finish(out, &self.encoder.parameters(), shown, self.rate)
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
