//! Matter as a continuum, and the air around it.

use super::MeshFile;
use super::PhaseName;
use super::grains::{Region, Size};
use super::material::Material;
use super::names;
use crate::formula::Formula;
use crate::keys;
use crate::keys::{Interval, Key, Scale, Stated, described};
use crate::presets::Preset;
use crate::read::{Reader, Value};
use crate::units::Quantity as Q;
use glam::DVec3;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;

/// Packing fractions that grains can have: from a loose heap of sticky ones to the densest packing of equal spheres.
const PACKINGS: Interval = Interval {
    from: 0.2,
    with_from: true,
    to: 0.74,
    with_to: true,
    message: "no grains take {} of the space they lie in",
    help: "give 0.2 to 0.74; poured sand has 0.55 to 0.65",
};

/// Friction angles that the method takes [rad].
const ANGLES: Interval = Interval {
    from: 0.0,
    with_from: true,
    to: Continuum::STEEPEST,
    with_to: true,
    message: "a friction angle of {} is impossible here",
    help: "give 0 to 60 deg; dry sand has about 33 deg (a bare number is in radians: write \"33 deg\")",
};

/// Tolerances of the iterations.
const TOLERANCES: Interval = Interval {
    from: 0.0,
    with_from: false,
    to: 0.1,
    with_to: true,
    message: "a tolerance of {} is useless",
    help: "give a share of the density, such as 1e-4; 1e-3 for a preview",
};

keys! {
    /// A population of matter that is computed as a continuum.
    pub struct Continuum = "write each population under its own `[[continuum]]`" {
        /// Name; left out: `continuum 1`, `continuum 2`, …
        name: String = String::new(),
        /// How it is computed.
        method: ContinuumMethod = ContinuumMethod::Sph,
        /// Name of a material: gives the density of its grains and its friction with walls, and with a `preset` what it is in bulk. Left out:
        /// `density` and `friction_angle` are needed, and walls hold the matter with the friction it has itself.
        material: Option<String>,
        /// Distance of particles at rest [m]. In phases a cell of the grid is two of them wide.
        spacing: f64 [LENGTH; positive("the spacing")],
        /// Density of a grain [kg/m³]; left out: that of the material.
        density: f64 [DENSITY; positive("a density")] => |_cx, _keys| Some(f64::NAN),
        /// Share of the volume that grains take at rest; bulk density is `density` times this. Left out: that of the material's preset, or 0.6.
        packing: f64 [NUMBER; interval(PACKINGS)] => |_cx, _keys| Some(f64::NAN),
        /// Slope at which a layer just flows [rad]; left out: that of the material's preset.
        friction_angle: f64 [ANGLE; interval(ANGLES)] => |_cx, _keys| Some(f64::NAN),
        /// Shear strength without pressure [Pa]; left out: that of the material's preset, or none.
        cohesion: f64 [PRESSURE; grows_as(0, 1, 0), not_negative("cohesion")] => |_cx, _keys| Some(f64::NAN),
        /// Largest tension it bears [Pa].
        tensile: f64 [PRESSURE; grows_as(0, 1, 0), not_negative("a tensile strength")] = 0.0,
        /// Friction that grows with the rate of shear, μ(I); left out: constant friction.
        rate: Option<RateLaw>,
        /// The region that is filled at the start: `box`, `cylinder` or `sphere`. Left out: all of it is poured by emitters.
        fill: Option<ContinuumFill>,
        /// Phase in which the filling begins, in phases: `solid` freezes as soon as it bears its load, `gas` are single grains.
        phase: PhaseName = PhaseName::Liquid,
        /// Velocity at the start [m/s].
        velocity: DVec3 [VELOCITY; grows] = DVec3::ZERO,
        /// The grains that pictures show, of SPH; left out: the particles themselves are shown.
        grains: Option<ShownGrains>,
        /// How the equations of SPH are solved; for those of phases see `[phases]`.
        solve: Sph = Sph::default(),
    }
}

keys! {
    /// The region that a continuum fills.
    pub struct ContinuumFill = "write `{ box = { min, max } }`, `{ cylinder = … }` or `{ sphere = … }`" {
        /// The region.
        @flat region: Region [; help("say what to fill: a `box`, `cylinder` or `sphere`")],
        /// A closed mesh that is filled, as far as it lies in the region, in phases; left out: the region alone counts.
        within: Option<MeshFile>,
    }
}

impl Continuum {
    /// Packing where none is given: dry sand that has been poured.
    pub const PACKING: f64 = 0.6;
    /// Largest angle of friction that the SPH method takes [rad].
    pub const STEEPEST: f64 = 60.0 * std::f64::consts::PI / 180.0;

    /// Friction angle that the method of phases does not reach [rad]: with 45° the cone would hold sand upright.
    pub const PHASES_BELOW: f64 = std::f64::consts::FRAC_PI_4;
    /// Least packing that the method of phases takes.
    pub const PHASES_LOOSEST: f64 = 0.4;

    /// Bulk density [kg/m³].
    pub fn bulk_density(&self) -> f64 {
        self.density * self.packing
    }

    /// The region that is filled at the start.
    pub fn region(&self) -> Option<&Region> {
        self.fill.as_ref().map(|f| &f.region)
    }

    /// Fills in what was left out and follows from its material.
    pub(crate) fn complete(&mut self, of: Option<&Material>) {
        let bulk = of.and_then(|m| m.preset).map(Preset::bulk);
        let or = |x: f64, other: f64| if x.is_nan() { other } else { x };
        self.density = or(self.density, of.map_or(f64::NAN, |m| m.density));
        self.packing = or(self.packing, bulk.map_or(Continuum::PACKING, |b| b.packing));
        self.friction_angle = or(self.friction_angle, bulk.map_or(f64::NAN, |b| b.friction_angle));
        self.cohesion = or(self.cohesion, bulk.map_or(0.0, |b| b.cohesion));
    }
}

/// Ways to compute a continuum.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ContinuumMethod {
    /// Particles that carry pressure and stress (smoothed particle hydrodynamics).
    #[default]
    Sph,
    /// Parcels on a grid, and thin sand as a gas of grains.
    Phases,
}
names!(ContinuumMethod { Sph = "sph", Phases = "phases" });

keys! {
    /// Friction that grows with the inertial number I: μ = tan φ + (μ₂ − tan φ)/(1 + I₀/I).
    pub struct RateLaw = "write `{ mu2 = 0.64, i0 = 0.279, grain = \"1 mm\" }`" {
        /// Friction μ₂ of very fast shear.
        mu2: f64 [NUMBER],
        /// Inertial number I₀ at which half of the way is gone; that of glass beads where none is given.
        i0: f64 [NUMBER; positive("I₀")] = RateLaw::I0,
        /// Diameter of a grain [m].
        grain: f64 [LENGTH; positive("the diameter of a grain")],
    }
}

impl RateLaw {
    /// I₀ of glass beads (Jop, Forterre and Pouliquen 2006, Nature 441, 727).
    pub const I0: f64 = 0.279;
}

keys! {
    /// The grains that stand for a continuum in pictures.
    pub struct ShownGrains = "write `{ per_particle = 64, radius = \"1 mm\" }`" {
        /// How many a particle.
        per_particle: u64 [; within(1.0, 32_767.0, "{} grains a particle cannot be shown", "give a number such as 64")] = ShownGrains::PER_PARTICLE,
        /// Their radius.
        radius: Size [; stays, help("add `radius`: a length, such as \"1 mm\", or a distribution")],
        /// When a grain leaves the flow and flies.
        upsampling: Upsampling = Upsampling::Filling,
    }
}

/// When a grain that is shown flies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Upsampling {
    /// Where the place is less than half full.
    #[default]
    Filling,
    /// By the weights of the nearest particles (Ihmsen et al. 2012): for comparison, grains of beds at rest sink and clump.
    Ihmsen,
}
names!(Upsampling { Filling = "filling", Ihmsen = "ihmsen" });

impl ShownGrains {
    /// Grains a particle where no number is given.
    pub const PER_PARTICLE: u64 = 64;
}

keys! {
    /// How the equations of an SPH continuum are solved.
    pub struct Sph = "write `{ tolerance = 1e-4 }`" {
        /// The kernel.
        kernel: KernelName = KernelName::Cubic,
        /// What the pressure keeps.
        pressure: PressureSolve = PressureSolve::Velocity,
        /// How friction acts.
        friction: FrictionSolve = FrictionSolve::Projected,
        /// Which cone of yield `friction_angle` means.
        cone: ConeName = ConeName::SimpleShear,
        /// Distance of two nodes of the volume maps of meshes [m]; left out: half a spacing.
        map_cell: Option<f64> [LENGTH; positive("a cell of volume maps")],
        /// What is done as it was published instead, for comparison.
        published: Vec<PublishedChoice> [; help("write a list such as [\"mass\", \"walls\"]")] = Vec::new(),
        /// Largest mean compression left in a step, over the rest density.
        tolerance: f64 [NUMBER; interval(TOLERANCES)] = Sph::TOLERANCE,
        /// Longest step [s]; left out: a tenth of √(spacing/g).
        largest_step: Option<f64> [TIME; positive("the longest step")],
    }
}

impl Sph {
    /// Tolerance where none is given.
    pub const TOLERANCE: f64 = 1e-4;
}

impl Default for Sph {
    fn default() -> Sph {
        Sph {
            kernel: KernelName::default(),
            pressure: PressureSolve::default(),
            friction: FrictionSolve::default(),
            cone: ConeName::default(),
            map_cell: None,
            published: Vec::new(),
            tolerance: Sph::TOLERANCE,
            largest_step: None,
        }
    }
}

/// Kernels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum KernelName {
    /// Cubic spline.
    #[default]
    Cubic,
    /// Wendland's C².
    Wendland,
    /// Spiky (Desbrun and Gascuel 1996).
    Spiky,
}
names!(KernelName { Cubic = "cubic", Wendland = "wendland", Spiky = "spiky" });

/// What the pressure of a continuum keeps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PressureSolve {
    /// Full matter does not close further; what is too dense already is moved apart without gaining speed.
    #[default]
    Velocity,
    /// The density itself, as in IISPH (Ihmsen et al. 2014): for comparison, beds do not come to rest.
    Iisph,
}
names!(PressureSolve { Velocity = "velocity", Iisph = "iisph" });

/// How the friction of a continuum acts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FrictionSolve {
    /// The stress is an unknown, projected on the yield surface in every iteration: slopes stand.
    #[default]
    Projected,
    /// Once a step from the rate of strain: for comparison, slopes creep.
    OneShot,
    /// None: a liquid that does not resist being torn.
    None,
}
names!(FrictionSolve { Projected = "projected", OneShot = "one-shot", None = "none" });

/// Cones of yield, by the ratio of the norm of the deviatoric stress to the pressure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ConeName {
    /// √2 tan φ: a layer on a slope flows from φ on.
    #[default]
    SimpleShear,
    /// √2 sin φ (Narain et al. 2010): a layer flows from atan(sin φ) on.
    PlaneStrain,
    /// 2√6 sin φ/(3 − sin φ) (Klár et al. 2016).
    TriaxialCompression,
    /// 2√6 sin φ/(3 + sin φ).
    TriaxialExtension,
    /// √(2/3) sin φ (Zhu and Bridson 2005).
    ZhuBridson,
}
names!(ConeName {
    SimpleShear = "simple-shear",
    PlaneStrain = "plane-strain",
    TriaxialCompression = "triaxial-compression",
    TriaxialExtension = "triaxial-extension",
    ZhuBridson = "zhu-bridson",
});

/// What can be done as it was published.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PublishedChoice {
    /// 0.8 of the mass that fills a particle's place: columns sink.
    Mass,
    /// Volume maps without calibration (Bender et al. 2019): beds hover above their floor.
    Walls,
    /// Half of the trace off the rate of strain: matter that is compressed is sheared.
    Trace,
}
names!(PublishedChoice { Mass = "mass", Walls = "walls", Trace = "trace" });

keys! {
    /// The air around the matter.
    pub struct Air = "write `velocity = [8, 0, 0]` under `[air]`" {
        /// Velocity of the wind [m/s]: three components, each a number or a formula of x, y, z [m] and t [s].
        velocity: Wind [VELOCITY; grows] = Wind::CALM,
        /// Gusts; left out: a steady wind.
        gusts: Option<Gusts>,
        /// Whether the wind blows along the free surface of the matter instead of into it.
        along_surface: bool = false,
        /// Density [kg/m³].
        density: f64 [DENSITY; not_negative("a density")] = Air::DENSITY,
        /// Viscosity [Pa s].
        viscosity: f64 [VISCOSITY; positive("a viscosity")] = Air::VISCOSITY,
        /// What drags.
        drag: Drag = Drag::Grains,
        /// Drag coefficient of a particle, with `drag = "blob"`. That of grains follows from their size and speed.
        coefficient: f64 [NUMBER; not_negative("a drag coefficient")] = Air::COEFFICIENT,
    }
}

impl Air {
    /// Density at 20 °C and one atmosphere [kg/m³].
    pub const DENSITY: f64 = 1.204;
    /// Viscosity at 20 °C [Pa s].
    pub const VISCOSITY: f64 = 1.845e-5;
    /// Drag coefficient of a sphere in turbulent flow.
    pub const COEFFICIENT: f64 = 0.47;
}

impl Default for Air {
    /// Still air of 20 °C.
    fn default() -> Air {
        Air {
            velocity: Wind::CALM,
            gusts: None,
            along_surface: false,
            density: Air::DENSITY,
            viscosity: Air::VISCOSITY,
            drag: Drag::Grains,
            coefficient: Air::COEFFICIENT,
        }
    }
}

/// A component of a field: a number, or a formula of x, y, z and t.
#[derive(Clone, Debug, PartialEq)]
pub enum Component {
    /// The same everywhere, always.
    Number(f64),
    /// A formula.
    Formula(Formula),
}

/// Velocity of the wind [m/s], component by component.
#[derive(Clone, Debug, PartialEq)]
pub struct Wind(pub [Component; 3]);

impl Wind {
    /// No wind.
    pub const CALM: Wind = Wind([Component::Number(0.0), Component::Number(0.0), Component::Number(0.0)]);

    /// The velocity [m/s] of a wind that is the same everywhere, always; none where a component is a formula.
    pub fn steady(&self) -> Option<DVec3> {
        let number = |c: &Component| match c {
            Component::Number(speed) => Some(*speed),
            Component::Formula(_) => None,
        };
        let [x, y, z] = self.0.each_ref().map(number);
        Some(DVec3::new(x?, y?, z?))
    }
}

impl Stated for Wind {
    fn read(cx: &mut Reader, value: &Value, key: &Key) -> Self {
        let help = "write three components, such as [8, 0, 0] or [\"8*(1 + 0.3*sin(2*t))\", 0, 0]";
        let Some(items) = value.list(cx, Some(3), help) else { return Wind::CALM };
        // A text is a speed with its unit, or else a formula.
        Wind(std::array::from_fn(|k| {
            let item = &items[k];
            if !item.is_text() {
                return Component::Number(item.quantity(cx, key.quantity));
            }
            let text = item.text(cx);
            if let Ok(speed) = Q::VELOCITY.parse(&text) {
                return Component::Number(speed);
            }
            let key = key
                .variables(&["x", "y", "z", "t"])
                .help("write a speed, or a formula of x, y, z and t, such as \"8*exp(-z/2)\"");
            Component::Formula(Formula::read(cx, item, &key))
        }))
    }

    fn unknown() -> Self {
        Wind::CALM
    }

    fn write(&self) -> Option<toml::Value> {
        let component = |c: &Component| match c {
            Component::Number(x) => toml::Value::from(*x),
            Component::Formula(formula) => toml::Value::from(formula.text()),
        };
        Some(toml::Value::Array(self.0.iter().map(component).collect()))
    }

    fn schema(_: &mut SchemaGenerator, key: &Key) -> Schema {
        let item = json_schema!({ "anyOf": [{ "type": "number" }, { "type": "string" }] });
        described(json_schema!({ "type": "array", "items": item, "minItems": 3, "maxItems": 3 }), key)
    }

    fn grow(&mut self, scale: &Scale, key: &Key) {
        for component in &mut self.0 {
            match component {
                Component::Number(speed) => *speed *= scale.factor(key.growth, key.quantity),
                // A formula says itself where and when.
                Component::Formula(_) => {}
            }
        }
    }

    fn kind(_: &Key) -> String {
        "x, y, z, each a number or a formula [m/s]".into()
    }
}

keys! {
    /// Gusts: the wind's speed swells and fades.
    pub struct Gusts = "write `{ share = 0.3, period = \"2 s\" }`" {
        /// How much of the wind's speed comes and goes.
        share: f64 [NUMBER; within(0.0, 1.0, "gusts of {} of the wind are impossible", "give a share from 0 to 1")],
        /// Time from one gust to the next, on average [s].
        period: f64 [TIME; grows, positive("the time between gusts")],
    }
}

/// What the air drags on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Drag {
    /// On single grains: what flies is a cloud of them.
    #[default]
    Grains,
    /// On whole particles, as on drops.
    Blob,
    /// From drops alone to cubes among others (Gissler et al. 2017).
    Blend,
    /// On nothing.
    None,
}
names!(Drag { Grains = "grains", Blob = "blob", Blend = "blend", None = "none" });
