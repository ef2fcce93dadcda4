//! How much a soil bears: the numbers of [`Columns::bear`](crate::Columns::bear).

use crate::GroundError;
use barchan_core::math;
use std::f64::consts::{FRAC_PI_2, PI};

/// The strength of a soil under a body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Strength {
    /// Bulk density [kg/m³].
    pub density: f64,
    /// Angle of internal friction [rad].
    pub friction: f64,
    /// Cohesion [Pa].
    pub cohesion: f64,
    /// Coefficient of friction between the soil and a body.
    pub grip: f64,
    /// How far the soil shears [m] before it grips in full, the shear modulus of terramechanics.
    pub shear: f64,
    /// Stress that a depth of unloading takes back [Pa/m], the modulus of subgrade reaction.
    pub stiffness: f64,
}

impl Strength {
    // Textbook figures from memory, of the right size and no more: friction of quartz sand at constant volume 33° [Bolton
    // 1986]; shear moduli of 1 to 2.5 cm for sand, under 1 cm for clay, some cm for snow [Wong, Theory of Ground
    // Vehicles]; moduli of subgrade reaction of 10⁷ to 10⁸ Pa/m for sand, a tenth of it for soft clay [Bowles].

    /// Dry, loose quartz sand.
    pub const SAND: Strength =
        Strength { density: 1600.0, friction: 0.576, cohesion: 0.0, grip: 0.5, shear: 0.01, stiffness: 1e8 };

    /// Soft wet clay, undrained: it bears by cohesion.
    pub const MUD: Strength =
        Strength { density: 1700.0, friction: 0.1, cohesion: 5e3, grip: 0.3, shear: 0.006, stiffness: 1e7 };

    /// Snow some days old.
    pub const SNOW: Strength =
        Strength { density: 200.0, friction: 0.35, cohesion: 2e3, grip: 0.3, shear: 0.03, stiffness: 1e7 };

    /// The factor N_q by which the weight of what lies beside a footing adds to what it bears [Prandtl 1921, Reissner
    /// 1924]: tan²(45° + φ/2) e^{π tan φ}.
    fn overburden(&self) -> f64 {
        let sine = math::sin(self.friction);
        (1.0 + sine) / (1.0 - sine) * math::exp(PI * math::tan(self.friction))
    }

    /// The factor K of the law F = K ρ g V for what a body displaces [Kang, Feng, Liu, Blumenfeld 2018, who show that it
    /// depends on the angle of friction alone]. Here it is the classical bearing factor of a round footing, N_q (1 + tan φ)
    /// [Vesić 1973]; 43 for sand.
    pub fn buoyancy(&self) -> f64 {
        self.overburden() * (1.0 + math::tan(self.friction))
    }

    /// What the soil bears at its surface by cohesion [Pa]: c N_c, N_c = (N_q − 1) cot φ, for φ = 0 it is 2 + π [Prandtl 1921].
    pub fn crust(&self) -> f64 {
        let tangent = math::tan(self.friction);
        self.cohesion * if tangent > 1e-6 { (self.overburden() - 1.0) / tangent } else { 2.0 + PI }
    }

    pub(crate) fn check(&self) -> Result<(), GroundError> {
        let positive = |x: f64| x.is_finite() && x > 0.0;
        let rules = [
            ("density", self.density, positive(self.density), "use a bulk density above 0 kg/m³"),
            // Beyond 60° the factor K passes 10⁴, and means nothing.
            (
                "friction",
                self.friction,
                (0.0..FRAC_PI_2 * 2.0 / 3.0).contains(&self.friction),
                "use an angle from 0 to below 60°",
            ),
            ("cohesion", self.cohesion, positive(self.cohesion) || self.cohesion == 0.0, "use 0 Pa or more"),
            ("grip", self.grip, positive(self.grip) || self.grip == 0.0, "use a coefficient of 0 or more"),
            ("shear", self.shear, positive(self.shear), "use a length above 0 m"),
            ("stiffness", self.stiffness, positive(self.stiffness), "use a modulus above 0 Pa/m"),
        ];
        match rules.into_iter().find(|(_, _, holds, _)| !holds) {
            Some((name, value, _, remedy)) => Err(GroundError::Soil { name, value, remedy }),
            None => Ok(()),
        }
    }
}
