//! From a [`Frame`] to a [`Picture`]: grains of all populations get their colours, solids and walls their surfaces.
//!
//! Surfaces of the frame are drawn smooth. Pairs are drawn as lines, and grids as the edges of their boxes, where they are asked for.
//!
//! A [`Survey`](crate::survey::Survey) of the run gives what must not change from one frame of a film to the next: the
//! range of the colours, the stage, the floor.

use crate::colour::{ColourBy, ColourError, Colouring, Painter};
use crate::picture::{Finish, Ground, Line, Mesh, Picture, Sphere};
use crate::skins::{Skin, Skins, vertex_normals};
use crate::walls::{self, Paint, Stage, pose};
use barchan_core::frame::{Frame, GRAINS, Grid, Population, SphereView, Surface, UPSAMPLED};
use barchan_core::relief::Relief;
use barchan_core::walls::Wall;
use glam::{DVec3, Vec3};
use rayon::prelude::*;
use std::sync::Arc;

/// [`Sphere::grain`] of a sphere that belongs to a wall.
pub const NO_GRAIN: u32 = u32::MAX;

/// Grains over their own size where pairs are drawn: lines between their centres would be hidden in them.
const BESIDE_PAIRS: f64 = 0.35;
/// Width of the lines of pairs and grids [pixels at 1080 rows].
const LINE: f32 = 1.6;
/// Colour of pairs that have no number to be coloured by, and of grids, linear RGB.
const LINE_COLOUR: Vec3 = Vec3::new(0.05, 0.09, 0.16);

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
    /// Whether pairs are drawn: as thin lines between grains that are drawn smaller than they are.
    pub pairs: bool,
    /// Whether the boxes of grids are drawn.
    pub grids: bool,
}

impl Dresser {
    /// Colour of the floor where none is wanted in particular: pale stone, so that shadows show and colours are not tinged.
    pub const FLOOR: Vec3 = Vec3::new(0.33, 0.325, 0.31);
    /// Tint of glass before a light background.
    pub const GLASS: Vec3 = Vec3::new(0.30, 0.40, 0.43);
    /// Tint of glass before a dark background.
    pub const GLASS_IN_THE_DARK: Vec3 = Vec3::new(0.62, 0.74, 0.78);

    /// The picture of a frame.
    pub fn dress(&self, frame: &Frame) -> Result<Picture, ColourError> {
        let painter = self.colouring.painter(frame, &self.materials, self.variation)?;
        let origin = 0.5 * (self.stage.bounds[0] + self.stage.bounds[1]);
        let poses: Vec<_> = (0..self.walls.len()).map(|w| pose(frame, w)).collect();
        let height = walls::filled_floor(&self.walls, &poses, &self.stage);
        // A ground stands on the floor.
        let ground = frame.ground.clone().map(|relief| self.ground(relief));
        let height = ground.as_ref().map_or(height, |ground| height.min(ground.foot()));
        let mut picture = Picture {
            origin,
            floor: self.floor.map(|colour| ((height - origin.z) as f32, colour)),
            ground,
            ..Picture::default()
        };
        let skins = self.skins.of(frame.populations.iter().flat_map(|p| p.shapes.iter()));
        let (mut row, mut shape) = (0, 0);
        for population in &frame.populations {
            let dressed = Dressed {
                population,
                colours: painter.population(population),
                skins: &skins[shape..shape + population.shapes.len()],
                first: row,
                origin,
                scale: if self.pairs { BESIDE_PAIRS } else { 1.0 },
            };
            if is_drawn(population, frame, &self.colouring.by) {
                dressed.enter(&mut picture);
            }
            (row, shape) = (row + population.len(), shape + population.shapes.len());
        }
        picture.meshes.extend(frame.surfaces.iter().map(|surface| free_surface(surface, &painter, origin)));
        let line = |ends: [DVec3; 2], colour: Vec3| Line {
            ends: ends.map(|end| (end - origin).as_vec3()),
            colour,
            width: LINE,
            opacity: 0.9,
        };
        for pairs in frame.pairs.iter().filter(|_| self.pairs) {
            let colours = painter.pairs(pairs);
            let colour = |row: usize| colours.as_ref().map_or(LINE_COLOUR, |colours| colours[row]);
            let there = pairs.ends.iter().enumerate().filter(|(_, ends)| ends.iter().all(|end| end.is_finite()));
            picture.lines.extend(there.map(|(row, ends)| line(*ends, colour(row))));
        }
        for grid in frame.grids.iter().filter(|_| self.grids) {
            picture.lines.extend(edges(grid).into_iter().map(|ends| line(ends, LINE_COLOUR)));
        }
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

/// Whether a population is in the picture. Upsampled grains stand for the particles that carry them; the particles are drawn in their place
/// where the colours are those of a column that only particles have, and beside them where colours tell populations apart.
fn is_drawn(population: &Population, frame: &Frame, by: &ColourBy) -> bool {
    let Some(upsampled) = frame.population(UPSAMPLED).filter(|u| !u.is_empty()) else { return true };
    match by {
        ColourBy::Population => true,
        ColourBy::Material | ColourBy::Id => population.name == UPSAMPLED || population.name == GRAINS,
        _ if by.values(upsampled).is_some() => population.name == UPSAMPLED || population.name == GRAINS,
        _ => population.name != UPSAMPLED,
    }
}

/// A population with its colours, on its way into a picture.
struct Dressed<'a> {
    population: &'a Population,
    colours: Vec<Vec3>,
    /// Skins of its shapes.
    skins: &'a [Option<Arc<Skin>>],
    /// Rows of the populations before it.
    first: usize,
    /// Origin of the picture [m].
    origin: DVec3,
    /// Size at which it is drawn over its own.
    scale: f64,
}

impl Dressed<'_> {
    fn enter(&self, picture: &mut Picture) {
        let p = self.population;
        let of_spheres = (0..p.len()).filter(|g| self.skin(*g).is_none()).flat_map(|g| p.spheres_of(g));
        picture.spheres.extend(of_spheres.filter(is_there).map(|s| self.sphere(s)));
        let placed = |g: usize| {
            let skin = self.skin(g)?;
            let radius = p.radius[g] * skin.reach;
            let ball = SphereView { grain: g, centre: p.position[g], radius, velocity: p.velocity[g] };
            is_there(&ball).then(|| (self.sphere(ball), self.solid(skin, g)))
        };
        let (solids, meshes): (Vec<_>, Vec<_>) = (0..p.len()).into_par_iter().filter_map(placed).unzip();
        picture.solids.extend(solids);
        picture.meshes.extend(meshes);
    }

    fn skin(&self, grain: usize) -> Option<&Skin> {
        self.skins.get(self.population.shape_index(grain))?.as_deref()
    }

    fn sphere(&self, s: SphereView) -> Sphere {
        Sphere {
            centre: (s.centre - self.origin).as_vec3().to_array(),
            radius: (s.radius * self.scale) as f32,
            colour: self.colours[s.grain].to_array(),
            grain: (self.first + s.grain) as u32,
        }
    }

    /// The surface of a solid where its grain is.
    fn solid(&self, skin: &Skin, grain: usize) -> Mesh {
        let p = self.population;
        let (turn, radius, arm) = (p.turn(grain), p.radius[grain] * self.scale, p.position[grain] - self.origin);
        Mesh {
            vertices: skin.vertices.iter().map(|v| (arm + turn * (*v * radius)).as_vec3()).collect(),
            normals: skin.normals.iter().map(|n| (turn * *n).as_vec3()).collect(),
            triangles: skin.triangles.clone(),
            colour: self.colours[grain],
            colours: Vec::new(),
            finish: Finish::Solid,
        }
    }
}

fn is_there(s: &SphereView) -> bool {
    s.centre.is_finite() && s.radius > 0.0
}

/// A surface of the frame, smooth.
fn free_surface(surface: &Surface, painter: &Painter<'_>, origin: DVec3) -> Mesh {
    let (colour, colours) = painter.surface(surface);
    let normals = vertex_normals(&surface.vertices, &surface.triangles);
    Mesh {
        vertices: surface.vertices.iter().map(|v| (*v - origin).as_vec3()).collect(),
        normals: normals.iter().map(|n| n.as_vec3()).collect(),
        triangles: surface.triangles.to_vec(),
        colour,
        colours,
        finish: Finish::Solid,
    }
}

/// Edges of the box of a grid.
fn edges(grid: &Grid) -> Vec<[DVec3; 2]> {
    let far = DVec3::from_array(std::array::from_fn(|i| grid.cell[i] * grid.size[i] as f64));
    let corner =
        |k: usize| grid.origin + DVec3::from_array(std::array::from_fn(|i| if k >> i & 1 == 1 { far[i] } else { 0.0 }));
    let pairs = (0..8_usize).flat_map(|k| [1, 2, 4].map(|bit| (k, k | bit)));
    pairs.filter(|(a, b)| a != b).map(|(a, b)| [corner(a), corner(b)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::colour::ColourBy;
    use crate::{Extent, View};
    use barchan_core::frame::{Extra, GRAINS, Pairs, WallFrame};
    use barchan_core::mesh;
    use barchan_core::shapes::Shape;
    use barchan_core::walls::{Geometry, Side};
    use glam::{DQuat, DVec3};

    /// Two dumbbells far from the origin of the world, in a box that has moved up by 1 m.
    fn scene() -> (Dresser, Frame) {
        let far = DVec3::new(1e4, -2e4, 3e3);
        let (dumbbell, _) = Shape::clump("dumbbell", &[(DVec3::ZERO, 1.0), (DVec3::X * 1.5, 0.5)]).unwrap();
        let grains = Population {
            name: GRAINS.into(),
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
            extras: vec![],
        };
        let walls = vec![WallFrame { position: DVec3::Z, ..WallFrame::default() }];
        let frame = Frame { walls, ..Frame::of(grains) };
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
            pairs: false,
            grids: false,
        };
        (dresser, frame)
    }

    #[test]
    fn spheres_keep_their_places_far_from_the_origin_of_the_world() {
        let (dresser, frame) = scene();
        let picture = dresser.dress(&frame).unwrap();
        assert_eq!(picture.spheres.len(), 4);
        for (drawn, exact) in picture.spheres.iter().zip(frame.grains().spheres()) {
            let at = picture.origin + Vec3::from(drawn.centre).as_dvec3();
            assert!((at - exact.centre).length() < 1e-6, "{at} is not {}", exact.centre);
            assert_eq!((drawn.radius, drawn.grain), (exact.radius as f32, exact.grain as u32));
        }
        assert_eq!(picture.spheres[0].colour, picture.spheres[1].colour, "a grain has one colour");
        assert_ne!(picture.spheres[0].colour, picture.spheres[2].colour, "two grains differ");
    }

    /// The first dumbbell is a box of 4×6×2 instead, its centre 1 from the origin of its mesh, lined by one sphere.
    fn with_a_box(frame: &mut Frame) {
        let mesh =
            mesh::Mesh::box_of(DVec3::new(4.0, 6.0, 2.0)).transformed(&glam::DAffine3::from_translation(DVec3::X));
        let mass = mesh.mass_properties().unwrap();
        let (solid, unit) = Shape::solid("box", &[(DVec3::X, 0.5)], &mass, &mesh).unwrap();
        assert_eq!(unit, 0.5);
        let grains = &mut frame.populations[0];
        grains.shapes = [grains.shapes[0].clone(), solid].into();
        grains.shape = vec![1, 0].into();
        Arc::make_mut(&mut grains.orientation)[0] = DQuat::from_rotation_z(0.5);
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
        let grains = frame.grains();
        let turned = |v: &Vec3| grains.turn(0).inverse() * (v.as_dvec3() + picture.origin - grains.position[0]);
        for (v, n) in drawn.vertices.iter().zip(&drawn.normals) {
            assert!((turned(v).abs() - corner).length() < 1e-8, "{}", turned(v));
            let out = turned(v) * (grains.turn(0).inverse() * n.as_dvec3());
            assert!((out.element_sum() - out.max_element()).abs() < 1e-8, "normal to one face, outwards: {n}");
        }
        // Light and shadow reach it, though the only spheres are 5 m away.
        let view = View { eye: Vec3::Z, target: Vec3::ZERO, up: Vec3::Y, field: 0.5, size: [16, 9] };
        let extent = Extent::of(&picture, &view);
        let held = |v: &Vec3| (*v - extent.middle).abs().cmple(extent.half * 1.0001).all();
        assert!(drawn.vertices.iter().all(held), "{extent:?}");
        Arc::make_mut(&mut frame.populations[0].position)[0].z = f64::NAN;
        assert!(dresser.dress(&frame).unwrap().solids.is_empty(), "nowhere");
    }

    #[test]
    fn every_population_and_surface_is_drawn_and_pairs_and_grids_where_asked_for() {
        let (mut dresser, mut frame) = scene();
        with_a_box(&mut frame);
        let plain = dresser.dress(&frame).unwrap();
        let far = frame.grains().position[0];
        let sand = Population {
            name: "sand".into(),
            position: vec![far + DVec3::Z, far - DVec3::Z, far].into(),
            velocity: vec![DVec3::ZERO; 3].into(),
            radius: vec![0.1; 3].into(),
            mass: vec![1.0; 3].into(),
            id: vec![0, 1, 2].into(),
            material: vec![0; 3].into(),
            ..Population::default()
        };
        let ball = mesh::Mesh::sphere(2.0, 2);
        let heat: Vec<f32> = ball.vertices.iter().map(|v| v.z as f32).collect();
        let skin = Surface {
            name: "skin".into(),
            vertices: ball.vertices.iter().map(|v| *v + far).collect(),
            triangles: ball.triangles.as_slice().into(),
            material: 0,
            extras: vec![Extra::real("heat", "K", heat)],
        };
        let contacts = Pairs {
            name: "contacts".into(),
            id: vec![[0, 1], [1, Pairs::NOBODY]].into(),
            ends: vec![[far, far + DVec3::Z], [far, DVec3::NAN]].into(),
            extras: vec![],
        };
        let (cell, size) = (DVec3::new(1.0, 2.0, 3.0), [2, 2, 2]);
        let grid = Grid { name: "pressure".into(), origin: far, cell, size, fields: vec![] };
        // Whichever comes first: a solid's ball and surface have the same place.
        frame.populations.insert(0, sand);
        (frame.surfaces, frame.pairs, frame.grids) = (vec![skin], vec![contacts], vec![grid]);
        let picture = dresser.dress(&frame).unwrap();
        assert_eq!(picture.spheres.len(), plain.spheres.len() + 3);
        assert_eq!(picture.spheres.iter().map(|s| s.grain).collect::<Vec<_>>(), [0, 1, 2, 4, 4]);
        assert_eq!((picture.solids.len(), picture.solids[0].grain), (1, 3));
        assert_eq!(picture.meshes[0].vertices.len(), 24);
        assert_eq!(picture.meshes.len(), plain.meshes.len() + 1);
        let drawn = &picture.meshes[1];
        for (v, n) in drawn.vertices.iter().zip(&drawn.normals) {
            let out = (v.as_dvec3() + picture.origin - far).as_vec3();
            assert!(out.angle_between(*n) < 0.05, "{out} {n}");
        }
        assert!(drawn.colours.is_empty() && drawn.finish == Finish::Solid);
        assert_eq!(picture.lines.len(), plain.lines.len());
        (dresser.pairs, dresser.grids) = (true, true);
        let all = dresser.dress(&frame).unwrap();
        assert_eq!(all.lines.len(), plain.lines.len() + 1 + 12);
        let longest = all.lines.iter().map(|l| l.ends[0].distance(l.ends[1])).filter(|l| *l < 7.0).fold(0.0, f32::max);
        assert!((longest - 6.0).abs() < 1e-4, "the height of the grid: {longest}");
        assert!(all.spheres[0].radius < 0.5 * picture.spheres[0].radius, "lines are seen between smaller grains");
        dresser.colouring.by = ColourBy::named("heat");
        let picture = dresser.dress(&frame).unwrap();
        assert_eq!(picture.meshes[1].colours.len(), ball.vertices.len());
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
        Arc::make_mut(&mut frame.populations[0].position)[1].x = f64::NAN;
        assert_eq!(dresser.dress(&frame).unwrap().spheres.len(), 2);
        dresser.colouring.by = ColourBy::named("age");
        assert!(dresser.dress(&frame).unwrap_err().to_string().contains("`age`"));
    }
}
