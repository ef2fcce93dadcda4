//! Bodies: solids from meshes that move freely among the grains.

use super::names;
use crate::keys;
use glam::DVec3;
use schemars::JsonSchema;
use serde::Serialize;

keys! {
    /// Free rigid bodies of one closed mesh. One that stands fast or is driven is a wall of that mesh.
    pub struct Body = "write each body under its own `[[bodies]]`" {
        /// Name; left out: `body 1`, …
        name: String = String::new(),
        /// Path of a closed STL, OBJ, PLY or glTF mesh, from the folder of the scene; or a shape that needs none, of about unit
        /// size: `box`, `sphere`, `cylinder`, `torus`, `trefoil`, `pawn`, `rook`, `bishop`, `wheels`.
        mesh: String [; help("add `mesh`: the path of a closed STL, OBJ, PLY or glTF mesh, or `box`, `sphere`, …")],
        /// Metres of a unit of the file, one number or one a direction: 0.001 for a file in millimetres.
        scale: DVec3 [NUMBER; one_for_all, grows_as(0, 1, 0), positive("the scale")] = DVec3::ONE,
        /// Name of the material; left out: the first of the scene.
        material: String = String::new(),
        /// Density [kg/m³]; left out: the material's.
        density: Option<f64> [DENSITY; positive("the density")],
        /// Mass [kg], instead of a density.
        mass: Option<f64> [MASS; grows, positive("the mass")],
        /// Centre of mass in the frame of the file, scaled [m]; left out: that of the solid.
        centre: Option<DVec3> [LENGTH; grows],
        /// Moments of inertia about axes through the centre of mass along those of the file [kg m²]; left out: those of the solid.
        inertia: Option<DVec3> [INERTIA; grows, positive("the inertia")],
        /// Where the file's origin comes to stand [m]; a list makes as many bodies.
        at: Vec<DVec3> [LENGTH; one_for_all, grows,
            help("add `at`: where the mesh's origin is to be, such as [0, 0, 0.3], or a list of such places")],
        /// Turn about the file's origin: axis times angle.
        turn: DVec3 [ANGLE] = DVec3::ZERO,
        /// Velocity at the start [m/s].
        velocity: DVec3 [VELOCITY; grows] = DVec3::ZERO,
        /// Angular velocity at the start [rad/s].
        spin: DVec3 [ANGULAR_RATE; grows] = DVec3::ZERO,
        /// Turns it, as an engine turns a wheel.
        drive: Option<BodyDrive>,
        /// What grains touch.
        contact: BodyContact = BodyContact::Mesh,
        /// Radius of the spheres that line it [m]; left out: a twelfth of its size, less where it is thin.
        radius: Option<f64> [LENGTH; grows, positive("the radius")],
    }
}

keys! {
    /// A torque from outside about an axis of the body.
    pub struct BodyDrive = "write `{ axis = [0, 1, 0], torque = \"20 N m\" }`" {
        /// Direction of the axis in the frame of the file, of any length.
        axis: DVec3 [NUMBER; direction("the axis of the drive"),
            help("add `axis`: a direction in the frame of the mesh, such as [0, 1, 0]")],
        /// Torque about it [N m].
        torque: f64 [TORQUE; grows],
        /// Rate of turning at which the torque has faded, from nine tenths of it on [rad/s]; left out: it does not.
        max_spin: Option<f64> [ANGULAR_RATE; grows, positive("the largest rate of turning")],
        /// When it begins [s]; left out: at once.
        from: Option<f64> [TIME; grows],
        /// When it ends [s]; left out: never.
        until: Option<f64> [TIME; grows],
    }
}

/// What grains touch of a body. Walls and other bodies are touched by the spheres that line it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum BodyContact {
    /// Its triangles: exact, edges and corners sharp.
    #[default]
    Mesh,
    /// Its distance field: one lookup however fine the mesh, edges rounded by a cell.
    Field,
    /// The spheres that line it.
    Spheres,
}
names!(BodyContact { Mesh = "mesh", Field = "field", Spheres = "spheres" });
