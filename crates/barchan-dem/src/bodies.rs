//! Bodies with a surface: a grain that is integrated and a wall that goes along with it ([`crate::Carried`]).
//!
//! Others feel the wall; what they do to it is handed to the grain after the contact pass, as a load on the grain's first
//! sphere, so that the integrator knows nothing of it. Both sides of every contact act on what moves: momentum is kept.

use crate::kernel::Kernels;
use crate::state::vec3;
use crate::step::Solver;
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

    /// Whether a wall is carried, or was.
    pub fn carry(&self, wall: usize) -> bool {
        self.of(wall) != Carrier::None
    }

    /// Whether the spheres of a shape are under a surface.
    #[inline]
    pub fn covers(&self, shape: u16) -> bool {
        self.covers.get(shape as usize).copied().unwrap_or(false)
    }
}

impl<R: Kernels> Solver<R> {
    /// Looks up the slots of the grains that carry walls; to be called when slots have changed.
    pub fn find_carriers(&mut self) {
        let carried = &self.settings.carried;
        if carried.is_empty() {
            return;
        }
        let mut of_wall = vec![Carrier::None; self.settings.walls.len()];
        for c in carried {
            of_wall[c.wall as usize] = Carrier::Gone;
        }
        self.carriers.covers.resize(self.settings.shapes.len(), false);
        let walls: HashMap<u32, u16> = carried.iter().map(|c| (c.grain, c.wall)).collect();
        for (slot, id) in self.grains.id.iter().enumerate() {
            if let Some(&wall) = walls.get(id) {
                of_wall[wall as usize] = Carrier::Grain(slot as u32);
                self.carriers.covers[self.grains.shape[slot] as usize] = true;
            }
        }
        self.carriers.of_wall = of_wall;
    }

    /// Puts carried walls where their grains are.
    pub fn carry_walls(&mut self) {
        for w in 0..self.carriers.of_wall.len() {
            let Carrier::Grain(slot) = self.carriers.of_wall[w] else { continue };
            let g = slot as usize;
            let record = &self.spheres.record[self.grains.spheres_of(g..g + 1).start];
            let x = vec3(self.grains.place(g, &self.spheres.record));
            let [vx, vy, vz, wx, wy, wz, ..] = record.motion.map(Into::<f64>::into);
            let spin = DVec3::new(wx, wy, wz);
            let state = &mut self.walls[w];
            state.position = x;
            state.rotation = self.grains.turn(g);
            state.spin = spin;
            state.velocity = DVec3::new(vx, vy, vz) - spin.cross(vec3(&record.place) - x);
            state.inverse_mass = self.grains.velocity[g][3];
        }
    }

    /// Hands what carried walls have felt to their grains.
    pub fn hand_over(&mut self) {
        for w in 0..self.carriers.of_wall.len() {
            let Carrier::Grain(slot) = self.carriers.of_wall[w] else { continue };
            let g = slot as usize;
            let s = self.grains.spheres_of(g..g + 1).start;
            let arm = vec3(&self.spheres.record[s].place) - vec3(self.grains.place(g, &self.spheres.record));
            let (force, torque) = (self.walls[w].force, self.walls[w].torque);
            let torque = torque - arm.cross(force);
            let load = &mut self.spheres.load[s].0;
            for (k, x) in force.to_array().into_iter().chain(torque.to_array()).enumerate() {
                load[k] = R::of(Into::<f64>::into(load[k]) + x);
            }
        }
    }
}
