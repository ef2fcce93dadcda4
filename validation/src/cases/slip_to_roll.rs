//! A sliding ball that comes to roll.

use crate::{Accept, Bench, Case, CaseError, Criterion, Findings, Group, Rig};
use barchan_io::plot::{Axis, Plot, Series};
use glam::DVec3;

/// Speed at first [m/s].
const V0: f64 = 1.0;
const FRICTION: f64 = 0.3;
const GRAVITY: f64 = 9.81;
/// Steps between two points of the figure.
const SHOWN: u64 = 100;

pub const CASE: Case = Case {
    name: "slip-to-roll",
    title: "A sliding ball comes to roll",
    group: Group::Verification,
    about: "A ball of 5 mm rests on a plane and is set sliding at 1 m/s without spin. Friction of μ 0.3 slows it and spins it \
            up until it rolls: at t = 2 v₀/(7 μ g), with 5/7 of its speed, whatever the friction.",
    source: "Rigid-body mechanics, closed form",
    criteria: &[
        Criterion {
            key: "speed",
            what: "speed of rolling over the first speed",
            unit: "",
            accept: Accept::Near(5.0 / 7.0, 1e-3),
            reference: "5/7 = 0.7143",
        },
        Criterion {
            key: "time",
            what: "time until it rolls over 2 v₀/(7 μ g)",
            unit: "",
            accept: Accept::Near(1.0, 5e-3),
            reference: "1",
        },
    ],
    run,
};

fn run(bench: &Bench) -> Result<Findings, CaseError> {
    let mut rig = Rig::new(
        &format!(
            r#"
            duration = 0.2
            gravity = [0, 0, -{GRAVITY}]
            [domain]
            min = [-0.1, -0.1, -0.01]
            max = [0.5, 0.1, 0.1]
            [materials.ball]
            density = 2500
            young = "1 GPa"
            restitution = 0.5
            friction = {FRICTION}
            [[walls]]
            material = "ball"
            plane = {{ point = [0, 0, 0], normal = [0, 0, 1] }}
            [[grains]]
            material = "ball"
            radius = "5 mm"
            at = [[0, 0, 0.005]]
            velocity = [{V0}, 0, 0]
            "#
        ),
        bench,
    )?;
    let rolls_at = 2.0 * V0 / (7.0 * FRICTION * GRAVITY);
    let mut curve = Vec::new();
    let mut rolled = f64::NAN;
    while rig.world.time() < 2.0 * rolls_at {
        rig.step()?;
        let (time, (v, slip)) = (rig.world.time(), motion(&rig));
        if rig.world.steps().is_multiple_of(SHOWN) {
            curve.push([time, v]);
        }
        // The spring of friction rings when it takes hold; the first zero of the slip is the moment.
        if rolled.is_nan() && slip <= 0.0 {
            rolled = time;
        }
    }
    let mut found = Findings::default();
    found.set_up("steps", rig.world.steps().to_string());
    found.found("speed", motion(&rig).0 / V0);
    found.found("time", rolled / rolls_at);
    let exact = (0..=200).map(|k| 2.0 * rolls_at * k as f64 / 200.0);
    let exact = exact.map(|t| [t, (V0 - FRICTION * GRAVITY * t).max(5.0 / 7.0 * V0)]).collect();
    found.plots.push(Plot {
        title: "Speed of a sliding ball".into(),
        x: Axis::linear("time [s]"),
        y: Axis::linear("speed [m/s]"),
        series: vec![Series::line("barchan", curve), Series::dashes("closed form", exact)],
    });
    Ok(found)
}

/// Speed [m/s], and that of the surface at the contact [m/s].
fn motion(rig: &Rig) -> (f64, f64) {
    let frame = rig.world.frame().grains().clone();
    let (v, w) = (frame.velocity[0], frame.spin[0]);
    (v.x, (v + w.cross(DVec3::new(0.0, 0.0, -frame.radius[0]))).x)
}
