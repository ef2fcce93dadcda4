//! The four sums over neighbours that all stages are made of, eight neighbours at a time.
//!
//! | sum | reads | gives |
//! |---|---|---|
//! | [`Passes::density`] | places | Σ W, Σ m∇W, Σ m²∣∇W∣², and the weights of the pairs |
//! | [`Passes::force`] | places, weights, sigma | Σ (σ_i + σ_j) · m∇W |
//! | [`Passes::gradient`] | places, weights, speed | Σ sym[(v_j − v_i) ⊗ m∇W] |
//! | [`Passes::rub`] | places, weights, speed and yield bound | Σ e (v_j − v_i), e = −m W'/x · min(most, cap (y_i + y_j) x/∣v_j − v_i∣) |
//!
//! With the weights m/ρ_i of the strain rate, `force` is minus the adjoint of `gradient`: friction can only take energy. Differences of
//! places are taken in f64 and rounded to the working precision; a pair's two sides give opposite numbers exactly.
//!
//! One source, generic over instruction set ([`Simd`]) and precision; [`Precision::select`] picks the build once. No build fuses products and
//! sums, so that all give the same bits.
//!
//! This is the solver's only room with `unsafe`: reads of records by the indices in the lists. **Proof**: lists are made in `lists/`
//! alone, which asserts for every block that each index lies among the particles ([`BlockLists::fits`]); births, deaths and sorting throw them away
//! before the next pass, and each entry below asserts that the columns are as long as the lists were made for. The instruction set was checked by
//! [`Isa::detect`].

mod search;
mod sums;

use crate::lists::{BlockLists, Cells};
use crate::smoothing::Kernel;
use barchan_core::simd::{Isa, Plain, Real, Simd};
use glam::DVec3;

/// Kernel and units of a pass.
#[derive(Clone, Copy, Debug)]
pub struct Weighting {
    /// Smoothing kernel.
    pub kernel: Kernel,
    /// Support [m].
    pub reach: f64,
    /// Mass of a particle [kg].
    pub mass: f64,
    /// Period in each direction [m], 0 where there is none.
    pub period: DVec3,
}

type Density<R> = unsafe fn(&Weighting, &[[f64; 4]], usize, &mut BlockLists<R>, &mut [[R; 8]]);
type Force<R> = unsafe fn(&Weighting, &[[f64; 4]], &[[R; 8]], usize, &BlockLists<R>, &mut [[R; 8]]);
type Gradient<R> = unsafe fn(&Weighting, &[[f64; 4]], &[[R; 4]], usize, &BlockLists<R>, &mut [[R; 8]]);

type Rubbing<R> = unsafe fn(&Weighting, &[[f64; 4]], &[[R; 4]], Rub, usize, &BlockLists<R>, &mut [[R; 8]]);

/// How strongly two neighbours rub against each other.
#[derive(Clone, Copy, Debug)]
pub struct Rub {
    /// Largest share of a slip that is taken away, over −m W'/x [m⁵/kg].
    pub most: f64,
    /// Impulse over mass and −m W', over the sum of the yield bounds over ρ² [s].
    pub cap: f64,
}

type Search = unsafe fn(&Cells, DVec3, &mut Vec<u32>);

/// The search of all within reach of a place, built for one instruction set.
#[derive(Clone, Copy)]
pub struct Searcher(Search);

impl Searcher {
    /// The build for an instruction set.
    pub fn select(isa: Isa) -> Searcher {
        Searcher(match isa {
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512 => avx512::near,
            #[cfg(target_arch = "x86_64")]
            Isa::Avx2 => avx2::near,
            _ => plain_near,
        })
    }

    /// Appends the slots of all within reach of `x` [m] (and perhaps a hair beyond) to `found`, in a fixed order.
    pub fn near(&self, cells: &Cells, x: DVec3, found: &mut Vec<u32>) {
        // SAFETY: the instruction set was checked by `Isa::detect`; the search itself has no unchecked access.
        unsafe { (self.0)(cells, x, found) }
    }
}

/// # Safety
/// None: plain code runs anywhere.
unsafe fn plain_near(cells: &Cells, x: DVec3, found: &mut Vec<u32>) {
    search::near::<Plain<f32>>(cells, x, found);
}

/// The sums, built for one instruction set and precision.
#[derive(Clone, Copy)]
pub struct Passes<R> {
    density: Density<R>,
    force: Force<R>,
    gradient: Gradient<R>,
    rub: Rubbing<R>,
}

impl<R: Real> Passes<R> {
    /// Sums of a block that begins at slot `first`, and the weights of its pairs: Σ m W [kg/m³] without the particle's own part, Σ m∇W [kg/m⁴] and
    /// Σ m²|∇W|² [kg²/m⁸].
    pub fn density(
        &self,
        w: &Weighting,
        place: &[[f64; 4]],
        first: usize,
        lists: &mut BlockLists<R>,
        out: &mut [[R; 8]],
    ) {
        assert!(first + out.len() <= place.len() && lists.starts.len() == out.len() + 1);
        // SAFETY: head of the file; the lists were made for as many particles as there are places.
        unsafe { (self.density)(w, place, first, lists, out) }
    }

    /// Σ (σ_i + σ_j) · m∇W of a block that begins at slot `first`.
    pub fn force(
        &self,
        w: &Weighting,
        place: &[[f64; 4]],
        sigma: &[[R; 8]],
        first: usize,
        lists: &BlockLists<R>,
        out: &mut [[R; 8]],
    ) {
        assert!(first + out.len() <= place.len() && lists.starts.len() == out.len() + 1 && sigma.len() == place.len());
        // SAFETY: as above.
        unsafe { (self.force)(w, place, sigma, first, lists, out) }
    }

    /// Σ sym[(v_j − v_i) ⊗ m∇W] of a block that begins at slot `first`. The speeds have a spare record at their end, since eight numbers are
    /// read at each.
    pub fn gradient(
        &self,
        w: &Weighting,
        place: &[[f64; 4]],
        speed: &[[R; 4]],
        first: usize,
        lists: &BlockLists<R>,
        out: &mut [[R; 8]],
    ) {
        assert!(first + out.len() <= place.len() && lists.starts.len() == out.len() + 1 && speed.len() > place.len());
        // SAFETY: as above.
        unsafe { (self.gradient)(w, place, speed, first, lists, out) }
    }

    /// Change of velocity by rubbing [m/s] of a block that begins at slot `first`. The last number of each record of speed is the yield bound over ρ².
    #[allow(clippy::too_many_arguments)]
    pub fn rub(
        &self,
        w: &Weighting,
        place: &[[f64; 4]],
        speed: &[[R; 4]],
        rub: Rub,
        first: usize,
        lists: &BlockLists<R>,
        out: &mut [[R; 8]],
    ) {
        assert!(first + out.len() <= place.len() && lists.starts.len() == out.len() + 1 && speed.len() > place.len());
        // SAFETY: as above.
        unsafe { (self.rub)(w, place, speed, rub, first, lists, out) }
    }
}

/// A precision the sums are built in.
pub trait Precision: Real {
    /// The build for an instruction set.
    fn select(isa: Isa) -> Passes<Self>;
}

/// # Safety
/// See the head of the file.
unsafe fn plain_density<R: Real>(w: &Weighting, p: &[[f64; 4]], first: usize, l: &mut BlockLists<R>, out: &mut [[R; 8]])
where
    Plain<R>: Simd<Real = R>,
{
    // SAFETY: as for the caller; plain code runs anywhere.
    unsafe { sums::density::<Plain<R>>(w, p, first, l, out) }
}

/// # Safety
/// See the head of the file.
unsafe fn plain_force<R: Real>(
    w: &Weighting,
    p: &[[f64; 4]],
    s: &[[R; 8]],
    first: usize,
    l: &BlockLists<R>,
    out: &mut [[R; 8]],
) where
    Plain<R>: Simd<Real = R>,
{
    // SAFETY: as for the caller; plain code runs anywhere.
    unsafe { sums::force::<Plain<R>>(w, p, s, first, l, out) }
}

/// # Safety
/// See the head of the file.
unsafe fn plain_gradient<R: Real>(
    w: &Weighting,
    p: &[[f64; 4]],
    v: &[[R; 4]],
    first: usize,
    l: &BlockLists<R>,
    out: &mut [[R; 8]],
) where
    Plain<R>: Simd<Real = R>,
{
    // SAFETY: as for the caller; plain code runs anywhere.
    unsafe { sums::gradient::<Plain<R>>(w, p, v, first, l, out) }
}

/// # Safety
/// See the head of the file.
unsafe fn plain_rub<R: Real>(
    w: &Weighting,
    p: &[[f64; 4]],
    v: &[[R; 4]],
    r: Rub,
    first: usize,
    l: &BlockLists<R>,
    out: &mut [[R; 8]],
) where
    Plain<R>: Simd<Real = R>,
{
    // SAFETY: as for the caller; plain code runs anywhere.
    unsafe { sums::rub::<Plain<R>>(w, p, v, r, first, l, out) }
}

#[cfg(target_arch = "x86_64")]
macro_rules! build {
    ($room:ident, $Lanes:ident, $features:literal) => {
        mod $room {
            use super::*;
            use barchan_core::simd::x86::$Lanes;

            /// # Safety
            /// The processor has these features.
            #[target_feature(enable = $features)]
            pub unsafe fn near(cells: &Cells, x: DVec3, found: &mut Vec<u32>) {
                search::near::<$Lanes<f32>>(cells, x, found);
            }

            /// # Safety
            /// See the head of the file; the processor has these features.
            #[target_feature(enable = $features)]
            pub unsafe fn density<R: Real>(
                w: &Weighting,
                p: &[[f64; 4]],
                first: usize,
                l: &mut BlockLists<R>,
                out: &mut [[R; 8]],
            ) where
                $Lanes<R>: Simd<Real = R>,
            {
                // SAFETY: as for the caller.
                unsafe { sums::density::<$Lanes<R>>(w, p, first, l, out) }
            }

            /// # Safety
            /// See the head of the file; the processor has these features.
            #[target_feature(enable = $features)]
            pub unsafe fn force<R: Real>(
                w: &Weighting,
                p: &[[f64; 4]],
                s: &[[R; 8]],
                first: usize,
                l: &BlockLists<R>,
                out: &mut [[R; 8]],
            ) where
                $Lanes<R>: Simd<Real = R>,
            {
                // SAFETY: as for the caller.
                unsafe { sums::force::<$Lanes<R>>(w, p, s, first, l, out) }
            }

            /// # Safety
            /// See the head of the file; the processor has these features.
            #[target_feature(enable = $features)]
            pub unsafe fn gradient<R: Real>(
                w: &Weighting,
                p: &[[f64; 4]],
                v: &[[R; 4]],
                first: usize,
                l: &BlockLists<R>,
                out: &mut [[R; 8]],
            ) where
                $Lanes<R>: Simd<Real = R>,
            {
                // SAFETY: as for the caller.
                unsafe { sums::gradient::<$Lanes<R>>(w, p, v, first, l, out) }
            }

            /// # Safety
            /// See the head of the file; the processor has these features.
            #[target_feature(enable = $features)]
            pub unsafe fn rub<R: Real>(
                w: &Weighting,
                p: &[[f64; 4]],
                v: &[[R; 4]],
                r: Rub,
                first: usize,
                l: &BlockLists<R>,
                out: &mut [[R; 8]],
            ) where
                $Lanes<R>: Simd<Real = R>,
            {
                // SAFETY: as for the caller.
                unsafe { sums::rub::<$Lanes<R>>(w, p, v, r, first, l, out) }
            }
        }
    };
}

#[cfg(target_arch = "x86_64")]
build!(avx2, Avx2, "avx2");
#[cfg(target_arch = "x86_64")]
build!(avx512, Avx512, "avx2,avx512f,avx512vl,avx512dq");

macro_rules! precision {
    ($R:ty) => {
        impl Precision for $R {
            fn select(isa: Isa) -> Passes<$R> {
                match isa {
                    #[cfg(target_arch = "x86_64")]
                    Isa::Avx512 => Passes {
                        density: avx512::density,
                        force: avx512::force,
                        gradient: avx512::gradient,
                        rub: avx512::rub,
                    },
                    #[cfg(target_arch = "x86_64")]
                    Isa::Avx2 => {
                        Passes { density: avx2::density, force: avx2::force, gradient: avx2::gradient, rub: avx2::rub }
                    }
                    _ => {
                        Passes { density: plain_density, force: plain_force, gradient: plain_gradient, rub: plain_rub }
                    }
                }
            }
        }
    };
}
precision!(f32);
precision!(f64);
