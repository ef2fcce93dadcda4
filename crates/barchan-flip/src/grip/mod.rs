//! Friction: the deviatoric stress of greatest dissipation within the yield cone, for a given pressure.
//!
//!   min over s of ½ Σ_f M_f |u_f + (dt/ρ̂_f)(Div s)_f|²,  ‖s‖_F ≤ √2 μ p,  tr s = 0
//!
//! with μ = tan θ: a flow that keeps its volume shears with s along the strain rate, ‖s‖_F = √2 τ, so that it runs above the angle θ and
//! stops below. Solved by accelerated projected gradients with restarts [Mazhar et al. 2015, "Using Nesterov's method to accelerate multibody
//! dynamics with friction and contact"]:
//!
//!   s⁺ = Π(y + α E(u(y))),  y = s⁺ + (θ − 1)/θ⁺ (s⁺ − s),  α = h²/(8 max dt/ρ̂),
//!
//! since ‖dev sym ∇‖² ≤ 8/h² in three dimensions. Normal stresses are at cell centres, shear stresses at edges. Where the norm is taken,
//! the other components are averages of their neighbours (averaged values, not squares: noise would weaken the sand), and an edge's pressure is
//! the mean of the cells about it that bear. The edges between sand and a wall have the wall's own bound, μ_w p.
//!
//! Reads velocities under everything but the stress, mobilities and pressures; writes the stress. Costs three passes over the loaded
//! rows an iteration, in single precision.

mod bounds;
mod project;

use crate::flow::component::{XX, XY, XZ, YY, YZ, ZZ};
use crate::flow::{Flow, Single, Tensors, Vectors};
use crate::grid::{Around, Grid, ROWS, Row, by_brick};
use crate::rigid::Grips;
use crate::settings::Yield;
use barchan_core::{parallel, wide};

/// Spectral bound of the discrete dev sym ∇ times h, squared.
const BOUND: f64 = 8.0;
/// Largest change of the stress at which iterating stops, as a share of the largest bound.
const TOLERANCE: f64 = 1e-4;
/// Most iterations.
const ITERATIONS: usize = 40;

/// What friction a place has.
pub struct Law<'a> {
    /// Friction of the sand in each cell, where it depends on the place.
    pub friction: Option<&'a [Row]>,
    /// Friction of the sand where it is everywhere alike: tan θ.
    pub constant: f64,
    /// Cohesion c/ρ_max [m²/s²] of cells that bear.
    pub cohesion: f64,
    /// Filling 1 − ε from which a cell of cohesive sand bears.
    pub compact: f64,
    /// Friction with each wall.
    pub walls: &'a [f64],
    /// Shape of the yield surface.
    pub yields: Yield,
}

/// Work of the friction solver, kept between steps.
#[derive(Clone, Debug, Default)]
pub struct Grip {
    /// Largest norm of the stress at cell centres and at edges yz, xz, xy [m²/s²]; negative at an edge to a wall.
    bound: [Vec<Single>; 4],
    /// Step length α at the same places, over h.
    step: [Vec<Single>; 4],
    /// One over the number of cells about an edge that bear.
    share: [Vec<Single>; 3],
    trial: Tensors,
    ahead: Tensors,
    /// Velocities without the stress, and with it [m/s].
    base: [Vec<Single>; 3],
    velocity: [Vec<Single>; 3],
    /// Mobilities over h.
    mobility: [Vec<Single>; 3],
    /// Rows of each slot in which there is a bound, rows whose faces stress there moves, and rows with edges to walls, as bits.
    rows: Vec<u64>,
    faces: Vec<u64>,
    walls: Vec<u64>,
}

/// How a solve ended.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Gripped {
    /// Iterations taken.
    pub iterations: usize,
    /// Last change of the stress, as a share of the largest bound.
    pub change: f64,
}

/// The axes of the shear at the edges yz, xz, xy.
const EDGES: [(usize, usize); 3] = [(1, 2), (0, 2), (0, 1)];

/// The marked rows of a slot: place in the slot, y, z and index.
#[inline(always)]
fn marked(bits: u64, slot: usize) -> impl Iterator<Item = (usize, i32, i32, usize)> {
    (0..ROWS).filter(move |k| bits >> k & 1 == 1).map(move |k| (k, k as i32 % 8, k as i32 / 8, slot * ROWS + k))
}

impl Grip {
    /// Solves for the flow's stress. Its velocities [m/s] are those under everything but the stress.
    pub fn solve(&mut self, grid: &Grid, yields: Yield, cell: f64, flow: &mut Flow, bodies: &Grips<'_>) -> Gripped {
        self.take(&flow.velocity, &flow.slip, cell);
        let stress = &mut flow.stress;
        let scale = self.bound.iter().flatten().flatten().fold(0.0, |m: f32, b| m.max(b.abs()));
        let mut out = Gripped::default();
        if scale == 0.0 {
            return out;
        }
        let mut theta = 1.0f64;
        while out.iterations < ITERATIONS {
            out.iterations += 1;
            self.velocities(grid);
            bodies.follow(grid, &self.ahead, &mut self.velocity);
            self.strain(grid);
            let next = 0.5 * (1.0 + (1.0 + 4.0 * theta * theta).sqrt());
            let (change, along) = self.project(grid, yields, stress, ((theta - 1.0) / next) as f32);
            theta = if along < 0.0 { 1.0 } else { next };
            out.change = f64::from(change / scale);
            if out.change <= TOLERANCE {
                break;
            }
        }
        out
    }

    /// Takes velocities and mobilities over, where the stress moves faces. The others keep what they have, which nothing reads but strains of
    /// unbounded places.
    fn take(&mut self, base: &Vectors, mobility: &Vectors, cell: f64) {
        let [b0, b1, b2] = &mut self.base;
        let [m0, m1, m2] = &mut self.mobility;
        let [v0, v1, v2] = &mut self.velocity;
        let parts = by_brick([b0, b1, b2, m0, m1, m2, v0, v1, v2]).into_iter().enumerate();
        let tasks: Vec<_> = parts.filter(|(s, _)| self.faces[*s] != 0).collect();
        let faces = &self.faces;
        parallel::run(tasks, 4, |(s, parts)| {
            for (k, _, _, r) in marked(faces[s], s) {
                for a in 0..3 {
                    parts[a][k] = base[a][r].map(|v| v as f32);
                    parts[3 + a][k] = mobility[a][r].map(|m| (m / cell) as f32);
                    parts[6 + a][k] = parts[a][k];
                }
            }
        });
    }

    /// Velocities under the stress `ahead`.
    fn velocities(&mut self, grid: &Grid) {
        let Grip { ahead, base, mobility, velocity, faces, .. } = self;
        let parts = by_brick(velocity.each_mut()).into_iter().enumerate();
        let tasks: Vec<_> = parts.filter(|(s, _)| faces[*s] != 0).collect();
        parallel::run(tasks, 2, |(slot, v)| {
            moved_wide(&grid.around[slot], (slot, faces[slot]), ahead, base, mobility, v)
        });
    }

    /// The trial stress y + α E(u).
    fn strain(&mut self, grid: &Grid) {
        let Grip { trial, ahead, step, rows, velocity, .. } = self;
        let parts = by_brick(trial.each_mut()).into_iter().enumerate();
        let tasks: Vec<_> = parts.filter(|(s, _)| rows[*s] != 0).collect();
        parallel::run(tasks, 2, |(slot, t)| {
            strained_wide(&grid.around[slot], (slot, rows[slot]), ahead, step, velocity, t)
        });
    }
}

wide!(
    fn moved_wide = moved(
        around: &Around, marks: (usize, u64), s: &Tensors, base: &[Vec<Single>; 3], mobility: &[Vec<Single>; 3], v: [&mut [Single]; 3]
    );
);

/// Velocities of the marked rows of a slot under the stress `s`.
#[inline(always)]
fn moved(
    around: &Around,
    (slot, bits): (usize, u64),
    s: &Tensors,
    base: &[Vec<Single>; 3],
    mobility: &[Vec<Single>; 3],
    v: [&mut [Single]; 3],
) {
    for (k, y, z, r) in marked(bits, slot) {
        let xx = around.padded(&s[XX], y, z);
        let (yy, yy_) = (&s[YY][r], around.here(&s[YY], y - 1, z));
        let (zz, zz_) = (&s[ZZ][r], around.here(&s[ZZ], y, z - 1));
        let (xy, xy_y) = (around.padded(&s[XY], y, z), around.here(&s[XY], y + 1, z));
        let (xz, xz_z) = (around.padded(&s[XZ], y, z), around.here(&s[XZ], y, z + 1));
        let (yz, yz_z, yz_y) = (&s[YZ][r], around.here(&s[YZ], y, z + 1), around.here(&s[YZ], y + 1, z));
        let (b, m) = ([&base[0][r], &base[1][r], &base[2][r]], [&mobility[0][r], &mobility[1][r], &mobility[2][r]]);
        let mut out = [[0.0; 8]; 3];
        for x in 0..8 {
            let fx = (xx[x + 1] - xx[x]) + (xy_y[x] - xy[x + 1]) + (xz_z[x] - xz[x + 1]);
            let fy = (yy[x] - yy_[x]) + (xy[x + 2] - xy[x + 1]) + (yz_z[x] - yz[x]);
            let fz = (zz[x] - zz_[x]) + (xz[x + 2] - xz[x + 1]) + (yz_y[x] - yz[x]);
            out[0][x] = b[0][x] + m[0][x] * fx;
            out[1][x] = b[1][x] + m[1][x] * fy;
            out[2][x] = b[2][x] + m[2][x] * fz;
        }
        (v[0][k], v[1][k], v[2][k]) = (out[0], out[1], out[2]);
    }
}

wide!(
    fn strained_wide = strained(
        around: &Around, marks: (usize, u64), ahead: &Tensors, step: &[Vec<Single>; 4], velocity: &[Vec<Single>; 3], t: [&mut [Single]; 6]
    );
);

/// The trial stress of the marked rows of a slot: `ahead` and a step along the strain rate.
#[inline(always)]
fn strained(
    around: &Around,
    (slot, bits): (usize, u64),
    ahead: &Tensors,
    step: &[Vec<Single>; 4],
    [u, v, w]: &[Vec<Single>; 3],
    t: [&mut [Single]; 6],
) {
    for (k, y, z, r) in marked(bits, slot) {
        let (u0, v0, w0) = (around.padded(u, y, z), around.padded(v, y, z), around.padded(w, y, z));
        let (vy, wz) = (around.here(v, y + 1, z), around.here(w, y, z + 1));
        let (uy, uz) = (around.here(u, y - 1, z), around.here(u, y, z - 1));
        let (vz, wy) = (around.here(v, y, z - 1), around.here(w, y - 1, z));
        let a = [&step[0][r], &step[1][r], &step[2][r], &step[3][r]];
        let from: [&Single; 6] = std::array::from_fn(|c| &ahead[c][r]);
        let mut out = [[0.0; 8]; 6];
        for x in 0..8 {
            let (xx, yy, zz) = (u0[x + 2] - u0[x + 1], vy[x] - v0[x + 1], wz[x] - w0[x + 1]);
            let mean = (xx + yy + zz) * (1.0 / 3.0);
            out[XX][x] = from[XX][x] + a[0][x] * (xx - mean);
            out[YY][x] = from[YY][x] + a[0][x] * (yy - mean);
            out[ZZ][x] = from[ZZ][x] + a[0][x] * (zz - mean);
            let yz = (v0[x + 1] - vz[x]) + (w0[x + 1] - wy[x]);
            let xz = (u0[x + 1] - uz[x]) + (w0[x + 1] - w0[x]);
            let xy = (u0[x + 1] - uy[x]) + (v0[x + 1] - v0[x]);
            out[YZ][x] = from[YZ][x] + 0.5 * a[1][x] * yz;
            out[XZ][x] = from[XZ][x] + 0.5 * a[2][x] * xz;
            out[XY][x] = from[XY][x] + 0.5 * a[3][x] * xy;
        }
        for c in 0..6 {
            t[c][k] = out[c];
        }
    }
}
