//! The parts of a frame that have files of their own beside the file of the grains.
//!
//! The file of the grains, `000123.vtp`, is the frame's main file: it also holds time, walls and names of materials, and a frame
//! without grains has it too. A further population is `sand_000123.vtp`, pairs are `pairs.contacts_000123.vtp`, a surface is
//! `surface.skin_000123.vtp`, a grid is `grid.pressure_000123.vti`. Where there are such parts, the main file names them in order;
//! in a frame of grains alone it says nothing of parts.

use crate::frames::{Damage, damage};
use barchan_core::frame::{Frame, GRAINS};
use std::fmt::Write as _;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Ending of the files of grids.
pub(crate) const GRID: &str = "vti";
/// Name of the array that holds a part's name in its own file; also the mark by which such a file is known as ours.
pub(crate) const NAME: &str = "barchan_part";
/// First line of a `.ply` after its format.
pub(crate) const PLY_MARK: &str = "comment barchan:";
/// Bytes at the start of a file within which its mark and its time stand.
pub(crate) const HEAD: u64 = 4096;

/// What a part is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Population,
    Pairs,
    Grid,
    Surface,
}

impl Kind {
    pub(crate) const ALL: [Kind; 4] = [Kind::Population, Kind::Pairs, Kind::Grid, Kind::Surface];

    /// Name of the array in a main `.vtp` that lists the parts of this kind.
    pub(crate) fn list(self) -> &'static str {
        match self {
            Kind::Population => "population_names",
            Kind::Pairs => "pairs_names",
            Kind::Grid => "grid_names",
            Kind::Surface => "surface_names",
        }
    }

    /// Word before the name in a comment of a main `.ply`.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Kind::Population => "population",
            Kind::Pairs => "pairs",
            Kind::Grid => "grid",
            Kind::Surface => "surface",
        }
    }

    /// What stands before the name of a part in the name of its file. Names have no dot there.
    fn prefix(self) -> &'static str {
        match self {
            Kind::Population => "",
            Kind::Pairs => "pairs.",
            Kind::Grid => "grid.",
            Kind::Surface => "surface.",
        }
    }
}

/// Names of a frame's parts, kind by kind, in the frame's order; the grains among the populations.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Index([Vec<String>; 4]);

impl Index {
    /// The parts of a frame.
    pub(crate) fn of(frame: &Frame) -> Index {
        Index([
            frame.populations.iter().map(|p| p.name.clone()).collect(),
            frame.pairs.iter().map(|p| p.name.clone()).collect(),
            frame.grids.iter().map(|g| g.name.clone()).collect(),
            frame.surfaces.iter().map(|s| s.name.clone()).collect(),
        ])
    }

    /// Whether the main file holds everything.
    pub(crate) fn is_plain(&self) -> bool {
        self.files().next().is_none()
    }

    /// The names of a kind, in order.
    pub(crate) fn names(&self, kind: Kind) -> &[String] {
        &self.0[kind as usize]
    }

    /// Adds a part.
    pub(crate) fn push(&mut self, kind: Kind, name: String) {
        self.0[kind as usize].push(name);
    }

    /// Every name with its kind.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (Kind, &str)> {
        Kind::ALL.into_iter().flat_map(|kind| self.names(kind).iter().map(move |name| (kind, name.as_str())))
    }

    /// The parts that have files of their own.
    pub(crate) fn files(&self) -> impl Iterator<Item = (Kind, &str)> {
        self.iter().filter(|(kind, name)| *kind != Kind::Population || *name != GRAINS)
    }

    /// A name that two parts of a kind have.
    pub(crate) fn twice(&self) -> Option<&str> {
        let twice = |names: &[String]| (1..names.len()).find(|i| names[..*i].contains(&names[*i]));
        Kind::ALL.iter().find_map(|kind| Some(self.names(*kind)[twice(self.names(*kind))?].as_str()))
    }

    /// Refuses what no frame can be: `rows` are those of the main file.
    pub(crate) fn check(&self, rows: usize) -> Result<(), Damage> {
        if let Some(name) = self.twice() {
            return damage("names of parts", format!("two parts are named `{name}`"));
        }
        if rows > 0 && !self.names(Kind::Population).iter().any(|name| name == GRAINS) {
            return damage(Kind::Population.list(), format!("{rows} rows of grains, but no population `{GRAINS}`"));
        }
        Ok(())
    }
}

/// The file of a part beside a frame's main file; all parts of a frame in PLY but its grids end in `ply`.
pub(crate) fn path(main: &Path, kind: Kind, name: &str, extension: &str) -> PathBuf {
    let number = main.file_stem().unwrap_or_default().to_string_lossy();
    let extension = if kind == Kind::Grid { GRID } else { extension };
    main.with_file_name(format!("{}{}_{number}.{extension}", kind.prefix(), slug(name)))
}

/// A name as it can stand in the name of a file on any system: letters, digits and `-` as they are, other bytes as `~` and two
/// digits of base 16, so that two names never meet.
fn slug(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    for byte in name.bytes() {
        if byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_' {
            out.push(char::from(byte));
        } else {
            // Writing to a string cannot fail.
            let _ = write!(out, "~{byte:02x}");
        }
    }
    out
}

/// Number of the frame that a part of this file name (without its ending) belongs to; none for other names.
pub(crate) fn number(stem: &str) -> Option<u64> {
    let (_, digits) = stem.rsplit_once('_')?;
    (digits.len() >= 6 && digits.bytes().all(|b| b.is_ascii_digit())).then(|| digits.parse().ok())?
}

/// Whether a file says that it is a part written by us: others may lie in the folder under similar names.
pub(crate) fn is_ours(path: &Path) -> bool {
    let mut head = Vec::new();
    let read = File::open(path).and_then(|file| file.take(HEAD).read_to_end(&mut head));
    let head = String::from_utf8_lossy(&head);
    let vtk = || head.contains(&format!("Name=\"{NAME}\""));
    let ply = || head.starts_with("ply\n") && head.contains(&format!("\n{PLY_MARK}"));
    read.is_ok() && (vtk() || ply() || head.starts_with(crate::sheet::TIME))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_files_are_plain_and_differ() {
        let main = Path::new("frames/000012.vtp");
        let file = |kind, name| path(main, kind, name, "vtp").to_string_lossy().into_owned();
        assert_eq!(file(Kind::Population, "sand"), "frames/sand_000012.vtp");
        assert_eq!(file(Kind::Grid, "p"), "frames/grid.p_000012.vti");
        assert_eq!(file(Kind::Surface, "a/b ä"), "frames/surface.a~2fb~20~c3~a4_000012.vtp");
        assert_ne!(file(Kind::Population, "grid.p"), file(Kind::Grid, "p"));
        assert_eq!(number("sand_000012"), Some(12));
        assert_eq!((number("sand_12"), number("000012"), number("sand_00001x")), (None, None, None));
    }
}
