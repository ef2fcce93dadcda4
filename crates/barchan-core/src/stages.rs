//! Stages of a step and the time they take.
//!
//! The stages of a solver, of a coupling and of the world are enums ([`stages!`](crate::stages)). Their names are those in the timers, in the benchmark's
//! columns, in the window and in the documentation.

use std::marker::PhantomData;
use std::time::Instant;

/// A stage of a step.
pub trait Stage: Copy + 'static {
    /// All stages, in their order within a step.
    const ALL: &'static [Self];

    /// Its name, as everywhere.
    fn name(self) -> &'static str;

    /// Its place in [`Stage::ALL`].
    fn index(self) -> usize;
}

/// Declares the stages of a step as an enum, each with its name.
#[macro_export]
macro_rules! stages {
    ($(#[$about:meta])* $visible:vis enum $Name:ident { $($(#[$doc:meta])* $Stage:ident = $name:literal,)+ }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        $visible enum $Name { $($(#[$doc])* $Stage,)+ }

        impl $crate::stages::Stage for $Name {
            const ALL: &'static [Self] = &[$($Name::$Stage,)+];

            fn name(self) -> &'static str {
                match self { $($Name::$Stage => $name,)+ }
            }

            fn index(self) -> usize {
                self as usize
            }
        }
    };
}

/// Time spent in one stage since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StageTime {
    /// Name of the stage.
    pub name: &'static str,
    /// Wall-clock seconds.
    pub seconds: f64,
    /// How often it ran.
    pub runs: u64,
}

/// The timers of all stages of a step.
#[derive(Clone, Debug)]
pub struct Timers<S> {
    times: Vec<StageTime>,
    of: PhantomData<S>,
}

impl<S: Stage> Default for Timers<S> {
    fn default() -> Self {
        let time = |s: &S| StageTime { name: s.name(), ..StageTime::default() };
        Timers { times: S::ALL.iter().map(time).collect(), of: PhantomData }
    }
}

impl<S: Stage> Timers<S> {
    /// Counts a run of a stage that began at an instant.
    pub fn ran(&mut self, stage: S, begun: Instant) {
        self.spent(stage, begun);
        self.times[stage.index()].runs += 1;
    }

    /// Adds the time since an instant to a stage without counting a run.
    pub fn spent(&mut self, stage: S, begun: Instant) {
        self.times[stage.index()].seconds += begun.elapsed().as_secs_f64();
    }

    /// Runs and times a stage.
    pub fn time<T>(&mut self, stage: S, run: impl FnOnce() -> T) -> T {
        let begun = Instant::now();
        let out = run();
        self.ran(stage, begun);
        out
    }

    /// Time of each stage, in their order.
    pub fn times(&self) -> &[StageTime] {
        &self.times
    }
}
