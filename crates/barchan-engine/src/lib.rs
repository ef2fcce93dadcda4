//! The engine: a scene becomes a world, the world runs, and what it does is written down.
//!
//! [`load`] reads and checks a [`Scene`](barchan_scene::Scene) with its files; [`assemble()`] turns it into a [`World`]; [`World::step`] is the outer loop's body;
//! [`Run`] adds the folder: frames, measurements, checkpoints, and going on after a stop. Nothing here prints.

// What enters the state of a run comes from `barchan_core::math`; clippy.toml has the list and the reason.
#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

pub mod assemble;
pub mod bench;
pub mod bodies;
pub mod cache;
mod changes;
pub mod checkpoint;
pub mod contacts;
mod copies;
pub mod emit;
pub mod estimate;
mod events;
mod kept;
pub mod live;
mod maps;
mod meshes;
pub mod mountain;
pub mod observers;
mod outdoors;
pub mod run;
pub mod runout;
pub mod sinks;
mod standing;
mod state;
mod until;
pub mod world;

pub use assemble::{
    Begun, Device, FromError, METHODS, Meeting, Method, Released, SceneErrors, assemble, assemble_as, begin_from,
    methods_on,
};
pub use barchan_hybrid::ground::{Account, Ground};
pub use barchan_sph::maps::Shown as ShownOfMap;
pub use live::Dropped;
pub use meshes::{load, mended as mended_mesh};
pub use observers::VOCABULARY;
pub use run::{Progress, Run, RunError, RunOptions, RunReport, Status, keep, run, shapes};
pub use sinks::Tally;
pub use until::until;
pub use world::{Amount, Plan, Row, Summary, WallMap, World, WorldError};
