//! Frame files: what is written is what is read, and what is not a frame is refused with its place.

use crate::common;

use barchan_core::frame::{Extra, Frame};
use barchan_io::frames::{ReadError, read_ply, read_time, read_vtp};
use barchan_io::vtk::Packing;
use barchan_io::{FrameError, ply, vtk, xyz};
use common::{frame, of_many_parts};
use glam::DVec3;
use proptest::prelude::*;
use std::path::Path;
use std::time::{Duration, Instant};

fn round(v: DVec3) -> DVec3 {
    v.as_vec3().as_dvec3()
}

/// Asserts that `read` holds the spheres of `written`; `kept` is what the format does to a position.
fn assert_spheres(read: &Frame, written: &Frame, kept: fn(f64) -> f64) {
    let spheres: Vec<_> = written.grains().spheres().collect();
    assert_eq!(read.len(), spheres.len());
    assert_eq!(read.populations.len(), 1);
    assert_eq!((read.time.to_bits(), read.step), (written.time.to_bits(), written.step));
    assert_eq!(read.materials, written.materials);
    let (read, written) = (read.grains(), written.grains());
    for (row, s) in spheres.iter().enumerate() {
        assert_eq!(read.position[row], s.centre.map(kept));
        assert_eq!(read.radius[row], kept(s.radius));
        assert_eq!(read.velocity[row], round(s.velocity));
        assert_eq!((read.id[row], read.material[row]), (written.id[s.grain], written.material[s.grain]));
    }
    // A frame that was read can be used, and written again.
    assert_eq!(read.spheres().count(), spheres.len());
}

#[test]
fn vtp_reads_back_what_was_written_raw_and_compressed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("f.vtp");
    // Enough for several compressed blocks, and none at all.
    for (n, packing) in [(7000, Packing::Raw), (7000, Packing::Zlib), (0, Packing::Raw), (0, Packing::Zlib)] {
        let written = frame(n, 0.1 + 0.2);
        vtk::write(&path, &written, packing).unwrap();
        let read = read_vtp(&path).unwrap();
        assert_spheres(&read, &written, |x| x);
        assert_eq!(read.walls, written.walls);
        let (found, wrote) = (read.grains(), written.grains());
        for (row, s) in wrote.spheres().enumerate() {
            assert_eq!(found.spin[row], round(wrote.spin[s.grain]));
            for (extra, original) in found.extras.iter().zip(&wrote.extras) {
                assert_eq!((&extra.name, &extra.unit), (&original.name, &original.unit));
                assert_eq!(extra.values.number(row), original.values.number(s.grain));
            }
        }
        assert_eq!(found.extras.len(), 2);
        let (sum, whole) = (found.mass.iter().sum::<f64>(), wrote.mass.iter().sum::<f64>());
        assert!((sum - whole).abs() <= 1e-12 * whole, "spheres share the mass of their grain: {sum} of {whole}");
        assert_eq!(read_time(&path).unwrap().to_bits(), written.time.to_bits());
        // Reading makes grains of one sphere each; writing and reading those changes nothing more.
        let again = folder.path().join("again.vtp");
        vtk::write(&again, &read, packing).unwrap();
        assert_spheres(&read_vtp(&again).unwrap(), &read, |x| x);
    }
}

#[test]
fn xyz_has_a_row_a_sphere_with_the_numbers_as_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("f.xyz");
    for n in [0, 100] {
        let written = frame(n, 0.1 + 0.2);
        xyz::write(&path, &written).unwrap();
        assert_eq!(read_time(&path).unwrap().to_bits(), written.time.to_bits());
        let text = std::fs::read_to_string(&path).unwrap();
        let mut lines = text.lines();
        let grains = written.grains();
        let spheres: Vec<_> = grains.spheres().collect();
        assert_eq!(lines.next().unwrap().parse::<usize>().unwrap(), spheres.len());
        let properties = lines.next().unwrap().split_once("Properties=").unwrap().1;
        let width: usize = properties.split(':').skip(2).step_by(3).map(|w| w.parse::<usize>().unwrap()).sum();
        let mut mass = 0.0;
        for s in spheres {
            let row: Vec<&str> = lines.next().unwrap().split(' ').collect();
            assert_eq!(row.len(), width, "{row:?}");
            assert!(!row[0].is_empty());
            let number = |k: usize| row[k].parse::<f64>().unwrap();
            assert_eq!(DVec3::new(number(1), number(2), number(3)), s.centre);
            assert_eq!((number(4), DVec3::new(number(5), number(6), number(7))), (s.radius, s.velocity));
            assert_eq!(row[9].parse::<u32>().unwrap(), grains.id[s.grain]);
            mass += number(8);
        }
        assert_eq!(lines.next(), None);
        let whole: f64 = grains.mass.iter().sum();
        assert!((mass - whole).abs() <= 1e-12 * whole, "{mass} of {whole}");
    }
}

#[test]
fn ply_reads_back_what_was_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("f.ply");
    for n in [0, 100] {
        let written = frame(n, 1e-7);
        ply::write(&path, &written).unwrap();
        let read = read_ply(&path).unwrap();
        assert_spheres(&read, &written, |x| f64::from(x as f32));
        assert!(read.grains().mass.iter().all(|m| m.is_nan()), "a mass that is not in the file is not made up");
        assert_eq!(read_time(&path).unwrap(), 1e-7);
    }
}

#[test]
fn a_frame_that_does_not_fit_together_is_refused() {
    let bytes = |f: &Frame| vtk::to_bytes(f, Packing::Raw).and(ply::to_bytes(f));
    let mut ragged = frame(5, 0.0);
    ragged.populations[0].spin = vec![DVec3::ZERO; 4].into();
    assert!(matches!(bytes(&ragged), Err(FrameError::Ragged { column, len: 4, rows: 5, .. }) if column == "spin"));
    let mut ragged = frame(5, 0.0);
    ragged.populations[0].extras[1] = Extra::real("pressure", "Pa", vec![1.0; 6]);
    assert!(matches!(bytes(&ragged), Err(FrameError::Ragged { column, .. }) if column == "pressure"));
    let mut shapeless = frame(5, 0.0);
    shapeless.populations[0].shape = vec![0, 0, 2, 0, 0].into();
    assert!(matches!(bytes(&shapeless), Err(FrameError::NoShape { shape: 2, shapes: 2, .. })));
    let mut twice = frame(5, 0.0);
    twice.populations[0].extras[1].name = "mass".into();
    assert!(matches!(bytes(&twice), Err(FrameError::SameName { name }) if name == "mass"));
    let mut twice = of_many_parts(5, 0.0);
    twice.populations[0].name = "grains".into();
    assert!(matches!(bytes(&twice), Err(FrameError::SameName { name }) if name == "grains"));
    let mut ragged = of_many_parts(5, 0.0);
    ragged.grids[0].size[2] = 5;
    let told = bytes(&ragged).unwrap_err().to_string();
    assert!(told.contains("column `pressure` of `pressure` at 0 s has 24 rows where 60 should be"), "{told}");
    let mut ragged = of_many_parts(5, 0.0);
    ragged.pairs[0].id = vec![[0; 2]; 4].into();
    assert!(
        matches!(bytes(&ragged), Err(FrameError::Ragged { part, column, .. }) if part == "contacts" && column == "id")
    );
    let mut open = of_many_parts(5, 0.0);
    open.surfaces[0].triangles = vec![[0, 1, 99]].into();
    assert!(matches!(bytes(&open), Err(FrameError::NoVertex { corner: 99, .. })));
}

fn read(path: &Path, bytes: &[u8]) -> Result<Frame, ReadError> {
    std::fs::write(path, bytes).unwrap();
    let _ = read_time(path);
    if path.extension().is_some_and(|e| e == "ply") { read_ply(path) } else { read_vtp(path) }
}

#[test]
fn a_file_cut_short_anywhere_is_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let written = frame(3, 0.5);
    let files = [
        ("raw.vtp", vtk::to_bytes(&written, Packing::Raw).unwrap()),
        ("zlib.vtp", vtk::to_bytes(&written, Packing::Zlib).unwrap()),
        ("points.ply", ply::to_bytes(&written).unwrap()),
    ];
    for (name, bytes) in files {
        let path = folder.path().join(name);
        assert!(read(&path, &bytes).is_ok());
        // The last byte of a .vtp is only a line end.
        for end in (0..bytes.len() - 1).rev().step_by(3) {
            let told = read(&path, &bytes[..end]).err().unwrap_or_else(|| panic!("{name} cut to {end} bytes was read"));
            assert!(told.to_string().contains(name), "{told}");
        }
    }
}

#[test]
fn a_wrong_length_names_the_array() {
    let folder = tempfile::tempdir().unwrap();
    let bytes = vtk::to_bytes(&frame(3, 0.5), Packing::Raw).unwrap();
    let text = String::from_utf8_lossy(&bytes).into_owned();
    assert!(text.contains("NumberOfPoints=\"6\""), "one tetrahedron and two spheres");
    let at = bytes.windows(16).position(|w| w == b"NumberOfPoints=\"").unwrap() + 16;
    let mut more = bytes.clone();
    more.splice(at..at + 1, *b"18446744073709551615");
    let told = read(&folder.path().join("f.vtp"), &more).unwrap_err().to_string();
    assert!(told.contains("array Points") && told.contains("f.vtp"), "{told}");
}

#[test]
fn deep_nesting_is_refused_without_harm() {
    let folder = tempfile::tempdir().unwrap();
    let mut bytes = b"<a>".repeat(200_000);
    bytes.extend_from_slice(b"<AppendedData encoding=\"raw\">_</AppendedData></VTKFile>");
    assert!(read(&folder.path().join("deep.vtp"), &bytes).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// Whatever the bytes are, reading returns: a frame whose columns fit, or an error.
    #[test]
    fn altered_files_never_panic(
        which in 0..3_usize,
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..12),
        insert in prop::option::of((any::<prop::sample::Index>(), prop::collection::vec(any::<u8>(), 1..20))),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let written = frame(4, 0.5);
        let (name, mut bytes) = match which {
            0 => ("f.vtp", vtk::to_bytes(&written, Packing::Raw).unwrap()),
            1 => ("f.vtp", vtk::to_bytes(&written, Packing::Zlib).unwrap()),
            _ => ("f.ply", ply::to_bytes(&written).unwrap()),
        };
        for (at, value) in edits {
            let at = at.index(bytes.len());
            bytes[at] = value;
        }
        if let Some((at, more)) = insert {
            let at = at.index(bytes.len());
            bytes.splice(at..at, more);
        }
        if let Ok(frame) = read(&folder.path().join(name), &bytes) {
            prop_assert_eq!(frame.grains().spheres().count(), frame.len());
            prop_assert!(frame.grains().extras.iter().all(|e| e.values.len() == frame.len()));
        }
    }

    #[test]
    fn garbage_never_panics(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let folder = tempfile::tempdir().unwrap();
        prop_assert!(read(&folder.path().join("f.vtp"), &bytes).is_err());
        prop_assert!(read(&folder.path().join("f.ply"), &bytes).is_err());
    }
}

/// Frames must not hold up a run: 64,000 spheres in 60 ms. The best of five, and without the disk, which others use too.
#[test]
fn a_frame_of_64_000_spheres_is_encoded_in_60_ms() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("f");
    let mut frame = frame(64_000, 1.0);
    frame.populations[0].shape = vec![0; 64_000].into();
    let best = |work: &dyn Fn()| {
        let time = |_| {
            let start = Instant::now();
            work();
            start.elapsed()
        };
        (0..5).map(time).min().unwrap()
    };
    let encoded = best(&|| drop(vtk::to_bytes(&frame, Packing::Raw).unwrap()));
    let raw = best(&|| vtk::write(&path, &frame, Packing::Raw).unwrap());
    let zlib = best(&|| vtk::write(&path, &frame, Packing::Zlib).unwrap());
    let points = best(&|| ply::write(&path, &frame).unwrap());
    println!("64,000 spheres: vtp encoded {encoded:?}; on disk vtp {raw:?}, zlib {zlib:?}, ply {points:?}");
    assert!(encoded < Duration::from_millis(60), "{encoded:?}");
}
