//! `barchan run`.

use super::say::{self, about, bytes, count, rate, say, span};
use super::{Failure, Threads, stem, stop};
use barchan::engine::estimate;
use barchan::prelude::*;
use clap::Args;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Seconds between lines where there is no terminal to draw on.
const PLAIN_EVERY: Duration = Duration::from_secs(5);

#[derive(Args)]
pub struct RunArgs {
    /// Name of the gallery, or a scene file
    #[arg(value_name = "NAME|FILE", required_unless_present = "resume", conflicts_with = "resume")]
    scene: Option<String>,
    /// Folder for the results; left out: out/NAME
    #[arg(short, long, value_name = "DIR", conflicts_with = "resume")]
    output: Option<PathBuf>,
    /// Go on with the run in this folder
    #[arg(long, value_name = "DIR")]
    resume: Option<PathBuf>,
    /// Replace a run that is in the folder
    #[arg(long, conflicts_with = "resume")]
    force: bool,
    /// Simulated time, instead of the scene's: seconds, or with a unit ("20 ms")
    #[arg(long, value_name = "TIME", value_parser = super::duration)]
    duration: Option<f64>,
    /// Multiply the number of grains (their size stays, the geometry grows)
    #[arg(long, value_name = "K", value_parser = super::factor, conflicts_with = "resume")]
    scale: Option<f64>,
    #[command(flatten)]
    threads: Threads,
    /// Say nothing unless something is wrong
    #[arg(short, long)]
    quiet: bool,
}

pub fn run(args: RunArgs) -> Result<(), Failure> {
    args.threads.set()?;
    let failed = |e: RunError| match e {
        RunError::Scene(problems) => Failure::Scene(problems),
        RunError::Exists { .. } | RunError::NotARun { .. } | RunError::Locked { .. } => Failure::Usage(e.to_string()),
        e => Failure::Failed(e.to_string()),
    };
    let (run, folder) = match (&args.resume, &args.scene) {
        (Some(folder), _) => {
            let run = Run::resume(folder, args.duration).map_err(failed)?;
            if let Some(why) = run.passed_over() {
                say::aside(format_args!(
                    "warning: the newest checkpoint is damaged, going on from the one before it: {why}"
                ));
            }
            (run, folder.clone())
        }
        (None, scene) => {
            let scene = scene.as_deref().unwrap_or_default();
            let parsed = super::load(scene, args.scale)?;
            if !args.quiet {
                say::warnings(&parsed);
            }
            let mut world = assemble(&parsed)?;
            if let Some(duration) = args.duration {
                world.set_duration(duration);
            }
            let folder = args.output.clone().unwrap_or_else(|| Path::new("out").join(stem(scene)));
            (Run::start(world, &folder, args.force).map_err(failed)?, folder)
        }
    };
    stop::listen();
    if !args.quiet {
        say!("{}", start_line(run.world(), args.resume.is_some()));
    }
    let mut show = Show::new(args.quiet, run.world());
    let options = RunOptions { on_progress: Some(&mut |p| show.progress(p)), stop: Some(&stop::ASKED) };
    let report = run.go(options);
    show.finish();
    let report = report.map_err(failed)?;
    estimate::learn(report.sphere_steps, report.seconds);
    end(&report, &folder, args.quiet)
}

/// Grains, dt and why, memory, estimated time.
fn start_line(world: &World, resumed: bool) -> String {
    let s = world.summary();
    let left = 1.0 - world.steps() as f64 / s.steps.max(1) as f64;
    let takes = match estimate::rate() {
        Ok(rate) => about(s.sphere_steps() * left / rate),
        Err(_) => "time unknown".into(),
    };
    let from = if resumed { format!(" from t = {:.6} s", world.time()) } else { String::new() };
    let coming =
        if s.grains_at_end > s.grains as u64 { format!(" (up to {})", count(s.grains_at_end)) } else { String::new() };
    format!(
        "{}{from}: {} grains{coming}, dt {:.3e} s ({}), {} steps to t = {} s, {} frames, {}, {takes} on {} threads",
        world.plan().name,
        count(s.grains as u64),
        s.dt,
        s.dt_reason,
        count(s.steps),
        world.plan().duration,
        count(s.frames),
        bytes(s.memory),
        rayon::current_num_threads(),
    )
}

fn end(report: &RunReport, folder: &Path, quiet: bool) -> Result<(), Failure> {
    let shown = folder.display();
    if report.status == Status::Stopped {
        say::aside(format_args!(
            "stopped at t = {:.6} s with a checkpoint; go on with: barchan run --resume {shown}",
            report.time
        ));
        return Err(Failure::Stopped);
    }
    if !quiet {
        for (name, tally) in &report.tallies {
            say!("{name}: {} grains taken, {:.4} kg", count(tally.grains), tally.mass);
        }
        say!(
            "done: t = {:.6} s, {} grains, {} frames in {shown}, {} of computing; state {:016x}",
            report.time,
            count(report.grains as u64),
            count(report.frames),
            span(report.seconds),
            report.hash
        );
    }
    Ok(())
}

/// Progress on a terminal as a bar, elsewhere as a line now and then.
struct Show {
    bar: Option<ProgressBar>,
    plain: bool,
    last: Instant,
}

impl Show {
    fn new(quiet: bool, world: &World) -> Show {
        let terminal = std::io::stderr().is_terminal();
        let bar = (!quiet && terminal).then(|| {
            let bar = ProgressBar::with_draw_target(Some(world.plan().steps()), ProgressDrawTarget::stderr_with_hz(5));
            // A template that is a constant of ours; indicatif's own look stands in for it.
            let style = ProgressStyle::with_template("{bar:24.cyan/blue} {percent:>3}% {wide_msg}");
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()).progress_chars("━━─"));
            bar.set_position(world.steps());
            bar
        });
        Show { bar, plain: !quiet && !terminal, last: Instant::now() }
    }

    fn progress(&mut self, p: &Progress) {
        if let Some(bar) = &self.bar {
            bar.set_position(p.step);
            bar.set_message(describe(p));
        } else if self.plain && self.last.elapsed() >= PLAIN_EVERY {
            say::aside(format_args!("{:3.0}% {}", 100.0 * p.step as f64 / p.steps.max(1) as f64, describe(p)));
            self.last = Instant::now();
        }
    }

    fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

fn describe(p: &Progress) -> String {
    format!(
        "t {:.4} s · {} grains · {}grain-steps/s · {:.3}× real time · {} left · E {:.2e} J · Z {:.2} · overlap {:.2} %",
        p.time,
        count(p.grains as u64),
        rate(p.grain_steps_per_second),
        p.real_time,
        span(p.seconds_left),
        p.kinetic,
        p.coordination,
        100.0 * p.largest_overlap
    )
}
