//! What the continuum is told at its start: matter, method and surroundings.

use crate::grains::{GrainSettings, Upsampled};
use crate::maps::VolumeMap;
use crate::smoothing::Kernel;
use barchan_core::clock::StepWish;
use barchan_core::materials::Materials;
use barchan_core::math;
use barchan_core::solver::Domain;
use glam::DVec3;
use std::fmt;
use std::sync::Arc;

/// How pressure is found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pressure {
    /// The constraint is on the velocity: what is full may not be compressed further. Density that has drifted is repaired by a
    /// displacement that leaves no velocity, so that a bed at rest is at rest.
    #[default]
    Velocity,
    /// Implicit incompressible SPH [Ihmsen et al. 2014]: the density error becomes velocity within a step. Boils at rest; for comparison.
    Iisph,
}

/// How friction is found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Friction {
    /// Stress is an unknown that is projected on the yield surface in the same iterations as the pressure, and is remembered.
    #[default]
    Projected,
    /// Stress is made from the rate of strain once a step and forgotten [after Alduán and Otaduy 2011]. Holds no slope; for comparison.
    OneShot,
    /// None: a fluid without viscosity.
    None,
}

/// Which cone a friction angle φ means: the ratio α of the norm ‖s‖_F of the deviatoric stress to the pressure at which matter yields.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Cone {
    /// √2 tan φ: a layer on a slope flows from φ on [Jop et al. 2006; Daviet and Bertails-Descoubes 2016].
    #[default]
    SimpleShear,
    /// √2 sin φ: Mohr–Coulomb in plane strain [Narain et al. 2010].
    PlaneStrain,
    /// 2√6 sin φ/(3 − sin φ): Mohr–Coulomb in triaxial compression [Klár et al. 2016].
    TriaxialCompression,
    /// 2√6 sin φ/(3 + sin φ): Mohr–Coulomb in triaxial extension.
    TriaxialExtension,
    /// √(2/3) sin φ [Zhu and Bridson 2005].
    ZhuBridson,
}

impl Cone {
    /// μ of √(½ s:s) ≤ μ p, the tangent of the slope at which a layer flows.
    pub fn coefficient(self, angle: f64) -> f64 {
        let sine = math::sin(angle);
        let norm = match self {
            Cone::SimpleShear => return math::tan(angle),
            Cone::PlaneStrain => 2f64.sqrt() * sine,
            Cone::TriaxialCompression => 2.0 * 6f64.sqrt() * sine / (3.0 - sine),
            Cone::TriaxialExtension => 2.0 * 6f64.sqrt() * sine / (3.0 + sine),
            Cone::ZhuBridson => (2.0 / 3.0f64).sqrt() * sine,
        };
        norm / 2f64.sqrt()
    }

    /// The slope [rad] at which a layer flows, for a friction angle [rad].
    pub fn slope(self, angle: f64) -> f64 {
        math::atan2(self.coefficient(angle), 1.0)
    }
}

/// Choices as they were published, beside what this solver does, to see what each is worth.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Published {
    /// A particle's mass is 0.8 of what fills its cell, whatever the kernel [as SPlisHSPlasH and others have it]. Columns sink.
    pub mass: bool,
    /// A wall adds V_B W(Φ) at its nearest point to the density [Bender et al. 2019], without the calibration to half a spacing. Beds hover.
    pub walls: bool,
    /// Half of the trace, as in the plane, is taken off the rate of strain for its mean [Neder 2024].
    pub trace: bool,
}

/// Share of the cell's mass in [`Published::mass`].
pub const PUBLISHED_MASS: f64 = 0.8;

/// Friction that grows with the rate of shear, μ(I) [Jop et al. 2006].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MuI {
    /// Coefficient at infinite inertial number.
    pub mu_2: f64,
    /// Inertial number at which half of the growth is reached.
    pub i_0: f64,
}

/// What a wall does to matter that slides along it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WallFriction {
    /// Matter sticks; it shears within itself.
    #[default]
    Rough,
    /// Coulomb friction with the coefficient of the two materials.
    Coulomb,
}

/// Velocity of the air [m/s].
#[derive(Clone)]
pub enum Wind {
    /// The same everywhere and always.
    Constant(DVec3),
    /// By place [m] and time [s], times a factor.
    Field(Arc<dyn Fn(DVec3, f64) -> DVec3 + Send + Sync>, f64),
}

impl Wind {
    /// Velocity of the air [m/s] at a place [m] and a time [s].
    pub fn at(&self, place: DVec3, time: f64) -> DVec3 {
        match self {
            Wind::Constant(velocity) => *velocity,
            Wind::Field(field, factor) => field(place, time) * *factor,
        }
    }
}

impl fmt::Debug for Wind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Wind::Constant(velocity) => write!(f, "Constant({velocity})"),
            Wind::Field(_, factor) => write!(f, "Field({factor})"),
        }
    }
}

/// What flies through the air.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Drag {
    /// A particle is a cloud of grains, each with the drag of a sphere of its size.
    #[default]
    Grains,
    /// A particle is one sphere of its own size, with the drag coefficient of [`Air::coefficient`] [Neder 2024].
    Blob,
    /// From a sphere alone to a cube among others [Gissler et al. 2017, without the droplet's deformation].
    Blend,
}

/// The air about the continuum.
#[derive(Clone, Debug)]
pub struct Air {
    /// Its velocity.
    pub wind: Wind,
    /// Density [kg/m³].
    pub density: f64,
    /// Viscosity [Pa s].
    pub viscosity: f64,
    /// What flies.
    pub drag: Drag,
    /// Drag coefficient of a particle that is one sphere ([`Drag::Blob`]).
    pub coefficient: f64,
    /// Whether air flows along a free surface rather than through it.
    pub along_surface: bool,
}

impl Default for Air {
    /// Still air of 20 °C.
    fn default() -> Air {
        Air {
            wind: Wind::Constant(DVec3::ZERO),
            density: 1.204,
            viscosity: 1.845e-5,
            drag: Drag::Grains,
            coefficient: BLOB_DRAG,
            along_surface: false,
        }
    }
}

/// Drag coefficient of a sphere in turbulent flow.
pub const BLOB_DRAG: f64 = 0.47;

/// Precision of the sums over neighbours. Positions, differences of positions and all that integrates are f64 in both.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Precision {
    /// Sums in f32.
    #[default]
    Mixed,
    /// All in f64.
    Double,
}

/// How much of a wall is there, seen from a point, against a plane at the same distance: 1 on a plane, less at edges and thin sheets, more in
/// grooves.
pub trait WallShape: Send + Sync {
    /// The ratio at a point of the wall's own frame, as it was built [m], to a plane at the distance of the nearest surface.
    fn factor(&self, point: DVec3) -> f64;

    /// The volume map that it is, if it is one: to be kept, and shown.
    fn map(&self) -> Option<&VolumeMap> {
        None
    }
}

/// A kind of matter in the continuum. All kinds have the same spacing and densities.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Kind {
    /// Friction angle [rad]: the slope at which a layer just flows.
    pub friction_angle: f64,
    /// Cohesion [Pa].
    pub cohesion: f64,
    /// Largest tension [Pa]; 0 for matter that parts freely.
    pub tensile: f64,
    /// Friction that grows with the rate of shear.
    pub mu_i: Option<MuI>,
    /// Index of the material, for friction with walls.
    pub material: u16,
}

impl Default for Kind {
    /// Dry sand.
    fn default() -> Kind {
        Kind { friction_angle: 30f64.to_radians(), cohesion: 0.0, tensile: 0.0, mu_i: None, material: 0 }
    }
}

/// All the continuum needs to begin, apart from its particles.
#[derive(Clone)]
pub struct Settings {
    /// Spacing of particles at rest [m]: a particle's diameter.
    pub spacing: f64,
    /// Density of the bulk at rest [kg/m³]: of sand 1500 to 1600, not the grain's.
    pub bulk_density: f64,
    /// Density of a grain [kg/m³].
    pub grain_density: f64,
    /// Diameter of a grain [m], for drag and μ(I).
    pub grain_diameter: f64,
    /// The kinds of matter; a particle's is the `shape` it is born with.
    pub kinds: Vec<Kind>,
    /// Which cone a friction angle means.
    pub cone: Cone,
    /// Smoothing kernel.
    pub kernel: Kernel,
    /// How pressure is found.
    pub pressure: Pressure,
    /// How friction is found.
    pub friction: Friction,
    /// What is done as it was published, for comparison.
    pub published: Published,
    /// Mean error of density, and mean strain, that a step may leave.
    pub tolerance: f64,
    /// Most iterations of a step.
    pub most_iterations: u32,
    /// Longest step [s]. Steps are shorter where speeds or gravity ask for it.
    pub largest_step: f64,
    /// Acceleration of gravity [m/s²].
    pub gravity: DVec3,
    /// Where matter lives.
    pub domain: Domain,
    /// The air, if it acts.
    pub air: Option<Air>,
    /// What walls do to matter that slides along them.
    pub wall_friction: WallFriction,
    /// Materials and their pairs.
    pub materials: Materials,
    /// Shape factors by index of the wall; a wall without one is a plane to its neighbours.
    pub shapes: Vec<Option<Arc<dyn WallShape>>>,
    /// Precision of sums over neighbours.
    pub precision: Precision,
    /// The grains that are shown; none: particles alone.
    pub grains: Option<GrainSettings>,
    /// Seed of what is random.
    pub seed: u64,
}

impl Settings {
    /// Dry sand of that spacing [m] in that domain, under gravity along −z.
    pub fn sand(spacing: f64, domain: Domain) -> Settings {
        Settings {
            spacing,
            bulk_density: 1550.0,
            grain_density: 2650.0,
            grain_diameter: 0.5e-3,
            kinds: vec![Kind::default()],
            cone: Cone::SimpleShear,
            kernel: Kernel::Cubic,
            pressure: Pressure::Velocity,
            friction: Friction::Projected,
            published: Published::default(),
            tolerance: 1e-4,
            most_iterations: 60,
            largest_step: 1.0 / 60.0,
            gravity: DVec3::new(0.0, 0.0, -9.81),
            domain,
            air: None,
            wall_friction: WallFriction::Rough,
            materials: Materials::default(),
            shapes: Vec::new(),
            precision: Precision::Mixed,
            grains: None,
            seed: 0,
        }
    }

    /// The air, if there is any that acts: none in a vacuum, where a Reynolds number would be 0.
    pub fn acting_air(&self) -> Option<&Air> {
        self.air.as_ref().filter(|a| a.density > 0.0)
    }

    /// Support of the kernel [m].
    pub fn reach(&self) -> f64 {
        crate::smoothing::SUPPORT * self.spacing
    }

    /// Mass of a particle [kg], such that the rest lattice has the rest density.
    pub fn particle_mass(&self) -> f64 {
        if self.published.mass {
            return PUBLISHED_MASS * self.bulk_density * self.spacing.powi(3);
        }
        crate::smoothing::particle_mass(self.kernel, self.spacing, self.bulk_density)
    }

    /// The step that the solver wants, and why.
    pub fn wish(&self) -> StepWish {
        let (gravity, largest) = (self.gravity_step(), self.largest_step);
        let reason = if gravity < largest {
            format!("a tenth of √(d/g) at a spacing of {:.3e} m", self.spacing)
        } else {
            "the longest step that is asked for".to_owned()
        };
        StepWish { dt: gravity.min(largest), fixed: false, reason }
    }

    /// The longest step that gravity allows [s]: a tenth of the time of falling by a spacing, but for √2.
    pub fn gravity_step(&self) -> f64 {
        let g = self.gravity.length();
        if g > 0.0 { GRAVITY_SHARE * (self.spacing / g).sqrt() } else { f64::INFINITY }
    }

    /// Every reason why this continuum cannot be simulated.
    pub fn check(&self) -> Vec<String> {
        let mut found = Vec::new();
        let mut positive = |name: &str, value: f64| {
            if !(value.is_finite() && value > 0.0) {
                found.push(format!("{name} is {value}; give it a positive value"));
            }
        };
        positive("spacing", self.spacing);
        positive("bulk_density", self.bulk_density);
        positive("grain_density", self.grain_density);
        positive("grain_diameter", self.grain_diameter);
        positive("tolerance", self.tolerance);
        positive("largest_step", self.largest_step);
        for kind in &self.kinds {
            if !(0.0..=MOST_ANGLE).contains(&kind.friction_angle) {
                let degrees = kind.friction_angle.to_degrees();
                found.push(format!("friction_angle is {degrees:.1}°; give it 0° to 60°"));
            }
            for (name, value) in [("cohesion", kind.cohesion), ("tensile", kind.tensile)] {
                if !(value.is_finite() && value >= 0.0) {
                    found.push(format!("{name} is {value} Pa; give it 0 or more"));
                }
            }
        }
        for (name, value) in
            self.air.iter().flat_map(|a| [("air density", a.density), ("drag coefficient", a.coefficient)])
        {
            if !(value.is_finite() && value >= 0.0) {
                found.push(format!("{name} is {value}; give it 0 or more"));
            }
        }
        if let Some(Wind::Constant(wind)) = self.air.as_ref().map(|a| &a.wind)
            && !wind.is_finite()
        {
            found.push(format!("the wind is {wind} m/s; give it three numbers"));
        }
        if let Some(Err(e)) = self.grains.clone().map(Upsampled::new) {
            found.push(e.to_string());
        }
        if self.kinds.is_empty() {
            found.push("there is no kind of matter; give one".into());
        }
        let period = self.domain.period();
        for k in 0..3 {
            if self.domain.periodic[k] && period[k] < 2.0 * self.reach() * (1.0 - 1e-9) {
                let least = 2.0 * self.reach();
                found.push(format!(
                    "the domain is {:.3e} m along periodic {}, so that a particle would meet another twice; make it at least {least:.3e} m",
                    period[k],
                    ["x", "y", "z"][k]
                ));
            }
        }
        found
    }
}

/// Largest friction angle [rad]: 60°.
const MOST_ANGLE: f64 = 60.0 * std::f64::consts::PI / 180.0 + 1e-12;
/// Longest step over √(d/g). Twice as long is still stable, with more iterations a step.
const GRAVITY_SHARE: f64 = 0.1;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_cone_has_its_slope() {
        for (cone, degrees) in [
            (Cone::SimpleShear, 30.0),
            (Cone::PlaneStrain, 26.6),
            (Cone::TriaxialCompression, 34.7),
            (Cone::TriaxialExtension, 26.3),
            (Cone::ZhuBridson, 16.1),
        ] {
            let slope = cone.slope(30f64.to_radians()).to_degrees();
            assert!((slope - degrees).abs() < 0.1, "{cone:?}: {slope}");
        }
    }
}
