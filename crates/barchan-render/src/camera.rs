//! Where the picture is taken from.

use glam::camera::rh;
use glam::{Mat4, Vec3};

/// A perspective view, in the picture's coordinates (metres relative to its origin, z up).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct View {
    /// Where the eye is [m].
    pub eye: Vec3,
    /// What it looks at [m].
    pub target: Vec3,
    /// Which way is up in the picture.
    pub up: Vec3,
    /// Vertical angle of view [rad].
    pub field: f32,
    /// Pixels in a row, rows.
    pub size: [u32; 2],
}

impl View {
    /// World to camera: x right, y up, looking along −z [m].
    pub fn camera(&self) -> Mat4 {
        rh::view::look_at_mat4(self.eye, self.target, self.up)
    }

    /// Camera to clip space, depth reversed (1 at `near`, 0 infinitely far): f32 depth is then even over all distances.
    pub fn projection(&self, near: f32) -> Mat4 {
        rh::proj::directx::perspective_infinite_reverse(self.field, self.size[0] as f32 / self.size[1] as f32, near)
    }
}
