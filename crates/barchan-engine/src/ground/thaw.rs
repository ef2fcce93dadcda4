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
//! Grains are set on a close-packed lattice fixed in space, clear of all that is there, with the sizes of those that froze
//! (chosen by a random number of their own for each), or of the scene's grains where the ground was there from the start. A lattice of
//! grains of several sizes is looser than the ground: what finds no place stays owed to the columns, which rise as far as the new grains let them.

use super::exchange::{Exchange, Kept, MOTES};
use super::look::around;
use crate::emit::Recipe;
use barchan_core::frame::Frame;
use barchan_core::packing::SphereGrid;
use barchan_core::relief::Relief;
use barchan_core::rng::Random;
use barchan_core::walls::{Bed, Geometry, Wall, WallState};
use barchan_dem::{Dem, DemError, NewGrain};
use barchan_ground::{Columns, QUANTUM, metres};
use glam::{DQuat, DVec3};
use std::f64::consts::PI;
use std::sync::Arc;

/// Random numbers of thawed grains: apart from all populations of scenes, and from grains poured by hand.
const THAWED: u64 = ((1 << 24) - 2) << 40;

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
        recipe: &Recipe,
    ) -> Result<bool, DemError> {
        let frame = dem.frame();
        let blows = self.blows(columns, &frame, 2.0 * self.look());
        if blows.is_empty() {
            return Ok(false);
        }
        let pinned: Vec<u32> = dem.pinned().to_vec();
        let mut held = pinned.clone();
        if !pinned.is_empty() {
            let struck = |x: DVec3| blows.iter().any(|b| b.way(x) < b.radius + b.depth + self.diameter);
            let mut go: Vec<u32> = (0..frame.len())
                .filter(|&i| pinned.binary_search(&frame.id[i]).is_ok() && struck(frame.position[i]))
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
        let grains = self.settle(columns, relief, dem, &frame, recipe, &dug);
        drop(frame);
        dem.set_pinned(&held);
        if !grains.is_empty() {
            dem.add(&grains)?;
        }
        Ok(!dug.is_empty())
    }

    /// What moves down fast enough to go deep, where it will be after `time` [s].
    fn blows(&self, columns: &Columns, frame: &Frame<'_>, time: f64) -> Vec<Strike> {
        let (grid, mu) = (columns.grid(), columns.soil().stop.tan());
        let bulk = self.mote * f64::from(1_u32 << MOTES) / (grid.cell * grid.cell * QUANTUM);
        let blow = |i: usize| {
            let (x, v) = (frame.position[i], frame.velocity[i]);
            let radius = frame.shapes[frame.shape[i] as usize].bounding_radius() * frame.radius[i];
            let density = frame.mass[i] / (4.0 / 3.0 * PI * radius.powi(3));
            let height = v.z.min(0.0).powi(2) / (2.0 * self.gravity);
            let depth = 0.14 / mu * (density / bulk).sqrt() * (2.0 * radius).powf(2.0 / 3.0) * height.cbrt();
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

    /// Grains for what was dug out; what is left over is owed to the columns it came from.
    #[allow(clippy::too_many_arguments)]
    fn settle(
        &mut self,
        columns: &Columns,
        before: &Relief,
        dem: &Dem,
        frame: &Frame<'_>,
        recipe: &Recipe,
        dug: &[(usize, i64)],
    ) -> Vec<NewGrain> {
        if dug.is_empty() {
            return Vec::new();
        }
        let mut left: i128 = dug.iter().map(|d| i128::from(d.1) << MOTES).sum();
        let pooled = self.pool.iter().map(|k| k.radius * frame.shapes[k.shape as usize].bounding_radius());
        let largest = pooled.fold(recipe.reach * recipe.sizes.max(), f64::max);
        let grid = columns.grid();
        let ends = |&(column, _): &(usize, i64)| {
            let (at, floor) = (grid.centre(column), grid.origin.z + metres(columns.heights()[column]));
            (at.extend(floor), at.extend(before.origin.z + before.height[column]))
        };
        let (low, high) = dug
            .iter()
            .map(ends)
            .fold((DVec3::INFINITY, DVec3::NEG_INFINITY), |(l, h), (low, high)| (l.min(low), h.max(high)));
        let wide = DVec3::splat(grid.cell + self.diameter);
        let (low, high) = (low - wide, high + wide);
        let near = |i: &usize| {
            let (x, r) = (frame.position[*i], frame.radius[*i]);
            (x + 3.0 * r).cmpge(low).all() && (x - 3.0 * r).cmple(high).all()
        };
        let taken: Vec<(DVec3, f64)> =
            (0..frame.len()).filter(near).flat_map(|i| frame.spheres_of(i)).map(|s| (s.centre, s.radius)).collect();
        let mut space = SphereGrid::new(low, high, taken.iter().map(|t| t.1).chain([largest; 64]));
        taken.iter().for_each(|&(x, r)| space.insert(x, r));
        let height = columns.heights().iter().map(|&h| metres(h)).collect();
        let ground = Relief { height, ..*before };
        let bed = Wall::new("ground", Geometry::Relief(Arc::new(Bed::new(Arc::new(ground)))), 0);
        let (walls, states) = dem.walls();
        let clear = |x: DVec3, r: f64| {
            let other = |w: usize| walls[w].bed().is_none() && dem.is_there(w);
            bed.nearest(&WallState::default(), 0, x).distance >= r
                && (0..walls.len()).filter(|&w| other(w)).all(|w| walls[w].clearance(&states[w], x) >= r)
        };
        let mut grains = Vec::new();
        for x in sites(low, high, 2.0 * largest * (1.0 + 1e-9)) {
            let Some(over) = before.over(x.x, x.y) else { continue };
            let mut random = Random::new(recipe.seed, THAWED | self.thawed);
            let chosen = (!self.pool.is_empty()).then(|| random.index(self.pool.len()));
            let kept = match chosen {
                Some(k) => self.pool[k],
                None => Kept { radius: recipe.sizes.sample(&mut random), shape: recipe.shape },
            };
            let shape = &frame.shapes[kept.shape as usize];
            let reach = kept.radius * shape.bounding_radius();
            let mass = self.density * shape.volume() * kept.radius.powi(3);
            // The solver keeps the inverse: what it will say of the grain, to the last bit.
            let cost = self.motes(1.0 / (1.0 / mass));
            // Below the old surface, where the ground was.
            if x.z + reach > over.z || cost > left || space.overlaps(x, reach) || !clear(x, reach) {
                continue;
            }
            let orientation = if shape.is_sphere() { DQuat::IDENTITY } else { random.unit_quaternion() };
            space.insert(x, reach);
            grains.push(NewGrain {
                position: x,
                velocity: DVec3::ZERO,
                spin: DVec3::ZERO,
                orientation,
                radius: kept.radius,
                mass: Some(mass),
                material: self.material,
                shape: kept.shape,
            });
            left -= cost;
            self.thawed += 1;
            if let Some(k) = chosen {
                self.pool.swap_remove(k);
            }
        }
        self.owe(left, dug);
        grains
    }

    /// Enters what was not placed as owed to the columns it came from, in proportion.
    fn owe(&mut self, left: i128, dug: &[(usize, i64)]) {
        let all: i128 = dug.iter().map(|d| i128::from(d.1)).sum();
        let mut rest = left;
        for &(column, quanta) in dug {
            let part = left * i128::from(quanta) / all.max(1);
            self.owed[column] += part as i64;
            rest -= part;
        }
        if let Some(&(column, _)) = dug.last() {
            self.owed[column] += rest as i64;
        }
    }
}

/// Sites of a close-packed lattice of that distance [m] in a box, layer by layer from below.
fn sites(low: DVec3, high: DVec3, distance: f64) -> impl Iterator<Item = DVec3> {
    let step = DVec3::new(distance, distance * 0.75_f64.sqrt(), distance * (2.0_f64 / 3.0).sqrt());
    let from = (low / step).floor().as_i64vec3();
    let to = (high / step).ceil().as_i64vec3();
    (from.z..to.z).flat_map(move |z| {
        (from.y..to.y).flat_map(move |y| {
            (from.x..to.x).map(move |x| {
                // Every other row is shifted by half a site; every other layer lies in the hollows of the one below.
                let odd = z.rem_euclid(2) as f64;
                let row = 0.5 * ((y + z).rem_euclid(2)) as f64;
                DVec3::new(x as f64 + row, y as f64 + odd / 3.0, z as f64) * step
            })
        })
    })
}

#[cfg(test)]
mod tests {
    use super::super::exchange::{LOOKS, Watched};
    use super::super::relief_of;
    use super::*;

    /// Ground under a heavy ball that comes down fast.
    const ANVIL: &str = r#"
        duration = 1
        domain = { min = [-0.1, -0.1, -0.01], max = [0.1, 0.1, 0.2] }
        integrator = { max_overlap = 1.0 }
        ground = { cell = "3 mm", floor = 0, height = "50 mm", exchange = {} }
        [materials.sand]
        preset = "dry sand"
        [materials.steel]
        preset = "steel balls"
        [[grains]]
        material = "steel"
        radius = "10 mm"
        at = [[0, 0, 0.09]]
        velocity = [0, 0, -3]
        [[grains]]
        material = "sand"
        radius = { uniform = ["1.3 mm", "1.7 mm"] }
        at = [[0.09, 0.09, 0.06]]
    "#;

    #[test]
    fn over_a_hundred_thousand_exchanges_no_mass_is_lost() {
        let parsed = barchan_scene::Scene::from_toml(ANVIL, "anvil").unwrap_or_else(|e| panic!("{}", e.listing()));
        let mut world = crate::assemble(&parsed).unwrap_or_else(|e| panic!("{}", e.listing()));
        let dem = &mut world.dem;
        let ground = world.ground.as_mut().unwrap();
        let recipe = ground.recipe.clone().unwrap();
        let before = ground.account(&dem.frame());
        let weight = |a: &super::super::Account| a.mass(a.total());
        let mut exchanged = 0;
        while exchanged < 100_000 {
            let relief = relief_of(&ground.columns);
            let exchange = ground.exchange.as_mut().unwrap();
            exchange.thaw(&mut ground.columns, &relief, dem, &recipe).unwrap();
            // All that is there, taken to lie still and deep, becomes ground again: pinned at one look, columns at the next. The relief is that
            // from before: nothing has fallen to the ground of the bowl.
            exchange.layer = f64::NEG_INFINITY;
            for _ in 0..2 {
                let frame = dem.frame();
                let lies = |i: usize| Watched {
                    id: frame.id[i],
                    looks: LOOKS,
                    place: frame.position[i],
                    from: frame.position[i],
                };
                exchange.watched = (0..frame.len()).map(lies).collect();
                exchange.watched.sort_unstable_by_key(|w| w.id);
                drop(frame);
                exchange.step(&mut ground.columns, &relief, dem);
            }
            let account = ground.account(&dem.frame());
            assert!(account.frozen + account.thawed > exchanged, "nothing was exchanged: {account:?}");
            exchanged = account.frozen + account.thawed;
            assert_eq!(account.total(), before.total(), "to the last mote, after {exchanged}");
            assert!((weight(&account) / weight(&before) - 1.0).abs() < 1e-12);
        }
        // And by weighing what is there.
        let account = ground.account(&dem.frame());
        let grains: f64 = dem.frame().mass.iter().sum();
        let weighed = grains + ground.mass() + account.mass(account.owed);
        assert!((weighed / weight(&before) - 1.0).abs() < 1e-12, "{weighed}");
    }

    #[test]
    fn sites_are_a_distance_apart_and_fill_as_spheres_can() {
        // Whole periods of the lattice, each end counted once.
        let half = DVec3::new(4.0, 2.0 * 3f64.sqrt(), 4.0 * (2.0_f64 / 3.0).sqrt());
        let inside = |x: &DVec3| (*x + 1e-9).cmpge(-half).all() && (*x + 1e-9).cmplt(half).all();
        let found: Vec<DVec3> = sites(-half - 1.0, half + 1.0, 1.0).filter(inside).collect();
        for (k, a) in found.iter().enumerate() {
            assert!(found[k + 1..].iter().all(|b| a.distance(*b) > 1.0 - 1e-12), "{a}");
        }
        let share = found.len() as f64 * PI / 6.0 / (2.0 * half).element_product();
        assert!((share - PI / 18.0_f64.sqrt()).abs() < 1e-9, "{share} is not that of close packing");
    }
}
