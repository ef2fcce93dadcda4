//! Pressure in a silo.

use super::bulk::{D, DENSITY, G, head, overlap, tick};
use crate::fit::curve;
use crate::{Accept, Bench, Case, CaseError, Criterion, Findings, Group, Rig};
use barchan_io::plot::{Axis, Plot, Series};
use std::fmt::Write;

/// Friction between grains.
const FRICTION: f64 = 0.5;
/// Friction at the walls: below that of the bulk (tan 20° or so for spheres), or grains would slip among themselves rather
/// than along the walls, whose friction then could not be mobilised.
const WALL: f64 = 0.2;
/// Height of a measured section over the silo's width.
const SECTION: f64 = 0.5;

pub const CASE: Case = Case {
    name: "janssen",
    title: "Pressure in a silo: Janssen's saturation",
    group: Group::Beyond,
    about: "A square silo is filled six times as high as it is wide with spheres (sizes ± 10 %, μ 0.5, at the walls μ_w 0.2); its floor then \
            sinks slowly, so that friction at the walls is mobilised. The walls are cut into sections whose forces are measured. The \
            vertical stress, from the weight less the friction above, is fitted by σ = ρ g λ (1 − e^(−z/λ)); with λ = L/(4 μ_w K) this \
            gives K, the ratio of the stress on the walls to the vertical one, which is also measured directly. Two widths.",
    source: "Janssen 1895, Z. Ver. Dtsch. Ing. 39, 1045; Landry, Grest, Silbert, Plimpton 2003, Phys. Rev. E 67, 041303",
    criteria: &[
        Criterion {
            key: "fit",
            what: "least R² of Janssen's law over the depth",
            unit: "",
            accept: Accept::Above(0.97),
            reference: "1",
        },
        Criterion {
            key: "base",
            what: "pressure on the floor over ρ g H, the wide silo",
            unit: "",
            accept: Accept::Below(0.4),
            reference: "λ/H: the walls carry the rest",
        },
        Criterion {
            key: "saturation",
            what: "change of the vertical stress over the deeper half, of its mean there",
            unit: "",
            accept: Accept::Between(-0.2, 0.2),
            reference: "0: it saturates",
        },
        Criterion {
            key: "ratio",
            what: "K from λ over K measured on the walls",
            unit: "",
            accept: Accept::Near(1.0, 0.15),
            reference: "1",
        },
        Criterion {
            key: "mobilised",
            what: "friction over pressure at the walls, deeper half, over μ_w",
            unit: "",
            accept: Accept::Between(0.8, 1.0),
            reference: "1: fully mobilised",
        },
        Criterion {
            key: "width",
            what: "λ over the width of the silo, wide over narrow",
            unit: "",
            accept: Accept::Near(1.0, 0.2),
            reference: "1: λ grows with the width",
        },
    ],
    run,
};

struct Silo {
    /// Depth below the surface over the width and vertical stress over ρ g L, section by section.
    stress: Vec<[f64; 2]>,
    /// Fitted λ over the width.
    lambda: f64,
    r2: f64,
    base: f64,
    saturation: f64,
    direct: f64,
    mobilised: f64,
    grains: usize,
    fraction: f64,
    overlap: f64,
}

fn silo(bench: &Bench, wide: f64) -> Result<Silo, CaseError> {
    let young = bench.size.pick(5e7, 1e8, 1e8);
    let (half, section) = (0.5 * wide * D, SECTION * wide * D);
    let sections = 12;
    // The lattice is looser than the bed will be.
    let filled = 1.1 * 6.0 * wide * D;
    let top = filled.max(sections as f64 * section) + 2.0 * D;
    let (settled, slow) = (bench.size.pick(25.0, 50.0, 100.0) * tick(), bench.size.pick(25.0, 60.0, 200.0) * tick());
    // Sinks half a grain: enough to turn the friction at every wall upwards.
    let speed = 0.5 * D / slow;
    let mut walls = String::new();
    for k in 0..=sections {
        // The lowest section reaches below the floor, the last one is what stands above.
        let low = if k == 0 { -D } else { k as f64 * section };
        let high = if k == sections { top } else { (k + 1) as f64 * section };
        for (n, face) in ["left", "right", "front", "back"].into_iter().enumerate() {
            let faces = ["left", "right", "front", "back", "top", "bottom"];
            let open: Vec<String> = faces.iter().filter(|f| **f != face).map(|f| format!("\"{f}\"")).collect();
            let _ = write!(
                walls,
                r#"
                [[walls]]
                name = "{k} {n}"
                material = "wall"
                box = {{ min = [-{half}, -{half}, {low}], max = [{half}, {half}, {high}], open = [{}] }}
                "#,
                open.join(", ")
            );
        }
    }
    let text = format!(
        r#"{head}
        [domain]
        min = [-{half}, -{half}, -{D}]
        max = [{half}, {half}, {top}]
        [materials.wall]
        density = {DENSITY}
        young = {young}
        restitution = 0.5
        friction = {WALL}
        [[pairs]]
        between = ["grain", "wall"]
        friction = {WALL}
        [[grains]]
        material = "grain"
        radius = {{ uniform = [{small}, {large}] }}
        fill = {{ box = {{ min = [-{inner}, -{inner}, {lift}], max = [{inner}, {inner}, {filled}] }} }}
        {walls}
        [[walls]]
        name = "floor"
        material = "grain"
        plane = {{ point = [0, 0, 0], normal = [0, 0, 1] }}
        velocity = [0, 0, -{speed}]
        from = {settled}
        [[measure]]
        name = "walls"
        wall_forces = {{}}
        every = {every}
        [[measure]]
        name = "bed"
        count = {{ box = {{ min = [-{half}, -{half}, {from}], max = [{half}, {half}, {to}] }} }}
        every = {every}
        [[measure]]
        name = "surface"
        repose = {{ point = [0, 0, 0] }}
        every = {every}
        "#,
        head = head(young, FRICTION),
        small = 0.45 * D,
        large = 0.55 * D,
        inner = half - 0.02 * D,
        lift = 0.05 * D,
        every = 0.25 * tick(),
        from = 2.0 * section,
        to = 8.0 * section,
    );
    let mut rig = Rig::new(&text, bench)?;
    let grains = rig.world.frame().len();
    let weight = G * rig.world.frame().grains().mass.iter().sum::<f64>();
    rig.run_to(settled + slow)?;
    // Means over the last quarter of the sinking.
    let from = settled + 0.75 * slow;
    let mean = |name: &str, column: usize| {
        let of: Vec<f64> = rig.rows(name).iter().filter(|r| r[0] > from).map(|r| r[column]).collect();
        of.iter().sum::<f64>() / of.len() as f64
    };
    let force = |wall: usize, axis: usize| mean("walls", 1 + 9 * wall + axis);
    let area = (2.0 * half).powi(2);
    let bulk = mean("bed", 2) / (6.0 * section * area);
    // The bed's mean height: tops of spheres stand above the mean surface, so it is taken from weight and density.
    let surface = weight / (bulk * G * area);
    // From the top down: what the walls have carried of the weight above the middle of each section.
    let (mut stress, mut direct, mut carried) = (Vec::new(), Vec::new(), 0.0);
    let mut friction = (0.0, 0.0);
    for k in (0..=sections).rev() {
        let upward: f64 = (0..4).map(|n| -force(4 * k + n, 2)).sum();
        let push: f64 = (0..4).map(|n| force(4 * k + n, n / 2).abs()).sum();
        let middle = (k as f64 + 0.5) * section;
        let depth = surface - middle;
        if k < sections && depth > section {
            let sigma = bulk * G * depth - (carried + 0.5 * upward) / area;
            stress.push([depth / (2.0 * half), sigma / (bulk * G * 2.0 * half)]);
            // The lowest section has the floor's corner in it.
            if k > 0 {
                direct.push(push / (4.0 * 2.0 * half * section) / sigma);
            }
            if k > 0 && depth > 0.5 * surface {
                friction = (friction.0 + upward, friction.1 + push);
            }
        }
        carried += upward;
    }
    let fit = curve(&stress, &[], [0.8], |z, p| p[0] * (1.0 - (-z / p[0]).exp()))
        .ok_or_else(|| CaseError::Unmeasured("the stress has no fit".into()))?;
    let deep: Vec<f64> = stress.iter().filter(|s| s[0] > 3.0).map(|s| s[1]).collect();
    let floor = 4 * (sections + 1);
    let upper_half = direct.len() / 3;
    Ok(Silo {
        lambda: fit.parameters[0].value,
        r2: fit.r2,
        base: -force(floor, 2) / weight,
        saturation: (deep[deep.len() - 1] - deep[0]) / (deep.iter().sum::<f64>() / deep.len() as f64),
        direct: direct[upper_half..].iter().sum::<f64>() / (direct.len() - upper_half) as f64,
        mobilised: friction.0 / friction.1 / WALL,
        grains,
        fraction: bulk / DENSITY,
        overlap: overlap(&rig),
        stress,
    })
}

fn run(bench: &Bench) -> Result<Findings, CaseError> {
    let widths: [f64; 2] = bench.size.pick([7.0, 9.5], [8.0, 14.0], [10.0, 24.0]);
    let mut found = Findings::default();
    found.set_up("friction", format!("{FRICTION} between grains, {WALL} at the walls"));
    let [narrow, wide] = [silo(bench, widths[0])?, silo(bench, widths[1])?];
    let from_lambda = |s: &Silo| 1.0 / (4.0 * WALL * s.lambda);
    for (s, width) in [(&narrow, widths[0]), (&wide, widths[1])] {
        found.remarks.push(format!(
            "{width} d wide: {} grains, volume fraction {:.3}, λ {:.2} L, K {:.3} from λ, {:.3} from the walls' pressure, friction mobilised to \
             {:.0} %, floor carries {:.0} %, overlap ≤ {:.2} % of d",
            s.grains,
            s.fraction,
            s.lambda,
            from_lambda(s),
            s.direct,
            100.0 * s.mobilised,
            100.0 * s.base,
            100.0 * s.overlap
        ));
    }
    found.found("fit", narrow.r2.min(wide.r2));
    found.found("base", wide.base);
    found.found("saturation", wide.saturation);
    found.found("ratio", from_lambda(&wide) / wide.direct);
    found.found("mobilised", wide.mobilised);
    found.found("width", wide.lambda / narrow.lambda);
    let law = |s: &Silo| {
        (0..=60).map(|k| 0.1 * f64::from(k)).map(|z| [z, s.lambda * (1.0 - (-z / s.lambda).exp())]).collect()
    };
    found.plots.push(Plot {
        title: "Vertical stress in a silo".into(),
        x: Axis::linear("depth over the width, z/L"),
        y: Axis::linear("σ/(ρ g L)"),
        series: vec![
            Series::dots(format!("{} d wide", widths[0]), narrow.stress.clone()),
            Series::dashes(format!("Janssen, λ {:.2} L", narrow.lambda), law(&narrow)),
            Series::dots(format!("{} d wide", widths[1]), wide.stress.clone()),
            Series::dashes(format!("Janssen, λ {:.2} L", wide.lambda), law(&wide)),
            Series::dashes("no friction", vec![[0.0, 0.0], [2.0, 2.0]]),
        ],
    });
    Ok(found)
}
