//! The order of grains in memory: along a Hilbert curve, so that neighbours in space are neighbours in memory.

use crate::pinned::Pinned;
use crate::state::{Grains, Record};
use barchan_core::curve::{BITS, hilbert as index};
use barchan_core::solver::Domain;
use rayon::prelude::*;

/// New slot → old slot: free grains first, then the pinned, each along the curve. Ties (one cell of the curve) keep their ids' order, so that the result does not
/// depend on the order before.
pub fn hilbert<R: Sync>(grains: &Grains, records: &[Record<R>], domain: &Domain, pinned: &Pinned) -> Vec<u32> {
    let size = (domain.max - domain.min).max_element().max(f64::MIN_POSITIVE);
    let scale = f64::from((1u32 << BITS) - 1) / size;
    let mut keys: Vec<(bool, u64, u32, u32)> = (0..grains.len())
        .into_par_iter()
        .map(|g| {
            let p = grains.place(g, records);
            let c = |k: usize| ((p[k] - domain.min[k]) * scale).clamp(0.0, f64::from((1u32 << BITS) - 1)) as u32;
            (pinned.has(g), index([c(0), c(1), c(2)]), grains.id[g], g as u32)
        })
        .collect();
    keys.par_sort_unstable();
    keys.into_iter().map(|k| k.3).collect()
}
