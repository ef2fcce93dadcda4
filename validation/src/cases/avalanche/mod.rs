//! Snow on rock: set-ups that its cases share.

pub mod beam;
pub mod dam_break;
pub mod grain;
pub mod hockey_stick;
pub mod layer;
pub mod parabola;
pub mod similarity;
pub mod wavy;

use barchan_core::frame::Population;
use barchan_core::math;
use glam::DVec3;

pub const G: f64 = 9.81;

/// A grain of this radius [m] that touches a slope which falls by the tangent `fall` along x, over the point at x where it is `height` m high.
pub fn on_slope(x: f64, height: f64, fall: f64, radius: f64) -> DVec3 {
    DVec3::new(x, 0.0, height) + DVec3::new(fall, 0.0, 1.0).normalize() * radius
}

/// Mass [kg] and centre of mass and its velocity of a population.
pub fn centre(p: &Population) -> (f64, DVec3, DVec3) {
    let mass: f64 = p.mass.iter().sum();
    let sum = |of: &[DVec3]| of.iter().zip(p.mass.iter()).map(|(x, m)| *x * *m).sum::<DVec3>() / mass;
    (mass, sum(&p.position), sum(&p.velocity))
}

/// Tangent of an angle [°].
pub fn tan(degrees: f64) -> f64 {
    math::tan(degrees.to_radians())
}

/// Snow as grains without cohesion: density of a grain [kg/m³], Young's modulus, coefficients of friction and restitution. It may be squeezed harder than grains of
/// rock: what a bed of a few layers does in falling onto its own lattice is nobody's concern.
pub fn snow(density: f64, young: &str, friction: f64, restitution: f64) -> String {
    format!(
        "[materials.snow]\ndensity = {density}\nyoung = \"{young}\"\nrestitution = {restitution}\nfriction = {friction}\n\
         [integrator]\nmax_overlap = 0.3\n"
    )
}
