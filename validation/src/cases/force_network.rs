//! Strong and weak contacts (V7).

use super::bed::{Bed, Grain};
use crate::{Accept, Bench, Case, CaseError, Criterion, Findings, Group};
use barchan_io::plot::{Axis, Plot, Series};

const fn half(key: &'static str, what: &'static str) -> Criterion {
    Criterion {
        key,
        what,
        unit: "",
        accept: Accept::Near(0.8, 0.06),
        reference: "0.81 (seed, figure 7.11), about 0.80 (Silbert 2002)",
    }
}

pub const CASE: Case = Case {
    name: "force-network",
    title: "What the strong contacts carry",
    group: Group::Seed,
    about: "The bed of `forces`. The share of the sum of normal forces, each over the mean at its depth, that the stronger half of the \
            contacts in the bulk carries; and how many contacts, carrying how much, exceed a force.",
    source: "Longmore 2009, figure 7.11; Silbert, Grest & Landry 2002; Radjai et al. 1998",
    criteria: &[
        half("half", "tetrahedral grains: share of the stronger half"),
        half("sphere-half", "spheres: share of the stronger half"),
    ],
    run,
};

fn run(bench: &Bench) -> Result<Findings, CaseError> {
    let mut found = Findings::default();
    for grain in Grain::BOTH {
        let bed = Bed::get(bench, grain, true)?;
        bed.describe(&mut found);
        let [layers, plain] = &bed.network;
        found.found(grain.pick("half", "sphere-half"), layers[5]);
        found.remarks.push(format!(
            "{}: {} contacts; {:.3} of them exceed the mean and carry {:.3}; over one mean for all depths the stronger half carries {:.3}",
            grain.name(),
            layers[0],
            layers[3],
            layers[4],
            plain[5]
        ));
        let mut forces: Vec<f64> = bed.contacts.clone();
        forces.sort_by(f64::total_cmp);
        let (sum, count) = (forces.iter().sum::<f64>(), forces.len() as f64);
        let above = |cut: f64| &forces[forces.partition_point(|f| *f < cut)..];
        let cuts: Vec<f64> = (0..=80).map(|k| 0.05 * f64::from(k)).collect();
        let curve = |f: &dyn Fn(f64) -> f64| cuts.iter().map(|c| [*c, f(*c)]).collect::<Vec<_>>();
        let carried = |c: f64| above(c).iter().sum::<f64>() / sum;
        let number = |c: f64| above(c).len() as f64 / count;
        found.plots.push(Plot {
            title: format!("Contacts above and below a force, {}", grain.name()),
            x: Axis::linear("force over its mean"),
            y: Axis { range: Some([0.0, 1.0]), ..Axis::linear("share") },
            series: vec![
                Series::line("force carried above", curve(&carried)),
                Series::line("force carried below", curve(&|c| 1.0 - carried(c))),
                Series::dashes("contacts above", curve(&number)),
                Series::dashes("contacts below", curve(&|c| 1.0 - number(c))),
                Series::rings("seed: half the contacts carry 0.81", {
                    let median = forces.get(forces.len() / 2).copied().unwrap_or(f64::NAN);
                    vec![[median, 0.81]]
                }),
            ],
        });
    }
    Ok(found)
}
