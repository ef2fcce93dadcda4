//! Triangle meshes from files: STL, OBJ, PLY, glTF; and to STL.
//!
//! [`read`] asks each format whether the content looks like its own, then goes by the name's extension. What comes back is
//! what the file holds: numbers as they stand, taken as metres; axes as they stand (glTF has y upwards); vertices as
//! shared as the file shares them, STL not at all. Scaling, [`Mesh::weld`], [`Mesh::orient`] and [`Mesh::health`] are the
//! caller's:
//! ```no_run
//! # fn main() -> Result<(), barchan_io::mesh::MeshError> {
//! let mut mesh = barchan_io::mesh::read("bunny.stl")?.scaled(1e-3); // drawn in millimetres
//! mesh.weld(mesh.rounding());
//! mesh.orient();
//! let health = mesh.health();
//! assert!(health.is_closed(), "{health}");
//! # Ok(())
//! # }
//! ```
//!
//! Reading is strict: a file that is cut short, altered, or says what cannot be gives an error that names file and
//! place. No length is believed before it has been compared with the bytes at hand, so a header that promises four
//! billion triangles costs nothing. Limits: [`MOST_TRIANGLES`], [`MOST_BYTES`].
//!
//! # A new mesh format is one file and one line
//! 1. Write a file in this folder with a `pub(super) const FORMAT: Format`: a name, the extensions, `recognises` (do the
//!    first bytes look like it? no false yes) and `read`, from bytes to mesh. Numbers go through `Builder::vertex` and
//!    `Builder::polygon`, which check them; a `Fault` tells place and reason, and the file's name is added for you.
//! 2. Add its line to `FORMATS`.
//! 3. Add a small writer for it to `ALL` in `tests/all/mesh_files/mod.rs`: the tests beside it then do round trips,
//!    truncations at every length, and altered bytes.

mod gltf;
mod obj;
mod ply;
mod stl;

pub use stl::write_stl;

use crate::atomic::FileError;
use crate::fault::Fault;
use crate::source::{self, lines, quoted};
use barchan_core::mesh::Mesh;
use glam::DVec3;
use std::path::{Path, PathBuf};

/// Triangles a file may hold; vertices may be three times as many.
pub const MOST_TRIANGLES: usize = 50_000_000;

/// Bytes a file may hold: the most triangles take 2.5 GB as binary STL.
pub const MOST_BYTES: u64 = 4_000_000_000;

/// Largest coordinate [m]: its fifth power, as in moments of inertia, is still a number.
const FARTHEST: f64 = 1e30;

/// Formats in the order in which they are asked.
const FORMATS: [Format; 4] = [gltf::FORMAT, ply::FORMAT, stl::FORMAT, obj::FORMAT];

/// Why a mesh could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum MeshError {
    /// The file could not be read or written.
    #[error(transparent)]
    File(#[from] FileError),
    /// Neither the content nor the name is of a format we know.
    #[error("{} is none of STL, OBJ, PLY, glTF, by content or by name: export the mesh as binary STL", path.display())]
    Unknown {
        /// The file.
        path: PathBuf,
    },
    /// The file is cut short, altered, or says what cannot be.
    #[error("{} is no mesh that can be used: {place}: {what}; check the file, or export it again", path.display())]
    Broken {
        /// The file.
        path: PathBuf,
        /// Where in it: a line, a byte, a triangle.
        place: String,
        /// What was found there.
        what: String,
    },
    /// A mesh that the format cannot hold.
    #[error("the mesh cannot be written to {}: {what}", path.display())]
    Unwritable {
        /// The file.
        path: PathBuf,
        /// What stands against it.
        what: String,
    },
}

/// Reads a mesh: STL (binary or text), OBJ, PLY (text or binary) or glTF (`.gltf` or `.glb`).
pub fn read(path: impl AsRef<Path>) -> Result<Mesh, MeshError> {
    let path = path.as_ref();
    let bytes = read_bytes(path)?;
    let broken = |Fault { place, what }| MeshError::Broken { path: path.to_owned(), place, what };
    if bytes.is_empty() {
        return Err(broken(Fault::new("byte 0", "the file is empty")));
    }
    let extension = path.extension().map(|e| e.to_string_lossy().to_lowercase()).unwrap_or_default();
    let format = FORMATS
        .iter()
        .find(|f| (f.recognises)(&bytes))
        .or_else(|| FORMATS.iter().find(|f| f.extensions.contains(&extension.as_str())))
        .ok_or_else(|| MeshError::Unknown { path: path.to_owned() })?;
    let mesh = (format.read)(&Source { bytes: &bytes, path }).map_err(|fault| match fault {
        ReadFault::Here(fault) => broken(fault),
        ReadFault::Elsewhere(error) => error,
    })?;
    let has_area = |i| {
        let [a, b, c] = mesh.corners(i);
        (b - a).cross(c - a) != DVec3::ZERO
    };
    if mesh.triangles.is_empty() {
        return Err(broken(Fault::new(format!("the whole {} file", format.name), "it holds no triangles")));
    }
    if !(0..mesh.triangles.len()).any(has_area) {
        let what = format!("none of its {} triangles has an area", mesh.triangles.len());
        return Err(broken(Fault::new(format!("the whole {} file", format.name), what)));
    }
    Ok(mesh)
}

/// Names of the files that a mesh file, given by its bytes, needs beside it: buffers of a glTF. Other formats need none.
pub fn beside(bytes: &[u8]) -> Vec<String> {
    gltf::beside(bytes)
}

/// All bytes of an ordinary file of bearable length.
fn read_bytes(path: &Path) -> Result<Vec<u8>, MeshError> {
    source::read(path, MOST_BYTES)?.ok_or_else(|| MeshError::Broken {
        path: path.to_owned(),
        place: format!("byte {MOST_BYTES}"),
        what: "the file is longer than that, which is the limit".into(),
    })
}

/// A mesh format.
struct Format {
    /// What people call it.
    name: &'static str,
    /// Extensions of its files, in lower case.
    extensions: &'static [&'static str],
    /// Whether the bytes are of this format, as far as one sees at a glance.
    recognises: fn(&[u8]) -> bool,
    /// Reads it.
    read: fn(&Source<'_>) -> Result<Mesh, ReadFault>,
}

/// What a format reads from.
struct Source<'a> {
    bytes: &'a [u8],
    /// For formats that consist of several files.
    path: &'a Path,
}

/// What went wrong in this file, or in another that it needs.
enum ReadFault {
    Here(Fault),
    Elsewhere(MeshError),
}

impl From<Fault> for ReadFault {
    fn from(fault: Fault) -> ReadFault {
        ReadFault::Here(fault)
    }
}

/// A mesh on its way, checked as it grows.
#[derive(Default)]
struct Builder {
    mesh: Mesh,
}

impl Builder {
    /// Adds a vertex [m].
    fn vertex(&mut self, v: DVec3, place: impl FnOnce() -> String) -> Result<(), Fault> {
        if !v.is_finite() {
            return Err(Fault::new(place(), format!("the vertex ({}, {}, {}) is not finite", v.x, v.y, v.z)));
        }
        if v.abs().max_element() > FARTHEST {
            let what = format!("the vertex ({:e}, {:e}, {:e}) is further than {FARTHEST:e} m away", v.x, v.y, v.z);
            return Err(Fault::new(place(), what));
        }
        if self.mesh.vertices.len() >= 3 * MOST_TRIANGLES {
            return Err(Fault::new(place(), format!("more than {} vertices, the limit", 3 * MOST_TRIANGLES)));
        }
        self.mesh.vertices.push(v);
        Ok(())
    }

    /// Adds a polygon, cut into triangles that all have its first vertex; right for convex ones and many others. Whether
    /// the vertices are there is for the caller to check.
    fn polygon(&mut self, vertices: &[u32], place: impl FnOnce() -> String) -> Result<(), Fault> {
        let [first, rest @ ..] = vertices else { return Ok(()) };
        if self.mesh.triangles.len() + rest.len().saturating_sub(1) > MOST_TRIANGLES {
            return Err(Fault::new(place(), format!("more than {MOST_TRIANGLES} triangles, the limit")));
        }
        self.mesh.triangles.extend(rest.windows(2).map(|pair| [*first, pair[0], pair[1]]));
        Ok(())
    }
}

/// A number in a text.
fn number(word: Option<&str>, place: impl FnOnce() -> String) -> Result<f64, Fault> {
    let word = word.ok_or("");
    match word.and_then(|w| w.parse().map_err(|_| w)) {
        Ok(number) => Ok(number),
        Err("") => Err(Fault::new(place(), "a number is missing")),
        Err(word) => Err(Fault::new(place(), format!("{} is not a number", quoted(word)))),
    }
}
