//! What scenes name on maps: outlines and thicknesses of releases, lines, rasters.

use crate::copies;
use barchan_io::terrain;
use barchan_io::vector::{self, VectorError};
use barchan_scene::{Field, Line, Snow};
use std::path::Path;
use std::sync::Arc;

/// What is said of coordinates in degrees.
fn degrees(path: &Path) -> String {
    format!(
        "{} has coordinates in degrees: project it to the map of the elevation model, for example with `ogr2ogr -t_srs EPSG:32633 OUT IN`",
        path.display()
    )
}

fn features(name: &str, folder: &Path) -> Result<vector::Features, String> {
    let path = copies::located(name, folder);
    let found = vector::read(&path).map_err(|e: VectorError| e.to_string())?;
    if found.degrees { Err(degrees(&path)) } else { Ok(found) }
}

/// A release from a file of outlines, or from a raster of thicknesses.
pub(crate) fn snow(name: &str, outlines: bool, folder: &Path) -> Result<Snow, String> {
    if !outlines {
        let field = field(name, folder)?;
        return Ok(Snow { areas: Vec::new(), path: field.path.clone(), field: Some(field) });
    }
    let found = features(name, folder)?;
    // The names that AvaFrame and its forerunners give to it.
    let thickness = |numbers: &std::collections::BTreeMap<String, f64>| {
        ["thickness", "th", "d0"].iter().find_map(|key| numbers.get(*key).copied())
    };
    let areas = found.areas().map_err(|e| e.to_string())?;
    let areas = areas.iter().map(|f| (f.parts.clone(), thickness(&f.numbers))).collect();
    Ok(Snow { areas, field: None, path: found.path.clone() })
}

/// A line.
pub(crate) fn line(name: &str, folder: &Path) -> Result<Line, String> {
    let found = features(name, folder)?;
    let points = found.line().map_err(|e| e.to_string())?;
    Ok(Line { points, path: found.path.clone() })
}

/// A raster of numbers.
pub(crate) fn field(name: &str, folder: &Path) -> Result<Field, String> {
    let path = copies::located(name, folder);
    let read = terrain::read(&path).map_err(|e| e.to_string())?;
    if read.degrees {
        return Err(degrees(&path));
    }
    read.square_cell().map_err(|e| e.to_string())?;
    Ok(Field { size: read.size, georeference: read.georeference, values: Arc::new(read.heights), path })
}
