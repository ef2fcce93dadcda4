//! Contacts of spheres with spheres: from pairs of records to loads, as many batches at once as a register takes.

use super::{Met, Pass, Report, keep, note_deep, recall};
use crate::cell::Lattice;
use crate::lists::{Batch, Pairs, Rolls};
use crate::state::{Load, Record};
use barchan_core::contact::law::{Encounter, Memory, Reaction, react};
use barchan_core::contact::{ContactLaw, PairTable};
use barchan_core::simd::{Lanes, Mask, Octet, Real, Simd, Vec3, WIDTH};
use glam::DVec3;

/// What a pair of spheres adds to the encounter: the arms to the contact point.
#[derive(Clone, Copy)]
pub(super) struct Arms<V> {
    pub i: V,
    pub j: V,
}

/// Both ends of the pairs of batches that go through the law together; the same twice where one goes alone.
pub(super) type Ends<'a> = [(&'a [u32; WIDTH], &'a [u32; WIDTH]); 2];

/// Where pairs touch.
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

/// How eight pairs lie, the difference that the overlap comes from still in double.
#[derive(Clone, Copy)]
struct Offset<S: Simd> {
    d: Vec3<S::D>,
    ri: S::D,
    rj: S::D,
    square: S::D,
    excess: S::D,
    differ: <S::V as Lanes>::Mask,
}

#[inline(always)]
unsafe fn offset<S: Simd>(pass: &Pass<'_, S::Real>, (i, j): (&[u32; WIDTH], &[u32; WIDTH])) -> Offset<S> {
    // SAFETY: indices are below `records.len()`, see the head of the file.
    unsafe {
        let base = pass.records.as_ptr();
        let place = |k: u32| base.add(k as usize).cast::<f64>();
        let [xi, yi, zi, ri] = S::load4(i.map(place));
        let [xj, yj, zj, rj] = S::load4(j.map(place));
        let mut d = Vec3(xj - xi, yj - yi, zj - zi);
        if pass.period != DVec3::ZERO {
            if let Some(lattice) = &pass.lattice {
                d = nearest_in_lattice(d, pass.period, lattice).0;
            } else {
                d = nearest_image(d, pass.period);
            }
        }
        // The overlap s − d is a small difference of large numbers. As (s² − d²)/(s + d) only the difference needs f64;
        // the root and the quotient keep a relative error of the working precision.
        let (sum, square) = (ri + rj, d.dot(d));
        Offset { d, ri, rj, square, excess: sum * sum - square, differ: S::differ(i, j) }
    }
}

/// Geometry of the pairs that go together; `None` where none of them touches.
#[inline(always)]
pub(super) unsafe fn gap<S: Simd>(pass: &Pass<'_, S::Real>, ends: Ends<'_>) -> Option<Gap<S::W>> {
    // SAFETY: as for the caller.
    let (a, b) = unsafe {
        let a = offset::<S>(pass, ends[0]);
        (a, if S::TOGETHER == 2 { offset::<S>(pass, ends[1]) } else { a })
    };
    let zero = S::D::zero();
    if !a.excess.gt(zero).any() && (S::TOGETHER == 1 || !b.excess.gt(zero).any()) {
        return None;
    }
    let excess = narrow::<S>(a.excess, b.excess);
    let touching = excess.gt(S::W::zero()).and(S::join_masks([a.differ, b.differ]));
    if !touching.any() {
        return None;
    }
    let (ri, rj) = (narrow::<S>(a.ri, b.ri), narrow::<S>(a.rj, b.rj));
    let (s, dist) = (ri + rj, narrow::<S>(a.square, b.square).sqrt());
    // One division for three reciprocals; the product is that of three lengths, far inside the range of f32.
    let both = s + dist;
    let whole = S::W::of(1.0) / (both * dist * s);
    let overlap = (excess * (whole * dist * s)).keep(touching);
    let inverse = whole * both * s;
    let radius = (ri * rj * (whole * both * dist)).keep(touching);
    let d = Vec3(narrow::<S>(a.d.0, b.d.0), narrow::<S>(a.d.1, b.d.1), narrow::<S>(a.d.2, b.d.2));
    // An empty lane has no direction and no distance: 0/0 must not reach later products.
    let normal = d.scale(inverse).keep(touching);
    Some(Gap { normal, overlap, ri, rj, radius, touching })
}

#[inline(always)]
fn narrow<S: Simd>(a: S::D, b: S::D) -> S::W {
    S::join([S::narrow(a), S::narrow(b)])
}

/// How pairs move.
#[derive(Clone, Copy)]
pub(super) struct Motion<V> {
    /// Velocity of *i* relative to *j* at the contact point [m/s].
    velocity: Vec3<V>,
    /// Spin of *i* relative to *j* [rad/s].
    spin: Vec3<V>,
    /// Spin of *i* [rad/s].
    own_spin: Vec3<V>,
    /// 1/m of *i* and *j* together [1/kg].
    inverse_mass: V,
    /// Places of the rows in the table of pairs of materials.
    row: V,
}

impl<V: Lanes> Gap<V> {
    /// The contact point lies half an overlap inside both, so that arms add up to the distance and angular momentum is kept.
    #[inline(always)]
    fn arms(&self) -> Arms<V> {
        let half = V::of(0.5) * self.overlap;
        Arms { i: self.ri - half, j: self.rj - half }
    }
}

/// Reads how touching pairs move.
#[inline(always)]
pub(super) unsafe fn motion<S: Simd>(pass: &Pass<'_, S::Real>, gap: &Gap<S::W>, [a, b]: Ends<'_>) -> Motion<S::W> {
    // SAFETY: indices are below `records.len()`, see the head of the file.
    unsafe {
        let base = pass.records.as_ptr();
        let motion = |k: u32| (&raw const (*base.add(k as usize)).motion).cast::<S::Real>();
        let [vxi, vyi, vzi, wxi, wyi, wzi, mi, ti] = S::load8_together([a.0.map(motion), b.0.map(motion)]);
        let [vxj, vyj, vzj, wxj, wyj, wzj, mj, tj] = S::load8_together([a.1.map(motion), b.1.map(motion)]);
        let arms = gap.arms();
        let (wi, wj) = (Vec3(wxi, wyi, wzi), Vec3(wxj, wyj, wzj));
        let turning = wi.scale(arms.i).plus(wj.scale(arms.j)).cross(gap.normal);
        let mut velocity = Vec3(vxi - vxj, vyi - vyj, vzi - vzj);
        if let Some(lattice) = &pass.lattice {
            let first = image_velocity::<S>(pass, a, lattice);
            let second = if S::TOGETHER == 2 { image_velocity::<S>(pass, b, lattice) } else { first };
            velocity = velocity.plus(join::<S>(first, second));
        }
        Motion {
            velocity: velocity.plus(turning),
            spin: wi.minus(wj),
            own_spin: wi,
            inverse_mass: mi + mj,
            row: ti * S::W::of(pass.table.materials() as f64) + tj,
        }
    }
}

/// Touching pairs as the law sees them.
#[inline(always)]
pub(super) unsafe fn encounter<S: Simd>(
    table: &PairTable<S::Real>,
    gap: &Gap<S::W>,
    motion: &Motion<S::W>,
) -> Encounter<S::W> {
    Encounter {
        normal: gap.normal,
        overlap: gap.overlap,
        velocity: motion.velocity,
        spin: motion.spin,
        own_spin: motion.own_spin,
        radius: gap.radius,
        mass: S::W::of(1.0) / motion.inverse_mass,
        // SAFETY: as for the caller.
        row: unsafe { rows::<S>(table, motion.row) },
        touching: gap.touching,
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

/// d/L to the nearest whole number.
#[inline(always)]
fn turns<D: Lanes<Scalar = f64>>(d: D, period: f64) -> D {
    let magic = D::splat(6_755_399_441_055_744.0); // 1.5 · 2⁵²
    (d * D::splat(1.0 / period) + magic) - magic
}

/// d less the nearest vector of the lattice, and how many times the vectors a, b, c are in that.
#[inline(always)]
fn nearest_in_lattice<D: Lanes<Scalar = f64>>(d: Vec3<D>, sides: DVec3, lattice: &Lattice) -> (Vec3<D>, Vec3<D>) {
    let z = turns(d.2, sides.z);
    let x = d.0 - z * D::splat(lattice.offset);
    let (nx, ny) = (turns(x, sides.x), turns(d.1, sides.y));
    let near = Vec3(x - nx * D::splat(sides.x), d.1 - ny * D::splat(sides.y), d.2 - z * D::splat(sides.z));
    (near, Vec3(nx, ny, z))
}

/// Velocity that images of *j* lack beside those that are near *i*: n_a ȧ + n_b ḃ + n_c ċ.
///
/// # Safety
/// Indices are below `records.len()`.
#[inline(always)]
unsafe fn image_velocity<S: Simd>(
    pass: &Pass<'_, S::Real>,
    (i, j): (&[u32; WIDTH], &[u32; WIDTH]),
    lattice: &Lattice,
) -> Vec3<S::V> {
    // SAFETY: as for the caller.
    let d = unsafe {
        let base = pass.records.as_ptr();
        let place = |k: u32| base.add(k as usize).cast::<f64>();
        let [xi, yi, zi, _] = S::load4(i.map(place));
        let [xj, yj, zj, _] = S::load4(j.map(place));
        Vec3(xj - xi, yj - yi, zj - zi)
    };
    let (_, n) = nearest_in_lattice(d, pass.period, lattice);
    let wide = |v: DVec3| Vec3(S::D::splat(v.x), S::D::splat(v.y), S::D::splat(v.z));
    let [a, b, c] = lattice.rates;
    let v = wide(a).scale(n.0).plus(wide(b).scale(n.1)).plus(wide(c).scale(n.2));
    Vec3(S::narrow(v.0), S::narrow(v.1), S::narrow(v.2))
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

/// As [`row`], for the pairs that go together, by the rows' places.
#[inline(always)]
unsafe fn rows<S: Simd>(table: &PairTable<S::Real>, places: S::W) -> [S::W; 8] {
    if table.materials() == 1 {
        let [a, b, c, d, e, f, g, h] = table.rows()[0].0;
        let splat = S::W::splat;
        return [splat(a), splat(b), splat(c), splat(d), splat(e), splat(f), splat(g), splat(h)];
    }
    let places = S::split(places);
    // SAFETY: as in `row`.
    unsafe {
        let at = |k: S::Real| table.rows().as_ptr().add(k.tag() as usize).cast::<S::Real>();
        S::load8_together([places[0].to_array().map(at), places[1].to_array().map(at)])
    }
}

/// What contacts do, ready to be added to loads.
#[derive(Clone, Copy)]
struct Push<V> {
    on_i: [V; 8],
    /// Couple on *j*.
    turn_j: Vec3<V>,
}

impl<V: Lanes> Push<V> {
    #[inline(always)]
    fn on_j(&self) -> [V; 8] {
        let [fx, fy, fz, _, _, _, one, press] = self.on_i;
        [-fx, -fy, -fz, self.turn_j.0, self.turn_j.1, self.turn_j.2, one, press]
    }
}

#[inline(always)]
fn push<V: Lanes>(e: &Encounter<V>, arms: &Arms<V>, r: &Reaction<V>) -> Push<V> {
    let one = V::of(1.0).keep(e.touching);
    let force = r.traction.minus(e.normal.scale(r.press));
    let turning = e.normal.cross(r.traction);
    let turn_i = turning.scale(arms.i).plus(r.couple);
    Push {
        on_i: [force.0, force.1, force.2, turn_i.0, turn_i.1, turn_i.2, one, r.press],
        turn_j: turning.scale(arms.j).plus(r.couple_j),
    }
}

/// Adds to the loads of eight spheres, one after the other: some may be the same.
#[inline(always)]
pub(super) unsafe fn scatter<S: Simd>(rows: &[S::V; 8], loads: *mut Load<S::Real>, first: u32, slots: &[u32; WIDTH]) {
    // Where the load of the first of all spheres would be: one subtraction less a sphere.
    let loads = loads.wrapping_sub(first as usize);
    // By index, not by value: an array's iterator would take the rows through memory.
    for k in 0..WIDTH {
        // SAFETY: the slot lies in the block, which owns its loads; a load is eight reals.
        unsafe { S::add8(loads.wrapping_add(slots[k] as usize).cast(), rows[k]) };
    }
}

/// The law most scenes have is compiled in; any other is a branch per batch.
pub(super) const HERTZ_MINDLIN: ContactLaw = ContactLaw::HERTZ_MINDLIN;

/// Groups of batches that go through the phases together: where they are, how they move, what they do, the sums. A processor cannot see
/// past one group's loads and sums to the next one's arithmetic, whose roots and divisions wait for each other; phase by phase it
/// can.
const TILE: usize = 8;

/// What batches that go together remember.
#[inline(always)]
fn recall_all<S: Simd>(group: &[Batch<S::Real>], rolls: &[Rolls<S::Real>]) -> Memory<S::W> {
    let a = recall::<S::V>(&group[0].slide, rolls.first());
    let b = if S::TOGETHER == 2 { recall::<S::V>(&group[1].slide, rolls.get(1)) } else { a };
    Memory {
        slide: join::<S>(a.slide, b.slide),
        stiffness: S::join([a.stiffness, b.stiffness]),
        roll: join::<S>(a.roll, b.roll),
        twist: S::join([a.twist, b.twist]),
    }
}

/// One batch's share of what is remembered.
#[inline(always)]
fn share<S: Simd>(memory: &Memory<S::W>, k: usize) -> Memory<S::V> {
    Memory {
        slide: part::<S>(memory.slide, k),
        stiffness: S::split(memory.stiffness)[k],
        roll: part::<S>(memory.roll, k),
        twist: S::split(memory.twist)[k],
    }
}

// Functions, not closures, which would not inherit the caller's instruction set.
#[inline(always)]
fn join<S: Simd>(a: Vec3<S::V>, b: Vec3<S::V>) -> Vec3<S::W> {
    Vec3(S::join([a.0, b.0]), S::join([a.1, b.1]), S::join([a.2, b.2]))
}

#[inline(always)]
fn part<S: Simd>(v: Vec3<S::W>, k: usize) -> Vec3<S::V> {
    Vec3(S::split(v.0)[k], S::split(v.1)[k], S::split(v.2)[k])
}

/// All pairs of a list; meanwhile the records in `next` are asked for. A last batch without a partner goes with one in which nothing
/// meets.
#[inline(always)]
pub(super) unsafe fn pairs<S: Simd, const BOTH: bool, const USUAL: bool>(
    pass: &Pass<'_, S::Real>,
    list: &mut Pairs<S::Real>,
    next: &[Record<S::Real>],
    loads: *mut Load<S::Real>,
    first: u32,
    report: &mut Report,
) {
    let (law, rolling) = if USUAL { (HERTZ_MINDLIN, false) } else { (pass.law, pass.rolling) };
    let dt = S::W::of(pass.dt);
    let limit = S::W::of(pass.max_overlap);
    let zero = S::W::zero();
    let none = zero.gt(zero);
    let mut gaps =
        [Gap { normal: Vec3::zero(), overlap: zero, ri: zero, rj: zero, radius: zero, touching: none }; TILE];
    let mut motions =
        [Motion { velocity: Vec3::zero(), spin: Vec3::zero(), own_spin: Vec3::zero(), inverse_mass: zero, row: zero };
            TILE];
    let mut pushes = [Push { on_i: [zero; 8], turn_j: Vec3::zero() }; TILE];
    let Pairs { batches, rolls, touching } = list;
    let whole = batches.len() / S::TOGETHER * S::TOGETHER;
    let (batches, left) = batches.split_at_mut(whole);
    let (touching, left_touching) = touching.split_at_mut(whole);
    let (rolls, left_rolls) = rolls.split_at_mut(if rolling { whole } else { 0 });
    let mut pair = [left.first().copied().unwrap_or_else(|| Batch::empty(first)), Batch::empty(first)];
    let mut pair_touching = [left_touching.first().copied().unwrap_or_default(), 0];
    let mut pair_rolls = [left_rolls.first().copied().unwrap_or_default(), Rolls::default()];
    let rest = if left.is_empty() { 0 } else { 2 };
    let mut next = next.chunks((next.len() * TILE * S::TOGETHER).div_ceil(whole.max(1)).max(1));
    let parts = [(batches, rolls, touching), (&mut pair[..rest], &mut pair_rolls[..], &mut pair_touching[..])];
    for (batches, rolls, touching) in parts {
        let tiles = batches.chunks_mut(TILE * S::TOGETHER).zip(touching.chunks_mut(TILE * S::TOGETHER));
        for (t, (tile, touching)) in tiles.enumerate() {
            let rolls_of = |g: usize| {
                let from = (t * TILE + g) * S::TOGETHER;
                if rolling { from..from + S::TOGETHER } else { 0..0 }
            };
            next.next().unwrap_or_default().iter().for_each(S::prefetch);
            let lanes_of = |g: usize| g * S::TOGETHER..(g + 1) * S::TOGETHER;
            let mut touched = 0u32;
            for (g, group) in tile.chunks_exact_mut(S::TOGETHER).enumerate() {
                // SAFETY: as for the caller.
                if let Some(found) = unsafe { gap::<S>(pass, ends::<S>(group)) } {
                    gaps[g] = found;
                    touched |= 1 << g;
                } else {
                    let rolls = rolls.get_mut(rolls_of(g)).unwrap_or_default();
                    let lost = group.iter_mut().zip(&mut touching[lanes_of(g)]).enumerate();
                    for (k, (batch, touching)) in lost.filter(|(_, (_, touching))| **touching != 0) {
                        *touching = 0;
                        batch.slide = Batch::empty(first).slide;
                        rolls.get_mut(k).map(std::mem::take);
                    }
                }
            }
            for (g, group) in tile.chunks_exact(S::TOGETHER).enumerate().filter(|(g, _)| touched >> g & 1 == 1) {
                // SAFETY: as for the caller.
                motions[g] = unsafe { motion::<S>(pass, &gaps[g], ends::<S>(group)) };
            }
            for (g, group) in tile.chunks_exact_mut(S::TOGETHER).enumerate().filter(|(g, _)| touched >> g & 1 == 1) {
                // SAFETY: as for the caller.
                let e = unsafe { encounter::<S>(pass.table, &gaps[g], &motions[g]) };
                let rolls = rolls.get_mut(rolls_of(g)).unwrap_or_default();
                let mut memory = recall_all::<S>(group, rolls);
                let reaction = react(&law, rolling, &e, &mut memory, dt);
                pushes[g] = push(&e, &gaps[g].arms(), &reaction);
                let lanes = e.touching.bits();
                for (k, (batch, touching)) in group.iter_mut().zip(&mut touching[lanes_of(g)]).enumerate() {
                    keep(&share::<S>(&memory, k), &mut batch.slide, rolls.get_mut(k));
                    *touching = (lanes >> (k * WIDTH)) as u8;
                }
                let least = gaps[g].ri.min(gaps[g].rj);
                let deep = e.overlap.gt(limit * least).and(e.touching).bits();
                if deep != 0 {
                    let (overlap, least) = (S::split(e.overlap), S::split(least));
                    for (k, batch) in group.iter().enumerate() {
                        let deep = deep >> (k * WIDTH) & 0xff;
                        let met = |k: usize| Met::Sphere(batch.j[k]);
                        note_deep(&overlap[k].to_array(), &least[k].to_array(), deep, &batch.i, met, report);
                    }
                }
            }
            for (g, group) in tile.chunks_exact(S::TOGETHER).enumerate().filter(|(g, _)| touched >> g & 1 == 1) {
                let on_i = S::rows_of(pushes[g].on_i);
                let on_j = if BOTH { S::rows_of(pushes[g].on_j()) } else { on_i };
                for (k, batch) in group.iter().enumerate() {
                    // SAFETY: i lies in the block, and so does j where BOTH.
                    unsafe {
                        scatter::<S>(&on_i[k], loads, first, &batch.i);
                        if BOTH {
                            scatter::<S>(&on_j[k], loads, first, &batch.j);
                        }
                    }
                }
            }
        }
    }
    left.iter_mut().zip(pair).for_each(|(batch, done)| *batch = done);
    left_touching.iter_mut().zip(pair_touching).for_each(|(touching, done)| *touching = done);
    left_rolls.iter_mut().zip(pair_rolls).for_each(|(rolls, done)| *rolls = done);
}

/// Both ends of a group's pairs.
#[inline(always)]
pub(super) fn ends<S: Simd>(group: &[Batch<S::Real>]) -> Ends<'_> {
    let (a, b) = (&group[0], &group[S::TOGETHER - 1]);
    [(&a.i, &a.j), (&b.i, &b.j)]
}
