//! Momentum, angular momentum, energy.

use crate::common;
use barchan_core::materials::Material;
use barchan_core::rng::Random;
use barchan_core::shapes::Shape;
use barchan_core::solver::Domain;
use barchan_dem::{Alone, Precision};
use common::*;
use glam::{DQuat, DVec3};

/// A cloud of grains thrown together, free of walls and gravity.
fn cloud(mut s: Setup, n: usize, shape: u16) -> Alone {
    s.dt = 2e-6;
    let mut dem = alone(s);
    let mut rng = Random::new(3, 0);
    let side = (n as f64).cbrt().ceil() as usize;
    let mut grains = Vec::new();
    for k in 0..n {
        let cell = DVec3::new((k % side) as f64, (k / side % side) as f64, (k / side / side) as f64);
        let x = (cell - 0.5 * (side - 1) as f64) * 3.6e-3;
        let mut g = grain(x, -x * 30.0 + rng.in_ball() * 0.2, 1e-3);
        g.spin = rng.in_ball() * 300.0;
        g.orientation = rng.unit_quaternion();
        g.shape = shape;
        grains.push(g);
    }
    dem.add(&grains).unwrap();
    dem
}

fn momenta(dem: &Alone) -> (DVec3, DVec3) {
    let f = dem.population();
    let (mut p, mut l) = (DVec3::ZERO, DVec3::ZERO);
    for k in 0..f.len() {
        let shape = &f.shapes[f.shape[k] as usize];
        let inertia = f.mass[k] / shape.volume() * shape.inertia() * (f.radius[k] * f.radius[k]);
        let q = f.orientation.get(k).copied().unwrap_or(DQuat::IDENTITY);
        p += f.mass[k] * f.velocity[k];
        l += f.mass[k] * f.position[k].cross(f.velocity[k]) + q * (inertia * (q.inverse() * f.spin[k]));
    }
    (p, l)
}

#[test]
fn momentum_and_angular_momentum_are_kept_to_rounding() {
    for (precision, tolerance) in [(Precision::Mixed, 1e-6), (Precision::Double, 1e-12)] {
        for shape in [0, 1] {
            let mut s = settings(glass(), HERTZ);
            s.precision = precision;
            let mut dem = cloud(s, 300, shape);
            let (p0, l0) = momenta(&dem);
            let f = dem.population();
            let scale: f64 = (0..f.len()).map(|k| f.mass[k] * f.velocity[k].length()).sum();
            let turning: f64 = (0..f.len()).map(|k| f.mass[k] * f.velocity[k].length() * f.position[k].length()).sum();
            let mut met = 0;
            for _ in 0..40 {
                run(&mut dem, 250);
                met += dem.contacts().len();
            }
            assert!(met > 500, "only {met} contacts");
            let (p, l) = momenta(&dem);
            assert!(
                (p - p0).length() / scale < tolerance,
                "{precision:?} {shape}: momentum off by {}",
                (p - p0).length() / scale
            );
            assert!(
                (l - l0).length() / turning < tolerance,
                "{precision:?} {shape}: angular momentum off by {}",
                (l - l0).length() / turning
            );
        }
    }
}

/// Spin about the axis of intermediate inertia flips over and over; energy and angular momentum stay.
#[test]
fn a_tumbling_clump_keeps_energy_and_angular_momentum() {
    let (shape, radius) = Shape::clump(
        "l",
        &[(DVec3::ZERO, 1e-3), (DVec3::X * 1.5e-3, 0.8e-3), (DVec3::X * 3e-3, 0.6e-3), (DVec3::Y * 1.2e-3, 0.7e-3)],
    )
    .unwrap();
    let mut s = settings(glass(), HERTZ);
    s.shapes = vec![shape].into();
    s.dt = 1e-5;
    let mut dem = alone(s);
    let mut g = grain(DVec3::ZERO, DVec3::ZERO, radius);
    g.spin = DVec3::new(0.5, 300.0, 0.5);
    dem.add(&[g]).unwrap();
    let ((_, l0), e0) = (momenta(&dem), dem.energies().rotation);
    let mut flips = 0;
    let mut side = 1.0;
    for _ in 0..400 {
        run(&mut dem, 250);
        let (_, l) = momenta(&dem);
        assert!((l - l0).length() / l0.length() < 1e-9);
        assert!(rel(dem.energies().rotation, e0) < 2e-4, "energy off by {:.1e}", rel(dem.energies().rotation, e0));
        let f = dem.population();
        let own = (f.orientation[0].inverse() * f.spin[0]).y.signum();
        if own != side {
            flips += 1;
            side = own;
        }
    }
    assert!(flips >= 3, "the intermediate axis should flip: {flips}");
}

/// e = 1, no friction, smooth walls: total energy of a gas stays over thousands of impacts.
#[test]
fn an_elastic_gas_keeps_its_energy() {
    use barchan_core::walls::{Geometry, Side, Wall};
    for precision in [Precision::Mixed, Precision::Double] {
        let mut s = settings(Material { restitution: 1.0, friction: 0.0, ..glass() }, HERTZ);
        s.precision = precision;
        s.walls = vec![Wall::new(
            "box",
            Geometry::Box { min: DVec3::splat(-8e-3), max: DVec3::splat(8e-3), side: Side::Inside, open: [false; 6] },
            0,
        )];
        s.domain = Domain { min: DVec3::splat(-0.01), max: DVec3::splat(0.01), periodic: [false; 3] };
        let dt = automatic_dt(&s, 1e-3, 1.0);
        let mut dem = cloud(s, 64, 0);
        let total = |d: &Alone| d.energies().translation + d.energies().rotation + d.energies().elastic;
        let e0 = total(&dem);
        let mut met = 0;
        for _ in 0..100 {
            run(&mut dem, (1e-3 / dt) as u64);
            met += dem.contacts().len();
        }
        assert!(met > 100);
        assert!(rel(total(&dem), e0) < 3e-3, "{precision:?}: energy {} from {e0}", total(&dem));
    }
}

#[test]
fn a_spinning_sphere_keeps_its_spin() {
    // Longmore's eq. 3.49 sets ω from the torque each step: without torque the grain would stop.
    let mut dem = alone(settings(glass(), HERTZ));
    let mut g = grain(DVec3::ZERO, DVec3::ZERO, 1e-3);
    g.spin = DVec3::new(1.0, -2.0, 3.0);
    dem.add(&[g]).unwrap();
    run(&mut dem, 1000);
    assert!((state(&dem, 0).2 - g.spin).length() < 1e-12);
}
