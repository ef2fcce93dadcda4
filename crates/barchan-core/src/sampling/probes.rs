//! Probes: points all over a surface, each standing for the same area.

use crate::mesh::Mesh;
use crate::rng::Random;
use glam::DVec3;
use rayon::prelude::*;

/// Probes a particle: they stand a quarter of the particles' spacing apart.
const PER_PARTICLE: f64 = 16.0;
/// Fewest probes, so that a coverage of 0.999 means something.
const FEWEST: usize = 20_000;

/// Streams of random numbers: those of probes that have a part in the making, and of those that measure it.
pub const MAKING: u64 = 1 << 40;
pub const MEASURING: u64 = 2 << 40;
/// Stream of the particles' injection.
pub const INJECTING: u64 = 3 << 40;

#[derive(Clone, Debug)]
pub struct Probes {
    pub points: Vec<DVec3>,
    /// Unit normals of their triangles.
    pub normals: Vec<DVec3>,
}

fn area_of(mesh: &Mesh, t: usize) -> f64 {
    let [a, b, c] = mesh.corners(t);
    0.5 * (b - a).cross(c - a).length()
}

/// Area of a mesh [m²].
pub fn area(mesh: &Mesh) -> f64 {
    (0..mesh.triangles.len()).map(|t| area_of(mesh, t)).sum()
}

/// Probes for about that many particles.
pub fn count(particles: f64) -> usize {
    ((PER_PARTICLE * particles) as usize).max(FEWEST)
}

impl Probes {
    /// One probe at random in each of `count` equal shares of the surface.
    pub fn scatter(mesh: &Mesh, count: usize, seed: u64, stream: u64) -> Probes {
        let mut sum = 0.0;
        let sums: Vec<f64> = (0..mesh.triangles.len())
            .map(|t| {
                sum += area_of(mesh, t);
                sum
            })
            .collect();
        let (points, normals) = (0..count)
            .into_par_iter()
            .map(|k| {
                let mut r = Random::new(seed, stream + k as u64);
                let at = (k as f64 + r.uniform()) / count as f64 * sum;
                // Triangles without area are passed over: the sum does not rise there.
                let t = sums.partition_point(|&s| s <= at).min(sums.len() - 1);
                let [a, b, c] = mesh.corners(t);
                // Uniform in a triangle: the square folded along its diagonal.
                let (u, v) = (r.uniform(), r.uniform());
                let (u, v) = if u + v > 1.0 { (1.0 - u, 1.0 - v) } else { (u, v) };
                (a + u * (b - a) + v * (c - a), (b - a).cross(c - a).normalize_or_zero())
            })
            .unzip();
        Probes { points, normals }
    }
}
