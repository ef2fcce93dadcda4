//! What the surface of the sand does to grains of gas near it, and they to it.
//!
//! Within ℓ = max(h, 2 d) over the surface a grain *borrows* the sand's velocity, the more the nearer [Munns 2015]:
//!   v ← u + (v − u) e^{−κ dt},  κ = (1 − φ/ℓ)²/τ,  τ = √(d/g).
//! On it, φ < d/2, it bounces as off a wall, with the friction of the sand, and is put back to its height. What it loses the sand gets.

use super::field::Found;
use crate::gas::bounce;
use crate::settings::Settings;
use glam::DVec3;

/// Depth at which a grain has sunk in, in its diameters.
pub const SUNK: f64 = 0.5;

/// How grains of a run ride.
#[derive(Clone, Copy, Debug)]
pub struct Riding {
    /// Side of a cell [m].
    cell: f64,
    /// Radius of a grain [m].
    radius: f64,
    /// ℓ [m].
    reach: f64,
    /// τ [s].
    time: f64,
    friction: f64,
    restitution: f64,
}

impl Riding {
    /// Of these settings; none where nothing pulls grains down.
    pub fn new(settings: &Settings, restitution: f64) -> Option<Riding> {
        let (g, d) = (settings.gravity.length(), settings.gas_diameter());
        (g > 0.0).then(|| Riding {
            cell: settings.cell,
            radius: 0.5 * d,
            reach: settings.cell.max(2.0 * d),
            time: (d / g).sqrt(),
            friction: settings.friction(),
            restitution,
        })
    }

    /// Velocity of a grain that flies for `dt` [s] where the surface was found.
    pub fn borrow(&self, v: DVec3, found: &Found, dt: f64) -> DVec3 {
        let height = found.phi * self.cell;
        if !(0.0..self.reach).contains(&height) {
            return v;
        }
        let near = 1.0 - height / self.reach;
        found.velocity + (v - found.velocity) * barchan_core::math::exp(-near * near / self.time * dt)
    }

    /// Velocity and displacement [m] of a grain that may touch the surface.
    pub fn touch(&self, v: DVec3, found: &Found) -> (DVec3, DVec3) {
        let height = found.phi * self.cell;
        // Deeper it has sunk in, and will be liquid.
        if height >= self.radius || height < -2.0 * SUNK * self.radius {
            return (v, DVec3::ZERO);
        }
        let after = bounce(v, found.velocity, found.normal, self.friction, self.restitution);
        (after, found.normal * (self.radius - height))
    }
}
