//! Periodic directions: room enough, and no wall across them.

use super::{Check, show};
use crate::types::*;
use glam::DVec3;

pub(super) fn check(c: &mut Check) {
    let scene = c.scene;
    let largest = super::places::largest_reach(c);
    for (i, axis) in Axis::NAMES.iter().map(|a| a.1).enumerate() {
        if !scene.domain.periodic.contains(&axis) {
            continue;
        }
        let period = scene.domain.max[i] - scene.domain.min[i];
        if period > 0.0 && period < 4.0 * largest {
            let message = format!(
                "the period along {} ({}) is too short for grains of radius {}: they would meet their own images",
                axis.name(),
                show(period, "m"),
                show(largest, "m")
            );
            c.error(
                "domain.periodic",
                message,
                format!("make the domain at least {} long there", show(4.0 * largest, "m")),
            );
        }
        for (k, w) in scene.walls.iter().enumerate() {
            if c.assets.wall(scene, k, 0).geometry.closes(i, ALONG) {
                let message = format!("the wall `{}` closes the periodic direction {}", w.name, axis.name());
                let help = match w.geometry {
                    Geometry::Box { .. } => {
                        let faces: Vec<_> =
                            Face::NAMES.iter().filter(|f| f.1.axis().0 == i).map(|f| format!("\"{}\"", f.0)).collect();
                        format!(
                            "open its faces with `open = [{}]`, or do not make {} periodic",
                            faces.join(", "),
                            axis.name()
                        )
                    }
                    _ => format!("turn it along {0}, or do not make {0} periodic", axis.name()),
                };
                c.error(format!("walls[{k}].{}", w.geometry.key()), message, help);
            }
        }
    }
    for (k, w) in scene.walls.iter().enumerate() {
        bumps(c, k, w);
    }
    let twice = scene.domain.periodic.iter().enumerate().find(|(i, a)| scene.domain.periodic[..*i].contains(a));
    if let Some((i, a)) = twice {
        c.error(format!("domain.periodic[{i}]"), format!("the direction {} is listed twice", a.name()), "list it once");
    }
}

/// Bumps are stretched to close across periodic sides: a little, and only where they are not turned out of them.
fn bumps(c: &mut Check, index: usize, w: &Wall) {
    let (domain, path) = (&c.scene.domain, format!("walls[{index}].rough"));
    let surface = c.assets.wall(c.scene, index, 0);
    let Some(rough) = surface.rough.filter(|_| surface.check().is_empty()) else { return };
    let sides = [domain.min, domain.max];
    for strained in surface.closing.strained(&surface.geometry, &rough, sides) {
        let (axis, [shorter, longer]) = (Axis::NAMES[strained.axis].0, strained.nearest);
        let message = format!(
            "the bumps of `{}`, {} apart, do not close across the period along {axis} ({})",
            w.name,
            show(rough.spacing, "m"),
            show((sides[1] - sides[0])[strained.axis], "m")
        );
        let shorter = if shorter > 0.0 { format!("{} or ", show(shorter, "m")) } else { String::new() };
        let help = format!("make the domain {shorter}{} long there, or change `spacing`", show(longer, "m"));
        c.error(&path, message, help);
    }
    let turns = w.rotate.iter().map(|r| r.axis).chain(w.keyframes.iter().map(|k| k.turn)).filter(|t| *t != DVec3::ZERO);
    let out = |turn: DVec3| match w.geometry {
        Geometry::Cylinder { axis, .. } => turn.normalize().cross(axis.normalize_or_zero()).length() > ALONG,
        _ => true,
    };
    if surface.closing != Default::default() && turns.into_iter().any(out) {
        let message = format!("the bumps of `{}` turn out of the periodic direction, and close no longer", w.name);
        c.error(&path, message, "do not turn the wall, leave out `rough`, or make the domain not periodic");
    }
}

/// Sine of the angle by which a wall may miss a periodic direction and still be along it.
const ALONG: f64 = 1e-6;
