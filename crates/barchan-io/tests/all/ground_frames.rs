//! The ground beside its frames: written when it changes, found again for every frame, read by VTK.

use crate::common;

use barchan_core::relief::Relief;
use barchan_core::shapes::Shape;
use barchan_io::frames::{ReadError, stored};
use barchan_io::vtk::Packing;
use barchan_io::vts;
use barchan_io::writer::{Format, FrameWriter, clear};
use glam::DVec3;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

fn ground(lift: f64) -> Arc<Relief> {
    let size = [7, 4];
    let height = (0..28).map(|i| lift + (f64::from(i) / 3.0).sin()).collect();
    Arc::new(Relief { origin: DVec3::new(1e3, -2.0, 0.1), cell: 0.1, size, height })
}

/// Frames of three times; the ground changes with the third.
fn write(folder: &Path, formats: &[Format]) -> [Arc<Relief>; 3] {
    let first = ground(0.0);
    // The second is another copy of the same.
    let grounds = [first.clone(), ground(0.0), ground(1.0)];
    let mut writer = FrameWriter::new(folder, formats, None).unwrap();
    for (i, ground) in grounds.iter().enumerate() {
        let mut frame = common::frame(5, 0.1 * i as f64);
        frame.ground = Some(ground.clone());
        writer.write(frame).unwrap();
    }
    writer.finish().unwrap();
    grounds
}

fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder.join("frames")).unwrap();
    let mut names: Vec<String> = entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn every_frame_has_the_ground_of_its_time_and_it_is_written_once() {
    let shapes: Arc<[Shape]> = Arc::from([Shape::sphere()]);
    for formats in [[Format::Vtk(Packing::Raw)], [Format::Vtk(Packing::Zlib)], [Format::Ply]] {
        let folder = tempfile::tempdir().unwrap();
        let grounds = write(folder.path(), &formats);
        let vts: Vec<String> = names(folder.path()).into_iter().filter(|n| n.ends_with("vts")).collect();
        assert_eq!(vts, ["000000.vts", "000002.vts"]);
        let (frames, damaged) = stored(folder.path()).unwrap();
        assert!(frames.len() == 3 && damaged.is_empty());
        for (frame, ground) in frames.iter().zip(&grounds) {
            assert_eq!(frame.read(&shapes).unwrap().ground.as_ref(), Some(ground), "to the bit");
        }
        if formats != [Format::Ply] {
            let series = std::fs::read_to_string(folder.path().join("frames.pvd")).unwrap();
            let parts: Vec<&str> = series.lines().filter_map(|l| l.split_once("timestep=")).map(|(_, p)| p).collect();
            assert_eq!(parts.len(), 6);
            assert_eq!(parts[3], "\"0.1\" group=\"\" part=\"1\" file=\"frames/000000.vts\"/>");
            assert_eq!(parts[5], "\"0.2\" group=\"\" part=\"1\" file=\"frames/000002.vts\"/>");
        }
        clear(folder.path()).unwrap();
        assert!(names(folder.path()).is_empty());
    }
}

#[test]
fn a_resumed_run_forgets_grounds_that_came_later() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &[Format::Vtk(Packing::Raw)]);
    let mut writer = FrameWriter::new(folder.path(), &[Format::Vtk(Packing::Raw)], Some(0.1)).unwrap();
    assert_eq!(names(folder.path()), ["000000.vtp", "000000.vts", "000001.vtp"]);
    assert_eq!((writer.next_number(), writer.last_time()), (2, Some(0.1)));
    let mut frame = common::frame(5, 0.2);
    frame.ground = Some(ground(3.0));
    writer.write(frame).unwrap();
    writer.finish().unwrap();
    let series = std::fs::read_to_string(folder.path().join("frames.pvd")).unwrap();
    assert_eq!(series.matches("000000.vts").count(), 2);
    assert_eq!(series.matches("000002.vts").count(), 1);
    let (frames, _) = stored(folder.path()).unwrap();
    assert_eq!(frames[2].ground, Some(folder.path().join("frames/000002.vts")));
}

/// A field of a million columns took 20 MB a frame: the ground is compressed, to half of it and less.
#[test]
fn a_ground_takes_no_more_room_than_is_announced() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ground.vts");
    let size = [300, 200];
    // Waves in whole quanta, as columns have them.
    let height = |i: usize| {
        let (x, y) = (0.02 * (i % size[0]) as f64, 0.02 * (i / size[0]) as f64);
        ((1.0 + 0.02 * (1.3 * x + 0.4 * y).sin() * (0.9 * y).cos()) * 1048576.0).round() / 1048576.0
    };
    let height = (0..size[0] * size[1]).map(height).collect();
    let relief = Relief { origin: DVec3::new(-10.0, -10.0, -1.0), cell: 0.02, size, height };
    vts::write(&path, &relief, 1.5).unwrap();
    let bytes = std::fs::metadata(&path).unwrap().len() as f64 / 60_000.0;
    println!("{bytes} bytes a cell");
    assert!(bytes < vts::BYTES_PER_CELL && bytes > 0.3 * vts::BYTES_PER_CELL, "{bytes} bytes a cell");
    assert_eq!(vts::read(&path).unwrap(), relief, "to the bit");
}

#[test]
fn a_ground_that_is_cut_short_is_an_error_with_its_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("000000.vts");
    vts::write(&path, &ground(0.0), 1.5).unwrap();
    let whole = std::fs::read(&path).unwrap();
    for length in 0..whole.len() - 1 {
        std::fs::write(&path, &whole[..length]).unwrap();
        let error = vts::read(&path).expect_err("cut short");
        assert!(matches!(&error, ReadError::Damaged { path, .. } if path.ends_with("000000.vts")), "{error}");
    }
    let mut wild = Relief::clone(&ground(0.0));
    wild.height[3] = f64::NAN;
    let path = folder.path().join("wild.vts");
    vts::write(&path, &wild, 0.0).unwrap();
    assert!(vts::read(&path).unwrap_err().to_string().contains("no numbers"));
}

/// Reads the ground of FILE with VTK and compares its points with the formula of the test.
const CHECK: &str = r#"
import sys
import numpy as np
import vtk
from vtk.util.numpy_support import vtk_to_numpy

reader = vtk.vtkXMLStructuredGridReader()
errors = []
reader.AddObserver("ErrorEvent", lambda *_: errors.append("VTK cannot read the file"))
reader.SetFileName(sys.argv[1])
reader.Update()
assert not errors, errors
grid = reader.GetOutput()
assert grid.GetExtent() == (0, 6, 0, 3, 0, 0) and grid.GetNumberOfCells() == 18, grid.GetExtent()
heights = vtk_to_numpy(grid.GetPointData().GetScalars())
assert grid.GetPointData().GetScalars().GetInformation().Get(vtk.vtkDataArray.UNITS_LABEL()) == "m"
expected = np.sin(np.arange(28) / 3)
assert np.abs(heights - expected).max() < 1e-15, heights - expected
points = vtk_to_numpy(grid.GetPoints().GetData())
x, y = np.arange(28) % 7, np.arange(28) // 7
places = np.stack([1e3 + 0.1 * (x + 0.5), -2 + 0.1 * (y + 0.5), 0.1 + expected], axis=1)
assert np.allclose(points, places, rtol=1e-7, atol=1e-6), points - places
assert grid.GetFieldData().GetArray("TimeValue").GetValue(0) == 1.5
# It is a surface: its area is that of the heights.
surface = vtk.vtkDataSetSurfaceFilter()
surface.SetInputData(grid)
triangles = vtk.vtkTriangleFilter()
triangles.SetInputConnection(surface.GetOutputPort())
mass = vtk.vtkMassProperties()
mass.SetInputConnection(triangles.GetOutputPort())
mass.Update()
assert 0.18 < mass.GetSurfaceArea() < 5, mass.GetSurfaceArea()
"#;

#[test]
fn vtk_reads_the_ground_as_a_surface() {
    let Some(python) = std::env::var_os("BARCHAN_PYTHON") else {
        println!("BARCHAN_PYTHON is not set: our grounds were not read by VTK");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ground.vts");
    vts::write(&path, &ground(0.0), 1.5).unwrap();
    let run = Command::new(&python).args(["-c", CHECK]).arg(&path).output().unwrap();
    let said = [run.stdout, run.stderr].concat();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&said));
}
