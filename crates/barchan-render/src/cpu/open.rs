//! How open the surroundings of what a pixel sees are: point 5 of the look.

use super::eye::Eye;
use crate::look::{self, Extent, OPEN_TAPS};
use glam::{Vec2, Vec3};
use rayon::prelude::*;

/// Depth, what is seen, and openness of every pixel's key sample, row by row.
#[derive(Default)]
pub struct Openness {
    depth: Vec<f32>,
    seen: Vec<u32>,
    open: Vec<f32>,
}

impl Openness {
    /// Measures the openness of what has been seen.
    pub fn measure(&mut self, eye: &Eye, extent: &Extent, depth: &[f32], seen: &[u32]) {
        let [width, height] = eye.view.size;
        let (side, key) = (eye.side, look::key_sample(eye.side));
        self.depth.resize((width * height) as usize, 0.0);
        self.open.resize((width * height) as usize, 0.0);
        self.seen.resize((width * height) as usize, 0);
        let sample = |x: u32, y: u32| [x * side + key, y * side + key];
        let rows = self.depth.par_chunks_mut(width as usize).zip(self.seen.par_chunks_mut(width as usize));
        let pixels = (eye.grid.span / side) as usize;
        rows.enumerate().for_each(|(y, (depths, numbers))| {
            let parts = depths.chunks_mut(pixels).zip(numbers.chunks_mut(pixels));
            for (tile, (depths, numbers)) in parts.enumerate() {
                let [i, j] = sample((tile * pixels) as u32, y as u32);
                let cells = (eye.grid.cell(i, j)..).step_by(side as usize);
                for ((d, number), cell) in depths.iter_mut().zip(numbers).zip(cells) {
                    (*d, *number) = (depth[cell], seen[cell]);
                }
            }
        });
        let mut taps = [[Vec2::ZERO; OPEN_TAPS as usize]; 16];
        for (x, y) in (0..16).map(|i| (i % 4, i / 4)) {
            for i in 0..OPEN_TAPS {
                taps[look::pattern(x, y) as usize][i as usize] = look::open_tap(i, x, y);
            }
        }
        let first = eye.slope(sample(0, 0));
        let step = eye.slope(sample(1, 1)) - first;
        let turned = eye.axes.transpose();
        let (depth, seen) = (&self.depth, &self.seen);
        self.open.par_chunks_mut(width as usize).enumerate().for_each(|(y, row)| {
            for (x, open) in row.iter_mut().enumerate() {
                let at = Vec2::new(x as f32, y as f32);
                let slope = first + step * at;
                let Some(spot) = eye.spot(seen[y * width as usize + x], slope) else {
                    *open = 1.0;
                    continue;
                };
                let here = slope.extend(1.0) * spot.depth;
                let normal: Vec3 = turned * spot.plane;
                let [pixels, reach] = look::open_reach(extent.grain, eye.focal, height, spot.depth);
                let mut closed = 0.0;
                for tap in &taps[look::pattern(x as u32, y as u32) as usize] {
                    let to = at + *tap * pixels + 0.5;
                    let (i, j) = (to.x as usize, to.y as usize);
                    if to.x < 0.0 || to.y < 0.0 || i >= width as usize || j >= height as usize {
                        continue;
                    }
                    let other = depth[j * width as usize + i];
                    if (other - spot.depth).abs() < reach {
                        let there = (first + step * Vec2::new(i as f32, j as f32)).extend(1.0) * other;
                        closed += look::closes(normal, there - here, reach);
                    }
                }
                *open = look::openness(closed);
            }
        });
    }

    /// Openness for a surface at a depth in pixel (x, y).
    pub fn at(&self, eye: &Eye, extent: &Extent, depth: f32, x: u32, y: u32) -> f32 {
        let [width, height] = eye.view.size;
        let [_, reach] = look::open_reach(extent.grain, eye.focal, height, depth);
        let (mut sum, mut weights) = (0.0, 0.0);
        for j in y.saturating_sub(1)..(y + 3).min(height) {
            for i in x.saturating_sub(1)..(x + 3).min(width) {
                let k = (j * width + i) as usize;
                let weight = look::alike(depth, self.depth[k], reach);
                sum += weight * self.open[k];
                weights += weight;
            }
        }
        sum / weights
    }
}
