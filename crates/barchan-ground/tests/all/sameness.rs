//! Equal bits: over threads, over the symmetries of the square, over a checkpoint.

use crate::common;
use barchan_core::rng::Random;
use barchan_ground::{Columns, Soil, sphere};
use common::{grid, plain, rough};
use glam::{DVec2, DVec3};

/// A ball rolled to and fro through rough ground.
fn ploughed(soil: Soil, from: usize, to: usize, mut ground: Columns) -> Columns {
    for step in from..to {
        let t = step as f64 * 0.31;
        let centre = DVec3::new(0.4 * t.sin(), 0.75 + 0.3 * (1.7 * t).cos(), -1.0 + 0.22);
        let middle = centre.truncate();
        let area = ground.grid().area(middle - 0.11, middle + 0.11);
        ground.push(area, &sphere(centre, 0.1));
        ground.erode(20);
    }
    assert_eq!(ground.soil(), &soil);
    ground
}

#[test]
fn the_same_bits_on_any_number_of_threads() {
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| ploughed(Soil::SAND, 0, 12, rough([70, 61], Soil::SAND, 5))).save()
    };
    let one = run(1);
    assert_eq!(one, run(2));
    assert_eq!(one, run(3));
}

#[test]
fn a_saved_ground_goes_on_bit_for_bit() {
    let start = rough([70, 61], Soil::SAND, 6);
    let whole = ploughed(Soil::SAND, 0, 10, start.clone()).save();
    let half = ploughed(Soil::SAND, 0, 5, start);
    let again = Columns::load(*half.grid(), *half.soil(), half.save()).unwrap();
    assert_eq!(whole, ploughed(Soil::SAND, 5, 10, again).save());
}

/// One of the eight symmetries of the square, as a map of columns of an n × n grid.
fn turned(symmetry: usize, x: usize, y: usize, n: usize) -> usize {
    let (x, y) = if symmetry & 1 != 0 { (n - 1 - x, y) } else { (x, y) };
    let (x, y) = if symmetry & 2 != 0 { (x, n - 1 - y) } else { (x, y) };
    if symmetry & 4 != 0 { y + x * n } else { x + y * n }
}

#[test]
fn a_turned_or_mirrored_ground_gives_the_turned_or_mirrored_result() {
    const N: usize = 37;
    let soil = Soil { compression: 0.3, inside: 0.8, outside: 0.55, ..plain(28.0) };
    let mut random = Random::new(9, 9);
    let heights: Vec<f64> = (0..N * N).map(|_| 0.3 + 0.06 * random.uniform()).collect();
    // An uneven body over a blob of columns.
    let body: Vec<Option<f64>> = (0..N * N)
        .map(|i| {
            let offset = DVec2::new((i % N) as f64 - 15.0, (i / N) as f64 - 20.0);
            (offset.length() < 9.0 && offset.x + offset.y < 8.0).then(|| -0.8 + 0.05 * random.uniform())
        })
        .collect();
    let run = |symmetry: usize| {
        let (mut z, mut under) = (vec![0.0; N * N], vec![None; N * N]);
        for i in 0..N * N {
            let to = turned(symmetry, i % N, i / N, N);
            (z[to], under[to]) = (heights[i], body[i]);
        }
        let mut ground = Columns::new(grid([N, N]), soil, &z).unwrap();
        let grid = *ground.grid();
        ground.erode(30);
        let everywhere = grid.area(DVec2::splat(-9.0), DVec2::splat(9.0));
        let push = ground.push(everywhere, &|x, y| under[grid.column_at(x, y).unwrap()]);
        assert!(push.displaced > 0);
        ground.erode(300);
        (0..N * N).map(|i| ground.heights()[turned(symmetry, i % N, i / N, N)]).collect::<Vec<_>>()
    };
    let plain = run(0);
    for symmetry in 1..8 {
        assert_eq!(plain, run(symmetry), "symmetry {symmetry}");
    }
}
