//! Walls that answer to the grains' force: a plunger with a mass and a load, and a servo that holds a stress.

use glam::DVec3;

/// A plunger: a mass that slides along an axis under a load, its weight and the grains.
///   m a = load + (F + m g)·axis − damping v
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Drive {
    /// Unit direction in which the load pushes, fixed in the world.
    pub axis: DVec3,
    /// Mass [kg].
    pub mass: f64,
    /// Load along the axis [N], added to the part of the plunger's own weight that acts along it, m g·axis.
    pub load: f64,
    /// Viscous resistance of the guide [N s/m].
    pub damping: f64,
}

/// A servo: moves along an axis so that the grains press back with a given stress.
///
/// The speed is `max_speed` times the relative error of the stress, 1 − σ/σ₀, held within ±1; that is a plate pulled by
/// the force σ₀A through a dashpot of σ₀A/`max_speed`: a passive thing, which cannot set a packing swinging however
/// soft, heavy or deep it is. Only the finite step can: the contacts' stiffness K asks that the plate move no further
/// in a step than the overlap at the target, `max_speed`·dt < σ₀A/K. Where it is set faster, the error changes sign
/// from step to step; the gain (1 at first) is halved at each change of sign and grows back by 5 % a step, so the plate
/// settles just below its limit instead of hammering.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Servo {
    /// Unit direction in which the wall pushes the grains, fixed in the world.
    pub axis: DVec3,
    /// Stress to hold [Pa], positive in compression.
    pub stress: f64,
    /// Area over which the grains press [m²]; where it follows other walls, that at the start.
    pub area: f64,
    /// Walls that bound the area, where it follows them.
    pub between: Option<Between>,
    /// Speed of the wall when the grains do not press at all [m/s]; never exceeded.
    pub max_speed: f64,
}

/// An area that follows the walls that bound it: the product of the distances of one or two pairs of walls, and of a width where it is one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Between {
    /// Indices of the walls of each pair.
    pub pairs: [Option<[u16; 2]>; 2],
    /// Width in the direction that has no pair [m]; 1 where both have.
    pub width: f64,
}

impl Between {
    /// The area [m²] from the distance of two walls [m].
    pub fn area(&self, distance: impl Fn([u16; 2]) -> f64) -> f64 {
        self.pairs.iter().flatten().map(|pair| distance(*pair)).product::<f64>() * self.width
    }
}

/// How a wall answers to the grains.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Control {
    /// By its inertia.
    Drive(Drive),
    /// By holding a stress.
    Servo(Servo),
}

/// What the controlled motion remembers from step to step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct DriveState {
    /// Displacement along the axis [m].
    pub offset: f64,
    /// Speed along the axis [m/s].
    pub speed: f64,
    /// The servo's present share of the full gain.
    pub gain: f64,
    /// Relative stress error of the last step.
    pub error: f64,
}

impl Default for DriveState {
    fn default() -> Self {
        DriveState { offset: 0.0, speed: 0.0, gain: 1.0, error: 0.0 }
    }
}

impl DriveState {
    pub fn to_array(self) -> [f64; 4] {
        [self.offset, self.speed, self.gain, self.error]
    }

    pub fn from_array([offset, speed, gain, error]: [f64; 4]) -> Self {
        DriveState { offset, speed, gain, error }
    }
}

/// Growth of the servo's gain in a quiet step: some 14 quiet steps undo one halving.
const GAIN_RECOVERY: f64 = 1.05;
/// Least share of the full gain, so that the servo never goes to sleep.
const LEAST_GAIN: f64 = 1e-6;

impl Control {
    /// Unit direction of the one degree of freedom.
    pub fn axis(&self) -> DVec3 {
        match self {
            Control::Drive(d) => d.axis,
            Control::Servo(s) => s.axis,
        }
    }

    pub(super) fn advance(&self, state: &mut DriveState, force: DVec3, dt: f64, gravity: DVec3) {
        match self {
            Control::Drive(d) => {
                let push = d.load + (force + gravity * d.mass).dot(d.axis);
                // Damping is taken at the new speed: no dashpot is too strong for the step.
                state.speed = (state.speed + dt * push / d.mass) / (1.0 + dt * d.damping / d.mass);
            }
            Control::Servo(s) => {
                let error = 1.0 + force.dot(s.axis) / (s.stress * s.area);
                let swung = error * state.error < 0.0;
                state.gain = if swung { 0.5 * state.gain } else { GAIN_RECOVERY * state.gain }.clamp(LEAST_GAIN, 1.0);
                state.error = error;
                state.speed = s.max_speed * state.gain * error.clamp(-1.0, 1.0);
            }
        }
        state.offset += state.speed * dt;
    }

    pub(super) fn check(&self, found: &mut Vec<(String, &'static str)>) {
        if !self.axis().is_normalized() {
            found.push(("its control has no axis".into(), "give an axis of non-zero length"));
        }
        let mut positive = |name: &str, value: f64, unit: &str| {
            if !(value.is_finite() && value > 0.0) {
                found.push((format!("{name} is {value} {unit}"), "give a positive value"));
            }
        };
        match *self {
            Control::Drive(d) => {
                positive("the mass", d.mass, "kg");
                if !(d.load.is_finite() && d.damping.is_finite() && d.damping >= 0.0) {
                    found.push((
                        "its load or damping is not a number it can have".into(),
                        "give a finite load, damping ≥ 0",
                    ));
                }
            }
            Control::Servo(s) => {
                positive("the stress", s.stress, "Pa");
                positive("the area", s.area, "m²");
                positive("the greatest speed", s.max_speed, "m/s");
            }
        }
    }
}
