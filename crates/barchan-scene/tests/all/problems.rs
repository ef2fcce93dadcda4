//! Every bad input is reported with its message, its place in the text, and a remedy; and all of them at once.

use barchan_scene::{Parsed, Problem, Scene, SceneErrors, Severity};
use proptest::prelude::*;

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
    Scene::from_toml(text, "test.toml")
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
fn the_scene_to_be_spoilt_is_right() {
    let parsed = read(GOOD).unwrap_or_else(|e| panic!("{}", e.listing()));
    assert!(parsed.warnings.is_empty(), "{:?}", lines(&parsed.warnings));
    let scene = &parsed.scene;
    assert_eq!(scene.materials["glass"].friction, 0.3, "from the preset");
    assert_eq!(scene.output.every, 0.1);
    assert_eq!(scene.measure[0].name, "energy");
    assert_eq!(scene.measure[0].every, 0.1, "as the frames");
    assert_eq!(read(&scene.to_toml().unwrap()).unwrap().scene, *scene);
}

#[test]
fn form() {
    expect("seed = 7", "sede = 7", "unknown key `sede` in a scene", "sede", "did you mean `seed`?");
    expect("poisson = 0.28", "poison = 0.28", "unknown key `poison`", "poison", "did you mean `poisson`?");
    expect(
        "poisson = 0.28",
        "colour = 0.28",
        "unknown key `colour` in `materials.steel`",
        "colour",
        "known here: `preset`, `density`",
    );
    expect(
        "radius = \"5 mm\"\nat",
        "diameter = \"5 mm\"\nat",
        "unknown key `diameter`",
        "diameter",
        "half the diameter",
    );
    expect("rate = \"100 /s\"", "rat = \"100 /s\"", "unknown key `rat`", "rat", "did you mean `rate`?");
    expect("duration = \"1 s\"\n", "", "the scene lacks `duration`", "", "a time (s)");
    expect("friction = 0.2\n", "", "`materials.steel` lacks `friction`", "[materials.steel]", "or a `preset`");
    expect("material = \"glass\"\nshape", "shape", "`emitters[0]` lacks `material`", "[[emitters]]", "add `material`");
    expect(
        "duration = \"1 s\"",
        "duration = \"1 kg\"",
        "expected a time (s), found a mass (kg)",
        "\"1 kg\"",
        "bare number in s",
    );
    expect(
        "radius = \"5 mm\"",
        "radius = \"5 nm2\"",
        "expected a length (m), found an area (m2)",
        "\"5 nm2\"",
        "\"2 mm\"",
    );
    expect(
        "frequency = \"10 Hz\"",
        "frequency = \"10 rpm\"",
        "expected a frequency (1/s), found an angular rate",
        "\"10 rpm\"",
        "10 Hz",
    );
    expect("young = \"50 MPa\"", "young = \"50 mpa\"", "did you mean `MPa`?", "\"50 mpa\"", "bare number in Pa");
    expect(
        "duration = \"1 s\"",
        "duration = true",
        "expected a time (s), found true or false",
        "true",
        "bare number in s",
    );
    expect("duration = \"1 s\"", "duration = nan", "no finite number", "nan", "bare number in s");
    expect("count = 500", "count = -5", "whole number that is not negative", "-5", "5000");
    expect(
        "min = [0, 0, 0]\nmax = [\"10",
        "min = [0, 0]\nmax = [\"10",
        "expected a list of 3, found 2 items",
        "[0, 0]",
        "x, y, z",
    );
    expect(
        "preset = \"glass beads\"",
        "preset = \"glas beads\"",
        "`glas beads` is not a choice",
        "\"glas beads\"",
        "did you mean `glass beads`?",
    );
    expect("open = [\"top\"]", "open = [\"up\"]", "`up` is not a choice", "\"up\"", "`top`");
    expect(
        "disc = { centre = [0.08",
        "plane = { point = [0, 0, 0], normal = [0, 0, 1] }\ndisc = { centre = [0.08",
        "`disc` cannot stand beside `plane`",
        "disc",
        "keep one",
    );
    expect(
        "disc = { centre = [0.08, 0.08, 0.03], normal = [0, 0, 1], radius = \"10 mm\" }\n",
        "",
        "`walls[1]` lacks one of `plane`",
        "[[walls]]",
        "exactly one geometry",
    );
    expect(
        "rate = \"100 /s\"",
        "rate = \"100 /s\"\nmass_rate = 1",
        "`mass_rate` cannot stand beside `rate`",
        "mass_rate",
        "keep one",
    );
}

#[test]
fn names() {
    expect(
        "material = \"glass\"\nradius",
        "material = \"glas\"\nradius",
        "there is no material `glas`",
        "\"glas\"",
        "did you mean `glass`?",
    );
    expect(
        "material = \"glass\"\nradius",
        "material = \"basalt\"\nradius",
        "there is no material `basalt`",
        "\"basalt\"",
        "[materials.basalt]",
    );
    expect("shape = \"rod\"", "shape = \"rode\"", "there is no shape `rode`", "\"rode\"", "did you mean `rod`?");
    expect("[\"glass\", \"steel\"]", "[\"glass\", \"stele\"]", "there is no material `stele`", "\"stele\"", "`steel`");
    expect("name = \"plate\"", "name = \"vessel\"", "the name `vessel` is used twice", "\"vessel\"", "its own name");
    expect("name = \"spout\"", "name = \"ball\"", "the name `ball` is used twice", "\"ball\"", "its own name");
    expect(
        "[shapes.rod]",
        "[shapes.sphere]\ntetrahedron = { edge = 1 }\n[shapes.rod]",
        "`sphere` is a built-in shape",
        "[shapes.sphere]",
        "another name",
    );
    expect(
        "[[pairs]]",
        "[[pairs]]\nbetween = [\"steel\", \"glass\"]\n[[pairs]]",
        "is described twice",
        "[\"glass\", \"steel\"]",
        "join",
    );
}

#[test]
fn values() {
    expect("duration = \"1 s\"", "duration = -1", "the duration must be positive, not -1 s", "-1", "above 0");
    expect("density = 7800", "density = -5", "a density must be positive, not -5 kg/m3", "-5", "above 0");
    expect("young = \"50 MPa\"", "young = 0", "Young's modulus must be positive", "0", "above 0");
    expect("poisson = 0.28", "poisson = 0.5", "a Poisson's ratio of 0.5 is impossible", "0.5", "-1 < poisson < 0.5");
    expect("restitution = 0.9", "restitution = 0", "a restitution of 0 is impossible", "0", "0.01 to 1");
    expect("restitution = 0.9", "restitution = 1.1", "a restitution of 1.1 is impossible", "1.1", "0.01 to 1");
    expect("friction = 0.3", "friction = -0.3", "`friction` cannot be negative", "-0.3", "0 or more");
    expect(
        "max = [\"10 cm\", 0.1, 0.1]",
        "max = [\"10 cm\", -0.1, 0.1]",
        "the box is empty: its min y",
        "-0.1",
        "swap",
    );
    expect("radius = \"5 mm\"", "radius = 0", "a radius must be positive", "0", "above 0");
    expect(
        "uniform = [\"0.8 mm\", \"1.2 mm\"]",
        "uniform = [\"1.2 mm\", \"0.8 mm\"]",
        "is above the largest",
        "[\"1.2 mm\", \"0.8 mm\"]",
        "swap",
    );
    expect(
        "{ uniform = [\"0.8 mm\", \"1.2 mm\"] }",
        "{ normal = { mean = \"1 mm\", sd = 0 } }",
        "a standard deviation must be positive",
        "0",
        "above 0",
    );
    expect(
        "{ uniform = [\"0.8 mm\", \"1.2 mm\"] }",
        "{ sieve = [[\"1 mm\", 0], [\"2 mm\", 0.9]] }",
        "ends at 1, not at 0.9",
        "0.9",
        "with share 1",
    );
    expect(
        "{ uniform = [\"0.8 mm\", \"1.2 mm\"] }",
        "{ sieve = [[\"1 mm\", 0], [\"2 mm\", 0.9], [\"1.5 mm\", 1]] }",
        "must increase",
        "\"1.5 mm\"",
        "upwards",
    );
    expect(
        "{ uniform = [\"0.8 mm\", \"1.2 mm\"] }",
        "{ sieve = [[\"1 mm\", 0.2], [\"2 mm\", 1]] }",
        "starts at 0, not at 0.2",
        "0.2",
        "share 0",
    );
    expect("radius = \"5 mm\"\n", "", "grains of shape `sphere` need a `radius`", "[[grains]]", "such as");
    expect("every = \"0.1 s\"", "every = \"2 s\"", "longer than the run", "\"2 s\"", "shorter");
    expect(
        "[output]",
        "[integrator]\ndissipation = 0.1\n[output]",
        "`dissipation` has no meaning for the method `velocity-verlet`",
        "0.1",
        "position-verlet",
    );
    expect(
        "normal = [0, 0, 1], radius",
        "normal = [0, 0, 0], radius",
        "the normal has no direction",
        "[0, 0, 0]",
        "any length but zero",
    );
    expect("amplitude = \"1 mm\"", "amplitude = -1", "an amplitude cannot be negative", "-1", "0 or more");
    expect(
        "disc = { centre = [0.08, 0.08, 0.03], normal = [0, 0, 1], radius = \"10 mm\" }",
        "cone = { base = [0.08, 0.08, 0.01], radius_base = 0, radius_top = 0, height = 0.02 }",
        "the cone is a line",
        "{ base = [0.08, 0.08, 0.01], radius_base = 0, radius_top = 0, height = 0.02 }",
        "one end",
    );
    expect("radius = \"10 mm\" }", "radius = \"10 mm\", hole = 0.01 }", "takes the whole disc", "0.01", "smaller");
}

#[test]
fn laws() {
    let contact = |keys: &str| format!("[contact]\n{keys}\n[output]");
    let case = |keys: &str, message: &str, excerpt: &str, help: &str| {
        expect("[output]", &contact(keys), message, excerpt, help)
    };
    case("normal = \"linear\"", "the linear law needs a stiffness", "\"linear\"", "contact_time");
    case("normal = \"linear\"\nstiffness = 1e5\ncontact_time = 1e-4", "cannot both be given", "1e-4", "keep one");
    case("stiffness = 1e5", "`stiffness` has no meaning for `hertz`", "1e5", "normal = \"linear\"");
    case("tangential_damping = 1", "`tangential_damping` has no meaning for `mindlin`", "1", "viscous");
    case("normal = \"kuwabara-kono\"\ndissipation = 1e-5", "this restitution is not used", "0.9", "remove it");
    case("normal = \"kuwabara-kono\"", "needs its dissipative time", "\"kuwabara-kono\"", "dissipation");
    case("normal = \"lee-herrmann\"", "needs its constants", "\"lee-herrmann\"", "lee_herrmann");
    case("tangential = \"viscous\"", "the viscous law needs its damping", "\"viscous\"", "tangential_damping");
    case("normal = \"hertzian\"", "`hertzian` is not a choice", "\"hertzian\"", "did you mean `hertz`?");
    // Not an error: a linear law asks for no Young's modulus, nor does its tangential spring.
    let linear =
        GOOD.replace("young = \"50 MPa\"\n", "").replace("[output]", &contact("normal = \"linear\"\nstiffness = 1e5"));
    assert_eq!(read(&linear).unwrap().scene.contact.tangential, barchan_scene::TangentialLaw::CundallStrack);
    expect("young = \"50 MPa\"\n", "", "`materials.steel` lacks `young`", "[materials.steel]", "a pressure (Pa)");
}

#[test]
fn places() {
    let beads = "max = [0.05, 0.05, 0.05] }, count = 500";
    let shown = |max: &str| format!("{{ min = [0.01, 0.01, 0.01], max = {max} }}");
    expect(
        beads,
        "max = [0.05, 0.05, 0.12] }, count = 500",
        "`beads` lies outside the domain: it reaches z up to 0.12 m, the domain up to 0.1 m",
        &shown("[0.05, 0.05, 0.12]"),
        "enlarge the domain",
    );
    expect(
        "min = [0, 0, 0], max = [0.1, 0.1, 0.1], open",
        "min = [0.02, 0, 0], max = [0.1, 0.1, 0.1], open",
        "the region of `beads` cuts the wall `vessel`",
        &shown("[0.05, 0.05, 0.05]"),
        "move or shrink",
    );
    expect(
        "centre = [0.08, 0.08, 0.03]",
        "centre = [0.03, 0.03, 0.0299]",
        "the region of `beads` cuts the wall `plate`",
        &shown("[0.05, 0.05, 0.05]"),
        "clear of walls",
    );
    expect(
        "centre = [0.08, 0.08, 0.03]",
        "centre = [0.08, 0.08, 0.076]",
        "a grain of `ball` cuts the wall `plate`",
        "[0.08, 0.08, 0.08]",
        "0.005 m of room",
    );
    expect(
        "at = [[0.08, 0.08, 0.08]]",
        "at = [[0.08, 0.08, 0.08], [0.08, 0.08, 0.2]]",
        "`ball` lies outside the domain",
        "[0.08, 0.08, 0.2]",
        "move it",
    );
    expect(
        "at = [[0.08, 0.08, 0.08]]",
        "at = [[0.053, 0.03, 0.03]]",
        "lies in the region of `beads`",
        "[0.053, 0.03, 0.03]",
        "out of the region",
    );
    expect(
        "at = [[0.08, 0.08, 0.08]]",
        "at = [[0.08, 0.08, 0.08], [0.085, 0.08, 0.08]]",
        "grains of `ball` and `ball` overlap",
        "[0.085, 0.08, 0.08]",
        "apart",
    );
    expect(beads, "max = [0.05, 0.05, 0.05] }, count = 50000", "holds about", "50000", "lower `count` to at most");
    expect(
        beads,
        "max = [0.05, 0.05, 0.0115] }, count = 5",
        "too small for one grain of radius 0.0012 m",
        &shown("[0.05, 0.05, 0.0115]"),
        "larger",
    );
    expect("count = 500 }", "method = \"random\", fraction = 0.6 }", "cannot fill a share of 0.6", "0.6", "jams");
    expect(
        "count = 500 }",
        "method = \"rain\", count = 500, batch = 50 }",
        "the method `rain` lacks `every`",
        "{ box = { min = [0.01, 0.01, 0.01], max = [0.05, 0.05, 0.05] }, method = \"rain\", count = 500, batch = 50 }",
        "0.05 s",
    );
    expect("count = 500 }", "count = 500, batch = 5 }", "`batch` has no meaning for the method `lattice`", "5", "rain");
    let other = "[[grains]]\nmaterial = \"glass\"\nradius = 0.001\nfill = { sphere = { centre = [0.05, 0.03, 0.03], radius = 0.01 }, count = 5 }\n[[emitters]]";
    expect(
        "[[emitters]]",
        other,
        "the regions of `beads` and `grains 3` overlap",
        "{ centre = [0.05, 0.03, 0.03], radius = 0.01 }",
        "rain",
    );
}

#[test]
fn emitters_and_periods() {
    expect("radius = \"8 mm\"", "radius = \"1 mm\"", "smaller than the grains it pours", "\"1 mm\"", "at least");
    expect(
        "rate = \"100 /s\"",
        "rate = \"1e6 /s\"",
        "do not fit through the disc at 1 m/s",
        "\"1e6 /s\"",
        "use at most",
    );
    expect(
        "velocity = [0, 0, -1]",
        "velocity = [0, 0, 1]",
        "grains would not leave the emitter",
        "[0, 0, 1]",
        "along the normal",
    );
    expect(
        "centre = [0.05, 0.05, 0.09]",
        "centre = [0.095, 0.05, 0.09]",
        "lies outside the domain",
        "{ centre = [0.095, 0.05, 0.09], normal = [0, 0, -1], radius = \"8 mm\" }",
        "enlarge",
    );
    expect(
        "max = [\"10 cm\", 0.1, 0.1]",
        "max = [\"10 cm\", 0.1, 0.1]\nperiodic = [\"y\"]",
        "the wall `vessel` closes the periodic direction y",
        "{ min = [0, 0, 0], max = [0.1, 0.1, 0.1], open = [\"top\"] }",
        "open = [\"front\", \"back\"]",
    );
    let narrow = GOOD
        .replace("0.1, 0.1]\n[materials.glass]", "0.1, 0.1]\nperiodic = [\"z\"]\n[materials.glass]")
        .replace("radius = \"5 mm\"", "radius = \"26 mm\"");
    let problems = read(&narrow).unwrap_err().problems;
    assert!(
        problems
            .iter()
            .any(|p| p.message.contains("the period along z (0.1 m) is too short") && p.help.contains("0.104 m")),
        "{:#?}",
        lines(&problems)
    );
}

#[test]
fn bumps_that_cannot_close_across_a_period_name_lengths_that_can() {
    let scene = |length: &str, spacing: &str, motion: &str| {
        let text = format!(
            r#"
duration = 1
[domain]
min = [0, 0, -0.01]
max = ["{length}", "20 mm", "60 mm"]
periodic = ["x", "y"]
[materials.m]
preset = "glass beads"
[[grains]]
material = "m"
radius = "1 mm"
at = [[0.01, 0.01, 0.03]]
[[walls]]
name = "bottom"
material = "m"
plane = {{ point = [0, 0, 0], normal = [0, 0, 1] }}
rough = {{ radius = "1 mm", spacing = "{spacing}" }}
{motion}
"#
        );
        read(&text).map_err(|e| e.problems)
    };
    assert!(scene("40 mm", "2 mm", "").is_ok(), "20 mm hold no whole number of rows, and stretch them a little");
    assert!(scene("41.3 mm", "2 mm", "velocity = [0.2, 0, 0]").is_ok());
    let problems = scene("43 mm", "30 mm", "").unwrap_err();
    let [x, y] = &problems[..] else { panic!("{:#?}", lines(&problems)) };
    assert!(x.message.contains("`bottom`") && x.message.contains("along x (0.043 m)"), "{}", x.message);
    assert!(x.help.contains("0.03 m or 0.06 m"), "{}", x.help);
    assert!(y.message.contains("along y (0.02 m)") && y.help.contains("make the domain 0.051962 m long"), "{}", y.help);
    let turned = scene("40 mm", "2 mm", "rotate = { point = [0, 0, 0], axis = [0, 0, 1], rate = 1 }").unwrap_err();
    assert!(turned[0].message.contains("turn out of the periodic direction"), "{:#?}", lines(&turned));
}

#[test]
fn all_problems_come_at_once_in_the_order_of_the_text() {
    let text = GOOD
        .replace("seed = 7", "sede = 7")
        .replace("density = 7800", "density = \"7800 m\"")
        .replace("poisson = 0.28", "poisson = 0.7")
        .replace("material = \"glass\"\nradius", "material = \"glas\"\nradius")
        .replace("count = 500", "count = 50000")
        .replace("every = \"0.1 s\"", "evry = 1");
    let errors = read(&text).unwrap_err();
    let lines: Vec<_> = errors.errors().map(|p| p.line_column().unwrap().0).collect();
    assert_eq!(lines, [4, 11, 13, 23, 25, 48], "{}", errors.listing());
    assert_eq!(errors.to_string(), "6 errors in the scene test.toml");
    assert!(errors.listing().contains("4:1: error: unknown key `sede` in a scene (did you mean `seed`?)"));
    use miette::Diagnostic;
    let related: Vec<_> = errors.related().unwrap().collect();
    assert_eq!(related.len(), 6);
    assert!(related[0].source_code().is_some() && related[0].labels().is_some() && related[0].help().is_some());
}

#[test]
fn syntax_errors_are_reported_with_their_place() {
    let errors = read("duration = \n[domain\nmin = [0, 0, 0]\n").unwrap_err();
    assert!(errors.problems.iter().all(|p| p.help.contains("TOML")), "{}", errors.listing());
    assert_eq!(errors.problems[0].line_column().unwrap().0, 1, "{}", errors.listing());
    let twice = read("duration = 1\nduration = 2\n").unwrap_err();
    assert_eq!(twice.problems[0].line_column().unwrap().0, 2, "{}", twice.listing());
    assert!(twice.problems[0].message.contains("duplicate"), "{}", twice.listing());
}

#[test]
fn later_stages_point_at_lines_too() {
    let parsed = read(GOOD).unwrap();
    let p = parsed.error_at("walls[1].oscillate.frequency", "too fast", "slow down");
    assert_eq!((p.excerpt(), p.line_column()), (Some("\"10 Hz\""), Some((46, 70))));
    // A value left to its default points at what is around it.
    assert_eq!(
        parsed.error_at("walls[1].oscillate.phase", "", "").excerpt(),
        Some("{ direction = [0, 0, 1], amplitude = \"1 mm\", frequency = \"10 Hz\" }")
    );
    assert_eq!(parsed.error_at("integrator.dt", "too long", "").excerpt(), None);
    assert!(parsed.given("materials.steel.density") && !parsed.given("materials.glass.density"));
}

#[test]
fn a_scene_built_in_code_is_checked_without_places() {
    let mut scene = read(GOOD).unwrap().scene;
    assert!(scene.check().is_empty());
    scene.grains[0].material = "glas".into();
    let problems = scene.check();
    assert_eq!((problems.len(), problems[0].path.as_str(), problems[0].span.clone()), (1, "grains[0].material", None));
}

/// What overlaps was compared with all that it overlaps, and each pair was told: 25,000 positions took minutes.
#[test]
fn thousands_of_overlapping_positions_are_ten_errors_and_a_count() {
    let places =
        |count: usize| (0..count).map(|k| format!("[0.08, 0.08, {}]", 0.08 + 1e-9 * k as f64)).collect::<Vec<_>>();
    let text = GOOD.replace("[[0.08, 0.08, 0.08]]", &format!("[{}]", places(25_000).join(", ")));
    let begun = std::time::Instant::now();
    let problems = read(&text).unwrap_err().problems;
    assert!(begun.elapsed().as_secs_f64() < 60.0, "{:?}", begun.elapsed());
    assert_eq!(problems.len(), 10, "{:#?}", lines(&problems));
    assert!(problems.iter().all(|p| p.message.contains("overlap")));
    assert!(problems[9].message.ends_with("(and 24,989 more of this kind)"), "{}", problems[9].message);
    // Two of different kinds are both told, and ten of one kind are not counted.
    let few =
        read(&GOOD.replace("[[0.08, 0.08, 0.08]]", &format!("[{}]", places(11).join(", ")))).unwrap_err().problems;
    assert!(few.len() == 10 && few.iter().all(|p| p.message.ends_with("overlap")), "{:#?}", lines(&few));
}

#[test]
fn positions_far_out_of_the_domain_are_looked_up_without_overflow() {
    for x in ["1e300", "-1e300", "9.3e16"] {
        read(&GOOD.replace("[[0.08, 0.08, 0.08]]", &format!("[[{x}, {x}, {x}], [{x}, 0, 0]]"))).unwrap_err();
    }
}

/// Bumps of 3.6 nm under grains of a millimetre kept the check busy for ever.
#[test]
fn bumps_finer_than_dust_are_refused_with_a_spacing_that_would_do() {
    let from = "disc = { centre = [0.08, 0.08, 0.03], normal = [0, 0, 1], radius = \"10 mm\" }";
    let rough =
        |radius: &str, spacing: &str| format!("{from}\nrough = {{ radius = \"{radius}\", spacing = \"{spacing}\" }}");
    let fine = "too fine for grains of radius 0.005 m";
    expect(from, &rough("1 mm", "3.6e-6 mm"), fine, "\"3.6e-6 mm\"", "space them by 5.000e-5 m or more");
    assert!(spoil(from, &rough("0.2 mm", "0.2 mm")).is_empty());
}

/// Its file was written over the run's own.
#[test]
fn a_measure_named_like_a_file_of_the_run_is_refused() {
    for name in ["frames", "Frames", "run", "scene", "checkpoint"] {
        let message = format!("keeps its own files under the name `{name}`");
        expect(
            "energy = {}",
            &format!("energy = {{}}\nname = \"{name}\""),
            &message,
            &format!("\"{name}\""),
            "choose another",
        );
    }
}

/// A lid that its servo drives away from the grains left the domain unremarked.
#[test]
fn a_servo_that_draws_its_plane_away_from_the_grains_is_warned_of() {
    let from = "disc = { centre = [0.08, 0.08, 0.03], normal = [0, 0, 1], radius = \"10 mm\" }\n\
                oscillate = { direction = [0, 0, 1], amplitude = \"1 mm\", frequency = \"10 Hz\" }";
    let lid = |axis: &str| {
        format!(
            "plane = {{ point = [0, 0, 0.09], normal = [0, 0, -1] }}\n\
             servo = {{ axis = {axis}, stress = \"5 kPa\", area = 8e-4, max_speed = \"0.3 m/s\" }}"
        )
    };
    expect(from, &lid("[0, 0, 1]"), "draws `plate` away from the grains", "[0, 0, 1]", "use [0, 0, -1]");
    assert!(spoil(from, &lid("[0, 0, -1]")).iter().all(|p| !p.message.contains("draws")));
}

proptest! {
    #[test]
    fn no_number_makes_the_checks_panic(x in proptest::num::f64::ANY, key in 0..9usize) {
        let from = ["duration = \"1 s\"", "radius = \"5 mm\"", "count = 500", "rate = \"100 /s\"", "radius = \"8 mm\"",
            "density = 7800", "amplitude = \"1 mm\"", "radius = \"10 mm\"", "every = \"0.1 s\""][key];
        let (name, _) = from.split_once(" = ").unwrap();
        let number = if x.is_finite() { format!("{x:e}") } else { "inf".into() };
        let _ = read(&GOOD.replacen(from, &format!("{name} = {number}"), 1));
    }
}
