//! The pipelines of the passes and the layouts of what they read.

use super::frame::{Frame, prelude};
use super::scene::{PaneVertex, PuffVertex, StrokeVertex};
use super::targets::Targets;
use std::collections::HashMap;
use wgpu::{BindingType, ShaderStages, TextureFormat, TextureSampleType};

const NUMBER: TextureSampleType = TextureSampleType::Uint;
/// Depth too: GL cannot fetch from what is declared as depth.
const FLOAT: TextureSampleType = TextureSampleType::Float { filterable: false };

/// A pass: its pipelines read a scene in group 0 and textures in group 1.
pub struct Pass {
    pub reads: wgpu::BindGroupLayout,
    layout: wgpu::PipelineLayout,
    module: wgpu::ShaderModule,
    /// Texels as they are; last binding of group 1.
    nearest: wgpu::Sampler,
}

/// All passes.
pub struct Passes {
    /// Uniforms, spheres and triangles.
    pub scene: wgpu::BindGroupLayout,
    pub shadow_spheres: wgpu::RenderPipeline,
    pub shadow_facets: wgpu::RenderPipeline,
    pub surface_spheres: wgpu::RenderPipeline,
    pub surface_facets: wgpu::RenderPipeline,
    pub surface: Pass,
    pub openness: Pass,
    pub panes: Pass,
    pub light: Pass,
    made: HashMap<(&'static str, Kind), wgpu::RenderPipeline>,
}

/// What a picture has and asks for: pipelines are made for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Kind {
    /// Samples along a side of a pixel.
    pub side: u32,
    pub shadows: bool,
    pub occlusion: bool,
    /// Whether there are solid triangles.
    pub facets: bool,
    /// Whether there is a ground.
    pub ground: bool,
    /// Whether there are panes, spray or lines.
    pub veil: bool,
    /// Whether there is snow.
    pub snow: bool,
    /// Whether there is fog.
    pub fog: bool,
    /// What the light is drawn into.
    pub format: TextureFormat,
}

impl Kind {
    fn constants(&self) -> [(&'static str, f64); 9] {
        let flag = |set: bool| f64::from(u8::from(set));
        [
            ("SIDE", self.side.into()),
            ("SHADOWS", flag(self.shadows)),
            ("OCCLUSION", flag(self.occlusion)),
            ("FACETS", flag(self.facets)),
            ("GROUND", flag(self.ground)),
            ("VEIL", flag(self.veil)),
            ("SNOW", flag(self.snow)),
            ("FOG", flag(self.fog)),
            ("ENCODED", flag(self.format.is_srgb())),
        ]
    }
}

/// What sets the pipelines apart.
struct Draw<'a> {
    label: &'a str,
    /// Vertex and fragment stage; "" for none.
    entries: [&'a str; 2],
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
            entries: &[uniform, texture(1, FLOAT)],
        });
        let prelude = prelude();
        let pass = |label: &str, source: &str, reads: &[TextureSampleType]| {
            Pass::new(device, &scene, label, &(prelude.clone() + source), reads)
        };
        let shadow = pass("shadow", include_str!("shadow.wgsl"), &[]);
        let surface = pass("surface", include_str!("surface.wgsl"), &[]);
        let openness = pass("openness", include_str!("openness.wgsl"), &[FLOAT, NUMBER]);
        let panes = pass("panes", include_str!("panes.wgsl"), &[FLOAT]);
        let light = pass(
            "light",
            concat!(include_str!("light.wgsl"), include_str!("snow.wgsl")),
            &[NUMBER, NUMBER, FLOAT, FLOAT],
        );
        let solid = |pass: &Pass, label, entries, target: Option<TextureFormat>| {
            pass.pipeline(
                device,
                &Draw { label, entries, vertices: &[], target: target.map(Into::into), depth: true, constants: &[] },
            )
        };
        let numbers = Some(Targets::NUMBERS);
        Passes {
            shadow_spheres: solid(&shadow, "shadow", ["sphere_vertex", "sphere_fragment"], None),
            shadow_facets: solid(&shadow, "shadow", ["facet_vertex", ""], None),
            surface_spheres: solid(&surface, "surface", ["sphere_vertex", "sphere_fragment"], numbers),
            surface_facets: solid(&surface, "surface", ["facet_vertex", "facet_fragment"], numbers),
            scene,
            surface,
            openness,
            panes,
            light,
            made: HashMap::new(),
        }
    }

    /// The floor, in the pass `surface`.
    pub fn floor(&mut self, device: &wgpu::Device, kind: Kind) -> &wgpu::RenderPipeline {
        let make = |constants: &_| {
            let target = Some(Targets::NUMBERS.into());
            let entries = ["whole", "floor_fragment"];
            self.surface
                .pipeline(device, &Draw { label: "surface", entries, vertices: &[], target, depth: true, constants })
        };
        self.made.entry(("floor", kind)).or_insert_with(|| make(&kind.constants()))
    }

    /// The openness of a picture.
    pub fn open(&mut self, device: &wgpu::Device, kind: Kind) -> &wgpu::RenderPipeline {
        let make = |constants: &_| {
            let target = Some(Targets::OPEN.into());
            let entries = ["whole", "openness_fragment"];
            self.openness
                .pipeline(device, &Draw { label: "openness", entries, vertices: &[], target, depth: false, constants })
        };
        self.made.entry(("open", kind)).or_insert_with(|| make(&kind.constants()))
    }

    /// Glass panes.
    pub fn pane(&mut self, device: &wgpu::Device, kind: Kind) -> &wgpu::RenderPipeline {
        let attributes = &wgpu::vertex_attr_array![0 => Float32x3, 1 => Float32x3, 2 => Float32x3];
        let make =
            || veil(device, &self.panes, kind, ["pane_vertex", "pane_fragment"], attributes, size_of::<PaneVertex>());
        self.made.entry(("pane", kind)).or_insert_with(make)
    }

    /// Spray.
    pub fn puff(&mut self, device: &wgpu::Device, kind: Kind) -> &wgpu::RenderPipeline {
        let attributes = &wgpu::vertex_attr_array![0 => Float32x2, 1 => Float32x2, 2 => Float32x3, 3 => Float32x3];
        let make =
            || veil(device, &self.panes, kind, ["puff_vertex", "puff_fragment"], attributes, size_of::<PuffVertex>());
        self.made.entry(("puff", kind)).or_insert_with(make)
    }

    /// Lines.
    pub fn stroke(&mut self, device: &wgpu::Device, kind: Kind) -> &wgpu::RenderPipeline {
        let attributes = &wgpu::vertex_attr_array![0 => Float32x2, 1 => Float32x4, 2 => Float32x3, 3 => Float32x4];
        let make = || {
            veil(device, &self.panes, kind, ["stroke_vertex", "stroke_fragment"], attributes, size_of::<StrokeVertex>())
        };
        self.made.entry(("stroke", kind)).or_insert_with(make)
    }

    /// The light of a picture.
    pub fn light(&mut self, device: &wgpu::Device, kind: Kind) -> &wgpu::RenderPipeline {
        let make = |constants: &_| {
            let target = Some(kind.format.into());
            let entries = ["whole", "light_fragment"];
            self.light
                .pipeline(device, &Draw { label: "light", entries, vertices: &[], target, depth: false, constants })
        };
        self.made.entry(("light", kind)).or_insert_with(|| make(&kind.constants()))
    }
}

/// A pipeline that lays vertices of its own over the veil.
fn veil(
    device: &wgpu::Device,
    pass: &Pass,
    kind: Kind,
    entries: [&'static str; 2],
    attributes: &[wgpu::VertexAttribute],
    stride: usize,
) -> wgpu::RenderPipeline {
    let vertices =
        wgpu::VertexBufferLayout { array_stride: stride as u64, step_mode: wgpu::VertexStepMode::Vertex, attributes };
    let over = wgpu::ColorTargetState {
        format: Targets::VEIL,
        blend: Some(wgpu::BlendState::PREMULTIPLIED_ALPHA_BLENDING),
        write_mask: wgpu::ColorWrites::ALL,
    };
    let constants = &kind.constants();
    pass.pipeline(
        device,
        &Draw { label: "panes", entries, vertices: &[vertices], target: Some(over), depth: false, constants },
    )
}

impl Pass {
    fn new(
        device: &wgpu::Device,
        scene: &wgpu::BindGroupLayout,
        label: &str,
        source: &str,
        reads: &[TextureSampleType],
    ) -> Self {
        let mut entries: Vec<_> = reads.iter().enumerate().map(|(i, &ty)| texture(i as u32, ty)).collect();
        if !reads.is_empty() {
            entries.push(wgpu::BindGroupLayoutEntry {
                binding: reads.len() as u32,
                visibility: ShaderStages::FRAGMENT,
                ty: BindingType::Sampler(wgpu::SamplerBindingType::NonFiltering),
                count: None,
            });
        }
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
        let nearest = device.create_sampler(&wgpu::SamplerDescriptor { label: Some("nearest"), ..Default::default() });
        Pass { reads, layout, module, nearest }
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
                entry_point: Some(draw.entries[0]),
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
            fragment: Some(draw.entries[1]).filter(|e| !e.is_empty()).map(|entry| wgpu::FragmentState {
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
        let views = textures.iter().map(|view| wgpu::BindingResource::TextureView(view));
        let resources = views.chain([wgpu::BindingResource::Sampler(&self.nearest)]);
        let entries: Vec<_> =
            resources.enumerate().map(|(i, resource)| wgpu::BindGroupEntry { binding: i as u32, resource }).collect();
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
