//! The tests of the pictures, as one program: each program more would be linked anew, with all it is made of.

mod agree;
mod common;
mod gpu;
mod look;
mod shadow;
mod sphere;
