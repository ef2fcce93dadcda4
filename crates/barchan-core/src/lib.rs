//! The substrate of barchan: what every solver stands on, and nothing that knows a solver.

pub mod contact;
pub mod frame;
pub mod materials;
pub mod mesh;
pub mod neighbours;
pub mod packing;
pub mod parallel;
pub mod regions;
pub mod relief;
pub mod rng;
pub mod sampling;
pub mod sdf;
pub mod shapes;
pub mod simd;
pub mod sizes;
pub mod walls;
pub mod words;
