//! Kernels against the processor, on whatever adapter there is; without one these tests say so and pass.

mod blocks;
mod device;
mod grains;
mod handover;
mod law;
mod lists;
mod shaders;
mod walls;

use barchan_gpu::{Cap, Gpu, GpuError};

/// The best adapter, or none where there is none, which the test then says.
fn open(cap: Option<Cap>) -> Option<Gpu> {
    match Gpu::best(cap) {
        Ok(gpu) => Some(gpu),
        Err(e @ GpuError::NoAdapter(_)) => {
            eprintln!("skipped: {e}");
            None
        }
        Err(e) => panic!("{e}"),
    }
}
