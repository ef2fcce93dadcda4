//! When things are due: from the number of the step, never from a sum of floats, so that a resumed run agrees.

/// A rhythm of simulated time, laid onto the steps of a run.
///
/// The k-th event falls on the step nearest to k intervals; an interval shorter than a step makes every step an event.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Schedule {
    /// Steps per interval, at least one.
    steps: f64,
}

impl Schedule {
    /// Every `interval` [s] at time step `dt` [s].
    pub fn new(interval: f64, dt: f64) -> Schedule {
        Schedule { steps: (interval / dt).max(1.0) }
    }

    /// Every `steps` steps.
    pub fn every(steps: u64) -> Schedule {
        Schedule { steps: steps.max(1) as f64 }
    }

    /// Whether an event falls on this step. The start, step 0, is one.
    pub fn due(&self, step: u64) -> bool {
        let event = (step as f64 / self.steps).round();
        (event * self.steps).round() as u64 == step
    }

    /// The step of the n-th event; the start is the one numbered 0.
    pub fn step(&self, event: u64) -> u64 {
        (event as f64 * self.steps).round() as u64
    }

    /// Events up to and with this step, the start included.
    pub fn count(&self, step: u64) -> u64 {
        // Rounding moves an event by half a step at most, so the last one is among these two.
        let near = (step as f64 / self.steps) as u64;
        near + u64::from(((near + 1) as f64 * self.steps).round() as u64 <= step) + 1
    }
}

/// Steps that `duration` [s] takes at time step `dt` [s]: the last one reaches it, up to rounding.
pub fn steps_of(duration: f64, dt: f64) -> u64 {
    (duration / dt * (1.0 - 1e-12)).ceil() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_as_many_as_intervals_and_evenly_spaced() {
        for (interval, dt) in [(0.01, 1.3e-5), (1.0, 0.3), (1e-5, 1e-5), (1e-6, 1e-5), (0.0123, 7.7e-5)] {
            let schedule = Schedule::new(interval, dt);
            let due: Vec<u64> = (0..10_000).filter(|&s| schedule.due(s)).collect();
            let spacing = (interval / dt).max(1.0);
            assert!(due.windows(2).all(|w| ((w[1] - w[0]) as f64 - spacing).abs() <= 1.0), "{interval} {dt}");
            for s in [0, 1, 2, 7, 769, 770, 9_999] {
                assert_eq!(
                    schedule.count(s),
                    due.iter().filter(|&&d| d <= s).count() as u64,
                    "{interval} {dt} step {s}"
                );
            }
        }
    }

    #[test]
    fn a_duration_that_is_a_multiple_of_dt_takes_no_step_more() {
        assert_eq!(steps_of(0.3, 0.1), 3);
        assert_eq!(steps_of(1.0, 1e-5), 100_000);
        assert_eq!(steps_of(1.05, 0.1), 11);
        assert_eq!(steps_of(0.0, 0.1), 0);
    }
}
