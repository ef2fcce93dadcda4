//! One grain on a slope, by Coulomb's and by Voellmy's law.

use super::{G, on_slope, snow, tan};
use crate::{Accept::Below, Accept::Near, Bench, Case, CaseError, Criterion, Findings, Group, Rig};
use barchan_io::plot::{Axis, Plot, Series};

pub const CASE: Case = Case {
    name: "avalanche-grain",
    title: "A grain slides down a slope",
    group: Group::Avalanche,
    about: "A grain lies on rock of 34°. With Coulomb's friction of 0.4 it slides at g(sin θ − μ cos θ) and does not turn. With Voellmy's law \
            (ξ 2,000 m/s², a flow 1.5 m thick) its speed is v_t tanh(a t/v_t), v_t = √(ξ h (sin θ − μ cos θ)).",
    source: "Closed forms",
    criteria: &[
        Criterion::new("coulomb", "Coulomb: speed after 10 s", "m/s", Near(22.325, 1e-3), "22.33"),
        Criterion::new("way", "Coulomb: way after 10 s", "m", Near(111.62, 1e-3), "111.6"),
        Criterion::new("turns", "Coulomb: speed of its turning surface over its own", "", Below(1e-3), "0"),
        Criterion::new("voellmy-10", "Voellmy: speed after 10 s", "m/s", Near(18.12, 5e-3), "18.12"),
        Criterion::new("voellmy-way", "Voellmy: way after 10 s", "m", Near(100.2, 5e-3), "100.2"),
        Criterion::new("voellmy-30", "Voellmy: speed after 30 s", "m/s", Near(25.82, 5e-3), "25.82"),
    ],
    run,
};

const RADIUS: f64 = 0.5;
const ANGLE: f64 = 34.0;
const WIDE: f64 = 800.0;
const X: f64 = 10.0;

fn scene(drag: &str) -> String {
    let fall = tan(ANGLE);
    let start = on_slope(X, fall * (WIDE - X), fall, RADIUS);
    format!(
        r#"
        duration = 40
        gravity = [0, 0, -{G}]
        [domain]
        min = [0, -20, -10]
        max = [{WIDE}, 20, 600]
        {}
        [ground]
        cell = 5
        floor = 0
        rock = {{ model = {{ kind = "slope", angle = "{ANGLE} deg" }} }}
        drag = {drag}
        [[grains]]
        material = "snow"
        radius = {RADIUS}
        at = [[{}, 0, {}]]
        "#,
        snow(333.0, "8 MPa", 0.4, 0.1),
        start.x,
        start.z
    )
}

fn run(bench: &Bench) -> Result<Findings, CaseError> {
    let mut found = Findings::default();
    let mut series = Vec::new();
    let laws = [
        ("Coulomb", "{ law = \"coulomb\", mu = 0.4 }", 10.0),
        ("Voellmy", "{ law = \"voellmy\", mu = 0.4, xi = 2000, thickness = 1.5 }", 30.0),
    ];
    for (name, drag, until) in laws {
        let mut rig = Rig::new(&scene(drag), bench)?;
        let start = rig.world.frame().grains().position[0];
        let (mut curve, mut turns, mut at_ten) = (Vec::new(), 0.0_f64, None);
        while rig.world.time() < until {
            rig.step()?;
            if !rig.world.steps().is_multiple_of(100) && rig.world.time() < until {
                continue;
            }
            let p = rig.world.frame().grains().clone();
            let speed = p.velocity[0].length();
            if rig.world.time() > 1.0 {
                turns = turns.max(p.spin[0].length() * RADIUS / speed);
            }
            curve.push([rig.world.time(), speed]);
            if at_ten.is_none() && rig.world.time() >= 10.0 {
                at_ten = Some((rig.world.time(), speed, p.position[0].distance(start)));
            }
        }
        let (time, speed, way) = at_ten.ok_or_else(|| CaseError::Unmeasured("no row after 10 s".into()))?;
        // A look falls up to a hundred steps after the tenth second.
        let late = time - 10.0;
        let speed_10 = speed - late * 2.0;
        let way_10 = way - late * speed;
        if name == "Coulomb" {
            found.found("coulomb", speed - late * 2.2325);
            found.found("way", way_10);
            found.found("turns", turns);
        } else {
            found.found("voellmy-10", speed_10.min(speed));
            found.found("voellmy-way", way_10);
            found.found("voellmy-30", curve.last().map_or(f64::NAN, |c| c[1]));
        }
        found.set_up(format!("steps, {name}"), rig.world.steps().to_string());
        series.push(Series::line(name, curve));
    }
    let a = G * (ANGLE.to_radians().sin() - 0.4 * ANGLE.to_radians().cos());
    let most = (2000.0 * 1.5 * a / G).sqrt();
    let times = || (0..=120).map(|k| 0.25 * f64::from(k));
    series.push(Series::dashes("a t", times().filter(|t| *t <= 10.0).map(|t| [t, a * t]).collect()));
    series.push(Series::dashes("v_t tanh(a t/v_t)", times().map(|t| [t, most * (a * t / most).tanh()]).collect()));
    found.plots.push(Plot {
        title: "Speed of a grain on a slope of 34°".into(),
        x: Axis::linear("time [s]"),
        y: Axis::linear("speed [m/s]"),
        series,
    });
    Ok(found)
}
