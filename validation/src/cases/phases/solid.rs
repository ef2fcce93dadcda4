//! Sand in phases with frozen sand and without: nothing that is seen changes.

use super::{FLOOR, G, H, flank, head, heights, phases, rig, sand, wedge};
use crate::{Accept::Below, Bench, Case, CaseError, Criterion, Findings, Group};

pub const CASE: Case = Case {
    name: "phases-solid",
    title: "Frozen sand changes nothing that is seen",
    group: Group::Phases,
    about: "A wedge (16 cells high, 32 at standard size) of θ 30° collapses from 48°, once with sand that freezes where it lies still and once \
            without; and a block falls into a bed of 12 cells. Heights and slopes are compared.",
    source: "the same scene without solid",
    criteria: &[
        Criterion::new("slope", "difference of the slopes", "deg", Below(1.0), "0"),
        Criterion::new("height", "largest difference of the heights, over the heap's", "", Below(0.02), "0"),
        Criterion::new(
            "crater",
            "difference of the mean heights under the block, over the bed's",
            "",
            Below(0.05),
            "0",
        ),
    ],
    run,
};

const WITHOUT: &str = "solid = { enabled = false }";

fn heap(bench: &Bench, more: &str) -> Result<Vec<[f64; 2]>, CaseError> {
    let height = bench.size.pick(16.0, 32.0, 48.0);
    let mut rig = wedge(bench, 30.0, 48.0, height, H, &phases(true, more))?;
    rig.run_to(14.0 * (height * H / G).sqrt())?;
    Ok(heights(&rig))
}

fn crater(bench: &Bench, more: &str) -> Result<f64, CaseError> {
    let text = head(0.0, [0.0, 0.0, -4.0], [32.0, super::THICK, 40.0], r#""x", "y""#, 0.5) + FLOOR;
    let bed = sand(30.0, H, [[0.0; 3], [32.0, super::THICK, 12.0]]);
    let block = sand(30.0, H, [[13.0, 0.0, 16.0], [19.0, super::THICK, 22.0]]).replace("\"sand\"", "\"block\"");
    let mut rig = rig(&(text + &bed + &block + "velocity = [0, 0, -3]\n" + &phases(true, more)), bench)?;
    rig.run_to(1.2)?;
    let middle: Vec<f64> = heights(&rig).iter().filter(|h| (h[0] / H - 16.0).abs() < 3.0).map(|h| h[1]).collect();
    Ok(middle.iter().sum::<f64>() / middle.len().max(1) as f64)
}

fn run(bench: &Bench) -> Result<Findings, CaseError> {
    let mut found = Findings::default();
    let (with, without) = (heap(bench, "")?, heap(bench, WITHOUT)?);
    let top = without.iter().map(|h| h[1]).fold(0.0, f64::max);
    let off = with.iter().zip(&without).map(|(a, b)| (a[1] - b[1]).abs() / top).fold(0.0, f64::max);
    found.found("slope", (flank(&with) - flank(&without)).abs());
    found.found("height", off);
    let (with, without) = (crater(bench, "")?, crater(bench, WITHOUT)?);
    found.found("crater", (with - without).abs() / (12.0 * H));
    Ok(found)
}
