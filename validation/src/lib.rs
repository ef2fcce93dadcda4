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
//! | `src/impact.rs` | one impact, watched from touch to parting: what many cases are made of |
//! | `src/oblique.rs` | an oblique impact integrated apart from the solver |
//! | `src/rig.rs` | a scene under test, and the deliberate [`Fault`]s |
//! | `src/fit/` | fits and estimates that cases share: lines, curves, histograms, means with errors |
//! | `src/report/` | the report as one HTML file, and its curves as CSV |
//! | `reference/` | data of others: source, figure, and how it was obtained in the head of each file |

mod cases;
pub mod fit;
mod impact;
mod oblique;
pub mod report;
mod rig;
pub mod side_by_side;

pub use cases::{CASES, FROM_STANDARD, KNOWN};
pub use rig::{Fault, Rig};

use barchan_engine::WorldError;
use barchan_io::plot::Plot;
use barchan_scene::SceneErrors;
use std::fmt;

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
    /// `quick`, `standard` or `full`.
    pub fn name(self) -> &'static str {
        self.pick("quick", "standard", "full")
    }

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
    /// Matter as a continuum of smoothed particles.
    Continuum,
    /// Snow on mountains.
    Avalanche,
    /// Sand in three phases.
    Phases,
}

impl Group {
    /// Heading of the group.
    pub fn name(self) -> &'static str {
        match self {
            Group::Verification => "verification",
            Group::Seed => "sand",
            Group::Beyond => "beyond",
            Group::Continuum => "sph",
            Group::Avalanche => "avalanche",
            Group::Phases => "phases",
        }
    }
}

/// What is run, and what must come out.
#[derive(Debug)]
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

impl Criterion {
    /// A criterion: its key, what it is, its unit, what is accepted, and what the source says.
    pub const fn new(
        key: &'static str,
        what: &'static str,
        unit: &'static str,
        accept: Accept,
        reference: &'static str,
    ) -> Criterion {
        Criterion { key, what, unit, accept, reference }
    }
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

impl fmt::Display for Accept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Accept::Near(value, share) => write!(f, "{} ± {} %", number(value), number(100.0 * share)),
            Accept::Between(low, high) => write!(f, "{} to {}", number(low), number(high)),
            Accept::Below(high) => write!(f, "≤ {}", number(high)),
            Accept::Above(low) => write!(f, "≥ {}", number(low)),
        }
    }
}

/// A number to five digits, without zeros at its end: `0.71429`, `12`, `3.2e-7`.
pub fn number(x: f64) -> String {
    if x == 0.0 || !x.is_finite() {
        return format!("{x}");
    }
    let power = x.abs().log10().floor();
    let text = match power {
        -4.0..6.0 => format!("{:.*}", (4.0 - power).max(0.0) as usize, x),
        _ => format!("{x:.4e}"),
    };
    let (digits, exponent) = text.split_once('e').map_or((text.as_str(), None), |(d, e)| (d, Some(e)));
    let digits = if digits.contains('.') { digits.trim_end_matches('0').trim_end_matches('.') } else { digits };
    let digits = digits.replace('-', "−");
    exponent.map_or(digits.clone(), |e| format!("{digits}e{e}"))
}

/// How the message of [`CaseError::NotThere`] begins.
pub const LEFT_OUT: &str = "left out: ";

/// How a case is to be run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bench {
    /// How large.
    pub size: Size,
    /// What is to be wrong on purpose.
    pub fault: Option<Fault>,
    /// What computes the scenes. A case that sets up no scene of grains stays on the processor.
    pub device: barchan_engine::Device,
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
    /// The device that was asked for cannot compute its scene.
    #[error("{LEFT_OUT}{0}")]
    NotThere(String),
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
    /// Whether it is judged at the size that was run.
    pub judged: bool,
}

impl Verdict {
    /// Whether the number is there and passes, or is not judged at this size.
    pub fn passed(&self) -> bool {
        !self.judged || self.found.is_some_and(|x| self.criterion.accept.passes(x))
    }
}

impl Case {
    /// Whether a criterion of this case is judged at a size: all are, but those of [`FROM_STANDARD`] at the quick one.
    pub fn judges(&self, criterion: &Criterion, size: Size) -> bool {
        size >= Size::Standard || !FROM_STANDARD.contains(&(self.name, criterion.key))
    }
}

/// Holds findings against a case's criteria.
pub fn judge(case: &Case, size: Size, findings: &Findings) -> Vec<Verdict> {
    let found = |key| findings.values.iter().find(|v| v.0 == key).map(|v| v.1);
    let verdict = |c: &'static Criterion| Verdict { criterion: c, found: found(c.key), judged: case.judges(c, size) };
    case.criteria.iter().map(verdict).collect()
}

/// The case of that name.
pub fn case(name: &str) -> Option<&'static Case> {
    CASES.iter().find(|c| c.name == name)
}

/// Data of others: the rows of a file in `reference/`, whose head is comments and a line of names.
fn table(text: &str) -> Vec<Vec<f64>> {
    let rows = text.lines().filter(|l| !l.starts_with('#')).skip(1);
    rows.map(|l| l.split(',').map(|x| x.trim().parse().unwrap_or(f64::NAN)).collect()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_number_and_one_that_is_none_fail() {
        assert!(!Accept::Below(1.0).passes(f64::NAN) && !Accept::Near(0.0, 0.1).passes(f64::NAN));
        assert!(Accept::Near(-2.0, 0.01).passes(-2.01) && !Accept::Near(-2.0, 0.01).passes(-2.03));
        let verdicts = judge(&CASES[0], Size::Quick, &Findings::default());
        assert!(!verdicts.is_empty() && verdicts.iter().all(|v| !v.passed()));
    }

    #[test]
    fn numbers_have_five_digits_and_no_more() {
        let said = [0.0, 5.0 / 7.0, 1.0, -2.5, 123_456.7, 0.000_123_456, 1e-9, -3.2e7, 0.1, f64::NAN];
        let read = ["0", "0.71429", "1", "−2.5", "123457", "0.00012346", "1e-9", "−3.2e7", "0.1", "NaN"];
        assert_eq!(said.map(number), read);
        assert_eq!(Accept::Near(5.0 / 7.0, 1e-3).to_string(), "0.71429 ± 0.1 %");
        assert_eq!(Accept::Between(-2.1, -1.9).to_string(), "−2.1 to −1.9");
    }

    #[test]
    fn what_is_known_to_fail_or_waits_for_a_larger_size_is_there() {
        for (name, key) in KNOWN.iter().chain(FROM_STANDARD) {
            let keys = case(name).map(|c| c.criteria.iter().any(|c| c.key == *key));
            assert_eq!(keys, Some(true), "{name}: {key}");
        }
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
