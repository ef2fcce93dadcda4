//! Grains that are held where they are ([`crate::Dem::set_pinned`]): others touch them, and they do not give way.
//!
//! In contacts a pinned grain counts as infinitely heavy. Two pinned grains do not meet, nor does one meet a wall, unless that is the
//! surface of a free body; what such contacts remembered sleeps in the lists until one of the two is let go, so that a heap
//! that was pinned and is let go stands as it stood.
//!
//! In memory pinned grains stand behind all others, so that those that move lie in few pieces ([`Pinned::moving`]): only they are
//! integrated.

use crate::kernel::Kernels;
use crate::state::Grains;
use crate::step::Solver;
use std::ops::Range;

/// Which grains are pinned.
#[derive(Debug, Default)]
pub struct Pinned {
    /// Their ids, in order.
    pub ids: Vec<u32>,
    /// Ids of those that nobody lets go, in order.
    pub fixed: Vec<u32>,
    /// Ids of those let go since the last step, in order. The forces on them are not known before lists have their pairs
    /// again: they stay for one step more.
    pub waking: Vec<u32>,
    /// How many are there.
    count: usize,
    /// By slot; empty where none is.
    flags: Vec<bool>,
    /// Whether the lists were built for these, in these slots.
    still: bool,
    /// Slots of the grains that move, once looked up.
    pieces: Option<Vec<Range<usize>>>,
}

impl Pinned {
    /// Whether the grain in a slot is pinned.
    #[inline]
    pub fn has(&self, slot: usize) -> bool {
        self.flags.get(slot).copied().unwrap_or(false)
    }

    /// Slots or blocks have changed, or somebody has woken.
    pub fn forget_pieces(&mut self) {
        self.pieces = None;
    }

    /// Those that were waking are awake.
    pub fn woken(&mut self) {
        if !self.waking.is_empty() {
            self.waking.clear();
            self.pieces = None;
        }
    }

    /// Whether they are those the lists were built for, in the same slots.
    pub fn still(&self) -> bool {
        self.still
    }

    /// The lists have been built for them as they are.
    pub fn listed(&mut self) {
        self.still = true;
    }

    /// How many are.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Looks up where they are.
    pub fn find(&mut self, grains: &Grains) {
        self.pieces = None;
        self.still = false;
        self.flags.clear();
        if !self.ids.is_empty() {
            self.flags.extend(grains.id.iter().map(|id| self.ids.binary_search(id).is_ok()));
        }
        self.count = self.flags.iter().filter(|&&pinned| pinned).count();
    }

    /// Slots of the grains that move, in pieces within blocks of so many: neither pinned nor waking.
    pub fn moving(&mut self, grains: &Grains, block: usize) -> &[Range<usize>] {
        if self.pieces.is_none() {
            let n = grains.len();
            let stays =
                |g: usize| self.has(g) || (!self.waking.is_empty() && self.waking.binary_search(&grains.id[g]).is_ok());
            let mut pieces: Vec<Range<usize>> = Vec::new();
            for g in (0..n).filter(|&g| !stays(g)) {
                match pieces.last_mut() {
                    Some(last) if last.end == g && g % block != 0 => last.end += 1,
                    _ => pieces.push(g..g + 1),
                }
            }
            self.pieces = Some(pieces);
        }
        self.pieces.as_deref().unwrap_or_default()
    }
}

impl<R: Kernels> Solver<R> {
    /// Pins these grains and no others; ids that are not there are passed over.
    pub fn set_pinned(&mut self, ids: &[u32]) {
        let mut ids: Vec<u32> = ids.iter().chain(&self.pinned.fixed).copied().collect();
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
        // Lists lack the pairs of those let go, and have those of the newly pinned. All are put into order, once in hundreds of steps.
        self.spoil(!changed.is_empty());
    }

    /// Holds these grains where they are for ever, besides those that are held so already.
    pub fn fix(&mut self, ids: &[u32]) {
        self.pinned.fixed.extend_from_slice(ids);
        self.pinned.fixed.sort_unstable();
        self.pinned.fixed.dedup();
        let held = self.pinned.ids.clone();
        self.set_pinned(&held);
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
}
