//! `barchan validate`.

use super::say::{many, say, span};
use super::{Failure, Threads, stop};
use barchan_validation::report::{self, Entry, Machine, Outcome, Report};
use barchan_validation::{Bench, CASES, Case, Criterion, Size, Verdict, case, number, side_by_side};
use clap::Args;
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

#[derive(Args)]
pub struct ValidateArgs {
    /// Cases to run, or a group: verification, sand, beyond, sph; left out: all
    #[arg(value_name = "CASE")]
    cases: Vec<String>,
    /// quick: minutes; standard: closer to the papers, under two hours; full: as large as theirs
    #[arg(long, value_name = "SIZE", default_value = "quick")]
    size: Scale,
    /// Folder of the report
    #[arg(short, long, value_name = "DIR", default_value = "report")]
    output: PathBuf,
    /// Keep what the report in the folder has of other cases, if it is of the same size
    #[arg(long)]
    keep: bool,
    /// Do not count failures that are known and explained in the report
    #[arg(long)]
    known: bool,
    /// Compute the cases' scenes of grains on the processor (cpu) or on a graphics adapter (gpu, gpu:1)
    #[arg(long, value_name = "DEVICE", value_parser = super::devices::device)]
    device: Option<barchan::engine::Device>,
    /// Show the cases and what must come out, and run nothing
    #[arg(long)]
    list: bool,
    #[command(flatten)]
    threads: Threads,
}

/// [`Size`] as clap reads it.
#[derive(Clone, Copy, clap::ValueEnum)]
enum Scale {
    Quick,
    Standard,
    Full,
}

impl From<Scale> for Size {
    fn from(scale: Scale) -> Size {
        match scale {
            Scale::Quick => Size::Quick,
            Scale::Standard => Size::Standard,
            Scale::Full => Size::Full,
        }
    }
}

pub fn validate(args: ValidateArgs) -> Result<(), Failure> {
    let mut chosen = chosen(&args.cases)?;
    if args.list {
        chosen.into_iter().for_each(list);
        return Ok(());
    }
    args.threads.set()?;
    stop::listen("the cases under way are ended, and the report written");
    let size = args.size.into();
    if args.cases.is_empty() {
        chosen.retain(|case| case.criteria.iter().any(|c| case.judges(c, size)));
    }
    let mut report = Report {
        version: env!("CARGO_PKG_VERSION").into(),
        date: today(),
        machine: Machine::this(),
        size,
        asked: chosen.len(),
        entries: vec![],
        kept: if args.keep { report::kept::read(&args.output, size) } else { vec![] },
    };
    report.kept.retain(|k| chosen.iter().all(|c| c.name != k.name));
    let start = Instant::now();
    let stopped = || stop::ASKED.load(Ordering::Relaxed);
    let (bench, threads) =
        (Bench { size, fault: None, device: args.device.unwrap_or_default() }, rayon::current_num_threads());
    report.entries = side_by_side::run(&chosen, &bench, threads, &stopped, &mut tell);
    let page = report::write(&args.output, &report).map_err(|e| Failure::Failed(e.to_string()))?;
    // What a device cannot compute has not failed there.
    let there = |e: &&Entry| !e.is_left_out();
    let left_out = report.entries.iter().filter(|e| !there(e)).count();
    let wrong = report.entries.iter().filter(there).filter(|e| e.verdict() != Outcome::Pass).count();
    let news = report.entries.iter().filter(there).filter(|e| !e.as_known()).count();
    if left_out > 0 {
        say!("{} left out, which the device does not compute", many(left_out as u64, "case"));
    }
    let ran = many(report.entries.len() as u64, "case");
    say!(
        "{ran} in {}, {wrong} failed, {} of them as known; report in {}",
        span(start.elapsed().as_secs_f64()),
        wrong - news,
        page.display()
    );
    match if args.known { news } else { wrong } {
        _ if report.entries.len() < report.asked => Err(Failure::Stopped),
        0 => Ok(()),
        n => Err(Failure::Failed(format!("{} failed", many(n as u64, "case")))),
    }
}

/// The cases of these names, all without any; every name that is none is complained of at once.
fn chosen(names: &[String]) -> Result<Vec<&'static Case>, Failure> {
    if names.is_empty() {
        return Ok(CASES.iter().collect());
    }
    if let [group] = names
        && CASES.iter().any(|c| c.group.name() == group)
    {
        return Ok(CASES.iter().filter(|c| c.group.name() == group).collect());
    }
    let (known, unknown): (Vec<_>, Vec<_>) = names.iter().map(|n| (n, case(n))).partition(|(_, c)| c.is_some());
    let complaint = |(name, _): &(&String, _)| {
        let near = |c: &&Case| (1e6 * strsim::jaro_winkler(c.name, &name.to_lowercase())) as u32;
        let nearest = CASES.iter().max_by_key(near).map_or("", |c| c.name);
        format!("there is no case `{name}`; did you mean `{nearest}`? (`barchan validate --list` shows all)")
    };
    match unknown.is_empty() {
        true => Ok(known.into_iter().filter_map(|(_, c)| c).collect()),
        false => Err(Failure::Usage(unknown.iter().map(complaint).collect::<Vec<_>>().join("\n"))),
    }
}

fn list(case: &Case) {
    say!("{}: {} ({})", case.name, case.title, case.group.name());
    for c in case.criteria {
        say!("  {}: {}{} (source: {})", c.what, c.accept, unit(c), c.reference);
    }
}

/// The unit behind a number, with its space; nothing for a pure number.
fn unit(c: &Criterion) -> String {
    if c.unit.is_empty() { String::new() } else { format!(" {}", c.unit) }
}

/// A line for a case that has ended, and one for everything that is wrong with it.
fn tell(entry: &Entry) {
    let wide = CASES.iter().map(|c| c.name.len()).max().unwrap_or(0);
    say!("{:5}  {:wide$}  {}", entry.verdict().word(), entry.case.name, span(entry.seconds));
    if let Err(why) = &entry.outcome {
        say!("       {why}");
        return;
    }
    for v in entry.verdicts().iter().filter(|v| !v.passed()) {
        let Verdict { criterion: c, found, .. } = v;
        let found = found.map_or("nothing".into(), number);
        let known = if entry.knows(v) { " (known)" } else { "" };
        say!("       {}: found {found}, accepted {}{}{known}", c.what, c.accept, unit(c));
    }
}

/// Today's date in UTC, `2026-01-31`; a clock set before 1970 gives the first day of that year.
fn today() -> String {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_secs());
    date(seconds / 86_400)
}

/// Date of a day counted from 1 January 1970. Years begin in March here, so that a leap day ends one, and 400 of them
/// have 146,097 days.
fn date(day: u64) -> String {
    let from_march = day + 719_468; // since 1 March of the year 0
    let (era, day) = (from_march / 146_097, from_march % 146_097);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (month, next) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    format!("{:04}-{month:02}-{day:02}", era * 400 + year + next)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_have_their_dates() {
        let days = [0, 59, 789, 11_016, 11_017, 19_782, 20_454];
        let dates = ["1970-01-01", "1970-03-01", "1972-02-29", "2000-02-29", "2000-03-01", "2024-02-29", "2026-01-01"];
        assert_eq!(days.map(date), dates);
    }
}
