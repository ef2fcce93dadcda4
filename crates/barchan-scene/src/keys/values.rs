//! Values that can stand behind a key: numbers, vectors, counts, texts, lists, and what may be left out.

use super::{Key, Range, Rows, Scale, Stated, described, join};
use crate::check::{Check, show};
use crate::read::{Reader, Value};
use crate::schema::{quantity, vector};
use crate::units::Quantity;
use glam::{DVec2, DVec3};
use indexmap::IndexMap;
use schemars::{Schema, SchemaGenerator, json_schema};

fn measured(key: &Key, of: &str) -> String {
    let unit = key.quantity.unit;
    if unit.is_empty() { of.into() } else { format!("{of} [{unit}]") }
}

fn grown(x: &mut f64, scale: &Scale, key: &Key) {
    *x *= scale.factor(key.growth, key.quantity);
}

/// Reports a number that is out of its key's range.
fn in_range(c: &mut Check, path: &str, key: &Key, x: f64) {
    match key.range {
        Range::Any | Range::Direction(_) => {}
        Range::Positive(what) => c.positive(path, what, x, key.quantity.unit),
        Range::NotNegative(what) => c.not_negative(path, what, x, key.quantity.unit),
        Range::Within(interval) => {
            if !interval.holds(x) {
                let shown = match key.quantity {
                    Quantity::ANGLE => show(x.to_degrees(), "deg"),
                    q => show(x, q.unit),
                };
                c.error(path, interval.message.replace("{}", &shown), interval.help);
            }
        }
    }
}

/// A number's schema with its range, which holds for bare numbers.
fn ranged(key: &Key) -> Schema {
    let mut schema = quantity(key.quantity);
    let bounds: Vec<(&str, f64)> = match key.range {
        Range::Any | Range::Direction(_) => vec![],
        Range::Positive(_) => vec![("exclusiveMinimum", 0.0)],
        Range::NotNegative(_) => vec![("minimum", 0.0)],
        Range::Within(i) => {
            let low = if i.with_from { "minimum" } else { "exclusiveMinimum" };
            let high = if i.with_to { "maximum" } else { "exclusiveMaximum" };
            [(low, i.from), (high, i.to)].into_iter().filter(|b| b.1.is_finite()).collect()
        }
    };
    if let Some(number) = schema.get_mut("anyOf").and_then(|a| a.get_mut(0)).and_then(|n| n.as_object_mut()) {
        number.extend(bounds.into_iter().map(|(name, x)| (name.to_owned(), x.into())));
    }
    described(schema, key)
}

impl Stated for f64 {
    fn read(cx: &mut Reader, value: &Value, key: &Key) -> Self {
        value.quantity(cx, key.quantity)
    }

    fn unknown() -> Self {
        f64::NAN
    }

    fn lacking(key: &Key) -> String {
        let q = key.quantity;
        if key.help.is_empty() {
            format!("add `{}`: {}, such as \"{}\"", key.name, q.describe(), q.example)
        } else {
            key.help.into()
        }
    }

    /// One that is left to files (the cell of a rock) is left out: `nan` could not be read back.
    fn write(&self) -> Option<toml::Value> {
        (!self.is_nan()).then(|| (*self).into())
    }

    fn schema(_: &mut SchemaGenerator, key: &Key) -> Schema {
        ranged(key)
    }

    fn grow(&mut self, scale: &Scale, key: &Key) {
        grown(self, scale, key);
    }

    fn check(&self, c: &mut Check, path: &str, key: &Key) {
        in_range(c, path, key, *self);
    }

    fn kind(key: &Key) -> String {
        measured(key, "number")
    }
}

impl Stated for DVec3 {
    fn read(cx: &mut Reader, value: &Value, key: &Key) -> Self {
        if key.one_for_all && !value.is_list() {
            return DVec3::splat(value.quantity(cx, key.quantity));
        }
        value.vector(cx, key.quantity)
    }

    fn unknown() -> Self {
        DVec3::NAN
    }

    fn lacking(key: &Key) -> String {
        if key.help.is_empty() {
            format!("add `{}`: x, y and z of {}", key.name, key.quantity.describe())
        } else {
            key.help.into()
        }
    }

    fn write(&self) -> Option<toml::Value> {
        Some(self.to_array().to_vec().into())
    }

    fn schema(_: &mut SchemaGenerator, key: &Key) -> Schema {
        let schema = match key.one_for_all {
            true => json_schema!({ "anyOf": [quantity(key.quantity), vector(key.quantity)] }),
            false => vector(key.quantity),
        };
        described(schema, key)
    }

    fn grow(&mut self, scale: &Scale, key: &Key) {
        *self *= scale.factor(key.growth, key.quantity);
    }

    fn check(&self, c: &mut Check, path: &str, key: &Key) {
        if let Range::Direction(what) = key.range {
            c.direction(path, what, *self);
        }
        self.to_array().into_iter().for_each(|x| in_range(c, path, key, x));
    }

    fn kind(key: &Key) -> String {
        measured(key, if key.one_for_all { "number or x, y, z" } else { "x, y, z" })
    }
}

impl Stated for DVec2 {
    fn read(cx: &mut Reader, value: &Value, key: &Key) -> Self {
        let items = value.list(cx, Some(2), key.help);
        items.map_or(DVec2::NAN, |i| DVec2::new(i[0].quantity(cx, key.quantity), i[1].quantity(cx, key.quantity)))
    }

    fn unknown() -> Self {
        DVec2::NAN
    }

    fn write(&self) -> Option<toml::Value> {
        Some(self.to_array().to_vec().into())
    }

    fn schema(generator: &mut SchemaGenerator, key: &Key) -> Schema {
        <[f64; 2]>::schema(generator, key)
    }

    fn grow(&mut self, scale: &Scale, key: &Key) {
        *self *= scale.factor(key.growth, key.quantity);
    }

    fn kind(key: &Key) -> String {
        measured(key, "x, y")
    }
}

impl Stated for [f64; 2] {
    fn read(cx: &mut Reader, value: &Value, key: &Key) -> Self {
        let second = key.second.unwrap_or(key.quantity);
        let items = value.list(cx, Some(2), key.help);
        items.map_or([f64::NAN; 2], |i| [i[0].quantity(cx, key.quantity), i[1].quantity(cx, second)])
    }

    fn unknown() -> Self {
        [f64::NAN; 2]
    }

    fn write(&self) -> Option<toml::Value> {
        Some(self.to_vec().into())
    }

    fn schema(_: &mut SchemaGenerator, key: &Key) -> Schema {
        let second = quantity(key.second.unwrap_or(key.quantity));
        let pair = json_schema!({ "type": "array", "prefixItems": [quantity(key.quantity), second], "minItems": 2, "maxItems": 2 });
        described(pair, key)
    }

    fn grow(&mut self, scale: &Scale, key: &Key) {
        grown(&mut self[0], scale, key);
        if key.second.is_none() {
            grown(&mut self[1], scale, key);
        }
    }

    fn check(&self, c: &mut Check, path: &str, key: &Key) {
        in_range(c, &format!("{path}[0]"), key, self[0]);
        if key.second.is_none() {
            in_range(c, &format!("{path}[1]"), key, self[1]);
        }
    }

    fn kind(key: &Key) -> String {
        measured(key, "two numbers")
    }
}

impl Stated for u64 {
    fn read(cx: &mut Reader, value: &Value, _: &Key) -> Self {
        value.count(cx).unwrap_or_else(Self::unknown)
    }

    // One thing is possible wherever a number of them is.
    fn unknown() -> Self {
        1
    }

    fn lacking(key: &Key) -> String {
        if key.help.is_empty() { format!("add `{}`: a number such as 5000", key.name) } else { key.help.into() }
    }

    fn write(&self) -> Option<toml::Value> {
        Some(i64::try_from(*self).unwrap_or(i64::MAX).into())
    }

    fn schema(generator: &mut SchemaGenerator, key: &Key) -> Schema {
        described(generator.subschema_for::<u64>(), key)
    }

    fn grow(&mut self, scale: &Scale, key: &Key) {
        let factor = scale.factor(key.growth, key.quantity);
        if factor != 1.0 {
            *self = ((*self as f64 * factor).round() as u64).max(1);
        }
    }

    fn check(&self, c: &mut Check, path: &str, key: &Key) {
        in_range(c, path, key, *self as f64);
    }

    fn kind(_: &Key) -> String {
        "whole number".into()
    }
}

impl<const N: usize> Stated for [u64; N] {
    fn read(cx: &mut Reader, value: &Value, key: &Key) -> Self {
        let items = value.list(cx, Some(N), key.help).unwrap_or_default();
        let mut all = Self::unknown();
        all.iter_mut().zip(items).for_each(|(n, v)| *n = u64::read(cx, &v, key));
        all
    }

    fn unknown() -> Self {
        [1; N]
    }

    fn write(&self) -> Option<toml::Value> {
        Some(self.iter().filter_map(Stated::write).collect::<Vec<_>>().into())
    }

    fn schema(generator: &mut SchemaGenerator, key: &Key) -> Schema {
        let item = generator.subschema_for::<u64>();
        described(json_schema!({ "type": "array", "items": item, "minItems": N, "maxItems": N }), key)
    }

    fn check(&self, c: &mut Check, path: &str, key: &Key) {
        self.iter().enumerate().for_each(|(i, n)| in_range(c, &format!("{path}[{i}]"), key, *n as f64));
    }

    fn kind(_: &Key) -> String {
        format!("{N} whole numbers")
    }
}

impl Stated for bool {
    fn read(cx: &mut Reader, value: &Value, key: &Key) -> Self {
        Self::try_read(cx, value, key).unwrap_or(false)
    }

    fn try_read(cx: &mut Reader, value: &Value, _: &Key) -> Option<Self> {
        value.truth(cx)
    }

    fn unknown() -> Self {
        false
    }

    fn write(&self) -> Option<toml::Value> {
        Some((*self).into())
    }

    fn schema(_: &mut SchemaGenerator, key: &Key) -> Schema {
        described(json_schema!({ "type": "boolean" }), key)
    }

    fn kind(_: &Key) -> String {
        "`true`, `false`".into()
    }
}

impl Stated for String {
    fn read(cx: &mut Reader, value: &Value, _: &Key) -> Self {
        value.text(cx)
    }

    fn unknown() -> Self {
        String::new()
    }

    fn write(&self) -> Option<toml::Value> {
        (!self.is_empty()).then(|| self.as_str().into())
    }

    fn schema(_: &mut SchemaGenerator, key: &Key) -> Schema {
        described(json_schema!({ "type": "string" }), key)
    }

    fn kind(_: &Key) -> String {
        "text".into()
    }
}

impl Stated for [String; 2] {
    fn read(cx: &mut Reader, value: &Value, key: &Key) -> Self {
        let items = value.list(cx, Some(2), key.help);
        items.map_or_else(Self::unknown, |i| [i[0].text(cx), i[1].text(cx)])
    }

    fn unknown() -> Self {
        Default::default()
    }

    fn write(&self) -> Option<toml::Value> {
        Some(self.to_vec().into())
    }

    fn schema(_: &mut SchemaGenerator, key: &Key) -> Schema {
        let pair = json_schema!({ "type": "array", "items": { "type": "string" }, "minItems": 2, "maxItems": 2 });
        described(pair, key)
    }

    fn kind(_: &Key) -> String {
        "two texts".into()
    }
}

impl<T: Stated> Stated for Option<T> {
    const OPTIONAL: bool = true;

    fn read(cx: &mut Reader, value: &Value, key: &Key) -> Self {
        Some(T::read(cx, value, key))
    }

    fn unknown() -> Self {
        None
    }

    fn write(&self) -> Option<toml::Value> {
        self.as_ref().and_then(T::write)
    }

    fn schema(generator: &mut SchemaGenerator, key: &Key) -> Schema {
        T::schema(generator, key)
    }

    fn grow(&mut self, scale: &Scale, key: &Key) {
        self.iter_mut().for_each(|x| x.grow(scale, key));
    }

    fn check(&self, c: &mut Check, path: &str, key: &Key) {
        self.iter().for_each(|x| x.check(c, path, key));
    }

    fn rows(rows: &mut Rows) {
        T::rows(rows);
    }

    fn kind(key: &Key) -> String {
        T::kind(key)
    }
}

impl<T: Stated> Stated for Vec<T> {
    fn read(cx: &mut Reader, value: &Value, key: &Key) -> Self {
        if key.one_for_all && !value.is_list_of_lists() {
            return vec![T::read(cx, value, key)];
        }
        let help = if key.help.is_empty() { format!("write a list of {}", T::kind(key)) } else { key.help.into() };
        let items = value.list(cx, None, &help).unwrap_or_default();
        items.iter().filter_map(|v| T::try_read(cx, v, key)).collect()
    }

    fn unknown() -> Self {
        Vec::new()
    }

    fn write(&self) -> Option<toml::Value> {
        Some(self.iter().filter_map(T::write).collect::<Vec<_>>().into())
    }

    fn schema(generator: &mut SchemaGenerator, key: &Key) -> Schema {
        let item = T::schema(generator, &Key { about: "", ..*key });
        let list = json_schema!({ "type": "array", "items": item });
        let schema = match key.one_for_all {
            true => json_schema!({ "anyOf": [item, list] }),
            false => list,
        };
        described(schema, key)
    }

    fn grow(&mut self, scale: &Scale, key: &Key) {
        self.iter_mut().for_each(|x| x.grow(scale, key));
    }

    fn check(&self, c: &mut Check, path: &str, key: &Key) {
        self.iter().enumerate().for_each(|(i, x)| x.check(c, &format!("{path}[{i}]"), key));
    }

    fn rows(rows: &mut Rows) {
        T::rows(rows);
    }

    fn kind(key: &Key) -> String {
        format!("list of {}", T::kind(key))
    }
}

impl<T: Stated> Stated for IndexMap<String, T> {
    fn read(cx: &mut Reader, value: &Value, key: &Key) -> Self {
        value.named(cx, key.name).into_iter().map(|(name, v)| (name, T::read(cx, &v, key))).collect()
    }

    fn unknown() -> Self {
        IndexMap::new()
    }

    fn write(&self) -> Option<toml::Value> {
        let table: toml::Table = self.iter().filter_map(|(name, x)| Some((name.clone(), x.write()?))).collect();
        Some(table.into())
    }

    fn schema(generator: &mut SchemaGenerator, key: &Key) -> Schema {
        let item = T::schema(generator, &Key { about: "", ..*key });
        described(json_schema!({ "type": "object", "additionalProperties": item }), key)
    }

    fn grow(&mut self, scale: &Scale, key: &Key) {
        self.values_mut().for_each(|x| x.grow(scale, key));
    }

    fn check(&self, c: &mut Check, path: &str, key: &Key) {
        self.iter().for_each(|(name, x)| x.check(c, &join(path, name), key));
    }

    fn rows(rows: &mut Rows) {
        rows.under("NAME", T::rows);
    }

    fn kind(key: &Key) -> String {
        format!("by name: {}", T::kind(key))
    }
}
