//! From the field to triangles: marching cubes, block by block.
//!
//! A cell belongs to the block of its lowest node, an edge to the block of its lower end. Which edges are crossed follows from one bit a
//! node; their places among a block's vertices are counted in those bits, so that a block names the vertices of its neighbours without a
//! table of them. Three passes over blocks: bits of the nodes; vertices and triangles counted; both written to where the counts say.

use super::blocks::{Blocks, NODES, SIDE, split, stretches};
use super::field::Field;
use super::table::{CASES, EDGES};
use super::{SkinError, SkinMesh};
use glam::{DVec3, Vec3};
use rayon::prelude::*;

/// Vertices stay that share of a voxel away from nodes: a node in the surface makes no triangles without area.
const APART: f32 = 1.0 / 256.0;
/// Nodes along a side of a block with one more below and two above: what gradients at the far corners of its cells need.
const WIDE: usize = SIDE + 3;

/// A block that owns cells.
struct Owner {
    key: u64,
    /// Its number among the blocks with values; none where the field is zero throughout.
    block: Option<usize>,
    /// Which nodes are inside: a word for each z, bit x + 8 y.
    inside: [u64; SIDE],
}

/// What the surface has in a block.
struct Part {
    /// Number of the owner.
    owner: usize,
    /// Which edges are crossed: for each axis as [`Owner::inside`].
    crossed: [[u64; SIDE]; 3],
    /// Vertices before each word of `crossed`.
    before: [[u16; SIDE]; 3],
    vertices: usize,
    triangles: usize,
}

/// The surface where the field is `iso`.
pub(super) struct March<'a> {
    blocks: &'a Blocks,
    field: &'a Field,
    voxel: f64,
    iso: f32,
    owners: Vec<Owner>,
    parts: Vec<Part>,
}

impl<'a> March<'a> {
    pub(super) fn new(blocks: &'a Blocks, field: &'a Field, voxel: f64, iso: f32) -> March<'a> {
        let mut march = March { blocks, field, voxel, iso, owners: Vec::new(), parts: Vec::new() };
        march.owners = (field.psi.par_chunks(NODES).zip(&blocks.keys).enumerate())
            .map(|(block, (nodes, &key))| Owner { key, block: Some(block), inside: bits(nodes, iso) })
            .collect();
        march.add_empty();
        let parts = (0..march.owners.len()).into_par_iter().filter_map(|owner| march.part(owner));
        march.parts = parts.collect();
        march
    }

    /// Adds the blocks without values that have cells of the surface: those below an inside node at the lower end of a block.
    fn add_empty(&mut self) {
        let row = 0xff_u64;
        let column = 0x0101_0101_0101_0101_u64;
        let masks = [column, row];
        let mut empty = Vec::new();
        for owner in &self.owners {
            for down in 1..8_usize {
                let axes = |k: usize| down >> k & 1 == 1;
                let mask = (0..2).filter(|k| axes(*k)).fold(u64::MAX, |mask, k| mask & masks[k]);
                let slices = if axes(2) { 1 } else { SIDE };
                if owner.inside[..slices].iter().all(|word| word & mask == 0) {
                    continue;
                }
                let key = self.blocks.beside(owner.key, [0, 1, 2].map(|k| -i64::from(axes(k))));
                if self.blocks.find(key).is_none() {
                    empty.push(key);
                }
            }
        }
        empty.sort_unstable();
        empty.dedup();
        self.owners.extend(empty.into_iter().map(|key| Owner { key, block: None, inside: [0; SIDE] }));
        self.owners.sort_unstable_by_key(|o| o.key);
    }

    fn owner(&self, key: u64) -> Option<usize> {
        self.owners.binary_search_by_key(&key, |o| o.key).ok()
    }

    /// The owners of a block's cells' corners: itself and the seven above it, by bits of x, y, z.
    fn above(&self, key: u64) -> [Option<usize>; 8] {
        std::array::from_fn(|up| self.owner(self.blocks.beside(key, [0, 1, 2].map(|k| (up >> k & 1) as i64))))
    }

    /// Bits of the 9³ corners of a block's cells: rows by z and y, bit x.
    fn rows(&self, above: &[Option<usize>; 8]) -> [[u16; SIDE + 1]; SIDE + 1] {
        let word = |up: usize, z: usize| above[up].map_or(0, |o| self.owners[o].inside[z]);
        let row = |word: u64, y: usize| (word >> (SIDE * y) & 0xff) as u16;
        std::array::from_fn(|z| {
            let (high, z) = if z == SIDE { (4, 0) } else { (0, z) };
            let words = [0, 1, 2, 3].map(|up| word(up | high, z));
            std::array::from_fn(|y| {
                let (lower, y) = if y == SIDE { (2, 0) } else { (0, y) };
                row(words[lower], y) | (row(words[lower + 1], y) & 1) << SIDE
            })
        })
    }

    /// What the surface has in a block; none where it has nothing.
    fn part(&self, owner: usize) -> Option<Part> {
        let rows = self.rows(&self.above(self.owners[owner].key));
        let flat = rows.as_flattened();
        if flat.iter().all(|r| *r == flat[0]) && (flat[0] == 0 || flat[0] == 0x1ff) {
            return None;
        }
        let mut part = Part { owner, crossed: [[0; SIDE]; 3], before: [[0; SIDE]; 3], vertices: 0, triangles: 0 };
        for (z, y) in (0..SIDE).flat_map(|z| (0..SIDE).map(move |y| (z, y))) {
            let own = rows[z][y];
            let next = [own >> 1, rows[z][y + 1], rows[z + 1][y]];
            for axis in 0..3 {
                part.crossed[axis][z] |= u64::from((own ^ next[axis]) & 0xff) << (SIDE * y);
            }
        }
        let mut sum = 0;
        for (word, before) in part.crossed.as_flattened().iter().zip(part.before.as_flattened_mut()) {
            *before = sum;
            sum += word.count_ones() as u16;
        }
        part.vertices = usize::from(sum);
        cells(&rows, |_, case| part.triangles += CASES[case].count() as usize);
        Some(part)
    }

    /// Vertices and triangles of the surface, and bytes they take.
    pub(super) fn size(&self) -> (usize, usize, usize) {
        let vertices = self.parts.iter().map(|p| p.vertices).sum::<usize>();
        let triangles = self.parts.iter().map(|p| p.triangles).sum::<usize>();
        let lanes = self.field.lanes.saturating_sub(1);
        let vertex = size_of::<DVec3>() + size_of::<Vec3>() + lanes * size_of::<f32>();
        (vertices, triangles, vertices * vertex + triangles * size_of::<[u32; 3]>())
    }

    /// The surface, and the carried columns at its vertices one after the other for each vertex.
    pub(super) fn mesh(&self) -> Result<(SkinMesh, Vec<f32>), SkinError> {
        let (vertices, triangles, _) = self.size();
        if u32::try_from(vertices).is_err() {
            return Err(SkinError::TooManyVertices { voxel: self.voxel, vertices });
        }
        let lanes = self.field.lanes.saturating_sub(1);
        let mut mesh = SkinMesh {
            vertices: vec![DVec3::ZERO; vertices],
            normals: vec![Vec3::ZERO; vertices],
            triangles: vec![[0; 3]; triangles],
            ..SkinMesh::default()
        };
        let mut carried = vec![0.0; vertices * lanes];
        let counts = || self.parts.iter().map(|p| p.vertices);
        let firsts: Vec<u32> = stretches(counts()).map(|s| s.start as u32).collect();
        // The part of each owner, for those who name its vertices.
        let mut part_of = vec![u32::MAX; self.owners.len()];
        self.parts.iter().enumerate().for_each(|(k, p)| part_of[p.owner] = k as u32);

        let points = split(&mut mesh.vertices, counts());
        let normals = split(&mut mesh.normals, counts());
        let columns = split(&mut carried, counts().map(|n| n * lanes));
        (self.parts.par_iter(), points, normals, columns).into_par_iter().for_each(
            |(part, points, normals, columns)| {
                self.vertices(part, points, normals, columns);
            },
        );
        let corners = split(&mut mesh.triangles, self.parts.iter().map(|p| p.triangles));
        (&self.parts, corners).into_par_iter().for_each(|(part, out)| self.triangles(part, &part_of, &firsts, out));
        Ok((mesh, carried))
    }

    /// Writes a block's vertices, in the order of its crossed edges.
    fn vertices(&self, part: &Part, points: &mut [DVec3], normals: &mut [Vec3], columns: &mut [f32]) {
        let key = self.owners[part.owner].key;
        let base = self.blocks.base(key);
        let around: [Option<usize>; 27] = std::array::from_fn(|k| {
            let by = [k % 3, k / 3 % 3, k / 9].map(|b| b as i64 - 1);
            self.owner(self.blocks.beside(key, by)).and_then(|o| self.owners[o].block)
        });
        let local = self.local(&around);
        let lanes = self.field.lanes;
        let mut n = 0;
        for axis in 0..3 {
            for z in 0..SIDE {
                let mut word = part.crossed[axis][z];
                while word != 0 {
                    let bit = word.trailing_zeros() as usize;
                    word &= word - 1;
                    let low = [bit % SIDE, bit / SIDE, z];
                    let mut high = low;
                    high[axis] += 1;
                    let (a, b) = (at(low), at(high));
                    let share = ((self.iso - local[a]) / (local[b] - local[a])).clamp(APART, 1.0 - APART);
                    let mut place = [0, 1, 2].map(|k| (base[k] + low[k] as i64) as f64);
                    place[axis] += f64::from(share);
                    points[n] = DVec3::from(place) * self.voxel;
                    normals[n] =
                        -(gradient(&local, a) * (1.0 - share) + gradient(&local, b) * share).normalize_or_zero();
                    if lanes > 0 {
                        let column = |node: [usize; 3], lane: usize| self.carried(&around, node, lane);
                        let mix = |lane: usize| column(low, lane) * (1.0 - share) + column(high, lane) * share;
                        let whole = mix(0);
                        let out = columns[n * (lanes - 1)..][..lanes - 1].iter_mut();
                        out.enumerate().for_each(|(k, out)| *out = mix(k + 1) / whole);
                    }
                    n += 1;
                }
            }
        }
    }

    /// A carried sum at a node of a block's cells.
    fn carried(&self, around: &[Option<usize>; 27], node: [usize; 3], lane: usize) -> f32 {
        let [x, y, z] = node.map(|i| i / SIDE + 1);
        let Some(block) = around[x + 3 * y + 9 * z] else { return 0.0 };
        let [x, y, z] = node.map(|i| i % SIDE);
        self.field.carried[(block * self.field.lanes + lane) * NODES + (z * SIDE + y) * SIDE + x]
    }

    /// The field on a block's nodes and those around it.
    fn local(&self, around: &[Option<usize>; 27]) -> Vec<f32> {
        // Rows of `WIDE` nodes are pieced together from three blocks: one node, eight, two.
        let mut local = vec![0.0; WIDE * WIDE * WIDE];
        let split = |i: usize| (i.div_ceil(SIDE), (i + SIDE - 1) % SIDE);
        for (zi, yi) in (0..WIDE).flat_map(|z| (0..WIDE).map(move |y| (z, y))) {
            let ((bz, z), (by, y)) = (split(zi), split(yi));
            let out = &mut local[(zi * WIDE + yi) * WIDE..][..WIDE];
            for (bx, from, to) in [(0, SIDE - 1..SIDE, 0..1), (1, 0..SIDE, 1..SIDE + 1), (2, 0..2, SIDE + 1..WIDE)] {
                if let Some(block) = around[bx + 3 * by + 9 * bz] {
                    let row = &self.field.psi[block * NODES + (z * SIDE + y) * SIDE..][..SIDE];
                    out[to].copy_from_slice(&row[from]);
                }
            }
        }
        local
    }

    /// Writes a block's triangles.
    fn triangles(&self, part: &Part, part_of: &[u32], firsts: &[u32], out: &mut [[u32; 3]]) {
        let above = self.above(self.owners[part.owner].key);
        let parts = above.map(|o| o.map_or(u32::MAX, |o| part_of[o]) as usize);
        let rows = self.rows(&above);
        let mut n = 0;
        cells(&rows, |cell, case| {
            for triangle in CASES[case].triangles() {
                out[n] = triangle.map(|edge| {
                    let edge = EDGES[usize::from(edge)];
                    let node: [usize; 3] = std::array::from_fn(|k| cell[k] + (edge.start >> k & 1));
                    let owner = (0..3).fold(0, |up, k| up | (node[k] / SIDE) << k);
                    let [x, y, z] = node.map(|i| i % SIDE);
                    let (number, bit) = (parts[owner], x + SIDE * y);
                    let part = &self.parts[number];
                    let below = part.crossed[edge.axis][z] & ((1_u64 << bit) - 1);
                    firsts[number] + u32::from(part.before[edge.axis][z]) + below.count_ones()
                });
                n += 1;
            }
        });
    }
}

/// Which of a block's nodes are inside.
fn bits(nodes: &[f32], iso: f32) -> [u64; SIDE] {
    std::array::from_fn(|z| {
        let slice = &nodes[z * SIDE * SIDE..][..SIDE * SIDE];
        slice.iter().enumerate().fold(0, |word, (k, value)| word | u64::from(*value > iso) << k)
    })
}

/// Calls `each` with the cells that the surface passes, and their cases.
fn cells(rows: &[[u16; SIDE + 1]; SIDE + 1], mut each: impl FnMut([usize; 3], usize)) {
    for (z, y) in (0..SIDE).flat_map(|z| (0..SIDE).map(move |y| (z, y))) {
        let four = [rows[z][y], rows[z][y + 1], rows[z + 1][y], rows[z + 1][y + 1]];
        let (all, any) = four.iter().fold((u16::MAX, 0), |(all, any), r| (all & r & r >> 1, any | r | r >> 1));
        let mut passed = any & !all & 0xff;
        while passed != 0 {
            let x = passed.trailing_zeros() as usize;
            passed &= passed - 1;
            let case = four.iter().enumerate().fold(0, |case, (k, row)| case | usize::from(row >> x & 3) << (2 * k));
            each([x, y, z], case);
        }
    }
}

/// Place of a node of a block's cells in the wide array.
fn at(node: [usize; 3]) -> usize {
    ((node[2] + 1) * WIDE + node[1] + 1) * WIDE + node[0] + 1
}

/// Gradient at a node, times twice the voxel.
fn gradient(local: &[f32], at: usize) -> Vec3 {
    let across = |stride: usize| local[at + stride] - local[at - stride];
    Vec3::new(across(1), across(WIDE), across(WIDE * WIDE))
}
