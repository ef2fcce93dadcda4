//! A layer of sand in phases on a slope.

use super::{G, H, THICK, phases, rig, sand, slice, unit};
use crate::{Accept::Below, Bench, Case, CaseError, Criterion, Findings, Group};
use barchan_io::plot::{Axis, Plot, Series};

pub const CASE: Case = Case {
    name: "phases-incline",
    title: "A layer of sand in phases on a slope",
    group: Group::Phases,
    about: "A layer of 16 cells, endless along and across a rough slope of α, is let go with a linear shear. It gains g (sin α − tan θ cos α); at rest \
            it holds two degrees below θ. θ is 22°, 30° and 36°.",
    source: "Coulomb friction, closed form",
    criteria: &[
        Criterion::new("gains", "largest deviation of the acceleration, over g sin α", "", Below(0.05), "0"),
        Criterion::new("holds", "two degrees below θ: speed after 10 √(H/g), over √(g h)", "", Below(0.05), "0"),
    ],
    run,
};

/// Cells of the layer.
const LAYER: f64 = 16.0;

fn layer(bench: &Bench, asked: f64, slope: f64, speed: f64) -> Result<crate::Rig, CaseError> {
    let fill = sand(asked, H, [[0.0; 3], [8.0, THICK, LAYER]]) + &format!("velocity = [{speed}, 0, 0]\n");
    rig(&(slice(slope, 8.0, 32.0, true) + &fill + &phases(false, "")), bench)
}

fn mean(rig: &crate::Rig) -> f64 {
    rig.world.totals().momentum.x / rig.world.totals().mass
}

fn run(bench: &Bench) -> Result<Findings, CaseError> {
    let mut found = Findings::default();
    let (mut off, mut speed, mut seen, mut exact) = (0f64, 0f64, Vec::new(), Vec::new());
    let fall = (LAYER * H / G).sqrt();
    for asked in [22.0f64, 30.0, 36.0] {
        // Above asin(tan θ), up to which a layer at rest may hold, it runs by itself.
        let steep = asked.to_radians().tan().asin().to_degrees() + 4.0;
        let (sin, cos) = steep.to_radians().sin_cos();
        let expected = G * (sin - asked.to_radians().tan() * cos);
        let mut rig = layer(bench, asked, steep, 0.5 * (G * LAYER * H).sqrt())?;
        rig.run_to(2.0 * fall)?;
        let (before, from) = (mean(&rig), rig.world.time());
        rig.run_to(6.0 * fall)?;
        let gained = (mean(&rig) - before) / (rig.world.time() - from);
        off = off.max((gained - expected).abs() / (G * sin));
        seen.push([steep, gained]);
        exact.push([steep, expected]);
        found.remarks.push(format!("θ {asked}°, slope {steep:.1}°: {gained:.3} m/s² for {expected:.3}"));
        let mut rig = layer(bench, asked, asked - 2.0, 0.0)?;
        rig.run_to(10.0 * fall)?;
        speed = speed.max(mean(&rig).abs() / unit());
    }
    found.found("gains", off);
    found.found("holds", speed);
    found.plots.push(Plot {
        title: "Acceleration of a layer".into(),
        x: Axis::linear("slope [deg]"),
        y: Axis::linear("acceleration [m/s²]"),
        series: vec![Series::dots("barchan", seen), Series::rings("g (sin α − tan θ cos α)", exact)],
    });
    Ok(found)
}
