//! Sums over cells of a box: coarse-graining by the indicator function of a cell [Goldhirsch 2010, Granular Matter 12, 239].
//!
//! Mass and momentum of a grain go to the cells by the part of its volume that each holds; the stress of a contact by the part
//! of the line from the grain's centre of mass to the contact point that each holds. So sums over the cells are those of the
//! grains: no mass, no momentum and no stress is lost or counted twice, whatever the cells.

use super::images::Images;
use super::solids::{Solids, volume};
use barchan_core::columns::Column;
use barchan_core::frame::Population;
use barchan_core::math;
use barchan_core::neighbours::nearest_image;
use barchan_core::regions::Region;
use barchan_core::solver::{Contact, Partner};
use glam::{DMat3, DVec3};
use std::f64::consts::PI;
use std::ops::Range;

/// A contact of a flow lasts some 50 steps or more, and to visit all costs as much as a few steps.
pub(super) const LOOK_EVERY: u64 = 256;

/// What a cell holds, summed over the looks since the last row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Sums {
    /// Solid volume [m³].
    pub volume: f64,
    /// Mass [kg].
    pub mass: f64,
    /// Momentum [kg m/s].
    pub momentum: DVec3,
    /// Σ m v⊗v [J].
    pub kinetic: DMat3,
    /// −Σ f⊗l [J], f the force on a grain, l from its centre to the contact: pressing is positive.
    pub contact: DMat3,
    /// Volume times the diameter of the sphere of a grain's volume [m⁴].
    pub size: f64,
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

/// What the sums of a cell are as a continuum.
pub(super) struct Continuum {
    /// Share of the cell that is solid.
    pub fraction: f64,
    /// Velocity [m/s]; NaN in an empty cell.
    pub velocity: DVec3,
    /// Stress [Pa], symmetric, positive in compression: (Σ m v'⊗v' − Σ f⊗l)/V with v' from the cell's velocity.
    pub stress: DMat3,
    /// A third of the stress's trace [Pa].
    pub pressure: f64,
    /// Density of the grains [kg/m³] and their diameter (of the sphere of equal volume, weighted by volume) [m].
    pub grain: [f64; 2],
}

impl Continuum {
    /// Inertial number of a shear rate [1/s].
    pub fn inertial(&self, rate: f64) -> f64 {
        let [density, diameter] = self.grain;
        rate * diameter / (self.pressure / density).sqrt()
    }
}

/// Cells of equal size in a box.
#[derive(Clone, Debug)]
pub(super) struct Cells {
    images: Images,
    /// Lower corner of the first cell [m].
    pub low: DVec3,
    /// Upper corner of the last [m].
    high: DVec3,
    /// Sides of a cell [m].
    pub side: DVec3,
    /// Cells in each direction.
    pub counts: [usize; 3],
    /// By cell, along x first, then y, then z.
    pub sums: Vec<Sums>,
    pub looks: u64,
    solids: Solids,
}

impl Cells {
    /// So many cells in the box from `min` to `max` [m], in a domain with these periods [m], 0 where there is none.
    pub fn new(min: DVec3, max: DVec3, counts: [usize; 3], period: DVec3) -> Cells {
        let side = max - min;
        let (mut low, mut high) = (min, max);
        for k in (0..3).filter(|&k| counts[k] == 1 && period[k] > 0.0) {
            // A whole period has no ends to be cut at.
            if (side[k] / period[k] - 1.0).abs() < 1e-9 {
                (low[k], high[k]) = (f64::NEG_INFINITY, f64::INFINITY);
            }
        }
        Cells {
            images: Images { min: low, max: high, period },
            low: min,
            high: max,
            side: side / DVec3::from_array(counts.map(|n| n as f64)),
            counts,
            sums: vec![Sums::NONE; counts.iter().product()],
            looks: 0,
            solids: Solids::default(),
        }
    }

    /// Lower end of the n-th cells along a direction [m].
    pub fn edge(&self, axis: usize, n: usize) -> f64 {
        if n == self.counts[axis] { self.high[axis] } else { self.low[axis] + n as f64 * self.side[axis] }
    }

    /// Cells along a direction that something between two places can be in.
    fn along(&self, axis: usize, low: f64, high: f64) -> Range<usize> {
        let last = self.counts[axis];
        let index = |x: f64| ((x - self.low[axis]) / self.side[axis]).clamp(0.0, last as f64);
        let from = (index(low) as usize).min(last - 1);
        from..(index(high).ceil() as usize).clamp(from + 1, last)
    }

    /// Visits the cells that something between two corners can be in, with their boxes.
    fn each(&self, low: DVec3, high: DVec3, mut visit: impl FnMut(usize, DVec3, DVec3)) {
        let [xs, ys, zs] = [0, 1, 2].map(|k| self.along(k, low[k], high[k]));
        // The ends of a direction with one cell are the box's own, which may be nowhere.
        let end = |axis: usize, n: usize, open: f64| if self.counts[axis] == 1 { open } else { self.edge(axis, n) };
        let [min, max] = [self.images.min, self.images.max];
        for z in zs {
            for y in ys.clone() {
                for x in xs.clone() {
                    let at = [x, y, z];
                    let corner = |up: usize, open: DVec3| {
                        DVec3::from_array(std::array::from_fn(|k| end(k, at[k] + up, open[k])))
                    };
                    visit(x + self.counts[0] * (y + self.counts[1] * z), corner(0, min), corner(1, max));
                }
            }
        }
    }

    /// Adds what is there now.
    pub fn add(&mut self, frame: &Population, contacts: &[Contact]) {
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

    fn add_grain(&mut self, frame: &Population, g: usize) {
        let (x, v, mass, whole) = (frame.position[g], frame.velocity[g], frame.mass[g], volume(frame, g));
        let reach = frame.shape_of(g).bounding_radius() * frame.radius[g];
        let diameter = math::cbrt(6.0 * whole / PI);
        let (images, mut solids) = (self.images, std::mem::take(&mut self.solids));
        images.each(x - reach, x + reach, |shift| {
            let mut parts = Vec::new();
            self.each(x + shift - reach, x + shift + reach, |cell, min, max| {
                parts.push((cell, solids.volume_in(frame, g, shift, &Region::Box { min, max })));
            });
            for (cell, part) in parts {
                let m = mass * part / whole;
                let s = &mut self.sums[cell];
                s.volume += part;
                s.mass += m;
                s.size += part * diameter;
                s.momentum += m * v;
                s.kinetic += outer(m * v, v);
            }
        });
        self.solids = solids;
    }

    /// Force [N] on a grain with centre `x` at a point.
    fn add_force(&mut self, x: DVec3, point: DVec3, force: DVec3) {
        let period = self.images.period;
        let arm = DVec3::from_array(std::array::from_fn(|k| nearest_image((point - x)[k], period[k])));
        let end = x + arm;
        let images = self.images;
        images.each(x.min(end), x.max(end), |shift| {
            let mut parts = Vec::new();
            self.each(x.min(end) + shift, x.max(end) + shift, |cell, min, max| {
                parts.push((cell, share_of_line(x + shift, arm, min, max)));
            });
            for (cell, share) in parts {
                self.sums[cell].contact -= outer(force, arm) * share;
            }
        });
    }

    /// A cell as a continuum, averaged over the looks.
    pub fn continuum(&self, cell: usize) -> Continuum {
        let s = &self.sums[cell];
        let velocity = s.momentum / s.mass;
        let time_and_room = self.looks as f64 * self.side.element_product();
        let kinetic = if s.mass > 0.0 { s.kinetic - outer(s.momentum, velocity) } else { DMat3::ZERO };
        let stress = (kinetic + s.contact) * (1.0 / time_and_room);
        let stress = (stress + stress.transpose()) * 0.5;
        Continuum {
            fraction: s.volume / time_and_room,
            velocity,
            stress,
            pressure: (stress.x_axis.x + stress.y_axis.y + stress.z_axis.z) / 3.0,
            grain: [s.mass / s.volume, s.size / s.volume],
        }
    }

    /// Forgets all looks.
    pub fn clear(&mut self) {
        self.sums.fill(Sums::NONE);
        self.looks = 0;
    }

    /// What must survive a checkpoint.
    pub fn save(&self) -> Vec<(&'static str, Column)> {
        let sums = self.sums.iter().flat_map(|s| s.to_array()).collect();
        vec![("sums", Column::F64(sums)), ("looks", Column::F64(vec![self.looks as f64]))]
    }

    /// Takes back what [`Cells::save`] gave.
    pub fn load(&mut self, columns: &dyn Fn(&str) -> Option<Column>) -> Result<(), String> {
        match (columns("sums"), columns("looks")) {
            (Some(Column::F64(sums)), Some(Column::F64(looks)))
                if sums.len() == self.sums.len() * NUMBERS && looks.len() == 1 =>
            {
                self.sums = sums.as_chunks::<NUMBERS>().0.iter().map(Sums::from_array).collect();
                self.looks = looks[0] as u64;
                Ok(())
            }
            _ => Err("the cells have no state, or are others in number".into()),
        }
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
