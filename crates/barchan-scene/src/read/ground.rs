//! The ground.

use super::{Keys, Reader, Value};
use crate::formula::Formula;
use crate::types::*;
use crate::units::Quantity as Q;
use glam::DVec2;

pub(super) fn ground(cx: &mut Reader, value: Value, domain: &Domain, first_material: &str) -> Ground {
    let mut keys = value.table(cx, "write `cell` and perhaps `height` under `[ground]`");
    let min = corner(cx, &mut keys, "min").unwrap_or(domain.min.truncate());
    let max = corner(cx, &mut keys, "max").unwrap_or(domain.max.truncate());
    let mut ground = Ground {
        min,
        max,
        cell: keys.quantity(cx, "cell", Q::LENGTH),
        floor: keys.quantity_or(cx, "floor", Q::LENGTH, domain.min.z),
        material: keys.text_or(cx, "material", first_material),
        friction: keys.quantity_opt(cx, "friction", Q::NUMBER),
        rolling: keys.quantity_opt(cx, "rolling", Q::NUMBER),
        soil: keys.get(cx, "soil").map_or_else(Soil::default, |v| soil(cx, v)),
        height: None,
        formula: None,
        unit: keys.quantity_or(cx, "unit", Q::LENGTH, 1.0),
        image: None,
        terrain: None,
        exchange: keys.get(cx, "exchange").map(|v| exchange(cx, v)),
        fetched: FetchedHeights::default(),
    };
    let ways = ["height", "formula", "image", "terrain"];
    let given: Vec<_> = ways.into_iter().filter_map(|k| keys.get(cx, k).map(|v| (k, v))).collect();
    for (key, v) in given.iter().skip(1) {
        let message = format!("`{key}` cannot stand beside `{}`", given[0].0);
        cx.error(&v.path, v.span.clone(), message, "give the heights in one way");
    }
    match given.into_iter().next() {
        Some(("height", v)) => ground.height = Some(v.quantity(cx, Q::LENGTH)),
        Some(("formula", v)) => ground.formula = Some(formula(cx, &v)),
        Some(("image", v)) => ground.image = Some(image(cx, v)),
        Some((_, v)) => ground.terrain = Some(terrain(cx, v)),
        None => {}
    }
    keys.finish(cx);
    ground
}

fn corner(cx: &mut Reader, keys: &mut Keys, key: &'static str) -> Option<DVec2> {
    let value = keys.get(cx, key)?;
    let items = value.list(cx, Some(2), "write two lengths, x and y, such as [\"-10 m\", \"-10 m\"]");
    Some(items.map_or(DVec2::NAN, |i| DVec2::new(i[0].quantity(cx, Q::LENGTH), i[1].quantity(cx, Q::LENGTH))))
}

fn formula(cx: &mut Reader, value: &Value) -> String {
    let text = value.text(cx);
    if let Err(e) = Formula::new(&text)
        && !text.is_empty()
    {
        // The text begins after its quote, and is what is written there unless it holds escapes.
        let at = value.span.start + 1 + e.at;
        let span = if at < value.span.end { at..value.span.end } else { value.span.clone() };
        let help = "a formula is of x and y in metres, such as \"0.1 + 0.02*sin(20*x)\"";
        cx.error(&value.path, span, format!("the formula cannot be read {e}"), help);
    }
    text
}

fn image(cx: &mut Reader, value: Value) -> GroundImage {
    let mut keys = value.table(cx, "write `{ file = \"heights.png\", low = 0, high = \"0.1 m\" }`");
    let image = GroundImage {
        file: keys.text(cx, "file", "add `file`: the path of an image"),
        low: keys.quantity_or(cx, "low", Q::LENGTH, 0.0),
        high: keys.quantity(cx, "high", Q::LENGTH),
    };
    keys.finish(cx);
    image
}

fn terrain(cx: &mut Reader, value: Value) -> GroundTerrain {
    if value.is_text() {
        return GroundTerrain { file: value.text(cx), low: 0.0, scale: 1.0, nodata: None };
    }
    let mut keys = value.table(cx, "write the path of an elevation model, or `{ file, low, scale, nodata }`");
    let terrain = GroundTerrain {
        file: keys.text(cx, "file", "add `file`: the path of an ESRI ASCII grid or a GeoTIFF"),
        low: keys.quantity_or(cx, "low", Q::LENGTH, 0.0),
        scale: keys.quantity_or(cx, "scale", Q::NUMBER, 1.0),
        nodata: keys.quantity_opt(cx, "nodata", Q::LENGTH),
    };
    keys.finish(cx);
    terrain
}

fn soil(cx: &mut Reader, value: Value) -> Soil {
    if value.is_text() {
        return Soil { preset: value.choice(cx, SoilPreset::NAMES).unwrap_or_default(), ..Soil::default() };
    }
    let mut keys = value.table(cx, "write a name, such as \"sand\", or a table of what differs from it");
    let soil = Soil {
        preset: keys.choice_or(cx, "preset", SoilPreset::NAMES, SoilPreset::Sand),
        compression: keys.quantity_opt(cx, "compression", Q::NUMBER),
        inside: keys.quantity_opt(cx, "inside", Q::ANGLE),
        outside: keys.quantity_opt(cx, "outside", Q::ANGLE),
        stop: keys.quantity_opt(cx, "stop", Q::ANGLE),
        fraction: keys.quantity_opt(cx, "fraction", Q::NUMBER),
        roughness: keys.quantity_opt(cx, "roughness", Q::NUMBER),
        density: keys.quantity_opt(cx, "density", Q::DENSITY),
        friction: keys.quantity_opt(cx, "friction", Q::ANGLE),
        cohesion: keys.quantity_opt(cx, "cohesion", Q::PRESSURE),
        grip: keys.quantity_opt(cx, "grip", Q::NUMBER),
        shear: keys.quantity_opt(cx, "shear", Q::LENGTH),
        stiffness: keys.quantity_opt(cx, "stiffness", Q::SUBGRADE),
    };
    keys.finish(cx);
    soil
}

fn exchange(cx: &mut Reader, value: Value) -> Exchange {
    let mut keys = value.table(cx, "write `[ground.exchange]`, which may be empty");
    let exchange = Exchange {
        layer: keys.quantity_or(cx, "layer", Q::NUMBER, Exchange::LAYER),
        rest: keys.quantity_or(cx, "rest", Q::NUMBER, Exchange::REST),
        after: keys.quantity_or(cx, "after", Q::TIME, Exchange::AFTER),
        packing: keys.quantity_or(cx, "packing", Q::NUMBER, Exchange::PACKING),
        thaw: keys.quantity_or(cx, "thaw", Q::NUMBER, Exchange::THAW),
    };
    keys.finish(cx);
    exchange
}
