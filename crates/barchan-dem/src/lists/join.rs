//! Grains join lists that stand: newborn ones, and the few that spend their budgets long before all others do. A spout that lets a grain
//! fall every twenty steps would have all lists built anew as often, and so would what it strikes.

use super::{Batch, BlockLists, Grids, Pairs, Reaching, Rebuild, Rolls, WallBatch};
use crate::bodies::Carrier;
use barchan_core::neighbours::{Ball, Balls, Hits};
use barchan_core::simd::{Real, WIDTH};
use glam::DVec3;

/// Most spheres that join at once: for more, lists are better built anew.
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

/// Enters the spheres of grains into lists that stand, with all that they may meet before their budgets or those of others are spent: of
/// newborn ones, the last in memory, or of some whose budgets were spent and are new. False, and nothing is done, where the lists must be built anew: near a
/// wall that they do not have, in a periodic domain, or where many join.
pub fn join<R: Real>(
    r: &Rebuild<'_>,
    balls: &Reaching<'_, R>,
    grids: &mut Grids,
    lists: &mut Vec<BlockLists<R>>,
    joining: &[usize],
) -> bool {
    let at = |b: &Ball| DVec3::new(b[0], b[1], b[2]);
    let new: Vec<Ball> = joining.iter().map(|&s| balls.ball(s)).collect();
    let grain_of = |s: usize| if r.grains.all_spheres() { s } else { balls.spheres.grain[s] as usize };
    let block_of = |s: usize| grain_of(s) / r.block;
    let held = |s: usize| r.pinned.has(grain_of(s));
    // Spheres under a surface are for walls alone.
    let covered = |s: usize| r.carriers.covers(r.grains.shape[grain_of(s)]);
    let lists_of = |s: usize| lists.get(block_of(s)).filter(|list| s < list.end as usize);
    let apart = |s: usize, b: &Ball| !covered(s) && walls_are_listed(r, at(b), b[3], s as u32, lists_of(s));
    let many = joining.len() > MOST;
    if many || r.period != DVec3::ZERO || !joining.iter().zip(&new).all(|(&s, b)| apart(s, b)) {
        return false;
    }
    let mut known: Vec<[u32; 2]> = Vec::new();
    for &s in joining {
        lists_of(s).into_iter().for_each(|list| list.partners(s as u32, |j| known.push([s as u32, j])));
    }
    known.sort_unstable();
    let mut pairs: Vec<[usize; 2]> = Vec::new();
    let mut hits = Hits::default();
    for (&i, &ball) in joining.iter().zip(&new) {
        grids.near(ball, balls, &mut hits, |j| {
            let j = j as usize;
            // Two that join are met from the later.
            let here = j < i || !joining.contains(&j);
            let apart = grain_of(i) != grain_of(j) && !r.bonds.join(grain_of(i), grain_of(j));
            if here && apart && !covered(j) && known.binary_search(&[i as u32, j as u32]).is_err() {
                pairs.push([j, i]);
            }
        });
    }
    // The same order, whether the cells have been there since the lists were built or a run has been resumed.
    pairs.sort_unstable();
    pairs.dedup();
    grids.moved.extend(joining.iter().map(|&s| s as u32).filter(|&s| s < grids.spheres));
    let count = balls.count();
    let blocks = r.grains.len().div_ceil(r.block);
    lists.resize_with(blocks, BlockLists::default);
    let range = |b: usize| r.grains.spheres_of(b * r.block..((b + 1) * r.block).min(r.grains.len()));
    for (b, list) in lists.iter_mut().enumerate() {
        (list.end, list.idle) = (range(b).end as u32, false);
    }
    for [j, i] in pairs {
        let [a, b] = [i, j].map(block_of);
        let [i32, j32] = [i as u32, j as u32];
        // What the kernel's unchecked access rests on.
        assert!(range(a).contains(&i) && range(b).contains(&j) && i.max(j) < count, "a sphere is outside its block");
        if a == b {
            lists[a].inner.enter(i32, j32, r.rolling);
            continue;
        }
        lists[a].cross.enter(i32, j32, r.rolling);
        // A pinned grain need not know what free ones do to it. Memory is carried by the lower slot: there it must stand.
        if !held(j) || j < i {
            lists[b].cross.enter(j32, i32, r.rolling);
        }
    }
    true
}

impl<R> BlockLists<R> {
    /// Visits those that may touch a sphere of this block.
    fn partners(&self, s: u32, mut visit: impl FnMut(u32)) {
        for (list, both) in [(&self.inner, true), (&self.cross, false)] {
            for batch in &list.batches {
                for (&i, &j) in batch.i.iter().zip(&batch.j).filter(|(i, j)| i != j) {
                    if i == s {
                        visit(j);
                    } else if both && j == s {
                        visit(i);
                    }
                }
            }
        }
    }
}

/// Whether the lists have all of the walls that a sphere there may reach [m].
fn walls_are_listed<R>(r: &Rebuild<'_>, x: DVec3, reach: f64, s: u32, lists: Option<&BlockLists<R>>) -> bool {
    r.walls.iter().zip(r.wall_states).zip(r.wall_skin).enumerate().all(|(w, ((wall, state), skin))| {
        let reach = reach + skin.max(0.0);
        if r.carriers.of(w) == Carrier::Gone
            || wall.least_distance(state, x) > reach
            || wall.clearance(state, x) > reach
        {
            return true;
        }
        let listed = |lists: &BlockLists<R>| {
            let mut all = wall.facets().is_none() && r.carriers.of(w) == Carrier::None;
            wall.features(state, x, reach, &mut |key| {
                let lane = |k: usize, b: &WallBatch<R>| b.i[k] == s && b.wall[k] as usize == w && b.key[k] == key;
                all = all && lists.walls.iter().any(|b| (0..b.len as usize).any(|k| lane(k, b)));
            });
            all
        };
        lists.is_some_and(listed)
    })
}
