//! Solvers of the grid's problems: quadratic programmes with lower bounds ([`mprgp`]) over sparse matrices of unit diagonal
//! ([`Scaled`]).

mod cycle;
pub mod mprgp;
mod scaled;

pub use cycle::Cycle;
pub use mprgp::{Limits, Outcome, Precondition, Workspace, solve, solve_with};
pub use scaled::{LowRank, Operator, Scaled};
