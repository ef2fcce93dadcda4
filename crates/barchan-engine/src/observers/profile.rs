//! Fields of the continuum along a direction: volume fraction, velocity, stress, inertial number.

use super::cells::{Cells, LOOK_EVERY};
use super::{Asked, Observer, View, contacts_of};
use barchan_core::columns::Column;
use barchan_core::math;
use barchan_io::csv;
use barchan_scene::check::Check;
use barchan_scene::measure::Measured;
use barchan_scene::{Axis, Region, Scene, keys};
use glam::DVec3;

keys! {
    /// Volume fraction, velocity, stress, shear rate, inertial number and friction in bins along an axis.
    pub struct ProfileKeys = "write `profile = { box = { min, max }, axis = \"z\", bins = 20 }`" {
        /// Where: a box.
        @flat region: Region [; help("say where to measure: `box = { min, max }`")],
        /// Along which direction of the box.
        axis: Axis = Axis::Z,
        /// Number of bins.
        bins: u64 [; within(1.0, 1e4, "a profile of {} bins is useless", "give a number of bins such as 20")] = 20,
    }
}

impl Measured for ProfileKeys {
    const KEY: &'static str = "profile";
    const ABOUT: &'static str =
        "Volume fraction, velocity, stress, shear rate, inertial number and friction in bins along an axis.";

    fn check_all(&self, c: &mut Check, path: &str) {
        super::boxed(c, path, &self.region);
    }
}

impl Asked for ProfileKeys {
    fn observer(&self, scene: &Scene) -> Box<dyn Observer> {
        let (min, max) = self.region.to_core().bounds();
        Box::new(Profile::new(min, max, self.axis as usize, self.bins as usize, super::period(scene)))
    }
}

/// What a profile gives in each bin, with its unit, in the order of the columns.
pub const PROFILE_FIELDS: [(&str, &str); 14] = [
    ("volume fraction", ""),
    ("velocity x", "m/s"),
    ("velocity y", "m/s"),
    ("velocity z", "m/s"),
    ("stress xx", "Pa"),
    ("stress yy", "Pa"),
    ("stress zz", "Pa"),
    ("stress xy", "Pa"),
    ("stress xz", "Pa"),
    ("stress yz", "Pa"),
    ("pressure", "Pa"),
    ("shear rate", "1/s"),
    ("inertial number", ""),
    ("friction", ""),
];

/// The fields in bins of equal width along an axis of a box, each averaged over the time since the last row.
///
/// Stress is positive in compression, kinetic part and symmetric part of the contacts'; the pressure is a third of its trace. The
/// shear rate is that of the velocity across the axis, by central differences; the inertial number I = γ̇ d/√(P/ρ) and the friction
/// μ = τ/P take it, the shear stress τ on planes across the axis, the grains' density ρ and their diameter d (of the sphere of equal
/// volume, weighted by volume). What an empty bin does not have is NaN.
#[derive(Clone, Debug)]
pub struct Profile {
    cells: Cells,
    axis: usize,
}

impl Profile {
    /// `bins` bins along `axis` (0, 1, 2) of the box from `min` to `max` [m], in a domain with these periods [m], 0 where there is
    /// none.
    pub fn new(min: DVec3, max: DVec3, axis: usize, bins: usize, period: DVec3) -> Profile {
        let mut counts = [1; 3];
        counts[axis] = bins;
        Profile { cells: Cells::new(min, max, counts, period), axis }
    }

    fn row(&self) -> Vec<f64> {
        let bins = self.cells.sums.len();
        let all: Vec<_> = (0..bins).map(|bin| self.cells.continuum(bin)).collect();
        let velocity: Vec<DVec3> = all.iter().map(|c| c.velocity).collect();
        let mut out = vec![f64::NAN; PROFILE_FIELDS.len() * bins];
        for (bin, c) in all.iter().enumerate() {
            let (u, at) = (c.velocity, |a: usize, b: usize| c.stress.col(b)[a]);
            let (p, q) = ((self.axis + 1) % 3, (self.axis + 2) % 3);
            let shear = math::hypot(at(self.axis, p), at(self.axis, q));
            let rate = self.shear_rate(&velocity, bin);
            let fields = [
                c.fraction,
                u.x,
                u.y,
                u.z,
                at(0, 0),
                at(1, 1),
                at(2, 2),
                at(0, 1),
                at(0, 2),
                at(1, 2),
                c.pressure,
                rate,
                c.inertial(rate),
                shear / c.pressure,
            ];
            fields.iter().enumerate().for_each(|(k, f)| out[k * bins + bin] = *f);
        }
        out
    }

    /// Shear rate across the axis [1/s] between the neighbours that have a velocity.
    fn shear_rate(&self, velocity: &[DVec3], bin: usize) -> f64 {
        let has = |k: &usize| velocity.get(*k).is_some_and(|u| !u.is_nan());
        let below = bin.checked_sub(1).filter(has).unwrap_or(bin);
        let above = Some(bin + 1).filter(has).unwrap_or(bin);
        let mut change = velocity[above] - velocity[below];
        change[self.axis] = 0.0;
        let width = self.cells.side[self.axis];
        if above > below { change.length() / ((above - below) as f64 * width) } else { f64::NAN }
    }
}

impl Observer for Profile {
    fn columns(&self) -> Vec<csv::Column> {
        let axis = ["x", "y", "z"][self.axis];
        let half = 0.5 * self.cells.side[self.axis];
        let middle = |bin: usize| ((self.cells.edge(self.axis, bin) + half) * 1e9).round() / 1e9;
        let of = |(what, unit): (&str, &str)| -> Vec<csv::Column> {
            let name = |bin| csv::Column::new(format!("{what} {axis}={}", middle(bin)), unit);
            (0..self.cells.sums.len()).map(name).collect()
        };
        PROFILE_FIELDS.into_iter().flat_map(of).collect()
    }

    fn watches(&self) -> bool {
        true
    }

    fn watch(&mut self, view: &View<'_>) {
        if view.frame.step.is_multiple_of(LOOK_EVERY) {
            self.cells.add(view.grains(), &contacts_of(view));
        }
    }

    fn measure(&mut self, view: &View<'_>) -> Vec<f64> {
        self.cells.add(view.grains(), &contacts_of(view));
        let row = self.row();
        self.cells.clear();
        row
    }

    fn save(&self) -> Vec<(&'static str, Column)> {
        self.cells.save()
    }

    fn load(&mut self, columns: &dyn Fn(&str) -> Option<Column>) -> Result<(), String> {
        self.cells.load(columns)
    }
}

#[cfg(test)]
mod tests {
    use super::super::cells::Sums;
    use super::super::tests::{contact, frame};
    use super::*;
    use barchan_core::frame::Population;
    use barchan_core::rng::Random;
    use barchan_core::solver::{Contact, Partner};
    use std::f64::consts::PI;

    /// A hundred grains anywhere in a box of side 1, periodic along x, with velocities, and contacts between neighbours in number.
    fn crowd() -> (Population, Vec<Contact>) {
        let mut rng = Random::new(11, 4);
        let places: Vec<DVec3> = (0..100).map(|_| 0.3 * rng.in_ball() + 0.5).collect();
        let mut f = frame(&places, 0.07);
        f.velocity = (0..100).map(|_| rng.direction()).collect();
        f.mass = (0..100).map(|_| rng.range(1.0, 2.0)).collect();
        let contacts = (0..99).map(|g| Contact {
            normal: rng.direction(),
            normal_force: rng.uniform(),
            tangential_force: rng.direction() * 0.1,
            point: 0.5 * (places[g] + places[g + 1]),
            ..contact(g as u32, if g % 5 == 0 { Partner::Wall(0) } else { Partner::Grain(g as u32 + 1) })
        });
        let contacts = contacts.collect();
        (f, contacts)
    }

    #[test]
    fn mass_momentum_and_stress_of_all_cells_are_those_of_the_grains() {
        let (f, contacts) = crowd();
        for axis in 0..3 {
            let mut p = Profile::new(DVec3::ZERO, DVec3::ONE, axis, 13, DVec3::ZERO);
            p.cells.add(&f, &contacts);
            let sum = |pick: &dyn Fn(&Sums) -> f64| p.cells.sums.iter().map(pick).sum::<f64>();
            assert!((sum(&|s| s.mass) / f.mass.iter().sum::<f64>() - 1.0).abs() < 1e-12);
            for k in 0..3 {
                let momentum: f64 = (0..100).map(|g| f.mass[g] * f.velocity[g][k]).sum();
                assert!((sum(&|s| s.momentum[k]) - momentum).abs() < 1e-10);
                for l in 0..3 {
                    let exact: f64 = (contacts.iter())
                        .map(|c| {
                            let force = c.tangential_force - c.normal * c.normal_force;
                            let from = f.position[c.grain as usize];
                            // Between two grains the arms add up to the branch vector; at a wall the arm ends at the wall.
                            let to = match c.partner {
                                Partner::Grain(j) => f.position[j as usize],
                                Partner::Wall(_) => c.point,
                            };
                            -force[k] * (to - from)[l]
                        })
                        .sum();
                    assert!((sum(&|s| s.contact.col(l)[k]) - exact).abs() < 1e-11);
                }
            }
        }
    }

    #[test]
    fn a_box_across_a_periodic_boundary_holds_what_it_holds_elsewhere() {
        let (mut f, mut contacts) = crowd();
        let mut here = Profile::new(DVec3::ZERO, DVec3::ONE, 2, 7, DVec3::new(1.2, 0.0, 0.0));
        here.cells.add(&f, &contacts);
        let wrap = |x: DVec3| DVec3::new((x.x + 0.5).rem_euclid(1.2), x.y, x.z);
        f.position = f.position.iter().map(|x| wrap(*x)).collect();
        contacts.iter_mut().for_each(|c| c.point = wrap(c.point));
        let mut there =
            Profile::new(DVec3::new(0.5, 0.0, 0.0), DVec3::new(1.5, 1.0, 1.0), 2, 7, DVec3::new(1.2, 0.0, 0.0));
        there.cells.add(&f, &contacts);
        let close = |a: f64, b: f64| (a - b).abs() < 1e-9 || (a.is_nan() && b.is_nan());
        assert!(here.row().iter().zip(there.row()).all(|(a, b)| close(*a, b)));
    }

    #[test]
    fn a_chain_under_a_load_carries_it_through_every_bin() {
        // Ten spheres of diameter 1 on top of each other, pressed by 3 N, on a base of 2 m²: 1.5 Pa, and no kinetic part.
        let places: Vec<DVec3> = (0..10).map(|k| DVec3::new(0.5, 0.5, k as f64 + 0.5)).collect();
        let mut f = frame(&places, 0.5);
        f.velocity = vec![DVec3::new(2.0, 0.0, 0.0); 10].into();
        let link = |g: u32, partner, z: f64, up: f64| Contact {
            point: DVec3::new(0.5, 0.5, z),
            normal: DVec3::Z * up,
            normal_force: 3.0,
            ..contact(g, partner)
        };
        let mut contacts: Vec<Contact> = (0..9).map(|g| link(g, Partner::Grain(g + 1), g as f64 + 1.0, 1.0)).collect();
        contacts.extend([link(0, Partner::Wall(0), 0.0, -1.0), link(9, Partner::Wall(1), 10.0, 1.0)]);
        let mut p = Profile::new(DVec3::ZERO, DVec3::new(2.0, 1.0, 10.0), 2, 7, DVec3::ZERO);
        p.cells.add(&f, &contacts);
        p.cells.add(&f, &contacts);
        let row = p.row();
        let field = |name: &str| {
            let k = PROFILE_FIELDS.iter().position(|f| f.0 == name).unwrap();
            row[7 * k..7 * (k + 1)].to_vec()
        };
        assert!(field("stress zz").iter().all(|s| (s - 1.5).abs() < 1e-12));
        assert!(field("stress xx").iter().all(|s| s.abs() < 1e-12) && field("pressure")[3] - 0.5 < 1e-12);
        assert!((field("volume fraction").iter().sum::<f64>() / 7.0 - PI / 12.0).abs() < 1e-12);
        assert!(field("velocity x").iter().all(|u| (u - 2.0).abs() < 1e-12));
        assert!(field("shear rate").iter().all(|g| g.abs() < 1e-12));
    }

    #[test]
    fn a_sheared_lattice_has_its_rate_and_inertial_number() {
        // A cubic lattice of unit spheres of density 2 sheared at rate 3 along z: u_y = 3 z, hung up by 8 N contacts along x.
        let places: Vec<DVec3> =
            (0..64).map(|n| DVec3::new((n % 4) as f64, (n / 4 % 4) as f64, (n / 16) as f64) + 0.5).collect();
        let mut f = frame(&places, 0.5);
        f.velocity = places.iter().map(|x| DVec3::Y * 3.0 * x.z).collect();
        f.mass = vec![2.0 * PI / 6.0; 64].into();
        let contacts: Vec<Contact> = (0..64)
            .map(|g: u32| Contact {
                point: places[g as usize] + 0.5 * DVec3::X,
                normal: DVec3::X,
                normal_force: 8.0,
                ..contact(g, Partner::Grain(if g % 4 == 3 { g - 3 } else { g + 1 }))
            })
            .collect();
        let mut p = Profile::new(DVec3::ZERO, DVec3::splat(4.0), 2, 4, DVec3::new(4.0, 4.0, 0.0));
        p.cells.add(&f, &contacts);
        let row = p.row();
        let at = |k: usize, bin: usize| row[4 * k + bin];
        for bin in 0..4 {
            assert!((at(0, bin) - PI / 6.0).abs() < 1e-12 && (at(11, bin) - 3.0).abs() < 1e-9);
            // σ_xx = 8 N on each m² and nothing else: P = 8/3 Pa, I = 3 · 1/√(P/2).
            assert!((at(4, bin) - 8.0).abs() < 1e-9 && (at(10, bin) - 8.0 / 3.0).abs() < 1e-9);
            assert!((at(12, bin) - 3.0 / (4.0f64 / 3.0).sqrt()).abs() < 1e-9 && at(13, bin).abs() < 1e-12);
        }
    }

    #[test]
    fn state_survives_saving() {
        let (f, contacts) = crowd();
        let new = || Profile::new(DVec3::ZERO, DVec3::ONE, 0, 5, DVec3::ZERO);
        let (mut a, mut b) = (new(), new());
        a.cells.add(&f, &contacts);
        let saved = a.save();
        b.load(&|name| saved.iter().find(|(n, _)| *n == name).map(|(_, c)| c.clone())).unwrap();
        assert_eq!((a.cells.sums, a.cells.looks), (b.cells.sums, b.cells.looks));
        assert!(new().load(&|_| None).is_err());
    }
}
