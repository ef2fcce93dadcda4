//! Bodies.

use super::{Reader, Value};
use crate::types::*;
use crate::units::Quantity as Q;
use glam::DVec3;
use toml::de::DeValue;

pub(super) fn body(cx: &mut Reader, index: usize, value: Value, first_material: &str) -> Body {
    let mut keys = value.table(cx, "write each body under its own `[[bodies]]`");
    let at_help = "add `at`: where the mesh's origin is to be, such as [0, 0, 0.3], or a list of such places";
    let body = Body {
        name: keys.text_or(cx, "name", format!("body {}", index + 1)),
        mesh: keys.text(cx, "mesh", "add `mesh`: the path of a closed STL, OBJ, PLY or glTF mesh, or `box`, `sphere`, …"),
        scale: keys.get(cx, "scale").map_or(DVec3::ONE, |v| {
            if matches!(v.de, DeValue::Array(_)) {
                v.vector(cx, Q::NUMBER)
            } else {
                DVec3::splat(v.quantity(cx, Q::NUMBER))
            }
        }),
        material: keys.text_or(cx, "material", first_material),
        density: keys.quantity_opt(cx, "density", Q::DENSITY),
        mass: keys.quantity_opt(cx, "mass", Q::MASS),
        centre: keys.get(cx, "centre").map(|v| v.vector(cx, Q::LENGTH)),
        inertia: keys.get(cx, "inertia").map(|v| v.vector(cx, Q::INERTIA)),
        at: keys.need(cx, "at", at_help).map_or_else(Vec::new, |v| {
            let one = |v: &Value| !matches!(v.de, DeValue::Array(a) if matches!(a.first().map(|x| x.get_ref()), Some(DeValue::Array(_))));
            if one(&v) {
                return vec![v.vector(cx, Q::LENGTH)];
            }
            let places = v.list(cx, None, at_help).unwrap_or_default();
            places.iter().map(|v| v.vector(cx, Q::LENGTH)).collect()
        }),
        turn: keys.vector_or(cx, "turn", Q::ANGLE, DVec3::ZERO),
        velocity: keys.vector_or(cx, "velocity", Q::VELOCITY, DVec3::ZERO),
        spin: keys.vector_or(cx, "spin", Q::ANGULAR_RATE, DVec3::ZERO),
        drive: keys.get(cx, "drive").map(|v| drive(cx, v)),
        contact: keys.choice_or(cx, "contact", BodyContact::NAMES, BodyContact::Mesh),
        radius: keys.quantity_opt(cx, "radius", Q::LENGTH),
        solid: Solid::default(),
    };
    keys.finish(cx);
    body
}

fn drive(cx: &mut Reader, value: Value) -> BodyDrive {
    let mut keys = value.table(cx, "write `{ axis = [0, 1, 0], torque = \"20 N m\" }`");
    let axis_help = "add `axis`: a direction in the frame of the mesh, such as [0, 1, 0]";
    let drive = BodyDrive {
        axis: keys.need(cx, "axis", axis_help).map_or(DVec3::NAN, |v| v.vector(cx, Q::NUMBER)),
        torque: keys.quantity(cx, "torque", Q::TORQUE),
        max_spin: keys.quantity_opt(cx, "max_spin", Q::ANGULAR_RATE),
        from: keys.quantity_opt(cx, "from", Q::TIME),
        until: keys.quantity_opt(cx, "until", Q::TIME),
    };
    keys.finish(cx);
    drive
}
