//! What frozen sand does to walls.
//!
//! The stress within locked cells is not computed. Each place where they touch a wall remembers the force that it had when it was locked, in which the
//! sand was at rest. The liquid goes on pushing, more or less than then: what a *part* of the solid (frozen bricks that touch) is given, by
//! the liquid, by its own weight, and by parcels that it stops, less what its walls remember, is shared among the places where it touches walls, along
//! each axis in proportion to what they bear. So walls and sand together keep their momentum to rounding; how the change is divided is a guess.

use super::{BACK, Solid, about, add, unit};
use crate::grid::{Grid, ROWS};
use crate::parcels::brick_of;
use glam::DVec3;
use std::collections::BTreeMap;

/// An impulse on a wall where a cell touches it, in units of ρ_max.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Touch {
    /// The cell.
    pub cell: [i32; 3],
    /// The wall.
    pub wall: u16,
    /// How much [m³ m/s].
    pub impulse: DVec3,
    /// Angular impulse about the cell's middle [m⁴ m/s]: forces on faces beside the cell pass by its middle.
    pub couple: DVec3,
}

impl Touch {
    /// One through the middle of a cell.
    pub fn new(cell: [i32; 3], wall: u16, impulse: DVec3) -> Touch {
        Touch { cell, wall, impulse, couple: DVec3::ZERO }
    }
}

/// Forces of frozen sand on walls.
#[derive(Clone, Debug, Default)]
pub struct Borne {
    /// Of locked cells, and of cells inside walls beside them, and the walls that they touch: the force they had [m⁴/s²].
    pub held: BTreeMap<([i32; 3], u16), DVec3>,
    /// The part that a brick belongs to or touches.
    parts: BTreeMap<[i32; 3], u32>,
    /// Mass of each part that is on no living face of an axis, in full cells.
    idle: BTreeMap<u32, DVec3>,
}

impl Solid {
    /// Remembers the forces of the last step, of `dt` [s], where cells have been locked since.
    pub fn remember(&mut self, grid: &Grid, touches: &[Touch], dt: f64) {
        let mut new: BTreeMap<([i32; 3], u16), DVec3> = BTreeMap::new();
        for &Touch { cell, wall, impulse, .. } in touches {
            if self.is_held(grid, cell) && !self.borne.held.contains_key(&(cell, wall)) {
                *new.entry((cell, wall)).or_default() += impulse / dt;
            }
        }
        self.borne.held.extend(new);
    }

    /// Forgets those of cells that are locked no more.
    pub(super) fn forget(&mut self, grid: &Grid) {
        let mut held = std::mem::take(&mut self.borne.held);
        held.retain(|(cell, _), _| self.is_held(grid, *cell));
        self.borne.held = held;
    }

    /// Whether what a cell does to walls is remembered: it is locked, or inside a wall and beside locked cells alone.
    fn is_held(&self, grid: &Grid, cell: [i32; 3]) -> bool {
        let beside = |k: usize| self.kind(grid, add(cell, unit(k >> 1, if k & 1 == 0 { -1 } else { 1 })));
        match self.at(grid, cell) {
            0 => false,
            BACK => (0..6).any(|k| beside(k).0) && !(0..6).any(|k| beside(k).1),
            _ => self.kind(grid, cell).0,
        }
    }

    /// Numbers the parts.
    pub(super) fn part_up(&mut self, grid: &Grid) {
        let (blocks, parts) = (&self.blocks, &mut self.borne.parts);
        parts.clear();
        let mut count = 0;
        for &first in blocks.keys() {
            if parts.contains_key(&first) {
                continue;
            }
            let mut front = vec![first];
            parts.insert(first, count);
            while let Some(brick) = front.pop() {
                for next in about(grid, brick) {
                    if blocks.contains_key(&next) && parts.insert(next, count).is_none() {
                        front.push(next);
                    }
                }
            }
            count += 1;
        }
        for &brick in blocks.keys() {
            let number = parts[&brick];
            for near in about(grid, brick) {
                parts.entry(near).or_insert(number);
            }
        }
    }

    /// Finds what of the parts' mass is on no living face; `fill` is the volume of a quantum as a share of a cell.
    pub(super) fn sum_up(&mut self, grid: &Grid, fill: f64) {
        let Solid { blocks, borne, face, .. } = self;
        borne.idle.clear();
        for (brick, block) in blocks {
            let quanta = block.quanta.iter().filter(|q| **q != BACK).map(|q| u64::from(*q)).sum::<u64>();
            *borne.idle.entry(borne.parts[brick]).or_default() += DVec3::splat(quanta as f64 * fill);
        }
        for s in 1..grid.len() {
            let Some(idle) = borne.parts.get(&grid.bricks[s]).and_then(|part| borne.idle.get_mut(part)) else {
                continue;
            };
            for (a, face) in face.iter().enumerate() {
                idle[a] -= face[s * ROWS..(s + 1) * ROWS].iter().flatten().sum::<f64>();
            }
        }
    }

    /// Frozen mass on the face of an axis, in full cells.
    pub fn on_face(&self, a: usize, r: usize, x: usize) -> f64 {
        self.face[a].get(r).map_or(0.0, |row| row[x])
    }

    /// The part that a brick belongs to or touches.
    pub fn part(&self, brick: [i32; 3]) -> Option<u32> {
        self.borne.parts.get(&brick).copied()
    }

    /// What walls get of frozen sand in a step of `dt` [s], beside the impulses of the liquid in `touches`. `given` has what each part is given but its
    /// idle weight; gravity is in [m/s²], a cell has the volume `volume` [m³].
    pub fn hand_on(
        &self,
        mut given: BTreeMap<u32, DVec3>,
        gravity: DVec3,
        volume: f64,
        dt: f64,
        touches: &[Touch],
    ) -> Vec<Touch> {
        for (part, idle) in &self.borne.idle {
            *given.entry(*part).or_default() += *idle * gravity * (volume * dt);
        }
        let mut out: Vec<Touch> = self.held(dt).collect();
        for t in &out {
            if let Some(part) = self.part_of(t) {
                *given.entry(part).or_default() -= t.impulse;
            }
        }
        out.extend(self.shares(&given, touches, dt));
        out
    }

    /// The remembered forces, over a step of `dt` [s].
    fn held(&self, dt: f64) -> impl Iterator<Item = Touch> + '_ {
        self.borne.held.iter().map(move |((cell, wall), force)| Touch::new(*cell, *wall, *force * dt))
    }

    fn part_of(&self, touch: &Touch) -> Option<u32> {
        self.part(brick_of(touch.cell))
    }

    /// Shares what the parts are given among the places where they touch walls, along each axis in proportion to what these bear in a step of `dt` [s]:
    /// the remembered ones, and those of the liquid beside the part.
    pub fn shares(&self, given: &BTreeMap<u32, DVec3>, touches: &[Touch], dt: f64) -> Vec<Touch> {
        let bearing: Vec<(u32, Touch)> = { self.held(dt).chain(touches.iter().copied()) }
            .filter_map(|t| Some((self.part_of(&t)?, t)))
            .filter(|(part, t)| given.contains_key(part) && t.impulse != DVec3::ZERO)
            .collect();
        let mut all: BTreeMap<u32, (DVec3, f64)> = BTreeMap::new();
        for (part, Touch { impulse, .. }) in &bearing {
            let sum = all.entry(*part).or_default();
            *sum = (sum.0 + impulse.abs(), sum.1 + impulse.length());
        }
        let share = |(part, Touch { cell, wall, impulse, .. }): &(u32, Touch)| {
            let (given, (along, size)) = (given[part], all[part]);
            // Where nobody bears anything along an axis, all places do, by their strength.
            let part = |a: usize| if along[a] > 0.0 { impulse[a].abs() / along[a] } else { impulse.length() / size };
            Touch::new(*cell, *wall, given * DVec3::new(part(0), part(1), part(2)))
        };
        bearing.iter().map(share).collect()
    }
}
