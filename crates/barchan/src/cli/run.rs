//! `barchan run`.

use super::say::{self, about, bytes, count, many, rate, say, seconds, span};
use super::{Failure, Threads, stem, stop};
use barchan::engine::{Account, FromError, assemble, begin_from, estimate};
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
    /// Begin with the state of another run: its folder, or one of its checkpoints
    #[arg(long, value_name = "DIR|FILE")]
    from: Option<PathBuf>,
    /// Go on with the run in this folder
    #[arg(long, value_name = "DIR")]
    resume: Option<PathBuf>,
    /// Replace a run that is in the folder, and files in the way of the new one
    #[arg(long)]
    force: bool,
    /// Simulated time, instead of the scene's: seconds, or with a unit ("20 ms")
    #[arg(long, value_name = "TIME", value_parser = super::duration, allow_hyphen_values = true)]
    duration: Option<f64>,
    /// Multiply the number of grains (their size stays, the geometry grows)
    #[arg(long, value_name = "K", value_parser = super::factor, allow_hyphen_values = true)]
    scale: Option<f64>,
    /// Compute its matter otherwise: grains; sph, a continuum of smoothed particles; phases, one of parcels on a grid
    #[arg(long = "as", value_name = "METHOD", value_parser = super::compare::method)]
    method: Option<barchan::scene::MatterMethod>,
    /// Compute grains on the processor (cpu) or on a graphics adapter (gpu)
    #[arg(long, value_name = "DEVICE", value_parser = super::devices::device)]
    device: Option<barchan::engine::Device>,
    /// Phases of a continuum in phases, with commas between them: liquid, and solid and gas if they are named
    #[arg(long, value_name = "PHASES", value_parser = phases)]
    phases: Option<PhasesAsked>,
    /// End as soon as this holds: "kinetic < 1e-6 J", "grains > 5000", "grains < 10", "unborn > 1 s", "stress lid 4 cm2 > 10 kPa"
    #[arg(long, value_name = "WHAT", value_parser = barchan::engine::until)]
    until: Option<barchan::scene::Stop>,
    /// Let no grain become ground: the same scene without the exchange, to compare
    #[arg(long)]
    grains_only: bool,
    /// Say at the end where the time went, stage by stage
    #[arg(long)]
    timings: bool,
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
            None if self.from.is_some() => {
                usage("a run that goes on has its own state: leave out --from, or give a scene".into())
            }
            None if self.grains_only => {
                usage("a run under way keeps its exchange: leave out --grains-only, or start a new run".into())
            }
            None if self.method.is_some() => {
                usage("a run under way keeps its method: leave out --as, or start a new run".into())
            }
            None if self.phases.is_some() => {
                usage("a run under way keeps its phases: leave out --phases, or start a new run".into())
            }
            None if self.scale.is_some() => {
                usage("a run under way keeps its grains: leave out --scale, or start a new run".into())
            }
            None => Ok(()),
        }
    }
}

/// What a run that ended badly means for the command.
pub fn failed(e: RunError) -> Failure {
    match e {
        RunError::Scene(problems) => Failure::Scene(problems),
        RunError::Exists { .. }
        | RunError::InTheWay { .. }
        | RunError::NotARun { .. }
        | RunError::NotAFolder { .. }
        | RunError::AtEnd { .. }
        | RunError::Locked { .. } => Failure::Usage(e.to_string()),
        e => Failure::Failed(e.to_string()),
    }
}

pub fn run(args: RunArgs) -> Result<(), Failure> {
    args.consistent()?;
    args.threads.set()?;
    let (run, folder) = match (&args.resume, &args.scene) {
        (Some(folder), _) => {
            let resumed = match args.device {
                Some(device) => Run::resume_on(folder, args.duration, device),
                None => Run::resume(folder, args.duration),
            };
            let run = match resumed {
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
            for table in run.lost() {
                say::aside(format_args!(
                    "warning: what {} measured before t = {} is gone, only what is measured from now on will be there",
                    table.display(),
                    seconds(run.world().time())
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
            if let Some(method) = args.method {
                parsed = super::compare::converted(&parsed, method, args.quiet)?;
            }
            if let Some(asked) = args.phases {
                parsed = with_phases(&parsed, asked, scene)?;
            }
            if let Some(device) = args.device {
                parsed.scene.device = device;
            }
            let mut world = match &args.from {
                Some(source) => begun(&parsed, source, args.duration, args.quiet)?,
                None => assemble(&parsed)?,
            };
            if !args.quiet {
                say::warnings(&parsed.warnings, world.warnings());
            }
            if let Some(duration) = args.duration {
                world.set_duration(duration);
            }
            let folder = args.output.clone().unwrap_or_else(|| Path::new("out").join(stem(scene)));
            let pictures = if args.no_film || args.force { vec![] } else { super::render::films_in(&folder) };
            if !pictures.is_empty() && !folder.join("run.toml").exists() {
                return Err(failed(RunError::InTheWay { folder, files: pictures }));
            }
            (Run::start(world, &folder, args.force).map_err(failed)?, folder)
        }
    };
    stop::listen("a checkpoint is being written");
    if !args.quiet {
        say!("{}", start_line(run.world(), args.resume.is_some() || args.from.is_some()));
    }
    let mut show = Show::new(args.quiet, run.world());
    let pieces = pieces(run.world());
    let options = RunOptions {
        on_progress: Some(&mut |p| show.progress(p)),
        stop: Some(&stop::ASKED),
        until: args.until.clone(),
    };
    let report = run.go(options);
    show.finish();
    let report = report.map_err(failed)?;
    estimate::learn(report.work_steps, report.seconds);
    if args.timings {
        timings(&report);
    }
    end(&report, &folder, pieces, args.quiet)?;
    if args.no_film || report.frames == 0 {
        return Ok(());
    }
    super::render::film_of(&folder, args.quiet)
}

/// The world of a scene with the state of another run.
fn begun(parsed: &Parsed, source: &Path, duration: Option<f64>, quiet: bool) -> Result<World, Failure> {
    let begun = begin_from(parsed, source).map_err(|e| match e {
        FromError::Scene(problems) => Failure::Scene(problems),
        FromError::Lacks { .. } | FromError::NoRun { .. } => Failure::Usage(e.to_string()),
        e => Failure::Failed(e.to_string()),
    })?;
    let (world, until) = (begun.world, duration.unwrap_or(parsed.scene.duration));
    if world.time() >= until * (1.0 - 1e-12) {
        return Err(Failure::Usage(format!(
            "{} has reached t = {}, and the new run is to end at {}: its clock goes on, so give a later end with --duration",
            source.display(),
            seconds(world.time()),
            seconds(until)
        )));
    }
    if !quiet {
        begun.notes.iter().for_each(|note| say::aside(format_args!("taken over: {note}")));
    }
    Ok(world)
}

/// Which phases there are beside the liquid.
#[derive(Clone, Copy, Debug)]
struct PhasesAsked {
    solid: bool,
    gas: bool,
}

/// Reads names of phases.
fn phases(text: &str) -> Result<PhasesAsked, String> {
    let names: Vec<&str> = text.split(',').map(str::trim).collect();
    match names.iter().find(|n| !["solid", "liquid", "gas"].contains(n)) {
        Some(other) => Err(format!("`{other}` is no phase: name some of solid, liquid, gas")),
        None if !names.contains(&"liquid") => Err("solid and gas come of the liquid: name it too".into()),
        None => Ok(PhasesAsked { solid: names.contains(&"solid"), gas: names.contains(&"gas") }),
    }
}

/// The scene with these phases alone.
fn with_phases(parsed: &Parsed, asked: PhasesAsked, name: &str) -> Result<Parsed, Failure> {
    match parsed.scene.with_phases(asked.solid, asked.gas) {
        Some(scene) => Ok(parsed.with(scene)?),
        None => Err(Failure::Usage(format!(
            "--phases chooses among the phases of a continuum with `method = \"phases\"`, and {name} has none: leave it out, or add `--as phases`"
        ))),
    }
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
pub fn start_line(world: &World, resumed: bool) -> String {
    let s = world.summary();
    let left = 1.0 - world.steps() as f64 / s.steps.max(1) as f64;
    let takes = match estimate::rate() {
        Ok(rate) if s.ground => format!("{} without the ground", about(s.work_steps() * left / rate)),
        Ok(rate) => about(s.work_steps() * left / rate),
        Err(_) => "time unknown".into(),
    };
    let from = if resumed { format!(" from t = {}", seconds(world.time())) } else { String::new() };
    let matter = s.matter.iter().map(|a| {
        let coming = match a.pieces_at_end {
            end if end > a.pieces as u64 => format!(" (up to {})", count(end)),
            _ => String::new(),
        };
        format!("{}{coming}", many(a.pieces as u64, singular(a.name)))
    });
    let matter: Vec<String> = matter.collect();
    format!(
        "{}{from}: {}, dt {:.3e} s ({}), {} to t = {}, {}, {} of memory, {} of disk, {takes} on {}",
        world.plan().name,
        matter.join(", "),
        s.dt,
        s.dt_reason,
        many(s.steps, "step"),
        seconds(world.plan().duration),
        many(s.frames, "frame"),
        bytes(s.memory as f64),
        bytes(s.disk),
        many(rayon::current_num_threads() as u64, "thread"),
    )
}

/// What the pieces of a world are called, one of them.
fn pieces(world: &World) -> &'static str {
    let matter = world.summary().matter;
    match matter.first() {
        Some(first) if matter.iter().all(|a| a.name == first.name) => singular(first.name),
        _ => "piece",
    }
}

/// One of what has this name in the plural.
fn singular(name: &str) -> &str {
    name.strip_suffix('s').unwrap_or(name)
}

/// Where the time of a run went: a line a stage, those that never ran left out.
fn timings(report: &RunReport) {
    let known: f64 = report.stages.iter().map(|s| s.1.seconds).sum();
    say!("{:8} {:12} {:>10} {:>7} {:>12} {:>14}", "who", "stage", "seconds", "share", "runs", "a run");
    for (who, stage) in report.stages.iter().filter(|s| s.1.runs > 0) {
        say!(
            "{who:8} {:12} {:>10.3} {:>5.1} % {:>12} {:>11.3} µs",
            stage.name,
            stage.seconds,
            100.0 * stage.seconds / report.seconds,
            count(stage.runs),
            1e6 * stage.seconds / stage.runs as f64
        );
    }
    let rest = report.seconds - known;
    say!("{:8} {:12} {rest:>10.3} {:>5.1} %", "run", "other", 100.0 * rest / report.seconds);
}

/// Gauges that count what ought to be rare: how often a particle had to be held off a wall, and a step ended before its stress had converged.
const WATCHED: [&str; 2] = ["held off walls", "steps not converged"];

fn end(report: &RunReport, folder: &Path, pieces: &str, quiet: bool) -> Result<(), Failure> {
    let shown = folder.display();
    if report.status == Status::Stopped {
        say::aside(format_args!(
            "stopped at t = {} with a checkpoint; go on with: barchan run --resume {shown}",
            seconds(report.time)
        ));
        return Err(Failure::Stopped);
    }
    if !quiet {
        if let Some(why) = &report.ended {
            say!("ended at t = {}: {why}", seconds(report.time));
        }
        for (name, tally) in &report.tallies {
            say!("{name}: {} taken, {:.4} kg", many(tally.grains, "grain"), tally.mass);
        }
        if let Some((account, drift)) = report.ground {
            say!("{}", ground_line(&account, drift));
        }
        for name in WATCHED {
            if let Some(gauge) = report.gauges.iter().find(|g| g.name == name && g.value > 0.0) {
                say!("{name}: {} since the start", count(gauge.value as u64));
            }
        }
        say!(
            "done: t = {}, {}, {} in {shown}, {} of computing; state {:016x}",
            seconds(report.time),
            many(report.pieces as u64, pieces),
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
pub struct Show {
    bar: Option<ProgressBar>,
    plain: bool,
    last: Instant,
    /// What the pieces are called.
    pieces: &'static str,
}

impl Show {
    pub fn new(quiet: bool, world: &World) -> Show {
        let terminal = std::io::stderr().is_terminal();
        let bar = (!quiet && terminal).then(|| {
            let bar = ProgressBar::with_draw_target(Some(world.plan().steps()), ProgressDrawTarget::stderr_with_hz(5));
            // A template that is a constant of ours; indicatif's own look stands in for it.
            let style = ProgressStyle::with_template("{bar:24.cyan/blue} {percent:>3}% {wide_msg}");
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()).progress_chars("━━─"));
            bar.set_position(world.steps());
            bar
        });
        Show { bar, plain: !quiet && !terminal, last: Instant::now(), pieces: pieces(world) }
    }

    pub fn progress(&mut self, p: &Progress) {
        if let Some(bar) = &self.bar {
            bar.set_position(p.step);
            bar.set_message(describe(p, self.pieces));
        } else if self.plain && self.last.elapsed() >= PLAIN_EVERY {
            say::aside(format_args!(
                "{:3.0}% {}",
                100.0 * p.step as f64 / p.steps.max(1) as f64,
                describe(p, self.pieces)
            ));
            self.last = Instant::now();
        }
    }

    pub fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

fn describe(p: &Progress, pieces: &str) -> String {
    let mut line = format!(
        "t {} · {} · {}{pieces}-steps/s · {:.3}× real time · {} left · E {:.2e} J",
        seconds(p.time),
        many(p.pieces as u64, pieces),
        rate(p.piece_steps_per_second),
        p.real_time,
        span(p.seconds_left),
        p.kinetic,
    );
    for gauge in &p.gauges {
        line += &match gauge.name {
            "coordination" => format!(" · Z {:.2}", gauge.value),
            "largest overlap" => format!(" · overlap {:.2} %", 100.0 * gauge.value),
            name => format!(" · {name} {:.3e} {}", gauge.value, gauge.unit).trim_end().to_owned(),
        };
    }
    line
}
