//! Grains and ground in one world.

use crate::common;
use barchan_engine::assemble;
use barchan_engine::checkpoint::Checkpoint;
use common::{parse_of as parse, run, world_of as world};

/// A ground with hills, and a few grains over it.
const HILLS: &str = r#"
duration = 0.1
[domain]
min = [-0.05, -0.05, -0.02]
max = [0.05, 0.05, 0.08]
[materials.sand]
preset = "dry sand"
young = "1 MPa"
[[walls]]
name = "pen"
material = "sand"
box = { min = [-0.05, -0.05, -0.02], max = [0.05, 0.05, 0.08], open = ["top"] }
[ground]
cell = "2 mm"
floor = "-2 cm"
formula = "0.02 + 0.004*sin(150*x)*cos(120*y)"
soil = { outside = "40 deg", stop = "38 deg" }
[[grains]]
material = "sand"
radius = { uniform = ["1 mm", "1.5 mm"] }
fill = { box = { min = [-0.03, -0.03, 0.01], max = [0.03, 0.03, 0.025] }, count = 150 }
"#;

#[test]
fn grains_come_to_rest_on_hills_and_their_weight_on_the_ground() {
    let mut w = world(HILLS);
    run(&mut w, 0.4);
    let frame = w.frame();
    let grains = frame.grains();
    let relief = frame.ground.as_ref().expect("a frame has the ground");
    assert_eq!(relief.size, [50, 50]);
    for i in 0..grains.len() {
        let over = relief.over(grains.position[i].x, grains.position[i].y).unwrap();
        assert!(grains.position[i].z - over.z > 0.9 * grains.radius[i], "no grain is in the ground");
    }
    let (walls, states) = (w.boundary().walls(), w.boundary().states());
    assert_eq!(walls[1].name, "ground");
    let weight = 9.81 * grains.mass.iter().sum::<f64>();
    assert!((states[1].force.z / -weight - 1.0).abs() < 0.05, "{} of {weight} N", states[1].force.z);
}

#[test]
fn a_slope_that_is_too_steep_slides_and_grains_see_it() {
    let steep = HILLS.replace("outside = \"40 deg\", stop = \"38 deg\"", "outside = \"20 deg\", stop = \"18 deg\"");
    let mut w = world(&steep);
    let (before, total) = (w.frame().ground.unwrap(), w.ground().unwrap().columns().total());
    run(&mut w, 0.03);
    let after = w.frame().ground.unwrap();
    assert!(before != after, "the hills have slid");
    assert_eq!(w.ground().unwrap().columns().total(), total, "nothing was lost");
    let bed = w.boundary().walls()[1].bed().unwrap().relief().clone();
    assert_eq!(*bed, *after, "grains touch what readers see");
}

#[test]
fn a_run_with_ground_resumes_bit_for_bit() {
    let steep = HILLS.replace("outside = \"40 deg\", stop = \"38 deg\"", "outside = \"20 deg\", stop = \"18 deg\"");
    let parsed = parse(&steep);
    let mut w = world(&steep);
    run(&mut w, 0.01);
    let folder = tempfile::tempdir().unwrap();
    let mut writer = barchan_engine::checkpoint::CheckpointWriter::default();
    w.save(&mut writer);
    writer.write(folder.path()).unwrap();
    let mut again =
        barchan_engine::assemble::restore(&parsed, &Checkpoint::newest(folder.path()).unwrap()).unwrap().unwrap();
    assert_eq!(w.hash(), again.hash());
    run(&mut w, 0.03);
    run(&mut again, 0.03);
    assert_eq!(w.hash(), again.hash());
}

/// A ramp of 4 × 3 cells that rises eastward from 100 m to 103 m, with a hole.
const RAMP: &str = "ncols 4\nnrows 3\nxllcorner 0\nyllcorner 0\ncellsize 10\nNODATA_value -9999\n\
                    100 101 102 103\n100 101 -9999 103\n100 101 102 103\n";

#[test]
fn a_ground_has_the_heights_of_its_file_and_a_run_keeps_the_file() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("ramp.asc"), RAMP).unwrap();
    let formula = "formula = \"0.02 + 0.004*sin(150*x)*cos(120*y)\"";
    let scene = |terrain: &str| HILLS.replace(formula, terrain);
    let fetch = |text: &str| barchan_engine::load(text, "test", folder.path());

    let refused = fetch(&scene("terrain = \"ramp.asc\"")).unwrap_err().listing();
    assert!(refused.contains("no data in 1 of its 12 columns") && refused.contains("nodata"), "{refused}");
    let missing = fetch(&scene("terrain = \"nowhere.asc\"")).unwrap_err().listing();
    assert!(missing.contains("nowhere.asc"), "{missing}");

    let filled = scene("terrain = { file = \"ramp.asc\", low = \"1 cm\", scale = 0.005, nodata = \"102 m\" }");
    let mut world = assemble(&fetch(&filled).unwrap()).unwrap();
    let relief = world.frame().ground.clone().unwrap();
    // From the middle of the first cell to that of the last the ramp is straight: 15 mm over 75 mm.
    let z = |x: f64| relief.over(x, 0.0).unwrap().z + 0.02;
    assert!((z(0.0) - 0.0175).abs() < 1e-6 && (z(0.025) - z(-0.025) - 0.01).abs() < 1e-6);
    assert!((relief.height.iter().copied().fold(f64::INFINITY, f64::min) - 0.01).abs() < 1e-9);

    // The run needs the file no more: it has a copy.
    world.set_duration(0.002);
    let out = folder.path().join("run");
    barchan_engine::run(world, &out, barchan_engine::RunOptions::default()).unwrap();
    std::fs::remove_file(folder.path().join("ramp.asc")).unwrap();
    barchan_engine::Run::resume(&out, Some(0.004)).unwrap().go(barchan_engine::RunOptions::default()).unwrap();
}
