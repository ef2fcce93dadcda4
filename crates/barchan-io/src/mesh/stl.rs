//! STL, binary and text.
//!
//! Binary is 80 bytes of anything, a u32 of how many, and 50 bytes a triangle. Those 80 bytes may begin with `solid`,
//! which should mean text; so a file whose length fits its own count is binary whatever it begins with. Normals are
//! ignored: the order of the vertices says the same, and many writers leave zeros. Colours in the last two bytes are
//! ignored too.

use super::{Builder, Fault, Format, MOST_TRIANGLES, MeshError, ReadFault, Source, lines, number, quoted};
use crate::atomic;
use barchan_core::mesh::Mesh;
use glam::DVec3;
use std::path::Path;

pub(super) const FORMAT: Format = Format { name: "STL", extensions: &["stl"], recognises, read };

const HEADER: usize = 84;
const TRIANGLE: usize = 50;

/// How many triangles a binary file promises.
fn promised(bytes: &[u8]) -> Option<usize> {
    bytes.get(80..HEADER)?.first_chunk::<4>().map(|n| u32::from_le_bytes(*n) as usize)
}

fn fits(bytes: &[u8]) -> bool {
    promised(bytes).is_some_and(|n| n.checked_mul(TRIANGLE).and_then(|n| n.checked_add(HEADER)) == Some(bytes.len()))
}

/// Whether the file begins as text does: `solid`, and a second line with `facet` or `endsolid`.
fn is_text(bytes: &[u8]) -> bool {
    let start = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes).trim_ascii_start();
    if !start.get(..5).is_some_and(|s| s.eq_ignore_ascii_case(b"solid")) {
        return false;
    }
    let mut lines =
        start.split(|b| *b == b'\n' || *b == b'\r').skip(1).map(<[u8]>::trim_ascii).filter(|l| !l.is_empty());
    lines.next().is_some_and(|l| {
        let word = l.split(u8::is_ascii_whitespace).next().unwrap_or_default();
        word.eq_ignore_ascii_case(b"facet") || word.eq_ignore_ascii_case(b"endsolid")
    })
}

fn recognises(bytes: &[u8]) -> bool {
    fits(bytes) || is_text(bytes)
}

fn read(source: &Source<'_>) -> Result<Mesh, ReadFault> {
    let bytes = source.bytes;
    Ok(if is_text(bytes) && !fits(bytes) { read_text(bytes)? } else { read_binary(bytes)? })
}

fn read_binary(bytes: &[u8]) -> Result<Mesh, Fault> {
    let head = &bytes[..bytes.len().min(HEADER)];
    let text = head.iter().all(|b| b.is_ascii_graphic() || b.is_ascii_whitespace());
    let n = match promised(bytes) {
        Some(n) if !text || fits(bytes) => n,
        _ => {
            let what = "neither text that begins with the lines `solid` and `facet` nor the 84 bytes before binary STL";
            return Err(Fault::new("byte 0", what));
        }
    };
    // Some writers append bytes of their own, which do no harm; fewer are a file cut short.
    let (rows, _) = bytes[HEADER..].as_chunks::<TRIANGLE>();
    if rows.len() < n {
        let what = format!("{n} triangles are promised, and the file ends within triangle {}", rows.len() + 1);
        return Err(Fault::new(format!("byte {}", bytes.len()), what));
    }
    if n > MOST_TRIANGLES {
        return Err(Fault::new("byte 80", format!("{n} triangles, and {MOST_TRIANGLES} is the limit")));
    }
    let mut builder = Builder::default();
    builder.mesh.vertices.reserve_exact(3 * n);
    builder.mesh.triangles.reserve_exact(n);
    for (i, row) in rows[..n].iter().enumerate() {
        let place = || format!("triangle {} (byte {})", i + 1, HEADER + i * TRIANGLE);
        let (floats, _) = row.as_chunks::<4>();
        let (vertices, _) = floats[3..].as_chunks::<3>();
        for v in vertices {
            builder.vertex(DVec3::from_array(v.map(|x| f64::from(f32::from_le_bytes(x)))), place)?;
        }
        let first = 3 * i as u32;
        builder.polygon(&[first, first + 1, first + 2], place)?;
    }
    Ok(builder.mesh)
}

fn read_text(bytes: &[u8]) -> Result<Mesh, Fault> {
    let text = String::from_utf8_lossy(bytes);
    let mut builder = Builder::default();
    // Vertices of the facet at hand, and how deep we are: 0 outside, 1 in a solid, 2 in a facet, 3 in its loop.
    let (mut corners, mut depth, mut last) = (0u32, 0, 1);
    for (line, content) in lines(text.trim_start_matches('\u{feff}')) {
        let place = || format!("line {line}");
        let mut words = content.split_ascii_whitespace();
        let Some(keyword) = words.next() else { continue };
        last = line;
        let keyword = keyword.to_ascii_lowercase();
        depth = match (keyword.as_str(), depth) {
            ("solid", 0) => 1,
            ("facet", 1) => 2,
            ("outer", 2) => {
                corners = 0;
                3
            }
            ("vertex", 3) => {
                let [x, y, z] =
                    [number(words.next(), place)?, number(words.next(), place)?, number(words.next(), place)?];
                builder.vertex(DVec3::new(x, y, z), place)?;
                corners += 1;
                3
            }
            ("endloop", 3) => {
                if corners != 3 {
                    return Err(Fault::new(place(), format!("a facet of {corners} vertices, where STL has 3")));
                }
                let next = builder.mesh.vertices.len() as u32;
                builder.polygon(&[next - 3, next - 2, next - 1], place)?;
                2
            }
            ("endfacet", 2) => 1,
            ("endsolid", 1) => 0,
            _ => {
                let expected =
                    ["`solid`", "`facet` or `endsolid`", "`outer loop` or `endfacet`", "`vertex` or `endloop`"];
                let what = format!("{} where {} should be", quoted(&keyword), expected[depth]);
                return Err(Fault::new(place(), what));
            }
        };
    }
    if depth != 0 {
        return Err(Fault::new(format!("line {last}"), "the file ends before `endsolid`: it is cut short"));
    }
    Ok(builder.mesh)
}

/// Writes a mesh as binary STL, whole or not at all. Coordinates [m] are rounded to f32, and shared vertices repeated.
pub fn write_stl(path: impl AsRef<Path>, mesh: &Mesh) -> Result<(), MeshError> {
    let path = path.as_ref();
    let unwritable = |what: String| MeshError::Unwritable { path: path.to_owned(), what };
    let n = u32::try_from(mesh.triangles.len())
        .map_err(|_| unwritable(format!("STL counts to {} triangles, and it has more", u32::MAX)))?;
    let far = |v: &&DVec3| !(v.is_finite() && v.abs().max_element() <= f64::from(f32::MAX));
    if let Some(v) = mesh.vertices.iter().find(far) {
        return Err(unwritable(format!("its vertex ({:e}, {:e}, {:e}) is no triple of f32 numbers", v.x, v.y, v.z)));
    }
    atomic::write_with(path, |out| {
        let mut header = [0; 80];
        let title = b"binary STL by barchan, in metres";
        header[..title.len()].copy_from_slice(title);
        out.write_all(&header)?;
        out.write_all(&n.to_le_bytes())?;
        for i in 0..mesh.triangles.len() {
            let [a, b, c] = mesh.corners(i);
            let normal = (b - a).cross(c - a).normalize_or_zero();
            let mut row = [0; TRIANGLE];
            let numbers = [normal, a, b, c].into_iter().flat_map(|v| v.to_array());
            for (slot, x) in row.as_chunks_mut::<4>().0.iter_mut().zip(numbers) {
                *slot = (x as f32).to_le_bytes();
            }
            out.write_all(&row)?;
        }
        Ok(())
    })?;
    Ok(())
}
