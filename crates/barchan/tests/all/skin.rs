//! `barchan skin` as a user meets it.

use barchan::io::mesh;
use std::path::Path;
use std::process::{Command, Output};

/// A block of grains of radius 2 mm on a lattice, in the air.
const BLOCK: &str = r#"
duration = 0.002
[domain]
min = [-0.05, -0.05, -0.05]
max = [0.05, 0.05, 0.05]
[materials.beads]
preset = "glass beads"
[[grains]]
material = "beads"
radius = "2 mm"
fill = { box = { min = [-0.02, -0.02, -0.02], max = [0.02, 0.02, 0.02] } }
[output]
every = "1 ms"
"#;

fn ask(folder: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_barchan"));
    command.current_dir(folder).args(args).env("XDG_CACHE_HOME", folder.join("cache")).env("NO_COLOR", "1");
    command.output().unwrap()
}

fn told(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

#[test]
fn the_skins_of_a_run_are_closed_in_every_format() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    std::fs::write(folder.join("block.toml"), BLOCK).unwrap();
    let run = ask(folder, &["run", "block.toml", "-o", "block", "--no-film", "--quiet"]);
    assert!(run.status.success(), "{}", told(&run));
    let skins = ask(folder, &["skin", "block"]);
    assert!(skins.status.success() && told(&skins).contains("3 skins"), "{}", told(&skins));
    let closed = |file: &str| {
        let mesh = mesh::read(folder.join(file)).unwrap();
        let health = mesh.health();
        assert!(health.is_closed() && health.volume > 0.0, "{file}: {health}");
        mesh
    };
    let first = closed("block/skin/skin_000000.ply");
    let last = closed("block/skin/skin_000002.ply");
    assert_eq!(first.triangles.len(), last.triangles.len());

    let one = ask(folder, &["skin", "block", "--frame", "last", "--format", "obj", "-o", "one", "--quiet"]);
    assert!(one.status.success() && one.stdout.is_empty(), "{}", told(&one));
    let obj = closed("one/skin_000002.obj");
    assert_eq!(obj.triangles, last.triangles);

    let vtk = ask(folder, &["skin", "block", "--format", "vtk", "--voxel", "2 mm", "--relax", "2", "-o", "vtk"]);
    assert!(vtk.status.success(), "{}", told(&vtk));
    let series = std::fs::read_to_string(folder.join("vtk/skin.pvd")).unwrap();
    assert!((0..3).all(|k| series.contains(&format!("skin_00000{k}.vtp"))), "{series}");
    let time = barchan::io::frames::read_time(folder.join("vtk/skin_000002.vtp")).unwrap();
    assert!((time - 0.002).abs() < 1e-4);
}

#[test]
fn what_cannot_be_covered_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    for (args, code, word) in [
        (&["skin", "nowhere"][..], 2, "nowhere"),
        (&["skin", "nowhere", "--voxel", "-1"], 2, "length"),
        (&["skin", "nowhere", "--packing", "0"], 2, "above 0"),
        (&["bench", "settled", "--voxel", "1"], 2, "bench skin"),
    ] {
        let said = ask(folder, args);
        assert!(said.status.code() == Some(code) && told(&said).contains(word), "{args:?}: {}", told(&said));
    }
}
