//! `barchan run`.

use super::say::{self, about, bytes, count, many, rate, say, seconds, span};
use super::{Failure, Threads, stem, stop};
use barchan::engine::{Account, estimate};
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
    #[arg(value_name = "NAME|FILE")]
    scene: Option<String>,
    /// Folder for the results; left out: out/NAME
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// Go on with the run in this folder
    #[arg(long, value_name = "DIR")]
    resume: Option<PathBuf>,
    /// Replace a run that is in the folder
    #[arg(long)]
    force: bool,
    /// Simulated time, instead of the scene's: seconds, or with a unit ("20 ms")
    #[arg(long, value_name = "TIME", value_parser = super::duration, allow_hyphen_values = true)]
    duration: Option<f64>,
    /// Multiply the number of grains (their size stays, the geometry grows)
    #[arg(long, value_name = "K", value_parser = super::factor, allow_hyphen_values = true)]
    scale: Option<f64>,
    /// Let no grain become ground: the same scene without the exchange, to compare
    #[arg(long)]
    grains_only: bool,
    /// Draw no film at the end
    #[arg(long)]
    no_film: bool,
    #[command(flatten)]
    threads: Threads,
    /// Say nothing unless something is wrong
    #[arg(short, long)]
    quiet: bool,
}

impl RunArgs {
    /// What cannot be asked for together.
    fn consistent(&self) -> Result<(), Failure> {
        let usage = |text: String| Err(Failure::Usage(text));
        let Some(folder) = &self.resume else {
            return match &self.scene {
                Some(_) => Ok(()),
                None => usage(
                    "run what? Give a scene of the gallery (`barchan scenes` lists it), a scene file, or --resume DIR"
                        .into(),
                ),
            };
        };
        let folder = folder.display();
        match &self.scene {
            Some(scene) => usage(format!(
                "--resume {folder} goes on with the scene of that run: leave out `{scene}`, or leave out --resume to start \
                 `{scene}` anew"
            )),
            None if self.output.is_some() => {
                usage(format!("--resume {folder} goes on writing into that folder: leave out -o"))
            }
            None if self.force => usage("--resume keeps what the run has written: leave out --force".into()),
            None if self.grains_only => {
                usage("a run under way keeps its exchange: leave out --grains-only, or start a new run".into())
            }
            None if self.scale.is_some() => {
                usage("a run under way keeps its grains: leave out --scale, or start a new run".into())
            }
            None => Ok(()),
        }
    }
}

pub fn run(args: RunArgs) -> Result<(), Failure> {
    args.consistent()?;
    args.threads.set()?;
    let failed = |e: RunError| match e {
        RunError::Scene(problems) => Failure::Scene(problems),
        RunError::Exists { .. }
        | RunError::NotARun { .. }
        | RunError::NotAFolder { .. }
        | RunError::AtEnd { .. }
        | RunError::Locked { .. } => Failure::Usage(e.to_string()),
        e => Failure::Failed(e.to_string()),
    };
    let (run, folder) = match (&args.resume, &args.scene) {
        (Some(folder), _) => {
            let run = match Run::resume(folder, args.duration) {
                // Nothing was asked for that is not done; a script that resumes until the end is right to stop here.
                Err(e @ RunError::AtEnd { .. }) if args.duration.is_none() => {
                    if !args.quiet {
                        say!("{e}");
                    }
                    return Ok(());
                }
                run => run.map_err(failed)?,
            };
            if let Some(why) = run.passed_over() {
                say::aside(format_args!(
                    "warning: the newest checkpoint is damaged, going on from the one before it: {why}"
                ));
            }
            (run, folder.clone())
        }
        (None, scene) => {
            let scene = scene.as_deref().unwrap_or_default();
            let mut parsed = super::load(scene, args.scale)?;
            if args.grains_only {
                parsed = without_exchange(&parsed, scene)?;
            }
            let mut world = assemble(&parsed)?;
            if !args.quiet {
                say::warnings(&parsed.warnings, world.warnings());
            }
            if let Some(duration) = args.duration {
                world.set_duration(duration);
            }
            let folder = args.output.clone().unwrap_or_else(|| Path::new("out").join(stem(scene)));
            (Run::start(world, &folder, args.force).map_err(failed)?, folder)
        }
    };
    stop::listen("a checkpoint is being written");
    if !args.quiet {
        say!("{}", start_line(run.world(), args.resume.is_some()));
    }
    let mut show = Show::new(args.quiet, run.world());
    let options = RunOptions { on_progress: Some(&mut |p| show.progress(p)), stop: Some(&stop::ASKED) };
    let report = run.go(options);
    show.finish();
    let report = report.map_err(failed)?;
    estimate::learn(report.sphere_steps, report.seconds);
    end(&report, &folder, args.quiet)?;
    if args.no_film || report.frames == 0 {
        return Ok(());
    }
    super::render::film_of(&folder, args.quiet)
}

/// The scene with a ground that stays ground, and grains that stay grains.
fn without_exchange(parsed: &Parsed, name: &str) -> Result<Parsed, Failure> {
    let mut scene = parsed.scene.clone();
    match scene.ground.as_mut().and_then(|g| g.exchange.take()) {
        Some(_) => Ok(parsed.with(scene)?),
        None => Err(Failure::Usage(format!(
            "--grains-only runs a scene without its `[ground.exchange]`, and {name} has none: leave it out"
        ))),
    }
}

/// Grains, dt and why, memory, estimated time.
fn start_line(world: &World, resumed: bool) -> String {
    let s = world.summary();
    let left = 1.0 - world.steps() as f64 / s.steps.max(1) as f64;
    let takes = match estimate::rate() {
        Ok(rate) => about(s.sphere_steps() * left / rate),
        Err(_) => "time unknown".into(),
    };
    let from = if resumed { format!(" from t = {}", seconds(world.time())) } else { String::new() };
    let coming =
        if s.grains_at_end > s.grains as u64 { format!(" (up to {})", count(s.grains_at_end)) } else { String::new() };
    format!(
        "{}{from}: {}{coming}, dt {:.3e} s ({}), {} to t = {}, {}, {}, {takes} on {}",
        world.plan().name,
        many(s.grains as u64, "grain"),
        s.dt,
        s.dt_reason,
        many(s.steps, "step"),
        seconds(world.plan().duration),
        many(s.frames, "frame"),
        bytes(s.memory as f64),
        many(rayon::current_num_threads() as u64, "thread"),
    )
}

fn end(report: &RunReport, folder: &Path, quiet: bool) -> Result<(), Failure> {
    let shown = folder.display();
    if report.status == Status::Stopped {
        say::aside(format_args!(
            "stopped at t = {} with a checkpoint; go on with: barchan run --resume {shown}",
            seconds(report.time)
        ));
        return Err(Failure::Stopped);
    }
    if !quiet {
        for (name, tally) in &report.tallies {
            say!("{name}: {} taken, {:.4} kg", many(tally.grains, "grain"), tally.mass);
        }
        if let Some((account, drift)) = report.ground {
            say!("{}", ground_line(&account, drift));
        }
        say!(
            "done: t = {}, {}, {} in {shown}, {} of computing; state {:016x}",
            seconds(report.time),
            many(report.grains as u64, "grain"),
            many(report.frames, "frame"),
            span(report.seconds),
            report.hash
        );
    }
    Ok(())
}

/// What became of grains and ground, and whether all of it is there.
fn ground_line(account: &Account, drift: f64) -> String {
    let kg = |motes: i128| format!("{:.4} kg", account.mass(motes));
    let pressed = match account.compressed {
        0 => String::new(),
        motes => format!(", {} of it compressed", kg(motes)),
    };
    // Motes are whole numbers; the masses that were born and left are rounded sums.
    let sound = drift.abs() <= 1e-9 * account.mass(account.total());
    let kept = if sound { "nothing lost".into() } else { format!("{drift:+.2e} kg out of balance") };
    format!(
        "ground: {} became ground, {} came back; {} of grains, {} of ground{pressed}, {kept}",
        many(account.frozen, "grain"),
        count(account.thawed),
        kg(account.grains),
        kg(account.total() - account.grains),
    )
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
        "t {} · {} · {}grain-steps/s · {:.3}× real time · {} left · E {:.2e} J · Z {:.2} · overlap {:.2} %",
        seconds(p.time),
        many(p.grains as u64, "grain"),
        rate(p.grain_steps_per_second),
        p.real_time,
        span(p.seconds_left),
        p.kinetic,
        p.coordination,
        100.0 * p.largest_overlap
    )
}
