//! Heaps of sand in phases: at which slope they stop, and that they lie still.

use super::{H, flank, flip, heights, parcels, phases, rms, unit, wedge};
use crate::{Accept, Accept::Below, Bench, Case, CaseError, Criterion, Findings, Group};
use barchan_io::plot::{Axis, Plot, Series};

pub const CASE: Case = Case {
    name: "phases-repose",
    title: "Heaps of sand in phases stop at their angle and lie still",
    group: Group::Phases,
    about: "A wedge (12 cells high, 40 at standard size) is cut from a bed on a rough floor, as a periodic slice. Five degrees above asin(tan θ), the \
            steepest slope that can be held, it collapses; five degrees below θ it stays. θ is 22°, 30° and 36°. Beside it the box yield of Narain et al. \
            2010, which holds 35° where 30° are asked for.",
    source: "Coulomb friction; spec of three phases, tests 7 and 9",
    criteria: &[
        Criterion::new("least", "collapsed: lowest of slope − θ", "deg", Accept::Above(-4.0), "−4 … 0"),
        Criterion::new("most", "collapsed: highest of slope − θ", "deg", Below(0.5), "−4 … 0"),
        Criterion::new("stays", "cut at θ − 5°: mean displacement, in cells", "", Below(0.5), "0"),
        Criterion::new("still", "cut at θ − 5°: root mean square of the speeds, over √(g h)", "", Below(0.01), "0"),
        Criterion::new("filling", "largest filling of a cell after the first second", "", Below(1.08), "1"),
        Criterion::new("box", "box yield, θ 30°, cut at 35°: sinks less than the cone does", "", Below(1.0), "holds"),
    ],
    run,
};

/// Steps a heap to rest: for so many √(H/g).
fn settle(rig: &mut crate::Rig, height: f64, times: f64) -> Result<f64, CaseError> {
    let end = times * (height * H / super::G).sqrt();
    let mut fullest = 0.0f64;
    while rig.world.time() < end {
        rig.step()?;
        if rig.world.time() > end.min(1.0) * 0.9 {
            fullest = fullest.max(flip(rig)?.report().fullest);
        }
    }
    Ok(fullest)
}

/// Mean height of all sand [m].
fn centre(rig: &crate::Rig) -> f64 {
    let p = parcels(rig);
    p.position.iter().map(|x| x.z).sum::<f64>() / p.len().max(1) as f64
}

fn run(bench: &Bench) -> Result<Findings, CaseError> {
    let mut found = Findings::default();
    let height = bench.size.pick(12.0, 40.0, 60.0);
    found.set_up("heaps", format!("{height} cells high"));
    let (mut slopes, mut shift, mut speed, mut fullest) = (Vec::new(), 0f64, 0f64, 0f64);
    for asked in [22.0f64, 30.0, 36.0] {
        let steep = asked.to_radians().tan().asin().to_degrees() + 5.0;
        let mut rig = wedge(bench, asked, steep, height, H, &phases(false, ""))?;
        fullest = fullest.max(settle(&mut rig, height, 12.0)?);
        let slope = flank(&heights(&rig));
        found.remarks.push(format!("θ {asked}°, cut at {steep:.1}°: stopped at {slope:.1}°"));
        slopes.push([asked, slope]);
        let mut rig = wedge(bench, asked, asked - 5.0, height, H, &phases(false, ""))?;
        let mut before: Vec<(u32, glam::DVec3)> =
            parcels(&rig).id.iter().copied().zip(parcels(&rig).position.iter().copied()).collect();
        before.sort_unstable_by_key(|b| b.0);
        fullest = fullest.max(settle(&mut rig, height, 8.0)?);
        let p = parcels(&rig);
        let moved = |i: usize| {
            let at = before.binary_search_by_key(&p.id[i], |b| b.0);
            at.map_or(0.0, |k| p.position[i].distance(before[k].1))
        };
        shift = shift.max((0..p.len()).map(moved).sum::<f64>() / p.len().max(1) as f64 / H);
        speed = speed.max(rms(&p) / unit());
    }
    let differences: Vec<f64> = slopes.iter().map(|s| s[1] - s[0]).collect();
    found.found("least", differences.iter().copied().fold(f64::INFINITY, f64::min));
    found.found("most", differences.iter().copied().fold(f64::NEG_INFINITY, f64::max));
    found.found("stays", shift);
    found.found("still", speed);
    found.found("filling", fullest);
    let sunk = |how: &str| -> Result<f64, CaseError> {
        let mut rig = wedge(bench, 30.0, 35.0, height, H, &phases(false, how))?;
        let before = centre(&rig);
        settle(&mut rig, height, 8.0)?;
        Ok((before - centre(&rig)) / H)
    };
    let (cone, boxed) = (sunk("")?, sunk("yields = \"box\"")?);
    found.remarks.push(format!(
        "θ 30°, cut at 35°: the centre sinks by {cone:.3} cells with the cone, by {boxed:.3} with the box"
    ));
    found.found("box", boxed / cone);
    found.plots.push(Plot {
        title: "Slope at which a heap stops".into(),
        x: Axis::linear("angle asked for [deg]"),
        y: Axis::linear("slope [deg]"),
        series: vec![Series::dots("barchan", slopes), Series::dashes("asked for", vec![[20.0, 20.0], [38.0, 38.0]])],
    });
    Ok(found)
}
