//! Every scene of the gallery loads, assembles and runs its first steps with finite numbers and small overlaps.

use barchan::prelude::*;
use barchan::scene::gallery;

#[test]
fn every_gallery_scene_runs_its_first_steps() {
    assert!(gallery().len() >= 11, "the gallery is complete");
    for scene in gallery() {
        let parsed = load(scene.name).unwrap_or_else(|e| panic!("{}: {e}", scene.name));
        assert!(parsed.warnings.is_empty(), "{}: {:?}", scene.name, parsed.warnings);
        let mut world = assemble(&parsed).unwrap_or_else(|e| panic!("{}: {}", scene.name, e.listing()));
        let before = world.frame().position.len();
        for _ in 0..40 {
            world.step().unwrap_or_else(|e| panic!("{}: {e}", scene.name));
        }
        let frame = world.frame();
        assert!(frame.position.iter().chain(frame.velocity.iter()).all(|v| v.is_finite()), "{}", scene.name);
        assert!(world.dem().largest_overlap() < parsed.scene.integrator.max_overlap, "{}", scene.name);
        let peopled = world.summary().grains_at_end > 10 || parsed.scene.ground.is_some();
        assert!(frame.len() >= before && peopled, "{} has grains", scene.name);
    }
}

#[test]
fn a_scaled_scene_has_that_many_times_the_grains() {
    let parsed = load("hourglass").unwrap();
    let plain = assemble(&parsed).unwrap().summary().grains_at_end as f64;
    let scaled = assemble(&parsed.scaled(2.0).unwrap()).unwrap().summary().grains_at_end as f64;
    assert!((scaled / plain - 2.0).abs() < 0.02, "{plain} → {scaled}");
}
