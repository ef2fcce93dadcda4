//! Angle of repose against friction.

use super::bulk::{D, DENSITY, head, overlap, tick, to_rest, unrest};
use crate::fit::{Curve, curve};
use crate::{Accept, Bench, Case, CaseError, Criterion, Findings, Group, Rig};
use barchan_io::plot::{Axis, Plot, Series};

/// Exponent of the seed's fit.
const SEED: f64 = 0.51;

pub const CASE: Case = Case {
    name: "repose",
    title: "Angle of repose against friction",
    group: Group::Seed,
    about: "Grains flow from a reservoir through a slot onto the floor of a sump, where they pile up to a ridge; the slot's direction is \
            periodic, which stands for the seed's depth of 100 d. Friction and restitution of floor and walls are 0.5. The friction \
            between grains is varied from 0 (without which b and c cannot be told apart) and a μ^b + c fitted to the slope of both flanks between 20 and 80 % of the height. \
            Tetrahedral grains as in the seed, on a smooth floor. Spheres (sizes ± 10 %) would roll away there: theirs is covered \
            with glued ones. The seed pours 24,000 grains and gives ± 10° as the confidence of an angle.",
    source: "Longmore 2009, section 7.2.2, figure 7.13; after Zhou et al. 2002",
    criteria: &[
        Criterion {
            key: "exponent",
            what: "exponent b of a μ^b + c, tetrahedral grains",
            unit: "",
            accept: Accept::Between(0.2, 0.8),
            reference: "0.51 (Longmore); 0.27 without c (Zhou)",
        },
        Criterion {
            key: "fit",
            what: "R² of the fit, tetrahedral grains",
            unit: "",
            accept: Accept::Above(0.93),
            reference: "1",
        },
        Criterion {
            key: "fit spheres",
            what: "R² of the fit, spheres",
            unit: "",
            accept: Accept::Above(0.93),
            reference: "1",
        },
        Criterion {
            key: "angle",
            what: "angle of tetrahedral grains at μ 0.4",
            unit: "deg",
            accept: Accept::Between(24.0, 38.0),
            reference: "about 30, sand",
        },
        Criterion {
            key: "interlocking",
            what: "angle of tetrahedral grains less that of spheres at μ 0.4",
            unit: "deg",
            accept: Accept::Above(2.0),
            reference: "tetrahedral grains interlock",
        },
    ],
    run,
};

/// Half the width of the slot, in d.
const SLOT: f64 = 3.5;
/// Half the width of the reservoir, in d.
const RESERVOIR: f64 = 12.0;
/// Height of the reservoir's floor over that of the sump, in d.
const LIFT: f64 = 14.0;
/// Half the width of the sump, in d.
const SUMP: f64 = 45.0;

struct Pile {
    angle: f64,
    error: f64,
    grains: usize,
    overlap: f64,
    /// Speed of what still moves, root mean square over √(g d).
    unrest: f64,
}

fn pile(bench: &Bench, tetrahedral: bool, friction: f64) -> Result<Pile, CaseError> {
    let young = bench.size.pick(2e7, 1e8, 1e8);
    let depth = bench.size.pick(6.0, 8.0, 40.0) * D;
    // Cross-section of the reservoir that is filled [d²]: loosely, and by bounding spheres.
    let area = bench.size.pick(330.0, 450.0, 700.0);
    let rise = area / (2.0 * RESERVOIR) * if tetrahedral { 2.5 } else { 1.0 };
    let (shape, radius, rough) = if tetrahedral {
        ("tetrahedron", format!("{}", 0.5 * D), String::new())
    } else {
        let sizes = format!("{{ uniform = [{}, {}] }}", 0.45 * D, 0.55 * D);
        ("sphere", sizes, format!("rough = {{ radius = {}, spacing = {D} }}", 0.5 * D))
    };
    // The slot's edges: panels of a box of which all other faces are open.
    let panel = |min: f64, max: f64| {
        format!(
            r#"[[walls]]
            material = "wall"
            box = {{ min = [{}, {}, {}], max = [{}, {}, {}], open = ["left", "right", "front", "back", "top"] }}
            "#,
            min * D,
            -0.5 * depth,
            LIFT * D,
            max * D,
            0.5 * depth,
            (LIFT + 1.0) * D
        )
    };
    let measure = |name: &str, direction: f64| {
        format!(
            r#"[[measure]]
            name = "{name}"
            repose = {{ point = [0, 0, 0], along = [{direction}, 0, 0], ceiling = {} }}
            every = {}
            "#,
            (LIFT - 0.5) * D,
            5.0 * tick()
        )
    };
    let text = format!(
        r#"{head}
        [domain]
        min = [-{sump}, -{half}, -{D}]
        max = [{sump}, {half}, {top}]
        periodic = ["y"]
        outside = "remove"
        [materials.wall]
        density = {DENSITY}
        young = {young}
        restitution = 0.5
        friction = 0.5
        [[pairs]]
        between = ["grain", "wall"]
        friction = 0.5
        [[grains]]
        material = "grain"
        shape = "{shape}"
        radius = {radius}
        fill = {{ box = {{ min = [-{in_x}, -{half}, {low}], max = [{in_x}, {half}, {high}] }} }}
        [[walls]]
        name = "floor"
        material = "wall"
        plane = {{ point = [0, 0, 0], normal = [0, 0, 1] }}
        {rough}
        [[walls]]
        name = "reservoir"
        material = "wall"
        box = {{ min = [-{wide}, -{half}, {lift}], max = [{wide}, {half}, {top}], open = ["front", "back", "bottom", "top"] }}
        {left}{right}
        [[measure]]
        energy = {{}}
        every = {every}
        {one}{other}
        "#,
        head = head(young, friction),
        sump = SUMP * D,
        half = 0.5 * depth,
        in_x = (RESERVOIR - 0.05) * D,
        low = (LIFT + 0.1) * D,
        high = (LIFT + 0.1 + rise) * D,
        top = (LIFT + 1.0 + rise) * D,
        wide = RESERVOIR * D,
        lift = LIFT * D,
        left = panel(-RESERVOIR, -SLOT),
        right = panel(SLOT, RESERVOIR),
        every = tick(),
        one = measure("right", 1.0),
        other = measure("left", -1.0),
    );
    let mut rig = Rig::new(&text, bench)?;
    let grains = rig.world.frame().len();
    to_rest(&mut rig, 30.0 * tick(), bench.size.pick(60.0, 100.0, 300.0) * tick())?;
    // One more row of each flank, at rest.
    let rows = rig.rows("left").len();
    while rig.rows("left").len() == rows {
        rig.step()?;
    }
    let flank = |name: &str| rig.rows(name).last().map_or([f64::NAN; 2], |r| [r[1], r[2]]);
    let [a, b] = [flank("left"), flank("right")];
    // Two flanks differ by more than the scatter of grains about a line: half their difference is an error too.
    let error = (0.25 * (a[1].powi(2) + b[1].powi(2)) + 0.25 * (a[0] - b[0]).powi(2)).sqrt();
    Ok(Pile { angle: 0.5 * (a[0] + b[0]), error, grains, overlap: overlap(&rig), unrest: unrest(&rig) })
}

fn power(points: &[[f64; 2]], errors: &[f64]) -> Option<Curve<3>> {
    curve(points, errors, [40.0, 0.5, 0.0], |x, p| p[0] * x.powf(p[1].abs()) + p[2])
}

fn run(bench: &Bench) -> Result<Findings, CaseError> {
    let mut found = Findings::default();
    let frictions: &[f64] = bench.size.pick(
        &[0.0, 0.05, 0.1, 0.2, 0.4, 0.8],
        &[0.0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.6, 0.8],
        &[0.0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.6, 0.8],
    );
    let mut series = Vec::new();
    let mut at_04 = [f64::NAN; 2];
    for (k, (name, tetrahedral)) in [("tetrahedral grains", true), ("spheres", false)].into_iter().enumerate() {
        let (mut points, mut errors) = (Vec::new(), Vec::new());
        for &friction in frictions {
            let pile = pile(bench, tetrahedral, friction)?;
            found.remarks.push(format!(
                "{name}, μ {friction}: {:.1} ± {:.1}°, {} grains, overlap ≤ {:.2} % of d, still moving at {:.3} √(g d)",
                pile.angle,
                pile.error,
                pile.grains,
                100.0 * pile.overlap,
                pile.unrest
            ));
            points.push([friction, pile.angle]);
            // A degree of what one pile differs from the next, whatever its flanks say.
            errors.push(pile.error.max(1.0));
            if friction == 0.4 {
                at_04[k] = pile.angle;
            }
        }
        if let Some(fit) = power(&points, &errors) {
            let [a, b, c] = fit.parameters;
            found.remarks.push(format!("{name}: ({a}) μ^({b}) + ({c}), R² {:.4}", fit.r2));
            if tetrahedral {
                found.found("exponent", b.value);
            }
            found.found(if tetrahedral { "fit" } else { "fit spheres" }, fit.r2);
            let p = fit.values();
            let along = (0..=80).map(|n| 0.01 * f64::from(n)).map(|x| [x, p[0] * x.powf(p[1]) + p[2]]).collect();
            series.push(Series::line(format!("{:.1} μ^{:.2} + {:.1}", p[0], p[1], p[2]), along));
        }
        if tetrahedral && let Some(fit) = curve(&points, &errors, [40.0, 0.0], |x, p| p[0] * x.powf(SEED) + p[1]) {
            let p = fit.values();
            let along = (0..=80).map(|n| 0.01 * f64::from(n)).map(|x| [x, p[0] * x.powf(SEED) + p[1]]).collect();
            series.push(Series::dashes("the seed's exponent, 0.51", along));
            found.remarks.push(format!("{name}, exponent held at {SEED}: R² {:.4}", fit.r2));
        }
        series.push(Series { errors, ..Series::dots(name, points) });
    }
    found.found("angle", at_04[0]);
    found.found("interlocking", at_04[0] - at_04[1]);
    found.plots.push(Plot {
        title: "Angle of repose".into(),
        x: Axis::linear("friction between grains, μ"),
        y: Axis::linear("angle [deg]"),
        series,
    });
    Ok(found)
}
