//! The tests of the solver, as one program: each program more would be linked anew, with all it is made of.

mod births;
mod bonds;
mod common;
mod conservation;
mod friction;
mod impact;
mod integrators;
mod live;
mod mesh_walls;
mod pinned;
mod precision;
mod relief;
mod sameness;
mod sleep;
