//! A ball that is dropped into a bed of a continuum.

use super::{D, DENSITY, G, PACKING, continuum, filled, head, rig, unit};
use crate::fit::line;
use crate::{
    Accept::{Below, Between},
    Bench, Case, CaseError, Criterion, Findings, Group,
};
use barchan_io::plot::{Axis, Plot, Series};
use glam::DVec3;

pub const CASE: Case = Case {
    name: "sph-drop",
    title: "A ball dropped into a bed of a continuum",
    group: Group::Continuum,
    about: "A ball, six particles across and twice as dense as the bed, is dropped from three heights; φ is 30°. How deep it goes grows as the cube root of \
            the whole way that it falls. It comes to rest.",
    source: "Uehara, Ambroso, Ojha, Durian 2003, Phys. Rev. Lett. 90, 194301",
    criteria: &[
        Criterion::new(
            "power",
            "exponent of the depth with the way fallen",
            "",
            Between(1.0 / 3.0 - 0.07, 1.0 / 3.0 + 0.07),
            "1/3",
        ),
        Criterion::new("rest", "largest speed of the ball at the end, over √(g d)", "", Below(0.05), "0"),
    ],
    run,
};

/// Depth [m] and speed [m/s] of the ball long after a fall from that height [m] over the bed.
fn dropped(bench: &Bench, fall: f64) -> Result<[f64; 2], CaseError> {
    let (wide, deep) = bench.size.pick((20.0 * D, 14.0 * D), (32.0 * D, 24.0 * D), (48.0 * D, 32.0 * D));
    let size = 6.0 * D;
    let density = 2.0 * DENSITY * PACKING;
    // It comes from just above the bed with the speed of its fall.
    let speed = (2.0 * G * fall).sqrt();
    let start = deep + 0.5 * size + 0.5 * D;
    let body = format!(
        r#"
        [materials.ball]
        density = {density}
        young = "10 MPa"
        restitution = 0.3
        friction = 0.3
        [[bodies]]
        name = "ball"
        mesh = "sphere"
        scale = {}
        material = "ball"
        at = [{}, {}, {start}]
        velocity = [0, 0, {}]
        [[walls]]
        name = "basin"
        material = "floor"
        box = {{ min = [0, 0, 0], max = [{wide}, {wide}, 10], open = ["top"] }}
        "#,
        0.5 * size,
        0.5 * wide,
        0.5 * wide,
        -speed
    );
    let space = head(0.0, DVec3::new(0.0, 0.0, -0.1), DVec3::new(wide, wide, deep + 20.0 * D), "");
    let fill = filled([0.0; 3], [wide, wide, deep]);
    let mut rig = rig(&(space + &continuum(30.0, &fill) + &body), bench)?;
    rig.run_to(bench.size.pick(0.6, 1.0, 1.0))?;
    let body = rig.world.frame().grains().clone();
    Ok([deep - (body.position[0].z - 0.5 * size), body.velocity[0].length()])
}

fn run(bench: &Bench) -> Result<Findings, CaseError> {
    let mut found = Findings::default();
    let (mut seen, mut speed) = (Vec::new(), 0f64);
    for fall in [2.0 * D, 8.0 * D, 32.0 * D] {
        let [depth, rest] = dropped(bench, fall)?;
        speed = speed.max(rest);
        seen.push([fall + depth, depth]);
        found.remarks.push(format!("from {:.0} d: {:.2} d deep", fall / D, depth / D));
    }
    let logs: Vec<[f64; 2]> = seen.iter().map(|s| [s[0].ln(), s[1].max(1e-9).ln()]).collect();
    found.found("power", line(&logs).map_or(f64::NAN, |l| l.slope.value));
    found.found("rest", speed / unit());
    found.plots.push(Plot {
        title: "Depth of a ball dropped into sand".into(),
        x: Axis::log("way fallen [m]"),
        y: Axis::log("depth [m]"),
        series: vec![Series::dots("barchan", seen)],
    });
    Ok(found)
}
