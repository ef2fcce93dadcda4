//! Avalanches: covers and forests that lie on rock, slabs that have room, events that come.

use super::{Check, show};
use crate::types::*;
use glam::DVec2;

pub(super) fn check(c: &mut Check) {
    let scene = c.scene;
    let is_rock = scene.ground.as_ref().is_some_and(|g| g.rock.is_some());
    if let Some(g) = &scene.ground {
        if g.cover.is_some() && !is_rock {
            let help = "give the heights as `rock = { … }`, or leave out `cover`";
            c.error("ground.cover", "only rock has a cover of snow", help);
        }
        for (i, forest) in g.forest.iter().enumerate() {
            let path = format!("ground.forest[{i}].polygon");
            if !is_rock {
                c.error(&path, "only rock has forests", "give the heights as `rock = { … }`, or leave out `forest`");
            }
            if forest.polygon.len() < 3 {
                c.error(&path, "a forest has three corners or more", "add corners");
            } else if let Some((a, b)) = crossing(&forest.polygon) {
                let message = format!("the sides from corner {} and from corner {} cross", a + 1, b + 1);
                c.error(&path, message, "put the corners in order round the forest");
            }
        }
    }
    for (i, slab) in scene.slabs.iter().enumerate() {
        if !is_rock {
            c.error(format!("slabs[{i}]"), "a slab lies on rock, and there is none", "add `[ground]` with `rock`");
        }
        for (k, axis) in ["x", "y"].iter().enumerate() {
            if slab.min[k] >= slab.max[k] {
                let message = format!("the slab is empty: its min {axis} is not below its max {axis}");
                c.error(format!("slabs[{i}].max[{k}]"), message, "swap or move the corners");
            }
        }
        if let Some(g) = &scene.ground
            && (slab.min.cmplt(g.min).any() || slab.max.cmpgt(g.max).any())
        {
            c.error(format!("slabs[{i}].min"), "the slab reaches beyond the ground", "move it, or enlarge the ground");
        }
        if slab.bonds.as_ref().is_some_and(|b| b.base.is_some()) {
            let help = "leave `base` out: pieces are held by their neighbours and by friction";
            c.error(format!("slabs[{i}].bonds.base"), "the pieces of a slab are not bonded to the ground", help);
        }
    }
    for (i, e) in scene.events.iter().enumerate() {
        if e.time >= c.duration() {
            let message = format!("it comes at {}, when the run is over", show(e.time, "s"));
            c.warn(format!("events[{i}].time"), message, "let it come sooner, or make the run longer");
        }
        match &e.what {
            Action::Cut { from, to, .. } => {
                if from == to {
                    c.error(format!("events[{i}].cut.to"), "the cut has no length", "move one of its ends");
                }
                let bonded = scene.grains.iter().any(|g| g.bonds.is_some());
                if !bonded && scene.slabs.iter().all(|s| s.bonds.is_none()) {
                    let help = "give `bonds` to grains or to a slab";
                    c.warn(format!("events[{i}].cut"), "nothing is bonded: there is nothing to cut", help);
                }
            }
            Action::Load { .. } | Action::Charge { .. } => {}
        }
    }
    for (i, w) in scene.walls.iter().enumerate() {
        let Geometry::Standing(s) = &w.geometry else { continue };
        let path = format!("walls[{i}].standing");
        if s.shape == StandingShape::Dam {
            if s.line.len() < 2 {
                c.error(format!("{path}.line"), "a dam has a line of two points or more", "add `line = [[x, y], …]`");
            }
            if let Some(k) = s.line.windows(2).position(|w| w[0] == w[1]) {
                c.error(format!("{path}.line[{}]", k + 1), "two points of the dam are one", "leave one of them out");
            }
            stands(c, &format!("{path}.line"), &s.line);
        } else {
            if !s.line.is_empty() {
                c.error(format!("{path}.line"), "only a dam has a line", "say where it stands by `at`");
            }
            stands(c, &format!("{path}.at"), &[s.at]);
        }
        if w.moves() {
            c.error(&path, "what stands on the ground does not move", "leave its motion out, or use a `mesh`");
        }
    }
    for (i, g) in scene.grains.iter().enumerate() {
        match &g.place {
            Place::Trees { at, .. } => {
                let path = format!("grains[{i}].trees.at");
                if at.is_empty() {
                    c.error(&path, "no tree is placed", "add a place, such as [0, 0]");
                }
                stands(c, &path, at);
            }
            Place::Sheet { min, max, .. } => {
                for (k, axis) in ["x", "y"].iter().enumerate() {
                    if min[k] >= max[k] {
                        let message = format!("the sheet is empty: its min {axis} is not below its max {axis}");
                        c.error(format!("grains[{i}].sheet.max[{k}]"), message, "swap or move the corners");
                    }
                }
                stands(c, &format!("grains[{i}].sheet"), &[*min, *max]);
            }
            Place::Fill(_) | Place::At(_) | Place::Release(_) => continue,
        }
        if g.shape != ShapeSpec::SPHERE {
            c.error(format!("grains[{i}].shape"), "what is laid on the ground is made of spheres", "leave `shape` out");
        }
        if matches!(g.place, Place::Trees { .. }) && !matches!(g.radius, Some(Size::Fixed(_))) {
            let help = "give a length, such as \"0.3 m\"";
            c.error(format!("grains[{i}].radius"), "a trunk has one radius", help);
        }
    }
}

/// Places must be over a ground.
fn stands(c: &mut Check, path: &str, places: &[DVec2]) {
    let Some(g) = &c.scene.ground else {
        c.error(path, "there is no ground to stand on", "add a `[ground]`");
        return;
    };
    let beside = |p: &DVec2| p.cmplt(g.min).any() || p.cmpgt(g.max).any();
    if let Some(k) = places.iter().position(|p| p.is_finite() && beside(p)) {
        let message = format!("({} m, {} m) is beside the ground", places[k].x, places[k].y);
        c.error(path, message, "move it, or enlarge the ground");
    }
}

/// Two sides of a polygon that cross.
fn crossing(polygon: &[DVec2]) -> Option<(usize, usize)> {
    let n = polygon.len();
    let side = |k: usize| (polygon[k], polygon[(k + 1) % n]);
    let turn = |a: DVec2, b: DVec2, p: DVec2| (b - a).perp_dot(p - a);
    let cross = |(a, b): (DVec2, DVec2), (p, q): (DVec2, DVec2)| {
        turn(a, b, p) * turn(a, b, q) < 0.0 && turn(p, q, a) * turn(p, q, b) < 0.0
    };
    (0..n).flat_map(|a| (a + 1..n).map(move |b| (a, b))).find(|(a, b)| cross(side(*a), side(*b)))
}

#[cfg(test)]
mod tests {
    use crate::Scene;

    const SCENE: &str = r#"
duration = 10
[domain]
min = [0, 0, 0]
max = [100, 50, 60]
[materials.snow]
preset = "snow"
[ground]
cell = 2
rock = { formula = "30 - 0.3*x" }
[[grains]]
material = "snow"
radius = 0.5
at = [[5, 25, 40]]
"#;

    fn paths(more: &str) -> Vec<String> {
        match Scene::from_toml(&format!("{SCENE}{more}"), "test") {
            Ok(parsed) => parsed.warnings.iter().map(|p| p.path.clone()).collect(),
            Err(e) => e.problems.iter().map(|p| p.path.clone()).collect(),
        }
    }

    #[test]
    fn what_cannot_stand_lie_or_come_is_said() {
        assert_eq!(paths(""), [""; 0]);
        for (more, path) in [
            ("[[events]]\ntime = 20\ncharge = { at = [5, 25, 40], radius = 2, energy = 10 }", "events[0].time"),
            ("[[events]]\ntime = 1\ncut = { from = [5, 5], to = [5, 5] }", "events[0].cut.to"),
            ("[[slabs]]\nmaterial = \"snow\"\nmin = [5, 5]\nmax = [200, 10]\nthickness = 1", "slabs[0].min"),
            ("[[slabs]]\nmaterial = \"snow\"\nmin = [5, 5]\nmax = [4, 10]\nthickness = 1", "slabs[0].max[0]"),
            ("[[walls]]\nmaterial = \"snow\"\nstanding = { shape = \"house\", at = [-5, 5] }", "walls[0].standing.at"),
            ("[[walls]]\nmaterial = \"snow\"\nstanding = { shape = \"dam\" }", "walls[0].standing.line"),
            (
                "[[grains]]\nmaterial = \"snow\"\nradius = 0.2\ntrees = { at = [[500, 3]], height = 4 }",
                "grains[1].trees.at",
            ),
            ("[[ground.forest]]\npolygon = [[0, 0], [10, 10], [10, 0], [0, 10]]", "ground.forest[0].polygon"),
        ] {
            assert!(paths(more).iter().any(|p| p == path), "{path}: {:?}", paths(more));
        }
    }
}
