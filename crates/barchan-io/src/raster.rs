//! Fields on the grid of a map: ESRI ASCII grids (`.asc`) and GeoTIFF (`.tif`), as terrains are read.
//!
//! A raster that is written on the grid of a terrain has that terrain's own header, number by number, and its system of coordinates. The `.prj` file
//! beside an ASCII grid is written too where the terrain had one.

use crate::atomic::{self, FileError};
use crate::terrain::Terrain;
use barchan_core::georeference::{Georeference, System};
use glam::DVec2;
use std::fmt::Write as _;
use std::io::{self, Cursor};
use std::path::Path;
use tiff::TiffError;
use tiff::encoder::{Compression, TiffEncoder, colortype, compression};
use tiff::tags::Tag;

/// Written where there is no value, as the ESRI format has it by default.
pub const NO_DATA: f64 = -9999.0;

/// A field on the grid of a map.
#[derive(Clone, Debug, PartialEq)]
pub struct Raster {
    /// Columns along x (east) and y (north).
    pub size: [usize; 2],
    /// Where it lies, and how wide its cells are.
    pub place: Georeference,
    /// Values, along x first, the southernmost row first; NaN where there is none.
    pub values: Vec<f64>,
}

impl Raster {
    /// A terrain that was read; one without a place on a map has its corner at (0, 0). None where it does not count in lengths, or its cells are not square.
    pub fn of(terrain: Terrain) -> Option<Raster> {
        let cell = terrain.square_cell().ok()?;
        let place = terrain.georeference.unwrap_or_else(|| local(DVec2::ZERO, cell));
        Some(Raster { size: terrain.size, place, values: terrain.heights })
    }

    /// Writes it in the format that the name ends in: `.tif` or `.tiff`, else an ESRI ASCII grid.
    pub fn write(&self, path: &Path) -> Result<(), FileError> {
        let ending = path.extension().map(|e| e.to_string_lossy().to_lowercase()).unwrap_or_default();
        if matches!(ending.as_str(), "tif" | "tiff") {
            let bytes = self.geotiff().map_err(|e| FileError::new("write", path, io::Error::other(e.to_string())))?;
            return atomic::write(path, &bytes);
        }
        if let Some(System::Text(text)) = &self.place.system {
            atomic::write(&path.with_extension("prj"), text.as_bytes())?;
        }
        atomic::write(path, self.ascii().as_bytes())
    }

    /// As an ESRI ASCII grid. Values are written with all their digits.
    pub fn ascii(&self) -> String {
        let [nx, ny] = self.size;
        let Georeference { anchor, centred, cell, .. } = self.place;
        let word = if centred { "center" } else { "corner" };
        let mut text = format!(
            "ncols {nx}\nnrows {ny}\nxll{word} {}\nyll{word} {}\ncellsize {cell}\nNODATA_value {NO_DATA}\n",
            anchor.x, anchor.y
        );
        for row in self.values.chunks(nx.max(1)).rev() {
            for (k, value) in row.iter().enumerate() {
                let space = if k == 0 { "" } else { " " };
                // Writing to a String cannot fail.
                let _ = write!(text, "{space}{}", if value.is_nan() { NO_DATA } else { *value + 0.0 });
            }
            text.push('\n');
        }
        text
    }

    /// As a GeoTIFF of 32-bit numbers.
    pub fn geotiff(&self) -> Result<Vec<u8>, TiffError> {
        let [nx, ny] = self.size;
        let mut out = Cursor::new(Vec::new());
        let mut tiff =
            TiffEncoder::new(&mut out)?.with_compression(Compression::Deflate(compression::DeflateLevel::Balanced));
        let mut image = tiff.new_image::<colortype::Gray32Float>(nx as u32, ny as u32)?;
        let (corner, cell) = (self.place.corner(), self.place.cell);
        let tags = image.encoder();
        tags.write_tag(Tag::ModelPixelScaleTag, &[cell, cell, 0.0][..])?;
        let tied = [0.0, 0.0, 0.0, corner.x, corner.y + ny as f64 * cell, 0.0];
        tags.write_tag(Tag::ModelTiepointTag, &tied[..])?;
        tags.write_tag(Tag::GdalNodata, "-9999")?;
        if let Some(System::Keys { directory, doubles, letters }) = &self.place.system {
            // The corner is that of an area, whatever the terrain's points were.
            let mut directory = directory.clone();
            for key in directory.as_chunks_mut::<4>().0.iter_mut().skip(1) {
                if key[..2] == [1025, 0] {
                    key[3] = 1;
                }
            }
            tags.write_tag(Tag::GeoKeyDirectoryTag, &directory[..])?;
            if !doubles.is_empty() {
                tags.write_tag(Tag::GeoDoubleParamsTag, &doubles[..])?;
            }
            if !letters.is_empty() {
                tags.write_tag(Tag::GeoAsciiParamsTag, letters.as_str())?;
            }
        }
        let rows = self.values.chunks(nx.max(1)).rev().flatten();
        let stored: Vec<f32> = rows.map(|v| if v.is_nan() { NO_DATA as f32 } else { *v as f32 }).collect();
        image.write_data(&stored)?;
        Ok(out.into_inner())
    }
}

/// The place of a grid that lies on no map: in metres of the world.
pub fn local(corner: DVec2, cell: f64) -> Georeference {
    Georeference { anchor: corner, centred: false, cell, unit: 1.0, system: None }
}
