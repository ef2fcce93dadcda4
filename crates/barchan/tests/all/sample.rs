//! `barchan sample` and `barchan sdf` as a user meets them.

use barchan::core::mesh::Mesh;
use barchan::core::shapes::Shape;
use barchan::io::mesh::write_stl;
use barchan::io::png;
use barchan::scene::{Scene, ShapeSpec};
use glam::DVec3;
#[cfg(target_os = "linux")]
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Command, Stdio};
#[cfg(target_os = "linux")]
use std::time::{Duration, Instant};

struct Said {
    code: i32,
    out: String,
    err: String,
}

fn ask(folder: &Path, args: &[&str]) -> Said {
    let output = Command::new(env!("CARGO_BIN_EXE_barchan"))
        .current_dir(folder)
        .args(args)
        .env("NO_COLOR", "1")
        .env_remove("DISPLAY")
        .env_remove("WAYLAND_DISPLAY")
        .env_remove("WAYLAND_SOCKET")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    let said = Said { code: output.status.code().unwrap_or(-1), out: text(output.stdout), err: text(output.stderr) };
    assert!(!said.err.contains("panicked"), "{args:?}: {}", said.err);
    said
}

/// A folder with a ball of radius 20 mm in millimetres, and one with a hole.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let mut ball = Mesh::sphere(20.0, 3);
    write_stl(folder.path().join("ball.stl"), &ball).unwrap();
    ball.triangles.pop();
    write_stl(folder.path().join("open.stl"), &ball).unwrap();
    folder
}

/// The number after some words.
fn number(text: &str, after: &str) -> f64 {
    let rest = text.split(after).nth(1).unwrap_or_else(|| panic!("no `{after}` in {text}"));
    let end = rest.find(|c: char| !(c.is_ascii_digit() || "+-.e".contains(c))).unwrap_or(rest.len());
    rest[..end].parse().unwrap_or_else(|_| panic!("no number after `{after}` in {text}"))
}

/// A scene whose only grain has the shape of that name, from the text of a file.
fn scene(shape: &str, name: &str) -> Scene {
    let text = format!(
        "duration = 0.1\n[domain]\nmin = [-1, -1, -1]\nmax = [1, 1, 1]\n[materials.beads]\npreset = \"glass beads\"\n\
         [[grains]]\nmaterial = \"beads\"\nshape = \"{name}\"\nat = [[0, 0, 0.2]]\n{shape}"
    );
    Scene::from_toml(&text, "pasted").unwrap_or_else(|e| panic!("{e:?}")).scene
}

#[test]
fn a_ball_becomes_a_clump_that_a_scene_takes_with_the_mass_of_the_solid() {
    let folder = folder();
    let said = ask(
        folder.path(),
        &["sample", "ball.stl", "--scale", "0.001", "--radius", "8 mm", "--density", "2000", "-o", "b.clump.toml"],
    );
    assert_eq!(said.code, 0, "{}", said.err);
    let solid = Mesh::sphere(0.02, 3).mass_properties().unwrap();
    assert!((number(&said.out, "mass ") / (2000.0 * solid.volume) - 1.0).abs() < 1e-3, "{}", said.out);
    let moment = 2000.0 * solid.inertia.x_axis.x;
    assert!((number(&said.out, "moments of inertia ") / moment - 1.0).abs() < 2e-3, "{}", said.out);
    assert!(number(&said.out, "coverage ") > 99.0, "{}", said.out);
    assert!(number(&said.out, "solid: volume ").abs() < 6.0, "{}", said.out);
    let text = std::fs::read_to_string(folder.path().join("b.clump.toml")).unwrap();
    let scene = scene(&text, "ball");
    let Some(ShapeSpec::Spheres(spheres)) = scene.shapes.get("ball") else { panic!("{:?}", scene.shapes) };
    let (shape, unit) = Shape::clump("ball", &spheres.iter().map(|s| (s.at, s.radius)).collect::<Vec<_>>()).unwrap();
    // The exact moments of the union, as scenes take them, are those that were reported.
    let volume = shape.volume() * unit.powi(3) / solid.volume - 1.0;
    assert!((100.0 * volume - number(&said.out, "solid: volume ")).abs() < 0.1, "{volume} {}", said.out);
    let inertia = shape.inertia() * unit.powi(5) / solid.inertia.x_axis.x - DVec3::ONE;
    let told = number(&said.out, "moments of inertia -").max(0.0);
    assert!((100.0 * inertia.abs().max_element() - told).abs() < 0.2, "{inertia} {}", said.out);
    assert!(spheres.iter().all(|s| s.at.length() + s.radius < 0.0201), "none sticks out");
}

#[test]
fn the_radius_is_chosen_and_said_and_the_spheres_may_lie_on_the_surface() {
    let folder = folder();
    let chosen = ask(folder.path(), &["sample", "torus", "--scale", "0.1"]);
    assert_eq!(chosen.code, 0, "{}", chosen.err);
    // 2.7 m across and 0.35 m thick: a twentieth is less than half of a rod's radius.
    assert!((number(&chosen.out, "spheres of radius ") - 0.014).abs() < 1e-9, "{}", chosen.out);
    assert!(folder.path().join("torus.clump.toml").is_file());
    let on = ask(folder.path(), &["sample", "open.stl", "--placement", "surface", "--radius", "3", "-o", "s.toml"]);
    assert_eq!(on.code, 0, "{}", on.err);
    assert!(on.out.contains("not closed") && !on.out.contains("mass"), "{}", on.out);
    let text = std::fs::read_to_string(folder.path().join("s.toml")).unwrap();
    let centres = text.lines().filter_map(|l| l.split(['[', ']']).nth(1).filter(|_| l.contains("radius")));
    let centres: Vec<f64> = centres
        .filter_map(|l| l.split(", ").map(|x| x.parse::<f64>().ok()).collect::<Option<Vec<_>>>())
        .map(|c| DVec3::from_slice(&c).length())
        .collect();
    assert!(centres.len() > 200 && centres.iter().all(|r| (19.5..20.01).contains(r)), "on a sphere of 20");
}

#[test]
fn pictures_show_field_and_spheres_and_films_play() {
    let folder = folder();
    let args = ["sample", "ball.stl", "--radius", "6", "--picture"];
    let still = ask(folder.path(), &[&args[..], &["steps.png"]].concat());
    assert_eq!(still.code, 0, "{}", still.err);
    let bytes = std::fs::read(folder.path().join("steps.png")).unwrap();
    let (width, height, rgba) = png::decode(&bytes).unwrap();
    assert_eq!((width, height), (1440, 1080));
    // In the middle of each of the four stages: the blue field, then, at the end, spheres of sand.
    let warm = |x: u32, y: u32| {
        let at = 4 * (y * width + x) as usize;
        i32::from(rgba[at]) - i32::from(rgba[at + 2])
    };
    assert!(warm(360, 270) < 0 && warm(1080, 810) > 20, "{} {}", warm(360, 270), warm(1080, 810));
    let film = ask(folder.path(), &[&args[..], &["steps.mp4"]].concat());
    assert_eq!(film.code, 0, "{}", film.err);
    assert!(std::fs::metadata(folder.path().join("steps.mp4")).unwrap().len() > 10_000);
}

#[test]
fn a_field_is_written_for_closed_meshes_and_by_winding_number_for_others() {
    let folder = folder();
    let said = ask(folder.path(), &["sdf", "ball.stl", "--cell", "2", "--band", "5", "-o", "ball.vti"]);
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(said.out.contains("closed, 1,280 triangles, 1 part") && said.out.contains("nodes"), "{}", said.out);
    let open = ask(folder.path(), &["sdf", "open.stl", "--cell", "2"]);
    assert_eq!(open.code, 1);
    assert!(open.err.contains("1 hole: 3 edges round") && open.err.contains("--winding"), "{}", open.err);
    assert!(!folder.path().join("open.vti").exists());
    let wound = ask(folder.path(), &["sdf", "open.stl", "--cell", "2", "--band", "5", "--winding"]);
    assert_eq!(wound.code, 0, "{}", wound.err);
    let Some(python) = std::env::var_os("BARCHAN_PYTHON") else {
        println!("BARCHAN_PYTHON is not set: the fields were not read by VTK");
        return;
    };
    // Distance at points inside, outside, near and far; the mesh lies up to 0.13 within the sphere.
    let check = "
import sys, vtk
for name in sys.argv[1:]:
    reader = vtk.vtkXMLImageDataReader()
    reader.SetFileName(name)
    reader.Update()
    for x, y, z, exact in [(0, 0, 21.5, 1.5), (17, 0, 0, -3), (0, 0, 0, -5), (-12, 12, -12, 0.785)]:
        points = vtk.vtkPoints()
        points.InsertNextPoint(x, y, z)
        asked = vtk.vtkPolyData()
        asked.SetPoints(points)
        probe = vtk.vtkProbeFilter()
        probe.SetInputData(asked)
        probe.SetSourceData(reader.GetOutput())
        probe.Update()
        found = probe.GetOutput().GetPointData().GetArray('distance').GetValue(0)
        assert abs(found - exact) < 0.25, (name, x, y, z, found, exact)
";
    let run = Command::new(python).current_dir(folder.path()).args(["-c", check, "ball.vti", "open.vti"]).output();
    let run = run.unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
}

#[test]
fn what_cannot_be_is_said_in_one_line_with_a_remedy() {
    let folder = folder();
    std::fs::write(folder.path().join("notes.txt"), "no mesh").unwrap();
    let cases: &[(&[&str], i32, &str)] = &[
        (&["sample", "gone.stl"], 1, "built in are box"),
        (&["sample", "notes.txt"], 1, "none of STL, OBJ, PLY, glTF"),
        (&["sample", "open.stl"], 1, "--placement surface"),
        (&["sample", "box", "--radius", "0"], 2, "give a length above 0"),
        (&["sample", "box", "--radius", "NaN"], 2, "give a length above 0"),
        (&["sample", "box", "--radius", "-1 mm"], 2, "give a length above 0"),
        (&["sample", "box", "--radius", "2 kg"], 2, "--radius 2 kg"),
        (&["sample", "box", "--radius", "1e-6"], 2, "use a radius of"),
        (&["sample", "box", "--density", "0"], 2, "give a density above 0"),
        (&["sample", "box", "--scale", "0"], 2, "give a number above 0"),
        (&["sample", "box", "-o", "box.json"], 2, "ends in .toml"),
        (&["sample", "box", "-o", "no/where.toml"], 1, "there is no folder no"),
        (&["sample", "box", "--picture", "steps.gif"], 2, ".mp4"),
        (&["sample", "box", "--picture", "no/steps.png"], 1, "there is no folder no"),
        (&["sdf", "gone.stl"], 1, "built in are box"),
        (&["sdf", "box", "--cell", "0"], 2, "give a length above 0"),
        (&["sdf", "box", "--band", "inf"], 2, "give a length above 0"),
        (&["sdf", "box", "--cell", "1e-7"], 2, "use cells of"),
        (&["sdf", "box", "--cell", "5e-4"], 2, "use cells of"),
        (&["sdf", "box", "-o", "box.vtk"], 2, "ends in .vti"),
        (&["sdf", "box", "-o", "no/box.vti"], 1, "there is no folder no"),
    ];
    for (args, code, what) in cases {
        let said = ask(folder.path(), args);
        assert_eq!(said.code, *code, "{args:?}: {}", said.err);
        assert!(said.err.contains(what) && said.err.lines().count() == 1, "{args:?}: {}", said.err);
    }
    let left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(left.len(), 3, "nothing is left behind: {left:?}");
}

#[cfg(all(unix, not(target_os = "macos")))]
#[test]
fn without_a_display_the_window_says_what_to_do() {
    let folder = folder();
    let said = ask(folder.path(), &["sample", "box", "--view"]);
    assert_eq!(said.code, 1);
    assert!(said.err.contains("no display was found") && said.err.contains("--picture"), "{}", said.err);
    assert!(!folder.path().join("box.clump.toml").exists());
}

/// Ends its process with the test.
#[cfg(target_os = "linux")]
struct Server(std::process::Child);

#[cfg(target_os = "linux")]
impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A virtual display and its name; none where Xvfb or xdotool is not installed.
#[cfg(target_os = "linux")]
fn display() -> Option<(Server, String, impl BufRead)> {
    Command::new("xdotool").arg("version").output().ok()?;
    let args = ["-displayfd", "1", "-noreset", "-nolisten", "tcp", "-screen", "0", "1360x860x24"];
    let mut server = Server(Command::new("Xvfb").args(args).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().ok()?);
    let mut number = String::new();
    let mut stdout = BufReader::new(server.0.stdout.take()?);
    stdout.read_line(&mut number).ok()?;
    let name = format!(":{}", number.trim());
    // The server ends if it cannot write there.
    Some((server, name, stdout))
}

#[cfg(target_os = "linux")]
#[test]
fn the_window_shows_the_sampling_stays_when_it_is_done_and_closes_at_escape() {
    let Some((_server, name, _stdout)) = display() else {
        println!("no Xvfb or no xdotool: the window was not opened");
        return;
    };
    let folder = folder();
    let child = Command::new(env!("CARGO_BIN_EXE_barchan"))
        .current_dir(folder.path())
        .args(["sample", "box", "--radius", "0.2", "--view"])
        .env("DISPLAY", &name)
        .env_remove("WAYLAND_DISPLAY")
        .env_remove("WAYLAND_SOCKET")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut program = Server(child);
    let written = folder.path().join("box.clump.toml");
    let begun = Instant::now();
    while !written.exists() && begun.elapsed() < Duration::from_secs(120) {
        if program.0.try_wait().unwrap().is_some() {
            break;
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    if let Some(status) = program.0.try_wait().unwrap() {
        let mut said = String::new();
        program.0.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        // A machine may have a display and nothing that draws on it.
        assert!(status.code() == Some(1) && said.contains("no graphics adapter"), "{said}");
        return;
    }
    assert!(written.exists(), "the sampling ends while the window shows it");
    let search = ["search", "--onlyvisible", "--name", "sampling", "windowfocus", "key", "Escape"];
    let ended = (0..20).any(|_| {
        std::thread::sleep(Duration::from_millis(500));
        let _ = Command::new("xdotool").args(search).env("DISPLAY", &name).output();
        std::thread::sleep(Duration::from_millis(500));
        program.0.try_wait().unwrap().is_some()
    });
    assert!(ended, "Escape closes it");
    assert_eq!(program.0.try_wait().unwrap().unwrap().code(), Some(0));
}
