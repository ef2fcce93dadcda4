//! A grain down a parabola onto a plain.

use super::{G, on_slope, snow};
use crate::{Accept::Near, Bench, Case, CaseError, Criterion, Findings, Group, Rig};
use barchan_io::plot::{Axis, Plot, Series};

pub const CASE: Case = Case {
    name: "avalanche-parabola",
    title: "A grain down a parabola",
    group: Group::Avalanche,
    about: "A grain starts from rest at x = 100 m of rock z = 1000 m (1 − x/2250 m)², level beyond, in cells of 5 m. The bend presses it onto the rock, so \
            that friction is μ(g cos θ + v²κ). The path is integrated for a point; where it stops and how fast it gets is held against that.",
    source: "Equation of motion of a point on a curve, integrated",
    criteria: &[
        Criterion::new("stop-3", "μ 0.3: where it stops", "m", Near(2791.0, 5e-3), "2791"),
        Criterion::new("most-3", "μ 0.3: largest speed", "m/s", Near(80.15, 3e-3), "80.15"),
        Criterion::new("stop-4", "μ 0.4: where it stops", "m", Near(2184.0, 5e-3), "2184"),
        Criterion::new("most-4", "μ 0.4: largest speed", "m/s", Near(65.38, 3e-3), "65.38"),
        Criterion::new("stop-voellmy", "μ 0.2, ξ 2000, h 1.5 m: where it stops", "m", Near(1888.0, 5e-3), "1888"),
        Criterion::new("most-voellmy", "μ 0.2, ξ 2000, h 1.5 m: largest speed", "m/s", Near(35.15, 3e-3), "35.15"),
    ],
    run,
};

const RADIUS: f64 = 0.2;
const X: f64 = 100.0;

fn scene(drag: &str) -> String {
    let share = 1.0 - X / 2250.0;
    let start = on_slope(X, 1000.0 * share * share, 2.0 * 1000.0 / 2250.0 * share, RADIUS);
    format!(
        r#"
        duration = 300
        gravity = [0, 0, -{G}]
        [domain]
        min = [0, -20, -10]
        max = [3300, 20, 1100]
        {}
        [ground]
        cell = 5
        floor = 0
        rock = {{ model = {{ kind = "parabola", drop = 1000, length = 2250 }} }}
        drag = {drag}
        [[grains]]
        material = "snow"
        radius = {RADIUS}
        at = [[{}, 0, {}]]
        "#,
        snow(333.0, "80 MPa", 0.4, 0.1),
        start.x,
        start.z
    )
}

fn run(bench: &Bench) -> Result<Findings, CaseError> {
    let mut found = Findings::default();
    let mut series = Vec::new();
    let laws = [
        (["stop-3", "most-3"], "μ 0.3", "{ mu = 0.3 }"),
        (["stop-4", "most-4"], "μ 0.4", "{ mu = 0.4 }"),
        (
            ["stop-voellmy", "most-voellmy"],
            "μ 0.2, ξ 2000",
            "{ law = \"voellmy\", mu = 0.2, xi = 2000, thickness = 1.5 }",
        ),
    ];
    for ([stop, most], name, drag) in laws {
        let mut rig = Rig::new(&scene(drag), bench)?;
        let (mut curve, mut fastest) = (Vec::new(), 0.0_f64);
        while rig.world.time() < 300.0 {
            rig.step()?;
            if rig.world.steps().is_multiple_of(50) {
                let p = rig.world.frame().grains().clone();
                let speed = p.velocity[0].length();
                fastest = fastest.max(speed);
                curve.push([p.position[0].x, speed]);
                if rig.world.time() > 5.0 && speed < 1e-3 {
                    break;
                }
            }
        }
        found.found(stop, curve.last().map_or(f64::NAN, |c| c[0]));
        found.found(most, fastest);
        found.set_up(format!("time, {name}"), format!("{:.0} s", rig.world.time()));
        series.push(Series::line(name, curve.into_iter().step_by(20).collect()));
    }
    found.plots.push(Plot {
        title: "Speed down a parabola and over the plain".into(),
        x: Axis::linear("x [m]"),
        y: Axis::linear("speed [m/s]"),
        series,
    });
    Ok(found)
}
