//! Grains: shapes, sizes, where they are at the start, how they come and go.

use super::{At, MeshFile, PhaseName, Release, names};
use crate::formula::Formula;
use crate::keys::{OneOf, Rows, Scale, Schema, SchemaGenerator};
use crate::read::{Reader, Value};
use crate::{keys, one_of};
use barchan_core::math;
use glam::{DVec2, DVec3};
use schemars::JsonSchema;
use serde::Serialize;

one_of! {
    /// A named grain shape.
    pub enum ShapeSpec = "write `spheres = [{ at = [0, 0, 0], radius = \"1 mm\" }, …]`, `tetrahedron = { edge = 1.2 }` or `mesh = { file = \"bunny.obj\", radius = \"1 mm\" }`" {
        /// A clump: spheres in metres, in any frame.
        Spheres = "spheres" (spheres: Vec<ClumpSphere> [; help("write a list such as [{ at = [0, 0, 0], radius = \"1 mm\" }, …]")]),
        /// Four equal spheres at the corners of a regular tetrahedron.
        Tetrahedron = "tetrahedron" / "{ edge = 1.2 }" {
            /// Edge of the tetrahedron over the radius of a sphere.
            edge: f64 [NUMBER; positive("the edge of a tetrahedron")] = ShapeSpec::TETRAHEDRON_EDGE,
        },
        /// A solid from a closed mesh (STL, OBJ, PLY, glTF), touched through spheres that line its surface from within.
        Mesh = "mesh" (mesh: ShapeMesh),
    }
}

keys! {
    /// A closed mesh as the shape of a grain.
    pub struct ShapeMesh = "write `{ file = \"bunny.obj\", scale = 0.05, radius = \"1 mm\" }`" {
        /// Path of the file, from the folder of the scene; or a shape that needs none, of about unit size: `box`, `sphere`,
        /// `cylinder`, `torus`, `trefoil`.
        file: String [; help("add `file`: the path of a closed STL, OBJ, PLY or glTF mesh")],
        /// Metres of a unit of the file: 0.001 for one in millimetres.
        scale: f64 [NUMBER; positive("the scale")] = 1.0,
        /// Radius of the spheres [m].
        radius: f64 [LENGTH; positive("the radius of the spheres")],
        /// How deep the dimples between the spheres may be, over the radius: 0.1 is smooth, 0.5 takes a quarter of the spheres.
        roughness: f64 = ShapeMesh::ROUGHNESS,
        /// The smallest sphere used where a whole one does not fit, over the radius; 1 rounds edges off instead.
        smallest: f64 = ShapeMesh::SMALLEST,
    }
}

impl ShapeMesh {
    /// Roughness where none is given.
    pub const ROUGHNESS: f64 = 0.1;
    /// Smallest sphere over the radius where none is given.
    pub const SMALLEST: f64 = 0.25;
}

impl ShapeSpec {
    /// Name of the built-in single sphere.
    pub const SPHERE: &'static str = "sphere";
    /// Name of the built-in tetrahedral grain.
    pub const TETRAHEDRON: &'static str = "tetrahedron";
    /// Edge over radius of the built-in tetrahedral grain.
    pub const TETRAHEDRON_EDGE: f64 = 1.2;
}

keys! {
    /// One sphere of a clump.
    pub struct ClumpSphere = "write `{ at = [0, 0, 0], radius = \"1 mm\" }`" {
        /// Centre [m].
        at: DVec3 [LENGTH],
        /// Radius [m].
        radius: f64 [LENGTH; positive("the radius of a sphere")],
    }
}

one_of! {
    /// Distribution of the radius of a grain's largest sphere.
    pub enum Size = "write a length, or `{ uniform = [\"0.8 mm\", \"1.2 mm\"] }`, `{ normal = { mean, sd } }`, `{ lognormal = { median, sigma } }`, `{ sieve = [[diameter, passing], …] }`" {
        /// Between two radii [m], by number.
        Uniform = "uniform" (ends: [f64; 2] [LENGTH; grows, positive("a radius"),
            help("write the smallest and the largest radius, such as [\"0.8 mm\", \"1.2 mm\"]")]),
        /// Normal distribution by number, cut off at both ends.
        Normal = "normal" / "{ mean = \"1 mm\", sd = \"0.1 mm\" }" {
            /// Mean radius [m].
            mean: f64 [LENGTH; grows, positive("a mean radius")],
            /// Standard deviation [m].
            sd: f64 [LENGTH; grows, positive("a standard deviation")],
            /// Smallest radius [m]; left out: mean − 3 sd, but at least a tenth of the mean.
            min: f64 [LENGTH; grows, positive("the smallest radius")]
                => |_cx, _keys| Some((mean - 3.0 * sd).max(0.1 * mean)),
            /// Largest radius [m]; left out: mean + 3 sd.
            max: f64 [LENGTH; grows] => |_cx, _keys| Some(mean + 3.0 * sd),
        },
        /// Log-normal distribution by number, cut off at both ends.
        Lognormal = "lognormal" / "{ median = \"1 mm\", sigma = 0.2 }" {
            /// Median radius [m].
            median: f64 [LENGTH; grows, positive("a median radius")],
            /// Standard deviation of the radius' logarithm.
            sigma: f64 [NUMBER; positive("sigma")],
            /// Smallest radius [m]; left out: median × exp(−3 sigma).
            min: f64 [LENGTH; grows, positive("the smallest radius")]
                => |_cx, _keys| Some(median * math::exp(-3.0 * sigma)),
            /// Largest radius [m]; left out: median × exp(3 sigma).
            max: f64 [LENGTH; grows] => |_cx, _keys| Some(median * math::exp(3.0 * sigma)),
        },
        /// Sieve curve: diameter [m] and cumulative share of the mass that passes it, from 0 at the first row to 1
        /// at the last.
        Sieve = "sieve" (rows: Vec<[f64; 2]> [LENGTH; then_number, grows, positive("a diameter"),
            help("write rows of diameter and share of the mass that passes, such as [[\"0.5 mm\", 0.1], [\"1 mm\", 1]]")]),
    }
    else
    /// One radius for all [m].
    Fixed(radius: f64 [LENGTH; grows, positive("a radius")])
}

impl Size {
    /// Smallest radius [m].
    pub fn smallest(&self) -> f64 {
        match self {
            Self::Fixed(r) => *r,
            Self::Uniform([a, _]) => *a,
            Self::Normal { min, .. } | Self::Lognormal { min, .. } => *min,
            Self::Sieve(rows) => rows.first().map_or(f64::NAN, |r| 0.5 * r[0]),
        }
    }

    /// Largest radius [m].
    pub fn largest(&self) -> f64 {
        match self {
            Self::Fixed(r) => *r,
            Self::Uniform([_, b]) => *b,
            Self::Normal { max, .. } | Self::Lognormal { max, .. } => *max,
            Self::Sieve(rows) => rows.last().map_or(f64::NAN, |r| 0.5 * r[0]),
        }
    }
}

keys! {
    /// A population of grains.
    pub struct Grains = "write each population under its own `[[grains]]`" {
        /// Name; left out: `grains 1`, `grains 2`, …
        name: String = String::new(),
        /// Name of the material.
        material: String [; help("add `material`: the name of one of the `[materials.…]`")],
        /// Name of the shape.
        shape: String = ShapeSpec::SPHERE.to_owned(),
        /// Radius of the largest sphere of each grain; may be left out for shapes that are listed in metres. It grows where the grains are placed by `at`.
        radius: Option<Size> [; stays],
        /// Where the grains are.
        @flat place: Place,
        /// Turn of every grain from the frame of its shape, axis times angle; left out: at random, and those of a mesh placed by
        /// `at` as they stand in its file.
        turn: Option<DVec3> [ANGLE],
        /// Velocity at the start [m/s].
        velocity: DVec3 [VELOCITY; grows] = DVec3::ZERO,
        /// Angular velocity at the start [rad/s].
        spin: DVec3 [ANGULAR_RATE; grows] = DVec3::ZERO,
        /// Standard deviation of each velocity component about `velocity` [m/s].
        velocity_spread: f64 [VELOCITY; grows, not_negative("a spread of velocities")] = 0.0,
        /// Velocity at the start as three formulas of the place x, y, z [m], in m/s; it is added to `velocity`.
        velocity_field: Vec<Formula> [; variables(&["x", "y", "z"]),
            help("write three formulas of x, y and z in metres, such as [\"-10*y\", \"10*x\", \"0\"]")] = Vec::new(),
        /// Whether the grains stay where they are, whatever pushes them.
        fixed: bool = false,
        /// Bonds between its grains that are near each other at the start; left out: none.
        bonds: Option<Bonds>,
    }
}

keys! {
    /// Bonds between grains: beams that stretch, shear, bend and twist until they break.
    pub struct Bonds = "write `bonds = { young = \"5 MPa\", tensile = \"5 kPa\" }`" {
        /// Young's modulus [Pa].
        young: f64 [PRESSURE; positive("the modulus of bonds")],
        /// Normal over shear stiffness.
        ratio: f64 [NUMBER; positive("the ratio of stiffnesses")] = Bonds::RATIO,
        /// Radius over that of the smaller grain.
        radius: f64 [NUMBER; positive("the radius of bonds")] = 1.0,
        /// Tensile strength [Pa].
        tensile: f64 [PRESSURE; positive("the tensile strength")],
        /// Shear strength [Pa]; left out: the tensile one.
        shear: f64 [PRESSURE; positive("the shear strength")] => |_cx, _keys| Some(tensile),
        /// Angle of friction by which pressure adds to the shear strength.
        friction: f64 [ANGLE; within(0.0, 1.5, "an angle of friction of {} rad cannot be", "use 0 to 85 degrees")] = 0.0,
        /// Damping over critical damping.
        damping: f64 [NUMBER; within(0.0, 1.0, "a damping of {} cannot be", "use 0 to 1")] = Bonds::DAMPING,
        /// Weibull modulus by which strengths scatter about the given ones, which 63 % of the bonds do not reach: 3 is a wide scatter, 20 a narrow one;
        /// left out: none.
        weibull: Option<f64> [NUMBER; within(0.5, f64::INFINITY, "a Weibull modulus of {} cannot be", "use 0.5 or more; snow and rock have 1 to 10")],
        /// Grains whose gap is less than this share of the smaller radius are bonded.
        gap: f64 [NUMBER; not_negative("the gap")] = Bonds::GAP,
        /// Bonds to walls that stand still and to the ground, with strengths of their own: a weak layer; left out: none.
        base: Option<BaseBonds>,
    }
}

keys! {
    /// Strengths of the bonds to walls and ground.
    pub struct BaseBonds = "write `base = { tensile = \"500 Pa\" }`" {
        /// Tensile strength [Pa].
        tensile: f64 [PRESSURE; positive("the tensile strength")],
        /// Shear strength [Pa]; left out: the tensile one.
        shear: f64 [PRESSURE; positive("the shear strength")] => |_cx, _keys| Some(tensile),
    }
}

impl Bonds {
    /// Normal over shear stiffness where none is given (Potyondy and Cundall 2004).
    pub const RATIO: f64 = 2.5;
    /// Damping where none is given.
    pub const DAMPING: f64 = 0.1;
    /// Gap where none is given.
    pub const GAP: f64 = 0.05;
}

one_of! {
    /// Where a population is.
    pub enum Place = "add `fill = { box = { min, max }, count }`, `release = { polygon, thickness }`, `sheet = { min, max, layers }`, `trees = { at, height }` or `at = [[x, y, z], …]`" {
        /// A region is filled.
        Fill = "fill" (fill: Fill),
        /// Grains lie on rock within an outline.
        Release = "release" (release: Release),
        /// Trunks of touching grains that stand on the ground; bonded, they are trees.
        Trees = "trees" / "{ at = [[0, 0], [4, 1]], height = \"8 m\" }" {
            /// Where they stand, x and y [m].
            at: Vec<DVec2> [LENGTH; grows, help("write a list of places, such as [[0, 0], [4, 1]]")],
            /// Height [m]; rounded to whole grains.
            height: f64 [LENGTH; grows, positive("the height of a tree")],
        },
        /// Grains in rows and layers on the ground, along its slope, as far apart as the largest are wide; of one size and bonded, they are a slab of snow.
        Sheet = "sheet" / "{ min = [0, 0], max = [\"20 m\", \"10 m\"], layers = 3 }" {
            /// Lower corner, x and y [m].
            min: DVec2 [LENGTH; grows],
            /// Upper corner, x and y [m].
            max: DVec2 [LENGTH; grows],
            /// Layers of grains.
            layers: u64 [; within(1.0, 1000.0, "a sheet of {} layers cannot be laid", "give 1 or more")] = 1,
        },
        /// Positions of the grains' centres of mass [m], as a list, from a file, or along a line.
        At = "at" (places: At [LENGTH; grows, help("write a list of positions, such as [[0, 0, 0.1]], or `{ file = \"packing.csv\" }`")]),
    }
}

/// Shares of a volume that random insertion of equal spheres can fill: it jams (Widom 1966; at 0.382 by Torquato 2006); a spread of sizes
/// allows a little more.
const FRACTION: keys::Interval = keys::Interval {
    from: 0.0,
    with_from: false,
    to: Fill::RANDOM_LIMIT,
    with_to: true,
    message: "random insertion cannot fill a share of {}",
    help: "it jams at about 0.38; use at most 0.35, or the method `lattice` and let the grains settle",
};

keys! {
    /// How a region is filled.
    pub struct Fill = "write `{ box = { min, max }, method = \"lattice\", count = 5000 }`" {
        /// The region: whole grains lie inside.
        @flat region: Region [; help("say what to fill: a `box`, `cylinder` or `sphere`")],
        /// How grains are placed.
        method: FillMethod = FillMethod::Lattice,
        /// A closed mesh within which whole grains must lie, besides in the region; left out: the region alone counts.
        within: Option<MeshFile>,
        /// Cylinder: radius of the core that stays empty [m], so that an annulus is filled.
        hole: f64 [LENGTH; grows, not_negative("the radius of the hole")] = 0.0,
        /// Number of grains; lattice: left out, the region is filled; random: left out, `fraction` says when to stop.
        count: Option<u64> [; grows_as(1, 0, 0), within(1.0, f64::INFINITY, "a `count` of {} grains is no population", "give at least 1")],
        /// Random: share of the region's volume that the grains take.
        fraction: Option<f64> [NUMBER; interval(FRACTION)],
        /// Rain: simulated time between batches [s].
        every: Option<f64> [TIME; grows, positive("the time between batches")],
        /// Rain: grains of a batch.
        batch: Option<u64> [; grows_as(1, 0, 0), within(1.0, f64::INFINITY, "a `batch` of {} grains is no population", "give at least 1")],
    }
}

impl Fill {
    /// Jitter of the lattice, in units of the largest radius: enough that no crystal is left once the grains have settled.
    pub const JITTER: f64 = 0.1;
    /// Share of the volume at which random insertion of equal spheres jams.
    pub const RANDOM_LIMIT: f64 = 0.38;
}

/// Ways of filling a region.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FillMethod {
    /// A jittered lattice without overlaps, from the lowest layer up.
    #[default]
    Lattice,
    /// Random insertion without overlaps.
    Random,
    /// Batches that drop in one after another during the run (Longmore 2009, 7.2.1).
    Rain,
}
names!(FillMethod { Lattice = "lattice", Random = "random", Rain = "rain" });

one_of! {
    /// A bounded region of space.
    pub enum Region = "say where: a `box`, `cylinder` or `sphere`" {
        /// Along the axes.
        Box = "box" / "{ min = [0, 0, 0], max = [0.1, 0.1, 0.1] }" {
            /// Lower corner [m].
            min: DVec3 [LENGTH; grows],
            /// Upper corner [m].
            max: DVec3 [LENGTH; grows],
        },
        /// With flat ends.
        Cylinder = "cylinder" / "{ base = [0, 0, 0], axis = [0, 0, 1], radius = 0.05, height = 0.1 }" {
            /// Centre of the base [m].
            base: DVec3 [LENGTH; grows],
            /// Direction from the base to the top, of any length.
            axis: DVec3 [NUMBER; direction("the axis")] = DVec3::Z,
            /// Radius [m].
            radius: f64 [LENGTH; grows, positive("the radius")],
            /// Height [m].
            height: f64 [LENGTH; grows, positive("the height")],
        },
        /// A ball.
        Sphere = "sphere" / "{ centre = [0, 0, 0], radius = 0.05 }" {
            /// Centre [m].
            centre: DVec3 [LENGTH; grows],
            /// Radius [m].
            radius: f64 [LENGTH; grows, positive("the radius")],
        },
    }
}

keys! {
    /// A disc that pours grains.
    pub struct Emitter = "write each emitter under its own `[[emitters]]`" {
        /// Name; left out: `emitter 1`, …
        name: String = String::new(),
        /// Name of the `[[continuum]]` that it pours; left out: grains.
        continuum: Option<String>,
        /// Phase of what comes, of a continuum in phases: `liquid` parcels, or single grains of `gas`.
        phase: PhaseName = PhaseName::Liquid,
        /// Name of the material of grains.
        material: String [; help("add `material`: the name of one of the `[materials.…]`; or `continuum`: that of one of the `[[continuum]]`")]
            => |_cx, keys| keys.given("continuum").then(String::new),
        /// Name of the shape.
        shape: String = ShapeSpec::SPHERE.to_owned(),
        /// Radius of the largest sphere of each grain; may be left out for shapes that are listed in metres.
        radius: Option<Size> [; stays],
        /// Where grains appear.
        disc: EmitterDisc [; help("add `disc = { centre = [0, 0, 0.1], normal = [0, 0, -1], radius = \"2 cm\" }`")],
        /// How fast.
        @flat flow: EmitterFlow,
        /// Velocity of new grains [m/s].
        velocity: DVec3 [VELOCITY; grows],
        /// When pouring starts [s].
        from: f64 [TIME; grows, not_negative("the time an emitter starts")] = 0.0,
        /// When pouring ends [s]; left out: with the run.
        until: Option<f64> [TIME; grows],
        /// How many grains at most.
        count: Option<u64> [; grows_as(1, 0, 0)],
    }
}

keys! {
    /// The mouth of an emitter.
    pub struct EmitterDisc = "add `disc = { centre = [0, 0, 0.1], normal = [0, 0, -1], radius = \"2 cm\" }`" {
        /// Centre [m].
        centre: DVec3 [LENGTH; grows],
        /// Direction the mouth looks, of any length.
        normal: DVec3 [NUMBER; direction("the normal")],
        /// Radius [m]; whole grains appear inside.
        radius: f64 [LENGTH; grows, positive("the radius")],
    }
}

one_of! {
    /// How fast an emitter pours.
    pub enum EmitterFlow = "add `rate = \"1000 /s\"` or `mass_rate = \"0.1 kg/s\"`" {
        /// Grains per second [1/s].
        Rate = "rate" (rate: f64 [FREQUENCY; grows_as(1, 0, -1), positive("the rate of an emitter")]),
        /// Mass per second [kg/s].
        MassRate = "mass_rate" (rate: f64 [MASS_RATE; grows_as(1, 0, -1), positive("the rate of an emitter")]),
    }
}

keys! {
    /// A region that removes and counts grains.
    pub struct Sink = "write each sink under its own `[[sinks]]`" {
        /// Name; left out: `sink 1`, …
        name: String = String::new(),
        /// Grains whose centre comes in here are removed.
        @flat region: SinkRegion,
    }
}

one_of! {
    /// What a sink has that other regions have not.
    pub enum HalfSpace = "write `below = { point = [0, 0, 0], normal = [0, 0, 1] }`" {
        /// Everything behind a plane.
        Below = "below" / "{ point = [0, 0, 0], normal = [0, 0, 1] }" {
            /// A point of the plane [m].
            point: DVec3 [LENGTH; grows],
            /// The side that stays, of any length.
            normal: DVec3 [NUMBER; direction("the normal")],
        },
    }
}

/// Where a sink removes grains whose centre comes in.
#[derive(Clone, Debug, PartialEq)]
pub enum SinkRegion {
    /// Unbounded.
    Half(HalfSpace),
    /// A box, cylinder or sphere.
    Region(Region),
}

impl OneOf for SinkRegion {
    const HELP: &'static str = "say where: `box`, `cylinder`, `sphere`, or `below = { point, normal }`";

    fn names() -> Vec<&'static str> {
        [Region::names(), HalfSpace::names()].concat()
    }

    fn chosen(&self) -> &str {
        match self {
            SinkRegion::Half(half) => half.chosen(),
            SinkRegion::Region(region) => region.chosen(),
        }
    }

    fn read_as(cx: &mut Reader, name: &'static str, value: &Value) -> Self {
        match HalfSpace::names().contains(&name) {
            true => SinkRegion::Half(HalfSpace::read_as(cx, name, value)),
            false => SinkRegion::Region(Region::read_as(cx, name, value)),
        }
    }

    fn none() -> Self {
        SinkRegion::Half(HalfSpace::none())
    }

    fn write_inner(&self) -> toml::Value {
        match self {
            SinkRegion::Half(half) => half.write_inner(),
            SinkRegion::Region(region) => region.write_inner(),
        }
    }

    fn schemas(generator: &mut SchemaGenerator) -> Vec<(&'static str, Schema)> {
        [Region::schemas(generator), HalfSpace::schemas(generator)].concat()
    }

    fn grow_inner(&mut self, scale: &Scale) {
        match self {
            SinkRegion::Half(half) => half.grow_inner(scale),
            SinkRegion::Region(region) => region.grow_inner(scale),
        }
    }

    fn check_inner(&self, c: &mut crate::check::Check, path: &str) {
        match self {
            SinkRegion::Half(half) => half.check_inner(c, path),
            SinkRegion::Region(region) => region.check_inner(c, path),
        }
    }

    fn all_rows(rows: &mut Rows) {
        Region::all_rows(rows);
        HalfSpace::all_rows(rows);
    }
}
