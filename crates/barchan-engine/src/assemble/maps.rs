//! Volume maps of the meshes that a continuum of smoothed particles touches: walls and bodies.
//!
//! A map depends on the mesh in its own frame, on spacing and kernel; walls and bodies of one mesh share it, wherever they stand and move. It costs
//! a second for some ten thousand triangles at most, and is no part of checkpoints: it is made anew from the mesh, unless the files of the scene
//! brought the bytes of one that was kept.

use super::Setup;
use barchan_core::boundary::Boundary;
use barchan_core::mesh::near::Surface;
use barchan_core::solver::SolverError;
use barchan_core::walls::{Facets, Wall};
use barchan_scene::words::bytes;
use barchan_scene::{Assets, Continuum, ContinuumMethod, Parsed, Problem, Scene};
use barchan_sph::maps::{MapError, MapKey, MapSettings, Narrow, VolumeMap, estimate, narrow_places};
use barchan_sph::{Settings, WallShape};
use std::collections::HashMap;
use std::sync::Arc;

/// Narrow places that a warning names; of more, their number.
const NAMED: usize = 3;

/// What maps are made for in a scene; none without smoothed particles.
pub(crate) fn map_settings(scene: &Scene) -> Option<MapSettings> {
    let first: &Continuum = scene.continuum.first().filter(|m| m.method == ContinuumMethod::Sph)?;
    let usual = MapSettings::new(first.spacing);
    Some(MapSettings { cell: first.solve.map_cell.unwrap_or(usual.cell), ..usual })
}

/// The map of a key among those that were kept. A file that is damaged, or is of another key, is none.
fn kept(assets: &Assets, key: MapKey) -> Option<VolumeMap> {
    let bytes = assets.maps.get(&key.to_string())?;
    VolumeMap::from_bytes(bytes).ok().filter(|map| map.key() == key)
}

/// The map of each wall of triangles, by the wall's index.
pub(super) fn shapes(
    scene: &Scene,
    assets: &Assets,
    settings: &Settings,
    boundary: &Boundary,
) -> Result<Vec<Option<Arc<dyn WallShape>>>, SolverError> {
    let walls = boundary.walls();
    let Some(maps) = map_settings(scene) else { return Ok(vec![None; walls.len()]) };
    let maps = MapSettings { support: settings.reach(), ..maps };
    let mut made: HashMap<MapKey, Arc<VolumeMap>> = HashMap::new();
    let mut of = |wall: &Wall| -> Result<Option<Arc<dyn WallShape>>, MapError> {
        let Some(facets) = wall.facets().filter(|f| !f.mesh().triangles.is_empty()) else { return Ok(None) };
        let key = MapKey::of(facets.mesh(), &maps);
        let map = match made.get(&key) {
            Some(map) => map.clone(),
            None => {
                let map = Arc::new(kept(assets, key).map_or_else(|| VolumeMap::build(facets.mesh(), &maps), Ok)?);
                made.insert(key, map.clone());
                map
            }
        };
        Ok(Some(map))
    };
    walls.iter().map(|wall| of(wall).map_err(SolverError::new)).collect()
}

/// Meshes whose maps this machine cannot hold, or cannot be made; and meshes that face themselves too closely for the particles or the cells.
/// Errors come first.
pub(super) fn check(parsed: &Parsed, setup: &Setup) -> (Vec<Problem>, Vec<Problem>) {
    let (mut errors, mut warnings) = (Vec::new(), Vec::new());
    let Some(maps) = map_settings(&parsed.scene) else { return (errors, warnings) };
    let own = parsed.scene.walls.len();
    for (i, wall) in setup.fixtures.walls.iter().enumerate() {
        let Some(facets) = wall.facets().filter(|f| !f.mesh().triangles.is_empty()) else { continue };
        let path = if i < own { format!("walls[{i}]") } else { "continuum[0].spacing".into() };
        warnings.extend((i < own).then(|| holes(parsed, &path, &wall.name, facets)).flatten());
        match narrow(facets, &maps) {
            Ok(places) => warnings.extend(said(parsed, &path, &wall.name, &places)),
            Err(e) => {
                let path = if matches!(e, MapError::Coarse { .. }) { "continuum[0].solve.map_cell" } else { &path };
                errors.push(parsed.error_at(path, format!("the volume map of `{}`: {e}", wall.name), remedy(&e)));
            }
        }
    }
    errors.dedup_by(|a, b| a.message == b.message);
    (errors, warnings)
}

/// A mesh that is not closed has no inside: particles lie on both sides of it. A hole in what was meant as a solid is hard to see in the result.
fn holes(parsed: &Parsed, path: &str, name: &str, facets: &Facets) -> Option<Problem> {
    let health = facets.mesh().health();
    let hole = health.holes.first()?;
    let edges: usize = health.holes.iter().map(|h| h.edges).sum();
    let message = format!(
        "the mesh of `{name}` has holes: {edges} open edges, the longest hole about ({:.4}, {:.4}, {:.4}) m in its own frame; a continuum \
         takes it for a sheet with matter on both sides",
        hole.at.x, hole.at.y, hole.at.z
    );
    Some(parsed.warning_at(path, message, "close the mesh if it is to be solid; leave it if it is to be a sheet"))
}

fn narrow(facets: &Facets, maps: &MapSettings) -> Result<Vec<Narrow>, MapError> {
    maps.check()?;
    let surface = Surface::build(facets.mesh())?;
    estimate(&surface, maps)?;
    narrow_places(facets.mesh(), &surface, maps)
}

fn remedy(e: &MapError) -> String {
    match e {
        MapError::Memory { needed, limit, remedy } => format!(
            "{} of {} allowed: set `map_cell` under `solve` to {remedy:.2e} m or more, or use a larger spacing",
            bytes(*needed as f64),
            bytes(*limit as f64)
        ),
        MapError::Coarse { remedy, .. } => format!("use a `map_cell` of {remedy:.2e} m, or leave it out"),
        MapError::Surface(_) | MapError::Distance(_) | MapError::Length { .. } | MapError::Stored(_) => String::new(),
    }
}

fn said(parsed: &Parsed, path: &str, name: &str, places: &[Narrow]) -> Option<Problem> {
    let narrowest = places.first()?;
    let named: Vec<String> = places.iter().take(NAMED).map(Narrow::to_string).collect();
    let more = if places.len() > NAMED { format!("; and {} more places", places.len() - NAMED) } else { String::new() };
    let message = format!("`{name}`, in the frame of its mesh: {}{more}", named.join("; "));
    let spacing = narrowest.width / SPACINGS;
    let help = format!("particles do not pass there; a spacing of {spacing:.2e} m would see it");
    Some(parsed.warning_at(path, message, help))
}

/// Spacings across a gap that particles pass.
const SPACINGS: f64 = 3.0;
