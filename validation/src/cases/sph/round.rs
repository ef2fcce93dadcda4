//! Round columns of a continuum that collapse.

use super::{D, FLOOR, G, continuum, head, particles, rig, rms, unit};
use crate::{Accept::Below, Bench, Case, CaseError, Criterion, Findings, Group};
use barchan_core::frame::Population;
use barchan_io::plot::{Axis, Plot, Series};
use glam::DVec3;

pub const CASE: Case = Case {
    name: "sph-round",
    title: "Round columns of a continuum collapse",
    group: Group::Continuum,
    about: "A round column of height a R₀ is let go on a rough floor; φ is 30°. When it has come to rest its run-out over R₀ is held against 1.24 a (a \
            below 1.7) and 1.6 √a, its height against 0.88 a^(1/6) for the tall one. The deposit ends where it is one particle high; with the slope θ \
            of its flank it would taper off d/tan θ further on, which is added. R₀ is 8 particles at quick size, 20 at standard.",
    source: "Lube, Huppert, Sparks, Hallworth 2004, J. Fluid Mech. 508, 175",
    criteria: &[
        Criterion::new("low", "a 1: run-out off 1.24 a, over it", "", Below(0.2), "0"),
        Criterion::new("tall", "a 3: run-out off 1.6 √a, over it", "", Below(0.2), "0"),
        Criterion::new("height", "a 3: final height off 0.88 a^(1/6) R₀, over it", "", Below(0.2), "0"),
        Criterion::new("round", "a 1: spread of the run-out over eight directions, over it", "", Below(0.1), "0"),
    ],
    run,
};

/// Heights [m] of a deposit around the axis in rings of 1.5 spacings: the mean over directions of the highest in each.
fn profile(p: &Population, sectors: usize) -> Vec<[f64; 2]> {
    let width = 1.5 * D;
    let mut tops: Vec<Vec<f64>> = Vec::new();
    for x in p.position.iter() {
        let (r, angle) = (x.x.hypot(x.y), x.y.atan2(x.x) + std::f64::consts::PI);
        let (ring, sector) =
            ((r / width) as usize, (angle / std::f64::consts::TAU * sectors as f64) as usize % sectors);
        if tops.len() <= ring {
            tops.resize(ring + 1, vec![0.0; sectors]);
        }
        tops[ring][sector] = tops[ring][sector].max(x.z + 0.5 * D);
    }
    let mean = |t: &Vec<f64>| t.iter().sum::<f64>() / t.len() as f64;
    tops.iter().enumerate().map(|(k, t)| [(k as f64 + 0.5) * width, mean(t)]).collect()
}

/// Radius [m] at which a profile falls below one particle.
fn edge(profile: &[[f64; 2]]) -> f64 {
    let Some(k) = profile.iter().position(|p| p[1] < D) else { return profile.last().map_or(f64::NAN, |p| p[0]) };
    let (a, b) = (profile[k.saturating_sub(1)], profile[k]);
    if a[1] <= b[1] { b[0] } else { a[0] + (b[0] - a[0]) * ((a[1] - D) / (a[1] - b[1])) }
}

struct Fall {
    run_out: f64,
    height: f64,
    spread: f64,
}

fn fall(bench: &Bench, spacings: f64, a: f64) -> Result<Fall, CaseError> {
    let radius = spacings * D;
    let (height, reach) = (a * radius, radius * (2.5 + 2.0 * a.sqrt()));
    let space = head(0.0, DVec3::new(-reach, -reach, -0.1), DVec3::new(reach, reach, height + 10.0 * D), "");
    let fill = format!(
        "fill = {{ cylinder = {{ base = [0, 0, 0], axis = [0, 0, 1], radius = {radius}, height = {height} }} }}"
    );
    let mut rig = rig(&(space + &continuum(30.0, &fill) + FLOOR), bench)?;
    let end = 6.0 * (height / G).sqrt();
    while rig.world.time() < end {
        rig.step()?;
        if rig.world.time() > 0.5 * end && rms(&particles(&rig)) < 0.01 * unit() {
            break;
        }
    }
    let p = particles(&rig);
    let whole = profile(&p, 24);
    // The flank near the edge, over the lowest 20 to 60 % of the height.
    let slope = super::flank(&whole, 0.2, 0.6).to_radians().tan();
    let out = |edge: f64| (edge + D / slope - radius) / radius;
    let sector = |k: usize| {
        let turn = |x: &DVec3| (x.y.atan2(x.x) + std::f64::consts::PI) / std::f64::consts::TAU * 8.0;
        let position = p.position.iter().filter(|x| turn(x) as usize % 8 == k).copied().collect();
        let part = Population { position, ..Population::default() };
        // All in one sector of the profile.
        out(edge(&profile_of_sector(&part)))
    };
    let each: Vec<f64> = (0..8).map(sector).collect();
    let mean = each.iter().sum::<f64>() / 8.0;
    let spread = (each.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 8.0).sqrt() / mean;
    let near = p.position.iter().filter(|x| x.x.hypot(x.y) < 3.0 * D);
    let top = near.map(|x| x.z + 0.5 * D).fold(0.0, f64::max);
    Ok(Fall { run_out: out(edge(&whole)), height: top / radius, spread })
}

fn profile_of_sector(p: &Population) -> Vec<[f64; 2]> {
    profile(p, 1)
}

fn run(bench: &Bench) -> Result<Findings, CaseError> {
    let mut found = Findings::default();
    let spacings = bench.size.pick(8.0, 20.0, 30.0);
    let law = |a: f64| if a < 1.7 { 1.24 * a } else { 1.6 * a.sqrt() };
    let (low, tall) = (fall(bench, spacings, 1.0)?, fall(bench, spacings, 3.0)?);
    found.set_up("column's radius", format!("{spacings} particles"));
    found.found("low", (low.run_out / law(1.0) - 1.0).abs());
    found.found("tall", (tall.run_out / law(3.0) - 1.0).abs());
    found.found("height", (tall.height / (0.88 * 3f64.powf(1.0 / 6.0)) - 1.0).abs());
    found.found("round", low.spread);
    found.remarks.push(format!(
        "run-outs {:.2} and {:.2} R₀ (laws 1.24 and 2.77), height of the tall one {:.2} R₀ (law 1.06)",
        low.run_out, tall.run_out, tall.height
    ));
    found.plots.push(Plot {
        title: "Run-out of a round column".into(),
        x: Axis::log("height over radius a"),
        y: Axis::log("run-out over radius"),
        series: vec![
            Series::dots("barchan", vec![[1.0, low.run_out], [3.0, tall.run_out]]),
            Series::dashes("1.24 a, 1.6 √a", (2..=20).map(|k| 0.25 * f64::from(k)).map(|a| [a, law(a)]).collect()),
        ],
    });
    Ok(found)
}
