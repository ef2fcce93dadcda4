//! What the ground is made of: six numbers [Sumner, O'Brien, Hodgins 1999], and its strength.

use crate::GroundError;
use crate::grid::QUANTUM;
use crate::strength::Strength;
use barchan_core::math;
use std::f64::consts::FRAC_PI_2;

/// The behaviour of a ground under bodies and on slopes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Soil {
    /// Share of the displaced volume that is compressed away, 0 to 1. (Sumner's α is the rest.)
    pub compression: f64,
    /// Slope [rad] that holds at columns a body has pressed, θ_in: a footprint keeps its wall.
    pub inside: f64,
    /// Slope [rad] above which sand at rest starts to slide, θ_out.
    pub outside: f64,
    /// Slope [rad] at which sliding sand comes to rest, θ_stop; at most `outside`.
    pub stop: f64,
    /// How fast sand slides, as a share of the fastest stable rate, from 0.01 to 1.
    pub fraction: f64,
    /// How unevenly displaced sand is piled round a body, 0 (evenly) to 1.
    pub roughness: f64,
    /// What it bears.
    pub strength: Strength,
}

/// How far the starting angle exceeds the stopping angle [rad]: some 2° in sand [Jaeger, Liu, Nagel 1989].
const HYSTERESIS: f64 = 0.035;

impl Soil {
    // The slopes, compression and roughness below are those of the table in Sumner et al. 1999 as remembered (α = 0.3,
    // 0.41, 0; inside 0.8, 1.57, 1.57; outside 0.436, 1.1, 1.57; roughness 0.2), not checked against the paper. There the
    // outside slope is what remains in the end, which is `stop` here; what the paper calls stop ends its loop in each
    // frame, and has no counterpart, because our erosion goes on until all is at rest.

    /// Loose sand: footprints with soft, crumbling walls.
    pub const SAND: Soil = Soil {
        compression: 0.7,
        inside: 0.8,
        outside: 0.436 + HYSTERESIS,
        stop: 0.436,
        fraction: 1.0,
        roughness: 0.2,
        strength: Strength::SAND,
    };

    /// Mud: steep walls, and a rim.
    pub const MUD: Soil = Soil {
        compression: 0.59,
        inside: 1.57,
        outside: 1.1 + HYSTERESIS,
        stop: 1.1,
        fraction: 1.0,
        roughness: 0.2,
        strength: Strength::MUD,
    };

    /// Fresh snow: compressed away, with upright walls and no rim.
    pub const SNOW: Soil = Soil {
        compression: 1.0,
        inside: 1.57,
        outside: 1.57,
        stop: 1.57,
        fraction: 1.0,
        roughness: 0.2,
        strength: Strength::SNOW,
    };

    /// A preset by its name: `sand`, `mud` or `snow`.
    pub fn preset(name: &str) -> Option<Soil> {
        match name {
            "sand" => Some(Soil::SAND),
            "mud" => Some(Soil::MUD),
            "snow" => Some(Soil::SNOW),
            _ => None,
        }
    }

    /// Whether every number is in its range.
    ///
    /// # Errors
    /// The first number that is not, with what it may be. Least values see to it that on the smallest cell whatever is
    /// too steep moves by a quantum at least.
    pub fn check(&self) -> Result<(), GroundError> {
        let rules = [
            ("compression", self.compression, (0.0..=1.0).contains(&self.compression), "use a share from 0 to 1"),
            ("roughness", self.roughness, (0.0..=1.0).contains(&self.roughness), "use a share from 0 to 1"),
            ("fraction", self.fraction, (0.01..=1.0).contains(&self.fraction), "use a share from 0.01 to 1"),
            ("stop", self.stop, self.stop >= 0.01 && self.stop < FRAC_PI_2, "use an angle from 0.01 to below π/2 rad"),
            (
                "outside",
                self.outside,
                self.outside >= self.stop && self.outside < FRAC_PI_2,
                "use an angle from `stop` to below π/2 rad",
            ),
            (
                "inside",
                self.inside,
                self.inside >= self.outside && self.inside < FRAC_PI_2,
                "use an angle from `outside` to below π/2 rad",
            ),
        ];
        match rules.into_iter().find(|(_, _, holds, _)| !holds) {
            Some((name, value, _, remedy)) => Err(GroundError::Soil { name, value, remedy }),
            None => self.strength.check(),
        }
    }

    pub(crate) fn limits(&self, cell: f64) -> Limits {
        let rise = |angle: f64| math::tan(angle) * cell / QUANTUM;
        let (inside, outside, stop) = (rise(self.inside), rise(self.outside), rise(self.stop));
        let diffusivity = DIFFUSIVITY * self.fraction;
        Limits {
            inside_squared: inside * inside,
            outside_squared: outside * outside,
            stop_squared: stop * stop,
            inside_target: inside * TARGET,
            stop_target: stop * TARGET,
            straight: diffusivity * (2.0 / 3.0),
            diagonal: diffusivity / 6.0,
        }
    }
}

/// Diffusivity of the sliding skin [cell² a sweep] at `fraction` 1. All a column can give away in a sweep is 10/3 of it
/// times the largest drop; below 1 no column is ever lowered beneath its lowest neighbour.
const DIFFUSIVITY: f64 = 0.29;

/// Sliding sand aims a little below the slope at which it stops, or it would approach that for ever: 0.1° at 30°.
const TARGET: f64 = 1.0 - 1.0 / 256.0;

/// The soil in the units of the sweep: heights [quanta] gained over one cell.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    pub inside_squared: f64,
    pub outside_squared: f64,
    pub stop_squared: f64,
    pub inside_target: f64,
    pub stop_target: f64,
    /// Share of a height difference that moves to a neighbour beside, were there no friction.
    pub straight: f64,
    /// The same across a corner: 4 to 1, as in the isotropic nine-point Laplacian.
    pub diagonal: f64,
}
