//! Distance fields for ParaView and VTK (`.vti`): VTK XML ImageData, appended raw binary.
//!
//! One point datum, `distance` [m], f32, negative inside, at every node of the field's box; beyond the band it is the band with
//! the sign of the side. A contour of 0 is the surface.

use crate::atomic::{self, FileError};
use crate::decimal;
use crate::vtk::{Arrays, FOOTER, Packing};
use barchan_core::sdf::Dense;
use std::fmt::Write as _;

/// Writes a field, whole or not at all.
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
