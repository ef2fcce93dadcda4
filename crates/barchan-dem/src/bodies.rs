//! Bodies with a surface: a grain that is integrated and a wall that goes along with it ([`barchan_core::boundary::Carried`]).
//!
//! Others feel the wall; what they do to it is handed to the grain after the contact pass, as a load on the grain's first
//! sphere, so that the integrator knows nothing of it. Both sides of every contact act on what moves: momentum is kept.
//! External loads ([`barchan_core::boundary::Body::external`]) take the same way, and so do impulses within a world step.

use crate::integrate::net_load;
use crate::kernel::Kernels;
use crate::state::vec3;
use crate::step::Solver;
use barchan_core::boundary::{Boundary, Load as BodyLoad, Pose};
use glam::DVec3;
use std::collections::HashMap;

/// Who carries a wall.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carrier {
    /// It stands or moves by itself.
    None,
    /// The grain in this slot.
    Grain(u32),
    /// A grain that is not in the world (any more): nobody can touch the wall.
    Gone,
}

/// A load from outside on a grain, held until it is changed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Held {
    /// Id of the grain.
    pub id: u32,
    /// Its present slot; none if it is not in the world (any more).
    slot: Option<u32>,
    /// Force [N].
    pub force: DVec3,
    /// Torque about the centre of mass [N m].
    pub torque: DVec3,
}

/// Carriers of the walls, by their present slots.
#[derive(Debug, Default)]
pub struct Carriers {
    /// By wall; empty where none is carried.
    of_wall: Vec<Carrier>,
    /// By shape, whether its spheres are under a surface; empty where none is carried.
    covers: Vec<bool>,
}

impl Carriers {
    /// Carrier of a wall.
    pub fn of(&self, wall: usize) -> Carrier {
        self.of_wall.get(wall).copied().unwrap_or(Carrier::None)
    }

    /// Whether the spheres of a shape are under a surface.
    #[inline]
    pub fn covers(&self, shape: u16) -> bool {
        self.covers.get(shape as usize).copied().unwrap_or(false)
    }
}

impl Held {
    /// Loads as columns of a checkpoint: ids, then six numbers each.
    pub fn columns(held: &[Held]) -> (Vec<u32>, Vec<f64>) {
        let numbers = |h: &Held| h.force.to_array().into_iter().chain(h.torque.to_array());
        (held.iter().map(|h| h.id).collect(), held.iter().flat_map(numbers).collect())
    }

    /// What [`Held::columns`] gave; none if it is something else.
    pub fn from_columns(ids: &[u32], numbers: &[f64]) -> Option<Vec<Held>> {
        let sound = numbers.len() == 6 * ids.len() && numbers.iter().all(|x| x.is_finite());
        let rows = ids.iter().zip(numbers.chunks_exact(6));
        let held = |(&id, n): (&u32, &[f64])| Held {
            id,
            slot: None,
            force: DVec3::from_slice(&n[..3]),
            torque: DVec3::from_slice(&n[3..]),
        };
        (sound && ids.is_sorted_by(|a, b| a < b)).then(|| rows.map(held).collect())
    }
}

impl<R: Kernels> Solver<R> {
    /// Looks up the slots of the grains that carry walls or bear loads; to be called when slots have changed.
    pub fn find_carriers(&mut self) {
        self.pinned.find(&self.grains);
        self.bonds.find(&self.grains);
        let carried = &self.fixtures.carried;
        if carried.is_empty() && self.held.is_empty() {
            return;
        }
        let mut of_wall = vec![Carrier::None; self.fixtures.walls.len()];
        for c in carried {
            of_wall[c.wall as usize] = Carrier::Gone;
        }
        self.held.iter_mut().for_each(|h| h.slot = None);
        self.carriers.covers.resize(self.settings.shapes.len(), false);
        let walls: HashMap<u32, u16> = carried.iter().map(|c| (c.body, c.wall)).collect();
        for (slot, id) in self.grains.id.iter().enumerate() {
            if let Some(&wall) = walls.get(id) {
                of_wall[wall as usize] = Carrier::Grain(slot as u32);
                self.carriers.covers[self.grains.shape[slot] as usize] = true;
            }
            if let Ok(held) = self.held.binary_search_by_key(id, |h| h.id) {
                self.held[held].slot = Some(slot as u32);
            }
        }
        self.carriers.of_wall = of_wall;
    }

    /// Sets the load from outside on a grain; false if it is not there. It acts from the next step on: what was held till now
    /// is in the loads already, and is changed there too.
    pub fn set_load(&mut self, id: u32, force: DVec3, torque: DVec3) -> bool {
        let place = self.held.binary_search_by_key(&id, |h| h.id);
        let known = place.ok().and_then(|at| self.held[at].slot);
        let Some(slot) = known.or_else(|| Some(self.grains.id.iter().position(|i| *i == id)? as u32)) else {
            return false;
        };
        let held = Held { id, slot: Some(slot), force, torque };
        let none = force == DVec3::ZERO && torque == DVec3::ZERO;
        let (old_force, old_torque) = match place {
            Ok(at) => (self.held[at].force, self.held[at].torque),
            Err(_) => (DVec3::ZERO, DVec3::ZERO),
        };
        match place {
            Ok(at) if none => drop(self.held.remove(at)),
            Ok(at) => self.held[at] = held,
            Err(at) if !none => self.held.insert(at, held),
            Err(_) => {}
        }
        self.bear(slot as usize, force - old_force, torque - old_torque);
        true
    }

    /// Puts carried walls where their grains are.
    pub fn carry_walls(&mut self) {
        for w in 0..self.carriers.of_wall.len() {
            let Carrier::Grain(slot) = self.carriers.of_wall[w] else { continue };
            let Pose { centre, rotation, velocity, spin, inverse_mass } = self.pose_at(slot as usize);
            let state = &mut self.walls[w];
            (state.position, state.rotation, state.velocity, state.spin) = (centre, rotation, velocity, spin);
            state.inverse_mass = inverse_mass;
        }
    }

    /// Where a grain is and how it moves, as its spheres have it.
    fn pose_at(&self, g: usize) -> Pose {
        let record = &self.spheres.record[self.grains.spheres_of(g..g + 1).start];
        let centre = vec3(self.grains.place(g, &self.spheres.record));
        let [vx, vy, vz, wx, wy, wz, ..] = record.motion.map(Into::<f64>::into);
        let spin = DVec3::new(wx, wy, wz);
        let velocity = DVec3::new(vx, vy, vz) - spin.cross(vec3(&record.place) - centre);
        Pose { centre, rotation: self.grains.turn(g), velocity, spin, inverse_mass: self.grains.velocity[g][3] }
    }

    /// Takes up external loads that have changed since they were last seen.
    pub fn take_loads(&mut self, boundary: &mut Boundary) {
        for id in 0..boundary.bodies.len() {
            let BodyLoad { force, torque } = boundary.bodies[id].external();
            let held = self.held.binary_search_by_key(&(id as u32), |h| h.id);
            let now = held.map_or((DVec3::ZERO, DVec3::ZERO), |at| (self.held[at].force, self.held[at].torque));
            if (force, torque) != now && self.set_load(id as u32, force, torque) {
                let net = self.load_on(id as u32).unwrap_or_default();
                boundary.bodies[id].net = BodyLoad { force: net.0, torque: net.1 };
            }
        }
    }

    /// Adds the impulses that bodies are given within a world step of length `dt` [s] to what acts on them in the next integration.
    pub fn take_impulses(&mut self, boundary: &Boundary, dt: f64) {
        for (id, body) in boundary.bodies.iter().enumerate() {
            let BodyLoad { force, torque } = body.pushed();
            if (force, torque) != (DVec3::ZERO, DVec3::ZERO)
                && let Some(slot) = self.grains.id.iter().position(|i| *i as usize == id)
            {
                self.bear(slot, force / dt, torque / dt);
            }
        }
    }

    /// Tells the boundary where the bodies are, and what acts on them.
    pub fn place_bodies(&self, boundary: &mut Boundary) {
        if boundary.bodies.is_empty() {
            return;
        }
        let mut slots = vec![None; boundary.bodies.len()];
        for (slot, &id) in self.grains.id.iter().enumerate() {
            if let Some(found) = slots.get_mut(id as usize) {
                *found = Some(slot);
            }
        }
        for (id, slot) in slots.into_iter().enumerate() {
            let net = slot.map_or(BodyLoad::default(), |g| {
                let (force, torque) = net_load(&self.grains, &self.spheres.record, &self.spheres.load, g);
                BodyLoad { force, torque }
            });
            boundary.place_body(id, slot.map(|g| self.pose_at(g)), net);
        }
    }

    /// Hands what carried walls have felt, and loads from outside, to their grains.
    pub fn hand_over(&mut self) {
        for w in 0..self.carriers.of_wall.len() {
            if let Carrier::Grain(slot) = self.carriers.of_wall[w] {
                self.bear(slot as usize, self.walls[w].force, self.walls[w].torque);
            }
        }
        for k in 0..self.held.len() {
            if let Held { slot: Some(slot), force, torque, .. } = self.held[k] {
                self.bear(slot as usize, force, torque);
            }
        }
    }

    /// Adds a force [N] and a torque about the centre of mass [N m] to what acts on grain `g`.
    fn bear(&mut self, g: usize, force: DVec3, torque: DVec3) {
        let s = self.grains.spheres_of(g..g + 1).start;
        let arm = vec3(&self.spheres.record[s].place) - vec3(self.grains.place(g, &self.spheres.record));
        let torque = torque - arm.cross(force);
        if let Some(lists) = self.blocks.get_mut(g / self.block) {
            lists.idle = false;
        }
        let load = &mut self.spheres.load[s].0;
        for (k, x) in force.to_array().into_iter().chain(torque.to_array()).enumerate() {
            load[k] = R::of(Into::<f64>::into(load[k]) + x);
        }
    }
}
