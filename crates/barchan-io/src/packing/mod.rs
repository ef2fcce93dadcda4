//! Packings: grains as somebody left them, read from files of ours and of others.
//!
//! | file | what is read |
//! |---|---|
//! | `.csv`, `.tsv`, `.txt` | a table with a heading: see `csv.rs` |
//! | `.vtp`, `.ply` | frames as barchan writes them; of `.ply` no spins |
//! | LAMMPS data, LAMMPS dump | see `lammps.rs`; known by their first lines |
//! | `.barchan` | a packing as [`write()`] makes it |
//!
//! All numbers come out as they stand in the file; whoever reads says what its unit of length is.

mod csv;
mod lammps;

use crate::atomic::FileError;
use crate::container::{Container, ContainerError, ContainerWriter};
use crate::frames::{self, ReadError};
use crate::source;
use barchan_core::frame::Frame;
use barchan_core::packed::Packed;
use glam::DVec3;
use std::path::{Path, PathBuf};

/// Meaning of the sections of a `.barchan` packing.
const VERSION: u32 = 1;
/// Largest file of text that is read [bytes].
const MOST: u64 = 4 << 30;

/// Why a packing could not be read.
#[derive(Debug, thiserror::Error)]
pub enum PackingError {
    /// The file could not be read.
    #[error(transparent)]
    File(#[from] FileError),
    /// A frame of ours that is damaged.
    #[error(transparent)]
    Frame(#[from] ReadError),
    /// A packing of ours that is damaged.
    #[error(transparent)]
    Container(#[from] ContainerError),
    /// A line that cannot be read.
    #[error("{}, line {line}: {what}", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// The line, counted from 1.
        line: usize,
        /// What is wrong with it.
        what: String,
    },
    /// A file that makes no packing.
    #[error("{}: {what}", path.display())]
    Unfit {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        what: String,
    },
}

/// Line, counted from 1, and what is wrong with it; line 0 for the whole file.
type Wrong = (usize, String);

/// Reads a packing from a file of any known kind.
pub fn read(path: &Path) -> Result<Packed, PackingError> {
    let extension = path.extension().and_then(|e| e.to_str()).unwrap_or_default().to_ascii_lowercase();
    let packed = match extension.as_str() {
        "barchan" => own(path)?,
        "vtp" => of_frame(&frames::read_vtp(path)?),
        "ply" => of_frame(&frames::read_ply(path)?),
        _ => {
            let unfit = |what: String| PackingError::Unfit { path: path.into(), what };
            let bytes = source::read(path, MOST)?.ok_or_else(|| unfit("the file is larger than 4 GiB".into()))?;
            let text =
                std::str::from_utf8(&bytes).map_err(|e| unfit(format!("byte {} is not text", e.valid_up_to())))?;
            let read = match kind(text, &extension) {
                Kind::Dump => lammps::dump(text),
                Kind::Data => lammps::data(text),
                Kind::Table => csv::table(text),
            };
            read.map_err(|(line, what)| match line {
                0 => unfit(what),
                _ => PackingError::Line { path: path.into(), line, what },
            })?
        }
    };
    match packed.fault() {
        None => Ok(packed),
        Some(what) => Err(PackingError::Unfit { path: path.into(), what }),
    }
}

enum Kind {
    Dump,
    Data,
    Table,
}

/// What a text is, by its first lines.
fn kind(text: &str, extension: &str) -> Kind {
    let head: Vec<&str> = text.lines().take(40).collect();
    let counts_atoms = |l: &&str| {
        let words: Vec<&str> = l.split_whitespace().collect();
        matches!(words[..], [n, "atoms", ..] if n.parse::<u64>().is_ok())
    };
    if head.first().is_some_and(|l| l.starts_with("ITEM:")) {
        Kind::Dump
    } else if !matches!(extension, "csv" | "tsv") && head.iter().any(counts_atoms) {
        Kind::Data
    } else {
        Kind::Table
    }
}

/// The grains of a frame; every sphere of a clump is a row with the clump's id, which [`Packed::fault`] refuses.
pub fn of_frame(frame: &Frame) -> Packed {
    let g = frame.grains();
    let finite = |v: Vec<DVec3>| if v.iter().all(|x| x.is_finite()) { v } else { Vec::new() };
    Packed {
        position: g.position.to_vec(),
        radius: g.radius.to_vec(),
        velocity: finite(g.velocity.to_vec()),
        spin: finite(g.spin.to_vec()),
        id: g.id.to_vec(),
        material: if frame.materials.is_empty() { Vec::new() } else { g.material.to_vec() },
        materials: frame.materials.to_vec(),
        density: Vec::new(),
    }
}

/// Writes a packing, whole or not at all.
pub fn write(path: &Path, packed: &Packed) -> Result<(), PackingError> {
    let mut out = ContainerWriter::new(VERSION);
    out.put_vec3s("packing/position", &packed.position);
    out.put_f64s("packing/radius", &packed.radius);
    out.put_vec3s("packing/velocity", &packed.velocity);
    out.put_vec3s("packing/spin", &packed.spin);
    out.put_u32s("packing/id", &packed.id);
    out.put_u16s("packing/material", &packed.material);
    out.put_strings("packing/materials", &packed.materials);
    out.put_f64s("packing/density", &packed.density);
    Ok(out.write(path)?)
}

fn own(path: &Path) -> Result<Packed, PackingError> {
    let file = Container::read(path)?;
    if !file.has("packing/position") {
        let what = "this is no packing but a checkpoint: begin from it with `barchan run NEW --from FOLDER`".into();
        return Err(PackingError::Unfit { path: path.into(), what });
    }
    let three = |name: &str| -> Result<Vec<DVec3>, ContainerError> {
        Ok(file.f64s(name)?.as_chunks::<3>().0.iter().map(|v| DVec3::from_array(*v)).collect())
    };
    Ok(Packed {
        position: three("packing/position")?,
        radius: file.f64s("packing/radius")?,
        velocity: three("packing/velocity")?,
        spin: three("packing/spin")?,
        id: file.u32s("packing/id")?,
        material: file.u16s("packing/material")?,
        materials: file.strings("packing/materials")?,
        density: file.f64s("packing/density")?,
    })
}

/// Columns by name as they are gathered from rows of text.
#[derive(Default)]
struct Gathered {
    packed: Packed,
    /// Types or names of materials, by index of `packed.materials`.
    types: Vec<String>,
}

/// What a column of a file is.
#[derive(Clone, Copy, Debug, PartialEq)]
enum What {
    Id,
    Type,
    Material,
    Place(usize),
    Radius,
    Diameter,
    Velocity(usize),
    Spin(usize),
    Density,
    Other,
}

impl Gathered {
    /// Takes a row of words whose meanings and factors are given.
    fn row(&mut self, words: &[&str], columns: &[(What, f64)]) -> Result<(), String> {
        if words.len() < columns.len() {
            return Err(format!("{} columns are expected, and {} are here", columns.len(), words.len()));
        }
        let p = &mut self.packed;
        let (mut x, mut v, mut w) = (DVec3::ZERO, DVec3::ZERO, DVec3::ZERO);
        let (mut has_velocity, mut has_spin) = (false, false);
        for (word, (what, factor)) in words.iter().zip(columns) {
            let number = || -> Result<f64, String> {
                let value: f64 = word.parse().map_err(|_| format!("{} is no number", source::quoted(word)))?;
                Ok(value * factor)
            };
            match *what {
                What::Id => {
                    let id = word.parse::<u32>().ok().or_else(|| {
                        word.parse::<f64>().ok().filter(|x| x.fract() == 0.0 && *x >= 0.0).map(|x| x as u32)
                    });
                    p.id.push(id.ok_or_else(|| format!("{} is no id", source::quoted(word)))?);
                }
                What::Type | What::Material => {
                    let found = self.types.iter().position(|t| t == word);
                    let index = found.unwrap_or_else(|| {
                        self.types.push((*word).to_owned());
                        self.types.len() - 1
                    });
                    let index = u16::try_from(index).map_err(|_| "there are more than 65535 types".to_owned())?;
                    p.material.push(index);
                }
                What::Place(k) => x[k] = number()?,
                What::Radius => p.radius.push(number()?),
                What::Diameter => p.radius.push(0.5 * number()?),
                What::Velocity(k) => (v[k], has_velocity) = (number()?, true),
                What::Spin(k) => (w[k], has_spin) = (number()?, true),
                What::Density => p.density.push(number()?),
                What::Other => {}
            }
        }
        p.position.push(x);
        if has_velocity {
            p.velocity.push(v);
        }
        if has_spin {
            p.spin.push(w);
        }
        Ok(())
    }

    fn finish(self) -> Packed {
        Packed { materials: self.types, ..self.packed }
    }
}
