//! Who may touch whom: a hierarchy of cell grids.
//!
//! Each sphere reaches `radius + skin` from its centre and is put into the level whose cells are just large enough for
//! that, so that large spheres do not make the cells of small ones large [Ogarko and Luding 2012]. A pair is looked for
//! from its smaller (or, on one level, its earlier) partner: in the 27 cells around it on its own level and on every
//! coarser one. Cells wrap around where the domain is periodic *and* where a few far-flung grains would need more cells
//! than there are grains: memory is bounded by the number of grains, whatever their positions, and an alias costs only
//! a distance test.

use crate::math;
use glam::{DVec3, Mat4, Vec4};
use rayon::prelude::*;

/// Centre and reach of one sphere: `[x, y, z, reach]` [m].
pub type Ball = [f64; 4];

/// Spheres per task where the work of one sphere is small.
const CHUNK: usize = 4096;

/// Largest reach on the finest level over the smallest of all.
const SPREAD: f64 = 1.25;

#[derive(Clone, Copy, Debug, Default)]
struct Axis {
    cells: u32,
    wraps: bool,
}

impl Axis {
    /// The distinct cells among `c − 1, c, c + 1`.
    #[inline]
    fn around(self, c: u32) -> ([u32; 3], usize) {
        let n = self.cells;
        if self.wraps {
            match n {
                1 => ([0, 0, 0], 1),
                2 => ([0, 1, 0], 2),
                _ => ([if c == 0 { n - 1 } else { c - 1 }, c, if c + 1 == n { 0 } else { c + 1 }], 3),
            }
        } else {
            let low = c.saturating_sub(1);
            let high = (c + 1).min(n - 1);
            let mut out = [0; 3];
            let count = (high - low + 1) as usize;
            for (k, o) in out.iter_mut().enumerate().take(count) {
                *o = low + k as u32;
            }
            (out, count)
        }
    }
}

#[derive(Clone, Debug, Default)]
struct Level {
    origin: DVec3,
    inverse: DVec3,
    axes: [Axis; 3],
    /// Items of cell `c` are `starts[c]..starts[c + 1]`.
    starts: Vec<u32>,
    /// Spheres in the order of cells, and [`SPARE`] more.
    items: Vec<u32>,
    /// A sketch of each item.
    sketches: Vec<Vec4>,
}

/// Sketches are looked at four at a time, so that beyond the last there must be three.
const SPARE: usize = 3;

/// What single precision may make of a distance, as a share of the extent of all: some units in the last place.
const ROUNDING: f64 = 1e-6;

/// From positions to sketches: centre from the corner of all, and reach, in single precision. Who is out of reach by these is out
/// of reach; the few who are left are asked exactly.
#[derive(Clone, Copy, Debug, Default)]
struct Sketcher {
    origin: DVec3,
    /// Added to the reach of whoever looks [m].
    slack: f64,
    period: Vec4,
    per_period: Vec4,
}

impl Sketcher {
    fn new(low: DVec3, high: DVec3, period: DVec3) -> Sketcher {
        let slack = ROUNDING * (high - low).max(period).max_element();
        let period = period.as_vec3().extend(0.0);
        let per_period = Vec4::select(period.cmpgt(Vec4::ZERO), period.recip(), Vec4::ZERO);
        Sketcher { origin: low, slack, period, per_period }
    }

    #[inline(always)]
    fn sketch(&self, [x, y, z, reach]: Ball) -> Vec4 {
        (DVec3::new(x, y, z) - self.origin).extend(reach * (1.0 + ROUNDING)).as_vec4()
    }

    /// The one who looks: with the reach turned round, so that the difference to another has the sum of both.
    #[inline(always)]
    fn looking(&self, [x, y, z, reach]: Ball) -> Vec4 {
        // Who looks may be much larger than any member, and outside the corners of all.
        self.sketch([x, y, z, -reach * (1.0 + ROUNDING) - self.slack])
    }

    /// Which of four may be within reach, as bits.
    #[inline(always)]
    fn within<const PERIODIC: bool>(&self, looking: Vec4, others: &[Vec4]) -> u32 {
        let apart = |k: usize| {
            let d = others[k] - looking;
            let d = if PERIODIC { d - self.period * (d * self.per_period).round() } else { d };
            d * d
        };
        let Mat4 { x_axis: x, y_axis: y, z_axis: z, w_axis: reach } =
            Mat4::from_cols(apart(0), apart(1), apart(2), apart(3)).transpose();
        // Numbers that are none must not get lost here.
        !(x + y + z).cmpgt(reach).bitmask()
    }
}

/// Whose partners are looked for.
struct Search<'a> {
    ball: Ball,
    looking: Vec4,
    sketcher: &'a Sketcher,
}

/// Spheres as a search sees them, wherever they are kept.
pub trait Balls: Sync {
    /// Number of spheres.
    fn count(&self) -> usize;
    /// Centre and reach of sphere `i` [m].
    fn ball(&self, i: usize) -> Ball;
}

impl Balls for [Ball] {
    fn count(&self) -> usize {
        self.len()
    }
    fn ball(&self, i: usize) -> Ball {
        self[i]
    }
}

/// The grids over one set of spheres.
#[derive(Clone, Debug, Default)]
pub struct Neighbours {
    levels: Vec<Level>,
    level_of: Vec<u8>,
    period: DVec3,
    sketcher: Sketcher,
}

/// The nearest periodic image of a difference; `period` is 0 where there is none.
#[inline(always)]
pub fn nearest_image(d: f64, period: f64) -> f64 {
    if period > 0.0 { d - period * (d / period).round() } else { d }
}

impl Level {
    #[inline]
    fn cell(&self, p: &Ball) -> [u32; 3] {
        let mut out = [0; 3];
        for k in 0..3 {
            let axis = self.axes[k];
            let c = (p[k] - self.origin[k]) * self.inverse[k];
            out[k] = if axis.wraps {
                (c.floor() as i64).rem_euclid(i64::from(axis.cells)) as u32
            } else {
                // A cast rounds towards zero, and below the origin there is nobody.
                (c as u32).min(axis.cells - 1)
            };
        }
        out
    }

    #[inline]
    fn index(&self, c: [u32; 3]) -> usize {
        (c[2] as usize * self.axes[1].cells as usize + c[1] as usize) * self.axes[0].cells as usize + c[0] as usize
    }

    /// Chooses the cells for `n` members between two corners.
    fn lay_out(&mut self, size: f64, n: usize, (low, high): (DVec3, DVec3), min: DVec3, period: DVec3) {
        for k in 0..3 {
            if period[k] > 0.0 {
                let cells = ((period[k] / size).floor() as u32).clamp(1, 1 << 20);
                self.axes[k] = Axis { cells, wraps: true };
                self.origin[k] = min[k];
                self.inverse[k] = f64::from(cells) / period[k];
            } else {
                self.axes[k] =
                    Axis { cells: (((high[k] - low[k]) / size).floor() as u32).min(1 << 20) + 1, wraps: false };
                self.origin[k] = low[k];
                self.inverse[k] = 1.0 / size;
            }
        }
        // Fold the longest open axis until the cells are no more than a few per sphere.
        let room = 4 * n as u64 + 1024;
        while self.axes.iter().map(|a| u64::from(a.cells)).product::<u64>() > room {
            let foldable = (0..3).filter(|&k| period[k] == 0.0 && self.axes[k].cells > 3);
            let Some(k) = foldable.max_by_key(|&k| self.axes[k].cells) else { break };
            self.axes[k] = Axis { cells: (self.axes[k].cells / 2).max(3), wraps: true };
        }
    }

    /// Sorts the members into the cells.
    fn fill(&mut self, members: &[u32], balls: &(impl Balls + ?Sized), sketcher: &Sketcher) {
        let n = members.len();
        let cells = self.axes.iter().map(|a| a.cells as usize).product::<usize>();
        let mut cell_of = vec![0u32; n];
        cell_of.par_chunks_mut(CHUNK).zip(members.par_chunks(CHUNK)).for_each(|(out, m)| {
            for (o, &m) in out.iter_mut().zip(m) {
                *o = self.index(self.cell(&balls.ball(m as usize))) as u32;
            }
        });
        // Counting sort; stable, so that the order in a cell is the order of the slots on any number of threads.
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
        self.items.resize(n + SPARE, 0);
        for (&m, &c) in members.iter().zip(&cell_of) {
            let at = &mut next[c as usize];
            self.items[*at as usize] = m;
            *at += 1;
        }
        self.sketches.resize(n + SPARE, Vec4::ZERO);
        self.sketches.par_chunks_mut(CHUNK).zip(self.items.par_chunks(CHUNK)).for_each(|(out, items)| {
            for (o, &m) in out.iter_mut().zip(items) {
                *o = sketcher.sketch(balls.ball(m as usize));
            }
        });
    }

    /// Whether the 27 cells around any cell are 27 different ones (or missing at an open side).
    fn has_halves(&self) -> bool {
        self.axes.iter().all(|a| !a.wraps || a.cells >= 3)
    }

    /// Partners of a member of this level: in the 13 cells ahead of its own and the rest of its own, so that each pair is
    /// met once. Where cells wrap onto themselves: in all distinct cells, from the lower slot.
    #[inline]
    fn own<const PERIODIC: bool>(&self, i: u32, search: &Search<'_>, hits: &mut Hits) {
        if !self.has_halves() {
            let from = hits.count;
            self.all::<PERIODIC>(search, hits);
            return hits.keep_from(from, |m| m > i);
        }
        let [cx, cy, cz] = self.cell(&search.ball);
        let ahead = |axis: Axis, c: u32| if c + 1 < axis.cells { Some(c + 1) } else { axis.wraps.then_some(0) };
        let here = self.index([cx, cy, cz]);
        let own = self.starts[here] as usize..self.starts[here + 1] as usize;
        let later = own.start + self.items[own.clone()].partition_point(|&m| m <= i);
        self.test::<PERIODIC>(later..own.end, search, hits);
        if let Some(x) = ahead(self.axes[0], cx) {
            self.row::<PERIODIC>([x, cy, cz], 1, search, hits);
        }
        let (xs, nx) = self.axes[0].around(cx);
        if let Some(y) = ahead(self.axes[1], cy) {
            self.rows::<PERIODIC>(&xs[..nx], y, cz, search, hits);
        }
        if let Some(z) = ahead(self.axes[2], cz) {
            let (ys, ny) = self.axes[1].around(cy);
            for &y in &ys[..ny] {
                self.rows::<PERIODIC>(&xs[..nx], y, z, search, hits);
            }
        }
    }

    /// Partners of a smaller sphere of another level: all within reach.
    #[inline]
    fn all<const PERIODIC: bool>(&self, search: &Search<'_>, hits: &mut Hits) {
        let c = self.cell(&search.ball);
        let (xs, nx) = self.axes[0].around(c[0]);
        let (ys, ny) = self.axes[1].around(c[1]);
        let (zs, nz) = self.axes[2].around(c[2]);
        for &z in &zs[..nz] {
            for &y in &ys[..ny] {
                self.rows::<PERIODIC>(&xs[..nx], y, z, search, hits);
            }
        }
    }

    /// Partners of a sphere of any size, member or not: all within reach.
    fn within<const PERIODIC: bool>(&self, search: &Search<'_>, hits: &mut Hits) {
        // The first cell along each axis, and how many.
        let [x, y, z]: [(i64, i64); 3] = std::array::from_fn(|k| {
            let (axis, size) = (self.axes[k], 1.0 / self.inverse[k]);
            // No member reaches farther than half a cell.
            let reach = search.ball[3] + 0.5 * size;
            let at = |x: f64| ((x - self.origin[k]) * self.inverse[k]).floor() as i64;
            let (from, to, cells) = (at(search.ball[k] - reach), at(search.ball[k] + reach), i64::from(axis.cells));
            if axis.wraps {
                (from.rem_euclid(cells), (to - from + 1).min(cells))
            } else {
                (from.max(0), to.min(cells - 1) - from.max(0) + 1)
            }
        });
        let cells = self.axes.map(|a| i64::from(a.cells));
        // Beyond the last cell comes the first; without wrapping nobody gets there.
        let in_x = x.1.min(cells[0] - x.0);
        for z in (z.0..z.0 + z.1).map(|z| (z % cells[2]) as u32) {
            for y in (y.0..y.0 + y.1).map(|y| (y % cells[1]) as u32) {
                if in_x > 0 {
                    self.row::<PERIODIC>([x.0 as u32, y, z], in_x as usize, search, hits);
                }
                if x.1 > in_x {
                    self.row::<PERIODIC>([0, y, z], (x.1 - in_x) as usize, search, hits);
                }
            }
        }
    }

    /// Cells next to each other in x are next to each other in memory: one run unless it wraps.
    #[inline]
    fn rows<const PERIODIC: bool>(&self, xs: &[u32], y: u32, z: u32, search: &Search<'_>, hits: &mut Hits) {
        if xs[0] <= xs[xs.len() - 1] && (xs[xs.len() - 1] - xs[0]) as usize == xs.len() - 1 {
            self.row::<PERIODIC>([xs[0], y, z], xs.len(), search, hits);
        } else {
            for &x in xs {
                self.row::<PERIODIC>([x, y, z], 1, search, hits);
            }
        }
    }

    #[inline]
    fn row<const PERIODIC: bool>(&self, from: [u32; 3], cells: usize, search: &Search<'_>, hits: &mut Hits) {
        let first = self.index(from);
        self.test::<PERIODIC>(self.starts[first] as usize..self.starts[first + cells] as usize, search, hits);
    }

    /// Whether one is within reach is as good as random: write it down in any case, and count it without a branch.
    #[inline(always)]
    fn test<const PERIODIC: bool>(&self, range: std::ops::Range<usize>, search: &Search<'_>, hits: &mut Hits) {
        let mut count = hits.count;
        let most = count + range.len() + SPARE;
        if hits.near.len() < most {
            hits.near.resize(most.next_power_of_two(), 0);
        }
        let (items, sketches) =
            (&self.items[range.start..range.end + SPARE], &self.sketches[range.start..range.end + SPARE]);
        for at in (0..range.len()).step_by(4) {
            let (items, sketches) = (&items[at..at + 4], &sketches[at..at + 4]);
            let within = search.sketcher.within::<PERIODIC>(search.looking, sketches);
            let left = (range.len() - at).min(4);
            let within = within & ((1 << left) - 1);
            let near = &mut hits.near[count..count + 4];
            let mut more = 0;
            for k in 0..4 {
                near[more] = items[k];
                more += (within >> k & 1) as usize;
            }
            count += more;
        }
        hits.count = count;
    }
}

/// Partners of one sphere, in buffers that are used again and again.
#[derive(Clone, Debug, Default)]
pub struct Hits {
    /// Those within reach by their sketches: the first `count`.
    near: Vec<u32>,
    count: usize,
    found: Vec<(u32, f64)>,
}

impl Hits {
    /// Partner and squared distance of each pair found.
    pub fn pairs(&self) -> &[(u32, f64)] {
        &self.found
    }

    fn keep_from(&mut self, from: usize, keep: impl Fn(u32) -> bool) {
        let mut kept = from;
        for k in from..self.count {
            if keep(self.near[k]) {
                self.near[kept] = self.near[k];
                kept += 1;
            }
        }
        self.count = kept;
    }

    /// Of those that are near by their sketches, the ones that are.
    #[inline(always)]
    fn judge<const PERIODIC: bool>(&mut self, ball: Ball, balls: &(impl Balls + ?Sized), period: DVec3) {
        self.found.clear();
        for &m in &self.near[..self.count] {
            let other = balls.ball(m as usize);
            let mut d = [other[0] - ball[0], other[1] - ball[1], other[2] - ball[2]];
            if PERIODIC {
                for k in 0..3 {
                    d[k] = nearest_image(d[k], period[k]);
                }
            }
            let reach = ball[3] + other[3];
            let square = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
            if square < reach * reach {
                self.found.push((m, square));
            }
        }
    }
}

/// The least and the greatest coordinates of some spheres.
fn corners(members: &[u32], balls: &(impl Balls + ?Sized)) -> (DVec3, DVec3) {
    let none = (DVec3::INFINITY, DVec3::NEG_INFINITY);
    let of = |members: &[u32]| {
        members.iter().fold(none, |(low, high), &m| {
            let [x, y, z, _] = balls.ball(m as usize);
            let p = DVec3::new(x, y, z);
            (low.min(p), high.max(p))
        })
    };
    members.par_chunks(CHUNK).map(of).reduce(|| none, |a, b| (a.0.min(b.0), a.1.max(b.1)))
}

impl Neighbours {
    /// Sorts some of the spheres, in the order of their numbers, into cells. `min` is the corner from which periodic directions are counted;
    /// `period` is 0 in directions that are open.
    pub fn build(&mut self, members: &[u32], balls: &(impl Balls + ?Sized), min: DVec3, period: DVec3) {
        self.period = period;
        let reach = |i: &u32| balls.ball(*i as usize)[3];
        let extremes =
            |chunk: &[u32]| chunk.iter().map(reach).fold((f64::INFINITY, 0f64), |(a, b), r| (a.min(r), b.max(r)));
        let (least, most) = members
            .par_chunks(CHUNK)
            .map(extremes)
            .reduce(|| (f64::INFINITY, 0.0), |a, b| (a.0.min(b.0), a.1.max(b.1)));
        // The finest cells fit the smallest reach and a quarter more, each coarser level's twice that; level 0 is the
        // coarsest. Halving from the largest reach down would let one fast grain double the cells of all the others.
        let finest = SPREAD * least;
        let depth =
            if finest > 0.0 && finest < most { (math::log2(most / finest).ceil() as usize).clamp(1, 15) } else { 0 };
        let cap = |l: usize| if l == 0 { most } else { finest * f64::from(1u32 << (depth - l)) };
        let level = |reach: f64| (1..=depth).rev().find(|&l| reach <= cap(l)).unwrap_or(0) as u8;
        let levels: Vec<u8> = members.par_iter().with_min_len(CHUNK).map(|i| level(reach(i))).collect();
        self.level_of.resize(balls.count(), 0);
        let mut by_level: Vec<Vec<u32>> = vec![Vec::new(); depth + 1];
        for (&i, &l) in members.iter().zip(&levels) {
            self.level_of[i as usize] = l;
            by_level[l as usize].push(i);
        }
        let members = by_level;
        let corners: Vec<(DVec3, DVec3)> = members.iter().map(|members| corners(members, balls)).collect();
        let (low, high) =
            corners.iter().fold((DVec3::INFINITY, DVec3::NEG_INFINITY), |a, b| (a.0.min(b.0), a.1.max(b.1)));
        self.sketcher = Sketcher::new(low, high, period);
        self.levels.resize_with(depth + 1, Level::default);
        for (l, (level, members)) in self.levels.iter_mut().zip(&members).enumerate() {
            if members.is_empty() {
                *level = Level::default();
            } else {
                level.lay_out(2.0 * cap(l), members.len(), corners[l], min, period);
                level.fill(members, balls, &self.sketcher);
            }
        }
    }

    /// Finds the members within reach of member `i`, such that every pair of members is met from exactly one of the two.
    #[inline]
    pub fn pairs_of(&self, i: u32, balls: &(impl Balls + ?Sized), hits: &mut Hits) {
        if self.period == DVec3::ZERO {
            self.pairs::<false>(i, balls, hits)
        } else {
            self.pairs::<true>(i, balls, hits)
        }
    }

    /// Finds all members within reach of a sphere that need not be one.
    pub fn all_near(&self, ball: Ball, balls: &(impl Balls + ?Sized), hits: &mut Hits) {
        if self.period == DVec3::ZERO {
            self.all::<false>(ball, balls, hits)
        } else {
            self.all::<true>(ball, balls, hits)
        }
    }

    fn search(&self, ball: Ball) -> Search<'_> {
        Search { ball, looking: self.sketcher.looking(ball), sketcher: &self.sketcher }
    }

    #[inline(always)]
    fn pairs<const PERIODIC: bool>(&self, i: u32, balls: &(impl Balls + ?Sized), hits: &mut Hits) {
        hits.count = 0;
        let search = self.search(balls.ball(i as usize));
        let own = self.level_of[i as usize] as usize;
        for level in self.levels[..own].iter().filter(|l| !l.items.is_empty()) {
            level.all::<PERIODIC>(&search, hits);
        }
        self.levels[own].own::<PERIODIC>(i, &search, hits);
        hits.judge::<PERIODIC>(search.ball, balls, self.period);
    }

    #[inline(always)]
    fn all<const PERIODIC: bool>(&self, ball: Ball, balls: &(impl Balls + ?Sized), hits: &mut Hits) {
        hits.count = 0;
        let search = self.search(ball);
        for level in self.levels.iter().filter(|l| !l.items.is_empty()) {
            level.within::<PERIODIC>(&search, hits);
        }
        hits.judge::<PERIODIC>(search.ball, balls, self.period);
    }

    /// Bytes held.
    pub fn memory_bytes(&self) -> usize {
        self.level_of.capacity()
            + self
                .levels
                .iter()
                .map(|l| 4 * (l.starts.capacity() + l.items.capacity()) + 16 * l.sketches.capacity())
                .sum::<usize>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Random;
    use std::collections::BTreeSet;

    fn check(balls: &[Ball], min: DVec3, period: DVec3) {
        let mut grid = Neighbours::default();
        let numbers: Vec<u32> = (0..balls.len() as u32).collect();
        grid.build(&numbers, balls, min, period);
        let mut found = BTreeSet::new();
        let mut hits = Hits::default();
        for i in 0..balls.len() {
            grid.pairs_of(i as u32, balls, &mut hits);
            for &(j, _) in hits.pairs() {
                let pair = (j.min(i as u32), j.max(i as u32));
                assert!(found.insert(pair), "pair {pair:?} found twice");
            }
        }
        let all: Vec<BTreeSet<u32>> = (0..balls.len() as u32)
            .map(|i| {
                grid.all_near(balls[i as usize], balls, &mut hits);
                let set: BTreeSet<u32> = hits.pairs().iter().map(|h| h.0).collect();
                assert_eq!(set.len(), hits.pairs().len(), "each once");
                set
            })
            .collect();
        for i in 0..balls.len() {
            for j in 0..i {
                let d: f64 = (0..3).map(|k| nearest_image(balls[i][k] - balls[j][k], period[k]).powi(2)).sum();
                let near = d < (balls[i][3] + balls[j][3]).powi(2);
                assert_eq!(near, all[i].contains(&(j as u32)) && all[j].contains(&(i as u32)), "of all: {j} {i}");
                assert_eq!(near, found.contains(&(j as u32, i as u32)), "pair {j} {i} at {}", d.sqrt());
            }
        }
        assert!(!found.is_empty());
    }

    fn cloud(n: usize, size: DVec3, reach: impl Fn(&mut Random) -> f64) -> Vec<Ball> {
        let mut r = Random::new(7, n as u64);
        (0..n).map(|_| [r.uniform() * size.x, r.uniform() * size.y, r.uniform() * size.z, reach(&mut r)]).collect()
    }

    #[test]
    fn finds_each_pair_once_for_equal_and_for_very_different_sizes() {
        check(&cloud(500, DVec3::ONE, |_| 0.05), DVec3::ZERO, DVec3::ZERO);
        check(&cloud(500, DVec3::ONE, |r| 0.01 + 0.19 * r.uniform().powi(4)), DVec3::ZERO, DVec3::ZERO);
    }

    #[test]
    fn finds_pairs_across_periodic_sides_even_with_few_cells() {
        for period in [DVec3::ONE, DVec3::new(1.0, 0.0, 0.45), DVec3::new(0.21, 0.3, 1.0)] {
            let size = DVec3::select(period.cmpgt(DVec3::ZERO), period, DVec3::ONE);
            check(&cloud(300, size, |r| 0.02 + 0.05 * r.uniform()), DVec3::ZERO, period);
        }
    }

    #[test]
    fn a_far_flung_grain_does_not_cost_memory() {
        let mut balls = cloud(300, DVec3::ONE, |_| 0.05);
        balls.push([1e6, -1e5, 1e6, 0.05]);
        let mut grid = Neighbours::default();
        let numbers: Vec<u32> = (0..balls.len() as u32).collect();
        grid.build(&numbers, &balls[..], DVec3::ZERO, DVec3::ZERO);
        assert!(grid.memory_bytes() < 100_000, "{} bytes", grid.memory_bytes());
        check(&balls, DVec3::ZERO, DVec3::ZERO);
    }

    #[test]
    fn finds_the_members_near_one_that_is_none_however_large_and_wherever_it_is() {
        let mut random = Random::new(5, 0);
        for (period, few) in [(DVec3::ZERO, 1), (DVec3::ZERO, 200), (DVec3::new(1.0, 0.0, 0.45), 200)] {
            let size = DVec3::select(period.cmpgt(DVec3::ZERO), period, DVec3::ONE);
            let balls = cloud(400, size, |r| 0.01 + 0.03 * r.uniform());
            let members: Vec<u32> = (0..few as u32).map(|k| 2 * k).collect();
            let mut grid = Neighbours::default();
            grid.build(&members, &balls[..], DVec3::ZERO, period);
            let mut hits = Hits::default();
            for n in 0..500 {
                let x = size * (3.0 * DVec3::new(random.uniform(), random.uniform(), random.uniform()) - 1.0);
                let x = DVec3::select(period.cmpgt(DVec3::ZERO), x.rem_euclid(size), x);
                let ball = if n % 2 == 0 { balls[n % 400] } else { [x.x, x.y, x.z, 0.3 * random.uniform().powi(3)] };
                grid.all_near(ball, &balls[..], &mut hits);
                let found: BTreeSet<u32> = hits.pairs().iter().map(|h| h.0).collect();
                assert_eq!(found.len(), hits.pairs().len(), "each once");
                let near = |&m: &u32| {
                    let other = balls[m as usize];
                    let d: f64 = (0..3).map(|k| nearest_image(ball[k] - other[k], period[k]).powi(2)).sum();
                    d < (ball[3] + other[3]).powi(2)
                };
                assert_eq!(found, members.iter().copied().filter(near).collect(), "{ball:?}");
            }
        }
    }
}
