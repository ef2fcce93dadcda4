//! Matter as a continuum of smoothed particles: set-ups that its cases share.

pub mod bed;
pub mod blobs;
pub mod collapse;
pub mod cut;
pub mod drop;
pub mod flight;
pub mod float;
pub mod hourglass;
pub mod inertia;
pub mod janssen;
pub mod refine;
pub mod repose;
pub mod rest;
pub mod round;
pub mod shown;
pub mod silo;
pub mod slope;
pub mod still;
pub mod twins;

use crate::{Bench, CaseError, Rig};
use barchan_core::frame::Population;
use barchan_sph::Sph;
use glam::DVec3;

/// Spacing of particles [m].
pub const D: f64 = 0.02;
pub const G: f64 = 9.81;
/// Density of a grain [kg/m³] and packing: a bulk density of 1550 kg/m³.
pub const DENSITY: f64 = 2650.0;
pub const PACKING: f64 = 0.585;

/// Speed of a particle that has fallen by half a spacing [m/s]: the unit of what counts as still.
pub fn unit() -> f64 {
    (G * D).sqrt()
}

/// A continuum in a scene: its friction angle [°] and what else is to be said under `[[continuum]]`.
pub fn continuum(angle: f64, more: &str) -> String {
    format!(
        r#"
        [[continuum]]
        name = "sand"
        density = {DENSITY}
        packing = {PACKING}
        spacing = {D}
        friction_angle = "{angle} deg"
        {more}
        "#
    )
}

/// The head of a scene: gravity tilted by an angle [°] towards +x, and the domain.
pub fn head(tilt: f64, min: DVec3, max: DVec3, periodic: &str) -> String {
    let (sin, cos) = tilt.to_radians().sin_cos();
    format!(
        r#"
        duration = 1000
        gravity = [{}, 0, {}]
        [domain]
        min = [{}, {}, {}]
        max = [{}, {}, {}]
        periodic = [{periodic}]
        outside = "remove"
        [materials.floor]
        density = 2650
        young = "10 MPa"
        restitution = 0.5
        friction = 0.3
        "#,
        G * sin,
        -G * cos,
        min.x,
        min.y,
        min.z,
        max.x,
        max.y,
        max.z,
    )
}

/// A rough floor at z = 0: matter does not slide on it.
pub const FLOOR: &str = r#"
        [[walls]]
        name = "floor"
        material = "floor"
        plane = { point = [0, 0, 0], normal = [0, 0, 1] }
        rough = { radius = "8 mm", spacing = "20 mm" }
        "#;

/// A slice, four particles thick and periodic in y, of a box from x = 0 to `length` and up to `height` [m], with a fill in it.
pub fn slice(tilt: f64, length: f64, height: f64, periodic_x: bool) -> String {
    let periodic = if periodic_x { r#""x", "y""# } else { r#""y""# };
    head(tilt, DVec3::new(0.0, 0.0, -0.1), DVec3::new(length, 4.0 * D, height), periodic)
}

/// `fill` by a box.
pub fn filled(min: [f64; 3], max: [f64; 3]) -> String {
    format!("fill = {{ box = {{ min = {min:?}, max = {max:?} }} }}")
}

/// Takes out what lies outside a shape, as a cutter would.
pub fn cut(rig: &mut Rig, stays: impl Fn(DVec3) -> bool) {
    if let Some(sph) = rig.world.solver_mut::<Sph>() {
        barchan_core::solver::Solver::remove_where(sph, &|_, x| !stays(x));
    }
}

/// The particles.
pub fn particles(rig: &Rig) -> Population {
    rig.world.frame().population("sph").cloned().unwrap_or_default()
}

/// Root mean square of the particles' speeds [m/s].
pub fn rms(p: &Population) -> f64 {
    (p.velocity.iter().map(|v| v.length_squared()).sum::<f64>() / p.len().max(1) as f64).sqrt()
}

/// Mean of a number over the particles.
pub fn mean(p: &Population, of: impl Fn(usize) -> f64) -> f64 {
    (0..p.len()).map(of).sum::<f64>() / p.len().max(1) as f64
}

/// Height of the surface [m] in bins of a width [m] along x: the top of the highest particle of each, by its middle.
pub fn surface(p: &Population, width: f64) -> Vec<[f64; 2]> {
    let mut tops: std::collections::BTreeMap<i64, f64> = std::collections::BTreeMap::new();
    for x in p.position.iter() {
        let top = tops.entry((x.x / width).floor() as i64).or_insert(0.0);
        *top = top.max(x.z + 0.5 * D);
    }
    tops.into_iter().map(|(k, z)| [(k as f64 + 0.5) * width, z]).collect()
}

/// Angle [°] of a flank that falls towards +x: a line through its surface between shares of its height.
pub fn flank(surface: &[[f64; 2]], low: f64, high: f64) -> f64 {
    let top = surface.iter().map(|s| s[1]).fold(0.0, f64::max);
    let peak = surface.iter().find(|s| s[1] == top).map_or(0.0, |s| s[0]);
    let on = |s: &&[f64; 2]| s[0] >= peak && (low * top..=high * top).contains(&s[1]);
    let points: Vec<[f64; 2]> = surface.iter().filter(on).copied().collect();
    crate::fit::line(&points).map_or(f64::NAN, |l| (-l.slope.value).atan().to_degrees())
}

/// A scene under test.
pub fn rig(text: &str, bench: &Bench) -> Result<Rig, CaseError> {
    Rig::new(text, bench)
}
