//! The window as a person uses it: the program under a virtual display, keys and mouse through xdotool.
//!
//! What is seen is read from the window's title, which says how the scene stands, and from the display's own memory. Where
//! Xvfb or xdotool is not installed the test fails, unless BARCHAN_NO_DISPLAY is set; `./test` installs both.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

const SCENE: &str = r#"
duration = 20
[domain]
min = [0, 0, 0]
max = ["6 cm", "6 cm", "10 cm"]
[materials.beads]
preset = "glass beads"
[[walls]]
material = "beads"
box = { min = [0, 0, 0], max = [0.06, 0.06, 0.1], open = ["top"] }
[[grains]]
material = "beads"
radius = "3 mm"
fill = { box = { min = [0.004, 0.004, 0.004], max = [0.056, 0.056, 0.09] }, count = 700 }
"#;
const SIZE: [usize; 2] = [1360, 860];

fn barchan() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_barchan"));
    command.env_remove("WAYLAND_DISPLAY").env_remove("WAYLAND_SOCKET").stdin(Stdio::null());
    command
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A virtual display that ends with the test.
struct Display {
    server: Child,
    name: String,
    folder: tempfile::TempDir,
    /// The server ends if it cannot write there.
    _stdout: BufReader<std::process::ChildStdout>,
}

impl Display {
    fn start() -> Option<Display> {
        Command::new("xdotool").arg("version").output().ok()?;
        let folder = tempfile::tempdir().unwrap();
        let screen = format!("{}x{}x24", SIZE[0], SIZE[1]);
        let mut server = Command::new("Xvfb")
            .args(["-displayfd", "1", "-noreset", "-nolisten", "tcp", "-screen", "0", &screen, "-fbdir"])
            .arg(folder.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .ok()?;
        let mut number = String::new();
        let mut stdout = BufReader::new(server.stdout.take()?);
        stdout.read_line(&mut number).unwrap();
        assert!(!number.trim().is_empty(), "Xvfb is installed but does not start");
        Some(Display { server, name: format!(":{}", number.trim()), folder, _stdout: stdout })
    }

    fn xdotool(&self, words: &[&str]) -> String {
        let output = Command::new("xdotool").args(words).env("DISPLAY", &self.name).output().unwrap();
        String::from_utf8_lossy(&output.stdout).trim().into()
    }

    /// A part of the screen: rows of pixels.
    fn pixels(&self, [left, top, wide, high]: [usize; 4]) -> Vec<[u8; 3]> {
        let mut bytes = Vec::new();
        // The file is the screen's own memory, in the format of xwd.
        std::fs::File::open(self.folder.path().join("Xvfb_screen0")).unwrap().read_to_end(&mut bytes).unwrap();
        let word = |n: usize| u32::from_be_bytes(bytes[4 * n..4 * n + 4].try_into().unwrap()) as usize;
        let (start, row) = (word(0) + 12 * word(19), word(12));
        let pixel = |x: usize, y: usize| {
            let at = start + y * row + 4 * x;
            [bytes[at], bytes[at + 1], bytes[at + 2]]
        };
        (top..top + high).flat_map(|y| (left..left + wide).map(move |x| (x, y))).map(|(x, y)| pixel(x, y)).collect()
    }
}

impl Drop for Display {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

/// The program in a window.
struct Window<'d> {
    display: &'d Display,
    program: Child,
    id: String,
}

impl<'d> Window<'d> {
    fn open(display: &'d Display, folder: &Path, what: &[&str]) -> Window<'d> {
        let program = barchan()
            .arg("view")
            .args(what)
            .current_dir(folder)
            .env("DISPLAY", &display.name)
            .env("XDG_CACHE_HOME", folder.join("cache"))
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut window = Window { display, program, id: String::new() };
        window.until("a window", |w| {
            w.id = w.display.xdotool(&["search", "--onlyvisible", "--name", "barchan"]);
            !w.id.is_empty()
        });
        window.id = window.id.lines().next().unwrap_or_default().into();
        display.xdotool(&["windowfocus", "--sync", &window.id]);
        window
    }

    fn title(&self) -> String {
        self.display.xdotool(&["getwindowname", &self.id])
    }

    fn until(&mut self, what: &str, mut is: impl FnMut(&mut Window<'d>) -> bool) {
        let begun = Instant::now();
        while !is(self) {
            if let Some(status) = self.program.try_wait().unwrap() {
                let mut text = String::new();
                self.program.stderr.take().unwrap().read_to_string(&mut text).unwrap();
                panic!("the window closed ({status}) before {what}: {text}");
            }
            assert!(begun.elapsed() < Duration::from_secs(120), "never: {what}; its title is {}", self.title());
            std::thread::sleep(Duration::from_millis(40));
        }
    }

    fn titled(&mut self, part: &str) {
        self.until(part, |w| w.title().contains(part));
    }

    fn key(&self, key: &str) {
        self.display.xdotool(&["key", key]);
    }

    /// Presses a key until the title has `part`. On a busy machine the window may miss a press; a person would press again.
    fn key_until(&mut self, key: &str, part: &str) {
        let mut pressed: Option<Instant> = None;
        self.until(part, |w| {
            let done = w.title().contains(part);
            if !done && pressed.is_none_or(|at| at.elapsed() > Duration::from_secs(15)) {
                w.key(key);
                pressed = Some(Instant::now());
            }
            done
        });
    }

    fn mouse(&self, words: &[&str]) {
        self.display.xdotool(words);
    }

    /// The middle of the picture.
    fn middle(&self) -> Vec<[u8; 3]> {
        self.display.pixels([420, 200, 500, 420])
    }

    /// The button that plays and pauses.
    fn play_button(&self) -> Vec<[u8; 3]> {
        self.display.pixels([183, 9, 40, 24])
    }

    /// Waits until the picture stands still, the good one drawn after the quick one, and gives it.
    fn still(&mut self) -> Vec<[u8; 3]> {
        let mut last = self.middle();
        let mut since = Instant::now();
        self.until("a still picture", |w| {
            let now = w.middle();
            if now != last {
                (last, since) = (now, Instant::now());
            }
            since.elapsed() > Duration::from_millis(1800)
        });
        last
    }

    fn close(mut self) {
        self.key("ctrl+q");
        let begun = Instant::now();
        loop {
            match self.program.try_wait().unwrap() {
                Some(status) => return assert!(status.success(), "{status}"),
                None => assert!(begun.elapsed() < Duration::from_secs(60), "the window does not close"),
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Window<'_> {
    fn drop(&mut self) {
        let _ = self.program.kill();
        let _ = self.program.wait();
    }
}

/// Share of pixels that differ visibly.
fn difference(a: &[[u8; 3]], b: &[[u8; 3]]) -> f64 {
    let differ = |(a, b): &(&[u8; 3], &[u8; 3])| a.iter().zip(*b).any(|(a, b)| a.abs_diff(*b) > 12);
    a.iter().zip(b).filter(differ).count() as f64 / a.len() as f64
}

#[test]
fn the_window_lives_under_a_virtual_display() {
    if std::env::var_os("BARCHAN_NO_DISPLAY").is_some() {
        // Past the harness, which keeps to itself what a test says that passes.
        let _ = writeln!(std::io::stderr(), "SKIPPED, as BARCHAN_NO_DISPLAY asks for: the window is not tried");
        return;
    }
    let otherwise = "or set BARCHAN_NO_DISPLAY=1 to leave the window untried";
    let display = Display::start().unwrap_or_else(|| panic!("install Xvfb and xdotool, {otherwise}"));
    if let Err(e) = barchan::draw::GpuRenderer::new() {
        panic!("{e}; {otherwise}");
    }
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("beads.toml"), SCENE).unwrap();
    plays_and_is_touched(&display, folder.path());
    fails_and_recovers(&display, folder.path());
    plays_back(&display, folder.path());
}

fn plays_and_is_touched(display: &Display, folder: &Path) {
    let mut w = Window::open(display, folder, &["beads.toml"]);
    w.titled("beads · playing");
    w.key_until("space", "beads · paused");
    w.key("f");
    let first = w.still();
    let mut colours = first.clone();
    colours.sort_unstable();
    colours.dedup();
    assert!(colours.len() > 300, "grains, light and shadow have many colours: {}", colours.len());

    // A drag turns the view, F brings it back, C colours by size and then by speed.
    // A hand takes its time: a press, a move and a release within one picture are a click.
    let drag = "mousemove 640 400 sleep 0.3 mousedown 1 sleep 0.3 mousemove 700 420 sleep 0.3 mousemove 800 430 sleep 0.3 mouseup 1";
    w.mouse(&drag.split(' ').collect::<Vec<_>>());
    // A busy machine may take seconds for a picture: one that stands still may be the one before.
    w.until("a view that has turned", |w| difference(&first, &w.middle()) > 0.01);
    w.still();
    w.key("f");
    w.until("the view before", |w| difference(&first, &w.middle()) < 0.003);
    w.key("c");
    w.until("other colours", |w| difference(&first, &w.middle()) > 0.01);
    let coloured = w.still();

    // A ball falls where the mouse clicks; R takes it away again.
    w.mouse(&["key", "4", "mousemove", "640", "430", "sleep", "0.3", "mousedown", "1", "sleep", "0.3", "mouseup", "1"]);
    w.until("a ball", |w| difference(&coloured, &w.middle()) > 0.002);
    let ball = w.still();
    w.key("1");
    w.key("r");
    w.until("a scene without the ball", |w| difference(&ball, &w.middle()) > 0.002);
    w.titled("beads · paused");
    w.mouse(&["mousemove", "5", "5"]);
    w.still();

    // The button plays, too. It lights up under the mouse before it is pressed: on a busy machine the window may take its time, and miss a
    // press that began and ended between two of its pictures. A person would press again.
    let dark = w.play_button();
    w.mouse(&["mousemove", "203", "21"]);
    w.until("a button that lights up", |w| w.play_button() != dark);
    let mut pressed: Option<Instant> = None;
    w.until("beads · playing", |w| {
        let plays = w.title().contains("beads · playing");
        if !plays && pressed.is_none_or(|at| at.elapsed() > Duration::from_secs(15)) {
            w.mouse(&["mousedown", "1", "sleep", "0.3", "mouseup", "1"]);
            pressed = Some(Instant::now());
        }
        plays
    });
    w.key("p");
    std::thread::sleep(Duration::from_millis(1200));
    w.key("p");
    let film = folder.join("out/beads-seen-1.mp4");
    w.until("a film", |_| film.is_file());
    let bytes = std::fs::read(&film).unwrap();
    assert!(bytes.len() > 2000 && &bytes[4..8] == b"ftyp");

    // Small, large, away and back: it still answers.
    for size in [["700", "430"], ["1300", "840"]] {
        w.mouse(&["windowsize", &w.id, size[0], size[1]]);
        std::thread::sleep(Duration::from_millis(300));
        w.key_until("space", "beads · paused");
        w.key_until("space", "beads · playing");
    }
    w.mouse(&["windowunmap", "--sync", &w.id]);
    std::thread::sleep(Duration::from_millis(300));
    w.mouse(&["windowmap", "--sync", &w.id, "windowfocus", "--sync", &w.id]);
    w.key_until("space", "beads · paused");
    w.key("h");
    w.key("Escape");
    w.key("g");
    w.until("the gallery", |w| w.title() == "barchan");
    w.close();
}

fn fails_and_recovers(display: &Display, folder: &Path) {
    let file = folder.join("broken.toml");
    std::fs::write(&file, SCENE.replace("preset", "preseet")).unwrap();
    let mut w = Window::open(display, folder, &["broken.toml"]);
    w.titled("broken · failed");
    w.key("space");
    w.key("s");
    std::fs::write(&file, SCENE).unwrap();
    w.key_until("r", "broken · playing");
    w.close();
}

fn plays_back(display: &Display, folder: &Path) {
    let text = SCENE.replace("duration = 20", "duration = 0.02") + "[output]\nevery = \"2 ms\"\n";
    std::fs::write(folder.join("short.toml"), text).unwrap();
    let run = barchan().args(["run", "-q", "short.toml", "-o", "done"]).current_dir(folder).output().unwrap();
    assert!(run.status.success(), "{}", said(&run));
    let mut w = Window::open(display, folder, &["done"]);
    w.titled("done · p");
    w.key_until("Left", "done · paused");
    w.close();
}

#[test]
fn without_a_display_it_says_what_is_missing_and_what_works() {
    for display in [None, Some(":987")] {
        let mut command = barchan();
        command.args(["view", "hourglass"]).env_remove("DISPLAY");
        display.map(|d| command.env("DISPLAY", d));
        let output = command.output().unwrap();
        let said = said(&output);
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(said.contains("display") && said.contains("barchan render"), "{said}");
        assert!(!said.contains("panicked"), "{said}");
    }
}

#[test]
fn what_is_neither_scene_nor_run_is_refused_before_a_window_opens() {
    let output = barchan().args(["view", "hourglas"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(said(&output).contains("hourglass"), "{}", said(&output));
}
