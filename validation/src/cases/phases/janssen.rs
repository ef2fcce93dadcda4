//! Sand in phases between rough walls: the floor carries only part of it.

use super::{BACK, FLOOR, G, H, THICK, head, phases, rig, sand};
use crate::{Accept, Accept::Below, Bench, Case, CaseError, Criterion, Findings, Group};
use barchan_io::plot::{Axis, Plot, Series};

pub const CASE: Case = Case {
    name: "phases-janssen",
    title: "Between rough walls the floor carries only part of sand in phases",
    group: Group::Phases,
    about: "Slices of 8 cells between walls with friction 0.5, filled to depths of 1 to 6 widths (8 at standard size), on a floor that sinks slowly, by \
            about a cell in 10 √(H/g): sand that has not slipped along a wall need not hang on it. The stress on the floor must saturate as \
            ρ g λ (1 − e^(−H/λ)), with λ = W/(2 μ K) of the K that the walls' own load gives.",
    source: "Janssen 1895; with a floor that is lowered, Vanel & Clément 1999, Eur. Phys. J. B 11, 525",
    criteria: &[
        Criterion::new(
            "saturates",
            "load on the floor of the deepest over that of half its depth",
            "",
            Accept::Between(0.95, 1.15),
            "1",
        ),
        Criterion::new("lambda", "λ by the floor off λ by the walls, over it", "", Below(0.25), "0"),
        Criterion::new("whole", "loads on floor and walls off the weight, over it", "", Below(0.02), "0"),
    ],
    run,
};

const WIDTH: f64 = 8.0;
const FRICTION: f64 = 0.5;
/// Speed at which the floor sinks [m/s]: a seventieth of that of a fall through a cell.
const SINKS: f64 = 0.006;

fn run(bench: &Bench) -> Result<Findings, CaseError> {
    let mut found = Findings::default();
    let deepest = bench.size.pick(6.0, 8.0, 10.0);
    let mut seen = Vec::new();
    let (mut whole, mut lambdas) = (0f64, [f64::NAN; 2]);
    for widths in [1.0, 2.0, 0.5 * deepest, deepest] {
        let depth = widths * WIDTH;
        let front = format!(
            "\n[[walls]]\nname = \"front\"\nmaterial = \"wall\"\nplane = {{ point = [{}, 0, 0], normal = [-1, 0, 0] }}\n",
            WIDTH * H
        );
        let text = head(0.0, [-2.0, 0.0, -4.0], [WIDTH + 2.0, THICK, depth + 8.0], r#""y""#, FRICTION)
            + &format!("{FLOOR}velocity = [0, 0, {}]\n", -SINKS)
            + BACK
            + &front;
        let mut rig = rig(&(text + &sand(30.0, H, [[0.0; 3], [WIDTH, THICK, depth]]) + &phases(false, "")), bench)?;
        let weight = rig.world.totals().mass * G;
        let end = 10.0 * (depth * H / G).sqrt();
        let (mut loads, mut count) = ([glam::DVec3::ZERO; 3], 0.0);
        while rig.world.time() < end {
            rig.step()?;
            if rig.world.time() > 0.7 * end {
                loads.iter_mut().zip(&rig.world.frame().walls).for_each(|(l, w)| *l += w.force);
                count += 1.0;
            }
        }
        let loads = loads.map(|l| l / count);
        let (floor, carried) = (-loads[0].z, -(loads[1].z + loads[2].z));
        whole = whole.max(((floor + carried) / weight - 1.0).abs());
        seen.push([widths, floor / (weight / widths)]);
        if widths == deepest {
            // By the floor: λ/H (1 − e^(−H/λ)) of the weight. By the walls: W/(2 μ K), K their mean load over the mean vertical stress.
            let share = |l: f64| l * (1.0 - (-1.0 / l).exp());
            let (mut low, mut high) = (1e-3, 1e3);
            for _ in 0..100 {
                let middle = 0.5f64 * (low + high);
                if share(middle) < floor / weight { low = middle } else { high = middle }
            }
            let across = 0.5 * (loads[2].x - loads[1].x) / (depth * THICK);
            let down = weight / (WIDTH * THICK) * low * (1.0 - share(low));
            lambdas = [low * depth, WIDTH / (2.0 * FRICTION * across / down)];
            let used = carried / (loads[2].x - loads[1].x) / FRICTION;
            found.remarks.push(format!(
                "deepest: the floor carries {:.3} of the weight, K {:.2}, the walls use {used:.2} of their friction",
                floor / weight,
                across / down
            ));
        }
    }
    let last = [seen[seen.len() - 2][1], seen[seen.len() - 1][1]];
    found.found("saturates", last[1] / last[0]);
    found.found("lambda", (lambdas[0] / lambdas[1] - 1.0).abs());
    found.found("whole", whole);
    found.plots.push(Plot {
        title: "Load on the floor".into(),
        x: Axis::linear("depth over width"),
        y: Axis::linear("load over the weight of one width"),
        series: vec![Series::dots("barchan", seen)],
    });
    Ok(found)
}
