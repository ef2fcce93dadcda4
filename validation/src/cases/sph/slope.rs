//! A layer of a continuum on a slope.

use super::{D, FLOOR, G, continuum, filled, particles, rig, rms, slice, unit};
use crate::{Accept::Below, Bench, Case, CaseError, Criterion, Findings, Group};
use barchan_io::plot::{Axis, Plot, Series};

pub const CASE: Case = Case {
    name: "sph-slope",
    title: "A layer of a continuum on a slope",
    group: Group::Continuum,
    about: "A layer of ten particles, endless along and across a rough slope of θ, is let go. Steeper than its friction angle φ it gains \
            g (sin θ − tan φ cos θ); two degrees below φ it stays, once the density of the filling has been repaired, which takes up to three seconds in which it \
            creeps. φ is 20°, 30° and 40°.",
    source: "Coulomb friction, closed form",
    criteria: &[
        Criterion::new("gains", "largest deviation of the acceleration, over it", "", Below(0.03), "0"),
        Criterion::new("stays", "two degrees below φ: largest speed after 4 s, over √(g d)", "", Below(1e-3), "0"),
    ],
    run,
};

fn layer(bench: &Bench, angle: f64, slope: f64) -> Result<crate::Rig, CaseError> {
    let fill = filled([0.0, 0.0, 0.0], [8.0 * D, 4.0 * D, 10.0 * D]);
    rig(&(slice(slope, 8.0 * D, 20.0 * D, true) + &continuum(angle, &fill) + FLOOR), bench)
}

fn gained(bench: &Bench, angle: f64, slope: f64) -> Result<f64, CaseError> {
    let mut rig = layer(bench, angle, slope)?;
    let seen = |rig: &crate::Rig| (rig.world.time(), rig.world.totals().momentum.x / rig.world.totals().mass);
    rig.run_to(0.2)?;
    let before = seen(&rig);
    rig.run_to(0.5)?;
    let after = seen(&rig);
    Ok((after.1 - before.1) / (after.0 - before.0))
}

fn run(bench: &Bench) -> Result<Findings, CaseError> {
    let mut found = Findings::default();
    let (mut off, mut speed, mut seen, mut exact) = (0f64, 0f64, Vec::new(), Vec::new());
    for angle in [20.0f64, 30.0, 40.0] {
        for slope in [angle + 5.0, angle + 10.0] {
            let (sin, cos) = slope.to_radians().sin_cos();
            let expected = G * (sin - angle.to_radians().tan() * cos);
            let found = gained(bench, angle, slope)?;
            off = off.max((found / expected - 1.0).abs());
            seen.push([slope, found]);
            exact.push([slope, expected]);
        }
        let mut rig = layer(bench, angle, angle - 2.0)?;
        rig.run_to(4.0)?;
        speed = speed.max(rms(&particles(&rig)) / unit());
    }
    found.found("gains", off);
    found.found("stays", speed);
    found.plots.push(Plot {
        title: "Acceleration of a layer".into(),
        x: Axis::linear("slope [deg]"),
        y: Axis::linear("acceleration [m/s²]"),
        series: vec![Series::dots("barchan", seen), Series::rings("g (sin θ − tan φ cos θ)", exact)],
    });
    Ok(found)
}
