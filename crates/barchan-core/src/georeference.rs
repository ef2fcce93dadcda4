//! Where a grid of heights lies on a map.
//!
//! A world has an origin of its own near what happens; a [`Georeference`] remembers where the south-western corner of its rock lies on the map, so that
//! outlines come in and rasters go out in the coordinates that people have.

use glam::DVec2;

/// The place of a grid on a map, as its file says it.
#[derive(Clone, Debug, PartialEq)]
pub struct Georeference {
    /// Map coordinates of the south-western corner, or, if `centred`, of the middle of the south-western cell, in the map's unit.
    pub anchor: DVec2,
    /// Whether `anchor` is a cell's middle.
    pub centred: bool,
    /// Width of a cell in the map's unit.
    pub cell: f64,
    /// Metres in a unit of the map.
    pub unit: f64,
    /// The system of coordinates, where the file says it.
    pub system: Option<System>,
}

/// A system of map coordinates as a file names it. It is handed on, and not interpreted.
#[derive(Clone, Debug, PartialEq)]
pub enum System {
    /// Text of the `.prj` file beside a grid.
    Text(String),
    /// Keys of a GeoTIFF: its directory, and the doubles and letters that it points at.
    Keys {
        /// GeoKeyDirectory.
        directory: Vec<u16>,
        /// GeoDoubleParams.
        doubles: Vec<f64>,
        /// GeoAsciiParams.
        letters: String,
    },
}

impl Georeference {
    /// South-western corner, in the map's unit.
    pub fn corner(&self) -> DVec2 {
        if self.centred { self.anchor - 0.5 * self.cell } else { self.anchor }
    }

    /// Metres from the corner to a place on the map.
    pub fn from_map(&self, place: DVec2) -> DVec2 {
        (place - self.corner()) * self.unit
    }

    /// The place on the map so many metres from the corner.
    pub fn to_map(&self, metres: DVec2) -> DVec2 {
        self.corner() + metres / self.unit
    }
}
