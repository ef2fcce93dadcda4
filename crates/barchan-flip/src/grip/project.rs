//! The trial stress is brought within the yield surface.

use super::{EDGES, Grip, marked};
use crate::flow::component::{XX, XY, XZ, YY, YZ, ZZ};
use crate::flow::{Single, Tensors};
use crate::grid::{Around, Grid, ROWS, by_brick};
use crate::settings::Yield;
use barchan_core::{parallel, wide};

/// Keeps a norm from being divided by when it is nothing.
const TINY: f32 = 1e-30;

impl Grip {
    /// Brings the trial stress within its bounds, into `stress`, and looks ahead by `momentum`. Returns the largest change and the
    /// product of the step's direction with the change.
    pub(super) fn project(&mut self, grid: &Grid, yields: Yield, stress: &mut Tensors, momentum: f32) -> (f32, f64) {
        let Grip { trial, ahead, bound, share, rows, walls, .. } = self;
        let parts = by_brick(stress.each_mut()).into_iter().zip(by_brick(ahead.each_mut())).enumerate();
        let tasks: Vec<_> = parts.filter(|(s, _)| rows[*s] != 0).collect();
        let from = Trial { stress: trial, bound, share, yields, momentum };
        let parts = parallel::run(tasks, 2, |(s, (new, ahead))| {
            projected_wide(&grid.around[s], (s, rows[s], walls[s]), &from, new, ahead)
        });
        parts.into_iter().fold((0.0, 0.0), |a, b| (a.0.max(b.0), a.1 + b.1))
    }

    /// Sets the stress to 0 in rows without a bound: means over neighbours count on that.
    pub(super) fn clear_unbounded(&mut self, stress: &mut Tensors) {
        let Grip { trial, ahead, rows, bound, .. } = self;
        let parts =
            by_brick(stress.each_mut()).into_iter().zip(by_brick(ahead.each_mut())).zip(by_brick(trial.each_mut()));
        parallel::run(parts.enumerate().collect(), 4, |(s, ((stress, ahead), trial))| {
            for c in 0..6 {
                let bound = &bound[if c < 3 { 0 } else { c - 2 }];
                for k in 0..ROWS {
                    if rows[s] >> k & 1 == 0 {
                        stress[c][k] = [0.0; 8];
                    } else {
                        let b = &bound[s * ROWS + k];
                        (0..8).filter(|&x| b[x] == 0.0).for_each(|x| stress[c][k][x] = 0.0);
                    }
                    (ahead[c][k], trial[c][k]) = (stress[c][k], stress[c][k]);
                }
            }
        });
    }
}

/// The trial stress, and what it is brought within.
struct Trial<'a> {
    stress: &'a Tensors,
    bound: &'a [Vec<Single>; 4],
    share: &'a [Vec<Single>; 3],
    yields: Yield,
    momentum: f32,
}

wide!(
    fn projected_wide = projected(
        around: &Around, marks: (usize, u64, u64), from: &Trial<'_>, new: [&mut [Single]; 6], ahead: [&mut [Single]; 6]
    ) -> (f32, f64);
);

/// Brings the marked rows of a slot within their bounds. Returns the largest change and the product of the step's direction with it.
#[inline(always)]
fn projected(
    around: &Around,
    (slot, bits, walls): (usize, u64, u64),
    from: &Trial<'_>,
    new: [&mut [Single]; 6],
    ahead: [&mut [Single]; 6],
) -> (f32, f64) {
    let Trial { stress: trial, bound, share, yields, momentum } = *from;
    let (mut change, mut along) = ([0f32; 8], 0f64);
    for (k, y, z, r) in marked(bits, slot) {
        let to = match yields {
            Yield::Cone => within_cone(around, trial, bound, share, walls >> k & 1 == 1, (y, z, r)),
            Yield::Box => within_box(trial, bound, r),
        };
        let mut sum = [0f32; 8];
        for c in 0..6 {
            let weight = if c < 3 { 1.0 } else { 2.0 };
            let (old, before, trial) = (new[c][k], ahead[c][k], &trial[c][r]);
            let mut next = [0.0; 8];
            for x in 0..8 {
                let step = to[c][x] - old[x];
                sum[x] += weight * (trial[x] - before[x]) * step;
                change[x] = larger(change[x], step.abs());
                next[x] = to[c][x] + momentum * step;
            }
            (new[c][k], ahead[c][k]) = (to[c], next);
        }
        along += f64::from(sum.iter().sum::<f32>());
    }
    (change.into_iter().fold(0.0, f32::max), along)
}

/// The larger of two numbers. (That of the standard library asks for NaN, in instructions that cost more than this.)
#[inline(always)]
fn larger(a: f32, b: f32) -> f32 {
    if a > b { a } else { b }
}

/// By how much a stress of that squared norm is scaled.
#[inline(always)]
fn ratio(bound: f32, norm2: f32) -> f32 {
    let share = bound.abs() / larger(norm2, TINY).sqrt();
    if share < 1.0 { share } else { 1.0 }
}

/// The trial stress of a row (y, z, index) within the cone.
#[inline(always)]
fn within_cone(
    around: &Around,
    trial: &Tensors,
    bound: &[Vec<Single>; 4],
    share: &[Vec<Single>; 3],
    walled: bool,
    (y, z, r): (i32, i32, usize),
) -> [Single; 6] {
    let mut scale = scales(around, trial, bound, share, y, z, r);
    if walled {
        at_walls(around, trial, bound, y, z, r, &mut scale);
    }
    let mut out = [[0.0; 8]; 6];
    for c in 0..6 {
        let (t, s) = (&trial[c][r], &scale[if c < 3 { 0 } else { c - 2 }]);
        for x in 0..8 {
            out[c][x] = t[x] * s[x];
        }
    }
    out
}

/// The trial stress of a row within the box: each component for itself.
fn within_box(trial: &Tensors, bound: &[Vec<Single>; 4], r: usize) -> [Single; 6] {
    std::array::from_fn(|c| {
        let b = &bound[if c < 3 { 0 } else { c - 2 }][r];
        std::array::from_fn(|x| trial[c][r][x].clamp(-b[x].abs(), b[x].abs()))
    })
}

/// By how much the trial stress of a row is scaled: at centres and at the three kinds of edges.
#[inline(always)]
fn scales(
    around: &Around,
    t: &Tensors,
    bound: &[Vec<Single>; 4],
    share: &[Vec<Single>; 3],
    y: i32,
    z: i32,
    r: usize,
) -> [Single; 4] {
    let at = |c: usize, dy: i32, dz: i32| around.padded(&t[c], y + dy, z + dz);
    let mut out = [[0.0; 8]; 4];
    let (mut n_yz, mut n_xz, mut n_xy, mut centre) = ([0f32; 8], [0f32; 8], [0f32; 8], [0f32; 8]);
    for c in [XX, YY, ZZ] {
        let (a, b, d, e) = (at(c, 0, 0), at(c, -1, 0), at(c, 0, -1), at(c, -1, -1));
        for x in 0..8 {
            let yz = (a[x + 1] + b[x + 1] + d[x + 1] + e[x + 1]) * share[0][r][x];
            let xz = (a[x + 1] + a[x] + d[x + 1] + d[x]) * share[1][r][x];
            let xy = (a[x + 1] + a[x] + b[x + 1] + b[x]) * share[2][r][x];
            centre[x] += a[x + 1] * a[x + 1];
            n_yz[x] += yz * yz;
            n_xz[x] += xz * xz;
            n_xy[x] += xy * xy;
        }
    }
    let (yz, yz_y, yz_z, yz_yz) = (at(YZ, 0, 0), at(YZ, 1, 0), at(YZ, 0, 1), at(YZ, 1, 1));
    let (xz, xz_z, xz_y, xz_zy) = (at(XZ, 0, 0), at(XZ, 0, 1), at(XZ, -1, 0), at(XZ, -1, 1));
    let (xy, xy_y, xy_z, xy_yz) = (at(XY, 0, 0), at(XY, 1, 0), at(XY, 0, -1), at(XY, 1, -1));
    for x in 0..8 {
        let (i, p, n) = (x + 1, x, x + 2);
        let mean = |a: f32, b: f32, c: f32, d: f32| {
            let m = 0.25 * (a + b + c + d);
            2.0 * m * m
        };
        centre[x] += mean(yz[i], yz_y[i], yz_z[i], yz_yz[i])
            + mean(xz[i], xz[n], xz_z[i], xz_z[n])
            + mean(xy[i], xy[n], xy_y[i], xy_y[n]);
        n_yz[x] += 2.0 * yz[i] * yz[i] + mean(xz[i], xz[n], xz_y[i], xz_y[n]) + mean(xy[i], xy[n], xy_z[i], xy_z[n]);
        n_xz[x] += 2.0 * xz[i] * xz[i] + mean(xy[i], xy_y[i], xy_z[i], xy_yz[i]) + mean(yz[i], yz_y[i], yz[p], yz_y[p]);
        n_xy[x] += 2.0 * xy[i] * xy[i] + mean(xz[i], xz_z[i], xz_y[i], xz_zy[i]) + mean(yz[i], yz_z[i], yz[p], yz_z[p]);
    }
    for (e, norm2) in [centre, n_yz, n_xz, n_xy].into_iter().enumerate() {
        for x in 0..8 {
            out[e][x] = ratio(bound[e][r][x], norm2[x]);
        }
    }
    out
}

/// At edges to walls only the traction counts: the edge's own shear, and the means of those of the wall's edges of the other kinds.
fn at_walls(around: &Around, t: &Tensors, bound: &[Vec<Single>; 4], y: i32, z: i32, r: usize, scale: &mut [Single; 4]) {
    for e in 0..3 {
        let (i, j) = EDGES[e];
        let along = 3 - i - j;
        for x in (0..8).filter(|&x| bound[1 + e][r][x] < 0.0) {
            let own = t[3 + e][r][x];
            let mut traction = own * own;
            // Edges of another kind lie along `other`, half a cell to both sides of this one.
            for other in [i, j] {
                let (mut sum, mut count) = (0.0, 0.0);
                for k in 0..4 {
                    let mut at = [x as i32, y, z];
                    at[along] += k & 1;
                    at[other] -= k >> 1;
                    if around.value(&bound[1 + other], at[0], at[1], at[2]) < 0.0 {
                        sum += around.value(&t[3 + other], at[0], at[1], at[2]);
                        count += 1.0;
                    }
                }
                if count > 0.0 {
                    traction += (sum / count) * (sum / count);
                }
            }
            scale[1 + e][x] = ratio(bound[1 + e][r][x], traction);
        }
    }
}
