//! Clumps of grains on a surface dissolve.

use crate::{Accept::Below, Bench, Case, CaseError, Criterion, Findings, Group};
use barchan_engine::bench::nine_clumps;
use barchan_flip::clumps::{Faces, OFF, spread};

pub const CASE: Case = Case {
    name: "phases-clumps",
    title: "Clumps of grains on a surface dissolve to the limit of its faces",
    group: Group::Phases,
    about: "The test of Munns 2015, restated: n × n faces that hold 20 grains each, grains in nine Gaussian clumps. 1,000 on 10², 10,000 on 32², 64² and 1000² \
            faces have room; 10,000 on 10² have not, and 8,000 must be taken off. Grains on faces that the clumps do not reach keep their faces.",
    source: "Munns 2015, results 1 to 3; spec of three phases, 12.1",
    criteria: &[
        Criterion::new("over", "grains over the limit of any face", "", Below(0.0), "0"),
        Criterion::new("taken", "grains taken off where all have room", "", Below(0.0), "0"),
        Criterion::new("crowded", "over-full patch: grains taken off, off 8,000", "", Below(0.0), "0"),
        Criterion::new("counted", "grains that are nowhere", "", Below(0.0), "0"),
        Criterion::new("iterations", "most iterations", "", Below(60.0), "30"),
    ],
    run,
};

const LIMIT: u32 = 20;

fn run(_: &Bench) -> Result<Findings, CaseError> {
    let mut found = Findings::default();
    let (mut over, mut taken, mut crowded, mut lost, mut most) = (0u32, 0, 0, 0usize, 0);
    for (n, grains) in [(10u32, 1000u32), (32, 10_000), (64, 10_000), (1000, 10_000), (10, 10_000)] {
        let faces = Faces::squares(n, LIMIT);
        let start = nine_clumps(n, grains);
        let mut face = start.clone();
        let out = spread(&faces, &mut face, &vec![0.0; start.len()]);
        let mut counts = vec![0u32; (n * n) as usize];
        face.iter().filter(|f| **f != OFF).for_each(|&f| counts[f as usize] += 1);
        over = counts.iter().fold(over, |m, c| m.max(c.saturating_sub(LIMIT)));
        let left = counts.iter().sum::<u32>() as usize;
        lost += (grains as usize).abs_diff(left + out.taken.len() + out.left.len());
        most = most.max(out.iterations);
        if grains > n * n * LIMIT {
            crowded = out.taken.len().abs_diff((grains - n * n * LIMIT) as usize);
        } else {
            taken += out.taken.len();
        }
        found.remarks.push(format!(
            "{n}² faces, {grains} grains: {} changed their faces, {} taken off, {} faces took part, {} iterations",
            out.moves.len(),
            out.taken.len(),
            out.active,
            out.iterations
        ));
    }
    found.found("over", f64::from(over));
    found.found("taken", taken as f64);
    found.found("crowded", crowded as f64);
    found.found("counted", lost as f64);
    found.found("iterations", most as f64);
    Ok(found)
}
