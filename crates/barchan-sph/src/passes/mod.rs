//! The sums over neighbours that all stages are made of, eight neighbours at a time; and the update of stresses, eight particles at a time.
//!
//! | sum | reads | gives |
//! |---|---|---|
//! | [`Passes::density`] | places | Σ W, Σ m∇W, Σ m²∣∇W∣², and the weights of the pairs |
//! | [`Passes::force`] | offsets, weights, sigma | Σ (σ_i + σ_j) · m∇W |
//! | [`Passes::push`] | the same | Σ (σ_i + σ_j) m∇W of its first component, where there is no shear |
//! | [`Passes::gradient`] | offsets, weights, speed | Σ sym[(v_j − v_i) ⊗ m∇W] |
//! | [`Passes::divergence`] | the same | its trace alone |
//! | [`Passes::rub`] | offsets, weights, speed and yield bound | Σ e (v_j − v_i), e = −m W'/x · min(most, cap (y_i + y_j) x/∣v_j − v_i∣) |
//!
//! With the weights m/ρ_i of the strain rate, `force` is minus the adjoint of `gradient`: friction can only take energy. For the density,
//! differences of places are taken in f64 and rounded to the working precision. The other sums, which run in every iteration, take them of places that
//! were rounded before: in f32 a pair's direction is off by some 10⁻⁷ of the domain's extent over the spacing, the same for both sums. A pair's
//! two sides give opposite numbers exactly.
//!
//! One source, generic over instruction set ([`Simd`]) and precision; [`Precision::select`] picks the build once. No build fuses products and
//! sums, so that all give the same bits.
//!
//! This is the solver's only room with `unsafe`: reads of records by the indices in the lists. **Proof**: lists are made in `lists/`
//! alone, which asserts for every block that each index lies among the particles ([`BlockLists::fits`]); births, deaths and sorting throw them away
//! before the next pass, and each entry below asserts that the columns are as long as the lists were made for (offsets and speeds have one record more:
//! eight numbers are read at each, of which four are used). The instruction set was checked by
//! [`Isa::detect`].

mod search;
mod sums;
mod update;

pub use update::{Block, Sweep, Update};

use crate::lists::{BlockLists, Cells};
use crate::smoothing::Kernel;
use crate::solve::Residual;
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
type Force<R> = unsafe fn(&Weighting, &[[R; 4]], &[[R; 8]], usize, &BlockLists<R>, &mut [[R; 8]]);
type Gradient<R> = unsafe fn(&Weighting, &[[R; 4]], &[[R; 4]], usize, &BlockLists<R>, &mut [[R; 8]]);

type Rubbing<R> = unsafe fn(&Weighting, &[[R; 4]], &[[R; 4]], Rub, usize, &BlockLists<R>, &mut [[R; 8]]);

/// How strongly two neighbours rub against each other.
#[derive(Clone, Copy, Debug)]
pub struct Rub {
    /// Largest share of a slip that is taken away, over −m W'/x [m⁵/kg].
    pub most: f64,
    /// Impulse over mass and −m W', over the sum of the yield bounds over ρ² [s].
    pub cap: f64,
}

type Updating<R> = unsafe fn(&Update<'_>, Block<'_, R>) -> Residual;

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
    push: Force<R>,
    gradient: Gradient<R>,
    divergence: Gradient<R>,
    rub: Rubbing<R>,
    update: Updating<R>,
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
        offset: &[[R; 4]],
        sigma: &[[R; 8]],
        first: usize,
        lists: &BlockLists<R>,
        out: &mut [[R; 8]],
    ) {
        assert!(first + out.len() <= sigma.len() && lists.starts.len() == out.len() + 1 && offset.len() > sigma.len());
        // SAFETY: as above.
        unsafe { (self.force)(w, offset, sigma, first, lists, out) }
    }

    /// As [`Passes::force`] of a stress without shear, whose pressure is the first component of sigma.
    pub fn push(
        &self,
        w: &Weighting,
        offset: &[[R; 4]],
        sigma: &[[R; 8]],
        first: usize,
        lists: &BlockLists<R>,
        out: &mut [[R; 8]],
    ) {
        assert!(first + out.len() <= sigma.len() && lists.starts.len() == out.len() + 1 && offset.len() > sigma.len());
        // SAFETY: as above.
        unsafe { (self.push)(w, offset, sigma, first, lists, out) }
    }

    /// Σ sym[(v_j − v_i) ⊗ m∇W] of a block that begins at slot `first`.
    pub fn gradient(
        &self,
        w: &Weighting,
        offset: &[[R; 4]],
        speed: &[[R; 4]],
        first: usize,
        lists: &BlockLists<R>,
        out: &mut [[R; 8]],
    ) {
        assert!(first + out.len() < offset.len() && lists.starts.len() == out.len() + 1 && speed.len() == offset.len());
        // SAFETY: as above.
        unsafe { (self.gradient)(w, offset, speed, first, lists, out) }
    }

    /// Σ (v_j − v_i) · m∇W of a block that begins at slot `first`, the trace of [`Passes::gradient`].
    pub fn divergence(
        &self,
        w: &Weighting,
        offset: &[[R; 4]],
        speed: &[[R; 4]],
        first: usize,
        lists: &BlockLists<R>,
        out: &mut [[R; 8]],
    ) {
        assert!(first + out.len() < offset.len() && lists.starts.len() == out.len() + 1 && speed.len() == offset.len());
        // SAFETY: as above.
        unsafe { (self.divergence)(w, offset, speed, first, lists, out) }
    }

    /// Change of velocity by rubbing [m/s] of a block that begins at slot `first`. The last number of each record of speed is the yield bound over ρ².
    #[allow(clippy::too_many_arguments)]
    pub fn rub(
        &self,
        w: &Weighting,
        offset: &[[R; 4]],
        speed: &[[R; 4]],
        rub: Rub,
        first: usize,
        lists: &BlockLists<R>,
        out: &mut [[R; 8]],
    ) {
        assert!(first + out.len() < offset.len() && lists.starts.len() == out.len() + 1 && speed.len() == offset.len());
        // SAFETY: as above.
        unsafe { (self.rub)(w, offset, speed, rub, first, lists, out) }
    }

    /// New stresses of a block; returns how far the old ones were from their aim, with slots counted from the block's first.
    pub fn update(&self, update: &Update<'_>, block: Block<'_, R>) -> Residual {
        // SAFETY: the instruction set was checked by `Isa::detect`; the update itself has no unchecked access.
        unsafe { (self.update)(update, block) }
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
    p: &[[R; 4]],
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
unsafe fn plain_push<R: Real>(
    w: &Weighting,
    p: &[[R; 4]],
    s: &[[R; 8]],
    first: usize,
    l: &BlockLists<R>,
    out: &mut [[R; 8]],
) where
    Plain<R>: Simd<Real = R>,
{
    // SAFETY: as for the caller; plain code runs anywhere.
    unsafe { sums::push::<Plain<R>>(w, p, s, first, l, out) }
}

/// # Safety
/// See the head of the file.
unsafe fn plain_gradient<R: Real>(
    w: &Weighting,
    p: &[[R; 4]],
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
unsafe fn plain_divergence<R: Real>(
    w: &Weighting,
    p: &[[R; 4]],
    v: &[[R; 4]],
    first: usize,
    l: &BlockLists<R>,
    out: &mut [[R; 8]],
) where
    Plain<R>: Simd<Real = R>,
{
    // SAFETY: as for the caller; plain code runs anywhere.
    unsafe { sums::divergence::<Plain<R>>(w, p, v, first, l, out) }
}

/// # Safety
/// See the head of the file.
unsafe fn plain_rub<R: Real>(
    w: &Weighting,
    p: &[[R; 4]],
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

/// # Safety
/// None: plain code runs anywhere.
unsafe fn plain_update<R: Real>(u: &Update<'_>, block: Block<'_, R>) -> Residual
where
    Plain<R>: Simd<Real = R>,
{
    update::update::<Plain<R>>(u, block)
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
                p: &[[R; 4]],
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
            pub unsafe fn push<R: Real>(
                w: &Weighting,
                p: &[[R; 4]],
                s: &[[R; 8]],
                first: usize,
                l: &BlockLists<R>,
                out: &mut [[R; 8]],
            ) where
                $Lanes<R>: Simd<Real = R>,
            {
                // SAFETY: as for the caller.
                unsafe { sums::push::<$Lanes<R>>(w, p, s, first, l, out) }
            }

            /// # Safety
            /// See the head of the file; the processor has these features.
            #[target_feature(enable = $features)]
            pub unsafe fn gradient<R: Real>(
                w: &Weighting,
                p: &[[R; 4]],
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
            pub unsafe fn divergence<R: Real>(
                w: &Weighting,
                p: &[[R; 4]],
                v: &[[R; 4]],
                first: usize,
                l: &BlockLists<R>,
                out: &mut [[R; 8]],
            ) where
                $Lanes<R>: Simd<Real = R>,
            {
                // SAFETY: as for the caller.
                unsafe { sums::divergence::<$Lanes<R>>(w, p, v, first, l, out) }
            }

            /// # Safety
            /// See the head of the file; the processor has these features.
            #[target_feature(enable = $features)]
            pub unsafe fn rub<R: Real>(
                w: &Weighting,
                p: &[[R; 4]],
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

            /// # Safety
            /// The processor has these features.
            #[target_feature(enable = $features)]
            pub unsafe fn update<R: Real>(u: &Update<'_>, block: Block<'_, R>) -> Residual
            where
                $Lanes<R>: Simd<Real = R>,
            {
                super::update::update::<$Lanes<R>>(u, block)
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
                        push: avx512::push,
                        gradient: avx512::gradient,
                        divergence: avx512::divergence,
                        rub: avx512::rub,
                        update: avx512::update,
                    },
                    #[cfg(target_arch = "x86_64")]
                    Isa::Avx2 => Passes {
                        density: avx2::density,
                        force: avx2::force,
                        push: avx2::push,
                        gradient: avx2::gradient,
                        divergence: avx2::divergence,
                        rub: avx2::rub,
                        update: avx2::update,
                    },
                    _ => Passes {
                        density: plain_density,
                        force: plain_force,
                        push: plain_push,
                        gradient: plain_gradient,
                        divergence: plain_divergence,
                        rub: plain_rub,
                        update: plain_update,
                    },
                }
            }
        }
    };
}
precision!(f32);
precision!(f64);
