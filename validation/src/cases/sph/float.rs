//! Bodies in a continuum without friction.

use super::{D, DENSITY, PACKING, continuum, filled, rig};
use crate::{Accept::Below, Bench, Case, CaseError, Criterion, Findings, Group};
use glam::DVec3;

pub const CASE: Case = Case {
    name: "sph-float",
    title: "A box floats in a continuum without friction",
    group: Group::Continuum,
    about: "A box of half the bulk density, six particles wide, is put into a bath without friction. It comes to rest half under.",
    source: "Archimedes",
    criteria: &[
        Criterion::new("depth", "share of the box under the surface off a half", "", Below(0.05), "0.5"),
        Criterion::new("rest", "speed of the box at the end, over √(g d)", "", Below(0.05), "0"),
    ],
    run,
};

fn run(bench: &Bench) -> Result<Findings, CaseError> {
    let mut found = Findings::default();
    let (wide, deep, side) = (20.0 * D, 12.0 * D, 6.0 * D);
    let half = 0.5 * DENSITY * PACKING;
    let head = super::head(0.0, DVec3::new(0.0, 0.0, -0.1), DVec3::new(wide, wide, 2.0 * deep), "");
    let body = format!(
        r#"
        [materials.wood]
        density = {half}
        young = "10 MPa"
        restitution = 0.3
        friction = 0.3
        [[bodies]]
        name = "box"
        mesh = "box"
        scale = {side}
        material = "wood"
        at = [{}, {}, {}]
        [[walls]]
        name = "basin"
        material = "floor"
        box = {{ min = [0, 0, 0], max = [{wide}, {wide}, 1], open = ["top"] }}
        [[measure]]
        name = "bodies"
        bodies = {{}}
        every = "10 ms"
        "#,
        0.5 * wide,
        0.5 * wide,
        deep + 0.6 * side,
    );
    let fill = filled([0.0; 3], [wide, wide, deep]);
    let mut rig = rig(&(head + &continuum(0.0, &fill) + &body), bench)?;
    rig.run_to(bench.size.pick(3.0, 6.0, 10.0))?;
    let frame = rig.world.frame();
    let (body, sand) = (frame.grains(), super::particles(&rig));
    let (z, speed) = (body.position[0].z, body.velocity[0].length());
    // The surface where the box is not, from the volume of matter and of what is under.
    let volume = sand.mass.iter().sum::<f64>() / (DENSITY * PACKING);
    let under = |level: f64| ((level - (z - 0.5 * side)) / side).clamp(0.0, 1.0);
    let mut level = volume / (wide * wide);
    for _ in 0..50 {
        level = (volume + under(level) * side.powi(3)) / (wide * wide);
    }
    found.found("depth", (under(level) - 0.5).abs());
    found.found("rest", speed / super::unit());
    Ok(found)
}
