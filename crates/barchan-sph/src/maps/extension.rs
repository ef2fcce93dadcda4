//! How much of a kernel's ball lies in a wall: the extension function, its integral over a plane wall, and the quadrature for others.
//!
//! V_B(x) = ∫_{|ξ|<R} γ*(Φ(x + ξ)) dξ [Bender et al. 2019, "Volume maps: an implicit boundary representation for SPH", eq. 8], with γ* of
//! support R: with 2R, as printed in some codes, it jumps at R.

use glam::DVec3;
use std::f64::consts::PI;

/// Radii of the quadrature.
const RADII: usize = 6;
/// Directions of the quadrature.
const DIRECTIONS: usize = 50;

/// How far a point at the signed distance `q` (in units of the support) counts as wall: 1 inside, the cubic spline outside, 0 from the
/// support on.
///   γ* = 1 (q ≤ 0), 1 − 6q² + 6q³ (q ≤ ½), 2(1 − q)³ (q < 1), 0
#[inline]
pub fn extension(q: f64) -> f64 {
    let q = q.clamp(0.0, 1.0);
    if q <= 0.5 { 1.0 - 6.0 * q * q * (1.0 - q) } else { 2.0 * (1.0 - q).powi(3) }
}

/// As [`extension`], without a branch, for loops over lanes.
#[inline(always)]
pub fn extension_lane(q: f32) -> f32 {
    let q = q.clamp(0.0, 1.0);
    // 2(1−q)³ − 8(½−q)³ is the cubic of the inner half: the spline as truncated powers.
    let (outer, inner) = (1.0 - q, (0.5 - q).max(0.0));
    2.0 * outer * outer * outer - 8.0 * inner * inner * inner
}

/// Volume of the ball of radius `support` [m³].
pub fn ball(support: f64) -> f64 {
    4.0 / 3.0 * PI * support.powi(3)
}

/// V_B [m³] at the signed distance Φ [m] of a plane wall, exactly:
///   V_plane = ∫_{−R}^{R} π (R² − z²) γ*(Φ + z) dz
///
/// The integrand is a polynomial of degree five between the knots of γ*, which three Gauss points integrate exactly.
pub fn plane_volume(distance: f64, support: f64) -> f64 {
    let phi = distance / support;
    let (node, side, middle) = (0.6f64.sqrt(), 5.0 / 9.0, 8.0 / 9.0);
    let piece = |from: f64, to: f64| {
        let (a, b) = (from.clamp(-1.0, 1.0), to.clamp(-1.0, 1.0));
        let (centre, half) = (0.5 * (a + b), 0.5 * (b - a));
        let at = |x: f64| {
            let z = centre + half * x;
            (1.0 - z * z) * extension(phi + z)
        };
        half * (side * (at(-node) + at(node)) + middle * at(0.0))
    };
    PI * support.powi(3) * (piece(-1.0, -phi) + piece(-phi, 0.5 - phi) + piece(0.5 - phi, 1.0 - phi))
}

/// Nodes and weights of Gauss's rule on [0, 1] for ∫ f(r) r² dr, six points: Legendre's on the interval with r² in the weights, exact
/// for polynomials f of degree nine.
fn radii() -> [(f64, f64); RADII] {
    // Abramowitz and Stegun 1964, table 25.4, n = 6.
    let legendre = [
        (0.238_619_186_083_196_9, 0.467_913_934_572_691),
        (0.661_209_386_466_264_5, 0.360_761_573_048_138_6),
        (0.932_469_514_203_152, 0.171_324_492_379_170_4),
    ];
    std::array::from_fn(|k| {
        let (x, weight) = legendre[k / 2];
        let r = 0.5 * (1.0 + if k % 2 == 0 { -x } else { x });
        (r, 0.5 * weight * r * r)
    })
}

/// Directions and weights of Lebedev's rule of 50 points, exact on the sphere for polynomials of degree eleven [Lebedev 1976,
/// "Quadratures on a sphere"]; the weights add up to 1.
fn directions() -> Vec<(DVec3, f64)> {
    let mut out = Vec::with_capacity(DIRECTIONS);
    let signs = |v: DVec3, weight: f64, out: &mut Vec<(DVec3, f64)>| {
        for k in 0..8u32 {
            let sign = DVec3::from([0, 1, 2].map(|axis| if k >> axis & 1 == 1 { -1.0 } else { 1.0 }));
            // A component that is zero has no second sign.
            if (0..3).all(|axis| v[axis] != 0.0 || sign[axis] > 0.0) {
                out.push((v * sign, weight));
            }
        }
    };
    let half = 0.5f64.sqrt();
    let (short, long) = (1.0 / 11f64.sqrt(), 3.0 / 11f64.sqrt());
    for axis in 0..3 {
        let mut v = DVec3::ZERO;
        v[axis] = 1.0;
        signs(v, 4.0 / 315.0, &mut out);
        let mut v = DVec3::splat(half);
        v[axis] = 0.0;
        signs(v, 64.0 / 2835.0, &mut out);
        let mut v = DVec3::splat(short);
        v[axis] = long;
        signs(v, 14_641.0 / 725_760.0, &mut out);
    }
    signs(DVec3::splat(1.0 / 3f64.sqrt()), 27.0 / 1280.0, &mut out);
    out
}

/// A point of the quadrature in the unit ball.
#[derive(Clone, Copy, Debug)]
pub struct Point {
    /// Where it is, in units of the support.
    pub place: DVec3,
    /// Its distance from the middle, in units of the support.
    pub radius: f64,
    /// Its share of the ball; all shares add up to 1.
    pub share: f64,
}

/// The quadrature, radius by radius from within.
pub fn quadrature() -> Vec<Point> {
    let mut radii = radii();
    radii.sort_by(|a, b| a.0.total_cmp(&b.0));
    let directions = directions();
    let points = |&(radius, weight): &(f64, f64)| {
        let point = move |&(n, share): &(DVec3, f64)| Point { place: radius * n, radius, share: 3.0 * weight * share };
        directions.iter().map(point).collect::<Vec<_>>()
    };
    radii.iter().flat_map(points).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use barchan_core::rng::Random;

    #[test]
    fn the_lane_form_is_the_same_function() {
        for k in -10..130 {
            let q = f64::from(k) / 100.0;
            assert!((f64::from(extension_lane(q as f32)) - extension(q)).abs() < 1e-6, "{q}");
        }
        assert_eq!((extension(-1.0), extension(0.0), extension(1.0), extension(2.0)), (1.0, 1.0, 0.0, 0.0));
    }

    #[test]
    fn the_plane_volume_is_the_integral() {
        let n = 20_000;
        for k in -11..=21 {
            let phi = f64::from(k) / 10.0;
            let term = |i: usize| {
                let z = -1.0 + 2.0 * (i as f64 + 0.5) / n as f64;
                PI * (1.0 - z * z) * extension(phi + z) * 2.0 / n as f64
            };
            let exact = (0..n).map(term).sum::<f64>();
            let found = plane_volume(3.0 * phi, 3.0) / 27.0;
            assert!((found - exact).abs() < 1e-7, "Φ = {phi} R: {found} {exact}");
        }
        assert!((plane_volume(-1.5, 1.5) - ball(1.5)).abs() < 1e-12);
        assert_eq!(plane_volume(3.0, 1.5), 0.0);
    }

    #[test]
    fn the_quadrature_has_the_moments_of_the_ball() {
        let points = quadrature();
        assert_eq!(points.len(), RADII * DIRECTIONS);
        let mean = |f: &dyn Fn(&Point) -> f64| points.iter().map(|p| p.share * f(p)).sum::<f64>();
        assert!((mean(&|_| 1.0) - 1.0).abs() < 1e-13);
        // ⟨x²⟩ = 1/5, ⟨x⁴⟩ = 3/35, ⟨x²y²⟩ = 1/35 of the unit ball.
        for (found, exact) in [
            (mean(&|p| p.place.x), 0.0),
            (mean(&|p| p.place.z.powi(2)), 0.2),
            (mean(&|p| p.place.y.powi(4)), 3.0 / 35.0),
            (mean(&|p| (p.place.x * p.place.y).powi(2)), 1.0 / 35.0),
        ] {
            assert!((found - exact).abs() < 1e-13, "{found} {exact}");
        }
    }

    #[test]
    fn the_quadrature_finds_the_plane_in_any_direction() {
        let points = quadrature();
        let mut rng = Random::new(4, 0);
        let mut worst = [0f64; 2];
        for direction in 0..60 {
            let n = [DVec3::X, DVec3::ONE.normalize(), DVec3::new(1.0, 1.0, 0.0).normalize()]
                .get(direction)
                .copied()
                .unwrap_or_else(|| rng.direction());
            for k in 0..=40 {
                // Resting distances and twice as far: Φ from 0 to d = R/2; then up to R.
                let phi = f64::from(k) / 40.0;
                let found = ball(1.0) * points.iter().map(|p| p.share * extension(phi + n.dot(p.place))).sum::<f64>();
                let error = (found / plane_volume(phi, 1.0) - 1.0).abs();
                let far = usize::from(phi > 0.5);
                worst[far] = worst[far].max(error);
            }
        }
        assert!(worst[0] < 0.005 && worst[1] < 0.002, "{worst:?}");
    }
}
