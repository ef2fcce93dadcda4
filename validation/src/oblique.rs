//! One oblique impact, integrated apart from the solver: the law of docs/physics.md written down a second time.
//!
//! A sphere on a rigid plane, by the laws of Hertz and Mindlin with the dashpots of a restitution. Dimensionless: mass,
//! normal speed and the factor of F = ξ^(3/2) are 1, and so is the radius for all that turns.

/// Steps of an impact: small enough that a first-order scheme is right to 10⁻⁴.
const STEP: f64 = 3.2 / 20_000.0;
/// Largest overlap of the elastic impact in these units: (5/4)^(2/5).
const DEEPEST: f64 = 1.0934;

/// How the spring of the contact plane follows the contact as it grows and shrinks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spring {
    /// The force stays as the contact grows: `tangential = "mindlin"`.
    Mindlin,
    /// Stiffness times displacement: `tangential = "mindlin-displacement"`.
    Displacement,
}

impl Spring {
    /// Its name in a scene.
    pub fn name(self) -> &'static str {
        match self {
            Spring::Mindlin => "mindlin",
            Spring::Displacement => "mindlin-displacement",
        }
    }
}

/// A sphere that meets the plane.
#[derive(Clone, Copy)]
pub struct Meeting {
    /// Poisson's ratio of the sphere.
    pub poisson: f64,
    /// Coefficient of friction.
    pub friction: f64,
    /// Coefficient of restitution.
    pub restitution: f64,
    /// Largest overlap of the elastic impact over the radius: by half of the overlap the arm of the friction is shorter.
    pub depth: f64,
    /// Tangential velocity over the normal one.
    pub velocity: f64,
    /// Speed of the surface by its spin over the normal speed, against the velocity.
    pub spin: f64,
    /// Spring of the contact plane.
    pub spring: Spring,
}

impl Meeting {
    /// Rebound speed, velocity and spin at its end, over the normal speed.
    fn follow(&self, beta: f64) -> [f64; 3] {
        // kₜ/kₙ of Mindlin and Hertz on a rigid plane: 4 G*/E* = 2(1 − ν)/(2 − ν).
        let ratio = 2.0 * (1.0 - self.poisson) / (2.0 - self.poisson);
        let tsuji = 2.0 * (5.0f64 / 6.0).sqrt() * beta;
        let (mut overlap, mut approach, mut stretch, mut before) = (0.0f64, 1.0f64, 0.0f64, 0.0f64);
        let (mut velocity, mut spin) = (self.velocity, self.spin);
        loop {
            overlap += approach * STEP;
            let stiffness = 1.5 * overlap.max(0.0).sqrt();
            let press = overlap.max(0.0).powf(1.5) + tsuji * stiffness.sqrt() * approach;
            if overlap <= 0.0 || press <= 0.0 {
                return [-approach, velocity, spin];
            }
            let along = ratio * stiffness;
            if self.spring == Spring::Mindlin && along > before {
                stretch *= before / along;
            }
            before = along;
            let arm = 1.0 - 0.5 * overlap / DEEPEST * self.depth;
            let slip = velocity - arm * spin;
            stretch += slip * STEP;
            let drag = along * stretch + tsuji * along.sqrt() * slip;
            let share = (self.friction * press / drag.abs().max(f64::MIN_POSITIVE)).min(1.0);
            stretch *= share;
            approach -= press * STEP;
            velocity -= share * drag * STEP;
            spin += 2.5 * arm * share * drag * STEP;
        }
    }

    /// Slip of the surface after the impact over its normal speed.
    pub fn slip_after(&self) -> f64 {
        let (mut low, mut high) = (0.0, 1.0);
        let smooth = Meeting { friction: 0.0, ..*self };
        for _ in 0..if self.restitution < 1.0 { 25 } else { 0 } {
            let middle = 0.5 * (low + high);
            if smooth.follow(middle)[0] > self.restitution { low = middle } else { high = middle }
        }
        let [_, velocity, spin] = self.follow(low);
        velocity - spin
    }
}
