//! A round heap of sand in phases: alike in all directions of the grid.

use super::{FLOOR, H, head, phases, pieces, rig, sand};
use crate::fit::line;
use crate::{Accept::Below, Bench, Case, CaseError, Criterion, Findings, Group};
use barchan_io::plot::{Axis, Plot, Series};

pub const CASE: Case = Case {
    name: "phases-directions",
    title: "A cone of sand in phases has the same slope in all directions",
    group: Group::Phases,
    about: "A cone (12 cells high, 25 at standard size) is cut at 40° and let go on a rough floor; θ is 30°. The slopes of eight sectors about the \
            axes and diagonals of the grid are compared.",
    source: "symmetry; spec of three phases, test 8",
    criteria: &[
        Criterion::new("spread", "largest less smallest slope of eight sectors", "deg", Below(2.5), "0"),
        Criterion::new("mean", "mean slope off θ", "deg", Below(5.0), "−4 … 0"),
    ],
    run,
};

fn run(bench: &Bench) -> Result<Findings, CaseError> {
    let mut found = Findings::default();
    let height = bench.size.pick(12.0, 25.0, 40.0);
    found.set_up("cone", format!("{height} cells high"));
    let tan = 40f64.to_radians().tan();
    let base = (height / tan).ceil();
    let half = 8.0 * ((1.8 * base + 4.0) / 8.0).ceil();
    let fill = [[-base, -base, 0.0], [base, base, height]];
    let text = head(0.0, [-half, -half, -4.0], [half, half, height + 8.0], "", 0.5) + FLOOR;
    let mut rig = rig(&(text + &sand(30.0, H, fill) + &phases(false, "")), bench)?;
    super::cut(&mut rig, |x| x.z < height * H - x.truncate().length() * tan);
    rig.run_to(10.0 * (height * H / super::G).sqrt())?;
    // Mean height of rings a cell wide in each sector.
    let mut rings: Vec<std::collections::BTreeMap<i64, f64>> = vec![Default::default(); 8];
    for (x, m) in pieces(&rig) {
        let (r, turn) = (x.truncate().length(), x.y.atan2(x.x).rem_euclid(std::f64::consts::TAU));
        let sector = (turn / std::f64::consts::FRAC_PI_4).round() as usize % 8;
        *rings[sector].entry((r / H).floor() as i64).or_default() += m;
    }
    let mut slopes = Vec::new();
    for (k, sector) in rings.iter().enumerate() {
        let height = |(ring, m): (&i64, &f64)| {
            let area = std::f64::consts::PI * (2.0 * *ring as f64 + 1.0) * H * H / 8.0;
            [(*ring as f64 + 0.5) * H, m / (area * super::DENSITY * super::PACKING)]
        };
        let profile: Vec<[f64; 2]> = sector.iter().map(height).collect();
        let top = profile.iter().map(|p| p[1]).fold(0.0, f64::max);
        let on: Vec<[f64; 2]> = profile.into_iter().filter(|p| (0.2 * top..0.8 * top).contains(&p[1])).collect();
        let slope = line(&on).map_or(f64::NAN, |l| (-l.slope.value).atan().to_degrees());
        slopes.push([45.0 * k as f64, slope]);
    }
    let all = slopes.iter().map(|s| s[1]);
    let (low, high) = all.clone().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), s| (l.min(s), h.max(s)));
    let mean = all.sum::<f64>() / 8.0;
    found.remarks.push(format!("slopes from {low:.1}° to {high:.1}°, mean {mean:.1}°"));
    found.found("spread", high - low);
    found.found("mean", (mean - 30.0).abs());
    found.plots.push(Plot {
        title: "Slope by direction".into(),
        x: Axis::linear("direction [deg]"),
        y: Axis::linear("slope [deg]"),
        series: vec![Series::dots("barchan", slopes)],
    });
    Ok(found)
}
