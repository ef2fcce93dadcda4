//! From a [`Frame`] to a [`Picture`]: grains get their colours, walls their surfaces.
//!
//! A [`Survey`](crate::survey::Survey) of the run gives what must not change from one frame of a film to the next: the
//! range of the colours, the stage, the floor.

use crate::colour::{ColourError, Colouring};
use crate::picture::{Picture, Sphere};
use crate::walls::{self, Paint, Stage, pose};
use barchan_core::frame::Frame;
use barchan_core::walls::Wall;
use glam::Vec3;

/// [`Sphere::grain`] of a sphere that belongs to a wall.
pub const NO_GRAIN: u32 = u32::MAX;

/// How frames are turned into pictures.
#[derive(Clone, Debug)]
pub struct Dresser {
    /// What the colours of grains say.
    pub colouring: Colouring,
    /// Reflectances of the materials by index, linear RGB; see [`crate::colour::reflectances`].
    pub materials: Vec<Vec3>,
    /// How much grains of one material differ: 1 as sand does, 0 not at all.
    pub variation: f32,
    /// Walls where they began; frames say where they are.
    pub walls: Vec<Wall>,
    /// Where the play takes place.
    pub stage: Stage,
    /// Colour of the floor, linear RGB; none for no floor.
    pub floor: Option<Vec3>,
    /// Tint of glass, linear RGB: darker than a light background, lighter than a dark one, or vessels are not seen.
    pub glass: Vec3,
}

impl Dresser {
    /// Colour of the floor where none is wanted in particular: pale stone, so that shadows show and colours are not tinged.
    pub const FLOOR: Vec3 = Vec3::new(0.33, 0.325, 0.31);
    /// Tint of glass before a light background.
    pub const GLASS: Vec3 = Vec3::new(0.30, 0.40, 0.43);
    /// Tint of glass before a dark background.
    pub const GLASS_IN_THE_DARK: Vec3 = Vec3::new(0.62, 0.74, 0.78);

    /// The picture of a frame.
    pub fn dress(&self, frame: &Frame<'_>) -> Result<Picture, ColourError> {
        let colours = self.colouring.colours(frame, &self.materials, self.variation)?;
        let origin = 0.5 * (self.stage.bounds[0] + self.stage.bounds[1]);
        let poses: Vec<_> = (0..self.walls.len()).map(|w| pose(frame, w)).collect();
        let height = walls::filled_floor(&self.walls, &poses, &self.stage);
        let sphere = |s: barchan_core::frame::SphereView| Sphere {
            centre: (s.centre - origin).as_vec3().to_array(),
            radius: s.radius as f32,
            colour: colours[s.grain].to_array(),
            grain: s.grain as u32,
        };
        let mut picture = Picture {
            origin,
            spheres: frame.spheres().filter(|s| s.centre.is_finite() && s.radius > 0.0).map(sphere).collect(),
            floor: self.floor.map(|colour| ((height - origin.z) as f32, colour)),
            ..Picture::default()
        };
        let paint = Paint { materials: &self.materials, glass: self.glass };
        walls::hang(&self.walls, &poses, &paint, &self.stage, &mut picture);
        Ok(picture)
    }
}
