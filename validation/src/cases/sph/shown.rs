//! The grains that stand for a continuum in pictures.

use super::{D, FLOOR, continuum, filled, rig, slice};
use crate::{Accept::Below, Bench, Case, CaseError, Criterion, Findings, Group};
use barchan_core::frame::{Population, UPSAMPLED};
use std::collections::HashMap;

pub const CASE: Case = Case {
    name: "sph-shown",
    title: "The grains that are shown of a continuum",
    group: Group::Continuum,
    about: "A bed on a floor and a column that collapses beside a wall, each with 32 grains a particle. Grains of the bed at rest do not sink; none is \
            inside a wall; where matter is full they lie evenly, by their number in cubes of one spacing.",
    source: "Spec: even, none in walls, none of a bed sinks",
    criteria: &[
        Criterion::new(
            "inside",
            "grains whose centre is nearer to a wall than their radius, of all",
            "",
            Below(0.0),
            "0",
        ),
        Criterion::new(
            "bed",
            "bed after 2 s (30 s at standard size): spread of the number in a cube, over the mean",
            "",
            Below(0.3),
            "0",
        ),
        Criterion::new("heap", "collapsed column: the same", "", Below(0.3), "0"),
        Criterion::new("sinks", "bed: sinking of the grains' mean height, over the spacing", "", Below(0.02), "0"),
    ],
    run,
};

const RADIUS: f64 = 0.08 * D;

fn shown(rig: &crate::Rig) -> Result<Population, CaseError> {
    let frame = rig.world.frame();
    frame.population(UPSAMPLED).cloned().ok_or_else(|| CaseError::Unmeasured("no grains are shown".into()))
}

/// Spread over mean of the number of grains in cubes of a spacing, whose middle has particles all around.
fn spread(grains: &Population, particles: &Population) -> f64 {
    let cube = |x: &glam::DVec3| (*x / D).floor().as_i64vec3().to_array();
    let mut filled: HashMap<[i64; 3], f64> = HashMap::new();
    particles.position.iter().for_each(|x| *filled.entry(cube(x)).or_default() += 1.0);
    let mut count: HashMap<[i64; 3], f64> = HashMap::new();
    grains.position.iter().for_each(|x| *count.entry(cube(x)).or_default() += 1.0);
    // Inside: the 27 cubes around hold 24 particles and more.
    let around = |c: &[i64; 3]| {
        let shifts = (0..27).map(|k| [k % 3 - 1, k / 3 % 3 - 1, k / 9 - 1]);
        shifts.map(|s| filled.get(&[0, 1, 2].map(|k| c[k] + s[k])).copied().unwrap_or(0.0)).sum::<f64>()
    };
    let inside: Vec<f64> =
        filled.keys().filter(|c| around(c) >= 24.0).map(|c| count.get(c).copied().unwrap_or(0.0)).collect();
    let mean = inside.iter().sum::<f64>() / inside.len() as f64;
    (inside.iter().map(|n| (n - mean).powi(2)).sum::<f64>() / inside.len() as f64).sqrt() / mean
}

fn run(bench: &Bench) -> Result<Findings, CaseError> {
    let mut found = Findings::default();
    let more = format!("grains = {{ per_particle = 32, radius = {RADIUS} }}\n");
    let side = 8.0 * D;
    let fill = filled([0.0; 3], [side, 4.0 * D, side]);
    let mut bed =
        rig(&(slice(0.0, side, 2.0 * side, true) + &continuum(30.0, &(more.clone() + &fill)) + FLOOR), bench)?;
    let mean = |p: &Population| p.position.iter().map(|x| x.z).sum::<f64>() / p.len() as f64;
    bed.run_to(0.5)?;
    let before = mean(&shown(&bed)?);
    bed.run_to(bench.size.pick(2.0, 30.0, 30.0))?;
    let grains = shown(&bed)?;
    found.found("sinks", (mean(&grains) - before).abs() / D);
    found.found("bed", spread(&grains, &super::particles(&bed)));
    let mut inside = grains.position.iter().filter(|x| x.z < RADIUS * (1.0 - 1e-6)).count();
    let mut all = grains.len();

    let width = bench.size.pick(12.0, 24.0, 30.0) * D;
    let back = r#"
        [[walls]]
        name = "back"
        material = "floor"
        plane = { point = [0, 0, 0], normal = [1, 0, 0] }
        "#;
    let fill = filled([0.0; 3], [width, 4.0 * D, width]);
    let text = slice(0.0, 4.0 * width, 2.0 * width, false) + &continuum(30.0, &(more + &fill)) + FLOOR + back;
    let mut heap = rig(&text, bench)?;
    heap.run_to(bench.size.pick(0.8, 1.5, 2.0))?;
    let grains = shown(&heap)?;
    found.found("heap", spread(&grains, &super::particles(&heap)));
    inside += grains.position.iter().filter(|x| x.z.min(x.x) < RADIUS * (1.0 - 1e-6)).count();
    all += grains.len();
    found.found("inside", inside as f64 / all as f64);
    found.set_up("grains", format!("{all}"));
    Ok(found)
}
