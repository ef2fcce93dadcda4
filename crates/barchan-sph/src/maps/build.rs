//! From a surface to a map.
//!
//! Reads a surface of triangles; makes its distance field ([`Field`]), and from that brick by brick normals and volumes. Nodes of the map are
//! nodes of the field, so every quadrature point lies at the same place of its cell for all nodes: its eight weights and its offset are
//! constants, and the inner loop runs along rows of nodes. Each brick is a function of the field alone, so that the result does not depend on
//! threads. Cost: 300 interpolations a node with −R < Φ < 2R.

use super::extension::{Point, extension_lane, plane_volume, quadrature};
use super::plan::padded;
use super::{
    BRICK, INSIDE, MapError, MapKey, MapSettings, NODES, NUMBERS, OUTSIDE, RATIO_FLOOR, SIDE, Sides, VolumeMap, ball,
    estimate,
};
use barchan_core::mesh::Mesh;
use barchan_core::mesh::near::Surface;
use barchan_core::sdf::Field;
use glam::DVec3;
use rayon::prelude::*;

/// One quadrature point as seen from any node.
struct Probe {
    /// From the node to the first corner of the cell, in the padded block.
    offset: isize,
    /// Where in the cell.
    t: [f32; 3],
    /// Share of the ball.
    share: f32,
}

/// Points of one radius.
struct Shell {
    /// In units of the support.
    radius: f32,
    share: f32,
    probes: Vec<Probe>,
}

/// What all bricks have in common.
struct Maker<'a> {
    field: &'a Field,
    sides: Sides,
    origin: DVec3,
    cell: f64,
    support: f64,
    /// Cells around a brick that its nodes' balls reach into.
    margin: usize,
    /// Nodes along the side of a brick with its margin.
    row: usize,
    shells: Vec<Shell>,
}

impl Maker<'_> {
    fn new(field: &Field, sides: Sides, support: f64) -> Maker<'_> {
        let cell = field.cell();
        // One more than the ball's radius: central differences read a node beyond, too.
        let margin = (support / cell).ceil() as usize + 1;
        let row = NODES + 2 * margin;
        let probe = |p: &Point| {
            let at = p.place * (support / cell);
            let whole = at.floor();
            let offset = (whole.z as isize * row as isize + whole.y as isize) * row as isize + whole.x as isize;
            Probe { offset, t: (at - whole).as_vec3().to_array(), share: p.share as f32 }
        };
        let all = quadrature();
        let shells = all
            .chunk_by(|a, b| a.radius == b.radius)
            .map(|points| Shell {
                radius: points[0].radius as f32,
                share: points.iter().map(|p| p.share).sum::<f64>() as f32,
                probes: points.iter().map(probe).collect(),
            })
            .collect();
        Maker { field, sides, origin: field.bounds().0, cell, support, margin, row, shells }
    }

    /// Distances [m] at the nodes of a brick and around it.
    fn block(&self, b: [u32; 3], out: &mut Vec<f32>) {
        out.clear();
        let first = b.map(|k| (k as usize * SIDE) as f64 - self.margin as f64);
        for z in 0..self.row {
            for y in 0..self.row {
                let at = |x: usize| {
                    let node = DVec3::new(first[0] + x as f64, first[1] + y as f64, first[2] + z as f64);
                    self.field.distance(self.origin + self.cell * node) as f32
                };
                out.extend((0..self.row).map(at));
            }
        }
    }

    /// Place of a brick's node in the padded block.
    fn slot(&self, node: usize) -> usize {
        let (x, y, z) = (node % NODES, node / NODES % NODES, node / (NODES * NODES));
        ((z + self.margin) * self.row + y + self.margin) * self.row + x + self.margin
    }

    /// Unit normal ∇Φ by central differences: exact on planes, and between two faces the mean of both.
    fn normal(&self, block: &[f32], slot: usize) -> [f32; 3] {
        let (own, cell) = (block[slot], self.cell as f32);
        // Beside the rim of a sheet the sign jumps without a surface in between: two distances that are longer together than the way
        // from node to node. Seen from this node the other has the same side.
        let seen = |other: f32| {
            let jump = self.sides == Sides::Sheet && own * other < 0.0 && (own - other).abs() > 1.001 * cell;
            if jump { -other } else { other }
        };
        let steps = [1, self.row, self.row * self.row];
        let slope = steps.map(|s| seen(block[slot + s]) - seen(block[slot - s]));
        let square = slope[0] * slope[0] + slope[1] * slope[1] + slope[2] * slope[2];
        let scale = if square > 0.0 { 1.0 / square.sqrt() } else { 0.0 };
        slope.map(|s| s * scale)
    }

    /// Adds up the shares of wall in the balls of a row of nodes.
    ///
    /// Distances change by no more than the way between two points: a whole shell inside the wall counts without a look, and one beyond
    /// the reach of γ* is left out.
    fn volumes(&self, walls: &[f32], start: usize) -> [f32; NODES] {
        let scale = (1.0 / self.support) as f32;
        let mut sum = [0f32; NODES];
        let (mut low, mut high) = (f32::INFINITY, f32::NEG_INFINITY);
        for q in &walls[start..start + NODES] {
            (low, high) = (low.min(q * scale), high.max(q * scale));
        }
        for shell in &self.shells {
            if low - shell.radius >= 1.0 {
                continue;
            }
            if high + shell.radius <= 0.0 {
                sum.iter_mut().for_each(|s| *s += shell.share);
                continue;
            }
            for p in &shell.probes {
                let at = start.wrapping_add_signed(p.offset);
                let r = self.row;
                let row = |shift: usize| &walls[at + shift..at + shift + NODES + 1];
                let (a, b, c, d) = (row(0), row(r), row(r * r), row(r * r + r));
                let [tx, ty, tz] = p.t;
                for k in 0..NODES {
                    let x = [a, b, c, d].map(|v| v[k] + tx * (v[k + 1] - v[k]));
                    let y = [x[0] + ty * (x[1] - x[0]), x[2] + ty * (x[3] - x[2])];
                    sum[k] += p.share * extension_lane((y[0] + tz * (y[1] - y[0])) * scale);
                }
            }
        }
        sum
    }

    /// The numbers of a brick's nodes; whether the band reaches any of them.
    fn fill(&self, b: [u32; 3], out: &mut [[f32; NUMBERS]], block: &mut Vec<f32>) -> bool {
        self.block(b, block);
        let band = self.field.band() as f32;
        let mut reached = false;
        for node in 0..BRICK {
            let slot = self.slot(node);
            let [nx, ny, nz] = self.normal(block, slot);
            out[node] = [block[slot], nx, ny, nz, 1.0];
            reached |= block[slot].abs() < band;
        }
        if !reached {
            return false;
        }
        if self.sides == Sides::Sheet {
            block.iter_mut().for_each(|d| *d = d.abs());
        }
        let floor = RATIO_FLOOR * ball(self.support);
        for first in (0..BRICK).step_by(NODES) {
            let start = self.slot(first);
            let shares = self.volumes(block, start);
            for k in 0..NODES {
                let at_plane = plane_volume(f64::from(block[start + k]), self.support);
                let volume = f64::from(shares[k]) * ball(self.support);
                out[first + k][NUMBERS - 1] = ((volume + floor) / (at_plane + floor)) as f32;
            }
        }
        true
    }
}

impl VolumeMap {
    /// The map of a mesh; it checks first whether the memory suffices ([`estimate`]).
    pub fn build(mesh: &Mesh, settings: &MapSettings) -> Result<VolumeMap, MapError> {
        VolumeMap::of(&Surface::build(mesh)?, MapKey::of(mesh, settings), settings)
    }

    /// As [`VolumeMap::build`], of a surface that is there already; the key is that of its mesh.
    pub fn of(surface: &Surface, key: MapKey, settings: &MapSettings) -> Result<VolumeMap, MapError> {
        estimate(surface, settings)?;
        let field = Field::of(surface, settings.cell, settings.band())?;
        let sides = if surface.is_closed() { Sides::Solid } else { Sides::Sheet };
        let maker = Maker::new(&field, sides, settings.support);
        let bricks = field.node_counts().map(|n| (n as u32 - 1).div_ceil(SIDE as u32));
        let (low, high) = surface.tree().bounds().unwrap_or_default();
        let (low, high) = padded(low, high, settings);
        let size = settings.cell * SIDE as f64;
        let all: Vec<[u32; 3]> = (0..bricks[2])
            .flat_map(|z| (0..bricks[1]).flat_map(move |y| (0..bricks[0]).map(move |x| [x, y, z])))
            .collect();
        let reach = settings.band() + 0.5 * 3f64.sqrt() * size * (1.0 + 1e-9);
        let middle = |b: &[u32; 3]| maker.origin + size * (DVec3::from(b.map(f64::from)) + 0.5);
        let near: Vec<[u32; 3]> = all
            .par_iter()
            .filter(|b| {
                let (m, half) = (middle(b), DVec3::splat(0.5 * size));
                (m + half).cmpge(low).all()
                    && (m - half).cmple(high).all()
                    && surface.tree().nearest(m, reach).is_some()
            })
            .copied()
            .collect();
        let mut values = vec![[0f32; NUMBERS]; near.len() * BRICK];
        let reached: Vec<bool> = values
            .par_chunks_mut(BRICK)
            .zip(&near)
            .map_init(Vec::new, |block, (out, &b)| maker.fill(b, out, block))
            .collect();
        let number = |b: [u32; 3]| ((b[2] * bricks[1] + b[1]) * bricks[0] + b[0]) as usize;
        let side = |b: &[u32; 3]| {
            if sides == Sides::Solid && field.distance(middle(b)) < 0.0 { INSIDE } else { OUTSIDE }
        };
        let mut index: Vec<u32> = all.par_iter().map(side).collect();
        let mut kept = 0;
        for k in (0..near.len()).filter(|&k| reached[k]) {
            values.copy_within(k * BRICK..(k + 1) * BRICK, kept * BRICK);
            index[number(near[k])] = kept as u32;
            kept += 1;
        }
        values.truncate(kept * BRICK);
        values.shrink_to_fit();
        Ok(VolumeMap {
            key,
            sides,
            origin: maker.origin,
            cell: settings.cell,
            support: settings.support,
            bricks,
            index,
            values,
        })
    }
}
