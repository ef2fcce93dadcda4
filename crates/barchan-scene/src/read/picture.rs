//! How a scene is shown.

use super::{Reader, Value};
use crate::types::*;
use crate::units::Quantity as Q;
use glam::DVec3;

const CAMERAS: &[&str] = &["auto", "orbit", "fixed", "fly", "follow"];

pub(super) fn picture(cx: &mut Reader, value: Value) -> Picture {
    let default = Picture::default();
    let mut keys = value.table(cx, "write `colour = \"speed\"` under `[picture]`");
    let size = |cx: &mut Reader, v: Value| {
        let items = v.list(cx, Some(2), "write pixels in a row and rows, such as [1920, 1080]")?;
        Some([items[0].count(cx)?, items[1].count(cx)?])
    };
    let range = |cx: &mut Reader, v: Value| {
        let items = v.list(cx, Some(2), "write the lower and the upper end in SI units, such as [0, 1.5]")?;
        Some([items[0].quantity(cx, Q::NUMBER), items[1].quantity(cx, Q::NUMBER)])
    };
    let picture = Picture {
        colour: keys.text_or(cx, "colour", default.colour),
        map: keys.choice_or(cx, "map", ColourMap::NAMES, default.map),
        range: keys.get(cx, "range").and_then(|v| range(cx, v)),
        sun: keys.get(cx, "sun").map(|v| v.vector(cx, Q::NUMBER)),
        background: keys.choice_or(cx, "background", Background::NAMES, default.background),
        size: keys.get(cx, "size").and_then(|v| size(cx, v)).unwrap_or(default.size),
        rate: keys.quantity_or(cx, "rate", Q::FREQUENCY, default.rate),
        speed: keys.quantity_opt(cx, "speed", Q::NUMBER),
        camera: keys.get(cx, "camera").map_or(default.camera, |v| camera(cx, v)),
    };
    keys.finish(cx);
    picture
}

fn camera(cx: &mut Reader, value: Value) -> Camera {
    let help = "a camera is exactly one of `auto = {}`, `orbit = {}`, `fixed = { eye, target }`, `fly = [{ time, eye, target }, …]` and \
                `follow = {}`";
    let mut keys = value.table(cx, help);
    let camera = match keys.one_of(cx, CAMERAS, help) {
        Some(("fly", v)) => Camera::Fly(fly(cx, v)),
        Some((key, v)) => kind(cx, key, v),
        None => Camera::default(),
    };
    keys.finish(cx);
    camera
}

fn kind(cx: &mut Reader, key: &str, value: Value) -> Camera {
    let mut keys = value.table(cx, &format!("write `{key} = {{}}`"));
    let camera = match key {
        "orbit" => Camera::Orbit {
            turns: keys.quantity_or(cx, "turns", Q::NUMBER, 1.0),
            elevation: keys.quantity_opt(cx, "elevation", Q::ANGLE),
        },
        "fixed" => Camera::Fixed {
            eye: keys.vector(cx, "eye", Q::LENGTH),
            target: keys.vector(cx, "target", Q::LENGTH),
            up: keys.vector_or(cx, "up", Q::NUMBER, DVec3::Z),
            field: keys.quantity_or(cx, "field", Q::ANGLE, Camera::FIELD),
        },
        "follow" => Camera::Follow {
            grain: keys.count_opt(cx, "grain"),
            distance: keys.quantity_opt(cx, "distance", Q::LENGTH),
        },
        _ => Camera::Auto {
            azimuth: keys.quantity_opt(cx, "azimuth", Q::ANGLE),
            elevation: keys.quantity_opt(cx, "elevation", Q::ANGLE),
            up: keys.vector_or(cx, "up", Q::NUMBER, DVec3::Z),
        },
    };
    keys.finish(cx);
    camera
}

fn fly(cx: &mut Reader, value: Value) -> Vec<CameraKey> {
    let help = "write a list such as [{ time = 0, eye = [0, -1, 0.5], target = [0, 0, 0] }, { time = \"1 s\", … }]";
    let items = value.list(cx, None, help).unwrap_or_default();
    let key = |cx: &mut Reader, v: Value| {
        let mut keys = v.table(cx, help);
        let key = CameraKey {
            time: keys.quantity(cx, "time", Q::TIME),
            eye: keys.vector(cx, "eye", Q::LENGTH),
            target: keys.vector(cx, "target", Q::LENGTH),
            field: keys.quantity_or(cx, "field", Q::ANGLE, Camera::FIELD),
        };
        keys.finish(cx);
        key
    };
    items.into_iter().map(|v| key(cx, v)).collect()
}
