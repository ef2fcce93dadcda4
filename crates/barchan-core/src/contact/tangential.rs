//! Friction: the force in the contact plane.

use super::normal::Response;
use super::rows::slot;
use super::{Cap, TangentialLaw};
use crate::simd::{Lanes, Vec3};

/// Spring and dashpot of the contact plane, per lane.
#[derive(Clone, Copy)]
pub struct Springs<V> {
    /// Stiffness [N/m].
    pub stiffness: V,
    /// Damping coefficient [N s/m].
    pub damping: V,
}

impl TangentialLaw {
    /// Spring and dashpot at this instant.
    #[inline(always)]
    pub fn springs<V: Lanes>(&self, normal: &Response<V>, patch: V, mass: V, row: &[V; 8]) -> Springs<V> {
        match self {
            // kₜ = 8 G* √(R* ξ), following the contact area [Mindlin 1949].
            TangentialLaw::Mindlin | TangentialLaw::MindlinDisplacement => Springs {
                stiffness: row[slot::TANGENTIAL] * patch,
                damping: row[slot::DAMPING_T] * (patch * mass).sqrt(),
            },
            // A fixed share of the normal stiffness [Cundall and Strack 1979].
            TangentialLaw::CundallStrack { .. } => {
                let stiffness = row[slot::TANGENTIAL] * normal.stiffness;
                Springs { stiffness, damping: row[slot::DAMPING_T] * (stiffness * mass).sqrt() }
            }
            // The same spring, with the dashpot that is given.
            TangentialLaw::Dashpot { .. } => {
                Springs { stiffness: row[slot::TANGENTIAL] * normal.stiffness, damping: row[slot::DAMPING_T] }
            }
            // A dashpot alone [Longmore 2009, eq. 3.28].
            TangentialLaw::Viscous { .. } => Springs { stiffness: V::zero(), damping: row[slot::DAMPING_T] },
        }
    }

    /// Whether the contact keeps a displacement.
    #[inline(always)]
    pub fn remembers(&self) -> bool {
        !matches!(self, TangentialLaw::Viscous { .. })
    }

    /// Whether what is kept shrinks as the spring stiffens ([`carry_over`]).
    #[inline(always)]
    pub fn rescales(&self) -> bool {
        !matches!(self, TangentialLaw::MindlinDisplacement)
    }
}

/// Below this a squared length counts as zero; keeps 0/0 out of the lanes and is far below any kept displacement.
const TINY: f64 = 1e-30;

/// A kept displacement in the present contact plane, its length kept [Longmore 2009, eq. 3.12, with the operator that is
/// lost in print] unless the spring has stiffened from `before` to `now`: the part of the contact that is new carries nothing
/// yet, so the force stays and the stretch shrinks; were the stretch to stay, pressing would create energy. A spring that
/// softens keeps its stretch and loses force [Thornton, Cummins and Cleary 2013].
#[inline(always)]
pub fn carry_over<V: Lanes>(kept: Vec3<V>, normal: Vec3<V>, before: V, now: V) -> Vec3<V> {
    let flat = kept.tangent_to(normal);
    let old = now.min(before);
    let square = kept.dot(kept) * (old * old) / (flat.dot(flat) * (now * now)).max(V::of(TINY));
    flat.scale(square.sqrt())
}

/// Spring and dashpot against a cap, for sliding and for rolling alike. `kept` is the displacement half a step ago,
/// already in the present plane; returns the force (or torque) against the motion, the displacement now, and the one half
/// a step on.
///
/// Displacements live at half steps, forces at full ones: the kick–drift step has velocities at both, and the spring
/// stays second order without storing anything. Where the cap holds, spring and dashpot give way in proportion
/// ([`Cap::Shared`]), so that a kept displacement is never longer than the slip that made it. With [`Cap::Spring`] the
/// dashpot keeps its full share, as in LAMMPS (`pair_style granular`, the tangential models with history): the spring becomes
/// (cap − c v)/k along the slip, and is stretched backwards, without bound, where the contact is still small.
#[inline(always)]
pub fn slide<V: Lanes>(
    kept: Vec3<V>,
    velocity: Vec3<V>,
    springs: &Springs<V>,
    (cap, way): (V, Cap),
    dt: V,
) -> [Vec3<V>; 3] {
    let half = velocity.scale(dt * V::of(0.5));
    let now = kept.plus(half);
    let force = now.scale(springs.stiffness).plus(velocity.scale(springs.damping));
    let share = (cap / force.dot(force).max(V::of(TINY)).sqrt()).min(V::of(1.0));
    let now = match way {
        Cap::Shared => now.scale(share),
        Cap::Spring => {
            let left = force.scale(share).minus(velocity.scale(springs.damping));
            let spring = left.scale(V::of(1.0) / springs.stiffness.max(V::of(TINY)));
            spring.select(V::of(1.0).gt(share), now)
        }
    };
    [force.scale(share), now, now.plus(half)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Random;
    use crate::simd::{Octet, PlainLanes};

    type V = PlainLanes<f64>;

    fn first(v: V) -> f64 {
        v.to_array()[0]
    }

    /// However a contact is pressed, released and sheared, its spring never holds more than was put into it: shear a light
    /// contact, press it, let go of the shear, and you get less back than you gave.
    #[test]
    fn pressing_a_stretched_spring_creates_no_energy() {
        let mut random = Random::new(3, 0);
        for _ in 0..100 {
            let (mut stretch, mut before, mut work) = (Vec3::zero(), 1.0, 0.0);
            for _ in 0..200 {
                let now = before * (0.5 + random.uniform());
                stretch = carry_over(stretch, Vec3(V::zero(), V::zero(), V::of(1.0)), V::of(before), V::of(now));
                before = now;
                let slip = Vec3(V::of(random.uniform() - 0.5), V::of(random.uniform() - 0.5), V::zero());
                let springs = Springs { stiffness: V::of(now), damping: V::zero() };
                // In a step of 1 s, with a cap that never holds, the force of the step's middle does exactly the spring's work.
                let [force, _, after] = slide(stretch, slip, &springs, (V::of(f64::MAX), Cap::Shared), V::of(1.0));
                work += first(force.dot(slip));
                stretch = after;
                let held = 0.5 * now * first(stretch.dot(stretch));
                assert!(held <= work + 1e-12 * now, "holds {held} J of {work} J");
            }
        }
    }

    /// A contact that slides steadily pulls with its limit; its spring holds what the dashpot leaves of that, (limit − c v)/k. Where the
    /// dashpot alone exceeds the limit this is negative, and stays so if the spring gives way alone; in proportion it is zero.
    #[test]
    fn a_sliding_spring_holds_what_the_dashpot_leaves_of_the_limit() {
        let (k, limit, speed, dt) = (1e4, 0.02, 0.01, 1e-9);
        for (c, way, exact) in [
            (0.3, Cap::Spring, 0.017 / k),
            (0.3, Cap::Shared, 0.017 / k),
            (5.0, Cap::Spring, -0.03 / k),
            (5.0, Cap::Shared, 0.0),
        ] {
            let springs = Springs { stiffness: V::of(k), damping: V::of(c) };
            let slip = Vec3(V::of(speed), V::zero(), V::zero());
            let (mut force, mut now, mut kept) = (Vec3::zero(), Vec3::zero(), Vec3::zero());
            for _ in 0..400_000 {
                [force, now, kept] = slide(kept, slip, &springs, (V::of(limit), way), V::of(dt));
            }
            assert!((first(force.0) / limit - 1.0).abs() < 1e-12, "{c} {way:?}");
            // In proportion the slip of a few steps is not yet given way to.
            let slack = if way == Cap::Spring { 1e-12 * limit / k } else { 3.0 * speed * dt };
            assert!((first(now.0) - exact).abs() < slack, "{c} {way:?}: {:e} against {exact:e}", first(now.0));
        }
    }
}
