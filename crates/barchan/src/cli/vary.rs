//! `barchan vary`: an avalanche with several coefficients, and a map of how often it reaches a place.

use super::run::{self, Show};
use super::say::{self, say};
use super::{Failure, Threads, runout, stem, stop};
use barchan::core::rng::Random;
use barchan::engine::runout as measure;
use barchan::io::atomic;
use barchan::io::raster::Raster;
use barchan::prelude::*;
use barchan::scene::{BedDrag, DragLaw};
use clap::Args;
use std::path::{Path, PathBuf};

#[derive(Args)]
pub struct VaryArgs {
    /// Name of the gallery, or a scene file, with `[ground.drag]` and `[[measure]] maps`
    #[arg(value_name = "NAME|FILE")]
    scene: String,
    /// Coefficients of dry friction, from one to another
    #[arg(long, value_name = "A..B", value_parser = range)]
    mu: Option<[f64; 2]>,
    /// Coefficients of turbulent friction ξ [m/s²], from one to another
    #[arg(long, value_name = "A..B", value_parser = range)]
    xi: Option<[f64; 2]>,
    /// Runs
    #[arg(long, value_name = "N", default_value = "9")]
    count: u32,
    /// Count the runs whose peak pressure is above this [kPa]
    #[arg(long, value_name = "KPA", default_value = "1")]
    above: f64,
    /// Folder for the results; left out: out/NAME-varied
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// Replace runs that are in the folder
    #[arg(long)]
    force: bool,
    /// Simulated time, instead of the scene's: seconds, or with a unit ("20 ms")
    #[arg(long, value_name = "TIME", value_parser = super::duration, allow_hyphen_values = true)]
    duration: Option<f64>,
    /// Multiply the number of grains
    #[arg(long, value_name = "K", value_parser = super::factor, allow_hyphen_values = true)]
    scale: Option<f64>,
    #[command(flatten)]
    threads: Threads,
    /// Say nothing but the table, unless something is wrong
    #[arg(short, long)]
    quiet: bool,
}

fn range(text: &str) -> Result<[f64; 2], String> {
    let help = "give two numbers above 0, such as 0.15..0.25";
    let (a, b) = text.split_once("..").ok_or(help)?;
    let number = |t: &str| super::positive(t.trim().parse().map_err(|_| help)?, help);
    let ends = [number(a)?, number(b)?];
    if ends[0] <= ends[1] { Ok(ends) } else { Err(help.into()) }
}

/// Places in a square of which each row and each column of n holds one: evenly spread along either side [Latin hypercube, McKay et al. 1979].
fn spread(n: u32, seed: u64) -> Vec<[f64; 2]> {
    let mut order: Vec<u32> = (0..n).collect();
    let mut random = Random::new(seed, 0);
    for k in (1..order.len()).rev() {
        order.swap(k, random.index(k + 1));
    }
    let share = |k: u32| if n > 1 { f64::from(k) / f64::from(n - 1) } else { 0.5 };
    (0..n).map(|k| [share(k), share(order[k as usize])]).collect()
}

pub fn vary(args: VaryArgs) -> Result<(), Failure> {
    args.threads.set()?;
    if args.mu.is_none() && args.xi.is_none() {
        return Err(Failure::Usage("nothing varies: give --mu A..B, --xi A..B, or both".into()));
    }
    if !(1..=1000).contains(&args.count) {
        return Err(Failure::Usage("give a --count of 1 to 1000 runs".into()));
    }
    let parsed = super::load(&args.scene, args.scale)?;
    let scene = &parsed.scene;
    let Some(drag) = scene.ground.as_ref().and_then(|g| g.drag.as_ref()) else {
        return Err(Failure::Usage("the scene has no `[ground.drag]`, whose coefficients could vary: add it".into()));
    };
    if args.xi.is_some() && drag.law != DragLaw::Voellmy {
        return Err(Failure::Usage("only the law `voellmy` has a ξ that could vary".into()));
    }
    if !scene.measure.iter().any(|m| m.what.key() == "maps") {
        return Err(Failure::Usage("the scene measures no maps: add `[[measure]] maps = {}`".into()));
    }
    let output =
        args.output.clone().unwrap_or_else(|| Path::new("out").join(format!("{}-varied", stem(&args.scene).display())));
    // Between ends, a single coefficient in even steps; two so that each takes each of its values once.
    let value = |range: Option<[f64; 2]>, share: f64, own: f64| range.map_or(own, |[a, b]| a + (b - a) * share);
    let mut worlds = Vec::new();
    for (k, [first, second]) in spread(args.count, scene.seed).into_iter().enumerate() {
        let mut scene = scene.clone();
        scene.output.formats.clear();
        let Some(drag) = scene.ground.as_mut().and_then(|g| g.drag.as_mut()) else { continue };
        drag.mu = value(args.mu, first, drag.mu);
        if let Some(range) = args.xi {
            let share = if args.mu.is_some() { second } else { first };
            drag.xi = Some(value(Some(range), share, BedDrag::XI));
        }
        let coefficients = [drag.mu, drag.xi.unwrap_or(f64::NAN)];
        let mut world = assemble(&parsed.with(scene)?)?;
        args.duration.into_iter().for_each(|d| world.set_duration(d));
        worlds.push((format!("{:03}", k + 1), coefficients, world));
    }
    stop::listen("a checkpoint is being written");
    let mut table = String::from("run,mu,xi_m_s2,runout_m,alpha_deg,area_ha,largest_speed_m_s,largest_pressure_kpa\n");
    let mut share: Option<Raster> = None;
    say!("{:>4} {:>7} {:>7} {:>10} {:>7} {:>9} {:>9}", "run", "μ", "ξ", "run-out", "α", "area", "fastest");
    for (name, [mu, xi], world) in worlds {
        let folder = output.join(&name);
        let run = Run::start(world, &folder, args.force).map_err(run::failed)?;
        let mut show = Show::new(args.quiet, run.world());
        let report =
            run.go(RunOptions { on_progress: Some(&mut |p| show.progress(p)), stop: Some(&stop::ASKED), until: None });
        show.finish();
        if report.map_err(run::failed)?.status == Status::Stopped {
            return Err(Failure::Stopped);
        }
        let place = runout::maps_folder(&folder)?;
        let maps = runout::maps(&place)?;
        let above = maps.pressure.values.iter().map(|p| f64::from(*p > args.above));
        let sum = share
            .get_or_insert_with(|| Raster { values: vec![0.0; maps.pressure.values.len()], ..maps.pressure.clone() });
        sum.values.iter_mut().zip(above).for_each(|(s, a)| *s += a / f64::from(args.count));
        let line = runout::line(&place, None).ok();
        let found = line.and_then(|line| measure::run_out(&maps, &maps.pressure, args.above, &line).ok());
        let [length, alpha] = found.map_or([f64::NAN; 2], |f| [f.length, f.alpha]);
        let cell = (maps.dem.place.cell * maps.dem.place.unit).powi(2);
        let area = 1e-4 * cell * maps.pressure.values.iter().filter(|p| **p > args.above).count() as f64;
        let most = |r: &Raster| r.values.iter().copied().filter(|v| v.is_finite()).fold(0.0, f64::max);
        let (speed, pressure) = (most(&maps.speed), most(&maps.pressure));
        table += &format!("{name},{mu},{xi},{length},{alpha},{area},{speed},{pressure}\n");
        say!("{name:>4} {mu:>7.3} {xi:>7.0} {length:>8.0} m {alpha:>6.1}° {area:>6.2} ha {speed:>5.1} m/s");
    }
    let failed = |e: atomic::FileError| Failure::Failed(e.to_string());
    atomic::write(&output.join("varied.csv"), table.as_bytes()).map_err(failed)?;
    if let Some(share) = share {
        let path = output.join("share.asc");
        share.write(&path).map_err(failed)?;
        if !args.quiet {
            say::aside(format_args!(
                "{}: the share of the runs above {} kPa, cell by cell",
                path.display(),
                args.above
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::spread;

    #[test]
    fn each_coefficient_takes_each_of_its_values_once() {
        for n in [1, 2, 9] {
            let places = spread(n, 3);
            for side in 0..2 {
                let mut values: Vec<f64> = places.iter().map(|p| p[side]).collect();
                values.sort_by(f64::total_cmp);
                values.dedup();
                assert_eq!(values.len(), n as usize);
            }
        }
    }
}
