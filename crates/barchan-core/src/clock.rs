//! Time: the world's steps, and clocks that run faster or slower than simulated time.

use crate::columns::Column;

/// One world step: the interval at the end of which solvers meet each other and the observers.
///
/// A solver takes as many steps of its own within it as it needs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// World steps taken before this one.
    pub step: u64,
    /// Length [s].
    pub dt: f64,
}

impl Interval {
    /// When it begins [s].
    pub fn start(&self) -> f64 {
        self.step as f64 * self.dt
    }

    /// When it ends [s].
    pub fn end(&self) -> f64 {
        (self.step + 1) as f64 * self.dt
    }
}

/// The step that a solver wants.
#[derive(Clone, Debug, PartialEq)]
pub struct StepWish {
    /// Its length [s].
    pub dt: f64,
    /// Whether it is always that long. Otherwise it is the longest world step the solver can use; it takes shorter steps of its
    /// own within it.
    pub fixed: bool,
    /// What asked for it, for people to read.
    pub reason: String,
}

/// The world step that serves all solvers [s]: the longest that any of them asks for, in whole steps of the one that takes
/// fixed steps. None where nobody asks for a step, or where two solvers have different fixed steps.
pub fn world_step(wishes: &[StepWish]) -> Option<f64> {
    let mut fixed = wishes.iter().filter(|w| w.fixed).map(|w| w.dt);
    let free = wishes.iter().filter(|w| !w.fixed).map(|w| w.dt).reduce(f64::min);
    match (fixed.next(), free) {
        (Some(dt), _) if fixed.any(|other| other != dt) => None,
        (Some(dt), Some(free)) => Some(dt * (free / dt).floor().max(1.0)),
        (dt, free) => dt.or(free),
    }
}

/// A clock that runs faster or slower than simulated time, and never jumps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Warp {
    /// Simulated time of the last change [s].
    at: f64,
    /// What the clock showed then [s].
    was: f64,
    /// Seconds of the clock a simulated second.
    factor: f64,
}

impl Default for Warp {
    fn default() -> Warp {
        Warp { at: 0.0, was: 0.0, factor: 1.0 }
    }
}

impl Warp {
    /// What the clock shows at a simulated time [s]: the very time where nothing was changed.
    pub fn at(&self, time: f64) -> f64 {
        if *self == Warp::default() { time } else { self.was + self.factor * (time - self.at) }
    }

    /// Seconds of the clock a simulated second.
    pub fn factor(&self) -> f64 {
        self.factor
    }

    /// The clock with another factor (0 stands still, below 0 it runs backwards) from a simulated time [s] on.
    pub fn set(&mut self, factor: f64, time: f64) {
        if factor.is_finite() && factor != self.factor {
            *self = Warp { at: time, was: self.at(time), factor };
        }
    }

    /// The clock as numbers, for a checkpoint.
    pub fn column(&self) -> Column {
        Column::F64(vec![self.at, self.was, self.factor])
    }

    /// The clock from what [`Warp::column`] gave; none if it is something else.
    pub fn from_column(column: &Column) -> Option<Warp> {
        match column {
            Column::F64(v) if v.len() == 3 && v.iter().all(|x| x.is_finite()) => {
                Some(Warp { at: v[0], was: v[1], factor: v[2] })
            }
            Column::F64(_) | Column::F32(_) | Column::U32(_) | Column::U64(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wish(dt: f64, fixed: bool) -> StepWish {
        StepWish { dt, fixed, reason: String::new() }
    }

    #[test]
    fn a_world_step_is_a_whole_number_of_fixed_steps_and_no_longer_than_anyone_can_use() {
        assert_eq!(world_step(&[wish(1.3e-5, true)]), Some(1.3e-5), "one solver with a fixed step: its own");
        assert_eq!(world_step(&[wish(1e-3, false)]), Some(1e-3));
        let both = world_step(&[wish(1.3e-5, true), wish(1e-3, false), wish(5e-4, false)]).unwrap();
        assert_eq!(both, 38.0 * 1.3e-5);
        assert_eq!(world_step(&[wish(1e-3, true), wish(1e-4, false)]), Some(1e-3), "a fixed step cannot be cut");
        assert_eq!(world_step(&[wish(1e-3, true), wish(1e-4, true)]), None);
        assert_eq!(world_step(&[]), None);
    }
}
