//! Copies of the files that a scene names, in the folder of a run, so that it can go on wherever it is moved.
//!
//! Each file gets a folder of its own under `meshes`, by number, and keeps its name there: no two copies meet, and what a glTF names
//! beside itself is beside it again. `meshes/copies.toml` says which copy stands for which name, and has a checksum of every
//! file: a copy that was changed is refused, or a run would go on as another one. Once there is such a note the copies
//! are what is read, also where a file of the given name is within reach: that may be another one by now.

use crate::checkpoint::fingerprint_of;
use barchan_io::atomic::{self, FileError};
use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};
use toml::{Table, Value};

/// Folder of a run in which copies of its files lie.
const FOLDER: &str = "meshes";
/// The note of what is what, in that folder.
const INDEX: &str = "copies.toml";
/// What helps where a copy is not as it was.
pub(crate) const REMEDY: &str =
    "restore the file as the run copied it, or start a new run with `barchan run SCENE -o FOLDER`";

/// Why a copy cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CopyError {
    #[error("{} was changed since the run copied it", path.display())]
    Changed { path: PathBuf },
    #[error("{}, which the run copied, cannot be read: {source}", path.display())]
    Gone { path: PathBuf, source: std::io::Error },
    #[error("{} is damaged", path.display())]
    Note { path: PathBuf },
}

/// A file of the scene: its name there, and the files of its copy with their checksums, that of the name first.
struct Copy {
    name: String,
    files: Vec<(PathBuf, String)>,
}

/// Where the note of the copies lies in the folder of a run.
pub(crate) fn index(run: &Path) -> PathBuf {
    run.join(FOLDER).join(INDEX)
}

/// What the note in a folder says, if there is one. Paths lie within its folder.
fn read(run: &Path) -> Result<Vec<Copy>, CopyError> {
    let path = index(run);
    let damaged = || CopyError::Note { path: path.clone() };
    let text = match std::fs::read_to_string(&path) {
        Ok(text) => text,
        Err(e) if matches!(e.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => return Ok(Vec::new()),
        Err(_) => return Err(damaged()),
    };
    let table: Table = text.parse().map_err(|_| damaged())?;
    let list = |v: &Value| v.as_array().cloned();
    let file = |v: &Value| {
        let path = PathBuf::from(v.get("path")?.as_str()?);
        let within = path.components().all(|c| matches!(c, Component::Normal(_)));
        Some((run.join(FOLDER).join(path), v.get("checksum")?.as_str()?.to_owned())).filter(|_| within)
    };
    let copy = |v: &Value| {
        let files: Vec<_> = list(v.get("files")?)?.iter().map(file).collect::<Option<_>>()?;
        Some(Copy { name: v.get("name")?.as_str()?.into(), files }).filter(|c| !c.files.is_empty())
    };
    let copies = table.get("copies").and_then(list).ok_or_else(damaged)?;
    copies.iter().map(copy).collect::<Option<_>>().ok_or_else(damaged)
}

fn checksum(bytes: &[u8]) -> String {
    format!("{:016x}", fingerprint_of(bytes))
}

/// Whether the copy of a file that a scene in `folder` names is as it was, where there is one.
pub(crate) fn check(name: &str, folder: &Path) -> Result<(), CopyError> {
    let Some(copy) = read(folder)?.into_iter().find(|c| c.name == name) else { return Ok(()) };
    for (path, noted) in copy.files {
        match std::fs::read(&path) {
            Err(source) => return Err(CopyError::Gone { path, source }),
            Ok(bytes) if checksum(&bytes) != noted => return Err(CopyError::Changed { path }),
            Ok(_) => {}
        }
    }
    Ok(())
}

/// Where a file lies that a scene in `folder` names: there, or, in the folder of a run, among the copies.
pub(crate) fn located(name: &str, folder: &Path) -> PathBuf {
    let noted = read(folder).unwrap_or_default().into_iter().find(|c| c.name == name);
    if let Some((path, _)) = noted.and_then(|c| c.files.into_iter().next()) {
        return path;
    }
    // Runs of before there was a note have their copies in one folder, under flattened names.
    let flat = name.replace(['/', '\\', ':'], "_");
    let (given, copy) = (folder.join(name), folder.join(FOLDER).join(flat));
    if !given.exists() && copy.is_file() { copy } else { given }
}

/// Copies files, given by their names in the scene and where they are, into the folder of a run. Copies that are noted there are
/// removed once the new ones are there: some may be made from them.
pub(crate) fn keep(files: &[(String, PathBuf)], run: &Path) -> Result<(), FileError> {
    let earlier = read(run).unwrap_or_default();
    if !files.is_empty() {
        let mut number = last_number(&run.join(FOLDER));
        let mut copies: Vec<Copy> = Vec::new();
        for (name, path) in files {
            if copies.iter().all(|c| c.name != *name) {
                number += 1;
                copies.push(copy(name, path, run, number)?);
            }
        }
        write(&copies, run)?;
    } else if !earlier.is_empty() {
        remove(&index(run))?;
    }
    for (path, _) in earlier.into_iter().flat_map(|c| c.files) {
        remove(&path)?;
        // Folders that are empty now go too, those with other files stay.
        let up = path.ancestors().skip(1).take_while(|p| *p != run);
        let _ = up.map(std::fs::remove_dir).take_while(Result::is_ok).count();
    }
    Ok(())
}

/// The greatest number that a folder in `folder` has for its name.
fn last_number(folder: &Path) -> u64 {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter_map(|e| e.file_name().to_str()?.parse().ok()).max().unwrap_or(0)
}

/// Copies a file, and those it needs beside it, into the folder of that number.
fn copy(name: &str, path: &Path, run: &Path, number: u64) -> Result<Copy, FileError> {
    let bytes = std::fs::read(path).map_err(|e| FileError::new("read", path, e))?;
    let beside = barchan_io::mesh::beside(&bytes);
    // A file may name others above it: then it gets as many folders more, so that they stay within its own.
    let depth = beside.iter().map(|name| climbs(Path::new(name))).max().unwrap_or(0);
    let home = (0..depth).fold(PathBuf::from(number.to_string()), |home, _| home.join("up"));
    let mut copy = Copy { name: name.into(), files: Vec::new() };
    let mut put = |to: PathBuf, bytes: &[u8]| {
        let place = run.join(FOLDER).join(&to);
        atomic::create_folder(place.parent().unwrap_or(run))?;
        atomic::write(&place, bytes)?;
        copy.files.push((to, checksum(bytes)));
        Ok::<_, FileError>(())
    };
    let own = path.file_name().map(PathBuf::from).unwrap_or_else(|| "file".into());
    put(home.join(own), &bytes)?;
    // A shapefile has its table beside it, a map its projection.
    for ending in ["dbf", "prj"] {
        let from = path.with_extension(ending);
        let of_map =
            path.extension().is_some_and(|e| ["shp", "asc", "agr", "grd"].iter().any(|m| e.eq_ignore_ascii_case(m)));
        if of_map && from.is_file() {
            let bytes = std::fs::read(&from).map_err(|e| FileError::new("read", &from, e))?;
            put(home.join(from.file_name().unwrap_or_default()), &bytes)?;
        }
    }
    for name in beside {
        let from = path.with_file_name(&name);
        let bytes = std::fs::read(&from).map_err(|e| FileError::new("read", &from, e))?;
        put(plain(&home.join(&name)), &bytes)?;
    }
    Ok(copy)
}

/// By how many folders a relative path climbs above where it begins.
fn climbs(path: &Path) -> usize {
    let mut level = 0_i64;
    let levels = path.components().map(|c| {
        level += match c {
            Component::ParentDir => -1,
            Component::Normal(_) => 1,
            _ => 0,
        };
        level
    });
    levels.min().map_or(0, |least| (-least).max(0) as usize)
}

/// A relative path without `.` and `..`.
fn plain(path: &Path) -> PathBuf {
    path.components().fold(PathBuf::new(), |mut plain, c| {
        match c {
            Component::ParentDir => drop(plain.pop()),
            Component::Normal(part) => plain.push(part),
            _ => {}
        }
        plain
    })
}

/// Writes the note. Paths have slashes on every system.
fn write(copies: &[Copy], run: &Path) -> Result<(), FileError> {
    let file = |(path, checksum): &(PathBuf, String)| {
        let parts: Vec<_> = path.components().map(|c| c.as_os_str().to_string_lossy()).collect();
        let entry = [("path", parts.join("/")), ("checksum", checksum.clone())];
        Value::Table(entry.into_iter().map(|(k, v)| (k.to_owned(), v.into())).collect())
    };
    let copy = |c: &Copy| {
        let mut entry = Table::new();
        entry.insert("name".into(), c.name.clone().into());
        entry.insert("files".into(), Value::Array(c.files.iter().map(file).collect()));
        Value::Table(entry)
    };
    let mut table = Table::new();
    table.insert("copies".into(), Value::Array(copies.iter().map(copy).collect()));
    let text = format!("# Copies of the files that the scene names, with checksums (FNV-1a).\n{table}");
    atomic::write(&index(run), text.as_bytes())
}

fn remove(path: &Path) -> Result<(), FileError> {
    match std::fs::remove_file(path) {
        Err(e) if e.kind() != ErrorKind::NotFound => Err(FileError::new("remove", path, e)),
        _ => Ok(()),
    }
}
