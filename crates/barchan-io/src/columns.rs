//! What the frame formats share: a frame checked, and its columns as little-endian bytes.

use crate::atomic::FileError;
use crate::frames::ReadError;
use crate::parts::Index;
use barchan_core::frame::{Extra, Frame, Population, Surface};
use glam::DVec3;

/// Why a frame could not be written.
#[derive(Debug, thiserror::Error)]
pub enum FrameError {
    /// The file could not be written.
    #[error(transparent)]
    File(#[from] FileError),
    /// A frame of the run to be resumed could not be read.
    #[error("{0}: move it out of the folder to resume without it")]
    Read(#[from] ReadError),
    /// Columns of different length; a fault of the solver that made the frame.
    #[error("column `{column}` of `{part}` at {time} s has {len} rows where {rows} should be; report this as a bug")]
    Ragged {
        /// Name of the part of the frame.
        part: String,
        /// Name of the column.
        column: String,
        /// Its rows.
        len: usize,
        /// Rows that it should have.
        rows: usize,
        /// Time of the frame [s].
        time: f64,
    },
    /// A grain's shape is not among the frame's shapes; a fault of the solver that made the frame.
    #[error("grain {id} has shape {shape}, but the frame has {shapes}; report this as a bug")]
    NoShape {
        /// Permanent identity of the grain.
        id: u32,
        /// Its shape.
        shape: u16,
        /// Shapes in the frame.
        shapes: usize,
    },
    /// A triangle of a surface has a corner that is not among its vertices; a fault of the solver that made the frame.
    #[error("a triangle of the surface `{surface}` has corner {corner} of {vertices} vertices; report this as a bug")]
    NoVertex {
        /// Name of the surface.
        surface: String,
        /// The corner.
        corner: u32,
        /// Vertices of the surface.
        vertices: usize,
    },
    /// An extra column, or a part, takes the name of another.
    #[error("two columns, or two parts, of the frame are named `{name}`; give one of them another name")]
    SameName {
        /// The name.
        name: String,
    },
    /// A folder of frames is not empty though the run starts anew.
    #[error("{} already holds {count} frames: resume that run, choose another folder, or remove them first", folder.display())]
    FramesExist {
        /// The folder.
        folder: std::path::PathBuf,
        /// Frames in it.
        count: usize,
    },
    /// The writer has failed or finished before.
    #[error("the frame writer has stopped; its first error says why")]
    Stopped,
}

/// Names every frame file gives to the columns that all solvers have.
pub(crate) const COLUMNS: [&str; 6] = ["radius", "velocity", "spin", "mass", "id", "material"];

/// Refuses a frame whose expansion to spheres would step outside a column, and parts of which two have one name.
pub(crate) fn check(frame: &Frame) -> Result<(), FrameError> {
    if let Some(name) = Index::of(frame).twice() {
        return Err(FrameError::SameName { name: name.to_owned() });
    }
    let time = frame.time;
    frame.populations.iter().try_for_each(|p| check_population(time, p))?;
    for p in &frame.pairs {
        check_columns(time, &p.name, p.ends.len(), &[("id", p.id.len())], &p.extras)?;
    }
    for g in &frame.grids {
        check_columns(time, &g.name, g.len(), &[], &g.fields)?;
    }
    frame.surfaces.iter().try_for_each(|s| check_surface(time, s))
}

/// Refuses a surface whose columns differ in length, or with a corner that is not there.
pub(crate) fn check_surface(time: f64, s: &Surface) -> Result<(), FrameError> {
    check_columns(time, &s.name, s.vertices.len(), &[], &s.extras)?;
    let vertices = s.vertices.len();
    match s.triangles.iter().flatten().copied().find(|v| *v as usize >= vertices) {
        Some(corner) => Err(FrameError::NoVertex { surface: s.name.clone(), corner, vertices }),
        None => Ok(()),
    }
}

fn check_population(time: f64, p: &Population) -> Result<(), FrameError> {
    let n = p.len();
    let or_none = |len: usize| if len == 0 { n } else { len };
    let columns = [
        ("velocity", p.velocity.len()),
        ("spin", or_none(p.spin.len())),
        ("orientation", or_none(p.orientation.len())),
        ("radius", p.radius.len()),
        ("mass", p.mass.len()),
        ("id", p.id.len()),
        ("material", p.material.len()),
        ("shape", or_none(p.shape.len())),
    ];
    check_columns(time, &p.name, n, &columns, &p.extras)?;
    let shapes = p.shapes.len();
    if let Some(g) = p.shape.iter().position(|s| usize::from(*s) >= shapes.max(1)) {
        return Err(FrameError::NoShape { id: p.id[g], shape: p.shape[g], shapes });
    }
    match p.extras.iter().find(|e| COLUMNS.contains(&e.name.as_str())) {
        Some(e) => Err(FrameError::SameName { name: e.name.clone() }),
        None => Ok(()),
    }
}

fn check_columns(
    time: f64,
    part: &str,
    rows: usize,
    columns: &[(&str, usize)],
    extras: &[Extra],
) -> Result<(), FrameError> {
    let mut all = columns.iter().copied().chain(extras.iter().map(|e| (e.name.as_str(), e.values.len())));
    if let Some((column, len)) = all.find(|(_, len)| *len != rows) {
        return Err(FrameError::Ragged { part: part.to_owned(), column: column.to_owned(), len, rows, time });
    }
    let names: Vec<&str> = columns.iter().map(|c| c.0).chain(extras.iter().map(|e| e.name.as_str())).collect();
    match (1..names.len()).find(|i| names[..*i].contains(&names[*i])) {
        Some(i) => Err(FrameError::SameName { name: names[i].to_owned() }),
        None => Ok(()),
    }
}

/// Lets any `to_le_bytes` feed a column.
pub(crate) fn bytes<const N: usize>(values: impl Iterator<Item = [u8; N]>) -> Vec<u8> {
    let mut out = Vec::with_capacity(values.size_hint().0 * N);
    values.for_each(|v| out.extend_from_slice(&v));
    out
}

/// Three f64.
pub(crate) fn vec3(v: DVec3) -> [u8; 24] {
    let mut out = [0; 24];
    for (to, x) in out.chunks_exact_mut(8).zip(v.to_array()) {
        to.copy_from_slice(&x.to_le_bytes());
    }
    out
}

/// Three f32.
pub(crate) fn vec3_f32(v: DVec3) -> [u8; 12] {
    let mut out = [0; 12];
    for (to, x) in out.chunks_exact_mut(4).zip(v.as_vec3().to_array()) {
        to.copy_from_slice(&x.to_le_bytes());
    }
    out
}
