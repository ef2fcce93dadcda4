//! What nobody gives and nobody takes: momentum, energy, mass.

use crate::common::*;
use barchan_core::solver::{Domain, Solver};
use barchan_sph::{Filling, Precision, Settings};
use glam::DVec3;

/// Two blobs that fly at each other, without gravity or walls.
fn blobs(precision: Precision, angle: f64) -> Scene {
    let domain = Domain { min: DVec3::splat(-0.5), max: DVec3::splat(0.5), periodic: [false; 3] };
    let mut settings = Settings::sand(D, domain);
    settings.gravity = DVec3::ZERO;
    settings.largest_step = 2e-3;
    settings.kinds[0].friction_angle = angle.to_radians();
    settings.precision = precision;
    let mut scene = Scene::new(settings, walls(Vec::new()));
    for (side, velocity) in [(-1.0, DVec3::new(1.0, 0.1, 0.0)), (1.0, DVec3::new(-0.8, 0.0, 0.2))] {
        let middle = DVec3::new(side * 6.0 * D, 0.0, 0.0);
        let corners = [middle - DVec3::splat(5.0 * D), middle + DVec3::splat(5.0 * D)];
        let filling = Filling { corners, spacing: D, jitter: 0.05, velocity, kind: 0, seed: 1 };
        let filled = filling.fill(&|x| x.distance(middle) < 4.6 * D, &scene.boundary, DVec3::ZERO, 1550.0);
        scene.sph.add(&filled.matter, &scene.boundary).unwrap();
    }
    scene
}

#[test]
fn blobs_that_meet_keep_their_momentum_and_gain_no_energy() {
    for (precision, rounding) in [(Precision::Mixed, 1e-6), (Precision::Double, 1e-12)] {
        let mut scene = blobs(precision, 30.0);
        let before = scene.sph.totals();
        let p = scene.particles();
        let size: f64 = p.velocity.iter().zip(&*p.mass).map(|(v, m)| m * v.length()).sum();
        let mut energy = before.energies.kinetic();
        for step in 0..100 {
            scene.advance();
            let now = scene.sph.totals();
            let lost = (now.momentum - before.momentum).length() / size;
            assert!(lost < rounding, "{precision:?}: momentum is off by {lost:.1e} after {step} steps");
            let kinetic = now.energies.kinetic();
            assert!(
                kinetic < energy * (1.0 + 1e-6),
                "{precision:?}: energy rose from {energy} to {kinetic} in step {step}"
            );
            energy = kinetic;
        }
        assert!(energy < 0.5 * before.energies.kinetic(), "they have met: {energy}");
    }
}

#[test]
fn matter_that_leaves_is_accounted_for() {
    let mut scene = blobs(Precision::Mixed, 30.0);
    let before = scene.sph.totals().mass;
    scene.run(0.05);
    let gone = scene.sph.remove_where(&|_, x| x.x < 0.0);
    let mass: f64 = gone.iter().map(|g| g.mass).sum();
    assert!(!gone.is_empty() && (mass + scene.sph.totals().mass - before).abs() < 1e-12 * before);
    scene.run(0.05);
}
