//! The command as a user meets it: what it says, what it leaves on disk, how it ends.

use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

const SMALL: &str = r#"
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
every = "1 ms"
[[measure]]
energy = {}
every = "1 ms"
"#;

fn barchan(folder: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_barchan"));
    command.current_dir(folder).args(args).env("XDG_CACHE_HOME", folder.join("cache")).env("NO_COLOR", "1");
    command
}

struct Said {
    code: i32,
    out: String,
    err: String,
}

fn heard(output: Output) -> Said {
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    Said { code: output.status.code().unwrap_or(-1), out: text(output.stdout), err: text(output.stderr) }
}

fn ask(folder: &Path, args: &[&str]) -> Said {
    let said = heard(barchan(folder, args).output().unwrap());
    assert!(!said.err.contains("panicked"), "{args:?}: {}", said.err);
    said
}

fn folder_with(scene: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("s.toml"), scene).unwrap();
    folder
}

/// The hash in the last line of a run.
fn state(out: &str) -> &str {
    out.split("state ").nth(1).map(|s| &s[..16]).unwrap_or_else(|| panic!("no state in {out}"))
}

#[test]
fn help_and_wrong_flags() {
    let folder = tempfile::tempdir().unwrap();
    let help = ask(folder.path(), &["--help"]);
    assert!(
        help.code == 0 && ["run", "scenes", "new", "check", "schema", "bench"].iter().all(|c| help.out.contains(c))
    );
    for wrong in [
        &["run"][..],
        &["run", "hourglass", "--thread", "2"],
        &["run", "hourglass", "--threads", "0"],
        &["run", "hourglass", "--duration", "-1"],
        &["run", "hourglass", "--duration", "3 kg"],
        &["run", "hourglass", "--scale", "many"],
        &["run", "hourglass", "--resume", "x"],
        &["fly"],
        &["bench", "nothing"],
    ] {
        let said = ask(folder.path(), wrong);
        assert_eq!(said.code, 2, "{wrong:?}: {}", said.err);
        assert!(!said.err.is_empty());
    }
    for (wrong, what) in [
        (&["run"][..], "--resume DIR"),
        (&["run", "hourglass", "--duration", "-1"], "--duration -1: give a time above 0"),
        (&["run", "hourglass", "--scale", "abc"], "--scale abc: give a number above 0"),
        (&["check", "hourglass", "--scale", "-2"], "--scale -2: give a number above 0"),
        (&["run", "hourglass", "--threads", "0"], "from 1 to 1024"),
        (&["run", "hourglass", "--resume", "x"], "leave out `hourglass`"),
        (&["run", "--resume", "x", "--no-film", "-o", "y"], "leave out -o"),
        (&["run", "--resume", "x", "--no-film", "--scale", "2"], "leave out --scale"),
        (&["bench", "settled", "--svg", "x.svg"], "bench scaling"),
    ] {
        let said = ask(folder.path(), wrong);
        assert!(said.err.contains(what) && said.err.lines().count() == 1, "{wrong:?}: {}", said.err);
    }
}

/// With an adapter or without: the processor is always there, and the JSON is one line.
#[test]
fn devices_lists_the_processor_and_the_adapters() {
    let folder = tempfile::tempdir().unwrap();
    let said = ask(folder.path(), &["devices"]);
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(said.out.starts_with("cpu ") && said.out.contains("plain"), "{}", said.out);
    let json = ask(folder.path(), &["devices", "--json"]).out;
    assert_eq!(json.trim_end().lines().count(), 1, "{json}");
    assert!(json.starts_with("{\"cpu\":{\"threads\":") && json.trim_end().ends_with("]}"), "{json}");
    let listed = said.out.lines().filter(|l| l.starts_with("gpu:")).count();
    assert_eq!(json.matches("\"device\":\"gpu:").count(), listed, "{json}");
    assert_eq!(json.matches("\"lacks\":null").count(), said.out.matches("can compute").count(), "{json}");
    assert!(listed > 0 || said.out.contains("gpu    n"), "{}", said.out);
}

/// The same scene on an adapter: the same frames and rows, the same energy; it resumes there, to the bits of a run without a stop.
#[test]
fn a_run_on_a_graphics_adapter_resumes_there() {
    let folder = folder_with(SMALL);
    let devices = ask(folder.path(), &["devices"]).out;
    if !devices.contains("can compute") {
        eprintln!("skipped: no graphics adapter");
        return;
    }
    let on = |name: &str, more: &[&str]| {
        let duration = if name == "whole" || name == "again" || name == "cpu" { "60 ms" } else { "25 ms" };
        let said =
            ask(folder.path(), &[&["run", "s.toml", "-o", name, "--no-film", "--duration", duration], more].concat());
        assert_eq!(said.code, 0, "{}", said.err);
        state(&said.out).to_owned()
    };
    let whole = on("whole", &["--device", "gpu"]);
    assert_eq!(whole, on("again", &["--device", "gpu"]), "two runs");
    on("cpu", &[]);
    on("part", &["--device", "gpu"]);
    let said = ask(folder.path(), &["run", "--resume", "part", "--duration", "60 ms", "--no-film"]);
    assert_eq!(said.code, 0, "{}", said.err);
    assert_eq!(state(&said.out), whole, "resumed");
    let table = |run: &str| std::fs::read_to_string(folder.path().join(run).join("energy.csv")).unwrap();
    let last = |run: &str| -> Vec<f64> {
        table(run).lines().last().unwrap().split(',').map(|x| x.trim().parse().unwrap()).collect()
    };
    let (ours, theirs) = (last("whole"), last("cpu"));
    assert_eq!(table("whole").lines().count(), table("cpu").lines().count());
    // Time, translation, rotation, gravity, elastic, total. Grains have met the floor and each other; what rounding made different grows
    // with each collision, and is still small.
    assert!(theirs[2] > 0.0, "they have met: {theirs:?}");
    for (a, b) in ours.iter().zip(&theirs) {
        assert!((a - b).abs() <= 1e-2 * theirs[1], "{ours:?} and {theirs:?}");
    }
    let timed =
        ask(folder.path(), &["bench", "settled", "--grains", "300", "--steps", "20", "--device", "gpu", "--json"]);
    assert!(timed.out.contains("\"device\":\"gpu\",\"grains\":300,"), "{} {}", timed.out, timed.err);
    assert_eq!(ask(folder.path(), &["bench", "scaling", "--device", "gpu"]).code, 2);
    // From card to processor and back.
    on("there", &["--device", "gpu"]);
    for (device, until) in [("cpu", "35 ms"), ("gpu", "45 ms")] {
        let asked = ["run", "--resume", "there", "--device", device, "--duration", until, "--no-film"];
        let said = ask(folder.path(), &asked);
        assert_eq!(said.code, 0, "{device}: {}", said.err);
    }
    let clumps =
        SMALL.replace("[[grains]]\n", "[[grains]]\nshape = \"tetrahedron\"\n").replace("count = 200", "count = 50");
    std::fs::write(folder.path().join("clumps.toml"), clumps).unwrap();
    let said = ask(folder.path(), &["check", "clumps.toml", "--device", "gpu"]);
    assert_eq!(said.code, 3, "{}", said.err);
    assert!(said.err.contains("not single spheres"), "{}", said.err);
    assert_eq!(ask(folder.path(), &["check", "clumps.toml"]).code, 0);
    // What may choose takes the processor and says why; a scene may ask for it itself.
    let said = ask(folder.path(), &["check", "clumps.toml", "--device", "auto"]);
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(said.err.contains("on the processor: some of its grains are not single spheres"), "{}", said.err);
    std::fs::write(folder.path().join("asks.toml"), format!("device = \"gpu:3\"\n{SMALL}")).unwrap();
    let said = ask(folder.path(), &["check", "asks.toml"]);
    assert!(said.code == 0 || said.err.contains("there is no gpu:3"), "{}", said.err);
    assert_eq!(ask(folder.path(), &["check", "asks.toml", "--device", "cpu"]).code, 0);
}

/// Drivers are hidden from the command: what insists on an adapter is refused, what may choose takes the processor and says why.
#[test]
fn without_an_adapter_the_command_says_so() {
    let folder = folder_with(SMALL);
    let hidden = |device: &str| {
        let mut command = barchan(folder.path(), &["check", "s.toml", "--device", device]);
        for variable in ["VK_DRIVER_FILES", "VK_ICD_FILENAMES", "__EGL_VENDOR_LIBRARY_FILENAMES"] {
            command.env(variable, "/nonexistent");
        }
        heard(command.output().unwrap())
    };
    let chooses = hidden("auto");
    if !chooses.err.contains("there is no graphics adapter") {
        assert!(chooses.code == 0, "{}", chooses.err);
        eprintln!("skipped: the driver of this machine cannot be hidden");
        return;
    }
    assert_eq!(chooses.code, 0, "{}", chooses.err);
    let insists = hidden("gpu");
    assert_eq!(insists.code, 3, "{}", insists.err);
    assert!(insists.err.contains("no graphics adapter can compute"), "{}", insists.err);
}

#[test]
fn what_is_no_scene_file_is_named() {
    let folder = folder_with(SMALL);
    let said = ask(folder.path(), &["run", "."]);
    assert!(said.code == 2 && said.err.contains("is a folder"), "{}", said.err);
    assert_eq!(ask(folder.path(), &["run", "s.toml", "--no-film", "-q", "--duration", "1 ms"]).code, 0);
    let said = ask(folder.path(), &["check", "out/s"]);
    assert!(said.code == 2 && said.err.contains("barchan run --resume out/s"), "{}", said.err);
    let said = ask(folder.path(), &["check", "out/s/checkpoint.barchan"]);
    assert!(said.code == 2 && said.err.contains("not a text file"), "{}", said.err);
    let said = ask(folder.path(), &["run", "--resume", "out/s/run.toml"]);
    assert!(said.code == 2 && said.err.contains("is a file") && said.err.contains("give out/s"), "{}", said.err);

    let ended = ask(folder.path(), &["run", "--resume", "out/s", "--no-film"]);
    assert!(ended.code == 0 && ended.out.contains("at its end"), "{}{}", ended.out, ended.err);
    let passed = ask(folder.path(), &["run", "--resume", "out/s", "--no-film", "--duration", "0.5 ms"]);
    assert!(passed.code == 2 && passed.err.contains("longer"), "{}{}", passed.out, passed.err);
}

#[test]
fn too_many_grains_are_refused_with_what_they_would_take() {
    let folder = folder_with(SMALL);
    for command in ["run", "check"] {
        let said = ask(folder.path(), &[command, "s.toml", "--scale", "1e12"]);
        assert!(said.code == 3 && said.err.contains("of memory; this machine has"), "{}", said.err);
    }
}

#[test]
fn an_unknown_scene_brings_the_nearest_names() {
    let folder = tempfile::tempdir().unwrap();
    for command in ["run", "check"] {
        let said = ask(folder.path(), &[command, "hourglas"]);
        assert!(said.code == 2 && said.err.contains("did you mean `hourglass`"), "{}", said.err);
    }
    let said = ask(folder.path(), &["run", "missing.toml"]);
    assert!(said.code == 1 && said.err.contains("missing.toml"), "{}", said.err);
    let said = ask(folder.path(), &["new", "a.toml", "--from", "drumm"]);
    assert!(said.code == 2 && said.err.contains("`drum`"), "{}", said.err);
}

#[test]
fn a_broken_scene_lists_every_problem_with_its_line() {
    let broken = SMALL
        .replace("preset = \"glass beads\"", "preset = \"glas beads\"")
        .replace("duration", "duratoin")
        .replace("\"2 mm\"", "\"2 kg\"");
    let folder = folder_with(&broken);
    for command in ["check", "run"] {
        let said = ask(folder.path(), &[command, "s.toml"]);
        assert_eq!(said.code, 3, "{}", said.err);
        for what in ["duratoin", "glas beads", "2 kg", "s.toml:2", "did you mean"] {
            assert!(said.err.contains(what), "{what} in {}", said.err);
        }
    }
    assert!(!folder.path().join("out").exists(), "nothing is written for a scene that cannot run");
}

#[test]
fn an_unsafe_step_points_at_its_line() {
    let folder = folder_with(&format!("{SMALL}[integrator]\ndt = 1e-2\n"));
    let said = ask(folder.path(), &["check", "s.toml"]);
    assert!(said.code == 3 && said.err.contains("dt = 1e-2") && said.err.contains("use at most"), "{}", said.err);
}

#[test]
fn check_gives_the_numbers_of_a_run() {
    let folder = folder_with(SMALL);
    let said = ask(folder.path(), &["check", "s.toml", "--duration", "10 ms"]);
    assert_eq!(said.code, 0, "{}", said.err);
    for what in [
        "200 at the start",
        "time step",
        "steps",
        "t = 0.01 s",
        "frames",
        "memory",
        "takes",
        "beads – beads (wall)",
        "beta",
        "no problems",
    ] {
        assert!(said.out.contains(what), "{what} in {}", said.out);
    }
}

#[test]
fn new_writes_a_scene_that_checks_and_never_overwrites() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(ask(folder.path(), &["new", "mine.toml", "--from", "pile"]).code, 0);
    let text = std::fs::read_to_string(folder.path().join("mine.toml")).unwrap();
    assert!(text.starts_with('#'), "the comments come along");
    assert_eq!(ask(folder.path(), &["check", "mine.toml"]).code, 0);
    let again = ask(folder.path(), &["new", "mine.toml", "--from", "drum"]);
    assert!(again.code == 2 && again.err.contains("exists"), "{}", again.err);
    assert_eq!(std::fs::read_to_string(folder.path().join("mine.toml")).unwrap(), text);
}

#[test]
fn scenes_and_schema_are_listed_even_into_a_closed_pipe() {
    let folder = tempfile::tempdir().unwrap();
    let said = ask(folder.path(), &["scenes"]);
    assert!(
        said.code == 0
            && barchan::scene::gallery().iter().all(|s| said.out.contains(s.name) && said.out.contains(s.about)),
        "{}",
        said.out
    );
    assert!(ask(folder.path(), &["schema"]).out.trim_start().starts_with('{'));

    for args in [&["schema"][..], &["scenes"]] {
        let mut child = barchan(folder.path(), args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let said = heard(child.wait_with_output().unwrap());
        assert!(said.code == 0 && said.err.is_empty(), "{args:?}: {}", said.err);
    }
}

#[test]
fn a_run_leaves_its_files_and_is_not_overwritten() {
    let folder = folder_with(SMALL);
    let said = ask(folder.path(), &["run", "s.toml", "--no-film"]);
    assert_eq!(said.code, 0, "{}", said.err);
    for what in ["200 grains", "dt ", "steps", "threads", "done", "21 frames"] {
        assert!(said.out.contains(what), "{what} in {}", said.out);
    }
    let out = folder.path().join("out/s");
    for file in [
        "run.toml",
        "scene.toml",
        "frames.pvd",
        "frames/000000.vtp",
        "frames/000020.vtp",
        "energy.csv",
        "checkpoint.barchan",
    ] {
        assert!(out.join(file).is_file(), "{file}");
    }
    let rows = std::fs::read_to_string(out.join("energy.csv")).unwrap().lines().count();
    assert_eq!(rows, 22, "a header and 21 rows");

    let again = ask(folder.path(), &["run", "s.toml", "--no-film"]);
    assert!(again.code == 2 && again.err.contains("--force") && again.err.contains("--resume"), "{}", again.err);
    let forced = ask(folder.path(), &["run", "s.toml", "--no-film", "--force", "--threads", "1"]);
    assert_eq!(state(&forced.out), state(&said.out), "the same bits on one thread");
    let own = folder.path().join("own");
    std::fs::create_dir(&own).unwrap();
    std::fs::write(own.join("scene.toml"), "mine").unwrap();
    std::fs::write(own.join("energy.csv"), "mine").unwrap();
    let guarded = ask(folder.path(), &["run", "s.toml", "--no-film", "-o", "own"]);
    let named = ["scene.toml", "energy.csv", "--force", "-o"].iter().all(|word| guarded.err.contains(word));
    assert!(guarded.code == 2 && named, "{}", guarded.err);
    assert_eq!(std::fs::read_to_string(own.join("scene.toml")).unwrap(), "mine");
    let quiet = ask(folder.path(), &["run", "s.toml", "--no-film", "--force", "--quiet"]);
    assert!(quiet.code == 0 && quiet.out.is_empty() && quiet.err.is_empty(), "{}{}", quiet.out, quiet.err);
    let longer = ask(folder.path(), &["run", "--resume", "out/s", "--no-film", "--duration", "30 ms"]);
    assert!(longer.code == 0 && longer.out.contains("31 frames"), "{}{}", longer.out, longer.err);
}

#[test]
fn a_checkpoint_of_an_older_version_is_refused_with_what_to_do() {
    let folder = folder_with(SMALL);
    let said = ask(folder.path(), &["run", "s.toml", "--no-film"]);
    assert_eq!(said.code, 0, "{}", said.err);
    // Refused by its version alone, whatever is in it.
    let newest = folder.path().join("out/s/checkpoint.barchan");
    let version = barchan::io::container::Container::read(&newest).unwrap().version();
    barchan::io::container::ContainerWriter::new(version - 1).write(&newest).unwrap();
    let old = ask(folder.path(), &["run", "--resume", "out/s", "--no-film"]);
    let remedy = ["checkpoint.barchan", "resume with the program that wrote it", "start the run anew", "barchan run"];
    assert!(old.code != 0 && remedy.iter().all(|word| old.err.contains(word)), "{}{}", old.out, old.err);
    assert!(old.err.contains(&format!("version {}", version - 1)), "{}", old.err);
}

#[test]
fn timings_say_where_the_time_of_a_run_went() {
    let scene = format!("{SMALL}\n[[changes]]\ngravity = [0, 0, -1]\nformula = \"9.81*(1 + t)\"\nevery = \"1 ms\"\n");
    let folder = folder_with(&scene);
    let said = ask(folder.path(), &["run", "s.toml", "--no-film", "--timings"]);
    assert_eq!(said.code, 0, "{}", said.err);
    let table: Vec<Vec<&str>> = said.out.lines().map(|l| l.split_whitespace().collect()).collect();
    let head = table.iter().position(|row| row.starts_with(&["who", "stage", "seconds", "share", "runs"])).unwrap();
    // Who, stage, seconds, share, %, runs, a run; the last line is what nobody says.
    let rest = table[head..].iter().position(|row| row.starts_with(&["run", "other"])).unwrap();
    let rows = &table[head + 1..head + rest];
    for (who, stage) in ["change", "emit", "advance", "gather", "remove", "observe", "publish"].map(|s| ("world", s)) {
        assert!(rows.iter().any(|row| row.starts_with(&[who, stage])), "{who} {stage} in {}", said.out);
    }
    for who in [["grains", "contacts"], ["run", "write"], ["run", "checkpoint"]] {
        assert!(rows.iter().any(|row| row.starts_with(&who)), "{who:?} in {}", said.out);
    }
    let shares = table[head + 1..=head + rest].iter().map(|row| row[3].parse::<f64>().unwrap());
    assert!((shares.sum::<f64>() - 100.0).abs() < 1.0, "shares of the whole: {}", said.out);
    let seconds: f64 = rows.iter().map(|row| row[2].parse::<f64>().unwrap()).sum();
    let other: f64 = table[head + rest][2].parse().unwrap();
    assert!(seconds > 0.0 && other < 0.5 * seconds, "most of it is known: {}", said.out);
    let plain = ask(folder.path(), &["run", "s.toml", "--no-film", "--force"]);
    assert!(!plain.out.contains("stage"), "{}", plain.out);
}

#[test]
fn bad_folders_are_named() {
    let folder = folder_with(SMALL);
    std::fs::write(folder.path().join("file"), "").unwrap();
    let said = ask(folder.path(), &["run", "s.toml", "--no-film", "-o", "file/out"]);
    assert!(said.code == 1 && said.err.contains("file"), "{}", said.err);
    std::fs::create_dir(folder.path().join("empty")).unwrap();
    for none in ["empty", "nowhere"] {
        let said = ask(folder.path(), &["run", "--resume", none]);
        assert!(said.code == 2 && said.err.contains("no run"), "{}", said.err);
    }
}

/// Waits for a file to appear.
fn wait_for(path: &Path, child: &mut Child) {
    let start = Instant::now();
    while !path.exists() {
        assert!(
            child.try_wait().unwrap().is_none() && start.elapsed() < Duration::from_secs(60),
            "no {}",
            path.display()
        );
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[cfg(unix)]
#[test]
fn ctrl_c_leaves_a_checkpoint_and_resume_finishes() {
    let folder = folder_with(&SMALL.replace("duration = 0.02", "duration = 60"));
    let mut run = barchan(folder.path(), &["run", "s.toml", "--no-film", "-o", "x"]);
    let mut child = run.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    wait_for(&folder.path().join("x/frames/000003.vtp"), &mut child);
    let second = ask(folder.path(), &["run", "--resume", "x", "--no-film"]);
    assert!(second.code == 2 && second.err.contains("another run"), "a folder takes one run: {}", second.err);
    Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    let said = heard(child.wait_with_output().unwrap());
    assert_eq!(said.code, 130, "{}", said.err);
    assert!(said.err.contains("barchan run --resume x"), "{}", said.err);

    let note: toml::Table = std::fs::read_to_string(folder.path().join("x/run.toml")).unwrap().parse().unwrap();
    let reached = note["time"].as_float().unwrap();
    let end = format!("{}", reached + 0.005);
    let resumed = ask(folder.path(), &["run", "--resume", "x", "--no-film", "--duration", &end]);
    assert!(resumed.code == 0 && resumed.out.contains("done"), "{}{}", resumed.out, resumed.err);
    let whole = ask(folder.path(), &["run", "s.toml", "--no-film", "-o", "y", "--duration", &end]);
    assert_eq!(state(&whole.out), state(&resumed.out), "bit for bit");
    let table = |x: &str| std::fs::read(folder.path().join(x).join("energy.csv")).unwrap();
    assert!(table("x") == table("y"));
}

/// `timeout` signals the program and its whole group: two signals, one request.
#[cfg(unix)]
#[test]
fn two_signals_at_once_are_one_request() {
    let folder = folder_with(&SMALL.replace("duration = 0.02", "duration = 60"));
    let mut run = barchan(folder.path(), &["run", "s.toml", "--no-film", "-o", "x"]);
    let mut child = run.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    wait_for(&folder.path().join("x/frames/000003.vtp"), &mut child);
    let twice = format!("kill -INT {0}; kill -INT {0}; kill -INT {0} 2>/dev/null", child.id());
    Command::new("sh").args(["-c", &twice]).status().unwrap();
    let said = heard(child.wait_with_output().unwrap());
    assert!(said.code == 130 && said.err.contains("--resume x"), "{}", said.err);
    let note: toml::Table = std::fs::read_to_string(folder.path().join("x/run.toml")).unwrap().parse().unwrap();
    assert_eq!(note["status"].as_str(), Some("stopped"));
}

/// Needs a file system of its own, which Linux gives to whoever may have a user namespace; elsewhere there is nothing to test.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_ends_the_run_with_the_last_good_checkpoint_and_goes_on_once_there_is_room() {
    let folder = folder_with(&SMALL.replace("every = \"1 ms\"\n[[measure]]", "every = \"0.1 ms\"\n[[measure]]"));
    std::fs::create_dir(folder.path().join("disk")).unwrap();
    let script = "mount -t tmpfs -o size=2m tmpfs disk || exit 99
        $BARCHAN run s.toml -o disk/x; echo code=$?
        mount -o remount,size=100m disk && $BARCHAN run --resume disk/x; echo code=$?";
    let mut shell = Command::new("unshare");
    shell.args(["-rm", "sh", "-c", script]).current_dir(folder.path());
    shell.env("BARCHAN", env!("CARGO_BIN_EXE_barchan")).env("XDG_CACHE_HOME", folder.path().join("cache"));
    let Ok(output) = shell.output() else { return };
    let said = heard(output);
    if said.code == 99 || said.err.contains("unshare") {
        return;
    }
    assert!(said.out.contains("code=1") && said.out.contains("code=0"), "{}{}", said.out, said.err);
    assert!(!said.err.contains("panicked") && said.err.contains("checkpoint.barchan"), "{}", said.err);
    let full = ["space", "full"].iter().any(|w| said.err.contains(w));
    assert!(full && said.out.contains("done"), "{}{}", said.out, said.err);
}

#[test]
fn a_run_that_leaves_its_domain_says_which_grain_and_the_last_checkpoint() {
    let open =
        SMALL.replace("open = [\"top\"]", "open = [\"top\", \"bottom\"]").replace("duration = 0.02", "duration = 0.3");
    let folder = folder_with(&open);
    let said = ask(folder.path(), &["run", "s.toml", "--no-film"]);
    assert_eq!(said.code, 1, "{}", said.err);
    for what in ["grain", "left the domain", "domain.outside", "last good checkpoint"] {
        assert!(said.err.contains(what), "{what} in {}", said.err);
    }
}

#[test]
fn bench_prints_one_line_of_json_and_keeps_the_settled_bed() {
    let folder = tempfile::tempdir().unwrap();
    let bench = |threads: &str| {
        ask(folder.path(), &["bench", "settled", "--grains", "500", "--steps", "50", "--json", "--threads", threads])
    };
    let first = bench("2");
    assert!(
        first.code == 0 && first.out.lines().count() == 1 && first.out.contains("\"grains\":500"),
        "{}{}",
        first.out,
        first.err
    );
    assert!(first.err.contains("settling") && bench("1").err.is_empty(), "settled once");
    let hash = |said: &Said| said.out.split("state_hash\":\"").nth(1).unwrap()[..16].to_owned();
    assert_eq!(hash(&bench("1")), hash(&bench("3")), "the same bits on any number of threads");
    let compared = ask(
        folder.path(),
        &["bench", "settled", "--grains", "500", "--steps", "20", "--compare", "echo cundall=1000", "--rounds", "2"],
    );
    assert!(compared.code == 0 && compared.out.contains("ratio of medians"), "{}{}", compared.out, compared.err);
}

#[test]
fn scaling_prints_a_line_a_size_and_draws_the_plot() {
    let folder = tempfile::tempdir().unwrap();
    let args = ["bench", "scaling", "--grains", "1000", "--steps", "20", "--svg", "plot.svg"];
    let said = ask(folder.path(), &args);
    assert!(said.code == 0 && said.out.contains("     1,000"), "{}{}", said.out, said.err);
    let plot = std::fs::read_to_string(folder.path().join("plot.svg")).unwrap();
    assert!(plot.starts_with("<svg") && plot.matches("<circle").count() == 2, "a dot, and its sign in the legend");
    let json = ask(folder.path(), &["bench", "scaling", "--grains", "1000", "--steps", "20", "--json"]);
    assert!(json.out.lines().count() == 1 && json.out.contains("\"grains\":1000"), "{}", json.out);
}

#[test]
fn any_scene_is_timed_as_a_whole() {
    let folder = folder_with(SMALL);
    let bench = |scene: &str, more: &[&str]| ask(folder.path(), &[&["bench", scene, "--steps", "30"], more].concat());
    let told = bench("s.toml", &[]);
    for what in ["30 in", "200 spheres", "world    advance", "grains   contacts", "world    observe", "state "] {
        assert!(told.out.contains(what), "{what} in {}{}", told.out, told.err);
    }
    let json = bench("s.toml", &["--json", "--threads", "1"]);
    assert!(json.code == 0 && json.out.lines().count() == 1, "{}{}", json.out, json.err);
    let hash = told.out.split_whitespace().last().unwrap();
    let agreed = format!("\"state_hash\":\"{hash}\"");
    let pieces =
        ["\"case\":\"s.toml\"", "\"steps\":30,", "\"pieces\":200", &agreed].iter().all(|k| json.out.contains(k));
    assert!(pieces, "the same state on one thread: {} and {}", json.out, told.out);
    for named in ["mill", "beside", "oedometer"] {
        let said = bench(named, &["--json"]);
        assert!(said.code == 0 && said.out.contains(&format!("\"case\":\"{named}\"")), "{named}: {}", said.err);
    }
    let sized = bench("mill", &["--grains", "100"]);
    assert!(sized.code == 2 && sized.err.contains("--steps"), "{}", sized.err);
    let unknown = bench("nowhere", &[]);
    assert!(unknown.code == 2 && unknown.err.contains("mill") && unknown.err.contains("SCENE"), "{}", unknown.err);
}

#[test]
fn every_bench_case_settles_and_is_timed() {
    let folder = tempfile::tempdir().unwrap();
    for case in ["mixed", "flow", "walls"] {
        let said = ask(folder.path(), &["bench", case, "--grains", "200", "--steps", "50", "--json"]);
        assert!(said.code == 0 && said.out.contains("\"grains\":200"), "{case}: {}{}", said.out, said.err);
    }
}

/// A column of sand with a ball of it in the air, in a box of a few cells.
const SPLASH: &str = r#"
duration = 0.12
[domain]
min = [0, 0, -0.02]
max = [0.24, 0.16, 0.3]
[materials.sand]
preset = "dry sand"
[[continuum]]
name = "bed"
method = "phases"
material = "sand"
spacing = "1 cm"
fill = { box = { min = [0, 0, 0], max = [0.24, 0.16, 0.14] } }
[[continuum]]
name = "ball"
phase = "gas"
method = "phases"
material = "sand"
spacing = "1 cm"
fill = { sphere = { centre = [0.12, 0.08, 0.2], radius = 0.03 } }
velocity = [0, 0, -4]
[[walls]]
material = "sand"
box = { min = [0, 0, 0], max = [0.24, 0.16, 0.29] }
[output]
every = "40 ms"
[[measure]]
energy = {}
every = "20 ms"
[[measure]]
phases = {}
every = "20 ms"
"#;

/// The columns of a table by their names without units.
fn columns(path: &Path) -> std::collections::HashMap<String, Vec<f64>> {
    let text = std::fs::read_to_string(path).unwrap();
    let mut lines = text.lines().filter(|l| !l.starts_with('#'));
    let names: Vec<String> =
        lines.next().unwrap().split(',').map(|n| n.split(" [").next().unwrap().trim().into()).collect();
    let rows: Vec<Vec<f64>> = lines.map(|l| l.split(',').map(|v| v.trim().parse().unwrap()).collect()).collect();
    names.into_iter().enumerate().map(|(k, name)| (name, rows.iter().map(|r| r[k]).collect())).collect()
}

#[test]
fn sand_runs_in_the_phases_that_are_asked_for() {
    let folder = folder_with(SPLASH);
    let run = |args: &[&str], out: &str| {
        let said = ask(folder.path(), &[&["run", "s.toml", "--no-film", "-o", out], args].concat());
        assert_eq!(said.code, 0, "{}{}", said.out, said.err);
        columns(&folder.path().join(out).join("phases.csv"))
    };
    let most = |table: &std::collections::HashMap<String, Vec<f64>>, name: &str| {
        table[name].iter().copied().fold(0.0, f64::max)
    };
    let all = run(&[], "all");
    assert!(most(&all, "gas mass") > 0.0, "the ball begins as gas");
    let liquid = run(&["--phases", "liquid"], "liquid");
    assert_eq!([most(&liquid, "gas mass"), most(&liquid, "solid mass")], [0.0, 0.0]);
    assert_eq!(liquid["liquid mass"], liquid["total mass"]);
    let gas = run(&["--phases", "liquid,gas"], "gas");
    assert!(most(&gas, "gas mass") > 0.0 && most(&gas, "solid mass") == 0.0);
    let said = ask(folder.path(), &["run", "s.toml", "--phases", "vapour", "-o", "none"]);
    assert!(said.code == 2 && said.err.contains("vapour"), "{}", said.err);
}

#[test]
fn grains_run_in_phases_and_one_scene_is_compared_by_three_methods() {
    let scene = SMALL.replace("\"glass beads\"", "\"dry sand\"").replace("duration = 0.02", "duration = 0.01");
    let folder = folder_with(&scene.replace("0.03] }, count = 200", "0.07] }, count = 700"));
    let said = ask(folder.path(), &["run", "s.toml", "--as", "phases", "--no-film", "-o", "p"]);
    assert!(said.code == 0 && said.err.contains("as phases:"), "{}{}", said.out, said.err);
    let scene = std::fs::read_to_string(folder.path().join("p/scene.toml")).unwrap();
    assert!(scene.contains("method = \"phases\""), "{scene}");
    let said = ask(folder.path(), &["run", "s.toml", "--phases", "liquid", "--no-film", "-o", "q"]);
    assert!(said.code == 2 && said.err.contains("phases"), "grains have no phases: {}", said.err);
    let said = ask(folder.path(), &["compare", "s.toml", "--as", "grains,sph,phases", "-o", "both"]);
    assert_eq!(said.code, 0, "{}{}", said.out, said.err);
    let table = std::fs::read_to_string(folder.path().join("both/compared.csv")).unwrap();
    assert_eq!(table.lines().next(), Some("quantity,grains,sph,phases"));
    let row = |name: &str| -> Vec<f64> {
        let line =
            table.lines().find(|l| l.starts_with(&format!("\"{name}"))).unwrap_or_else(|| panic!("{name}: {table}"));
        line.rsplitn(4, ',').take(3).map(|v| v.parse().unwrap()).collect()
    };
    assert!(row("pieces").iter().all(|n| *n > 10.0));
    assert!(table.lines().any(|l| l.starts_with("\"energy:")), "{table}");
    for file in ["grains/energy.csv", "sph/energy.csv", "phases/energy.csv", "compared.mp4"] {
        assert!(folder.path().join("both").join(file).is_file(), "{file}");
    }
}

/// A small column of a continuum.
const COLUMN: &str = r#"
duration = 0.05
[domain]
min = [-0.3, -0.3, -0.05]
max = [0.3, 0.3, 0.3]
[materials.sand]
preset = "dry sand"
[[walls]]
name = "floor"
material = "sand"
plane = { point = [0, 0, 0], normal = [0, 0, 1] }
[[continuum]]
name = "sand"
material = "sand"
spacing = "2 cm"
fill = { box = { min = [-0.06, -0.06, 0], max = [0.06, 0.06, 0.12] } }
grains = { per_particle = 8, radius = "2.5 mm" }
[output]
every = "25 ms"
"#;

#[test]
fn a_continuum_runs_as_grains_and_grains_as_a_continuum() {
    let folder = folder_with(COLUMN);
    let said = ask(folder.path(), &["run", "s.toml", "--as", "grains", "--duration", "2 ms", "--no-film", "-o", "a"]);
    assert!(said.code == 0 && said.out.contains("grains") && said.out.contains("state "), "{}{}", said.out, said.err);
    let said = ask(folder.path(), &["run", "hourglass", "--as", "sph", "--duration", "5 ms", "--no-film", "-o", "b"]);
    assert!(
        said.code == 0 && said.out.contains("particles") && said.out.contains("state "),
        "{}{}",
        said.out,
        said.err
    );
}

#[test]
fn compare_runs_a_scene_both_ways_and_prints_one_table() {
    let folder = folder_with(COLUMN);
    let asked = ["compare", "s.toml", "--as", "grains,sph", "--duration", "4 ms", "--no-film", "-q", "-o", "c"];
    let said = ask(folder.path(), &asked);
    assert!(said.code == 0, "{}{}", said.out, said.err);
    let table: Vec<&str> = said.out.lines().filter(|l| l.contains("grains") && l.contains("sph")).collect();
    assert!(!table.is_empty() && said.out.contains("pieces"), "a heading for each method: {}", said.out);
    for method in ["grains", "sph"] {
        assert!(folder.path().join("c").join(method).join("run.toml").exists(), "{method}");
    }
    let alone = ask(folder.path(), &["compare", "s.toml", "--as", "sph"]);
    assert!(alone.code == 2 && alone.err.contains("give two"), "{}", alone.err);
}

#[test]
fn sdf_writes_a_volume_map_and_a_picture_of_a_slice() {
    let folder = tempfile::tempdir().unwrap();
    let asked = ["sdf", "torus", "--volume", "--spacing", "10 cm", "--slice", "slice.png", "-o", "map.vti"];
    let said = ask(folder.path(), &asked);
    assert!(
        said.code == 0 && said.out.contains("slice.png") && said.out.contains("map.vti"),
        "{}{}",
        said.out,
        said.err
    );
    let picture = std::fs::read(folder.path().join("slice.png")).unwrap();
    assert!(picture.starts_with(b"\x89PNG"));
    // Volume, distance and normals side by side: three pictures, the longer side of each 1024 pixels.
    let number = |at: usize| u32::from_be_bytes(picture[at..at + 4].try_into().unwrap());
    assert_eq!(number(16), 3 * 1024);
    let map = std::fs::read(folder.path().join("map.vti")).unwrap();
    let text = String::from_utf8_lossy(&map[..map.len().min(4000)]).into_owned();
    assert!(["distance", "volume", "ratio", "normal"].iter().all(|name| text.contains(name)), "{text}");
    let coarse =
        ask(folder.path(), &["sdf", "torus", "--volume", "--spacing", "10 cm", "--cell", "20 cm", "-o", "m.vti"]);
    assert!(coarse.code == 2 && coarse.err.contains("half of it"), "{}", coarse.err);
}

#[test]
fn bench_sph_times_the_continuum_counts_its_grains_and_is_held_against_a_command() {
    let folder = tempfile::tempdir().unwrap();
    let said = ask(folder.path(), &["bench", "sph", "grains", "--particles", "500", "--steps", "3", "--json"]);
    assert!(said.code == 0 && said.out.lines().count() == 1, "{}{}", said.out, said.err);
    for key in ["case", "particles", "grains", "grain_rate", "threads", "steps", "simulated", "state_hash"] {
        assert!(said.out.contains(&format!("\"{key}\":")), "no {key} in {}", said.out);
    }
    let said = ask(folder.path(), &["bench", "sph", "grains", "--particles", "500", "--steps", "3"]);
    assert!(said.out.contains("grains/s moved"), "{}", said.out);
    let asked = ["bench", "sph", "settled", "--particles", "500", "--steps", "5", "--rounds", "2", "--compare"];
    let said = ask(folder.path(), &[&asked[..], &["echo simulated=0.5"]].concat());
    assert!(
        said.code == 0 && said.out.contains("round 2") && said.out.contains("ratio of medians"),
        "{}{}",
        said.out,
        said.err
    );
    let said = ask(folder.path(), &[&asked[..], &["echo nothing"]].concat());
    assert!(said.code == 1 && said.err.contains("simulated=NUMBER"), "{}", said.err);
}
