//! Fields on grids for ParaView and VTK (`.vti`): VTK XML ImageData, appended raw binary.
//!
//! A distance field has one point datum, `distance` [m], f32, negative inside, at every node of the field's box; beyond the band it is the band with
//! the sign of the side. A contour of 0 is the surface. Measured fields are cell data, f32, NaN where there is nothing.

use crate::atomic::{self, FileError};
use crate::decimal;
use crate::vtk::{Arrays, FOOTER, Packing};
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
    atomic::write_with(path, |out| {
        out.write_all(file.xml.as_bytes())?;
        out.write_all(&file.body)?;
        out.write_all(FOOTER)
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
    atomic::write_with(path, |out| {
        out.write_all(file.xml.as_bytes())?;
        out.write_all(&file.body)?;
        out.write_all(FOOTER)
    })
}
