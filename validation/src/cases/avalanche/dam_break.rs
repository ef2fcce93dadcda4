//! A dam of snow breaks on a slope.

use super::{G, snow, tan};
use crate::{Accept::Between, Bench, Case, CaseError, Criterion, Findings, Group, Rig};
use barchan_io::plot::{Axis, Plot, Series};

pub const CASE: Case = Case {
    name: "avalanche-dam-break",
    title: "A dam breaks on a slope of 22°",
    group: Group::Avalanche,
    about: "A layer 1 m thick on rock of 22° with a friction of 21° is let go at its lower end, between smooth walls; its grains have a friction of 0.1 among themselves, as the solution knows no shear. Its front goes as 2 c √K t + m₀ t²/2 \
            with c = √(g h cos θ) and m₀ = g (sin θ − tan δ cos θ): at 5 s 32.5 m for an isotropic pressure (K 1) and 27.0 m for K 0.67. Behind the toe the profile \
            is concave upwards.",
    source: "Mangeney, Heinrich and Roche 2000; Faccanoni and Mangeney 2012, test 2",
    criteria: &[
        Criterion::new("front", "front at 5 s", "m", Between(25.0, 34.0), "27.0 to 32.5"),
        Criterion::new(
            "concave",
            "thickness halfway from the gate to the front, over half that at the gate",
            "",
            Between(0.2, 1.0),
            "0.56",
        ),
    ],
    run,
};

const ANGLE: f64 = 22.0;
const DELTA: f64 = 21.0;
const TIME: f64 = 5.0;
const LONG: f64 = 40.0;

fn run(bench: &Bench) -> Result<Findings, CaseError> {
    let (width, grains) = bench.size.pick((1.0, 3_000), (1.0, 20_000), (2.0, 60_000));
    let (upright, fall) = (ANGLE.to_radians().cos(), tan(ANGLE));
    // Seen from above: the layer ends at x = 0, `LONG` above it along the slope.
    let top = 2.0 + LONG * upright;
    let wide = top + 60.0;
    let half = 0.5 * width;
    let scene = format!(
        r#"
        duration = {}
        gravity = [0, 0, -{G}]
        [domain]
        min = [0, -{half}, -5]
        max = [{wide}, {half}, {}]
        {}
        "#,
        TIME + 1.0,
        wide * fall + 10.0,
        snow(333.0, "1 MPa", 0.1, 0.1),
    );
    let scene = format!(
        r#"{scene}
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
        [[walls]]
        name = "back"
        material = "glass"
        plane = {{ point = [2, 0, 0], normal = [{}, 0, {}] }}
        [ground]
        cell = 1
        floor = 0
        material = "snow"
        rock = {{ model = {{ kind = "slope", angle = "{ANGLE} deg" }} }}
        drag = {{ mu = {} }}
        [[grains]]
        material = "snow"
        release = {{ polygon = [[2.2, -{inner}], [{top}, -{inner}], [{top}, {inner}], [2.2, {inner}]], thickness = 1, grains = {grains}, density = 200 }}
        "#,
        upright,
        -ANGLE.to_radians().sin(),
        tan(DELTA),
        inner = half - 0.01,
    );
    let mut rig = Rig::new(&scene, bench)?;
    let mut curve = Vec::new();
    let along = |x: f64| (x - top) / upright;
    // The last five hundredth of the grains is left out: single grains bounce ahead.
    let front = |rig: &Rig| {
        let p = rig.world.frame().grains().clone();
        let mut s: Vec<f64> = p.position.iter().map(|q| along(q.x)).collect();
        s.sort_by(f64::total_cmp);
        s[s.len() - 1 - s.len() / 500]
    };
    let first = front(&rig);
    while rig.world.time() < TIME {
        rig.step()?;
        if rig.world.steps().is_multiple_of(200) {
            curve.push([rig.world.time(), front(&rig) - first]);
        }
    }
    let way = front(&rig) - first;
    let p = rig.world.frame().grains().clone();
    let thickness = |from: f64, to: f64| {
        let within = (0..p.len()).filter(|k| (from..to).contains(&along(p.position[*k].x)));
        within.map(|k| p.mass[k]).sum::<f64>() / (200.0 * width * (to - from))
    };
    let (gate, middle) = (thickness(-1.5, 1.5), thickness(0.5 * way - 1.5, 0.5 * way + 1.5));
    let mut found = Findings::default();
    found.found("front", way);
    // h at the gate is 4/9 of that at first, and falls by the square towards the front.
    found.found("concave", middle / (0.5 * gate));
    found.set_up("grains", p.len().to_string());
    let (c, m0) = ((G * upright).sqrt(), G * (ANGLE.to_radians().sin() - tan(DELTA) * upright));
    let closed = |k: f64| {
        (0..=50).map(|n| TIME * f64::from(n) / 50.0).map(|t| [t, 2.0 * c * k.sqrt() * t + 0.5 * m0 * t * t]).collect()
    };
    found.plots.push(Plot {
        title: "Front of a dam break on a slope".into(),
        x: Axis::linear("time [s]"),
        y: Axis::linear("way [m]"),
        series: vec![
            Series::line("barchan", curve),
            Series::dashes("K = 1", closed(1.0)),
            Series::dashes("K = 0.67", closed(0.67)),
        ],
    });
    Ok(found)
}
