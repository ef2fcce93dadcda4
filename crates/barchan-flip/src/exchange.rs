//! Matter changes its phase: thin liquid becomes gas, gas that falls into liquid or crowds becomes liquid.
//!
//! Filling ν is the trilinear mass over the capacity; on a flat surface it is ½ at the surface itself. A parcel with ν < ¼ for two steps
//! becomes as many grains as it has quanta; a grain at ν ≥ ½ has sunk in, and grains that fill six tenths of a cell are a continuum:
//! they join a parcel of their cell, or become one. Every conversion moves whole quanta and their momentum; the kinetic energy that
//! merging loses is counted. The gap between the thresholds keeps a stream from flickering.

use crate::FlipError;
use crate::parcels::{brick_of, place_of};
use crate::resample::Piece;
use crate::shown;
use crate::step::Liquid;
use crate::surface::ride;
use crate::transfer;
use barchan_core::parallel;
use glam::DVec3;
use std::collections::HashMap;

/// Filling below which a parcel is thin.
const THIN: f64 = 0.25;
/// Filling below which a parcel at a wall with nothing upon it is thin: half a layer of cells has 0.45. Such a layer bears no load, so that as liquid it would slide on
/// without friction.
const THIN_AT_WALL: f64 = 0.4;
/// Filling up to which there is nothing in a cell.
const NOTHING: f64 = 0.05;
/// Steps for which it must be.
const STEPS: u8 = 2;
/// Filling of liquid at which a grain has sunk into it: that of a flat surface.
const SUNK: f64 = 0.5;
/// Filling of gas from which a stream is a continuum.
const DENSE: f64 = 0.6;

/// What has been converted since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Account {
    /// Quanta that became gas.
    pub evaporated: u64,
    /// Quanta that became liquid.
    pub condensed: u64,
    /// Energy lost to friction, impacts and merging [J]: what matter had, and what gravity and walls gave it, less what it has.
    pub dissipated: f64,
    /// Sum of the changes of momentum that conversions made, by rounding alone, and of the momenta that took part, in quanta [m/s].
    pub slipped: f64,
    pub moved: f64,
}

impl Account {
    /// Notes a conversion: by how much it changed a momentum.
    fn book(&mut self, change: DVec3, momentum: DVec3) {
        self.slipped += change.length();
        self.moved += momentum.length();
    }
}

impl Liquid {
    /// Filling of the grid's mass at a point in a cell.
    fn filling(&self, cell: [i32; 3], offset: DVec3) -> f64 {
        self.filling_in(self.grid.slot(brick_of(cell)) as usize, cell, offset)
    }

    /// The same, where the slot of the cell's brick is known.
    fn filling_in(&self, slot: usize, cell: [i32; 3], offset: DVec3) -> f64 {
        if slot == 0 {
            return if self.solid.has(&self.grid, cell) { 1.0 } else { 0.0 };
        }
        let local = cell.map(|c| c & 7);
        let (m, c) = transfer::centred_pair(&self.grid, slot, local, offset, &self.pack.mass, &self.fractions.capacity);
        if c > 0.0 { m / c } else { 0.0 }
    }

    /// Thin parcels become gas. Returns whether any did.
    pub fn evaporate(&mut self) -> bool {
        /// Parcels that a task looks at.
        const CHUNK: usize = 4096;
        let p = &self.parcels;
        let parts: Vec<_> = p.cell.chunks(CHUNK).zip(p.offset.chunks(CHUNK)).zip(p.thin.chunks(CHUNK)).collect();
        let thin = parallel::run(parts, 2, |((cells, offsets), thin)| {
            let mut last = ([i32::MIN; 3], 0);
            let each = |k: usize| {
                let brick = brick_of(cells[k]);
                if brick != last.0 {
                    last = (brick, self.grid.slot(brick) as usize);
                }
                let filling = self.filling_in(last.1, cells[k], offsets[k]);
                if filling < THIN || filling < THIN_AT_WALL && self.lies_bare(last.1, cells[k]) {
                    (thin[k] + 1).min(STEPS)
                } else {
                    0
                }
            };
            (0..cells.len()).map(each).collect::<Vec<u8>>()
        });
        self.parcels.thin = thin.concat();
        let leaving: Vec<bool> = self.parcels.thin.iter().map(|t| *t >= STEPS).collect();
        if !leaving.contains(&true) {
            return false;
        }
        let mut rows: Vec<usize> = (0..leaving.len()).filter(|&i| leaving[i]).collect();
        rows.sort_unstable_by_key(|&i| self.parcels.id[i]);
        for i in rows {
            self.burst(i);
        }
        self.parcels.retain(|i| !leaving[i]);
        true
    }

    /// Whether a cell lies at a wall and the one above it, against gravity, is empty.
    fn lies_bare(&self, slot: usize, cell: [i32; 3]) -> bool {
        let g = self.settings.gravity;
        let at = cell.map(|c| c & 7);
        let value = |f: &[[f64; 8]], c: [i32; 3]| self.grid.around[slot].value(f, c[0], c[1], c[2]);
        if slot == 0 || g == DVec3::ZERO || value(&self.fractions.capacity, at) >= 1.0 {
            return false;
        }
        let down = (0..3).max_by(|&a, &b| g[a].abs().total_cmp(&g[b].abs())).unwrap_or(2);
        let mut above = at;
        above[down] -= g[down].signum() as i32;
        value(&self.pack.mass, above) <= NOTHING
    }

    /// Parcels from a row on become gas. That is no conversion: they begin so.
    pub fn scatter_from(&mut self, first: usize) -> Result<(), FlipError> {
        let quanta: u64 = self.parcels.quanta[first..].iter().map(|&q| u64::from(q)).sum();
        self.check_room((quanta as usize).saturating_sub(self.parcels.len() - first))?;
        (first..self.parcels.len()).for_each(|i| self.burst(i));
        self.account.evaporated -= quanta;
        self.parcels.retain(|i| i < first);
        Ok(())
    }

    /// A parcel's quanta become grains about its place, in pairs on opposite sides, so that their centre and momentum are the parcel's.
    fn burst(&mut self, i: usize) {
        let p = &self.parcels;
        let (quanta, v, c) = (p.quanta[i], p.velocity[i], p.affine[i]);
        let centre = self.frame.point(p.cell[i], p.offset[i]);
        let mut given = DVec3::ZERO;
        let reach = shown::reach(self.settings.cell, quanta, self.settings.fill());
        for r in shown::places(p.id[i], quanta, reach) {
            let shear = |a: usize| (0..3).map(|b| f64::from(c[3 * a + b]) * r[b]).sum::<f64>();
            let each = v + DVec3::new(shear(0), shear(1), shear(2));
            given += each;
            self.gas.push(centre + r, each, self.born);
            self.born += 1;
        }
        self.account.book(given - v * f64::from(quanta), v * f64::from(quanta));
        self.account.evaporated += u64::from(quanta);
    }

    /// Grains that sank in or crowd, and those in the rows `taken`, become liquid. Returns whether any did. Parcels are in order.
    pub fn condense(&mut self, taken: &[u32]) -> bool {
        let places: Vec<([i32; 3], DVec3)> = self.gas.position.iter().map(|x| self.place(*x)).collect();
        let mut count: HashMap<[i32; 3], u32> = HashMap::new();
        places.iter().for_each(|(cell, _)| *count.entry(*cell).or_default() += 1);
        let dense = DENSE / self.settings.fill();
        let joins =
            |(cell, offset): &([i32; 3], DVec3)| f64::from(count[cell]) >= dense || self.has_sunk(*cell, *offset);
        let mut joining: Vec<bool> = places.iter().map(joins).collect();
        taken.iter().for_each(|&row| joining[row as usize] = true);
        if !joining.contains(&true) {
            return false;
        }
        let mut born: HashMap<[i32; 3], usize> = HashMap::new();
        for i in (0..joining.len()).filter(|&i| joining[i]) {
            let (cell, offset) = places[i];
            self.merge(cell, offset, self.gas.velocity[i], self.gas.id[i], &mut born);
        }
        self.account.condensed += joining.iter().filter(|j| **j).count() as u64;
        self.gas.retain(|i| !joining[i]);
        true
    }

    /// Whether a grain has sunk in: half its diameter below the surface where that is known, or else where liquid fills half of the space.
    fn has_sunk(&self, cell: [i32; 3], offset: DVec3) -> bool {
        let slot = self.grid.slot(brick_of(cell)) as usize;
        let found = match slot {
            0 => None,
            _ => self.surface.field.at(&self.grid.around[slot], cell.map(|c| c & 7), offset),
        };
        match found {
            Some(found) => found.phi * self.settings.cell < -ride::SUNK * self.settings.gas_diameter(),
            None => self.filling(cell, offset) >= SUNK,
        }
    }

    /// Cell and offset of a point, within the period.
    fn place(&self, x: DVec3) -> ([i32; 3], DVec3) {
        let (mut cell, offset) = self.frame.locate(x);
        for k in 0..3 {
            if self.grid.period[k] > 0 {
                cell[k] = cell[k].rem_euclid(8 * self.grid.period[k]);
            }
        }
        (cell, offset)
    }

    /// A quantum joins the nearest parcel of its cell that has room, or becomes a parcel.
    fn merge(&mut self, cell: [i32; 3], offset: DVec3, v: DVec3, id: u32, born: &mut HashMap<[i32; 3], usize>) {
        let most = 2 * self.settings.split;
        let p = &mut self.parcels;
        let slot = self.grid.slot(brick_of(cell)) as usize;
        let own = if slot == 0 { 0..0 } else { self.order.first[slot] as usize..self.order.first[slot + 1] as usize };
        let place = place_of(cell);
        let start = own.start + p.cell[own.clone()].partition_point(|c| place_of(*c) < place);
        let residents = (start..own.end).take_while(|&i| p.cell[i] == cell).chain(born.get(&cell).copied());
        let near = residents
            .filter(|&i| p.quanta[i] < most)
            .min_by(|&i, &j| p.offset[i].distance_squared(offset).total_cmp(&p.offset[j].distance_squared(offset)));
        let Some(i) = near else {
            born.insert(cell, p.len());
            p.push(cell, offset, v, 1, id);
            return;
        };
        let (parcel, grain) = (self.piece(i), Piece { quanta: 1, offset, velocity: v, affine: [0.0; 9] });
        let one = parcel.joined(grain, self.settings.cell);
        let before = parcel.velocity * f64::from(parcel.quanta) + v;
        self.account.book(one.velocity * f64::from(one.quanta) - before, before);
        self.become_piece(i, one);
    }
}
