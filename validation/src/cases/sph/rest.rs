//! A bed and a collapsed heap of a continuum, long after they have come to rest.

use super::{D, FLOOR, continuum, filled, particles, rig, rms, slice, unit};
use crate::{Accept::Below, Bench, Case, CaseError, Criterion, Findings, Group, Rig};

pub const CASE: Case = Case {
    name: "sph-rest",
    title: "A bed and a collapsed heap of a continuum at rest",
    group: Group::Continuum,
    about: "A bed of ten layers, and the heap that a planar column of a = 1, 14 particles wide, has become after 2.5 s, on a rough floor, as periodic slices; \
            φ is 30°. What still moves, the heap's toe and both centres of mass are watched for 2 s (60 s at standard size).",
    source: "Matter below its friction angle has strength at rest",
    criteria: &[
        Criterion::new("bed", "bed: root mean square of the speeds at the end, over √(g d)", "", Below(1e-3), "0"),
        Criterion::new("heap", "heap: root mean square of the speeds at the end, over √(g d)", "", Below(1e-3), "0"),
        Criterion::new("toe", "heap: way of the toe, over the spacing", "", Below(0.1), "0"),
        Criterion::new("centre", "largest sinking of a centre of mass, over the spacing", "", Below(0.02), "0"),
    ],
    run,
};

const BACK: &str = r#"
        [[walls]]
        name = "back"
        material = "floor"
        plane = { point = [0, 0, 0], normal = [1, 0, 0] }
        "#;

fn toe(rig: &Rig) -> f64 {
    particles(rig).position.iter().map(|x| x.x).fold(0.0, f64::max)
}

fn centre(rig: &Rig) -> f64 {
    let p = particles(rig);
    super::mean(&p, |i| p.position[i].z)
}

fn run(bench: &Bench) -> Result<Findings, CaseError> {
    let mut found = Findings::default();
    let watched = bench.size.pick(2.0, 60.0, 60.0);
    found.set_up("watched", format!("{watched} s"));
    let fill = filled([0.0; 3], [8.0 * D, 4.0 * D, 10.0 * D]);
    let mut bed = rig(&(slice(0.0, 8.0 * D, 20.0 * D, true) + &continuum(30.0, &fill) + FLOOR), bench)?;
    bed.run_to(1.0)?;
    let before = centre(&bed);
    bed.run_to(1.0 + watched)?;
    let sunk = (centre(&bed) - before).abs();
    found.found("bed", rms(&particles(&bed)) / unit());

    let width = 14.0 * D;
    let fill = filled([0.0; 3], [width, 4.0 * D, width]);
    let text = slice(0.0, 5.0 * width, 2.0 * width, false) + &continuum(30.0, &fill) + FLOOR + BACK;
    let mut heap = rig(&text, bench)?;
    heap.run_to(2.5)?;
    let before = (toe(&heap), centre(&heap));
    heap.run_to(2.5 + watched)?;
    found.found("heap", rms(&particles(&heap)) / unit());
    found.found("toe", (toe(&heap) - before.0).abs() / D);
    let of_heap = (centre(&heap) - before.1).abs();
    found.remarks.push(format!("centres sank by {:.4} d (bed) and {:.4} d (heap)", sunk / D, of_heap / D));
    found.found("centre", sunk.max(of_heap) / D);
    Ok(found)
}
