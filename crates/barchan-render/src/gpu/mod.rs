//! The renderer on wgpu: the look of [`crate::look`] in shaders, off-screen and in a window on one path.
//!
//! [`GpuRenderer::draw_to`] shows the passes: `shadow` draws the sun's map (threads do where the adapter is a program),
//! `surface` the number and depth of the nearest
//! surface of every sample, `openness` looks around every second pixel, `panes` lays glass and lines into a veil, `light` gives
//! each pixel its light and its bytes. A sphere is a square that touches its silhouette in perspective; its fragments get
//! the sphere's depth. Only numbers are drawn many times over: what a surface is made of is looked up where it is seen.

mod device;
mod frame;
mod passes;
mod scene;
mod targets;

use crate::cpu::Sun;
use crate::ground;
use crate::look::{self, Extent, SunMap};
use crate::{Image, Light, Picture, Quality, RenderError, Renderer, View};
use frame::Frame;
use glam::Vec3;
use passes::{Kind, Passes};
use scene::Scene;
use std::time::Duration;
use targets::Targets;
use wgpu::util::{BufferInitDescriptor, DeviceExt};
use wgpu::{TextureFormat, TextureUsages};

/// How long a picture may take before the device is taken for hung.
const PATIENCE: Duration = Duration::from_secs(120);

/// Draws with a graphics adapter, real or software. Keeps textures and pipelines from picture to picture.
pub struct GpuRenderer {
    device: wgpu::Device,
    queue: wgpu::Queue,
    name: String,
    fault: device::Fault,
    passes: Passes,
    uniforms: wgpu::Buffer,
    scene: Option<Scene>,
    /// The picture with its ground laid out for the view the scene was last uploaded for, if it has one.
    laid: Option<(View, Picture)>,
    /// The sun's map, and what it shows: nothing since the last upload if `None`.
    heights: wgpu::Texture,
    shadowed: Option<SunMap>,
    /// Draws the sun's map where the adapter is a program: it would do so on the same processor, many times slower.
    sun: Option<Sun>,
    targets: Option<Targets>,
    image: Option<(wgpu::Texture, wgpu::Buffer)>,
}

impl GpuRenderer {
    /// Opens an adapter without a window: hardware if there is, else software (its name says so), Vulkan, Metal or DirectX
    /// before GL.
    pub fn new() -> Result<Self, RenderError> {
        let opened = device::open()?;
        Self::with(opened.device, opened.queue, opened.name, opened.fault)
    }

    /// Draws with the device of a window.
    pub fn on(device: wgpu::Device, queue: wgpu::Queue) -> Result<Self, RenderError> {
        let name = device::name(&device.adapter_info());
        Self::with(device, queue, name, device::Fault::default())
    }

    /// Whether it is worth looking for a graphics processor. Where there is none, drivers may still answer with a software
    /// adapter, and complain on the way.
    pub fn may_be_there() -> bool {
        let nodes = ["/dev/dri/renderD128", "/dev/nvidia0", "/dev/dxg", "/dev/mali0", "/dev/kgsl-3d0"];
        !cfg!(target_os = "linux") || nodes.iter().any(|node| std::path::Path::new(node).exists())
    }

    /// Whether the adapter is a program on the processor.
    pub fn is_software(&self) -> bool {
        self.device.adapter_info().device_type == wgpu::DeviceType::Cpu
    }

    fn with(device: wgpu::Device, queue: wgpu::Queue, name: String, fault: device::Fault) -> Result<Self, RenderError> {
        guarded(&device.clone(), &fault.clone(), || {
            let uniforms = device.create_buffer(&wgpu::BufferDescriptor {
                label: Some("frame"),
                size: size_of::<Frame>() as u64,
                usage: wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST,
                mapped_at_creation: false,
            });
            let sun = (device.adapter_info().device_type == wgpu::DeviceType::Cpu).then(Sun::new);
            let heights = targets::heights(&device, 1, sun.is_some());
            let passes = Passes::new(&device);
            let (scene, laid, shadowed, targets, image) = (None, None, None, None, None);
            Ok(GpuRenderer {
                device,
                queue,
                name,
                fault,
                passes,
                uniforms,
                scene,
                laid,
                heights,
                shadowed,
                sun,
                targets,
                image,
            })
        })
    }

    /// Puts a picture on the device: call it when the picture has changed, then [`GpuRenderer::draw_to`] as often as needed.
    pub fn upload(&mut self, picture: &Picture) -> Result<(), RenderError> {
        let (device, queue) = (&self.device, &self.queue);
        // A ground is laid out for a view, and uploaded when there is one.
        self.scene = match picture.ground {
            None => Some(guarded(device, &self.fault, || Scene::upload(device, queue, picture))?),
            Some(_) => None,
        };
        (self.laid, self.shadowed) = (None, None);
        Ok(())
    }

    /// Draws the picture uploaded last into a target of the view's size. The sun's map is drawn again only if the picture
    /// or the sun's direction has changed.
    pub fn draw_to(
        &mut self,
        picture: &Picture,
        view: &View,
        light: &Light,
        quality: &Quality,
        target: &wgpu::TextureView,
        format: TextureFormat,
    ) -> Result<(), RenderError> {
        self.check(view)?;
        if self.scene.is_none() && picture.ground.is_none() {
            self.upload(picture)?;
        }
        let (device, fault) = (self.device.clone(), self.fault.clone());
        guarded(&device, &fault, || self.passes(picture, view, light, quality, target, format))
    }

    fn passes(
        &mut self,
        picture: &Picture,
        view: &View,
        light: &Light,
        quality: &Quality,
        target: &wgpu::TextureView,
        format: TextureFormat,
    ) -> Result<(), RenderError> {
        let device = &self.device;
        let view = look::upright(view);
        if picture.ground.is_some() && self.laid.as_ref().is_none_or(|(seen, _)| *seen != view) {
            let laid = ground::lay(picture, &view).into_owned();
            self.scene = Some(Scene::upload(device, &self.queue, &laid)?);
            (self.laid, self.shadowed) = (Some((view, laid)), None);
        }
        let Some(scene) = &self.scene else { return Ok(()) };
        let light = Light { to_sun: light.to_sun.try_normalize().unwrap_or(Vec3::Z), ..*light };
        let extent = Extent::of(picture, &view);
        let picture = self.laid.as_ref().map_or(picture, |(_, laid)| laid);
        let map = SunMap::fit(picture, &extent, &light, &view);
        if quality.shadows && self.heights.width() != map.side {
            self.heights = targets::heights(device, map.side, self.sun.is_some());
        }
        if let Some(sun) = self.sun.as_mut().filter(|_| quality.shadows && self.shadowed != Some(map)) {
            sun.see(picture, &map, light.softness);
            targets::write(&self.queue, &self.heights, &sun.heights(frame::sun_range(&map)));
            self.shadowed = Some(map);
        }
        let heights = self.heights.create_view(&wgpu::TextureViewDescriptor::default());
        let frame = Frame::new(picture, &view, &light, &extent, &map, scene.facet_first());
        let (panes, strokes) = (scene::panes(picture, &view), scene::strokes(picture, &view));
        let puffs = scene::puffs(picture, &view, &light);
        let veiled = !panes.is_empty() || !puffs.is_empty() || !strokes.is_empty();
        let kind = Kind {
            side: quality.side(),
            shadows: quality.shadows,
            occlusion: quality.occlusion,
            facets: scene.facets > 0,
            ground: picture.ground.is_some(),
            veil: veiled,
            snow: light.snow.is_some(),
            fog: light.fog.is_some(),
            format,
        };
        let vertices = |contents: &[u8]| {
            let usage = wgpu::BufferUsages::VERTEX;
            device.create_buffer_init(&BufferInitDescriptor { label: Some("panes"), contents, usage })
        };
        let bound = device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some("scene"),
            layout: &self.passes.scene,
            entries: &[
                wgpu::BindGroupEntry { binding: 0, resource: self.uniforms.as_entire_binding() },
                wgpu::BindGroupEntry { binding: 1, resource: wgpu::BindingResource::TextureView(&scene.texels) },
            ],
        });
        let most = device.limits().max_texture_dimension_2d;
        for tile in targets::tiles(view.size, quality.side(), most) {
            if !self.targets.as_ref().is_some_and(|t| t.fit(tile.size, kind.side, veiled)) {
                self.targets = None;
            }
            let to = self.targets.get_or_insert_with(|| Targets::new(device, tile.size, kind.side, veiled));
            self.queue.write_buffer(&self.uniforms, 0, bytemuck::bytes_of(&frame.on_tile(&tile)));
            let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor { label: Some("barchan") });
            if quality.shadows && self.shadowed != Some(map) {
                let mut pass = begin(&mut encoder, "shadow", None, Some(&heights), true);
                pass.set_bind_group(0, &bound, &[]);
                draw(&mut pass, &self.passes.shadow_spheres, 6 * scene.spheres);
                draw(&mut pass, &self.passes.shadow_facets, 3 * scene.facets);
                self.shadowed = Some(map);
            }
            {
                let mut pass = begin(&mut encoder, "surface", Some(&to.numbers), Some(&to.depth), true);
                pass.set_bind_group(0, &bound, &[]);
                if frame::floor(picture, &view).is_some() {
                    draw(&mut pass, self.passes.floor(device, kind), 3);
                }
                draw(&mut pass, &self.passes.surface_spheres, 6 * scene.spheres);
                draw(&mut pass, &self.passes.surface_facets, 3 * scene.facets);
            }
            if quality.occlusion {
                let reads = self.passes.openness.bind(device, "openness", &[&to.depth, &to.numbers]);
                let mut pass = begin(&mut encoder, "openness", Some(&to.open), None, true);
                pass.set_bind_group(0, &bound, &[]);
                pass.set_bind_group(1, &reads, &[]);
                draw(&mut pass, self.passes.open(device, kind), 3);
            }
            if veiled {
                let reads = self.passes.panes.bind(device, "panes", &[&to.depth]);
                let mut pass = begin(&mut encoder, "panes", Some(&to.veil), None, true);
                pass.set_bind_group(0, &bound, &[]);
                pass.set_bind_group(1, &reads, &[]);
                if !panes.is_empty() {
                    pass.set_vertex_buffer(0, vertices(bytemuck::cast_slice(&panes)).slice(..));
                    draw(&mut pass, self.passes.pane(device, kind), panes.len() as u32);
                }
                if !puffs.is_empty() {
                    pass.set_vertex_buffer(0, vertices(bytemuck::cast_slice(&puffs)).slice(..));
                    draw(&mut pass, self.passes.puff(device, kind), puffs.len() as u32);
                }
                if !strokes.is_empty() {
                    pass.set_vertex_buffer(0, vertices(bytemuck::cast_slice(&strokes)).slice(..));
                    draw(&mut pass, self.passes.stroke(device, kind), strokes.len() as u32);
                }
            }
            {
                let reads = [&to.numbers, &to.open, &heights, &to.veil];
                let reads = self.passes.light.bind(device, "light", &reads);
                let mut pass = begin(&mut encoder, "light", Some(target), None, tile.keep == [0, 0]);
                pass.set_scissor_rect(tile.keep[0], tile.keep[1], tile.kept[0], tile.kept[1]);
                pass.set_bind_group(0, &bound, &[]);
                pass.set_bind_group(1, &reads, &[]);
                draw(&mut pass, self.passes.light(device, kind), 3);
            }
            self.queue.submit([encoder.finish()]);
        }
        Ok(())
    }

    fn check(&self, view: &View) -> Result<(), RenderError> {
        let limit = look::SIZE_MOST.min(self.device.limits().max_texture_dimension_2d);
        let [width, height] = view.size;
        let fits = |n: u32| (look::SIZE_LEAST..=limit).contains(&n);
        if fits(width) && fits(height) { Ok(()) } else { Err(RenderError::Size { width, height, limit }) }
    }
}

impl Renderer for GpuRenderer {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn draw(&mut self, picture: &Picture, view: &View, light: &Light, quality: &Quality) -> Result<Image, RenderError> {
        self.check(view)?;
        self.upload(picture)?;
        let [width, height] = view.size;
        let (device, fault) = (self.device.clone(), self.fault.clone());
        let kept = self.image.take().filter(|i| i.0.width() == width && i.0.height() == height);
        let (texture, buffer) = match kept {
            Some(kept) => kept,
            None => guarded(&device, &fault, || Ok(readable(&device, view.size)))?,
        };
        let target = texture.create_view(&wgpu::TextureViewDescriptor::default());
        self.draw_to(picture, view, light, quality, &target, texture.format())?;
        let rgba = guarded(&device, &fault, || read(&device, &self.queue, &texture, &buffer))?;
        self.image = Some((texture, buffer));
        Ok(Image { width, height, rgba })
    }
}

/// A texture to draw into and a buffer to read it through.
fn readable(device: &wgpu::Device, [width, height]: [u32; 2]) -> (wgpu::Texture, wgpu::Buffer) {
    let texture = device.create_texture(&wgpu::TextureDescriptor {
        label: Some("image"),
        size: wgpu::Extent3d { width, height, depth_or_array_layers: 1 },
        mip_level_count: 1,
        sample_count: 1,
        dimension: wgpu::TextureDimension::D2,
        format: TextureFormat::Rgba8Unorm,
        usage: TextureUsages::RENDER_ATTACHMENT | TextureUsages::COPY_SRC,
        view_formats: &[],
    });
    let buffer = device.create_buffer(&wgpu::BufferDescriptor {
        label: Some("image"),
        size: u64::from(pitch(width)) * u64::from(height),
        usage: wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ,
        mapped_at_creation: false,
    });
    (texture, buffer)
}

/// Bytes from a row of a buffer to the next.
fn pitch(width: u32) -> u32 {
    (4 * width).next_multiple_of(wgpu::COPY_BYTES_PER_ROW_ALIGNMENT)
}

/// Reads a texture through a buffer, row by row.
fn read(
    device: &wgpu::Device,
    queue: &wgpu::Queue,
    texture: &wgpu::Texture,
    buffer: &wgpu::Buffer,
) -> Result<Vec<u8>, RenderError> {
    let failed = |reason: String| RenderError::Device { reason };
    let (width, pitch) = (texture.width(), pitch(texture.width()));
    let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor { label: Some("read") });
    let layout = wgpu::TexelCopyBufferLayout { offset: 0, bytes_per_row: Some(pitch), rows_per_image: None };
    encoder.copy_texture_to_buffer(
        texture.as_image_copy(),
        wgpu::TexelCopyBufferInfo { buffer, layout },
        texture.size(),
    );
    queue.submit([encoder.finish()]);
    let (send, receive) = std::sync::mpsc::channel();
    buffer.map_async(wgpu::MapMode::Read, .., move |result| {
        let _ = send.send(result);
    });
    let patience = wgpu::PollType::Wait { submission_index: None, timeout: Some(PATIENCE) };
    device.poll(patience).map_err(|e| failed(format!("{e} after {} s", PATIENCE.as_secs())))?;
    match receive.try_recv() {
        Ok(Ok(())) => {}
        Ok(Err(e)) => return Err(failed(e.to_string())),
        Err(e) => return Err(failed(e.to_string())),
    }
    let mut rgba = Vec::with_capacity(4 * width as usize * texture.height() as usize);
    let bytes = buffer.get_mapped_range(..).map_err(|e| failed(e.to_string()))?;
    for row in bytes.chunks(pitch as usize) {
        rgba.extend_from_slice(&row[..4 * width as usize]);
    }
    drop(bytes);
    buffer.unmap();
    Ok(rgba)
}

/// Begins a pass that clears what it draws into (depth to infinitely far), or keeps it.
fn begin<'a>(
    encoder: &'a mut wgpu::CommandEncoder,
    label: &str,
    colour: Option<&wgpu::TextureView>,
    depth: Option<&wgpu::TextureView>,
    clear: bool,
) -> wgpu::RenderPass<'a> {
    let load = if clear { wgpu::LoadOp::Clear(wgpu::Color::TRANSPARENT) } else { wgpu::LoadOp::Load };
    let colour = colour.map(|view| {
        Some(wgpu::RenderPassColorAttachment {
            view,
            depth_slice: None,
            resolve_target: None,
            ops: wgpu::Operations { load, store: wgpu::StoreOp::Store },
        })
    });
    encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
        label: Some(label),
        color_attachments: colour.as_slice(),
        depth_stencil_attachment: depth.map(|view| wgpu::RenderPassDepthStencilAttachment {
            view,
            depth_ops: Some(wgpu::Operations { load: wgpu::LoadOp::Clear(0.0), store: wgpu::StoreOp::Store }),
            stencil_ops: None,
        }),
        ..Default::default()
    })
}

fn draw(pass: &mut wgpu::RenderPass, pipeline: &wgpu::RenderPipeline, vertices: u32) {
    pass.set_pipeline(pipeline);
    pass.draw(0..vertices, 0..1);
}

/// Does something on a device; whatever the device reports meanwhile, or has reported, is the error.
fn guarded<T>(
    device: &wgpu::Device,
    fault: &device::Fault,
    work: impl FnOnce() -> Result<T, RenderError>,
) -> Result<T, RenderError> {
    let filters = [wgpu::ErrorFilter::Validation, wgpu::ErrorFilter::OutOfMemory, wgpu::ErrorFilter::Internal];
    let scopes = filters.map(|filter| device.push_error_scope(filter));
    let result = work();
    // Scopes close in the reverse of the order they were opened in.
    let errors: Vec<_> = scopes.into_iter().rev().filter_map(|scope| pollster::block_on(scope.pop())).collect();
    // A driver's own error comes before the invalid use of what it failed to make.
    let error = errors.first().map(ToString::to_string);
    let lost = fault.lock().ok().and_then(|fault| fault.clone());
    match lost.or(error) {
        Some(reason) => Err(RenderError::Device { reason }),
        None => result,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Mesh, Sphere};

    #[test]
    fn the_suns_map_is_the_same_from_the_shader_and_from_threads() {
        let Ok(mut gpu) = GpuRenderer::new() else { return };
        let spheres = (0..300u32).map(|grain| {
            let (angle, out) = (grain as f32 * look::GOLDEN, (grain as f32 / 300.0).sqrt());
            let centre = [out * angle.cos(), out * angle.sin(), 0.1 + 0.5 * (1.0 - out)];
            Sphere { centre, radius: 0.1, colour: [0.5; 3], grain }
        });
        let wall = Mesh {
            vertices: vec![Vec3::new(-1.2, -0.4, 0.0), Vec3::new(-1.2, 0.6, 0.0), Vec3::new(-1.2, 0.0, 0.9)],
            triangles: vec![[0, 1, 2]],
            colour: Vec3::splat(0.4),
            ..Mesh::default()
        };
        let floor = Some((0.0, Vec3::splat(0.5)));
        let picture = Picture { spheres: spheres.collect(), meshes: vec![wall], floor, ..Picture::default() };
        let view =
            View { eye: Vec3::new(0.5, -4.0, 2.0), target: Vec3::ZERO, up: Vec3::Z, field: 0.6, size: [320, 200] };
        let pictures = [None, Some(Sun::new())].map(|sun| {
            (gpu.heights, gpu.shadowed) = (targets::heights(&gpu.device, 1, sun.is_some()), None);
            gpu.sun = sun;
            gpu.draw(&picture, &view, &Light::default(), &Quality::default()).expect("a picture").rgba
        });
        let off: Vec<u8> = pictures[0].iter().zip(&pictures[1]).map(|(a, b)| a.abs_diff(*b)).collect();
        let mean = off.iter().map(|d| f64::from(*d)).sum::<f64>() / off.len() as f64;
        let far = off.iter().filter(|d| **d > 16).count();
        // Texels at the edge of a disc may fall on either side.
        assert!(mean < 0.02 && far * 10_000 < off.len(), "mean {mean:.4}, {far} of {} far off", off.len());
        let lit = Quality { shadows: false, ..Quality::default() };
        let lit = gpu.draw(&picture, &view, &Light::default(), &lit).expect("a picture").rgba;
        let darker = pictures[0].iter().zip(&lit).filter(|(a, b)| a.saturating_add(30) < **b).count();
        assert!(darker * 100 > lit.len(), "{darker} of {} bytes are in shadow", lit.len());
    }
}
