//! `barchan bench`.

use super::say::{self, bytes, count, rate, say, span};
use super::{Failure, Threads};
use barchan::engine::bench::{Bench, CASES, Timing, case, compare};
use clap::Args;
use indicatif::{ProgressBar, ProgressDrawTarget};
use std::io::IsTerminal;

/// Grains from which settling takes long enough to be announced.
const LONG: usize = 64_000;

#[derive(Args)]
pub struct BenchArgs {
    /// Which case: settled, clumps
    #[arg(default_value = "settled")]
    case: String,
    /// Grains; left out: the case's own number
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    grains: Option<u32>,
    #[command(flatten)]
    threads: Threads,
    /// Steps to time; left out: about three seconds' worth
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    steps: Option<u64>,
    /// One line of JSON
    #[arg(long)]
    json: bool,
    /// Run in turns with a command that prints `cundall=NUMBER`, and give the ratio of medians
    #[arg(long, value_name = "COMMAND")]
    compare: Option<String>,
    /// Rounds of a comparison
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u16).range(1..))]
    rounds: u16,
}

pub fn bench(args: BenchArgs) -> Result<(), Failure> {
    args.threads.set()?;
    let Some(case) = case(&args.case) else {
        let names: Vec<_> = CASES.iter().map(|c| format!("  {:10} {}", c.name, c.about)).collect();
        return Err(Failure::Usage(format!("there is no benchmark `{}`; there are\n{}", args.case, names.join("\n"))));
    };
    let grains = args.grains.map_or(case.grains, |n| n as usize);
    let mut bar: Option<ProgressBar> = None;
    let mut settling = |step: u64, steps: u64| {
        let bar = bar.get_or_insert_with(|| {
            let long = if grains > LONG { "; at this size that takes a while" } else { "" };
            say::aside(format_args!("settling {} grains once, kept for the next time{long}", count(grains as u64)));
            let terminal = std::io::stderr().is_terminal();
            let target = if terminal { ProgressDrawTarget::stderr_with_hz(2) } else { ProgressDrawTarget::hidden() };
            ProgressBar::with_draw_target(Some(steps), target)
        });
        bar.set_position(step);
        if step == steps {
            bar.finish_and_clear();
        }
    };
    let failed = |e: &dyn std::fmt::Display| Failure::Failed(e.to_string());
    let mut bench = Bench::prepare(case, grains, &mut settling).map_err(|e| failed(&e))?;
    match &args.compare {
        None => {
            let timing = bench.time(args.steps).map_err(|e| failed(&e))?;
            if args.json { say!("{}", timing.json()) } else { tell(&timing) }
        }
        Some(command) => {
            let mut told = |round: usize, ours: &Timing, theirs: f64| {
                say!("round {}: ours {}/s, theirs {}/s", round + 1, rate(ours.cundall), rate(theirs));
            };
            let found = compare(&mut bench, args.steps, command, usize::from(args.rounds), &mut told)
                .map_err(|e| failed(&e))?;
            say!("ratio of medians: {:.2}", found.ratio());
        }
    }
    Ok(())
}

fn tell(t: &Timing) {
    say!("case           {} on {} threads", t.case, t.threads);
    say!("grains         {}", count(t.grains as u64));
    say!("steps          {} in {:.3} s ({})", count(t.steps), t.seconds, span(t.seconds));
    say!("cundall        {}grain-steps/s   cundall={:.4e}", rate(t.cundall), t.cundall);
    say!("coordination   {:.4}", t.coordination);
    say!("kinetic        {:.3e} J", t.kinetic);
    say!(
        "memory         {} in the solver ({:.0} bytes a grain), {} resident",
        bytes(t.memory),
        t.memory as f64 / t.grains as f64,
        bytes(t.rss)
    );
    let all: f64 = t.passes.iter().map(|p| p.seconds).sum();
    for p in &t.passes {
        say!(
            "  {:12} {:5.1} %  {:9.3} ms a run, {} runs",
            p.name,
            100.0 * p.seconds / all,
            1e3 * p.seconds / p.runs.max(1) as f64,
            count(p.runs)
        );
    }
    say!("state          {:016x}", t.hash);
}
