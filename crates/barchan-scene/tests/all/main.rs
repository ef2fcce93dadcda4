//! The tests of the scenes, as one program: each program more would be linked anew, with all it is made of.

mod gallery;
mod ground;
mod never_panics;
mod problems;
