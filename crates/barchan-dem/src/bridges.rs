//! Liquid bridges: a drop is drawn between two grains, or a grain and a wall, when they touch, and pulls until it ruptures.
//!
//! A bridge is known by the ids of its partners. In every step those that touch and have none get one, and those that are stretched beyond
//! the gap at which they rupture are gone; the pull of all others is added to the loads, in the order of the ids. The law is in
//! `crates/barchan-core/src/contact/bridge.rs` of the substrate. Only single spheres are bridged.

use crate::DemError;
use crate::kernel::{Kernels, Met};
use crate::state::vec3;
use crate::step::Solver;
use barchan_core::columns::{Column, Columns, Saved, of_length};
use barchan_core::contact::bridge::{BridgeLaw, derjaguin};
use barchan_core::walls::NO_FEATURE;
use glam::DVec3;
use std::collections::BTreeSet;

/// A grain by its id; its partner: a grain, or a wall and its feature.
type Key = (u32, u32, u32);

/// In place of the feature of a wall: the partner is a grain.
const GRAIN: u32 = NO_FEATURE;

/// All bridges there are.
#[derive(Debug, Default)]
pub struct Bridges(BTreeSet<Key>);

impl Bridges {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Bytes held, about.
    pub fn memory_bytes(&self) -> usize {
        // A tree's nodes are two thirds full.
        self.0.len() * size_of::<Key>() * 3 / 2
    }

    /// Adds the column of a checkpoint; none where there is no bridge.
    pub fn save(&self, out: &mut Columns) {
        if !self.0.is_empty() {
            out.push(("bridges".into(), Column::U32(self.0.iter().flat_map(|k| [k.0, k.1, k.2]).collect())));
        }
    }

    /// What [`Bridges::save`] gave.
    pub fn load(read: Saved<'_>) -> Result<Bridges, DemError> {
        if !read.has("bridges") {
            return Ok(Bridges::default());
        }
        let ints = read.u32s("bridges")?;
        of_length("bridges", ints.len() % 3, 0)?;
        Ok(Bridges(ints.chunks_exact(3).map(|k| (k[0], k[1], k[2])).collect()))
    }
}

/// Where the two ends of a bridge are.
struct Stretch {
    /// Slots of the grains; none for a wall.
    slots: [Option<usize>; 2],
    /// Gap [m], negative where they touch.
    gap: f64,
    /// Derjaguin radius [m].
    radius: f64,
    /// Unit vector from the first to the second.
    along: DVec3,
    /// Rate at which they part [m/s].
    parting: f64,
    /// Where it holds to the wall [m].
    foot: DVec3,
}

impl<R: Kernels> Solver<R> {
    /// Forms bridges where spheres touch, lets go of those that rupture, and adds the pull of all.
    pub fn pull_bridges(&mut self) {
        let Some(law) = self.settings.bridges else { return };
        let mut formed: Vec<Key> = Vec::new();
        self.each_touch(&mut |i, met, key| match met {
            Met::Sphere(j) => {
                let (a, b) = (self.id_of(i), self.id_of(j));
                formed.push((a.min(b), a.max(b), GRAIN));
            }
            Met::Wall(w) if key != NO_FEATURE => formed.push((self.id_of(i), u32::from(w), key)),
            Met::Wall(_) => {}
        });
        self.bridges.0.extend(formed);
        if self.bridges.0.is_empty() {
            return;
        }
        let mut slots: Vec<(u32, u32)> = self.grains.id.iter().copied().zip(0..).collect();
        slots.sort_unstable();
        let slot = |id: u32| slots.binary_search_by_key(&id, |s| s.0).ok().map(|k| slots[k].1 as usize);
        let mut bridges = std::mem::take(&mut self.bridges.0);
        let mut pulls = Vec::with_capacity(bridges.len());
        bridges.retain(|&key| {
            let Some(s) = self.stretch(key, &slot) else { return false };
            let holds = s.gap <= law.rupture(s.radius);
            if holds {
                let force = law.pull(s.gap, s.radius) + law.drag(s.gap, s.radius, s.parting);
                pulls.push((s, force, key));
            }
            holds
        });
        self.bridges.0 = bridges;
        for (s, force, key) in pulls {
            for (slot, sign) in s.slots.into_iter().zip([1.0, -1.0]) {
                let Some(g) = slot else { continue };
                let sphere = self.grains.spheres_of(g..g + 1).start;
                for (load, x) in self.spheres.load[sphere].0.iter_mut().zip((s.along * force * sign).to_array()) {
                    *load = R::of(Into::<f64>::into(*load) + x);
                }
            }
            if key.2 != GRAIN {
                let w = key.1 as usize;
                let pivot = self.fixtures.walls[w].pivot(&self.walls[w]);
                self.walls[w].force -= s.along * force;
                self.walls[w].torque -= (s.foot - pivot).cross(s.along * force);
            }
        }
        // Loads are not what contacts alone would leave.
        self.blocks.iter_mut().for_each(|b| b.idle = false);
    }

    /// Geometry of a bridge; none where a partner is gone.
    fn stretch(&self, (a, b, key): Key, slot: &dyn Fn(u32) -> Option<usize>) -> Option<Stretch> {
        let i = slot(a)?;
        let place = |g: usize| *self.grains.place(g, &self.spheres.record);
        let velocity = |g: usize| {
            // The record's, at the full step.
            let m = &self.spheres.record[self.grains.spheres_of(g..g + 1).start].motion;
            DVec3::new(m[0].into(), m[1].into(), m[2].into())
        };
        let (x, own) = (vec3(&place(i)), place(i)[3]);
        if key == GRAIN {
            let j = slot(b)?;
            let d = nearest_image(vec3(&place(j)) - x, self.period());
            let (other, distance) = (place(j)[3], d.length());
            let along = d / distance;
            let parting = (velocity(j) - velocity(i)).dot(along);
            let radius = derjaguin(own, other);
            return Some(Stretch {
                slots: [Some(i), Some(j)],
                gap: distance - own - other,
                radius,
                along,
                parting,
                foot: x + d,
            });
        }
        let (wall, state) = (self.fixtures.walls.get(b as usize)?, &self.walls[b as usize]);
        let near = wall.nearest(state, key, x);
        let foot = x - near.normal * near.distance;
        let partner = if near.radius > 0.0 { near.radius } else { f64::INFINITY };
        Some(Stretch {
            slots: [Some(i), None],
            gap: near.distance - own,
            radius: derjaguin(own, partner),
            along: -near.normal,
            parting: (wall.surface_velocity(state, foot) - velocity(i)).dot(-near.normal),
            foot,
        })
    }

    /// Energy that the bridges would give back if their grains came to touch [J].
    pub fn bridge_energy(&self) -> f64 {
        let Some(law): Option<BridgeLaw> = self.settings.bridges else { return 0.0 };
        let slot = |id: u32| self.grains.id.iter().position(|i| *i == id);
        let energy = |key: &Key| {
            self.stretch(*key, &slot).map_or(0.0, |s| {
                // Below the touch the pull stays as it is there.
                law.energy(s.gap, s.radius) + law.pull(0.0, s.radius) * s.gap.min(0.0)
            })
        };
        self.bridges.0.iter().map(energy).sum()
    }
}

fn nearest_image(d: DVec3, period: DVec3) -> DVec3 {
    let near = |d: f64, p: f64| if p > 0.0 { d - p * (d / p).round() } else { d };
    DVec3::new(near(d.x, period.x), near(d.y, period.y), near(d.z, period.z))
}
