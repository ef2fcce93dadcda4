//! The integrate pass: kick, drift, turn, and the new records.
//!
//! Reads the loads; writes grains and the records of their spheres. Verlet is run as kick–drift: velocities are kept half
//! a step back, which is velocity Verlet without touching them twice. A record carries the velocity of the full step,
//! extrapolated by the acceleration at hand, so that damping is second order too: with the half-step velocity the
//! restitution of a strongly damped impact would be wrong by several per cent at usual time steps.

use crate::settings::Integrator;
use crate::state::{Grains, Load, Record, Spheres, vec3, with};
use barchan_core::shapes::Shape;
use barchan_core::simd::{Quad, Real, Simd};
use glam::{DMat3, DQuat, DVec3};
use std::ops::Range;

/// The pass's constants.
#[derive(Clone, Copy)]
pub struct Clock<'a> {
    pub dt: f64,
    pub gravity: DVec3,
    pub integrator: Integrator,
    pub shapes: &'a [Shape],
}

/// Rows that follow each other, of one block: a permission slip.
pub struct Block<'a, R> {
    /// Empty where all are spheres.
    pub centre: &'a mut [[f64; 4]],
    pub velocity: &'a mut [[f64; 4]],
    pub momentum: &'a mut [[f64; 4]],
    pub turn: &'a mut [DQuat],
    pub budget: &'a mut [f32],
    pub shape: &'a [u16],
    /// First sphere of each grain, and the end; empty where all are spheres.
    pub first: &'a [u32],
    pub records: &'a mut [Record<R>],
    pub loads: &'a [Load<R>],
}

impl<'a, R> Block<'a, R> {
    /// The rows of these pieces, which are in order.
    pub fn cut(grains: &'a mut Grains, spheres: &'a mut Spheres<R>, pieces: &[Range<usize>]) -> Vec<Block<'a, R>> {
        let turns = !grains.all_spheres();
        let (mut velocity, mut momentum) = (Rest::of(&mut grains.velocity), Rest::of(&mut grains.momentum));
        let (mut budget, mut centre) = (Rest::of(&mut grains.budget), Rest::of(&mut grains.centre));
        let (mut turn, mut records) = (Rest::of(&mut grains.turn), Rest::of(&mut spheres.record));
        let (shape, first, loads) = (&grains.shape[..], &grains.first[..], &spheres.load[..]);
        let block = |own: &Range<usize>| {
            let (turned, first) = if turns { (own.clone(), &first[own.start..=own.end]) } else { (0..0, &first[..0]) };
            let balls = match first {
                [from, .., to] => *from as usize..*to as usize,
                _ => own.clone(),
            };
            Block {
                centre: centre.take(turned.clone()),
                velocity: velocity.take(own.clone()),
                momentum: momentum.take(own.clone()),
                turn: turn.take(turned),
                budget: budget.take(own.clone()),
                shape: &shape[own.clone()],
                first,
                records: records.take(balls.clone()),
                loads: &loads[balls],
            }
        };
        pieces.iter().map(block).collect()
    }
}

/// What is left of a column after pieces were taken, and where it begins.
struct Rest<'a, T>(&'a mut [T], usize);

impl<'a, T> Rest<'a, T> {
    fn of(column: &'a mut [T]) -> Rest<'a, T> {
        Rest(column, 0)
    }

    /// A piece that begins no earlier than the last one ended.
    fn take(&mut self, piece: Range<usize>) -> &'a mut [T] {
        let Rest(left, at) = std::mem::replace(self, Rest(&mut [], piece.end));
        let (taken, left) = left[piece.start - at..].split_at_mut(piece.len());
        self.0 = left;
        taken
    }
}

/// Share of the velocity that a kick leaves; how far a record's velocity is extrapolated; whether the drift comes first.
struct Scheme {
    keep: f64,
    ahead: f64,
    drift_first: bool,
}

impl Scheme {
    fn of(integrator: Integrator, dt: f64) -> Scheme {
        match integrator {
            Integrator::VelocityVerlet => Scheme { keep: 1.0, ahead: 0.5 * dt, drift_first: false },
            Integrator::SemiImplicitEuler => Scheme { keep: 1.0, ahead: 0.0, drift_first: false },
            Integrator::PositionVerlet { dissipation } => {
                Scheme { keep: 1.0 - dissipation, ahead: 0.0, drift_first: false }
            }
            Integrator::ForwardEuler => Scheme { keep: 1.0, ahead: 0.0, drift_first: true },
        }
    }
}

/// How far back velocities are kept.
pub fn lag(integrator: Integrator, dt: f64) -> f64 {
    match integrator {
        Integrator::VelocityVerlet => 0.5 * dt,
        _ => 0.0,
    }
}

/// Advances the grains of a block by one step. Whether some grain has spent its budget, so that lists must be rebuilt; a broken
/// one, whose budget is NaN, has.
#[inline(always)]
pub fn block<S: Simd>(clock: &Clock<'_>, b: Block<'_, S::Real>) -> bool {
    if b.first.is_empty() { spheres::<S>(clock, b) } else { clumps(clock, b) }
}

/// Grains whose budgets are seen to together: a root a grain would be a chain as long as all the rest.
const TOGETHER: usize = 64;

/// Every vector is kept as four doubles and every operation done on all four; a factor of 0 in the fourth place leaves what
/// stands there (a radius, an inverse mass) alone.
#[inline(always)]
fn spheres<S: Simd>(clock: &Clock<'_>, b: Block<'_, S::Real>) -> bool {
    let Scheme { keep, ahead, drift_first } = Scheme::of(clock.integrator, clock.dt);
    let dt = S::Q::of([clock.dt, clock.dt, clock.dt, 0.0]);
    let ahead = S::Q::of([ahead, ahead, ahead, 0.0]);
    let keep = S::Q::of([keep, keep, keep, 1.0]);
    let three = S::Q::of([1.0, 1.0, 1.0, 0.0]);
    let gravity = S::Q::of(with(clock.gravity, 0.0));
    let n = b.velocity.len();
    let (velocity, momentum) = (&mut b.velocity[..n], &mut b.momentum[..n]);
    let (budget, records, loads) = (&mut b.budget[..n], &mut b.records[..n], &b.loads[..n]);
    let step = clock.dt as f32;
    let mut spent = false;
    let mut moved = [0f32; TOGETHER];
    let mut begin = 0;
    while begin < n {
        let end = (begin + TOGETHER).min(n);
        for (k, moved) in (begin..end).zip(&mut moved) {
            let [fx, fy, fz, tx, ty, tz, contacts, _] = loads[k].0;
            let force = S::widen4([fx, fy, fz, tx]);
            let torque = S::widen4([tx, ty, tz, contacts]);
            let (old, l) = (S::Q::of(velocity[k]), S::Q::of(momentum[k]));
            let a = gravity + force * (old.last() * three);
            let v = old * keep + a * dt;
            let l_new = l * keep + torque * dt;
            let moving = if drift_first { old } else { v };
            let record = &mut records[k];
            record.place = (S::Q::of(record.place) + moving * dt).to_array();
            velocity[k] = v.to_array();
            momentum[k] = l_new.to_array();
            let [vx, vy, vz, _] = S::narrow4(v + a * ahead);
            // The fourth of the spin is the inverse mass, which the record has next to it.
            let [wx, wy, wz, mass] = S::narrow4(((l_new + torque * ahead) * l.last()).with_last(old));
            record.motion = [vx, vy, vz, wx, wy, wz, mass, record.motion[7]];
            let [x, y, z, _] = (moving * moving).to_array();
            *moved = (x + y + z) as f32;
        }
        for (left, moved) in budget[begin..end].iter_mut().zip(moved) {
            *left -= moved.sqrt() * step;
            spent |= is_spent(*left);
        }
        begin = end;
    }
    spent
}

/// NaN counts as spent.
#[inline(always)]
pub fn is_spent(budget: f32) -> bool {
    budget < 0.0 || budget.is_nan()
}

/// exp of a rotation vector: the exact turn by a constant angular velocity. Small angles, which is all a step makes, by
/// the series, whose first term left out is below the last bit.
#[inline(always)]
pub fn turn_by(rotation: DVec3) -> DQuat {
    let h = 0.25 * rotation.length_squared();
    if h > 1e-3 {
        return DQuat::from_scaled_axis(rotation);
    }
    let sine = 0.5 * (1.0 - h / 6.0 * (1.0 - h / 20.0 * (1.0 - h / 42.0)));
    let cosine = 1.0 - h / 2.0 * (1.0 - h / 12.0 * (1.0 - h / 30.0 * (1.0 - h / 56.0)));
    DQuat::from_xyzw(sine * rotation.x, sine * rotation.y, sine * rotation.z, cosine)
}

#[inline(always)]
fn clumps<R: Real>(clock: &Clock<'_>, b: Block<'_, R>) -> bool {
    let Scheme { keep, ahead, drift_first } = Scheme::of(clock.integrator, clock.dt);
    let dt = clock.dt;
    let mut spent = false;
    for k in 0..b.centre.len() {
        let shape = &clock.shapes[b.shape[k] as usize];
        let [from, to] = [b.first[k], b.first[k + 1]].map(|s| (s - b.first[0]) as usize);
        let own = from..to;
        let x = vec3(&b.centre[k]);
        let (mut force, mut torque) = (DVec3::ZERO, DVec3::ZERO);
        for (load, record) in b.loads[own.clone()].iter().zip(&b.records[own.clone()]) {
            let load = load.0.map(Into::<f64>::into);
            let f = DVec3::new(load[0], load[1], load[2]);
            force += f;
            torque += DVec3::new(load[3], load[4], load[5]) + (vec3(&record.place) - x).cross(f);
        }
        let (inverse_mass, radius) = (b.velocity[k][3], b.centre[k][3]);
        let a = force * inverse_mass + clock.gravity;
        let old = vec3(&b.velocity[k]);
        let v = keep * old + a * dt;
        let l = keep * vec3(&b.momentum[k]) + torque * dt;
        let inverse = inverse_mass * shape.volume() / (radius * radius) / shape.inertia();
        let top = shape.is_round_top();
        let spin = |q: DQuat, l: DVec3| if top { inverse.x * l } else { q * (inverse * (q.inverse() * l)) };

        // The angular velocity of a tumbling body changes with its orientation while its momentum stays: take it in the
        // middle of the step, found by two rounds from the beginning [after Fincham 1992]. That of a round top does not.
        let q = b.turn[k];
        let mut middle = q;
        if !top {
            for _ in 0..2 {
                middle = turn_by(spin(middle, l) * (0.5 * dt)) * q;
            }
        }
        let turned = (turn_by(spin(middle, l) * dt) * q).normalize();
        let moving = if drift_first { old } else { v };
        let x = x + moving * dt;
        b.centre[k] = with(x, radius);
        b.velocity[k] = with(v, inverse_mass);
        b.momentum[k] = with(l, b.momentum[k][3]);
        b.turn[k] = turned;

        let (v, w) = (v + a * ahead, spin(turned, l + torque * ahead));
        place_spheres(shape, x, turned, radius, v, w, &mut b.records[own]);
        let reach = shape.bounding_radius() * radius;
        b.budget[k] -= ((moving.length() + w.length() * reach) * dt) as f32;
        spent |= is_spent(b.budget[k]);
    }
    spent
}

/// Writes the records of one grain's spheres [Longmore 2009, eqs. 3.42, 3.43].
#[inline(always)]
pub fn place_spheres<R: Real>(
    shape: &Shape,
    x: DVec3,
    turn: DQuat,
    radius: f64,
    v: DVec3,
    w: DVec3,
    records: &mut [Record<R>],
) {
    // A matrix turns several vectors in half the work of a quaternion.
    let axes = DMat3::from_quat(turn) * radius;
    for (record, sphere) in records.iter_mut().zip(shape.spheres()) {
        let arm = axes * sphere.centre;
        let vs = v + w.cross(arm);
        record.place = with(x + arm, sphere.radius * radius);
        let [_, _, _, _, _, _, mass, tag] = record.motion;
        record.motion = [R::of(vs.x), R::of(vs.y), R::of(vs.z), R::of(w.x), R::of(w.y), R::of(w.z), mass, tag];
    }
}

/// Force [N] and torque about the centre of mass [N m] on grain `g`.
pub fn net_load<R: Real>(grains: &Grains, records: &[Record<R>], loads: &[Load<R>], g: usize) -> (DVec3, DVec3) {
    let x = vec3(grains.place(g, records));
    let (mut force, mut torque) = (DVec3::ZERO, DVec3::ZERO);
    for s in grains.spheres_of(g..g + 1) {
        let load = loads[s].0.map(Into::<f64>::into);
        let f = DVec3::new(load[0], load[1], load[2]);
        force += f;
        torque += DVec3::new(load[3], load[4], load[5]) + (vec3(&records[s].place) - x).cross(f);
    }
    (force, torque)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_series_turns_as_the_exact_exponential() {
        for angle in [1e-9, 1e-4, 1e-2, 0.06, 0.0632, 0.0633, 1.0] {
            let rotation = DVec3::new(0.36, -0.48, 0.8) * angle;
            let (series, exact) = (turn_by(rotation), DQuat::from_scaled_axis(rotation));
            assert!((series - exact).length() < 3e-16, "{angle}: {series} against {exact}");
        }
    }
}
