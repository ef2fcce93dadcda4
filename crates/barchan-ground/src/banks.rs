//! Banks: what stands too steep, down to the slope at which sand comes to rest.
//!
//! A bank begins where sand would slide in a sweep of erosion, by the very same rule (`erode.rs`). From its toes a cut rises at the slope
//! `stop`: over a column it is the least, of all toes, of the toe's height and the slope times the distance. What is above
//! the cut cannot stay. Found by walking from the toes into the bank, the lowest cut first [Dijkstra 1959], each column with the toe that its
//! neighbour had. It reads the columns and changes nothing; columns that nobody walks to cost nothing but those of tiles that are awake or
//! covered (some 15 ns each).

use crate::columns::{COVERED, Columns, HELD, PRESSED};
use crate::erode::{TILE, Tile};
use barchan_core::math;
use rayon::prelude::*;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// How banks are sought; heights in quanta.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cut {
    /// Least height above the cut of what is given.
    pub least: i64,
    /// Height above the cut that some column must have, or nothing is given: a notch of a single grain would hold that grain.
    pub high: i64,
    /// What lies on a column at most, or it is held by that.
    pub cover: i64,
    /// Height to give in all, at most: where a bank has more, what is nearest to its toe.
    pub most: i128,
}

impl Columns {
    /// Columns of banks, and how much of each is above the cut [quanta], from the toe on. `surface` is the height of what lies on each column,
    /// or else its own: it supports what is beside it. What a body has pressed or stands on is left.
    ///
    /// # Panics
    /// If `surface` has not a height for each column.
    pub fn banks(&self, surface: &[i64], cut: Cut) -> Vec<(usize, i64)> {
        assert_eq!(surface.len(), self.height.len(), "a height for each column");
        let toes = self.toes(surface);
        let mut found = Vec::new();
        if toes.is_empty() {
            return found;
        }
        let mut lowest = vec![i64::MAX; surface.len()];
        let mut queue: BinaryHeap<Reverse<(i64, usize, usize)>> = BinaryHeap::new();
        for toe in toes {
            lowest[toe] = surface[toe];
            queue.push(Reverse((surface[toe], toe, toe)));
        }
        let (mut given, mut highest) = (0, 0);
        while let Some(Reverse((floor, column, toe))) = queue.pop() {
            if floor > lowest[column] {
                continue;
            }
            let above = self.height[column] - floor;
            if above >= cut.least {
                given += i128::from(above);
                if given > cut.most {
                    break;
                }
                highest = highest.max(above);
                found.push((column, above));
            }
            for near in self.round(column) {
                let floor = surface[toe] + self.climb(toe, near);
                let free = self.mark[near] & (HELD | PRESSED) == 0 && surface[near] - self.height[near] <= cut.cover;
                if free && floor < self.height[near] && floor < lowest[near] {
                    lowest[near] = floor;
                    queue.push(Reverse((floor, near, toe)));
                }
            }
        }
        if highest < cut.high {
            found.clear();
        }
        found
    }

    /// Columns that rise above one beside them by more than the slope at which sand comes to rest, in order: where none of these is free to fall
    /// there is no bank, whatever lies on the ground.
    pub fn steep(&self) -> Vec<usize> {
        let mut steep = vec![false; self.height.len()];
        let nx = self.grid.size[0];
        let (beside, across) = (self.climb(0, 1), self.climb(0, nx + 1));
        let climb = |a: usize, b: usize| if a % nx == b % nx || a / nx == b / nx { beside } else { across };
        for tile in self.sought() {
            for toe in self.columns_of(tile) {
                for near in self.round(toe) {
                    steep[near] |= self.height[toe] + climb(toe, near) < self.height[near];
                }
            }
        }
        (0..steep.len()).filter(|&c| steep[c] && self.mark[c] & (HELD | PRESSED) == 0).collect()
    }

    /// Tiles in which banks may begin. Anywhere else erosion has found nothing too steep.
    fn sought(&self) -> Vec<usize> {
        let covered = |tile: usize| self.columns_of(tile).any(|c| self.mark[c] & COVERED != 0);
        (0..self.is_awake.len()).filter(|&t| self.is_awake[t] || covered(t)).collect()
    }

    /// Columns of a tile.
    fn columns_of(&self, tile: usize) -> impl Iterator<Item = usize> + use<> {
        let [nx, ny] = self.grid.size;
        let across = nx.div_ceil(TILE);
        let (x, y) = (tile % across * TILE, tile / across * TILE);
        (y..(y + TILE).min(ny)).flat_map(move |y| (x..(x + TILE).min(nx)).map(move |x| x + y * nx))
    }

    /// Columns between which sand would slide, in order, were their heights those of a surface that nothing holds but bodies.
    fn toes(&self, surface: &[i64]) -> Vec<usize> {
        let nx = self.grid.size[0];
        let across = nx.div_ceil(TILE);
        let corner = |tile: usize| (tile % across * TILE, tile / across * TILE);
        let tiles = self.sought();
        if tiles.is_empty() {
            return Vec::new();
        }
        let marks: Vec<u8> = self.mark.iter().map(|m| m & (HELD | PRESSED)).collect();
        let toes = |&tile: &usize| {
            let mut sand = Tile::read(&self.grid, surface, &marks, tile);
            sand.links(&self.limits);
            let (x, y) = corner(tile);
            let places = (0..TILE * TILE).map(|k| (k % TILE, k / TILE));
            places.filter(|&(i, j)| sand.slid(i, j)).map(|(i, j)| x + i + (y + j) * nx).collect::<Vec<_>>()
        };
        let mut found: Vec<usize> = tiles.par_iter().with_min_len(4).flat_map_iter(toes).collect();
        found.sort_unstable();
        found
    }

    /// Columns round one.
    fn round(&self, column: usize) -> impl Iterator<Item = usize> + use<> {
        let [nx, ny] = self.grid.size;
        let (x, y) = (column % nx, column / nx);
        let rows = y.saturating_sub(1)..(y + 2).min(ny);
        let xs = x.saturating_sub(1)..(x + 2).min(nx);
        rows.flat_map(move |y| xs.clone().map(move |x| x + y * nx)).filter(move |&c| c != column)
    }

    /// How far a slope at which sand comes to rest rises from one column to another [quanta].
    fn climb(&self, from: usize, to: usize) -> i64 {
        let nx = self.grid.size[0];
        let away = |a: usize, b: usize| a.abs_diff(b) as f64;
        (self.limits.stop_target * math::hypot(away(from % nx, to % nx), away(from / nx, to / nx))) as i64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Grid, QUANTUM, Soil};
    use glam::DVec3;

    const LEAST: i64 = (0.003 / QUANTUM) as i64;
    const ALL: Cut = Cut { least: LEAST, high: 2 * LEAST, cover: LEAST, most: i128::MAX };

    /// A cliff so high [m] at the middle of a field, in columns of 3 mm.
    fn cliff(height: f64) -> Columns {
        let grid = Grid { origin: DVec3::ZERO, cell: 0.003, size: [80, 7] };
        let heights: Vec<f64> = (0..grid.len()).map(|c| if c % 80 < 40 { height } else { 0.0 }).collect();
        Columns::new(grid, Soil::SAND, &heights).unwrap()
    }

    #[test]
    fn a_cliff_without_its_bank_is_no_steeper_than_sand_at_rest() {
        let mut sand = cliff(0.036);
        let banks = sand.banks(sand.heights(), ALL);
        for &(c, above) in &banks {
            assert_eq!(sand.lower(c, above), above);
        }
        // tan 25° · 12.9 columns behind the toe, less the last columns, of less than a diameter.
        assert_eq!(banks.len(), 7 * 23, "{}", banks.len() / 7);
        let rise = Soil::SAND.stop.tan() * 0.003 / QUANTUM;
        for x in 20..40 {
            let drop = (sand.heights()[x] - sand.heights()[x + 1]) as f64;
            assert!(drop <= rise && drop > 0.99 * rise, "column {x}");
        }
        assert!(sand.banks(sand.heights(), ALL).is_empty(), "what is left is no bank");
    }

    #[test]
    fn what_is_low_supported_pressed_or_too_much_stays() {
        // Steep, but nowhere two diameters above the slope at rest: it slides.
        assert!(cliff(0.004).banks(cliff(0.004).heights(), ALL).is_empty());
        assert!(cliff(0.006).banks(cliff(0.006).heights(), ALL).is_empty());
        assert!(!cliff(0.009).banks(cliff(0.009).heights(), ALL).is_empty());
        let sand = cliff(0.036);
        let level = vec![(0.036 / QUANTUM) as i64; sand.heights().len()];
        assert!(sand.banks(&level, ALL).is_empty(), "something as high leans on it");
        let high: Vec<i64> = sand.heights().iter().map(|h| h + 4 * LEAST * i64::from(*h > 0)).collect();
        assert!(sand.banks(&high, ALL).is_empty(), "it lies under a thick cover");
        let some = sand.banks(sand.heights(), Cut { most: 300 * i128::from(LEAST), ..ALL });
        let given: i128 = some.iter().map(|b| i128::from(b.1)).sum();
        assert!(given <= 300 * i128::from(LEAST) && some.iter().all(|b| b.0 % 80 > 30), "from the face on: {some:?}");
        let mut pressed = sand.clone();
        pressed.mark.fill(PRESSED);
        pressed.limits.inside_squared = f64::INFINITY;
        assert!(pressed.banks(sand.heights(), ALL).is_empty());
    }
}
