//! On what grains are computed: the processor, or a graphics adapter.

use super::{METHODS, Method, methods};
use crate::checkpoint::Checkpoint;
use barchan_core::frame::GRAINS;
use barchan_core::solver::SolverError;
use barchan_scene::{Scene, ShapeSpec};

/// What computes grains.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Device {
    /// The processor.
    #[default]
    Cpu,
    /// The best graphics adapter.
    Gpu,
}

/// Why a scene cannot be computed on a graphics adapter.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("the scene cannot be computed on a graphics adapter: {0}; run with `--device cpu`")]
struct NotThere(String);

/// The methods that a scene needs on a device.
pub fn methods_on(scene: &Scene, device: Device) -> Vec<&'static Method> {
    let mut all = methods(scene);
    if device == Device::Gpu {
        // A scene without grains has nothing for an adapter to do, which its method then says.
        all.retain(|m| m.name != GRAINS);
        all.push(&ON_ADAPTER);
    }
    all
}

/// The device whose grains a checkpoint holds.
pub(super) fn device_of(checkpoint: &Checkpoint) -> Device {
    match checkpoint.column(&format!("{GRAINS}/fine")) {
        Some(_) => Device::Gpu,
        None => Device::Cpu,
    }
}

static ON_ADAPTER: Method = Method {
    name: GRAINS,
    wanted: |scene| METHODS.iter().any(|m| m.name == GRAINS && (m.wanted)(scene)),
    wish: |_| None,
    make: |scene, settings, boundary| {
        let shapes = scene.grains.iter().map(|g| &g.shape).chain(scene.emitters.iter().map(|e| &e.shape));
        let has = [
            ({ shapes }.any(|shape| shape != ShapeSpec::SPHERE), "some of its grains are not single spheres"),
            (scene.grains.is_empty() && scene.emitters.is_empty(), "it has no grains"),
            (scene.ground.is_some(), "it has a ground"),
            (!scene.bodies.is_empty(), "it has bodies"),
            (!scene.continuum.is_empty(), "it has a continuum"),
        ];
        let found: Vec<&str> = has.iter().filter(|(has, _)| *has).map(|(_, what)| *what).collect();
        if !found.is_empty() {
            return Err(SolverError::new(NotThere(found.join(", "))));
        }
        #[cfg(feature = "gpu")]
        {
            let gpu = barchan_gpu::Gpu::best(None)?;
            Ok(Box::new(barchan_gpu::GpuDem::new(gpu, settings.clone(), boundary)?))
        }
        #[cfg(not(feature = "gpu"))]
        {
            let _ = (settings, boundary);
            Err(SolverError::new(NotThere("this build was made without the feature `gpu`".into())))
        }
    },
};
