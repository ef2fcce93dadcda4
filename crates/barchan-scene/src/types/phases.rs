//! How a continuum is computed in three phases.

use super::{ContinuumMethod, Scene, names};
use crate::keys;
use crate::keys::Interval;
use schemars::JsonSchema;
use serde::Serialize;

/// Cells that a parcel may cross in a step.
const COURANTS: Interval = Interval {
    from: 0.0,
    with_from: false,
    to: 1.0,
    with_to: true,
    message: "a parcel cannot cross {} cells in a step",
    help: "give a number above 0, at most 1",
};

/// Tolerances of the pressure.
const TOLERANCES: Interval = Interval {
    from: 0.0,
    with_from: false,
    to: 0.1,
    with_to: true,
    message: "a tolerance of {} is useless",
    help: "give a share of a cell, such as 1e-3",
};

keys! {
    /// How a continuum with `method = "phases"` is computed.
    pub struct Phases = "write `transfer = \"apic\"` under `[phases]`" {
        /// Diameter of a grain [m], by which air slows the gas; left out: that of `rate`, or 0.5 mm.
        grain: Option<f64> [LENGTH; positive("the diameter of a grain")],
        /// How velocities go between parcels and grid.
        transfer: TransferName = TransferName::Apic,
        /// Share of FLIP in `transfer = "flip"`; the rest is APIC.
        flip_share: f64 [NUMBER; within(0.0, 1.0, "a share of {} is impossible", "give a share from 0 to 1")] = Phases::FLIP_SHARE,
        /// Shape of the yield surface.
        yields: YieldName = YieldName::Cone,
        /// Rounds of pressure and friction in a step.
        sweeps: u64 [; within(1.0, 100.0, "{} rounds cannot be computed", "give a whole number from 1, such as 2")] = Phases::SWEEPS,
        /// Cells that a parcel may cross in a step.
        courant: f64 [NUMBER; interval(COURANTS)] = 1.0,
        /// Largest error of the volume that the pressure leaves in a step, as a share of a cell.
        tolerance: f64 [NUMBER; interval(TOLERANCES)] = Phases::TOLERANCE,
        /// Quanta of mass of a parcel: as many grains of gas come of one.
        split: u64 [; within(1.0, 4096.0, "a parcel cannot be split into {}", "give a whole number from 1, such as 8")] = Phases::SPLIT,
        /// Whether thin sand flies as gas; otherwise all of it stays liquid.
        gas: bool = true,
        /// How sand that lies still freezes.
        solid: SolidPhase = SolidPhase::default(),
        /// How gas rides on the liquid.
        surface: SurfacePhase = SurfacePhase::default(),
        /// Restitution of impacts of gas on walls and on sand.
        restitution: f64 [NUMBER; within(0.0, 1.0, "a restitution of {} is impossible", "give a number from 0 to 1")] = Phases::RESTITUTION,
        /// What pictures show of the sand.
        shown: ShownSand = ShownSand::Surface,
        /// Most parcels and grains of gas; a run that needs more stops.
        capacity: u64 [; within(1.0, 4.29e9, "a capacity of {} is impossible", "give a number of parcels, such as 20000000")] = Phases::CAPACITY,
    }
}

keys! {
    /// Sand that lies still and deep is taken off the grid until something moves it.
    pub struct SolidPhase = "write `cover = 4` under `[phases.solid]`" {
        /// Whether sand freezes; otherwise all of it stays liquid.
        enabled: bool = true,
        /// Full cells of liquid that lie over frozen ones.
        cover: u64 [; within(2.0, 1000.0, "a cover of {} cells is impossible", "give a whole number from 2, such as 4")] = SolidPhase::COVER,
    }
}

/// Slopes above which a face of the surface carries no grains [rad].
const SLOPES: Interval = Interval {
    from: 0.0,
    with_from: false,
    to: std::f64::consts::FRAC_PI_2,
    with_to: true,
    message: "a slope of {} is impossible here",
    help: "give an angle above 0, at most 90 deg, such as \"85 deg\"",
};

keys! {
    /// Grains of gas that ride on the liquid are spread until they lie side by side.
    pub struct SurfacePhase = "write `layers = 2` under `[phases.surface]`" {
        /// Most grains on a face of the surface; left out: as many as lie side by side.
        per_face: Option<u64> [; within(1.0, 1e6, "a face cannot carry {} grains", "give a whole number from 1, such as 20")],
        /// Layers of grains that lie on a face, where `per_face` is left out.
        layers: f64 [NUMBER; positive("the number of layers")] = 1.0,
        /// Slope above which a face carries none [rad].
        angle: f64 [ANGLE; interval(SLOPES)] = SurfacePhase::ANGLE,
        /// Passes of displacement in a step; 0 lets grains clump.
        passes: u64 [; within(0.0, 100.0, "{} passes cannot be computed", "give a whole number, such as 2")] = SurfacePhase::PASSES,
        /// Whether grains cross from face to face at once, in whole numbers, instead of being displaced over some steps.
        exact: bool = false,
    }
}

impl SurfacePhase {
    /// Slope where none is given [rad]: 85°.
    pub const ANGLE: f64 = 85.0 * std::f64::consts::PI / 180.0;
    /// Passes where no number is given.
    pub const PASSES: u64 = 2;
}

impl Default for SurfacePhase {
    fn default() -> SurfacePhase {
        SurfacePhase {
            per_face: None,
            layers: 1.0,
            angle: SurfacePhase::ANGLE,
            passes: SurfacePhase::PASSES,
            exact: false,
        }
    }
}

impl SolidPhase {
    /// Cells of cover where no number is given.
    pub const COVER: u64 = 4;
}

impl Default for SolidPhase {
    fn default() -> SolidPhase {
        SolidPhase { enabled: true, cover: SolidPhase::COVER }
    }
}

impl Phases {
    /// Share of FLIP where none is given.
    pub const FLIP_SHARE: f64 = 0.95;
    /// Rounds of pressure and friction where no number is given.
    pub const SWEEPS: u64 = 2;
    /// Tolerance where none is given.
    pub const TOLERANCE: f64 = 3e-4;
    /// Quanta of a parcel where no number is given.
    pub const SPLIT: u64 = 8;
    /// Restitution of gas on walls where none is given.
    pub const RESTITUTION: f64 = 0.2;
    /// Parcels and grains of gas at most where no number is given.
    pub const CAPACITY: u64 = 20_000_000;
    /// Diameter of a grain where nobody says [m]: medium sand.
    pub const GRAIN: f64 = 0.5e-3;
    /// Distances of parcels along a cell of the grid.
    pub const SPACINGS_PER_CELL: f64 = 2.0;
    /// Cells along a brick of the grid: a periodic domain is a whole number of bricks wide.
    pub const CELLS_PER_BRICK: f64 = 8.0;
}

impl Scene {
    /// How the continuum of the scene is computed, where it has one.
    pub fn continuum_method(&self) -> Option<ContinuumMethod> {
        self.continuum.first().map(|m| m.method)
    }

    /// The scene without the phases that are not asked for: frozen sand stays liquid, or thin sand does, and feels no air. None where no continuum
    /// is computed in phases.
    pub fn with_phases(&self, solid: bool, gas: bool) -> Option<Scene> {
        if self.continuum_method() != Some(ContinuumMethod::Phases) {
            return None;
        }
        let mut scene = self.clone();
        let phases = scene.phases.get_or_insert_default();
        phases.solid = if solid {
            SolidPhase { enabled: true, ..phases.solid }
        } else {
            SolidPhase { enabled: false, ..SolidPhase::default() }
        };
        phases.gas = gas;
        let lost = |p: PhaseName| (p == PhaseName::Solid && !solid) || (p == PhaseName::Gas && !gas);
        let began =
            scene.continuum.iter_mut().map(|m| &mut m.phase).chain(scene.emitters.iter_mut().map(|e| &mut e.phase));
        began.filter(|p| lost(**p)).for_each(|p| *p = PhaseName::Liquid);
        if !gas {
            phases.surface = SurfacePhase::default();
            phases.restitution = Phases::RESTITUTION;
            scene.air = None;
        }
        Some(scene)
    }

    /// Diameter of a grain of a continuum in phases [m].
    pub fn grain_in_phases(&self) -> f64 {
        let of_rate = || self.continuum.iter().find_map(|m| m.rate.as_ref()).map(|r| r.grain);
        self.phases.as_ref().and_then(|p| p.grain).or_else(of_rate).unwrap_or(Phases::GRAIN)
    }
}

impl Default for Phases {
    fn default() -> Phases {
        Phases {
            grain: None,
            transfer: TransferName::default(),
            flip_share: Phases::FLIP_SHARE,
            yields: YieldName::default(),
            sweeps: Phases::SWEEPS,
            courant: 1.0,
            tolerance: Phases::TOLERANCE,
            split: Phases::SPLIT,
            gas: true,
            solid: SolidPhase::default(),
            surface: SurfacePhase::default(),
            restitution: Phases::RESTITUTION,
            shown: ShownSand::default(),
            capacity: Phases::CAPACITY,
        }
    }
}

/// A state of sand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PhaseName {
    /// Frozen: it lies still and costs nothing.
    Solid,
    /// Parcels that flow.
    #[default]
    Liquid,
    /// Single grains that fly.
    Gas,
}
names!(PhaseName { Solid = "solid", Liquid = "liquid", Gas = "gas" });

/// How velocities go between parcels and grid.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TransferName {
    /// Affine: a parcel carries the gradient of the velocity too (Jiang et al. 2015).
    #[default]
    Apic,
    /// A parcel adds the grid's change of velocity to its own (Brackbill and Ruppel 1986): livelier, and noisier.
    Flip,
    /// A parcel takes the grid's velocity: smooth, and slow to turn.
    Pic,
}
names!(TransferName { Apic = "apic", Flip = "flip", Pic = "pic" });

/// What pictures show of sand in phases.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ShownSand {
    /// Parcels, as balls of their bulk volume.
    Parcels,
    /// A grain for every quantum near surfaces and walls.
    #[default]
    Surface,
    /// A grain for every quantum, also inside, for pictures that are cut open.
    All,
    /// The surface as a mesh, with the load and Ψ of its faces, and grains of gas.
    Mesh,
}
names!(ShownSand { Parcels = "parcels", Surface = "surface", All = "all", Mesh = "mesh" });

/// Where sand yields.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum YieldName {
    /// A cone, the same in all directions.
    #[default]
    Cone,
    /// A box for each component of the stress (Narain et al. 2010): for comparison, slopes are too steep and know the grid.
    Box,
}
names!(YieldName { Cone = "cone", Box = "box" });
