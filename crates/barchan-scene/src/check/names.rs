//! References and duplicates.

use super::Check;
use crate::read::{listing, nearest};
use crate::types::{Emitter, ShapeSpec};

/// What lies in the folder of a run besides its measurements, without extensions.
const RESERVED: [&str; 6] = ["frames", "run", "scene", "meshes", "checkpoint", "checkpoints"];

pub(super) fn check(c: &mut Check) {
    let scene = c.scene;
    for (i, g) in scene.grains.iter().enumerate() {
        material(c, format!("grains[{i}].material"), &g.material);
        shape(c, format!("grains[{i}].shape"), &g.shape);
    }
    for (i, m) in scene.continuum.iter().enumerate() {
        material(c, format!("continuum[{i}].material"), m.material.as_deref().unwrap_or_default());
    }
    for (i, e) in scene.emitters.iter().enumerate() {
        continuum(c, i, e);
    }
    for (i, e) in scene.emitters.iter().enumerate().filter(|(_, e)| e.continuum.is_none()) {
        material(c, format!("emitters[{i}].material"), &e.material);
        shape(c, format!("emitters[{i}].shape"), &e.shape);
    }
    for (i, w) in scene.walls.iter().enumerate() {
        material(c, format!("walls[{i}].material"), &w.material);
    }
    if let Some(g) = &scene.ground {
        material(c, "ground.material".into(), &g.material);
    }
    for (i, s) in scene.slabs.iter().enumerate() {
        material(c, format!("slabs[{i}].material"), &s.material);
    }
    for (i, b) in scene.bodies.iter().enumerate() {
        material(c, format!("bodies[{i}].material"), &b.material);
    }
    for (i, p) in scene.pairs.iter().enumerate() {
        for (k, name) in p.between.iter().enumerate() {
            material(c, format!("pairs[{i}].between[{k}]"), name);
        }
        let same = |q: &[String; 2]| *q == p.between || (q[0] == p.between[1] && q[1] == p.between[0]);
        if !p.between[0].is_empty() && scene.pairs[..i].iter().any(|q| same(&q.between)) {
            let message = format!("the pair `{}` and `{}` is described twice", p.between[0], p.between[1]);
            c.error(format!("pairs[{i}].between"), message, "join the two `[[pairs]]`");
        }
    }
    for name in [ShapeSpec::SPHERE, ShapeSpec::TETRAHEDRON] {
        if scene.shapes.contains_key(name) {
            c.error(format!("shapes.{name}"), format!("`{name}` is a built-in shape"), "choose another name");
        }
    }
    // Populations and emitters share a name space: both are counted by name in the outputs.
    let sources = scene.grains.iter().enumerate().map(|(i, g)| (format!("grains[{i}]"), g.name.as_str()));
    let emitters = scene.emitters.iter().enumerate().map(|(i, e)| (format!("emitters[{i}]"), e.name.as_str()));
    let continua = scene.continuum.iter().enumerate().map(|(i, m)| (format!("continuum[{i}]"), m.name.as_str()));
    let slabs = scene.slabs.iter().enumerate().map(|(i, s)| (format!("slabs[{i}]"), s.name.as_str()));
    unique(c, sources.chain(continua).chain(emitters).chain(slabs).collect());
    // So do the ground, walls and bodies, which messages call by name.
    let walls = scene.walls.iter().enumerate().map(|(i, w)| (format!("walls[{i}]"), w.name.as_str()));
    let bodies = scene.bodies.iter().enumerate().map(|(i, b)| (format!("bodies[{i}]"), b.name.as_str()));
    let ground = scene.ground.iter().map(|_| (String::new(), "ground"));
    unique(c, ground.chain(walls).chain(bodies).collect());
    unique(c, scene.sinks.iter().enumerate().map(|(i, s)| (format!("sinks[{i}]"), s.name.as_str())).collect());
    unique(c, scene.measure.iter().enumerate().map(|(i, m)| (format!("measure[{i}]"), m.name.as_str())).collect());
    for (i, m) in scene.measure.iter().enumerate() {
        if m.name.contains(['/', '\\', ':', '\0']) || m.name.starts_with('.') {
            let message = format!("`{}` cannot name a file", m.name);
            c.error(format!("measure[{i}].name"), message, "use letters, digits, spaces, `-` and `_`");
        }
        // Names of the run's own files and folders, also where capitals do not count.
        if RESERVED.contains(&m.name.to_lowercase().as_str()) {
            let message = format!("the run keeps its own files under the name `{}`", m.name);
            c.error(format!("measure[{i}].name"), message, format!("choose another, such as `{}-measured`", m.name));
        }
    }
    if scene.grains.is_empty()
        && scene.continuum.is_empty()
        && scene.emitters.is_empty()
        && scene.bodies.is_empty()
        && scene.ground.is_none()
        && scene.slabs.is_empty()
    {
        c.error(
            "",
            "the scene has no grains",
            "add a `[[grains]]`, a `[[continuum]]`, an `[[emitters]]` or a `[[bodies]]`",
        );
    }
}

fn material(c: &mut Check, path: String, name: &str) {
    let materials = &c.scene.materials;
    if name.is_empty() || materials.contains_key(name) {
        return; // an empty name could not be read and has been reported
    }
    let known = || materials.keys().map(String::as_str);
    let help = match nearest(name, known()) {
        Some(near) => format!("did you mean `{near}`?"),
        None if materials.is_empty() => format!("add a `[materials.{name}]`"),
        None => format!("add a `[materials.{name}]`, or use {}", listing(known())),
    };
    c.error(path, format!("there is no material `{name}`"), help);
}

/// What an emitter pours, where it is not grains.
fn continuum(c: &mut Check, i: usize, e: &Emitter) {
    let Some(name) = &e.continuum else { return };
    let known = || c.scene.continuum.iter().map(|m| m.name.as_str());
    if !known().any(|n| n == name) {
        let help = match nearest(name, known()) {
            Some(near) => format!("did you mean `{near}`?"),
            None if c.scene.continuum.is_empty() => {
                "add a `[[continuum]]`, or pour grains: give `material` and `radius`".into()
            }
            None => format!("use {}", listing(known())),
        };
        c.error(format!("emitters[{i}].continuum"), format!("there is no continuum `{name}`"), help);
    }
    for (key, given) in [("radius", e.radius.is_some()), ("shape", e.shape != ShapeSpec::SPHERE)] {
        if given {
            let message = format!("a continuum has no `{key}`");
            c.error(format!("emitters[{i}].{key}"), message, "leave it out: its particles have their spacing");
        }
    }
}

fn shape(c: &mut Check, path: String, name: &str) {
    let builtin = [ShapeSpec::SPHERE, ShapeSpec::TETRAHEDRON];
    if name.is_empty() || builtin.contains(&name) || c.scene.shapes.contains_key(name) {
        return;
    }
    let known = || builtin.into_iter().chain(c.scene.shapes.keys().map(String::as_str));
    let help = match nearest(name, known()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("add a `[shapes.{name}]`, or use {}", listing(known())),
    };
    c.error(path, format!("there is no shape `{name}`"), help);
}

fn unique(c: &mut Check, names: Vec<(String, &str)>) {
    for (i, (path, name)) in names.iter().enumerate() {
        if !name.is_empty() && names[..i].iter().any(|n| n.1 == *name) {
            c.error(format!("{path}.name"), format!("the name `{name}` is used twice"), "give each its own name");
        }
    }
}
