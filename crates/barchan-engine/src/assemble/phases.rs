//! Matter in three phases: from the scene's words to the solver's.

use super::{Method, continuum, memory, settings};
use barchan_core::boundary::Boundary;
use barchan_core::clock::StepWish;
use barchan_core::materials::Materials;
use barchan_core::regions::Region;
use barchan_core::solver::Solver;
use barchan_flip::{
    BYTES_PER_PARCEL, Flip, GasSettings, Limit, Rate, Settings, Shown, SolidSettings, SurfaceSettings, Transfer, Yield,
};
use barchan_scene as scene;
use barchan_scene::words::{bytes, count};
use barchan_scene::{ContinuumMethod, Parsed, Phases, Problem, Scene};
use glam::DVec3;

/// The continuum as parcels on a grid, with thin sand as gas.
pub(super) const PHASES: Method = Method {
    name: "phases",
    wanted: |s| s.continuum_method() == Some(ContinuumMethod::Phases),
    wish: |s| settings_of(s).and_then(wish),
    make: |parsed, start, _| {
        let usual = || Settings::sand(start.domain, f64::NAN, Materials::default());
        let settings = settings_of(&parsed.scene).unwrap_or_else(usual);
        Ok(Box::new(Flip::new(Settings { materials: start.materials.clone(), ..settings })?))
    },
};

/// The step that the solver would want; none for settings that cannot be run, which are reported elsewhere.
fn wish(settings: Settings) -> Option<StepWish> {
    Flip::new(settings).ok().map(|flip| flip.wish())
}

/// What the solver is told, without the materials of the world; none for a scene without a continuum in phases.
fn settings_of(scene: &Scene) -> Option<Settings> {
    let first = scene.continuum.first().filter(|m| m.method == ContinuumMethod::Phases)?;
    let phases = scene.phases.clone().unwrap_or_default();
    let cell = Phases::SPACINGS_PER_CELL * first.spacing;
    Some(Settings {
        gravity: scene.gravity,
        friction_angle: first.friction_angle,
        density: first.density,
        packing: first.packing,
        grain: scene.grain_in_phases(),
        cohesion: first.cohesion,
        tensile: first.tensile,
        rate: first.rate.as_ref().map(|r| Rate { i0: r.i0, mu2: r.mu2 }),
        material: continuum::material(scene, 0),
        transfer: match phases.transfer {
            scene::TransferName::Apic => Transfer::Apic,
            scene::TransferName::Flip => Transfer::Flip(phases.flip_share),
            scene::TransferName::Pic => Transfer::Pic,
        },
        yields: match phases.yields {
            scene::YieldName::Cone => Yield::Cone,
            scene::YieldName::Box => Yield::Box,
        },
        courant: phases.courant,
        sweeps: phases.sweeps as usize,
        tolerance: phases.tolerance,
        split: phases.split as u32,
        gas: phases.gas.then(|| gas(scene, phases.restitution)),
        solid: phases.solid.enabled.then_some(SolidSettings { cover: phases.solid.cover as u32 }),
        surface: surface(&phases.surface),
        shown: match phases.shown {
            scene::ShownSand::Parcels => Shown::Parcels,
            scene::ShownSand::Surface => Shown::Surface,
            scene::ShownSand::All => Shown::All,
        },
        capacity: phases.capacity as usize,
        ..Settings::sand(settings::domain(&scene.domain), cell, Materials::default())
    })
}

/// How gas rides on the liquid.
fn surface(s: &scene::SurfacePhase) -> SurfaceSettings {
    SurfaceSettings {
        limit: s.per_face.map_or(Limit::Packing, |n| Limit::PerFace(n as u32)),
        layers: s.layers,
        angle: s.angle,
        passes: s.passes as u32,
        exact: s.exact,
    }
}

/// Gas, in the scene's air or in none.
fn gas(scene: &Scene, restitution: f64) -> GasSettings {
    let usual = GasSettings { restitution, drag: false, ..GasSettings::default() };
    match &scene.air {
        Some(air) => GasSettings {
            drag: air.drag != scene::Drag::None,
            wind: air.velocity.steady().unwrap_or(DVec3::ZERO),
            air_density: air.density,
            air_viscosity: air.viscosity,
            ..usual
        },
        None => usual,
    }
}

/// What is wrong with the continuum of a scene, as its solver and this machine see it.
pub(super) fn problems(parsed: &Parsed) -> Vec<Problem> {
    let Some(settings) = settings_of(&parsed.scene) else { return Vec::new() };
    let mut found: Vec<Problem> =
        settings.check().err().into_iter().map(|e| parsed.error_at("continuum[0]", e.to_string(), "")).collect();
    let volumes = parsed.scene.continuum.iter().filter_map(|m| m.region().map(|r| r.to_core().volume()));
    let parcels = volumes.sum::<f64>() / (0.5 * settings.cell).powi(3);
    if parcels > settings.capacity as f64 {
        let message = format!(
            "the fillings have {} parcels, more than the capacity of {}",
            count(parcels as u64),
            count(settings.capacity as u64)
        );
        found.push(parsed.error_at(
            "continuum[0].spacing",
            message,
            "use a larger spacing, or raise `phases.capacity`",
        ));
    }
    let needed = parcels * BYTES_PER_PARCEL;
    if let Some(has) = memory::machine_memory().filter(|has| needed > *has) {
        let message = format!(
            "{} parcels would need about {} of memory; this machine has {}",
            count(parcels as u64),
            bytes(needed),
            bytes(has)
        );
        found.push(parsed.error_at("continuum[0].spacing", message, "use a larger spacing or smaller regions"));
    }
    found
}

/// Fills the regions of all populations. Where two overlap, the first has the place: nothing is denser than its packing.
pub(super) fn fill(parsed: &Parsed, boundary: &Boundary, flip: &mut Flip) -> Result<(), Vec<Problem>> {
    let (mut problems, mut taken) = (Vec::new(), Vec::new());
    for (i, m) in parsed.scene.continuum.iter().enumerate() {
        let Some(region) = m.region().map(|r| r.to_core()) else { continue };
        let (low, high) = region.bounds();
        let is_free = |x: DVec3| region.contains(x) && !taken.iter().any(|r: &Region| r.contains(x));
        let path = format!("continuum[{i}].fill");
        match flip.fill([low, high], &is_free, m.velocity, boundary) {
            Ok(0) => {
                let message = format!("no parcel of `{}` fits into its region", m.name);
                let help = "enlarge it, use a smaller spacing, or move it away from walls";
                problems.push(parsed.error_at(&path, message, help));
            }
            Ok(_) => {}
            Err(e) => problems.push(parsed.error_at(&path, e.to_string(), "use a larger spacing")),
        }
        taken.push(region);
    }
    if problems.is_empty() { Ok(()) } else { Err(problems) }
}
