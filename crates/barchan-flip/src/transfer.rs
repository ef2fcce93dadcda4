//! Transfer of mass and momentum between parcels and the staggered grid, by trilinear weights.
//!
//! Each brick's parcels are summed into a padded block of the brick's own, parcel by parcel in their order; then each brick adds up what
//! falls on its cells from its own block and its neighbours', in a fixed order. So sums do not depend on threads.
//!
//! Masses are in units of a full cell, ρ_max h³. Source of the affine transfer: Jiang et al. 2015, "The affine particle-in-cell method", with
//! the gradient of the trilinear field as the affine part.

use crate::grid::{Grid, ROWS, Row};
use crate::parcels::{Order, Parcels};
use barchan_core::parallel;
use glam::DVec3;

/// Weights of a parcel along one axis: the first of two sample points, relative to its cell, and the weight of the second.
#[derive(Clone, Copy)]
struct Axis {
    first: i32,
    second: f64,
}

/// Samples at the centres of cells.
#[inline(always)]
fn centred(offset: f64) -> Axis {
    let first = if offset < 0.5 { -1 } else { 0 };
    Axis { first, second: offset - 0.5 - f64::from(first) }
}

/// Samples at the lower sides of cells.
#[inline(always)]
fn nodal(offset: f64) -> Axis {
    Axis { first: 0, second: offset }
}

/// The three axes of the samples of velocity component `a` (3: cell centres).
#[inline(always)]
fn axes(offset: DVec3, a: usize) -> [Axis; 3] {
    std::array::from_fn(|k| if k == a { nodal(offset[k]) } else { centred(offset[k]) })
}

/// Visits the eight samples of a component: their place relative to the parcel's cell, their weight, and the way to them [cells].
#[inline(always)]
fn samples(offset: DVec3, a: usize, mut visit: impl FnMut([i32; 3], f64, DVec3)) {
    let axes = axes(offset, a);
    let weight = |k: usize, up: i32| if up == 1 { axes[k].second } else { 1.0 - axes[k].second };
    let way = |k: usize, up: i32| f64::from(up) - axes[k].second;
    for z in 0..2 {
        for y in 0..2 {
            let yz = weight(2, z) * weight(1, y);
            for x in 0..2 {
                let place = [axes[0].first + x, axes[1].first + y, axes[2].first + z];
                visit(place, yz * weight(0, x), DVec3::new(way(0, x), way(1, y), way(2, z)));
            }
        }
    }
}

/// Mass and momentum on the grid.
#[derive(Clone, Debug, Default)]
pub struct Carried {
    /// Mass at cell centres, in full cells.
    pub mass: Vec<Row>,
    /// Mass at faces.
    pub face: [Vec<Row>; 3],
    /// Velocity at faces [m/s]; 0 where there is no mass.
    pub velocity: [Vec<Row>; 3],
}

/// A padded block: cells −HALO … 8 + HALO − 1 in each direction.
pub struct Block<const N: usize> {
    pub sums: Vec<[f64; N]>,
}

/// Adds up on every brick what its own padded block and its neighbours' hold for its cells.
pub fn gather_blocks<const N: usize>(
    grid: &Grid,
    halo: i32,
    blocks: &[Option<Block<N>>],
    slot: usize,
) -> Vec<[f64; N]> {
    let side = 8 + 2 * halo;
    let mut out = vec![[0.0; N]; 512];
    for k in 0..27 {
        let Some(block) = &blocks[grid.beside[slot][k] as usize] else { continue };
        let d = [k as i32 % 3 - 1, k as i32 / 3 % 3 - 1, k as i32 / 9 - 1];
        // Own cells that the neighbour's block covers, per axis.
        let range = |d: i32| match d {
            0 => 0..8,
            1 => 8 - halo..8,
            _ => 0..halo,
        };
        for z in range(d[2]) {
            for y in range(d[1]) {
                let row = ((z - 8 * d[2] + halo) * side + (y - 8 * d[1] + halo)) * side + halo - 8 * d[0];
                for x in range(d[0]) {
                    let (to, from) = (&mut out[(z * 64 + y * 8 + x) as usize], &block.sums[(row + x) as usize]);
                    for n in 0..N {
                        to[n] += from[n];
                    }
                }
            }
        }
    }
    out
}

/// Sums mass and momentum of all parcels on the grid; `fill` is the volume of a quantum as a share of a cell.
pub fn scatter(grid: &Grid, parcels: &Parcels, order: &Order, fill: f64, cell: f64, out: &mut Carried) {
    let tasks: Vec<usize> = (0..grid.len()).collect();
    let blocks: Vec<Option<Block<7>>> = parallel::run(tasks, 2, |s| {
        let own = order.first[s] as usize..order.first[s + 1] as usize;
        if s == 0 || own.is_empty() {
            return None;
        }
        let mut sums = vec![[0.0; 7]; 1000];
        for i in own {
            let local = parcels.cell[i].map(|c| c & 7);
            let at =
                |p: [i32; 3]| ((local[2] + p[2] + 1) * 100 + (local[1] + p[1] + 1) * 10 + local[0] + p[0] + 1) as usize;
            let mass = f64::from(parcels.quanta[i]) * fill;
            let (v, c) = (parcels.velocity[i], &parcels.affine[i]);
            samples(parcels.offset[i], 3, |p, w, _| sums[at(p)][6] += mass * w);
            for a in 0..3 {
                let gradient = DVec3::new(f64::from(c[3 * a]), f64::from(c[3 * a + 1]), f64::from(c[3 * a + 2])) * cell;
                samples(parcels.offset[i], a, |p, w, way| {
                    let to = &mut sums[at(p)];
                    to[a] += mass * w;
                    to[3 + a] += mass * w * (v[a] + gradient.dot(way));
                });
            }
        }
        Some(Block { sums })
    });
    let [fx, fy, fz] = &mut out.face;
    let [vx, vy, vz] = &mut out.velocity;
    for field in [&mut out.mass, fx, fy, fz, vx, vy, vz] {
        field.resize(grid.rows(), [0.0; 8]);
    }
    let rows = out.mass.chunks_mut(ROWS).zip(fx.chunks_mut(ROWS)).zip(fy.chunks_mut(ROWS)).zip(fz.chunks_mut(ROWS));
    let rows = rows.zip(vx.chunks_mut(ROWS)).zip(vy.chunks_mut(ROWS)).zip(vz.chunks_mut(ROWS));
    parallel::run(rows.enumerate().skip(1).collect(), 2, |(s, ((((((m, fx), fy), fz), vx), vy), vz))| {
        let sums = gather_blocks(grid, 1, &blocks, s);
        for (i, sum) in sums.iter().enumerate() {
            let (r, x) = (i / 8, i % 8);
            m[r][x] = sum[6];
            for (a, (f, v)) in
                [(&mut *fx, &mut *vx), (&mut *fy, &mut *vy), (&mut *fz, &mut *vz)].into_iter().enumerate()
            {
                f[r][x] = sum[a];
                v[r][x] = if sum[a] > 0.0 { sum[3 + a] / sum[a] } else { 0.0 };
            }
        }
    });
}

/// Cells by which a parcel may have left its brick since it was sorted.
const STRAY: i32 = 1;

/// Whether every parcel is within reach of the padded blocks of [`mass`].
pub fn within_reach(parcels: &Parcels, order: &Order, grid: &Grid) -> bool {
    let tasks: Vec<usize> = (1..grid.len()).collect();
    parallel::run(tasks, 8, |s| {
        (order.first[s] as usize..order.first[s + 1] as usize).all(|i| {
            let d = relative(grid, s, parcels.cell[i]);
            d.iter().all(|d| (-STRAY..8 + STRAY).contains(d))
        })
    })
    .into_iter()
    .all(|ok| ok)
}

/// A cell relative to a brick's first, the shortest way round where the grid is periodic.
#[inline]
pub fn relative(grid: &Grid, slot: usize, cell: [i32; 3]) -> [i32; 3] {
    let brick = grid.bricks[slot];
    std::array::from_fn(|k| {
        let d = cell[k] - 8 * brick[k];
        let period = 8 * grid.period[k];
        if period == 0 {
            d
        } else if period == 8 {
            // One brick, its own neighbour on both sides.
            d
        } else if d > 8 + STRAY {
            d - period
        } else if d < -STRAY {
            d + period
        } else {
            d
        }
    })
}

/// Sums the mass of all parcels at cell centres, where they may have left their bricks by a cell.
pub fn mass(grid: &Grid, parcels: &Parcels, order: &Order, fill: f64, out: &mut Vec<Row>) {
    const HALO: i32 = STRAY + 1;
    const SIDE: i32 = 8 + 2 * HALO;
    let tasks: Vec<usize> = (0..grid.len()).collect();
    let blocks: Vec<Option<Block<1>>> = parallel::run(tasks, 2, |s| {
        let own = order.first[s] as usize..order.first[s + 1] as usize;
        if s == 0 || own.is_empty() {
            return None;
        }
        let mut sums = vec![[0.0; 1]; (SIDE * SIDE * SIDE) as usize];
        for i in own {
            let local = relative(grid, s, parcels.cell[i]);
            let mass = f64::from(parcels.quanta[i]) * fill;
            samples(parcels.offset[i], 3, |p, w, _| {
                let at = ((local[2] + p[2] + HALO) * SIDE + local[1] + p[1] + HALO) * SIDE + local[0] + p[0] + HALO;
                sums[at as usize][0] += mass * w;
            });
        }
        Some(Block { sums })
    });
    out.resize(grid.rows(), [0.0; 8]);
    parallel::run(out.chunks_mut(ROWS).enumerate().skip(1).collect(), 2, |(s, rows)| {
        for (i, sum) in gather_blocks(grid, HALO, &blocks, s).iter().enumerate() {
            rows[i / 8][i % 8] = sum[0];
        }
    });
}

/// Velocity and its gradient [per cell] of the trilinear field at a parcel in cell `local` (0 … 7) of a brick.
#[inline]
pub fn interpolate(
    grid: &Grid,
    slot: usize,
    local: [i32; 3],
    offset: DVec3,
    field: &[Vec<Row>; 3],
) -> (DVec3, [DVec3; 3]) {
    let (mut value, mut gradient) = (DVec3::ZERO, [DVec3::ZERO; 3]);
    let around = &grid.around[slot];
    for a in 0..3 {
        let axes = axes(offset, a);
        let t = [axes[0].second, axes[1].second, axes[2].second];
        let base = [local[0] + axes[0].first, local[1] + axes[1].first, local[2] + axes[2].first];
        let f = |x: i32, y: i32, z: i32| around.value(&field[a], base[0] + x, base[1] + y, base[2] + z);
        let lerp = |a: f64, b: f64, t: f64| a * (1.0 - t) + b * t;
        let (c000, c100, c010, c110) = (f(0, 0, 0), f(1, 0, 0), f(0, 1, 0), f(1, 1, 0));
        let (c001, c101, c011, c111) = (f(0, 0, 1), f(1, 0, 1), f(0, 1, 1), f(1, 1, 1));
        let (x00, x10) = (lerp(c000, c100, t[0]), lerp(c010, c110, t[0]));
        let (x01, x11) = (lerp(c001, c101, t[0]), lerp(c011, c111, t[0]));
        let (y0, y1) = (lerp(x00, x10, t[1]), lerp(x01, x11, t[1]));
        value[a] = lerp(y0, y1, t[2]);
        let d00 = lerp(c100 - c000, c110 - c010, t[1]);
        let d01 = lerp(c101 - c001, c111 - c011, t[1]);
        gradient[a] = DVec3::new(lerp(d00, d01, t[2]), lerp(x10 - x00, x11 - x01, t[2]), y1 - y0);
    }
    (value, gradient)
}

/// Two fields of cell centres at a point of a cell.
pub fn centred_pair(grid: &Grid, slot: usize, local: [i32; 3], offset: DVec3, a: &[Row], b: &[Row]) -> (f64, f64) {
    let around = &grid.around[slot];
    let mut out = (0.0, 0.0);
    samples(offset, 3, |p, w, _| {
        let at = [local[0] + p[0], local[1] + p[1], local[2] + p[2]];
        out.0 += w * around.value(a, at[0], at[1], at[2]);
        out.1 += w * around.value(b, at[0], at[1], at[2]);
    });
    out
}
