//! A periodic cell that is strained: isotropic, triaxial, and sheared by the sides of Lees and Edwards (1972).
//!
//! The cell is a lattice of three vectors, a = (Lx, 0, 0), b = (0, Ly, 0), c = (s, 0, Lz). Its velocity gradient is
//! L = diag(ėx, ėy, ėz) + γ̇ x̂⊗ẑ, so that a vector of the lattice changes at the rate L·h. Grains are not moved by the strain: images that
//! move push them, and a grain that crosses a side takes up the velocity of the side that it comes out of. The offset s is kept within
//! ±Lx/2: c and c + a make the same lattice.
//!
//! Strain rates are given, or answer to a stress that is asked for, by the rule of the walls' servo. What the lattice does to the
//! grains is work, and is counted: forces across the sides, and jumps of velocity of grains that cross them.

use crate::integrate::net_load;
use crate::kernel::{Kernels, Met};
use crate::lists::Skew;
use crate::state::vec3;
use crate::step::Solver;
use barchan_core::columns::{Column, Columns, Saved, Unfit};
use glam::{DMat3, DVec3};

/// What one direction of a cell does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Straining {
    /// Strain rate [1/s]; negative where the cell becomes shorter.
    Rate(f64),
    /// Normal stress to hold [Pa], positive in compression.
    Stress(f64),
}

/// How a cell is strained.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CellLaw {
    /// Along x, y, z.
    pub sides: [Straining; 3],
    /// Shear rate γ̇ = ∂u_x/∂z [1/s].
    pub shear: f64,
    /// Largest strain rate of a direction that holds a stress [1/s].
    pub max_rate: f64,
}

/// The lattice that the kernel needs: offset of the image above, and how fast images move.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Lattice {
    /// Offset s of the vector c along x [m].
    pub offset: f64,
    /// Velocities of the images beyond the sides in x, y and z [m/s].
    pub rates: [DVec3; 3],
}

impl Lattice {
    /// How many times each vector lies in a difference of two places [m] whose cell has these sides [m].
    #[inline]
    pub fn turns(&self, mut d: DVec3, sides: DVec3) -> DVec3 {
        let z = (d.z / sides.z).round();
        d.x -= z * self.offset;
        DVec3::new((d.x / sides.x).round(), (d.y / sides.y).round(), z)
    }

    /// The lattice vector of so many turns [m].
    #[inline]
    pub fn vector(&self, turns: DVec3, sides: DVec3) -> DVec3 {
        DVec3::new(turns.x * sides.x + turns.z * self.offset, turns.y * sides.y, turns.z * sides.z)
    }

    /// Its velocity [m/s].
    #[inline]
    pub fn velocity(&self, turns: DVec3) -> DVec3 {
        self.rates[0] * turns.x + self.rates[1] * turns.y + self.rates[2] * turns.z
    }
}

/// State of a strained cell, and what was measured in the last step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cell {
    /// Strain rates along x, y, z in force [1/s].
    pub rates: DVec3,
    /// Logarithmic strain along x, y, z since the start.
    pub strain: DVec3,
    /// Shear strain since the start.
    pub shear: f64,
    /// Work done on the grains since the start [J].
    pub work: f64,
    /// Stress [Pa], positive in compression: what contacts carry, and what moves across.
    pub stress: DMat3,
    /// Its part that contacts carry [Pa].
    pub contact_stress: DMat3,
    /// Mean of n ⊗ n over the contacts.
    pub fabric: DMat3,
    /// Contacts.
    pub contacts: f64,
    offset: f64,
    /// Power of forces across the sides in the last step [W].
    power: f64,
    gains: DVec3,
    errors: DVec3,
    /// How far the lattice has moved since the lists were built [m].
    moved: f64,
    /// How far it may [m].
    room: f64,
}

impl Default for Cell {
    fn default() -> Self {
        Cell {
            rates: DVec3::ZERO,
            strain: DVec3::ZERO,
            shear: 0.0,
            work: 0.0,
            stress: DMat3::ZERO,
            contact_stress: DMat3::ZERO,
            fabric: DMat3::ZERO,
            contacts: 0.0,
            offset: 0.0,
            power: 0.0,
            gains: DVec3::ONE,
            errors: DVec3::ZERO,
            moved: 0.0,
            room: 0.0,
        }
    }
}

/// Numbers of a cell in a checkpoint.
const NUMBERS: usize = 49;
/// How far the lattice may move before lists are built anew, as a share of the smallest radius: what a grain of mean speed may.
const ROOM: f64 = 0.15;
/// Growth of the servo's gain in a quiet step, and its least share: those of the walls' servo.
const GAIN_RECOVERY: f64 = 1.05;
const LEAST_GAIN: f64 = 1e-6;

impl Cell {
    fn numbers(&self, sides: DVec3) -> Vec<f64> {
        let vectors = [self.rates, self.strain, self.gains, self.errors, sides].map(|v| v.to_array()).concat();
        let tensors = [self.stress, self.contact_stress, self.fabric].map(|m| m.to_cols_array()).concat();
        let rest = [self.shear, self.work, self.contacts, self.offset, self.power, self.moved, self.room];
        [&vectors[..], &tensors, &rest].concat()
    }

    /// Adds the column of a checkpoint.
    pub fn save(&self, sides: DVec3, out: &mut Columns) {
        out.push(("cell".into(), Column::F64(self.numbers(sides))));
    }

    /// What [`Cell::save`] gave, with the sides [m].
    pub fn load(read: Saved<'_>) -> Result<(Cell, DVec3), Unfit> {
        let n = read.f64s_of("cell", NUMBERS)?;
        let (vector, tensor) =
            (|k: usize| DVec3::from_slice(&n[3 * k..]), |k: usize| DMat3::from_cols_slice(&n[15 + 9 * k..]));
        let cell = Cell {
            rates: vector(0),
            strain: vector(1),
            gains: vector(2),
            errors: vector(3),
            stress: tensor(0),
            contact_stress: tensor(1),
            fabric: tensor(2),
            shear: n[42],
            work: n[43],
            contacts: n[44],
            offset: n[45],
            power: n[46],
            moved: n[47],
            room: n[48],
        };
        Ok((cell, vector(4)))
    }
}

impl<R: Kernels> Solver<R> {
    /// The lattice, where the cell is strained.
    pub fn lattice(&self) -> Option<Lattice> {
        let law = self.settings.cell?;
        let (sides, offset) = (self.period(), self.cell.offset);
        let rates = self.cell.rates * sides;
        let along = DVec3::new(self.cell.rates.x * offset + law.shear * sides.z, 0.0, rates.z);
        Some(Lattice { offset, rates: [DVec3::X * rates.x, DVec3::Y * rates.y, along] })
    }

    /// Moves the lattice to the end of the step. Whether it has gone farther than the lists allow for.
    pub fn strain_cell(&mut self) -> bool {
        let (Some(law), Some(lattice), dt) = (self.settings.cell, self.lattice(), self.settings.dt) else {
            return false;
        };
        let sides = self.period();
        let new = sides + self.cell.rates * sides * dt;
        let cell = &mut self.cell;
        cell.strain += cell.rates * dt;
        cell.shear += law.shear * dt;
        cell.offset += lattice.rates[2].x * dt;
        cell.offset -= new.x * (cell.offset / new.x).round();
        cell.moved += lattice.rates.iter().map(|r| r.length()).sum::<f64>() * dt;
        self.settings.domain.max = self.settings.domain.min + new;
        self.cell.moved > self.cell.room
    }

    /// Half of what the lattice may move in lists that are about to be built [m]: what each of a pair is given.
    pub fn give_cell_room(&mut self, least_radius: f64) {
        (self.cell.moved, self.cell.room) = (0.0, ROOM * least_radius);
    }

    /// The cell as a box, for lists that are about to be built; each of a pair reaches half of what the lattice may move farther.
    pub fn skew(&self) -> Option<Skew> {
        self.settings.cell.map(|_| {
            let (sides, floor) = (self.period(), self.settings.domain.min.z);
            Skew::new(self.cell.offset / sides.z, floor, 0.5 * self.cell.room)
        })
    }

    /// Brings a grain that has left the cell back, with the velocity of the side that it comes in by.
    pub fn wrap_into_cell(&mut self, g: usize) {
        let Some(lattice) = self.lattice() else { return };
        let (sides, min) = (self.period(), self.settings.domain.min);
        let x = vec3(self.grains.place(g, &self.spheres.record)) - min;
        let z = (x.z / sides.z).floor();
        let turns = DVec3::new(((x.x - z * lattice.offset) / sides.x).floor(), (x.y / sides.y).floor(), z);
        if turns == DVec3::ZERO {
            return;
        }
        let (shift, slower) = (lattice.vector(turns, sides), lattice.velocity(turns));
        self.crossed.push((self.grains.id[g], slower));
        for k in 0..3 {
            if let Some(centre) = self.grains.centre.get_mut(g) {
                centre[k] -= shift[k];
            }
            self.grains.velocity[g][k] -= slower[k];
        }
        for s in self.grains.spheres_of(g..g + 1) {
            let record = &mut self.spheres.record[s];
            for k in 0..3 {
                record.place[k] -= shift[k];
                record.motion[k] = R::of(Into::<f64>::into(record.motion[k]) - slower[k]);
            }
        }
    }

    /// Measures what the contacts of this step carry, counts work, and lets the sides that hold a stress answer. `counted` is false before
    /// the first step.
    pub fn weigh_cell(&mut self, counted: bool) {
        let (Some(law), Some(lattice)) = (self.settings.cell, self.lattice()) else { return };
        let sides = self.period();
        let volume = sides.element_product();
        let outer = |a: DVec3, b: DVec3| DMat3::from_cols(a * b.x, a * b.y, a * b.z);
        let (mut carried, mut fabric, mut contacts, mut power) = (DMat3::ZERO, DMat3::ZERO, 0.0, 0.0);
        self.each_contact(&mut |p, k, i, j| {
            let Met::Sphere(j) = j else { return };
            let at = |c: &[[f64; 8]; 3]| DVec3::new(c[0][k], c[1][k], c[2][k]);
            let normal = at(&p.normal);
            let push = at(&p.traction) - normal * p.press[k];
            let [xi, xj] = [i, j].map(|s| vec3(&self.spheres.record[s as usize].place));
            let apart = xj - xi;
            let turns = lattice.turns(apart, sides);
            // From centre of mass to centre of mass: what a grain's own spheres hand on within it.
            let [ci, cj] = [i, j].map(|s| vec3(self.grains.place(self.slot_of(s), &self.spheres.record)));
            let branch = apart - lattice.vector(turns, sides) + (xi - ci) - (xj - cj);
            carried -= outer(push, branch);
            fabric += outer(normal, normal);
            contacts += 1.0;
            // At rest otherwise, the distance of the two changes as the lattice moves: dE/dt = −F_i·(n h)˙.
            power -= push.dot(lattice.velocity(turns));
        });
        let middle = self.settings.domain.min + 0.5 * sides;
        let gradient = |x: DVec3| self.cell.rates * x + DVec3::X * (law.shear * x.z);
        let moving = (0..self.grains.len()).fold(DMat3::ZERO, |sum, g| {
            let v = self.motion_of(g).0 - gradient(vec3(self.grains.place(g, &self.spheres.record)) - middle);
            sum + outer(v, v) * (1.0 / self.grains.velocity[g][3])
        });
        // Those that crossed a side in this step did so after its forces: their kinetic energy jumps, and so does the power, which at the end of the step
        // is still that of the images they had.
        let (mut jumps, mut late) = (0.0, 0.0);
        for (id, slower) in std::mem::take(&mut self.crossed) {
            let Some(g) = self.grains.id.iter().position(|i| *i == id) else { continue };
            let after = self.motion_of(g).0;
            jumps += 0.5 * (after.length_squared() - (after + slower).length_squared()) / self.grains.velocity[g][3];
            late += net_load(&self.grains, &self.spheres.record, &self.spheres.load, g).0.dot(slower);
        }
        let cell = &mut self.cell;
        cell.contact_stress = carried * (1.0 / volume);
        cell.stress = (carried + moving) * (1.0 / volume);
        cell.fabric = if contacts > 0.0 { fabric * (1.0 / contacts) } else { DMat3::ZERO };
        cell.contacts = contacts;
        if counted {
            cell.work += jumps + 0.5 * (cell.power + power + late) * self.settings.dt;
        }
        cell.power = power;
        for k in 0..3 {
            cell.rates[k] = match law.sides[k] {
                Straining::Rate(rate) => rate,
                Straining::Stress(stress) => {
                    let error = 1.0 - cell.stress.col(k)[k] / stress;
                    let gain = if error * cell.errors[k] < 0.0 { 0.5 } else { GAIN_RECOVERY } * cell.gains[k];
                    cell.gains[k] = gain.clamp(LEAST_GAIN, 1.0);
                    cell.errors[k] = error;
                    -law.max_rate * cell.gains[k] * error.clamp(-1.0, 1.0)
                }
            };
        }
    }
}
