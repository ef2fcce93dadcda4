//! Angle of repose of a pile or a slope.

use super::{Asked, Observer, View};
use barchan_core::frame::SphereView;
use barchan_core::math;
use barchan_io::csv::Column;
use barchan_scene::check::Check;
use barchan_scene::measure::Measured;
use barchan_scene::{Scene, keys};
use glam::DVec3;
use std::collections::BTreeMap;

keys! {
    /// Angle of repose [deg], its standard error [deg], height [m] and run-out [m] of a pile or a slope.
    pub struct ReposeKeys = "write `repose = { point = [0, 0, 0] }`" {
        /// On the floor: the foot of the pile's upright axis, or where a slope begins [m].
        point: DVec3 [LENGTH; grows],
        /// Level direction in which a slope is followed, of any length; left out: the pile is a cone.
        along: Option<DVec3>,
        /// Part of the height to which the line is fitted.
        flank: [f64; 2] [; help("write the lower and the upper end, such as [0.2, 0.8]")] = [0.2, 0.8],
        /// Side of the columns whose highest sphere is the surface [m]; left out: the mean diameter of the spheres.
        column: Option<f64> [LENGTH; positive("the side of a column")],
        /// Height above the point from which on grains are left out [m]; left out: none are.
        ceiling: Option<f64> [LENGTH; grows, positive("the ceiling")],
    }
}

impl Measured for ReposeKeys {
    const KEY: &'static str = "repose";
    const ABOUT: &'static str =
        "Angle of repose [deg], its standard error [deg], height [m] and run-out [m] of a pile or a slope.";

    fn check_all(&self, c: &mut Check, path: &str) {
        let up = (-c.scene.gravity).normalize_or(DVec3::Z);
        if let Some(along) = self.along
            && along.cross(up).length() <= 1e-9 * along.length()
        {
            let help = "give a direction across gravity, such as [1, 0, 0]";
            c.error(format!("{path}.along"), "the direction of a slope is not level", help);
        }
        // What is not a number has been reported when it was read, and compares as false here.
        let [low, high] = self.flank;
        if low < 0.0 || low >= high || high > 1.0 {
            let message = format!("a flank from {low} to {high} of the height is none");
            c.error(format!("{path}.flank"), message, "give two shares from 0 to 1, the lower one first");
        }
    }
}

impl Asked for ReposeKeys {
    fn observer(&self, scene: &Scene) -> Box<dyn Observer> {
        Box::new(Repose {
            point: self.point,
            up: (-scene.gravity).normalize_or(DVec3::Z),
            along: self.along,
            flank: self.flank,
            column: self.column,
            ceiling: self.ceiling.unwrap_or(f64::INFINITY),
        })
    }
}

/// Tuning constant of the bisquare weights over the spread of the residuals: 95 % as efficient as least squares for
/// normal noise [Huber and Ronchetti 2009].
const BISQUARE: f64 = 4.685;
/// Spread of normal noise over its median absolute deviation.
const NORMAL_SPREAD: f64 = 1.4826;
/// Rounds of reweighting; the slope has settled to rounding long before.
const ROUNDS: usize = 50;

/// Slope of a free surface by a robust fit, with its standard error, the height and the run-out.
///
/// Seen from above, the grains are cut into square columns. The highest sphere of each is the free surface; its place is
/// told by one coordinate, the distance from an axis (a cone) or along a direction (a slope). The median over a strip of
/// columns at the same distance gives the profile; the line is fitted to the surface's spheres (bisquare weights, as in
/// Longmore 2009, section 7.2.2) in those strips where the profile lies within a share of the height, beyond its highest
/// point. Strips are chosen by their distance, since choosing spheres by their height would bend the line.
#[derive(Clone, Debug, PartialEq)]
pub struct Repose {
    /// On the floor: the foot of the axis, or where a slope begins [m].
    pub point: DVec3,
    /// Upward, of unit length.
    pub up: DVec3,
    /// Level direction in which a slope is followed, of any length; none: about the upright axis.
    pub along: Option<DVec3>,
    /// Part of the height that counts as flank.
    pub flank: [f64; 2],
    /// Side of a column [m]; none: the mean diameter of the spheres.
    pub column: Option<f64>,
    /// Grains higher above the point are left out [m].
    pub ceiling: f64,
}

/// What the fit gives.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Slope {
    /// Angle from the level [deg], positive where the surface falls with the distance; NaN where there is no flank.
    pub angle: f64,
    /// Its standard error [deg].
    pub error: f64,
    /// Highest point of the profile [m] above the floor.
    pub height: f64,
    /// How far grains reach without a gap [m]: to where half the columns hold none.
    pub run_out: f64,
}

impl Slope {
    const NONE: Slope = Slope { angle: f64::NAN, error: f64::NAN, height: 0.0, run_out: 0.0 };
}

/// A level direction to follow and the one beside it, from any level direction.
fn level(up: DVec3, along: DVec3) -> (DVec3, DVec3) {
    let along = (along - up * along.dot(up)).normalize_or(up.any_orthonormal_vector());
    (along, up.cross(along))
}

impl Repose {
    /// Measures spheres at rest or not.
    pub fn fit(&self, spheres: impl Iterator<Item = SphereView> + Clone) -> Slope {
        let (along, beside) = level(self.up, self.along.unwrap_or(self.up.any_orthonormal_vector()));
        let (number, radii) = spheres.clone().fold((0, 0.0), |(n, sum), s| (n + 1, sum + s.radius));
        if number == 0 {
            return Slope::NONE;
        }
        let column = self.column.unwrap_or(2.0 * radii / number as f64);
        let distance = |x: f64, y: f64| if self.along.is_some() { x } else { math::hypot(x, y) };
        let mut highest: BTreeMap<(i64, i64), [f64; 2]> = BTreeMap::new();
        for s in spheres {
            let r = s.centre - self.point;
            let (x, y, top) = (r.dot(along), r.dot(beside), r.dot(self.up) + s.radius);
            if top - s.radius > self.ceiling || (self.along.is_some() && x < 0.0) {
                continue;
            }
            let cell = ((x / column).floor() as i64, (y / column).floor() as i64);
            let point = highest.entry(cell).or_insert([0.0, f64::NEG_INFINITY]);
            if top > point[1] {
                *point = [distance(x, y), top];
            }
        }
        let Some((&first, _)) = highest.iter().next() else { return Slope::NONE };
        let bounds = highest
            .keys()
            .fold((first, first), |(a, b), k| ((a.0.min(k.0), a.1.min(k.1)), (b.0.max(k.0), b.1.max(k.1))));
        let strip = |cell: (i64, i64)| {
            (distance((cell.0 as f64 + 0.5) * column, (cell.1 as f64 + 0.5) * column) / column) as usize
        };
        let mut strips: Vec<Strip> = Vec::new();
        for i in bounds.0.0..=bounds.1.0 {
            for j in bounds.0.1..=bounds.1.1 {
                let k = strip((i, j));
                if k >= strips.len() {
                    strips.resize_with(k + 1, Strip::default);
                }
                strips[k].columns += 1;
                strips[k].points.extend(highest.get(&(i, j)));
            }
        }
        self.through(&mut strips, column)
    }

    fn through(&self, strips: &mut [Strip], column: f64) -> Slope {
        let profile: Vec<Option<f64>> = strips.iter_mut().map(Strip::height).collect();
        let Some((crest, height)) = profile
            .iter()
            .enumerate()
            .filter_map(|(k, h)| Some((k, (*h)?)))
            .reduce(|a, b| if b.1 > a.1 { b } else { a })
        else {
            return Slope::NONE;
        };
        let reached = profile[crest..].iter().take_while(|h| h.is_some()).count();
        // Between the middles of the last strip that counts and the next, where half the columns hold grains.
        let last = crest + reached - 1;
        let (inner, outer) = (strips[last].share(), strips.get(last + 1).map_or(0.0, Strip::share));
        let run_out = (last as f64 + 0.5 + (inner - 0.5) / (inner - outer)) * column;
        let flank = (crest..crest + reached)
            .filter(|&k| profile[k].is_some_and(|h| (self.flank[0] * height..=self.flank[1] * height).contains(&h)));
        let points: Vec<[f64; 2]> = flank.flat_map(|k| strips[k].points.iter().copied()).collect();
        let (angle, error) = match robust_line(&points) {
            // d atan(s) = ds / (1 + s²)
            Some((slope, error)) => (math::atan(-slope).to_degrees(), (error / (1.0 + slope * slope)).to_degrees()),
            None => (f64::NAN, f64::NAN),
        };
        Slope { angle, error, height, run_out }
    }
}

/// Columns at the same distance.
#[derive(Clone, Debug, Default)]
struct Strip {
    /// How many there are.
    columns: usize,
    /// Distance and height [m] of the surface in those that hold grains.
    points: Vec<[f64; 2]>,
}

impl Strip {
    /// Share of the columns that hold grains.
    fn share(&self) -> f64 {
        self.points.len() as f64 / self.columns.max(1) as f64
    }

    /// Median height of the surface [m]; none where fewer than half the columns hold grains.
    fn height(&mut self) -> Option<f64> {
        (self.share() >= 0.5).then(|| median(&mut self.points.iter().map(|p| p[1]).collect::<Vec<_>>()))
    }
}

fn median(values: &mut [f64]) -> f64 {
    let middle = values.len() / 2;
    *values.select_nth_unstable_by(middle, f64::total_cmp).1
}

/// Slope of a line through points by least squares with bisquare weights, reweighted until they agree, and its standard
/// error; none for fewer than four points, or points at one distance.
fn robust_line(points: &[[f64; 2]]) -> Option<(f64, f64)> {
    if points.len() < 4 {
        return None;
    }
    let mut weights = vec![1.0; points.len()];
    let mut slope = f64::NAN;
    let mut error = f64::NAN;
    for _ in 0..ROUNDS {
        let sum: f64 = weights.iter().sum();
        let mean = |k: usize| points.iter().zip(&weights).map(|(p, w)| w * p[k]).sum::<f64>() / sum;
        let (x, y) = (mean(0), mean(1));
        let moment = |a: usize, b: usize| {
            let c = [x, y];
            points.iter().zip(&weights).map(|(p, w)| w * (p[a] - c[a]) * (p[b] - c[b])).sum::<f64>()
        };
        let across = moment(0, 0);
        if across.is_nan() || across <= 0.0 {
            return None;
        }
        slope = moment(0, 1) / across;
        let residuals: Vec<f64> = points.iter().map(|p| p[1] - y - slope * (p[0] - x)).collect();
        let square: f64 = residuals.iter().zip(&weights).map(|(r, w)| w * r * r).sum();
        error = (square / (sum - 2.0).max(1.0) / across).sqrt();
        let spread = NORMAL_SPREAD * median(&mut residuals.iter().map(|r| r.abs()).collect::<Vec<_>>());
        if spread <= 1e-12 * (y.abs() + x.abs()) {
            break; // a straight line, for half the points at least
        }
        for (w, r) in weights.iter_mut().zip(&residuals) {
            let u = r / (BISQUARE * spread);
            *w = if u.abs() < 1.0 { (1.0 - u * u).powi(2) } else { 0.0 };
        }
    }
    Some((slope, error))
}

impl Observer for Repose {
    fn columns(&self) -> Vec<Column> {
        [("angle", "deg"), ("error", "deg"), ("height", "m"), ("run-out", "m")].map(|(n, u)| Column::new(n, u)).to_vec()
    }

    fn measure(&mut self, view: &View<'_>) -> Vec<f64> {
        let spheres: Vec<SphereView> = view.frame.matter().flat_map(|p| p.spheres()).collect();
        let slope = self.fit(spheres.iter().copied());
        vec![slope.angle, slope.error, slope.height, slope.run_out]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use barchan_core::rng::Random;

    const R: f64 = 0.5e-3;

    fn sphere(centre: DVec3) -> SphereView {
        SphereView { grain: 0, centre, radius: R, velocity: DVec3::ZERO }
    }

    /// Spheres on a square lattice under a surface of that height over the floor, jittered.
    fn under(height: impl Fn(f64, f64) -> f64, reach: f64, jitter: f64) -> Vec<SphereView> {
        let mut random = Random::new(3, 0);
        let mut uniform = move || jitter * random.range(-1.0, 1.0);
        let steps = (reach / R) as i64;
        let mut spheres = Vec::new();
        for (i, j) in (-steps..=steps).flat_map(|i| (-steps..=steps).map(move |j| (i, j))) {
            let (x, y) = (i as f64 * R, j as f64 * R);
            let top = height(x, y);
            // From the surface down, so that the surface is exact but for the jitter.
            let layers = if top >= R { (top / R) as i64 } else { 0 };
            let column = (0..layers.min(4)).map(|k| DVec3::new(x, y, top - R - k as f64 * R));
            spheres.extend(column.map(|c| sphere(c + DVec3::new(uniform(), uniform(), uniform()))));
        }
        spheres
    }

    fn cone() -> Repose {
        let (point, up) = (DVec3::ZERO, DVec3::Z);
        Repose { point, up, along: None, flank: [0.2, 0.8], column: None, ceiling: f64::INFINITY }
    }

    #[test]
    fn a_cone_has_its_angle_height_and_foot() {
        let slope = 25f64.to_radians().tan();
        let pile = under(|x, y| 10e-3 - slope * x.hypot(y), 25e-3, 0.0);
        let found = cone().fit(pile.iter().copied());
        assert!((found.angle - 25.0).abs() < 0.3, "{found:?}");
        assert!((found.height - 10e-3).abs() < 2.0 * R && (found.run_out - 10e-3 / slope).abs() < 3.0 * R, "{found:?}");
    }

    #[test]
    fn a_truncated_cone_with_noise_and_stray_grains_has_the_angle_of_its_flank() {
        let slope = 31f64.to_radians().tan();
        let mut pile = under(|x, y| (14e-3 - slope * x.hypot(y)).min(9e-3), 26e-3, 0.4 * R);
        // Grains in flight over the flank, grains that rolled away.
        pile.extend((0..30).map(|k| sphere(DVec3::new(11e-3, 0.3e-3 * f64::from(k), 25e-3))));
        pile.extend((0..12).map(|k| sphere(DVec3::new(40e-3 + 1e-3 * f64::from(k), 0.0, R))));
        let found = cone().fit(pile.iter().copied());
        assert!((found.angle - 31.0).abs() < 0.5 && (found.angle - 31.0).abs() < 4.0 * found.error, "{found:?}");
        assert!((found.run_out - 14e-3 / slope).abs() < 4.0 * R, "{found:?}");
    }

    #[test]
    fn the_error_tells_how_far_the_angle_is_off() {
        let slope = 20f64.to_radians().tan();
        let flat = |x: f64, _: f64| if x >= 0.0 { 12e-3 - slope * x } else { 0.0 };
        let smooth = under(flat, 30e-3, 0.1 * R);
        let rough = under(flat, 30e-3, 0.8 * R);
        let along = Repose { along: Some(DVec3::X), ..cone() };
        let (a, b) = (along.fit(smooth.iter().copied()), along.fit(rough.iter().copied()));
        assert!(
            a.error < b.error && (a.angle - 20.0).abs() < 0.3 && (b.angle - 20.0).abs() < 4.0 * b.error,
            "{a:?} {b:?}"
        );
    }

    #[test]
    fn a_slope_is_followed_in_its_direction_and_in_a_turned_world() {
        let slope = 28f64.to_radians().tan();
        let pile = under(|x, _| if x >= 0.0 { 9e-3 - slope * x } else { 9e-3 + 0.2 * x }, 20e-3, 0.2 * R);
        let right = Repose { along: Some(DVec3::X), ..cone() }.fit(pile.iter().copied());
        let left = Repose { along: Some(-DVec3::X), ..cone() }.fit(pile.iter().copied());
        assert!((right.angle - 28.0).abs() < 0.4, "{right:?}");
        assert!((left.angle - 0.2f64.atan().to_degrees()).abs() < 0.4, "{left:?}");
        // z up becomes x up, x becomes y.
        let turned: Vec<_> = pile.iter().map(|s| sphere(DVec3::new(s.centre.z, s.centre.x, s.centre.y))).collect();
        let again = Repose { along: Some(DVec3::Y), up: DVec3::X, ..cone() }.fit(turned.iter().copied());
        assert!((again.angle - right.angle).abs() < 1e-9 && (again.height - right.height).abs() < 1e-12);
    }

    #[test]
    fn grains_above_the_ceiling_do_not_count() {
        let slope = 25f64.to_radians().tan();
        let pile = under(|x, y| 10e-3 - slope * x.hypot(y), 25e-3, 0.0);
        let reservoir = under(|_, _| 4e-3, 25e-3, 0.0).into_iter().map(|s| sphere(s.centre + DVec3::Z * 40e-3));
        let both: Vec<_> = pile.iter().copied().chain(reservoir).collect();
        let below = Repose { ceiling: 20e-3, ..cone() };
        let (a, b) = (below.fit(both.iter().copied()), cone().fit(pile.iter().copied()));
        assert!((a.angle - b.angle).abs() < 1e-9 && (a.run_out - b.run_out).abs() < 1e-9 && a.height == b.height);
    }

    #[test]
    fn what_has_no_flank_has_no_angle() {
        assert!(cone().fit([].iter().copied()).angle.is_nan());
        let one = cone().fit([sphere(DVec3::new(0.0, 0.0, R))].iter().copied());
        assert!(one.angle.is_nan() && (one.height - 2.0 * R).abs() < 1e-12, "{one:?}");
    }
}
