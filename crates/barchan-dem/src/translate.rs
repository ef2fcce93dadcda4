//! The saved state of one run taken over into another: materials, shapes and walls have other numbers there, and parameters other values.
//!
//! Columns are translated one by one as they are read ([`Translation::column`]). Lists are marked as stale: the first step builds them anew, and
//! reads of the old ones what contacts remember.

use barchan_core::columns::{Column, Saved};
use barchan_core::simd::WIDTH;
use glam::DVec3;

/// From the numbers of an old run to those of a new one.
#[derive(Clone, Debug, Default)]
pub struct Translation {
    /// Material by old material; one that is used must be there.
    pub materials: Vec<Option<u16>>,
    /// New density over old, by old material.
    pub density: Vec<f64>,
    /// Shape by old shape.
    pub shapes: Vec<Option<u16>>,
    /// Wall by old wall; none where its contacts are to be forgotten.
    pub walls: Vec<Option<u16>>,
    /// Walls there are now.
    pub wall_count: usize,
    /// Ids below are those of bodies, which keep their masses.
    pub bodies: u32,
    /// How far velocities are kept back [s], then and now.
    pub lag: [f64; 2],
    /// Gravity then and now [m/s²].
    pub gravity: [DVec3; 2],
    /// Steps taken, as the new run counts them.
    pub steps: u64,
    /// Bytes of a real of the kernel now: 4 or 8.
    pub precision: u32,
    /// Whether contacts keep rolling angles now.
    pub rolling: bool,
}

/// Numbers of a batch with walls in a checkpoint, and where its lanes stand.
const WALL_INTS: usize = 26;
/// Numbers of what its lanes remember.
const KEPT: usize = 4 * WIDTH;

/// A contact with a wall: sphere, key, wall; what it remembers.
type WallContact = ([u32; 3], [f64; 4], [f64; 4]);

impl Translation {
    /// A column of the new run from the columns of the old one.
    pub fn column(&self, old: Saved<'_>, name: &str) -> Option<Column> {
        let column = old.find(name)?;
        match (name, column) {
            ("counters", Column::U64(mut v)) if v.len() == 8 => {
                v[0] = self.steps;
                // Stale lists; memory is sorted anew.
                v[5] = 1;
                v[6] = u64::from(u32::MAX / 2);
                Some(Column::U64(v))
            }
            ("precision", _) => Some(Column::U32(vec![self.precision])),
            ("material", Column::U32(v)) => Some(Column::U32(v.iter().map(|m| self.material(*m)).collect())),
            ("shape", Column::U32(v)) => {
                let shape = |s: &u32| self.shapes.get(*s as usize).copied().flatten().map_or(u32::MAX, u32::from);
                Some(Column::U32(v.iter().map(shape).collect()))
            }
            ("velocity", Column::F64(v)) => Some(Column::F64(self.velocity(old, v))),
            ("momentum", Column::F64(v)) => Some(Column::F64(self.momentum(old, v))),
            ("record.motion", Column::F64(mut v)) => {
                let owner = owners(old, v.len() / 8);
                let ratio = self.ratios(old);
                for (s, m) in v.chunks_exact_mut(8).enumerate() {
                    m[6] /= owner.get(s).and_then(|g| ratio.get(*g as usize)).copied().unwrap_or(1.0);
                    m[7] = f64::from(self.material(m[7] as u32));
                }
                Some(Column::F64(v))
            }
            ("wall.budget", _) => Some(Column::F64(vec![0.0; self.wall_count])),
            ("asleep.walls" | "asleep.walls.kept", _) => None,
            ("bond", Column::U32(mut v)) => {
                for b in v.chunks_exact_mut(4).filter(|b| b[1] == u32::MAX) {
                    b[3] = self.wall(b[3]).unwrap_or(u32::from(u16::MAX));
                }
                Some(Column::U32(v))
            }
            (_, column) if name.starts_with("block.") => self.block(old, name, column),
            (_, column) => Some(column),
        }
    }

    fn material(&self, m: u32) -> u32 {
        self.materials.get(m as usize).copied().flatten().map_or(u32::MAX, u32::from)
    }

    fn wall(&self, w: u32) -> Option<u32> {
        self.walls.get(w as usize).copied().flatten().map(u32::from)
    }

    /// New mass over old of each grain.
    fn ratios(&self, old: Saved<'_>) -> Vec<f64> {
        let (ids, materials) = (old.u32s("id").unwrap_or_default(), old.u32s("material").unwrap_or_default());
        let ratio = |(id, m): (&u32, &u32)| {
            if *id < self.bodies { 1.0 } else { self.density.get(*m as usize).copied().unwrap_or(1.0) }
        };
        ids.iter().zip(&materials).map(ratio).collect()
    }

    /// Velocities half a step back, for another step, gravity and mass; those of the full step stay.
    fn velocity(&self, old: Saved<'_>, mut v: Vec<f64>) -> Vec<f64> {
        let loads = net_loads(old, v.len() / 4);
        let [lag, lag_now] = self.lag;
        let [gravity, gravity_now] = self.gravity;
        for ((row, ratio), (force, _)) in v.chunks_exact_mut(4).zip(self.ratios(old)).zip(loads) {
            let (inverse, inverse_now) = (row[3], row[3] / ratio);
            let shift = (force * inverse + gravity) * lag - (force * inverse_now + gravity_now) * lag_now;
            for (x, d) in row.iter_mut().zip(shift.to_array()) {
                *x += d;
            }
            row[3] = inverse_now;
        }
        v
    }

    /// Angular momenta, likewise: spins of the full step stay.
    fn momentum(&self, old: Saved<'_>, mut l: Vec<f64>) -> Vec<f64> {
        let loads = net_loads(old, l.len() / 4);
        let [lag, lag_now] = self.lag;
        for ((row, ratio), (_, torque)) in l.chunks_exact_mut(4).zip(self.ratios(old)).zip(loads) {
            for (x, t) in row.iter_mut().zip(torque.to_array()) {
                *x = (*x + t * lag) * ratio - t * lag_now;
            }
            row[3] /= ratio;
        }
        l
    }

    fn block(&self, old: Saved<'_>, name: &str, column: Column) -> Option<Column> {
        let (block, kind) = name.rsplit_once(".walls").map_or((name, None), |(block, kind)| (block, Some(kind)));
        if let Some(kind) = kind {
            let batches = self.wall_contacts(old, block);
            return Some(match kind {
                "" => Column::U32(batches.chunks(WIDTH).flat_map(wall_ints).collect()),
                ".slide" => Column::F64(batches.chunks(WIDTH).flat_map(|b| lanes(b, |c| c.1)).collect()),
                _ if self.rolling => Column::F64(batches.chunks(WIDTH).flat_map(|b| lanes(b, |c| c.2)).collect()),
                _ => Column::F64(Vec::new()),
            });
        }
        if name.ends_with(".facings") || name.ends_with(".triangles") {
            return None;
        }
        match (name.strip_suffix(".roll"), column) {
            (Some(list), Column::F64(v)) => {
                let batches = old.u32s(list).map_or(0, |ints| ints.len() / 17);
                Some(Column::F64(match (self.rolling, v.len() == batches * KEPT) {
                    (false, _) => Vec::new(),
                    (true, true) => v,
                    (true, false) => vec![0.0; batches * KEPT],
                }))
            }
            (_, column) => Some(column),
        }
    }

    /// The contacts of a block with walls that are there still.
    fn wall_contacts(&self, old: Saved<'_>, block: &str) -> Vec<WallContact> {
        let ints = old.u32s(&format!("{block}.walls")).unwrap_or_default();
        let slide = old.f64s(&format!("{block}.walls.slide")).unwrap_or_default();
        let roll = old.f64s(&format!("{block}.walls.roll")).unwrap_or_default();
        let mut out = Vec::new();
        for (n, x) in ints.chunks_exact(WALL_INTS).enumerate() {
            for k in (0..WIDTH).filter(|k| x[24] >> k & 1 == 1) {
                let Some(wall) = self.wall(x[16 + k]) else { continue };
                let of = |v: &[f64]| std::array::from_fn(|c| v.get(n * KEPT + c * WIDTH + k).copied().unwrap_or(0.0));
                out.push(([x[k], x[8 + k], wall], of(&slide), of(&roll)));
            }
        }
        out
    }
}

/// The numbers of a batch: spheres, keys, walls, which lanes touch, how many there are. Lanes beyond the last repeat the first.
fn wall_ints(batch: &[WallContact]) -> Vec<u32> {
    let lane = |k: usize, c: usize| batch.get(k).unwrap_or(&batch[0]).0[c];
    let columns = (0..3).flat_map(|c| (0..WIDTH).map(move |k| lane(k, c)));
    columns.chain([(1 << batch.len()) - 1, batch.len() as u32]).collect()
}

fn lanes(batch: &[WallContact], of: impl Fn(&WallContact) -> [f64; 4]) -> Vec<f64> {
    (0..4).flat_map(|c| (0..WIDTH).map(move |k| (c, k))).map(|(c, k)| batch.get(k).map_or(0.0, |b| of(b)[c])).collect()
}

/// Grain of each sphere.
fn owners(old: Saved<'_>, spheres: usize) -> Vec<u32> {
    match old.u32s("sphere.grain") {
        Ok(grain) if !grain.is_empty() => grain,
        _ => (0..spheres as u32).collect(),
    }
}

/// Force [N] and torque about the centre of mass [N m] on each of `n` grains.
fn net_loads(old: Saved<'_>, n: usize) -> Vec<(DVec3, DVec3)> {
    let (load, place) = (old.f64s("load").unwrap_or_default(), old.f64s("record.place").unwrap_or_default());
    let centre = old.f64s("centre").unwrap_or_default();
    let mut out = vec![(DVec3::ZERO, DVec3::ZERO); n];
    for ((g, l), x) in owners(old, load.len() / 8).into_iter().zip(load.chunks_exact(8)).zip(place.chunks_exact(4)) {
        let Some(sum) = out.get_mut(g as usize) else { continue };
        let (force, torque) = (DVec3::from_slice(&l[..3]), DVec3::from_slice(&l[3..6]));
        let arm = centre
            .get(4 * g as usize..4 * g as usize + 3)
            .map_or(DVec3::ZERO, |c| DVec3::from_slice(x) - DVec3::from_slice(c));
        sum.0 += force;
        sum.1 += torque + arm.cross(force);
    }
    out
}
