//! How long a run takes here: from what runs on this machine have reached, or from a short trial.

use crate::cache;
use barchan_core::boundary::Fixtures;
use barchan_core::contact::ContactLaw;
use barchan_core::materials::{Material, Materials};
use barchan_core::shapes::Shape;
use barchan_core::solver::{Domain, NewMatter};
use barchan_dem::{Alone, DemError, Integrator, Precision, Settings};
use barchan_io::atomic;
use glam::{DQuat, DVec3};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Sphere-steps below which a run says more about its start than about the machine.
const WORTH_KEEPING: f64 = 2e7;
/// Share of a new rate in the one that is kept.
const NEW_SHARE: f64 = 0.3;
/// A trial takes this long.
const TRIAL: Duration = Duration::from_millis(300);

fn kept() -> Option<PathBuf> {
    // A build for tests is slower by far; its rate is its own.
    let build = if cfg!(debug_assertions) { "-dev" } else { "" };
    let name = format!("rate-{}{build}-{}", env!("CARGO_PKG_VERSION"), rayon::current_num_threads());
    Some(cache::folder()?.join(name))
}

fn read() -> Option<f64> {
    let rate: f64 = std::fs::read_to_string(kept()?).ok()?.trim().parse().ok()?;
    (rate.is_finite() && rate > 0.0).then_some(rate)
}

/// Spheres × steps / second that this machine reaches with this number of threads: as kept from earlier runs, else as
/// measured now.
pub fn rate() -> Result<f64, DemError> {
    match read() {
        Some(rate) => Ok(rate),
        None => {
            let rate = trial()?;
            write(rate);
            Ok(rate)
        }
    }
}

/// Remembers what a run reached, for the next estimate.
pub fn learn(sphere_steps: f64, seconds: f64) {
    if sphere_steps > WORTH_KEEPING && seconds > 0.0 {
        let rate = sphere_steps / seconds;
        write(read().map_or(rate, |old| old + NEW_SHARE * (rate - old)));
    }
}

/// An estimate that cannot be kept is made again.
fn write(rate: f64) {
    if let Some(path) = kept() {
        let made = path.parent().is_some_and(|folder| std::fs::create_dir_all(folder).is_ok());
        let _ = made.then(|| atomic::write(&path, format!("{rate:.4e}\n").as_bytes()));
    }
}

/// Times a periodic cube of spheres in gentle contact, six neighbours each: about what a packed bed costs.
fn trial() -> Result<f64, DemError> {
    const ALONG: usize = 20;
    let (radius, pitch) = (1e-3, 1.999e-3);
    let material = Material {
        name: "trial".into(),
        density: 2500.0,
        young: 1e7,
        poisson: 0.3,
        restitution: 0.6,
        friction: 0.5,
        rolling: 0.0,
        twisting: 0.0,
        cohesion: 0.0,
    };
    let settings = Settings {
        gravity: DVec3::ZERO,
        domain: Domain { min: DVec3::ZERO, max: DVec3::splat(ALONG as f64 * pitch), periodic: [true; 3] },
        law: ContactLaw::HERTZ_MINDLIN,
        materials: Materials { list: vec![material], overrides: vec![] },
        shapes: vec![Shape::sphere()].into(),
        borne: vec![],
        bridges: None,
        cell: None,
        dt: 1e-5,
        dt_reason: String::new(),
        integrator: Integrator::VelocityVerlet,
        precision: Precision::Mixed,
        max_overlap: 0.5,
        sleep: None,
    };
    let grain = |i: usize| NewMatter {
        position: DVec3::new((i % ALONG) as f64, (i / ALONG % ALONG) as f64, (i / ALONG / ALONG) as f64) * pitch
            + 0.5 * pitch,
        velocity: DVec3::ZERO,
        spin: DVec3::ZERO,
        orientation: DQuat::IDENTITY,
        radius,
        mass: None,
        material: 0,
        shape: 0,
    };
    let mut dem = Alone::new(settings, Fixtures::default());
    dem.add(&(0..ALONG.pow(3)).map(grain).collect::<Vec<_>>())?;
    for _ in 0..5 {
        dem.step()?;
    }
    let (start, mut steps) = (Instant::now(), 0);
    while start.elapsed() < TRIAL {
        dem.step()?;
        steps += 1;
    }
    Ok((dem.sphere_count() * steps) as f64 / start.elapsed().as_secs_f64())
}
