//! GeoTIFF elevation models: one band of numbers, in strips or tiles, plain or packed by deflate or LZW.
//!
//! Numbers are taken as they stand, in metres, times scale and offset where GDAL's metadata has them. The width of a cell
//! is in ModelPixelScale (33550) or in the diagonal of ModelTransformation (34264); GeoKeyDirectory (34735) says whether it is
//! counted in degrees, and in which unit of length [OGC 19-008r4, GeoTIFF 1.1]. Where the raster lies on the map
//! (ModelTiepoint, 33922) is kept with the keys of its system: a ground lies where its scene puts it. GDAL_NODATA (42113) marks what is missing.

use super::{Fault, Format, Grid, MOST_COLUMNS, ReadFault, Spacing, checked_size, southern_first};
use crate::source::quoted;
use barchan_core::georeference::{Georeference, System};
use glam::DVec2;
use std::io::{Cursor, ErrorKind};
use std::path::Path;
use tiff::decoder::{Decoder, DecodingResult, Limits};
use tiff::tags::Tag;
use tiff::{ColorType, TiffError, TiffUnsupportedError};

pub(super) const FORMAT: Format = Format { extensions: &["tif", "tiff"], recognises, read };

const GDAL_METADATA: Tag = Tag::Unknown(42112);
/// Keys of the GeoKeyDirectory.
const MODEL_TYPE: u16 = 1024;
/// Whether the raster's points are areas (1) or middles (2).
const RASTER_TYPE: u16 = 1025;
const LENGTH_UNIT: u16 = 3076;
const HEIGHT_UNIT: u16 = 4099;
/// The model type of degrees of longitude and latitude.
const GEOGRAPHIC: u16 = 2;

type Reader<'a> = Decoder<Cursor<&'a [u8]>>;

fn recognises(bytes: &[u8]) -> bool {
    // Both orders of bytes, and BigTIFF's version 43.
    [b"II*\0", b"MM\0*", b"II+\0", b"MM\0+"].iter().any(|magic| bytes.starts_with(*magic))
}

fn fault(error: TiffError) -> Fault {
    match error {
        TiffError::IoError(e) if e.kind() == ErrorKind::UnexpectedEof => {
            Fault::new("the TIFF's end", "the file is cut short: copy or export it again")
        }
        TiffError::UnsupportedError(
            e
            @ (TiffUnsupportedError::UnsupportedCompressionMethod(_) | TiffUnsupportedError::UnknownCompressionMethod),
        ) => Fault::new("the TIFF's compression", format!("{e}: use `gdal_translate -co COMPRESS=DEFLATE IN OUT`")),
        other => Fault::new("the TIFF's content", format!("{other}: write it again with `gdal_translate IN OUT`")),
    }
}

fn read(bytes: &[u8], _: &Path) -> Result<Grid, ReadFault> {
    let mut limits = Limits::default();
    limits.decoding_buffer_size = 8 * MOST_COLUMNS;
    limits.intermediate_buffer_size = 8 * MOST_COLUMNS;
    let mut tiff = Decoder::new(Cursor::new(bytes)).map_err(fault)?.with_limits(limits);
    let (width, height) = tiff.dimensions().map_err(fault)?;
    let size = checked_size([width.into(), height.into()], "the TIFF's header")?;
    match tiff.colortype().map_err(fault)? {
        ColorType::Gray(_) | ColorType::Multiband { num_samples: 1, .. } => {}
        other => {
            let what = format!("{other:?}, where one band of heights is needed: `gdal_translate -b 1 IN OUT`");
            return Err(Fault::new("the TIFF's bands", what).into());
        }
    }
    let keys = keys(&mut tiff)?;
    let (spacing, northern_first) = spacing(&mut tiff, &keys)?;
    let georeference = georeference(&mut tiff, &keys, size[1]);
    let [scale, offset] = scale_and_offset(&mut tiff)?;
    let scale = scale * unit(&keys, HEIGHT_UNIT)?;
    let offset = offset * unit(&keys, HEIGHT_UNIT)?;
    let nodata = nodata(&mut tiff)?;
    let stored = numbers(tiff.read_image().map_err(fault)?, nodata);
    if stored.len() != size[0] * size[1] {
        let what = "numbers of fewer than 8 bits: write them wider, with `gdal_translate -ot Float32 IN OUT`";
        return Err(Fault::new("the TIFF's content", what).into());
    }
    let heights = stored.into_iter().map(|h| h * scale + offset).collect();
    let heights = if northern_first { southern_first(heights, size) } else { heights };
    Ok(Grid { size, spacing, heights, georeference })
}

/// The numbers, NaN where they are `nodata`. That is compared in the precision it is stored in: GDAL writes −3.4028235e+38 for
/// the least f32.
fn numbers(stored: DecodingResult, nodata: Option<f64>) -> Vec<f64> {
    fn whole<T: Copy>(values: Vec<T>, nodata: Option<f64>, wide: impl Fn(T) -> f64) -> Vec<f64> {
        let mark = |v: f64| if Some(v) == nodata { f64::NAN } else { v };
        values.into_iter().map(|v| mark(wide(v))).collect()
    }
    use DecodingResult as D;
    match stored {
        D::U8(v) => whole(v, nodata, f64::from),
        D::U16(v) => whole(v, nodata, f64::from),
        D::U32(v) => whole(v, nodata, f64::from),
        D::U64(v) => whole(v, nodata, |x| x as f64),
        D::I8(v) => whole(v, nodata, f64::from),
        D::I16(v) => whole(v, nodata, f64::from),
        D::I32(v) => whole(v, nodata, f64::from),
        D::I64(v) => whole(v, nodata, |x| x as f64),
        D::F16(v) => whole(v, nodata, f64::from),
        D::F32(v) => whole(v, nodata.map(|n| f64::from(n as f32)), f64::from),
        D::F64(v) => whole(v, nodata, |x| x),
    }
}

fn nodata(tiff: &mut Reader<'_>) -> Result<Option<f64>, Fault> {
    let Some(value) = tiff.find_tag(Tag::GdalNodata).map_err(fault)? else { return Ok(None) };
    let text = value.into_string().map_err(fault)?;
    let word = text.trim_matches(|c: char| c.is_whitespace() || c == '\0');
    match word.parse() {
        Ok(number) => Ok(Some(number)),
        Err(_) => {
            let what = format!("{} is not a number: set it with `gdal_translate -a_nodata -9999 IN OUT`", quoted(word));
            Err(Fault::new("the tag GDAL_NODATA", what))
        }
    }
}

/// Keys of the GeoKeyDirectory whose value stands in it: four numbers each (key, where, count, value), after four of a header.
fn keys(tiff: &mut Reader<'_>) -> Result<Vec<(u16, u16)>, Fault> {
    let Some(value) = tiff.find_tag(Tag::GeoKeyDirectoryTag).map_err(fault)? else { return Ok(Vec::new()) };
    let numbers = value.into_u16_vec().map_err(fault)?;
    let rows = numbers.as_chunks::<4>().0;
    Ok(rows.iter().skip(1).filter(|[_, place, ..]| *place == 0).map(|[key, _, _, value]| (*key, *value)).collect())
}

/// How many metres the unit of a key is; 1 where the file does not say.
fn unit(keys: &[(u16, u16)], key: u16) -> Result<f64, Fault> {
    match keys.iter().find(|(k, _)| *k == key).map(|(_, unit)| *unit) {
        // EPSG's codes: metre, foot, foot of the United States' survey; 0 and 32767 are "undefined" and "see elsewhere".
        None | Some(0 | 9001 | 32767) => Ok(1.0),
        Some(9002) => Ok(0.3048),
        Some(9003) => Ok(1200.0 / 3937.0),
        Some(code) => {
            let what = format!("the unit of length {code} is not known: project it, with `gdalwarp -t_srs EPSG:32633`");
            Err(Fault::new("the tag GeoKeyDirectory", what))
        }
    }
}

/// The spacing of the cells, and whether the first row is the northernmost.
fn spacing(tiff: &mut Reader<'_>, keys: &[(u16, u16)]) -> Result<(Spacing, bool), Fault> {
    let mut doubles = |tag| match tiff.find_tag(tag).map_err(fault)? {
        Some(value) => value.into_f64_vec().map(Some).map_err(fault),
        None => Ok(None),
    };
    let (cell, northern_first) = if let Some(&[x, y, ..]) = doubles(Tag::ModelPixelScaleTag)?.as_deref() {
        ([x, y], true)
    } else if let Some(&[x, b, _, _, c, y, ..]) = doubles(Tag::ModelTransformationTag)?.as_deref() {
        if b != 0.0 || c != 0.0 || x < 0.0 {
            let what = "the raster is turned or mirrored: lay it along the axes, with `gdalwarp IN OUT`";
            return Err(Fault::new("the tag ModelTransformation", what));
        }
        ([x, y.abs()], y < 0.0)
    } else {
        return Ok((Spacing::Unknown, true));
    };
    if keys.contains(&(MODEL_TYPE, GEOGRAPHIC)) {
        return Ok((Spacing::Degrees, northern_first));
    }
    let metres = unit(keys, LENGTH_UNIT)?;
    Ok((Spacing::Metres(cell.map(|c| c * metres)), northern_first))
}

/// What GDAL says of how numbers become heights: scale and offset of the first band.
fn scale_and_offset(tiff: &mut Reader<'_>) -> Result<[f64; 2], Fault> {
    let Some(value) = tiff.find_tag(GDAL_METADATA).map_err(fault)? else { return Ok([1.0, 0.0]) };
    let text = value.into_string().map_err(fault)?;
    let wrong = |what: String| Fault::new("the tag GDAL_METADATA", format!("{what}: write the file again"));
    let tree = roxmltree::Document::parse(text.trim_end_matches('\0')).map_err(|e| wrong(e.to_string()))?;
    let mut found = [1.0, 0.0];
    for item in tree.descendants().filter(|n| matches!(n.attribute("sample"), None | Some("0"))) {
        let slot = match item.attribute("role") {
            Some("scale") => &mut found[0],
            Some("offset") => &mut found[1],
            _ => continue,
        };
        let word = item.text().unwrap_or_default().trim();
        *slot = word.parse().map_err(|_| wrong(format!("{} is not a number", quoted(word))))?;
    }
    Ok(found)
}

/// Where the south-western corner lies on the map, and the keys that say which map that is; none where the tags do not say it. With
/// GTRasterTypeGeoKey 2 the point that is tied is the middle of a cell.
fn georeference(tiff: &mut Reader<'_>, keys: &[(u16, u16)], rows: usize) -> Option<Georeference> {
    let mut doubles = |tag| tiff.find_tag(tag).ok().flatten().and_then(|v| v.into_f64_vec().ok());
    let middle = if keys.contains(&(RASTER_TYPE, 2)) { 0.5 } else { 0.0 };
    let tied = (doubles(Tag::ModelPixelScaleTag), doubles(Tag::ModelTiepointTag), doubles(Tag::ModelTransformationTag));
    let (cell, west, north) = match (tied.0.as_deref(), tied.1.as_deref(), tied.2.as_deref()) {
        (Some(&[x, y, ..]), Some(&[i, j, _, e, n, ..]), _) => ([x, y], e - (i + middle) * x, n + (j + middle) * y),
        (_, _, Some(&[x, _, _, e, _, y, _, n, ..])) if y < 0.0 => ([x, -y], e - middle * x, n - middle * y),
        _ => return None,
    };
    let numbers = tiff.find_tag(Tag::GeoKeyDirectoryTag).ok().flatten().and_then(|v| v.into_u16_vec().ok());
    let mut doubles = |tag| tiff.find_tag(tag).ok().flatten().and_then(|v| v.into_f64_vec().ok());
    let params = doubles(Tag::GeoDoubleParamsTag).unwrap_or_default();
    let letters = tiff.find_tag(Tag::GeoAsciiParamsTag).ok().flatten().and_then(|v| v.into_string().ok());
    Some(Georeference {
        anchor: DVec2::new(west, north - rows as f64 * cell[1]),
        centred: false,
        cell: cell[0],
        unit: unit(keys, LENGTH_UNIT).ok()?,
        system: numbers.map(|directory| System::Keys {
            directory,
            doubles: params,
            letters: letters.unwrap_or_default(),
        }),
    })
}
