//! From a scene to a world: names become indices, populations become grains, the time step is derived. No file is read here.

mod bonds;
pub(crate) mod continuum;
mod device;
mod from;
mod gaps;
mod ground;
mod impact;
mod maps;
mod memory;
mod phases;
mod place;
mod populations;
mod release;
mod settings;
mod slabs;
mod snow;
mod timestep;
mod trial;

pub use barchan_scene::Device;
pub use barchan_scene::SceneErrors;
pub use device::methods_on;
pub use from::{FromError, begin_from};
pub use impact::Meeting;
pub(crate) use maps::map_settings;
pub use release::Released;
pub(crate) use trial::further;

use crate::bodies::Bodies;
use crate::changes::Changes;
use crate::checkpoint::{Checkpoint, CheckpointError};
use crate::emit::Emitter;
use crate::live::Live;
use crate::observers;
use crate::sinks::{Mouth, Sink, Tally};
use crate::world::{Measurement, Plan, World};
use barchan_core::boundary::{Boundary, Fixtures};
use barchan_core::clock::{StepWish, world_step};
use barchan_core::contact::ContactLaw;
use barchan_core::materials::Materials;
use barchan_core::recipe::Recipe;
use barchan_core::schedule::Schedule;
use barchan_core::shapes::Shape;
use barchan_core::solver::{Coupling, Domain, NewMatter, Solver, SolverError, Solvers};
use barchan_core::stages::Timers;
use barchan_dem::{Dem, Settings, Sleep};
use barchan_flip::Flip;
use barchan_hybrid::ground::Ground;
use barchan_hybrid::rock::Rock;
use barchan_scene::{HalfSpace, Parsed, Problem, Scene, ShapeSpec, SinkRegion, Size};
use barchan_sph::Sph;
use glam::DVec3;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A way to compute the matter of a scene. A new one is a file with a solver and a line in [`METHODS`].
pub struct Method {
    /// Its name, that of its solver.
    pub name: &'static str,
    /// Whether a scene has matter for it.
    pub wanted: fn(&Scene) -> bool,
    /// The step it wants in a scene; none for that of the grains' contacts.
    pub wish: fn(&Scene) -> Option<StepWish>,
    /// The solver, without matter, made from a scene and what grains would be told at their start.
    pub make: Make,
}

/// Makes a solver without matter.
pub type Make = fn(&Parsed, &Settings, &Boundary) -> Result<Box<dyn Solver>, SolverError>;

/// All methods. Solvers step in this order: grains last, since they integrate the bodies that the others have pushed.
pub const METHODS: &[Method] = &[
    continuum::SPH,
    phases::PHASES,
    Method {
        name: barchan_core::frame::GRAINS,
        // Bodies are grains, and the ground exchanges with them.
        wanted: |s| {
            let poured = s.emitters.iter().any(|e| e.continuum.is_none());
            !s.grains.is_empty() || !s.bodies.is_empty() || s.ground.is_some() || poured
        },
        wish: |_| None,
        make: |_, settings, boundary| Ok(Box::new(Dem::new(settings.clone(), boundary))),
    },
];

/// The methods that a scene needs.
fn methods(scene: &Scene) -> Vec<&'static Method> {
    METHODS.iter().filter(|m| (m.wanted)(scene)).collect()
}

/// Place of a method's solver among those of the world.
fn solver_of(methods: &[&Method], method: &Method) -> Option<usize> {
    methods.iter().position(|m| m.name == method.name)
}

/// Place of the solver that computes the continuum.
fn continuum_of(methods: &[&Method]) -> usize {
    solver_of(methods, &continuum::SPH).or_else(|| solver_of(methods, &phases::PHASES)).unwrap_or(0)
}

/// Place of the solver that grains, and bodies, are added to: the last of all.
fn grains_of(methods: &[&Method]) -> usize {
    methods.len().saturating_sub(1)
}

/// What matter and walls are made of: all that is known before the time step.
#[derive(Clone)]
pub(crate) struct Setup {
    pub gravity: DVec3,
    pub domain: Domain,
    pub law: ContactLaw,
    pub materials: Materials,
    /// Shapes of grains, then of bodies.
    pub shapes: Arc<[Shape]>,
    pub max_overlap: f64,
    pub fixtures: Fixtures,
    /// Snow that lies on rock, by the index of its population.
    pub areas: BTreeMap<usize, release::Area>,
}

/// A scene made ready, apart from its grains.
struct Parts {
    setup: Setup,
    bodies: Bodies,
    ground: Option<Ground>,
    rock: Option<Rock>,
    /// Pieces of slabs.
    slabs: Vec<Vec<slabs::Piece>>,
    /// Couplings of snow on rock.
    snow: Vec<Box<dyn Coupling>>,
    /// Recipes of the populations that are there at the start, with their place in the scene.
    start: Vec<(usize, Recipe)>,
    emitters: Vec<Emitter>,
    /// When grains fall asleep.
    sleep: Option<Sleep>,
    /// The step of the grains' solver.
    grain_step: StepWish,
    plan: Plan,
    meetings: Vec<Meeting>,
    released: Vec<Released>,
    warnings: Vec<Problem>,
}

/// Builds the world of a scene, its first grains placed. All problems come at once.
pub fn assemble(parsed: &Parsed) -> Result<World, SceneErrors> {
    assemble_as(parsed, &methods_on(&parsed.scene))
}

/// Builds the world of a scene whose matter is computed by these methods.
pub fn assemble_as(parsed: &Parsed, methods: &[&Method]) -> Result<World, SceneErrors> {
    let (parts, grains) = matter(parsed, methods)?;
    let places: Vec<usize> = parts.start.iter().map(|s| s.0).collect();
    let matter: Vec<_> = std::iter::once(parts.bodies.grains.clone()).chain(grains).collect();
    let slabs = parts.slabs.clone();
    let of_slabs: usize = slabs.iter().map(Vec::len).sum();
    let first_piece = parts.setup.shapes.len() - parsed.scene.bodies.len() - of_slabs;
    let mut world = world(parsed, parts, methods)?;
    let grains_at = grains_of(methods);
    // Bodies first, then one call a population, then slabs, so that ids follow the scene.
    let mut firsts = Vec::new();
    for (k, population) in matter.iter().enumerate() {
        firsts.push(world.solvers.get_mut(grains_at).add(population, &world.boundary).map_err(|e| {
            SceneErrors::new(parsed.name(), vec![parsed.error_at("grains", e.to_string(), "use fewer grains")])
        })?);
        if let Some(i) = k.checked_sub(1).map(|k| places[k]) {
            name_and_fix(parsed, i, firsts[k], population.len(), &mut world.solvers)?;
        }
    }
    if let Some(dem) = world.solvers.find_mut::<Dem>() {
        for ((i, first), population) in places.into_iter().zip(&firsts[1..]).zip(&matter[1..]) {
            if let Some(b) = &parsed.scene.grains[i].bonds {
                bonds::tie(b, parsed.scene.seed, population, *first, &world.boundary, dem);
            }
        }
    }
    for (k, pieces) in slabs.iter().enumerate() {
        let slab = &parsed.scene.slabs[k];
        let before: usize = slabs[..k].iter().map(Vec::len).sum();
        let material = settings::material_index(&parsed.scene, &slab.material);
        let matter = slabs::matter(pieces, first_piece + before, material);
        let first = world.solvers.get_mut(grains_at).add(&matter, &world.boundary).map_err(|e| {
            SceneErrors::new(parsed.name(), vec![parsed.error_at("slabs", e.to_string(), "use fewer pieces")])
        })?;
        if let Some(dem) = world.solvers.find_mut::<Dem>() {
            slabs::tie(slab, pieces, first, dem);
        }
    }
    if let Some(dem) = world.solvers.find::<Dem>() {
        dem.place_bodies(&mut world.boundary);
    }
    begin_packed(parsed, &mut world)?;
    if let Some(sph) = world.solvers.find_mut::<Sph>() {
        let doubts = continuum::fill(parsed, &world.boundary, sph).map_err(|p| SceneErrors::new(parsed.name(), p))?;
        world.warnings.extend(doubts);
    }
    if let Some(flip) = world.solvers.find_mut::<Flip>() {
        let left_out = phases::fill(parsed, &world.boundary, flip).map_err(|p| SceneErrors::new(parsed.name(), p))?;
        world.warnings.extend(left_out);
    }
    world.observe();
    Ok(world)
}

/// Gives grains from a file the ids that they have there, and holds those that are fixed.
fn name_and_fix(parsed: &Parsed, i: usize, first: u32, many: usize, solvers: &mut Solvers) -> Result<(), SceneErrors> {
    let refused = |at: &str, message: String, help: &str| {
        Err(SceneErrors::new(parsed.name(), vec![parsed.error_at(&format!("grains[{i}].{at}"), message, help)]))
    };
    let mut ids: Vec<u32> = (0..many as u32).map(|k| first + k).collect();
    let packing = parsed.assets.packings.get(&i).filter(|p| !p.grains.id.is_empty());
    if packing.is_none() && !parsed.scene.grains[i].fixed {
        return Ok(());
    }
    let Some(dem) = solvers.find_mut::<Dem>() else {
        let help = "leave out `--device`, or `fixed`, and write `ids = false`";
        return refused("at", "ids of a file, and fixed grains, are kept by the processor alone".into(), help);
    };
    if let Some(packing) = packing {
        ids.clone_from(&packing.grains.id);
        if !dem.name_newborn(&ids) {
            let help = "write `at = { file = …, ids = false }`: its grains then get ids of their own";
            return refused("at", "ids of this file are those of other grains or bodies".into(), help);
        }
    }
    if parsed.scene.grains[i].fixed {
        dem.fix(&ids);
    }
    Ok(())
}

/// Lets grains that were placed from a file begin with the forces of their contacts: they are a state that goes on.
fn begin_packed(parsed: &Parsed, world: &mut World) -> Result<(), SceneErrors> {
    let Some(i) = parsed.assets.packings.keys().next() else { return Ok(()) };
    let World { solvers, boundary, .. } = world;
    let Some(dem) = solvers.find_mut::<Dem>() else { return Ok(()) };
    dem.begin(boundary).map_err(|e| {
        let help = "let the packing relax where it comes from, or raise integrator.max_overlap";
        SceneErrors::new(parsed.name(), vec![parsed.error_at(&format!("grains[{i}].at"), e.to_string(), help)])
    })
}

/// A scene made ready, with the grains of each population that is there at the start; or everything that is wrong with it: an unsafe time
/// step, emitters that cannot pour, grains that do not fit into memory or into their place.
fn matter(parsed: &Parsed, methods: &[&Method]) -> Result<(Parts, Vec<Vec<NewMatter>>), SceneErrors> {
    let mut problems = Vec::new();
    let parts = parts(parsed, methods, None, &mut problems);
    let mut grains = Vec::new();
    if let Some(parts) = &parts {
        match memory::check(parsed, &parts.setup, &parts.start, &parts.emitters) {
            Err(too_many) => problems.extend(too_many),
            Ok(()) => match place::place(parsed, &parts.setup, &parts.bodies, &parts.start) {
                Ok(placed) => grains = placed,
                Err(misplaced) => problems.extend(misplaced),
            },
        }
    }
    match parts.filter(|_| problems.is_empty()) {
        Some(parts) => Ok((parts, grains)),
        None => Err(SceneErrors::new(parsed.name(), problems)),
    }
}

/// A world that begins with the state of another run, and what of that was not taken over as it was.
pub struct Begun {
    /// The world.
    pub world: World,
    /// What is another now, a sentence each.
    pub notes: Vec<String>,
}

/// Builds the world of a scene with the state of a checkpoint, on the device that it was computed on.
pub fn restore(parsed: &Parsed, checkpoint: &Checkpoint) -> Result<Result<World, SceneErrors>, CheckpointError> {
    let (was, asked) = (device::device_of(checkpoint), parsed.scene.device);
    let device = if was == Device::Gpu && asked.number().is_some() { asked } else { was };
    restore_on(parsed, checkpoint, device)
}

/// The same on another device.
pub fn restore_on(
    parsed: &Parsed,
    checkpoint: &Checkpoint,
    device: Device,
) -> Result<Result<World, SceneErrors>, CheckpointError> {
    let mut there = parsed.clone();
    there.scene.device = device;
    let mut restored = restore_as(&there, checkpoint, &methods_on(&there.scene), true)?;
    if let Ok(world) = &mut restored {
        // The run's scene stays what its folder has, or its next checkpoint would be of another one.
        world.plan.scene = parsed.text().to_owned();
    }
    Ok(restored)
}

/// The same for a scene whose matter is computed by these methods; with what measurements have gathered, if these are those of the checkpoint.
pub fn restore_as(
    parsed: &Parsed,
    checkpoint: &Checkpoint,
    methods: &[&Method],
    measured: bool,
) -> Result<Result<World, SceneErrors>, CheckpointError> {
    let dt = checkpoint.f64s("world/dt", 1)?[0];
    let mut problems = Vec::new();
    let Some(parts) = parts(parsed, methods, Some(dt), &mut problems).filter(|_| problems.is_empty()) else {
        return Ok(Err(SceneErrors::new(parsed.name(), problems)));
    };
    let mut world = match world(parsed, parts, methods) {
        Ok(world) => world,
        Err(problems) => return Ok(Err(problems)),
    };
    world.load(checkpoint, measured)?;
    Ok(Ok(world))
}

fn world(parsed: &Parsed, parts: Parts, methods: &[&Method]) -> Result<World, SceneErrors> {
    let scene = &parsed.scene;
    let poured = parts.emitters.iter().map(|e| (e.recipe.clone(), e.solver));
    let first = parts.start.iter().map(|(_, recipe)| (recipe.clone(), grains_of(methods))).chain(poured);
    let of_continuum = |i: usize| (continuum::recipe(scene, i), continuum_of(methods));
    let first = first.chain((0..scene.continuum.len()).map(of_continuum));
    let (recipe, solver) = { first }.next().map_or((None, 0), |(recipe, solver)| (Some(recipe), solver));
    let live = Live { recipe, solver, own: continuum::own(scene), ..Live::default() };
    let Parts { setup, bodies, ground, rock, snow, emitters, sleep, plan, meetings, released, mut warnings, .. } =
        parts;
    let grain_step = parts.grain_step;
    let measurements = measurements(parsed, plan.dt)?;
    let rigid = bodies.rigid(scene, &setup);
    let Setup { gravity, domain, law, materials, shapes, max_overlap, fixtures, .. } = setup;
    let boundary = Boundary::new(fixtures, rigid, gravity);
    let settings = Settings {
        gravity,
        domain,
        law,
        materials: materials.clone(),
        shapes,
        borne: bodies.grains.iter().map(|g| g.shape).collect(),
        bridges: settings::bridges(scene),
        cell: settings::cell(scene),
        dt: grain_step.dt,
        dt_reason: grain_step.reason,
        integrator: settings::integrator(&scene.integrator),
        precision: settings::precision(&scene.integrator),
        max_overlap,
        sleep,
    };
    let solvers = methods.iter().map(|m| (m.make)(parsed, &settings, &boundary)).collect::<Result<_, _>>();
    let solvers = solvers
        .map_err(|e| SceneErrors::new(parsed.name(), vec![parsed.error_at("", e.to_string(), "change the scene")]))?;
    if let Some(why) = device::why_on_the_processor(scene, &settings, &boundary) {
        warnings.push(parsed.warning_at(
            "device",
            why,
            "write `device = \"cpu\"`, or `--device cpu`, to leave this unsaid",
        ));
    }
    Ok(World {
        steps: 0,
        ahead: false,
        domain,
        gravity,
        materials,
        boundary,
        solvers: Solvers::new(solvers),
        couplings: (ground.into_iter().map(|g| Box::new(g) as Box<dyn Coupling>))
            .chain(rock.into_iter().map(|r| Box::new(r) as Box<dyn Coupling>))
            .chain(snow)
            .collect(),
        emitters,
        sinks: sinks(scene),
        outside: scene.domain.outside,
        left: Tally::default(),
        measurements,
        rows: Vec::new(),
        plan,
        changes: Changes::of(scene),
        last_birth: 0,
        meetings,
        released,
        warnings,
        live,
        timers: Timers::default().into(),
        events: scene.events.clone(),
    })
}

/// The measurements of a scene.
fn measurements(parsed: &Parsed, dt: f64) -> Result<Vec<Measurement>, SceneErrors> {
    let mut unread = Vec::new();
    let mut all = Vec::new();
    for (i, m) in parsed.scene.measure.iter().enumerate() {
        match observers::from_scene(&parsed.scene, &m.what) {
            Some(mut observer) => {
                observer.take_files(&parsed.assets, i);
                all.push(Measurement { name: m.name.clone(), schedule: Schedule::new(m.every, dt), observer })
            }
            None => {
                let message = format!("nobody knows how to measure `{}`", m.what.key());
                let help = "read the scene by `barchan_engine::load`, which knows what can be measured";
                unread.push(parsed.error_at(&format!("measure[{i}]"), message, help));
            }
        }
    }
    if unread.is_empty() { Ok(all) } else { Err(SceneErrors::new(parsed.name(), unread)) }
}

/// Makes a scene ready, with a time step of another's choice or its own. Problems are added to the list; none where they leave nothing
/// to go on with.
fn parts(parsed: &Parsed, methods: &[&Method], dt: Option<f64>, problems: &mut Vec<Problem>) -> Option<Parts> {
    let scene = &parsed.scene;
    problems.extend(continuum::problems(parsed));
    problems.extend(phases::problems(parsed));
    let (shapes, names) = shapes(parsed, problems);
    let mut walls = settings::walls(parsed);
    for (i, wall) in walls.iter().enumerate() {
        problems
            .extend(wall.check().iter().map(|e| parsed.error_at(&format!("walls[{i}]"), e.problem.as_str(), e.remedy)));
    }
    // Walls of the scene, the ground, surfaces of bodies.
    let others = walls.len() + usize::from(scene.ground.is_some());
    let bodies = Bodies::of(parsed, shapes.len() - scene.bodies.len(), others, balls(parsed));
    let ground = ground::make(parsed, walls.len());
    let (bodies, mut ground, mut rock) = match (bodies, ground, ground::rock(parsed)) {
        (Ok(bodies), Ok(ground), Ok(rock)) if problems.is_empty() => (bodies, ground, rock),
        (bodies, ground, rock) => {
            problems.extend([bodies.err(), ground.err(), rock.err()].into_iter().flatten());
            return None;
        }
    };
    let coefficients = rock.as_ref().map_or(Ok(None), |r| ground::coefficients(parsed, r.bed().relief()));
    let coefficients = coefficients.unwrap_or_else(|problem| {
        problems.push(problem);
        None
    });
    let areas = release::areas(parsed, rock.as_ref().map(Rock::bed), problems);
    if !problems.is_empty() {
        return None;
    }
    let mut materials = settings::materials(scene);
    settings::set_strengths(parsed, &areas, &mut materials);
    materials.list.extend(continuum::materials(scene));
    let bed = ground::material(scene, coefficients.as_ref().map(|c| c.mu), &mut materials);
    walls.extend(ground.iter().map(|g| g.wall(bed)).chain(rock.iter().map(|r| snow::wall(parsed, r, bed))));
    walls.extend(bodies.walls.iter().cloned());
    let setup = Setup {
        gravity: scene.gravity,
        domain: settings::domain(&scene.domain),
        law: settings::law(&scene.contact),
        materials,
        shapes: shapes.into(),
        max_overlap: scene.integrator.max_overlap,
        fixtures: Fixtures { walls, carried: bodies.carried.clone() },
        areas,
    };
    let maker = populations::Maker { parsed, setup: &setup, names: &names };
    let recipes: Vec<Recipe> = (0..scene.grains.len()).map(|i| maker.of_grains(i)).collect();
    let poured: Vec<Recipe> = (0..scene.emitters.len()).map(|i| maker.of_emitter(i)).collect();

    let of_grains = |i: &usize| scene.emitters[*i].continuum.is_none();
    let all: Vec<&Recipe> = recipes.iter().chain((0..poured.len()).filter(of_grains).map(|i| &poured[i])).collect();
    let top_speed = timestep::top_speed(parsed, &all, &setup, &bodies);
    let derived = timestep::derive(&setup, &all, &bodies, top_speed);
    let slabs = match slabs::pieces(parsed) {
        Ok(pieces) => pieces,
        // It has been reported with the shapes.
        Err(_) => return None,
    };
    let of_bonds = [bonds::step(scene, &recipes, &setup.shapes), slabs::step(scene, &slabs)];
    let of_bonds = of_bonds.into_iter().flatten().reduce(|a, b| if b.dt < a.dt { b } else { a });
    let derived = match of_bonds {
        Some(of_bonds) if of_bonds.dt < derived.dt => of_bonds,
        _ => derived,
    };
    let (chosen, dt_reason) = timestep::choose(parsed, &derived).unwrap_or_else(|problem| {
        problems.push(problem);
        (derived.dt, String::new())
    });
    let of_contacts = StepWish { dt: chosen, fixed: true, reason: dt_reason };
    let wishes: Vec<StepWish> =
        methods.iter().map(|m| (m.wish)(scene).unwrap_or_else(|| of_contacts.clone())).collect();
    // One solver alone goes on with the step that its run began with.
    let kept = dt.filter(|_| wishes.len() == 1);
    let dt = dt.or_else(|| world_step(&wishes)).unwrap_or(chosen);
    let dt_reason = match &wishes[..] {
        [one] => one.reason.clone(),
        _ => "the longest that all solvers can use".into(),
    };
    let grain_step = StepWish { dt: kept.unwrap_or(chosen), ..of_contacts };
    if let Some(ground) = &mut ground {
        match ground::terms(parsed, &all, bodies.grains.len() as u32) {
            Ok(terms) => terms.into_iter().for_each(|t| ground.set_exchange(t)),
            Err(problem) => problems.push(problem),
        }
        ground.set_pressers(ground::pressers(scene, &setup, &bodies));
        ground.set_dt(dt);
    }
    let mut snow = Vec::new();
    if let Some(rock) = &mut rock {
        match snow::couplings(parsed, rock, scene.walls.len(), &all, bodies.grains.len() as u32, dt) {
            Ok(couplings) => snow = couplings,
            Err(problem) => problems.push(problem),
        }
        ground::drag(parsed, &all).into_iter().for_each(|d| rock.set_drag(d));
        coefficients.into_iter().for_each(|c| rock.set_coefficients(c.extra, c.xi));
        rock.set_dt(dt);
    }
    let sleep = settings::sleep(scene, &all);
    let meetings = impact::meetings(&setup, &all, &bodies, top_speed);
    let mut warnings = impact::warnings(parsed, &setup, &recipes, &poured, &bodies);
    let released = release::released(parsed, &setup, &recipes);
    let [too_coarse, coarse] = release::doubts(parsed, &setup.areas, &recipes);
    problems.extend(too_coarse);
    warnings.extend(coarse);
    let [blind, near_blind] = gaps::check(parsed, &setup, dt);
    problems.extend(blind);
    warnings.extend(near_blind);
    warnings.extend(phases::doubts(parsed));
    let (of_maps, narrow) = maps::check(parsed, &setup);
    problems.extend(of_maps);
    warnings.extend(narrow);

    let mut emitters = Vec::new();
    for (i, recipe) in poured.iter().enumerate() {
        let solver = match scene.emitters[i].continuum {
            Some(_) => continuum_of(methods),
            None => grains_of(methods),
        };
        match populations::pour(parsed, i, recipe.clone(), dt) {
            Ok(emitter) => emitters.push(Emitter { solver, ..emitter }),
            Err(problem) => problems.push(problem),
        }
    }
    let (rain, start): (Vec<_>, Vec<_>) =
        recipes.into_iter().enumerate().partition(|&(i, _)| populations::is_rain(&scene.grains[i]));
    emitters.extend(
        rain.into_iter()
            .map(|(i, recipe)| Emitter { solver: grains_of(methods), ..populations::rain(scene, i, recipe, dt) }),
    );
    let plan = Plan {
        name: parsed.name().into(),
        scene: scene_text(parsed),
        meshes: parsed.assets.files(scene),
        duration: scene.duration,
        dt,
        dt_reason,
        dt_limit: derived.limit,
        frames_every: scene.output.every,
        formats: scene.output.formats.clone(),
        checkpoint_every: scene.output.checkpoint,
        contacts: scene.output.contacts,
        stop: scene.stop.clone(),
    };
    Some(Parts {
        setup,
        bodies,
        ground,
        rock,
        slabs,
        snow,
        start,
        emitters,
        sleep,
        grain_step,
        plan,
        meetings,
        released,
        warnings,
    })
}

/// The text as it was written where it still says the same, comments and all; else the scene written out.
fn scene_text(parsed: &Parsed) -> String {
    match parsed.scene.to_toml() {
        Ok(text) if !parsed.is_as_written() => {
            format!("# Written out by barchan: the scene was changed on its way to the run.\n{text}")
        }
        _ => parsed.text().into(),
    }
}

/// Radii of the smallest and of the largest ball that may touch a body [m].
fn balls(parsed: &Parsed) -> [f64; 2] {
    let scene = &parsed.scene;
    let sizes = scene.grains.iter().map(|g| (&g.shape, &g.radius));
    let sizes = sizes.chain(scene.emitters.iter().map(|e| (&e.shape, &e.radius)));
    let listed = |shape: &String| parsed.assets.listed_radius(scene, shape);
    let ends = |s: &Size| [s.to_core().min(), s.to_core().max()];
    let grains = sizes.filter_map(|(shape, size)| size.as_ref().map(ends).or_else(|| listed(shape).map(|r| [r; 2])));
    let linings = parsed.assets.bodies.values().map(|solid| [solid.radius; 2]);
    grains.chain(linings).fold([f64::INFINITY, 0.0], |[least, most], [a, b]| [least.min(a), most.max(b)])
}

/// Shapes of the scene after the built-in ones, and their names by index; those of the bodies follow, without names.
pub(crate) fn shapes(parsed: &Parsed, problems: &mut Vec<Problem>) -> (Vec<Shape>, Vec<String>) {
    let mut shapes = vec![Shape::sphere()];
    let mut names = vec![ShapeSpec::SPHERE.to_string()];
    let built_in = (ShapeSpec::TETRAHEDRON.to_string(), ShapeSpec::Tetrahedron { edge: ShapeSpec::TETRAHEDRON_EDGE });
    let listed = parsed.scene.shapes.iter().map(|(name, spec)| (name.clone(), spec.clone()));
    for (name, spec) in std::iter::once(built_in).chain(listed) {
        match parsed.assets.described(&name, &spec) {
            Ok((shape, _)) => {
                shapes.push(shape);
                names.push(name);
            }
            Err(e) => problems.push(parsed.error_at(&format!("shapes.{name}"), e.to_string(), "")),
        }
    }
    match slabs::pieces(parsed) {
        Ok(slabs) => {
            for piece in slabs.into_iter().flatten() {
                names.push(piece.shape.name().to_string());
                shapes.push(piece.shape);
            }
        }
        Err(problem) => problems.push(problem),
    }
    // One that was not read is refused later; here it only keeps its place.
    let solid = |i: usize| parsed.assets.bodies.get(&i).map_or_else(Shape::sphere, |s| (*s.shape).clone());
    shapes.extend((0..parsed.scene.bodies.len()).map(solid));
    (shapes, names)
}

fn sinks(scene: &Scene) -> Vec<Sink> {
    let mouth = |region: &SinkRegion| match region {
        SinkRegion::Half(HalfSpace::Below { point, normal }) => Mouth::Below(*point, normal.normalize_or(DVec3::Z)),
        SinkRegion::Region(region) => Mouth::Region(region.to_core()),
    };
    scene.sinks.iter().map(|s| Sink::new(s.name.clone(), mouth(&s.region))).collect()
}
