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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::colour::ColourBy;
    use barchan_core::frame::WallFrame;
    use barchan_core::shapes::Shape;
    use barchan_core::walls::{Geometry, Side};
    use glam::{DQuat, DVec3};

    /// Two dumbbells far from the origin of the world, in a box that has moved up by 1 m.
    fn scene() -> (Dresser, Frame<'static>) {
        let far = DVec3::new(1e4, -2e4, 3e3);
        let (dumbbell, _) = Shape::clump("dumbbell", &[(DVec3::ZERO, 1.0), (DVec3::X * 1.5, 0.5)]).unwrap();
        let frame = Frame {
            position: vec![far, far + DVec3::Y * 5.0].into(),
            velocity: vec![DVec3::ZERO; 2].into(),
            spin: vec![DVec3::ZERO; 2].into(),
            orientation: vec![DQuat::IDENTITY, DQuat::from_rotation_z(1.0)].into(),
            radius: vec![1e-3, 2e-3].into(),
            mass: vec![1.0; 2].into(),
            id: vec![4, 7].into(),
            material: vec![0, 0].into(),
            shape: vec![0, 0].into(),
            shapes: [dumbbell].into(),
            walls: vec![WallFrame { position: DVec3::Z, ..WallFrame::default() }],
            ..Frame::default()
        };
        let bounds = [far - 10.0, far + 10.0];
        let walls = vec![Wall::new(
            "box",
            Geometry::Box { min: bounds[0], max: bounds[1], side: Side::Inside, open: [false; 6] },
            0,
        )];
        let dresser = Dresser {
            colouring: Colouring::default(),
            materials: vec![Vec3::splat(0.4)],
            variation: 1.0,
            walls,
            stage: Stage { bounds, cut: bounds },
            floor: Some(Dresser::FLOOR),
            glass: Dresser::GLASS,
        };
        (dresser, frame)
    }

    #[test]
    fn spheres_keep_their_places_far_from_the_origin_of_the_world() {
        let (dresser, frame) = scene();
        let picture = dresser.dress(&frame).unwrap();
        assert_eq!(picture.spheres.len(), 4);
        for (drawn, exact) in picture.spheres.iter().zip(frame.spheres()) {
            let at = picture.origin + Vec3::from(drawn.centre).as_dvec3();
            assert!((at - exact.centre).length() < 1e-6, "{at} is not {}", exact.centre);
            assert_eq!((drawn.radius, drawn.grain), (exact.radius as f32, exact.grain as u32));
        }
        assert_eq!(picture.spheres[0].colour, picture.spheres[1].colour, "a grain has one colour");
        assert_ne!(picture.spheres[0].colour, picture.spheres[2].colour, "two grains differ");
    }

    #[test]
    fn walls_are_where_the_frame_says() {
        let (dresser, frame) = scene();
        let picture = dresser.dress(&frame).unwrap();
        let top = picture.meshes.iter().flat_map(|m| &m.vertices).map(|v| v.z).fold(f32::MIN, f32::max);
        assert!((top - 11.0).abs() < 1e-4, "10 m above the middle, and 1 m up: {top}");
        assert_eq!(picture.meshes.len(), 6);
        assert_eq!(picture.floor.map(|f| f.0), Some(-10.0), "the foot of the stage");
        let still = dresser.dress(&Frame { walls: vec![], ..frame }).unwrap();
        assert_eq!(still.meshes.len(), 5, "a bottom that lies on the floor is the floor");
    }

    #[test]
    fn grains_that_are_nowhere_are_left_out_and_columns_must_exist() {
        let (mut dresser, mut frame) = scene();
        frame.position.to_mut()[1].x = f64::NAN;
        assert_eq!(dresser.dress(&frame).unwrap().spheres.len(), 2);
        dresser.colouring.by = ColourBy::named("age");
        assert!(dresser.dress(&frame).unwrap_err().to_string().contains("`age`"));
    }
}
