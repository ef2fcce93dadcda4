//! The tests of the command, as one program: each program more would be linked anew, with all it is made of.

mod architecture;
mod cli;
mod gallery;
mod render;
mod sample;
mod seam;
mod skin;
mod solids;
mod validate;
#[cfg(feature = "window")]
mod view;
