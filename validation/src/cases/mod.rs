//! The cases, one file each, in the order of the report.

mod slip_to_roll;

use crate::Case;

/// All cases.
pub static CASES: &[Case] = &[slip_to_roll::CASE];
