//! `barchan bench`.

mod phases;

use super::say::{self, bytes, count, many, rate, say, seconds, span};
use super::{Failure, Threads};
use barchan::LoadError;
use barchan::core::stages::StageTime;
use barchan::engine::bench::{
    Bench, CASES, Case, Machine, Saving, Scaling, SphCase, SphTiming, Timing, case, compare, compare_continuum,
    continuum, pouring, saving, scene, sizes, skinning,
};
use barchan::engine::{Device, assemble};
use barchan::scene::{Parsed, bench_scenes};
use clap::Args;
use indicatif::{ProgressBar, ProgressDrawTarget};
use std::io::IsTerminal;
use std::path::PathBuf;

/// Grains from which settling takes long enough to be announced.
const LONG: usize = 64_000;

#[derive(Args)]
pub struct BenchArgs {
    /// Which case: settled, clumps, mixed, flow, walls; or scaling: settled at 1,000 grains and four times more each time;
    /// or table: all cases and what the machine can do, in Markdown; or exchange: a heap under a stream of grains, with and without their
    /// exchange with the ground; or skin: the closed surface over a flow; or sph: the continuum; or liquid,
    /// phases, surface: sand in three phases; or any scene, a file or a name: its world as a whole
    #[arg(default_value = "settled")]
    case: String,
    /// Sph: what the continuum does: collapse, settled, dam or grains; left out: collapse
    part: Option<String>,
    /// Sph, liquid, phases: about so many particles; left out: the part's own number
    #[arg(long, value_name = "N", value_parser = super::whole, allow_hyphen_values = true)]
    particles: Option<u32>,
    /// Grains (of scaling: at most so many); left out: the case's own number
    #[arg(long, value_name = "N", value_parser = super::whole, allow_hyphen_values = true)]
    grains: Option<u32>,
    #[command(flatten)]
    threads: Threads,
    /// Exchange: grains a second that fall onto the heap; left out: a thin stream
    #[arg(long, value_name = "N", value_parser = super::whole, allow_hyphen_values = true)]
    rate: Option<u32>,
    /// Exchange: pour the whole heap, in place of a stream onto one at rest; large ones take hours as grains alone
    #[arg(long)]
    pour: bool,
    /// Skin: distance of two nodes in diameters of a grain; left out: 1
    #[arg(long, value_name = "N", value_parser = super::factor, allow_hyphen_values = true)]
    voxel: Option<f64>,
    /// Surface: faces along a side; left out: 1000
    #[arg(long, value_name = "N", value_parser = super::whole, allow_hyphen_values = true)]
    faces: Option<u32>,
    /// Steps to time; left out: about three seconds' worth
    #[arg(long, value_name = "N", value_parser = super::whole, allow_hyphen_values = true)]
    steps: Option<u32>,
    /// Settled, mixed, flow: time grains on the processor (cpu) or on a graphics adapter (gpu)
    #[arg(long, value_name = "DEVICE", value_parser = super::devices::device)]
    device: Option<Device>,
    /// One line of JSON, of scaling one a size
    #[arg(long)]
    json: bool,
    /// Run in turns with a command that prints `cundall=NUMBER` (sph: `simulated=NUMBER`, simulated seconds a second), and give the ratio of
    /// medians
    #[arg(long, value_name = "COMMAND")]
    compare: Option<String>,
    /// Rounds of a comparison
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = super::whole)]
    rounds: u32,
    /// Scaling: plot the time of a step against the grains
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
}

/// Name of the series of sizes, and its largest where none is given.
const SCALING: (&str, usize) = ("scaling", 256_000);

/// Name of the table of all cases.
const TABLE: &str = "table";

/// Name of the heap with and without exchange, and its grains where none are given.
const EXCHANGE: (&str, u32) = ("exchange", 10_000);

/// Name of the skin of a flow, and its grains where none are given.
const SKIN: (&str, u32) = ("skin", 128_000);

/// Name of the continuum.
const SPH: &str = "sph";

fn failed(e: impl std::fmt::Display) -> Failure {
    Failure::Failed(e.to_string())
}

/// Times a settled case on the best graphics adapter.
#[cfg(feature = "gpu")]
fn on_adapter(bench: &Bench, steps: Option<u64>) -> Result<Timing, Failure> {
    bench.time_on_adapter(steps).map_err(failed)
}

#[cfg(not(feature = "gpu"))]
fn on_adapter(_: &Bench, _: Option<u64>) -> Result<Timing, Failure> {
    Err(Failure::Usage("this build of barchan was made without the feature `gpu`: leave out --device".into()))
}

pub fn bench(args: BenchArgs) -> Result<(), Failure> {
    let series = args.case == SCALING.0;
    if args.svg.is_some() && !series {
        return Err(Failure::Usage("--svg plots a series of sizes: use it with `barchan bench scaling`".into()));
    }
    if args.compare.is_some() && series {
        return Err(Failure::Usage("--compare takes one case at one size, not `scaling`".into()));
    }
    let on_gpu = args.device.is_some_and(|d| d != Device::Cpu);
    if on_gpu && (series || args.compare.is_some() || case(&args.case).is_none()) {
        return Err(Failure::Usage("--device gpu times one case of grains at one size, such as `settled`".into()));
    }
    if args.case == TABLE {
        if args.compare.is_some() || args.grains.is_some() || args.json || args.rate.is_some() || args.pour {
            return Err(Failure::Usage("`barchan bench table` takes --threads and --steps only".into()));
        }
        args.threads.set()?;
        return table(args.steps.map(u64::from));
    }
    if args.case == EXCHANGE.0 {
        if args.compare.is_some() || args.steps.is_some() {
            return Err(Failure::Usage(
                "`barchan bench exchange` takes --grains, --rate, --pour, --threads and --json only".into(),
            ));
        }
        args.threads.set()?;
        return exchange(&args);
    }
    if args.case == SKIN.0 {
        if args.compare.is_some() || args.steps.is_some() || args.rate.is_some() || args.pour {
            return Err(Failure::Usage(
                "`barchan bench skin` takes --grains, --voxel, --threads and --json only".into(),
            ));
        }
        args.threads.set()?;
        return skin(&args);
    }
    if args.case == SPH {
        let others = args.grains.is_some() || args.rate.is_some() || args.voxel.is_some();
        if others || args.pour {
            return Err(Failure::Usage(
                "`barchan bench sph` takes --particles, --steps, --threads, --json, --compare and --rounds only".into(),
            ));
        }
        args.threads.set()?;
        return sph(&args);
    }
    if let Some(done) = phases::run(&args) {
        return done;
    }
    if args.faces.is_some() {
        return Err(Failure::Usage("--faces is of a surface: use it with `barchan bench surface`".into()));
    }
    if args.part.is_some() || args.particles.is_some() {
        return Err(Failure::Usage(
            "a second name and --particles are of the continuum: use them with `barchan bench sph`".into(),
        ));
    }
    if args.voxel.is_some() {
        return Err(Failure::Usage("--voxel is of a skin: use it with `barchan bench skin`".into()));
    }
    if args.rate.is_some() || args.pour {
        return Err(Failure::Usage("--rate and --pour are of a stream: use them with `barchan bench exchange`".into()));
    }
    let known = case(if series { "settled" } else { &args.case });
    let Some(case) = known else {
        // Reading a scene already asks the threads for work.
        args.threads.set()?;
        match barchan::load(&args.case) {
            Ok(parsed) => return whole_scene(&args, &parsed),
            Err(LoadError::Unknown { .. }) => {}
            Err(e) => return Err(e.into()),
        }
        let about = CASES.iter().map(|c| (c.name, c.about)).chain([
            (SCALING.0, "settled at growing sizes, and the fit"),
            (EXCHANGE.0, "a heap under a stream, with and without exchange of grains and ground"),
            (SKIN.0, "the closed surface over a flow"),
            (SPH, "the continuum: collapse, settled, dam, grains"),
            phases::ABOUT[0],
            phases::ABOUT[1],
            phases::ABOUT[2],
            (TABLE, "all cases, and what the machine can do, in Markdown"),
        ]);
        let about = about.chain(bench_scenes().iter().map(|s| (s.name, s.about)));
        let about = about.chain([("SCENE", "any scene, a file or a name of the gallery: its world as a whole")]);
        let names: Vec<_> = about.map(|(name, about)| format!("  {name:10} {about}")).collect();
        return Err(Failure::Usage(format!("there is no benchmark `{}`; there are\n{}", args.case, names.join("\n"))));
    };
    args.threads.set()?;
    let steps = args.steps.map(u64::from);
    if series {
        return scaling(&args, case, steps);
    }
    let mut bench = prepare(case, args.grains.map_or(case.grains, |n| n as usize))?;
    match &args.compare {
        None => {
            let timing = if on_gpu { on_adapter(&bench, steps)? } else { bench.time(steps).map_err(failed)? };
            if args.json { say!("{}", timing.json()) } else { tell(&timing) }
        }
        Some(command) => {
            let mut told = |round: usize, ours: &Timing, theirs: f64| {
                say!("round {}: ours {}/s, theirs {}/s", round + 1, rate(ours.cundall), rate(theirs));
            };
            let found = compare(&mut bench, steps, command, args.rounds as usize, &mut told).map_err(failed)?;
            say!("ratio of medians: {:.2}", found.ratio());
        }
    }
    Ok(())
}

/// The world of a scene, as a whole.
fn whole_scene(args: &BenchArgs, parsed: &Parsed) -> Result<(), Failure> {
    if args.grains.is_some() || args.compare.is_some() {
        return Err(Failure::Usage("a scene is timed as it is: it takes --steps, --threads and --json only".into()));
    }
    let mut world = assemble(parsed)?;
    let t = scene(&mut world, args.steps.map(u64::from)).map_err(failed)?;
    if args.json {
        say!("{}", t.json());
        return Ok(());
    }
    say!("scene          {} on {}", t.scene, many(t.threads as u64, "thread"));
    say!("matter         {} pieces, {} spheres and particles at the end", count(t.pieces as u64), count(t.work as u64));
    say!("steps          {} in {:.3} s ({})", count(t.steps), t.seconds, span(t.seconds));
    say!("rate           {}work-steps/s of spheres and particles", rate(t.rate));
    say!("simulated      {:.4} s; {:.2} s a simulated second", t.simulated, t.seconds / t.simulated);
    say!("memory         {} in solvers and couplings, {} resident", bytes(t.memory as f64), bytes(t.rss as f64));
    let all: f64 = t.stages.iter().map(|(_, s)| s.seconds).sum();
    for (who, s) in t.stages.iter().filter(|(_, s)| s.runs > 0) {
        let (share, a_run) = (100.0 * s.seconds / all, 1e3 * s.seconds / s.runs as f64);
        say!("  {who:8} {:12} {share:5.1} %  {a_run:9.3} ms a run, {}", s.name, many(s.runs, "run"));
    }
    say!("state          {:016x}", t.hash);
    Ok(())
}

/// A heap under a stream of grains, both ways.
fn exchange(args: &BenchArgs) -> Result<(), Failure> {
    let grains = args.grains.unwrap_or(EXCHANGE.1) as usize;
    let rate = args.rate.map_or_else(|| Saving::thin(grains), f64::from);
    let mut under_way = String::new();
    let bar = ProgressBar::with_draw_target(Some(100), target());
    let mut told = |what: &str, done: f64| {
        if what != under_way {
            under_way = what.into();
            bar.println(what);
        }
        bar.set_position((100.0 * done) as u64);
    };
    let time = if args.pour { pouring } else { saving };
    let found = time(grains, rate, &mut told).map_err(failed)?;
    bar.finish_and_clear();
    if args.json {
        say!("{}", found.json());
        return Ok(());
    }
    let threads = many(rayon::current_num_threads() as u64, "thread");
    let stream = if args.pour { "poured at" } else { "under a stream of" };
    let grains = many(grains as u64, "grain");
    say!(
        "heap           {grains}, {stream} {} a second for {:.1} s, on {threads}",
        count(rate as u64),
        found.simulated
    );
    for (name, k) in [("grains alone", 0), ("with exchange", 1)] {
        let (free, left) = (count(found.free[k] as u64), count(found.left[k] as u64));
        say!("{name:14} {:8.2} s a simulated second; {free} of {left} grains free at the end", found.seconds[k]);
    }
    say!("faster by      {:.2}", found.factor());
    Ok(())
}

/// The skin of a flow.
fn skin(args: &BenchArgs) -> Result<(), Failure> {
    let found = skinning(args.grains.unwrap_or(SKIN.1) as usize, args.voxel.unwrap_or(1.0)).map_err(failed)?;
    if args.json {
        say!("{}", found.json());
        return Ok(());
    }
    let (grains, threads) = (many(found.grains as u64, "grain"), many(found.threads as u64, "thread"));
    say!("skin           {grains}, a voxel of {} diameters, on {threads}", found.voxel);
    say!(
        "time           {:.2} ms, the median of {}; {:.2} ms the shortest",
        1e3 * found.seconds,
        found.times,
        1e3 * found.least
    );
    say!("surface        {}, {:.4} of the bulk volume", many(found.triangles as u64, "triangle"), found.volume);
    say!("memory         {} in the skin, {} resident", bytes(found.memory as f64), bytes(found.rss as f64));
    say!("state          {:016x}", found.hash);
    Ok(())
}

/// The continuum.
fn sph(args: &BenchArgs) -> Result<(), Failure> {
    let name = args.part.as_deref().unwrap_or(SphCase::Collapse.name());
    let Some(case) = SphCase::ALL.into_iter().find(|c| c.name() == name) else {
        let names = SphCase::ALL.map(SphCase::name).join(", ");
        return Err(Failure::Usage(format!("there is no `{name}` of the continuum; there are {names}")));
    };
    let particles = args.particles.map_or(case.particles(), |n| n as usize);
    let mut time = || continuum(case, particles, args.steps.map(u64::from));
    if let Some(command) = &args.compare {
        let mut told = |round: usize, ours: &SphTiming, theirs: f64| {
            let (round, ours) = (round + 1, ours.simulated);
            say!("round {round}: ours {ours:.4} s simulated a second, theirs {theirs:.4}");
        };
        let found = compare_continuum(&mut time, command, args.rounds as usize, &mut told).map_err(failed)?;
        say!("ratio of medians: {:.2}", found.ratio());
        return Ok(());
    }
    let t = time().map_err(failed)?;
    if args.json {
        say!("{}", t.json());
        return Ok(());
    }
    say!("case           sph {} on {}", t.case.name(), many(t.threads as u64, "thread"));
    say!("particles      {}", count(t.particles as u64));
    if t.grains > 0 {
        say!("grains         {}, {}grains/s moved", count(t.grains as u64), rate(t.grain_rate));
    }
    say!("steps          {} in {:.3} s ({})", count(t.steps), t.seconds, span(t.seconds));
    say!("rate           {}particle-steps/s", rate(t.rate));
    say!("simulated      {:.4} s a second", t.simulated);
    say!("iterations     {:.2} a step; mean density error {:.2e}", t.iterations, t.density_error);
    say!("front          {:.4} m", t.front);
    say!(
        "memory         {} in the solver ({:.0} bytes a particle), {} resident",
        bytes(t.memory as f64),
        t.memory as f64 / t.particles as f64,
        bytes(t.rss as f64)
    );
    stages(&t.stages);
    say!("state          {:016x}", t.hash);
    Ok(())
}

/// Where a bar is drawn: nowhere without a terminal.
fn target() -> ProgressDrawTarget {
    if std::io::stderr().is_terminal() { ProgressDrawTarget::stderr_with_hz(2) } else { ProgressDrawTarget::hidden() }
}

/// All cases at their own sizes, held against the machine.
fn table(steps: Option<u64>) -> Result<(), Failure> {
    let machine = Machine::measure();
    say!("Machine, {}: {}", many(rayon::current_num_threads() as u64, "thread"), machine.line());
    say!("");
    say!("{}", Machine::HEAD);
    for case in CASES {
        let timing = prepare(case, case.grains)?.time(steps).map_err(failed)?;
        say!("{}", machine.row(&timing));
    }
    Ok(())
}

/// Times the case at growing sizes, a line each, then the fitted power of the grains.
fn scaling(args: &BenchArgs, case: &'static Case, steps: Option<u64>) -> Result<(), Failure> {
    let mut found = Scaling::default();
    if !args.json {
        say!(
            "{:>10}  {:>12}  {:>14}  on {}",
            "grains",
            "a step",
            "grain-steps/s",
            many(rayon::current_num_threads() as u64, "thread")
        );
    }
    for grains in sizes(args.grains.map_or(SCALING.1, |n| n as usize)) {
        let timing = prepare(case, grains)?.time(steps).map_err(failed)?;
        found.add(&timing);
        if args.json {
            say!("{}", timing.json());
        } else {
            let step = timing.seconds / timing.steps as f64;
            say!("{:>10}  {:>9.4} ms  {:>14}", count(grains as u64), 1e3 * step, format!("{:.4e}", timing.cundall));
        }
    }
    let title = format!("barchan, {}, {}", case.name, many(rayon::current_num_threads() as u64, "thread"));
    if let (Some((factor, exponent)), false) = (found.fit(), args.json) {
        say!("fit: {} a step × grains^{exponent:.3}", seconds(factor));
    }
    match &args.svg {
        Some(path) => barchan::io::atomic::write(path, found.plot(&title).svg().as_bytes()).map_err(failed),
        None => Ok(()),
    }
}

/// The case at rest, from the cache or settled now, with a bar.
fn prepare(case: &'static Case, grains: usize) -> Result<Bench, Failure> {
    let mut bar: Option<ProgressBar> = None;
    let mut settling = |step: u64, steps: u64| {
        let bar = bar.get_or_insert_with(|| {
            let long = if grains > LONG { "; at this size that takes a while" } else { "" };
            say::aside(format_args!("settling {} once, kept for the next time{long}", many(grains as u64, "grain")));
            ProgressBar::with_draw_target(Some(steps), target())
        });
        bar.set_length(steps);
        bar.set_position(step);
        if step == steps {
            bar.finish_and_clear();
        }
    };
    Bench::prepare(case, grains, &mut settling).map_err(failed)
}

fn tell(t: &Timing) {
    say!("case           {} on {}", t.case, many(t.threads as u64, "thread"));
    say!("grains         {}", count(t.grains as u64));
    say!("steps          {} in {:.3} s ({})", count(t.steps), t.seconds, span(t.seconds));
    say!("cundall        {}grain-steps/s   cundall={:.4e}", rate(t.cundall), t.cundall);
    say!("coordination   {:.4}", t.coordination);
    say!("kinetic        {:.3e} J", t.kinetic);
    say!(
        "memory         {} in the solver ({:.0} bytes a grain), {} resident",
        bytes(t.memory as f64),
        t.memory as f64 / t.grains as f64,
        bytes(t.rss as f64)
    );
    if t.device != "cpu" {
        let each = t.work.bytes as f64 / t.grains.max(1) as f64;
        say!(
            "moved          {each:.0} bytes a grain and step, {}/s: over your adapter's bandwidth its share",
            bytes(each * t.cundall)
        );
    }
    stages(&t.passes);
    say!("state          {:016x}", t.hash);
}

/// Time of each stage.
fn stages(times: &[StageTime]) {
    let all: f64 = times.iter().map(|p| p.seconds).sum();
    for p in times {
        say!(
            "  {:12} {:5.1} %  {:9.3} ms a run, {}",
            p.name,
            100.0 * p.seconds / all,
            1e3 * p.seconds / p.runs.max(1) as f64,
            many(p.runs, "run")
        );
    }
}
