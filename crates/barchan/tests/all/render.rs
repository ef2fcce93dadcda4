//! `barchan render` as a user meets it.

use std::path::{Path, PathBuf};
use std::process::Command;

const SCENE: &str = r#"
duration = 0.02
[domain]
min = [-0.01, -0.01, -0.01]
max = [0.05, 0.05, 0.11]
[materials.beads]
preset = "glass beads"
[[walls]]
material = "beads"
box = { min = [0, 0, 0], max = [0.04, 0.04, 0.1], open = ["top"] }
[[grains]]
material = "beads"
radius = "2 mm"
fill = { box = { min = [0, 0, 0.002], max = [0.04, 0.04, 0.03] }, count = 200 }
[output]
every = "5 ms"
[picture]
size = [96, 54]
"#;

struct Said {
    code: i32,
    out: String,
    err: String,
}

fn ask(folder: &Path, args: &[&str]) -> Said {
    let mut command = Command::new(env!("CARGO_BIN_EXE_barchan"));
    command.current_dir(folder).args(args).env("XDG_CACHE_HOME", folder.join("cache")).env("NO_COLOR", "1");
    let output = command.output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    let said = Said { code: output.status.code().unwrap_or(-1), out: text(output.stdout), err: text(output.stderr) };
    assert!(!said.err.contains("panicked"), "{args:?}: {}", said.err);
    said
}

/// A folder with a finished run in `run`.
fn ran() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("s.toml"), SCENE).unwrap();
    let said = ask(folder.path(), &["run", "s.toml", "-o", "run", "-q", "--no-film"]);
    assert_eq!(said.code, 0, "{}", said.err);
    folder
}

/// Width and height from the head of a PNG.
fn png_size(path: PathBuf) -> [u32; 2] {
    let bytes = std::fs::read(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    assert_eq!(&bytes[1..4], b"PNG");
    [16, 20].map(|at| u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap()))
}

#[test]
fn stills_films_and_sequences_are_written() {
    let folder = ran();
    let at = |name: &str| folder.path().join(name);
    let said = ask(folder.path(), &["render", "run", "--frame", "last"]);
    assert_eq!(said.code, 0, "{}", said.err);
    assert_eq!(png_size(at("run/run.png")), [96, 54], "the scene's size, beside the run");
    assert!(said.out.contains("run.png") && said.out.contains("t = 0.01999"), "{}", said.out);
    let said = ask(
        folder.path(),
        &["render", "run", "-o", "still.png", "--size", "64x48", "--colour", "speed", "--frame", "0.01"],
    );
    assert_eq!((said.code, png_size(at("still.png"))), (0, [64, 48]), "{}", said.err);
    let traced =
        ["render", "run", "-o", "traced.png", "--renderer", "traced", "--angular", "--lens", "2 mm", "--plain"];
    let said = ask(folder.path(), &traced);
    assert_eq!((said.code, png_size(at("traced.png"))), (0, [96, 54]), "{}", said.err);
    let said = ask(folder.path(), &["render", "run", "--camera", "orbit", "-o", "turn.mp4"]);
    assert_eq!(said.code, 0, "{}", said.err);
    let film = std::fs::read(at("turn.mp4")).unwrap();
    assert_eq!(&film[4..8], b"ftyp");
    assert!(said.out.contains("5 pictures") && said.out.contains("0.125 × real time"), "{}", said.out);
    let said = ask(folder.path(), &["render", "run", "-o", "pictures", "--every", "10 ms", "--camera", "follow:3"]);
    assert_eq!(said.code, 0, "{}", said.err);
    let count = std::fs::read_dir(at("pictures")).unwrap().count();
    assert_eq!((count, png_size(at("pictures/000002.png"))), (3, [96, 54]));
    let said = ask(folder.path(), &["render", "run", "-o", "slow", "--speed", "0.05", "-q"]);
    assert_eq!((said.code, said.out.as_str(), said.err.as_str()), (0, "", ""));
    assert_eq!(std::fs::read_dir(at("slow")).unwrap().count(), 11, "0.02 s at a twentieth, 25 a second");
}

#[test]
fn what_cannot_be_drawn_is_told_with_its_remedy() {
    let folder = ran();
    std::fs::create_dir(folder.path().join("empty")).unwrap();
    std::fs::write(folder.path().join("file"), "").unwrap();
    let cases: &[(&[&str], i32, &[&str])] = &[
        (&["render", "nowhere"], 2, &["no folder nowhere", "barchan run"]),
        (&["render", "s.toml"], 2, &["is a file", "barchan run s.toml"]),
        (&["render", "empty"], 2, &["not the folder of a run", "scene.toml"]),
        (
            &["render", "run", "--camera", "drone"],
            2,
            &["--camera drone", "auto, orbit, follow, front, valley, fixed, fly"],
        ),
        (&["render", "run", "--camera", "fixed:1,2"], 2, &["--camera fixed:1,2", "six numbers"]),
        (&["render", "run", "--camera", "fly"], 2, &["keyframes", "picture.camera.fly"]),
        (&["render", "run", "--camera", "fixed"], 2, &["no fixed camera", "--camera fixed:"]),
        (&["render", "run", "--camera", "follow:99999"], 2, &["no grain 99999"]),
        (&["render", "run", "--colour", "temperature"], 2, &["`temperature`", "speed", "coordination"]),
        (&["render", "run", "--map", "jet"], 2, &["--map jet", "viridis"]),
        (&["render", "run", "--size", "4x4"], 2, &["--size 4x4", "1920x1080"]),
        (&["render", "run", "--samples", "7"], 2, &["--samples 7", "1, 4, 9 or 16"]),
        (&["render", "run", "--angular"], 2, &["--angular", "--renderer traced"]),
        (&["render", "run", "--renderer", "cpu", "--lens", "2 mm"], 2, &["--lens", "--renderer traced"]),
        (&["render", "run", "--renderer", "traced", "--lens", "2 kg"], 2, &["--lens", "2 mm"]),
        (&["render", "run", "--renderer", "traced", "--lens", "-1 mm"], 2, &["--lens", "2 mm"]),
        (&["render", "run", "--frame", "77"], 2, &["no frame 77", "from 0 to 4"]),
        (&["render", "run", "--frame", "9 s"], 2, &["no frame at 9 s", "from 0 s to 0.01"]),
        (&["render", "run", "--frame", "last", "-o", "x.mp4"], 2, &["one picture", ".png"]),
        (&["render", "run", "-o", "x.avi"], 2, &[".avi", ".mp4"]),
        (&["render", "run", "--every", "1 ms", "--speed", "9"], 2, &["--every", "--speed"]),
        (&["render", "run", "--frame", "last", "-o", "no/such/x.png"], 1, &["x.png", "folder"]),
        (&["render", "run", "-o", "file/x.mp4"], 1, &["x.mp4"]),
    ];
    for (args, code, words) in cases {
        let said = ask(folder.path(), args);
        assert_eq!(said.code, *code, "{args:?}: {}{}", said.out, said.err);
        for word in *words {
            assert!(said.err.contains(word), "{args:?} should say `{word}`: {}", said.err);
        }
    }
}

#[test]
fn missing_and_damaged_frames_are_bridged_in_films_and_told() {
    let folder = ran();
    let frame = |n: u32| folder.path().join(format!("run/frames/{n:06}.vtp"));
    std::fs::remove_file(frame(1)).unwrap();
    let said = ask(folder.path(), &["render", "run", "-o", "a.mp4"]);
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(said.err.contains("frame 1 is missing"), "{}", said.err);
    let bytes = std::fs::read(frame(3)).unwrap();
    std::fs::write(frame(3), &bytes[..bytes.len() / 2]).unwrap();
    let said = ask(folder.path(), &["render", "run", "-o", "b.mp4"]);
    assert_eq!(said.code, 0, "a film goes on: {}", said.err);
    let said = ask(folder.path(), &["render", "run", "--frame", "3"]);
    assert_eq!(said.code, 1, "a still does not: {}", said.err);
    assert!(said.err.contains("000003.vtp") && said.err.contains("--frame"), "{}", said.err);
    for n in [0, 2, 3, 4] {
        std::fs::write(frame(n), "nonsense").unwrap();
    }
    let said = ask(folder.path(), &["render", "run"]);
    assert!(said.code == 1 && said.err.contains("no frame") && said.err.contains("barchan run"), "{}", said.err);
    for n in [0, 2, 3, 4] {
        std::fs::remove_file(frame(n)).unwrap();
    }
    let said = ask(folder.path(), &["render", "run"]);
    assert!(said.code == 1 && said.err.contains("no frames") && said.err.contains("formats"), "{}", said.err);
}

/// A stream's entry by ffprobe; none where it is not installed.
fn probed(path: &Path, entries: &str) -> Option<String> {
    let mut command = Command::new("ffprobe");
    command.args(["-v", "error", "-count_frames", "-show_entries", entries, "-of", "csv=p=0"]).arg(path);
    let output = command.output().ok()?;
    assert!(output.status.success() && output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(String::from_utf8_lossy(&output.stdout).trim().to_string())
}

#[test]
fn a_run_leaves_a_film_and_its_last_picture() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("s.toml"), SCENE).unwrap();
    let said = ask(folder.path(), &["run", "s.toml"]);
    assert!(said.code == 0 && said.out.contains("film of"), "{}{}", said.out, said.err);
    let out = folder.path().join("out/s");
    assert_eq!(png_size(out.join("last.png")), [96, 54], "as large as the scene asks");
    let frames = std::fs::read_dir(out.join("frames")).unwrap().count();
    if let Some(stream) = probed(&out.join("s.mp4"), "stream=codec_name,width,height,r_frame_rate,nb_read_frames") {
        assert_eq!(stream, format!("h264,48,26,25/1,{frames}"), "half the scene's size, in even numbers");
    }
}
