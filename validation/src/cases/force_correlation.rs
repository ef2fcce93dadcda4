//! How far forces are correlated (V5).

use super::bed::{Bed, CORRELATION, Grain};
use crate::{Accept, Bench, Case, CaseError, Criterion, Findings, Group};
use barchan_io::plot::{Axis, Plot, Series};

/// Deviation of F from 1 that counts as correlation.
const NOTICED: f64 = 0.05;

const fn local(key: &'static str, what: &'static str) -> Criterion {
    Criterion {
        key,
        what,
        unit: "d",
        accept: Accept::Below(3.0),
        reference: "gone within 2 d (seed, figure 7.9), 3 d (Silbert 2002)",
    }
}

pub const CASE: Case = Case {
    name: "force-correlation",
    title: "Correlation of contact forces in space",
    group: Group::Seed,
    about: "The bed of `forces`. F(r) is the mean product of the normal forces on two spheres of different grains whose centres are r apart, \
            each the sum over its contacts and over the mean at its depth: 1 where they know nothing of each other. It counts as \
            gone where F stays within 5 % of 1.",
    source: "Longmore 2009, equation 7.4 and figure 7.9; Silbert, Grest & Landry 2002",
    criteria: &[
        local("range", "tetrahedral grains, μ 0.5: distance beyond which F is 1"),
        local("range-frictionless", "tetrahedral grains, μ 0: distance beyond which F is 1"),
        local("sphere-range", "spheres, μ 0.5: distance beyond which F is 1"),
        local("sphere-range-frictionless", "spheres, μ 0: distance beyond which F is 1"),
    ],
    run,
};

fn run(bench: &Bench) -> Result<Findings, CaseError> {
    let mut found = Findings::default();
    for grain in Grain::BOTH {
        let keys = [grain.pick("range-frictionless", "sphere-range-frictionless"), grain.pick("range", "sphere-range")];
        let mut series = vec![];
        for (friction, key) in [false, true].into_iter().zip(keys) {
            let bed = Bed::get(bench, grain, friction)?;
            let [curve, plain] = [0, 1].map(|k| points(&bed.correlation[k]));
            // Closer than about a diameter there are no pairs.
            let range = curve.iter().rev().find(|p| (p[1] - 1.0).abs() > NOTICED).map_or(0.0, |p| p[0]);
            found.found(key, range);
            let mu = if friction { "μ 0.5" } else { "μ 0" };
            let far = |c: &[[f64; 2]]| {
                let beyond: Vec<f64> = c.iter().filter(|p| p[0] > 3.0).map(|p| p[1]).collect();
                beyond.iter().sum::<f64>() / beyond.len().max(1) as f64
            };
            found.remarks.push(format!(
                "{}, {mu}: {} spheres; F {:.3} in contact, {:.3} beyond 3 d; over one mean for all depths {:.3} beyond 3 d",
                grain.name(),
                bed.correlation[0][0],
                curve.iter().find(|p| p[0] > 0.95).map_or(f64::NAN, |p| p[1]),
                far(&curve),
                far(&plain)
            ));
            series.push(Series::line(mu, curve));
            if friction {
                bed.describe(&mut found);
                series.push(Series::line("μ 0.5, one mean for all depths", plain));
            }
        }
        series.push(Series::dashes("no correlation", vec![[0.0, 1.0], [CORRELATION.1, 1.0]]));
        found.plots.push(Plot {
            title: format!("Correlation of forces, {}", grain.name()),
            x: Axis { range: Some([0.8, CORRELATION.1]), ..Axis::linear("distance over the diameter") },
            y: Axis::linear("F(r)"),
            series,
        });
    }
    found.remarks.push(
        "The seed finds F = 1.269 far away and suspects interlocking. Forces over one mean for all depths give a plateau above 1 here too, since \
         two spheres at one depth share its mean; over the mean at their depth it is gone."
            .into(),
    );
    Ok(found)
}

/// Distance over the diameter and F, where there are pairs.
fn points(row: &[f64]) -> Vec<[f64; 2]> {
    let width = CORRELATION.1 / CORRELATION.0 as f64;
    let bins = row.iter().skip(2).enumerate().map(|(b, f)| [(b as f64 + 0.5) * width, *f]);
    bins.filter(|p| p[1] > 0.0).collect()
}
