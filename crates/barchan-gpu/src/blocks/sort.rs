//! A stable radix sort of 32-bit keys with a value each, four bits a pass.
//!
//! Counting and scattering are launches of their own with a scan between them: sorts of one launch wait for other workgroups, which not
//! every card promises to run.

use super::scan::{Scan, ScanRoom};
use crate::device::{Gpu, GpuError};
use crate::kernel::{Kernel, Launches};

/// The shader.
pub const SHADER: &str = include_str!("sort.wgsl");
/// Keys that a workgroup sorts.
const CHUNK: usize = 256;
/// Bits of a pass.
const BITS: u32 = 4;

/// The kernels, compiled.
pub struct Sort {
    count: Kernel,
    scatter: Kernel,
    scan: Scan,
}

/// Room for a sort of so many keys.
pub struct SortRoom {
    groups: u32,
    passes: Vec<wgpu::Buffer>,
    keys: wgpu::Buffer,
    values: wgpu::Buffer,
    counts: wgpu::Buffer,
    scan: ScanRoom,
}

impl SortRoom {
    /// Bytes held on the device.
    pub fn bytes(&self) -> u64 {
        [&self.keys, &self.values, &self.counts].iter().map(|b| b.size()).sum()
    }
}

impl Sort {
    /// Compiles.
    pub fn new(gpu: &Gpu) -> Result<Sort, GpuError> {
        let kernel = |entry| gpu.kernel("sort", SHADER, entry);
        Ok(Sort { count: kernel("count")?, scatter: kernel("scatter")?, scan: Scan::new(gpu)? })
    }

    /// The scan that the sort uses.
    pub fn scan(&self) -> &Scan {
        &self.scan
    }

    /// Room for sorts of `n` keys by their lowest `bits` bits.
    pub fn room(&self, gpu: &Gpu, n: usize, bits: u32) -> Result<SortRoom, GpuError> {
        let groups = n.div_ceil(CHUNK);
        // An even number, so that the result stands where the keys were.
        let passes = bits.div_ceil(BITS).next_multiple_of(2);
        let constants = |p: u32| gpu.constants("sort: pass", &[n as u32, p * BITS, groups as u32]);
        Ok(SortRoom {
            groups: groups as u32,
            passes: (0..passes).map(constants).collect::<Result<_, _>>()?,
            keys: gpu.buffer::<u32>("sort: keys", n)?,
            values: gpu.buffer::<u32>("sort: values", n)?,
            counts: gpu.buffer::<u32>("sort: counts", groups << BITS)?,
            scan: self.scan.room(gpu, groups << BITS)?,
        })
    }

    /// Sorts keys, and values with them; equal keys stay in their order.
    pub fn run(&self, launches: &mut Launches<'_>, keys: &wgpu::Buffer, values: &wgpu::Buffer, room: &SortRoom) {
        let mut from = (keys, values);
        let mut to = (&room.keys, &room.values);
        for pass in &room.passes {
            launches.run(&self.count, &[(0, pass), (1, from.0), (3, &room.counts)], room.groups);
            self.scan.run(launches, &room.counts, &room.scan);
            let all = [(0, pass), (1, from.0), (2, from.1), (3, &room.counts), (4, to.0), (5, to.1)];
            launches.run(&self.scatter, &all, room.groups);
            (from, to) = (to, from);
        }
    }
}
