//! Outlines and lines on a map: shapefiles (`.shp`) and GeoJSON (`.geojson`, `.json`); GeoJSON is written too.
//!
//! [`read`] gives [`Feature`]s: rings of an area or points of a line, in the coordinates of the file, with the numbers and words that the file says of them.
//! Reading is strict: what is cut short, altered, or says what cannot be gives an error that names file, place and remedy.

mod dbf;
mod geojson;
mod shapefile;

pub use geojson::to_geojson;

use crate::atomic::FileError;
use crate::fault::Fault;
use crate::source;
use crate::terrain::{degrees, projection};
use glam::DVec2;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Bytes a file may hold: outlines of avalanches have kilobytes.
pub const MOST_BYTES: u64 = 1 << 28;

/// What stands on a map.
#[derive(Clone, Debug, PartialEq)]
pub struct Feature {
    /// Rings of an area, closed without the first point again; or the parts of a line.
    pub parts: Vec<Vec<DVec2>>,
    /// Whether it is an area.
    pub area: bool,
    /// Numbers by their names, in lower case.
    pub numbers: BTreeMap<String, f64>,
    /// Words by their names, in lower case.
    pub words: BTreeMap<String, String>,
}

/// The content of a file.
#[derive(Clone, Debug, PartialEq)]
pub struct Features {
    /// What stands in it.
    pub all: Vec<Feature>,
    /// Whether its coordinates are degrees, as far as the file says it.
    pub degrees: bool,
    /// The file.
    pub path: PathBuf,
}

/// Why outlines could not be read.
#[derive(Debug, thiserror::Error)]
pub enum VectorError {
    /// The file could not be read.
    #[error(transparent)]
    File(#[from] FileError),
    /// The file is cut short, altered, or says what cannot be.
    #[error("{} has no outlines that can be used: {place}: {what}", path.display())]
    Broken {
        /// The file.
        path: PathBuf,
        /// Where in it.
        place: String,
        /// What was found there, and the remedy.
        what: String,
    },
}

/// Reads a shapefile or GeoJSON, by content.
pub fn read(path: impl AsRef<Path>) -> Result<Features, VectorError> {
    let path = path.as_ref();
    let broken = |Fault { place, what }| VectorError::Broken { path: path.to_owned(), place, what };
    let bytes = source::read(path, MOST_BYTES)?.ok_or_else(|| {
        let what = format!("it has more than {MOST_BYTES} bytes, the limit: cut out the part that is needed");
        broken(Fault::new("the whole file", what))
    })?;
    if bytes.starts_with(&shapefile::CODE) {
        let mut all = shapefile::read(&bytes).map_err(broken)?;
        let table = path.with_extension("dbf");
        if table.exists() {
            let bytes = source::read(&table, MOST_BYTES)?.unwrap_or_default();
            let rows = dbf::read(&bytes).map_err(|Fault { place, what }| VectorError::Broken {
                path: table.clone(),
                place,
                what,
            })?;
            for (feature, (numbers, words)) in all.iter_mut().zip(rows) {
                (feature.numbers, feature.words) = (numbers, words);
            }
        }
        all.retain(|f| !f.parts.is_empty());
        let degrees = projection(path).as_deref().is_some_and(degrees);
        return Ok(Features { all, degrees, path: path.to_owned() });
    }
    let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes).trim_ascii_start();
    if !text.starts_with(b"{") {
        let what = "neither a shapefile (.shp) nor GeoJSON: export it as one of them";
        return Err(broken(Fault::new("byte 0", what)));
    }
    let (all, degrees) = geojson::read(text).map_err(broken)?;
    Ok(Features { all, degrees, path: path.to_owned() })
}

impl Features {
    /// The areas; an error where there is none.
    pub fn areas(&self) -> Result<Vec<&Feature>, VectorError> {
        self.those(true, "no polygon in it", "an outline is an area: export polygons, not lines or points")
    }

    /// The first line, its parts one after another; an error where there is none.
    pub fn line(&self) -> Result<Vec<DVec2>, VectorError> {
        let lines = self.those(false, "no line in it", "a path is a line: export lines, not polygons or points")?;
        Ok(lines[0].parts.concat())
    }

    fn those(&self, area: bool, what: &str, help: &str) -> Result<Vec<&Feature>, VectorError> {
        let found: Vec<&Feature> = self.all.iter().filter(|f| f.area == area && !f.parts.is_empty()).collect();
        if found.is_empty() {
            let (path, place) = (self.path.clone(), "the whole file".into());
            return Err(VectorError::Broken { path, place, what: format!("{what}: {help}") });
        }
        Ok(found)
    }
}

/// A ring without the first point at its end; a fault where it is none.
fn ring(mut points: Vec<DVec2>, place: impl Fn() -> String) -> Result<Vec<DVec2>, Fault> {
    if points.len() > 1 && points.first() == points.last() {
        points.pop();
    }
    if points.len() < 3 {
        return Err(Fault::new(place(), "a ring of fewer than three points: draw it again"));
    }
    Ok(points)
}

/// Points that are numbers.
fn sound(points: &[DVec2], place: impl Fn() -> String) -> Result<(), Fault> {
    match points.iter().all(|p| p.is_finite()) {
        true => Ok(()),
        false => Err(Fault::new(place(), "a coordinate is no number: export it again")),
    }
}
