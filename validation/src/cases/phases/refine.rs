//! Sand in phases on half the cells, and in half the steps.

use super::collapse::planar;
use super::{G, H, flank, heights, phases, wedge};
use crate::{Accept::Below, Bench, Case, CaseError, Criterion, Findings, Group};

pub const CASE: Case = Case {
    name: "phases-refine",
    title: "Half the cell and half the step change little in sand in phases",
    group: Group::Phases,
    about: "A wedge of θ 30° collapses from 41°, 24 cells high, and a column with a 1 runs out; with cells of half the size, and with half the step.",
    source: "the same scene, coarser",
    criteria: &[
        Criterion::new("slope", "half the cell: difference of the slopes", "deg", Below(1.0), "0"),
        Criterion::new("run-out", "half the cell: difference of the run-outs, over them", "", Below(0.05), "0"),
        Criterion::new("step", "a third of the Courant number: difference of the slopes", "deg", Below(1.0), "0"),
    ],
    run,
};

fn slope(bench: &Bench, cell: f64, more: &str) -> Result<f64, CaseError> {
    let height = bench.size.pick(16.0, 24.0, 32.0);
    let mut rig = wedge(bench, 30.0, 41.0, height, cell, &phases(false, more))?;
    rig.run_to(12.0 * (height * H / G).sqrt())?;
    Ok(flank(&heights(&rig)))
}

fn run(bench: &Bench) -> Result<Findings, CaseError> {
    let mut found = Findings::default();
    let coarse = slope(bench, H, "")?;
    let fine = slope(bench, 0.5 * H, "")?;
    found.found("slope", (fine - coarse).abs());
    found.found("step", (slope(bench, H, "courant = 0.33")? - coarse).abs());
    let width = bench.size.pick(16.0, 24.0, 32.0);
    let out = |cell: f64| planar(bench, width, 1.0, cell, &phases(false, "")).map(|o| o.0);
    let (coarse, fine) = (out(H)?, out(0.5 * H)?);
    found.found("run-out", (fine / coarse - 1.0).abs());
    Ok(found)
}
