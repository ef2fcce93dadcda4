//! The collapse of a column: a bed settled on 40 by 20 diameters behind a gate, which is gone in one step; then the
//! grains run out over the floor of a channel. Material and time step as `settled`.

use super::settled::{DIAMETER, loose, settings};
use super::{Built, Case};
use barchan_core::shapes::Shape;
use barchan_core::walls::Geometry;
use glam::DVec3;

pub(super) const CASE: Case =
    Case { name: "flow", about: "a column that collapses and runs out over a floor", grains: 64_000, build };

/// Steps after which a column of 64,000 is at rest, and the gate goes.
const SETTLE: u64 = 34_000;
/// Run-out that is kept free, over the height of the loose lattice: more than grains of any friction reach in channels
/// (Lube et al. 2005: 1.2 to 2 times the settled height at this aspect).
const FREE: f64 = 2.0;

fn build(grains: usize) -> Built {
    let scale = (grains as f64 / 64_000.0).sqrt();
    let base = [40.0, 20.0].map(|side: f64| (side * scale).round().max(6.0) * DIAMETER);
    let (grains, top) = loose(grains, base, DIAMETER);
    let mut settings = settings(Shape::sphere(), base[0], top + 8.0 * DIAMETER);
    let end = base[0] + FREE * top;
    settings.settings.domain.max.x = end + 0.5 * DIAMETER;
    settings.settings.domain.max.y = base[1] + 0.5 * DIAMETER;
    let dt = settings.dt;
    for wall in &mut settings.fixtures.walls {
        match (wall.name.as_str(), &mut wall.geometry) {
            ("right", _) => {
                // The gate moves to the far end of the channel within the step after the bed has settled. A plane that
                // recedes wakes nobody, so it costs no search.
                wall.motion.velocity = DVec3::X * (end - base[0]) / dt;
                wall.motion.from = SETTLE as f64 * dt;
                wall.motion.until = (SETTLE + 1) as f64 * dt;
            }
            ("back", Geometry::Plane { point, .. }) => point.y = base[1],
            _ => {}
        }
    }
    Built { settings, grains, settle: SETTLE, rest: f64::INFINITY }
}

#[cfg(test)]
mod tests {
    use super::*;
    use barchan_dem::Alone;

    #[test]
    fn the_column_rests_behind_its_gate_and_runs_out_once_that_is_gone() {
        let built = build(300);
        let mut dem = Alone::new(built.settings.settings, built.settings.fixtures);
        dem.add(&built.grains).unwrap();
        let mean_x = |dem: &Alone| dem.population().position.iter().map(|p| p.x).sum::<f64>() / dem.len() as f64;
        let kinetic = |dem: &Alone| dem.energies().translation + dem.energies().rotation;
        for _ in 0..built.settle {
            dem.step().unwrap();
        }
        let (rest, at_rest) = (mean_x(&dem), kinetic(&dem));
        assert!(dem.walls().iter().all(|w| w.position == DVec3::ZERO), "the gate stands until the bed is at rest");
        for _ in 0..1500 {
            dem.step().unwrap();
        }
        assert!(mean_x(&dem) > rest + 0.1 * DIAMETER && kinetic(&dem) > 100.0 * at_rest);
    }
}
