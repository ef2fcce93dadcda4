//! An adapter to draw with, without a window.

use crate::RenderError;
use std::sync::{Arc, Mutex};
use wgpu::{Backends, DeviceType};

/// A device, its queue, what it is called, and what went wrong with it outside any pass.
pub struct Opened {
    pub device: wgpu::Device,
    pub queue: wgpu::Queue,
    pub name: String,
    pub fault: Fault,
}

/// The first thing that went wrong with a device, once something did.
pub type Fault = Arc<Mutex<Option<String>>>;

/// Opens the best adapter: Vulkan, Metal or DirectX before GL, hardware before software.
pub fn open() -> Result<Opened, RenderError> {
    let mut reasons = Vec::new();
    for backends in [Backends::PRIMARY, Backends::GL] {
        let descriptor =
            wgpu::InstanceDescriptor { backends, ..wgpu::InstanceDescriptor::new_without_display_handle() };
        let instance = wgpu::Instance::new(descriptor);
        let options = wgpu::RequestAdapterOptions {
            power_preference: wgpu::PowerPreference::HighPerformance,
            ..Default::default()
        };
        match pollster::block_on(instance.request_adapter(&options)) {
            Ok(adapter) => match device(&adapter) {
                Ok(opened) => return Ok(opened),
                Err(reason) => reasons.push(format!("{}: {reason}", adapter.get_info().name)),
            },
            Err(reason) => reasons.push(reason.to_string()),
        }
    }
    Err(RenderError::NoAdapter { reason: reasons.join("; ") })
}

fn device(adapter: &wgpu::Adapter) -> Result<Opened, wgpu::RequestDeviceError> {
    let descriptor = wgpu::DeviceDescriptor {
        label: Some("barchan"),
        required_limits: adapter.limits(),
        ..wgpu::DeviceDescriptor::default()
    };
    let (device, queue) = pollster::block_on(adapter.request_device(&descriptor))?;
    let fault = Fault::default();
    let note = |fault: &Fault, reason: String| {
        if let Ok(mut fault) = fault.lock() {
            fault.get_or_insert(reason);
        }
    };
    let kept = fault.clone();
    device.set_device_lost_callback(move |_, reason| note(&kept, format!("device lost: {reason}")));
    let kept = fault.clone();
    device.on_uncaptured_error(Arc::new(move |error: wgpu::Error| note(&kept, error.to_string())));
    Ok(Opened { device, queue, name: name(&adapter.get_info()), fault })
}

/// What an adapter is called in the log; software says so.
pub fn name(info: &wgpu::AdapterInfo) -> String {
    let software = if info.device_type == DeviceType::Cpu { ", software" } else { "" };
    format!("{} ({}{software})", info.name, info.backend)
}
