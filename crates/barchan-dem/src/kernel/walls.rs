//! Contacts of spheres with walls: geometry in f64, of planes and triangles eight at a time, of all others one by one; the law
//! eight at a time.

use super::pairs::{row, scatter};
use super::{Met, Pass, Report, keep, note_deep, recall};
use crate::lists::{ASKED_BEYOND, BlockLists, Facing, Feet, Rolls, WallBatch};
use crate::state::Load;
use barchan_core::contact::law::{Encounter, react};
use barchan_core::simd::{Lanes, Mask, Octet, Real, Simd, Vec3, WIDTH};
use barchan_core::walls::{Belt, MOST_TOUCHES, NO_FEATURE, Wall, WallState};
use glam::{DMat3, DQuat, DVec3};

/// Eight wall contacts as the law sees them, with the arms to the contact points and the points.
pub(super) struct WallMeeting<V: Lanes> {
    pub encounter: Encounter<V>,
    arm: V,
    /// x, y, z of the points [m].
    point: [[f64; WIDTH]; 3],
}

/// Geometry of eight wall contacts; `None` where none touches.
///
/// # Safety
/// The indices of the batch are below `records.len()`, see the head of mod.rs.
#[inline(always)]
pub(super) unsafe fn meet_walls<S: Simd>(
    pass: &Pass<'_, S::Real>,
    batch: &WallBatch<S::Real>,
) -> Option<WallMeeting<S::V>> {
    let (wall, key) = (batch.wall[0], batch.key[0]);
    if batch.wall == [wall; WIDTH] && batch.key == [key; WIDTH] {
        let (wall, state) = (&pass.walls[wall as usize], &pass.wall_states[wall as usize]);
        if let Some((point, normal)) = wall.plane(state, key) {
            // SAFETY: as for the caller.
            return unsafe { meet_plane::<S>(pass, batch, wall, state, point, normal) };
        }
    }
    meet_one_by_one::<S>(pass, batch)
}

// Functions, not closures: a closure would not inherit the caller's instruction set.
#[inline(always)]
fn splat<V: Lanes>(v: DVec3) -> Vec3<V> {
    Vec3(V::of(v.x), V::of(v.y), V::of(v.z))
}

#[inline(always)]
fn lanes<V: Octet>(v: &[[V::Scalar; WIDTH]; 3]) -> Vec3<V> {
    Vec3(V::from_array(v[0]), V::from_array(v[1]), V::from_array(v[2]))
}

#[inline(always)]
fn narrow<S: Simd>(v: Vec3<S::D>) -> Vec3<S::V> {
    Vec3(S::narrow(v.0), S::narrow(v.1), S::narrow(v.2))
}

/// Eight spheres: place, radius, and what their records say of their motion.
struct Eight<S: Simd> {
    x: Vec3<S::D>,
    r: S::D,
    own: [S::V; 8],
}

/// # Safety
/// As for [`meet_walls`].
#[inline(always)]
unsafe fn eight<S: Simd>(pass: &Pass<'_, S::Real>, i: &[u32; WIDTH]) -> Eight<S> {
    // SAFETY: as for the caller; a record is four doubles and eight reals.
    unsafe {
        let base = pass.records.as_ptr();
        let place = |k: u32| base.add(k as usize).cast::<f64>();
        let motion = |k: u32| (&raw const (*base.add(k as usize)).motion).cast::<S::Real>();
        let [x, y, z, r] = S::load4(i.map(place));
        Eight { x: Vec3(x, y, z), r, own: S::load8(i.map(motion)) }
    }
}

/// Eight grains against one plane: what most walls are, a quarter of the time of one by one.
///
/// # Safety
/// As for [`meet_walls`].
#[inline(always)]
unsafe fn meet_plane<S: Simd>(
    pass: &Pass<'_, S::Real>,
    batch: &WallBatch<S::Real>,
    wall: &Wall,
    state: &WallState,
    point: DVec3,
    normal: DVec3,
) -> Option<WallMeeting<S::V>> {
    // SAFETY: as for the caller.
    let eight = unsafe { eight::<S>(pass, &batch.i) };
    let inward = splat::<S::D>(normal);
    let distance = eight.x.minus(splat::<S::D>(point)).dot(inward);
    // SAFETY: as for the caller.
    unsafe { meet_smooth::<S>(pass, batch, wall, state, &eight, distance, inward) }
}

/// Eight grains against the faces, edges and corners of triangles on which they stand; those that have gone so far that they may
/// stand elsewhere are asked again.
///
/// # Safety
/// As for [`meet_walls`].
#[inline(always)]
unsafe fn meet_feet<S: Simd>(
    pass: &Pass<'_, S::Real>,
    near: &Triangles<'_>,
    batch: &mut WallBatch<S::Real>,
    feet: &mut Feet,
    rolls: Option<&mut Rolls<S::Real>>,
) -> Option<WallMeeting<S::V>> {
    let (wall, state) = (&pass.walls[batch.wall[0] as usize], &pass.wall_states[batch.wall[0] as usize]);
    // SAFETY: as for the caller.
    let eight = unsafe { eight::<S>(pass, &batch.i) };
    let turn = (state.rotation != DQuat::IDENTITY).then(|| DMat3::from_quat(state.rotation));
    // Into the wall's frame, the foot's offset there, and back.
    let mut arm = eight.x.minus(splat::<S::D>(wall.pivot(state)));
    if let Some(turn) = turn {
        arm = turned::<S::D>(&turn.transpose(), arm);
    }
    let place = arm.plus(splat(wall.geometry.pivot()));
    let gone = place.minus(lanes(&feet.asked_at));
    let stale = gone.dot(gone).gt(S::D::from_array(feet.room)).bits();
    if stale != 0 {
        let places = [place.0.to_array(), place.1.to_array(), place.2.to_array()];
        ask_again(wall, near, batch, feet, rolls, &places, &eight.r.to_array(), stale);
    }
    let from = place.minus(lanes(&feet.point));
    let (along, around) = (lanes::<S::D>(&feet.along), S::D::from_array(feet.around));
    let across = (S::D::of(1.0) - S::D::of(2.0) * around) * from.dot(along);
    let mut offset = from.scale(around).plus(along.scale(across));
    if let Some(turn) = turn {
        offset = turned::<S::D>(&turn, offset);
    }
    let distance = offset.dot(offset).sqrt();
    // A centre on the surface itself is beyond any overlap that is let pass: no direction, no force, and a message.
    let inward = offset.scale(S::D::of(1.0) / distance.max(S::D::of(f64::MIN_POSITIVE)));
    // SAFETY: as for the caller.
    unsafe { meet_smooth::<S>(pass, batch, wall, state, &eight, distance, inward) }
}

#[inline(always)]
fn turned<V: Lanes>(m: &DMat3, v: Vec3<V>) -> Vec3<V> {
    splat::<V>(m.x_axis).scale(v.0).plus(splat::<V>(m.y_axis).scale(v.1)).plus(splat::<V>(m.z_axis).scale(v.2))
}

/// Eight grains at given distances from a smooth wall, whose unit normals towards them are `inward`.
///
/// # Safety
/// The tags of the records are those of materials of the table.
#[inline(always)]
unsafe fn meet_smooth<S: Simd>(
    pass: &Pass<'_, S::Real>,
    batch: &WallBatch<S::Real>,
    wall: &Wall,
    state: &WallState,
    &Eight { x, r, own }: &Eight<S>,
    distance: S::D,
    inward: Vec3<S::D>,
) -> Option<WallMeeting<S::V>> {
    assert!(usize::from(wall.material) < pass.table.materials(), "a wall is of no known material");
    let deep = r - distance;
    let filled = std::array::from_fn(|k| u32::from((k as u32) < batch.len));
    let overlap = S::narrow(deep);
    let touching = overlap.gt(S::V::zero()).and(S::differ(&filled, &[0; WIDTH]));
    if !touching.any() {
        return None;
    }
    let overlap = overlap.keep(touching);
    let reach = r - S::D::splat(0.5) * deep;
    let touched = x.minus(inward.scale(reach));
    let (n, arm) = (Vec3::zero().minus(narrow::<S>(inward)), S::narrow(reach));
    let w = Vec3(own[3], own[4], own[5]);
    let mut velocity = Vec3(own[0], own[1], own[2]).plus(w.scale(arm).cross(n));
    if state.velocity != DVec3::ZERO || state.spin != DVec3::ZERO {
        let off = narrow::<S>(touched.minus(splat(wall.pivot(state))));
        velocity = velocity.minus(splat::<S::V>(state.velocity).plus(splat::<S::V>(state.spin).cross(off)));
    }
    if let Some(belt) = &wall.belt {
        velocity = velocity.minus(narrow::<S>(runs::<S>(belt, state.rotation, inward)));
    }
    let encounter = Encounter {
        normal: n,
        overlap,
        velocity,
        spin: w.minus(splat::<S::V>(state.spin)),
        own_spin: w,
        radius: S::narrow(r),
        mass: S::V::of(1.0) / (own[6] + S::V::of(state.inverse_mass)),
        // SAFETY: tags are material indices, and so is the wall's, as asserted.
        row: unsafe { row::<S>(pass.table, own[7], S::V::of(f64::from(wall.material))) },
        touching,
    };
    let point = [touched.0.to_array(), touched.1.to_array(), touched.2.to_array()];
    Some(WallMeeting { encounter, arm, point })
}

/// Velocity of a belt under eight grains, whose unit normals are `inward`.
#[inline(always)]
fn runs<S: Simd>(belt: &Belt, rotation: DQuat, inward: Vec3<S::D>) -> Vec3<S::D> {
    // A function of the walls, asked one by one: belts are few.
    let normal = [inward.0.to_array(), inward.1.to_array(), inward.2.to_array()];
    let mut out = [[0.0; WIDTH]; 3];
    for k in 0..WIDTH {
        let v = belt.velocity(rotation, DVec3::new(normal[0][k], normal[1][k], normal[2][k]));
        for c in 0..3 {
            out[c][k] = v[c];
        }
    }
    lanes(&out)
}

#[inline(always)]
fn rounded<S: Simd>(x: &[f64; WIDTH]) -> S::V {
    S::narrow(S::D::from_array(*x))
}

#[inline(always)]
fn columns<S: Simd>(x: &[[S::Real; WIDTH]; 8]) -> [S::V; 8] {
    let [a, b, c, d, e, f, g, h] = *x;
    let of = S::V::from_array;
    [of(a), of(b), of(c), of(d), of(e), of(f), of(g), of(h)]
}

/// Geometry of eight wall contacts, one by one in f64.
#[inline(always)]
fn meet_one_by_one<S: Simd>(pass: &Pass<'_, S::Real>, batch: &WallBatch<S::Real>) -> Option<WallMeeting<S::V>> {
    let mut overlap = [0.0; WIDTH];
    let mut normal = [[0.0; WIDTH]; 3];
    let mut rough = [0.0; WIDTH];
    let mut any = false;
    for k in 0..batch.len as usize {
        let record = &pass.records[batch.i[k] as usize];
        let x = DVec3::new(record.place[0], record.place[1], record.place[2]);
        let w = batch.wall[k] as usize;
        let near = pass.walls[w].nearest_to_ball(&pass.wall_states[w], batch.key[k], x, record.place[3]);
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
    let mut yields = [0.0; WIDTH];
    let mut point = [[0.0; WIDTH]; 3];
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
        let touched = DVec3::new(record.place[0], record.place[1], record.place[2]) + n * arm[k];
        for c in 0..3 {
            point[c][k] = touched[c];
        }
        if state.velocity != DVec3::ZERO || state.spin != DVec3::ZERO {
            let v = wall.surface_velocity(state, touched);
            for c in 0..3 {
                velocity[c][k] = v[c];
                spin[c][k] = state.spin[c];
            }
        }
        if wall.belt.is_some() {
            let v = wall.drift(state, -n);
            for c in 0..3 {
                velocity[c][k] += v[c];
            }
        }
        yields[k] = state.inverse_mass;
        // A wall is flat to the grain; a rough wall's sphere is not.
        radius[k] = if rough[k] > 0.0 { r * rough[k] / (r + rough[k]) } else { r };
    }
    let own = columns::<S>(&own);
    let (n, arm) = (narrow::<S>(lanes(&normal)), rounded::<S>(&arm));
    let w = Vec3(own[3], own[4], own[5]);
    let overlap = rounded::<S>(&overlap);
    let encounter = Encounter {
        normal: n,
        overlap,
        velocity: Vec3(own[0], own[1], own[2]).minus(narrow::<S>(lanes(&velocity))).plus(w.scale(arm).cross(n)),
        spin: w.minus(narrow::<S>(lanes(&spin))),
        own_spin: w,
        radius: rounded::<S>(&radius),
        mass: S::V::of(1.0) / (own[6] + rounded::<S>(&yields)),
        row: columns::<S>(&row),
        touching: overlap.gt(S::V::zero()),
    };
    Some(WallMeeting { encounter, arm, point })
}

/// A contact that was on another feature is the same one if the nearest point of that feature is within this share of the
/// radius: a step goes a thousandth of it, and two contacts of one ball are farther apart.
const SAME_CONTACT: f64 = 0.2;

/// Triangles near the spheres of a block; see [`BlockLists`].
struct Triangles<'a> {
    facings: &'a [Facing],
    triangles: &'a [u32],
}

/// Finds what the spheres of some lanes touch, and gives each touch a lane: that of the contact that moved here from a
/// neighbouring feature, its memory with it, or a free one. `places` are in the wall's frame.
#[allow(clippy::too_many_arguments)]
#[inline(never)]
fn ask_again<R: Real>(
    wall: &Wall,
    near: &Triangles<'_>,
    batch: &mut WallBatch<R>,
    feet: &mut Feet,
    mut rolls: Option<&mut Rolls<R>>,
    places: &[[f64; WIDTH]; 3],
    radii: &[f64; WIDTH],
    stale: u32,
) {
    let Some(facets) = wall.facets() else { return };
    let mut asked = 0;
    for k in (0..WIDTH).filter(|k| stale >> k & 1 == 1) {
        let f = &near.facings[feet.facing[k] as usize];
        let own = f.lane as usize % WIDTH..f.lane as usize % WIDTH + f.lanes as usize;
        if asked >> own.start & 1 == 1 {
            continue;
        }
        asked |= 1 << own.start;
        let (x, r) = (DVec3::new(places[0][k], places[1][k], places[2][k]), radii[k]);
        let touches = facets.touches(x, r * (1.0 + ASKED_BEYOND), &near.triangles[f.from as usize..f.to as usize]);
        // With fewer lanes than touches the order of their distances decides, which may change at any step.
        let room = if touches.iter().count() > own.len() { -1.0 } else { touches.room() };
        let mut keys = [NO_FEATURE; WIDTH];
        let mut strangers = [None; MOST_TOUCHES];
        for (t, touch) in touches.iter().take(own.len()).enumerate() {
            // The lane that was nearest to here, among those not yet taken.
            let mut best: Option<(f64, usize)> = None;
            for n in own.clone().filter(|&n| keys[n] == NO_FEATURE) {
                let Some(old) = facets.feature(batch.key[n]) else { continue };
                let same = batch.key[n] == touch.key;
                let apart = if same { 0.0 } else { facets.closest(old, x).distance_squared(touch.point) };
                if apart < (SAME_CONTACT * r).powi(2) && best.is_none_or(|b| apart < b.0) {
                    best = Some((apart, n));
                }
            }
            match best {
                Some((_, n)) => keys[n] = touch.key,
                None => strangers[t] = Some(touch.key),
            }
        }
        for key in strangers.into_iter().flatten() {
            if let Some(n) = own.clone().find(|&n| keys[n] == NO_FEATURE) {
                batch.forget_lane(n);
                if let Some(rolls) = &mut rolls {
                    rolls.0.iter_mut().for_each(|column| column[n] = R::of(0.0));
                }
                keys[n] = key;
            }
        }
        for n in own {
            batch.key[n] = keys[n];
            feet.set(n, &facets.foot(keys[n]), x, room);
        }
    }
}

/// # Safety
/// As for [`meet_walls`], and the batches' `i` are of the block whose first sphere is `first`.
#[inline(always)]
pub(super) unsafe fn walls<S: Simd>(
    pass: &Pass<'_, S::Real>,
    lists: &mut BlockLists<S::Real>,
    loads: &mut [Load<S::Real>],
    first: u32,
    report: &mut Report,
) {
    let dt = S::V::of(pass.dt);
    let BlockLists { walls, wall_rolls: rolls, feet, facings, triangles, .. } = lists;
    let near = Triangles { facings, triangles };
    for (b, batch) in walls.iter_mut().enumerate() {
        let stands = feet.get_mut(b).filter(|_| pass.walls[batch.wall[0] as usize].facets().is_some());
        let meeting = match stands {
            // SAFETY: as for the caller.
            Some(feet) => unsafe { meet_feet::<S>(pass, &near, batch, feet, rolls.get_mut(b)) },
            // SAFETY: as for the caller.
            None => unsafe { meet_walls::<S>(pass, batch) },
        };
        let Some(WallMeeting { encounter: e, arm, point }) = meeting else {
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
        // SAFETY: the list was checked against this block when it was made.
        unsafe {
            let columns = [force.0, force.1, force.2, turn.0, turn.1, turn.2, one, r.press];
            scatter::<S>(&S::transpose(columns), loads.as_mut_ptr(), first, &batch.i);
        }
        // Written out: a closure over lanes would not inherit the instruction set.
        let f = [force.0.to_array(), force.1.to_array(), force.2.to_array()];
        let c = [r.couple_j.0.to_array(), r.couple_j.1.to_array(), r.couple_j.2.to_array()];
        let at = |v: &[[S::Real; WIDTH]; 3], k: usize| DVec3::new(v[0][k].into(), v[1][k].into(), v[2][k].into());
        for k in (0..WIDTH).filter(|k| batch.touching >> k & 1 == 1) {
            let w = batch.wall[k] as usize;
            let arm = DVec3::new(point[0][k], point[1][k], point[2][k]) - pass.walls[w].pivot(&pass.wall_states[w]);
            report.walls[w].0 -= at(&f, k);
            report.walls[w].1 -= arm.cross(at(&f, k)) - at(&c, k);
        }
        let limit = S::V::of(pass.max_overlap);
        let radius = arm + S::V::of(0.5) * e.overlap;
        let deep = e.overlap.gt(limit * radius).and(e.touching).bits();
        if deep != 0 {
            note_deep(&e.overlap.to_array(), &radius.to_array(), deep, &batch.i, |k| Met::Wall(batch.wall[k]), report);
        }
    }
}
