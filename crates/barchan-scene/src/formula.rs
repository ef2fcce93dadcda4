//! Formulas of a place, and of time where that is asked for: numbers, `pi`, + − · / ^, brackets, and a few functions.
//!
//! A formula is read once, with the scene, and is plain data like the rest of it. Which variables it may have says its key.
//!
//! Written by hand: crates for it carry variables, types and caches that a height or a wind does not need, and none tells the place of a
//! mistake.

use crate::keys::{Key, Schema, SchemaGenerator, Stated, toml};
use crate::read::{Reader, Value};
use barchan_core::math;
use glam::DVec3;

/// A formula made ready: its text, and operations in the order in which they are done. Without operations it could not be read, which has
/// been reported.
#[derive(Clone, Debug, PartialEq)]
pub struct Formula {
    text: String,
    ops: Vec<Op>,
}

/// A formula that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("at character {}: {message}", at + 1)]
pub struct FormulaError {
    /// Where, in bytes from the beginning.
    pub at: usize,
    /// What is wrong.
    pub message: String,
}

/// What acts on the top of a stack of numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Op {
    Number(f64),
    Variable(usize),
    One(One),
    Two(Two),
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum One {
    Negative,
    Sin,
    Cos,
    Tan,
    Exp,
    Log,
    Sqrt,
    Abs,
    Floor,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Two {
    Sum,
    Difference,
    Product,
    Quotient,
    Power,
    Min,
    Max,
    Atan2,
    Hypot,
}

impl One {
    fn of(self, a: f64) -> f64 {
        match self {
            One::Negative => -a,
            One::Sin => math::sin(a),
            One::Cos => math::cos(a),
            One::Tan => math::tan(a),
            One::Exp => math::exp(a),
            One::Log => math::ln(a),
            One::Sqrt => a.sqrt(),
            One::Abs => a.abs(),
            One::Floor => a.floor(),
        }
    }
}

impl Two {
    fn of(self, a: f64, b: f64) -> f64 {
        match self {
            Two::Sum => a + b,
            Two::Difference => a - b,
            Two::Product => a * b,
            Two::Quotient => a / b,
            Two::Power => math::powf(a, b),
            Two::Min => a.min(b),
            Two::Max => a.max(b),
            Two::Atan2 => math::atan2(a, b),
            Two::Hypot => math::hypot(a, b),
        }
    }
}

/// Functions of one value.
const ONE: &[(&str, One)] = &[
    ("sin", One::Sin),
    ("cos", One::Cos),
    ("tan", One::Tan),
    ("exp", One::Exp),
    ("log", One::Log),
    ("sqrt", One::Sqrt),
    ("abs", One::Abs),
    ("floor", One::Floor),
];
/// Functions of two values.
const TWO: &[(&str, Two)] = &[("min", Two::Min), ("max", Two::Max), ("atan2", Two::Atan2), ("hypot", Two::Hypot)];

/// How deep brackets may stand in each other.
const DEEPEST: usize = 100;

impl Formula {
    /// Its value at a time [s], where it is one of t alone.
    pub fn at_time(&self, t: f64) -> f64 {
        self.value(&[t, 0.0, 0.0, 0.0])
    }

    /// Reads a formula of these variables: x and y, x, y, z and t, or t.
    pub fn of(text: &str, variables: &'static [&'static str]) -> Result<Formula, FormulaError> {
        let mut parser = Parser { text, variables, at: 0, ops: Vec::new(), depth: 0 };
        parser.sum()?;
        match parser.next() {
            None => Ok(Formula { text: text.into(), ops: parser.ops }),
            Some(c) => Err(parser.wrong(format!("`{c}` was not expected here; is an operator or a bracket missing?"))),
        }
    }

    /// It as it is written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether it could be read.
    pub fn is_read(&self) -> bool {
        !self.ops.is_empty()
    }

    /// So many times it.
    #[must_use]
    pub fn times(&self, factor: f64) -> Formula {
        let ops = [Op::Number(factor)].into_iter().chain(self.ops.iter().copied()).chain([Op::Two(Two::Product)]);
        Formula { text: format!("{factor}*({})", self.text), ops: ops.collect() }
    }

    /// Its value at x and y.
    pub fn at(&self, x: f64, y: f64) -> f64 {
        self.value(&[x, y, 0.0, 0.0])
    }

    /// Its value at a place [m] and a time [s].
    pub fn at_place(&self, x: DVec3, t: f64) -> f64 {
        self.value(&[x.x, x.y, x.z, t])
    }

    fn value(&self, variables: &[f64; 4]) -> f64 {
        let mut stack = Vec::with_capacity(8);
        // The parser lets no operation stand without what it acts on.
        let pop = |stack: &mut Vec<f64>| stack.pop().unwrap_or(f64::NAN);
        for op in &self.ops {
            let value = match *op {
                Op::Number(n) => n,
                Op::Variable(k) => variables[k],
                Op::One(f) => f.of(pop(&mut stack)),
                Op::Two(f) => {
                    let b = pop(&mut stack);
                    f.of(pop(&mut stack), b)
                }
            };
            stack.push(value);
        }
        pop(&mut stack)
    }
}

impl Stated for Formula {
    /// A mistake in the formula is shown where it stands in the text.
    fn read(cx: &mut Reader, value: &Value, key: &Key) -> Self {
        let text = value.text(cx);
        if text.is_empty() {
            return Formula::unknown();
        }
        Formula::of(&text, key.variables).unwrap_or_else(|e| {
            // The text begins after its quote, and is what is written there unless it holds escapes.
            let at = value.span.start + 1 + e.at;
            let span = if at < value.span.end { at..value.span.end } else { value.span.clone() };
            cx.error(&value.path, span, format!("the formula cannot be read {e}"), key.help);
            Formula::unknown()
        })
    }

    fn unknown() -> Self {
        Formula { text: String::new(), ops: Vec::new() }
    }

    fn write(&self) -> Option<toml::Value> {
        self.text.write()
    }

    fn schema(generator: &mut SchemaGenerator, key: &Key) -> Schema {
        String::schema(generator, key)
    }

    fn kind(_: &Key) -> String {
        "formula".into()
    }
}

struct Parser<'t> {
    text: &'t str,
    /// Names of the variables, in the order of their values.
    variables: &'static [&'static str],
    at: usize,
    ops: Vec<Op>,
    depth: usize,
}

impl Parser<'_> {
    fn wrong(&self, message: impl Into<String>) -> FormulaError {
        FormulaError { at: self.at, message: message.into() }
    }

    /// The next character that is no space, which is not taken.
    fn next(&mut self) -> Option<char> {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start().len();
        self.text[self.at..].chars().next()
    }

    fn take(&mut self, c: char) -> bool {
        let found = self.next() == Some(c);
        self.at += if found { c.len_utf8() } else { 0 };
        found
    }

    fn expect(&mut self, c: char) -> Result<(), FormulaError> {
        if self.take(c) { Ok(()) } else { Err(self.wrong(format!("expected `{c}`"))) }
    }

    fn sum(&mut self) -> Result<(), FormulaError> {
        self.product()?;
        loop {
            let then = match () {
                () if self.take('+') => Two::Sum,
                () if self.take('-') => Two::Difference,
                () => return Ok(()),
            };
            self.product()?;
            self.ops.push(Op::Two(then));
        }
    }

    fn product(&mut self) -> Result<(), FormulaError> {
        self.signed()?;
        loop {
            let then = match () {
                () if self.take('*') => Two::Product,
                () if self.take('/') => Two::Quotient,
                () => return Ok(()),
            };
            self.signed()?;
            self.ops.push(Op::Two(then));
        }
    }

    /// A sign binds weaker than a power: −2² is −4.
    fn signed(&mut self) -> Result<(), FormulaError> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(self.wrong("too many brackets or signs stand in each other"));
        }
        if self.take('-') {
            self.signed()?;
            self.ops.push(Op::One(One::Negative));
        } else if self.take('+') {
            self.signed()?;
        } else {
            self.atom()?;
            if self.take('^') {
                self.signed()?;
                self.ops.push(Op::Two(Two::Power));
            }
        }
        self.depth -= 1;
        Ok(())
    }

    fn atom(&mut self) -> Result<(), FormulaError> {
        match self.next() {
            None => Err(self.wrong("a value is missing at the end")),
            Some('(') => {
                self.at += 1;
                self.sum()?;
                self.expect(')')
            }
            Some(c) if c.is_ascii_digit() || c == '.' => self.number(),
            Some(c) if c.is_ascii_alphabetic() => self.word(),
            Some(c) => Err(self.wrong(format!("`{c}` is no value"))),
        }
    }

    fn number(&mut self) -> Result<(), FormulaError> {
        let rest = &self.text.as_bytes()[self.at..];
        let mut end = 0;
        while let Some(c) = rest.get(end) {
            let exponent = end > 0 && matches!(rest[end - 1], b'e' | b'E');
            let part = c.is_ascii_digit() || matches!(c, b'.' | b'e' | b'E') || exponent && matches!(c, b'+' | b'-');
            if !part {
                break;
            }
            end += 1;
        }
        let text = &self.text[self.at..self.at + end];
        let value = text.parse::<f64>().map_err(|_| self.wrong(format!("`{text}` is no number")))?;
        self.at += end;
        self.ops.push(Op::Number(value));
        Ok(())
    }

    fn word(&mut self) -> Result<(), FormulaError> {
        let rest = &self.text[self.at..];
        let name = &rest[..rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len())];
        let begin = self.at;
        self.at += name.len();
        let value = match self.variables.iter().position(|v| *v == name) {
            Some(k) => Some(Op::Variable(k)),
            None => (name == "pi").then_some(Op::Number(std::f64::consts::PI)),
        };
        if let Some(value) = value {
            self.ops.push(value);
            return Ok(());
        }
        let one = ONE.iter().find(|f| f.0 == name).map(|f| Op::One(f.1));
        let two = TWO.iter().find(|f| f.0 == name).map(|f| Op::Two(f.1));
        let Some(op) = one.or(two) else {
            self.at = begin;
            let known = self
                .variables
                .iter()
                .copied()
                .chain(["pi"])
                .chain(ONE.iter().map(|f| f.0))
                .chain(TWO.iter().map(|f| f.0));
            return Err(self.wrong(format!("`{name}` is not known; use {}", crate::read::listing(known))));
        };
        self.expect('(')?;
        self.sum()?;
        if two.is_some() {
            self.expect(',')?;
            self.sum()?;
        }
        self.expect(')')?;
        self.ops.push(op);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const XY: &[&str] = &["x", "y"];
    const XYZT: &[&str] = &["x", "y", "z", "t"];

    #[test]
    fn formulas_have_the_value_they_have_on_paper() {
        let (x, y) = (0.7_f64, -1.3_f64);
        for (text, value) in [
            ("1", 1.0),
            (" 2 + 3*4 ", 14.0),
            ("(2+3)*4", 20.0),
            ("2 - 3 - 4", -5.0),
            ("16/4/2", 2.0),
            ("2^3^2", 512.0),
            ("-2^2", -4.0),
            ("2^-1", 0.5),
            ("--3", 3.0),
            ("1.5e-2", 0.015),
            (".5e+1*2", 10.0),
            ("x*y", x * y),
            ("0.02*sin(20*x) + 0.01*cos(pi*y)", 0.02 * (20.0 * x).sin() + 0.01 * (std::f64::consts::PI * y).cos()),
            ("max(0, 1 - hypot(x, y))", (1.0 - x.hypot(y)).max(0.0)),
            ("exp(-(x^2 + y^2))/sqrt(2)", (-(x * x + y * y)).exp() / 2f64.sqrt()),
            ("abs(y) + min(x, y) + atan2(y, x) + floor(y)", -y + y + y.atan2(x) - 2.0),
        ] {
            let found = Formula::of(text, XY).unwrap_or_else(|e| panic!("{text}: {e}")).at(x, y);
            assert!((found - value).abs() < 1e-15, "{text} = {found}, not {value}");
        }
    }

    /// Scenes are compared and written: what is read once must mean the same when it is read again.
    #[test]
    fn a_multiple_is_what_its_text_says() {
        let formula = Formula::of("8*exp(-z/2) + t", XYZT).unwrap();
        let half = formula.times(0.5);
        assert_eq!(half, Formula::of(half.text(), XYZT).unwrap());
        let at = (DVec3::new(1.0, 2.0, 3.0), 0.25);
        assert_eq!(half.at_place(at.0, at.1), 0.5 * formula.at_place(at.0, at.1));
        assert_ne!(half, formula);
    }

    #[test]
    fn mistakes_are_told_with_their_place() {
        for (text, at, part) in [
            ("", 0, "missing"),
            ("1 +", 3, "missing"),
            ("2 x", 2, "not expected"),
            ("(1 + 2", 6, "expected `)`"),
            ("sinus(x)", 0, "`sinus` is not known"),
            ("max(x)", 5, "expected `,`"),
            ("1 + z", 4, "`z` is not known"),
            ("1.2.3", 0, "no number"),
            ("3 * ü", 4, "`ü` is no value"),
            ("sin x", 4, "expected `(`"),
        ] {
            let e = Formula::of(text, XY).unwrap_err();
            assert!(e.at == at && e.message.contains(part), "{text}: {e} (at {})", e.at);
        }
        assert!(Formula::of(&"(".repeat(100_000), XY).is_err() && Formula::of(&"-".repeat(100_000), XY).is_err());
    }
}
