//! Populations, pairs, grids and surfaces beside the grains: every part comes back from its file as it was written.

use crate::common;

use barchan_core::frame::{Extra, Frame, Grid, Population, Surface};
use barchan_io::frames::{read_ply, read_vtp, stored};
use barchan_io::vtk::Packing;
use barchan_io::writer::{Format, FrameWriter, clear};
use barchan_io::{ply, vtk};
use common::{column, frame, of_many_parts};
use glam::{DVec3, Vec3};
use proptest::prelude::*;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

const RAW: Format = Format::Vtk(Packing::Raw);

fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder.join("frames")).unwrap();
    let mut names: Vec<String> = entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// Everything but walls, which PLY has not, and what it has not of grains.
fn assert_same(read: &Frame, written: &Frame, is_ply: bool) {
    assert_eq!((read.time.to_bits(), read.step), (written.time.to_bits(), written.step));
    assert_eq!(read.materials, written.materials);
    let mut written = written.clone();
    let mut read = read.clone();
    if is_ply {
        for frame in [&mut read, &mut written] {
            frame.walls.clear();
            for grains in frame.populations.iter_mut().filter(|p| p.name == "grains") {
                (grains.mass, grains.spin) = Default::default();
                grains.extras.clear();
            }
        }
    }
    assert_eq!(read.populations, written.populations);
    assert_eq!(read.pairs, written.pairs);
    assert_eq!(read.grids, written.grids);
    assert_eq!(read.surfaces, written.surfaces);
    assert_eq!(read.walls, written.walls);
}

#[test]
fn all_parts_come_back_from_both_formats() {
    let folder = tempfile::tempdir().unwrap();
    for n in [0, 1, 40] {
        let written = of_many_parts(n, 0.1 + 0.2);
        for packing in [Packing::Raw, Packing::Zlib] {
            let path = folder.path().join("f.vtp");
            vtk::write(&path, &written, packing).unwrap();
            assert_same(&read_vtp(&path).unwrap(), &written, false);
        }
        let path = folder.path().join("g.ply");
        ply::write(&path, &written).unwrap();
        assert_same(&read_ply(&path).unwrap(), &written, true);
    }
}

#[test]
fn a_frame_need_not_have_grains() {
    let folder = tempfile::tempdir().unwrap();
    let mut written = of_many_parts(4, 0.5);
    written.populations.retain(|p| p.name != "grains");
    let (vtp, points) = (folder.path().join("f.vtp"), folder.path().join("f.ply"));
    for _ in 0..2 {
        vtk::write(&vtp, &written, Packing::Raw).unwrap();
        assert_same(&read_vtp(&vtp).unwrap(), &written, false);
        ply::write(&points, &written).unwrap();
        assert_same(&read_ply(&points).unwrap(), &written, true);
        // Nor any population at all.
        written.populations.clear();
    }
}

#[test]
fn a_run_keeps_its_parts_beside_the_grains_and_paraview_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let mut writer = FrameWriter::new(folder.path(), &[RAW, Format::Ply], None).unwrap();
    (0..2).for_each(|i| assert!(writer.write(of_many_parts(3, f64::from(i))).is_ok()));
    writer.finish().unwrap();
    let sand = "sand~2c~20~22s~c3~bc~c3~9f~22";
    let expected = ["000000.ply", "000000.vtp", "grid.pressure_000000.vti", "pairs.contacts_000000.ply"];
    let found = names(folder.path());
    assert!(expected.iter().all(|name| found.contains(&name.to_string())), "{found:?}");
    assert!(found.contains(&format!("{sand}_000001.vtp")) && found.contains(&"surface.skin_000001.ply".to_owned()));
    assert_eq!(found.len(), 2 * 9);
    let series = std::fs::read_to_string(folder.path().join("frames.pvd")).unwrap();
    let document = roxmltree::Document::parse(&series).unwrap();
    let entries: Vec<_> = document.descendants().filter(|n| n.has_tag_name("DataSet")).collect();
    let told: Vec<_> = entries.iter().map(|e| [e.attribute("part").unwrap(), e.attribute("file").unwrap()]).collect();
    let sand = format!("frames/{sand}_000001.vtp");
    let expected = [
        ["0", "frames/000001.vtp"],
        ["1", "frames/grid.pressure_000001.vti"],
        ["2", "frames/pairs.contacts_000001.vtp"],
        ["3", &sand],
        ["4", "frames/surface.skin_000001.vtp"],
    ];
    assert_eq!(told[5..], expected);
    let (frames, damaged) = stored(folder.path()).unwrap();
    assert_eq!((frames.len(), damaged.len()), (2, 0));
    assert_same(&frames[1].read(&Arc::from([])).unwrap(), &of_many_parts(3, 1.0), false);
    clear(folder.path()).unwrap();
    assert!(names(folder.path()).is_empty());
}

#[test]
fn a_world_of_grains_alone_has_the_files_it_always_had() {
    let folder = tempfile::tempdir().unwrap();
    let mut writer = FrameWriter::new(folder.path(), &[RAW, Format::Ply], None).unwrap();
    writer.write(frame(3, 0.0)).unwrap();
    writer.finish().unwrap();
    assert_eq!(names(folder.path()), ["000000.ply", "000000.vtp"]);
    let says = |bytes: &[u8], what: &str| bytes.windows(what.len()).any(|w| w == what.as_bytes());
    assert!(!says(&vtk::to_bytes(&frame(3, 0.0), Packing::Raw).unwrap(), "population"));
    assert!(!says(&ply::to_bytes(&frame(3, 0.0)).unwrap(), "population"));
}

#[test]
fn a_resumed_run_forgets_parts_that_came_later_and_leaves_the_files_of_an_uninterrupted_one() {
    for formats in [&[RAW, Format::Ply][..], &[RAW], &[Format::Ply]] {
        let (whole, stopped) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let mut writer = FrameWriter::new(whole.path(), formats, None).unwrap();
        (0..4).for_each(|i| assert!(writer.write(of_many_parts(3, f64::from(i))).is_ok()));
        writer.finish().unwrap();
        let mut writer = FrameWriter::new(stopped.path(), formats, None).unwrap();
        for i in 0..4 {
            let mut frame = of_many_parts(if i > 1 { 9 } else { 3 }, f64::from(i));
            if i > 1 {
                frame.populations[0].name = "clay".into();
            }
            writer.write(frame).unwrap();
        }
        writer.finish().unwrap();
        // What is not ours stays, though its name is like that of a part.
        std::fs::write(stopped.path().join("frames/notes_000003.vtp"), "mine").unwrap();
        let mut writer = FrameWriter::new(stopped.path(), formats, Some(1.0)).unwrap();
        assert_eq!((writer.next_number(), writer.last_time()), (2, Some(1.0)));
        assert!(
            names(stopped.path())
                .iter()
                .all(|n| n.contains("00000") && (n.contains("notes") || n.contains("0.") || n.contains("1.")))
        );
        (2..4).for_each(|i| assert!(writer.write(of_many_parts(3, f64::from(i))).is_ok()));
        writer.finish().unwrap();
        std::fs::remove_file(stopped.path().join("frames/notes_000003.vtp")).unwrap();
        assert_eq!(names(whole.path()), names(stopped.path()));
        for name in names(whole.path()) {
            let bytes = |folder: &Path| std::fs::read(folder.join("frames").join(&name)).unwrap();
            assert!(bytes(whole.path()) == bytes(stopped.path()), "{name}");
        }
        let series = |folder: &Path| std::fs::read_to_string(folder.join("frames.pvd")).ok();
        assert_eq!(series(whole.path()), series(stopped.path()));
    }
}

#[test]
fn a_part_that_is_missing_cut_short_or_of_another_time_is_an_error_with_its_file() {
    let folder = tempfile::tempdir().unwrap();
    let written = of_many_parts(3, 0.5);
    let (vtp, points) = (folder.path().join("a.vtp"), folder.path().join("b.ply"));
    vtk::write(&vtp, &written, Packing::Zlib).unwrap();
    ply::write(&points, &written).unwrap();
    let later = folder.path().join("later");
    std::fs::create_dir(&later).unwrap();
    let of_later = Frame { time: 0.6, ..written };
    vtk::write(&later.join("a.vtp"), &of_later, Packing::Zlib).unwrap();
    ply::write(&later.join("b.ply"), &of_later).unwrap();
    let read = || read_vtp(&vtp).and_then(|_| read_ply(&points));
    let files: Vec<_> = std::fs::read_dir(folder.path()).unwrap().map(|e| e.unwrap().path()).collect();
    let mut parts = 0;
    for path in files.iter().filter(|p| p.is_file() && **p != vtp && **p != points) {
        let name = path.file_name().unwrap().to_str().unwrap();
        let whole = std::fs::read(path).unwrap();
        for end in (0..whole.len() - 1).rev().step_by(7) {
            std::fs::write(path, &whole[..end]).unwrap();
            let told = read().err().unwrap_or_else(|| panic!("{name} cut to {end} bytes was read")).to_string();
            assert!(told.contains(name), "{told}");
        }
        std::fs::copy(later.join(name), path).unwrap();
        let told = read().unwrap_err().to_string();
        assert!(told.contains(name) && told.contains("0.6 s"), "{told}");
        std::fs::remove_file(path).unwrap();
        assert!(read().unwrap_err().to_string().contains(name));
        std::fs::write(path, whole).unwrap();
        assert!(read().is_ok());
        parts += 1;
    }
    assert_eq!(parts, 8, "four of a.vtp, and four of b.ply");
}

/// Any text, as names and units may be, but for what XML cannot hold.
fn text() -> impl Strategy<Value = String> {
    "[ -~äµ°²/{}]{1,12}"
}

fn extra(n: usize) -> impl Strategy<Value = Extra> {
    (text(), text(), 0..3, any::<u32>()).prop_map(move |(name, unit, kind, k)| {
        let f = |i: usize| (i as f32 + 0.5) * k as f32;
        // A name of its own, apart from those that all populations have.
        let name = format!("{name}{k}");
        match kind {
            0 => Extra::real(&name, &unit, column(n, f)),
            1 => Extra::vector(&name, &unit, column(n, |i| Vec3::new(f(i), -f(i + 1), f32::INFINITY))),
            _ => Extra::whole(&name, column(n, |i| k ^ i as u32)),
        }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn whatever_the_names_and_types_are_they_come_back(
        n in 0..5_usize,
        extras in prop::collection::vec(extra(4), 0..5),
        names in prop::collection::vec(text(), 3),
        size in [0..3_usize, 0..3, 0..3],
        packed in any::<bool>(),
    ) {
        let mut extras = extras;
        extras.sort_by(|a, b| a.name.cmp(&b.name));
        extras.dedup_by(|a, b| a.name == b.name);
        let rows: Vec<usize> = (0..n.min(4)).collect();
        let few: Vec<Extra> = extras.iter().map(|e| Extra { values: e.values.pick(&rows), ..e.clone() }).collect();
        let n = rows.len();
        let sand = Population {
            name: format!("a{}", names[0]),
            position: column(n, |i| DVec3::splat(i as f64)),
            velocity: column(n, |_| DVec3::ZERO),
            radius: column(n, |_| 0.0),
            mass: column(n, |_| 1.0),
            id: column(n, |i| i as u32),
            material: column(n, |_| 0),
            extras: few.clone(),
            ..Population::default()
        };
        let cells: Vec<usize> = (0..size.iter().product()).map(|i: usize| i % 4).collect();
        let fields = extras.iter().map(|e| Extra { values: e.values.pick(&cells), ..e.clone() }).collect();
        let grid = Grid { name: names[1].clone(), origin: DVec3::X, cell: DVec3::ONE / 3.0, size, fields };
        let vertices = column(4, |i| DVec3::splat(i as f64));
        let surface = Surface { name: names[2].clone(), vertices, triangles: Arc::from([[0, 1, 2]]), material: 3, extras };
        let written = Frame { grids: vec![grid], surfaces: vec![surface], time: 1e-7, ..Frame::of(sand) };
        let folder = tempfile::tempdir().unwrap();
        let (vtp, points) = (folder.path().join("000001.vtp"), folder.path().join("000001.ply"));
        vtk::write(&vtp, &written, if packed { Packing::Zlib } else { Packing::Raw }).unwrap();
        assert_same(&read_vtp(&vtp).unwrap(), &written, false);
        ply::write(&points, &written).unwrap();
        assert_same(&read_ply(&points).unwrap(), &written, true);
    }

    /// Whatever the bytes of a part are, reading returns.
    #[test]
    fn altered_parts_never_panic(
        which in 0..8_usize,
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..12),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let written = of_many_parts(3, 0.5);
        let (vtp, points) = (folder.path().join("a.vtp"), folder.path().join("b.ply"));
        vtk::write(&vtp, &written, Packing::Raw).unwrap();
        ply::write(&points, &written).unwrap();
        let mut files: Vec<_> = std::fs::read_dir(folder.path()).unwrap().map(|e| e.unwrap().path()).collect();
        files.retain(|p| *p != vtp && *p != points);
        files.sort();
        let mut bytes = std::fs::read(&files[which]).unwrap();
        for (at, value) in edits {
            let at = at.index(bytes.len());
            bytes[at] = value;
        }
        std::fs::write(&files[which], bytes).unwrap();
        for frame in [read_vtp(&vtp), read_ply(&points)].into_iter().flatten() {
            prop_assert!(frame.populations.iter().all(|p| p.extras.iter().all(|e| e.values.len() == p.len())));
            prop_assert!(frame.grids.iter().all(|g| g.fields.iter().all(|e| e.values.len() == g.len())));
        }
    }
}

/// Reads the parts of FOLDER with VTK and plyfile and compares them with the formulas of `common::of_many_parts`.
const CHECK: &str = r#"
import sys
from pathlib import Path
import numpy as np
import plyfile
import vtk
from vtk.util.numpy_support import vtk_to_numpy

folder = Path(sys.argv[1]) / "frames"
errors = []


def read(reader, name):
    reader.AddObserver("ErrorEvent", lambda *_: errors.append(f"VTK cannot read {name}"))
    reader.SetFileName(str(folder / name))
    reader.Update()
    assert not errors, errors
    assert reader.GetOutput().GetFieldData().GetArray("TimeValue").GetValue(0) == 0.25
    return reader.GetOutput()


def poly(name):
    return read(vtk.vtkXMLPolyDataReader(), name)


n, units = 5, vtk.vtkDataArray.UNITS_LABEL()
sand = poly(next(folder.glob("sand*_000000.vtp")).name)
assert sand.GetNumberOfPoints() == n + 3
columns = sand.GetPointData()
phase = columns.GetArray("phase")
assert phase.GetDataType() == vtk.VTK_UNSIGNED_INT
assert (vtk_to_numpy(phase) == 2**32 - 1 - np.arange(n + 3)).all()
heat = columns.GetArray("flux of heat")
assert heat.GetNumberOfComponents() == 3 and heat.GetInformation().Get(units) == "W/m^2 K"
assert np.allclose(vtk_to_numpy(heat)[:, 0], 0.9 * np.arange(n + 3))
assert columns.GetArray("spin") is None

contacts = poly("pairs.contacts_000000.vtp")
assert contacts.GetNumberOfLines() == contacts.GetNumberOfCells() == n
line = contacts.GetCell(3)
assert np.allclose(contacts.GetPoint(line.GetPointId(1)), (1.5, -3.0, 0.6))
assert (vtk_to_numpy(contacts.GetCellData().GetArray("id"))[3] == (3, 9)).all()
assert np.allclose(vtk_to_numpy(contacts.GetCellData().GetArray("force"))[2], (1.6, -3.2, 0.72))

skin = poly("surface.skin_000000.vtp")
assert skin.GetNumberOfPolys() == skin.GetNumberOfCells() == 80, skin.GetNumberOfPolys()
mass = vtk.vtkMassProperties()
mass.SetInputData(skin)
mass.Update()
assert 3.5 < mass.GetVolume() < 4.2, mass.GetVolume()
assert (vtk_to_numpy(skin.GetPointData().GetArray("velocity"))[5] == 5).all()

grid = read(vtk.vtkXMLImageDataReader(), "grid.pressure_000000.vti")
assert grid.GetNumberOfCells() == 24 and np.allclose(grid.GetSpacing(), (0.01, 0.02, 1 / 3))
assert (vtk_to_numpy(grid.GetCellData().GetArray("pressure")) == np.arange(24)).all()
assert (vtk_to_numpy(grid.GetCellData().GetArray("phase")) == np.arange(24) % 3).all()

ply = plyfile.PlyData.read(next(folder.glob("sand*_000000.ply")))
assert (ply["vertex"]["phase"] == 2**32 - 1 - np.arange(n + 3)).all()
assert np.allclose(ply["vertex"]["flux_of_heat_x"], 0.9 * np.arange(n + 3))
ply = plyfile.PlyData.read(folder / "pairs.contacts_000000.ply")
assert ply["edge"]["vertex2"][4] == 9 and ply["edge"]["id2"][3] == 9 and ply["vertex"].count == 10
ply = plyfile.PlyData.read(folder / "surface.skin_000000.ply")
assert ply["face"].count == 80 and len(ply["face"]["vertex_indices"][0]) == 3
"#;

#[test]
fn vtk_and_plyfile_read_the_parts() {
    let Some(python) = std::env::var_os("BARCHAN_PYTHON") else {
        println!("BARCHAN_PYTHON is not set: the parts of our frames were not read by VTK and plyfile");
        return;
    };
    for packing in [Packing::Raw, Packing::Zlib] {
        let folder = tempfile::tempdir().unwrap();
        let mut writer = FrameWriter::new(folder.path(), &[Format::Vtk(packing), Format::Ply], None).unwrap();
        writer.write(of_many_parts(5, 0.25)).unwrap();
        writer.finish().unwrap();
        let run = Command::new(&python).args(["-c", CHECK]).arg(folder.path()).output().unwrap();
        let said = [run.stdout, run.stderr].concat();
        assert!(run.status.success(), "{packing:?}\n{}", String::from_utf8_lossy(&said));
    }
}
