//! `barchan compare`: one scene by several methods, side by side.

use super::run::{self, Show};
use super::say::{self, count, say, span};
use super::{Failure, Threads, render, stem, stop};
use barchan::io::atomic;
use barchan::prelude::*;
use barchan::scene::MatterMethod;
use clap::Args;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

#[derive(Args)]
pub struct CompareArgs {
    /// Name of the gallery, or a scene file
    #[arg(value_name = "NAME|FILE")]
    scene: String,
    /// Methods to compute its matter by, with commas between them: grains, sph, phases
    #[arg(long = "as", value_name = "METHODS", value_delimiter = ',', required = true, value_parser = method)]
    methods: Vec<MatterMethod>,
    /// Folder for the results, one within it for each method; left out: out/NAME-compared
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// Replace runs that are in the folder
    #[arg(long)]
    force: bool,
    /// Simulated time, instead of the scene's: seconds, or with a unit ("20 ms")
    #[arg(long, value_name = "TIME", value_parser = super::duration, allow_hyphen_values = true)]
    duration: Option<f64>,
    /// Multiply the number of grains (their size stays, the geometry grows)
    #[arg(long, value_name = "K", value_parser = super::factor, allow_hyphen_values = true)]
    scale: Option<f64>,
    /// Draw no film at the end
    #[arg(long)]
    no_film: bool,
    #[command(flatten)]
    threads: Threads,
    /// Say nothing but the table, unless something is wrong
    #[arg(short, long)]
    quiet: bool,
}

/// A method by its name.
pub fn method(text: &str) -> Result<MatterMethod, String> {
    let found = MatterMethod::NAMES.iter().find(|(name, _)| *name == text.trim()).map(|n| n.1);
    let names: Vec<&str> = MatterMethod::NAMES.iter().map(|n| n.0).collect();
    found.ok_or_else(|| format!("there is no such method; there are: {}", names.join(", ")))
}

/// A scene with its matter computed by a method; what was derived for it is told.
pub fn converted(parsed: &Parsed, method: MatterMethod, quiet: bool) -> Result<Parsed, Failure> {
    let converted = parsed.scene.by_method(&parsed.assets, method).map_err(|e| Failure::Usage(e.to_string()))?;
    if !quiet {
        converted.notes.iter().for_each(|note| say::aside(format_args!("as {}: {note}", method.name())));
    }
    Ok(parsed.with(converted.scene)?)
}

/// What a method gave: a heading, and a number for each row of the table.
struct Column {
    name: &'static str,
    values: Vec<(String, f64)>,
}

pub fn compare(args: CompareArgs) -> Result<(), Failure> {
    args.threads.set()?;
    if args.methods.len() < 2 {
        let text = "one method alone is no comparison: give two, such as --as grains,sph, or use `barchan run --as`";
        return Err(Failure::Usage(text.into()));
    }
    let parsed = super::load(&args.scene, args.scale)?;
    let usual = || Path::new("out").join(format!("{}-compared", stem(&args.scene).display()));
    let output = args.output.clone().unwrap_or_else(usual);
    // All scenes are made before the first run, so that nothing is found out after it.
    let mut worlds = Vec::new();
    for &method in &args.methods {
        let mut world = assemble(&converted(&parsed, method, args.quiet)?)?;
        args.duration.into_iter().for_each(|d| world.set_duration(d));
        worlds.push((method, world));
    }
    stop::listen("a checkpoint is being written");
    let (mut columns, mut folders) = (Vec::new(), Vec::new());
    for (method, world) in worlds {
        let folder = output.join(method.name());
        let run = Run::start(world, &folder, args.force).map_err(run::failed)?;
        if !args.quiet {
            say!("{}", run::start_line(run.world(), false));
        }
        let mut show = Show::new(args.quiet, run.world());
        let dt = run.world().plan().dt;
        let options =
            RunOptions { on_progress: Some(&mut |p| show.progress(p)), stop: Some(&stop::ASKED), until: None };
        let report = run.go(options);
        show.finish();
        let report = report.map_err(run::failed)?;
        if report.status == Status::Stopped {
            return Err(Failure::Stopped);
        }
        if !args.quiet {
            say!("{}: {} of computing", method.name(), span(report.seconds));
        }
        let mut values = vec![
            ("pieces".to_string(), report.pieces as f64),
            ("world step [s]".into(), dt),
            ("computing [s]".into(), report.seconds),
            ("simulated over computing".into(), report.time / report.seconds),
        ];
        values.extend(last_rows(&folder)?);
        columns.push(Column { name: method.name(), values });
        folders.push(folder);
    }
    say!("{}", table(&columns));
    let path = output.join("compared.csv");
    atomic::write(&path, csv(&columns).as_bytes()).map_err(|e| Failure::Failed(e.to_string()))?;
    if !args.no_film {
        render::beside(&folders, &output.join("compared.mp4"), args.quiet)?;
    }
    Ok(())
}

/// The last row of every table of a run, by the table's and the column's names.
fn last_rows(folder: &Path) -> Result<Vec<(String, f64)>, Failure> {
    let failed = |e: std::io::Error| Failure::Failed(format!("{}: {e}", folder.display()));
    let entries = std::fs::read_dir(folder).map_err(failed)?;
    let mut tables: Vec<PathBuf> = entries.filter_map(|e| e.ok().map(|e| e.path())).collect();
    tables.retain(|p| p.extension().is_some_and(|e| e == "csv"));
    tables.sort();
    let mut rows = Vec::new();
    for path in tables {
        let text = std::fs::read_to_string(&path).map_err(failed)?;
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let mut lines = text.lines().filter(|l| !l.starts_with('#'));
        let (Some(head), Some(last)) = (lines.next(), lines.next_back()) else { continue };
        for (column, value) in head.split(',').zip(last.split(',')).skip(1) {
            if let Ok(value) = value.trim().parse() {
                rows.push((format!("{name}: {}", column.trim().trim_matches('"')), value));
            }
        }
    }
    Ok(rows)
}

/// Rows that all columns have, with the differences from the first.
fn rows(columns: &[Column]) -> Vec<(&str, Vec<f64>)> {
    let of = |c: &Column, name: &str| c.values.iter().find(|v| v.0 == name).map(|v| v.1);
    let row = |(name, _): &'_ (String, f64)| columns.iter().map(|c| of(c, name)).collect::<Option<Vec<f64>>>();
    columns[0].values.iter().filter_map(|v| Some((v.0.as_str(), row(v)?))).collect()
}

/// By how much a number differs from the first, in per cent of that.
fn off(first: f64, other: f64) -> f64 {
    if first == other { 0.0 } else { 100.0 * (other - first) / first.abs() }
}

fn table(columns: &[Column]) -> String {
    let mut text = format!("{:34}", "at the end");
    for (n, c) in columns.iter().enumerate() {
        let _ = write!(text, " {:>14}", c.name);
        if n > 0 {
            let _ = write!(text, " {:>9}", "off");
        }
    }
    for (name, values) in rows(columns) {
        let _ = write!(text, "\n{name:34}");
        for (n, v) in values.iter().enumerate() {
            let whole = v.fract() == 0.0 && *v >= 0.0 && *v < 1e15;
            let number = if whole { count(*v as u64) } else { format!("{v:.4e}") };
            let _ = write!(text, " {number:>14}");
            if n > 0 {
                let _ = write!(text, " {:>7.1} %", off(values[0], *v));
            }
        }
    }
    text
}

fn csv(columns: &[Column]) -> String {
    let mut text = "quantity".to_string();
    columns.iter().for_each(|c| text += &format!(",{}", c.name));
    for (name, values) in rows(columns) {
        let _ = write!(text, "\n\"{}\"", name.replace('"', "\"\""));
        values.iter().for_each(|v| text += &format!(",{v}"));
    }
    text + "\n"
}
