//! ESRI ASCII grids (`.asc`): a header of keys and numbers, then heights from the north-west, row by row.
//!
//! As ArcGIS documents it: keys in any case and order, `NODATA_value` −9999 where it is not given, numbers parted by any white
//! space. The corner is kept as the place on the map: a ground lies where its scene puts it. The file does not know its units; a `.prj` beside
//! it does, and is asked whether they are degrees.

use super::{Fault, Format, Grid, ReadFault, Spacing, checked_size, southern_first};
use crate::source::{lines, quoted};
use barchan_core::georeference::{Georeference, System};
use glam::DVec2;
use std::path::Path;

pub(super) const FORMAT: Format = Format { extensions: &["asc", "agr", "grd"], recognises, read };

const KEYS: &str = "ncols, nrows, xllcorner, yllcorner, cellsize, NODATA_value";

/// The header's end is where a line begins with a number; keys begin with a letter.
fn is_key(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_alphabetic()) && !word.eq_ignore_ascii_case("nan")
}

fn recognises(bytes: &[u8]) -> bool {
    let start = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes).trim_ascii_start();
    start.get(..5).is_some_and(|s| s.eq_ignore_ascii_case(b"ncols") || s.eq_ignore_ascii_case(b"nrows"))
}

fn number(word: &str, place: impl Fn() -> String) -> Result<f64, Fault> {
    word.parse().map_err(|_| {
        let remedy = if word.contains(',') { ": write decimals with a point, and spaces between numbers" } else { "" };
        Fault::new(place(), format!("{} is not a number{remedy}", quoted(word)))
    })
}

fn read(bytes: &[u8], path: &Path) -> Result<Grid, ReadFault> {
    let text = std::str::from_utf8(bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes)).map_err(|e| {
        Fault::new(format!("byte {}", e.valid_up_to()), "no text: an ESRI ASCII grid is; export it again")
    })?;
    let mut words =
        lines(text).flat_map(|(line, content)| content.split_ascii_whitespace().map(move |w| (line, w))).peekable();
    let (mut sides, mut cell, mut nodata) = ([None; 2], None, -9999.0);
    let (mut anchor, mut centred) = ([None; 2], [false; 2]);
    while let Some((line, key)) = words.next_if(|(_, w)| is_key(w)) {
        let place = || format!("line {line}");
        let value = match words.next() {
            Some((_, word)) => number(word, place)?,
            None => return Err(Fault::new(place(), format!("{} has no value", quoted(key))).into()),
        };
        match key.to_ascii_lowercase().as_str() {
            name @ ("ncols" | "nrows") => {
                if !(value >= 0.0 && value.fract() == 0.0 && value < 1e18) {
                    return Err(Fault::new(place(), format!("{name} {value} is not a number of columns")).into());
                }
                sides[usize::from(name == "nrows")] = Some(value as u64);
            }
            "cellsize" => cell = Some(value),
            "nodata_value" | "nodata" => nodata = value,
            name @ ("xllcorner" | "yllcorner" | "xllcenter" | "yllcenter") => {
                let axis = usize::from(name.starts_with('y'));
                (anchor[axis], centred[axis]) = (Some(value), name.ends_with("center"));
            }
            "dx" | "dy" => {
                let what = "cells of two widths (dx, dy): resample to square ones, for example with `gdal_translate -co FORCE_CELLSIZE=YES IN OUT.asc`";
                return Err(Fault::new(place(), what).into());
            }
            _ => {
                let what = format!("{} is no key of an ESRI ASCII grid: there are {KEYS}", quoted(key));
                return Err(Fault::new(place(), what).into());
            }
        }
    }
    let missing = |key: &str| Fault::new("the header", format!("{key} is missing: there are {KEYS}"));
    let size = [sides[0].ok_or_else(|| missing("ncols"))?, sides[1].ok_or_else(|| missing("nrows"))?];
    let size = checked_size(size, "the header")?;
    let cell = cell.ok_or_else(|| missing("cellsize"))?;
    let promised = size[0] * size[1];
    // A number and the space before it are two bytes at least: what does not fit in the file is not allocated.
    let mut heights = Vec::with_capacity(promised.min(bytes.len() / 2));
    let mut last = 1;
    for (line, word) in words {
        last = line;
        let place = || format!("line {line}");
        if heights.len() == promised {
            let what =
                format!("more than the {} × {} numbers that ncols and nrows promise: correct them", size[0], size[1]);
            return Err(Fault::new(place(), what).into());
        }
        let height = number(word, place)?;
        heights.push(if height == nodata { f64::NAN } else { height });
    }
    if heights.len() < promised {
        let what = format!(
            "{} numbers, where ncols and nrows promise {} × {}: the file is cut short, or they are wrong",
            heights.len(),
            size[0],
            size[1]
        );
        return Err(Fault::new(format!("line {last}"), what).into());
    }
    let system = projection(path);
    let spacing = if system.as_deref().is_some_and(in_degrees) { Spacing::Degrees } else { Spacing::Metres([cell; 2]) };
    let georeference = match anchor {
        [Some(x), Some(y)] => Some(Georeference {
            // One middle and one corner is nobody's habit: then the corner is meant.
            anchor: DVec2::new(x, y)
                - if centred[0] == centred[1] {
                    DVec2::ZERO
                } else {
                    DVec2::from(centred.map(|c| if c { 0.5 * cell } else { 0.0 }))
                },
            centred: centred[0] && centred[1],
            cell,
            unit: 1.0,
            system: system.map(System::Text),
        }),
        _ => None,
    };
    Ok(Grid { size, spacing, heights: southern_first(heights, size), georeference })
}

/// The text of the projection beside a file, where there is one.
pub(crate) fn projection(path: &Path) -> Option<String> {
    let bytes = crate::source::read(&path.with_extension("prj"), 1 << 20).ok()??;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// Whether a projection is none: well-known text that begins with a geographic system, or ArcInfo's words.
pub(crate) fn in_degrees(text: &str) -> bool {
    let text = text.trim_start().to_ascii_uppercase();
    let mut words = text.split_ascii_whitespace();
    text.starts_with("GEOGCS")
        || text.starts_with("GEOGCRS")
        || (words.next() == Some("PROJECTION") && words.next() == Some("GEOGRAPHIC"))
}
