//! Parcels that are split and merged.

use super::scene::*;
use crate::Alone;
use crate::resample::Piece;
use barchan_core::boundary::Boundary;
use barchan_core::rng::Random;
use glam::DVec3;

/// Quanta, their centre times their number, and momentum.
fn sums(a: &Alone) -> (u64, DVec3, DVec3) {
    let q = |i: usize| f64::from(a.liquid.parcels.quanta[i]);
    let all = 0..a.len();
    (
        a.liquid.parcels.quanta.iter().map(|&q| u64::from(q)).sum(),
        all.clone().map(|i| a.position(i) * q(i)).sum(),
        all.map(|i| a.velocity(i) * q(i)).sum(),
    )
}

/// A bed of three cells' depth, in the middle cells of which `fill` places the parcels: offsets and quanta.
fn bed(fill: impl Fn(&mut Random) -> Vec<(DVec3, u32)>) -> Alone {
    let mut a = world(settings([16.0; 3], [true, true, false]), vec![plane(DVec3::ZERO, DVec3::Z, 1)]);
    let middle = |x: DVec3| (x.z as i32) == 1 && (4..8).contains(&(x.x as i32)) && (4..8).contains(&(x.y as i32));
    a.fill([[0, 0, 0], [16, 16, 3]], |x| !middle(x), |_| DVec3::ZERO).unwrap();
    let mut rng = Random::new(5, 1);
    for (x, y) in (4..8).flat_map(|x| (4..8).map(move |y| (x, y))) {
        for (offset, quanta) in fill(&mut rng) {
            let velocity = DVec3::new(rng.normal(), rng.normal(), rng.normal()) * 0.01;
            a.liquid.give_birth([x, y, 1], offset, velocity, quanta).unwrap();
        }
    }
    a
}

/// Puts parcels in order and their masses on the grid.
fn ready(a: &mut Alone, boundary: &Boundary) {
    a.liquid.states = boundary.states().to_vec();
    a.liquid.resort(boundary);
    a.liquid.scatter(0.1, 0.0, boundary);
}

#[test]
fn a_full_cell_with_few_parcels_splits_them_and_nothing_else_changes() {
    let mut a = bed(|_| vec![(DVec3::new(0.3, 0.5, 0.5), 33), (DVec3::new(0.7, 0.5, 0.5), 31)]);
    let boundary = a.boundary.clone();
    a.step().unwrap();
    let count = |a: &Alone| a.liquid.parcels.quanta.iter().filter(|q| **q > 8).count();
    assert_eq!(count(&a), 64, "two parcels a cell have become four");
    assert_eq!(a.liquid.parcels.quanta.iter().filter(|q| **q > 17).count(), 0);
    // The same by itself, where nothing moves in between.
    let mut a = bed(|_| vec![(DVec3::new(0.3, 0.5, 0.5), 33), (DVec3::new(0.7, 0.5, 0.5), 31)]);
    ready(&mut a, &boundary);
    let before = sums(&a);
    assert!(a.liquid.resample());
    let after = sums(&a);
    assert_eq!(before.0, after.0);
    assert!((before.1 - after.1).length() < 1e-10 * before.1.length(), "{} {}", before.1, after.1);
    assert!((before.2 - after.2).length() < 1e-12, "{} {}", before.2, after.2);
}

#[test]
fn a_crowded_cell_merges_light_parcels_and_keeps_quanta_centre_and_momentum() {
    let crowd = |rng: &mut Random| {
        let place = |rng: &mut Random| DVec3::new(rng.uniform(), rng.uniform(), rng.uniform());
        (0..32).map(|_| (place(rng), 2)).collect()
    };
    let mut a = bed(crowd);
    let boundary = a.boundary.clone();
    ready(&mut a, &boundary);
    let (before, many) = (sums(&a), a.len());
    assert!(a.liquid.resample());
    let after = sums(&a);
    assert_eq!(many - a.len(), 16 * 16, "32 parcels a cell have become 16");
    assert_eq!(before.0, after.0);
    assert!((before.1 - after.1).length() < 1e-10 * before.1.length(), "{} {}", before.1, after.1);
    assert!((before.2 - after.2).length() < 1e-12, "{} {}", before.2, after.2);
    assert!(a.liquid.parcels.quanta.iter().all(|q| *q <= 16), "none is heavier than two of nominal size");
}

#[test]
fn two_pieces_that_become_one_keep_their_angular_momentum_as_spin() {
    let mut rng = Random::new(9, 2);
    let vector = |rng: &mut Random| DVec3::new(rng.uniform(), rng.uniform(), rng.uniform());
    let cell = 0.3;
    // That of the motion of the whole, and that of the gradient about it: samples are h²/6 apart along each axis in the mean of all places.
    let turning = |p: &Piece| {
        let spin = |a: usize, b: usize| f64::from(p.affine[3 * b + a]) - f64::from(p.affine[3 * a + b]);
        let own = DVec3::new(spin(1, 2), spin(2, 0), spin(0, 1)) * (cell * cell / 6.0);
        ((p.offset * cell).cross(p.velocity) + own) * f64::from(p.quanta)
    };
    for _ in 0..50 {
        let mut piece = |quanta: u32| Piece {
            quanta,
            offset: vector(&mut rng),
            velocity: vector(&mut rng) - DVec3::splat(0.5),
            affine: std::array::from_fn(|_| rng.normal() as f32),
        };
        let (a, b) = (piece(7), piece(1));
        let one = a.joined(b, cell);
        let (before, after) = (turning(&a) + turning(&b), turning(&one));
        assert!((before - after).length() < 1e-6 * before.length().max(0.1), "{before} {after}");
        assert_eq!(one.quanta, 8);
    }
}
