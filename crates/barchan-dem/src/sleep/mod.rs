//! Sleep: grains at rest are not integrated, and nothing is computed between them, until something matters to them.
//!
//! A sleeping grain is pinned ([`crate::pinned`]): it stays where it is, and what is awake touches it as before. Who wakes follows from the
//! graph of contacts alone, whatever the direction of gravity and the shape of the heap. The [`Ledger`] keeps, for each sleeping grain, the
//! force of each partner when it fell asleep, and the force now. **A grain wakes when the sum of all changes exceeds a share of what it
//! bore.** A partner that leaves takes its force away; one that arrives, strikes or rolls over adds one. So the grains of a bed wake as far
//! down as a load is felt, and no farther: deeper ones bear more.
//!
//! What cannot be seen by forces wakes too: grains that will be struck (`strike.rs`), those near a moving wall or body, and those that
//! touched a wall that has moved.
//!
//! Loads on walls and what observers see of contacts stay complete: contacts of which nothing is computed are kept as they were.

mod ledger;
mod strike;

use crate::bodies::Carrier;
use crate::kernel::Kernels;
use crate::state::vec3;
use crate::step::Solver;
use barchan_core::columns::{Column, Columns, Saved, Unfit, of_length};
use barchan_core::schedule::Schedule;
use barchan_core::solver::Partner;
use glam::DVec3;
use ledger::Ledger;

/// When grains fall asleep and what wakes them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sleep {
    /// Time for which a grain must lie still [s].
    pub after: f64,
    /// Way that a grain at rest moves at most in that time, as a share of its radius.
    pub rest: f64,
    /// Change of the forces on a sleeping grain that wakes it, over what it bears.
    pub wake: f64,
}

/// Looks for grains at rest in [`Sleep::after`].
const LOOKS: u32 = 6;
/// Looks for what wakes grains in [`Sleep::after`]. A front of grains that give way passes one grain a look at most.
const ALERTS: u32 = 24;
/// How far before a moving wall grains wake, in radii of the grain.
const AHEAD: f64 = 4.0;

/// An awake grain at a look.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Watched {
    id: u32,
    /// Looks for which it has lain still.
    looks: u32,
    /// Where it was at the last look [m].
    place: DVec3,
}

/// Who sleeps, who may soon, and what sleeping grains bear.
#[derive(Clone, Debug)]
pub struct Sleeping {
    terms: Sleep,
    looks: Schedule,
    alerts: Schedule,
    /// A look of either sort that is due, and waits for contacts to be known.
    due: [bool; 2],
    /// Awake grains, in the order of ids.
    watched: Vec<Watched>,
    pub ledger: Ledger,
}

impl Sleeping {
    /// Nobody sleeps yet; `dt` is the solver's step [s].
    pub fn new(terms: Sleep, dt: f64) -> Sleeping {
        let every = |n: u32| Schedule::new(terms.after / f64::from(n), dt);
        Sleeping {
            terms,
            looks: every(LOOKS),
            alerts: every(ALERTS),
            due: [false; 2],
            watched: Vec::new(),
            ledger: Ledger::default(),
        }
    }

    /// Whether a look is due before the step after so many.
    pub fn due(&mut self, steps: u64) -> bool {
        for (due, schedule) in self.due.iter_mut().zip([self.looks, self.alerts]) {
            *due |= steps > 0 && schedule.due(steps);
        }
        self.due != [false; 2]
    }

    /// All are awake, and count as having moved.
    pub fn forget(&mut self) {
        self.watched.clear();
        self.ledger = Ledger::default();
    }

    /// Bytes held.
    pub fn memory_bytes(&self) -> usize {
        self.watched.capacity() * size_of::<Watched>() + self.ledger.memory_bytes()
    }

    /// Adds the state as columns of a checkpoint.
    pub fn save(&self, out: &mut Columns) {
        out.push(("sleep.due".into(), Column::U32(self.due.map(u32::from).to_vec())));
        let ints = self.watched.iter().flat_map(|w| [w.id, w.looks]).collect();
        out.push(("sleep.watched".into(), Column::U32(ints)));
        let places = self.watched.iter().flat_map(|w| w.place.to_array()).collect();
        out.push(("sleep.places".into(), Column::F64(places)));
        self.ledger.save(out);
    }

    /// Takes up what [`Sleeping::save`] gave.
    pub fn load(&mut self, read: Saved<'_>) -> Result<(), Unfit> {
        // A run without sleep takes it up from here on.
        if !read.has("sleep.watched") {
            return Ok(());
        }
        let due = read.u32s("sleep.due")?;
        of_length("sleep.due", due.len(), 2)?;
        self.due = [due[0] != 0, due[1] != 0];
        let ints = read.u32s("sleep.watched")?;
        of_length("sleep.watched", ints.len() % 2, 0)?;
        let places = read.f64s_of("sleep.places", ints.len() / 2 * 3)?;
        let rows = ints.chunks_exact(2).zip(places.chunks_exact(3));
        self.watched = rows.map(|(w, x)| Watched { id: w[0], looks: w[1], place: DVec3::from_slice(x) }).collect();
        self.ledger = Ledger::load(read)?;
        Ok(())
    }
}

impl<R: Kernels> Solver<R> {
    /// One look, before a step: who wakes, and, less often, who falls asleep.
    pub fn look_for_sleep(&mut self) {
        let Some(mut sleeping) = self.sleep.take() else { return };
        let [tiring, _] = std::mem::take(&mut sleeping.due);
        let yields = self.yields();
        let contacts = self.live_contacts();
        let slots = self.slots();
        let is_asleep = |id: u32| self.pinned.ids.binary_search(&id).is_ok();
        sleeping.ledger.update(&contacts, &self.wall_poses(), &yields, &is_asleep, &slots);
        let terms = sleeping.terms;
        let mut stirred = self.stirred(&terms);
        let bears = sleeping.ledger.bears();
        let struck = self.struck(&terms, terms.after / f64::from(ALERTS), &bears, &slots);
        stirred.iter_mut().zip(struck).for_each(|(stirred, struck)| *stirred |= struck);
        let moved = sleeping.ledger.moved(terms.wake, &bears);
        let stays = |id: u32| slots.get(id).is_some_and(|slot| !stirred[slot]) && moved.binary_search(&id).is_err();
        let mut asleep: Vec<u32> = self.pinned.ids.iter().copied().filter(|&id| stays(id)).collect();
        if tiring {
            let tired = self.tired(&mut sleeping, &stirred, &contacts);
            asleep.extend(tired);
            asleep.sort_unstable();
        } else {
            // Who has just woken is watched from the next look on.
            sleeping.watched.retain(|w| slots.get(w.id).is_some_and(|slot| !stirred[slot]));
        }
        sleeping.ledger.settle(&asleep, &contacts, &self.wall_pivots(), &yields);
        self.set_pinned(&asleep);
        self.sleep = Some(sleeping);
    }

    /// By slot, whether a wall or the surface of a body moves near the grain.
    fn stirred(&self, terms: &Sleep) -> Vec<bool> {
        let mut stirred = vec![false; self.grains.len()];
        let (look, little) = (terms.after / f64::from(LOOKS), terms.rest / f64::from(LOOKS));
        let moves = |w: &usize| {
            let (wall, state) = (&self.fixtures.walls[*w], &self.walls[*w]);
            let there = wall.bed().is_none() && self.carriers.of(*w) != Carrier::Gone;
            there && (state.velocity != DVec3::ZERO || state.spin != DVec3::ZERO)
        };
        for w in (0..self.walls.len()).filter(moves) {
            let (wall, state) = (&self.fixtures.walls[w], &self.walls[w]);
            for (g, stirred) in stirred.iter_mut().enumerate().filter(|(_, s)| !**s) {
                let place = self.grains.place(g, &self.spheres.record);
                let shape = &self.settings.shapes[self.grains.shape[g] as usize];
                let (x, radius) = (vec3(place), place[3] * shape.bounding_radius());
                let way = look * wall.surface_velocity(state, x).length();
                let reach = (1.0 + AHEAD) * radius + 2.0 * way;
                *stirred =
                    way > little * radius && wall.least_distance(state, x) < reach && wall.clearance(state, x) < reach;
            }
        }
        stirred
    }

    /// Ids of awake grains that have lain still for long enough to fall asleep, in order; notes where the others are.
    fn tired(&self, sleeping: &mut Sleeping, stirred: &[bool], contacts: &[ledger::Live]) -> Vec<u32> {
        let restless = self.restless(contacts);
        let little = sleeping.terms.rest / f64::from(LOOKS);
        let before = std::mem::take(&mut sleeping.watched);
        let mut tired = Vec::new();
        for g in (0..self.grains.len()).filter(|&g| !self.pinned.has(g)) {
            let id = self.grains.id[g];
            let place = self.grains.place(g, &self.spheres.record);
            let still = |w: &&Watched| !stirred[g] && w.place.distance(vec3(place)) < little * place[3];
            let known = before.binary_search_by_key(&id, |w| w.id).ok().map(|k| &before[k]);
            let looks = known.filter(still).map_or(0, |w| w.looks + 1);
            if looks >= LOOKS && !restless[g] {
                tired.push(id);
            } else {
                sleeping.watched.push(Watched { id, looks, place: vec3(place) });
            }
        }
        sleeping.watched.sort_unstable_by_key(|w| w.id);
        tired.sort_unstable();
        tired
    }

    /// Grains that never sleep, by slot: those that carry a surface or a load from outside, are bonded, or touch a wall that answers to forces.
    fn restless(&self, contacts: &[ledger::Live]) -> Vec<bool> {
        let mut restless: Vec<bool> = (0..self.grains.len())
            .map(|g| {
                let id = self.grains.id[g];
                self.held.binary_search_by_key(&id, |h| h.id).is_ok() || self.bonds.holds(g)
            })
            .collect();
        for w in 0..self.walls.len() {
            if let Carrier::Grain(slot) = self.carriers.of(w) {
                restless[slot as usize] = true;
            }
        }
        for c in contacts {
            if let Partner::Wall(w) = c.partner
                && self.fixtures.walls[w as usize].control.is_some()
            {
                restless[c.slot] = true;
            }
        }
        restless
    }

    /// By wall, whether a sleeping grain goes on touching it: the surface of a body.
    fn yields(&self) -> Vec<bool> {
        (0..self.walls.len()).map(|w| self.carriers.of(w) != Carrier::None).collect()
    }

    /// Wakes all, as after a change that concerns everybody.
    pub fn wake_all(&mut self) {
        if let Some(sleeping) = &mut self.sleep {
            sleeping.forget();
        }
        self.set_pinned(&[]);
    }
}
