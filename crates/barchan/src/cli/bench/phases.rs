//! `barchan bench liquid`, `phases` and `surface`: sand in three phases.

use super::super::Failure;
use super::super::say::{bytes, count, many, rate, say, span};
use super::{BenchArgs, failed, stages};
use barchan::engine::bench::{PhasesCase, phases, spreading};

/// Names and what they time.
pub const ABOUT: [(&str, &str); 3] = [
    ("liquid", "a cube of sand in phases collapses, all of it liquid"),
    ("phases", "sand is thrown onto a bed: it flies, sinks in and freezes"),
    ("surface", "10,000 grains in nine clumps are spread over --faces × --faces faces"),
];
/// Parcels where no number is given.
const PARCELS: usize = 100_000;
/// Faces along a side where no number is given.
const FACES: u32 = 1000;

/// Runs the case of that name, if it is one of these.
pub fn run(args: &BenchArgs) -> Option<Result<(), Failure>> {
    let case = match args.case.as_str() {
        "liquid" => Some(PhasesCase::Liquid),
        "phases" => Some(PhasesCase::Phases),
        "surface" => None,
        _ => return None,
    };
    let others = args.grains.is_some() || args.compare.is_some() || args.rate.is_some() || args.voxel.is_some();
    let wrong = others || args.pour || args.part.is_some();
    let takes = match case {
        Some(_) if wrong || args.faces.is_some() => "takes --particles, --steps, --threads and --json only",
        None if wrong || args.particles.is_some() || args.steps.is_some() => "takes --faces, --threads and --json only",
        _ => {
            return Some(args.threads.set().and_then(|()| match case {
                Some(case) => liquid(case, args),
                None => surface(args),
            }));
        }
    };
    Some(Err(Failure::Usage(format!("`barchan bench {}` {takes}", args.case))))
}

fn liquid(case: PhasesCase, args: &BenchArgs) -> Result<(), Failure> {
    let parcels = args.particles.map_or(PARCELS, |n| n as usize);
    let t = phases(case, parcels, args.steps.map(u64::from)).map_err(failed)?;
    if args.json {
        say!("{}", t.json());
        return Ok(());
    }
    say!("case           {} on {}", t.case.name(), many(t.threads as u64, "thread"));
    say!("parcels        {}", count(t.parcels as u64));
    say!("steps          {} in {:.3} s ({})", count(t.steps), t.seconds, span(t.seconds));
    say!("rate           {}parcel-steps/s", rate(t.rate));
    say!("simulated      {:.4} s; {:.2} s a simulated second", t.simulated, t.seconds / t.simulated);
    say!("iterations     {:.1} of the pressure and {:.1} of the friction a step", t.iterations[0], t.iterations[1]);
    say!("filling        {:.4} at most", t.fullest);
    let ([solid, liquid, gas], a) = (t.account.quanta.map(count), &t.account);
    say!("quanta         {solid} solid, {liquid} liquid, {gas} gas at the end");
    say!(
        "converted      {} froze, {} thawed, {} evaporated, {} condensed",
        count(a.frozen),
        count(a.thawed),
        count(a.evaporated),
        count(a.condensed)
    );
    say!(
        "memory         {} in the solver ({:.0} bytes a parcel), {} resident",
        bytes(t.memory as f64),
        t.memory as f64 / t.parcels as f64,
        bytes(t.rss as f64)
    );
    stages(&t.stages);
    say!("state          {:016x}", t.hash);
    Ok(())
}

fn surface(args: &BenchArgs) -> Result<(), Failure> {
    let t = spreading(args.faces.unwrap_or(FACES));
    if args.json {
        say!("{}", t.json());
        return Ok(());
    }
    say!("case           surface: {} x {} faces, {} grains in nine clumps", t.side, t.side, count(t.grains as u64));
    say!("fullest face   {} grains before, {} after; {} taken off", t.most[0], t.most[1], count(t.taken as u64));
    say!("took part      {} faces, {} iterations", count(t.active as u64), t.iterations);
    say!("time           {:.3} ms, the median of {}", 1e3 * t.seconds, t.times);
    Ok(())
}
