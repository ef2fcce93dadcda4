//! What a run of the three-phase solver is given: plain data in SI units.

use barchan_core::materials::Materials;
use barchan_core::solver::Domain;
use glam::DVec3;

/// How velocities go between parcels and grid.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Transfer {
    /// Affine particle-in-cell [Jiang et al. 2015]: a parcel carries the gradient of the velocity too.
    Apic,
    /// Particle-in-cell: a parcel takes the grid's velocity.
    Pic,
    /// A share of FLIP [Brackbill & Ruppel 1986], which adds the grid's change of velocity to the parcel's; the rest is APIC.
    Flip(f64),
}

/// Where sand yields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Yield {
    /// The cone ‖s‖ ≤ √2 μ p, the same in all directions.
    Cone,
    /// A box, |s_ij| ≤ μ p for each component [Narain et al. 2010]. It holds steeper slopes than asked for and knows the directions of the
    /// grid; it is here for comparison.
    Box,
}

/// Friction that grows with the rate of shear [Jop, Forterre & Pouliquen 2006]: μ(I) = μ + (μ₂ − μ)/(1 + I₀/I).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rate {
    /// I₀, the inertial number at which half of the growth is reached.
    pub i0: f64,
    /// μ₂, the coefficient at high rates.
    pub mu2: f64,
}

/// Grains that fly.
#[derive(Clone, Debug, PartialEq)]
pub struct GasSettings {
    /// Restitution of impacts on walls.
    pub restitution: f64,
    /// Whether air slows grains.
    pub drag: bool,
    /// Velocity of the air [m/s].
    pub wind: DVec3,
    /// Density of the air [kg/m³].
    pub air_density: f64,
    /// Viscosity of the air [Pa s].
    pub air_viscosity: f64,
}

impl Default for GasSettings {
    /// Air at 20 °C.
    fn default() -> GasSettings {
        GasSettings { restitution: 0.2, drag: true, wind: DVec3::ZERO, air_density: 1.204, air_viscosity: 1.845e-5 }
    }
}

/// Sand that lies still and is taken off the grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SolidSettings {
    /// Full cells of liquid that lie over frozen ones, at least 2.
    pub cover: u32,
}

impl Default for SolidSettings {
    fn default() -> SolidSettings {
        SolidSettings { cover: 4 }
    }
}

/// Most grains that ride on a face of the surface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// As many as lie side by side.
    Packing,
    /// So many, whatever its size.
    PerFace(u32),
}

/// Grains of gas that ride on the liquid.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SurfaceSettings {
    /// Most of them on a face.
    pub limit: Limit,
    /// Layers of grains that a face carries.
    pub layers: f64,
    /// Slope above which a face carries none [rad].
    pub angle: f64,
    /// Passes of displacement in a step; 0 lets them clump.
    pub passes: u32,
    /// Whether flows are carried out in whole grains at once, instead of by displacement over some steps.
    pub exact: bool,
}

impl Default for SurfaceSettings {
    fn default() -> SurfaceSettings {
        let angle = 85.0 * std::f64::consts::PI / 180.0;
        SurfaceSettings { limit: Limit::Packing, layers: 1.0, angle, passes: 2, exact: false }
    }
}

/// What pictures are given of the sand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Shown {
    /// Parcels as balls of their bulk volume.
    Parcels,
    /// A grain for every quantum near surfaces and walls.
    #[default]
    Surface,
    /// A grain for every quantum, for pictures that are cut open.
    All,
    /// The surface of liquid and solid as a mesh, with what its faces carry, and grains of gas.
    Mesh,
}

/// Settings of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// The box that matter lives in. Where it is periodic, its size is a whole number of bricks of eight cells.
    pub domain: Domain,
    /// Side of a grid cell h [m].
    pub cell: f64,
    /// Acceleration of gravity [m/s²].
    pub gravity: DVec3,
    /// Angle of repose θ [rad], below 45°: sand flows above it and stops below.
    pub friction_angle: f64,
    /// Density of the grains ρ_s [kg/m³].
    pub density: f64,
    /// Share of the volume that grains fill when packed, φ_max.
    pub packing: f64,
    /// Diameter of a grain d [m].
    pub grain: f64,
    /// Cohesion c [Pa]: shear stress that sand bears without pressure.
    pub cohesion: f64,
    /// Largest tension that cohesive sand bears [Pa].
    pub tensile: f64,
    /// Friction that depends on the rate of shear; none for constant friction.
    pub rate: Option<Rate>,
    /// Index of the sand's material, for its friction with walls.
    pub material: u16,
    /// Materials of sand and walls.
    pub materials: Materials,
    /// How velocities go between parcels and grid.
    pub transfer: Transfer,
    /// Shape of the yield surface.
    pub yields: Yield,
    /// Cells that a parcel may cross in a step.
    pub courant: f64,
    /// Rounds of pressure and friction in a step.
    pub sweeps: usize,
    /// Width of the compact band ε: cells filled from 1 − ε on bear load.
    pub compact: f64,
    /// Violation of the volume constraint at which the pressure solver stops, as a share of a cell.
    pub tolerance: f64,
    /// Quanta of mass of a parcel of nominal size; a gas grain is one quantum.
    pub split: u32,
    /// How thin sand flies as gas; none keeps all of it liquid.
    pub gas: Option<GasSettings>,
    /// How gas rides on the liquid.
    pub surface: SurfaceSettings,
    /// How deep sand at rest freezes; none keeps all of it liquid.
    pub solid: Option<SolidSettings>,
    /// What pictures are given.
    pub shown: Shown,
    /// Most parcels and grains of gas.
    pub capacity: usize,
}

impl Settings {
    /// Dry sand in a domain of cells of side `cell` [m], with every other value at its default.
    pub fn sand(domain: Domain, cell: f64, materials: Materials) -> Settings {
        Settings {
            domain,
            cell,
            gravity: DVec3::new(0.0, 0.0, -9.81),
            friction_angle: 32f64.to_radians(),
            density: 2650.0,
            packing: 0.60,
            grain: 1e-3,
            cohesion: 0.0,
            tensile: 0.0,
            rate: None,
            material: 0,
            materials,
            transfer: Transfer::Apic,
            yields: Yield::Cone,
            courant: 1.0,
            sweeps: 2,
            compact: 0.13,
            tolerance: 3e-4,
            split: 8,
            gas: Some(GasSettings::default()),
            surface: SurfaceSettings::default(),
            solid: None,
            shown: Shown::default(),
            capacity: 20_000_000,
        }
    }

    /// Density of packed sand ρ_max [kg/m³].
    pub fn bulk(&self) -> f64 {
        self.density * self.packing
    }

    /// Coefficient of friction μ = tan θ at slow shear.
    pub fn friction(&self) -> f64 {
        barchan_core::math::tan(self.friction_angle)
    }

    /// Tension that sand bears, over ρ_max [m²/s²]: the given one, as far as the cone goes (c/μ).
    pub fn tension(&self) -> f64 {
        let tip = if self.friction() > 0.0 { self.cohesion / self.friction() } else { f64::INFINITY };
        self.tensile.min(tip) / self.bulk()
    }

    /// Mass of a quantum [kg]: eight parcels of nominal size fill a cell.
    pub fn quantum(&self) -> f64 {
        self.bulk() * self.cell.powi(3) / (8.0 * f64::from(self.split))
    }

    /// Diameter of a grain of gas [m]: the sphere of one quantum.
    pub fn gas_diameter(&self) -> f64 {
        barchan_core::math::cbrt(6.0 * self.quantum() / (std::f64::consts::PI * self.density))
    }

    /// Volume of a quantum when packed, as a share of a cell.
    pub fn fill(&self) -> f64 {
        1.0 / (8.0 * f64::from(self.split))
    }

    /// Every reason why these settings cannot be run.
    pub fn check(&self) -> Result<(), SettingsError> {
        let wrong =
            |name: &'static str, value: f64, allowed: &'static str| Err(SettingsError::Range { name, value, allowed });
        if self.cell.is_nan() || self.cell <= 0.0 {
            return wrong("cell", self.cell, "above 0 m");
        }
        if !(0.0..std::f64::consts::FRAC_PI_4).contains(&self.friction_angle) {
            return wrong("friction_angle", self.friction_angle.to_degrees(), "from 0° to below 45°");
        }
        for (name, value) in [("cohesion", self.cohesion), ("tensile", self.tensile)] {
            if !(value.is_finite() && value >= 0.0) {
                return wrong(name, value, "0 Pa or more");
            }
        }
        if !(self.tolerance.is_finite() && self.tolerance > 0.0) {
            return wrong("tolerance", self.tolerance, "above 0");
        }
        if let Some(gas) = &self.gas {
            if !gas.wind.is_finite() {
                return wrong("wind", gas.wind.length(), "a number of m/s");
            }
            if !(gas.air_density.is_finite() && gas.air_density >= 0.0) {
                return wrong("air_density", gas.air_density, "0 kg/m³ or more");
            }
        }
        if !(self.packing > 0.0 && self.packing < 1.0) {
            return wrong("packing", self.packing, "between 0 and 1");
        }
        if !(0.0..0.5).contains(&self.compact) {
            return wrong("compact", self.compact, "from 0 to below 0.5");
        }
        if !(self.courant > 0.0 && self.courant <= 1.0) {
            return wrong("courant", self.courant, "above 0 and at most 1");
        }
        if self.split == 0 || self.sweeps == 0 {
            return wrong("split and sweeps", 0.0, "at least 1");
        }
        let s = &self.surface;
        if !(s.layers.is_finite() && s.layers > 0.0) {
            return wrong("layers", s.layers, "above 0");
        }
        if !(s.angle > 0.0 && s.angle <= std::f64::consts::FRAC_PI_2) {
            return wrong("angle", s.angle.to_degrees(), "above 0° and at most 90°");
        }
        if s.limit == Limit::PerFace(0) {
            return wrong("per_face", 0.0, "at least 1");
        }
        if let Some(solid) = self.solid
            && solid.cover < 2
        {
            return wrong("cover", f64::from(solid.cover), "at least 2 cells");
        }
        let size = (self.domain.max - self.domain.min) / (8.0 * self.cell);
        for k in (0..3).filter(|&k| self.domain.periodic[k]) {
            if (size[k] - size[k].round()).abs() > 1e-9 * size[k] || size[k] < 0.5 {
                return Err(SettingsError::Period { axis: ["x", "y", "z"][k], bricks: size[k] });
            }
        }
        Ok(())
    }
}

/// Why settings cannot be run.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SettingsError {
    /// A value out of its range.
    #[error("{name} = {value} is not possible; it must be {allowed}")]
    Range {
        /// Which.
        name: &'static str,
        /// What was given.
        value: f64,
        /// What is allowed.
        allowed: &'static str,
    },
    /// A period that is no whole number of bricks.
    #[error("the period along {axis} is {bricks} bricks of eight cells; choose the cell so that it is a whole number")]
    Period {
        /// Which.
        axis: &'static str,
        /// Its length.
        bricks: f64,
    },
}
