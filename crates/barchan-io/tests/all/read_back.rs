//! Our files in other people's readers: VTK's own and `plyfile`, run by `read_back.py`.
//!
//! The environment variable `BARCHAN_PYTHON` names a Python that has the packages `vtk`, `numpy` and `plyfile`; the
//! script `./test` sets it.

use crate::common;

use barchan_io::csv::{Column, Table};
use barchan_io::vti::{CellField, CellGrid, write_cells};
use barchan_io::vtk::Packing;
use barchan_io::writer::{Format, FrameWriter};
use glam::DVec3;
use std::path::Path;
use std::process::Command;

#[test]
fn vtk_and_plyfile_read_what_we_write() {
    let Some(python) = std::env::var_os("BARCHAN_PYTHON") else {
        println!("BARCHAN_PYTHON is not set: our files were not read by VTK and plyfile");
        return;
    };
    for packing in [Packing::Raw, Packing::Zlib] {
        let folder = tempfile::tempdir().unwrap();
        let mut writer = FrameWriter::new(folder.path(), &[Format::Vtk(packing), Format::Ply], None).unwrap();
        // Several compressed blocks; a few; none.
        for (i, n) in [5000, 7, 0].into_iter().enumerate() {
            let written = common::with_solids(n, 0.1 + 0.2 * i as f64);
            let frame = written.grains();
            // What the readers should find: a row a sphere, in order.
            let names = "x y z radius vx vy vz wx wy wz id material pressure grain_mass";
            let columns: Vec<Column> = names.split(' ').map(|n| Column::new(n, "")).collect();
            let mut table = Table::create(folder.path().join(format!("{i}.csv")), &columns).unwrap();
            for s in frame.spheres() {
                let g = s.grain;
                let mut row = [s.centre.to_array().as_slice(), &[s.radius], &s.velocity.to_array()].concat();
                row.extend(frame.spin[g].to_array());
                row.extend([f64::from(frame.id[g]), f64::from(frame.material[g])]);
                row.extend([frame.extras[1].values.number(g), frame.mass[g]]);
                table.append(&row).unwrap();
            }
            // And a row a solid.
            let names = "id shape x y z qx qy qz qw radius";
            let columns: Vec<Column> = names.split(' ').map(|n| Column::new(n, "")).collect();
            let mut table = Table::create(folder.path().join(format!("{i}-solids.csv")), &columns).unwrap();
            for g in (0..n).filter(|g| frame.skin(*g).is_some()) {
                let mut row = vec![f64::from(frame.id[g]), f64::from(frame.shape[g])];
                row.extend([frame.position[g].to_array().as_slice(), &frame.turn(g).to_array()].concat());
                row.push(frame.radius[g]);
                table.append(&row).unwrap();
            }
            writer.write(written).unwrap();
        }
        assert_eq!(writer.finish().unwrap(), 3);
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/read_back.py");
        let run = Command::new(&python).arg(script).arg(folder.path()).output().unwrap();
        let said = [run.stdout, run.stderr].concat();
        assert!(run.status.success(), "{packing:?}\n{}", String::from_utf8_lossy(&said));
    }
}

/// Fields on a grid of 3 × 2 × 4 cells: a number and a vector, each cell's its own.
#[test]
fn vtk_reads_fields_on_a_grid() {
    let Some(python) = std::env::var_os("BARCHAN_PYTHON") else {
        println!("BARCHAN_PYTHON is not set: our fields were not read by VTK");
        return;
    };
    const FIELDS: &[CellField] = &[
        CellField { name: "pressure", unit: "Pa", components: 1 },
        CellField { name: "velocity", unit: "m/s", components: 3 },
    ];
    let (origin, spacing) = (DVec3::new(1.0, -2.0, 0.5), DVec3::new(0.1, 0.2, 0.25));
    let grid = CellGrid { origin, spacing, counts: [3, 2, 4], fields: FIELDS };
    let values: Vec<f64> = (0..24).chain(100..172).map(f64::from).collect();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cells.vti");
    write_cells(&path, &grid, 0.75, &values).unwrap();
    let script = r#"
import sys, numpy as np, vtk
from vtk.util.numpy_support import vtk_to_numpy as numpy
reader = vtk.vtkXMLImageDataReader()
reader.SetFileName(sys.argv[1])
reader.Update()
image = reader.GetOutput()
assert image.GetDimensions() == (4, 3, 5) and np.allclose(image.GetOrigin(), (1, -2, 0.5))
assert np.allclose(image.GetSpacing(), (0.1, 0.2, 0.25))
assert np.allclose(image.GetFieldData().GetArray("TimeValue").GetTuple1(0), 0.75)
cells = image.GetCellData()
assert (numpy(cells.GetArray("pressure")) == np.arange(24)).all()
assert (numpy(cells.GetArray("velocity")) == np.arange(100, 172).reshape(24, 3)).all()
# The second along x is the second in the file.
box = image.GetCell(1).GetBounds()
assert np.allclose(box, (1.1, 1.2, -2, -1.8, 0.5, 0.75)), box
"#;
    let run = Command::new(&python).args(["-c", script]).arg(&path).output().unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
}
