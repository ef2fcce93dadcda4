//! Stress against strain under a plunger (V8).

use super::bed::Grain;
use super::press::{Pressed, STRESS};
use crate::{Accept, Bench, Case, CaseError, Criterion, Findings, Group};
use barchan_io::plot::{Axis, Plot, Series};

const fn lost(key: &'static str, what: &'static str) -> Criterion {
    Criterion {
        key,
        what,
        unit: "",
        accept: Accept::Above(0.1),
        reference: "hysteresis (seed, figure 7.12; Coetzee & Els 2009)",
    }
}

pub const CASE: Case = Case {
    name: "oedometer",
    title: "Oedometer: loading and unloading a confined bed",
    group: Group::Seed,
    about: "The bed of `forces`, μ 0.5. A plunger flattens the top with a twentieth of the stress and is eased off until nothing presses; \
            from there it goes down at 10 mm/s until the stress is a thousandth of Young's modulus, holds it, and goes up again. What is \
            recovered is the share of the strain that the bed springs back by; what is lost, the share of the work that it does not give \
            back.",
    source: "Longmore 2009, figure 7.12; Coetzee & Els 2009",
    criteria: &[
        lost("lost", "tetrahedral grains: share of the work that is lost"),
        Criterion {
            key: "recovered",
            what: "tetrahedral grains: share of the strain that is recovered",
            unit: "",
            accept: Accept::Near(2.0 / 3.0, 0.25),
            reference: "about 2/3 (seed; experiment of Coetzee & Els 2009 with corn)",
        },
        lost("sphere-lost", "spheres: share of the work that is lost"),
    ],
    run,
};

fn run(bench: &Bench) -> Result<Findings, CaseError> {
    let mut found = Findings::default();
    let mut series = vec![];
    for grain in Grain::BOTH {
        let pressed = Pressed::get(bench, grain, true)?;
        pressed.describe(&mut found);
        let (down, up) = (&pressed.loading, &pressed.unloading);
        let work =
            |path: &[[f64; 2]]| path.windows(2).map(|w| 0.5 * (w[0][1] + w[1][1]) * (w[1][0] - w[0][0])).sum::<f64>();
        let (most, last) = (down.last().map_or(f64::NAN, |p| p[0]), up.last().map_or(f64::NAN, |p| p[0]));
        found.found(grain.pick("lost", "sphere-lost"), 1.0 + work(up) / work(down));
        let recovered = (most - last) / most;
        match grain {
            Grain::Tetrahedron => found.found("recovered", recovered),
            Grain::Sphere => found.remarks.push(format!("spheres: {recovered:.3} of the strain is recovered")),
        }
        found.remarks.push(format!(
            "{}: strain {most:.4} at {:.1} kPa, {last:.4} when nothing presses any more",
            grain.name(),
            1e-3 * STRESS
        ));
        let kilo = |path: &[[f64; 2]]| path.iter().map(|[e, s]| [100.0 * e, 1e-3 * s]).collect::<Vec<_>>();
        series.push(Series::line(format!("{}, loading", grain.name()), kilo(down)));
        series.push(Series::dashes(format!("{}, unloading", grain.name()), kilo(up)));
    }
    found.plots.push(Plot {
        title: "Stress against strain".into(),
        x: Axis::linear("strain [%]"),
        y: Axis::linear("stress [kPa]"),
        series,
    });
    Ok(found)
}
