//! The colours of a mountain: snow where it holds, rock where it is steep; or a map of numbers laid over it.

use crate::colour::Map;
use barchan_core::relief::Relief;
use glam::Vec3;
use rayon::prelude::*;
use std::sync::Arc;

/// Reflectances of snow and of rock, linear RGB.
pub const SNOW: Vec3 = Vec3::new(0.88, 0.89, 0.91);
const ROCK: Vec3 = Vec3::new(0.20, 0.185, 0.17);
/// Tangents of the slopes between which snow gives way to rock: 45° and 56°.
const STEEP: [f64; 2] = [1.0, 1.48];
/// Distance of the lines of equal height, where a map is draped [m]: the first of these that gives at most so many lines.
const LINES: [f64; 8] = [1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0];
const MOST_LINES: f64 = 24.0;

/// What lies on a ground, for the eye.
#[derive(Clone, Debug, PartialEq)]
pub enum Cover {
    /// Snow, and rock where it is steep.
    Snow,
    /// Numbers, one a cell of the ground, with colours between the ends of a range; where they are nothing, or not above the least that counts,
    /// snow and rock are seen.
    Map {
        /// The numbers.
        values: Arc<Vec<f32>>,
        /// Colours.
        map: Map,
        /// Ends of the colours.
        range: [f32; 2],
        /// Least number that is drawn.
        least: f32,
    },
}

impl Cover {
    /// The reflectance of every cell.
    pub fn colours(&self, relief: &Relief) -> Vec<[f32; 3]> {
        let lines = match self {
            Cover::Snow => None,
            Cover::Map { .. } => {
                let heights = || relief.height.iter().copied().filter(|h| h.is_finite());
                let span = heights().fold(f64::MIN, f64::max) - heights().fold(f64::MAX, f64::min);
                LINES.into_iter().find(|step| span / step <= MOST_LINES)
            }
        };
        let of = |cell: usize| {
            let snow = snow(relief, cell);
            let Cover::Map { values, map, range, least } = self else { return snow.to_array() };
            let value = values.get(cell).copied().unwrap_or(f32::NAN);
            let ground = 0.75 * snow;
            let colour = if value > *least {
                let share = (value - range[0]) / (range[1] - range[0]).max(f32::MIN_POSITIVE);
                // Some of the mountain is seen through.
                map.linear(share).lerp(ground, 0.12)
            } else {
                ground
            };
            let line = lines.is_some_and(|step| is_line(relief, cell, step));
            (if line { 0.55 * colour } else { colour }).to_array()
        };
        (0..relief.height.len()).into_par_iter().map(of).collect()
    }
}

/// Whether a line of equal height passes between a cell and the next ones.
fn is_line(relief: &Relief, cell: usize, step: f64) -> bool {
    let [nx, ny] = relief.size;
    let band = |c: usize| (relief.height[c] / step).floor();
    let (x, y) = (cell % nx, cell / nx);
    (x + 1 < nx && band(cell + 1) != band(cell)) || (y + 1 < ny && band(cell + nx) != band(cell))
}

fn snow(relief: &Relief, cell: usize) -> Vec3 {
    let [nx, ny] = relief.size;
    let (x, y) = (cell % nx, cell / nx);
    let height = |x: usize, y: usize| relief.height[x + y * nx];
    let slope = |low: f64, high: f64, cells: usize| (high - low) / (cells.max(1) as f64 * relief.cell);
    let (x0, x1, y0, y1) = (x.saturating_sub(1), (x + 1).min(nx - 1), y.saturating_sub(1), (y + 1).min(ny - 1));
    let tangent = slope(height(x0, y), height(x1, y), x1 - x0).hypot(slope(height(x, y0), height(x, y1), y1 - y0));
    let rock = ((tangent - STEEP[0]) / (STEEP[1] - STEEP[0])).clamp(0.0, 1.0) as f32;
    SNOW.lerp(ROCK, rock * rock * (3.0 - 2.0 * rock))
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::DVec3;

    /// A slope of that tangent, 20 × 10 cells of 5 m.
    fn slope(tangent: f64) -> Relief {
        let height = (0..200).map(|c| 500.0 + tangent * 5.0 * (c % 20) as f64).collect();
        Relief { origin: DVec3::ZERO, cell: 5.0, size: [20, 10], height }
    }

    #[test]
    fn snow_lies_on_what_is_not_too_steep() {
        let colours = |tangent: f64| Cover::Snow.colours(&slope(tangent));
        assert!(colours(0.7).iter().all(|c| Vec3::from(*c) == SNOW), "35 degrees");
        assert!(colours(2.0).iter().all(|c| Vec3::from(*c) == ROCK), "63 degrees");
    }

    #[test]
    fn a_map_colours_where_it_has_numbers() {
        let relief = slope(0.0);
        let values: Vec<f32> = (0..200).map(|c| if c < 100 { 30.0 } else { 0.0 }).collect();
        let cover = Cover::Map { values: values.into(), map: Map::Viridis, range: [0.0, 40.0], least: 1.0 };
        let colours = cover.colours(&relief);
        assert!(colours[..100].iter().all(|c| *c == colours[0]) && colours[100..].iter().all(|c| *c == colours[199]));
        assert_ne!(colours[0], colours[199]);
        assert_eq!(Vec3::from(colours[199]), 0.75 * SNOW);
    }
}
