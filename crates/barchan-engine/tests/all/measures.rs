//! Keys of measurements, which the engine adds to the scene's: problems with their place, and all of them at once with those that only assembling
//! finds; the schema, scaling, saving, and the page of keys.

use barchan_engine::{VOCABULARY, World, assemble, load};
use barchan_scene::{Parsed, Problem, SceneErrors, Severity, gallery, page, schema};
use std::f64::consts::PI;
use std::path::Path;

/// A scene that is right, to be spoilt line by line.
const GOOD: &str = r#"
title = "Test"
duration = "1 s"
seed = 7
[domain]
min = [0, 0, 0]
max = ["10 cm", 0.1, 0.1]
[materials.glass]
preset = "glass beads"
[materials.steel]
density = 7800
young = "50 MPa"
poisson = 0.28
restitution = 0.9
friction = 0.2
[[pairs]]
between = ["glass", "steel"]
friction = 0.3
[shapes.rod]
spheres = [{ at = [0, 0, 0], radius = "1 mm" }, { at = ["1 mm", 0, 0], radius = "1 mm" }]
[[grains]]
name = "beads"
material = "glass"
radius = { uniform = ["0.8 mm", "1.2 mm"] }
fill = { box = { min = [0.01, 0.01, 0.01], max = [0.05, 0.05, 0.05] }, count = 500 }
[[grains]]
name = "ball"
material = "steel"
radius = "5 mm"
at = [[0.08, 0.08, 0.08]]
[[emitters]]
name = "spout"
material = "glass"
shape = "rod"
disc = { centre = [0.05, 0.05, 0.09], normal = [0, 0, -1], radius = "8 mm" }
rate = "100 /s"
velocity = [0, 0, -1]
[[walls]]
name = "vessel"
material = "steel"
box = { min = [0, 0, 0], max = [0.1, 0.1, 0.1], open = ["top"] }
[[walls]]
name = "plate"
material = "steel"
disc = { centre = [0.08, 0.08, 0.03], normal = [0, 0, 1], radius = "10 mm" }
oscillate = { direction = [0, 0, 1], amplitude = "1 mm", frequency = "10 Hz" }
[output]
every = "0.1 s"
[[measure]]
energy = {}
"#;

fn read(text: &str) -> Result<Parsed, SceneErrors> {
    load(text, "test.toml", Path::new(""))
}

fn spoil(from: &str, to: &str) -> Vec<Problem> {
    assert!(GOOD.contains(from), "`{from}` is not in the scene");
    match read(&GOOD.replacen(from, to, 1)) {
        Ok(parsed) => parsed.warnings,
        Err(e) => e.problems,
    }
}

#[track_caller]
fn expect(from: &str, to: &str, message: &str, excerpt: &str, help: &str) {
    let problems = spoil(from, to);
    let found = problems.iter().find(|p| p.message.contains(message));
    let Some(p) = found else { panic!("`{to}` gives no `{message}` but {:#?}", lines(&problems)) };
    assert_eq!(p.excerpt().unwrap_or(""), excerpt, "place of: {}", p.message);
    assert!(p.help.contains(help), "help of `{}` is `{}`", p.message, p.help);
    let errors: Vec<_> = problems.iter().filter(|p| p.severity == Severity::Error).collect();
    assert!(errors.len() <= 1, "one mistake is one error, not {:#?}", lines(&problems));
}

fn lines(problems: &[Problem]) -> Vec<String> {
    problems.iter().map(|p| format!("{} @ {:?} ({})", p.message, p.excerpt(), p.help)).collect()
}

#[test]
fn a_measurement_has_exactly_one_key() {
    expect("energy = {}", "enrgy = {}", "unknown key `enrgy`", "enrgy", "did you mean `energy`?");
    expect("energy = {}", "every = 1", "lacks one of `energy`", "[[measure]]", "say what to measure: `energy = {}`");
    expect(
        "energy = {}",
        "every = 1",
        "lacks one of `energy`",
        "[[measure]]",
        "`pressure_on = { wall, centre, radius }`",
    );
}

#[test]
fn the_flank_of_a_slope() {
    let slope =
        |along: &str, flank: &str| format!("repose = {{ point = [0, 0, 0], along = {along}, flank = {flank} }}");
    expect("energy = {}", &slope("[0, 0, 2]", "[0.2, 0.8]"), "of a slope is not level", "[0, 0, 2]", "across gravity");
    expect("energy = {}", &slope("[1, 0, 0]", "[0.8, 0.2]"), "from 0.8 to 0.2", "[0.8, 0.2]", "the lower one first");
    expect("energy = {}", &slope("[1, 0, 0]", "[0.8]"), "expected a list of 2, found 1 item", "[0.8]", "[0.2, 0.8]");
}

#[test]
fn packings_and_profiles() {
    let profile = "profile = { box = { min = [0, 0, 0], max = [0.1, 0.1, 0.1] }, axis = \"x\", bins = 7 }";
    let packing = "packing = { sphere = { centre = [0, 0, 0], radius = 0.01 }, rattlers_below = 3 }";
    let fields = "fields = { box = { min = [0, 0, 0], max = [0.1, 0.1, 0.1] }, cells = [2, 1, 9] }";
    for measure in [profile, packing, fields] {
        let scene = read(&GOOD.replace("energy = {}", measure)).unwrap_or_else(|e| panic!("{}", e.listing())).scene;
        assert_eq!(read(&scene.to_toml().unwrap()).unwrap().scene, scene, "{measure}");
    }
    expect("energy = {}", &profile.replace('7', "0"), "a profile of 0 bins", "0", "such as 20");
    expect("energy = {}", &profile.replace("\"x\"", "\"w\""), "`w` is not a choice here", "\"w\"", "choose `x`");
    let ball = "profile = { sphere = { centre = [0, 0, 0], radius = 0.01 } }";
    expect(
        "energy = {}",
        ball,
        "this measurement needs a box",
        "{ centre = [0, 0, 0], radius = 0.01 }",
        "box = { min, max }",
    );
    expect(
        "energy = {}",
        &fields.replace('9', "0"),
        "2 × 1 × 0 cells cannot be",
        "[2, 1, 0]",
        "three numbers from 1 on",
    );
    expect("energy = {}", &fields.replace(", 9]", "]"), "", "[2, 1]", "along x, y and z");
    let flat = "packing = { cylinder = { base = [0, 0, 0], radius = 0.01, height = 0 } }";
    expect("energy = {}", flat, "the height", "0", "");
}

#[test]
fn all_problems_come_in_one_go_those_of_assembling_among_them() {
    let text = GOOD
        .replace("seed = 7", "sede = 7")
        .replace("[output]", "[integrator]\ndt = \"1 s\"\n[output]")
        .replace(
            "name = \"ball\"\nmaterial = \"steel\"\nradius = \"5 mm\"",
            "name = \"ball\"\nmaterial = \"stele\"\nradius = \"5 mm\"",
        )
        .replace("energy = {}", "enrgy = {}");
    let errors = read(&text).unwrap_err();
    let found: Vec<_> = errors.errors().map(|p| p.path.as_str()).collect();
    assert_eq!(found, ["sede", "grains[1].material", "integrator.dt", "measure[0].enrgy"], "{}", errors.listing());
}

#[test]
fn a_fill_that_does_not_fit_beside_a_mesh_is_told_with_the_other_problems() {
    let tight = GOOD.replace("count = 500", "count = 4400").replace(
        "[output]",
        "[[walls]]\nmaterial = \"steel\"\nmesh = { file = \"box\", scale = 0.03, at = [0.03, 0.03, 0.03] }\n[output]",
    );
    let alone = read(&tight).map(|p| assemble(&p).err().map(|e| e.listing()));
    let alone = alone.unwrap_or_else(|e| panic!("{}", e.listing())).expect("the box takes the room");
    assert!(alone.contains("only") && alone.contains("fit"), "{alone}");
    let errors = read(&tight.replace("[output]", "[output]\nevry = 1")).unwrap_err();
    let found: Vec<_> = errors.errors().map(|p| p.path.as_str()).collect();
    assert_eq!(found, ["grains[0].fill.count", "output.evry"], "{}", errors.listing());
}

#[test]
fn every_scene_of_the_gallery_fits_the_schema_and_survives_saving() {
    let validator = jsonschema::validator_for(&serde_json::from_str(&schema(&VOCABULARY)).unwrap()).unwrap();
    let json = |text: &str| serde_json::to_value(text.parse::<toml::Table>().unwrap()).unwrap();
    for s in gallery() {
        let parsed = load(s.source, s.name, Path::new(".")).unwrap_or_else(|e| panic!("{}", e.listing()));
        assert!(parsed.warnings.is_empty(), "{}: {:?}", s.name, parsed.warnings);
        let saved = parsed.scene.to_toml().unwrap();
        for text in [s.source, &saved] {
            let errors: Vec<_> =
                validator.iter_errors(&json(text)).map(|e| format!("{e} at {}", e.instance_path())).collect();
            assert!(errors.is_empty(), "{}: {errors:#?}", s.name);
        }
        let again = load(&saved, s.name, Path::new(".")).unwrap_or_else(|e| panic!("{}", e.listing()));
        assert_eq!(again.scene, parsed.scene, "{}", s.name);
    }
    assert!(!validator.is_valid(&json(&GOOD.replace("energy = {}", "enrgy = {}"))));
    assert!(!validator.is_valid(&json(&GOOD.replace("energy = {}", "flow = {}"))));
}

#[test]
fn regions_of_measurements_grow_with_the_scene() {
    let count = "count = { sphere = { centre = [0.05, 0.05, 0.05], radius = 0.01 } }";
    let larger = read(&GOOD.replace("energy = {}", count)).unwrap().scene.scaled(8.0);
    let text = larger.to_toml().unwrap();
    let region = text.parse::<toml::Table>().unwrap()["measure"][0]["count"]["sphere"].clone();
    let radius = region["radius"].as_float().unwrap();
    assert!((radius - 0.02).abs() < 1e-15, "{region}");
}

/// A grain at rest on a floor.
const RESTING: &str = r#"
duration = 0.2
[domain]
min = [-0.1, -0.1, -0.01]
max = [0.1, 0.1, 0.1]
[materials.m]
preset = "glass beads"
[[grains]]
material = "m"
radius = "5 mm"
at = [[0, 0, 0.005]]
[[walls]]
name = "floor"
material = "m"
plane = { point = [0, 0, 0], normal = [0, 0, 1] }
[[measure]]
pressure_on = { wall = "floor", centre = [0, 0, 0], radius = "1 cm" }
every = 0.1
"#;

#[test]
fn a_grain_at_rest_presses_with_its_weight() {
    let mut world: World = assemble(&read(RESTING).unwrap()).unwrap();
    let mut rows = Vec::new();
    while world.time() < 0.199 {
        world.step().unwrap();
        rows.extend(world.rows().iter().map(|r| r.values.clone()));
    }
    let weight = 2500.0 * 4.0 / 3.0 * PI * 0.005f64.powi(3) * 9.81;
    let expected = weight / (PI * 0.01 * 0.01);
    let [_, mean, peak, contacts] = rows.last().unwrap()[..] else { panic!("{rows:?}") };
    // It was put down touching, and swings about its static overlap until that is damped: by energy, W δ = 2/5 k δ^(5/2), a weight that is
    // put on a Hertz contact at once presses with up to 5/2 of itself.
    assert!((mean / expected - 1.0).abs() < 0.01, "{mean} Pa against {expected}");
    assert!((2.0..2.5).contains(&(peak / expected)) && contacts == 1.0, "{rows:?}");
    let away = read(&RESTING.replace("centre = [0, 0, 0]", "centre = [0.05, 0, 0]")).unwrap();
    let row = assemble(&away).unwrap().rows()[0].values.clone();
    assert_eq!(row[1..], [0.0, 0.0, 0.0], "nothing touches the patch");
    let problem = read(&RESTING.replace("wall = \"floor\"", "wall = \"flor\"")).unwrap_err();
    assert!(problem.listing().contains("there is no wall `flor` (did you mean `floor`?)"), "{}", problem.listing());
}

#[test]
fn the_page_of_keys_is_what_the_statements_say() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/keys.md");
    let page = page(&VOCABULARY);
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(written == page, "{} is not what the code says: write it anew by `barchan schema --page`", path.display());
}
