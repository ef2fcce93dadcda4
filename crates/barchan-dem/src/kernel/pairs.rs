//! Contacts of spheres with spheres: from eight pairs of records to sixteen loads.

use super::{Met, Pass, Report, keep, note_deep, recall};
use crate::lists::{Batch, Rolls};
use crate::state::Load;
use barchan_core::contact::law::{Encounter, Reaction, react};
use barchan_core::contact::{ContactLaw, NormalLaw, PairTable, TangentialLaw};
use barchan_core::simd::{Lanes, Mask, Real, Simd, Vec3, WIDTH};
use glam::DVec3;

/// What a pair of spheres adds to the encounter: the arms to the contact point.
#[derive(Clone, Copy)]
pub(super) struct Arms<V> {
    pub i: V,
    pub j: V,
}

/// Where eight pairs touch.
#[derive(Clone, Copy)]
pub(super) struct Gap<V: Lanes> {
    normal: Vec3<V>,
    overlap: V,
    ri: V,
    rj: V,
    /// R* [m].
    radius: V,
    touching: V::Mask,
}

/// Geometry of eight pairs; `None` where none of them touches.
#[inline(always)]
pub(super) unsafe fn gap<S: Simd>(pass: &Pass<'_, S::Real>, i: &[u32; WIDTH], j: &[u32; WIDTH]) -> Option<Gap<S::V>> {
    // SAFETY: indices are below `records.len()`, see the head of the file.
    unsafe {
        let base = pass.records.as_ptr();
        let place = |k: u32| base.add(k as usize).cast::<f64>();
        let [xi, yi, zi, ri] = S::load4(i.map(place));
        let [xj, yj, zj, rj] = S::load4(j.map(place));
        let mut d = Vec3(xj - xi, yj - yi, zj - zi);
        if pass.period != DVec3::ZERO {
            d = nearest_image(d, pass.period);
        }
        // The overlap s − d is a small difference of large numbers. As (s² − d²)/(s + d) only the difference needs f64;
        // the root and the quotient keep a relative error of the working precision.
        let (sum, square) = (ri + rj, d.dot(d));
        let excess = sum * sum - square;
        if !excess.gt(S::D::zero()).any() {
            return None;
        }
        let excess = S::narrow(excess);
        let touching = excess.gt(S::V::zero()).and(S::differ(i, j));
        if !touching.any() {
            return None;
        }
        let (ri, rj) = (S::narrow(ri), S::narrow(rj));
        let (s, dist) = (ri + rj, S::narrow(square).sqrt());
        // One division for three reciprocals; the product is that of three lengths, far inside the range of f32.
        let both = s + dist;
        let whole = S::V::of(1.0) / (both * dist * s);
        let overlap = (excess * (whole * dist * s)).keep(touching);
        let inverse = whole * both * s;
        let radius = (ri * rj * (whole * both * dist)).keep(touching);
        // An empty lane has no direction and no distance: 0/0 must not reach later products.
        let normal = Vec3(S::narrow(d.0), S::narrow(d.1), S::narrow(d.2)).scale(inverse).keep(touching);
        Some(Gap { normal, overlap, ri, rj, radius, touching })
    }
}

/// Eight touching pairs as the law sees them.
#[inline(always)]
pub(super) unsafe fn meet<S: Simd>(
    pass: &Pass<'_, S::Real>,
    gap: &Gap<S::V>,
    i: &[u32; WIDTH],
    j: &[u32; WIDTH],
) -> (Encounter<S::V>, Arms<S::V>) {
    // SAFETY: indices are below `records.len()`, see the head of the file.
    unsafe {
        let base = pass.records.as_ptr();
        let motion = |k: u32| (&raw const (*base.add(k as usize)).motion).cast::<S::Real>();
        let [vxi, vyi, vzi, wxi, wyi, wzi, mi, ti] = S::load8(i.map(motion));
        let [vxj, vyj, vzj, wxj, wyj, wzj, mj, tj] = S::load8(j.map(motion));
        let row = row::<S>(pass.table, ti, tj);
        let Gap { normal, overlap, ri, rj, radius, touching } = *gap;
        // The contact point lies half an overlap inside both, so that arms add up to the distance and angular momentum
        // is kept.
        let half = S::V::of(0.5) * overlap;
        let arms = Arms { i: ri - half, j: rj - half };
        let (wi, wj) = (Vec3(wxi, wyi, wzi), Vec3(wxj, wyj, wzj));
        let velocity =
            Vec3(vxi - vxj, vyi - vyj, vzi - vzj).plus(wi.scale(arms.i).plus(wj.scale(arms.j)).cross(normal));
        let encounter = Encounter {
            normal,
            overlap,
            velocity,
            spin: wi.minus(wj),
            radius,
            mass: S::V::of(1.0) / (mi + mj),
            row,
            touching,
        };
        (encounter, arms)
    }
}

/// d − L round(d/L). Rounding is by the magic-number sum, exact for the small multiples that occur.
#[inline(always)]
fn nearest_image<D: Lanes<Scalar = f64>>(d: Vec3<D>, period: DVec3) -> Vec3<D> {
    #[inline(always)]
    fn one<D: Lanes<Scalar = f64>>(d: D, period: f64) -> D {
        if period == 0.0 {
            return d;
        }
        let magic = D::splat(6_755_399_441_055_744.0); // 1.5 · 2⁵²
        let turns = (d * D::splat(1.0 / period) + magic) - magic;
        d - turns * D::splat(period)
    }
    Vec3(one(d.0, period.x), one(d.1, period.y), one(d.2, period.z))
}

/// Rows of the pair table for eight pairs of materials.
#[inline(always)]
pub(super) unsafe fn row<S: Simd>(table: &PairTable<S::Real>, ti: S::V, tj: S::V) -> [S::V; 8] {
    let n = table.materials();
    let rows = table.rows();
    if n == 1 {
        return rows[0].0.map(S::V::splat);
    }
    let index = (ti * S::V::of(n as f64) + tj).to_array();
    // SAFETY: tags are material indices below n (`Dem::add` asserts it), so the row exists; a row is eight reals.
    unsafe { S::load8(index.map(|k| rows.as_ptr().add(k.tag() as usize).cast::<S::Real>())) }
}

/// What eight contacts do, ready to be added to loads.
#[derive(Clone, Copy)]
struct Push<V> {
    on_i: [V; 8],
    on_j: [V; 8],
}

#[inline(always)]
fn push<V: Lanes>(e: &Encounter<V>, arms: &Arms<V>, r: &Reaction<V>) -> Push<V> {
    let one = V::of(1.0).keep(e.touching);
    let force = r.traction.minus(e.normal.scale(r.press));
    let turning = e.normal.cross(r.traction);
    let turn_i = turning.scale(arms.i).plus(r.couple);
    let turn_j = turning.scale(arms.j).minus(r.couple);
    Push {
        on_i: [force.0, force.1, force.2, turn_i.0, turn_i.1, turn_i.2, one, r.press],
        on_j: [-force.0, -force.1, -force.2, turn_j.0, turn_j.1, turn_j.2, one, r.press],
    }
}

/// Adds to the loads of eight spheres, one after the other: some may be the same.
#[inline(always)]
pub(super) unsafe fn scatter<S: Simd>(columns: [S::V; 8], loads: *mut Load<S::Real>, first: u32, slots: &[u32; WIDTH]) {
    let rows = S::transpose(columns);
    // By index, not by value: an array's iterator would take the rows through memory.
    for k in 0..WIDTH {
        // SAFETY: the slot lies in the block, which owns its loads; a load is eight reals.
        unsafe { S::add8(loads.add((slots[k] - first) as usize).cast(), rows[k]) };
    }
}

/// The law most scenes have is compiled in; any other is a branch per batch.
pub(super) const HERTZ_MINDLIN: ContactLaw =
    ContactLaw { normal: NormalLaw::Hertz, tangential: TangentialLaw::Mindlin };

/// Batches whose geometry is computed together: a processor cannot see past one batch's arithmetic to the next one's
/// loads, so the loads of all come first.
const TILE: usize = 8;

#[inline(always)]
pub(super) unsafe fn pairs<S: Simd, const BOTH: bool, const USUAL: bool>(
    pass: &Pass<'_, S::Real>,
    batches: &mut [Batch<S::Real>],
    rolls: &mut [Rolls<S::Real>],
    loads: *mut Load<S::Real>,
    first: u32,
    report: &mut Report,
) {
    let (law, rolling) = if USUAL { (HERTZ_MINDLIN, false) } else { (pass.law, pass.rolling) };
    let dt = S::V::of(pass.dt);
    let limit = S::V::of(pass.max_overlap);
    let zero = S::V::zero();
    let none = zero.gt(zero);
    let mut gaps =
        [Gap { normal: Vec3::zero(), overlap: zero, ri: zero, rj: zero, radius: zero, touching: none }; TILE];
    for (t, tile) in batches.chunks_mut(TILE).enumerate() {
        let mut touched = 0u32;
        for (k, batch) in tile.iter_mut().enumerate() {
            // SAFETY: as for the caller.
            if let Some(found) = unsafe { gap::<S>(pass, &batch.i, &batch.j) } {
                gaps[k] = found;
                touched |= 1 << k;
            } else if batch.touching != 0 {
                batch.forget();
                if let Some(rolls) = rolls.get_mut(t * TILE + k) {
                    *rolls = Rolls::default();
                }
            }
        }
        for (k, batch) in tile.iter_mut().enumerate().filter(|(k, _)| touched >> k & 1 == 1) {
            // SAFETY: as for the caller.
            let (e, arms) = unsafe { meet::<S>(pass, &gaps[k], &batch.i, &batch.j) };
            let mut memory = recall::<S::V>(&batch.slide, rolls.get(t * TILE + k));
            let reaction = react(&law, rolling, &e, &mut memory, dt);
            keep(&memory, &mut batch.slide, rolls.get_mut(t * TILE + k));
            batch.touching = e.touching.bits();
            let push = push(&e, &arms, &reaction);
            // SAFETY: i lies in the block, and so does j where BOTH.
            unsafe {
                scatter::<S>(push.on_i, loads, first, &batch.i);
                if BOTH {
                    scatter::<S>(push.on_j, loads, first, &batch.j);
                }
            }
            let least = gaps[k].ri.min(gaps[k].rj);
            let deep = e.overlap.gt(limit * least).and(e.touching).bits();
            if deep != 0 {
                note_deep(
                    &e.overlap.to_array(),
                    &least.to_array(),
                    deep,
                    &batch.i,
                    |k| Met::Sphere(batch.j[k]),
                    report,
                );
            }
        }
    }
}
