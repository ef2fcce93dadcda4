//! What may be changed while grains move: gravity, friction and restitution, the pace of walls, velocities, the heights of
//! a ground, loads from outside.
//!
//! Each change holds from the next step on; positions, contact memory and lists are left alone. A change belongs to the
//! state of a run as much as its grains do: whoever saves one saves the other ([`Warp`] is in the solver's own columns).

use crate::integrate::lag;
use crate::kernel::Kernels;
use crate::settings::{Column, Pose};
use crate::state::vec3;
use crate::step::Solver;
use crate::{Dem, DemError, Inner};
use barchan_core::contact::PairTable;
use barchan_core::materials::Materials;
use barchan_core::relief::Relief;
use barchan_core::walls::{Bed, Geometry, Wall, WallState};
use glam::DVec3;
use std::sync::Arc;

/// A clock that runs faster or slower than simulated time, and never jumps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Warp {
    /// Simulated time of the last change [s].
    at: f64,
    /// What the clock showed then [s].
    was: f64,
    /// Seconds of the clock a simulated second.
    factor: f64,
}

impl Default for Warp {
    fn default() -> Warp {
        Warp { at: 0.0, was: 0.0, factor: 1.0 }
    }
}

impl Warp {
    /// What the clock shows at a simulated time [s]: the very time where nothing was changed.
    pub fn at(&self, time: f64) -> f64 {
        if *self == Warp::default() { time } else { self.was + self.factor * (time - self.at) }
    }

    /// Seconds of the clock a simulated second.
    pub fn factor(&self) -> f64 {
        self.factor
    }

    /// The clock with another factor (0 stands still, below 0 it runs backwards) from a simulated time [s] on.
    pub fn set(&mut self, factor: f64, time: f64) {
        if factor.is_finite() && factor != self.factor {
            *self = Warp { at: time, was: self.at(time), factor };
        }
    }

    /// The clock as numbers, for a checkpoint.
    pub fn column(&self) -> Column {
        Column::F64(vec![self.at, self.was, self.factor])
    }

    /// The clock from what [`Warp::column`] gave; none if it is something else.
    pub fn from_column(column: &Column) -> Option<Warp> {
        match column {
            Column::F64(v) if v.len() == 3 && v.iter().all(|x| x.is_finite()) => {
                Some(Warp { at: v[0], was: v[1], factor: v[2] })
            }
            _ => None,
        }
    }
}

/// Moves a wall to a new `time` [s] by the clock of the walls. What answers to forces keeps simulated time.
pub(crate) fn advance_wall(wall: &Wall, state: &mut WallState, warp: &Warp, time: f64, dt: f64, gravity: DVec3) {
    wall.advance(state, warp.at(time), dt, gravity);
    if warp.factor != 1.0 {
        let driven = wall.control.as_ref().map_or(DVec3::ZERO, |c| c.axis() * state.drive()[1]);
        state.velocity = (state.velocity - driven) * warp.factor + driven;
        state.spin *= warp.factor;
    }
}

impl<R: Kernels> Solver<R> {
    fn set_gravity(&mut self, gravity: DVec3) {
        // Velocities kept half a step back are such that those of the full step do not change.
        let shift = (self.settings.gravity - gravity) * lag(self.settings.integrator, self.settings.dt);
        for v in &mut self.grains.velocity {
            for k in 0..3 {
                v[k] += shift[k];
            }
        }
        self.settings.gravity = gravity;
    }

    fn set_materials(&mut self, materials: Materials) -> Result<(), DemError> {
        let old = &self.settings.materials;
        let fixed = |m: &Materials| -> Vec<[f64; 6]> {
            m.list.iter().map(|m| [m.density, m.young, m.poisson, m.rolling, m.twisting, m.cohesion]).collect()
        };
        if fixed(old) != fixed(&materials) {
            return Err(DemError::Live("density, stiffness, rolling, twisting and cohesion of a material"));
        }
        let fits = |x: f64, most: f64| (0.0..=most).contains(&x);
        if !materials.list.iter().all(|m| fits(m.friction, f64::MAX) && fits(m.restitution, 1.0) && m.restitution > 0.0)
        {
            return Err(DemError::Live("friction below 0 and restitution outside 0 to 1"));
        }
        self.table = PairTable::new(&self.settings.law, &materials);
        self.settings.materials = materials;
        Ok(())
    }

    fn set_relief(&mut self, wall: usize, relief: Arc<Relief>) -> Result<(), DemError> {
        let old = self.settings.walls.get(wall).and_then(|w| w.bed()).map(|b| b.relief().clone());
        let same = |o: &&Arc<Relief>| (o.origin, o.cell, o.size) == (relief.origin, relief.cell, relief.size);
        let Some(old) = old.as_ref().filter(same) else {
            return Err(DemError::Live("a wall that is no relief, or a relief's place and cells,"));
        };
        // A nearest point moves by no more than its height does: so much nearer has the wall come to any grain.
        let rise = old.height.iter().zip(&relief.height).map(|(old, new)| new - old).fold(0.0, f64::max);
        self.wall_budget[wall] -= rise;
        self.settings.walls[wall].geometry = Geometry::Relief(Arc::new(Bed::new(relief)));
        Ok(())
    }

    fn push(&mut self, centre: DVec3, radius: f64, velocity: DVec3) -> DVec3 {
        let mut given = DVec3::ZERO;
        if !velocity.is_finite() {
            return given;
        }
        for g in 0..self.grains.len() {
            let x = vec3(self.grains.place(g, &self.spheres.record));
            if x.distance(centre) <= radius {
                let v = &mut self.grains.velocity[g];
                for k in 0..3 {
                    v[k] += velocity[k];
                }
                given += velocity / v[3];
            }
        }
        given
    }
}

impl Dem {
    /// Changes gravity [m/s²] from now on; velocities stay.
    pub fn set_gravity(&mut self, gravity: DVec3) {
        on!(&mut self.0, s => s.set_gravity(gravity));
    }

    /// Changes friction and restitution, of materials or of pairs, from the next step on. What the time step and the
    /// memory of contacts rest on must stay as it is.
    pub fn set_materials(&mut self, materials: Materials) -> Result<(), DemError> {
        on!(&mut self.0, s => s.set_materials(materials))
    }

    /// Takes all spin from the grains, as the integration of Longmore (2009, equation 3.37) does in every step: what that
    /// costs is for a validation to show.
    pub fn stop_spins(&mut self) {
        on!(&mut self.0, s => s.grains.momentum.iter_mut().for_each(|l| l[..3].fill(0.0)));
    }

    /// Lets the prescribed motion of all walls go on at `factor` times its pace, from where they stand.
    pub fn set_wall_pace(&mut self, factor: f64) {
        let time = self.time();
        on!(&mut self.0, s => s.warp.set(factor, time));
    }

    /// The clock of the walls' prescribed motion.
    pub fn wall_clock(&self) -> Warp {
        on!(&self.0, s => s.warp)
    }

    /// Adds a velocity [m/s] to every grain whose centre is within `radius` [m] of a point; returns the momentum given
    /// [kg m/s].
    pub fn push(&mut self, centre: DVec3, radius: f64, velocity: DVec3) -> DVec3 {
        on!(&mut self.0, s => s.push(centre, radius, velocity))
    }

    /// Gives a wall that is the surface of a ground other heights, over the same cells. Lists stay right: where the surface has come nearer
    /// than they reach they are built anew in the next step. A checkpoint does not hold the heights: whoever changes them
    /// puts them into the settings of [`Dem::load`].
    pub fn set_relief(&mut self, wall: usize, relief: Arc<Relief>) -> Result<(), DemError> {
        on!(&mut self.0, s => s.set_relief(wall, relief))
    }

    /// Lets a force [N] and a torque about its centre of mass [N m] act on a grain, besides contacts and gravity, until
    /// they are changed; zeros take them away. False if the grain is not there.
    pub fn set_load(&mut self, id: u32, force: DVec3, torque: DVec3) -> bool {
        on!(&mut self.0, s => s.set_load(id, force, torque))
    }

    /// Where a grain is and how it moves; none if it is not there.
    pub fn pose(&self, id: u32) -> Option<Pose> {
        on!(&self.0, s => s.pose(id))
    }

    /// Adds a force [N] and a torque about its pivot [N m] to what grains did to a wall in the last step: readers see it, and a
    /// controlled wall answers to it.
    pub fn add_wall_load(&mut self, wall: usize, force: DVec3, torque: DVec3) {
        on!(&mut self.0, s => if let Some(state) = s.walls.get_mut(wall) {
            state.force += force;
            state.torque += torque;
        });
    }

    /// Holds these grains where they are, at rest, and lets all others go; an empty list lets go of all. Others touch them
    /// as before; two that are held do not meet, nor does one meet a wall other than the surface of a body.
    pub fn set_pinned(&mut self, ids: &[u32]) {
        on!(&mut self.0, s => s.set_pinned(ids));
    }

    /// Whether the grain in a row of [`Dem::frame`] is held.
    pub fn is_pinned(&self, row: usize) -> bool {
        on!(&self.0, s => s.pinned.has(row))
    }

    /// Ids of the grains that are held, in order.
    pub fn pinned(&self) -> &[u32] {
        on!(&self.0, s => &s.pinned.ids)
    }
}
