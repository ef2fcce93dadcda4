//! Contacts as observers see them, found again on the host from what the device remembers.

use super::GpuDem;
use super::features::keys;
use super::rows::Rows;
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

impl GpuDem {
    /// All touching contacts: grain by grain, partners of higher ids, then walls.
    pub(super) fn contacts_of(&self, rows: &Rows) -> Vec<Contact> {
        let table = PairTable::<f32>::new(&self.settings.law, &self.settings.materials);
        let resists = self.memory > 1;
        let three = |v: [f64; 4]| DVec3::new(v[0], v[1], v[2]);
        let (velocity, spin) = (|g| three(rows.reals(g, 2)), |g| three(rows.reals(g, 3)));
        let (inverse, radius) = (|g: usize| rows.reals(g, 2)[3], |g: usize| rows.reals(g, 3)[3]);
        let material = |g: usize| rows.record[super::RECORD * g + 1][3];
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
        let keys = keys(&self.fixtures.walls);
        let mut out = Vec::new();
        for i in 0..rows.len() {
            for at in rows.starts[i] as usize..rows.starts[i + 1] as usize {
                let j = rows.partners[at] as usize;
                let between = place[j] - place[i];
                let overlap = radius(i) + radius(j) - between.length();
                if j < i || rows.kept[at * self.memory][3] == 0.0 || overlap <= 0.0 {
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
            for (f, &(w, key)) in keys.iter().enumerate() {
                let (wall, state, at) = (&self.fixtures.walls[w], &self.walls[w], i * keys.len() + f);
                let near = wall.nearest(state, key, place[i]);
                let overlap = radius(i) - near.distance;
                if rows.wall_kept[at * self.memory][3] == 0.0 || overlap <= 0.0 {
                    continue;
                }
                let (normal, arm) = (-near.normal, radius(i) - 0.5 * overlap);
                let moves = wall.surface_velocity(state, place[i] + normal * arm);
                let meeting = Meeting {
                    grain: i,
                    partner: Partner::Wall(w as u16),
                    normal,
                    overlap,
                    velocity: velocity(i) + (spin(i) * arm).cross(normal) - moves,
                    spin: spin(i) - state.spin,
                    radius: radius(i),
                    mass: 1.0 / (inverse(i) + state.inverse_mass),
                    materials: [material(i), u32::from(wall.material)],
                    at,
                };
                out.push(finish(meeting, &rows.wall_kept));
            }
        }
        out
    }
}
