//! The vector types as plain arrays: right everywhere, and what other processors than x86 use.

use super::{Lanes, Mask, Octet, Quad, Real, Simd, WIDTH};
use std::marker::PhantomData;
use std::ops::{Add, Div, Mul, Neg, Sub};

/// The backend without special instructions.
#[derive(Clone, Copy)]
pub struct Plain<R>(PhantomData<R>);

/// Eight numbers in an array.
#[derive(Clone, Copy, Debug)]
#[repr(align(32))]
pub struct PlainLanes<R>([R; WIDTH]);

/// A truth value per lane, in an array.
#[derive(Clone, Copy)]
pub struct PlainMask([bool; WIDTH]);

impl Mask for PlainMask {
    #[inline(always)]
    fn and(self, other: Self) -> Self {
        PlainMask(std::array::from_fn(|k| self.0[k] & other.0[k]))
    }
    #[inline(always)]
    fn bits(self) -> u32 {
        (0..WIDTH).fold(0, |b, k| b | u32::from(self.0[k]) << k)
    }
}

macro_rules! plain_lanes {
    ($r:ty) => {
        impl Add for PlainLanes<$r> {
            type Output = Self;
            #[inline(always)]
            fn add(self, o: Self) -> Self {
                PlainLanes(std::array::from_fn(|k| self.0[k] + o.0[k]))
            }
        }
        impl Sub for PlainLanes<$r> {
            type Output = Self;
            #[inline(always)]
            fn sub(self, o: Self) -> Self {
                PlainLanes(std::array::from_fn(|k| self.0[k] - o.0[k]))
            }
        }
        impl Mul for PlainLanes<$r> {
            type Output = Self;
            #[inline(always)]
            fn mul(self, o: Self) -> Self {
                PlainLanes(std::array::from_fn(|k| self.0[k] * o.0[k]))
            }
        }
        impl Div for PlainLanes<$r> {
            type Output = Self;
            #[inline(always)]
            fn div(self, o: Self) -> Self {
                PlainLanes(std::array::from_fn(|k| self.0[k] / o.0[k]))
            }
        }
        impl Neg for PlainLanes<$r> {
            type Output = Self;
            #[inline(always)]
            fn neg(self) -> Self {
                PlainLanes(self.0.map(|x| -x))
            }
        }
        impl Lanes for PlainLanes<$r> {
            type Scalar = $r;
            type Mask = PlainMask;
            #[inline(always)]
            fn splat(x: $r) -> Self {
                PlainLanes([x; WIDTH])
            }
            #[inline(always)]
            fn sqrt(self) -> Self {
                PlainLanes(self.0.map(|x| x.sqrt()))
            }
            #[inline(always)]
            fn max(self, o: Self) -> Self {
                PlainLanes(std::array::from_fn(|k| if self.0[k] > o.0[k] { self.0[k] } else { o.0[k] }))
            }
            #[inline(always)]
            fn min(self, o: Self) -> Self {
                PlainLanes(std::array::from_fn(|k| if self.0[k] < o.0[k] { self.0[k] } else { o.0[k] }))
            }
            #[inline(always)]
            fn gt(self, o: Self) -> PlainMask {
                PlainMask(std::array::from_fn(|k| self.0[k] > o.0[k]))
            }
            #[inline(always)]
            fn select(self, m: PlainMask, o: Self) -> Self {
                PlainLanes(std::array::from_fn(|k| if m.0[k] { self.0[k] } else { o.0[k] }))
            }
            #[inline(always)]
            fn keep(self, m: PlainMask) -> Self {
                PlainLanes(std::array::from_fn(|k| if m.0[k] { self.0[k] } else { 0.0 }))
            }
        }
        impl Octet for PlainLanes<$r> {
            #[inline(always)]
            fn from_array(x: [$r; WIDTH]) -> Self {
                PlainLanes(x)
            }
            #[inline(always)]
            fn to_array(self) -> [$r; WIDTH] {
                self.0
            }
        }
    };
}
plain_lanes!(f32);
plain_lanes!(f64);

/// Four doubles in an array.
#[derive(Clone, Copy, Debug)]
pub struct PlainQuad([f64; 4]);

impl Add for PlainQuad {
    type Output = Self;
    #[inline(always)]
    fn add(self, o: Self) -> Self {
        PlainQuad(std::array::from_fn(|k| self.0[k] + o.0[k]))
    }
}
impl Mul for PlainQuad {
    type Output = Self;
    #[inline(always)]
    fn mul(self, o: Self) -> Self {
        PlainQuad(std::array::from_fn(|k| self.0[k] * o.0[k]))
    }
}
impl Quad for PlainQuad {
    #[inline(always)]
    fn of(x: [f64; 4]) -> Self {
        PlainQuad(x)
    }
    #[inline(always)]
    fn to_array(self) -> [f64; 4] {
        self.0
    }
    #[inline(always)]
    fn last(self) -> Self {
        PlainQuad([self.0[3]; 4])
    }
    #[inline(always)]
    fn with_last(self, o: Self) -> Self {
        PlainQuad([self.0[0], self.0[1], self.0[2], o.0[3]])
    }
}

// SAFETY: no instruction here goes beyond the target's baseline.
unsafe impl<R: Real> Simd for Plain<R>
where
    PlainLanes<R>: Octet<Scalar = R, Mask = PlainMask>,
{
    type Real = R;
    type V = PlainLanes<R>;
    type D = PlainLanes<f64>;
    type Q = PlainQuad;
    type W = PlainLanes<R>;
    const TOGETHER: usize = 1;

    #[inline(always)]
    fn join(parts: [PlainLanes<R>; 2]) -> PlainLanes<R> {
        parts[0]
    }
    #[inline(always)]
    fn split(whole: PlainLanes<R>) -> [PlainLanes<R>; 2] {
        [whole; 2]
    }
    #[inline(always)]
    fn join_masks(parts: [PlainMask; 2]) -> PlainMask {
        parts[0]
    }
    #[inline(always)]
    fn widen4(x: [R; 4]) -> PlainQuad {
        PlainQuad(x.map(Into::into))
    }
    #[inline(always)]
    fn narrow4(x: PlainQuad) -> [R; 4] {
        x.0.map(R::of)
    }
    #[inline(always)]
    fn narrow(x: PlainLanes<f64>) -> PlainLanes<R> {
        PlainLanes(x.0.map(R::of))
    }
    #[inline(always)]
    fn differ(i: &[u32; WIDTH], j: &[u32; WIDTH]) -> PlainMask {
        PlainMask(std::array::from_fn(|k| i[k] != j[k]))
    }
    #[inline(always)]
    fn transpose(rows: [PlainLanes<R>; 8]) -> [PlainLanes<R>; 8] {
        std::array::from_fn(|c| PlainLanes(std::array::from_fn(|r| rows[r].0[c])))
    }
    #[inline(always)]
    unsafe fn load4(at: [*const f64; WIDTH]) -> [PlainLanes<f64>; 4] {
        // SAFETY: the caller promises four readable f64 behind each pointer.
        std::array::from_fn(|c| PlainLanes(at.map(|p| unsafe { *p.add(c) })))
    }
    #[inline(always)]
    unsafe fn load8(at: [*const R; WIDTH]) -> [PlainLanes<R>; 8] {
        // SAFETY: the caller promises eight readable reals behind each pointer.
        std::array::from_fn(|c| PlainLanes(at.map(|p| unsafe { *p.add(c) })))
    }
    #[inline(always)]
    fn rows_of(columns: [PlainLanes<R>; 8]) -> [[PlainLanes<R>; 8]; 2] {
        [Self::transpose(columns); 2]
    }
    #[inline(always)]
    unsafe fn load8_together(at: [[*const R; WIDTH]; 2]) -> [PlainLanes<R>; 8] {
        // SAFETY: as for the caller.
        unsafe { Self::load8(at[0]) }
    }
    #[inline(always)]
    unsafe fn add8(at: *mut R, x: PlainLanes<R>) {
        // SAFETY: the caller promises eight reals behind the pointer, held by nobody else.
        let here = unsafe { &mut *at.cast::<[R; 8]>() };
        *here = (PlainLanes(*here) + x).0;
    }
}
