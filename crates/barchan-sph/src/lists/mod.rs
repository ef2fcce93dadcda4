//! Who is near whom: one list a particle, in batches of eight, built when somebody has moved too far and used by all passes of a step.
//!
//! Reads places; writes the lists and the places they were built from. Both partners of a pair have it in their lists, so that each
//! particle sums for itself and the order of its sum does not depend on threads. A list reaches the kernel's support and a skin; while nobody has
//! moved half of the skin, it is kept. Pairs whose line of sight crosses a wall are left out (`sight.rs`).

mod cells;
mod sight;

pub use cells::Cells;
pub use sight::{Seen, Sight};

use crate::SphError;
use crate::passes::Searcher;
use crate::state::BLOCK;
use barchan_core::simd::{Real, WIDTH};
use barchan_core::solver::Domain;
use glam::DVec3;
use rayon::prelude::*;

/// Most neighbours of a particle: eight times as many as at rest. More of them are a sign of matter that has been pressed into nothing.
const MOST_NEIGHBOURS: usize = 256;

/// Batches that a particle at rest has.
const BATCHES_PER_PARTICLE: usize = 5;

/// Eight neighbours of one particle. Places that are not needed hold the particle itself, with weight 0.
#[derive(Clone, Copy, Debug)]
pub struct Batch<R> {
    /// Slots.
    pub j: [u32; WIDTH],
    /// m W'(x)/x of each [kg/m⁵]: times x_i − x_j it is m ∇W.
    pub weight: [R; WIDTH],
}

/// The lists of a block of particles.
#[derive(Clone, Debug)]
pub struct BlockLists<R> {
    /// Batches of particle k of the block are `starts[k]..starts[k + 1]`.
    pub starts: Vec<u32>,
    /// All batches.
    pub batches: Vec<Batch<R>>,
}

impl<R> Default for BlockLists<R> {
    fn default() -> Self {
        BlockLists { starts: Vec::new(), batches: Vec::new() }
    }
}

impl<R: Real> BlockLists<R> {
    /// Whether every index lies among `n` particles, and every range among the batches: what the passes rely on.
    pub fn fits(&self, n: usize) -> bool {
        self.starts.is_sorted()
            && self.starts.last().is_none_or(|&end| end as usize == self.batches.len())
            && self.batches.iter().all(|b| b.j.iter().all(|&j| (j as usize) < n))
    }
}

/// The lists of all particles.
#[derive(Clone, Debug)]
pub struct Lists<R> {
    /// By block of [`BLOCK`] particles.
    pub blocks: Vec<BlockLists<R>>,
    cells: Cells,
    /// Where particles were when the lists were built [m].
    pub built: Vec<DVec3>,
    /// How far the lists reach beyond the kernel's support [m].
    pub skin: f64,
}

impl<R> Default for Lists<R> {
    fn default() -> Self {
        Lists { blocks: Vec::new(), cells: Cells::default(), built: Vec::new(), skin: 0.0 }
    }
}

impl<R: Real> Lists<R> {
    /// Builds all lists anew.
    #[allow(clippy::too_many_arguments)]
    pub fn build(
        &mut self,
        places: &[[f64; 4]],
        ids: &[u32],
        domain: &Domain,
        support: f64,
        skin: f64,
        sight: &Sight<'_>,
        searcher: Searcher,
        time: f64,
    ) -> Result<(), SphError> {
        self.cells.fill(places, domain, support + skin);
        self.skin = skin;
        self.built.clear();
        self.built.extend(places.iter().map(|p| DVec3::from_slice(p)));
        let (cells, n) = (&self.cells, places.len());
        self.blocks.resize_with(n.div_ceil(BLOCK), BlockLists::default);
        let build = |(b, lists): (usize, &mut BlockLists<R>)| {
            lists.starts.clear();
            lists.batches.clear();
            if lists.batches.capacity() == 0 {
                lists.batches.reserve_exact(BATCHES_PER_PARTICLE * BLOCK);
            }
            lists.starts.push(0);
            let mut found = Vec::with_capacity(MOST_NEIGHBOURS);
            for i in b * BLOCK..((b + 1) * BLOCK).min(n) {
                found.clear();
                let x = DVec3::from_slice(&places[i]);
                searcher.near(cells, x, &mut found);
                found.retain(|&j| j as usize != i);
                if sight.may_be_blocked(i) {
                    found.retain(|&j| sight.is_clear(i, j as usize, x, DVec3::from_slice(&places[j as usize])));
                }
                if found.len() > MOST_NEIGHBOURS {
                    return Err(SphError::Crowded { id: ids[i], place: x, neighbours: found.len(), time });
                }
                for eight in found.chunks(WIDTH) {
                    let mut batch = Batch { j: [i as u32; WIDTH], weight: [R::of(0.0); WIDTH] };
                    batch.j[..eight.len()].copy_from_slice(eight);
                    lists.batches.push(batch);
                }
                lists.starts.push(lists.batches.len() as u32);
            }
            if lists.batches.capacity() > lists.batches.len() + lists.batches.len() / 8 {
                lists.batches.shrink_to(lists.batches.len() + lists.batches.len() / 16);
            }
            assert!(lists.fits(n), "a list names particles that are not there");
            Ok(())
        };
        let done: Vec<Result<(), SphError>> = self.blocks.par_iter_mut().enumerate().map(build).collect();
        done.into_iter().collect()
    }

    /// Bytes held.
    pub fn memory(&self) -> usize {
        let of = |b: &BlockLists<R>| 4 * b.starts.capacity() + b.batches.capacity() * size_of::<Batch<R>>();
        self.blocks.iter().map(of).sum::<usize>() + self.cells.memory() + self.built.capacity() * size_of::<DVec3>()
    }
}
