//! A settled case on a graphics adapter. Grains begin where the processor has settled them; what their contacts remember begins anew.

use super::{Bench, SECONDS, Timing, WARM, resident};
use barchan_core::clock::Interval;
use barchan_core::columns::HASH_START;
use barchan_core::solver::{NewMatter, Solver, SolverError};
use barchan_core::stages::StageTime;
use barchan_dem::Work;
use barchan_gpu::{Gpu, GpuDem};
use glam::DQuat;
use std::time::Instant;

impl Bench {
    /// Times `steps` steps, or some seconds' worth, on the best adapter, after a warm-up.
    pub fn time_on_adapter(&self, steps: Option<u64>) -> Result<Timing, SolverError> {
        let mut boundary = self.dem.boundary.clone();
        let mut dem = GpuDem::new(Gpu::best(None)?, self.dem.settings().clone(), &boundary)?;
        let settled = self.dem.population();
        let mut rows: Vec<usize> = (0..settled.id.len()).collect();
        rows.sort_unstable_by_key(|&row| settled.id[row]);
        let grain = |row: usize| NewMatter {
            position: settled.position[row],
            velocity: settled.velocity[row],
            spin: settled.spin[row],
            orientation: DQuat::IDENTITY,
            radius: settled.radius[row],
            mass: Some(settled.mass[row]),
            material: settled.material[row],
            shape: settled.shape[row],
        };
        dem.add(&rows.into_iter().map(grain).collect::<Vec<_>>(), &boundary)?;
        let (first, dt) = (self.dem.steps(), self.dem.settings().dt);
        let mut taken = first;
        let mut run = |dem: &mut GpuDem, steps: u64| -> Result<(), SolverError> {
            for _ in 0..steps {
                let interval = Interval { step: taken, dt };
                boundary.advance(interval.end(), dt);
                dem.step(&interval, &mut boundary)?;
                taken += 1;
            }
            // What was put off belongs to the time.
            dem.settle(&Interval { step: taken.saturating_sub(1), dt }, &mut boundary)
        };
        let warm = Instant::now();
        run(&mut dem, WARM)?;
        let steps =
            steps.unwrap_or_else(|| (SECONDS / warm.elapsed().as_secs_f64() * WARM as f64).ceil() as u64).max(1);
        let before = dem.stages();
        let start = Instant::now();
        run(&mut dem, steps)?;
        let seconds = start.elapsed().as_secs_f64();
        let spent = |(after, before): (StageTime, &StageTime)| StageTime {
            seconds: after.seconds - before.seconds,
            runs: after.runs - before.runs,
            ..after
        };
        let (grains, totals) = (dem.counts().pieces, dem.totals());
        let coordination = totals.gauges.iter().find(|g| g.name == "coordination").map_or(0.0, |g| g.value);
        Ok(Timing {
            case: self.case.name,
            device: "gpu",
            grains,
            threads: rayon::current_num_threads(),
            steps,
            seconds,
            cundall: grains as f64 * steps as f64 / seconds,
            coordination,
            kinetic: totals.energies.kinetic(),
            memory: dem.memory(),
            rss: resident().unwrap_or_else(|| dem.memory()),
            work: Work { bytes: (dem.cost()?.bytes_per_step * grains as f64) as usize, operations: 0 },
            passes: dem.stages().into_iter().zip(&before).map(spent).collect(),
            hash: dem.hash(HASH_START),
        })
    }
}
