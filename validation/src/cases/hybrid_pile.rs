//! A pile whose grains become ground, against one of grains alone.

use crate::{Accept, Bench, Case, CaseError, Criterion, Findings, Group, Rig};
use barchan_dem::Dem;
use barchan_io::plot::{Axis, Plot, Series};
use glam::DVec2;
use std::collections::BTreeMap;

/// Mean diameter of the grains [m].
const D: f64 = 3e-3;
/// Grains a second, over the cube root of their number: the stream down the flank is as thick at the foot of a pile of any size.
const RATE: f64 = 70.0;
/// Time after the last grain [s].
const REST: f64 = 0.5;
/// Visible layer [d].
const LAYER: f64 = 2.0;
/// The surface within so many diameters of the axis is the top.
const TOP: f64 = 3.0;

pub const CASE: Case = Case {
    name: "hybrid-pile",
    title: "A pile that becomes ground",
    group: Group::Verification,
    about: "Grains of 3 mm (sizes ± 14 %, friction and rolling resistance of dry sand) fall from a spout onto bare ground and heap up. Poured \
            as grains alone, and with the exchange of grains and ground (a visible layer of two diameters): grains that lie still are held, those \
            well below the surface become columns. Slope and height of the two, each the mean of several piles from other random numbers; the \
            height is that of the surface within three diameters of the axis.",
    source: "Papadimitriou 2012, section 6.3",
    criteria: &[
        Criterion {
            key: "height",
            what: "height with exchange over that of grains alone",
            unit: "",
            accept: Accept::Near(1.0, 0.03),
            reference: "1",
        },
        Criterion {
            key: "slope",
            what: "slope with exchange less that of grains alone",
            unit: "deg",
            accept: Accept::Between(-2.0, 2.0),
            reference: "0",
        },
        Criterion {
            key: "mass",
            what: "mass of grains and ground less what was poured, over that",
            unit: "",
            accept: Accept::Between(-1e-12, 1e-12),
            reference: "0",
        },
    ],
    run,
};

/// A pile that was poured.
struct Pile {
    height: f64,
    slope: f64,
    /// Mass that is missing, over all.
    lost: f64,
    /// Share of the grains that was free when the stream ended.
    free: f64,
    /// Distance from the axis and height of the surface [mm].
    profile: Vec<[f64; 2]>,
}

fn pour(bench: &Bench, grains: f64, seed: usize, exchange: bool) -> Result<Pile, CaseError> {
    let size = grains.cbrt() * D;
    let (rate, wide, spout) = (RATE * grains.cbrt(), 2.1 * size, 0.83 * size + 6.0 * D);
    let pouring = grains / rate;
    let exchange = if exchange { format!(", exchange = {{ layer = {LAYER} }}") } else { String::new() };
    let mut rig = Rig::new(
        &format!(
            r#"
            duration = {end}
            seed = {seed}
            domain = {{ min = [-{wide}, -{wide}, -0.002], max = [{wide}, {wide}, {top}], outside = "remove" }}
            integrator = {{ max_overlap = 0.4 }}
            ground = {{ cell = {D}, floor = 0{exchange} }}
            [materials.sand]
            preset = "dry sand"
            young = "1 MPa"
            rolling = 0.2
            [[emitters]]
            material = "sand"
            radius = {{ uniform = [{small}, {large}] }}
            disc = {{ centre = [0, 0, {spout}], normal = [0, 0, -1], radius = {mouth} }}
            rate = {rate}
            velocity = [0, 0, -0.4]
            until = {pouring}
            [[measure]]
            repose = {{ point = [0, 0, 0] }}
            every = {end}
            "#,
            end = pouring + REST,
            top = spout + 2.0 * D,
            small = 0.43 * D,
            large = 0.57 * D,
            mouth = D * (rate / 60.0).sqrt().max(3.0),
        ),
        bench,
    )?;
    rig.run_to(pouring)?;
    let free = (rig.world.pieces() - rig.world.solver::<Dem>().map_or(0, |dem| dem.pinned().len())) as f64 / grains;
    rig.run_to(pouring + REST)?;
    let all = rig.world.account().map_or(f64::NAN, |a| a.mass(a.total()));
    let slope = rig.rows("repose").last().map_or(f64::NAN, |row| row[1]);
    let surface = surface(&rig);
    let top: Vec<f64> = surface.iter().filter(|p| p[0] < TOP * D).map(|p| p[1]).collect();
    let height = top.iter().sum::<f64>() / top.len() as f64;
    let lost = rig.world.balance().unwrap_or(f64::NAN) / all;
    Ok(Pile { height, slope, lost, free, profile: profile(&surface) })
}

/// The surface: distance from the axis and height [m] of the highest sphere over each square of a diameter.
fn surface(rig: &Rig) -> Vec<[f64; 2]> {
    let mut tops: BTreeMap<(i64, i64), f64> = BTreeMap::new();
    for s in rig.world.frame().grains().spheres() {
        let cell = ((s.centre.x / D).floor() as i64, (s.centre.y / D).floor() as i64);
        let top = tops.entry(cell).or_insert(0.0);
        *top = top.max(s.centre.z + s.radius);
    }
    let away = |x: i64, y: i64| D * DVec2::new(x as f64 + 0.5, y as f64 + 0.5).length();
    tops.into_iter().map(|((x, y), top)| [away(x, y), top]).collect()
}

/// Mean height of the surface over rings a diameter wide [mm].
fn profile(surface: &[[f64; 2]]) -> Vec<[f64; 2]> {
    let mut rings: BTreeMap<i64, (f64, f64)> = BTreeMap::new();
    for [away, top] in surface {
        let (sum, count) = rings.entry((away / D) as i64).or_insert((0.0, 0.0));
        (*sum, *count) = (*sum + top, *count + 1.0);
    }
    rings.into_iter().map(|(ring, (sum, count))| [1e3 * D * (ring as f64 + 0.5), 1e3 * sum / count]).collect()
}

fn run(bench: &Bench) -> Result<Findings, CaseError> {
    let (grains, seeds) = (bench.size.pick(1000.0, 5000.0, 10_000.0), bench.size.pick(6, 8, 4));
    let mut found = Findings::default();
    found.set_up("grains", format!("{grains}"));
    found.set_up("piles of each kind", seeds.to_string());
    let mut sums = [[0.0; 2]; 2];
    let (mut lost, mut free) = (0.0_f64, 0.0);
    let mut series = Vec::new();
    for seed in 1..=seeds {
        for (k, name) in ["grains alone", "with exchange"].into_iter().enumerate() {
            let pile = pour(bench, grains, seed, k == 1)?;
            found.remarks.push(format!("Pile {seed}, {name}: {:.1}°, {:.1} mm.", pile.slope, 1e3 * pile.height));
            sums[k][0] += pile.height / seeds as f64;
            sums[k][1] += pile.slope / seeds as f64;
            if k == 1 {
                lost = if pile.lost.abs() >= lost.abs() || pile.lost.is_nan() { pile.lost } else { lost };
                free += pile.free / seeds as f64;
            }
            if seed == 1 {
                series.push(if k == 0 { Series::dashes(name, pile.profile) } else { Series::line(name, pile.profile) });
            }
        }
    }
    let [[height, slope], [height_with, slope_with]] = sums;
    found.found("height", height_with / height);
    found.found("slope", slope_with - slope);
    found.found("mass", lost);
    found.set_up("free when the stream ends", format!("{:.0} %", 100.0 * free));
    found.plots.push(Plot {
        title: "Surface of a pile".into(),
        x: Axis::linear("distance from the axis [mm]"),
        y: Axis::linear("height [mm]"),
        series,
    });
    Ok(found)
}
