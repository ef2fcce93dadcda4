//! What old contacts remember, carried over to new lists.

use super::{Asleep, BlockLists};
use crate::state::NEWBORN;
use barchan_core::parallel;
use barchan_core::simd::{Real, WIDTH};
use rayon::prelude::*;

/// Memory of one contact, as seen from its partner with the lower old slot.
#[derive(Clone, Copy, Debug)]
struct Carried<R> {
    high: u32,
    slide: [R; 4],
}

/// What one contact remembers: slide and roll.
pub type Kept<R> = ([R; 4], [R; 4]);

/// Slot of the sphere, wall, feature.
pub type WallKey = (u32, u16, u32);

/// Memory of all old contacts, found by the old slots of their partners: those of `low` are `starts[low]..starts[low + 1]`.
#[derive(Debug)]
pub(super) struct Carry<R> {
    starts: Vec<u32>,
    entries: Vec<Carried<R>>,
    /// Rolling memory of the entries; empty where nothing rolls.
    rolls: Vec<[R; 4]>,
    /// Those with walls, in the order of their keys.
    walls: Vec<(WallKey, Kept<R>)>,
}

fn lane<R: Copy>(columns: &[[R; WIDTH]; 4], k: usize) -> [R; 4] {
    std::array::from_fn(|c| columns[c][k])
}

/// The same memory seen from the other partner: vectors turn round, stiffness and twist do not.
fn mirrored<R: Real>(m: [R; 4]) -> [R; 4] {
    [R::of(-m[0].into()), R::of(-m[1].into()), R::of(-m[2].into()), m[3]]
}

/// What one contact remembers, seen from the other partner.
pub(super) fn turned<R: Real>((slide, roll): Kept<R>) -> Kept<R> {
    (mirrored(slide), mirrored(roll))
}

/// Cuts a slice into pieces of the given lengths.
fn pieces<T>(mut rest: &mut [T], lengths: impl Iterator<Item = usize>) -> Vec<&mut [T]> {
    lengths
        .map(|n| {
            let (piece, later) = std::mem::take(&mut rest).split_at_mut(n);
            rest = later;
            piece
        })
        .collect()
}

impl<R: Real> BlockLists<R> {
    /// Every contact this block carries over: (lower slot, higher slot, slide, roll), seen from the lower. A contact across
    /// blocks stands twice and is carried by the block of its lower slot.
    fn each_carried(&self, mut visit: impl FnMut(u32, Carried<R>, [R; 4])) {
        for (list, both) in [(&self.inner, true), (&self.cross, false)] {
            for (n, (batch, touching)) in list.with_touching().enumerate() {
                for k in (0..WIDTH).filter(|k| touching >> k & 1 == 1) {
                    let (i, j) = (batch.i[k], batch.j[k]);
                    let (slide, roll) =
                        (lane(&batch.slide, k), list.rolls.get(n).map_or([R::of(0.0); 4], |r| lane(&r.0, k)));
                    if i < j {
                        visit(i, Carried { high: j, slide }, roll);
                    } else if both {
                        visit(j, Carried { high: i, slide: mirrored(slide) }, mirrored(roll));
                    }
                }
            }
        }
    }
}

impl<R> Default for Carry<R> {
    fn default() -> Self {
        Carry { starts: Vec::new(), entries: Vec::new(), rolls: Vec::new(), walls: Vec::new() }
    }
}

impl<R> Carry<R> {
    /// Gives back the largest part.
    pub fn make_room(&mut self) {
        (self.entries, self.rolls) = (Vec::new(), Vec::new());
    }

    /// Bytes held.
    pub fn memory_bytes(&self) -> usize {
        4 * self.starts.capacity()
            + self.entries.capacity() * size_of::<Carried<R>>()
            + self.rolls.capacity() * size_of::<[R; 4]>()
            + self.walls.capacity() * size_of::<(WallKey, Kept<R>)>()
    }
}

impl<R: Real> Carry<R> {
    /// What the lists of all blocks remember, and what has just woken.
    pub fn gather(&mut self, blocks: &[BlockLists<R>], woken: &Asleep<R>, rolling: bool) {
        let spheres = blocks.last().map_or(0, |b| b.end as usize);
        let sizes = || blocks.iter().scan(0, |from, b| Some((b.end - std::mem::replace(from, b.end)) as usize));
        let Carry { starts, entries, rolls, walls } = self;
        starts.clear();
        starts.resize(spheres + 1, 0);
        // Counts of each block, then where each block's entries begin, then the entries: a block's are its own.
        let totals: Vec<usize> =
            parallel::run(blocks.iter().zip(pieces(starts, sizes())).collect(), 1, |(b, counts)| {
                let first = b.end - counts.len() as u32;
                b.each_carried(|low, _, _| counts[(low - first) as usize] += 1);
                woken.pairs_of(first..b.end).iter().for_each(|w| counts[(w.0[0] - first) as usize] += 1);
                counts.iter().map(|&c| c as usize).sum()
            });
        let mut total = 0;
        for start in starts.iter_mut() {
            total += std::mem::replace(start, total);
        }
        let total = total as usize;
        let blank = Carried { high: NEWBORN, slide: [R::of(0.0); 4] };
        entries.clear();
        // Not twice as much as before whenever it is a little more.
        entries.reserve_exact(if total > entries.capacity() { total + total / 16 } else { 0 });
        entries.resize(total, blank);
        rolls.clear();
        rolls.resize(if rolling { total } else { 0 }, [R::of(0.0); 4]);
        let roll_pieces = pieces(rolls, totals.iter().map(|&t| if rolling { t } else { 0 }));
        let entry_pieces = pieces(entries, totals.iter().copied());
        let begins: Vec<usize> = totals.iter().scan(0, |sum, &t| Some(std::mem::replace(sum, *sum + t))).collect();
        let tasks = blocks.iter().zip(sizes()).zip(entry_pieces).zip(roll_pieces).zip(begins).collect();
        parallel::run(tasks, 1, |((((b, size), entries), rolls), begin)| {
            let first = b.end as usize - size;
            let mut next = starts[first..b.end as usize].to_vec();
            let mut enter = |low: u32, carried, roll| {
                let at = &mut next[low as usize - first];
                entries[*at as usize - begin] = carried;
                if let Some(kept) = rolls.get_mut(*at as usize - begin) {
                    *kept = roll;
                }
                *at += 1;
            };
            b.each_carried(&mut enter);
            for &([low, high], (slide, roll)) in woken.pairs_of(first as u32..b.end) {
                enter(low, Carried { high, slide }, roll);
            }
        });
        walls.clear();
        for b in blocks {
            for (n, batch) in b.walls.iter().enumerate() {
                for k in (0..WIDTH).filter(|k| batch.touching >> k & 1 == 1) {
                    let roll = b.wall_rolls.get(n).map_or([R::of(0.0); 4], |r| lane(&r.0, k));
                    walls.push(((batch.i[k], batch.wall[k], batch.key[k]), (lane(&batch.slide, k), roll)));
                }
            }
        }
        walls.extend_from_slice(&woken.walls);
        walls.par_sort_unstable_by_key(|w| w.0);
    }

    /// Memory of the contact of old slot `i` with a feature of a wall.
    pub fn find_wall(&self, i: u32, wall: u16, key: u32) -> Option<&Kept<R>> {
        let at = self.walls.binary_search_by_key(&(i, wall, key), |w| w.0).ok()?;
        Some(&self.walls[at].1)
    }

    /// Memory of all contacts of old slot `i` with walls.
    pub fn with_walls(&self, i: u32) -> &[(WallKey, Kept<R>)] {
        let from = self.walls.partition_point(|w| w.0.0 < i);
        let count = self.walls[from..].partition_point(|w| w.0.0 == i);
        &self.walls[from..from + count]
    }

    /// Old slots above `i` of spheres that old slot `i` touched, and the memory as seen from `i`.
    pub fn touched(&self, i: u32) -> impl Iterator<Item = (u32, Kept<R>)> {
        let row = self.starts[i as usize] as usize..self.starts[i as usize + 1] as usize;
        row.map(|at| (self.entries[at].high, (self.entries[at].slide, self.roll(at))))
    }

    fn roll(&self, at: usize) -> [R; 4] {
        self.rolls.get(at).copied().unwrap_or([R::of(0.0); 4])
    }

    /// Memory of all contacts of old slot `i` with a wall.
    pub fn find_walls(&self, i: u32, wall: u16) -> &[(WallKey, Kept<R>)] {
        let from = self.walls.partition_point(|w| w.0 < (i, wall, 0));
        let count = self.walls[from..].partition_point(|w| (w.0.0, w.0.1) == (i, wall));
        &self.walls[from..from + count]
    }

    /// Memory of the contact of old slots `i` and `j` as seen from `i`.
    #[inline]
    pub fn find(&self, i: u32, j: u32) -> Option<Kept<R>> {
        if i == NEWBORN || j == NEWBORN {
            return None;
        }
        let (low, high) = (i.min(j), i.max(j));
        let row = self.starts[low as usize] as usize..self.starts[low as usize + 1] as usize;
        let at = row.start + self.entries[row].iter().position(|e| e.high == high)?;
        let kept = (self.entries[at].slide, self.roll(at));
        Some(if i == low { kept } else { turned(kept) })
    }
}
