//! Contact lists: who may touch whom until the lists are built again, and what each contact remembers.
//!
//! The grains' order (a Hilbert curve) is cut into blocks of a size that depends on the number of grains alone. A
//! contact between two spheres of one block stands once, in `inner`; one between blocks stands in `cross` of *both*,
//! and each block evaluates its own side with its own, exactly mirrored, memory. So a block writes only what is its own:
//! no atomics, no second pass, and sums in an order that no number of threads can change.
//!
//! Within a list pairs that touch come before pairs that are only near: a batch of near pairs costs its positions. Two that are pinned are in
//! no list; what they remember of each other sleeps ([`Asleep`]). Most lists are built while the pinned stay as they are: then only those that are
//! free are sorted and searched, and what sleeps is not touched.

mod asleep;
mod carry;
mod join;
mod walls;

pub use asleep::Asleep;
pub use carry::{Kept, WallKey};
pub use join::join;
pub use walls::{ASKED_BEYOND, Facing, Feet, WallBatch};

use carry::Carry;

use crate::bodies::Carriers;
use crate::bonds::Bonds;
use crate::pinned::Pinned;
use crate::state::{Grains, Spheres};
use barchan_core::neighbours::{Ball, Balls, Hits, Neighbours};
use barchan_core::parallel;
use barchan_core::simd::{Real, WIDTH};
use barchan_core::walls::{MOST_TOUCHES, Wall, WallState};
use glam::DVec3;

/// Eight pairs and what they remember of sliding, in whole cache lines. A lane with i = j is empty.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C, align(64))]
pub struct Batch<R> {
    pub i: [u32; WIDTH],
    pub j: [u32; WIDTH],
    /// Displacement (three components) and tangential stiffness.
    pub slide: [[R; WIDTH]; 4],
}

/// What eight contacts remember of rolling: three components and the twist.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rolls<R>(pub [[R; WIDTH]; 4]);

impl<R: Real> Default for Rolls<R> {
    fn default() -> Self {
        Rolls([[R::of(0.0); WIDTH]; 4])
    }
}

impl<R: Real> Batch<R> {
    /// Lanes in which nothing meets.
    pub fn empty(i: u32) -> Self {
        Batch { i: [i; WIDTH], j: [i; WIDTH], slide: [[R::of(0.0); WIDTH]; 4] }
    }
}

/// Pairs of spheres, those that touch first.
#[derive(Clone, Debug)]
pub struct Pairs<R> {
    pub batches: Vec<Batch<R>>,
    /// Of each batch; empty where nothing rolls.
    pub rolls: Vec<Rolls<R>>,
    /// Of each batch, the lanes that touched at the last evaluation.
    pub touching: Vec<u8>,
}

impl<R> Default for Pairs<R> {
    fn default() -> Self {
        Pairs { batches: Vec::new(), rolls: Vec::new(), touching: Vec::new() }
    }
}

impl<R: Real> Pairs<R> {
    /// The batches, each with the lanes that touch.
    pub fn with_touching(&self) -> impl Iterator<Item = (&Batch<R>, u8)> {
        self.batches.iter().zip(self.touching.iter().copied())
    }

    fn clear(&mut self) {
        self.batches.clear();
        self.rolls.clear();
        self.touching.clear();
    }

    fn fits(&self, i: impl Fn(&u32) -> bool, j: impl Fn(&u32) -> bool) -> bool {
        self.batches.iter().all(|b| b.i.iter().all(&i) && b.j.iter().all(&j))
            && self.touching.len() == self.batches.len()
    }

    fn memory_bytes(&self) -> usize {
        self.batches.capacity() * size_of::<Batch<R>>()
            + self.rolls.capacity() * size_of::<Rolls<R>>()
            + self.touching.capacity()
    }
}

/// The lists of one block.
#[derive(Clone, Debug)]
pub struct BlockLists<R> {
    /// One past the last sphere of the block.
    pub end: u32,
    /// Pairs within the block.
    pub inner: Pairs<R>,
    /// Pairs with spheres of other blocks.
    pub cross: Pairs<R>,
    pub walls: Vec<WallBatch<R>>,
    pub wall_rolls: Vec<Rolls<R>>,
    /// Of each batch of `walls`, where there are facings; else empty.
    pub feet: Vec<Feet>,
    /// Spheres near triangles.
    pub facings: Vec<Facing>,
    /// The triangles of the facings, those of each together.
    pub triangles: Vec<u32>,
    /// Nothing meets here, and the loads say so already.
    pub idle: bool,
}

impl<R> Default for BlockLists<R> {
    fn default() -> Self {
        BlockLists {
            end: 0,
            inner: Pairs::default(),
            cross: Pairs::default(),
            walls: Vec::new(),
            wall_rolls: Vec::new(),
            feet: Vec::new(),
            facings: Vec::new(),
            triangles: Vec::new(),
            idle: false,
        }
    }
}

impl<R> BlockLists<R> {
    /// Whether nothing in the block may meet anything.
    pub fn is_empty(&self) -> bool {
        self.inner.batches.is_empty() && self.cross.batches.is_empty() && self.walls.is_empty()
    }
}

impl<R: Real> BlockLists<R> {
    /// Whether every index is in range, the block's own spheres being `own`: what the kernel's unchecked access rests on.
    pub fn fits(&self, own: std::ops::Range<usize>, spheres: usize) -> bool {
        let own = own.start as u32..own.end as u32;
        let inside = |i: &u32| own.contains(i);
        own.end as usize <= spheres
            && self.inner.fits(inside, inside)
            && self.cross.fits(inside, |&j| (j as usize) < spheres)
            && self.walls.iter().all(|b| b.i.iter().all(inside))
            && self.facings.iter().all(|f| {
                inside(&f.i)
                    && f.from <= f.to
                    && f.to as usize <= self.triangles.len()
                    && f.lanes as usize <= MOST_TOUCHES
                    && f.lane as usize % WIDTH + f.lanes as usize <= WIDTH
                    && (f.lane as usize) < WIDTH * self.walls.len()
            })
    }

    /// Gives the facings feet that have not been asked yet where they stand.
    pub fn without_feet(&mut self) {
        self.feet.clear();
        self.feet.resize(if self.facings.is_empty() { 0 } else { self.walls.len() }, Feet::default());
        for (n, f) in self.facings.iter().enumerate() {
            let (batch, k) = (f.lane as usize / WIDTH, f.lane as usize % WIDTH);
            for k in k..k + f.lanes as usize {
                self.feet[batch].room[k] = -1.0;
                self.feet[batch].facing[k] = n as u32;
            }
        }
    }

    /// Bytes held.
    pub fn memory_bytes(&self) -> usize {
        self.inner.memory_bytes()
            + self.cross.memory_bytes()
            + self.walls.capacity() * size_of::<WallBatch<R>>()
            + self.wall_rolls.capacity() * size_of::<Rolls<R>>()
            + self.feet.capacity() * size_of::<Feet>()
            + self.facings.capacity() * size_of::<Facing>()
            + 4 * self.triangles.capacity()
    }
}

/// Number of grains in a block, from the number of grains alone: enough blocks to share, large enough that few contacts
/// cross.
pub fn block_size(grains: usize, spheres: usize) -> usize {
    let per_grain = (spheres / grains.max(1)).max(1);
    (grains / 16).next_power_of_two().clamp(256, 2048) / per_grain.next_power_of_two().min(64)
}

/// Fills batches lane by lane.
struct Filler<'a, R> {
    pairs: &'a mut Pairs<R>,
    rolling: bool,
    used: usize,
}

impl<R: Real> Filler<'_, R> {
    fn push(&mut self, i: u32, j: u32, carried: Option<Kept<R>>) {
        let k = self.used % WIDTH;
        if k == 0 {
            self.pairs.batches.push(Batch::empty(i));
            self.pairs.touching.push(0);
            if self.rolling {
                self.pairs.rolls.push(Rolls::default());
            }
        }
        self.used += 1;
        let Pairs { batches, rolls, touching } = &mut *self.pairs;
        let (Some(batch), Some(touching)) = (batches.last_mut(), touching.last_mut()) else { return };
        (batch.i[k], batch.j[k]) = (i, j);
        if let Some((slide, roll)) = carried {
            *touching |= 1 << k;
            for c in 0..4 {
                batch.slide[c][k] = slide[c];
            }
            if let Some(rolls) = rolls.last_mut() {
                for c in 0..4 {
                    rolls.0[c][k] = roll[c];
                }
            }
        }
    }
}

/// A pair within reach; the top bit of `j` says whether it (all but) touches.
#[derive(Clone, Copy, Debug)]
struct Near {
    i: u32,
    j: u32,
}

/// Spheres are fewer than this; the bit is [`Near`]'s.
pub const MOST_SPHERES: u32 = 1 << 31;
const TOUCHES: u32 = MOST_SPHERES;

impl Near {
    fn new(i: u32, j: u32, touches: bool) -> Near {
        Near { i, j: if touches { j | TOUCHES } else { j } }
    }

    fn touches(self) -> bool {
        self.j & TOUCHES != 0
    }

    fn partner(self) -> u32 {
        self.j & !TOUCHES
    }

    /// The pair as its partner sees it.
    fn turned(self) -> Near {
        Near::new(self.partner(), self.i, self.touches())
    }
}

/// What a rebuild works in, kept from one to the next: fresh memory would cost as much as the search.
#[derive(Debug)]
pub struct Scratch<R> {
    carry: Carry<R>,
    /// By block, pairs with a sphere of another block, in the order of those blocks.
    outgoing: Vec<Vec<Near>>,
}

/// Spheres with what their grains may move, read where they lie: a copy would be a twelfth of all memory.
pub struct Reaching<'a, R> {
    pub spheres: &'a Spheres<R>,
    /// What each grain may move [m].
    pub budget: &'a [f32],
    /// In a sheared cell, how places become those of a box.
    pub skew: Option<Skew>,
}

/// A sheared cell as a box: x' = x − t (z − z₀). Distances grow by a factor at most, and so reaches do.
#[derive(Clone, Copy, Debug)]
pub struct Skew {
    tilt: f64,
    floor: f64,
    stretch: f64,
    margin: f64,
}

impl Skew {
    /// Of a cell from a height [m], whose image above is so far to the side of it over the cell's height; spheres reach a margin [m] farther.
    pub fn new(tilt: f64, floor: f64, margin: f64) -> Skew {
        // The largest singular value of the shear.
        Skew { tilt, floor, stretch: 0.5 * (tilt.abs() + (tilt * tilt + 4.0).sqrt()), margin }
    }
}

impl<R: Real> Balls for Reaching<'_, R> {
    fn count(&self) -> usize {
        self.spheres.len()
    }
    #[inline(always)]
    fn ball(&self, s: usize) -> Ball {
        let g = if self.spheres.grain.is_empty() { s } else { self.spheres.grain[s] as usize };
        let [x, y, z, r] = self.spheres.record[s].place;
        // Budgets are f32: a hair more than they promise.
        let reach = r + f64::from(self.budget[g]) * (1.0 + 1e-6);
        match &self.skew {
            None => [x, y, z, reach],
            Some(s) => [x - s.tilt * (z - s.floor), y, z, (reach + s.margin) * s.stretch],
        }
    }
}

impl<R> Default for Scratch<R> {
    fn default() -> Self {
        Scratch { carry: Carry::default(), outgoing: Vec::new() }
    }
}

impl<R> Scratch<R> {
    /// Gives back the largest part until the next rebuild needs it: a tenth of all memory, and to have it anew costs nothing that
    /// could be measured.
    pub fn make_room(&mut self) {
        self.carry.make_room();
    }

    /// Bytes held.
    pub fn memory_bytes(&self) -> usize {
        let pairs: usize = self.outgoing.iter().map(Vec::capacity).sum();
        self.carry.memory_bytes() + pairs * size_of::<Near>()
    }
}

/// What a rebuild reads.
pub struct Rebuild<'a> {
    pub grains: &'a Grains,
    pub walls: &'a [Wall],
    pub wall_states: &'a [WallState],
    /// How much farther than a grain's own skin each wall is looked for [m].
    pub wall_skin: &'a [f64],
    pub carriers: &'a Carriers,
    /// Shapes that do not touch a ground.
    pub borne: &'a [u16],
    pub pinned: &'a Pinned,
    /// Bonded pairs are in no list.
    pub bonds: &'a Bonds,
    pub min: DVec3,
    pub period: DVec3,
    /// How places become those of a box, in a strained cell.
    pub skew: Option<Skew>,
    pub rolling: bool,
    /// Grains in a block.
    pub block: usize,
}

/// Below this gap, as a share of the distance, a pair goes to the front of its list.
const TOUCHING_GAP: f64 = 1e-4;

/// Cells over those that are free and over those that are pinned, as they were when the lists were built.
#[derive(Debug, Default)]
pub struct Grids {
    free: Neighbours,
    pinned: Neighbours,
    /// Spheres there were then.
    spheres: u32,
    /// Those of them that have gone farther since than the cells allow for.
    moved: Vec<u32>,
}

impl Grids {
    /// Visits all spheres within reach of one, some of them twice. What has moved since the cells were filled has spent as much of its budget, so
    /// that its cell still says who may be near; the newborn and those with a new budget are asked one by one.
    fn near<R: Real>(&self, ball: Ball, balls: &Reaching<'_, R>, hits: &mut Hits, mut visit: impl FnMut(u32)) {
        for grid in [&self.free, &self.pinned] {
            grid.all_near(ball, balls, hits);
            hits.pairs().iter().for_each(|p| visit(p.0));
        }
        let apart = |a: Ball, b: Ball| (0..3).map(|k| (a[k] - b[k]) * (a[k] - b[k])).sum::<f64>();
        for j in self.moved.iter().copied().chain(self.spheres..balls.count() as u32) {
            let other = balls.ball(j as usize);
            if apart(ball, other) < (ball[3] + other[3]) * (ball[3] + other[3]) {
                visit(j);
            }
        }
    }

    /// Bytes held.
    pub fn memory_bytes(&self) -> usize {
        self.free.memory_bytes() + self.pinned.memory_bytes() + 4 * self.moved.capacity()
    }
}

/// Builds the lists of all blocks anew, in place; the memory of contacts goes along.
pub fn build<R: Real>(
    r: &Rebuild<'_>,
    scratch: &mut Scratch<R>,
    grids: &mut Grids,
    spheres: &Spheres<R>,
    lists: &mut Vec<BlockLists<R>>,
    asleep: &mut Asleep<R>,
) {
    let Scratch { carry, outgoing } = scratch;
    let balls = &Reaching { spheres, budget: &r.grains.budget, skew: r.skew };
    let grain_of = |s: u32| if r.grains.all_spheres() { s } else { spheres.grain[s as usize] };
    // Spheres under a surface are for walls alone.
    let covered = |grain: u32| r.carriers.covers(r.grains.shape[grain as usize]);
    let held = |s: u32| r.pinned.has(grain_of(s) as usize);
    let among = |pinned: bool| -> Vec<u32> { (0..spheres.len() as u32).filter(|&s| held(s) == pinned).collect() };
    grids.free.build(&among(false), balls, r.min, r.period);
    grids.spheres = spheres.len() as u32;
    grids.moved.clear();
    if r.pinned.still() {
        carry.gather(lists, &Asleep::default(), r.rolling);
    } else {
        grids.pinned.build(&among(true), balls, r.min, r.period);
        let now = asleep::now(lists, spheres);
        let woken = asleep.wake(r, &now, held);
        carry.gather(lists, &woken, r.rolling);
        asleep.enter(r, carry, spheres, &now, held);
    }
    let (grids, carry) = (&*grids, &*carry);
    let blocks = r.grains.len().div_ceil(r.block);
    let range = |b: usize| r.grains.spheres_of(b * r.block..((b + 1) * r.block).min(r.grains.len()));
    let block_of = |s: u32| grain_of(s) / r.block as u32;
    let old_slot = |s: u32| spheres.listed[s as usize];
    let fill = |list: &mut Pairs<R>, pairs: &[Near]| {
        list.clear();
        let needed = pairs.len().div_ceil(WIDTH);
        if list.batches.capacity() < needed {
            // Freed first, and with some room: lists that move at every rebuild leave memory in pieces.
            list.batches = Vec::new();
            list.batches.reserve_exact(needed + needed / 32);
        }
        let mut filler = Filler { pairs: list, rolling: r.rolling, used: 0 };
        for touches in [true, false] {
            for p in pairs.iter().filter(|p| p.touches() == touches) {
                filler.push(p.i, p.partner(), carry.find(old_slot(p.i), old_slot(p.partner())));
            }
        }
    };
    outgoing.resize_with(blocks, Vec::new);
    lists.resize_with(blocks, BlockLists::default);
    // What is found within a block goes into its list at once: kept for all blocks it would be a twelfth of all memory.
    parallel::run(outgoing.iter_mut().zip(lists.iter_mut()).enumerate().collect(), 1, |(b, (outgoing, lists))| {
        let own = range(b);
        let (mut inner, mut hits) = (Vec::new(), Hits::default());
        outgoing.clear();
        for i in own.clone() {
            let radius = spheres.record[i].place[3];
            let (i, grain) = (i as u32, grain_of(i as u32));
            if held(i) || covered(grain) {
                continue;
            }
            let mut enter = |hits: &Hits| {
                for &(j, square) in hits.pairs() {
                    let other = grain_of(j);
                    if other != grain && !covered(other) && !r.bonds.join(grain as usize, other as usize) {
                        let sum = (radius + spheres.record[j as usize].place[3]) * (1.0 + TOUCHING_GAP);
                        let near = Near::new(i, j, square < sum * sum);
                        if own.contains(&(j as usize)) { inner.push(near) } else { outgoing.push(near) }
                    }
                }
            };
            grids.free.pairs_of(i, balls, &mut hits);
            enter(&hits);
            if r.pinned.count() > 0 {
                grids.pinned.all_near(balls.ball(i as usize), balls, &mut hits);
                enter(&hits);
            }
        }
        fill(&mut lists.inner, &inner);
        outgoing.sort_by_key(|o| block_of(o.partner()));
        outgoing.shrink_to(outgoing.len() + outgoing.len() / 8);
    });
    let outgoing = &*outgoing;
    parallel::run(lists.iter_mut().enumerate().collect(), 1, |(b, lists)| {
        let own = range(b);
        (lists.end, lists.idle) = (own.end as u32, false);
        let mut cross = outgoing[b].clone();
        for other in outgoing.iter().enumerate().filter(|&(a, _)| a != b).map(|(_, other)| other) {
            let from = other.partition_point(|o| (block_of(o.partner()) as usize) < b);
            let to = from + other[from..].partition_point(|o| block_of(o.partner()) as usize == b);
            cross.extend(other[from..to].iter().map(|o| o.turned()));
        }
        // A pinned grain need not know what free ones do to it. Memory is carried by the lower slot: there it must stand.
        cross.retain(|p| !(held(p.i) && p.i > p.partner()));
        fill(&mut lists.cross, &cross);
        walls::near_walls(r, balls, carry, own.clone(), lists);
        assert!(lists.fits(own, spheres.len()), "a contact list points outside its block");
    });
}
