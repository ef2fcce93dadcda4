//! Drag of the air, as a rate k [1/s]: the acceleration is k (u − v). Taken implicitly it never overshoots the wind.

use crate::settings::{Air, Drag, Settings};
use barchan_core::math;
use std::f64::consts::PI;

/// Drag coefficient of a sphere [Schiller and Naumann 1933, with the exponent 2/3 of Putnam 1961], 0.424 beyond Re = 1000.
///   C = 24/Re (1 + Re^{2/3}/6)
pub fn sphere_drag(reynolds: f64) -> f64 {
    if reynolds > 1000.0 {
        return 0.424;
    }
    let root = math::cbrt(reynolds);
    24.0 / reynolds * (1.0 + root * root / 6.0)
}

/// Neighbours of a particle in the middle of the fluid, of which two thirds make a full side [Gissler et al. 2017].
const FULL_SIDE: f64 = 2.0 / 3.0 * 38.0;

/// Rate of drag [1/s] of a particle at a relative speed [m/s], of which `exposed` (0 to 1) is in the wind; `neighbours` counts those around it.
pub fn rate(settings: &Settings, air: &Air, mass: f64, speed: f64, exposed: f64, neighbours: usize) -> f64 {
    if speed <= 0.0 {
        return 0.0;
    }
    let reynolds = |size: f64| air.density * speed * size / air.viscosity;
    match air.drag {
        Drag::Grains => {
            let d = settings.grain_diameter;
            0.75 * exposed * air.density / settings.grain_density * sphere_drag(reynolds(d)) / d * speed
        }
        Drag::Blob => {
            let radius = 0.5 * settings.spacing;
            0.5 * air.density * speed * air.coefficient * exposed * PI * radius * radius / mass
        }
        Drag::Blend => {
            // L: radius of the sphere of the particle's volume.
            let (d, full) = (settings.spacing, (neighbours as f64 / FULL_SIDE).min(1.0));
            let radius = math::cbrt(3.0 / (4.0 * PI)) * d;
            let coefficient = (1.0 - full) * sphere_drag(reynolds(2.0 * radius)) + full;
            let area = (1.0 - full) * PI * radius * radius + full * d * d;
            0.5 * air.density * speed * coefficient * exposed * area / mass
        }
    }
}
