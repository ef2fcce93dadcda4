//! How much of a grain lies in a region.
//!
//! Spheres are cut in closed form by boxes and balls, and by cylinders to ten digits. Other shapes are cut point by
//! point: a thousand points fill the shape evenly, each stands for the same share of its exact volume. A grain that is
//! wholly inside counts exactly; one that is cut is right to about a hundredth of its volume.

use barchan_core::frame::Population;
use barchan_core::math;
use barchan_core::regions::Region;
use barchan_core::shapes::Shape;
use glam::DVec3;
use std::f64::consts::{FRAC_PI_2, PI};

/// Points that fill a shape that is no sphere.
const POINTS: f64 = 1000.0;

/// The shapes of a frame, ready to be cut.
#[derive(Clone, Debug, Default)]
pub(super) struct Solids {
    /// By shape, points within it in units of the largest radius; none for a sphere.
    points: Vec<Vec<DVec3>>,
}

impl Solids {
    /// Volume [m³] of grain `g`, moved by `shift`, in a region. Whatever [`Region`] says of balls must hold for it.
    pub fn volume_in(&mut self, frame: &Population, g: usize, shift: DVec3, region: &Region) -> f64 {
        let shape = frame.shape_of(g);
        let (centre, r) = (frame.position[g] + shift, frame.radius[g]);
        if shape.is_sphere() {
            return ball_in(region, centre, r);
        }
        let whole = volume(frame, g);
        if region.contains_ball(centre, r * shape.bounding_radius()) {
            return whole;
        }
        for s in self.points.len()..frame.shapes.len() {
            self.points.push(if frame.shapes[s].is_sphere() { vec![] } else { fill(&frame.shapes[s]) });
        }
        let points = &self.points[frame.shape[g] as usize];
        let turn = frame.turn(g);
        let inside = points.iter().filter(|p| region.contains(centre + turn * (**p * r))).count();
        whole * inside as f64 / points.len().max(1) as f64
    }
}

/// Volume of a grain [m³].
pub(super) fn volume(frame: &Population, g: usize) -> f64 {
    frame.shape_of(g).volume() * frame.radius[g].powi(3)
}

/// Points of a cubic lattice that lie in a shape, about [`POINTS`] of them.
fn fill(shape: &Shape) -> Vec<DVec3> {
    let step = math::cbrt(shape.volume() / POINTS);
    let n = (shape.bounding_radius() / step).ceil() as i32;
    let inside = |p: &DVec3| match shape.skin() {
        Some(mesh) => mesh.winding(*p) > 0.5,
        None => shape.spheres().iter().any(|s| p.distance_squared(s.centre) <= s.radius * s.radius),
    };
    // Off the middle, so that no plane of symmetry of the shape is one of the lattice.
    let place = |i: i32, j: i32, k: i32| (DVec3::new(f64::from(i), f64::from(j), f64::from(k)) + 0.37) * step;
    let rows = (-n..=n).flat_map(|i| (-n..=n).map(move |j| (i, j)));
    rows.flat_map(|(i, j)| (-n..=n).map(move |k| place(i, j, k))).filter(inside).collect()
}

/// Volume [m³] of the ball of radius `r` about `x` in a region.
pub(super) fn ball_in(region: &Region, x: DVec3, r: f64) -> f64 {
    if region.contains_ball(x, r) {
        return 4.0 / 3.0 * PI * r.powi(3);
    }
    match *region {
        Region::Box { min, max } => {
            let (a, b) =
                (((min - x) / r).clamp(-DVec3::ONE, DVec3::ONE), ((max - x) / r).clamp(-DVec3::ONE, DVec3::ONE));
            let mut cut = (0..3).filter(|&k| a[k] > -1.0 || b[k] < 1.0);
            if let (Some(k), None) = (cut.next(), cut.next()) {
                return 4.0 * (quarter_slab(b[k]) - quarter_slab(a[k])).max(0.0) * r.powi(3);
            }
            let mut sum = 0.0;
            for corner in 0..8 {
                let at = |k: usize| if corner >> k & 1 == 1 { b[k] } else { a[k] };
                let sign = if (corner as u32).count_ones() % 2 == 1 { 1.0 } else { -1.0 };
                sum += sign * octant(at(0), at(1), at(2));
            }
            sum.max(0.0) * r.powi(3)
        }
        Region::Sphere { centre, radius } => lens(x.distance(centre), r, radius),
        Region::Cylinder { base, axis, radius, height } => {
            let arm = x - base;
            let z = arm.dot(axis);
            drum(r, (arm - axis * z).length(), radius, (-z).max(-r), (height - z).min(r))
        }
    }
}

/// Integral of the unit ball's half height √(1 − x² − y²) over the rectangle from the origin to (a, b), odd in both; the
/// corner lies within the unit circle.
fn column(a: f64, b: f64) -> f64 {
    let w = (1.0 - a * a - b * b).max(0.0).sqrt();
    let side = |p: f64, q: f64| p * (3.0 - p * p) * math::atan(q / w);
    if a * b == 0.0 { 0.0 } else { (2.0 * a * b * w + side(a, b) + side(b, a) - 2.0 * math::atan(a * b / w)) / 6.0 }
}

/// A quarter of the unit ball's slab from 0 to a.
fn quarter_slab(a: f64) -> f64 {
    0.25 * PI * (a - a * a * a / 3.0)
}

/// Volume of the unit ball where x < a and y < b.
fn wedge(a: f64, b: f64) -> f64 {
    if a * a + b * b < 1.0 {
        PI / 3.0 + 2.0 * (quarter_slab(a) + quarter_slab(b) + column(a, b))
    } else if a > 0.0 {
        // An edge outside the ball cuts nothing off: what lies beyond is the whole less its mirror image.
        2.0 * PI / 3.0 + 4.0 * quarter_slab(b) - wedge(-a, b)
    } else if b > 0.0 {
        2.0 * PI / 3.0 + 4.0 * quarter_slab(a) - wedge(a, -b)
    } else {
        0.0
    }
}

/// Volume of the unit ball where x < a, y < b and z < c, each from −1 to 1. The octant below the origin, its slabs, columns and
/// block are added with their signs where the corner lies within; else the corner is mirrored until nothing is left.
fn octant(a: f64, b: f64, c: f64) -> f64 {
    if a * a + b * b + c * c < 1.0 {
        let slabs = quarter_slab(a) + quarter_slab(b) + quarter_slab(c);
        PI / 6.0 + slabs + column(a, b) + column(b, c) + column(c, a) + a * b * c
    } else if a > 0.0 {
        wedge(b, c) - octant(-a, b, c)
    } else if b > 0.0 {
        wedge(a, c) - octant(a, -b, c)
    } else if c > 0.0 {
        wedge(a, b) - octant(a, b, -c)
    } else {
        0.0
    }
}

/// Volume of two balls' intersection, their centres `d` apart.
fn lens(d: f64, r: f64, s: f64) -> f64 {
    if d >= r + s {
        0.0
    } else if d <= (r - s).abs() {
        4.0 / 3.0 * PI * r.min(s).powi(3)
    } else {
        PI * (r + s - d).powi(2) * (d * d + 2.0 * d * (r + s) - 3.0 * (r - s).powi(2)) / (12.0 * d)
    }
}

/// Area of two discs' intersection, their centres `d` apart.
fn disc_lens(d: f64, r: f64, s: f64) -> f64 {
    if d >= r + s {
        0.0
    } else if d <= (r - s).abs() {
        PI * r.min(s).powi(2)
    } else {
        let (x, y) = ((d * d + r * r - s * s) / (2.0 * d), (d * d + s * s - r * r) / (2.0 * d));
        let sector = |x: f64, r: f64| r * r * math::acos((x / r).clamp(-1.0, 1.0));
        sector(x, r) + sector(y, s) - d * (r * r - x * x).max(0.0).sqrt()
    }
}

/// Volume of a ball of radius `r` in a cylinder of radius `s` whose axis passes it at distance `d`, between two heights above
/// the ball's centre: an integral over slices, piece by piece between the heights where a slice begins to cut the cylinder.
fn drum(r: f64, d: f64, s: f64, from: f64, to: f64) -> f64 {
    let turns = [(s - d).abs(), s + d].map(|rho| (r * r - rho * rho).max(0.0).sqrt());
    let mut ends = vec![from, to];
    ends.extend(turns.iter().flat_map(|t| [-t, *t]).filter(|t| *t > from && *t < to));
    ends.sort_by(f64::total_cmp);
    let slice = |z: f64| disc_lens(d, (r * r - z * z).max(0.0).sqrt(), s);
    ends.windows(2).map(|w| integral(w[0], w[1], slice)).sum()
}

/// Integral by the rule of Takahasi and Mori (1974), which does not mind roots at the ends.
fn integral(a: f64, b: f64, f: impl Fn(f64) -> f64) -> f64 {
    const STEP: f64 = 0.125;
    let (middle, half) = (0.5 * (a + b), 0.5 * (b - a));
    let term = |k: i32| {
        let t = f64::from(k) * STEP;
        let u = FRAC_PI_2 * math::sinh(t);
        f(middle + half * math::tanh(u)) * FRAC_PI_2 * math::cosh(t) / math::cosh(u).powi(2)
    };
    if half > 0.0 { (-26..=26).map(term).sum::<f64>() * STEP * half } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use barchan_core::rng::Random;

    /// Share of the ball found in the region by trying points.
    fn tried(region: &Region, x: DVec3, r: f64) -> f64 {
        let mut rng = Random::new(7, 1);
        let hits = (0..200_000).filter(|_| region.contains(x + rng.in_ball() * r)).count();
        hits as f64 / 200_000.0 * 4.0 / 3.0 * PI * r.powi(3)
    }

    #[test]
    fn cut_balls_have_the_volume_that_trying_points_finds() {
        let mut rng = Random::new(3, 2);
        for n in 0..40 {
            let (r, x) = (rng.range(0.3, 1.5), rng.in_ball() * 1.5);
            let corner = rng.in_ball();
            let region = match n % 4 {
                0 => Region::Sphere { centre: corner, radius: rng.range(0.3, 1.5) },
                1 => Region::Cylinder {
                    base: corner,
                    axis: rng.direction(),
                    radius: rng.range(0.2, 1.2),
                    height: rng.range(0.2, 2.0),
                },
                _ => Region::Box { min: corner, max: corner + rng.range(0.1, 2.0) * DVec3::new(1.0, 0.6, 1.7) },
            };
            let whole = 4.0 / 3.0 * PI * r.powi(3);
            let error = (ball_in(&region, x, r) - tried(&region, x, r)).abs() / whole;
            assert!(error < 0.005, "{region:?} {x} {r}: {error}");
        }
    }

    #[test]
    fn known_parts_of_a_ball() {
        let whole = 4.0 / 3.0 * PI;
        let block = |max: [f64; 3]| Region::Box { min: DVec3::splat(-9.0), max: DVec3::from_array(max) };
        let is = |region: Region, share: f64| (ball_in(&region, DVec3::ZERO, 1.0) / whole - share).abs() < 1e-10;
        assert!(is(block([0.0, 9.0, 9.0]), 0.5) && is(block([0.0, 0.0, 9.0]), 0.25) && is(block([0.0; 3]), 0.125));
        assert!(is(block([0.5, 9.0, 9.0]), 27.0 / 32.0), "a cap of height 1/2 is 5/32");
        assert!(is(block([-1.0, 9.0, 9.0]), 0.0));
        assert!(is(Region::Sphere { centre: DVec3::X, radius: 1.0 }, 5.0 / 16.0));
        // Viviani's solid: a ball of radius 1 in a cylinder of radius 1/2 through its centre, (2π/3 − 8/9).
        let viviani = Region::Cylinder { base: DVec3::new(0.5, 0.0, -2.0), axis: DVec3::Z, radius: 0.5, height: 4.0 };
        assert!((ball_in(&viviani, DVec3::ZERO, 1.0) - (2.0 * PI / 3.0 - 8.0 / 9.0)).abs() < 1e-9);
    }

    #[test]
    fn cells_that_tile_space_share_a_ball_out_whole() {
        let mut rng = Random::new(5, 9);
        for _ in 0..200 {
            let (x, r) = (rng.in_ball() * 2.0, rng.range(0.2, 2.0));
            let mut sum = 0.0;
            for n in 0..512 {
                let min = DVec3::new((n % 8) as f64, (n / 8 % 8) as f64, (n / 64) as f64) - 4.0;
                sum += ball_in(&Region::Box { min, max: min + 1.0 }, x, r);
            }
            assert!((sum / (4.0 / 3.0 * PI * r.powi(3)) - 1.0).abs() < 1e-10);
        }
    }

    #[test]
    fn the_points_of_a_clump_fill_it_evenly() {
        let shape = Shape::tetrahedron(1.2).unwrap();
        let points = fill(&shape);
        assert!((points.len() as f64 / POINTS - 1.0).abs() < 0.03);
        // The lattice's step is a fifth of a radius; the middle of the points is as good as a tenth of a step.
        let middle = points.iter().sum::<DVec3>() / points.len() as f64;
        assert!(middle.length() < 0.03, "their middle is its centre: {middle}");
    }
}
