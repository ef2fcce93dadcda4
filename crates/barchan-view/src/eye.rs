//! The eye: a camera moved by hand. Orbits and zooms about what it looks at, pans, flies, follows a grain.

use barchan_core::frame::{Frame, Population, SphereView};
use barchan_render::Stand;
use glam::{DQuat, DVec3};

/// Steepest look up or down [rad]: straight down, left and right would have no meaning.
const STEEPEST: f64 = 1.55;
/// Radians a drag across the height of the picture turns.
const TURN: f64 = 3.0;
/// Share of the distance to the target flown in a second.
const FLY: f64 = 0.9;

/// A camera moved by hand.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Eye {
    /// Where it is.
    pub stand: Stand,
    /// The grain it follows, by id, and where that was when last seen [m].
    pub follows: Option<(Who, DVec3)>,
}

impl Eye {
    /// An eye there that follows nothing.
    pub fn at(stand: Stand) -> Eye {
        Eye { stand, follows: None }
    }

    /// Distance of the target [m].
    pub fn distance(&self) -> f64 {
        self.stand.eye.distance(self.stand.target)
    }

    /// Turns about the target by a drag, in heights of the picture: what is seen goes with the pointer.
    pub fn orbit(&mut self, right: f64, down: f64) {
        let up = self.stand.up;
        let arm = DQuat::from_axis_angle(up, -TURN * right) * (self.stand.eye - self.stand.target);
        let distance = arm.length();
        let elevation = arm.angle_between(-up) - std::f64::consts::FRAC_PI_2;
        let turned = (elevation + TURN * down).clamp(-STEEPEST, STEEPEST);
        let level = arm.reject_from_normalized(up).normalize_or(up.any_orthonormal_vector());
        self.stand.eye = self.stand.target + distance * (level * turned.cos() + up * turned.sin());
    }

    /// Shifts eye and target by a drag, in heights of the picture: the target goes with the pointer.
    pub fn pan(&mut self, right: f64, down: f64) {
        let [x, y, _] = self.stand.axes();
        let height = 2.0 * (0.5 * self.stand.field).tan() * self.distance();
        self.shift((y * down - x * right) * height);
        self.follows = None;
    }

    /// Brings the eye nearer by a factor below 1, or farther.
    pub fn zoom(&mut self, factor: f64) {
        let arm = self.stand.eye - self.stand.target;
        // Beyond these the picture's f32 coordinates would show.
        let distance = (arm.length() * factor).clamp(1e-5, 1e5);
        self.stand.eye = self.stand.target + arm.normalize_or(DVec3::Z) * distance;
    }

    /// Flies for `seconds` in a direction: right, up, forward.
    pub fn fly(&mut self, direction: DVec3, seconds: f64) {
        let [x, y, z] = self.stand.axes();
        let way = x * direction.x + y * direction.y + z * direction.z;
        self.shift(way * (FLY * seconds * self.distance()));
        self.follows = None;
    }

    /// Goes along with the grain it follows; lets it go if that is gone.
    pub fn follow(&mut self, frame: &Frame) {
        let Some((who, last)) = self.follows else { return };
        match who.find(frame).map(|(p, g)| p.position[g]).filter(|x| x.is_finite()) {
            Some(now) => {
                self.shift(now - last);
                self.follows = Some((who, now));
            }
            None => self.follows = None,
        }
    }

    fn shift(&mut self, by: DVec3) {
        self.stand.eye += by;
        self.stand.target += by;
    }

    /// Direction through a place of the picture: −1 to 1 from left to right and from the foot to the top.
    pub fn ray(&self, place: [f64; 2], aspect: f64) -> DVec3 {
        let [x, y, z] = self.stand.axes();
        let tan = (0.5 * self.stand.field).tan();
        (z + x * (place[0] * tan * aspect) + y * (place[1] * tan)).normalize()
    }

    /// Where a point is in the picture, as in [`Eye::ray`], and how far away [m]; none behind the eye.
    pub fn project(&self, point: DVec3, aspect: f64) -> Option<([f64; 2], f64)> {
        let [x, y, z] = self.stand.axes();
        let arm = point - self.stand.eye;
        let depth = arm.dot(z);
        let tan = (0.5 * self.stand.field).tan() * depth;
        (depth > 0.0).then(|| ([arm.dot(x) / (tan * aspect), arm.dot(y) / tan], depth))
    }
}

/// A grain, whichever frame it is in: place of its population among those of the frame, and its id there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Who {
    /// Place of its population.
    pub population: usize,
    /// Its id.
    pub id: u32,
}

impl Who {
    /// Its population and its row there; none where it is gone.
    pub fn find(self, frame: &Frame) -> Option<(&Population, usize)> {
        let population = frame.populations.get(self.population)?;
        Some((population, population.id.iter().position(|id| *id == self.id)?))
    }
}

/// The nearest sphere of a frame that a ray meets: its grain, and the point [m]. A ray that starts inside a
/// sphere leaves that one out.
pub fn pick(frame: &Frame, eye: DVec3, ray: DVec3) -> Option<(Who, DVec3)> {
    let met = |s: SphereView| {
        let arm = s.centre - eye;
        let along = arm.dot(ray);
        let miss = (arm - ray * along).length_squared();
        let half = (s.radius * s.radius - miss).sqrt();
        let near = along - half;
        (near > 0.0).then_some((s.grain, near))
    };
    let nearest = |(population, p): (usize, &Population)| {
        let (row, near) = p.spheres().filter_map(met).min_by(|a, b| a.1.total_cmp(&b.1))?;
        Some((Who { population, id: p.id[row] }, near))
    };
    let all = frame.populations.iter().enumerate().filter_map(nearest);
    let (who, near) = all.min_by(|a, b| a.1.total_cmp(&b.1))?;
    Some((who, eye + ray * near))
}

/// Where a ray meets the ground of a frame [m].
pub fn ground(frame: &Frame, eye: DVec3, ray: DVec3) -> Option<DVec3> {
    Some(eye + ray * frame.ground.as_ref()?.meet(eye, ray)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn eye() -> Eye {
        Eye::at(Stand { eye: DVec3::new(0.0, -2.0, 0.5), target: DVec3::ZERO, up: DVec3::Z, field: Stand::FIELD })
    }

    #[test]
    fn orbiting_keeps_the_distance_and_never_turns_over() {
        let mut e = eye();
        let distance = e.distance();
        e.orbit(0.3, 0.1);
        assert!((e.distance() - distance).abs() < 1e-12 && e.stand.eye.x < 0.0 && e.stand.eye.z > 0.5);
        for _ in 0..50 {
            e.orbit(0.0, 0.2);
        }
        assert!(e.stand.eye.z < distance && e.stand.eye.z > 0.99 * distance);
        assert!(e.stand.axes()[1].z > 0.0, "up is still up");
    }

    #[test]
    fn panning_moves_the_target_with_the_pointer() {
        let mut e = eye();
        let before = DVec3::ZERO;
        e.pan(0.25, 0.1);
        let (place, _) = e.project(before, 1.5).unwrap();
        // A quarter of the height to the right is half a half-height, over the aspect; down is negative.
        assert!((place[0] - 0.5 / 1.5).abs() < 1e-9 && (place[1] + 0.2).abs() < 1e-9, "{place:?}");
    }

    #[test]
    fn a_ray_and_its_projection_are_inverse() {
        let e = eye();
        let ray = e.ray([0.4, -0.7], 1.6);
        let (place, _) = e.project(e.stand.eye + ray * 3.0, 1.6).unwrap();
        assert!((place[0] - 0.4).abs() < 1e-12 && (place[1] + 0.7).abs() < 1e-12);
        assert_eq!(e.project(e.stand.eye - ray, 1.6), None);
    }

    fn frame(at: &[DVec3], radius: f64) -> Frame {
        let n = at.len();
        Frame::of(Population {
            name: "grains".into(),
            position: at.to_vec().into(),
            velocity: vec![DVec3::ZERO; n].into(),
            spin: vec![DVec3::ZERO; n].into(),
            radius: vec![radius; n].into(),
            mass: vec![1.0; n].into(),
            id: (0..n as u32).map(|i| 10 + i).collect(),
            material: vec![0; n].into(),
            ..Population::default()
        })
    }

    #[test]
    fn the_nearest_grain_under_the_pointer_is_picked_at_its_surface() {
        let mut f = frame(&[DVec3::Y, DVec3::ZERO, DVec3::X * 0.3], 0.1);
        let (grain, point) = pick(&f, DVec3::NEG_Y * 2.0, DVec3::Y).unwrap();
        assert_eq!(grain, Who { population: 0, id: 11 });
        assert!((point - DVec3::NEG_Y * 0.1).length() < 1e-12);
        assert_eq!(pick(&f, DVec3::NEG_Y * 2.0, DVec3::Z), None);
        f.populations.extend(frame(&[DVec3::NEG_Y], 0.2).populations);
        let (grain, point) = pick(&f, DVec3::NEG_Y * 2.0, DVec3::Y).unwrap();
        assert_eq!(grain, Who { population: 1, id: 10 });
        assert!((point - DVec3::NEG_Y * 1.2).length() < 1e-12);
        assert_eq!(grain.find(&f).map(|(p, row)| p.position[row]), Some(DVec3::NEG_Y));
    }

    #[test]
    fn a_followed_grain_keeps_its_place_in_the_picture_until_it_is_gone() {
        let mut e = eye();
        e.follows = Some((Who { population: 0, id: 11 }, DVec3::ZERO));
        let before = e.stand.eye;
        e.follow(&frame(&[DVec3::ONE, DVec3::new(0.1, 0.2, 0.3)], 0.1));
        assert!((e.stand.eye - before - DVec3::new(0.1, 0.2, 0.3)).length() < 1e-12);
        e.follow(&frame(&[DVec3::ONE], 0.1));
        assert_eq!(e.follows, None);
    }
}
