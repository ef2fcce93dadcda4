//! Problems of a scene and where in its text they are.
//!
//! A path such as `walls[2].drive.mass` names a value; [`Parsed`] knows the bytes it came from, so a check may speak of paths and
//! the reader of the message still sees the line.

use crate::assets::Assets;
use crate::types::Scene;
use miette::{Diagnostic, LabeledSpan, NamedSource, SourceCode};
use std::collections::HashMap;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// How bad a problem is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The scene runs, but probably not as meant.
    Warning,
    /// The scene cannot run.
    Error,
}

/// One problem: what, where, and what to do about it.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{message}")]
pub struct Problem {
    /// Path of the value, for example `walls[2].drive.mass`; empty for the scene as a whole.
    pub path: String,
    /// What is wrong, in one sentence.
    pub message: String,
    /// What to do about it; empty where the message says it.
    pub help: String,
    /// Error or warning.
    pub severity: Severity,
    /// Bytes of the text that are meant; none for a scene that was built in code.
    pub span: Option<Range<usize>>,
    text: Option<Arc<NamedSource<String>>>,
}

impl Problem {
    /// A problem at a path; [`Parsed`] or the reader adds the place.
    pub(crate) fn new(
        severity: Severity,
        path: impl Into<String>,
        message: impl Into<String>,
        help: impl Into<String>,
    ) -> Self {
        Self { path: path.into(), message: message.into(), help: help.into(), severity, span: None, text: None }
    }

    /// Line and column, both from 1; none for a scene that was built in code.
    pub fn line_column(&self) -> Option<(usize, usize)> {
        let (source, span) = (self.text.as_ref()?, self.span.as_ref()?);
        let before = source.inner().get(..span.start)?;
        let line_start = before.rfind('\n').map_or(0, |i| i + 1);
        Some((before.matches('\n').count() + 1, before[line_start..].chars().count() + 1))
    }

    /// The text that is meant.
    pub fn excerpt(&self) -> Option<&str> {
        self.text.as_ref()?.inner().get(self.span.clone()?)
    }

    fn locate(mut self, source: &Arc<NamedSource<String>>, spans: &Spans) -> Self {
        if self.span.is_none() {
            self.span = spans.nearest(&self.path);
        }
        self.text = Some(source.clone());
        self
    }
}

impl Diagnostic for Problem {
    fn severity(&self) -> Option<miette::Severity> {
        Some(match self.severity {
            Severity::Warning => miette::Severity::Warning,
            Severity::Error => miette::Severity::Error,
        })
    }

    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        (!self.help.is_empty()).then(|| Box::new(&self.help) as Box<dyn fmt::Display>)
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        self.text.as_deref().map(|s| s as &dyn SourceCode)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        let span = self.span.clone()?;
        Some(Box::new(std::iter::once(LabeledSpan::underline(span))))
    }
}

/// Every problem of a scene, errors first, each in the order of the text.
#[derive(Clone, Debug)]
pub struct SceneErrors {
    /// Name of the file, or what the caller called the text.
    pub name: String,
    /// The problems; at least one is an error.
    pub problems: Vec<Problem>,
}

impl SceneErrors {
    /// Gathers problems found by a later stage (see [`Parsed::error_at`]).
    pub fn new(name: impl Into<String>, mut problems: Vec<Problem>) -> Self {
        problems.sort_by_key(|p| (std::cmp::Reverse(p.severity), p.span.as_ref().map_or(0, |s| s.start)));
        Self { name: name.into(), problems }
    }

    /// The errors without the warnings.
    pub fn errors(&self) -> impl Iterator<Item = &Problem> {
        self.problems.iter().filter(|p| p.severity == Severity::Error)
    }

    /// All problems as plain lines: `line:column: error: message (help)`.
    pub fn listing(&self) -> String {
        let line = |p: &Problem| {
            let place = p.line_column().map_or(format!("{}: ", p.path), |(l, c)| format!("{l}:{c}: "));
            let kind = if p.severity == Severity::Error { "error" } else { "warning" };
            let help = if p.help.is_empty() { String::new() } else { format!(" ({})", p.help) };
            format!("{place}{kind}: {}{help}", p.message)
        };
        self.problems.iter().map(line).collect::<Vec<_>>().join("\n")
    }
}

impl fmt::Display for SceneErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let errors = self.errors().count();
        let warnings = self.problems.len() - errors;
        write!(f, "{errors} {} in the scene {}", if errors == 1 { "error" } else { "errors" }, self.name)?;
        match warnings {
            0 => Ok(()),
            1 => write!(f, ", and 1 warning"),
            n => write!(f, ", and {n} warnings"),
        }
    }
}

impl std::error::Error for SceneErrors {}

impl Diagnostic for SceneErrors {
    fn related<'a>(&'a self) -> Option<Box<dyn Iterator<Item = &'a dyn Diagnostic> + 'a>> {
        Some(Box::new(self.problems.iter().map(|p| p as &dyn Diagnostic)))
    }
}

/// Where each path of a scene stands in its text.
#[derive(Clone, Debug, Default)]
pub(crate) struct Spans(HashMap<String, Range<usize>>);

impl Spans {
    pub(crate) fn insert(&mut self, path: String, span: Range<usize>) {
        self.0.insert(path, span);
    }

    /// Whether there are none: the scene was built in code.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether the value was written in the scene (rather than taken from a default).
    pub(crate) fn given(&self, path: &str) -> bool {
        self.0.contains_key(path)
    }

    /// The place of the path, or of the nearest thing around it.
    pub(crate) fn nearest(&self, path: &str) -> Option<Range<usize>> {
        let mut path = path;
        loop {
            if let Some(span) = self.0.get(path) {
                return Some(span.clone());
            }
            path = &path[..path.rfind(['.', '['])?];
        }
    }
}

/// A scene as it was read, with whatever is wrong in its text; its files have not been read.
#[derive(Clone, Debug)]
pub struct Draft {
    /// The scene in SI units. What could not be read is NaN, empty or one.
    pub scene: Scene,
    problems: Vec<Problem>,
    source: Arc<NamedSource<String>>,
    spans: Spans,
    /// Whether the text is no TOML.
    broken: bool,
}

impl Draft {
    pub(crate) fn new(
        scene: Scene,
        name: &str,
        text: &str,
        spans: Spans,
        problems: Vec<Problem>,
        broken: bool,
    ) -> Self {
        Self { scene, problems, source: Arc::new(NamedSource::new(name, text.to_owned())), spans, broken }
    }

    /// Whether the text is TOML at all; else nothing of the scene is worth a look.
    pub fn is_broken(&self) -> bool {
        self.broken
    }

    /// An error at the line of `path`, as [`Parsed::error_at`].
    pub fn error_at(&self, path: &str, message: impl Into<String>, help: impl Into<String>) -> Problem {
        Problem::new(Severity::Error, path, message, help).locate(&self.source, &self.spans)
    }

    /// A warning, as [`Draft::error_at`].
    pub fn warning_at(&self, path: &str, message: impl Into<String>, help: impl Into<String>) -> Problem {
        Problem::new(Severity::Warning, path, message, help).locate(&self.source, &self.spans)
    }

    /// Checks the scene with what its files hold. All problems come at once: those of the text, those found in reading the files
    /// (`more`), and those of the check.
    pub fn checked(self, assets: Assets, more: Vec<Problem>) -> Result<Parsed, SceneErrors> {
        self.judged(assets, more).0
    }

    /// The same, with the scene also where it has errors: for stages that can tell more problems of what is sound.
    pub fn judged(self, assets: Assets, more: Vec<Problem>) -> (Result<Parsed, SceneErrors>, Option<Parsed>) {
        let found = if self.broken { Vec::new() } else { crate::check::check(&self.scene, &assets, &self.spans) };
        let problems = self.problems.into_iter().chain(more).chain(found);
        let problems = ten_of_a_kind(problems.collect());
        let problems = problems.into_iter().map(|p| p.locate(&self.source, &self.spans)).collect();
        let all = SceneErrors::new(self.source.name(), problems);
        let read = Arc::new(self.scene.clone());
        let parsed = Parsed {
            scene: self.scene,
            assets: Arc::new(assets),
            warnings: Vec::new(),
            source: self.source,
            spans: self.spans,
            read,
        };
        if all.errors().next().is_none() {
            return (Ok(Parsed { warnings: all.problems, ..parsed }), None);
        }
        (Err(all), (!self.broken).then_some(parsed))
    }
}

/// Problems of one kind that are told one by one.
const TOLD: usize = 10;

/// The first ten problems of each kind, the tenth with the number of those left out: a list of 25,000 positions may be wrong
/// in each of them. Of one kind are problems of the same severity at the same key, whichever its index, with the same remedy.
fn ten_of_a_kind(problems: Vec<Problem>) -> Vec<Problem> {
    let plain = |text: &str| text.chars().filter(|c| !c.is_ascii_digit()).collect::<String>();
    let kind = |p: &Problem| (p.severity == Severity::Error, plain(&p.path), plain(&p.help));
    let mut found: HashMap<_, (usize, usize)> = HashMap::new();
    let mut kept: Vec<Problem> = Vec::new();
    for p in problems {
        let (count, last) = found.entry(kind(&p)).or_default();
        *count += 1;
        if *count <= TOLD {
            *last = kept.len();
            kept.push(p);
        }
    }
    for (count, last) in found.into_values().filter(|f| f.0 > TOLD) {
        kept[last].message += &format!(" (and {} more of this kind)", crate::words::count((count - TOLD) as u64));
    }
    kept
}

/// A scene, what its files hold, the text it came from, and the place of every value in it.
#[derive(Clone, Debug)]
pub struct Parsed {
    /// The scene in SI units.
    pub scene: Scene,
    /// What the files that it names hold.
    pub assets: Arc<Assets>,
    /// What is questionable but can run.
    pub warnings: Vec<Problem>,
    source: Arc<NamedSource<String>>,
    spans: Spans,
    /// The scene as the text has it.
    read: Arc<Scene>,
}

impl std::ops::Deref for Parsed {
    type Target = Scene;

    fn deref(&self) -> &Scene {
        &self.scene
    }
}

impl Parsed {
    /// The walls where they begin, without their motions.
    pub fn walls_at_rest(&self) -> Vec<barchan_core::walls::Wall> {
        let material = |name: &str| self.scene.materials.get_index_of(name).unwrap_or_default() as u16;
        let walls = self.scene.walls.iter().enumerate();
        walls.map(|(i, w)| self.assets.wall(&self.scene, i, material(&w.material))).collect()
    }

    /// Name of the file, or what the caller called the text.
    pub fn name(&self) -> &str {
        self.source.name()
    }

    /// The text the scene was read from.
    pub fn text(&self) -> &str {
        self.source.inner()
    }

    /// Whether the scene is still the one that the text describes.
    pub fn is_as_written(&self) -> bool {
        // A number that is left to files is no number, and equals nothing; what would be written is the same all the same.
        let written = |scene: &Scene| scene.to_toml().ok();
        self.scene == *self.read || written(&self.scene).is_some_and(|text| Some(text) == written(&self.read))
    }

    /// Whether a value was written in the text, rather than taken from a default.
    pub fn given(&self, path: &str) -> bool {
        self.spans.given(path)
    }

    /// An error that a later stage found, at the line of `path` (or of what is around it, for a value left to its default).
    pub fn error_at(&self, path: &str, message: impl Into<String>, help: impl Into<String>) -> Problem {
        Problem::new(Severity::Error, path, message, help).locate(&self.source, &self.spans)
    }

    /// A warning, as [`Parsed::error_at`].
    pub fn warning_at(&self, path: &str, message: impl Into<String>, help: impl Into<String>) -> Problem {
        Problem::new(Severity::Warning, path, message, help).locate(&self.source, &self.spans)
    }

    /// The scene multiplied by [`Scene::scaled`] and checked again; places stay those of the text.
    pub fn scaled(&self, factor: f64) -> Result<Self, SceneErrors> {
        let assets = self.assets.grown(&crate::keys::Scale::new(factor));
        self.changed(self.scene.scaled_with(factor, &self.assets), Arc::new(assets))
    }

    /// The same text and files with a changed scene, checked again (for overrides given on a command line).
    pub fn with(&self, scene: Scene) -> Result<Self, SceneErrors> {
        self.changed(scene, self.assets.clone())
    }

    fn changed(&self, scene: Scene, assets: Arc<Assets>) -> Result<Self, SceneErrors> {
        let found = crate::check::check(&scene, &assets, &self.spans);
        let problems = found.into_iter().map(|p| p.locate(&self.source, &self.spans)).collect();
        let all = SceneErrors::new(self.name(), problems);
        if all.errors().next().is_some() {
            return Err(all);
        }
        Ok(Self { scene, assets, warnings: all.problems, ..self.clone() })
    }
}
