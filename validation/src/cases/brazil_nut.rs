//! A large grain rises through a shaken bed.

use crate::{Accept, Bench, Case, CaseError, Criterion, Findings, Group, Rig};
use barchan_io::plot::{Axis, Plot, Series};

/// Diameter of the small grains [m].
const D: f64 = 4e-3;
/// That of the large one over it.
const RATIO: f64 = 3.0;
/// Amplitude [m] and frequency [1/s] of the floor: 3.5 times gravity.
const AMPLITUDE: f64 = 6e-3;
const FREQUENCY: f64 = 12.0;
/// Side of the periodic floor over the small diameter.
const SIDE: f64 = 10.0;
/// When shaking begins [s].
const SETTLED: f64 = 0.3;

pub const CASE: Case = Case {
    name: "brazil-nut",
    title: "A large grain rises when shaken",
    group: Group::Beyond,
    about: "A ball three times as large as the rest, of the same material, lies at the bottom of a bed on a floor that is shaken up \
            and down with 3.5 times gravity. The sides are periodic, so that no convection at walls can carry it: small grains \
            fall into the gap below it, and it rises. Its rank is the share of the small grains that are lower than it. The control is \
            in the same bed: small grains that lay as low as it did must not rise beyond the middle, where mixing would bring them.",
    source: "Rosato, Strandburg, Prinz and Swendsen 1987, Phys. Rev. Lett. 58, 1038",
    criteria: &[
        Criterion {
            key: "rank",
            what: "rank of the large grain in the last ten cycles",
            unit: "",
            accept: Accept::Above(0.5),
            reference: "it rises to the top",
        },
        Criterion {
            key: "rise",
            what: "rank gained since it was shaken",
            unit: "",
            accept: Accept::Above(0.3),
            reference: "it rises",
        },
        Criterion {
            key: "control",
            what: "mean rank of small grains that lay as low, in the last ten cycles",
            unit: "",
            accept: Accept::Below(0.55),
            reference: "at most 0.5, if all mix",
        },
        Criterion {
            key: "beyond",
            what: "rank of the large grain beyond theirs, in the last ten cycles",
            unit: "",
            accept: Accept::Above(0.2),
            reference: "size alone makes it rise",
        },
    ],
    run,
};

fn run(bench: &Bench) -> Result<Findings, CaseError> {
    let (layers, cycles) = bench.size.pick((10.0, 60), (12.0, 120), (20.0, 300));
    // The time step goes with the root of the modulus.
    let young: f64 = bench.size.pick(5e7, 2e8, 1e9);
    let side = SIDE * D;
    let small = (SIDE * SIDE * layers * 0.6 / (std::f64::consts::PI / 6.0)) as u64;
    let large = 0.5 * RATIO * D;
    let mut rig = Rig::new(
        &format!(
            r#"
            duration = {0}
            [domain]
            min = [0, 0, {1}]
            max = [{side}, {side}, {2}]
            periodic = ["x", "y"]
            [integrator]
            dt = {8}
            max_overlap = 0.2
            [materials.nuts]
            density = 2500
            young = {young}
            restitution = 0.6
            friction = 0.5
            [[grains]]
            material = "nuts"
            radius = {large}
            at = [[{3}, {3}, {large}]]
            [[grains]]
            material = "nuts"
            radius = {{ uniform = [{4}, {5}] }}
            fill = {{ box = {{ min = [0, 0, {7}], max = [{side}, {side}, {6}] }}, count = {small} }}
            [[walls]]
            material = "nuts"
            plane = {{ point = [0, 0, 0], normal = [0, 0, 1] }}
            oscillate = {{ direction = [0, 0, 1], amplitude = {AMPLITUDE}, frequency = {FREQUENCY} }}
            from = {SETTLED}
            "#,
            SETTLED + cycles as f64 / FREQUENCY,
            -5.0 * D,
            8.0 * layers * D,
            0.5 * side,
            0.475 * D,
            0.525 * D,
            3.0 * layers * D,
            2.0 * large,
            1.25e-5 * (5e7 / young).sqrt(),
        ),
        bench,
    )?;
    rig.run_to(SETTLED)?;
    let height = |rig: &Rig| -> Vec<(u32, f64)> {
        let f = rig.world.frame().grains().clone();
        (0..f.len()).map(|g| (f.id[g], f.position[g].z)).collect()
    };
    let nut = {
        let f = rig.world.frame().grains().clone();
        (0..f.len()).find(|&g| f.radius[g] > D).map(|g| f.id[g])
    };
    let nut = nut.ok_or_else(|| CaseError::Unmeasured("the large grain is gone".into()))?;
    let start = height(&rig);
    let level = start.iter().find(|h| h.0 == nut).map_or(f64::NAN, |h| h.1);
    let low: Vec<u32> = start.iter().filter(|h| h.0 != nut && (h.1 - level).abs() < 0.5 * D).map(|h| h.0).collect();
    let (mut nuts, mut others) = (Vec::new(), Vec::new());
    let mut overlap = 0f64;
    for cycle in 0..=cycles {
        rig.run_to(SETTLED + cycle as f64 / FREQUENCY)?;
        overlap = overlap.max(rig.world.gauge("largest overlap").unwrap_or(0.0));
        let heights = height(&rig);
        let mut sorted: Vec<f64> = heights.iter().filter(|h| h.0 != nut).map(|h| h.1).collect();
        sorted.sort_by(f64::total_cmp);
        let rank = |z: f64| sorted.partition_point(|x| *x < z) as f64 / sorted.len() as f64;
        let of = |ids: &[u32]| {
            let mine = heights.iter().filter(|h| ids.contains(&h.0)).map(|h| rank(h.1));
            mine.sum::<f64>() / ids.len().max(1) as f64
        };
        nuts.push([cycle as f64, of(&[nut])]);
        others.push([cycle as f64, of(&low)]);
    }
    let last = |series: &[[f64; 2]]| series[series.len() - 10..].iter().map(|p| p[1]).sum::<f64>() / 10.0;
    let mut found = Findings::default();
    found.set_up("small grains", format!("{small} of {:.0} mm ± 5 %", D * 1e3));
    found.set_up("cycles", format!("{cycles} of amplitude {} mm at {FREQUENCY} Hz", AMPLITUDE * 1e3));
    found.set_up("grains of the control", low.len().to_string());
    found.set_up("steps", rig.world.steps().to_string());
    found.found("rank", last(&nuts));
    found.found("rise", last(&nuts) - nuts[0][1]);
    found.found("control", last(&others));
    found.found("beyond", last(&nuts) - last(&others));
    let half = nuts.iter().find(|p| p[1] > 0.5).map(|p| p[0]);
    found.remarks.push(match half {
        Some(cycle) => format!("It passed the middle of the bed after {cycle} cycles."),
        None => "It did not pass the middle of the bed.".into(),
    });
    found.remarks.push(format!(
        "Largest overlap over the radius, once a cycle: {:.1} %: E is {:.0} MPa, and the whole bed strikes the floor at once.",
        100.0 * overlap,
        young / 1e6
    ));
    found.plots.push(Plot {
        title: "A large grain in a shaken bed".into(),
        x: Axis::linear("cycles"),
        y: Axis::linear("share of small grains that are lower"),
        series: vec![
            Series::line("large grain", nuts),
            Series::line("small grains from the same height, mean", others),
            Series::dashes("the middle", vec![[0.0, 0.5], [cycles as f64, 0.5]]),
        ],
    });
    Ok(found)
}
