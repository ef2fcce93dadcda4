//! Prescribed motion: pose and velocity as functions of time alone, so that nothing drifts and a resumed run agrees.

use crate::math;
use glam::{DQuat, DVec3};
use std::f64::consts::TAU;

/// Steady rotation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rotate {
    /// A point on the axis [m], before the wall's other motions carry it along.
    pub point: DVec3,
    /// Unit axis.
    pub axis: DVec3,
    /// Angular velocity, right-handed about the axis [rad/s].
    pub rate: f64,
}

/// Harmonic oscillation: displacement A (sin(2πft + φ) − sin φ), so that the wall starts from where it stands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Oscillate {
    /// Unit direction.
    pub direction: DVec3,
    /// Amplitude A [m].
    pub amplitude: f64,
    /// Frequency f [Hz].
    pub frequency: f64,
    /// Phase φ at the start [rad]; 0 starts with the greatest speed, π/2 from rest.
    pub phase: f64,
}

/// A pose to be reached at a time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Keyframe {
    /// Simulated time [s].
    pub time: f64,
    /// Displacement from the initial place [m].
    pub at: DVec3,
    /// Rotation vector about the pivot: axis times angle [rad].
    pub turn: DVec3,
}

/// Prescribed motion of a wall; its parts add up.
///
/// A point is first turned about the pivot by the keyframes, then about the rotation's axis, then displaced by the
/// velocity, the oscillation and the keyframes. Outside `from`..`until` the wall holds still.
#[derive(Clone, Debug, PartialEq)]
pub struct Motion {
    /// Constant velocity [m/s].
    pub velocity: DVec3,
    /// Steady rotation.
    pub rotate: Option<Rotate>,
    /// Harmonic oscillation.
    pub oscillate: Option<Oscillate>,
    /// Poses passed through smoothly, in order of time, starting and ending at rest; between two equal poses the wall
    /// stands still, and it never overshoots one (monotone cubics).
    pub keyframes: Vec<Keyframe>,
    /// When the motion begins [s].
    pub from: f64,
    /// When it ends [s].
    pub until: f64,
}

impl Default for Motion {
    fn default() -> Self {
        Motion {
            velocity: DVec3::ZERO,
            rotate: None,
            oscillate: None,
            keyframes: Vec::new(),
            from: 0.0,
            until: f64::INFINITY,
        }
    }
}

/// Where the motion puts the wall; see [`super::WallState`] for the convention.
pub(super) struct Pose {
    pub position: DVec3,
    pub rotation: DQuat,
    pub velocity: DVec3,
    pub spin: DVec3,
}

impl Motion {
    /// Whether the wall moves at a time [s].
    pub fn is_active(&self, time: f64) -> bool {
        time >= self.from && time < self.until
    }

    /// Whether the wall never moves by itself.
    pub fn is_still(&self) -> bool {
        self.velocity == DVec3::ZERO
            && self.rotate.is_none_or(|r| r.rate == 0.0)
            && self.oscillate.is_none_or(|o| o.amplitude == 0.0)
            && self.keyframes.is_empty()
    }

    /// Pose and velocities at a time [s] of a wall with that pivot [m].
    pub(super) fn pose(&self, pivot: DVec3, time: f64) -> Pose {
        let now = time.clamp(self.from, self.until.max(self.from));
        let elapsed = now - self.from;
        let (mut shift, mut shift_rate) = (self.velocity * elapsed, self.velocity);
        if let Some(o) = self.oscillate {
            let omega = TAU * o.frequency;
            let (sin, cos) = math::sin_cos(omega * elapsed + o.phase);
            shift += o.direction * (o.amplitude * (sin - math::sin(o.phase)));
            shift_rate += o.direction * (o.amplitude * omega * cos);
        }
        let (mut rotation, mut spin) = (DQuat::IDENTITY, DVec3::ZERO);
        if !self.keyframes.is_empty() {
            let (at, at_rate) = interpolate(&self.keyframes, now, |k| k.at);
            let (turn, turn_rate) = interpolate(&self.keyframes, now, |k| k.turn);
            shift += at;
            shift_rate += at_rate;
            rotation = DQuat::from_scaled_axis(turn);
            spin = spin_of(turn, turn_rate);
        }
        let (mut arm, mut swing) = (DVec3::ZERO, DVec3::ZERO);
        if let Some(r) = self.rotate {
            // Whole turns are taken off first: the half angle's sine loses digits as its argument grows.
            let about = DQuat::from_axis_angle(r.axis, (r.rate * elapsed) % TAU);
            let omega = r.axis * r.rate;
            let carried = about * (pivot - r.point);
            // Zero for an axis through the pivot, where rounding must not make the drum wobble.
            arm = if pivot == r.point { DVec3::ZERO } else { carried - (pivot - r.point) };
            swing = omega.cross(carried);
            rotation = about * rotation;
            spin = about * spin + omega;
        }
        let moving = self.is_active(time);
        Pose {
            position: arm + shift,
            rotation,
            velocity: if moving { swing + shift_rate } else { DVec3::ZERO },
            spin: if moving { spin } else { DVec3::ZERO },
        }
    }

    pub(super) fn check(&self, found: &mut Vec<(String, &'static str)>) {
        let mut demand = |ok: bool, problem: &str, remedy| {
            if !ok {
                found.push((problem.to_string(), remedy));
            }
        };
        demand(self.velocity.is_finite(), "its velocity is not finite", "give finite components");
        demand(
            self.from.is_finite() && self.until >= self.from,
            "its motion ends before it begins",
            "let `until` follow `from`",
        );
        if let Some(r) = self.rotate {
            demand(r.axis.is_normalized(), "its rotation has no axis", "give an axis of non-zero length");
            demand(
                r.rate.is_finite() && r.point.is_finite(),
                "its rotation is not finite",
                "give a finite rate and point",
            );
        }
        if let Some(o) = self.oscillate {
            demand(o.direction.is_normalized(), "its oscillation has no direction", "give a vector of non-zero length");
            demand(
                o.amplitude.is_finite() && o.frequency.is_finite() && o.phase.is_finite(),
                "its oscillation is not finite",
                "give a finite amplitude, frequency and phase",
            );
        }
        let finite = |k: &Keyframe| k.time.is_finite() && k.at.is_finite() && k.turn.is_finite();
        demand(self.keyframes.iter().all(finite), "a keyframe is not finite", "give finite times and poses");
        demand(
            self.keyframes.windows(2).all(|w| w[0].time < w[1].time),
            "its keyframes are out of order",
            "sort them by time, with no time twice",
        );
    }
}

/// Value and rate of the monotone cubic through one column of the keyframes.
///
/// Slopes at inner frames are Brodlie's weighted harmonic means of the neighbouring secants, zero where these differ in
/// sign [Fritsch & Butland 1984], so that nothing overshoots; slopes at the ends are zero.
fn interpolate(frames: &[Keyframe], time: f64, value: impl Fn(&Keyframe) -> DVec3) -> (DVec3, DVec3) {
    let next = frames.partition_point(|k| k.time <= time);
    if next == 0 {
        return (value(&frames[0]), DVec3::ZERO);
    }
    if next == frames.len() {
        return (value(&frames[next - 1]), DVec3::ZERO);
    }
    let slope = |i: usize| {
        if i == 0 || i + 1 == frames.len() {
            return DVec3::ZERO;
        }
        let (h0, h1) = (frames[i].time - frames[i - 1].time, frames[i + 1].time - frames[i].time);
        let before = (value(&frames[i]) - value(&frames[i - 1])) / h0;
        let after = (value(&frames[i + 1]) - value(&frames[i])) / h1;
        let weight = (h0 + 2.0 * h1) / (3.0 * (h0 + h1));
        let mean = |b: f64, a: f64| if a * b > 0.0 { a * b / (weight * a + (1.0 - weight) * b) } else { 0.0 };
        DVec3::new(mean(before.x, after.x), mean(before.y, after.y), mean(before.z, after.z))
    };
    let (a, b) = (&frames[next - 1], &frames[next]);
    let h = b.time - a.time;
    let t = (time - a.time) / h;
    let (p, q) = (value(a), value(b));
    let (m, n) = (slope(next - 1) * h, slope(next) * h);
    // Hermite basis, written as p + correction so that equal poses are kept exactly.
    let (t2, t3) = (t * t, t * t * t);
    let x = p + (q - p) * (3.0 * t2 - 2.0 * t3) + m * (t3 - 2.0 * t2 + t) + n * (t3 - t2);
    let rate = (q - p) * (6.0 * t - 6.0 * t2) + m * (3.0 * t2 - 4.0 * t + 1.0) + n * (3.0 * t2 - 2.0 * t);
    (x, rate / h)
}

/// Angular velocity of the rotation exp(φ) as the rotation vector φ changes at a rate (left Jacobian of SO(3)).
///   ω = φ̇ + (1 − cos θ)/θ² · φ × φ̇ + (θ − sin θ)/θ³ · φ × (φ × φ̇)
fn spin_of(phi: DVec3, rate: DVec3) -> DVec3 {
    let theta = phi.length();
    let cross = phi.cross(rate);
    // Below 1e-3 rad the next terms of the series are under 1e-8 of these, and the quotients would lose as much.
    let (a, b) = if theta < 1e-3 {
        (0.5 - theta * theta / 24.0, 1.0 / 6.0 - theta * theta / 120.0)
    } else {
        ((1.0 - math::cos(theta)) / (theta * theta), (theta - math::sin(theta)) / (theta * theta * theta))
    };
    rate + cross * a + phi.cross(cross) * b
}
