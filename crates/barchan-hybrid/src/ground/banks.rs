//! Banks fall as grains: ground that stands too steep, from the start or because what leaned on it has gone.
//!
//! At each look the columns are asked for their banks (`Columns::banks`). What is above a plane at the slope at which sand comes to rest, from
//! the bank's toe on, becomes grains (`pack.rs`) where that is a mean diameter or more, if it is two somewhere; what is thinner goes on sliding as columns. The
//! plane that is left bears the grains that fall over it. **The grains are at rest, as the ground was**: falling gives them their momentum.
//!
//! Grains that lie beside a bank support it as high as they lie; under more than two layers of them the ground stays. What is pinned
//! on a bank is let go with it.

use super::exchange::{Exchange, MOTES};
use barchan_core::boundary::Boundary;
use barchan_core::frame::Population;
use barchan_core::recipe::Recipe;
use barchan_core::relief::Relief;
use barchan_dem::{Dem, DemError};
use barchan_ground::{Columns, Cut, QUANTUM};
use std::f64::consts::PI;

/// Grains that the ground gives for its banks at most, beyond those that became ground: a terrain of metres in grains of millimetres would
/// else take all memory. What is beyond slides as columns, until grains have become ground again.
pub(super) const MOST_GRAINS: u64 = 30_000;
/// Height without a grain, in diameters, that parts what lies on the ground from what is above it.
const GAP: f64 = 2.0;

impl Exchange {
    /// Gives the banks of the columns back as grains. Whether the columns have changed.
    pub fn banks(
        &mut self,
        columns: &mut Columns,
        relief: &Relief,
        dem: &mut Dem,
        boundary: &Boundary,
        recipe: &Recipe,
    ) -> Result<bool, DemError> {
        let grains = MOST_GRAINS.saturating_sub(self.thawed.saturating_sub(self.frozen));
        let frame = dem.population();
        let diameter = (self.diameter / QUANTUM) as i64;
        let grain = self.motes(self.density * PI / 6.0 * self.diameter.powi(3)) >> MOTES;
        let cut =
            Cut { least: diameter, high: 2 * diameter, cover: 3 * diameter / 2, most: i128::from(grains) * grain };
        if cut.most == 0 {
            return Ok(false);
        }
        if !self.may_fall(columns, &frame, cut.cover) {
            return Ok(false);
        }
        // Without what lies on it the ground has more banks, not fewer.
        if columns.banks(columns.heights(), Cut { cover: i64::MAX, ..cut }).is_empty() {
            return Ok(false);
        }
        let banks = columns.banks(&self.surface(columns, &frame, |_, _| true), cut);
        if banks.is_empty() {
            return Ok(false);
        }
        let dug: Vec<(usize, i64)> = banks.into_iter().map(|(c, above)| (c, columns.lower(c, above))).collect();
        let grid = *columns.grid();
        let mut fallen = vec![false; grid.len()];
        dug.iter().for_each(|d| fallen[d.0] = true);
        let stays = |&row: &usize| {
            let x = frame.position[row];
            dem.is_pinned(row) && !grid.column_at(x.x, x.y).is_some_and(|c| fallen[c])
        };
        let mut held: Vec<u32> = (0..frame.len()).filter(stays).map(|i| frame.id[i]).collect();
        held.sort_unstable();
        let grains = self.settle(columns, relief, boundary, &frame, recipe, &dug);
        dem.set_pinned(&held);
        if !grains.is_empty() {
            dem.add(&grains, boundary)?;
        }
        Ok(true)
    }

    /// Whether anything that is steep enough lies bare, or under less than `cover` [quanta]. Most of a heap's ground is steep, and all of it is covered.
    fn may_fall(&self, columns: &Columns, frame: &Population, cover: i64) -> bool {
        let (steep, heights) = (columns.steep(), columns.heights());
        let mut asked = vec![false; heights.len()];
        steep.iter().for_each(|&c| asked[c] = true);
        // What is higher says nothing more of whether it is covered.
        let most = cover + (GAP * self.diameter / QUANTUM) as i64;
        let near = |c: usize, z: i64| asked[c] && z < heights[c] + (self.owed[c] >> MOTES).max(0) + most;
        let surface = if steep.is_empty() { Vec::new() } else { self.surface(columns, frame, near) };
        steep.iter().any(|&c| surface[c] - heights[c] <= cover)
    }

    /// Height of what lies on each column, or of the column itself [quanta]: the highest centre of a grain, of those that count by the column
    /// and by that height.
    fn surface(&self, columns: &Columns, frame: &Population, counts: impl Fn(usize, i64) -> bool) -> Vec<i64> {
        let grid = columns.grid();
        // What has become ground and not risen yet is a void under those that lie on it.
        let risen = columns.heights().iter().zip(&self.owed).map(|(h, owed)| h + (owed >> MOTES).max(0));
        let mut surface: Vec<i64> = risen.collect();
        let mut lies: Vec<(i64, usize)> = Vec::new();
        for s in frame.spheres() {
            // What leans on an upright face has its centre a radius before it.
            let (at, reach) = (s.centre.truncate(), s.radius + 0.5 * grid.cell);
            let area = grid.area(at - reach, at + reach);
            let quanta = |z: f64| ((z - grid.origin.z) / QUANTUM) as i64;
            let centre = quanta(s.centre.z);
            for y in area.low[1]..area.high[1] {
                for column in area.low[0] + y * grid.size[0]..area.high[0] + y * grid.size[0] {
                    // What is larger than grains is counted by its underside: it only lies there.
                    let large = s.radius >= self.diameter;
                    if !large && !counts(column, centre) {
                        continue;
                    }
                    let away = grid.centre(column).distance_squared(at);
                    let under = || quanta(s.centre.z - (s.radius * s.radius - away).max(0.0).sqrt());
                    let z = if large { under() } else { centre };
                    if away <= reach * reach && counts(column, z) {
                        lies.push((z, column));
                    }
                }
            }
        }
        // From below: what a gap parts from the rest flies, lies beside, or is in a vessel.
        let gap = (GAP * self.diameter / QUANTUM) as i64;
        lies.sort_unstable();
        for (z, column) in lies {
            if z < surface[column] + gap {
                surface[column] = surface[column].max(z);
            }
        }
        surface
    }
}
