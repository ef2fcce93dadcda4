//! Sand as pictures show it: every quantum is a grain, of the size in which it flies.
//!
//! A parcel of n quanta is shown as n grains about its place, at the places from which they would fly if it became gas now: so nothing jumps
//! when it does. A frozen cell is shown as its quanta too. Grains of gas are shown where they are. Unless all is asked for, what lies deeper than
//! [`DEEP`] cells below a surface or a wall is left out: nobody could see it.
//!
//! Reads the state, writes nothing but a population.

use crate::grid::{ROWS, at};
use crate::parcels::{brick_of, place_of};
use crate::settings::Shown;
use crate::solver::{PHASE_GAS, PHASE_LIQUID, PHASE_SOLID};
use crate::step::Liquid;
use barchan_core::frame::{Extra, Population, UPSAMPLED};
use barchan_core::parallel;
use barchan_core::rng::Random;
use glam::DVec3;

/// Cells below the surface that are shown: grains of a packing of 0.6 hide what lies eight diameters behind.
const DEEP: usize = 2;
/// Filling below which a cell is part of the surface.
const OPEN: f64 = 0.5;
/// Ids of shown grains have the phase in their upper bits and 30 bits of their own: those of gas are its own, a parcel has as many as it can have quanta,
/// a frozen cell as many as it can hold. So no two grains have the same.
const OWN: u32 = (1 << 30) - 1;
const OF_LIQUID: u32 = 1 << 30;
pub const OF_SOLID: u32 = 2 << 30;
/// Parcels that a task shows.
const CHUNK: usize = 4096;

/// Places of the grains of a parcel about its own [m], in pairs on opposite sides: their centre is the parcel's.
pub fn places(id: u32, quanta: u32, reach: f64) -> impl Iterator<Item = DVec3> {
    let mut rng = Random::new(u64::from(id), 0);
    let mut r = DVec3::ZERO;
    (0..quanta).map(move |k| {
        r = match k % 2 {
            _ if k == quanta - 1 && k % 2 == 0 => DVec3::ZERO,
            0 => DVec3::new(rng.range(-reach, reach), rng.range(-reach, reach), rng.range(-reach, reach)),
            _ => -r,
        };
        r
    })
}

/// Half the side of the cube that so many quanta fill when packed [m].
pub fn reach(cell: f64, quanta: u32, fill: f64) -> f64 {
    0.5 * cell * barchan_core::math::cbrt(f64::from(quanta) * fill)
}

/// One shown grain.
#[derive(Clone, Copy)]
struct Grain {
    position: DVec3,
    velocity: DVec3,
    id: u32,
    phase: u32,
    filling: f32,
    pressure: f32,
}

impl Liquid {
    /// All that is to be seen, as grains.
    pub fn shown(&self, which: Shown) -> Population {
        let near = if which == Shown::Surface { self.near_open() } else { Vec::new() };
        let mut grains = if which == Shown::Mesh { Vec::new() } else { self.shown_liquid(&near) };
        if which != Shown::Mesh {
            grains.extend(self.shown_solid(which));
        }
        let gas = &self.gas;
        grains.extend((0..gas.len()).map(|i| Grain {
            position: gas.position[i],
            velocity: gas.velocity[i],
            id: gas.id[i] & OWN,
            phase: PHASE_GAS,
            filling: 0.0,
            pressure: 0.0,
        }));
        let n = grains.len();
        Population {
            name: UPSAMPLED.into(),
            position: grains.iter().map(|g| g.position).collect(),
            velocity: grains.iter().map(|g| g.velocity).collect(),
            radius: vec![0.5 * self.settings.gas_diameter(); n].into(),
            mass: vec![0.0; n].into(),
            id: grains.iter().map(|g| g.id).collect(),
            material: vec![self.settings.material; n].into(),
            extras: vec![
                Extra::whole("phase", grains.iter().map(|g| g.phase).collect::<Vec<_>>()),
                Extra::real("filling", "", grains.iter().map(|g| g.filling).collect::<Vec<_>>()),
                Extra::real("pressure", "Pa", grains.iter().map(|g| g.pressure).collect::<Vec<_>>()),
            ],
            ..Population::default()
        }
    }

    /// Number of a cell of the domain, the same for as long as the domain is.
    pub fn number(&self, cell: [i32; 3]) -> u32 {
        let size = (self.settings.domain.max - self.settings.domain.min) / self.settings.cell;
        let [nx, ny] = [size.x, size.y].map(|n| n.ceil().max(1.0) as u32);
        let [x, y, z] = cell.map(|c| c as u32);
        z.wrapping_mul(ny).wrapping_add(y).wrapping_mul(nx).wrapping_add(x)
    }

    fn shown_liquid(&self, near: &[u8]) -> Vec<Grain> {
        let (p, s) = (&self.parcels, &self.settings);
        let (h, fill, bulk) = (s.cell, s.fill(), s.bulk());
        let tasks: Vec<usize> = (0..p.len().div_ceil(CHUNK)).collect();
        let parts = parallel::run(tasks, 2, |t| {
            let mut out = Vec::new();
            for i in t * CHUNK..((t + 1) * CHUNK).min(p.len()) {
                let (slot, k) = (self.grid.slot(brick_of(p.cell[i])) as usize, place_of(p.cell[i]) as usize);
                let r = slot * ROWS + k / 8;
                if slot > 0 && near.get(r).is_some_and(|bits| bits >> (k % 8) & 1 == 0) {
                    continue;
                }
                let value = |f: &[[f64; 8]]| if slot > 0 { f.get(r).map_or(0.0, |row| row[k % 8]) } else { 0.0 };
                let capacity = value(&self.fractions.capacity);
                let filling = if capacity > 0.0 { value(&self.pack.mass) / capacity } else { 0.0 } as f32;
                let pressure = (value(&self.flow.pressure) * bulk) as f32;
                let centre = self.frame.point(p.cell[i], p.offset[i]);
                let c = &p.affine[i];
                for (k, arm) in places(p.id[i], p.quanta[i], reach(h, p.quanta[i], fill)).enumerate() {
                    let shear = |a: usize| (0..3).map(|b| f64::from(c[3 * a + b]) * arm[b]).sum::<f64>();
                    out.push(Grain {
                        position: centre + arm,
                        velocity: p.velocity[i] + DVec3::new(shear(0), shear(1), shear(2)),
                        id: OF_LIQUID | (p.id[i].wrapping_mul(2 * s.split).wrapping_add(k as u32) & OWN),
                        phase: PHASE_LIQUID,
                        filling,
                        pressure,
                    });
                }
            }
            out
        });
        parts.concat()
    }

    fn shown_solid(&self, which: Shown) -> Vec<Grain> {
        let h = self.settings.cell;
        let mut out = Vec::new();
        for (cell, quanta) in self.solid.list() {
            if which == Shown::Surface && !self.solid.is_bare(&self.grid, cell) {
                continue;
            }
            let id = self.number(cell);
            let centre = self.frame.point(cell, DVec3::splat(0.5));
            out.extend(places(id, quanta, 0.5 * h).enumerate().map(|(k, arm)| Grain {
                position: centre + arm,
                velocity: DVec3::ZERO,
                id: OF_SOLID | (id.wrapping_mul(16 * self.settings.split).wrapping_add(k as u32) & OWN),
                phase: PHASE_SOLID,
                filling: 1.0,
                pressure: 0.0,
            }));
        }
        out
    }

    /// Cells that are not full, and those within [`DEEP`] cells of one, a bit for each cell of a row. Empty where nothing is known yet.
    pub fn near_open(&self) -> Vec<u8> {
        let (grid, mass) = (&self.grid, &self.pack.mass);
        if mass.len() != grid.rows() {
            return Vec::new();
        }
        let row = |r: usize| (0..8).filter(|&x| mass[r][x] < OPEN).fold(0u8, |b, x| b | 1 << x);
        let mut near: Vec<u8> = (0..grid.rows()).map(|r| if r < ROWS { 0 } else { row(r) }).collect();
        for _ in 0..DEEP {
            let before = near.clone();
            parallel::run(near.chunks_mut(ROWS).enumerate().skip(1).collect(), 4, |(s, rows)| {
                let around = &grid.around[s];
                for (k, row) in rows.iter_mut().enumerate() {
                    for d in 0..9 {
                        let place = at(k as i32 % 8 + d % 3 - 1, k as i32 / 8 + d / 3 - 1);
                        let [low, mid, high] =
                            [around.low[place], around.mid[place], around.high[place]].map(|r| before[r as usize]);
                        *row |= mid | mid << 1 | mid >> 1 | low >> 7 | high << 7;
                    }
                }
            });
        }
        near
    }
}
