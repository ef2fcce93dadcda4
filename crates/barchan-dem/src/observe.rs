//! What readers get to see: frames, contacts, energies, the state's hash. Changes nothing.

use crate::integrate::{lag, net_load};
use crate::kernel::{Kernels, Met, Pass, Probed};
use crate::settings::Work;
use crate::state::vec3;
use crate::step::Solver;
use barchan_core::columns::mix;
use barchan_core::frame::{Extra, GRAINS, Population, Shared};
use barchan_core::simd::WIDTH;
use barchan_core::solver::{Contact, Energies, Partner};
use glam::DVec3;
use rayon::prelude::*;

/// Additions, multiplications, divisions and roots of a pair that touches, by Hertz and Mindlin without rolling: 24 for
/// the gap, 16 to place the contact, 33 for the velocity there, 74 for the law, 45 to hand on the force.
const OPERATIONS: usize = 192;
/// Those of a pair that does not.
const OPERATIONS_APART: usize = 12;

/// Slot of a load that counts contacts.
const CONTACTS: usize = 6;
/// Slot of a load that sums normal forces.
const NORMAL_FORCES: usize = 7;

impl<R: Kernels> Solver<R> {
    /// Velocity and angular velocity of grain `g` at the present time.
    pub fn motion_of(&self, g: usize) -> (DVec3, DVec3) {
        if self.pinned.has(g) {
            return (DVec3::ZERO, DVec3::ZERO);
        }
        let s = &self.settings;
        let lag = lag(s.integrator, s.dt);
        let (force, torque) = net_load(&self.grains, &self.spheres.record, &self.spheres.load, g);
        let v = vec3(&self.grains.velocity[g]) + (force * self.grains.velocity[g][3] + s.gravity) * lag;
        let l = vec3(&self.grains.momentum[g]) + torque * lag;
        (v, self.grains.spin(g, l, self.grains.turn(g), &s.shapes))
    }

    /// Force and torque about the centre of mass of all contacts of the grain `id`.
    pub fn load_on(&self, id: u32) -> Option<(DVec3, DVec3)> {
        let g = self.grains.id.iter().position(|i| *i == id)?;
        Some(net_load(&self.grains, &self.spheres.record, &self.spheres.load, g))
    }

    /// The grains as readers see them; velocities at the full step.
    pub fn population(&self) -> Population {
        let g = &self.grains;
        let motion: Vec<(DVec3, DVec3)> = (0..g.len()).into_par_iter().map(|k| self.motion_of(k)).collect();
        let load = |slot: usize, k: usize| -> f32 {
            g.spheres_of(k..k + 1).map(|s| Into::<f64>::into(self.spheres.load[s].0[slot]) as f32).sum()
        };
        let places = || (0..g.len()).map(|k| g.place(k, &self.spheres.record));
        let column = |slot, of: fn(&Contact) -> f32| -> Shared<f32> {
            self.with_dormant((0..g.len()).map(|k| load(slot, k)).collect(), of).into()
        };
        Population {
            name: GRAINS.into(),
            position: places().map(vec3).collect(),
            velocity: motion.iter().map(|m| m.0).collect(),
            spin: motion.iter().map(|m| m.1).collect(),
            orientation: g.turn[..].into(),
            radius: places().map(|p| p[3]).collect(),
            mass: g.velocity.iter().map(|v| 1.0 / v[3]).collect(),
            id: g.id[..].into(),
            material: g.material[..].into(),
            shape: g.shape[..].into(),
            shapes: self.settings.shapes.clone(),
            extras: vec![
                Extra::real("coordination", "", column(CONTACTS, |_| 1.0)),
                Extra::real("normal_force", "N", column(NORMAL_FORCES, |c| c.normal_force as f32)),
            ],
        }
    }

    /// Whether the grain in a row of [`Solver::population`] touches anything.
    pub fn touches(&self, row: usize) -> bool {
        self.grains.spheres_of(row..row + 1).any(|s| Into::<f64>::into(self.spheres.load[s].0[CONTACTS]) > 0.0)
    }

    /// Visits the balls of all grains that have no surface among the walls.
    pub fn balls(&self, visit: &mut dyn FnMut(DVec3, f64)) {
        let reach: Vec<f64> = self.settings.shapes.iter().map(|s| s.bounding_radius()).collect();
        let carried = &self.fixtures.carried;
        for g in 0..self.grains.len() {
            if carried.iter().all(|c| c.body != self.grains.id[g]) {
                let place = self.grains.place(g, &self.spheres.record);
                visit(vec3(place), reach[self.grains.shape[g] as usize] * place[3]);
            }
        }
    }

    /// Mass [kg] and momentum [kg m/s] of all grains.
    pub fn momentum(&self) -> (f64, DVec3) {
        let sum = |(mass, momentum): (f64, DVec3), g: usize| {
            let m = 1.0 / self.grains.velocity[g][3];
            (mass + m, momentum + m * self.motion_of(g).0)
        };
        (0..self.grains.len()).fold((0.0, DVec3::ZERO), sum)
    }

    fn pass(&self) -> Pass<'_, R> {
        Pass {
            records: &self.spheres.record,
            law: self.settings.law,
            rolling: self.rolling,
            table: &self.table,
            walls: &self.fixtures.walls,
            wall_states: &self.walls,
            period: self.period(),
            lattice: self.lattice(),
            dt: self.settings.dt,
            max_overlap: self.settings.max_overlap,
        }
    }

    /// Visits every touching contact with its lane and partners; one between blocks is taken from that of its lower slot.
    pub(crate) fn each_contact(&self, visit: &mut dyn FnMut(&Probed, usize, u32, Met)) {
        if self.stale {
            return;
        }
        let pass = self.pass();
        for b in &self.blocks {
            for (list, both) in [(&b.inner, true), (&b.cross, false)] {
                for (n, (batch, _)) in list.with_touching().enumerate().filter(|(_, (_, touching))| *touching != 0) {
                    let p = (R::PROBE.pairs)(&pass, batch, list.rolls.get(n));
                    for k in (0..WIDTH).filter(|k| p.touching >> k & 1 == 1 && (both || batch.i[*k] < batch.j[*k])) {
                        visit(&p, k, batch.i[k], Met::Sphere(batch.j[k]));
                    }
                }
            }
            for (n, batch) in b.walls.iter().enumerate().filter(|(_, batch)| batch.touching != 0) {
                let p = (R::PROBE.walls)(&pass, batch, b.wall_rolls.get(n));
                for k in (0..WIDTH).filter(|k| p.touching >> k & 1 == 1) {
                    visit(&p, k, batch.i[k], Met::Wall(batch.wall[k]));
                }
            }
        }
    }

    /// Visits spheres that touch, by the lists, with the feature where the second is a wall.
    pub fn each_touch(&self, visit: &mut dyn FnMut(u32, Met, u32)) {
        for b in &self.blocks {
            for (list, both) in [(&b.inner, true), (&b.cross, false)] {
                for (batch, touching) in list.with_touching() {
                    for k in (0..WIDTH).filter(|k| touching >> k & 1 == 1 && (both || batch.i[*k] < batch.j[*k])) {
                        visit(batch.i[k], Met::Sphere(batch.j[k]), 0);
                    }
                }
            }
            for batch in &b.walls {
                for k in (0..WIDTH).filter(|k| batch.touching >> k & 1 == 1) {
                    visit(batch.i[k], Met::Wall(batch.wall[k]), batch.key[k]);
                }
            }
        }
    }

    pub fn contacts_now(&self) -> Vec<Contact> {
        let mut out = Vec::new();
        self.each_contact(&mut |p, k, i, j| out.push(self.contact_of(p, k, i, j)));
        out.extend_from_slice(self.dormant());
        out
    }

    /// The contact in lane `k`, of sphere `i` with its partner.
    pub(crate) fn contact_of(&self, p: &Probed, k: usize, i: u32, j: Met) -> Contact {
        let at = |c: &[[f64; WIDTH]; 3]| DVec3::new(c[0][k], c[1][k], c[2][k]);
        let place = &self.spheres.record[i as usize].place;
        let normal = at(&p.normal);
        Contact {
            grain: self.id_of(i),
            partner: match j {
                Met::Sphere(j) => Partner::Grain(self.id_of(j)),
                Met::Wall(w) => Partner::Wall(w),
            },
            point: vec3(place) + normal * (place[3] - 0.5 * p.overlap[k]),
            normal,
            overlap: p.overlap[k],
            normal_force: p.press[k],
            tangential_force: at(&p.traction),
            elastic_energy: p.energy[k],
            slide: at(&p.slide),
        }
    }

    /// Contacts of sleeping grains of which nothing is computed.
    fn dormant(&self) -> &[Contact] {
        self.sleep.as_ref().map_or(&[], |s| s.ledger.dormant())
    }

    /// Adds what dormant contacts add to a column of numbers by slot.
    fn with_dormant(&self, mut column: Vec<f32>, of: impl Fn(&Contact) -> f32) -> Vec<f32> {
        if !self.dormant().is_empty() {
            let slots = self.slots();
            for c in self.dormant() {
                let other = if let Partner::Grain(id) = c.partner { Some(id) } else { None };
                for slot in [Some(c.grain), other].into_iter().flatten().filter_map(|id| slots.get(id)) {
                    column[slot] += of(c);
                }
            }
        }
        column
    }

    pub fn pushes(&self) -> Vec<([usize; 2], DVec3)> {
        let mut out = Vec::new();
        self.each_contact(&mut |p, k, i, j| {
            let Met::Sphere(j) = j else { return };
            let at = |c: &[[f64; WIDTH]; 3]| DVec3::new(c[0][k], c[1][k], c[2][k]);
            out.push(([i, j].map(|s| self.slot_of(s)), at(&p.traction) - at(&p.normal) * p.press[k]));
        });
        out
    }

    pub fn coordination(&self) -> f64 {
        let count: f64 =
            self.spheres.load.par_chunks(4096).map(|c| c.iter().map(|l| Into::<f64>::into(l.0[6])).sum::<f64>()).sum();
        let sides = |c: &Contact| if matches!(c.partner, Partner::Grain(_)) { 2 } else { 1 };
        let dormant: usize = self.dormant().iter().map(sides).sum();
        if self.grains.len() == 0 { 0.0 } else { (count + dormant as f64) / self.grains.len() as f64 }
    }

    pub fn energies(&self) -> Energies {
        let g = &self.grains;
        let floor = self.settings.domain.min;
        // Sums of fixed chunks added in order: the same on any number of threads.
        let parts: Vec<Energies> = (0..g.len().div_ceil(4096))
            .into_par_iter()
            .map(|c| {
                let mut e = Energies::default();
                for k in c * 4096..((c + 1) * 4096).min(g.len()) {
                    let (v, w) = self.motion_of(k);
                    let mass = 1.0 / g.velocity[k][3];
                    let place = g.place(k, &self.spheres.record);
                    let inertia = 1.0 / g.inverse_inertia(k, place[3], &self.settings.shapes);
                    let w = g.turn(k).inverse() * w;
                    e.translation += 0.5 * mass * v.length_squared();
                    e.rotation += 0.5 * (w * w).dot(inertia);
                    e.gravity -= mass * self.settings.gravity.dot(vec3(place) - floor);
                }
                e
            })
            .collect();
        let mut sum = Energies::default();
        for p in parts {
            sum.translation += p.translation;
            sum.rotation += p.rotation;
            sum.gravity += p.gravity;
        }
        self.each_contact(&mut |p, k, _, _| sum.elastic += p.energy[k]);
        sum.elastic += self.dormant().iter().map(|c| c.elastic_energy).sum::<f64>();
        sum.elastic += self.bond_energy() + self.bridge_energy();
        sum
    }

    pub fn largest_overlap(&self) -> f64 {
        let mut largest = 0f64;
        self.each_contact(&mut |p, k, i, j| {
            let radius = |s: u32| self.spheres.record[s as usize].place[3];
            let least = match j {
                Met::Sphere(j) => radius(i).min(radius(j)),
                Met::Wall(_) => radius(i),
            };
            largest = largest.max(p.overlap[k] / least);
        });
        largest
    }

    pub fn memory_bytes(&self) -> usize {
        self.grains.memory_bytes()
            + self.spheres.memory_bytes()
            + self.blocks.iter().map(|b| b.memory_bytes()).sum::<usize>()
            + self.grids.memory_bytes()
            + self.asleep.memory_bytes()
            + self.bonds.memory_bytes()
            + self.sleep.as_ref().map_or(0, |s| s.memory_bytes())
            + self.bridges.memory_bytes()
            + self.scratch.memory_bytes()
    }

    /// What one step must at least move and compute; see [`Work`].
    pub fn work(&self) -> Work {
        let sphere = 3 * size_of::<crate::state::Record<R>>() + 3 * size_of::<crate::state::Load<R>>();
        let grain = size_of::<[f64; 4]>() * if self.grains.all_spheres() { 4 } else { 8 } + 8;
        let batches = |touching: bool| -> usize {
            let lists = self.blocks.iter().flat_map(|b| b.inner.with_touching().chain(b.cross.with_touching()));
            lists.filter(|(_, lanes)| (*lanes != 0) == touching).count()
        };
        let (touching, near) = (batches(true), batches(false));
        let batch = size_of::<crate::lists::Batch<R>>();
        Work {
            bytes: self.spheres.len() * sphere + self.grains.len() * grain + touching * 2 * batch + near * batch,
            operations: (touching * OPERATIONS + near * OPERATIONS_APART) * WIDTH,
        }
    }

    /// Mixes the bits of positions, velocities, momenta, orientations and ids, in the order of ids, into a hash.
    pub fn hash(&self, start: u64) -> u64 {
        let g = &self.grains;
        let mut order: Vec<u32> = (0..g.len() as u32).collect();
        order.sort_unstable_by_key(|&k| g.id[k as usize]);
        let mut h = start;
        for k in order.into_iter().map(|k| k as usize) {
            h = mix(h, u64::from(g.id[k]));
            for column in [g.place(k, &self.spheres.record), &g.velocity[k], &g.momentum[k]] {
                h = column[..3].iter().fold(h, |h, x| mix(h, x.to_bits()));
            }
            if !g.turn.is_empty() {
                h = g.turn[k].to_array().iter().fold(h, |h, x| mix(h, x.to_bits()));
            }
        }
        h
    }
}
