//! The tests of assembling and running, as one program: each program more would be linked anew, with all it is made of.

mod avalanche;
mod banks;
mod bench;
mod bodies;
mod bodies_on_ground;
mod bonds;
mod cell;
mod common;
mod continuum;
mod exchange;
mod forces;
mod ground;
mod live;
mod measures;
mod meshes;
mod phases;
mod resume;
mod rock;
mod snow;
mod worlds;
