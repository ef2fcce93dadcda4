//! Newborn grains join the lists as they stand: a spout that lets a grain fall every twenty steps would have all lists built anew as
//! often.

use super::{Batch, BlockLists, Pairs, Reaching, Rebuild, Rolls};
use crate::bodies::Carrier;
use barchan_core::neighbours::{Ball, Balls};
use barchan_core::simd::{Real, WIDTH};
use glam::DVec3;
use std::ops::Range;

/// Most newborn spheres that join: each is held against all near any of them.
const MOST: usize = 64;

impl<R: Real> Pairs<R> {
    /// Enters a pair that has no memory yet.
    fn enter(&mut self, i: u32, j: u32, rolling: bool) {
        let spare = |b: &Batch<R>| (0..WIDTH).find(|&k| b.i[k] == b.j[k]);
        let last = self.batches.last().and_then(spare);
        if last.is_none() {
            self.batches.push(Batch::empty(i));
            self.touching.push(0);
            if rolling {
                self.rolls.push(Rolls::default());
            }
        }
        let (b, k) = (self.batches.len() - 1, last.unwrap_or(0));
        (self.batches[b].i[k], self.batches[b].j[k]) = (i, j);
    }
}

/// Enters the spheres of newborn grains, the last in memory, into the lists, with all that they may meet before their budgets or those
/// of others are spent. False, and nothing is done, where the lists must be built anew: near a wall, in a periodic domain, or where many are born.
pub fn join<R: Real>(
    r: &Rebuild<'_>,
    balls: &Reaching<'_, R>,
    lists: &mut Vec<BlockLists<R>>,
    born: Range<usize>,
) -> bool {
    let at = |b: &Ball| DVec3::new(b[0], b[1], b[2]);
    let new: Vec<Ball> = born.clone().map(|s| balls.ball(s)).collect();
    let grain_of = |s: usize| if r.grains.all_spheres() { s } else { balls.spheres.grain[s] as usize };
    // Spheres under a surface are for walls alone.
    let covered = |s: usize| r.carriers.covers(r.grains.shape[grain_of(s)]);
    let many = new.len() > MOST;
    let apart = |(s, b): (usize, &Ball)| !covered(s) && !near_a_wall(r, at(b), b[3]);
    if many || r.period != DVec3::ZERO || !born.clone().zip(&new).all(apart) {
        return false;
    }
    // All others are asked whether they reach into the box of the newborn: few do.
    let low = new.iter().fold(DVec3::INFINITY, |low, b| low.min(at(b) - b[3]));
    let high = new.iter().fold(DVec3::NEG_INFINITY, |high, b| high.max(at(b) + b[3]));
    let block_of = |s: usize| grain_of(s) / r.block;
    let count = born.end;
    let mut pairs: Vec<[usize; 2]> = Vec::new();
    for j in 0..count {
        let other = balls.ball(j);
        let (x, reach) = (at(&other), other[3]);
        if (x + reach).cmplt(low).any() || (x - reach).cmpgt(high).any() || covered(j) {
            continue;
        }
        for (i, ball) in born.clone().zip(&new) {
            let sum = ball[3] + reach;
            // Two newborn are met from the later.
            if j < i && grain_of(i) != grain_of(j) && at(ball).distance_squared(x) <= sum * sum {
                pairs.push([i, j]);
            }
        }
    }
    let blocks = r.grains.len().div_ceil(r.block);
    lists.resize_with(blocks, BlockLists::default);
    let range = |b: usize| r.grains.spheres_of(b * r.block..((b + 1) * r.block).min(r.grains.len()));
    for (b, list) in lists.iter_mut().enumerate().skip(block_of(born.start)) {
        list.end = range(b).end as u32;
    }
    for [i, j] in pairs {
        let [a, b] = [i, j].map(block_of);
        let [i32, j32] = [i as u32, j as u32];
        // What the kernel's unchecked access rests on.
        assert!(range(a).contains(&i) && range(b).contains(&j) && i.max(j) < count, "a newborn is outside its block");
        if a == b {
            lists[a].inner.enter(i32, j32, r.rolling);
            continue;
        }
        // In both, also where the other is pinned: memory is carried by the lower slot, and that is not the newborn's.
        lists[a].cross.enter(i32, j32, r.rolling);
        lists[b].cross.enter(j32, i32, r.rolling);
    }
    true
}

/// Whether a place [m] is within reach [m] of a wall.
fn near_a_wall(r: &Rebuild<'_>, x: DVec3, reach: f64) -> bool {
    r.walls.iter().zip(r.wall_states).zip(r.wall_skin).enumerate().any(|(w, ((wall, state), skin))| {
        let reach = reach + skin.max(0.0);
        r.carriers.of(w) != Carrier::Gone && wall.least_distance(state, x) <= reach && wall.clearance(state, x) <= reach
    })
}
