//! Births and deaths: columns grow and shrink together; lists are spoilt, unless the newborn can join them.

use crate::DemError;
use crate::integrate::{lag, net_load, place_spheres};
use crate::kernel::Kernels;
use crate::lists::MOST_SPHERES;
use crate::state::{Grains, Load, NEWBORN, Record, vec3, with};
use crate::step::Solver;
use barchan_core::boundary::Boundary;
use barchan_core::simd::Isa;
use barchan_core::solver::{Departed, NewMatter};
use glam::DVec3;

impl<R: Kernels> Solver<R> {
    pub fn use_isa(&mut self, isa: Isa) {
        self.kernel = R::select(isa);
        self.integrator = R::integrator(isa);
    }

    pub fn add(&mut self, new: &[NewMatter], boundary: &Boundary) -> Result<u32, DemError> {
        self.take_fixtures(boundary);
        let first = self.born;
        let materials = self.settings.materials.clone();
        let shapes = self.settings.shapes.clone();
        if u64::from(first) + new.len() as u64 >= u64::from(u32::MAX) {
            return Err(DemError::OutOfIds);
        }
        for n in new {
            if n.material as usize >= materials.len() {
                return Err(DemError::NoSuch("a material that is none"));
            }
            if n.shape as usize >= shapes.len() {
                return Err(DemError::NoSuch("a shape that is none"));
            }
            if !(n.radius > 0.0 && n.radius.is_finite() && n.position.is_finite() && n.velocity.is_finite()) {
                return Err(DemError::NoSuch("a radius, position or velocity that is not a finite number"));
            }
            if !n.mass.is_none_or(|m| m > 0.0 && m.is_finite()) {
                return Err(DemError::NoSuch("a mass that is not a positive number"));
            }
        }
        let spheres = new.iter().map(|n| shapes[n.shape as usize].spheres().len()).sum::<usize>() + self.spheres.len();
        if spheres >= MOST_SPHERES as usize {
            return Err(DemError::TooMany(spheres));
        }
        if self.grains.all_spheres() && new.iter().any(|n| !shapes[n.shape as usize].is_sphere()) {
            self.grow_clump_columns();
        }
        let lag = lag(self.settings.integrator, self.settings.dt);
        for (k, n) in new.iter().enumerate() {
            let shape = &shapes[n.shape as usize];
            let solid = || Grains::mass(shape, n.radius, materials.list[n.material as usize].density);
            let mass = n.mass.unwrap_or_else(solid);
            let inertia = mass / shape.volume() * shape.inertia() * (n.radius * n.radius);
            let turn = n.orientation.normalize();
            let g = &mut self.grains;
            // Free flight until the next step: half a step back, gravity alone acted.
            g.velocity.push(with(n.velocity - self.settings.gravity * lag, 1.0 / mass));
            g.momentum.push(with(
                turn * (inertia * (turn.inverse() * n.spin)),
                if shape.is_sphere() { 1.0 / inertia.x } else { 0.0 },
            ));
            g.id.push(first + k as u32);
            g.material.push(n.material);
            g.shape.push(n.shape);
            g.budget.push(0.0);
            let from = self.spheres.len();
            let count = shape.spheres().len();
            let mut record = Record { place: [0.0; 4], motion: [R::of(0.0); 8] };
            record.motion[6] = R::of(1.0 / mass);
            record.motion[7] = R::from_tag(u32::from(n.material));
            self.spheres.record.resize(from + count, record);
            self.spheres.load.resize(from + count, Load::default());
            self.spheres.listed.resize(from + count, NEWBORN);
            place_spheres(shape, n.position, turn, n.radius, n.velocity, n.spin, &mut self.spheres.record[from..]);
            if !g.first.is_empty() {
                g.centre.push(with(n.position, n.radius));
                g.turn.push(turn);
                g.first.push((from + count) as u32);
                self.spheres.grain.resize(from + count, (g.len() - 1) as u32);
            }
        }
        self.born += new.len() as u32;
        if !new.is_empty() && !self.join(self.grains.len() - new.len()) {
            // A few newborn at the end of memory do no harm; many do.
            self.spoil(new.len() * 8 > self.grains.len());
            self.find_carriers();
            self.carry_walls();
        }
        Ok(first)
    }

    /// Computes the forces of the state as it is; velocities that are kept half a step back go back by what these have done since.
    pub fn begin(&mut self, boundary: &Boundary) -> Result<(), DemError> {
        self.take_fixtures(boundary);
        boundary.states_at(f64::INFINITY, &mut self.walls);
        self.carry_walls();
        self.rebuild()?;
        self.contacts()?;
        self.add_bonds_and_bridges();
        self.weigh_cell(false);
        let lag = lag(self.settings.integrator, self.settings.dt);
        for g in (0..self.grains.len()).filter(|&g| !self.pinned.has(g)) {
            let (force, torque) = net_load(&self.grains, &self.spheres.record, &self.spheres.load, g);
            for k in 0..3 {
                self.grains.velocity[g][k] -= force[k] * self.grains.velocity[g][3] * lag;
                self.grains.momentum[g][k] -= torque[k] * lag;
            }
        }
        Ok(())
    }

    pub fn name_newborn(&mut self, ids: &[u32]) -> bool {
        let first = self.grains.len().saturating_sub(ids.len());
        let mut all: Vec<u32> = self.grains.id[..first].iter().chain(ids).copied().collect();
        all.sort_unstable();
        if first + ids.len() != self.grains.len() || all.windows(2).any(|w| w[0] == w[1]) {
            return false;
        }
        self.grains.id[first..].copy_from_slice(ids);
        self.born = all.last().map_or(0, |last| last.saturating_add(1)).max(self.born - ids.len() as u32);
        true
    }

    /// From now on grains have orientations and several spheres.
    pub(crate) fn grow_clump_columns(&mut self) {
        let n = self.grains.len() as u32;
        self.grains.first = (0..=n).collect();
        self.grains.centre = self.spheres.record.iter().map(|r| r.place).collect();
        self.grains.turn = vec![glam::DQuat::IDENTITY; n as usize];
        self.spheres.grain = (0..n).collect();
    }

    pub fn remove_where(&mut self, leaves: &dyn Fn(u32, DVec3) -> bool) -> Vec<Departed> {
        let stays: Vec<u32> = (0..self.grains.len() as u32)
            .filter(|&g| !leaves(self.grains.id[g as usize], vec3(self.grains.place(g as usize, &self.spheres.record))))
            .collect();
        if stays.len() == self.grains.len() {
            return Vec::new();
        }
        let mut next = stays.iter().peekable();
        let mut gone = Vec::with_capacity(self.grains.len() - stays.len());
        for g in 0..self.grains.len() {
            if next.next_if_eq(&&(g as u32)).is_none() {
                gone.push(Departed {
                    id: self.grains.id[g],
                    mass: 1.0 / self.grains.velocity[g][3],
                    position: vec3(self.grains.place(g, &self.spheres.record)),
                    velocity: self.motion_of(g).0,
                });
            }
        }
        self.spheres.arrange(&stays, &self.grains);
        self.grains.arrange(&stays);
        self.spoil(false);
        self.find_carriers();
        if self.sleep.is_some() {
            let there = self.slots();
            self.sleep.iter_mut().for_each(|s| s.ledger.forget(&there));
        }
        gone
    }
}
