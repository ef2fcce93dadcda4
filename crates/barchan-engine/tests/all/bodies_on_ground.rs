//! Bodies, driven wheels and moving walls on a ground, through scenes.

use crate::common;
use barchan_engine::checkpoint::{Checkpoint, CheckpointWriter};
use barchan_engine::{World, load};
use common::{run, world_of as world};
use glam::DVec3;
use std::path::Path;

/// Level sand half a metre deep, its surface at z = 0.
const FIELD: &str = r#"
duration = 1
[domain]
min = [-1, -1, -0.5]
max = [1, 1, 2]
[materials.stone]
density = 2500
young = "10 MPa"
poisson = 0.3
restitution = 0.3
friction = 0.5
[ground]
cell = "1 cm"
height = 0.5
"#;

/// Where body 0 is, and how fast.
fn body(world: &World) -> (DVec3, DVec3) {
    let frame = world.frame().grains().clone();
    let row = frame.id.iter().position(|&id| id == 0).unwrap();
    (frame.position[row], frame.velocity[row])
}

fn ball(at: &str, velocity: &str) -> String {
    format!("{FIELD}\n[[bodies]]\nname = \"ball\"\nmesh = \"sphere\"\nscale = 0.06\nat = {at}\nvelocity = {velocity}\n")
}

#[test]
fn a_ball_that_falls_stops_at_a_depth_that_grows_as_the_cube_root_of_its_height() {
    let falls: Vec<(f64, f64)> = [0.1_f64, 0.4, 1.6]
        .into_iter()
        .map(|drop| {
            let text = ball("[0.003, 0.002, 0.06]", &format!("[0, 0, {}]", -(2.0 * 9.81 * drop).sqrt()));
            let mut w =
                world(&text.replace("cell = \"1 cm\"", "cell = \"1 cm\"\nmin = [-0.5, -0.5]\nmax = [0.5, 0.5]"));
            assert!((w.plan().dt - 1e-3).abs() < 1e-9, "without grains the step is the ground's: {}", w.plan().dt);
            let before = w.ground().unwrap().columns().total();
            let account = w.account().unwrap().total();
            let mut deepest = f64::INFINITY;
            for _ in 0..500 {
                w.step().unwrap();
                deepest = deepest.min(body(&w).0.z);
            }
            let after = w.ground().unwrap().columns().total();
            assert!(w.compressed() > 0 && after + w.compressed() == before, "volume is exact");
            assert_eq!(w.account().unwrap().total(), account, "and so is the account of mass");
            assert!(body(&w).1.length() < 0.03, "it lies: {}", body(&w).1);
            (drop + 0.06 - deepest, 0.06 - deepest)
        })
        .collect();
    let exponent = (falls[2].1 / falls[0].1).ln() / (falls[2].0 / falls[0].0).ln();
    println!("depth grows as H^{exponent:.3}: {falls:?}");
    assert!((exponent - 1.0 / 3.0).abs() < 0.04, "depth grows as H^{exponent}: {falls:?}");
}

#[test]
fn driven_wheels_roll_along_and_leave_two_tracks() {
    let drive = "drive = { axis = [0, 1, 0], torque = \"40 N m\", max_spin = \"5 rad/s\", from = \"0.2 s\" }";
    let text =
        format!("{FIELD}\n[[bodies]]\nmesh = \"wheels\"\nscale = 0.2\ndensity = 700\nat = [-0.6, 0, 0.2]\n{drive}\n");
    let mut w = world(&text);
    run(&mut w, 0.2);
    assert!(body(&w).1.length() < 0.05, "it waits: {}", body(&w).1);
    run(&mut w, 1.2);
    let (at, v) = body(&w);
    assert!(at.x > -0.2 && v.x > 0.4 && v.x < 1.05, "{at} {v}");
    assert!(at.y.abs() < 0.02 && v.y.abs() < 0.05, "it goes straight: {at} {v}");
    let spin = w.frame().grains().spin[0].y;
    assert!(spin > v.x / 0.2 && spin < 5.05, "the rim is faster than the axle: {spin} rad/s");
    let relief = w.frame().ground.unwrap();
    let z = |x: f64, y: f64| relief.over(x, y).unwrap().z;
    assert!(z(-0.5, 0.26) < -2e-3 && z(-0.5, -0.26) < -2e-3 && z(-0.5, 0.0).abs() < 1e-9);
}

#[test]
fn a_boot_on_its_path_prints_and_feels_the_sand() {
    let boot = "[[walls]]\nname = \"boot\"\nmaterial = \"stone\"\nmesh = { file = \"boot\", scale = 0.3, at = [0, 0, 0.01] }\n\
                keyframes = [{ time = 0.0, at = [0, 0, 0] }, { time = 0.2, at = [0, 0, -0.05] }, { time = 0.4, at = [0, 0, 0.1] }]\n";
    let mut w = world(&format!("{FIELD}\n{boot}"));
    run(&mut w, 0.2);
    let force = |w: &World| w.frame().walls.iter().find(|f| f.name == "boot").unwrap().force;
    // 4 cm deep under a sole of some 0.02 m²: 43 · 1600 · 9.81 · 0.04 · 0.02 N.
    assert!((400.0..900.0).contains(&force(&w).z), "{}", force(&w));
    run(&mut w, 0.4);
    assert_eq!(force(&w), DVec3::ZERO, "it has lifted");
    let relief = w.frame().ground.unwrap();
    let [heel, ball, beside] = [(0.04, 0.0), (0.2, 0.0), (0.1, 0.2)].map(|(x, y)| relief.over(x, y).unwrap().z);
    assert!(heel < -0.03 && ball < -0.03 && beside >= 0.0, "{heel} {ball} {beside}");
}

#[test]
fn a_run_with_bodies_on_ground_resumes_bit_for_bit() {
    for extra in
        ["", "[[grains]]\nmaterial = \"stone\"\nradius = \"8 mm\"\nat = [[0.3, 0, 0.05], [0.31, 0.02, 0.09]]\n"]
    {
        let text = format!("{}\n{extra}", ball("[0, 0, 0.07]", "[0.8, 0.1, -0.5]"));
        let mut w = world(&text);
        run(&mut w, 0.0505);
        let folder = tempfile::tempdir().unwrap();
        let mut writer = CheckpointWriter::default();
        w.save(&mut writer);
        writer.write(folder.path()).unwrap();
        let saved = Checkpoint::newest(folder.path()).unwrap();
        let parsed = load(&text, "test", Path::new("")).unwrap();
        let mut again = barchan_engine::assemble::restore(&parsed, &saved).unwrap().unwrap();
        assert_eq!(w.hash(), again.hash());
        run(&mut w, 0.12);
        run(&mut again, 0.12);
        assert_eq!((w.hash(), w.compressed()), (again.hash(), again.compressed()));
    }
}

#[test]
fn a_box_that_grains_touch_by_its_spheres_sinks_and_prints_as_one_with_a_surface() {
    let settled = |contact: &str| {
        let text = format!(
            "{FIELD}\n[[bodies]]\nmesh = \"box\"\nscale = 0.2\ndensity = 2000\nat = [0.003, 0.002, 0.101]\nvelocity = [0, 0, -1]\ncontact = \"{contact}\"\n"
        );
        let mut w = world(&text);
        let (before, account) = (w.ground().unwrap().columns().total(), w.account().unwrap().total());
        run(&mut w, 0.5);
        assert!(body(&w).1.length() < 0.01, "{contact}: it lies, {}", body(&w).1);
        assert_eq!(w.account().unwrap().total(), account, "{contact}: no mass is lost");
        let columns = w.ground().unwrap().columns();
        assert!(columns.total() < before && w.compressed() > 0, "{contact}: it has left a print");
        let under = columns.grid().column_at(0.0, 0.0).unwrap();
        (0.1 - body(&w).0.z, 0.5 - barchan_ground::metres(columns.heights()[under]))
    };
    let (surface, spheres) = (settled("mesh"), settled("spheres"));
    assert!(surface.0 > 0.01, "{surface:?}");
    // The two have other time steps: one of a millisecond, one that resolves contacts of spheres.
    assert!((spheres.0 / surface.0 - 1.0).abs() < 0.03, "{spheres:?} against {surface:?}");
    assert!((spheres.1 / surface.1 - 1.0).abs() < 0.03, "{spheres:?} against {surface:?}");
}
