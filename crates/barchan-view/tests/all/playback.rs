//! Finished runs, played back without a window; frames that are missing or damaged are told and passed over.

use barchan_engine::{RunOptions, assemble, load, run};
use barchan_view::playback::{Playback, is_run};
use std::path::Path;
use std::time::{Duration, Instant};

const SCENE: &str = r#"
duration = 0.02
[domain]
min = [0, 0, 0]
max = ["4 cm", "4 cm", "10 cm"]
[materials.beads]
preset = "glass beads"
[[grains]]
material = "beads"
radius = "1.5 mm"
at = [["2 cm", "2 cm", "5 cm"]]
[output]
every = "2 ms"
"#;

fn until(playback: &Playback, what: &str, is: impl Fn(&Playback) -> bool) {
    let begun = Instant::now();
    while !is(playback) {
        assert!(begun.elapsed() < Duration::from_secs(60), "never: {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

fn written(folder: &Path) {
    let world = assemble(&load(SCENE, "test", Path::new("")).unwrap()).unwrap();
    run(world, folder, RunOptions::default()).unwrap();
}

fn files(folder: &Path) -> Vec<std::path::PathBuf> {
    let mut files: Vec<_> = std::fs::read_dir(folder.join("frames")).unwrap().map(|e| e.unwrap().path()).collect();
    files.sort();
    files
}

#[test]
fn time_goes_on_at_its_speed_and_stands_at_the_end() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("run");
    written(&out);
    assert!(is_run(&out) && !is_run(folder.path()));
    let mut p = Playback::open(&out, || ());
    until(&p, "frames", |p| p.frame().is_some());
    let [from, to] = p.span().unwrap();
    assert!(from == 0.0 && (to - 0.02).abs() < 1e-4);
    p.speed = 0.01;
    p.advance(1.0);
    assert!((p.time() - 0.01).abs() < 1e-12);
    // The frame shown is the last one before the time: z = z₀ − g t²/2.
    until(&p, "the frame of 10 ms", |p| p.frame().is_some_and(|f| (f.time - 0.01).abs() < 1.1e-3));
    let f = p.frame().unwrap();
    assert!((f.grains().position[0].z - (0.05 - 0.5 * 9.81 * f.time.powi(2))).abs() < 1e-5);
    p.advance(5.0);
    assert!(p.time() == to && !p.playing);
    p.step(-1);
    assert!(p.time() < to && p.place().0 == p.place().1 - 2);
    p.seek(-1.0);
    assert_eq!(p.time(), from);
}

#[test]
fn missing_and_damaged_frames_are_told_and_passed_over() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("run");
    written(&out);
    let all = files(&out);
    std::fs::remove_file(&all[2]).unwrap();
    let bytes = std::fs::read(&all[5]).unwrap();
    std::fs::write(&all[5], &bytes[..bytes.len() - 40]).unwrap();
    let mut p = Playback::open(&out, || ());
    until(&p, "both told", |p| p.notes().len() >= 2);
    assert!(p.notes().iter().any(|n| n.contains("missing")), "{:?}", p.notes());
    assert!(p.notes().iter().any(|n| n.contains("damaged")), "{:?}", p.notes());
    p.seek(f64::INFINITY);
    until(&p, "the last frame", |p| p.frame().is_some_and(|f| f.time > 0.019));
    assert!(p.failed().is_none());
}

#[test]
fn a_folder_without_frames_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("run");
    written(&out);
    files(&out).iter().for_each(|f| std::fs::remove_file(f).unwrap());
    let p = Playback::open(&out, || ());
    until(&p, "failed", |p| p.failed().is_some());
    assert!(p.failed().unwrap().contains("no frames"));
    std::fs::remove_file(out.join("scene.toml")).unwrap();
    let p = Playback::open(&out, || ());
    until(&p, "failed", |p| p.failed().is_some());
    assert!(p.failed().unwrap().contains("scene.toml"));
}
