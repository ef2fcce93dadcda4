//! Any scene, timed: `barchan bench mill`, `barchan bench my-scene.toml`.
//!
//! A world is timed as a whole, from its start, without frames: emitters, walls, solvers, couplings, sinks and measurements. The scenes of
//! `scenes/bench/` are there for it, by their names.

use super::{SECONDS, resident};
use crate::world::{World, WorldError};
use barchan_core::stages::StageTime;
use std::time::Instant;

/// What the timing of a scene found.
#[derive(Clone, Debug, PartialEq)]
pub struct SceneTiming {
    /// Name of the scene.
    pub scene: String,
    /// Pieces of matter at the end.
    pub pieces: usize,
    /// Spheres and particles at the end.
    pub work: usize,
    /// Worker threads.
    pub threads: usize,
    /// World steps timed.
    pub steps: u64,
    /// Wall-clock time of those steps [s].
    pub seconds: f64,
    /// Spheres and particles × world steps / second.
    pub rate: f64,
    /// Simulated time [s].
    pub simulated: f64,
    /// Bytes in solvers and couplings.
    pub memory: usize,
    /// Resident memory of the process [bytes]; that of solvers and couplings where the system does not tell.
    pub rss: usize,
    /// Whose stage, and the time spent in it.
    pub stages: Vec<(&'static str, StageTime)>,
    /// Hash of the last state.
    pub hash: u64,
}

/// Times a world over so many of its steps, or for some seconds and not beyond its end.
pub fn scene(world: &mut World, steps: Option<u64>) -> Result<SceneTiming, WorldError> {
    let (first, from) = (world.steps(), world.time());
    let last = first + steps.unwrap_or_else(|| world.plan().steps());
    let (mut work, start) = (0.0, Instant::now());
    rayon::scope(|_| {
        while world.steps() < last && (steps.is_some() || start.elapsed().as_secs_f64() < SECONDS) {
            world.step()?;
            work += world.work() as f64;
        }
        Ok::<(), WorldError>(())
    })?;
    let (seconds, memory) = (start.elapsed().as_secs_f64(), world.memory());
    Ok(SceneTiming {
        scene: world.plan().name.clone(),
        pieces: world.pieces(),
        work: world.work(),
        threads: rayon::current_num_threads(),
        steps: world.steps() - first,
        seconds,
        rate: work / seconds,
        simulated: world.time() - from,
        memory,
        rss: resident().unwrap_or(memory),
        stages: world.stages(),
        hash: world.hash(),
    })
}

impl SceneTiming {
    /// One line of JSON.
    pub fn json(&self) -> String {
        // A scene's name may be a path.
        let name = self.scene.replace('\\', "\\\\").replace('"', "\\\"");
        format!(
            "{{\"case\":\"{name}\",\"device\":\"cpu\",\"pieces\":{},\"work\":{},\"threads\":{},\"steps\":{},\"seconds\":{:.6},\
             \"rate\":{:.1},\"simulated\":{:.6},\"memory_bytes\":{},\"rss_bytes\":{},\"state_hash\":\"{:016x}\"}}",
            self.pieces,
            self.work,
            self.threads,
            self.steps,
            self.seconds,
            self.rate,
            self.simulated,
            self.memory,
            self.rss,
            self.hash
        )
    }
}
