//! All couplings: what joins two solvers, or a solver and the ground.
//!
//! A solver knows the substrate and no other solver. Two of them meet here, by their types.

// What enters the state of a run comes from `barchan_core::math`; clippy.toml has the list and the reason.
#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

pub mod cloud;
pub mod cover;
pub mod flow;
pub mod forest;
pub mod ground;
pub mod rock;
