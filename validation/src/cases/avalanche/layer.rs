//! A long layer by Voellmy's law.

use super::{G, snow, tan};
use crate::{Accept::Near, Bench, Case, CaseError, Criterion, Findings, Group, Rig};
use barchan_io::plot::{Axis, Plot, Series};

pub const CASE: Case = Case {
    name: "avalanche-layer",
    title: "A layer by Voellmy's law",
    group: Group::Avalanche,
    about: "A layer 1.5 m thick and 300 m long (60 m and three grains deep at the quick size) lies on rock of 34° between smooth walls, and is let go by Voellmy's law \
            with μ 0.4 and ξ 2,000 m/s². Its thickness is summed up from the grains. The speed of its middle goes as v_t tanh(a t/v_t) as long as the thickness there \
            stays; at the quick size the time is 10 s.",
    source: "Closed form",
    criteria: &[Criterion::new("middle", "speed of the middle over the closed form's", "", Near(1.0, 0.03), "1")],
    run,
};

const ANGLE: f64 = 34.0;
const THICK: f64 = 1.5;

fn run(bench: &Bench) -> Result<Findings, CaseError> {
    let (long, width, grains, time) =
        bench.size.pick((60.0, 3.0, 2_300, 8.0), (300.0, 3.0, 30_000, 30.0), (300.0, 6.0, 60_000, 30.0));
    let (upright, fall) = (ANGLE.to_radians().cos(), tan(ANGLE));
    let top = 5.0 + long * upright;
    let wide = top + 30.0 * time * upright + 20.0;
    let half = 0.5 * width;
    let scene = format!(
        r#"
        duration = {}
        gravity = [0, 0, -{G}]
        [domain]
        min = [0, -{half}, -5]
        max = [{wide}, {half}, {}]
        {}
        [materials.glass]
        density = 333
        young = "1 MPa"
        restitution = 0.1
        friction = 0
        [[pairs]]
        between = ["snow", "glass"]
        friction = 0
        [[walls]]
        name = "right"
        material = "glass"
        plane = {{ point = [0, -{half}, 0], normal = [0, 1, 0] }}
        [[walls]]
        name = "left"
        material = "glass"
        plane = {{ point = [0, {half}, 0], normal = [0, -1, 0] }}
        [ground]
        cell = 1
        floor = 0
        material = "snow"
        rock = {{ model = {{ kind = "slope", angle = "{ANGLE} deg" }} }}
        drag = {{ law = "voellmy", mu = 0.4, xi = 2000 }}
        [[grains]]
        material = "snow"
        release = {{ polygon = [[5, -{inner}], [{top}, -{inner}], [{top}, {inner}], [5, {inner}]], thickness = {THICK}, grains = {grains}, density = 200 }}
        "#,
        time + 1.0,
        wide * fall + 10.0,
        snow(333.0, "1 MPa", 0.4, 0.1),
        inner = half - 0.01,
    );
    let mut rig = Rig::new(&scene, bench)?;
    // The middle tenth at the start.
    let p = rig.world.frame().grains().clone();
    let centre = 0.5 * (5.0 + top);
    let own: Vec<u32> =
        (0..p.len()).filter(|k| (p.position[*k].x - centre).abs() < 0.05 * long).map(|k| p.id[k]).collect();
    let speed = |rig: &Rig| {
        let p = rig.world.frame().grains().clone();
        let of = (0..p.len()).filter(|k| own.contains(&p.id[*k])).map(|k| p.velocity[k].length());
        of.sum::<f64>() / own.len() as f64
    };
    let mut curve = Vec::new();
    while rig.world.time() < time {
        rig.step()?;
        if rig.world.steps().is_multiple_of(2000) {
            curve.push([rig.world.time(), speed(&rig)]);
        }
    }
    let a = G * (ANGLE.to_radians().sin() - 0.4 * upright);
    let most = (2000.0 * THICK * a / G).sqrt();
    let exact = |t: f64| most * (a * t / most).tanh();
    let mut found = Findings::default();
    found.found("middle", speed(&rig) / exact(rig.world.time()));
    found.set_up("grains", p.len().to_string());
    found.set_up("speed of the closed form at the end", format!("{:.2} m/s", exact(time)));
    found.plots.push(Plot {
        title: "Speed of the middle of a layer".into(),
        x: Axis::linear("time [s]"),
        y: Axis::linear("speed [m/s]"),
        series: vec![
            Series::line("barchan", curve),
            Series::dashes(
                "v_t tanh(a t/v_t)",
                (0..=60).map(|k| time * f64::from(k) / 60.0).map(|t| [t, exact(t)]).collect(),
            ),
        ],
    });
    Ok(found)
}
