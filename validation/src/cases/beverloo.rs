//! Beverloo's law.

use super::bulk::D;
use super::silo::{Outflow, Silo};
use crate::fit::{curve, line};
use crate::{Accept, Bench, Case, CaseError, Criterion, Findings, Group};
use barchan_io::plot::{Axis, Plot, Series};

/// Margin of the hole in grains, at which the exponent is fitted: the middle of 1.4 to 1.6.
const MARGIN: f64 = 1.5;
const BEVERLOO: [f64; 2] = [0.58, 1.4];

pub const CASE: Case = Case {
    name: "beverloo",
    title: "Flow through holes of several sizes: Beverloo's law",
    group: Group::Seed,
    about: "Grains run out of a funnel whose walls stand at 45°, under a cylinder twice as wide as the hole. The rate is the mean \
            from the moment a tenth has left until the bed is as deep as the hole is wide. Beverloo's law, W = C ρ √g \
            (D − k d)^(5/2), is fitted with C and k free; then the exponent, with k = 1.5. ρ is the bulk density of the flowing bed. \
            Spheres through holes of 5 to 12 d at quick size, up to the seed's 24 d at full size.",
    source: "Beverloo, Leniger, van de Velde 1961, Chem. Eng. Sci. 15, 260; Longmore 2009, figure 7.15",
    criteria: &[
        Criterion {
            key: "exponent",
            what: "exponent of D − 1.5 d, spheres",
            unit: "",
            accept: Accept::Near(2.5, 0.06),
            reference: "5/2; DEM of others 2.49",
        },
        Criterion {
            key: "margin",
            what: "k, spheres",
            unit: "",
            accept: Accept::Between(1.0, 2.0),
            reference: "1.4 (1.4–1.5 for spheres); DEM of others 1.57",
        },
        Criterion {
            key: "discharge",
            what: "C, spheres",
            unit: "",
            accept: Accept::Between(0.5, 0.7),
            reference: "0.58 (0.55–0.65); DEM of others 0.548",
        },
        Criterion {
            key: "straight",
            what: "R² of W^(2/5) over D, spheres",
            unit: "",
            accept: Accept::Above(0.995),
            reference: "1",
        },
    ],
    run,
};

fn run(bench: &Bench) -> Result<Findings, CaseError> {
    let holes: &[f64] = bench.size.pick(
        &[5.0, 6.5, 8.0, 10.0, 12.0],
        &[6.0, 8.0, 11.0, 14.0, 18.0],
        &[8.0, 10.0, 12.0, 16.0, 20.0, 24.0],
    );
    let mut found = Findings::default();
    let young = bench.size.pick(6e7, 1e8, 2e8);
    let silo = Silo {
        hole: 0.0,
        depth: bench.size.pick(2.0, 2.5, 3.0),
        friction: 0.5,
        wall_friction: 0.5,
        young,
        shape: "sphere",
        settling: 0.0,
        ticks: bench.size.pick(18.0, 40.0, 100.0),
    };
    let run = |hole: f64| -> Result<(f64, Outflow), CaseError> { Ok((hole, Silo { hole, ..silo }.run(bench)?)) };
    let spheres: Vec<(f64, Outflow)> = holes.iter().map(|&h| run(h)).collect::<Result<_, _>>()?;
    let points: Vec<[f64; 2]> = spheres.iter().map(|(h, o)| [*h, Silo::reduced(o.rate.value, o.bulk)]).collect();
    let errors: Vec<f64> = spheres.iter().map(|(_, o)| Silo::reduced(o.rate.error, o.bulk)).collect();
    for ((hole, o), p) in spheres.iter().zip(&points) {
        found.remarks.push(format!(
            "hole {hole} d: {} grains, rate {} kg/s, reduced {:.3}, bulk density {:.0} kg/m³, overlap ≤ {:.2} % of d",
            o.grains,
            o.rate,
            p[1],
            o.bulk,
            100.0 * o.overlap
        ));
    }
    found.set_up("Young's modulus", format!("{:.0} MPa", young / 1e6));
    found.set_up("diameter of a sphere", format!("{} mm", 1e3 * D));
    let roots: Vec<[f64; 2]> = points.iter().map(|p| [p[0], p[1].powf(0.4)]).collect();
    let unmeasured = || CaseError::Unmeasured("the rates have no fit".into());
    let straight = line(&roots).ok_or_else(unmeasured)?;
    let k = -straight.intercept.value / straight.slope.value;
    let c = straight.slope.value.powf(2.5);
    let power =
        curve(&points, &errors, [0.58, 2.5], |x, p| p[0] * (x - MARGIN).max(0.0).powf(p[1])).ok_or_else(unmeasured)?;
    found.found("exponent", power.parameters[1].value);
    found.found("margin", k);
    found.found("discharge", c);
    found.found("straight", straight.r2);
    found.remarks.push(format!("exponent with k = {MARGIN}: {}", power.parameters[1]));
    let (low, high) = (holes[0], holes[holes.len() - 1]);
    let along = |f: &dyn Fn(f64) -> f64| {
        (0..=60).map(|n| low + (high - low) * f64::from(n) / 60.0).map(|x| [x, f(x)]).collect()
    };
    let law = along(&|x| BEVERLOO[0] * (x - BEVERLOO[1]).powf(2.5));
    let ours = along(&|x| c * (x - k).powf(2.5));
    found.plots.push(Plot {
        title: "Rate of flow through a hole".into(),
        x: Axis::log("hole over grain, D/d"),
        y: Axis::log("W / (ρ √g d^(5/2))"),
        series: vec![
            Series { errors, ..Series::dots("barchan, spheres", points) },
            Series::line(format!("C {c:.3}, k {k:.2}"), ours),
            Series::dashes("Beverloo 1961: C 0.58, k 1.4", law),
        ],
    });
    Ok(found)
}
