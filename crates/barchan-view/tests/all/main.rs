//! The tests of the window, as one program: each program more would be linked anew, with all it is made of.

mod playback;
mod simulation;
