//! The background writer: a stopped and resumed run leaves the same files as an uninterrupted one.

use crate::common;

use barchan_io::FrameError;
use barchan_io::atomic::FileError;
use barchan_io::frames::{read_ply, read_vtp};
use barchan_io::vtk::Packing;
use barchan_io::writer::{Format, FrameWriter, clear};
use common::frame;
use std::collections::BTreeMap;
use std::path::Path;

const BOTH: [Format; 2] = [Format::Vtk(Packing::Raw), Format::Ply];

fn time(i: usize) -> f64 {
    i as f64 * 0.1
}

/// All files below a folder with their bytes.
fn contents(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in std::fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(folder).unwrap().to_str().unwrap().to_owned();
                found.insert(name, std::fs::read(path).unwrap());
            }
        }
    }
    found
}

#[test]
fn a_resumed_run_leaves_the_files_of_an_uninterrupted_one() {
    let with_xyz = [Format::Vtk(Packing::Raw), Format::Xyz];
    for formats in [&BOTH[..], &BOTH[..1], &BOTH[1..], &with_xyz] {
        let (whole, stopped) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let mut writer = FrameWriter::new(whole.path(), formats, None).unwrap();
        (0..9).for_each(|i| assert_eq!(writer.write(frame(5, time(i))).unwrap(), i as u64));
        assert_eq!(writer.finish().unwrap(), 9);

        let mut writer = FrameWriter::new(stopped.path(), formats, None).unwrap();
        // Frames beyond the checkpoint at 3 differ, so that what stays behind would be seen.
        for i in 0..8 {
            writer.write(frame(if i > 3 { 50 } else { 5 }, time(i))).unwrap();
        }
        drop(writer);
        std::fs::write(stopped.path().join("frames/.000008.vtp.part"), b"torn by a kill").unwrap();
        let mut writer = FrameWriter::new(stopped.path(), formats, Some(time(3))).unwrap();
        assert_eq!((writer.next_number(), writer.last_time()), (4, Some(time(3))));
        (4..9).for_each(|i| assert_eq!(writer.write(frame(5, time(i))).unwrap(), i as u64));
        assert_eq!(writer.finish().unwrap(), 5);

        let (whole, mut stopped) = (contents(whole.path()), contents(stopped.path()));
        if formats.len() == 1 && formats[0] == Format::Ply {
            stopped.remove("frames/.000008.vtp.part");
            assert!(!whole.contains_key("frames.pvd"));
        }
        assert_eq!(whole.keys().collect::<Vec<_>>(), stopped.keys().collect::<Vec<_>>());
        assert!(whole == stopped, "same names, other bytes");
    }
}

#[test]
fn the_time_series_names_each_frame_at_every_moment() {
    let folder = tempfile::tempdir().unwrap();
    let mut writer = FrameWriter::new(folder.path(), &BOTH, None).unwrap();
    for i in 0..3 {
        writer.write(frame(2, time(i))).unwrap();
        writer.flush().unwrap();
        let series = std::fs::read_to_string(folder.path().join("frames.pvd")).unwrap();
        let document = roxmltree::Document::parse(&series).unwrap();
        let entries: Vec<_> = document.descendants().filter(|n| n.has_tag_name("DataSet")).collect();
        assert_eq!(entries.len(), i + 1);
        for (k, entry) in entries.iter().enumerate() {
            assert_eq!(entry.attribute("timestep").unwrap().parse::<f64>().unwrap().to_bits(), time(k).to_bits());
            let read = read_vtp(folder.path().join(entry.attribute("file").unwrap())).unwrap();
            assert_eq!(read.time.to_bits(), time(k).to_bits());
        }
        assert_eq!(read_ply(folder.path().join(format!("frames/{i:06}.ply"))).unwrap().time, time(i));
    }
}

#[test]
fn a_new_run_does_not_mix_its_frames_with_old_ones() {
    let folder = tempfile::tempdir().unwrap();
    FrameWriter::new(folder.path(), &BOTH, None).unwrap().write(frame(2, 0.0)).unwrap();
    std::fs::write(folder.path().join("frames/notes.txt"), "mine").unwrap();
    let told = FrameWriter::new(folder.path(), &BOTH, None).unwrap_err();
    assert!(matches!(told, FrameError::FramesExist { count: 2, .. }), "{told}");
    clear(folder.path()).unwrap();
    assert_eq!(contents(folder.path()).keys().collect::<Vec<_>>(), ["frames/notes.txt"]);
    assert_eq!(FrameWriter::new(folder.path(), &BOTH, None).unwrap().next_number(), 0);
}

#[test]
fn resuming_without_vtk_leaves_no_name_without_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let mut writer = FrameWriter::new(folder.path(), &BOTH, None).unwrap();
    (0..4).for_each(|i| assert_eq!(writer.write(frame(2, time(i))).unwrap(), i as u64));
    writer.finish().unwrap();
    let writer = FrameWriter::new(folder.path(), &[Format::Ply], Some(time(1))).unwrap();
    assert_eq!(writer.next_number(), 2);
    let series = std::fs::read_to_string(folder.path().join("frames.pvd")).unwrap();
    assert!(series.contains("000001.vtp") && !series.contains("000002.vtp"), "{series}");
}

#[test]
fn resuming_where_no_frame_was_written_starts_at_zero() {
    let folder = tempfile::tempdir().unwrap();
    let writer = FrameWriter::new(folder.path(), &BOTH, Some(1.0)).unwrap();
    assert_eq!((writer.next_number(), writer.last_time()), (0, None));
    assert_eq!(writer.finish().unwrap(), 0);
}

#[test]
fn resuming_over_a_damaged_frame_names_it() {
    let folder = tempfile::tempdir().unwrap();
    FrameWriter::new(folder.path(), &BOTH, None).unwrap().write(frame(2, 0.0)).unwrap();
    std::fs::write(folder.path().join("frames/000001.vtp"), b"garbage").unwrap();
    let told = FrameWriter::new(folder.path(), &BOTH, Some(1.0)).unwrap_err().to_string();
    assert!(told.contains("000001.vtp"), "{told}");
}

#[test]
fn an_error_of_the_disk_surfaces_at_the_next_call() {
    let folder = tempfile::tempdir().unwrap();
    let mut writer = FrameWriter::new(folder.path(), &BOTH, None).unwrap();
    writer.write(frame(2, 0.0)).unwrap();
    writer.flush().unwrap();
    std::fs::remove_dir_all(folder.path().join("frames")).unwrap();
    let told = (1..9).find_map(|i| writer.write(frame(2, time(i))).err()).expect("a frame could not be written");
    assert!(matches!(&told, FrameError::File(FileError::Missing { .. })), "{told}");
    assert!(told.to_string().contains("frames/000001.vtp"), "{told}");
    assert!(matches!(writer.write(frame(2, 9.0)), Err(FrameError::Stopped)));
    assert!(matches!(writer.flush(), Err(FrameError::Stopped)));
    assert!(writer.finish().is_err());

    let mut writer = FrameWriter::new(folder.path(), &BOTH, None).unwrap();
    std::fs::remove_dir_all(folder.path().join("frames")).unwrap();
    writer.write(frame(2, 0.0)).unwrap();
    assert!(matches!(writer.finish(), Err(FrameError::File(FileError::Missing { .. }))));
}
