//! A stopped run goes on bit for bit: state, measurements, frames.

use crate::common;

use barchan_engine::{Run, RunError, RunOptions, RunReport, Status, run};
use common::{BOX, BUSY, ONE, world};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::AtomicBool;

/// Every result file of a run by its name: frames and tables, not the checkpoints and notes.
fn results(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    for sub in ["", "frames", "cells"] {
        for entry in std::fs::read_dir(folder.join(sub)).unwrap().map(|e| e.unwrap().path()) {
            let name = entry.strip_prefix(folder).unwrap().to_string_lossy().into_owned();
            if [".csv", ".vtp", ".vti", ".ply", ".pvd"].iter().any(|e| name.ends_with(e)) {
                found.insert(name, std::fs::read(&entry).unwrap());
            }
        }
    }
    found
}

fn resume(folder: &Path, duration: Option<f64>) -> RunReport {
    Run::resume(folder, duration).unwrap().go(RunOptions::default()).unwrap()
}

fn same(a: &Path, b: &Path) {
    let (a, b) = (results(a), results(b));
    assert_eq!(a.keys().collect::<Vec<_>>(), b.keys().collect::<Vec<_>>());
    assert!(a.keys().filter(|n| n.ends_with(".vti")).count() >= 15 && a.contains_key("cells.pvd"));
    assert!(a.keys().filter(|n| n.ends_with(".csv")).count() >= 8 && a.keys().any(|n| n.ends_with(".ply")));
    for (name, bytes) in &a {
        assert!(*bytes == b[name], "{name} differs");
    }
}

#[test]
fn resumed_equals_uninterrupted_bit_for_bit() {
    let scene = [BOX, BUSY];
    let folder = tempfile::tempdir().unwrap();
    let (whole, parts) = (folder.path().join("whole"), folder.path().join("parts"));
    let dt = world(&scene).plan().dt;
    let reference = run(world(&scene), &whole, RunOptions::default()).unwrap();
    assert_eq!(reference.status, Status::Finished);
    assert!(reference.pieces > 400 && reference.tallies.iter().any(|t| t.1.grains > 0), "grains came and went");

    // Two stops, at odd steps and between events.
    let mut first = world(&scene);
    first.set_duration(117.0 * dt);
    assert_eq!(run(first, &parts, RunOptions::default()).unwrap().step, 117);
    assert_eq!(resume(&parts, Some(1031.0 * dt)).step, 1031);
    let report = resume(&parts, Some(0.05));
    assert_eq!((report.hash, report.step), (reference.hash, reference.step));
    assert_eq!(report.tallies, reference.tallies);
    same(&whole, &parts);
}

#[test]
fn a_crash_loses_nothing_but_the_time_since_the_last_checkpoint() {
    let scene = [BOX, BUSY];
    let folder = tempfile::tempdir().unwrap();
    let (whole, crashed) = (folder.path().join("whole"), folder.path().join("crashed"));
    let reference = run(world(&scene), &whole, RunOptions::default()).unwrap();
    let mut short = world(&scene);
    short.set_duration(0.02);
    run(short, &crashed, RunOptions::default()).unwrap();
    // As if the machine had died on writing the last checkpoint, a table line half written.
    std::fs::write(crashed.join("checkpoint.barchan"), b"barchan").unwrap();
    let mut table = std::fs::read(crashed.join("flow.csv")).unwrap();
    table.truncate(table.len() - 3);
    std::fs::write(crashed.join("flow.csv"), table).unwrap();

    let run = Run::resume(&crashed, Some(0.05)).unwrap();
    assert!(run.passed_over().is_some(), "the damaged checkpoint is mentioned");
    assert!(run.world().time() < 0.02 && run.world().time() > 0.01, "the checkpoint before it, at 14 ms, is used");
    assert_eq!(run.go(RunOptions::default()).unwrap().hash, reference.hash);
    same(&whole, &crashed);
}

fn bytes_in(folder: &Path) -> f64 {
    let entries = std::fs::read_dir(folder).unwrap().map(|e| e.unwrap());
    let size =
        |e: std::fs::DirEntry| if e.path().is_dir() { bytes_in(&e.path()) } else { e.metadata().unwrap().len() as f64 };
    entries.map(size).sum()
}

/// A field of a million columns was announced with 17 kB.
#[test]
fn a_run_takes_the_disk_that_was_announced() {
    let ground = "[ground]\ncell = \"0.5 mm\"\nfloor = 0\nformula = \"0.002 + 0.001*sin(300*x)*cos(200*y)\"\nsoil = \"sand\"\nmaterial = \"beads\"\n";
    let plough = "[[walls]]\nname = \"plough\"\nmaterial = \"beads\"\nvelocity = [0.5, 0, 0]\n\
                  mesh = { file = \"box\", scale = 0.006, at = [0.005, 0.02, 0.004] }\n";
    let bare = BOX.split("[[walls]]").next().unwrap();
    for scene in [vec![BOX, BUSY], vec![bare, plough, ground, "[output]\nevery = \"1 ms\"\n"]] {
        let folder = tempfile::tempdir().unwrap();
        let world = world(&scene);
        let announced = world.summary().disk;
        run(world, folder.path(), RunOptions::default()).unwrap();
        let written = bytes_in(folder.path());
        println!("{announced} announced, {written} written");
        assert!(written < 1.2 * announced && announced < 2.0 * written, "{announced} announced, {written} written");
    }
}

/// The table began anew, and nobody was told that its first half was missing.
#[test]
fn a_table_that_is_gone_on_resuming_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let mut short = world(&[BOX, BUSY]);
    short.set_duration(0.01);
    run(short, folder.path(), RunOptions::default()).unwrap();
    let lost = || Run::resume(folder.path(), Some(0.011)).unwrap().lost().to_vec();
    assert!(lost().is_empty(), "{:?}", lost());
    std::fs::remove_file(folder.path().join("flow.csv")).unwrap();
    std::fs::remove_file(folder.path().join("cells/000001.vti")).unwrap();
    assert_eq!(lost(), [folder.path().join("flow.csv"), folder.path().join("cells.csv")]);
}

#[test]
fn a_run_asked_to_stop_leaves_a_checkpoint_and_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let stop = AtomicBool::new(true);
    let options = RunOptions { stop: Some(&stop), ..RunOptions::default() };
    let report = run(world(&[BOX, BUSY]), folder.path(), options).unwrap();
    assert_eq!((report.status, report.step), (Status::Stopped, 0));
    assert!(report.checkpoint.is_file());
    let note = std::fs::read_to_string(folder.path().join("run.toml")).unwrap();
    assert!(note.contains("status = \"stopped\""), "{note}");
    assert_eq!(resume(folder.path(), Some(1e-4)).status, Status::Finished);
}

#[test]
fn folders_are_guarded() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("run");
    assert!(matches!(Run::resume(&out, None), Err(RunError::NotARun { .. })));
    let mut brief = world(&[BOX, BUSY]);
    brief.set_duration(1e-4);
    let running = Run::start(brief, &out, false).unwrap();
    assert!(matches!(Run::start(world(&[BOX, ONE]), &out, true), Err(RunError::Locked { .. })), "two runs at once");
    running.go(RunOptions::default()).unwrap();
    assert!(matches!(Run::start(world(&[BOX, ONE]), &out, false), Err(RunError::Exists { .. })));
    assert!(matches!(Run::resume(&out, Some(-1.0)), Err(RunError::Duration(_))));

    std::fs::write(out.join("notes.txt"), "mine").unwrap();
    let mut other = world(&[BOX, ONE]);
    other.set_duration(1e-4);
    Run::start(other, &out, true).unwrap().go(RunOptions::default()).unwrap();
    assert!(!out.join("flow.csv").exists(), "the replaced run's tables are gone");
    assert!(out.join("notes.txt").exists(), "what is not a run's stays");

    std::fs::write(folder.path().join("file"), "").unwrap();
    let blocked = Run::start(world(&[BOX, ONE]), &folder.path().join("file/out"), false);
    assert!(matches!(blocked, Err(RunError::File(_))), "a folder that cannot be made");
}

#[test]
fn files_of_others_are_not_written_over() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path();
    let energy = "[[measure]]\nname = \"mine\"\nenergy = {}\nevery = 1e-4\n";
    let world = || {
        let mut world = world(&[BOX, ONE, energy]);
        world.set_duration(1e-4);
        world
    };
    let mine = ["scene.toml", "mine.csv", "checkpoint.barchan", "frames.pvd", "frames/000003.vtp"];
    std::fs::create_dir(out.join("frames")).unwrap();
    for name in mine.into_iter().chain(["notes.txt", "other.csv", "frames/notes.txt"]) {
        std::fs::write(out.join(name), "mine").unwrap();
    }
    let told = Run::start(world(), out, false).err().unwrap();
    assert!(matches!(told, RunError::InTheWay { .. }), "{told}");
    let told = told.to_string();
    assert!(mine.iter().all(|name| told.contains(name)) && !told.contains("other.csv"), "{told}");
    assert!(told.contains("--force") && told.contains("-o"), "{told}");
    for name in mine {
        assert_eq!(std::fs::read_to_string(out.join(name)).unwrap(), "mine", "{name} is not written over");
    }
    assert!(!out.join("run.lock").exists(), "and nothing is left");
    Run::start(world(), out, true).unwrap().go(RunOptions::default()).unwrap();
    for name in ["notes.txt", "other.csv", "frames/notes.txt"] {
        assert_eq!(std::fs::read_to_string(out.join(name)).unwrap(), "mine", "{name} is not in the way");
    }
    assert!(!out.join("frames/000003.vtp").exists());
    // Each by itself is enough.
    for name in ["scene.toml", "mine.csv"] {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(name), "mine").unwrap();
        assert!(matches!(Run::start(world(), folder.path(), false), Err(RunError::InTheWay { .. })), "{name}");
    }
}

#[test]
fn a_run_at_its_end_says_so_and_a_longer_duration_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let mut brief = world(&[BOX, ONE]);
    brief.set_duration(1e-3);
    run(brief, folder.path(), RunOptions::default()).unwrap();
    let table = std::fs::read(folder.path().join("run.toml")).unwrap();
    for passed in [None, Some(1e-3), Some(5e-4)] {
        let told = Run::resume(folder.path(), passed).err().unwrap();
        assert!(matches!(told, RunError::AtEnd { .. }) && told.to_string().contains("--duration"), "{told}");
    }
    assert_eq!(std::fs::read(folder.path().join("run.toml")).unwrap(), table, "and leaves the folder as it is");
    assert_eq!(resume(folder.path(), Some(2e-3)).status, Status::Finished);
}

#[test]
fn a_changed_scene_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let mut brief = world(&[BOX, ONE]);
    brief.set_duration(1e-3);
    run(brief, folder.path(), RunOptions::default()).unwrap();
    let file = folder.path().join("scene.toml");
    let scene = std::fs::read_to_string(&file).unwrap();
    for edited in [
        scene.replace("friction = 0.5", "friction = 0.4"),
        scene.replace("duration = 0.05", "duration = 9"),
        "?".into(),
    ] {
        std::fs::write(&file, edited).unwrap();
        let told = Run::resume(folder.path(), Some(2e-3)).err().unwrap();
        assert!(matches!(told, RunError::SceneChanged { .. }) && told.to_string().contains("restore"), "{told}");
    }
    std::fs::write(&file, scene).unwrap();
    assert_eq!(resume(folder.path(), Some(2e-3)).status, Status::Finished);
}

#[test]
fn a_file_is_no_folder_of_a_run() {
    let folder = tempfile::tempdir().unwrap();
    let mut brief = world(&[BOX, ONE]);
    brief.set_duration(1e-4);
    run(brief, folder.path(), RunOptions::default()).unwrap();
    let told = Run::resume(&folder.path().join("checkpoint.barchan"), None).err().unwrap();
    assert!(matches!(&told, RunError::NotAFolder { folder: Some(f), .. } if f == folder.path()), "{told}");
}

#[test]
fn a_guard_names_the_checkpoint_and_how_far_back_it_is() {
    let open =
        BOX.replace("open = [\"top\"]", "open = [\"top\", \"bottom\"]").replace("duration = 0.05", "duration = 0.5");
    let folder = tempfile::tempdir().unwrap();
    let told = run(world(&[&open, ONE, "[output]\ncheckpoint = 0.02\n"]), folder.path(), RunOptions::default());
    let Err(RunError::World { time, checkpoint: Some((_, kept)), source }) = told else { panic!("{told:?}") };
    assert!(kept < time && time - kept <= 0.0201, "{source}: {kept} of {time}");
    let text = RunError::World { time, checkpoint: Some(("x".into(), kept)), source }.to_string();
    assert!(text.contains("last good checkpoint is x, of t = ") && text.contains("before this"), "{text}");
}
