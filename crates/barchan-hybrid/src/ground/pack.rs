//! Grains for ground that was dug out: packed as sand that was poured there, not set on a lattice.
//!
//! Grains are laid one by one, each at the lowest place there is: the place is sought from points half a diameter apart over what was dug,
//! the one over which there is room lowest first, and from there downhill until the grain lies in a hollow [Visscher and Bolsterli 1972,
//! Nature 239, 504, who roll grains down; Bennett 1972, J. Appl. Phys. 43, 2727, who takes the lowest hollow]. A hollow under an overhang counts too. So a wedge four diameters thick takes
//! 95 % of its mass, where a lattice of the largest size took 59 % (docs/decisions/0004-ground.md).
//!
//! Sizes are those of grains that froze (chosen by a random number of their own for each), or of the scene's grains where the ground was
//! there from the start. A grain's centre stays below the old surface: that is where a bed of that mass has its uppermost grains. What
//! finds no place stays owed to the columns. All runs on one thread in a fixed order; a grain costs some 50 µs.

use super::exchange::{Exchange, Kept, MOTES};
use barchan_core::boundary::Boundary;
use barchan_core::frame::Population;
use barchan_core::recipe::Recipe;
use barchan_core::relief::Relief;
use barchan_core::rng::Random;
use barchan_core::solver::NewMatter;
use barchan_core::walls::{Bed, Geometry, Wall, WallState};
use barchan_ground::{Columns, Grid, metres};
use glam::{DQuat, DVec2, DVec3};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::f64::consts::TAU;
use std::sync::Arc;

/// Random numbers of thawed grains: apart from all populations of scenes, and from grains poured by hand.
const THAWED: u64 = ((1 << 24) - 2) << 40;
/// Distance of the points from which places are sought, in mean diameters.
const APART: f64 = 0.5;
/// First and last stride downhill, in radii.
const STRIDES: [f64; 2] = [0.5, 0.03];
/// Strides at most.
const MOST_STRIDES: usize = 40;
/// Directions that are tried at each stride.
const DIRECTIONS: usize = 6;
/// By how much of the sum of their radii grains are farther apart. Laid so that they touch they are jammed, and a steel ball thrown at a
/// bowl of them bounced; with this room it goes in, as into sand that was poured.
const ROOM: f64 = 0.02;
/// The same for rounding, to the ground.
const MARGIN: f64 = 1e-9;
/// How often a point may have no place for a grain before it is given up: the next may be smaller.
const REFUSALS: u32 = 2;
/// Tries to lift a grain clear of the ground it is beside.
const LIFTS: usize = 4;

impl Exchange {
    /// Grains for what was dug out, and for what was owed there; what is left over is owed to the columns it came from.
    pub(super) fn settle(
        &mut self,
        columns: &Columns,
        before: &Relief,
        boundary: &Boundary,
        frame: &Population,
        recipe: &Recipe,
        dug: &[(usize, i64)],
    ) -> Vec<NewMatter> {
        if dug.is_empty() {
            return Vec::new();
        }
        let mut left: i128 = dug.iter().map(|d| i128::from(d.1) << MOTES).sum();
        left += dug.iter().map(|d| i128::from(std::mem::take(&mut self.owed[d.0]))).sum::<i128>();
        let mut room = Room::new(self, columns, before, boundary, frame, dug);
        let mut points = Points::new(columns.grid(), &room, dug, APART * self.diameter, 0.5 * self.diameter);
        let mut grains = Vec::new();
        'grains: while left > 0 {
            let mut random = Random::new(recipe.seed, THAWED | self.thawed);
            let chosen = (!self.pool.is_empty()).then(|| random.index(self.pool.len()));
            let kept = match chosen {
                Some(k) => self.pool[k],
                None => Kept { radius: recipe.sizes.sample(&mut random), shape: recipe.shape },
            };
            let shape = &frame.shapes[kept.shape as usize];
            let reach = kept.radius * shape.bounding_radius();
            let mass = self.density * shape.volume() * kept.radius.powi(3);
            // The solver keeps the inverse: what it will say of the grain, to the last bit.
            let cost = self.motes(1.0 / (1.0 / mass));
            if cost > left {
                break;
            }
            let position = loop {
                let Some((point, z)) = points.lowest(&room) else { break 'grains };
                let turned = random.range(0.0, TAU / DIRECTIONS as f64);
                let found = room.descend(points.at[point].extend(z - self.diameter), reach, turned);
                points.tried(point, found.is_some());
                if let Some(x) = found {
                    room.stack.insert(x, reach);
                    points.put_back(point, z, &room);
                    break x;
                }
                points.put_back(point, z, &room);
            };
            let orientation = if shape.is_sphere() { DQuat::IDENTITY } else { random.unit_quaternion() };
            grains.push(NewMatter {
                position,
                velocity: DVec3::ZERO,
                spin: DVec3::ZERO,
                orientation,
                radius: kept.radius,
                mass: Some(mass),
                material: self.material,
                shape: kept.shape,
            });
            left -= cost;
            self.thawed += 1;
            if let Some(k) = chosen {
                self.pool.swap_remove(k);
            }
        }
        self.owe(left, dug);
        grains
    }

    /// Enters what was not placed as owed to the columns it came from, in proportion.
    fn owe(&mut self, left: i128, dug: &[(usize, i64)]) {
        let all: i128 = dug.iter().map(|d| i128::from(d.1)).sum();
        let mut rest = left;
        for &(column, quanta) in dug {
            let part = left * i128::from(quanta) / all.max(1);
            self.owed[column] += part as i64;
            rest -= part;
        }
        if let Some(&(column, _)) = dug.last() {
            self.owed[column] += rest as i64;
        }
    }
}

/// Points over the dug columns from which places for grains are sought, the lowest first.
struct Points {
    at: Vec<DVec2>,
    refusals: Vec<u32>,
    /// Radius with which points are compared [m].
    radius: f64,
    /// Height above the floor [nm] at which there was room over a point, and which point.
    queue: BinaryHeap<Reverse<(i64, usize)>>,
}

impl Points {
    fn new(grid: &Grid, room: &Room<'_>, dug: &[(usize, i64)], apart: f64, radius: f64) -> Points {
        let n = (grid.cell / apart).ceil().clamp(1.0, 1e3) as usize;
        let corner = DVec2::splat(0.5 * grid.cell);
        let within = |k: usize| (DVec2::new((k % n) as f64, (k / n) as f64) + 0.5) * (grid.cell / n as f64) - corner;
        let at: Vec<DVec2> = dug.iter().flat_map(|d| (0..n * n).map(|k| grid.centre(d.0) + within(k))).collect();
        let mut points = Points { refusals: vec![0; at.len()], at, radius, queue: BinaryHeap::new() };
        (0..points.at.len()).for_each(|k| points.put_back(k, f64::NEG_INFINITY, room));
        points
    }

    /// Height above the floor [nm] at which there is room over a point, not below that of a height [m].
    fn key(&self, point: usize, from: f64, room: &Room<'_>) -> i64 {
        let at = self.at[point];
        // Beside a wall there may be no room at the point itself, but near it.
        let place = room.place(at.extend(from), self.radius).or_else(|| room.floor(at, self.radius));
        place.map_or(i64::MAX, |z| ((z - room.ground.origin.z) * 1e9) as i64)
    }

    /// The height of a key [m].
    fn height(key: i64, room: &Room<'_>) -> f64 {
        room.ground.origin.z + key as f64 * 1e-9
    }

    /// The point over which there is room lowest, and its height [m]. Room only shrinks, so what is no higher than it was is the lowest.
    fn lowest(&mut self, room: &Room<'_>) -> Option<(usize, f64)> {
        while let Some(Reverse((was, point))) = self.queue.pop() {
            let key = self.key(point, Points::height(was, room), room);
            // To a micrometre, or rounding would send it round again.
            if key <= was + 1000 {
                return Some((point, Points::height(key, room)));
            }
            self.queue.push(Reverse((key, point)));
        }
        None
    }

    /// Notes whether a point had a place.
    fn tried(&mut self, point: usize, found: bool) {
        self.refusals[point] = if found { 0 } else { self.refusals[point] + 1 };
    }

    fn put_back(&mut self, point: usize, from: f64, room: &Room<'_>) {
        let key = self.key(point, from, room);
        if self.refusals[point] < REFUSALS && key < i64::MAX {
            self.queue.push(Reverse((key, point)));
        }
    }
}

/// What a grain must be clear of, and the old surface that its centre must be below.
struct Room<'a> {
    stack: Stack,
    before: &'a Relief,
    ground: Arc<Relief>,
    bed: Wall,
    walls: Vec<(&'a Wall, &'a WallState)>,
}

impl<'a> Room<'a> {
    fn new(
        exchange: &Exchange,
        columns: &Columns,
        before: &'a Relief,
        boundary: &'a Boundary,
        frame: &Population,
        dug: &[(usize, i64)],
    ) -> Room<'a> {
        let grid = columns.grid();
        let ends = |&(column, _): &(usize, i64)| {
            let (at, floor) = (grid.centre(column), grid.origin.z + metres(columns.heights()[column]));
            (at.extend(floor), at.extend(before.origin.z + before.height[column]))
        };
        let (low, high) = dug
            .iter()
            .map(ends)
            .fold((DVec3::INFINITY, DVec3::NEG_INFINITY), |(l, h), (low, high)| (l.min(low), h.max(high)));
        let wide = DVec3::splat(grid.cell + 2.0 * exchange.diameter);
        let (low, high) = (low - wide, high + wide);
        let mut stack = Stack { width: 2.0 * exchange.diameter, bins: HashMap::new() };
        for i in 0..frame.len() {
            let (x, r) = (frame.position[i], 3.0 * frame.radius[i]);
            if (x + r).cmpge(low).all() && (x - r).cmple(high).all() {
                frame.spheres_of(i).for_each(|s| stack.insert(s.centre, s.radius));
            }
        }
        let height = columns.heights().iter().map(|&h| metres(h)).collect();
        let ground = Arc::new(Relief { height, ..*before });
        let bed = Wall::new("ground", Geometry::Relief(Arc::new(Bed::new(ground.clone()))), 0);
        let (walls, states) = (boundary.walls(), boundary.states());
        let (middle, round) = (0.5 * (low + high), 0.5 * (high - low).length());
        let near = |w: &usize| {
            let there = walls[*w].bed().is_none() && boundary.is_there(*w);
            there
                && walls[*w].least_distance(&states[*w], middle) < round
                && walls[*w].clearance(&states[*w], middle) < round
        };
        let walls = (0..walls.len()).filter(near).map(|w| (&walls[w], &states[w])).collect();
        Room { stack, before, ground, bed, walls }
    }

    /// Height of a ball's centre over a point that would lie on the ground, were it as steep round it as it is there [m].
    fn floor(&self, at: DVec2, r: f64) -> Option<f64> {
        let over = self.ground.over(at.x, at.y)?;
        Some(over.z + r * (1.0 + over.slope.length_squared()).sqrt() * (1.0 + MARGIN))
    }

    /// The lowest height of a ball's centre over a point, not below that, at which it touches nothing [m].
    fn place(&self, from: DVec3, r: f64) -> Option<f64> {
        let at = from.truncate();
        let mut z = self.stack.lowest(at, r, self.floor(at, r)?.max(from.z));
        for _ in 0..LIFTS {
            // Asked a little beyond the radius: what is farther is said to be as far as was asked, to rounding.
            let ground = self.bed.nearest_to_ball(&WallState::default(), 0, at.extend(z), 1.1 * r);
            if ground.distance >= r {
                let free = |(wall, state): &(&Wall, &WallState)| wall.clearance(state, at.extend(z)) >= r;
                return self.walls.iter().all(free).then_some(z);
            }
            let lift = (r * (1.0 + MARGIN) - ground.distance) / ground.normal.z.max(0.2);
            z = self.stack.lowest(at, r, z + lift);
        }
        None
    }

    /// How good a place over a point is, the less the better: how far its centre would be above the old surface [m], then how high [m].
    fn worth(&self, at: DVec3, r: f64) -> (f64, f64) {
        let found = self.place(at, r).zip(self.before.over(at.x, at.y));
        found.map_or((f64::INFINITY, f64::INFINITY), |(z, over)| ((z - over.z).max(0.0), z))
    }

    /// Where a ball comes to lie downhill from a point without leaving what was dug, and not below that, if its centre is then below the old surface.
    fn descend(&self, from: DVec3, r: f64, turned: f64) -> Option<DVec3> {
        let (mut at, mut worth, mut stride) = (from, self.worth(from, r), STRIDES[0] * r);
        for _ in 0..MOST_STRIDES {
            let to =
                |k: usize| at + (DVec2::from_angle(turned + k as f64 * TAU / DIRECTIONS as f64) * stride).extend(0.0);
            let tried = (0..DIRECTIONS).map(|k| (to(k), self.worth(to(k), r)));
            let best = tried.fold((at, worth), |best, next| if next.1 < best.1 { next } else { best });
            if best.1 < worth {
                (at, worth) = best;
            } else {
                stride *= 0.5;
            }
            if stride < STRIDES[1] * r {
                break;
            }
        }
        (worth.0 == 0.0).then(|| at.with_z(worth.1))
    }
}

/// Spheres in square bins seen from above, each in all the bins that it reaches into. Bins are asked for by their place only, so that the
/// order in which the map keeps them is of no account.
struct Stack {
    width: f64,
    bins: HashMap<(i64, i64), Bin>,
}

/// Spheres from below, and the largest radius [m].
#[derive(Default)]
struct Bin {
    spheres: Vec<(DVec3, f64)>,
    largest: f64,
}

impl Stack {
    fn bins(&self, at: DVec2, r: f64) -> impl Iterator<Item = (i64, i64)> + use<> {
        let (low, high) = (((at - r) / self.width).floor().as_i64vec2(), ((at + r) / self.width).floor().as_i64vec2());
        (low.y..=high.y).flat_map(move |y| (low.x..=high.x).map(move |x| (x, y)))
    }

    fn insert(&mut self, x: DVec3, r: f64) {
        for bin in self.bins(x.truncate(), r) {
            let bin = self.bins.entry(bin).or_default();
            bin.spheres.insert(bin.spheres.partition_point(|s| s.0.z < x.z), (x, r));
            bin.largest = bin.largest.max(r);
        }
    }

    /// The lowest height, from `z` [m] on, at which the centre of a ball over a point is clear of all spheres.
    fn lowest(&self, at: DVec2, r: f64, mut z: f64) -> f64 {
        // From where to where a sphere is in the way.
        let mut barred: Vec<(f64, f64)> = Vec::with_capacity(32);
        for bin in self.bins(at, r) {
            let Some(bin) = self.bins.get(&bin) else { continue };
            let below = bin.spheres.partition_point(|s| s.0.z < z - (r + bin.largest) * (1.0 + ROOM));
            for &(x, q) in &bin.spheres[below..] {
                let apart = (r + q) * (1.0 + ROOM);
                let square = apart * apart - x.truncate().distance_squared(at);
                if square > 0.0 && x.z + square.sqrt() > z {
                    barred.push((x.z - square.sqrt(), x.z + square.sqrt()));
                }
            }
        }
        barred.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        for (from, to) in barred {
            if from >= z {
                break;
            }
            z = z.max(to);
        }
        z
    }
}

#[cfg(test)]
mod tests {
    use super::super::{relief_of, testing};
    use super::*;
    use barchan_ground::QUANTUM;

    /// The share of the mass that finds place where a bank is dug down to `floor` (of how far behind the face a column is [m]).
    fn share_placed(floor: impl Fn(f64) -> f64) -> f64 {
        // A bank of ground, twelve grains high, between two walls, and one grain far from it.
        let (low, high) = (DVec3::new(-0.1, -0.03, -0.01), DVec3::new(0.1, 0.03, 0.2));
        let side =
            |y: f64, normal: DVec3| Wall::new("side", Geometry::Plane { point: DVec3::new(0.0, y, 0.0), normal }, 0);
        let walls = vec![side(0.03, -DVec3::Y), side(-0.03, DVec3::Y)];
        let bank = |at: DVec2| 0.036 * (-1000.0 * at.x).clamp(0.0, 1.0);
        let (mut dem, boundary, mut ground) = testing::world(bank, [low, high], walls);
        dem.add(&[testing::ball(0, 1.5e-3, DVec3::new(0.09, 0.0, 0.06), DVec3::ZERO)], &boundary).unwrap();
        let before = relief_of(&ground.columns);
        let grid = *ground.columns.grid();
        let mut dug = Vec::new();
        for c in 0..grid.len() {
            let quanta = ground.columns.heights()[c] - (floor(-grid.centre(c).x) / QUANTUM) as i64;
            if quanta > 0 {
                dug.push((c, ground.columns.lower(c, quanta)));
            }
        }
        let (recipe, frame) = (ground.recipe.clone().unwrap(), dem.population());
        let exchange = ground.exchange.as_mut().unwrap();
        let grains = exchange.settle(&ground.columns, &before, &boundary, &frame, &recipe, &dug);
        for (k, a) in grains.iter().enumerate() {
            for b in &grains[k + 1..] {
                assert!(a.position.distance(b.position) >= a.radius + b.radius, "{} and {}", a.position, b.position);
            }
            assert!(a.position.y.abs() <= 0.03 - a.radius, "{} is in a wall", a.position);
            assert!(a.position.z <= before.over(a.position.x, a.position.y).unwrap().z, "{}", a.position);
        }
        let all: i128 = dug.iter().map(|d| i128::from(d.1) << MOTES).sum();
        1.0 - exchange.owed() as f64 / all as f64
    }

    #[test]
    fn a_wedge_of_a_bank_and_a_layer_take_their_mass_in_grains() {
        let slope = 0.436_f64.tan();
        let wedge = |far: f64| share_placed(move |behind| if behind < far { slope * behind } else { 1.0 });
        // A level layer loses some at the smooth floor, where no grain can lie in a hollow.
        let layer = share_placed(|_| 0.036 - 0.012);
        let shares = [layer, wedge(1.0), wedge(0.012), wedge(0.003)];
        for (share, least) in shares.into_iter().zip([0.85, 0.9, 0.9, 0.95]) {
            assert!(
                share > least && share <= 1.0,
                "of a layer, a bank, four diameters and one behind its face: {shares:?}"
            );
        }
    }
}
