//! Columns of sand in phases that collapse.

use super::{BACK, FLOOR, G, H, THICK, head, heights, phases, pieces, rig, sand, slice};
use crate::{Accept::Below, Bench, Case, CaseError, Criterion, Findings, Group};
use barchan_io::plot::{Axis, Plot, Series};

pub const CASE: Case = Case {
    name: "phases-collapse",
    title: "Columns of sand in phases collapse and run out",
    group: Group::Phases,
    about: "Columns of height a L against a wall (a 0.5, 1, 3), as periodic slices, and a round one of height R, are let go on a rough floor; θ is 30°. \
            L is 20 cells at quick size, 40 at standard; R 14 and 24. The front is where the deposit is two cells deep, and the flank is drawn on to the floor.",
    source: "Lajeunesse, Monnier & Homsy 2005, Phys. Fluids 17, 103302; Lube et al. 2004, J. Fluid Mech. 508, 175",
    criteria: &[
        Criterion::new(
            "planar",
            "largest deviation of the run-out from 1.2 a and 1.9 a^(2/3), over it",
            "",
            Below(0.3),
            "0",
        ),
        Criterion::new("round", "a 1: deviation of the run-out from 1.24 a, over it", "", Below(0.25), "0"),
        Criterion::new("kept", "matter that is lost or gained", "", Below(0.0), "0"),
    ],
    run,
};

/// Where a profile comes down to two cells, drawn on at its slope there to the floor [m].
pub fn front(profile: &[[f64; 2]]) -> f64 {
    let deep = profile.iter().rposition(|p| p[1] >= 2.0 * H);
    let Some(k) = deep else { return f64::NAN };
    let beyond = profile.get(k + 1).copied().unwrap_or([profile[k][0] + H, 0.0]);
    // Between this column and the next the depth passes two cells.
    let share = (profile[k][1] - 2.0 * H) / (profile[k][1] - beyond[1]).max(1e-9);
    profile[k][0] + share.clamp(0.0, 1.0) * H
}

/// Run-out over the width of a planar column of so many cells, and whether all matter is there.
pub fn planar(bench: &Bench, width: f64, a: f64, cell: f64, how: &str) -> Result<(f64, f64), CaseError> {
    let height = (a * width).round();
    let length = 8.0 * (width * (2.4 + 2.0 * a) / 8.0).ceil();
    let text = slice(0.0, length, height + 8.0, false) + BACK;
    let mut rig = rig(&(text + &sand(30.0, cell, [[0.0; 3], [width, THICK, height]]) + how), bench)?;
    let before = rig.world.totals().mass;
    rig.run_to(8.0 * (height * H / G).sqrt())?;
    let lost = (rig.world.totals().mass - before).abs();
    Ok(((front(&heights(&rig)) - width * H) / (width * H), lost / before))
}

fn round(bench: &Bench, radius: f64, a: f64) -> Result<f64, CaseError> {
    let height = (a * radius).round();
    let half = 8.0 * (radius * (1.4 + 1.6 * a) / 8.0).ceil();
    let text = head(0.0, [-half, -half, -4.0], [half, half, height + 8.0], "", 0.5) + FLOOR;
    let fill = [[-radius, -radius, 0.0], [radius, radius, height]];
    let mut rig = rig(&(text + &sand(30.0, H, fill) + &phases(true, "")), bench)?;
    super::cut(&mut rig, |x| x.truncate().length() < radius * H);
    rig.run_to(8.0 * (height * H / G).sqrt())?;
    let mut rings: std::collections::BTreeMap<i64, f64> = Default::default();
    for (x, m) in pieces(&rig) {
        *rings.entry((x.truncate().length() / H).floor() as i64).or_default() += m;
    }
    let height = |(k, m): (&i64, &f64)| {
        let area = std::f64::consts::PI * (2.0 * *k as f64 + 1.0) * H * H;
        [(*k as f64 + 0.5) * H, m / (area * super::DENSITY * super::PACKING)]
    };
    let profile: Vec<[f64; 2]> = rings.iter().map(height).collect();
    Ok((front(&profile) - radius * H) / (radius * H))
}

fn run(bench: &Bench) -> Result<Findings, CaseError> {
    let mut found = Findings::default();
    let width = bench.size.pick(20.0, 40.0, 60.0);
    found.set_up("column's width", format!("{width} cells"));
    let law = |a: f64| if a < 2.3 { 1.2 * a } else { 1.9 * a.powf(2.0 / 3.0) };
    let (mut seen, mut off, mut lost) = (Vec::new(), 0f64, 0f64);
    for a in [0.5, 1.0, 3.0] {
        let (out, gone) = planar(bench, width, a, H, &phases(true, ""))?;
        off = off.max((out / law(a) - 1.0).abs());
        lost = lost.max(gone);
        found.remarks.push(format!("planar, a {a}: {out:.2} for {:.2}", law(a)));
        seen.push([a, out]);
    }
    let out = round(bench, bench.size.pick(14.0, 24.0, 36.0), 1.0)?;
    found.remarks.push(format!("round, a 1: {out:.2} for 1.24"));
    found.found("planar", off);
    found.found("round", (out / 1.24 - 1.0).abs());
    found.found("kept", lost);
    found.plots.push(Plot {
        title: "Run-out of a planar column".into(),
        x: Axis::log("height over width a"),
        y: Axis::log("run-out over width"),
        series: vec![
            Series::dots("barchan", seen),
            Series::dashes("1.2 a, 1.9 a^(2/3)", (2..=16).map(|k| 0.25 * f64::from(k)).map(|a| [a, law(a)]).collect()),
        ],
    });
    Ok(found)
}
