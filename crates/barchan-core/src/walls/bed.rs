//! A ground's surface as a wall: where a ball stands on heights that are bilinear between the middles of cells.
//!
//! The contact is with the surface's nearest point, one at a time: distance is exact, continuous, and its gradient is the
//! normal, on slopes, over ridges and in valleys. In a valley narrower than the ball the two sides take turns within a step or two,
//! which holds the ball as two contacts would, to some per cent of an overlap. On each patch of four middles the nearest point is found by
//! Newton's method, and where that leads to the rim of the patch, by minimising along x and y in turn, each in closed form: places
//! to some 1e-8 of a cell, distances (whose error is of second order) to rounding.
//!
//! Beyond the rim of the cells the surface goes on level.

use super::Nearest;
use super::rock::Spline;
use crate::relief::{Over, Relief};
use glam::{DVec2, DVec3};
use std::sync::Arc;

/// A relief made ready to be touched.
#[derive(Clone, Debug, PartialEq)]
pub struct Bed {
    relief: Arc<Relief>,
    /// Cells in a metre.
    per_metre: f64,
    /// z of the highest point [m].
    top: f64,
    /// The surface without kinks that rock has in place of the bilinear one.
    spline: Option<Spline>,
}

/// Steps of Newton's method on a patch: few are needed where it converges at all.
const STEPS: usize = 6;
/// Rounds of the search in turn. At slopes below 45° each leaves at most a ninth of the error.
const MOST_ROUNDS: usize = 32;
/// Step [cells] at which the search on a patch ends.
const FINE: f64 = 1e-8;
/// How far [cells] around a point below the surface is searched for a nearer one than straight above.
const BELOW: f64 = 1.0;
/// How far [cells] around a point its clearance is searched; farther than that it is known to be at least so much.
const AROUND: f64 = 4.0;

/// Four middles and the surface between them; lengths in cells.
struct Patch {
    /// Height at the first middle, rise along x and y from there, and what the fourth rises beyond that.
    base: f64,
    along: DVec2,
    twist: f64,
    low: f64,
    high: f64,
}

impl Bed {
    /// Makes a relief ready.
    pub fn new(relief: Arc<Relief>) -> Bed {
        let highest = relief.height.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        Bed { top: relief.origin.z + highest, per_metre: 1.0 / relief.cell, relief, spline: None }
    }

    /// Makes a relief ready as rock: its surface has no kinks (`rock.rs`).
    pub fn rock(relief: Arc<Relief>) -> Bed {
        let spline = Some(Spline::new(&relief)).filter(|_| !relief.height.is_empty());
        let bed = Bed { spline, ..Bed::new(relief) };
        // Between middles a spline may rise above all of them.
        let top = bed.spline.as_ref().map_or(bed.top, |s| bed.relief.origin.z + s.top * bed.relief.cell);
        Bed { top, ..bed }
    }

    /// Whether this is rock.
    pub fn is_rock(&self) -> bool {
        self.spline.is_some()
    }

    /// The surface that is touched over (x, y) [m]; none beside the ground.
    pub fn over(&self, x: f64, y: f64) -> Option<Over> {
        let Some(spline) = &self.spline else { return self.relief.over(x, y) };
        let (at, end) = (DVec2::new(x, y), self.relief.end());
        let origin = self.relief.origin;
        let inside = at.cmpge(origin.truncate()).all() && at.cmple(end).all();
        inside.then(|| {
            let over = spline.over((at - origin.truncate()) * self.per_metre);
            Over { z: origin.z + over.z * self.relief.cell, slope: over.slope }
        })
    }

    /// The surface.
    pub fn relief(&self) -> &Arc<Relief> {
        &self.relief
    }

    pub(super) fn check(&self, found: &mut Vec<(String, &'static str)>) {
        let r = &*self.relief;
        if r.size[0] * r.size[1] == 0 || r.height.len() != r.size[0] * r.size[1] {
            found.push(("its heights are not one a cell".into(), "give size[0] · size[1] heights, at least one"));
        }
        if !(r.cell > 0.0 && r.cell.is_finite() && r.height.iter().all(|h| h.is_finite())) {
            found
                .push(("a height or the cell's width is no length".into(), "give finite heights, and a width above 0"));
        }
    }

    /// The patch from middle (i, j) on; beyond the rim heights are those of the rim.
    #[inline]
    fn patch(&self, i: i64, j: i64) -> Patch {
        let [nx, ny] = self.relief.size;
        let clamp = |k: i64, n: usize| k.clamp(0, n as i64 - 1) as usize;
        let (x0, x1) = (clamp(i, nx), clamp(i + 1, nx));
        let (y0, y1) = (clamp(j, ny) * nx, clamp(j + 1, ny) * nx);
        let height = |at: usize| self.relief.height[at] * self.per_metre;
        let (a, b, c, d) = (height(x0 + y0), height(x1 + y0), height(x0 + y1), height(x1 + y1));
        Patch {
            base: a,
            along: DVec2::new(b - a, c - a),
            twist: a - b - c + d,
            low: a.min(b).min(c.min(d)),
            high: a.max(b).max(c.max(d)),
        }
    }

    /// Least and greatest height [cells] of the middles within a patch of this one; none at the rim.
    #[inline]
    fn range_round(&self, (i, j): (i64, i64)) -> Option<(f64, f64)> {
        let [nx, ny] = self.relief.size;
        if i < 1 || j < 1 || i + 2 >= nx as i64 || j + 2 >= ny as i64 {
            return None;
        }
        let first = (i - 1) as usize + (j - 1) as usize * nx;
        let (mut low, mut high) = ([f64::INFINITY; 4], [f64::NEG_INFINITY; 4]);
        for row in 0..4 {
            let heights = &self.relief.height[first + row * nx..][..4];
            for k in 0..4 {
                low[k] = if heights[k] < low[k] { heights[k] } else { low[k] };
                high[k] = if heights[k] > high[k] { heights[k] } else { high[k] };
            }
        }
        let least = low[0].min(low[1]).min(low[2].min(low[3]));
        let most = high[0].max(high[1]).max(high[2].max(high[3]));
        Some((least * self.per_metre, most * self.per_metre))
    }

    /// Distance and normal of the surface from `q`, a point relative to the relief's origin [m]; beyond `most` [m] a lower bound of the
    /// distance.
    #[inline]
    pub(super) fn nearest(&self, q: DVec3, most: f64) -> Nearest {
        let cell = self.relief.cell;
        if let Some(spline) = &self.spline {
            let found = spline.nearest(q * self.per_metre, most * self.per_metre);
            return Nearest { distance: found.distance * cell, ..found };
        }
        let p = q * self.per_metre - DVec3::new(0.5, 0.5, 0.0);
        let most = most * self.per_metre;
        let own = (floor(p.x), floor(p.y));
        // What most balls meet: nothing, or level ground.
        if most <= 1.0
            && let Some((low, high)) = self.range_round(own)
            && (p.z - high >= most || (low == high && p.z >= high))
        {
            return Nearest { distance: (p.z - high).min(most) * cell, normal: DVec3::Z, radius: 0.0 };
        }
        let here = self.patch(own.0, own.1);
        let from = DVec3::new(p.x - own.0 as f64, p.y - own.1 as f64, p.z);
        let over = here.at(from.x, from.y);
        let above = p.z >= over;
        let far = (most * most, DVec3::Z * most, DVec2::ZERO);
        let mut best = if above && here.is_beyond(from, far.0) { far } else { here.nearest(from) };
        // Nothing outside this square can be nearer.
        let reach = (p.z - over).abs().min(if above { most } else { BELOW }).min(best.0.sqrt());
        let [low, high] = [p.truncate() - reach, p.truncate() + reach].map(|c| (floor(c.x), floor(c.y)));
        for j in low.1..=high.1 {
            for i in low.0..=high.0 {
                if (i, j) == own {
                    continue;
                }
                let from = DVec3::new(p.x - i as f64, p.y - j as f64, p.z);
                let beside = (from.truncate() - from.truncate().clamp(DVec2::ZERO, DVec2::ONE)).length_squared();
                if beside >= best.0 {
                    continue;
                }
                let patch = self.patch(i, j);
                let up = from.z - from.z.clamp(patch.low, patch.high);
                if beside + up * up < best.0 && !patch.is_beyond(from, best.0) {
                    let found = patch.nearest(from);
                    if found.0 < best.0 {
                        best = found;
                    }
                }
            }
        }
        let (square, offset, slope) = best;
        let distance = square.sqrt();
        let side = if above { 1.0 } else { -1.0 };
        // On the surface itself the offset has no direction.
        let normal = if distance > 1e-12 { offset * (side / distance) } else { (-slope).extend(1.0).normalize() };
        Nearest { distance: side * distance.min(most) * cell, normal, radius: 0.0 }
    }

    /// A lower bound of the distance from a point [m] that costs next to nothing.
    pub(super) fn least_distance(&self, q: DVec3) -> f64 {
        q.z + self.relief.origin.z - self.top
    }

    /// Distance from `q` [m], exact within a few cells; a lower bound beyond.
    pub(super) fn clearance(&self, q: DVec3) -> f64 {
        self.nearest(q, AROUND * self.relief.cell).distance.max(self.least_distance(q))
    }
}

/// The integer below: a call of the library's is slower than all the rest where the processor's own is not to be had.
#[inline]
fn floor(x: f64) -> i64 {
    let whole = x as i64;
    whole - i64::from((whole as f64) > x)
}

impl Patch {
    #[inline]
    fn at(&self, u: f64, v: f64) -> f64 {
        self.base + self.along.x * u + (self.along.y + self.twist * u) * v
    }

    /// Whether a point is farther above than the root of `square`, by a bound: from the place of the patch that is next to it, the surface rises
    /// by no more than the greatest slope on the way to any other, and that way is no longer than the one from the point, seen from above. So a
    /// distance t aside costs at most slope · t of the gap, and the nearest is at least gap / √(1 + slope²) away.
    #[inline]
    fn is_beyond(&self, p: DVec3, square: f64) -> bool {
        let gap = p.z - self.at(p.x.clamp(0.0, 1.0), p.y.clamp(0.0, 1.0));
        // The slope is linear in u and v: its components are largest at corners.
        let steep = self.along.abs().max((self.along + self.twist).abs());
        gap > 0.0 && gap * gap > square * (1.0 + steep.length_squared()) * (1.0 + 1e-12)
    }

    /// Square of the distance of the nearest point, the way from there to `p`, and the slope there.
    #[inline]
    fn nearest(&self, p: DVec3) -> (f64, DVec3, DVec2) {
        let (mut u, mut v) = (p.x.clamp(0.0, 1.0), p.y.clamp(0.0, 1.0));
        for _ in 0..STEPS {
            // Half the square of the distance: its gradient and second derivatives.
            let slope = self.along + self.twist * DVec2::new(v, u);
            let above = p.z - self.at(u, v);
            let down = DVec2::new(u - p.x, v - p.y) - above * slope;
            let (xx, yy) = (1.0 + slope.x * slope.x, 1.0 + slope.y * slope.y);
            let xy = slope.x * slope.y - above * self.twist;
            let both = xx * yy - xy * xy;
            // Flat, or no minimum: what follows knows what to do.
            if both < 0.1 * xx * yy {
                break;
            }
            let step = DVec2::new(yy * down.x - xy * down.y, xx * down.y - xy * down.x) / both;
            let next = DVec2::new(u, v) - step;
            (u, v) = (next.x.clamp(0.0, 1.0), next.y.clamp(0.0, 1.0));
            if next != DVec2::new(u, v) {
                break;
            }
            if step.x.abs() + step.y.abs() < FINE {
                return self.from(p, u, v);
            }
        }
        for _ in 0..MOST_ROUNDS {
            let (old_u, old_v) = (u, v);
            // With v held the surface is a line along x: h = rest + slope · u.
            let slope = self.along.x + self.twist * v;
            let rest = self.base + self.along.y * v;
            u = ((p.x + slope * (p.z - rest)) / (1.0 + slope * slope)).clamp(0.0, 1.0);
            let slope = self.along.y + self.twist * u;
            let rest = self.base + self.along.x * u;
            v = ((p.y + slope * (p.z - rest)) / (1.0 + slope * slope)).clamp(0.0, 1.0);
            if (u - old_u).abs() + (v - old_v).abs() < FINE {
                break;
            }
        }
        self.from(p, u, v)
    }

    /// What [`Patch::nearest`] gives, of a point of the patch.
    #[inline]
    fn from(&self, p: DVec3, u: f64, v: f64) -> (f64, DVec3, DVec2) {
        let offset = p - DVec3::new(u, v, self.at(u, v));
        (offset.length_squared(), offset, self.along + self.twist * DVec2::new(v, u))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Random;
    use crate::walls::{Geometry, Wall, WallState};

    fn bed(size: [usize; 2], height: impl Fn(DVec2) -> f64) -> Wall {
        let mut relief =
            Relief { origin: DVec3::new(1.0, -2.0, 0.5), cell: 0.1, size, height: vec![0.0; size[0] * size[1]] };
        for cell in 0..relief.height.len() {
            relief.height[cell] = height(relief.point(cell).truncate());
        }
        Wall::new("bed", Geometry::Relief(Arc::new(Bed::new(Arc::new(relief)))), 0)
    }

    fn bumps(p: DVec2) -> f64 {
        0.1 + 0.06 * (13.0 * p.x).sin() * (17.0 * p.y).cos()
    }

    /// Least distance to points of the surface, finely sampled around.
    fn sampled(wall: &Wall, x: DVec3, fine: usize) -> f64 {
        let Geometry::Relief(bed) = &wall.geometry else { unreachable!() };
        let [low, high] = [-0.2, 0.2];
        let mut least = f64::INFINITY;
        for i in 0..=fine {
            for j in 0..=fine {
                let at = |k: usize| low + (high - low) * k as f64 / fine as f64;
                let (px, py) = (x.x + at(i), x.y + at(j));
                if let Some(over) = bed.relief().over(px, py) {
                    least = least.min(DVec3::new(px, py, over.z).distance(x));
                }
            }
        }
        least
    }

    #[test]
    fn a_plane_is_met_exactly() {
        let mut random = Random::new(1, 0);
        for _ in 0..200 {
            let [a, b] = [(); 2].map(|()| 1.6 * random.uniform() - 0.8);
            let wall = bed([20, 20], |p| 5.0 + a * p.x + b * p.y);
            let at = DVec2::new(1.5 + random.uniform(), -1.5 + random.uniform());
            let gap = 0.2 * random.uniform();
            let normal = DVec3::new(-a, -b, 1.0).normalize();
            let foot = at.extend(5.5 + a * at.x + b * at.y);
            let found = wall.nearest(&WallState::default(), 0, foot + normal * gap);
            assert!((found.distance - gap).abs() < 1e-12 && (found.normal - normal).length() < 1e-6, "{found:?}");
            // From below as well, up to a cell.
            let found = wall.nearest(&WallState::default(), 0, foot - normal * 0.5 * gap);
            assert!((found.distance + 0.5 * gap).abs() < 1e-12 && (found.normal - normal).length() < 1e-5);
        }
    }

    #[test]
    fn over_bumps_no_point_of_the_surface_is_nearer() {
        let (wall, mut random) = (bed([20, 20], bumps), Random::new(2, 0));
        for _ in 0..60 {
            let x = DVec3::new(1.4 + 1.2 * random.uniform(), -1.6 + 1.2 * random.uniform(), 0.0);
            let x = x.with_z(0.6 + bumps(x.truncate()) - 0.1 + 0.13 * random.uniform());
            let found = wall.nearest(&WallState::default(), 0, x);
            if found.distance > 0.0 {
                let sampled = sampled(&wall, x, 400);
                // The sampling's own error is at most its half diagonal.
                assert!(found.distance <= sampled + 1e-12 && found.distance > sampled - 7e-4, "{found:?} {sampled}");
                // The foot is on the surface.
                let foot = x - found.normal * found.distance;
                let Geometry::Relief(bed) = &wall.geometry else { unreachable!() };
                assert!((bed.relief().over(foot.x, foot.y).unwrap().z - foot.z).abs() < 1e-9);
            }
        }
    }

    /// For a ball that does not touch it is enough to know that: the search ends early, and must not end too early.
    #[test]
    fn a_ball_meets_what_is_within_its_radius_and_is_told_of_nothing_else() {
        let (mut random, state) = (Random::new(6, 0), WallState::default());
        let (mut met, mut apart) = (0, 0);
        for n in 0..40 {
            // From gentle bumps to needles and pits of several cells.
            let steep = 0.02 * f64::from(n);
            let heights: Vec<f64> = (0..400).map(|_| 0.6 * random.uniform().powi(1 + n % 4)).collect();
            let wall = bed([20, 20], |p| {
                let cell = |x: f64, low: f64| ((x - low) / 0.1) as usize;
                steep * heights[cell(p.x, 1.0) + 20 * cell(p.y, -2.0)]
            });
            for _ in 0..200 {
                let at = DVec2::new(1.1 + 1.8 * random.uniform(), -1.9 + 1.8 * random.uniform());
                let x = at.extend(0.5 + 0.7 * steep * random.uniform() + 0.1 * random.uniform());
                let radius = 0.02 + 0.15 * random.uniform();
                let (whole, ball) = (wall.nearest(&state, 0, x), wall.nearest_to_ball(&state, 0, x, radius));
                if whole.distance.abs() < radius {
                    met += 1;
                    let off = (whole.distance - ball.distance).abs().max((whole.normal - ball.normal).length());
                    assert!(off < 1e-12, "{whole:?} {ball:?}");
                } else {
                    apart += 1;
                    assert!(ball.distance.abs() >= radius * (1.0 - 1e-12), "{} {radius}", ball.distance);
                }
            }
        }
        assert!(met > 1000 && apart > 1000, "{met} {apart}");
    }

    #[test]
    fn distance_is_continuous_and_the_normal_is_its_gradient() {
        let (wall, mut random, state, step) = (bed([20, 20], bumps), Random::new(3, 0), WallState::default(), 1e-6);
        let (mut held, mut tried) = (0, 0);
        for _ in 0..400 {
            let x =
                DVec3::new(1.2 + 1.6 * random.uniform(), -1.8 + 1.6 * random.uniform(), 0.62 + 0.2 * random.uniform());
            let found = wall.nearest(&state, 0, x);
            if !(0.01..0.15).contains(&found.distance) {
                continue;
            }
            tried += 1;
            let way = random.in_ball().normalize();
            let moved = wall.nearest(&state, 0, x + way * step);
            assert!((moved.distance - found.distance).abs() <= step * (1.0 + 1e-6), "no jump, anywhere");
            // Where the nearest point jumps across a valley the gradient does too.
            held += usize::from(((moved.distance - found.distance) / step - found.normal.dot(way)).abs() < 1e-3);
        }
        assert!(tried > 100 && held as f64 > 0.97 * f64::from(tried), "{held} of {tried}");
    }

    #[test]
    fn far_away_bounds_are_given_and_beside_it_goes_on_level() {
        let (wall, state) = (bed([20, 20], bumps), WallState::default());
        let mut random = Random::new(4, 0);
        for _ in 0..200 {
            let x =
                DVec3::new(1.0 + 2.0 * random.uniform(), -2.0 + 2.0 * random.uniform(), 0.7 + 2.0 * random.uniform());
            let (exact, bound) = (wall.nearest(&state, 0, x).distance, wall.clearance(&state, x));
            assert!(bound <= exact + 1e-12 && bound >= (exact - 0.12).min(0.4) - 1e-12, "{bound} of {exact}");
            assert!(wall.least_distance(&state, x) <= exact + 1e-12);
            for reach in [0.1, 0.3] {
                let mut near = false;
                wall.features(&state, x, reach, &mut |_| near = true);
                assert_eq!(near, exact <= reach, "{exact}");
            }
        }
        let flat = bed([4, 4], |_| 0.1);
        let found = flat.nearest(&state, 0, DVec3::new(0.2, -3.0, 0.65));
        assert!((found.distance - 0.05).abs() < 1e-12 && found.normal.distance(DVec3::Z) < 1e-12);
    }
}
