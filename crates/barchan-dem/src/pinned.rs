//! Grains that are held where they are ([`crate::Dem::set_pinned`]): others touch them, and they do not give way.
//!
//! A pinned grain is integrated with all others and put back afterwards, which costs less than asking each grain whether it is pinned.
//! In contacts it counts as infinitely heavy. Two pinned grains do not meet, nor does one meet a wall, unless that is the surface of a
//! free body.

use crate::kernel::Kernels;
use crate::step::Solver;
use glam::DQuat;

/// Which grains are pinned.
#[derive(Debug, Default)]
pub struct Pinned {
    /// Their ids, in order.
    pub ids: Vec<u32>,
    /// Their slots.
    slots: Vec<u32>,
    /// By slot; empty where none is.
    flags: Vec<bool>,
}

impl Pinned {
    /// Whether the grain in a slot is pinned.
    #[inline]
    pub fn has(&self, slot: usize) -> bool {
        self.flags.get(slot).copied().unwrap_or(false)
    }
}

/// Where a pinned grain is: its centre, how it is turned, and its spheres.
pub struct Place {
    centre: [f64; 4],
    turn: DQuat,
    spheres: Vec<[f64; 4]>,
}

impl<R: Kernels> Solver<R> {
    /// Pins these grains and no others; ids that are not there are passed over.
    pub fn set_pinned(&mut self, ids: &[u32]) {
        let mut ids = ids.to_vec();
        ids.sort_unstable();
        ids.dedup();
        if ids != self.pinned.ids {
            self.pinned.ids = ids;
            self.find_pinned();
            // Who was pinned has pairs that no list has.
            self.spoil(false);
        }
    }

    /// Looks up the slots of pinned grains; to be called when slots have changed.
    pub fn find_pinned(&mut self) {
        self.pinned.slots.clear();
        self.pinned.flags.clear();
        if self.pinned.ids.is_empty() {
            return;
        }
        self.pinned.flags.resize(self.grains.len(), false);
        for (slot, id) in self.grains.id.iter().enumerate() {
            if self.pinned.ids.binary_search(id).is_ok() {
                self.pinned.slots.push(slot as u32);
                self.pinned.flags[slot] = true;
            }
        }
    }

    /// Where the pinned grains are.
    pub fn places_of_pinned(&self) -> Vec<Place> {
        let place = |&slot: &u32| {
            let g = slot as usize;
            let spheres = &self.spheres.record[self.grains.spheres_of(g..g + 1)];
            Place {
                centre: *self.grains.place(g, &self.spheres.record),
                turn: self.grains.turn(g),
                spheres: spheres.iter().map(|r| r.place).collect(),
            }
        };
        self.pinned.slots.iter().map(place).collect()
    }

    /// Puts them back there, at rest.
    pub fn put_back_pinned(&mut self, places: Vec<Place>) {
        for (k, place) in places.into_iter().enumerate() {
            let g = self.pinned.slots[k] as usize;
            self.grains.velocity[g][..3].fill(0.0);
            self.grains.momentum[g][..3].fill(0.0);
            if !self.grains.all_spheres() {
                self.grains.centre[g] = place.centre;
                self.grains.turn[g] = place.turn;
            }
            let own = self.grains.spheres_of(g..g + 1);
            for (record, place) in self.spheres.record[own].iter_mut().zip(place.spheres) {
                record.place = place;
                // The seventh is the inverse mass.
                record.motion[..7].fill(R::of(0.0));
            }
        }
    }
}
