//! Eight contacts at a time: the vector types the contact kernels are written in.
//!
//! A kernel is generic over [`Simd`] and is compiled once for each instruction set; [`Isa::detect`] chooses at run
//! time. Every backend does the same IEEE operations in the same order (no fused multiply-add, exact division and
//! square root), so **the bits of a result do not depend on the machine**: a test compares the backends exactly.
//! Fusing would gain a few per cent and cost that property, and the mirrored evaluation of a contact by its two
//! blocks besides: `fma(a, b, c·d)` is not symmetric in its two products.
//!
//! The x86 types stay in [`x86`]; all `unsafe` of the substrate is in this room.

pub mod peak;
mod plain;
mod wide;
#[cfg(target_arch = "x86_64")]
pub mod x86;

pub use plain::{Plain, PlainLanes};
use std::fmt::Debug;
use std::ops::{Add, Div, Mul, Neg, Sub};

/// Contacts in one batch, on every machine and in every precision.
pub const WIDTH: usize = 8;

/// A floating-point number the kernels can compute in.
pub trait Real: Copy + Default + Debug + Send + Sync + PartialOrd + Into<f64> + 'static {
    /// Name of the precision in messages.
    const NAME: &'static str;
    /// Rounds to this precision.
    fn of(x: f64) -> Self;
    /// A whole number below 2²⁴ kept in the bits of a real (for material indices in a record).
    fn from_tag(tag: u32) -> Self;
    /// The number put in by [`Real::from_tag`].
    fn tag(self) -> u32;
}

impl Real for f32 {
    const NAME: &'static str = "f32";
    #[inline(always)]
    fn of(x: f64) -> f32 {
        x as f32
    }
    // As a value, not as raw bits: small integers are exact, and the lane never holds a denormal or a NaN, which
    // vector units handle slowly or quietly change.
    #[inline(always)]
    fn from_tag(tag: u32) -> f32 {
        tag as f32
    }
    #[inline(always)]
    fn tag(self) -> u32 {
        self as u32
    }
}

impl Real for f64 {
    const NAME: &'static str = "f64";
    #[inline(always)]
    fn of(x: f64) -> f64 {
        x
    }
    #[inline(always)]
    fn from_tag(tag: u32) -> f64 {
        f64::from(tag)
    }
    #[inline(always)]
    fn tag(self) -> u32 {
        self as u32
    }
}

/// A truth value per lane.
pub trait Mask: Copy {
    /// Lanes true in both.
    fn and(self, other: Self) -> Self;
    /// Lane `k` in bit `k`.
    fn bits(self) -> u32;
    /// Whether some lane is true.
    #[inline(always)]
    fn any(self) -> bool {
        self.bits() != 0
    }
}

/// Numbers that are operated on together.
pub trait Lanes:
    Copy + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Div<Output = Self> + Neg<Output = Self>
{
    /// What one lane holds.
    type Scalar: Real;
    /// Result of a comparison.
    type Mask: Mask;
    /// The same number in every lane.
    fn splat(x: Self::Scalar) -> Self;
    /// Square root, correctly rounded.
    fn sqrt(self) -> Self;
    /// The larger of each lane (the second operand where they don't compare).
    fn max(self, other: Self) -> Self;
    /// The smaller of each lane (the second operand where they don't compare).
    fn min(self, other: Self) -> Self;
    /// Lanes in which `self > other`.
    fn gt(self, other: Self) -> Self::Mask;
    /// `self` where the mask is true, `other` elsewhere.
    fn select(self, mask: Self::Mask, other: Self) -> Self;
    /// `self` where the mask is true, zero elsewhere (whatever `self` is there, NaN included).
    fn keep(self, mask: Self::Mask) -> Self;
    /// A constant, rounded to the precision at hand.
    #[inline(always)]
    fn of(x: f64) -> Self {
        Self::splat(Self::Scalar::of(x))
    }
    /// Zero in every lane.
    #[inline(always)]
    fn zero() -> Self {
        Self::of(0.0)
    }
}

/// Eight lanes: those of one batch.
pub trait Octet: Lanes {
    /// Lanes from an array.
    fn from_array(x: [Self::Scalar; WIDTH]) -> Self;
    /// Lanes to an array.
    fn to_array(self) -> [Self::Scalar; WIDTH];
}

/// Three components, each of several lanes.
#[derive(Clone, Copy)]
pub struct Vec3<V>(pub V, pub V, pub V);

impl<V: Lanes> Vec3<V> {
    /// Scalar product.
    #[inline(always)]
    pub fn dot(self, o: Self) -> V {
        self.0 * o.0 + self.1 * o.1 + self.2 * o.2
    }
    /// Vector product.
    #[inline(always)]
    pub fn cross(self, o: Self) -> Self {
        Vec3(self.1 * o.2 - self.2 * o.1, self.2 * o.0 - self.0 * o.2, self.0 * o.1 - self.1 * o.0)
    }
    /// Times a number.
    #[inline(always)]
    pub fn scale(self, s: V) -> Self {
        Vec3(self.0 * s, self.1 * s, self.2 * s)
    }
    /// Sum.
    #[inline(always)]
    pub fn plus(self, o: Self) -> Self {
        Vec3(self.0 + o.0, self.1 + o.1, self.2 + o.2)
    }
    /// Difference.
    #[inline(always)]
    pub fn minus(self, o: Self) -> Self {
        Vec3(self.0 - o.0, self.1 - o.1, self.2 - o.2)
    }
    /// Zero where the mask is false.
    #[inline(always)]
    pub fn keep(self, m: V::Mask) -> Self {
        Vec3(self.0.keep(m), self.1.keep(m), self.2.keep(m))
    }
    /// `self` where the mask is true, `o` elsewhere.
    #[inline(always)]
    pub fn select(self, m: V::Mask, o: Self) -> Self {
        Vec3(self.0.select(m, o.0), self.1.select(m, o.1), self.2.select(m, o.2))
    }
    /// Zero vector.
    #[inline(always)]
    pub fn zero() -> Self {
        Vec3(V::zero(), V::zero(), V::zero())
    }
    /// The part of `self` normal to the unit vector `n`.
    #[inline(always)]
    pub fn tangent_to(self, n: Self) -> Self {
        self.minus(n.scale(self.dot(n)))
    }
}

/// Four doubles of one thing: a vector and what goes with it.
pub trait Quad: Copy + Add<Output = Self> + Mul<Output = Self> {
    /// From an array.
    fn of(x: [f64; 4]) -> Self;
    /// To an array.
    fn to_array(self) -> [f64; 4];
    /// The last number in all four places.
    fn last(self) -> Self;
    /// The first three of `self`, the last of `other`.
    fn with_last(self, other: Self) -> Self;
}

/// An instruction set in a precision: the lanes, and how they meet memory.
///
/// # Safety
/// The implementer's methods may use instructions that not every processor has. A `Simd` type may only be used below
/// a function that was entered after [`Isa::detect`] (or an equal check) found them.
pub unsafe trait Simd: Copy + Send + Sync + 'static {
    /// Precision of velocities and forces.
    type Real: Real;
    /// Lanes of that precision.
    type V: Octet<Scalar = Self::Real>;
    /// Lanes in double precision, for positions and overlaps.
    type D: Octet<Scalar = f64>;
    /// Lanes of the contacts that go through the law together.
    type W: Lanes<Scalar = Self::Real>;

    /// Batches whose contacts go through the law together, one or two: as many as a register takes.
    const TOGETHER: usize;

    /// The lanes of batches that go together; the first alone where one does.
    fn join(parts: [Self::V; 2]) -> Self::W;

    /// The lanes of each batch; the same twice where one goes alone.
    fn split(whole: Self::W) -> [Self::V; 2];

    /// As [`Simd::join`].
    fn join_masks(parts: [<Self::V as Lanes>::Mask; 2]) -> <Self::W as Lanes>::Mask;

    /// One grain's four doubles.
    type Q: Quad;

    /// Four reals as doubles.
    fn widen4(x: [Self::Real; 4]) -> Self::Q;

    /// Four doubles rounded to the working precision.
    fn narrow4(x: Self::Q) -> [Self::Real; 4];

    /// Rounds double lanes to the working precision.
    fn narrow(x: Self::D) -> Self::V;

    /// Lanes in which the two indices differ.
    fn differ(i: &[u32; WIDTH], j: &[u32; WIDTH]) -> <Self::V as Lanes>::Mask;

    /// Transposes an 8 × 8 matrix.
    fn transpose(rows: [Self::V; 8]) -> [Self::V; 8];

    /// The rows of each batch, of columns of batches that go together.
    fn rows_of(columns: [Self::W; 8]) -> [[Self::V; 8]; 2];

    /// Reads four doubles at each of eight addresses; result `c` holds component `c` of all eight.
    ///
    /// # Safety
    /// Each pointer is readable for four `f64`.
    unsafe fn load4(at: [*const f64; WIDTH]) -> [Self::D; 4];

    /// Reads eight reals at each of eight addresses; result `c` holds component `c` of all eight.
    ///
    /// # Safety
    /// Each pointer is readable for eight reals.
    unsafe fn load8(at: [*const Self::Real; WIDTH]) -> [Self::V; 8];

    /// As [`Simd::load8`], for batches that go together.
    ///
    /// # Safety
    /// Each pointer is readable for eight reals.
    unsafe fn load8_together(at: [[*const Self::Real; WIDTH]; 2]) -> [Self::W; 8];

    /// Asks for the cache line of what will be read before long; does nothing where there is no such instruction.
    #[inline(always)]
    fn prefetch<T>(_: &T) {}

    /// Adds eight reals to those at `at`.
    ///
    /// # Safety
    /// `at` is readable and writable for eight reals, and nobody else holds it.
    unsafe fn add8(at: *mut Self::Real, x: Self::V);
}

/// Which build of the kernels runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Isa {
    /// Whatever the target always has.
    Plain,
    /// 256-bit vectors.
    Avx2,
    /// 512-bit vectors: two batches go through the law together.
    Avx512,
}

impl Isa {
    /// The best the processor at hand can do.
    pub fn detect() -> Isa {
        *Self::available().last().unwrap_or(&Isa::Plain)
    }

    /// All the processor can do, plainest first.
    pub fn available() -> Vec<Isa> {
        #[allow(unused_mut)]
        let mut all = vec![Isa::Plain];
        #[cfg(target_arch = "x86_64")]
        {
            if std::arch::is_x86_feature_detected!("avx2") {
                all.push(Isa::Avx2);
                if std::arch::is_x86_feature_detected!("avx512vl") && std::arch::is_x86_feature_detected!("avx512dq") {
                    all.push(Isa::Avx512);
                }
            }
        }
        all
    }

    /// Name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Isa::Plain => "plain",
            Isa::Avx2 => "avx2",
            Isa::Avx512 => "avx512",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exercise<S: Simd>() -> Vec<u64> {
        let mut rng = 0x9e37_79b9_u64;
        let mut next = || {
            rng = rng.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            ((rng >> 33) as f64) / (1u64 << 30) as f64 - 1.0
        };
        let rows: Vec<[f64; 4]> = (0..16).map(|_| std::array::from_fn(|_| next())).collect();
        let reals: Vec<[S::Real; 8]> = (0..16).map(|_| std::array::from_fn(|_| S::Real::of(next()))).collect();
        let i = [3u32, 1, 4, 1, 5, 9, 2, 6];
        let j = [3u32, 5, 8, 9, 5, 3, 2, 0];
        let mut out: Vec<u64> = Vec::new();
        let mut keep = |v: S::V| out.extend(v.to_array().iter().map(|&x| Into::<f64>::into(x).to_bits()));
        // SAFETY: indices are below 16, each row holds the stated number of values, and the caller checked the ISA.
        unsafe {
            let d = S::load4(i.map(|k| rows[k as usize].as_ptr()));
            let e = S::load4(j.map(|k| rows[k as usize].as_ptr()));
            for c in 0..4 {
                assert_eq!(d[c].to_array(), i.map(|k| rows[k as usize][c]));
            }
            let v = S::load8(i.map(|k| reals[k as usize].as_ptr()));
            for (c, lanes) in v.iter().enumerate() {
                assert_eq!(lanes.to_array(), i.map(|k| reals[k as usize][c]));
            }
            let t = S::transpose(v);
            for (r, lanes) in t.iter().enumerate() {
                assert_eq!(lanes.to_array(), reals[i[r] as usize]);
            }
            let rows = S::rows_of(std::array::from_fn(|c| S::join([v[c], t[c]])));
            for (rows, expected) in rows.iter().zip([t, v]).take(S::TOGETHER) {
                for (row, expected) in rows.iter().zip(expected) {
                    assert_eq!(row.to_array(), expected.to_array());
                }
            }
            let mut acc = [S::Real::of(1.0); 8];
            S::add8(acc.as_mut_ptr(), v[2]);
            keep(S::V::from_array(acc));
            let diff = Vec3(d[0] - e[0], d[1] - e[1], d[2] - e[2]);
            let dist = S::narrow(diff.dot(diff).sqrt());
            keep(dist);
            let n = Vec3(v[0], v[1], v[2]);
            let m = S::differ(&i, &j);
            assert_eq!(m.bits(), 0b1010_1110);
            keep((n.cross(Vec3(v[3], v[4], v[5])).dot(n) / dist).keep(m));
            let g = v[6].gt(v[7]);
            for k in 0..8 {
                assert_eq!(g.bits() >> k & 1 == 1, v[6].to_array()[k] > v[7].to_array()[k]);
            }
            keep(v[6].select(g.and(m), -v[7]));
            keep(v[0].max(v[1]) - v[2].min(v[3]));
            // What goes together gives what each would alone.
            let both = |a: S::V, b: S::V| S::join([a, b]);
            let w = (both(v[0], v[1]) / both(v[2], v[3])).sqrt() - both(v[4], v[5]) * -both(v[6], v[7]);
            let m = S::join_masks([m, g]).and(both(v[0], v[1]).gt(S::W::of(-0.5)));
            let w = w.max(both(v[1], v[0])).select(m, both(v[3], v[2]).min(w)).keep(m);
            let alone = |k: usize, m: <S::V as Lanes>::Mask| {
                let w = (v[k] / v[2 + k]).sqrt() - v[4 + k] * -v[6 + k];
                let m = m.and(v[k].gt(S::V::of(-0.5)));
                w.max(v[1 - k]).select(m, v[3 - k].min(w)).keep(m)
            };
            let expected = [alone(0, S::differ(&i, &j)), alone(1, g)];
            let parts = S::split(w);
            for k in 0..S::TOGETHER {
                let bits = |v: S::V| v.to_array().map(|x| Into::<f64>::into(x).to_bits());
                assert_eq!(bits(parts[k]), bits(expected[k]));
            }
            for k in 0..8 * S::TOGETHER {
                let half = [S::differ(&i, &j), g][k / 8].and(v[k / 8].gt(S::V::of(-0.5)));
                assert_eq!(m.bits() >> k & 1, half.bits() >> (k % 8) & 1);
            }
            let columns =
                S::load8_together([i.map(|k| reals[k as usize].as_ptr()), j.map(|k| reals[k as usize].as_ptr())]);
            for (c, lanes) in columns.into_iter().enumerate() {
                for (part, rows) in S::split(lanes).iter().zip([i, j]).take(S::TOGETHER) {
                    assert_eq!(part.to_array(), rows.map(|k| reals[k as usize][c]));
                }
            }
        }
        let [a, b] = [S::Q::of(rows[0]), S::Q::of(rows[1])];
        assert_eq!(a.last().to_array(), [rows[0][3]; 4]);
        assert_eq!(a.with_last(b).to_array(), [rows[0][0], rows[0][1], rows[0][2], rows[1][3]]);
        out.extend((a * b + a).to_array().map(f64::to_bits));
        let four = [reals[0][0], reals[0][1], reals[0][2], reals[0][3]];
        assert_eq!(S::widen4(four).to_array(), four.map(Into::into));
        out.extend(S::narrow4(a).map(|x| Into::<f64>::into(x).to_bits()));
        out
    }

    #[test]
    fn every_backend_gives_the_same_bits() {
        let plain = (exercise::<Plain<f32>>(), exercise::<Plain<f64>>());
        assert!(!plain.0.is_empty());
        #[cfg(target_arch = "x86_64")]
        for isa in Isa::available() {
            match isa {
                Isa::Plain => {}
                Isa::Avx2 => {
                    assert_eq!(plain.0, exercise::<x86::Avx2<f32>>());
                    assert_eq!(plain.1, exercise::<x86::Avx2<f64>>());
                }
                Isa::Avx512 => {
                    assert_eq!(plain.0, exercise::<x86::Avx512<f32>>());
                    assert_eq!(plain.1, exercise::<x86::Avx512<f64>>());
                }
            }
        }
    }
}
