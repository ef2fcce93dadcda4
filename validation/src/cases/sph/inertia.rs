//! A chute with friction that grows with the rate of shear.

use super::{D, DENSITY, FLOOR, G, PACKING, continuum, filled, particles, rig, slice};
use crate::fit::line;
use crate::{Accept::Below, Bench, Case, CaseError, Criterion, Findings, Group};
use barchan_io::plot::{Axis, Plot, Series};

pub const CASE: Case = Case {
    name: "sph-inertia",
    title: "Flow down a chute with μ(I)",
    group: Group::Continuum,
    about: "A layer of 16 particles, endless along and across, flows down a rough slope of 25° with the friction of glass beads, μ(I). It comes \
            to the profile of Bagnold, u = ⅔ (I_θ/d_g) √(φ_s g cos θ) (h^(3/2) − (h − z)^(3/2)). The grain is large, so that it does within seconds.",
    source: "Jop, Forterre & Pouliquen 2006, Nature 441, 727; GDR MiDi 2004",
    criteria: &[Criterion::new(
        "speed",
        "mean deviation of the profile from Bagnold's, over its speed at the surface",
        "",
        Below(0.1),
        "0",
    )],
    run,
};

const SLOPE: f64 = 25.0;
const GRAIN: f64 = 0.03;
/// Glass beads: friction angle at rest [°], μ₂ = tan 32.76° and I₀.
const REST: f64 = 20.9;
const FAST: f64 = 0.6435;
const I0: f64 = 0.279;

fn run(bench: &Bench) -> Result<Findings, CaseError> {
    let mut found = Findings::default();
    let height = 16.0 * D;
    let law = format!("rate = {{ mu2 = {FAST}, i0 = {I0}, grain = {GRAIN} }}");
    let (sin, cos) = f64::to_radians(SLOPE).sin_cos();
    let (tan, still) = (sin / cos, f64::to_radians(REST).tan());
    let inertial = I0 * (tan - still) / (FAST - tan);
    let speed = |z: f64| {
        let shape = height.powf(1.5) - (height - z).max(0.0).powf(1.5);
        2.0 / 3.0 * inertial / GRAIN * (PACKING * G * cos).sqrt() * shape
    };
    let fill =
        format!("{law}\nvelocity = [{}, 0, 0]\n{}", 0.6 * speed(height), filled([0.0; 3], [8.0 * D, 4.0 * D, height]));
    let mut rig = rig(&(slice(SLOPE, 8.0 * D, height + 6.0 * D, true) + &continuum(REST, &fill) + FLOOR), bench)?;
    rig.run_to(bench.size.pick(4.0, 10.0, 20.0))?;
    let p = particles(&rig);
    let seen: Vec<[f64; 2]> = (0..p.len()).map(|i| [p.position[i].z, p.velocity[i].x]).collect();
    let off = seen.iter().map(|s| (s[1] - speed(s[0])).abs()).sum::<f64>() / seen.len() as f64;
    found.found("speed", off / speed(height));
    let drift = line(&seen).map_or(f64::NAN, |l| l.slope.value);
    found.remarks.push(format!(
        "mean shear {drift:.2} /s, inertial number {inertial:.3}, bulk density {:.0} kg/m³",
        DENSITY * PACKING
    ));
    found.plots.push(Plot {
        title: "Speed over the height in a chute".into(),
        x: Axis::linear("height [m]"),
        y: Axis::linear("speed [m/s]"),
        series: vec![
            Series::dots("barchan", seen),
            Series::dashes("Bagnold", (0..=40).map(|k| height * f64::from(k) / 40.0).map(|z| [z, speed(z)]).collect()),
        ],
    });
    Ok(found)
}
