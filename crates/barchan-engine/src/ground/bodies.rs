//! Bodies and moving walls on the ground, and the drives of bodies.
//!
//! After every step of the solver each body's triangles are drawn into a patch of undersides, the ground bears it
//! ([`Columns::bear`](barchan_ground::Columns::bear)), and the force found acts on it in the next step; so the bearing is integrated with the solver's own
//! time step, whatever the rhythm of erosion. Walls that move press the ground too, and find its force among that of the
//! grains.

use super::Ground;
use crate::bodies::Bodies;
use crate::checkpoint::{Checkpoint, CheckpointError, CheckpointWriter};
use barchan_core::mesh::Mesh;
use barchan_core::walls::{Geometry, Motion, Wall, WallState};
use barchan_dem::{Column, Dem, Pose, Settings};
use barchan_ground::{Mover, Patch, Stand, traced};
use barchan_scene::{BodyDrive, Scene};
use glam::{DMat3, DVec2, DVec3};

/// Share of the largest rate of turning at which a drive's torque begins to fade.
const FADING: f64 = 0.9;
/// How near an underside that is traced is found, over the width of a column.
const TRACED: f64 = 1e-3;

/// Something that presses the ground, or is driven.
struct Presser {
    /// What stands for it among the walls; none for a body that grains touch by its spheres.
    wall: Option<usize>,
    /// Surface in the frame of the wall before it moved; none for a wall that answers with distances alone.
    skin: Option<Mesh>,
    /// Whether the surface closes.
    solid: bool,
    body: Option<Body>,
    stand: Stand,
}

/// What is a body's own.
struct Body {
    grain: u32,
    /// Inverse principal moments of inertia [1/(kg m²)].
    inverse_inertia: DVec3,
    /// Axis in the principal frame, and the rest of the drive.
    drive: Option<(DVec3, BodyDrive)>,
    /// Whether a load is on it.
    loaded: bool,
}

/// All that presses the ground of a world.
#[derive(Default)]
pub(crate) struct Pressers {
    all: Vec<Presser>,
    gravity: f64,
    dt: f64,
    patch: Patch,
    places: Vec<DVec3>,
}

impl Pressers {
    /// Of a scene: bodies, and walls that move.
    pub fn of(scene: &Scene, settings: &Settings, bodies: &Bodies) -> Pressers {
        let mut all = Vec::new();
        let tables = scene.bodies.iter().flat_map(|b| b.at.iter().map(move |_| b));
        for (grain, (new, table)) in bodies.grains.iter().zip(tables).enumerate() {
            let shape = &settings.shapes[new.shape as usize];
            let wall = bodies.carried.iter().find(|c| c.grain as usize == grain).map(|c| c.wall as usize);
            let Some(skin) = shape.skin() else { continue };
            let density = settings.materials.list[new.material as usize].density;
            let mass = new.mass.unwrap_or(density * shape.volume() * new.radius.powi(3));
            let inertia = mass * new.radius.powi(2) / shape.volume() * shape.inertia();
            let axis = |d: &BodyDrive| shape.to_principal() * d.axis.normalize_or_zero();
            all.push(Presser {
                wall,
                skin: Some(skin.scaled(new.radius)),
                solid: true,
                body: Some(Body {
                    grain: grain as u32,
                    inverse_inertia: inertia.recip(),
                    drive: table.drive.as_ref().map(|d| (axis(d), d.clone())),
                    loaded: false,
                }),
                stand: Stand::default(),
            });
        }
        for (wall, w) in settings.walls.iter().enumerate().take(scene.walls.len()) {
            let moves = w.motion != Motion::default() || w.control.is_some();
            if moves && scene.ground.is_some() && (w.facets().is_some() || extent(&w.geometry).is_some()) {
                let skin = w.facets().map(|f| f.mesh().clone());
                let solid = w.facets().is_some_and(|f| f.is_solid());
                all.push(Presser { wall: Some(wall), skin, solid, body: None, stand: Stand::default() });
            }
        }
        Pressers { all, gravity: -scene.gravity.z, dt: settings.dt, ..Pressers::default() }
    }

    /// Lets everything press, and hands out loads, after a step of the solver.
    pub fn step(&mut self, mut ground: Option<&mut Ground>, dem: &mut Dem) {
        let time = dem.time();
        for k in 0..self.all.len() {
            let (mut force, mut torque) = (DVec3::ZERO, DVec3::ZERO);
            if let Some(ground) = &mut ground {
                (force, torque) = self.press(k, ground, dem);
            }
            let presser = &mut self.all[k];
            let Some(body) = &mut presser.body else {
                presser.wall.iter().for_each(|&w| dem.add_wall_load(w, force, torque));
                continue;
            };
            if let (Some((axis, drive)), Some(pose)) = (&body.drive, dem.pose(body.grain)) {
                torque += driven(*axis, drive, &pose, time);
            }
            let loaded = force != DVec3::ZERO || torque != DVec3::ZERO;
            if loaded || body.loaded {
                body.loaded = loaded && dem.set_load(body.grain, force, torque);
            }
        }
    }

    /// Force and torque of the ground on one of them.
    fn press(&mut self, k: usize, ground: &mut Ground, dem: &Dem) -> (DVec3, DVec3) {
        let Presser { wall, skin, solid, body, stand } = &mut self.all[k];
        let columns = &mut ground.columns;
        let of_wall = wall.map(|w| (&dem.walls().0[w], &dem.walls().1[w]));
        // A body's skin is drawn about its centre of mass, a wall's where the wall was before it moved.
        let (pose, rest) = match (&body, of_wall) {
            (Some(body), _) => (dem.pose(body.grain), DVec3::ZERO),
            (None, Some((wall, state))) => (Some(pose_of(wall, state)), wall.geometry.pivot()),
            (None, None) => (None, DVec3::ZERO),
        };
        let there = pose.is_some();
        let Pose { centre, rotation, velocity, spin, inverse_mass } = pose.unwrap_or_default();
        let turn = DMat3::from_quat(rotation);
        match (skin, of_wall) {
            _ if !there => self.patch.clear(),
            (Some(skin), _) => {
                self.places.clear();
                self.places.extend(skin.vertices.iter().map(|v| centre + turn * (*v - rest)));
                self.patch.draw(columns, &self.places, &skin.triangles, *solid);
            }
            (None, Some((wall, state))) => trace(&mut self.patch, columns.grid(), wall, state),
            (None, None) => self.patch.clear(),
        }
        let inverse_inertia =
            body.as_ref().map_or(DMat3::ZERO, |b| turn * DMat3::from_diagonal(b.inverse_inertia) * turn.transpose());
        let mover = Mover { centre, velocity, spin, inverse_mass, inverse_inertia };
        let found = columns.bear(&self.patch, &mover, stand, self.gravity, self.dt);
        ground.changed |= found.push.displaced != 0;
        ground.compressed += found.push.compressed;
        (found.force, found.torque)
    }

    /// Puts the state into a checkpoint.
    pub fn save(&self, to: &mut CheckpointWriter, ground: Option<&Ground>) {
        let stands = || self.all.iter().map(|p| &p.stand);
        let slips = stands().flat_map(|s| s.slip.iter().flat_map(|v| v.to_array()));
        let loaded = self.all.iter().map(|p| u32::from(p.body.as_ref().is_some_and(|b| b.loaded)));
        to.put("press/count", &Column::U32(stands().map(|s| s.columns.len() as u32).collect()));
        to.put("press/columns", &Column::U32(stands().flat_map(|s| s.columns.iter().copied()).collect()));
        to.put("press/slip", &Column::F64(slips.collect()));
        to.put("press/stiffness", &Column::F64(stands().map(|s| s.stiffness).collect()));
        to.put("press/loaded", &Column::U32(loaded.collect()));
        let compressed = ground.map_or(0, |g| g.compressed) as u128;
        to.put("press/compressed", &Column::U64(vec![compressed as u64, (compressed >> 64) as u64]));
    }

    /// Takes back what [`Pressers::save`] put there.
    pub fn load(&mut self, from: &Checkpoint, ground: Option<&mut Ground>) -> Result<(), CheckpointError> {
        let columns = ground.as_ref().map_or(0, |g| g.columns.grid().len());
        let u32s = |name: &str| match from.column(name) {
            Some(Column::U32(v)) => Ok(v),
            _ => Err(from.unfit(format!("no {name}"))),
        };
        let (counts, all, loaded) = (u32s("press/count")?, u32s("press/columns")?, u32s("press/loaded")?);
        let sum: usize = counts.iter().map(|&c| c as usize).sum();
        let sound = counts.len() == self.all.len() && loaded.len() == counts.len() && sum == all.len();
        if !sound || all.iter().any(|&c| c as usize >= columns) {
            return Err(from.unfit("what stands on the ground is not what the scene has"));
        }
        let slips = from.f64s("press/slip", 2 * sum)?;
        let stiffness = from.f64s("press/stiffness", counts.len())?;
        let mut at = 0;
        for (k, presser) in self.all.iter_mut().enumerate() {
            let own = at..at + counts[k] as usize;
            at = own.end;
            let slip = slips[2 * own.start..2 * own.end].chunks_exact(2).map(DVec2::from_slice).collect();
            presser.stand = Stand { columns: all[own].to_vec(), slip, stiffness: stiffness[k] };
            if let Some(body) = &mut presser.body {
                body.loaded = loaded[k] != 0;
            }
        }
        let halves = from.u64s("press/compressed", 2)?;
        if let Some(ground) = ground {
            ground.compressed = (u128::from(halves[0]) | u128::from(halves[1]) << 64) as i128;
        }
        Ok(())
    }
}

/// Where a wall is, and how it moves.
fn pose_of(wall: &Wall, state: &WallState) -> Pose {
    let WallState { rotation, velocity, spin, inverse_mass, .. } = *state;
    Pose { centre: wall.pivot(state), rotation, velocity, spin, inverse_mass }
}

/// Torque of a drive [N m].
fn driven(axis: DVec3, drive: &BodyDrive, pose: &Pose, time: f64) -> DVec3 {
    if drive.from.is_some_and(|t| time < t) || drive.until.is_some_and(|t| time >= t) {
        return DVec3::ZERO;
    }
    let axis = pose.rotation * axis;
    // Turning the way of the torque counts, whichever way that is.
    let rate = pose.spin.dot(axis) * drive.torque.signum();
    let left = drive.max_spin.map_or(1.0, |most| ((1.0 - rate / most) / (1.0 - FADING)).clamp(0.0, 1.0));
    axis * drive.torque * left
}

/// Farthest point of a wall from its pivot [m]; none for one without an end.
fn extent(geometry: &Geometry) -> Option<f64> {
    match *geometry {
        Geometry::Box { min, max, .. } => Some(0.5 * (max - min).length()),
        Geometry::Cylinder { radius, height, .. } => Some(radius.hypot(height?)),
        Geometry::Cone { radius_base, radius_top, height, .. } => Some(radius_base.max(radius_top).hypot(height)),
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
