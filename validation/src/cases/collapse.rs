//! Collapse of round columns.

use super::bulk::{D, DENSITY, G, head, overlap, tick, to_rest};
use crate::{Accept, Bench, Case, CaseError, Criterion, Findings, Group, Rig};
use barchan_io::plot::{Axis, Plot, Series};

/// Level of the rough floor over the middle of its spheres, in d: the mean height of the surface of close-packed spheres.
const FLOOR: f64 = 0.3;
/// Aspect ratio at which the law of the run-out changes.
const TALL: f64 = 1.7;

pub const CASE: Case = Case {
    name: "collapse",
    title: "Collapse of a round column",
    group: Group::Beyond,
    about: "A round column of spheres (sizes ± 10 %, friction and rolling resistance of the preset `dry sand`) of height H₀ and radius R₀ settles \
            in a smooth cylinder on a floor of glued spheres, which is then lifted at twice √(g H₀). Run-out and final height follow a = H₀/R₀ alone: \
            (r − R₀)/R₀ = 1.24 a up to a = 1.7 and 1.6 √a beyond; h/R₀ = 0.88 a^(1/6) for tall columns. The deposit ends where half \
            the floor is bare, one grain thick; with the slope θ of its flank it would taper off d/tan θ further on, which is added: \
            nothing at R₀ = 30 d and more, where the law is free of the size of grains, but a fifth of R₀ at the 10 d of the quick \
            size.",
    source: "Lube, Huppert, Sparks, Hallworth 2004, J. Fluid Mech. 508, 175",
    criteria: &[
        Criterion {
            key: "low",
            what: "run-out over 1.24 a, mean of the low columns",
            unit: "",
            accept: Accept::Near(1.0, 0.25),
            reference: "1",
        },
        Criterion {
            key: "tall",
            what: "run-out over 1.6 √a, mean of the tall columns",
            unit: "",
            accept: Accept::Near(1.0, 0.2),
            reference: "1",
        },
        Criterion {
            key: "height",
            what: "final height over 0.88 a^(1/6), mean of the tall columns",
            unit: "",
            accept: Accept::Near(1.0, 0.2),
            reference: "1",
        },
        Criterion {
            key: "crossover",
            what: "largest deviation of a run-out from the laws, of the laws",
            unit: "",
            accept: Accept::Below(0.35),
            reference: "0",
        },
    ],
    run,
};

/// The laws of Lube et al.: run-out and, for tall columns, height, over R₀.
fn run_out(a: f64) -> f64 {
    if a < TALL { 1.24 * a } else { 1.6 * a.sqrt() }
}

fn height(a: f64) -> f64 {
    if a < 1.0 { a } else { 0.88 * a.powf(1.0 / 6.0) }
}

struct Fall {
    /// H₀/R₀ of the settled column.
    aspect: f64,
    run_out: f64,
    /// What lies beyond the edge, where the deposit would be thinner than a grain, over R₀.
    tail: f64,
    height: f64,
    grains: usize,
    overlap: f64,
    angle: f64,
    /// From the lifting to rest, over √(H₀/g).
    duration: f64,
}

fn fall(bench: &Bench, r0: f64, aspect: f64) -> Result<Fall, CaseError> {
    let young = bench.size.pick(4e7, 1e8, 1e8);
    // The lattice is looser than the column will be.
    let (radius, filled) = (r0 * D, 1.18 * aspect * r0 * D);
    let reach = (1.0 + 1.5 * run_out(aspect)) * radius + 5.0 * D;
    let (settled, speed) = (bench.size.pick(14.0, 25.0, 40.0) * tick(), 2.0 * (G * aspect * radius).sqrt());
    let text = format!(
        r#"{head}
        rolling = 0.1
        [domain]
        min = [-{reach}, -{reach}, -{D}]
        max = [{reach}, {reach}, {top}]
        outside = "remove"
        [materials.smooth]
        density = {DENSITY}
        young = {young}
        restitution = 0.5
        friction = 0
        [[grains]]
        material = "grain"
        radius = {{ uniform = [{small}, {large}] }}
        fill = {{ cylinder = {{ base = [0, 0, {low}], axis = [0, 0, 1], radius = {inner}, height = {filled} }} }}
        [[walls]]
        name = "floor"
        material = "grain"
        plane = {{ point = [0, 0, 0], normal = [0, 0, 1] }}
        rough = {{ radius = {rough}, spacing = {D} }}
        [[walls]]
        name = "cylinder"
        material = "smooth"
        cylinder = {{ base = [0, 0, 0], axis = [0, 0, 1], radius = {radius}, height = {mantle} }}
        velocity = [0, 0, {speed}]
        from = {settled}
        until = {gone}
        [[measure]]
        name = "deposit"
        repose = {{ point = [0, 0, {floor}] }}
        every = {every}
        [[measure]]
        energy = {{}}
        every = {every}
        "#,
        head = head(young, 0.5),
        top = filled + 4.0 * D,
        small = 0.45 * D,
        large = 0.55 * D,
        rough = 0.5 * D,
        low = 0.55 * D,
        inner = radius - 0.02 * D,
        mantle = filled + D,
        gone = settled + 1.5 * (filled + D) / speed,
        floor = FLOOR * D,
        every = 0.5 * tick(),
    );
    let mut rig = Rig::new(&text, bench)?;
    let grains = rig.world.frame().len();
    rig.run_to(settled)?;
    // Twice the height of the centre of mass: the tops of grains stand above the mean surface.
    let frame = rig.world.frame().grains().clone();
    let (mass, moment) =
        frame.mass.iter().zip(frame.position.iter()).fold((0.0, 0.0), |(m, s), (k, x)| (m + k, s + k * x.z));
    let h0 = 2.0 * (moment / mass - FLOOR * D);
    drop(frame);
    let time = (h0 / G).sqrt();
    to_rest(&mut rig, settled + 3.0 * time, settled + 10.0 * time + 20.0 * tick())?;
    let rest = &rig.rows("deposit")[rig.rows("deposit").len() - 1];
    Ok(Fall {
        aspect: h0 / radius,
        run_out: (rest[4] - radius) / radius,
        tail: D / rest[1].to_radians().tan() / radius,
        height: rest[3] / radius,
        angle: rest[1],
        grains,
        overlap: overlap(&rig),
        duration: (rest[0] - settled) / time,
    })
}

fn run(bench: &Bench) -> Result<Findings, CaseError> {
    let r0 = bench.size.pick(10.0, 12.0, 30.0);
    let aspects: &[f64] = bench.size.pick(
        &[0.6, 1.2, 2.2, 3.2],
        &[0.5, 1.0, 1.5, 2.2, 4.0, 7.0, 10.0],
        &[0.5, 1.0, 1.5, 2.2, 3.0, 5.0, 7.0, 10.0],
    );
    let mut found = Findings::default();
    found.set_up("R₀/d", format!("{r0}"));
    let falls: Vec<Fall> = aspects.iter().map(|&a| fall(bench, r0, a)).collect::<Result<_, _>>()?;
    for f in &falls {
        found.remarks.push(format!(
            "a {:.2}: run-out {:.2} + {:.2} (law {:.2}), height {:.2} (law {:.2}), slope {:.1}°, at rest after {:.1} √(H₀/g); {} grains, overlap ≤ {:.2} % of d",
            f.aspect,
            f.run_out,
            f.tail,
            run_out(f.aspect),
            f.height,
            height(f.aspect),
            f.angle,
            f.duration,
            f.grains,
            100.0 * f.overlap
        ));
    }
    let mean = |tall: bool, ratio: &dyn Fn(&Fall) -> f64| {
        let of: Vec<f64> = falls.iter().filter(|f| (f.aspect >= TALL) == tall).map(ratio).collect();
        of.iter().sum::<f64>() / of.len() as f64
    };
    let ratio = |f: &Fall| (f.run_out + f.tail) / run_out(f.aspect);
    found.found("low", mean(false, &ratio));
    found.found("tall", mean(true, &ratio));
    found.found("height", mean(true, &|f| f.height / height(f.aspect)));
    found.found("crossover", falls.iter().map(|f| (ratio(f) - 1.0).abs()).fold(0.0, f64::max));
    let law =
        |f: &dyn Fn(f64) -> f64| (0..=90).map(|k| 0.4 * 30f64.powf(f64::from(k) / 90.0)).map(|a| [a, f(a)]).collect();
    for (title, label, ours, theirs) in [
        (
            "Run-out of a column",
            "(r − R₀)/R₀",
            falls.iter().map(|f| [f.aspect, f.run_out + f.tail]).collect(),
            law(&run_out),
        ),
        ("Final height of a column", "h/R₀", falls.iter().map(|f| [f.aspect, f.height]).collect(), law(&height)),
    ] {
        found.plots.push(Plot {
            title: title.into(),
            x: Axis::log("aspect ratio H₀/R₀"),
            y: Axis::log(label),
            series: vec![Series::dots("barchan", ours), Series::dashes("Lube et al. 2004", theirs)],
        });
    }
    Ok(found)
}
