//! The bodies of the sums: eight neighbours of one particle at a time, lanes added up in a fixed order at the end.

use super::{Rub, Weighting};
use crate::lists::{Batch, BlockLists};
use crate::smoothing::Kernel;
use barchan_core::simd::{Lanes, Octet, Simd, Vec3, WIDTH};
use glam::DVec3;
use std::f64::consts::PI;

/// The sums over the lanes of each of eight numbers, in a fixed order.
#[inline(always)]
fn totals<S: Simd>(rows: [S::V; 8]) -> [S::Real; 8] {
    let t = S::transpose(rows);
    (((t[0] + t[4]) + (t[2] + t[6])) + ((t[1] + t[5]) + (t[3] + t[7]))).to_array()
}

/// x_i − x_j to the nearest image, taken in f64 and rounded to the working precision.
///
/// # Safety
/// All indices of the batch lie within `place`.
#[inline(always)]
unsafe fn offsets<S: Simd>(period: DVec3, place: &[[f64; 4]], here: [S::D; 3], batch: &Batch<S::Real>) -> Vec3<S::V> {
    // SAFETY: the caller's, and four doubles a record.
    let [x, y, z, _] = unsafe { S::load4(at::<_, f64>(place, batch)) };
    Vec3(
        S::narrow(nearest(here[0] - x, period.x)),
        S::narrow(nearest(here[1] - y, period.y)),
        S::narrow(nearest(here[2] - z, period.z)),
    )
}

/// x_i − x_j to the nearest image, of rounded places.
///
/// # Safety
/// All indices of the batch lie within `offset`, and one record is behind them.
#[inline(always)]
unsafe fn apart<S: Simd>(
    period: DVec3,
    offset: &[[S::Real; 4]],
    here: [S::V; 3],
    batch: &Batch<S::Real>,
) -> Vec3<S::V> {
    // SAFETY: the caller's; eight reals from a record on are within the column. What is not used is not loaded.
    let [x, y, z, ..] = unsafe { S::load8(at(offset, batch)) };
    Vec3(nearest(here[0] - x, period.x), nearest(here[1] - y, period.y), nearest(here[2] - z, period.z))
}

/// Where the records of a batch's eight neighbours begin.
#[inline(always)]
fn at<T, U>(column: &[T], batch: &Batch<impl Copy>) -> [*const U; WIDTH] {
    // No arithmetic on lanes here: closures do not have the instruction set of the function they are in.
    batch.j.map(|j| column.as_ptr().wrapping_add(j as usize).cast())
}

/// A difference to the nearest image. Places lie within the domain, so that it is at most one period away.
#[inline(always)]
fn nearest<V: Lanes>(d: V, period: f64) -> V {
    if period == 0.0 {
        return d;
    }
    let (whole, half) = (V::of(period), V::of(0.5 * period));
    let d = (d - whole).select(d.gt(half), d);
    (d + whole).select((-d).gt(half), d)
}

#[inline(always)]
fn splat3<D: Lanes<Scalar = f64>>(x: &[f64; 4]) -> [D; 3] {
    [D::splat(x[0]), D::splat(x[1]), D::splat(x[2])]
}

#[inline(always)]
fn own3<S: Simd>(x: &[S::Real; 4]) -> [S::V; 3] {
    [S::V::splat(x[0]), S::V::splat(x[1]), S::V::splat(x[2])]
}

/// W [1/m³] and W'/x [1/m⁵] for eight distances; 0 beyond the support.
#[inline(always)]
fn smooth<V: Lanes, const KERNEL: u8>(square: V, reach: f64) -> (V, V) {
    let (one, volume) = (V::of(1.0), PI * reach * reach * reach);
    let q = square.sqrt() * V::of(1.0 / reach);
    let rest = (one - q).max(V::zero());
    let cube = rest * rest * rest;
    let scale = 1.0 / (volume * reach * reach);
    match KERNEL {
        0 => {
            let near = V::of(0.5).gt(q);
            let value = ((V::of(6.0) * q - V::of(6.0)) * q * q + one).select(near, V::of(2.0) * cube);
            let slope = (V::of(3.0) * q - V::of(2.0)).select(near, -(rest * rest) / q);
            (value * V::of(8.0 / volume), slope * V::of(48.0 * scale))
        }
        1 => (cube * rest * (V::of(4.0) * q + one) * V::of(10.5 / volume), cube * V::of(-210.0 * scale)),
        _ => (cube * V::of(15.0 / volume), rest * rest / q * V::of(-45.0 * scale)),
    }
}

/// # Safety
/// The lists fit the places, which begin with this block's at `first`; the instruction set is there.
#[inline(always)]
pub unsafe fn density<S: Simd>(
    w: &Weighting,
    place: &[[f64; 4]],
    first: usize,
    lists: &mut BlockLists<S::Real>,
    out: &mut [[S::Real; 8]],
) {
    // SAFETY: the caller's.
    unsafe {
        match w.kernel {
            Kernel::Cubic => density_of::<S, 0>(w, place, first, lists, out),
            Kernel::Wendland => density_of::<S, 1>(w, place, first, lists, out),
            Kernel::Spiky => density_of::<S, 2>(w, place, first, lists, out),
        }
    }
}

/// # Safety
/// As for [`density`].
#[inline(always)]
unsafe fn density_of<S: Simd, const KERNEL: u8>(
    w: &Weighting,
    place: &[[f64; 4]],
    first: usize,
    lists: &mut BlockLists<S::Real>,
    out: &mut [[S::Real; 8]],
) {
    let mass = S::V::of(w.mass);
    // Where two coincide there is no direction: a distance of a millionth of the support stands for none.
    let least = S::V::of(1e-12 * w.reach * w.reach);
    for (k, out) in out.iter_mut().enumerate() {
        let i = [(first + k) as u32; WIDTH];
        let here = splat3(&place[first + k]);
        let (mut value, mut slope, mut squares) = (S::V::zero(), Vec3::zero(), S::V::zero());
        let range = lists.starts[k] as usize..lists.starts[k + 1] as usize;
        for batch in &mut lists.batches[range] {
            // SAFETY: the caller's.
            let d = unsafe { offsets::<S>(w.period, place, here, batch) };
            let square = d.dot(d).max(least);
            let (value_j, slope_j) = smooth::<S::V, KERNEL>(square, w.reach);
            let other = S::differ(&i, &batch.j);
            let weight = (slope_j * mass).keep(other);
            batch.weight = weight.to_array();
            value = value + value_j.keep(other);
            slope = slope.plus(d.scale(weight));
            squares = squares + weight * weight * square;
        }
        let zero = S::V::zero();
        *out = totals::<S>([value * mass, slope.0, slope.1, slope.2, squares, zero, zero, zero]);
    }
}

/// # Safety
/// As for [`density`]; there are as many `sigma` as places, and one more of `offset`.
#[inline(always)]
pub unsafe fn force<S: Simd>(
    w: &Weighting,
    offset: &[[S::Real; 4]],
    sigma: &[[S::Real; 8]],
    first: usize,
    lists: &BlockLists<S::Real>,
    out: &mut [[S::Real; 8]],
) {
    for (k, out) in out.iter_mut().enumerate() {
        let here = own3::<S>(&offset[first + k]);
        let s = &sigma[first + k];
        let [oxx, oyy, ozz] = [S::V::splat(s[0]), S::V::splat(s[1]), S::V::splat(s[2])];
        let [oxy, oxz, oyz] = [S::V::splat(s[3]), S::V::splat(s[4]), S::V::splat(s[5])];
        let mut sum = Vec3::zero();
        for batch in &lists.batches[lists.starts[k] as usize..lists.starts[k + 1] as usize] {
            // SAFETY: the caller's, and eight reals a record of sigma; the offsets have one record more.
            let (d, other) = unsafe { (apart::<S>(w.period, offset, here, batch), S::load8(at(sigma, batch))) };
            let d = d.scale(S::V::from_array(batch.weight));
            let [xx, yy, zz] = [oxx + other[0], oyy + other[1], ozz + other[2]];
            let [xy, xz, yz] = [oxy + other[3], oxz + other[4], oyz + other[5]];
            sum = sum.plus(Vec3(
                xx * d.0 + xy * d.1 + xz * d.2,
                xy * d.0 + yy * d.1 + yz * d.2,
                xz * d.0 + yz * d.1 + zz * d.2,
            ));
        }
        let zero = S::V::zero();
        *out = totals::<S>([sum.0, sum.1, sum.2, zero, zero, zero, zero, zero]);
    }
}

/// # Safety
/// As for [`density`]; there is one more of `offset` and `speed` than of places.
#[inline(always)]
pub unsafe fn gradient<S: Simd>(
    w: &Weighting,
    offset: &[[S::Real; 4]],
    speed: &[[S::Real; 4]],
    first: usize,
    lists: &BlockLists<S::Real>,
    out: &mut [[S::Real; 8]],
) {
    for (k, out) in out.iter_mut().enumerate() {
        let here = own3::<S>(&offset[first + k]);
        let own = own3::<S>(&speed[first + k]);
        let mut sum = [S::V::zero(); 6];
        for batch in &lists.batches[lists.starts[k] as usize..lists.starts[k + 1] as usize] {
            // SAFETY: the caller's; eight reals from a record on are within the columns, which have one record more.
            let (d, other) = unsafe { (apart::<S>(w.period, offset, here, batch), S::load8(at(speed, batch))) };
            let d = d.scale(S::V::from_array(batch.weight));
            let (x, y, z) = (other[0] - own[0], other[1] - own[1], other[2] - own[2]);
            sum[0] = sum[0] + x * d.0;
            sum[1] = sum[1] + y * d.1;
            sum[2] = sum[2] + z * d.2;
            sum[3] = sum[3] + (x * d.1 + y * d.0);
            sum[4] = sum[4] + (x * d.2 + z * d.0);
            sum[5] = sum[5] + (y * d.2 + z * d.1);
        }
        let (half, zero) = (S::V::of(0.5), S::V::zero());
        *out = totals::<S>([sum[0], sum[1], sum[2], sum[3] * half, sum[4] * half, sum[5] * half, zero, zero]);
    }
}

/// # Safety
/// As for [`force`].
#[inline(always)]
pub unsafe fn push<S: Simd>(
    w: &Weighting,
    offset: &[[S::Real; 4]],
    sigma: &[[S::Real; 8]],
    first: usize,
    lists: &BlockLists<S::Real>,
    out: &mut [[S::Real; 8]],
) {
    for (k, out) in out.iter_mut().enumerate() {
        let here = own3::<S>(&offset[first + k]);
        let own = S::V::splat(sigma[first + k][0]);
        let mut sum = Vec3::zero();
        for batch in &lists.batches[lists.starts[k] as usize..lists.starts[k + 1] as usize] {
            // SAFETY: the caller's; the offsets have one record more.
            let d = unsafe { apart::<S>(w.period, offset, here, batch) };
            // SAFETY: the caller's: all indices of the batch lie within sigma.
            let other = S::V::from_array(batch.j.map(|j| unsafe { sigma.get_unchecked(j as usize)[0] }));
            sum = sum.plus(d.scale(S::V::from_array(batch.weight) * (own + other)));
        }
        let zero = S::V::zero();
        *out = totals::<S>([sum.0, sum.1, sum.2, zero, zero, zero, zero, zero]);
    }
}

/// # Safety
/// As for [`gradient`].
#[inline(always)]
pub unsafe fn divergence<S: Simd>(
    w: &Weighting,
    offset: &[[S::Real; 4]],
    speed: &[[S::Real; 4]],
    first: usize,
    lists: &BlockLists<S::Real>,
    out: &mut [[S::Real; 8]],
) {
    for (k, out) in out.iter_mut().enumerate() {
        let here = own3::<S>(&offset[first + k]);
        let own = own3::<S>(&speed[first + k]);
        let mut sum = S::V::zero();
        for batch in &lists.batches[lists.starts[k] as usize..lists.starts[k + 1] as usize] {
            // SAFETY: the caller's; eight reals from a record on are within the columns, which have one record more.
            let (d, other) = unsafe { (apart::<S>(w.period, offset, here, batch), S::load8(at(speed, batch))) };
            let slip = Vec3(other[0] - own[0], other[1] - own[1], other[2] - own[2]);
            sum = sum + S::V::from_array(batch.weight) * slip.dot(d);
        }
        let zero = S::V::zero();
        *out = totals::<S>([sum, zero, zero, zero, zero, zero, zero, zero]);
    }
}

/// # Safety
/// As for [`gradient`].
#[inline(always)]
pub unsafe fn rub<S: Simd>(
    w: &Weighting,
    offset: &[[S::Real; 4]],
    speed: &[[S::Real; 4]],
    rub: Rub,
    first: usize,
    lists: &BlockLists<S::Real>,
    out: &mut [[S::Real; 8]],
) {
    let (most, cap) = (S::V::of(rub.most), S::V::of(rub.cap));
    // Where nothing slips there is nothing to bound.
    let least = S::V::of(f64::from(f32::MIN_POSITIVE));
    for (k, out) in out.iter_mut().enumerate() {
        let here = own3::<S>(&offset[first + k]);
        let v = &speed[first + k];
        let own = [S::V::splat(v[0]), S::V::splat(v[1]), S::V::splat(v[2]), S::V::splat(v[3])];
        let mut sum = Vec3::zero();
        for batch in &lists.batches[lists.starts[k] as usize..lists.starts[k + 1] as usize] {
            // SAFETY: the caller's; eight reals from a record on are within the columns, which have one record more.
            let (d, other) = unsafe { (apart::<S>(w.period, offset, here, batch), S::load8(at(speed, batch))) };
            let slip = Vec3(other[0] - own[0], other[1] - own[1], other[2] - own[2]);
            let ratio = (d.dot(d) / slip.dot(slip).max(least)).sqrt();
            let bound = cap * (other[3] + own[3]) * ratio;
            sum = sum.plus(slip.scale(-S::V::from_array(batch.weight) * most.min(bound)));
        }
        let zero = S::V::zero();
        *out = totals::<S>([sum.0, sum.1, sum.2, zero, zero, zero, zero, zero]);
    }
}
