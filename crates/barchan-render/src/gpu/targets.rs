//! What is drawn into on the way to the picture, and the tiles a picture too large for it is cut into.

use crate::look;
use wgpu::{TextureFormat, TextureUsages};

/// Most samples of a tile: 8 bytes each, 16 with panes.
const SAMPLES: u64 = 1 << 24;

/// A part of the picture that is drawn at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tile {
    /// First pixel that is drawn.
    pub first: [u32; 2],
    /// Pixels that are drawn.
    pub size: [u32; 2],
    /// First pixel that is kept: the rest is what the openness of the kept ones looks at.
    pub keep: [u32; 2],
    /// Pixels that are kept.
    pub kept: [u32; 2],
}

/// Cuts a picture into tiles no larger than the textures of the device and [`SAMPLES`] allow.
pub fn tiles(size: [u32; 2], side: u32, most: u32) -> Vec<Tile> {
    let margin = (look::OPEN_PIXELS[0].max(look::OPEN_PIXELS[1] * size[1] as f32)).ceil() as u32 + 2;
    let room = (most / side).min((SAMPLES as f64).sqrt() as u32 / side);
    let fits = u64::from(size[0]) * u64::from(size[1]) * u64::from(side * side) <= SAMPLES;
    // A margin that leaves little of a tile is cut short: the openness then misses its farthest taps at seams.
    // Tiles begin at even pixels, so that every one measures the same.
    let margin = margin.min(room / 4) / 2 * 2;
    let whole = fits && size[0].max(size[1]) <= most / side;
    let step = if whole { size[0].max(size[1]) } else { (room - 2 * margin) / 2 * 2 };
    let mut tiles = Vec::new();
    for y in (0..size[1]).step_by(step as usize) {
        for x in (0..size[0]).step_by(step as usize) {
            let keep = [x, y];
            let kept = [step.min(size[0] - x), step.min(size[1] - y)];
            let first = keep.map(|n| n.saturating_sub(margin));
            let end: [u32; 2] = std::array::from_fn(|i| (keep[i] + kept[i] + margin).min(size[i]));
            tiles.push(Tile { first, size: std::array::from_fn(|i| end[i] - first[i]), keep, kept });
        }
    }
    tiles
}

/// The textures of a tile.
pub struct Targets {
    /// Pixels.
    pub size: [u32; 2],
    /// Samples along a side of a pixel.
    pub side: u32,
    /// near/depth of every sample.
    pub depth: wgpu::TextureView,
    /// Number of the surface every sample sees.
    pub numbers: wgpu::TextureView,
    /// Depth and openness of the key sample of every second pixel.
    pub open: wgpu::TextureView,
    /// Veil over every sample; one texel if there is none.
    pub veil: wgpu::TextureView,
    /// Whether there is room for a veil.
    pub veiled: bool,
}

impl Targets {
    pub const DEPTH: TextureFormat = TextureFormat::Depth32Float;
    pub const NUMBERS: TextureFormat = TextureFormat::R32Uint;
    pub const OPEN: TextureFormat = TextureFormat::R32Uint;
    pub const VEIL: TextureFormat = TextureFormat::Rgba16Float;

    /// Makes textures for a tile.
    pub fn new(device: &wgpu::Device, size: [u32; 2], side: u32, veiled: bool) -> Self {
        let fine = size.map(|n| n * side);
        let veil = if veiled { fine } else { [1, 1] };
        Targets {
            size,
            side,
            depth: target(device, "depth", fine, Self::DEPTH),
            numbers: target(device, "numbers", fine, Self::NUMBERS),
            open: target(device, "open", [size[0] / 2, size[1]], Self::OPEN),
            veil: target(device, "veil", veil, Self::VEIL),
            veiled,
        }
    }

    /// Whether these textures do for a tile.
    pub fn fit(&self, size: [u32; 2], side: u32, veiled: bool) -> bool {
        self.size == size && self.side == side && self.veiled == veiled
    }
}

/// A texture that is drawn into by one pass and read by another.
fn target(device: &wgpu::Device, label: &str, size: [u32; 2], format: TextureFormat) -> wgpu::TextureView {
    let texture = texture(device, label, size, format, TextureUsages::RENDER_ATTACHMENT);
    texture.create_view(&wgpu::TextureViewDescriptor::default())
}

/// A texture for the sun's map, to be drawn into or written to.
pub fn heights(device: &wgpu::Device, side: u32, written: bool) -> wgpu::Texture {
    match written {
        true => texture(device, "heights", [side; 2], TextureFormat::R32Float, TextureUsages::COPY_DST),
        false => texture(device, "heights", [side; 2], Targets::DEPTH, TextureUsages::RENDER_ATTACHMENT),
    }
}

/// Writes a texture of one float a texel.
pub fn write(queue: &wgpu::Queue, texture: &wgpu::Texture, texels: &[f32]) {
    let pitch = Some(texture.width() * size_of::<f32>() as u32);
    let layout = wgpu::TexelCopyBufferLayout { offset: 0, bytes_per_row: pitch, rows_per_image: None };
    queue.write_texture(texture.as_image_copy(), bytemuck::cast_slice(texels), layout, texture.size());
}

/// A texture that passes read and that is also used in another way.
fn texture(
    device: &wgpu::Device,
    label: &str,
    size: [u32; 2],
    format: TextureFormat,
    usage: TextureUsages,
) -> wgpu::Texture {
    device.create_texture(&wgpu::TextureDescriptor {
        label: Some(label),
        size: wgpu::Extent3d { width: size[0], height: size[1], depth_or_array_layers: 1 },
        mip_level_count: 1,
        sample_count: 1,
        dimension: wgpu::TextureDimension::D2,
        format,
        usage: usage | TextureUsages::TEXTURE_BINDING,
        view_formats: &[],
    })
}
