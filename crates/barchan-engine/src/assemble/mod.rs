//! From a scene to a world: names become indices, populations become grains, the time step is derived.

mod impact;
mod memory;
mod place;
mod populations;
mod settings;
mod timestep;

pub use barchan_scene::SceneErrors;
pub use impact::Meeting;

use crate::bodies::Bodies;
use crate::checkpoint::{Checkpoint, CheckpointError};
use crate::emit::{Emitter, Recipe};
use crate::ground::{self, Ground, Pressers};
use crate::live::{self, Live};
use crate::observers;
use crate::schedule::Schedule;
use crate::sinks::{Mouth, Sink, Tally};
use crate::world::{Measurement, Plan, World};
use barchan_core::shapes::Shape;
use barchan_dem::{Dem, Settings};
use barchan_scene::{Parsed, Problem, Scene, ShapeSpec, SinkRegion, Size};
use glam::DVec3;
use std::path::{Path, PathBuf};

/// A scene made ready, apart from its grains.
struct Parts {
    settings: Settings,
    bodies: Bodies,
    ground: Option<Ground>,
    pressers: Pressers,
    /// Recipes of the populations that are there at the start, with their place in the scene.
    start: Vec<(usize, Recipe)>,
    emitters: Vec<Emitter>,
    sinks: Vec<Sink>,
    measurements: Vec<Measurement>,
    plan: Plan,
    meetings: Vec<Meeting>,
    warnings: Vec<Problem>,
}

/// Builds the world of a scene, its first grains placed. All problems come at once.
pub fn assemble(parsed: &Parsed) -> Result<World, SceneErrors> {
    let parsed = &crate::meshes::fetch(parsed.clone(), Path::new(""))?;
    let parts = parts(parsed, None)?;
    let refused = |problems| SceneErrors::new(parsed.name(), problems);
    memory::check(parsed, &parts.settings, &parts.start, &parts.emitters).map_err(refused)?;
    let grains = place::place(parsed, &parts.settings, &parts.bodies, &parts.start).map_err(refused)?;
    let mut dem = Dem::new(parts.settings.clone());
    // Bodies first, then one call a population, so that ids follow the scene.
    for population in std::iter::once(&parts.bodies.grains).chain(&grains) {
        dem.add(population).map_err(|e| {
            SceneErrors::new(parsed.name(), vec![parsed.error_at("grains", e.to_string(), "use fewer grains")])
        })?;
    }
    let mut world = world(parts, dem, parsed.scene.domain.outside);
    world.observe();
    Ok(world)
}

/// Builds the world of a scene with the state of a checkpoint.
pub fn restore(parsed: &Parsed, checkpoint: &Checkpoint) -> Result<Result<World, SceneErrors>, CheckpointError> {
    let dt = checkpoint.f64s("world/dt", 1)?[0];
    let mut parts = match parts(parsed, Some(dt)) {
        Ok(parts) => parts,
        Err(problems) => return Ok(Err(problems)),
    };
    live::adopt(&mut parts.settings, checkpoint)?;
    if let Some(ground) = &mut parts.ground {
        ground.load(checkpoint)?;
        let material = parts.settings.walls[ground.wall].material;
        parts.settings.walls[ground.wall] = ground.wall(material);
    }
    let dem = Dem::load(parts.settings.clone(), &|name| checkpoint.column(&format!("dem/{name}")))
        .map_err(|e| checkpoint.unfit(e.to_string()))?;
    let mut world = world(parts, dem, parsed.scene.domain.outside);
    world.load(checkpoint)?;
    Ok(Ok(world))
}

fn world(parts: Parts, dem: Dem, outside: barchan_scene::Outside) -> World {
    let first = parts.start.iter().map(|(_, recipe)| recipe).chain(parts.emitters.iter().map(|e| &e.recipe)).next();
    let live = Live { recipe: first.cloned(), ..Live::default() };
    let Parts { ground, pressers, emitters, sinks, measurements, plan, meetings, warnings, .. } = parts;
    let (left, rows) = (Tally::default(), Vec::new());
    World { dem, ground, pressers, emitters, sinks, outside, left, measurements, rows, plan, meetings, warnings, live }
}

fn parts(parsed: &Parsed, dt: Option<f64>) -> Result<Parts, SceneErrors> {
    let scene = &parsed.scene;
    let mut problems = Vec::new();
    let (shapes, names) = shapes(parsed, &mut problems);
    let mut walls = settings::walls(scene);
    for (i, wall) in walls.iter().enumerate() {
        problems
            .extend(wall.check().iter().map(|e| parsed.error_at(&format!("walls[{i}]"), e.problem.as_str(), e.remedy)));
    }
    if !problems.is_empty() {
        return Err(SceneErrors::new(parsed.name(), problems));
    }
    // Walls of the scene, the ground, surfaces of bodies.
    let others = walls.len() + usize::from(scene.ground.is_some());
    let bodies = Bodies::of(parsed, shapes.len() - scene.bodies.len(), others, balls(scene))
        .map_err(|problem| SceneErrors::new(parsed.name(), vec![problem]))?;
    let mut ground =
        ground::make(parsed, walls.len()).map_err(|problem| SceneErrors::new(parsed.name(), vec![problem]))?;
    let mut materials = settings::materials(scene);
    let bed = ground::material(scene, &mut materials);
    walls.extend(ground.iter().map(|g| g.wall(bed)));
    walls.extend(bodies.walls.iter().cloned());
    let mut settings = Settings {
        gravity: scene.gravity,
        domain: settings::domain(&scene.domain),
        law: settings::law(&scene.contact),
        materials,
        shapes: shapes.into(),
        walls,
        carried: bodies.carried.clone(),
        borne: bodies.grains.iter().map(|g| g.shape).collect(),
        dt: f64::NAN,
        integrator: settings::integrator(&scene.integrator),
        precision: settings::precision(&scene.integrator),
        max_overlap: scene.integrator.max_overlap,
    };
    let maker = populations::Maker { scene, settings: &settings, names: &names };
    let recipes: Vec<Recipe> = (0..scene.grains.len()).map(|i| maker.of_grains(i)).collect();
    let poured: Vec<Recipe> = (0..scene.emitters.len()).map(|i| maker.of_emitter(i)).collect();

    let all: Vec<&Recipe> = recipes.iter().chain(&poured).collect();
    let top_speed = timestep::top_speed(scene, &all, &settings, &bodies);
    let derived = timestep::derive(&settings, &all, &bodies, top_speed);
    let (chosen, dt_reason) = timestep::choose(parsed, &derived).unwrap_or_else(|problem| {
        problems.push(problem);
        (derived.dt, String::new())
    });
    settings.dt = dt.unwrap_or(chosen);
    if let Some(ground) = &mut ground {
        let first = bodies.grains.len() as u32;
        problems.extend(ground.set_exchange(parsed, &all, first).err());
        ground.set_dt(settings.dt);
    }
    let pressers = Pressers::of(scene, &settings, &bodies);
    let meetings = impact::meetings(&settings, &all, &bodies, top_speed);
    let warnings = impact::warnings(parsed, &settings, &recipes, &poured, &bodies);

    let mut emitters = Vec::new();
    for (i, recipe) in poured.iter().enumerate() {
        match populations::pour(parsed, i, recipe.clone(), settings.dt) {
            Ok(emitter) => emitters.push(emitter),
            Err(problem) => problems.push(problem),
        }
    }
    let (rain, start): (Vec<_>, Vec<_>) =
        recipes.into_iter().enumerate().partition(|&(i, _)| populations::is_rain(&scene.grains[i]));
    emitters.extend(rain.into_iter().map(|(i, recipe)| populations::rain(scene, i, recipe, settings.dt)));
    if !problems.is_empty() {
        return Err(SceneErrors::new(parsed.name(), problems));
    }
    let measurements = (scene.measure.iter())
        .map(|m| Measurement {
            name: m.name.clone(),
            schedule: Schedule::new(m.every, settings.dt),
            observer: observers::from_scene(scene, &m.what),
        })
        .collect();
    let plan = Plan {
        name: parsed.name().into(),
        scene: scene_text(parsed),
        meshes: files(scene),
        duration: scene.duration,
        dt: settings.dt,
        dt_reason,
        dt_limit: derived.limit,
        frames_every: scene.output.every,
        formats: scene.output.formats.clone(),
        checkpoint_every: scene.output.checkpoint,
    };
    Ok(Parts {
        settings,
        bodies,
        ground,
        pressers,
        start,
        emitters,
        sinks: sinks(scene),
        measurements,
        plan,
        meetings,
        warnings,
    })
}

/// The text as it was written where it still says the same, comments and all; else the scene written out.
fn scene_text(parsed: &Parsed) -> String {
    let same = Scene::from_toml(parsed.text(), parsed.name()).is_ok_and(|again| again.scene == parsed.scene);
    match parsed.scene.to_toml() {
        Ok(text) if !same => format!("# Written out by barchan: the scene was changed on its way to the run.\n{text}"),
        _ => parsed.text().into(),
    }
}

/// The files that meshes were read from, by the names they have in the scene.
fn files(scene: &Scene) -> Vec<(String, PathBuf)> {
    let bodies = scene.bodies.iter().filter_map(|b| Some((b.mesh.clone(), b.solid.path.clone()?)));
    let walls = scene.walls.iter().filter_map(wall_file);
    let ground = scene.ground.as_ref().and_then(|g| {
        let file = g.image.as_ref().map(|i| &i.file).or(g.terrain.as_ref().map(|t| &t.file))?;
        Some((file.clone(), g.fetched.path.clone()?))
    });
    walls.chain(scene.shapes.values().filter_map(shape_file)).chain(bodies).chain(ground).collect()
}

/// Radii of the smallest and of the largest ball that may touch a body [m].
fn balls(scene: &Scene) -> [f64; 2] {
    let sizes = scene.grains.iter().map(|g| (&g.shape, &g.radius));
    let sizes = sizes.chain(scene.emitters.iter().map(|e| (&e.shape, &e.radius)));
    let listed = |shape: &String| scene.shapes.get(shape).and_then(|s| s.listed_radius());
    let ends = |s: &Size| [s.to_core().min(), s.to_core().max()];
    let grains = sizes.filter_map(|(shape, size)| size.as_ref().map(ends).or_else(|| listed(shape).map(|r| [r; 2])));
    let linings = scene.bodies.iter().filter_map(|b| Some([b.solid.shape.as_ref()?.1; 2]));
    grains.chain(linings).fold([f64::INFINITY, 0.0], |[least, most], [a, b]| [least.min(a), most.max(b)])
}

/// The file that a wall is read from.
fn wall_file(wall: &barchan_scene::Wall) -> Option<(String, PathBuf)> {
    let barchan_scene::Geometry::Mesh(mesh) = &wall.geometry else { return None };
    Some((mesh.file.clone(), mesh.surface.path.clone()?))
}

/// The file that a shape is read from.
fn shape_file(shape: &ShapeSpec) -> Option<(String, PathBuf)> {
    let ShapeSpec::Mesh(mesh) = shape else { return None };
    Some((mesh.file.clone(), mesh.solid.path.clone()?))
}

/// Shapes of the scene after the built-in ones, and their names by index; those of the bodies follow, without names.
pub(crate) fn shapes(parsed: &Parsed, problems: &mut Vec<Problem>) -> (Vec<Shape>, Vec<String>) {
    let mut shapes = vec![Shape::sphere()];
    let mut names = vec![ShapeSpec::SPHERE.to_string()];
    let built_in = (ShapeSpec::TETRAHEDRON.to_string(), ShapeSpec::Tetrahedron { edge: ShapeSpec::TETRAHEDRON_EDGE });
    let listed = parsed.scene.shapes.iter().map(|(name, spec)| (name.clone(), spec.clone()));
    for (name, spec) in std::iter::once(built_in).chain(listed) {
        match spec.to_core(&name) {
            Ok((shape, _)) => {
                shapes.push(shape);
                names.push(name);
            }
            Err(e) => problems.push(parsed.error_at(&format!("shapes.{name}"), e.to_string(), "")),
        }
    }
    // One that was not fetched is refused later; here it only keeps its place.
    let solid = |b: &barchan_scene::Body| b.solid.shape.as_ref().map_or_else(Shape::sphere, |s| s.0.clone());
    shapes.extend(parsed.scene.bodies.iter().map(solid));
    (shapes, names)
}

fn sinks(scene: &Scene) -> Vec<Sink> {
    let mouth = |region: &SinkRegion| match region {
        SinkRegion::Below { point, normal } => Mouth::Below(*point, normal.normalize_or(DVec3::Z)),
        SinkRegion::Region(region) => Mouth::Region(region.to_core()),
    };
    scene.sinks.iter().map(|s| Sink::new(s.name.clone(), mouth(&s.region))).collect()
}
