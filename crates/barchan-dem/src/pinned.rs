//! Grains that are held where they are ([`crate::Dem::set_pinned`]): others touch them, and they do not give way.
//!
//! In contacts a pinned grain counts as infinitely heavy. Two pinned grains do not meet, nor does one meet a wall, unless that is the
//! surface of a free body; what such contacts remembered sleeps in the lists until one of the two is let go, so that a heap
//! that was pinned and is let go stands as it stood.
//!
//! In memory pinned grains stand behind all others, so that most blocks have either none or nothing else: those are not integrated.
//! In a block of both kinds the pinned are integrated too and put back afterwards, which costs less than asking each grain.

use crate::kernel::Kernels;
use crate::state::Grains;
use crate::step::Solver;
use glam::DQuat;

/// Which grains are pinned.
#[derive(Debug, Default)]
pub struct Pinned {
    /// Their ids, in order.
    pub ids: Vec<u32>,
    /// Ids of those let go since the last step, in order. The forces on them are not known before lists have their pairs
    /// again: they stay for one step more.
    pub waking: Vec<u32>,
    /// How many are there.
    count: usize,
    /// By slot; empty where none is.
    flags: Vec<bool>,
}

impl Pinned {
    /// Whether the grain in a slot is pinned.
    #[inline]
    pub fn has(&self, slot: usize) -> bool {
        self.flags.get(slot).copied().unwrap_or(false)
    }

    /// How many are.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Looks up where they are.
    pub fn find(&mut self, grains: &Grains) {
        self.flags.clear();
        if !self.ids.is_empty() {
            self.flags.extend(grains.id.iter().map(|id| self.ids.binary_search(id).is_ok()));
        }
        self.count = self.flags.iter().filter(|&&pinned| pinned).count();
    }

    /// Of each block of so many grains, whether all of them are pinned; empty where none is.
    pub fn whole_blocks(&self, size: usize) -> Vec<bool> {
        self.flags.chunks(size).map(|block| !block.contains(&false)).collect()
    }
}

/// Where some pinned grains are: each with its centre and how it is turned, and all their spheres.
pub struct Places {
    grains: Vec<(usize, [f64; 4], DQuat)>,
    spheres: Vec<[f64; 4]>,
}

impl<R: Kernels> Solver<R> {
    /// Pins these grains and no others; ids that are not there are passed over.
    pub fn set_pinned(&mut self, ids: &[u32]) {
        let mut ids = ids.to_vec();
        ids.sort_unstable();
        ids.dedup();
        if ids == self.pinned.ids {
            return;
        }
        let before: Vec<bool> = (0..self.grains.len()).map(|g| self.pinned.has(g)).collect();
        self.pinned.ids = ids;
        self.pinned.find(&self.grains);
        let changed: Vec<usize> = (0..self.grains.len()).filter(|&g| before[g] != self.pinned.has(g)).collect();
        for &g in &changed {
            if self.pinned.has(g) {
                self.hold(g);
            } else {
                self.let_go(g);
                self.pinned.waking.push(self.grains.id[g]);
            }
        }
        self.pinned.waking.sort_unstable();
        self.pinned.waking.dedup();
        // Lists lack the pairs of those let go, and have those of the newly pinned. Whole blocks of pinned grains are not integrated:
        // all are put into order, once in hundreds of steps.
        self.spoil(!changed.is_empty());
    }

    fn hold(&mut self, g: usize) {
        self.grains.velocity[g][..3].fill(0.0);
        self.grains.momentum[g][..3].fill(0.0);
        for record in &mut self.spheres.record[self.grains.spheres_of(g..g + 1)] {
            // The seventh is the inverse mass.
            record.motion[..7].fill(R::of(0.0));
        }
    }

    fn let_go(&mut self, g: usize) {
        let inverse_mass = R::of(self.grains.velocity[g][3]);
        for record in &mut self.spheres.record[self.grains.spheres_of(g..g + 1)] {
            record.motion[6] = inverse_mass;
        }
    }

    /// Where the pinned grains are that share a block with others, and those that are waking.
    pub fn places_of_pinned(&self, whole: &[bool]) -> Places {
        let mut places = Places { grains: Vec::new(), spheres: Vec::new() };
        let n = self.grains.len();
        let mixed = whole.iter().enumerate().filter(|(_, whole)| !**whole).map(|(b, _)| b * self.block);
        let pinned = mixed.flat_map(|from| from..(from + self.block).min(n)).filter(|&g| self.pinned.has(g));
        let among = if self.pinned.waking.is_empty() { 0 } else { n };
        let wakes = |g: &usize| !self.pinned.has(*g) && self.pinned.waking.binary_search(&self.grains.id[*g]).is_ok();
        for g in pinned.chain((0..among).filter(wakes)) {
            places.grains.push((g, *self.grains.place(g, &self.spheres.record), self.grains.turn(g)));
            places.spheres.extend(self.spheres.record[self.grains.spheres_of(g..g + 1)].iter().map(|r| r.place));
        }
        places
    }

    /// Puts them back there, at rest.
    pub fn put_back(&mut self, places: Places) {
        let mut spheres = places.spheres.into_iter();
        for (g, centre, turn) in places.grains {
            if !self.grains.all_spheres() {
                self.grains.centre[g] = centre;
                self.grains.turn[g] = turn;
            }
            let own = self.grains.spheres_of(g..g + 1);
            self.spheres.record[own].iter_mut().zip(&mut spheres).for_each(|(record, place)| record.place = place);
            self.hold(g);
            if !self.pinned.has(g) {
                self.let_go(g);
            }
        }
        self.pinned.waking.clear();
    }
}
