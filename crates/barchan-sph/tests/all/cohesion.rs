//! A vertical cut stands if its cohesion carries it: H_c = 4c/(ρg) tan(45° + φ/2).

use crate::common::*;
use barchan_sph::Settings;
use glam::DVec3;

/// Share of the height that a vertical cut has lost after a while, for a height so many times the critical one.
fn sinks(times: f64) -> f64 {
    let (height, phi) = (16.0 * D, 30f64.to_radians());
    let domain = slice(0.8, 1.0, false);
    let mut settings = Settings::sand(D, domain);
    settings.kinds[0].friction_angle = phi;
    let critical = height / times;
    settings.kinds[0].cohesion =
        critical * settings.bulk_density * G / (4.0 * (std::f64::consts::FRAC_PI_4 + 0.5 * phi).tan());
    let left = plane("left", DVec3::new(-12.0 * D, 0.0, 0.0), DVec3::X);
    let mut scene = Scene::new(settings, walls(vec![floor(), left]));
    scene.fill([DVec3::new(-12.0 * D, 0.0, 0.0), DVec3::new(0.0, 4.0 * D, height)], 0.02, |_| true);
    let toe = |s: &Scene| s.particles().position.iter().map(|x| x.x).fold(f64::MIN, f64::max);
    let before = toe(&scene);
    scene.run(0.8);
    (toe(&scene) - before) / height
}

#[test]
fn a_vertical_cut_stands_below_its_critical_height_and_falls_above() {
    let (low, high) = (sinks(0.7), sinks(1.6));
    assert!(low < 0.05, "the low cut moved by {low} of its height");
    assert!(high > 0.15, "the high cut moved by {high} of its height");
}
