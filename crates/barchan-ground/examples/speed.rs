//! Sweeps a second of a 512 × 512 ground on the threads given (1 by default): all of it sliding, 1 % of it in one place, and
//! 1 % scattered, so that nearly every tile is visited. Then the time of a push for each column under a ball.
//!
//! `cargo run --release -p barchan-ground --example speed -- 1`

use barchan_ground::{Columns, Grid, Soil, sphere};
use glam::{DVec2, DVec3};
use std::time::Instant;

const SIDE: usize = 512;

/// Sand that slides for long: steep waves over a share of the columns, in so many squares along each side.
fn rough(share: f64, squares: usize) -> Columns {
    let soil = Soil { roughness: 0.0, fraction: 0.02, ..Soil::SAND };
    let grid = Grid { origin: DVec3::ZERO, cell: 0.01, size: [SIDE; 2] };
    let pitch = SIDE / squares;
    let side = (share.sqrt() * pitch as f64).round() as usize;
    let height = |i: usize| {
        let (x, y) = (i % SIDE, i / SIDE);
        let wave = 0.3 * ((x as f64 * 0.2).sin() * (y as f64 * 0.17).cos());
        if x % pitch < side && y % pitch < side { 1.0 + wave } else { 1.0 }
    };
    Columns::new(grid, soil, &(0..SIDE * SIDE).map(height).collect::<Vec<_>>()).expect("a sound ground")
}

fn main() {
    let threads = std::env::args().nth(1).and_then(|a| a.parse().ok()).unwrap_or(1);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
    let cases = [("all", 1.0, 1, 200), ("1 %", 0.01, 1, 2000), ("1 % scattered", 0.01, 32, 200)];
    for (name, share, squares, sweeps) in cases {
        let mut ground = rough(share, squares);
        pool.install(|| ground.erode(2));
        let start = Instant::now();
        let found = pool.install(|| ground.erode(sweeps));
        let rate = found.sweeps as f64 / start.elapsed().as_secs_f64();
        let visited = found.visited as f64 / found.sweeps as f64;
        let hash = ground.heights().iter().fold(0_u64, |h, &z| (h ^ z as u64).wrapping_mul(0x0100_0000_01b3));
        println!("{name}: {rate:.0} sweeps/s, {visited:.0} columns a sweep, {threads} threads, state {hash:016x}");
    }
    let mut ground = rough(0.0, 1);
    let middle = DVec2::splat(2.56);
    let area = ground.grid().area(middle - 1.0, middle + 1.0);
    let start = Instant::now();
    let mut touched = 0;
    for sunk in 1..=20 {
        let ball = sphere(middle.extend(2.0 - 0.02 * f64::from(sunk)), 1.0);
        touched += pool.install(|| ground.push(area, &ball)).contacts.len();
    }
    let each = start.elapsed().as_secs_f64() / touched as f64;
    println!("push: {:.0} ns a column in contact, {} a push", each * 1e9, touched / 20);
    let mut ground = rough(0.0, 1);
    ground.erode(1);
    println!("quiet: {} columns visited", ground.erode(1000).visited);
}
