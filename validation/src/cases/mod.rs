//! The cases, one file each, in the order of the report.

mod cooling;
mod elastic_gas;
mod elastic_impact;
mod incline;
mod micro_impact;
mod oblique_impact;
mod pull_off;
mod restitution;
mod rolling_decay;
mod slip_to_roll;
mod solitary_wave;
mod spinning_impact;

use crate::Case;

/// All cases.
pub static CASES: &[Case] = &[
    elastic_impact::CASE,
    restitution::CASE,
    oblique_impact::CASE,
    micro_impact::CASE,
    spinning_impact::CASE,
    slip_to_roll::CASE,
    rolling_decay::CASE,
    incline::CASE,
    pull_off::CASE,
    solitary_wave::CASE,
    elastic_gas::CASE,
    cooling::CASE,
];
