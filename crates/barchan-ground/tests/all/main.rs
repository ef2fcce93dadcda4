//! The tests of the ground, as one program: each program more would be linked anew, with all it is made of.

mod bearing;
mod common;
mod push;
mod sameness;
mod slopes;
