//! Particles drawn to the surface and spread over it.

use super::buckets::Buckets;
use super::probes::{INJECTING, Probes};
use super::{Placement, Settings};
use crate::math;
use crate::mesh::near::Surface;
use crate::rng::Random;
use glam::DVec3;
use rayon::prelude::*;

/// Least distance of injected particles over the spacing. Darts thrown until none fits any more cover 0.547 of the plane
/// with discs of half that diameter [Feder 1980], an even sampling of the same number would have a spacing 1.29 times it.
const DART: f64 = 0.776;
/// How far off the surface particles are injected at most, over the spacing.
const INJECTED: f64 = 0.5;
/// Share of the distance to the surface a particle moves in a step (s of eq. 6.1 times the time step).
const DRAW: f64 = 0.5;
/// Repulsion ends there, over the spacing.
const CUT: f64 = 2.0;
/// Width σ of the Gaussian over the spacing, such that it is 10⁻³ at the cut: σ = r/√(2 ln(A/f)) [Longmore 2009, A.2].
const WIDTH: f64 = 0.538;
/// Way a particle goes for a sum of repulsions of 1, over the spacing: in a hexagonal sampling the stiffest mode has a rate
/// of some 3.5 a spacing, and a way of 2/3.5 would make it swing.
const WAY: f64 = 0.35;
/// Longest way of a step over the spacing.
const LONGEST: f64 = 0.25;
/// Steps between two looks at the evenness.
const LOOK: usize = 10;
/// Steps after which it is as even as it gets.
const MOST: usize = 300;
/// Spreading ends when the spread of spacings falls by less than this share from look to look.
const SLOW: f64 = 0.03;

/// What is on its way.
#[derive(Clone, Copy, Debug)]
pub struct Particle {
    pub position: DVec3,
    /// Unit normal of the surface next to it.
    pub normal: DVec3,
    guess: Option<u32>,
}

impl Particle {
    pub fn new(position: DVec3, normal: DVec3) -> Particle {
        Particle { position, normal, guess: None }
    }

    /// Its place on the surface, if it went there; the normal is brought up to date.
    fn foot(&mut self, surface: &Surface) -> DVec3 {
        let Some(near) = surface.tree().nearest_from(self.position, f64::INFINITY, &mut self.guess) else {
            return self.position;
        };
        self.normal = surface.pseudonormal(&near).try_normalize().unwrap_or(self.normal);
        near.point
    }
}

/// Throws darts at the probes in random order, and pushes those that fit off the surface, as they would be injected.
pub fn inject(probes: &Probes, settings: &Settings) -> Vec<Particle> {
    let spacing = settings.spacing();
    let n = probes.points.len();
    let mut order: Vec<(u64, u32)> =
        (0..n).into_par_iter().map(|k| (Random::new(settings.seed, INJECTING + k as u64).bits(), k as u32)).collect();
    order.par_sort_unstable();
    let mut taken = Buckets::new(DART * spacing, n / 8);
    let mut particles: Vec<Particle> = Vec::new();
    for (_, k) in order {
        let (p, normal) = (probes.points[k as usize], probes.normals[k as usize]);
        let mut free = true;
        taken.visit(p, DART * spacing, |j, _| free &= beside(normal, particles[j].normal) < 0.5);
        if free {
            taken.insert(p);
            particles.push(Particle::new(p, normal));
        }
    }
    let inwards = settings.placement == Placement::Inside;
    for (k, p) in particles.iter_mut().enumerate() {
        let mut r = Random::new(settings.seed, INJECTING + (n + k) as u64);
        let off = INJECTED * spacing * r.range(-1.0, if inwards { 0.0 } else { 1.0 });
        p.position += off * p.normal;
    }
    particles
}

/// How much two particles are on the same side: 1 up to a right angle between their normals, 0 back to back. The two sides
/// of a thin fin are to be covered each for itself.
fn beside(a: DVec3, b: DVec3) -> f64 {
    (1.0 + a.dot(b)).clamp(0.0, 1.0)
}

/// One step of all particles.
pub fn step(surface: &Surface, particles: &mut [Particle], spacing: f64) {
    let reach = CUT * spacing;
    let grid = Buckets::of(reach, particles.iter().map(|p| p.position));
    let fall = -0.5 / (WIDTH * spacing).powi(2);
    let ways: Vec<DVec3> = (0..particles.len())
        .into_par_iter()
        .map(|i| {
            let Particle { position, normal, .. } = particles[i];
            let mut push = DVec3::ZERO;
            grid.visit(position, reach, |j, other| {
                if i == j {
                    return;
                }
                let apart = position - other;
                let square = apart.length_squared();
                // Two in one place go apart along the surface, the first one way and the second the other.
                let direction = match apart.try_normalize() {
                    Some(direction) => direction,
                    None => normal.any_orthogonal_vector().normalize_or_zero() * if i < j { 1.0 } else { -1.0 },
                };
                push += beside(normal, particles[j].normal) * math::exp(fall * square) * direction;
            });
            ((push - normal * normal.dot(push)) * WAY * spacing).clamp_length_max(LONGEST * spacing)
        })
        .collect();
    particles.par_iter_mut().zip(ways).for_each(|(p, way)| {
        p.position += way;
        let foot = p.foot(surface);
        p.position += DRAW * (foot - p.position);
    });
}

/// Brings all particles onto the surface.
pub fn land(surface: &Surface, particles: &mut [Particle]) {
    particles.par_iter_mut().for_each(|p| p.position = p.foot(surface));
}

/// Mean and relative standard deviation of the distance to the nearest neighbour on the same side; points come with
/// their normals.
pub fn spacing(points: &[(DVec3, DVec3)], expected: f64) -> (f64, f64) {
    let reach = CUT * expected;
    let grid = Buckets::of(expected, points.iter().map(|p| p.0));
    let nearest: Vec<f64> = (0..points.len())
        .into_par_iter()
        .filter_map(|i| {
            let (p, normal) = points[i];
            let mut least = f64::INFINITY;
            grid.visit(p, reach, |j, other| {
                if i != j && beside(normal, points[j].1) >= 0.5 {
                    least = least.min(p.distance(other));
                }
            });
            least.is_finite().then_some(least)
        })
        .collect();
    let n = nearest.len().max(1) as f64;
    let mean = nearest.iter().sum::<f64>() / n;
    let variance = nearest.iter().map(|d| (d - mean).powi(2)).sum::<f64>() / n;
    (mean, if mean > 0.0 { variance.sqrt() / mean } else { 0.0 })
}

/// Watches whether particles still become more even.
#[derive(Clone, Debug)]
pub struct Evenness {
    steps: usize,
    last: f64,
}

impl Default for Evenness {
    fn default() -> Evenness {
        Evenness { steps: 0, last: f64::INFINITY }
    }
}

impl Evenness {
    /// To be asked once a step.
    pub fn reached(&mut self, particles: &[Particle], expected: f64) -> bool {
        self.steps += 1;
        if !self.steps.is_multiple_of(LOOK) {
            return false;
        }
        let sided: Vec<(DVec3, DVec3)> = particles.iter().map(|p| (p.position, p.normal)).collect();
        let (_, spread) = spacing(&sided, expected);
        let slow = spread >= (1.0 - SLOW) * self.last;
        self.last = spread;
        slow || self.steps >= MOST
    }
}
