//! Walls that are surfaces and motions that can be made.

use super::{Check, show};
use crate::types::*;

pub(super) fn check(c: &mut Check) {
    for (i, w) in c.scene.walls.iter().enumerate() {
        let path = format!("walls[{i}]");
        geometry(c, &format!("{path}.{}", w.geometry.key()), &w.geometry);
        motion(c, &path, w);
        bumps(c, &path, w);
        servo(c, &path, w);
    }
}

/// Bumps of a rough wall within a grain's radius, along a row. All bumps under a grain are looked at, some 0.7 times the square of it.
const MOST_BUMPS: f64 = 100.0;

/// A wall whose bumps are dust to the grains.
fn bumps(c: &mut Check, path: &str, w: &Wall) {
    let Some(rough) = &w.rough else { return };
    let grains = c.scene.grains.iter().filter_map(|g| g.radius.as_ref());
    let poured = c.scene.emitters.iter().filter_map(|e| e.radius.as_ref());
    let largest = grains.chain(poured).map(Size::largest).filter(|r| r.is_finite()).fold(0.0, f64::max);
    let least = largest / MOST_BUMPS;
    if rough.spacing > 0.0 && rough.spacing < least {
        let message = format!(
            "bumps every {} are too fine for grains of radius {}: some {:.0e} of them lie under one grain",
            show(rough.spacing, "m"),
            show(largest, "m"),
            0.7 * (largest / rough.spacing).powi(2)
        );
        let help = format!("space them by {} or more, or leave `rough` out", show(least, "m"));
        c.error(format!("{path}.rough.spacing"), message, help);
    }
}

/// A servo that draws its wall away from the grains: nothing presses back, and it leaves at full speed.
fn servo(c: &mut Check, path: &str, w: &Wall) {
    let Some(servo) = &w.servo else { return };
    let towards = match &w.geometry {
        Geometry::Plane { normal, .. } => *normal,
        _ => return,
    };
    if servo.axis.dot(towards) < 0.0 {
        let [x, y, z] = (-servo.axis).to_array().map(|x| show(x + 0.0, ""));
        let message = format!(
            "the servo draws `{}` away from the grains, against its normal: nothing will press back, and it leaves the domain at {}",
            w.name,
            show(servo.max_speed, "m/s")
        );
        let help = format!("`axis` is the direction in which the wall pushes the grains: use [{x}, {y}, {z}]");
        c.warn(format!("{path}.servo.axis"), message, help);
    }
}

fn geometry(c: &mut Check, path: &str, geometry: &Geometry) {
    match geometry {
        Geometry::Plane { .. } | Geometry::Cylinder { .. } | Geometry::Sphere { .. } => {}
        Geometry::Box { min, max, side, open } => {
            c.corners(path, *min, *max);
            if *side == Side::Outside && !open.is_empty() {
                c.error(
                    format!("{path}.open"),
                    "a solid block has no open faces",
                    "remove `open`, or use `side = \"inside\"`",
                );
            }
            if open.len() >= 6 {
                c.warn(
                    format!("{path}.open"),
                    "a box with all faces open is no wall",
                    "close a face or remove the wall",
                );
            }
        }
        Geometry::Cone { radius_base, radius_top, .. } => {
            if *radius_base == 0.0 && *radius_top == 0.0 {
                c.error(path, "the cone is a line: both of its radii are 0", "give it a radius at one end");
            } else if radius_base == radius_top && *radius_base > 0.0 {
                c.warn(
                    path,
                    "the cone is a cylinder: both of its radii are the same",
                    "use `cylinder`, or change a radius",
                );
            }
        }
        Geometry::Disc { radius, hole, .. } => {
            if hole >= radius && *hole > 0.0 {
                let message = format!("the hole ({}) takes the whole disc ({})", show(*hole, "m"), show(*radius, "m"));
                c.error(format!("{path}.hole"), message, "make the hole smaller than the disc");
            }
        }
        Geometry::Standing(_) => {}
        Geometry::Mesh(mesh) => {
            if mesh.file.is_empty() {
                c.error(path, "no file is named", "give the path of an STL, OBJ, PLY or glTF file");
            }
        }
    }
}

fn motion(c: &mut Check, path: &str, w: &Wall) {
    for (k, pair) in w.keyframes.windows(2).enumerate() {
        if pair[1].time <= pair[0].time {
            c.error(
                format!("{path}.keyframes[{}].time", k + 1),
                "the times of keyframes must increase",
                "put them in order",
            );
        }
    }
    if w.servo.is_some() && w.drive.is_some() {
        let help = "keep `drive` (a load on a mass) or `servo` (a stress that is held)";
        c.error(format!("{path}.servo"), "a wall cannot have both `drive` and `servo`", help);
    }
    if let (Some(from), Some(until)) = (w.from, w.until)
        && until <= from
    {
        let message = format!("the motion ends ({}) before it starts ({})", show(until, "s"), show(from, "s"));
        c.error(format!("{path}.until"), message, "swap `from` and `until`");
    }
    for (key, value) in [("from", w.from), ("until", w.until)] {
        if value.is_some() && !w.moves() {
            let message = format!("`{key}` has no meaning for a wall that does not move");
            c.error(format!("{path}.{key}"), message, "remove it, or give the wall a motion");
        }
    }
    if let Some(from) = w.from
        && from > c.duration()
    {
        let message = format!("the motion starts at {}, after the run has ended", show(from, "s"));
        c.warn(format!("{path}.from"), message, "start it earlier, or make the run longer");
    }
}
