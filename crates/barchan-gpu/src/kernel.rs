//! Buffers, kernels and launches: the little of wgpu that the blocks need, with its errors told apart.

use crate::device::{Gpu, GpuError};
use bytemuck::Pod;
use wgpu::BufferUsages;

/// Threads of every workgroup that works on one element a thread.
pub const GROUP: u32 = 64;

/// A compiled entry point.
pub struct Kernel {
    pipeline: wgpu::ComputePipeline,
    layout: wgpu::BindGroupLayout,
}

impl Gpu {
    /// Compiles an entry point of a shader. Its bindings are those of group 0 that it uses.
    pub fn kernel(&self, name: &str, source: &str, entry: &str) -> Result<Kernel, GpuError> {
        let scope = self.device.push_error_scope(wgpu::ErrorFilter::Validation);
        let inner = self.device.push_error_scope(wgpu::ErrorFilter::Internal);
        let module = self.device.create_shader_module(wgpu::ShaderModuleDescriptor {
            label: Some(name),
            source: wgpu::ShaderSource::Wgsl(source.into()),
        });
        let pipeline = self.device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: Some(entry),
            layout: None,
            module: &module,
            entry_point: Some(entry),
            compilation_options: Default::default(),
            cache: None,
        });
        let errors = [pollster::block_on(inner.pop()), pollster::block_on(scope.pop())];
        match errors.into_iter().flatten().next() {
            Some(e) => Err(GpuError::Compile { shader: format!("{name}: {entry}"), reason: e.to_string() }),
            None => Ok(Kernel { layout: pipeline.get_bind_group_layout(0), pipeline }),
        }
    }

    /// A buffer of zeros that kernels read and write.
    pub fn buffer<T: Pod>(&self, what: &str, len: usize) -> Result<wgpu::Buffer, GpuError> {
        self.make(what, size::<T>(len), BufferUsages::STORAGE)
    }

    /// A buffer with these numbers in it.
    pub fn upload<T: Pod>(&self, what: &str, data: &[T]) -> Result<wgpu::Buffer, GpuError> {
        let buffer = self.buffer::<T>(what, data.len())?;
        self.queue.write_buffer(&buffer, 0, bytemuck::cast_slice(data));
        Ok(buffer)
    }

    /// Numbers that are the same for all threads of a launch.
    pub fn constants(&self, what: &str, data: &[u32]) -> Result<wgpu::Buffer, GpuError> {
        let buffer = self.make(what, (data.len() as u64 * 4).next_multiple_of(16), BufferUsages::UNIFORM)?;
        self.queue.write_buffer(&buffer, 0, bytemuck::cast_slice(data));
        Ok(buffer)
    }

    /// A buffer that says how many workgroups a launch has, which kernels may change.
    pub fn launch_size(&self, groups: u32) -> Result<wgpu::Buffer, GpuError> {
        let buffer = self.make("launch", 16, BufferUsages::STORAGE | BufferUsages::INDIRECT)?;
        self.write(&buffer, &self.spread(groups));
        Ok(buffer)
    }

    /// So many workgroups in the directions of a launch.
    pub fn spread(&self, groups: u32) -> [u32; 4] {
        let wide = groups.clamp(1, self.limits.max_compute_workgroups_per_dimension);
        [wide, groups.div_ceil(wide), 1, 0]
    }

    /// A kernel with its buffers, by the number of their binding, for many launches.
    pub fn bind(&self, kernel: &Kernel, bindings: &[(u32, &wgpu::Buffer)]) -> Bound {
        let entries: Vec<_> = bindings
            .iter()
            .map(|(binding, buffer)| wgpu::BindGroupEntry { binding: *binding, resource: buffer.as_entire_binding() })
            .collect();
        let group = self.device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: None,
            layout: &kernel.layout,
            entries: &entries,
        });
        Bound { pipeline: kernel.pipeline.clone(), group }
    }

    /// Writes numbers to the beginning of a buffer, before what is submitted next.
    pub fn write<T: Pod>(&self, buffer: &wgpu::Buffer, data: &[T]) {
        self.queue.write_buffer(buffer, 0, bytemuck::cast_slice(data));
    }

    /// The same from element `first` on.
    pub fn write_at<T: Pod>(&self, buffer: &wgpu::Buffer, first: usize, data: &[T]) {
        self.queue.write_buffer(buffer, (first * size_of::<T>()) as u64, bytemuck::cast_slice(data));
    }

    fn make(&self, what: &str, bytes: u64, usage: BufferUsages) -> Result<wgpu::Buffer, GpuError> {
        let allows = self.limits.max_storage_buffer_binding_size.min(self.limits.max_buffer_size);
        if bytes > allows {
            return Err(GpuError::TooLarge { what: what.into(), needs: bytes, allows });
        }
        let scope = self.device.push_error_scope(wgpu::ErrorFilter::OutOfMemory);
        let buffer = self.device.create_buffer(&wgpu::BufferDescriptor {
            label: Some(what),
            size: bytes,
            usage: usage | BufferUsages::COPY_DST | BufferUsages::COPY_SRC,
            mapped_at_creation: false,
        });
        match pollster::block_on(scope.pop()) {
            Some(_) => Err(GpuError::OutOfMemory { what: what.into(), needs: bytes }),
            None => Ok(buffer),
        }
    }

    /// Waits for all that was submitted, and reads the first `len` numbers of a buffer.
    pub fn read<T: Pod>(&self, buffer: &wgpu::Buffer, len: usize) -> Result<Vec<T>, GpuError> {
        self.read_from(buffer, 0, len)
    }

    /// The same from number `first` on.
    pub fn read_from<T: Pod>(&self, buffer: &wgpu::Buffer, first: usize, len: usize) -> Result<Vec<T>, GpuError> {
        let bytes = (len * size_of::<T>()) as u64;
        if bytes == 0 {
            return Ok(Vec::new());
        }
        let copy = self.device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("read back"),
            size: bytes,
            usage: BufferUsages::MAP_READ | BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        let mut encoder = self.device.create_command_encoder(&Default::default());
        encoder.copy_buffer_to_buffer(buffer, (first * size_of::<T>()) as u64, &copy, 0, bytes);
        self.queue.submit([encoder.finish()]);
        copy.slice(..).map_async(wgpu::MapMode::Read, |_| ());
        self.wait()?;
        let view = copy.slice(..).get_mapped_range().map_err(|e| GpuError::Lost(e.to_string()))?;
        Ok(bytemuck::pod_collect_to_vec(&view))
    }

    /// Launches to be submitted together.
    pub fn launches(&self) -> Launches<'_> {
        Launches { gpu: self, encoder: self.device.create_command_encoder(&Default::default()) }
    }
}

fn size<T>(len: usize) -> u64 {
    // An empty buffer cannot be bound.
    (len.max(1) * size_of::<T>()) as u64
}

/// A kernel with its buffers.
pub struct Bound {
    pipeline: wgpu::ComputePipeline,
    group: wgpu::BindGroup,
}

/// Launches of bound kernels.
pub struct Steps<'a> {
    gpu: &'a Gpu,
    pass: wgpu::ComputePass<'a>,
}

impl Steps<'_> {
    /// Of so many workgroups, spread over two directions as in [`Launches::run`].
    pub fn run(&mut self, bound: &Bound, groups: u32) {
        self.set(bound);
        let [x, y, z, _] = self.gpu.spread(groups);
        self.pass.dispatch_workgroups(x, y, z);
    }

    /// Of as many as a buffer of [`Gpu::launch_size`] says when it comes to run.
    pub fn run_as_said(&mut self, bound: &Bound, size: &wgpu::Buffer) {
        self.set(bound);
        self.pass.dispatch_workgroups_indirect(size, 0);
    }

    fn set(&mut self, bound: &Bound) {
        self.pass.set_pipeline(&bound.pipeline);
        self.pass.set_bind_group(0, &bound.group, &[]);
    }
}

/// Launches that run one after the other, each seeing what those before it wrote.
pub struct Launches<'a> {
    gpu: &'a Gpu,
    encoder: wgpu::CommandEncoder,
}

impl Launches<'_> {
    /// Adds a launch of `groups` workgroups with buffers by the number of their binding. Where they are more than one direction takes
    /// they are spread over two: a shader's group is `y · (groups in x) + x`, and those beyond the last must do nothing.
    pub fn run(&mut self, kernel: &Kernel, bindings: &[(u32, &wgpu::Buffer)], groups: u32) {
        self.steps(|pass| pass.run(&pass.gpu.bind(kernel, bindings), groups));
    }

    /// Adds launches of kernels that are bound already.
    pub fn steps(&mut self, add: impl FnOnce(&mut Steps<'_>)) {
        let pass = self.encoder.begin_compute_pass(&Default::default());
        add(&mut Steps { gpu: self.gpu, pass });
    }

    /// Copies the first bytes of a buffer to a place in another.
    pub fn copy(&mut self, from: (&wgpu::Buffer, u64), to: (&wgpu::Buffer, u64), bytes: u64) {
        if bytes > 0 {
            self.encoder.copy_buffer_to_buffer(from.0, from.1, to.0, to.1, bytes);
        }
    }

    /// Fills a buffer with zeros.
    pub fn clear(&mut self, buffer: &wgpu::Buffer) {
        self.encoder.clear_buffer(buffer, 0, None);
    }

    /// Hands them to the device.
    pub fn submit(self) -> Result<(), GpuError> {
        self.gpu.queue.submit([self.encoder.finish()]);
        self.gpu.alive()
    }
}
