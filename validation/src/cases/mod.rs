//! The cases, one file each, in the order of the report.

mod brazil_nut;
mod chute;
mod close_packing;
mod slip_to_roll;

use crate::Case;

/// All cases.
pub static CASES: &[Case] = &[slip_to_roll::CASE, close_packing::CASE, chute::CASE, brazil_nut::CASE];
