//! What may be changed while grains move: gravity, friction and restitution, velocities, external loads, which grains sleep.
//!
//! Each change holds from the next step on; positions, contact memory and lists are left alone. A change belongs to the
//! state of a run as much as its grains do: whoever saves one saves the other.

use crate::integrate::lag;
use crate::kernel::Kernels;
use crate::state::vec3;
use crate::step::Solver;
use crate::{Dem, DemError, Inner};
use barchan_core::contact::PairTable;
use barchan_core::materials::Materials;
use glam::DVec3;
use rayon::prelude::*;

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

    fn slow(&mut self, share: &(dyn Fn(DVec3, DVec3) -> f64 + Sync)) {
        let (grains, record, pinned) = (&self.grains, &self.spheres.record, &self.pinned);
        let kept = |g: usize| {
            let (x, v) = (vec3(grains.place(g, record)), vec3(&grains.velocity[g]));
            if pinned.has(g) { 1.0 } else { share(x, v) }
        };
        let kept: Vec<f64> = (0..grains.len()).into_par_iter().map(kept).collect();
        for (v, kept) in self.grains.velocity.iter_mut().zip(kept) {
            for k in 0..3 {
                v[k] *= kept;
            }
        }
    }

    fn kick(&mut self, push: &dyn Fn(DVec3) -> Option<DVec3>) -> DVec3 {
        let mut given = DVec3::ZERO;
        for g in 0..self.grains.len() {
            if self.pinned.has(g) {
                continue;
            }
            let Some(by) = push(vec3(self.grains.place(g, &self.spheres.record))).filter(|v| v.is_finite()) else {
                continue;
            };
            let v = &mut self.grains.velocity[g];
            for k in 0..3 {
                v[k] += by[k];
            }
            given += by / v[3];
        }
        given
    }

    fn each(&self, visit: &mut dyn FnMut(DVec3, DVec3, f64)) {
        for g in 0..self.grains.len() {
            let v = &self.grains.velocity[g];
            visit(vec3(self.grains.place(g, &self.spheres.record)), vec3(v), 1.0 / v[3]);
        }
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

    /// Adds a velocity [m/s] to every grain whose centre is within `radius` [m] of a point; returns the momentum given
    /// [kg m/s].
    pub fn push(&mut self, centre: DVec3, radius: f64, velocity: DVec3) -> DVec3 {
        on!(&mut self.0, s => s.push(centre, radius, velocity))
    }

    /// Multiplies the velocity of every grain by the share, from 0 to 1, that a function of its place [m] and velocity [m/s] gives.
    pub fn slow(&mut self, share: &(dyn Fn(DVec3, DVec3) -> f64 + Sync)) {
        on!(&mut self.0, s => s.slow(share));
    }

    /// Adds a velocity [m/s], which a function of its place [m] gives, to every grain that is not held; returns the momentum given [kg m/s].
    pub fn kick(&mut self, push: &dyn Fn(DVec3) -> Option<DVec3>) -> DVec3 {
        on!(&mut self.0, s => s.kick(push))
    }

    /// Breaks the bonds of which a function of their ends [m], and of whether the second is at a wall, says yes; returns how many. Their elastic energy
    /// is booked as that of broken bonds.
    pub fn cut(&mut self, breaks: &dyn Fn(DVec3, DVec3, bool) -> bool) -> usize {
        on!(&mut self.0, s => s.cut(breaks))
    }

    /// Visits every grain with its place [m], velocity as it is kept [m/s] (half a step back, for velocity Verlet) and mass [kg].
    pub fn each(&self, visit: &mut dyn FnMut(DVec3, DVec3, f64)) {
        on!(&self.0, s => s.each(visit));
    }

    /// Lets a force [N] and a torque about its centre of mass [N m] act on a grain, besides contacts and gravity, until
    /// they are changed; zeros take them away. False if the grain is not there.
    pub fn set_load(&mut self, id: u32, force: DVec3, torque: DVec3) -> bool {
        on!(&mut self.0, s => s.set_load(id, force, torque))
    }

    /// Holds these grains where they are, at rest, and lets all others go; an empty list lets go of all. Others touch them
    /// as before; two that are held do not meet, nor does one meet a wall other than the surface of a body.
    pub fn set_pinned(&mut self, ids: &[u32]) {
        on!(&mut self.0, s => s.set_pinned(ids));
    }

    /// Holds these grains where they are for ever; [`Dem::set_pinned`] does not let them go.
    pub fn fix(&mut self, ids: &[u32]) {
        on!(&mut self.0, s => s.fix(ids));
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
