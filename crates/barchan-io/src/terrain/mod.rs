//! Heights of a ground from files: images (PNG), ESRI ASCII grids, GeoTIFF elevation models.
//!
//! [`read`] asks each format whether the content looks like its own, then goes by the name's extension. What comes back is
//! a [`Terrain`]: rows from the south, NaN where the file has no data. What a scene makes of it is three steps:
//! ```no_run
//! # fn main() -> Result<(), barchan_io::terrain::TerrainError> {
//! let terrain = barchan_io::terrain::read("dunes.asc")?;
//! let cell = terrain.square_cell()?; // [m]; an image has none: its scene says how large it is
//! let heights = terrain.filled(None)?.resampled([512, 512]);
//! # Ok(())
//! # }
//! ```
//!
//! Reading is strict, as for meshes: what is cut short, altered, or says what cannot be gives an error that names file,
//! place and remedy. Limits: [`MOST_COLUMNS`], checked before memory is taken, [`HIGHEST`] and [`MOST_BYTES`].
//!
//! # A new terrain format is one file and one line
//! Write a file in this folder with a `pub(super) const FORMAT: Format`, and add its line to `FORMATS`. Sizes go through
//! `checked_size` before anything is allocated; heights are checked here.

mod esri;
mod geotiff;
mod image;

pub(crate) use esri::{in_degrees as degrees, projection};

use crate::atomic::FileError;
use crate::fault::Fault;
use crate::source;
use barchan_core::georeference::Georeference;
use std::path::{Path, PathBuf};

/// Columns a file may hold: 8192 × 8192.
pub const MOST_COLUMNS: usize = 1 << 26;

/// Bytes a file may hold: the most columns take 1.6 GB as text of 24 characters each.
pub const MOST_BYTES: u64 = 1 << 31;

/// Greatest height or depth [m]. A number beyond it is a mark for missing data that the file does not declare (−3.4e38 and
/// its like), not a mountain.
pub const HIGHEST: f64 = 1e7;

/// Formats in the order in which they are asked.
const FORMATS: [Format; 3] = [image::FORMAT, geotiff::FORMAT, esri::FORMAT];

/// Heights over a rectangle.
#[derive(Clone, Debug, PartialEq)]
pub struct Terrain {
    /// Columns along x (east) and y (north), at least one each.
    pub size: [usize; 2],
    /// Width of a column along x and y [m], where the file knows it in metres.
    pub cell: Option<[f64; 2]>,
    /// Heights, along x first, the southernmost row first: [m] for elevation models, 0 (black) to 1 (white) for images. NaN
    /// where the file has no data.
    pub heights: Vec<f64>,
    /// Whether the file counts its cells in degrees: then `cell` is none, as a degree is another length in x than in y, and in
    /// x another one at each latitude.
    pub degrees: bool,
    /// Where it lies on the map, where the file says it and counts in lengths.
    pub georeference: Option<Georeference>,
    /// The file, for messages.
    pub path: PathBuf,
}

/// Why a terrain could not be read or used.
#[derive(Debug, thiserror::Error)]
pub enum TerrainError {
    /// The file could not be read.
    #[error(transparent)]
    File(#[from] FileError),
    /// Neither the content nor the name is of a format we know.
    #[error("{} is no terrain: it is none of PNG, ESRI ASCII grid (.asc), GeoTIFF, by content or by name; convert it, for example with `gdal_translate IN OUT.tif`, or save a picture as 16-bit PNG", path.display())]
    Unknown {
        /// The file.
        path: PathBuf,
    },
    /// The file is cut short, altered, or says what cannot be.
    #[error("{} is no terrain that can be used: {place}: {what}", path.display())]
    Broken {
        /// The file.
        path: PathBuf,
        /// Where in it: a line, a cell, a tag.
        place: String,
        /// What was found there, and the remedy.
        what: String,
    },
    /// More columns than there may be.
    #[error(
        "{} has {} × {} columns, more than the {MOST_COLUMNS} that fit: cut a part out or make it coarser, for example with `gdal_translate -outsize 4096 4096 IN OUT`",
        path.display(), size[0], size[1]
    )]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// Columns along x and y that it promises.
        size: [u64; 2],
    },
    /// Columns without data.
    #[error(
        "{} has no data in {count} of its {} columns, the first of them column {} from the west in row {} from the south: give `nodata = HEIGHT` in the scene to fill them, or fill them in the file",
        path.display(), size[0] * size[1], first[0] + 1, first[1] + 1
    )]
    NoData {
        /// The file.
        path: PathBuf,
        /// Columns without data.
        count: usize,
        /// Columns along x and y.
        size: [usize; 2],
        /// The first of them, along x and y from 0.
        first: [usize; 2],
    },
    /// The width of a column is asked for and the file does not know it.
    #[error("{}: {what}", path.display())]
    NoCell {
        /// The file.
        path: PathBuf,
        /// What it has instead, and the remedy.
        what: String,
    },
}

/// Reads heights: PNG of 8 or 16 bits, ESRI ASCII grid, or GeoTIFF.
pub fn read(path: impl AsRef<Path>) -> Result<Terrain, TerrainError> {
    let path = path.as_ref();
    let broken = |Fault { place, what }| TerrainError::Broken { path: path.to_owned(), place, what };
    let bytes = source::read(path, MOST_BYTES)?.ok_or_else(|| {
        broken(Fault::new("the whole file", format!("it has more than {MOST_BYTES} bytes, the limit: make it coarser")))
    })?;
    if bytes.is_empty() {
        return Err(broken(Fault::new("byte 0", "the file is empty: export it again")));
    }
    let extension = path.extension().map(|e| e.to_string_lossy().to_lowercase()).unwrap_or_default();
    let format = FORMATS
        .iter()
        .find(|f| (f.recognises)(&bytes))
        .or_else(|| FORMATS.iter().find(|f| f.extensions.contains(&extension.as_str())))
        .ok_or_else(|| TerrainError::Unknown { path: path.to_owned() })?;
    let mut grid = (format.read)(&bytes, path).map_err(|fault| match fault {
        ReadFault::Here(fault) => broken(fault),
        ReadFault::TooLarge(size) => TerrainError::TooLarge { path: path.to_owned(), size },
    })?;
    let [nx, ny] = grid.size;
    if let Some(at) = grid.heights.iter().position(|h| !h.is_nan() && h.abs() > HIGHEST) {
        let place = format!("column {} from the west in row {} from the south", at % nx + 1, at / nx + 1);
        let what = format!(
            "the height {:e} is beyond ±{HIGHEST:e} m: it may mark missing data; declare it in the file, for example with `gdal_translate -a_nodata {:e} IN OUT`",
            grid.heights[at], grid.heights[at]
        );
        return Err(broken(Fault::new(place, what)));
    }
    let cell = match grid.spacing {
        Spacing::Metres(cell) if !cell.iter().all(|c| c.is_finite() && *c > 0.0) => {
            let what = format!("cells {:e} × {:e} m wide: a width is positive; export it again", cell[0], cell[1]);
            return Err(broken(Fault::new("the size of a cell", what)));
        }
        Spacing::Metres(cell) => Some(cell),
        Spacing::Degrees | Spacing::Unknown => None,
    };
    debug_assert_eq!(grid.heights.len(), nx * ny);
    // −0 becomes 0: a sign nobody means.
    grid.heights.iter_mut().for_each(|h| *h += 0.0);
    let degrees = grid.spacing == Spacing::Degrees;
    let georeference = grid.georeference.filter(|g| cell.is_some() && g.anchor.is_finite());
    Ok(Terrain { size: grid.size, cell, heights: grid.heights, degrees, georeference, path: path.to_owned() })
}

impl Terrain {
    /// The width of a column [m], for a ground that takes it from the file; an error where the file has none, or where it
    /// is not the same along x and y (to a thousandth, as files round).
    pub fn square_cell(&self) -> Result<f64, TerrainError> {
        let wrong = |what: &str| TerrainError::NoCell { path: self.path.clone(), what: what.into() };
        match self.cell {
            Some([x, y]) if (x - y).abs() <= 1e-3 * x.min(y) => Ok(0.5 * (x + y)),
            Some([x, y]) => Err(wrong(&format!(
                "its cells are {x} × {y} m wide, and those of a ground are square: give the size of the ground in the scene, or resample the file, for example with `gdalwarp -tr {x} {x} IN OUT`"
            ))),
            None if self.degrees => Err(wrong(
                "its cells are counted in degrees, whose length in metres depends on the latitude: project the file, for example with `gdalwarp -t_srs EPSG:32633 IN OUT` (the UTM zone it lies in), or give the size of the ground in the scene",
            )),
            None => Err(wrong("it does not say how wide its cells are: give the size of the ground in the scene")),
        }
    }

    /// The same with `fill` [m] where there is no data; without one, missing data is an error that says how much and where.
    pub fn filled(mut self, fill: Option<f64>) -> Result<Terrain, TerrainError> {
        match (fill, self.heights.iter().position(|h| h.is_nan())) {
            (_, None) => {}
            (Some(fill), Some(_)) => self.heights.iter_mut().filter(|h| h.is_nan()).for_each(|h| *h = fill),
            (None, Some(at)) => {
                let count = self.heights.iter().filter(|h| h.is_nan()).count();
                let first = [at % self.size[0], at / self.size[0]];
                return Err(TerrainError::NoData { path: self.path, count, size: self.size, first });
            }
        }
        Ok(self)
    }

    /// Heights at the middles of `size` columns over the same rectangle, bilinear between the middles of the file's and level
    /// beyond the outermost; the file's own where the size is the same. Where a neighbour has no data there is none.
    pub fn resampled(&self, size: [usize; 2]) -> Vec<f64> {
        let along = |axis: usize| -> Vec<(usize, usize, f64)> {
            let (from, to) = (self.size[axis] as i64, size[axis] as i64);
            (0..to)
                .map(|i| {
                    // The middle of column i counted in the file's columns, (2i + 1) from / 2 to − 1/2, whole numbers as
                    // long as possible: equal sizes give i exactly.
                    let twice = (2 * i + 1) * from - to;
                    let low = (twice.div_euclid(2 * to)).clamp(0, from - 1);
                    let share = ((twice - 2 * to * low) as f64 / (2 * to) as f64).clamp(0.0, 1.0);
                    let high = if share > 0.0 { (low + 1).min(from - 1) } else { low };
                    (low as usize, high as usize, share)
                })
                .collect()
        };
        let (xs, ys) = (along(0), along(1));
        let row = |y: usize| &self.heights[y * self.size[0]..][..self.size[0]];
        let between = |a: f64, b: f64, share: f64| if share > 0.0 { a * (1.0 - share) + b * share } else { a };
        ys.iter()
            .flat_map(|(y0, y1, v)| {
                let (south, north) = (row(*y0), row(*y1));
                xs.iter().map(move |(x0, x1, u)| {
                    between(between(south[*x0], south[*x1], *u), between(north[*x0], north[*x1], *u), *v)
                })
            })
            .collect()
    }
}

/// A terrain format.
struct Format {
    /// Extensions of its files, in lower case.
    extensions: &'static [&'static str],
    /// Whether the bytes are of this format, as far as one sees at a glance.
    recognises: fn(&[u8]) -> bool,
    /// Reads it.
    read: fn(&[u8], &Path) -> Result<Grid, ReadFault>,
}

/// What a format finds: rows from the south, NaN for no data.
struct Grid {
    size: [usize; 2],
    spacing: Spacing,
    heights: Vec<f64>,
    georeference: Option<Georeference>,
}

/// What a file knows of its cells.
#[derive(PartialEq)]
enum Spacing {
    /// Their width along x and y [m].
    Metres([f64; 2]),
    /// Degrees of longitude and latitude.
    Degrees,
    /// Nothing.
    Unknown,
}

enum ReadFault {
    Here(Fault),
    TooLarge([u64; 2]),
}

impl From<Fault> for ReadFault {
    fn from(fault: Fault) -> ReadFault {
        ReadFault::Here(fault)
    }
}

/// A size that may be allocated.
fn checked_size(size: [u64; 2], place: &str) -> Result<[usize; 2], ReadFault> {
    if size.contains(&0) {
        let what = format!("{} × {} columns: there must be one at least; export it again", size[0], size[1]);
        return Err(Fault::new(place, what).into());
    }
    match size[0].checked_mul(size[1]) {
        Some(columns) if columns <= MOST_COLUMNS as u64 => Ok(size.map(|n| n as usize)),
        _ => Err(ReadFault::TooLarge(size)),
    }
}

/// Rows turned round: files begin in the north.
fn southern_first(mut heights: Vec<f64>, size: [usize; 2]) -> Vec<f64> {
    let [nx, ny] = size;
    for y in 0..ny / 2 {
        let (south, north) = heights.split_at_mut((ny - 1 - y) * nx);
        south[y * nx..][..nx].swap_with_slice(&mut north[..nx]);
    }
    heights
}
