//! Comparison with any command that prints its Cundall number, in turns, so that a machine's moods fall on both.

use super::{Bench, Timing};
use barchan_dem::DemError;
use std::process::Command;

/// Why there is nothing to compare.
#[derive(Debug, thiserror::Error)]
pub enum CompareError {
    /// Our own side stopped.
    #[error(transparent)]
    Dem(#[from] DemError),
    /// The command did not run.
    #[error("`{command}` could not be run: {reason}")]
    Command {
        /// The command.
        command: String,
        /// What happened.
        reason: String,
    },
    /// The command ran and printed no rate.
    #[error("`{command}` printed no `cundall=NUMBER`: let it print one such line")]
    NoRate {
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
        let theirs = rate_of(command)?;
        told(round, &ours, theirs);
        found.ours.push(ours);
        found.theirs.push(theirs);
    }
    Ok(found)
}

fn rate_of(command: &str) -> Result<f64, CompareError> {
    let (shell, flag) = if cfg!(windows) { ("cmd", "/C") } else { ("sh", "-c") };
    let failed = |reason: String| CompareError::Command { command: command.into(), reason };
    let output = Command::new(shell).args([flag, command]).output().map_err(|e| failed(e.to_string()))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(failed(format!("{}: {}", output.status, said.lines().last().unwrap_or("nothing was said"))));
    }
    rate_in(&String::from_utf8_lossy(&output.stdout)).ok_or(CompareError::NoRate { command: command.into() })
}

/// The last `cundall=NUMBER` of a text.
fn rate_in(text: &str) -> Option<f64> {
    let mut rates = text.split(|c: char| c.is_whitespace() || c == ',').filter_map(|w| w.strip_prefix("cundall="));
    rates.next_back()?.parse().ok().filter(|r: &f64| r.is_finite() && *r > 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_is_read_from_what_peers_print() {
        assert_eq!(rate_in("peer=lammps n=64000 seconds=8.4 cundall=7.619e+06 Z=4.81\n"), Some(7.619e6));
        assert_eq!(rate_in("cundall=1\ncundall=2"), Some(2.0));
        assert_eq!(rate_in("no rate"), None);
        assert_eq!(rate_in("cundall=nan"), None);
    }

    #[test]
    fn commands_that_fail_or_say_nothing_are_told_apart() {
        assert_eq!(rate_of("echo cundall=3e6").unwrap(), 3e6);
        assert!(matches!(rate_of("echo hello"), Err(CompareError::NoRate { .. })));
        assert!(matches!(rate_of("exit 3"), Err(CompareError::Command { .. })));
    }

    #[test]
    fn medians_of_odd_and_even_numbers() {
        assert_eq!(median(vec![3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(vec![4.0, 1.0, 2.0, 3.0]), 2.5);
    }
}
