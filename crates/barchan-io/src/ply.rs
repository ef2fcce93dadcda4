//! Frames as points for effects tools: binary little-endian PLY [Turk 1994].
//!
//! A row is a sphere, as in [`crate::vtk`]: `x y z`, `radius`, `vx vy vz`, `id` and `material` of the grain, in SI units
//! and f32, which every reader of PLY knows. For measuring, use `.vtp`, whose positions are f64. Time, step and the names
//! of the materials stand in comments. It costs 34 bytes a sphere.

use crate::atomic;
use crate::columns::{FrameError, check, vec3_f32};
use crate::decimal;
use barchan_core::frame::Frame;
use std::fmt::Write as _;
use std::path::Path;

/// Bytes of a row: seven f32, a u32 and a u16.
const ROW: usize = 34;

/// Writes a frame as `.ply`, whole or not at all.
pub fn write(path: &Path, frame: &Frame<'_>) -> Result<(), FrameError> {
    Ok(atomic::write(path, &to_bytes(frame)?)?)
}

/// The bytes that [`write()`] puts into the file.
pub fn to_bytes(frame: &Frame<'_>) -> Result<Vec<u8>, FrameError> {
    check(frame)?;
    let mut rows = Vec::with_capacity(ROW * frame.len());
    let mut count = 0_usize;
    for s in frame.spheres() {
        rows.extend_from_slice(&vec3_f32(s.centre));
        rows.extend_from_slice(&(s.radius as f32).to_le_bytes());
        rows.extend_from_slice(&vec3_f32(s.velocity));
        rows.extend_from_slice(&frame.id[s.grain].to_le_bytes());
        rows.extend_from_slice(&frame.material[s.grain].to_le_bytes());
        count += 1;
    }
    let mut file = String::from("ply\nformat binary_little_endian 1.0\n");
    let _ = writeln!(file, "comment barchan: spheres of grains, SI units");
    let _ = writeln!(file, "comment time {}", decimal(frame.time));
    let _ = writeln!(file, "comment step {}", frame.step);
    for name in frame.materials.iter() {
        let _ = writeln!(file, "comment material {}", escape(name));
    }
    let _ = writeln!(file, "element vertex {count}");
    for name in ["x", "y", "z", "radius", "vx", "vy", "vz"] {
        let _ = writeln!(file, "property float {name}");
    }
    file.push_str("property uint id\nproperty ushort material\nend_header\n");
    let mut file = file.into_bytes();
    file.append(&mut rows);
    Ok(file)
}

/// A name as ASCII on one line, since readers take the header for ASCII: `K\u{f6}rner`.
fn escape(name: &str) -> String {
    let plain = |c: char| matches!(c, ' '..='~') && c != '\\';
    name.chars().map(|c| if plain(c) { c.to_string() } else { c.escape_unicode().to_string() }).collect()
}

/// The name that [`escape`] was given; nothing where it was not.
pub(crate) fn unescape(text: &str) -> Option<String> {
    let mut parts = text.split("\\u{");
    let mut name = parts.next()?.to_owned();
    for part in parts {
        let (code, rest) = part.split_once('}')?;
        name.push(char::from_u32(u32::from_str_radix(code, 16).ok()?)?);
        name.push_str(rest);
    }
    Some(name)
}
