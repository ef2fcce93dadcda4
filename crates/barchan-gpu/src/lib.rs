//! Compute on graphics adapters of any vendor, through wgpu.
//!
//! [`device`] finds adapters, opens them and says what they cannot do; [`kernel`] compiles shaders, fills buffers and launches;
//! [`law`] writes the contact law as WGSL; [`blocks`] sort, scan, sum and find neighbours; [`grains`] is the grain solver. Other shaders are
//! plain WGSL in files beside the host file that launches them.

// What enters the state of a run comes from `barchan_core::math`; clippy.toml has the list and the reason.
#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

pub mod blocks;
pub mod device;
pub mod grains;
pub mod kernel;
pub mod law;

pub use device::{Adapter, Cap, Gpu, GpuError, adapters};
pub use grains::{Cost, GpuDem, GpuDemError};
