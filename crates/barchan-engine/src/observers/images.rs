//! Periodic images that reach into a box.

use glam::DVec3;

/// A box in a domain that may be periodic.
#[derive(Clone, Copy, Debug)]
pub(super) struct Images {
    /// Lower corner [m]; −∞ where the box has no end.
    pub min: DVec3,
    /// Upper corner [m].
    pub max: DVec3,
    /// Period of each direction [m], 0 where there is none.
    pub period: DVec3,
}

impl Images {
    /// Visits the shifts [m] by which something between `low` and `high` comes to overlap the box.
    pub fn each(&self, low: DVec3, high: DVec3, mut visit: impl FnMut(DVec3)) {
        let range = |k: usize| {
            if self.period[k] > 0.0 && self.min[k].is_finite() {
                let a = ((self.min[k] - high[k]) / self.period[k]).ceil() as i64;
                let b = ((self.max[k] - low[k]) / self.period[k]).floor() as i64;
                a..=b
            } else {
                0..=i64::from(high[k] >= self.min[k] && low[k] <= self.max[k]) - 1
            }
        };
        for x in range(0) {
            for y in range(1) {
                for z in range(2) {
                    visit(DVec3::new(x as f64, y as f64, z as f64) * self.period);
                }
            }
        }
    }
}
