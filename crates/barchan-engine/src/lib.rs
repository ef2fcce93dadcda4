//! The engine: a scene becomes a world, the world runs, and what it does is written down.
//!
//! [`assemble()`] turns a checked [`Scene`](barchan_scene::Scene) into a [`World`]; [`World::step`] is the outer loop's body;
//! [`Run`] adds the folder: frames, measurements, checkpoints, and going on after a stop. Nothing here prints.

pub mod assemble;
pub mod bench;
pub mod bodies;
pub mod cache;
pub mod checkpoint;
pub mod emit;
pub mod estimate;
pub mod ground;
pub mod live;
mod meshes;
pub mod observers;
mod outdoors;
pub mod run;
pub mod schedule;
pub mod sinks;
mod state;
pub mod world;

pub use assemble::{Meeting, SceneErrors, assemble};
pub use ground::{Account, Ground};
pub use meshes::{fetch as fetch_meshes, mended as mended_mesh};
pub use run::{Progress, Run, RunError, RunOptions, RunReport, Status, keep, run, shapes};
pub use sinks::Tally;
pub use world::{Plan, Row, Summary, World, WorldError};
