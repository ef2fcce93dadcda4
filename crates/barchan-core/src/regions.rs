//! Simple bodies of space: where to fill, count, pour and remove.

use crate::math;
use crate::rng::Random;
use glam::DVec3;
use std::f64::consts::PI;

/// A region of space. Lengths in metres.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Region {
    /// A block along the axes.
    Box {
        /// Lowest corner [m].
        min: DVec3,
        /// Highest corner [m].
        max: DVec3,
    },
    /// A solid cylinder.
    Cylinder {
        /// Centre of the base [m].
        base: DVec3,
        /// Unit axis, from the base upwards.
        axis: DVec3,
        /// Radius [m].
        radius: f64,
        /// Height [m].
        height: f64,
    },
    /// A ball.
    Sphere {
        /// Centre [m].
        centre: DVec3,
        /// Radius [m].
        radius: f64,
    },
}

impl Region {
    /// Whether the point lies in the region, its surface included.
    pub fn contains(&self, x: DVec3) -> bool {
        self.contains_ball(x, 0.0)
    }

    /// Whether a whole ball of radius `r` [m] about `x` lies in the region.
    pub fn contains_ball(&self, x: DVec3, r: f64) -> bool {
        match *self {
            Region::Box { min, max } => (x - r).cmpge(min).all() && (x + r).cmple(max).all(),
            Region::Cylinder { base, axis, radius, height } => {
                let arm = x - base;
                let z = arm.dot(axis);
                let room = radius - r;
                z >= r && z <= height - r && room >= 0.0 && (arm - axis * z).length_squared() <= room * room
            }
            Region::Sphere { centre, radius } => radius >= r && (x - centre).length_squared() <= (radius - r).powi(2),
        }
    }

    /// Volume [m³].
    pub fn volume(&self) -> f64 {
        self.inset_volume(0.0)
    }

    /// Volume open to the centres of balls of radius `r` [m] that stay within [m³].
    pub fn inset_volume(&self, r: f64) -> f64 {
        match *self {
            Region::Box { min, max } => (max - min - 2.0 * r).max(DVec3::ZERO).element_product(),
            Region::Cylinder { radius, height, .. } => PI * (radius - r).max(0.0).powi(2) * (height - 2.0 * r).max(0.0),
            Region::Sphere { radius, .. } => 4.0 / 3.0 * PI * (radius - r).max(0.0).powi(3),
        }
    }

    /// Lowest and highest corner of the smallest box along the axes that holds the region [m].
    pub fn bounds(&self) -> (DVec3, DVec3) {
        match *self {
            Region::Box { min, max } => (min, max),
            Region::Cylinder { base, axis, radius, height } => {
                let top = base + axis * height;
                // A disc of normal a reaches √(1 − aᵢ²) of its radius along direction i.
                let reach = (DVec3::ONE - axis * axis).max(DVec3::ZERO).powf(0.5) * radius;
                (base.min(top) - reach, base.max(top) + reach)
            }
            Region::Sphere { centre, radius } => (centre - radius, centre + radius),
        }
    }

    /// A point evenly drawn from those where a ball of radius `r` [m] fits; none where it does not.
    pub fn sample(&self, r: f64, rng: &mut Random) -> Option<DVec3> {
        match *self {
            Region::Box { min, max } => {
                let (a, b) = (min + r, max - r);
                let share = DVec3::new(rng.uniform(), rng.uniform(), rng.uniform());
                a.cmple(b).all().then(|| a + (b - a) * share)
            }
            Region::Cylinder { base, axis, radius, height } => {
                let (rho, z) = ((radius - r) * rng.uniform().sqrt(), rng.range(r, height - r));
                let (sin, cos) = math::sin_cos(rng.range(0.0, 2.0 * PI));
                let (u, v) = axis.any_orthonormal_pair();
                (radius >= r && height >= 2.0 * r).then(|| base + axis * z + (u * cos + v * sin) * rho)
            }
            Region::Sphere { centre, radius } => {
                let at = rng.in_ball();
                (radius >= r).then(|| centre + at * (radius - r))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn regions() -> [Region; 4] {
        let (a, b) = (DVec3::new(-1.0, 0.5, 2.0), DVec3::new(0.5, 2.0, 2.8));
        let axis = DVec3::new(1.0, -2.0, 0.5).normalize();
        [
            Region::Box { min: a, max: b },
            Region::Cylinder { base: a, axis, radius: 0.7, height: 1.3 },
            Region::Cylinder { base: a, axis: DVec3::Z, radius: 0.7, height: 1.3 },
            Region::Sphere { centre: b, radius: 0.9 },
        ]
    }

    #[test]
    fn volume_is_the_share_of_the_bounds_that_is_contained() {
        for region in regions() {
            let (min, max) = region.bounds();
            let mut rng = Random::new(1, 2);
            let n = 200_000;
            let hits = |r: f64, rng: &mut Random| {
                let outer = Region::Box { min, max };
                (0..n).filter(|_| region.contains_ball(outer.sample(0.0, rng).unwrap(), r)).count() as f64 / n as f64
            };
            let whole = (max - min).element_product();
            assert!((hits(0.0, &mut rng) * whole - region.volume()).abs() < 0.006 * whole, "{region:?}");
            assert!((hits(0.2, &mut rng) * whole - region.inset_volume(0.2)).abs() < 0.006 * whole, "{region:?}");
        }
    }

    #[test]
    fn bounds_are_touched_on_every_side() {
        for region in regions() {
            let mut rng = Random::new(3, 4);
            let (mut low, mut high) = (DVec3::INFINITY, DVec3::NEG_INFINITY);
            for _ in 0..300_000 {
                let x = region.sample(0.0, &mut rng).unwrap();
                (low, high) = (low.min(x), high.max(x));
            }
            let (min, max) = region.bounds();
            assert!(low.cmpge(min - 1e-12).all() && high.cmple(max + 1e-12).all(), "{region:?}");
            assert!((low - min).max_element() < 0.05 && (max - high).max_element() < 0.05, "{region:?}");
        }
    }

    #[test]
    fn a_ball_within_has_all_its_surface_within() {
        for region in regions() {
            let mut rng = Random::new(5, 6);
            for _ in 0..2000 {
                let r = rng.range(0.0, 0.35);
                let x = region.sample(r, &mut rng).unwrap();
                assert!(region.contains_ball(x, r * (1.0 - 1e-9) - 1e-12));
                assert!((0..20).all(|_| region.contains(x + rng.direction() * (r - 1e-9))), "{region:?}");
            }
            assert_eq!(region.sample(2.0, &mut rng), None);
        }
    }
}
