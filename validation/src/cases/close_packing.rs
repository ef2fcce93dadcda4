//! A gas of equal spheres, compressed from all sides until it carries a load.

use crate::{Accept, Bench, Case, CaseError, Criterion, Findings, Group, Rig};
use barchan_io::plot::{Axis, Plot, Series};
use std::f64::consts::PI;

/// Diameter of the spheres [m].
const D: f64 = 2e-3;
/// Density [kg/m³].
const DENSITY: f64 = 2500.0;
/// Young's modulus [Pa], and the pressure of the walls [Pa]: a millionth of it, so that spheres overlap by 0.02 % of their
/// diameter.
const YOUNG: f64 = 5e7;
const PRESSURE: f64 = 50.0;
/// Volume fraction of the gas at first.
const GAS: f64 = 0.3;
/// Rate of compression over the time in which the pressure moves a grain by its size, ε̇ d √(ρ/P).
const INERTIAL: f64 = 0.01;
/// Of grains and walls. The source damps more; with 0.1 and as long a time step as is let through the dashpots of a packing keep a
/// trembling alive in which friction creeps, and the packing with it.
const RESTITUTION: f64 = 0.5;
/// Distances from the walls at which boxes to measure in begin, in diameters; the last but one is that of the criteria.
const INSETS: [f64; 5] = [0.0, 1.5, 2.5, 3.5, 4.5];

pub const CASE: Case = Case {
    name: "close-packing",
    title: "Random packings of spheres",
    group: Group::Beyond,
    about: "Equal spheres, thrown into a cube at random, are compressed along all three directions by smooth plungers that hold a \
            pressure of a millionth of Young's modulus, without gravity; once without friction and once with μ 0.3. Volume \
            fraction and contacts a grain (rattlers left out) are measured in the inner part, 3.5 diameters from the walls, \
            where their layers have died out.",
    source: "Agnolin and Roux 2007, Phys. Rev. E 76, 061302 (states A and D)",
    criteria: &[
        Criterion {
            key: "close",
            what: "volume fraction without friction",
            unit: "",
            accept: Accept::Near(0.639, 0.015),
            reference: "0.639",
        },
        Criterion {
            key: "close-contacts",
            what: "contacts a grain without friction, rattlers left out",
            unit: "",
            accept: Accept::Near(6.0, 0.05),
            reference: "6",
        },
        Criterion {
            key: "loose",
            what: "volume fraction with μ 0.3",
            unit: "",
            accept: Accept::Near(0.593, 0.02),
            reference: "0.593",
        },
        Criterion {
            key: "loose-contacts",
            what: "contacts a grain with μ 0.3, rattlers left out",
            unit: "",
            accept: Accept::Between(4.1, 4.9),
            reference: "about 4.5",
        },
        Criterion {
            key: "motion",
            what: "kinetic energy left over pressure times volume, at most",
            unit: "",
            accept: Accept::Below(1e-4),
            reference: "at rest",
        },
    ],
    run,
};

/// What came of one compression.
struct Packed {
    /// Time in units of d √(ρ/P), volume fraction and contacts without rattlers of the inner part.
    path: Vec<[f64; 3]>,
    /// By inset: volume fraction.
    fraction: [f64; INSETS.len()],
    rattlers: f64,
    /// Kinetic energy over P V.
    motion: f64,
    overlap: f64,
    grains: f64,
    steps: u64,
}

fn run(bench: &Bench) -> Result<Findings, CaseError> {
    let mut found = Findings::default();
    let [close, loose] = [compress(bench, 0.0, 0.62)?, compress(bench, 0.3, 0.575)?];
    let last = |p: &Packed| p.path[p.path.len() - 1];
    found.set_up("grains", bench.size.pick(4000, 16_000, 32_000).to_string());
    found.set_up("grains measured", format!("{} and {}", close.grains, loose.grains));
    found.set_up("pressure over Young's modulus", format!("{:.0e}", PRESSURE / YOUNG));
    found.set_up("rate of compression ε̇ d √(ρ/P)", INERTIAL.to_string());
    found.set_up("steps", format!("{} and {}", close.steps, loose.steps));
    found.found("close", last(&close)[1]);
    found.found("close-contacts", last(&close)[2]);
    found.found("loose", last(&loose)[1]);
    found.found("loose-contacts", last(&loose)[2]);
    found.found("motion", close.motion.max(loose.motion));
    let share = |x: f64| format!("{:.1} %", 100.0 * x);
    found.remarks.push(format!(
        "Rattlers: {} without friction (fewer than four contacts), {} with (fewer than two). Largest overlap over the radius: \
         {} and {}.",
        share(close.rattlers),
        share(loose.rattlers),
        share(close.overlap),
        share(loose.overlap)
    ));
    found.remarks.push(format!(
        "Restitution is {RESTITUTION}. With 0.1 and a time step of 0.22 of the Rayleigh time the packing with friction did not come to rest: \
         it crept from 0.590 to 0.610, and to 5.4 contacts, between 34 and 97 d √(ρ/P). With a step of 0.05 it stops."
    ));
    let both = [("without friction", &close, 0.639, 6.0), ("μ 0.3", &loose, 0.593, 4.5)];
    let mut plot = |title: &str, x: &str, y: &str, of: &dyn Fn(&Packed) -> Vec<[f64; 2]>, reference: usize| {
        let mut series = Vec::new();
        for (name, packed, fraction, contacts) in both {
            let (ours, level) = (of(packed), if reference == 1 { fraction } else { contacts });
            let ends = [ours[0][0], ours[ours.len() - 1][0]].map(|x| [x, level]);
            series.push(Series::line(name, ours));
            series.push(Series::dashes(format!("Agnolin and Roux, {name}"), ends.to_vec()));
        }
        let (x, y) = (Axis::linear(x), Axis::linear(y));
        found.plots.push(Plot { title: title.into(), x, y, series });
    };
    let path = |k: usize| move |p: &Packed| p.path.iter().map(|r| [r[0], r[k]]).collect();
    plot("Compression of a gas", "time over d √(ρ/P)", "volume fraction", &path(1), 1);
    plot("Contacts during the compression", "time over d √(ρ/P)", "contacts a grain", &path(2), 2);
    let insets = |p: &Packed| INSETS.iter().zip(p.fraction).map(|(x, f)| [*x, f]).collect();
    plot("The walls' layers", "distance from the walls over d", "volume fraction of the box within", &insets, 1);
    Ok(found)
}

/// Compresses a gas; the walls end where the whole has about the fraction `end`.
fn compress(bench: &Bench, friction: f64, end: f64) -> Result<Packed, CaseError> {
    let grains = bench.size.pick(4000.0, 16_000.0, 32_000.0);
    let side = |fraction: f64| (grains * PI / 6.0 / fraction).cbrt() * D;
    let (from, to) = (side(GAS), side(end));
    let moment = D * (DENSITY / PRESSURE).sqrt();
    let speed = INERTIAL / moment * to;
    // Twice as long to come to rest as the way takes.
    let duration = 3.0 * (from - to) / speed;
    let rayleigh = PI * 0.5 * D * (DENSITY * 2.6 / YOUNG).sqrt() / 0.9255;
    // A plunger of a tenth of the grains' mass, which falls freely at the rate of compression.
    let (load, mass) = (PRESSURE * to * to, 0.1 * grains * DENSITY * PI / 6.0 * D.powi(3));
    let plates = ["x", "y", "z"].iter().enumerate().map(|(k, name)| {
        let unit = |s: f64| -> [f64; 3] { std::array::from_fn(|a| if a == k { s } else { 0.0 }) };
        format!(
            "[[walls]]\nname = \"{name} low\"\nmaterial = \"plate\"\nplane = {{ point = [0, 0, 0], normal = {:?} }}\n\
             [[walls]]\nname = \"{name} high\"\nmaterial = \"plate\"\nplane = {{ point = {:?}, normal = {:?} }}\n\
             drive = {{ axis = {:?}, mass = {mass}, load = {load}, damping = {} }}\n",
            unit(1.0),
            unit(from),
            unit(-1.0),
            unit(-1.0),
            load / speed
        )
    });
    let inner = INSETS.iter().map(|inset| {
        let (a, b) = (inset * D, to - inset * D);
        format!(
            "[[measure]]\nname = \"inset {inset}\"\nevery = {}\npacking = {{ box = {{ min = {:?}, max = {:?} }} }}\n",
            duration / 60.0,
            [a; 3],
            [b; 3]
        )
    });
    let mut rig = Rig::new(
        &format!(
            r#"
            duration = {duration}
            gravity = [0, 0, 0]
            [domain]
            min = [{0}, {0}, {0}]
            max = [{1}, {1}, {1}]
            [integrator]
            dt = {2}
            [materials.sphere]
            density = {DENSITY}
            young = {YOUNG}
            restitution = {RESTITUTION}
            friction = {friction}
            [materials.plate]
            density = {DENSITY}
            young = {YOUNG}
            restitution = {RESTITUTION}
            friction = 0
            [[grains]]
            material = "sphere"
            radius = {3}
            velocity_spread = 0.05
            fill = {{ box = {{ min = [0, 0, 0], max = [{from}, {from}, {from}] }}, method = "random", count = {grains} }}
            {4}{5}
            [[measure]]
            energy = {{}}
            every = {6}
            "#,
            -0.1 * from,
            1.1 * from,
            0.2 * rayleigh,
            0.5 * D,
            plates.collect::<String>(),
            inner.collect::<String>(),
            duration / 60.0,
        ),
        bench,
    )?;
    rig.run_to(duration)?;
    let rows = |inset: f64| rig.rows(&format!("inset {inset}"));
    let last = |inset: f64| rows(inset)[rows(inset).len() - 1].clone();
    let inner = last(INSETS[3]);
    let energy = &rig.rows("energy")[rig.rows("energy").len() - 1];
    Ok(Packed {
        path: rows(INSETS[3]).iter().map(|r| [r[0] / moment, r[1], r[4]]).collect(),
        fraction: INSETS.map(|inset| last(inset)[1]),
        rattlers: inner[5],
        grains: inner[2],
        motion: energy[1] / (PRESSURE * to.powi(3)),
        overlap: rig.world.gauge("largest overlap").unwrap_or(0.0),
        steps: rig.world.steps(),
    })
}
