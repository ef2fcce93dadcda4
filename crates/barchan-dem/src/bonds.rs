//! Bonds between grains, and between grains and walls: who is bonded to whom, what that does, what breaks.
//!
//! A bond is known by the ids of its grains. Slots are looked up when these change, with a list of the bonds of each grain. The pass computes every bond once, in any
//! order, and then adds up those of each grain in the order of its list: the same sums on any number of threads. Bonded pairs are left out of the
//! contact lists; when a bond breaks the lists are built anew, and the contact takes over from the next step on.

use crate::DemError;
use crate::kernel::Kernels;
use crate::state::{Grains, vec3};
use crate::step::Solver;
use barchan_core::columns::{Column, Columns, Saved, of_length};
use barchan_core::contact::bond::{Beam, BondLaw, Fracture, Pull, Relative};
use barchan_core::frame::Pairs;
use glam::{DQuat, DVec3};
use rayon::prelude::*;

/// What a grain is bonded to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum To {
    /// Another grain.
    Grain(u32),
    /// A point [m] of a wall that stands still.
    Wall(u16, DVec3),
}

/// A bond that is to be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NewBond {
    /// A grain.
    pub grain: u32,
    /// What it is bonded to.
    pub to: To,
    /// Its strengths over those of the law.
    pub strength: f64,
}

/// Bonds that broke since the start, and the elastic energy that they held.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Broken {
    /// By tension and bending.
    pub tension: u64,
    /// By shear and twisting.
    pub shear: u64,
    /// Energy that they held when they broke [J].
    pub energy: f64,
}

/// In place of a grain's id or slot: a wall.
const WALL: u32 = u32::MAX;

#[derive(Clone, Copy, Debug, PartialEq)]
struct Bond {
    ids: [u32; 2],
    slots: [u32; 2],
    law: u16,
    wall: u16,
    strength: f64,
    beam: Beam,
    /// Where it holds to the wall [m].
    anchor: DVec3,
}

/// What one bond does, in the last pass.
#[derive(Clone, Copy, Debug, Default)]
struct Push {
    force: DVec3,
    torques: [DVec3; 2],
    broken: Option<Fracture>,
}

/// All bonds.
#[derive(Debug, Default)]
pub struct Bonds {
    laws: Vec<BondLaw>,
    rows: Vec<Bond>,
    pushes: Vec<Push>,
    /// Of each grain, where its ends begin in `ends`; empty where there are no bonds.
    first: Vec<u32>,
    /// Twice the bond, and one more for its second end.
    ends: Vec<u32>,
    broken: Broken,
}

impl Bonds {
    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether the grain in a slot is bonded to anything.
    pub fn holds(&self, grain: usize) -> bool {
        !self.ends_of(grain).is_empty()
    }

    fn ends_of(&self, grain: usize) -> &[u32] {
        match self.first.get(grain..grain + 2) {
            Some(&[from, to]) => &self.ends[from as usize..to as usize],
            _ => &[],
        }
    }

    /// Whether two grains are bonded, by their slots.
    pub fn join(&self, a: usize, b: usize) -> bool {
        self.ends_of(a).iter().any(|e| self.rows[(e / 2) as usize].slots[(e % 2 == 0) as usize] as usize == b)
    }

    /// Whether a grain is bonded to a wall.
    pub fn hold(&self, grain: usize, wall: usize) -> bool {
        self.ends_of(grain).iter().any(|e| {
            let bond = &self.rows[(e / 2) as usize];
            bond.ids[1] == WALL && bond.wall as usize == wall
        })
    }

    /// Looks up where the grains are; bonds of those that have gone are dropped.
    pub fn find(&mut self, grains: &Grains) {
        self.first.clear();
        self.ends.clear();
        if self.rows.is_empty() {
            return;
        }
        let most = grains.id.iter().max().map_or(0, |id| *id as usize + 1);
        let mut slot_of = vec![WALL; most];
        for (slot, id) in grains.id.iter().enumerate() {
            slot_of[*id as usize] = slot as u32;
        }
        for bond in &mut self.rows {
            bond.slots = bond.ids.map(|id| slot_of.get(id as usize).copied().unwrap_or(WALL));
        }
        self.rows.retain(|b| b.slots[0] != WALL && (b.slots[1] != WALL || b.ids[1] == WALL));
        self.list(grains.len());
    }

    /// Lists the bonds of each of `n` grains.
    fn list(&mut self, n: usize) {
        self.first = vec![0; n + 1];
        let ends = |b: &Bond| b.slots.into_iter().filter(|s| *s != WALL);
        self.rows.iter().flat_map(ends).for_each(|s| self.first[s as usize + 1] += 1);
        (0..n).for_each(|g| self.first[g + 1] += self.first[g]);
        self.ends = vec![0; self.first[n] as usize];
        let mut next = self.first.clone();
        for (k, bond) in self.rows.iter().enumerate() {
            for (end, &slot) in bond.slots.iter().enumerate().filter(|(_, s)| **s != WALL) {
                self.ends[next[slot as usize] as usize] = 2 * k as u32 + end as u32;
                next[slot as usize] += 1;
            }
        }
    }

    /// Bytes held.
    pub fn memory_bytes(&self) -> usize {
        self.rows.capacity() * size_of::<Bond>()
            + self.pushes.capacity() * size_of::<Push>()
            + 4 * (self.first.capacity() + self.ends.capacity())
    }

    /// Columns of a checkpoint; none where there never was a bond.
    pub fn save(&self, out: &mut Columns) {
        if self.laws.is_empty() {
            return;
        }
        let law = |l: &BondLaw| [l.young, l.ratio, l.radius, l.tensile, l.shear, l.friction, l.damping];
        let ints = |b: &Bond| [b.ids[0], b.ids[1], u32::from(b.law), u32::from(b.wall)];
        let numbers = |b: &Bond| {
            let Beam { arm, stance, length, radius } = b.beam;
            let numbers = [b.strength, length, radius].into_iter().chain(arm.to_array()).chain(stance.to_array());
            numbers.chain(b.anchor.to_array()).collect::<Vec<f64>>()
        };
        let Broken { tension, shear, energy } = self.broken;
        out.push(("bond.laws".into(), Column::F64(self.laws.iter().flat_map(law).collect())));
        out.push(("bond".into(), Column::U32(self.rows.iter().flat_map(ints).collect())));
        out.push(("bond.beam".into(), Column::F64(self.rows.iter().flat_map(numbers).collect())));
        out.push(("bond.broken".into(), Column::U64(vec![tension, shear])));
        out.push(("bond.energy".into(), Column::F64(vec![energy])));
    }

    /// What [`Bonds::save`] gave.
    pub fn load(read: Saved<'_>, walls: usize) -> Result<Bonds, DemError> {
        if !read.has("bond.laws") {
            return Ok(Bonds::default());
        }
        let laws = read.f64s("bond.laws")?;
        of_length("bond.laws", laws.len() % 7, 0)?;
        let law = |l: &[f64]| BondLaw {
            young: l[0],
            ratio: l[1],
            radius: l[2],
            tensile: l[3],
            shear: l[4],
            friction: l[5],
            damping: l[6],
        };
        let laws: Vec<BondLaw> = laws.chunks_exact(7).map(law).collect();
        let ints = read.u32s("bond")?;
        of_length("bond", ints.len() % 4, 0)?;
        let beams = read.f64s_of("bond.beam", ints.len() / 4 * 13)?;
        let row = |(i, n): (&[u32], &[f64])| Bond {
            ids: [i[0], i[1]],
            slots: [WALL; 2],
            law: i[2] as u16,
            wall: i[3] as u16,
            strength: n[0],
            beam: Beam {
                length: n[1],
                radius: n[2],
                arm: DVec3::from_slice(&n[3..6]),
                stance: DQuat::from_slice(&n[6..10]),
            },
            anchor: DVec3::from_slice(&n[10..13]),
        };
        let rows: Vec<Bond> = ints.chunks_exact(4).zip(beams.chunks_exact(13)).map(row).collect();
        let known = |b: &Bond| (b.law as usize) < laws.len() && (b.ids[1] != WALL || (b.wall as usize) < walls);
        if !rows.iter().all(known) {
            return Err(DemError::Checkpoint("a bond's law or wall does not exist".into()));
        }
        let (counts, energy) = (read.u64s("bond.broken")?, read.f64s_of("bond.energy", 1)?);
        of_length("bond.broken", counts.len(), 2)?;
        let broken = Broken { tension: counts[0], shear: counts[1], energy: energy[0] };
        Ok(Bonds { laws, rows, broken, ..Bonds::default() })
    }
}

impl<R: Kernels> Solver<R> {
    /// Bonds grains as they are; grains that are not there are passed over, and so are two in one place.
    pub fn bond(&mut self, law: BondLaw, new: &[NewBond]) {
        if self.grains.all_spheres() {
            self.grow_clump_columns();
        }
        let kind = self.bonds.laws.iter().position(|l| *l == law).unwrap_or(self.bonds.laws.len());
        if kind == self.bonds.laws.len() {
            self.bonds.laws.push(law);
        }
        let mut slots: Vec<(u32, usize)> = self.grains.id.iter().copied().zip(0..).collect();
        slots.sort_unstable();
        let slot = |id: u32| slots.binary_search_by_key(&id, |s| s.0).ok().map(|k| slots[k].1);
        let period = self.period();
        for n in new {
            let Some(i) = slot(n.grain) else { continue };
            let [x, y, z, own] = *self.grains.place(i, &self.spheres.record);
            let (other, wall, anchor, smaller, turn) = match n.to {
                To::Grain(id) => {
                    let Some(j) = slot(id) else { continue };
                    let place = self.grains.place(j, &self.spheres.record);
                    (id, 0, vec3(place), own.min(place[3]), self.grains.turn(j))
                }
                To::Wall(wall, point) => (WALL, wall, point, own, DQuat::IDENTITY),
            };
            let along = nearest_image(anchor - DVec3::new(x, y, z), period);
            if along.length() > 0.0 {
                let beam = Beam::new(along, [self.grains.turn(i), turn], law.radius * smaller);
                self.bonds.rows.push(Bond {
                    ids: [n.grain, other],
                    slots: [WALL; 2],
                    law: kind as u16,
                    wall,
                    strength: n.strength,
                    beam,
                    anchor,
                });
            }
        }
        self.spoil(false);
        self.find_carriers();
    }

    fn pull_of(&self, bond: &Bond) -> (DVec3, Pull) {
        let (i, j) = (bond.slots[0] as usize, bond.slots[1] as usize);
        let x = vec3(self.grains.place(i, &self.spheres.record));
        let (other, turn) = match bond.ids[1] {
            WALL => (bond.anchor, DQuat::IDENTITY),
            _ => (vec3(self.grains.place(j, &self.spheres.record)), self.grains.turn[j]),
        };
        let along = nearest_image(other - x, self.period());
        (along, bond.beam.pull(&self.bonds.laws[bond.law as usize], along, [self.grains.turn[i], turn]))
    }

    /// Adds what dashpots do; velocities as they are kept, half a step back.
    fn damp(&self, bond: &Bond, law: &BondLaw, along: DVec3, pull: &mut Pull) {
        let g = &self.grains;
        let inertia = |k: usize| 1.0 / g.inverse_inertia(k, g.centre[k][3], &self.settings.shapes).max_element();
        let motion = |k: u32| {
            let k = k as usize;
            let spin = g.spin(k, vec3(&g.momentum[k]), g.turn[k], &self.settings.shapes);
            (vec3(&g.velocity[k]), spin, g.velocity[k][3], 1.0 / inertia(k))
        };
        let (v, w, m, i) = motion(bond.slots[0]);
        let still = (DVec3::ZERO, DVec3::ZERO, 0.0, 0.0);
        let (v2, w2, m2, i2) = if bond.ids[1] == WALL { still } else { motion(bond.slots[1]) };
        let relative = Relative {
            velocity: v2 - v - (0.5 * (w + w2)).cross(along),
            spin: w2 - w,
            mass: 1.0 / (m + m2),
            inertia: 1.0 / (i + i2),
        };
        bond.beam.damp(law, along, &relative, pull);
    }

    /// Forces of all bonds; those that are too heavily loaded act for the last time.
    pub fn pull_bonds(&mut self) {
        if self.bonds.is_empty() {
            return;
        }
        let mut pushes = std::mem::take(&mut self.bonds.pushes);
        pushes.resize(self.bonds.rows.len(), Push::default());
        let compute = |(bond, push): (&Bond, &mut Push)| {
            let law = &self.bonds.laws[bond.law as usize];
            let (along, mut pull) = self.pull_of(bond);
            let broken = bond.beam.fracture(law, bond.strength, &pull);
            if law.damping > 0.0 {
                self.damp(bond, law, along, &mut pull);
            }
            *push = Push { force: pull.force, torques: pull.torques, broken };
            broken.is_some()
        };
        let rows = self.bonds.rows.par_iter().zip(pushes.par_iter_mut()).with_min_len(SHARE);
        let breaks = rows.map(compute).reduce(|| false, |a, b| a | b);

        let (bonds, grains, records) = (&self.bonds, &self.grains, &self.spheres.record);
        let add = |(s, load): (usize, &mut crate::state::Load<R>)| {
            let g = self.spheres.grain[s] as usize;
            let ends = bonds.ends_of(g);
            if ends.is_empty() || grains.first[g] as usize != s {
                return;
            }
            let (mut force, mut torque) = (DVec3::ZERO, DVec3::ZERO);
            for &end in ends {
                let push = &pushes[(end / 2) as usize];
                force += if end % 2 == 0 { push.force } else { -push.force };
                torque += push.torques[(end % 2) as usize];
            }
            let arm = vec3(&records[s].place) - vec3(&grains.centre[g]);
            torque -= arm.cross(force);
            for (k, x) in force.to_array().into_iter().chain(torque.to_array()).enumerate() {
                load.0[k] = R::of(Into::<f64>::into(load.0[k]) + x);
            }
        };
        self.spheres.load.par_iter_mut().enumerate().with_min_len(SHARE).for_each(add);
        for (bond, push) in bonds.rows.iter().zip(&pushes).filter(|(b, _)| b.ids[1] == WALL) {
            let pivot = self.fixtures.walls[bond.wall as usize].pivot(&self.walls[bond.wall as usize]);
            let state = &mut self.walls[bond.wall as usize];
            state.force -= push.force;
            state.torque += push.torques[1] - (bond.anchor - pivot).cross(push.force);
        }
        // Loads are not what contacts alone would leave.
        self.blocks.iter_mut().for_each(|b| b.idle = false);
        if breaks {
            self.remove_broken(&pushes);
        }
        self.bonds.pushes = pushes;
    }

    fn remove_broken(&mut self, pushes: &[Push]) {
        let mut broken = self.bonds.broken;
        for (bond, push) in self.bonds.rows.iter().zip(pushes) {
            match push.broken {
                None => continue,
                Some(Fracture::Tension) => broken.tension += 1,
                Some(Fracture::Shear) => broken.shear += 1,
            }
            broken.energy += self.pull_of(bond).1.energy;
        }
        self.bonds.broken = broken;
        let mut left = pushes.iter();
        self.bonds.rows.retain(|_| left.next().is_some_and(|p| p.broken.is_none()));
        self.bonds.list(self.grains.len());
        self.spoil(false);
    }

    /// Breaks the bonds of which a function of their ends [m], and of whether the second is at a wall, says yes; returns how many.
    pub fn cut(&mut self, breaks: &dyn Fn(DVec3, DVec3, bool) -> bool) -> usize {
        let pairs = self.bond_pairs();
        let of = |([a, b], id): (&[DVec3; 2], &[u32; 2])| breaks(*a, *b, id[1] == Pairs::NOBODY);
        let cut: Vec<bool> = pairs.ends.iter().zip(pairs.id.iter()).map(of).collect();
        let many = cut.iter().filter(|c| **c).count();
        if many > 0 {
            let of_cut = self.bonds.rows.iter().zip(&cut).filter(|(_, cut)| **cut);
            self.bonds.broken.energy += of_cut.map(|(bond, _)| self.pull_of(bond).1.energy).sum::<f64>();
            let mut left = cut.iter();
            self.bonds.rows.retain(|_| left.next().is_some_and(|cut| !cut));
            self.bonds.list(self.grains.len());
            self.spoil(false);
        }
        many
    }

    /// Elastic energy of all bonds [J].
    pub fn bond_energy(&self) -> f64 {
        self.bonds.rows.iter().map(|b| self.pull_of(b).1.energy).sum()
    }

    /// Bonds that broke since the start.
    pub fn broken(&self) -> Broken {
        self.bonds.broken
    }

    /// All bonds, for readers.
    pub fn bond_pairs(&self) -> Pairs {
        let place = |slot: u32| vec3(self.grains.place(slot as usize, &self.spheres.record));
        let ids = |b: &Bond| [b.ids[0], if b.ids[1] == WALL { Pairs::NOBODY } else { b.ids[1] }];
        let ends = |b: &Bond| {
            let x = place(b.slots[0]);
            let other = if b.ids[1] == WALL { b.anchor } else { place(b.slots[1]) };
            [x, x + nearest_image(other - x, self.period())]
        };
        Pairs {
            name: "bonds".into(),
            id: self.bonds.rows.iter().map(ids).collect::<Vec<_>>().into(),
            ends: self.bonds.rows.iter().map(ends).collect::<Vec<_>>().into(),
            extras: Vec::new(),
        }
    }
}

/// Bonds that are not worth a thread of their own.
const SHARE: usize = 1024;

fn nearest_image(d: DVec3, period: DVec3) -> DVec3 {
    let near = |d: f64, p: f64| if p > 0.0 { d - p * (d / p).round() } else { d };
    DVec3::new(near(d.x, period.x), near(d.y, period.y), near(d.z, period.z))
}
