//! Flow through one hole, at several frictions.

use super::silo::{Outflow, Silo};
use crate::fit::line;
use crate::{Accept, Bench, Case, CaseError, Criterion, Findings, Group};
use barchan_io::plot::{Axis, Plot, Series};

pub const CASE: Case = Case {
    name: "orifice",
    title: "Flow through a hole: steady, and slower with more friction",
    group: Group::Seed,
    about: "Grains run out of a funnel whose walls stand at 45° through a hole of 8 sphere diameters; friction at the walls is 0.2, \
            that between grains is varied. While the bed is deep, the rate is to be steady: it is followed from the moment a tenth of \
            the grains has left until the bed is as deep as the hole is wide. Tetrahedral grains as in the seed, and spheres. The \
            seed has 16,000 grains; here a few thousand at quick size.",
    source: "Longmore 2009, section 7.2.2, figure 7.14",
    criteria: &[
        Criterion {
            key: "drift",
            what: "largest change of the rate over the time followed, of the mean rate",
            unit: "",
            accept: Accept::Below(0.2),
            reference: "0: the rate does not depend on the depth",
        },
        Criterion {
            key: "straight",
            what: "least R² of grains left over time",
            unit: "",
            accept: Accept::Above(0.995),
            reference: "1: a straight line",
        },
        Criterion {
            key: "spheres",
            what: "rate at the highest friction over that at the lowest, spheres",
            unit: "",
            accept: Accept::Between(0.5, 0.95),
            reference: "below 1",
        },
        Criterion {
            key: "tetrahedra",
            what: "rate at the highest friction over that at the lowest, tetrahedral grains",
            unit: "",
            accept: Accept::Between(0.3, 0.95),
            reference: "below 1",
        },
        Criterion {
            key: "order",
            what: "largest rise of the rate from one friction to the next higher",
            unit: "",
            accept: Accept::Below(0.02),
            reference: "0: slower with more friction",
        },
    ],
    run,
};

fn run(bench: &Bench) -> Result<Findings, CaseError> {
    let frictions: &[f64] = bench.size.pick(&[0.1, 0.3, 0.6], &[0.05, 0.1, 0.2, 0.4, 0.8], &[0.05, 0.1, 0.2, 0.4, 0.8]);
    let mut found = Findings::default();
    let young = bench.size.pick(5e7, 1e8, 2e8);
    found.set_up("Young's modulus", format!("{:.0} MPa", young / 1e6));
    let (mut drift, mut straight, mut rise) = (0f64, 1f64, 0f64);
    let mut plots = Vec::new();
    for (key, shape) in [("spheres", "sphere"), ("tetrahedra", "tetrahedron")] {
        let mut flows: Vec<Outflow> = Vec::new();
        for &friction in frictions {
            let silo = Silo {
                hole: 8.0,
                depth: bench.size.pick(2.2, 3.0, 6.0),
                friction,
                wall_friction: 0.2,
                young,
                shape,
                settling: 8.0,
                ticks: bench.size.pick(25.0, 60.0, 200.0),
            };
            let flow = silo.run(bench)?;
            let (times, lines) = (line(&flow.rates), line(&flow.left[flow.from..]));
            if let (Some(rate), Some(left)) = (times, lines) {
                let span = flow.rates[flow.rates.len() - 1][0] - flow.rates[0][0];
                let change = rate.slope.value * span / flow.rate.value;
                drift = drift.max(change.abs());
                straight = straight.min(left.r2);
                found.remarks.push(format!(
                    "{shape}, μ {friction}: {} grains, rate {} kg/s, changing by {:+.1} ± {:.1} %, overlap ≤ {:.2} % of d",
                    flow.grains,
                    flow.rate,
                    100.0 * change,
                    100.0 * rate.slope.error * span / flow.rate.value,
                    100.0 * flow.overlap
                ));
            }
            if let Some(last) = flows.last() {
                rise = rise.max(flow.rate.value / last.rate.value - 1.0);
            }
            plots.push(Series::line(format!("{shape}, μ {friction}"), flow.left.clone()));
            flows.push(flow);
        }
        found.found(key, flows[flows.len() - 1].rate.value / flows[0].rate.value);
    }
    found.found("drift", drift);
    found.found("straight", straight);
    found.found("order", rise);
    found.plots.push(Plot {
        title: "Grains left in the funnel".into(),
        x: Axis::linear("time [s]"),
        y: Axis::linear("grains"),
        series: plots,
    });
    Ok(found)
}
