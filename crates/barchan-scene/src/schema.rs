//! The JSON schema of scenes, for editors; and the schemas of quantities.

use crate::keys::{Rows, Stated};
use crate::measure::Vocabulary;
use crate::types::Scene;
use crate::units::{Quantity, symbols};
use schemars::{Schema, SchemaGenerator, json_schema};

/// JSON schema (draft 2020-12) of a scene, for editors that complete and check TOML.
pub fn schema(vocabulary: &Vocabulary) -> String {
    let mut generator = SchemaGenerator::default();
    let measures = vocabulary.schemas(&mut generator);
    let mut schema = generator.into_root_schema_for::<Scene>();
    if let Some(table) = schema.pointer_mut("/$defs/Measure").and_then(|t| t.as_object_mut())
        && !measures.is_empty()
    {
        let each: Vec<_> = measures.iter().map(|m| serde_json::json!({ "required": [m.0] })).collect();
        table.insert("oneOf".into(), each.into());
        table.insert("additionalProperties".into(), false.into());
        if let Some(properties) = table.get_mut("properties").and_then(|p| p.as_object_mut()) {
            properties.extend(measures.into_iter().map(|(key, s)| (key.to_owned(), s.to_value())));
        }
    }
    serde_json::to_string_pretty(&schema).unwrap_or_default()
}

/// Every key of a scene with its unit, range, default and growth, as a page of the documentation.
pub fn page(vocabulary: &Vocabulary) -> String {
    let mut rows = Rows::default();
    Scene::rows(&mut rows);
    vocabulary.rows(&mut rows);
    format!("{HEAD}\n{}", rows.to_markdown())
}

/// What stands above the page of keys.
const HEAD: &str = "\
# Keys of a scene

Every key with its unit, range and default, as the code states them: `barchan schema --page` writes this page, and a test compares the
two. [scene-format.md](scene-format.md) explains the keys. A bare number has the unit in brackets. `NAME` is a name of your choice. The last
column says how a value grows with `--scale f`; where it is empty it stays.
";

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

/// A number, bare or with its unit.
pub(crate) fn quantity(q: Quantity) -> Schema {
    let unit = if q.unit.is_empty() { "pure number".to_owned() } else { format!("number in {}", q.unit) };
    json_schema!({
        "anyOf": [
            { "type": "number", "description": unit },
            { "type": "string", "pattern": pattern(), "description": format!("{} with its unit", q.name), "examples": [q.example] }
        ]
    })
}

/// Three of them.
pub(crate) fn vector(q: Quantity) -> Schema {
    json_schema!({ "type": "array", "items": quantity(q), "minItems": 3, "maxItems": 3 })
}
