//! Which spheres may touch which walls until the lists are built again.

use super::{BlockLists, Carry, Kept, Reaching, Rebuild, Rolls};
use crate::bodies::Carrier;
use barchan_core::neighbours::{Ball, Balls};
use barchan_core::simd::{Real, WIDTH};
use barchan_core::walls::{Foot, NO_FEATURE, Wall, WallState};
use glam::DVec3;

/// Eight sphere–wall candidates; only the first `len` lanes count, the others repeat the first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WallBatch<R> {
    pub i: [u32; WIDTH],
    pub wall: [u16; WIDTH],
    /// Feature of the wall.
    pub key: [u32; WIDTH],
    pub slide: [[R; WIDTH]; 4],
    pub touching: u32,
    pub len: u32,
}

/// A sphere near the triangles of a wall: `triangles[from..to]` are all it may touch. What it touches of them takes up some of
/// `lanes` lanes of a batch of `walls`, from `lane` on (counted through all batches); their keys are the features touched, or
/// [`NO_FEATURE`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Facing {
    pub i: u32,
    pub wall: u32,
    pub from: u32,
    pub to: u32,
    pub lane: u32,
    pub lanes: u32,
}

/// On which planes, lines and points of its triangles eight contacts of a wall stand ([`Foot`] lane by lane), and for how long.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Feet {
    pub point: [[f64; WIDTH]; 3],
    pub along: [[f64; WIDTH]; 3],
    pub around: [f64; WIDTH],
    /// Where the sphere was, in the wall's frame, when it was found what it touches [m].
    pub asked_at: [[f64; WIDTH]; 3],
    /// Square of how far it can go from there until it must be asked again [m²]; negative: not asked yet.
    pub room: [f64; WIDTH],
    /// The facing that a lane belongs to.
    pub facing: [u32; WIDTH],
}

impl Feet {
    /// Sets where a lane stands.
    pub fn set(&mut self, k: usize, foot: &Foot, asked_at: DVec3, room: f64) {
        for c in 0..3 {
            self.point[c][k] = foot.point[c];
            self.along[c][k] = foot.along[c];
            self.asked_at[c][k] = asked_at[c];
        }
        self.around[k] = foot.around;
        self.room[k] = room * room.abs();
    }
}

impl Default for Feet {
    fn default() -> Self {
        let Foot { point, along, around } = Foot::NONE;
        Feet {
            point: point.to_array().map(|x| [x; WIDTH]),
            along: along.to_array().map(|x| [x; WIDTH]),
            around: [around; WIDTH],
            asked_at: [[0.0; WIDTH]; 3],
            // A lane of no facing is never asked.
            room: [f64::INFINITY; WIDTH],
            facing: [0; WIDTH],
        }
    }
}

impl<R: Real> WallBatch<R> {
    /// No contact in a lane, no memory.
    pub fn forget_lane(&mut self, k: usize) {
        self.slide.iter_mut().for_each(|column| column[k] = R::of(0.0));
        self.touching &= !(1 << k);
    }

    /// No contact, no memory.
    pub fn forget(&mut self) {
        self.slide = [[R::of(0.0); WIDTH]; 4];
        self.touching = 0;
    }
}

/// How far beyond its surface a sphere's touches of triangles are looked for, as a share of its radius: so far it can go before it
/// must be asked again.
pub const ASKED_BEYOND: f64 = 0.05;

/// Spheres that are held against a wall together: neighbours in memory are neighbours in space.
const CLUSTER: usize = 32;

/// Whether any of these balls may come within `skin` of the wall. Distances change no faster than positions, so the
/// clearance of their middle bounds that of all.
fn may_reach(wall: &Wall, state: &WallState, balls: impl Iterator<Item = Ball> + Clone, skin: f64) -> bool {
    let at = |b: Ball| DVec3::new(b[0], b[1], b[2]);
    let (low, high) =
        balls.clone().fold((DVec3::INFINITY, DVec3::NEG_INFINITY), |(l, h), b| (l.min(at(b)), h.max(at(b))));
    let middle = 0.5 * (low + high);
    let reach = balls.map(|b| at(b).distance(middle) + b[3]).fold(0.0, f64::max);
    wall.least_distance(state, middle) <= reach + skin && wall.clearance(state, middle) <= reach + skin
}

/// Fills wall batches lane by lane; a batch has one wall, so that the kernel can take eight grains against one plane together.
struct WallFiller<'a, R> {
    batches: &'a mut Vec<WallBatch<R>>,
    rolls: &'a mut Vec<Rolls<R>>,
    rolling: bool,
    wall: u16,
    used: usize,
}

impl<R: Real> WallFiller<'_, R> {
    /// Sees to it that the next lanes are of one batch.
    fn keep_together(&mut self, lanes: usize) {
        if self.used % WIDTH + lanes > WIDTH {
            self.used = self.used.next_multiple_of(WIDTH);
        }
    }

    /// Number of the lane.
    fn push(&mut self, i: u32, key: u32, carried: Option<&Kept<R>>) -> u32 {
        let k = self.used % WIDTH;
        if k == 0 {
            self.batches.push(WallBatch {
                i: [i; WIDTH],
                wall: [self.wall; WIDTH],
                key: [key; WIDTH],
                slide: [[R::of(0.0); WIDTH]; 4],
                touching: 0,
                len: 0,
            });
            if self.rolling {
                self.rolls.push(Rolls::default());
            }
        }
        self.used += 1;
        let lane = (WIDTH * (self.batches.len() - 1) + k) as u32;
        let Some(batch) = self.batches.last_mut() else { return lane };
        (batch.i[k], batch.key[k]) = (i, key);
        batch.len = k as u32 + 1;
        if let Some((slide, roll)) = carried {
            batch.touching |= 1 << k;
            for c in 0..4 {
                batch.slide[c][k] = slide[c];
                if let Some(rolls) = self.rolls.last_mut() {
                    rolls.0[c][k] = roll[c];
                }
            }
        }
        lane
    }
}

pub(super) fn near_walls<R: Real>(
    r: &Rebuild<'_>,
    balls: &Reaching<'_, R>,
    carry: &Carry<R>,
    own: std::ops::Range<usize>,
    lists: &mut BlockLists<R>,
) {
    let BlockLists { walls, wall_rolls, facings, triangles, .. } = lists;
    walls.clear();
    wall_rolls.clear();
    facings.clear();
    triangles.clear();
    let grain_of = |s: usize| if r.grains.all_spheres() { s } else { balls.spheres.grain[s] as usize };
    for (w, (wall, state)) in r.walls.iter().zip(r.wall_states).enumerate() {
        let w16 = w as u16;
        let carrier = match r.carriers.of(w) {
            Carrier::None => usize::MAX,
            Carrier::Grain(slot) => slot as usize,
            Carrier::Gone => continue,
        };
        let mut filler = WallFiller { batches: walls, rolls: wall_rolls, rolling: r.rolling, wall: w16, used: 0 };
        for s in own.clone().step_by(CLUSTER).flat_map(|from| {
            let cluster = from..(from + CLUSTER).min(own.end);
            let near = cluster.clone().map(|s| balls.ball(s));
            let asleep = carrier == usize::MAX && cluster.clone().all(|s| r.pinned.has(grain_of(s)));
            if !asleep && may_reach(wall, state, near, r.wall_skin[w]) { cluster } else { 0..0 }
        }) {
            // Bodies feel a ground by other forces than contacts of their spheres; what is pinned meets no wall that does not yield.
            let borne = || wall.bed().is_some_and(|b| !b.is_rock()) && r.borne.contains(&r.grains.shape[grain_of(s)]);
            let held = || carrier == usize::MAX && r.pinned.has(grain_of(s));
            if grain_of(s) == carrier || borne() || held() || r.bonds.hold(grain_of(s), w) {
                continue;
            }
            let ball = balls.ball(s);
            let x = DVec3::new(ball[0], ball[1], ball[2]);
            let (i, old) = (s as u32, balls.spheres.listed[s]);
            let Some(facets) = wall.facets() else {
                wall.features(state, x, ball[3] + r.wall_skin[w], &mut |key| {
                    filler.push(i, key, carry.find_wall(old, w16, key));
                });
                continue;
            };
            let from = triangles.len();
            let reach = ball[3] + r.wall_skin[w] + ASKED_BEYOND * balls.spheres.record[s].place[3];
            wall.features(state, x, reach, &mut |key| triangles.push(key));
            let lanes = facets.most_touches(&triangles[from..]) as u32;
            filler.keep_together(lanes as usize);
            let mut carried = carry.find_walls(old, w16).iter();
            for n in 0..lanes {
                let lane = match carried.next() {
                    Some((key, kept)) => filler.push(i, key.2, Some(kept)),
                    None => filler.push(i, NO_FEATURE, None),
                };
                if n == 0 {
                    let (from, to) = (from as u32, triangles.len() as u32);
                    facings.push(Facing { i, wall: w as u32, from, to, lane, lanes });
                }
            }
        }
    }
    lists.without_feet();
}
