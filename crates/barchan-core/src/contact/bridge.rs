//! Liquid bridges: the pull of a drop that hangs between two grains, up to where it ruptures.

use crate::math;
use std::f64::consts::PI;

/// A liquid and how much of it hangs in a bridge.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BridgeLaw {
    /// Surface tension γ of the liquid [N/m].
    pub tension: f64,
    /// Contact angle θ of the liquid on the grains [rad].
    pub angle: f64,
    /// Volume of a bridge over the cube of the Derjaguin radius R.
    pub volume: f64,
    /// Viscosity of the liquid [Pa s]; 0 for none.
    pub viscosity: f64,
}

/// Derjaguin radius [m] of two spheres, R = 2 r₁ r₂/(r₁ + r₂); of a sphere and a plane 2 r.
pub fn derjaguin(a: f64, b: f64) -> f64 {
    if b.is_infinite() { 2.0 * a } else { 2.0 * a * b / (a + b) }
}

/// Smallest gap that a viscous bridge sees, over R: that of the grains' roughness, below which lubrication theory has no end.
const LEAST_GAP: f64 = 1e-3;

impl BridgeLaw {
    /// Volume of a bridge [m³] at a Derjaguin radius [m].
    pub fn volume_of(&self, radius: f64) -> f64 {
        self.volume * radius.powi(3)
    }

    /// Pull [N] of a bridge at a gap [m] (0 where the grains touch) [Willett, Adams, Johnson and Seville 2000, eq. 12]:
    ///   F = 2π R γ cos θ / (1 + 1.05 Ŝ + 2.5 Ŝ²), Ŝ = S √(R/V)
    pub fn pull(&self, gap: f64, radius: f64) -> f64 {
        let s = gap.max(0.0) * (radius / self.volume_of(radius)).sqrt();
        2.0 * PI * radius * self.tension * math::cos(self.angle) / (1.0 + 1.05 * s + 2.5 * s * s)
    }

    /// Gap [m] at which a bridge ruptures [Willett et al. 2000, eq. 20, for equal spheres; Lian, Thornton and Adams 1993 without the second
    /// term]:
    ///   S_c = R (1 + θ/2) (V̂^⅓ + V̂^⅔/10), V̂ = V/R³
    pub fn rupture(&self, radius: f64) -> f64 {
        let third = math::cbrt(self.volume);
        radius * (1.0 + 0.5 * self.angle) * (third + 0.1 * third * third)
    }

    /// Viscous force [N] of a bridge against a rate of parting [m/s] [Adams and Perchard 1985]: F = 3/2 π η R² v/S.
    pub fn drag(&self, gap: f64, radius: f64, parting: f64) -> f64 {
        1.5 * PI * self.viscosity * radius * radius * parting / gap.max(LEAST_GAP * radius)
    }

    /// Energy [J] that the pull of a bridge gives back from a gap [m] to where the grains touch: the integral of [`BridgeLaw::pull`].
    pub fn energy(&self, gap: f64, radius: f64) -> f64 {
        // ∫ ds/(1 + b s + c s²) = 2/√(4c − b²) atan((2 c s + b)/√(4c − b²)), 4c > b².
        let (b, c) = (1.05, 2.5);
        let scale = (self.volume_of(radius) / radius).sqrt();
        let root = f64::sqrt(4.0 * c - b * b);
        let at = |s: f64| 2.0 / root * math::atan2(2.0 * c * s + b, root);
        let force = 2.0 * PI * radius * self.tension * math::cos(self.angle);
        force * scale * (at(gap.max(0.0) / scale) - at(0.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WATER: BridgeLaw = BridgeLaw { tension: 0.072, angle: 0.2, volume: 0.01, viscosity: 0.0 };

    #[test]
    fn a_touching_bridge_pulls_as_two_pi_r_gamma_cos_theta_and_the_energy_is_the_integral_of_the_pull() {
        let radius = derjaguin(1e-3, 1e-3);
        assert_eq!(radius, 1e-3);
        let touching = 2.0 * PI * 1e-3 * 0.072 * f64::cos(0.2);
        assert!((WATER.pull(0.0, radius) / touching - 1.0).abs() < 1e-14);
        let (n, end) = (20_000, WATER.rupture(radius));
        let sum: f64 = (0..n).map(|k| WATER.pull((k as f64 + 0.5) * end / n as f64, radius) * end / n as f64).sum();
        assert!((WATER.energy(end, radius) / sum - 1.0).abs() < 1e-8, "{} against {sum}", WATER.energy(end, radius));
    }

    #[test]
    fn rupture_follows_lian_for_small_bridges() {
        let radius = derjaguin(2e-3, 1e-3);
        for volume in [1e-6, 1e-8] {
            let law = BridgeLaw { volume, ..WATER };
            let lian = (1.0 + 0.1) * law.volume_of(radius).cbrt();
            assert!((law.rupture(radius) / lian - 1.0).abs() < 0.2 * volume.cbrt());
        }
    }
}
