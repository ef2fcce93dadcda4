//! Changes while grains move: each does what it says and nothing else.

use crate::common;
use barchan_core::clock::Warp;
use barchan_core::walls::{Geometry, Oscillate, Wall};
use barchan_dem::{Alone, DemError};
use common::*;
use glam::DVec3;

fn momentum(dem: &Alone) -> DVec3 {
    let f = dem.population();
    (0..f.len()).map(|g| f.mass[g] * f.velocity[g]).sum()
}

#[test]
fn a_push_gives_the_momentum_it_says_to_those_within_reach() {
    let mut dem = alone(settings(glass(), HERTZ));
    let grains: Vec<_> = (0..5).map(|k| grain(DVec3::X * 0.01 * f64::from(k), DVec3::Y * 0.1, 1e-3)).collect();
    dem.add(&grains).unwrap();
    run(&mut dem, 3);
    let before = momentum(&dem);
    let given = dem.push(DVec3::ZERO, 0.0151, DVec3::new(0.2, 0.0, 0.3));
    let mass = 2.0 * sphere_mass(1e-3, 2500.0);
    assert!((given - mass * DVec3::new(0.2, 0.0, 0.3)).length() < 1e-12 * mass, "two of the five are within 15.1 mm");
    assert!((momentum(&dem) - before - given).length() < 1e-9 * given.length());
    assert_eq!(state(&dem, 2).1, DVec3::Y * 0.1, "the third is out of reach");
    run(&mut dem, 1000);
    let (x, v, _) = state(&dem, 0);
    assert!((v - DVec3::new(0.2, 0.1, 0.3)).length() < 1e-12 && (x.z - 0.3 * 1e-3).abs() < 1e-12, "{x} {v}");
}

#[test]
fn gravity_turns_without_a_jump_of_velocities() {
    let mut s = settings(glass(), HERTZ);
    s.gravity = DVec3::NEG_Z * 9.81;
    let mut dem = alone(s);
    dem.add(&[grain(DVec3::ZERO, DVec3::ZERO, 1e-3)]).unwrap();
    run(&mut dem, 1000);
    let before = state(&dem, 0).1;
    dem.set_gravity(DVec3::X * 2.0);
    assert!((state(&dem, 0).1 - before).length() < 1e-15);
    run(&mut dem, 1000);
    let exact = DVec3::NEG_Z * 9.81 * 1e-3 + DVec3::X * 2.0 * 1e-3;
    assert!((state(&dem, 0).1 - exact).length() < 1e-12, "a parabola in each half");
}

/// Speed after over before a fall onto the floor.
fn rebound(change: impl Fn(&mut Alone)) -> f64 {
    let mut s = settings(glass(), HERTZ);
    s.walls = vec![floor(DVec3::Z)];
    s.dt = automatic_dt(&s, 1e-3, 0.3);
    let mut dem = alone(s);
    dem.add(&[grain(DVec3::Z * 1.001e-3, DVec3::NEG_Z * 0.2, 1e-3)]).unwrap();
    change(&mut dem);
    through_impact(&mut dem);
    state(&dem, 0).1.z / 0.2
}

#[test]
fn restitution_is_what_was_set_last() {
    let set = |e: f64| {
        move |dem: &mut Alone| {
            let mut m = dem.settings().materials.clone();
            m.list[0].restitution = e;
            dem.set_materials(m).unwrap();
        }
    };
    assert!(rel(rebound(|_| ()), 0.6) < 0.01);
    assert!(rel(rebound(set(0.9)), 0.9) < 0.01);
    // A strongly damped impact at this time step is right to some per cent.
    assert!(rel(rebound(set(0.3)), 0.3) < 0.05);
}

#[test]
fn what_the_time_step_rests_on_cannot_be_changed() {
    let mut dem = alone(settings(glass(), HERTZ));
    let mut m = dem.settings().materials.clone();
    m.list[0].young *= 2.0;
    assert!(matches!(dem.set_materials(m.clone()), Err(DemError::Live(_))));
    m.list[0].young /= 2.0;
    m.list[0].restitution = 1.5;
    assert!(matches!(dem.set_materials(m), Err(DemError::Live(_))));
}

#[test]
fn a_wall_at_another_pace_goes_on_from_where_it_stands() {
    let mut wall = Wall::new("shaker", Geometry::Plane { point: DVec3::ZERO, normal: DVec3::Z }, 0);
    wall.motion.oscillate = Some(Oscillate { direction: DVec3::Z, amplitude: 1e-3, frequency: 100.0, phase: 0.0 });
    let mut s = settings(glass(), HERTZ);
    s.walls = vec![wall];
    let mut dem = alone(s.clone());
    run(&mut dem, 1000);
    let (z, v) = (dem.boundary.states()[0].position.z, dem.boundary.states()[0].velocity.z);
    dem.set_pace(0.5);
    run(&mut dem, 1);
    let after = dem.boundary.states()[0];
    // What the sine bends in a step, A ω² (dt/2)²/2, is 5e-11 m.
    assert!((after.position.z - z - 0.5 * v * 1e-6).abs() < 1e-10, "no jump, half the speed");
    assert!(rel(after.velocity.z, 0.5 * v) < 1e-3);
    run(&mut dem, 1999);
    // 1000 steps of 1 µs at full pace and 2000 at half are 2 ms of the wall's own time.
    let exact = 1e-3 * (std::f64::consts::TAU * 100.0 * 2e-3).sin();
    assert!((dem.boundary.states()[0].position.z - exact).abs() < 1e-12);

    // Back the way it came: to where it stood 1000 steps of full pace ago.
    dem.set_pace(-1.0);
    run(&mut dem, 1000);
    assert!(
        (dem.boundary.states()[0].position.z - z).abs() < 1e-12 && rel(dem.boundary.states()[0].velocity.z, -v) < 1e-9
    );

    // The clock is part of the state.
    let saved = dem.save();
    let column = |name: &str| saved.iter().find(|c| c.0 == name).map(|c| c.1.clone());
    let mut again = resumed(s, &column).unwrap();
    run(&mut dem, 100);
    run(&mut again, 100);
    assert_eq!(dem.boundary.states()[0].position, again.boundary.states()[0].position);
}

#[test]
fn a_clock_nobody_touched_shows_the_time_to_the_bit() {
    let mut warp = Warp::default();
    assert_eq!(warp.at(0.1 + 0.2), 0.1 + 0.2);
    warp.set(0.0, 1.0);
    assert_eq!((warp.at(5.0), warp.factor()), (1.0, 0.0));
    warp.set(2.0, 5.0);
    assert_eq!(warp.at(6.0), 3.0);
    warp.set(f64::NAN, 7.0);
    assert_eq!(Warp::from_column(&warp.column()), Some(warp));
}
