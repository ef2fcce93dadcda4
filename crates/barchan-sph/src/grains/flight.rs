//! How far a grain is carried and how far it flies: the blend of both velocities, and drag in flight.

use barchan_core::math;
use glam::{DVec3, Vec3};

/// Filling from which on a grain is carried.
const CARRIED: f32 = 0.5;
/// Filling up to which a grain flies.
const FLYING: f32 = 0.2;
/// Share of the greatest weight in the sum from which on Ihmsen's rule lets go [Ihmsen et al. 2012, eq. 9].
const ALONE: f32 = 0.6;
/// Weight at half a spacing from a particle, (8/9)³, up to which Ihmsen's rule lets go.
const APART: f32 = 512.0 / 729.0;

/// Share η of free flight by how full the place is: 0 above 0.5, 1 below 0.2, smooth between.
#[inline(always)]
pub fn by_filling(filling: f32) -> f32 {
    let t = ((CARRIED - filling) / (CARRIED - FLYING)).clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}

/// Share η of free flight by the rule of Ihmsen et al. 2012, eq. 9: 1 − max w where one particle has most of the weight, or all are
/// farther than half a spacing. In the voids of a resting bed it is not zero: grains sink there.
#[inline(always)]
pub fn by_weights(largest: f32, sum: f32) -> f32 {
    if sum <= 0.0 || largest >= ALONE * sum || largest <= APART { 1.0 - largest } else { 0.0 }
}

/// The air that free grains fly through.
#[derive(Clone, Copy)]
pub struct GrainAir<'a> {
    /// Velocity of the air [m/s] at a point [m].
    pub wind: &'a (dyn Fn(DVec3) -> DVec3 + Sync),
    /// Density of the air [kg/m³].
    pub density: f64,
    /// Viscosity of the air [Pa s].
    pub viscosity: f64,
    /// Density of the grains [kg/m³].
    pub grain_density: f64,
}

/// Rate k [1/s] at which drag brings a sphere of diameter D to the velocity of the air:
///   k = ¾ (ρ_a/ρ_s) (C_D/D) |v_rel|, C_D = 24/Re (1 + Re^⅔/6) up to Re = 1000, then 0.424
/// [Putnam 1961, "Integratable form of droplet drag coefficient"]
fn drag_rate(speed: f64, diameter: f64, air: &GrainAir<'_>) -> f64 {
    let reynolds = air.density * speed * diameter / air.viscosity;
    // C_D |v_rel|, which stays finite as the speed goes to zero.
    let drag = if reynolds < 1000.0 {
        let root = math::cbrt(reynolds);
        24.0 * air.viscosity / (air.density * diameter) * (1.0 + root * root / 6.0)
    } else {
        0.424 * speed
    };
    0.75 * air.density / air.grain_density * drag / diameter
}

/// Velocity [m/s] of a free grain after `dt` [s]; drag is implicit, so that it never overshoots the wind.
pub fn fly(v: Vec3, x: DVec3, radius: f32, dt: f64, gravity: DVec3, air: Option<&GrainAir<'_>>) -> Vec3 {
    let v = v.as_dvec3();
    let Some(air) = air else { return (v + dt * gravity).as_vec3() };
    let wind = (air.wind)(x);
    let rate = drag_rate((wind - v).length(), 2.0 * f64::from(radius), air);
    ((v + dt * (gravity + rate * wind)) / (1.0 + rate * dt)).as_vec3()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_grain_falls_at_its_terminal_speed() {
        let still = |_: DVec3| DVec3::ZERO;
        let air = GrainAir { wind: &still, density: 1.204, viscosity: 1.845e-5, grain_density: 2650.0 };
        let (radius, g) = (1e-3f32, DVec3::new(0.0, 0.0, -9.81));
        let mut v = Vec3::ZERO;
        for _ in 0..20_000 {
            v = fly(v, DVec3::ZERO, radius, 1e-3, g, Some(&air));
        }
        // Re is 1300 here: v = √(4 g D ρ_s / (3 C_D ρ_a)).
        let exact = (4.0 * 9.81 * 2e-3 * 2650.0 / (3.0 * 0.424 * 1.204f64)).sqrt();
        assert!((f64::from(-v.z) / exact - 1.0).abs() < 1e-3, "{v} {exact}");
        // Dust obeys Stokes: v = Δρ g D²/(18 μ), less a little inertia at Re = 0.004.
        let mut v = Vec3::ZERO;
        for _ in 0..2_000 {
            v = fly(v, DVec3::ZERO, 5e-6, 1e-4, g, Some(&air));
        }
        let stokes = 2650.0 * 9.81 * 1e-10 / (18.0 * 1.845e-5);
        assert!((f64::from(-v.z) / stokes - 1.0).abs() < 0.01, "{v} {stokes}");
    }

    #[test]
    fn the_share_of_flight_is_smooth_and_has_its_limits() {
        assert_eq!([1.0, 0.5, 0.2, 0.0].map(by_filling), [0.0, 0.0, 1.0, 1.0]);
        assert!((by_filling(0.35) - 0.5).abs() < 1e-6);
        // In the middle of a void of the lattice, √3/2 d from eight particles, Ihmsen's rule has 0.70.
        let w = (1.0f32 - 0.75 / 2.25).powi(3);
        assert!((by_weights(w, 8.0 * w) - 0.70).abs() < 0.01);
        assert_eq!(by_weights(0.8, 2.0), 0.0);
    }
}
