//! Bodies and moving walls on the ground.
//!
//! After every world step each body's triangles are drawn into a patch of undersides, the ground bears it
//! ([`Columns::bear`](barchan_ground::Columns::bear)), and the force found acts on it in the next step; so the bearing is integrated with the
//! world's own time step, whatever the rhythm of erosion. Walls that move press the ground too, and find its force among that of the
//! grains.

use super::Ground;
use barchan_core::boundary::{Boundary, Load, Pose};
use barchan_core::columns::{Column, Columns as Named, Saved, Unfit, of_length};
use barchan_core::math;
use barchan_core::mesh::Mesh;
use barchan_core::walls::{Geometry, Motion, Wall, WallState};
use barchan_ground::{Mover, Patch, Stand, traced};
use glam::{DMat3, DVec2, DVec3};

/// How near an underside that is traced is found, over the width of a column.
const TRACED: f64 = 1e-3;

/// Something that presses the ground.
struct Presser {
    what: What,
    /// Surface: of a body about its centre of mass, of a wall where it was before it moved; none for a wall that answers with
    /// distances alone.
    skin: Option<Mesh>,
    /// Whether the surface closes.
    solid: bool,
    stand: Stand,
}

#[derive(Clone, Copy)]
enum What {
    /// A body, by id.
    Body(usize),
    /// A wall, by index.
    Wall(usize),
}

/// All that presses the ground of a world.
#[derive(Default)]
pub struct Pressers {
    all: Vec<Presser>,
    /// Gravity, downwards [m/s²].
    gravity: f64,
    patch: Patch,
    places: Vec<DVec3>,
}

impl Pressers {
    /// Under a gravity, downwards [m/s²].
    pub fn new(gravity: f64) -> Pressers {
        Pressers { gravity, ..Pressers::default() }
    }

    /// Lets a body press, by its skin about its centre of mass.
    pub fn add_body(&mut self, id: usize, skin: Mesh) {
        self.all.push(Presser { what: What::Body(id), skin: Some(skin), solid: true, stand: Stand::default() });
    }

    /// Lets a wall press, if it moves and has an end.
    pub fn add_wall(&mut self, index: usize, wall: &Wall) {
        let moves = wall.motion != Motion::default() || wall.control.is_some();
        if moves && (wall.facets().is_some() || extent(&wall.geometry).is_some()) {
            let skin = wall.facets().map(|f| f.mesh().clone());
            let solid = wall.facets().is_some_and(|f| f.is_solid());
            self.all.push(Presser { what: What::Wall(index), skin, solid, stand: Stand::default() });
        }
    }

    /// Bodies that press, by id.
    pub fn bodies(&self) -> impl Iterator<Item = usize> {
        self.all.iter().filter_map(|p| match p.what {
            What::Body(id) => Some(id),
            What::Wall(_) => None,
        })
    }

    /// Puts the state into a checkpoint.
    pub(super) fn save(&self, to: &mut Named) {
        let stands = || self.all.iter().map(|p| &p.stand);
        let slips = stands().flat_map(|s| s.slip.iter().flat_map(|v| v.to_array()));
        to.push(("press.count".into(), Column::U32(stands().map(|s| s.columns.len() as u32).collect())));
        to.push(("press.columns".into(), Column::U32(stands().flat_map(|s| s.columns.iter().copied()).collect())));
        to.push(("press.slip".into(), Column::F64(slips.collect())));
        to.push(("press.stiffness".into(), Column::F64(stands().map(|s| s.stiffness).collect())));
    }

    /// Takes back what [`Pressers::save`] put there, on a ground of so many columns.
    pub(super) fn load(&mut self, from: Saved<'_>, columns: usize) -> Result<(), Unfit> {
        let (counts, all) = (from.u32s("press.count")?, from.u32s("press.columns")?);
        let sum: usize = counts.iter().map(|&c| c as usize).sum();
        of_length("press.count", counts.len(), self.all.len())?;
        of_length("press.columns", all.len(), sum)?;
        if all.iter().any(|&c| c as usize >= columns) {
            return Err(Unfit::new("what stands on the ground is not what the scene has"));
        }
        let slips = from.f64s_of("press.slip", 2 * sum)?;
        let stiffness = from.f64s_of("press.stiffness", counts.len())?;
        let mut at = 0;
        for (k, presser) in self.all.iter_mut().enumerate() {
            let own = at..at + counts[k] as usize;
            at = own.end;
            let slip = slips[2 * own.start..2 * own.end].chunks_exact(2).map(DVec2::from_slice).collect();
            presser.stand = Stand { columns: all[own].to_vec(), slip, stiffness: stiffness[k] };
        }
        Ok(())
    }
}

impl Ground {
    /// Lets everything press, over a world step of length `dt` [s], and hands out loads.
    pub(super) fn press(&mut self, boundary: &mut Boundary, dt: f64) {
        for k in 0..self.pressers.all.len() {
            let load = self.load_of(k, boundary, dt);
            match self.pressers.all[k].what {
                What::Body(id) => boundary.bodies[id].bear(load),
                What::Wall(w) => boundary.add_load(w, load.force, load.torque),
            }
        }
    }

    /// Force and torque of the ground on one of those that press it.
    fn load_of(&mut self, k: usize, boundary: &Boundary, dt: f64) -> Load {
        let Pressers { all, gravity, patch, places } = &mut self.pressers;
        let Presser { what, skin, solid, stand } = &mut all[k];
        let columns = &mut self.columns;
        // A body's skin is drawn about its centre of mass, a wall's where the wall was before it moved.
        let (pose, rest, inverse_inertia, of_wall) = match *what {
            What::Body(id) => {
                let body = &boundary.bodies[id];
                let inertia = if body.there { body.inverse_inertia() } else { DMat3::ZERO };
                (body.there.then_some(body.pose), DVec3::ZERO, inertia, None)
            }
            What::Wall(w) => {
                let (wall, state) = (&boundary.walls()[w], &boundary.states()[w]);
                (Some(pose_of(wall, state)), wall.geometry.pivot(), DMat3::ZERO, Some((wall, state)))
            }
        };
        let there = pose.is_some();
        let Pose { centre, rotation, velocity, spin, inverse_mass } = pose.unwrap_or_default();
        let turn = DMat3::from_quat(rotation);
        match (skin, of_wall) {
            (Some(_) | None, _) if !there => patch.clear(),
            (Some(skin), _) => {
                places.clear();
                places.extend(skin.vertices.iter().map(|v| centre + turn * (*v - rest)));
                patch.draw(columns, places, &skin.triangles, *solid);
            }
            (None, Some((wall, state))) => trace(patch, columns.grid(), wall, state),
            (None, None) => patch.clear(),
        }
        let mover = Mover { centre, velocity, spin, inverse_mass, inverse_inertia };
        let found = columns.bear(patch, &mover, stand, *gravity, dt);
        self.changed |= found.push.displaced != 0;
        self.compressed += found.push.compressed;
        Load { force: found.force, torque: found.torque }
    }
}

/// Where a wall is, and how it moves.
fn pose_of(wall: &Wall, state: &WallState) -> Pose {
    let WallState { rotation, velocity, spin, inverse_mass, .. } = *state;
    Pose { centre: wall.pivot(state), rotation, velocity, spin, inverse_mass }
}

/// Farthest point of a wall from its pivot [m]; none for one without an end.
fn extent(geometry: &Geometry) -> Option<f64> {
    match *geometry {
        Geometry::Box { min, max, .. } => Some(0.5 * (max - min).length()),
        Geometry::Cylinder { radius, height, .. } => Some(math::hypot(radius, height?)),
        Geometry::Cone { radius_base, radius_top, height, .. } => {
            Some(math::hypot(radius_base.max(radius_top), height))
        }
        Geometry::Sphere { radius, .. } | Geometry::Disc { radius, .. } => Some(radius),
        Geometry::Plane { .. } | Geometry::Mesh(_) | Geometry::Field(_) | Geometry::Relief(_) => None,
    }
}

/// The underside of a wall that answers with distances.
fn trace(patch: &mut Patch, grid: &barchan_ground::Grid, wall: &Wall, state: &WallState) {
    let (pivot, reach) = (wall.pivot(state), extent(&wall.geometry).unwrap_or(0.0));
    let area = grid.area(pivot.truncate() - reach, pivot.truncate() + reach);
    let range = [pivot.z - reach, pivot.z + reach];
    patch.ask(grid, area, &traced(|p| wall.clearance(state, p), range, TRACED * grid.cell));
}
