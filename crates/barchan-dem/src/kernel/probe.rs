//! What observers read: the contacts of a batch as they are, by the plain build of the same kernel; nothing is changed.

use super::pairs::{encounter, ends, gap, motion};
use super::walls::{WallMeeting, meet_walls};
use super::{Pass, recall};
use crate::lists::{Batch, Rolls, WallBatch};
use barchan_core::contact::law::{Encounter, Memory, Reaction, react};
use barchan_core::simd::{Lanes, Mask, Octet, Plain, PlainLanes, Real, Simd, WIDTH};

/// A contact as read back by [`Probe`]: lanes as arrays.
pub struct Probed {
    /// Lanes that touch.
    pub touching: u32,
    pub normal: [[f64; WIDTH]; 3],
    pub overlap: [f64; WIDTH],
    pub press: [f64; WIDTH],
    pub traction: [[f64; WIDTH]; 3],
    pub energy: [f64; WIDTH],
    /// Stretch of the tangential spring.
    pub slide: [[f64; WIDTH]; 3],
}

/// One build of the kernel for observers: the contacts of a batch as they are, nothing changed.
pub struct Probe<R> {
    pub pairs: ProbeOf<R, Batch<R>>,
    pub walls: ProbeOf<R, WallBatch<R>>,
}

/// Reads one batch.
type ProbeOf<R, B> = fn(&Pass<'_, R>, &B, Option<&Rolls<R>>) -> Probed;

fn probed<V: Octet>(e: &Encounter<V>, r: &Reaction<V>, memory: &Memory<V>) -> Probed {
    let wide = |v: V| v.to_array().map(Into::into);
    Probed {
        touching: e.touching.bits(),
        normal: [wide(e.normal.0), wide(e.normal.1), wide(e.normal.2)],
        overlap: wide(e.overlap),
        press: wide(r.press),
        traction: [wide(r.traction.0), wide(r.traction.1), wide(r.traction.2)],
        energy: wide(r.energy),
        slide: [wide(memory.slide.0), wide(memory.slide.1), wide(memory.slide.2)],
    }
}

const NOTHING: Probed = Probed {
    touching: 0,
    normal: [[0.0; WIDTH]; 3],
    overlap: [0.0; WIDTH],
    press: [0.0; WIDTH],
    traction: [[0.0; WIDTH]; 3],
    energy: [0.0; WIDTH],
    slide: [[0.0; WIDTH]; 3],
};

// Memory is kept half a step ahead of the forces: a step back of the same length reads the forces of now.
pub(super) fn probe_pairs<R: Real>(pass: &Pass<'_, R>, batch: &Batch<R>, rolls: Option<&Rolls<R>>) -> Probed
where
    Plain<R>: Simd<Real = R, V = PlainLanes<R>, W = PlainLanes<R>>,
    PlainLanes<R>: Octet<Scalar = R>,
{
    let ends = ends::<Plain<R>>(std::slice::from_ref(batch));
    // SAFETY: the batch comes from lists that fit the records.
    let Some(gap) = (unsafe { gap::<Plain<R>>(pass, ends) }) else {
        return NOTHING;
    };
    // SAFETY: likewise.
    let e = unsafe { encounter::<Plain<R>>(pass.table, &gap, &motion::<Plain<R>>(pass, &gap, ends)) };
    let mut memory = recall::<PlainLanes<R>>(&batch.slide, rolls);
    let r = react(&pass.law, pass.rolling, &e, &mut memory, PlainLanes::of(-pass.dt));
    probed(&e, &r, &memory)
}

pub(super) fn probe_walls<R: Real>(pass: &Pass<'_, R>, batch: &WallBatch<R>, rolls: Option<&Rolls<R>>) -> Probed
where
    Plain<R>: Simd<Real = R, V = PlainLanes<R>, W = PlainLanes<R>>,
    PlainLanes<R>: Octet<Scalar = R>,
{
    // SAFETY: the batch comes from lists that fit the records.
    let Some(WallMeeting { encounter: e, .. }) = (unsafe { meet_walls::<Plain<R>>(pass, batch) }) else {
        return NOTHING;
    };
    let mut memory = recall::<PlainLanes<R>>(&batch.slide, rolls);
    let r = react(&pass.law, pass.rolling, &e, &mut memory, PlainLanes::of(-pass.dt));
    probed(&e, &r, &memory)
}
