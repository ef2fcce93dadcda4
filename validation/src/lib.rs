//! The proof: barchan against closed forms, experiments and other people's simulations.
//!
//! A [`Case`] is plain data and one function. Its [`Criterion`]s stand in the data, so they are written down before it runs
//! (`barchan validate --list` shows them); what it gives back are [`Findings`]: numbers by the criteria's keys, plots,
//! remarks. [`judge`] puts the two together. Cases set up ordinary scenes and read ordinary measurements, through a
//! [`Rig`]; whatever they do, a user can do.
//!
//! | file | role |
//! |---|---|
//! | `src/cases/` | the cases, one file each; a new one is a file and a line in `src/cases/mod.rs` |
//! | `src/rig.rs` | a scene under test, and the deliberate [`Fault`]s |
//! | `src/fit/` | fits and estimates that cases share: lines, curves, histograms, means with errors |
//! | `src/report/` | the report as one HTML file, and its curves as CSV |
//! | `reference/` | data of others: source, figure, and how it was obtained in the head of each file |

mod cases;
pub mod fit;
mod rig;

pub use cases::CASES;
pub use rig::{Fault, Rig};

use barchan_engine::WorldError;
use barchan_io::plot::Plot;
use barchan_scene::SceneErrors;

/// How large the cases are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Size {
    /// All cases within minutes.
    Quick,
    /// Closer to the papers, within two hours.
    Standard,
    /// That of the papers.
    Full,
}

impl Size {
    /// The one of three values that belongs to this size.
    pub fn pick<T>(self, quick: T, standard: T, full: T) -> T {
        match self {
            Size::Quick => quick,
            Size::Standard => standard,
            Size::Full => full,
        }
    }
}

/// What kind of proof a case is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// Against closed forms: the equations are solved right.
    Verification,
    /// The measurements of Longmore 2009, chapter 7: the material behaves as sand.
    Seed,
    /// Against experiments and simulations of others.
    Beyond,
}

/// What is run, and what must come out.
pub struct Case {
    /// Name on the command line, kebab-case.
    pub name: &'static str,
    /// Heading.
    pub title: &'static str,
    /// Kind of proof.
    pub group: Group,
    /// What is set up and measured, in a few sentences.
    pub about: &'static str,
    /// Whose result it is held against.
    pub source: &'static str,
    /// What must be found, written down before it is looked for.
    pub criteria: &'static [Criterion],
    /// Runs it.
    pub run: fn(&Bench) -> Result<Findings, CaseError>,
}

/// A number that must come out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Criterion {
    /// By which [`Findings::values`] gives the number.
    pub key: &'static str,
    /// What it is.
    pub what: &'static str,
    /// Its unit; empty for a pure number.
    pub unit: &'static str,
    /// What is accepted.
    pub accept: Accept,
    /// The number of the source, in words.
    pub reference: &'static str,
}

/// Which numbers pass.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Accept {
    /// Within a share of a value.
    Near(f64, f64),
    /// From a number to another.
    Between(f64, f64),
    /// At most.
    Below(f64),
    /// At least.
    Above(f64),
}

impl Accept {
    /// Whether a number passes; what is not a number never does.
    pub fn passes(self, x: f64) -> bool {
        match self {
            Accept::Near(value, share) => (x - value).abs() <= share * value.abs(),
            Accept::Between(low, high) => (low..=high).contains(&x),
            Accept::Below(high) => x <= high,
            Accept::Above(low) => x >= low,
        }
    }
}

/// How a case is to be run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bench {
    /// How large.
    pub size: Size,
    /// What is to be wrong on purpose.
    pub fault: Option<Fault>,
}

/// What a case found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Findings {
    /// What was set up at this size: name and value with unit.
    pub setup: Vec<(String, String)>,
    /// The criteria's numbers, by key.
    pub values: Vec<(&'static str, f64)>,
    /// Figures.
    pub plots: Vec<Plot>,
    /// What else was seen.
    pub remarks: Vec<String>,
}

impl Findings {
    /// Notes a line of the set-up.
    pub fn set_up(&mut self, what: impl Into<String>, value: impl Into<String>) {
        self.setup.push((what.into(), value.into()));
    }

    /// Notes a criterion's number.
    pub fn found(&mut self, key: &'static str, value: f64) {
        self.values.push((key, value));
    }
}

/// Why a case could not be run to its end.
#[derive(Debug, thiserror::Error)]
pub enum CaseError {
    /// Its scene has errors.
    #[error("{}", all_problems(.0))]
    Scene(#[from] SceneErrors),
    /// Its run stopped.
    #[error(transparent)]
    World(#[from] WorldError),
    /// What it looks for was not there to be measured.
    #[error("{0}")]
    Unmeasured(String),
}

fn all_problems(errors: &SceneErrors) -> String {
    let each: Vec<String> = errors.errors().map(|p| format!("{}: {}", p.path, p.message)).collect();
    format!("{errors}: {}", each.join("; "))
}

/// A criterion with the number that was found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Verdict {
    /// What was asked.
    pub criterion: &'static Criterion,
    /// What was found; none where the case did not get so far.
    pub found: Option<f64>,
}

impl Verdict {
    /// Whether the number is there and passes.
    pub fn passed(&self) -> bool {
        self.found.is_some_and(|x| self.criterion.accept.passes(x))
    }
}

/// Holds findings against a case's criteria.
pub fn judge(case: &Case, findings: &Findings) -> Vec<Verdict> {
    let found = |key| findings.values.iter().find(|v| v.0 == key).map(|v| v.1);
    case.criteria.iter().map(|criterion| Verdict { criterion, found: found(criterion.key) }).collect()
}

/// The case of that name.
pub fn case(name: &str) -> Option<&'static Case> {
    CASES.iter().find(|c| c.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_number_and_one_that_is_none_fail() {
        assert!(!Accept::Below(1.0).passes(f64::NAN) && !Accept::Near(0.0, 0.1).passes(f64::NAN));
        assert!(Accept::Near(-2.0, 0.01).passes(-2.01) && !Accept::Near(-2.0, 0.01).passes(-2.03));
        let verdicts = judge(&CASES[0], &Findings::default());
        assert!(!verdicts.is_empty() && verdicts.iter().all(|v| !v.passed()));
    }

    #[test]
    fn names_and_keys_are_given_once() {
        for (n, case) in CASES.iter().enumerate() {
            assert!(CASES[..n].iter().all(|c| c.name != case.name), "{} is there twice", case.name);
            assert!(!case.criteria.is_empty(), "{} asks for nothing", case.name);
            for (k, c) in case.criteria.iter().enumerate() {
                assert!(case.criteria[..k].iter().all(|d| d.key != c.key), "{}: {} is there twice", case.name, c.key);
            }
        }
    }
}
