//! Sums of columns of numbers in a fixed order, which depends on how many there are and on nothing else.

use crate::device::{Gpu, GpuError};
use crate::kernel::{Kernel, Launches};

/// The shader.
pub const SHADER: &str = include_str!("reduce.wgsl");
/// Rows that a workgroup sums.
const CHUNK: usize = 256;

/// The kernel, compiled.
pub struct Reduce(Kernel);

/// Room for the sums of so many rows.
pub struct ReduceRoom {
    /// By level: rows, their number and that of the columns as constants, and where the sums go.
    levels: Vec<(usize, wgpu::Buffer, wgpu::Buffer)>,
}

impl ReduceRoom {
    /// Where the sums stand after a run: four numbers a column.
    pub fn sums(&self) -> &wgpu::Buffer {
        &self.levels[self.levels.len() - 1].2
    }
}

impl Reduce {
    /// Compiles.
    pub fn new(gpu: &Gpu) -> Result<Reduce, GpuError> {
        Ok(Reduce(gpu.kernel("reduce", SHADER, "reduce")?))
    }

    /// Room for the sums of `n` rows of `columns` columns of four numbers each.
    pub fn room(&self, gpu: &Gpu, n: usize, columns: usize) -> Result<ReduceRoom, GpuError> {
        let mut levels = Vec::new();
        let mut left = n;
        loop {
            let groups = left.div_ceil(CHUNK).max(1);
            let size = gpu.constants("reduce: size", &[left as u32, columns as u32])?;
            levels.push((left, size, gpu.buffer::<[f32; 4]>("reduce: sums", groups * columns)?));
            if groups == 1 {
                return Ok(ReduceRoom { levels });
            }
            left = groups;
        }
    }

    /// Sums `rows`; the result is in [`ReduceRoom::sums`].
    pub fn run(&self, launches: &mut Launches<'_>, rows: &wgpu::Buffer, room: &ReduceRoom) {
        let mut from = rows;
        for (n, size, sums) in &room.levels {
            launches.run(&self.0, &[(0, size), (1, from), (2, sums)], n.div_ceil(CHUNK).max(1) as u32);
            from = sums;
        }
    }
}
