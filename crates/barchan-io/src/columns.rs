//! What the frame formats share: a frame checked, and its columns as little-endian bytes.

use crate::atomic::FileError;
use crate::frames::ReadError;
use barchan_core::frame::Frame;
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
    #[error("column `{column}` of the frame at {time} s has {len} rows for {grains} grains; report this as a bug")]
    Ragged {
        /// Name of the column.
        column: String,
        /// Its rows.
        len: usize,
        /// Grains in the frame.
        grains: usize,
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
    /// An extra column takes the name of another.
    #[error("two columns of the frame are named `{name}`; give the extra column another name")]
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

/// Refuses a frame whose expansion to spheres would step outside a column.
pub(crate) fn check(frame: &Frame<'_>) -> Result<(), FrameError> {
    let n = frame.len();
    let columns = [
        ("velocity", frame.velocity.len()),
        ("spin", frame.spin.len()),
        ("orientation", if frame.orientation.is_empty() { n } else { frame.orientation.len() }),
        ("radius", frame.radius.len()),
        ("mass", frame.mass.len()),
        ("id", frame.id.len()),
        ("material", frame.material.len()),
        ("shape", frame.shape.len()),
    ];
    let extras = frame.extras.iter().map(|e| (e.name, e.values.len()));
    if let Some((column, len)) = columns.into_iter().chain(extras).find(|&(_, len)| len != n) {
        return Err(FrameError::Ragged { column: column.to_owned(), len, grains: n, time: frame.time });
    }
    let shapes = frame.shapes.len();
    if let Some(g) = frame.shape.iter().position(|&s| usize::from(s) >= shapes) {
        return Err(FrameError::NoShape { id: frame.id[g], shape: frame.shape[g], shapes });
    }
    for (i, e) in frame.extras.iter().enumerate() {
        if COLUMNS.contains(&e.name) || frame.extras[..i].iter().any(|o| o.name == e.name) {
            return Err(FrameError::SameName { name: e.name.to_owned() });
        }
    }
    Ok(())
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
