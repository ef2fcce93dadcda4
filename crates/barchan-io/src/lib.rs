//! Files in and out of barchan: one format, one file.
//!
//! | file | role |
//! |---|---|
//! | [`atomic`] | a file is written whole or not at all |
//! | [`vtk`] | frames for ParaView (`.vtp`) and their time series (`.pvd`) |
//! | [`vts`] | the ground for ParaView (`.vts`) |
//! | [`vti`] | distance fields and grids of frames for ParaView (`.vti`) |
//! | [`ply`] | frames as points for effects tools (`.ply`) |
//! | [`obj`] | a surface for modelling tools (`.obj`) |
//! | [`csv`] | tables of measurements, continued by a resumed run |
//! | [`container`] | named, checksummed sections: the checkpoint's file |
//! | [`writer`] | frames written on a thread of their own |
//! | [`film`] | pictures as MP4 |
//! | [`png`] | a picture |
//! | [`plot`] | plots (`.svg`), and their numbers (`.csv`) |
//! | [`frames`] | our frames read back |
//! | [`mesh`] | triangle meshes from STL, OBJ, PLY, glTF, and to STL |
//! | [`terrain`] | heights of a ground from PNG, ESRI ASCII grids, GeoTIFF |
//! | [`raster`] | fields on a map's grid, as ESRI ASCII grids and GeoTIFF |
//! | [`vector`] | outlines and lines on a map from shapefiles and GeoJSON, and to GeoJSON |
//!
//! Writers read [`barchan_core::frame::Frame`]s and nothing else of a solver. Numbers on disk are little-endian,
//! but for MP4, whose standard has them big-endian.

// Units stand in brackets, [s], which rustdoc takes for broken links.
#![allow(rustdoc::broken_intra_doc_links)]

pub mod atomic;
pub mod container;
pub mod csv;
pub mod film;
pub mod frames;
pub mod mesh;
pub mod obj;
pub mod packing;
pub mod plot;
pub mod ply;
pub mod png;
pub mod raster;
pub mod sheet;
pub mod terrain;
pub mod vector;
pub mod vti;
pub mod vtk;
pub mod vts;
pub mod writer;
pub mod xml;
pub mod xyz;

mod columns;
mod fault;
mod parts;
mod ply_back;
mod solids;
mod source;
mod unpack;
mod vtk_back;

pub use columns::FrameError;

/// Whether `time` is not later than `resume`, both in [s].
///
/// Times are stored to the last bit, so the slack only has to cover a time that was summed in another order: it is a
/// thousandfold rounding error and far below any time step.
pub(crate) fn not_after(time: f64, resume: f64) -> bool {
    time <= resume + 1e-12 * resume.abs()
}

/// The shortest decimal text that reads back as the same number: `0.1`, `2`, `1e-9`.
pub(crate) fn decimal(value: f64) -> String {
    // `{:?}` turns to an exponent where `{}` would print hundreds of zeros.
    let mut text = format!("{value:?}");
    if text.ends_with(".0") {
        text.truncate(text.len() - 2);
    }
    text
}
