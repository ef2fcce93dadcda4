//! The vector types on x86-64 with AVX2; those with AVX-512 are in `avx512.rs`.
//!
//! Every method is `inline(always)`, so that it becomes part of the function that carries
//! `#[target_feature(enable = "avx2")]`; a closure or an outlined call would not inherit the feature.
//! The SAFETY argument of all blocks here is that of [`Simd`]: these types are used below such a function only.

#![allow(clippy::undocumented_unsafe_blocks)]

mod avx512;

pub use avx512::Avx512;

use super::{Lanes, Mask, Octet, Quad, Simd, WIDTH};
use std::arch::x86_64::*;
use std::marker::PhantomData;
use std::ops::{Add, Div, Mul, Neg, Sub};

/// The AVX2 backend.
#[derive(Clone, Copy)]
pub struct Avx2<R>(PhantomData<R>);

/// Eight f32 in one register.
#[derive(Clone, Copy)]
pub struct F32x8(__m256);
/// Eight f64 in two registers.
#[derive(Clone, Copy)]
pub struct F64x8(__m256d, __m256d);
/// Four f64 of one grain.
#[derive(Clone, Copy)]
pub struct F64x4(__m256d);
/// Mask of [`F32x8`].
#[derive(Clone, Copy)]
pub struct M32x8(__m256);
/// Mask of [`F64x8`].
#[derive(Clone, Copy)]
pub struct M64x8(__m256d, __m256d);

impl Mask for M32x8 {
    #[inline(always)]
    fn and(self, o: Self) -> Self {
        unsafe { M32x8(_mm256_and_ps(self.0, o.0)) }
    }
    #[inline(always)]
    fn bits(self) -> u32 {
        unsafe { _mm256_movemask_ps(self.0) as u32 }
    }
}
impl Mask for M64x8 {
    #[inline(always)]
    fn and(self, o: Self) -> Self {
        unsafe { M64x8(_mm256_and_pd(self.0, o.0), _mm256_and_pd(self.1, o.1)) }
    }
    #[inline(always)]
    fn bits(self) -> u32 {
        unsafe { (_mm256_movemask_pd(self.0) | _mm256_movemask_pd(self.1) << 4) as u32 }
    }
}

macro_rules! operator {
    ($trait:ident, $method:ident, $f32:ident, $f64:ident) => {
        impl $trait for F32x8 {
            type Output = Self;
            #[inline(always)]
            fn $method(self, o: Self) -> Self {
                unsafe { F32x8($f32(self.0, o.0)) }
            }
        }
        impl $trait for F64x8 {
            type Output = Self;
            #[inline(always)]
            fn $method(self, o: Self) -> Self {
                unsafe { F64x8($f64(self.0, o.0), $f64(self.1, o.1)) }
            }
        }
    };
}
operator!(Add, add, _mm256_add_ps, _mm256_add_pd);
operator!(Sub, sub, _mm256_sub_ps, _mm256_sub_pd);
operator!(Mul, mul, _mm256_mul_ps, _mm256_mul_pd);
operator!(Div, div, _mm256_div_ps, _mm256_div_pd);

impl Neg for F32x8 {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        unsafe { F32x8(_mm256_xor_ps(self.0, _mm256_set1_ps(-0.0))) }
    }
}
impl Neg for F64x8 {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        unsafe {
            let sign = _mm256_set1_pd(-0.0);
            F64x8(_mm256_xor_pd(self.0, sign), _mm256_xor_pd(self.1, sign))
        }
    }
}

impl Lanes for F32x8 {
    type Scalar = f32;
    type Mask = M32x8;
    #[inline(always)]
    fn splat(x: f32) -> Self {
        unsafe { F32x8(_mm256_set1_ps(x)) }
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        unsafe { F32x8(_mm256_sqrt_ps(self.0)) }
    }
    #[inline(always)]
    fn max(self, o: Self) -> Self {
        unsafe { F32x8(_mm256_max_ps(self.0, o.0)) }
    }
    #[inline(always)]
    fn min(self, o: Self) -> Self {
        unsafe { F32x8(_mm256_min_ps(self.0, o.0)) }
    }
    #[inline(always)]
    fn gt(self, o: Self) -> M32x8 {
        unsafe { M32x8(_mm256_cmp_ps::<_CMP_GT_OQ>(self.0, o.0)) }
    }
    #[inline(always)]
    fn select(self, m: M32x8, o: Self) -> Self {
        unsafe { F32x8(_mm256_blendv_ps(o.0, self.0, m.0)) }
    }
    #[inline(always)]
    fn keep(self, m: M32x8) -> Self {
        unsafe { F32x8(_mm256_and_ps(self.0, m.0)) }
    }
}

impl Lanes for F64x8 {
    type Scalar = f64;
    type Mask = M64x8;
    #[inline(always)]
    fn splat(x: f64) -> Self {
        unsafe { F64x8(_mm256_set1_pd(x), _mm256_set1_pd(x)) }
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        unsafe { F64x8(_mm256_sqrt_pd(self.0), _mm256_sqrt_pd(self.1)) }
    }
    #[inline(always)]
    fn max(self, o: Self) -> Self {
        unsafe { F64x8(_mm256_max_pd(self.0, o.0), _mm256_max_pd(self.1, o.1)) }
    }
    #[inline(always)]
    fn min(self, o: Self) -> Self {
        unsafe { F64x8(_mm256_min_pd(self.0, o.0), _mm256_min_pd(self.1, o.1)) }
    }
    #[inline(always)]
    fn gt(self, o: Self) -> M64x8 {
        unsafe { M64x8(_mm256_cmp_pd::<_CMP_GT_OQ>(self.0, o.0), _mm256_cmp_pd::<_CMP_GT_OQ>(self.1, o.1)) }
    }
    #[inline(always)]
    fn select(self, m: M64x8, o: Self) -> Self {
        unsafe { F64x8(_mm256_blendv_pd(o.0, self.0, m.0), _mm256_blendv_pd(o.1, self.1, m.1)) }
    }
    #[inline(always)]
    fn keep(self, m: M64x8) -> Self {
        unsafe { F64x8(_mm256_and_pd(self.0, m.0), _mm256_and_pd(self.1, m.1)) }
    }
}

impl Octet for F32x8 {
    #[inline(always)]
    fn from_array(x: [f32; WIDTH]) -> Self {
        unsafe { F32x8(_mm256_loadu_ps(x.as_ptr())) }
    }
    #[inline(always)]
    fn to_array(self) -> [f32; WIDTH] {
        let mut out = [0.0; WIDTH];
        unsafe { _mm256_storeu_ps(out.as_mut_ptr(), self.0) };
        out
    }
}

impl Octet for F64x8 {
    #[inline(always)]
    fn from_array(x: [f64; WIDTH]) -> Self {
        unsafe { F64x8(_mm256_loadu_pd(x.as_ptr()), _mm256_loadu_pd(x.as_ptr().add(4))) }
    }
    #[inline(always)]
    fn to_array(self) -> [f64; WIDTH] {
        let mut out = [0.0; WIDTH];
        unsafe {
            _mm256_storeu_pd(out.as_mut_ptr(), self.0);
            _mm256_storeu_pd(out.as_mut_ptr().add(4), self.1);
        }
        out
    }
}

impl Add for F64x4 {
    type Output = Self;
    #[inline(always)]
    fn add(self, o: Self) -> Self {
        unsafe { F64x4(_mm256_add_pd(self.0, o.0)) }
    }
}
impl Mul for F64x4 {
    type Output = Self;
    #[inline(always)]
    fn mul(self, o: Self) -> Self {
        unsafe { F64x4(_mm256_mul_pd(self.0, o.0)) }
    }
}
impl Quad for F64x4 {
    #[inline(always)]
    fn of(x: [f64; 4]) -> Self {
        unsafe { F64x4(_mm256_loadu_pd(x.as_ptr())) }
    }
    #[inline(always)]
    fn to_array(self) -> [f64; 4] {
        let mut out = [0.0; 4];
        unsafe { _mm256_storeu_pd(out.as_mut_ptr(), self.0) };
        out
    }
    #[inline(always)]
    fn last(self) -> Self {
        unsafe { F64x4(_mm256_permute4x64_pd::<0xff>(self.0)) }
    }
    #[inline(always)]
    fn with_last(self, o: Self) -> Self {
        unsafe { F64x4(_mm256_blend_pd::<0b1000>(self.0, o.0)) }
    }
}

// Functions, not closures: a closure would not inherit the caller's instruction set.
#[inline(always)]
unsafe fn join_pd(p: *const f64, q: *const f64) -> __m256d {
    unsafe { _mm256_insertf128_pd::<1>(_mm256_castpd128_pd256(_mm_loadu_pd(p)), _mm_loadu_pd(q)) }
}
#[inline(always)]
unsafe fn join_ps(p: *const f32, q: *const f32) -> __m256 {
    unsafe { _mm256_insertf128_ps::<1>(_mm256_castps128_ps256(_mm_loadu_ps(p)), _mm_loadu_ps(q)) }
}
#[inline(always)]
unsafe fn low(a: F32x8, b: F32x8) -> __m256 {
    unsafe { _mm256_permute2f128_ps::<0x20>(a.0, b.0) }
}
#[inline(always)]
unsafe fn high(a: F32x8, b: F32x8) -> __m256 {
    unsafe { _mm256_permute2f128_ps::<0x31>(a.0, b.0) }
}

/// Four rows of four doubles → their four columns. Halves are joined while loading: half the shuffles of a
/// transpose in registers.
#[inline(always)]
unsafe fn columns4(a: *const f64, b: *const f64, c: *const f64, d: *const f64) -> [__m256d; 4] {
    unsafe {
        let (ac, bd) = (join_pd(a, c), join_pd(b, d));
        let (ac2, bd2) = (join_pd(a.add(2), c.add(2)), join_pd(b.add(2), d.add(2)));
        [
            _mm256_unpacklo_pd(ac, bd),
            _mm256_unpackhi_pd(ac, bd),
            _mm256_unpacklo_pd(ac2, bd2),
            _mm256_unpackhi_pd(ac2, bd2),
        ]
    }
}

#[inline(always)]
unsafe fn load4(at: [*const f64; WIDTH]) -> [F64x8; 4] {
    unsafe {
        let lo = columns4(at[0], at[1], at[2], at[3]);
        let hi = columns4(at[4], at[5], at[6], at[7]);
        [F64x8(lo[0], hi[0]), F64x8(lo[1], hi[1]), F64x8(lo[2], hi[2]), F64x8(lo[3], hi[3])]
    }
}

/// Transposes the four 4 × 4 blocks' columns: rows k and k + 4 share a register.
#[inline(always)]
unsafe fn columns_of_pairs(r: [__m256; 4]) -> [__m256; 4] {
    unsafe {
        let (a, b) = (_mm256_unpacklo_ps(r[0], r[1]), _mm256_unpackhi_ps(r[0], r[1]));
        let (c, d) = (_mm256_unpacklo_ps(r[2], r[3]), _mm256_unpackhi_ps(r[2], r[3]));
        [
            _mm256_shuffle_ps::<0x44>(a, c),
            _mm256_shuffle_ps::<0xee>(a, c),
            _mm256_shuffle_ps::<0x44>(b, d),
            _mm256_shuffle_ps::<0xee>(b, d),
        ]
    }
}

unsafe impl Simd for Avx2<f32> {
    type Real = f32;
    type V = F32x8;
    type D = F64x8;
    type Q = F64x4;
    type W = F32x8;
    const TOGETHER: usize = 1;

    #[inline(always)]
    fn join(parts: [F32x8; 2]) -> F32x8 {
        parts[0]
    }
    #[inline(always)]
    fn split(whole: F32x8) -> [F32x8; 2] {
        [whole; 2]
    }
    #[inline(always)]
    fn join_masks(parts: [M32x8; 2]) -> M32x8 {
        parts[0]
    }
    #[inline(always)]
    fn widen4(x: [f32; 4]) -> F64x4 {
        unsafe { F64x4(_mm256_cvtps_pd(_mm_loadu_ps(x.as_ptr()))) }
    }
    #[inline(always)]
    fn narrow4(x: F64x4) -> [f32; 4] {
        let mut out = [0.0; 4];
        unsafe { _mm_storeu_ps(out.as_mut_ptr(), _mm256_cvtpd_ps(x.0)) };
        out
    }
    #[inline(always)]
    fn narrow(x: F64x8) -> F32x8 {
        unsafe { F32x8(_mm256_set_m128(_mm256_cvtpd_ps(x.1), _mm256_cvtpd_ps(x.0))) }
    }
    #[inline(always)]
    fn differ(i: &[u32; WIDTH], j: &[u32; WIDTH]) -> M32x8 {
        unsafe {
            let (i, j) = (_mm256_loadu_si256(i.as_ptr().cast()), _mm256_loadu_si256(j.as_ptr().cast()));
            let same = _mm256_cmpeq_epi32(i, j);
            M32x8(_mm256_castsi256_ps(_mm256_xor_si256(same, _mm256_set1_epi32(-1))))
        }
    }
    #[inline(always)]
    fn transpose(r: [F32x8; 8]) -> [F32x8; 8] {
        unsafe {
            let lo = columns_of_pairs([low(r[0], r[4]), low(r[1], r[5]), low(r[2], r[6]), low(r[3], r[7])]);
            let hi = columns_of_pairs([high(r[0], r[4]), high(r[1], r[5]), high(r[2], r[6]), high(r[3], r[7])]);
            [
                F32x8(lo[0]),
                F32x8(lo[1]),
                F32x8(lo[2]),
                F32x8(lo[3]),
                F32x8(hi[0]),
                F32x8(hi[1]),
                F32x8(hi[2]),
                F32x8(hi[3]),
            ]
        }
    }
    #[inline(always)]
    unsafe fn load4(at: [*const f64; WIDTH]) -> [F64x8; 4] {
        unsafe { load4(at) }
    }
    #[inline(always)]
    unsafe fn load8(at: [*const f32; WIDTH]) -> [F32x8; 8] {
        unsafe {
            let lo = columns_of_pairs([
                join_ps(at[0], at[4]),
                join_ps(at[1], at[5]),
                join_ps(at[2], at[6]),
                join_ps(at[3], at[7]),
            ]);
            let hi = columns_of_pairs([
                join_ps(at[0].add(4), at[4].add(4)),
                join_ps(at[1].add(4), at[5].add(4)),
                join_ps(at[2].add(4), at[6].add(4)),
                join_ps(at[3].add(4), at[7].add(4)),
            ]);
            [
                F32x8(lo[0]),
                F32x8(lo[1]),
                F32x8(lo[2]),
                F32x8(lo[3]),
                F32x8(hi[0]),
                F32x8(hi[1]),
                F32x8(hi[2]),
                F32x8(hi[3]),
            ]
        }
    }
    #[inline(always)]
    fn rows_of(columns: [F32x8; 8]) -> [[F32x8; 8]; 2] {
        [Self::transpose(columns); 2]
    }
    #[inline(always)]
    unsafe fn load8_together(at: [[*const f32; WIDTH]; 2]) -> [F32x8; 8] {
        unsafe { Self::load8(at[0]) }
    }
    #[inline(always)]
    fn prefetch<T>(at: &T) {
        unsafe { _mm_prefetch::<_MM_HINT_T1>(std::ptr::from_ref(at).cast()) }
    }
    #[inline(always)]
    unsafe fn add8(at: *mut f32, x: F32x8) {
        unsafe { _mm256_storeu_ps(at, _mm256_add_ps(_mm256_loadu_ps(at), x.0)) }
    }
}

unsafe impl Simd for Avx2<f64> {
    type Real = f64;
    type V = F64x8;
    type D = F64x8;
    type Q = F64x4;
    type W = F64x8;
    const TOGETHER: usize = 1;

    #[inline(always)]
    fn join(parts: [F64x8; 2]) -> F64x8 {
        parts[0]
    }
    #[inline(always)]
    fn split(whole: F64x8) -> [F64x8; 2] {
        [whole; 2]
    }
    #[inline(always)]
    fn join_masks(parts: [M64x8; 2]) -> M64x8 {
        parts[0]
    }
    #[inline(always)]
    fn widen4(x: [f64; 4]) -> F64x4 {
        F64x4::of(x)
    }
    #[inline(always)]
    fn narrow4(x: F64x4) -> [f64; 4] {
        x.to_array()
    }
    #[inline(always)]
    fn narrow(x: F64x8) -> F64x8 {
        x
    }
    #[inline(always)]
    fn differ(i: &[u32; WIDTH], j: &[u32; WIDTH]) -> M64x8 {
        unsafe {
            let (i, j) = (_mm256_loadu_si256(i.as_ptr().cast()), _mm256_loadu_si256(j.as_ptr().cast()));
            let other = _mm256_xor_si256(_mm256_cmpeq_epi32(i, j), _mm256_set1_epi32(-1));
            let lo = _mm256_cvtepi32_epi64(_mm256_castsi256_si128(other));
            let hi = _mm256_cvtepi32_epi64(_mm256_extracti128_si256::<1>(other));
            M64x8(_mm256_castsi256_pd(lo), _mm256_castsi256_pd(hi))
        }
    }
    #[inline(always)]
    fn transpose(r: [F64x8; 8]) -> [F64x8; 8] {
        let mut cells = [[0.0; WIDTH]; WIDTH];
        for (cell, row) in cells.iter_mut().zip(r) {
            *cell = row.to_array();
        }
        unsafe { Self::load8(std::array::from_fn(|k| cells[k].as_ptr())) }
    }
    #[inline(always)]
    unsafe fn load4(at: [*const f64; WIDTH]) -> [F64x8; 4] {
        unsafe { load4(at) }
    }
    #[inline(always)]
    unsafe fn load8(at: [*const f64; WIDTH]) -> [F64x8; 8] {
        unsafe {
            let lo = load4(at);
            let hi = load4(at.map(|p| p.add(4)));
            [lo[0], lo[1], lo[2], lo[3], hi[0], hi[1], hi[2], hi[3]]
        }
    }
    #[inline(always)]
    fn rows_of(columns: [F64x8; 8]) -> [[F64x8; 8]; 2] {
        [Self::transpose(columns); 2]
    }
    #[inline(always)]
    unsafe fn load8_together(at: [[*const f64; WIDTH]; 2]) -> [F64x8; 8] {
        unsafe { Self::load8(at[0]) }
    }
    #[inline(always)]
    fn prefetch<T>(at: &T) {
        unsafe { _mm_prefetch::<_MM_HINT_T1>(std::ptr::from_ref(at).cast()) }
    }
    #[inline(always)]
    unsafe fn add8(at: *mut f64, x: F64x8) {
        unsafe {
            _mm256_storeu_pd(at, _mm256_add_pd(_mm256_loadu_pd(at), x.0));
            let at = at.add(4);
            _mm256_storeu_pd(at, _mm256_add_pd(_mm256_loadu_pd(at), x.1));
        }
    }
}
