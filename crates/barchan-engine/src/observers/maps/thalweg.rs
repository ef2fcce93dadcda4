//! A line down the path of an avalanche, by which distances are counted.

use glam::DVec2;

/// A line seen from above.
#[derive(Clone, Debug, PartialEq)]
pub struct Thalweg {
    points: Vec<DVec2>,
    /// Distance of each point from the first, along the line [m].
    along: Vec<f64>,
}

impl Thalweg {
    /// Through these points [m]; none of fewer than two that differ.
    pub fn new(points: impl IntoIterator<Item = DVec2>) -> Option<Thalweg> {
        let mut all: Vec<DVec2> = Vec::new();
        for p in points {
            if all.last() != Some(&p) && p.is_finite() {
                all.push(p);
            }
        }
        let mut length = 0.0;
        let along = (0..all.len()).map(|k| {
            length += if k > 0 { all[k].distance(all[k - 1]) } else { 0.0 };
            length
        });
        let along = along.collect();
        (all.len() > 1).then_some(Thalweg { points: all, along })
    }

    /// Length [m].
    pub fn length(&self) -> f64 {
        self.along.last().copied().unwrap_or(0.0)
    }

    /// The point a distance [m] along it; before its first and beyond its last point it goes on straight.
    pub fn at(&self, s: f64) -> DVec2 {
        let k = self.along.partition_point(|a| *a <= s).clamp(1, self.points.len() - 1);
        let share = (s - self.along[k - 1]) / (self.along[k] - self.along[k - 1]);
        self.points[k - 1].lerp(self.points[k], share)
    }

    /// Distance along the line [m] of the point of it that is nearest to a place, and how far beside it that lies [m], positive to the left. Beside its
    /// ends the line goes on straight.
    pub fn project(&self, p: DVec2) -> [f64; 2] {
        let last = self.points.len() - 2;
        let mut best = (f64::INFINITY, [0.0; 2]);
        for (k, ends) in self.points.windows(2).enumerate() {
            let (way, from) = (ends[1] - ends[0], p - ends[0]);
            let length = way.length();
            let mut t = way.dot(from) / length;
            if k > 0 {
                t = t.max(0.0);
            }
            if k < last {
                t = t.min(length);
            }
            let off = from - way / length * t;
            if off.length() < best.0 {
                let side = if way.perp_dot(from) < 0.0 { -1.0 } else { 1.0 };
                best = (off.length(), [self.along[k] + t, side * off.length()]);
            }
        }
        best.1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_found_along_a_bent_line_and_beyond_its_ends() {
        let line = Thalweg::new([DVec2::ZERO, DVec2::ZERO, DVec2::new(3.0, 0.0), DVec2::new(3.0, 4.0)]).unwrap();
        assert_eq!(line.length(), 7.0);
        assert_eq!(line.at(5.0), DVec2::new(3.0, 2.0));
        assert_eq!(line.at(-1.0), DVec2::new(-1.0, 0.0));
        assert_eq!(line.project(DVec2::new(2.0, 0.5)), [2.0, 0.5]);
        assert_eq!(line.project(DVec2::new(4.0, 3.0)), [6.0, -1.0]);
        assert_eq!(line.project(DVec2::new(3.0, 9.0)), [12.0, 0.0]);
        assert!(Thalweg::new([DVec2::ONE; 3]).is_none());
    }
}
