//! Materials to start from.
//!
//! Young's moduli are softened, as is usual in DEM: quartz has 70 GPa, but flows of grains do not depend on the modulus as long
//! as overlaps stay below about a percent of the radius (Silbert et al. 2001, Phys. Rev. E 64, 051302; Lommen, Schott &
//! Lodewijks 2014, Particuology 12, 107), while the time step goes as 1/√E. Who studies sound, stiffness or impact stresses gives
//! the true `young` in the scene.

use crate::types::{Material, names};
use schemars::JsonSchema;
use serde::Serialize;

/// Names of the materials to start from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Preset {
    /// Dry quartz sand.
    #[serde(rename = "dry sand")]
    DrySand,
    /// Moist quartz sand, as castles are built of.
    #[serde(rename = "damp sand")]
    DampSand,
    /// Crushed stone.
    Gravel,
    /// Soda-lime glass beads.
    #[serde(rename = "glass beads")]
    GlassBeads,
    /// Hardened steel balls.
    #[serde(rename = "steel balls")]
    SteelBalls,
    /// Wheat kernels.
    Wheat,
    /// Moving snow granules below freezing.
    Snow,
}
names!(Preset {
    DrySand = "dry sand",
    DampSand = "damp sand",
    Gravel = "gravel",
    GlassBeads = "glass beads",
    SteelBalls = "steel balls",
    Wheat = "wheat",
    Snow = "snow",
});

/// Every preset, with its properties.
pub const PRESETS: &[Preset] = &[
    Preset::DrySand,
    Preset::DampSand,
    Preset::Gravel,
    Preset::GlassBeads,
    Preset::SteelBalls,
    Preset::Wheat,
    Preset::Snow,
];

impl Preset {
    /// The material as it is without changes.
    pub fn material(self) -> Material {
        let (density, young, poisson, restitution, friction, rolling, twisting, cohesion) = match self {
            // Quartz 2650 kg/m³. Friction and rolling resistance together give a repose angle of 32–34° with spheres
            // (Zhou et al. 2002, Powder Technol. 125, 45; Wensrich & Katterfeld 2012, Powder Technol. 217, 409).
            Self::DrySand => (2650.0, 1e7, 0.3, 0.5, 0.5, 0.1, 0.0, 0.0),
            // The same with water between the grains: pull-off of some ten times the weight of a grain of 1 mm.
            Self::DampSand => (2650.0, 1e7, 0.3, 0.3, 0.55, 0.15, 0.0, 0.1),
            // Crushed rock: more angular than sand, repose near 40° (Coetzee 2016, Powder Technol. 297, 50).
            Self::Gravel => (2700.0, 2e7, 0.25, 0.4, 0.6, 0.2, 0.0, 0.0),
            // Soda-lime glass. Friction of clean beads 0.1–0.2 between polished ones, 0.3–0.5 as used; restitution up to
            // 0.97 at 1 m/s (Foerster et al. 1994, Phys. Fluids 6, 1108: e 0.97, μ 0.09); used beads are taken here.
            Self::GlassBeads => (2500.0, 1e7, 0.22, 0.9, 0.3, 0.01, 0.0, 0.0),
            // Bearing steel 7800 kg/m³; e 0.9 and μ 0.1–0.2 dry at 1 m/s (Stevens & Hrenya 2005, Powder Technol. 154, 99).
            Self::SteelBalls => (7800.0, 5e7, 0.28, 0.9, 0.15, 0.005, 0.0, 0.0),
            // Kernels: 1300 kg/m³, E 10–100 MPa when moist, μ 0.3–0.4, e 0.5 (Horabik & Molenda 2016, Biosyst. Eng. 147, 206).
            Self::Wheat => (1300.0, 1e7, 0.4, 0.5, 0.35, 0.05, 0.0, 0.0),
            // Granules of flowing snow: 300–500 kg/m³, inelastic and sticky (Steinkogler, Gaume et al. 2015, J. Geophys. Res. F 120,
            // 1107); surface energy chosen so that granules of 1 cm hold some ten times their weight.
            Self::Snow => (400.0, 1e6, 0.2, 0.1, 0.5, 0.1, 0.05, 0.3),
        };
        Material {
            preset: Some(self),
            density,
            young,
            poisson,
            restitution,
            friction,
            rolling,
            twisting,
            cohesion,
            strength: None,
        }
    }
}

/// What a material is like in bulk, as a continuum takes it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bulk {
    /// Slope at which a layer just flows [rad].
    pub friction_angle: f64,
    /// Share of the volume that grains take at rest.
    pub packing: f64,
    /// Shear strength without pressure [Pa].
    pub cohesion: f64,
}

impl Preset {
    /// The material in bulk.
    pub fn bulk(self) -> Bulk {
        let (degrees, packing, cohesion) = match self {
            // The middle of the repose angles above; poured to 1550 kg/m³.
            Self::DrySand => (33.0, 0.585, 0.0),
            // Bridges of water give a few hundred pascals (Richefeu et al. 2006, Phys. Rev. E 73, 051304) and a looser packing.
            Self::DampSand => (36.0, 0.55, 500.0),
            // Crushed rock, as above.
            Self::Gravel => (40.0, 0.58, 0.0),
            // Glass beads begin to flow at 20.9 deg (Jop, Forterre & Pouliquen 2006, Nature 441, 727).
            Self::GlassBeads | Self::SteelBalls => (20.9, 0.6, 0.0),
            // Internal friction of dry wheat 25 to 27 deg, bulk 780 kg/m³ (Horabik & Molenda 2016, as above).
            Self::Wheat => (26.0, 0.6, 0.0),
            // The friction of its granules, 0.5; cohesion such that a cut of a quarter of a metre stands.
            Self::Snow => (27.0, 0.6, 200.0),
        };
        Bulk { friction_angle: f64::to_radians(degrees), packing, cohesion }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn snow_sticks_as_its_comment_says() {
        let snow = Preset::Snow.material();
        let radius = 0.005f64;
        // Two equal grains: R_eff = R/2.
        let pull_off = 4.0 * std::f64::consts::PI * snow.cohesion * radius / 2.0;
        let weight = snow.density * 4.0 / 3.0 * std::f64::consts::PI * radius.powi(3) * 9.81;
        assert!((3.0..30.0).contains(&(pull_off / weight)), "{}", pull_off / weight);
    }
}
