//! Beverloo's law.

use super::bulk::D;
use super::silo::Silo;
use crate::fit::{Value, curve, line};
use crate::{Accept, Bench, Case, CaseError, Criterion, Findings, Group};
use barchan_core::shapes::Shape;
use barchan_io::plot::{Axis, Plot, Series};
use std::f64::consts::PI;

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
            Spheres through holes of 5 to 12 d at quick size, up to the seed's 24 d at full size; tetrahedral grains beside them, whose \
            d is the diameter of the sphere of equal volume.",
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
        Criterion {
            key: "exponent, tetrahedra",
            what: "exponent of D − 1.5 d, tetrahedral grains",
            unit: "",
            accept: Accept::Near(2.5, 0.1),
            reference: "5/2",
        },
        Criterion {
            key: "straight, tetrahedra",
            what: "R² of W^(2/5) over D, tetrahedral grains",
            unit: "",
            accept: Accept::Above(0.99),
            reference: "1",
        },
    ],
    run,
};

/// Rates through several holes.
struct Rates {
    /// Hole over grain, and the reduced rate W / (ρ √g d^(5/2)).
    points: Vec<[f64; 2]>,
    /// Errors of the rates.
    errors: Vec<f64>,
    /// C and k of Beverloo's law.
    constants: [f64; 2],
    /// R² of W^(2/5) over D.
    straight: f64,
    /// Exponent of D − 1.5 d.
    exponent: Value,
}

/// Lets grains of a size (over that of a sphere) run through holes (over a grain), and says what it saw.
fn rates(bench: &Bench, silo: Silo, size: f64, holes: &[f64], remarks: &mut Vec<String>) -> Result<Rates, CaseError> {
    let (mut points, mut errors) = (Vec::new(), Vec::new());
    for &hole in holes {
        let out = Silo { hole: hole * size, ..silo }.run(bench)?;
        let reduced = |rate: f64| Silo::reduced(rate, out.bulk) / size.powf(2.5);
        points.push([hole, reduced(out.rate.value)]);
        errors.push(reduced(out.rate.error));
        remarks.push(format!(
            "{}, hole {hole} d: {} grains, rate {} kg/s, reduced {:.3}, bulk density {:.0} kg/m³, overlap ≤ {:.2} % of d",
            silo.shape,
            out.grains,
            out.rate,
            reduced(out.rate.value),
            out.bulk,
            100.0 * out.overlap
        ));
    }
    let roots: Vec<[f64; 2]> = points.iter().map(|p| [p[0], p[1].powf(0.4)]).collect();
    let unmeasured = || CaseError::Unmeasured("the rates have no fit".into());
    let straight = line(&roots).ok_or_else(unmeasured)?;
    let constants = [straight.slope.value.powf(2.5), -straight.intercept.value / straight.slope.value];
    let power =
        curve(&points, &errors, [0.58, 2.5], |x, p| p[0] * (x - MARGIN).max(0.0).powf(p[1])).ok_or_else(unmeasured)?;
    remarks.push(format!("{}: exponent with k = {MARGIN}: {}", silo.shape, power.parameters[1]));
    Ok(Rates { points, errors, constants, straight: straight.r2, exponent: power.parameters[1] })
}

fn run(bench: &Bench) -> Result<Findings, CaseError> {
    let holes: &[f64] = bench.size.pick(
        &[5.0, 6.5, 8.0, 10.0, 12.0],
        &[6.0, 8.0, 11.0, 14.0, 18.0],
        &[8.0, 10.0, 12.0, 16.0, 20.0, 24.0],
    );
    let wide: &[f64] = bench.size.pick(&[5.0, 6.5, 8.5], &[5.0, 6.5, 8.5, 11.0], &[6.0, 8.0, 10.0, 12.0, 16.0]);
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
    let tetrahedron = Shape::tetrahedron(1.2).map_err(|e| CaseError::Unmeasured(e.to_string()))?;
    let size = 0.5 * (6.0 * tetrahedron.volume() / PI).cbrt();
    let spheres = rates(bench, silo, 1.0, holes, &mut found.remarks)?;
    let tetrahedra = rates(bench, Silo { shape: "tetrahedron", ..silo }, size, wide, &mut found.remarks)?;
    found.set_up("Young's modulus", format!("{:.0} MPa", young / 1e6));
    found.set_up("diameter of a sphere", format!("{} mm", 1e3 * D));
    found.set_up("size of a tetrahedral grain", format!("{size:.3} diameters of its spheres"));
    let [c, k] = spheres.constants;
    found.found("exponent", spheres.exponent.value);
    found.found("margin", k);
    found.found("discharge", c);
    found.found("straight", spheres.straight);
    found.found("exponent, tetrahedra", tetrahedra.exponent.value);
    found.found("straight, tetrahedra", tetrahedra.straight);
    let (low, high) = (holes[0].min(wide[0]), holes[holes.len() - 1]);
    let along = |[c, k]: [f64; 2]| -> Vec<[f64; 2]> {
        (0..=60).map(|n| low + (high - low) * f64::from(n) / 60.0).map(|x| [x, c * (x - k).powf(2.5)]).collect()
    };
    let mut series = Vec::new();
    for (name, r) in [("spheres", spheres), ("tetrahedral grains", tetrahedra)] {
        let [c, k] = r.constants;
        series.push(Series { errors: r.errors, ..Series::dots(format!("barchan, {name}"), r.points) });
        series.push(Series::line(format!("{name}: C {c:.3}, k {k:.2}"), along(r.constants)));
    }
    series.push(Series::dashes("Beverloo 1961: C 0.58, k 1.4", along(BEVERLOO)));
    found.plots.push(Plot {
        title: "Rate of flow through a hole".into(),
        x: Axis::log("hole over grain, D/d"),
        y: Axis::log("W / (ρ √g d^(5/2))"),
        series,
    });
    Ok(found)
}
