//! The undisturbed surface round a body, below which depth is counted.
//!
//! What a body has raised beside it is loose and narrow, and what it has lowered behind it is no surface to stand on: the
//! overburden that resists it is that of the ground further out. So the surface is asked for on a ring well beyond the
//! rim, at opposite points; the mean of a pair does not feel a slope, and the median over the pairs does not feel a
//! track or a wall of sand that crosses the ring. Nothing is remembered: a body in a wide pit stands on the pit's floor.

use crate::columns::Columns;
use glam::{DMat2, DVec2};
use std::f64::consts::PI;

/// Pairs of points on the ring.
const PAIRS: usize = 16;
/// Distance of the ring from what touches, over the half width of that (or its depth, if larger): a rim of sand
/// displaced by a half-sunk ball and slid to 25° reaches 1.7 radii.
const REACH: f64 = 2.0;
/// The same in cells, at least.
const LEAST: f64 = 3.0;

/// A plane: z over (x, y) [m].
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Level {
    middle: DVec2,
    z: f64,
    slope: DVec2,
}

impl Level {
    /// Height of the undisturbed surface over a point [m].
    #[inline]
    pub fn at(&self, p: DVec2) -> f64 {
        self.z + self.slope.dot(p - self.middle)
    }
}

impl Columns {
    /// The surface round a body that touches between `low` and `high` [m], so deep [m]; `highest` [m] where there is
    /// nothing of the ground round it.
    pub(crate) fn level_round(&self, low: DVec2, high: DVec2, depth: f64, highest: f64) -> Level {
        let (middle, half) = (0.5 * (low + high), 0.5 * (high - low));
        let axes = half + REACH * half.min_element().max(depth) + LEAST * self.grid.cell;
        let mut means = [0.0; PAIRS];
        let (mut count, mut square, mut product) = (0, DMat2::ZERO, DVec2::ZERO);
        let (mut single, mut singles) = (0.0, 0.0);
        for k in 0..PAIRS {
            let p = DVec2::from_angle(PI * (k as f64 + 0.5) / PAIRS as f64) * axes;
            let height = |p: DVec2| self.height_at(middle.x + p.x, middle.y + p.y);
            match (height(p), height(-p)) {
                (Some(a), Some(b)) => {
                    means[count] = 0.5 * (a + b);
                    count += 1;
                    square += DMat2::from_cols(p * p.x, p * p.y);
                    product += p * (0.5 * (a - b));
                }
                (Some(z), None) | (None, Some(z)) => (single, singles) = (single + z, singles + 1.0),
                (None, None) => {}
            }
        }
        if count < 3 {
            // In a corner of the ground.
            let z = if singles > 0.0 { single / singles } else { highest };
            return Level { middle, z, slope: DVec2::ZERO };
        }
        let means = &mut means[..count];
        means.sort_unstable_by(f64::total_cmp);
        let z = 0.5 * (means[(count - 1) / 2] + means[count / 2]);
        Level { middle, z, slope: square.inverse() * product }
    }
}
