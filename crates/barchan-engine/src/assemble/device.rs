//! On what matter is computed: the processor, or a graphics adapter.

use super::{METHODS, Method, methods};
use crate::checkpoint::Checkpoint;
use barchan_core::boundary::Boundary;
use barchan_core::frame::GRAINS;
use barchan_core::solver::{Solver, SolverError};
use barchan_dem::{Dem, Settings};
use barchan_scene::{Device, Scene, ShapeSpec};

/// Why a scene cannot be computed on a graphics adapter.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("the scene cannot be computed on a graphics adapter: {0}; run with `--device cpu`")]
struct NotThere(String);

/// The methods that a scene needs on its device.
pub fn methods_on(scene: &Scene) -> Vec<&'static Method> {
    let mut all = methods(scene);
    let grains = METHODS.iter().any(|m| m.name == GRAINS && (m.wanted)(scene));
    if scene.device != Device::Cpu && (grains || scene.device != Device::Auto) {
        // A scene without grains has nothing for an adapter to do, which its method then says.
        all.retain(|m| m.name != GRAINS);
        all.push(&ON_ADAPTER);
    }
    all
}

/// The device whose grains a checkpoint holds.
pub(super) fn device_of(checkpoint: &Checkpoint) -> Device {
    match checkpoint.column(&format!("{GRAINS}/gpu.fine")) {
        Some(_) => Device::Gpu,
        None => Device::Cpu,
    }
}

static ON_ADAPTER: Method = Method {
    name: GRAINS,
    wanted: |scene| METHODS.iter().any(|m| m.name == GRAINS && (m.wanted)(scene)),
    wish: |_| None,
    make: |parsed, settings, boundary| {
        let scene = &parsed.scene;
        if scene.device == Device::Auto {
            return match why_on_the_processor(scene, settings, boundary) {
                Some(_) => Ok(Box::new(Dem::new(settings.clone(), boundary))),
                None => on_adapter(scene, settings, boundary),
            };
        }
        let found = unfit(scene);
        if !found.is_empty() {
            return Err(SolverError::new(NotThere(found.join(", "))));
        }
        on_adapter(scene, settings, boundary)
    },
};

/// What a scene has that no adapter computes.
fn unfit(scene: &Scene) -> Vec<&'static str> {
    let shapes = scene.grains.iter().map(|g| &g.shape).chain(scene.emitters.iter().map(|e| &e.shape));
    let has = [
        ({ shapes }.any(|shape| *shape != ShapeSpec::SPHERE), "some of its grains are not single spheres"),
        (scene.grains.is_empty() && scene.emitters.is_empty(), "it has no grains"),
        (scene.grains.iter().any(|g| g.bonds.is_some()), "its grains are bonded"),
        (scene.ground.is_some(), "it has a ground"),
        (!scene.bodies.is_empty(), "it has bodies"),
        (!scene.continuum.is_empty(), "it has a continuum"),
        (!scene.events.is_empty(), "something is done to its grains at given times"),
    ];
    has.into_iter().filter(|(has, _)| *has).map(|(_, what)| what).collect()
}

/// Why a scene that may choose is computed on the processor; none if it is not, or if it may not choose.
#[cfg(feature = "gpu")]
pub(super) fn why_on_the_processor(scene: &Scene, settings: &Settings, boundary: &Boundary) -> Option<String> {
    if scene.device != Device::Auto {
        return None;
    }
    let unfit = unfit(scene);
    let refused = barchan_gpu::grains::refusals(settings, boundary.fixtures());
    let why = if !unfit.is_empty() {
        unfit.join(", ")
    } else if !refused.is_empty() {
        refused.join("; ")
    } else {
        match barchan_gpu::adapters().first() {
            None => "there is no graphics adapter".into(),
            Some(a) if a.lack().is_some() => format!("{} {}", a.name(), a.lack().unwrap_or_default()),
            Some(a) if a.kind() == "software" => {
                format!("{} is a driver in software, which is slower than the processor", a.name())
            }
            Some(_) => return None,
        }
    };
    Some(format!("it is computed on the processor: {why}"))
}

#[cfg(not(feature = "gpu"))]
pub(super) fn why_on_the_processor(scene: &Scene, _: &Settings, _: &Boundary) -> Option<String> {
    let why = "it is computed on the processor: this build was made without the feature `gpu`";
    (scene.device == Device::Auto).then(|| why.into())
}

#[cfg(feature = "gpu")]
fn on_adapter(scene: &Scene, settings: &Settings, boundary: &Boundary) -> Result<Box<dyn Solver>, SolverError> {
    let gpu = match scene.device.number() {
        Some(number) => barchan_gpu::Gpu::numbered(number)?,
        None => barchan_gpu::Gpu::best(None)?,
    };
    Ok(Box::new(barchan_gpu::GpuDem::new(gpu, settings.clone(), boundary)?))
}

#[cfg(not(feature = "gpu"))]
fn on_adapter(_: &Scene, _: &Settings, _: &Boundary) -> Result<Box<dyn Solver>, SolverError> {
    Err(SolverError::new(NotThere("this build was made without the feature `gpu`".into())))
}
