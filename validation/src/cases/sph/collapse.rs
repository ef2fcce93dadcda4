//! Columns of a continuum that collapse.

use super::{D, FLOOR, continuum, filled, particles, rig, rms, slice, unit};
use crate::{Accept::Below, Bench, Case, CaseError, Criterion, Findings, Group};
use barchan_io::plot::{Axis, Plot, Series};

pub const CASE: Case = Case {
    name: "sph-collapse",
    title: "Columns of a continuum collapse and run out",
    group: Group::Continuum,
    about: "A column of height a L against a wall, as a periodic slice, is let go on a rough floor; φ is 30°. When it has come to rest its run-out \
            over L is held against 1.2 a (a below 1.8) and 1.9 a^(2/3) (above 2.8). The deposit ends where it is one particle high; with the slope θ of \
            its flank it would taper off d/tan θ further on, which is added. L is 14 particles at quick size, 40 at standard.",
    source: "Lajeunesse, Monnier & Homsy 2005, Phys. Fluids 17, 103302; Lube et al. 2005, Phys. Rev. E 72, 041301",
    criteria: &[
        Criterion::new("low", "a 1: run-out off 1.2 a, over it", "", Below(0.2), "0"),
        Criterion::new("tall", "a 4: run-out off 1.9 a^(2/3), over it", "", Below(0.2), "0"),
        Criterion::new("time", "a 4: time until 95 % of the run-out, over 3.3 √(H/g), off 1", "", Below(0.25), "0"),
    ],
    run,
};

/// Run-out over the column's width, and the time [s] at which 95 % of it was reached; with more words for the continuum.
pub fn run_out(bench: &Bench, spacings: f64, a: f64, more: &str) -> Result<[f64; 2], CaseError> {
    let width = spacings * D;
    let height = a * width;
    let length = width * (2.0 + 2.5 * a);
    let fill = more.to_owned() + &filled([0.0, 0.0, 0.0], [width, 4.0 * D, height]);
    let back = r#"
        [[walls]]
        name = "back"
        material = "floor"
        plane = { point = [0, 0, 0], normal = [1, 0, 0] }
        "#;
    let text = slice(0.0, length, height + 10.0 * D, false) + &continuum(30.0, &fill) + FLOOR + back;
    let mut rig = rig(&text, bench)?;
    let end = 6.0 * (height / super::G).sqrt();
    let mut fronts: Vec<[f64; 2]> = Vec::new();
    while rig.world.time() < end {
        rig.step()?;
        fronts.push([rig.world.time(), front(&particles(&rig))]);
        if rig.world.time() > 0.5 * end && rms(&particles(&rig)) < 0.01 * unit() {
            break;
        }
    }
    let last = fronts.last().map_or(f64::NAN, |f| f[1]);
    let reached = fronts.iter().find(|f| f[1] - width > 0.95 * (last - width)).map_or(f64::NAN, |f| f[0]);
    // The edge is where the deposit is one particle high: thinner than that there is no continuum, and it tapers off unseen.
    let slope = super::flank(&super::surface(&particles(&rig), 1.5 * D), 0.1, 0.5).to_radians().tan();
    let taper = if slope > 0.0 { D / slope } else { 0.0 };
    Ok([(last + taper - width) / width, reached])
}

/// Where the deposit ends [m]: the farthest place that is one particle high, so that single ones that rolled ahead do not count.
fn front(p: &barchan_core::frame::Population) -> f64 {
    let mut ahead: Vec<f64> = p.position.iter().map(|x| x.x).collect();
    ahead.sort_by(|a, b| b.total_cmp(a));
    // A row of the slice has four particles.
    ahead.get(4).copied().unwrap_or(f64::NAN) + 0.5 * D
}

fn run(bench: &Bench) -> Result<Findings, CaseError> {
    let mut found = Findings::default();
    let spacings = bench.size.pick(14.0, 40.0, 60.0);
    let law = |a: f64| if a < 2.3 { 1.2 * a } else { 1.9 * a.powf(2.0 / 3.0) };
    let mut seen = Vec::new();
    let between: &[(f64, Option<&'static str>)] =
        bench.size.pick(&[], &[(0.5, None), (2.0, None)], &[(0.5, None), (2.0, None)]);
    for &(a, key) in between.iter().chain(&[(1.0, Some("low")), (4.0, Some("tall"))]) {
        let [out, reached] = run_out(bench, spacings, a, "")?;
        seen.push([a, out]);
        if let Some(key) = key {
            found.found(key, (out / law(a) - 1.0).abs());
        }
        if key == Some("tall") {
            found.found("time", (reached / (3.3 * (a * spacings * D / super::G).sqrt()) - 1.0).abs());
        }
    }
    found.set_up("column's width", format!("{spacings} particles"));
    found.plots.push(Plot {
        title: "Run-out of a planar column".into(),
        x: Axis::log("height over width a"),
        y: Axis::log("run-out over width"),
        series: vec![
            Series::dots("barchan", seen),
            Series::dashes("1.2 a, 1.9 a^(2/3)", (2..=20).map(|k| 0.25 * f64::from(k)).map(|a| [a, law(a)]).collect()),
        ],
    });
    Ok(found)
}
