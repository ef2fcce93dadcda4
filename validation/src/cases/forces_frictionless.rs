//! Normal forces without friction (V2).

use super::bed::{Bed, Grain};
use super::distribution::{Distribution, SILBERT, drawn, mueth};
use super::forces::plot;
use crate::{Accept, Bench, Case, CaseError, Criterion, Findings, Group};
use barchan_io::plot::Series;

const fn criterion(key: &'static str, what: &'static str, accept: Accept, reference: &'static str) -> Criterion {
    Criterion { key, what, unit: "", accept, reference }
}

const DOWN: &str = "bends down below the mean (Silbert 2002, seed)";
const UP: &str = "bends up with friction (Silbert 2002, seed)";
const PEAK: &str = "near 1 (seed, figure 7.8b)";

pub const CASE: Case = Case {
    name: "forces-frictionless",
    title: "Normal contact forces without friction",
    group: Group::Seed,
    about: "The bed of `forces`, once with μ 0.5 and once with μ 0, grains and walls alike. The density of forces below a fifth of the \
            mean over that between 0.8 and 1.2 of it says which way P(f) bends; its peak is where most forces lie within ±0.2.",
    source: "Longmore 2009, figure 7.8(b); Silbert, Grest & Landry 2002",
    criteria: &[
        criterion("down", "tetrahedral grains, μ 0: P(f < 0.2)/P(f ≈ 1)", Accept::Below(1.0), DOWN),
        criterion("up", "tetrahedral grains, μ 0.5: P(f < 0.2)/P(f ≈ 1)", Accept::Above(1.0), UP),
        criterion("peak", "tetrahedral grains, μ 0: force of the peak over the mean", Accept::Between(0.4, 1.3), PEAK),
        criterion("sphere-down", "spheres, μ 0: P(f < 0.2)/P(f ≈ 1)", Accept::Below(1.0), DOWN),
        criterion("sphere-up", "spheres, μ 0.5: P(f < 0.2)/P(f ≈ 1)", Accept::Above(1.0), UP),
        criterion("sphere-peak", "spheres, μ 0: force of the peak over the mean", Accept::Between(0.4, 1.3), PEAK),
    ],
    run,
};

fn run(bench: &Bench) -> Result<Findings, CaseError> {
    let mut found = Findings::default();
    for grain in Grain::BOTH {
        let [smooth, rough] = [false, true].map(|friction| Bed::get(bench, grain, friction));
        let (smooth, rough) = (smooth?, rough?);
        smooth.describe(&mut found);
        let of = |bed: &Bed| Distribution::new(bed.forces.iter().map(|f| f[0]).collect());
        let (smooth, rough) = (of(&smooth), of(&rough));
        let bend = |d: &Distribution| d.between(0.0, 0.2) / d.between(0.8, 1.2);
        found.found(grain.pick("down", "sphere-down"), bend(&smooth));
        found.found(grain.pick("up", "sphere-up"), bend(&rough));
        found.found(grain.pick("peak", "sphere-peak"), smooth.peak());
        let mut series = vec![smooth.dots("μ 0"), rough.dots("μ 0.5")];
        if let Some(whole) = smooth.fit(0.0, SILBERT, mueth) {
            let [a, b, beta] = whole.parameters;
            found.remarks.push(format!(
                "{}, μ 0: a {a}, b {b}, β {beta} (seed: 2.78, 0.72, 1.46 for particles, 10.05, 1.01, 2.13 for grains)",
                grain.name()
            ));
            series.push(Series::line("fit to μ 0", drawn(0.0, |f| mueth(f, &whole.values()))));
        }
        found.plots.push(plot(&format!("Normal forces without friction, {}", grain.name()), series));
    }
    Ok(found)
}
