//! What pinned spheres remember of each other and of walls that do not yield, until one of two is let go. Nothing is computed for it, and while
//! the pinned stay as they are nobody reads it.

use super::carry::{Carry, turned};
use super::{BlockLists, Kept, Rebuild, WallKey};
use crate::bodies::Carrier;
use crate::state::{NEWBORN, Spheres};
use barchan_core::simd::Real;
use rayon::prelude::*;
use std::ops::Range;

/// Memory that sleeps; slots are those of the lists.
#[derive(Clone, Debug)]
pub struct Asleep<R> {
    /// Lower and higher slot, and what is remembered as seen from the lower.
    pub pairs: Vec<([u32; 2], Kept<R>)>,
    pub walls: Vec<(WallKey, Kept<R>)>,
}

impl<R> Default for Asleep<R> {
    fn default() -> Self {
        Asleep { pairs: Vec::new(), walls: Vec::new() }
    }
}

/// Where each sphere of the old lists is now.
pub(super) fn now<R>(lists: &[BlockLists<R>], spheres: &Spheres<R>) -> Vec<u32> {
    let mut now = vec![NEWBORN; lists.last().map_or(0, |b| b.end as usize)];
    let old = spheres.listed.iter().zip(0..).filter(|(old, _)| **old != NEWBORN);
    old.for_each(|(&old, s)| now[old as usize] = s);
    now
}

impl<R: Real> Asleep<R> {
    /// Those whose lower slot is one of these, where they stand in order.
    pub(super) fn pairs_of(&self, slots: Range<u32>) -> &[([u32; 2], Kept<R>)] {
        let from = self.pairs.partition_point(|p| p.0[0] < slots.start);
        let to = self.pairs.partition_point(|p| p.0[0] < slots.end);
        &self.pairs[from..to]
    }

    /// Takes out what wakes, in order and by the old slots; what is left gets the new ones.
    pub(super) fn wake(&mut self, r: &Rebuild<'_>, now: &[u32], held: impl Fn(u32) -> bool) -> Asleep<R> {
        let mut woken = Asleep::default();
        let place = |old: u32| Some(now[old as usize]).filter(|&s| s != NEWBORN && held(s));
        self.pairs.retain_mut(|pair| {
            let [low, high] = pair.0;
            let Some((i, j)) = place(low).zip(place(high)) else {
                woken.pairs.push(*pair);
                return false;
            };
            *pair = sorted(i, j, pair.1);
            true
        });
        self.walls.retain_mut(|entry| match place(entry.0.0) {
            Some(s) if stands(r, entry.0.1) => {
                entry.0.0 = s;
                true
            }
            _ => {
                woken.walls.push(*entry);
                false
            }
        });
        woken.pairs.par_sort_unstable_by_key(|p| p.0);
        woken
    }

    /// Takes in what those who are pinned remember of the old lists.
    pub(super) fn enter(
        &mut self,
        r: &Rebuild<'_>,
        carry: &Carry<R>,
        spheres: &Spheres<R>,
        now: &[u32],
        held: impl Fn(u32) -> bool,
    ) {
        for s in (0..spheres.len() as u32).filter(|&s| spheres.listed[s as usize] != NEWBORN && held(s)) {
            let old = spheres.listed[s as usize];
            let touched = carry.touched(old).map(|(other, kept)| (now[other as usize], kept));
            let both = touched.filter(|(other, _)| *other != NEWBORN && held(*other));
            self.pairs.extend(both.map(|(other, kept)| sorted(s, other, kept)));
            let walls = carry.with_walls(old).iter().filter(|(key, _)| stands(r, key.1));
            self.walls.extend(walls.map(|&((_, wall, key), kept)| ((s, wall, key), kept)));
        }
    }

    /// Whether every slot is one of so many.
    pub fn fits(&self, spheres: usize) -> bool {
        self.pairs.iter().all(|&([low, high], _)| low < high && (high as usize) < spheres)
            && self.walls.iter().all(|((s, ..), _)| (*s as usize) < spheres)
    }

    /// Bytes held.
    pub fn memory_bytes(&self) -> usize {
        self.pairs.capacity() * size_of::<([u32; 2], Kept<R>)>()
            + self.walls.capacity() * size_of::<(WallKey, Kept<R>)>()
    }
}

/// What is remembered as seen from the first, as seen from the lower.
fn sorted<R: Real>(i: u32, j: u32, kept: Kept<R>) -> ([u32; 2], Kept<R>) {
    if i < j { ([i, j], kept) } else { ([j, i], turned(kept)) }
}

/// Whether pinned spheres do not meet a wall.
fn stands(r: &Rebuild<'_>, wall: u16) -> bool {
    matches!(r.carriers.of(wall as usize), Carrier::None)
}
