//! The ground of a scene.

use super::Setup;
use crate::bodies::Bodies;
use barchan_core::materials::{Materials, PairOverride};
use barchan_core::math;
use barchan_core::recipe::Recipe;
use barchan_core::relief::Relief;
use barchan_ground::{Columns, Grid, GroundError, Soil, Strength, metres};
use barchan_hybrid::ground::{Ground, Pressers, Terms};
use barchan_hybrid::rock::{self, Rock};
use barchan_scene::{BedDrag, DragLaw, Parsed, Problem, Scene};
use glam::DVec2;

/// The ground of a scene, if it has one; `wall` is the index of the wall that grains will touch.
pub(super) fn make(parsed: &Parsed, wall: usize) -> Result<Option<Ground>, Problem> {
    let Some(g) = parsed.scene.ground.as_ref().filter(|g| g.rock.is_none()) else { return Ok(None) };
    let size = ((g.max - g.min) / g.cell).round().max(DVec2::ONE);
    let grid = Grid { origin: g.min.extend(g.floor), cell: g.cell, size: [size.x as usize, size.y as usize] };
    let refused = |e: GroundError| {
        let path = match &e {
            GroundError::Soil { name, .. } => format!("ground.soil.{name}"),
            GroundError::Size(..) | GroundError::Cell(_) => "ground.cell".into(),
            _ => "ground".into(),
        };
        parsed.error_at(&path, e.to_string(), "see `[ground]` in the scene format")
    };
    let soil = soil(&g.soil);
    let columns = match heights(parsed, &grid)? {
        None => Columns::flat(grid, soil, g.height.unwrap_or(0.0)),
        Some(heights) => Columns::new(grid, soil, &heights),
    };
    let columns = columns.map_err(refused)?;
    let packing = g.exchange.as_ref().map_or(barchan_scene::Exchange::PACKING, |e| e.packing);
    let density = parsed.scene.materials.get(&g.material).map_or(f64::NAN, |m| m.density);
    Ok(Some(Ground::new(columns, wall, density, packing)))
}

/// The rock of a scene, if it has some.
pub(super) fn rock(parsed: &Parsed) -> Result<Option<Rock>, Problem> {
    let Some((g, r)) = parsed.scene.ground.as_ref().and_then(|g| Some((g, g.rock.as_ref()?))) else {
        return Ok(None);
    };
    let read = parsed.assets.heights.as_ref();
    let (cell, size) = match read.and_then(|h| Some((h.cell?, h.size))) {
        Some(of_file) => of_file,
        None => {
            let size = ((g.max - g.min) / g.cell).round().max(DVec2::ONE);
            (g.cell, [size.x as usize, size.y as usize])
        }
    };
    if size[0].saturating_mul(size[1]) > MOST_CELLS || cell.is_nan() || cell <= 0.0 {
        let message = format!("{} × {} cells of {cell} m cannot be", size[0], size[1]);
        return Err(parsed.error_at("ground.cell", message, "use wider cells, or a smaller area"));
    }
    let grid = Grid { origin: g.min.extend(g.floor), cell, size };
    let height = match heights(parsed, &grid)? {
        Some(heights) => heights,
        None => vec![r.height.unwrap_or(0.0); grid.len()],
    };
    let smooth = r.smooth.unwrap_or(if r.terrain.is_some() { SMOOTH * cell } else { 0.0 });
    let mut relief = Relief { origin: grid.origin, cell, size, height };
    relief.smooth(smooth);
    Ok(Some(Rock::new(relief)))
}

/// Most cells of rock.
const MOST_CELLS: usize = 1 << 26;
/// Smoothing of a terrain where none is given, in cells: what is left of kinks costs a grain less than a friction of 0.005 on a model of 5 m.
const SMOOTH: f64 = 2.0;

/// The drag of a scene's rock on grains of these populations.
pub(super) fn drag(parsed: &Parsed, recipes: &[&Recipe]) -> Option<rock::Drag> {
    let scene = &parsed.scene;
    let d = scene.ground.as_ref()?.drag.as_ref()?;
    let recipe = recipes.first()?;
    let radius = math::cbrt(recipe.sizes.mean_cube());
    let packing = barchan_scene::Exchange::PACKING;
    let solid = recipe.mass(radius) / (4.0 / 3.0 * std::f64::consts::PI * radius.powi(3));
    let law = match d.law {
        DragLaw::Coulomb => rock::Law::Coulomb,
        DragLaw::Voellmy => rock::Law::Voellmy(d.xi.unwrap_or(BedDrag::XI)),
        DragLaw::Samosat => rock::Law::Samosat(d.mu),
    };
    Some(rock::Drag {
        law,
        yield_stress: d.tau0,
        thickness: d.thickness,
        diameter: 2.0 * radius,
        density: packing * solid,
        gravity: scene.gravity.length(),
    })
}

/// Coefficients of the drag that differ from place to place.
pub(super) struct Coefficients {
    /// The least μ: that of the contacts.
    pub mu: f64,
    /// μ beyond that, and ξ [m/s²], by cell of the rock.
    pub extra: Option<Vec<f64>>,
    pub xi: Option<Vec<f64>>,
}

/// The coefficients of a scene's drag, numbers or rasters on the grid of its rock.
pub(super) fn coefficients(parsed: &Parsed, relief: &Relief) -> Result<Option<Coefficients>, Problem> {
    let Some(d) = parsed.scene.ground.as_ref().and_then(|g| g.drag.as_ref()) else { return Ok(None) };
    let map = parsed.assets.heights.as_ref().and_then(|h| h.georeference.as_ref());
    let of = |k: usize, key: &str, usual: f64| -> Result<Option<Vec<f64>>, Problem> {
        let Some(field) = &parsed.assets.drag[k] else { return Ok(None) };
        let path = format!("ground.drag.{key}");
        let apart = match (&field.georeference, map) {
            (Some(a), Some(b)) => {
                a.corner().distance(b.corner()) > 1e-3 * b.cell || (a.cell - b.cell).abs() > 1e-6 * b.cell
            }
            _ => false,
        };
        if field.size != relief.size || apart {
            let message = format!(
                "the raster has {} × {} cells{}, the rock {} × {}",
                field.size[0],
                field.size[1],
                if apart { " of another place or width" } else { "" },
                relief.size[0],
                relief.size[1]
            );
            let help = "put it on the grid of the elevation model, for example with `gdalwarp -te … -tr …`";
            return Err(parsed.error_at(&path, message, help));
        }
        match field.values.iter().find(|v| **v <= 0.0) {
            Some(v) => Err(parsed.error_at(
                &path,
                format!("a coefficient of {v} cannot be"),
                "coefficients are above 0; mark what is unknown as no data",
            )),
            None => Ok(Some(field.values.iter().map(|v| if v.is_nan() { usual } else { *v }).collect())),
        }
    };
    let mu = of(0, "mu_raster", d.mu)?;
    let least = mu.as_ref().map_or(d.mu, |m| m.iter().copied().fold(f64::INFINITY, f64::min));
    let extra = mu.map(|m| m.into_iter().map(|v| v - least).collect());
    Ok(Some(Coefficients { mu: least, extra, xi: of(1, "xi_raster", d.xi.unwrap_or(BedDrag::XI))? }))
}

/// The least friction and rolling resistance of grains on a ground, where none are given. The surface is smooth where grains would lie
/// in the hollows between others, which hold a sphere up to 20° to 30° on a bed of its like however well it rolls.
const FRICTION: f64 = 1.0;
const ROLLING: f64 = 0.5;

/// Adds what the ground is to grains as a material of its own, with the μ of its drag where it has one, and returns its index.
pub(super) fn material(scene: &Scene, mu: Option<f64>, materials: &mut Materials) -> u16 {
    let Some(g) = &scene.ground else { return 0 };
    let own = scene.materials.get_index_of(&g.material).unwrap_or_default() as u16;
    let ground = materials.len() as u16;
    for a in 0..ground {
        let pair = materials.pair(a, own);
        // Where the bed has a law of its own, grains are to slide: rolling resistance of twice the friction keeps them from turning.
        let (friction, rolling) = match mu {
            Some(mu) => (mu, (2.0 * mu).max(ROLLING)),
            None => (pair.friction.max(FRICTION), pair.rolling.max(ROLLING)),
        };
        materials.overrides.push(PairOverride {
            a,
            b: ground,
            restitution: Some(pair.restitution),
            friction: Some(g.friction.unwrap_or(friction)),
            rolling: Some(g.rolling.unwrap_or(rolling)),
            twisting: Some(pair.twisting),
            cohesion: Some(pair.cohesion),
        });
    }
    let mut material = materials.list[own as usize].clone();
    material.name = "ground".into();
    materials.list.push(material);
    ground
}

/// The terms on which grains of these populations freeze, where the scene asks for it; ids below `first` are bodies.
pub(super) fn terms(parsed: &Parsed, recipes: &[&Recipe], first: u32) -> Result<Option<Terms>, Problem> {
    let scene = &parsed.scene;
    let Some((g, spec)) = scene.ground.as_ref().and_then(|g| Some((g, g.exchange.as_ref()?))) else {
        return Ok(None);
    };
    let material = scene.materials.get_index_of(&g.material).unwrap_or_default() as u16;
    let Some(recipe) = recipes.iter().find(|r| r.material == material) else {
        let message = format!("no grains are of the ground's material `{}`: nothing can become ground", g.material);
        return Err(parsed.error_at("ground.exchange", message, "name the grains' material in `ground.material`"));
    };
    Ok(Some(Terms {
        layer: spec.layer,
        rest: spec.rest,
        after: spec.after,
        thaw: spec.thaw,
        gravity: scene.gravity.length(),
        first,
        recipe: (*recipe).clone(),
    }))
}

/// What presses the ground of a scene: bodies, and walls that move.
pub(super) fn pressers(scene: &Scene, setup: &Setup, bodies: &Bodies) -> Pressers {
    let mut all = Pressers::new(-scene.gravity.z);
    for (id, new) in bodies.grains.iter().enumerate() {
        if let Some(skin) = setup.shapes[new.shape as usize].skin() {
            all.add_body(id, skin.scaled(new.radius));
        }
    }
    for (index, wall) in setup.fixtures.walls.iter().enumerate().take(scene.walls.len()) {
        all.add_wall(index, wall);
    }
    all
}

fn soil(scene: &barchan_scene::Soil) -> Soil {
    let base = Soil::preset(scene.preset.name()).unwrap_or(Soil::SAND);
    let stop = scene.stop.unwrap_or(base.stop);
    // Limits left out keep their order: a slope that is given pushes those of the preset along.
    let outside = scene.outside.unwrap_or(base.outside + (stop - base.stop).max(0.0));
    Soil {
        compression: scene.compression.unwrap_or(base.compression),
        inside: scene.inside.unwrap_or(base.inside.max(outside)),
        outside,
        stop: stop.min(outside),
        fraction: scene.fraction.unwrap_or(base.fraction),
        roughness: scene.roughness.unwrap_or(base.roughness),
        strength: Strength {
            density: scene.density.unwrap_or(base.strength.density),
            friction: scene.friction.unwrap_or(base.strength.friction),
            cohesion: scene.cohesion.unwrap_or(base.strength.cohesion),
            grip: scene.grip.unwrap_or(base.strength.grip),
            shear: scene.shear.unwrap_or(base.strength.shear),
            stiffness: scene.stiffness.unwrap_or(base.strength.stiffness),
        },
    }
}

/// Heights of the columns above the floor [m]; none for a level ground.
fn heights(parsed: &Parsed, grid: &Grid) -> Result<Option<Vec<f64>>, Problem> {
    let Some(g) = &parsed.scene.ground else { return Ok(None) };
    let rock = g.rock.as_ref();
    if let Some(formula) = g.formula.as_ref().or(rock.and_then(|r| r.formula.as_ref())) {
        let height = |column: usize| {
            let at = grid.centre(column) / g.unit;
            formula.at(at.x, at.y) * g.unit
        };
        return Ok(Some((0..grid.len()).map(height).collect()));
    }
    if let Some(model) = rock.and_then(|r| r.model.as_ref()) {
        return Ok(Some(crate::mountain::heights(model, grid.size, grid.cell)));
    }
    // (key, height of the lowest, of the highest)
    let (key, range): (_, &dyn Fn(f64, f64) -> [f64; 2]) = match g.files() {
        (Some(i), _) => ("ground.image", &|_, _| [i.low, i.high - i.low]),
        (None, Some(t)) => ("ground.terrain", &|least, _| [t.low - t.scale * least, t.scale]),
        (None, None) => return Ok(None),
    };
    let Some(read) = &parsed.assets.heights else {
        return Err(parsed.error_at(key, "the file has not been read", "read the scene by `barchan_engine::load`"));
    };
    let (size, values) = (read.size, &read.samples);
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    let [low, rise] = range(least, 0.0);
    let high = DVec2::new(size[0] as f64, size[1] as f64);
    let span = DVec2::new(grid.size[0] as f64, grid.size[1] as f64) * grid.cell;
    let height = |column: usize| {
        let at = (grid.centre(column) - grid.origin.truncate()) / span * high - 0.5;
        let at = at.clamp(DVec2::ZERO, high - 1.0);
        let corner = |x: usize, y: usize| values[x.min(size[0] - 1) + y.min(size[1] - 1) * size[0]];
        let (x, y, u) = (at.x as usize, at.y as usize, at.fract());
        let row = |y: usize| corner(x, y) * (1.0 - u.x) + corner(x + 1, y) * u.x;
        low + rise * (row(y) * (1.0 - u.y) + row(y + 1) * u.y)
    };
    let heights: Vec<f64> = (0..grid.len()).map(height).collect();
    let most = if rock.is_some() { f64::MAX } else { metres(barchan_ground::HIGHEST) };
    match heights.iter().position(|h| !(*h >= 0.0 && *h <= most)) {
        None => Ok(Some(heights)),
        Some(column) => {
            let message = format!("column {column} would be {} m high", heights[column]);
            Err(parsed.error_at(
                key,
                message,
                "mend the data: heights go from 0 to 2048 m above the floor, without gaps",
            ))
        }
    }
}
