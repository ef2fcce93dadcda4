//! A silo of a continuum that empties through a slot.

use super::{D, G, continuum, filled, rig};
use crate::fit::line;
use crate::{Accept, Accept::Below, Bench, Case, CaseError, Criterion, Findings, Group};
use barchan_io::plot::{Axis, Plot, Series};
use glam::DVec3;

pub const CASE: Case = Case {
    name: "sph-silo",
    title: "A silo of a continuum empties through a slot",
    group: Group::Continuum,
    about: "A flat-bottomed slice of a silo, 40 particles wide, empties through a slot of 10 particles, and one of 16. With φ 30° the rate stays the same while \
            the level falls from six openings to one and a half; without friction it falls with the square root of the depth.",
    source: "Staron, Lagrée & Popinet 2012, Phys. Fluids 24, 103301; Torricelli for φ = 0",
    criteria: &[
        Criterion::new("steady", "φ 30°: change of the rate over the time followed, of its mean", "", Below(0.1), "0"),
        Criterion::new(
            "width",
            "φ 30°: exponent of the rate with the slot's width, 10 and 16 particles",
            "",
            Accept::Between(1.35, 1.65),
            "3/2",
        ),
        Criterion::new("liquid", "φ 0: exponent of the rate with the depth", "", Accept::Between(0.4, 0.6), "0.5"),
    ],
    run,
};

const WIDTH: f64 = 40.0 * D;
/// Width of the slot, but where that is compared [m].
const SLOT: f64 = 10.0 * D;
/// A wider one.
const WIDER: f64 = 16.0 * D;

/// Level over the slot [m] and rate [kg/s], in time.
fn empty(bench: &Bench, angle: f64, slot: f64) -> Result<Vec<[f64; 3]>, CaseError> {
    let height = bench.size.pick(60.0, 80.0, 120.0) * D;
    let (left, right) = (0.5 * (WIDTH - slot), 0.5 * (WIDTH + slot));
    let min = DVec3::new(-0.1, 0.0, -20.0 * D);
    let head = super::head(0.0, min, DVec3::new(WIDTH + 0.1, 4.0 * D, height + 5.0 * D), r#""y""#);
    let walls = format!(
        r#"
        [[walls]]
        name = "sides"
        material = "floor"
        box = {{ min = [0, -10, -10], max = [{WIDTH}, 10, 10], open = ["top", "bottom", "front", "back"] }}
        [[walls]]
        name = "left"
        material = "floor"
        box = {{ min = [-0.05, -10, -0.1], max = [{left}, 10, 0], side = "outside" }}
        [[walls]]
        name = "right"
        material = "floor"
        box = {{ min = [{right}, -10, -0.1], max = [{}, 10, 0], side = "outside" }}
        [[sinks]]
        name = "out"
        below = {{ point = [0, 0, {}], normal = [0, 0, 1] }}
        [[measure]]
        name = "flow"
        flow = {{ point = [0, 0, -0.02], normal = [0, 0, -1] }}
        every = "50 ms"
        [[measure]]
        name = "bed"
        count = {{ box = {{ min = [0, -1, 0], max = [{WIDTH}, 1, 10] }} }}
        every = "50 ms"
        "#,
        WIDTH + 0.05,
        -15.0 * D,
    );
    let fill = filled([0.0, 0.0, 0.0], [WIDTH, 4.0 * D, height]);
    let mut rig = rig(&(head + &continuum(angle, &fill) + &walls), bench)?;
    let area = WIDTH * 4.0 * D * super::DENSITY * super::PACKING;
    loop {
        rig.step()?;
        let bed = rig.rows("bed");
        if bed.last().is_some_and(|r| r[2] / area < 1.5 * slot) || rig.world.time() > 30.0 {
            break;
        }
    }
    let rows = rig.rows("flow").iter().zip(rig.rows("bed"));
    Ok(rows.map(|(f, b)| [f[0], b[2] / area, f[4]]).collect())
}

fn run(bench: &Bench) -> Result<Findings, CaseError> {
    let mut found = Findings::default();
    let mut series = Vec::new();
    let mut rates_by_width = [f64::NAN; 2];
    for (angle, slot, key) in [(30.0, SLOT, "steady"), (30.0, WIDER, "width"), (0.0, SLOT, "liquid")] {
        let seen = empty(bench, angle, slot)?;
        let highest = seen.first().map_or(f64::NAN, |s| s[1]);
        // The first tenth goes by until the flow has formed; from there, or from six openings on, down to one and a half it is followed.
        let top = (0.9 * highest).min(6.0 * slot);
        let window: Vec<[f64; 3]> = seen.iter().filter(|s| s[1] < top && s[1] > 1.5 * slot).copied().collect();
        let rates: Vec<[f64; 2]> = window.iter().map(|s| [s[0], s[2]]).collect();
        let mean = rates.iter().map(|r| r[1]).sum::<f64>() / rates.len() as f64;
        let logs: Vec<[f64; 2]> = window.iter().map(|s| [s[1].ln(), s[2].max(1e-9).ln()]).collect();
        let fit = if key == "liquid" { line(&logs) } else { line(&rates) };
        let Some(fit) = fit else { return Err(CaseError::Unmeasured("the silo did not run".into())) };
        let span = rates[rates.len() - 1][0] - rates[0][0];
        match key {
            "steady" => {
                found.found(key, (fit.slope.value * span / mean).abs());
                rates_by_width[0] = mean;
            }
            "width" => rates_by_width[1] = mean,
            _ => found.found(key, fit.slope.value),
        }
        let unit = super::DENSITY * super::PACKING * G.sqrt() * slot.powf(1.5) * 4.0 * D;
        found.remarks.push(format!(
            "φ {angle}°, slot of {:.0} d: mean rate {:.3} ρ √g L^(3/2) b",
            slot / D,
            mean / unit
        ));
        series.push(Series::line(
            format!("φ {angle}°, {:.0} d", slot / D),
            window.iter().map(|s| [s[1] / slot, s[2] / unit]).collect(),
        ));
    }
    found.found("width", (rates_by_width[1] / rates_by_width[0]).ln() / (WIDER / SLOT).ln());
    found.plots.push(Plot {
        title: "Rate of flow against the depth".into(),
        x: Axis::linear("depth over the slot's width"),
        y: Axis::linear("rate over ρ √g L^(3/2) b"),
        series,
    });
    Ok(found)
}
