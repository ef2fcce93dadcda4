//! Populations: grains that are there at the start, emitters, and rain.

use super::Setup;
use super::settings;
use crate::emit::{Emitter, Pace};
use crate::sinks::Tally;
use barchan_core::recipe::Recipe;
use barchan_core::regions::Region;
use barchan_core::schedule::Schedule;
use barchan_scene::{EmitterFlow, FillMethod, Grains, Parsed, Place, Problem, Scene, ShapeSpec, Size};
use glam::{DQuat, DVec3};

/// Share of a disc that random circles cover when no more fit (Hinrichsen, Feder and Jøssang 1986).
const COVERED: f64 = 0.547;

/// Makes recipes from the scene's words.
pub(super) struct Maker<'a> {
    pub parsed: &'a Parsed,
    pub setup: &'a Setup,
    /// Names of the shapes, by index.
    pub names: &'a [String],
}

impl Maker<'_> {
    fn recipe(&self, population: usize, material: &str, shape: &str, radius: &Option<Size>, velocity: DVec3) -> Recipe {
        let index = self.names.iter().position(|n| n == shape).unwrap_or_default();
        let form = &self.setup.shapes[index];
        // A clump that is listed in metres has a size of its own.
        let listed = || self.parsed.assets.listed_radius(&self.parsed.scene, shape).map(Size::Fixed);
        let size = radius.clone().or_else(listed).or_else(|| self.packed(population)).unwrap_or(Size::Fixed(f64::NAN));
        let material = settings::material_index(&self.parsed.scene, material);
        Recipe {
            seed: self.parsed.scene.seed,
            population: population as u64,
            material,
            shape: index as u16,
            sizes: size.to_core(),
            reach: form.bounding_radius(),
            spheres: form.spheres().len(),
            unit_mass: self.setup.materials.list[material as usize].density * form.volume(),
            velocity,
            velocity_spread: 0.0,
            spin: DVec3::ZERO,
            turn: None,
        }
    }

    /// The smallest and the largest radius of a packing from a file.
    fn packed(&self, population: usize) -> Option<Size> {
        let radii = &self.parsed.assets.packings.get(&population)?.grains.radius;
        let ends = radii.iter().fold([f64::INFINITY, 0.0], |[a, b]: [f64; 2], r| [a.min(*r), b.max(*r)]);
        (!radii.is_empty()).then(|| if ends[0] < ends[1] { Size::Uniform(ends) } else { Size::Fixed(ends[0]) })
    }

    /// Recipe of the i-th population.
    pub fn of_grains(&self, i: usize) -> Recipe {
        let g = &self.parsed.scene.grains[i];
        let area = self.setup.areas.get(&i);
        let radius = area.and_then(|a| a.radius).map(Size::Fixed).or_else(|| g.radius.clone());
        let mut recipe = self.recipe(i, &g.material, &g.shape, &radius, g.velocity);
        if let Some(area) = area {
            recipe.unit_mass = area.mass() / (area.count as f64 * recipe.sizes.mean_cube());
        }
        let of_mesh = matches!(self.parsed.scene.shapes.get(&g.shape), Some(ShapeSpec::Mesh(_)));
        let as_it_stands = of_mesh && matches!(g.place, Place::At(_));
        let form = &self.setup.shapes[recipe.shape as usize];
        let turn = g.turn.or(as_it_stands.then_some(DVec3::ZERO));
        let turn = turn.map(|t| DQuat::from_scaled_axis(t) * form.to_principal().inverse());
        Recipe { velocity_spread: g.velocity_spread, spin: g.spin, turn, ..recipe }
    }

    /// Recipe of the i-th emitter.
    pub fn of_emitter(&self, i: usize) -> Recipe {
        let e = &self.parsed.scene.emitters[i];
        let population = (self.parsed.scene.grains.len() + i) as u64;
        if let Some(name) = &e.continuum {
            let of = self.parsed.scene.continuum.iter().position(|m| m.name == *name).unwrap_or_default();
            let recipe =
                Recipe { population, velocity: e.velocity, ..super::continuum::recipe(&self.parsed.scene, of) };
            return if e.phase == barchan_scene::PhaseName::Gas {
                super::phases::grain(&self.parsed.scene, recipe)
            } else {
                recipe
            };
        }
        self.recipe(self.parsed.scene.grains.len() + i, &e.material, &e.shape, &e.radius, e.velocity)
    }
}

/// Whether a population comes during the run.
pub(super) fn is_rain(grains: &Grains) -> bool {
    matches!(&grains.place, Place::Fill(fill) if fill.method == FillMethod::Rain)
}

/// Time [s] in which something that starts at speed `v` [m/s] under gravity `g` [m/s²] has gone a distance `d` [m].
fn clearing_time(d: f64, v: f64, g: f64) -> f64 {
    match (g > 0.0, v > 0.0) {
        (true, _) => ((v * v + 2.0 * g * d).sqrt() - v) / g,
        (false, true) => d / v,
        (false, false) => f64::INFINITY,
    }
}

/// The i-th emitter of the scene.
pub(super) fn pour(parsed: &Parsed, i: usize, recipe: Recipe, dt: f64) -> Result<Emitter, Problem> {
    let scene = &parsed.scene;
    let e = &scene.emitters[i];
    let largest = recipe.reach * recipe.sizes.max();
    let axis = e.disc.normal.normalize_or(DVec3::Z);
    // Grains leave along the normal; what falls off it by gravity leaves as well.
    let speed = e.velocity.dot(axis).abs();
    let clear = clearing_time(2.0 * largest, speed, scene.gravity.length());
    if e.disc.radius < largest {
        let message = format!(
            "the mouth, {:.3e} m in radius, is narrower than its largest grain ({largest:.3e} m)",
            e.disc.radius
        );
        return Err(parsed.error_at(
            &format!("emitters[{i}].disc.radius"),
            message,
            "widen the mouth or pour smaller grains",
        ));
    }
    let (key, pace, wanted, unit) = match e.flow {
        EmitterFlow::Rate(rate) => ("rate", Pace::Rate(rate), rate, "grains/s"),
        EmitterFlow::MassRate(rate) => ("mass_rate", Pace::MassRate(rate), rate / recipe.mean_mass(), "kg/s"),
    };
    let a_layer = (COVERED * (e.disc.radius / largest).powi(2)).max(1.0);
    let most = a_layer / clear;
    if wanted > most {
        let most = if key == "rate" { most } else { most * recipe.mean_mass() };
        let message = format!("the mouth of {} cannot pour that fast: about {most:.3e} {unit} fit through", e.name);
        let help = "lower the rate, widen the mouth, or raise the velocity along its normal";
        return Err(parsed.error_at(&format!("emitters[{i}].{key}"), message, help));
    }
    let region =
        Region::Cylinder { base: e.disc.centre - axis * largest, axis, radius: e.disc.radius, height: 2.0 * largest };
    Ok(Emitter {
        name: e.name.clone(),
        recipe,
        region,
        pace,
        from: e.from,
        until: e.until.unwrap_or(f64::INFINITY),
        limit: e.count.unwrap_or(u64::MAX),
        // Four looks while a grain clears the mouth: late by a quarter of a layer at most.
        schedule: Schedule::new(0.25 * clear, dt),
        solver: 0,
        tally: Tally::default(),
    })
}

/// The i-th population, raining into its region.
pub(super) fn rain(scene: &Scene, i: usize, recipe: Recipe, dt: f64) -> Emitter {
    let grains = &scene.grains[i];
    let Place::Fill(fill) = &grains.place else { unreachable!("only a fill rains: see is_rain") };
    let region = fill.region.to_core();
    let largest = recipe.reach * recipe.sizes.max();
    let (low, high) = region.bounds();
    let down = scene.gravity.normalize_or(-DVec3::Z);
    let (speed, g) = (grains.velocity.dot(down).max(0.0), scene.gravity.length());
    // Left to itself a batch follows when the one before has fallen out of the region.
    let fallen = clearing_time((high - low).dot(down.abs()), speed, g).min(scene.duration);
    let every = fill.every.unwrap_or(fallen);
    Emitter {
        name: grains.name.clone(),
        recipe,
        region,
        pace: Pace::Batches { every, batch: fill.batch },
        from: 0.0,
        until: f64::INFINITY,
        limit: fill.count.unwrap_or(u64::MAX),
        // A batch of which some found no room is completed as room appears.
        schedule: match fill.batch {
            Some(_) => Schedule::new(every.min(clearing_time(2.0 * largest, speed, g)), dt),
            None => Schedule::new(every, dt),
        },
        solver: 0,
        tally: Tally::default(),
    }
}
