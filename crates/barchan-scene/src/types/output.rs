//! What a run writes: frames, checkpoints, measurements.

use super::grains::Region;
use super::{Axis, names};
use crate::schema as q;
use glam::DVec3;
use schemars::JsonSchema;
use serde::Serialize;

/// Frames and checkpoints.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Output {
    /// Simulated time between frames [s]; left out: a hundredth of the duration.
    #[schemars(default, schema_with = "q::time")]
    pub every: f64,
    /// Formats of the frames.
    #[serde(default = "vtk")]
    pub formats: Vec<Format>,
    /// Simulated time between checkpoints [s]; left out: at the end and on a stop. In any
    /// case one is written after half a minute of computing and every three minutes from then on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "q::time")]
    pub checkpoint: Option<f64>,
}

impl Default for Output {
    fn default() -> Self {
        Self::for_duration(1.0)
    }
}

impl Output {
    /// What a scene without an `[output]` gets.
    pub fn for_duration(duration: f64) -> Self {
        Self { every: duration / 100.0, formats: vtk(), checkpoint: None }
    }
}

fn vtk() -> Vec<Format> {
    vec![Format::Vtk]
}

/// File formats of frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Format {
    /// VTK, for ParaView.
    Vtk,
    /// PLY.
    Ply,
}
names!(Format { Vtk = "vtk", Ply = "ply" });

/// A measurement, written to a CSV file.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Measure {
    /// Name of the file; left out: the key, numbered where it comes twice.
    #[schemars(default)]
    pub name: String,
    /// Exactly one thing to measure.
    #[serde(flatten)]
    pub what: What,
    /// Simulated time between rows [s]; left out: as the frames.
    #[schemars(default, schema_with = "q::time")]
    pub every: f64,
}

/// What is measured.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum What {
    /// Kinetic, rotational, potential and elastic energy [J].
    Energy {},
    /// Contacts per grain.
    Coordination {},
    /// Grains and mass that crossed a plane.
    Flow {
        /// A point of the plane [m].
        #[schemars(schema_with = "q::length3")]
        point: DVec3,
        /// Direction counted as positive, of any length.
        #[schemars(schema_with = "q::direction")]
        normal: DVec3,
    },
    /// Grains and mass in a region.
    Count(Region),
    /// Angle of repose [deg], its standard error [deg], height [m] and run-out [m] of a pile or a slope.
    Repose {
        /// On the floor: the foot of the pile's upright axis, or where a slope begins [m].
        #[schemars(schema_with = "q::length3")]
        point: DVec3,
        /// Level direction in which a slope is followed, of any length; left out: the pile is a cone.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(schema_with = "q::direction")]
        along: Option<DVec3>,
        /// Part of the height to which the line is fitted.
        #[serde(default = "flank")]
        flank: [f64; 2],
        /// Side of the columns whose highest sphere is the surface [m]; left out: the mean diameter of the spheres.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(schema_with = "q::length")]
        column: Option<f64>,
        /// Height above the point from which on grains are left out [m]; left out: none are.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(schema_with = "q::length")]
        ceiling: Option<f64>,
    },
    /// Force [N] and torque [N m] on every wall.
    WallForces {},
    /// Place, orientation, velocity, spin, force and torque of every body.
    Bodies {},
    /// Mass of grains and ground, and what has passed between them.
    Ground {},
    /// Histogram of the normal contact forces over their mean.
    ForceHistogram {
        /// Number of bins.
        #[serde(default = "bins")]
        bins: u64,
        /// Largest force over the mean.
        #[serde(default = "max")]
        #[schemars(schema_with = "q::number")]
        max: f64,
    },
    /// Volume fraction of a region, and contacts a grain in it.
    Packing {
        /// Where.
        #[serde(flatten)]
        region: Region,
        /// A grain of fewer contacts is a rattler; left out: 4 where no grain has friction, else 2.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        rattlers_below: Option<u64>,
    },
    /// Volume fraction, velocity, stress, shear rate, inertial number and friction in bins along an axis.
    Profile {
        /// Where: a box.
        #[serde(flatten)]
        region: Region,
        /// Along which direction of the box; left out: z.
        #[serde(default = "z")]
        axis: Axis,
        /// Number of bins.
        #[serde(default = "profile_bins")]
        bins: u64,
    },
    /// The same fields in the cells of a grid, as images for ParaView.
    Fields {
        /// Where: a box.
        #[serde(flatten)]
        region: Region,
        /// Number of cells along x, y and z.
        cells: [u64; 3],
    },
    /// How unevenly the contacts between grains share the load.
    ForceNetwork {
        /// Only contacts in this region; left out: all.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        within: Option<Region>,
        /// Thickness of the layers whose mean forces are the measure of their own [m]; left out: one mean for all.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(schema_with = "q::length")]
        layer: Option<f64>,
    },
    /// Correlation of the forces on two spheres a distance apart.
    ForceCorrelation {
        /// Number of bins.
        #[serde(default = "correlation_bins")]
        bins: u64,
        /// Largest distance, in mean diameters.
        #[serde(default = "reach")]
        #[schemars(schema_with = "q::number")]
        reach: f64,
        /// Only spheres in this region; left out: all.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        within: Option<Region>,
        /// Thickness of the layers whose mean forces are the measure of their own [m]; left out: one mean for all.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(schema_with = "q::length")]
        layer: Option<f64>,
    },
    /// Distribution of the angle between contacts and an axis.
    ContactAngles {
        /// Number of bins from 0° to 90°.
        #[serde(default = "angle_bins")]
        bins: u64,
        /// Axis from which angles are counted, of any length; left out: that of gravity.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(schema_with = "q::direction")]
        axis: Option<DVec3>,
        /// Only contacts in this region; left out: all.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        within: Option<Region>,
        /// Thickness of the layers whose mean forces are the measure of their own [m]; left out: one mean for all.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(schema_with = "q::length")]
        layer: Option<f64>,
    },
}

fn z() -> Axis {
    Axis::Z
}

fn profile_bins() -> u64 {
    What::PROFILE_BINS
}

fn correlation_bins() -> u64 {
    What::CORRELATION_BINS
}

fn reach() -> f64 {
    What::REACH
}

fn angle_bins() -> u64 {
    What::ANGLE_BINS
}

fn bins() -> u64 {
    What::BINS
}

fn max() -> f64 {
    What::MAX
}

fn flank() -> [f64; 2] {
    What::FLANK
}

impl What {
    /// Part of the height that is a pile's flank where none is given.
    pub const FLANK: [f64; 2] = [0.2, 0.8];
    /// Bins of a force histogram where none are given.
    pub const BINS: u64 = 60;
    /// Upper end of a force histogram where none is given, over the mean force.
    pub const MAX: f64 = 6.0;
    /// Bins of a profile where none are given.
    pub const PROFILE_BINS: u64 = 20;
    /// Bins of a force correlation where none are given.
    pub const CORRELATION_BINS: u64 = 50;
    /// Reach of a force correlation where none is given, in mean diameters.
    pub const REACH: f64 = 5.0;
    /// Bins of contact angles where none are given: 5° each.
    pub const ANGLE_BINS: u64 = 18;

    /// Key in a scene.
    pub fn key(&self) -> &'static str {
        match self {
            Self::Energy {} => "energy",
            Self::Coordination {} => "coordination",
            Self::Flow { .. } => "flow",
            Self::Count(_) => "count",
            Self::Repose { .. } => "repose",
            Self::WallForces {} => "wall_forces",
            Self::Bodies {} => "bodies",
            Self::Ground {} => "ground",
            Self::ForceHistogram { .. } => "force_histogram",
            Self::Packing { .. } => "packing",
            Self::Profile { .. } => "profile",
            Self::Fields { .. } => "fields",
            Self::ForceNetwork { .. } => "force_network",
            Self::ForceCorrelation { .. } => "force_correlation",
            Self::ContactAngles { .. } => "contact_angles",
        }
    }
}
