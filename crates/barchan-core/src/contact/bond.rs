//! Bonds between grains: beams that stretch, shear, bend and twist, until they break.
//!
//! A bond is a cylinder of radius R̄ between two centres, with A = πR̄², I = πR̄⁴/4, J = 2I and the stiffnesses of Potyondy and Cundall (2004),
//! k̄_n = E/ℓ and k̄_s = k̄_n/κ. Its state is not summed up over steps: it follows from where the two grains are and how they stand, against how they were at birth.
//! So nothing drifts, and a bonded body that turns as a whole feels nothing.
//!
//! Let n be the direction from the first centre to the second, and a, b the directions that were n at birth, each fixed in its grain. Forces and torques are
//! the derivatives of one energy [after Kuzkin and Asonov 2012, whose vectors these are],
//!
//!   U = ½ k̄_n A (d − ℓ)² + ½ k̄_s A (ℓ/2)² |(a + b)⊥n|² + k̄_n I (1 − a·b) + k̄_s J (1 − cos of the twist),
//!
//! so that energy, momentum and angular momentum are kept at any deformation, and for small ones the law is that of the parallel bond.

use glam::{DQuat, DVec3};
use std::f64::consts::PI;

/// What bonds of one kind are made of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BondLaw {
    /// Young's modulus E [Pa].
    pub young: f64,
    /// Normal over shear stiffness, κ.
    pub ratio: f64,
    /// Radius over that of the smaller grain, λ.
    pub radius: f64,
    /// Tensile strength [Pa].
    pub tensile: f64,
    /// Shear strength [Pa].
    pub shear: f64,
    /// Tangent of the angle of friction by which pressure adds to the shear strength.
    pub friction: f64,
    /// Damping over critical damping, of each way to deform.
    pub damping: f64,
}

/// A beam at birth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Beam {
    /// Direction to the second centre, in the first grain's frame.
    pub arm: DVec3,
    /// How the second grain stands as the first one sees it.
    pub stance: DQuat,
    /// Length ℓ [m].
    pub length: f64,
    /// Radius R̄ [m].
    pub radius: f64,
}

/// Stiffnesses of a beam.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stiffness {
    /// Force over stretch [N/m].
    pub normal: f64,
    /// Force over shear displacement at the middle [N/m].
    pub shear: f64,
    /// Moment over bending angle [N m].
    pub bend: f64,
    /// Moment over twist [N m].
    pub twist: f64,
}

/// What a bond does, and what it bears.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Pull {
    /// Force on the first grain [N]; the second feels the opposite.
    pub force: DVec3,
    /// Torques on both, about their centres [N m].
    pub torques: [DVec3; 2],
    /// Elastic energy [J].
    pub energy: f64,
    /// Tension [N], below 0 for pressure.
    pub tension: f64,
    /// Shear force [N].
    pub shear: f64,
    /// Bending moment at the middle [N m].
    pub bend: f64,
    /// Twisting moment [N m].
    pub twist: f64,
}

/// How a bond breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fracture {
    /// By tension and bending.
    Tension,
    /// By shear and twisting.
    Shear,
}

/// How two grains move: velocities of the second less those of the first, and so on.
#[derive(Clone, Copy, Debug)]
pub struct Relative {
    /// Velocity at the middle of the bond [m/s].
    pub velocity: DVec3,
    /// Spin [rad/s].
    pub spin: DVec3,
    /// Reduced mass [kg].
    pub mass: f64,
    /// Reduced moment of inertia [kg m²].
    pub inertia: f64,
}

impl Beam {
    /// A beam between grains that stand like this, `along` [m] from the first centre to the second.
    pub fn new(along: DVec3, turns: [DQuat; 2], radius: f64) -> Beam {
        let length = along.length();
        let back = turns[0].inverse();
        Beam { arm: back * (along / length), stance: back * turns[1], length, radius }
    }

    /// Area [m²] and second moment of area [m⁴] of its section; the polar moment is twice that.
    pub fn section(&self) -> (f64, f64) {
        let r2 = self.radius * self.radius;
        (PI * r2, 0.25 * PI * r2 * r2)
    }

    /// Its stiffnesses.
    pub fn stiffness(&self, law: &BondLaw) -> Stiffness {
        let (area, moment) = self.section();
        let normal = law.young / self.length;
        let shear = normal / law.ratio;
        Stiffness { normal: normal * area, shear: shear * area, bend: normal * moment, twist: shear * 2.0 * moment }
    }

    /// What the beam does to its grains, which are `along` [m] from each other and stand like this.
    pub fn pull(&self, law: &BondLaw, along: DVec3, turns: [DQuat; 2]) -> Pull {
        let k = self.stiffness(law);
        let distance = along.length();
        let n = along / distance;
        let a = turns[0] * self.arm;
        // How the second grain has turned against the first since birth.
        let turned = turns[1] * self.stance.inverse() * turns[0].inverse();
        let b = turned * a;
        let w = a + b;
        let across = w - w.dot(n) * n;
        let lever = k.shear * 0.25 * self.length * self.length;
        let stretch = distance - self.length;
        let pulled = lever * w.dot(n);
        let shear = -pulled / distance * across;
        let bending = k.bend * a.cross(b);
        let (v, s) = (DVec3::new(turned.x, turned.y, turned.z), turned.w);
        // sin of the whole turn less sin of the bend: what is left turns about the axis.
        let twisting = k.twist * (2.0 * s * v - a.cross(b));
        let both = bending + twisting;
        // ∂U/∂a × a and ∂U/∂b × b of the shear's energy.
        let sheared = |own: DVec3, other: DVec3| (lever * other - pulled * n).cross(own);
        let bent = 0.5 * (a - b).length_squared();
        Pull {
            force: k.normal * stretch * n + shear,
            torques: [sheared(a, b) + both, sheared(b, a) - both],
            energy: 0.5 * k.normal * stretch * stretch
                + 0.5 * lever * across.length_squared()
                + k.bend * bent
                + k.twist * (2.0 * v.length_squared() - bent),
            tension: k.normal * stretch,
            shear: shear.length(),
            bend: bending.length(),
            twist: twisting.length(),
        }
    }

    /// Adds dashpots: stretch and shear at the middle of the bond, bending and twisting.
    pub fn damp(&self, law: &BondLaw, along: DVec3, relative: &Relative, pull: &mut Pull) {
        let k = self.stiffness(law);
        let n = along / along.length();
        let split = |v: DVec3| (v.dot(n) * n, v - v.dot(n) * n);
        let dashpot = |mass: f64, stiffness: f64| 2.0 * law.damping * (mass * stiffness).sqrt();
        let (closing, sliding) = split(relative.velocity);
        let (twisting, bending) = split(relative.spin);
        let force = dashpot(relative.mass, k.normal) * closing + dashpot(relative.mass, k.shear) * sliding;
        let torque = dashpot(relative.inertia, k.twist) * twisting + dashpot(relative.inertia, k.bend) * bending;
        let arm = (0.5 * along).cross(force);
        pull.force += force;
        pull.torques[0] += arm + torque;
        pull.torques[1] += arm - torque;
    }

    /// Whether a beam breaks that bears this, its strengths being `strength` times those of the law.
    pub fn fracture(&self, law: &BondLaw, strength: f64, pull: &Pull) -> Option<Fracture> {
        let (area, moment) = self.section();
        let (pressed, arm) = (pull.tension / area, self.radius / moment);
        let tensile = pressed + pull.bend * arm;
        let shear = pull.shear / area + pull.twist * 0.5 * arm;
        if tensile >= strength * law.tensile {
            Some(Fracture::Tension)
        } else if shear >= strength * law.shear + law.friction * (-pressed).max(0.0) {
            Some(Fracture::Shear)
        } else {
            None
        }
    }

    /// Bound of the square of the angular frequency [1/s²] that this bond gives a grain of that mass [kg] and moment of inertia [kg m²]; those of
    /// all its bonds add up.
    ///
    /// The energy of a bond is at most twice the sum of what each end alone would store, and of that the largest quotient to the kinetic energy is
    /// taken, shear and bending together.
    pub fn frequency_squared(&self, law: &BondLaw, mass: f64, inertia: f64) -> f64 {
        let k = self.stiffness(law);
        let across = k.shear * (1.0 / mass + 0.25 * self.length * self.length / inertia) + k.bend / inertia;
        2.0 * (k.normal / mass).max(across).max(k.twist / inertia)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LAW: BondLaw =
        BondLaw { young: 1e7, ratio: 2.5, radius: 1.0, tensile: 1e4, shear: 1e4, friction: 0.5, damping: 0.0 };

    fn turn(x: f64, y: f64, z: f64) -> DQuat {
        DQuat::from_scaled_axis(DVec3::new(x, y, z))
    }

    /// A beam 0.1 m long of radius 0.05 m between grains that stand askew.
    fn beam() -> (Beam, DVec3, [DQuat; 2]) {
        let (along, turns) = (DVec3::new(0.06, -0.08, 0.0), [turn(0.4, 0.2, -0.9), turn(-1.0, 0.3, 0.1)]);
        (Beam::new(along, turns, 0.05), along, turns)
    }

    #[test]
    fn forces_and_torques_are_the_derivatives_of_the_energy() {
        let (beam, along, turns) = beam();
        let along = along + DVec3::new(3e-3, 2e-3, -1e-3);
        let turns = [turn(0.02, -0.03, 0.01) * turns[0], turn(-0.01, 0.05, 0.04) * turns[1]];
        let pull = beam.pull(&LAW, along, turns);
        let h = 1e-5;
        for axis in DVec3::AXES {
            let energy = |d: f64, i: f64, j: f64| {
                let turned = |angle: f64, q: DQuat| DQuat::from_scaled_axis(angle * axis) * q;
                beam.pull(&LAW, along + d * axis, [turned(i, turns[0]), turned(j, turns[1])]).energy
            };
            // A move of the first by +h is one of `along` by −h.
            let force = (energy(h, 0.0, 0.0) - energy(-h, 0.0, 0.0)) / (2.0 * h);
            let first = -(energy(0.0, h, 0.0) - energy(0.0, -h, 0.0)) / (2.0 * h);
            let second = -(energy(0.0, 0.0, h) - energy(0.0, 0.0, -h)) / (2.0 * h);
            let scale = LAW.young * 0.05 * 0.05;
            assert!((force - pull.force.dot(axis)).abs() < 1e-7 * scale, "{force} {}", pull.force.dot(axis));
            assert!((first - pull.torques[0].dot(axis)).abs() < 1e-8 * scale, "{first} {}", pull.torques[0]);
            assert!((second - pull.torques[1].dot(axis)).abs() < 1e-8 * scale, "{second} {}", pull.torques[1]);
        }
        // Angular momentum: the pair of forces turns as much as the torques turn back.
        let sum = pull.torques[0] + pull.torques[1] - along.cross(pull.force);
        assert!(sum.length() < 1e-12 * pull.torques[0].length(), "{sum}");
    }

    #[test]
    fn a_bonded_pair_that_turns_as_a_whole_feels_nothing() {
        let (beam, along, turns) = beam();
        let whole = turn(0.3, -0.8, 0.5);
        let pull = beam.pull(&LAW, whole * along, turns.map(|q| whole * q));
        let scale = beam.stiffness(&LAW).normal * beam.length;
        assert!(
            pull.force.length() < 1e-9 * scale && pull.torques[0].length() < 1e-9 * scale * beam.length,
            "{pull:?}"
        );
    }

    #[test]
    fn each_way_to_deform_has_the_stiffness_of_its_formula() {
        let beam = Beam::new(0.1 * DVec3::X, [DQuat::IDENTITY; 2], 0.05);
        let (area, moment) = (PI * 0.0025, PI * 6.25e-6 / 4.0);
        let small = 1e-6;
        let near = |a: f64, b: f64| assert!((a / b - 1.0).abs() < 1e-5, "{a} {b}");
        let id = DQuat::IDENTITY;
        near(beam.pull(&LAW, (0.1 + small) * DVec3::X, [id; 2]).tension, 1e8 * area * small);
        near(beam.pull(&LAW, DVec3::new(0.1, small, 0.0), [id; 2]).shear, 4e7 * area * small);
        near(
            beam.pull(&LAW, 0.1 * DVec3::X, [turn(0.0, -small, 0.0), turn(0.0, small, 0.0)]).bend,
            1e8 * moment * 2.0 * small,
        );
        near(beam.pull(&LAW, 0.1 * DVec3::X, [id, turn(small, 0.0, 0.0)]).twist, 4e7 * 2.0 * moment * small);
        // Bending is no twist, and twisting no bend.
        assert!(beam.pull(&LAW, 0.1 * DVec3::X, [id, turn(0.0, 0.2, 0.0)]).twist < 1e-12);
        assert!(beam.pull(&LAW, 0.1 * DVec3::X, [id, turn(0.2, 0.0, 0.0)]).bend < 1e-12);
    }

    #[test]
    fn a_beam_breaks_at_its_strength() {
        let beam = Beam::new(0.1 * DVec3::X, [DQuat::IDENTITY; 2], 0.05);
        let (area, moment) = beam.section();
        let at = |pull: Pull| beam.fracture(&LAW, 1.0, &pull);
        let none = Pull::default();
        for share in [0.999, 1.001] {
            let broken = |mode| (share > 1.0).then_some(mode);
            assert_eq!(at(Pull { tension: 1e4 * area * share, ..none }), broken(Fracture::Tension));
            assert_eq!(at(Pull { bend: 1e4 * moment / 0.05 * share, ..none }), broken(Fracture::Tension));
            assert_eq!(at(Pull { shear: 1e4 * area * share, ..none }), broken(Fracture::Shear));
            assert_eq!(at(Pull { twist: 1e4 * 2.0 * moment / 0.05 * share, ..none }), broken(Fracture::Shear));
            // A pressure of 1 kPa adds half of it to the shear strength.
            assert_eq!(
                at(Pull { tension: -1e3 * area, shear: 1.05e4 * area * share, ..none }),
                broken(Fracture::Shear)
            );
        }
        assert_eq!(beam.fracture(&LAW, 2.0, &Pull { tension: 1.5e4 * area, ..none }), None);
    }
}
