//! The weight that a sticky contact holds.

use crate::{Accept::Near, Bench, Case, CaseError, Criterion, Findings, Group, Rig};
use barchan_core::solver::{Contact, Partner};
use barchan_io::plot::{Axis, Plot, Series};
use glam::DVec3;
use std::f64::consts::PI;

pub const CASE: Case = Case {
    name: "pull-off",
    title: "Pull-off force of a sticky grain",
    group: Group::Verification,
    about: "A grain of 0.5 mm radius and 0.05 J/m² of surface energy is pressed against a ceiling, and against a second grain of 1 mm that is \
            glued to it, by its weight under a gravity that points up. Gravity is then turned round slowly, until the grain comes off: \
            when its weight is 4πγR* (Derjaguin, Muller and Toporov), with R* = R on the ceiling and 1/R* = 1/R₁ + 1/R₂ between grains.",
    source: "Derjaguin, Muller and Toporov 1975, J. Colloid Interface Sci. 53, 314, closed form",
    criteria: &[
        Criterion::new("ceiling", "weight at which it leaves the ceiling over 4πγR", "", Near(1.0, 5e-3), "1"),
        Criterion::new("grain", "weight at which it leaves the other grain over 4πγR*", "", Near(1.0, 5e-3), "1"),
    ],
    run,
};

const SMALL: f64 = 0.5e-3;
const LARGE: f64 = 1e-3;
const DENSITY: f64 = 2500.0;
const ENERGY: f64 = 0.05;
/// Time in which the weight goes from −0.2 to 1.2 of the pull-off force [s]: hundreds of swings of the contact.
const TIME: f64 = 0.05;
/// Steps between two points of the figure.
const SHOWN: u64 = 100;

fn scene(under_grain: bool) -> String {
    let (mut z, mut grains) = (0.0, String::new());
    let mut grain = |material: &str, radius: f64| {
        z -= radius;
        grains += &format!("[[grains]]\nmaterial = \"{material}\"\nradius = {radius}\nat = [[0, 0, {z}]]\n");
        z -= radius;
    };
    if under_grain {
        grain("glued", LARGE);
    }
    grain("grain", SMALL);
    let material = |name: &str| {
        format!(
            "[materials.{name}]\ndensity = {DENSITY}\nyoung = \"100 MPa\"\nrestitution = 0.3\nfriction = 0.5\ncohesion = {ENERGY}\n"
        )
    };
    format!(
        "duration = 1\ngravity = [0, 0, 10]\n[domain]\nmin = [-0.01, -0.01, -0.01]\nmax = [0.01, 0.01, 0.001]\n\
         {}{}[[pairs]]\nbetween = [\"glued\", \"glued\"]\ncohesion = 10\n\
         [[walls]]\nmaterial = \"{}\"\nplane = {{ point = [0, 0, 0], normal = [0, 0, -1] }}\n{grains}",
        material("glued"),
        material("grain"),
        if under_grain { "glued" } else { "grain" }
    )
}

fn run(bench: &Bench) -> Result<Findings, CaseError> {
    let mut found = Findings::default();
    let mass = 4.0 / 3.0 * PI * SMALL.powi(3) * DENSITY;
    let mut series = Vec::new();
    for (key, under_grain) in [("ceiling", false), ("grain", true)] {
        let radius = if under_grain { SMALL * LARGE / (SMALL + LARGE) } else { SMALL };
        let pull = 4.0 * PI * ENERGY * radius;
        let mut rig = Rig::new(&scene(under_grain), bench)?;
        let id = u32::from(under_grain);
        let (mut curve, mut held, mut touched) = (Vec::new(), f64::NAN, false);
        while rig.world.time() < TIME {
            let weight = 1.4 * rig.world.time() / TIME - 0.2;
            rig.world.set_gravity(DVec3::Z * (-weight * pull / mass));
            rig.step()?;
            let ours = |c: &&Contact| c.grain == id || c.partner == Partner::Grain(id);
            match rig.world.contacts().iter().find(ours) {
                Some(c) => {
                    touched = true;
                    if rig.world.steps().is_multiple_of(SHOWN) {
                        curve.push([1e6 * c.overlap, weight]);
                    }
                }
                None if touched => {
                    held = weight;
                    break;
                }
                None => {}
            }
        }
        found.found(key, held);
        found.set_up(format!("pull-off force, {key}"), format!("{:.2} µN", 1e6 * pull));
        series.push(Series::line(format!("from the {key}"), curve));
    }
    series.push(Series::dashes("Derjaguin, Muller and Toporov", vec![[0.0, 1.0], [0.5, 1.0]]));
    found.plots.push(Plot {
        title: "Weight of a grain that is pulled off".into(),
        x: Axis::linear("overlap [µm]"),
        y: Axis::linear("weight over 4πγR*"),
        series,
    });
    Ok(found)
}
