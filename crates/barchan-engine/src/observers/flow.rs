//! Flow through a plane.

use super::{Asked, Observer, View};
use barchan_core::columns::Column;
use barchan_core::solver::Departed;
use barchan_io::csv;
use barchan_scene::measure::Measured;
use barchan_scene::{Scene, keys};
use glam::DVec3;

keys! {
    /// Grains and mass that crossed a plane.
    pub struct FlowKeys = "write `flow = { point = [0, 0, 0.1], normal = [0, 0, -1] }`" {
        /// A point of the plane [m].
        point: DVec3 [LENGTH; grows],
        /// Direction counted as positive, of any length.
        normal: DVec3 [NUMBER; direction("the normal")] = -DVec3::Z,
    }
}

impl Measured for FlowKeys {
    const KEY: &'static str = "flow";
    const ABOUT: &'static str = "Grains and mass that crossed a plane.";
}

impl Asked for FlowKeys {
    fn observer(&self, scene: &Scene) -> Box<dyn Observer> {
        let (side, periodic) = (scene.domain.max - scene.domain.min, scene.domain.is_periodic());
        Box::new(Flow::new(self.point, self.normal, half_wrap(self.normal, side, periodic)))
    }
}

/// Half of the least change of distance [m] from a plane with that normal that a wrap makes, or infinite: sides along the plane make none, and
/// what falls far between two looks has still crossed.
fn half_wrap(normal: DVec3, side: DVec3, periodic: [bool; 3]) -> f64 {
    let across = (normal.normalize_or(DVec3::Z) * side).abs();
    let wraps = (0..3).filter(|&a| periodic[a] && across[a] > 1e-9 * side[a]).map(|a| across[a]);
    0.5 * wraps.fold(f64::INFINITY, f64::min)
}

/// Grains and particles that crossed a plane along its normal, less those that came back, since the start; their mass; and the rates
/// since the last row.
///
/// Each one's distance from the plane is remembered by population and id, so a crossing is a change of sign. A change of more than
/// half of what a wrap makes is a wrap, not a crossing. Costs 4 bytes for each one ever born.
#[derive(Clone, Debug)]
pub struct Flow {
    point: DVec3,
    normal: DVec3,
    /// A larger change of distance is a periodic wrap [m].
    wrap: f64,
    /// By population: distance from the plane [m] by id; NaN for one not seen.
    distance: Vec<(String, Vec<f32>)>,
    count: i64,
    mass: f64,
    last: (f64, i64, f64),
}

impl Flow {
    /// Through the plane at `point` along `normal` (need not be of unit length); `wrap` is half of what a periodic wrap makes of the distance [m], or infinite.
    pub fn new(point: DVec3, normal: DVec3, wrap: f64) -> Flow {
        let normal = normal.normalize_or(DVec3::Z);
        Flow { point, normal, wrap, distance: Vec::new(), count: 0, mass: 0.0, last: (0.0, 0, 0.0) }
    }

    /// Place of a population among those whose distances are kept.
    fn place(&mut self, population: &str) -> usize {
        let known = self.distance.iter().position(|d| d.0 == population);
        known.unwrap_or_else(|| {
            self.distance.push((population.into(), Vec::new()));
            self.distance.len() - 1
        })
    }

    fn see(&mut self, place: usize, id: u32, position: DVec3, mass: f64) {
        let (id, distance) = (id as usize, &mut self.distance[place].1);
        if id >= distance.len() {
            distance.resize(id + 1, f32::NAN);
        }
        let now = (position - self.point).dot(self.normal);
        let before = f64::from(distance[id]);
        distance[id] = now as f32;
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
        for p in view.frame.matter() {
            let place = self.place(&p.name);
            (0..p.len()).for_each(|i| self.see(place, p.id[i], p.position[i], p.mass[i]));
        }
    }

    fn departed(&mut self, population: &str, gone: &[Departed]) {
        let place = self.place(population);
        gone.iter().for_each(|g| self.see(place, g.id, g.position, g.mass));
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
        let names: Vec<&str> = self.distance.iter().map(|d| d.0.as_str()).collect();
        let lengths = self.distance.iter().map(|d| d.1.len() as u64).collect();
        let distances = self.distance.iter().flat_map(|d| d.1.iter().copied()).collect();
        vec![
            ("populations", Column::U32(names.join("\n").bytes().map(u32::from).collect())),
            ("lengths", Column::U64(lengths)),
            ("distance", Column::F32(distances)),
            ("totals", Column::F64(numbers)),
        ]
    }

    fn load(&mut self, columns: &dyn Fn(&str) -> Option<Column>) -> Result<(), String> {
        let unfit = || "the flow measurement has no state".to_string();
        let (Some(Column::U32(names)), Some(Column::U64(lengths)), Some(Column::F32(distances)), Some(Column::F64(t))) =
            (columns("populations"), columns("lengths"), columns("distance"), columns("totals"))
        else {
            return Err(unfit());
        };
        let names: String = names.into_iter().filter_map(char::from_u32).collect();
        let names: Vec<&str> = names.split('\n').filter(|n| !n.is_empty()).collect();
        let total = lengths.iter().try_fold(0u64, |a, b| a.checked_add(*b));
        if names.len() != lengths.len() || total != Some(distances.len() as u64) || t.len() != 5 {
            return Err(unfit());
        }
        let mut rest = distances.into_iter();
        let kept = |(name, &n): (&str, &u64)| (name.to_string(), rest.by_ref().take(n as usize).collect());
        self.distance = names.into_iter().zip(&lengths).map(kept).collect();
        (self.count, self.mass) = (t[0] as i64, t[1]);
        self.last = (t[2], t[3] as i64, t[4]);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAND: &str = "sand";

    fn flow() -> Flow {
        let mut flow = Flow::new(DVec3::ZERO, 2.0 * DVec3::Z, 5.0);
        flow.place(SAND);
        flow
    }

    #[test]
    fn a_grain_counts_once_when_it_crosses_and_not_at_all_when_it_comes_back() {
        let mut f = flow();
        for z in [-1.0, -0.5, 0.25, 0.5] {
            f.see(0, 3, DVec3::new(0.1, 0.0, z), 2.0);
        }
        assert_eq!((f.count, f.mass), (1, 2.0));
        f.see(0, 3, DVec3::new(0.1, 0.0, -0.25), 2.0);
        assert_eq!((f.count, f.mass), (0, 0.0));
    }

    #[test]
    fn two_populations_with_the_same_ids_are_not_taken_for_each_other() {
        let mut f = flow();
        let other = f.place("gravel");
        f.see(0, 3, -DVec3::Z, 1.0);
        f.see(other, 3, DVec3::Z, 1.0);
        assert_eq!(f.count, 0);
    }

    #[test]
    fn wraps_do_not_count() {
        let mut f = flow();
        f.see(0, 0, DVec3::new(0.0, 0.0, -4.0), 1.0);
        f.see(0, 0, DVec3::new(0.0, 0.0, 4.0), 1.0);
        assert_eq!(f.count, 0);
    }

    #[test]
    fn only_sides_across_the_plane_wrap() {
        let side = DVec3::new(4.0, 0.08, 2.0);
        assert_eq!(
            half_wrap(-2.0 * DVec3::Z, side, [false, true, false]),
            f64::INFINITY,
            "a thin slice, emptied downwards"
        );
        assert_eq!(half_wrap(-2.0 * DVec3::Z, side, [true, true, true]), 1.0);
        let slanted = half_wrap(DVec3::new(3.0, 0.0, 4.0), side, [true; 3]);
        assert!((slanted - 0.8).abs() < 1e-12, "{slanted}");
    }

    #[test]
    fn a_grain_taken_by_a_sink_beyond_the_plane_has_crossed_it() {
        let mut f = flow();
        f.see(0, 7, DVec3::new(0.0, 0.0, -0.1), 1.0);
        f.departed(SAND, &[Departed { id: 7, mass: 1.0, position: DVec3::Z * 0.1, velocity: DVec3::ZERO }]);
        assert_eq!(f.count, 1);
    }

    #[test]
    fn state_survives_saving() {
        let mut f = flow();
        f.see(0, 2, -DVec3::Z, 1.0);
        f.see(0, 2, DVec3::Z * 0.5, 1.0);
        let gravel = f.place("gravel");
        f.see(gravel, 1, DVec3::Z, 1.0);
        let saved = f.save();
        let mut g = flow();
        g.load(&|name| saved.iter().find(|(n, _)| *n == name).map(|(_, c)| c.clone())).unwrap();
        assert_eq!((g.count, g.mass), (1, 1.0));
        assert_eq!(
            g.distance.iter().map(|d| (d.0.as_str(), d.1.len())).collect::<Vec<_>>(),
            [(SAND, 3), ("gravel", 2)]
        );
        assert!(flow().load(&|_| None).is_err());
    }
}
