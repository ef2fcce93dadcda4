//! Where a surface cuts through itself.
//!
//! Pairs of triangles that share no edge, found through a tree of boxes over triangles in Morton order (Lauterbach et al.
//! 2009, with eight children a node). Two triangles cross where an edge of one goes from one side of the other's plane to
//! the other side and passes through the triangle; or they lie in one plane and have area in common. Touching is not
//! crossing, and what is no deeper than the rounding of f32 coordinates ([`Mesh::rounding`]) counts as touching: a flat
//! face of many triangles, turned and written to a file, would else cut through itself. Triangles thinner than that
//! have no plane to speak of and are passed over. Cost: 2 µs a triangle on two threads.

use super::Mesh;
use super::health::{MOST_CROSSINGS, Places};
use glam::DVec3;
use rayon::prelude::*;

/// Children of a node.
const WIDTH: usize = 8;
/// Triangles between two looks at the count.
const BATCH: usize = 1024;

impl Mesh {
    /// Pairs of triangles without a common edge that cut through or lie on each other.
    pub(super) fn crossings(&self) -> Places {
        let mut places = Places::default();
        let (tree, rounding) = (Tree::new(self), self.rounding());
        let n = tree.order.len();
        for start in (0..n).step_by(BATCH) {
            let found: Vec<Vec<DVec3>> = (start..n.min(start + BATCH))
                .into_par_iter()
                .map(|i| {
                    let mut found = Vec::new();
                    tree.visit(tree.levels.len() - 1, 0, i, &mut |k| {
                        // One triangle may cross all others: what is beyond counting need not be looked for.
                        if found.len() < MOST_CROSSINGS {
                            found.extend(self.crossing(tree.order[i] as usize, tree.order[k] as usize, rounding));
                        }
                    });
                    found
                })
                .collect();
            found.into_iter().flatten().for_each(|place| places.add(place));
            if places.count >= MOST_CROSSINGS {
                break;
            }
        }
        places
    }

    /// A point where two triangles cross by more than `rounding` [m].
    pub(super) fn crossing(&self, i: usize, k: usize, rounding: f64) -> Option<DVec3> {
        let (t, u) = (self.triangles[i], self.triangles[k]);
        if t.iter().filter(|v| u.contains(v)).count() >= 2 {
            return None;
        }
        let (t, u) = (self.corners(i), self.corners(k));
        let of_t = sides(t, u, rounding)?;
        // Most pairs of near boxes are told apart here: all of one on one side of the other.
        if of_t.iter().all(|s| *s > 0) || of_t.iter().all(|s| *s < 0) {
            return None;
        }
        let of_u = sides(u, t, rounding)?;
        if of_t == [0; 3] && of_u == [0; 3] {
            return common(t, u, rounding);
        }
        let edges = |t: [DVec3; 3], sides: [i32; 3], u: [DVec3; 3]| {
            (0..3).find_map(|k| {
                let l = (k + 1) % 3;
                if sides[k] * sides[l] < 0 { pierced(t[k], t[l], u) } else { None }
            })
        };
        edges(t, of_t, u).or_else(|| edges(u, of_u, t))
    }
}

/// Sides of the plane of a triangle on which points lie, 0 within `rounding` [m] of it; none where the triangle is
/// thinner than that.
fn sides(points: [DVec3; 3], [a, b, c]: [DVec3; 3], rounding: f64) -> Option<[i32; 3]> {
    let normal = (b - a).cross(c - a);
    let area = normal.length();
    let longest = a.distance(b).max(b.distance(c)).max(c.distance(a));
    if area <= rounding * longest {
        return None;
    }
    let limit = rounding * area;
    Some(points.map(|p| {
        let distance = normal.dot(p - a);
        if distance.abs() <= limit { 0 } else { distance.signum() as i32 }
    }))
}

/// Which way a line from `p` to `q` passes the edge from `a` to `b`: 0 where that is below the error of the determinant
/// (Shewchuk 1997, the bound A of orient3d), so that two triangles cannot both say it passes on the other's side of
/// their common edge.
fn passes(p: DVec3, q: DVec3, a: DVec3, b: DVec3) -> i32 {
    const BOUND: f64 = 8e-16; // (7 + 56 ε) ε, rounded up
    let (p, q, a) = (p - b, q - b, a - b);
    let value = p.dot(q.cross(a));
    let (d, e) = (q.abs(), a.abs());
    let permanent = p.abs().dot(DVec3::new(d.y * e.z + d.z * e.y, d.z * e.x + d.x * e.z, d.x * e.y + d.y * e.x));
    if value.abs() <= BOUND * permanent { 0 } else { value.signum() as i32 }
}

/// Where the segment from one side of a triangle's plane to the other passes through the triangle.
fn pierced(p: DVec3, q: DVec3, [a, b, c]: [DVec3; 3]) -> Option<DVec3> {
    let ways = [passes(p, q, a, b), passes(p, q, b, c), passes(p, q, c, a)];
    if ways.contains(&1) && ways.contains(&-1) {
        return None;
    }
    let normal = (b - a).cross(c - a);
    let (from, to) = (normal.dot(p - a), normal.dot(q - a));
    Some(p.lerp(q, (from / (from - to)).clamp(0.0, 1.0)))
}

/// Middle of what two triangles in one plane have in common, where that has an area: one is cut to the other edge by
/// edge (Sutherland and Hodgman 1974).
fn common(t: [DVec3; 3], [a, b, c]: [DVec3; 3], rounding: f64) -> Option<DVec3> {
    let normal = (b - a).cross(c - a).normalize();
    let doubled_area = |polygon: &[DVec3]| {
        polygon.windows(2).map(|w| (w[0] - polygon[0]).cross(w[1] - polygon[0]).dot(normal)).sum::<f64>().abs()
    };
    let round = |[a, b, c]: [DVec3; 3]| a.distance(b) + b.distance(c) + c.distance(a);
    // Triangles that touch along an edge may overlap by a strip as wide as the rounding.
    let least = 2.0 * rounding * round(t).min(round([a, b, c]));
    let mut polygon = t.to_vec();
    for (from, to) in [(a, b), (b, c), (c, a)] {
        let inward = normal.cross(to - from);
        let mut cut = Vec::with_capacity(polygon.len() + 1);
        for (i, &p) in polygon.iter().enumerate() {
            let q = polygon[(i + 1) % polygon.len()];
            let (dp, dq) = (inward.dot(p - from), inward.dot(q - from));
            if dp >= 0.0 {
                cut.push(p);
            }
            if dp * dq < 0.0 {
                cut.push(p.lerp(q, dp / (dp - dq)));
            }
        }
        polygon = cut;
    }
    (polygon.len() >= 3 && doubled_area(&polygon) > least).then(|| polygon.iter().sum::<DVec3>() / polygon.len() as f64)
}

#[derive(Clone, Copy)]
struct Bounds {
    low: DVec3,
    high: DVec3,
}

impl Bounds {
    fn join(boxes: &[Bounds]) -> Bounds {
        let first = boxes[0];
        boxes.iter().fold(first, |a, b| Bounds { low: a.low.min(b.low), high: a.high.max(b.high) })
    }

    fn meets(&self, other: &Bounds) -> bool {
        self.low.cmple(other.high).all() && other.low.cmple(self.high).all()
    }
}

/// Boxes in levels: the lowest has one a triangle, each of the next is round eight, the highest is one.
struct Tree {
    /// Triangles along the curve.
    order: Vec<u32>,
    levels: Vec<Vec<Bounds>>,
}

impl Tree {
    fn new(mesh: &Mesh) -> Tree {
        let bounds: Vec<Bounds> = (0..mesh.triangles.len())
            .into_par_iter()
            .map(|i| Bounds::join(&mesh.corners(i).map(|p| Bounds { low: p, high: p })))
            .collect();
        let (low, high) = mesh.bounds().unwrap_or_default();
        let cells = f64::from(1 << 21) / (high - low).max_element().max(f64::MIN_POSITIVE);
        let code = |b: &Bounds| {
            let cell = (0.5 * (b.low + b.high) - low) * cells;
            let [x, y, z] = cell.to_array().map(|x| spread((x as u64).min((1 << 21) - 1)));
            x | y << 1 | z << 2
        };
        let mut order: Vec<(u64, u32)> = bounds.iter().enumerate().map(|(i, b)| (code(b), i as u32)).collect();
        order.par_sort_unstable();
        let order: Vec<u32> = order.into_iter().map(|o| o.1).collect();
        let mut levels = vec![order.iter().map(|&i| bounds[i as usize]).collect::<Vec<_>>()];
        while levels[levels.len() - 1].len() > 1 {
            let below = &levels[levels.len() - 1];
            levels.push(below.chunks(WIDTH).map(Bounds::join).collect());
        }
        Tree { order, levels }
    }

    /// Calls `found` with the places after `i` of triangles whose box meets that of the triangle at `i`.
    fn visit(&self, level: usize, node: usize, i: usize, found: &mut impl FnMut(usize)) {
        if level == 0 {
            if node > i {
                found(node);
            }
            return;
        }
        let below = &self.levels[level - 1];
        let last = below.len().min((node + 1) * WIDTH);
        for child in node * WIDTH..last {
            // Children that end before i hold no pair that is not seen from the other side.
            let after = (child + 1).saturating_mul(WIDTH.pow(level as u32 - 1)) > i;
            if after && below[child].meets(&self.levels[0][i]) {
                self.visit(level - 1, child, i, found);
            }
        }
    }
}

/// The lowest 21 bits, each followed by two zeros.
fn spread(x: u64) -> u64 {
    let x = (x | x << 32) & 0x1f_0000_0000_ffff;
    let x = (x | x << 16) & 0x1f_0000_ff00_00ff;
    let x = (x | x << 8) & 0x100f_00f0_0f00_f00f;
    let x = (x | x << 4) & 0x10c3_0c30_c30c_30c3;
    (x | x << 2) & 0x1249_2492_4924_9249
}
