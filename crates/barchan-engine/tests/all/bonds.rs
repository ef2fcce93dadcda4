//! Bonds as a scene has them.

use crate::common;
use common::{run, world_of as world};
use std::f64::consts::PI;

const GRAINS: usize = 8;
const RADIUS: f64 = 0.05;
const YOUNG: f64 = 2e6;

/// A chain that hangs from a ceiling.
fn chain(bonds: &str) -> String {
    let at: Vec<String> = (0..GRAINS).map(|k| format!("[0, 0, {}]", 1.5 - RADIUS * (2 * k + 1) as f64)).collect();
    format!(
        r#"
duration = 4
[domain]
min = [-1, -1, 0]
max = [1, 1, 2]
[integrator]
precision = "double"
[materials.snow]
density = 400
young = "2 MPa"
poisson = 0.3
restitution = 0.3
friction = 0.4
[[walls]]
name = "ceiling"
plane = {{ point = [0, 0, 1.5], normal = [0, 0, -1] }}
material = "snow"
[[walls]]
plane = {{ point = [0, 0, 0], normal = [0, 0, 1] }}
material = "snow"
[[grains]]
material = "snow"
radius = {RADIUS}
at = [{}]
{bonds}
"#,
        at.join(", ")
    )
}

#[test]
fn a_chain_that_hangs_from_a_ceiling_stretches_under_its_own_weight() {
    let mut w = world(&chain(
        "bonds = { young = \"2 MPa\", tensile = \"1 MPa\", damping = 1, base = { tensile = \"1 MPa\" } }",
    ));
    assert!(w.plan().dt_reason.contains("bonds"), "{}", w.plan().dt_reason);
    let bonds =
        |w: &barchan_engine::World| w.frame().pairs.iter().find(|p| p.name == "bonds").map_or(0, |p| p.id.len());
    assert_eq!(bonds(&w), GRAINS);
    let end = |w: &barchan_engine::World| w.frame().grains().position.iter().map(|x| x.z).fold(f64::MAX, f64::min);
    let before = end(&w);
    run(&mut w, 4.0);
    let weight = 400.0 * 4.0 / 3.0 * PI * RADIUS.powi(3) * 9.81;
    let area = PI * RADIUS * RADIUS;
    let n = GRAINS as f64;
    // The first bond is a radius long and bears all; the others are a diameter long.
    let exact = weight / (YOUNG * area) * (n * RADIUS + 2.0 * RADIUS * n * (n - 1.0) / 2.0);
    let found = before - end(&w);
    println!("{found} m, exact {exact} m");
    assert!((found / exact - 1.0).abs() < 1e-3, "{found} {exact}");
    assert_eq!(bonds(&w), GRAINS);
}

#[test]
fn a_chain_that_is_too_weak_falls() {
    let weak = "bonds = { young = \"2 MPa\", tensile = \"100 kPa\", base = { tensile = \"0.5 kPa\" } }";
    let mut w = world(&chain(weak));
    run(&mut w, 0.3);
    // Only the ceiling's bond broke.
    let pairs = w.frame().pairs.iter().find(|p| p.name == "bonds").map_or(0, |p| p.id.len());
    assert_eq!(pairs, GRAINS - 1);
    let fallen = 1.5 - RADIUS - w.frame().grains().position[0].z;
    assert!(fallen > 0.8 * 0.5 * 9.81 * 0.3 * 0.3, "{fallen}");
}

#[test]
fn bonds_that_cannot_be_are_refused_with_a_remedy() {
    let refused = |bonds: &str| {
        let text = chain(bonds);
        let parsed = barchan_engine::load(&text, "bonds", std::path::Path::new("."));
        let listing = match parsed {
            Err(e) => e.listing(),
            Ok(parsed) => barchan_engine::assemble(&parsed).err().map(|e| e.listing()).unwrap_or_default(),
        };
        listing.to_string()
    };
    let has = |bonds: &str, words: &str| {
        let found = refused(bonds);
        assert!(found.contains(words), "{bonds}: {found}");
    };
    has("bonds = { tensile = 1000 }", "young");
    has("bonds = { young = \"1 MPa\", tensile = 0 }", "tensile strength");
    has("bonds = { young = \"1 MPa\", tensile = \"1 m\" }", "pressure");
    let ok = "bonds = { young = \"1 MPa\", tensile = 1000 }";
    has(&format!("{ok}\n[ground]\ncell = 0.1\n[ground.exchange]"), "cannot be bonded");
}
