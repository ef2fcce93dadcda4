//! Normal forces in a bed at rest (V1).

use super::bed::{Bed, Grain, REST};
use super::distribution::{Distribution, SILBERT, drawn, mueth, stretched};
use crate::{Accept, Bench, Case, CaseError, Criterion, Findings, Group};
use barchan_io::plot::{Axis, Plot, Series};

const fn fits(key: &'static str, what: &'static str) -> Criterion {
    Criterion { key, what, unit: "", accept: Accept::Above(0.97), reference: "\"good agreement\"" }
}

const fn beta(key: &'static str, what: &'static str) -> Criterion {
    Criterion {
        key,
        what,
        unit: "",
        accept: Accept::Near(1.35, 0.2),
        reference: "1.35 (Silbert 2002), 1.29 and 1.24 (the seed's particles and grains)",
    }
}

const fn tail(key: &'static str, what: &'static str) -> Criterion {
    Criterion {
        key,
        what,
        unit: "",
        accept: Accept::Above(1.1),
        reference: "1.5 ± 0.4 (Radjai 1996, Mueth 1998), 1.7 ± 0.1 (van Eerd 2007), 1.51 and 2.45 (seed)",
    }
}

const fn closer(key: &'static str, what: &'static str) -> Criterion {
    Criterion { key, what, unit: "", accept: Accept::Below(1.0), reference: "closer than the exponential (seed)" }
}

pub const CASE: Case = Case {
    name: "forces",
    title: "Normal contact forces in a bed at rest",
    group: Group::Seed,
    about: "Grains settle in a cylinder with a rough floor and a smooth wall, μ 0.5. When they rest, normal forces in the bulk (some \
            diameters from wall, floor and surface) are taken, each over the mean force at its depth, since the mean grows with \
            depth: for spheres those of all contacts, as Silbert has them; for tetrahedral grains those on every sphere that bears \
            one, summed over its contacts, since the seed records what particles experience. The density is that of bins by \
            Freedman and Diaconis, which equals the seed's difference of the Kaplan–Meier estimate. \
            P(f) = a(1 − b e^(−f²))e^(−βf) is fitted to all of it, A e^(−c f^α) to f > 1.",
    source: "Longmore 2009, figure 7.8(a) and table 7.2; Silbert, Grest & Landry 2002, Phys. Rev. E 66, 061303",
    criteria: &[
        fits("fit", "tetrahedral grains: R² of the fit"),
        beta("beta", "tetrahedral grains: β"),
        tail("alpha", "tetrahedral grains: exponent α of the tail"),
        closer("closer", "tetrahedral grains: χ² of e^(−c f^α) over that of e^(−c f), each per degree of freedom"),
        fits("sphere-fit", "spheres: R² of the fit"),
        beta("sphere-beta", "spheres: β"),
        tail("sphere-alpha", "spheres: exponent α of the tail"),
        closer("sphere-closer", "spheres: χ² of e^(−c f^α) over that of e^(−c f), each per degree of freedom"),
    ],
    run,
};

fn run(bench: &Bench) -> Result<Findings, CaseError> {
    let mut found = Findings::default();
    for grain in Grain::BOTH {
        let bed = Bed::get(bench, grain, true)?;
        bed.describe(&mut found);
        let forces = Distribution::new(bed.forces.iter().map(|f| f[0]).collect());
        found.set_up(format!("{}: forces in the bulk", grain.name()), forces.sample.len().to_string());
        let whole = forces.fit(0.0, SILBERT, mueth);
        let tail = forces.fit(1.0, [2.0, 0.8, 1.3], stretched);
        let exponential = forces.fit(1.0, [2.0, 1.3], |f, [a, c]| stretched(f, &[*a, *c, 1.0]));
        let mut series = vec![forces.dots("barchan")];
        if let Some(whole) = whole {
            found.found(grain.pick("fit", "sphere-fit"), whole.r2);
            found.found(grain.pick("beta", "sphere-beta"), whole.parameters[2].value);
            let [a, b, beta] = whole.parameters;
            found.remarks.push(format!("{}: a {a}, b {b}, β {beta}, χ² {:.2}", grain.name(), whole.chi2));
            series.push(Series::line("fit", drawn(0.0, |f| mueth(f, &whole.values()))));
        }
        if let (Some(tail), Some(exponential)) = (tail, exponential) {
            found.found(grain.pick("alpha", "sphere-alpha"), tail.parameters[2].value);
            found.found(grain.pick("closer", "sphere-closer"), tail.chi2 / exponential.chi2);
            let [_, c, alpha] = tail.parameters;
            found.remarks.push(format!(
                "{}: tail c {c}, α {alpha}, χ² {:.2}; as an exponential χ² {:.2}",
                grain.name(),
                tail.chi2,
                exponential.chi2
            ));
            series.push(Series::line("tail, f > 1", drawn(1.0, |f| stretched(f, &tail.values()))));
        }
        series.push(Series::dashes("Silbert 2002", drawn(0.0, |f| mueth(f, &SILBERT))));
        found.plots.push(plot(&format!("Normal forces, {}, μ 0.5", grain.name()), series));
        let plain = Distribution::new(bed.plain.iter().map(|f| f[0]).collect());
        if let Some(whole) = plain.fit(0.0, SILBERT, mueth) {
            let [a, b, beta] = whole.parameters;
            found.remarks.push(format!("{}, over one mean for all depths: a {a}, b {b}, β {beta}", grain.name()));
        }
        let contacts = Distribution::new(bed.contacts.clone());
        if let (Grain::Tetrahedron, Some(whole)) = (grain, contacts.fit(0.0, SILBERT, mueth)) {
            let ([a, b, beta], n) = (whole.parameters, contacts.sample.len());
            found.remarks.push(format!("{}, by {n} contacts instead of spheres: a {a}, b {b}, β {beta}", grain.name()));
            let series = vec![contacts.dots("contacts"), forces.dots("spheres")];
            found.plots.push(plot(&format!("Forces by contacts and by spheres, {}, μ 0.5", grain.name()), series));
        }
    }
    found
        .remarks
        .push(format!("The bed rests when the kinetic energy of nine grains in ten is below {REST:.0e} m g d."));
    Ok(found)
}

/// Densities over force, logarithmic.
pub fn plot(title: &str, series: Vec<Series>) -> Plot {
    Plot {
        title: title.into(),
        x: Axis { range: Some([0.0, 6.0]), ..Axis::linear("force over its mean") },
        y: Axis { range: Some([1e-4, 2.0]), ..Axis::log("probability density") },
        series,
    }
}
