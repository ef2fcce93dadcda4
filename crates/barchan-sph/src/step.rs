//! One step of the continuum, stage by stage.
//!
//! ```text
//! neighbours → density (ρ, κ, walls) → forces (gravity, drag)
//! repeat  accelerate  v = v' + dt a(p, s)    strain  ρ̇, D of v: update p, s, wall friction, bodies    until converged
//! relax (displacement) → integrate
//! ```
//!
//! | stage | reads | writes |
//! |---|---|---|
//! | `neighbours` | places, walls | order of all columns, lists (when somebody has moved half the skin) |
//! | `density` | places, lists, walls | density, κ, weights of pairs, contacts with walls |
//! | `forces` | velocities, air | velocities without stress |
//! | `accelerate` | stresses, weights, contacts | velocities of the iteration, loads on walls |
//! | `strain` | velocities of the iteration | pressure, stress, wall friction, motion of bodies |
//! | `relax` | density | displacements |
//! | `integrate` | velocities, displacements | places |
//! | `grains` (once a world step) | places, velocities, walls, air | the grains that are shown |
//!
//! The problem of an iteration is convex for a given yield bound: with weights m/ρ_i in the rate of strain, the acceleration is minus the adjoint
//! of (ρ̇, D) [as for the implicit material-point method of Daviet and Bertails-Descoubes 2016]. Pressure and stress start from the last step's, so that a
//! bed at rest needs two iterations.

use crate::SphError;
use crate::flow::Flow;
use crate::passes::{Precision, Sweep};
use crate::prepare::LEAST_BLOCKS;
use crate::rheology::Law;
use crate::settings::{Friction, Pressure};
use crate::solve::Residual;
use barchan_core::boundary::{Boundary, Load};
use barchan_core::clock::Interval;
use glam::DVec3;
use std::time::Instant;

barchan_core::stages! {
    /// The stages of a step of the continuum.
    pub enum Stage {
        /// Lists of neighbours are built anew, when somebody has moved too far.
        Neighbours = "neighbours",
        /// Density, the diagonal of the problem, and walls.
        Density = "density",
        /// Gravity and drag.
        Forces = "forces",
        /// Velocities from stresses.
        Accelerate = "accelerate",
        /// Stresses from velocities.
        Strain = "strain",
        /// Density that has drifted is repaired.
        Relax = "relax",
        /// Particles move.
        Integrate = "integrate",
        /// Grains that are shown follow, once a world step.
        Grains = "grains",
    }
}

/// Relaxation of pressure and of friction in one sweep. The scaled problem's largest eigenvalue is 2.8 to 3.3 for pressure alone and 5.6 for friction
/// alone, on lattices with a jitter up to 0.3 d; iterations with any momentum are stable while 3.3 ω_p + 5.6 ω_s is at most 4/3. Of that, pressure takes
/// the larger part, since its error is the last to go. A collapse takes 13.7 iterations a step with these, 16.2 with 0.19 and 0.065, whose sum is 1.
const BOTH: [f64; 2] = [0.25, 0.08];
/// The same for an iteration that starts without momentum: the largest eigenvalue of both together is 7.9 to 8.4, so that 0.238 is the limit.
const BOTH_AT_REST: [f64; 2] = [0.2, 0.2];
/// Relaxation of pressure alone, with momentum and without.
const PRESSURE_ALONE: [f64; 2] = [0.3; 2];
const PRESSURE_ALONE_AT_REST: [f64; 2] = [0.5; 2];
/// Iterations of a step at least.
const LEAST_ITERATIONS: u32 = 2;
/// How many times its first value a residual may reach before the relaxation is halved. With momentum it rises and falls by less.
const MOST_GROWTH: f64 = 3.0;
/// Mean density error at which a step that has not converged is an error, and mean strain at which so many in succession are.
const DIVERGED: f64 = 0.05;
const PATIENCE: u32 = 10;
/// A step is at most so much longer than the one before.
const GROWTH: f64 = 1.1;
/// Way of the fastest particle in a step, as a share of the spacing.
const COURANT: f64 = 0.4;

impl<R: Precision> Flow<R> {
    /// One world step, in as many steps as it takes.
    pub fn step(&mut self, interval: &Interval, boundary: &mut Boundary) -> Result<(), SphError> {
        let watch = self.watch.clone();
        let mut loads = vec![[DVec3::ZERO; 2]; boundary.walls().len()];
        self.time = interval.start();
        let mut left = interval.dt;
        while left > 0.0 {
            let dt = left / (left / self.longest_step(boundary)).ceil().max(1.0);
            let last = left - dt < 1e-9 * interval.dt;
            let time = if last { interval.end() } else { interval.end() - (left - dt) };
            let ahead = interval.dt - if last { 0.0 } else { left - dt };
            let felt = if self.lists.blocks.len() < 2 * LEAST_BLOCKS {
                self.advance(boundary, dt, time, ahead)?
            } else {
                watch.during(|| self.advance(boundary, dt, time, ahead))?
            };
            for (sum, felt) in loads.iter_mut().zip(&felt) {
                sum[0] += felt[0] * dt;
                sum[1] += felt[1] * dt;
            }
            for y in &self.yielding {
                let [force, torque] = felt[y.wall];
                boundary.bodies[y.body].push_load(Load { force: force * dt, torque: torque * dt });
            }
            left = if last { 0.0 } else { left - dt };
        }
        if self.grains.is_some() {
            self.timed(Stage::Grains, |s| s.follow(boundary, interval.dt))?;
        }
        // What walls feel is the mean over the world step.
        for (w, [force, torque]) in loads.into_iter().enumerate() {
            boundary.add_load(w, force / interval.dt, torque / interval.dt);
        }
        Ok(())
    }

    /// The longest step that may come next [s].
    fn longest_step(&self, boundary: &Boundary) -> f64 {
        let fastest = self.fastest(boundary);
        let courant = if fastest > 0.0 { COURANT * self.settings.spacing / fastest } else { f64::INFINITY };
        let growth = if self.steps > 0 { GROWTH * self.report.dt } else { f64::INFINITY };
        self.settings.largest_step.min(self.settings.gravity_step()).min(courant).min(growth)
    }

    /// One step of `dt` [s] to `time` [s], which is `ahead` [s] after the beginning of the world step. Returns what walls felt.
    fn advance(&mut self, boundary: &Boundary, dt: f64, time: f64, ahead: f64) -> Result<Vec<[DVec3; 2]>, SphError> {
        self.time = time;
        self.take_walls(boundary, dt, ahead);
        self.timed(Stage::Neighbours, |s| s.neighbours(boundary))?;
        self.timed(Stage::Density, |s| s.density(boundary))?;
        self.timed(Stage::Forces, |s| s.forces(dt))?;

        let both = self.settings.friction == Friction::Projected && self.laws.iter().any(Law::has_friction);
        let [with, without] = if both { [BOTH, BOTH_AT_REST] } else { [PRESSURE_ALONE, PRESSURE_ALONE_AT_REST] };
        self.start_iterations();
        let mut sweep = Sweep { relaxation: without, momentum: 0.0, first: true };
        let (mut since, mut share) = (0, 1.0);
        let (mut felt, mut residual, mut allowed, mut iterations);
        (allowed, iterations) = (f64::INFINITY, 0);
        loop {
            felt = self.timed(Stage::Accelerate, |s| s.accelerate(dt));
            residual = self.timed(Stage::Strain, |s| s.strain(dt, sweep));
            iterations += 1;
            if iterations >= LEAST_ITERATIONS && residual.is_below(self.settings.tolerance) {
                self.astray = 0;
                break;
            }
            if iterations >= self.settings.most_iterations {
                self.check_convergence(&residual, iterations)?;
                self.unconverged += 1;
                break;
            }
            if sweep.first {
                allowed = MOST_GROWTH * residual.total();
            }
            let grown = residual.total() > allowed;
            if grown {
                share *= 0.5;
                allowed = MOST_GROWTH * residual.total();
            }
            // Momentum that points away from the aim is given up [adaptive restart, O'Donoghue and Candès 2015]. It comes after the iterations that
            // matter at rest takes: those do best with the longer steps that need none.
            since = if grown || residual.uphill > 0.0 || iterations < LEAST_ITERATIONS { 0 } else { since + 1 };
            sweep.momentum = if since == 0 { 0.0 } else { f64::from(since + 2) / f64::from(since + 5) };
            sweep.relaxation = if since == 0 { without } else { with }.map(|w| share * w);
            sweep.first = false;
        }
        self.end_iterations();
        self.note(dt, iterations, &residual);

        let relaxed = self.settings.pressure == Pressure::Velocity && self.timed(Stage::Relax, |s| s.relax());
        self.timed(Stage::Integrate, |s| s.integrate(dt, relaxed))?;
        self.steps += 1;
        Ok(felt)
    }

    /// Whether matter that is so far from what was asked for can go on. Density that is wrong is not put right again; a strain may be a matter of a few
    /// steps, as of an impact.
    pub fn check_convergence(&mut self, residual: &Residual, iterations: u32) -> Result<(), SphError> {
        self.astray = if residual.strain() < DIVERGED { 0 } else { self.astray + 1 };
        if residual.density() < DIVERGED && self.astray < PATIENCE {
            return Ok(());
        }
        // A number that is none is worse than any.
        let broken = self.particles.stress.iter().position(|s| s.iter().any(|x| Into::<f64>::into(*x).is_nan()));
        let worst = broken.unwrap_or(residual.worst.1);
        let (id, place) = (self.particles.id[worst], self.particles.position(worst));
        let (time, strain) = (self.time, residual.strain());
        Err(SphError::NoConvergence { time, iterations, residual: residual.density(), strain, id, place })
    }

    fn note(&mut self, dt: f64, iterations: u32, residual: &Residual) {
        self.report.dt = dt;
        self.report.iterations = iterations;
        self.report.density_error = residual.density();
        self.report.strain_error = residual.strain();
    }

    fn timed<T>(&mut self, stage: Stage, run: impl FnOnce(&mut Self) -> T) -> T {
        let begun = Instant::now();
        let out = run(self);
        self.timers.ran(stage, begun);
        out
    }
}
