//! What the machine can do: memory, shared cache and arithmetic, measured, so that a rate can be given as a share of them.

use super::Timing;
use barchan_core::simd::{Isa, peak};
use rayon::prelude::*;
use std::hint::black_box;
use std::time::Instant;

/// Rates of all threads of the pool together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Machine {
    /// Bytes a second to and from memory.
    pub memory: f64,
    /// Bytes a second to and from the caches, for columns of the size of a bed of 64,000 grains.
    pub cache: f64,
    /// Additions and multiplications in single precision a second, not fused.
    pub operations: f64,
}

/// Times each rate is taken; the best counts, for a disturbance only ever slows.
const TRIES: usize = 7;
/// Bytes of the three columns together: beyond all caches, and about what a bed of 64,000 grains holds.
const SIZES: [usize; 2] = [768 << 20, 18 << 20];

impl Machine {
    /// Measures; takes a second or two.
    pub fn measure() -> Machine {
        let [memory, cache] = SIZES.map(triad);
        let threads = rayon::current_num_threads();
        let all = || (0..threads).into_par_iter().map(|_| peak::operations_a_second(Isa::detect())).sum::<f64>();
        let operations = (0..TRIES).map(|_| all()).fold(0.0, f64::max);
        Machine { memory, cache, operations }
    }

    /// The rates in a line.
    pub fn line(&self) -> String {
        format!(
            "memory {:.0} GB/s, shared cache {:.0} GB/s, arithmetic {:.0} GFlop/s in f32 without fusing ({})",
            self.memory / 1e9,
            self.cache / 1e9,
            self.operations / 1e9,
            Isa::detect().name()
        )
    }

    /// Head of the table of timings, in Markdown.
    pub const HEAD: &str = "\
| case | grains | threads | M grain-steps/s | a step | coordination | bytes a grain | data moved, of the cache's rate | arithmetic, of the peak |
|---|---|---|---|---|---|---|---|---|";

    /// A timing as a row of that table.
    pub fn row(&self, t: &Timing) -> String {
        let a_second = t.steps as f64 / t.seconds;
        let (bytes, operations) = (t.work.bytes as f64 * a_second, t.work.operations as f64 * a_second);
        format!(
            "| {} | {} | {} | {:.1} | {:.2} ms | {:.2} | {:.0} | {:.0} GB/s, {:.0} % | {:.0} GFlop/s, {:.0} % |",
            t.case,
            t.grains,
            t.threads,
            t.cundall / 1e6,
            1e3 / a_second,
            t.coordination,
            t.memory as f64 / t.grains as f64,
            bytes / 1e9,
            100.0 * bytes / self.cache,
            operations / 1e9,
            100.0 * operations / self.operations
        )
    }
}

/// Bytes a second of a = b + s c over three columns that take `bytes` together [McCalpin 1995].
fn triad(bytes: usize) -> f64 {
    /// Numbers a task.
    const CHUNK: usize = 1 << 15;
    let n = bytes / 24;
    let (mut a, b, c) = (vec![0.0f64; n], vec![1.0f64; n], vec![2.0f64; n]);
    let rounds = (SIZES[0] / bytes).max(1);
    let mut best = f64::INFINITY;
    for _ in 0..TRIES {
        let start = Instant::now();
        for _ in 0..rounds {
            let s = black_box(0.5);
            let columns = b.par_chunks(CHUNK).zip(c.par_chunks(CHUNK));
            a.par_chunks_mut(CHUNK).zip(columns).for_each(|(a, (b, c))| {
                for k in 0..a.len() {
                    a[k] = b[k] + s * c[k];
                }
            });
            black_box(&a);
        }
        best = best.min(start.elapsed().as_secs_f64() / rounds as f64);
    }
    (n * 24) as f64 / best
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_gives_shares_of_what_the_machine_can_do() {
        let machine = Machine { memory: 1e10, cache: 4e10, operations: 1e11 };
        let work = barchan_dem::Work { bytes: 20_000_000, operations: 10_000_000 };
        let timing = Timing {
            case: "settled",
            device: "cpu",
            grains: 64_000,
            threads: 2,
            steps: 500,
            seconds: 1.0,
            cundall: 3.2e7,
            coordination: 4.8,
            kinetic: 0.0,
            memory: 64_000 * 400,
            rss: 64_000 * 500,
            work,
            passes: vec![],
            hash: 0,
        };
        let row = machine.row(&timing);
        for what in ["32.0", "2.00 ms", "| 400 |", "10 GB/s, 25 %", "5 GFlop/s, 5 %"] {
            assert!(row.contains(what), "{what} in {row}");
        }
        let columns = |text: &str| text.matches('|').count();
        assert!(Machine::HEAD.lines().all(|line| columns(line) == columns(&row)));
        assert!(triad(1 << 20) > 0.0);
    }
}
