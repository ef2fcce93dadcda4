//! Comparison with any command that prints its Cundall number, or how much it simulates in a second, in turns, so that a machine's moods fall on both.

use super::{Bench, SphTiming, Timing};
use barchan_core::solver::SolverError;
use barchan_dem::DemError;
use std::process::Command;

/// Why there is nothing to compare.
#[derive(Debug, thiserror::Error)]
pub enum CompareError {
    /// Our own side stopped.
    #[error(transparent)]
    Dem(#[from] DemError),
    /// Our own continuum stopped.
    #[error(transparent)]
    Solver(#[from] SolverError),
    /// The command did not run.
    #[error("`{command}` could not be run: {reason}")]
    Command {
        /// The command.
        command: String,
        /// What happened.
        reason: String,
    },
    /// The command ran and printed no rate.
    #[error("`{command}` printed no `{word}=NUMBER`: let it print one such line")]
    NoRate {
        /// What it is to print.
        word: &'static str,
        /// The command.
        command: String,
    },
}

/// Rates of both sides, round by round [grain-steps/s].
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// Ours.
    pub ours: Vec<Timing>,
    /// The command's.
    pub theirs: Vec<f64>,
}

impl Comparison {
    /// Median of our rates over the median of theirs.
    pub fn ratio(&self) -> f64 {
        median(self.ours.iter().map(|t| t.cundall).collect()) / median(self.theirs.clone())
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    match values.len() {
        0 => f64::NAN,
        n => 0.5 * (values[(n - 1) / 2] + values[n / 2]),
    }
}

/// What a command prints of grains: grain-steps a second.
const CUNDALL: &str = "cundall";
/// What it prints of a continuum: simulated seconds a second. Steps of two solvers are not the same work, seconds are.
const SIMULATED: &str = "simulated";

/// Both sides of a continuum, round by round.
#[derive(Clone, Debug, PartialEq)]
pub struct ContinuumComparison {
    /// Ours.
    pub ours: Vec<SphTiming>,
    /// Simulated seconds a second of the command.
    pub theirs: Vec<f64>,
}

impl ContinuumComparison {
    /// Median of what we simulate in a second over the median of theirs.
    pub fn ratio(&self) -> f64 {
        median(self.ours.iter().map(|t| t.simulated).collect()) / median(self.theirs.clone())
    }
}

/// Times a case of the continuum and the command in turns.
pub fn compare_continuum(
    time: &mut dyn FnMut() -> Result<SphTiming, SolverError>,
    command: &str,
    rounds: usize,
    told: &mut dyn FnMut(usize, &SphTiming, f64),
) -> Result<ContinuumComparison, CompareError> {
    let mut found = ContinuumComparison { ours: Vec::new(), theirs: Vec::new() };
    for round in 0..rounds {
        let ours = time()?;
        let theirs = rate_of(command, SIMULATED)?;
        told(round, &ours, theirs);
        found.ours.push(ours);
        found.theirs.push(theirs);
    }
    Ok(found)
}

/// Times the case and the command in turns.
pub fn compare(
    bench: &mut Bench,
    steps: Option<u64>,
    command: &str,
    rounds: usize,
    told: &mut dyn FnMut(usize, &Timing, f64),
) -> Result<Comparison, CompareError> {
    let mut found = Comparison { ours: Vec::new(), theirs: Vec::new() };
    for round in 0..rounds {
        let ours = bench.time(steps)?;
        let theirs = rate_of(command, CUNDALL)?;
        told(round, &ours, theirs);
        found.ours.push(ours);
        found.theirs.push(theirs);
    }
    Ok(found)
}

fn rate_of(command: &str, word: &'static str) -> Result<f64, CompareError> {
    let (shell, flag) = if cfg!(windows) { ("cmd", "/C") } else { ("sh", "-c") };
    let failed = |reason: String| CompareError::Command { command: command.into(), reason };
    let output = Command::new(shell).args([flag, command]).output().map_err(|e| failed(e.to_string()))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(failed(format!("{}: {}", output.status, said.lines().last().unwrap_or("nothing was said"))));
    }
    let said = String::from_utf8_lossy(&output.stdout);
    rate_in(&said, word).ok_or(CompareError::NoRate { word, command: command.into() })
}

/// The last `WORD=NUMBER` of a text.
fn rate_in(text: &str, word: &str) -> Option<f64> {
    let words = text.split(|c: char| c.is_whitespace() || c == ',');
    let mut rates = words.filter_map(|w| w.strip_prefix(word)?.strip_prefix('='));
    rates.next_back()?.parse().ok().filter(|r: &f64| r.is_finite() && *r > 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_is_read_from_what_peers_print() {
        assert_eq!(rate_in("peer=lammps n=64000 seconds=8.4 cundall=7.619e+06 Z=4.81\n", CUNDALL), Some(7.619e6));
        assert_eq!(rate_in("cundall=1\ncundall=2", CUNDALL), Some(2.0));
        assert_eq!(rate_in("no rate", CUNDALL), None);
        assert_eq!(rate_in("cundall=nan", CUNDALL), None);
        assert_eq!(rate_in("cundall=5 simulated=0.012", SIMULATED), Some(0.012));
        assert_eq!(rate_in("cundall=5", SIMULATED), None);
    }

    #[test]
    fn a_continuum_is_held_against_what_the_command_simulates() {
        let mut time = || super::super::continuum(super::super::SphCase::Settled, 500, Some(5));
        let mut rounds = Vec::new();
        let mut told = |round: usize, t: &SphTiming, theirs: f64| rounds.push((round, t.particles, theirs));
        let found = compare_continuum(&mut time, "echo simulated=0.5", 2, &mut told).unwrap();
        assert_eq!(rounds.iter().map(|r| (r.0, r.2)).collect::<Vec<_>>(), [(0, 0.5), (1, 0.5)]);
        let ours = found.ours.iter().map(|t| t.simulated).sum::<f64>() / 2.0;
        assert!((found.ratio() / (ours / 0.5) - 1.0).abs() < 1e-12, "{found:?}");
    }

    #[test]
    fn commands_that_fail_or_say_nothing_are_told_apart() {
        assert_eq!(rate_of("echo cundall=3e6", CUNDALL).unwrap(), 3e6);
        assert!(matches!(rate_of("echo hello", CUNDALL), Err(CompareError::NoRate { .. })));
        assert!(matches!(rate_of("exit 3", CUNDALL), Err(CompareError::Command { .. })));
    }

    #[test]
    fn medians_of_odd_and_even_numbers() {
        assert_eq!(median(vec![3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(vec![4.0, 1.0, 2.0, 3.0]), 2.5);
    }
}
