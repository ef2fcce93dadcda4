//! What cases found, gathered and written down: one HTML file, and the curves of its figures as CSV beside it.
//!
//! | file | role |
//! |---|---|
//! | `page.rs` | the page |
//! | `kept.rs` | what an earlier page has |
//! | `style.css` | how it looks, on screens light and dark and on paper |
//! | `machine.rs` | what it was run on |

pub mod kept;
mod machine;
mod page;

pub use kept::Kept;
pub use machine::Machine;

use crate::{Bench, Case, Findings, KNOWN, LEFT_OUT, Size, Verdict, judge};
use barchan_io::atomic::{self, FileError};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// The results of one call of `barchan validate`.
#[derive(Debug)]
pub struct Report {
    /// Version of the program.
    pub version: String,
    /// Day it was made, as it is to be printed.
    pub date: String,
    /// What it ran on.
    pub machine: Machine,
    /// How large the cases were made.
    pub size: Size,
    /// Cases that were asked for; more than there are entries where it was stopped.
    pub asked: usize,
    /// The cases that were run, in their order.
    pub entries: Vec<Entry>,
    /// Cases of an earlier report that were not run again.
    pub kept: Vec<Kept>,
}

/// A case with what came of it.
#[derive(Debug)]
pub struct Entry {
    /// The case.
    pub case: &'static Case,
    /// How large it was made.
    pub size: Size,
    /// Wall-clock time it took [s].
    pub seconds: f64,
    /// What it found, or why it could not be run to its end.
    pub outcome: Result<Findings, String>,
}

impl Entry {
    /// Runs a case and takes its time.
    pub fn run(case: &'static Case, bench: &Bench) -> Entry {
        let start = Instant::now();
        // On a thread of the pool: a solver called from outside would wake one in every step, which small worlds feel.
        let outcome = rayon::scope(|_| (case.run)(bench)).map_err(|e| e.to_string());
        Entry { case, size: bench.size, seconds: start.elapsed().as_secs_f64(), outcome }
    }

    /// Its criteria with the numbers found; none were found where it could not be run.
    pub fn verdicts(&self) -> Vec<Verdict> {
        match &self.outcome {
            Ok(findings) => judge(self.case, self.size, findings),
            Err(_) => judge(self.case, self.size, &Findings::default()),
        }
    }

    /// Whether a criterion of this case is known not to be met.
    pub fn knows(&self, verdict: &Verdict) -> bool {
        KNOWN.contains(&(self.case.name, verdict.criterion.key))
    }

    /// Whether the device that was asked for does not compute its scene, which is no failure.
    pub fn is_left_out(&self) -> bool {
        matches!(&self.outcome, Err(why) if why.starts_with(LEFT_OUT))
    }

    /// Whether it ran, and nothing failed but what is known to.
    pub fn as_known(&self) -> bool {
        self.outcome.is_ok() && self.verdicts().iter().all(|v| v.passed() || self.knows(v))
    }

    /// How it ended.
    pub fn verdict(&self) -> Outcome {
        match self.outcome {
            Err(_) => Outcome::Error,
            Ok(_) if self.verdicts().iter().all(Verdict::passed) => Outcome::Pass,
            Ok(_) => Outcome::Fail,
        }
    }
}

/// How a case ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// All criteria are met.
    Pass,
    /// Some criterion is not.
    Fail,
    /// It could not be run to its end, which is no better.
    Error,
}

impl Outcome {
    /// `pass`, `FAIL` or `ERROR`.
    pub fn word(self) -> &'static str {
        match self {
            Outcome::Pass => "pass",
            Outcome::Fail => "FAIL",
            Outcome::Error => "ERROR",
        }
    }
}

/// Writes `index.html` and the curves into a folder, which is made where it is missing; returns the path of the page.
pub fn write(folder: &Path, report: &Report) -> Result<PathBuf, FileError> {
    atomic::create_folder(folder)?;
    for entry in &report.entries {
        for (n, plot) in entry.outcome.iter().flat_map(|f| f.plots.iter().enumerate()) {
            atomic::write(&folder.join(curves(entry.case, n, &plot.title)), plot.csv().as_bytes())?;
        }
    }
    let page = folder.join("index.html");
    atomic::write(&page, page::html(report).as_bytes())?;
    Ok(page)
}

/// Name of the file of the `n`-th figure's curves: `slip-to-roll-1-speed-of-a-sliding-ball.csv`.
fn curves(case: &Case, n: usize, title: &str) -> String {
    let letters = title.to_lowercase().replace(|c: char| !c.is_ascii_alphanumeric(), " ");
    let words: Vec<&str> = letters.split_whitespace().take(8).collect();
    format!("{}-{}-{}.csv", case.name, n + 1, words.join("-"))
}

#[cfg(test)]
mod tests;
