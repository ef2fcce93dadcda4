//! Laws of one particle: yield bound, projection, μ(I), and the update of pressure and stress within an iteration.
//!
//! Stress is positive in compression, σ = p I + s, with s symmetric and traceless, kept as (xx, yy, zz, xy, xz, yz).

use crate::settings::{Kind, MuI, Settings};

/// A symmetric tensor: xx, yy, zz, xy, xz, yz.
pub type Sym = [f64; 6];

/// Frobenius norm.
pub fn norm(s: &Sym) -> f64 {
    (s[0] * s[0] + s[1] * s[1] + s[2] * s[2] + 2.0 * (s[3] * s[3] + s[4] * s[4] + s[5] * s[5])).sqrt()
}

/// The traceless part.
pub fn deviator(s: &Sym) -> Sym {
    let mean = (s[0] + s[1] + s[2]) / 3.0;
    [s[0] - mean, s[1] - mean, s[2] - mean, s[3], s[4], s[5]]
}

/// Coefficient of friction at a rate of shear γ̇ [1/s] and a pressure [Pa] [Jop et al. 2006].
///   μ = μ_s + (μ_2 − μ_s)/(1 + I₀/I),  I = γ̇ d √(ρ_s/p)
pub fn mu_of_i(mu_s: f64, law: &MuI, rate: f64, pressure: f64, diameter: f64, grain_density: f64) -> f64 {
    if pressure <= 0.0 {
        return law.mu_2;
    }
    let inertial = rate * diameter * (grain_density / pressure).sqrt();
    mu_s + (law.mu_2 - mu_s) * inertial / (inertial + law.i_0)
}

/// What all particles of a kind have in common in an iteration.
#[derive(Clone, Copy, Debug)]
pub struct Law {
    pub mu: f64,
    pub mu_i: Option<MuI>,
    pub cohesion: f64,
    pub tensile: f64,
    pub grain_diameter: f64,
    pub grain_density: f64,
    /// Density at rest [kg/m³].
    pub rest: f64,
}

/// Share of the rest density from which on matter is whole enough to bear tension.
const WHOLE: f64 = 0.9;

impl Law {
    /// The laws of all kinds.
    pub fn all(settings: &Settings) -> Vec<Law> {
        settings.kinds.iter().map(|kind| Law::new(settings, kind)).collect()
    }

    fn new(settings: &Settings, kind: &Kind) -> Law {
        Law {
            mu: settings.cone.coefficient(kind.friction_angle),
            mu_i: kind.mu_i,
            cohesion: kind.cohesion,
            tensile: kind.tensile,
            grain_diameter: settings.grain_diameter,
            grain_density: settings.grain_density,
            rest: settings.bulk_density,
        }
    }

    /// Whether matter resists shear at all.
    pub fn has_friction(&self) -> bool {
        self.mu > 0.0 || self.cohesion > 0.0 || self.mu_i.is_some()
    }

    /// Largest norm of s at a pressure [Pa] and a norm of the rate of strain [1/s]: Y = √2 (μ p + c).
    pub fn bound(&self, pressure: f64, strain_rate: f64) -> f64 {
        let mu = match &self.mu_i {
            Some(law) => {
                let rate = 2f64.sqrt() * strain_rate;
                mu_of_i(self.mu, law, rate, pressure, self.grain_diameter, self.grain_density)
            }
            None => self.mu,
        };
        2f64.sqrt() * (mu * pressure + self.cohesion).max(0.0)
    }

    /// Least pressure [Pa] at a density [kg/m³]: below 0 where matter is whole and bears tension.
    pub fn least_pressure(&self, density: f64) -> f64 {
        if density < self.whole() { 0.0 } else { 0.0 - self.tension() }
    }

    /// Tension [Pa] that whole matter bears: at most that at the cone's apex.
    pub fn tension(&self) -> f64 {
        let apex = if self.mu > 0.0 { self.cohesion / self.mu } else { f64::INFINITY };
        self.tensile.min(apex)
    }

    /// Density [kg/m³] from which on matter is whole enough to bear tension.
    pub fn whole(&self) -> f64 {
        WHOLE * self.rest
    }
}

/// Pulls s back to norm `bound` where it exceeds it; returns its share of the bound.
pub fn project(s: &mut Sym, bound: f64) -> f64 {
    let size = norm(s);
    if size <= bound {
        return if bound > 0.0 { size / bound } else { 0.0 };
    }
    let scale = bound / size;
    s.iter_mut().for_each(|x| *x *= scale);
    if bound > 0.0 { 1.0 } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_projected_stress_is_on_the_cone_and_keeps_its_direction() {
        let mut s = deviator(&[3.0, -1.0, 0.5, 2.0, -0.3, 0.7]);
        let before = s;
        assert_eq!(project(&mut s, 0.5), 1.0);
        assert!((norm(&s) - 0.5).abs() < 1e-14 && (s[0] + s[1] + s[2]).abs() < 1e-14);
        assert!((s[3] / before[3] - s[0] / before[0]).abs() < 1e-14);
        let share = project(&mut s, 1.0);
        assert!((share - 0.5).abs() < 1e-14);
    }

    #[test]
    fn friction_of_glass_beads_goes_from_its_static_to_its_dynamic_value() {
        let law = MuI { mu_2: 32.76f64.to_radians().tan(), i_0: 0.279 };
        let mu_s = 20.9f64.to_radians().tan();
        let mu = |rate| mu_of_i(mu_s, &law, rate, 100.0, 0.5e-3, 2500.0);
        assert_eq!(mu(0.0), mu_s);
        let rate_of_i_0 = 0.279 / (0.5e-3 * 5.0);
        assert!((mu(rate_of_i_0) - 0.5 * (mu_s + law.mu_2)).abs() < 1e-12);
        assert!((mu(1e12) - law.mu_2).abs() < 1e-9);
    }
}
