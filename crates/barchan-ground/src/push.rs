//! Displacement: a body lowers the columns it is in, and what they held goes to the nearest columns beside it.
//!
//! Each column in contact hands its sand to the neighbours that are nearer to the rim, in proportion to how steeply the map
//! of (Euclidean) distances to the rim falls towards them, from the innermost outwards; the rim's other side, the ring,
//! keeps it. What does not divide evenly (a few quanta) stays in its column, so that no direction is preferred and nothing
//! is lost. A ground without a column beside the body has nowhere to put sand: it is compressed, or stays.

use crate::columns::{Columns, PRESSED};
use crate::distance;
use crate::grid::{Area, HIGHEST, QUANTUM};
use barchan_core::rng::Random;
use rayon::prelude::*;

/// A column with a body on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Contact {
    /// Which column.
    pub column: u32,
    /// How far its top was inside the body [quanta].
    pub overlap: i64,
}

/// What one body did to the ground.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Push {
    /// Columns that touch the body, in the order of their numbers.
    pub contacts: Vec<Contact>,
    /// Volume the body took from the ground [quanta of column height].
    pub displaced: i128,
    /// Part of it that was compressed away: the ground's total is less by this.
    pub compressed: i128,
}

/// Overlap [quanta] that is left alone: what did not divide evenly. A body at rest then disturbs nothing.
const SLACK: i64 = 16;

/// Neighbours of a column: steps along x and y, and one over the length.
const AROUND: [(isize, isize, f64); 8] = {
    const D: f64 = std::f64::consts::FRAC_1_SQRT_2;
    [(1, 0, 1.0), (-1, 0, 1.0), (0, 1, 1.0), (0, -1, 1.0), (1, 1, D), (-1, 1, D), (1, -1, D), (-1, -1, D)]
};

impl Columns {
    /// Pushes a body into the ground. `underside` is the height z [m] of its lower surface over (x, y) [m], none where the
    /// body is not over it; it is asked at the centres of the columns in `area`, outside of which there is nothing of the body.
    ///
    /// Erosion does not run by itself: call [`Columns::erode`] when all bodies have pushed.
    pub fn push(&mut self, area: Area, underside: &(dyn Fn(f64, f64) -> Option<f64> + Sync)) -> Push {
        let contacts = self.contacts(area, underside);
        let mut push = Push { contacts, ..Push::default() };
        self.settle(area, &mut push);
        push
    }

    /// Lowers the columns of a push by their overlaps.
    pub(crate) fn settle(&mut self, area: Area, push: &mut Push) {
        self.pushes += 1;
        if push.contacts.iter().any(|c| c.overlap > SLACK) {
            self.displace(area, push);
        }
        for contact in &push.contacts {
            self.mark[contact.column as usize] |= PRESSED;
        }
    }

    fn contacts(&self, area: Area, underside: &(dyn Fn(f64, f64) -> Option<f64> + Sync)) -> Vec<Contact> {
        let (grid, nx) = (&self.grid, self.grid.size[0]);
        let touch = |column: usize| {
            let at = grid.centre(column);
            let over = underside(at.x, at.y).filter(|z| !z.is_nan())?;
            let quanta = (((over - grid.origin.z) / QUANTUM).floor() as i64).max(0);
            let overlap = self.height[column].checked_sub(quanta)?;
            (overlap >= 0).then_some(Contact { column: column as u32, overlap })
        };
        let row = |y: usize| (area.low[0]..area.high[0].min(nx)).filter_map(|x| touch(x + y * nx)).collect::<Vec<_>>();
        let rows = area.low[1]..area.high[1].min(grid.size[1]).max(area.low[1]);
        rows.into_par_iter().map(row).collect::<Vec<_>>().concat()
    }

    fn displace(&mut self, area: Area, push: &mut Push) {
        let (nx, size) = (self.grid.size[0], self.grid.size);
        // The area with a rim one column wide.
        let wide = Area {
            low: area.low.map(|k| k.saturating_sub(1)),
            high: [0, 1].map(|k| (area.high[k].min(size[k]) + 1).min(size[k])),
        };
        let [wx, wy] = wide.size();
        let local = |column: usize| column % nx - wide.low[0] + (column / nx - wide.low[1]) * wx;
        let global = |place: usize| place % wx + wide.low[0] + (place / wx + wide.low[1]) * nx;
        let mut inside = vec![false; wx * wy];
        let mut carried = vec![0_i64; wx * wy];
        let kept = share_of(1.0 - self.soil.compression);
        for contact in &push.contacts {
            let column = contact.column as usize;
            inside[local(column)] = true;
            if contact.overlap > SLACK {
                self.height[column] -= contact.overlap;
                let moved = portion(contact.overlap, kept, 1 << 32);
                carried[local(column)] = moved;
                push.displaced += i128::from(contact.overlap);
                push.compressed += i128::from(contact.overlap - moved);
            }
        }
        let rim = distance::squared(&inside, [wx, wy]);
        let away = |place: usize| rim[place].map_or(f64::INFINITY, |d| (d as f64).sqrt());
        // Innermost first; columns equally far hand nothing to each other, so their order does not matter.
        let mut order: Vec<usize> = push.contacts.iter().map(|c| local(c.column as usize)).collect();
        order.sort_by_key(|&place| std::cmp::Reverse(rim[place].unwrap_or(i64::MAX)));
        let roughness = self.soil.roughness;
        for place in order {
            let amount = std::mem::take(&mut carried[place]);
            let (x, y, here) = (place % wx, place / wx, away(place));
            let mut weights = [(0_usize, 0_u64); 8];
            for (weight, (dx, dy, inverse)) in weights.iter_mut().zip(AROUND) {
                let (Some(x), Some(y)) = (x.checked_add_signed(dx), y.checked_add_signed(dy)) else { continue };
                if amount > 0 && here.is_finite() && x < wx && y < wy {
                    let there = x + y * wx;
                    let fall = ((here - away(there)) * inverse).max(0.0);
                    let uneven = if roughness > 0.0 && !inside[there] {
                        1.0 + roughness * (2.0 * Random::new(self.pushes, global(there) as u64).uniform() - 1.0)
                    } else {
                        1.0
                    };
                    *weight = (there, (fall * uneven * f64::from(1 << 24)) as u64);
                }
            }
            // Whole weights: their sum is the same in any order.
            let sum: u64 = weights.iter().map(|w| w.1).sum();
            let mut left = amount;
            for (there, weight) in weights.into_iter().filter(|w| w.1 > 0) {
                let column = global(there);
                let mut part = portion(amount, weight, sum);
                if inside[there] {
                    carried[there] += part;
                } else {
                    part = part.min(HIGHEST - self.height[column]).max(0);
                    self.height[column] += part;
                    self.wake(column);
                }
                left -= part;
            }
            let column = global(place);
            self.height[column] += left;
            self.wake(column);
        }
    }
}

/// A share as a whole number of 2⁻³².
fn share_of(share: f64) -> u64 {
    (share * (1_u64 << 32) as f64).round() as u64
}

/// `amount · part / whole`, rounded down.
fn portion(amount: i64, part: u64, whole: u64) -> i64 {
    (i128::from(amount) * i128::from(part) / i128::from(whole)) as i64
}
