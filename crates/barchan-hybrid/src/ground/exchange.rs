//! Grains that come to rest become ground [Papadimitriou 2012, §6.3]; how ground becomes grains is in `thaw.rs`.
//!
//! **In two steps.** A grain of the ground's material that has been still for a while is *pinned* if it lies deeper than the visible
//! layer, or if nothing disturbs it (`wake.rs`): it stays where it is, others lie on it as before, and nothing is computed between
//! pinned grains. A pinned grain well below all that a strike may let go, which no free one comes near, is taken
//! out, and becomes height of columns. So free
//! grains never touch the new ground, only grains: it has the roughness of grains, and none falls into a gap. Were grains that others lie on
//! replaced by columns at once, those others would sink by some tenth of what was replaced. A pinned grain whose cover goes is let go.
//!
//! **The account.** A grain's mass is a whole number of motes (2⁻¹⁶ of a quantum of a column's height), owed to the four columns
//! round it. What is owed beyond the room there is goes to neighbours under pinned grains; the rest is paid as height as far as there is room: the surface
//! is raised no farther into any sphere than it was before, to a millionth of its radius, so that no energy is put in. The rest
//! stays owed. Motes only change hands, so the account of mass is exact.
//!
//! Under grains the columns do not slide: what lies there is held by them.

use super::look::{Look, around};
use super::room;
use barchan_core::boundary::Boundary;
use barchan_core::frame::Population;
use barchan_core::relief::Relief;
use barchan_core::schedule::Schedule;
use barchan_dem::Dem;
use barchan_ground::{Columns, Grid, QUANTUM, metres};
use glam::{DVec2, DVec3};

/// Motes of a quantum of a column's height, as a power of two.
pub(super) const MOTES: u32 = 16;
/// How often a look shares out what is owed among neighbours.
const SHARINGS: usize = 8;
/// Held grains between the columns and what may ever be let go over them, in diameters. Between the columns and the lowest spheres over them
/// is a void of some half a diameter, which nobody must fall into: where strikes let go all that lay over it, a sixth of a large heap stayed owed to its columns, and the heap
/// stood lower by 9 %.
const SHELL: f64 = 3.0;
/// Looks in the time for which a grain must be still.
pub(super) const LOOKS: u32 = 6;
/// Time between two looks for what will strike, at most [s]: with twice that a ball came off a bowl that was not made deeper in time.
const AHEAD: f64 = 5e-3;
/// One of so many grains becoming ground at a look is many.
const MANY: usize = 50;
/// How much less deep, in diameters, what is held already is let go: the surface moves by fits and starts.
pub(super) const HELD: f64 = 0.5;
/// How far before a moving wall the layer wakes, in diameters.
pub(super) const AWAKE: f64 = 3.0;

/// What a frozen grain was, so that the ground can give its like back.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Kept {
    pub radius: f64,
    pub shape: u16,
}

/// A free grain at a look.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Watched {
    pub id: u32,
    /// Looks for which it has been still.
    pub looks: u32,
    /// Where it was [m].
    pub place: DVec3,
    /// Where it last lay still [m]; infinitely far if nowhere yet.
    pub from: DVec3,
}

/// The exchange between grains and columns, and its account.
#[derive(Clone, Debug)]
pub struct Exchange {
    /// Thickness of the visible layer [m].
    pub layer: f64,
    /// Depth down to which a strike lets grains go [m].
    pub shaken: f64,
    /// Mean diameter of the grains [m].
    pub diameter: f64,
    /// Share of the radius that a grain at rest moves at most in that time.
    pub rest: f64,
    /// Time for which a grain must be still [s].
    pub after: f64,
    /// Material that freezes.
    pub material: u16,
    /// Ids below are bodies.
    pub first: u32,
    /// Density of the grains [kg/m³].
    pub density: f64,
    /// Mass of a mote [kg].
    pub mote: f64,
    /// Depth to which a blow must go to thaw the ground [m].
    pub thaw: f64,
    /// Magnitude of gravity [m/s²].
    pub gravity: f64,
    pub schedule: Schedule,
    /// When it is looked for what will strike, and for banks.
    pub strikes: Schedule,
    /// Free grains at the last look, in the order of ids.
    pub watched: Vec<Watched>,
    /// What is owed to each column [motes].
    pub owed: Vec<i64>,
    /// What froze and has not been given back.
    pub pool: Vec<Kept>,
    pub frozen: u64,
    pub thawed: u64,
}

impl Exchange {
    /// A mass [kg] in motes.
    pub fn motes(&self, mass: f64) -> i128 {
        (mass / self.mote).round() as i128
    }

    /// Time between two looks [s].
    pub fn look(&self) -> f64 {
        self.after / f64::from(LOOKS)
    }

    /// Time between two looks for what will strike [s]: while a ball goes in it must be followed.
    pub fn ahead(&self) -> f64 {
        self.look().min(AHEAD)
    }

    /// For how many looks each grain has been still (a pinned one for enough of them), and where; 0 for one that moves, is new, or that a
    /// moving wall or body comes near to. Where it is counts, not how fast it goes: what trembles under blows stays where it is.
    fn seen(&self, frame: &Population, dem: &Dem, boundary: &Boundary) -> Vec<Watched> {
        let (walls, states) = (boundary.walls(), boundary.states());
        let solid: Vec<usize> =
            (0..walls.len()).filter(|&w| walls[w].bed().is_none() && boundary.is_there(w)).collect();
        // From one look to the next. What moves as little, but in one direction, must not pass for still: sand before a slow blade
        // was pressed against itself when a whole rest was compared with its beginning.
        let little = |i: usize| self.rest * frame.radius[i] / f64::from(LOOKS);
        let swept = |i: usize| {
            let (x, near) = (frame.position[i], AWAKE * self.diameter + frame.radius[i]);
            solid.iter().any(|&w| {
                let (wall, state) = (&walls[w], &states[w]);
                let way = self.look() * wall.surface_velocity(state, x).length();
                let reach = near + 2.0 * way;
                way > little(i) && wall.least_distance(state, x) < reach && wall.clearance(state, x) < reach
            })
        };
        let seen = |i: usize| {
            let (id, place) = (frame.id[i], frame.position[i]);
            let before = if dem.is_pinned(i) {
                Some(Watched { id, looks: LOOKS - 1, place, from: place })
            } else {
                self.watched.binary_search_by_key(&id, |w| w.id).ok().map(|k| self.watched[k])
            };
            // Who has never lain anywhere leaves no place.
            let from = before.map_or(DVec3::INFINITY, |w| w.from);
            match before {
                Some(w) if !swept(i) && w.place.distance(place) < little(i) => {
                    let looks = w.looks + 1;
                    Watched { id, looks, place, from: if looks < LOOKS { from } else { place } }
                }
                _ => Watched { id, looks: 0, place, from },
            }
        };
        (0..frame.len()).map(seen).collect()
    }

    /// All that is owed [motes].
    pub fn owed(&self) -> i128 {
        self.owed.iter().map(|&o| i128::from(o)).sum()
    }

    /// One look at all grains, after so many world steps. Whether the columns have changed.
    pub fn step(
        &mut self,
        columns: &mut Columns,
        relief: &Relief,
        dem: &mut Dem,
        boundary: &Boundary,
        steps: u64,
    ) -> bool {
        let frame = dem.population();
        let grid = *columns.grid();
        let mut seen = self.seen(&frame, dem, boundary);
        let look = Look::new(self, &grid, relief, &frame, &seen, dem);
        let awake = self.awake(&look, &frame, &mut seen, dem);
        columns.cover(self.held(&grid, relief, &frame));
        let pinned = self.pin(&look, &frame, dem, &seen, &awake);
        let gone = self.pick(&look, &frame, &pinned, dem);
        let mut stays = vec![true; frame.len()];
        gone.iter().for_each(|&row| stays[row] = false);
        for &row in &gone {
            self.take(&grid, &frame, row);
        }
        let mut paid = Vec::new();
        // Looking for room costs as much as the rest of a look, and there is no haste; but many that become ground at once leave a void, into
        // which those above would fall.
        let many = gone.len() * MANY > frame.len();
        let due = many || self.schedule.count(steps) % u64::from(LOOKS) == 1;
        if due && self.owed.iter().any(|&o| o >> MOTES > 0) {
            // Columns may rise under grains, all of them pinned, and where all grains have become ground. What is free keeps the ground
            // it lies on.
            let bare = |c: usize| self.owed[c] > 0 && !columns.is_pressed(c);
            let mut open: Vec<bool> = (0..grid.len()).map(bare).collect();
            self.near(&grid, &frame, |_, _, _| true).into_iter().for_each(|c| open[c] = false);
            // Those over a void lie on what is owed there.
            let risen = |c: usize| relief.height[c] + metres((self.owed[c] >> MOTES).max(0));
            self.near(&grid, &frame, |_, c, low| low < risen(c)).into_iter().for_each(|c| open[c] = true);
            self.under(&grid, relief, &frame, |i| !pinned[i]).into_iter().for_each(|c| open[c] = false);
            let mut room = room::over(columns, &frame, &stays);
            room.iter_mut().zip(&open).filter(|r| !r.1).for_each(|r| *r.0 = Some(0));
            self.share(&grid, &open, &room);
            let most = |room: Option<i64>| room.unwrap_or(i64::MAX);
            let wanted = self.owed.iter().zip(&room).map(|(&o, &room)| (o >> MOTES).clamp(0, most(room))).collect();
            paid = room::rise(wanted, columns, relief, &frame, &stays);
        }
        let mut ids: Vec<u32> = gone.iter().map(|&row| frame.id[row]).collect();
        ids.sort_unstable();
        let held: Vec<u32> = (0..frame.len()).filter(|&i| pinned[i] && stays[i]).map(|i| frame.id[i]).collect();
        if !ids.is_empty() {
            dem.remove_where(&|id, _| ids.binary_search(&id).is_ok());
        }
        dem.set_pinned(&held);
        for &(column, quanta) in &paid {
            let taken = columns.raise(column, quanta);
            self.owed[column] -= taken << MOTES;
        }
        !paid.is_empty()
    }

    /// Which rows are pinned from now on; notes where the others are.
    fn pin(&mut self, look: &Look, frame: &Population, dem: &Dem, seen: &[Watched], awake: &[f64]) -> Vec<bool> {
        let held = |i: usize| {
            let depth = look.depth(frame.position[i]);
            match dem.is_pinned(i) {
                _ if seen[i].looks == 0 || !look.lies(frame.position[i]) => false,
                true => depth > awake[i] - HELD * self.diameter,
                false => seen[i].looks >= LOOKS && depth > awake[i],
            }
        };
        let pinned: Vec<bool> = (0..frame.len()).map(|i| self.may(frame, i) && held(i)).collect();
        let free = (0..frame.len()).filter(|&i| !pinned[i]);
        self.watched = free.map(|i| seen[i]).collect();
        self.watched.sort_unstable_by_key(|w| w.id);
        pinned
    }

    /// Rows of the grains that become columns now: pinned for a look at least, well below what a strike lets go, and no free grain near.
    fn pick(&self, look: &Look, frame: &Population, pinned: &[bool], dem: &Dem) -> Vec<usize> {
        // The lowest centre of a free grain, in each bin.
        let mut low = vec![f64::INFINITY; look.top.len()];
        for i in (0..frame.len()).filter(|&i| !pinned[i]) {
            let bin = look.bin(frame.position[i]);
            low[bin] = low[bin].min(frame.position[i].z);
        }
        let shell = SHELL * self.diameter;
        let alone = |i: usize| {
            let x = frame.position[i];
            look.depth(x) > self.shaken + shell && look.around(look.bin(x), 1).all(|bin| x.z + shell < low[bin])
        };
        (0..frame.len()).filter(|&i| pinned[i] && dem.is_pinned(i) && alone(i)).collect()
    }

    /// Columns that must not slide, in order: those on which grains lie or lean, or nearly so.
    pub fn held(&self, grid: &Grid, relief: &Relief, frame: &Population) -> Vec<usize> {
        let leans = |i: usize, c: usize, low: f64| {
            around(grid, c, reach(grid, frame.radius[i])).any(|c| low < relief.height[c])
        };
        self.near(grid, frame, leans)
    }

    /// Columns under those of the grains that lie on them, or nearly so, in order.
    fn under(&self, grid: &Grid, relief: &Relief, frame: &Population, some: impl Fn(usize) -> bool) -> Vec<usize> {
        self.near(grid, frame, |i, c, low| some(i) && low < relief.height[c])
    }

    /// Columns round spheres for which `meets` says so, asked by the grain's row, by the column under the sphere and by its lowest point, a diameter
    /// less, above the floor [m].
    fn near(&self, grid: &Grid, frame: &Population, meets: impl Fn(usize, usize, f64) -> bool) -> Vec<usize> {
        let mut near = vec![false; grid.len()];
        for s in frame.spheres() {
            let (x, r) = (s.centre, s.radius);
            let Some(c) = grid.column_at(x.x, x.y) else { continue };
            if meets(s.grain, c, x.z - r - grid.origin.z - self.diameter) {
                around(grid, c, reach(grid, r)).for_each(|c| near[c] = true);
            }
        }
        (0..near.len()).filter(|&c| near[c]).collect()
    }

    /// Shares what is owed beyond what there is room for [quanta] among neighbours that may rise, so that what is too much here meets
    /// what is too little there. Under grains only: beside a heap there is room for all of it, and it grew towers at its foot.
    fn share(&mut self, grid: &Grid, open: &[bool], room: &[Option<i64>]) {
        for _ in 0..SHARINGS {
            let motes = |room: Option<i64>| room.map_or(i64::MAX, |room| room.saturating_mul(1 << MOTES));
            let excess: Vec<i64> = self.owed.iter().zip(room).map(|(&o, &r)| o.saturating_sub(motes(r))).collect();
            for c in (0..grid.len()).filter(|&c| excess[c] > 0) {
                for n in around(grid, c, 1).filter(|&n| n != c && open[n] && room[n].is_some()) {
                    let part = (excess[c] - excess[n].max(0)).max(0) / 9;
                    self.owed[n] += part;
                    self.owed[c] -= part;
                }
            }
        }
    }

    /// Whether a grain is of the sort that freezes.
    fn may(&self, frame: &Population, i: usize) -> bool {
        frame.id[i] >= self.first && frame.material[i] == self.material && frame.radius[i] < self.diameter
    }

    /// Enters a grain into the account, as owed to the four columns round it.
    fn take(&mut self, grid: &Grid, frame: &Population, row: usize) {
        let all = self.motes(frame.mass[row]) as i64;
        let [nx, ny] = grid.size;
        let most = DVec2::new((nx - 1) as f64, (ny - 1) as f64);
        let at = ((frame.position[row] - grid.origin).truncate() / grid.cell - 0.5).clamp(DVec2::ZERO, most);
        let (x, y, u) = (at.x as usize, at.y as usize, at.fract());
        let (x1, y1) = ((x + 1).min(nx - 1), (y + 1).min(ny - 1));
        let mut left = all;
        for (column, share) in
            [(x1 + y * nx, u.x * (1.0 - u.y)), (x + y1 * nx, (1.0 - u.x) * u.y), (x1 + y1 * nx, u.x * u.y)]
        {
            let part = (all as f64 * share) as i64;
            self.owed[column] += part;
            left -= part;
        }
        self.owed[x + y * nx] += left;
        self.pool.push(Kept { radius: frame.radius[row], shape: frame.shape[row] });
        self.frozen += 1;
    }
}

/// How many columns away from its own a grain of that radius [m] may touch the ground.
fn reach(grid: &Grid, radius: f64) -> usize {
    (radius / grid.cell).ceil() as usize + 1
}

/// Mass of a mote [kg] in a ground of that density [kg/m³] and packing.
pub(super) fn mote(grid: &Grid, density: f64, packing: f64) -> f64 {
    density * packing * grid.cell * grid.cell * QUANTUM / f64::from(1_u32 << MOTES)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A pour of 50,000 stopped at 40,000: what was owed inside the heap had gone, column by column, to bare ones at its foot, and stood there as towers of
    /// 40 mm with grains between them.
    #[test]
    fn what_is_owed_under_grains_does_not_leave_them() {
        let (low, high) = (DVec3::new(-0.03, -0.03, -0.01), DVec3::new(0.03, 0.03, 0.1));
        let (_, _, mut ground) = super::super::testing::world(|_| 0.0, [low, high], vec![]);
        let grid = *ground.columns.grid();
        let exchange = ground.exchange.as_mut().unwrap();
        // Grains over the columns of one half, with room for a quantum each; the other half is bare.
        let [nx, ny] = grid.size;
        let under = |c: usize| c % nx < nx / 2;
        let room: Vec<Option<i64>> = (0..grid.len()).map(|c| under(c).then_some(1)).collect();
        exchange.owed = vec![0; grid.len()];
        let much = 1000 << MOTES;
        exchange.owed[nx / 2 - 1 + ny / 2 * nx] = much;
        for _ in 0..100 {
            exchange.share(&grid, &vec![true; grid.len()], &room);
        }
        let inside: i64 = (0..grid.len()).filter(|&c| under(c)).map(|c| exchange.owed[c]).sum();
        assert_eq!(inside, much, "all of it");
        let most = *exchange.owed.iter().max().unwrap();
        assert!(most < much / 50, "and shared out: {most} of {much}");
    }
}
