//! The bench: packings, fixed grains, belts, servos that follow walls, liquid, strained cells, changes in time, the end of a run.

use super::{Check, show};
use crate::types::*;

pub(super) fn check(c: &mut Check) {
    let scene = c.scene;
    for (i, g) in scene.grains.iter().enumerate() {
        grains(c, i, g);
    }
    for (i, w) in scene.walls.iter().enumerate() {
        wall(c, i, w);
    }
    if let Some(cell) = &scene.cell {
        strained(c, cell);
    }
    if let Some(liquid) = &scene.liquid {
        wet(c, liquid);
    }
    for (i, change) in scene.changes.iter().enumerate() {
        changes(c, &format!("changes[{i}]"), change);
    }
    if let Some(stop) = &scene.stop {
        ends(c, stop);
    }
}

fn grains(c: &mut Check, i: usize, g: &Grains) {
    let path = format!("grains[{i}]");
    let field = &g.velocity_field;
    if !field.is_empty() && field.len() != 3 {
        let message = format!("a velocity has three components, not {}", field.len());
        c.error(
            format!("{path}.velocity_field"),
            message,
            "write three formulas, such as [\"-10*y\", \"10*x\", \"0\"]",
        );
    }
    if g.fixed {
        let moves = g.velocity != glam::DVec3::ZERO
            || g.velocity_spread > 0.0
            || g.spin != glam::DVec3::ZERO
            || !field.is_empty();
        if moves {
            let help = "leave out `velocity`, `spin` and `velocity_spread`, or `fixed`";
            c.error(format!("{path}.fixed"), "grains that are fixed do not move", help);
        }
        if matches!(&g.place, Place::Fill(f) if f.method == FillMethod::Rain) {
            c.error(format!("{path}.fixed"), "grains that are fixed cannot rain in", "place them at the start");
        }
        if c.scene.ground.as_ref().is_some_and(|g| g.exchange.is_some()) {
            let help = "leave out `[ground.exchange]`, or `fixed`";
            c.error(format!("{path}.fixed"), "grains that are fixed cannot become ground", help);
        }
    }
    match &g.place {
        Place::At(At::Line(line)) if line.count > 1 && line.from == line.to => {
            c.error(format!("{path}.at.to"), "the line has no length", "give two different ends");
        }
        Place::At(At::File(file)) => packing(c, &path, i, g, file),
        Place::Fill(fill) if fill.hole > 0.0 => match &fill.region {
            Region::Cylinder { radius, .. } if fill.hole < *radius => {}
            Region::Cylinder { radius, .. } => {
                let message =
                    format!("the hole ({}) takes the whole cylinder ({})", show(fill.hole, "m"), show(*radius, "m"));
                c.error(format!("{path}.fill.hole"), message, "make the hole smaller than the cylinder");
            }
            _ => c.error(
                format!("{path}.fill.hole"),
                "only a `cylinder` can have a hole",
                "fill a `cylinder`, or leave out `hole`",
            ),
        },
        _ => {}
    }
    if let Place::Fill(fill) = &g.place
        && fill.method == FillMethod::Rain
        && (fill.hole > 0.0 || fill.within.is_some())
    {
        let help = "use the method `lattice` or `random`, or leave out `hole` and `within`";
        c.error(format!("{path}.fill.method"), "rain falls into the whole region", help);
    }
}

/// A population from a file.
fn packing(c: &mut Check, path: &str, i: usize, g: &Grains, file: &PackedFile) {
    for (k, name) in file.materials.iter().enumerate() {
        if !c.scene.materials.contains_key(name) {
            let help = format!("add a `[materials.{name}]`, or name one of the scene's");
            c.error(format!("{path}.at.materials[{k}]"), format!("there is no material `{name}`"), help);
        }
    }
    if g.shape != ShapeSpec::SPHERE {
        let help = "leave out `shape`; to go on with clumps, begin from their run: `barchan run NEW --from FOLDER`";
        c.error(format!("{path}.shape"), "a packing from a file is made of spheres", help);
    }
    let Some(packing) = c.assets.packings.get(&i) else { return };
    if packing.grains.radius.is_empty() && g.radius.is_none() {
        let help = "add `radius`, which all of them then have";
        c.error(format!("{path}.radius"), "the file does not say how large its grains are", help);
    }
    if !packing.grains.radius.is_empty() && g.radius.is_some() && c.given(&format!("{path}.radius")) {
        c.error(format!("{path}.radius"), "the file says how large its grains are", "leave out `radius`");
    }
    if let Err(name) = packing.materials(c.scene, file) {
        let help = format!("add a `[materials.{name}]`, or say what the file's types are: `materials = [\"…\"]`");
        c.error(
            format!("{path}.at"),
            format!("the file has grains of `{name}`, which is no material of the scene"),
            help,
        );
    }
    let (domain, periodic) = (&c.scene.domain, c.scene.domain.is_periodic());
    let out = |x: &glam::DVec3| (0..3).any(|k| !periodic[k] && (x[k] < domain.min[k] || x[k] > domain.max[k]));
    let outside = packing.grains.position.iter().filter(|x| out(x)).count();
    if outside > 0 {
        let message = format!("{outside} of {} grains of the file lie outside the domain", packing.grains.len());
        c.error(format!("{path}.at"), message, "enlarge the domain, or move the packing with `shift` and `scale`");
    }
}

fn wall(c: &mut Check, i: usize, w: &Wall) {
    let path = format!("walls[{i}]");
    if w.belt.is_some() && w.rough.is_some() {
        let help = "leave out `rough`, or move the wall itself";
        c.error(format!("{path}.belt"), "the bumps of a rough wall do not run along with its surface", help);
    }
    if w.belt.is_some() && c.scene.continuum.iter().any(|m| m.method == ContinuumMethod::Phases) {
        c.error(
            format!("{path}.belt"),
            "a continuum in phases does not see belts",
            "use `method = \"sph\"`, or grains",
        );
    }
    let Some(servo) = &w.servo else { return };
    let at = format!("{path}.servo");
    match (servo.area, servo.between.len()) {
        (Some(_), 0) => {}
        (None, 0) => {
            c.error(&at, "the servo has no area", "add `area = \"4 cm2\"`, or the walls that bound it: `between`")
        }
        (Some(_), _) => {
            c.error(format!("{at}.area"), "`area` and `between` cannot both be given", "keep one of the two")
        }
        (None, 1) => {
            let periodic = c.scene.domain.periodic.len();
            if periodic != 1 {
                let help = "give two pairs of walls, or make the other direction periodic";
                c.error(format!("{at}.between"), "one pair of walls bounds no area", help);
            }
        }
        (None, 2) => {}
        (None, n) => {
            c.error(format!("{at}.between"), format!("{n} pairs of walls bound no area"), "give one or two pairs")
        }
    }
    for (k, name) in servo.between.iter().enumerate().flat_map(|(k, pair)| pair.iter().map(move |n| (k, n))) {
        let other = c.scene.walls.iter().find(|w| w.name == *name);
        if !name.is_empty() && !other.is_some_and(|w| matches!(w.geometry, Geometry::Plane { .. })) {
            let message = match other {
                Some(_) => format!("`{name}` is no plane"),
                None => format!("there is no wall `{name}`"),
            };
            c.error(format!("{at}.between[{k}]"), message, "name plane walls of the scene");
        }
    }
}

fn strained(c: &mut Check, cell: &Cell) {
    let scene = c.scene;
    if scene.domain.is_periodic() != [true; 3] {
        let help = "write `periodic = [\"x\", \"y\", \"z\"]` under `[domain]`";
        c.error("cell", "a cell that is strained must be periodic in all directions", help);
    }
    let others = [
        ("walls", !scene.walls.is_empty(), "walls"),
        ("bodies", !scene.bodies.is_empty(), "bodies"),
        ("ground", scene.ground.is_some(), "ground"),
        ("continuum", !scene.continuum.is_empty(), "continuum"),
        ("emitters", !scene.emitters.is_empty(), "emitters"),
        ("sinks", !scene.sinks.is_empty(), "sinks"),
        ("liquid", scene.liquid.is_some(), "liquid"),
    ];
    for (key, there, what) in others {
        if there {
            c.error(
                "cell",
                format!("a cell that is strained holds grains alone, and no {what}"),
                format!("leave out `{key}`"),
            );
        }
    }
    if scene.grains.iter().any(|g| g.fixed || g.bonds.is_some()) {
        c.error(
            "cell",
            "grains in a cell that is strained are neither fixed nor bonded",
            "leave out `fixed` and `bonds`",
        );
    }
    for (key, side) in [("x", &cell.x), ("y", &cell.y), ("z", &cell.z)] {
        if let CellSide::Rate(rate) = side
            && rate * c.duration() < -0.7
        {
            let message =
                format!("a rate of {} leaves less than half of the cell at the end of the run", show(*rate, "1/s"));
            c.warn(format!("cell.{key}"), message, "strain it more slowly, or make the run shorter");
        }
    }
}

fn wet(c: &mut Check, _: &Liquid) {
    let scene = c.scene;
    let clumps = scene.grains.iter().any(|g| g.shape != ShapeSpec::SPHERE)
        || scene.emitters.iter().any(|e| e.shape != ShapeSpec::SPHERE);
    if clumps || !scene.bodies.is_empty() {
        c.error("liquid", "only single spheres are bridged", "leave out other shapes and bodies, or `[liquid]`");
    }
    if scene.ground.as_ref().is_some_and(|g| g.exchange.is_some()) {
        c.error("liquid", "wet grains cannot become ground", "leave out `[ground.exchange]`, or `[liquid]`");
    }
    if scene.walls.iter().any(|w| matches!(w.geometry, Geometry::Mesh(_))) {
        c.warn(
            "liquid",
            "bridges to walls of triangles are not formed",
            "grains among themselves are wet; other walls too",
        );
    }
}

fn changes(c: &mut Check, path: &str, change: &Change) {
    match (change.keyframes.is_empty(), change.formula.is_none()) {
        (true, true) => c.error(path, "nothing says how the value changes", "add `keyframes` or `formula`"),
        (false, false) => {
            c.error(format!("{path}.formula"), "`keyframes` and `formula` cannot both be given", "keep one of the two")
        }
        _ => {}
    }
    if change.keyframes.windows(2).any(|w| w[1][0] <= w[0][0]) {
        c.error(format!("{path}.keyframes"), "the times of keyframes must increase", "put them in order");
    }
    if let Changed::Friction(name) | Changed::Restitution(name) = &change.what
        && !name.is_empty()
        && !c.scene.materials.contains_key(name)
    {
        let help = "name one of the scene's `[materials.…]`";
        c.error(format!("{path}.{}", change.what.key()), format!("there is no material `{name}`"), help);
    }
}

fn ends(c: &mut Check, stop: &Stop) {
    if let Some(stress) = &stop.stress {
        if !stress.wall.is_empty() && !c.scene.walls.iter().any(|w| w.name == stress.wall) {
            c.error("stop.stress.wall", format!("there is no wall `{}`", stress.wall), "name one of the `[[walls]]`");
        }
        if stress.above.is_none() == stress.below.is_none() {
            c.error(
                "stop.stress",
                "a stress ends the run above a limit or below it",
                "give one of `above` and `below`",
            );
        }
    }
    let none = stop.kinetic.is_none() && stop.fewer.is_none() && stop.more.is_none() && stop.unborn.is_none();
    if none && stop.stress.is_none() {
        c.error(
            "stop",
            "nothing says when the run ends",
            "add `kinetic = \"1e-6 J\"`, `fewer`, `more`, `unborn` or `stress`",
        );
    }
}
