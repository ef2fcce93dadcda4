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
    about: "A flat-bottomed slice of a silo, 40 particles wide, empties through a slot of 10 particles. With φ 30° the rate stays the same while \
            the level falls from six openings to one and a half; without friction it falls with the square root of the depth.",
    source: "Staron, Lagrée & Popinet 2012, Phys. Fluids 24, 103301; Torricelli for φ = 0",
    criteria: &[
        Criterion::new("steady", "φ 30°: change of the rate over the time followed, of its mean", "", Below(0.1), "0"),
        Criterion::new("liquid", "φ 0: exponent of the rate with the depth", "", Accept::Between(0.4, 0.6), "0.5"),
    ],
    run,
};

const WIDTH: f64 = 40.0 * D;
const SLOT: f64 = 10.0 * D;

/// Level over the slot [m] and rate [kg/s], in time.
fn empty(bench: &Bench, angle: f64) -> Result<Vec<[f64; 3]>, CaseError> {
    let height = bench.size.pick(60.0, 80.0, 120.0) * D;
    let (left, right) = (0.5 * (WIDTH - SLOT), 0.5 * (WIDTH + SLOT));
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
        if bed.last().is_some_and(|r| r[2] / area < 1.5 * SLOT) || rig.world.time() > 30.0 {
            break;
        }
    }
    let rows = rig.rows("flow").iter().zip(rig.rows("bed"));
    Ok(rows.map(|(f, b)| [f[0], b[2] / area, f[4]]).collect())
}

fn run(bench: &Bench) -> Result<Findings, CaseError> {
    let mut found = Findings::default();
    let mut series = Vec::new();
    for (angle, key) in [(30.0, "steady"), (0.0, "liquid")] {
        let seen = empty(bench, angle)?;
        let highest = seen.first().map_or(f64::NAN, |s| s[1]);
        // The first tenth goes by until the flow has formed; from there, or from six openings on, down to one and a half it is followed.
        let top = (0.9 * highest).min(6.0 * SLOT);
        let window: Vec<[f64; 3]> = seen.iter().filter(|s| s[1] < top && s[1] > 1.5 * SLOT).copied().collect();
        let rates: Vec<[f64; 2]> = window.iter().map(|s| [s[0], s[2]]).collect();
        let mean = rates.iter().map(|r| r[1]).sum::<f64>() / rates.len() as f64;
        let logs: Vec<[f64; 2]> = window.iter().map(|s| [s[1].ln(), s[2].max(1e-9).ln()]).collect();
        let fit = if key == "steady" { line(&rates) } else { line(&logs) };
        let Some(fit) = fit else { return Err(CaseError::Unmeasured("the silo did not run".into())) };
        let span = rates[rates.len() - 1][0] - rates[0][0];
        match key {
            "steady" => found.found(key, (fit.slope.value * span / mean).abs()),
            _ => found.found(key, fit.slope.value),
        }
        let unit = super::DENSITY * super::PACKING * G.sqrt() * SLOT.powf(1.5) * 4.0 * D;
        found.remarks.push(format!("φ {angle}°: mean rate {:.3} ρ √g L^(3/2) b", mean / unit));
        series.push(Series::line(format!("φ {angle}°"), window.iter().map(|s| [s[1] / SLOT, s[2] / unit]).collect()));
    }
    found.plots.push(Plot {
        title: "Rate of flow against the depth".into(),
        x: Axis::linear("depth over the slot's width"),
        y: Axis::linear("rate over ρ √g L^(3/2) b"),
        series,
    });
    Ok(found)
}
