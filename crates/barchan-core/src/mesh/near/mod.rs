//! Who of a mesh is near: a tree of boxes over its triangles.
//!
//! Boxes are split by the surface-area heuristic over bins [Wald 2007, "On fast construction of SAH-based bounding volume
//! hierarchies"] and lie in one flat array, siblings side by side; triangles are copied in the order of the leaves. A
//! query keeps its path in a fixed array and allocates nothing. Of triangles that are equally near the one of the lowest
//! number is named, so that the answer is a function of the point and not of the search.

mod surface;
#[cfg(test)]
pub(crate) mod test_meshes;
#[cfg(test)]
mod tests;
mod triangle;

pub use surface::{Surface, SurfaceError};
pub use triangle::{Feature, closest};

use super::Mesh;
use glam::DVec3;
use rayon::prelude::*;

/// Triangles a leaf holds at most.
const LEAF: usize = 4;
/// Bins along the longest side in which a cut is looked for.
const BINS: usize = 16;
/// Below this depth triangles are halved by number, which ends the descent after at most 32 more levels.
const BALANCED_BELOW: u32 = 40;
/// Room for the siblings left aside on the way down: one a level.
const PATH: usize = 80;

/// The point of a mesh that is nearest to a given point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Nearest {
    /// The triangle it lies on; where several meet, the first of them.
    pub triangle: u32,
    /// What of the triangle it lies on.
    pub feature: Feature,
    /// Where it is [m].
    pub point: DVec3,
    /// How far it is [m].
    pub distance: f64,
}

/// A box of the tree. Its children are the boxes `first` and `first + 1`, or, if `count` is not 0, the triangles in the
/// slots from `first`.
#[derive(Clone, Copy, Debug)]
struct Node {
    low: DVec3,
    high: DVec3,
    first: u32,
    count: u32,
}

impl Node {
    #[inline(always)]
    fn distance_squared(&self, p: DVec3) -> f64 {
        (self.low - p).max(p - self.high).max(DVec3::ZERO).length_squared()
    }
}

/// A tree over the triangles of a mesh. Triangles without area are left out: their edges belong to others as well.
#[derive(Clone, Debug, Default)]
pub struct Tree {
    nodes: Vec<Node>,
    /// Corners, in the order of the leaves.
    corners: Vec<[DVec3; 3]>,
    /// Numbers of the triangles in the mesh, in the order of the leaves.
    triangles: Vec<u32>,
}

/// What is known of the nearest point while it is looked for.
#[derive(Clone, Copy)]
struct Best {
    square: f64,
    slot: u32,
    triangle: u32,
    point: DVec3,
    feature: Feature,
}

/// What the build needs of one triangle.
struct Item {
    low: DVec3,
    high: DVec3,
    middle: DVec3,
}

#[inline]
fn around(items: &[Item], order: &[u32]) -> (DVec3, DVec3) {
    order.iter().fold((DVec3::INFINITY, DVec3::NEG_INFINITY), |(low, high), &t| {
        (low.min(items[t as usize].low), high.max(items[t as usize].high))
    })
}

fn half_area(low: DVec3, high: DVec3) -> f64 {
    let s = high - low;
    s.x * s.y + s.y * s.z + s.z * s.x
}

/// Where to cut, as the number of triangles before the cut; `order` is partitioned accordingly. None: a leaf will do.
fn cut(items: &[Item], order: &mut [u32], depth: u32) -> Option<usize> {
    let n = order.len();
    if n <= LEAF {
        return None;
    }
    let (first, last) = order.iter().fold((DVec3::INFINITY, DVec3::NEG_INFINITY), |(a, b), &t| {
        (a.min(items[t as usize].middle), b.max(items[t as usize].middle))
    });
    let extent = last - first;
    let axis = if extent.x >= extent.y && extent.x >= extent.z { 0 } else { 1 + usize::from(extent.z > extent.y) };
    let scale = BINS as f64 * (1.0 - 1e-9) / extent[axis];
    if !scale.is_finite() || depth > BALANCED_BELOW {
        order.select_nth_unstable_by(n / 2, |&a, &b| {
            items[a as usize].middle[axis].total_cmp(&items[b as usize].middle[axis]).then(a.cmp(&b))
        });
        return Some(n / 2);
    }
    let bin = |t: u32| ((items[t as usize].middle[axis] - first[axis]) * scale) as usize;
    let mut bins = [(DVec3::INFINITY, DVec3::NEG_INFINITY, 0usize); BINS];
    for &t in order.iter() {
        let b = &mut bins[bin(t).min(BINS - 1)];
        *b = (b.0.min(items[t as usize].low), b.1.max(items[t as usize].high), b.2 + 1);
    }
    let mut cost = [0.0; BINS];
    let (mut l, mut h, mut count) = (DVec3::INFINITY, DVec3::NEG_INFINITY, 0);
    for k in (1..BINS).rev() {
        (l, h, count) = (l.min(bins[k].0), h.max(bins[k].1), count + bins[k].2);
        cost[k] = if count > 0 { half_area(l, h) * count as f64 } else { f64::INFINITY };
    }
    (l, h, count) = (DVec3::INFINITY, DVec3::NEG_INFINITY, 0);
    let mut best = (f64::INFINITY, 0);
    for k in 1..BINS {
        (l, h, count) = (l.min(bins[k - 1].0), h.max(bins[k - 1].1), count + bins[k - 1].2);
        let total = if count > 0 { cost[k] + half_area(l, h) * count as f64 } else { f64::INFINITY };
        if total < best.0 {
            best = (total, k);
        }
    }
    let mut before = 0;
    for k in 0..n {
        if bin(order[k]).min(BINS - 1) < best.1 {
            order.swap(before, k);
            before += 1;
        }
    }
    Some(before)
}

impl Tree {
    /// Builds the tree; about 0.1 s for 100,000 triangles.
    ///
    /// Every triangle must name vertices that exist and are finite, as [`Surface::build`] checks.
    pub fn build(mesh: &Mesh) -> Tree {
        let items: Vec<Item> = (0..mesh.triangles.len())
            .into_par_iter()
            .map(|t| {
                let [a, b, c] = mesh.corners(t);
                let (low, high) = (a.min(b).min(c), a.max(b).max(c));
                Item { low, high, middle: 0.5 * (low + high) }
            })
            .collect();
        let normal = |t: u32| {
            let [a, b, c] = mesh.corners(t as usize);
            (b - a).cross(c - a).normalize_or_zero()
        };
        let mut order: Vec<u32> = (0..mesh.triangles.len() as u32).filter(|&t| normal(t) != DVec3::ZERO).collect();
        let mut nodes = Vec::with_capacity(order.len());
        if !order.is_empty() {
            let (low, high) = around(&items, &order);
            nodes.push(Node { low, high, first: 0, count: order.len() as u32 });
            let mut open = vec![(0usize, 0usize, order.len(), 0u32)];
            while let Some((node, start, end, depth)) = open.pop() {
                let Some(before) = cut(&items, &mut order[start..end], depth) else { continue };
                let first = nodes.len();
                for (from, to) in [(start, start + before), (start + before, end)] {
                    let (low, high) = around(&items, &order[from..to]);
                    open.push((nodes.len(), from, to, depth + 1));
                    nodes.push(Node { low, high, first: from as u32, count: (to - from) as u32 });
                }
                nodes[node].first = first as u32;
                nodes[node].count = 0;
            }
        }
        let corners = order.par_iter().map(|&t| mesh.corners(t as usize)).collect();
        Tree { nodes, corners, triangles: order }
    }

    /// Whether there is no triangle with an area.
    pub fn is_empty(&self) -> bool {
        self.triangles.is_empty()
    }

    /// Lowest and highest corner of the box around all triangles [m]; None if there are none.
    pub fn bounds(&self) -> Option<(DVec3, DVec3)> {
        self.nodes.first().map(|n| (n.low, n.high))
    }

    /// The point of the mesh nearest to `point` [m], if there is one no farther than `limit` [m] (which may be infinite).
    pub fn nearest(&self, point: DVec3, limit: f64) -> Option<Nearest> {
        self.nearest_from(point, limit, &mut None)
    }

    /// As [`Tree::nearest`], trying first the triangle that was nearest to the last point asked for: a guess makes the
    /// search short where points are asked for one beside the other, and never changes the answer.
    pub fn nearest_from(&self, point: DVec3, limit: f64, guess: &mut Option<u32>) -> Option<Nearest> {
        let mut best = Best {
            square: limit * limit,
            slot: u32::MAX,
            triangle: u32::MAX,
            point: DVec3::ZERO,
            feature: Feature::Face,
        };
        if let Some(slot) = guess.filter(|&s| (s as usize) < self.corners.len()) {
            self.look_at(slot, point, &mut best);
        }
        self.descend(point, &mut best);
        if best.slot == u32::MAX {
            return None;
        }
        *guess = Some(best.slot);
        Some(Nearest {
            triangle: best.triangle,
            feature: best.feature,
            point: best.point,
            distance: best.square.sqrt(),
        })
    }

    #[inline(always)]
    fn look_at(&self, slot: u32, p: DVec3, best: &mut Best) {
        let (point, feature) = closest(&self.corners[slot as usize], p);
        let square = (p - point).length_squared();
        let triangle = self.triangles[slot as usize];
        if square < best.square || (square == best.square && triangle < best.triangle) {
            *best = Best { square, slot, triangle, point, feature };
        }
    }

    fn descend(&self, p: DVec3, best: &mut Best) {
        let Some(root) = self.nodes.first() else { return };
        // The distance to a box is rounded otherwise than that to a triangle in it: only what is farther beyond doubt
        // is left out.
        const DOUBT: f64 = 1.0 - 1e-12;
        let mut path = [(0u32, 0.0f64); PATH];
        let mut waiting = 0;
        let mut node = root;
        if node.distance_squared(p) * DOUBT > best.square {
            return;
        }
        loop {
            if node.count > 0 {
                for slot in node.first..node.first + node.count {
                    self.look_at(slot, p, best);
                }
            } else {
                let (mut near, mut far) = (node.first, node.first + 1);
                let mut d = self.nodes[near as usize].distance_squared(p) * DOUBT;
                let mut e = self.nodes[far as usize].distance_squared(p) * DOUBT;
                if e < d {
                    std::mem::swap(&mut near, &mut far);
                    std::mem::swap(&mut d, &mut e);
                }
                if e <= best.square {
                    path[waiting] = (far, e);
                    waiting += 1;
                }
                if d <= best.square {
                    node = &self.nodes[near as usize];
                    continue;
                }
            }
            loop {
                if waiting == 0 {
                    return;
                }
                waiting -= 1;
                if path[waiting].1 <= best.square {
                    node = &self.nodes[path[waiting].0 as usize];
                    break;
                }
            }
        }
    }

    /// Visits every triangle no farther than `radius` [m] from `centre` [m], with its own nearest point; in the same
    /// order each time.
    pub fn within(&self, centre: DVec3, radius: f64, mut visit: impl FnMut(Nearest)) {
        if self.nodes.is_empty() {
            return;
        }
        let square = radius * radius;
        let mut path = [0u32; PATH];
        let mut waiting = 1;
        while waiting > 0 {
            waiting -= 1;
            let node = &self.nodes[path[waiting] as usize];
            if node.distance_squared(centre) > square * (1.0 + 1e-12) {
                continue;
            }
            if node.count == 0 {
                (path[waiting], path[waiting + 1]) = (node.first + 1, node.first);
                waiting += 2;
                continue;
            }
            for slot in node.first as usize..(node.first + node.count) as usize {
                let (point, feature) = closest(&self.corners[slot], centre);
                let distance = centre.distance(point);
                if distance <= radius {
                    visit(Nearest { triangle: self.triangles[slot], feature, point, distance });
                }
            }
        }
    }

    /// Bytes held.
    pub fn memory_bytes(&self) -> usize {
        self.nodes.capacity() * size_of::<Node>()
            + self.corners.capacity() * size_of::<[DVec3; 3]>()
            + self.triangles.capacity() * size_of::<u32>()
    }
}
