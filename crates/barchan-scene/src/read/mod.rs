//! From TOML to a [`Scene`], gathering every problem on the way.
//!
//! serde stops at the first error; this walks the spanned document by hand instead. A value that cannot be read is reported and
//! replaced by NaN (or an empty name): checks compare so that NaN offends nobody, hence one mistake is reported once
//! and all others are still found.

mod scene;
mod tables;

use crate::assets::Assets;
use crate::keys::{Key, Stated};
use crate::measure::Vocabulary;
use crate::problems::{Draft, Parsed, Problem, SceneErrors, Severity, Spans};
use crate::types::{Contact, Scene};
use std::ops::Range;
pub use tables::{Keys, Value};
use toml::de::{DeTable, DeValue};

impl Scene {
    /// Reads and checks a scene without the files that it names, and without knowing what can be measured. `name` is the file's name or
    /// whatever the text should be called in messages.
    ///
    /// Every problem of the text is in the error; warnings of a scene that can run are in [`Parsed::warnings`].
    pub fn from_toml(text: &str, name: &str) -> Result<Parsed, SceneErrors> {
        Scene::draft(text, name, &Vocabulary::default()).checked(Assets::default(), Vec::new())
    }

    /// Reads a scene: the first step of those who also read its files. Nothing fails here; [`Draft::checked`] tells all problems.
    pub fn draft(text: &str, name: &str, vocabulary: &Vocabulary) -> Draft {
        let (document, syntax) = DeTable::parse_recoverable(text);
        let mut cx = Reader::new(text, *vocabulary);
        for e in syntax {
            // The parser recovers, but what it skipped would only be reported as missing: syntax comes first, alone.
            let mut problem = Problem::new(
                Severity::Error,
                "",
                capital_free(e.message()),
                "mend the TOML here; the rest is checked then",
            );
            problem.span = e.span().map(|s| cx.visible(s));
            cx.problems.push(problem);
        }
        let broken = !cx.problems.is_empty();
        // The top of a scene is a table without a place of its own.
        let whole = DeValue::Table(document.into_inner());
        let value = Value { path: String::new(), span: 0..0, de: &whole };
        cx.law = law(text, &value);
        let mut scene = Scene::read(&mut cx, &value, &Key::new("", ""));
        scene::complete(&mut scene);
        if broken {
            cx.problems.retain(|p| p.path.is_empty() && p.help.starts_with("mend the TOML"));
        }
        Draft::new(scene, name, text, cx.spans, cx.problems, broken)
    }

    /// The scene as TOML in SI units; [`Scene::from_toml`] reads it back to an equal scene.
    pub fn to_toml(&self) -> Result<String, toml::ser::Error> {
        toml::to_string(self)
    }
}

/// The contact law, which says what a material must give; its own problems are reported when the scene is read.
fn law(text: &str, scene: &Value) -> Contact {
    let mut aside = Reader::new(text, Vocabulary::default());
    let mut keys = scene.table(&mut aside, "");
    keys.get(&mut aside, "contact")
        .map_or_else(Contact::default, |v| Contact::read(&mut aside, &v, &Key::new("contact", "")))
}

/// Multi-line parser messages are folded into one sentence.
fn capital_free(message: &str) -> String {
    message.lines().map(str::trim).filter(|l| !l.is_empty()).collect::<Vec<_>>().join("; ")
}

/// What is gathered while reading.
pub struct Reader<'t> {
    text: &'t str,
    problems: Vec<Problem>,
    spans: Spans,
    /// What can be measured.
    pub vocabulary: Vocabulary,
    /// The contact law of the scene.
    pub law: Contact,
}

impl<'t> Reader<'t> {
    fn new(text: &'t str, vocabulary: Vocabulary) -> Self {
        Self { text, problems: Vec::new(), spans: Spans::default(), vocabulary, law: Contact::default() }
    }

    /// Reports an error at a span.
    pub fn error(&mut self, path: &str, span: Range<usize>, message: impl Into<String>, help: impl Into<String>) {
        let mut problem = Problem::new(Severity::Error, path, message, help);
        problem.span = Some(self.visible(span));
        self.problems.push(problem);
    }

    /// A span that is short enough to show: the first line of it, on character boundaries.
    fn visible(&self, span: Range<usize>) -> Range<usize> {
        let mut start = span.start.min(self.text.len());
        while !self.text.is_char_boundary(start) {
            start -= 1;
        }
        let mut end = span.end.clamp(start, self.text.len());
        while !self.text.is_char_boundary(end) {
            end += 1;
        }
        let first = self.text[start..end].find('\n').map_or(end, |i| start + i);
        start..first
    }
}

/// The name nearest to a mistyped one.
pub fn nearest<'a>(typed: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let typed = typed.to_lowercase();
    // Near: a few letters differ, or one word is the other with an ending (`hertz`, `hertzian`).
    let is_near = |d: usize, n: &str| {
        let ending = n.len().min(typed.len()) >= 4 && (n.starts_with(&typed) || typed.starts_with(n));
        ending || d <= 1.max(n.chars().count().max(typed.chars().count()) / 3)
    };
    names
        .into_iter()
        .map(|n| (strsim::damerau_levenshtein(&typed, &n.to_lowercase()), n))
        .filter(|(d, n)| is_near(*d, n))
        .min_by_key(|(d, _)| *d)
        .map(|(_, n)| n)
}

/// "`a`, `b` or `c`".
pub fn listing<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let quoted: Vec<_> = names.into_iter().map(|n| format!("`{n}`")).collect();
    match quoted.split_last() {
        None => "none".into(),
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} or {last}", rest.join(", ")),
    }
}
