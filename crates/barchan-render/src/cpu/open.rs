//! How open the surroundings of what a pixel sees are: point 5 of the look.

use super::eye::Eye;
use crate::look::{self, Extent, OPEN_BIAS, OPEN_LEAST, OPEN_TAPS};
use glam::{Vec2, Vec3};
use rayon::prelude::*;

const TAPS: usize = OPEN_TAPS as usize;

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
        let mut taps = [[[0.0; TAPS]; 2]; 16];
        for (x, y) in (0..16).map(|i| (i % 4, i / 4)) {
            for i in 0..TAPS {
                let tap = look::open_tap(i as u32, x, y);
                let pattern = look::pattern(x, y) as usize;
                (taps[pattern][0][i], taps[pattern][1][i]) = (tap.x, tap.y);
            }
        }
        let first = eye.slope(sample(0, 0));
        let step = eye.slope(sample(1, 1)) - first;
        let turned = eye.axes.transpose();
        let size = Vec2::new(width as f32, height as f32);
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
                let [tap_x, tap_y] = &taps[look::pattern(x as u32, y as u32) as usize];
                let (mut column, mut line, mut other) = ([0.0; TAPS], [0.0; TAPS], [spot.depth + 2.0 * reach; TAPS]);
                for k in 0..TAPS {
                    let (i, j) = (at.x + tap_x[k] * pixels + 0.5, at.y + tap_y[k] * pixels + 0.5);
                    if i >= 0.0 && j >= 0.0 && i < size.x && j < size.y {
                        let (i, j) = (i as i32, j as i32);
                        (column[k], line[k]) = (i as f32, j as f32);
                        let depth = depth[j as usize * width as usize + i as usize];
                        // What is out of reach closes nothing off, and must stay finite.
                        other[k] = depth.min(other[k]);
                    }
                }
                // All taps at once: `look::closes` in lanes.
                let mut closed = [0.0; TAPS];
                for k in 0..TAPS {
                    let to_x = (first.x + step.x * column[k]) * other[k] - here.x;
                    let to_y = (first.y + step.y * line[k]) * other[k] - here.y;
                    let to_z = other[k] - here.z;
                    let square = to_x * to_x + to_y * to_y + to_z * to_z;
                    let above = (normal.x * to_x + normal.y * to_y + normal.z * to_z)
                        / (square.sqrt() + OPEN_LEAST * reach)
                        - OPEN_BIAS;
                    closed[k] = above.max(0.0) * (1.0 - square / (reach * reach)).max(0.0);
                }
                let closed = closed.iter().sum();
                *open = look::openness(closed);
            }
        });
    }

    /// Openness for a surface at a depth in pixel (x, y).
    pub fn at(&self, eye: &Eye, extent: &Extent, depth: f32, x: u32, y: u32) -> f32 {
        let [width, height] = eye.view.size;
        let [_, reach] = look::open_reach(extent.grain, eye.focal, height, depth);
        let (mut sum, mut weights) = (0.0, 0.0);
        if x > 0 && x + 2 < width && y > 0 && y + 2 < height {
            for j in y - 1..y + 3 {
                let k = (j * width + x) as usize - 1;
                let (depths, opens) = (&self.depth[k..k + 4], &self.open[k..k + 4]);
                for i in 0..4 {
                    let weight = look::alike(depth, depths[i], reach);
                    sum += weight * opens[i];
                    weights += weight;
                }
            }
            return sum / weights;
        }
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
