//! The vector types on x86-64 with AVX-512: sixteen f32 or eight f64 in one register.
//!
//! In single precision two batches go through the law together; a batch alone (contacts with walls) stays in 256 bits. As in the
//! rest of this room, every method is `inline(always)`, and the SAFETY argument of all blocks is that of [`Simd`].

use super::{Avx2, F32x8, F64x4, M32x8};
use crate::simd::{Lanes, Mask, Octet, Quad, Simd, WIDTH};
use std::arch::x86_64::*;
use std::marker::PhantomData;
use std::ops::{Add, Div, Mul, Neg, Sub};

/// The AVX-512 backend.
#[derive(Clone, Copy)]
pub struct Avx512<R>(PhantomData<R>);

/// Sixteen f32: the lanes of two batches.
#[derive(Clone, Copy)]
pub struct F32x16(__m512);
/// Eight f64 in one register.
#[derive(Clone, Copy)]
pub struct D512(__m512d);
/// Mask of [`F32x16`].
#[derive(Clone, Copy)]
pub struct M16(__mmask16);
/// Mask of [`D512`].
#[derive(Clone, Copy)]
pub struct M8(__mmask8);

macro_rules! lanes {
    ($v:ident, $m:ident, $scalar:ty, $set1:ident, $add:ident, $sub:ident, $mul:ident, $div:ident, $xor:ident, $sqrt:ident,
     $max:ident, $min:ident, $cmp:ident, $blend:ident, $keep:ident) => {
        impl Mask for $m {
            #[inline(always)]
            fn and(self, o: Self) -> Self {
                $m(self.0 & o.0)
            }
            #[inline(always)]
            fn bits(self) -> u32 {
                u32::from(self.0)
            }
        }
        impl Add for $v {
            type Output = Self;
            #[inline(always)]
            fn add(self, o: Self) -> Self {
                unsafe { $v($add(self.0, o.0)) }
            }
        }
        impl Sub for $v {
            type Output = Self;
            #[inline(always)]
            fn sub(self, o: Self) -> Self {
                unsafe { $v($sub(self.0, o.0)) }
            }
        }
        impl Mul for $v {
            type Output = Self;
            #[inline(always)]
            fn mul(self, o: Self) -> Self {
                unsafe { $v($mul(self.0, o.0)) }
            }
        }
        impl Div for $v {
            type Output = Self;
            #[inline(always)]
            fn div(self, o: Self) -> Self {
                unsafe { $v($div(self.0, o.0)) }
            }
        }
        impl Neg for $v {
            type Output = Self;
            #[inline(always)]
            fn neg(self) -> Self {
                unsafe { $v($xor(self.0, $set1(-0.0))) }
            }
        }
        impl Lanes for $v {
            type Scalar = $scalar;
            type Mask = $m;
            #[inline(always)]
            fn splat(x: $scalar) -> Self {
                unsafe { $v($set1(x)) }
            }
            #[inline(always)]
            fn sqrt(self) -> Self {
                unsafe { $v($sqrt(self.0)) }
            }
            #[inline(always)]
            fn max(self, o: Self) -> Self {
                unsafe { $v($max(self.0, o.0)) }
            }
            #[inline(always)]
            fn min(self, o: Self) -> Self {
                unsafe { $v($min(self.0, o.0)) }
            }
            #[inline(always)]
            fn gt(self, o: Self) -> $m {
                unsafe { $m($cmp::<_CMP_GT_OQ>(self.0, o.0)) }
            }
            #[inline(always)]
            fn select(self, m: $m, o: Self) -> Self {
                unsafe { $v($blend(m.0, o.0, self.0)) }
            }
            #[inline(always)]
            fn keep(self, m: $m) -> Self {
                unsafe { $v($keep(m.0, self.0)) }
            }
        }
    };
}
lanes!(
    F32x16,
    M16,
    f32,
    _mm512_set1_ps,
    _mm512_add_ps,
    _mm512_sub_ps,
    _mm512_mul_ps,
    _mm512_div_ps,
    _mm512_xor_ps,
    _mm512_sqrt_ps,
    _mm512_max_ps,
    _mm512_min_ps,
    _mm512_cmp_ps_mask,
    _mm512_mask_blend_ps,
    _mm512_maskz_mov_ps
);
lanes!(
    D512,
    M8,
    f64,
    _mm512_set1_pd,
    _mm512_add_pd,
    _mm512_sub_pd,
    _mm512_mul_pd,
    _mm512_div_pd,
    _mm512_xor_pd,
    _mm512_sqrt_pd,
    _mm512_max_pd,
    _mm512_min_pd,
    _mm512_cmp_pd_mask,
    _mm512_mask_blend_pd,
    _mm512_maskz_mov_pd
);

impl Octet for D512 {
    #[inline(always)]
    fn from_array(x: [f64; WIDTH]) -> Self {
        unsafe { D512(_mm512_loadu_pd(x.as_ptr())) }
    }
    #[inline(always)]
    fn to_array(self) -> [f64; WIDTH] {
        let mut out = [0.0; WIDTH];
        unsafe { _mm512_storeu_pd(out.as_mut_ptr(), self.0) };
        out
    }
}

#[inline(always)]
unsafe fn rows(p: *const f64, q: *const f64) -> __m512d {
    unsafe { _mm512_insertf64x4::<1>(_mm512_castpd256_pd512(_mm256_loadu_pd(p)), _mm256_loadu_pd(q)) }
}

#[inline(always)]
unsafe fn load4(at: [*const f64; WIDTH]) -> [D512; 4] {
    unsafe {
        let (a, b) = (rows(at[0], at[4]), rows(at[1], at[5]));
        let (c, d) = (rows(at[2], at[6]), rows(at[3], at[7]));
        let (ab, ab2) = (_mm512_unpacklo_pd(a, b), _mm512_unpackhi_pd(a, b));
        let (cd, cd2) = (_mm512_unpacklo_pd(c, d), _mm512_unpackhi_pd(c, d));
        let first = _mm512_setr_epi64(0, 1, 8, 9, 4, 5, 12, 13);
        let third = _mm512_setr_epi64(2, 3, 10, 11, 6, 7, 14, 15);
        [
            D512(_mm512_permutex2var_pd(ab, first, cd)),
            D512(_mm512_permutex2var_pd(ab2, first, cd2)),
            D512(_mm512_permutex2var_pd(ab, third, cd)),
            D512(_mm512_permutex2var_pd(ab2, third, cd2)),
        ]
    }
}

/// Four reals of each of four records.
#[inline(always)]
unsafe fn quarters(p: *const f32, q: *const f32, r: *const f32, s: *const f32) -> __m512 {
    unsafe {
        let x = _mm512_castps128_ps512(_mm_loadu_ps(p));
        let x = _mm512_insertf32x4::<1>(x, _mm_loadu_ps(q));
        let x = _mm512_insertf32x4::<2>(x, _mm_loadu_ps(r));
        _mm512_insertf32x4::<3>(x, _mm_loadu_ps(s))
    }
}

/// Transposes the 4 × 4 blocks that the quarters of four registers make.
#[inline(always)]
unsafe fn columns_of_quarters(r: [__m512; 4]) -> [__m512; 4] {
    unsafe {
        let (a, b) = (_mm512_unpacklo_ps(r[0], r[1]), _mm512_unpackhi_ps(r[0], r[1]));
        let (c, d) = (_mm512_unpacklo_ps(r[2], r[3]), _mm512_unpackhi_ps(r[2], r[3]));
        [
            _mm512_shuffle_ps::<0x44>(a, c),
            _mm512_shuffle_ps::<0xee>(a, c),
            _mm512_shuffle_ps::<0x44>(b, d),
            _mm512_shuffle_ps::<0xee>(b, d),
        ]
    }
}

#[inline(always)]
unsafe fn half(at: &[[*const f32; WIDTH]; 2], from: usize) -> [__m512; 4] {
    unsafe {
        let [a, b] = at;
        columns_of_quarters([
            quarters(a[0].add(from), a[4].add(from), b[0].add(from), b[4].add(from)),
            quarters(a[1].add(from), a[5].add(from), b[1].add(from), b[5].add(from)),
            quarters(a[2].add(from), a[6].add(from), b[2].add(from), b[6].add(from)),
            quarters(a[3].add(from), a[7].add(from), b[3].add(from), b[7].add(from)),
        ])
    }
}

/// Of two registers whose quarters are halves of rows: the rows.
#[inline(always)]
unsafe fn whole_rows(lo: __m512, hi: __m512) -> [F32x8; 4] {
    unsafe {
        let (lo, hi) = (_mm512_castps_pd(lo), _mm512_castps_pd(hi));
        let a = _mm512_permutex2var_pd(lo, _mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11), hi);
        let b = _mm512_permutex2var_pd(lo, _mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15), hi);
        let (a, b) = (_mm512_castpd_ps(a), _mm512_castpd_ps(b));
        [
            F32x8(_mm512_castps512_ps256(a)),
            F32x8(_mm512_extractf32x8_ps::<1>(a)),
            F32x8(_mm512_castps512_ps256(b)),
            F32x8(_mm512_extractf32x8_ps::<1>(b)),
        ]
    }
}

unsafe impl Simd for Avx512<f32> {
    type Real = f32;
    type V = F32x8;
    type D = D512;
    type Q = F64x4;
    type W = F32x16;
    const TOGETHER: usize = 2;

    #[inline(always)]
    fn join([a, b]: [F32x8; 2]) -> F32x16 {
        unsafe { F32x16(_mm512_insertf32x8::<1>(_mm512_castps256_ps512(a.0), b.0)) }
    }
    #[inline(always)]
    fn split(whole: F32x16) -> [F32x8; 2] {
        unsafe { [F32x8(_mm512_castps512_ps256(whole.0)), F32x8(_mm512_extractf32x8_ps::<1>(whole.0))] }
    }
    #[inline(always)]
    fn join_masks([a, b]: [M32x8; 2]) -> M16 {
        M16((a.bits() | b.bits() << WIDTH) as __mmask16)
    }
    #[inline(always)]
    fn widen4(x: [f32; 4]) -> F64x4 {
        Avx2::<f32>::widen4(x)
    }
    #[inline(always)]
    fn narrow4(x: F64x4) -> [f32; 4] {
        Avx2::<f32>::narrow4(x)
    }
    #[inline(always)]
    fn narrow(x: D512) -> F32x8 {
        unsafe { F32x8(_mm512_cvtpd_ps(x.0)) }
    }
    #[inline(always)]
    fn differ(i: &[u32; WIDTH], j: &[u32; WIDTH]) -> M32x8 {
        Avx2::<f32>::differ(i, j)
    }
    #[inline(always)]
    fn transpose(rows: [F32x8; 8]) -> [F32x8; 8] {
        Avx2::<f32>::transpose(rows)
    }
    #[inline(always)]
    fn rows_of([a, b, c, d, e, f, g, h]: [F32x16; 8]) -> [[F32x8; 8]; 2] {
        unsafe {
            let lo = columns_of_quarters([a.0, b.0, c.0, d.0]);
            let hi = columns_of_quarters([e.0, f.0, g.0, h.0]);
            let [r0, r4, r8, r12] = whole_rows(lo[0], hi[0]);
            let [r1, r5, r9, r13] = whole_rows(lo[1], hi[1]);
            let [r2, r6, r10, r14] = whole_rows(lo[2], hi[2]);
            let [r3, r7, r11, r15] = whole_rows(lo[3], hi[3]);
            [[r0, r1, r2, r3, r4, r5, r6, r7], [r8, r9, r10, r11, r12, r13, r14, r15]]
        }
    }
    #[inline(always)]
    unsafe fn load4(at: [*const f64; WIDTH]) -> [D512; 4] {
        unsafe { load4(at) }
    }
    #[inline(always)]
    unsafe fn load8(at: [*const f32; WIDTH]) -> [F32x8; 8] {
        unsafe { Avx2::<f32>::load8(at) }
    }
    #[inline(always)]
    unsafe fn load8_together(at: [[*const f32; WIDTH]; 2]) -> [F32x16; 8] {
        unsafe {
            let (lo, hi) = (half(&at, 0), half(&at, 4));
            [
                F32x16(lo[0]),
                F32x16(lo[1]),
                F32x16(lo[2]),
                F32x16(lo[3]),
                F32x16(hi[0]),
                F32x16(hi[1]),
                F32x16(hi[2]),
                F32x16(hi[3]),
            ]
        }
    }
    #[inline(always)]
    fn prefetch<T>(at: &T) {
        unsafe { _mm_prefetch::<_MM_HINT_T1>(std::ptr::from_ref(at).cast()) }
    }
    #[inline(always)]
    unsafe fn add8(at: *mut f32, x: F32x8) {
        unsafe { Avx2::<f32>::add8(at, x) }
    }
}

unsafe impl Simd for Avx512<f64> {
    type Real = f64;
    type V = D512;
    type D = D512;
    type Q = F64x4;
    type W = D512;
    const TOGETHER: usize = 1;

    #[inline(always)]
    fn join(parts: [D512; 2]) -> D512 {
        parts[0]
    }
    #[inline(always)]
    fn split(whole: D512) -> [D512; 2] {
        [whole; 2]
    }
    #[inline(always)]
    fn join_masks(parts: [M8; 2]) -> M8 {
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
    fn narrow(x: D512) -> D512 {
        x
    }
    #[inline(always)]
    fn differ(i: &[u32; WIDTH], j: &[u32; WIDTH]) -> M8 {
        unsafe {
            let (i, j) = (_mm256_loadu_si256(i.as_ptr().cast()), _mm256_loadu_si256(j.as_ptr().cast()));
            M8(_mm256_cmpneq_epi32_mask(i, j))
        }
    }
    #[inline(always)]
    fn transpose(rows: [D512; 8]) -> [D512; 8] {
        let mut cells = [[0.0; WIDTH]; WIDTH];
        for (cell, row) in cells.iter_mut().zip(rows) {
            *cell = row.to_array();
        }
        unsafe { Self::load8(std::array::from_fn(|k| cells[k].as_ptr())) }
    }
    #[inline(always)]
    unsafe fn load4(at: [*const f64; WIDTH]) -> [D512; 4] {
        unsafe { load4(at) }
    }
    #[inline(always)]
    unsafe fn load8(at: [*const f64; WIDTH]) -> [D512; 8] {
        unsafe {
            let lo = load4(at);
            let hi = load4(at.map(|p| p.add(4)));
            [lo[0], lo[1], lo[2], lo[3], hi[0], hi[1], hi[2], hi[3]]
        }
    }
    #[inline(always)]
    fn rows_of(columns: [D512; 8]) -> [[D512; 8]; 2] {
        [Self::transpose(columns); 2]
    }
    #[inline(always)]
    unsafe fn load8_together(at: [[*const f64; WIDTH]; 2]) -> [D512; 8] {
        unsafe { Self::load8(at[0]) }
    }
    #[inline(always)]
    fn prefetch<T>(at: &T) {
        unsafe { _mm_prefetch::<_MM_HINT_T1>(std::ptr::from_ref(at).cast()) }
    }
    #[inline(always)]
    unsafe fn add8(at: *mut f64, x: D512) {
        unsafe { _mm512_storeu_pd(at, _mm512_add_pd(_mm512_loadu_pd(at), x.0)) }
    }
}
