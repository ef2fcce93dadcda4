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
pub struct Value<'a> {
    /// Where it stands in the scene, such as `walls[2].drive.mass`.
    pub path: String,
    /// The bytes it came from.
    pub span: Range<usize>,
    pub(super) de: &'a DeValue<'a>,
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

    /// Reports that something else was expected.
    pub fn wrong(&self, cx: &mut Reader, expected: &str, help: impl Into<String>) {
        cx.error(&self.path, self.span.clone(), format!("expected {expected}, found {}", self.kind()), help);
    }

    /// A quantity in SI; NaN where it cannot be read.
    pub fn quantity(&self, cx: &mut Reader, q: Quantity) -> f64 {
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
    pub fn count(&self, cx: &mut Reader) -> Option<u64> {
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
    pub fn list(&self, cx: &mut Reader, length: Option<usize>, help: &str) -> Option<Vec<Value<'a>>> {
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
    pub fn vector(&self, cx: &mut Reader, q: Quantity) -> DVec3 {
        let example = if q.unit.is_empty() { "[0, 0, 1]".into() } else { format!("[0, 0, \"{}\"]", q.example) };
        match self.list(cx, Some(3), &format!("write three components, x, y, z, such as {example}")) {
            Some(items) => DVec3::from_array(std::array::from_fn(|i| items[i].quantity(cx, q))),
            None => DVec3::NAN,
        }
    }

    /// Whether it is a list.
    pub fn is_list(&self) -> bool {
        matches!(self.de, DeValue::Array(_))
    }

    /// Whether it is a list that begins with a list.
    pub fn is_list_of_lists(&self) -> bool {
        matches!(self.de, DeValue::Array(a) if matches!(a.first().map(|x| x.get_ref()), Some(DeValue::Array(_))))
    }

    /// Whether it is a table.
    pub fn is_table(&self) -> bool {
        matches!(self.de, DeValue::Table(_))
    }

    /// The keys of a table of which only this one is given, by a text in place of the table.
    pub fn short(&self, key: &'static str) -> Keys<'a> {
        Keys { short: Some((key, self.clone())), ..Keys::new(self.path.clone(), self.span.clone(), None) }
    }

    /// The tables of a table such as `[materials.glass]`, by name; `key` is that of the whole.
    pub fn named(&self, cx: &mut Reader, key: &str) -> Vec<(String, Value<'a>)> {
        let DeValue::Table(table) = self.de else {
            self.wrong(cx, "named tables", format!("write each one under its own `[{key}.name]`"));
            return Vec::new();
        };
        let name = |(name, v): (&Spanned<_>, _)| {
            let name = AsRef::<str>::as_ref(name.get_ref()).to_owned();
            (name.clone(), child(cx, format!("{}.{name}", self.path), v))
        };
        table.iter().map(name).collect()
    }

    /// The value as plain data, its place forgotten.
    pub fn plain(&self) -> toml::Value {
        plain(self.de)
    }

    /// True or false; none where it cannot be read.
    pub fn truth(&self, cx: &mut Reader) -> Option<bool> {
        match self.de {
            DeValue::Boolean(b) => Some(*b),
            _ => {
                self.wrong(cx, "true or false", "write `true` or `false`, without quotes");
                None
            }
        }
    }

    /// Whether it is a text.
    pub fn is_text(&self) -> bool {
        matches!(self.de, DeValue::String(_))
    }

    /// A text that is not empty; empty where it cannot be read.
    pub fn text(&self, cx: &mut Reader) -> String {
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
    pub fn choice<T: Copy>(&self, cx: &mut Reader, names: &[(&'static str, T)]) -> Option<T> {
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
    pub fn table(&self, cx: &mut Reader, example: &str) -> Keys<'a> {
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

fn plain(value: &DeValue) -> toml::Value {
    match value {
        DeValue::String(s) => s.to_string().into(),
        DeValue::Integer(i) => i64::from_str_radix(i.as_str(), i.radix()).unwrap_or_default().into(),
        DeValue::Float(f) => f.as_str().parse().unwrap_or(f64::NAN).into(),
        DeValue::Boolean(b) => (*b).into(),
        DeValue::Datetime(d) => (*d).into(),
        DeValue::Array(a) => a.iter().map(|v| plain(v.get_ref())).collect::<Vec<_>>().into(),
        DeValue::Table(t) => {
            let table: toml::Table = t.iter().map(|(k, v)| (k.get_ref().to_string(), plain(v.get_ref()))).collect();
            table.into()
        }
    }
}

fn child<'a>(cx: &mut Reader, path: String, value: &'a Spanned<DeValue<'a>>) -> Value<'a> {
    let span = value.span();
    let shown = cx.visible(span.clone());
    cx.spans.insert(path.clone(), shown);
    Value { path, span, de: value.get_ref() }
}

/// A table that remembers which keys it was asked for, so that the others can be reported.
pub struct Keys<'a> {
    path: String,
    span: Range<usize>,
    table: Option<&'a DeTable<'a>>,
    asked: Vec<&'static str>,
    missing: Vec<(Vec<&'static str>, String)>,
    /// Whether there may be keys that nobody asks for.
    open: bool,
    /// The only key, where a text stands for the table.
    short: Option<(&'static str, Value<'a>)>,
}

impl<'a> Keys<'a> {
    fn new(path: String, span: Range<usize>, table: Option<&'a DeTable<'a>>) -> Self {
        Self { path, span, table, asked: Vec::new(), missing: Vec::new(), open: false, short: None }
    }

    fn join(&self, key: &str) -> String {
        if self.path.is_empty() { key.into() } else { format!("{}.{key}", self.path) }
    }

    /// The value of a key, if it is there.
    pub fn get(&mut self, cx: &mut Reader, key: &'static str) -> Option<Value<'a>> {
        self.asked.push(key);
        if let Some((name, value)) = &self.short {
            return (*name == key).then(|| value.clone());
        }
        let value = self.table?.get(key)?;
        Some(child(cx, self.join(key), value))
    }

    /// The first key that is none of these, with its value; all others but these count as asked for.
    pub fn first_but(&mut self, cx: &mut Reader, known: &[&str]) -> Option<(String, Value<'a>)> {
        self.open = true;
        let (key, value) = self.table?.iter().find(|(k, _)| !known.contains(&k.get_ref().as_ref()))?;
        let key = key.get_ref().to_string();
        let path = self.join(&key);
        Some((key, child(cx, path, value)))
    }

    /// Whether a key is there.
    pub fn given(&self, key: &str) -> bool {
        self.short.as_ref().is_some_and(|s| s.0 == key) || self.table.is_some_and(|t| t.contains_key(key))
    }

    /// Notes that a key should have been there.
    pub fn lacks(&mut self, key: &'static str, help: String) {
        if self.table.is_some() {
            self.missing.push((vec![key], help));
        }
    }

    /// Exactly one of several keys.
    pub fn one_of(&mut self, cx: &mut Reader, keys: &[&'static str], help: &str) -> Option<(&'static str, Value<'a>)> {
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

    /// Reports keys nobody asked for, and keys that are missing.
    pub fn finish(self, cx: &mut Reader) {
        let Some(table) = self.table else { return };
        let mut meant = Vec::new();
        for (key, _) in table {
            let name = key.get_ref().as_ref();
            if self.open || self.asked.contains(&name) {
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
