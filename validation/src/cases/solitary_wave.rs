//! A solitary wave in a chain of beads.

use crate::{Accept::Near, Bench, Case, CaseError, Criterion, Findings, Group, Rig};
use barchan_io::plot::{Axis, Plot, Series};
use std::f64::consts::PI;

pub const CASE: Case = Case {
    name: "solitary-wave",
    title: "A solitary wave in a chain of beads",
    group: Group::Verification,
    about: "Steel beads of 10 mm that just touch stand in a row; one more strikes the first at 1 m/s, without loss. Hertz contacts have no \
            stiffness at rest, so no sound goes through the row; a solitary wave does, some five beads long, at a speed that depends on \
            its own height. Heights and times of the beads' peak speeds are read in the middle of the row.",
    source: "Nesterenko 1984, J. Appl. Mech. Tech. Phys. 24, 733: speed (6/(5πρθ))^(2/5) V^(1/5), θ = 3(1−ν²)/(4E), V the peak speed \
             of a bead",
    criteria: &[
        Criterion::new("speed", "speed of the wave over Nesterenko's", "", Near(1.0, 0.01), "1, within 0.8 %"),
        Criterion::new("peak", "peak speed of a bead over that of the striker", "", Near(0.68, 0.01), "0.68"),
    ],
    run,
};

const DIAMETER: f64 = 0.01;
const YOUNG: f64 = 203e9;
const POISSON: f64 = 0.3;
const DENSITY: f64 = 7780.0;
const STRIKER: f64 = 1.0;

fn run(bench: &Bench) -> Result<Findings, CaseError> {
    let beads: usize = bench.size.pick(60, 120, 240);
    let places: Vec<String> = (0..beads).map(|k| format!("[{}, 0, 0]", k as f64 * DIAMETER)).collect();
    let mut rig = Rig::new(
        &format!(
            r#"
            duration = 1
            gravity = [0, 0, 0]
            [domain]
            min = [-0.05, -0.02, -0.02]
            max = [{}, 0.02, 0.02]
            [materials.steel]
            density = {DENSITY}
            young = {YOUNG:e}
            poisson = {POISSON}
            restitution = 1
            friction = 0
            [[grains]]
            material = "steel"
            radius = {}
            at = [{}]
            [[grains]]
            material = "steel"
            radius = {}
            at = [[-{DIAMETER}, 0, 0]]
            velocity = [{STRIKER}, 0, 0]
            "#,
            beads as f64 * DIAMETER + 0.05,
            0.5 * DIAMETER,
            places.join(", "),
            0.5 * DIAMETER
        ),
        bench,
    )?;
    let theta = 3.0 * (1.0 - POISSON * POISSON) / (4.0 * YOUNG);
    let speed = |peak: f64| (6.0 / (5.0 * PI * DENSITY * theta)).powf(0.4) * peak.powf(0.2);
    // By bead: the last three speeds with their times around the largest.
    let mut history: Vec<[f64; 2]> = vec![[0.0; 2]; beads];
    let mut peaks: Vec<Option<[f64; 2]>> = vec![None; beads];
    let (first, last) = (beads / 3, 5 * beads / 6);
    let mut shown = Vec::new();
    while peaks[last].is_none() {
        rig.step()?;
        let (time, dt) = (rig.world.time(), rig.world.plan().dt);
        if time > 2.0 * beads as f64 * DIAMETER / speed(0.68 * STRIKER) {
            return Err(CaseError::Unmeasured("the wave did not go through the row".into()));
        }
        let frame = rig.world.frame().grains().clone();
        for (row, id) in frame.id.iter().enumerate().filter(|(_, id)| (**id as usize) < beads) {
            let (bead, v) = (*id as usize, frame.velocity[row].x);
            let [a, b] = history[bead];
            if peaks[bead].is_none() && b > 0.3 * STRIKER && b >= a && b > v {
                // Top of the parabola through the last three.
                let shift = 0.5 * (a - v) / (a - 2.0 * b + v);
                peaks[bead] = Some([time + (shift - 1.0) * dt, b - 0.25 * (a - v) * shift]);
            }
            history[bead] = [b, v];
            if bead == beads / 2 {
                shown.push([1e6 * time, v]);
            }
        }
    }
    let seen: Vec<(usize, [f64; 2])> = (first..=last).filter_map(|k| peaks[k].map(|p| (k, p))).collect();
    let (Some(a), Some(b)) = (seen.first(), seen.last()) else {
        return Err(CaseError::Unmeasured("no bead was seen to peak".into()));
    };
    let peak = seen.iter().map(|s| s.1[1]).sum::<f64>() / seen.len() as f64;
    let found_speed = (b.0 - a.0) as f64 * DIAMETER / (b.1[0] - a.1[0]);
    let mut found = Findings::default();
    found.set_up("beads", beads.to_string());
    found.set_up("time step", format!("{:.3e} s, {} steps", rig.world.plan().dt, rig.world.steps()));
    found.set_up("speed of the wave", format!("{found_speed:.1} m/s; Nesterenko's {:.1} m/s", speed(peak)));
    found.found("speed", found_speed / speed(peak));
    found.found("peak", peak / STRIKER);
    // Nesterenko's wave is cos⁴ of the place, 5 diameters long.
    let middle = peaks[beads / 2].unwrap_or([f64::NAN; 2]);
    let wave = (-50..=50).map(|k| {
        let phase = f64::from(k) / 50.0 * 0.5 * PI;
        let time = phase / 10f64.sqrt() * 5.0 * DIAMETER / speed(peak);
        [1e6 * (middle[0] + time), peak * phase.cos().powi(4)]
    });
    let span = 1e6 * 12.0 * DIAMETER / found_speed;
    shown.retain(|p| (p[0] - 1e6 * middle[0]).abs() < span);
    found.plots.push(Plot {
        title: "Speed of the bead in the middle of the row".into(),
        x: Axis::linear("time [µs]"),
        y: Axis::linear("speed [m/s]"),
        series: vec![Series::line("barchan", shown), Series::dashes("Nesterenko", wave.collect())],
    });
    Ok(found)
}
