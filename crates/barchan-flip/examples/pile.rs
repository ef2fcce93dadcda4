//! A planar heap, cut at an angle, settles; prints the slope of its flanks and the speed of the solver.
//!
//!   cargo run --release -p barchan-flip --example pile -- ASKED CUT HEIGHT DEPTH STEPS

use barchan_core::boundary::Fixtures;
use barchan_core::materials::{Material, Materials};
use barchan_core::solver::{Domain, Solver};
use barchan_core::walls::{Geometry, Wall};
use barchan_flip::{Alone, Settings};
use glam::DVec3;
use std::time::Instant;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let given: Vec<f64> = std::env::args().skip(1).filter_map(|a| a.parse().ok()).collect();
    let value = |k: usize, default: f64| given.get(k).copied().unwrap_or(default);
    let (asked, cut, height, depth, steps) =
        (value(0, 30.0), value(1, 34.0), value(2, 16.0), value(3, 8.0), value(4, 200.0));
    let base = height / cut.to_radians().tan();
    let half = (2.0 * base / 8.0).ceil() * 8.0;
    let sand = Material {
        name: "sand".into(),
        density: 2650.0,
        young: 1e7,
        poisson: 0.3,
        restitution: 0.2,
        friction: 1.0,
        rolling: 0.0,
        twisting: 0.0,
        cohesion: 0.0,
    };
    let domain = Domain {
        min: DVec3::ZERO,
        max: DVec3::new(2.0 * half, depth, (2.0 * height / 8.0).ceil() * 8.0),
        periodic: [false, true, false],
    };
    let settings = Settings {
        gravity: DVec3::new(0.0, 0.0, -1.0),
        friction_angle: asked.to_radians(),
        ..Settings::sand(domain, 1.0, Materials { list: vec![sand], overrides: vec![] })
    };
    let floor = Wall::new("floor", Geometry::Plane { point: DVec3::ZERO, normal: DVec3::Z }, 0);
    let mut world = Alone::new(settings, Fixtures { walls: vec![floor], carried: vec![] })?;
    let inside = |x: DVec3| x.z < (base - (x.x - half).abs()) * cut.to_radians().tan();
    world.fill([[0, 0, 0], [2 * half as i32, depth as i32, height as i32 + 1]], inside, |_| DVec3::ZERO)?;
    println!("{} parcels, {} threads", world.len(), rayon::current_num_threads());
    let start: Vec<DVec3> = {
        let mut rows: Vec<(u32, DVec3)> = (0..world.len()).map(|i| (world.id(i), world.position(i))).collect();
        rows.sort_by_key(|r| r.0);
        rows.into_iter().map(|r| r.1).collect()
    };
    let begun = Instant::now();
    let mut taken = 0u32;
    for n in 1..=steps as u32 {
        world.step()?;
        taken += world.report().substeps;
        if n % (steps as u32 / 10).max(1) == 0 {
            let (v, moved) = (0..world.len()).fold((0.0, 0.0), |(v, m), i| {
                (v + world.velocity(i).length_squared(), m + world.position(i).distance(start[world.id(i) as usize]))
            });
            let count = world.len() as f64;
            let r = world.report();
            println!(
                "t {:7.2}  slope {:5.2}  rms {:.5}  moved {:.3}  nu {:.3}  p {:3} its ({:.0e})  s {:2} its ({:.0e})  pack {:2} ({:.0e})",
                f64::from(n) * world.dt,
                slope(&world, half, depth),
                (v / count).sqrt(),
                moved / count,
                r.fullest,
                r.press_iterations,
                r.press.residual,
                r.grip.iterations,
                r.grip.change,
                r.pack.iterations,
                r.pack.residual,
            );
        }
    }
    let seconds = begun.elapsed().as_secs_f64();
    let work = world.len() as f64 * f64::from(taken);
    println!("{seconds:.2} s, {taken} steps, {:.0} parcel-steps/s, hash {:016x}", work / seconds, world.hash());
    for stage in world.stages() {
        println!("  {:10} {:5.1} %", stage.name, 100.0 * stage.seconds / seconds);
    }
    Ok(())
}

/// Mean slope of both flanks [deg], by least squares over the middle of the height.
fn slope(world: &Alone, half: f64, depth: f64) -> f64 {
    let mut height = vec![0.0; 2 * half as usize];
    for i in 0..world.len() {
        height[(world.position(i).x as usize).min(2 * half as usize - 1)] += 1.0 / (8.0 * depth);
    }
    let top = height.iter().fold(0.0, |m: f64, h| m.max(*h));
    let flank = |side: f64| {
        let points: Vec<(f64, f64)> = (0..height.len())
            .map(|k| ((k as f64 + 0.5 - half) * side, height[k]))
            .filter(|(x, h)| *x > 0.0 && (0.2 * top..0.8 * top).contains(h))
            .collect();
        let n = points.len() as f64;
        let (mx, mh) = points.iter().fold((0.0, 0.0), |m, p| (m.0 + p.0 / n, m.1 + p.1 / n));
        let (a, b) =
            points.iter().fold((0.0, 0.0), |s, p| (s.0 + (p.0 - mx) * (p.1 - mh), s.1 + (p.0 - mx) * (p.0 - mx)));
        (-a / b).atan().to_degrees()
    };
    0.5 * (flank(1.0) + flank(-1.0))
}
