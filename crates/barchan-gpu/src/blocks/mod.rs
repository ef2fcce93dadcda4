//! Building blocks that know no solver: prefix sums, sorting, reductions, cells and lists of neighbours.
//!
//! Each is a file of WGSL and a host file that launches it. *Room* is what a block needs besides its input, made once for a size.

pub mod lists;
pub mod reduce;
pub mod scan;
pub mod sort;
