//! Where the picture is taken from.
//!
//! A [`Stand`] is a camera in the world, a [`View`] the same in the coordinates of a picture, as renderers want it. [`framing`]
//! finds a stand that shows everything; a [`CameraPath`] gives a stand for every time of a film.

pub mod framing;
mod path;

pub use path::{CameraPath, Key, PathError};

use glam::camera::rh;
use glam::{DVec3, Mat4, Vec3};

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

/// A camera in the world.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stand {
    /// Where the eye is [m].
    pub eye: DVec3,
    /// What it looks at [m].
    pub target: DVec3,
    /// Which way is up in the picture.
    pub up: DVec3,
    /// Vertical angle of view [rad].
    pub field: f64,
}

impl Stand {
    /// The vertical angle of view where none is given [rad], 28°: a portrait lens, near enough for depth, long enough
    /// that straight things look straight.
    pub const FIELD: f64 = 0.49;

    /// The view in a picture whose origin lies there [m].
    pub fn view(&self, origin: DVec3, size: [u32; 2]) -> View {
        View {
            eye: (self.eye - origin).as_vec3(),
            target: (self.target - origin).as_vec3(),
            up: self.up.as_vec3(),
            field: self.field as f32,
            size,
        }
    }

    /// Directions to the right, up and forward in the picture.
    pub fn axes(&self) -> [DVec3; 3] {
        let forward = (self.target - self.eye).normalize_or(-DVec3::Z);
        // Looking straight up or down, any direction across will do.
        let right = forward.cross(self.up).try_normalize().unwrap_or_else(|| forward.any_orthonormal_vector());
        [right, right.cross(forward), forward]
    }
}
