//! What is left out of a scene and follows from the rest of it: names, the first material, the ground's corners, times between frames.

use crate::types::*;
use glam::DVec2;

/// Fills in what follows from other tables. What could not be read has been reported, and is filled in likewise.
pub(super) fn complete(scene: &mut Scene) {
    let first = scene.materials.keys().next().cloned().unwrap_or_default();
    number(scene.grains.iter_mut().map(|g| &mut g.name), "grains");
    number(scene.continuum.iter_mut().map(|m| &mut m.name), "continuum");
    for m in &mut scene.continuum {
        let of = m.material.as_ref().and_then(|name| scene.materials.get(name));
        m.complete(of);
    }
    number(scene.emitters.iter_mut().map(|e| &mut e.name), "emitter");
    number(scene.sinks.iter_mut().map(|s| &mut s.name), "sink");
    number(scene.walls.iter_mut().map(|w| &mut w.name), "wall");
    number(scene.slabs.iter_mut().map(|s| &mut s.name), "slab");
    number(scene.bodies.iter_mut().map(|b| &mut b.name), "body");
    scene.bodies.iter_mut().filter(|b| b.material.is_empty()).for_each(|b| b.material.clone_from(&first));
    if let Some(g) = &mut scene.ground {
        let or = |corner: DVec2, other: DVec2| if corner.is_nan() { other } else { corner };
        (g.min, g.max) = (or(g.min, scene.domain.min.truncate()), or(g.max, scene.domain.max.truncate()));
        g.floor = if g.floor.is_nan() { scene.domain.min.z } else { g.floor };
        if g.material.is_empty() {
            g.material = first;
        }
    }
    let output = &mut scene.output;
    output.every = if output.every.is_nan() { Output::for_duration(scene.duration).every } else { output.every };
    for m in scene.measure.iter_mut().filter(|m| m.every.is_nan()) {
        m.every = scene.output.every;
    }
    name_measures(&mut scene.measure);
}

/// Numbers those without a name: `wall 1`, `wall 2`, …
fn number<'a>(names: impl Iterator<Item = &'a mut String>, of: &str) {
    for (i, name) in names.enumerate().filter(|(_, n)| n.is_empty()) {
        *name = format!("{of} {}", i + 1);
    }
}

/// Gives measurements without a name their key, numbered from the second on.
fn name_measures(list: &mut [Measure]) {
    for i in 0..list.len() {
        if list[i].name.is_empty() {
            let key = list[i].what.key();
            let taken = |name: &str| list.iter().any(|m| m.name == name);
            let mut name = key.to_owned();
            let mut n = 2;
            while taken(&name) {
                name = format!("{key} {n}");
                n += 1;
            }
            list[i].name = name;
        }
    }
}
