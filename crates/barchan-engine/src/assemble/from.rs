//! A world that begins with the state of another run, under a scene of its own.
//!
//! Where nothing that matters to the state was changed, the state is taken over as it is, and the run goes on bit for bit. Else materials, shapes and
//! walls are found by their names, velocities are brought to the new step, and contacts remember what they did, but for those with
//! walls that were changed. What cannot be taken over is named: as an error where matter would be lost, else as a note.

use super::{Begun, Method, SceneErrors, bonds, device, grains_of, parts, place, restore_as, settings, shapes, world};
use crate::checkpoint::{Checkpoint, CheckpointError};
use crate::meshes;
use crate::sinks::Tally;
use crate::world::World;
use barchan_core::columns::{Column, Saved};
use barchan_core::frame::GRAINS;
use barchan_core::shapes::Shape;
use barchan_dem::{Dem, Integrator, Translation};
use barchan_io::atomic::FileError;
use barchan_scene::{Output, Parsed, Picture, Precision, Scene};
use std::path::{Path, PathBuf};

/// Why a world cannot begin from a run.
#[derive(Debug, thiserror::Error)]
pub enum FromError {
    /// The run's folder cannot be read.
    #[error("{} holds no run to begin from: {what}", folder.display())]
    NoRun {
        /// The folder.
        folder: PathBuf,
        /// What is missing.
        what: String,
    },
    /// Its checkpoint cannot be read.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    /// A file cannot be read.
    #[error(transparent)]
    File(#[from] FileError),
    /// The old scene, or the new one, has errors.
    #[error("{0}")]
    Scene(SceneErrors),
    /// What the new scene has no place for.
    #[error("the state of {} cannot be taken over:\n{}", folder.display(), lacks.iter().map(|l| format!("  {l}")).collect::<Vec<_>>().join("\n"))]
    Lacks {
        /// The run.
        folder: PathBuf,
        /// What, and the remedy.
        lacks: Vec<String>,
    },
}

/// The scene without what the state does not depend on.
fn essence(scene: &Scene) -> Scene {
    Scene {
        title: String::new(),
        about: String::new(),
        duration: 0.0,
        output: Output::for_duration(1.0),
        picture: Picture::default(),
        measure: Vec::new(),
        stop: None,
        device: Default::default(),
        ..scene.clone()
    }
}

/// The world of a scene, with the state of a run: of the newest checkpoint in a folder, or of a named one.
pub fn begin_from(parsed: &Parsed, source: &Path) -> Result<Begun, FromError> {
    let (folder, file) = match source.is_file() {
        true => (source.parent().unwrap_or(Path::new("")), Some(source)),
        false => (source, None),
    };
    let no_run = |what: String| FromError::NoRun { folder: folder.into(), what };
    let text = std::fs::read_to_string(folder.join("scene.toml")).map_err(|e| no_run(format!("scene.toml: {e}")))?;
    let checkpoint = match file {
        Some(file) => Checkpoint::read(file)?,
        None => Checkpoint::newest(folder)?,
    };
    let old = meshes::load(&text, "scene.toml", folder).map_err(FromError::Scene)?;
    // The state goes on where it was computed; `run --resume FOLDER --device` takes it to another device.
    let mut parsed = parsed.clone();
    parsed.scene.device = device::device_of(&checkpoint);
    let parsed = &parsed;
    let methods = super::methods_on(&parsed.scene);
    if essence(&old.scene) == essence(&parsed.scene) {
        let mut world = restore_as(parsed, &checkpoint, &methods, false)?.map_err(FromError::Scene)?;
        take_measurements(&mut world, &old, parsed, &checkpoint);
        return Ok(Begun { world, notes: Vec::new() });
    }
    if methods.iter().any(|m| m.name != GRAINS) || checkpoint.column(&format!("{GRAINS}/counters")).is_none() {
        let lacks =
            vec!["only grains computed by the processor begin under another scene: leave the scene as it was".into()];
        return Err(FromError::Lacks { folder: folder.into(), lacks });
    }
    changed(parsed, &old, &checkpoint, &methods, folder)
}

/// Index among the new of each of the old, by name.
fn by_name<'n>(old: impl Iterator<Item = &'n str>, new: &[&str]) -> Vec<Option<u16>> {
    old.map(|name| new.iter().position(|n| *n == name).map(|i| i as u16)).collect()
}

fn changed(
    parsed: &Parsed,
    old: &Parsed,
    from: &Checkpoint,
    methods: &[&Method],
    folder: &Path,
) -> Result<Begun, FromError> {
    let (scene, before) = (&parsed.scene, &old.scene);
    let (mut lacks, mut notes) = (Vec::new(), Vec::new());
    // Populations that the old run had are its grains; others are placed in addition.
    let mut problems = Vec::new();
    let ready = parts(parsed, methods, None, &mut problems).filter(|_| problems.is_empty());
    let Some(mut ready) = ready else { return Err(FromError::Scene(SceneErrors::new(parsed.name(), problems))) };
    ready.start.retain(|(i, _)| before.grains.iter().all(|g| g.name != scene.grains[*i].name));
    let (setup, bodies, start) = (ready.setup.clone(), ready.bodies.clone(), ready.start.clone());
    let mut world = world(parsed, ready, methods).map_err(FromError::Scene)?;

    let saved = Saved(&|name| from.column(&format!("{GRAINS}/{name}")));
    let used = |column: &str| {
        let mut all = saved.u32s(column).unwrap_or_default();
        all.sort_unstable();
        all.dedup();
        all
    };
    let new_materials: Vec<&str> = scene.materials.keys().map(String::as_str).collect();
    let materials = by_name(before.materials.keys().map(String::as_str), &new_materials);
    for m in used("material") {
        if materials.get(m as usize).copied().flatten().is_none() {
            let name = before.materials.get_index(m as usize).map_or("ground", |m| m.0.as_str());
            lacks.push(format!("it has grains of `{name}`: add a `[materials.{name}]`"));
        }
    }
    let density =
        before.materials.iter().map(|(name, m)| scene.materials.get(name).map_or(1.0, |new| new.density / m.density));
    let density: Vec<f64> = density.collect();
    let ((old_shapes, old_names), (new_shapes, new_names)) =
        (shapes(old, &mut Vec::new()), shapes(parsed, &mut Vec::new()));
    let same_shape =
        |a: &Shape, b: &Shape| a.spheres() == b.spheres() && a.volume() == b.volume() && a.inertia() == b.inertia();
    let grain_shapes = new_names.len();
    let shape_of = |s: usize| -> Option<u16> {
        match old_names.get(s) {
            Some(name) => {
                let new = new_names.iter().position(|n| n == name)?;
                same_shape(&old_shapes[s], &new_shapes[new]).then_some(new as u16)
            }
            // Shapes of bodies follow those of grains.
            None => {
                let new = grain_shapes + s - old_names.len();
                let there = new_shapes.get(new).is_some_and(|n| same_shape(&old_shapes[s], n));
                there.then_some(new as u16)
            }
        }
    };
    let shapes: Vec<Option<u16>> = (0..old_shapes.len()).map(shape_of).collect();
    for s in used("shape") {
        if shapes.get(s as usize).copied().flatten().is_none() {
            let name = old_names.get(s as usize).map_or("a body", String::as_str);
            lacks.push(format!(
                "it has grains of the shape `{name}`, which is gone or another one: leave `{name}` as it was"
            ));
        }
    }
    let names = |s: &Scene| s.bodies.iter().map(|b| (b.name.clone(), b.at.len())).collect::<Vec<_>>();
    if names(before) != names(scene) {
        lacks.push("its bodies are others: bodies are neither added nor removed".into());
    }
    match (&before.ground, &scene.ground) {
        (Some(_), None) => lacks.push("it has a ground: leave the `[ground]` as it was".into()),
        (Some(a), Some(b)) if a.exchange.is_some() != b.exchange.is_some() => {
            notes.push("the exchange of grains and ground is another".into());
        }
        _ => {}
    }
    let (old_walls, new_walls) = (settings::walls(old), settings::walls(parsed));
    let wall_names: Vec<&str> = new_walls.iter().map(|w| w.name.as_str()).collect();
    let found = by_name(old_walls.iter().map(|w| w.name.as_str()), &wall_names);
    let mut walls: Vec<Option<u16>> = Vec::new();
    for (was, now) in old_walls.iter().zip(&found) {
        let same = now.is_some_and(|n| {
            let n = &new_walls[usize::from(n)];
            n.geometry == was.geometry && n.rough == was.rough
        });
        if now.is_none() {
            notes.push(format!("the wall `{}` is gone", was.name));
        } else if !same {
            notes.push(format!("the wall `{}` is another: contacts with it begin anew", was.name));
        }
        walls.push(now.filter(|_| same));
    }
    // The ground, rock and surfaces of bodies follow the walls of the scene, as many as before.
    let (fixed_old, fixed_new) = (old_walls.len(), new_walls.len());
    let others = world.boundary.walls().len() - fixed_new;
    walls.extend((0..others).map(|k| Some((fixed_new + k) as u16)));
    if !lacks.is_empty() {
        return Err(FromError::Lacks { folder: folder.into(), lacks });
    }

    let (old_dt, old_steps) = (from.f64s("world/dt", 1)?[0], from.u64s("world/steps", 1)?[0]);
    let (dt, time) = (world.plan().dt, old_steps as f64 * old_dt);
    let steps = (time / dt).round() as u64;
    if dt != old_dt {
        notes.push(format!("the time step is {dt:.3e} s in place of {old_dt:.3e} s"));
    }
    let lag = |s: &Scene, dt: f64| {
        if settings::integrator(&s.integrator) == Integrator::VelocityVerlet { 0.5 * dt } else { 0.0 }
    };
    let translation = Translation {
        materials,
        density,
        shapes,
        walls,
        wall_count: world.boundary.walls().len(),
        bodies: bodies.grains.len() as u32,
        lag: [lag(before, old_dt), lag(scene, dt)],
        gravity: [before.gravity, scene.gravity],
        steps,
        precision: if scene.integrator.precision == Precision::Mixed { 4 } else { 8 },
        rolling: setup.materials.resist_rolling(),
    };
    world.steps = steps;
    let unfit = |what: String| from.unfit(what);
    let own = world.boundary.save();
    let boundary = |name: &str| -> Option<Column> {
        let own = own.iter().find(|c| c.0 == name).map(|c| c.1.clone());
        match (name, from.column(&format!("boundary/{name}")), own) {
            ("walls", Some(Column::F64(was)), Some(Column::F64(mut now))) => {
                let row = now.len() / translation.wall_count.max(1);
                let kept = found.iter().enumerate().filter_map(|(o, n)| Some((o, usize::from((*n)?))));
                for (o, n) in kept.chain((0..others).map(|k| (fixed_old + k, fixed_new + k))) {
                    if let Some(numbers) = was.get(o * row..(o + 1) * row) {
                        now[n * row..(n + 1) * row].copy_from_slice(numbers);
                    }
                }
                Some(Column::F64(now))
            }
            ("walls", _, own) => own,
            (_, was, _) => was,
        }
    };
    world.boundary.load(Saved(&boundary)).map_err(|e| unfit(e.0))?;
    // Walls stand where their motions have them; what answers to forces stays where it was.
    world.boundary.advance(steps as f64 * dt, dt);
    for coupling in &mut world.couplings {
        let owner = coupling.name();
        let column = |name: &str| from.column(&format!("{owner}/{name}"));
        if before.ground.is_some() {
            let loaded = coupling.load(Saved(&column), &mut world.boundary);
            loaded.map_err(|e| unfit(format!("{owner}: {e}; leave the ground as it was")))?;
        }
    }
    let grains_at = grains_of(methods);
    let solver = world.solvers.get_mut(grains_at);
    solver.load(Saved(&|name| translation.column(saved, name)), &world.boundary).map_err(|e| unfit(e.to_string()))?;
    if let Some(domain) = world.solvers.iter().find_map(|s| s.domain()) {
        world.domain = domain;
    }
    take_tallies(&mut world, before, from);
    take_measurements(&mut world, old, parsed, from);

    // What is new is placed clear of what is there.
    let mut there = Vec::new();
    world.solvers.get(grains_at).balls(&mut |x, r| there.push((x, r)));
    let placed = place::place_beside(parsed, &setup, &bodies, &start, there);
    let placed = placed.map_err(|p| FromError::Scene(SceneErrors::new(parsed.name(), p)))?;
    for ((i, _), population) in start.iter().zip(&placed) {
        let first =
            world.solvers.get_mut(grains_at).add(population, &world.boundary).map_err(|e| unfit(e.to_string()))?;
        super::name_and_fix(parsed, *i, first, population.len(), &mut world.solvers).map_err(FromError::Scene)?;
        if let (Some(b), Some(dem)) = (&scene.grains[*i].bonds, world.solvers.find_mut::<Dem>()) {
            bonds::tie(b, scene.seed, population, first, &world.boundary, dem);
        }
        notes.push(format!("{} grains of `{}` come in addition", population.len(), scene.grains[*i].name));
    }
    for g in before.grains.iter().filter(|g| scene.grains.iter().all(|n| n.name != g.name)) {
        notes.push(format!("the grains of `{}` are taken over, though the scene names no such population", g.name));
    }
    world.observe();
    Ok(Begun { world, notes })
}

/// What emitters have brought and sinks have taken, by their names. An emitter that is new pours from the beginning of its own time on.
fn take_tallies(world: &mut World, before: &Scene, from: &Checkpoint) {
    let (Some(Column::U64(grains)), Some(Column::F64(mass))) = (from.column("world/grains"), from.column("world/mass"))
    else {
        return;
    };
    let rain = |g: &&barchan_scene::Grains| super::populations::is_rain(g);
    let emitters = before.emitters.iter().map(|e| &e.name).chain(before.grains.iter().filter(rain).map(|g| &g.name));
    let names: Vec<&String> = emitters.chain(before.sinks.iter().map(|s| &s.name)).collect();
    let tally = |k: usize| Some(Tally { grains: *grains.get(k)?, mass: *mass.get(k)? });
    for emitter in &mut world.emitters {
        if let Some(tally) = names.iter().position(|n| **n == emitter.name).and_then(tally) {
            emitter.tally = tally;
        }
    }
    let first_sink = names.len() - before.sinks.len();
    for sink in &mut world.sinks {
        if let Some(tally) = before.sinks.iter().position(|s| s.name == sink.name()).and_then(|k| tally(first_sink + k))
        {
            sink.set_tally(tally);
        }
    }
    world.left = tally(names.len()).unwrap_or_default();
}

/// What measurements of the same name and keys have gathered.
fn take_measurements(world: &mut World, old: &Parsed, new: &Parsed, from: &Checkpoint) {
    for (n, m) in world.measurements.iter_mut().enumerate() {
        let was = old.scene.measure.iter().position(|o| o.name == m.name && o.what == new.scene.measure[n].what);
        if let Some(i) = was {
            // One that does not fit begins anew.
            let _ = m.observer.load(&|name: &str| from.column(&format!("measure/{i}/{name}")));
        }
    }
}
