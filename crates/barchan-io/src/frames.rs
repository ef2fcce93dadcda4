//! Our own frame files read back, for rendering and tests: every sphere comes back as a grain of one sphere. With the
//! scene's shapes at hand, solids of a `.vtp` come back as the grains they were. Other populations, pairs, grids and surfaces
//! come from the files beside that of the grains (see `parts`).
//!
//! Reading is strict: a file that is cut short, altered or of another layout gives an error that names file and place,
//! never a frame with holes. Lengths are compared with the bytes at hand before memory is taken.

use crate::atomic::FileError;
use crate::parts::{self, HEAD, Index, Kind};
use crate::writer::{self, Found, GROUND, ground_of};
use crate::{ply_back, sheet, solids, vti, vtk_back, vts, xyz};
use barchan_core::frame::{Frame, GRAINS, Shared};
use barchan_core::shapes::Shape;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Why a frame could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The file could not be read.
    #[error(transparent)]
    File(#[from] FileError),
    /// The file is not a frame as barchan writes it, or no longer.
    #[error("{}: {place}: {what}; the file is damaged or not written by barchan", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Where in it.
        place: String,
        /// What was found.
        what: String,
    },
}

/// Place and reason, before the file's name is added.
pub(crate) type Damage = (String, String);

pub(crate) fn damage<T>(place: impl Into<String>, what: impl Into<String>) -> Result<T, Damage> {
    Err((place.into(), what.into()))
}

/// Reads a `.vtp` written by [`crate::vtk`] and the parts beside it, all as spheres.
pub fn read_vtp(path: impl AsRef<Path>) -> Result<Frame, ReadError> {
    let path = path.as_ref();
    let main = read_with(path, vtk_back::main)?;
    with_parts(path, main.frame, main.index)
}

/// Reads a `.vtp` of a run whose scene has these shapes, and the parts beside it: a grain that is a solid comes back as one row,
/// with its shape and orientation, as it was written but for the rounding of its velocity; other grains as spheres.
pub fn read_vtp_with(path: impl AsRef<Path>, shapes: &Shared<Shape>) -> Result<Frame, ReadError> {
    let path = path.as_ref();
    let mut main = read_with(path, |bytes| {
        let mut main = vtk_back::main(bytes)?;
        for grains in &mut main.frame.populations {
            solids::gather(grains, &main.solids, shapes)?;
        }
        Ok(main)
    })?;
    with_parts(path, std::mem::take(&mut main.frame), main.index)
}

/// Reads a `.ply` written by [`crate::ply`], and the parts beside it. It holds neither masses nor spins nor further columns of the
/// grains: masses and spins come back as NaN.
pub fn read_ply(path: impl AsRef<Path>) -> Result<Frame, ReadError> {
    let path = path.as_ref();
    let (frame, index) = read_with(path, ply_back::main)?;
    with_parts(path, frame, index)
}

/// The frame of a main file with the parts that its index names, each from its file beside the main one.
fn with_parts(main: &Path, mut frame: Frame, index: Option<Index>) -> Result<Frame, ReadError> {
    let Some(index) = index else { return Ok(frame) };
    let extension = main.extension().unwrap_or_default().to_string_lossy();
    let ply = extension == "ply";
    let grains = frame.populations.pop();
    for (kind, name) in index.iter() {
        if kind == Kind::Population && name == GRAINS {
            frame.populations.extend(grains.clone());
            continue;
        }
        let path = parts::path(main, kind, name, &extension);
        let bytes = fs::read(&path).map_err(|e| FileError::new("read", &path, e))?;
        let read = match kind {
            Kind::Population if ply => ply_back::population(&bytes, name).map(|(t, p)| (t, frame.populations.push(p))),
            Kind::Population => vtk_back::population(&bytes, name).map(|(t, p)| (t, frame.populations.push(p))),
            Kind::Pairs if ply => ply_back::pairs(&bytes, name).map(|(t, p)| (t, frame.pairs.push(p))),
            Kind::Pairs => vtk_back::pairs(&bytes, name).map(|(t, p)| (t, frame.pairs.push(p))),
            Kind::Surface if ply => ply_back::surface(&bytes, name).map(|(t, s)| (t, frame.surfaces.push(s))),
            Kind::Surface => vtk_back::surface(&bytes, name).map(|(t, s)| (t, frame.surfaces.push(s))),
            Kind::Grid => vti::grid_from_bytes(&bytes, name).map(|(t, g)| (t, frame.grids.push(g))),
        };
        let same_time = |(time, ()): (f64, ())| match time.to_bits() == frame.time.to_bits() {
            true => Ok(()),
            false => damage("time", format!("{time} s, but the frame it belongs to is of {} s", frame.time)),
        };
        let read = read.and_then(same_time);
        read.map_err(|(place, what)| ReadError::Damaged { path, place, what })?;
    }
    Ok(frame)
}

/// Time [s] of a file of a frame written by barchan, from the first bytes of the file.
pub fn read_time(path: impl AsRef<Path>) -> Result<f64, ReadError> {
    let path = path.as_ref();
    let mut head = Vec::new();
    let read = File::open(path).and_then(|file| file.take(HEAD).read_to_end(&mut head));
    read.map_err(|e| FileError::new("read", path, e))?;
    let head = String::from_utf8_lossy(&head);
    let after = |mark: &str, start: char, end: char| {
        let rest = &head[head.find(mark)? + mark.len()..];
        let (_, rest) = rest.split_once(start)?;
        rest.split_once(end)?.0.trim().parse().ok()
    };
    let in_line = |mark: &str| head.split_once(mark)?.1.split_whitespace().next()?.parse().ok();
    let time = match path.extension().and_then(|e| e.to_str()) {
        Some(xyz::EXTENSION) => in_line(xyz::TIME),
        Some(sheet::EXTENSION) => in_line(sheet::TIME),
        _ if head.starts_with("ply\n") => in_line("\ncomment time "),
        _ => after("\"TimeValue\"", '>', '<'),
    };
    time.ok_or_else(|| ReadError::Damaged {
        path: path.to_owned(),
        place: "first 4096 bytes".to_owned(),
        what: "no time of a barchan frame".to_owned(),
    })
}

/// A frame of a run, on disk.
#[derive(Clone, Debug, PartialEq)]
pub struct Stored {
    /// Its number.
    pub number: u64,
    /// Simulated time [s].
    pub time: f64,
    /// The file.
    pub path: PathBuf,
    /// The file of its ground, if it has one: that of the frame in which the ground last changed.
    pub ground: Option<PathBuf>,
}

impl Stored {
    /// Reads the frame of a run whose scene has these shapes: see [`read_vtp_with`]. A `.ply` gives spheres.
    pub fn read(&self, shapes: &Shared<Shape>) -> Result<Frame, ReadError> {
        let is_ply = self.path.extension().is_some_and(|e| e == "ply");
        let mut frame = if is_ply { read_ply(&self.path)? } else { read_vtp_with(&self.path, shapes)? };
        frame.ground = self.ground.as_ref().map(vts::read).transpose()?.map(Arc::new);
        Ok(frame)
    }
}

/// The frames in a run's folder in order of time, and those whose first bytes are damaged. A frame that was written in two
/// formats is listed once, as `.vtp`, which holds more; `.xyz` and `.csv` are for other programs and are left out.
pub fn stored(folder: impl AsRef<Path>) -> Result<(Vec<Stored>, Vec<ReadError>), ReadError> {
    let mut files = writer::list(&folder.as_ref().join(writer::FRAMES))?;
    let grounds: Vec<Found> = files.extract_if(.., |f| f.extension == GROUND).collect();
    files.retain(|f| !f.part && ![xyz::EXTENSION, sheet::EXTENSION].contains(&f.extension));
    files.sort_by_key(|f| (f.number, f.extension != "vtp"));
    files.dedup_by_key(|f| f.number);
    let (mut frames, mut damaged) = (Vec::new(), Vec::new());
    for file in files {
        let ground = ground_of(&grounds, file.number).map(|g| g.path.clone());
        match read_time(&file.path) {
            Ok(time) => frames.push(Stored { number: file.number, time, path: file.path, ground }),
            Err(e) => damaged.push(e),
        }
    }
    frames.sort_by(|a, b| a.time.total_cmp(&b.time));
    Ok((frames, damaged))
}

fn read_with<T>(path: &Path, parse: impl Fn(&[u8]) -> Result<T, Damage>) -> Result<T, ReadError> {
    let bytes = fs::read(path).map_err(|e| FileError::new("read", path, e))?;
    parse(&bytes).map_err(|(place, what)| ReadError::Damaged { path: path.to_owned(), place, what })
}
