//! A cap of snow that spreads as it slides: the similarity solution.

use super::{G, centre, snow, tan};
use crate::{Accept::Between, Accept::Near, Bench, Case, CaseError, Criterion, Findings, Group, Rig};
use barchan_io::plot::{Axis, Plot, Series};
use glam::DVec3;

pub const CASE: Case = Case {
    name: "avalanche-similarity",
    title: "A cap slides and spreads",
    group: Group::Avalanche,
    about: "A parabolic cap, 80 m in radius and 4 m high, is let go on a plane of 35° with a friction of 25° (at the quick size it is 2.5 times smaller and the \
            times follow). Its centre of mass goes as a point whatever its interior does. How far it has spread at 5 s is that of a \
            thin layer without shear: 89.6 m along and 83.2 m across for an isotropic pressure, 88.5 and 81.5 m for an angle of internal friction of 30°.",
    source: "Hutter, Siegel, Savage and Nohguchi 1993, Acta Mech. 100, 37",
    criteria: &[
        Criterion::new("way", "way of the centre of mass over a t²/2", "", Near(1.0, 1e-2), "23.50 m"),
        Criterion::new("speed", "its speed over a t", "", Near(1.0, 1e-2), "9.398 m/s"),
        Criterion::new("along", "half-length, at the size of 80 m", "m", Between(86.0, 96.0), "88.5 to 89.6"),
        Criterion::new("across", "half-width, at the size of 80 m", "m", Between(79.0, 86.0), "81.5 to 83.2"),
        Criterion::new(
            "thickness",
            "thickness in the middle, at the size of 80 m",
            "m",
            Between(3.1, 3.8),
            "3.44 to 3.55",
        ),
    ],
    run,
};

const ANGLE: f64 = 35.0;
const DELTA: f64 = 25.0;
const RADIUS: f64 = 80.0;
const HEIGHT: f64 = 4.0;
const TIME: f64 = 5.0;

fn run(bench: &Bench) -> Result<Findings, CaseError> {
    // Froude similarity: lengths by s, times by √s. Grains as deep in number at every size.
    let (s, grains) = bench.size.pick((0.4, 12_000), (1.0, 45_000), (1.0, 90_000));
    let (radius, high, time) = (RADIUS * s, HEIGHT * s, TIME * f64::sqrt(s));
    let fall = tan(ANGLE);
    let upright = ANGLE.to_radians().cos();
    let wide = 450.0 * s;
    // The thickness of the cap, by a raster of the slope's own plane: its circle is an ellipse seen from above.
    let cell = 2.0 * s;
    let (nx, ny) = ((wide / cell) as usize, (240.0 * s / cell) as usize);
    let middle = [120.0 * s, 0.0];
    let mut text =
        format!("ncols {nx}\nnrows {ny}\nxllcorner 0\nyllcorner {}\ncellsize {cell}\nNODATA_value -9999\n", -120.0 * s);
    for row in (0..ny).rev() {
        for column in 0..nx {
            let x = ((column as f64 + 0.5) * cell - middle[0]) / upright;
            let y = (row as f64 + 0.5) * cell - 120.0 * s - middle[1];
            let share = 1.0 - (x * x + y * y) / (radius * radius);
            text += &format!("{} ", (high * share).max(0.0));
        }
        text += "\n";
    }
    let folder = std::env::temp_dir().join(format!("barchan-similarity-{}", std::process::id()));
    let place = folder.join("cap.asc");
    let failed = |e: std::io::Error| CaseError::Unmeasured(format!("{}: {e}", place.display()));
    std::fs::create_dir_all(&folder).and_then(|()| std::fs::write(&place, text)).map_err(failed)?;
    let scene = format!(
        r#"
        duration = {}
        gravity = [0, 0, -{G}]
        [domain]
        min = [0, {y0}, -10]
        max = [{wide}, {y1}, {}]
        {}
        [ground]
        min = [0, {y0}]
        max = [{wide}, {y1}]
        cell = {}
        floor = 0
        rock = {{ model = {{ kind = "slope", angle = "{ANGLE} deg" }} }}
        drag = {{ mu = {} }}
        [[grains]]
        material = "snow"
        release = {{ raster = '{}', grains = {grains}, density = 200 }}
        "#,
        time + 1.0,
        wide * fall + 50.0,
        // Until friction is mobilised grains slip by what their contacts give way sideways: at 4 MPa that made the way 1.2 % too long.
        snow(333.0, "16 MPa", 0.4, 0.1),
        5.0 * s,
        tan(DELTA),
        place.display(),
        y0 = -120.0 * s,
        y1 = 120.0 * s,
    );
    let made = Rig::new(&scene, bench);
    let _ = std::fs::remove_dir_all(&folder);
    let mut rig = made?;
    let (mass, x0, _) = centre(rig.world.frame().grains());
    let mut curve = Vec::new();
    while rig.world.time() < time {
        rig.step()?;
        if rig.world.steps().is_multiple_of(200) {
            let (_, x, _) = centre(rig.world.frame().grains());
            curve.push([rig.world.time(), x.distance(x0)]);
        }
    }
    let (_, x, v) = centre(rig.world.frame().grains());
    let t = rig.world.time();
    let a = G * (ANGLE.to_radians().sin() - tan(DELTA) * upright);
    let mut found = Findings::default();
    found.found("way", x.distance(x0) / (0.5 * a * t * t));
    found.found("speed", v.length() / (a * t));
    // In the plane of the slope: along it, across it, above it.
    let down = DVec3::new(upright, 0.0, -ANGLE.to_radians().sin());
    let p = rig.world.frame().grains().clone();
    let along: Vec<f64> = p.position.iter().map(|q| (*q - x).dot(down)).collect();
    let across: Vec<f64> = p.position.iter().map(|q| q.y - x.y).collect();
    // A parabolic cap of half-length L has ⟨x²⟩ = L²/6: its rim, where single grains are, has no say.
    let rms = |of: &[f64]| {
        let sum: f64 = of.iter().zip(p.mass.iter()).map(|(q, m)| q * q * m).sum();
        (6.0 * sum / mass).sqrt() / s
    };
    found.found("along", rms(&along));
    found.found("across", rms(&across));
    let inner = 0.15 * radius;
    let within = (0..along.len()).filter(|k| along[*k].hypot(across[*k]) < inner).map(|k| p.mass[k]).sum::<f64>();
    // The mean of a parabola over that circle is a share of its top.
    let share = 1.0 - 0.5 * (inner / (radius * 1.08)).powi(2);
    found.found("thickness", within / (200.0 * std::f64::consts::PI * inner * inner) / share / s);
    found.set_up("grains", p.len().to_string());
    found.set_up("size of the cap", format!("{radius} m, {high} m"));
    found.plots.push(Plot {
        title: "Way of the centre of mass of a cap".into(),
        x: Axis::linear("time [s]"),
        y: Axis::linear("way [m]"),
        series: vec![
            Series::line("barchan", curve),
            Series::dashes("a t²/2", (0..=50).map(|k| t * f64::from(k) / 50.0).map(|t| [t, 0.5 * a * t * t]).collect()),
        ],
    });
    Ok(found)
}
