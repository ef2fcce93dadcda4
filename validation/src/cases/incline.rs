//! A ball on an incline.

use crate::{Accept::Below, Bench, Case, CaseError, Criterion, Findings, Group, Rig};
use barchan_io::plot::{Axis, Plot, Series};

pub const CASE: Case = Case {
    name: "incline",
    title: "A ball on an incline",
    group: Group::Verification,
    about: "A ball of 5 mm radius is let go on a plane of 10° to 80°. With friction μ of 0.3 it rolls up to tan θ = 3.5 μ, 46.4°, and gains \
            5/7 g sin θ; steeper, it slides and gains g (sin θ − μ cos θ), and its spin 5/2 μ g cos θ/R. With a rolling resistance \
            μᵣ of 0.1 it gains 5/7 g (sin θ − μᵣ cos θ) while it rolls, up to tan θ = 3.5 μ − 2.5 μᵣ, 38.7°, and stays where tan θ is \
            below μᵣ.",
    source: "Rigid-body mechanics, closed form",
    criteria: &[
        Criterion::new("rolls", "10° to 40°: largest deviation of the acceleration, over it", "", Below(0.01), "0"),
        Criterion::new(
            "slides",
            "50° to 80°: largest deviation of acceleration and spin, over them",
            "",
            Below(0.01),
            "0",
        ),
        Criterion::new(
            "resists",
            "10° to 40° with rolling resistance: largest deviation of the acceleration, over it",
            "",
            Below(0.01),
            "0",
        ),
        Criterion::new(
            "stays",
            "5° with rolling resistance: way from the first to the last third, over the radius",
            "",
            Below(1e-3),
            "0",
        ),
    ],
    run,
};

const RADIUS: f64 = 5e-3;
const GRAVITY: f64 = 9.81;
const FRICTION: f64 = 0.3;
const ROLLING: f64 = 0.1;
/// Time it is watched [s]; its first third is left for the ball to come to lie on the plane.
const TIME: f64 = 0.09;

/// What was seen in the last two thirds: acceleration [m/s²], spin gained a second [rad/s²], way [m].
fn descend(bench: &Bench, angle: f64, rolling: f64) -> Result<[f64; 3], CaseError> {
    let (sin, cos) = angle.to_radians().sin_cos();
    let text = format!(
        r#"
        duration = 1
        gravity = [{}, 0, {}]
        [domain]
        min = [-0.01, -0.01, -0.001]
        max = [0.1, 0.01, 0.012]
        [materials.ball]
        density = 2500
        young = "20 MPa"
        restitution = 0.2
        friction = {FRICTION}
        rolling = {rolling}
        [[walls]]
        material = "ball"
        plane = {{ point = [0, 0, 0], normal = [0, 0, 1] }}
        [[grains]]
        material = "ball"
        radius = {RADIUS}
        at = [[0, 0, {RADIUS}]]
        "#,
        GRAVITY * sin,
        -GRAVITY * cos
    );
    let mut rig = Rig::new(&text, bench)?;
    let seen = |rig: &Rig| {
        let frame = rig.world.frame().grains().clone();
        (rig.world.time(), frame.velocity[0].x, frame.spin[0].y, frame.position[0].x)
    };
    rig.run_to(TIME / 3.0)?;
    let a = seen(&rig);
    rig.run_to(TIME)?;
    let b = seen(&rig);
    Ok([(b.1 - a.1) / (b.0 - a.0), (b.2 - a.2) / (b.0 - a.0), b.3 - a.3])
}

fn rolls(angle: f64, rolling: f64) -> f64 {
    let (sin, cos) = angle.to_radians().sin_cos();
    5.0 / 7.0 * GRAVITY * (sin - rolling * cos).max(0.0)
}

fn slides(angle: f64) -> [f64; 2] {
    let (sin, cos) = angle.to_radians().sin_cos();
    [GRAVITY * (sin - FRICTION * cos), 2.5 * FRICTION * GRAVITY * cos / RADIUS]
}

fn run(bench: &Bench) -> Result<Findings, CaseError> {
    let mut found = Findings::default();
    let (mut smooth, mut resisting) = (Vec::new(), Vec::new());
    let (mut rolling, mut sliding, mut resisted) = (0f64, 0f64, 0f64);
    for angle in [10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0] {
        let ours = descend(bench, angle, 0.0)?;
        smooth.push([angle, ours[0]]);
        if angle < (3.5 * FRICTION).atan().to_degrees() {
            rolling = rolling.max((ours[0] / rolls(angle, 0.0) - 1.0).abs());
            let held = descend(bench, angle, ROLLING)?;
            resisting.push([angle, held[0]]);
            let held_rolls = angle < (3.5 * FRICTION - 2.5 * ROLLING).atan().to_degrees();
            let exact = if held_rolls { rolls(angle, ROLLING) } else { slides(angle)[0] };
            resisted = resisted.max((held[0] / exact - 1.0).abs());
        } else {
            let exact = slides(angle);
            sliding = (0..2).map(|k| (ours[k] / exact[k] - 1.0).abs()).fold(sliding, f64::max);
        }
    }
    found.found("rolls", rolling);
    found.found("slides", sliding);
    found.found("resists", resisted);
    found.found("stays", descend(bench, 5.0, ROLLING)?[2].abs() / RADIUS);
    let over = |from: i32, to: i32, f: &dyn Fn(f64) -> f64| -> Vec<[f64; 2]> {
        (from..=to).map(f64::from).map(|a| [a, f(a)]).collect()
    };
    found.plots.push(Plot {
        title: "Acceleration of a ball on an incline".into(),
        x: Axis::linear("inclination [deg]"),
        y: Axis::linear("acceleration [m/s²]"),
        series: vec![
            Series::dots("barchan", smooth),
            Series::dots("barchan, rolling resistance 0.1", resisting),
            Series::dashes("rolls", over(0, 46, &|a| rolls(a, 0.0))),
            Series::dashes("slides", over(46, 90, &|a| slides(a)[0])),
            Series::dashes("rolls against resistance", over(0, 38, &|a| rolls(a, ROLLING))),
        ],
    });
    Ok(found)
}
