//! From a [`Frame`] to a [`Picture`]: grains get their colours, solids and walls their surfaces.
//!
//! A [`Survey`](crate::survey::Survey) of the run gives what must not change from one frame of a film to the next: the
//! range of the colours, the stage, the floor.

use crate::colour::{ColourError, Colouring};
use crate::picture::{Finish, Ground, Mesh, Picture, Sphere};
use crate::skins::{Skin, Skins};
use crate::walls::{self, Paint, Stage, pose};
use barchan_core::frame::{Frame, SphereView};
use barchan_core::relief::Relief;
use barchan_core::walls::Wall;
use glam::{DVec3, Vec3};
use rayon::prelude::*;
use std::sync::Arc;

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
    /// Surfaces of grains that are solids, as far as they have been met.
    pub skins: Skins,
    /// The ground's material, by index.
    pub ground: u16,
    /// Mean radius of the grains a ground is made of [m]; left out: a tenth of the width of its cells.
    pub grain: Option<f64>,
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
        // A ground stands on the floor.
        let ground = frame.ground.clone().map(|relief| self.ground(relief));
        let height = ground.as_ref().map_or(height, |ground| height.min(ground.foot()));
        let skins = self.skins.of(&frame.shapes);
        let skin = |g: usize| skins[usize::from(frame.shape[g])].as_deref();
        let near = |at: DVec3| (at - origin).as_vec3();
        let there = |s: &SphereView| s.centre.is_finite() && s.radius > 0.0;
        let sphere = |s: SphereView| Sphere {
            centre: near(s.centre).to_array(),
            radius: s.radius as f32,
            colour: colours[s.grain].to_array(),
            grain: s.grain as u32,
        };
        let of_spheres = (0..frame.len()).filter(|g| skin(*g).is_none()).flat_map(|g| frame.spheres_of(g));
        let spheres = of_spheres.filter(there).map(sphere).collect();
        let placed = |g: usize| {
            let skin = skin(g)?;
            let radius = frame.radius[g] * skin.reach;
            let ball = SphereView { grain: g, centre: frame.position[g], radius, velocity: frame.velocity[g] };
            there(&ball).then(|| (sphere(ball), surface(skin, frame, g, origin, colours[g])))
        };
        let (solids, meshes) = (0..frame.len()).into_par_iter().filter_map(placed).unzip();
        let mut picture = Picture {
            origin,
            spheres,
            solids,
            meshes,
            floor: self.floor.map(|colour| ((height - origin.z) as f32, colour)),
            ground,
            ..Picture::default()
        };
        let paint = Paint { materials: &self.materials, glass: self.glass };
        walls::hang(&self.walls, &poses, &paint, &self.stage, &mut picture);
        Ok(picture)
    }

    fn ground(&self, relief: Arc<Relief>) -> Ground {
        let colour = self.materials.get(usize::from(self.ground)).copied().unwrap_or(Vec3::splat(0.5));
        let radius = self.grain.unwrap_or(0.1 * relief.cell) as f32;
        Ground { relief, colour, variation: self.variation, radius }
    }
}

/// The surface of a solid where its grain is.
fn surface(skin: &Skin, frame: &Frame<'_>, grain: usize, origin: DVec3, colour: Vec3) -> Mesh {
    let (turn, radius, arm) = (frame.turn(grain), frame.radius[grain], frame.position[grain] - origin);
    Mesh {
        vertices: skin.vertices.iter().map(|v| (arm + turn * (*v * radius)).as_vec3()).collect(),
        normals: skin.normals.iter().map(|n| (turn * *n).as_vec3()).collect(),
        triangles: skin.triangles.clone(),
        colour,
        finish: Finish::Solid,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::colour::ColourBy;
    use crate::{Extent, View};
    use barchan_core::frame::WallFrame;
    use barchan_core::mesh;
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
            skins: Skins::default(),
            ground: 0,
            grain: None,
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

    /// The first dumbbell is a box of 4×6×2 instead, its centre 1 from the origin of its mesh, lined by one sphere.
    fn with_a_box(frame: &mut Frame<'static>) {
        let mesh =
            mesh::Mesh::box_of(DVec3::new(4.0, 6.0, 2.0)).transformed(&glam::DAffine3::from_translation(DVec3::X));
        let mass = mesh.mass_properties().unwrap();
        let (solid, unit) = Shape::solid("box", &[(DVec3::X, 0.5)], &mass, &mesh).unwrap();
        assert_eq!(unit, 0.5);
        frame.shapes = [frame.shapes[0].clone(), solid].into();
        frame.shape = vec![1, 0].into();
        frame.orientation.to_mut()[0] = DQuat::from_rotation_z(0.5);
    }

    #[test]
    fn a_solid_is_drawn_by_its_skin_where_its_grain_is() {
        let (dresser, mut frame) = scene();
        let plain = dresser.dress(&frame).unwrap();
        with_a_box(&mut frame);
        let picture = dresser.dress(&frame).unwrap();
        assert!(picture.spheres.iter().all(|s| s.grain == 1), "its spheres are not drawn");
        assert_eq!((picture.spheres.len(), picture.solids.len()), (2, 1));
        assert_eq!(picture.meshes.len(), plain.meshes.len() + 1);
        let (ball, drawn) = (&picture.solids[0], &picture.meshes[0]);
        assert_eq!((drawn.vertices.len(), drawn.triangles.len(), drawn.finish), (24, 12, Finish::Solid));
        assert_eq!((ball.grain, drawn.colour), (0, Vec3::from(plain.spheres[0].colour)), "coloured as spheres are");
        // A grain of radius 1 mm whose sphere of radius 1/2 is the unit: twice as many millimetres as the mesh has.
        let corner = DVec3::new(4.0, 6.0, 2.0) * 1e-3;
        assert!((f64::from(ball.radius) - corner.length()).abs() < 1e-9);
        let turned = |v: &Vec3| frame.turn(0).inverse() * (v.as_dvec3() + picture.origin - frame.position[0]);
        for (v, n) in drawn.vertices.iter().zip(&drawn.normals) {
            assert!((turned(v).abs() - corner).length() < 1e-8, "{}", turned(v));
            let out = turned(v) * (frame.turn(0).inverse() * n.as_dvec3());
            assert!((out.element_sum() - out.max_element()).abs() < 1e-8, "normal to one face, outwards: {n}");
        }
        // Light and shadow reach it, though the only spheres are 5 m away.
        let view = View { eye: Vec3::Z, target: Vec3::ZERO, up: Vec3::Y, field: 0.5, size: [16, 9] };
        let extent = Extent::of(&picture, &view);
        let held = |v: &Vec3| (*v - extent.middle).abs().cmple(extent.half * 1.0001).all();
        assert!(drawn.vertices.iter().all(held), "{extent:?}");
        frame.position.to_mut()[0].z = f64::NAN;
        assert!(dresser.dress(&frame).unwrap().solids.is_empty(), "nowhere");
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
