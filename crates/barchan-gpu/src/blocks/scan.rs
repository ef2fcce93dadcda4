//! Exclusive prefix sums of whole numbers: where each one's share of a list begins.
//!
//! One launch down and one up for every factor of 1,024. Sums are of integers, so no order matters.

use crate::device::{Gpu, GpuError};
use crate::kernel::{Kernel, Launches};

/// The shader.
pub const SHADER: &str = include_str!("scan.wgsl");
/// Numbers that a workgroup scans.
const CHUNK: usize = 1024;

/// The kernels, compiled.
pub struct Scan {
    scan: Kernel,
    add: Kernel,
}

/// Room for the sums of a scan of so many numbers.
pub struct ScanRoom {
    /// By level: numbers, how many as a constant, and where the sums of workgroups go.
    levels: Vec<(usize, wgpu::Buffer, wgpu::Buffer)>,
}

impl Scan {
    /// Compiles.
    pub fn new(gpu: &Gpu) -> Result<Scan, GpuError> {
        Ok(Scan { scan: gpu.kernel("scan", SHADER, "scan")?, add: gpu.kernel("scan", SHADER, "add")? })
    }

    /// Room for scans of `n` numbers.
    pub fn room(&self, gpu: &Gpu, n: usize) -> Result<ScanRoom, GpuError> {
        let mut levels = Vec::new();
        let mut left = n;
        loop {
            let groups = left.div_ceil(CHUNK);
            levels.push((left, gpu.constants("scan: size", &[left as u32])?, gpu.buffer::<u32>("scan: sums", groups)?));
            if groups <= 1 {
                return Ok(ScanRoom { levels });
            }
            left = groups;
        }
    }

    /// Replaces each number by the sum of those before it.
    pub fn run(&self, launches: &mut Launches<'_>, data: &wgpu::Buffer, room: &ScanRoom) {
        let mut from = data;
        for (n, size, sums) in &room.levels {
            launches.run(&self.scan, &[(0, size), (1, from), (2, sums)], n.div_ceil(CHUNK) as u32);
            from = sums;
        }
        for level in (0..room.levels.len() - 1).rev() {
            let (n, size, sums) = &room.levels[level];
            let into = if level == 0 { data } else { &room.levels[level - 1].2 };
            launches.run(&self.add, &[(0, size), (1, into), (2, sums)], n.div_ceil(CHUNK) as u32);
        }
    }
}
