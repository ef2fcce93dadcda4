//! Scenes of the gallery are read, fit the schema, survive a round trip, and grow with `--scale`.

use barchan_scene::measure::Vocabulary;
use barchan_scene::{Place, Scene, bench_scenes, gallery, gallery_scene, schema};

fn parse(source: &str, name: &str) -> barchan_scene::Parsed {
    Scene::from_toml(source, name).unwrap_or_else(|e| panic!("{name}:\n{}", e.listing()))
}

#[test]
fn every_scene_is_read_without_a_warning() {
    assert_eq!(gallery().len(), 55);
    let read = |s: &barchan_scene::GalleryScene| Scene::from_toml(s.source, s.name).err();
    let errors: Vec<_> = gallery().iter().filter_map(read).map(|e| format!("{}:\n{}", e.name, e.listing())).collect();
    assert!(errors.is_empty(), "{}", errors.join("\n"));
    for s in gallery() {
        let parsed = parse(s.source, s.name);
        let warnings: Vec<_> = parsed.warnings.iter().map(|w| w.message.clone()).collect();
        assert!(warnings.is_empty(), "{}: {warnings:?}", s.name);
        assert_eq!(parsed.scene.about, s.about, "{}", s.name);
        assert!(
            s.source.starts_with("# ") && s.source.contains("# Look at: "),
            "{} opens with what to look at",
            s.name
        );
    }
}

#[test]
fn every_scene_of_the_benchmarks_is_read_without_a_warning() {
    for s in bench_scenes() {
        let parsed = parse(s.source, s.name);
        assert!(parsed.warnings.is_empty(), "{}: {:?}", s.name, parsed.warnings);
        assert_eq!(parsed.scene.about, s.about, "{}", s.name);
        assert!(gallery_scene(s.name).is_err(), "a name stands for one scene: {}", s.name);
    }
}

#[test]
fn a_mistyped_name_finds_its_scene() {
    assert_eq!(gallery_scene("hourglas"), Err(Some("hourglass")));
    assert_eq!(gallery_scene("weather"), Err(None));
    assert_eq!(gallery_scene("drum").unwrap().name, "drum");
}

#[test]
fn every_scene_fits_the_schema() {
    let validator = jsonschema::validator_for(&serde_json::from_str(&schema(&Vocabulary::default())).unwrap()).unwrap();
    for s in gallery() {
        let json = as_json(s.source);
        let errors: Vec<_> = validator.iter_errors(&json).map(|e| format!("{} at {}", e, e.instance_path())).collect();
        assert!(errors.is_empty(), "{}: {errors:#?}", s.name);
        let saved = as_json(&parse(s.source, s.name).scene.to_toml().unwrap());
        let errors: Vec<_> = validator.iter_errors(&saved).map(|e| format!("{} at {}", e, e.instance_path())).collect();
        assert!(errors.is_empty(), "{} as saved: {errors:#?}", s.name);
    }
}

#[test]
fn the_schema_refuses_what_the_reader_refuses() {
    let validator = jsonschema::validator_for(&serde_json::from_str(&schema(&Vocabulary::default())).unwrap()).unwrap();
    // A scene of its own: the gallery's numbers are tuned now and then.
    let good = r#"
duration = "4 s"
[domain]
min = [-0.04, -0.04, -0.01]
max = [0.04, 0.04, 0.1]
[materials.sand]
preset = "dry sand"
[[grains]]
material = "sand"
radius = "1.5 mm"
fill = { sphere = { centre = [0, 0, 0.05], radius = 0.03 }, count = 500 }
[[walls]]
material = "sand"
cone = { base = [0, 0, 0], axis = [0, 0, 1], radius_base = "9 mm", radius_top = "36 mm", height = "9 mm" }
[[walls]]
material = "sand"
plane = { point = [0, 0, 0.1], normal = [0, 0, -1] }

[output]
every = "0.02 s"
"#;
    assert!(Scene::from_toml(good, "good").is_ok(), "{:?}", Scene::from_toml(good, "good").err().map(|e| e.listing()));
    assert!(validator.is_valid(&as_json(good)));
    for (from, to) in [
        ("duration = \"4 s\"", "duration = \"4 apples\""),
        ("duration = \"4 s\"", "duration = true"),
        ("duration = \"4 s\"", "durations = 4"),
        ("cone = { base", "cones = { base"),
        ("radius_base = \"9 mm\", ", ""),
        ("count = 500", "count = \"many\""),
        ("count = 500", "count = 500, colour = 3"),
        ("preset = \"dry sand\"", "preset = \"wet sand\""),
        ("normal = [0, 0, -1] }\n\n[output]", "normal = [0, 0] }\n\n[output]"),
    ] {
        assert!(good.contains(from), "{from}");
        let bad = good.replacen(from, to, 1);
        assert!(!validator.is_valid(&as_json(&bad)), "the schema accepts `{to}`");
        assert!(Scene::from_toml(&bad, "bad").is_err(), "the reader accepts `{to}`");
    }
}

#[test]
fn a_saved_scene_reads_back_the_same() {
    for s in gallery() {
        let scene = parse(s.source, s.name).scene;
        let text = scene.to_toml().unwrap();
        assert_eq!(parse(&text, s.name).scene, scene, "{}:\n{text}", s.name);
    }
}

#[test]
fn a_scaled_scene_has_more_grains_at_the_same_density_and_still_checks() {
    for s in gallery() {
        let one = parse(s.source, s.name);
        let many = one.scaled(4.0).unwrap_or_else(|e| panic!("{} × 4:\n{}", s.name, e.listing()));
        for (a, b) in one.scene.grains.iter().zip(&many.scene.grains) {
            if let (Place::Fill(f), Place::Fill(g)) = (&a.place, &b.place) {
                // A lattice fills what there is; its number is not stated.
                assert_eq!(g.count, f.count.map(|n| 4 * n), "{}", s.name);
                assert_eq!(a.radius, b.radius, "{}: grains keep their size", s.name);
                let ratio = g.region.to_core().volume() / f.region.to_core().volume();
                assert!((ratio - 4.0).abs() < 1e-12, "{}: the region grows with the grains", s.name);
            }
        }
        let back = many.scene.scaled(0.25);
        assert!((back.duration - one.scene.duration).abs() < 1e-12);
        assert!((back.domain.max - one.scene.domain.max).length() < 1e-12);
        // Froude: length over gravity times squared time stays.
        let froude = |s: &Scene| (s.domain.max - s.domain.min).length() / s.duration.powi(2);
        assert!((froude(&many.scene) / froude(&one.scene) - 1.0).abs() < 1e-12);
    }
}

fn as_json(text: &str) -> serde_json::Value {
    serde_json::to_value(text.parse::<toml::Table>().unwrap()).unwrap()
}
