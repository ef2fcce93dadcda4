//! Signed distance to the surface of the sand, at cell centres near it.
//!
//!   φ(x) = |x − x̄| − r,  x̄ = Σ k x_p / Σ k,  k = (1 − s²)³,  s = |x − x_p|/h
//!
//! with r a third of a cell [Zhu & Bridson 2005, "Animating sand as a fluid"]: negative inside. The same weights give the velocity of the
//! surface. Deep inside φ is −1 cell, far outside +1. Reads parcels in order and the filling of the grid; frozen sand is deep.

use crate::grid::{Around, Grid, ROWS, Row};
use crate::parcels::{Order, Parcels};
use crate::solid::Solid;
use crate::transfer::{Block, gather_blocks};
use barchan_core::parallel;
use glam::DVec3;

/// Radius of a parcel's ball [cells].
const BALL: f64 = 1.0 / 3.0;
/// φ where no parcel is near, and minus that deep inside [cells].
pub const FAR: f64 = 1.0;

/// Distance and velocity of the surface at cell centres.
#[derive(Clone, Debug, Default)]
pub struct Field {
    /// φ [cells].
    pub phi: Vec<Row>,
    /// Velocity of the sand about a centre [m/s].
    pub velocity: [Vec<Row>; 3],
    /// Whether any parcel is near a centre, a bit for each cell of a row.
    pub known: Vec<u8>,
}

/// The surface as a grain near it finds it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Found {
    /// Distance φ [cells].
    pub phi: f64,
    /// Unit normal, out of the sand.
    pub normal: DVec3,
    /// Velocity of the sand [m/s].
    pub velocity: DVec3,
}

impl Field {
    /// Computes the field; `deep` has a bit for every cell that lies far below the surface.
    pub fn update(&mut self, grid: &Grid, parcels: &Parcels, order: &Order, solid: &Solid, deep: &[u8]) {
        let tasks: Vec<usize> = (0..grid.len()).collect();
        let blocks: Vec<Option<Block<7>>> = parallel::run(tasks, 2, |s| {
            let own = order.first[s] as usize..order.first[s + 1] as usize;
            if s == 0 || own.is_empty() {
                return None;
            }
            let mut sums = Vec::new();
            for i in own {
                let local = parcels.cell[i].map(|c| c & 7);
                if deep[s * ROWS + (local[2] * 8 + local[1]) as usize] >> local[0] & 1 == 1 {
                    continue;
                }
                if sums.is_empty() {
                    sums = vec![[0.0; 7]; 1000];
                }
                let (o, v) = (parcels.offset[i], parcels.velocity[i]);
                for k in 0..27 {
                    let step = [k % 3 - 1, k / 3 % 3 - 1, k / 9 - 1];
                    // The way from the centre of that cell to the parcel.
                    let d = o - DVec3::new(f64::from(step[0]), f64::from(step[1]), f64::from(step[2])) - 0.5;
                    let near = 1.0 - d.length_squared();
                    if near > 0.0 {
                        let w = near * near * near;
                        let at = |k: usize| (local[k] + step[k] + 1) as usize;
                        let to = &mut sums[(at(2) * 10 + at(1)) * 10 + at(0)];
                        to[0] += w;
                        for k in 0..3 {
                            to[1 + k] += w * d[k];
                            to[4 + k] += w * v[k];
                        }
                    }
                }
            }
            (!sums.is_empty()).then_some(Block { sums })
        });
        let rows = grid.rows();
        self.phi.clear();
        self.phi.resize(rows, [FAR; 8]);
        self.known.clear();
        self.known.resize(rows, 0);
        self.velocity.iter_mut().for_each(|v| v.resize(rows, [0.0; 8]));
        let [vx, vy, vz] = &mut self.velocity;
        let tasks = self.phi.chunks_mut(ROWS).zip(self.known.chunks_mut(ROWS));
        let tasks = tasks.zip(vx.chunks_mut(ROWS)).zip(vy.chunks_mut(ROWS)).zip(vz.chunks_mut(ROWS));
        parallel::run(tasks.enumerate().skip(1).collect(), 2, |(s, ((((phi, known), vx), vy), vz))| {
            let any = grid.beside[s].iter().any(|&b| blocks[b as usize].is_some());
            let sums = if any { gather_blocks(grid, 1, &blocks, s) } else { Vec::new() };
            for p in 0..512 {
                let (k, x) = (p / 8, p % 8);
                let sum = sums.get(p).copied().unwrap_or_default();
                let velocity = [&mut vx[k][x], &mut vy[k][x], &mut vz[k][x]];
                if sum[0] > 0.0 {
                    let mean = DVec3::new(sum[1], sum[2], sum[3]) / sum[0];
                    phi[k][x] = (mean.length() - BALL).min(FAR);
                    known[k] |= 1 << x;
                    velocity.into_iter().zip(&sum[4..]).for_each(|(v, m)| *v = m / sum[0]);
                } else {
                    velocity.into_iter().for_each(|v| *v = 0.0);
                }
                let cell: [i32; 3] = std::array::from_fn(|a| 8 * grid.bricks[s][a] + [x, k % 8, k / 8][a] as i32);
                if deep[s * ROWS + k] >> x & 1 == 1 || solid.has(grid, cell) {
                    phi[k][x] = -FAR;
                }
            }
        });
    }

    /// The field at a point of a cell (0 … 7) of a brick, by trilinear interpolation. None where no parcel is near, or the field is level.
    pub fn at(&self, around: &Around, local: [i32; 3], offset: DVec3) -> Option<Found> {
        let base: [i32; 3] = std::array::from_fn(|k| local[k] + if offset[k] < 0.5 { -1 } else { 0 });
        let t: [f64; 3] = std::array::from_fn(|k| if offset[k] < 0.5 { offset[k] + 0.5 } else { offset[k] - 0.5 });
        let (mut phi, mut slope, mut velocity, mut weight) = (0.0, DVec3::ZERO, DVec3::ZERO, 0.0);
        for c in 0..8i32 {
            let up = [c & 1, c >> 1 & 1, c >> 2];
            let at: [i32; 3] = std::array::from_fn(|k| base[k] + up[k]);
            let w: [f64; 3] = std::array::from_fn(|k| if up[k] == 1 { t[k] } else { 1.0 - t[k] });
            let value = around.value(&self.phi, at[0], at[1], at[2]);
            let sign: [f64; 3] = std::array::from_fn(|k| f64::from(2 * up[k] - 1));
            phi += w[0] * w[1] * w[2] * value;
            slope += DVec3::new(sign[0] * w[1] * w[2], sign[1] * w[0] * w[2], sign[2] * w[0] * w[1]) * value;
            let (row, x) = around.row(at[0], at[1], at[2]);
            if self.known[row] >> x & 1 == 1 {
                let full = w[0] * w[1] * w[2];
                weight += full;
                velocity += full * DVec3::from_array(std::array::from_fn(|k| self.velocity[k][row][x]));
            }
        }
        let normal = slope.normalize_or_zero();
        (weight > 0.0 && normal != DVec3::ZERO).then(|| Found { phi, normal, velocity: velocity / weight })
    }
}
