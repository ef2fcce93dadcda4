//! Matter in three phases: from the scene's words to the solver's.

use super::{Method, continuum, memory, settings};
use barchan_core::boundary::Boundary;
use barchan_core::clock::StepWish;
use barchan_core::materials::Materials;
use barchan_core::recipe::Recipe;
use barchan_core::regions::Region;
use barchan_core::sizes::SizeDistribution;
use barchan_core::solver::{Knob, Solver};
use barchan_core::walls::Facets;
use barchan_flip::{
    BOUNCE, BYTES_PER_PARCEL, COVER, Filled, Flip, GasSettings, LAYERS, Limit, PASSES, PER_FACE, Phase, Rate, Settings,
    Shown, SolidSettings, SurfaceSettings, Transfer, Yield,
};
use barchan_scene as scene;
use barchan_scene::words::{bytes, count};
use barchan_scene::{ContinuumMethod, Parsed, PhaseName, Phases, Problem, Scene, SolidPhase};
use glam::DVec3;
use std::cell::Cell;
use std::sync::Arc;

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
            scene::ShownSand::Mesh => Shown::Mesh,
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

/// What may come to more than there is room for: all of the sand as gas.
pub(super) fn doubts(parsed: &Parsed) -> Vec<Problem> {
    let scene = &parsed.scene;
    let Some(settings) = settings_of(scene).filter(|s| s.gas.is_some()) else { return Vec::new() };
    let volumes = scene.continuum.iter().filter_map(|m| m.region().map(|r| r.to_core().volume()));
    let poured = scene.emitters.iter().map(|e| {
        let span = (e.until.unwrap_or(scene.duration).min(scene.duration) - e.from).max(0.0);
        match e.flow {
            scene::EmitterFlow::Rate(rate) => rate * span,
            scene::EmitterFlow::MassRate(rate) => rate * span / settings.quantum(),
        }
    });
    let most = volumes.sum::<f64>() * settings.bulk() / settings.quantum() + poured.sum::<f64>();
    if most <= settings.capacity as f64 {
        return Vec::new();
    }
    let message = format!(
        "if all of the sand flies at once it is {} grains of gas, more than the capacity of {}: the run would stop, with a checkpoint",
        count(most as u64),
        count(settings.capacity as u64)
    );
    let path = if parsed.given("phases.capacity") { "phases.capacity" } else { "continuum[0].spacing" };
    vec![parsed.warning_at(path, message, "raise `phases.capacity`, or give fewer grains a parcel: `phases.split`")]
}

/// Writes what knobs of phases say into a scene, where it is not what the scene says already.
pub(super) fn keep_knobs(scene: &mut Scene, knobs: &[Knob]) {
    let was = scene.phases.clone().unwrap_or_default();
    let mut now = was.clone();
    for knob in knobs {
        let whole = knob.value.round() as u64;
        match knob.name {
            COVER if whole < 2 => now.solid = SolidPhase { enabled: false, ..SolidPhase::default() },
            COVER => now.solid = SolidPhase { enabled: true, cover: whole },
            BOUNCE => now.restitution = knob.value,
            LAYERS => now.surface.layers = knob.value,
            PER_FACE => now.surface.per_face = Some(whole),
            PASSES => now.surface.passes = whole,
            _ => {}
        }
    }
    if now != was {
        scene.phases = Some(now);
    }
}

/// What pours single grains of gas instead of parcels.
pub(super) fn grain(scene: &Scene, recipe: Recipe) -> Recipe {
    let Some(settings) = settings_of(scene) else { return recipe };
    let radius = 0.5 * settings.gas_diameter();
    Recipe {
        shape: Flip::SINGLE,
        sizes: SizeDistribution::Fixed(radius),
        unit_mass: settings.quantum() / radius.powi(3),
        ..recipe
    }
}

/// Fills the regions of all populations. Where two overlap, the first has the place: nothing is denser than its packing.
/// What is left out of a filling is told.
pub(super) fn fill(parsed: &Parsed, boundary: &Boundary, flip: &mut Flip) -> Result<Vec<Problem>, Vec<Problem>> {
    let (mut problems, mut warnings, mut taken) = (Vec::new(), Vec::new(), Vec::<Place>::new());
    for (i, m) in parsed.scene.continuum.iter().enumerate() {
        let Some(region) = m.region().map(|r| r.to_core()) else { continue };
        let mesh = parsed.assets.filled.get(&i).map(|surface| surface.facets.clone());
        let own = Place { region, mesh };
        let (low, high) = own.region.bounds();
        let shared = Cell::new(0);
        let is_free = |x: DVec3| {
            let (inside, other) = (own.contains(x), taken.iter().any(|r| r.contains(x)));
            shared.set(shared.get() + usize::from(inside && other));
            inside && !other
        };
        let path = format!("continuum[{i}].fill");
        let phase = match m.phase {
            PhaseName::Solid => Phase::Solid,
            PhaseName::Liquid => Phase::Liquid,
            PhaseName::Gas => Phase::Gas,
        };
        match flip.fill([low, high], &is_free, m.velocity, phase, boundary) {
            Ok(Filled { parcels: 0, .. }) => {
                let message = format!("no parcel of `{}` fits into its region", m.name);
                let help = "enlarge it, use a smaller spacing, or move it away from walls";
                problems.push(parsed.error_at(&path, message, help));
            }
            Ok(Filled { parcels, walled }) => {
                let all = parcels + walled + shared.get();
                for (left_out, why, help) in [
                    (walled, "lie in a wall", "let the region end at the walls"),
                    (shared.get(), "are filled already", "let the regions end where others begin"),
                ] {
                    if left_out > 0 {
                        let numbers = format!("{} of {} parcels", count(left_out as u64), count(all as u64));
                        let message = format!("`{}`: {numbers} are left out: their places {why}", m.name);
                        warnings.push(parsed.warning_at(&path, message, help));
                    }
                }
            }
            Err(e) => problems.push(parsed.error_at(&path, e.to_string(), "use a larger spacing")),
        }
        taken.push(own);
    }
    if problems.is_empty() { Ok(warnings) } else { Err(problems) }
}

/// What a population fills: a region, or as much of a mesh as lies in it.
struct Place {
    region: Region,
    mesh: Option<Arc<Facets>>,
}

impl Place {
    fn contains(&self, x: DVec3) -> bool {
        // Within a solid its distance is negative.
        self.region.contains(x) && self.mesh.as_ref().is_none_or(|m| m.distance(x) < 0.0)
    }
}
