//! The continuum against closed forms, by its public face.

mod air;
mod beds;
mod bodies;
mod cohesion;
mod common;
mod conservation;
mod seam;
mod slopes;
