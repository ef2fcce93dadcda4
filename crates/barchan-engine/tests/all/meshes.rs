//! Meshes of a scene: read, kept with the run, and refused with the file and the place.

use barchan_core::mesh::Mesh;
use barchan_engine::{Run, RunError, RunOptions, assemble, keep, load, run};
use barchan_io::mesh::write_stl;
use barchan_scene::{Parsed, SceneErrors};
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
    load(text, "cup", folder)
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
    assert_eq!(reference.pieces, 63, "the cup does not leak");
    let mut first = world();
    first.set_duration(0.011);
    run(first, &parts, RunOptions::default()).unwrap();
    drop(folder);
    let resumed = Run::resume(&parts, Some(0.03)).unwrap().go(RunOptions::default()).unwrap();
    assert_eq!((resumed.hash, resumed.step), (reference.hash, reference.step));
}

/// One grain beside walls of triangles, of which the files are to be given.
const WALLS: &str = r#"
duration = 1e-3
domain = { min = [-3, -3, -3], max = [3, 3, 3] }
[materials.sand]
preset = "dry sand"
[[grains]]
material = "sand"
radius = 0.05
at = [[2, 2, 2]]
"#;

fn with_walls(files: &[&str]) -> String {
    let wall = |file: &&str| format!("[[walls]]\nmaterial = \"sand\"\nmesh = {{ file = \"{file}\" }}\n");
    WALLS.to_string() + &files.iter().map(wall).collect::<String>()
}

/// A tetrahedron as a glTF whose two buffers are files of their own; the first name is that of the file.
fn write_gltf(folder: &Path, [file, points, indices]: [&str; 3]) {
    let corners = [[0.0_f32, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    let triangles = [[0_u32, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]];
    let json = format!(
        r#"{{ "asset": {{ "version": "2.0" }}, "meshes": [{{ "primitives": [{{ "attributes": {{ "POSITION": 0 }}, "indices": 1 }}] }}],
        "buffers": [{{ "uri": "{points}", "byteLength": 48 }}, {{ "uri": "{indices}", "byteLength": 48 }}],
        "bufferViews": [{{ "buffer": 0, "byteLength": 48 }}, {{ "buffer": 1, "byteLength": 48 }}],
        "accessors": [{{ "bufferView": 0, "componentType": 5126, "count": 4, "type": "VEC3" }},
        {{ "bufferView": 1, "componentType": 5125, "count": 12, "type": "SCALAR" }}] }}"#
    );
    let file = folder.join(file);
    for (name, bytes) in [
        (file.clone(), json.into_bytes()),
        (
            file.with_file_name(points.replace("%20", " ")),
            corners.concat().iter().flat_map(|x| x.to_le_bytes()).collect(),
        ),
        (file.with_file_name(indices), triangles.concat().iter().flat_map(|i| i.to_le_bytes()).collect()),
    ] {
        std::fs::create_dir_all(name.parent().unwrap()).unwrap();
        std::fs::write(name, bytes).unwrap();
    }
}

#[test]
fn buffers_of_a_gltf_are_kept_with_the_run() {
    let (folder, out) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    // Beside the file, in a folder beside it, and above it.
    write_gltf(folder.path(), ["one/s.gltf", "the%20points.bin", "more/indices.bin"]);
    write_gltf(folder.path(), ["two/s.gltf", "../above.bin", "indices.bin"]);
    let text = with_walls(&["one/s.gltf", "two/s.gltf"]);
    let world = || assemble(&read(&text, folder.path()).unwrap()).unwrap();
    let whole = run(world(), out.path().join("whole"), RunOptions::default()).unwrap();
    let (parts, kept) = (out.path().join("parts"), out.path().join("kept"));
    let mut first = world();
    first.set_duration(4e-4);
    run(first, &parts, RunOptions::default()).unwrap();
    let fresh = world();
    keep(&fresh, &read(&text, folder.path()).unwrap().scene, &kept).unwrap();
    drop(folder);
    assert!(!out.path().join("above.bin").exists() && !parts.join("above.bin").exists(), "all within their folder");
    for run in [parts, kept] {
        let scene = std::fs::read_to_string(run.join("scene.toml")).unwrap();
        read(&scene, &run).expect("what pictures are drawn from");
        let resumed = Run::resume(&run, Some(1e-3)).unwrap().go(RunOptions::default()).unwrap();
        assert_eq!((resumed.hash, resumed.step), (whole.hash, whole.step));
    }
}

#[test]
fn copies_of_files_with_like_names_do_not_meet() {
    let (folder, out) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let sides = [("a_b/x.stl", 1.0), ("a/b_x.stl", 2.0), ("x.stl", 3.0)];
    for (name, side) in sides {
        let file = folder.path().join(name);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        write_stl(file, &Mesh::box_of(DVec3::splat(side))).unwrap();
    }
    let text = with_walls(&sides.map(|s| s.0));
    run(assemble(&read(&text, folder.path()).unwrap()).unwrap(), out.path(), RunOptions::default()).unwrap();
    // A file of that name in the run's folder is not the one that was run with.
    write_stl(out.path().join("x.stl"), &Mesh::box_of(DVec3::splat(4.0))).unwrap();
    let again = read(&text, out.path()).unwrap();
    assert_eq!(again.assets.walls.len(), sides.len());
    for (wall, (name, side)) in again.assets.walls.values().zip(sides) {
        let extent = wall.facets.extent();
        assert!((extent / (0.5 * side * 3f64.sqrt()) - 1.0).abs() < 1e-6, "{name}: {extent}");
    }
    // A run in place of the first, from the first's own copies.
    Run::start(assemble(&read(&text, out.path()).unwrap()).unwrap(), out.path(), true).unwrap();
    read(&text, out.path()).unwrap();
    assert_eq!(std::fs::read_dir(out.path().join("meshes")).unwrap().count(), 4, "three copies and their note");
}

#[test]
fn a_copy_that_was_changed_is_refused_and_named() {
    let (folder, out) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    write_gltf(folder.path(), ["s.gltf", "points.bin", "indices.bin"]);
    let text = with_walls(&["s.gltf"]);
    let mut world = assemble(&read(&text, folder.path()).unwrap()).unwrap();
    world.set_duration(4e-4);
    run(world, out.path(), RunOptions::default()).unwrap();
    let told = || {
        let drawn = read(&text, out.path()).err().unwrap().listing();
        let Err(RunError::Scene(problems)) = Run::resume(out.path(), Some(1e-3)) else { panic!("it went on") };
        assert_eq!(problems.listing(), drawn);
        drawn
    };
    let copy = out.path().join("meshes/1/points.bin");
    let good = std::fs::read(&copy).unwrap();
    let mut bad = good.clone();
    bad[13] ^= 1;
    std::fs::write(&copy, bad).unwrap();
    let changed = told();
    assert!(changed.contains("points.bin") && changed.contains("changed") && changed.contains("restore"), "{changed}");
    std::fs::remove_file(&copy).unwrap();
    let gone = told();
    assert!(gone.contains("points.bin") && gone.contains("restore"), "{gone}");
    std::fs::write(&copy, good).unwrap();
    let note = out.path().join("meshes/copies.toml");
    let text = std::fs::read_to_string(&note).unwrap();
    std::fs::write(&note, text.replace("1/points.bin", "../../points.bin")).unwrap();
    let damaged = told();
    assert!(damaged.contains("copies.toml is damaged"), "{damaged}");
    std::fs::write(&note, text).unwrap();
    Run::resume(out.path(), Some(1e-3)).unwrap();
}

#[test]
fn a_solid_has_the_mass_and_inertia_of_its_mesh() {
    let text = CUP.replace("\"trefoil\", scale = 0.003", "\"box\", scale = 0.012");
    let folder = with_cup();
    let parsed = read(&text, folder.path()).unwrap();
    let (shape, radius) = parsed.assets.shape(&parsed.scene, "knot").unwrap();
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

/// Linings of hundreds of thousands of spheres kept `check` busy for minutes.
#[test]
fn linings_without_bound_are_refused_with_a_radius_that_would_do() {
    let folder = with_cup();
    let refused = |from: &str, to: &str| {
        assert!(CUP.contains(from));
        let begun = std::time::Instant::now();
        let listing = read(&CUP.replace(from, to), folder.path()).err().unwrap().listing();
        assert!(begun.elapsed().as_secs_f64() < 60.0, "{:?}", begun.elapsed());
        listing
    };
    // A shape a metre wide, of spheres of a millimetre.
    let wide = refused("scale = 0.003", "scale = 1.0");
    assert!(wide.contains("at most 20000 are allowed") && wide.contains("use a radius of"), "{wide}");
    // A body of 20 µm, whose spheres must be as thin.
    let thin = refused("mesh = \"parts/die.stl\"\nscale = 0.001", "mesh = \"box\"\nscale = [2.2e-5, 0.028, 0.04]");
    assert!(thin.contains("it is too thin") && thin.contains("make it at least"), "{thin}");
}
