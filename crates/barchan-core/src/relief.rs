//! The surface of a ground: heights over a rectangle, bilinear between the middles of square cells.
//!
//! The solver of the ground keeps its own state; a [`Relief`] is what others see of it: grains that touch it, readers of
//! frames, the renderer.

use glam::{DVec2, DVec3};

/// Heights over a rectangle of square cells. Cells are numbered along x first: cell = x + y · size\[0\].
#[derive(Clone, Debug, PartialEq)]
pub struct Relief {
    /// Lower corner of the first cell [m]; z is the floor from which heights are counted.
    pub origin: DVec3,
    /// Width of a cell [m].
    pub cell: f64,
    /// Cells along x and y, at least one each.
    pub size: [usize; 2],
    /// Height of each cell's middle above the floor [m].
    pub height: Vec<f64>,
}

/// The surface over one point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Over {
    /// Its z [m].
    pub z: f64,
    /// Its slope along x and y.
    pub slope: DVec2,
}

impl Over {
    /// Unit normal, upwards.
    pub fn normal(&self) -> DVec3 {
        (-self.slope).extend(1.0).normalize()
    }
}

impl Relief {
    /// Upper corner, seen from above [m].
    pub fn end(&self) -> DVec2 {
        self.origin.truncate() + DVec2::new(self.size[0] as f64, self.size[1] as f64) * self.cell
    }

    /// Where a cell's middle is on the surface [m].
    pub fn point(&self, cell: usize) -> DVec3 {
        let at = DVec2::new((cell % self.size[0]) as f64, (cell / self.size[0]) as f64);
        self.origin + ((at + 0.5) * self.cell).extend(self.height[cell])
    }

    /// The surface over (x, y) [m]; none beside the ground. Within half a cell of the rim it is level towards the rim.
    #[inline]
    pub fn over(&self, x: f64, y: f64) -> Option<Over> {
        let at = (DVec2::new(x, y) - self.origin.truncate()) / self.cell;
        let [nx, ny] = self.size;
        if !(at.x >= 0.0 && at.y >= 0.0 && at.x <= nx as f64 && at.y <= ny as f64) {
            return None;
        }
        let (x0, x1, u, inside_x) = between(at.x, nx);
        let (y0, y1, v, inside_y) = between(at.y, ny);
        let corner = |x: usize, y: usize| self.height[x + y * nx];
        let (a, b, c, d) = (corner(x0, y0), corner(x1, y0), corner(x0, y1), corner(x1, y1));
        let z = self.origin.z + (a * (1.0 - u) + b * u) * (1.0 - v) + (c * (1.0 - u) + d * u) * v;
        let along_x = if inside_x { (b - a) * (1.0 - v) + (d - c) * v } else { 0.0 };
        let along_y = if inside_y { (c - a) * (1.0 - u) + (d - b) * u } else { 0.0 };
        Some(Over { z, slope: DVec2::new(along_x, along_y) / self.cell })
    }

    /// Smooths the heights by a Gaussian of that standard deviation [m], along x and then along y; heights beyond the rim are the mirror of those
    /// within, turned upside down about the rim, so that a plane stays one.
    pub fn smooth(&mut self, deviation: f64) {
        let wide = deviation / self.cell;
        if !(wide > 0.0 && wide.is_finite()) {
            return;
        }
        let [nx, ny] = self.size;
        let reach = ((4.0 * wide).ceil() as usize).min(nx.max(ny));
        let weight: Vec<f64> = (0..=reach).map(|k| crate::math::exp(-0.5 * (k as f64 / wide).powi(2))).collect();
        let total = weight[0] + 2.0 * weight[1..].iter().sum::<f64>();
        let mut line = Vec::new();
        let mut along = |first: usize, stride: usize, n: usize| {
            line.clear();
            line.extend((0..n).map(|k| self.height[first + k * stride]));
            let last = n as i64 - 1;
            let at = |k: i64| match k {
                k if k < 0 => 2.0 * line[0] - line[(-k).min(last) as usize],
                k if k > last => 2.0 * line[last as usize] - line[(2 * last - k).max(0) as usize],
                k => line[k as usize],
            };
            for k in 0..n {
                // Distances that would leave the other rim are counted up to it.
                let sum =
                    (1..=reach as i64).map(|d| weight[d as usize] * (at(k as i64 - d) + at(k as i64 + d))).sum::<f64>();
                self.height[first + k * stride] = (weight[0] * line[k] + sum) / total;
            }
        };
        (0..ny).for_each(|y| along(y * nx, 1, nx));
        (0..nx).for_each(|x| along(x, nx, ny));
    }

    /// How far along a ray from a point the surface is met from above, in lengths of the ray; where it enters the ground from the side, there. None for
    /// one that begins under the surface, or below the floor.
    pub fn meet(&self, from: DVec3, ray: DVec3) -> Option<f64> {
        // The part of the ray over the ground, and above its floor.
        let (mut begin, mut end) = (0.0_f64, f64::INFINITY);
        for k in 0..2 {
            let ends = [self.origin[k], self.end()[k]].map(|side| (side - from[k]) / ray[k]);
            if ray[k] != 0.0 {
                (begin, end) = (begin.max(ends[0].min(ends[1])), end.min(ends[0].max(ends[1])));
            } else if from[k] < self.origin[k] || from[k] > self.end()[k] {
                return None;
            }
        }
        let floor = (self.origin.z - from.z) / ray.z;
        let lands = ray.z < 0.0 && floor <= end;
        if lands {
            end = floor;
        }
        if from.z < self.origin.z || !(begin <= end && end.is_finite()) {
            return None;
        }
        let above = |t: f64| {
            let p = from + ray * t;
            let at = p.truncate().clamp(self.origin.truncate(), self.end());
            self.over(at.x, at.y).is_none_or(|over| p.z > over.z)
        };
        if begin == 0.0 && !above(0.0) {
            return None;
        }
        // Half a cell at a time: a crest narrower than a cell there is none. Whatever rounding says, the floor is not passed.
        let along = ray.truncate().length();
        let steps = (2.0 * (end - begin) * along / self.cell).ceil().clamp(1.0, 1e6) as usize;
        let at = |k: usize| begin + (end - begin) * k as f64 / steps as f64;
        let below = (0..=steps).find(|&k| !above(at(k))).or(lands.then_some(steps))?;
        let (mut low, mut high) = (at(below.saturating_sub(1)), at(below));
        for _ in 0..50 {
            let middle = 0.5 * (low + high);
            if above(middle) { low = middle } else { high = middle }
        }
        Some(high)
    }
}

/// The two middles beside a place counted in cells, the share of the way from one to the other, and whether it is between them.
#[inline]
fn between(at: f64, n: usize) -> (usize, usize, f64, bool) {
    let from = at - 0.5;
    let inside = from >= 0.0 && from <= (n - 1) as f64 && n > 1;
    let low = (from.max(0.0) as usize).min(n - 1);
    let high = (low + 1).min(n - 1);
    (low, high, (from - low as f64).clamp(0.0, 1.0), inside)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Random;

    fn relief(size: [usize; 2], height: impl Fn(DVec2) -> f64) -> Relief {
        let mut made =
            Relief { origin: DVec3::new(1.0, -2.0, 0.5), cell: 0.1, size, height: vec![0.0; size[0] * size[1]] };
        for cell in 0..made.height.len() {
            made.height[cell] = height(made.point(cell).truncate());
        }
        made
    }

    #[test]
    fn a_slope_is_met_exactly() {
        let mut random = Random::new(1, 0);
        for _ in 0..200 {
            let [a, b] = [(); 2].map(|()| 2.0 * random.uniform() - 1.0);
            let at = DVec2::new(1.06 + 0.88 * random.uniform(), -1.94 + 0.38 * random.uniform());
            let plane = |p: DVec2| 3.0 + a * p.x + b * p.y;
            let over = relief([10, 5], plane).over(at.x, at.y).unwrap();
            assert!((over.z - 0.5 - plane(at)).abs() < 1e-12);
            assert!((over.slope - DVec2::new(a, b)).length() < 1e-9);
            let n = over.normal();
            assert!(n.dot(DVec3::new(1.0, 0.0, a)).abs() < 1e-9 && n.dot(DVec3::new(0.0, 1.0, b)).abs() < 1e-9);
        }
    }

    #[test]
    fn slopes_are_the_derivative_of_heights() {
        let bumps = relief([10, 5], |p| (9.0 * p.x).sin() * (7.0 * p.y).cos());
        let (mut random, step, mut held) = (Random::new(2, 0), 1e-7, 0);
        for _ in 0..500 {
            let at = DVec2::new(1.0 + random.uniform(), -2.0 + 0.5 * random.uniform());
            let over = bumps.over(at.x, at.y).unwrap();
            let (Some(right), Some(up)) = (bumps.over(at.x + step, at.y), bumps.over(at.x, at.y + step)) else {
                continue;
            };
            // Where a seam lies within the step the slope jumps.
            if (right.slope - over.slope).length() < 1e-3 && (up.slope - over.slope).length() < 1e-3 {
                assert!(((right.z - over.z) / step - over.slope.x).abs() < 1e-4);
                assert!(((up.z - over.z) / step - over.slope.y).abs() < 1e-4);
                held += 1;
            }
        }
        assert!(held > 400);
    }

    #[test]
    fn a_ray_meets_the_surface_where_it_first_goes_under() {
        let bumps = relief([20, 15], |p| 0.2 + 0.1 * (9.0 * p.x).sin() * (7.0 * p.y).cos());
        let (mut random, mut met) = (Random::new(3, 0), 0);
        for _ in 0..300 {
            let mut place = |z: f64| DVec3::new(0.5 + 3.0 * random.uniform(), -2.5 + 2.5 * random.uniform(), z);
            let (from, to) = (place(2.0), place(0.5));
            let ray = (to - from).normalize();
            let Some(t) = bumps.meet(from, ray) else { continue };
            let p = from + ray * t;
            let over = |p: DVec3| bumps.over(p.x, p.y).map(|over| p.z - over.z);
            // On it, or where it enters from the side.
            let side = over(from + ray * (t - 1e-6)).is_none();
            assert!(side || over(p).unwrap().abs() < 1e-9, "{p}: {:?}", over(p));
            assert!((0..1000).all(|k| over(from + ray * (t * f64::from(k) / 1000.0)).is_none_or(|z| z > 0.0)));
            met += 1;
        }
        assert!(met > 150, "{met} of 300");
        let flat = relief([10, 5], |_| 1.0);
        let straight = flat.meet(DVec3::new(1.5, -1.75, 2.0), DVec3::NEG_Z).unwrap();
        assert!((straight - 0.5).abs() < 1e-12);
        assert_eq!(flat.meet(DVec3::new(1.5, -1.75, 2.0), DVec3::Z), None);
        assert_eq!(flat.meet(DVec3::new(0.5, -1.75, 2.0), DVec3::NEG_Z), None);
        assert_eq!(flat.meet(DVec3::new(1.5, -1.75, 2.0), DVec3::X), None);
        // From under the surface nothing is met, and below the floor there is nothing.
        let up = DVec3::new(0.0, 0.6, 0.8);
        assert_eq!(flat.meet(DVec3::new(1.5, -1.75, 1.0), up), None);
        assert_eq!(flat.meet(DVec3::new(1.5, -1.75, 0.2), up), None);
        assert_eq!(flat.meet(DVec3::new(1.5, -2.5, -1.0), up), None);
        // Bare floor is met, whatever rounding says of it.
        for z in [0.0, -0.1, 0.5, -0.01] {
            let mut bare = relief([10, 5], |_| 0.0);
            bare.origin.z = z;
            for _ in 0..200 {
                let ray =
                    DVec3::new(0.2 * random.uniform(), 0.1 * random.uniform(), -0.2 - random.uniform()).normalize();
                let high = 0.3 * random.uniform();
                let t = bare.meet(DVec3::new(1.2, -1.9, z + high), ray);
                assert!(t.is_some_and(|t| (t * ray.z + high).abs() < 1e-12), "{z}: {ray} from {high}: {t:?}");
            }
        }
    }

    #[test]
    fn smoothing_keeps_a_plane_and_damps_a_wave_as_a_gaussian_does() {
        let mut plane = relief([30, 20], |p| 3.0 + 0.4 * p.x - 0.7 * p.y);
        let before = plane.clone();
        plane.smooth(0.2);
        assert!(plane.height.iter().zip(&before.height).all(|(a, b)| (a - b).abs() < 1e-12));
        let wave = 10.0;
        let mut wavy = relief([200, 3], |p| (wave * p.x).sin());
        let before = wavy.clone();
        wavy.smooth(0.1);
        let left = (-0.5 * (wave * 0.1_f64).powi(2)).exp();
        // Away from the rims; the kernel is summed over cells as wide as its deviation.
        assert!((50..150).all(|x| (wavy.height[200 + x] - left * before.height[200 + x]).abs() < 1e-2));
    }

    #[test]
    fn beside_the_ground_there_is_nothing() {
        let flat = relief([10, 5], |_| 1.0);
        assert_eq!(flat.end(), DVec2::new(2.0, -1.5));
        assert!(
            flat.over(0.99, -1.8).is_none() && flat.over(1.5, -1.49).is_none() && flat.over(f64::NAN, -1.8).is_none()
        );
        assert_eq!(flat.over(2.0, -1.5), Some(Over { z: 1.5, slope: DVec2::ZERO }));
        assert_eq!(relief([1, 1], |_| 2.0).over(1.05, -1.95), Some(Over { z: 2.5, slope: DVec2::ZERO }));
    }
}
