//! Snow in flow down a mountain of 512 × 512 cells: cohesive grains with friction memory and rolling resistance, four layers deep at the start, as the seed of the
//! avalanches has them (Güçer 2010, table 4.1).

use super::settled::settings;
use super::{Built, Case};
use barchan_core::materials::{Material, PairOverride};
use barchan_core::relief::Relief;
use barchan_core::shapes::Shape;
use barchan_core::solver::NewMatter;
use barchan_core::walls::{Bed, Geometry, Wall};
use barchan_scene::{ModelKind, RockModel};
use glam::{DQuat, DVec3};
use std::sync::Arc;

pub(super) const CASE: Case = Case {
    name: "avalanche",
    about: "cohesive snow in flow down a mountain of 512 × 512 cells",
    grains: 128_000,
    build,
};

/// Cells along a side, and their width [m].
const CELLS: usize = 512;
const CELL: f64 = 5.0;
/// Diameter of a grain [m], its density [kg/m³], and layers at the start.
const DIAMETER: f64 = 1.0;
const DENSITY: f64 = 333.0;
const LAYERS: usize = 4;
/// Steps until it is in flow: some five seconds.
const FLOWS: u64 = 7_000;
const DT: f64 = 7e-4;
/// Strength of the bulk [Pa].
const STRENGTH: f64 = 100.0;

fn build(grains: usize) -> Built {
    let model = RockModel {
        kind: ModelKind::Mountain,
        seed: 7,
        drop: None,
        angle: RockModel::ANGLE,
        length: None,
        radius: RockModel::RADIUS,
        channel: false,
    };
    let height = crate::mountain::heights(&model, [CELLS; 2], CELL);
    let mut relief = Relief { origin: DVec3::ZERO, cell: CELL, size: [CELLS; 2], height };
    relief.smooth(2.0 * CELL);
    let high = relief.height.iter().copied().fold(0.0, f64::max);
    let bed = Arc::new(Bed::rock(Arc::new(relief)));
    let wide = CELLS as f64 * CELL;
    let snow = Material {
        name: "snow".into(),
        density: DENSITY,
        young: 2e6,
        poisson: 0.3,
        restitution: 0.1,
        friction: 0.4,
        rolling: 0.1,
        twisting: 0.0,
        cohesion: STRENGTH * DIAMETER / 3.6,
    };
    let rock = Material { name: "ground".into(), ..snow.clone() };
    let mut setup = settings(Shape::sphere(), wide, high + 100.0);
    setup.settings.domain.min = DVec3::new(0.0, 0.0, -50.0);
    setup.settings.domain.max = DVec3::new(wide, wide, high + 100.0);
    setup.settings.materials.list = vec![snow, rock];
    setup.settings.materials.overrides = vec![PairOverride {
        a: 0,
        b: 1,
        restitution: None,
        friction: Some(0.2),
        rolling: Some(0.5),
        twisting: None,
        cohesion: None,
    }];
    setup.settings.dt = DT;
    setup.settings.dt_reason = "that of contacts of 2 MPa".into();
    setup.fixtures.walls = vec![Wall::new("ground", Geometry::Relief(bed.clone()), 1)];
    // A square of columns below the top of the bowl, as many as it takes.
    let side = ((grains as f64 / LAYERS as f64).sqrt().ceil() as usize).max(1);
    let apart = 1.12 * DIAMETER;
    let corner = [0.12 * wide, 0.5 * wide - 0.5 * side as f64 * apart];
    let grain = |k: usize| {
        let (column, layer) = (k / LAYERS, k % LAYERS);
        let (i, j) = (column % side, column / side);
        let [x, y] = [corner[0] + i as f64 * apart, corner[1] + j as f64 * apart];
        // Beyond the rim nothing is laid: no number of grains that is timed reaches it.
        let (z, upright) = bed.over(x, y).map_or((high, 1.0), |o| (o.z, o.normal().z));
        NewMatter {
            position: DVec3::new(x, y, z + (0.5 + 1.02 * layer as f64) * 1.02 * DIAMETER / upright),
            velocity: DVec3::ZERO,
            spin: DVec3::ZERO,
            orientation: DQuat::IDENTITY,
            radius: 0.5 * DIAMETER,
            mass: None,
            material: 0,
            shape: 0,
        }
    };
    Built { settings: setup, grains: (0..grains).map(grain).collect(), settle: FLOWS, rest: f64::INFINITY }
}
