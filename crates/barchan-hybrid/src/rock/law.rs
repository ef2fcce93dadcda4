//! How rock brakes a flow: the laws that avalanche people calibrate.
//!
//! All of them hold μσ, which is the friction of the contacts and therefore not here. What is here is the rest of the stress at the bed, as the
//! deceleration of a layer of thickness h: a dry part that does not depend on the speed, and a part that grows with its square.

/// von Kármán's constant, roughness length [m], constant of the logarithmic profile and R₀ of samosAT [Sampl 2007; AvaFrame].
const KARMAN: f64 = 0.43;
const ROUGHNESS: f64 = 0.05;
const PROFILE: f64 = 4.13;
const R0: f64 = 0.222;

/// A law of drag, beside the contacts' own friction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Law {
    /// Nothing but the yield stress.
    Coulomb,
    /// ρgū²/ξ [Voellmy 1955], with ξ [m/s²].
    Voellmy(f64),
    /// μσ·R₀/(R₀ + R) + ρū²/(ln(h/0.05 m)/κ + B)², R = ρū²/σ, with μ [Sampl 2007].
    Samosat(f64),
}

/// A flow over the bed.
#[derive(Clone, Copy, Debug)]
pub struct Layer {
    /// Thickness, normal to the slope [m].
    pub thickness: f64,
    /// Mean speed [m/s].
    pub speed: f64,
    /// Bulk density [kg/m³].
    pub density: f64,
    /// Component of gravity normal to the slope [m/s²].
    pub press: f64,
    /// Gravity [m/s²].
    pub gravity: f64,
}

impl Law {
    /// Deceleration of a layer: a dry part [m/s²], and what is to be multiplied by the square of the speed [1/m].
    pub fn deceleration(&self, layer: &Layer, yield_stress: f64) -> (f64, f64) {
        let Layer { thickness: h, speed, density, press, gravity } = *layer;
        let held = yield_stress / (density * h);
        match *self {
            Law::Coulomb => (held, 0.0),
            Law::Voellmy(xi) => (held, gravity / (xi * h)),
            Law::Samosat(mu) => {
                // σ = ρ g h cos θ, so that R = ū²/(g h cos θ).
                let r = speed * speed / (press * h).max(f64::MIN_POSITIVE);
                // Thinner than e times the roughness there is no profile.
                let profile = (h / ROUGHNESS).max(std::f64::consts::E);
                let profile = barchan_core::math::ln(profile) / KARMAN + PROFILE;
                (held + mu * press * R0 / (R0 + r), 1.0 / (h * profile * profile))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LAYER: Layer = Layer { thickness: 1.5, speed: 20.0, density: 200.0, press: 8.0, gravity: 9.81 };

    #[test]
    fn each_law_is_the_stress_over_the_mass_of_the_layer() {
        let stress = |law: Law, tau0: f64| {
            let (dry, square) = law.deceleration(&LAYER, tau0);
            (dry + square * 400.0) * 200.0 * 1.5
        };
        assert!((stress(Law::Coulomb, 70.0) - 70.0).abs() < 1e-9);
        assert!((stress(Law::Voellmy(2000.0), 70.0) - 70.0 - 200.0 * 9.81 * 400.0 / 2000.0).abs() < 1e-9);
        let sigma = 200.0 * 8.0 * 1.5;
        let r = 200.0 * 400.0 / sigma;
        let profile = (1.5_f64 / 0.05).ln() / 0.43 + 4.13;
        let samosat = 0.155 * sigma * 0.222 / (0.222 + r) + 200.0 * 400.0 / (profile * profile);
        assert!((stress(Law::Samosat(0.155), 0.0) / samosat - 1.0).abs() < 1e-12);
    }
}
