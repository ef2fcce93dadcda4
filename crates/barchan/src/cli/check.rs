//! `barchan check`.

use super::say::{self, about, bytes, count, say};
use super::{Failure, SceneArgs, Threads};
use barchan::engine::{World, assemble, estimate};
use clap::Args;

#[derive(Args)]
pub struct CheckArgs {
    #[command(flatten)]
    scene: SceneArgs,
    #[command(flatten)]
    threads: Threads,
}

pub fn check(args: CheckArgs) -> Result<(), Failure> {
    args.threads.set()?;
    let parsed = args.scene.load()?;
    say::warnings(&parsed);
    let mut world = assemble(&parsed)?;
    if let Some(duration) = args.scene.duration {
        world.set_duration(duration);
    }
    numbers(&world);
    match parsed.warnings.len() {
        0 => say!("\n{}: no problems", args.scene.scene),
        1 => say!("\n{}: no errors, 1 warning", args.scene.scene),
        n => say!("\n{}: no errors, {n} warnings", args.scene.scene),
    }
    Ok(())
}

/// What a run would use.
fn numbers(world: &World) {
    let s = world.summary();
    let settings = world.dem().settings();
    say!(
        "grains         {} at the start, {} at the end ({} spheres)",
        count(s.grains as u64),
        count(s.grains_at_end),
        count(s.spheres_at_end)
    );
    say!("walls          {}", settings.walls.len());
    say!("time step      {:.4e} s: {}", s.dt, s.dt_reason);
    say!("               largest safe one {:.4e} s", s.dt_limit);
    say!("steps          {} to t = {} s", count(s.steps), world.plan().duration);
    say!("frames         {}, every {} s", count(s.frames), world.plan().frames_every);
    say!("measurements   {}", world.measurements().iter().map(|m| m.name.as_str()).collect::<Vec<_>>().join(", "));
    say!("memory         {}", bytes(s.memory));
    match estimate::rate() {
        Ok(rate) => {
            say!("takes          {} on {} threads", about(s.sphere_steps() / rate), rayon::current_num_threads())
        }
        Err(e) => say!("takes          unknown: {e}"),
    }
    say!("\npair                       E* [Pa]     e     friction  rolling  cohesion [J/m2]");
    let names = &settings.materials.list;
    for a in 0..names.len() {
        for b in a..names.len() {
            let p = settings.materials.pair(a as u16, b as u16);
            let pair = format!("{} – {}", names[a].name, names[b].name);
            say!(
                "{pair:24}  {:>9.3e}  {:>5.3}  {:>7.3}  {:>7.3}  {:>9.3e}",
                p.young,
                p.restitution,
                p.friction,
                p.rolling,
                p.cohesion
            );
        }
    }
}
