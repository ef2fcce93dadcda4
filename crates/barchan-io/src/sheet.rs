//! Frames as tables of comma-separated values: one of all grains and particles, and one of each kind of pairs, such as contacts.
//!
//! The first line is a comment with the time, the second names columns and units. The table of grains can be read back as a packing
//! ([`crate::packing`]); pictures are made from `.vtp` or `.ply`. One row a sphere, some 150 bytes.

use crate::columns::{FrameError, check};
use crate::csv::quoted;
use crate::parts::{self, Kind};
use crate::{atomic, decimal};
use barchan_core::frame::{Extra, Frame, Pairs, Values};
use std::path::Path;

/// Ending of the files.
pub(crate) const EXTENSION: &str = "csv";
/// What stands before the time in the first line.
pub(crate) const TIME: &str = "# barchan time ";

/// Writes a frame: the table of grains, and beside it those of its pairs; each whole or not at all.
pub fn write(path: &Path, frame: &Frame) -> Result<(), FrameError> {
    check(frame)?;
    for p in &frame.pairs {
        atomic::write(&parts::path(path, Kind::Pairs, &p.name, EXTENSION), pairs(frame.time, p).as_bytes())?;
    }
    Ok(atomic::write(path, grains(frame).as_bytes())?)
}

fn head(time: f64, columns: &[String]) -> String {
    format!("{TIME}{} s\n{}\n", decimal(time), columns.iter().map(|c| quoted(c)).collect::<Vec<_>>().join(","))
}

fn three(name: &str, unit: &str) -> [String; 3] {
    ["x", "y", "z"].map(|axis| format!("{name}{axis} [{unit}]"))
}

fn of_extra(e: &Extra) -> Vec<String> {
    let unit = if e.unit.is_empty() { String::new() } else { format!(" [{}]", e.unit) };
    match e.values {
        Values::Vec3(_) => ["x", "y", "z"].map(|axis| format!("{} {axis}{unit}", e.name)).to_vec(),
        Values::F32(_) | Values::U32(_) => vec![format!("{}{unit}", e.name)],
    }
}

fn value(e: &Extra, row: usize) -> Vec<String> {
    match &e.values {
        Values::F32(v) => vec![v[row].to_string()],
        Values::U32(v) => vec![v[row].to_string()],
        Values::Vec3(v) => v[row].to_array().map(|x| x.to_string()).to_vec(),
    }
}

/// All spheres of all matter.
fn grains(frame: &Frame) -> String {
    let columns = [
        vec!["population".into(), "id".into(), "material".into()],
        three("", "m").to_vec(),
        vec!["radius [m]".into()],
        three("v", "m/s").to_vec(),
        three("w", "rad/s").to_vec(),
        vec!["mass [kg]".into()],
    ];
    let mut text = head(frame.time, &columns.concat());
    for p in frame.matter() {
        let spheres: Vec<_> = p.spheres().collect();
        for (s, mass) in spheres.iter().zip(crate::vtk::mass_shares(p, &spheres)) {
            let material = frame.materials.get(p.material[s.grain] as usize).map_or("matter", String::as_str);
            let words = [quoted(&p.name), p.id[s.grain].to_string(), quoted(material)];
            let moving = [s.velocity, p.spin_of(s.grain)].map(|v| v.to_array()).concat();
            let numbers = [&s.centre.to_array()[..], &[s.radius], &moving, &[mass]].concat().into_iter().map(decimal);
            text.push_str(&words.into_iter().chain(numbers).collect::<Vec<_>>().join(","));
            text.push('\n');
        }
    }
    text
}

/// One kind of pairs; an empty second id is a wall.
fn pairs(time: f64, p: &Pairs) -> String {
    let ends = [three("first ", "m"), three("second ", "m")].concat();
    let extras: Vec<String> = p.extras.iter().flat_map(of_extra).collect();
    let mut text = head(time, &[vec!["first id".into(), "second id".into()], ends, extras].concat());
    for (row, (id, ends)) in p.id.iter().zip(p.ends.iter()).enumerate() {
        let id = id.map(|id| if id == Pairs::NOBODY { String::new() } else { id.to_string() });
        let ends = ends.iter().flat_map(|end| end.to_array().map(decimal));
        let extras = p.extras.iter().flat_map(|e| value(e, row));
        text.push_str(&id.into_iter().chain(ends).chain(extras).collect::<Vec<_>>().join(","));
        text.push('\n');
    }
    text
}
