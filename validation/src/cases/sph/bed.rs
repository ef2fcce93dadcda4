//! A bed of a continuum on a floor.

use super::{D, DENSITY, FLOOR, G, PACKING, continuum, filled, mean, particles, rig, slice};
use crate::{Accept::Below, Bench, Case, CaseError, Criterion, Findings, Group};
use barchan_core::frame::Values;
use barchan_io::plot::{Axis, Plot, Series};

pub const CASE: Case = Case {
    name: "sph-bed",
    title: "A bed of a continuum at rest: weight, first layer, pressure",
    group: Group::Continuum,
    about: "Layers of particles, periodic to the sides, lie on a plane. The floor bears their weight, the first layer lies half a spacing \
            above it, and without friction the pressure is that of the depth, ρ g (H − z). Layers: 20 at quick size, 60 at standard.",
    source: "Statics, closed form",
    criteria: &[
        Criterion::new("weight", "mean force on the floor off the weight, over it", "", Below(1e-3), "0"),
        Criterion::new("layer", "height of the first layer off half a spacing, over the spacing", "", Below(0.02), "0"),
        Criterion::new("pressure", "mean deviation of the pressure from ρ g (H − z), over ρ g H", "", Below(0.03), "0"),
        Criterion::new("density", "mean error of the density, over the rest density", "", Below(3e-3), "0"),
    ],
    run,
};

fn run(bench: &Bench) -> Result<Findings, CaseError> {
    let layers = bench.size.pick(20.0, 60.0, 60.0);
    let (width, height) = (6.0 * D, layers * D);
    let fill = filled([0.0, 0.0, 0.0], [width, 4.0 * D, height]);
    let text = slice(0.0, width, height + 10.0 * D, true) + &continuum(0.0, &fill) + FLOOR;
    let mut rig = rig(&text, bench)?;
    let mut found = Findings::default();
    found.set_up("layers", format!("{layers}"));
    rig.run_to(2.0)?;
    let (mut force, mut looks) = (0.0, 0.0);
    while rig.world.time() < 2.5 {
        rig.step()?;
        force -= rig.world.boundary().states()[0].force.z;
        looks += 1.0;
    }
    let p = particles(&rig);
    let mass: f64 = p.mass.iter().sum();
    found.found("weight", (force / looks / (mass * G) - 1.0).abs());
    let lowest: Vec<f64> = p.position.iter().map(|x| x.z).filter(|z| *z < D).collect();
    found.found("layer", (lowest.iter().sum::<f64>() / lowest.len() as f64 / D - 0.5).abs());
    let Some(Values::F32(pressure)) = p.extra("pressure").map(|e| e.values.clone()) else {
        return Err(CaseError::Unmeasured("the particles have no pressure".into()));
    };
    // Two layers at the top are left out: half of their neighbours are missing.
    let scale = DENSITY * PACKING * G;
    let exact = |z: f64| scale * (height - z);
    let deep: Vec<usize> = (0..p.len()).filter(|&i| p.position[i].z < height - 2.0 * D).collect();
    let off = |i: &usize| (f64::from(pressure[*i]) - exact(p.position[*i].z)).abs() / (scale * height);
    found.found("pressure", deep.iter().map(off).sum::<f64>() / deep.len() as f64);
    let Some(Values::F32(density)) = p.extra("density").map(|e| e.values.clone()) else {
        return Err(CaseError::Unmeasured("the particles have no density".into()));
    };
    let rest = DENSITY * PACKING;
    found.found("density", mean(&p, |i| (f64::from(density[i]) / rest - 1.0).max(0.0)));
    found.plots.push(Plot {
        title: "Pressure over height".into(),
        x: Axis::linear("height over the floor [m]"),
        y: Axis::linear("pressure [Pa]"),
        series: vec![
            Series::dots("barchan", (0..p.len()).map(|i| [p.position[i].z, f64::from(pressure[i])]).collect()),
            Series::dashes("ρ g (H − z)", vec![[0.0, exact(0.0)], [height, 0.0]]),
        ],
    });
    Ok(found)
}
