//! What a run writes: frames, checkpoints, measurements.

use super::names;
use crate::keys;
use crate::measure::What;
use schemars::JsonSchema;
use serde::Serialize;

keys! {
    /// Frames and checkpoints.
    pub struct Output = "write `every = \"0.02 s\"` under `[output]`" {
        /// Simulated time between frames [s]; left out: a hundredth of the duration.
        every: f64 [TIME; grows, positive("the time between frames")] => |_cx, _keys| Some(f64::NAN),
        /// Formats of the frames.
        formats: Vec<Format> = vec![Format::Vtk],
        /// Whether frames hold every contact: ids, point, normal, overlap, forces, stretch of the tangential spring.
        contacts: bool = false,
        /// Simulated time between checkpoints [s]; left out: at the end and on a stop. In any
        /// case one is written after half a minute of computing and every three minutes from then on.
        checkpoint: Option<f64> [TIME; grows, positive("the time between checkpoints")],
    }
}

impl Default for Output {
    fn default() -> Self {
        Self::for_duration(1.0)
    }
}

impl Output {
    /// What a scene without an `[output]` gets.
    pub fn for_duration(duration: f64) -> Self {
        Self { every: duration / 100.0, formats: vec![Format::Vtk], contacts: false, checkpoint: None }
    }
}

/// File formats of frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Format {
    /// VTK, for ParaView.
    Vtk,
    /// PLY.
    Ply,
    /// Extended XYZ, for OVITO.
    Xyz,
    /// Tables of comma-separated values, of grains and, where they are asked for, of contacts.
    Csv,
}
names!(Format { Vtk = "vtk", Ply = "ply", Xyz = "xyz", Csv = "csv" });

keys! {
    /// A measurement, written to a CSV file.
    pub struct Measure = "write each measurement under its own `[[measure]]`" {
        /// Name of the file; left out: the key, numbered where it comes twice.
        name: String = String::new(),
        /// Exactly one thing to measure.
        @flat what: What,
        /// Simulated time between rows [s]; left out: as the frames.
        every: f64 [TIME; grows, positive("the time between rows")] => |_cx, _keys| Some(f64::NAN),
    }
}
