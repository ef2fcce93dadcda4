//! Placing the grains that are there at the start: clear of walls, of each other and of what was placed before.

use super::Setup;
use crate::bodies::Bodies;
use barchan_core::packing::{Amount, Lattice, SphereGrid, random_insertion};
use barchan_core::recipe::Recipe;
use barchan_core::rng::Random;
use barchan_core::sizes::SizeDistribution;
use barchan_core::solver::NewMatter;
use barchan_core::walls::WallState;
use barchan_scene::words::{count, many};
use barchan_scene::{At, Fill, FillMethod, Formula, PackedFile, Parsed, Place, Problem, Region as Filled};
use glam::{DVec2, DVec3};
use std::f64::consts::PI;

/// Purposes of a population's random numbers, besides 0 (see [`Recipe::stream`]); emitters use step + 1, and a
/// population that is placed at the start is no emitter.
const PLACES: u64 = 1;

/// The grains of each population, in the scene's order.
pub(super) fn place(
    parsed: &Parsed,
    setup: &Setup,
    bodies: &Bodies,
    recipes: &[(usize, Recipe)],
) -> Result<Vec<Vec<NewMatter>>, Vec<Problem>> {
    place_beside(parsed, setup, bodies, recipes, Vec::new())
}

/// The same beside balls [m] that are there already.
pub(super) fn place_beside(
    parsed: &Parsed,
    setup: &Setup,
    bodies: &Bodies,
    recipes: &[(usize, Recipe)],
    balls: Vec<(DVec3, f64)>,
) -> Result<Vec<Vec<NewMatter>>, Vec<Problem>> {
    let begins = balls.is_empty();
    let mut placer = Placer { parsed, setup, states: Vec::new(), balls, problems: Vec::new() };
    placer.states = setup.fixtures.walls.iter().map(|w| w.state_at(0.0)).collect();
    // Bodies of a run under way are where they are.
    placer.problems = if begins { bodies.overlaps(parsed, setup) } else { Vec::new() };
    // Those with a surface are among the walls.
    let bare = bodies
        .grains
        .iter()
        .enumerate()
        .filter(|(id, _)| begins && setup.fixtures.carried.iter().all(|c| c.body as usize != *id));
    for (_, g) in bare {
        let spheres = setup.shapes[g.shape as usize].spheres().iter();
        placer.balls.extend(spheres.map(|s| (g.position + g.orientation * (s.centre * g.radius), s.radius * g.radius)));
    }
    let mut populations = Vec::new();
    for (i, recipe) in recipes {
        let grains = match &parsed.scene.grains[*i].place {
            Place::At(At::File(file)) => placer.packed(*i, recipe, file),
            Place::At(at) => placer.explicit(*i, recipe, &at.places()),
            Place::Fill(fill) => placer.filled(*i, recipe, fill),
            Place::Release(_) => placer.released(*i, recipe),
            Place::Trees { at, height } => placer.trunks(*i, recipe, at, *height),
            Place::Sheet { min, max, layers } => placer.sheet(*i, recipe, [*min, *max], *layers as usize),
        };
        placer.balls.extend(grains.iter().map(|g| (g.position, recipe.reach * g.radius)));
        populations.push(with_field(&parsed.scene.grains[*i].velocity_field, grains));
    }
    if placer.problems.is_empty() { Ok(populations) } else { Err(placer.problems) }
}

/// Grains with a velocity field on top of their velocities.
fn with_field(field: &[Formula], mut grains: Vec<NewMatter>) -> Vec<NewMatter> {
    if let [x, y, z] = field {
        let at = |p: DVec3| DVec3::new(x.at_place(p, 0.0), y.at_place(p, 0.0), z.at_place(p, 0.0));
        grains.iter_mut().for_each(|g| g.velocity += at(g.position));
    }
    grains
}

struct Placer<'a> {
    parsed: &'a Parsed,
    setup: &'a Setup,
    states: Vec<WallState>,
    /// Balls round the grains placed so far.
    balls: Vec<(DVec3, f64)>,
    problems: Vec<Problem>,
}

impl Placer<'_> {
    /// Least distance [m] to a wall, and the wall.
    fn clearance(&self, x: DVec3) -> (f64, usize) {
        let walls = self.setup.fixtures.walls.iter().zip(&self.states).enumerate();
        walls.map(|(i, (w, s))| (w.clearance(s, x), i)).fold((f64::INFINITY, 0), |a, b| if b.0 < a.0 { b } else { a })
    }

    /// Grains at given places. They may touch, as in a chain, but not beyond the overlap a run tolerates.
    fn explicit(&mut self, i: usize, recipe: &Recipe, positions: &[DVec3]) -> Vec<NewMatter> {
        let grain = |(n, &position): (usize, &DVec3)| NewMatter { position, ..recipe.grain(n as u64) };
        let grains: Vec<NewMatter> = positions.iter().enumerate().map(grain).collect();
        let shape = &self.setup.shapes[recipe.shape as usize];
        // A run tolerates an overlap of so much of the smaller radius: of two equal ones half of it each. Of a wall it is the whole.
        let (slack, wall_slack) = (1.0 - 0.5 * self.setup.max_overlap, 1.0 - self.setup.max_overlap);
        let spheres = |g: &NewMatter| -> Vec<(DVec3, f64)> {
            let (at, turn, size) = (g.position, g.orientation, g.radius);
            shape.spheres().iter().map(|s| (at + turn * (s.centre * size), s.radius * size)).collect()
        };
        let all = grains.iter().flat_map(&spheres).map(|s| s.1);
        let (low, high) = (self.setup.domain.min, self.setup.domain.max);
        let mut grid = SphereGrid::new(low, high, all.chain(self.balls.iter().map(|b| b.1)));
        self.balls.iter().for_each(|&(x, r)| grid.insert(x, r * slack));
        for (n, g) in grains.iter().enumerate() {
            let path = format!("grains[{i}].at[{n}]");
            let own = spheres(g);
            if let Some(wall) = own.iter().map(|&(x, r)| (self.clearance(x), r)).find(|((d, _), r)| *d < r * wall_slack)
            {
                let name = &self.setup.fixtures.walls[wall.0.1].name;
                let message = format!("this grain reaches {:.3e} m into {name}", wall.1 - wall.0.0);
                self.problems.push(self.parsed.error_at(&path, message, "move it away from the wall"));
            }
            if own.iter().any(|&(x, r)| grid.overlaps(x, r * slack)) {
                self.problems.push(self.parsed.error_at(&path, "this grain overlaps another", "move them apart"));
            }
            own.iter().for_each(|&(x, r)| grid.insert(x, r * slack));
        }
        grains
    }

    /// Grains that lie on rock.
    fn released(&mut self, i: usize, recipe: &Recipe) -> Vec<NewMatter> {
        let Some(area) = self.setup.areas.get(&i) else { return Vec::new() };
        let mut grid = SphereGrid::new(self.setup.domain.min, self.setup.domain.max, self.balls.iter().map(|b| b.1));
        self.balls.iter().for_each(|&(x, r)| grid.insert(x, r));
        let others: Vec<_> =
            self.setup.fixtures.walls.iter().zip(&self.states).filter(|(w, _)| w.bed().is_none()).collect();
        let blocked = |x: DVec3, r: f64| others.iter().any(|(w, s)| w.clearance(s, x) < r) || grid.overlaps(x, r);
        area.lay(recipe, &blocked).unwrap_or_else(|(message, help)| {
            self.problems.push(self.parsed.error_at(&format!("grains[{i}].release"), message, help));
            Vec::new()
        })
    }

    /// Trunks of touching grains on the ground.
    fn trunks(&mut self, i: usize, recipe: &Recipe, at: &[DVec2], height: f64) -> Vec<NewMatter> {
        let Some(bed) = self.setup.fixtures.walls.iter().find_map(|w| w.bed()).cloned() else { return Vec::new() };
        let radius = recipe.sizes.max();
        let many = (height / (2.0 * radius)).round().max(1.0) as usize;
        let foot = |at: &DVec2| bed.over(at.x, at.y).map(|over| at.extend(over.z + radius / over.normal().z));
        let places: Vec<DVec3> = at
            .iter()
            .filter_map(foot)
            .flat_map(|foot| (0..many).map(move |k| foot + DVec3::Z * (2.0 * radius * k as f64)))
            .collect();
        let before = self.problems.len();
        let grains = self.explicit(i, recipe, &places);
        // Every grain that is in the way would be reported: one of a population is enough.
        self.problems.truncate(before + 1);
        grains
    }

    /// Rows and layers of grains on the ground, as far apart as the largest are wide: rows go down the slope of the sheet's middle, a diameter of slope from grain to grain, and layers
    /// lie upon each other along the normal.
    fn sheet(&mut self, i: usize, recipe: &Recipe, [low, high]: [DVec2; 2], layers: usize) -> Vec<NewMatter> {
        let Some(bed) = self.setup.fixtures.walls.iter().find_map(|w| w.bed()).cloned() else { return Vec::new() };
        let radius = recipe.sizes.max();
        let middle = 0.5 * (low + high);
        let slope = bed.over(middle.x, middle.y).map_or(DVec2::ZERO, |over| over.slope);
        // Along the axis that is nearer to the way down, so that rows fit the rectangle.
        let along = if slope.x.abs() >= slope.y.abs() { DVec2::X } else { DVec2::Y };
        let (down, across) = (along, along.perp().abs());
        let (length, width) = ((high - low).dot(down), (high - low).dot(across));
        let rows = (width / (2.0 * radius)).floor().max(1.0) as usize;
        let mut places = Vec::new();
        for row in 0..rows {
            let beside = across * ((row as f64 + 0.5) * 2.0 * radius);
            let mut at = 0.0;
            while at <= length {
                let p = low + beside + down * at;
                let Some(over) = bed.over(p.x, p.y) else { break };
                let (normal, foot) = (over.normal(), p.extend(over.z));
                for k in 0..layers {
                    // What is smaller than its place lies anywhere in it, so that loose snow is no crystal.
                    let n = places.len() as u64;
                    let room = (radius - recipe.grain(n).radius).max(0.0);
                    let aside = recipe.stream(n, PLACES).in_ball() * room;
                    places.push(foot + normal * (radius * (2 * k + 1) as f64) + aside);
                }
                at += 2.0 * radius / (1.0 + over.slope.dot(down).powi(2)).sqrt();
            }
        }
        let before = self.problems.len();
        let grains = self.explicit(i, recipe, &places);
        self.problems.truncate(before + 1);
        grains
    }

    /// Grains of a packing: as they stand. What of them overlaps further than a run tolerates is found when their forces are computed.
    fn packed(&mut self, i: usize, recipe: &Recipe, file: &PackedFile) -> Vec<NewMatter> {
        let Some(packing) = self.parsed.assets.packings.get(&i) else { return Vec::new() };
        let packed = &packing.grains;
        // What a scene does not have has been reported.
        let materials = packing.materials(&self.parsed.scene, file).ok().flatten();
        let grain = |n: usize| {
            let own = recipe.grain(n as u64);
            let or = |column: &[DVec3]| column.get(n).copied().unwrap_or_default();
            NewMatter {
                position: packed.position[n],
                radius: packed.radius.get(n).copied().unwrap_or(own.radius),
                velocity: own.velocity + or(&packed.velocity),
                spin: own.spin + or(&packed.spin),
                material: materials.as_ref().map_or(own.material, |m| m[n]),
                ..own
            }
        };
        (0..packed.len()).map(grain).collect()
    }

    /// Grains that fill a region.
    fn filled(&mut self, i: usize, recipe: &Recipe, fill: &Fill) -> Vec<NewMatter> {
        let region = fill.region.to_core();
        let sizes = scaled(&recipe.sizes, recipe.reach);
        let mut grid = SphereGrid::new(self.setup.domain.min, self.setup.domain.max, self.balls.iter().map(|b| b.1));
        self.balls.iter().for_each(|&(x, r)| grid.insert(x, r));
        let mesh = self.parsed.assets.within.get(&i).map(|surface| surface.facets.clone());
        let core = match &fill.region {
            Filled::Cylinder { base, axis, .. } if fill.hole > 0.0 => Some((*base, axis.normalize_or(DVec3::Z))),
            _ => None,
        };
        // Within a solid its distance is negative.
        let beside = |x: DVec3, r: f64| {
            let out = mesh.as_ref().is_some_and(|m| m.distance(x) > -r);
            out || core.is_some_and(|(base, axis)| (x - base).reject_from_normalized(axis).length() < fill.hole + r)
        };
        let in_wall = |x: DVec3, r: f64| self.clearance(x).0 < r || beside(x, r);
        let wanted = fill.count.map(|n| n as usize);
        let filled = match fill.method {
            FillMethod::Lattice | FillMethod::Rain => {
                let lattice = Lattice { count: wanted, jitter: Fill::JITTER, spread: false };
                let blocked = |x: DVec3, r: f64| in_wall(x, r) || grid.overlaps(x, r);
                lattice.fill(&region, &sizes, &mut recipe.stream(0, PLACES), &blocked)
            }
            FillMethod::Random => {
                // The scene's share is that of the grains; the packer's is that of the balls round them.
                let shape = &self.setup.shapes[recipe.shape as usize];
                let ball_over_grain = 4.0 / 3.0 * PI * recipe.reach.powi(3) / shape.volume();
                let by_fraction = || Amount::Fraction(fill.fraction.unwrap_or_default() * ball_over_grain);
                let amount = wanted.map_or_else(by_fraction, Amount::Count);
                let seed = Random::new(recipe.seed, recipe.population).bits();
                random_insertion(&region, &sizes, amount, seed, &self.balls, &in_wall)
            }
        };
        let fits = filled.spheres.len();
        if filled.is_short() {
            let key = if wanted.is_some() { "count" } else { "fraction" };
            let help = match fill.method {
                FillMethod::Random => {
                    format!(
                        "enlarge the region, ask for at most {}, or fill by lattice, which is denser",
                        count(fits as u64)
                    )
                }
                _ => format!("enlarge the region, use smaller grains, or ask for at most {}", count(fits as u64)),
            };
            let message = format!("only {} of {} fit", count(fits as u64), many(filled.asked as u64, "grain"));
            self.problems.push(self.parsed.error_at(&format!("grains[{i}].fill.{key}"), message, help));
        } else if fits == 0 {
            let message = "no grain fits into this region";
            let help = "enlarge it, use smaller grains, or move it away from walls and other grains";
            self.problems.push(self.parsed.error_at(&format!("grains[{i}].fill"), message, help));
        }
        let grain = |(n, &(position, r)): (usize, &(DVec3, f64))| NewMatter {
            position,
            radius: r / recipe.reach,
            ..recipe.grain(n as u64)
        };
        filled.spheres.iter().enumerate().map(grain).collect()
    }
}

/// The distribution of radii `factor` times as large.
fn scaled(sizes: &SizeDistribution, factor: f64) -> SizeDistribution {
    use SizeDistribution as S;
    match sizes {
        S::Fixed(r) => S::Fixed(r * factor),
        S::Uniform { min, max } => S::Uniform { min: min * factor, max: max * factor },
        S::Normal { mean, sd, min, max } => {
            S::Normal { mean: mean * factor, sd: sd * factor, min: min * factor, max: max * factor }
        }
        S::LogNormal { median, sigma, min, max } => {
            S::LogNormal { median: median * factor, sigma: *sigma, min: min * factor, max: max * factor }
        }
        S::Sieve(rows) => S::Sieve(rows.iter().map(|(d, share)| (d * factor, *share)).collect()),
    }
}
