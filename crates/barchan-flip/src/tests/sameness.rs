//! Equal bits: on any number of threads, after a stop, and wherever the scene lies.

use super::scene::*;
use crate::Alone;
use barchan_core::columns::{Column, Saved};
use barchan_core::solver::Solver;
use glam::DVec3;

/// A block that falls on a floor beside a wall, in two pieces.
fn splash(at: DVec3) -> Alone {
    let mut s = settings([40.0, 24.0, 32.0], [false, true, false]);
    s.gas = Some(crate::GasSettings::default());
    s.domain.min += at;
    s.domain.max += at;
    let mut a = world(s, vec![plane(at, DVec3::Z, 1), plane(at + DVec3::X * 3.5, DVec3::new(1.0, 0.0, 0.2), 1)]);
    a.fill([[6, 2, 3], [16, 18, 12]], |_| true, |_| DVec3::new(1.0, 0.4, -2.0)).unwrap();
    a.fill([[20, 2, 1], [26, 10, 6]], |_| true, |_| DVec3::new(-2.0, 0.0, 0.0)).unwrap();
    a
}

fn run(a: &mut Alone, steps: usize) -> u64 {
    (0..steps).for_each(|_| a.step().unwrap());
    a.hash()
}

#[test]
fn the_bits_do_not_depend_on_the_number_of_threads() {
    let hashes = [1, 2, 3].map(|threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| run(&mut splash(DVec3::ZERO), 12))
    });
    assert_eq!(hashes[0], hashes[1]);
    assert_eq!(hashes[0], hashes[2]);
}

#[test]
fn a_run_goes_on_bit_for_bit_after_a_stop() {
    let mut a = splash(DVec3::ZERO);
    run(&mut a, 6);
    let columns = a.save();
    let walls = a.boundary.save();
    let find = |columns: &[(String, Column)], name: &str| columns.iter().find(|c| c.0 == name).map(|c| c.1.clone());
    let mut b = splash(DVec3::ZERO);
    b.boundary.load(Saved(&|name| find(&walls, name))).unwrap();
    let boundary = b.boundary.clone();
    b.load(Saved(&|name| find(&columns, name)), &boundary).unwrap();
    b.steps = a.steps;
    assert_eq!(run(&mut a, 6), run(&mut b, 6));
    let broken = |name: &str| find(&columns, name).filter(|_| name != "quanta");
    assert!(b.load(Saved(&broken), &boundary).is_err(), "a column is missing");
}

#[test]
fn a_scene_moved_by_whole_bricks_gives_the_same_bits() {
    let place = |a: &Alone, from: DVec3| -> Vec<DVec3> { (0..a.len()).map(|i| a.position(i) - from).collect() };
    let mut a = splash(DVec3::ZERO);
    let shift = DVec3::new(64.0, 0.0, -128.0);
    let mut b = splash(shift);
    assert_eq!(run(&mut a, 8) == 0, run(&mut b, 8) == 0);
    assert_eq!(a.liquid.parcels.offset, b.liquid.parcels.offset);
    assert_eq!(a.liquid.parcels.velocity, b.liquid.parcels.velocity);
    let far = place(&a, DVec3::ZERO).iter().zip(place(&b, shift)).map(|(p, q)| p.distance(q)).fold(0.0, f64::max);
    assert!(far < 1e-12, "{far}");
}

#[test]
fn matter_that_comes_and_goes_is_accounted_for_in_quanta() {
    let mut a = splash(DVec3::ZERO);
    let before = a.totals();
    let quantum = a.settings().quantum();
    let new = barchan_core::solver::NewMatter {
        position: DVec3::new(20.0, 12.0, 20.0),
        velocity: DVec3::new(0.0, 0.0, -1.0),
        spin: DVec3::ZERO,
        orientation: glam::DQuat::IDENTITY,
        radius: 0.3,
        mass: Some(5.2 * quantum),
        material: 0,
        shape: 0,
    };
    let boundary = a.boundary.clone();
    let id = a.add(&[new], &boundary).unwrap();
    assert!((a.totals().mass - before.mass - 5.0 * quantum).abs() < 1e-9 * before.mass, "whole quanta");
    let gone = a.remove_where(&|i, _| i == id);
    assert_eq!(gone.len(), 1);
    assert!((gone[0].position - new.position).length() < 1e-12);
    assert_eq!(a.totals().mass, before.mass);
    assert_eq!(a.totals().gauges[0].value, before.gauges[0].value);
    let mut frame = barchan_core::frame::Frame::default();
    a.step().unwrap();
    a.publish(&mut frame);
    let liquid = frame.population("liquid").unwrap();
    assert_eq!(liquid.len(), a.len());
    assert!(liquid.extra("pressure").is_some() && liquid.extra("filling").is_some());
}
