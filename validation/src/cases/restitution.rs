//! The restitution asked for comes out.

use crate::impact::{Ball, Solid, hertz, strike};
use crate::oblique::Spring;
use crate::{Accept::Below, Bench, Case, CaseError, Criterion, Findings, Group};
use barchan_io::plot::{Axis, Plot, Series};
use glam::DVec3;

pub const CASE: Case = Case {
    name: "restitution",
    title: "Restitution of a normal impact",
    group: Group::Verification,
    about: "Test 3: a sphere of 2.5 mm radius, of aluminium oxide and of cast iron, meets a rigid plane at 3.9 m/s. The \
            restitution asked for goes from 0 to 1; it must come out. Asked for 0, the law gives the least it can, 0.01. At 1 the \
            impact is Hertz's.",
    source: "Chung and Ooi 2011, Granular Matter 13, 643, test 3",
    criteria: &[
        Criterion::new(
            "oxide",
            "largest deviation of e from 0.2, 0.4 … 1, aluminium oxide, over e",
            "",
            Below(5e-3),
            "0",
        ),
        Criterion::new("iron", "largest deviation of e from 0.2, 0.4 … 1, cast iron, over e", "", Below(5e-3), "0"),
        Criterion::new("none", "e where 0 was asked for, the larger of both", "", Below(0.011), "0 (0.01 is offered)"),
        Criterion::new(
            "peaks",
            "e = 1: largest deviation of overlap, force and duration from Hertz's, over these",
            "",
            Below(1e-3),
            "oxide 8.089 µm, 615.4 N, 6.105 µs; iron 17.19 µm, 506.8 N, 12.97 µs",
        ),
    ],
    run,
};

const OXIDE: Solid =
    Solid { name: "aluminium oxide", young: 3.8e11, poisson: 0.23, density: 4000.0, friction: 0.0, restitution: 1.0 };
const IRON: Solid =
    Solid { name: "cast iron", young: 1.0e11, poisson: 0.25, density: 7000.0, friction: 0.0, restitution: 1.0 };
const SPEED: f64 = 3.9;
/// The least restitution a scene may ask for.
const LEAST: f64 = 0.01;

fn run(bench: &Bench) -> Result<Findings, CaseError> {
    let mut found = Findings::default();
    let (mut none, mut peaks) = (0f64, 0f64);
    let mut series = vec![Series::dashes("asked for", vec![[0.0, 0.0], [1.0, 1.0]])];
    for (key, solid) in [("oxide", OXIDE), ("iron", IRON)] {
        let (mut worst, mut curve) = (0f64, Vec::new());
        for asked in [LEAST, 0.2, 0.4, 0.6, 0.8, 1.0] {
            let solid = Solid { restitution: asked, ..solid };
            let ball = Ball { solid, radius: 2.5e-3, velocity: DVec3::Z * -SPEED, spin: DVec3::ZERO };
            let seen = strike(bench, Spring::Mindlin, &ball, None)?;
            let e = seen.velocity[0].z / SPEED;
            curve.push([asked, e]);
            match asked {
                LEAST => none = none.max(e),
                _ => worst = worst.max((e / asked - 1.0).abs()),
            }
            if asked == 1.0 {
                let exact = hertz(&ball, None);
                let pairs = [(seen.overlap, exact.overlap), (seen.force, exact.force), (seen.duration, exact.duration)];
                peaks = pairs.iter().map(|(a, b)| (a / b - 1.0).abs()).fold(peaks, f64::max);
            }
        }
        found.found(key, worst);
        series.push(Series::dots(solid.name, curve));
    }
    found.found("none", none);
    found.found("peaks", peaks);
    found.set_up("time step", "1/1000 of the elastic impact");
    let (x, y) = (Axis::linear("restitution asked for"), Axis::linear("restitution found"));
    found.plots.push(Plot { title: "Restitution of a normal impact".into(), x, y, series });
    Ok(found)
}
