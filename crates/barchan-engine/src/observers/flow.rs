//! Flow through a plane.

use super::{Observer, View};
use barchan_dem::{Column, Departed};
use barchan_io::csv;
use glam::DVec3;

/// Grains that crossed a plane along its normal, less those that came back, since the start; their mass; and the rates
/// since the last row.
///
/// Each grain's distance from the plane is remembered by id, so a crossing is a change of sign. A change of more than
/// half a periodic side is a wrap, not a crossing. Costs 4 bytes for each grain ever born.
#[derive(Clone, Debug)]
pub struct Flow {
    point: DVec3,
    normal: DVec3,
    /// A larger change of distance is a periodic wrap [m].
    wrap: f64,
    /// Distance from the plane [m] by id; NaN for a grain not seen.
    distance: Vec<f32>,
    count: i64,
    mass: f64,
    last: (f64, i64, f64),
}

impl Flow {
    /// Through the plane at `point` along `normal` (need not be of unit length); `wrap` is half the shortest periodic side [m], or infinite.
    pub fn new(point: DVec3, normal: DVec3, wrap: f64) -> Flow {
        let normal = normal.normalize_or(DVec3::Z);
        Flow { point, normal, wrap, distance: Vec::new(), count: 0, mass: 0.0, last: (0.0, 0, 0.0) }
    }

    fn see(&mut self, id: u32, position: DVec3, mass: f64) {
        let id = id as usize;
        if id >= self.distance.len() {
            self.distance.resize(id + 1, f32::NAN);
        }
        let now = (position - self.point).dot(self.normal);
        let before = f64::from(self.distance[id]);
        self.distance[id] = now as f32;
        let crossed = (before < 0.0) != (now < 0.0) && !before.is_nan() && (now - before).abs() < self.wrap;
        if crossed {
            let sign = if now < 0.0 { -1 } else { 1 };
            self.count += sign;
            self.mass += sign as f64 * mass;
        }
    }
}

impl Observer for Flow {
    fn columns(&self) -> Vec<csv::Column> {
        [("grains", ""), ("mass", "kg"), ("grain rate", "1/s"), ("mass rate", "kg/s")]
            .map(|(n, u)| csv::Column::new(n, u))
            .to_vec()
    }

    fn watches(&self) -> bool {
        true
    }

    fn watch(&mut self, view: &View<'_>) {
        let frame = view.frame;
        for i in 0..frame.len() {
            self.see(frame.id[i], frame.position[i], frame.mass[i]);
        }
    }

    fn departed(&mut self, gone: &[Departed]) {
        for g in gone {
            self.see(g.id, g.position, g.mass);
        }
    }

    fn measure(&mut self, view: &View<'_>) -> Vec<f64> {
        self.watch(view);
        let (time, count, mass) = self.last;
        let span = view.frame.time - time;
        let rate = |change: f64| if span > 0.0 { change / span } else { 0.0 };
        self.last = (view.frame.time, self.count, self.mass);
        vec![self.count as f64, self.mass, rate((self.count - count) as f64), rate(self.mass - mass)]
    }

    fn save(&self) -> Vec<(&'static str, Column)> {
        let (time, count, mass) = self.last;
        let numbers = vec![self.count as f64, self.mass, time, count as f64, mass];
        vec![("distance", Column::F32(self.distance.clone())), ("totals", Column::F64(numbers))]
    }

    fn load(&mut self, columns: &dyn Fn(&str) -> Option<Column>) -> Result<(), String> {
        match (columns("distance"), columns("totals")) {
            (Some(Column::F32(distance)), Some(Column::F64(t))) if t.len() == 5 => {
                (self.count, self.mass) = (t[0] as i64, t[1]);
                self.last = (t[2], t[3] as i64, t[4]);
                self.distance = distance;
                Ok(())
            }
            _ => Err("the flow measurement has no state".into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flow() -> Flow {
        Flow::new(DVec3::ZERO, 2.0 * DVec3::Z, 5.0)
    }

    #[test]
    fn a_grain_counts_once_when_it_crosses_and_not_at_all_when_it_comes_back() {
        let mut f = flow();
        for z in [-1.0, -0.5, 0.25, 0.5] {
            f.see(3, DVec3::new(0.1, 0.0, z), 2.0);
        }
        assert_eq!((f.count, f.mass), (1, 2.0));
        f.see(3, DVec3::new(0.1, 0.0, -0.25), 2.0);
        assert_eq!((f.count, f.mass), (0, 0.0));
    }

    #[test]
    fn wraps_do_not_count() {
        let mut f = flow();
        f.see(0, DVec3::new(0.0, 0.0, -4.0), 1.0);
        f.see(0, DVec3::new(0.0, 0.0, 4.0), 1.0);
        assert_eq!(f.count, 0);
    }

    #[test]
    fn a_grain_taken_by_a_sink_beyond_the_plane_has_crossed_it() {
        let mut f = flow();
        f.see(7, DVec3::new(0.0, 0.0, -0.1), 1.0);
        f.departed(&[Departed { id: 7, mass: 1.0, position: DVec3::Z * 0.1, velocity: DVec3::ZERO }]);
        assert_eq!(f.count, 1);
    }

    #[test]
    fn state_survives_saving() {
        let mut f = flow();
        f.see(2, -DVec3::Z, 1.0);
        f.see(2, DVec3::Z * 0.5, 1.0);
        let saved = f.save();
        let mut g = flow();
        g.load(&|name| saved.iter().find(|(n, _)| *n == name).map(|(_, c)| c.clone())).unwrap();
        assert_eq!((g.count, g.mass, g.distance.len()), (1, 1.0, 3));
        assert!(flow().load(&|_| None).is_err());
    }
}
