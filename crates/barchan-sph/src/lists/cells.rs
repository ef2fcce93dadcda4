//! Cells as wide as the lists reach, and who is in them.
//!
//! Cells wrap around where the domain is periodic, and where a few particles far away would need more cells than there are particles: memory is
//! bounded by the number of particles, and an alias costs only a distance test. A copy of all positions in the order of cells, in single
//! precision from the corner of all, serves the search; who is out of reach by it (with a slack for its rounding) is out of reach.

use barchan_core::simd::WIDTH;
use barchan_core::solver::Domain;
use glam::DVec3;
use rayon::prelude::*;
use std::ops::Range;

/// What single precision may make of a distance, as a share of the extent of all.
const ROUNDING: f64 = 5e-7;
/// A place out of reach of everybody, behind the last candidate.
const NOWHERE: f32 = 1e30;

#[derive(Clone, Copy, Debug, Default)]
struct Axis {
    low: f64,
    per_cell: f64,
    cells: u32,
    wraps: bool,
    period: f32,
}

impl Axis {
    fn cell(&self, x: f64) -> u32 {
        let c = ((x - self.low) * self.per_cell).floor();
        if self.wraps {
            (c as i64).rem_euclid(i64::from(self.cells)) as u32
        } else {
            (c.max(0.0) as u32).min(self.cells - 1)
        }
    }

    /// The distinct cells among `c − 1, c, c + 1`.
    fn around(&self, c: u32) -> impl Iterator<Item = u32> + Clone + use<> {
        let (n, wraps) = (self.cells, self.wraps);
        let step = move |k: u32| {
            let at = c + k;
            if wraps { Some((at + n - 1) % n) } else { at.checked_sub(1).filter(|a| *a < n) }
        };
        (0..if wraps { n.min(3) } else { 3 }).filter_map(step)
    }
}

/// The cells of one build.
#[derive(Clone, Debug, Default)]
pub struct Cells {
    axes: [Axis; 3],
    /// Items of cell c are `starts[c]..starts[c + 1]`.
    starts: Vec<u32>,
    /// Slots in the order of cells.
    items: Vec<u32>,
    /// Their positions from the corner of all [m].
    at: [Vec<f32>; 3],
    reach: f64,
    slack: f64,
}

impl Cells {
    /// Sorts places [m] into cells for lists that reach so far [m].
    pub fn fill(&mut self, places: &[[f64; 4]], domain: &Domain, reach: f64) {
        let bounds = |a: [DVec3; 2], b: [DVec3; 2]| [a[0].min(b[0]), a[1].max(b[1])];
        let none = [DVec3::INFINITY, DVec3::NEG_INFINITY];
        // Minimum and maximum do not depend on the order in which they are taken.
        let all = places.par_iter().map(|p| [DVec3::from_slice(p); 2]).reduce(|| none, bounds);
        let [low, high] = if places.is_empty() { [DVec3::ZERO; 2] } else { all };
        let period = domain.period();
        let most = (2 * places.len()).max(64) as f64;
        self.axes = std::array::from_fn(|k| {
            if period[k] > 0.0 {
                let cells = (period[k] / reach).floor().clamp(1.0, 65536.0);
                let (low, per_cell) = (domain.min[k], cells / period[k]);
                return Axis { low, per_cell, cells: cells as u32, wraps: true, period: period[k] as f32 };
            }
            let cells = ((high[k] - low[k]) / reach).floor() + 1.0;
            Axis {
                low: low[k],
                per_cell: 1.0 / reach,
                cells: cells.min(65536.0) as u32,
                wraps: cells > 65536.0,
                period: 0.0,
            }
        });
        while self.axes.iter().map(|a| f64::from(a.cells)).product::<f64>() > most {
            // The longest axis that may wrap is folded.
            let widest = (0..3).filter(|&k| period[k] == 0.0).max_by_key(|&k| self.axes[k].cells);
            match widest {
                Some(k) if self.axes[k].cells > 3 => {
                    self.axes[k].cells = self.axes[k].cells.div_ceil(2);
                    self.axes[k].wraps = true;
                }
                _ => break,
            }
        }
        self.reach = reach;
        self.slack = ROUNDING * (high - low).max(period).max_element();
        let cell_of: Vec<u32> = places.par_iter().map(|p| self.index(self.cell(DVec3::from_slice(p)))).collect();
        let cells = self.axes.iter().map(|a| a.cells as usize).product::<usize>();
        self.starts.clear();
        self.starts.resize(cells + 1, 0);
        for &c in &cell_of {
            self.starts[c as usize + 1] += 1;
        }
        for c in 0..cells {
            self.starts[c + 1] += self.starts[c];
        }
        let mut next = self.starts.clone();
        self.items.clear();
        self.items.resize(places.len(), 0);
        for (i, &c) in cell_of.iter().enumerate() {
            self.items[next[c as usize] as usize] = i as u32;
            next[c as usize] += 1;
        }
        let corner = DVec3::from_array(self.axes.map(|a| a.low));
        for k in 0..3 {
            self.at[k].clear();
            self.at[k].extend(self.items.iter().map(|&i| (places[i as usize][k] - corner[k]) as f32));
            self.at[k].extend([NOWHERE; WIDTH]);
        }
    }

    fn cell(&self, x: DVec3) -> [u32; 3] {
        std::array::from_fn(|k| self.axes[k].cell(x[k]))
    }

    fn index(&self, [x, y, z]: [u32; 3]) -> u32 {
        let [nx, ny, _] = self.axes.map(|a| a.cells);
        (z * ny + y) * nx + x
    }

    /// Visits the runs of candidates for `x` [m], in a fixed order.
    #[inline(always)]
    pub fn runs(&self, x: DVec3, mut visit: impl FnMut(Range<usize>)) {
        let [ax, ay, az] = &self.axes;
        let home = self.cell(x);
        for z in az.around(home[2]) {
            for y in ay.around(home[1]) {
                // Cells along x follow each other in memory: unless they wrap, three make one run.
                if ax.wraps {
                    for x in ax.around(home[0]) {
                        let c = self.index([x, y, z]) as usize;
                        visit(self.starts[c] as usize..self.starts[c + 1] as usize);
                    }
                } else {
                    let row = self.index([0, y, z]) as usize;
                    let (first, last) = (home[0].saturating_sub(1), (home[0] + 1).min(ax.cells - 1));
                    visit(self.starts[row + first as usize] as usize..self.starts[row + last as usize + 1] as usize);
                }
            }
        }
    }

    /// A place [m] from the corner of all, the periods, and the square of the reach with its slack, in single precision.
    pub fn looking(&self, x: DVec3) -> ([f32; 3], [f32; 3], f32) {
        let reach = self.reach + self.slack;
        let from = [0, 1, 2].map(|k| (x[k] - self.axes[k].low) as f32);
        (from, self.axes.map(|a| a.period), (reach * reach) as f32)
    }

    /// Component k of the positions of eight candidates, from the corner of all.
    #[inline(always)]
    pub fn eight(&self, k: usize, first: usize) -> [f32; WIDTH] {
        *self.at[k][first..].first_chunk().unwrap_or(&[NOWHERE; WIDTH])
    }

    /// The slot of a candidate.
    #[inline(always)]
    pub fn slot(&self, item: usize) -> u32 {
        self.items[item]
    }

    /// Bytes held.
    pub fn memory(&self) -> usize {
        4 * (self.starts.capacity() + self.items.capacity() + self.at.iter().map(|a| a.capacity()).sum::<usize>())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::passes::Searcher;
    use barchan_core::rng::Random;
    use barchan_core::simd::Isa;

    #[test]
    fn all_within_reach_are_found_once_in_open_periodic_and_far_flung_domains() {
        for (periodic, flung) in
            [([false; 3], false), ([true, false, true], false), ([true; 3], false), ([false; 3], true)]
        {
            let domain = Domain { min: DVec3::splat(-1.0), max: DVec3::splat(1.0), periodic };
            let mut rng = Random::new(3, 1);
            let mut places: Vec<[f64; 4]> =
                (0..600).map(|_| [rng.range(-1.0, 1.0), rng.range(-1.0, 1.0), rng.range(-1.0, 1.0), 0.0]).collect();
            if flung {
                places.push([400.0, -3000.0, 70.0, 0.0]);
            }
            let reach = 0.45;
            let mut cells = Cells::default();
            cells.fill(&places, &domain, reach);
            for p in &places {
                let x = DVec3::from_slice(p);
                let mut found = Vec::new();
                Searcher::select(Isa::detect()).near(&cells, x, &mut found);
                found.sort_unstable();
                assert!(found.windows(2).all(|w| w[0] < w[1]), "nobody twice");
                let period = domain.period();
                for (j, q) in places.iter().enumerate() {
                    let mut d = DVec3::from_slice(q) - x;
                    for k in 0..3 {
                        if period[k] > 0.0 {
                            d[k] -= period[k] * (d[k] / period[k]).round();
                        }
                    }
                    if d.length() < reach {
                        assert!(found.binary_search(&(j as u32)).is_ok(), "{periodic:?} {flung}");
                    }
                }
            }
        }
    }
}
