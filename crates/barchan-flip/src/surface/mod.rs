//! The surface of the sand, and grains that ride on it.
//!
//! Grains of gas do not meet each other. So that those that ride on the liquid do not clump, their number on each face of the surface is limited
//! by what fits there side by side [after Munns 2015]: a bounded problem over the faces (`clumps.rs`) says how many cross each edge, and they are
//! displaced by it. Faces steeper than a given angle carry none; over the edges to them grains may leave. What a closed patch cannot hold becomes liquid.
//!
//! | file | role |
//! |---|---|
//! | `field` | signed distance and velocity of the surface |
//! | `mesh` | its faces |
//! | `ride` | how it drags grains and bears them |
//!
//! Reads parcels, grid, walls; moves grains of gas.

pub mod field;
pub mod mesh;
pub mod ride;

use crate::clumps::{self, Faces, OFF};
use crate::gas::Gas;
use crate::grid::Grid;
use crate::parcels::{brick_of, settle};
use crate::settings::{Limit, Settings, SurfaceSettings};
use field::{Field, Found};
use glam::DVec3;
use mesh::{Ground, Mesh, NONE};
use std::collections::HashMap;

/// Share of an area that grains side by side in one layer cover: discs poured loosely have 0.77, the closest packing 0.91.
pub const COVERED: f64 = 0.80;
/// Height over the surface up to which a grain belongs to a face, in its diameters.
const RIDES: f64 = 1.0;
/// Most of a face's width by which a grain is displaced in a pass.
const REACH: f64 = 0.5;

/// The surface of a step.
#[derive(Clone, Debug, Default)]
pub struct Surface {
    /// Distance and velocity.
    pub field: Field,
    /// Its faces, where the last pass needed them.
    pub mesh: Mesh,
    /// Of each face, its number among those that carry grains, or [`NONE`].
    pub carries: Vec<u32>,
    /// Grains on each face that carries any, over its limit.
    pub load: Vec<f64>,
    /// Ψ of the last pass: how much each face presses, in grains.
    pub psi: Vec<f64>,
}

/// What a pass over the riding grains did.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Spread {
    /// Grains that their patch cannot hold.
    pub taken: Vec<u32>,
    /// Grains that were displaced.
    pub moved: usize,
}

impl Surface {
    /// The surface at a point [m]; none where no sand is near.
    pub fn at(&self, on: &Ground<'_>, x: DVec3) -> Option<Found> {
        let (mut cell, mut offset) = on.frame.locate(x);
        settle(&mut cell, &mut offset, on.grid);
        let slot = on.grid.slot(brick_of(cell)) as usize;
        if slot == 0 || self.field.phi.len() != on.grid.rows() {
            return None;
        }
        self.field.at(&on.grid.around[slot], cell.map(|c| c & 7), offset)
    }

    /// Brings the faces up to date, with `up` against gravity.
    pub fn lay_out(&mut self, on: &Ground<'_>, settings: &SurfaceSettings, up: DVec3) {
        self.mesh = Mesh::build(&self.field, on);
        let flat = barchan_core::math::cos(settings.angle);
        let mut count = 0;
        self.carries.clear();
        for f in &self.mesh.faces {
            let level = up == DVec3::ZERO || f.normal.dot(up) >= flat;
            self.carries.push(if level && !f.at_wall && f.area > 0.0 { count } else { NONE });
            count += u32::from(self.carries[self.carries.len() - 1] != NONE);
        }
        self.load = vec![0.0; count as usize];
        self.psi = vec![0.0; count as usize];
    }

    /// The faces that carry grains, as the problem knows them.
    pub fn faces(&self, settings: &SurfaceSettings, diameter: f64) -> Faces {
        let mut out = Faces::default();
        for (f, face) in self.mesh.faces.iter().enumerate().filter(|(f, _)| self.carries[*f] != NONE) {
            let (mut beside, mut open) = (Vec::new(), 0.0);
            for (k, edge) in face.edges.iter().enumerate() {
                let Some(other) = self.mesh.faces.get(edge.other as usize) else { continue };
                let back = other.edges.iter().find(|e| e.other == f as u32).map_or(edge.middle, |e| e.middle);
                let way = face.middle.distance(edge.middle) + back.distance(other.middle);
                let w = if way > 0.0 { edge.length / way } else { 0.0 };
                match self.carries[edge.other as usize] {
                    // Sand that stands at a wall goes no further there.
                    NONE if other.at_wall => {}
                    NONE => open += w,
                    j if !face.edges[..k].iter().any(|e| e.other == edge.other) => beside.push((j, w)),
                    j => beside.iter_mut().filter(|b| b.0 == j).for_each(|b| b.1 += w),
                }
            }
            out.beside.push(beside);
            out.open.push(open);
            out.room.push(room(settings, face.area, diameter));
        }
        out
    }

    /// The face of each grain that rides: the nearest by its middle among those about its cell, ties by number.
    pub fn faces_of(&self, on: &Ground<'_>, gas: &Gas, diameter: f64) -> Vec<u32> {
        let mut about: HashMap<[i32; 3], Vec<u32>> = HashMap::new();
        for (f, face) in self.mesh.faces.iter().enumerate().filter(|(f, _)| self.carries[*f] != NONE) {
            about.entry(wrapped(on.grid, face.cell)).or_default().push(f as u32);
        }
        let face = |x: &DVec3| {
            let near = self.at(on, *x).is_some_and(|found| found.phi.abs() * on.frame.cell < RIDES * diameter);
            if !near {
                return OFF;
            }
            let cell = on.frame.locate(*x).0;
            let cells = (0..27).map(|k| [cell[0] + k % 3 - 1, cell[1] + k / 3 % 3 - 1, cell[2] + k / 9 - 1]);
            let found = cells.filter_map(|c| about.get(&wrapped(on.grid, c))).flatten();
            let away = |f: &u32| self.mesh.faces[*f as usize].middle.distance_squared(*x);
            let nearest = found.min_by(|a, b| away(a).total_cmp(&away(b)).then(a.cmp(b)));
            nearest.map_or(OFF, |&f| self.carries[f as usize])
        };
        gas.position.iter().map(face).collect()
    }

    /// Spreads the riding grains.
    pub fn spread(&mut self, on: &Ground<'_>, settings: &Settings, gas: &mut Gas) -> Spread {
        let (mut out, s, diameter) = (Spread::default(), &settings.surface, settings.gas_diameter());
        if s.passes == 0 || !self.is_crowded(on, settings, gas) {
            self.mesh = Mesh::default();
            return out;
        }
        self.lay_out(on, s, -settings.gravity.normalize_or_zero());
        let faces = self.faces(s, diameter);
        let of: Vec<usize> = (0..self.carries.len()).filter(|&f| self.carries[f] != NONE).collect();
        for pass in 0..s.passes {
            let mut face = self.faces_of(on, gas, diameter);
            out.taken.iter().for_each(|&g| face[g as usize] = OFF);
            let before = face.clone();
            let depth: Vec<f64> = if pass == 0 { self.depths(on, gas, &face) } else { vec![0.0; face.len()] };
            let found = clumps::pressures(&faces, &mut face, &depth);
            out.taken.extend(&found.spread.taken);
            if found.psi.is_empty() {
                break;
            }
            self.note(&faces, &before, &found.psi);
            if s.exact {
                let moves = clumps::carry_out(&faces, &mut face, &found);
                for &(grain, from, to) in &moves.moves {
                    let [from, to] = [from, to].map(|f| &self.mesh.faces[of[f as usize]]);
                    let arm = gas.position[grain as usize] - from.middle;
                    // The face is laid over the other: what lies in its plane stays, the height too.
                    let height = arm.dot(from.normal);
                    let flat = arm - from.normal * height;
                    gas.position[grain as usize] =
                        to.middle + (flat - to.normal * flat.dot(to.normal)) + to.normal * height;
                }
                out.moved += moves.moves.len();
            } else {
                out.moved += self.displace(on, gas, &face, &faces, &of);
            }
        }
        out
    }

    /// Whether any cell holds so many grains of gas that a face in it might be over its limit.
    fn is_crowded(&self, on: &Ground<'_>, settings: &Settings, gas: &Gas) -> bool {
        let h = on.frame.cell;
        let most = room(&settings.surface, 0.5 * h * h, settings.gas_diameter());
        let mut count: HashMap<[i32; 3], u32> = HashMap::new();
        gas.position.iter().any(|x| {
            let n = count.entry(on.frame.locate(*x).0).or_default();
            *n += 1;
            *n > most
        })
    }

    /// Depth of riding grains below the surface [cells].
    fn depths(&self, on: &Ground<'_>, gas: &Gas, face: &[u32]) -> Vec<f64> {
        let depth =
            |(x, f): (&DVec3, &u32)| if *f == OFF { 0.0 } else { self.at(on, *x).map_or(0.0, |found| -found.phi) };
        gas.position.iter().zip(face).map(depth).collect()
    }

    /// Keeps loads and Ψ for pictures.
    pub fn note(&mut self, faces: &Faces, face: &[u32], psi: &std::collections::BTreeMap<u32, f64>) {
        self.load.iter_mut().for_each(|l| *l = 0.0);
        face.iter().filter(|f| **f != OFF).for_each(|&f| self.load[f as usize] += 1.0);
        self.load.iter_mut().zip(&faces.room).for_each(|(l, r)| *l /= f64::from((*r).max(1)));
        self.psi.iter_mut().enumerate().for_each(|(f, p)| *p = psi.get(&(f as u32)).copied().unwrap_or(0.0));
    }

    /// Displaces riding grains by the flows over the edges of their faces, linear across a face, at most by half of it.
    fn displace(&self, on: &Ground<'_>, gas: &mut Gas, face: &[u32], faces: &Faces, of: &[usize]) -> usize {
        let mut moved = 0;
        for (g, &f) in face.iter().enumerate().filter(|(_, f)| **f != OFF) {
            let own = &self.mesh.faces[of[f as usize]];
            let count = (self.load[f as usize] * f64::from(faces.room[f as usize].max(1)))
                .max(f64::from(faces.room[f as usize]));
            let mut way = DVec3::ZERO;
            for edge in &own.edges {
                let Some(&other) = self.carries.get(edge.other as usize) else { continue };
                let (w, psi) = match other {
                    NONE if self.mesh.faces[edge.other as usize].at_wall => continue,
                    NONE => (faces.open[f as usize], 0.0),
                    j => {
                        let w = faces.beside[f as usize].iter().find(|b| b.0 == j).map_or(0.0, |b| b.1);
                        (w, self.psi[j as usize])
                    }
                };
                let flow = w * (self.psi[f as usize] - psi);
                let arm = edge.middle - own.middle;
                let square = arm.length_squared();
                if flow == 0.0 || square == 0.0 || edge.length == 0.0 {
                    continue;
                }
                // One at this edge, zero at the opposite one.
                let share = 0.5 * (1.0 + ((gas.position[g] - own.middle).dot(arm) / square).clamp(-1.0, 1.0));
                way += arm * (flow * own.area / (edge.length * count) * share / square.sqrt());
            }
            let longest = REACH * own.area.sqrt();
            if way == DVec3::ZERO {
                continue;
            }
            moved += 1;
            let height = self.at(on, gas.position[g]).map_or(0.0, |found| found.phi);
            let mut x = gas.position[g] + way * (longest / way.length()).min(1.0);
            if let Some(found) = self.at(on, x) {
                x += found.normal * ((height - found.phi).clamp(-0.5, 0.5) * on.frame.cell);
            }
            gas.position[g] = x;
        }
        moved
    }
}

/// Most grains of a face of that area [m²].
fn room(settings: &SurfaceSettings, area: f64, diameter: f64) -> u32 {
    match settings.limit {
        Limit::PerFace(n) => n,
        Limit::Packing => {
            let covers = 0.25 * std::f64::consts::PI * diameter * diameter;
            (COVERED * settings.layers * area / covers) as u32
        }
    }
}

fn wrapped(grid: &Grid, mut cell: [i32; 3]) -> [i32; 3] {
    settle(&mut cell, &mut DVec3::splat(0.5), grid);
    cell
}
