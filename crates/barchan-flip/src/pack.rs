//! Excess of matter is removed by displacement: positions change, velocities stay.
//!
//! λ ≥ 0 solves the bound problem with b_i = max(c_i − m_i, −½), and parcels move by −∇λ, interpolated, at most half a cell
//! [after Kugelstadt et al. 2019, implicit density projection]. Parcels of a cell filled beyond 1½ are first spread over its eighths by
//! their order: coincident ones would get equal displacements for ever.

use crate::extend::extend;
use crate::flow::{Flow, Vectors};
use crate::fractions::Fractions;
use crate::grid::{Grid, ROWS, Row};
use crate::parcels::{Order, Parcels, brick_of, place_of};
use crate::press::{self, Problem};
use crate::solid::Solid;
use crate::solve::{Limits, Outcome};
use crate::transfer;
use barchan_core::parallel;
use glam::DVec3;

/// Excess of volume that may stay, as a share of a cell, and most iterations.
pub const LIMITS: Limits = Limits { tolerance: 5e-3, error: f64::INFINITY, iterations: 60 };
/// Most of a cell's volume that is removed in a step.
const MOST: f64 = 0.5;
/// Filling from which parcels are spread over their cell.
const CROWDED: f64 = 1.5;

/// What parcels lie among: the grid, and what walls and frozen sand take of it.
#[derive(Clone, Copy)]
pub struct Room<'a> {
    pub grid: &'a Grid,
    pub fractions: &'a Fractions,
    pub solid: &'a Solid,
}

/// Scratch of the position problem.
#[derive(Clone, Debug, Default)]
pub struct Pack {
    /// Masses at cell centres after the move, in full cells.
    pub mass: Vec<Row>,
    problem: Problem,
    shift: Vectors,
}

impl Pack {
    /// Moves parcels out of cells that hold too much.
    pub fn run(
        &mut self,
        Room { grid, fractions, solid }: Room<'_>,
        fill: f64,
        parcels: &mut Parcels,
        order: &Order,
        flow: &mut Flow,
    ) -> Outcome {
        transfer::mass(grid, parcels, order, fill, &mut self.mass);
        solid.add_mass(&mut self.mass);
        if self.spread(grid, fractions, parcels, order) {
            transfer::mass(grid, parcels, order, fill, &mut self.mass);
            solid.add_mass(&mut self.mass);
        }
        // λ in cells².
        let open = &fractions.open;
        self.problem.assemble(grid, press::Room { fractions, open }, &self.mass, None, 1.0, |c, m| (c - m).max(-MOST));
        let outcome = self.problem.solve(grid, LIMITS, None, &mut flow.lift);
        self.shifts(grid, fractions, &flow.lift);
        extend(grid, fractions, &self.mass, &flow.carried.face, None, &mut self.shift);
        self.displace(grid, parcels, order);
        outcome
    }

    fn shifts(&mut self, grid: &Grid, fractions: &Fractions, lift: &[Row]) {
        for (a, shift) in self.shift.iter_mut().enumerate() {
            shift.resize(grid.rows(), [0.0; 8]);
            let open = &fractions.open[a];
            parallel::run(shift.chunks_mut(ROWS).enumerate().skip(1).collect(), 4, |(s, rows)| {
                let around = &grid.around[s];
                for (k, row) in rows.iter_mut().enumerate() {
                    let (y, z) = (k as i32 % 8, k as i32 / 8);
                    let d: [i32; 3] = std::array::from_fn(|j| -i32::from(j == a));
                    let (here, before) = (around.here(lift, y, z), around.shifted(lift, d[0], y + d[1], z + d[2]));
                    *row = std::array::from_fn(|x| if open[s * ROWS + k][x] > 0.0 { before[x] - here[x] } else { 0.0 });
                }
            });
        }
    }

    fn displace(&self, grid: &Grid, parcels: &mut Parcels, order: &Order) {
        let shifts = parallel::run((1..grid.len()).collect(), 2, |s| {
            let own = order.first[s] as usize..order.first[s + 1] as usize;
            let shift = |i: usize| {
                let (slot, local) = whereabouts(grid, s, parcels.cell[i]);
                let d = transfer::interpolate(grid, slot, local, parcels.offset[i], &self.shift).0;
                d.clamp(DVec3::splat(-0.5), DVec3::splat(0.5))
            };
            own.map(shift).collect::<Vec<_>>()
        });
        for (i, d) in shifts.into_iter().flatten().enumerate() {
            if d != DVec3::ZERO {
                parcels.shift(i, d, grid);
            }
        }
    }

    /// Spreads the parcels of crowded cells over their eighths, in the order of slots. Returns whether there was any.
    fn spread(&self, grid: &Grid, fractions: &Fractions, parcels: &mut Parcels, order: &Order) -> bool {
        let mut any = false;
        for s in 1..grid.len() {
            let rows = s * ROWS..(s + 1) * ROWS;
            let full = |r: usize| (0..8).any(|x| self.mass[r][x] > CROWDED * fractions.capacity[r][x].max(0.5));
            if !rows.clone().any(full) {
                continue;
            }
            let mut seen = [0u32; 512];
            for i in order.first[s] as usize..order.first[s + 1] as usize {
                let (slot, _) = whereabouts(grid, s, parcels.cell[i]);
                let place = place_of(parcels.cell[i]) as usize;
                let (r, x) = (slot * ROWS + place / 8, place % 8);
                if slot == s && self.mass[r][x] > CROWDED * fractions.capacity[r][x] && fractions.capacity[r][x] == 1.0
                {
                    let k = seen[place];
                    seen[place] += 1;
                    let at = |bit: u32| if k >> bit & 1 == 1 { 0.75 } else { 0.25 };
                    // Half of the way, so that what is spread already stays nearly where it is.
                    parcels.offset[i] = 0.5 * (parcels.offset[i] + DVec3::new(at(0), at(1), at(2)));
                    any = true;
                }
            }
        }
        any
    }
}

/// Slot of a parcel's cell and its place there, for a parcel that was sorted into slot `s` and has moved by a cell at most.
pub fn whereabouts(grid: &Grid, s: usize, cell: [i32; 3]) -> (usize, [i32; 3]) {
    if brick_of(cell) == grid.bricks[s] {
        return (s, cell.map(|c| c & 7));
    }
    let d = transfer::relative(grid, s, cell).map(|d| d.div_euclid(8).clamp(-1, 1) + 1);
    (grid.beside[s][(d[0] + 3 * d[1] + 9 * d[2]) as usize] as usize, cell.map(|c| c & 7))
}
