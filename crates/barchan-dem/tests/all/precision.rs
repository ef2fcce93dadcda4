//! Mixed precision must not show: what a bed at rest looks like is the same as all in f64.

use crate::common;
use barchan_core::materials::Material;
use barchan_core::rng::Random;
use barchan_core::solver::{Domain, Partner};
use barchan_core::walls::{Geometry, Side, Wall};
use barchan_dem::{Alone, Precision};
use common::*;
use glam::DVec3;

const RADIUS: f64 = 1e-3;

/// A thousand grains poured into a box of ten diameters, at rest.
fn bed(precision: Precision) -> Alone {
    let mut s = settings(glass(), HERTZ);
    s.precision = precision;
    s.gravity = DVec3::Z * -9.81;
    let side = 20.0 * RADIUS;
    s.domain =
        Domain { min: DVec3::splat(-RADIUS), max: DVec3::new(side + RADIUS, side + RADIUS, 0.2), periodic: [false; 3] };
    let open = [false, false, false, false, false, true];
    let sides = Geometry::Box { min: DVec3::ZERO, max: DVec3::new(side, side, 0.2), side: Side::Inside, open };
    s.walls = vec![Wall::new("box", sides, 0)];
    s.dt = 1.3e-5;
    let mut dem = alone(s);
    let mut rng = Random::new(5, 0);
    let pitch = side / 8.0;
    let grains: Vec<_> = (0..1000)
        .map(|k| {
            let site = DVec3::new((k % 8) as f64, (k / 8 % 8) as f64, (k / 64) as f64) + 0.5;
            grain(site * pitch + rng.in_ball() * 0.1 * RADIUS, rng.in_ball() * 0.3, RADIUS)
        })
        .collect();
    dem.add(&grains).unwrap();
    run(&mut dem, 25_000);
    dem
}

/// Normal forces of the contacts between grains, over their mean, sorted.
fn forces(dem: &Alone) -> Vec<f64> {
    let between = |c: &barchan_core::solver::Contact| matches!(c.partner, Partner::Grain(_));
    let mut forces: Vec<f64> = dem.contacts().iter().filter(|c| between(c)).map(|c| c.normal_force).collect();
    let mean = forces.iter().sum::<f64>() / forces.len() as f64;
    forces.iter_mut().for_each(|f| *f /= mean);
    forces.sort_by(f64::total_cmp);
    forces
}

/// Mean and variance of the contacts of a grain.
fn contacts_a_grain(dem: &Alone) -> (f64, f64) {
    let frame = dem.population();
    let column = frame.extras.iter().find(|e| e.name == "coordination").unwrap();
    let n = column.values.len() as f64;
    let numbers = || (0..column.values.len()).map(|row| column.values.number(row));
    let mean = numbers().sum::<f64>() / n;
    (mean, numbers().map(|z| (z - mean).powi(2)).sum::<f64>() / n)
}

#[test]
fn a_settled_bed_is_the_same_in_mixed_precision_as_in_double() {
    let [mixed, double] = [Precision::Mixed, Precision::Double].map(bed);
    // Two runs part after a few collisions, as chaotic as these are: beds are compared as two samples of one population.
    let [a, b] = [&mixed, &double].map(contacts_a_grain);
    let spread = ((a.1 + b.1) / 1000.0).sqrt();
    assert!((a.0 - b.0).abs() < 3.0 * spread, "coordination {:.3} and {:.3}, expected within {spread:.3}", a.0, b.0);
    let (a, b) = (mixed.energies(), double.energies());
    assert!((a.gravity / b.gravity - 1.0).abs() < 0.01, "height {:.4e} and {:.4e}", a.gravity, b.gravity);
    // At rest: less than a millionth of what the grains had while they fell.
    for e in [&a, &b] {
        assert!(e.translation + e.rotation < 1e-6 * e.gravity, "{:.2e} J", e.translation + e.rotation);
    }
    let (a, b) = (forces(&mixed), forces(&double));
    // Kolmogorov and Smirnov's distance; 1.63 √((n + m)/(n m)) is exceeded by chance once in a hundred.
    let share = |f: &[f64], x: f64| f.partition_point(|&y| y <= x) as f64 / f.len() as f64;
    let apart = a.iter().map(|&x| (share(&a, x) - share(&b, x)).abs()).fold(0.0, f64::max);
    let (n, m) = (a.len() as f64, b.len() as f64);
    assert!(apart < 1.63 * ((n + m) / (n * m)).sqrt(), "distributions of force are {apart:.4} apart");
}

/// The overlap of a stiff grain under its own weight is a millionth of its radius: what f32 positions could not resolve.
#[test]
fn a_stiff_stack_at_rest_carries_its_weight_in_both_precisions() {
    for precision in [Precision::Mixed, Precision::Double] {
        let mut s = settings(Material { young: 70e9, restitution: 0.3, ..glass() }, HERTZ);
        s.precision = precision;
        s.gravity = DVec3::Z * -9.81;
        s.walls = vec![floor(DVec3::Z)];
        s.dt = automatic_dt(&s, RADIUS, 1e-3);
        let weight = 9.81 * sphere_mass(RADIUS, 2500.0);
        let mut dem = alone(s);
        // Far from the origin of the domain, at a micron above rest.
        let grains: Vec<_> =
            (0..4).map(|k| grain(DVec3::new(0.9, -0.7, RADIUS * (2 * k + 1) as f64), DVec3::ZERO, RADIUS)).collect();
        dem.add(&grains).unwrap();
        run(&mut dem, 60_000);
        let mut pressed: Vec<f64> = dem.contacts().iter().map(|c| c.normal_force / weight).collect();
        pressed.sort_by(f64::total_cmp);
        assert_eq!(pressed.len(), 4, "{precision:?}: {pressed:?}");
        for (k, p) in pressed.iter().enumerate() {
            let exact = (k + 1) as f64;
            assert!((p / exact - 1.0).abs() < 2e-3, "{precision:?}: {p:.5} of {exact} grains' weight");
        }
    }
}
