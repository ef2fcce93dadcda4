//! Contacts as observers see them, found again on the host from what the device remembers.

use super::machine::Machine;
use super::rows::{BUMP, Rows, SLOT, TOUCHED};
use barchan_core::contact::{Encounter, Memory, PairTable, react};
use barchan_core::simd::{Lanes, Octet, PlainLanes, Vec3};
use barchan_core::solver::{Contact, Partner};
use glam::DVec3;

type V = PlainLanes<f32>;

fn all(x: f64) -> V {
    V::of(x)
}

fn vector(v: DVec3) -> Vec3<V> {
    Vec3(all(v.x), all(v.y), all(v.z))
}

fn first(v: V) -> f64 {
    f64::from(v.to_array()[0])
}

/// One contact before the law: what it is between, and what it remembers.
struct Meeting {
    grain: usize,
    partner: Partner,
    normal: DVec3,
    overlap: f64,
    velocity: DVec3,
    spin: DVec3,
    radius: f64,
    mass: f64,
    materials: [u32; 2],
    /// Row of its memory.
    at: usize,
}

impl Machine {
    /// All touching contacts: grain by grain, partners of higher ids, then walls.
    pub(super) fn contacts_of(&self, rows: &Rows) -> Vec<Contact> {
        let table = PairTable::<f32>::new(&self.settings.law, &self.settings.materials);
        let resists = self.memory > 1;
        let three = |v: [f64; 4]| DVec3::new(v[0], v[1], v[2]);
        let (velocity, spin) = (|g| rows.vector(g, 1), |g| rows.vector(g, 2));
        let (inverse, radius) = (|g: usize| rows.inverse_mass(g), |g: usize| self.radius_of(rows, g));
        let material = |g: usize| rows.material(g);
        let period = self.settings.domain.period();
        let place: Vec<DVec3> = (0..rows.len()).map(|g| rows.position(g, self.quanta)).collect();
        let finish = |m: Meeting, kept: &[[f32; 4]]| {
            let kept = &kept[m.at * self.memory..(m.at + 1) * self.memory];
            let (slide, roll) = (kept[0].map(f64::from), kept.get(1).map_or([0.0; 4], |r| r.map(f64::from)));
            let e = Encounter {
                normal: vector(m.normal),
                overlap: all(m.overlap),
                velocity: vector(m.velocity),
                spin: vector(m.spin),
                // Read by a law that this solver refuses.
                own_spin: vector(m.spin),
                radius: all(m.radius),
                mass: all(m.mass),
                row: table.row(m.materials[0], m.materials[1]).0.map(V::splat),
                touching: all(1.0).gt(V::zero()),
            };
            let (stiffness, twist) = (all(slide[3]), all(roll[3]));
            let mut memory = Memory { slide: vector(three(slide)), stiffness, roll: vector(three(roll)), twist };
            // Memory is kept half a step ahead of the forces: a step back of the same length reads the forces of now.
            let r = react(&self.settings.law, resists, &e, &mut memory, all(-self.settings.dt));
            Contact {
                grain: self.ids[m.grain],
                partner: m.partner,
                point: place[m.grain] + m.normal * (radius(m.grain) - 0.5 * m.overlap),
                normal: m.normal,
                overlap: m.overlap,
                normal_force: first(r.press),
                tangential_force: DVec3::new(first(r.traction.0), first(r.traction.1), first(r.traction.2)),
                elastic_energy: first(r.energy),
                slide: DVec3::new(first(memory.slide.0), first(memory.slide.1), first(memory.slide.2)),
            }
        };
        let mut out = Vec::new();
        for i in 0..rows.len() {
            for (entry, at) in rows.pairs(i).filter(|e| e.0 & TOUCHED != 0) {
                let j = (entry & SLOT) as usize;
                let mut between = place[j] - place[i];
                // The nearest image.
                for k in (0..3).filter(|&k| period[k] > 0.0) {
                    between[k] -= period[k] * (between[k] / period[k]).round();
                }
                let overlap = radius(i) + radius(j) - between.length();
                if overlap <= 0.0 {
                    continue;
                }
                let normal = between.normalize();
                let arms = [radius(i) - 0.5 * overlap, radius(j) - 0.5 * overlap];
                let meeting = Meeting {
                    grain: i,
                    partner: Partner::Grain(self.ids[j]),
                    normal,
                    overlap,
                    velocity: velocity(i) - velocity(j) + (spin(i) * arms[0] + spin(j) * arms[1]).cross(normal),
                    spin: spin(i) - spin(j),
                    radius: radius(i) * radius(j) / (radius(i) + radius(j)),
                    mass: 1.0 / (inverse(i) + inverse(j)),
                    materials: [material(i), material(j)],
                    at,
                };
                out.push(finish(meeting, &rows.kept));
            }
            for (entry, at) in rows.walls(i).filter(|e| e.0 & TOUCHED != 0) {
                let (w, key) = self.wall_and_key(entry);
                let (wall, state) = (&self.fixtures.walls[w], &self.walls[w]);
                let near = wall.nearest(state, key, place[i]);
                let overlap = radius(i) - near.distance;
                if overlap <= 0.0 {
                    continue;
                }
                let curved =
                    if near.radius > 0.0 { near.radius * radius(i) / (near.radius + radius(i)) } else { radius(i) };
                let (normal, arm) = (-near.normal, radius(i) - 0.5 * overlap);
                let moves = wall.surface_velocity(state, place[i] + normal * arm);
                let meeting = Meeting {
                    grain: i,
                    partner: Partner::Wall(w as u16),
                    normal,
                    overlap,
                    velocity: velocity(i) + (spin(i) * arm).cross(normal) - moves,
                    spin: spin(i) - state.spin,
                    radius: curved,
                    mass: 1.0 / (inverse(i) + state.inverse_mass),
                    materials: [material(i), u32::from(wall.material)],
                    at,
                };
                out.push(finish(meeting, &rows.kept));
            }
        }
        out
    }

    /// Wall and key, as of [`barchan_core::walls::Wall::nearest`], of an entry.
    pub(super) fn wall_and_key(&self, entry: u32) -> (usize, u32) {
        let at = (entry & SLOT) as usize;
        if entry & BUMP != 0 { self.bumps.key(at) } else { self.keys[at] }
    }
}
