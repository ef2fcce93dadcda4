//! Velocities, pressure and stress on the grid, and how forces change velocities.
//!
//! Densities are in units of ρ_max, so pressures and stresses here are p/ρ_max [m²/s²]. The *mobility* of a face is dt/ρ̂ with
//! ρ̂ = M/w̃, not below [`LIGHTEST`]; it is 0 on faces that forces do not move: closed ones, which have the solid's velocity, and ones without
//! mass.

use crate::fractions::Fractions;
use crate::grid::{Around, Grid, ROWS, Row, by_brick, carry};
use crate::transfer::Carried;
use barchan_core::parallel;
use glam::DVec3;

/// Least relative density of a face: stops a face with hardly any mass from being shot off by the pressure beside it. It is met only at the edge of the matter.
pub const LIGHTEST: f64 = 0.25;

/// Relative density of a face below which it takes no stress: there is nothing that could shear.
pub const THINNEST: f64 = 0.05;

/// Components of the stress, as indices of [`Flow::stress`].
pub mod component {
    /// At cell centres.
    pub const XX: usize = 0;
    /// At cell centres.
    pub const YY: usize = 1;
    /// At cell centres.
    pub const ZZ: usize = 2;
    /// At edges along x, on the lower sides of a cell in y and z.
    pub const YZ: usize = 3;
    /// At edges along y.
    pub const XZ: usize = 4;
    /// At edges along z.
    pub const XY: usize = 5;
}
use component::{XX, XY, XZ, YY, YZ, ZZ};

/// A field for each component of a vector.
pub type Vectors = [Vec<Row>; 3];
/// Eight cells along x in single precision. Stress is iterated on in f32: what it does to momenta cancels between neighbours whatever its
/// rounding, as long as the differences are taken in f64.
pub type Single = [f32; 8];
/// A field for each component of a symmetric tensor.
pub type Tensors = [Vec<Single>; 6];

/// What is solved for on the grid.
#[derive(Clone, Debug, Default)]
pub struct Flow {
    /// Mass and momentum of the parcels.
    pub carried: Carried,
    /// Velocity before pressure and friction [m/s]: û = u* + dt g, or the solid's.
    pub base: Vectors,
    /// dt/ρ̂ [s], for the pressure.
    pub mobility: Vectors,
    /// The same for the stress: without a floor, since friction shoots nothing off, and 0 on faces below [`THINNEST`]. So what stress does to
    /// momenta cancels everywhere but at walls.
    pub slip: Vectors,
    /// Pressure [m²/s²] on closed faces in front of cells, by the mass that comes with them: the half cell between the wall and the centre of the
    /// cell before it.
    pub impact: Vectors,
    /// Velocity [m/s].
    pub velocity: Vectors,
    /// Pressure p/ρ_max [m²/s²]; carried over to the next step.
    pub pressure: Vec<Row>,
    /// Deviatoric stress s/ρ_max [m²/s²]; carried over.
    pub stress: Tensors,
    /// Multiplier of the position problem [m²]; carried over.
    pub lift: Vec<Row>,
}

impl Flow {
    /// Lets the fields follow the bricks.
    pub fn follow(&mut self, before: &[u32]) {
        carry(&mut self.pressure, before);
        carry(&mut self.lift, before);
        self.stress.iter_mut().for_each(|s| carry(s, before));
        // Bricks may change between the scatter and the displacement that asks which faces had mass.
        self.carried.face.iter_mut().for_each(|f| carry(f, before));
        let rows = before.len() * ROWS;
        let vectors = self
            .base
            .iter_mut()
            .chain(&mut self.mobility)
            .chain(&mut self.slip)
            .chain(&mut self.velocity)
            .chain(&mut self.impact);
        vectors.for_each(|f| f.resize(rows, [0.0; 8]));
    }

    /// Velocities under gravity [m/s²] alone after `dt` [s], and mobilities.
    pub fn fall(&mut self, fractions: &Fractions, gravity: DVec3, dt: f64) {
        for a in 0..3 {
            let (mass, before) = (&self.carried.face[a], &self.carried.velocity[a]);
            let (open, room, solid) = (&fractions.open[a], &fractions.room[a], &fractions.solid[a]);
            let parts = by_brick([&mut self.base[a], &mut self.mobility[a], &mut self.slip[a]]);
            parallel::run(parts.into_iter().enumerate().skip(1).collect(), 4, |(s, [base, mobility, slip])| {
                for (k, r) in (s * ROWS..(s + 1) * ROWS).enumerate() {
                    for x in 0..8 {
                        let m = mass[r][x];
                        let density = m / room[r][x].max(LIGHTEST);
                        (base[k][x], mobility[k][x]) = if open[r][x] == 0.0 {
                            (solid[r][x], 0.0)
                        } else if m > 0.0 {
                            (before[r][x] + gravity[a] * dt, dt / density.max(LIGHTEST))
                        } else {
                            (0.0, 0.0)
                        };
                        let shears = open[r][x] > 0.0 && density >= THINNEST;
                        slip[k][x] = if shears { dt / density } else { 0.0 };
                    }
                }
            });
        }
    }

    /// Pressure on closed faces by the momentum that they lose in a step of `dt` [s] under gravity [m/s²].
    pub fn strike(&mut self, grid: &Grid, fractions: &Fractions, gravity: DVec3, cell: f64, dt: f64) {
        for a in 0..3 {
            let d: [i32; 3] = std::array::from_fn(|k| -i32::from(k == a));
            let (mass, face, before) = (&self.carried.mass, &self.carried.face[a], &self.carried.velocity[a]);
            let tasks = self.impact[a].chunks_mut(ROWS).enumerate().skip(1);
            parallel::run(tasks.collect(), 4, |(s, rows)| {
                rows.fill([0.0; 8]);
                if !fractions.walled[s] {
                    return;
                }
                let around = &grid.around[s];
                for (k, row) in rows.iter_mut().enumerate() {
                    let (y, z, r) = (k as i32 % 8, k as i32 / 8, s * ROWS + k);
                    let (below, room) = (
                        around.shifted(mass, d[0], y + d[1], z + d[2]),
                        around.shifted(&fractions.capacity, d[0], y + d[1], z + d[2]),
                    );
                    for x in (0..8).filter(|&x| fractions.open[a][r][x] == 0.0 && face[r][x] > 0.0) {
                        let fluid = |m: f64, c: f64| m > 0.0 && c > 0.5;
                        let into = before[r][x] + gravity[a] * dt - fractions.solid[a][r][x];
                        let into = if fluid(mass[r][x], fractions.capacity[r][x]) {
                            -into
                        } else if fluid(below[x], room[x]) {
                            into
                        } else {
                            0.0
                        };
                        row[x] = into.max(0.0) * face[r][x] * cell / dt;
                    }
                }
            });
        }
    }

    /// Velocities from the base, the stress where `with_stress`, and the pressure where `with_pressure`.
    pub fn move_by(&mut self, grid: &Grid, cell: f64, with_stress: bool, with_pressure: bool) {
        let stress = with_stress.then_some(&self.stress);
        let pressure = with_pressure.then_some(&self.pressure);
        let [vx, vy, vz] = &mut self.velocity;
        let tasks = vx.chunks_mut(ROWS).zip(vy.chunks_mut(ROWS)).zip(vz.chunks_mut(ROWS)).enumerate().skip(1);
        let (base, mobility, slip) = (&self.base, &self.mobility, &self.slip);
        parallel::run(tasks.collect(), 2, |(s, ((vx, vy), vz))| {
            let around = &grid.around[s];
            for k in 0..ROWS {
                let (y, z) = (k as i32 % 8, k as i32 / 8);
                let r = s * ROWS + k;
                let shear = stress.map_or([[0.0; 8]; 3], |s| divergence(around, s, y, z));
                let mut push = [[0.0; 8]; 3];
                if let Some(p) = pressure {
                    let here = around.here(p, y, z);
                    let before = [around.below(p, y, z), around.here(p, y - 1, z), around.here(p, y, z - 1)];
                    for a in 0..3 {
                        for x in 0..8 {
                            push[a][x] = before[a][x] - here[x];
                        }
                    }
                }
                for (a, v) in [&mut *vx, &mut *vy, &mut *vz].into_iter().enumerate() {
                    for x in 0..8 {
                        let change = mobility[a][r][x] * push[a][x] + slip[a][r][x] * shear[a][x];
                        v[k][x] = base[a][r][x] + change / cell;
                    }
                }
            }
        });
    }
}

/// h times the divergence of the stress at the lower faces of a row.
#[inline(always)]
pub fn divergence(around: &Around, s: &Tensors, y: i32, z: i32) -> [Row; 3] {
    let xx = (around.here(&s[XX], y, z), around.below(&s[XX], y, z));
    let yy = (around.here(&s[YY], y, z), around.here(&s[YY], y - 1, z));
    let zz = (around.here(&s[ZZ], y, z), around.here(&s[ZZ], y, z - 1));
    let xy = (around.here(&s[XY], y, z), around.here(&s[XY], y + 1, z), around.above(&s[XY], y, z));
    let xz = (around.here(&s[XZ], y, z), around.here(&s[XZ], y, z + 1), around.above(&s[XZ], y, z));
    let yz = (around.here(&s[YZ], y, z), around.here(&s[YZ], y, z + 1), around.here(&s[YZ], y + 1, z));
    let minus = |a: f32, b: f32| f64::from(a) - f64::from(b);
    let mut out = [[0.0; 8]; 3];
    for x in 0..8 {
        out[0][x] = minus(xx.0[x], xx.1[x]) + minus(xy.1[x], xy.0[x]) + minus(xz.1[x], xz.0[x]);
        out[1][x] = minus(yy.0[x], yy.1[x]) + minus(xy.2[x], xy.0[x]) + minus(yz.1[x], yz.0[x]);
        out[2][x] = minus(zz.0[x], zz.1[x]) + minus(xz.2[x], xz.0[x]) + minus(yz.2[x], yz.0[x]);
    }
    out
}
