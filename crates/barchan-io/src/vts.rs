//! The ground for ParaView and VTK (`.vts`): VTK XML StructuredGrid, appended raw binary.
//!
//! A point for each cell's middle, f32, so that the surface is seen as it is opened; its exact `height` above the floor [m], f64, as
//! point data. Field data: `TimeValue`, `origin` and `cell`, from which the [`Relief`] is read back to the bit. Columns are
//! compressed by zlib, whatever the other files of a frame are: places repeat from row to row, and heights are whole quanta.

use crate::atomic::{self, FileError};
use crate::columns::{bytes, vec3, vec3_f32};
use crate::decimal;
use crate::frames::{Damage, ReadError, damage};
use crate::unpack::{child, with_arrays};
use crate::vtk::{Arrays, FOOTER, Packing};
use barchan_core::relief::Relief;
use std::fmt::Write as _;
use std::path::Path;

/// Bytes of a cell in a file, about: 20 before they are compressed.
pub const BYTES_PER_CELL: f64 = 11.0;

/// Writes the ground as it is at a time [s], whole or not at all.
pub fn write(path: &Path, relief: &Relief, time: f64) -> Result<(), FileError> {
    let packing = Packing::Zlib;
    let [nx, ny] = relief.size;
    let extent = format!("0 {} 0 {} 0 0", nx - 1, ny - 1);
    let mut file = Arrays { xml: String::new(), body: Vec::new(), packing };
    // Writing to a string cannot fail.
    let _ = write!(
        file.xml,
        "<?xml version=\"1.0\"?>\n<VTKFile type=\"StructuredGrid\" version=\"1.0\" byte_order=\"LittleEndian\" \
         header_type=\"UInt64\"{}>\n  <StructuredGrid WholeExtent=\"{extent}\">\n    <FieldData>\n      \
         <DataArray type=\"Float64\" Name=\"TimeValue\" NumberOfTuples=\"1\" format=\"ascii\">{}</DataArray>\n",
        packing.compressor(),
        decimal(time)
    );
    file.field("Float64", "origin", "m", 3, 1, vec3(relief.origin).to_vec());
    file.field("Float64", "cell", "m", 1, 1, relief.cell.to_le_bytes().to_vec());
    let _ =
        write!(file.xml, "    </FieldData>\n    <Piece Extent=\"{extent}\">\n      <PointData Scalars=\"height\">\n");
    file.array("Float64", "height", "m", 1, bytes(relief.height.iter().map(|h| h.to_le_bytes())));
    file.xml.push_str("      </PointData>\n      <Points>\n");
    file.array("Float32", "Points", "m", 3, bytes((0..nx * ny).map(|cell| vec3_f32(relief.point(cell)))));
    file.xml.push_str(
        "      </Points>\n    </Piece>\n  </StructuredGrid>\n  <AppendedData encoding=\"raw\">\n   _", // data start after `_`
    );
    atomic::write_with(path, |out| {
        out.write_all(file.xml.as_bytes())?;
        out.write_all(&file.body)?;
        out.write_all(FOOTER)
    })
}

/// Reads what [`write`] has written.
pub fn read(path: impl AsRef<Path>) -> Result<Relief, ReadError> {
    let path = path.as_ref();
    let bytes = std::fs::read(path).map_err(|e| FileError::new("read", path, e))?;
    from_bytes(&bytes).map_err(|(place, what)| ReadError::Damaged { path: path.to_owned(), place, what })
}

fn from_bytes(bytes: &[u8]) -> Result<Relief, Damage> {
    with_arrays(bytes, "StructuredGrid", |grid, file| {
        let extent = grid.attribute("WholeExtent").unwrap_or_default();
        let ends: Vec<usize> = extent.split(' ').filter_map(|n| n.parse().ok()).collect();
        let &[0, x, 0, y, 0, 0] = ends.as_slice() else {
            return damage("WholeExtent", format!("`{extent}` is not that of a ground"));
        };
        let size = [x.saturating_add(1), y.saturating_add(1)];
        let fields = child(grid, "FieldData")?;
        let columns = child(child(grid, "Piece")?, "PointData")?;
        let count = size[0].saturating_mul(size[1]);
        let relief = Relief {
            origin: file.vectors(fields, "origin", "Float64", 1)?[0],
            cell: file.numbers(fields, "cell", "Float64", 1, f64::from_le_bytes)?[0],
            size,
            height: file.numbers(columns, "height", "Float64", count, f64::from_le_bytes)?,
        };
        let sound = relief.origin.is_finite() && relief.cell > 0.0 && relief.cell.is_finite();
        if !sound || relief.height.iter().any(|h| !h.is_finite()) {
            return damage("array height", "the ground has places, a width or heights that are no numbers");
        }
        Ok(relief)
    })
}
