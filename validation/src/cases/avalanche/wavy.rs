//! A frictionless grain on wavy rock.

use super::{G, snow};
use crate::{Accept::Above, Accept::Below, Bench, Case, CaseError, Criterion, Findings, Group, Rig};
use barchan_io::plot::{Axis, Plot, Series};

pub const CASE: Case = Case {
    name: "avalanche-wavy",
    title: "Wavy rock takes no energy",
    group: Group::Avalanche,
    about: "A grain without friction, and with a restitution of 0.1, is started at 20 m/s from a crest of z = 50 cos(2πx/500 m), sampled every 5 m. It \
            never lifts off. Rock without kinks keeps its energy over ten waves. On a bilinear surface of the same heights every kink takes some.",
    source: "Conservation of energy",
    criteria: &[
        Criterion::new("smooth", "rock: energy lost over ten waves, of that above the troughs", "", Below(5e-3), "0"),
        Criterion::new("waves", "rock: waves passed", "", Above(10.0), "10"),
        Criterion::new(
            "kinks",
            "bilinear surface: energy lost until it is caught or has passed",
            "",
            Above(0.1),
            "about 0.3",
        ),
    ],
    run,
};

const RADIUS: f64 = 0.5;
const WAVE: f64 = 500.0;
const WAVES: f64 = 10.0;

fn scene(rock: bool) -> String {
    let formula = "formula = \"60 + 50*cos(6.283185307179586*x/500)\"";
    let heights = match rock {
        true => format!("rock = {{ {formula} }}"),
        // So steep that the ground never slides.
        false => format!("{formula}\nsoil = {{ inside = \"75 deg\", outside = \"70 deg\", stop = \"65 deg\" }}"),
    };
    format!(
        r#"
        duration = 400
        gravity = [0, 0, -{G}]
        [domain]
        min = [0, -20, -10]
        max = [{}, 20, 200]
        {}
        [ground]
        cell = 5
        floor = 0
        friction = 0
        rolling = 0
        {heights}
        [[grains]]
        material = "snow"
        radius = {RADIUS}
        at = [[{WAVE}, 2.5, {}]]
        velocity = [20, 0, 0]
        "#,
        (WAVES + 2.0) * WAVE,
        snow(333.0, "80 MPa", 0.0, 0.1),
        110.0 + RADIUS
    )
}

fn run(bench: &Bench) -> Result<Findings, CaseError> {
    let mut found = Findings::default();
    let mut series = Vec::new();
    for (key, rock) in [("smooth", true), ("kinks", false)] {
        let mut rig = Rig::new(&scene(rock), bench)?;
        let energy = |rig: &Rig| {
            let p = rig.world.frame().grains().clone();
            (
                p.position[0].x,
                0.5 * p.velocity[0].length_squared() + G * (p.position[0].z - 10.0 - RADIUS),
                p.velocity[0].x,
            )
        };
        let (_, first, _) = energy(&rig);
        let (mut curve, mut last) = (Vec::new(), (0.0, 0.0));
        while rig.world.time() < 300.0 {
            rig.step()?;
            if rig.world.steps().is_multiple_of(200) {
                let (x, now, speed) = energy(&rig);
                last = ((x - WAVE) / WAVE, 1.0 - now / first);
                curve.push([last.0, now / first]);
                // It has passed all waves, or turns back in a trough.
                if last.0 >= WAVES || speed < 0.0 {
                    break;
                }
            }
        }
        found.found(key, last.1);
        if rock {
            found.found("waves", last.0);
        } else {
            found.remarks.push(format!("On the bilinear surface it came {:.1} waves far.", last.0));
        }
        found.set_up(format!("steps, {key}"), rig.world.steps().to_string());
        series.push(Series::line(if rock { "rock" } else { "bilinear" }, curve));
    }
    found.plots.push(Plot {
        title: "Energy of a frictionless grain on a wavy surface".into(),
        x: Axis::linear("waves passed"),
        y: Axis::linear("energy over that at first"),
        series,
    });
    Ok(found)
}
