//! Surfaces that move along themselves while the wall stands where it is: conveyor belts and driven rolls.
//!
//! Only the velocity of the surface is changed, which friction and rolling answer to. The wall's geometry does not move, so the belt
//! never comes nearer to anything.

use glam::{DQuat, DVec3};

/// How a surface moves along itself, in the frame of the wall as it was built.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Belt {
    /// With a velocity [m/s], of which the part along the surface counts.
    Along(DVec3),
    /// Round an axis: at a speed [m/s] along axis × normal, wherever the surface is, so that a closed belt runs round its rolls.
    Around {
        /// Unit direction of the axis.
        axis: DVec3,
        /// Speed [m/s], by the right hand about the axis where the normal points outwards.
        speed: f64,
    },
}

impl Belt {
    /// Velocity [m/s] of the surface relative to its wall, where the unit normal is `normal`, of a wall turned by `rotation`.
    ///   v = V − n (n·V), or v = s (a × n)/|a × n|
    #[inline]
    pub fn velocity(&self, rotation: DQuat, normal: DVec3) -> DVec3 {
        match *self {
            Belt::Along(velocity) => {
                let velocity = rotation * velocity;
                velocity - normal * normal.dot(velocity)
            }
            Belt::Around { axis, speed } => (rotation * axis).cross(normal).normalize_or_zero() * speed,
        }
    }

    /// Largest speed of the surface relative to its wall [m/s].
    pub fn speed(&self) -> f64 {
        match *self {
            Belt::Along(velocity) => velocity.length(),
            Belt::Around { speed, .. } => speed.abs(),
        }
    }

    pub(super) fn check(&self, found: &mut Vec<(String, &'static str)>) {
        let finite = match *self {
            Belt::Along(velocity) => velocity.is_finite(),
            Belt::Around { axis, speed } => axis.is_normalized() && speed.is_finite(),
        };
        if !finite {
            found.push((
                "the velocity of its surface is not finite".into(),
                "give a finite velocity, or a finite speed and an axis",
            ));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_belt_runs_round_its_rolls_at_one_speed_and_never_across_its_surface() {
        let belt = Belt::Around { axis: DVec3::Y, speed: 0.7 };
        assert!((belt.velocity(DQuat::IDENTITY, DVec3::Z) - DVec3::new(0.7, 0.0, 0.0)).length() < 1e-15, "above");
        assert!((belt.velocity(DQuat::IDENTITY, -DVec3::Z) + DVec3::new(0.7, 0.0, 0.0)).length() < 1e-15, "below");
        let along = Belt::Along(DVec3::new(1.0, 0.0, 0.3));
        for k in 0..50 {
            let normal = DQuat::from_scaled_axis(DVec3::new(0.1, 0.31, -0.2) * f64::from(k)) * DVec3::Z;
            for b in [belt, along] {
                let v = b.velocity(DQuat::IDENTITY, normal);
                assert!(v.dot(normal).abs() < 1e-15 && v.length() <= b.speed() + 1e-15, "{b:?} at {normal}");
            }
            let speed = belt.velocity(DQuat::IDENTITY, normal).length();
            assert!((speed - 0.7).abs() < 1e-14, "{speed}");
        }
    }
}
