//! The same collapse with smaller particles, and with shorter steps.

use super::collapse::run_out;
use crate::{Accept::Below, Bench, Case, CaseError, Criterion, Findings, Group};

pub const CASE: Case = Case {
    name: "sph-refine",
    title: "A collapse with half the spacing, or half the step, runs out as far",
    group: Group::Continuum,
    about: "A column of a = 1, φ 30°, 20 particles wide, the same with half the step, and one of 40, as periodic slices: their run-out over their \
            width is compared.",
    source: "Convergence",
    criteria: &[
        Criterion::new(
            "run-out",
            "half the spacing: difference of the run-outs, over the finer one",
            "",
            Below(0.05),
            "0",
        ),
        Criterion::new(
            "step",
            "half the step: difference of the run-outs, over that of the shorter",
            "",
            Below(0.03),
            "0",
        ),
    ],
    run,
};

fn run(bench: &Bench) -> Result<Findings, CaseError> {
    let mut found = Findings::default();
    let usual = 0.1 * (super::D / super::G).sqrt();
    let short = format!("solve = {{ largest_step = {} }}\n", 0.5 * usual);
    let (coarse, fine) = (run_out(bench, 20.0, 1.0, "")?[0], run_out(bench, 40.0, 1.0, "")?[0]);
    let shorter = run_out(bench, 20.0, 1.0, &short)?[0];
    found.found("run-out", (coarse / fine - 1.0).abs());
    found.found("step", (coarse / shorter - 1.0).abs());
    found.remarks.push(format!(
        "20 particles: {coarse:.3}, with half the step {shorter:.3}; 40 particles: {fine:.3} of the width"
    ));
    Ok(found)
}
