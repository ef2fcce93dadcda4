//! Heaps of a continuum that stand still.

use super::{D, FLOOR, continuum, cut, filled, flank, particles, rig, rms, slice, surface, unit};
use crate::{Accept::Below, Bench, Case, CaseError, Criterion, Findings, Group};

pub const CASE: Case = Case {
    name: "sph-still",
    title: "Wedges of a continuum stand still, and steeper ones come to their friction angle",
    group: Group::Continuum,
    about: "A wedge, 14 particles high, is cut from a bed on a rough floor, as a periodic slice. Two degrees below its friction angle it stands: \
            from 2 s on, when the density of the filling has been repaired, what moves, the toe and the centre of mass are watched for 3 s (60 s at standard size). Cut at it, its flank keeps its slope. Cut six degrees above, it comes \
            to rest near φ. φ is 20°, 30° and 40°.",
    source: "Coulomb friction: the slope at which a layer just flows",
    criteria: &[
        Criterion::new(
            "speed",
            "cut at φ − 2°: root mean square of the speeds at the end, over √(g d)",
            "",
            Below(1e-3),
            "0",
        ),
        Criterion::new("toe", "cut at φ − 2°: way of the toe, over the spacing", "", Below(0.1), "0"),
        Criterion::new(
            "centre",
            "cut at φ − 2°: sinking of the centre of mass, over the spacing",
            "",
            Below(0.02),
            "0",
        ),
        Criterion::new("stands", "cut at φ: largest change of the flank in 2 s (10 s)", "deg", Below(1.0), "0"),
        Criterion::new("angle", "cut at φ + 6°: largest deviation of the flank from φ", "deg", Below(3.0), "0"),
    ],
    run,
};

/// A wedge with its ridge at the left end, cut at an angle [°].
fn wedge(bench: &Bench, angle: f64, slope: f64) -> Result<crate::Rig, CaseError> {
    let (height, tan) = (14.0 * D, slope.to_radians().tan());
    let length = height / tan + 30.0 * D;
    let fill = filled([0.0, 0.0, 0.0], [length - 20.0 * D, 4.0 * D, height]);
    let back = r#"
        [[walls]]
        name = "back"
        material = "floor"
        plane = { point = [0, 0, 0], normal = [1, 0, 0] }
        "#;
    let text = slice(0.0, length, height + 10.0 * D, false) + &continuum(angle, &fill) + FLOOR + back;
    let mut rig = rig(&text, bench)?;
    cut(&mut rig, |x| x.z < height - x.x * tan);
    Ok(rig)
}

fn toe(rig: &crate::Rig) -> f64 {
    particles(rig).position.iter().map(|x| x.x).fold(0.0, f64::max)
}

fn centre(rig: &crate::Rig) -> f64 {
    let p = particles(rig);
    super::mean(&p, |i| p.position[i].z)
}

fn run(bench: &Bench) -> Result<Findings, CaseError> {
    let mut found = Findings::default();
    let (mut speed, mut way, mut sunk, mut off, mut changed) = (0f64, 0f64, 0f64, 0f64, 0f64);
    let watched = bench.size.pick(3.0, 60.0, 60.0);
    found.set_up("watched", format!("{watched} s"));
    for angle in [20.0, 30.0, 40.0] {
        let mut rig = wedge(bench, angle, angle - 2.0)?;
        rig.run_to(2.0)?;
        let before = (toe(&rig), centre(&rig));
        rig.run_to(2.0 + watched)?;
        speed = speed.max(rms(&particles(&rig)) / unit());
        way = way.max((toe(&rig) - before.0).abs() / D);
        sunk = sunk.max((centre(&rig) - before.1).abs() / D);
        let mut rig = wedge(bench, angle, angle)?;
        let slope = |rig: &crate::Rig| flank(&surface(&particles(rig), 1.5 * D), 0.2, 0.8);
        rig.run_to(1.0)?;
        let first = slope(&rig);
        rig.run_to(bench.size.pick(3.0, 11.0, 11.0))?;
        changed = changed.max((slope(&rig) - first).abs());
        let mut rig = wedge(bench, angle, angle + 6.0)?;
        rig.run_to(3.0)?;
        let slope = flank(&surface(&particles(&rig), 1.5 * D), 0.2, 0.8);
        found.remarks.push(format!("φ {angle}°: cut at {}°, the flank came to rest at {slope:.1}°", angle + 6.0));
        off = off.max((slope - angle).abs());
    }
    found.found("speed", speed);
    found.found("toe", way);
    found.found("centre", sunk);
    found.found("stands", changed);
    found.found("angle", off);
    Ok(found)
}
