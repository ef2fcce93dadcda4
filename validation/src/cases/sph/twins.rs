//! One collapse, as grains and as a continuum.

use super::{D, FLOOR, G, particles, slice};
use crate::{Accept::Below, Bench, Case, CaseError, Criterion, Findings, Group, Rig};
use barchan_core::frame::Population;
use barchan_io::plot::{Axis, Plot, Series};

pub const CASE: Case = Case {
    name: "sph-twins",
    title: "One collapse, as grains and as a continuum",
    group: Group::Continuum,
    about: "A planar column of a = 1.5 against a wall, of the preset dry sand, is let go on a rough floor: as grains of half a spacing, and as a \
            continuum with the angle of the preset. Run-out, final height and the front over the time are compared. The column of grains is what their \
            settled filling is like, and the continuum is filled to the same height and mass.",
    source: "barchan's own grains",
    criteria: &[
        Criterion::new("run-out", "difference of the run-outs, over that of the grains", "", Below(0.15), "0"),
        Criterion::new(
            "height",
            "difference of the final heights at the wall, over that of the grains",
            "",
            Below(0.15),
            "0",
        ),
        Criterion::new(
            "front",
            "largest difference of the fronts, over the final run-out of the grains",
            "",
            Below(0.15),
            "0",
        ),
    ],
    run,
};

const SAND: &str = r#"
        [materials.sand]
        preset = "dry sand"
        young = "4 MPa"
        [[walls]]
        name = "back"
        material = "floor"
        plane = { point = [0, 0, 0], normal = [1, 0, 0] }
        "#;

/// Where less than a layer of a spacing lies beyond, by mass [m].
fn front(p: &Population, layer: f64) -> f64 {
    let mut ahead: Vec<(f64, f64)> = p.position.iter().zip(p.mass.iter()).map(|(x, m)| (x.x, *m)).collect();
    ahead.sort_by(|a, b| b.0.total_cmp(&a.0));
    let mut mass = 0.0;
    for (x, m) in ahead {
        mass += m;
        if mass > layer {
            return x;
        }
    }
    f64::NAN
}

fn top(p: &Population) -> f64 {
    p.position.iter().zip(p.radius.iter()).filter(|(x, _)| x.x < 4.0 * D).map(|(x, r)| x.z + r).fold(0.0, f64::max)
}

/// Fronts [s, m], and the final height [m], from a release at a time [s].
fn watch(
    rig: &mut Rig,
    release: f64,
    end: f64,
    of: &dyn Fn(&Rig) -> Population,
    layer: f64,
) -> Result<(Vec<[f64; 2]>, f64), CaseError> {
    let mut fronts = Vec::new();
    let mut next = 0.0;
    while rig.world.time() < release + end {
        rig.step()?;
        let t = rig.world.time() - release;
        if t >= next {
            fronts.push([t, front(&of(rig), layer)]);
            next += end / 100.0;
        }
    }
    Ok((fronts, top(&of(rig))))
}

fn run(bench: &Bench) -> Result<Findings, CaseError> {
    let spacings = bench.size.pick(12.0, 24.0, 40.0);
    let (width, grain) = (spacings * D, 0.25 * D);
    let filled = 1.5 * width;
    let length = 5.0 * width;
    let space = slice(0.0, length, 1.4 * filled, false);
    let settled = 8.0 * (filled / G).sqrt();
    // The gate is taken away at once.
    let grains = format!(
        r#"
        [[grains]]
        material = "sand"
        radius = {{ uniform = [{}, {}] }}
        fill = {{ box = {{ min = [0, 0, 0], max = [{width}, {}, {filled}] }} }}
        [[walls]]
        name = "gate"
        material = "floor"
        plane = {{ point = [{width}, 0, 0], normal = [-1, 0, 0] }}
        velocity = [1e3, 0, 0]
        from = {settled}
        "#,
        0.9 * grain,
        1.1 * grain,
        4.0 * D
    );
    let end = 6.0 * (filled / G).sqrt();
    let mut dem = super::rig(&(space.clone() + SAND + FLOOR + &grains), bench)?;
    dem.run_to(settled)?;
    let start = dem.world.frame().grains().clone();
    let (height, mass) = (top(&start), start.mass.iter().sum::<f64>());
    let density = mass / (height * width * 4.0 * D);
    let layer = density * D * D * 4.0 * D;
    let (of_grains, high) = watch(&mut dem, settled, end, &|r| r.world.frame().grains().clone(), layer)?;

    let sand = format!(
        r#"
        [[continuum]]
        name = "sand"
        material = "sand"
        packing = {}
        spacing = {D}
        fill = {{ box = {{ min = [0, 0, 0], max = [{width}, {}, {height}] }} }}
        "#,
        density / 2650.0,
        4.0 * D
    );
    let mut sph = super::rig(&(space + SAND + FLOOR + &sand), bench)?;
    let (of_sph, tall) = watch(&mut sph, 0.0, end, &particles, layer)?;

    let out = |fronts: &[[f64; 2]]| fronts.last().map_or(f64::NAN, |f| f[1]) - width;
    let (a, b) = (out(&of_grains), out(&of_sph));
    let apart = of_grains.iter().zip(&of_sph).map(|(g, s)| (g[1] - s[1]).abs()).fold(0.0, f64::max);
    let mut found = Findings::default();
    found.set_up("grains", format!("{}", start.len()));
    found.set_up("particles", format!("{}", particles(&sph).len()));
    found.found("run-out", (b / a - 1.0).abs());
    found.found("height", (tall / high - 1.0).abs());
    found.found("front", apart / a);
    found.remarks.push(format!(
        "run-out {:.2} widths as grains, {:.2} as continuum; heights {:.2} and {:.2}; packing of the grains {:.3}",
        a / width,
        b / width,
        high / width,
        tall / width,
        density / 2650.0
    ));
    found.plots.push(Plot {
        title: "Front of a collapse, as grains and as a continuum".into(),
        x: Axis::linear("time [s]"),
        y: Axis::linear("front [m]"),
        series: vec![Series::line("grains", of_grains), Series::line("continuum", of_sph)],
    });
    Ok(found)
}
