//! Wavefront OBJ: vertices and faces; of faces `a`, `a/t`, `a//n`, `a/t/n` the first number, which may count backwards
//! from the latest vertex. Names, groups, materials, texture coordinates, normals, points and lines are passed over.
//! Free-form curves and surfaces are an error: passing over them would leave a hole.

use super::{Builder, Fault, Format, ReadFault, Source, lines, number, quoted};
use barchan_core::mesh::Mesh;
use glam::DVec3;

pub(super) const FORMAT: Format = Format { name: "OBJ", extensions: &["obj"], recognises, read };

/// Keywords that have nothing to do with the surface.
const PASSED: [&str; 20] = [
    "vt",
    "vn",
    "vp",
    "g",
    "o",
    "s",
    "p",
    "l",
    "mg",
    "usemtl",
    "mtllib",
    "usemap",
    "maplib",
    "bevel",
    "c_interp",
    "d_interp",
    "lod",
    "shadow_obj",
    "trace_obj",
    "call",
];

/// Whether a vertex is the first thing that is not a comment or a name.
fn recognises(bytes: &[u8]) -> bool {
    let mut lines = bytes.split(|b| *b == b'\n' || *b == b'\r').map(<[u8]>::trim_ascii);
    let first = lines
        .find(|l| !(l.is_empty() || [&b"#"[..], b"mtllib ", b"o ", b"g ", b"s "].iter().any(|p| l.starts_with(p))));
    first.is_some_and(|l| l.starts_with(b"v ") || l.starts_with(b"v\t"))
}

fn read(source: &Source<'_>) -> Result<Mesh, ReadFault> {
    let text = String::from_utf8_lossy(source.bytes);
    let mut builder = Builder::default();
    let mut face = Vec::new();
    // A face may name vertices that come later, so the range is checked at the end, by the highest that was named.
    let (mut highest, mut highest_line) = (0, 0);
    let mut joined = String::new();
    for (line, content) in lines(text.trim_start_matches('\u{feff}')) {
        let place = || format!("line {line}");
        let content = content.split('#').next().unwrap_or_default();
        // A backslash at the end of a line goes on with the next.
        if let Some(begun) = content.trim_end().strip_suffix('\\') {
            joined.push_str(begun);
            joined.push(' ');
            continue;
        }
        let whole;
        let content = if joined.is_empty() {
            content
        } else {
            joined.push_str(content);
            whole = std::mem::take(&mut joined);
            &whole
        };
        let mut words = content.split_ascii_whitespace();
        match words.next() {
            Some("v") => {
                let [x, y, z] =
                    [number(words.next(), place)?, number(words.next(), place)?, number(words.next(), place)?];
                builder.vertex(DVec3::new(x, y, z), place)?;
            }
            Some("f") => {
                face.clear();
                for word in words {
                    let index = index(word, builder.mesh.vertices.len()).map_err(|what| Fault::new(place(), what))?;
                    if index >= highest {
                        (highest, highest_line) = (index, line);
                    }
                    face.push(index);
                }
                if face.len() < 3 {
                    return Err(Fault::new(
                        place(),
                        format!("a face of {} vertices, where 3 is the least", face.len()),
                    )
                    .into());
                }
                builder.polygon(&face, place)?;
            }
            Some(keyword) if !PASSED.contains(&keyword) => {
                let what = format!("{} is no keyword of a polygon mesh", quoted(keyword));
                return Err(Fault::new(place(), what).into());
            }
            _ => {}
        }
    }
    if !joined.is_empty() {
        return Err(Fault::new("the last line", "it is to go on, and the file ends").into());
    }
    let n = builder.mesh.vertices.len();
    if !builder.mesh.triangles.is_empty() && highest as usize >= n {
        let what = format!("vertex {} is named, and there are {n}", u64::from(highest) + 1);
        return Err(Fault::new(format!("line {highest_line}"), what).into());
    }
    Ok(builder.mesh)
}

/// The vertex that a word such as `7`, `7/2/3` or `-1` names, after `known` vertices; counted from 0.
fn index(word: &str, known: usize) -> Result<u32, String> {
    let digits = word.split('/').next().unwrap_or_default();
    let number: i64 = digits.parse().map_err(|_| format!("{} is no vertex number", quoted(word)))?;
    let index = match number {
        0 => return Err("vertices are counted from 1, and 0 is named".into()),
        1.. => number - 1,
        _ => known as i64 + number,
    };
    if index < 0 {
        return Err(format!("vertex {number} counts back beyond the first of {known}"));
    }
    u32::try_from(index).map_err(|_| format!("vertex {number} is named, and u32 numbers end before that"))
}
