//! Parcels are split where too few carry what fills a cell, and merged where too many crowd in one.
//!
//! A cell that is full but has fewer than [`LEAST`] parcels splits its heaviest: ⌈n/2⌉ and ⌊n/2⌋ quanta, apart along the axis that stretches most, with
//! the velocity and gradient of the one they come from. So quanta, centre, momentum, angular momentum and energy are kept. A cell with more than
//! [`MOST`] merges its nearest light pairs. Two pieces that become one keep quanta, centre and momentum, and their angular momentum as spin: the
//! gradient turns by ω = 3 n_a n_b/n² · Δx × Δv/h², with which the samples about a parcel, h²/6 apart along each axis in the mean of all places, turn
//! as the two did about each other. The energy that is lost counts as dissipated.
//!
//! Reads the order of the parcels and the masses on the grid; costs a pass over the parcels.

use crate::grid::ROWS;
use crate::parcels::place_of;
use crate::step::Liquid;
use barchan_core::parallel;
use glam::DVec3;
use std::ops::Range;

/// Least number of parcels in a full cell.
const LEAST: usize = 4;
/// Most parcels in a cell: twice those of a full one.
const MOST: usize = 16;
/// Filling from which a cell must have [`LEAST`].
const FULL: f64 = 0.8;
/// Distance of the two halves of a parcel [cells].
const APART: f64 = 0.25;

/// Matter that moves as one.
#[derive(Clone, Copy, Debug)]
pub struct Piece {
    pub quanta: u32,
    /// Place within a cell [cells].
    pub offset: DVec3,
    pub velocity: DVec3,
    pub affine: [f32; 9],
}

impl Piece {
    /// Two pieces in one cell of side `cell` [m] as one.
    pub fn joined(self, other: Piece, cell: f64) -> Piece {
        let (m, n) = (f64::from(self.quanta), f64::from(other.quanta));
        let all = m + n;
        let arm = (other.offset - self.offset) * cell;
        let spin = arm.cross(other.velocity - self.velocity) * (3.0 * m * n / (all * all * cell * cell));
        let turn = [0.0, -spin.z, spin.y, spin.z, 0.0, -spin.x, -spin.y, spin.x, 0.0];
        let mean = |k: usize| ((f64::from(self.affine[k]) * m + f64::from(other.affine[k]) * n) / all + turn[k]) as f32;
        Piece {
            quanta: self.quanta + other.quanta,
            offset: (self.offset * m + other.offset * n) / all,
            velocity: (self.velocity * m + other.velocity * n) / all,
            affine: std::array::from_fn(mean),
        }
    }
}

impl Liquid {
    /// A parcel.
    pub fn piece(&self, i: usize) -> Piece {
        let p = &self.parcels;
        Piece { quanta: p.quanta[i], offset: p.offset[i], velocity: p.velocity[i], affine: p.affine[i] }
    }

    /// Makes a parcel that piece.
    pub fn become_piece(&mut self, i: usize, piece: Piece) {
        let p = &mut self.parcels;
        (p.quanta[i], p.offset[i], p.velocity[i], p.affine[i]) =
            (piece.quanta, piece.offset, piece.velocity, piece.affine);
    }

    /// Splits and merges parcels where that is due. Returns whether any were. They are in order, and masses are on the grid.
    pub fn resample(&mut self) -> bool {
        let (grid, order, p) = (&self.grid, &self.order, &self.parcels);
        let (mass, capacity) = (&self.flow.carried.mass, &self.fractions.capacity);
        let found = parallel::run((1..grid.len()).collect(), 8, |s| {
            let mut out: Vec<Range<usize>> = Vec::new();
            let own = order.first[s] as usize..order.first[s + 1] as usize;
            let mut first = own.start;
            while first < own.end {
                let count = (first..own.end).take_while(|&i| p.cell[i] == p.cell[first]).count();
                let at = place_of(p.cell[first]) as usize;
                let (r, x) = (s * ROWS + at / 8, at % 8);
                let sparse = count < LEAST && capacity[r][x] >= 1.0 && mass[r][x] > FULL;
                if sparse || count > MOST {
                    out.push(first..first + count);
                }
                first += count;
            }
            out
        });
        let found = found.concat();
        let mut gone = vec![false; if found.is_empty() { 0 } else { p.len() }];
        let mut any = false;
        for own in found {
            any |= if own.len() < LEAST { self.split_up(own) } else { self.merge_pairs(own, &mut gone) };
        }
        if gone.contains(&true) {
            // Halves have been added behind.
            self.parcels.retain(|i| gone.get(i).is_none_or(|gone| !gone));
        }
        any
    }

    /// Splits the heaviest parcels of a cell until there are enough, or quanta.
    fn split_up(&mut self, own: Range<usize>) -> bool {
        let mut rows: Vec<usize> = own.collect();
        let before = rows.len();
        while rows.len() < LEAST {
            let heaviest = rows.iter().copied().max_by_key(|&i| (self.parcels.quanta[i], std::cmp::Reverse(i)));
            let Some(i) = heaviest.filter(|&i| self.parcels.quanta[i] > 1) else { break };
            let piece = self.piece(i);
            let (more, less) = (piece.quanta.div_ceil(2), piece.quanta / 2);
            let stretch = |k: &usize| piece.affine[4 * k].abs();
            let axis = (0..3).max_by(|a, b| stretch(a).total_cmp(&stretch(b)).then(b.cmp(a))).unwrap_or(0);
            // Within the cell; the centre stays where it was.
            let room = piece.offset[axis].min(1.0 - piece.offset[axis]).min(0.5 * APART);
            let way = DVec3::AXES[axis] * (2.0 * room / f64::from(piece.quanta));
            let at = |way: DVec3| (piece.offset + way).clamp(DVec3::ZERO, DVec3::splat(1.0 - f64::EPSILON));
            let cell = self.parcels.cell[i];
            self.become_piece(i, Piece { quanta: more, offset: at(way * f64::from(less)), ..piece });
            self.bear(cell, at(way * -f64::from(more)), piece.velocity, less);
            let new = self.parcels.len() - 1;
            self.parcels.affine[new] = piece.affine;
            rows.push(new);
        }
        rows.len() > before
    }

    /// Merges the nearest pairs of a cell that are not too heavy together, until there are few enough.
    fn merge_pairs(&mut self, own: Range<usize>, gone: &mut [bool]) -> bool {
        let (most, cell) = (2 * self.settings.split, self.settings.cell);
        let mut rows: Vec<usize> = own.collect();
        let before = rows.len();
        while rows.len() > MOST {
            let p = &self.parcels;
            let pairs = (0..rows.len()).flat_map(|k| (0..k).map(move |l| (l, k)));
            let light = pairs.filter(|&(a, b)| p.quanta[rows[a]] + p.quanta[rows[b]] <= most);
            let away = |&(a, b): &(usize, usize)| p.offset[rows[a]].distance_squared(p.offset[rows[b]]);
            let Some((a, b)) = light.min_by(|a, b| away(a).total_cmp(&away(b))) else { break };
            // The older of the two goes on.
            let (keeps, goes) = if p.id[rows[a]] < p.id[rows[b]] { (a, b) } else { (b, a) };
            let one = self.piece(rows[keeps]).joined(self.piece(rows[goes]), cell);
            self.become_piece(rows[keeps], one);
            gone[rows[goes]] = true;
            rows.remove(goes);
        }
        rows.len() < before
    }
}
