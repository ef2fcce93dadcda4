//! The boundary of all matter: walls with their motions, the surfaces of bodies and the relief of a ground.
//!
//! The boundary belongs to the world. At the beginning of a world step [`Boundary::advance`] moves every wall to where it is at the
//! end. Solvers ask where walls are and how they move, at the end of the step or at any time within it
//! ([`Boundary::states_at`], [`Boundary::near`]), and push back ([`Boundary::add_load`], [`Body::push`]).
//!
//! **Bodies** are integrated in one place, by the solver that has them as matter; everybody else pushes them through the boundary:
//! by *external loads*, which act until they are changed (the ground's bearing, a drive), or by *impulses* within a world step, from inside an
//! implicit solve, against the body's inverse mass matrix ([`Body::inverse_mass_at`]).

use crate::clock::Warp;
use crate::columns::{Column, Columns, Saved, Unfit, mix, of_length};
use crate::frame::WallFrame;
use crate::relief::Relief;
use crate::walls::{Bed, Control, Geometry, Wall, WallState};
use glam::{DMat3, DQuat, DVec3};
use std::sync::Arc;

/// A wall that goes along with a body, as its surface.
///
/// The body is integrated; others touch the wall, and what they do to it they do to the body. The geometry is that of the body
/// in its own frame: principal axes, centre of mass at the origin (and at the pivot).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Carried {
    /// Index of the wall.
    pub wall: u16,
    /// Id of the body.
    pub body: u32,
}

/// Walls, and which of them are surfaces of bodies: the last ones.
#[derive(Clone, Debug, Default)]
pub struct Fixtures {
    /// Walls.
    pub walls: Vec<Wall>,
    /// Surfaces of bodies.
    pub carried: Vec<Carried>,
}

impl Fixtures {
    /// Walls that are not surfaces of bodies.
    pub fn own_walls(&self) -> &[Wall] {
        &self.walls[..self.walls.len() - self.carried.len()]
    }
}

/// Where something rigid is, and how it moves.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Pose {
    /// Centre of mass, or the pivot of a wall [m].
    pub centre: DVec3,
    /// Orientation of its principal axes.
    pub rotation: DQuat,
    /// Velocity of the centre [m/s].
    pub velocity: DVec3,
    /// Angular velocity [rad/s].
    pub spin: DVec3,
    /// Inverse mass [1/kg]; 0 for what yields to nobody.
    pub inverse_mass: f64,
}

/// A force and a torque about the centre.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Load {
    /// Force [N].
    pub force: DVec3,
    /// Torque [N m].
    pub torque: DVec3,
}

impl Load {
    /// Whether nothing acts.
    pub fn is_none(&self) -> bool {
        self.force == DVec3::ZERO && self.torque == DVec3::ZERO
    }
}

impl std::ops::AddAssign for Load {
    fn add_assign(&mut self, other: Load) {
        self.force += other.force;
        self.torque += other.torque;
    }
}

/// A torque that drives a body about an axis of its own.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Drive {
    /// Unit axis in the principal frame of the body.
    pub axis: DVec3,
    /// Torque [N m].
    pub torque: f64,
    /// Rate of turning at which the torque has faded to nothing [rad/s].
    pub max_spin: Option<f64>,
    /// When it begins [s].
    pub from: Option<f64>,
    /// When it ends [s].
    pub until: Option<f64>,
}

/// Share of the largest rate of turning at which a drive's torque begins to fade: below it a motor has its full torque, and the
/// last tenth keeps the rate from overshooting within a step.
const FADING: f64 = 0.9;

impl Drive {
    /// Torque [N m] on a body with that pose at a time [s].
    pub fn torque(&self, pose: &Pose, time: f64) -> DVec3 {
        if self.from.is_some_and(|t| time < t) || self.until.is_some_and(|t| time >= t) {
            return DVec3::ZERO;
        }
        let axis = pose.rotation * self.axis;
        // Turning the way of the torque counts, whichever way that is.
        let rate = pose.spin.dot(axis) * self.torque.signum();
        let left = self.max_spin.map_or(1.0, |most| ((1.0 - rate / most) / (1.0 - FADING)).clamp(0.0, 1.0));
        axis * self.torque * left
    }
}

/// A rigid body, as everybody but its integrator sees it.
#[derive(Clone, Debug, Default)]
pub struct Body {
    /// Index of the wall that is its surface; none for one that is touched by its spheres.
    pub wall: Option<u16>,
    /// Inverse principal moments of inertia [1/(kg m²)].
    pub inverse_inertia: DVec3,
    /// What drives it.
    pub drive: Option<Drive>,
    /// Whether it is in the world. Written by its integrator, as are pose and net load.
    pub there: bool,
    /// Where it is and how it moves.
    pub pose: Pose,
    /// All that acted on it at the end of the last step, without gravity.
    pub net: Load,
    /// External load: acts until it is changed.
    external: Load,
    /// External load of the step under way, being gathered.
    gathered: Load,
    /// Impulses within the world step under way [N s], [N m s].
    pushed: Load,
}

impl Body {
    /// A body with that surface, inertia and drive, which its integrator will put somewhere.
    pub fn new(wall: Option<u16>, inverse_inertia: DVec3, drive: Option<Drive>) -> Body {
        Body { wall, inverse_inertia, drive, ..Body::default() }
    }

    /// Adds to the external load that acts from the end of this world step on.
    pub fn bear(&mut self, load: Load) {
        self.gathered += load;
    }

    /// The external load in force.
    pub fn external(&self) -> Load {
        self.external
    }

    /// Inverse tensor of inertia in the world's frame [1/(kg m²)].
    pub fn inverse_inertia(&self) -> DMat3 {
        let turn = DMat3::from_quat(self.pose.rotation);
        turn * DMat3::from_diagonal(self.inverse_inertia) * turn.transpose()
    }

    /// Velocity [m/s] and angular velocity [rad/s] it would have after `dt` [s] under its net load, gravity [m/s²] and the impulses
    /// given so far.
    pub fn predicted(&self, dt: f64, gravity: DVec3) -> (DVec3, DVec3) {
        let Pose { velocity, spin, inverse_mass, .. } = self.pose;
        let fall = if inverse_mass > 0.0 { gravity * dt } else { DVec3::ZERO };
        (
            velocity + fall + (self.net.force * dt + self.pushed.force) * inverse_mass,
            spin + self.inverse_inertia() * (self.net.torque * dt + self.pushed.torque),
        )
    }

    /// The matrix that turns an impulse at a point [m] into the change of the velocity there: K = 1/m − [r]× I⁻¹ [r]×.
    pub fn inverse_mass_at(&self, point: DVec3) -> DMat3 {
        let r = point - self.pose.centre;
        let cross =
            DMat3::from_cols(DVec3::new(0.0, r.z, -r.y), DVec3::new(-r.z, 0.0, r.x), DVec3::new(r.y, -r.x, 0.0));
        DMat3::from_diagonal(DVec3::splat(self.pose.inverse_mass)) - cross * self.inverse_inertia() * cross
    }

    /// Gives the body an impulse [N s] at a point [m], within the world step under way.
    pub fn push(&mut self, point: DVec3, impulse: DVec3) {
        self.pushed += Load { force: impulse, torque: (point - self.pose.centre).cross(impulse) };
    }

    /// Gives the body an impulse [N s] and an angular impulse about its centre [N m s], within the world step under way.
    pub fn push_load(&mut self, impulse: Load) {
        self.pushed += impulse;
    }

    /// The impulses given within this world step [N s], [N m s], for its integrator.
    pub fn pushed(&self) -> Load {
        self.pushed
    }
}

/// One surface as seen from a point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Near {
    /// Index of the wall.
    pub wall: u16,
    /// From the point to the surface [m]; negative behind it.
    pub distance: f64,
    /// Unit normal from the wall towards the point's side.
    pub normal: DVec3,
    /// Velocity of the wall's material at the nearest point [m/s].
    pub velocity: DVec3,
    /// Index of the wall's material.
    pub material: u16,
}

/// Why a relief cannot be changed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error(
    "a wall that is no relief, or a relief's place and cells, cannot be changed while matter moves; change the scene and start it anew"
)]
pub struct NoRelief;

/// The boundary of all matter.
#[derive(Clone, Debug, Default)]
pub struct Boundary {
    fixtures: Arc<Fixtures>,
    states: Vec<WallState>,
    /// States at the beginning of the world step under way.
    before: Vec<WallState>,
    /// When that was, and when the states are of [s].
    span: [f64; 2],
    /// The bodies, by id.
    pub bodies: Vec<Body>,
    clock: Warp,
    /// Acceleration of gravity [m/s²], for walls that hang on a force.
    pub gravity: DVec3,
}

impl Boundary {
    /// Walls as they stand at first, and bodies by id.
    pub fn new(fixtures: Fixtures, bodies: Vec<Body>, gravity: DVec3) -> Boundary {
        let states: Vec<WallState> = fixtures.walls.iter().map(|w| w.state_at(0.0)).collect();
        let clock = Warp::default();
        Boundary {
            before: states.clone(),
            fixtures: Arc::new(fixtures),
            states,
            span: [0.0; 2],
            bodies,
            clock,
            gravity,
        }
    }

    /// Walls and which of them are surfaces of bodies. Whoever holds this sees by [`Arc::ptr_eq`] whether a relief has changed.
    pub fn fixtures(&self) -> &Arc<Fixtures> {
        &self.fixtures
    }

    /// Walls.
    pub fn walls(&self) -> &[Wall] {
        &self.fixtures.walls
    }

    /// How the walls stand at the end of the world step, and what has been done to them in it.
    pub fn states(&self) -> &[WallState] {
        &self.states
    }

    /// Whether wall `w` can be touched: false for the surface of a body that has left.
    pub fn is_there(&self, w: usize) -> bool {
        self.carried(w).is_none_or(|body| self.bodies[body].there)
    }

    /// The body whose surface wall `w` is.
    pub fn carried(&self, w: usize) -> Option<usize> {
        let first = self.fixtures.walls.len() - self.fixtures.carried.len();
        let own = self.fixtures.carried.get(w.wrapping_sub(first)).filter(|c| c.wall as usize == w);
        own.or_else(|| self.fixtures.carried.iter().find(|c| c.wall as usize == w)).map(|c| c.body as usize)
    }

    /// Moves the walls to the end [s] of a world step of length `dt` [s]. Walls that answer to forces answer to those of the step
    /// before, which are then forgotten. Surfaces of bodies are moved by whoever integrates the bodies.
    pub fn advance(&mut self, time: f64, dt: f64) {
        self.before.clone_from(&self.states);
        self.span = [time - dt, time];
        self.spread_loads();
        let own = self.fixtures.own_walls();
        for (wall, state) in own.iter().zip(&mut self.states) {
            advance_wall(wall, state, &self.clock, time, dt, self.gravity);
        }
        for state in &mut self.states {
            (state.force, state.torque) = (DVec3::ZERO, DVec3::ZERO);
        }
        for body in &mut self.bodies {
            (body.gathered, body.pushed) = (Load::default(), Load::default());
        }
    }

    /// A servo whose area follows other walls answers to the force that its stress would be over the area it began with. Loads are forgotten
    /// when the walls have moved.
    fn spread_loads(&mut self) {
        for (w, wall) in self.fixtures.own_walls().iter().enumerate() {
            if let Some(Control::Servo(servo)) = &wall.control
                && let Some(area) = self.servo_area(w)
            {
                self.states[w].force *= servo.area / area;
            }
        }
    }

    /// The area [m²] over which the servo of a wall holds its stress now; none for a wall without a servo.
    pub fn servo_area(&self, wall: usize) -> Option<f64> {
        let Some(Control::Servo(servo)) = &self.fixtures.walls.get(wall)?.control else { return None };
        let Some(between) = &servo.between else { return Some(servo.area) };
        let distance = |[a, b]: [u16; 2]| {
            let [at_a, at_b] = [a, b].map(|w| self.fixtures.walls[w as usize].pivot(&self.states[w as usize]));
            let wall = &self.fixtures.walls[a as usize];
            match wall.plane(&self.states[a as usize], wall.smooth_key()) {
                Some((_, normal)) => (at_b - at_a).dot(normal).abs(),
                None => at_a.distance(at_b),
            }
        };
        Some(between.area(distance).max(f64::MIN_POSITIVE))
    }

    /// Puts the external loads gathered so far, and drives, in force at a time [s].
    pub fn gather(&mut self, time: f64) {
        for body in self.bodies.iter_mut().filter(|b| b.there) {
            let driven = body.drive.map_or(DVec3::ZERO, |drive| drive.torque(&body.pose, time));
            body.external = Load { torque: body.gathered.torque + driven, ..body.gathered };
        }
    }

    /// How the walls stand at a time [s] within the world step. Prescribed motions are exact; what answers to forces, and bodies,
    /// move evenly through the step.
    pub fn states_at(&self, time: f64, out: &mut Vec<WallState>) {
        out.clone_from(&self.states);
        let [from, until] = self.span;
        if time >= until {
            return;
        }
        let share = ((time - from) / (until - from)).clamp(0.0, 1.0);
        let own = self.fixtures.own_walls().len();
        for (w, ((wall, now), was)) in self.fixtures.walls.iter().zip(out.iter_mut()).zip(&self.before).enumerate() {
            // The motion of a body's surface is where the body began, not where it is.
            let prescribed = w < own && wall.control.is_none() && !wall.motion.is_still();
            if prescribed && self.clock == Warp::default() {
                let exact = wall.state_at(time);
                (now.position, now.rotation, now.velocity, now.spin) =
                    (exact.position, exact.rotation, exact.velocity, exact.spin);
            } else {
                now.position = was.position.lerp(now.position, share);
                now.rotation = was.rotation.slerp(now.rotation, share);
            }
        }
    }

    /// Adds a force [N] and a torque about its pivot [N m] to what has been done to a wall in this world step: readers see it, a
    /// controlled wall answers to it.
    pub fn add_load(&mut self, wall: usize, force: DVec3, torque: DVec3) {
        if let Some(state) = self.states.get_mut(wall) {
            state.force += force;
            state.torque += torque;
        }
    }

    /// Puts the surface of a body where the body is, and notes what acts on it; for the body's integrator.
    pub fn place_body(&mut self, id: usize, pose: Option<Pose>, net: Load) {
        let body = &mut self.bodies[id];
        body.there = pose.is_some();
        let Some(pose) = pose else { return };
        (body.pose, body.net) = (pose, net);
        if let Some(state) = body.wall.and_then(|w| self.states.get_mut(w as usize)) {
            (state.position, state.rotation) = (pose.centre, pose.rotation);
            (state.velocity, state.spin, state.inverse_mass) = (pose.velocity, pose.spin, pose.inverse_mass);
        }
    }

    /// Visits every surface within `reach` [m] of a point, with the walls in the given states.
    pub fn near(&self, states: &[WallState], x: DVec3, reach: f64, visit: &mut dyn FnMut(Near)) {
        for (w, (wall, state)) in self.fixtures.walls.iter().zip(states).enumerate() {
            if wall.least_distance(state, x) > reach || !self.is_there(w) {
                continue;
            }
            wall.surfaces(state, x, reach, &mut |found| {
                let point = x - found.normal * found.distance;
                let mut velocity = wall.surface_velocity(state, point);
                if wall.belt.is_some() {
                    velocity += wall.drift(state, found.normal);
                }
                visit(Near {
                    wall: w as u16,
                    distance: found.distance,
                    normal: found.normal,
                    velocity,
                    material: wall.material,
                });
            });
        }
    }

    /// Gives a wall that is the surface of a ground other heights, over the same cells.
    pub fn set_relief(&mut self, wall: usize, relief: Arc<Relief>) -> Result<(), NoRelief> {
        let old = self.fixtures.walls.get(wall).and_then(|w| w.bed()).map(|b| b.relief());
        let same = |o: &&Arc<Relief>| (o.origin, o.cell, o.size) == (relief.origin, relief.cell, relief.size);
        old.filter(same).ok_or(NoRelief)?;
        let of_rock = self.fixtures.walls[wall].bed().is_some_and(|b| b.is_rock());
        let bed = if of_rock { Bed::rock(relief) } else { Bed::new(relief) };
        Arc::make_mut(&mut self.fixtures).walls[wall].geometry = Geometry::Relief(Arc::new(bed));
        Ok(())
    }

    /// Lets the prescribed motion of all walls go on at `factor` times its pace, from where they stand at a time [s].
    pub fn set_pace(&mut self, factor: f64, time: f64) {
        self.clock.set(factor, time);
    }

    /// The clock of the walls' prescribed motion.
    pub fn clock(&self) -> Warp {
        self.clock
    }

    /// The walls as readers see them.
    pub fn frames(&self) -> Vec<WallFrame> {
        let frame = |(w, s): (&Wall, &WallState)| WallFrame {
            name: w.name.clone(),
            position: s.position,
            rotation: s.rotation,
            force: s.force,
            torque: s.torque,
        };
        self.fixtures.walls.iter().zip(&self.states).map(frame).collect()
    }

    /// The complete state.
    pub fn save(&self) -> Columns {
        let state = |w: &WallState| {
            let vectors = [w.position, w.velocity, w.spin, w.force, w.torque].map(|v| v.to_array()).concat();
            [&vectors[..], &w.rotation.to_array(), &w.drive(), &[w.inverse_mass]].concat()
        };
        let load = |l: Load| [l.force.to_array(), l.torque.to_array()].concat();
        let body = |b: &Body| {
            let p = &b.pose;
            let vectors = [p.centre, p.velocity, p.spin].map(|v| v.to_array()).concat();
            let there = [p.inverse_mass, f64::from(u8::from(b.there))];
            [&vectors[..], &p.rotation.to_array(), &there, &load(b.net), &load(b.external)].concat()
        };
        let mut out = vec![
            ("walls".into(), Column::F64(self.states.iter().flat_map(state).collect())),
            ("bodies".into(), Column::F64(self.bodies.iter().flat_map(body).collect())),
        ];
        if self.clock != Warp::default() {
            out.push(("clock".into(), self.clock.column()));
        }
        out
    }

    /// Takes back what [`Boundary::save`] gave. The heights of a relief are not among it: the ground hands them over.
    pub fn load(&mut self, saved: Saved<'_>) -> Result<(), Unfit> {
        let walls = saved.f64s_of("walls", WALL_NUMBERS * self.states.len())?;
        let vector = |row: &[f64], k: usize| DVec3::from_slice(&row[3 * k..3 * k + 3]);
        for (state, row) in self.states.iter_mut().zip(walls.chunks_exact(WALL_NUMBERS)) {
            (state.position, state.velocity, state.spin) = (vector(row, 0), vector(row, 1), vector(row, 2));
            (state.force, state.torque) = (vector(row, 3), vector(row, 4));
            state.rotation = DQuat::from_slice(&row[15..19]);
            state.set_drive([row[19], row[20], row[21], row[22]]);
            state.inverse_mass = row[23];
        }
        let bodies = saved.f64s("bodies")?;
        of_length("bodies", bodies.len(), BODY_NUMBERS * self.bodies.len())?;
        for (body, row) in self.bodies.iter_mut().zip(bodies.chunks_exact(BODY_NUMBERS)) {
            let (centre, velocity, spin) = (vector(row, 0), vector(row, 1), vector(row, 2));
            let rotation = DQuat::from_slice(&row[9..13]);
            body.pose = Pose { centre, rotation, velocity, spin, inverse_mass: row[13] };
            body.there = row[14] != 0.0;
            let load = |at: usize| Load { force: vector(&row[at..], 0), torque: vector(&row[at..], 1) };
            (body.net, body.external) = (load(15), load(21));
        }
        self.before.clone_from(&self.states);
        if let Some(column) = saved.find("clock") {
            self.clock = Warp::from_column(&column).ok_or_else(|| Unfit::new("column clock is not a clock"))?;
        }
        Ok(())
    }

    /// Mixes poses and loads of the walls into a hash.
    pub fn hash(&self, start: u64) -> u64 {
        let numbers = |w: &WallState| [w.position.to_array(), w.force.to_array()].concat();
        self.states.iter().flat_map(numbers).fold(start, |h, x| mix(h, x.to_bits()))
    }
}

/// Numbers of a wall in a checkpoint: five vectors, a rotation, the drive's four, the inverse mass.
const WALL_NUMBERS: usize = 24;
/// Numbers of a body in a checkpoint: three vectors, a rotation, inverse mass, presence, two loads.
const BODY_NUMBERS: usize = 27;

/// Moves a wall to a new `time` [s] by the clock of the walls. What answers to forces keeps simulated time.
fn advance_wall(wall: &Wall, state: &mut WallState, warp: &Warp, time: f64, dt: f64, gravity: DVec3) {
    wall.advance(state, warp.at(time), dt, gravity);
    if warp.factor() != 1.0 {
        let driven = wall.control.as_ref().map_or(DVec3::ZERO, |c| c.axis() * state.drive()[1]);
        state.velocity = (state.velocity - driven) * warp.factor() + driven;
        state.spin *= warp.factor();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::walls::{Geometry, Keyframe, Motion, Side};

    #[test]
    fn the_surface_of_a_body_is_where_the_body_is_at_any_time_within_a_step() {
        let shape = Geometry::Sphere { centre: DVec3::ZERO, radius: 0.1, side: Side::Outside };
        let mut wall = Wall::new("ball", shape, 0);
        // As assembled: the motion says where the body begins.
        wall.motion =
            Motion { keyframes: vec![Keyframe { time: 0.0, at: DVec3::Z, turn: DVec3::ZERO }], ..Motion::default() };
        let fixtures = Fixtures { walls: vec![wall], carried: vec![Carried { wall: 0, body: 0 }] };
        let mut boundary = Boundary::new(fixtures, vec![Body::new(Some(0), DVec3::ONE, None)], DVec3::ZERO);
        let at = |z: f64| Pose { centre: z * DVec3::Z, rotation: DQuat::IDENTITY, ..Pose::default() };
        boundary.place_body(0, Some(at(1.0)), Load::default());
        boundary.advance(0.1, 0.1);
        boundary.place_body(0, Some(at(0.8)), Load::default());
        let mut states = Vec::new();
        for (time, height) in [(0.0, 1.0), (0.05, 0.9), (0.1, 0.8)] {
            boundary.states_at(time, &mut states);
            assert!((states[0].position.z - height).abs() < 1e-12, "{time} s: {}", states[0].position.z);
        }
        boundary.advance(0.2, 0.1);
        boundary.states_at(0.1, &mut states);
        assert!((states[0].position.z - 0.8).abs() < 1e-12, "it fell back to where it began");
    }
}
