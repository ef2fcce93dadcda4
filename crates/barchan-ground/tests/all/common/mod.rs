//! Grounds that several tests stand on.
#![allow(dead_code)] // each test file uses some of it

use barchan_core::rng::Random;
use barchan_ground::{Columns, Grid, QUANTUM, Soil, Strength};
use glam::DVec3;

/// Sand without hysteresis and roughness, of the given slope [degrees].
pub fn plain(degrees: f64) -> Soil {
    let angle = degrees.to_radians();
    Soil {
        compression: 0.0,
        inside: angle,
        outside: angle,
        stop: angle,
        fraction: 1.0,
        roughness: 0.0,
        strength: Strength::SAND,
    }
}

/// A grid of that many columns, a 64th of a metre wide: places are exact in f64.
pub fn grid(size: [usize; 2]) -> Grid {
    Grid { origin: DVec3::new(-0.5, 0.25, -1.0), cell: 1.0 / 64.0, size }
}

/// Rough ground: random heights, some of them spikes.
pub fn rough(size: [usize; 2], soil: Soil, seed: u64) -> Columns {
    let mut random = Random::new(seed, 0);
    let height = |_| 0.2 + 0.05 * random.uniform() + if random.uniform() < 0.01 { 0.4 } else { 0.0 };
    Columns::new(grid(size), soil, &(0..size[0] * size[1]).map(height).collect::<Vec<_>>()).unwrap()
}

/// The steepest slope [rad] from any column to any of its eight neighbours, and the steepest gradient in any square of four
/// columns.
pub fn steepest(ground: &Columns) -> (f64, f64) {
    let [nx, ny] = ground.grid().size;
    let cell = ground.grid().cell;
    let z = |x: usize, y: usize| ground.heights()[x + y * nx] as f64 * QUANTUM / cell;
    let (mut pair, mut square) = (0.0_f64, 0.0_f64);
    for y in 0..ny {
        for x in 0..nx {
            if x + 1 < nx {
                pair = pair.max((z(x, y) - z(x + 1, y)).abs());
            }
            if y + 1 < ny {
                pair = pair.max((z(x, y) - z(x, y + 1)).abs());
            }
            if x + 1 < nx && y + 1 < ny {
                let (one, two) = (z(x, y) - z(x + 1, y + 1), z(x + 1, y) - z(x, y + 1));
                pair = pair.max(one.abs().max(two.abs()) / 2_f64.sqrt());
                square = square.max((0.5 * (one * one + two * two)).sqrt());
            }
        }
    }
    (pair.atan(), square.atan())
}
