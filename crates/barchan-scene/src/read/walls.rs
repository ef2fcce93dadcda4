//! Walls and their motions.

use super::{Keys, Reader, Value};
use crate::types::*;
use crate::units::Quantity as Q;
use glam::DVec3;

const GEOMETRIES: &[&str] = &["plane", "box", "cylinder", "cone", "sphere", "disc", "mesh"];

pub(super) fn wall(cx: &mut Reader, index: usize, value: Value) -> Wall {
    let mut keys = value.table(cx, "write each wall under its own `[[walls]]`");
    let help = "a wall has exactly one geometry, such as `plane = { point = [0, 0, 0], normal = [0, 0, 1] }`";
    let wall = Wall {
        name: keys.text_or(cx, "name", format!("wall {}", index + 1)),
        material: keys.text(cx, "material", "add `material`: the name of one of the `[materials.…]`"),
        geometry: match keys.one_of(cx, GEOMETRIES, help) {
            Some((key, v)) => geometry(cx, key, v),
            None => Geometry::Plane { point: DVec3::NAN, normal: DVec3::NAN },
        },
        rough: keys.get(cx, "rough").map(|v| {
            let mut keys = v.table(cx, "write `{ radius = \"1 mm\", spacing = \"2 mm\" }`");
            let rough = Rough {
                radius: keys.quantity(cx, "radius", Q::LENGTH),
                spacing: keys.quantity(cx, "spacing", Q::LENGTH),
            };
            keys.finish(cx);
            rough
        }),
        velocity: keys.vector_or(cx, "velocity", Q::VELOCITY, DVec3::ZERO),
        rotate: keys.get(cx, "rotate").map(|v| rotate(cx, v)),
        oscillate: keys.get(cx, "oscillate").map(|v| oscillate(cx, v)),
        keyframes: keyframes(cx, &mut keys),
        drive: keys.get(cx, "drive").map(|v| drive(cx, v)),
        servo: keys.get(cx, "servo").map(|v| servo(cx, v)),
        from: keys.quantity_opt(cx, "from", Q::TIME),
        until: keys.quantity_opt(cx, "until", Q::TIME),
    };
    keys.finish(cx);
    wall
}

fn side(cx: &mut Reader, keys: &mut Keys) -> Side {
    keys.choice_or(cx, "side", Side::NAMES, Side::Inside)
}

/// `"hopper.stl"`, or the same with scale, turn and place in a table.
fn mesh(cx: &mut Reader, value: Value) -> MeshFile {
    let (turn, at, surface) = (DVec3::ZERO, DVec3::ZERO, Fetched::default());
    if value.is_text() {
        return MeshFile { file: value.text(cx), scale: 1.0, turn, side: Side::Outside, at, surface };
    }
    let mut keys = value.table(cx, "write `\"hopper.stl\"`, or `{ file = \"hopper.stl\", scale = 0.001 }`");
    let mesh = MeshFile {
        file: keys.text(cx, "file", "add `file`: the path of an STL, OBJ, PLY or glTF file"),
        scale: keys.quantity_or(cx, "scale", Q::NUMBER, 1.0),
        turn: keys.vector_or(cx, "turn", Q::ANGLE, turn),
        side: keys.choice_or(cx, "side", Side::NAMES, Side::Outside),
        at: keys.vector_or(cx, "at", Q::LENGTH, at),
        surface,
    };
    keys.finish(cx);
    mesh
}

fn geometry(cx: &mut Reader, key: &str, value: Value) -> Geometry {
    if key == "mesh" {
        return Geometry::Mesh(mesh(cx, value));
    }
    let mut keys = value.table(cx, &format!("write the keys of the {key} in braces, such as `{}`", example(key)));
    let k = &mut keys;
    let geometry = match key {
        "plane" => {
            Geometry::Plane { point: k.vector(cx, "point", Q::LENGTH), normal: k.vector(cx, "normal", Q::NUMBER) }
        }
        "box" => Geometry::Box {
            min: k.vector(cx, "min", Q::LENGTH),
            max: k.vector(cx, "max", Q::LENGTH),
            side: side(cx, k),
            open: k.choices(cx, "open", Face::NAMES).unwrap_or_default(),
        },
        "cylinder" => Geometry::Cylinder {
            base: k.vector(cx, "base", Q::LENGTH),
            axis: k.vector_or(cx, "axis", Q::NUMBER, DVec3::Z),
            radius: k.quantity(cx, "radius", Q::LENGTH),
            height: k.quantity_opt(cx, "height", Q::LENGTH),
            side: side(cx, k),
        },
        "cone" => Geometry::Cone {
            base: k.vector(cx, "base", Q::LENGTH),
            axis: k.vector_or(cx, "axis", Q::NUMBER, DVec3::Z),
            radius_base: k.quantity(cx, "radius_base", Q::LENGTH),
            radius_top: k.quantity(cx, "radius_top", Q::LENGTH),
            height: k.quantity(cx, "height", Q::LENGTH),
            side: side(cx, k),
        },
        "sphere" => Geometry::Sphere {
            centre: k.vector(cx, "centre", Q::LENGTH),
            radius: k.quantity(cx, "radius", Q::LENGTH),
            side: side(cx, k),
        },
        _ => Geometry::Disc {
            centre: k.vector(cx, "centre", Q::LENGTH),
            normal: k.vector(cx, "normal", Q::NUMBER),
            radius: k.quantity(cx, "radius", Q::LENGTH),
            hole: k.quantity_or(cx, "hole", Q::LENGTH, 0.0),
        },
    };
    keys.finish(cx);
    geometry
}

fn example(key: &str) -> &'static str {
    match key {
        "plane" => "{ point = [0, 0, 0], normal = [0, 0, 1] }",
        "box" => "{ min = [0, 0, 0], max = [0.1, 0.1, 0.1], open = [\"top\"] }",
        "cylinder" => "{ base = [0, 0, 0], axis = [0, 0, 1], radius = 0.05, height = 0.1 }",
        "cone" => "{ base = [0, 0, 0], axis = [0, 0, 1], radius_base = 0.01, radius_top = 0.05, height = 0.05 }",
        "sphere" => "{ centre = [0, 0, 0], radius = 0.05 }",
        _ => "{ centre = [0, 0, 0], normal = [0, 0, 1], radius = 0.05 }",
    }
}

fn rotate(cx: &mut Reader, value: Value) -> Rotate {
    let mut keys = value.table(cx, "write `{ point = [0, 0, 0], axis = [0, 1, 0], rate = \"12 rpm\" }`");
    let rotate = Rotate {
        point: keys.vector(cx, "point", Q::LENGTH),
        axis: keys.vector(cx, "axis", Q::NUMBER),
        rate: keys.quantity(cx, "rate", Q::ANGULAR_RATE),
    };
    keys.finish(cx);
    rotate
}

fn oscillate(cx: &mut Reader, value: Value) -> Oscillate {
    let mut keys = value.table(cx, "write `{ direction = [0, 0, 1], amplitude = \"2 mm\", frequency = \"10 Hz\" }`");
    let oscillate = Oscillate {
        direction: keys.vector(cx, "direction", Q::NUMBER),
        amplitude: keys.quantity(cx, "amplitude", Q::LENGTH),
        frequency: keys.quantity(cx, "frequency", Q::FREQUENCY),
        phase: keys.quantity_or(cx, "phase", Q::ANGLE, 0.0),
    };
    keys.finish(cx);
    oscillate
}

fn keyframes(cx: &mut Reader, keys: &mut Keys) -> Vec<Keyframe> {
    let Some(value) = keys.get(cx, "keyframes") else { return Vec::new() };
    let help = "write a list such as [{ time = 0, at = [0, 0, 0] }, { time = \"1 s\", at = [0, 0, \"2 cm\"] }]";
    let items = value.list(cx, None, help).unwrap_or_default();
    let frame = |cx: &mut Reader, v: Value| {
        let mut keys = v.table(cx, help);
        let frame = Keyframe {
            time: keys.quantity(cx, "time", Q::TIME),
            at: keys.vector(cx, "at", Q::LENGTH),
            turn: keys.vector_or(cx, "turn", Q::ANGLE, DVec3::ZERO),
        };
        keys.finish(cx);
        frame
    };
    items.into_iter().map(|v| frame(cx, v)).collect()
}

fn drive(cx: &mut Reader, value: Value) -> Drive {
    let mut keys = value.table(cx, "write `{ axis = [0, 0, -1], mass = \"0.1 kg\", load = \"5 N\" }`");
    let drive = Drive {
        axis: keys.vector(cx, "axis", Q::NUMBER),
        mass: keys.quantity(cx, "mass", Q::MASS),
        load: keys.quantity(cx, "load", Q::FORCE),
        damping: keys.quantity_or(cx, "damping", Q::DAMPING, 0.0),
    };
    keys.finish(cx);
    drive
}

fn servo(cx: &mut Reader, value: Value) -> Servo {
    let mut keys = value
        .table(cx, "write `{ axis = [0, 0, -1], stress = \"10 kPa\", area = \"4 cm2\", max_speed = \"0.1 m/s\" }`");
    let servo = Servo {
        axis: keys.vector(cx, "axis", Q::NUMBER),
        stress: keys.quantity(cx, "stress", Q::PRESSURE),
        area: keys.quantity(cx, "area", Q::AREA),
        max_speed: keys.quantity(cx, "max_speed", Q::VELOCITY),
    };
    keys.finish(cx);
    servo
}
