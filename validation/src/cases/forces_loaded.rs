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
            bed weighs. Normal forces as in `forces`; a Gamma density is fitted. The same for tetrahedral grains without friction: \
            the seed's friction is viscous, without memory, so that in its bed at rest no contact bears a tangential force.",
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
        criterion("smooth-fit", "tetrahedral grains, μ 0: R² of the Gamma density", Accept::Above(0.97), FITS),
        criterion(
            "smooth-peak",
            "tetrahedral grains, μ 0: force of the peak over the mean",
            Accept::Between(0.4, 1.3),
            PEAK,
        ),
        criterion("sphere-fit", "spheres: R² of the Gamma density", Accept::Above(0.97), FITS),
        criterion("sphere-peak", "spheres: force of the peak over the mean", Accept::Between(0.4, 1.3), PEAK),
        criterion("sphere-narrower", "spheres: standard deviation of f over that at rest", Accept::Below(1.0), NARROW),
    ],
    run,
};

fn run(bench: &Bench) -> Result<Findings, CaseError> {
    let mut found = Findings::default();
    look(bench, &mut found, Grain::Tetrahedron, true, ["fit", "peak"], Some("narrower"))?;
    look(bench, &mut found, Grain::Tetrahedron, false, ["smooth-fit", "smooth-peak"], None)?;
    look(bench, &mut found, Grain::Sphere, true, ["sphere-fit", "sphere-peak"], Some("sphere-narrower"))?;
    found.remarks.push(
        "With friction the distribution of the spheres has no peak at any size that was run, without it both have one. The source's friction \
         is viscous and bears nothing in a bed at rest, so that its grains rest as if smooth; ours bears, and contacts that friction holds up \
         may carry next to nothing."
            .into(),
    );
    Ok(found)
}

/// Looks at one bed, and gives R², peak and width by these keys.
fn look(
    bench: &Bench,
    found: &mut Findings,
    grain: Grain,
    friction: bool,
    [fit, peak]: [&'static str; 2],
    narrower: Option<&'static str>,
) -> Result<(), CaseError> {
    let (bed, pressed) = (Bed::get(bench, grain, friction)?, Pressed::get(bench, grain, friction)?);
    let name = &bed.name;
    pressed.describe(found);
    let rest = Distribution::new(bed.forces.iter().map(|f| f[0]).collect());
    let loaded = Distribution::new(pressed.forces.iter().map(|f| f[0]).collect());
    found.set_up(format!("{name}: forces in the bulk"), loaded.sample.len().to_string());
    found.found(peak, loaded.peak());
    if let Some(key) = narrower {
        found.found(key, loaded.spread() / rest.spread());
    }
    let mut series = vec![loaded.dots("loaded"), rest.dots("at rest")];
    if let Some(curve) = loaded.fit(0.0, [2.0, 0.5], gamma) {
        found.found(fit, curve.r2);
        let [a, b] = curve.parameters;
        found.remarks.push(format!("{name}: Gamma density of a {a}, b {b}, χ² {:.2}", curve.chi2));
        series.push(Series::line("Gamma density", drawn(0.0, |f| gamma(f, &curve.values()))));
    }
    series.push(Series::dashes("seed, particles: a 3.36, b 0.30", drawn(0.0, |f| gamma(f, &[3.36, 0.3]))));
    found.plots.push(plot(&format!("Normal forces under load, {name}"), series));
    let largest = |d: &Distribution| d.sample.iter().fold(0.0, |a: f64, b| a.max(*b));
    found.remarks.push(format!(
        "{name}: standard deviation of f {:.3} loaded, {:.3} at rest; largest f {:.1} and {:.1}",
        loaded.spread(),
        rest.spread(),
        largest(&loaded),
        largest(&rest),
    ));
    Ok(())
}
