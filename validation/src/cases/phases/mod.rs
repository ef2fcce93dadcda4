//! Sand in three phases: set-ups that its cases share. Lengths are told in cells of the grid.

pub mod account;
pub mod bearing;
pub mod clumps;
pub mod collapse;
pub mod directions;
pub mod free;
pub mod incline;
pub mod janssen;
pub mod refine;
pub mod repose;
pub mod slots;
pub mod solid;

use crate::{Bench, CaseError, Rig};
use barchan_core::frame::Population;
use barchan_core::solver::Solver;
use barchan_flip::{Flip, LIQUID};
use glam::DVec3;

/// Side of a cell [m].
pub const H: f64 = 0.02;
pub const G: f64 = 9.81;
/// Density of a grain [kg/m³] and packing.
pub const DENSITY: f64 = 2650.0;
pub const PACKING: f64 = 0.60;
/// Thickness of a periodic slice [cells]: a brick of the grid.
pub const THICK: f64 = 8.0;

/// Speed of a parcel that has fallen by half a cell [m/s]: the unit of what counts as still.
pub fn unit() -> f64 {
    (G * H).sqrt()
}

/// A scene: gravity tilted by an angle [°] towards +x, a domain in cells, and the friction of its walls.
pub fn head(tilt: f64, min: [f64; 3], max: [f64; 3], periodic: &str, friction: f64) -> String {
    let (sin, cos) = tilt.to_radians().sin_cos();
    let [min, max] = [min, max].map(|x| x.map(|x| x * H));
    format!(
        r#"
        duration = 1000
        gravity = [{}, 0, {}]
        [domain]
        min = {min:?}
        max = {max:?}
        periodic = [{periodic}]
        outside = "remove"
        [materials.wall]
        density = 2650
        young = "10 MPa"
        restitution = 0.2
        friction = {friction}
        "#,
        G * sin,
        -G * cos,
    )
}

/// Sand of a friction angle [°] in a box given in cells, cells of `cell` [m].
pub fn sand(angle: f64, cell: f64, [min, max]: [[f64; 3]; 2]) -> String {
    let [min, max] = [min, max].map(|x| x.map(|x| x * H));
    format!(
        r#"
        [[continuum]]
        name = "sand"
        method = "phases"
        density = {DENSITY}
        packing = {PACKING}
        spacing = {}
        friction_angle = "{angle} deg"
        fill = {{ box = {{ min = {min:?}, max = {max:?} }} }}
        "#,
        0.5 * cell
    )
}

/// How it is computed: as liquid alone, or with all three phases.
pub fn phases(all: bool, more: &str) -> String {
    let solid = if all { "" } else { "solid = { enabled = false }" };
    format!("\n[phases]\ngas = {all}\n{solid}\n{more}\n")
}

/// A floor at z = 0 that holds sand as sand holds itself.
pub const FLOOR: &str = r#"
        [[walls]]
        name = "floor"
        material = "wall"
        plane = { point = [0, 0, 0], normal = [0, 0, 1] }
        rough = { radius = "5 mm", spacing = "10 mm" }
        "#;

/// A wall at x = 0.
pub const BACK: &str = r#"
        [[walls]]
        name = "back"
        material = "wall"
        plane = { point = [0, 0, 0], normal = [1, 0, 0] }
        "#;

/// A periodic slice with its floor, so many cells long and high.
pub fn slice(tilt: f64, length: f64, height: f64, periodic_x: bool) -> String {
    let periodic = if periodic_x { r#""x", "y""# } else { r#""y""# };
    head(tilt, [0.0, 0.0, -4.0], [length, THICK, height], periodic, 0.5) + FLOOR
}

/// A scene under test.
pub fn rig(text: &str, bench: &Bench) -> Result<Rig, CaseError> {
    Rig::new(text, bench)
}

/// The solver.
pub fn flip(rig: &Rig) -> Result<&Flip, CaseError> {
    rig.world.solver::<Flip>().ok_or_else(|| CaseError::Unmeasured("the scene has no sand in phases".into()))
}

/// Takes out what lies outside a shape, as a cutter would.
pub fn cut(rig: &mut Rig, stays: impl Fn(DVec3) -> bool) {
    if let Some(flip) = rig.world.solver_mut::<Flip>() {
        flip.remove_where(&|_, x| !stays(x));
    }
}

/// The parcels of liquid.
pub fn parcels(rig: &Rig) -> Population {
    rig.world.frame().population(LIQUID).cloned().unwrap_or_default()
}

/// All matter: centre [m] and mass [kg] of every piece.
pub fn pieces(rig: &Rig) -> Vec<(DVec3, f64)> {
    let frame = rig.world.frame();
    frame.matter().flat_map(|p| p.position.iter().copied().zip(p.mass.iter().copied())).collect()
}

/// Root mean square of the parcels' speeds [m/s].
pub fn rms(p: &Population) -> f64 {
    (p.velocity.iter().map(|v| v.length_squared()).sum::<f64>() / p.len().max(1) as f64).sqrt()
}

/// Heights [m] of a slice in columns of a cell along x: the mass over each at the density of packed sand.
pub fn heights(rig: &Rig) -> Vec<[f64; 2]> {
    let mut mass: std::collections::BTreeMap<i64, f64> = std::collections::BTreeMap::new();
    for (x, m) in pieces(rig) {
        *mass.entry((x.x / H).floor() as i64).or_default() += m;
    }
    let area = DENSITY * PACKING * H * THICK * H;
    mass.into_iter().map(|(k, m)| [(k as f64 + 0.5) * H, m / area]).collect()
}

/// Angle [°] of a flank that falls towards +x: a line through its heights between shares of the highest.
pub fn flank(heights: &[[f64; 2]]) -> f64 {
    let top = heights.iter().map(|s| s[1]).fold(0.0, f64::max);
    let peak = heights.iter().find(|s| s[1] == top).map_or(0.0, |s| s[0]);
    let on = |s: &&[f64; 2]| s[0] >= peak && (0.2 * top..0.8 * top).contains(&s[1]);
    let points: Vec<[f64; 2]> = heights.iter().filter(on).copied().collect();
    crate::fit::line(&points).map_or(f64::NAN, |l| (-l.slope.value).atan().to_degrees())
}

/// A wedge `height` cells high with its ridge at a wall, cut at an angle [°], of sand that asks for another; cells of `cell` [m].
pub fn wedge(bench: &Bench, asked: f64, slope: f64, height: f64, cell: f64, how: &str) -> Result<Rig, CaseError> {
    let tan = slope.to_radians().tan();
    let base = height / tan;
    let length = 8.0 * ((2.0 * base + 8.0) / 8.0).ceil();
    let fill = [[0.0; 3], [base.ceil(), THICK, height]];
    let text = slice(0.0, length, height + 8.0, false) + BACK + &sand(asked, cell, fill) + how;
    let mut rig = rig(&text, bench)?;
    cut(&mut rig, |x| x.z < height * H - x.x * tan);
    Ok(rig)
}
