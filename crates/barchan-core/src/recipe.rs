//! What the grains of a population have in common, and what each draws for itself.

use crate::rng::Random;
use crate::sizes::SizeDistribution;
use crate::solver::NewMatter;
use glam::{DQuat, DVec3};

/// A population's recipe for its n-th grain.
#[derive(Clone, Debug, PartialEq)]
pub struct Recipe {
    /// Seed of the scene.
    pub seed: u64,
    /// Number of the population, unique in the scene.
    pub population: u64,
    /// Index of the material.
    pub material: u16,
    /// Index of the shape.
    pub shape: u16,
    /// Radii of the largest spheres.
    pub sizes: SizeDistribution,
    /// Radius of the smallest ball about the centre of mass that holds the grain, over `radius`.
    pub reach: f64,
    /// Spheres of a grain.
    pub spheres: usize,
    /// Mass of a grain of radius 1 m [kg].
    pub unit_mass: f64,
    /// Velocity [m/s].
    pub velocity: DVec3,
    /// Standard deviation of each component of the velocity [m/s].
    pub velocity_spread: f64,
    /// Angular velocity [rad/s].
    pub spin: DVec3,
    /// Orientation of all grains; none: at random.
    pub turn: Option<DQuat>,
}

impl Recipe {
    /// Random numbers of the n-th grain for one purpose; 0 is the grain's own properties.
    pub fn stream(&self, n: u64, purpose: u64) -> Random {
        // 2^40 grains of 2^24 populations keep to themselves; purposes turn the seed by the golden ratio.
        Random::new(self.seed ^ purpose.wrapping_mul(0x9E37_79B9_7F4A_7C15), self.population << 40 | n)
    }

    /// The n-th grain, at the origin. A single sphere keeps the identity for its orientation.
    pub fn grain(&self, n: u64) -> NewMatter {
        let mut rng = self.stream(n, 0);
        let radius = self.sizes.sample(&mut rng);
        let random = if self.spheres > 1 { rng.unit_quaternion() } else { DQuat::IDENTITY };
        let orientation = self.turn.unwrap_or(random);
        let mut velocity = self.velocity;
        if self.velocity_spread > 0.0 {
            velocity += self.velocity_spread * DVec3::new(rng.normal(), rng.normal(), rng.normal());
        }
        let (material, shape) = (self.material, self.shape);
        NewMatter { position: DVec3::ZERO, velocity, spin: self.spin, orientation, radius, mass: None, material, shape }
    }

    /// Mass of a grain of that radius [kg].
    pub fn mass(&self, radius: f64) -> f64 {
        self.unit_mass * radius.powi(3)
    }

    /// Mean mass of a grain [kg].
    pub fn mean_mass(&self) -> f64 {
        self.unit_mass * self.sizes.mean_cube()
    }
}
