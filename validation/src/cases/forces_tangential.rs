//! Tangential forces in a bed at rest (V4).

use super::bed::{Bed, Grain};
use super::distribution::Distribution;
use super::forces::plot;
use crate::{Accept, Bench, Case, CaseError, Criterion, Findings, Group};

const fn slower(key: &'static str, what: &'static str) -> Criterion {
    Criterion { key, what, unit: "", accept: Accept::Below(1.0), reference: "decays more slowly (Silbert 2002, seed)" }
}

pub const CASE: Case = Case {
    name: "forces-tangential",
    title: "Tangential contact forces in a bed at rest",
    group: Group::Seed,
    about: "The bed of `forces`. Tangential forces, taken as the normal ones are, over their own mean at their depth, beside those. \
            e^(−βf) is fitted to both for f > 1.",
    source: "Longmore 2009, figure 7.8(d); Silbert, Grest & Landry 2002",
    criteria: &[
        slower("slower", "tetrahedral grains: β of tangential forces over that of normal ones"),
        slower("sphere-slower", "spheres: β of tangential forces over that of normal ones"),
    ],
    run,
};

fn run(bench: &Bench) -> Result<Findings, CaseError> {
    let mut found = Findings::default();
    for grain in Grain::BOTH {
        let bed = Bed::get(bench, grain, true)?;
        bed.describe(&mut found);
        let normal = Distribution::new(bed.forces.iter().map(|f| f[0]).collect());
        let tangential = Distribution::new(bed.forces.iter().map(|f| f[1]).collect());
        let decay = |d: &Distribution| d.fit(1.0, [1.0, 1.0], |f, [a, beta]| a * (-beta * f).exp());
        if let (Some(n), Some(t)) = (decay(&normal), decay(&tangential)) {
            found.found(grain.pick("slower", "sphere-slower"), t.parameters[1].value / n.parameters[1].value);
            let (n, t) = (n.parameters[1], t.parameters[1]);
            found.remarks.push(format!("{}: β {t} tangential, {n} normal", grain.name()));
        }
        let series = vec![normal.dots("normal"), tangential.dots("tangential")];
        found.plots.push(plot(&format!("Tangential forces, {}", grain.name()), series));
    }
    Ok(found)
}
