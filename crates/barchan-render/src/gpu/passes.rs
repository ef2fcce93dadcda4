//! The pipelines of the passes and the layouts of what they read.

use super::frame::{Frame, prelude};
use super::scene::{PaneVertex, StrokeVertex};
use super::targets::Targets;
use std::collections::HashMap;
use wgpu::{BindingType, ShaderStages, TextureFormat, TextureSampleType};

const DEPTH: TextureSampleType = TextureSampleType::Depth;
const NUMBER: TextureSampleType = TextureSampleType::Uint;
const FLOAT: TextureSampleType = TextureSampleType::Float { filterable: false };

/// A pass: its pipelines read a scene in group 0 and textures in group 1.
pub struct Pass {
    pub reads: wgpu::BindGroupLayout,
    layout: wgpu::PipelineLayout,
    module: wgpu::ShaderModule,
}

/// All passes.
pub struct Passes {
    /// Uniforms, spheres, triangles.
    pub scene: wgpu::BindGroupLayout,
    pub shadow_spheres: wgpu::RenderPipeline,
    pub shadow_facets: wgpu::RenderPipeline,
    pub surface_spheres: wgpu::RenderPipeline,
    pub surface_facets: wgpu::RenderPipeline,
    pub openness: Pass,
    pub open: wgpu::RenderPipeline,
    pub panes: Pass,
    pub pane: wgpu::RenderPipeline,
    pub stroke: wgpu::RenderPipeline,
    pub light: Pass,
    lights: HashMap<(u32, TextureFormat), wgpu::RenderPipeline>,
}

/// What sets the pipelines apart.
struct Draw<'a> {
    label: &'a str,
    entries: [Option<&'a str>; 2],
    vertices: &'a [wgpu::VertexBufferLayout<'a>],
    target: Option<wgpu::ColorTargetState>,
    depth: bool,
    constants: &'a [(&'a str, f64)],
}

impl Passes {
    pub fn new(device: &wgpu::Device) -> Self {
        let uniform = wgpu::BindGroupLayoutEntry {
            binding: 0,
            visibility: ShaderStages::VERTEX_FRAGMENT,
            ty: BindingType::Buffer {
                ty: wgpu::BufferBindingType::Uniform,
                has_dynamic_offset: false,
                min_binding_size: wgpu::BufferSize::new(size_of::<Frame>() as u64),
            },
            count: None,
        };
        let scene = device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
            label: Some("scene"),
            entries: &[uniform, texture(1, FLOAT), texture(2, FLOAT)],
        });
        let prelude = prelude();
        let pass = |label: &str, source: &str, reads: &[TextureSampleType]| {
            Pass::new(device, &scene, label, &(prelude.clone() + source), reads)
        };
        let shadow = pass("shadow", include_str!("shadow.wgsl"), &[]);
        let surface = pass("surface", include_str!("surface.wgsl"), &[]);
        let openness = pass("openness", include_str!("openness.wgsl"), &[DEPTH, NUMBER]);
        let panes = pass("panes", include_str!("panes.wgsl"), &[DEPTH]);
        let light = pass("light", include_str!("light.wgsl"), &[DEPTH, NUMBER, FLOAT, DEPTH, FLOAT]);
        let solid = |pass: &Pass, label, entries, target: Option<TextureFormat>| {
            pass.pipeline(
                device,
                &Draw { label, entries, vertices: &[], target: target.map(Into::into), depth: true, constants: &[] },
            )
        };
        let numbers = Some(Targets::NUMBERS);
        let over = wgpu::ColorTargetState {
            format: Targets::VEIL,
            blend: Some(wgpu::BlendState::PREMULTIPLIED_ALPHA_BLENDING),
            write_mask: wgpu::ColorWrites::ALL,
        };
        let veil = |entries, vertices: wgpu::VertexBufferLayout| {
            let draw = Draw {
                label: "panes",
                entries,
                vertices: &[vertices],
                target: Some(over.clone()),
                depth: false,
                constants: &[],
            };
            panes.pipeline(device, &draw)
        };
        Passes {
            shadow_spheres: solid(&shadow, "shadow", [Some("sphere_vertex"), Some("sphere_fragment")], None),
            shadow_facets: solid(&shadow, "shadow", [Some("facet_vertex"), None], None),
            surface_spheres: solid(&surface, "surface", [Some("sphere_vertex"), Some("sphere_fragment")], numbers),
            surface_facets: solid(&surface, "surface", [Some("facet_vertex"), Some("facet_fragment")], numbers),
            open: openness.pipeline(
                device,
                &Draw {
                    label: "openness",
                    entries: [Some("whole"), Some("openness_fragment")],
                    vertices: &[],
                    target: Some(Targets::OPEN.into()),
                    depth: false,
                    constants: &[],
                },
            ),
            pane: veil(
                [Some("pane_vertex"), Some("pane_fragment")],
                wgpu::VertexBufferLayout {
                    array_stride: size_of::<PaneVertex>() as u64,
                    step_mode: wgpu::VertexStepMode::Vertex,
                    attributes: &wgpu::vertex_attr_array![0 => Float32x3, 1 => Float32x3, 2 => Float32x3],
                },
            ),
            stroke: veil(
                [Some("stroke_vertex"), Some("stroke_fragment")],
                wgpu::VertexBufferLayout {
                    array_stride: size_of::<StrokeVertex>() as u64,
                    step_mode: wgpu::VertexStepMode::Vertex,
                    attributes: &wgpu::vertex_attr_array![0 => Float32x2, 1 => Float32x4, 2 => Float32x3, 3 => Float32x4],
                },
            ),
            scene,
            openness,
            panes,
            light,
            lights: HashMap::new(),
        }
    }

    /// The pipeline of the light for so many samples a side, into a target of this format.
    pub fn light(&mut self, device: &wgpu::Device, side: u32, format: TextureFormat) -> &wgpu::RenderPipeline {
        self.lights.entry((side, format)).or_insert_with(|| {
            self.light.pipeline(
                device,
                &Draw {
                    label: "light",
                    entries: [Some("whole"), Some("light_fragment")],
                    vertices: &[],
                    target: Some(format.into()),
                    depth: false,
                    constants: &[("SIDE", f64::from(side))],
                },
            )
        })
    }
}

impl Pass {
    fn new(
        device: &wgpu::Device,
        scene: &wgpu::BindGroupLayout,
        label: &str,
        source: &str,
        reads: &[TextureSampleType],
    ) -> Self {
        let entries: Vec<_> = reads.iter().enumerate().map(|(i, &ty)| texture(i as u32, ty)).collect();
        let reads =
            device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor { label: Some(label), entries: &entries });
        let layout = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
            label: Some(label),
            bind_group_layouts: &[Some(scene), Some(&reads)],
            ..Default::default()
        });
        let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
            label: Some(label),
            source: wgpu::ShaderSource::Wgsl(source.into()),
        });
        Pass { reads, layout, module }
    }

    fn pipeline(&self, device: &wgpu::Device, draw: &Draw) -> wgpu::RenderPipeline {
        let vertices: Vec<_> = draw.vertices.iter().cloned().map(Some).collect();
        let compilation_options = wgpu::PipelineCompilationOptions { constants: draw.constants, ..Default::default() };
        let targets = draw.target.clone().map(Some);
        device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
            label: Some(draw.label),
            layout: Some(&self.layout),
            vertex: wgpu::VertexState {
                module: &self.module,
                entry_point: draw.entries[0],
                compilation_options: compilation_options.clone(),
                buffers: &vertices,
            },
            primitive: wgpu::PrimitiveState::default(),
            depth_stencil: draw.depth.then(|| wgpu::DepthStencilState {
                format: Targets::DEPTH,
                depth_write_enabled: Some(true),
                depth_compare: Some(wgpu::CompareFunction::Greater),
                stencil: wgpu::StencilState::default(),
                bias: wgpu::DepthBiasState::default(),
            }),
            multisample: wgpu::MultisampleState::default(),
            fragment: draw.entries[1].map(|entry| wgpu::FragmentState {
                module: &self.module,
                entry_point: Some(entry),
                compilation_options,
                targets: targets.as_slice(),
            }),
            multiview_mask: None,
            cache: None,
        })
    }

    /// Binds the textures the pass reads.
    pub fn bind(&self, device: &wgpu::Device, label: &str, textures: &[&wgpu::TextureView]) -> wgpu::BindGroup {
        let entries: Vec<_> = textures
            .iter()
            .enumerate()
            .map(|(i, view)| wgpu::BindGroupEntry {
                binding: i as u32,
                resource: wgpu::BindingResource::TextureView(view),
            })
            .collect();
        device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some(label),
            layout: &self.reads,
            entries: &entries,
        })
    }
}

fn texture(binding: u32, sample_type: TextureSampleType) -> wgpu::BindGroupLayoutEntry {
    wgpu::BindGroupLayoutEntry {
        binding,
        visibility: ShaderStages::VERTEX_FRAGMENT,
        ty: BindingType::Texture { sample_type, view_dimension: wgpu::TextureViewDimension::D2, multisampled: false },
        count: None,
    }
}
