//! Adapters: which there are, what they cannot do, and how one is opened.

use std::sync::{Arc, Mutex};
use wgpu::{Backends, DeviceType, Limits};

/// Storage buffers a kernel may bind: as many as every Metal device has.
pub const MOST_BUFFERS: u32 = 8;
/// Threads of a workgroup: the least that WebGPU promises.
pub const MOST_THREADS: u32 = 256;
/// Memory the threads of a workgroup share [bytes]: the least that WebGPU promises.
pub const MOST_SHARED: u32 = 16384;

/// Why a device cannot do what was asked of it. The message names the remedy.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum GpuError {
    /// No adapter, or none that works.
    #[error("no graphics adapter can compute ({0}); install its driver, or mesa-vulkan-drivers for one in software")]
    NoAdapter(String),
    /// An adapter that lacks what every kernel needs.
    #[error("{adapter} {lack}; choose another of `barchan devices`")]
    Lacks {
        /// Its name.
        adapter: String,
        /// What it lacks.
        lack: String,
    },
    /// A buffer beyond a limit of the device.
    #[error("`{what}` needs {needs} bytes in one buffer and the device allows {allows}; use fewer grains")]
    TooLarge {
        /// The buffer.
        what: String,
        /// Bytes it needs.
        needs: u64,
        /// Bytes there may be.
        allows: u64,
    },
    /// The device's memory is full.
    #[error("the device has no room for the {needs} bytes of `{what}`; use fewer grains")]
    OutOfMemory {
        /// The buffer.
        what: String,
        /// Bytes it needs.
        needs: u64,
    },
    /// The driver does not take a shader.
    #[error("the driver does not compile the shader `{shader}`: {reason}; update it, or choose another device")]
    Compile {
        /// The shader.
        shader: String,
        /// What the driver says.
        reason: String,
    },
    /// The device is gone, or answers with errors.
    #[error("the device was lost: {0}")]
    Lost(String),
}

/// Limits to hold a device to, below its own: so that small devices can be tried on large ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cap {
    /// Bytes a kernel sees of one buffer.
    pub binding: u64,
    /// Workgroups in one direction of a launch.
    pub groups: u32,
}

/// An adapter of this machine.
pub struct Adapter {
    adapter: wgpu::Adapter,
    info: wgpu::AdapterInfo,
    limits: Limits,
}

/// All adapters, in the order in which they are tried: hardware before software. Those of GL are looked for where there are no others.
pub fn adapters() -> Vec<Adapter> {
    let mut all = found(Backends::PRIMARY);
    if all.is_empty() {
        all = found(Backends::GL);
    }
    // Stable: equals stay in the order of the driver.
    all.sort_by_key(|a| (a.lack().is_some(), a.rank()));
    all
}

fn found(backends: Backends) -> Vec<Adapter> {
    let descriptor = wgpu::InstanceDescriptor { backends, ..wgpu::InstanceDescriptor::new_without_display_handle() };
    let instance = wgpu::Instance::new(descriptor);
    pollster::block_on(instance.enumerate_adapters(backends)).into_iter().map(Adapter::new).collect()
}

impl Adapter {
    fn new(adapter: wgpu::Adapter) -> Adapter {
        let (info, limits) = (adapter.get_info(), adapter.limits());
        Adapter { adapter, info, limits }
    }

    fn rank(&self) -> u32 {
        match self.info.device_type {
            DeviceType::DiscreteGpu => 0,
            DeviceType::IntegratedGpu => 1,
            DeviceType::VirtualGpu => 2,
            DeviceType::Other => 3,
            DeviceType::Cpu => 4,
        }
    }

    /// Its name and the interface it is reached by.
    pub fn name(&self) -> String {
        format!("{} ({})", self.info.name, self.info.backend)
    }

    /// Card, part of the processor, or software.
    pub fn kind(&self) -> &'static str {
        match self.info.device_type {
            DeviceType::DiscreteGpu => "card",
            DeviceType::IntegratedGpu => "part of the processor",
            DeviceType::VirtualGpu => "virtual",
            DeviceType::Cpu => "software",
            DeviceType::Other => "unknown kind",
        }
    }

    /// The driver as it calls itself.
    pub fn driver(&self) -> String {
        format!("{} {}", self.info.driver, self.info.driver_info).trim().to_owned()
    }

    /// Limits that bear on computing.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// What it lacks that every kernel needs; none if it can compute.
    pub fn lack(&self) -> Option<String> {
        if !self.adapter.get_downlevel_capabilities().flags.contains(wgpu::DownlevelFlags::COMPUTE_SHADERS) {
            return Some("has no compute shaders".into());
        }
        let l = &self.limits;
        let needs = [
            ("storage buffers a kernel", l.max_storage_buffers_per_shader_stage, MOST_BUFFERS),
            ("threads a workgroup", l.max_compute_invocations_per_workgroup, MOST_THREADS),
            ("bytes shared by a workgroup", l.max_compute_workgroup_storage_size, MOST_SHARED),
        ];
        needs.iter().find(|n| n.1 < n.2).map(|(what, has, needs)| format!("has {has} {what}, and {needs} are needed"))
    }

    /// Opens it, held to lower limits where `cap` says so.
    pub fn open(&self, cap: Option<Cap>) -> Result<Gpu, GpuError> {
        if let Some(lack) = self.lack() {
            return Err(GpuError::Lacks { adapter: self.name(), lack });
        }
        let mut limits = self.limits.clone();
        // No kernel may come to need more than every Metal device has.
        limits.max_storage_buffers_per_shader_stage = MOST_BUFFERS;
        if let Some(cap) = cap {
            limits.max_storage_buffer_binding_size = limits.max_storage_buffer_binding_size.min(cap.binding);
            limits.max_compute_workgroups_per_dimension = limits.max_compute_workgroups_per_dimension.min(cap.groups);
        }
        let descriptor =
            wgpu::DeviceDescriptor { label: Some("barchan"), required_limits: limits.clone(), ..Default::default() };
        let opened = pollster::block_on(self.adapter.request_device(&descriptor));
        let (device, queue) = opened.map_err(|e| GpuError::NoAdapter(format!("{}: {e}", self.name())))?;
        let fault = Fault::default();
        let kept = fault.clone();
        device.set_device_lost_callback(move |_, reason| kept.note(reason));
        let kept = fault.clone();
        device.on_uncaptured_error(Arc::new(move |error: wgpu::Error| kept.note(error.to_string())));
        Ok(Gpu { device, queue, limits, fault })
    }
}

/// The first thing that went wrong with a device, once something did.
#[derive(Clone, Default)]
struct Fault(Arc<Mutex<Option<String>>>);

impl Fault {
    fn note(&self, reason: String) {
        if let Ok(mut first) = self.0.lock() {
            first.get_or_insert(reason);
        }
    }
}

/// An open device.
pub struct Gpu {
    pub(crate) device: wgpu::Device,
    pub(crate) queue: wgpu::Queue,
    pub(crate) limits: Limits,
    fault: Fault,
}

impl Gpu {
    /// The first adapter that opens.
    pub fn best(cap: Option<Cap>) -> Result<Gpu, GpuError> {
        let mut reasons = Vec::new();
        for adapter in adapters() {
            match adapter.open(cap) {
                Ok(gpu) => return Ok(gpu),
                Err(e) => reasons.push(e.to_string()),
            }
        }
        if reasons.is_empty() {
            reasons.push("there is none".into());
        }
        Err(GpuError::NoAdapter(reasons.join("; ")))
    }

    /// The adapter of a number in [`adapters`].
    pub fn numbered(number: usize) -> Result<Gpu, GpuError> {
        let mut all = adapters();
        if number >= all.len() {
            return Err(GpuError::NoAdapter(format!(
                "there is no gpu:{number}, `barchan devices` lists {}",
                all.len()
            )));
        }
        all.swap_remove(number).open(None)
    }

    /// Whether the device still answers.
    pub fn alive(&self) -> Result<(), GpuError> {
        let fault = self.fault.0.lock().ok().and_then(|f| f.clone());
        fault.map_or(Ok(()), |reason| Err(GpuError::Lost(reason)))
    }

    /// Makes it unusable, as a driver does that is reset.
    pub(crate) fn destroy(&self) {
        self.device.destroy();
        self.fault.note("it was destroyed".into());
    }

    /// Waits until all that was submitted is done.
    pub(crate) fn wait(&self) -> Result<(), GpuError> {
        self.device.poll(wgpu::PollType::wait_indefinitely()).map_err(|e| GpuError::Lost(e.to_string()))?;
        self.alive()
    }
}
