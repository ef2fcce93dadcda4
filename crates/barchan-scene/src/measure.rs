//! What a scene asks to be measured. The keys belong to whoever measures: a scene is read with a [`Vocabulary`] that says what there is, and
//! what is not in it is kept as it was written.

use crate::check::Check;
use crate::keys::{Key, OneOf, Rows, Scale, Schema, SchemaGenerator, Stated};
use crate::read::{Keys, Reader, Value};
use std::any::Any;
use std::fmt::Debug;

/// Keys of tables that others than the scene define.
#[derive(Clone, Copy, Debug, Default)]
pub struct Vocabulary {
    /// What can be measured.
    pub measures: &'static [Kind],
}

impl Vocabulary {
    /// What helps where a measurement is missing: every key with those that it requires.
    fn help(&self) -> String {
        let form = |kind: &Kind| {
            let mut rows = Rows::default();
            (kind.rows)(&mut rows);
            let required = rows.list.iter().filter(|r| r.is_required() && !r.path.contains('.'));
            let keys: Vec<_> = required.map(|r| r.path.as_str()).collect();
            let braces = if keys.is_empty() { "{}".into() } else { format!("{{ {} }}", keys.join(", ")) };
            format!("`{} = {braces}`", kind.key)
        };
        format!("say what to measure: {}", self.measures.iter().map(form).collect::<Vec<_>>().join(", "))
    }

    /// JSON schemas of what can be measured.
    pub(crate) fn schemas(&self, generator: &mut SchemaGenerator) -> Vec<(&'static str, Schema)> {
        self.measures.iter().map(|k| (k.key, (k.schema)(generator, &Key::new(k.key, k.about)))).collect()
    }

    /// The page of keys of what can be measured.
    pub(crate) fn rows(&self, rows: &mut Rows) {
        rows.under("measure", |rows| self.measures.iter().for_each(|k| rows.table(k.key, k.about, k.rows)));
    }
}

/// Something that can be measured, under its key.
#[derive(Clone, Copy, Debug)]
pub struct Kind {
    /// Its key in a `[[measure]]`.
    pub key: &'static str,
    /// What it is, for the page of keys.
    pub about: &'static str,
    read: fn(&mut Reader, &Value) -> What,
    schema: fn(&mut SchemaGenerator, &Key) -> Schema,
    rows: fn(&mut Rows),
}

impl Kind {
    /// Of keys that were stated by [`keys!`](crate::keys) or [`one_of!`](crate::one_of).
    pub const fn of<T: Measured>() -> Kind {
        Kind {
            key: T::KEY,
            about: T::ABOUT,
            read: |cx, value| What(Box::new(T::read(cx, value, &Key::new(T::KEY, T::ABOUT).help(T::HELP)))),
            schema: T::schema,
            rows: T::rows,
        }
    }
}

/// Keys of a measurement.
pub trait Measured: Stated + Debug + Send + Sync + 'static {
    /// Its key in a `[[measure]]`.
    const KEY: &'static str;
    /// What it is, in a sentence.
    const ABOUT: &'static str;
    /// What helps where its keys have another form; empty for what the keys say of themselves.
    const HELP: &'static str = "";

    /// Reports what the ranges of single keys do not tell; `path` is that of the measurement's table.
    fn check_all(&self, _c: &mut Check, _path: &str) {}

    /// The file that it names, if it names one.
    fn file(&self) -> Option<&str> {
        None
    }
}

/// What is measured: plain data, its type known to whoever measures.
#[derive(Debug)]
pub struct What(Box<dyn Erased>);

impl What {
    /// The keys, as whoever defined them knows them.
    pub fn get<T: Measured>(&self) -> Option<&T> {
        self.0.as_any().downcast_ref()
    }

    /// Its key in a scene.
    pub fn key(&self) -> &str {
        self.0.key()
    }

    /// The file that it names, if it names one.
    pub fn file(&self) -> Option<&str> {
        self.0.named_file()
    }
}

impl Clone for What {
    fn clone(&self) -> Self {
        What(self.0.copy())
    }
}

impl PartialEq for What {
    fn eq(&self, other: &Self) -> bool {
        self.0.equals(other.0.as_any())
    }
}

/// [`Measured`] without its type.
trait Erased: Debug + Send + Sync {
    fn key(&self) -> &str;
    fn copy(&self) -> Box<dyn Erased>;
    fn as_any(&self) -> &dyn Any;
    fn equals(&self, other: &dyn Any) -> bool;
    fn written(&self) -> toml::Value;
    fn enlarge(&mut self, scale: &Scale);
    fn look(&self, c: &mut Check, path: &str);
    fn named_file(&self) -> Option<&str> {
        None
    }
}

impl<T: Measured> Erased for T {
    fn key(&self) -> &str {
        T::KEY
    }

    fn copy(&self) -> Box<dyn Erased> {
        Box::new(self.clone())
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn equals(&self, other: &dyn Any) -> bool {
        other.downcast_ref() == Some(self)
    }

    fn written(&self) -> toml::Value {
        self.write().unwrap_or(toml::Table::new().into())
    }

    fn enlarge(&mut self, scale: &Scale) {
        self.grow(scale, &Key::new(T::KEY, ""));
    }

    fn look(&self, c: &mut Check, path: &str) {
        self.check(c, path, &Key::new(T::KEY, ""));
        self.check_all(c, path);
    }

    fn named_file(&self) -> Option<&str> {
        self.file()
    }
}

/// A measurement that the vocabulary does not have, as it was written.
#[derive(Clone, Debug, PartialEq)]
struct Unread {
    key: String,
    value: toml::Value,
}

impl Erased for Unread {
    fn key(&self) -> &str {
        &self.key
    }

    fn copy(&self) -> Box<dyn Erased> {
        Box::new(self.clone())
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn equals(&self, other: &dyn Any) -> bool {
        other.downcast_ref() == Some(self)
    }

    fn written(&self) -> toml::Value {
        self.value.clone()
    }

    fn enlarge(&mut self, _: &Scale) {}

    fn look(&self, _: &mut Check, _: &str) {}
}

impl OneOf for What {
    const HELP: &'static str = "say what to measure";

    fn names() -> Vec<&'static str> {
        Vec::new()
    }

    fn chosen(&self) -> &str {
        self.key()
    }

    fn read_as(_: &mut Reader, _: &'static str, _: &Value) -> Self {
        Self::none()
    }

    fn none() -> Self {
        What(Box::new(Unread { key: String::new(), value: toml::Table::new().into() }))
    }

    fn write_inner(&self) -> toml::Value {
        self.0.written()
    }

    fn schemas(_: &mut SchemaGenerator) -> Vec<(&'static str, Schema)> {
        Vec::new()
    }

    fn grow_inner(&mut self, scale: &Scale) {
        self.0.enlarge(scale);
    }

    fn check_inner(&self, c: &mut Check, path: &str) {
        self.0.look(c, &crate::keys::join(path, self.key()));
    }

    fn all_rows(_: &mut Rows) {}

    fn read_flat(cx: &mut Reader, keys: &mut Keys, _: &str) -> Self {
        let kinds = cx.vocabulary.measures;
        if kinds.is_empty() {
            return match keys.first_but(cx, &["name", "every"]) {
                Some((key, value)) => What(Box::new(Unread { key, value: value.plain() })),
                None => Self::none(),
            };
        }
        let names: Vec<_> = kinds.iter().map(|k| k.key).collect();
        let Some((name, value)) = keys.one_of(cx, &names, &cx.vocabulary.help()) else { return Self::none() };
        kinds.iter().find(|k| k.key == name).map_or_else(Self::none, |k| (k.read)(cx, &value))
    }
}
