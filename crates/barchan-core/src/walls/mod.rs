//! Walls: what a grain can touch that is not a grain.
//!
//! A [`Wall`] is plain data: a [`Geometry`] where it stands at first, a material, perhaps a [`Roughness`], a prescribed
//! [`Motion`] and a [`Control`]. Its [`WallState`] says where it is now. Every query is made in the wall's own frame:
//! the point is carried back by the pose, the fixed geometry answers, and the normal is carried forward again; so a
//! moved wall gives exactly the moved answer, and a rough drum takes its bumps along.
//!
//! One wall offers several *features* to touch: the faces of a box, the spheres of a rough surface. [`Wall::features`]
//! names those near a point by a key that stays the same from step to step (it keys the memory of a contact), and
//! [`Wall::nearest`] measures one of them. Neither stores anything. Of a wall of triangles the features are the triangles near by;
//! which of them a ball touches is a question of all of them together, and [`Facets::touches`] answers it.
//!
//! **Sides.** A surface that a grain cannot walk round (plane, closed box, solid block, endless cylinder, sphere) is
//! one-sided: a centre behind it has a negative distance and is pushed back. A surface with a rim (cylinder or cone of
//! finite height, box with an open face, disc) is a thin shell: the contact is with its nearest point, rim included,
//! and the normal points to the side the centre is on. Were a shell one-sided, a grain rolling over the rim of a
//! cup would find itself "behind" the cup by its full radius in one step, and be shot away; as it is, distance is
//! continuous everywhere, and its gradient is the normal (both are tested).
//!
//! **Roughness.** The spheres are centred on the smooth surface, which stays as a backstop: no grain of any size
//! can slip between them. Where the spheres touch each other the backstop is out of reach of grains of their size.

mod bed;
mod belt;
mod closing;
mod control;
mod extent;
mod facets;
mod geometry;
mod motion;
mod rock;
mod rough;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod tests_motion;
mod touch;

pub use bed::Bed;
pub use belt::Belt;
pub use closing::{Closing, Strained};
pub use control::{Between, Control, Drive, Servo};
pub use facets::{Facets, Feature, Foot, NO_FEATURE};
pub use geometry::{Geometry, Side};
pub use motion::{Keyframe, Motion, Oscillate, Rotate};
pub use rough::Roughness;
pub use touch::{MOST_TOUCHES, Touch, Touches};

use control::DriveState;
use glam::{DQuat, DVec3};

/// Marks the key of the smooth surface under a rough wall; keys without it are spheres of the lattice.
const BACKSTOP: u32 = 1 << 31;

/// A wall of the scene.
#[derive(Clone, Debug, PartialEq)]
pub struct Wall {
    /// Name from the scene.
    pub name: String,
    /// Shape and place before any motion.
    pub geometry: Geometry,
    /// Index into the scene's materials.
    pub material: u16,
    /// Spheres that cover the surface, if it is rough.
    pub rough: Option<Roughness>,
    /// How these spheres close across periodic sides.
    pub closing: Closing,
    /// Prescribed motion.
    pub motion: Motion,
    /// Motion in answer to the grains' force, added to the prescribed one.
    pub control: Option<Control>,
    /// Motion of the surface along itself.
    pub belt: Option<Belt>,
}

/// Where a wall is, how it moves, and what the grains do to it.
///
/// The pose carries a point x₀ of the initial geometry to `rotation · (x₀ − pivot) + pivot + position`, where the pivot
/// is [`Geometry::pivot`]: the plane's point, the box's middle, the base's centre of a cylinder or cone, the centre of
/// a sphere or disc, the lower corner of a relief.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WallState {
    /// Displacement of the pivot from where it began [m].
    pub position: DVec3,
    /// How the wall has turned about its pivot.
    pub rotation: DQuat,
    /// Velocity of the pivot [m/s].
    pub velocity: DVec3,
    /// Angular velocity in the world's frame [rad/s].
    pub spin: DVec3,
    /// Force of all grains on the wall in the last step [N]; written by the solver, read by [`Control`].
    pub force: DVec3,
    /// Torque of all grains on the wall about its displaced pivot [N m]; written by the solver.
    pub torque: DVec3,
    /// One over the mass of the body whose surface it is [1/kg]; 0 for a wall that yields to nobody. Written by the solver.
    pub inverse_mass: f64,
    drive: DriveState,
}

impl Default for WallState {
    fn default() -> Self {
        WallState {
            position: DVec3::ZERO,
            rotation: DQuat::IDENTITY,
            velocity: DVec3::ZERO,
            spin: DVec3::ZERO,
            force: DVec3::ZERO,
            torque: DVec3::ZERO,
            inverse_mass: 0.0,
            drive: DriveState::default(),
        }
    }
}

impl WallState {
    /// Memory of the controlled motion, for checkpoints: displacement [m], speed [m/s], and the servo's two numbers.
    pub fn drive(&self) -> [f64; 4] {
        self.drive.to_array()
    }

    /// Puts back what [`WallState::drive`] gave.
    pub fn set_drive(&mut self, drive: [f64; 4]) {
        self.drive = DriveState::from_array(drive);
    }
}

/// One feature of a wall as seen from a point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Nearest {
    /// From the point to the surface [m]; negative behind a one-sided surface or inside a rough sphere.
    pub distance: f64,
    /// Unit normal from the wall towards the point's side: the gradient of `distance`.
    pub normal: DVec3,
    /// Radius of the rough sphere touched [m]; 0 for a smooth surface.
    pub radius: f64,
}

/// A wall that cannot be.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("wall \"{wall}\": {problem}; {remedy}")]
pub struct WallError {
    /// Name of the wall.
    pub wall: String,
    /// What is wrong.
    pub problem: String,
    /// What to do about it.
    pub remedy: &'static str,
}

impl Wall {
    /// A smooth wall at rest. Axes and normals of the geometry are brought to unit length.
    pub fn new(name: impl Into<String>, geometry: Geometry, material: u16) -> Wall {
        Wall {
            name: name.into(),
            geometry: geometry.normalised(),
            material,
            rough: None,
            closing: Closing::default(),
            motion: Motion::default(),
            control: None,
            belt: None,
        }
    }

    /// Covers the wall with spheres that close across the periodic sides of a domain, given by its corners [m].
    pub fn roughened(mut self, rough: Roughness, sides: [DVec3; 2], periodic: [bool; 3]) -> Wall {
        self.rough = Some(rough);
        self.closing = Closing::of(&self.geometry, &rough, sides, periodic);
        self
    }

    /// Every reason why this wall cannot be simulated.
    pub fn check(&self) -> Vec<WallError> {
        let mut found = Vec::new();
        self.geometry.check(&mut found);
        if let Some(rough) = &self.rough {
            rough.check(&self.geometry, &mut found);
        }
        self.motion.check(&mut found);
        if let Some(control) = &self.control {
            control.check(&mut found);
        }
        if let Some(belt) = &self.belt {
            belt.check(&mut found);
        }
        found.into_iter().map(|(problem, remedy)| WallError { wall: self.name.clone(), problem, remedy }).collect()
    }

    /// State at a time [s] when no controlled motion has happened yet.
    pub fn state_at(&self, time: f64) -> WallState {
        let mut state = WallState::default();
        self.place(&mut state, time);
        state
    }

    /// The point of the world about which the wall turns now [m], and about which its torque is taken.
    #[inline]
    pub fn pivot(&self, state: &WallState) -> DVec3 {
        self.geometry.pivot() + state.position
    }

    /// Where a point x₀ of the initial geometry is now [m].
    pub fn to_world(&self, state: &WallState, x0: DVec3) -> DVec3 {
        state.rotation * (x0 - self.geometry.pivot()) + self.pivot(state)
    }

    /// The point x in the wall's own frame, relative to the pivot [m].
    #[inline]
    fn to_own(&self, state: &WallState, x: DVec3) -> DVec3 {
        let arm = x - self.pivot(state);
        // Most walls never turn; the test is cheaper than the product, and keeps their arithmetic exact.
        if state.rotation == DQuat::IDENTITY { arm } else { state.rotation.inverse() * arm }
    }

    /// Visits the key of every feature whose surface is within `reach` [m] of the point `x` (or which `x` is behind),
    /// each once. Costs a visit per rough sphere within reach, so the reach must be finite.
    pub fn features(&self, state: &WallState, x: DVec3, reach: f64, visit: &mut dyn FnMut(u32)) {
        let q = self.to_own(state, x);
        if let Geometry::Mesh(facets) = &self.geometry {
            return facets.near(q + facets.pivot(), reach, visit);
        }
        if let Geometry::Relief(bed) = &self.geometry {
            if bed.least_distance(q) <= reach && bed.nearest(q, reach).distance < reach {
                visit(0);
            }
            return;
        }
        let base = if self.rough.is_some() { BACKSTOP } else { 0 };
        for face in self.geometry.faces() {
            if self.geometry.nearest(face, q).distance <= reach {
                visit(base | face);
            }
        }
        if let Some(rough) = &self.rough {
            rough.features(&self.geometry, &self.closing, q, reach, visit);
        }
    }

    /// Distance and normal of one feature as seen from `x`, now.
    #[inline]
    pub fn nearest(&self, state: &WallState, key: u32, x: DVec3) -> Nearest {
        let q = self.to_own(state, x);
        let mut found = match &self.rough {
            Some(rough) if key & BACKSTOP == 0 => rough.nearest(&self.geometry, &self.closing, key, q),
            _ => self.geometry.nearest(key & !BACKSTOP, q),
        };
        if state.rotation != DQuat::IDENTITY {
            found.normal = state.rotation * found.normal;
        }
        found
    }

    /// Visits distance and normal of every surface within `reach` [m] of `x`, as a solver without balls sees them: each face of a
    /// box, each sphere of a rough wall, the nearest point of a mesh, a field or a relief.
    pub fn surfaces(&self, state: &WallState, x: DVec3, reach: f64, visit: &mut dyn FnMut(Nearest)) {
        match &self.geometry {
            Geometry::Mesh(facets) => {
                let Some((distance, normal)) = facets.nearest(self.to_initial(state, x), reach) else { return };
                visit(Nearest { distance, normal: state.rotation * normal, radius: 0.0 });
            }
            Geometry::Field(field) => {
                let (distance, gradient) = field.distance_and_gradient(self.to_own(state, x));
                if distance <= reach {
                    visit(Nearest { distance, normal: state.rotation * gradient.normalize_or(DVec3::Z), radius: 0.0 });
                }
            }
            Geometry::Relief(_)
            | Geometry::Plane { .. }
            | Geometry::Box { .. }
            | Geometry::Cylinder { .. }
            | Geometry::Cone { .. }
            | Geometry::Sphere { .. }
            | Geometry::Disc { .. } => self.features(state, x, reach, &mut |key| visit(self.nearest(state, key, x))),
        }
    }

    /// As [`Wall::surfaces`], but for the spheres of a rough wall.
    pub fn smooth_surfaces(&self, state: &WallState, x: DVec3, reach: f64, visit: &mut dyn FnMut(Nearest)) {
        if let Geometry::Mesh(_) | Geometry::Field(_) | Geometry::Relief(_) = self.geometry {
            return self.surfaces(state, x, reach, visit);
        }
        let q = self.to_own(state, x);
        for face in self.geometry.faces() {
            let mut found = self.geometry.nearest(face, q);
            if found.distance <= reach {
                if state.rotation != DQuat::IDENTITY {
                    found.normal = state.rotation * found.normal;
                }
                visit(found);
            }
        }
    }

    /// [`Wall::nearest`] for a ball of that radius [m]: of a surface that it does not touch, that it is at least so far may be all that is
    /// said.
    #[inline]
    pub fn nearest_to_ball(&self, state: &WallState, key: u32, x: DVec3, radius: f64) -> Nearest {
        match &self.geometry {
            Geometry::Relief(bed) => bed.nearest(self.to_own(state, x), radius),
            _ => self.nearest(state, key, x),
        }
    }

    /// The plane of a feature that is a whole plane, now: a point of it [m] and its unit normal, towards the grains.
    #[inline]
    pub fn plane(&self, state: &WallState, key: u32) -> Option<(DVec3, DVec3)> {
        match self.geometry {
            Geometry::Plane { normal, .. } if self.rough.is_none() || key & BACKSTOP != 0 => {
                Some((self.pivot(state), state.rotation * normal))
            }
            _ => None,
        }
    }

    /// Key of the smooth surface of a wall that has one.
    pub fn smooth_key(&self) -> u32 {
        if self.rough.is_some() { BACKSTOP } else { 0 }
    }

    /// The surface of a ground, where the wall is one.
    pub fn bed(&self) -> Option<&Bed> {
        if let Geometry::Relief(bed) = &self.geometry { Some(bed) } else { None }
    }

    /// The triangles, where the wall is made of them.
    pub fn facets(&self) -> Option<&Facets> {
        if let Geometry::Mesh(facets) = &self.geometry { Some(facets) } else { None }
    }

    /// A point of the world in the frame of the wall as it was built [m].
    #[inline]
    pub fn to_initial(&self, state: &WallState, x: DVec3) -> DVec3 {
        self.to_own(state, x) + self.geometry.pivot()
    }

    /// Velocity [m/s] of the surface relative to the wall where the unit normal towards the grains is `normal`: that of a belt, else zero.
    #[inline]
    pub fn drift(&self, state: &WallState, normal: DVec3) -> DVec3 {
        self.belt.map_or(DVec3::ZERO, |belt| belt.velocity(state.rotation, normal))
    }

    /// Velocity [m/s] of the wall's material at a point of the world; that of a belt on it comes in addition ([`Wall::drift`]).
    #[inline]
    pub fn surface_velocity(&self, state: &WallState, point: DVec3) -> DVec3 {
        state.velocity + state.spin.cross(point - self.pivot(state))
    }

    /// Upper bound of the speed [m/s] with which the surface comes nearer to any point within `extent` [m] of the
    /// displaced pivot: no surface comes nearer faster than its own points move.
    ///
    /// By covariance the distance of x changes as if x moved against the wall, at −n·(v + ω × (x − pivot)); what slides
    /// a smooth surface along itself drops out, so a smooth drum turning about its axis gives 0.
    pub fn sweep_speed(&self, state: &WallState, extent: f64) -> f64 {
        let extent = match &self.geometry {
            Geometry::Mesh(facets) => extent.min(facets.extent()),
            Geometry::Field(field) => {
                let (low, high) = field.bounds();
                extent.min(low.abs().max(high.abs()).length())
            }
            _ => extent,
        };
        let all = state.velocity.length() + state.spin.length() * extent;
        if self.rough.is_some() {
            return all;
        }
        let across = |spin: DVec3, axis: DVec3| spin.reject_from_normalized(axis).length() * extent;
        match self.geometry {
            Geometry::Plane { normal, .. } => {
                let n = state.rotation * normal;
                state.velocity.dot(n).max(0.0) + across(state.spin, n)
            }
            Geometry::Sphere { .. } => state.velocity.length(),
            Geometry::Cylinder { axis, height, .. } => {
                let axis = state.rotation * axis;
                let v = if height.is_none() { state.velocity.reject_from_normalized(axis) } else { state.velocity };
                v.length() + across(state.spin, axis)
            }
            Geometry::Cone { axis, .. } | Geometry::Disc { normal: axis, .. } => {
                state.velocity.length() + across(state.spin, state.rotation * axis)
            }
            Geometry::Box { .. } | Geometry::Mesh(_) | Geometry::Field(_) | Geometry::Relief(_) => all,
        }
    }

    /// Moves the wall to the new `time` [s], a step of `dt` [s] after the last.
    ///
    /// The prescribed part is evaluated at `time`, not accumulated; the controlled part answers to `state.force`
    /// (and, for a drive, to `gravity` [m/s²]) and is integrated by one semi-implicit step.
    pub fn advance(&self, state: &mut WallState, time: f64, dt: f64, gravity: DVec3) {
        if let Some(control) = &self.control {
            if self.motion.is_active(time) {
                control.advance(&mut state.drive, state.force, dt, gravity);
            } else {
                state.drive.speed = 0.0;
            }
        }
        self.place(state, time);
    }

    fn place(&self, state: &mut WallState, time: f64) {
        let pose = self.motion.pose(self.geometry.pivot(), time);
        state.position = pose.position;
        state.rotation = pose.rotation;
        state.velocity = pose.velocity;
        state.spin = pose.spin;
        if let Some(control) = &self.control {
            state.position += control.axis() * state.drive.offset;
            state.velocity += control.axis() * state.drive.speed;
        }
    }

    /// A lower bound of [`Wall::clearance`] [m] that costs next to nothing: from the ball about the pivot that holds it.
    pub fn least_distance(&self, state: &WallState, x: DVec3) -> f64 {
        match &self.geometry {
            Geometry::Mesh(facets) => x.distance(self.pivot(state)) - facets.extent(),
            Geometry::Field(field) => {
                let (low, high) = field.bounds();
                x.distance(self.pivot(state)) - low.abs().max(high.abs()).length()
            }
            Geometry::Relief(bed) => bed.least_distance(self.to_own(state, x)),
            _ => f64::NEG_INFINITY,
        }
    }

    /// Least distance [m] from `x` to any feature: a ball of smaller radius at `x` cuts nothing.
    ///
    /// Far from a rough wall (more than four lattice spacings), from a relief (four cells) or from a field's band a lower bound
    /// is given instead of the exact value.
    pub fn clearance(&self, state: &WallState, x: DVec3) -> f64 {
        let q = self.to_own(state, x);
        if let Geometry::Mesh(facets) = &self.geometry {
            return facets.distance(q + facets.pivot());
        }
        if let Geometry::Field(field) = &self.geometry {
            let (low, high) = field.bounds();
            let beside = q.distance(q.clamp(low, high));
            return if beside > 0.0 { beside + field.band() } else { field.distance(q) };
        }
        if let Geometry::Relief(bed) = &self.geometry {
            return bed.clearance(q);
        }
        let smooth = self.geometry.faces().map(|f| self.geometry.nearest(f, q).distance).fold(f64::INFINITY, f64::min);
        let Some(rough) = &self.rough else { return smooth };
        if smooth > 4.0 * (rough.spacing + rough.radius) {
            return smooth - rough.radius;
        }
        let mut least = smooth;
        rough.features(&self.geometry, &self.closing, q, smooth, &mut |key| {
            least = least.min(rough.nearest(&self.geometry, &self.closing, key, q).distance);
        });
        least
    }
}
