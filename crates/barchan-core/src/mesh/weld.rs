//! From a soup of triangles to a surface.
//!
//! Reads and writes the mesh. Vertices within the tolerance of an earlier one become that one, so that none moves
//! further than the tolerance and those that stay are further apart. A triangle without area that has three different
//! vertices is not cut out, which would open a slit: its middle vertex lies on its longest edge, and the triangle on the
//! other side of that edge is split there instead. Cost: hashing, about 0.2 µs a vertex.

use super::Mesh;
use super::edges::{of_edge, uses};
use glam::DVec3;
use std::collections::{HashMap, HashSet};

/// What [`Mesh::weld`] did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Welded {
    /// Vertices that became one with an earlier one.
    pub merged: usize,
    /// Triangles without area that were removed.
    pub degenerate: usize,
    /// Triangles removed because an earlier one has the same three vertices, in whatever order.
    pub duplicate: usize,
    /// Vertices removed because no triangle has them.
    pub unused: usize,
}

/// A triangle is flat when its height is below this fraction of its longest edge: a hundred times the rounding of the
/// vertices' coordinates, as differences of them have.
const FLAT: f64 = 1e-14;

/// Rounds of splitting: flat triangles beside flat triangles need one each.
const ROUNDS: usize = 16;

impl Mesh {
    /// Merges vertices that coincide or lie within `tolerance` [m] of each other, then removes degenerate and duplicate
    /// triangles and unused vertices. [`Mesh::rounding`] is a good tolerance for files.
    pub fn weld(&mut self, tolerance: f64) -> Welded {
        let mut done = Welded { merged: self.merge_vertices(tolerance), ..Welded::default() };
        let before = self.triangles.len();
        self.triangles.retain(|[a, b, c]| a != b && b != c && c != a);
        done.degenerate = before - self.triangles.len();
        done.duplicate = self.remove_duplicates();
        done.degenerate += self.remove_flat();
        done.duplicate += self.remove_duplicates();
        done.unused = self.remove_unused() - done.merged;
        done
    }

    /// Distance [m] by which two copies of a vertex may differ in a file of f32 numbers: two units in the last place of
    /// the largest coordinate, along the diagonal.
    pub fn rounding(&self) -> f64 {
        2.0 * 3f64.sqrt() * f64::from(f32::EPSILON) * self.reach()
    }

    /// Largest coordinate [m], without its sign.
    fn reach(&self) -> f64 {
        self.vertices.iter().fold(0.0, |reach, v| v.abs().max_element().max(reach))
    }

    /// Lets triangles point at the first of each group of vertices; tells how many are no longer needed.
    fn merge_vertices(&mut self, tolerance: f64) -> usize {
        // Adding zero makes -0 into 0.
        let bits = |v: DVec3| (v + DVec3::ZERO).to_array().map(f64::to_bits);
        let mut same: Vec<u32> = Vec::with_capacity(self.vertices.len());
        let mut first = HashMap::with_capacity(self.vertices.len() / 4);
        for (i, v) in self.vertices.iter().enumerate() {
            same.push(*first.entry(bits(*v)).or_insert(i as u32));
        }
        // A distance below the coordinates' own rounding means nothing, and cells of that size could not be counted.
        if tolerance > f64::EPSILON * self.reach() {
            self.merge_near(tolerance, &mut same);
        }
        for v in self.triangles.iter_mut().flatten() {
            *v = same[*v as usize];
        }
        same.iter().enumerate().filter(|(i, v)| *i != **v as usize).count()
    }

    /// Vertices that stay are more than the tolerance apart, so a cell holds few of them whatever the mesh.
    fn merge_near(&self, tolerance: f64, same: &mut [u32]) {
        let cell = 8.0 * tolerance;
        let index = |x: f64| (x / cell).floor() as i64;
        let mut kept: HashMap<[i64; 3], Vec<u32>> = HashMap::new();
        for i in 0..same.len() {
            if same[i] as usize != i {
                same[i] = same[same[i] as usize]; // an exact copy goes where its first went
                continue;
            }
            let v = self.vertices[i];
            let [from, to] = [v - tolerance, v + tolerance].map(|p| p.to_array().map(index));
            let mut nearest: Option<(f64, u32)> = None;
            for x in from[0]..=to[0] {
                for y in from[1]..=to[1] {
                    for z in from[2]..=to[2] {
                        for &other in kept.get(&[x, y, z]).into_iter().flatten() {
                            let distance = v.distance(self.vertices[other as usize]);
                            let better = nearest.is_none_or(|n| (distance, other) < n);
                            if distance <= tolerance && better {
                                nearest = Some((distance, other));
                            }
                        }
                    }
                }
            }
            match nearest {
                Some((_, other)) => same[i] = other,
                None => kept.entry(v.to_array().map(index)).or_default().push(i as u32),
            }
        }
    }

    fn remove_duplicates(&mut self) -> usize {
        let before = self.triangles.len();
        let mut seen = HashSet::with_capacity(before);
        self.triangles.retain(|t| {
            let mut key = *t;
            key.sort_unstable();
            seen.insert(key)
        });
        before - self.triangles.len()
    }

    /// Position (0 to 2) of the vertex that lies on the opposite edge, where the triangle has no area.
    fn flat_corner(&self, [a, b, c]: [u32; 3]) -> Option<usize> {
        let [a, b, c] = [a, b, c].map(|v| self.vertices[v as usize]);
        let lengths = [b.distance_squared(c), c.distance_squared(a), a.distance_squared(b)];
        let corner = (0..3).max_by(|&i, &j| lengths[i].total_cmp(&lengths[j])).unwrap_or(0);
        ((b - a).cross(c - a).length() <= FLAT * lengths[corner]).then_some(corner)
    }

    fn remove_flat(&mut self) -> usize {
        let mut removed = 0;
        for _ in 0..ROUNDS {
            let flat: Vec<(usize, usize)> =
                (0..self.triangles.len()).filter_map(|i| Some((i, self.flat_corner(self.triangles[i])?))).collect();
            if flat.is_empty() {
                return removed;
            }
            let uses = uses(&self.triangles);
            let mut settled = vec![false; self.triangles.len()];
            let mut gone = vec![false; self.triangles.len()];
            for (i, corner) in flat {
                let t = self.triangles[i];
                let (middle, a, b) = (t[corner], t[(corner + 1) % 3], t[(corner + 2) % 3]);
                if settled[i] {
                    continue; // the edges are not what they were: next round
                }
                let across = of_edge(&uses, a, b).iter().map(|u| u.triangle as usize).filter(|&u| u != i);
                let Ok([other]) = <[usize; 1]>::try_from(across.collect::<Vec<_>>()) else {
                    (settled[i], gone[i]) = (true, true); // at a rim or a fork there is nothing to split
                    continue;
                };
                if settled[other] {
                    continue;
                }
                (settled[i], settled[other], gone[i]) = (true, true, true);
                let u = self.triangles[other];
                let k = (0..3).find(|&k| u[k] != a && u[k] != b).unwrap_or(0);
                let (tip, p, q) = (u[k], u[(k + 1) % 3], u[(k + 2) % 3]);
                // Where tip and middle are joined already, splitting would make a fork of that edge.
                if tip != middle && of_edge(&uses, tip, middle).is_empty() {
                    self.triangles[other] = [tip, p, middle];
                    self.triangles.push([tip, middle, q]);
                }
            }
            gone.resize(self.triangles.len(), false);
            removed += gone.iter().filter(|g| **g).count();
            let mut gone = gone.into_iter();
            self.triangles.retain(|_| !gone.next().unwrap_or(false));
        }
        // What keeps coming back is cut out; a slit that this leaves is a hole in the report.
        let before = self.triangles.len();
        let (kept, _) = self.triangles.iter().partition::<Vec<[u32; 3]>, _>(|t| self.flat_corner(**t).is_none());
        self.triangles = kept;
        removed + before - self.triangles.len()
    }

    fn remove_unused(&mut self) -> usize {
        let before = self.vertices.len();
        let mut place = vec![u32::MAX; before];
        for v in self.triangles.iter().flatten() {
            place[*v as usize] = 0;
        }
        let mut kept = 0;
        for (i, place) in place.iter_mut().enumerate() {
            if *place == 0 {
                self.vertices[kept as usize] = self.vertices[i];
                *place = kept;
                kept += 1;
            }
        }
        self.vertices.truncate(kept as usize);
        for v in self.triangles.iter_mut().flatten() {
            *v = place[*v as usize];
        }
        before - self.vertices.len()
    }
}
