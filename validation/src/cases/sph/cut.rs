//! A vertical cut in a cohesive continuum.

use super::{D, DENSITY, FLOOR, G, PACKING, continuum, filled, particles, rig, slice};
use crate::{
    Accept::{Above, Below},
    Bench, Case, CaseError, Criterion, Findings, Group,
};

pub const CASE: Case = Case {
    name: "sph-cut",
    title: "A vertical cut in cohesive matter",
    group: Group::Continuum,
    about: "A block with a free vertical face, 14 particles high, as a periodic slice; φ is 30°. With cohesion c a face stands up to \
            H_c = 4 c/(ρ g) tan(45° + φ/2). c is chosen such that the block is 0.7 and 1.4 of that high; the way its top corner sinks is watched.",
    source: "Terzaghi 1943, upper bound of the height of a vertical cut",
    criteria: &[
        Criterion::new("stands", "0.7 H_c: sinking of the top, over the height", "", Below(0.1), "it stands"),
        Criterion::new("falls", "1.4 H_c: sinking of the top, over the height", "", Above(0.2), "it falls"),
    ],
    run,
};

fn sinks(bench: &Bench, share: f64) -> Result<f64, CaseError> {
    let (angle, height, width) = (30f64, 14.0 * D, 16.0 * D);
    let critical = height / share;
    let cohesion = critical * DENSITY * PACKING * G / 4.0 / (45.0 + 0.5 * angle).to_radians().tan();
    let fill = format!("cohesion = {cohesion}\n{}", filled([0.0, 0.0, 0.0], [width, 4.0 * D, height]));
    let back = r#"
        [[walls]]
        name = "back"
        material = "floor"
        plane = { point = [0, 0, 0], normal = [1, 0, 0] }
        "#;
    let text = slice(0.0, 4.0 * width, height + 10.0 * D, false) + &continuum(angle, &fill) + FLOOR + back;
    let mut rig = rig(&text, bench)?;
    rig.run_to(1.5)?;
    // The top at the face: the highest of what was there at first.
    let at = |x: f64| x > width - 4.0 * D && x < width;
    let top = particles(&rig).position.iter().filter(|x| at(x.x)).map(|x| x.z).fold(0.0, f64::max);
    Ok(1.0 - (top + 0.5 * D) / height)
}

fn run(bench: &Bench) -> Result<Findings, CaseError> {
    let mut found = Findings::default();
    found.found("stands", sinks(bench, 0.7)?);
    found.found("falls", sinks(bench, 1.4)?);
    Ok(found)
}
