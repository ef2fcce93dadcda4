//! Rolling and twisting resistance stop a ball.

use crate::{Accept::Below, Accept::Near, Bench, Case, CaseError, Criterion, Findings, Group, Rig};
use barchan_io::plot::{Axis, Plot, Series};
use glam::DVec3;

pub const CASE: Case = Case {
    name: "rolling-decay",
    title: "Rolling and twisting resistance stop a ball",
    group: Group::Verification,
    about: "A ball of 5 mm radius rests on a plane. Without friction and spinning about a level axis, a rolling resistance μᵣ of 0.05 slows \
            its spin by 5 μᵣ g/(2 R) until it stands; about an upright axis, a twisting resistance of 0.05 does the same. With friction \
            it rolls, and slows by 5/7 μᵣ g. Once it stands it must stay.",
    source: "Rigid-body mechanics, closed form; model C of Ai et al. 2011, Powder Technology 206, 269",
    criteria: &[
        Criterion::new(
            "rolling",
            "time until the spin about a level axis has gone, over 2 R ω₀/(5 μᵣ g)",
            "",
            Near(1.0, 0.01),
            "1",
        ),
        Criterion::new(
            "twisting",
            "time until the spin about the upright axis has gone, over 2 R ω₀/(5 μₜ g)",
            "",
            Near(1.0, 0.01),
            "1",
        ),
        Criterion::new("rolls", "deceleration of a rolling ball over 5/7 μᵣ g", "", Near(1.0, 0.01), "1"),
        Criterion::new(
            "stands",
            "spin left after twice the time, over the first, the largest of all",
            "",
            Below(1e-3),
            "0",
        ),
    ],
    run,
};

const RADIUS: f64 = 5e-3;
const GRAVITY: f64 = 9.81;
const RESISTANCE: f64 = 0.05;
/// Spin at first [rad/s].
const SPIN: f64 = 20.0;
/// Steps between two points of the figure.
const SHOWN: u64 = 20;

fn ball(bench: &Bench, coefficients: &str, velocity: f64, spin: DVec3) -> Result<Rig, CaseError> {
    let text = format!(
        r#"
        duration = 1
        gravity = [0, 0, -{GRAVITY}]
        [domain]
        min = [-0.1, -0.1, -0.01]
        max = [0.1, 0.1, 0.02]
        [materials.ball]
        density = 2500
        young = "20 MPa"
        restitution = 0.3
        {coefficients}
        [[walls]]
        material = "ball"
        plane = {{ point = [0, 0, 0], normal = [0, 0, 1] }}
        [[grains]]
        material = "ball"
        radius = {RADIUS}
        at = [[0, 0, {RADIUS}]]
        velocity = [{velocity}, 0, 0]
        spin = [{}, {}, {}]
        "#,
        spin.x, spin.y, spin.z
    );
    Rig::new(&text, bench)
}

fn run(bench: &Bench) -> Result<Findings, CaseError> {
    let mut found = Findings::default();
    let expected = 2.0 * RADIUS * SPIN / (5.0 * RESISTANCE * GRAVITY);
    let (mut left, mut series) = (0f64, Vec::new());
    for (key, axis, coefficients) in [
        ("rolling", DVec3::Y, format!("friction = 0\nrolling = {RESISTANCE}")),
        ("twisting", DVec3::Z, format!("friction = 0\ntwisting = {RESISTANCE}")),
    ] {
        let mut rig = ball(bench, &coefficients, 0.0, SPIN * axis)?;
        let (mut stops, mut curve) = (f64::NAN, Vec::new());
        while rig.world.time() < 2.0 * expected {
            rig.step()?;
            let spin = rig.world.frame().grains().spin[0].dot(axis);
            if rig.world.steps().is_multiple_of(SHOWN) {
                curve.push([rig.world.time(), spin]);
            }
            // The spring swings back once; the first zero is the moment.
            if stops.is_nan() && spin <= 0.0 {
                stops = rig.world.time();
            }
        }
        found.found(key, stops / expected);
        left = left.max(rig.world.frame().grains().spin[0].length() / SPIN);
        series.push(Series::line(format!("barchan, {key}"), curve));
        found.set_up(format!("steps, {key}"), rig.world.steps().to_string());
    }
    series.push(Series::dashes("closed form", vec![[0.0, SPIN], [expected, 0.0], [2.0 * expected, 0.0]]));

    let speed = RADIUS * SPIN;
    let mut rig = ball(bench, &format!("friction = 0.5\nrolling = {RESISTANCE}"), speed, SPIN * DVec3::Y)?;
    let stops = 7.0 * speed / (5.0 * RESISTANCE * GRAVITY);
    // Between a fifth and four fifths of the way to its stand.
    rig.run_to(0.2 * stops)?;
    let (t0, v0) = (rig.world.time(), rig.world.frame().grains().velocity[0].x);
    rig.run_to(0.8 * stops)?;
    let slowed = (v0 - rig.world.frame().grains().velocity[0].x) / (rig.world.time() - t0);
    found.found("rolls", slowed / (5.0 / 7.0 * RESISTANCE * GRAVITY));
    rig.run_to(1.5 * stops)?;
    left = left.max(rig.world.frame().grains().spin[0].length() / SPIN);
    found.found("stands", left);
    found.plots.push(Plot {
        title: "Spin of a ball on a plane".into(),
        x: Axis::linear("time [s]"),
        y: Axis::linear("spin [rad/s]"),
        series,
    });
    Ok(found)
}
