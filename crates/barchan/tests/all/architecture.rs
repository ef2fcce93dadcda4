//! The shape of the workspace: arrows between crates, paths that pages and module headers name, rooms with `unsafe`, lines that fit a screen.

use std::path::{Path, PathBuf};

/// The crates from the ground up: each may know those before it, and none after.
const ORDER: &[&str] = &[
    "barchan-core",
    "barchan-dem",
    "barchan-ground",
    "barchan-sph",
    "barchan-flip",
    "barchan-hybrid",
    "barchan-gpu",
    "barchan-scene",
    "barchan-film",
    "barchan-io",
    "barchan-engine",
    "barchan-validation",
    "barchan-render",
    "barchan-view",
    "barchan",
];
/// Solvers know the substrate and nothing else. (Two meet in barchan-hybrid.)
const SOLVERS: &[&str] = &["barchan-dem", "barchan-ground", "barchan-sph", "barchan-flip"];
/// Rooms that may hold `unsafe`, each block with its proof.
const UNSAFE_ROOMS: &[&str] = &[
    "crates/barchan-core/src/simd/",
    "crates/barchan-dem/src/kernel",
    "crates/barchan-sph/src/passes/",
    "crates/barchan/src/memory.rs",
];
/// Folders whose files ARCHITECTURE.md may name.
const NAMED: &[&str] = &["crates/", "scenes/", "docs/", "validation/"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn place(name: &str) -> usize {
    ORDER.iter().position(|o| *o == name).unwrap_or_else(|| panic!("{name} is not in the order: add it to this test"))
}

/// Every crate with the crates of the workspace it depends on.
fn crates() -> Vec<(String, Vec<String>)> {
    let folders = std::fs::read_dir(root().join("crates")).unwrap().map(|e| e.unwrap().path());
    let manifests = folders.chain([root().join("validation")]).map(|f| f.join("Cargo.toml")).filter(|m| m.is_file());
    let read = |manifest: PathBuf| {
        let table: toml::Table = std::fs::read_to_string(&manifest).unwrap().parse().unwrap();
        let name = table["package"]["name"].as_str().unwrap().to_owned();
        let mut knows = Vec::new();
        let mut gather = |table: &toml::Table| {
            for key in ["dependencies", "build-dependencies"] {
                let names = table.get(key).and_then(|d| d.as_table()).into_iter().flat_map(|d| d.keys());
                knows.extend(names.filter(|n| n.starts_with("barchan")).cloned());
            }
        };
        gather(&table);
        let targets = table.get("target").and_then(|t| t.as_table()).into_iter().flat_map(|t| t.values());
        targets.filter_map(|t| t.as_table()).for_each(&mut gather);
        (name, knows)
    };
    manifests.map(read).collect()
}

#[test]
fn dependencies_point_up_the_list() {
    let crates = crates();
    assert!(crates.len() >= 6, "the crates were found");
    for (name, knows) in &crates {
        for other in knows {
            assert!(place(other) < place(name), "{name} must not know {other}: it comes later in the order");
            assert!(
                !SOLVERS.contains(&name.as_str()) || other == "barchan-core",
                "the solver {name} must not know {other}"
            );
        }
    }
}

/// Grains are one solver of several: only assembling, couplings, the proof and the façade name it.
#[test]
fn only_those_who_mean_grains_name_the_grain_solver() {
    let may = ["barchan-hybrid", "barchan-gpu", "barchan-engine", "barchan-validation", "barchan"];
    for (name, knows) in crates() {
        assert!(!knows.iter().any(|k| k == "barchan-dem") || may.contains(&name.as_str()), "{name} names barchan-dem");
    }
    let mut files = Vec::new();
    sources(&root().join("crates/barchan-engine/src"), &mut files);
    for file in files {
        let path = file.strip_prefix(root()).unwrap().to_string_lossy().replace('\\', "/");
        // A strained cell, forces on chosen grains, and saws and charges that break bonds are of grains alone.
        let of_grains = ["/observers/cell.rs", "/observers/grains.rs", "/events.rs"];
        let rooms = ["/assemble/", "/bench/", "/estimate.rs"].into_iter().chain(of_grains);
        let named = std::fs::read_to_string(&file).unwrap().lines().any(|l| code(l).contains("barchan_dem"));
        assert!(!named || { rooms }.any(|r| path.contains(r)), "{path} names barchan-dem");
    }
}

/// Paths from the root, and below the heading of a crate files and folders of its `src`.
#[test]
fn every_path_named_in_the_architecture_exists() {
    let Ok(text) = std::fs::read_to_string(root().join("ARCHITECTURE.md")) else { return };
    let (mut room, mut missing) = (None, Vec::new());
    for line in text.lines() {
        if line.starts_with('#') {
            let of_crate = line.strip_prefix("### `").and_then(|l| l.split('`').next());
            room = of_crate.map(|folder| root().join(folder).join("src"));
        }
        for path in line.split('`').skip(1).step_by(2) {
            let whole = NAMED.iter().any(|n| path.starts_with(n)) && !path.contains(['*', '<', '{', ' ', '…']);
            let file = path.ends_with(".rs") || path.ends_with(".wgsl");
            let beside = || room.as_ref().is_some_and(|r| r.join(path).exists());
            if whole && !root().join(path).exists() || file && !whole && !beside() {
                missing.push(path.to_owned());
            }
        }
    }
    assert!(missing.is_empty(), "ARCHITECTURE.md names what is not there: {missing:?}");
}

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()) {
        match entry.is_dir() {
            true if !entry.ends_with("target") => sources(&entry, found),
            false if entry.extension().is_some_and(|e| e == "rs") => found.push(entry),
            _ => {}
        }
    }
}

/// Code without comments and texts, as far as a word search needs it.
fn code(line: &str) -> String {
    let line = line.split("//").next().unwrap_or_default();
    line.split('"').step_by(2).collect()
}

#[test]
fn unsafe_stays_in_its_rooms() {
    let mut files = Vec::new();
    for folder in ["crates", "validation"] {
        sources(&root().join(folder), &mut files);
    }
    for file in files {
        let path = file.strip_prefix(root()).unwrap().to_string_lossy().replace('\\', "/");
        if UNSAFE_ROOMS.iter().any(|room| path.starts_with(room)) {
            continue;
        }
        for (number, line) in std::fs::read_to_string(&file).unwrap().lines().enumerate() {
            let words = code(line);
            let found = words.split(|c: char| !(c.is_alphanumeric() || c == '_')).any(|w| w == "unsafe");
            assert!(!found, "{path}:{}: `unsafe` outside its rooms: {line}", number + 1);
        }
    }
}

/// All sources, with their paths from the root.
fn all_sources() -> Vec<(String, String)> {
    let mut files = Vec::new();
    for folder in ["crates", "validation"] {
        sources(&root().join(folder), &mut files);
    }
    let path = |f: &Path| f.strip_prefix(root()).unwrap().to_string_lossy().replace('\\', "/");
    files.iter().map(|f| (path(f), std::fs::read_to_string(f).unwrap())).collect()
}

/// A header that says "`carry.rs` does the rest" must not outlive `carry.rs`.
#[test]
fn files_named_in_module_headers_exist() {
    let mut missing = Vec::new();
    for (path, text) in all_sources() {
        let file = root().join(&path);
        let folder = file.parent().unwrap();
        // Beside the file, in the folder of its own modules, one up, or from the top of its crate.
        let room: PathBuf = path.split('/').take(if path.starts_with("crates/") { 2 } else { 1 }).collect();
        let room = root().join(room);
        let places = [folder.to_owned(), file.with_extension(""), folder.join(".."), room.join("src"), room, root()];
        let header = text.lines().filter(|l| l.starts_with("//!")).collect::<Vec<_>>().join(" ");
        for name in header.split('`').skip(1).step_by(2) {
            let is_file = name.ends_with(".rs") || name.ends_with(".wgsl");
            if is_file && !name.contains([' ', '*', '<']) && !places.iter().any(|p| p.join(name).is_file()) {
                missing.push(format!("{path} names {name}"));
            }
        }
    }
    assert!(missing.is_empty(), "headers name what is not there: {missing:#?}");
}

/// Characters that a line of prose may have.
const WIDEST: usize = 120;

/// Pages are read beside code. Tables, links, pictures and what commands print stay whole.
#[test]
fn lines_of_pages_fit_a_screen() {
    let mut wide = Vec::new();
    let mut note = |path: &str, number: usize, line: &str| {
        if line.chars().count() > WIDEST {
            wide.push(format!("{path}:{}", number + 1));
        }
    };
    let pages = ["", "docs", "docs/decisions"].map(|folder| std::fs::read_dir(root().join(folder)).unwrap());
    for page in pages.into_iter().flatten().map(|e| e.unwrap().path()) {
        // The page of keys is written by the command.
        if page.extension().is_none_or(|e| e != "md") || page.ends_with("keys.md") {
            continue;
        }
        let path = page.strip_prefix(root()).unwrap().to_string_lossy().into_owned();
        let mut fenced = false;
        for (n, line) in std::fs::read_to_string(&page).unwrap().lines().enumerate() {
            fenced ^= line.trim_start().starts_with("```");
            let whole = line.starts_with('|') || line.contains("](") || line.contains("http") || line.starts_with('<');
            if !fenced && !whole {
                note(&path, n, line);
            }
        }
    }
    assert!(wide.is_empty(), "lines of more than {WIDEST} characters: {wide:#?}");
}
