//! Random numbers that depend on a seed and a stream (say, a grain's id), not on threads or on who asks first.
//!
//! Philox2x64-10 [Salmon et al. 2011, "Parallel random numbers: as easy as 1, 2, 3"]: the n-th number of a stream is a
//! keyed mix of (n, stream). Streams never overlap, and the whole state is three integers.

use crate::math;
use glam::{DQuat, DVec3};
use std::f64::consts::TAU;

/// One stream of random numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Random {
    seed: u64,
    stream: u64,
    drawn: u64,
    block: [u64; 2],
}

/// Ten rounds of the Philox2x64 bijection, with the published multiplier and key increment.
fn philox(mut counter: [u64; 2], mut key: u64) -> [u64; 2] {
    for _ in 0..10 {
        let product = 0xD2B7_4407_B1CE_6E93_u128 * counter[0] as u128;
        counter = [(product >> 64) as u64 ^ key ^ counter[1], product as u64];
        key = key.wrapping_add(0x9E37_79B9_7F4A_7C15);
    }
    counter
}

impl Random {
    /// The stream of that number for that seed, from its beginning.
    pub fn new(seed: u64, stream: u64) -> Random {
        Random { seed, stream, drawn: 0, block: [0; 2] }
    }

    /// Everything there is to know: seed, stream, numbers drawn so far.
    pub fn state(&self) -> [u64; 3] {
        [self.seed, self.stream, self.drawn]
    }

    /// Goes on from where [`Random::state`] was taken.
    pub fn from_state([seed, stream, drawn]: [u64; 3]) -> Random {
        Random { seed, stream, drawn, block: philox([drawn / 2, stream], seed) }
    }

    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        let lane = (self.drawn % 2) as usize;
        if lane == 0 {
            self.block = philox([self.drawn / 2, self.stream], self.seed);
        }
        self.drawn += 1;
        self.block[lane]
    }

    /// Uniform in [0, 1), a multiple of 2⁻⁵³.
    pub fn uniform(&mut self) -> f64 {
        (self.bits() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// Uniform between a and b.
    pub fn range(&mut self, a: f64, b: f64) -> f64 {
        a + (b - a) * self.uniform()
    }

    /// Standard normal deviate (Box–Muller; its twin is thrown away so that the state stays three integers).
    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * math::ln(1.0 - self.uniform())).sqrt();
        radius * math::cos(TAU * self.uniform())
    }

    /// Uniform on the unit sphere.
    pub fn direction(&mut self) -> DVec3 {
        let z = self.range(-1.0, 1.0);
        let (sin, cos) = math::sin_cos(TAU * self.uniform());
        let rho = (1.0 - z * z).max(0.0).sqrt();
        DVec3::new(rho * cos, rho * sin, z)
    }

    /// Uniform in the unit ball.
    pub fn in_ball(&mut self) -> DVec3 {
        self.direction() * math::cbrt(self.uniform())
    }

    /// Uniform over all orientations [Shoemake 1992].
    pub fn unit_quaternion(&mut self) -> DQuat {
        let share = self.uniform();
        let (a, b) = (math::sin_cos(TAU * self.uniform()), math::sin_cos(TAU * self.uniform()));
        let (p, q) = ((1.0 - share).sqrt(), share.sqrt());
        DQuat::from_xyzw(p * a.0, p * a.1, q * b.0, q * b.1).normalize()
    }

    /// Uniform in 0..n, and 0 for n = 0. The bias is below n/2⁶⁴.
    pub fn index(&mut self, n: usize) -> usize {
        ((self.bits() as u128 * n as u128) >> 64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn philox_gives_the_published_answers() {
        // Known-answer vectors of the Random123 distribution, philox2x64-10.
        assert_eq!(philox([0, 0], 0), [0xca00_a045_9843_d731, 0x66c2_4222_c9a8_45b5]);
        assert_eq!(philox([u64::MAX; 2], u64::MAX), [0x65b0_21d6_0cd8_310f, 0x4d02_f322_2f86_df20]);
        let pi = philox([0x243f_6a88_85a3_08d3, 0x1319_8a2e_0370_7344], 0xa409_3822_299f_31d0);
        assert_eq!(pi, [0x0a5e_742c_2997_341c, 0xb0f8_83d3_8000_de5d]);
    }

    #[test]
    fn moments_are_those_of_the_distributions() {
        let n = 200_000;
        let mut rng = Random::new(7, 0);
        let (mut u, mut g, mut ball, mut turned) = ([0.0; 2], [0.0; 4], [0.0; 3], DVec3::ZERO);
        for _ in 0..n {
            let x = rng.uniform();
            u[0] += x;
            u[1] += x * x;
            let x = rng.normal();
            (0..4).for_each(|k| g[k] += x.powi(k as i32 + 1));
            let x = rng.in_ball();
            ball[0] += x.length_squared();
            ball[1] += x.x * x.x;
            ball[2] += x.x * x.y;
            turned += (rng.unit_quaternion() * DVec3::X).powf(2.0);
        }
        let mean = |sum: f64| sum / n as f64;
        // Five standard errors of each mean: 5 σ/√n with σ of the summand.
        let near = |a: f64, b: f64, sigma: f64| assert!((a - b).abs() < 5.0 * sigma / (n as f64).sqrt(), "{a} {b}");
        near(mean(u[0]), 0.5, 0.289);
        near(mean(u[1]), 1.0 / 3.0, 0.3);
        near(mean(g[0]), 0.0, 1.0);
        near(mean(g[1]), 1.0, 1.42);
        near(mean(g[2]), 0.0, 3.9);
        near(mean(g[3]), 3.0, 9.8);
        near(mean(ball[0]), 0.6, 0.27);
        near(mean(ball[1]), 0.2, 0.24);
        near(mean(ball[2]), 0.0, 0.2);
        turned.to_array().iter().for_each(|&t| near(mean(t), 1.0 / 3.0, 0.3));
    }

    #[test]
    fn neighbouring_streams_and_seeds_are_independent() {
        let first = |seed, stream| Random::new(seed, stream).uniform() - 0.5;
        let n = 100_000u64;
        let sigma = 1.0 / 12.0 / (n as f64).sqrt();
        for (name, sum) in [
            ("streams", (0..n).map(|s| first(1, s) * first(1, s + 1)).sum::<f64>()),
            ("seeds", (0..n).map(|s| first(s, 1) * first(s + 1, 1)).sum::<f64>()),
            ("swapped", (0..n).map(|s| first(s, 1) * first(1, s)).sum::<f64>()),
            ("mean", (0..n).map(|s| first(1, s)).sum::<f64>() / 12f64.sqrt()),
        ] {
            assert!((sum / n as f64).abs() < 5.0 * sigma, "{name}: {}", sum / n as f64 / sigma);
        }
    }

    #[test]
    fn a_restored_stream_goes_on_with_the_same_bits() {
        for drawn in [0, 1, 2, 7] {
            let mut a = Random::new(3, 9);
            for _ in 0..drawn {
                a.bits();
            }
            let mut b = Random::from_state(a.state());
            assert!((0..5).all(|_| a.bits() == b.bits()));
        }
    }

    #[test]
    fn indices_fill_their_range_evenly() {
        let mut rng = Random::new(5, 5);
        let mut count = [0i32; 7];
        (0..70_000).for_each(|_| count[rng.index(7)] += 1);
        assert!(count.iter().all(|c| (c - 10_000).abs() < 5 * 93), "{count:?}");
        assert_eq!(rng.index(0), 0);
    }
}
