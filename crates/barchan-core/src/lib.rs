//! The substrate of barchan: what every solver stands on, and nothing that knows a solver.

// What enters the state of a run comes from `barchan_core::math`; clippy.toml has the list and the reason.
#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

pub mod boundary;
pub mod clock;
pub mod columns;
pub mod contact;
pub mod curve;
pub mod frame;
pub mod georeference;
pub mod materials;
pub mod math;
pub mod mesh;
pub mod neighbours;
pub mod packed;
pub mod packing;
pub mod parallel;
pub mod recipe;
pub mod regions;
pub mod relief;
pub mod rng;
pub mod sampling;
pub mod schedule;
pub mod sdf;
pub mod shapes;
pub mod simd;
pub mod sizes;
pub mod skin;
pub mod solver;
pub mod stages;
pub mod walls;
pub mod words;
