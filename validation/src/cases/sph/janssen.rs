//! Pressure in a silo of a continuum.

use super::{D, DENSITY, G, PACKING, continuum, filled, particles, rig, slice};
use crate::fit::curve;
use crate::{
    Accept::{Above, Between},
    Bench, Case, CaseError, Criterion, Findings, Group,
};
use barchan_core::frame::Values;
use barchan_io::plot::{Axis, Plot, Series};

/// Friction at the walls.
const WALL: f64 = 0.3;

pub const CASE: Case = Case {
    name: "sph-janssen",
    title: "Pressure in a silo of a continuum: Janssen's saturation",
    group: Group::Continuum,
    about: "A slice of a silo between two walls with Coulomb friction μ_w 0.3, five times as high as wide; φ is 30°. The floor sinks slowly, so that \
            friction at the walls is mobilised. The vertical stress over the depth is fitted by σ = ρ g λ (1 − e^(−z/λ)); λ = W/(2 μ_w K) gives K, \
            the ratio of the stress on the walls to the vertical one.",
    source: "Janssen 1895, Z. Ver. Dtsch. Ing. 39, 1045",
    criteria: &[
        Criterion::new("fit", "R² of Janssen's law over the depth", "", Above(0.98), "1"),
        Criterion::new("ratio", "K from λ", "", Between(0.3, 1.1), "between the active and the passive ratio"),
    ],
    run,
};

fn run(bench: &Bench) -> Result<Findings, CaseError> {
    let wide = bench.size.pick(12.0, 20.0, 30.0) * D;
    let height = 5.0 * wide;
    let walls = format!(
        r#"
        [materials.side]
        density = 2650
        young = "10 MPa"
        restitution = 0.5
        friction = {WALL}
        [materials.sand]
        density = {DENSITY}
        young = "10 MPa"
        restitution = 0.5
        friction = {WALL}
        [[walls]]
        name = "left"
        material = "side"
        plane = {{ point = [0, 0, 0], normal = [1, 0, 0] }}
        [[walls]]
        name = "right"
        material = "side"
        plane = {{ point = [{wide}, 0, 0], normal = [-1, 0, 0] }}
        [[walls]]
        name = "floor"
        material = "floor"
        plane = {{ point = [0, 0, 0], normal = [0, 0, 1] }}
        velocity = [0, 0, {}]
        from = 0.5
        "#,
        -0.5 * D
    );
    let fill = filled([0.0; 3], [wide, 4.0 * D, height]);
    let sand = continuum(30.0, &fill).replace("density =", "material = \"sand\"\n        density =");
    let mut rig = rig(&(slice(0.0, wide, height + 5.0 * D, false) + &sand + &walls), bench)?;
    let (from, until) = bench.size.pick((2.0, 3.0), (3.0, 5.0), (3.0, 6.0));
    rig.run_to(from)?;
    // Sums of the vertical stress and of the number by layer, over time.
    let layer = 2.0 * D;
    let mut sums = vec![[0.0f64; 2]; (height / layer) as usize + 2];
    let mut top = 0f64;
    while rig.world.time() < until {
        for _ in 0..10 {
            rig.step()?;
        }
        let p = particles(&rig);
        let Some(Values::Vec3(stress)) = p.extra("normal stress").map(|e| e.values.clone()) else {
            return Err(CaseError::Unmeasured("the particles have no normal stress".into()));
        };
        top = p.position.iter().map(|x| x.z).fold(0.0, f64::max) + 0.5 * D;
        for (x, s) in p.position.iter().zip(stress.iter()) {
            let depth = ((top - x.z) / layer).max(0.0) as usize;
            if let Some(sum) = sums.get_mut(depth) {
                *sum = [sum[0] + f64::from(s.z), sum[1] + 1.0];
            }
        }
    }
    let scale = DENSITY * PACKING * G * wide;
    let stress: Vec<[f64; 2]> = sums
        .iter()
        .enumerate()
        // The layers at the floor have its corner in them.
        .filter(|(k, s)| s[1] > 0.0 && (*k as f64 + 2.5) * layer < top)
        .map(|(k, s)| [(k as f64 + 0.5) * layer / wide, s[0] / s[1] / scale])
        .collect();
    let fit = curve(&stress, &[], [0.8], |z, p| p[0] * (1.0 - (-z / p[0]).exp()))
        .ok_or_else(|| CaseError::Unmeasured("the stress has no fit".into()))?;
    let lambda = fit.parameters[0].value;
    let mut found = Findings::default();
    found.set_up("width", format!("{:.0} particles", wide / D));
    found.found("fit", fit.r2);
    found.found("ratio", 1.0 / (2.0 * WALL * lambda));
    found.remarks.push(format!("λ is {lambda:.2} of the width"));
    found.plots.push(Plot {
        title: "Vertical stress in a silo of a continuum".into(),
        x: Axis::linear("depth over the width"),
        y: Axis::linear("σ/(ρ g W)"),
        series: vec![
            Series::dots("barchan", stress),
            Series::dashes(
                "Janssen",
                (0..=50).map(|k| 0.1 * f64::from(k)).map(|z| [z, lambda * (1.0 - (-z / lambda).exp())]).collect(),
            ),
        ],
    });
    Ok(found)
}
