//! The cases, one file each, in the order of the report.

mod beverloo;
mod bulk;
mod collapse;
mod janssen;
mod orifice;
mod repose;
mod silo;
mod slip_to_roll;
mod zhou;

use crate::Case;

/// All cases.
pub static CASES: &[Case] =
    &[slip_to_roll::CASE, repose::CASE, orifice::CASE, beverloo::CASE, zhou::CASE, collapse::CASE, janssen::CASE];
