//! Where the grains of a particle are born: low-discrepancy points in its cube, from the seed and its id.

use barchan_core::rng::Random;
use barchan_core::sizes::SizeDistribution;
use glam::{DVec3, Vec3};

/// Steps of the sequence along the axes: powers of 1/ρ with ρ⁴ = ρ + 1, the generalised golden ratio [Roberts 2018, "The unreasonable
/// effectiveness of quasirandom sequences"].
const STEPS: DVec3 = DVec3::new(0.819_172_513_396_164_5, 0.671_043_606_703_789_3, 0.549_700_477_901_970_3);

/// Set apart from other uses of the scene's seed.
const STREAM: u64 = 0x6772_6169_6e73;

/// The random numbers of a particle's grains.
pub fn stream(seed: u64, particle: u32) -> Random {
    Random::new(seed ^ STREAM, u64::from(particle))
}

/// Where the sequence of a particle begins, in its unit cube: the first draw of its stream.
pub fn start(rng: &mut Random) -> DVec3 {
    DVec3::new(rng.uniform(), rng.uniform(), rng.uniform())
}

/// The n-th point of a sequence, from the middle of the unit cube.
pub fn point(start: DVec3, n: u16) -> Vec3 {
    let at = start + STEPS * f64::from(n);
    (at - at.floor() - 0.5).as_vec3()
}

/// What a grain draws for itself: its radius [m] and its tint from 0 to 1.
pub fn draw(rng: &mut Random, sizes: &SizeDistribution) -> (f32, f32) {
    (sizes.sample(rng) as f32, rng.uniform() as f32)
}
