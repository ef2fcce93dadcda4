//! How fast this processor multiplies and adds: what a kernel's rate is held against.

use super::{Isa, Lanes, Plain, Simd};
use std::hint::black_box;
use std::time::Instant;

/// Chains of arithmetic that run side by side: enough to hide the latency of each.
const CHAINS: usize = 10;
/// Rounds of one multiplication and one addition a chain.
const ROUNDS: usize = 1 << 18;

/// Additions and multiplications in single precision a second, one thread, in the instructions of `isa` and without
/// fusing, which is how the kernels compute.
pub fn operations_a_second(isa: Isa) -> f64 {
    let run = match isa {
        #[cfg(target_arch = "x86_64")]
        Isa::Avx2 | Isa::Avx512 => avx2,
        _ => spin::<Plain<f32>>,
    };
    let start = Instant::now();
    // SAFETY: the caller's `isa` comes from `Isa::available`.
    black_box(unsafe { run() });
    (2 * CHAINS * ROUNDS * super::WIDTH) as f64 / start.elapsed().as_secs_f64()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
unsafe fn avx2() -> f32 {
    // SAFETY: as for the caller.
    unsafe { spin::<super::x86::Avx2<f32>>() }
}

/// # Safety
/// The processor has the instructions of `S`.
#[inline(always)]
unsafe fn spin<S: Simd<Real = f32>>() -> f32 {
    let (factor, step) = (S::V::of(black_box(0.999_999)), S::V::of(black_box(1e-6)));
    let mut chains = [S::V::of(black_box(1.0)); CHAINS];
    for _ in 0..ROUNDS {
        for chain in &mut chains {
            *chain = *chain * factor + step;
        }
    }
    chains.iter().map(|c| c.to_array().iter().sum::<f32>()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wider_instructions_are_not_slower() {
        let best = |isa| (0..5).map(|_| operations_a_second(isa)).fold(0.0, f64::max);
        let plain = best(Isa::Plain);
        assert!(plain > 1e8, "{plain:.2e}");
        assert!(best(Isa::detect()) > 0.8 * plain);
    }
}
