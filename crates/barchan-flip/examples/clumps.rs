//! Times the spreading of 10,000 grains in nine clumps over n × n faces of 20 grains each.
//!
//!   cargo run --release -p barchan-flip --example clumps

use barchan_core::rng::Random;
use barchan_flip::clumps::{Faces, spread};
use std::time::Instant;

fn main() {
    for (n, grains) in [(10u32, 1000u32), (32, 10_000), (64, 10_000), (1000, 10_000)] {
        let faces = Faces::squares(n, 20);
        let mut rng = Random::new(5, 0);
        let side = f64::from(n);
        let mut place = |g: u32| {
            let mut along = |k: u32| {
                let x = (f64::from(k) + 0.5) / 3.0 * side + rng.normal() * side.min(32.0) / 16.0;
                x.clamp(0.0, side - 1e-9) as u32
            };
            let x = along(g % 3);
            along(g / 3 % 3) * n + x
        };
        let start: Vec<u32> = (0..grains).map(&mut place).collect();
        let depth = vec![0.0; start.len()];
        let mut times: Vec<f64> = Vec::new();
        let mut last = None;
        for _ in 0..5 {
            let mut face = start.clone();
            let begun = Instant::now();
            last = Some(spread(&faces, &mut face, &depth));
            times.push(begun.elapsed().as_secs_f64());
        }
        times.sort_by(f64::total_cmp);
        let out = last.unwrap_or_default();
        println!(
            "{n:4} x {n:4} faces, {grains:5} grains: {:7.2} ms (median of 5), {:3} iterations, {:5} faces took part, {:5} moves, {} taken off",
            1e3 * times[2],
            out.iterations,
            out.active,
            out.moves.len(),
            out.taken.len()
        );
    }
}
