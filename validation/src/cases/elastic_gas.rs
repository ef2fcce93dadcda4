//! A gas without loss keeps its energy.

use crate::{Accept::Below, Bench, Case, CaseError, Criterion, Findings, Group, Rig};
use barchan_io::plot::{Axis, Plot, Series};
use glam::DVec3;

pub const CASE: Case = Case {
    name: "elastic-gas",
    title: "A gas without loss keeps its energy",
    group: Group::Verification,
    about: "Smooth spheres with Hertz contacts and restitution 1 fill a fifth of a periodic box, for some hundred collisions each. The time \
            step is the one that is derived. The scheme is symplectic: energy, kinetic and elastic, swings within a collision and must \
            not drift; momentum is kept to rounding. Forward Euler, for comparison, pumps energy in.",
    source: "Conservation of energy and momentum",
    criteria: &[
        Criterion::new(
            "drift",
            "mean energy of the last tenth off that of the first tenth, over it",
            "",
            Below(1e-3),
            "0",
        ),
        Criterion::new(
            "swing",
            "largest deviation of the energy from that at the start, over it",
            "",
            Below(1e-2),
            "0",
        ),
        Criterion::new("momentum", "change of momentum over the sum of its magnitudes", "", Below(1e-6), "0"),
    ],
    run,
};

const RADIUS: f64 = 1e-3;
const SPREAD: f64 = 0.1;
const ROWS: usize = 400;

fn gas(bench: &Bench, method: &str, grains: usize) -> Result<Rig, CaseError> {
    let side = (grains as f64 * 4.0 / 3.0 * std::f64::consts::PI * RADIUS.powi(3) / 0.2).cbrt();
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
        young = "10 MPa"
        restitution = 1
        friction = 0
        [integrator]
        method = "{method}"
        [[grains]]
        material = "smooth"
        radius = {RADIUS}
        fill = {{ box = {{ min = [0, 0, 0], max = [{side}, {side}, {side}] }}, method = "random", count = {grains} }}
        velocity_spread = {SPREAD}
        "#
    );
    Rig::new(&text, bench)
}

/// Energy over that at the start, at even times up to `time` [s], and the change of momentum over all momenta.
fn watch(rig: &mut Rig, time: f64) -> Result<(Vec<[f64; 2]>, f64), CaseError> {
    let energy = |rig: &Rig| {
        let e = rig.world.energies();
        e.translation + e.rotation + e.elastic
    };
    let momentum = |rig: &Rig| {
        let frame = rig.world.frame().grains().clone();
        let each = frame.velocity.iter().zip(&*frame.mass).map(|(v, m)| *v * *m);
        (each.clone().sum::<DVec3>(), each.map(|p| p.length()).sum::<f64>())
    };
    let (start, before) = (energy(rig), momentum(rig));
    let mut curve = vec![[0.0, 1.0]];
    for k in 1..=ROWS {
        rig.run_to(time * k as f64 / ROWS as f64)?;
        curve.push([rig.world.time(), energy(rig) / start]);
    }
    Ok((curve, (momentum(rig).0 - before.0).length() / before.1))
}

/// How long forward Euler is watched [s]; it soon has the grains overlap beyond what the law means.
const EULER: f64 = 0.04;

fn run(bench: &Bench) -> Result<Findings, CaseError> {
    let grains = bench.size.pick(500, 2000, 8000);
    // A grain meets another 24 φ χ √T/(√π d) = 240 times a second.
    let time = bench.size.pick(0.4, 1.0, 4.0);
    let mut rig = gas(bench, "velocity-verlet", grains)?;
    let (curve, momentum) = watch(&mut rig, time)?;
    let mean = |rows: &[[f64; 2]]| rows.iter().map(|r| r[1]).sum::<f64>() / rows.len() as f64;
    let part = ROWS / 10;
    let mut found = Findings::default();
    found.set_up("grains", grains.to_string());
    found.set_up("time step", format!("{:.3e} s: {}", rig.world.plan().dt, rig.world.plan().dt_reason));
    found.set_up("steps", rig.world.steps().to_string());
    found.found("drift", (mean(&curve[curve.len() - part..]) / mean(&curve[..part]) - 1.0).abs());
    found.found("swing", curve.iter().map(|r| (r[1] - 1.0).abs()).fold(0.0, f64::max));
    found.found("momentum", momentum);
    let (euler, _) = watch(&mut gas(bench, "forward-euler", grains)?, EULER)?;
    let last = euler.last().map_or(f64::NAN, |r| r[1]);
    found.remarks.push(format!("Forward Euler with the same step multiplies the energy by {last:.2} in {EULER} s."));
    found.plots.push(Plot {
        title: "Energy of a gas without loss".into(),
        x: Axis::linear("time [s]"),
        y: Axis { range: Some([0.995, 1.005]), ..Axis::linear("energy over that at the start") },
        series: vec![Series::line("velocity Verlet", curve), Series::dashes("forward Euler", euler)],
    });
    Ok(found)
}
