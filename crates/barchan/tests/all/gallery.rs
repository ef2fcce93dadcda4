//! Every scene of the gallery loads, assembles and runs its first steps with finite numbers and small overlaps.

use barchan::engine::bench;
use barchan::prelude::*;
use barchan::scene::{bench_scenes, gallery};

#[test]
fn every_gallery_scene_runs_its_first_steps() {
    assert!(gallery().len() >= 11, "the gallery is complete");
    for scene in gallery() {
        let parsed = load(scene.name).unwrap_or_else(|e| panic!("{}: {e}", scene.name));
        assert!(parsed.warnings.is_empty(), "{}: {:?}", scene.name, parsed.warnings);
        let mut world = assemble(&parsed).unwrap_or_else(|e| panic!("{}: {}", scene.name, e.listing()));
        let before = matter(&world);
        for _ in 0..few(&parsed, 40) {
            world.step().unwrap_or_else(|e| panic!("{}: {e}", scene.name));
        }
        let frame = world.frame();
        for p in &frame.populations {
            assert!(p.position.iter().chain(p.velocity.iter()).all(|v| v.is_finite()), "{}: {}", scene.name, p.name);
        }
        assert!(world.gauge("largest overlap").unwrap_or(0.0) < parsed.scene.integrator.max_overlap, "{}", scene.name);
        let peopled = world.summary().pieces_at_end() > 10 || parsed.scene.ground.is_some();
        assert!(matter(&world) >= before && peopled, "{} has grains", scene.name);
    }
}

/// Pieces of matter; grains that are only shown come and go with what there is to see.
fn matter(world: &World) -> usize {
    let frame = world.frame();
    frame.populations.iter().filter(|p| p.name != barchan::core::frame::UPSAMPLED).map(|p| p.len()).sum()
}

/// Steps after which the hash of every scene is committed.
const STEPS: u64 = 300;

/// So many world steps, or hundreds of times fewer where matter is a continuum, whose steps are as much longer.
fn few(parsed: &Parsed, steps: u64) -> u64 {
    if parsed.scene.continuum.is_empty() { steps } else { steps.div_ceil(150) }
}

/// A name and the hash of its state after its first steps, of every gallery scene, benchmark case and scene of the benchmarks.
fn hashes() -> Vec<(String, u64)> {
    let of = |room: &str, name: &str| {
        let parsed = load(name).unwrap();
        let mut world = assemble(&parsed).unwrap_or_else(|e| panic!("{}", e.listing()));
        (0..few(&parsed, STEPS)).for_each(|_| world.step().unwrap_or_else(|e| panic!("{name}: {e}")));
        (format!("{room}/{name}"), world.hash())
    };
    let scenes = gallery().iter().map(|scene| of("gallery", scene.name));
    let cases = bench::hashes().unwrap().into_iter().map(|(name, hash)| (format!("bench/{name}"), hash));
    scenes.chain(cases).chain(bench_scenes().iter().map(|scene| of("bench", scene.name))).collect()
}

fn listing(hashes: &[(String, u64)]) -> String {
    hashes.iter().map(|(name, hash)| format!("{name} {hash:016x}\n")).collect()
}

/// A change of bits is always a decision: whoever means it writes the new hashes with
/// `BARCHAN_WRITE_HASHES=1 cargo test --test gallery hashes` and says in the commit why they change.
#[test]
fn hashes_of_all_scenes_are_those_committed_on_1_2_7_and_16_threads() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes/hashes.txt");
    let pool = |threads: usize| rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    if std::env::var_os("BARCHAN_WRITE_HASHES").is_some() {
        std::fs::write(&path, listing(&pool(2).install(hashes))).unwrap();
    }
    let committed = std::fs::read_to_string(&path).unwrap();
    for threads in [1, 2, 7, 16] {
        let found = listing(&pool(threads).install(hashes));
        let differ: Vec<_> = committed.lines().zip(found.lines()).filter(|(a, b)| a != b).collect();
        assert!(
            differ.is_empty() && committed.lines().count() == found.lines().count(),
            "{threads} threads: {differ:?}"
        );
    }
}

#[test]
fn a_scaled_scene_has_that_many_times_the_grains() {
    let parsed = load("hourglass").unwrap();
    let plain = assemble(&parsed).unwrap().summary().pieces_at_end() as f64;
    let scaled = assemble(&parsed.scaled(2.0).unwrap()).unwrap().summary().pieces_at_end() as f64;
    assert!((scaled / plain - 2.0).abs() < 0.02, "{plain} → {scaled}");
}
