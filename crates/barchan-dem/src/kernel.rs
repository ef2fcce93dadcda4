//! The contact kernel: one batch of eight contacts from records to loads.
//!
//! Reads the records of all spheres; writes the loads of one block and the memory of that block's contacts. One source,
//! generic over instruction set ([`Simd`]) and precision; [`Kernels::select`] picks the build once. The law is a branch
//! per batch, always foreseen (`docs/decisions/0001-the-grain-step.md` has the measurement).
//!
//! This is the solver's only room with `unsafe`: unchecked access to records and loads by the indices in the batches.
//! **Proof**: batches are made in `lists.rs` alone, which asserts for every batch that `i` lies in the block and `j`
//! among the records ([`BlockLists::fits`]), and births, deaths and re-sorting throw the lists away before the next
//! pass. The instruction set was checked by [`Isa::detect`].

use crate::integrate::{self, Clock};
use crate::lists::{Batch, BlockLists, Rolls, WallBatch};
use crate::state::{Load, Record};
use barchan_core::contact::law::{Encounter, Memory, Reaction, react};
use barchan_core::contact::{ContactLaw, PairTable};
use barchan_core::simd::{Isa, Lanes, Mask, Plain, Real, Simd, Vec3, WIDTH};
use barchan_core::walls::{Wall, WallState};
use glam::DVec3;

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

/// A contact as read back by [`Probe`]: lanes as arrays.
pub struct Probed {
    /// Lanes that touch.
    pub touching: u32,
    pub normal: [[f64; WIDTH]; 3],
    pub overlap: [f64; WIDTH],
    pub press: [f64; WIDTH],
    pub traction: [[f64; WIDTH]; 3],
    pub energy: [f64; WIDTH],
}

/// One build of the kernel for observers: the contacts of a batch as they are, nothing changed.
pub struct Probe<R> {
    pub pairs: ProbeOf<R, Batch<R>>,
    pub walls: ProbeOf<R, WallBatch<R>>,
}

/// Reads one batch.
type ProbeOf<R, B> = fn(&Pass<'_, R>, &B, Option<&Rolls<R>>) -> Probed;

/// What a pair of spheres adds to the encounter: the arms to the contact point.
#[derive(Clone, Copy)]
struct Arms<V> {
    i: V,
    j: V,
}

/// Where eight pairs touch.
#[derive(Clone, Copy)]
struct Gap<V: Lanes> {
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
unsafe fn gap<S: Simd>(pass: &Pass<'_, S::Real>, i: &[u32; WIDTH], j: &[u32; WIDTH]) -> Option<Gap<S::V>> {
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
        let (s, dist) = (S::narrow(sum), S::narrow(square).sqrt());
        // One division for three reciprocals; the product is that of three lengths, far inside the range of f32.
        let both = s + dist;
        let whole = S::V::of(1.0) / (both * dist * s);
        let overlap = (excess * (whole * dist * s)).keep(touching);
        let inverse = whole * both * s;
        let (ri, rj) = (S::narrow(ri), S::narrow(rj));
        let radius = (ri * rj * (whole * both * dist)).keep(touching);
        // An empty lane has no direction and no distance: 0/0 must not reach later products.
        let normal = Vec3(S::narrow(d.0), S::narrow(d.1), S::narrow(d.2)).scale(inverse).keep(touching);
        Some(Gap { normal, overlap, ri, rj, radius, touching })
    }
}

/// Eight touching pairs as the law sees them.
#[inline(always)]
unsafe fn meet<S: Simd>(
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
unsafe fn row<S: Simd>(table: &PairTable<S::Real>, ti: S::V, tj: S::V) -> [S::V; 8] {
    let n = table.materials();
    let rows = table.rows();
    if n == 1 {
        return rows[0].0.map(S::V::splat);
    }
    let index = (ti * S::V::of(n as f64) + tj).to_array();
    // SAFETY: tags are material indices below n (`Dem::add` asserts it), so the row exists; a row is eight reals.
    unsafe { S::load8(index.map(|k| rows.as_ptr().add(k.tag() as usize).cast::<S::Real>())) }
}

#[inline(always)]
fn recall<V: Lanes>(slide: &[[V::Scalar; WIDTH]; 4], rolls: Option<&Rolls<V::Scalar>>) -> Memory<V> {
    let at = |k: usize| V::from_array(slide[k]);
    let (roll, twist) = match rolls {
        Some(r) => (Vec3(V::from_array(r.0[0]), V::from_array(r.0[1]), V::from_array(r.0[2])), V::from_array(r.0[3])),
        None => (Vec3::zero(), V::zero()),
    };
    Memory { slide: Vec3(at(0), at(1), at(2)), stiffness: at(3), roll, twist }
}

#[inline(always)]
fn keep<V: Lanes>(memory: &Memory<V>, slide: &mut [[V::Scalar; WIDTH]; 4], rolls: Option<&mut Rolls<V::Scalar>>) {
    *slide =
        [memory.slide.0.to_array(), memory.slide.1.to_array(), memory.slide.2.to_array(), memory.stiffness.to_array()];
    if let Some(r) = rolls {
        r.0 = [memory.roll.0.to_array(), memory.roll.1.to_array(), memory.roll.2.to_array(), memory.twist.to_array()];
    }
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
unsafe fn scatter<S: Simd>(columns: [S::V; 8], loads: *mut Load<S::Real>, first: u32, slots: &[u32; WIDTH]) {
    let rows = S::transpose(columns);
    for (k, row) in rows.into_iter().enumerate() {
        // SAFETY: the slot lies in the block, which owns its loads; a load is eight reals.
        unsafe { S::add8(loads.add((slots[k] - first) as usize).cast(), row) };
    }
}

/// Batches whose geometry is computed together: a processor cannot see past one batch's arithmetic to the next one's
/// loads, so the loads of all come first.
const TILE: usize = 8;

#[inline(always)]
unsafe fn pairs<S: Simd, const BOTH: bool>(
    pass: &Pass<'_, S::Real>,
    batches: &mut [Batch<S::Real>],
    rolls: &mut [Rolls<S::Real>],
    loads: *mut Load<S::Real>,
    first: u32,
    report: &mut Report,
) {
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
            let reaction = react(&pass.law, pass.rolling, &e, &mut memory, dt);
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

/// Eight wall contacts as the law sees them, with the arms to the contact points and the points.
type WallMeeting<V> = (Encounter<V>, V, [DVec3; WIDTH]);

/// Geometry of eight wall contacts, one by one in f64; `None` where none touches.
#[inline(always)]
fn meet_walls<S: Simd>(pass: &Pass<'_, S::Real>, batch: &WallBatch<S::Real>) -> Option<WallMeeting<S::V>> {
    let mut overlap = [0.0; WIDTH];
    let mut normal = [[0.0; WIDTH]; 3];
    let mut rough = [0.0; WIDTH];
    let mut any = false;
    for k in 0..batch.len as usize {
        let record = &pass.records[batch.i[k] as usize];
        let x = DVec3::new(record.place[0], record.place[1], record.place[2]);
        let w = batch.wall[k] as usize;
        let near = pass.walls[w].nearest(&pass.wall_states[w], batch.key[k], x);
        overlap[k] = record.place[3] - near.distance;
        for c in 0..3 {
            normal[c][k] = -near.normal[c];
        }
        rough[k] = near.radius;
        any |= overlap[k] > 0.0;
    }
    if !any {
        return None;
    }
    let mut own = [[S::Real::of(0.0); WIDTH]; 8];
    let mut row = [[S::Real::of(0.0); WIDTH]; 8];
    let mut velocity = [[0.0; WIDTH]; 3];
    let mut spin = [[0.0; WIDTH]; 3];
    let mut radius = [1.0; WIDTH];
    let mut arm = [0.0; WIDTH];
    let mut point = [DVec3::ZERO; WIDTH];
    for k in 0..batch.len as usize {
        if overlap[k] <= 0.0 {
            continue;
        }
        let record = &pass.records[batch.i[k] as usize];
        let r = record.place[3];
        let w = batch.wall[k] as usize;
        let (wall, state) = (&pass.walls[w], &pass.wall_states[w]);
        for c in 0..8 {
            own[c][k] = record.motion[c];
        }
        let values = pass.table.row(record.motion[7].tag(), u32::from(wall.material)).0;
        for c in 0..8 {
            row[c][k] = values[c];
        }
        let n = DVec3::new(normal[0][k], normal[1][k], normal[2][k]);
        arm[k] = r - 0.5 * overlap[k];
        point[k] = DVec3::new(record.place[0], record.place[1], record.place[2]) + n * arm[k];
        let v = wall.surface_velocity(state, point[k]);
        for c in 0..3 {
            velocity[c][k] = v[c];
            spin[c][k] = state.spin[c];
        }
        // A wall is flat to the grain; a rough wall's sphere is not.
        radius[k] = if rough[k] > 0.0 { r * rough[k] / (r + rough[k]) } else { r };
    }
    let narrow = |x: [f64; WIDTH]| S::V::from_array(x.map(S::Real::of));
    let lanes3 = |x: [[f64; WIDTH]; 3]| Vec3(narrow(x[0]), narrow(x[1]), narrow(x[2]));
    let own = own.map(S::V::from_array);
    let (n, arm) = (lanes3(normal), narrow(arm));
    let w = Vec3(own[3], own[4], own[5]);
    let overlap = narrow(overlap);
    let encounter = Encounter {
        normal: n,
        overlap,
        velocity: Vec3(own[0], own[1], own[2]).minus(lanes3(velocity)).plus(w.scale(arm).cross(n)),
        spin: w.minus(lanes3(spin)),
        radius: narrow(radius),
        mass: S::V::of(1.0) / own[6],
        row: row.map(S::V::from_array),
        touching: overlap.gt(S::V::zero()),
    };
    Some((encounter, arm, point))
}

#[inline(always)]
fn walls<S: Simd>(
    pass: &Pass<'_, S::Real>,
    batches: &mut [WallBatch<S::Real>],
    rolls: &mut [Rolls<S::Real>],
    loads: &mut [Load<S::Real>],
    first: u32,
    report: &mut Report,
) {
    let dt = S::V::of(pass.dt);
    for (b, batch) in batches.iter_mut().enumerate() {
        let Some((e, arm, point)) = meet_walls::<S>(pass, batch) else {
            if batch.touching != 0 {
                batch.forget();
                if let Some(rolls) = rolls.get_mut(b) {
                    *rolls = Rolls::default();
                }
            }
            continue;
        };
        let mut memory = recall::<S::V>(&batch.slide, rolls.get(b));
        let r = react(&pass.law, pass.rolling, &e, &mut memory, dt);
        keep(&memory, &mut batch.slide, rolls.get_mut(b));
        batch.touching = e.touching.bits();

        let force = r.traction.minus(e.normal.scale(r.press));
        let turn = e.normal.cross(r.traction).scale(arm).plus(r.couple);
        let one = S::V::of(1.0).keep(e.touching);
        let out = [force.0, force.1, force.2, turn.0, turn.1, turn.2, one, r.press].map(|c| c.to_array());
        let couple = [r.couple.0, r.couple.1, r.couple.2].map(|c| c.to_array());
        for k in (0..batch.len as usize).filter(|k| batch.touching >> k & 1 == 1) {
            let load = &mut loads[(batch.i[k] - first) as usize].0;
            for c in 0..8 {
                load[c] = S::Real::of(load[c].into() + out[c][k].into());
            }
            let w = batch.wall[k] as usize;
            let f = -DVec3::new(out[0][k].into(), out[1][k].into(), out[2][k].into());
            let c = DVec3::new(couple[0][k].into(), couple[1][k].into(), couple[2][k].into());
            report.walls[w].0 += f;
            report.walls[w].1 += (point[k] - pass.walls[w].pivot(&pass.wall_states[w])).cross(f) - c;
        }
        let limit = S::V::of(pass.max_overlap);
        let radius = arm + S::V::of(0.5) * e.overlap;
        let deep = e.overlap.gt(limit * radius).and(e.touching).bits();
        if deep != 0 {
            note_deep(&e.overlap.to_array(), &radius.to_array(), deep, &batch.i, |k| Met::Wall(batch.wall[k]), report);
        }
    }
}

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
    // SAFETY: the lists were checked against these records and this block when they were made.
    unsafe {
        pairs::<S, true>(pass, &mut lists.inner, &mut lists.inner_rolls, out, first, &mut report);
        pairs::<S, false>(pass, &mut lists.cross, &mut lists.cross_rolls, out, first, &mut report);
    }
    walls::<S>(pass, &mut lists.walls, &mut lists.wall_rolls, loads, first, &mut report);
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
    use barchan_core::simd::x86::Avx2;

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
    pub unsafe fn integrate<R: Real>(clock: &Clock<'_>, block: integrate::Block<'_, R>) -> f32 {
        integrate::block(clock, block)
    }

    /// The same vectors with twice the registers.
    ///
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
        Avx2<R>: Simd<Real = R>,
    {
        // SAFETY: as for the caller.
        unsafe { block::<Avx2<R>>(pass, lists, loads, first) }
    }
}

fn probed<V: Lanes>(e: &Encounter<V>, r: &Reaction<V>) -> Probed {
    let wide = |v: V| v.to_array().map(Into::into);
    Probed {
        touching: e.touching.bits(),
        normal: [wide(e.normal.0), wide(e.normal.1), wide(e.normal.2)],
        overlap: wide(e.overlap),
        press: wide(r.press),
        traction: [wide(r.traction.0), wide(r.traction.1), wide(r.traction.2)],
        energy: wide(r.energy),
    }
}

const NOTHING: Probed = Probed {
    touching: 0,
    normal: [[0.0; WIDTH]; 3],
    overlap: [0.0; WIDTH],
    press: [0.0; WIDTH],
    traction: [[0.0; WIDTH]; 3],
    energy: [0.0; WIDTH],
};

// Memory is kept half a step ahead of the forces: a step back of the same length reads the forces of now.
fn probe_pairs<R: Real>(pass: &Pass<'_, R>, batch: &Batch<R>, rolls: Option<&Rolls<R>>) -> Probed
where
    Plain<R>: Simd<Real = R>,
{
    type V<R> = <Plain<R> as Simd>::V;
    // SAFETY: the batch comes from lists that fit the records.
    let (e, _) = match unsafe { gap::<Plain<R>>(pass, &batch.i, &batch.j) } {
        // SAFETY: likewise.
        Some(gap) => unsafe { meet::<Plain<R>>(pass, &gap, &batch.i, &batch.j) },
        None => return NOTHING,
    };
    let mut memory = recall::<V<R>>(&batch.slide, rolls);
    let r = react(&pass.law, pass.rolling, &e, &mut memory, V::<R>::of(-pass.dt));
    probed(&e, &r)
}

fn probe_walls<R: Real>(pass: &Pass<'_, R>, batch: &WallBatch<R>, rolls: Option<&Rolls<R>>) -> Probed
where
    Plain<R>: Simd<Real = R>,
{
    type V<R> = <Plain<R> as Simd>::V;
    let Some((e, _, _)) = meet_walls::<Plain<R>>(pass, batch) else { return NOTHING };
    let mut memory = recall::<V<R>>(&batch.slide, rolls);
    let r = react(&pass.law, pass.rolling, &e, &mut memory, V::<R>::of(-pass.dt));
    probed(&e, &r)
}

/// One build of the integrator; see [`integrate::block`].
pub type Integrate<R> = unsafe fn(&Clock<'_>, integrate::Block<'_, R>) -> f32;

/// Forces of all contacts of one block.
pub fn contacts<R: Kernels>(
    kernel: BlockKernel<R>,
    pass: &Pass<'_, R>,
    lists: &mut BlockLists<R>,
    loads: &mut [Load<R>],
    first: u32,
) -> Report {
    // SAFETY: `kernel` comes from `Kernels::select` with an instruction set this processor has; the lists were checked
    // against these records and this block when they were built or read, and are thrown away when either changes.
    unsafe { kernel(pass, lists, loads, first) }
}

/// One step of the grains of one block.
pub fn advance<R: Kernels>(kernel: Integrate<R>, clock: &Clock<'_>, block: integrate::Block<'_, R>) -> f32 {
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
                    _ => integrate::block::<$r>,
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
