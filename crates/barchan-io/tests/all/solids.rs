//! Grains that are solids in frame files: read with the scene's shapes they are what they were, without as spheres.

use crate::common;

use barchan_core::frame::Frame;
use barchan_core::shapes::Shape;
use barchan_io::frames::{ReadError, read_vtp, read_vtp_with};
use barchan_io::vtk::{self, Packing};
use common::{frame, with_solids};
use glam::{DQuat, DVec3};
use proptest::prelude::*;
use std::path::Path;
use std::sync::Arc;

fn read(bytes: &[u8], path: &Path, shapes: &Arc<[Shape]>) -> Result<Frame, ReadError> {
    std::fs::write(path, bytes).unwrap();
    read_vtp_with(path, shapes)
}

#[test]
fn solids_come_back_as_grains_and_others_as_spheres() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("f.vtp");
    for packing in [Packing::Raw, Packing::Zlib] {
        let written = with_solids(40, 0.25);
        let bytes = vtk::to_bytes(&written, packing).unwrap();
        let (frame, written) = (read(&bytes, &path, &written.grains().shapes).unwrap(), written.grains());
        let read = frame.grains();
        assert!(Arc::ptr_eq(&read.shapes, &written.shapes), "so that a skin is made once for all frames");
        // Every row once: solids as they are, clumps sphere by sphere.
        let mut row = 0;
        for g in 0..written.len() {
            if written.skin(g).is_none() {
                for s in written.spheres_of(g) {
                    assert_eq!(
                        (read.position[row], read.radius[row], read.id[row]),
                        (s.centre, s.radius, written.id[g])
                    );
                    assert!(read.shape_of(row).is_sphere() && read.skin(row).is_none());
                    row += 1;
                }
                continue;
            }
            assert_eq!((read.id[row], read.shape[row]), (written.id[g], written.shape[g]));
            assert_eq!((read.position[row], read.radius[row]), (written.position[g], written.radius[g]));
            assert_eq!((read.turn(row), read.material[row]), (written.turn(g), written.material[g]));
            assert!((read.mass[row] / written.mass[g] - 1.0).abs() < 1e-12, "the mass of all its spheres");
            // Velocities and spins are f32 in the file.
            assert!((read.velocity[row] - written.velocity[g]).length() < 1e-6);
            assert!((read.spin[row] - written.spin[g]).length() < 1e-6);
            assert!(read.extras.iter().zip(&written.extras).all(|(a, b)| a.values.number(row) == b.values.number(g)));
            row += 1;
        }
        assert_eq!(row, read.len());
        // The points are those of the spheres, for readers that know no shapes.
        let plain = read_vtp(&path).unwrap();
        assert_eq!(plain.len(), written.spheres().count());
        assert!(plain.grains().orientation.is_empty() && plain.grains().shapes.is_empty());
        // What was read can be written again.
        let again = vtk::to_bytes(&frame, packing).unwrap();
        let twice = self::read(&again, &path, &written.shapes).unwrap();
        let twice = twice.grains();
        assert_eq!(
            (&twice.position, &twice.orientation, &twice.shape),
            (&read.position, &read.orientation, &read.shape)
        );
    }
}

#[test]
fn files_without_solids_have_no_such_arrays_and_read_the_same_either_way() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("f.vtp");
    let written = frame(9, 0.5);
    let bytes = vtk::to_bytes(&written, Packing::Raw).unwrap();
    assert!(!bytes.windows(6).any(|w| w == b"solid_"));
    let with = read(&bytes, &path, &with_solids(1, 0.0).grains().shapes).unwrap();
    let without = read_vtp(&path).unwrap();
    assert_eq!(with.populations, without.populations);
}

#[test]
fn solids_that_are_not_those_of_the_scene_are_refused_with_file_and_place() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("knots.vtp");
    let whole = with_solids(10, 0.5);
    let told = |frame: &Frame, shapes: &Arc<[Shape]>| {
        let told = read(&vtk::to_bytes(frame, Packing::Raw).unwrap(), &path, shapes).unwrap_err().to_string();
        assert!(told.contains("knots.vtp"), "{told}");
        told
    };
    let shapes = &whole.grains().shapes;
    let fewer: Arc<[Shape]> = shapes[..2].into();
    assert!(told(&whole, &fewer).contains("array solid_shape, grain 3999999998: shape 2 is no solid of the scene"));
    let others: Arc<[Shape]> = shapes.iter().map(|_| Shape::sphere()).collect();
    assert!(told(&whole, &others).contains("array solid_shape"));
    let mut odd = whole.clone();
    Arc::make_mut(&mut odd.populations[0].orientation)[1] = DQuat::from_xyzw(0.0, 0.0, 0.0, 0.9);
    assert!(told(&odd, shapes).contains("array solid_orientation, grain 3999999998"));
    let mut odd = whole.clone();
    Arc::make_mut(&mut odd.populations[0].position)[5] = DVec3::NAN;
    assert!(told(&odd, shapes).contains("array solid_position, grain 3999999990"));
    let mut odd = whole.clone();
    Arc::make_mut(&mut odd.populations[0].radius)[5] = -1.0;
    assert!(told(&odd, shapes).contains("array solid_radius, grain 3999999990"));
    let mut twice = whole.clone();
    let id = twice.grains().id[1];
    Arc::make_mut(&mut twice.populations[0].id)[5] = id;
    assert!(told(&twice, shapes).contains("array solid_id: grain 3999999998 is there twice"));
}

#[test]
fn damaged_arrays_are_refused_with_file_and_place() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("knots.vtp");
    let whole = with_solids(10, 0.5);
    let bytes = vtk::to_bytes(&whole, Packing::Raw).unwrap();
    let with = |from: &str, to: &str| {
        let at = bytes.windows(from.len()).position(|w| w == from.as_bytes()).unwrap_or_else(|| panic!("{from}"));
        let mut bytes = bytes.clone();
        bytes.splice(at..at + from.len(), to.bytes());
        let told = read(&bytes, &path, &whole.grains().shapes).unwrap_err().to_string();
        assert!(told.contains("knots.vtp"), "{told}");
        told
    };
    for name in ["id", "shape", "position", "orientation", "radius"] {
        let (array, other) = (format!("Name=\"solid_{name}\""), format!("Name=\"solid_{name}s\""));
        assert!(with(&array, &other).contains(&format!("FieldData: no array solid_{name}")));
    }
    let rows = "Name=\"solid_id\" NumberOfComponents=\"1\" NumberOfTuples=\"3\"";
    let told = with(rows, &rows.replace('3', "4"));
    assert!(told.contains("array solid_id: 12 bytes where 16 should be"), "{told}");
    let told = with(rows, &rows.replace('3', "18446744073709551615"));
    assert!(told.contains("array solid_id"), "{told}");
    let told = with(rows, &rows.replace("\"3\"", "\"some\""));
    assert!(told.contains("NumberOfTuples is missing or not a whole number"), "{told}");
    let told = with("\"UInt16\" Name=\"solid_shape\"", "\"UInt32\" Name=\"solid_shape\"");
    assert!(told.contains("array solid_shape: should be UInt16"), "{told}");
    // A grain that has no point: its identity in the field data is another's.
    let mut other = bytes.clone();
    let id = whole.grains().id[1].to_le_bytes();
    let at = other.windows(4).position(|w| w == id).unwrap();
    other[at..at + 4].copy_from_slice(&7_u32.to_le_bytes());
    let told = read(&other, &path, &whole.grains().shapes).unwrap_err().to_string();
    assert!(told.contains("array solid_id: grain 7 has no sphere among the points"), "{told}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Whatever the bytes are, reading returns: a frame whose columns fit, or an error.
    #[test]
    fn altered_files_never_panic(
        packed in any::<bool>(),
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..12),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let written = with_solids(6, 0.5);
        let mut bytes = vtk::to_bytes(&written, if packed { Packing::Zlib } else { Packing::Raw }).unwrap();
        for (at, value) in edits {
            let at = at.index(bytes.len());
            bytes[at] = value;
        }
        if let Ok(frame) = read(&bytes, &folder.path().join("f.vtp"), &written.grains().shapes) {
            // Writing checks that all columns fit together.
            prop_assert!(vtk::to_bytes(&frame, Packing::Raw).is_ok());
        }
    }
}
