//! Grains: shapes, sizes, where they are at the start, how they come and go.

use super::contact::is_zero;
use super::names;
use super::walls::{is_one, one};
use crate::schema as q;
use barchan_core::shapes::Shape;
use glam::DVec3;
use schemars::JsonSchema;
use serde::Serialize;
use std::path::PathBuf;
use std::sync::Arc;

/// A named grain shape.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum ShapeSpec {
    /// A clump: spheres in metres, in any frame.
    Spheres(Vec<ClumpSphere>),
    /// Four equal spheres at the corners of a regular tetrahedron.
    Tetrahedron {
        /// Edge of the tetrahedron over the radius of a sphere.
        #[schemars(schema_with = "q::number")]
        edge: f64,
    },
    /// A solid from a closed mesh (STL, OBJ, PLY, glTF), touched through spheres that line its surface from within.
    Mesh(ShapeMesh),
}

/// A closed mesh as the shape of a grain.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ShapeMesh {
    /// Path of the file, from the folder of the scene; or a shape that needs none, of about unit size: `box`, `sphere`,
    /// `cylinder`, `torus`, `trefoil`.
    pub file: String,
    /// Metres of a unit of the file: 0.001 for one in millimetres.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub scale: f64,
    /// Radius of the spheres [m].
    #[schemars(schema_with = "q::length")]
    pub radius: f64,
    /// How deep the dimples between the spheres may be, over the radius: 0.1 is smooth, 0.5 takes a quarter of the spheres.
    #[serde(default = "smooth", skip_serializing_if = "is_smooth")]
    #[schemars(schema_with = "q::number")]
    pub roughness: f64,
    /// The smallest sphere used where a whole one does not fit, over the radius; 1 rounds edges off instead.
    #[serde(default = "quarter", skip_serializing_if = "is_quarter")]
    #[schemars(schema_with = "q::number")]
    pub smallest: f64,
    /// The shape, once it has been fetched.
    #[serde(skip)]
    #[schemars(skip)]
    pub solid: Solid,
}

impl ShapeMesh {
    /// Roughness where none is given.
    pub const ROUGHNESS: f64 = 0.1;
    /// Smallest sphere over the radius where none is given.
    pub const SMALLEST: f64 = 0.25;
}

fn smooth() -> f64 {
    ShapeMesh::ROUGHNESS
}

fn quarter() -> f64 {
    ShapeMesh::SMALLEST
}

fn is_quarter(x: &f64) -> bool {
    *x == ShapeMesh::SMALLEST
}

fn is_smooth(x: &f64) -> bool {
    *x == ShapeMesh::ROUGHNESS
}

/// A shape that was made from its mesh, or not yet. It says nothing that the file's name does not: all are equal.
#[derive(Clone, Default)]
pub struct Solid {
    /// The shape, and the radius of its largest sphere [m].
    pub shape: Option<Arc<(Shape, f64)>>,
    /// The file it came from; none for a shape that needs none.
    pub path: Option<PathBuf>,
}

impl PartialEq for Solid {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl std::fmt::Debug for Solid {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} spheres", self.shape.as_ref().map_or(0, |s| s.0.spheres().len()))
    }
}

impl ShapeSpec {
    /// Name of the built-in single sphere.
    pub const SPHERE: &'static str = "sphere";
    /// Name of the built-in tetrahedral grain.
    pub const TETRAHEDRON: &'static str = "tetrahedron";
    /// Edge over radius of the built-in tetrahedral grain.
    pub const TETRAHEDRON_EDGE: f64 = 1.2;

    /// Radius of the largest sphere as listed [m]; none for a shape without a size of its own.
    pub fn listed_radius(&self) -> Option<f64> {
        match self {
            Self::Spheres(list) => list.iter().map(|s| s.radius).reduce(f64::max),
            Self::Tetrahedron { .. } => None,
            Self::Mesh(mesh) => mesh.solid.shape.as_ref().map(|s| s.1),
        }
    }
}

/// One sphere of a clump.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClumpSphere {
    /// Centre [m].
    #[schemars(schema_with = "q::length3")]
    pub at: DVec3,
    /// Radius [m].
    #[schemars(schema_with = "q::length")]
    pub radius: f64,
}

/// Distribution of the radius of a grain's largest sphere.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Size {
    /// Between two radii [m], by number.
    Uniform(#[schemars(schema_with = "q::length2")] [f64; 2]),
    /// Normal distribution by number, cut off at both ends.
    Normal {
        /// Mean radius [m].
        #[schemars(schema_with = "q::length")]
        mean: f64,
        /// Standard deviation [m].
        #[schemars(schema_with = "q::length")]
        sd: f64,
        /// Smallest radius [m]; left out: mean − 3 sd, but at least a tenth of the mean.
        #[schemars(default, schema_with = "q::length")]
        min: f64,
        /// Largest radius [m]; left out: mean + 3 sd.
        #[schemars(default, schema_with = "q::length")]
        max: f64,
    },
    /// Log-normal distribution by number, cut off at both ends.
    Lognormal {
        /// Median radius [m].
        #[schemars(schema_with = "q::length")]
        median: f64,
        /// Standard deviation of the radius' logarithm.
        #[schemars(schema_with = "q::number")]
        sigma: f64,
        /// Smallest radius [m]; left out: median × exp(−3 sigma).
        #[schemars(default, schema_with = "q::length")]
        min: f64,
        /// Largest radius [m]; left out: median × exp(3 sigma).
        #[schemars(default, schema_with = "q::length")]
        max: f64,
    },
    /// Sieve curve: diameter [m] and cumulative share of the mass that passes it, from 0 at the first row to 1
    /// at the last.
    Sieve(#[schemars(schema_with = "q::sieve")] Vec<[f64; 2]>),
    /// One radius for all [m].
    #[serde(untagged)]
    Fixed(#[schemars(schema_with = "q::length")] f64),
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

/// A population of grains.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Grains {
    /// Name; left out: `grains 1`, `grains 2`, …
    #[schemars(default)]
    pub name: String,
    /// Name of the material.
    pub material: String,
    /// Name of the shape.
    #[serde(default = "sphere")]
    pub shape: String,
    /// Radius of the largest sphere of each grain; may be left out for shapes that are listed in metres.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub radius: Option<Size>,
    /// Where the grains are: `fill` or `at`.
    #[serde(flatten)]
    pub place: Place,
    /// Turn of every grain from the frame of its shape, axis times angle; left out: at random, and those of a mesh placed by
    /// `at` as they stand in its file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "q::angle3")]
    pub turn: Option<DVec3>,
    /// Velocity at the start [m/s].
    #[serde(default, skip_serializing_if = "is_origin")]
    #[schemars(schema_with = "q::velocity3")]
    pub velocity: DVec3,
    /// Angular velocity at the start [rad/s].
    #[serde(default, skip_serializing_if = "is_origin")]
    #[schemars(schema_with = "q::angular_rate3")]
    pub spin: DVec3,
    /// Standard deviation of each velocity component about `velocity` [m/s].
    #[serde(default, skip_serializing_if = "is_zero")]
    #[schemars(schema_with = "q::velocity")]
    pub velocity_spread: f64,
}

fn sphere() -> String {
    ShapeSpec::SPHERE.into()
}

/// Whether a vector may be left out of a saved scene.
pub(crate) fn is_origin(v: &DVec3) -> bool {
    *v == DVec3::ZERO
}

/// Where a population is.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Place {
    /// A region is filled.
    Fill(Fill),
    /// Positions of the grains' centres of mass [m].
    At(#[schemars(schema_with = "q::positions")] Vec<DVec3>),
}

/// How a region is filled.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Fill {
    /// The region: `box`, `cylinder` or `sphere`. Whole grains lie inside.
    #[serde(flatten)]
    pub region: Region,
    /// How grains are placed.
    #[serde(default)]
    pub method: FillMethod,
    /// Number of grains; lattice: left out, the region is filled; random: left out, `fraction` says when to stop.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
    /// Random: share of the region's volume that the grains take.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "q::number")]
    pub fraction: Option<f64>,
    /// Rain: simulated time between batches [s].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "q::time")]
    pub every: Option<f64>,
    /// Rain: grains of a batch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub batch: Option<u64>,
}

impl Fill {
    /// Jitter of the lattice, in units of the largest radius: enough that no crystal is left once the grains have settled.
    pub const JITTER: f64 = 0.1;
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

/// A bounded region of space.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Region {
    /// Along the axes.
    Box {
        /// Lower corner [m].
        #[schemars(schema_with = "q::length3")]
        min: DVec3,
        /// Upper corner [m].
        #[schemars(schema_with = "q::length3")]
        max: DVec3,
    },
    /// With flat ends.
    Cylinder {
        /// Centre of the base [m].
        #[schemars(schema_with = "q::length3")]
        base: DVec3,
        /// Direction from the base to the top, of any length; left out: z.
        #[serde(default = "up")]
        #[schemars(schema_with = "q::direction")]
        axis: DVec3,
        /// Radius [m].
        #[schemars(schema_with = "q::length")]
        radius: f64,
        /// Height [m].
        #[schemars(schema_with = "q::length")]
        height: f64,
    },
    /// A ball.
    Sphere {
        /// Centre [m].
        #[schemars(schema_with = "q::length3")]
        centre: DVec3,
        /// Radius [m].
        #[schemars(schema_with = "q::length")]
        radius: f64,
    },
}

/// The axis where none is given.
pub(crate) fn up() -> DVec3 {
    DVec3::Z
}

/// A disc that pours grains.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Emitter {
    /// Name; left out: `emitter 1`, …
    #[schemars(default)]
    pub name: String,
    /// Name of the material.
    pub material: String,
    /// Name of the shape.
    #[serde(default = "sphere")]
    pub shape: String,
    /// Radius of the largest sphere of each grain; may be left out for shapes that are listed in metres.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub radius: Option<Size>,
    /// Where grains appear.
    pub disc: EmitterDisc,
    /// How fast: `rate` or `mass_rate`.
    #[serde(flatten)]
    pub flow: EmitterFlow,
    /// Velocity of new grains [m/s].
    #[schemars(schema_with = "q::velocity3")]
    pub velocity: DVec3,
    /// When pouring starts [s].
    #[serde(default, skip_serializing_if = "is_zero")]
    #[schemars(schema_with = "q::time")]
    pub from: f64,
    /// When pouring ends [s]; left out: with the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "q::time")]
    pub until: Option<f64>,
    /// How many grains at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
}

/// The mouth of an emitter.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EmitterDisc {
    /// Centre [m].
    #[schemars(schema_with = "q::length3")]
    pub centre: DVec3,
    /// Direction the mouth looks, of any length.
    #[schemars(schema_with = "q::direction")]
    pub normal: DVec3,
    /// Radius [m]; whole grains appear inside.
    #[schemars(schema_with = "q::length")]
    pub radius: f64,
}

/// How fast an emitter pours.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum EmitterFlow {
    /// Grains per second [1/s].
    Rate(#[schemars(schema_with = "q::frequency")] f64),
    /// Mass per second [kg/s].
    MassRate(#[schemars(schema_with = "q::mass_rate")] f64),
}

/// A region that removes and counts grains.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Sink {
    /// Name; left out: `sink 1`, …
    #[schemars(default)]
    pub name: String,
    /// Grains whose centre comes in here are removed.
    #[serde(flatten)]
    pub region: SinkRegion,
}

/// Where a sink removes.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum SinkRegion {
    /// Everything behind a plane.
    Below {
        /// A point of the plane [m].
        #[schemars(schema_with = "q::length3")]
        point: DVec3,
        /// The side that stays, of any length.
        #[schemars(schema_with = "q::direction")]
        normal: DVec3,
    },
    /// A box, cylinder or sphere.
    #[serde(untagged)]
    Region(Region),
}
