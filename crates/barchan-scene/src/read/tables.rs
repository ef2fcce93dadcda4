//! Tables and values with their places: the small typed reader the rest of `read/` is written in.

use super::{Reader, listing, nearest};
use crate::units::Quantity;
use glam::DVec3;
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Words people use for keys that are called otherwise here.
const SYNONYMS: &[(&str, &str)] = &[
    ("diameter", "radius"),
    ("size", "radius"),
    ("color", "colour"),
    ("fps", "rate"),
    ("rho", "density"),
    ("e", "restitution"),
    ("mu", "friction"),
    ("nu", "poisson"),
    ("youngs_modulus", "young"),
    ("modulus", "young"),
    ("surface_energy", "cohesion"),
    ("time_step", "dt"),
    ("timestep", "dt"),
    ("position", "at"),
    ("positions", "at"),
    ("number", "count"),
    ("origin", "point"),
    ("time", "duration"),
    ("particles", "grains"),
    ("boundaries", "walls"),
    ("boundary", "walls"),
    ("bounds", "domain"),
];

/// A value, its path and its place.
#[derive(Clone)]
pub(crate) struct Value<'a> {
    pub(crate) path: String,
    pub(crate) span: Range<usize>,
    pub(crate) de: &'a DeValue<'a>,
}

impl<'a> Value<'a> {
    fn kind(&self) -> &'static str {
        match self.de {
            DeValue::String(_) => "a string",
            DeValue::Integer(_) | DeValue::Float(_) => "a number",
            DeValue::Boolean(_) => "true or false",
            DeValue::Datetime(_) => "a date",
            DeValue::Array(_) => "a list",
            DeValue::Table(_) => "a table",
        }
    }

    pub(crate) fn wrong(&self, cx: &mut Reader, expected: &str, help: impl Into<String>) {
        cx.error(&self.path, self.span.clone(), format!("expected {expected}, found {}", self.kind()), help);
    }

    /// A quantity in SI; NaN where it cannot be read.
    pub(crate) fn quantity(&self, cx: &mut Reader, q: Quantity) -> f64 {
        let help = || {
            if q.unit.is_empty() {
                format!("write a bare number, or a string such as \"{}\"", q.example)
            } else {
                format!("write a bare number in {}, or a string such as \"{}\"", q.unit, q.example)
            }
        };
        let number = match self.de {
            DeValue::Float(f) => f.as_str().parse::<f64>().ok(),
            DeValue::Integer(i) if i.radix() == 10 => i.as_str().parse::<f64>().ok(),
            DeValue::Integer(i) => i64::from_str_radix(i.as_str(), i.radix()).ok().map(|i| i as f64),
            DeValue::String(s) => match q.parse(s) {
                Ok(value) => Some(value),
                Err(message) => {
                    cx.error(&self.path, self.span.clone(), message, help());
                    return f64::NAN;
                }
            },
            _ => {
                self.wrong(cx, &q.describe(), help());
                return f64::NAN;
            }
        };
        match number {
            Some(x) if x.is_finite() => x,
            _ => {
                cx.error(
                    &self.path,
                    self.span.clone(),
                    format!("expected {}, found no finite number", q.describe()),
                    help(),
                );
                f64::NAN
            }
        }
    }

    /// A whole number of things; none where it cannot be read.
    pub(crate) fn count(&self, cx: &mut Reader) -> Option<u64> {
        let number = match self.de {
            DeValue::Integer(i) => i64::from_str_radix(i.as_str(), i.radix()).ok().and_then(|i| u64::try_from(i).ok()),
            // 1e4 is a float in TOML, and a natural way to write a count.
            DeValue::Float(f) => {
                let x = f.as_str().parse::<f64>().ok();
                x.filter(|x| *x >= 0.0 && x.fract() == 0.0 && *x < 9e15).map(|x| x as u64)
            }
            _ => {
                self.wrong(cx, "a whole number", "write a number such as 5000, without a unit");
                return None;
            }
        };
        if number.is_none() {
            let help = "write a number such as 5000, without a unit";
            cx.error(&self.path, self.span.clone(), "expected a whole number that is not negative", help);
        }
        number
    }

    /// Items of a list of a fixed or free length; none where it is no such list.
    pub(crate) fn list(&self, cx: &mut Reader, length: Option<usize>, help: &str) -> Option<Vec<Value<'a>>> {
        let DeValue::Array(items) = self.de else {
            self.wrong(cx, "a list", help);
            return None;
        };
        if let Some(n) = length
            && items.len() != n
        {
            let message = format!(
                "expected a list of {n}, found {} {}",
                items.len(),
                if items.len() == 1 { "item" } else { "items" }
            );
            cx.error(&self.path, self.span.clone(), message, help);
            return None;
        }
        Some(items.iter().enumerate().map(|(i, v)| child(cx, format!("{}[{i}]", self.path), v)).collect())
    }

    /// A vector in SI; NaN where it cannot be read.
    pub(crate) fn vector(&self, cx: &mut Reader, q: Quantity) -> DVec3 {
        let example = if q.unit.is_empty() { "[0, 0, 1]".into() } else { format!("[0, 0, \"{}\"]", q.example) };
        match self.list(cx, Some(3), &format!("write three components, x, y, z, such as {example}")) {
            Some(items) => DVec3::from_array(std::array::from_fn(|i| items[i].quantity(cx, q))),
            None => DVec3::NAN,
        }
    }

    /// Whether it is a text.
    pub(crate) fn is_text(&self) -> bool {
        matches!(self.de, DeValue::String(_))
    }

    /// A text that is not empty; empty where it cannot be read.
    pub(crate) fn text(&self, cx: &mut Reader) -> String {
        match self.de {
            DeValue::String(s) if !s.trim().is_empty() => s.to_string(),
            DeValue::String(_) => {
                cx.error(
                    &self.path,
                    self.span.clone(),
                    "expected a text, found an empty one",
                    "write a name in quotes",
                );
                String::new()
            }
            _ => {
                self.wrong(cx, "a text", "write a name in quotes");
                String::new()
            }
        }
    }

    /// One of several names.
    pub(crate) fn choice<T: Copy>(&self, cx: &mut Reader, names: &[(&'static str, T)]) -> Option<T> {
        let all = || format!("choose {}", listing(names.iter().map(|n| n.0)));
        let DeValue::String(s) = self.de else {
            self.wrong(cx, "a name", all());
            return None;
        };
        let found = names.iter().find(|n| n.0 == s.as_ref()).map(|n| n.1);
        if found.is_none() {
            let near = nearest(s, names.iter().map(|n| n.0));
            let help = near.map_or_else(all, |n| format!("did you mean `{n}`? ({})", all()));
            cx.error(&self.path, self.span.clone(), format!("`{s}` is not a choice here"), help);
        }
        found
    }

    /// The keys of a table; of nothing where it is no table.
    pub(crate) fn table(&self, cx: &mut Reader, example: &str) -> Keys<'a> {
        let table = match self.de {
            DeValue::Table(t) => Some(t),
            _ => {
                self.wrong(cx, "a table", example);
                None
            }
        };
        Keys::new(self.path.clone(), self.span.clone(), table)
    }
}

fn child<'a>(cx: &mut Reader, path: String, value: &'a Spanned<DeValue<'a>>) -> Value<'a> {
    let span = value.span();
    let shown = cx.visible(span.clone());
    cx.spans.insert(path.clone(), shown);
    Value { path, span, de: value.get_ref() }
}

/// A table that remembers which keys it was asked for, so that the others can be reported.
pub(crate) struct Keys<'a> {
    pub(crate) path: String,
    pub(crate) span: Range<usize>,
    table: Option<&'a DeTable<'a>>,
    asked: Vec<&'static str>,
    missing: Vec<(Vec<&'static str>, String)>,
}

impl<'a> Keys<'a> {
    pub(crate) fn new(path: String, span: Range<usize>, table: Option<&'a DeTable<'a>>) -> Self {
        Self { path, span, table, asked: Vec::new(), missing: Vec::new() }
    }

    fn join(&self, key: &str) -> String {
        if self.path.is_empty() { key.into() } else { format!("{}.{key}", self.path) }
    }

    /// The value of a key, if it is there.
    pub(crate) fn get(&mut self, cx: &mut Reader, key: &'static str) -> Option<Value<'a>> {
        self.asked.push(key);
        let value = self.table?.get(key)?;
        Some(child(cx, self.join(key), value))
    }

    /// The value of a key that must be there.
    pub(crate) fn need(&mut self, cx: &mut Reader, key: &'static str, help: impl Into<String>) -> Option<Value<'a>> {
        let value = self.get(cx, key);
        if value.is_none() && self.table.is_some() {
            self.missing.push((vec![key], help.into()));
        }
        value
    }

    /// Exactly one of several keys.
    pub(crate) fn one_of(
        &mut self,
        cx: &mut Reader,
        keys: &[&'static str],
        help: &str,
    ) -> Option<(&'static str, Value<'a>)> {
        let found: Vec<_> = keys.iter().filter_map(|&k| self.get(cx, k).map(|v| (k, v))).collect();
        if found.is_empty() && self.table.is_some() {
            self.missing.push((keys.to_vec(), help.into()));
        }
        for (key, _) in found.iter().skip(1) {
            let message = format!("`{key}` cannot stand beside `{}`", found[0].0);
            cx.error(&self.join(key), self.key_span(key), message, format!("keep one of the two; {help}"));
        }
        found.into_iter().next()
    }

    fn key_span(&self, key: &str) -> Range<usize> {
        let key = self.table.and_then(|t| t.get_key_value(key)).map(|(k, _)| k.span());
        key.unwrap_or_else(|| self.span.clone())
    }

    pub(crate) fn quantity(&mut self, cx: &mut Reader, key: &'static str, q: Quantity) -> f64 {
        let help = format!("add `{key}`: {}, such as \"{}\"", q.describe(), q.example);
        self.need(cx, key, help).map_or(f64::NAN, |v| v.quantity(cx, q))
    }

    pub(crate) fn quantity_or(&mut self, cx: &mut Reader, key: &'static str, q: Quantity, default: f64) -> f64 {
        self.quantity_opt(cx, key, q).unwrap_or(default)
    }

    pub(crate) fn quantity_opt(&mut self, cx: &mut Reader, key: &'static str, q: Quantity) -> Option<f64> {
        self.get(cx, key).map(|v| v.quantity(cx, q))
    }

    pub(crate) fn vector(&mut self, cx: &mut Reader, key: &'static str, q: Quantity) -> DVec3 {
        let help = format!("add `{key}`: x, y and z of {}", q.describe());
        self.need(cx, key, help).map_or(DVec3::NAN, |v| v.vector(cx, q))
    }

    pub(crate) fn vector_or(&mut self, cx: &mut Reader, key: &'static str, q: Quantity, default: DVec3) -> DVec3 {
        self.get(cx, key).map_or(default, |v| v.vector(cx, q))
    }

    pub(crate) fn text(&mut self, cx: &mut Reader, key: &'static str, help: &str) -> String {
        self.need(cx, key, help).map_or_else(String::new, |v| v.text(cx))
    }

    pub(crate) fn text_or(&mut self, cx: &mut Reader, key: &'static str, default: impl Into<String>) -> String {
        self.get(cx, key).map_or_else(|| default.into(), |v| v.text(cx))
    }

    pub(crate) fn count_opt(&mut self, cx: &mut Reader, key: &'static str) -> Option<u64> {
        self.get(cx, key).and_then(|v| v.count(cx))
    }

    pub(crate) fn choice_or<T: Copy>(
        &mut self,
        cx: &mut Reader,
        key: &'static str,
        names: &[(&'static str, T)],
        default: T,
    ) -> T {
        self.get(cx, key).and_then(|v| v.choice(cx, names)).unwrap_or(default)
    }

    /// Choices in a list; an empty list where the key is missing.
    pub(crate) fn choices<T: Copy>(
        &mut self,
        cx: &mut Reader,
        key: &'static str,
        names: &[(&'static str, T)],
    ) -> Option<Vec<T>> {
        let value = self.get(cx, key)?;
        let help = format!("write a list of {}", listing(names.iter().map(|n| n.0)));
        let items = value.list(cx, None, &help)?;
        Some(items.iter().filter_map(|v| v.choice(cx, names)).collect())
    }

    /// The tables of a list such as `[[walls]]`.
    pub(crate) fn tables<T>(
        &mut self,
        cx: &mut Reader,
        key: &'static str,
        mut read: impl FnMut(&mut Reader, usize, Value<'a>) -> T,
    ) -> Vec<T> {
        let Some(value) = self.get(cx, key) else { return Vec::new() };
        let help = format!("write each one under its own `[[{key}]]`");
        let items = value.list(cx, None, &help).unwrap_or_default();
        items.into_iter().enumerate().map(|(i, v)| read(cx, i, v)).collect()
    }

    /// The tables of a table such as `[materials.glass]`, by name.
    pub(crate) fn named(&mut self, cx: &mut Reader, key: &'static str) -> Vec<(String, Value<'a>)> {
        let Some(value) = self.get(cx, key) else { return Vec::new() };
        let DeValue::Table(table) = value.de else {
            value.wrong(cx, "named tables", format!("write each one under its own `[{key}.name]`"));
            return Vec::new();
        };
        let mut entries = Vec::new();
        for (name, v) in table {
            let name = name.get_ref().to_string();
            let path = format!("{key}.{name}");
            entries.push((name, child(cx, path, v)));
        }
        entries
    }

    /// Reports keys nobody asked for, and keys that are missing.
    pub(crate) fn finish(self, cx: &mut Reader) {
        let Some(table) = self.table else { return };
        let mut meant = Vec::new();
        for (key, _) in table {
            let name = key.get_ref().as_ref();
            if self.asked.contains(&name) {
                continue;
            }
            let known = || self.asked.iter().copied();
            let synonym = SYNONYMS.iter().find(|(from, to)| *from == name && self.asked.contains(to)).map(|s| s.1);
            let near = nearest(name, known()).or(synonym);
            let help = match near {
                Some(n) if name == "diameter" => format!("give `{n}`: half the diameter"),
                Some(n) => format!("did you mean `{n}`?"),
                None => format!("known here: {}", listing(known())),
            };
            if let Some(near) = near {
                meant.push(near);
                // Checks must not call missing what was only mistyped.
                cx.spans.insert(self.join(near), key.span());
            }
            let place = if self.path.is_empty() { "a scene".into() } else { format!("`{}`", self.path) };
            cx.error(&self.join(name), key.span(), format!("unknown key `{name}` in {place}"), help);
        }
        for (keys, help) in self.missing {
            if keys.iter().any(|k| meant.contains(k)) {
                continue; // the mistyped key has been reported with this very name
            }
            let place = if self.path.is_empty() { "the scene".into() } else { format!("`{}`", self.path) };
            let what = if keys.len() == 1 {
                format!("`{}`", keys[0])
            } else {
                format!("one of {}", listing(keys.iter().copied()))
            };
            cx.error(&self.path, self.span.clone(), format!("{place} lacks {what}"), help);
        }
    }
}
