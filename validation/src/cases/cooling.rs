//! A granular gas cools by Haff's law.

use crate::{Accept::Near, Bench, Case, CaseError, Criterion, Findings, Group, Rig};
use barchan_io::plot::{Axis, Plot, Series};
use glam::DVec3;
use std::f64::consts::PI;

pub const CASE: Case = Case {
    name: "cooling",
    title: "A granular gas cools by Haff's law",
    group: Group::Verification,
    about: "Smooth spheres fill a twentieth of a periodic box at random, with velocities drawn from a normal distribution, and lose energy in \
            collisions of restitution 0.8 (linear spring: the same at every speed). While the gas stays even, its temperature is \
            T₀/(1 + t/t꜀)² (Haff). 1/√T is then a straight line in time; from its slope follows t꜀, which Enskog's collision rate gives \
            as 6/((1 − e²) ω₀), ω₀ = 24 φ χ √T₀/(√π d), χ = (1 − φ/2)/(1 − φ)³ (Carnahan and Starling). Temperature is the \
            variance of a velocity component, the motion of the whole taken off. A box longer than some 40 diameters would not stay even: \
            there the shear flows of chance die away more slowly than the heat does.",
    source: "Haff 1983, J. Fluid Mech. 134, 401; Brilliantov and Pöschel 2004, Kinetic Theory of Granular Gases",
    criteria: &[
        Criterion::new(
            "slope",
            "slope of ln T over ln(1 + t/t꜀) in the last two thirds of ln(1 + t/t꜀)",
            "",
            Near(-2.0, 0.05),
            "−2",
        ),
        Criterion::new("time", "t꜀ fitted over Enskog's", "", Near(1.0, 0.05), "1"),
    ],
    run,
};

const RADIUS: f64 = 1e-3;
const FRACTION: f64 = 0.05;
const RESTITUTION: f64 = 0.8;
/// Standard deviation of a velocity component at the start [m/s].
const SPREAD: f64 = 0.1;
/// Duration of a collision [s]: a fortieth of the time between two of them at the start, and ever less of it later.
const CONTACT: f64 = 6e-4;
/// Rows of the curve.
const ROWS: usize = 120;

fn run(bench: &Bench) -> Result<Findings, CaseError> {
    let grains: usize = bench.size.pick(2000, 4000, 5000);
    // How far it cools, in units of t꜀.
    let until: f64 = bench.size.pick(20.0, 60.0, 100.0);
    let side = (grains as f64 * 4.0 / 3.0 * PI * RADIUS.powi(3) / FRACTION).cbrt();
    let text = format!(
        r#"
        duration = 10
        gravity = [0, 0, 0]
        [domain]
        min = [0, 0, 0]
        max = [{side}, {side}, {side}]
        periodic = ["x", "y", "z"]
        [materials.smooth]
        density = 2500
        restitution = {RESTITUTION}
        friction = 0
        [contact]
        normal = "linear"
        contact_time = {CONTACT}
        [integrator]
        dt = {}
        max_overlap = 0.3
        [[grains]]
        material = "smooth"
        radius = {RADIUS}
        fill = {{ box = {{ min = [0, 0, 0], max = [{side}, {side}, {side}] }}, method = "random", count = {grains} }}
        velocity_spread = {SPREAD}
        "#,
        CONTACT / 20.0
    );
    let mut rig = Rig::new(&text, bench)?;
    let start = temperature(&rig);
    let enskog = (1.0 - 0.5 * FRACTION) / (1.0 - FRACTION).powi(3);
    let rate = 24.0 * FRACTION * enskog * start.sqrt() / (PI.sqrt() * 2.0 * RADIUS);
    let expected = 6.0 / ((1.0 - RESTITUTION * RESTITUTION) * rate);
    let mut curve = vec![[0.0, start]];
    for k in 1..=ROWS {
        rig.run_to(expected * ((1.0 + until).powf(k as f64 / ROWS as f64) - 1.0))?;
        curve.push([rig.world.time(), temperature(&rig)]);
    }
    // Each row weighs the same, so that every factor in the temperature does: relative deviations are made small.
    let (offset, slope) = line(&curve.iter().map(|[t, temp]| [*t, 1.0 / temp.sqrt(), *temp]).collect::<Vec<_>>());
    let time = offset / slope;
    let logs: Vec<[f64; 3]> = curve.iter().map(|[t, temp]| [(1.0 + t / time).ln(), temp.ln(), 1.0]).collect();
    let late: Vec<[f64; 3]> = logs.iter().copied().filter(|l| l[0] > logs[ROWS][0] / 3.0).collect();
    let mut found = Findings::default();
    found.set_up("grains", grains.to_string());
    // Viscosity of a dilute gas against its cooling: k = n d² √(32π/15 (1 − e²) χ) neither grows nor dies over the heat.
    let wave = 6.0 * FRACTION / PI * (32.0 * PI / 15.0 * (1.0 - RESTITUTION * RESTITUTION) * enskog).sqrt();
    let critical = 2.0 * PI / wave;
    found.set_up("side of the box", format!("{:.1} diameters; flows grow beyond {critical:.1}", side / (2.0 * RADIUS)));
    found.set_up("t꜀", format!("{time:.4} s; Enskog's {expected:.4} s"));
    found.set_up("steps", format!("{}, to t = {until} t꜀", rig.world.steps()));
    found.found("slope", line(&late).1);
    found.found("time", time / expected);
    let law = |t: f64| [t / expected, (1.0 + t / expected).powi(-2)];
    found.plots.push(Plot {
        title: "Temperature of a granular gas".into(),
        x: Axis::log("time over Enskog's t꜀"),
        y: Axis::log("temperature over that at the start"),
        series: vec![
            Series::line("barchan", curve.iter().map(|[t, temp]| [t / expected, temp / start]).collect()),
            Series::dashes("Haff, with Enskog's t꜀", curve.iter().map(|p| law(p[0])).collect()),
        ],
    });
    Ok(found)
}

/// Variance of a velocity component [m²/s²] about the mean velocity.
fn temperature(rig: &Rig) -> f64 {
    let frame = rig.world.frame().grains().clone();
    let n = frame.velocity.len() as f64;
    let mean = frame.velocity.iter().sum::<DVec3>() / n;
    frame.velocity.iter().map(|v| (*v - mean).length_squared()).sum::<f64>() / (3.0 * n)
}

/// Offset and slope of the line through rows of x, y and weight, by least squares.
fn line(rows: &[[f64; 3]]) -> (f64, f64) {
    let sum = |f: &dyn Fn(&[f64; 3]) -> f64| rows.iter().map(|r| r[2] * f(r)).sum::<f64>();
    let all = sum(&|_| 1.0);
    let (x, y) = (sum(&|r| r[0]) / all, sum(&|r| r[1]) / all);
    let slope = sum(&|r| (r[0] - x) * (r[1] - y)) / sum(&|r| (r[0] - x).powi(2));
    (y - slope * x, slope)
}
