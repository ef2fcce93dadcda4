//! What sleeping grains bear: the force of each partner when the grain fell asleep, and now.
//!
//! Nothing is computed between two sleeping grains, nor between one and a wall that does not yield. The force between them is the one of the
//! look at which the later of the two fell asleep, and the whole contact is kept for observers.

use crate::kernel::{Kernels, Met};
use crate::step::Solver;
use barchan_core::columns::{Column, Columns, Saved, Unfit, of_length};
use barchan_core::solver::{Contact, Partner};
use glam::{DQuat, DVec3};

/// A contact that was computed in the last step, as one of its two sides sees it.
#[derive(Clone, Copy, Debug)]
pub struct Live {
    /// Id and slot of the grain.
    pub id: u32,
    pub slot: usize,
    pub partner: Partner,
    /// Force on the grain [N].
    pub force: DVec3,
    /// The contact, on the side of the grain that it is reported for; a contact with a wall has one side.
    pub whole: Option<Contact>,
}

/// What a sleeping grain bears of a partner; several contacts with one partner are one row.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Borne {
    id: u32,
    partner: u64,
    /// Force on the grain when it fell asleep [N].
    was: DVec3,
    /// Force now [N].
    is: DVec3,
}

/// Where a wall stands.
pub type Pose = (DVec3, DQuat);

/// What sleeping grains bear.
#[derive(Clone, Debug, Default)]
pub struct Ledger {
    /// In the order of ids and partners.
    rows: Vec<Borne>,
    /// Contacts of which nothing is computed.
    dormant: Vec<Contact>,
    /// Force [N] and torque [N m] of sleeping grains on each wall.
    on_walls: Vec<(DVec3, DVec3)>,
    /// Where the walls stood at the last look.
    poses: Vec<Pose>,
}

/// Slots by id.
pub struct Slots(Vec<u32>);

/// Marks an id that is not there.
const GONE: u32 = u32::MAX;
/// Marks the key of a wall; keys without it are ids of grains.
const WALL: u64 = 1 << 32;

impl Slots {
    /// Slot of a grain, if it is there.
    pub fn get(&self, id: u32) -> Option<usize> {
        self.0.get(id as usize).filter(|&&slot| slot != GONE).map(|&slot| slot as usize)
    }
}

fn key(partner: Partner) -> u64 {
    match partner {
        Partner::Grain(id) => u64::from(id),
        Partner::Wall(w) => WALL | u64::from(w),
    }
}

fn partner(key: u64) -> Partner {
    if key & WALL != 0 { Partner::Wall(key as u16) } else { Partner::Grain(key as u32) }
}

/// Force on the grain [N].
fn force(c: &Contact) -> DVec3 {
    c.tangential_force - c.normal * c.normal_force
}

impl Ledger {
    /// Enters what partners that are awake do to sleeping grains now. `yields` says of which walls sleeping grains go on feeling the touch.
    pub fn update(
        &mut self,
        contacts: &[Live],
        poses: &[Pose],
        yields: &[bool],
        is_asleep: &impl Fn(u32) -> bool,
        slots: &Slots,
    ) {
        let stood = |w: u16| self.poses.get(w as usize) == poses.get(w as usize);
        self.rows.retain(|row| is_asleep(row.id) && slots.get(row.id).is_some());
        for row in &mut self.rows {
            // What is awake, gone or has moved acts anew, if at all.
            let kept = match partner(row.partner) {
                Partner::Grain(id) => is_asleep(id) && slots.get(id).is_some(),
                Partner::Wall(w) => stood(w) && !yields[w as usize],
            };
            if !kept {
                row.is = DVec3::ZERO;
            }
        }
        self.poses = poses.to_vec();
        let mut new = Vec::new();
        for c in contacts.iter().filter(|c| is_asleep(c.id)) {
            let at = (c.id, key(c.partner));
            match self.rows.binary_search_by_key(&at, |row| (row.id, row.partner)) {
                Ok(k) => self.rows[k].is += c.force,
                Err(_) => new.push(Borne { id: at.0, partner: at.1, was: DVec3::ZERO, is: c.force }),
            }
        }
        self.enter(new);
    }

    /// Adds rows, those of one grain and partner together, and puts all into order.
    fn enter(&mut self, mut new: Vec<Borne>) {
        new.sort_by_key(|row| (row.id, row.partner));
        new.dedup_by(|b, a| {
            let same = (a.id, a.partner) == (b.id, b.partner);
            if same {
                a.was += b.was;
                a.is += b.is;
            }
            same
        });
        self.rows.extend(new);
        self.rows.sort_by_key(|row| (row.id, row.partner));
    }

    /// Ids of the sleeping grains on which forces have changed by more than a share of what they bore, in order.
    pub fn moved(&self, share: f64, bears: &[(u32, f64)]) -> Vec<u32> {
        let changed = |(rows, bears): &(&[Borne], &(u32, f64))| {
            let change: DVec3 = rows.iter().map(|row| row.is - row.was).sum();
            change.length() > share * bears.1
        };
        let of_grains = self.rows.chunk_by(|a, b| a.id == b.id).zip(bears);
        of_grains.filter(changed).map(|(_, bears)| bears.0).collect()
    }

    /// What each sleeping grain that touches something bore when it fell asleep [N], in the order of ids.
    pub fn bears(&self) -> Vec<(u32, f64)> {
        // A grain between two others bears the force between them; both are counted.
        let bears = |rows: &[Borne]| (rows[0].id, 0.5 * rows.iter().map(|row| row.was.length()).sum::<f64>());
        self.rows.chunk_by(|a, b| a.id == b.id).map(bears).collect()
    }

    /// Takes leave of those that have woken, and enters those that fall asleep with what they bear now; `yields` as for
    /// [`Ledger::update`].
    pub fn settle(&mut self, asleep: &[u32], contacts: &[Live], pivots: &[DVec3], yields: &[bool]) {
        let is_asleep = |id: u32| asleep.binary_search(&id).is_ok();
        self.rows.retain(|row| is_asleep(row.id));
        let mut known: Vec<u32> = self.rows.iter().map(|row| row.id).collect();
        known.dedup();
        let falls = |id: u32| is_asleep(id) && known.binary_search(&id).is_err();
        let row = |c: &Live| Borne { id: c.id, partner: key(c.partner), was: c.force, is: c.force };
        self.enter(contacts.iter().filter(|c| falls(c.id)).map(row).collect());
        let rests = |c: &Contact| {
            is_asleep(c.grain)
                && match c.partner {
                    Partner::Grain(id) => is_asleep(id),
                    Partner::Wall(w) => !yields[w as usize],
                }
        };
        self.dormant.retain(|c| rests(c));
        // Between two that slept already nothing was computed; what was computed may rest from now on.
        self.dormant.extend(contacts.iter().filter_map(|c| c.whole).filter(|c| rests(c)));
        self.on_walls = vec![(DVec3::ZERO, DVec3::ZERO); pivots.len()];
        for c in &self.dormant {
            if let Partner::Wall(w) = c.partner {
                let (on, on_wall) = (-force(c), &mut self.on_walls[w as usize]);
                on_wall.0 += on;
                on_wall.1 += (c.point - pivots[w as usize]).cross(on);
            }
        }
    }

    /// Grains that have left.
    pub fn forget(&mut self, there: &Slots) {
        let is = |id: u32| there.get(id).is_some();
        self.dormant.retain(|c| is(c.grain) && !matches!(c.partner, Partner::Grain(id) if !is(id)));
    }

    /// Force [N] and torque [N m] of sleeping grains on each wall; empty where nobody sleeps.
    pub fn on_walls(&self) -> &[(DVec3, DVec3)] {
        &self.on_walls
    }

    /// Contacts of which nothing is computed, as they were.
    pub fn dormant(&self) -> &[Contact] {
        &self.dormant
    }

    pub fn memory_bytes(&self) -> usize {
        self.rows.capacity() * size_of::<Borne>() + self.dormant.capacity() * size_of::<Contact>()
    }

    pub fn save(&self, out: &mut Columns) {
        let f64s = |v: Vec<f64>| Column::F64(v);
        let ints = self.rows.iter().flat_map(|r| [u64::from(r.id), r.partner]).collect();
        out.push(("sleep.rows".into(), Column::U64(ints)));
        let forces = self.rows.iter().flat_map(|r| [r.was, r.is]).flat_map(|f| f.to_array()).collect();
        out.push(("sleep.forces".into(), f64s(forces)));
        let ints = self.dormant.iter().flat_map(|c| [u64::from(c.grain), key(c.partner)]).collect();
        out.push(("sleep.dormant".into(), Column::U64(ints)));
        let numbers = self.dormant.iter().flat_map(|c| {
            let vectors = [c.point, c.normal, c.tangential_force, c.slide].into_iter().flat_map(|v| v.to_array());
            vectors.chain([c.overlap, c.normal_force, c.elastic_energy])
        });
        out.push(("sleep.contacts".into(), f64s(numbers.collect())));
        let loads = self.on_walls.iter().flat_map(|w| [w.0, w.1]).flat_map(|f| f.to_array()).collect();
        out.push(("sleep.walls".into(), f64s(loads)));
        let poses = self.poses.iter().flat_map(|p| p.0.to_array().into_iter().chain(p.1.to_array())).collect();
        out.push(("sleep.poses".into(), f64s(poses)));
    }

    pub fn load(read: Saved<'_>) -> Result<Ledger, Unfit> {
        let pairs = |name: &str| -> Result<Vec<(u32, u64)>, Unfit> {
            let ints = read.u64s(name)?;
            of_length(name, ints.len() % 2, 0)?;
            Ok(ints.chunks_exact(2).map(|p| (p[0] as u32, p[1])).collect())
        };
        let vec = DVec3::from_slice;
        let (rows, dormant) = (pairs("sleep.rows")?, pairs("sleep.dormant")?);
        let forces = read.f64s_of("sleep.forces", 6 * rows.len())?;
        let numbers = read.f64s_of("sleep.contacts", 15 * dormant.len())?;
        let (walls, poses) = (read.f64s("sleep.walls")?, read.f64s("sleep.poses")?);
        of_length("sleep.walls", walls.len() % 6, 0)?;
        of_length("sleep.poses", poses.len() % 7, 0)?;
        let row = |((id, partner), f): ((u32, u64), &[f64])| Borne { id, partner, was: vec(f), is: vec(&f[3..]) };
        let contact = |((grain, other), n): ((u32, u64), &[f64])| Contact {
            grain,
            partner: partner(other),
            point: vec(n),
            normal: vec(&n[3..]),
            tangential_force: vec(&n[6..]),
            slide: vec(&n[9..]),
            overlap: n[12],
            normal_force: n[13],
            elastic_energy: n[14],
        };
        Ok(Ledger {
            rows: rows.into_iter().zip(forces.chunks_exact(6)).map(row).collect(),
            dormant: dormant.into_iter().zip(numbers.chunks_exact(15)).map(contact).collect(),
            on_walls: walls.chunks_exact(6).map(|w| (vec(w), vec(&w[3..]))).collect(),
            poses: poses.chunks_exact(7).map(|p| (vec(p), DQuat::from_slice(&p[3..]))).collect(),
        })
    }
}

impl<R: Kernels> Solver<R> {
    /// Slots by id.
    pub fn slots(&self) -> Slots {
        let mut slots = vec![GONE; self.grains.id.iter().max().map_or(0, |&id| id as usize + 1)];
        self.grains.id.iter().zip(0..).for_each(|(&id, slot)| slots[id as usize] = slot);
        Slots(slots)
    }

    /// Where the walls stand.
    pub fn wall_poses(&self) -> Vec<Pose> {
        self.walls.iter().map(|w| (w.position, w.rotation)).collect()
    }

    /// Points that torques on walls are about.
    pub fn wall_pivots(&self) -> Vec<DVec3> {
        self.fixtures.walls.iter().zip(&self.walls).map(|(wall, state)| wall.pivot(state)).collect()
    }

    /// All contacts that were computed in the last step, each from both sides, in a fixed order.
    pub fn live_contacts(&self) -> Vec<Live> {
        let mut live = Vec::new();
        self.each_contact(&mut |p, k, i, j| {
            let whole = self.contact_of(p, k, i, j);
            let (on, slot) = (force(&whole), self.slot_of(i));
            live.push(Live { id: whole.grain, slot, partner: whole.partner, force: on, whole: Some(whole) });
            if let Met::Sphere(j) = j {
                let slot = self.slot_of(j);
                let (id, partner) = (self.grains.id[slot], Partner::Grain(whole.grain));
                live.push(Live { id, slot, partner, force: -on, whole: None });
            }
        });
        live
    }
}
