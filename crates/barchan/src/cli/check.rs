//! `barchan check`.

use super::say::{self, about, bytes, count, many, say, seconds};
use super::{Failure, SceneArgs, Threads};
use barchan::dem::Dem;
use barchan::engine::{Meeting, World, assemble, estimate};
use clap::Args;

#[derive(Args)]
pub struct CheckArgs {
    #[command(flatten)]
    scene: SceneArgs,
    /// Compute grains on the processor (cpu), a graphics adapter (gpu, gpu:1) or what can (auto)
    #[arg(long, value_name = "DEVICE", value_parser = super::devices::device)]
    device: Option<barchan::engine::Device>,
    #[command(flatten)]
    threads: Threads,
}

pub fn check(args: CheckArgs) -> Result<(), Failure> {
    args.threads.set()?;
    let mut parsed = args.scene.load()?;
    if let Some(device) = args.device {
        parsed.scene.device = device;
    }
    let mut world = match assemble(&parsed) {
        Ok(world) => world,
        Err(problems) => {
            say::warnings(&parsed.warnings, &[]);
            return Err(problems.into());
        }
    };
    say::warnings(&parsed.warnings, world.warnings());
    if let Some(duration) = args.scene.duration {
        world.set_duration(duration);
    }
    numbers(&world);
    pairs(&world);
    match parsed.warnings.len() + world.warnings().len() {
        0 => say!("\n{}: no problems", args.scene.scene),
        n => say!("\n{}: no errors, {}", args.scene.scene, many(n as u64, "warning")),
    }
    Ok(())
}

/// What a run would use.
fn numbers(world: &World) {
    let s = world.summary();
    for a in &s.matter {
        say!(
            "{:<14} {} at the start, {} at the end ({})",
            a.name,
            count(a.pieces as u64),
            count(a.pieces_at_end),
            many(a.work_at_end, a.work_name.strip_suffix('s').unwrap_or(a.work_name))
        );
    }
    for r in world.released() {
        say!(
            "{:<14} {:.0} m³ over {:.3} ha, {:.0} t: {} grains of {:.2} m, {:.1} above each other",
            r.name,
            r.volume,
            1e-4 * r.surface,
            1e-3 * r.mass,
            count(r.grains),
            r.diameter,
            r.layers
        );
        say!("               their modulus is for blows up to {:.1} m/s (a tenth of a radius)", r.hardest);
    }
    say!("walls          {}", count(world.boundary().fixtures().own_walls().len() as u64));
    say!("time step      {:.4e} s: {}", s.dt, s.dt_reason);
    say!("               largest safe one {:.4e} s", s.dt_limit);
    say!("steps          {} to t = {}", count(s.steps), seconds(world.plan().duration));
    say!("frames         {}, every {}", count(s.frames), seconds(world.plan().frames_every));
    let names: Vec<_> = world.measurements().iter().map(|m| m.name.as_str()).collect();
    if !names.is_empty() {
        say!("measurements   {}", names.join(", "));
    }
    say!("memory         {}", bytes(s.memory as f64));
    say!("disk           {} at most", bytes(s.disk));
    match estimate::rate() {
        Ok(rate) => {
            let threads = many(rayon::current_num_threads() as u64, "thread");
            let ground = if s.ground { ", without the ground: its share depends on what moves it" } else { "" };
            say!("takes          {} on {threads}{ground}", about(s.work_steps() / rate))
        }
        Err(e) => say!("takes          unknown: {e}"),
    }
}

/// What the contact law does where two materials meet. The speed is an upper bound, that from which the time step is
/// derived; duration and overlap are those of an undamped impact.
fn pairs(world: &World) {
    let Some(settings) = world.solver::<Dem>().map(Dem::settings) else { return };
    let Some(speed) = world.meetings().first().map(|m| m.speed) else { return };
    let names: Vec<_> = settings.materials.list.iter().map(|m| m.name.as_str()).collect();
    let name = |m: &Meeting| {
        format!("{} – {}{}", names[m.a as usize], names[m.b as usize], if m.wall { " (wall)" } else { "" })
    };
    let wide = world.meetings().iter().map(|m| name(m).chars().count()).max().unwrap_or(0).max(8);
    say!("\nat most {speed:.3} m/s");
    say!(
        "{:wide$}  {:>9}  {:>5}  {:>6}  {:>8}  {:>7}  {:>8}  {:>12}  {:>9}",
        "contact",
        "E* [Pa]",
        "e",
        "beta",
        "friction",
        "rolling",
        "γ [J/m2]",
        "duration",
        "overlap"
    );
    let or_law = |x: Option<f64>, digits: usize| x.map_or("law".into(), |x| format!("{x:.digits$}"));
    for m in world.meetings() {
        let p = settings.materials.pair(m.a, m.b);
        let beta = Meeting::damping_ratio(&settings.law.normal, p.restitution);
        say!(
            "{:wide$}  {:>9.3e}  {:>5}  {:>6}  {:>8.3}  {:>7.3}  {:>8.2e}  {:>10.3e} s  {:>7.2} %",
            name(m),
            p.young,
            or_law(beta.map(|_| p.restitution), 3),
            or_law(beta, 4),
            p.friction,
            p.rolling,
            p.cohesion,
            m.duration,
            100.0 * m.overlap
        );
    }
}
