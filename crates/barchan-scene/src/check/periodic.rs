//! Periodic directions: room enough, and no wall across them.

use super::{Check, show};
use crate::types::*;
use glam::DVec3;

pub(super) fn check(c: &mut Check) {
    let scene = c.scene;
    let largest = super::places::largest_reach(scene);
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
            if crosses(&w.geometry, i) {
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
    let twice = scene.domain.periodic.iter().enumerate().find(|(i, a)| scene.domain.periodic[..*i].contains(a));
    if let Some((i, a)) = twice {
        c.error(format!("domain.periodic[{i}]"), format!("the direction {} is listed twice", a.name()), "list it once");
    }
}

/// Whether the wall ends the space along direction `i`: an unbounded wall that is not the same all along it, or a vessel's
/// closed face. Bounded obstacles are allowed.
fn crosses(geometry: &Geometry, i: usize) -> bool {
    const ALONG: f64 = 1e-6;
    match geometry {
        Geometry::Plane { normal, .. } => normal.normalize_or_zero()[i].abs() > ALONG,
        Geometry::Box { side: Side::Inside, open, .. } => {
            let closed = |f: Face| !open.contains(&f);
            Face::NAMES.iter().any(|f| f.1.axis().0 == i && closed(f.1))
        }
        Geometry::Cylinder { axis, height: None, .. } => {
            let across = axis.normalize_or_zero() - DVec3::AXES[i] * axis.normalize_or_zero()[i];
            across.length() > ALONG
        }
        Geometry::Sphere { side: Side::Inside, .. } => true,
        Geometry::Box { .. }
        | Geometry::Cylinder { .. }
        | Geometry::Cone { .. }
        | Geometry::Sphere { .. }
        | Geometry::Disc { .. }
        | Geometry::Mesh(_) => false,
    }
}
