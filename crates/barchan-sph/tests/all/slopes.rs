//! Slopes: what stands, what flows, and how fast.

use crate::common::*;
use barchan_core::solver::Solver;
use barchan_sph::Settings;
use glam::DVec3;

/// A wedge of sand cut at an angle [°] on a rough floor.
fn wedge(phi: f64, slope: f64) -> Scene {
    let domain = slice(1.2, 1.0, false);
    let mut settings = Settings::sand(D, domain);
    settings.kinds[0].friction_angle = phi.to_radians();
    let mut scene = Scene::new(settings, walls(vec![floor()]));
    let (height, tan) = (14.0 * D, slope.to_radians().tan());
    let half = height / tan;
    scene.fill([DVec3::new(-1.1, 0.0, 0.0), DVec3::new(1.1, 4.0 * D, height)], 0.05, |x| {
        x.z < height - x.x.abs() * tan && x.x.abs() < half
    });
    scene
}

fn toe(scene: &Scene) -> f64 {
    scene.particles().position.iter().map(|x| x.x).fold(0.0, f64::max)
}

fn centre(scene: &Scene) -> f64 {
    let p = scene.particles();
    p.position.iter().map(|x| x.z).sum::<f64>() / p.len() as f64
}

#[test]
fn a_wedge_two_degrees_below_its_friction_angle_stands_still() {
    for phi in [20.0, 30.0, 40.0] {
        let mut scene = wedge(phi, phi - 2.0);
        scene.run(1.5);
        let before = (toe(&scene), centre(&scene));
        scene.run(1.5);
        assert!((toe(&scene) - before.0).abs() < 0.1 * D, "{phi}°: the toe went from {} to {}", before.0, toe(&scene));
        assert!((centre(&scene) - before.1).abs() < 0.02 * D, "{phi}°: the heap sank");
        let rms = scene.gauge("rms speed");
        assert!(rms < 1e-3 * (G * D).sqrt(), "{phi}°: {rms} m/s");
    }
}

#[test]
fn a_layer_on_a_slope_accelerates_by_what_friction_leaves() {
    for (phi, slope) in [(20.0f64, 25.0f64), (30.0, 35.0), (30.0, 40.0)] {
        let domain = slice(4.0 * D, 0.5, true);
        let mut settings = Settings::sand(D, domain);
        settings.kinds[0].friction_angle = phi.to_radians();
        let (sin, cos) = slope.to_radians().sin_cos();
        settings.gravity = DVec3::new(G * sin, 0.0, -G * cos);
        let mut scene = Scene::new(settings, walls(vec![floor()]));
        scene.fill(
            [domain.min * DVec3::new(1.0, 1.0, 0.0), DVec3::new(domain.max.x, domain.max.y, 10.0 * D)],
            0.05,
            |_| true,
        );
        let mean = |scene: &Scene| scene.sph.totals().momentum.x / scene.sph.totals().mass;
        scene.run(0.15);
        let before = (mean(&scene), scene.step as f64 * scene.dt);
        scene.run(0.2);
        let found = (mean(&scene) - before.0) / (scene.step as f64 * scene.dt - before.1);
        let exact = G * (sin - phi.to_radians().tan() * cos);
        assert!((found / exact - 1.0).abs() < 0.03, "{phi}° on {slope}°: {found} m/s² in place of {exact}");
    }
}

#[test]
fn matter_that_flows_is_shown_at_its_yield_bound_and_matter_that_stands_below_it() {
    let domain = slice(4.0 * D, 0.5, true);
    for (slope, flows) in [(40.0f64, true), (15.0, false)] {
        let mut settings = Settings::sand(D, domain);
        settings.kinds[0].friction_angle = 30f64.to_radians();
        settings.gravity = DVec3::new(G * slope.to_radians().sin(), 0.0, -G * slope.to_radians().cos());
        let mut scene = Scene::new(settings, walls(vec![floor()]));
        scene.fill(
            [domain.min * DVec3::new(1.0, 1.0, 0.0), DVec3::new(domain.max.x, domain.max.y, 10.0 * D)],
            0.05,
            |_| true,
        );
        scene.run(if flows { 0.5 } else { 1.5 });
        let (used, state) = (scene.column("friction used"), scene.column("state"));
        let at_yield = state.iter().filter(|s| **s == 2.0).count() as f64 / state.len() as f64;
        assert_eq!(at_yield > 0.1, flows, "on {slope}° a share of {at_yield} yields");
        assert!(used.iter().all(|u| (0.0..=1.0).contains(u)) && used.iter().any(|u| *u > 0.4), "on {slope}°");
    }
}
