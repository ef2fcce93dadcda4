//! Benchmarks: named cases, settled once and kept, then timed.
//!
//! The unit is the Cundall number: grains × steps / second, neighbour work included. To add a case, write a file here
//! with a [`Case`] and one line in [`CASES`].

#[cfg(feature = "gpu")]
mod adapter;
mod avalanche;
mod clumps;
mod compare;
mod exchange;
mod flow;
mod machine;
mod mixed;
mod phases;
mod plot;
mod scaling;
mod scene;
mod settled;
mod skin;
mod sph;
mod walls;

pub use compare::{CompareError, Comparison, ContinuumComparison, compare, compare_continuum};
pub use exchange::{Saving, SavingError, pouring, saving};
pub use machine::Machine;
pub use phases::{PhasesCase, PhasesTiming, Spreading, nine_clumps, phases, spreading};
pub use scaling::{Scaling, sizes};
pub use scene::{SceneTiming, scene};
pub use skin::{Skinning, skinning};
pub use sph::{SphCase, SphTiming, continuum};

use crate::cache;
use crate::checkpoint::{Checkpoint, CheckpointWriter, VERSION, fingerprint};
use barchan_core::boundary::Fixtures;
use barchan_core::columns::Saved;
use barchan_core::solver::NewMatter;
use barchan_core::stages::StageTime;
use barchan_dem::{Alone, DemError, Settings, Work};
use std::path::PathBuf;
use std::time::Instant;

/// All cases.
pub const CASES: &[Case] = &[settled::CASE, clumps::CASE, mixed::CASE, flow::CASE, walls::CASE, avalanche::CASE];

/// Steps before the clock starts.
const WARM: u64 = 200;
/// Steps between two words on how far the settling is; every case settles in a multiple of them.
const TOLD_EVERY: u64 = 50;
/// How many times its steps a case may settle where it does not come to rest.
const LONGEST: u64 = 3;
/// Wall-clock time to measure where no number of steps is given [s].
const SECONDS: f64 = 3.0;

/// A benchmark case.
#[derive(Clone, Copy)]
pub struct Case {
    /// Name.
    pub name: &'static str,
    /// What it is, in a line.
    pub about: &'static str,
    /// Grains where no number is given.
    pub grains: usize,
    build: fn(usize) -> Built,
}

/// What the grains of a case are told at their start, and the walls they are between.
#[derive(Clone)]
struct Setup {
    settings: Settings,
    fixtures: Fixtures,
}

impl std::ops::Deref for Setup {
    type Target = Settings;

    fn deref(&self) -> &Settings {
        &self.settings
    }
}

/// A case before it has settled.
struct Built {
    settings: Setup,
    grains: Vec<NewMatter>,
    /// Steps until it is at rest.
    settle: u64,
    /// Kinetic energy a grain above which it is not, and settles on [J].
    rest: f64,
}

/// Pieces of a case whose hash is committed, and its steps.
const FEW: (usize, u64) = (1000, 300);
/// The same of a continuum, whose steps are longer.
const FEW_OF_A_CONTINUUM: (usize, u64) = (1000, 20);
/// The same of a heap under a stream: enough steps for grains to become ground.
const FEW_OF_A_HEAP: (usize, u64) = (300, 600);

/// The name of every case and the hash of its state, small and after its first steps: what a change of bits is seen by.
pub fn hashes() -> Result<Vec<(String, u64)>, Box<dyn std::error::Error>> {
    let mut all = Vec::new();
    for case in CASES {
        all.push((case.name.into(), Bench::first_steps(case, FEW.0, FEW.1)?));
    }
    all.push(("exchange".into(), exchange::first_steps(FEW_OF_A_HEAP.0, FEW_OF_A_HEAP.1)?));
    let (particles, steps) = FEW_OF_A_CONTINUUM;
    for case in SphCase::ALL {
        all.push((format!("sph {}", case.name()), sph::first_steps(case, particles, steps)?));
    }
    for case in PhasesCase::ALL {
        all.push((case.name().into(), phases(case, particles, Some(steps))?.hash));
    }
    all.push(("skin".into(), skin::first(FEW.0)?));
    Ok(all)
}

/// The case of that name.
pub fn case(name: &str) -> Option<&'static Case> {
    CASES.iter().find(|c| c.name == name)
}

/// A case that stands ready to be timed.
pub struct Bench {
    case: &'static Case,
    dem: Alone,
}

/// What a timing found.
#[derive(Clone, Debug, PartialEq)]
pub struct Timing {
    /// Name of the case.
    pub case: &'static str,
    /// What computed it: `cpu` or `gpu`.
    pub device: &'static str,
    /// Grains.
    pub grains: usize,
    /// Worker threads.
    pub threads: usize,
    /// Steps timed.
    pub steps: u64,
    /// Wall-clock time of those steps [s].
    pub seconds: f64,
    /// Grains × steps / second.
    pub cundall: f64,
    /// Contacts a grain.
    pub coordination: f64,
    /// Kinetic energy [J].
    pub kinetic: f64,
    /// Bytes in the solver's columns and lists.
    pub memory: usize,
    /// Resident memory of the process [bytes]; the solver's own where the system does not tell.
    pub rss: usize,
    /// What a step must at least move and compute.
    pub work: Work,
    /// Time spent per stage.
    pub passes: Vec<StageTime>,
    /// Hash of the last state.
    pub hash: u64,
}

impl Bench {
    /// Takes the settled state from the cache, or settles it and keeps it. `settling(step, of)` is told how far that is;
    /// it is not called where the cache has the state.
    pub fn prepare(case: &'static Case, grains: usize, settling: &mut dyn FnMut(u64, u64)) -> Result<Bench, DemError> {
        let dem = settled(case.name, (case.build)(grains), settling)?;
        Ok(Bench { case, dem })
    }

    /// Hash of a case, unsettled, after its first steps: what a change of bits is seen by.
    pub fn first_steps(case: &Case, grains: usize, steps: u64) -> Result<u64, DemError> {
        let Built { settings: Setup { settings, fixtures }, grains, .. } = (case.build)(grains);
        let mut dem = Alone::new(settings, fixtures);
        dem.add(&grains)?;
        rayon::scope(|_| (0..steps).try_for_each(|_| dem.step()))?;
        Ok(dem.hash())
    }

    fn steps(&mut self, steps: u64) -> Result<(), DemError> {
        rayon::scope(|_| (0..steps).try_for_each(|_| self.dem.step()))
    }

    /// Times `steps` steps, or some seconds' worth, after a warm-up.
    pub fn time(&mut self, steps: Option<u64>) -> Result<Timing, DemError> {
        let warm = Instant::now();
        self.steps(WARM)?;
        let steps =
            steps.unwrap_or_else(|| (SECONDS / warm.elapsed().as_secs_f64() * WARM as f64).ceil() as u64).max(1);
        let before = self.dem.timers().to_vec();
        let start = Instant::now();
        self.steps(steps)?;
        let seconds = start.elapsed().as_secs_f64();
        let spent = |after: &StageTime| match before.iter().find(|b| b.name == after.name) {
            Some(b) => StageTime { seconds: after.seconds - b.seconds, runs: after.runs - b.runs, ..*after },
            None => *after,
        };
        let (grains, energies) = (self.dem.len(), self.dem.energies());
        Ok(Timing {
            case: self.case.name,
            device: "cpu",
            grains,
            threads: rayon::current_num_threads(),
            steps,
            seconds,
            cundall: grains as f64 * steps as f64 / seconds,
            coordination: self.dem.coordination(),
            kinetic: energies.translation + energies.rotation,
            memory: self.dem.memory_bytes(),
            rss: resident().unwrap_or_else(|| self.dem.memory_bytes()),
            work: self.dem.work(),
            passes: self.dem.timers().iter().map(spent).collect(),
            hash: self.dem.hash(),
        })
    }
}

impl Timing {
    /// One line of JSON.
    pub fn json(&self) -> String {
        format!(
            "{{\"case\":\"{}\",\"device\":\"{}\",\"grains\":{},\"threads\":{},\"steps\":{},\"seconds\":{:.6},\"cundall\":{:.1},\
             \"coordination\":{:.4},\"rss_bytes\":{},\"state_hash\":\"{:016x}\"}}",
            self.case,
            self.device,
            self.grains,
            self.threads,
            self.steps,
            self.seconds,
            self.cundall,
            self.coordination,
            self.rss,
            self.hash
        )
    }
}

/// What was built, at rest: from the cache, or settled now and kept there under that name. `settling(step, of)` is told how far that is.
fn settled(name: &str, built: Built, settling: &mut dyn FnMut(u64, u64)) -> Result<Alone, DemError> {
    let kept = kept(name, &built);
    let Setup { settings, fixtures } = built.settings;
    // A state of another build may not load; it is made again then.
    let found = kept.as_ref().and_then(|path| Checkpoint::read(path).ok());
    let found = found.and_then(|c| Alone::load(settings.clone(), fixtures.clone(), Saved(&|name| c.column(name))).ok());
    let mut dem = match found {
        Some(dem) => dem,
        None => {
            let mut dem = Alone::new(settings, fixtures);
            dem.add(&built.grains)?;
            dem
        }
    };
    let began = dem.steps();
    let moves = |dem: &Alone| {
        let energies = dem.energies();
        energies.translation + energies.rotation > built.rest * dem.len() as f64
    };
    while dem.steps() < built.settle || (moves(&dem) && dem.steps() < LONGEST * built.settle) {
        let most = if dem.steps() < built.settle { built.settle } else { LONGEST * built.settle };
        settling(dem.steps(), most);
        rayon::scope(|_| (0..TOLD_EVERY).try_for_each(|_| dem.step()))?;
    }
    if dem.steps() == began {
        return Ok(dem);
    }
    settling(dem.steps(), dem.steps());
    if let Some(path) = kept {
        let mut checkpoint = CheckpointWriter::default();
        dem.save().iter().for_each(|(name, column)| checkpoint.put(name, column));
        // A cache that cannot be written costs time, nothing else.
        let made = path.parent().is_some_and(|folder| std::fs::create_dir_all(folder).is_ok());
        let _ = made.then(|| checkpoint.write_to(&path));
    }
    Ok(dem)
}

/// Where the settled state of a case is kept.
fn kept(case: &str, built: &Built) -> Option<PathBuf> {
    let grains = built.grains.len();
    // The description is part of the name, so that a case that was changed settles anew; so is the version of the
    // checkpoint's format.
    let made = fingerprint(&format!("{:?} {:?} {}", built.settings.settings, built.settings.fixtures, built.settle));
    let name = format!("{case}-{grains}-v{VERSION}-{made:016x}.barchan");
    Some(cache::folder()?.join("bench").join(name))
}

/// Resident memory of this process [bytes], where the system has a `/proc`.
fn resident() -> Option<usize> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|l| l.strip_prefix("VmRSS:"))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<usize>().ok()? * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cases_have_the_grains_asked_for_inside_their_box_and_apart() {
        for case in CASES {
            let built = (case.build)(1000);
            assert_eq!(built.grains.len(), 1000);
            let (min, max) = (built.settings.domain.min, built.settings.domain.max);
            assert!(
                built.grains.iter().all(|g| g.position.cmpgt(min).all() && g.position.cmplt(max).all()),
                "{}",
                case.name
            );
            let shape = &built.settings.shapes[0];
            // A sphere's jitter leaves neighbours apart; a clump's ball may be met but not by much.
            let share = if shape.is_sphere() { 1.0 } else { 0.95 } * shape.bounding_radius();
            for (i, a) in built.grains.iter().enumerate() {
                let apart = |b: &NewMatter| a.position.distance(b.position) > share * (a.radius + b.radius);
                assert!(built.grains[..i].iter().all(apart), "{}", case.name);
                let clear = |w: &barchan_core::walls::Wall| w.clearance(&w.state_at(0.0), a.position) > 0.9 * a.radius;
                assert!(built.settings.fixtures.walls.iter().all(clear), "{}: grain {i} in a wall", case.name);
            }
        }
    }

    #[test]
    fn json_is_one_line_with_the_agreed_keys() {
        let timing = Timing {
            case: "settled",
            device: "cpu",
            grains: 10,
            threads: 2,
            steps: 5,
            seconds: 0.5,
            cundall: 100.0,
            coordination: 4.8,
            kinetic: 0.0,
            memory: 1,
            rss: 2,
            work: Work::default(),
            passes: vec![],
            hash: 255,
        };
        let json = timing.json();
        for key in [
            "case",
            "device",
            "grains",
            "threads",
            "steps",
            "seconds",
            "cundall",
            "coordination",
            "rss_bytes",
            "state_hash",
        ] {
            assert!(json.contains(&format!("\"{key}\":")), "{key} in {json}");
        }
        assert!(!json.contains('\n') && json.contains("\"00000000000000ff\""));
    }
}
