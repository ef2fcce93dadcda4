//! Walls as grains meet them: how much of a kernel they cover, and how a grain is kept outside.

use glam::{DVec3, Vec3};

/// Passes over the walls near a grain: in a corner, leaving one wall may lead into another.
const PASSES: usize = 4;
/// A place counts as open by no less than this share, or deep in a wall the filling would be a quotient of two noughts.
const LEAST_OPEN: f32 = 0.02;

/// A wall as seen from a point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WallPoint {
    /// Signed distance [m]; negative inside.
    pub distance: f64,
    /// Unit normal out of the wall.
    pub normal: DVec3,
    /// Velocity of the wall there [m/s].
    pub velocity: DVec3,
    /// Coefficient of friction of grains on it.
    pub friction: f64,
}

/// Whoever knows the walls. A closure of the same arguments is one.
pub trait Walls: Sync {
    /// Visits every wall within `reach` [m] of a point [m].
    fn near(&self, point: DVec3, reach: f64, visit: &mut dyn FnMut(WallPoint));
}

impl<F: Fn(DVec3, f64, &mut dyn FnMut(WallPoint)) + Sync> Walls for F {
    fn near(&self, point: DVec3, reach: f64, visit: &mut dyn FnMut(WallPoint)) {
        self(point, reach, visit);
    }
}

/// Share of the kernel W ∝ (1 − r²)³ beyond a plane at the distance `q` (in units of its range) from the middle:
///   ∫_q^1 A(z) dz, A(z) = 2π ∫_z^1 W t dt = 315/256 (1 − z²)⁴
fn beyond(q: f32) -> f32 {
    let q = q.clamp(-1.0, 1.0);
    let s = q * q;
    let inner = q * (1.0 - s * (4.0 / 3.0 - s * (6.0 / 5.0 - s * (4.0 / 7.0 - s / 9.0))));
    0.5 - 315.0 / 256.0 * inner
}

/// Share of the kernel of that range [m] that all walls near a point leave open, Π(1 − f_b), and the distance [m] to the nearest, at most the
/// range.
pub fn covered(walls: &dyn Walls, point: DVec3, range: f64) -> (f32, f32) {
    let (mut open, mut nearest) = (1f32, range as f32);
    walls.near(point, range, &mut |wall| {
        open *= 1.0 - beyond((wall.distance / range) as f32);
        nearest = nearest.min(wall.distance as f32);
    });
    (open.max(LEAST_OPEN), nearest)
}

/// Keeps a grain outside the walls: it is moved out until it touches, loses the part of its velocity that goes into the wall, and of the
/// rest what Coulomb's law takes for that. Nothing holds it there.
pub fn keep_out(walls: &dyn Walls, x: &mut DVec3, v: &mut Vec3, radius: f64) {
    for pass in 0..PASSES {
        let mut found = false;
        let (mut place, mut velocity) = (*x, *v);
        walls.near(*x, radius, &mut |wall| {
            // What another wall has moved it already counts, as far as it goes along this normal.
            let distance = wall.distance + (place - *x).dot(wall.normal);
            if distance >= radius {
                return;
            }
            found = true;
            place += wall.normal * (radius - distance);
            let normal = wall.normal.as_vec3();
            let slip = velocity - wall.velocity.as_vec3();
            let into = -slip.dot(normal);
            if into > 0.0 && pass == 0 {
                let along = slip + into * normal;
                let speed = along.length();
                let left = if speed > 0.0 { (1.0 - wall.friction as f32 * into / speed).max(0.0) } else { 0.0 };
                velocity = wall.velocity.as_vec3() + left * along;
            }
        });
        (*x, *v) = (place, velocity);
        if !found {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_covered_share_is_the_kernel_s_integral_beyond_the_plane() {
        let kernel = |r: f64| 315.0 / (64.0 * std::f64::consts::PI) * (1.0 - r * r).powi(3);
        let n = 800;
        for q in [0.0, 0.1, 0.3, 0.5, 0.8, 0.95] {
            let mut sum = 0.0;
            for i in 0..n {
                let z = q + (1.0 - q) * (f64::from(i) + 0.5) / f64::from(n);
                for j in 0..n {
                    let t = z + (1.0 - z) * (f64::from(j) + 0.5) / f64::from(n);
                    sum += std::f64::consts::TAU * kernel(t) * t * (1.0 - z) * (1.0 - q) / f64::from(n * n);
                }
            }
            let found = f64::from(beyond(q as f32));
            assert!((found - sum).abs() < 1e-4, "{q}: {found} {sum}");
            assert!((beyond(-q as f32) + beyond(q as f32) - 1.0).abs() < 1e-5);
        }
        assert!((beyond(0.0) - 0.5).abs() < 1e-6);
    }

    #[test]
    fn a_grain_that_slides_loses_what_coulomb_takes_and_no_more() {
        let floor = |x: DVec3, reach: f64, visit: &mut dyn FnMut(WallPoint)| {
            if x.z < reach {
                visit(WallPoint { distance: x.z, normal: DVec3::Z, velocity: DVec3::X, friction: 0.5 });
            }
        };
        let (mut x, mut v) = (DVec3::new(0.0, 0.0, 0.05), Vec3::new(4.0, 0.0, -2.0));
        keep_out(&floor, &mut x, &mut v, 0.1);
        assert_eq!((x.z, v), (0.1, Vec3::new(3.0, 0.0, 0.0)));
        // Away from the wall nothing is held back.
        let (mut x, mut v) = (DVec3::new(0.0, 0.0, 0.05), Vec3::new(4.0, 0.0, 2.0));
        keep_out(&floor, &mut x, &mut v, 0.1);
        assert_eq!(v, Vec3::new(4.0, 0.0, 2.0));
        // Friction stops, and does not turn round.
        let mut v = Vec3::new(1.2, 0.0, -2.0);
        let mut x = DVec3::ZERO;
        keep_out(&floor, &mut x, &mut v, 0.1);
        assert_eq!(v, Vec3::X);
    }
}
