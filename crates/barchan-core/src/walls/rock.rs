//! Rock as a wall: heights of an elevation model under a surface without kinks.
//!
//! The surface is the biquadratic B-spline that passes through the heights at the middles of the cells: its slope is continuous, its
//! curvature jumps at most at the edges of cells. A bilinear surface has kinks there, and an inelastic grain loses energy at each of them as if
//! rubbed by a further friction. Coefficients c come from (c₋₁ + 6c + c₊₁)/8 = h along x, then along y; at the rims c₋₁ = 2c₀ − c₁, so that a
//! plane stays one. Beyond the rim the surface goes on level.
//!
//! The nearest point is found by Newton's method from the point below. That is the nearest of all where the rock bends no more
//! sharply than the ball, as on elevation models whose cells are wider than grains.

use super::Nearest;
use crate::relief::{Over, Relief};
use glam::{DVec2, DVec3};

/// Steps of Newton's method: three are usual.
const STEPS: usize = 12;
/// Step [cells] at which the search ends; the error of the distance is of second order in it.
const FINE: f64 = 1e-9;

/// Coefficients of the spline over a relief.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Spline {
    size: [usize; 2],
    /// Coefficients [cells], with one more on each side than there are cells.
    coefficient: Vec<f64>,
    /// The largest of them [cells]: nothing is higher.
    pub top: f64,
}

/// The surface at a place, all in cells: height, slopes, second derivatives along x, across, and along y.
struct Local {
    z: f64,
    slope: DVec2,
    bend: [f64; 3],
}

impl Spline {
    pub fn new(relief: &Relief) -> Spline {
        let [nx, ny] = relief.size;
        let (wide, mut coefficient) = (nx + 2, vec![0.0; (nx + 2) * (ny + 2)]);
        for (cell, height) in relief.height.iter().enumerate() {
            coefficient[cell % nx + 1 + (cell / nx + 1) * wide] = height / relief.cell;
        }
        let mut work = Vec::new();
        for y in 1..=ny {
            solve(&mut coefficient, y * wide, 1, nx, &mut work);
        }
        for x in 0..wide {
            solve(&mut coefficient, x, wide, ny, &mut work);
        }
        let top = coefficient.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        Spline { size: relief.size, coefficient, top }
    }

    /// The surface at a place counted in cells from the corner; beyond the rim as at the rim.
    #[inline]
    fn at(&self, place: DVec2) -> Local {
        let [nx, ny] = self.size;
        let (x, u, in_x) = along(place.x, nx);
        let (y, v, in_y) = along(place.y, ny);
        let (wx, dx, cx) = weights(u);
        let (wy, dy, cy) = weights(v);
        let (mut z, mut slope, mut bend) = (0.0, DVec2::ZERO, [0.0; 3]);
        for j in 0..3 {
            let row = &self.coefficient[x + (y + j) * (nx + 2)..][..3];
            let (mut value, mut first, mut second) = (0.0, 0.0, 0.0);
            for i in 0..3 {
                value += wx[i] * row[i];
                first += dx[i] * row[i];
                second += cx[i] * row[i];
            }
            z += wy[j] * value;
            slope += DVec2::new(wy[j] * first, dy[j] * value);
            bend[0] += wy[j] * second;
            bend[1] += dy[j] * first;
            bend[2] += cy[j] * value;
        }
        if !in_x {
            (slope.x, bend[0], bend[1]) = (0.0, 0.0, 0.0);
        }
        if !in_y {
            (slope.y, bend[1], bend[2]) = (0.0, 0.0, 0.0);
        }
        Local { z, slope, bend }
    }

    /// The surface over a place counted in cells from the corner, heights above the relief's floor in cells.
    pub fn over(&self, place: DVec2) -> Over {
        let Local { z, slope, .. } = self.at(place);
        Over { z, slope }
    }

    /// Distance [cells], at most `most`, and normal of the surface from a point counted in cells from the corner.
    #[inline]
    pub fn nearest(&self, p: DVec3, most: f64) -> Nearest {
        if p.z - self.top >= most {
            return Nearest { distance: most, normal: DVec3::Z, radius: 0.0 };
        }
        let mut place = p.truncate();
        let mut here = self.at(place);
        let side = if p.z >= here.z { 1.0 } else { -1.0 };
        for _ in 0..STEPS {
            // Half the square of the distance: its gradient and second derivatives.
            let gap = p.z - here.z;
            let down = place - p.truncate() - gap * here.slope;
            let s = here.slope;
            let [mut xx, mut xy, mut yy] = [1.0 + s.x * s.x, s.x * s.y, 1.0 + s.y * s.y];
            let bent = [xx - gap * here.bend[0], xy - gap * here.bend[1], yy - gap * here.bend[2]];
            // Where the surface bends away faster than the distance the full second derivatives lead astray; without them it is slower.
            if bent[0] > 0.2 && bent[2] > 0.2 && bent[0] * bent[2] - bent[1] * bent[1] > 0.1 * xx * yy {
                [xx, xy, yy] = bent;
            }
            let both = xx * yy - xy * xy;
            let step = DVec2::new(yy * down.x - xy * down.y, xx * down.y - xy * down.x) / both;
            place -= step.clamp_length_max(1.0);
            here = self.at(place);
            if step.x.abs() + step.y.abs() < FINE {
                break;
            }
        }
        let offset = p - place.extend(here.z);
        let distance = offset.length();
        let normal = if distance > 1e-6 { offset * (side / distance) } else { (-here.slope).extend(1.0).normalize() };
        Nearest { distance: side * distance.min(most), normal, radius: 0.0 }
    }
}

/// The cell of a place, how far into it the place is, and whether it is within the rim.
#[inline]
fn along(place: f64, n: usize) -> (usize, f64, bool) {
    let within = place.clamp(0.0, n as f64);
    let cell = (within as usize).min(n - 1);
    (cell, within - cell as f64, place == within)
}

/// Weights of three coefficients in the spline, its slope and its second derivative.
#[inline]
fn weights(t: f64) -> ([f64; 3], [f64; 3], [f64; 3]) {
    let s = 1.0 - t;
    ([0.5 * s * s, 0.5 + t * s, 0.5 * t * t], [-s, s - t, t], [1.0, -2.0, 1.0])
}

/// Turns `n` heights, the first at `first + stride`, into coefficients, and adds one at either end.
fn solve(values: &mut [f64], first: usize, stride: usize, n: usize, work: &mut Vec<f64>) {
    let at = |k: usize| first + k * stride;
    if n > 2 {
        // Thomas' algorithm for c₋₁ + 6c + c₊₁ = 8h, both ends known.
        work.clear();
        work.push(0.0);
        for k in 2..n {
            let ratio = 1.0 / (6.0 - work[k - 2]);
            values[at(k)] = (8.0 * values[at(k)] - values[at(k - 1)]) * ratio;
            work.push(ratio);
        }
        for k in (2..n).rev() {
            values[at(k)] -= work[k - 1] * values[at(k + 1)];
        }
    }
    let (one, two, last, before) = (values[at(1)], values[at(2.min(n))], values[at(n)], values[at((n - 1).max(1))]);
    values[at(0)] = 2.0 * one - two;
    values[at(n + 1)] = 2.0 * last - before;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Random;
    use crate::walls::{Bed, Geometry, Wall, WallState};
    use std::sync::Arc;

    fn rock(size: [usize; 2], height: impl Fn(DVec2) -> f64) -> (Arc<Bed>, Wall) {
        let mut relief =
            Relief { origin: DVec3::new(1.0, -2.0, 0.5), cell: 0.1, size, height: vec![0.0; size[0] * size[1]] };
        for cell in 0..relief.height.len() {
            relief.height[cell] = height(relief.point(cell).truncate());
        }
        let bed = Arc::new(Bed::rock(Arc::new(relief)));
        (bed.clone(), Wall::new("rock", Geometry::Relief(bed), 0))
    }

    fn bumps(p: DVec2) -> f64 {
        0.1 + 0.06 * (5.0 * p.x).sin() * (7.0 * p.y).cos()
    }

    #[test]
    fn the_surface_passes_through_the_heights_and_a_plane_stays_one() {
        for size in [[20, 20], [1, 1], [2, 3], [3, 1]] {
            let (bed, _) = rock(size, bumps);
            for cell in 0..size[0] * size[1] {
                let point = bed.relief().point(cell);
                assert!((bed.over(point.x, point.y).unwrap().z - point.z).abs() < 1e-12, "{size:?} {cell}");
            }
        }
        let (mut random, state) = (Random::new(1, 0), WallState::default());
        for _ in 0..200 {
            let [a, b] = [(); 2].map(|()| 3.0 * random.uniform() - 1.5);
            let (_, wall) = rock([20, 20], |p| 5.0 + a * p.x + b * p.y);
            let at = DVec2::new(1.5 + random.uniform(), -1.5 + random.uniform());
            let gap = 0.25 * random.uniform() - 0.05;
            let normal = DVec3::new(-a, -b, 1.0).normalize();
            let foot = at.extend(5.5 + a * at.x + b * at.y);
            let found = wall.nearest(&state, 0, foot + normal * gap);
            assert!((found.distance - gap).abs() < 1e-11 && (found.normal - normal).length() < 1e-6, "{found:?}");
        }
    }

    #[test]
    fn the_slope_is_the_derivative_and_has_no_kink() {
        let (bed, mut random, step) = (rock([20, 20], bumps).0, Random::new(2, 0), 1e-7);
        for _ in 0..500 {
            let at = DVec2::new(1.01 + 1.98 * random.uniform(), -1.99 + 1.98 * random.uniform());
            let over = bed.over(at.x, at.y).unwrap();
            let way = DVec2::new(random.uniform() - 0.5, random.uniform() - 0.5).normalize();
            let next = at + way * step;
            let moved = bed.over(next.x, next.y).unwrap();
            assert!(((moved.z - over.z) / step - over.slope.dot(way)).abs() < 1e-4);
            // Second derivatives are below 10 / m.
            assert!((moved.slope - over.slope).length() < 10.0 * step);
        }
    }

    #[test]
    fn no_point_of_the_surface_is_nearer_and_the_normal_is_the_gradient_of_distance() {
        let ((bed, wall), mut random, state) = (rock([20, 20], bumps), Random::new(3, 0), WallState::default());
        for _ in 0..60 {
            let at = DVec2::new(1.4 + 1.2 * random.uniform(), -1.6 + 1.2 * random.uniform());
            let x = at.extend(0.5 + bumps(at) + 0.12 * random.uniform());
            let found = wall.nearest(&state, 0, x);
            let foot = x - found.normal * found.distance;
            assert!((bed.over(foot.x, foot.y).unwrap().z - foot.z).abs() < 1e-9, "the foot is on the surface");
            for k in 0..900 {
                let beside = at + 0.3 * DVec2::new((k % 30) as f64 / 29.0 - 0.5, (k / 30) as f64 / 29.0 - 0.5);
                let other = beside.extend(bed.over(beside.x, beside.y).unwrap().z);
                assert!(found.distance.abs() <= other.distance(x) + 1e-9);
            }
            let way = random.in_ball().normalize();
            let moved = wall.nearest(&state, 0, x + way * 1e-6);
            assert!(((moved.distance - found.distance) / 1e-6 - found.normal.dot(way)).abs() < 1e-4);
            let ball = wall.nearest_to_ball(&state, 0, x, 0.05);
            assert!(ball == found || (found.distance >= 0.05 && ball.distance >= 0.05 - 1e-12));
        }
    }
}
