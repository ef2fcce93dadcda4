//! What the cases with many grains share: the grain, the units made from it, and a time step for soft spheres.

use crate::{CaseError, Rig};
use std::f64::consts::PI;

/// Diameter of a sphere [m].
pub const D: f64 = 0.01;
/// Density of the grains [kg/m³].
pub const DENSITY: f64 = 2500.0;
/// Gravity [m/s²].
pub const G: f64 = 9.81;

/// Time in which a grain falls through about half its diameter, √(d/g) [s].
pub fn tick() -> f64 {
    (D / G).sqrt()
}

/// A fifth of the Rayleigh time of a sphere [s], Poisson's ratio 0.3: twice the step barchan would take by itself, within
/// what is usual for slow flows.
pub fn step(young: f64) -> f64 {
    let shear = young / 2.6;
    0.2 * PI * 0.5 * D * (DENSITY / shear).sqrt() / (0.1631 * 0.3 + 0.8766)
}

/// Head of a scene: gravity, time step, and a material `grain` that all share but for its friction.
pub fn head(young: f64, friction: f64) -> String {
    format!(
        r#"
        duration = 1000
        gravity = [0, 0, -{G}]
        [integrator]
        dt = {dt}
        max_overlap = 0.25                  # room for grains that land on bare walls while a set-up fills
        [materials.grain]
        density = {DENSITY}
        young = {young}
        restitution = 0.5
        friction = {friction}
        "#,
        dt = step(young)
    )
}

/// Kinetic energy at rest, over that of all grains at √(g d).
const REST: f64 = 1e-3;

/// Steps until the kinetic energy (of a measurement `energy`) is that of grains creeping at 3 % of √(g d), but not before
/// one time [s] and not beyond another.
pub fn to_rest(rig: &mut Rig, earliest: f64, latest: f64) -> Result<(), CaseError> {
    rig.run_to(earliest)?;
    let mut rows = rig.rows("energy").len();
    while rig.world.time() < latest {
        rig.step()?;
        let all = rig.rows("energy");
        if all.len() > rows {
            rows = all.len();
            let mass: f64 = rig.world.frame().grains().mass.iter().sum();
            if all[rows - 1][1] < REST * 0.5 * mass * G * D {
                break;
            }
        }
    }
    Ok(())
}

/// Speed of the grains now, root mean square over √(g d), by the last row of a measurement `energy`.
pub fn unrest(rig: &Rig) -> f64 {
    let energy = rig.rows("energy").last().map_or(f64::NAN, |r| r[1]);
    (2.0 * energy / (rig.world.frame().grains().mass.iter().sum::<f64>() * G * D)).sqrt()
}

/// Largest overlap over a sphere's diameter, now.
pub fn overlap(rig: &Rig) -> f64 {
    0.5 * rig.world.gauge("largest overlap").unwrap_or(0.0)
}
