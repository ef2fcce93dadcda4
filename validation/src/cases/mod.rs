//! The cases, one file each, in the order of the report.

mod bed;
mod contact_angles;
mod distribution;
mod force_correlation;
mod force_network;
mod forces;
mod forces_frictionless;
mod forces_loaded;
mod forces_tangential;
mod oedometer;
mod press;
mod slip_to_roll;

use crate::Case;

/// All cases.
pub static CASES: &[Case] = &[
    slip_to_roll::CASE,
    forces::CASE,
    forces_frictionless::CASE,
    forces_loaded::CASE,
    forces_tangential::CASE,
    force_correlation::CASE,
    contact_angles::CASE,
    force_network::CASE,
    oedometer::CASE,
];
