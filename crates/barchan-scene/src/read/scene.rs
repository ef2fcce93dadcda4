//! The top of a scene: domain, materials, laws, integrator.

use super::{Keys, Reader, Value, bodies, grains, ground, output, picture, walls};
use crate::presets::Preset;
use crate::types::*;
use crate::units::Quantity as Q;
use indexmap::IndexMap;
use toml::Spanned;
use toml::de::DeTable;

pub(super) fn scene<'a>(cx: &mut Reader, document: &'a Spanned<DeTable<'a>>) -> Scene {
    let mut keys = Keys::new(String::new(), 0..0, Some(document.get_ref()));
    let keys = &mut keys;
    let title = keys.text_or(cx, "title", "");
    let about = keys.text_or(cx, "about", "");
    let duration = keys.quantity(cx, "duration", Q::TIME);
    let gravity = keys.vector_or(cx, "gravity", Q::ACCELERATION, STANDARD_GRAVITY);
    let seed = keys.count_opt(cx, "seed").unwrap_or(1);
    let domain =
        keys.need(cx, "domain", "add a `[domain]` with `min` and `max`, the corners of the space that is simulated");
    let nowhere = Domain { min: glam::DVec3::NAN, max: glam::DVec3::NAN, periodic: Vec::new(), outside: Outside::Stop };
    let domain = domain.map_or(nowhere, |v| self::domain(cx, v));
    let contact = keys.get(cx, "contact").map_or_else(Contact::default, |v| contact(cx, v));
    let mut materials = IndexMap::new();
    for (name, v) in keys.named(cx, "materials") {
        let m = material(cx, v, &contact);
        materials.insert(name, m);
    }
    let pairs = keys.tables(cx, "pairs", |cx, _, v| pair(cx, v));
    let integrator = keys.get(cx, "integrator").map_or_else(Integrator::default, |v| integrator(cx, v));
    let shapes = keys.named(cx, "shapes").into_iter().map(|(name, v)| (name, grains::shape(cx, v))).collect();
    let grains = keys.tables(cx, "grains", grains::grains);
    let first = materials.keys().next().cloned().unwrap_or_default();
    let bodies = keys.tables(cx, "bodies", |cx, i, v| bodies::body(cx, i, v, &first));
    let emitters = keys.tables(cx, "emitters", grains::emitter);
    let sinks = keys.tables(cx, "sinks", grains::sink);
    let walls = keys.tables(cx, "walls", walls::wall);
    let ground = keys.get(cx, "ground").map(|v| ground::ground(cx, v, &domain, &first));
    let output =
        keys.get(cx, "output").map_or_else(|| Output::for_duration(duration), |v| output::output(cx, v, duration));
    let picture = keys.get(cx, "picture").map_or_else(Picture::default, |v| picture::picture(cx, v));
    let mut measure = keys.tables(cx, "measure", |cx, _, v| output::measure(cx, v, output.every));
    output::name_measures(&mut measure);
    std::mem::replace(keys, Keys::new(String::new(), 0..0, None)).finish(cx);
    Scene {
        title,
        about,
        duration,
        gravity,
        seed,
        domain,
        materials,
        pairs,
        contact,
        integrator,
        shapes,
        grains,
        bodies,
        emitters,
        sinks,
        walls,
        ground,
        output,
        picture,
        measure,
    }
}

fn domain(cx: &mut Reader, value: Value) -> Domain {
    let mut keys = value.table(cx, "write `min` and `max` under `[domain]`");
    let domain = Domain {
        min: keys.vector(cx, "min", Q::LENGTH),
        max: keys.vector(cx, "max", Q::LENGTH),
        periodic: keys.choices(cx, "periodic", Axis::NAMES).unwrap_or_default(),
        outside: keys.choice_or(cx, "outside", Outside::NAMES, Outside::Stop),
    };
    keys.finish(cx);
    domain
}

fn contact(cx: &mut Reader, value: Value) -> Contact {
    let mut keys = value.table(cx, "write `normal = \"hertz\"` under `[contact]`");
    let normal = keys.choice_or(cx, "normal", NormalLaw::NAMES, NormalLaw::Hertz);
    // Laws without an elastic modulus go with the spring of constant stiffness.
    let default = match normal {
        NormalLaw::Hertz | NormalLaw::KuwabaraKono => TangentialLaw::Mindlin,
        NormalLaw::Linear | NormalLaw::LeeHerrmann => TangentialLaw::CundallStrack,
    };
    let contact = Contact {
        normal,
        tangential: keys.choice_or(cx, "tangential", TangentialLaw::NAMES, default),
        stiffness: keys.quantity_opt(cx, "stiffness", Q::STIFFNESS),
        contact_time: keys.quantity_opt(cx, "contact_time", Q::TIME),
        dissipation: keys.quantity_opt(cx, "dissipation", Q::TIME),
        lee_herrmann: keys.get(cx, "lee_herrmann").map(|v| {
            let mut keys = v.table(cx, "write `{ stiffness = \"1e8 N/m^1.5\", damping = \"100 /s\" }`");
            let constants = LeeHerrmann {
                stiffness: keys.quantity(cx, "stiffness", Q::HERTZ_STIFFNESS),
                damping: keys.quantity(cx, "damping", Q::FREQUENCY),
            };
            keys.finish(cx);
            constants
        }),
        tangential_stiffness: keys.quantity_opt(cx, "tangential_stiffness", Q::NUMBER),
        tangential_damping: keys.quantity_opt(cx, "tangential_damping", Q::DAMPING),
    };
    keys.finish(cx);
    contact
}

fn material(cx: &mut Reader, value: Value, law: &Contact) -> Material {
    let mut keys = value.table(cx, "write `density`, `young`, … or a `preset` under `[materials.name]`");
    let preset = keys.get(cx, "preset").map(|v| v.choice(cx, Preset::NAMES));
    // An unreadable preset has been reported; what it would have given is unknown, not missing.
    let unknown = matches!(preset, Some(None));
    let base = preset.flatten().map(Preset::material);
    let mut property = |cx: &mut Reader, key, q, get: fn(&Material) -> f64, fallback: Option<f64>| {
        if unknown {
            return keys.quantity_or(cx, key, q, f64::NAN);
        }
        match base.as_ref().map(get).or(fallback) {
            Some(default) => keys.quantity_or(cx, key, q, default),
            None => {
                let help = format!("add `{key}`: {}, such as \"{}\"; or a `preset`", q.describe(), q.example);
                keys.need(cx, key, help).map_or(f64::NAN, |v| v.quantity(cx, q))
            }
        }
    };
    // What the law does not use need not be given; it gets the presets' customary values.
    let young = (!law.uses_young()).then_some(1e7);
    let restitution = (!law.uses_restitution()).then_some(0.5);
    let material = Material {
        preset: preset.flatten(),
        density: property(cx, "density", Q::DENSITY, |m| m.density, None),
        young: property(cx, "young", Q::PRESSURE, |m| m.young, young),
        poisson: property(cx, "poisson", Q::NUMBER, |m| m.poisson, Some(0.3)),
        restitution: property(cx, "restitution", Q::NUMBER, |m| m.restitution, restitution),
        friction: property(cx, "friction", Q::NUMBER, |m| m.friction, None),
        rolling: property(cx, "rolling", Q::NUMBER, |m| m.rolling, Some(0.0)),
        twisting: property(cx, "twisting", Q::NUMBER, |m| m.twisting, Some(0.0)),
        cohesion: property(cx, "cohesion", Q::SURFACE_ENERGY, |m| m.cohesion, Some(0.0)),
    };
    keys.finish(cx);
    material
}

fn pair(cx: &mut Reader, value: Value) -> Pair {
    let mut keys = value.table(cx, "write `between` and what differs under `[[pairs]]`");
    let help = "write the names of two materials, such as [\"glass\", \"steel\"]";
    let between = keys.need(cx, "between", help).and_then(|v| v.list(cx, Some(2), help));
    let pair = Pair {
        between: between.map_or_else(Default::default, |items| [items[0].text(cx), items[1].text(cx)]),
        restitution: keys.quantity_opt(cx, "restitution", Q::NUMBER),
        friction: keys.quantity_opt(cx, "friction", Q::NUMBER),
        rolling: keys.quantity_opt(cx, "rolling", Q::NUMBER),
        twisting: keys.quantity_opt(cx, "twisting", Q::NUMBER),
        cohesion: keys.quantity_opt(cx, "cohesion", Q::SURFACE_ENERGY),
    };
    keys.finish(cx);
    pair
}

fn integrator(cx: &mut Reader, value: Value) -> Integrator {
    let mut keys = value.table(cx, "write `dt = \"1e-5 s\"` under `[integrator]`");
    let integrator = Integrator {
        method: keys.choice_or(cx, "method", Method::NAMES, Method::VelocityVerlet),
        dt: keys.quantity_opt(cx, "dt", Q::TIME),
        dissipation: keys.quantity_or(cx, "dissipation", Q::NUMBER, 0.0),
        precision: keys.choice_or(cx, "precision", Precision::NAMES, Precision::Mixed),
        max_overlap: keys.quantity_or(cx, "max_overlap", Q::NUMBER, Integrator::MAX_OVERLAP),
    };
    keys.finish(cx);
    integrator
}
