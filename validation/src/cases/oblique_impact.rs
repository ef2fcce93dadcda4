//! Oblique impacts on a plane, from sticking to sliding.

use crate::impact::{Ball, Solid, slip_after, strike};
use crate::oblique::Spring;
use crate::{Accept::Below, Bench, Case, CaseError, Criterion, Findings, Group, table};
use barchan_io::plot::{Axis, Plot, Series};
use glam::DVec3;

pub const CASE: Case = Case {
    name: "oblique-impact",
    title: "Oblique impact of a sphere on a plane",
    group: Group::Verification,
    about: "Test 4: a sphere of 2.5 mm radius meets a rigid plane at 3.9 m/s, 5° to 85° from its normal, of aluminium oxide and \
            of aluminium alloy, both with friction 0.092 and restitution 0.98. Beyond atan(3.5 μ(1+e)) = 32.5° it slides all the \
            while, and impulse and friction give its motion in closed form; below, it sticks for a part of the impact and the \
            tangential spring decides, for which the published simulation is the measure; its spring is `mindlin-displacement`, and is \
            used here, with `mindlin` beside it. Deviations in the sticking part are \
            given over the value for the tangential restitution, which stays far from 0, and over the range of the whole \
            published curve for the spin and the rebound angle, which begin at or cross 0.",
    source: "Chung and Ooi 2011, Granular Matter 13, 643, test 4; experiment: Kharaz, Gorham and Salman 2001",
    criteria: &[
        Criterion::new(
            "oxide slides",
            "oxide, 35° and more: tangential restitution and spin off the closed form",
            "",
            Below(0.02),
            "0",
        ),
        Criterion::new(
            "alloy slides",
            "alloy, 35° and more: tangential restitution and spin off the closed form",
            "",
            Below(0.02),
            "0",
        ),
        Criterion::new(
            "oxide, mindlin, slides",
            "oxide, 35° and more, `mindlin`: tangential restitution and spin off the closed form",
            "",
            Below(0.02),
            "0",
        ),
        Criterion::new(
            "stick restitution",
            "oxide, 30° and less: tangential restitution off the published",
            "",
            Below(0.05),
            "0, read to 1 %",
        ),
        Criterion::new(
            "stick spin",
            "oxide, 30° and less: spin off the published, over its range of 617 rad/s",
            "",
            Below(0.05),
            "0, read to 1 %",
        ),
        Criterion::new(
            "stick angle",
            "oxide, 30° and less: rebound angle off the published, over its range of 86.2°",
            "",
            Below(0.05),
            "0, read to 1 %",
        ),
        Criterion::new(
            "law",
            "all angles, all runs: slip at the contact off a separate integration of the law, over that before",
            "",
            Below(0.01),
            "0",
        ),
    ],
    run,
};

const OXIDE: Solid = Solid {
    name: "aluminium oxide",
    young: 3.8e11,
    poisson: 0.23,
    density: 4000.0,
    friction: 0.092,
    restitution: 0.98,
};
const ALLOY: Solid = Solid {
    name: "aluminium alloy",
    young: 7.0e10,
    poisson: 0.33,
    density: 2700.0,
    friction: 0.092,
    restitution: 0.98,
};
const RADIUS: f64 = 2.5e-3;
const SPEED: f64 = 3.9;
/// From here on the sphere slides throughout [deg].
const SLIDES: f64 = 32.52;
/// Ranges of the published spins [rad/s] and rebound angles [deg].
const RANGES: [f64; 2] = [617.0, 86.2];

/// Tangential restitution, spin [rad/s], and direction in which the point of contact leaves, from the normal [deg].
type Rebound = [f64; 3];

fn rebound(bench: &Bench, spring: Spring, ball: &Ball) -> Result<Rebound, CaseError> {
    let seen = strike(bench, spring, ball, None)?;
    let (v, spin) = (seen.velocity[0], seen.spin[0].y);
    Ok([v.x / ball.velocity.x, -spin, (v.x - RADIUS * spin).atan2(v.z).to_degrees()])
}

/// The same where it slides throughout: friction is μ times the normal impulse.
fn sliding(solid: Solid, angle: f64) -> Rebound {
    let (sin, cos) = angle.to_radians().sin_cos();
    let lost = solid.friction * (1.0 + solid.restitution) * SPEED * cos;
    let spin = 2.5 * lost / RADIUS;
    let slip = SPEED * sin - lost - RADIUS * spin;
    [1.0 - lost / (SPEED * sin), -spin, slip.atan2(solid.restitution * SPEED * cos).to_degrees()]
}

fn run(bench: &Bench) -> Result<Findings, CaseError> {
    let mut found = Findings::default();
    let published = table(include_str!("../../reference/chung-ooi-4.csv"));
    let measured = table(include_str!("../../reference/kharaz.csv"));
    let mut curves: Vec<(String, Vec<(f64, Rebound)>)> = Vec::new();
    let (mut stick, mut law) = ([0f64; 3], 0f64);
    let runs = [
        ("oxide slides", OXIDE, Spring::Displacement),
        ("alloy slides", ALLOY, Spring::Displacement),
        ("oxide, mindlin, slides", OXIDE, Spring::Mindlin),
    ];
    for (key, solid, spring) in runs {
        let (mut slide, mut curve) = (0f64, Vec::new());
        for row in &published {
            let (sin, cos) = row[0].to_radians().sin_cos();
            let velocity = SPEED * DVec3::new(sin, 0.0, -cos);
            let ball = Ball { solid, radius: RADIUS, velocity, spin: DVec3::ZERO };
            let ours = rebound(bench, spring, &ball)?;
            curve.push((row[0], ours));
            let after = solid.restitution * ours[2].to_radians().tan();
            law = law.max((after - slip_after(&ball, spring)).abs() * cos / sin);
            if row[0] > SLIDES {
                let exact = sliding(solid, row[0]);
                slide = (0..2).map(|k| (ours[k] / exact[k] - 1.0).abs()).fold(slide, f64::max);
            } else if key == "oxide slides" {
                let off = [0, 1, 2].map(|k| (ours[k] - row[k + 1]).abs());
                let off = [off[0] / row[1], off[1] / RANGES[0], off[2] / RANGES[1]];
                stick = [0, 1, 2].map(|k| off[k].max(stick[k]));
            }
        }
        found.found(key, slide);
        curves.push((format!("{}, {}", solid.name, spring.name()), curve));
    }
    for (key, off) in ["stick restitution", "stick spin", "stick angle"].into_iter().zip(stick) {
        found.found(key, off);
    }
    found.found("law", law);
    found.remarks.push(
        "At 5° the sphere never slips, and what it keeps depends on how the tangential spring follows the contact as it grows. With \
         stiffness times displacement the published 0.948 comes out to three digits; with `mindlin`, which lets nothing that \
         pressing adds carry a force, 0.86. From 10° on the two differ by 2 % and less."
            .into(),
    );
    found.set_up("time step", "1/1000 of the elastic impact");
    found.set_up("tangential law", "mindlin-displacement, as the published; mindlin beside it");
    let names = [
        ("Tangential restitution", "tangential restitution"),
        ("Spin after the impact", "spin after the impact [rad/s]"),
        ("Rebound angle at the contact", "rebound angle [deg]"),
    ];
    for (k, (title, label)) in names.into_iter().enumerate() {
        let mut series: Vec<Series> = curves
            .iter()
            .map(|(name, c)| Series::line(format!("barchan, {name}"), c.iter().map(|(a, r)| [*a, r[k]]).collect()))
            .collect();
        let exact = (33..=88).map(|a| [f64::from(a), sliding(OXIDE, f64::from(a))[k]]).collect();
        series.push(Series::dashes("sliding, closed form", exact));
        series.push(Series::rings("Chung and Ooi", published.iter().map(|r| [r[0], r[k + 1]]).collect()));
        if k < 2 {
            series.push(Series::dots("experiment (Kharaz)", measured.iter().map(|r| [r[0], r[k + 1]]).collect()));
        }
        let (x, y) = (Axis::linear("angle of impact [deg]"), Axis::linear(label));
        found.plots.push(Plot { title: title.into(), x, y, series });
    }
    Ok(found)
}
