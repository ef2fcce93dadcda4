//! Frames as points for effects tools: binary little-endian PLY [Turk 1994].
//!
//! A row is a sphere, as in [`crate::vtk`]: `x y z`, `radius`, `vx vy vz`, `id` and `material` of the grain, in SI units
//! and f32, which every reader of PLY knows. For measuring, use `.vtp`, whose positions are f64. Time, step and the names
//! of the materials stand in comments. It costs 34 bytes a sphere.
//!
//! What a frame has beside grains goes to files beside theirs (see `parts`): further populations, whose rows also have `mass`,
//! `wx wy wz` where they turn, and their extras; pairs as vertices and edges; surfaces as vertices and faces. Comments name each extra
//! with its type and unit. Grids go to `.vti`, for PLY has none.

use crate::atomic;
use crate::columns::{FrameError, check, check_surface, vec3_f32};
use crate::parts::{self, Index, Kind, PLY_MARK};
use crate::vtk::Packing;
use crate::{decimal, vti};
use barchan_core::frame::{Extra, Frame, Pairs, Population, Surface, Values};
use std::fmt::Write as _;
use std::path::Path;

/// Columns of a sphere that all populations have: 34 bytes.
pub(crate) const SPHERE: [&str; 9] =
    ["float x", "float y", "float z", "float radius", "float vx", "float vy", "float vz", "uint id", "ushort material"];
/// Bytes of [`SPHERE`].
pub(crate) const SPHERE_BYTES: usize = 34;
/// Column of a sphere in the file of a further population.
pub(crate) const MASS: &str = "float mass";
/// Columns of a sphere of a population whose pieces turn.
pub(crate) const SPIN: [&str; 3] = ["float wx", "float wy", "float wz"];
/// Columns of a vertex.
pub(crate) const VERTEX: [&str; 3] = ["float x", "float y", "float z"];
/// Columns of a pair.
pub(crate) const EDGE: [&str; 4] = ["int vertex1", "int vertex2", "uint id1", "uint id2"];
/// Columns of a triangle.
pub(crate) const FACE: &str = "list uchar int vertex_indices";

/// Writes a frame as `.ply` with its further parts beside it, each file whole or not at all and the frame's own last.
pub fn write(path: &Path, frame: &Frame) -> Result<(), FrameError> {
    vti::write_grids(path, frame, Packing::Raw)?;
    write_but_grids(path, frame)
}

/// The same without the files of grids.
pub(crate) fn write_but_grids(path: &Path, frame: &Frame) -> Result<(), FrameError> {
    let main = to_bytes(frame)?;
    let file = |kind, name: &str| parts::path(path, kind, name, "ply");
    for p in Index::of(frame).files().filter(|(kind, _)| *kind == Kind::Population) {
        let Some(population) = frame.population(p.1) else { continue };
        atomic::write(&file(Kind::Population, p.1), &self::population(frame, population))?;
    }
    for pairs in &frame.pairs {
        atomic::write(&file(Kind::Pairs, &pairs.name), &self::pairs(frame, pairs))?;
    }
    for surface in &frame.surfaces {
        atomic::write(&file(Kind::Surface, &surface.name), &self::surface(frame, surface))?;
    }
    Ok(atomic::write(path, &main)?)
}

/// Writes a surface of a frame as a `.ply` of its own.
pub fn write_surface(path: &Path, frame: &Frame, surface: &Surface) -> Result<(), FrameError> {
    check_surface(frame.time, surface)?;
    Ok(atomic::write(path, &self::surface(frame, surface))?)
}

/// The bytes that [`write()`] puts into the frame's own file.
pub fn to_bytes(frame: &Frame) -> Result<Vec<u8>, FrameError> {
    check(frame)?;
    let grains = frame.grains();
    let mut rows = Vec::with_capacity(SPHERE_BYTES * grains.len());
    let mut count = 0_usize;
    for s in grains.spheres() {
        sphere(grains, &s, &mut rows);
        count += 1;
    }
    let mut file = header(frame, "spheres of grains");
    names(&mut file, frame);
    let index = Index::of(frame);
    if !index.is_plain() {
        for (kind, name) in index.iter() {
            let _ = writeln!(file, "comment {} {}", kind.word(), escape(name));
        }
    }
    element(&mut file, "vertex", count, &layout(&SPHERE, &[]));
    Ok(end(file, &[&rows]))
}

/// A further population, sphere by sphere; a grain's mass is shared among its spheres as in [`crate::vtk`].
fn population(frame: &Frame, population: &Population) -> Vec<u8> {
    let spheres: Vec<_> = population.spheres().collect();
    let mut rows = Vec::new();
    for (s, mass) in spheres.iter().zip(crate::vtk::mass_shares(population, &spheres)) {
        sphere(population, s, &mut rows);
        rows.extend_from_slice(&(mass as f32).to_le_bytes());
        if !population.spin.is_empty() {
            rows.extend_from_slice(&vec3_f32(population.spin[s.grain]));
        }
        put(&population.extras, s.grain, &mut rows);
    }
    let mut file = header(frame, "spheres");
    names(&mut file, frame);
    declare(&mut file, &population.extras);
    let spin = if population.spin.is_empty() { &SPIN[..0] } else { &SPIN };
    let fixed = [&SPHERE[..], &[MASS], spin].concat();
    element(&mut file, "vertex", spheres.len(), &layout(&fixed, &population.extras));
    end(file, &[&rows])
}

/// Pairs as edges, each between two vertices of its own.
fn pairs(frame: &Frame, pairs: &Pairs) -> Vec<u8> {
    let (mut vertices, mut edges) = (Vec::new(), Vec::new());
    for (row, (ends, id)) in pairs.ends.iter().zip(pairs.id.iter()).enumerate() {
        ends.iter().for_each(|end| vertices.extend_from_slice(&vec3_f32(*end)));
        [0, 1].iter().for_each(|k| edges.extend_from_slice(&((2 * row + k) as i32).to_le_bytes()));
        id.iter().for_each(|id| edges.extend_from_slice(&id.to_le_bytes()));
        put(&pairs.extras, row, &mut edges);
    }
    let mut file = header(frame, "pairs");
    declare(&mut file, &pairs.extras);
    element(&mut file, "vertex", 2 * pairs.ends.len(), &layout(&VERTEX, &[]));
    element(&mut file, "edge", pairs.ends.len(), &layout(&EDGE, &pairs.extras));
    end(file, &[&vertices, &edges])
}

/// A surface as faces of three corners.
fn surface(frame: &Frame, surface: &Surface) -> Vec<u8> {
    let (mut vertices, mut faces) = (Vec::new(), Vec::with_capacity(13 * surface.triangles.len()));
    for (row, vertex) in surface.vertices.iter().enumerate() {
        vertices.extend_from_slice(&vec3_f32(*vertex));
        put(&surface.extras, row, &mut vertices);
    }
    for triangle in surface.triangles.iter() {
        faces.push(3);
        triangle.iter().for_each(|v| faces.extend_from_slice(&v.to_le_bytes()));
    }
    let mut file = header(frame, "a surface");
    let _ = writeln!(file, "comment surface_material {}", surface.material);
    declare(&mut file, &surface.extras);
    element(&mut file, "vertex", surface.vertices.len(), &layout(&VERTEX, &surface.extras));
    element(&mut file, "face", surface.triangles.len(), &[FACE.to_owned()]);
    end(file, &[&vertices, &faces])
}

fn header(frame: &Frame, what: &str) -> String {
    let mut file = String::from("ply\nformat binary_little_endian 1.0\n");
    // Writing to a string cannot fail.
    let _ = writeln!(file, "{PLY_MARK} {what}, SI units");
    let _ = writeln!(file, "comment time {}", decimal(frame.time));
    let _ = writeln!(file, "comment step {}", frame.step);
    file
}

fn names(file: &mut String, frame: &Frame) {
    for name in frame.materials.iter() {
        let _ = writeln!(file, "comment material {}", escape(name));
    }
}

/// Names the extras with their types and units: `comment extra vec3 flow m/s`.
fn declare(file: &mut String, extras: &[Extra]) {
    for extra in extras {
        let kind = match extra.values {
            Values::F32(_) => "f32",
            Values::Vec3(_) => "vec3",
            Values::U32(_) => "u32",
        };
        let word = |text: &str| escape(text).replace(' ', "\\u{20}");
        let unit = if extra.unit.is_empty() { String::new() } else { format!(" {}", word(&extra.unit)) };
        let _ = writeln!(file, "comment extra {kind} {}{unit}", word(&extra.name));
    }
}

/// The properties of an element: columns it always has, then the extras under names that PLY allows.
pub(crate) fn layout(fixed: &[&str], extras: &[Extra]) -> Vec<String> {
    let mut all: Vec<String> = fixed.iter().map(ToString::to_string).collect();
    for extra in extras {
        let mut name: String = extra.name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
        let columns = |name: &str| match extra.values {
            Values::F32(_) => vec![format!("float {name}")],
            Values::U32(_) => vec![format!("uint {name}")],
            Values::Vec3(_) => ["x", "y", "z"].map(|axis| format!("float {name}_{axis}")).to_vec(),
        };
        let word = |column: &String| column.rsplit(' ').next().map(str::to_owned);
        while columns(&name).iter().any(|new| all.iter().any(|old| word(old) == word(new))) || name.is_empty() {
            name.push('_');
        }
        all.extend(columns(&name));
    }
    all
}

fn element(file: &mut String, name: &str, count: usize, properties: &[String]) {
    let _ = writeln!(file, "element {name} {count}");
    for property in properties {
        let _ = writeln!(file, "property {property}");
    }
}

fn end(mut header: String, rows: &[&[u8]]) -> Vec<u8> {
    header.push_str("end_header\n");
    [&[header.as_bytes()], rows].concat().concat()
}

fn sphere(population: &Population, s: &barchan_core::frame::SphereView, rows: &mut Vec<u8>) {
    rows.extend_from_slice(&vec3_f32(s.centre));
    rows.extend_from_slice(&(s.radius as f32).to_le_bytes());
    rows.extend_from_slice(&vec3_f32(s.velocity));
    rows.extend_from_slice(&population.id[s.grain].to_le_bytes());
    rows.extend_from_slice(&population.material[s.grain].to_le_bytes());
}

fn put(extras: &[Extra], row: usize, to: &mut Vec<u8>) {
    for extra in extras {
        match &extra.values {
            Values::F32(v) => to.extend_from_slice(&v[row].to_le_bytes()),
            Values::U32(v) => to.extend_from_slice(&v[row].to_le_bytes()),
            Values::Vec3(v) => v[row].to_array().iter().for_each(|x| to.extend_from_slice(&x.to_le_bytes())),
        }
    }
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
