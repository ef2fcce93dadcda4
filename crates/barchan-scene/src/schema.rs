//! The JSON schema of scenes, for editors; and the schemas of quantities the types refer to.

use crate::types::Scene;
use crate::units::{Quantity, symbols};
use schemars::{Schema, SchemaGenerator, json_schema};

/// JSON schema (draft 2020-12) of a scene, for editors that complete and check TOML.
pub fn schema() -> String {
    let schema = SchemaGenerator::default().into_root_schema_for::<Scene>();
    serde_json::to_string_pretty(&schema).unwrap_or_default()
}

/// A regular expression of the strings that read as a quantity, whatever its dimension.
fn pattern() -> String {
    let (plain, prefixed, prefixes) = symbols();
    let symbol = format!(
        "(?:1|(?:{}|[{}]?(?:{}))(?:\\^?-?[0-9.]+|[²³])?)",
        plain.join("|"),
        prefixes.concat(),
        prefixed.join("|")
    );
    let product = format!("{symbol}(?:[ *·⋅]+{symbol})*");
    let number = r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?";
    format!(r"^\s*{number}\s*(?:{product})?(?:\s*/\s*\(?{product}\)?)*\s*$")
}

fn quantity(q: Quantity) -> Schema {
    let unit = if q.unit.is_empty() { "pure number".to_owned() } else { format!("number in {}", q.unit) };
    json_schema!({
        "anyOf": [
            { "type": "number", "description": unit },
            { "type": "string", "pattern": pattern(), "description": format!("{} with its unit", q.name), "examples": [q.example] }
        ]
    })
}

fn vector(q: Quantity) -> Schema {
    json_schema!({ "type": "array", "items": quantity(q), "minItems": 3, "maxItems": 3 })
}

macro_rules! quantities {
    ($($name:ident = $q:ident),* $(,)?) => { $(pub(crate) fn $name(_: &mut SchemaGenerator) -> Schema { quantity(Quantity::$q) })* };
}
macro_rules! vectors {
    ($($name:ident = $q:ident),* $(,)?) => { $(pub(crate) fn $name(_: &mut SchemaGenerator) -> Schema { vector(Quantity::$q) })* };
}

quantities! {
    number = NUMBER, length = LENGTH, area = AREA, time = TIME, mass = MASS, angle = ANGLE, velocity = VELOCITY,
    angular_rate = ANGULAR_RATE, frequency = FREQUENCY, mass_rate = MASS_RATE, density = DENSITY, pressure = PRESSURE,
    force = FORCE, stiffness = STIFFNESS, hertz_stiffness = HERTZ_STIFFNESS, surface_energy = SURFACE_ENERGY, damping = DAMPING,
    torque = TORQUE, subgrade = SUBGRADE,
}
vectors! {
    length3 = LENGTH, velocity3 = VELOCITY, acceleration3 = ACCELERATION, angular_rate3 = ANGULAR_RATE, angle3 = ANGLE,
    direction = NUMBER, inertia3 = INERTIA,
}

/// A table, or a text that stands for its first key.
pub(crate) fn or_text(schema: &mut Schema) {
    let table = std::mem::take(schema);
    *schema = json_schema!({ "anyOf": [{ "type": "string" }, table] });
}

pub(crate) fn length2(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "array", "items": quantity(Quantity::LENGTH), "minItems": 2, "maxItems": 2 })
}

pub(crate) fn number2(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "array", "items": quantity(Quantity::NUMBER), "minItems": 2, "maxItems": 2 })
}

pub(crate) fn positions(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "array", "items": vector(Quantity::LENGTH), "minItems": 1 })
}

/// One place, or a list of them.
pub(crate) fn place_or_places(generator: &mut SchemaGenerator) -> Schema {
    json_schema!({ "anyOf": [vector(Quantity::LENGTH), positions(generator)] })
}

/// One factor, or one a direction.
pub(crate) fn scale3(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "anyOf": [quantity(Quantity::NUMBER), vector(Quantity::NUMBER)] })
}

pub(crate) fn sieve(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "array",
        "minItems": 1,
        "items": {
            "type": "array",
            "prefixItems": [quantity(Quantity::LENGTH), quantity(Quantity::NUMBER)],
            "minItems": 2,
            "maxItems": 2
        }
    })
}

/// For tables whose missing keys come from a preset.
pub(crate) fn nothing_required(schema: &mut Schema) {
    schema.remove("required");
}
