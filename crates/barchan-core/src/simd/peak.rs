//! How fast this processor multiplies and adds: what a kernel's rate is held against.

use super::{Isa, Lanes, Octet, Plain, Simd};
use std::hint::black_box;
use std::time::Instant;

/// Chains of arithmetic that run side by side: enough to hide the latency of each.
const CHAINS: usize = 10;
/// Rounds of one multiplication and one addition a chain.
const ROUNDS: usize = 1 << 18;

/// Additions and multiplications in single precision a second, one thread, in the instructions of `isa` (plain ones where this
/// processor lacks them) and without fusing, which is how the kernels compute.
pub fn operations_a_second(isa: Isa) -> f64 {
    let (run, together): (unsafe fn() -> f32, usize) = match isa {
        #[cfg(target_arch = "x86_64")]
        Isa::Avx2 if Isa::available().contains(&isa) => (avx2, 1),
        #[cfg(target_arch = "x86_64")]
        Isa::Avx512 if Isa::available().contains(&isa) => (avx512, super::x86::Avx512::<f32>::TOGETHER),
        _ => (spin::<Plain<f32>>, 1),
    };
    let start = Instant::now();
    // SAFETY: this processor was asked for the instructions just now; plain code runs anywhere.
    black_box(unsafe { run() });
    (2 * CHAINS * ROUNDS * together * super::WIDTH) as f64 / start.elapsed().as_secs_f64()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
unsafe fn avx2() -> f32 {
    // SAFETY: as for the caller.
    unsafe { spin::<super::x86::Avx2<f32>>() }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,avx512f,avx512vl,avx512dq")]
unsafe fn avx512() -> f32 {
    // SAFETY: as for the caller.
    unsafe { spin::<super::x86::Avx512<f32>>() }
}

/// # Safety
/// The processor has the instructions of `S`.
#[inline(always)]
unsafe fn spin<S: Simd<Real = f32>>() -> f32 {
    let (factor, step) = (S::W::of(black_box(0.999_999)), S::W::of(black_box(1e-6)));
    let mut chains = [S::W::of(black_box(1.0)); CHAINS];
    for _ in 0..ROUNDS {
        for chain in &mut chains {
            *chain = *chain * factor + step;
        }
    }
    chains.iter().map(|&c| S::split(c)[0].to_array().iter().sum::<f32>()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chains_settle_at_their_fixed_point_on_every_instruction_set() {
        // x → 0.999999 x + 1e-6 rests at 1; what is timed is arithmetic on ordinary numbers, not on zeros or denormals.
        // SAFETY: plain code runs anywhere.
        let sum = unsafe { spin::<Plain<f32>>() };
        assert!((sum / (CHAINS * crate::simd::WIDTH) as f32 - 1.0).abs() < 0.05, "{sum}");
        for isa in Isa::available() {
            assert!(operations_a_second(isa) > 0.0);
        }
    }
}
