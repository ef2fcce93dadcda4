//! Resistance to rolling and twisting: an elastic–plastic spring–dashpot on the relative rotation.
//!
//! After model C of Ai, Chen, Rotter and Ooi (2011), with the stiffness kₜ R*² of Wensrich and Katterfeld (2012), which
//! does not vanish with the coefficient. The full torque is μᵣ R* Fₙ; below it the contact springs back.

use super::Cap;
use super::tangential::{Springs, carry_over, slide};
use crate::simd::{Lanes, Vec3};

/// Damping of rolling oscillations as a share of the critical one; Ai et al. use 0.3.
const DAMPING_RATIO: f64 = 0.3;

/// Rolling and twisting springs from the tangential stiffness.
#[inline(always)]
fn springs<V: Lanes>(stiffness: V, radius: V, mass: V) -> Springs<V> {
    let k = stiffness * radius * radius;
    Springs { stiffness: k, damping: V::of(2.0 * DAMPING_RATIO) * (k * mass).sqrt() * radius }
}

/// Torque [N m] of a contact against a grain's own spin [rad/s], at most `cap` [N m] [Zhou, Wright, Yang, Xu and Yu 1999]:
///   M = −min(μᵣ R* Fₙ, η |ω|) ω/|ω|
/// η is the dashpot of [`resist`], which a step can take: the torque brings a slow grain to rest and does not turn it back.
#[inline(always)]
pub fn against_own<V: Lanes>(spin: Vec3<V>, stiffness: V, radius: V, mass: V, cap: V) -> Vec3<V> {
    let damping = springs(stiffness, radius, mass).damping;
    let rate = spin.dot(spin).max(V::of(1e-30)).sqrt();
    spin.scale(-(cap / rate).min(damping))
}

/// Torque [N m] against the rolling and twisting of grain *i* over its partner, and the angles kept.
///
/// `kept` and `twist` are angles [rad] half a step ago; `spin` is ωᵢ − ωⱼ; `before` and
/// `stiffness` are the tangential stiffness then and now; `caps` are the largest torques.
#[inline(always)]
#[allow(clippy::too_many_arguments)]
pub fn resist<V: Lanes>(
    kept: Vec3<V>,
    twist: V,
    normal: Vec3<V>,
    spin: Vec3<V>,
    before: V,
    stiffness: V,
    radius: V,
    mass: V,
    caps: (V, V),
    dt: V,
) -> (Vec3<V>, Vec3<V>, V) {
    let springs = springs(stiffness, radius, mass);
    let spin_n = spin.dot(normal);
    let rolling = spin.minus(normal.scale(spin_n));
    let [roll_torque, _, roll] =
        slide(carry_over(kept, normal, before, stiffness), rolling, &springs, (caps.0, Cap::Shared), dt);
    let zero = V::zero();
    let [twist_torque, _, twisted] =
        slide(Vec3(twist, zero, zero), Vec3(spin_n, zero, zero), &springs, (caps.1, Cap::Shared), dt);
    (roll_torque.plus(normal.scale(twist_torque.0)), roll, twisted.0)
}
