//! The continuum, timed: `barchan bench sph`.
//!
//! | case | what is timed |
//! |---|---|
//! | `collapse` | a free column, twice as high as wide, φ = 30°, spacing 2 cm, until 1 s |
//! | `settled` | a bed at rest between walls |
//! | `dam` | a column of matter without friction beside a wall, spacing 5 cm, density error 0.05 %, until 1 s |
//! | `grains` | 8,192 particles with 70 upsampled grains each, in frames of 16 ms, until 1 s |

use super::resident;
use barchan_core::boundary::{Boundary, Fixtures};
use barchan_core::clock::Interval;
use barchan_core::columns::HASH_START;
use barchan_core::frame::{Frame, Population, UPSAMPLED};
use barchan_core::math;
use barchan_core::sizes::SizeDistribution;
use barchan_core::solver::{Domain, Solver, SolverError};
use barchan_core::stages::StageTime;
use barchan_core::walls::{Geometry, Wall};
use barchan_sph::{Filling, GrainSettings, Kind, Settings, Sph, SphError};
use glam::DVec3;
use std::time::Instant;

/// Gravity [m/s²].
const GRAVITY: DVec3 = DVec3::new(0.0, 0.0, -9.81);
/// Simulated time of a case that does not say otherwise [s].
const DURATION: f64 = 1.0;
/// Simulated time before the clock of `settled` starts [s].
const SETTLING: f64 = 0.5;

/// A case of the continuum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SphCase {
    /// A free column collapses.
    Collapse,
    /// A bed at rest.
    Settled,
    /// A column without friction beside a wall.
    Dam,
    /// A collapse that is shown as grains.
    Grains,
}

impl SphCase {
    /// All cases.
    pub const ALL: [SphCase; 4] = [SphCase::Collapse, SphCase::Settled, SphCase::Dam, SphCase::Grains];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            SphCase::Collapse => "collapse",
            SphCase::Settled => "settled",
            SphCase::Dam => "dam",
            SphCase::Grains => "grains",
        }
    }

    /// Particles where no number is given.
    pub fn particles(self) -> usize {
        match self {
            SphCase::Grains => 8192,
            _ => 100_000,
        }
    }
}

/// What a timing found.
#[derive(Clone, Debug, PartialEq)]
pub struct SphTiming {
    /// Which case.
    pub case: SphCase,
    /// Particles.
    pub particles: usize,
    /// Upsampled grains.
    pub grains: usize,
    /// Grains moved a second, by the time that moving them takes alone; 0 without any.
    pub grain_rate: f64,
    /// Worker threads.
    pub threads: usize,
    /// Steps of the solver.
    pub steps: u64,
    /// Wall-clock time of those steps [s].
    pub seconds: f64,
    /// Particles × steps / second.
    pub rate: f64,
    /// Iterations a step, the mean.
    pub iterations: f64,
    /// Mean density error over all steps.
    pub density_error: f64,
    /// Simulated seconds a second.
    pub simulated: f64,
    /// How far matter reached along x at the end [m].
    pub front: f64,
    /// Bytes in the solver.
    pub memory: usize,
    /// Resident memory of the process [bytes]; the solver's own where the system does not tell.
    pub rss: usize,
    /// Time spent per stage.
    pub stages: Vec<StageTime>,
    /// Hash of the last state.
    pub hash: u64,
}

/// A continuum between its walls.
struct Setup {
    sph: Sph,
    boundary: Boundary,
    dt: f64,
    step: u64,
}

fn plane(name: &str, point: DVec3, normal: DVec3) -> Wall {
    Wall::new(name, Geometry::Plane { point, normal }, 0)
}

impl Setup {
    /// About so many particles, as the case lays them out.
    fn new(case: SphCase, particles: usize) -> Result<Setup, SphError> {
        let d = if case == SphCase::Dam { 0.05 } else { 0.02 };
        let slender = if case == SphCase::Settled { 1.0 } else { 2.0 };
        let width = math::cbrt(particles as f64 / slender).round().max(4.0);
        let (width, height) = (width * d, slender * width * d);
        let free = !matches!(case, SphCase::Settled | SphCase::Dam);
        let room = match case {
            SphCase::Settled => DVec3::new(width, width, 2.0 * height),
            SphCase::Dam => DVec3::new(3.0 * width, width, 1.5 * height),
            _ => DVec3::new(12.0 * width, 12.0 * width, 1.5 * height),
        };
        let domain = Domain { min: DVec3::new(0.0, 0.0, -d), max: room, periodic: [false; 3] };
        let mut walls = vec![plane("floor", DVec3::ZERO, DVec3::Z)];
        for (name, axis) in [("x", DVec3::X), ("y", DVec3::Y)] {
            walls.push(plane(&format!("low {name}"), DVec3::ZERO, axis));
            walls.push(plane(&format!("high {name}"), axis * room.dot(axis), -axis));
        }
        let fixtures = Fixtures { walls, carried: Vec::new() };
        let boundary = Boundary::new(fixtures, Vec::new(), GRAVITY);
        let mut settings = Settings { gravity: GRAVITY, ..Settings::sand(d, domain) };
        if case == SphCase::Dam {
            settings.kinds = vec![Kind { friction_angle: 0.0, ..Kind::default() }];
            settings.tolerance = 5e-4;
        }
        if case == SphCase::Grains {
            let sizes = SizeDistribution::Uniform { min: 1e-3, max: 2e-3 };
            settings.grains = Some(GrainSettings { per_particle: 70, sizes, ..GrainSettings::new(1.5e-3, 1) });
        }
        let mut sph = Sph::new(settings)?;
        let corner = if free { DVec3::new(5.5 * width, 5.5 * width, 0.0) } else { DVec3::ZERO };
        let corners = [corner, corner + DVec3::new(width, width, height)];
        let filling = Filling { corners, spacing: d, jitter: 0.05, velocity: DVec3::ZERO, kind: 0, seed: 1 };
        let bulk = sph.settings().bulk_density;
        let filled = filling.fill(&|_| true, &boundary, GRAVITY, bulk);
        sph.add_filled(&filled.matter, &filled.pressure, &boundary)?;
        let dt = if case == SphCase::Grains { 0.016 } else { sph.wish().dt };
        Ok(Setup { sph, boundary, dt, step: 0 })
    }

    /// One world step.
    fn advance(&mut self) -> Result<(), SolverError> {
        let interval = Interval { step: self.step, dt: self.dt };
        self.boundary.advance(interval.end(), interval.dt);
        self.sph.step(&interval, &mut self.boundary)?;
        self.step += 1;
        Ok(())
    }

    /// How far matter reaches along x [m].
    fn front(&self) -> f64 {
        let mut front = f64::NEG_INFINITY;
        self.sph.balls(&mut |x, radius| front = front.max(x.x + radius));
        front
    }
}

/// Hash of a case of about so many particles after its first world steps.
pub(super) fn first_steps(case: SphCase, particles: usize, steps: u64) -> Result<u64, SolverError> {
    let mut setup = Setup::new(case, particles)?;
    rayon::scope(|_| (0..steps).try_for_each(|_| setup.advance()))?;
    Ok(setup.sph.hash(HASH_START))
}

/// Times a case of about so many particles, over so many world steps or over its own time.
pub fn continuum(case: SphCase, particles: usize, steps: Option<u64>) -> Result<SphTiming, SolverError> {
    let mut setup = Setup::new(case, particles)?;
    let of = |seconds: f64, dt: f64| (seconds / dt).round().max(1.0) as u64;
    if case == SphCase::Settled {
        for _ in 0..of(SETTLING, setup.dt) {
            setup.advance()?;
        }
    }
    let world_steps = steps.unwrap_or_else(|| of(DURATION, setup.dt));
    let (before, first) = (setup.sph.stages(), setup.sph.steps());
    let (mut density_error, mut seconds) = (0.0, 0.0);
    for _ in 0..world_steps {
        let start = Instant::now();
        rayon::scope(|_| setup.advance())?;
        seconds += start.elapsed().as_secs_f64();
        density_error += setup.sph.report().density_error;
    }
    let spent = |after: StageTime| match before.iter().find(|b| b.name == after.name) {
        Some(b) => StageTime { seconds: after.seconds - b.seconds, runs: after.runs - b.runs, ..after },
        None => after,
    };
    let stages: Vec<StageTime> = setup.sph.stages().into_iter().map(spent).collect();
    let (particles, steps) = (setup.sph.len(), setup.sph.steps() - first);
    let iterations = stages.iter().find(|s| s.name == "strain").map_or(0, |s| s.runs);
    let memory = setup.sph.memory();
    let mut frame = Frame::default();
    setup.sph.publish(&mut frame);
    let grains = frame.population(UPSAMPLED).map_or(0, Population::len);
    let moving = stages.iter().find(|s| s.name == "grains").map_or(0.0, |s| s.seconds);
    Ok(SphTiming {
        case,
        particles,
        grains,
        grain_rate: if grains > 0 { grains as f64 * world_steps as f64 / moving } else { 0.0 },
        threads: rayon::current_num_threads(),
        steps,
        seconds,
        rate: particles as f64 * steps as f64 / seconds,
        iterations: iterations as f64 / steps as f64,
        density_error: density_error / world_steps as f64,
        simulated: world_steps as f64 * setup.dt / seconds,
        front: setup.front(),
        memory,
        rss: resident().unwrap_or(memory),
        stages,
        hash: setup.sph.hash(HASH_START),
    })
}

impl SphTiming {
    /// One line of JSON.
    pub fn json(&self) -> String {
        format!(
            "{{\"case\":\"{}\",\"device\":\"cpu\",\"particles\":{},\"grains\":{},\"threads\":{},\"steps\":{},\"seconds\":{:.6},\"rate\":{:.1},\"grain_rate\":{:.1},\
             \"iterations\":{:.3},\"density_error\":{:.3e},\"simulated\":{:.6},\"front\":{:.4},\"rss_bytes\":{},\"state_hash\":\"{:016x}\"}}",
            self.case.name(),
            self.particles,
            self.grains,
            self.threads,
            self.steps,
            self.seconds,
            self.rate,
            self.grain_rate,
            self.iterations,
            self.density_error,
            self.simulated,
            self.front,
            self.rss,
            self.hash
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_case_of_the_continuum_keeps_its_particles_and_its_density() {
        for case in SphCase::ALL {
            let found = continuum(case, 500, Some(20)).unwrap();
            assert!(found.particles >= 400 && found.steps >= 20 && found.iterations >= 2.0, "{found:?}");
            assert!(found.density_error < 1e-2 && found.front.is_finite(), "{found:?}");
            assert!(!found.json().contains('\n'));
            // Grains whose places would be in a wall are not born.
            let shown = found.grains as f64 / found.particles as f64;
            let usual = if case == SphCase::Grains { 70.0 } else { 0.0 };
            assert!((0.8 * usual..=usual).contains(&shown), "{shown} grains a particle");
            assert_eq!(found.grain_rate > 0.0 && found.grain_rate.is_finite(), case == SphCase::Grains, "{found:?}");
        }
    }
}
