//! Two blobs of a continuum that meet without gravity.

use super::{D, continuum, particles, rig};
use crate::{Accept::Below, Bench, Case, CaseError, Criterion, Findings, Group};
use barchan_io::plot::{Axis, Plot, Series};
use glam::DVec3;

pub const CASE: Case = Case {
    name: "sph-blobs",
    title: "Two blobs of a continuum meet",
    group: Group::Continuum,
    about: "Two balls, eight particles across, fly at each other with 2 m/s, off centre by two particles, without gravity and air; φ is 30°. \
            Momentum stays, energy never rises. Sums over pairs are in f32.",
    source: "Conservation: a pair's forces are opposite, friction and pressure only take energy",
    criteria: &[
        Criterion::new("momentum", "largest change of the momentum, over the sum of |m v|", "", Below(1e-6), "0"),
        Criterion::new("energy", "largest rise of the energy in a step, over the first energy", "", Below(1e-6), "0"),
        Criterion::new("meets", "energy at the end over that at the start", "", Below(0.9), "they do meet"),
    ],
    run,
};

fn run(bench: &Bench) -> Result<Findings, CaseError> {
    let mut found = Findings::default();
    let (radius, apart, speed) = (4.0 * D, 5.0 * D, 1.0);
    let head = super::head(0.0, DVec3::splat(-30.0 * D), DVec3::splat(30.0 * D), "");
    let head = head.lines().filter(|l| !l.trim_start().starts_with("gravity")).collect::<Vec<_>>().join("\n");
    let mut text = format!("gravity = [0, 0, 0]\n{head}\n");
    for side in [-1.0, 1.0] {
        let centre = [side * apart, 0.0, side * D];
        let fill = format!(
            "velocity = [{}, 0, 0]\nfill = {{ sphere = {{ centre = {centre:?}, radius = {radius} }} }}",
            -side * speed
        );
        text += &continuum(30.0, &fill).replace("\"sand\"", if side < 0.0 { "\"left\"" } else { "\"right\"" });
    }
    let mut rig = rig(&text, bench)?;
    let first = rig.world.totals();
    let p = particles(&rig);
    let scale: f64 = (0..p.len()).map(|i| p.mass[i] * p.velocity[i].length()).sum();
    let energy = |rig: &crate::Rig| rig.world.totals().energies.translation;
    let start = energy(&rig);
    let (mut drift, mut rise, mut last, mut seen) = (0f64, 0f64, start, vec![[0.0, 1.0]]);
    while rig.world.time() < 0.4 {
        rig.step()?;
        let now = rig.world.totals();
        drift = drift.max((now.momentum - first.momentum).length());
        rise = rise.max(now.energies.translation - last);
        last = now.energies.translation;
        seen.push([rig.world.time(), last / start]);
    }
    found.set_up("particles", format!("{}", p.len()));
    found.found("momentum", drift / scale);
    found.found("energy", rise / start);
    found.found("meets", last / start);
    found.plots.push(Plot {
        title: "Energy of two blobs that meet".into(),
        x: Axis::linear("time [s]"),
        y: Axis::linear("energy over the first"),
        series: vec![Series::line("barchan", seen)],
    });
    Ok(found)
}
