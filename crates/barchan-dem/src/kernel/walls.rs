//! Contacts of spheres with walls: geometry one by one in f64, the law eight at a time.

use super::{Met, Pass, Report, keep, note_deep, recall};
use crate::lists::{Rolls, WallBatch};
use crate::state::Load;
use barchan_core::contact::law::{Encounter, react};
use barchan_core::simd::{Lanes, Mask, Real, Simd, Vec3, WIDTH};
use glam::DVec3;

/// Eight wall contacts as the law sees them, with the arms to the contact points and the points.
pub(super) type WallMeeting<V> = (Encounter<V>, V, [DVec3; WIDTH]);

/// Geometry of eight wall contacts, one by one in f64; `None` where none touches.
#[inline(always)]
pub(super) fn meet_walls<S: Simd>(pass: &Pass<'_, S::Real>, batch: &WallBatch<S::Real>) -> Option<WallMeeting<S::V>> {
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
        if state.velocity != DVec3::ZERO || state.spin != DVec3::ZERO {
            let v = wall.surface_velocity(state, point[k]);
            for c in 0..3 {
                velocity[c][k] = v[c];
                spin[c][k] = state.spin[c];
            }
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
pub(super) fn walls<S: Simd>(
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
