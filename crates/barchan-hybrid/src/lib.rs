//! All couplings: what joins two solvers, or a solver and the ground.
//!
//! A solver knows the substrate and no other solver. Two of them meet here, by their types.

pub mod cloud;
pub mod cover;
pub mod flow;
pub mod forest;
pub mod ground;
pub mod rock;
