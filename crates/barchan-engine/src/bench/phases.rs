//! Sand in three phases, timed: `barchan bench liquid`, `barchan bench phases`, `barchan bench surface`.
//!
//! | case | what is timed |
//! |---|---|
//! | `liquid` | a cube of sand, all of it liquid, collapses on a rough floor, cells of 1 cm, for 1 s |
//! | `phases` | the same sand is thrown onto a bed in a box: it flies, sinks in and freezes, for 1 s |
//! | `surface` | 10,000 grains in nine clumps are spread over n × n faces of 20 grains each: the test of Munns 2015 |

use super::resident;
use barchan_core::boundary::Fixtures;
use barchan_core::materials::{Material, Materials};
use barchan_core::math;
use barchan_core::rng::Random;
use barchan_core::solver::{Domain, Solver};
use barchan_core::stages::StageTime;
use barchan_core::walls::{Geometry, Side, Wall};
use barchan_flip::clumps::{Faces, OFF, spread};
use barchan_flip::{Alone, FlipError, PhaseAccount, Settings, SolidSettings};
use glam::DVec3;
use std::time::Instant;

/// Side of a cell [m].
const CELL: f64 = 0.01;
/// Simulated time where no number of steps is given [s].
const DURATION: f64 = 1.0;

/// A case of sand in phases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PhasesCase {
    /// A cube collapses, all of it liquid.
    Liquid,
    /// Sand is thrown onto a bed.
    Phases,
}

impl PhasesCase {
    /// All cases.
    pub const ALL: [PhasesCase; 2] = [PhasesCase::Liquid, PhasesCase::Phases];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            PhasesCase::Liquid => "liquid",
            PhasesCase::Phases => "phases",
        }
    }
}

/// What a timing found.
#[derive(Clone, Debug, PartialEq)]
pub struct PhasesTiming {
    /// Which case.
    pub case: PhasesCase,
    /// Parcels at the start.
    pub parcels: usize,
    /// Worker threads.
    pub threads: usize,
    /// Steps of the solver.
    pub steps: u64,
    /// Wall-clock time of those steps [s].
    pub seconds: f64,
    /// Simulated time [s].
    pub simulated: f64,
    /// Parcels × steps / second.
    pub rate: f64,
    /// Iterations of the pressure and of the friction a step, the means.
    pub iterations: [f64; 2],
    /// Largest filling of a cell in any step.
    pub fullest: f64,
    /// What there was of each phase at the end, and what was converted.
    pub account: PhaseAccount,
    /// Bytes in the solver.
    pub memory: usize,
    /// Resident memory of the process [bytes]; the solver's own where the system does not tell.
    pub rss: usize,
    /// Time spent per stage.
    pub stages: Vec<StageTime>,
    /// Hash of the last state.
    pub hash: u64,
}

fn sand() -> Materials {
    let sand = Material {
        name: "sand".into(),
        density: 2650.0,
        young: 1e7,
        poisson: 0.3,
        restitution: 0.2,
        friction: 0.6,
        rolling: 0.0,
        twisting: 0.0,
        cohesion: 0.0,
    };
    Materials { list: vec![sand], overrides: Vec::new() }
}

/// A cube of about so many parcels over a floor or a bed.
fn setup(case: PhasesCase, parcels: usize) -> Result<Alone, FlipError> {
    let cells = math::cbrt(parcels as f64 / 8.0).round().max(4.0);
    let wide = 8.0 * (4.0 * cells / 8.0).ceil();
    let domain = Domain { min: DVec3::ZERO, max: DVec3::new(wide, wide, 4.0 * cells) * CELL, periodic: [false; 3] };
    let usual = Settings::sand(domain, CELL, sand());
    let n = cells as i32;
    let first = (wide as i32 - n) / 2;
    match case {
        PhasesCase::Liquid => {
            let floor = Wall::new("floor", Geometry::Plane { point: DVec3::ZERO, normal: DVec3::Z }, 0);
            let settings = Settings { gas: None, ..usual };
            let mut world = Alone::new(settings, Fixtures { walls: vec![floor], carried: Vec::new() })?;
            world.fill([[first, first, 0], [first + n, first + n, n]], |_| true, |_| DVec3::ZERO)?;
            Ok(world)
        }
        PhasesCase::Phases => {
            let side = Side::Inside;
            let room = Geometry::Box { min: domain.min, max: domain.max, side, open: Default::default() };
            let settings = Settings { solid: Some(SolidSettings::default()), ..usual };
            let fixtures = Fixtures { walls: vec![Wall::new("box", room, 0)], carried: Vec::new() };
            let mut world = Alone::new(settings, fixtures)?;
            // Two thirds of it are the bed, a third falls.
            let bed = (2 * n * n * n / 3 / (wide as i32 * wide as i32)).max(2);
            let ball = math::cbrt(f64::from(n * n * n) / 3.0).round().max(3.0) as i32;
            let low = (wide as i32 - ball) / 2;
            world.fill([[0; 3], [wide as i32, wide as i32, bed]], |_| true, |_| DVec3::ZERO)?;
            let falls = [[low, low, bed + 8], [low + ball, low + ball, bed + 8 + ball]];
            world.fill(falls, |_| true, |_| DVec3::Z * -3.0)?;
            Ok(world)
        }
    }
}

/// Times a case of about so many parcels, over so many steps of the world or over one simulated second.
pub fn phases(case: PhasesCase, parcels: usize, steps: Option<u64>) -> Result<PhasesTiming, FlipError> {
    let mut world = setup(case, parcels)?;
    let parcels = world.len();
    let world_steps = steps.unwrap_or_else(|| (DURATION / world.dt).round() as u64);
    let (mut taken, mut iterations, mut fullest, mut seconds) = (0, [0, 0], 0.0f64, 0.0);
    for _ in 0..world_steps {
        let start = Instant::now();
        rayon::scope(|_| world.step())?;
        seconds += start.elapsed().as_secs_f64();
        let r = world.report();
        taken += u64::from(r.substeps);
        iterations[0] += r.press_iterations;
        iterations[1] += r.grip.iterations;
        fullest = fullest.max(r.fullest);
    }
    let memory = world.memory();
    Ok(PhasesTiming {
        case,
        parcels,
        threads: rayon::current_num_threads(),
        steps: taken,
        seconds,
        simulated: world_steps as f64 * world.dt,
        rate: parcels as f64 * taken as f64 / seconds,
        iterations: iterations.map(|n| n as f64 / world_steps.max(1) as f64),
        fullest,
        account: world.account(),
        memory,
        rss: resident().unwrap_or(memory),
        stages: world.stages(),
        hash: world.hash(),
    })
}

impl PhasesTiming {
    /// One line of JSON.
    pub fn json(&self) -> String {
        let [solid, liquid, gas] = self.account.quanta;
        format!(
            "{{\"case\":\"{}\",\"device\":\"cpu\",\"parcels\":{},\"threads\":{},\"steps\":{},\"seconds\":{:.6},\"simulated\":{:.6},\
             \"rate\":{:.1},\"pressure_iterations\":{:.2},\"friction_iterations\":{:.2},\"largest_filling\":{:.4},\"solid\":{solid},\
             \"liquid\":{liquid},\"gas\":{gas},\"memory_bytes\":{},\"rss_bytes\":{},\"state_hash\":\"{:016x}\"}}",
            self.case.name(),
            self.parcels,
            self.threads,
            self.steps,
            self.seconds,
            self.simulated,
            self.rate,
            self.iterations[0],
            self.iterations[1],
            self.fullest,
            self.memory,
            self.rss,
            self.hash
        )
    }
}

/// What spreading found.
#[derive(Clone, Debug, PartialEq)]
pub struct Spreading {
    /// Faces along a side.
    pub side: u32,
    /// Grains.
    pub grains: usize,
    /// Most grains on a face before and after.
    pub most: [u32; 2],
    /// Grains taken off, because the patch was over-full.
    pub taken: usize,
    /// Faces that took part.
    pub active: usize,
    /// Iterations of the solver.
    pub iterations: usize,
    /// Wall-clock time, the median of `times` [s].
    pub seconds: f64,
    /// Runs.
    pub times: usize,
}

/// Grains of the seed's test.
const GRAINS: u32 = 10_000;
/// Most grains of a face.
const LIMIT: u32 = 20;

/// Grains in nine Gaussian clumps on n × n faces: the face of each.
pub fn nine_clumps(n: u32, grains: u32) -> Vec<u32> {
    let mut rng = Random::new(5, 0);
    let side = f64::from(n);
    let mut place = |g: u32| {
        let mut along = |k: u32| {
            let x = (f64::from(k) + 0.5) / 3.0 * side + rng.normal() * side.min(32.0) / 16.0;
            x.clamp(0.0, side - 1e-9) as u32
        };
        let x = along(g % 3);
        along(g / 3 % 3) * n + x
    };
    (0..grains).map(&mut place).collect()
}

/// Spreads 10,000 grains in nine clumps over `n` × `n` faces of 20.
pub fn spreading(n: u32) -> Spreading {
    const TIMES: usize = 5;
    let faces = Faces::squares(n, LIMIT);
    let start = nine_clumps(n, GRAINS);
    let depth = vec![0.0; start.len()];
    let most = |face: &[u32]| {
        let mut counts = vec![0u32; (n * n) as usize];
        face.iter().filter(|f| **f != OFF).for_each(|&f| counts[f as usize] += 1);
        counts.into_iter().max().unwrap_or(0)
    };
    let mut times = Vec::new();
    let (mut face, mut out) = (start.clone(), Default::default());
    for _ in 0..TIMES {
        face.clone_from(&start);
        let begun = Instant::now();
        out = spread(&faces, &mut face, &depth);
        times.push(begun.elapsed().as_secs_f64());
    }
    times.sort_by(f64::total_cmp);
    Spreading {
        side: n,
        grains: start.len(),
        most: [most(&start), most(&face)],
        taken: out.taken.len(),
        active: out.active,
        iterations: out.iterations,
        seconds: times[TIMES / 2],
        times: TIMES,
    }
}

impl Spreading {
    /// One line of JSON.
    pub fn json(&self) -> String {
        format!(
            "{{\"case\":\"surface\",\"faces\":{},\"grains\":{},\"most_before\":{},\"most_after\":{},\"taken\":{},\"active\":{},\
             \"iterations\":{},\"seconds\":{:.6}}}",
            u64::from(self.side) * u64::from(self.side),
            self.grains,
            self.most[0],
            self.most[1],
            self.taken,
            self.active,
            self.iterations,
            self.seconds
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_case_of_sand_in_phases_keeps_its_quanta() {
        for case in PhasesCase::ALL {
            let found = phases(case, 2000, Some(20)).unwrap();
            let quanta: u64 = found.account.quanta.iter().sum();
            assert_eq!(quanta, 8 * found.parcels as u64, "{found:?}");
            assert!(found.parcels >= 1500 && found.steps >= 20 && found.rate > 0.0, "{found:?}");
            assert!(!found.json().contains('\n'));
        }
    }

    #[test]
    fn clumps_are_spread_to_their_limit() {
        let found = spreading(32);
        assert!(found.most[0] > LIMIT && found.most[1] <= LIMIT && found.taken == 0, "{found:?}");
        let crowded = spreading(10);
        assert_eq!((crowded.most[1], crowded.taken), (LIMIT, 10_000 - 2_000), "{crowded:?}");
    }
}
