//! What readers see of a world: plain columns at one instant.
//!
//! Writers, the renderer, the window, measurements and (later) Python read [`Frame`]s only; nobody reaches into a solver.
//! Each solver publishes what it has: [`Population`]s of grains or particles, [`Pairs`] of them, [`Grid`]s and [`Surface`]s.
//! Columns are shared: a clone of a frame copies no numbers, and a frame outlives the solver's next step.

use crate::mesh::Mesh;
use crate::relief::Relief;
use crate::shapes::Shape;
use glam::{DQuat, DVec3, Vec3};
use std::sync::{Arc, LazyLock};

/// A column whose numbers are shared by all who hold it.
pub type Shared<T> = Arc<[T]>;

/// The state of a world at one time.
#[derive(Clone, Debug, Default)]
pub struct Frame {
    /// Simulated time [s].
    pub time: f64,
    /// World steps taken so far.
    pub step: u64,
    /// What is made of pieces: grains, continuum particles, upsampled grains; in the order of the solvers.
    pub populations: Vec<Population>,
    /// Contacts and bonds.
    pub pairs: Vec<Pairs>,
    /// Fields on regular grids.
    pub grids: Vec<Grid>,
    /// Surfaces of triangles, such as the free surface of a continuum.
    pub surfaces: Vec<Surface>,
    /// The ground's surface, where there is a ground.
    pub ground: Option<Arc<Relief>>,
    /// Walls as they stand.
    pub walls: Vec<WallFrame>,
    /// Names of the materials, by index.
    pub materials: Shared<String>,
}

/// Pieces of one kind, as columns of equal length.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Population {
    /// What they are, as it appears in files and menus: `grains`, `sand`, `gas`.
    pub name: String,
    /// Centres of mass [m].
    pub position: Shared<DVec3>,
    /// Velocities of the centres of mass [m/s].
    pub velocity: Shared<DVec3>,
    /// Angular velocities in the world's frame [rad/s]; empty where nothing turns.
    pub spin: Shared<DVec3>,
    /// Orientations; empty where every piece is a single sphere.
    pub orientation: Shared<DQuat>,
    /// Radius of the largest sphere of each [m].
    pub radius: Shared<f64>,
    /// Masses [kg]; 0 for pieces that are only shown, such as upsampled grains.
    pub mass: Shared<f64>,
    /// Permanent identity, given at birth and never used again within a population.
    pub id: Shared<u32>,
    /// Index into the materials of the frame.
    pub material: Shared<u16>,
    /// Index into `shapes`; empty where all have the first.
    pub shape: Shared<u16>,
    /// The shapes they have, in units of their largest sphere's radius; empty where all are spheres.
    pub shapes: Shared<Shape>,
    /// Further columns, one value a row.
    pub extras: Vec<Extra>,
}

/// A column that only some solvers have.
#[derive(Clone, Debug, PartialEq)]
pub struct Extra {
    /// Name as it appears in files and menus, for example `coordination`.
    pub name: String,
    /// Unit, empty for a pure number.
    pub unit: String,
    /// One value a row.
    pub values: Values,
}

/// The numbers of an [`Extra`].
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// Real numbers.
    F32(Shared<f32>),
    /// Vectors.
    Vec3(Shared<Vec3>),
    /// Whole numbers: a phase, a colour, a block.
    U32(Shared<u32>),
}

/// Pairs of pieces: contacts or bonds.
#[derive(Clone, Debug, PartialEq)]
pub struct Pairs {
    /// What they are, for example `contacts`.
    pub name: String,
    /// Ids of the two partners; [`Pairs::NOBODY`] where the second is a wall.
    pub id: Shared<[u32; 2]>,
    /// The two ends [m].
    pub ends: Shared<[DVec3; 2]>,
    /// Further columns, one value a pair.
    pub extras: Vec<Extra>,
}

/// Fields on a regular grid, one value a cell, x running fastest.
#[derive(Clone, Debug, PartialEq)]
pub struct Grid {
    /// What it is, for example `pressure`.
    pub name: String,
    /// Lower corner of the first cell [m].
    pub origin: DVec3,
    /// Sides of a cell [m].
    pub cell: DVec3,
    /// Cells in each direction.
    pub size: [usize; 3],
    /// The fields, one value a cell.
    pub fields: Vec<Extra>,
}

/// A surface of triangles.
#[derive(Clone, Debug, PartialEq)]
pub struct Surface {
    /// What it is, for example `skin`.
    pub name: String,
    /// Corners [m].
    pub vertices: Shared<DVec3>,
    /// Three corners each, counter-clockwise seen from outside.
    pub triangles: Shared<[u32; 3]>,
    /// Index into the materials of the frame.
    pub material: u16,
    /// Further columns, one value a vertex.
    pub extras: Vec<Extra>,
}

/// Pose and load of one wall.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WallFrame {
    /// Name from the scene.
    pub name: String,
    /// Where the wall's origin has moved to [m].
    pub position: DVec3,
    /// How the wall has turned.
    pub rotation: DQuat,
    /// Force of all matter on the wall [N].
    pub force: DVec3,
    /// Torque of all matter on the wall about its origin [N m].
    pub torque: DVec3,
}

/// One sphere of a grain, placed in the world.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SphereView {
    /// Row of the grain in its population.
    pub grain: usize,
    /// Centre [m].
    pub centre: DVec3,
    /// Radius [m].
    pub radius: f64,
    /// Velocity of the centre [m/s].
    pub velocity: DVec3,
}

/// Name of the population of grains.
pub const GRAINS: &str = "grains";
/// Name of the population of grains that stand for the particles of a continuum in pictures.
pub const UPSAMPLED: &str = "upsampled grains";
/// Name of the surface of matter that is shown by it instead of by its pieces.
pub const SURFACE: &str = "surface";
/// Name of the population of light points that a powder cloud is drawn from.
pub const POWDER: &str = "powder";

impl Frame {
    /// The grains; an empty population where there are none.
    pub fn grains(&self) -> &Population {
        static NONE: LazyLock<Population> =
            LazyLock::new(|| Population { name: GRAINS.into(), ..Population::default() });
        self.population(GRAINS).unwrap_or(&NONE)
    }

    /// The populations that have mass, in the order of the solvers.
    pub fn matter(&self) -> impl Iterator<Item = &Population> {
        self.populations.iter().filter(|p| p.mass.first() != Some(&0.0))
    }

    /// The population of that name.
    pub fn population(&self, name: &str) -> Option<&Population> {
        self.populations.iter().find(|p| p.name == name)
    }

    /// Pieces of all populations.
    pub fn len(&self) -> usize {
        self.populations.iter().map(Population::len).sum()
    }

    /// Whether no population has a piece.
    pub fn is_empty(&self) -> bool {
        self.populations.iter().all(Population::is_empty)
    }

    /// A frame of one population, at rest in every other respect.
    pub fn of(population: Population) -> Frame {
        Frame { populations: vec![population], ..Frame::default() }
    }
}

impl Population {
    /// Number of pieces.
    pub fn len(&self) -> usize {
        self.position.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.position.is_empty()
    }

    /// How a piece is turned from the frame of its shape.
    pub fn turn(&self, row: usize) -> DQuat {
        self.orientation.get(row).copied().unwrap_or(DQuat::IDENTITY)
    }

    /// Angular velocity of a piece [rad/s].
    pub fn spin_of(&self, row: usize) -> DVec3 {
        self.spin.get(row).copied().unwrap_or(DVec3::ZERO)
    }

    /// Index of the shape of a piece.
    pub fn shape_index(&self, row: usize) -> usize {
        self.shape.get(row).copied().unwrap_or(0) as usize
    }

    /// The shape of a piece.
    pub fn shape_of(&self, row: usize) -> &Shape {
        static SPHERE: LazyLock<Shape> = LazyLock::new(Shape::sphere);
        self.shapes.get(self.shape_index(row)).unwrap_or(&SPHERE)
    }

    /// The surface of a grain that is a solid: its vertices, times the grain's radius, turned and moved as the grain is.
    /// None for a grain of spheres.
    pub fn skin(&self, row: usize) -> Option<&Arc<Mesh>> {
        self.shape_of(row).skin()
    }

    /// Every sphere of every grain, grain by grain.
    pub fn spheres(&self) -> impl Iterator<Item = SphereView> + '_ {
        (0..self.len()).flat_map(|g| self.spheres_of(g))
    }

    /// Every sphere of a grain.
    pub fn spheres_of(&self, row: usize) -> impl Iterator<Item = SphereView> + '_ {
        let (turn, radius, spin) = (self.turn(row), self.radius[row], self.spin_of(row));
        self.shape_of(row).spheres().iter().map(move |s| {
            let arm = turn * (s.centre * radius);
            SphereView {
                grain: row,
                centre: self.position[row] + arm,
                radius: s.radius * radius,
                velocity: self.velocity[row] + spin.cross(arm),
            }
        })
    }

    /// The further column of that name.
    pub fn extra(&self, name: &str) -> Option<&Extra> {
        self.extras.iter().find(|e| e.name == name)
    }
}

impl Extra {
    /// A column of real numbers.
    pub fn real(name: &str, unit: &str, values: impl Into<Shared<f32>>) -> Extra {
        Extra { name: name.into(), unit: unit.into(), values: Values::F32(values.into()) }
    }

    /// A column of vectors.
    pub fn vector(name: &str, unit: &str, values: impl Into<Shared<Vec3>>) -> Extra {
        Extra { name: name.into(), unit: unit.into(), values: Values::Vec3(values.into()) }
    }

    /// A column of whole numbers.
    pub fn whole(name: &str, values: impl Into<Shared<u32>>) -> Extra {
        Extra { name: name.into(), unit: String::new(), values: Values::U32(values.into()) }
    }
}

impl Values {
    /// Number of rows.
    pub fn len(&self) -> usize {
        match self {
            Values::F32(v) => v.len(),
            Values::Vec3(v) => v.len(),
            Values::U32(v) => v.len(),
        }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A row as one number: itself, or the length of a vector.
    pub fn number(&self, row: usize) -> f64 {
        match self {
            Values::F32(v) => f64::from(v[row]),
            Values::Vec3(v) => f64::from(v[row].length()),
            Values::U32(v) => f64::from(v[row]),
        }
    }

    /// The rows of these numbers, in their order.
    pub fn pick(&self, rows: &[usize]) -> Values {
        match self {
            Values::F32(v) => Values::F32(rows.iter().map(|&r| v[r]).collect()),
            Values::Vec3(v) => Values::Vec3(rows.iter().map(|&r| v[r]).collect()),
            Values::U32(v) => Values::U32(rows.iter().map(|&r| v[r]).collect()),
        }
    }
}

impl Pairs {
    /// The second partner of a pair with a wall.
    pub const NOBODY: u32 = u32::MAX;
}

impl Grid {
    /// Number of cells.
    pub fn len(&self) -> usize {
        self.size.iter().product()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
