//! All couplings: what joins two solvers, or a solver and the ground.
//!
//! A solver knows the substrate and no other solver. Two of them meet here, by their types.

pub mod ground;
pub mod rock;
