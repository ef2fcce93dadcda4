//! How open the surroundings of what a pixel sees are: point 5 of the look.

use super::eye::Eye;
use super::tiles::FLOOR;
use crate::look::{self, Extent, OPEN_BIAS, OPEN_LEAST, OPEN_TAPS};
use glam::{Vec2, Vec3};
use rayon::prelude::*;

const TAPS: usize = OPEN_TAPS as usize;

/// Depth of every pixel's key sample, row by row; depth and openness of those that are measured.
#[derive(Default)]
pub struct Openness {
    size: [usize; 2],
    depth: Vec<f32>,
    open: Vec<[f32; 2]>,
}

impl Openness {
    /// Measures the openness of what has been seen.
    pub fn measure(&mut self, eye: &Eye, extent: &Extent, depth: &[f32], seen: &[u32]) {
        let [width, height] = eye.view.size.map(|n| n as usize);
        let (side, key) = (eye.side, look::key_sample(eye.side));
        let sample = |x: u32, y: u32| [x * side + key, y * side + key];
        let pixels = (eye.grid.span / side) as usize;
        self.size = [width / 2, height];
        self.depth.resize(width * height, 0.0);
        self.open.resize(width / 2 * height, [0.0; 2]);
        self.depth.par_chunks_mut(width).enumerate().for_each(|(y, row)| {
            for (tile, part) in row.chunks_mut(pixels).enumerate() {
                let [i, j] = sample((tile * pixels) as u32, y as u32);
                let cells = (eye.grid.cell(i, j)..).step_by(side as usize);
                part.iter_mut().zip(cells).for_each(|(d, cell)| *d = depth[cell]);
            }
        });
        let mut taps = [[[0.0; TAPS]; 2]; 8];
        for [x, y] in (0..8).map(|n| look::measured(n % 2, n / 2)) {
            let disc = &mut taps[look::pattern(x, y) as usize];
            for i in 0..TAPS {
                let tap = look::open_tap(i as u32, x, y);
                (disc[0][i], disc[1][i]) = (tap.x, tap.y);
            }
        }
        let first = eye.slope(sample(0, 0));
        let around = Around {
            first,
            step: eye.slope(sample(1, 1)) - first,
            size: Vec2::new(width as f32, height as f32),
            depth: &self.depth,
        };
        let turned = eye.axes.transpose();
        self.open.par_chunks_mut(width / 2).enumerate().for_each(|(j, row)| {
            for (i, measured) in row.iter_mut().enumerate() {
                let [x, y] = look::measured(i as u32, j as u32);
                let at = Vec2::new(x as f32, y as f32);
                let slope = around.first + around.step * at;
                let [column, line] = sample(x, y);
                let number = seen[eye.grid.cell(column, line)];
                let Some(spot) = eye.spot(number, slope) else {
                    *measured = [f32::INFINITY, 1.0];
                    continue;
                };
                *measured = [spot.depth, 1.0];
                let [pixels, reach] = look::open_reach(extent.grain, eye.focal, eye.view.size[1], spot.depth);
                if number != FLOOR || !look::floor_open(extent, eye.point(slope, spot.depth), reach) {
                    let here = slope.extend(1.0) * spot.depth;
                    let taps = taps[look::pattern(x, y) as usize].map(|axis| axis.map(|t| t * pixels));
                    measured[1] = look::openness(around.closed(at, here, turned * spot.plane, reach, &taps));
                }
            }
        });
    }

    /// Openness for a surface at a depth, where it reaches so far [m], in pixel (x, y).
    pub fn at(&self, depth: f32, reach: f32, x: u32, y: u32) -> f32 {
        let [width, height] = self.size;
        let [column, row] = look::open_mean(x, y);
        let within = |n: i32, count: usize| n.clamp(0, count as i32 - 1) as usize;
        let columns = [column, column + 1].map(|i| within(i, width));
        let (mut sum, mut weights) = (0.0, 0.0);
        for line in (row..row + 4).map(|j| within(j, height) * width) {
            for column in columns {
                let [other, open] = self.open[line + column];
                let weight = look::alike(depth, other, reach);
                sum += weight * open;
                weights += weight;
            }
        }
        sum / weights
    }
}

/// What the taps look at: depths of key samples, row by row, along rays that begin at `first` and go on by `step`.
struct Around<'a> {
    first: Vec2,
    step: Vec2,
    size: Vec2,
    depth: &'a [f32],
}

impl Around<'_> {
    /// What taps [pixels] around pixel `at`, whose surface is `here` with this normal, close off.
    #[inline]
    fn closed(&self, at: Vec2, here: Vec3, normal: Vec3, reach: f32, [tap_x, tap_y]: &[[f32; TAPS]; 2]) -> f32 {
        // All taps at once, in lanes: only the depths are read one by one.
        let (mut column, mut line, mut cell) = ([0.0; TAPS], [0.0; TAPS], [0; TAPS]);
        for k in 0..TAPS {
            let (i, j) = (at.x + tap_x[k] + 0.5, at.y + tap_y[k] + 0.5);
            let inside = (i >= 0.0) & (j >= 0.0) & (i < self.size.x) & (j < self.size.y);
            let (i, j) = (i as i32, j as i32);
            (column[k], line[k]) = (i as f32, j as f32);
            cell[k] = if inside { j * self.size.x as i32 + i } else { -1 };
        }
        // What is out of reach, or of the picture, closes nothing off, and must stay finite.
        let far = here.z + 2.0 * reach;
        let other: [f32; TAPS] = std::array::from_fn(|k| self.depth.get(cell[k] as usize).map_or(far, |d| d.min(far)));
        // `look::closes`.
        let mut closed = [0.0; TAPS];
        for k in 0..TAPS {
            let to_x = (self.first.x + self.step.x * column[k]) * other[k] - here.x;
            let to_y = (self.first.y + self.step.y * line[k]) * other[k] - here.y;
            let to_z = other[k] - here.z;
            let square = to_x * to_x + to_y * to_y + to_z * to_z;
            let above = (normal.x * to_x + normal.y * to_y + normal.z * to_z) / (square.sqrt() + OPEN_LEAST * reach)
                - OPEN_BIAS;
            closed[k] = above.max(0.0) * (1.0 - square / (reach * reach)).max(0.0);
        }
        closed.iter().sum()
    }
}
