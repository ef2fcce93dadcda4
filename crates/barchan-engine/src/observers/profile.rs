//! Fields of the continuum along a direction: volume fraction, velocity, stress, inertial number.
//!
//! Averages over cells, that is coarse-graining by the indicator function of a cell [Goldhirsch 2010, Granular Matter 12,
//! 239]. Mass and momentum of a grain go to the cells by the part of its volume that each holds; the stress of a contact
//! by the part of the line from the grain's centre of mass to the contact point that each holds. So sums over the cells are
//! those of the grains: no mass, no momentum and no stress is lost or counted twice, whatever the cells.

use super::images::Images;
use super::solids::{Solids, volume};
use super::{Observer, View, contacts_of};
use barchan_core::frame::Frame;
use barchan_core::neighbours::nearest_image;
use barchan_core::regions::Region;
use barchan_dem::{Column, Contact, Partner};
use barchan_io::csv;
use glam::{DMat3, DVec3};
use std::f64::consts::PI;

/// A contact of a flow lasts some 50 steps or more, and to visit all costs as much as a few steps.
const LOOK_EVERY: u64 = 256;

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

/// What a bin holds, summed over the looks since the last row.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Sums {
    /// Solid volume [m³].
    volume: f64,
    /// Mass [kg].
    mass: f64,
    /// Momentum [kg m/s].
    momentum: DVec3,
    /// Σ m v⊗v [J].
    kinetic: DMat3,
    /// −Σ f⊗l [J], f the force on a grain, l from its centre to the contact: pressing is positive.
    contact: DMat3,
    /// Volume times the diameter of the sphere of a grain's volume [m⁴].
    size: f64,
}

/// Numbers in [`Sums`].
const NUMBERS: usize = 24;

impl Sums {
    const NONE: Sums =
        Sums { volume: 0.0, mass: 0.0, momentum: DVec3::ZERO, kinetic: DMat3::ZERO, contact: DMat3::ZERO, size: 0.0 };

    fn to_array(self) -> [f64; NUMBERS] {
        let mut out = [0.0; NUMBERS];
        out[..3].copy_from_slice(&[self.volume, self.mass, self.size]);
        out[3..6].copy_from_slice(&self.momentum.to_array());
        out[6..15].copy_from_slice(&self.kinetic.to_cols_array());
        out[15..].copy_from_slice(&self.contact.to_cols_array());
        out
    }

    fn from_array(v: &[f64; NUMBERS]) -> Sums {
        let matrix = |at: usize| DMat3::from_cols_array(&std::array::from_fn(|k| v[at + k]));
        Sums {
            volume: v[0],
            mass: v[1],
            size: v[2],
            momentum: DVec3::new(v[3], v[4], v[5]),
            kinetic: matrix(6),
            contact: matrix(15),
        }
    }
}

/// The fields in bins of equal width along an axis of a box, each averaged over the time since the last row.
///
/// Stress is positive in compression: σ = (Σ m v'⊗v' − Σ f⊗l)/V with v' from the bin's mean velocity, its symmetric part; the
/// pressure is a third of its trace. The shear rate is that of the velocity across the axis, by central differences; the
/// inertial number I = γ̇ d/√(P/ρ) and the friction μ = τ/P take it, the shear stress τ on planes across the axis, the
/// grains' density ρ and their diameter d (of the sphere of equal volume, weighted by volume). What an empty bin does not have is
/// NaN.
#[derive(Clone, Debug)]
pub struct Profile {
    images: Images,
    /// Along the axis from here [m].
    from: f64,
    width: f64,
    axis: usize,
    /// Volume of a bin [m³].
    room: f64,
    sums: Vec<Sums>,
    looks: u64,
    solids: Solids,
}

impl Profile {
    /// `bins` bins along `axis` (0, 1, 2) of the box from `min` to `max` [m], in a domain with these periods [m], 0 where there is
    /// none.
    pub fn new(min: DVec3, max: DVec3, axis: usize, bins: usize, period: DVec3) -> Profile {
        let side = max - min;
        let (mut low, mut high) = (min, max);
        for k in (0..3).filter(|&k| k != axis && period[k] > 0.0) {
            // A whole period has no ends to be cut at.
            if (side[k] / period[k] - 1.0).abs() < 1e-9 {
                (low[k], high[k]) = (f64::NEG_INFINITY, f64::INFINITY);
            }
        }
        Profile {
            images: Images { min: low, max: high, period },
            from: min[axis],
            width: side[axis] / bins as f64,
            axis,
            room: side.element_product() / bins as f64,
            sums: vec![Sums::NONE; bins],
            looks: 0,
            solids: Solids::default(),
        }
    }

    fn edge(&self, bin: usize) -> f64 {
        if bin == self.sums.len() { self.images.max[self.axis] } else { self.from + bin as f64 * self.width }
    }

    /// Bins that something between two heights can be in.
    fn bins(&self, low: f64, high: f64) -> std::ops::Range<usize> {
        let last = self.sums.len();
        let index = |z: f64| ((z - self.from) / self.width).clamp(0.0, last as f64);
        index(low) as usize..(index(high).ceil() as usize).min(last)
    }

    fn cell(&self, bin: usize) -> Region {
        let (mut min, mut max) = (self.images.min, self.images.max);
        (min[self.axis], max[self.axis]) = (self.edge(bin), self.edge(bin + 1));
        Region::Box { min, max }
    }

    fn add(&mut self, frame: &Frame<'_>, contacts: &[Contact]) {
        self.looks += 1;
        for g in 0..frame.len() {
            self.add_grain(frame, g);
        }
        let mut row = vec![usize::MAX; frame.id.iter().max().map_or(0, |id| *id as usize + 1)];
        frame.id.iter().enumerate().for_each(|(g, id)| row[*id as usize] = g);
        for c in contacts {
            let force = c.tangential_force - c.normal * c.normal_force;
            self.add_force(frame.position[row[c.grain as usize]], c.point, force);
            if let Partner::Grain(id) = c.partner {
                self.add_force(frame.position[row[id as usize]], c.point, -force);
            }
        }
    }

    fn add_grain(&mut self, frame: &Frame<'_>, g: usize) {
        let (x, v, mass, whole) = (frame.position[g], frame.velocity[g], frame.mass[g], volume(frame, g));
        let reach = frame.shapes[frame.shape[g] as usize].bounding_radius() * frame.radius[g];
        let diameter = (6.0 * whole / PI).cbrt();
        let images = self.images;
        images.each(x - reach, x + reach, |shift| {
            let z = (x + shift)[self.axis];
            for bin in self.bins(z - reach, z + reach) {
                let cell = self.cell(bin);
                let part = self.solids.volume_in(frame, g, shift, &cell);
                let m = mass * part / whole;
                let s = &mut self.sums[bin];
                s.volume += part;
                s.mass += m;
                s.size += part * diameter;
                s.momentum += m * v;
                s.kinetic += outer(m * v, v);
            }
        });
    }

    /// Force [N] on a grain with centre `x` at a point.
    fn add_force(&mut self, x: DVec3, point: DVec3, force: DVec3) {
        let period = self.images.period;
        let arm = DVec3::from_array(std::array::from_fn(|k| nearest_image((point - x)[k], period[k])));
        let end = x + arm;
        let images = self.images;
        images.each(x.min(end), x.max(end), |shift| {
            let start = x + shift;
            for bin in self
                .bins(start[self.axis].min((start + arm)[self.axis]), start[self.axis].max((start + arm)[self.axis]))
            {
                let Region::Box { min, max } = self.cell(bin) else { continue };
                self.sums[bin].contact -= outer(force, arm) * share_of_line(start, arm, min, max);
            }
        });
    }

    fn row(&self) -> Vec<f64> {
        let bins = self.sums.len();
        let velocity: Vec<DVec3> = self.sums.iter().map(|s| s.momentum / s.mass).collect();
        let time_and_room = self.looks as f64 * self.room;
        let mut out = vec![f64::NAN; PROFILE_FIELDS.len() * bins];
        for (bin, s) in self.sums.iter().enumerate() {
            let u = velocity[bin];
            let kinetic = if s.mass > 0.0 { s.kinetic - outer(s.momentum, u) } else { DMat3::ZERO };
            let stress = (kinetic + s.contact) * (1.0 / time_and_room);
            let stress = (stress + stress.transpose()) * 0.5;
            let at = |a: usize, b: usize| stress.col(b)[a];
            let pressure = (at(0, 0) + at(1, 1) + at(2, 2)) / 3.0;
            let (p, q) = ((self.axis + 1) % 3, (self.axis + 2) % 3);
            let shear = at(self.axis, p).hypot(at(self.axis, q));
            let rate = self.shear_rate(&velocity, bin);
            let inertial = rate * s.size / s.volume / (pressure / (s.mass / s.volume)).sqrt();
            let fields = [
                s.volume / time_and_room,
                u.x,
                u.y,
                u.z,
                at(0, 0),
                at(1, 1),
                at(2, 2),
                at(0, 1),
                at(0, 2),
                at(1, 2),
                pressure,
                rate,
                inertial,
                shear / pressure,
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
        if above > below { change.length() / ((above - below) as f64 * self.width) } else { f64::NAN }
    }
}

/// a⊗b: rows of a, columns of b.
fn outer(a: DVec3, b: DVec3) -> DMat3 {
    DMat3::from_cols(a * b.x, a * b.y, a * b.z)
}

/// Share of the line from `start` along `arm` that lies in a box.
fn share_of_line(start: DVec3, arm: DVec3, min: DVec3, max: DVec3) -> f64 {
    let (mut from, mut to) = (0.0f64, 1.0f64);
    for k in 0..3 {
        if arm[k] != 0.0 {
            let (a, b) = ((min[k] - start[k]) / arm[k], (max[k] - start[k]) / arm[k]);
            (from, to) = (from.max(a.min(b)), to.min(a.max(b)));
        } else if start[k] < min[k] || start[k] >= max[k] {
            return 0.0;
        }
    }
    (to - from).max(0.0)
}

impl Observer for Profile {
    fn columns(&self) -> Vec<csv::Column> {
        let axis = ["x", "y", "z"][self.axis];
        let middle = |bin: usize| ((self.edge(bin) + 0.5 * self.width) * 1e9).round() / 1e9;
        let of = |(what, unit): (&str, &str)| -> Vec<csv::Column> {
            (0..self.sums.len()).map(|bin| csv::Column::new(format!("{what} {axis}={}", middle(bin)), unit)).collect()
        };
        PROFILE_FIELDS.into_iter().flat_map(of).collect()
    }

    fn watches(&self) -> bool {
        true
    }

    fn watch(&mut self, view: &View<'_>) {
        if view.frame.step.is_multiple_of(LOOK_EVERY) {
            self.add(view.frame, &contacts_of(view));
        }
    }

    fn measure(&mut self, view: &View<'_>) -> Vec<f64> {
        self.add(view.frame, &contacts_of(view));
        let row = self.row();
        self.sums.fill(Sums::NONE);
        self.looks = 0;
        row
    }

    fn save(&self) -> Vec<(&'static str, Column)> {
        let sums = self.sums.iter().flat_map(|s| s.to_array()).collect();
        vec![("sums", Column::F64(sums)), ("looks", Column::F64(vec![self.looks as f64]))]
    }

    fn load(&mut self, columns: &dyn Fn(&str) -> Option<Column>) -> Result<(), String> {
        match (columns("sums"), columns("looks")) {
            (Some(Column::F64(sums)), Some(Column::F64(looks)))
                if sums.len() == self.sums.len() * NUMBERS && looks.len() == 1 =>
            {
                self.sums = sums.as_chunks::<NUMBERS>().0.iter().map(Sums::from_array).collect();
                self.looks = looks[0] as u64;
                Ok(())
            }
            _ => Err("the profile has no state, or another number of bins".into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{contact, frame};
    use super::*;
    use barchan_core::rng::Random;

    /// A hundred grains anywhere in a box of side 1, periodic along x, with velocities, and contacts between neighbours in number.
    fn crowd() -> (Frame<'static>, Vec<Contact>) {
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
            p.add(&f, &contacts);
            let sum = |pick: &dyn Fn(&Sums) -> f64| p.sums.iter().map(pick).sum::<f64>();
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
        here.add(&f, &contacts);
        let wrap = |x: DVec3| DVec3::new((x.x + 0.5).rem_euclid(1.2), x.y, x.z);
        f.position = f.position.iter().map(|x| wrap(*x)).collect();
        contacts.iter_mut().for_each(|c| c.point = wrap(c.point));
        let mut there =
            Profile::new(DVec3::new(0.5, 0.0, 0.0), DVec3::new(1.5, 1.0, 1.0), 2, 7, DVec3::new(1.2, 0.0, 0.0));
        there.add(&f, &contacts);
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
        p.add(&f, &contacts);
        p.add(&f, &contacts);
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
        p.add(&f, &contacts);
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
        a.add(&f, &contacts);
        let saved = a.save();
        b.load(&|name| saved.iter().find(|(n, _)| *n == name).map(|(_, c)| c.clone())).unwrap();
        assert_eq!((a.sums, a.looks), (b.sums, b.looks));
        assert!(new().load(&|_| None).is_err());
    }
}
