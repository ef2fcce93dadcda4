//! Undersides of bodies: how high the lower surface of a body is over (x, y), if the body is over it at all.

use glam::DVec3;

/// The underside of a sphere [m].
pub fn sphere(centre: DVec3, radius: f64) -> impl Fn(f64, f64) -> Option<f64> + Sync {
    move |x, y| {
        let rest = radius * radius - (x - centre.x).powi(2) - (y - centre.y).powi(2);
        (rest >= 0.0).then(|| centre.z - rest.sqrt())
    }
}

/// The underside of any solid with a distance function [m], negative inside (`Wall::clearance`, `Field::distance`), found
/// between the heights `low` and `high` [m] by sphere tracing upwards [Hart 1996] to within `tolerance` [m].
///
/// The distance may be a lower bound, but not more than the true one. A solid that reaches below `low` ends there. A ray that
/// passes a solid within the tolerance counts as touching it.
pub fn traced(
    distance: impl Fn(DVec3) -> f64 + Sync,
    [low, high]: [f64; 2],
    tolerance: f64,
) -> impl Fn(f64, f64) -> Option<f64> + Sync {
    move |x, y| {
        let mut z = low;
        while z <= high {
            let free = distance(DVec3::new(x, y, z));
            if free <= tolerance {
                return Some(z);
            }
            let next = z + free;
            // A step too small for z to change would never end; where the distance is not a number, neither is z, and the loop ends.
            if next == z {
                return Some(z);
            }
            z = next;
        }
        None
    }
}
