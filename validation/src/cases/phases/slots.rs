//! A silo of sand in phases that empties through a slot.

use super::{DENSITY, G, H, PACKING, THICK, head, phases, rig, sand};
use crate::fit::line;
use crate::{Accept, Accept::Below, Bench, Case, CaseError, Criterion, Findings, Group};
use barchan_io::plot::{Axis, Plot, Series};

pub const CASE: Case = Case {
    name: "phases-slots",
    title: "A silo of sand in phases empties through slots",
    group: Group::Phases,
    about: "A flat-bottomed slice of a silo, four openings wide, empties through a slot of 12 cells (also 16 and 24 at standard size) while its depth \
            halves. With θ 30° the rate stays the same, and goes as √g (D − k h)^(3/2) with the openings; without friction it falls as the root of the depth.",
    source: "Beverloo, Leniger & van de Velde 1961; Staron, Lagrée & Popinet 2012; Torricelli for θ = 0",
    criteria: &[
        Criterion::new("steady", "θ 30°: change of the rate while the depth halves, of its mean", "", Below(0.1), "0"),
        Criterion::new(
            "rate",
            "smallest slot: rate over ρ √g D^(3/2) b",
            "",
            Accept::Between(0.15, 0.65),
            "0.35 … 0.65 (1 − k h/D)^(3/2)",
        ),
        Criterion::new("liquid", "θ 0: exponent of the rate with the depth", "", Accept::Between(0.35, 0.65), "0.5"),
    ],
    run,
};

/// Depth [m] and rate [kg/s] in time, of a slot of so many cells.
fn empty(bench: &Bench, angle: f64, slot: f64) -> Result<Vec<[f64; 3]>, CaseError> {
    let (width, depth) = (4.0 * slot, 4.0 * slot);
    let (left, right) = (0.5 * (width - slot) * H, 0.5 * (width + slot) * H);
    let text = head(0.0, [-3.0, 0.0, -20.0], [width + 3.0, THICK, depth + 6.0], r#""y""#, 0.5);
    let walls = format!(
        r#"
        [[walls]]
        name = "sides"
        material = "wall"
        box = {{ min = [0, -10, -10], max = [{w}, 10, 10], open = ["top", "bottom", "front", "back"] }}
        [[walls]]
        name = "left"
        material = "wall"
        box = {{ min = [-0.05, -10, -0.06], max = [{left}, 10, 0], side = "outside" }}
        [[walls]]
        name = "right"
        material = "wall"
        box = {{ min = [{right}, -10, -0.06], max = [{beyond}, 10, 0], side = "outside" }}
        [[sinks]]
        name = "out"
        below = {{ point = [0, 0, {out}], normal = [0, 0, 1] }}
        [[measure]]
        name = "bed"
        count = {{ box = {{ min = [0, -1, 0], max = [{w}, 1, 10] }} }}
        every = "20 ms"
        "#,
        w = width * H,
        beyond = width * H + 0.05,
        out = -14.0 * H,
    );
    let fill = [[0.0; 3], [width, THICK, depth]];
    let mut rig = rig(&(text + &walls + &sand(angle, H, fill) + &phases(false, "")), bench)?;
    let area = width * THICK * H * H * DENSITY * PACKING;
    while rig.rows("bed").last().is_none_or(|r| r[2] / area > 0.45 * depth * H) && rig.world.time() < 30.0 {
        rig.step()?;
    }
    let bed = rig.rows("bed");
    // Rate from the mass that is gone between rows five apart.
    let rate = |k: usize| (bed[k - 5][2] - bed[k][2]) / (bed[k][0] - bed[k - 5][0]);
    Ok((5..bed.len()).map(|k| [bed[k][0], bed[k - 2][2] / area, rate(k)]).collect())
}

fn run(bench: &Bench) -> Result<Findings, CaseError> {
    let mut found = Findings::default();
    let slots: &[f64] = bench.size.pick(&[12.0], &[12.0, 16.0, 24.0], &[12.0, 16.0, 24.0, 32.0]);
    let (mut series, mut change, mut rates) = (Vec::new(), 0f64, Vec::new());
    for (k, (angle, slot)) in slots.iter().map(|s| (30.0, *s)).chain([(0.0, 12.0)]).enumerate() {
        let seen = empty(bench, angle, slot)?;
        let full = 4.0 * slot * H;
        let window: Vec<[f64; 3]> = seen.iter().filter(|s| s[1] < 0.92 * full && s[1] > 0.5 * full).copied().collect();
        let times: Vec<[f64; 2]> = window.iter().map(|s| [s[0], s[2]]).collect();
        let logs: Vec<[f64; 2]> = window.iter().map(|s| [s[1].ln(), s[2].max(1e-9).ln()]).collect();
        let fit = if angle > 0.0 { line(&times) } else { line(&logs) };
        let (Some(fit), Some(first), Some(last)) = (fit, times.first(), times.last()) else {
            return Err(CaseError::Unmeasured("the silo did not run".into()));
        };
        let mean = times.iter().map(|t| t[1]).sum::<f64>() / times.len() as f64;
        let unit = DENSITY * PACKING * G.sqrt() * (slot * H).powf(1.5) * THICK * H;
        if angle > 0.0 {
            change = change.max((fit.slope.value * (last[0] - first[0]) / mean).abs());
            // (rate/(ρ √g b))^(2/3) is a line over D whose foot is k h.
            rates.push([slot, (mean / (unit / (slot * H).powf(1.5))).powf(2.0 / 3.0) / H]);
            if k == 0 {
                found.found("rate", mean / unit);
            }
        } else {
            found.found("liquid", fit.slope.value);
        }
        found.remarks.push(format!("θ {angle}°, slot of {slot} cells: {:.3} ρ √g D^(3/2) b", mean / unit));
        series.push(Series::line(
            format!("θ {angle}°, {slot} cells"),
            window.iter().map(|s| [s[1] / full, s[2] / unit]).collect(),
        ));
    }
    found.found("steady", change);
    if let Some(l) = line(&rates).filter(|_| rates.len() > 2) {
        let (c, foot) = (l.slope.value.powf(1.5), -l.intercept.value / l.slope.value);
        found.remarks.push(format!("rates are {c:.2} ρ √g (D − {foot:.1} h)^(3/2) b"));
    }
    found.plots.push(Plot {
        title: "Rate of flow against the depth".into(),
        x: Axis::linear("depth over that at the start"),
        y: Axis::linear("rate over ρ √g D^(3/2) b"),
        series,
    });
    Ok(found)
}
