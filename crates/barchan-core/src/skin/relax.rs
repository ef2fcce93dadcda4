//! A surface made smoother without shrinking [Taubin 1995]: a step of diffusion, then a longer one backwards; at the end the volume that
//! is still lost is given back evenly along the normals.
//!
//! Reads and writes the vertices; normals and triangles stay. Each vertex is moved by its neighbours' old places, in a fixed order: the
//! same bits on any threads.

use super::SkinMesh;
use glam::DVec3;
use rayon::prelude::*;

/// Share of the way to the neighbours' mean of a step forwards.
const FORWARDS: f64 = 0.5;
/// The same of a step backwards: 1/FORWARDS + 1/BACKWARDS = 0.1, the wave number (of at most 2) below which nothing is damped [Taubin 1995].
const BACKWARDS: f64 = -0.5263157894736842;

/// The neighbours of each vertex.
struct Neighbours {
    starts: Vec<u32>,
    all: Vec<u32>,
}

impl Neighbours {
    /// Each directed edge of a closed surface is there once: a vertex has as many neighbours as triangles.
    fn new(vertices: usize, triangles: &[[u32; 3]]) -> Neighbours {
        let mut starts = vec![0_u32; vertices + 1];
        triangles.iter().flatten().for_each(|v| starts[*v as usize + 1] += 1);
        (1..starts.len()).for_each(|k| starts[k] += starts[k - 1]);
        let (mut at, mut all) = (starts.clone(), vec![0; 3 * triangles.len()]);
        for t in triangles {
            for k in 0..3 {
                let place = &mut at[t[k] as usize];
                all[*place as usize] = t[(k + 1) % 3];
                *place += 1;
            }
        }
        Neighbours { starts, all }
    }

    fn of(&self, vertex: usize) -> &[u32] {
        &self.all[self.starts[vertex] as usize..self.starts[vertex + 1] as usize]
    }

    /// All vertices moved that share of the way to the mean of their neighbours.
    fn step(&self, old: &[DVec3], share: f64, new: &mut [DVec3]) {
        new.par_iter_mut().enumerate().with_min_len(1024).for_each(|(v, new)| {
            let near = self.of(v);
            let sum: DVec3 = near.iter().map(|n| old[*n as usize] - old[v]).sum();
            *new = old[v] + sum * (share / near.len().max(1) as f64);
        });
    }
}

/// Volume [m³] and area [m²] that the triangles enclose, in the order of the triangles.
fn measures(vertices: &[DVec3], triangles: &[[u32; 3]]) -> (f64, f64) {
    // Relative to one of the corners: a surface far from the origin loses no digits.
    let origin = vertices.first().copied().unwrap_or_default();
    triangles.iter().fold((0.0, 0.0), |(volume, area), t| {
        let [a, b, c] = t.map(|v| vertices[v as usize] - origin);
        (volume + a.dot(b.cross(c)) / 6.0, area + 0.5 * (b - a).cross(c - a).length())
    })
}

impl SkinMesh {
    /// Smooths the surface that many times, and keeps the volume.
    pub(super) fn relax(&mut self, times: u32) {
        if times == 0 || self.triangles.is_empty() {
            return;
        }
        let neighbours = Neighbours::new(self.vertices.len(), &self.triangles);
        let (before, _) = measures(&self.vertices, &self.triangles);
        let mut other = self.vertices.clone();
        for _ in 0..times {
            neighbours.step(&self.vertices, FORWARDS, &mut other);
            neighbours.step(&other, BACKWARDS, &mut self.vertices);
        }
        let (after, area) = measures(&self.vertices, &self.triangles);
        let out = (before - after) / area;
        self.vertices.iter_mut().zip(&self.normals).for_each(|(v, n)| *v += out * n.as_dvec3());
    }
}
