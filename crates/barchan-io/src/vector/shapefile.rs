//! Shapefiles (`.shp`): a header of 100 bytes, then records of a big-endian number and length and a little-endian shape [ESRI 1998].
//!
//! Polygons and polylines are read, plain or with heights or measures, which are read past. Records of points and the empty shape keep their place, so
//! that rows of the table beside the file fall to the right record.

use super::{Fault, Feature, ring, sound};
use glam::DVec2;
use std::collections::BTreeMap;

/// The first four bytes: 9994, big-endian.
pub(super) const CODE: [u8; 4] = [0, 0, 0x27, 0x0a];

const HEADER: usize = 100;

fn big(bytes: &[u8], at: usize) -> Option<i32> {
    Some(i32::from_be_bytes(bytes.get(at..at.checked_add(4)?)?.try_into().ok()?))
}

fn little(bytes: &[u8], at: usize) -> Option<i32> {
    Some(i32::from_le_bytes(bytes.get(at..at.checked_add(4)?)?.try_into().ok()?))
}

fn double(bytes: &[u8], at: usize) -> Option<f64> {
    Some(f64::from_le_bytes(bytes.get(at..at.checked_add(8)?)?.try_into().ok()?))
}

pub(super) fn read(bytes: &[u8]) -> Result<Vec<Feature>, Fault> {
    let short = || Fault::new("the file's end", "the file is cut short: copy or export it again");
    let words = big(bytes, 24).ok_or_else(short)?;
    let promised = usize::try_from(words).ok().and_then(|w| w.checked_mul(2)).ok_or_else(short)?;
    if promised < HEADER || promised > bytes.len() {
        return Err(short());
    }
    let bytes = &bytes[..promised];
    let (mut all, mut at) = (Vec::new(), HEADER);
    while at < bytes.len() {
        let number = big(bytes, at).ok_or_else(short)?;
        let length = big(bytes, at + 4).and_then(|w| usize::try_from(w).ok()).ok_or_else(short)?;
        let end = length.checked_mul(2).and_then(|l| l.checked_add(at + 8)).filter(|e| *e <= bytes.len());
        let content = &bytes[at + 8..end.ok_or_else(short)?];
        all.push(shape(content, number)?);
        at += 8 + content.len();
    }
    Ok(all)
}

fn shape(content: &[u8], number: i32) -> Result<Feature, Fault> {
    let place = || format!("record {number}");
    let wrong = || Fault::new(place(), "its counts do not fit its length: export the file again");
    let code = little(content, 0).ok_or_else(wrong)?;
    let area = matches!(code, 5 | 15 | 25);
    let mut feature = Feature { parts: Vec::new(), area, numbers: BTreeMap::new(), words: BTreeMap::new() };
    if !(area || matches!(code, 3 | 13 | 23)) {
        // The empty shape, points, and patches: nothing for us.
        return if matches!(code, 0 | 1 | 8 | 11 | 18 | 21 | 28 | 31) { Ok(feature) } else { Err(wrong()) };
    }
    let count = |at: usize| little(content, at).and_then(|n| usize::try_from(n).ok()).ok_or_else(wrong);
    let (parts, points) = (count(36)?, count(40)?);
    let first = parts.checked_mul(4).and_then(|p| p.checked_add(44)).ok_or_else(wrong)?;
    let needed = points.checked_mul(16).and_then(|p| p.checked_add(first)).ok_or_else(wrong)?;
    if needed > content.len() {
        return Err(wrong());
    }
    let mut starts: Vec<usize> = (0..parts).map(|k| count(44 + 4 * k)).collect::<Result<_, _>>()?;
    starts.push(points);
    for range in starts.windows(2) {
        if range[0] > range[1] || range[1] > points {
            return Err(wrong());
        }
        let at = |k: usize| Some(DVec2::new(double(content, first + 16 * k)?, double(content, first + 16 * k + 8)?));
        let part: Vec<DVec2> = (range[0]..range[1]).map(at).collect::<Option<_>>().ok_or_else(wrong)?;
        sound(&part, place)?;
        feature.parts.push(if area { ring(part, place)? } else { part });
    }
    Ok(feature)
}
