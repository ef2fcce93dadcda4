//! Meshes of a scene: read, kept with the run, and refused with the file and the place.

use barchan_core::mesh::Mesh;
use barchan_engine::{Run, RunOptions, assemble, fetch_meshes, run};
use barchan_io::mesh::write_stl;
use barchan_scene::{Parsed, Scene, SceneErrors};
use glam::DVec3;
use std::path::Path;

/// Grains and a solid knot that fall into a cup of triangles; the cup turns.
const CUP: &str = r#"
duration = "30 ms"
domain = { min = [-0.05, -0.05, -0.09], max = [0.05, 0.05, 0.09] }
integrator = { max_overlap = 0.3 }
[materials.sand]
preset = "glass beads"
[shapes.knot]
mesh = { file = "trefoil", scale = 0.003, radius = "1 mm" }
[[grains]]
material = "sand"
radius = "1.5 mm"
fill = { box = { min = [-0.012, -0.012, 0.012], max = [0.012, 0.012, 0.03] }, count = 60 }
[[grains]]
material = "sand"
shape = "knot"
at = [[0, 0, 0.055]]
spin = [20, 0, 0]
[[bodies]]
mesh = "parts/die.stl"
scale = 0.001
at = [0.006, 0.004, 0.065]
spin = [0, 30, 10]
[[bodies]]
name = "ring"
mesh = "torus"
scale = 0.004
contact = "field"
at = [-0.006, 0, 0.065]
[[walls]]
material = "sand"
mesh = { file = "parts/cup.stl", scale = 0.001, side = "inside" }
rotate = { point = [0, 0, 0], axis = [0, 0, 1], rate = "60 rpm" }
"#;

fn read(text: &str, folder: &Path) -> Result<Parsed, SceneErrors> {
    fetch_meshes(Scene::from_toml(text, "cup").unwrap(), folder)
}

fn with_cup() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("parts")).unwrap();
    // In millimetres.
    write_stl(folder.path().join("parts/cup.stl"), &Mesh::box_of(DVec3::new(40.0, 40.0, 150.0))).unwrap();
    write_stl(folder.path().join("parts/die.stl"), &Mesh::box_of(DVec3::splat(8.0))).unwrap();
    folder
}

#[test]
fn a_run_with_meshes_goes_on_bit_for_bit_after_their_files_are_gone() {
    let folder = with_cup();
    let out = tempfile::tempdir().unwrap();
    let (whole, parts) = (out.path().join("whole"), out.path().join("parts"));
    let world = || assemble(&read(CUP, folder.path()).unwrap()).unwrap();
    let reference = run(world(), &whole, RunOptions::default()).unwrap();
    assert_eq!(reference.grains, 63, "the cup does not leak");
    let mut first = world();
    first.set_duration(0.011);
    run(first, &parts, RunOptions::default()).unwrap();
    drop(folder);
    let resumed = Run::resume(&parts, Some(0.03)).unwrap().go(RunOptions::default()).unwrap();
    assert_eq!((resumed.hash, resumed.step), (reference.hash, reference.step));
}

#[test]
fn a_solid_has_the_mass_and_inertia_of_its_mesh() {
    let text = CUP.replace("\"trefoil\", scale = 0.003", "\"box\", scale = 0.012");
    let folder = with_cup();
    let parsed = read(&text, folder.path()).unwrap();
    let (shape, radius) = parsed.scene.shape("knot").unwrap();
    let radius = radius.unwrap();
    assert!((shape.volume() * radius.powi(3) / 0.012f64.powi(3) - 1.0).abs() < 1e-12);
    let exact = 0.012f64.powi(5) / 6.0;
    assert!((shape.inertia() * radius.powi(5) / exact - 1.0).abs().max_element() < 1e-9);
    // The spheres make the surface: none sticks out, and the corners are reached.
    let out = shape.spheres().iter().map(|s| (s.centre.abs().max_element() + s.radius) * radius).fold(0.0, f64::max);
    assert!((out / 0.006 - 1.0).abs() < 0.02, "{out}");
}

#[test]
fn files_that_cannot_be_used_are_named_with_their_place() {
    let folder = with_cup();
    let refused = |from: &str, to: &str| {
        let problems = read(&CUP.replace(from, to), folder.path()).err().unwrap();
        problems.listing()
    };
    let missing = refused("cup.stl", "cap.stl");
    assert!(missing.contains("cap.stl") && missing.contains("folder of the scene"), "{missing}");
    std::fs::write(folder.path().join("short.stl"), [0; 90]).unwrap();
    let short = refused("parts/cup.stl", "short.stl");
    assert!(short.contains("short.stl"), "{short}");
    let mut open = Mesh::sphere(1.0, 2);
    open.triangles.pop();
    write_stl(folder.path().join("open.stl"), &open).unwrap();
    let hole = refused("\"trefoil\"", "\"open.stl\"");
    assert!(hole.contains("closed") && hole.contains("1 hole"), "{hole}");
}
