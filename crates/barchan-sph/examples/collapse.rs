//! Speed of the solver: a column that collapses, and a bed at rest.
//!
//! `cargo run --release -p barchan-sph --example collapse -- [particles] [collapse|settled] [steps]` prints particle-steps a second of wall time, stage by stage.

use barchan_core::boundary::{Boundary, Fixtures};
use barchan_core::clock::Interval;
use barchan_core::columns::HASH_START;
use barchan_core::solver::{Domain, Solver};
use barchan_core::walls::{Geometry, Wall};
use barchan_sph::{Filling, Settings, Sph};
use glam::DVec3;
use std::time::Instant;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let number = |k: usize, usual: f64| words.get(k).and_then(|w| w.parse().ok()).unwrap_or(usual);
    let (count, steps) = (number(0, 100_000.0), number(2, 100.0) as u64);
    let settled = words.get(1).is_some_and(|w| w == "settled");
    let d = 0.02;
    // A column twice as high as wide that loses its side walls, or a flat box.
    let wide = if settled { (count / 20.0).sqrt().round() } else { (count / 2.0).cbrt().round() };
    let high = (count / (wide * wide)).round();
    let half = 0.5 * wide * d;
    let around = if settled { half } else { 4.0 * half };
    let domain = Domain {
        min: DVec3::new(-around, -around, -d),
        max: DVec3::new(around, around, (high + 10.0) * d),
        periodic: [settled, settled, false],
    };
    let settings = Settings::sand(d, domain);
    let floor = Wall::new("floor", Geometry::Plane { point: DVec3::ZERO, normal: DVec3::Z }, 0);
    let mut boundary =
        Boundary::new(Fixtures { walls: vec![floor], carried: Vec::new() }, Vec::new(), settings.gravity);
    let corners = [DVec3::new(-half, -half, 0.0), DVec3::new(half, half, high * d)];
    let filling = Filling { corners, spacing: d, jitter: 0.05, velocity: DVec3::ZERO, kind: 0, seed: 1 };
    let filled = filling.fill(&|_| true, &boundary, settings.gravity, settings.bulk_density);
    let mut sph = Sph::new(settings).expect("settings are in order");
    sph.add_filled(&filled.matter, &filled.pressure, &boundary).expect("the floor is below");
    let dt = sph.wish().dt;
    let mut run = |sph: &mut Sph, from: u64, steps: u64| {
        for step in from..from + steps {
            let interval = Interval { step, dt };
            boundary.advance(interval.end(), dt);
            sph.step(&interval, &mut boundary).expect("it runs");
        }
    };
    // A collapse is measured while it runs, a bed when it has come to rest.
    let before = if settled { 200 } else { 40 };
    run(&mut sph, 0, before);
    let (taken, stages) = (sph.steps(), sph.stages());
    let begun = Instant::now();
    run(&mut sph, before, steps);
    let seconds = begun.elapsed().as_secs_f64();
    let work = (sph.steps() - taken) as f64 * sph.len() as f64;
    println!(
        "{} particles, {} steps in {seconds:.2} s: {:.2} M particle-steps/s",
        sph.len(),
        sph.steps() - taken,
        work / seconds * 1e-6
    );
    println!(
        "memory {:.0} bytes a particle, hash {:016x}",
        sph.memory() as f64 / sph.len() as f64,
        sph.hash(HASH_START)
    );
    for (stage, old) in sph.stages().iter().zip(&stages) {
        let (time, runs) = (stage.seconds - old.seconds, stage.runs - old.runs);
        println!(
            "  {:12} {:5.1} %  {:4} runs, {:6.1} ns a particle and run",
            stage.name,
            100.0 * time / seconds,
            runs,
            1e9 * time / (runs.max(1) as f64 * sph.len() as f64)
        );
    }
    for gauge in sph.totals().gauges {
        println!("  {}: {:.3e} {}", gauge.name, gauge.value, gauge.unit);
    }
}
