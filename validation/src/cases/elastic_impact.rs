//! Elastic impacts against Hertz's closed form.

use crate::impact::{Ball, Solid, hertz, strike};
use crate::oblique::Spring;
use crate::{Accept::Near, Bench, Case, CaseError, Criterion, Findings, Group};
use barchan_io::plot::{Axis, Plot, Series};
use glam::DVec3;

const SOURCE: &str = "Hertz, closed form";

pub const CASE: Case = Case {
    name: "elastic-impact",
    title: "Elastic impacts of spheres",
    group: Group::Verification,
    about: "Test 1: two equal spheres of 10 mm radius meet at 10 m/s each, of glass and of limestone. Test 2: a sphere of 0.1 m \
            radius meets a rigid plane at 0.2 m/s, of aluminium and of magnesium alloy. Largest overlap and force, and the time \
            from touch to parting, are read off the contact in every step. Rigid is a plane whose modulus is 10³⁰ Pa.",
    source: "Chung and Ooi 2011, Granular Matter 13, 643, tests 1 and 2; Hertz's closed form (Johnson 1985, §11.4)",
    criteria: &[
        Criterion::new("glass overlap", "largest overlap, glass on glass", "µm", Near(274.11, 1e-3), SOURCE),
        Criterion::new("glass force", "largest force, glass on glass", "N", Near(10_696.9, 1e-3), SOURCE),
        Criterion::new("glass duration", "duration, glass on glass", "µs", Near(40.34, 1e-3), SOURCE),
        Criterion::new(
            "limestone overlap",
            "largest overlap, limestone on limestone",
            "µm",
            Near(368.30, 1e-3),
            SOURCE,
        ),
        Criterion::new("limestone force", "largest force, limestone on limestone", "N", Near(7_108.2, 1e-3), SOURCE),
        Criterion::new("limestone duration", "duration, limestone on limestone", "µs", Near(54.20, 1e-3), SOURCE),
        Criterion::new("aluminium overlap", "largest overlap, aluminium on a plane", "µm", Near(49.72, 1e-3), SOURCE),
        Criterion::new("aluminium force", "largest force, aluminium on a plane", "N", Near(11_369.9, 1e-3), SOURCE),
        Criterion::new("aluminium duration", "duration, aluminium on a plane", "µs", Near(731.7, 1e-3), SOURCE),
        Criterion::new("magnesium overlap", "largest overlap, magnesium on a plane", "µm", Near(52.12, 1e-3), SOURCE),
        Criterion::new("magnesium force", "largest force, magnesium on a plane", "N", Near(7_232.7, 1e-3), SOURCE),
        Criterion::new("magnesium duration", "duration, magnesium on a plane", "µs", Near(767.1, 1e-3), SOURCE),
    ],
    run,
};

/// Keys of a material's overlap, force and duration, and the material.
type Row = ([&'static str; 3], Solid);

const PAIRS: [Row; 2] = [
    (["glass overlap", "glass force", "glass duration"], solid("glass", 4.8e10, 0.20, 2800.0, 0.35)),
    (["limestone overlap", "limestone force", "limestone duration"], solid("limestone", 2.0e10, 0.25, 2500.0, 0.35)),
];
const ON_PLANE: [Row; 2] = [
    (["aluminium overlap", "aluminium force", "aluminium duration"], solid("aluminium", 7.0e10, 0.30, 2699.0, 0.0)),
    (["magnesium overlap", "magnesium force", "magnesium duration"], solid("magnesium", 4.0e10, 0.35, 1800.0, 0.0)),
];

const fn solid(name: &'static str, young: f64, poisson: f64, density: f64, friction: f64) -> Solid {
    Solid { name, young, poisson, density, friction, restitution: 1.0 }
}

fn run(bench: &Bench) -> Result<Findings, CaseError> {
    let mut found = Findings::default();
    for (title, rows, radius, speed) in
        [("Two equal spheres", PAIRS, 0.01, 10.0), ("A sphere on a rigid plane", ON_PLANE, 0.1, 0.2)]
    {
        let mut series = Vec::new();
        for (keys, solid) in rows {
            let ball = |v: f64| Ball { solid, radius, velocity: DVec3::Z * v, spin: DVec3::ZERO };
            let (ball, other) = (ball(-speed), (speed > 1.0).then(|| ball(speed)));
            let seen = strike(bench, Spring::Mindlin, &ball, other.as_ref())?;
            for (key, value) in keys.into_iter().zip([1e6 * seen.overlap, seen.force, 1e6 * seen.duration]) {
                found.found(key, value);
            }
            let peak = hertz(&ball, other.as_ref());
            let curve = |k: i32| {
                let x = f64::from(k) / 50.0;
                [1e6 * peak.overlap * x, 1e-3 * peak.force * x.powf(1.5)]
            };
            let path = seen.path.iter().map(|[d, f]| [1e6 * d, 1e-3 * f]).collect();
            series.push(Series::line(format!("barchan, {}", solid.name), path));
            series.push(Series::dashes(format!("Hertz, {}", solid.name), (0..=50).map(curve).collect()));
        }
        let (x, y) = (Axis::linear("overlap [µm]"), Axis::linear("normal force [kN]"));
        found.plots.push(Plot { title: title.into(), x, y, series });
    }
    found.set_up("time step", "1/1000 of the closed form's duration");
    Ok(found)
}
