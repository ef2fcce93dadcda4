//! The surface as quadrilaterals: one for every pair of neighbouring cell centres on different sides of it.
//!
//! Dual marching cubes [Nielson 2004, "Dual marching cubes"]: a cube between eight cell centres has one vertex for each sheet of the surface that
//! passes through it, so that sheets that only come near each other stay apart. A vertex lies at the mean of its sheet's crossings with the
//! cube's edges, moved to the zero of φ along its gradient, x − φ∇φ/|∇φ|², within the cube. Where a side of a cube is ambiguous, the sand at its two
//! corners is taken to be apart; both cubes see the side alike.

use super::field::Field;
use crate::fractions::{Fractions, Frame};
use crate::grid::{Grid, ROWS, SIDE};
use crate::solid::Solid;
use glam::DVec3;
use std::collections::HashMap;

/// No face beyond an edge.
pub const NONE: u32 = u32::MAX;

/// An edge of a face.
#[derive(Clone, Copy, Debug)]
pub struct Edge {
    /// The face beyond it, [`NONE`] where there is none.
    pub other: u32,
    /// Its length [m].
    pub length: f64,
    /// Its middle [m].
    pub middle: DVec3,
}

/// A quadrilateral of the surface.
#[derive(Clone, Copy, Debug)]
pub struct Face {
    /// Its corners among the vertices, counter-clockwise seen from outside.
    pub corners: [u32; 4],
    /// Mean of its corners [m].
    pub middle: DVec3,
    /// Unit normal, out of the sand.
    pub normal: DVec3,
    /// Area [m²].
    pub area: f64,
    /// Edges, from each corner to the next.
    pub edges: [Edge; 4],
    /// The cell on its inner side.
    pub cell: [i32; 3],
    /// Whether the cell beyond it lies within a wall.
    pub at_wall: bool,
}

/// Vertices and faces.
#[derive(Clone, Debug, Default)]
pub struct Mesh {
    /// Places of the vertices [m].
    pub vertices: Vec<DVec3>,
    /// All faces, in the order of bricks and cells.
    pub faces: Vec<Face>,
}

/// A cube's corner values and its sheets.
struct Cube {
    phi: [f64; 8],
    /// Of each edge that the surface crosses, the first edge of its sheet.
    sheet: [u8; 12],
}

/// No crossing on an edge.
const WHOLE: u8 = u8::MAX;

/// Number of the edge along an axis at the place (b, d) in the two axes after it.
fn edge(axis: usize, b: usize, d: usize) -> usize {
    4 * axis + b + 2 * d
}

/// The corners at the two ends of an edge.
fn ends(e: usize) -> [usize; 2] {
    let (axis, b, d) = (e / 4, e & 1, e >> 1 & 1);
    let low = b << ((axis + 1) % 3) | d << ((axis + 2) % 3);
    [low, low | 1 << axis]
}

impl Cube {
    fn new(phi: [f64; 8]) -> Cube {
        let inside = |c: usize| phi[c] < 0.0;
        let mut sheet: [u8; 12] = std::array::from_fn(|e| {
            let [a, b] = ends(e);
            if inside(a) != inside(b) { e as u8 } else { WHOLE }
        });
        let mut join = |a: usize, b: usize| {
            let (a, b) = (sheet[a], sheet[b]);
            let (low, high) = (a.min(b), a.max(b));
            sheet.iter_mut().filter(|s| **s == high).for_each(|s| *s = low);
        };
        for n in 0..3 {
            let (u, w) = ((n + 1) % 3, (n + 2) % 3);
            for q in 0..2 {
                // The sides about corner (i, j) of this face of the cube: along u at w = j, along w at u = i.
                let along_u = |j: usize| edge(u, j, q);
                let along_w = |i: usize| edge(w, q, i);
                let corner = |i: usize, j: usize| i << u | j << w | q << n;
                let crossed = |e: usize| {
                    let [a, b] = ends(e);
                    inside(a) != inside(b)
                };
                let sides = [along_u(0), along_u(1), along_w(0), along_w(1)];
                let found: Vec<usize> = sides.into_iter().filter(|e| crossed(*e)).collect();
                match found[..] {
                    [a, b] => join(a, b),
                    [_, _, _, _] => {
                        for (i, j) in [(0, 0), (1, 0), (1, 1), (0, 1)] {
                            if inside(corner(i, j)) {
                                join(along_u(j), along_w(i));
                            }
                        }
                    }
                    _ => {}
                }
            }
        }
        Cube { phi, sheet }
    }

    /// φ and its gradient by trilinear interpolation.
    fn at(&self, x: DVec3) -> (f64, DVec3) {
        let (mut value, mut slope) = (0.0, DVec3::ZERO);
        for c in 0..8usize {
            let up = [c & 1, c >> 1 & 1, c >> 2];
            let w: [f64; 3] = std::array::from_fn(|k| if up[k] == 1 { x[k] } else { 1.0 - x[k] });
            let sign: [f64; 3] = std::array::from_fn(|k| if up[k] == 1 { 1.0 } else { -1.0 });
            value += w[0] * w[1] * w[2] * self.phi[c];
            slope += DVec3::new(sign[0] * w[1] * w[2], w[0] * sign[1] * w[2], w[0] * w[1] * sign[2]) * self.phi[c];
        }
        (value, slope)
    }

    /// The vertex of a sheet, in the cube (0 … 1).
    fn vertex(&self, sheet: u8) -> DVec3 {
        let (mut sum, mut count) = (DVec3::ZERO, 0.0);
        for e in (0..12).filter(|&e| self.sheet[e] == sheet) {
            let [a, b] = ends(e);
            let place = |c: usize| DVec3::new((c & 1) as f64, (c >> 1 & 1) as f64, (c >> 2) as f64);
            sum += place(a).lerp(place(b), self.phi[a] / (self.phi[a] - self.phi[b]));
            count += 1.0;
        }
        let mean = sum / count;
        let (phi, slope) = self.at(mean);
        let square = slope.length_squared();
        let moved = if square > 0.0 { mean - slope * (phi / square) } else { mean };
        moved.clamp(DVec3::ZERO, DVec3::ONE)
    }
}

/// What a mesh is built of.
pub struct Ground<'a> {
    pub grid: &'a Grid,
    pub fractions: &'a Fractions,
    pub solid: &'a Solid,
    pub frame: Frame,
}

/// Vertices by cube and sheet: for sharing across periodic sides by the wrapped name, for their places as they are.
#[derive(Default)]
struct Names {
    placed: HashMap<([i32; 3], u8), u32>,
    wrapped: HashMap<([i32; 3], u8), u32>,
    name: Vec<u32>,
}

impl Mesh {
    /// The mesh of a field.
    pub fn build(field: &Field, on: &Ground<'_>) -> Mesh {
        let (mut mesh, mut names) = (Mesh::default(), Names::default());
        for s in 1..on.grid.len() {
            mesh.enter(field, on, s, &mut names);
        }
        mesh.join(&names.name);
        mesh
    }

    /// The faces of the cells of a brick with the cells above them.
    fn enter(&mut self, field: &Field, on: &Ground<'_>, s: usize, names: &mut Names) {
        let (around, first) = (&on.grid.around[s], on.grid.bricks[s].map(|b| SIDE * b));
        let phi = |c: [i32; 3]| around.value(&field.phi, c[0], c[1], c[2]);
        for p in 0..ROWS as i32 * 8 {
            let at = [p & 7, p >> 3 & 7, p >> 6];
            let here = phi(at);
            for a in 0..3 {
                let beyond: [i32; 3] = std::array::from_fn(|k| at[k] + i32::from(k == a));
                let there = phi(beyond);
                if (here < 0.0) == (there < 0.0) {
                    continue;
                }
                let (inner, outer) = if here < 0.0 { (at, beyond) } else { (beyond, at) };
                let place = |c: [i32; 3]| -> [i32; 3] { std::array::from_fn(|k| first[k] + c[k]) };
                // Frozen bricks that are not alive look empty and are full.
                if on.solid.has(on.grid, place(outer)) {
                    continue;
                }
                let (b, d) = ((a + 1) % 3, (a + 2) % 3);
                // The cubes about the line between the two centres, counter-clockwise seen from its upper end.
                let mut corners: [u32; 4] = std::array::from_fn(|k| {
                    let (lower_b, lower_d) = ([0, 1, 1, 0][k], [0, 0, 1, 1][k]);
                    let mut low = at;
                    (low[b], low[d]) = (low[b] - lower_b, low[d] - lower_d);
                    let e = edge(a, lower_b as usize, lower_d as usize);
                    self.vertex(&phi, on, low, place(low), e, names)
                });
                if here >= 0.0 {
                    corners.reverse();
                }
                let capacity = around.value(&on.fractions.capacity, outer[0], outer[1], outer[2]);
                let face = self.face(corners, place(inner), capacity < 0.5);
                self.faces.push(face);
            }
        }
    }

    /// The vertex of the sheet that crosses an edge of the cube at local `low`.
    fn vertex(
        &mut self,
        phi: &impl Fn([i32; 3]) -> f64,
        on: &Ground<'_>,
        low: [i32; 3],
        cell: [i32; 3],
        e: usize,
        names: &mut Names,
    ) -> u32 {
        let cube = Cube::new(std::array::from_fn(|c| {
            phi([low[0] + (c & 1) as i32, low[1] + (c >> 1 & 1) as i32, low[2] + (c >> 2) as i32])
        }));
        let sheet = cube.sheet[e];
        if let Some(&v) = names.placed.get(&(cell, sheet)) {
            return v;
        }
        let v = self.vertices.len() as u32;
        self.vertices.push(on.frame.point(cell, DVec3::splat(0.5) + cube.vertex(sheet)));
        let wrapped: [i32; 3] = std::array::from_fn(|k| match on.grid.period[k] {
            0 => cell[k],
            period => cell[k].rem_euclid(SIDE * period),
        });
        names.placed.insert((cell, sheet), v);
        names.name.push(*names.wrapped.entry((wrapped, sheet)).or_insert(v));
        v
    }

    fn face(&self, corners: [u32; 4], cell: [i32; 3], at_wall: bool) -> Face {
        let x = corners.map(|c| self.vertices[c as usize]);
        let middle = 0.25 * (x[0] + x[1] + x[2] + x[3]);
        // Twice the area's vector, whatever the fold.
        let vector = (x[2] - x[0]).cross(x[3] - x[1]);
        let area = (0..4).map(|k| 0.5 * (x[k] - middle).cross(x[(k + 1) % 4] - middle).length()).sum();
        let edges = std::array::from_fn(|k| {
            let (a, b) = (x[k], x[(k + 1) % 4]);
            Edge { other: NONE, length: a.distance(b), middle: 0.5 * (a + b) }
        });
        Face { corners, middle, normal: vector.normalize_or_zero(), area, edges, cell, at_wall }
    }

    /// Finds the face beyond each edge, by the names of its ends.
    fn join(&mut self, name: &[u32]) {
        let mut waiting: HashMap<[u32; 2], Vec<(u32, usize)>> = HashMap::new();
        for f in 0..self.faces.len() {
            for k in 0..4 {
                let [a, b] = [k, (k + 1) % 4].map(|k| name[self.faces[f].corners[k] as usize]);
                // Neighbours run along their edge in opposite directions.
                let partner = waiting.get_mut(&[b, a]).filter(|w| !w.is_empty()).map(|w| w.remove(0));
                match partner {
                    Some((g, l)) => {
                        self.faces[f].edges[k].other = g;
                        self.faces[g as usize].edges[l].other = f as u32;
                    }
                    None => waiting.entry([a, b]).or_default().push((f as u32, k)),
                }
            }
        }
    }

    /// Area of all faces [m²].
    #[cfg(test)]
    pub fn area(&self) -> f64 {
        self.faces.iter().map(|f| f.area).sum()
    }
}
