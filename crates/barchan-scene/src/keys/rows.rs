//! The page of keys: every key with its unit, range, growth and default, as a table for the documentation.

use super::{Growth, Key, Range, Stated};
use crate::check::show;

/// One line of the page of keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// Where it stands, such as `walls.cylinder.radius`.
    pub path: String,
    /// What kind of value it is, and what it measures.
    pub kind: String,
    /// What it means.
    pub about: String,
    /// Values that are possible.
    pub range: String,
    /// What it is where it is left out.
    pub default: String,
    /// How it grows under `--scale`.
    pub growth: String,
}

impl Row {
    /// Whether the key must be given.
    pub fn is_required(&self) -> bool {
        self.default == REQUIRED
    }
}

/// The default of a key that has none.
const REQUIRED: &str = "**required**";

/// Rows, as they are gathered from the statements.
#[derive(Debug, Default)]
pub struct Rows {
    path: Vec<String>,
    /// What was gathered.
    pub list: Vec<Row>,
}

impl Rows {
    /// Adds a key and what stands in its braces.
    pub fn add<T: Stated>(&mut self, key: &Key, default: Option<&T>) {
        self.path.push(key.name.into());
        let default = match default {
            Some(value) => value.write().map_or_else(String::new, |v| format!("`{v}`")),
            None if key.required && !T::OPTIONAL => REQUIRED.into(),
            None => String::new(),
        };
        self.list.push(Row {
            path: self.path.join("."),
            kind: T::kind(key),
            about: key.about.split_whitespace().collect::<Vec<_>>().join(" "),
            range: range(key),
            default,
            growth: growth(key),
        });
        T::rows(self);
        self.path.pop();
    }

    /// Adds a table and what stands in its braces.
    pub fn table(&mut self, name: &str, about: &str, add: impl FnOnce(&mut Rows)) {
        self.path.push(name.into());
        self.list.push(Row {
            path: self.path.join("."),
            kind: "table".into(),
            about: about.split_whitespace().collect::<Vec<_>>().join(" "),
            range: String::new(),
            default: String::new(),
            growth: String::new(),
        });
        add(self);
        self.path.pop();
    }

    /// Adds what stands under a name, without a row of its own.
    pub fn under(&mut self, name: &str, add: impl FnOnce(&mut Rows)) {
        self.path.push(name.into());
        add(self);
        self.path.pop();
    }

    /// The page as a Markdown table.
    pub fn to_markdown(&self) -> String {
        let mut text =
            String::from("| key | value | meaning | range | default | grows as |\n|---|---|---|---|---|---|\n");
        for r in &self.list {
            let about = r.about.replace('|', "\\|");
            text += &format!("| `{}` | {} | {about} | {} | {} | {} |\n", r.path, r.kind, r.range, r.default, r.growth);
        }
        text
    }
}

fn range(key: &Key) -> String {
    let unit = if key.quantity == crate::units::Quantity::ANGLE { "deg" } else { "" };
    let end = |x: f64| if unit.is_empty() { show(x, "") } else { show(x.to_degrees(), unit) };
    match key.range {
        Range::Any => String::new(),
        Range::Positive(_) => "> 0".into(),
        Range::NotNegative(_) => "≥ 0".into(),
        Range::Direction(_) => "not zero".into(),
        Range::Within(i) => {
            let low = if i.from.is_finite() {
                format!("{} {} ", end(i.from), if i.with_from { "≤" } else { "<" })
            } else {
                String::new()
            };
            let high = if i.to.is_finite() {
                format!(" {} {}", if i.with_to { "≤" } else { "<" }, end(i.to))
            } else {
                String::new()
            };
            format!("{low}…{high}")
        }
    }
}

fn growth(key: &Key) -> String {
    let (number, length, time) = match key.growth {
        Growth::Stays => return String::new(),
        Growth::Dimension => {
            let [length, mass, time] = key.quantity.dimension.powers();
            (0, length + 3 * mass, time)
        }
        Growth::Powers { number, length, time } => (number, length, time),
    };
    // The factor f of the number of grains is that of lengths cubed, and that of times to the sixth.
    let sixths = 6 * number + 2 * length + time;
    match (sixths, sixths % 6, sixths % 3, sixths % 2) {
        (0, ..) => String::new(),
        (6, ..) => "f".into(),
        (n, 0, ..) => format!("f^{}", n / 6),
        (n, _, 0, _) => format!("f^({}/2)", n / 3),
        (n, _, _, 0) => format!("f^({}/3)", n / 2),
        (n, ..) => format!("f^({n}/6)"),
    }
}
