//! Grains on the surface of a ground, whose heights change; loads from outside.

use crate::common;
use barchan_core::columns::Column;
use barchan_core::relief::Relief;
use barchan_core::walls::{Bed, Geometry, Wall};
use barchan_dem::Alone;
use common::*;
use glam::{DVec2, DVec3};
use std::sync::Arc;

/// A ground of 5 mm cells, 0.2 m wide, about the origin.
fn relief(height: impl Fn(DVec2) -> f64) -> Arc<Relief> {
    let size = [40, 40];
    let mut relief = Relief { origin: DVec3::new(-0.1, -0.1, -0.2), cell: 5e-3, size, height: vec![0.0; 1600] };
    for cell in 0..relief.height.len() {
        relief.height[cell] = 0.2 + height(relief.point(cell).truncate());
    }
    Arc::new(relief)
}

fn bed(height: impl Fn(DVec2) -> f64) -> Wall {
    Wall::new("ground", Geometry::Relief(Arc::new(Bed::new(relief(height)))), 0)
}

fn world(wall: Wall) -> Setup {
    let mut s = settings(glass(), HERTZ);
    s.gravity = DVec3::NEG_Z * 9.81;
    s.walls = vec![wall];
    s.dt = automatic_dt(&s, 2e-3, 1.0);
    s
}

#[test]
fn on_a_slope_of_heights_a_grain_rolls_as_on_a_plane() {
    let rise = 0.3_f64;
    let normal = DVec3::new(-rise, 0.0, 1.0).normalize();
    let start = grain(normal * 2.001e-3, DVec3::new(0.0, 0.2, 0.0), 2e-3);
    let end = |wall: Wall| {
        let mut dem = alone(world(wall));
        dem.add(&[start]).unwrap();
        while dem.time() < 0.12 {
            dem.step().unwrap();
        }
        state(&dem, 0)
    };
    let (slope, plane) = (end(bed(|p| rise * p.x)), end(floor(normal)));
    assert!(plane.0.x < -0.01 && plane.2.length() > 10.0, "it has rolled over several cells: {plane:?}");
    assert!((slope.0 - plane.0).length() < 1e-6 && (slope.1 - plane.1).length() < 1e-4, "{slope:?} {plane:?}");
    assert!((slope.2 - plane.2).length() < 1e-3 * plane.2.length());
}

#[test]
fn without_friction_and_loss_energy_stays_on_hills_and_in_valleys() {
    let mut material = glass();
    (material.friction, material.restitution) = (0.0, 1.0);
    let hills = |p: DVec2| 4e-3 * (150.0 * p.x).sin() * (110.0 * p.y).cos();
    let mut s = world(bed(hills));
    s.materials.list[0] = material;
    s.dt /= 4.0;
    let mut dem = alone(s);
    dem.add(&[grain(DVec3::new(0.01, 0.02, 0.012), DVec3::new(0.1, -0.15, 0.0), 2e-3)]).unwrap();
    let energy = |dem: &Alone| {
        let e = dem.energies();
        e.translation + e.rotation + e.elastic + e.gravity
    };
    let (first, mut bounces, mut worst) = (energy(&dem), 0, 0.0_f64);
    let depth = dem.energies().gravity - sphere_mass(2e-3, 2500.0) * 9.81 * 1.0;
    let moving = first - dem.energies().gravity + depth;
    while dem.time() < 0.3 {
        dem.step().unwrap();
        let touching = !dem.contacts().is_empty();
        bounces += usize::from(touching);
        worst = worst.max((energy(&dem) - first).abs());
    }
    assert!(bounces > 200, "it has touched: {bounces} steps");
    assert!(worst < 0.01 * moving, "energy wanders by {worst:.2e} of {moving:.2e} J");
}

#[test]
fn a_ground_that_rises_misses_no_grain() {
    let mut s = world(bed(|_| 0.0));
    s.gravity = DVec3::ZERO;
    let mut dem = alone(s);
    // At rest a hundred radii above the ground: far out of the reach of any list.
    dem.add(&[grain(DVec3::new(0.01, 0.02, 0.2), DVec3::ZERO, 2e-3)]).unwrap();
    run(&mut dem, 5);
    assert!(dem.contacts().is_empty());
    let hill = |p: DVec2| if p.distance(DVec2::new(0.01, 0.02)) < 0.02 { 0.1981 } else { 0.0 };
    dem.boundary.set_relief(0, relief(hill)).unwrap();
    run(&mut dem, 1);
    let found = dem.contacts();
    assert!(found.len() == 1 && (found[0].overlap - 0.1e-3).abs() < 1e-9, "{found:?}");
    // Small rises, each within the lists' reach, add up.
    let mut dem = alone({
        let mut s = world(bed(|_| 0.0));
        s.gravity = DVec3::ZERO;
        s
    });
    dem.add(&[grain(DVec3::new(0.01, 0.02, 4e-3), DVec3::ZERO, 2e-3)]).unwrap();
    for k in 1..=45 {
        // Never just touching, which rounding decides.
        let rise = 5.01e-5 * f64::from(k);
        dem.boundary.set_relief(0, relief(|_| rise)).unwrap();
        run(&mut dem, 1);
        assert_eq!(dem.contacts().is_empty(), rise <= 2e-3, "{k}");
        if !dem.contacts().is_empty() {
            break;
        }
    }
    assert!(dem.boundary.set_relief(1, relief(|_| 0.0)).is_err(), "there is one wall");
    let mut other = (*relief(|_| 0.0)).clone();
    other.cell = 1e-3;
    assert!(dem.boundary.set_relief(0, Arc::new(other)).is_err(), "other cells");
}

#[test]
fn a_load_from_outside_moves_and_turns_a_grain_until_it_is_taken_away() {
    let mut s = settings(glass(), HERTZ);
    s.dt = 1e-4;
    let mut dem = alone(s.clone());
    dem.add(&[grain(DVec3::ZERO, DVec3::ZERO, 1e-3), grain(DVec3::X * 0.1, DVec3::ZERO, 1e-3)]).unwrap();
    let mass = sphere_mass(1e-3, 2500.0);
    let (force, torque) = (DVec3::new(1e-5, 0.0, 2e-5), DVec3::new(0.0, 3e-9, 0.0));
    assert!(dem.set_load(1, force, torque) && !dem.set_load(7, force, torque));
    run(&mut dem, 500);
    let columns = dem.save();
    let mut again = resumed(s, &|name| columns.iter().find(|c| c.0 == name).map(|c| c.1.clone())).unwrap();
    assert!(columns.iter().any(|c| c.0 == "held.id" && c.1 == Column::U32(vec![1])));
    run(&mut dem, 500);
    run(&mut again, 500);
    assert_eq!(dem.hash(), again.hash(), "a load goes into checkpoints");
    // A load begins to act in the step after it was set: 999 steps of 1000, and half of one.
    let (exact, spin) = (force / mass * 0.09995, torque / (0.4 * mass * 1e-6) * 0.09995);
    let (_, v, w) = state(&dem, 1);
    assert!((v - exact).length() < 2e-3 * exact.length() && (w - spin).length() < 2e-3 * spin.length(), "{v} {w}");
    assert_eq!(state(&dem, 0).1, DVec3::ZERO);
    dem.set_load(1, DVec3::ZERO, DVec3::ZERO);
    run(&mut dem, 1);
    let v = state(&dem, 1).1;
    run(&mut dem, 100);
    assert!((state(&dem, 1).1 - v).length() < 1e-12);
}

#[test]
fn a_pinned_grain_stays_and_holds_what_lies_on_it() {
    let mut s = world(bed(|_| 0.0));
    s.precision = barchan_dem::Precision::Double;
    let mut dem = alone(s.clone());
    // One in the air, pinned; one that falls onto it; two pinned ones that overlap.
    let place = |x: f64, z: f64| grain(DVec3::new(x, 0.0, z), DVec3::ZERO, 2e-3);
    dem.add(&[place(0.0, 0.03), place(0.0, 0.0345), place(0.02, 0.03), place(0.0235, 0.03)]).unwrap();
    dem.set_pinned(&[3, 0, 2]);
    let mass = sphere_mass(2e-3, 2500.0);
    while dem.time() < 0.3 {
        dem.step().unwrap();
    }
    assert_eq!((state(&dem, 0).0, state(&dem, 0).1), (DVec3::new(0.0, 0.0, 0.03), DVec3::ZERO));
    assert_eq!(state(&dem, 3).0.x, 0.0235, "they do not push each other");
    assert!((dem.load_on(1).unwrap().0.z / (9.81 * mass) - 1.0).abs() < 1e-3, "it is held");
    let columns = dem.save();
    let mut again = resumed(s, &|name| columns.iter().find(|c| c.0 == name).map(|c| c.1.clone())).unwrap();
    for dem in [&mut dem, &mut again] {
        run(dem, 100);
        dem.set_pinned(&[]);
        run(dem, 100);
    }
    assert_eq!(dem.hash(), again.hash());
    assert!(state(&dem, 0).1.z < -0.001 && state(&dem, 2).1.x < -0.001, "let go, it falls, and is pushed");
}
