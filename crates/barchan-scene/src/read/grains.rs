//! Shapes, sizes, populations, emitters, sinks.

use super::{Keys, Reader, Value};
use crate::types::*;
use crate::units::Quantity as Q;
use glam::DVec3;
use toml::de::DeValue;

pub(super) fn shape(cx: &mut Reader, value: Value) -> ShapeSpec {
    let mut keys = value.table(cx, "write `spheres = [...]`, `tetrahedron = { edge = 1.2 }` or `mesh = { … }`");
    let help = "write `spheres = [{ at = [0, 0, 0], radius = \"1 mm\" }, …]`, `tetrahedron = { edge = 1.2 }` or \
                `mesh = { file = \"bunny.obj\", radius = \"1 mm\" }`";
    let shape = match keys.one_of(cx, &["spheres", "tetrahedron", "mesh"], help) {
        Some(("mesh", v)) => {
            let mut keys = v.table(cx, "write `{ file = \"bunny.obj\", scale = 0.05, radius = \"1 mm\" }`");
            let mesh = ShapeMesh {
                file: keys.text(cx, "file", "add `file`: the path of a closed STL, OBJ, PLY or glTF mesh"),
                scale: keys.quantity_or(cx, "scale", Q::NUMBER, 1.0),
                radius: keys.quantity(cx, "radius", Q::LENGTH),
                roughness: keys.quantity_or(cx, "roughness", Q::NUMBER, ShapeMesh::ROUGHNESS),
                smallest: keys.quantity_or(cx, "smallest", Q::NUMBER, ShapeMesh::SMALLEST),
                solid: Solid::default(),
            };
            keys.finish(cx);
            ShapeSpec::Mesh(mesh)
        }
        Some(("tetrahedron", v)) => {
            let mut keys = v.table(cx, "write `{ edge = 1.2 }`");
            let edge = keys.quantity_or(cx, "edge", Q::NUMBER, ShapeSpec::TETRAHEDRON_EDGE);
            keys.finish(cx);
            ShapeSpec::Tetrahedron { edge }
        }
        Some((_, v)) => {
            let items = v.list(cx, None, help).unwrap_or_default();
            ShapeSpec::Spheres(items.into_iter().map(|v| clump_sphere(cx, v)).collect())
        }
        None => ShapeSpec::Tetrahedron { edge: f64::NAN },
    };
    keys.finish(cx);
    shape
}

fn clump_sphere(cx: &mut Reader, value: Value) -> ClumpSphere {
    let mut keys = value.table(cx, "write `{ at = [0, 0, 0], radius = \"1 mm\" }`");
    let sphere = ClumpSphere { at: keys.vector(cx, "at", Q::LENGTH), radius: keys.quantity(cx, "radius", Q::LENGTH) };
    keys.finish(cx);
    sphere
}

fn size(cx: &mut Reader, value: Value) -> Size {
    if !matches!(value.de, DeValue::Table(_)) {
        return Size::Fixed(value.quantity(cx, Q::LENGTH));
    }
    let mut keys = value.table(cx, "");
    let help = "write a length, or `{ uniform = [\"0.8 mm\", \"1.2 mm\"] }`, `{ normal = { mean, sd } }`, \
                `{ lognormal = { median, sigma } }`, `{ sieve = [[diameter, passing], …] }`";
    let size = match keys.one_of(cx, &["uniform", "normal", "lognormal", "sieve"], help) {
        Some(("uniform", v)) => {
            let ends =
                v.list(cx, Some(2), "write the smallest and the largest radius, such as [\"0.8 mm\", \"1.2 mm\"]");
            Size::Uniform(ends.map_or([f64::NAN; 2], |e| [e[0].quantity(cx, Q::LENGTH), e[1].quantity(cx, Q::LENGTH)]))
        }
        Some(("normal", v)) => {
            let mut keys = v.table(cx, "write `{ mean = \"1 mm\", sd = \"0.1 mm\" }`");
            let mean = keys.quantity(cx, "mean", Q::LENGTH);
            let sd = keys.quantity(cx, "sd", Q::LENGTH);
            let min = keys.quantity_opt(cx, "min", Q::LENGTH).unwrap_or_else(|| (mean - 3.0 * sd).max(0.1 * mean));
            let max = keys.quantity_or(cx, "max", Q::LENGTH, mean + 3.0 * sd);
            keys.finish(cx);
            Size::Normal { mean, sd, min, max }
        }
        Some(("lognormal", v)) => {
            let mut keys = v.table(cx, "write `{ median = \"1 mm\", sigma = 0.2 }`");
            let median = keys.quantity(cx, "median", Q::LENGTH);
            let sigma = keys.quantity(cx, "sigma", Q::NUMBER);
            let min = keys.quantity_or(cx, "min", Q::LENGTH, median * (-3.0 * sigma).exp());
            let max = keys.quantity_or(cx, "max", Q::LENGTH, median * (3.0 * sigma).exp());
            keys.finish(cx);
            Size::Lognormal { median, sigma, min, max }
        }
        Some((_, v)) => {
            let help =
                "write rows of diameter and share of the mass that passes, such as [[\"0.5 mm\", 0.1], [\"1 mm\", 1]]";
            let rows = v.list(cx, None, help).unwrap_or_default();
            let row = |cx: &mut Reader, v: Value| {
                let pair = v.list(cx, Some(2), help);
                pair.map_or([f64::NAN; 2], |p| [p[0].quantity(cx, Q::LENGTH), p[1].quantity(cx, Q::NUMBER)])
            };
            Size::Sieve(rows.into_iter().map(|v| row(cx, v)).collect())
        }
        None => Size::Fixed(f64::NAN),
    };
    keys.finish(cx);
    size
}

/// `box`, `cylinder` or `sphere` of a table; a region of nowhere where none can be read.
pub(super) fn region(cx: &mut Reader, keys: &mut Keys, help: &str) -> Region {
    match keys.one_of(cx, &["box", "cylinder", "sphere"], help) {
        Some((key, v)) => region_of(cx, key, v),
        None => Region::Sphere { centre: DVec3::NAN, radius: f64::NAN },
    }
}

fn region_of(cx: &mut Reader, key: &str, value: Value) -> Region {
    match key {
        "box" => {
            let mut keys = value.table(cx, "write `{ min = [0, 0, 0], max = [0.1, 0.1, 0.1] }`");
            let region = Region::Box { min: keys.vector(cx, "min", Q::LENGTH), max: keys.vector(cx, "max", Q::LENGTH) };
            keys.finish(cx);
            region
        }
        "cylinder" => {
            let mut keys =
                value.table(cx, "write `{ base = [0, 0, 0], axis = [0, 0, 1], radius = 0.05, height = 0.1 }`");
            let region = Region::Cylinder {
                base: keys.vector(cx, "base", Q::LENGTH),
                axis: keys.vector_or(cx, "axis", Q::NUMBER, DVec3::Z),
                radius: keys.quantity(cx, "radius", Q::LENGTH),
                height: keys.quantity(cx, "height", Q::LENGTH),
            };
            keys.finish(cx);
            region
        }
        _ => {
            let mut keys = value.table(cx, "write `{ centre = [0, 0, 0], radius = 0.05 }`");
            let region = Region::Sphere {
                centre: keys.vector(cx, "centre", Q::LENGTH),
                radius: keys.quantity(cx, "radius", Q::LENGTH),
            };
            keys.finish(cx);
            region
        }
    }
}

/// The region a measurement counts in.
pub(super) fn counted(cx: &mut Reader, value: Value) -> Region {
    let mut keys = value.table(cx, "write `{ box = { min, max } }`, `{ cylinder = … }` or `{ sphere = … }`");
    let region = region(cx, &mut keys, "say where to count: a `box`, `cylinder` or `sphere`");
    keys.finish(cx);
    region
}

pub(super) fn grains(cx: &mut Reader, index: usize, value: Value) -> Grains {
    let mut keys = value.table(cx, "write each population under its own `[[grains]]`");
    let help = "add `fill = { box = { min, max }, count }` or `at = [[x, y, z], …]`";
    let grains = Grains {
        name: keys.text_or(cx, "name", format!("grains {}", index + 1)),
        material: keys.text(cx, "material", "add `material`: the name of one of the `[materials.…]`"),
        shape: keys.text_or(cx, "shape", ShapeSpec::SPHERE),
        radius: keys.get(cx, "radius").map(|v| size(cx, v)),
        place: match keys.one_of(cx, &["fill", "at"], help) {
            Some(("fill", v)) => Place::Fill(fill(cx, v)),
            Some((_, v)) => {
                let items = v.list(cx, None, "write a list of positions, such as [[0, 0, 0.1]]").unwrap_or_default();
                Place::At(items.iter().map(|v| v.vector(cx, Q::LENGTH)).collect())
            }
            None => Place::At(Vec::new()),
        },
        turn: keys.get(cx, "turn").map(|v| v.vector(cx, Q::ANGLE)),
        velocity: keys.vector_or(cx, "velocity", Q::VELOCITY, DVec3::ZERO),
        spin: keys.vector_or(cx, "spin", Q::ANGULAR_RATE, DVec3::ZERO),
        velocity_spread: keys.quantity_or(cx, "velocity_spread", Q::VELOCITY, 0.0),
    };
    keys.finish(cx);
    grains
}

fn fill(cx: &mut Reader, value: Value) -> Fill {
    let mut keys = value.table(cx, "write `{ box = { min, max }, method = \"lattice\", count = 5000 }`");
    let fill = Fill {
        region: region(cx, &mut keys, "say what to fill: a `box`, `cylinder` or `sphere`"),
        method: keys.choice_or(cx, "method", FillMethod::NAMES, FillMethod::Lattice),
        count: keys.count_opt(cx, "count"),
        fraction: keys.quantity_opt(cx, "fraction", Q::NUMBER),
        every: keys.quantity_opt(cx, "every", Q::TIME),
        batch: keys.count_opt(cx, "batch"),
    };
    keys.finish(cx);
    fill
}

pub(super) fn emitter(cx: &mut Reader, index: usize, value: Value) -> Emitter {
    let mut keys = value.table(cx, "write each emitter under its own `[[emitters]]`");
    let disc_help = "add `disc = { centre = [0, 0, 0.1], normal = [0, 0, -1], radius = \"2 cm\" }`";
    let emitter = Emitter {
        name: keys.text_or(cx, "name", format!("emitter {}", index + 1)),
        material: keys.text(cx, "material", "add `material`: the name of one of the `[materials.…]`"),
        shape: keys.text_or(cx, "shape", ShapeSpec::SPHERE),
        radius: keys.get(cx, "radius").map(|v| size(cx, v)),
        disc: match keys.need(cx, "disc", disc_help) {
            Some(v) => {
                let mut keys = v.table(cx, disc_help);
                let disc = EmitterDisc {
                    centre: keys.vector(cx, "centre", Q::LENGTH),
                    normal: keys.vector(cx, "normal", Q::NUMBER),
                    radius: keys.quantity(cx, "radius", Q::LENGTH),
                };
                keys.finish(cx);
                disc
            }
            None => EmitterDisc { centre: DVec3::NAN, normal: DVec3::NAN, radius: f64::NAN },
        },
        flow: match keys.one_of(cx, &["rate", "mass_rate"], "add `rate = \"1000 /s\"` or `mass_rate = \"0.1 kg/s\"`") {
            Some(("mass_rate", v)) => EmitterFlow::MassRate(v.quantity(cx, Q::MASS_RATE)),
            Some((_, v)) => EmitterFlow::Rate(v.quantity(cx, Q::FREQUENCY)),
            None => EmitterFlow::Rate(f64::NAN),
        },
        velocity: keys.vector(cx, "velocity", Q::VELOCITY),
        from: keys.quantity_or(cx, "from", Q::TIME, 0.0),
        until: keys.quantity_opt(cx, "until", Q::TIME),
        count: keys.count_opt(cx, "count"),
    };
    keys.finish(cx);
    emitter
}

pub(super) fn sink(cx: &mut Reader, index: usize, value: Value) -> Sink {
    let mut keys = value.table(cx, "write each sink under its own `[[sinks]]`");
    let name = keys.text_or(cx, "name", format!("sink {}", index + 1));
    let help = "say where: `box`, `cylinder`, `sphere`, or `below = { point, normal }`";
    let region = match keys.one_of(cx, &["box", "cylinder", "sphere", "below"], help) {
        Some(("below", v)) => {
            let mut keys = v.table(cx, "write `{ point = [0, 0, 0], normal = [0, 0, 1] }`");
            let below = SinkRegion::Below {
                point: keys.vector(cx, "point", Q::LENGTH),
                normal: keys.vector(cx, "normal", Q::NUMBER),
            };
            keys.finish(cx);
            below
        }
        Some((key, v)) => SinkRegion::Region(region_of(cx, key, v)),
        None => SinkRegion::Below { point: DVec3::NAN, normal: DVec3::NAN },
    };
    keys.finish(cx);
    Sink { name, region }
}
