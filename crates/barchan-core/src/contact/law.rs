//! The parts put together: the reaction of eight contacts at once.

use super::rows::slot;
use super::{ContactLaw, Rolling, rolling, tangential};
use crate::simd::{Lanes, Vec3};

/// Eight contacts as the law sees them, each from grain *i*.
#[derive(Clone, Copy)]
pub struct Encounter<V: Lanes> {
    /// Unit normal from *i* to its partner.
    pub normal: Vec3<V>,
    /// Overlap [m].
    pub overlap: V,
    /// Velocity of *i* relative to its partner at the contact point [m/s].
    pub velocity: Vec3<V>,
    /// Angular velocity of *i* relative to its partner [rad/s].
    pub spin: Vec3<V>,
    /// Angular velocity of *i* itself [rad/s]; read by [`Rolling::Own`] alone.
    pub own_spin: Vec3<V>,
    /// Effective radius R* [m].
    pub radius: V,
    /// Effective mass m* [kg].
    pub mass: V,
    /// Row of the pair of materials.
    pub row: [V; 8],
    /// Lanes that touch; the others get no force and lose their memory.
    pub touching: V::Mask,
}

/// What a contact remembers.
#[derive(Clone, Copy)]
pub struct Memory<V> {
    /// Tangential displacement [m].
    pub slide: Vec3<V>,
    /// Tangential stiffness when last seen [N/m]; zero for a contact that did not touch.
    pub stiffness: V,
    /// Rolling angle [rad].
    pub roll: Vec3<V>,
    /// Twisting angle [rad].
    pub twist: V,
}

/// What the partner does to grain *i*.
#[derive(Clone, Copy)]
pub struct Reaction<V> {
    /// Normal force [N], positive when it presses.
    pub press: V,
    /// Tangential force on *i* [N].
    pub traction: Vec3<V>,
    /// Couple on *i* from rolling and twisting [N m].
    pub couple: Vec3<V>,
    /// Couple on its partner [N m]: the opposite, but for [`Rolling::Own`].
    pub couple_j: Vec3<V>,
    /// Elastic energy of the springs [J]; computed only where it is asked for.
    pub energy: V,
}

/// The reaction of one batch, advancing its memory by `dt`; `resists` says whether rolling and twisting do.
///
/// Cohesion is a constant pull while the grains touch, 4πγR* (Derjaguin, Muller and Toporov 1975): its pull-off force is
/// exact, its range zero.
#[inline(always)]
pub fn react<V: Lanes>(
    law: &ContactLaw,
    resists: bool,
    e: &Encounter<V>,
    memory: &mut Memory<V>,
    dt: V,
) -> Reaction<V> {
    let patch = (e.radius * e.overlap).sqrt();
    let normal = law.normal.respond(e.overlap, patch, e.mass, &e.row);
    let approach = e.velocity.dot(e.normal);
    // A dashpot alone would pull at the end of an impact; dry grains cannot.
    let repulsion = (normal.elastic + normal.damping * approach).max(V::zero()).keep(e.touching);
    let pull = (e.row[slot::COHESION] * e.radius).keep(e.touching);

    let springs = law.tangential.springs(&normal, patch, e.mass, &e.row);
    let slip = e.velocity.minus(e.normal.scale(approach));
    let mut kept = Vec3::zero();
    if law.tangential.remembers() {
        let before = if law.tangential.rescales() { memory.stiffness } else { springs.stiffness };
        kept = tangential::carry_over(memory.slide, e.normal, before, springs.stiffness);
    }
    let [drag, stretch, slid] =
        tangential::slide(kept, slip, &springs, (e.row[slot::FRICTION] * repulsion, law.cap), dt);
    memory.slide = slid.keep(e.touching);
    let before = memory.stiffness;
    let remembers = law.tangential.remembers();
    // Without a tangential spring, rolling takes its stiffness from the usual share of the normal one.
    let stiffness = if remembers { springs.stiffness } else { V::of(2.0 / 7.0) * normal.stiffness };
    memory.stiffness = stiffness.keep(e.touching);

    let (mut couple, mut couple_j) = (Vec3::zero(), Vec3::zero());
    if resists && law.rolling == Rolling::Own {
        let cap = e.row[slot::ROLLING] * e.radius * repulsion;
        let against = |spin: Vec3<V>| rolling::against_own(spin, stiffness, e.radius, e.mass, cap).keep(e.touching);
        (couple, couple_j) = (against(e.own_spin), against(e.own_spin.minus(e.spin)));
    } else if resists {
        let reach = e.radius * repulsion;
        let caps = (e.row[slot::ROLLING] * reach, e.row[slot::TWISTING] * reach);
        let (torque, roll, twist) =
            rolling::resist(memory.roll, memory.twist, e.normal, e.spin, before, stiffness, e.radius, e.mass, caps, dt);
        couple = Vec3(-torque.0, -torque.1, -torque.2).keep(e.touching);
        couple_j = Vec3(-couple.0, -couple.1, -couple.2);
        memory.roll = roll.keep(e.touching);
        memory.twist = twist.keep(e.touching);
    }

    let spring_energy = V::of(0.5) * springs.stiffness * stretch.dot(stretch);
    let elastic_energy = V::of(law.normal.energy_share()) * normal.elastic * e.overlap;
    Reaction {
        press: repulsion - pull,
        traction: Vec3(-drag.0, -drag.1, -drag.2).keep(e.touching),
        couple,
        couple_j,
        energy: (elastic_energy + spring_energy).keep(e.touching),
    }
}
