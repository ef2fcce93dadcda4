//! Beds of sand in phases bear their weight.

use super::{G, H, THICK, flip, parcels, phases, rig, sand, slice};
use crate::{Accept::Below, Bench, Case, CaseError, Criterion, Findings, Group};

pub const CASE: Case = Case {
    name: "phases-bearing",
    title: "A bed of sand in phases bears its weight",
    group: Group::Phases,
    about: "A bed, endless along and across, 12 and 32 cells deep, lies on a floor for 10 √(H/g). The floor carries its weight in proportion to the \
            depth, no cell is over-full, and the bed neither sinks nor grows.",
    source: "balance of forces; spec of three phases, tests 15 and 16",
    criteria: &[
        Criterion::new("weight", "load on the floor off the weight, over it", "", Below(0.02), "0"),
        Criterion::new("filling", "largest filling of a cell", "", Below(1.08), "1"),
        Criterion::new("volume", "change of the mean height, over it", "", Below(0.02), "0"),
    ],
    run,
};

fn mean_height(rig: &crate::Rig) -> f64 {
    let p = parcels(rig);
    p.position.iter().map(|x| x.z).sum::<f64>() / p.len().max(1) as f64
}

fn run(bench: &Bench) -> Result<Findings, CaseError> {
    let mut found = Findings::default();
    let (mut off, mut fullest, mut grown) = (0f64, 0f64, 0f64);
    for depth in [12.0, 32.0] {
        let text =
            slice(0.0, 8.0, depth + 12.0, true) + &sand(30.0, H, [[0.0; 3], [8.0, THICK, depth]]) + &phases(false, "");
        let mut rig = rig(&text, bench)?;
        let (weight, before) = (rig.world.totals().mass * G, mean_height(&rig));
        let end = 10.0 * (depth * H / G).sqrt();
        let (mut load, mut count) = (0.0, 0.0);
        while rig.world.time() < end {
            rig.step()?;
            if rig.world.time() > 0.5 * end {
                load -= rig.world.frame().walls[0].force.z;
                count += 1.0;
                fullest = fullest.max(flip(&rig)?.report().fullest);
            }
        }
        off = off.max((load / count / weight - 1.0).abs());
        grown = grown.max((mean_height(&rig) / before - 1.0).abs());
    }
    found.found("weight", off);
    found.found("filling", fullest);
    found.found("volume", grown);
    Ok(found)
}
