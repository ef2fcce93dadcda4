//! From a [`Frame`] to a [`Picture`]: grains of all populations get their colours, solids and walls their surfaces.
//!
//! Surfaces of the frame are drawn smooth. Pairs are drawn as lines, and grids as the edges of their boxes, where they are asked for.
//!
//! A [`Survey`](crate::survey::Survey) of the run gives what must not change from one frame of a film to the next: the
//! range of the colours, the stage, the floor.

use crate::colour::{ColourBy, ColourError, Colouring, Painter};
use crate::cover::Cover;
use crate::covering::{self, covering};
use crate::left_out::LeftOut;
use crate::picture::{Finish, Ground, Line, Mesh, Picture, Puff, Sphere};
use crate::skins::{Skin, Skins, vertex_normals};
use crate::walls::{self, Paint, Stage, pose};
use barchan_core::frame::{Frame, GRAINS, Grid, POWDER, Population, SURFACE, SphereView, Surface, UPSAMPLED, Values};
use barchan_core::relief::Relief;
use barchan_core::walls::Wall;
use glam::{DVec3, Vec3};
use rayon::prelude::*;
use std::collections::HashSet;
use std::sync::Arc;

/// [`Sphere::grain`] of a sphere that belongs to a wall.
pub const NO_GRAIN: u32 = u32::MAX;

/// Grains over their own size where pairs are drawn: lines between their centres would be hidden in them.
const BESIDE_PAIRS: f64 = 0.35;
/// Width of the lines of pairs and grids [pixels at 1080 rows].
const LINE: f32 = 1.6;
/// Colour of pairs that have no number to be coloured by, and of grids, linear RGB.
const LINE_COLOUR: Vec3 = Vec3::new(0.05, 0.09, 0.16);

/// What is drawn of a continuum.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Show {
    /// Upsampled grains where there are any and they have what the colours say; else particles.
    #[default]
    Auto,
    /// Particles.
    Particles,
    /// Upsampled grains; particles where there are none.
    Grains,
    /// Both, the particles smaller than they are: grains lie about them.
    Both,
    /// A skin over the particles, and what flies apart from it as particles.
    Skin,
}

impl Show {
    /// All of them by name.
    pub const NAMES: &'static [(&'static str, Show)] = &[
        ("auto", Show::Auto),
        ("particles", Show::Particles),
        ("grains", Show::Grains),
        ("both", Show::Both),
        ("skin", Show::Skin),
    ];
}

/// Particles over their own size where grains are drawn with them.
const AMONG_GRAINS: f64 = 0.4;

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
    /// What is drawn of a continuum.
    pub show: Show,
    /// Whether walls, bodies and surfaces are drawn as the edges of their triangles.
    pub wires: bool,
    /// Whether it is snow that flows: grains are drawn on their skin, and those that fly off it raise spray.
    pub snow: bool,
    /// What lies on the ground; left out: its grains.
    pub cover: Option<Cover>,
    /// What is left out.
    pub left_out: LeftOut,
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
                scale: self.scale(population, frame),
            };
            let keeps = self.left_out.keeps(population);
            let skin = if is_covered(population, frame, self.show) { covering(population, self.snow) } else { None };
            if population.name == POWDER {
                picture.puffs.extend(points(population, origin));
            } else if let Some(skin) = skin {
                dressed.enter(&mut picture, &|row| skin.apart[row] && keeps(row));
                dressed.lift(&mut picture, &skin.on);
                // What lies still is fixed to the picture's origin, what moves to a grain.
                let anchor = |(at, still): &(DVec3, f64)| match *still > 0.0 {
                    true => [0.0, 0.0, 0.0, *still as f32],
                    false => (*at - origin).as_vec3().extend(0.0).to_array(),
                };
                let anchors = skin.anchors.iter().map(anchor).collect();
                picture.meshes.push(Mesh { anchors, ..free_surface(&skin.surface, &painter, origin) });
                if self.snow {
                    picture.puffs.extend(spray(population, &skin.apart, origin));
                }
            } else if is_drawn(population, frame, &self.colouring.by, self.show) {
                dressed.enter(&mut picture, &keeps);
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
        if self.wires {
            let meshes = std::mem::take(&mut picture.meshes);
            picture.solids.clear();
            picture.lines.extend(meshes.iter().flat_map(wires));
        }
        Ok(picture)
    }

    /// Size at which the pieces of a population are drawn over their own.
    fn scale(&self, population: &Population, frame: &Frame) -> f64 {
        let among = self.show == Show::Both && is_carrier(population, frame);
        if self.pairs {
            BESIDE_PAIRS
        } else if among {
            AMONG_GRAINS
        } else {
            1.0
        }
    }

    fn ground(&self, relief: Arc<Relief>) -> Ground {
        let colour = self.materials.get(usize::from(self.ground)).copied().unwrap_or(Vec3::splat(0.5));
        let radius = self.grain.unwrap_or(0.1 * relief.cell) as f32;
        let cover = self.cover.as_ref().map(|cover| Arc::new(cover.colours(&relief)));
        Ground { relief, colour, variation: self.variation, radius, cover }
    }
}

/// Whether a population is in the picture. Upsampled grains stand for the particles that carry them; unless something else is asked for, the
/// particles are drawn in their place where the colours are those of a column that only particles have, and beside them where colours
/// tell populations apart.
fn is_drawn(population: &Population, frame: &Frame, by: &ColourBy, show: Show) -> bool {
    let Some(upsampled) = upsampled(frame) else { return true };
    // Grains and bodies are drawn in any case.
    let (fine, carries) = (population.name == UPSAMPLED, is_carrier(population, frame));
    match show {
        Show::Particles | Show::Skin => !fine,
        Show::Grains => !carries,
        Show::Both => true,
        Show::Auto => match by {
            ColourBy::Population => true,
            ColourBy::Material | ColourBy::Id => !carries,
            _ if by.values(upsampled).is_some() => !carries,
            _ => !fine,
        },
    }
}

fn upsampled(frame: &Frame) -> Option<&Population> {
    // What is shown by its surface may have nothing that flies.
    let has_surface = frame.surfaces.iter().any(|s| s.name == SURFACE);
    frame.population(UPSAMPLED).filter(|u| !u.is_empty() || has_surface)
}

/// Whether a population is the particles that upsampled grains of the frame stand for.
fn is_carrier(population: &Population, frame: &Frame) -> bool {
    upsampled(frame).is_some() && population.name != UPSAMPLED && population.name != GRAINS
}

/// Whether a population is to have a skin.
fn is_covered(population: &Population, frame: &Frame, show: Show) -> bool {
    show == Show::Skin && covering::is_covered(population, frame.populations.iter())
}

/// The edges of a mesh's triangles, each once.
fn wires(mesh: &Mesh) -> Vec<Line> {
    // Vertices that stand in one place with several normals are one: an edge is known by its ends.
    let key = |v: Vec3| v.to_array().map(|x| (x + 0.0).to_bits());
    let mut seen = HashSet::new();
    let mut lines = Vec::new();
    for t in &mesh.triangles {
        for k in 0..3 {
            let ends = [t[k], t[(k + 1) % 3]].map(|v| mesh.vertices[v as usize]);
            let mut name = ends.map(key);
            name.sort_unstable();
            if seen.insert(name) {
                lines.push(Line { ends, colour: mesh.colour, width: LINE, opacity: 0.9 });
            }
        }
    }
    lines
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
    /// Enters the rows that `is_wanted` takes.
    fn enter(&self, picture: &mut Picture, is_wanted: &(dyn Fn(usize) -> bool + Sync)) {
        let p = self.population;
        let wanted = |g: &usize| is_wanted(*g) && self.skin(*g).is_none();
        let of_spheres = (0..p.len()).filter(wanted).flat_map(|g| p.spheres_of(g));
        picture.spheres.extend(of_spheres.filter(is_there).map(|s| self.sphere(s)));
        let placed = |g: usize| {
            let skin = self.skin(g).filter(|_| is_wanted(g))?;
            let radius = p.radius[g] * skin.reach;
            let ball = SphereView { grain: g, centre: p.position[g], radius, velocity: p.velocity[g] };
            is_there(&ball).then(|| (self.sphere(ball), self.solid(skin, g)))
        };
        let (solids, meshes): (Vec<_>, Vec<_>) = (0..p.len()).into_par_iter().filter_map(placed).unzip();
        picture.solids.extend(solids);
        picture.meshes.extend(meshes);
    }

    /// Enters rows, each moved by so much [m].
    fn lift(&self, picture: &mut Picture, rows: &[(usize, DVec3)]) {
        let p = self.population;
        let spheres = rows.iter().flat_map(|(row, by)| p.spheres_of(*row).map(move |s| (s, *by)));
        let lifted = spheres.map(|(s, by)| SphereView { centre: s.centre + by, ..s });
        picture.spheres.extend(lifted.filter(is_there).map(|s| self.sphere(s)));
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
            anchors: Vec::new(),
        }
    }
}

/// Speed from which a grain that flies raises spray, and that at which it raises most [m/s].
const SPRAY: [f64; 2] = [2.0, 8.0];
/// Radius of the spray of a grain [radii], and its greatest optical depth.
const SPRAY_PUFF: (f64, f64) = (3.0, 0.35);

/// Spray about the grains that fly apart from a skin.
fn spray(population: &Population, apart: &[bool], origin: DVec3) -> Vec<Puff> {
    let puff = |row: usize| {
        let share = (population.velocity[row].length() - SPRAY[0]) / (SPRAY[1] - SPRAY[0]);
        let (radius, depth) = (SPRAY_PUFF.0 * population.radius[row], SPRAY_PUFF.1 * share.clamp(0.0, 1.0));
        let centre = (population.position[row] - origin).as_vec3();
        (apart[row] && depth > 0.0).then_some(Puff { centre, radius: radius as f32, depth: depth as f32 })
    };
    (0..population.len()).filter_map(puff).collect()
}

/// Light points of a cloud: their column `depth` is the optical depth through each.
fn points(population: &Population, origin: DVec3) -> Vec<Puff> {
    let depths = population.extras.iter().find(|e| e.name == "depth").map(|e| &e.values);
    let depth = |row: usize| match depths {
        Some(Values::F32(v)) => v.get(row).copied().unwrap_or(0.0),
        _ => 0.0,
    };
    let puff = |row: usize| Puff {
        centre: (population.position[row] - origin).as_vec3(),
        radius: population.radius[row] as f32,
        depth: depth(row),
    };
    (0..population.len()).map(puff).collect()
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
        anchors: Vec::new(),
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
            show: Show::Auto,
            wires: false,
            snow: false,
            cover: None,
            left_out: LeftOut::default(),
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

    /// A cube of 512 particles of a continuum with one that flies, 4 upsampled grains each, and a ball of the grains' solver.
    fn continuum() -> (Dresser, Frame) {
        let (dresser, _) = scene();
        let pile = |name: &str, at: Vec<DVec3>, radius: f64, extras: Vec<Extra>| {
            let n = at.len();
            Population {
                name: name.into(),
                position: at.into(),
                velocity: vec![DVec3::X; n].into(),
                radius: vec![radius; n].into(),
                mass: vec![1.0; n].into(),
                id: (0..n as u32).collect(),
                material: vec![0; n].into(),
                extras,
                ..Population::default()
            }
        };
        let cube = |n: u32, d: f64| -> Vec<DVec3> {
            let at = |k: u32| DVec3::new((k % n).into(), (k / n % n).into(), (k / n / n).into()) * d;
            (0..n.pow(3)).map(at).collect()
        };
        let mut particles = cube(8, 1.0);
        particles.push(DVec3::splat(30.0));
        let pressure = Extra::real("pressure", "Pa", vec![1.0; 513]);
        let populations = vec![
            pile(GRAINS, vec![DVec3::splat(20.0)], 2.0, vec![]),
            pile("sph", particles, 0.5, vec![pressure]),
            pile(UPSAMPLED, cube(12, 0.6), 0.2, vec![]),
        ];
        (Dresser { walls: vec![], ..dresser }, Frame { populations, ..Frame::default() })
    }

    #[test]
    fn a_continuum_is_shown_as_it_is_asked_for() {
        let (plain, frame) = continuum();
        let drawn = |show: Show, by: &str| {
            let colouring = Colouring { by: ColourBy::named(by), range: Some([0.0, 1.0]), ..Colouring::default() };
            Dresser { show, colouring, ..plain.clone() }.dress(&frame).unwrap()
        };
        let many = |show: Show, by: &str| drawn(show, by).spheres.len();
        let (ball, particles, grains) = (1, 513, 12 * 12 * 12);
        assert_eq!(many(Show::Auto, "material"), ball + grains);
        assert_eq!(many(Show::Auto, "pressure"), ball + particles, "grains have no pressure");
        assert_eq!(many(Show::Particles, "material"), ball + particles);
        assert_eq!(many(Show::Grains, "pressure"), ball + grains);
        let both = drawn(Show::Both, "material");
        assert_eq!(both.spheres.len(), ball + particles + grains);
        assert!(both.spheres.iter().any(|s| s.radius == 0.2), "particles are smaller, so that grains are seen");
        for by in ["material", "speed", "pressure"] {
            let skin = drawn(Show::Skin, by);
            assert_eq!((skin.spheres.len(), skin.meshes.len()), (ball + 1, 1), "the ball, and the one that flies");
            // The skin of a cube of side 8, its edges rounded, about its middle.
            let (low, high) =
                skin.meshes[0].vertices.iter().fold((Vec3::MAX, Vec3::MIN), |(a, b), v| (a.min(*v), b.max(*v)));
            let (low, high) = (low.as_dvec3() + skin.origin, high.as_dvec3() + skin.origin);
            assert!((low + 0.5).abs().max_element() < 0.15 && (high - 7.5).abs().max_element() < 0.15, "{low} {high}");
        }
    }

    #[test]
    fn wires_are_the_edges_of_what_was_solid() {
        let (dresser, mut frame) = scene();
        with_a_box(&mut frame);
        let solid = dresser.dress(&frame).unwrap();
        let wires = Dresser { wires: true, ..dresser }.dress(&frame).unwrap();
        assert!(wires.meshes.is_empty() && wires.solids.is_empty());
        assert_eq!(wires.spheres.len(), solid.spheres.len(), "grains stay");
        // A box has 12 edges and a diagonal on each face.
        let own = |l: &&Line| l.colour == solid.meshes[0].colour;
        assert_eq!(wires.lines.iter().filter(own).count(), 18);
    }
}
