//! A flow of grains over rock, summed over cells: what couplings of snow need to know of it.

use barchan_core::frame::Population;
use barchan_core::relief::Relief;
use barchan_dem::Dem;
use glam::{DVec2, DVec3};

/// Sums over the grains above a cell.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sum {
    /// Mass [kg].
    pub mass: f64,
    /// Momentum [kg m/s].
    pub momentum: DVec3,
    /// Height of the highest centre [m].
    pub top: f64,
}

impl Sum {
    /// Mean speed [m/s]; 0 where there is nothing.
    pub fn speed(&self) -> f64 {
        if self.mass > 0.0 { self.momentum.length() / self.mass } else { 0.0 }
    }
}

/// Cells over a relief, and what flows over each.
#[derive(Clone, Debug)]
pub struct Flow {
    origin: DVec2,
    /// Width of a cell [m].
    pub cell: f64,
    /// Cells along x and y.
    pub size: [usize; 2],
    /// What is over each cell.
    pub sums: Vec<Sum>,
    /// Cells with a flow, in the order in which they were met.
    pub busy: Vec<usize>,
}

impl Flow {
    /// Cells of about this width over a relief: as wide as its own, or as a whole number of those.
    pub fn over(relief: &Relief, least: f64) -> Flow {
        let cell = relief.cell * (least / relief.cell).ceil().max(1.0);
        let size = (relief.end() - relief.origin.truncate()) / cell;
        let size = [size.x.ceil().max(1.0) as usize, size.y.ceil().max(1.0) as usize];
        let sums = vec![Sum::default(); size[0] * size[1]];
        Flow { origin: relief.origin.truncate(), cell, size, sums, busy: Vec::new() }
    }

    /// The cell under a place.
    pub fn cell_of(&self, x: DVec3) -> Option<usize> {
        let at = (x.truncate() - self.origin) / self.cell;
        let inside = at.cmpge(DVec2::ZERO).all() && at.x < self.size[0] as f64 && at.y < self.size[1] as f64;
        inside.then(|| at.x as usize + at.y as usize * self.size[0])
    }

    /// Middle of a cell [m].
    pub fn middle(&self, cell: usize) -> DVec2 {
        self.origin + (DVec2::new((cell % self.size[0]) as f64, (cell / self.size[0]) as f64) + 0.5) * self.cell
    }

    /// Lower corner of a cell [m].
    pub fn corner(&self, cell: usize) -> DVec2 {
        self.middle(cell) - 0.5 * self.cell
    }

    /// Sums up all grains, in the order of their rows.
    pub fn sum(&mut self, dem: &Dem) {
        for cell in std::mem::take(&mut self.busy) {
            self.sums[cell] = Sum::default();
        }
        dem.each(&mut |x, v, mass| self.enter(x, v, mass));
    }

    /// Sums up the grains of a population that are of a material, in the order of their rows.
    pub fn sum_of(&mut self, population: &Population, material: u16) {
        for cell in std::mem::take(&mut self.busy) {
            self.sums[cell] = Sum::default();
        }
        for row in (0..population.len()).filter(|&row| population.material[row] == material) {
            self.enter(population.position[row], population.velocity[row], population.mass[row]);
        }
    }

    fn enter(&mut self, x: DVec3, v: DVec3, mass: f64) {
        let Some(cell) = self.cell_of(x) else { return };
        let sum = &mut self.sums[cell];
        if sum.mass == 0.0 {
            self.busy.push(cell);
            sum.top = f64::NEG_INFINITY;
        }
        *sum = Sum { mass: sum.mass + mass, momentum: sum.momentum + v * mass, top: sum.top.max(x.z) };
    }

    /// Mean velocity at a place, smooth between cells [m/s], and the height of the flow's top there [m]; none where nothing flows near.
    pub fn wind(&self, x: DVec3) -> Option<(DVec3, f64)> {
        let at = (x.truncate() - self.origin) / self.cell - 0.5;
        let (low, part) = (at.floor(), at - at.floor());
        let (mut velocity, mut top, mut weights) = (DVec3::ZERO, 0.0, 0.0);
        for k in 0..4 {
            let corner = low + DVec2::new((k % 2) as f64, (k / 2) as f64);
            let share = |c: f64, far: bool| if far { c } else { 1.0 - c };
            let weight = share(part.x, k % 2 == 1) * share(part.y, k / 2 == 1);
            if corner.x < 0.0 || corner.y < 0.0 || corner.x >= self.size[0] as f64 || corner.y >= self.size[1] as f64 {
                continue;
            }
            let sum = &self.sums[corner.x as usize + corner.y as usize * self.size[0]];
            if sum.mass > 0.0 {
                velocity += weight * sum.momentum / sum.mass;
                top += weight * sum.top;
                weights += weight;
            }
        }
        (weights > 0.0).then(|| (velocity, top / weights))
    }
}
