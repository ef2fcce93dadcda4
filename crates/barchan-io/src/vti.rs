//! Fields on grids for ParaView and VTK (`.vti`): VTK XML ImageData, appended raw binary.
//!
//! A distance field has one point datum, `distance` [m], f32, negative inside, at every node of the field's box; beyond the band it is the band with
//! the sign of the side. A contour of 0 is the surface. Measured fields are cell data, f32, NaN where there is nothing. Grids of a frame are cell data
//! of the types that extras have, and are read back.

use crate::atomic::FileError;
use crate::columns::FrameError;
use crate::decimal;
use crate::frames::{Damage, damage};
use crate::parts::{self, Kind};
use crate::unpack::{child, with_arrays};
use crate::vtk::{self, Arrays, Packing};
use crate::vtk_back;
use barchan_core::frame::{Frame, Grid};
use barchan_core::sdf::Dense;
use glam::DVec3;
use std::fmt::Write as _;

/// A field that cells have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CellField {
    /// Its name.
    pub name: &'static str,
    /// Its unit; empty for a pure number.
    pub unit: &'static str,
    /// Numbers a cell.
    pub components: usize,
}

/// Cells of equal size in a box, and the fields they have.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CellGrid {
    /// Lower corner of the first cell [m].
    pub origin: DVec3,
    /// Sides of a cell [m].
    pub spacing: DVec3,
    /// Cells in each direction.
    pub counts: [usize; 3],
    /// The fields, in the order of their numbers.
    pub fields: &'static [CellField],
}

/// Writes the fields of cells at a time [s], whole or not at all. Values come field by field, cell by cell (along x first, then y, then z), a
/// cell's components together; what is missing at the end is NaN.
pub fn write_cells(path: &std::path::Path, grid: &CellGrid, time: f64, values: &[f64]) -> Result<(), FileError> {
    let [nx, ny, nz] = grid.counts;
    let extent = format!("0 {nx} 0 {ny} 0 {nz}");
    let three = |v: DVec3| v.to_array().map(decimal).join(" ");
    let mut file = Arrays { xml: String::new(), body: Vec::new(), packing: Packing::Raw };
    let _ = write!(
        file.xml,
        "<?xml version=\"1.0\"?>\n<VTKFile type=\"ImageData\" version=\"1.0\" byte_order=\"LittleEndian\" \
         header_type=\"UInt64\">\n  <ImageData WholeExtent=\"{extent}\" Origin=\"{}\" Spacing=\"{}\">\n    <FieldData>\n      \
         <DataArray type=\"Float64\" Name=\"TimeValue\" NumberOfTuples=\"1\" format=\"ascii\">{}</DataArray>\n    \
         </FieldData>\n    <Piece Extent=\"{extent}\">\n      <CellData>\n",
        three(grid.origin),
        three(grid.spacing),
        decimal(time)
    );
    let mut rest = values.iter().copied().chain(std::iter::repeat(f64::NAN));
    for field in grid.fields {
        let numbers = rest.by_ref().take(nx * ny * nz * field.components);
        let bytes = numbers.flat_map(|x| (x as f32).to_le_bytes()).collect();
        file.array("Float32", field.name, field.unit, field.components, bytes);
    }
    file.xml.push_str(
        "      </CellData>\n    </Piece>\n  </ImageData>\n  <AppendedData encoding=\"raw\">\n   _", // data start after `_`
    );
    vtk::save(path, file)
}

/// Writes the grids of a frame beside its main file, each whole or not at all.
pub(crate) fn write_grids(main: &std::path::Path, frame: &Frame, packing: Packing) -> Result<(), FrameError> {
    crate::columns::check(frame)?;
    for grid in &frame.grids {
        vtk::save(&parts::path(main, Kind::Grid, &grid.name, parts::GRID), encode_grid(grid, frame.time, packing))?;
    }
    Ok(())
}

fn encode_grid(grid: &Grid, time: f64, packing: Packing) -> Arrays {
    // A side without cells ends before it begins, as VTK has it for an empty box.
    let extent = grid.size.map(|n| format!("0 {}", if n == 0 { -1 } else { n as i64 })).join(" ");
    let three = |v: DVec3| v.to_array().map(decimal).join(" ");
    let mut file = Arrays { xml: String::new(), body: Vec::new(), packing };
    // Writing to a string cannot fail.
    let _ = write!(
        file.xml,
        "<?xml version=\"1.0\"?>\n<VTKFile type=\"ImageData\" version=\"1.0\" byte_order=\"LittleEndian\" \
         header_type=\"UInt64\"{}>\n  <ImageData WholeExtent=\"{extent}\" Origin=\"{}\" Spacing=\"{}\">\n    <FieldData>\n      \
         <DataArray type=\"Float64\" Name=\"TimeValue\" NumberOfTuples=\"1\" format=\"ascii\">{}</DataArray>\n",
        packing.compressor(),
        three(grid.origin),
        three(grid.cell),
        decimal(time)
    );
    file.strings(parts::NAME, [&grid.name].into_iter());
    let _ = write!(file.xml, "    </FieldData>\n    <Piece Extent=\"{extent}\">\n      <CellData>\n");
    grid.fields.iter().for_each(|field| file.extra(field, 0..grid.len()));
    file.xml.push_str(
        "      </CellData>\n    </Piece>\n  </ImageData>\n  <AppendedData encoding=\"raw\">\n   _", // data start after `_`
    );
    file
}

/// A grid from its file, with its time [s].
pub(crate) fn grid_from_bytes(bytes: &[u8], name: &str) -> Result<(f64, Grid), Damage> {
    with_arrays(bytes, "ImageData", |image, file| {
        let numbers = |key: &str| -> Vec<f64> {
            image.attribute(key).unwrap_or_default().split(' ').filter_map(|n| n.parse().ok()).collect()
        };
        let extent = image.attribute("WholeExtent").unwrap_or_default();
        let ends: Vec<i64> = extent.split(' ').filter_map(|n| n.parse().ok()).collect();
        let &[0, x, 0, y, 0, z] = ends.as_slice() else {
            return damage("WholeExtent", format!("`{extent}` is not that of a grid"));
        };
        let (&[a, b, c], &[u, v, w]) = (numbers("Origin").as_slice(), numbers("Spacing").as_slice()) else {
            return damage("ImageData", "Origin or Spacing are not three numbers");
        };
        let size = [x, y, z].map(|n| usize::try_from(n).unwrap_or(0));
        let cells = size.iter().fold(1_usize, |all, n| all.saturating_mul(*n));
        let grid = Grid {
            name: name.to_owned(),
            origin: DVec3::new(a, b, c),
            cell: DVec3::new(u, v, w),
            size,
            fields: file.extras(child(child(image, "Piece")?, "CellData")?, &[], cells)?,
        };
        Ok((vtk_back::time(image)?, grid))
    })
}

/// Writes a distance field, whole or not at all.
pub fn write(path: &std::path::Path, field: &Dense, packing: Packing) -> Result<(), FileError> {
    let [nx, ny, nz] = field.counts.map(|n| n.saturating_sub(1));
    let extent = format!("0 {nx} 0 {ny} 0 {nz}");
    let [x, y, z] = field.origin.to_array().map(decimal);
    let cell = decimal(field.cell);
    let mut file = Arrays { xml: String::new(), body: Vec::new(), packing };
    // Writing to a string cannot fail.
    let _ = write!(
        file.xml,
        "<?xml version=\"1.0\"?>\n<VTKFile type=\"ImageData\" version=\"1.0\" byte_order=\"LittleEndian\" \
         header_type=\"UInt64\"{}>\n  <ImageData WholeExtent=\"{extent}\" Origin=\"{x} {y} {z}\" \
         Spacing=\"{cell} {cell} {cell}\">\n    <Piece Extent=\"{extent}\">\n      <PointData Scalars=\"distance\">\n",
        packing.compressor()
    );
    file.array("Float32", "distance", "m", 1, field.values.iter().flat_map(|d| d.to_le_bytes()).collect());
    file.xml.push_str(
        "      </PointData>\n    </Piece>\n  </ImageData>\n  <AppendedData encoding=\"raw\">\n   _", // data start after `_`
    );
    vtk::save(path, file)
}
