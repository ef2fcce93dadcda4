//! Which way contacts point (V6).

use super::bed::{ANGLES, Bed, Grain};
use crate::{Accept, Bench, Case, CaseError, Criterion, Findings, Group};
use barchan_io::plot::{Axis, Plot, Series};

const fn weak(key: &'static str, what: &'static str) -> Criterion {
    Criterion {
        key,
        what,
        unit: "",
        accept: Accept::Below(0.1),
        reference: "\"does not play a significant role\" (seed, figure 7.10; Silbert 2002)",
    }
}

pub const CASE: Case = Case {
    name: "contact-angles",
    title: "Angles of contacts, with friction and without",
    group: Group::Seed,
    about: "The bed of `forces` with μ 0.5 and μ 0. The angle to the vertical of the lines between the centres of touching grains in the bulk, \
            and of the contacts' normals. Two distributions differ by half the integral of |P₁ − P₂|: the share of contacts \
            that would have to be turned.",
    source: "Longmore 2009, figures 7.2 and 7.10; Silbert, Grest & Landry 2002",
    criteria: &[
        weak("grains", "tetrahedral grains: difference made by friction, lines between centres"),
        weak("normals", "tetrahedral grains: difference made by friction, normals"),
        weak("sphere-grains", "spheres: difference made by friction, lines between centres"),
    ],
    run,
};

fn run(bench: &Bench) -> Result<Findings, CaseError> {
    let mut found = Findings::default();
    let width = 90.0 / ANGLES as f64;
    for grain in Grain::BOTH {
        let [smooth, rough] = [false, true].map(|friction| Bed::get(bench, grain, friction));
        let (smooth, rough) = (smooth?, rough?);
        rough.describe(&mut found);
        // After the two counts: by normals, by lines between centres, by normals of strong contacts.
        let part = |bed: &Bed, k: usize| bed.angles[2 + k * ANGLES..2 + (k + 1) * ANGLES].to_vec();
        let differ = |a: &[f64], b: &[f64]| 0.5 * width * a.iter().zip(b).map(|(a, b)| (a - b).abs()).sum::<f64>();
        found.found(grain.pick("grains", "sphere-grains"), differ(&part(&smooth, 1), &part(&rough, 1)));
        if grain == Grain::Tetrahedron {
            found.found("normals", differ(&part(&smooth, 0), &part(&rough, 0)));
        }
        let points = |p: &[f64]| p.iter().enumerate().map(|(b, p)| [(b as f64 + 0.5) * width, *p]).collect::<Vec<_>>();
        let even = |degrees: f64| 1f64.to_radians() * degrees.to_radians().sin();
        found.plots.push(Plot {
            title: format!("Angles of contacts, {}", grain.name()),
            x: Axis::linear("angle to the vertical [°]"),
            y: Axis { range: Some([0.0, 0.025]), ..Axis::linear("probability density [1/°]") },
            series: vec![
                Series::line("μ 0", points(&part(&smooth, 1))),
                Series::line("μ 0.5", points(&part(&rough, 1))),
                Series::dots("μ 0.5, normals of forces above twice the mean", points(&part(&rough, 2))),
                Series::dashes(
                    "no direction preferred",
                    (0..=90).map(|a| [f64::from(a), even(f64::from(a))]).collect(),
                ),
            ],
        });
        let steep = |p: &[f64]| width * p.iter().take(ANGLES / 2).sum::<f64>();
        found.remarks.push(format!(
            "{}, μ 0.5: {} contacts, {} strong; {:.3} of the normals and {:.3} of the strong ones are steeper than 45° (0.293 where no \
             direction is preferred)",
            grain.name(),
            rough.angles[0],
            rough.angles[1],
            steep(&part(&rough, 0)),
            steep(&part(&rough, 2))
        ));
    }
    Ok(found)
}
