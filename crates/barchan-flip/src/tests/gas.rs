//! Gas: flight, drag, bounces, and the account of conversions.

use super::scene::*;
use crate::gas::{bounce, drag_rate};
use crate::{Alone, GasSettings, Settings};
use barchan_core::solver::Solver;
use glam::DVec3;

fn airless(size: [f64; 3]) -> Settings {
    Settings { gas: Some(GasSettings { drag: false, ..GasSettings::default() }), ..settings(size, [false; 3]) }
}

fn quanta(a: &Alone) -> u64 {
    let liquid: u64 = a.liquid.parcels.quanta.iter().map(|&q| u64::from(q)).sum();
    liquid + a.gas_len() as u64
}

/// Momentum of all phases over the mass of a full cell [m/s].
fn total(a: &Alone) -> DVec3 {
    momentum(a) + a.liquid.gas.velocity.iter().sum::<DVec3>() * a.settings().fill()
}

#[test]
fn an_impact_keeps_the_restitution_and_coulombs_law() {
    let n = DVec3::new(0.0, 0.6, 0.8);
    let v = DVec3::new(3.0, 0.0, 0.0) - n * 2.0;
    let after = bounce(v, DVec3::ZERO, n, 0.3, 0.5);
    assert!((after.dot(n) - 1.0).abs() < 1e-15);
    assert!(((after - n).length() - (3.0 - 0.3 * 1.5 * 2.0)).abs() < 1e-15, "{after}");
    assert_eq!(bounce(v, DVec3::ZERO, n, 10.0, 0.0), DVec3::ZERO.lerp(after, 0.0), "enough friction stops it");
    assert_eq!(bounce(n, DVec3::ZERO, n, 0.3, 0.5), n, "what leaves is let go");
}

#[test]
fn a_grain_of_gas_falls_at_its_terminal_speed() {
    // Weight and drag balance where rate(w) w = g.
    let mut s = settings([8.0, 8.0, 4000.0], [false; 3]);
    (s.gas, s.grain, s.gravity) = (Some(GasSettings::default()), 1e-3, DVec3::Z * -9.81);
    let mut a = world(s, vec![]);
    a.liquid.gas.push(DVec3::new(4.0, 4.0, 3900.0), DVec3::ZERO, 0);
    a.dt = 0.05;
    (0..200).for_each(|_| a.step().unwrap());
    let speed = -a.liquid.gas.velocity[0].z;
    let rate = drag_rate(&GasSettings::default(), a.settings().density, 1e-3, speed);
    assert!((rate * speed - 9.81).abs() < 1e-6 * 9.81, "{speed} m/s: {}", rate * speed);
    assert!((5.0..9.0).contains(&speed), "sand of 1 mm falls at some 7 m/s: {speed}");
}

#[test]
fn crossing_streams_of_thin_sand_pass_as_gas_with_their_momenta() {
    let mut s = airless([64.0, 16.0, 16.0]);
    s.gravity = DVec3::ZERO;
    let mut a = world(s, vec![]);
    // One parcel in 2³ cells: ν = 1/64.
    let sparse = |x: DVec3| x.to_array().iter().all(|c| (c / 2.0).fract() == 0.125);
    a.fill([[4, 4, 4], [20, 12, 12]], sparse, |_| DVec3::X * 2.0).unwrap();
    a.fill([[40, 4, 4], [56, 12, 12]], sparse, |_| DVec3::X * -2.0).unwrap();
    a.dt = 0.25;
    let (q, start) = (quanta(&a), a.len());
    (0..3).for_each(|_| a.step().unwrap());
    assert_eq!(a.len(), 0, "all of {start} parcels are gas");
    (0..60).for_each(|_| a.step().unwrap());
    assert_eq!(quanta(&a), q);
    let right =
        a.liquid.gas.velocity.iter().filter(|v| (v.x - 2.0).abs() < 1e-12 && v.y.abs() + v.z.abs() < 1e-12).count();
    assert_eq!(2 * right, a.gas_len());
    assert!(
        a.liquid.gas.position.iter().zip(&a.liquid.gas.velocity).all(|(x, v)| (x.x - 30.0) * v.x > 0.0),
        "they have passed"
    );
}

#[test]
fn conversions_keep_every_quantum_and_the_momentum() {
    // A block is thrown up from a floor as a spray: it thins, flies, falls back and sinks in.
    let mut a = world(airless([48.0, 48.0, 64.0]), vec![plane(DVec3::ZERO, DVec3::Z, 1)]);
    a.fill([[16, 16, 0], [32, 32, 3]], |_| true, |_| DVec3::ZERO).unwrap();
    let spray = |x: DVec3| (x - DVec3::new(24.0, 24.0, 2.0)) * DVec3::new(0.1, 0.1, 0.6) + DVec3::Z * 3.0;
    a.fill([[22, 22, 5], [26, 26, 9]], |_| true, spray).unwrap();
    let q = quanta(&a);
    let cells = q as f64 * a.settings().fill();
    let mut flown = 0;
    for n in 0..90 {
        a.step().unwrap();
        let boundary = a.boundary.clone();
        a.liquid.resort(&boundary);
        let before = total(&a);
        a.liquid.exchange(&boundary);
        assert_eq!(quanta(&a), q, "step {n}");
        let off = (total(&a) - before).length();
        assert!(off < 1e-12 * cells, "step {n}: {off}");
        flown = flown.max(a.gas_len());
    }
    let account = a.liquid.account;
    assert!(flown > 1000 && account.condensed > 300, "flown {flown}, {account:?}");
    assert!(account.dissipated > 0.0);
    assert_eq!(account.evaporated - account.condensed, a.gas_len() as u64);
    assert_eq!(a.totals().gauges[0].value, q as f64);
}

#[test]
fn a_layer_thinner_than_half_a_cell_on_a_floor_stops_as_gas() {
    // Less than a layer of the lattice, sliding: as liquid it bears no load, and would slide for ever.
    let mut a = world(airless([64.0, 16.0, 16.0]), vec![plane(DVec3::ZERO, DVec3::Z, 1)]);
    let sparse = |x: DVec3| x.z < 0.5 && (x.x.floor() + x.y.floor()).rem_euclid(2.0) == 0.0;
    a.fill([[8, 2, 0], [20, 14, 1]], sparse, |_| DVec3::X * 2.0).unwrap();
    let q = quanta(&a);
    (0..60).for_each(|_| a.step().unwrap());
    let speed = a.liquid.gas.velocity.iter().map(|v| v.length()).fold(0.0, f64::max);
    assert!(a.gas_len() as u64 > q / 2 && speed < 0.1, "{} of {q} quanta are gas, at most {speed} fast", a.gas_len());
    assert_eq!(quanta(&a), q);
}

#[test]
fn a_conversion_moves_momentum_and_centre_exactly() {
    let mut a = world(airless([16.0; 3]), vec![]);
    a.fill([[4, 4, 4], [5, 5, 5]], |x| x.x < 4.5 && x.y < 4.5 && x.z < 4.5, |x| x.cross(DVec3::Z) + DVec3::X).unwrap();
    let (x, v) = (a.position(0), a.velocity(0));
    a.dt = 1e-9;
    (0..3).for_each(|_| a.step().unwrap());
    assert_eq!((a.len(), a.gas_len()), (0, 8));
    let g = &a.liquid.gas;
    let mean = |c: &[DVec3]| c.iter().sum::<DVec3>() / 8.0;
    assert!((mean(&g.position) - x).length() < 1e-7, "within what three steps of 1 ns move it");
    assert!((mean(&g.velocity) - v).length() < 1e-7, "{} {v}", mean(&g.velocity));
    let spread = g.velocity.iter().map(|w| w.distance(v)).fold(0.0, f64::max);
    assert!(spread > 0.0, "grains take the parcel's gradient with them");
}
