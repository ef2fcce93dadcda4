//! Normal forces under a load (V3).

use super::bed::{Bed, Grain};
use super::distribution::{Distribution, drawn, gamma};
use super::forces::plot;
use super::press::Pressed;
use crate::{Accept, Bench, Case, CaseError, Criterion, Findings, Group};
use barchan_io::plot::Series;

const fn criterion(key: &'static str, what: &'static str, accept: Accept, reference: &'static str) -> Criterion {
    Criterion { key, what, unit: "", accept, reference }
}

const FITS: &str = "\"closely match\" (seed: a 3.36, b 0.30)";
const PEAK: &str = "near 1 (seed, figure 7.8c); its fit peaks at (a − 1) b = 0.71";
const NARROW: &str = "\"a much smaller force range\"";

pub const CASE: Case = Case {
    name: "forces-loaded",
    title: "Normal contact forces under a plunger",
    group: Group::Seed,
    about: "The bed of `forces`, μ 0.5, under a plunger that holds a stress of a thousandth of Young's modulus, some twenty times what the \
            bed weighs. Forces of contacts in the bulk, over the mean at their depth; a Gamma density is fitted.",
    source: "Longmore 2009, figure 7.8(c) and table 7.2; Radeke et al. 2004",
    criteria: &[
        criterion("fit", "tetrahedral grains: R² of the Gamma density", Accept::Above(0.97), FITS),
        criterion("peak", "tetrahedral grains: force of the peak over the mean", Accept::Between(0.4, 1.3), PEAK),
        criterion(
            "narrower",
            "tetrahedral grains: standard deviation of f over that at rest",
            Accept::Below(1.0),
            NARROW,
        ),
        criterion("sphere-fit", "spheres: R² of the Gamma density", Accept::Above(0.97), FITS),
        criterion("sphere-peak", "spheres: force of the peak over the mean", Accept::Between(0.4, 1.3), PEAK),
        criterion("sphere-narrower", "spheres: standard deviation of f over that at rest", Accept::Below(1.0), NARROW),
    ],
    run,
};

fn run(bench: &Bench) -> Result<Findings, CaseError> {
    let mut found = Findings::default();
    for grain in Grain::BOTH {
        let (bed, pressed) = (Bed::get(bench, grain, true)?, Pressed::get(bench, grain)?);
        pressed.describe(&mut found);
        let rest = Distribution::new(bed.forces.iter().map(|f| f.normal).collect());
        let loaded = Distribution::new(pressed.forces.iter().map(|f| f.normal).collect());
        found.set_up(format!("{}: contacts in the bulk", grain.name()), loaded.sample.len().to_string());
        found.found(grain.pick("peak", "sphere-peak"), loaded.peak());
        found.found(grain.pick("narrower", "sphere-narrower"), loaded.spread() / rest.spread());
        let mut series = vec![loaded.dots("loaded"), rest.dots("at rest")];
        if let Some(fit) = loaded.fit(0.0, [2.0, 0.5], gamma) {
            found.found(grain.pick("fit", "sphere-fit"), fit.r2);
            let [a, b] = fit.parameters;
            found.remarks.push(format!("{}: Gamma density of a {a}, b {b}, χ² {:.2}", grain.name(), fit.chi2));
            series.push(Series::line("Gamma density", drawn(0.0, |f| gamma(f, &fit.values()))));
        }
        series.push(Series::dashes("seed, particles: a 3.36, b 0.30", drawn(0.0, |f| gamma(f, &[3.36, 0.3]))));
        found.plots.push(plot(&format!("Normal forces under load, {}", grain.name()), series));
        found.remarks.push(format!(
            "{}: standard deviation of f {:.3} loaded, {:.3} at rest; largest f {:.1} and {:.1}",
            grain.name(),
            loaded.spread(),
            rest.spread(),
            loaded.sample.iter().fold(0.0, |a: f64, b| a.max(*b)),
            rest.sample.iter().fold(0.0, |a: f64, b| a.max(*b)),
        ));
    }
    Ok(found)
}
