//! The contact kernel: batches of eight contacts from records to loads.
//!
//! Reads the records of all spheres; writes the loads of one block and the memory of that block's contacts. One source,
//! generic over instruction set ([`Simd`]) and precision; [`Kernels::select`] picks the build once. The law is a branch
//! per batch, always foreseen (`docs/decisions/0001-the-grain-step.md` has the measurement).
//!
//! `pairs.rs` has contacts of spheres, `walls.rs` those with walls, `probe.rs` what observers read; this file chooses builds.
//!
//! This is the solver's only room with `unsafe`: unchecked access to records and loads by the indices in the batches.
//! **Proof**: batches are made in `lists/` alone, which asserts for every batch that `i` lies in the block and `j`
//! among the records ([`BlockLists::fits`]). Deaths and re-sorting throw the lists away before the next pass. Births do too, or
//! they add rows behind all others, which leaves what was in range there, and pairs that are asserted one by one
//! (`lists/join.rs`), as are those of grains that were struck. The instruction set was checked by [`Isa::detect`].

mod pairs;
mod probe;
mod walls;

pub use probe::{Probe, Probed};

use crate::cell::Lattice;
use crate::integrate::{self, Clock};
use crate::lists::{BlockLists, Rolls};
use crate::state::{Load, Record};
use barchan_core::contact::law::Memory;
use barchan_core::contact::{ContactLaw, PairTable};
use barchan_core::simd::{Isa, Octet, Plain, Real, Simd, Vec3, WIDTH};
use barchan_core::walls::{Wall, WallState};
use glam::DVec3;
use pairs::{HERTZ_MINDLIN, pairs};
use probe::{probe_pairs, probe_walls};
use walls::walls;

/// What the pass over all blocks shares.
pub struct Pass<'a, R> {
    pub records: &'a [Record<R>],
    pub law: ContactLaw,
    /// Whether contacts resist rolling or twisting, and so keep [`Rolls`].
    pub rolling: bool,
    pub table: &'a PairTable<R>,
    pub walls: &'a [Wall],
    pub wall_states: &'a [WallState],
    /// Period in each direction [m], 0 where there is none.
    pub period: DVec3,
    /// The lattice of a periodic cell that is strained.
    pub lattice: Option<Lattice>,
    /// Time step [s].
    pub dt: f64,
    /// Overlap beyond this share of the smaller radius is reported.
    pub max_overlap: f64,
}

/// What one block reports of its pass.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// Deepest overlap beyond the limit: share of the smaller radius, sphere, and partner (sphere or wall).
    pub deep: Option<(f64, u32, Met)>,
    /// Force on each wall and torque about its pivot.
    pub walls: Vec<(DVec3, DVec3)>,
}

/// What a sphere met.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Met {
    /// Another sphere.
    Sphere(u32),
    /// A wall.
    Wall(u16),
}

/// One build of the kernel: all contacts of one block. `first` is the block's first sphere, whose load is `loads[0]`.
pub type BlockKernel<R> =
    unsafe fn(pass: &Pass<'_, R>, lists: &mut BlockLists<R>, loads: &mut [Load<R>], first: u32) -> Report;

#[inline(always)]
fn recall<V: Octet>(slide: &[[V::Scalar; WIDTH]; 4], rolls: Option<&Rolls<V::Scalar>>) -> Memory<V> {
    let at = |k: usize| V::from_array(slide[k]);
    let (roll, twist) = match rolls {
        Some(r) => (Vec3(V::from_array(r.0[0]), V::from_array(r.0[1]), V::from_array(r.0[2])), V::from_array(r.0[3])),
        None => (Vec3::zero(), V::zero()),
    };
    Memory { slide: Vec3(at(0), at(1), at(2)), stiffness: at(3), roll, twist }
}

#[inline(always)]
fn keep<V: Octet>(memory: &Memory<V>, slide: &mut [[V::Scalar; WIDTH]; 4], rolls: Option<&mut Rolls<V::Scalar>>) {
    *slide =
        [memory.slide.0.to_array(), memory.slide.1.to_array(), memory.slide.2.to_array(), memory.stiffness.to_array()];
    if let Some(r) = rolls {
        r.0 = [memory.roll.0.to_array(), memory.roll.1.to_array(), memory.roll.2.to_array(), memory.twist.to_array()];
    }
}

#[cold]
#[inline(never)]
fn note_deep<R: Real>(
    overlap: &[R; WIDTH],
    radius: &[R; WIDTH],
    deep: u32,
    i: &[u32; WIDTH],
    partner: impl Fn(usize) -> Met,
    report: &mut Report,
) {
    for k in (0..WIDTH).filter(|k| deep >> k & 1 == 1) {
        let share = overlap[k].into() / radius[k].into();
        if report.deep.is_none_or(|d| share > d.0) {
            report.deep = Some((share, i[k], partner(k)));
        }
    }
}

/// In worlds of more spheres than this the records of the block that comes next are asked for while this one is computed: they come
/// from memory, and would be waited for. In smaller ones asking takes longer than waiting for the cache.
const FAR: usize = 1 << 17;

/// The body of a [`BlockKernel`].
#[inline(always)]
unsafe fn block<S: Simd>(
    pass: &Pass<'_, S::Real>,
    lists: &mut BlockLists<S::Real>,
    loads: &mut [Load<S::Real>],
    first: u32,
) -> Report {
    let mut report = Report { deep: None, walls: vec![(DVec3::ZERO, DVec3::ZERO); pass.walls.len()] };
    loads.fill(Load::default());
    let out = loads.as_mut_ptr();
    let end = first as usize + loads.len();
    let far = if pass.records.len() > FAR { loads.len() } else { 0 };
    let next = &pass.records[end..(end + far).min(pass.records.len())];
    let BlockLists { inner, cross, .. } = lists;
    // SAFETY: the lists were checked against these records and this block when they were made.
    unsafe {
        if pass.law == HERTZ_MINDLIN && !pass.rolling {
            pairs::<S, true, true>(pass, inner, next, out, first, &mut report);
            pairs::<S, false, true>(pass, cross, &[], out, first, &mut report);
        } else {
            pairs::<S, true, false>(pass, inner, next, out, first, &mut report);
            pairs::<S, false, false>(pass, cross, &[], out, first, &mut report);
        }
        walls::<S>(pass, lists, loads, first, &mut report);
    }
    report
}

/// # Safety
/// The lists fit the records and the block.
unsafe fn plain<R: Real>(pass: &Pass<'_, R>, lists: &mut BlockLists<R>, loads: &mut [Load<R>], first: u32) -> Report
where
    Plain<R>: Simd<Real = R>,
{
    // SAFETY: as for the caller; plain code runs anywhere.
    unsafe { block::<Plain<R>>(pass, lists, loads, first) }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::*;
    use barchan_core::simd::x86::{Avx2, Avx512};

    /// # Safety
    /// The lists fit the records and the block; the processor has AVX2.
    #[target_feature(enable = "avx2")]
    pub unsafe fn avx2<R: Real>(
        pass: &Pass<'_, R>,
        lists: &mut BlockLists<R>,
        loads: &mut [Load<R>],
        first: u32,
    ) -> Report
    where
        Avx2<R>: Simd<Real = R>,
    {
        // SAFETY: as for the caller.
        unsafe { block::<Avx2<R>>(pass, lists, loads, first) }
    }

    /// # Safety
    /// The processor has AVX2.
    #[target_feature(enable = "avx2")]
    pub unsafe fn integrate<R: Real>(clock: &Clock<'_>, block: integrate::Block<'_, R>) -> bool
    where
        Avx2<R>: Simd<Real = R>,
    {
        integrate::block::<Avx2<R>>(clock, block)
    }

    /// # Safety
    /// The lists fit the records and the block; the processor has AVX-512VL and DQ.
    #[target_feature(enable = "avx2,avx512f,avx512vl,avx512dq")]
    pub unsafe fn avx512<R: Real>(
        pass: &Pass<'_, R>,
        lists: &mut BlockLists<R>,
        loads: &mut [Load<R>],
        first: u32,
    ) -> Report
    where
        Avx512<R>: Simd<Real = R>,
    {
        // SAFETY: as for the caller.
        unsafe { block::<Avx512<R>>(pass, lists, loads, first) }
    }
}

/// One build of the integrator; see [`integrate::block`].
pub type Integrate<R> = unsafe fn(&Clock<'_>, integrate::Block<'_, R>) -> bool;

/// Forces of all contacts of one block.
pub fn contacts<R: Kernels>(
    kernel: BlockKernel<R>,
    pass: &Pass<'_, R>,
    lists: &mut BlockLists<R>,
    loads: &mut [Load<R>],
    first: u32,
) -> Report {
    // SAFETY: `kernel` comes from `Kernels::select` with an instruction set this processor has; the lists were checked
    // against these records and this block when they were built or read, and hold for them still (head of the file).
    unsafe { kernel(pass, lists, loads, first) }
}

/// One step of the grains of one block; whether some grain has spent its budget.
pub fn advance<R: Kernels>(kernel: Integrate<R>, clock: &Clock<'_>, block: integrate::Block<'_, R>) -> bool {
    // SAFETY: `kernel` comes from `Kernels::integrator` with an instruction set this processor has.
    unsafe { kernel(clock, block) }
}

/// A precision the kernels are built in.
pub trait Kernels: Real {
    /// The build of the integrator for an instruction set.
    fn integrator(isa: Isa) -> Integrate<Self>;
    /// The contacts of a batch as they are, nothing changed.
    const PROBE: Probe<Self>;
    /// The build for an instruction set.
    fn select(isa: Isa) -> BlockKernel<Self>;
}

macro_rules! kernels {
    ($r:ty) => {
        impl Kernels for $r {
            const PROBE: Probe<$r> = Probe { pairs: probe_pairs::<$r>, walls: probe_walls::<$r> };
            fn integrator(isa: Isa) -> Integrate<$r> {
                match isa {
                    #[cfg(target_arch = "x86_64")]
                    Isa::Avx2 | Isa::Avx512 => x86::integrate::<$r>,
                    _ => integrate::block::<Plain<$r>>,
                }
            }
            fn select(isa: Isa) -> BlockKernel<$r> {
                match isa {
                    #[cfg(target_arch = "x86_64")]
                    Isa::Avx2 => x86::avx2::<$r>,
                    #[cfg(target_arch = "x86_64")]
                    Isa::Avx512 => x86::avx512::<$r>,
                    _ => plain::<$r>,
                }
            }
        }
    };
}
kernels!(f32);
kernels!(f64);
