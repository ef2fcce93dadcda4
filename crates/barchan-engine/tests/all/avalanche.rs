//! Snow on rock: how it is laid, what is said of releases that cannot be, and what maps say of it.

use barchan_core::georeference::System;
use barchan_engine::{Run, RunOptions, World, assemble, load};
use barchan_io::raster::Raster;
use barchan_io::terrain;
use glam::DVec3;
use std::path::Path;

const FALL: f64 = 0.6;

/// An elevation model of a plane that falls by 0.6 along x, 60 × 20 cells of 5 m, in map coordinates.
fn dem(folder: &Path) -> std::path::PathBuf {
    let mut text =
        String::from("ncols 60\nnrows 20\nxllcenter 600002.5\nyllcenter 5200002.5\ncellsize 5\nNODATA_value -9999\n");
    for _ in 0..20 {
        (0..60).for_each(|x| text += &format!("{} ", 1000.0 - FALL * 5.0 * f64::from(x)));
        text += "\n";
    }
    let path = folder.join("dem.asc");
    std::fs::write(&path, text).unwrap();
    std::fs::write(folder.join("dem.prj"), "PROJCS[\"somewhere\"]").unwrap();
    path
}

fn outline(folder: &Path, corners: &[[f64; 2]], thickness: &str) {
    let ring: Vec<String> = corners.iter().chain(corners.first()).map(|[x, y]| format!("[{x},{y}]")).collect();
    let text = format!(
        "{{\"type\":\"Feature\",\"properties\":{{{thickness}}},\"geometry\":{{\"type\":\"Polygon\",\"coordinates\":[[{}]]}}}}",
        ring.join(",")
    );
    std::fs::write(folder.join("release.geojson"), text).unwrap();
    let line = "{\"type\":\"LineString\",\"coordinates\":[[600010,5200050],[600290,5200050]]}";
    std::fs::write(folder.join("line.geojson"), line).unwrap();
}

fn scene(release: &str) -> String {
    format!(
        r#"
        duration = 2
        [domain]
        min = [0, 0, -10]
        max = [300, 100, 300]
        outside = "remove"
        [materials.snow]
        density = 333
        young = "2 MPa"
        restitution = 0.1
        friction = 0.4
        [integrator]
        max_overlap = 0.3
        [ground]
        min = [0, 0]
        floor = 0
        rock = {{ terrain = "dem.asc" }}
        drag = {{ law = "voellmy", mu = 0.2, xi = 2000 }}
        [[grains]]
        material = "snow"
        release = {release}
        [[measure]]
        name = "flow"
        every = 0.5
        maps = {{ line = "line.geojson", thickness_min = 0 }}
        [output]
        every = 1
        "#
    )
}

fn world(folder: &Path, release: &str) -> Result<World, String> {
    let parsed = load(&scene(release), "path.toml", folder)
        .map_err(|e| e.problems.iter().map(|p| format!("{p:?}")).collect::<String>())?;
    assemble(&parsed).map_err(|e| e.problems.iter().map(|p| format!("{p:?}")).collect::<String>())
}

const CORNERS: [[f64; 2]; 4] =
    [[600_020.0, 5_200_020.0], [600_080.0, 5_200_020.0], [600_080.0, 5_200_080.0], [600_020.0, 5_200_080.0]];

#[test]
fn snow_lies_within_its_outline_as_thick_and_as_heavy_as_asked() {
    let folder = tempfile::tempdir().unwrap();
    dem(folder.path());
    outline(folder.path(), &CORNERS, "\"thickness\": 2.5");
    let world = world(folder.path(), "{ file = \"release.geojson\", grains = 6000, density = 210 }").unwrap();
    let p = world.frame().grains().clone();
    assert_eq!(p.len(), 6000);
    let stretch = (1.0 + FALL * FALL).sqrt();
    let mass: f64 = p.mass.iter().sum();
    let exact = 210.0 * 2.5 * 60.0 * 60.0 * stretch;
    assert!((mass / exact - 1.0).abs() < 1e-9, "{mass} kg of {exact} kg");
    let (radius, normal) = (p.radius[0], DVec3::new(FALL, 0.0, 1.0).normalize());
    let volume = 4.0 / 3.0 * std::f64::consts::PI * radius.powi(3) * 6000.0;
    assert!((volume / (0.6 * exact / 210.0) - 1.0).abs() < 1e-6);
    // The plane goes through (2.5, ·, 177): the lowest point of the model is the floor.
    let above = |x: DVec3| (x - DVec3::new(2.5, 0.0, FALL * 295.0)).dot(normal);
    for (k, x) in p.position.iter().enumerate() {
        assert!(above(*x) > 0.99 * radius && above(*x) + radius < 2.5 + 1.1 * radius, "grain {k} at {}", above(*x));
        let foot = *x - normal * above(*x);
        let margin = 1.5 * radius;
        assert!(foot.x > 20.0 - margin && foot.x < 80.0 + margin && foot.y > 20.0 - margin && foot.y < 80.0 + margin);
    }
    // None deep in another.
    let mut places: Vec<DVec3> = p.position.to_vec();
    places.sort_by(|a, b| a.x.total_cmp(&b.x));
    for (k, a) in places.iter().enumerate() {
        let near = places[k + 1..].iter().take_while(|b| b.x - a.x < 2.0 * radius);
        assert!(near.into_iter().all(|b| a.distance(*b) > 1.9 * radius));
    }
}

#[test]
fn releases_that_cannot_be_say_what_would_do() {
    let folder = tempfile::tempdir().unwrap();
    dem(folder.path());
    let file = "{ file = \"release.geojson\", thickness = 2, grains = 3000 }";
    let shifted = |by: f64| CORNERS.map(|[x, y]| [x + by, y]);
    let said = |release: &str, words: &[&str]| {
        let message = world(folder.path(), release).err().unwrap_or_else(|| panic!("{release} is taken"));
        for word in words {
            assert!(message.contains(word), "{release}: {word}: {message}");
        }
    };
    outline(folder.path(), &shifted(500.0), "");
    said(file, &["outside the rock", "larger part of the elevation model"]);
    outline(folder.path(), &[[11.0, 47.0], [11.1, 47.0], [11.1, 47.1]], "");
    said(file, &["another map"]);
    outline(folder.path(), &CORNERS, "");
    said("{ file = \"release.geojson\", grains = 3000 }", &["how thick"]);
    said("{ file = \"release.geojson\", thickness = 2, grains = 500 }", &["thinner than its grains", "grains or more"]);
    said("{ polygon = [[0, 0], [9, 9], [9, 0], [0, 9]], thickness = 2, grains = 3000 }", &["crosses itself"]);
    said("{ polygon = [[0, 0], [9, 9], [9, 0]], grains = 3000 }", &["no `thickness`"]);
    said("{ file = \"line.geojson\", thickness = 2, grains = 3000 }", &["no polygon"]);
    said("{ file = \"nowhere.shp\", thickness = 2, grains = 3000 }", &["nowhere.shp"]);
    said("{ thickness = 2, grains = 3000 }", &["one outline"]);
}

fn raster(folder: &Path, what: &str) -> Raster {
    Raster::of(terrain::read(folder.join("flow").join(format!("path_run_null_barchan_{what}.asc"))).unwrap()).unwrap()
}

#[test]
fn maps_have_the_header_of_the_model_and_the_mass_of_the_snow_and_survive_a_stop() {
    let folder = tempfile::tempdir().unwrap();
    let model = Raster::of(terrain::read(dem(folder.path())).unwrap()).unwrap();
    outline(folder.path(), &CORNERS, "\"d0\": 2.5");
    let release = "{ file = \"release.geojson\", grains = 3000, density = 210 }";
    let made = world(folder.path(), release).unwrap();
    let mass: f64 = made.frame().grains().mass.iter().sum();
    let whole = folder.path().join("whole");
    Run::start(made, &whole, false).unwrap().go(RunOptions::default()).unwrap();
    for what in ["pft", "pfv", "ppr", "pta", "arrival", "deposit", "release"] {
        let map = raster(&whole, what);
        assert_eq!((map.size, &map.place), (model.size, &model.place), "{what}");
    }
    assert!(matches!(&model.place.system, Some(System::Text(t)) if t.contains("somewhere")) && model.place.centred);
    let stretch = (1.0 + FALL * FALL).sqrt();
    for what in ["release", "deposit"] {
        let sum: f64 = raster(&whole, what).values.iter().filter(|v| v.is_finite()).sum();
        assert!((sum * 25.0 * stretch * 210.0 / mass - 1.0).abs() < 1e-9, "{what}");
    }
    let speed = raster(&whole, "pfv");
    let (v, p) = (speed.values.clone(), raster(&whole, "ppr").values);
    assert!(v.iter().copied().fold(0.0, f64::max) > 5.0);
    assert!(v.iter().zip(&p).all(|(v, p)| (p - 1e-3 * 210.0 * v * v).abs() <= 1e-9 * p));
    // The same in two parts.
    let mut made = world(folder.path(), release).unwrap();
    made.set_duration(1.0);
    let parts = folder.path().join("parts");
    Run::start(made, &parts, false).unwrap().go(RunOptions::default()).unwrap();
    Run::resume(&parts, Some(2.0)).unwrap().go(RunOptions::default()).unwrap();
    for what in ["pft", "pfv", "pta", "deposit"] {
        let same = |(a, b): (&f64, &f64)| a == b || (a.is_nan() && b.is_nan());
        assert!(raster(&whole, what).values.iter().zip(&raster(&parts, what).values).all(same), "{what}");
    }
}

#[test]
fn a_single_grain_leaves_its_speed_in_every_cell_it_passes() {
    let folder = tempfile::tempdir().unwrap();
    dem(folder.path());
    outline(folder.path(), &CORNERS, "");
    let text = scene("{ polygon = [[0, 0], [9, 0], [9, 9]], thickness = 2, grains = 30 }");
    let normal = DVec3::new(FALL, 0.0, 1.0).normalize();
    let at = DVec3::new(22.5, 52.5, FALL * 275.0) + 0.5 * normal;
    let down = DVec3::new(1.0, 0.0, -FALL).normalize() * 20.0;
    let start = text.find("release = ").unwrap();
    let end = start + text[start..].find('\n').unwrap();
    let alone = format!(
        "radius = 0.5\nat = [[{}, {}, {}]]\nvelocity = [{}, 0, {}]\n{}",
        at.x,
        at.y,
        at.z,
        down.x,
        down.z,
        &text[end..]
    );
    let text = text[..start].to_owned() + &alone;
    let text = text.replace("drag = { law = \"voellmy\", mu = 0.2, xi = 2000 }", "drag = { mu = 0.2 }");
    let parsed = load(&text, "path.toml", folder.path()).unwrap();
    let mut world = assemble(&parsed).unwrap();
    while world.time() < 2.0 {
        world.step().unwrap();
    }
    let rasters = world.measurements()[0].observer.rasters("one");
    let speed = &rasters.iter().find(|r| r.0.contains("pfv")).unwrap().1;
    let a = 9.81 * (FALL - 0.2) / (1.0 + FALL * FALL).sqrt();
    let stretch = (1.0 + FALL * FALL).sqrt();
    let mut passed = 0;
    for cell in 0..60 {
        let found = speed.values[cell + 60 * 10];
        if found == 0.0 {
            continue;
        }
        // Its speed at the end of the cell: a peak, looked at twice a cell.
        let way = |x: f64| (x - 22.5) * stretch;
        let at = |x: f64| (400.0 + 2.0 * a * way(x).max(0.0)).sqrt();
        let [low, high] = [5.0 * cell as f64, 5.0 * (cell + 1) as f64].map(at);
        assert!(found >= low * 0.99 && found <= high * 1.01, "cell {cell}: {found}, {low} to {high}");
        passed += 1;
    }
    assert!(passed >= 6, "{passed}");
}
