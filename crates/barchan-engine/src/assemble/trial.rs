//! What assembling would have to say of a scene that has errors already: all problems are to come in one go.
//!
//! Tables with errors are replaced by such as change nothing (a population of no grains, a wall far away), so that places in the scene stay;
//! then the scene is made ready as any other, and what is wrong is added. Where the errors are in what everything depends on (domain,
//! materials, laws, shapes) there is nothing to try.

use super::{matter, methods};
use barchan_scene::{
    Assets, At, Domain, Emitter, EmitterDisc, EmitterFlow, Geometry, Grains, Parsed, Place, SceneErrors, ShapeSpec,
    Size, Wall,
};
use glam::DVec3;
use std::sync::Arc;

/// Tables that all matter depends on.
const BASIC: [&str; 7] = ["domain", "gravity", "materials", "pairs", "contact", "shapes", "integrator"];

/// The errors of a scene, with those that assembling what is sound of it would find.
pub(crate) fn further(parsed: Parsed, known: SceneErrors) -> SceneErrors {
    let begins = |path: &str, table: &str| {
        path.strip_prefix(table).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
    };
    let struck = |table: &str| known.errors().any(|p| begins(&p.path, table));
    let own_step = |path: &str| path == "integrator.dt";
    let basic = |path: &str| path.is_empty() || BASIC.iter().any(|table| begins(path, table)) && !own_step(path);
    if known.errors().any(|p| basic(&p.path)) || parsed.scene.materials.is_empty() {
        return known;
    }
    let mut trial = parsed;
    let scene = &mut trial.scene;
    let mut assets: Assets = (*trial.assets).clone();
    if struck("integrator.dt") {
        scene.integrator.dt = None;
    }
    if struck("duration") {
        scene.duration = 1.0;
    }
    let material = scene.materials.keys().next().cloned().unwrap_or_default();
    let domain = scene.domain.clone();
    for (i, g) in scene.grains.iter_mut().enumerate().filter(|(i, _)| struck(&format!("grains[{i}]"))) {
        *g = nobody(&domain, &material, format!("grains {}", i + 1));
    }
    for (i, e) in scene.emitters.iter_mut().enumerate().filter(|(i, _)| struck(&format!("emitters[{i}]"))) {
        *e = dry(&domain, &material, format!("emitter {}", i + 1));
    }
    for (i, w) in scene.walls.iter_mut().enumerate().filter(|(i, _)| struck(&format!("walls[{i}]"))) {
        *w = away(&domain, &material, format!("wall {}", i + 1));
    }
    for (_, b) in scene.bodies.iter_mut().enumerate().filter(|(i, _)| struck(&format!("bodies[{i}]"))) {
        b.at.clear();
        b.material.clone_from(&material);
    }
    if struck("continuum") || struck("air") {
        // What an emitter pours must be there.
        (scene.air, scene.continuum) = (None, Vec::new());
        scene.emitters.retain(|e| e.continuum.is_none());
    }
    if struck("cell") {
        scene.cell = None;
    }
    if struck("ground") {
        (scene.ground, assets.heights) = (None, None);
        // Nothing can be released where there is no rock.
        for (i, g) in scene.grains.iter_mut().enumerate().filter(|(_, g)| matches!(g.place, Place::Release(_))) {
            *g = nobody(&domain, &material, format!("grains {}", i + 1));
        }
    }
    // Grains of a shape, or on a ground, that is not there cannot be tried.
    trial.assets = Arc::new(assets);
    let found = matter(&trial, &methods(&trial.scene)).err().map_or_else(Vec::new, |e| e.problems);
    let name = known.name.clone();
    SceneErrors::new(name, known.problems.into_iter().chain(found).collect())
}

/// A length larger than all [m].
fn far(domain: &Domain) -> f64 {
    (domain.max - domain.min).length()
}

/// A population without a grain, whose size is nobody's concern.
fn nobody(domain: &Domain, material: &str, name: String) -> Grains {
    Grains {
        name,
        material: material.into(),
        shape: ShapeSpec::SPHERE.into(),
        radius: Some(Size::Fixed(far(domain))),
        place: Place::At(At::List(Vec::new())),
        turn: None,
        velocity: DVec3::ZERO,
        spin: DVec3::ZERO,
        velocity_spread: 0.0,
        velocity_field: Vec::new(),
        fixed: false,
        bonds: None,
    }
}

/// An emitter that pours next to nothing.
fn dry(domain: &Domain, material: &str, name: String) -> Emitter {
    let radius = far(domain);
    Emitter {
        name,
        continuum: None,
        phase: barchan_scene::PhaseName::Liquid,
        material: material.into(),
        shape: ShapeSpec::SPHERE.into(),
        radius: Some(Size::Fixed(radius)),
        disc: EmitterDisc { centre: domain.max, normal: DVec3::Z, radius: 2.0 * radius },
        flow: EmitterFlow::Rate(f64::MIN_POSITIVE),
        velocity: DVec3::Z,
        from: 0.0,
        until: None,
        count: Some(0),
    }
}

/// A wall where nothing is.
fn away(domain: &Domain, material: &str, name: String) -> Wall {
    Wall {
        name,
        material: material.into(),
        geometry: Geometry::Plane { point: domain.min - DVec3::splat(10.0 * far(domain)), normal: DVec3::ONE },
        rough: None,
        velocity: DVec3::ZERO,
        rotate: None,
        oscillate: None,
        keyframes: Vec::new(),
        drive: None,
        servo: None,
        belt: None,
        from: None,
        until: None,
    }
}
