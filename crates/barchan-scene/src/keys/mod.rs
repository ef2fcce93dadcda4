//! Keys of a scene, each stated once.
//!
//! [`keys!`](crate::keys) states a table and [`one_of!`](crate::one_of) a choice among tables: of every key its name, meaning, quantity, range,
//! growth under `--scale` and default. From the statement follow the Rust type, the reader with its messages, the check of ranges, the JSON
//! schema, the scaling, the writer, and the page of keys in the documentation ([`Row`]). What concerns several keys at once
//! is checked in `check/`.
//!
//! ```
//! use barchan_scene::{DVec3, keys};
//! keys! {
//!     /// Steady rotation about a fixed axis.
//!     pub struct Turntable = "write `{ point = [0, 0, 0], rate = \"12 rpm\" }`" {
//!         /// A point of the axis [m].
//!         point: DVec3 [LENGTH; grows],
//!         /// Direction of the axis, of any length.
//!         axis: DVec3 [NUMBER; direction("the axis")] = DVec3::Z,
//!         /// Angular rate [rad/s], by the right hand.
//!         rate: f64 [ANGULAR_RATE; grows],
//!         /// When it starts [s]; left out: at once.
//!         from: Option<f64> [TIME; grows, not_negative("the start")],
//!     }
//! }
//! ```
//!
//! Behind the type stands, in brackets, the [`Quantity`] of a number, and after a semicolon what else holds: methods of [`Key`]. A key
//! without a default is required, unless it is an `Option`. `= value` is a default; `=> |reader, keys| value` is one that is made of keys
//! that stand before it (they are in scope by their names): `Some` of it, or `None` where the key is required. `@flat` before the name of a
//! choice puts its keys into the table itself.

mod macros;
mod rows;
mod values;

pub use rows::{Row, Rows};

use crate::check::Check;
use crate::read::{Keys, Reader, Value};
use crate::units::Quantity;
pub use schemars::{JsonSchema, Schema, SchemaGenerator};
pub use serde::{Serialize, Serializer};
pub use toml;

/// What is said of one key.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// Its name in a scene.
    pub name: &'static str,
    /// What it means, as the documentation has it.
    pub about: &'static str,
    /// What a number of it measures; of the first number, where there are two.
    pub quantity: Quantity,
    /// What the second of two numbers measures, where that is something else (and does not grow).
    pub second: Option<Quantity>,
    /// Values that are possible.
    pub range: Range,
    /// How it grows under `--scale`.
    pub growth: Growth,
    /// What helps where it is missing or has another form; empty for a sentence made of the quantity.
    pub help: &'static str,
    /// What else could be given instead; appended to the help.
    pub instead: &'static str,
    /// Whether a single value may stand for a list of one, or a number for three equal ones.
    pub one_for_all: bool,
    /// Whether its default follows from other keys: what is wrong with those is reported there.
    pub follows: bool,
    /// Whether it must be given.
    pub required: bool,
    /// Whether what stands in its braces keeps its size under `--scale`.
    pub fixed: bool,
    /// Variables that a formula may have.
    pub variables: &'static [&'static str],
}

/// Values of a number that are possible.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Range {
    /// All.
    Any,
    /// Above 0; with what the message calls the number.
    Positive(&'static str),
    /// 0 or above.
    NotNegative(&'static str),
    /// A vector that is not zero.
    Direction(&'static str),
    /// An interval of its own.
    Within(Interval),
}

/// An interval with its message.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// Lower end.
    pub from: f64,
    /// Whether the lower end itself is possible.
    pub with_from: bool,
    /// Upper end.
    pub to: f64,
    /// Whether the upper end itself is possible.
    pub with_to: bool,
    /// The message, with `{}` where the value stands.
    pub message: &'static str,
    /// The remedy.
    pub help: &'static str,
}

impl Interval {
    /// Whether it holds a value; one that could not be read offends nobody.
    pub fn holds(&self, x: f64) -> bool {
        let low = x < self.from || (x == self.from && !self.with_from);
        let high = x > self.to || (x == self.to && !self.with_to);
        !(low || high)
    }
}

/// How a number grows when a scene is made larger (see [`Scene::scaled`](crate::Scene::scaled)).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Growth {
    /// Not at all: it belongs to the grains, or is a stress.
    Stays,
    /// By its dimension: lengths as L, times as √L, masses as L³.
    Dimension,
    /// As a product of powers.
    Powers {
        /// Power of the factor of the number of grains.
        number: i32,
        /// Power of the factor of lengths.
        length: i32,
        /// Power of the factor of times.
        time: i32,
    },
}

/// Factors of a scene that is made larger.
#[derive(Clone, Copy, Debug)]
pub struct Scale {
    /// Of numbers of grains.
    pub number: f64,
    /// Of lengths.
    pub length: f64,
    /// Of times.
    pub time: f64,
}

impl Scale {
    /// Of a scene with `factor` times the grains at the same gravity: Froude similarity.
    pub fn new(factor: f64) -> Scale {
        let length = barchan_core::math::cbrt(factor);
        Scale { number: factor, length, time: length.sqrt() }
    }

    /// Of a number that a key states.
    pub fn factor(&self, growth: Growth, quantity: Quantity) -> f64 {
        let (number, length, time) = match growth {
            Growth::Stays => return 1.0,
            Growth::Dimension => {
                let [length, mass, time] = quantity.dimension.powers();
                (0, length + 3 * mass, time)
            }
            Growth::Powers { number, length, time } => (number, length, time),
        };
        power(self.number, number) * power(self.length, length) * power(self.time, time)
    }
}

/// A whole power by repeated products, the same on every machine.
fn power(x: f64, n: i32) -> f64 {
    let p = (0..n.unsigned_abs()).fold(1.0, |p, _| p * x);
    if n < 0 { 1.0 / p } else { p }
}

impl Key {
    /// A key of which only name and meaning are known.
    pub const fn new(name: &'static str, about: &'static str) -> Key {
        Key {
            name,
            about,
            quantity: Quantity::NUMBER,
            second: None,
            range: Range::Any,
            growth: Growth::Stays,
            help: "",
            instead: "",
            one_for_all: false,
            follows: false,
            required: true,
            fixed: false,
            variables: &[],
        }
    }

    /// Measures this.
    pub const fn of(mut self, quantity: Quantity) -> Key {
        self.quantity = quantity;
        self
    }

    /// The second of two numbers is a pure one.
    pub const fn then_number(mut self) -> Key {
        self.second = Some(Quantity::NUMBER);
        self
    }

    /// Must be above 0; `what` begins the message: "the radius".
    pub const fn positive(mut self, what: &'static str) -> Key {
        self.range = Range::Positive(what);
        self
    }

    /// Must be 0 or more.
    pub const fn not_negative(mut self, what: &'static str) -> Key {
        self.range = Range::NotNegative(what);
        self
    }

    /// Must not be the zero vector.
    pub const fn direction(mut self, what: &'static str) -> Key {
        self.range = Range::Direction(what);
        self
    }

    /// Must lie between two numbers, both of them possible. `{}` in the message is the value.
    pub const fn within(self, from: f64, to: f64, message: &'static str, help: &'static str) -> Key {
        self.interval(Interval { from, with_from: true, to, with_to: true, message, help })
    }

    /// Must lie in an interval.
    pub const fn interval(mut self, interval: Interval) -> Key {
        self.range = Range::Within(interval);
        self
    }

    /// Grows by its dimension.
    pub const fn grows(mut self) -> Key {
        self.growth = Growth::Dimension;
        self
    }

    /// What stands in its braces keeps its size, whatever that says.
    pub const fn stays(mut self) -> Key {
        self.fixed = true;
        self
    }

    /// Grows as powers of the factors of number, length and time.
    pub const fn grows_as(mut self, number: i32, length: i32, time: i32) -> Key {
        self.growth = Growth::Powers { number, length, time };
        self
    }

    /// A formula may have these variables.
    pub const fn variables(mut self, variables: &'static [&'static str]) -> Key {
        self.variables = variables;
        self
    }

    /// What to write where it is missing or has another form.
    pub const fn help(mut self, help: &'static str) -> Key {
        self.help = help;
        self
    }

    /// What else could be given instead.
    pub const fn instead(mut self, instead: &'static str) -> Key {
        self.instead = instead;
        self
    }

    /// One value may stand for a list of one, or a number for three equal ones.
    pub const fn one_for_all(mut self) -> Key {
        self.one_for_all = true;
        self
    }

    /// Its default follows from other keys.
    pub const fn following(mut self) -> Key {
        self.follows = true;
        self.required = false;
        self
    }

    /// It may be left out.
    pub const fn optional(mut self) -> Key {
        self.required = false;
        self
    }
}

/// What can stand behind a key.
pub trait Stated: Sized + Clone + PartialEq {
    /// Whether a key of this type may be left out without a default.
    const OPTIONAL: bool = false;

    /// Reads a value; what cannot be read is reported, and something that offends no check stands in for it.
    fn read(cx: &mut Reader, value: &Value, key: &Key) -> Self;

    /// Reads a value where the default stands in for what cannot be read.
    fn try_read(cx: &mut Reader, value: &Value, key: &Key) -> Option<Self> {
        Some(Self::read(cx, value, key))
    }

    /// What stands for a value that is missing or cannot be read.
    fn unknown() -> Self;

    /// What helps where the key is missing.
    fn lacking(key: &Key) -> String {
        if key.help.is_empty() { format!("add `{}`", key.name) } else { key.help.into() }
    }

    /// The value as it is written into a scene; none where it is left out.
    fn write(&self) -> Option<toml::Value>;

    /// JSON schema of what is accepted.
    fn schema(generator: &mut SchemaGenerator, key: &Key) -> Schema;

    /// Makes it larger.
    fn grow(&mut self, _scale: &Scale, _key: &Key) {}

    /// Reports what is out of range; `path` is its own.
    fn check(&self, _c: &mut Check, _path: &str, _key: &Key) {}

    /// What stands in its braces, for the page of keys.
    fn rows(_rows: &mut Rows) {}

    /// What kind of value it is, for the page of keys.
    fn kind(key: &Key) -> String;
}

/// A choice of exactly one of several keys.
pub trait OneOf: Sized + Clone + PartialEq {
    /// What helps where none is given.
    const HELP: &'static str;

    /// The keys.
    fn names() -> Vec<&'static str>;

    /// The key that was chosen.
    fn chosen(&self) -> &str;

    /// Reads what stands behind the chosen key.
    fn read_as(cx: &mut Reader, name: &'static str, value: &Value) -> Self;

    /// What stands for a choice that is missing or cannot be read.
    fn none() -> Self;

    /// What stands behind the key, as it is written.
    fn write_inner(&self) -> toml::Value;

    /// JSON schemas by key.
    fn schemas(generator: &mut SchemaGenerator) -> Vec<(&'static str, Schema)>;

    /// Makes it larger.
    fn grow_inner(&mut self, scale: &Scale);

    /// Reports what is out of range; `path` is that of the table that has the key.
    fn check_inner(&self, c: &mut Check, path: &str);

    /// Rows of all choices, for the page of keys.
    fn all_rows(rows: &mut Rows);

    /// Reads the choice from among the keys of a table.
    fn read_flat(cx: &mut Reader, keys: &mut Keys, help: &str) -> Self {
        let help = if help.is_empty() { Self::HELP } else { help };
        match keys.one_of(cx, &Self::names(), help) {
            Some((name, value)) => Self::read_as(cx, name, &value),
            None => Self::none(),
        }
    }
}

/// Reads a key of a table; what is missing takes its default, or is reported.
pub fn read_key<T: Stated>(cx: &mut Reader, keys: &mut Keys, key: &Key, default: Option<T>) -> T {
    match keys.get(cx, key.name) {
        Some(value) => T::try_read(cx, &value, key).or(default).unwrap_or_else(T::unknown),
        None => default.unwrap_or_else(|| {
            if !T::OPTIONAL {
                let instead = if key.instead.is_empty() { String::new() } else { format!("; {}", key.instead) };
                keys.lacks(key.name, T::lacking(key) + &instead);
            }
            T::unknown()
        }),
    }
}

/// Writes a key of a table, unless it is as if it had been left out.
pub fn write_key<T: Stated>(table: &mut toml::Table, name: &str, value: &T, default: Option<T>) {
    if default.is_none_or(|d| d != *value)
        && let Some(written) = value.write()
    {
        table.insert(name.into(), written);
    }
}

/// Makes what stands behind a key larger.
pub fn grow_key<T: Stated>(value: &mut T, scale: &Scale, key: &Key) {
    if !key.fixed {
        value.grow(scale, key);
    }
}

/// Checks what stands behind a key of the table at `path`.
pub fn check_key<T: Stated>(value: &T, c: &mut Check, path: &str, key: &Key) {
    let path = join(path, key.name);
    if !key.follows || c.is_own(&path) {
        value.check(c, &path, key);
    }
}

/// The JSON schema of a table as it is gathered.
pub struct TableSchema {
    about: &'static str,
    properties: serde_json::Map<String, serde_json::Value>,
    required: Vec<&'static str>,
    choices: Vec<serde_json::Value>,
    short: bool,
    open: bool,
}

impl TableSchema {
    /// Of a table that means this.
    pub fn new(about: &'static str) -> TableSchema {
        TableSchema {
            about,
            properties: Default::default(),
            required: vec![],
            choices: vec![],
            short: false,
            open: false,
        }
    }

    /// Adds a key.
    pub fn add<T: Stated>(&mut self, generator: &mut SchemaGenerator, key: &Key) {
        self.properties.insert(key.name.into(), T::schema(generator, key).to_value());
        if key.required && !T::OPTIONAL {
            self.required.push(key.name);
        }
    }

    /// Adds the keys of a choice, of which exactly one must be there. A choice whose keys are defined elsewhere leaves the table open.
    pub fn add_flat<T: OneOf>(&mut self, generator: &mut SchemaGenerator) {
        self.properties.extend(T::schemas(generator).into_iter().map(|(name, s)| (name.to_owned(), s.to_value())));
        if T::names().is_empty() {
            self.open = true;
            return;
        }
        let each: Vec<_> = T::names().iter().map(|name| serde_json::json!({ "required": [name] })).collect();
        self.choices.push(serde_json::json!({ "oneOf": each }));
    }

    /// A text may stand for the table, as the value of that key.
    pub fn short(&mut self, _key: &'static str) {
        self.short = true;
    }

    /// The schema.
    pub fn finish(self) -> Schema {
        let mut schema = schemars::json_schema!({
            "type": "object",
            "description": self.about.trim(),
            "properties": self.properties,
            "additionalProperties": self.open
        });
        if !self.required.is_empty() {
            schema.insert("required".into(), self.required.into());
        }
        if !self.choices.is_empty() {
            schema.insert("allOf".into(), self.choices.into());
        }
        if self.short { either(schemars::json_schema!({ "type": "string" }), schema) } else { schema }
    }
}

/// A schema of two forms.
pub fn either(a: Schema, b: Schema) -> Schema {
    schemars::json_schema!({ "anyOf": [a, b] })
}

/// A schema with the key's meaning.
pub fn described(mut schema: Schema, key: &Key) -> Schema {
    schema.ensure_object().entry("description").or_insert_with(|| key.about.trim().into());
    schema
}

/// The path of a key in a table.
pub fn join(path: &str, key: &str) -> String {
    if path.is_empty() { key.into() } else { format!("{path}.{key}") }
}
