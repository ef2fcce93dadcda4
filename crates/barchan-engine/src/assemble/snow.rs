//! What lies on and over the rock of a scene: snow cover, forests, a cloud.

use super::ground;
use barchan_core::math;
use barchan_core::recipe::Recipe;
use barchan_core::solver::Coupling;
use barchan_core::walls::{Bed, Geometry, Wall};
use barchan_hybrid::cloud::{self, Cloud};
use barchan_hybrid::cover::{self, Cover};
use barchan_hybrid::forest::{Forest, Stand};
use barchan_hybrid::rock::{Drag, Law, Rock};
use barchan_scene::{BedDrag, Parsed, Problem};
use glam::DVec2;
use std::sync::Arc;

/// Bulk density of a flow over that of its grains.
const PACKING: f64 = barchan_scene::Exchange::PACKING;

/// Thickness of a scene's cover [m], normal to the slope, at a place where the slope has that cosine.
fn thickness(parsed: &Parsed, at: DVec2, upright: f64) -> f64 {
    let Some((g, spec)) = parsed.scene.ground.as_ref().and_then(|g| Some((g, g.cover.as_ref()?))) else { return 0.0 };
    let (low, high) = (spec.min.unwrap_or(g.min), spec.max.unwrap_or(g.max));
    let inside = at.cmpge(low).all() && at.cmple(high).all() && upright >= math::cos(spec.steepest);
    if inside { spec.thickness } else { 0.0 }
}

/// The wall of rock with the snow that lies on it at the start: grains are placed on that.
pub(super) fn wall(parsed: &Parsed, rock: &Rock, material: u16) -> Wall {
    if parsed.scene.ground.as_ref().is_none_or(|g| g.cover.is_none()) {
        return rock.wall(material);
    }
    let mut relief = (**rock.bed().relief()).clone();
    let bare = rock.bed().relief();
    for (cell, height) in relief.height.iter_mut().enumerate() {
        let at = bare.point(cell);
        let upright = bare.over(at.x, at.y).map_or(1.0, |over| over.normal().z);
        *height += thickness(parsed, at.truncate(), upright) / upright;
    }
    Wall::new("ground", Geometry::Relief(Arc::new(Bed::rock(Arc::new(relief)))), material)
}

/// The couplings of a scene's snow, made for steps of a run [s]. `wall`: index of the wall that the rock is; ids below `first` are bodies.
pub(super) fn couplings(
    parsed: &Parsed,
    rock: &Rock,
    wall: usize,
    recipes: &[&Recipe],
    first: u32,
    dt: f64,
) -> Result<Vec<Box<dyn Coupling>>, Problem> {
    let scene = &parsed.scene;
    let Some(g) = &scene.ground else { return Ok(Vec::new()) };
    let material = scene.materials.get_index_of(&g.material).unwrap_or_default() as u16;
    let own = recipes.iter().find(|r| r.material == material && r.shape == 0);
    let (relief, mut all) = (rock.bed().relief(), Vec::<Box<dyn Coupling>>::new());
    let wanted = [
        ("ground.cover", g.cover.is_some()),
        ("ground.forest", !g.forest.is_empty()),
        ("cloud", scene.cloud.is_some()),
    ];
    let Some(recipe) = own else {
        return match wanted.iter().find(|w| w.1) {
            Some((path, _)) => {
                let message = format!("no spheres are of the ground's material `{}`", g.material);
                Err(parsed.error_at(path, message, "name the material of the snow that flows in `ground.material`"))
            }
            None => Ok(all),
        };
    };
    let diameter = 2.0 * math::cbrt(recipe.sizes.mean_cube());
    let solid = recipe.unit_mass / (4.0 / 3.0 * std::f64::consts::PI);
    let density = PACKING * solid;
    let gravity = scene.gravity.length();
    if let Some(spec) = &g.cover {
        let drag = ground::drag(parsed, recipes).unwrap_or(Drag {
            law: Law::Coulomb,
            yield_stress: 0.0,
            thickness: None,
            diameter,
            density,
            gravity,
        });
        let terms = cover::Terms {
            density: spec.density,
            strength: spec.strength,
            energy: spec.energy,
            after: spec.deposit.then_some(spec.after),
            recipe: Recipe { velocity_spread: 0.0, ..(*recipe).clone() },
            first,
            drag,
            friction: g.drag.as_ref().map_or(BedDrag::MU, |d| d.mu),
        };
        let thickness = |at: DVec2, upright: f64| thickness(parsed, at, upright);
        let mut cover = Cover::new(relief.clone(), wall, &thickness, terms);
        cover.set_dt(dt);
        all.push(Box::new(cover));
    }
    if !g.forest.is_empty() {
        let stand = |f: &barchan_scene::Forest| Stand {
            polygon: f.polygon.clone(),
            drag: f.drag,
            detrainment: f.detrainment,
            slow: f.slow,
        };
        let mut forest =
            Forest::new(g.forest.iter().map(stand).collect(), relief, diameter, density, first, recipe.material);
        forest.set_dt(dt);
        all.push(Box::new(forest));
    }
    if let Some(c) = &scene.cloud {
        let terms = cloud::Terms {
            most: c.most as usize,
            rate: c.rate,
            speed: c.speed,
            diameter: c.diameter,
            growth: c.growth,
            points: c.points,
            density,
            gravity,
            first,
            seed: scene.seed,
        };
        let mut cloud = Cloud::new(terms, relief, wall, diameter);
        cloud.set_dt(dt);
        all.push(Box::new(cloud));
    }
    Ok(all)
}
