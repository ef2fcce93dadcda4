//! Solvers of the grid's problems: quadratic programmes with lower bounds ([`mprgp`]) over sparse matrices of unit diagonal
//! ([`Scaled`]).

pub mod mprgp;
mod scaled;

pub use mprgp::{Limits, Outcome, Workspace, solve};
pub use scaled::{LowRank, Operator, Scaled};
