//! Frames as extended XYZ, the text format that OVITO and ASE read.
//!
//! One file holds every sphere of all matter: its material (`species`), `pos`, `radius`, `velo`, `mass`, `id` of the grain, the number of
//! its population, and the further columns that all populations share, in SI units. Numbers are the shortest decimals that read back as the
//! same number. The file is for other programs: barchan's own pictures are made from `.vtp` or `.ply`. It costs some 120 bytes a sphere.
//!
//! The format: a line with the number of rows, a line of `key=value`, then the rows [libAtoms, extxyz specification].

use crate::columns::{FrameError, check};
use crate::{atomic, decimal};
use barchan_core::frame::{Extra, Frame, Population, Values};
use std::fmt::Write as _;
use std::path::Path;

/// Ending of the files.
pub(crate) const EXTENSION: &str = "xyz";
/// What stands before the time in the second line.
pub(crate) const TIME: &str = "\nTime=";

/// Writes a frame, whole or not at all.
pub fn write(path: &Path, frame: &Frame) -> Result<(), FrameError> {
    Ok(atomic::write(path, &to_bytes(frame)?)?)
}

/// The bytes that [`write()`] puts into the file.
pub fn to_bytes(frame: &Frame) -> Result<Vec<u8>, FrameError> {
    check(frame)?;
    let matter: Vec<&Population> = frame.matter().collect();
    let shared = shared(&matter);
    let mut rows = String::new();
    let mut count = 0_usize;
    for (number, population) in matter.iter().enumerate() {
        let columns: Vec<&Extra> = shared.iter().filter_map(|name| population.extra(name)).collect();
        let spheres: Vec<_> = population.spheres().collect();
        for (s, mass) in spheres.iter().zip(crate::vtk::mass_shares(population, &spheres)) {
            let material = population.material[s.grain] as usize;
            rows.push_str(&word(frame.materials.get(material).map_or("matter", String::as_str)));
            let numbers = [s.centre.to_array().as_slice(), &[s.radius], &s.velocity.to_array(), &[mass]].concat();
            numbers.iter().for_each(|x| put(&mut rows, &decimal(*x)));
            put(&mut rows, &population.id[s.grain].to_string());
            put(&mut rows, &number.to_string());
            columns.iter().for_each(|extra| value(&mut rows, extra, s.grain));
            rows.push('\n');
            count += 1;
        }
    }
    let mut file = format!("{count}{TIME}{} Step={} ", decimal(frame.time), frame.step);
    file.push_str("Properties=species:S:1:pos:R:3:radius:R:1:velo:R:3:mass:R:1:id:I:1:population:I:1");
    if let Some(first) = matter.first() {
        for extra in shared.iter().filter_map(|name| first.extra(name)) {
            let kind = match extra.values {
                Values::F32(_) => "R:1",
                Values::Vec3(_) => "R:3",
                Values::U32(_) => "I:1",
            };
            // Writing to a string cannot fail.
            let _ = write!(file, ":{}:{kind}", word(&extra.name));
        }
    }
    file.push('\n');
    file.push_str(&rows);
    Ok(file.into_bytes())
}

/// Names of the further columns that every population has, with values of one type.
fn shared(matter: &[&Population]) -> Vec<String> {
    let Some((first, others)) = matter.split_first() else { return Vec::new() };
    let same = |a: &Extra, b: &Extra| std::mem::discriminant(&a.values) == std::mem::discriminant(&b.values);
    let everywhere = |e: &&Extra| others.iter().all(|p| p.extra(&e.name).is_some_and(|other| same(e, other)));
    first.extras.iter().filter(everywhere).map(|e| e.name.clone()).collect()
}

fn put(rows: &mut String, text: &str) {
    rows.push(' ');
    rows.push_str(text);
}

fn value(rows: &mut String, extra: &Extra, row: usize) {
    match &extra.values {
        Values::F32(v) => put(rows, &v[row].to_string()),
        Values::U32(v) => put(rows, &v[row].to_string()),
        Values::Vec3(v) => v[row].to_array().iter().for_each(|x| put(rows, &x.to_string())),
    }
}

/// A name as one word: blanks and what separates fields become `_`.
fn word(name: &str) -> String {
    let plain = |c: char| if c.is_whitespace() || matches!(c, ':' | '"' | '=' | '\\') { '_' } else { c };
    let word: String = name.chars().map(plain).collect();
    if word.is_empty() { "_".into() } else { word }
}
