//! Distance fields in VTK's own reader.
//!
//! The environment variable `BARCHAN_PYTHON` names a Python that has the packages `vtk` and `numpy`; the script `./test`
//! sets it.

use barchan_core::mesh::Mesh;
use barchan_core::sdf::Field;
use barchan_io::vti;
use barchan_io::vtk::Packing;
use std::process::Command;

/// Reads FILE and compares the field, between nodes as well, with that of a sphere of radius 1.
const CHECK: &str = r#"
import sys
import numpy as np
import vtk
from vtk.util.numpy_support import vtk_to_numpy

reader = vtk.vtkXMLImageDataReader()
errors = []
reader.AddObserver("ErrorEvent", lambda *_: errors.append("VTK cannot read the file"))
reader.SetFileName(sys.argv[1])
reader.Update()
assert not errors, errors
image, cell, band = reader.GetOutput(), float(sys.argv[2]), float(sys.argv[3])
array = image.GetPointData().GetScalars()
assert array.GetName() == "distance" and array.GetInformation().Get(vtk.vtkDataArray.UNITS_LABEL()) == "m"
assert np.allclose(image.GetSpacing(), cell, rtol=1e-15), image.GetSpacing()
values = vtk_to_numpy(array)
places = np.array([image.GetPoint(k) for k in range(0, image.GetNumberOfPoints(), 7)])
exact = np.clip(np.linalg.norm(places, axis=1) - 1, -band, band)
# The mesh's facets lie up to 0.0016 within the sphere.
assert np.abs(values[::7] - exact).max() < 2e-3, np.abs(values[::7] - exact).max()
points = vtk.vtkPoints()
points.InsertNextPoint(0.61, 0.48, 0.71)
points.InsertNextPoint(0.0, 0.0, 0.0)
asked = vtk.vtkPolyData()
asked.SetPoints(points)
probe = vtk.vtkProbeFilter()
probe.SetInputData(asked)
probe.SetSourceData(image)
probe.Update()
found = vtk_to_numpy(probe.GetOutput().GetPointData().GetArray("distance"))
near = np.linalg.norm([0.61, 0.48, 0.71]) - 1
assert abs(found[0] - near) < 4e-3, (found, near)
assert found[1] == np.float32(-band), found
"#;

#[test]
fn vtk_reads_a_field_and_finds_the_distance_between_its_nodes() {
    let Some(python) = std::env::var_os("BARCHAN_PYTHON") else {
        println!("BARCHAN_PYTHON is not set: our fields were not read by VTK");
        return;
    };
    let (cell, band) = (0.0625, 0.2);
    let field = Field::build(&Mesh::sphere(1.0, 4), cell, band).unwrap().dense().unwrap();
    let folder = tempfile::tempdir().unwrap();
    for packing in [Packing::Raw, Packing::Zlib] {
        let path = folder.path().join("sphere.vti");
        vti::write(&path, &field, packing).unwrap();
        let run = Command::new(&python)
            .args(["-c", CHECK])
            .arg(&path)
            .args([cell.to_string(), band.to_string()])
            .output()
            .unwrap();
        let said = [run.stdout, run.stderr].concat();
        assert!(run.status.success(), "{packing:?}\n{}", String::from_utf8_lossy(&said));
    }
}
