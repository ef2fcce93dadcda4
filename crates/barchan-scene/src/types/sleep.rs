//! When grains fall asleep.

use super::Scene;
use crate::keys;
use crate::keys::Interval;

/// Changes of load that wake a grain.
const WAKES: Interval = Interval {
    from: 0.0,
    with_from: false,
    to: 1.0,
    with_to: true,
    message: "a grain cannot sleep until the forces on it have changed by {} of what it bears",
    help: "give a share above 0, at most 1, such as 0.1",
};

keys! {
    /// Grains at rest fall asleep: they are not integrated until something matters to them.
    pub struct Sleep = "write `[sleep]`, which may be empty" {
        /// A grain is at rest if it has moved less than this share of its radius …
        rest: f64 [NUMBER; positive("the share of the radius")] = Sleep::REST,
        /// … for this time [s]; left out: as long as a mean grain takes to fall eight diameters.
        after: Option<f64> [TIME; grows, positive("the time of rest")],
        /// Change of the forces on a sleeping grain that wakes it, over what it bears.
        wake: f64 [NUMBER; interval(WAKES)] = Sleep::WAKE,
    }
}

impl Sleep {
    /// Share of the radius where none is given.
    pub const REST: f64 = 0.05;
    /// Change of forces where none is given.
    pub const WAKE: f64 = 0.1;
}

impl Default for Sleep {
    fn default() -> Sleep {
        Sleep { rest: Sleep::REST, after: None, wake: Sleep::WAKE }
    }
}

/// Whether grains of a scene sleep by `[sleep]` while its ground holds and takes them as well.
pub(crate) fn sleeps_twice(scene: &Scene) -> bool {
    scene.sleep.is_some() && scene.ground.as_ref().is_some_and(|g| g.exchange.is_some())
}
