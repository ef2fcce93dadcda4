//! The same collapse with smaller particles.

use super::collapse::run_out;
use crate::{Accept::Below, Bench, Case, CaseError, Criterion, Findings, Group};

pub const CASE: Case = Case {
    name: "sph-refine",
    title: "A collapse with half the spacing runs out as far",
    group: Group::Continuum,
    about: "A column of a = 1, φ 30°, 20 particles wide, and one of 40, as periodic slices: their run-out over their width is compared.",
    source: "Convergence",
    criteria: &[Criterion::new("run-out", "difference of the run-outs, over the finer one", "", Below(0.05), "0")],
    run,
};

fn run(bench: &Bench) -> Result<Findings, CaseError> {
    let mut found = Findings::default();
    let (coarse, fine) = (run_out(bench, 20.0, 1.0)?[0], run_out(bench, 40.0, 1.0)?[0]);
    found.found("run-out", (coarse / fine - 1.0).abs());
    found.remarks.push(format!("20 particles: {coarse:.3}, 40 particles: {fine:.3} of the width"));
    Ok(found)
}
