//! Pictures of granular matter: a [`Frame`](barchan_core::frame::Frame) becomes a [`Picture`], a [`Picture`] becomes pixels.
//!
//! [`Picture`] is plain data: spheres, surfaces, lines, in metres relative to an origin near the grains, so that f32 is enough.
//! A [`Renderer`] draws it from a [`View`] under a [`Light`]; there are two for films, of the same look: `cpu` on threads, `gpu`
//! on wgpu; and `trace` for stills. What the pixel is made of is written once, in [`look`], for both.

pub mod camera;
pub mod colour;
pub mod cover;
mod covering;
pub mod cpu;
pub mod dress;
pub mod field;
#[cfg(feature = "gpu")]
pub mod gpu;
mod ground;
mod left_out;
pub mod legend;
pub mod look;
pub mod picture;
pub mod skins;
pub mod survey;
pub mod trace;
pub mod walls;

pub use camera::{CameraPath, Stand, View};
pub use colour::{ColourBy, ColourError, Colouring, Map};
pub use cover::Cover;
pub use cpu::CpuRenderer;
pub use dress::{Dresser, Show};
pub use field::FieldPicture;
#[cfg(feature = "gpu")]
pub use gpu::GpuRenderer;
pub use left_out::{Cut, LeftOut};
pub use legend::Legend;
pub use look::{Extent, Fog, Light, Quality, Snow};
pub use picture::{Finish, Ground, Line, Mesh, Picture, Puff, Sphere};
pub use skins::Skins;
pub use survey::Survey;
pub use trace::TraceRenderer;

use thiserror::Error;

/// A picture that was drawn: sRGB, opaque, top row first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// Pixels in a row.
    pub width: u32,
    /// Rows.
    pub height: u32,
    /// Four bytes a pixel: red, green, blue, 255.
    pub rgba: Vec<u8>,
}

/// Draws pictures. An implementer may keep buffers from one picture to the next.
pub trait Renderer {
    /// What draws, for the log: "cpu, 2 threads" or the adapter's name.
    fn name(&self) -> String;
    /// Draws a picture.
    fn draw(&mut self, picture: &Picture, view: &View, light: &Light, quality: &Quality) -> Result<Image, RenderError>;
}

/// What can go wrong while drawing.
#[derive(Debug, Error)]
pub enum RenderError {
    /// No adapter.
    #[error(
        "no graphics adapter was found ({reason}); draw with --renderer cpu, or install a Vulkan driver (Debian: mesa-vulkan-drivers)"
    )]
    NoAdapter {
        /// What the search said.
        reason: String,
    },
    /// The adapter failed while it worked.
    #[error("the graphics adapter failed: {reason}; draw with --renderer cpu")]
    Device {
        /// What the driver said.
        reason: String,
    },
    /// A size that cannot be.
    #[error("a picture of {width}×{height} pixels cannot be drawn; from 16 to {limit} a side can")]
    Size {
        /// Pixels in a row.
        width: u32,
        /// Rows.
        height: u32,
        /// Most pixels a side.
        limit: u32,
    },
}
