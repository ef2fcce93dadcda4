//! A scene by the name of the gallery or by its file.

use barchan_scene::{Parsed, SceneErrors, bench_scenes, gallery, gallery_scene};
use std::io::Read;
use std::path::Path;

/// Bytes of a scene at most: a million positions; beyond it is a mistaken file, or one without end.
const LARGEST: u64 = 64 << 20;

/// Why a scene could not be loaded.
#[derive(Debug)]
pub enum LoadError {
    /// Neither a file nor a scene of the gallery.
    Unknown {
        /// What was asked for.
        name: String,
        /// Names of the gallery that are close, the closest first.
        nearest: Vec<&'static str>,
    },
    /// A folder where a file is wanted.
    Folder {
        /// The folder.
        path: String,
        /// Whether a run wrote it.
        is_run: bool,
    },
    /// A file that holds no text, or more than a scene does.
    NotText {
        /// The file.
        path: String,
    },
    /// A file that cannot be read.
    File {
        /// The file.
        path: String,
        /// What the system said.
        source: std::io::Error,
    },
    /// A scene with problems.
    Scene(SceneErrors),
}

impl std::fmt::Display for LoadError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            LoadError::Unknown { name, nearest } => {
                write!(f, "there is no scene `{name}` in the gallery, nor a file of that name")?;
                match nearest.as_slice() {
                    [] => write!(f, "; `barchan scenes` lists the gallery"),
                    [one] => write!(f, "; did you mean `{one}`?"),
                    [first, rest @ ..] => write!(f, "; did you mean `{first}` or `{}`?", rest.join("` or `")),
                }
            }
            LoadError::Folder { path, is_run: true } => write!(
                f,
                "{path} is the folder of a run, not a scene: go on with it by `barchan run --resume {path}`, or start its \
                 scene anew by `barchan run {}`",
                Path::new(path).join("scene.toml").display()
            ),
            LoadError::Folder { path, .. } => write!(f, "{path} is a folder, not a scene: name a scene file in it"),
            LoadError::NotText { path } => write!(
                f,
                "{path} is not a text file: a scene is a TOML file of at most {} MB; `barchan new` writes one to start from",
                LARGEST >> 20
            ),
            LoadError::File { path, source } => write!(f, "{path} cannot be read: {source}"),
            LoadError::Scene(problems) => problems.fmt(f),
        }
    }
}

impl std::error::Error for LoadError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            LoadError::File { source, .. } => Some(source),
            LoadError::Scene(problems) => Some(problems),
            LoadError::Unknown { .. } | LoadError::Folder { .. } | LoadError::NotText { .. } => None,
        }
    }
}

/// Reads and checks a scene: a file, or one of the gallery or of the benchmarks by name.
pub fn load(name_or_file: &str) -> Result<Parsed, LoadError> {
    let path = Path::new(name_or_file);
    let timed = || bench_scenes().iter().find(|s| s.name == name_or_file).map(|s| s.source);
    let known = gallery_scene(name_or_file).ok().map(|s| s.source).or_else(timed);
    if let (false, Some(source)) = (path.is_file(), known) {
        return barchan_engine::load(source, name_or_file, Path::new(".")).map_err(LoadError::Scene);
    }
    let is_path = path.components().count() > 1 || path.extension().is_some() || path.exists();
    if !is_path {
        return Err(LoadError::Unknown { name: name_or_file.into(), nearest: nearest(name_or_file) });
    }
    if path.is_dir() {
        return Err(LoadError::Folder { path: name_or_file.into(), is_run: path.join("run.toml").is_file() });
    }
    let mut bytes = Vec::new();
    let read = std::fs::File::open(path).and_then(|file| file.take(LARGEST + 1).read_to_end(&mut bytes));
    read.map_err(|source| LoadError::File { path: name_or_file.into(), source })?;
    let text = String::from_utf8(bytes).ok().filter(|t| t.len() as u64 <= LARGEST && !t.contains('\0'));
    let text = text.ok_or_else(|| LoadError::NotText { path: name_or_file.into() })?;
    let folder = path.parent().unwrap_or(Path::new("."));
    barchan_engine::load(&text, name_or_file, folder).map_err(LoadError::Scene)
}

/// Reads and checks a scene given as text; files that it names are looked for from where the program runs.
pub fn load_text(text: &str, name: &str) -> Result<Parsed, SceneErrors> {
    barchan_engine::load(text, name, Path::new(""))
}

/// Names of the gallery that could have been meant.
fn nearest(name: &str) -> Vec<&'static str> {
    let wanted = name.to_lowercase();
    let likeness = |s: &'static str| {
        let part = if s.contains(&wanted) || wanted.contains(s) { 0.5 } else { 0.0 };
        (strsim::jaro_winkler(s, &wanted) + part, s)
    };
    let mut found: Vec<_> = gallery().iter().map(|s| likeness(s.name)).filter(|l| l.0 > 0.75).collect();
    found.sort_by(|a, b| b.0.total_cmp(&a.0));
    found.into_iter().take(3).map(|l| l.1).collect()
}
