//! Walls that are surfaces and motions that can be made.

use super::{Check, show};
use crate::types::*;

pub(super) fn check(c: &mut Check) {
    for (i, w) in c.scene.walls.iter().enumerate() {
        let path = format!("walls[{i}]");
        geometry(c, &format!("{path}.{}", w.geometry.key()), &w.geometry);
        if let Some(r) = &w.rough {
            c.positive(format!("{path}.rough.radius"), "the radius of the bumps", r.radius, "m");
            c.positive(format!("{path}.rough.spacing"), "the spacing of the bumps", r.spacing, "m");
        }
        motion(c, &path, w);
    }
}

fn geometry(c: &mut Check, path: &str, geometry: &Geometry) {
    match geometry {
        Geometry::Plane { normal, .. } => c.direction(format!("{path}.normal"), "the normal", *normal),
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
        Geometry::Cylinder { axis, radius, height, .. } => {
            c.direction(format!("{path}.axis"), "the axis", *axis);
            c.positive(format!("{path}.radius"), "the radius", *radius, "m");
            c.positive(format!("{path}.height"), "the height", height.unwrap_or(1.0), "m");
        }
        Geometry::Cone { axis, radius_base, radius_top, height, .. } => {
            c.direction(format!("{path}.axis"), "the axis", *axis);
            c.not_negative(format!("{path}.radius_base"), "a radius", *radius_base, "m");
            c.not_negative(format!("{path}.radius_top"), "a radius", *radius_top, "m");
            c.positive(format!("{path}.height"), "the height", *height, "m");
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
        Geometry::Sphere { radius, .. } => c.positive(format!("{path}.radius"), "the radius", *radius, "m"),
        Geometry::Disc { normal, radius, hole, .. } => {
            c.direction(format!("{path}.normal"), "the normal", *normal);
            c.positive(format!("{path}.radius"), "the radius", *radius, "m");
            c.not_negative(format!("{path}.hole"), "the radius of the hole", *hole, "m");
            if hole >= radius && *hole > 0.0 {
                let message = format!("the hole ({}) takes the whole disc ({})", show(*hole, "m"), show(*radius, "m"));
                c.error(format!("{path}.hole"), message, "make the hole smaller than the disc");
            }
        }
        Geometry::Mesh(mesh) => {
            c.positive(format!("{path}.scale"), "the scale", mesh.scale, "");
            if mesh.file.is_empty() {
                c.error(path, "no file is named", "give the path of an STL, OBJ, PLY or glTF file");
            }
        }
    }
}

fn motion(c: &mut Check, path: &str, w: &Wall) {
    if let Some(r) = &w.rotate {
        c.direction(format!("{path}.rotate.axis"), "the axis", r.axis);
    }
    if let Some(o) = &w.oscillate {
        c.direction(format!("{path}.oscillate.direction"), "the oscillation", o.direction);
        c.not_negative(format!("{path}.oscillate.amplitude"), "an amplitude", o.amplitude, "m");
        c.positive(format!("{path}.oscillate.frequency"), "a frequency", o.frequency, "1/s");
    }
    for (k, pair) in w.keyframes.windows(2).enumerate() {
        if pair[1].time <= pair[0].time {
            c.error(
                format!("{path}.keyframes[{}].time", k + 1),
                "the times of keyframes must increase",
                "put them in order",
            );
        }
    }
    if let Some(d) = &w.drive {
        c.direction(format!("{path}.drive.axis"), "the axis", d.axis);
        c.positive(format!("{path}.drive.mass"), "a mass", d.mass, "kg");
        c.not_negative(format!("{path}.drive.damping"), "a damping", d.damping, "N s/m");
    }
    if let Some(s) = &w.servo {
        c.direction(format!("{path}.servo.axis"), "the axis", s.axis);
        c.positive(format!("{path}.servo.stress"), "a stress", s.stress, "Pa");
        c.positive(format!("{path}.servo.area"), "an area", s.area, "m2");
        c.positive(format!("{path}.servo.max_speed"), "a speed", s.max_speed, "m/s");
        if w.drive.is_some() {
            let help = "keep `drive` (a load on a mass) or `servo` (a stress that is held)";
            c.error(format!("{path}.servo"), "a wall cannot have both `drive` and `servo`", help);
        }
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
