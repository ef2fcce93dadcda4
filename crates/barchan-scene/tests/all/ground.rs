//! A ground in a scene: what can be written, what is refused, and that it survives saving and scaling.

use barchan_scene::measure::Vocabulary;
use barchan_scene::{Scene, schema};

const GOOD: &str = r#"
duration = "1 s"
[domain]
min = [-1, -1, -0.1]
max = [1, 1, 0.5]
[materials.sand]
preset = "dry sand"
[ground]
cell = "1 cm"
HEIGHTS
SOIL
[[grains]]
material = "sand"
radius = "3 mm"
at = [[0, 0, 0.3]]
"#;

fn text(heights: &str, soil: &str) -> String {
    GOOD.replace("HEIGHTS", heights).replace("SOIL", soil)
}

const HEIGHTS: [&str; 6] = [
    "",
    "height = \"10 cm\"",
    "formula = \"20 + 5*sin(x/100)\"\nunit = \"1 mm\"",
    "image = { file = \"hills.png\", low = 0.01, high = \"10 cm\" }",
    "terrain = \"alps.asc\"",
    "terrain = { file = \"alps.tif\", low = 0.1, scale = 1e-4 }",
];
const SOILS: [&str; 4] = [
    "",
    "soil = \"mud\"\nmin = [\"-50 cm\", 0]\nfloor = 0",
    "soil = { preset = \"snow\", stop = \"30 deg\", outside = 0.6, compression = 0.1 }\n[ground.exchange]",
    "[ground.exchange]\nlayer = 3\nrest = 0.1\nafter = \"20 ms\"\npacking = \"62 %\"",
];

#[test]
fn every_way_of_writing_is_read_fits_the_schema_and_survives() {
    let validator = jsonschema::validator_for(&serde_json::from_str(&schema(&Vocabulary::default())).unwrap()).unwrap();
    for heights in HEIGHTS {
        for soil in SOILS {
            let text = text(heights, soil);
            let parsed = Scene::from_toml(&text, "test").unwrap_or_else(|e| panic!("{text}\n{}", e.listing()));
            assert!(parsed.warnings.is_empty(), "{:?}", parsed.warnings);
            let saved = parsed.scene.to_toml().unwrap();
            let again = Scene::from_toml(&saved, "saved").unwrap_or_else(|e| panic!("{saved}\n{}", e.listing()));
            assert_eq!(again.scene, parsed.scene, "{saved}");
            for text in [&text, &saved] {
                let json = serde_json::to_value(text.parse::<toml::Table>().unwrap()).unwrap();
                let errors: Vec<_> = validator.iter_errors(&json).map(|e| e.to_string()).collect();
                assert!(errors.is_empty(), "{text}\n{errors:#?}");
            }
            let ground = parsed.scene.ground.as_ref().unwrap();
            let scaled = parsed.scene.scaled(8.0).ground.unwrap();
            assert_eq!((scaled.cell, scaled.max, scaled.unit), (ground.cell, 2.0 * ground.max, 2.0 * ground.unit));
            assert_eq!(scaled.height, ground.height.map(|h| 2.0 * h));
        }
    }
    let scene = Scene::from_toml(&text("", SOILS[1]), "test").unwrap().scene;
    let ground = scene.ground.unwrap();
    assert_eq!((ground.min.x, ground.min.y, ground.max.x, ground.floor), (-0.5, 0.0, 1.0, 0.0));
    assert_eq!(ground.material, "sand", "the first of the scene");
}

#[test]
fn what_cannot_be_is_told_once_with_its_place() {
    for (heights, soil, message, excerpt) in [
        ("height = -1", "", "cannot be negative", "-1"),
        ("height = 0.1\nformula = \"x\"", "", "`formula` cannot stand beside `height`", "\"x\""),
        ("formula = \"0.1 + sinus(x)\"", "", "`sinus` is not known", "sinus(x)\""),
        ("formula = \"0.1*x\"", "", "the formula gives", "\"0.1*x\""),
        ("formula = \"0.1 +\"", "", "at character 6: a value is missing", "\""),
        ("heigth = 1", "", "unknown key `heigth`", "heigth"),
        ("max = [1, -2]", "", "its min y (-1 m) is not below its max y (-2 m)", "-2"),
        ("image = { file = \"a.png\" }", "", "`ground.image` lacks `high`", "{ file = \"a.png\" }"),
        ("", "soil = \"sandy\"", "`sandy` is not a choice here", "\"sandy\""),
        ("", "soil = { stop = \"95 deg\" }", "a slope of 95 deg cannot be", "\"95 deg\""),
        ("", "soil = { fraction = 0 }", "`fraction` cannot be 0", "0"),
        ("", "material = \"sandd\"", "there is no material `sandd`", "\"sandd\""),
        ("", "[ground.exchange]\nlayer = 0.5", "a layer of 0.5 grain diameters", "0.5"),
        ("", "[ground.exchange]\npacking = 0.2", "grains cannot fill 0.2", "0.2"),
        ("", "[ground.exchange]\nafter = 0", "the time of rest must be positive", "0"),
    ] {
        let e = Scene::from_toml(&text(heights, soil), "test").unwrap_err();
        let found: Vec<_> = e.problems.iter().map(|p| (p.message.as_str(), p.excerpt().unwrap_or(""))).collect();
        assert!(
            found.len() == 1 && found[0].0.contains(message) && found[0].1 == excerpt,
            "{heights} {soil}: {found:?}"
        );
    }
    for (from, to, message) in [
        ("cell = \"1 cm\"", "cell = \"10 um\"", "more than a ground can have"),
        ("cell = \"1 cm\"", "cell = 0", "width of a column must be positive"),
        ("duration = \"1 s\"", "duration = 1\ngravity = [1, 0, -9]", "straight down"),
        ("max = [1, 1, 0.5]", "max = [1, 1, 0.5]\nperiodic = [\"x\"]", "rims, not images"),
    ] {
        let e = Scene::from_toml(&text("", "").replace(from, to), "test").unwrap_err();
        assert!(e.problems.iter().any(|p| p.message.contains(message)), "{to}: {}", e.listing());
    }
}
