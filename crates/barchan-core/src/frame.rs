//! What readers see of a world: plain columns at one instant.
//!
//! Writers, the renderer, measurements and (later) Python read [`Frame`]s only; nobody reaches into a solver.
//! One row is one grain. A grain of several spheres is expanded by [`Frame::spheres`].

use crate::mesh::Mesh;
use crate::relief::Relief;
use crate::shapes::Shape;
use glam::{DQuat, DVec3};
use std::borrow::Cow;
use std::sync::Arc;

/// The state of all grains (and walls) at one time, as columns of equal length.
///
/// Columns a solver keeps in this very form are borrowed; those it must derive (velocities at the full step) are owned.
#[derive(Clone, Debug, Default)]
pub struct Frame<'a> {
    /// Simulated time [s].
    pub time: f64,
    /// Steps taken so far.
    pub step: u64,
    /// Centres of mass [m].
    pub position: Cow<'a, [DVec3]>,
    /// Velocities of the centres of mass [m/s].
    pub velocity: Cow<'a, [DVec3]>,
    /// Angular velocities in the world's frame [rad/s].
    pub spin: Cow<'a, [DVec3]>,
    /// Orientations; empty where every grain is a single sphere.
    pub orientation: Cow<'a, [DQuat]>,
    /// Radius of the grain's largest sphere [m].
    pub radius: Cow<'a, [f64]>,
    /// Masses [kg].
    pub mass: Cow<'a, [f64]>,
    /// Permanent identity, given at birth and never used again.
    pub id: Cow<'a, [u32]>,
    /// Index into the scene's materials.
    pub material: Cow<'a, [u16]>,
    /// Index into `shapes`.
    pub shape: Cow<'a, [u16]>,
    /// Further columns of the solver at hand, one value a grain.
    pub extras: Vec<Extra<'a>>,
    /// The shapes the grains have, in units of their largest sphere's radius.
    pub shapes: Arc<[Shape]>,
    /// Names of the materials, by index.
    pub materials: Arc<[String]>,
    /// Walls as they stand.
    pub walls: Vec<WallFrame>,
    /// The ground's surface, where there is a ground.
    pub ground: Option<Arc<Relief>>,
}

/// A column that only some solvers have.
#[derive(Clone, Debug)]
pub struct Extra<'a> {
    /// Name as it appears in files and menus, for example `coordination`.
    pub name: &'static str,
    /// Unit, empty for a pure number.
    pub unit: &'static str,
    /// One value a grain.
    pub values: Cow<'a, [f32]>,
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
    /// Force of all grains on the wall [N].
    pub force: DVec3,
    /// Torque of all grains on the wall about its origin [N m].
    pub torque: DVec3,
}

/// One sphere of a grain, placed in the world.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SphereView {
    /// Row of the grain in the frame.
    pub grain: usize,
    /// Centre [m].
    pub centre: DVec3,
    /// Radius [m].
    pub radius: f64,
    /// Velocity of the centre [m/s].
    pub velocity: DVec3,
}

impl Frame<'_> {
    /// Number of grains.
    pub fn len(&self) -> usize {
        self.position.len()
    }

    /// Whether there is no grain.
    pub fn is_empty(&self) -> bool {
        self.position.is_empty()
    }

    /// How a grain is turned from the frame of its shape.
    pub fn turn(&self, grain: usize) -> DQuat {
        self.orientation.get(grain).copied().unwrap_or(DQuat::IDENTITY)
    }

    /// The surface of a grain that is a solid: its vertices, times the grain's radius, turned and moved as the grain is.
    /// None for a grain of spheres.
    pub fn skin(&self, grain: usize) -> Option<&Arc<Mesh>> {
        self.shapes[self.shape[grain] as usize].skin()
    }

    /// Every sphere of every grain, grain by grain.
    pub fn spheres(&self) -> impl Iterator<Item = SphereView> + '_ {
        (0..self.len()).flat_map(|g| self.spheres_of(g))
    }

    /// Every sphere of a grain.
    pub fn spheres_of(&self, grain: usize) -> impl Iterator<Item = SphereView> + '_ {
        let (turn, radius) = (self.turn(grain), self.radius[grain]);
        self.shapes[self.shape[grain] as usize].spheres().iter().map(move |s| {
            let arm = turn * (s.centre * radius);
            SphereView {
                grain,
                centre: self.position[grain] + arm,
                radius: s.radius * radius,
                velocity: self.velocity[grain] + self.spin[grain].cross(arm),
            }
        })
    }

    /// The same frame with every column owned, so that it can outlive the solver's next step.
    pub fn into_owned(self) -> Frame<'static> {
        fn own<T: Clone>(c: Cow<'_, [T]>) -> Cow<'static, [T]> {
            Cow::Owned(c.into_owned())
        }
        Frame {
            time: self.time,
            step: self.step,
            position: own(self.position),
            velocity: own(self.velocity),
            spin: own(self.spin),
            orientation: own(self.orientation),
            radius: own(self.radius),
            mass: own(self.mass),
            id: own(self.id),
            material: own(self.material),
            shape: own(self.shape),
            extras: self
                .extras
                .into_iter()
                .map(|e| Extra { name: e.name, unit: e.unit, values: own(e.values) })
                .collect(),
            shapes: self.shapes,
            materials: self.materials,
            walls: self.walls,
            ground: self.ground,
        }
    }
}
