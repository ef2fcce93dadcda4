//! Who is within reach of a place: eight candidates at a time.

use crate::lists::Cells;
use barchan_core::simd::{Lanes, Mask, Octet, Simd, WIDTH};
use glam::DVec3;

/// A difference to the nearest image, of places within the domain.
#[inline(always)]
fn nearest<V: Lanes<Scalar = f32>>(d: V, period: f32) -> V {
    if period == 0.0 {
        return d;
    }
    let (whole, half) = (V::splat(period), V::splat(0.5 * period));
    let d = (d - whole).select(d.gt(half), d);
    (d + whole).select((-d).gt(half), d)
}

/// Appends the slots of all within reach of `x` [m], in a fixed order.
#[inline(always)]
pub fn near<S: Simd<Real = f32>>(cells: &Cells, x: DVec3, found: &mut Vec<u32>) {
    let (from, period, square) = cells.looking(x);
    let mut runs = [(0usize, 0usize); 27];
    let mut count = 0;
    cells.runs(x, |run| {
        runs[count] = (run.start, run.end);
        count += 1;
    });
    // Lanes are not used in closures, which do not have the instruction set of the function they are in.
    let (fx, fy, fz) = (S::V::splat(from[0]), S::V::splat(from[1]), S::V::splat(from[2]));
    let square = S::V::splat(square);
    for &(start, end) in &runs[..count] {
        let mut at = start;
        while at < end {
            let dx = nearest(S::V::from_array(cells.eight(0, at)) - fx, period[0]);
            let dy = nearest(S::V::from_array(cells.eight(1, at)) - fy, period[1]);
            let dz = nearest(S::V::from_array(cells.eight(2, at)) - fz, period[2]);
            let mut bits = square.gt(dx * dx + dy * dy + dz * dz).bits();
            bits &= u32::MAX >> (32 - (end - at).min(WIDTH));
            while bits != 0 {
                found.push(cells.slot(at + bits.trailing_zeros() as usize));
                bits &= bits - 1;
            }
            at += WIDTH;
        }
    }
}
