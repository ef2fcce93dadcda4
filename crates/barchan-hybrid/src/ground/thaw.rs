//! Ground that is about to be struck becomes grains again.
//!
//! What comes down on the ground fast enough to go in by more than a grain's diameter, by the law of Uehara, Ambroso, Ojha and
//! Durian (2003, Phys. Rev. Lett. 90, 194301),
//!   δ = 0.14/μ · √(ρ_b/ρ_g) · D^⅔ · H^⅓,   H = v²/2g,
//! finds grains there: pinned ones in its way are let go, and where it comes near the columns a bowl as deep as that, and a
//! little wider than the body, is thawed *before* it is touched. So the
//! momentum of a blow is shared out by contacts of grains, as in a bed that was never frozen. **Thawed grains are at rest, as the ground was**:
//! thawing changes no momentum, and what the ground had been given before, as any wall, stays with it.
//!
//! How the grains are laid is in `pack.rs`.

use super::exchange::{Exchange, MOTES};
use super::look::around;
use barchan_core::boundary::Boundary;
use barchan_core::frame::Population;
use barchan_core::math;
use barchan_core::recipe::Recipe;
use barchan_core::relief::Relief;
use barchan_dem::{Dem, DemError};
use barchan_ground::{Columns, QUANTUM};
use glam::DVec3;
use std::f64::consts::PI;

/// Something that comes down fast.
struct Strike {
    /// Where it is [m].
    from: DVec3,
    /// Where it will be, or touch [m].
    at: DVec3,
    /// Half of its width [m].
    radius: f64,
    /// How deep it will go [m].
    depth: f64,
}

impl Strike {
    /// Distance of a point from its way [m].
    fn way(&self, x: DVec3) -> f64 {
        let all = self.at - self.from;
        let share = (x - self.from).dot(all) / all.length_squared().max(f64::MIN_POSITIVE);
        (self.from + all * share.clamp(0.0, 1.0)).distance(x)
    }
}

impl Exchange {
    /// Thaws what will be struck until the look after the next. Whether the columns have changed.
    pub fn thaw(
        &mut self,
        columns: &mut Columns,
        relief: &Relief,
        dem: &mut Dem,
        boundary: &Boundary,
        recipe: &Recipe,
    ) -> Result<bool, DemError> {
        let frame = dem.population();
        let blows = self.blows(columns, &frame, 2.0 * self.ahead());
        if blows.is_empty() {
            return Ok(false);
        }
        let pinned: Vec<u32> = dem.pinned().to_vec();
        let mut held = pinned.clone();
        if !pinned.is_empty() {
            let struck = |x: DVec3| blows.iter().any(|b| b.way(x) < b.radius + b.depth + self.diameter);
            let mut go: Vec<u32> = (0..frame.len())
                .filter(|&i| dem.is_pinned(i) && struck(frame.position[i]))
                .map(|i| frame.id[i])
                .collect();
            go.sort_unstable();
            held.retain(|id| go.binary_search(id).is_err());
        }
        let strikes: Vec<Strike> = blows.into_iter().filter_map(|b| self.lands(relief, b)).collect();
        let mut dug: Vec<(usize, i64)> = Vec::new();
        for strike in &strikes {
            dug.extend(self.dig(columns, strike));
        }
        let grains = self.settle(columns, relief, boundary, &frame, recipe, &dug);
        dem.set_pinned(&held);
        if !grains.is_empty() {
            dem.add(&grains, boundary)?;
        }
        Ok(!dug.is_empty())
    }

    /// What moves down fast enough to go deep, where it will be after `time` [s].
    fn blows(&self, columns: &Columns, frame: &Population, time: f64) -> Vec<Strike> {
        let (grid, mu) = (columns.grid(), math::tan(columns.soil().stop));
        let bulk = self.mote * f64::from(1_u32 << MOTES) / (grid.cell * grid.cell * QUANTUM);
        let blow = |i: usize| {
            let (x, v) = (frame.position[i], frame.velocity[i]);
            if v.z >= 0.0 {
                return None;
            }
            let radius = frame.shapes[frame.shape[i] as usize].bounding_radius() * frame.radius[i];
            let density = frame.mass[i] / (4.0 / 3.0 * PI * radius.powi(3));
            let height = v.z * v.z / (2.0 * self.gravity);
            let depth = 0.14 / mu * (density / bulk).sqrt() * math::powf(2.0 * radius, 2.0 / 3.0) * math::cbrt(height);
            (depth > self.thaw).then(|| Strike { from: x, at: x + v * time, radius, depth })
        };
        (0..frame.len()).filter_map(blow).collect()
    }

    /// Where a blow meets the surface, if it does (nearly) by then.
    fn lands(&self, relief: &Relief, blow: Strike) -> Option<Strike> {
        let over = relief.over(blow.at.x, blow.at.y)?;
        let lands = blow.at.z - blow.radius < over.z + self.diameter && blow.from.z + blow.radius > over.z;
        // It may go on for a while after that: where it touches is meant.
        let share = (blow.from.z - blow.radius - over.z) / (blow.from.z - blow.at.z);
        let touch = blow.from.lerp(blow.at, share.clamp(0.0, 1.0));
        let over = relief.over(touch.x, touch.y)?;
        lands.then(|| Strike { at: touch.with_z(over.z), ..blow })
    }

    /// Takes a bowl from the columns: which were lowered, and by how much [quanta].
    fn dig(&self, columns: &mut Columns, strike: &Strike) -> Vec<(usize, i64)> {
        let grid = *columns.grid();
        let Some(middle) = grid.column_at(strike.at.x, strike.at.y) else { return Vec::new() };
        let (wide, deep) = (strike.radius + strike.depth + self.diameter, strike.depth + self.diameter);
        let reach = (wide / grid.cell).ceil() as usize;
        let mut dug = Vec::new();
        for column in around(&grid, middle, reach) {
            let away = grid.centre(column).distance(strike.at.truncate()) / wide;
            let floor = strike.at.z - deep * (1.0 - away * away) - grid.origin.z;
            let lower = columns.heights()[column] - ((floor / QUANTUM).max(0.0) as i64);
            if away < 1.0 && lower > 0 {
                dug.push((column, columns.lower(column, lower)));
            }
        }
        dug
    }
}

#[cfg(test)]
mod tests {
    use super::super::exchange::{LOOKS, Watched};
    use super::super::{relief_of, testing};
    use glam::DVec3;

    /// Ground under a heavy ball that comes down fast: so fast that it meets the ground also where that has come to lie a little
    /// lower.
    #[test]
    fn over_a_hundred_thousand_exchanges_no_mass_is_lost() {
        let (low, high) = (DVec3::new(-0.1, -0.1, -0.01), DVec3::new(0.1, 0.1, 0.2));
        let (mut dem, boundary, mut ground) = testing::world(|_| 0.05, [low, high], vec![]);
        let (dem, boundary) = (&mut dem, &boundary);
        let fast = DVec3::new(0.0, 0.0, -4.0);
        dem.add(&[testing::ball(1, 0.01, DVec3::new(0.0, 0.0, 0.09), fast)], boundary).unwrap();
        dem.add(&[testing::ball(0, 1.5e-3, DVec3::new(0.09, 0.09, 0.06), DVec3::ZERO)], boundary).unwrap();
        let recipe = ground.recipe.clone().unwrap();
        let before = ground.account(&dem.population());
        let weight = |a: &super::super::Account| a.mass(a.total());
        let mut exchanged = 0;
        while exchanged < 100_000 {
            let relief = relief_of(&ground.columns);
            let exchange = ground.exchange.as_mut().unwrap();
            exchange.thaw(&mut ground.columns, &relief, dem, boundary, &recipe).unwrap();
            // All that is there, taken to lie still and deep, becomes ground again: pinned at one look, columns at the next. The relief is that
            // from before: nothing has fallen to the ground of the bowl.
            (exchange.layer, exchange.shaken) = (f64::NEG_INFINITY, f64::NEG_INFINITY);
            for _ in 0..2 {
                let frame = dem.population();
                let lies = |i: usize| Watched {
                    id: frame.id[i],
                    looks: LOOKS,
                    place: frame.position[i],
                    from: frame.position[i],
                };
                exchange.watched = (0..frame.len()).map(lies).collect();
                exchange.watched.sort_unstable_by_key(|w| w.id);
                exchange.step(&mut ground.columns, &relief, dem, boundary, 0);
            }
            let account = ground.account(&dem.population());
            assert!(account.frozen + account.thawed > exchanged, "nothing was exchanged: {account:?}");
            exchanged = account.frozen + account.thawed;
            assert_eq!(account.total(), before.total(), "to the last mote, after {exchanged}");
            assert!((weight(&account) / weight(&before) - 1.0).abs() < 1e-12);
        }
        // And by weighing what is there.
        let account = ground.account(&dem.population());
        let grains: f64 = dem.population().mass.iter().sum();
        let weighed = grains + ground.mass() + account.mass(account.owed);
        assert!((weighed / weight(&before) - 1.0).abs() < 1e-12, "{weighed}");
    }
}
