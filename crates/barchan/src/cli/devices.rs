//! `barchan devices`: what this machine can compute on.

use super::Failure;
use super::say::{many, say};
use barchan::core::simd::Isa;
use barchan::engine::Device;
use clap::Args;

/// A device by its name on the command line.
pub fn device(text: &str) -> Result<Device, String> {
    let found = Device::NAMES.iter().find(|n| n.0 == text).map(|n| n.1);
    found.ok_or_else(|| "give cpu, gpu, auto or gpu:1; `barchan devices` lists what there is".into())
}

#[derive(Args)]
pub struct DevicesArgs {
    /// One line of JSON
    #[arg(long)]
    json: bool,
}

pub fn devices(args: DevicesArgs) -> Result<(), Failure> {
    let cores = std::thread::available_parallelism().map_or(1, |n| n.get());
    let sets: Vec<&str> = Isa::available().into_iter().map(Isa::name).collect();
    if args.json {
        let sets = sets.iter().map(|s| text(s)).collect::<Vec<_>>().join(",");
        let gpus = adapters::list().iter().map(adapters::Row::json).collect::<Vec<_>>().join(",");
        say!("{{\"cpu\":{{\"threads\":{cores},\"instruction_sets\":[{sets}]}},\"gpu\":[{gpus}]}}");
        return Ok(());
    }
    say!("cpu    {}, instruction sets {}", many(cores as u64, "thread"), sets.join(", "));
    let gpus = adapters::list();
    for gpu in &gpus {
        gpu.tell();
    }
    if gpus.is_empty() {
        say!("gpu    {}", adapters::NONE);
    }
    Ok(())
}

/// A string of JSON.
fn text(s: &str) -> String {
    let mut out = String::from("\"");
    for c in s.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if c.is_control() => out.push_str(&format!("\\u{:04x}", c as u32)),
            c => out.push(c),
        }
    }
    out + "\""
}

#[cfg(feature = "gpu")]
mod adapters {
    use super::text;
    use crate::cli::say::{bytes, say};
    use barchan_gpu::Adapter;

    pub const NONE: &str = "none found; install the adapter's driver, or mesa-vulkan-drivers for one in software";

    /// An adapter with its number.
    pub struct Row(usize, Adapter);

    /// All adapters, in the order of their numbers.
    pub fn list() -> Vec<Row> {
        barchan_gpu::adapters().into_iter().enumerate().map(|(k, a)| Row(k, a)).collect()
    }

    impl Row {
        pub fn tell(&self) {
            let Row(k, adapter) = self;
            let limits = adapter.limits();
            say!("gpu:{k}  {}, {}", adapter.name(), adapter.kind());
            if !adapter.driver().is_empty() {
                say!("       driver {}", adapter.driver());
            }
            let [buffer, binding] = [limits.max_buffer_size, limits.max_storage_buffer_binding_size];
            say!(
                "       buffers of {} at most, of which a kernel sees {}",
                bytes(buffer as f64),
                bytes(binding as f64)
            );
            say!(
                "       {} buffers a kernel, {} threads a workgroup, {} workgroups in each direction of a launch",
                limits.max_storage_buffers_per_shader_stage,
                limits.max_compute_invocations_per_workgroup,
                limits.max_compute_workgroups_per_dimension
            );
            match adapter.lack() {
                Some(lack) => say!("       cannot compute: it {lack}"),
                None => say!("       can compute"),
            }
        }

        pub fn json(&self) -> String {
            let Row(k, a) = self;
            let l = a.limits();
            format!(
                "{{\"device\":\"gpu:{k}\",\"name\":{},\"kind\":{},\"driver\":{},\"max_buffer\":{},\"max_binding\":{},\
                 \"max_buffers\":{},\"max_threads\":{},\"max_groups\":{},\"lacks\":{}}}",
                text(&a.name()),
                text(a.kind()),
                text(&a.driver()),
                l.max_buffer_size,
                l.max_storage_buffer_binding_size,
                l.max_storage_buffers_per_shader_stage,
                l.max_compute_invocations_per_workgroup,
                l.max_compute_workgroups_per_dimension,
                a.lack().map_or("null".into(), |lack| text(&lack)),
            )
        }
    }
}

/// Without the feature `gpu` there is nobody to ask.
#[cfg(not(feature = "gpu"))]
mod adapters {
    pub const NONE: &str = "not known to this build, which was made without the feature `gpu`";

    pub enum Row {}

    pub fn list() -> Vec<Row> {
        Vec::new()
    }

    impl Row {
        pub fn tell(&self) {
            match *self {}
        }

        pub fn json(&self) -> String {
            match *self {}
        }
    }
}
